"""Many networks at random: no claim of the checker about one of them is false, judged from the files alone.

300 or 500 of each campaign run always, 10,000 in the slow tests. A campaign that judges too little fails:
then the generator no longer makes what the checker accepts.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import attemper
from attemper.attention_program import meaning
from attemper.attention_program.ops import PROGRAM
from attemper.exact.closed_forms import FORM, I, N, evaluate, over, plus, times
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from tests.support.drawn.hand_built import KINDS
from tests.support.drawn.programs import ProgramSampler
from tests.support.judges.campaign import (
    HEADER,
    Tally,
    hand_built_campaign,
    judge_real,
    mutant_campaign,
    real_campaign,
    source_of,
)
from tests.support.oracles import raw_exact, raw_forward, raw_truth
from tests.support.oracles.raw_files import exact_form, read_folder
from tests.support.oracles.raw_forward import Format, Order, all_words, batch_of, dot, every_way
from tests.support.slowly import every_nth

NORMAL = 175
DEEP = 10_000

SHOWN = Callable[[str, Tally], None]

UNCLAIMED = {"shared"}
"""Kinds of which the rules for floats may refuse all."""


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> SHOWN:
    def shown(name: str, tally: Tally) -> None:
        with capsys.disabled():
            print(f"\n{HEADER}\n{tally.row(name)}")  # noqa: T201 - the counts are what a campaign is for

    return shown


def nothing_false(tally: Tally) -> None:
    assert tally.wrong == 0, "\n".join(map(str, tally.false))


# Campaigns ----------------------------------------------------------------------------------------------


def _hand_built(kind: str, count: int, show: SHOWN) -> None:
    tally = hand_built_campaign(kind, count, "test")
    show(kind, tally)
    nothing_false(tally)
    assert tally.built == count
    assert tally.proved >= count // 5
    assert tally.claimed >= (0 if kind in UNCLAIMED else count // 6)
    assert tally.runs >= 100 * tally.claimed


@pytest.mark.sweep(0)
@pytest.mark.parametrize("kind", every_nth(KINDS, 3))
def test_no_claim_about_a_hand_built_network_is_false(kind: str, show: SHOWN) -> None:
    _hand_built(kind, NORMAL // len(KINDS) + 1, show)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(KINDS))
def test_no_claim_about_many_hand_built_networks_is_false(kind: str, show: SHOWN) -> None:
    # Enough that 10,000 have claims.
    _hand_built(kind, DEEP * 3 // 2 // (len(KINDS) - len(UNCLAIMED)), show)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("part", range(1))
def test_no_claim_about_a_mutant_is_false(part: int, show: SHOWN) -> None:
    tally = mutant_campaign(NORMAL // 5, f"test {part}")
    show("mutants", tally)
    nothing_false(tally)
    assert tally.claimed == NORMAL // 5


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_no_claim_about_many_mutants_is_false(part: int, show: SHOWN) -> None:
    tally = mutant_campaign(DEEP // 20, f"slow test {part}")
    show("mutants", tally)
    nothing_false(tally)
    assert tally.claimed == DEEP // 20


@pytest.mark.sweep(0)
@pytest.mark.parametrize("part", range(2))
def test_no_changed_file_is_proved_that_is_wrong_in_real_arithmetic(part: int, show: SHOWN) -> None:
    tally = real_campaign(NORMAL // 5, f"test {part}", length=4)
    show("real", tally)
    nothing_false(tally)
    assert tally.claimed == NORMAL // 5


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_no_changed_file_of_many_is_proved_that_is_wrong(part: int, show: SHOWN) -> None:
    tally = real_campaign(DEEP // 20, f"slow test {part}", length=6)
    show("real", tally)
    nothing_false(tally)
    assert tally.claimed == DEEP // 20


@pytest.mark.sweep(0)
def test_a_campaign_is_reproducible(tmp_path: Path) -> None:
    """The seed alone says which networks there are and how they are judged."""
    first, second = (hand_built_campaign("select", 3, "again") for _ in range(2))
    assert first == second
    one, other = Tally(), Tally()
    assert judge_real("again", one, tmp_path) == judge_real("again", other, tmp_path)
    assert one == other


# The judge ----------------------------------------------------------------------------------------------

JUDGED = (
    ("a S (b & Y a)", "unbounded"),
    ("(a W b) | (b M a) | F (a & G b)", "temperature"),
    ("#<[a] >= #>[b]", "temperature"),
    ("prime(#<[a]) | pos % 3 == 1", "unbounded"),
    ("WX a -> (a R b) & (a T b)", "temperature"),
)


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("text", "regime"), JUDGED)
def test_the_judge_finds_a_compiled_network_right_in_every_way(
    text: str, regime: str, tmp_path: Path
) -> None:
    model = attemper.compile(text, "ab", regime=regime, at="last")  # type: ignore[arg-type]
    model.save(tmp_path)
    raw, words = read_folder(tmp_path), batch_of(list(all_words(2, 4)))
    expected = raw_truth.truth(source_of(parse(text, model.alphabet)), "ab", words)
    real = np.arange(4)[None, :] < words.lengths[:, None]
    for kernel, name in product(raw_forward.KERNELS, ("float64", "float32")):
        for way in every_way(kernel):
            output = raw_forward.run(raw, words, raw_forward.FORMATS[name], way)
            assert (np.abs(output - expected) <= 0.25)[real].all(), (way, name)
    for word, row in zip(all_words(2, 4), expected, strict=True):
        exact = raw_exact.outputs(raw, word)
        assert all(abs(value - int(bit)) <= 0.25 for value, bit in zip(exact, row, strict=False))


@pytest.mark.parametrize(("text", "regime"), JUDGED)
def test_the_judge_s_truth_is_that_of_the_library(text: str, regime: str) -> None:
    formula = parse(text, attemper.compile("a", "ab").alphabet)
    words = list(all_words(2, 5))
    found = raw_truth.truth(source_of(formula), "ab", batch_of(words))
    for word, row in zip(words, found, strict=True):
        assert tuple(row[: len(word)]) == truth(formula, tuple("ab"[k] for k in word))


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_the_judge_s_meaning_of_programs_is_that_of_the_library(start: int) -> None:
    words = list(all_words(2, 5))
    for seed in range(start, start + 20):
        program = ProgramSampler(random.Random(seed), compiled=False).program(9)
        language = ["program language", PROGRAM.encode(program), "last", False]
        found = raw_truth.truth(language, "ab", batch_of(words))
        for word, row in zip(words, found, strict=True):
            assert tuple(row[: len(word)]) == meaning.output(program, tuple("ab"[k] for k in word))


def test_exact_evaluation_is_within_a_hair_of_float64(tmp_path: Path) -> None:
    attemper.compile("#<[a] >= #>[b]", "ab", regime="unbounded").save(tmp_path)
    raw = read_folder(tmp_path)
    way = every_way("normalise-first")[0]
    for word in all_words(2, 4):
        exact = [float(value.mid()) for value in raw_exact.outputs(raw, word)]
        floats = raw_forward.run(raw, batch_of([word]), raw_forward.FORMATS["float64"], way)[0]
        assert np.abs(floats - exact).max() < 1e-9


def test_closed_forms_are_those_of_the_library() -> None:
    form = plus(times(Fraction(3, 7), I, over(N)), times(-1, N, N))
    for i, n in ((1, 1), (2, 5), (5, 5)):
        assert exact_form(FORM.encode(form), i, n) == evaluate(form, i, n)


@pytest.mark.parametrize("name", ["float64", "float32"])
def test_orders_of_sums_differ_and_are_all_near(name: str) -> None:
    form = raw_forward.FORMATS[name]
    rng = np.random.default_rng(1)
    left, right = (form.narrow(rng.standard_normal(shape)) for shape in ((1, 50, 33), (33, 4)))
    sums = {order: dot(left, right, form, order) for order in Order}
    exact = dot(
        left.astype(np.longdouble), right.astype(np.longdouble), raw_forward.FORMATS["float64"], Order.FUSED
    )
    for order, found in sums.items():
        assert found.dtype == form.wide
        assert np.abs(found - exact).max() < 200 * np.finfo(form.wide).eps, order
    assert (sums[Order.SEQUENTIAL] != sums[Order.REVERSED]).any()
    assert (sums[Order.SEQUENTIAL] != sums[Order.PAIRWISE]).any()
    assert (sums[Order.SEQUENTIAL] != sums[Order.FUSED]).any()


@pytest.mark.parametrize("exponent", [20, -126, -134])
def test_bfloat16_is_rounded_as_torch_rounds_it(exponent: int) -> None:
    """Also to denormal numbers, and to 0."""
    form: Format = raw_forward.FORMATS["bfloat16"]
    numbers = np.ldexp(np.random.default_rng(2).standard_normal(10_000), exponent).astype(np.float32)
    expected = torch.from_numpy(numbers).bfloat16().float().numpy()
    assert (form.narrow(numbers) == expected).all()
