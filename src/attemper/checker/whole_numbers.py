"""Whole numbers as names say them: clamped counts, and the keys and values of nearest positions.

Loaded where a network or a program has integers that grow with the word.
"""

from __future__ import annotations

from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.names import Affine, Clamped, Names, NearestAt, NearestBeyond, NearestKey, UnprovenError
from attemper.networks.layers import Masking


def clamped(
    names: Names, masking: Masking, summand: Diagram, power: int, among: Masking = Masking.NONE
) -> Affine:
    """clamp(c, 1, V)^power, c the sum of an integer over the visible positions; the power is 1 or 2."""
    summand = names.canonical(summand)
    if any(value.denominator != 1 for value in names.constants(summand, "a count")):
        raise UnprovenError("a counted value is not an integer")
    return names.numbered(Clamped(masking, summand, power, among))


def nearest(
    names: Names, masking: Masking, leftmost: bool, where: Diagram, query: int, key: int, diagram: Diagram
) -> Diagram:
    """The value where (query - key)^2 + [not where] is least, read there at its rightmost (leftmost).

    The mask shows i itself, so there is always such a position; query and key are numbers of whole numbers,
    the one at i, the other at the position.
    """
    where = _favoured(names, where)

    def moved(variable: Variable) -> Diagram:
        family, threshold = variable
        return names.bit(NearestAt(masking, leftmost, where, query, key, family), threshold)

    return names.elsewhere(names.canonical(diagram), moved)


def nearest_key(
    names: Names, masking: Masking, leftmost: bool, where: Diagram, query: int, key: int
) -> tuple[int, Affine]:
    """The key at that position: the number of the whole number, and what it is."""
    found = names.numbered(NearestKey(masking, leftmost, _favoured(names, where), query, key))
    ((number, _),) = found.parts
    return number, found


def beyond(names: Names, found: int, threshold: int) -> Diagram:
    """[a nearest key - its query >= threshold]; where n = 1 both are 1."""
    return names.choose(names.only, names.number(threshold <= 0), names.bit(NearestBeyond(found), threshold))


def _favoured(names: Names, where: Diagram) -> Diagram:
    """The positions that are as near as their keys; all of them if there are none, which is the same."""
    canonical = names.canonical(where)
    return names.true if canonical == names.false else canonical
