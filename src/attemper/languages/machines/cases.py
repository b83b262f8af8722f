"""Expressions of attention programs that code writes: one of several symbols, and one case after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def one_of(symbols: Iterable[str]) -> str:
    """That one of the symbols stands here.

    >>> one_of("ab"), one_of("")
    ("in 'a' 'b'", 'false')
    """
    quoted = [f"'{symbol}'" for symbol in symbols]
    return f"in {' '.join(quoted)}" if quoted else "false"


def first_of(cases: Sequence[tuple[str, str]], other: str | None = None) -> str:
    """The name behind the first condition that holds, and else the other one, or none.

    >>> first_of([("p", "a"), ("q", "b")])
    "(p ? 'a' : (q ? 'b' : none))"
    """
    text = "none" if other is None else f"'{other}'"
    for condition, name in reversed(cases):
        text = f"({condition} ? '{name}' : {text})"
    return text
