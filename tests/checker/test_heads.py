"""Heads built by hand: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import pairwise

import flint
import pytest

from attemper.checker.constructions.local_sign import LocalSignRule
from attemper.checker.constructions.lookup import LookupRule
from attemper.checker.constructions.neighbour import NeighbourRule
from attemper.checker.constructions.select import SelectRule
from attemper.checker.constructions.sign import SignRule
from attemper.checker.constructions.uniform import UniformRule
from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.closed_forms import ClosedForm, I, N, number, times
from attemper.networks.layers import (
    Construction,
    HardWeighting,
    Head,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Select,
    Sign,
    Uniform,
)
from attemper.networks.meaning_hard import visible
from tests.support.heads import ALL, LEFT, RIGHT, Form, Palette, Rows, attended, places, short_words

WORDS = short_words(("a", "b"), 4)
LONG = tuple("abbab" * 2)
ONE = number(1)
WIDTH = ball(Fraction(1, 2**50))

UNIFORM, SELECT, NEIGHBOUR = Uniform(), Select(False, ()), Neighbour(False)
SIGN, LOCAL_SIGN, LOOKUP = Sign(()), LocalSign((), (), (), 1), Lookup((), ())

Formula = Callable[[int, int], Fraction | int]
"""A number for each i and n."""


@dataclass(frozen=True)
class Case:
    """A head, with the functions of i and n that its bounds are the least values of."""

    construction: Construction
    masking: Masking
    rows: Rows
    value: Form
    coldness: ClosedForm = ONE
    gap: Formula | None = None
    bounds: tuple[Formula, ...] = ()
    unit: Fraction = Fraction(1)


def grid(masking: Masking, longest: int = 9) -> Iterator[tuple[int, int]]:
    """The positions that see more than one."""
    for n in range(1, longest + 1):
        for i in range(1, n + 1):
            if len(visible(masking.weak, i, n)) > 1:
                yield i, n


def least(masking: Masking, formula: Formula) -> Fraction:
    return min(Fraction(formula(i, n)) for i, n in grid(masking))


def number_visible(masking: Masking) -> Formula:
    return lambda i, n: len(visible(masking.weak, i, n))


def reach(masking: Masking) -> Formula:
    return lambda i, n: visible(masking.weak, i, n)[-1]


def prepare() -> None:
    palette()


@cache
def palette() -> Palette:
    """Coordinates with averages of all kinds; one set of names for all tests."""
    found = Palette()
    names = found.names
    for masking, side in ((LEFT, "left"), (RIGHT, "right"), (ALL, "all")):
        mark = names.mark(masking)
        balance = names.plus(names.scaled(names.letter("a"), 2), names.number(-1))
        found.mean(f"a {side}", masking, names.letter("a"))
        found.mean(f"mark {side}", masking, mark)
        found.mean(f"odd {side}", masking, names.plus(names.scaled(balance, 2), mark))
        found.mean(
            f"half odd {side}",
            masking,
            names.scaled(names.plus(names.scaled(balance, 2), mark), Fraction(3, 2)),
        )
        found.mean(f"even {side}", masking, balance)
        found.mean(f"thirds {side}", masking, names.plus(names.scaled(balance, Fraction(1, 3)), mark))
        found.mean(f"sign {side}", masking, names.sign)
    for name, (left, right, constants) in HALVES.items():
        local_sign(found, name, left, right, constants)
    found.values["n first"] = {(0, 1): found.names.first}
    right = found.names.mean(RIGHT, found.names.letter("b"))
    found.add("right at 1", found.names.choose(found.names.first, right, found.names.false))
    found.values["i^2 sign"] = {(2, 0): found.names.sign}
    found.values["rough"] = {(0, 0): names.letter("a")}
    found.errors["rough"] = Fraction(1, 8)
    return found


def fact_of(case: Case) -> tuple[Palette, Head, HeadFact]:
    own = palette()
    head = own.head(case.construction, case.masking, case.rows, case.value, case.coldness)
    return own, head, head_fact(own.names, head, own.stream())


def wrongly(own: Palette, head: Head, fact: HeadFact) -> str | None:
    """A place where the head's output is further from what was derived than what was derived allows."""
    with precision(100):
        mass = ball(upper_bound(fact.rule.stray(flint.arb(0), flint.arb(1))))
        (output,) = fact.outputs
        for place in places(own, head, [*WORDS, LONG]):
            found, right = attended(place), place.reading.number(output.diagram, place.i)
            if not abs(found - ball(right)) <= mass * ball(output.spread) + WIDTH:
                return f"{''.join(place.reading.word)} at {place.i}: {found}, not {right} up to {mass}"
    return None


# What is accepted ------------------------------------------------------------------------------------


