"""When two formulas are the same, as coq/Cases.v decides it: hints are chosen so that it will agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from attemper.exports.coq.formulas import TRUE, Logical, disjunction

KnownTruths = dict[Logical, bool]
"""The truth of formulas at a position."""

LetterAndTruths = tuple[int, tuple[bool, ...]]
"""A letter, and the truth of the listed formulas."""

MOST_CASES = 3000
"""So many cases are looked at, in coq/Cases.v."""

MOST_FREE = 12
"""So many formulas are free: each doubles the cases."""


def decided(letter: int, facts: KnownTruths, formula: Logical) -> bool | None:
    """The truth of a formula, if it follows from the letter and the facts."""
    match formula.name:
        case "True_":
            return True
        case "Symbol":
            return letter == formula.letter
        case "Not":
            inner = decided(letter, facts, formula.parts[0])
            return None if inner is None else not inner
        case "And" | "Or":
            left, right = (decided(letter, facts, part) for part in formula.parts)
            ends = formula.name == "Or"
            if ends in (left, right):
                return ends
            return None if None in (left, right) else not ends
        case _:
            return facts.get(formula)


def atoms(formula: Logical) -> list[Logical]:
    """What the formula is made of, beside letters, by and, or and not."""
    match formula.name:
        case "True_" | "Symbol":
            return []
        case "Not" | "And" | "Or":
            return list(dict.fromkeys(own for part in formula.parts for own in atoms(part)))
        case _:
            return [formula]


def all_atoms(formula: Logical) -> list[Logical]:
    """The atoms, and those inside of them, the inner ones first."""
    found = [own for part in formula.parts for own in all_atoms(part)]
    if formula.name not in {"True_", "Symbol", "Not", "And", "Or"}:
        found.append(formula)
    return list(dict.fromkeys(found))


def cases(
    letters: int, free: Sequence[Logical], tracked: Sequence[Logical]
) -> list[tuple[int, KnownTruths]] | None:
    """The cases that can be reached; None where they are too many."""
    listed = [*free, *tracked]
    if len(free) > MOST_FREE:
        return None
    if not tracked:
        return [(a, facts) for a in range(letters) for facts in _extended(None, a, free, ())]
    done: dict[LetterAndTruths, KnownTruths] = {}
    waiting = [(a, facts) for a in range(letters) for facts in _extended(None, a, free, tracked)]
    while waiting:
        letter, facts = waiting.pop()
        own = letter, tuple(facts[formula] for formula in listed)
        if own in done:
            continue
        if len(done) > MOST_CASES:
            return None
        done[own] = facts
        waiting += [
            (a, more) for a in range(letters) for more in _extended((letter, facts), a, free, tracked)
        ]
    return [(letter, facts) for (letter, _), facts in done.items()]


def _extended(
    before: tuple[int, KnownTruths] | None, letter: int, free: Sequence[Logical], tracked: Sequence[Logical]
) -> list[KnownTruths]:
    found = [dict(zip(free, values, strict=True)) for values in product((True, False), repeat=len(free))]
    for formula in tracked:
        found = [
            {**facts, formula: value}
            for facts in found
            for value in _possible(before, letter, facts, formula)
        ]
    return found


def _possible(
    before: tuple[int, KnownTruths] | None, letter: int, facts: KnownTruths, formula: Logical
) -> tuple[bool, ...]:
    either = (True, False)
    match formula.name:
        case "First":
            return (before is None,)
        case "Yesterday":
            value = False if before is None else decided(*before, formula.parts[0])
            return either if value is None else (value,)
        case "Since":
            left, right = (decided(letter, facts, part) for part in formula.parts)
            old = False if before is None else before[1].get(formula)
            if right is None or right:
                return either if right is None else (True,)
            if False in (left, old):
                return (False,)
            return (True,) if left and old else either
        case "AtMost" if before is None:
            left, right = (decided(letter, facts, part) for part in formula.parts)
            return either if None in (left, right) else (not left or bool(right),)
        case _:
            return either


def same(letters: int, one: Logical, other: Logical) -> bool:
    """Whether two formulas are seen to hold at the same positions of all words.

    >>> from attemper.exports.coq.formulas import TRUE, disjunction, since, symbols, yesterday
    >>> once = since(TRUE, symbols([0]))
    >>> same(2, once, disjunction(symbols([0]), yesterday(once)))
    True
    """
    top = list(dict.fromkeys([*atoms(one), *atoms(other)]))
    every = list(dict.fromkeys([*all_atoms(one), *all_atoms(other)]))
    inner = dict.fromkeys(own for formula in top for part in formula.parts for own in atoms(part))
    outer = [own for own in inner if own not in top]
    for free, tracked in ((top, []), (outer, top), ([], every)):
        found = cases(letters, free, tracked)
        if found is None:
            continue
        values = [(decided(*own, one), decided(*own, other)) for own in found]
        if all(left is not None and left == right for left, right in values):
            return True
    return False


def tidy(letters: int, formula: Logical) -> Logical:
    """The formula with comparisons of counts that hold everywhere, by what one side implies, taken as true.

    >>> from attemper.exports.coq.formulas import TRUE, symbols
    >>> tidy(2, Logical("AtMost", (symbols([0]), TRUE))) == TRUE
    True
    """
    parts = tuple(tidy(letters, part) for part in formula.parts)
    if formula.name == "AtMost" and same(letters, disjunction(Logical("Not", parts[:1]), parts[1]), TRUE):
        return TRUE
    return Logical(formula.name, parts, formula.letter)
