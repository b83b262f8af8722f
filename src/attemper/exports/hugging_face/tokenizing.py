"""The tokenizer of an alphabet: each symbol is a token, and an unknown one is an error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

from torch import Tensor

from attemper.errors import UnsupportedError
from attemper.exports.extras import library
from attemper.languages.words import Alphabet, parse_word

transformers: Any = library("transformers", "hugging-face")
tokenizers: Any = library("tokenizers", "hugging-face")


class AttemperTokenizer(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
    """Texts to the numbers of their symbols: blanks separate symbols, and may be left out where all are of
    one character. Nothing is added at the ends.

    An unknown symbol is a `WordError` with the symbol and its position. Pairs of texts are an
    `UnsupportedError`.
    """

    model_input_names = ["input_ids", "attention_mask"]  # noqa: RUF012 - a list, as its base class has one

    @property
    def alphabet(self) -> Alphabet:
        """The symbols, in the order of their numbers."""
        numbers = self.backend_tokenizer.get_vocab(with_added_tokens=False)
        return Alphabet(tuple(sorted(numbers, key=numbers.__getitem__)))

    def _encode_plus(self, text: Any, text_pair: Any = None, **options: Any) -> Any:
        if text_pair is not None:
            raise UnsupportedError("a network reads one word: give each text by itself, not in pairs")
        alphabet = self.alphabet
        for word in _texts(text, split=bool(options.get("is_split_into_words"))):
            parse_word(word, alphabet)
        found = super()._encode_plus(text=_with_plain_blanks(text), **options)
        for name, value in found.items():
            if isinstance(value, Tensor) and not value.numel():
                found[name] = _without_symbols(name, value)
        return found


def _without_symbols(name: str, made: Tensor) -> Tensor:
    """The tensor of empty words as integers, or pairs of them: made of empty lists, it has neither."""
    return made.long().reshape(*made.shape[:2], *[2] * (name == "offset_mapping"))


def _texts(given: Any, *, split: bool) -> Iterable[str]:
    """The words in what a tokenizer is called with; `split`: a word is given as a list of texts."""
    if isinstance(given, str):
        return [given]
    if not split:
        return given  # type: ignore[no-any-return] # the base class says what is wrong with others
    return [" ".join(word) for word in ([given] if all(isinstance(one, str) for one in given) else given)]


def _with_plain_blanks(given: Any) -> Any:
    """The texts with spaces for all blanks: not all programs take the same characters for blanks."""
    if isinstance(given, str):
        return "".join(" " if character.isspace() else character for character in given)
    return [_with_plain_blanks(one) for one in given] if isinstance(given, list | tuple) else given


def tokenizer_of(alphabet: Alphabet) -> AttemperTokenizer:
    """The tokenizer whose tokens 0, 1, ... are the alphabet's symbols, and the next one is padding."""
    pad = padding_token(alphabet.symbols)
    numbers = {symbol: number for number, symbol in enumerate(alphabet.symbols)}
    # The name of the unknown token must not be a symbol: padding is none of the model's own tokens.
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=pad))
    parts = [tokenizers.pre_tokenizers.WhitespaceSplit()]
    if alphabet.is_single_character:
        parts.append(tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated"))
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Sequence(parts)
    return AttemperTokenizer(tokenizer_object=backend, pad_token=pad, clean_up_tokenization_spaces=False)


def padding_token(symbols: Sequence[str]) -> str:
    """A text with a character that no symbol has, so that it stands in no word: `<pad>` if that is one."""
    used = set("".join(symbols))
    more = (f"<pad{chr(code)}>" for code in count(ord("0")) if chr(code).isprintable())
    return next(text for text in chain(["<pad>"], more) if not set(text) <= used)
