"""Alphabets and words: reading and showing them, and every error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.errors import AlphabetError, ExitCode, WordError
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show_symbol
from attemper.languages.temporal.syntax import Symbol
from attemper.languages.words import (
    Alphabet,
    check_word,
    parse_alphabet,
    parse_word,
    show_alphabet,
    show_word,
    words_of_length,
)

AB = Alphabet(("a", "b"))
STACK = Alphabet(("push", "pop"))


def is_symbol(text: str) -> bool:
    printable = all(c.isprintable() and not c.isspace() for c in text)
    return printable and not {"'", '"'} <= set(text)


def symbol_texts(longest: int) -> st.SearchStrategy[str]:
    return st.text(min_size=1, max_size=longest).filter(is_symbol)


def alphabets(longest_symbol: int = 5) -> st.SearchStrategy[Alphabet]:
    symbols = st.lists(symbol_texts(longest_symbol), min_size=1, max_size=6, unique=True)
    return symbols.map(lambda names: Alphabet(tuple(names)))


# Alphabets


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("01", ("0", "1")),
        ("ba", ("b", "a")),
        ("a", ("a",)),
        ("0 1", ("0", "1")),
        ("push pop", ("push", "pop")),
        ("push ", ("push",)),
        ("  push\n\tpop  ", ("push", "pop")),
        ("S'", ("S", "'")),
        ("(){}", ("(", ")", "{", "}")),
        ("éß", ("é", "ß")),
    ],
)
def test_reading_an_alphabet(text: str, symbols: tuple[str, ...]) -> None:
    assert parse_alphabet(text).symbols == symbols


@given(alphabets())
def test_an_alphabet_shown_reads_back(alphabet: Alphabet) -> None:
    assert parse_alphabet(show_alphabet(alphabet)) == alphabet


@pytest.mark.parametrize(("text", "shown"), [("01", "0 1"), ("push pop", "push pop"), ("push ", "push ")])
def test_showing_an_alphabet(text: str, shown: str) -> None:
    assert show_alphabet(parse_alphabet(text)) == shown


@pytest.mark.parametrize(
    ("text", "single"), [("01", True), ("push pop", False), ("a bc", False), ("a b", True)]
)
def test_whether_words_need_no_blanks(text: str, single: bool) -> None:
    assert parse_alphabet(text).is_single_character is single


@given(alphabets())
def test_every_symbol_of_an_alphabet_can_be_written_in_a_formula(alphabet: Alphabet) -> None:
    for symbol in alphabet.symbols:
        assert parse(show_symbol(symbol), alphabet) == Symbol(symbol)


@pytest.mark.parametrize("text", ["", " ", "\n\t "])
def test_no_symbols(text: str) -> None:
    with pytest.raises(AlphabetError, match=r"^an alphabet needs at least one symbol, for example 01$"):
        parse_alphabet(text)


@pytest.mark.parametrize(
    ("text", "twice"), [("aba", "a"), ("push pop pop", "pop"), ("0 0", "0"), ("''", "'")]
)
def test_a_symbol_twice(text: str, twice: str) -> None:
    with pytest.raises(AlphabetError, match=f"^symbol '{twice}' occurs twice in the alphabet"):
        parse_alphabet(text)


@pytest.mark.parametrize(
    ("symbol", "message"),
    [
        ("", "the empty text is not a symbol"),
        ("a b", "symbol 'a b' has a blank or unprintable character: rename it"),
        ("a\n", r"symbol 'a\n' has a blank or unprintable character: rename it"),
        ("\x07", r"symbol '\x07' has a blank or unprintable character: rename it"),
        ("a\u200b", r"symbol 'a\u200b' has a blank or unprintable character: rename it"),
        ("\u00a0", r"symbol '\xa0' has a blank or unprintable character: rename it"),
        ("'\"", "symbol '\" has both kinds of quotation mark: rename it"),
    ],
)
def test_a_symbol_that_cannot_be_written(symbol: str, message: str) -> None:
    with pytest.raises(AlphabetError) as caught:
        Alphabet(("a", symbol))
    assert str(caught.value) == message
    assert caught.value.exit_code is ExitCode.WORD


@given(st.text(max_size=8))
def test_any_text_is_an_alphabet_or_an_alphabet_error(text: str) -> None:
    try:
        alphabet = parse_alphabet(text)
    except AlphabetError:
        pieces = text.split() if any(c.isspace() for c in text) else list(text)
        assert not pieces or len(set(pieces)) < len(pieces) or not all(map(is_symbol, pieces))
    else:
        assert "".join(alphabet.symbols) == "".join(text.split())


# Words


@pytest.mark.parametrize(
    ("text", "alphabet", "word"),
    [
        ("", AB, ()),
        ("", STACK, ()),
        (" \n", AB, ()),
        (" \n", STACK, ()),
        ("abba", AB, ("a", "b", "b", "a")),
        ("a b b a", AB, ("a", "b", "b", "a")),
        (" ab\tba\n", AB, ("a", "b", "b", "a")),
        ("push pop", STACK, ("push", "pop")),
        ("push\npop\n", STACK, ("push", "pop")),
        ("push", STACK, ("push",)),
        ("ab a b", Alphabet(("a", "b", "ab")), ("ab", "a", "b")),
    ],
)
def test_reading_a_word(text: str, alphabet: Alphabet, word: tuple[str, ...]) -> None:
    assert parse_word(text, alphabet) == word


@given(st.data())
def test_a_word_reads_back_from_both_of_its_spellings(data: st.DataObject) -> None:
    alphabet = data.draw(alphabets())
    word = tuple(data.draw(st.lists(st.sampled_from(alphabet.symbols), max_size=12)))
    assert parse_word(" ".join(word), alphabet) == word
    assert check_word(word, alphabet) is word
    if alphabet.is_single_character:
        assert parse_word("".join(word), alphabet) == word
    if word and all(len(symbol) == 1 for symbol in alphabet.symbols):
        assert parse_word(show_word(word), alphabet) == word


@pytest.mark.parametrize(
    ("word", "shown"),
    [
        ((), "(empty)"),
        (("a", "b"), "ab"),
        (("push", "pop"), "push pop"),
        (("a", "bc", "a"), "a bc a"),
    ],
)
def test_showing_a_word(word: tuple[str, ...], shown: str) -> None:
    assert show_word(word) == shown


@pytest.mark.parametrize(
    ("text", "alphabet", "message"),
    [
        ("abca", AB, "symbol 'c' at position 3 is not in the alphabet {a b}"),
        ("a b A", AB, "symbol 'A' at position 3 is not in the alphabet {a b}"),
        ("push pup pip", STACK, "symbol 'pup' at position 2 is not in the alphabet {push pop}"),
        ("pushpop", STACK, "symbol 'pushpop' at position 1 is not in the alphabet {push pop}"),
    ],
)
def test_a_word_with_an_unknown_symbol(text: str, alphabet: Alphabet, message: str) -> None:
    with pytest.raises(WordError) as caught:
        parse_word(text, alphabet)
    hint = "" if alphabet.is_single_character else "; separate symbols by blanks"
    assert str(caught.value) == message + hint
    assert caught.value.exit_code is ExitCode.WORD


def test_errors_about_words_stay_short() -> None:
    many = Alphabet(tuple(f"symbol{number}" for number in range(1000)))
    with pytest.raises(WordError) as caught:
        parse_word("x" * 10_000, many)
    assert len(str(caught.value)) < 600
    assert f"'{'x' * 40}'" in str(caught.value)


def test_a_given_word_is_checked_symbol_by_symbol() -> None:
    with pytest.raises(WordError, match="symbol 'ab' at position 2 is not in the alphabet"):
        check_word(("a", "ab"), AB)


@pytest.mark.parametrize("length", [0, 1, 4])
def test_all_words_of_a_length_in_the_order_of_the_alphabet(length: int) -> None:
    words = list(words_of_length(Alphabet(("b", "a", "c")), length))
    assert len(words) == len(set(words)) == 3**length
    assert all(len(word) == length for word in words)
    assert words == sorted(words, key=lambda word: ["bac".index(symbol) for symbol in word])
