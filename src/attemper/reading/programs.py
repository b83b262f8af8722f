"""The program that a network runs, found from its weights alone.

Heads and hidden units are followed layer by layer by the checker's own rules, under names that say what makes
a bit. What each head looked for becomes a step of a program, and what hidden units write a function of the
bits that they read; a step is what the network's coordinate is, object for object, or it is not taken.
Nothing here is believed: the checker proves anew that the network runs the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from attemper.attention_program.builder import prune
from attemper.attention_program.ops import Connective, Gate, Place, Program, Ref
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker.analysis import PRECISION, ROUNDED, OneHot, SymbolFact, layer_fact, with_names
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.proof import deep
from attemper.checker.values import ResidualValues, embedded, plain
from attemper.exact.balls import precision
from attemper.exact.closed_forms import FIRST, Alternating, ClosedForm, Test, tests_in
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Coordinate, Layer, LinearForm, Network
from attemper.reading.exclusive import RandomWords
from attemper.reading.looks import looks_of
from attemper.reading.recording import Recording
from attemper.reading.steps import RecoveredSteps
from attemper.reading.writing import HiddenUnits


def read_program(network: Network, large: int, look: Callable[[], None] = lambda: None) -> Realisation:
    """The program, and the groups of bits that get names where diagrams are larger than `large`.

    `look` is called again and again, and may raise what ends the search. Raises `UnprovenError` where a head
    has no rule, or a bit is no function of what is read.
    """
    found = RecoveredSteps(Recording(network.alphabet.symbols), network.alphabet, look)
    with deep(), precision(PRECISION):
        reading = _StreamAfter(network, found, large)
        for number, layer in enumerate(network.layers):
            reading.read(number, layer)
        output = reading.output()
    return _needed(replace(found.program, output=output), reading.groups)


def _needed(program: Program, groups: Sequence[SymbolGroup]) -> Realisation:
    """The program without steps that nothing needs, and the groups of those that are left."""
    kept, to = prune(program)
    left = (
        SymbolGroup(group.layer, tuple((c, to[ref]) for c, ref in group.bits if to[ref] >= 0))
        for group in groups
    )
    return Realisation(kept, tuple(group for group in left if group.bits))


class _StreamAfter:
    """The stream after the layers that were read."""

    def __init__(self, network: Network, found: RecoveredSteps, large: int) -> None:
        self.network, self.names, self.found, self.large = network, found.names, found, large
        self.stream = embedded(self.names, network)
        self.places = [found.add(Place(test)) for test in _tests(form for _, form in network.positions)]
        self.groups: list[SymbolGroup] = []
        self.seen = RandomWords(len(network.alphabet.symbols))
        self.looked: list[Ref] = []

    def read(self, number: int, layer: Layer) -> None:
        """One layer: what its heads do, then what its hidden units write."""
        before, fact = self.stream, layer_fact(self.names, layer, number, self.stream)
        self.looked = looks_of(self.found, layer, before, partial(self._bits, before))
        writing = HiddenUnits(self.found, fact.middle)
        for coordinate, forms in _written(layer).items():
            if not writing.writes(fact, coordinate):
                self._write(fact.middle, fact.after, coordinate, forms)
        self._name(number, layer, fact.after)

    def output(self) -> Ref:
        """The step of the output. Raises `UnprovenError` if there is none."""
        (output,) = self.network.outputs
        if self.stream.errors[output] > ROUNDED:
            raise UnprovenError("its output can be off by more than 1/4")
        diagram = self.names.canonical(plain(self.stream.values[output], self.names, "the output"))
        if not self.names.is_bit(diagram):
            raise UnprovenError("its output is not a bit")
        ref = self.found.made_of(diagram, (*self.looked, *self.places))
        if ref is None:
            raise UnprovenError("its output is no function of what its heads are seen to look for")
        return ref

    def _write(
        self,
        middle: ResidualValues,
        after: ResidualValues,
        coordinate: Coordinate,
        forms: Sequence[LinearForm],
    ) -> None:
        """What hidden units write to a coordinate, if they write bits."""
        try:
            value = plain(after.values[coordinate], self.names, "a coordinate")
            levels = [bit for _, bit in self.found.levels(value)]
        except UnprovenError:
            return
        parts = [*self._bits(middle, forms), *self.looked]
        for bit in levels:
            self.found.made_of(bit, parts)

    def _bits(self, stream: ResidualValues, forms: Iterable[LinearForm]) -> list[Ref]:
        """The bits that linear forms read, as far as they are steps."""
        found: list[Ref] = []
        for coordinate in dict.fromkeys(c for form in forms for c, _ in form):
            try:
                value = plain(stream.values[coordinate], self.names, "a coordinate")
                bits = [self.names.canonical(bit) for _, bit in self.found.levels(value)]
            except UnprovenError:
                continue
            for bit in bits:
                ref = self.found.made_of(bit, self.places)
                if ref is not None:
                    found.append(ref)
        return [*found, *self.places]

    def _name(self, number: int, layer: Layer, after: ResidualValues) -> None:
        """Give names to the groups of bits that the layer has written in which one is large."""
        self.stream = after
        bits = self._exact_bits(layer, after)
        if not any(map(self._is_large, bits.values())):
            return
        holders = self._holders(bits)
        groups = [
            [(holders[ref], ref) for ref in group]
            for group in self.seen.groups(self.found.program, list(holders))
            if any(self._is_large(bits[holders[ref]]) for ref in group)
        ]
        facts: list[SymbolFact] = []
        symbols: list[OneHot] = [tuple(c for c, _ in group) for group in groups]
        self.stream = with_names(self.names, number, symbols, after, facts)
        self.groups += [SymbolGroup(number, tuple(own)) for own in groups]
        for group, own in enumerate(groups):
            for code, (_, ref) in enumerate(own):
                self.found.name(ref, self.names.symbol(number, group, code))

    def _is_large(self, bit: Diagram) -> bool:
        return self.names.diagrams.size(bit) > self.large

    def _holders(self, bits: Mapping[Coordinate, Diagram]) -> dict[Ref, Coordinate]:
        """The coordinates by their steps: two that hold one bit get a step each, as they get names each.

        What has been made of a step does not change with its name: such a step gets a name as another one.
        """
        found: dict[Ref, Coordinate] = {}
        used = self.found.used
        for coordinate, bit in bits.items():
            ref = self.found.refs[bit]
            while ref in found or ref in used:
                ref = self.found.add(Gate(Connective.AND, (ref,)))
            found[ref] = coordinate
        return found

    def _exact_bits(self, layer: Layer, after: ResidualValues) -> dict[Coordinate, Diagram]:
        """The coordinates that can get names: bits, also before tests of i are decided at i = 1."""
        found: dict[Coordinate, Diagram] = {}
        for coordinate in sorted(_written(layer)):
            try:
                value = plain(after.values[coordinate], self.names, "a coordinate")
            except UnprovenError:
                continue
            if after.errors[coordinate] or not self.names.is_bit(value):
                continue
            bit = self.names.canonical(value)
            if not self.names.diagrams.is_constant(bit) and bit in self.found.refs:
                found[coordinate] = bit
        return found


def _written(layer: Layer) -> dict[Coordinate, list[LinearForm]]:
    """The coordinates that hidden units write to, and what these read."""
    found: dict[Coordinate, list[LinearForm]] = {}
    for unit in layer.hidden:
        for target, _ in unit.outputs:
            found.setdefault(target, []).append(unit.form)
    return found


def _tests(forms: Iterable[ClosedForm]) -> list[Test]:
    """The tests of position that are embedded, and whether it is the first."""
    found = [FIRST]
    for form in forms:
        found += tests_in(form)
        if form == Alternating():
            found.append(Test(Remainder(2, 0), 1, 0, 0))
    return list(dict.fromkeys(found))
