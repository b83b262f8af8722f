"""Texts to tokens: the words that `parse_word` reads, the same symbols, and a WordError for all others."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper.errors import MalformedFileError, UnsupportedError, WordError
from attemper.exports.hugging_face_files import (
    TOKENIZER,
    TOKENIZER_SETTINGS,
    as_text,
    padding_token,
    tokenizer_of,
    tokenizer_settings,
)
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


def write(alphabet: Alphabet, folder: Path) -> None:
    """The tokenizer's files, as an export writes them."""
    (folder / TOKENIZER).write_bytes(as_text(tokenizer_of(alphabet)))
    (folder / TOKENIZER_SETTINGS).write_bytes(as_text(tokenizer_settings(alphabet)))


@pytest.fixture
def tokenizer(alphabet: Alphabet, tmp_path: Path) -> Any:
    """The tokenizer, saved and loaded again by its Auto class."""
    from transformers import AutoTokenizer

    from attemper.exports.hugging_face import AttemperConfig, AttemperTokenizer

    write(alphabet, tmp_path)
    AttemperConfig().save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tmp_path).save_pretrained(tmp_path / "again")
    AttemperConfig().save_pretrained(tmp_path / "again")
    loaded = AutoTokenizer.from_pretrained(tmp_path / "again")
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


def test_the_file_is_what_the_library_makes_of_its_parts(alphabet: Alphabet) -> None:
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    pad = padding_token(alphabet.symbols)
    vocab = {symbol: number for number, symbol in enumerate(alphabet.symbols)}
    made = Tokenizer(models.WordLevel(vocab, unk_token=pad))
    made.add_special_tokens([pad])
    characters = [pre_tokenizers.Split(Regex("."), "isolated")] if alphabet.is_single_character else []
    made.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), *characters])
    own = tokenizer_of(alphabet)
    assert json.loads(made.to_str()) == {**own, "post_processor": None}
    assert json.loads(Tokenizer.from_str(json.dumps(own)).to_str()) == own


def test_a_tokenizer_that_was_changed_reads_nothing(tmp_path: Path) -> None:
    from tokenizers import normalizers, processors
    from transformers import AutoTokenizer

    from attemper.exports.hugging_face import AttemperConfig

    write(Alphabet(("a", "b")), tmp_path)
    AttemperConfig().save_pretrained(tmp_path)
    for part, value in (
        ("normalizer", normalizers.Replace("a", "b")),
        ("post_processor", processors.TemplateProcessing("a $A", "$A $B", [("a", 0)])),
        ("pre_tokenizer", None),
    ):
        loaded = AutoTokenizer.from_pretrained(tmp_path)
        assert loaded("ab", padding=True, truncation=True, max_length=1)["input_ids"] == [0]
        if value is None:
            loaded.add_tokens(["c"])
        else:
            setattr(loaded.backend_tokenizer, part, value)
        with pytest.raises(MalformedFileError, match="the tokenizer was changed"):
            loaded("ab")


@pytest.mark.parametrize(
    ("symbols", "pad"),
    [("ab", "<pad>"), ("<pad>", "<pad0>"), ("<pad>012", "<pad3>"), (("<pad>",), "<pad0>"), ("<pad", "<pad>")],
)
def test_padding_has_a_character_that_no_symbol_has(symbols: Any, pad: str) -> None:
    assert padding_token(tuple(symbols)) == pad


def test_padding_is_found_where_symbols_have_all_of_ascii() -> None:
    found = padding_token([chr(code) for code in range(33, 127)])
    assert found == "<pad\xa1>"
