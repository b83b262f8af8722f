"""Labels of edges: irrelevant where that is proved, mattering where words show it, and else unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import final

from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CausalClaim, CausalEdge, EdgeSet, Interchange
from attemper.theories.causal.check.claims import doubt_of, edges_text
from attemper.theories.causal.check.settings import Interchanges, WrongSetting
from attemper.theories.causal.search.trying import Trying
from attemper.theories.causal.statements import EdgeLabel, JudgedEdges

AT_FIRST = 2
"""Interchanges of words of so many symbols are tried before anything is proved: most edges matter there."""


@final
class Labelling:
    """A network and its proved variables, of whose edges labels are asked."""

    def __init__(self, network: Network, claim: CausalClaim, up_to: int) -> None:
        self.network, self.claim, self.up_to = network, claim, up_to
        self._trying = Trying(network, claim.variables)

    def labels(
        self, sets: Sequence[EdgeSet], report: Callable[[str], None]
    ) -> Iterator[tuple[int, JudgedEdges]]:
        """The label of each set, with its number, as it is known.

        Single edges that no short words show to matter are tried together first: what is said of all of them
        is said of each.
        """
        left = dict(enumerate(sets))
        for number, own in enumerate(sets):
            report(f"edges {number + 1} of {len(sets)}: short words")
            shown = self._shown(own.edges, at_first=True)
            if shown is not None:
                del left[number]
                yield number, self._mattering(own.edges, shown)
        idle = {number: own for number, own in left.items() if len(own.edges) == 1}
        if len(idle) > 1 and self._is_irrelevant([own.edges[0] for own in idle.values()]):
            for number, own in idle.items():
                del left[number]
                yield number, self._labelled(own, EdgeLabel.IRRELEVANT)
        for done, (number, own) in enumerate(left.items(), start=len(sets) - len(left) + 1):
            report(f"edges {done} of {len(sets)}")
            yield number, self.label(own)

    def label(self, edge_set: EdgeSet) -> JudgedEdges:
        """The label of edges together."""
        doubt = doubt_of(self.network, self.claim, EdgeSet(edge_set.edges, None))
        if doubt is None:
            return self._labelled(edge_set, EdgeLabel.IRRELEVANT)
        shown = self._shown(edge_set.edges)
        if shown is None:
            return self._labelled(edge_set, EdgeLabel.UNKNOWN, doubt)
        return self._mattering(edge_set.edges, shown)

    def circuit(self, labelled: Sequence[JudgedEdges]) -> Iterator[JudgedEdges]:
        """Which edges can be left out together, of those that are irrelevant alone; and then, with each of
        the others beside them, whether something changes. An edge that matters alone does so among others.
        """
        alone = [own.edge_set.edges for own in labelled if own.label is EdgeLabel.IRRELEVANT]
        edges = [own[0] for own in alone if len(own) == 1]
        if len(edges) < 2:
            return
        out = self._left_out(edges)
        if len(out) > 1:
            yield self._labelled(EdgeSet(out, None), EdgeLabel.IRRELEVANT)
        for edge in edges:
            if edge not in out:
                yield self.label(EdgeSet((*out, edge), None))

    def _left_out(self, edges: Sequence[CausalEdge]) -> tuple[CausalEdge, ...]:
        """As many as are seen to be irrelevant together, taken in their order."""
        if self._is_irrelevant(edges):
            return tuple(edges)
        out = list(edges[:1])
        for edge in edges[1:]:
            out += [edge] if self._is_irrelevant([*out, edge]) else []
        return tuple(out)

    def _is_irrelevant(self, edges: Sequence[CausalEdge]) -> bool:
        return doubt_of(self.network, self.claim, EdgeSet(tuple(edges), None)) is None

    def _labelled(self, edge_set: EdgeSet, label: EdgeLabel, reason: str = "") -> JudgedEdges:
        return JudgedEdges(edge_set, edges_text(edge_set.edges, self.claim.variables), label, reason)

    def _mattering(self, edges: tuple[CausalEdge, ...], shown: WrongSetting) -> JudgedEdges:
        natural = shown.shown_by.is_natural
        label = EdgeLabel.MATTERS_BY_INTERCHANGE if natural else EdgeLabel.MATTERS
        return self._labelled(EdgeSet(edges, shown.shown_by), label, shown.text)

    def _shown(self, edges: tuple[CausalEdge, ...], *, at_first: bool = False) -> WrongSetting | None:
        """Words that show that the edges matter, as the checker confirms."""
        interchanges = Interchanges(self.network, self.claim.program, self.claim.variables, edges)
        if not at_first:
            return interchanges.refuting(self._trying.of(interchanges, self.up_to))
        tried = self._trying.of(interchanges, min(self.up_to, AT_FIRST))
        return interchanges.refuting(takewhile(_is_natural, tried))


def _is_natural(said: Interchange) -> bool:
    return said.is_natural
