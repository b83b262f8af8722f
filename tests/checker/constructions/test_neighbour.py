"""Neighbours: what is derived is what they compute, bounds are the least, conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from attemper.checker.attention.leads import Trail
from attemper.checker.rounding import attention, rules
from attemper.checker.rounding.arithmetic import BeyondError, OfNumber, as_number
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import Rule
from attemper.exact.balls import ball
from attemper.exact.formats import BFLOAT16
from attemper.networks.layers import (
    Masking,
    Neighbour,
)
from tests.support.drawn.head_cases import (
    NEIGHBOUR,
    Case,
    bounds_of,
    fact_of,
    gap_of,
    palette,
    reach,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    with_rows,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Rows
from tests.support.judges.rounding import (
    RANGE,
    U,
    finely,
    is_same,
    noise_at,
    rounded_at,
    run_at,
    shifting,
    sums_at,
)

prepare = palette


def neighbour(masking: Masking, inverse: bool, w: tuple[str, int], strength: int) -> Case:
    sign = 1 if masking is LEFT else -1
    size: Form = (
        {"1": strength} if not inverse else {"i^2": strength} if masking is LEFT else {"n^2": strength}
    )
    tie: Form = {"1/i": -sign} if inverse else {"i": sign}
    name, factor = w
    r = reach(masking)

    def turn(i: int, n: int) -> int:
        return 2 * factor * (1 if name == "sign" else i if name == "i sign" else n)

    def own(i: int, n: int) -> Fraction | int:
        return turn(i, n) - (Fraction(2 * strength * r(i, n) ** 2, i * i) if inverse else strength)

    def parity(i: int, n: int) -> int:
        return turn(i, n) + strength

    def further(i: int, n: int) -> int:
        """Two steps further; the word is so much longer, too."""
        return 2 * (strength + (0 if name == "sign" else 2 * factor))

    rows = [({name: -factor}, {"sign": 1}), (size, tie)]
    bounds = (own, parity, further)
    return Case(NEIGHBOUR, masking, rows, {"a": 1}, gap=lambda i, n: 2 * strength, bounds=bounds)


NEIGHBOURS = [
    neighbour(LEFT, False, ("sign", 6), 4),
    neighbour(LEFT, False, ("i sign", 6), 2),
    neighbour(LEFT, True, ("sign", 9), 4),
    neighbour(RIGHT, False, ("sign", 6), 4),
    neighbour(RIGHT, False, ("n sign", 6), 5),
]
TURN: tuple[Form, Form] = ({"sign": -6}, {"sign": 1})
UP: tuple[Form, Form] = ({"1": 4}, {"i": 1})


@pytest.mark.parametrize("case", NEIGHBOURS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    fact = require_what_is_computed(case)
    require_tails(fact.rules, gap_of(fact), *bounds_of(case))


def require_tails(
    rules: tuple[Rule, ...], gap: Fraction, own: Fraction, parity: Fraction, further: Fraction
) -> None:
    """Require of both cells: who is of the neighbour's parity, in steps of `gap`; who is of i's; i itself."""
    assert [rule.construction for rule in rules] == [Neighbour] * 2
    for rule in rules:
        assert rule.behind == (Trail(gap, gap), Trail(parity, further))
        assert rule.ahead == (Trail(own),)


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(NEIGHBOURS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
    "neighbour without turns": ("not those of a neighbour", Case(NEIGHBOUR, LEFT, [UP], {"a": 1})),
    "neighbour without a tie-break": ("no tie-break", Case(NEIGHBOUR, LEFT, [TURN], {"a": 1})),
    "neighbour of all": ("points away", Case(NEIGHBOUR, ALL, [TURN, UP], {"a": 1})),
    "neighbour with two tie-breaks": (
        "no tie-break",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"1": 1}, {"1/i": -1})], {"a": 1}),
    ),
    "neighbour with growing turns": (
        "no tie-break",
        Case(NEIGHBOUR, LEFT, [TURN, UP, ({"sign": -6}, {"i sign": 1})], {"a": 1}),
    ),
    "neighbour of a letter": (
        "not those of a neighbour",
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
        "other positions can win",
        Case(NEIGHBOUR, LEFT, [({"sign/i": -6}, {"sign": 1}), ({"i": 4}, {"i": 1})], {"a": 1}),
    ),
    "neighbour whose parity wins no more in long words": (
        "other positions can win",
        Case(NEIGHBOUR, LEFT, [({"sign": -9, "n sign": 4}, {"sign": 1}), UP], {"a": 1}),
    ),
    "neighbour whose tie-break fades": (
        "the tie-break fades",
        Case(NEIGHBOUR, LEFT, [TURN, ({"1/i": 4}, {"i": 1})], {"a": 1}),
    ),
    "neighbour of the same parity": (
        "does not look for the other parity",
        Case(NEIGHBOUR, LEFT, [({"sign": 6}, {"sign": 1}), UP], {"a": 1}),
    ),
    "neighbour of one parity": (
        "does not look for the other parity",
        Case(NEIGHBOUR, LEFT, [({"1": 6}, {"sign": 1}), UP], {"a": 1}),
    ),
    "neighbour of a threshold": (
        "not those of a neighbour",
        with_rows(NEIGHBOURS[0], ({"1": 1}, {"i >= 3": 1})),
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


def test_what_grows_with_the_length_in_keys_is_a_factor_of_the_query() -> None:
    rows: Rows = [({"sign": -6}, {"n sign": 1}), ({"1": 4}, {"i": 1})]
    own, head, fact = fact_of(Case(NEIGHBOUR, LEFT, rows, {"a": 1}))
    require_tails(fact.rules, *map(Fraction, (8, 20, 28, 32)))
    assert wrongly(own, head, fact) is None


def test_a_lead_below_0_is_a_bound() -> None:
    """The other parity is 12 / i ahead, and so i itself in long words, by up to 4."""
    own, head, fact = fact_of(Case(NEIGHBOUR, LEFT, [({"sign/i": -6}, {"sign": 1}), UP], {"a": 1}))
    require_tails(fact.rules, *map(Fraction, (8, -4, 4, 8)))
    assert fact.least_gap == -4
    assert wrongly(own, head, fact) is None


# Floats --------------------------------------------------------------------------------------------


@finely
def test_a_shift_loses_as_much_as_its_worst_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of either parity of i. Two steps off, all of one step off, and i itself: 8, 20 and 12 behind."""
    name, most, u = "bfloat16", Fraction(3, 4), U["bfloat16"]

    def stray(near: Fraction, ahead: Fraction) -> flint.arb:
        first, second, own, step = (
            ball(-lead * (1 - part - 2 * u)).exp()
            for lead, part in ((8, near), (20, near), (12, ahead), (8, near))
        )
        weight = ((first + second) / (1 - step) + own) * ball(noise_at(name))
        return weight / (1 + weight)

    rest = noise_at(name) * (1 + sums_at(name, 3)) - 1 + Fraction(4, RANGE[name])
    little = Fraction(1, 8)
    for parts in (
        [(most, little), (little, little)],
        [(little, most), (little, little)],
        [(little, little), (little, most)],
        [(little, most), (most, little)],
    ):
        asked = iter(parts)
        monkeypatch.setattr(attention, "losses", lambda *_, asked=asked: tuple(map(ball, next(asked))))
        run, analysis = run_at(shifting(), BFLOAT16, 3)
        [fact], computed = analysis.layers[0].heads, rounded_at(run, analysis)
        [off] = offs_of(fact, computed)
        assert next(asked, None) is None
        expected = stray(*parts[0]).max(stray(*parts[1])) + ball(rest)
        assert is_same(as_number(off).at_zero, expected)
        assert is_same(computed.lost_shares["the head"], most / Fraction(15, 16))


