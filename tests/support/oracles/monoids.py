"""What a language is, by brute force over its transition monoid: the definitions, and nothing faster."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol


class Dfa(Protocol):
    """What is read of an automaton: where each letter leads from each state."""

    moves: tuple[tuple[int, ...], ...]


Action = tuple[int, ...]
"""What a word does: the state after it, from each state."""

Semigroup = frozenset[Action]


def product(first: Action, second: Action) -> Action:
    return tuple(second[state] for state in first)


def letters(dfa: Dfa) -> Semigroup:
    return frozenset(zip(*dfa.moves, strict=True))


def generated(actions: Iterable[Action]) -> Semigroup:
    """All products of one action or more."""
    generators = set(actions)
    found, waiting = set(generators), list(generators)
    while waiting:
        action = waiting.pop()
        for generator in generators:
            longer = product(action, generator)
            if longer not in found:
                found.add(longer)
                waiting.append(longer)
    return frozenset(found)


def transition_semigroup(dfa: Dfa) -> Semigroup:
    """What the words of length at least 1 do."""
    return generated(letters(dfa))


def transition_monoid(dfa: Dfa) -> Semigroup:
    return transition_semigroup(dfa) | {tuple(range(len(dfa.moves)))}


def is_aperiodic(semigroup: Semigroup) -> bool:
    """Whether the powers of each element come to rest: x^n = x^(n+1) for some n."""
    for action in semigroup:
        seen, current = set(), action
        while current not in seen:
            seen.add(current)
            current = product(current, action)
        if product(current, action) != current:
            return False
    return True


def words_of_length(dfa: Dfa, length: int) -> Semigroup:
    """What the words of one length >= 1 do."""
    current = generators = letters(dfa)
    for _ in range(length - 1):
        current = frozenset(product(action, letter) for action in current for letter in generators)
    return current


def stable_semigroup(dfa: Dfa) -> Semigroup:
    """What the words of length s do, for the least s >= 1 such that those of length 2s do the same."""
    generators = letters(dfa)
    by_length = [generators]
    while True:
        by_length.append(
            frozenset(product(action, letter) for action in by_length[-1] for letter in generators)
        )
        if len(by_length) % 2 == 0:
            half = by_length[len(by_length) // 2 - 1]
            if half == by_length[-1]:
                return half


def is_quasi_aperiodic(dfa: Dfa) -> bool:
    """Whether what the words of any one length do includes no group of two elements or more."""
    return is_aperiodic(stable_semigroup(dfa))


def is_aperiodic_modulo(dfa: Dfa, modulus: int) -> bool:
    """Whether blocks of `modulus` letters act aperiodically: order and positions modulo it are enough."""
    return is_aperiodic(generated(words_of_length(dfa, modulus)))


def maximal_subgroups(semigroup: Semigroup) -> list[Semigroup]:
    """For each idempotent e, the elements x = exe that have an inverse with respect to e."""
    found = []
    for unit in semigroup:
        if product(unit, unit) == unit:
            local = {x for x in semigroup if product(unit, x) == x == product(x, unit)}
            image = set(unit)
            found.append(frozenset(x for x in local if {x[state] for state in image} == image))
    return found


def derived_orders(group: Semigroup) -> list[int]:
    """The orders of the derived series: every commutator of two elements, and what they generate."""
    orders = [len(group)]
    while True:
        undo = {x: y for x in group for y in group if product(product(x, y), x) == x}
        group = generated(product(product(undo[x], undo[y]), product(x, y)) for x in group for y in group)
        if len(group) == orders[-1]:
            return orders
        orders.append(len(group))


def is_solvable(semigroup: Semigroup) -> bool:
    return all(derived_orders(group)[-1] == 1 for group in maximal_subgroups(semigroup))


def greatest_derived_length(semigroup: Semigroup) -> int:
    return max(len(derived_orders(group)) - 1 for group in maximal_subgroups(semigroup))