def tie_break(
    masking: Masking,
    rightmost: bool,
    inverse: bool,
    push: tuple[str, int] | None,
    keys: Form,
    strength: int = 4,
) -> Case:
    """strength * j or -1/j in the direction, less push * keys."""
    sign = 1 if rightmost else -1
    tie: Form = {"1/i": -sign} if inverse else {"i": sign}
    size = (
        {"i^2": strength}
        if inverse and masking.weak is LEFT
        else {"n^2": strength}
        if inverse
        else {"1": strength}
    )
    rows: list[tuple[Form, Form]] = [(size, tie)]
    n_, r = number_visible(masking), reach(masking)

    def give(i: int, n: int) -> Fraction:
        return Fraction(strength * r(i, n) ** 2 if inverse else strength)

    gap: Formula = lambda i, n: give(i, n) / (r(i, n) ** 2 if inverse else 1)  # noqa: E731
    if push is None:
        return Case(SELECT, masking, rows, {"a": 1}, gap=gap)
    name, factor = push
    rows.append(({name: factor}, {k: -v for k, v in keys.items()}))
    levels = sorted({sum(v for k, v in keys.items() if k in held) for held in ({"a"}, {"b"})})
    step = min(b - a for a, b in pairwise(levels))

    def far(part: Fraction) -> Formula:
        def bound(i: int, n: int) -> Fraction:
            taken = (
                factor
                * step
                * (i if name == "i" else n if name == "n" else i * i if name == "i^2" else n * n)
            )
            gain = give(i, n) * (1 - Fraction(1, r(i, n))) if inverse else give(i, n) * (n_(i, n) - 1)
            return part * (taken - gain) - (n_(i, n) - 1) + 1

        return bound

    return Case(
        SELECT, masking, rows, {"a": 1, "sign": 2}, gap=gap, bounds=(far(Fraction(1)), far(Fraction(1, 2)))
    )


SELECTIONS = [
    tie_break(LEFT, True, False, None, {}),
    tie_break(LEFT, False, False, None, {}, 3),
    tie_break(RIGHT, True, False, None, {}),
    tie_break(RIGHT, False, True, None, {}),
    tie_break(LEFT, True, True, None, {}),
    tie_break(ALL, True, True, None, {}),
    tie_break(ALL, False, False, None, {}),
    tie_break(LEFT, True, False, ("i", 8), {"b": 1}),
    tie_break(LEFT, True, False, ("i", 9), {"a": -1}),
    tie_break(LEFT, False, False, ("n", 7), {"b": 1}),
    tie_break(LEFT, True, False, ("i", 4), {"a": 1, "b": 3}),
    tie_break(RIGHT, False, False, ("n", 8), {"a": 2, "b": 3}),
    tie_break(RIGHT, True, False, ("n", 11), {"a": 1}),
    tie_break(ALL, True, False, ("n", 8), {"a": 1}),
    tie_break(ALL, False, False, ("n", 12), {"b": -1}),
    tie_break(LEFT, True, True, ("i^2", 8), {"b": 1}),
    tie_break(LEFT, False, True, ("i^2", 9), {"a": 1}),
    tie_break(RIGHT, False, True, ("n^2", 8), {"b": 1}),
    tie_break(RIGHT, True, True, ("n^2", 9), {"b": 1}),
    tie_break(ALL, True, True, ("n^2", 8), {"b": 1}),
    tie_break(Masking.STRICT_FUTURE, True, False, ("i", 8), {"b": 1}),
    tie_break(Masking.STRICT_FUTURE, False, False, ("n", 8), {"b": 1}),
    tie_break(Masking.STRICT_PAST, False, False, ("n", 8), {"b": 1}),
    tie_break(Masking.STRICT_PAST, True, True, ("n^2", 8), {"b": 1}),
]


def neighbour(masking: Masking, inverse: bool, w: tuple[str, int], strength: int) -> Case:
    sign = 1 if masking is LEFT else -1
    size: Form = (
        {"1": strength} if not inverse else {"i^2": strength} if masking is LEFT else {"n^2": strength}
    )
    tie: Form = {"1/i": -sign} if inverse else {"i": sign}
    name, factor = w
    r = reach(masking)

    def own(i: int, n: int) -> Fraction:
        lead = 2 * factor * (1 if name == "sign" else i if name == "i sign" else n)
        return lead - (Fraction(2 * strength * r(i, n) ** 2, i * i) if inverse else strength)

    def parity(i: int, n: int) -> int:
        return 2 * factor * (1 if name == "sign" else i if name == "i sign" else n)

    rows = [({name: -factor}, {"sign": 1}), (size, tie)]
    return Case(NEIGHBOUR, masking, rows, {"a": 1}, gap=lambda i, n: strength, bounds=(own, parity))


NEIGHBOURS = [
    neighbour(LEFT, False, ("sign", 6), 4),
    neighbour(LEFT, False, ("i sign", 6), 2),
    neighbour(LEFT, True, ("sign", 9), 4),
    neighbour(RIGHT, False, ("sign", 6), 4),
    neighbour(RIGHT, False, ("n sign", 6), 5),
]


def signs(
    masking: Masking, mean: str, level: bool, coldness: ClosedForm, kappa: Formula, unit: Fraction
) -> Case:
    key: Form = {"sign": 1} if level else {"i sign": 1}
    v = number_visible(masking)
    gap: Formula = (
        (lambda i, n: kappa(i, n) * unit / Fraction(v(i, n))) if level else (lambda i, n: kappa(i, n) * unit)
    )
    return Case(SIGN, masking, [({mean: 1}, key)], {"sign": 1, "1": 3}, coldness, gap, unit=unit)


SIGNS = [
    signs(LEFT, "odd left", True, times(5, I), lambda i, n: 5 * i, Fraction(1)),
    signs(RIGHT, "odd right", True, times(3, N), lambda i, n: 3 * n, Fraction(1)),
    signs(ALL, "odd all", True, times(4, N), lambda i, n: 4 * n, Fraction(1)),
    signs(LEFT, "half odd left", True, times(2, I), lambda i, n: 2 * i, Fraction(3, 2)),
    signs(LEFT, "odd left", False, number(4), lambda i, n: 4, Fraction(1)),
    signs(RIGHT, "odd right", False, times(2, I), lambda i, n: 2 * i, Fraction(1)),
    signs(ALL, "half odd all", False, number(3), lambda i, n: 3, Fraction(3, 2)),
]


