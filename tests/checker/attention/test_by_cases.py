"""Selections by cases: what is derived is what they compute, every cell is looked at, and at i itself."""

from __future__ import annotations

from dataclasses import replace

import flint
import pytest

from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding import rules
from attemper.checker.rounding.rules import offs_of
from attemper.checker.rules import HeadFact, Rule
from attemper.exact.balls import precision, upper_bound
from attemper.exact.formats import FLOAT64
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Masking, Select
from tests.support.drawn.head_cases import (
    SELECT,
    Case,
    fact_of,
    gap_of,
    palette,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Rows
from tests.support.judges.rounding import off_of, rounded_at, run_at, selecting

STRICT_LEFT, STRICT_RIGHT = Masking.STRICT_FUTURE, Masking.STRICT_PAST

prepare = palette

TIE: tuple[Form, Form] = ({"1": 4}, {"i": 1})
BACK: tuple[Form, Form] = ({"1": 4}, {"i": -1})
INVERSE: tuple[Form, Form] = ({"n^2": 4}, {"1/i": -1})

VALUE: Form = {"a": 1, "sign": 2, "third": 5}


def by_cases(masking: Masking, *rows: tuple[Form, Form], gap: int = 4) -> Case:
    return Case(SELECT, masking, rows, VALUE, gap=lambda i, n: gap)


def equal_letters(masking: Masking, tie: tuple[Form, Form]) -> Case:
    """The nearest position with the letter of i."""
    wide = {"n^2": 8} if "1/i" in tie[1] else {"n": 8}
    own = palette()
    (reach, factor), *_ = wide.items()
    rows = []
    for letter, other in (("a", "b"), ("b", "a")):
        name = f"{reach} {letter}"
        own.values.setdefault(name, {next(iter(own.values[reach])): own.names.letter(letter)})
        rows.append(({name: factor}, {other: -1}))
    return by_cases(masking, tie, *rows)


def distant(distance: int) -> Case:
    """The position `distance` before i, by remainders of i and j."""
    own, modulus, rows = palette(), distance + 1, []
    for r in range(modulus):
        here = own.names.place(Remainder(modulus, (r + distance) % modulus), 1, 0, 0)
        own.values.setdefault(f"n at {r}+{distance} mod {modulus}", {(0, 1): here})
        own.add(f"not {r} mod {modulus}", own.names.negation(own.names.place(Remainder(modulus, r), 1, 0, 0)))
        rows.append(({f"n at {r}+{distance} mod {modulus}": 8}, {f"not {r} mod {modulus}": -1}))
    return by_cases(LEFT, TIE, *rows)


def cases() -> list[Case]:
    own = palette()
    for name in ("a", "b", "third", "first"):
        own.values.setdefault(f"n {name}", {(0, 1): own.values[name][0, 0]})
        own.values.setdefault(f"i {name}", {(1, 0): own.values[name][0, 0]})
    return [
        *(equal_letters(masking, TIE) for masking in Masking),
        *(equal_letters(masking, BACK) for masking in Masking),
        *(equal_letters(masking, INVERSE) for masking in (ALL,)),
        *(distant(distance) for distance in (1, 2, 3, 5)),
        # One case, in force at some positions only; elsewhere the nearest position is read.
        *(by_cases(masking, TIE, ({"n a": 8}, {"b": -1})) for masking in Masking),
        by_cases(STRICT_RIGHT, BACK, ({"n third": 8}, {"b": -1})),
        # Two that can be in force at once, and two with one key.
        by_cases(LEFT, TIE, ({"n a": 8}, {"b": -1}), ({"n third": 8}, {"sign": -1})),
        by_cases(STRICT_LEFT, TIE, ({"n a": 8}, {"b": -1}), ({"n third": 24}, {"sign": -1})),
        by_cases(ALL, BACK, ({"n a": 8}, {"b": -1}), ({"n third": 8}, {"b": -2})),
        # Beside a case that is in force everywhere; away from something here, towards something there.
        by_cases(LEFT, TIE, ({"i": 8}, {"b": -1}), ({"i a": 16}, {"third": -1})),
        by_cases(STRICT_LEFT, BACK, ({"n a": 8, "n b": -8}, {"b": -1})),
        # Steps of different sizes: the least counts.
        by_cases(LEFT, ({"1": 4, "a": 2}, {"i": 1}), ({"n": 12}, {"b": -1})),
        by_cases(RIGHT, ({"a": 4, "b": -4}, {"i": 1}), ({"n first": 8}, {"b": -1})),
        # One that only the first position has.
        by_cases(STRICT_LEFT, TIE, ({"n first": 8}, {"b": -1})),
        by_cases(RIGHT, TIE, ({"n first": 8}, {"b": -1})),
    ]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("number", range(len(cases())))
def test_what_is_derived_of_a_head_is_what_it_computes(number: int) -> None:
    fact = require_what_is_computed(cases()[number])
    assert len(fact.rules) > 1


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(40))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(cases(), seed)


