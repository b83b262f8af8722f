"""Heads with the functions of i and n that their bounds are the least values of, and how they are judged."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache

import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.closed_forms import ONE, ClosedForm, I, N, number, times
from attemper.networks import layers
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Rows, attended, places, short_words

WORDS = short_words(("a", "b"), 4)
LONG = tuple("abbab" * 2)
WIDTH = ball(Fraction(1, 2**50))
UNIFORM, SELECT, NEIGHBOUR = layers.Uniform(), layers.Select(False, ((None, ()),)), layers.Neighbour(False)
SIGN, LOCAL_SIGN, LOOKUP = layers.Sign(()), layers.LocalSign((), (), (), 1), layers.Lookup((), ())
HALVES = {
    "both": (1, 1, (0, Fraction(1, 2), 0)),
    "unequal": (2, -1, (0, Fraction(-3, 2), 0)),
    "left": (1, 0, (0, Fraction(1, 2), 0)),
    "right": (0, -2, (0, Fraction(5, 2), 0)),
    "slope": (1, 1, (1, Fraction(0), 0)),
    "length": (1, -1, (0, Fraction(1, 2), 1)),
    "all": (2, 1, (-1, Fraction(2), 2)),
}
Formula = Callable[[int, int], Fraction | int]
"""A number for each i and n."""


@dataclass(frozen=True)
class Case:
    """A head, with the functions of i and n that its bounds are the least values of.

    `gap` is that of the lead over the first position behind, of whichever cell; `bounds` are those of others.
    """

    construction: layers.Construction
    masking: layers.Masking
    rows: Rows
    value: Form
    coldness: ClosedForm = ONE
    gap: Formula | None = None
    bounds: tuple[Formula, ...] = ()
    unit: Fraction = Fraction(1)


def grid(masking: layers.Masking, longest: int = 9) -> Iterator[tuple[int, int]]:
    """The positions that see more than one."""
    for n in range(1, longest + 1):
        for i in range(1, n + 1):
            if len(masking.weak.visible(i, n)) > 1:
                yield i, n


def least(masking: layers.Masking, formula: Formula) -> Fraction:
    return min(Fraction(formula(i, n)) for i, n in grid(masking))


def number_visible(masking: layers.Masking) -> Formula:
    return lambda i, n: len(masking.weak.visible(i, n))


def reach(masking: layers.Masking) -> Formula:
    return lambda i, n: masking.weak.visible(i, n)[-1]


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


def with_rows(case: Case, *rows: tuple[Form, Form]) -> Case:
    return replace(case, rows=[*case.rows, *rows])


def fact_of(case: Case) -> tuple[Palette, layers.Head, HeadFact]:
    own = palette()
    head = own.head(case.construction, case.masking, case.rows, case.value, case.coldness)
    return own, head, head_fact(own.names, head, own.stream())


def wrongly(own: Palette, head: layers.Head, fact: HeadFact) -> str | None:
    """A place where the head's output is further from what was derived than what was derived allows."""
    with precision(100):
        mass = ball(upper_bound(fact.stray_mass))
        (output,) = fact.outputs
        for place in places(own, head, [*WORDS, LONG]):
            found, right = attended(place), place.reading.number(output.diagram, place.i)
            if not abs(found - ball(right)) <= mass * ball(output.spread) + WIDTH:
                return f"{''.join(place.reading.word)} at {place.i}: {found}, not {right} up to {mass}"
    return None


def changed(case: Case, rng: random.Random) -> Case:
    """One thing of a case changed."""
    names = list(palette().values)
    rows = [(dict(query), dict(key)) for query, key in case.rows]
    kind = rng.randrange(7)
    if kind == 0:
        return replace(case, masking=rng.choice(list(layers.Masking)))
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


def require_what_is_computed(case: Case) -> HeadFact:
    """Require that what is derived of a head is what it computes, and that its gap is the least lead."""
    own, head, fact = fact_of(case)
    assert wrongly(own, head, fact) is None
    assert case.gap is not None
    assert gap_of(fact) == least(case.masking, case.gap)
    seen = list(places(own, head, [*WORDS, LONG]))
    found = [value for place in seen for value in place.values.values()]
    (output,) = fact.outputs
    if fact.least_gap > 0:
        for place in seen:
            right = place.reading.number(output.diagram, place.i)
            others = [place.scores[j] for j, value in place.values.items() if value != right]
            assert not others or max(place.scores.values()) - max(others) >= fact.least_gap
    assert output.size == max(map(abs, found))
    assert output.spread == max(found) - min(found)
    return fact


def gap_of(fact: HeadFact) -> Fraction:
    """The least lead over the first position behind, of all cells; 0 if nobody is behind."""
    return min((rule.behind[0].start for rule in fact.rules if rule.behind), default=Fraction(0))


def bounds_of(case: Case) -> tuple[Fraction, ...]:
    """The least values of the case's other functions."""
    return tuple(least(case.masking, bound) for bound in case.bounds)


def require_refused_if_wrong(cases: Sequence[Case], seed: int) -> None:
    """Change some heads: what is derived of them is what they compute, or nothing is."""
    rng = random.Random(seed)
    for _ in range(6):
        case = changed(rng.choice(cases), rng)
        if rng.random() < 0.3:
            case = changed(case, rng)
        try:
            own, head, fact = fact_of(case)
            wrong = wrongly(own, head, fact)
        except (UnprovenError, OverflowError):
            continue
        assert wrong is None, (case, wrong)


def require_refused(text: str, case: Case) -> None:
    """Require that the head has no rule, for that reason."""
    with pytest.raises(UnprovenError, match=text):
        fact_of(case)