def lookup(
    masking: Masking, side: str, count: str | None, bounded: bool, kappa: Formula, coldness: ClosedForm
) -> Case:
    rows: list[tuple[Form, Form]] = (
        [({f"mark {side}": 2}, {"1/i": 1}), *([({count: -1}, {"1/i^2": 1})] if count else [])]
        if bounded
        else [({f"mark {side}": -1}, {"i^2": 1}), *([({count: 2}, {"i": 1})] if count else [])]
    )
    v = number_visible({"left": LEFT, "right": RIGHT, "all": ALL}[side])
    gap: Formula = lambda i, n: Fraction(kappa(i, n)) / (i**4 if bounded else v(i, n))  # noqa: E731
    bounds: tuple[Formula, ...] = ()
    if bounded:
        bounds = tuple(
            (lambda i, n, part=part: part * Fraction(kappa(i, n)) / i - i + 2)
            for part in (Fraction(1), Fraction(1, 2))
        )
    return Case(LOOKUP, masking, rows, {"sign": 1, "i >= 3": 2, "third": 4}, coldness, gap, bounds)


LOOKUPS = [
    lookup(LEFT, "left", "a left", False, lambda i, n: 3 * i, times(3, I)),
    lookup(LEFT, "left", "a left", False, lambda i, n: 2 * n * i, times(2, N, I)),
    lookup(ALL, "left", "a left", False, lambda i, n: 3 * n, times(3, N)),
    lookup(ALL, "right", "a right", False, lambda i, n: 3 * n, times(3, N)),
    lookup(ALL, "all", "a all", False, lambda i, n: 2 * n, times(2, N)),
    lookup(LEFT, "left", "a left", True, lambda i, n: 2 * i**4, times(2, I, I, I, I)),
    lookup(LEFT, "left", "1", False, lambda i, n: 3 * i, times(3, I)),
    lookup(ALL, "left", None, False, lambda i, n: 3 * n, times(3, N)),
]

UNIFORMS = [
    Case(UNIFORM, masking, rows, value, gap=lambda i, n: 0)
    for masking in (LEFT, RIGHT, ALL)
    for rows, value in (
        ([], {"a": 2, "1": -1}),
        ([({"i": 3, "a": 1}, {"1": 2}), ({"i": 1}, {"n": 1})], {"sign": 1}),
        ([({"i": 2}, {"a": 1}), ({"i": -2}, {"a": 1})], {"1": 5}),
    )
]


def local_sign(own: Palette, name: str, left: int, right: int, constants: tuple[int, Fraction, int]) -> None:
    """Coordinates for T = sum over j <= i of 2 left l(j), over j >= i of 2 right r(j), an odd number at i.

    l and r are 1 or -1. A1 = left L - right R + slope; A0 = fixed + n by_length, with other halves at i = 1.
    """
    names = own.names
    slope, fixed, by_length = constants
    l_mean = names.mean(LEFT, names.plus(names.scaled(names.letter("a"), 2), names.number(-1)))
    r_mean = names.mean(RIGHT, names.plus(names.scaled(names.letter("b"), 2), names.number(-1)))

    def mixed(of_l: Fraction | int, of_r: Fraction | int, constant: Fraction | int) -> Diagram:
        means = names.plus(names.scaled(l_mean, of_l), names.scaled(r_mean, of_r))
        return names.plus(means, names.number(constant))

    own.add(f"A1 {name}", mixed(left, -right, slope))
    later = mixed(Fraction(left, 2), Fraction(right, 2), fixed)
    start = mixed(Fraction(-left, 2), Fraction(3 * right, 2), fixed)
    own.add(f"fixed {name}", names.choose(names.first, start, later))
    own.values[f"n {name}"] = {(0, 1): mixed(0, right, by_length)}


def local_sign_rows(name: str, tightness: int) -> Rows:
    return [
        ({"i": 2 * tightness, "1": -tightness, "first": 2 * tightness}, {"i": 1}),
        ({"1": -tightness}, {"i^2": 1}),
        ({f"A1 {name}": 1}, {"i sign": 1}),
        ({f"fixed {name}": 1, f"n {name}": 1}, {"sign": 1}),
    ]


HALVES = {
    "both": (1, 1, (0, Fraction(1, 2), 0)),
    "unequal": (2, -1, (0, Fraction(-3, 2), 0)),
    "left": (1, 0, (0, Fraction(1, 2), 0)),
    "right": (0, -2, (0, Fraction(5, 2), 0)),
    "slope": (1, 1, (1, Fraction(0), 0)),
    "length": (1, -1, (0, Fraction(1, 2), 1)),
    "all": (2, 1, (-1, Fraction(2), 2)),
}

LOCAL_SIGNS = [
    Case(LOCAL_SIGN, ALL, local_sign_rows(name, 6), {"sign": 1, "1": 1}, gap=lambda i, n: Fraction(1, 2))
    for name in HALVES
]

CASES = [*SELECTIONS, *NEIGHBOURS, *SIGNS, *LOOKUPS, *UNIFORMS, *LOCAL_SIGNS]


