"""Automata of comparisons of counts, against the comparisons, to the length that they are made for."""

from __future__ import annotations

from itertools import product

import pytest

import attemper
from attemper.workbench.counted import counted_to

LANGUAGES = [
    ("#<['1'] > #<['0']", "01"),
    ("#['1'] == #<['0'] + 1", "01"),
    ("2 * #<[a] - #[b | c] + 1 != #<[!a]", "abc"),
    ("#<[a & !b] >= 2", "ab"),
    ("3 * #<[true] <= 4 * #<[b]", "ab"),
]


@pytest.mark.parametrize(("text", "alphabet"), LANGUAGES)
@pytest.mark.parametrize("empty", ["accept", "reject"])
def test_it_agrees_to_its_length(text: str, alphabet: str, empty: str) -> None:
    meant = attemper.language(text, alphabet, at="last", empty=empty)  # type: ignore[arg-type]
    for up_to in (0, 1, 6):
        automaton = counted_to(meant.definition, meant.alphabet, up_to)
        assert automaton is not None
        for length in range(up_to + 1):
            for word in product(alphabet, repeat=length):
                assert automaton.accepts(word) == meant.accepts(word)


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("#<[a] > #<[b] & a", "last"),
        ("#<[Y a] > 1", "last"),
        ("#>[a] > 1", "last"),
        ("a & b", "last"),
        ("#<[a S b] > 1", "last"),
        ("#[a] > 1", "first"),
    ],
)
def test_another_language_has_none(text: str, at: str) -> None:
    meant = attemper.language(text, "ab", at=at, empty="reject")  # type: ignore[arg-type]
    assert counted_to(meant.definition, meant.alphabet, 4) is None


def test_a_regular_language_has_none() -> None:
    assert (
        counted_to(
            attemper.language("regex:a*", "ab").definition, attemper.language("regex:a*", "ab").alphabet, 4
        )
        is None
    )
