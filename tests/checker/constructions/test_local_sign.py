"""Local sign heads: what is derived is what they compute, and their conditions are needed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from attemper.checker.attention.leads import Trail
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rules import HeadFact, Rule
from attemper.exact.closed_forms import I, number
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import (
    Layer,
    LocalSign,
)
from tests.support.drawn.head_cases import (
    HALVES,
    LOCAL_SIGN,
    WORDS,
    Case,
    fact_of,
    local_sign,
    local_sign_rows,
    palette,
    require_refused,
    require_refused_if_wrong,
    require_what_is_computed,
    with_rows,
    wrongly,
)
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, places
from tests.support.judges.rounding import (
    LEAST,
    RANGE,
    SUMS,
    U,
    cold_of,
    each_format,
    finely,
    fraction,
    is_same,
    loss_of,
    rounded_row,
    run_at,
    selecting,
)

prepare = palette
LOCAL_SIGNS = [
    Case(LOCAL_SIGN, ALL, local_sign_rows(name, 6), {"sign": 1, "1": 1}, gap=lambda i, n: 1)
    for name in HALVES
]
BALANCED = Case(LOCAL_SIGN, ALL, local_sign_rows("both", 3), {"sign": 1})


@pytest.mark.sweep(2)
@pytest.mark.parametrize("case", LOCAL_SIGNS)
def test_what_is_derived_of_a_head_is_what_it_computes(case: Case) -> None:
    require_rule(require_what_is_computed(case), Fraction(1, 2))


def require_rule(fact: HeadFact, gap: Fraction) -> None:
    """Require three positions in the middle to be behind by 2 gap, and others from there by 6 gap a step."""
    behind = (*[Trail(2 * gap)] * 3, *[Trail(6 * gap, 6 * gap)] * 2)
    assert fact.rules == (Rule(LocalSign, behind, said=gap),)


@pytest.mark.parametrize("seed", range(8))
def test_changed_heads_are_refused_or_do_what_is_derived(seed: int) -> None:
    require_refused_if_wrong(LOCAL_SIGNS, seed)


REFUSED: dict[str, tuple[str, Case]] = {
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
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_head_without_a_side_condition_is_refused(name: str) -> None:
    require_refused(*REFUSED[name])


@pytest.mark.sweep(7)
@pytest.mark.parametrize("scale", [Fraction(1, 4), Fraction(3, 2), Fraction(5)])
@pytest.mark.parametrize("name", HALVES)
def test_local_signs_in_other_units(name: str, scale: Fraction) -> None:
    rows = [({k: scale * v for k, v in query.items()}, key) for query, key in local_sign_rows(name, 6)]
    own, head, fact = fact_of(Case(LOCAL_SIGN, ALL, rows, {"sign": 1}))
    require_rule(fact, scale / 2)
    if scale >= 1:
        assert wrongly(own, head, fact) is None


def test_a_local_sign_with_a_flat_parabola_of_small_units() -> None:
    quarter = Fraction(1, 4)
    rows = [({k: quarter * v for k, v in query.items()}, key) for query, key in local_sign_rows("both", 3)]
    own, head, fact = fact_of(Case(LOCAL_SIGN, ALL, rows, {"sign": 1}))
    require_rule(fact, quarter / 2)
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
        require_rule(fact(*local_sign_rows(name, enough)), Fraction(1, 2))  # type: ignore[arg-type]
        with pytest.raises(UnprovenError, match="too flat"):
            fact(*local_sign_rows(name, enough - Fraction(1, 64)))  # type: ignore[arg-type]


@pytest.mark.parametrize("half", [Fraction(-9, 2), Fraction(-5, 2), Fraction(7, 2)])
def test_local_signs_far_from_balance(half: Fraction) -> None:
    own = Palette()
    local_sign(own, "far", 2, -1, (0, half, 0))
    rows = [({k: 5 * v for k, v in query.items()}, key) for query, key in local_sign_rows("far", 6)]
    head = own.head(LOCAL_SIGN, ALL, rows, {"sign": 1})
    assert wrongly(own, head, head_fact(own.names, head, own.stream())) is None


# Floats --------------------------------------------------------------------------------------------


@finely
@each_format
@pytest.mark.parametrize("is_exact", [True, False])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("length", [3, 300])
def test_what_a_local_sign_head_loses(format_: FloatFormat, is_exact: bool, count: int, length: int) -> None:
    """Twice the absolute errors of a score, against twice the gap."""
    network = selecting(step=3)
    own = network.layers[0].heads[0]
    network = replace(
        network, layers=(Layer((replace(own, query=own.query[:count], key=own.key[:count]),), (), ()),)
    )
    run, analysis = run_at(network, format_, length)
    gap = Fraction(3, 2)
    before, cold = analysis.layers[0].before, cold_of(run, number(3), is_exact)
    own = network.layers[0].heads[0]
    pairs = zip(own.query, own.key, strict=True)
    rows = [rounded_row(run.lengths, *pair, cold, before, run.offs).scored for pair in pairs]
    u, name = U[format_.name], format_.name
    absolute = sum(fraction(row.product.absolute) for row in rows)
    sizes = sum(fraction(row.product.size) for row in rows)
    rate = Fraction(8, 7) * (count - 1) * SUMS[name]
    if name == "bfloat16" and count > 1:
        rate += 2 * u * (1 + rate)
    if not is_exact:
        # The temperature may meet the sum of the rows, and a score of one row, too.
        rate = (1 + rate) * (1 + u) - 1 + u if count > 1 else u
    underflow = 4 * count * (Fraction(1, RANGE[name]) + LEAST[name] * (1 + 3))
    expected = (absolute + rate * (sizes + absolute) + underflow) / gap
    fact = HeadFact((Rule(LocalSign, said=gap),), ())
    assert is_same(loss_of(run, analysis, fact, cold), expected)