@pytest.mark.parametrize(
    "case", CASES, ids=[f"{type(c.construction).__name__} {k}" for k, c in enumerate(CASES)]
)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    own, head, fact = fact_of(case)
    assert wrongly(own, head, fact) is None
    assert case.gap is not None
    assert fact.rule.gap == least(case.masking, case.gap)
    found = [value for place in places(own, head, [*WORDS, LONG]) for value in place.values.values()]
    (output,) = fact.outputs
    assert output.size == max(map(abs, found))
    assert output.spread == max(found) - min(found)
    bounds = tuple(least(case.masking, bound) for bound in case.bounds)
    match fact.rule:
        case LocalSignRule():
            assert not bounds
        case UniformRule():
            assert not bounds
        case SelectRule(far=far):
            assert far == (bounds or None)
        case NeighbourRule(own=behind, parity=parity):
            assert (behind, parity) == bounds
        case SignRule(level=level, unit=unit):
            assert unit == case.unit
            assert level == ({"sign": 1} in [key for _, key in case.rows])
        case LookupRule(_, zero):
            assert zero == (bounds or None)
        case _:
            raise AssertionError(fact.rule)


# What is refused -------------------------------------------------------------------------------------


def changed(case: Case, rng: random.Random) -> Case:
    """One thing of a case changed."""
    names = list(palette().values)
    rows = [(dict(query), dict(key)) for query, key in case.rows]
    kind = rng.randrange(7)
    if kind == 0:
        return replace(case, masking=rng.choice(list(Masking)))
    if kind == 1:
        return replace(
            case, coldness=rng.choice((number(2), number(-1), I, N, times(N, I), number(Fraction(1, 4))))
        )
    if kind == 2 or not rows:
        return replace(case, construction=rng.choice((UNIFORM, SELECT, NEIGHBOUR, SIGN, LOCAL_SIGN, LOOKUP)))
    if kind == 3:
        return replace(case, value={rng.choice(names): 1, **case.value})
    form = rng.choice(rng.choice(rows))
    if kind == 4 and form:
        name = rng.choice(list(form))
        form[name] *= rng.choice((-1, 2, Fraction(1, 2), 0))
    elif kind == 5 and form:
        form[rng.choice(names)] = form.pop(rng.choice(list(form)))
    else:
        form[rng.choice(names)] = rng.choice((-8, -1, 1, 2, 8))
    return replace(case, rows=rows)


@pytest.mark.parametrize("seed", range(40))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(6):
        case = changed(rng.choice(CASES), rng)
        if rng.random() < 0.3:
            case = changed(case, rng)
        try:
            own, head, fact = fact_of(case)
            wrong = wrongly(own, head, fact)
        except (UnprovenError, OverflowError):
            continue
        assert wrong is None, (case, wrong)


def with_rows(case: Case, *rows: tuple[Form, Form]) -> Case:
    return replace(case, rows=[*case.rows, *rows])


def select(masking: Masking, *rows: tuple[Form, Form]) -> Case:
    return Case(SELECT, masking, rows, {"a": 1})


TIE: tuple[Form, Form] = ({"1": 4}, {"i": 1})
BLOCK: tuple[Form, Form] = ({"i": 8}, {"b": -1})
TURN: tuple[Form, Form] = ({"sign": -6}, {"sign": 1})
UP: tuple[Form, Form] = ({"1": 4}, {"i": 1})
BALANCED = Case(LOCAL_SIGN, ALL, local_sign_rows("both", 3), {"sign": 1})
WANTED = LOOKUPS[0]

