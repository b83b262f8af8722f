"""Words, and the labels that exported Hugging Face models give them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch

import attemper
from attemper import Model
from attemper.languages.words import Word, show_word

LABEL = {False: "rejected", True: "accepted", None: "undecided"}


BUILDS = {
    "lookup": lambda: attemper.compile("even(#<['a'])", "ab"),
    "often": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "push": lambda: attemper.compile("O push", "push pop"),
    "no heads": lambda: attemper.compile("'a' & even(pos)", "ab"),
}


def some_words(model: Model, longest: int = 4) -> list[Word]:
    symbols, draw = model.alphabet.symbols, random.Random(3)
    short = [word for n in range(longest + 1) for word in product(symbols, repeat=n)]
    return short + [tuple(draw.choices(symbols, k=n)) for n in (7, 30, 31, 120)]


def answers(
    auto: Any, task: str, folder: Path, words: Sequence[Word], side: str, dtype: torch.dtype
) -> list[Any]:
    """The labels of each word: one, or one for each position; words in one batch, padded on that side."""
    model = getattr(auto, f"AutoModelFor{task}").from_pretrained(folder, dtype=dtype)
    tokenizer = auto.AutoTokenizer.from_pretrained(folder, padding_side=side)
    given = tokenizer([show_word(word) if word else "" for word in words], padding=True, return_tensors="pt")
    labels = model(**given).logits.argmax(-1)
    names = model.config.id2label
    if labels.ndim == 1:
        return [names[number] for number in labels.tolist()]
    rows = zip(labels, given["attention_mask"].bool(), strict=True)
    return [[names[number] for number in row[mask].tolist()] for row, mask in rows]


def copied(folder: Path, place: Path) -> Path:
    """The place, with the files of an exported folder in it, which may then be changed."""
    for path in folder.iterdir():
        (place / path.name).write_bytes(path.read_bytes())
    return place