def test_a_head_is_off_by_the_worst_of_its_rules_in_every_respect(monkeypatch: pytest.MonkeyPatch) -> None:
    run, analysis = run_at(shifting(), BFLOAT16, 3)
    [fact], computed = analysis.layers[0].heads, rounded_at(run, analysis)
    (first, second), third = fact.rules, Rule(Neighbour)
    fact = replace(fact, rules=(first, second, third))

    def worst(offs: list[list[int]], aparts: list[int | None]) -> OfNumber:
        every = [None if own is None else flint.arb(own) for own in aparts]
        found = [OfNumber(*map(flint.arb, own), apart=last) for own, last in zip(offs, every, strict=True)]
        by_rule = dict(zip(map(id, fact.rules), found, strict=True))
        monkeypatch.setattr(rules, "_offs", lambda rule, _: [by_rule[id(rule)]])
        [off] = offs_of(fact, computed)
        return as_number(off)

    off = worst([[1, 6, 5, 7], [3, 4, 9, 8], [2, 5, 6, 9]], [2, 5, 3])
    assert [off.at_zero, off.elsewhere, off.average, off.relative, off.apart] == [3, 6, 9, 9, 5]
    for aparts in ([None, 5, 3], [2, None, 3], [2, 5, None], [None, None, 3]):
        assert worst([[1] * 4] * 3, [*aparts]).apart is None


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("cell", [0, 1])
def test_no_pair_may_lose_more_than_15_of_16(side: int, cell: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for lost, is_covered in ((Fraction(15, 16), True), (Fraction(61, 64), False)):
        parts = [[Fraction(1, 8), Fraction(1, 8)] for _ in range(2)]
        parts[cell][side] = lost
        asked = iter(parts)
        monkeypatch.setattr(attention, "losses", lambda *_, asked=asked: tuple(map(ball, next(asked))))
        run, analysis = run_at(shifting(), BFLOAT16, 3)
        [fact], computed = analysis.layers[0].heads, rounded_at(run, analysis)
        if is_covered:
            offs_of(fact, computed)
        else:
            with pytest.raises(BeyondError, match=r"^the head$"):
                offs_of(fact, computed)