REFUSED: dict[str, tuple[str, Case]] = {
    "approximate query": ("only approximate", select(LEFT, ({"rough": 4}, {"i": 1}))),
    "approximate key": ("only approximate", select(LEFT, ({"1": 4}, {"i": 1, "rough": 1}))),
    "approximate value": ("only approximate", Case(UNIFORM, LEFT, [], {"rough": 1})),
    "value of an average": ("a value depends on an average", Case(UNIFORM, LEFT, [], {"a left": 1})),
    "key of an average": ("a key depends on an average", select(LEFT, TIE, ({"1": 9}, {"a left": -1}))),
    "value that grows": ("a value reads a position embedding", Case(UNIFORM, LEFT, [], {"i": 1})),
    "strict neighbour": ("strict masks", replace(NEIGHBOURS[0], masking=Masking.STRICT_FUTURE)),
    "strict uniform": ("strict masks", Case(UNIFORM, Masking.STRICT_PAST, [], {"a": 1})),
    "uniform by letters": ("not all equal", Case(UNIFORM, LEFT, [({"1": 1}, {"a": 1})], {"a": 1})),
    "uniform by places": ("not all equal", Case(UNIFORM, LEFT, [({"1": 1}, {"i": 1})], {"a": 1})),
    "no tie-break": ("no tie-break", select(LEFT, BLOCK)),
    "two tie-breaks": ("no tie-break", select(LEFT, TIE, BLOCK, ({"1": 1}, {"1/i": 1}))),
    "tie-break of squares": ("neither in j nor in 1/j", select(LEFT, ({"1": 4}, {"i^2": 1}), BLOCK)),
    "tie-break of a letter": ("depends on the word", select(LEFT, ({"a": 4}, {"i": 1}), BLOCK)),
    "tie-break times a letter": (
        "neither|depends on the word",
        select(LEFT, ({"1": 4}, {"i sign": 1}), BLOCK),
    ),
    "tie-break that fades": ("the tie-break fades", select(LEFT, ({"1/i": 4}, {"i": 1}))),
    "tie-break in 1/j that fades": ("the tie-break fades", select(LEFT, ({"i": 4}, {"1/i": -1}))),
    "weak push": ("blocked positions can win", select(LEFT, TIE, ({"1": 8}, {"b": -1}))),
    "push that is too small": (
        "its lead is not positive",
        select(LEFT, TIE, ({"i": 6, "1": -10, "n": 0}, {"b": -1})),
    ),
    "pushes of two kinds": ("weighed differently", select(LEFT, TIE, BLOCK, ({"n": 8}, {"sign": -1}))),
    "push of a letter": ("depends on the word", select(LEFT, TIE, ({"a": 8}, {"b": -1}))),
    "neighbour without turns": ("not those of a neighbour", Case(NEIGHBOUR, LEFT, [UP], {"a": 1})),
    "neighbour without a tie-break": ("not those of a neighbour", Case(NEIGHBOUR, LEFT, [TURN], {"a": 1})),
    "neighbour of all": ("not those of a neighbour", Case(NEIGHBOUR, ALL, [TURN, UP], {"a": 1})),
    "neighbour with two tie-breaks": (
        "not those of a neighbour",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"1": 1}, {"1/i": -1})], {"a": 1}),
    ),
    "neighbour with growing turns": (
        "not those of a neighbour",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"sign": -6}, {"i sign": 1})], {"a": 1}),
    ),
    "neighbour of a letter": (
        "not a function of its position",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"1": 1}, {"a": 1})], {"a": 1}),
    ),
    "neighbour on the left of the left": (
        "points away",
        Case(NEIGHBOUR, LEFT, [TURN, ({"1": 4}, {"i": -1})], {"a": 1}),
    ),
    "neighbour on the right of the left": (
        "points away",
        Case(NEIGHBOUR, RIGHT, [TURN, ({"1": 4}, {"i": 1})], {"a": 1}),
    ),
    "neighbour in 1/j on the wrong side": (
        "points away",
        Case(NEIGHBOUR, LEFT, [TURN, ({"i^2": 4}, {"1/i": 1})], {"a": 1}),
    ),
    "neighbour that fades": (
        "position i can win",
        Case(NEIGHBOUR, LEFT, [({"sign/i": -6}, {"sign": 1}), UP], {"a": 1}),
    ),
    "sign of squares": (
        "times a number of i",
        Case(SIGN, LEFT, [({"odd left": 1}, {"i^2 sign": 1})], {"sign": 1}),
    ),
    "sign of places": ("times a number of i", Case(SIGN, LEFT, [({"odd left": 1}, {"i": 1})], {"sign": 1})),
    "sign twice": ("times a number of i", with_rows(SIGNS[4], ({"odd left": 1}, {"sign": 1}))),
    "sign of another side": ("does not see the positions", replace(SIGNS[4], masking=ALL)),
    "sign of nothing": (
        "does not see the positions",
        Case(SIGN, LEFT, [({"1": 4}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of what may be 0": ("may be 0", Case(SIGN, LEFT, [({"even left": 4}, {"i sign": 1})], {"sign": 1})),
    "sign of what may be 0 by letters": (
        "may be 0",
        Case(SIGN, LEFT, [({"a left": 4}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of thirds": ("may be 0", Case(SIGN, LEFT, [({"thirds left": 4}, {"i sign": 1})], {"sign": 1})),
    "sign of two averages": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "a left": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of an average and a number": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "1": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign of an average at times": (
        "not a multiple of an average",
        Case(SIGN, LEFT, [({"odd left": 4, "i >= 3": 1}, {"i sign": 1})], {"sign": 1}),
    ),
    "sign that is as likely": ("both parities are as likely", replace(SIGNS[0], coldness=number(5))),
    "sign the other way": ("lead is not positive", replace(SIGNS[4], coldness=number(-4))),
    "sign of a threshold as value": ("more than the parity", replace(SIGNS[4], value={"i >= 3": 1})),
    "neighbour of a threshold": ("more than the parity", with_rows(NEIGHBOURS[0], ({"1": 1}, {"i >= 3": 1}))),
    "sign of a letter as value": ("not a function of its position", replace(SIGNS[4], value={"a": 1})),
    "lookup by waves": ("not those of a lookup", with_rows(WANTED, ({"1": 1}, {"sign": 1}))),
    "lookup without a top": ("not those of a lookup", replace(WANTED, rows=WANTED.rows[1:])),
    "lookup of three powers": ("not those of a lookup", with_rows(WANTED, ({"1": 1}, {"1/i": 1}))),
    "lookup without a mark": (
        "does not carry 1",
        replace(WANTED, rows=[({"a left": -1}, {"i^2": 1}), WANTED.rows[1]]),
    ),
    "lookup with a number for a mark": (
        "does not carry 1",
        replace(WANTED, rows=[({"1": -1}, {"i^2": 1}), WANTED.rows[1]]),
    ),
    "lookup off its top": (
        "top at the count",
        replace(WANTED, rows=[WANTED.rows[0], ({"a left": 3}, {"i": 1})]),
    ),
    "lookup of a count of the other side": (
        "not a count",
        replace(WANTED, rows=[WANTED.rows[0], ({"a right": 2}, {"i": 1})]),
    ),
    "lookup of no count": (
        "not a count",
        replace(WANTED, rows=[WANTED.rows[0], ({"odd left": 2}, {"i": 1})]),
    ),
    "lookup of what is not seen": (
        "may not see",
        lookup(RIGHT, "right", "a right", False, lambda i, n: 3 * n, times(3, N)),
    ),
    "lookup on the other side": ("may not see", replace(LOOKUPS[3], masking=LEFT)),
    "bounded lookup of all": ("future-masked", replace(LOOKUPS[5], masking=ALL)),
    "lookup that fades": ("other positions can win", replace(WANTED, coldness=number(3))),
    "bounded lookup that fades at 0": (
        "at count 0|not positive",
        replace(LOOKUPS[5], coldness=times(Fraction(1, 9), I, I, I, I)),
    ),
    "lookup the other way": ("lead is not positive", replace(WANTED, coldness=times(-3, I))),
    "lookup of a letter as value": ("not a function of its position", replace(WANTED, value={"a": 1})),
    "local sign of the left": ("not those of a local sign head", replace(BALANCED, masking=LEFT)),
    "local sign with cubes": ("not those of a local sign head", with_rows(BALANCED, ({"1": 1}, {"i^3": 1}))),
    "local sign without a parabola": ("not centred", replace(BALANCED, rows=BALANCED.rows[2:])),
    "local sign off its centre": ("not centred", with_rows(BALANCED, ({"1": 1}, {"i": 1}))),
    "local sign off its centre at 1": ("not centred", with_rows(BALANCED, ({"first": 1}, {"i": 1}))),
    "local sign uphill": (
        "not centred",
        replace(BALANCED, rows=[*local_sign_rows("both", -3)[:2], *BALANCED.rows[2:]]),
    ),
    "local sign with a parabola that grows": ("not centred", replace(BALANCED, coldness=I)),
    "local sign too flat": ("too flat", replace(BALANCED, rows=local_sign_rows("both", 2))),
    "local sign with a growing offset": (
        "grow in an unknown way",
        with_rows(BALANCED, ({"i": 1}, {"sign": 1})),
    ),
    "local sign with a growing slope": ("the slope of", with_rows(BALANCED, ({"i": 1}, {"i sign": 1}))),
    "local sign of an even number": ("T may be 0", with_rows(BALANCED, ({"1": Fraction(1, 2)}, {"sign": 1}))),
    "local sign of odd summands": (
        "T may be 0",
        replace(
            BALANCED,
            rows=[
                *local_sign_rows("both", 3)[:2],
                ({"A1 both": Fraction(1, 2)}, {"i sign": 1}),
                ({"fixed both": Fraction(1, 2), "n both": Fraction(1, 2), "1": Fraction(1, 4)}, {"sign": 1}),
            ],
        ),
    ),
    "local sign with half an offset": (
        "not those of a sum",
        with_rows(BALANCED, ({"a left": 1}, {"sign": 1})),
    ),
    "local sign with another slope": (
        "not those of a sum",
        with_rows(BALANCED, ({"a left": 1}, {"i sign": 1})),
    ),
    "local sign of another number at 1": (
        "T may be 0",
        with_rows(BALANCED, ({"first": Fraction(1, 2)}, {"sign": 1})),
    ),
    "local sign that grows at 1": ("of another sum", with_rows(BALANCED, ({"n first": 2}, {"sign": 1}))),
    "local sign of another sum at 1": (
        "of another sum",
        with_rows(BALANCED, ({"right at 1": 2}, {"sign": 1})),
    ),
    "nothing that is not softmax": ("not a softmax head", SELECTIONS[0]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    text, case = REFUSED[name]
    own = palette()
    head = own.head(case.construction, case.masking, case.rows, case.value, case.coldness)
    if "softmax" in text:
        head = replace(head, weighting=HardWeighting.AVERAGE)
    with pytest.raises(UnprovenError, match=text):
        head_fact(own.names, head, own.stream())


@pytest.mark.parametrize(
    ("masking", "rows", "text"),
    [
        # At the first corner everything is as in heads that are right.
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 6, "i^2": -2}, {"b": -1})], "blocked positions can win"),
        (RIGHT, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -7}, {"b": -1})], ""),
        (ALL, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -4}, {"b": -1})], "blocked positions can win"),
        (ALL, [({"1": 4}, {"i": 1}), ({"n": 4}, {"b": -1})], "blocked positions can win"),
        (LEFT, [({"1": 4}, {"i": 1}), ({"i": 4}, {"b": -1})], "blocked positions can win"),
        (RIGHT, [({"n^2/i": 4}, {"1/i": -1})], "the tie-break fades"),
        (ALL, [({"n^2/i": 4}, {"1/i": -1})], "the tie-break fades"),
        (LEFT, [({"i": 4}, {"1/i": -1})], "the tie-break fades"),
    ],
)
def test_bounds_hold_at_all_positions(masking: Masking, rows: Rows, text: str) -> None:
    own = Palette()
    own.values["n^2/i"] = {(-1, 2): own.names.true}
    head = own.head(SELECT, masking, rows, {"a": 1})
    if text:
        with pytest.raises(UnprovenError, match=text):
            head_fact(own.names, head, own.stream())
    else:
        assert wrongly(own, head, head_fact(own.names, head, own.stream())) is None


