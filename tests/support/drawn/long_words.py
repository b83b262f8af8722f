"""Long words, random and adversarial, as arrays of symbols' numbers, and what they mean at every position."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Alphabet, Word
from attemper.running.truth import truth_of_words

Tokens = NDArray[np.int64]
"""A word: the numbers of its symbols in the alphabet, from 0 on."""

Bits = NDArray[np.bool_]


def random_word(n: int, symbols: int, seed: int) -> Tokens:
    """Every symbol with the same probability."""
    return np.random.default_rng(seed).integers(0, symbols, n)


def all_equal(n: int, symbols: int) -> Tokens:
    """The last symbol throughout."""
    return np.full(n, symbols - 1)


def far_event(n: int, symbols: int) -> Tokens:
    """The last symbol once, at position 1: every later position depends on what is as far away as can be."""
    return np.where(np.arange(n) == 0, symbols - 1, 0)


def late_event(n: int, symbols: int) -> Tokens:
    """The last symbol once, at position n."""
    return np.where(np.arange(n) == n - 1, symbols - 1, 0)


def balance(n: int, symbols: int) -> Tokens:
    """All of the first symbol, then as many of the second: the counts meet at the last position of even n."""
    return np.where(np.arange(n) < n - n // 2, 0, min(1, symbols - 1))


def tie_at_the_end(n: int, symbols: int) -> Tokens:
    """As many of the symbols 0 and 1, in random order: the counts meet at the last position of even n."""
    found = balance(n, symbols)
    np.random.default_rng(n).shuffle(found)
    return found


def alternating(n: int, symbols: int) -> Tokens:
    """(ab)^k b a: as regular as can be, until the last two positions."""
    found = np.arange(n) % min(2, symbols)
    found[-2:] = [min(1, symbols - 1), 0][-min(n, 2) :]
    return found


def one_excess(n: int, symbols: int) -> Tokens:
    """a (ab)^k: counts that differ by one or two, at every position."""
    return np.concatenate([[0], np.arange(n - 1) % min(2, symbols)])


WORDS: Mapping[str, Callable[[int, int], Tokens]] = {
    "random": lambda n, symbols: random_word(n, symbols, n),
    "all equal": all_equal,
    "one far event": far_event,
    "one late event": late_event,
    "exact balance": balance,
    "tie at the end": tie_at_the_end,
    "(ab)^k b a": alternating,
    "a (ab)^k": one_excess,
}
"""Words of each length n >= 1 over so many symbols, by a name that a table can show."""


def as_word(alphabet: Alphabet, tokens: Tokens) -> Word:
    """The word's symbols."""
    return tuple(np.array(alphabet.symbols, dtype=object)[tokens])


def exact_bits(language: Definition, alphabet: Alphabet, tokens: Tokens) -> Bits:
    """The exact truth at every position, [output, position]: one output, but where symbols are put out."""
    match language:
        case TemporalLanguage(formula, _, _):
            return truth_of_words(formula, [as_word(alphabet, tokens)])
        case Dfa():
            return accepted_prefixes(language, tokens)[None]
        case _:
            return np.array(language.rows(as_word(alphabet, tokens)), dtype=bool)


def accepted_prefixes(dfa: Dfa, tokens: Tokens) -> Bits:
    """Whether each prefix is accepted: what blocks of sqrt(n) symbols do to all states, side by side."""
    n, moves = len(tokens), np.array(dfa.moves)
    size = max(1, int(np.sqrt(n)))
    count = -(-n // size)
    padded = np.concatenate([tokens, np.zeros(count * size - n, dtype=np.int64)]).reshape(count, size)
    state = np.broadcast_to(np.arange(len(moves)), (count, len(moves)))
    found = np.empty((size, count, len(moves)), dtype=np.int32)
    for step in range(size):
        state = moves[state, padded[:, step, None]]
        found[step] = state
    first = _firsts(dfa.start, found[-1])
    states = found[:, np.arange(count), first].T.reshape(-1)[:n]
    return np.isin(states, sorted(dfa.accepting))


def _firsts(start: int, ends: NDArray[np.int32]) -> NDArray[np.int64]:
    """The state in which each block begins, where `ends[block, state]` is the one in which it ends."""
    found = [start]
    for own in ends[:-1]:
        found.append(int(own[found[-1]]))
    return np.array(found)


def wrong_positions(shown: NDArray[np.float64], exact: Bits) -> int:
    """At how many positions what is put out, [output, position], is not clearly the bit that it should be."""
    right = np.where(exact, shown >= 0.75, shown <= 0.25)
    return int((~right).any(axis=0).sum())


def shown_rows(output: NDArray[np.float64]) -> NDArray[np.float64]:
    """What a module puts out for one word, [position] or [position, output], as [output, position]."""
    return output[None] if output.ndim == 1 else output.T
