"""What a bit of a program is, below its negations and merges."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.attention_program.ops import Connective, Gate, Letter, Merge, Not, Place, Program, Ref
from attemper.compiling.cubes import Literal


def strip_negations(program: Program, bit: Ref) -> Literal:
    """The bit below the negations, and whether their number is even."""
    positive = True
    while isinstance(step := program.steps[bit], Not):
        bit, positive = step.bit, not positive
    return bit, positive


def letter_and_place(program: Program, bit: Ref) -> tuple[Ref, Ref] | None:
    """The letter and the place whose conjunction the bit is, if it is one."""
    step = program.steps[bit]
    if isinstance(step, Gate) and step.connective is Connective.AND and len(step.bits) == 2:
        letter, place = sorted(step.bits, key=lambda ref: isinstance(program.steps[ref], Place))
        if isinstance(program.steps[letter], Letter) and isinstance(program.steps[place], Place):
            return letter, place
    return None


def merged(program: Program, bit: Ref) -> tuple[Ref, ...]:
    """The bits whose sum a bit is: those of a merge, or the bit itself."""
    step = program.steps[bit]
    if not isinstance(step, Merge):
        return (bit,)
    return tuple(inner for part in step.bits for inner in merged(program, part))


def is_embedded(program: Program, bit: Ref) -> bool:
    """Whether the bit stands in the embedding already."""
    return isinstance(program.steps[bit], Letter | Place)


def read(program: Program, bit: Ref) -> Iterator[Literal]:
    """The bits that feed-forwards must have written where `bit` is read as the sum of its parts."""
    base, _ = strip_negations(program, bit)
    for part in merged(program, base):
        own, _ = strip_negations(program, part)
        if not is_embedded(program, own):
            yield own, True
