"""A tokenizer of transformers for words over an alphabet: one token for each symbol, no unknown token."""

from __future__ import annotations

import json
from pathlib import Path

from attemper.exports.extras import library
from attemper.exports.gpt2.vocabulary import Vocabulary
from attemper.exports.hugging_face_files import tokenizer_of

NO_TOKEN = ""
"""What the unknown token is called where there is none: the name of no token, as symbols are not empty."""


def save_tokenizer(vocabulary: Vocabulary, positions: int, folder: Path) -> None:
    """Write `tokenizer.json` and `tokenizer_config.json`.

    Words are written as `attemper run` reads them: symbols of one character run together or with blanks,
    others separated by blanks. Padding is on the right. A symbol outside the alphabet is never another one:
    it is an error of tokenizers where there is no token for the unknown, and else the model's IndexError,
    since that token stands behind all embeddings. Raises `OptionError` for a missing extra.
    """
    tokenizers = library("tokenizers", "hugging-face")
    transformers = library("transformers", "hugging-face")
    unknown = {} if vocabulary.unknown is None else {"unk_token": vocabulary.unknown}
    numbers = {token: number for number, token in enumerate((*vocabulary.tokens, *unknown.values()))}
    model = {"type": "WordLevel", "vocab": numbers, "unk_token": vocabulary.unknown or NO_TOKEN}
    # Words are split as in the other export that has a tokenizer; its padding is not that of this one.
    text = tokenizer_of(vocabulary.alphabet) | {"model": model, "added_tokens": [], "post_processor": None}
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(text))
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=vocabulary.padding,
        padding_side="right",
        model_max_length=positions,
        clean_up_tokenization_spaces=False,
        **unknown,
    )
    fast.save_pretrained(folder)
