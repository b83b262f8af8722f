"""Bits and numbers in many cases at once: each case by itself has Kleene's truth tables."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

from attemper.checker.cases import (
    KnownBit,
    KnownInteger,
    both,
    chosen,
    different,
    digits,
    either,
    from_digits,
    from_values,
    holds,
    increased,
    inverted,
    mapped,
    overlap,
    values_of,
)

Truth = int | None
"""A bit in one case; None if it is not known."""

TRUTHS: tuple[Truth, ...] = (0, 1, None)


def bit_of(truths: list[Truth]) -> KnownBit:
    """The bit with these truths in its cases, the first case first."""
    return KnownBit(*(from_digits("1" if truth == value else "0" for truth in truths) for value in (1, 0)))


def truths_of(bit: KnownBit, count: int) -> list[Truth]:
    found: list[Truth] = []
    for yes, no in zip(digits(bit.yes, count), digits(bit.no, count), strict=True):
        assert (yes, no) != ("1", "1")
        found.append(1 if yes == "1" else 0 if no == "1" else None)
    return found


def completions(truth: Truth) -> tuple[int, ...]:
    return (0, 1) if truth is None else (truth,)


def by_definition(function: Callable[..., int], *truths: Truth) -> Truth:
    """What a function is for all that its inputs can be, if that is one value."""
    found = {function(*values) for values in itertools.product(*map(completions, truths))}
    return found.pop() if len(found) == 1 else None


def assert_is(operation: Callable[..., KnownBit], function: Callable[..., int], inputs: int) -> None:
    rows = [*itertools.product(TRUTHS, repeat=inputs)]
    columns = [bit_of(list(column)) for column in zip(*rows, strict=True)]
    assert truths_of(operation(*columns), len(rows)) == [by_definition(function, *row) for row in rows]


def test_gates_are_known_where_all_that_can_be_gives_one_value() -> None:
    assert_is(inverted, lambda a: 1 - a, 1)
    assert_is(both, lambda a, b: a & b, 2)
    assert_is(either, lambda a, b: a | b, 2)
    assert_is(different, lambda a, b: a ^ b, 2)
    assert_is(chosen, lambda a, b, c: b if a else c, 3)


def test_bits_overlap_where_two_of_them_can_be_one() -> None:
    rows = [*itertools.product(TRUTHS, repeat=3)]
    bits = [bit_of(list(column)) for column in zip(*rows, strict=True)]
    found = overlap(bits, (1 << len(rows)) - 1)
    can = [sum(truth != 0 for truth in row) > 1 for row in rows]
    assert digits(found, len(rows)) == "".join(str(int(one)) for one in can)
    assert overlap([], 1) == overlap(bits[:1], 1) == 0


def test_numbers_are_read_and_written_case_by_case() -> None:
    values = [3, None, -2, 3, 0, None]
    number = from_values(values)
    assert set(number) == {3, -2, 0}
    assert values_of(number, 6) == values
    assert from_values([]) == {}
    assert values_of({}, 2) == [None, None]
    assert digits(0, 3) == "000"
    assert from_digits("101") == 5


def test_numbers_are_tested_mapped_and_increased_case_by_case() -> None:
    rng = random.Random(1)
    for _ in range(100):
        count = rng.randint(1, 9)
        values = [rng.choice((None, *range(-3, 4))) for _ in range(count)]
        truths = [rng.choice(TRUTHS) for _ in range(count)]
        number, factor = from_values(values), rng.randint(-2, 2)
        tested = [None if value is None else int(value >= 1) for value in values]
        assert truths_of(holds(lambda value: value >= 1, number), count) == tested
        more = [
            None if value is None or truth is None else value + factor * truth
            for value, truth in zip(values, truths, strict=True)
        ]
        assert values_of(increased(number, factor, bit_of(truths)), count) == more
        halves = [None if value is None or value % 2 else value // 2 for value in values]
        assert values_of(mapped(lambda value: None if value % 2 else value // 2, number), count) == halves
        assert_apart(increased(number, factor, bit_of(truths)))


def assert_apart(number: KnownInteger) -> None:
    assert all(one & other == 0 for one, other in itertools.combinations(number.values(), 2))
    assert all(number.values())
