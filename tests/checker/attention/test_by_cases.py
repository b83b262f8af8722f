"""Selections by cases: what is derived is what they compute, every cell is looked at, and at i itself."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import flint
import pytest

from attemper.checker.attention.by_cases import CasesRule
from attemper.checker.constructions.select import SelectRule
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import Off
from attemper.checker.rounding.attention import RoundedHead
from attemper.exact.balls import precision, upper_bound
from attemper.exact.formats import FLOAT64
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Masking
from tests.support.drawn.head_cases import (
    SELECT,
    Case,
    fact_of,
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
    assert isinstance(fact.rule, CasesRule)
    assert len(fact.rule.rules) > 1


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(40))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(cases(), seed)


def test_one_cell_is_the_rule_itself() -> None:
    """Rows whose factors at i cancel need no cases."""
    rows: Rows = [TIE, ({"n": 8}, {"b": -1}), ({"a": 3}, {"b": -1}), ({"b": 3}, {"b": -1})]
    assert isinstance(fact_of(by_cases(LEFT, TIE, ({"i": 8}, {"b": -1})))[2].rule, SelectRule)
    own, head, fact = fact_of(Case(SELECT, LEFT, rows, VALUE))
    assert isinstance(fact.rule, SelectRule)
    assert wrongly(own, head, fact) is None


def test_a_strict_mask_moves_what_is_read_and_not_the_case() -> None:
    """The letter of i says what is looked for among j < i: at i = 2 of `ab` b, which is not there."""
    own, head, fact = fact_of(equal_letters(STRICT_LEFT, TIE))
    names = own.names
    (output,) = fact.outputs
    value = own.sum_of(VALUE)

    def weak(here: str) -> int:
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
        "blocked positions can win",
        by_cases(LEFT, TIE, ({"i": 8}, {"b": -1}), ({"i a": -5}, {"b": -1})),
    ),
    "bits do not grow": ("blocked positions can win", by_cases(LEFT, TIE, ({"a": 8}, {"b": -1}))),
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
        assert isinstance(fact.rule, CasesRule)
        assert len(fact.rule.rules) == modulus


def test_the_bound_is_the_worst_of_all_cells() -> None:
    """4 per step where a holds and 2 elsewhere; what blocks is as strong as it is where it is weakest."""
    own, head, fact = fact_of(by_cases(LEFT, ({"1": 2, "a": 2}, {"i": 1}), ({"i": 8}, {"b": -1})))
    assert isinstance(fact.rule, CasesRule)
    assert fact.rule.gap == 2
    singles = [
        fact_of(by_cases(LEFT, ({"1": size}, {"i": 1}), ({"i": 8}, {"b": -1})))[2].rule for size in (2, 4)
    ]
    assert wrongly(own, head, fact) is None
    with precision(100):
        loss, noise = flint.arb(1) / 4, flint.arb(2)
        strays = [upper_bound(rule.stray(loss, noise)) for rule in singles]
        assert strays[1] < strays[0]
        assert upper_bound(fact.rule.stray(loss, noise)) == strays[0]


# Floats --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """A rule of which it is known how far each output is off."""

    offs_: tuple[Off, ...]
    gap: Fraction = Fraction(1)

    def stray(self, loss: flint.arb, noise: flint.arb) -> flint.arb:
        return loss * noise

    def offs(self, _: RoundedHead) -> list[Off]:
        return list(self.offs_)


def test_each_output_is_off_by_the_most_of_all_cells() -> None:
    run, analysis = run_at(selecting(), FLOAT64, 3)
    one, two, most = (off_of(*map(flint.arb, own)) for own in ((1, 5, 2, 8), (4, 3, 7, 6), (4, 5, 7, 8)))
    rule = CasesRule((Known((one, two)), Known((two, one))))
    assert list(map(vars, rule.offs(rounded_at(run, analysis)))) == [vars(most), vars(most)]