@pytest.mark.parametrize("keys", [{"a": 1, "b": 3}, {"a": -2, "b": 5}, {"a": 3, "b": 4}, {"a": 4}])
@pytest.mark.parametrize("size", [1, 2, 7])
def test_levels_are_apart_by_their_smallest_difference(keys: Form, size: int) -> None:
    """Three levels of keys: the letters' and the third letter's, which is 0."""
    own = Palette(("a", "b", "c"))
    rows: Rows = [({"1": 4}, {"i": 1}), ({"i": 8 * size}, {name: -factor for name, factor in keys.items()})]
    head = own.head(SELECT, LEFT, rows, {"a": 1, "b": 2})
    fact = head_fact(own.names, head, own.stream())
    levels = sorted({Fraction(0), *map(Fraction, keys.values())})
    step = min(after - before for before, after in pairwise(levels))
    assert isinstance(fact.rule, SelectRule)
    expected = [
        least(LEFT, lambda i, n, k=k: k * (8 * size * step * i - 4 * (i - 1)) - (i - 1) + 1)
        for k in (1, Fraction(1, 2))
    ]
    assert fact.rule.far == tuple(expected)
    with precision(100):
        mass = ball(upper_bound(fact.rule.stray(flint.arb(0), flint.arb(1))))
        (output,) = fact.outputs
        for place in places(own, head, short_words(("a", "b", "c"), 3)):
            right = place.reading.number(output.diagram, place.i)
            assert abs(attended(place) - ball(right)) <= mass * ball(output.spread) + WIDTH


