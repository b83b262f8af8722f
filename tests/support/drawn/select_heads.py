"""Random networks whose last layer is one TieBreak head, built by hand for the float rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from attemper.exact.closed_forms import ONE, SIGN, ClosedForm, I, N, number, plus, times
from attemper.exact.closed_forms import Power as PowerOf
from attemper.languages.words import Alphabet
from attemper.networks import layers

SYMBOLS = ("a", "b", "c")
"""Coordinates 0, 1 and 2 hold the symbol's bits, coordinate 3 holds 1."""


def linear(*parts: tuple[int, Fraction | int]) -> layers.LinearForm:
    """The linear form, coordinates ascending, without zeros."""
    return tuple((c, Fraction(f)) for c, f in sorted(parts) if f)


def power(base: ClosedForm, exponent: int) -> list[ClosedForm]:
    """The factors of base^exponent."""
    return [] if exponent == 0 else [base if exponent == 1 else PowerOf(base, exponent)]


def monomial(factor: Fraction | int, a: int, b: int) -> ClosedForm:
    """factor i^a n^b."""
    parts = [*([factor] if factor != 1 else []), *power(I, a), *power(N, b)]
    return times(*parts) if parts else ONE


class Builder:
    """Collects coordinates, and the units of a first layer that writes bits with rounding noise."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.width = 4
        self.positions: dict[int, ClosedForm] = {}
        self.hidden: list[layers.Hidden] = []

    def position(self, form: ClosedForm) -> int:
        """A new coordinate that holds the closed form."""
        self.positions[self.width] = form
        self.width += 1
        return self.width - 1

    def noisy(self, source: int) -> int:
        """A new coordinate that holds the source's 0 or 1, as a sum that may round."""
        large = self.random.choice([2**8, 2**14, 2**17, 2**26])
        small = Fraction(1, 2 ** self.random.choice([3, 9, 11, 14]))
        sums: list[list[Fraction | int]] = [[large + 1 + small, -large, -small], [large + 1, -large]]
        factors = self.random.choice(sums)
        target, self.width = self.width, self.width + 1
        for factor in factors:
            self.hidden.append(layers.Hidden(linear((source, 1)), Fraction(0), linear((target, factor))))
        return target

    def network(self, head: layers.Head, accepts: int) -> layers.Network:
        """The network with the head in its last layer, whose value is the output."""
        before = [layers.Layer((), tuple(self.hidden), ())] if self.hidden else []
        return layers.Network(
            alphabet=Alphabet(SYMBOLS),
            coordinates=tuple(f"x{k}" for k in range(self.width)),
            embedding=tuple(linear((k, 1), (3, 1)) for k in range(3)),
            positions=tuple(sorted(self.positions.items())),
            layers=(*before, layers.Layer((head,), (), ())),
            head_width=16,
            output=accepts,
            reads_first=False,
            accepts_empty=False,
        )


WEIGHTS: Sequence[Fraction | int] = (
    1,
    1,
    1,
    2,
    4,
    8,
    16,
    3,
    5,
    40,
    100,
    Fraction(1, 2),
    Fraction(3, 4),
    257,
    4099,
    2**20 + 1,
)


def temperature(random: Random) -> tuple[ClosedForm, int, int]:
    """An inverse temperature, and its powers of i and n."""
    factors: list[Fraction | int] = [1, 1, 1, 2, 8, 32, 3, Fraction(5, 2), Fraction(1, 3), 1025]
    factor = random.choice(factors)
    a, b = random.choice([(0, 0), (0, 0), (0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 1)])
    if random.random() < 0.1:
        form = times(factor, plus(I, 1)) if random.random() < 0.5 else times(factor, plus(N, N))
        return (form, 1, 0) if depends_on_position(form) else (form, 0, 1)
    return monomial(factor, a, b), a, b


def depends_on_position(form: ClosedForm) -> bool:
    """Whether i occurs in the form."""
    return "Position()" in repr(form)


def random_head(random: Random) -> layers.Network:
    """A network of one or two layers whose last layer is one head, mostly a TieBreak head."""
    build = Builder(random)
    leftmost = random.random() < 0.5
    masking = random.choice(list(layers.Masking))
    cold, a, b = temperature(random)
    rows, asked = _tie_break_rows(build, leftmost, masking, (a, b))
    if random.random() < 0.85:
        rows += _blocking_rows(build, masking, asked)
    if random.random() < 0.5:
        rows.append(_level_row(build))
    if len(rows) > 4:
        rows.pop(0)
    random.shuffle(rows)
    drawn: list[Fraction | int] = [0, 1, 1, -1, 2, Fraction(3, 2)]
    bits = [random.choice(drawn) for _ in SYMBOLS]
    value = linear(*enumerate(bits)) or linear((3, 1))
    output, build.width = build.width, build.width + 1
    head = layers.Head(
        layers.Select(leftmost, ((None, ()),)),
        masking,
        layers.Softmax(cold),
        tuple(query for query, _ in rows),
        tuple(key for _, key in rows),
        (value,),
        (output,),
    )
    return build.network(head, output)


