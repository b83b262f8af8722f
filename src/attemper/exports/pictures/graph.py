"""What of an automaton is drawn: states, and arrows with their symbols joined; no places yet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from attemper.languages.regular.dfa import Dfa

MOST_SYMBOLS = 4
"""An arrow with more symbols is labelled by fewer words."""

LONGEST_LABEL = 18
"""A longer label is cut; the arrow's title has all symbols."""

EVERY, OTHERS = "any symbol", "all others"


@final
@dataclass(frozen=True)
class Arrow:
    """All moves from one state to another: their symbols, and the text that is drawn beside the arrow."""

    source: int
    target: int
    symbols: tuple[str, ...]
    label: str


@final
@dataclass(frozen=True)
class Graph:
    """The states that are drawn, in the order of their numbers, and the arrows between them.

    `trap` is the state that is left out, because no word is accepted from there; None if there is no such
    state, or if all states are of that kind.
    """

    states: tuple[int, ...]
    start: int
    accepting: frozenset[int]
    arrows: tuple[Arrow, ...]
    trap: int | None

    @property
    def loops(self) -> tuple[Arrow, ...]:
        """The arrows from a state to itself."""
        return tuple(arrow for arrow in self.arrows if arrow.source == arrow.target)

    @property
    def links(self) -> tuple[Arrow, ...]:
        """The arrows between two states."""
        return tuple(arrow for arrow in self.arrows if arrow.source != arrow.target)


def graph_of(dfa: Dfa) -> Graph:
    """The graph of an automaton: one arrow for each pair of states that a symbol joins.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> graph = graph_of(parse_regex("(ab)*", "ab"))
    >>> [(arrow.source, arrow.target, arrow.label) for arrow in graph.arrows], graph.trap
    ([(0, 1, 'a'), (1, 0, 'b')], 2)
    """
    trap = _trap(dfa)
    states = tuple(state for state in range(len(dfa.moves)) if state != trap)
    arrows = tuple(arrow for state in states for arrow in _arrows(dfa, state, trap))
    return Graph(states, dfa.start, dfa.accepting, arrows, trap)


def _trap(dfa: Dfa) -> int | None:
    """The only state that nothing leaves and that does not accept; the start is drawn in any case."""
    traps = [
        state
        for state, row in enumerate(dfa.moves)
        if set(row) == {state} and state not in dfa.accepting and state != dfa.start
    ]
    return traps[0] if len(traps) == 1 else None


def _arrows(dfa: Dfa, state: int, trap: int | None) -> list[Arrow]:
    """The arrows of a state, in the order of their first symbols."""
    by_target: dict[int, list[str]] = {}
    for symbol, target in zip(dfa.alphabet.symbols, dfa.moves[state], strict=True):
        by_target.setdefault(target, []).append(symbol)
    most = max(by_target, key=lambda target: len(by_target[target]))
    # The others are those of no other arrow: all of these must be drawn, with all their symbols.
    others_are_said = all(
        _is_short(symbols) and target != trap for target, symbols in by_target.items() if target != most
    )
    return [
        Arrow(state, target, tuple(symbols), _label(symbols, dfa, others_are_said and target == most))
        for target, symbols in by_target.items()
        if target != trap
    ]


def _is_short(symbols: Sequence[str]) -> bool:
    return len(symbols) <= MOST_SYMBOLS and len(", ".join(symbols)) <= LONGEST_LABEL


def _label(symbols: Sequence[str], dfa: Dfa, is_the_rest: bool) -> str:
    """All symbols where they are few; else in words; else the first and the last, or the first ones."""
    known = dfa.alphabet.symbols
    if len(symbols) == len(known) > 1:
        return EVERY
    if _is_short(symbols):
        return ", ".join(symbols)
    if is_the_rest:
        return OTHERS
    first = known.index(symbols[0])
    ends = f"{symbols[0]} ... {symbols[-1]}"
    if known[first : first + len(symbols)] == tuple(symbols) and len(ends) <= LONGEST_LABEL:
        return ends
    return f"{', '.join(symbols)[: LONGEST_LABEL - 4]}... ({len(symbols)})"
