"""The words of a length have numbers, each member one and each stranger one: so draws are exactly even."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from random import Random

import pytest

from attemper.languages.regular.numbering import Numbering, numbering_of, verdicts
from attemper.languages.regular.regex import parse_regex

LANGUAGES = (
    ("(ab|ba)*c?", "abc"),
    ("a*b", "ab"),
    ("(aa)*", "ab"),
    ("(aa)*", "a"),
    ("[]", "ab"),
    (".*", "ab"),
    ("()", "abc"),
    ("~((a|b)*bb(a|b)*)", "ab"),
    ("(a|b)*a(a|b){2}", "ab"),
    ("abab", "ab"),
    ("(a*ba*ba*)*|b", "ab"),
    ("a.*c|b", "abc"),
    ("(..)*", "ab"),
)


@pytest.mark.parametrize(("text", "alphabet"), LANGUAGES, ids=str)
def test_every_word_of_a_length_and_verdict_has_exactly_one_number(text: str, alphabet: str) -> None:
    dfa = parse_regex(text, alphabet)
    numbering = Numbering(dfa, 6)
    for n, found in zip(range(7), verdicts(dfa, 6), strict=True):
        for member in (True, False):
            # `product` has the alphabet's order.
            words = [word for word in product(alphabet, repeat=n) if dfa.accepts(word) is member]
            assert numbering.count(n, member=member) == len(words)
            numbered = [numbering.word(n, number, member=member) for number in range(len(words))]
            assert numbered == words
            assert (member in found) is bool(words)


def test_each_symbol_is_drawn_as_often_as_words_go_on_with_it() -> None:
    """The same from the other side: the product of the shares of all symbols is 1/count, for every word."""
    dfa = parse_regex("(ab|ba)*c?", "abc")
    numbering = Numbering(dfa, 7)
    words = [numbering.word(7, number) for number in range(numbering.count(7))]
    for word in words:
        share = Fraction(1)
        for k in range(7):
            before = [other for other in words if other[:k] == word[:k]]
            share *= Fraction(sum(other[: k + 1] == word[: k + 1] for other in before), len(before))
        assert share == Fraction(1, len(words)) == Fraction(1, 8)


def test_counts_that_no_float_holds_are_exact() -> None:
    numbering = Numbering(parse_regex("(ab|ba)*c?", "abc"), 5001)
    assert numbering.count(5001) == 2**2500
    assert numbering.count(5001, member=False) == 3**5001 - 2**2500
    assert numbering.word(5001, 2**2500 - 1) == ("b", "a") * 2500 + ("c",)
    drawn = numbering.word(5001, Random(0).randrange(2**2500))
    assert len(drawn) == 5001
    assert drawn[-1] == "c"


@pytest.mark.parametrize("number", [-1, 2])
def test_other_numbers_are_none_of_a_word(number: int) -> None:
    with pytest.raises(IndexError):
        Numbering(parse_regex("(ab|ba)*c?", "abc"), 3).word(3, number)


def test_a_table_that_would_be_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    dfa = parse_regex("(aa)*", "a")
    assert numbering_of(dfa, 999_999) is None
    found = numbering_of(dfa, 10)
    assert found is not None
    assert found.count(10) == 1
    monkeypatch.setattr("attemper.languages.regular.numbering.MOST_BITS", 0)
    assert numbering_of(dfa, 10) is None
