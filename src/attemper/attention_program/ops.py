"""The attention program: what a transformer can run, one step after another. Data only.

Every step gives a value at every position: a *bit*, or a *count* (an integer of size O(n)).
Steps refer to earlier steps by index. Position-wise steps (gates, linear combinations) cost no
attention; `Attend`, `Shift` and `Count` look at other positions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.exact.closed_forms import ClosedForm
from attemper.exact.codec import Codec, Natural, Ordinary, Rational
from attemper.exact.predicates import Predicate
from attemper.languages.masks import PositionMask
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet

Ref = Natural
"""The index of an earlier step."""

TOO_LARGE = 2**62
"""Of counts with constants or factors from here on, steps multiplied out, nothing is computed or proved."""

Cases = tuple[tuple[Ref | None, Ref], ...]
"""Pairs (bit at i, bit at j) of a selection; None: everywhere."""


class Mask(PositionMask):
    """Which positions j the position i may look at."""

    UP_TO = "<=", True, True, False
    BEFORE = "<", True, False, False
    FROM = ">=", False, True, True
    AFTER = ">", False, False, True
    ALL = "all"


class Choice(StrEnum):
    """Which of several matching positions is read."""

    RIGHTMOST = "rightmost"
    LEFTMOST = "leftmost"


class Connective(StrEnum):
    """Gates of any number of inputs.

    `UNION` is the disjunction of bits of which no two ever hold together: a promise of whoever writes it.
    """

    AND = "and"
    OR = "or"
    XOR = "xor"
    UNION = "union"


class Direction(StrEnum):
    """The neighbour that a shift reads."""

    PREVIOUS = "previous"
    NEXT = "next"


@final
@dataclass(frozen=True)
class Letter:
    """Bit: the symbol at this position is one of `symbols`."""

    symbols: tuple[str, ...]


@final
@dataclass(frozen=True)
class Place:
    """Bit: a 0/1-valued closed form of the position i and the length n."""

    form: ClosedForm


@final
@dataclass(frozen=True)
class Not:
    """Bit: the negation."""

    bit: Ref


@final
@dataclass(frozen=True)
class Gate:
    """Bit: the conjunction, disjunction or parity of bits."""

    connective: Connective
    bits: tuple[Ref, ...]


@final
@dataclass(frozen=True)
class Table:
    """Bit: 1 where the tuple of bits is one of `rows`; any function of at most 12 bits."""

    bits: tuple[Ref, ...]
    rows: tuple[tuple[bool, ...], ...]


@final
@dataclass(frozen=True)
class Merge:
    """Bit: the union of bits that heads read as it is, as their sum; no two may hold together."""

    bits: tuple[Ref, ...]


@final
@dataclass(frozen=True)
class Attend:
    """Bit: `value` at the chosen one of the visible positions that match.

    A case (here, there) is in force at i where the bit `here` holds (None: everywhere); j matches if the bit
    `there` of the case in force holds at j. That no two cases are in force together is a promise.

    Where nothing matches, the bit is `default`; None is what a head does, which attends somewhere all the
    same: to the rightmost (leftmost) of the visible positions with the fewest bits `there`, of the cases in
    force, that do not hold. Where it sees nothing (strict masks, at one end) it is 0.
    """

    mask: Mask
    choice: Choice
    cases: Cases
    value: Ref
    default: bool | None

    @property
    def where(self) -> Ref | None:
        """What is looked for, where that is the same everywhere."""
        match self.cases:
            case ((None, there),):
                return there
            case _:
                return None


@final
@dataclass(frozen=True)
class Nearest:
    """Bit: `value` at the visible position whose count is nearest to the count here.

    That is the rightmost (leftmost) of the visible positions j with the least
    (query here - key at j)^2 + (1 - where at j), both counts taken as 1 where they are less, and as n, the
    length of the word, where they are greater. The mask shows i itself, so there is always such a position.
    """

    mask: Mask
    choice: Choice
    where: Ref
    query: Ref
    key: Ref
    value: Ref


@final
@dataclass(frozen=True)
class Matched:
    """Bit: the count at the position that `Nearest` reads equals the count here, both taken from 1 to n.

    That is the visible position j with the least (query here - key at j)^2 + (1 - where at j), as there: a
    position with `where` and an equal count is found if there is one. If there is none, the bit is 1 all the
    same where the nearest position has an equal count but not `where`.
    """

    mask: Mask
    choice: Choice
    where: Ref
    query: Ref
    key: Ref


@final
@dataclass(frozen=True)
class Shift:
    """Bit: the bit so many positions before or after; `default` if there is none.

    None is what a head does, at distance 1: it reads i itself.
    """

    direction: Direction
    bit: Ref
    distance: Ordinary = 1
    default: bool | None = False


@final
@dataclass(frozen=True)
class Count:
    """Count: the number of positions in the mask where the bit holds."""

    mask: Mask
    bit: Ref


@final
@dataclass(frozen=True)
class Linear:
    """Count: the sum of factor * count over `parts`, plus `constant`."""

    parts: tuple[tuple[Ordinary, Ref], ...]
    constant: Ordinary


@final
@dataclass(frozen=True)
class Compare:
    """Bit: count >= threshold."""

    count: Ref
    threshold: Ordinary


@final
@dataclass(frozen=True)
class Equals:
    """Bit: count = value."""

    count: Ref
    value: Ordinary


@final
@dataclass(frozen=True)
class CountTest:
    """Bit: the numerical predicate holds of scale * count + shift."""

    predicate: Predicate
    count: Ref
    scale: Ordinary
    shift: Ordinary


LocalStep = Letter | Place | Not | Gate | Table | Merge
"""Bits of what stands at the position itself."""

Looking = Attend | Nearest | Matched | Shift
"""Bits of what stands at another position."""

Comparing = Compare | Equals | CountTest
"""Bits of a count."""

BitStep = LocalStep | Looking | Comparing
CountStep = Count | Linear
Step = BitStep | CountStep


@final
@dataclass(frozen=True)
class Part:
    """factor * [bit] * count / (number of visible positions): without bit or count, the rest of the product.

    It has a bit or a count, or both.
    """

    factor: Rational
    bit: Ref | None
    count: Ref | None


@final
@dataclass(frozen=True)
class Numbers:
    """Numbers at every position i, each the sum of its parts; counts are divided by what `mask` shows at i.

    There is one integer, and one fraction. An integer's factors are integers and all its parts have counts:
    times the number of visible positions the sum is the integer. A distribution has a number for each of its
    names and no counts: that no number is negative and their sum is 1 at every position is a promise.
    """

    measure: Measure
    mask: Mask
    rows: tuple[tuple[Part, ...], ...]
    names: tuple[str, ...] = ()

    @property
    def inputs(self) -> tuple[Ref, ...]:
        """The steps that the numbers are made of, each once."""
        parts = [part for row in self.rows for part in row]
        refs = [ref for part in parts for ref in (part.bit, part.count) if ref is not None]
        return tuple(dict.fromkeys(refs))


@final
@dataclass(frozen=True)
class Program:
    """Steps in order, and the bit that is the result at every position; or a symbol, or numbers.

    Where the result is a symbol, `symbols` has the bit of each name, and `output` is the first of them: that
    exactly one of the bits holds at every position is a promise. Where numbers are the result, `output` is
    the first step that they are made of.
    """

    alphabet: Alphabet
    steps: tuple[Step, ...]
    output: Ref
    symbols: tuple[tuple[str, Ref], ...] = ()
    numbers: Numbers | None = None

    @property
    def outputs(self) -> tuple[Ref, ...]:
        """All bits that are results; or the steps, bits and counts, of which numbers are made."""
        if self.numbers is not None:
            return self.numbers.inputs
        return tuple(bit for _, bit in self.symbols) or (self.output,)


PROGRAM: Codec[Program] = Codec(Program)
"""Programs as JSON data: `wellformed` says whether what is read is one."""


def everywhere(where: Ref) -> Cases:
    """The only case of a selection that looks for the same bit wherever it stands."""
    return ((None, where),)


def inputs(step: Step) -> tuple[Ref, ...]:
    """The steps that a step reads."""
    match step:
        case Letter() | Place():
            return ()
        case Not(bit) | Shift(_, bit, _, _) | Count(_, bit):
            return (bit,)
        case Gate(_, bits) | Table(bits, _) | Merge(bits):
            return bits
        case Attend(_, _, cases, value, _):
            heres = (here for here, _ in cases if here is not None)
            return (*heres, *(there for _, there in cases), value)
        case Nearest(_, _, where, query, key, value):
            return (where, query, key, value)
        case Matched(_, _, where, query, key):
            return (where, query, key)
        case Linear(parts, _):
            return tuple(count for _, count in parts)
        case Compare(count, _) | Equals(count, _) | CountTest(_, count, _, _):
            return (count,)


def counted_in(
    program: Program, count: Ref, scale: int = 1, shift: int = 0
) -> tuple[int, dict[Ref, int]] | None:
    """scale * count + shift as a constant, and a factor for each `Count` step that it is made of.

    A factor may be 0, where parts cancel: what is counted is still a part of the program. None if, multiplied
    out, a constant or a factor reaches `TOO_LARGE`.

    >>> letter, one = Letter(("a",)), Count(Mask.UP_TO, 0)
    >>> twice = Linear(((1, 1), (1, 1)), 3)
    >>> counted_in(Program(Alphabet(("a", "b")), (letter, one, twice), 0), 2)
    (3, {1: 2})
    """
    constant, factors, left = shift, dict[Ref, int](), {count: scale}
    for ref in range(count, -1, -1):
        match program.steps[ref]:
            case Linear(parts, own) if ref in left:
                constant += left[ref] * own
                for inner, part in parts:
                    left[part] = left.get(part, 0) + left[ref] * inner
                if max(map(abs, (constant, *(left[part] for _, part in parts)))) >= TOO_LARGE:
                    return None
            case Count() if ref in left:
                factors[ref] = left[ref]
            case _:
                pass
    return constant, factors
