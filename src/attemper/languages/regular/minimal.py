"""The least automaton of a language, and a word that tells two automata apart."""

from __future__ import annotations

from collections import deque

from attemper.errors import AutomatonError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word


def minimal(dfa: Dfa) -> Dfa:
    """The least automaton of the same language; its states are numbered in the order of first visit.

    Two automata over one alphabet have the same language if and only if their minimal ones are equal.
    (Hopcroft's partition refinement of the reachable states: m * log(m) steps for m states and each symbol.)
    """
    reached = _reachable(dfa)
    return _renumbered(dfa, _blocks(dfa, reached))


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


def _reachable(dfa: Dfa) -> list[int]:
    found, queue = {dfa.start: None}, deque([dfa.start])
    while queue:
        for target in dfa.moves[queue.popleft()]:
            if target not in found:
                found[target] = None
                queue.append(target)
    return list(found)


def _renumbered(dfa: Dfa, block: dict[int, int]) -> Dfa:
    """The automaton of the blocks, in the order of a breadth-first visit."""
    number = {block[dfa.start]: 0}
    member = [dfa.start]
    moves: list[tuple[int, ...]] = []
    while len(moves) < len(member):
        row = []
        for target in dfa.moves[member[len(moves)]]:
            if block[target] not in number:
                number[block[target]] = len(member)
                member.append(target)
            row.append(number[block[target]])
        moves.append(tuple(row))
    accepting = frozenset(k for k, state in enumerate(member) if state in dfa.accepting)
    return Dfa(dfa.alphabet, tuple(moves), 0, accepting)


def difference(left: Dfa, right: Dfa) -> Word | None:
    """A shortest word that exactly one of two automata over the same alphabet accepts; None if none does."""
    if left.alphabet != right.alphabet:
        raise AutomatonError("automata over different alphabets are not compared")
    begin = (left.start, right.start)
    words: dict[tuple[int, int], Word] = {begin: ()}
    queue = deque([begin])
    while queue:
        p, q = queue.popleft()
        if (p in left.accepting) != (q in right.accepting):
            return words[p, q]
        for number, symbol in enumerate(left.alphabet.symbols):
            pair = left.moves[p][number], right.moves[q][number]
            if pair not in words:
                words[pair] = (*words[p, q], symbol)
                queue.append(pair)
    return None
