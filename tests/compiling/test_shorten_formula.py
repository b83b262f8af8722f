"""Short formulas are found by search, and are taken only where they are seen to say the same."""

from __future__ import annotations

import random

import pytest

from attemper.compiling.lowering import shorten_formula, split_formula
from attemper.compiling.lowering.cascade_to_formula import tree_size
from attemper.compiling.lowering.shorten_formula import Library, Words, same, says, shortened
from attemper.compiling.lowering.split_formula import shortest
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet, words_of_length
from attemper.workbench.translate import translate
from tests.support.drawn.samples import FormulaSampler

AB, ABC = Alphabet(("a", "b")), Alphabet(("a", "b", "c"))

WRITTEN = {
    "a*b": "b & WY H a",
    "a*": "H a",
    "a*b*": "H (b | WY a)",
    "(ab)*": "b & H (a <-> WY b)",
    ".*ab.*": "O (b & Y a)",
    ".*a..": "Y Y a",
    "a.*": "O (a & first)",
    "a.*a|b.*b|a|b": "a <-> O H a",
    "a*ba*": "O b & H (b -> WY H a)",
}


@pytest.mark.sweep(5, also=["a*ba*"])
@pytest.mark.parametrize("regex", WRITTEN)
def test_small_languages_are_written_as_people_write_them(regex: str) -> None:
    found = shortest(parse_regex(regex, AB))
    assert found is not None
    assert tree_size(found) <= tree_size(parse(WRITTEN[regex]))
    for n in range(1, 9):
        for word in words_of_length(AB, n):
            assert truth(found, word) == parse_regex(regex, AB).prefixes(word)
    if regex == "a*b":
        assert show(found) == "b & WY H a"


def test_symbols_that_act_alike_are_written_together() -> None:
    alphabet = Alphabet(("a", "b", "c", "d"))
    assert show(translate(parse_regex("[ab]*[cd]", alphabet)).formula) == "(c | d) & WY H (a | b)"
    assert show(translate(parse_regex("[abc]*", alphabet)).formula) == "H !d"
    assert show(translate(parse_regex("(d*[abc]d*[abc])*d*", alphabet)).formula) == "#<[!d] % 2 = 0"


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regex", ["a*b", "(ab|ba)*", "(aa)*b", ".*aba.*"])
def test_a_translation_is_proved(regex: str) -> None:
    found = translate(parse_regex(regex, AB))
    assert found.proved


@pytest.mark.slow
def test_what_goes_without_saying_is_left_out() -> None:
    for text, short in {
        "a & Y a | b & Y a": "Y a",
        "Y (a | b)": "!first",
        "!Y (a | b)": "first",
        "a & Y b & Y a | O (a & Y (a & !a))": "false",
        "true S (a & !!Y b)": "O (a & Y b)",
    }.items():
        assert same(shortened(parse(text), AB), parse(short), AB.symbols)
        assert tree_size(shortened(parse(text), AB)) <= tree_size(parse(short))


@pytest.mark.sweep(0)
def test_formulas_that_count_or_look_ahead_stay_as_they_are() -> None:
    for text in ("#<[a & true] >= 2", "pos >= 2 & (a | b)", "F a", "last"):
        assert shortened(parse(text), AB) == parse(text)


@pytest.mark.sweep(4, also=["8"])
@pytest.mark.parametrize("seed", range(12))
def test_random_parts_are_replaced_by_equal_ones(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shorten_formula, "CANDIDATES", 3_000)
    rng = random.Random(seed)
    library = Library(Words(ABC))
    for _ in range(6):
        formula = FormulaSampler(rng, ABC.symbols, past_only=True).formula(4)
        try:
            found = library.shorter(formula)
        except shorten_formula.UnsupportedError:
            continue
        assert same(found, formula, ABC.symbols)
        for word in words_of_length(ABC, 6):
            assert truth(found, word) == truth(formula, word)


def test_what_is_right_on_short_words_only_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shorten_formula, "WORDS", 14)
    monkeypatch.setattr(split_formula, "MORE_WORDS", 14)
    three = parse("Y Y Y a")
    assert Library(Words(AB)).shorter(three) == three
    assert shortest(parse_regex(".*a...", AB)) is None
    assert says(parse("pos % 2 = 0 & H a"), parse_regex("(aa)*", AB))
    assert not says(parse("pos % 4 = 0 & H a"), parse_regex("(aa)*", AB))
    assert not says(parse("false"), parse_regex(".*a...", AB))
    assert says(three, parse_regex(".*a...", AB))


@pytest.mark.slow
def test_the_search_ends_where_there_are_no_more_sets() -> None:
    one = Alphabet(("a",))
    assert show(translate(parse_regex("aaa*", one)).formula) == "Y a"
    assert show(translate(parse_regex("(aa)*", one)).formula) == "pos % 2 = 0"


def test_what_remembers_too_much_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shorten_formula, "MEMORIES", 3)
    assert not same(parse("Y Y Y a"), parse("Y Y Y a"), AB.symbols)


@pytest.mark.parametrize("symbols", ["ab", "abc"])
def test_prefixes_and_words_of_a_length_are_as_they_are_defined(symbols: str) -> None:
    alphabet = Alphabet(tuple(symbols))
    words = Words(alphabet, 60)
    each = [word for n in range(1, len(words.widths) + 1) for word in words_of_length(alphabet, n)]

    def members(own: int) -> set[tuple[str, ...]]:
        return {word for word in each if own & words.accepted(parse_regex("".join(word), alphabet))}

    some = members(words.letter("b") & words.place(3, 0))
    assert some == {word for word in each if len(word) == 3 and word[-1] == "b"}
    own = words.letter("b") & words.place(3, 0)
    assert members(words.shorter(own)) == {word[:-1] for word in some}
    assert members(words.prefixes(own)) == {word[:n] for word in some for n in range(1, 4)}