def test_leads_may_be_small() -> None:
    """Half a unit per step, in both directions."""
    own = Palette()
    half = Fraction(1, 2)
    for masking, direction in ((LEFT, 1), (LEFT, -1), (RIGHT, 1), (RIGHT, -1), (ALL, 1), (ALL, -1)):
        for rows in ([({"1": half}, {"i": direction})], [({"1": 1}, {"i": direction})]):
            head = own.head(SELECT, masking, rows, {"a": 1})
            fact = head_fact(own.names, head, own.stream())
            assert fact.rule.gap == rows[0][0]["1"]
            assert wrongly(own, head, fact) is None
    for masking, direction in ((LEFT, 1), (RIGHT, -1)):
        for size in (half, 1):
            rows = [({"sign": -6}, {"sign": 1}), ({"1": size}, {"i": direction})]
            head = own.head(NEIGHBOUR, masking, rows, {"a": 1})
            fact = head_fact(own.names, head, own.stream())
            assert fact.rule.gap == size
            assert wrongly(own, head, fact) is None


def test_a_bounded_lookup_of_nothing_reads_the_first_position() -> None:
    case = lookup(LEFT, "left", None, True, lambda i, n: 2 * i**4, times(2, I, I, I, I))
    own, head, fact = fact_of(case)
    assert isinstance(fact.rule, LookupRule)
    assert fact.rule.zero is not None
    assert wrongly(own, head, fact) is None


def test_lookups_with_waves_of_their_own_powers_are_refused() -> None:
    for key in ("i sign", "i^2 sign"):
        with pytest.raises(UnprovenError, match="not those of a lookup"):
            fact_of(with_rows(WANTED, ({"1": 1}, {key: 1})))


@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(3, 2), Fraction(5)])
@pytest.mark.parametrize("name", HALVES)
def test_local_signs_in_other_units(name: str, scale: Fraction) -> None:
    rows = [({k: scale * v for k, v in query.items()}, key) for query, key in local_sign_rows(name, 6)]
    own, head, fact = fact_of(Case(LOCAL_SIGN, ALL, rows, {"sign": 1}))
    assert fact.rule.gap == scale / 2
    if scale >= 1:
        assert wrongly(own, head, fact) is None


def test_a_local_sign_with_a_flat_parabola_of_small_units() -> None:
    quarter = Fraction(1, 4)
    rows = [({k: quarter * v for k, v in query.items()}, key) for query, key in local_sign_rows("both", 3)]
    own, head, fact = fact_of(Case(LOCAL_SIGN, ALL, rows, {"sign": 1}))
    assert fact.rule.gap == quarter / 2
    output = fact.outputs[0].diagram
    for place in places(own, head, WORDS):
        letters = [1 if symbol == "a" else -1 for symbol in place.reading.word]
        twice = 2 * (sum(letters[: place.i]) - sum(letters[place.i - 1 :])) + 1
        expected = (1 if twice > 0 else -1) if len(letters) > 1 else -1
        assert place.reading.number(output, place.i) == expected


def test_side_conditions_of_local_signs_one_by_one() -> None:
    own = Palette()
    for name, (left, right, constants) in HALVES.items():
        local_sign(own, name, left, right, constants)
    local_sign(own, "odd left", Fraction(1, 2), 1, (0, Fraction(1, 2), 0))  # type: ignore[arg-type]
    local_sign(own, "odd right", 1, Fraction(1, 2), (0, Fraction(1, 2), 0))  # type: ignore[arg-type]
    mean = own.names.mean(RIGHT, own.names.letter("a"))
    own.add("right later", own.names.choose(own.names.first, own.names.false, mean))

    def fact(*rows: tuple[Form, Form]) -> HeadFact:
        return head_fact(own.names, own.head(LOCAL_SIGN, ALL, rows, {"sign": 1}), own.stream())

    for name in ("odd left", "odd right"):
        with pytest.raises(UnprovenError, match="T may be 0"):
            fact(*local_sign_rows(name, 6))
    with pytest.raises(UnprovenError, match="not those of a sum over positions"):
        fact(*local_sign_rows("both", 6), ({"right later": 1}, {"sign": 1}))
    # |A1| is at most 2 for "both", and between -1 and 3 for "slope"; u is 1.
    for name, steepest in (("both", 2), ("slope", 3)):
        enough = steepest + Fraction(1, 2)
        assert fact(*local_sign_rows(name, enough)).rule.gap == Fraction(1, 2)  # type: ignore[arg-type]
        with pytest.raises(UnprovenError, match="too flat"):
            fact(*local_sign_rows(name, enough - Fraction(1, 64)))  # type: ignore[arg-type]


