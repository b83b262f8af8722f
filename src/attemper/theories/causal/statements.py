"""What is found of causal variables, as values: each judged alone, and all that are proved together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import NoReturn, assert_never, final

from attemper.attention_program.ops import Program
from attemper.checker.report import record_of
from attemper.checker.verdict import EXIT_CODES, Status, Verdict
from attemper.errors import ExitCode, OptionError, UnprovedError
from attemper.html_tables import Tabled
from attemper.languages.words import show_word
from attemper.missing import torch_needed
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import (
    CAUSAL,
    CausalClaim,
    CausalEdge,
    CausalVariable,
    EdgeSet,
    FeedForwardEdge,
    HeadEdge,
    HeadPart,
    Interchange,
    OutputEdge,
    SetTo,
    Taken,
)
from attemper.theories.causal.check.claims import JOINTLY
from attemper.theories.causal.check.settings import Interchanges, WrongSetting, row_of

PROVED = frozenset({Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS})


@final
@dataclass(frozen=True)
class JudgedVariable:
    """One variable, alone: what is proved of it, or what goes wrong."""

    variable: CausalVariable
    text: str
    status: Status
    reason: str = ""
    wrong: WrongSetting | None = None

    def lines(self) -> Iterator[str]:
        """For people: what it is, and why it is refuted or unknown."""
        yield f"{self.status}: {self.text}"
        if self.reason:
            yield f"  {self.reason}"
        if self.wrong is not None:
            yield from (f"  {recipe(self.variable, taken)}" for taken in self.wrong.shown_by.taken)

    def as_record(self) -> dict[str, object]:
        """The same as JSON data."""
        said: dict[str, object] = {
            "variable": self.text,
            "status": str(self.status),
            "reason": self.reason,
        }
        if self.wrong is None:
            return said
        return {**said, **_shown(self.wrong.shown_by)}


class EdgeLabel(StrEnum):
    """What is known of edges: of those that matter, whether values show it that words have there."""

    IRRELEVANT = "IRRELEVANT"
    MATTERS_BY_INTERCHANGE = "MATTERS BY INTERCHANGE"
    MATTERS = "MATTERS"
    UNKNOWN = "UNKNOWN"


@final
@dataclass(frozen=True)
class JudgedEdges:
    """Edges together: whatever they carry changes no bit that is put out; or something does that they carry;
    or neither is known, for a reason.
    """

    edge_set: EdgeSet
    text: str
    label: EdgeLabel
    reason: str = ""

    def lines(self, variables: Sequence[CausalVariable]) -> Iterator[str]:
        """For people: the edges, and why they matter or are unknown."""
        yield f"{self.label}: {self.text}"
        if self.reason:
            yield f"  {self.reason}"
        for taken in () if self.edge_set.matters is None else self.edge_set.matters.taken:
            for edge in self.edge_set.edges:
                if edge.variable == taken.variable:
                    yield f"  {edge_recipe(edge, variables[edge.variable], taken)}"

    def as_record(self) -> dict[str, object]:
        """The same as JSON data."""
        said: dict[str, object] = {"edges": self.text, "label": str(self.label), "reason": self.reason}
        return said if self.edge_set.matters is None else {**said, **_shown(self.edge_set.matters)}


def _shown(said: Interchange) -> dict[str, object]:
    return {"base": list(said.base), "taken": list(map(asdict, said.taken))}


@final
@dataclass(frozen=True, repr=False)
class Causal(Tabled):
    """Variables of a network, each judged alone, and the checker's verdict on the proved ones together.

    `claim` has what is claimed of all that are proved, None if nothing is, and of the `edges` that were asked
    for; `verdict` is the checker's on it.
    So many variables, and sets of edges, were `left` where somebody interrupted.
    """

    network: Network
    program: Program
    variables: tuple[JudgedVariable, ...]
    claim: CausalClaim | None
    verdict: Verdict | None
    left: int = 0
    edges: tuple[JudgedEdges, ...] = ()

    @property
    def status(self) -> Status:
        """What the checker says of all that are proved together; of a single one, what is said of it.

        UNKNOWN where somebody interrupted.
        """
        if self.left:
            return Status.UNKNOWN
        if self.verdict is not None:
            return self.verdict.status
        return self.variables[0].status if len(self.variables) == 1 else Status.UNKNOWN

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return EXIT_CODES[self.status]

    @property
    def record(self) -> dict[str, object]:
        """What `--json` prints."""
        together = {} if self.verdict is None else record_of(self.verdict)
        return {
            **together,
            "status": str(self.status),
            "left": self.left,
            "variables": [own.as_record() for own in self.variables],
            "edges": [own.as_record() for own in self.edges],
        }

    def save(self, path: str | Path) -> None:
        """Write what is claimed, for `attemper check`. Raises `UnprovedError` where nothing is proved."""
        if self.claim is None:
            raise UnprovedError("no variable is proved: there is nothing to write")
        CAUSAL.save(self.claim, Path(path))

    def replay(self, number: int) -> list[list[float]]:
        """What is put out in torch after the interchange that refutes a variable [position][output].

        Raises `OptionError` for a variable that is not refuted by one.
        """
        own = self.variables[number]
        if own.wrong is None:
            raise OptionError(f"variable {number} is not refuted: there is nothing to replay")
        with torch_needed("a replay"):
            from attemper.theories.causal.search.interchanges import replayed
        return replayed(Interchanges(self.network, self.program, (own.variable,)), own.wrong.shown_by)

    def __bool__(self) -> NoReturn:
        raise TypeError("variables can be proved, refuted or UNKNOWN: see the status of each")

    def __repr__(self) -> str:
        proved = sum(own.status in PROVED for own in self.variables)
        return f"<Causal: {proved} of {len(self.variables)} variables proved>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if not self.variables:
            yield "no coordinate is seen to hold a step of the program after a layer"
        for own in self.variables:
            yield from own.lines()
        proved = () if self.claim is None else self.claim.variables
        for edges in self.edges:
            yield from edges.lines(proved)
        if self.left:
            yield f"interrupted: {self.left} more are not looked at"
        if self.verdict is not None and self.claim is not None:
            count = len(self.claim.variables)
            which = "it alone" if count == 1 else f"these {count} together"
            yield f"{self.verdict.status}, {which}: {JOINTLY}"


def recipe(own: CausalVariable, taken: Taken | SetTo) -> str:
    """What is taken, under TransformerLens' names, to be done by hand.

    >>> from attemper.theories.causal.certificate import HeldBit, Holder
    >>> recipe(CausalVariable(0, (HeldBit(3, (Holder(2, False),)),)), Taken(0, 2, ("b", "a")))
    "blocks.0.hook_resid_post[:, 1, [2]] = that of 'ba'"
    """
    where = f"[:, {taken.position - 1}, {list(own.coordinates)}]"
    return f"blocks.{own.layer}.hook_resid_post{where} = {_source(own, taken, 'that')}"


def _source(own: CausalVariable, taken: Taken | SetTo, what: str) -> str:
    match taken:
        case Taken(_, _, source):
            return f"{what} of '{show_word(source)}'"
        case SetTo(_, _, value):
            return str(list(row_of(own, value).values()))
        case _:
            assert_never(taken)


READ_AT = {
    HeadPart.QUERY: "attn.hook_q_input",
    HeadPart.KEY: "attn.hook_k_input",
    HeadPart.VALUES: "attn.hook_v_input",
}
"""TransformerLens' names of what one head reads."""


def edge_recipe(edge: CausalEdge, own: CausalVariable, taken: Taken | SetTo) -> str:
    """The same along an edge.

    >>> from attemper.theories.causal.certificate import HeldBit, Holder
    >>> own = CausalVariable(0, (HeldBit(3, (Holder(2, False),)),))
    >>> edge_recipe(HeadEdge(0, 1, 4, HeadPart.KEY), own, Taken(0, 2, ("b", "a")))
    "blocks.1.attn.hook_k_input[:, 1, 4, [2]] = blocks.0.hook_resid_post[:, 1, [2]] of 'ba'"
    """
    place = f"{taken.position - 1}, {list(own.coordinates)}"
    source = _source(own, taken, f"blocks.{own.layer}.hook_resid_post[:, {place}]")
    match edge:
        case HeadEdge(_, layer, head, part):
            where = f"[:, {taken.position - 1}, {head}, {list(own.coordinates)}]"
            return f"blocks.{layer}.{READ_AT[part]}{where} = {source}"
        case FeedForwardEdge(_, layer):
            return f"blocks.{layer}.hook_mlp_in[:, {place}] = {source}"
        case OutputEdge():
            return f"what is put out [:, {place}] = {source}"
        case _:
            assert_never(edge)
