"""The least automaton of a language, and a word that tells two automata apart."""

from __future__ import annotations

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.visits import first_told_apart, numbered
from attemper.languages.words import Word


def minimal(dfa: Dfa) -> Dfa:
    """The least automaton of the same language; its states are numbered in the order of first visit.

    Two automata over one alphabet have the same language if and only if their minimal ones are equal.
    (Hopcroft's partition refinement of the reachable states: m * log(m) steps for m states and each symbol.)
    """
    reached, _ = numbered(dfa.start, dfa.moves.__getitem__)
    return _renumbered(dfa, _blocks(dfa, list(reached)))


def _blocks(dfa: Dfa, reached: list[int]) -> dict[int, int]:
    """The number of each state's block: two states are in one if no word tells them apart.

    A block that is waiting still splits others, with one symbol: the states from where the symbol leads into
    it are parted from the others. Of two new blocks the smaller one waits.
    """
    symbols = range(len(dfa.alphabet.symbols))
    before: list[dict[int, list[int]]] = [{} for _ in symbols]
    for state in reached:
        for symbol, target in enumerate(dfa.moves[state]):
            before[symbol].setdefault(target, []).append(state)
    blocks = [set(reached) & dfa.accepting, set(reached) - dfa.accepting]
    number = {state: own for own, block in enumerate(blocks) for state in block}
    waiting = [(own, symbol) for own in range(len(blocks)) for symbol in symbols]
    while waiting:
        splitter, symbol = waiting.pop()
        parts: dict[int, set[int]] = {}
        for target in blocks[splitter]:
            for state in before[symbol].get(target, ()):
                parts.setdefault(number[state], set()).add(state)
        for own, part in parts.items():
            if len(part) == len(blocks[own]):
                continue
            blocks[own] -= part
            small, blocks[own] = sorted((part, blocks[own]), key=len)
            number.update(dict.fromkeys(small, len(blocks)))
            waiting += [(len(blocks), each) for each in symbols]
            blocks.append(small)
    return number


def _renumbered(dfa: Dfa, block: dict[int, int]) -> Dfa:
    """The automaton of the blocks, in the order of a breadth-first visit."""
    member = {own: state for state, own in block.items()}
    number, moves = numbered(
        block[dfa.start], lambda own: (block[target] for target in dfa.moves[member[own]])
    )
    accepting = frozenset(k for own, k in number.items() if member[own] in dfa.accepting)
    return Dfa(dfa.alphabet, moves, 0, accepting)


def difference(left: Dfa, right: Dfa) -> Word | None:
    """A shortest word that exactly one of two automata over the same alphabet accepts; None if none does."""
    return first_told_apart(left, right, lambda one, other: one != other)
