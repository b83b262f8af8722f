"""When each step of a program is ready, in layers.

`ready[s]` is the layer after which step s can be read by a head of the next layer: 0 for letters and
places (the embedding), one more than its inputs for `Attend`, `Shift` and `Count`, two for
comparisons and tests of counts (the count itself is one of them). Gates are ready with the last of
their inputs: their work is folded into the feed-forward of that layer. A merge is ready with its inputs: it
is their sum. Two exceptions:

* a gate that mixes letters with places is ready after layer 1, since embeddings only add (but a head
  can look for a letter *and* a place without waiting: the key is the sum of the two);
* an irregular block of more than 12 literals takes a feed-forward of its own. The edges first and last,
  which guard the shifts, do not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.compiling.assembling.blocks import GateBlock, GateExpression, block_of
from attemper.compiling.building.bits import letter_and_place, strip_negations
from attemper.compiling.building.counts import integer_of, is_position


@final
@dataclass(frozen=True)
class Schedule:
    """The ready layer of every step of a program."""

    program: ops.Program
    ready: tuple[int, ...]
    is_literal: bool = False
    """Whether counts are retrieved, as the papers do (`compiling.literal`)."""

    @property
    def depth(self) -> int:
        """The layer after which the output is there."""
        if self.program.numbers is None:
            return self.ready[self.program.output]
        return max(map(self.number_layer, self.program.numbers.rows))

    def number_layer(self, row: tuple[ops.Part, ...]) -> int:
        """The layer whose feed-forward writes a number: an average is gated there by bits that are exact."""
        layers = [1]
        for bit, count in ((part.bit, part.count) for part in row):
            if count is not None:
                layers.append(max(self.ready[count], 1))
            if bit is not None:
                base, _ = strip_negations(self.program, bit)
                layers.append(self.ready[base] + (count is not None))
        return max(layers)

    def block(self, bit: ops.Ref, positive: bool) -> tuple[GateBlock, int]:
        """The block of a bit (or of its negation), and the layer whose feed-forward computes it."""
        layer = self.ready[bit]
        block = block_of(_expression(self.program.steps, self.ready, bit, positive, layer))
        if block is None:
            raise AssertionError("the schedule leaves no block too wide")
        return block, layer

    def is_fresh(self, bit: ops.Ref, layer: int) -> bool:
        """Whether the bit is the output of a head of this very layer, not yet rounded."""
        attends = isinstance(self.program.steps[bit], ops.Looking | ops.Comparing)
        return attends and self.ready[bit] == layer


def make_schedule(
    program: ops.Program, symbols: Sequence[tuple[ops.Ref, ...]] = (), *, is_literal: bool = False
) -> Schedule:
    """The earliest schedule of a program in which the bits of each symbol are ready together.

    Nothing reads one of a symbol's bits before the last of them. If it `is_literal`, a count is retrieved
    twice, one layer after the other, and a comparison of counts is no bit before a feed-forward has written
    it.
    """
    last = {max(group): group for group in symbols}
    ready: list[int] = []
    for bit, step in enumerate(program.steps):
        ready.append(_ready(program, ready, bit, step, is_literal))
        group = last.get(bit, ())
        latest = max((ready[ref] for ref in group), default=0)
        for ref in group:
            ready[ref] = latest
    return Schedule(program, tuple(ready), is_literal)


def _ready(program: ops.Program, ready: list[int], bit: ops.Ref, step: ops.Step, is_literal: bool) -> int:
    before = max((ready[ref] for ref in _awaited(program, step)), default=0)
    match step:
        case ops.Nearest(value=value):
            return max(ready[value] + 1, _ready_nearest(program, ready, step))
        case ops.Matched():
            # What is nearest is read, and then compared.
            return _ready_nearest(program, ready, step) + 1
        case ops.Letter() | ops.Place():
            return 0
        case ops.Not() | ops.Linear() | ops.Merge():
            return before
        case ops.Compare() | ops.Equals() | ops.CountTest():
            return before + 1 + is_literal
        case ops.Attend() | ops.Shift() | ops.Count():
            return before + 1
        case ops.Gate() | ops.Table():
            # A merge is a sum of finished bits, so the feed-forward that makes them cannot read it.
            whole = (ops.Merge, ops.Compare) if is_literal else ops.Merge
            read = [strip_negations(program, ref)[0] for ref in ops.inputs(step)]
            merged = (ready[ref] + 1 for ref in read if isinstance(program.steps[ref], whole))
            layer = max(before, 1, *merged)
            fits = block_of(_expression(program.steps, [*ready, layer], bit, True, layer)) is not None
            return layer if fits else layer + 1
        case _:
            assert_never(step)


def _ready_nearest(program: ops.Program, ready: list[int], step: ops.Nearest | ops.Matched) -> int:
    """Between the average of a count and its comparison the count is looked up; positions are there."""
    counts = ((step.query, False), (step.key, True))
    integers = [(count, integer_of(program, count, is_key=is_key)) for count, is_key in counts]
    # A constant has an average, too: that of its mark.
    looked_up = (max(ready[c], 1) + 2 for c, integer in integers if not is_position(program, integer))
    return max([ready[step.where] + 1, *looked_up])


def _awaited(program: ops.Program, step: ops.Step) -> tuple[ops.Ref, ...]:
    """The steps that a step reads; what a head looks for may be the sum of a letter and a place."""
    if not isinstance(step, ops.Attend):
        return ops.inputs(step)
    heres = (here for here, _ in step.cases if here is not None)
    theres = (there for _, there in step.cases if letter_and_place(program, there) is None)
    return (*heres, *theres, step.value)


def _expression(
    steps: tuple[ops.Step, ...], ready: Sequence[int], bit: ops.Ref, positive: bool, layer: int
) -> GateExpression:
    """The gates that layer `layer` computes below a bit; everything else they read is a leaf."""
    leaves: set[ops.Ref] = set()
    seen: set[ops.Ref] = set()
    stack = [bit]
    while stack:
        ref = stack.pop()
        if ref in seen:
            continue
        seen.add(ref)
        step = steps[ref]
        if isinstance(step, ops.Not):
            stack.append(step.bit)
        elif isinstance(step, ops.Gate | ops.Table) and ready[ref] == layer:
            stack.extend(ops.inputs(step))
        else:
            leaves.add(ref)
    return GateExpression(steps, frozenset(leaves), (bit, positive))
