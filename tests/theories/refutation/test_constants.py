"""The constants: against the conditions, exactly where that is possible; and the tables in the documents."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from attemper.theories.refutation.lemma import constants
from attemper.theories.refutation.lemma.constants import (
    Parameters,
    RemovedLayer,
    Variant,
    exponent,
    holds,
    inputs_after,
    layer_above,
    parameters,
)
from attemper.theories.refutation.lemma.said import short

HALF, MOST = Fraction(1, 2), Fraction(9, 10)
DOCUMENT = Path(__file__).parents[3] / "docs" / "depth-reduction.md"
LOCAL_LEMMA = (Variant.PUBLISHED, Variant.PROVED, Variant.TUNED)

EARLIER = {
    # From a coarser grid: k for (published, tuned, alteration), and n for alteration.
    (HALF, 1, 1): (1.9e3, 8.5e2, 14, 59),
    (HALF, 1, 2): (6.1e5, 3.2e4, 5.7e3, 9.2e4),
    (HALF, 1, 3): (7.7e7, 4.9e5, 9.1e4, 4.4e6),
    (HALF, 1, 4): (5.7e9, 5.2e6, 9.7e5, 1.2e8),
    (HALF, 2, 1): (3.1e3, 8.4e2, 17, 139),
    (MOST, 1, 1): (2.5e5, 4.3e4, 113, 254),
    (MOST, 1, 4): (1.8e14, 3.8e10, 3.6e9, 2.6e11),
    (MOST, 2, 1): (4.5e5, 4.3e4, 129, 576),
    (MOST, 2, 4): (3.6e14, 3.8e10, 3.8e9, 5.5e11),
}


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("kept", "heads", "c"), list(EARLIER))
def test_no_constant_is_larger_than_an_earlier_search_found(kept: Fraction, heads: int, c: int) -> None:
    published, tuned, alteration, shortest = EARLIER[kept, heads, c]
    layer = RemovedLayer(c, heads, kept)
    digits = 1.05  # the earlier ones were rounded to two digits
    for variant, earlier in (
        (Variant.PUBLISHED, published),
        (Variant.TUNED, tuned),
        (Variant.ALTERATION, alteration),
    ):
        assert 0.9 * earlier < parameters(variant, layer).k < digits * earlier, variant
    assert 0.97 * shortest < parameters(Variant.ALTERATION, layer).shortest < digits * shortest


def test_alteration_with_one_input_exactly() -> None:
    # eta = 0: q + 2 H (1 - q/2)^K <= 1 - C'/C, in rationals; and one K less will not do for any q.
    for kept, heads, k in ((HALF, 1, 14), (HALF, 2, 17), (MOST, 1, 113), (MOST, 2, 129)):
        found = parameters(Variant.ALTERATION, RemovedLayer(1, heads, kept))
        assert found.k == k
        assert found.q + 2 * heads * (1 - found.q / 2) ** k <= 1 - kept
        assert all(
            Fraction(m, 500) + 2 * heads * (1 - Fraction(m, 1000)) ** (k - 1) > 1 - kept
            for m in range(1, 500)
        )


@pytest.mark.parametrize("variant", LOCAL_LEMMA)
@pytest.mark.parametrize("c", [1, 2])
def test_the_conditions_hold_in_floats_too(variant: Variant, c: int) -> None:
    layer = RemovedLayer(c, 2, HALF)
    found = parameters(variant, layer)
    k, eta, q, delta = found.k, found.eta, found.q, found.delta
    f = 2.0 ** (2 * c if variant is Variant.PUBLISHED else c) * c**2 * k**2 * 2 / eta
    a = 1 / (f + 1) if variant is Variant.TUNED else 1 / k**2
    assert k >= 2**c * c / eta
    assert (1 - 2 * eta) * (1 - (1 + delta) * q) == HALF
    left = k * eta / c**2 * math.log1p(-((q / 2) ** c))
    assert left <= math.log(a) - math.log(2) + f * math.log1p(-a) + 1e-6
    n = found.shortest
    assert -(delta**2) * q * (1 - 2 * eta) * n / 3 <= -math.log(2) + 2**c * 2 * n * math.log1p(-a) + 1e-6
    assert found.inputs_after == c * (2**c * k * 2 + 1) < HALF * n


@pytest.mark.parametrize("variant", list(Variant))
@pytest.mark.parametrize("c", [1, 3])
def test_weaker_parameters_do_not_hold(variant: Variant, c: int) -> None:
    found = parameters(variant, RemovedLayer(c, 1, HALF))
    assert holds(found)
    assert not holds(_with_k(found, found.k * 97 // 100))
    assert not holds(replace(found, shortest=found.shortest * 9 // 10))
    assert not holds(replace(found, q=found.q / 2))
    assert not holds(replace(found, q=found.q + (1 - found.q) * HALF))
    assert not holds(replace(found, layer=replace(found.layer, before=HALF)))
    assert not holds(replace(found, inputs_after=found.inputs_after - 1))


@pytest.mark.parametrize("variant", LOCAL_LEMMA)
def test_the_rates_of_the_local_lemma_must_be_rates(variant: Variant) -> None:
    found = parameters(variant, RemovedLayer(1, 1, HALF))
    assert not holds(replace(found, delta=Fraction(2)))
    assert not holds(replace(found, delta=Fraction(0)))
    assert not holds(replace(found, eta=Fraction(0)))
    # (32) alone, and (4) alone:
    assert not holds(replace(found, delta=found.delta / 2))
    assert not holds(replace(found, delta=found.delta * 2))


def test_chernoffs_bound_is_for_at_most_twice_the_mean() -> None:
    found = parameters(Variant.PUBLISHED, RemovedLayer(1, 1, HALF))
    fixed = found.q * (1 + found.delta)
    generous = replace(_with_k(found, found.k * 100), shortest=found.shortest * 200)
    assert holds(replace(generous, delta=Fraction(1), q=fixed / 2))
    assert not holds(replace(generous, delta=Fraction(2), q=fixed / 3))


def test_alteration_without_stage_1_is_for_one_input() -> None:
    found = parameters(Variant.ALTERATION, RemovedLayer(2, 1, HALF))
    assert found.eta > 0
    assert not holds(replace(found, eta=Fraction(0)))


def _with_k(found: Parameters, k: int) -> Parameters:
    after = inputs_after(found.layer, k)
    return replace(found, k=k, inputs_after=after)


@pytest.mark.parametrize(
    ("variant", "kept", "expected"),
    [
        (Variant.PUBLISHED, HALF, 4521),
        (Variant.PUBLISHED, MOST, 930_791),
        (Variant.TUNED, HALF, 992),
        (Variant.TUNED, MOST, 109_006),
        (Variant.ALTERATION, HALF, 25),
        (Variant.ALTERATION, MOST, 307),
    ],
)
def test_a_second_layer(variant: Variant, kept: Fraction, expected: int) -> None:
    above = layer_above(parameters(variant, RemovedLayer(1, 1, kept)))
    assert above.before == kept
    assert exponent(variant, above) == expected


def test_an_exponent_is_the_size_of_k() -> None:
    layer = RemovedLayer(3, 1, HALF)
    for variant in Variant:
        assert (
            10 ** exponent(variant, layer)
            >= parameters(variant, layer).k
            > 10 ** (exponent(variant, layer) - 1)
        )


@pytest.mark.sweep(3)
@pytest.mark.parametrize("variant", Variant)
@pytest.mark.parametrize(
    ("heads", "kept", "c"), [(7, Fraction(99, 100), 4), (1000, Fraction(999_999, 10**6), 4)]
)
def test_an_exponent_too_long_for_a_float_is_found_in_a_few_steps(
    variant: Variant, heads: int, kept: Fraction, c: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to 10^50: one more at a time would take for ever, as floats know the first digits only."""
    above = layer_above(parameters(variant, RemovedLayer(c, heads, kept)))
    asked: list[int] = []
    has_room = constants._has_room

    def noted(variant: Variant, layer: RemovedLayer, rates: Any, k: Any) -> bool:
        asked.append(k.exponent)
        return has_room(variant, layer, rates, k)

    monkeypatch.setattr(constants, "_has_room", noted)
    found = exponent(variant, above)
    assert found > 10**15
    assert len(asked) <= 20
    less = constants._PowerOfTen(found - found // 10**10)
    assert not has_room(variant, above, constants._searched(variant, above), less)


def test_a_layer_must_make_sense() -> None:
    for wrong in ((0, 1, HALF), (1, 0, HALF), (1, 1, Fraction(1)), (1, 1, Fraction(0))):
        with pytest.raises(ValueError, match=r"layer|share"):
            RemovedLayer(*wrong)
    with pytest.raises(OverflowError, match="digits"):
        parameters(Variant.TUNED, RemovedLayer(201, 1, HALF))


@pytest.mark.sweep(0)
def test_the_table_in_the_documents_is_what_is_computed() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = [
        re.split(r"\s*\|\s*", line.strip("| ")) for line in text.splitlines() if re.match(r"\| 0\.\d", line)
    ]
    assert len(rows) == 16
    for kept, heads, c, *numbers in rows:
        layer = RemovedLayer(int(c), int(heads), Fraction(kept))
        wanted = []
        for variant in (Variant.PUBLISHED, Variant.TUNED, Variant.ALTERATION):
            found = parameters(variant, layer)
            wanted += [short(found.k), short(found.shortest)]
        assert numbers == wanted
