"""The least automaton of a language, and a word that tells two automata apart."""

from __future__ import annotations

from collections import deque

from attemper.errors import AutomatonError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word


def minimal(dfa: Dfa) -> Dfa:
    """The least automaton of the same language; its states are numbered in the order of first visit.

    Two automata over one alphabet have the same language if and only if their minimal ones are equal.
    (Moore's partition refinement on the reachable states.)
    """
    reached = _reachable(dfa)
    block = {state: int(state in dfa.accepting) for state in reached}
    while True:
        signatures: dict[tuple[int, ...], int] = {}
        refined = {
            state: signatures.setdefault(
                (block[state], *(block[t] for t in dfa.moves[state])), len(signatures)
            )
            for state in reached
        }
        if len(signatures) == len(set(block.values())):
            break
        block = refined
    return _renumbered(dfa, block)


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
