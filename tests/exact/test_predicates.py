"""Named predicates are values; whether a name means something is asked where a name is read or evaluated."""

from __future__ import annotations

import pytest

from attemper.exact.closed_forms import predicate_from_tree
from attemper.exact.predicates import UNDECIDED_FROM, Named, PredicateError, holds, named, register_predicate


def test_a_value_can_be_made_before_its_name_is_registered() -> None:
    early = Named("made_early")
    with pytest.raises(
        PredicateError, match=r"no numerical predicate is called 'made_early'; known: .*\beven, "
    ):
        holds(early, 9)
    register_predicate("made_early", lambda value: value > 8)
    assert (holds(early, 9), holds(early, 8)) == (True, False)
    assert named("made_early") == early


def test_a_name_that_is_read_must_be_registered() -> None:
    for read in (named, lambda name: predicate_from_tree(["named", name])):
        with pytest.raises(PredicateError, match="Register it from Python"):
            read("nobody")


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
