"""Brackets of k kinds to depth m, Dyck-(k, m): how much hierarchy a transformer holds."""

from __future__ import annotations

import re
from dataclasses import replace

from tests.support.literature.entry import Entry, Family, by, explored

OPENING, CLOSING = "abcdefgh", "ABCDEFGH"


def brackets(kinds: int, depth: int, before: int | None, symbols: int | None = None) -> Entry:
    """Small letters open, capitals close. The automaton's states are what is open.

    The oracle removes the innermost pairs, and what is innermost then, as often as the depth allows.
    """
    opening, closing = OPENING[:kinds], CLOSING[:kinds]
    innermost = re.compile("|".join(map("".join, zip(opening, closing, strict=True))))

    def step(is_open: str | None, symbol: str) -> str | None:
        if is_open is None:
            return None
        if symbol in opening:
            return is_open + symbol if len(is_open) < depth else None
        return is_open[:-1] if is_open.endswith(symbol.lower()) else None

    def is_balanced(word: str) -> bool:
        for _ in range(depth):
            word = innermost.sub("", word)
        return word == ""

    automaton = explored(opening + closing, "", step, lambda is_open: is_open == "")
    automaton = replace(automaton, symbols=symbols)
    return Entry(f"Dyck-({kinds}, {depth})", opening + closing, automaton, by(is_balanced), before=before)


FAMILY = Family(
    "Dyck languages of bounded depth",
    "J. Hewitt et al., *RNNs can generate bounded hierarchical languages with optimal memory*, 2020; "
    "S. Yao et al., *Self-Attention Networks Can Process Bounded Hierarchical Languages*, 2021.",
    (
        brackets(2, 2, 3),
        brackets(2, 3, 4),
        brackets(2, 4, 5),
        brackets(2, 5, 6),
        brackets(3, 3, 4),
        brackets(8, 2, 3),
        brackets(8, 3, None, symbols=32_000),
    ),
)