@dataclass(frozen=True)
class Asked:
    """What the rows with t ask for, without the temperature: weight, powers of i and n; whether t = j."""

    weight: Fraction
    a: int
    b: int
    steps: bool


Drawn = tuple[layers.LinearForm, layers.LinearForm]


def _query(build: Builder, factor: Fraction | int, a: int, b: int, scaled: int = 0) -> layers.LinearForm:
    """A query factor i^a n^b, for a key with n^scaled: the factor in the weight or in the closed form."""
    if (a, b) == (0, 0) and build.random.random() < 0.7:
        return linear((3, factor))
    if build.random.random() < 0.06:
        # What cancels leaves an error behind that no relative one bounds.
        large = build.random.choice([Fraction(1000, 3), Fraction(2**20, 3), Fraction(2**40, 3)])
        return linear((build.position(plus(monomial(factor, a, b), large, -large)), 1))
    if build.random.random() < 0.5:
        return linear((build.position(monomial(1, a, b)), factor))
    return linear((build.position(monomial(factor, a, b)), 1))


def _tie_break_rows(
    build: Builder, leftmost: bool, masking: layers.Masking, cold: tuple[int, int]
) -> tuple[list[Drawn], Asked]:
    """One row with t, sometimes two."""
    random = build.random
    steps, scaled = random.random() < 0.6, random.choice([0, 0, 0, -1, 1])
    exponent, inside = (1 if steps else -1), random.choice([1, 1, 1, 3])
    sign = exponent * (-1 if leftmost else 1)
    key = linear((build.position(monomial(inside, exponent, scaled)), sign))
    a, b = random.choice([(0, 0), (0, 0), (1, 0), (0, 1), (1, 1)])
    if not steps:
        a, b = (a + 2, b) if masking.weak is layers.Masking.FUTURE else (a, b + 2)
    if random.random() < 0.9:
        a, b = a - cold[0], b - cold[1] - scaled
    weights = [random.choice(WEIGHTS) for _ in range(2 if random.random() < 0.15 else 1)]
    rows = [(_query(build, weight, a, b, scaled), key) for weight in weights]
    return rows, Asked(Fraction(sum(weights) * inside), a, b + scaled, steps)


def _blocking_rows(build: Builder, masking: layers.Masking, asked: Asked) -> list[Drawn]:
    """One or two rows that block symbols, on one to three levels."""
    random = build.random
    a, b = asked.a, asked.b
    if asked.steps:
        a, b = (a + 1, b) if masking.weak is layers.Masking.FUTURE else (a, b + 1)
    if random.random() < 0.1:
        a, b = random.choice([(0, 0), (1, 0), (a + 1, b), (a, b + 1)])
    drawn: list[Fraction | int] = [0, 0, 1, 1, 2, 3, Fraction(1, 2), Fraction(8197, 4096)]
    levels = [random.choice(drawn) for _ in SYMBOLS]
    least = min((abs(Fraction(x - y)) for x in levels for y in levels if x != y), default=Fraction(1))
    factor = asked.weight * random.choice([2, 2, 3, 4, 8, 9, 100, 1024])
    if 1 / least in (1, 2):
        factor /= least
    bits = [build.noisy(k) if random.random() < 0.25 else k for k in range(3)]
    if random.random() < 0.25:
        first = linear((bits[0], -levels[0]), (bits[1], -levels[1])) or linear((bits[0], -1))
        second = linear((bits[2], -(levels[2] or 1)))
        twice = random.choice([1, 2])
        return [(_query(build, factor, a, b), first), (_query(build, factor * twice, a, b), second)]
    key = linear(*((bit, -level) for bit, level in zip(bits, levels, strict=True))) or linear((bits[1], -1))
    return [(_query(build, factor, a, b), key)]


def _level_row(build: Builder) -> Drawn:
    """A row whose key is the same number at every position."""
    random = build.random
    numbers: list[Fraction | int] = [Fraction(1, 3), Fraction(1000, 1001), 7, 4099]
    key = random.choice(
        [
            linear((3, 1)),
            linear((3, random.choice(WEIGHTS))),
            linear((build.position(number(random.choice(numbers))), 1)),
            linear((build.noisy(3), random.choice([1, 3]))),
        ]
    )
    kind = random.random()
    if kind < 0.2:
        return linear((random.randrange(3), random.choice(WEIGHTS))), key
    if kind < 0.35:
        return linear((build.position(times(I, SIGN)), random.choice(WEIGHTS))), key
    if kind < 0.5:
        return linear((build.noisy(1), random.choice(WEIGHTS))), key
    a, b = random.choice([(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, -1)])
    return _query(build, random.choice(WEIGHTS), a, b), key
