"""Forcing numbers of dyck1, dyck2 and a^n b^n, against all restrictions and words of small length."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import cache
from itertools import product

import pytest
from attemper.languages.named.forcing import (
    FIRST,
    after_base,
    base_restriction,
    bracket_forcing_number,
    forcing_number_of,
)

from attemper.errors import OptionError
from attemper.languages.regular.forcing import ForcingNumber, forcing_number
from attemper.languages.words import Word
from tests.support.drawn import automata

Restriction = tuple[str | None, ...]


def well_nested(word: Word) -> bool:
    """By a stack, for both kinds of brackets."""
    stack: list[str] = []
    for symbol in word:
        if symbol in "([":
            stack.append(symbol)
        elif not stack or stack.pop() + symbol not in ("()", "[]"):
            return False
    return not stack


def powers(word: Word) -> bool:
    half = len(word) // 2
    return word == ("a",) * half + ("b",) * half


LANGUAGES: dict[str, tuple[str, Callable[[Word], bool], int]] = {
    "dyck1": ("()", well_nested, 8),
    "dyck2": ("()[]", well_nested, 5),
    "a^n b^n": ("ab", powers, 8),
}
"""Each with its symbols, its meaning, and up to which length everything is tried."""


def least_of_all(symbols: str, contains: Callable[[Word], bool], base: Restriction) -> int:
    """How many further symbols decide, from all restrictions that extend the base and all their words."""

    @cache
    def seen(restriction: Restriction) -> frozenset[bool]:
        if None not in restriction:
            return frozenset({contains(tuple(s for s in restriction if s is not None))})
        place = restriction.index(None)
        before, after = restriction[:place], restriction[place + 1 :]
        return frozenset().union(*(seen((*before, symbol, *after)) for symbol in symbols))

    free = base.count(None)
    extensions: list[Restriction] = list(product(*((*symbols, None) if s is None else (s,) for s in base)))
    return min(free - r.count(None) for r in extensions if len(seen(r)) == 1)


def outcomes(symbols: str, contains: Callable[[Word], bool], restriction: Restriction) -> set[bool]:
    return {contains(word) for word in product(*((symbols if s is None else s) for s in restriction))}


def assert_attained(
    found: ForcingNumber, base: Restriction, symbols: str, contains: Callable[[Word], bool]
) -> None:
    """The restriction extends the base by so many symbols, and decides as it says."""
    assert len(found.restriction) == len(base)
    assert all(given in (None, s) for given, s in zip(base, found.restriction, strict=True))
    assert found.fixed == base.count(None) - found.restriction.count(None)
    assert outcomes(symbols, contains, found.restriction) == {found.member}


@pytest.mark.parametrize("name", LANGUAGES)
def test_against_all_restrictions_of_all_words(name: str) -> None:
    symbols, contains, longest = LANGUAGES[name]
    for length in range(longest + 1):
        found = forcing_number_of(name, length)
        free = (None,) * length
        assert found.fixed == least_of_all(symbols, contains, free)
        assert_attained(found, free, symbols, contains)


def test_refused() -> None:
    assert set(LANGUAGES) == set(FIRST)
    with pytest.raises(OptionError, match="'dyck3' is none of the languages dyck1, dyck2"):
        forcing_number_of("dyck3", 4)
    with pytest.raises(ValueError, match="length -2"):
        forcing_number_of("dyck1", -2)
    with pytest.raises(OptionError, match="one or two kinds"):
        after_base(10, kinds=3)


@pytest.mark.parametrize("depth", [4, 5])
def test_brackets_as_deep_as_the_words_are_long(depth: int) -> None:
    """An automaton for that depth agrees on words of up to twice as many symbols."""
    dfa = automata.dyck(depth)
    for length in range(2 * depth + 1):
        assert forcing_number(dfa, length).fixed == forcing_number_of("dyck1", length).fixed


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_random_bases(seed: int) -> None:
    draw = random.Random(seed)
    base = tuple(draw.choice(("(", ")", None, None)) for _ in range(draw.randint(0, 9)))
    found = bracket_forcing_number(base)
    assert found.fixed == least_of_all("()", well_nested, base)
    assert_attained(found, base, "()", well_nested)


def test_some_bases_decide_by_themselves_and_some_force_words_inside() -> None:
    assert bracket_forcing_number(("(", ")")) == ForcingNumber(0, ("(", ")"), True)
    assert bracket_forcing_number((")", None)) == ForcingNumber(0, (")", None), False)
    assert bracket_forcing_number(("(", None, None)).fixed == 0
    assert bracket_forcing_number(("(", None)).fixed == 1
    assert bracket_forcing_number(("(", None, None, ")")).fixed == 2
    assert bracket_forcing_number(()) == ForcingNumber(0, (), True)


def test_the_base_restriction() -> None:
    """Hahn's 0.2 of n - 1, at both ends, for n with an end marker."""
    for n in range(1, 60):
        base = base_restriction(n - 1)
        fixed = int(0.2 * (n - 1))
        assert base == ("(",) * fixed + (None,) * (n - 1 - 2 * fixed) + (")",) * fixed


@pytest.mark.parametrize("length", range(11))
def test_after_the_base_against_all_restrictions(length: int) -> None:
    found = after_base(length)
    base = base_restriction(length)
    assert found.fixed == least_of_all("()", well_nested, base)
    assert_attained(found, base, "()", well_nested)


@pytest.mark.parametrize("length", [*range(2, 41, 2), 100])
def test_after_the_base_a_fifth_and_one_more(length: int) -> None:
    found = after_base(length)
    fifth = length // 5
    assert (found.fixed, found.member) == (fifth + 1, False)
    assert found.restriction[:fifth] == ("(",) * fifth
    assert after_base(length + 1).fixed == 0


@pytest.mark.parametrize("length", range(9))
def test_the_other_kind_of_bracket_decides_at_once(length: int) -> None:
    """So the bits are brackets of one kind in the proof for dyck2."""
    found = after_base(length, kinds=2)
    base = base_restriction(length)
    assert_attained(found, base, "()[]", well_nested)
    assert found.fixed == (1 if len(outcomes("()[]", well_nested, base)) == 2 else 0)
