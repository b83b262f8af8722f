"""Texts to tokens: the words that `parse_word` reads, the same symbols, and a WordError for all others."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.errors import UnsupportedError, WordError
from attemper.languages.words import Alphabet, parse_word

pytestmark = pytest.mark.exports

ALPHABETS = {
    "letters": ("a", "b"),
    "regex": tuple(".*+?[](){}|^$\\"),
    "quotes and markup": ("'", "<", ">", "&", "`", "/"),
    "not ASCII": ("é", "∀", "𝔸", "字", "ß"),
    "words": ("push", "pop", "p"),
    "special names": ("<pad>", "<unk>", "[UNK]", "<s>", "a<pad>b"),
    "letters of padding": tuple("<pad>0123"),
    "case": ("a", "A", "aA"),
    "marks": ("e\u0301", "e", "##e", "Ġe", "▁e"),
}
BLANKS = (" ", "  ", "\t", "\n", "\r\n", "\x1c", "\x85", "\xa0", "\u2003", "\u2028", "\u3000")


@pytest.fixture(params=ALPHABETS, scope="module")
def alphabet(request: pytest.FixtureRequest) -> Alphabet:
    return Alphabet(ALPHABETS[request.param])


@pytest.fixture
def tokenizer(alphabet: Alphabet, tmp_path: Path) -> Any:
    """The tokenizer, saved and loaded again by its Auto class."""
    from transformers import AutoTokenizer

    from attemper.exports.hugging_face import AttemperConfig, AttemperTokenizer
    from attemper.exports.hugging_face.tokenizing import tokenizer_of

    tokenizer_of(alphabet).save_pretrained(tmp_path)
    AttemperConfig().save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert type(loaded) is AttemperTokenizer
    return loaded


def texts(alphabet: Alphabet) -> list[str]:
    """Words with all kinds of blanks between their symbols, or none where none is needed."""
    draw = random.Random(5)
    found = ["", " ", *alphabet.symbols, *(f" {symbol}\n" for symbol in alphabet.symbols)]
    for blank in BLANKS:
        found.append(blank.join(draw.choices(alphabet.symbols, k=6)))
    if alphabet.is_single_character:
        found += ["".join(draw.choices(alphabet.symbols, k=n)) for n in (2, 5, 40)]
    return found


def test_tokens_are_the_numbers_of_the_symbols(alphabet: Alphabet, tokenizer: Any) -> None:
    assert tokenizer.alphabet == alphabet
    assert tokenizer.pad_token_id == len(alphabet.symbols)
    for text in texts(alphabet):
        word = parse_word(text, alphabet)
        expected = [alphabet.symbols.index(symbol) for symbol in word]
        assert tokenizer(text)["input_ids"] == expected
        assert tokenizer.tokenize(text) == list(word)
        assert parse_word(tokenizer.decode(expected), alphabet) == word


def test_batches_are_padded_and_masked(alphabet: Alphabet, tokenizer: Any) -> None:
    words = texts(alphabet)
    found = tokenizer(words, padding=True, return_tensors="pt")
    for text, row, mask in zip(words, found["input_ids"], found["attention_mask"].bool(), strict=True):
        assert row[mask].tolist() == tokenizer(text)["input_ids"]
        assert set(row[~mask].tolist()) <= {tokenizer.pad_token_id}


def test_everything_else_is_a_word_error(alphabet: Alphabet, tokenizer: Any) -> None:
    first = alphabet.symbols[0]
    for wrong in (
        tokenizer.pad_token,
        f"{first} {tokenizer.pad_token}",
        f"{first} é{first}!",
        "\u200b",
        "\x00",
    ):
        with pytest.raises(WordError) as expected:
            parse_word(wrong, alphabet)
        for given in (wrong, [first, wrong], (wrong,)):
            with pytest.raises(WordError) as error:
                tokenizer(given)
            assert str(error.value) == str(expected.value)
            assert error.value.details == expected.value.details
        with pytest.raises(WordError):
            tokenizer.encode(wrong)


def test_words_may_be_lists_of_texts(alphabet: Alphabet, tokenizer: Any) -> None:
    symbols = list(alphabet.symbols)
    assert tokenizer(symbols, is_split_into_words=True)["input_ids"] == list(range(len(symbols)))
    assert tokenizer([symbols, []], is_split_into_words=True)["input_ids"] == [list(range(len(symbols))), []]
    with pytest.raises(WordError):
        tokenizer([symbols, ["\u200b"]], is_split_into_words=True)


def test_empty_words_are_integers(tokenizer: Any) -> None:
    for given in ("", [""], ["", " "]):
        found = tokenizer(given, return_tensors="pt", return_offsets_mapping=True)
        batch = 1 if isinstance(given, str) else len(given)
        assert {name: tuple(value.shape) for name, value in found.items()} == {
            "input_ids": (batch, 0),
            "attention_mask": (batch, 0),
            "offset_mapping": (batch, 0, 2),
        }
        assert {value.dtype for value in found.values()} == {torch.int64}


def test_pairs_are_refused(tokenizer: Any) -> None:
    with pytest.raises(UnsupportedError, match="not in pairs"):
        tokenizer("", "")


@pytest.mark.parametrize(
    ("symbols", "pad"),
    [("ab", "<pad>"), ("<pad>", "<pad0>"), ("<pad>012", "<pad3>"), (("<pad>",), "<pad0>"), ("<pad", "<pad>")],
)
def test_padding_has_a_character_that_no_symbol_has(symbols: Any, pad: str) -> None:
    from attemper.exports.hugging_face.tokenizing import padding_token

    assert padding_token(tuple(symbols)) == pad


def test_padding_is_found_where_symbols_have_all_of_ascii() -> None:
    from attemper.exports.hugging_face.tokenizing import padding_token

    found = padding_token([chr(code) for code in range(33, 127)])
    assert found == "<pad\xa1>"
