"""From a guarded program to a hard-attention network with exact rational weights.

    Attend    select head     score -[blocked], rightmost (leftmost) maximum
    Shift     neighbour head  score -(-1)^i (-1)^j, rightmost (leftmost) maximum
    Count     uniform head    averages: of a bit, of a mark (1/i, 1/(n-i+1) or 1/n), of a whole difference
    Compare   sign head       score D_i (-1)^j, D_i = (2 (count - threshold) + 1) / i, never 0
              local sign head if left and right counts mix
    Equals    the difference of two comparisons
    CountTest lookup head     score 2 (c/i) j - j^2 (1/i), highest at j = c, corrected where c = 0

Gates are folded into the feed-forward of the layer that makes their last input. Heads that look at
the same place share one head with several values. (theory.md section 4, constructions.md.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Count,
    CountTest,
    Direction,
    Equals,
    Letter,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
)
from attemper.attention_program.realisation import SymbolGroup
from attemper.compiling.assembling.blocks import Block
from attemper.compiling.assembling.demand import (
    Average,
    Mixture,
    collect,
    comparisons_of,
    difference_of,
    is_embedded,
    lookup_averages,
    sides_of,
)
from attemper.compiling.assembling.heads import (
    Values,
    hard_local_sign,
    hard_lookup,
    hard_neighbour,
    hard_select,
    hard_sign,
    hard_uniform,
)
from attemper.compiling.assembling.schedule import letter_and_place, make_schedule, strip_negations
from attemper.compiling.assembling.weights import LayerDraft, Stream, added, form, scaled
from attemper.compiling.cubes import Literal
from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ONE,
    ONLY,
    ClosedForm,
    Test,
    complement,
    times,
)
from attemper.exact.predicates import Remainder, holds
from attemper.networks.layers import Coordinate, LinearForm, LocalSign, Masking, Network

LABEL_WIDTH = 60
"""Longer descriptions are cut in the labels of coordinates."""

VALUES_PER_HEAD = 4
"""How many values of one place share a head: the width that most heads have anyway."""

_MASKINGS = {
    Mask.UP_TO: Masking.FUTURE,
    Mask.BEFORE: Masking.STRICT_FUTURE,
    Mask.FROM: Masking.PAST,
    Mask.AFTER: Masking.STRICT_PAST,
    Mask.ALL: Masking.NONE,
}
_EDGES = {Mask.UP_TO: FIRST, Mask.FROM: LAST, Mask.ALL: ONLY}
"""Where only one position is visible (for `all`: in words of length 1)."""

_MARKS = {Mask.UP_TO: FIRST, Mask.FROM: LAST, Mask.ALL: FIRST}
"""A bit that holds at exactly one visible position: its average is 1 / their number."""

_LAST_AND_EVEN = times(LAST, Test(Remainder(2, 0), 1, 0, 0))

HALF = Fraction(1, 2)

_Target = tuple[int, Mask, bool, LinearForm | None]
"""What two heads must share to be one: layer, mask, leftmost, and what is blocked (None: shifts)."""


@final
@dataclass(frozen=True)
class Assembled:
    """The network, and where it makes the groups of bits of which at most one is 1."""

    network: Network
    groups: tuple[SymbolGroup, ...]


def program_to_hard(
    program: Program,
    names: Mapping[Ref, str],
    reads_first: bool,
    accepts_empty: bool,
    symbols: Sequence[tuple[Ref, ...]] = (),
) -> Network:
    """The hard-attention network of a guarded, simplified program; see `assemble`."""
    return assemble(program, names, reads_first, accepts_empty, symbols).network


def assemble(
    program: Program,
    names: Mapping[Ref, str],
    reads_first: bool,
    accepts_empty: bool,
    symbols: Sequence[tuple[Ref, ...]] = (),
) -> Assembled:
    """The hard-attention network of a guarded, simplified program.

    `names` labels the coordinates of steps; `symbols` are groups of bits of which at most one ever holds,
    made by one layer. Raises `UnsupportedError` for a step that no construction covers.
    """
    assembly = _Assembly(program, names, symbols)
    assembly.build()
    stream = assembly.stream
    network = Network(
        alphabet=program.alphabet,
        coordinates=tuple(stream.labels),
        embedding=tuple(
            form(*((c, 1) for letter, c in assembly.letters.items() if symbol in letter.symbols))
            for symbol in program.alphabet.symbols
        ),
        positions=stream.placed(),
        layers=tuple(draft.finished() for draft in assembly.layers),
        head_width=16 if any(draft.has_wide_head() for draft in assembly.layers) else 4,
        output=assembly.output,
        reads_first=reads_first,
        accepts_empty=accepts_empty,
    )
    return Assembled(network, assembly.groups())


class _Assembly:
    """One program on its way to a network. Layer number l is `layers[l - 1]`."""

    def __init__(
        self, program: Program, names: Mapping[Ref, str], symbols: Sequence[tuple[Ref, ...]]
    ) -> None:
        self.program = program
        self.names = names
        self.symbols = symbols
        self.schedule = make_schedule(program, symbols)
        self.demand = collect(self.schedule)
        self.stream = Stream()
        self.letters: dict[Letter, Coordinate] = {}
        self.bits: dict[Literal, Coordinate] = {}
        self.averages: dict[Average, Coordinate] = {}
        self.comparisons: dict[tuple[int, Mixture], LinearForm] = {}
        self.fresh: dict[Ref, LinearForm] = {}
        self.layers: list[LayerDraft] = []
        self.output: Coordinate = -1

    def build(self) -> None:
        self._allocate()
        self._average_heads()
        self._place_heads()
        self._comparison_heads()
        self._lookup_heads()
        self._blocks()
        self.output = self._output_coordinate()

    def _allocate(self) -> None:
        """A coordinate for every letter, bit and average, and room for every layer."""
        self.stream.place(ONE)
        for literal in sorted(self.demand.bits):
            ref, positive = literal
            label = self._name(ref)
            self.bits[literal] = self.stream.new(label if positive else f"not ({label})")
        for average in sorted(self.demand.averages):
            if not self._is_constant(average):
                self.averages[average] = self.stream.new(self._average_name(average))
        ready = self.schedule.ready
        depth = max((ready[ref] for ref, _ in self.demand.bits), default=0)
        self.layers = [LayerDraft() for _ in range(depth)]

    # Heads -------------------------------------------------------------------------------------

    def _average_heads(self) -> None:
        """Uniform heads: one per layer and mask, for all averages that are ready there."""
        pending: dict[tuple[int, Mask], list[tuple[LinearForm, Coordinate]]] = {}
        for average, target in self.averages.items():
            # A mark stands in the embedding, so a layer may have to wait for the bits only.
            layer = 1 + max((self.schedule.ready[bit] for _, bit in average.parts), default=0)
            mark = scaled(self.stream.at(_MARKS[average.mask]), average.mark)
            value = added(mark, *(scaled(self._bit(bit), factor) for factor, bit in average.parts))
            pending.setdefault((layer, average.mask), []).append((value, target))
        for (layer, mask), values in pending.items():
            for chunk in _chunks(values):
                self.layers[layer - 1].heads.append(hard_uniform(_MASKINGS[mask], chunk))

    def _place_heads(self) -> None:
        """Select and neighbour heads; equal places share a head."""
        pending: dict[_Target, list[tuple[LinearForm, Coordinate]]] = {}
        for ref in sorted(self.demand.heads):
            step = self.program.steps[ref]
            layer = self.schedule.ready[ref]
            match step:
                case Attend(mask, choice, where, value, _, _):
                    place: _Target = (layer, mask, choice is Choice.LEFTMOST, self._blocked(where))
                case Shift(direction, value):
                    following = direction is Direction.NEXT
                    place = (layer, Mask.FROM if following else Mask.UP_TO, following, None)
                case _:
                    continue
            target = self.stream.new(f"attended {self._name(ref)}")
            self.fresh[ref] = form((target, 1))
            pending.setdefault(place, []).append((self._bit(value), target))
        for (layer, mask, leftmost, blocked), values in pending.items():
            for chunk in _chunks(values):
                if blocked is None:
                    head = hard_neighbour(self.stream, leftmost, chunk)
                else:
                    head = hard_select(self.stream, _MASKINGS[mask], leftmost, blocked, chunk)
                self.layers[layer - 1].heads.append(head)

    def _comparison_heads(self) -> None:
        for ref in sorted(self.demand.heads):
            step = self.program.steps[ref]
            match step:
                case Compare():
                    (mixture,) = comparisons_of(self.program, step)
                    self.fresh[ref] = self._at_least(ref, mixture)
                case Equals():
                    reached, exceeded = (
                        self._at_least(ref, mixture) for mixture in comparisons_of(self.program, step)
                    )
                    self.fresh[ref] = added(reached, scaled(exceeded, -1))
                case _:
                    pass

    def _at_least(self, ref: Ref, mixture: Mixture) -> LinearForm:
        """The approximate bit [sum >= threshold], in the layer of step `ref`; equal ones share a head."""
        layer = self.schedule.ready[ref]
        if (layer, mixture) not in self.comparisons:
            difference = difference_of(mixture)
            if difference is None:
                literal = self._local_sign(self._name(ref), layer, mixture)
            else:
                literal = self._sign(self._name(ref), layer, difference)
            self.comparisons[layer, mixture] = literal
        return self.comparisons[layer, mixture]

    def _sign(self, name: str, layer: int, average: Average) -> LinearForm:
        """[sum >= threshold] from the sign of D = (2 (sum - threshold) + 1) / (number visible)."""
        side, difference = average.mask, self._average(average)
        bound = sum(abs(factor) for factor, _ in average.parts) + abs(average.mark)
        sign = self.stream.new(f"sign {name}")
        edge = self._edge_bit(name, layer - 1, difference, bound, _EDGES[side])
        self.layers[layer - 1].heads.append(hard_sign(self.stream, _MASKINGS[side], difference, sign))
        literal = self._sign_literal(sign, edge)
        if side is Mask.FROM:
            # At i = n the head reads (-1)^n itself: take [n even] away again.
            return added(literal, scaled(self.stream.at(_LAST_AND_EVEN), -1))
        return literal

    def _local_sign(self, name: str, layer: int, mixture: Mixture) -> LinearForm:
        """[left + right + total >= threshold], from the sign of T = i left + (n-i+1) right + constant."""
        left, right = (self._average(average) for average in sides_of(mixture))
        own = (scaled(self._bit(bit), -2 * factor) for factor, bit in mixture.total)
        offset = 1 - 2 * mixture.threshold
        constant = added(self.stream.constant(offset), *own)
        slope = sum(abs(factor) for average in sides_of(mixture) for factor, _ in average.parts)
        bound = slope + abs(offset) + sum(2 * abs(factor) for factor, _ in mixture.total)
        # gate = (left - right)/2, sign flipped at i = 1: take first * (left - right) away.
        half = added(scaled(left, HALF), scaled(right, -HALF))
        flip = self._product_with_bit(name, layer - 1, half, slope, FIRST)
        gate = added(half, form((flip, -2)), constant)
        sign = self.stream.new(f"sign {name}")
        edge = self._edge_bit(name, layer - 1, added(left, right, constant), bound, ONLY)
        construction = LocalSign(left, right, gate, slope)
        self.layers[layer - 1].heads.append(hard_local_sign(self.stream, construction, sign))
        return self._sign_literal(sign, edge)

    def _sign_literal(self, sign: Coordinate, edge: Coordinate) -> LinearForm:
        """The approximate bit of a sign head: (1 + sign)/2, which is 0 at the edge, plus the edge's bit."""
        return added(form((sign, HALF), (edge, 1)), self.stream.constant(HALF))

    def _lookup_heads(self) -> None:
        """Lookup heads; predicates of one count share a head."""
        pending: dict[tuple[int, Mask, Ref], list[tuple[LinearForm, Coordinate]]] = {}
        for ref in sorted(self.demand.heads):
            step = self.program.steps[ref]
            if not isinstance(step, CountTest):
                continue
            count = self.program.steps[step.count]
            assert isinstance(count, Count)
            target = self.stream.new(f"attended {self._name(ref)}")
            self.fresh[ref] = added(form((target, 1)), self._correction_at_zero(ref, step))
            # The predicate of the position j that the head finds, j being the count.
            value = self.stream.at(Test(step.predicate, step.scale, 0, step.shift))
            place = (self.schedule.ready[ref], count.mask, count.bit)
            pending.setdefault(place, []).append((value, target))
        for (layer, mask, bit), values in pending.items():
            # A right or total count c may lie left of i, so those heads see every position.
            masking = Masking.FUTURE if mask is Mask.UP_TO else Masking.NONE
            averages = lookup_averages(self.program, Count(mask, bit))
            ratio, unit = (self._average(average) for average in averages)
            for chunk in _chunks(values):
                head = hard_lookup(self.stream, masking, ratio, unit, chunk)
                self.layers[layer - 1].heads.append(head)

    def _correction_at_zero(self, ref: Ref, step: CountTest) -> LinearForm:
        """What turns the answer for 1, read where the count is 0, into the answer for 0: ±[count = 0]."""
        for mixture in comparisons_of(self.program, step):
            none = self._negated(self._at_least(ref, mixture))
            return none if holds(step.predicate, step.shift) else scaled(none, -1)
        return ()

    # Feed-forward ------------------------------------------------------------------------------

    def _blocks(self) -> None:
        for literal, target in self.bits.items():
            block, layer = self.demand.blocks[literal]
            self._write_block(block, layer, target)

    def _write_block(self, block: Block, layer: int, target: Coordinate) -> None:
        draft = self.layers[layer - 1]
        for clamp in block.clamps:
            total = added(*(self._literal(leaf, sign, layer) for leaf, sign in clamp.literals))
            # A gate that is off takes away as much as all literals can bring.
            for leaf, sign in clamp.gates:
                shut = self._literal(leaf, not sign, layer)
                total = added(total, scaled(shut, -len(clamp.literals)))
            draft.add_clamp(total, Fraction(4 * clamp.at_least - 3, 4), target, clamp.sign)
        if block.constant:
            # ReLU(1) is 1: the constant function of a block that is always true.
            draft.add_hidden(self.stream.at(ONE), Fraction(0), target, Fraction(block.constant))

    def _edge_bit(
        self, name: str, layer: int, difference: LinearForm, bound: int, edge: ClosedForm
    ) -> Coordinate:
        """edge and difference >= 1, where difference is an odd integer at the edge.

        R(D - (M+1)(1-e)) - R(D - 1 - (M+1)(1-e)) with M >= max |D|.
        """
        target = self.stream.new(f"edge {name}")
        outside = self.stream.at(complement(edge))
        gated = added(difference, scaled(outside, -(bound + 1)))
        draft = self.layers[layer - 1]
        draft.add_hidden(gated, Fraction(0), target, Fraction(1))
        draft.add_hidden(gated, Fraction(-1), target, Fraction(-1))
        return target

    def _product_with_bit(
        self, name: str, layer: int, factor: LinearForm, bound: int, bit: ClosedForm
    ) -> Coordinate:
        """bit * factor, where |factor| <= bound: R(x - M(1-b)) - R(-x - M(1-b))."""
        target = self.stream.new(f"gate {name}")
        outside = scaled(self.stream.at(complement(bit)), -bound)
        draft = self.layers[layer - 1]
        draft.add_hidden(added(factor, outside), Fraction(0), target, Fraction(1))
        draft.add_hidden(added(scaled(factor, -1), outside), Fraction(0), target, Fraction(-1))
        return target

    # Forms -------------------------------------------------------------------------------------

    def groups(self) -> tuple[SymbolGroup, ...]:
        """The groups of bits, as far as anything reads them, layer by layer."""
        ready = self.schedule.ready
        found = [
            SymbolGroup(ready[group[0]] - 1, tuple(sorted(bits)))
            for group in sorted(self.symbols, key=lambda group: ready[group[0]])
            if (bits := [(self.bits[ref, True], ref) for ref in group if (ref, True) in self.bits])
        ]
        return tuple(group for group in found if 0 <= group.layer < len(self.layers))

    def _bit(self, bit: Ref) -> LinearForm:
        """An exact bit of an earlier layer."""
        base, positive = strip_negations(self.program, bit)
        step = self.program.steps[base]
        if isinstance(step, Merge):
            own = added(*(self._bit(part) for part in step.bits))
        elif is_embedded(self.program, base):
            own = self._embedded(base)
        else:
            own = form((self.bits[base, True], 1))
        return own if positive else self._negated(own)

    def _blocked(self, where: Ref) -> LinearForm:
        """The negation of `where`: exactly 0 where it holds, 1 or more where it does not."""
        both = letter_and_place(self.program, where)
        if both is not None:
            letter, place = (scaled(self._bit(ref), -1) for ref in both)
            return added(self.stream.constant(2), letter, place)
        base, positive = strip_negations(self.program, where)
        if is_embedded(self.program, base) or isinstance(self.program.steps[base], Merge):
            own = self._bit(base)
            return self._negated(own) if positive else own
        return form((self.bits[base, not positive], 1))

    def _literal(self, leaf: Ref, positive: bool, layer: int) -> LinearForm:
        """A literal of a block: rounded already, or the raw output of a head of this layer."""
        fresh = self.schedule.is_fresh(leaf, layer)
        own = self.fresh[leaf] if fresh else self._bit(leaf)
        return own if positive else self._negated(own)

    def _negated(self, own: LinearForm) -> LinearForm:
        return added(self.stream.constant(1), scaled(own, -1))

    def _embedded(self, ref: Ref) -> LinearForm:
        step = self.program.steps[ref]
        if isinstance(step, Place):
            return self.stream.at(step.form)
        assert isinstance(step, Letter)
        if step not in self.letters:
            self.letters[step] = self.stream.new(f"letter {' '.join(step.symbols)}")
        return form((self.letters[step], 1))

    def _average(self, average: Average) -> LinearForm:
        if self._is_constant(average):
            return self.stream.constant(sum(factor for factor, _ in average.parts))
        return form((self.averages[average], 1))

    def _is_constant(self, average: Average) -> bool:
        """Whether it averages the same number at every position: counts of true are positions."""
        true = Place(ONE)
        return average.mark == 0 and all(self.program.steps[bit] == true for _, bit in average.parts)

    def _output_coordinate(self) -> Coordinate:
        base, positive = strip_negations(self.program, self.program.output)
        if not is_embedded(self.program, base):
            return self.bits[base, positive]
        assert positive, "the simplifier negates letters and places themselves"
        ((coordinate, _),) = self._embedded(base)
        return coordinate

    def _average_name(self, average: Average) -> str:
        parts = [f"{factor} ({self._name(bit)})" for factor, bit in average.parts]
        if average.mark:
            parts.append(f"{average.mark} edge")
        return f"average {average.mask} of {' + '.join(parts)}"

    def _name(self, ref: Ref) -> str:
        """The subformula that the step computes, or what it does to the ones it reads."""
        if ref in self.names:
            return self.names[ref]
        match self.program.steps[ref]:
            case Shift(direction, bit):
                text = f"{direction} ({self._name(bit)})"
            case Attend(mask, choice, where, _, _, _):
                text = f"{choice} j {mask} i with ({self._name(where)})"
            case Not(bit):
                text = f"!({self._name(bit)})"
            case _:
                text = f"s{ref}"
        return text if len(text) <= LABEL_WIDTH else f"{text[: LABEL_WIDTH - 3]}..."


def _chunks(values: list[tuple[LinearForm, Coordinate]]) -> list[Values]:
    return [
        tuple(values[start : start + VALUES_PER_HEAD]) for start in range(0, len(values), VALUES_PER_HEAD)
    ]
