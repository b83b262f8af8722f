"""The least pieces of a table are the least, by brute force, and are attained; Lemma 27 of Yang et al."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, product
from random import Random

import pytest

import attemper
from attemper.errors import OptionError
from attemper.theories.softening.ask import pieces
from attemper.theories.softening.pieces import Pieces

Points = list[tuple[Fraction, Fraction]]


def rounding(p: int, r: int) -> dict[Fraction, Fraction]:
    return {Fraction(x, 2**p): Fraction(x >> (p - r), 2**r) for x in range(2**p)}


def value_at(found: Pieces, x: Fraction) -> Fraction:
    """By the definition of a polygon."""
    for one, other in pairwise(found.knots):
        if one.x <= x <= other.x:
            return one.y + (other.y - one.y) * (x - one.x) / (other.x - one.x)
    raise AssertionError(x)


def of_units(found: Pieces, x: Fraction) -> Fraction:
    return found.knots[0].y + sum(
        (u.factor * max(x - u.start, Fraction(0)) for u in found.units), Fraction(0)
    )


def require_through(found: Pieces, table: dict[Fraction, Fraction]) -> None:
    for x, y in table.items():
        assert value_at(found, x) == y
        assert of_units(found, x) == y
    slopes = [(other.y - one.y) / (other.x - one.x) for one, other in pairwise(found.knots)]
    assert all(one != other for one, other in pairwise(slopes))
    assert all(one.x < other.x for one, other in pairwise(found.knots))


def least_breaks(points: Points) -> int:
    """Every way to put breaks at inner points and 0, 1 or 2 into each gap, and what slopes then must be.

    Between breaks a function has one slope. In a gap with chord c it is c at both ends without a break; with
    one it is less at one end and more at the other, and two allow everything. A slope is free but for what
    gaps ask of it: equal to, above or below numbers.
    """
    chords = [(b - y) / (a - x) for (x, y), (a, b) in pairwise(points)]
    best = 3 * len(points)
    for inner in product((False, True), repeat=len(points) - 2):
        for gaps in product(("none", "up", "down", "two"), repeat=len(chords)):
            count = sum(inner) + sum({"none": 0, "up": 1, "down": 1, "two": 2}[gap] for gap in gaps)
            if count < best and is_possible(chords, inner, gaps):
                best = count
    return best


def is_possible(chords: list[Fraction], inner: tuple[bool, ...], gaps: tuple[str, ...]) -> bool:
    """Slope number i is that behind point i and before it, too, unless there is a break at the point."""
    asked: dict[tuple[int, bool], list[tuple[str, Fraction]]] = {}
    for i, (chord, gap) in enumerate(zip(chords, gaps, strict=True)):
        leaving = (i, 0 < i <= len(inner) and inner[i - 1])
        arriving = (i + 1, False)
        signs = {"none": "==", "up": "<>", "down": "><", "two": ""}[gap]
        for slope, sign in zip((leaving, arriving), signs, strict=False):
            asked.setdefault(slope, []).append((sign, chord))
    return all(is_there_a_number(conditions) for conditions in asked.values())


def is_there_a_number(conditions: list[tuple[str, Fraction]]) -> bool:
    numbers = sorted({number for _, number in conditions})
    candidates = [*numbers, numbers[0] - 1, numbers[-1] + 1]
    candidates += [(one + other) / 2 for one, other in pairwise(numbers)]
    holds = {"=": lambda x, c: x == c, "<": lambda x, c: x < c, ">": lambda x, c: x > c}
    return any(all(holds[sign](x, c) for sign, c in conditions) for x in candidates)


def test_pieces_of_every_small_table_are_the_least_by_brute_force(few) -> None:
    tables = list(product(range(3), repeat=5))
    for heights in few(tables, 12):
        table = {Fraction(x): Fraction(y) for x, y in enumerate(heights)}
        found = pieces(table)
        require_through(found, table)
        assert found.count == 1 + least_breaks(list(table.items())), heights


def test_pieces_of_uneven_tables_are_the_least_by_brute_force(few) -> None:
    for seed in few(range(120), 6):
        random = Random(seed)
        places = sorted(random.sample(range(20), random.randint(2, 5)))
        table = {Fraction(x, 3): Fraction(random.randint(-4, 4), random.randint(1, 3)) for x in places}
        found = pieces(table)
        require_through(found, table)
        assert found.count == 1 + least_breaks(list(table.items())), table


@pytest.mark.parametrize(("p", "r"), [(p, r) for p in range(1, 9) for r in range(1, 6) if r <= p])
def test_rounding_p_bits_to_r_has_so_many_pieces_and_so_many_units(p: int, r: int) -> None:
    found = pieces(rounding(p, r))
    require_through(found, rounding(p, r))
    if p == r:
        assert found.count == 1
        return
    assert found.count == 2 ** (r + 1) - 1 >= 2**r
    assert found.least_width() == len(found.units) == 2 ** (r + 1) - 2
    for layers in (2, 3):
        width = found.least_width(layers)
        assert (2 * width) ** layers >= found.count > (2 * width - 2) ** layers


def test_the_compilers_own_rounding_of_bits_has_the_least_width() -> None:
    """From 1/4 down to 0, from 3/4 up to 1: two units."""
    found = attemper.pieces({0: 0, "1/4": 0, "3/4": 1, 1: 1})
    assert (found.count, found.least_width()) == (3, 2)
    assert found.units == ((Fraction(1, 4), 2), (Fraction(3, 4), -2))


@pytest.mark.parametrize(
    "table", [{}, {1: 2}, {1: 2, "1": 3}, {0: 0, "a": 1}, {0: 0, 1: float("inf")}, {0: 0, 1: "1/0"}]
)
def test_what_is_no_table_is_refused(table: dict[object, object]) -> None:
    with pytest.raises(OptionError, match="table"):
        pieces(table)


def test_a_network_without_a_hidden_layer_has_no_width() -> None:
    with pytest.raises(OptionError, match="at least one"):
        pieces({0: 0, 1: 1}).least_width(0)
