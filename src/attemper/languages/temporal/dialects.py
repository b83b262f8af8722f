"""How others write what `docs/formulas.md` spells: an error about such a sign has our spelling."""

from __future__ import annotations

import re

_ALWAYS = "G, or H of what came before"
_EVENTUALLY = "F, or O of what came before"
_NEXT = "X (WX where there may be no next position), or Y of the one before"

_WORDS = {"P": "O", "V": "R"}

_SIGNS = {
    "[]": _ALWAYS,
    "□": _ALWAYS,
    "◻": _ALWAYS,
    "■": "H, or G of what is to come",
    "<>": _EVENTUALLY,
    "◇": _EVENTUALLY,
    "◊": _EVENTUALLY,
    "♢": _EVENTUALLY,
    "◆": "O, or F of what is to come",
    "○": _NEXT,
    "◯": _NEXT,
    "●": "Y (WY where there may be none before)",
    "∀": f"{_ALWAYS}: there are no variables",
    "∃": f"{_EVENTUALLY}: there are no variables",
    "¬": "!",
    "∧": "&",
    "∨": "|",
    "⊕": "xor",
    "→": "->",
    "⇒": "->",
    "↔": "<->",
    "⇔": "<->",
    "⊤": "true",
    "⊥": "false",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
}


def written_here(rest: str) -> str | None:
    """How that is written with which the rest of a text begins, if others write it so.

    >>> written_here("<>b")
    "'<>' is written F, or O of what came before"
    """
    word = re.match(r"\w*", rest)
    if word is not None and word.group() in _WORDS:
        return f"'{word.group()}' is written {_WORDS[word.group()]}"
    sign = next((sign for sign in _SIGNS if rest.startswith(sign)), None)
    return None if sign is None else f"'{sign}' is written {_SIGNS[sign]}"
