"""From a guarded program to a hard-attention network with exact rational weights.

Each step's head is that of a construction (`constructions/table.py`). Gates are folded into the feed-forward
of the layer that makes their last input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.attention_program.ops import Numbers, Part, Program, Ref
from attemper.attention_program.realisation import SymbolGroup
from attemper.compiling.assembling.blocks import GateBlock
from attemper.compiling.assembling.demand import collect
from attemper.compiling.assembling.schedule import make_schedule
from attemper.compiling.building.bits import is_embedded, strip_negations
from attemper.compiling.building.counts import Average, shares_of
from attemper.compiling.building.plan import MASKINGS
from attemper.compiling.building.site import Site
from attemper.compiling.building.sizes import require_few_weights
from attemper.compiling.building.weights import LayerDraft, added, form, scaled, stored
from attemper.compiling.constructions import table
from attemper.exact.closed_forms import ONE
from attemper.languages.measures import Measure
from attemper.networks.layers import Coordinate, LinearForm, Masking, Network


@final
@dataclass(frozen=True)
class Assembled:
    """The network, and where it makes the groups of bits of which at most one is 1."""

    network: Network
    groups: tuple[SymbolGroup, ...]


def assemble(
    program: Program,
    names: Mapping[Ref, str],
    reads_first: bool,
    accepts_empty: bool,
    symbols: Sequence[tuple[Ref, ...]] = (),
    *,
    is_literal: bool = False,
) -> Assembled:
    """The hard-attention network of a guarded, simplified program.

    `names` labels the coordinates of steps; `symbols` are groups of bits of which at most one ever holds,
    made by one layer. If it `is_literal`, counts are retrieved, as the papers do. Raises `UnsupportedError`
    for a step that no construction covers, and as soon as the network is too large to be run.
    """
    assembly = _Assembly(program, names, symbols, is_literal)
    assembly.build()
    site = assembly.site
    network = Network(
        alphabet=program.alphabet,
        coordinates=tuple(site.stream.labels),
        embedding=tuple(
            form(*((c, 1) for letter, c in site.letters.items() if symbol in letter.symbols))
            for symbol in program.alphabet.symbols
        ),
        positions=site.stream.placed(),
        layers=tuple(draft.finished() for draft in site.layers),
        head_width=16 if any(draft.has_wide_head() for draft in site.layers) else 4,
        output=assembly.outputs[0],
        reads_first=reads_first,
        accepts_empty=accepts_empty,
        symbols=tuple(zip(_names(program), assembly.outputs, strict=False)),
        measure=None if program.numbers is None else program.numbers.measure,
        over=_over(program.numbers),
    )
    return Assembled(network, assembly.groups())


def _names(program: Program) -> tuple[str, ...]:
    """The names of outputs; none for a bit, an integer, a fraction."""
    return tuple(name for name, _ in program.symbols) if program.numbers is None else program.numbers.names


def _over(numbers: Numbers | None) -> Masking | None:
    if numbers is None or numbers.measure is not Measure.INTEGER:
        return None
    return MASKINGS[numbers.mask]


class _Assembly:
    """One program on its way to a network."""

    def __init__(
        self, program: Program, names: Mapping[Ref, str], symbols: Sequence[tuple[Ref, ...]], is_literal: bool
    ) -> None:
        self.program = program
        self.symbols = symbols
        self.schedule = make_schedule(program, symbols, is_literal=is_literal)
        self.demand = collect(self.schedule)
        self.site = Site(program, names, self.schedule.ready)
        self.fresh: dict[Ref, LinearForm] = {}
        self.outputs: tuple[Coordinate, ...] = ()

    def build(self) -> None:
        self._allocate()
        self._heads()
        self._blocks()
        numbers = self.program.numbers
        if numbers is None:
            self.outputs = tuple(map(self._coordinate, self.program.outputs))
        else:
            self.outputs = tuple(self._number(numbers, k) for k in range(len(numbers.rows)))

    def _allocate(self) -> None:
        """A coordinate for every letter, bit and average, and room for every layer."""
        site, ready = self.site, self.schedule.ready
        site.stream.place(ONE)
        for literal in sorted(self.demand.bits):
            ref, positive = literal
            label = site.name(ref)
            site.bits[literal] = site.stream.new(label if positive else f"not ({label})")
        for average in sorted(self.demand.averages):
            if not site.is_constant(average):
                site.averages[average] = site.stream.new(table.name_of(site, average))
        for integer in sorted(self.demand.integers):
            table.allocate_integer(site, integer, is_compared=integer in self.demand.shares)
        depth = max((ready[ref] for ref, _ in self.demand.bits), default=0)
        if self.program.numbers is not None:
            depth = max(depth, self.schedule.depth)
        site.layers = [LayerDraft() for _ in range(depth)]

    def _heads(self) -> None:
        for average, target in self.site.averages.items():
            table.make_average(self.site, average, target)
        self.site.add_shared_heads()
        for integer in self.site.integers:
            table.make_integer(self.site, integer)
        for kinds in table.PHASES:
            for ref in sorted(self.demand.heads):
                if isinstance(self.program.steps[ref], kinds):
                    self.fresh[ref] = table.compute(self.site, ref, is_literal=self.schedule.is_literal)
            self.site.add_shared_heads()

    def _blocks(self) -> None:
        """No bit loses its coordinate later on: a hidden unit has a weight to read it and one to write it."""
        weights_of_a_unit = 2 * len(self.site.bits) + 1
        for literal, target in self.site.bits.items():
            block, layer = self.demand.blocks[literal]
            self._write_block(block, layer, target)
            require_few_weights(weights_of_a_unit * sum(draft.units for draft in self.site.layers))

    def _number(self, numbers: Numbers, which: int) -> Coordinate:
        """Where a number is written, by the feed-forward of one layer."""
        row = numbers.rows[which]
        name = numbers.names[which] if numbers.names else str(numbers.measure)
        layer, target = self.schedule.number_layer(row), self.site.stream.new(f"number {name}")
        for part in row:
            if part.count is None:
                self._write_bit(part, layer, target)
                continue
            for factor, average in shares_of(self.program, part.count, numbers.mask):
                self._write_share(part, factor, average, layer, target)
        return target

    def _write_share(self, part: Part, factor: int, average: Average, layer: int, target: Coordinate) -> None:
        """ReLU(share + 2 bit - 2) is the share where the bit holds, 0 elsewhere, far from where it rises."""
        share, off = self.site.average(average), Fraction(0)
        if part.bit is not None:
            share, off = added(share, scaled(self.site.bit(part.bit), 2)), Fraction(-2)
        self.site.layers[layer - 1].add_hidden(share, off, target, stored(part.factor * factor))

    def _write_bit(self, part: Part, layer: int, target: Coordinate) -> None:
        assert part.bit is not None
        base, positive = strip_negations(self.program, part.bit)
        if self.schedule.ready[base] < layer:
            bit = self.site.bit(part.bit)
            self.site.layers[layer - 1].add_hidden(bit, Fraction(0), target, stored(part.factor))
        else:
            block, _ = self.schedule.block(base, positive)
            self._write_block(block, layer, target, stored(part.factor))

    def _write_block(
        self, block: GateBlock, layer: int, target: Coordinate, factor: Fraction = Fraction(1)
    ) -> None:
        draft = self.site.layers[layer - 1]
        for clamp in block.clamps:
            total = added(*(self._literal(leaf, sign, layer) for leaf, sign in clamp.literals))
            # A gate that is off takes away as much as all literals can bring.
            for leaf, sign in clamp.gates:
                shut = self._literal(leaf, not sign, layer)
                total = added(total, scaled(shut, -len(clamp.literals)))
            draft.add_clamp(total, Fraction(4 * clamp.at_least - 3, 4), target, clamp.sign * factor)
        if block.constant:
            # ReLU(1) is 1: the constant function of a block that is always true.
            draft.add_hidden(self.site.stream.at(ONE), Fraction(0), target, block.constant * factor)

    def _literal(self, leaf: Ref, positive: bool, layer: int) -> LinearForm:
        """A literal of a block: rounded already, or the raw output of a head of this layer."""
        fresh = self.schedule.is_fresh(leaf, layer)
        own = self.fresh[leaf] if fresh else self.site.bit(leaf)
        return own if positive else self.site.negated(own)

    def groups(self) -> tuple[SymbolGroup, ...]:
        """The groups of bits that layers make, as far as anything reads them, layer by layer."""
        bits, ready = self.site.bits, self.schedule.ready
        found = [
            SymbolGroup(ready[group[0]] - 1, tuple(sorted(own)))
            for group in sorted(self.symbols, key=lambda group: ready[group[0]])
            if (own := [(bits[ref, True], ref) for ref in group if (ref, True) in bits])
        ]
        return tuple(group for group in found if 0 <= group.layer < len(self.site.layers))

    def _coordinate(self, output: Ref) -> Coordinate:
        """Where a bit that is put out stands."""
        base, positive = strip_negations(self.program, output)
        if not is_embedded(self.program, base):
            return self.site.bits[base, positive]
        assert positive, "the simplifier negates letters and places themselves"
        ((coordinate, _),) = self.site.embedded(base)
        return coordinate
