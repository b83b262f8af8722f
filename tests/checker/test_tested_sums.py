"""Numerical predicates of sums of counts: what adds nothing is no part, and caps are kept."""

from __future__ import annotations

from itertools import product

import pytest

from attemper.checker import tested_sums
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.tested_sums import Counted
from attemper.exact.predicates import Named, Remainder
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks.layers import Masking
from tests.support.judges.derived import Reading

NAMES = Formulas(("a", "b")).names
A, B, PRIME = NAMES.letter("a"), NAMES.letter("b"), Named("prime")
NOTHING: tuple[tuple[Counted, ...], ...] = (
    (),
    ((3, Masking.PAST, NAMES.false),),
    ((2, Masking.PAST, B), (-2, Masking.PAST, B)),
    ((0, Masking.NONE, B),),
)


@pytest.mark.parametrize(("before", "after"), list(product(NOTHING, NOTHING)))
def test_what_adds_nothing_is_no_part(before: tuple[Counted, ...], after: tuple[Counted, ...]) -> None:
    own: Counted = (1, Masking.FUTURE, A)
    alone = tested_sums.test_of_sum(NAMES.positions, PRIME, [own], 1)
    assert tested_sums.test_of_sum(NAMES.positions, PRIME, [*before, own, *after], 1) == alone
    twice = tested_sums.test_of_sum(NAMES.positions, PRIME, [*before, own, *after, own], 1)
    assert twice == tested_sums.test_of_sum(NAMES.positions, PRIME, [(2, Masking.FUTURE, A)], 1)


def test_a_sum_of_nothing_is_a_number() -> None:
    for number in range(5):
        found = tested_sums.test_of_sum(NAMES.positions, PRIME, NOTHING[2], number)
        assert found == (NAMES.true if number in {2, 3} else NAMES.false)


@pytest.mark.parametrize("remainder", range(3))
def test_remainders_of_several_counts_are_what_they_mean(remainder: int) -> None:
    parts = [(1, Masking.FUTURE, A), (-2, Masking.PAST, B), (4, Masking.NONE, A)]
    found = NAMES.canonical(tested_sums.test_of_sum(NAMES.positions, Remainder(3, remainder), parts, 2))
    for word in (own for n in range(1, 5) for own in words_of_length(Alphabet(("a", "b")), n)):
        reading = Reading(NAMES, word)
        for i in range(1, len(word) + 1):
            total = 2 + word[:i].count("a") - 2 * word[i - 1 :].count("b") + 4 * word.count("a")
            assert reading.number(found, i) == (total % 3 == remainder)


def test_other_predicates_of_several_counts_have_no_rule() -> None:
    parts = [(1, Masking.FUTURE, A), (1, Masking.PAST, B)]
    with pytest.raises(UnprovenError, match="several counts at once"):
        tested_sums.test_of_sum(NAMES.positions, PRIME, parts, 0)


def test_too_many_remainders_are_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [(1, Masking.FUTURE, A), (1, Masking.PAST, B)]
    monkeypatch.setattr(tested_sums, "MAX_CASES", 9)
    tested_sums.test_of_sum(NAMES.positions, Remainder(3, 1), parts, 0)
    with pytest.raises(UnprovenError, match="several counts at once"):
        tested_sums.test_of_sum(NAMES.positions, Remainder(4, 1), parts, 0)
