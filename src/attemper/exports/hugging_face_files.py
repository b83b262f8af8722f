"""What the files of a Hugging Face folder hold: all of it follows from the network and a number format.

An export writes what stands here, and an import compares. No library is needed for that, nor torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import chain, count

from attemper.certificates.files import CERTIFIED
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet
from attemper.networks.files import contents_of

CONFIG, WEIGHTS, CARD = "config.json", "model.safetensors", "README.md"
TOKENIZER, TOKENIZER_SETTINGS = "tokenizer.json", "tokenizer_config.json"

PREFIX = "network."
"""How the names of weights begin in `model.safetensors`."""

MODEL_TYPE = "attemper"
VERSION = "transformers_version"
"""The entry of `config.json` that says which version wrote the file: the one that follows from nothing."""

BIT_ANSWERS = ("rejected", "accepted", "undecided")
"""The labels of a bit; `attemper.running.traceable.labels` has them, too, with what they mean."""

SEQUENCE, TOKEN = "AttemperForSequenceClassification", "AttemperForTokenClassification"

ENDLESS = int(float(10**30))
"""What `model_max_length` is where tokenizers cut nothing off: transformers has it as a float's integer."""


def config_of(subject: Exported, dtype: str) -> dict[str, object]:
    """What `config.json` holds of the network, but for the version of transformers."""
    layers = [list(layer.heads) for layer in subject.network.layers]
    answers = answers_of([name for name, _ in subject.network.symbols])
    return {
        "architectures": [TOKEN if subject.network.symbols else SEQUENCE],
        "dtype": dtype,
        "hidden_size": len(subject.network.coordinates),
        "id2label": {str(number): name for number, name in enumerate(answers)},
        "label2id": {name: number for number, name in enumerate(answers)},
        "model_type": MODEL_TYPE,
        "network": subject.data,
        "num_attention_heads": max(map(len, layers), default=0),
        "num_hidden_layers": len(layers),
        "pad_token_id": len(subject.network.alphabet.symbols),
        "vocab_size": len(subject.network.alphabet.symbols) + 1,
        "weights_sha256": hashlib.sha256(contents_of(subject.network, subject.source)[1]).hexdigest(),
        **({} if subject.certificate is None else {"certificate": CERTIFIED.encode(subject.certificate)}),
    }


def answers_of(names: Sequence[str]) -> list[str]:
    """The names of the labels: of a bit, or of the names that are put out and of no answer, which is last.

    >>> answers_of([]), answers_of(["a", "undecided"])
    (['rejected', 'accepted', 'undecided'], ['a', 'undecided', 'undecided_'])
    """
    return [*names, _unused(BIT_ANSWERS[-1], list(names))] if names else list(BIT_ANSWERS)


def _unused(name: str, taken: list[str]) -> str:
    """The name, with as many underscores behind as make it none of those that are taken."""
    return _unused(f"{name}_", taken) if name in taken else name


def tokenizer_of(alphabet: Alphabet) -> dict[str, object]:
    """What `tokenizer.json` holds: each symbol is a token by its number, and the next one is padding.

    Nothing is added, replaced or cut off. Blanks separate symbols, and each character is one where all
    symbols are characters. The name of the unknown token is that of padding, which is no token of the model:
    an unknown symbol has no token.
    """
    pad, blanks = padding_token(alphabet.symbols), {"type": "WhitespaceSplit"}
    characters = {"type": "Split", "pattern": {"Regex": "."}, "behavior": "Isolated", "invert": False}
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized"), False)
    one, other = ({"Sequence": {"id": name, "type_id": number}} for number, name in enumerate("AB"))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [{"id": len(alphabet.symbols), "content": pad, **flags, "special": True}],
        "normalizer": None,
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [blanks, characters] if alphabet.is_single_character else [blanks],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [one],
            "pair": [one, other],
            "special_tokens": {},
        },
        "decoder": None,
        "model": {
            "type": "WordLevel",
            "vocab": {symbol: number for number, symbol in enumerate(alphabet.symbols)},
            "unk_token": pad,
        },
    }


def tokenizer_settings(alphabet: Alphabet) -> dict[str, object]:
    """What `tokenizer_config.json` holds."""
    return {
        "backend": "tokenizers",
        "clean_up_tokenization_spaces": False,
        "model_max_length": ENDLESS,
        "pad_token": padding_token(alphabet.symbols),
        "tokenizer_class": "AttemperTokenizer",
    }


def padding_token(symbols: Sequence[str]) -> str:
    """A text with a character that no symbol has, so that it stands in no word: `<pad>` if that is one.

    >>> padding_token(["a", "b"]), padding_token(["<pad>"])
    ('<pad>', '<pad0>')
    """
    used = set("".join(symbols))
    more = (f"<pad{chr(code)}>" for code in count(ord("0")) if chr(code).isprintable())
    return next(text for text in chain(["<pad>"], more) if not set(text) <= used)


def as_text(data: Mapping[str, object]) -> bytes:
    """The JSON text of a file."""
    return (json.dumps(data, ensure_ascii=False, indent=2) + "\n").encode()
