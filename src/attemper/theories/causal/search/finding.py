"""Which coordinates hold which steps of a program: variables that a network may have.

Network and program are followed as the checker follows them (`check/following.py`), but nothing is named
apart from groups of bits that exclude each other, which a certificate lists. A coordinate that a layer writes
holds a step if both have one diagram. Nothing rests on what is found: the checker follows it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from attemper.attention_program.ops import Count, Letter, Linear, Not, Place, Ref
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker.analysis import PRECISION, layer_fact
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps
from attemper.checker.proof import deep
from attemper.checker.values import ResidualValues, embedded, plain
from attemper.exact.balls import precision
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CausalVariable, HeldBit, Holder
from attemper.theories.causal.check.following import ancestors, named


def variables_in(network: Network, said: Realisation) -> list[CausalVariable]:
    """Variables that the network has, if the checker says so, in the order of their layers.

    Raises `UnprovenError` where the network cannot be followed.
    """
    with deep(), precision(PRECISION):
        return list(_Following(network, said).variables())


class _Following:
    """A network and its program, layer by layer."""

    def __init__(self, network: Network, said: Realisation) -> None:
        programs = Programs(network.alphabet.symbols)
        self.network, self.program, self.groups = network, said.program, said.groups
        self.names, self.steps = programs.names, Steps(programs, said.program)
        self.made_of = {ref: ancestors(said.program, ref) for ref in range(len(said.program.steps))}
        self.unnamed = {ref for group in said.groups for _, ref in group.bits}
        """Steps of groups that no layer has made so far."""
        self.stream, self.held = embedded(self.names, network), set[Ref]()

    def variables(self) -> Iterator[CausalVariable]:
        """Of each layer its groups, and the single bits that it makes for the first time."""
        for number, layer in enumerate(self.network.layers):
            before, self.stream = self.stream, layer_fact(self.names, layer, number, self.stream).after
            holders = self._holders(self._asked(), self._written(number, before))
            grouped = [_variable_of(group) for group in self.groups if group.layer == number]
            yield from grouped
            self.stream = named(self.steps, self.stream, number, grouped)
            self.unnamed -= {ref for variable in grouped for ref in variable.steps}
            for ref in sorted(holders):
                yield CausalVariable(number, (HeldBit(ref, holders[ref]),))
            self.held |= holders.keys()

    def _asked(self) -> Iterator[Ref]:
        """Steps that a layer may make: one that is asked for before a group is named keeps what it is."""
        others = self.held | {ref for group in self.groups for _, ref in group.bits}
        for ref, step in enumerate(self.program.steps):
            if isinstance(step, Letter | Place | Not | Count | Linear) or ref in others:
                continue  # the opposite of a bit is held where that is
            if not self.made_of[ref] & self.unnamed:
                yield ref

    def _written(self, number: int, before: ResidualValues) -> Iterator[tuple[int, Diagram]]:
        """Coordinates of no group that the layer has made exactly a bit, and which; none that is put out."""
        others = {own for group in self.groups for own, _ in group.bits}
        others |= set(self.network.outputs) if number == len(self.network.layers) - 1 else set()
        for coordinate, value in enumerate(self.stream.values):
            is_old = value == before.values[coordinate]
            if is_old or self.stream.errors[coordinate] or coordinate in others:
                continue
            with suppress(UnprovenError):
                held = self.names.canonical(plain(value, self.names, ""))
                if self.names.is_bit(held):
                    yield coordinate, held

    def _holders(
        self, asked: Iterator[Ref], written: Iterator[tuple[int, Diagram]]
    ) -> dict[Ref, tuple[Holder, ...]]:
        """Where the steps that are asked for stand; of equal steps the last."""
        by_diagram = {
            bit: ref
            for ref in asked
            for bit in [self.steps.bit(ref)]
            if not self.names.diagrams.is_constant(bit)
        }
        found: dict[Ref, tuple[Holder, ...]] = {}
        for coordinate, held in written:
            opposite = self.names.canonical(self.names.negation(held))
            for bit in (held, opposite):
                if bit in by_diagram:
                    ref = by_diagram[bit]
                    found[ref] = (*found.get(ref, ()), Holder(coordinate, bit != held))
                    break
        return found


def _variable_of(group: SymbolGroup) -> CausalVariable:
    """A group of bits is a variable, at the coordinates that its certificate names."""
    codes = (HeldBit(ref, (Holder(coordinate, opposite=False),)) for coordinate, ref in group.bits)
    return CausalVariable(group.layer, tuple(codes))
