"""From an expression of a definite language to a past formula of one layer, without its automaton.

A language is definite if all words that agree in their last k symbols are judged alike. Read from their
ends, words then meet a state without a way out after k symbols at most, so the automaton of the words read
backwards is small where the language's own may have a state for each of the words of k symbols:

    (a|b)* a (a|b){2}    read backwards: any, any, then a is "yes" and b is "no"    Y Y a
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import Nfa, deterministic, members, read_regex
from attemper.languages.temporal.connectives import FALSE, TRUE, all_of, any_of, negation
from attemper.languages.temporal.show import show_within
from attemper.languages.temporal.syntax import Formula, Symbol, Unary, UnaryOperator
from attemper.languages.words import Alphabet

SMALL = 200
"""An automaton of so many states is made, and taken apart."""

MOST_BACKWARDS = 1_000
"""Of the words read backwards, an automaton with more states is not looked at."""

MOST_SYMBOLS = 200
"""A verdict that needs more of the last symbols is not written as a formula."""

MOST_WRITTEN = 4_000
"""Nor is a formula whose text has more characters."""


@final
@dataclass(frozen=True)
class Definite:
    """A language in which all words are judged alike that agree in so many of their last symbols."""

    symbols: int
    formula: Formula
    """Holds at i exactly where the prefix of length i is in the language."""
    accepts_empty: bool


def definite_to_formula(text: str, alphabet: Alphabet) -> Definite | None:
    """The definite language of an expression; None if it is not definite, or its automaton is small.

    Raises what `parse_regex` raises of the text.

    >>> from attemper.languages.temporal.show import show
    >>> ab = Alphabet(("a", "b"))
    >>> show(definite_to_formula("(a|b)* a (a|b){9}", ab).formula)
    'Y Y Y Y Y Y Y Y Y a'
    >>> definite_to_formula("(a|b){9} a (a|b)*", ab)
    """
    nfa = read_regex(text, alphabet)
    return None if _deterministic(nfa, alphabet, SMALL) is not None else _definite(nfa, alphabet)


def definite_automaton(dfa: Dfa) -> Definite | None:
    """The definite language of an automaton; None if it is not definite, or its formula too long."""
    rows = tuple({symbol: 1 << target for symbol, target in enumerate(row)} for row in dfa.moves)
    accepting = sum(1 << state for state in dfa.accepting)
    return _definite(Nfa(rows, 1 << dfa.start, accepting), dfa.alphabet)


def _definite(nfa: Nfa, alphabet: Alphabet) -> Definite | None:
    backwards = _deterministic(_mirrored(nfa), alphabet, MOST_BACKWARDS)
    symbols = None if backwards is None else _longest_way(backwards)
    if backwards is None or not symbols:  # after no symbol at all: every word is judged alike
        return None
    formula = _written(backwards, symbols)
    is_short = show_within(formula, MOST_WRITTEN) is not None
    return Definite(symbols, formula, nfa.accepts_empty) if is_short else None


def _mirrored(nfa: Nfa) -> Nfa:
    """The automaton of the words read backwards."""
    rows: list[dict[int, int]] = [{} for _ in nfa.rows]
    for state, row in enumerate(nfa.rows):
        for symbol, targets in row.items():
            for target in members(targets):
                rows[target][symbol] = rows[target].get(symbol, 0) | 1 << state
    return Nfa(tuple(rows), nfa.accepting, nfa.start)


def _deterministic(nfa: Nfa, alphabet: Alphabet, most: int) -> Dfa | None:
    """The minimal automaton; None if there are more than `most` sets of states."""
    try:
        return minimal(deterministic(nfa, alphabet, most))
    except UnsupportedError:
        return None


def _longest_way(dfa: Dfa) -> int | None:
    """After how many symbols every word is in a state that none leaves; None if that may take too many."""
    reached = {dfa.start}
    for length in range(MOST_SYMBOLS + 1):
        reached -= {state for state in reached if set(dfa.moves[state]) == {state}}
        if not reached:
            return length
        reached = {target for state in reached for target in dfa.moves[state]}
    return None


def _written(backwards: Dfa, symbols: int) -> Formula:
    """The formula of a word's last symbols: the state after d of them asks for the one at i - d."""
    levels = [{backwards.start}]
    for _ in range(symbols):
        levels.append({target for state in levels[-1] for target in backwards.moves[state]})
    below: Mapping[int, Formula] = {q: TRUE if q in backwards.accepting else FALSE for q in levels.pop()}
    for distance in reversed(range(symbols)):
        below = {state: _asked(backwards, state, distance, below) for state in levels[distance]}
    return below[backwards.start]


def _asked(backwards: Dfa, state: int, distance: int, below: Mapping[int, Formula]) -> Formula:
    """Go on by the symbol at i - distance; where there is none, the word ends here.

    What goes on to a state with the same verdict on a word that ends is "else": there nothing is asked. At
    distance 0 there always is a symbol.
    """
    is_end_accepted = state in backwards.accepting
    symbols: dict[int, list[str]] = {}
    for symbol, target in zip(backwards.alphabet.symbols, backwards.moves[state], strict=True):
        symbols.setdefault(target, []).append(symbol)
    alike = [to for to in symbols if distance == 0 or (to in backwards.accepting) == is_end_accepted]
    other = max(alike, key=lambda to: len(symbols[to]), default=None)
    asked = {
        to: _seen([] if len(symbols) == 1 else own, distance) for to, own in symbols.items() if to != other
    }
    if other is not None:
        otherwise = all_of([negation(any_of(asked.values())), below[other]])
        return any_of([*(all_of([seen, below[to]]) for to, seen in asked.items()), otherwise])
    if is_end_accepted:
        return negation(any_of(all_of([seen, negation(below[to])]) for to, seen in asked.items()))
    return any_of(all_of([seen, below[to]]) for to, seen in asked.items())


def _seen(symbols: list[str], distance: int) -> Formula:
    """That one of the symbols, or any if none is named, is so many positions before."""
    parts: list[Formula] = [Symbol(symbol) for symbol in symbols]
    return any_of(_shifted(part, distance) for part in parts or [TRUE])


def _shifted(formula: Formula, distance: int) -> Formula:
    for _ in range(distance):
        formula = Unary(UnaryOperator.YESTERDAY, formula)
    return formula