def test_one_cell_is_the_rule_itself() -> None:
    """Rows whose factors at i cancel need no cases."""
    rows: Rows = [TIE, ({"n": 8}, {"b": -1}), ({"a": 3}, {"b": -1}), ({"b": 3}, {"b": -1})]
    assert len(fact_of(by_cases(LEFT, TIE, ({"i": 8}, {"b": -1})))[2].rules) == 1
    own, head, fact = fact_of(Case(SELECT, LEFT, rows, VALUE))
    assert len(fact.rules) == 1
    assert wrongly(own, head, fact) is None


def test_a_strict_mask_moves_what_is_read_and_not_the_case() -> None:
    """The letter of i says what is looked for among j < i: at i = 2 of `ab` b, which is not there."""
    own, head, fact = fact_of(equal_letters(STRICT_LEFT, TIE))
    names = own.names
    (output,) = fact.outputs
    value = own.sum_of(VALUE)

    def weak(here: str) -> Diagram:
        found, fallen = (
            names.positions.chosen(LEFT, False, names.letter(letter), value)
            for letter in (here, "b" if here == "a" else "a")
        )
        return names.choose(names.positions.exists(LEFT, names.letter(here)), found, fallen)

    before = {here: names.positions.shifted(weak(here), -1, names.false) for here in "ab"}
    assert output.diagram == names.choose(names.letter("a"), before["a"], before["b"])
    moved = names.positions.shifted(names.choose(names.letter("a"), weak("a"), weak("b")), -1, names.false)
    assert output.diagram != moved
    assert wrongly(own, head, fact) is None


REFUSED = {
    "no tie-break in one cell": ("no tie-break", by_cases(LEFT, ({"a": 4}, {"i": 1}))),
    "two tie-breaks in one cell": ("no tie-break", by_cases(LEFT, TIE, ({"a": 1}, {"1/i": 1}))),
    "weak push in one cell": (
        "other positions can win",
        by_cases(LEFT, TIE, ({"i": 8}, {"b": -1}), ({"i a": -5}, {"b": -1})),
    ),
    "bits do not grow": ("other positions can win", by_cases(LEFT, TIE, ({"a": 8}, {"b": -1}))),
    "an average": ("depends on the word", by_cases(LEFT, TIE, ({"a left": 8}, {"b": -1}))),
    "a sign that fades": ("not proved|not positive", by_cases(LEFT, ({"1": 4, "i a": -1}, {"i": 1}))),
    "an approximate bit": ("only approximate", by_cases(LEFT, TIE, ({"rough": 8}, {"b": -1}))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_every_cell_needs_the_side_conditions(name: str) -> None:
    require_refused(*REFUSED[name])


@pytest.mark.parametrize("modulus", [15, 16, 17])
def test_there_are_not_too_many_cells(modulus: int) -> None:
    """16: FORMAT.md, section 5."""
    own = Palette()
    for r in range(modulus):
        own.add(f"at {r}", own.names.place(Remainder(modulus, r), 1, 0, 0))
    rows: Rows = [({f"at {r}": 4 + r for r in range(modulus)}, {"i": 1})]
    head = own.head(SELECT, LEFT, rows, {"a": 1})
    if modulus > 16:
        with pytest.raises(UnprovenError, match="more than 16 cases"):
            head_fact(own.names, head, own.stream())
    else:
        fact = head_fact(own.names, head, own.stream())
        assert sorted(rule.behind[0].start for rule in fact.rules) == [4 + r for r in range(modulus)]


def test_the_bound_is_the_worst_of_all_cells() -> None:
    """4 per step where a holds and 2 elsewhere; what blocks is as strong as it is where it is weakest."""
    own, head, fact = fact_of(by_cases(LEFT, ({"1": 2, "a": 2}, {"i": 1}), ({"i": 8}, {"b": -1})))
    assert gap_of(fact) == 2
    singles = [fact_of(by_cases(LEFT, ({"1": size}, {"i": 1}), ({"i": 8}, {"b": -1})))[2] for size in (2, 4)]
    assert {(rule.behind, rule.ahead) for rule in fact.rules} == {
        (rule.behind, rule.ahead) for single in singles for rule in single.rules
    }
    assert wrongly(own, head, fact) is None
    with precision(100):
        strays = [upper_bound(single.stray_mass) for single in singles]
        assert strays[1] < strays[0]
        assert upper_bound(fact.stray_mass) == strays[0]


# Floats --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("aparts", "most"), [((1, 2), 2), ((3, 2), 3), ((None, 2), None), ((1, None), None), ((None, None), None)]
)
def test_each_output_is_off_by_the_most_of_all_cells(
    aparts: tuple[int | None, int | None], most: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, analysis = run_at(selecting(), FLOAT64, 3)
    one, two, worst = (
        replace(off_of(*map(flint.arb, own)), apart=None if apart is None else flint.arb(apart))
        for own, apart in (((1, 5, 2, 8), aparts[0]), ((4, 3, 7, 6), aparts[1]), ((4, 5, 7, 8), most))
    )
    known = {0: [one, two], 1: [two, one]}
    monkeypatch.setattr(rules, "_offs", lambda rule, _: known[rule.said])
    cells = tuple(Rule(Select, said=number) for number in known)
    computed = rounded_at(run, analysis)
    assert list(map(vars, offs_of(HeadFact(cells, ()), computed))) == [vars(worst), vars(worst)]
    assert offs_of(HeadFact(cells[:1], ()), computed) == [one, two]
