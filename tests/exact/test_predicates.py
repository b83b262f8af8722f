"""Named predicates are of names that mean something: that is asked where one is made or read."""

from __future__ import annotations

import pytest

from attemper.exact.codec import CodecError
from attemper.exact.predicates import (
    PREDICATE,
    UNDECIDED_FROM,
    Named,
    NonNegative,
    Predicate,
    PredicateError,
    Remainder,
    Zero,
    holds,
    register_predicate,
)


def test_no_value_is_made_before_its_name_is_registered() -> None:
    with pytest.raises(
        PredicateError, match=r"no numerical predicate is called 'made_late'; known: .*\beven, "
    ):
        Named("made_late")
    register_predicate("made_late", lambda value: value > 8)
    late = Named("made_late")
    assert (holds(late, 9), holds(late, 8)) == (True, False)
    assert PREDICATE.read(["named", "made_late"]) == late


def test_a_name_that_is_read_must_be_registered() -> None:
    with pytest.raises(PredicateError, match="Register it from Python"):
        Named("nobody")
    with pytest.raises(CodecError, match=r"called 'nobody'; known: .*\bodd, .* Register it from Python"):
        PREDICATE.read(["named", "nobody"])


@pytest.mark.parametrize(
    ("predicate", "data"),
    [
        (Remainder(3, 1), ["remainder", 3, 1]),
        (Zero(), ["zero"]),
        (NonNegative(), ["non negative"]),
        (Named("prime"), ["named", "prime"]),
    ],
)
def test_each_predicate_is_written_as_documented(predicate: Predicate, data: list[object]) -> None:
    assert PREDICATE.encode(predicate) == data
    assert PREDICATE.read(data) == predicate


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("zero", r'^expected one of \["remainder", \.\.\.\], \["zero"'),
        (["mod", 2, 1], r'^expected one of \["remainder", \.\.\.\], \["zero"'),
        (["zero", 0], r'^after "zero" stands nothing, not \[0\]'),
        (["remainder", 2], '^after "remainder" stands modulus, remainder, not'),
        (["remainder", 2.0, 1], "^modulus: expected an integer from -100000000000 to 100000000000, not 2.0"),
        (["remainder", 2, True], "^remainder: expected an integer from .*, not True"),
        (["remainder", 10**11 + 1, 1], "^modulus: expected an integer from .*, not 100000000001"),
        (["remainder", 0, 0], "^a modulus is at least 1, not 0"),
        (["remainder", 2, 2], r"^a remainder mod 2 lies in 0\.\.1, not 2"),
        (["remainder", 2, -1], r"^a remainder mod 2 lies in 0\.\.1, not -1"),
        (["named", 3], "^name: expected a text, not 3"),
        (["named", ""], "^no numerical predicate is called ''"),
    ],
)
def test_other_data_are_no_predicate(data: object, said: str) -> None:
    with pytest.raises(CodecError, match=said):
        PREDICATE.read(data)


def test_nobody_is_told_what_is_prime_from_the_first_product_on_that_passes_for_one() -> None:
    prime = Named("prime")
    assert UNDECIDED_FROM == 1287836182261 * 2575672364521
    assert not any(holds(prime, UNDECIDED_FROM - step) for step in range(1, 40))
    assert holds(prime, 1287836182261)
    assert holds(prime, 2**61 - 1)
    for value in (UNDECIDED_FROM, UNDECIDED_FROM + 1, 2**89 - 1):
        with pytest.raises(PredicateError, match=f"'prime' failed on {value}: .* prove nothing"):
            holds(prime, value)


def test_primes_are_what_no_smaller_number_divides() -> None:
    numbers = range(-5, 2000)
    found = [value for value in numbers if holds(Named("prime"), value)]
    assert found == [v for v in numbers if v > 1 and all(v % k for k in range(2, v))]