def test_what_grows_with_the_length_in_keys_is_a_factor_of_the_query() -> None:
    rows: Rows = [({"sign": -6}, {"n sign": 1}), ({"1": 4}, {"i": 1})]
    own, head, fact = fact_of(Case(NEIGHBOUR, LEFT, rows, {"a": 1}))
    assert fact.rule == NeighbourRule(Fraction(4), Fraction(20), Fraction(24))
    assert wrongly(own, head, fact) is None


def test_pushes_may_be_written_with_either_sign() -> None:
    facts = [fact_of(select(LEFT, TIE, push))[2] for push in (({"i": 8}, {"b": -1}), ({"i": -8}, {"b": 1}))]
    assert facts[0].rule == facts[1].rule
    own, head, fact = fact_of(select(LEFT, TIE, ({"i": -8}, {"b": 1})))
    assert wrongly(own, head, fact) is None


def test_a_lead_of_nothing_is_refused() -> None:
    with pytest.raises(UnprovenError, match="its lead is not positive"):
        fact_of(select(LEFT, TIE, ({"i": 6, "1": -8}, {"b": -1})))


def test_a_sum_that_is_odd_for_some_words_only_is_refused() -> None:
    own = Palette()
    names = own.names
    a, first = names.letter("a"), names.first
    even = names.plus(names.scaled(a, 4), names.number(-2))
    own.mean("odd with a", LEFT, names.plus(even, names.both(first, a)))
    own.mean("odd without", LEFT, names.choose(first, names.true, a))
    for name in ("odd with a", "odd without"):
        head = own.head(SIGN, LEFT, [({name: 4}, {"i sign": 1})], {"sign": 1})
        with pytest.raises(UnprovenError, match="the sum whose sign it reads may be 0"):
            head_fact(names, head, own.stream())


@pytest.mark.parametrize("half", [Fraction(-9, 2), Fraction(-5, 2), Fraction(7, 2)])
def test_local_signs_far_from_balance(half: Fraction) -> None:
    own = Palette()
    local_sign(own, "far", 2, -1, (0, half, 0))
    rows = [({k: 5 * v for k, v in query.items()}, key) for query, key in local_sign_rows("far", 6)]
    head = own.head(LOCAL_SIGN, ALL, rows, {"sign": 1})
    assert wrongly(own, head, head_fact(own.names, head, own.stream())) is None


def test_a_lookup_reads_a_remainder_of_the_count() -> None:
    own, _, fact = fact_of(replace(WANTED, value={"third": 1}))
    names = own.names
    a, third = names.letter("a"), own.values["third"][0, 0]
    some = names.sum_at_least(LEFT, a, 1)
    assert names.both(some, fact.outputs[0].diagram) == names.both(some, names.looked_up(LEFT, a, third))


@pytest.mark.parametrize(
    ("masking", "construction", "rows", "gap"),
    [
        # What vanishes where a single position is seen, or beyond the word, is positive elsewhere.
        (LEFT, SELECT, [({"i": 4, "1": -4}, {"i": 1})], 4),
        (LEFT, SELECT, [({"n": 4, "i": -4, "1": 4}, {"i": 1})], 4),
        (RIGHT, SELECT, [({"n": 4, "i": -4}, {"i": -1})], 4),
        (RIGHT, SELECT, [({"n": 4, "i": -4}, {"i": 1})], 4),
        (ALL, SELECT, [({"n": 4, "1": -4}, {"i": 1})], 4),
        (LEFT, SELECT, [({"1": 4}, {"i": 1}), ({"i": 8, "1": -8}, {"b": -1})], 4),
        (RIGHT, SELECT, [({"1": 4}, {"i": -1}), ({"n": 8, "i": -8}, {"b": -1})], 4),
        (RIGHT, SELECT, [({"1": 4}, {"i": -1}), ({"n": -9, "i": 9}, {"b": 1})], 4),
        (LEFT, NEIGHBOUR, [({"i sign": -6}, {"sign": 1}), ({"i": 4, "1": -4}, {"i": 1})], 4),
        (RIGHT, NEIGHBOUR, [({"n sign": -6}, {"sign": 1}), ({"n": 4, "i": -4}, {"i": -1})], 4),
    ],
)
def test_what_is_positive_only_where_several_positions_are_seen(
    masking: Masking, construction: Construction, rows: Rows, gap: int
) -> None:
    own, head, fact = fact_of(Case(construction, masking, rows, {"a": 1, "sign": 2}))
    assert fact.rule.gap == gap
    assert wrongly(own, head, fact) is None


@pytest.mark.parametrize("what", ["query", "key", "value"])
def test_one_approximate_form_is_enough_to_refuse_a_head(what: str) -> None:
    reason, case = REFUSED[f"approximate {what}"]
    with pytest.raises(UnprovenError, match=reason):
        fact_of(case)
