"""Compiled networks with capped logits: which growth each head needs, and which assumption it breaks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import attemper
from attemper.errors import OptionError, UnsupportedError
from attemper.exact.closed_forms import FIRST as FIRST_PLACE
from attemper.exact.closed_forms import SIGN, ClosedForm, Digits, I, N, Power, over, plus, times
from attemper.theories.influence.search.bridge import (
    Bridge,
    CappedRow,
    Trial,
    bridge,
    capped,
    ranges,
    simple_words,
)
from attemper.theories.influence.search.logit_ranges import TRIED, parse_logit_range
from attemper.theories.influence.search.subjects import of_model
from attemper.workbench.report.assumptions import Boundedness, is_bounded, one_symbol
from tests.support.cli.command_line import attemper as command

PARITY, MAJORITY, FIRST = "#<['1'] % 2 = 0", "#<['0'] <= #<['1']", "O ('1' & !(Y '0' | Y '1'))"
PREVIOUS, SINCE = "Y '1'", "'0' S '1'"


def bridged(formula: str, cap: str, *lengths: int, samples: int = 8) -> Bridge:
    model = attemper.compile(formula, "01", regime="temperature")
    parsed = parse_logit_range(cap)
    return bridge(model, parsed, lengths, samples=samples, seed=0, seconds=600, report=lambda _: None)


def row_of(formula: str, cap: str, n: int) -> CappedRow:
    model = attemper.compile(formula, "01", regime="temperature")
    return Trial(model, samples=8, seed=0).row(parse_logit_range(cap), n)


def random_influence(formula: str, cap: str, n: int) -> float:
    return row_of(formula, cap, n).capped_random


def influence(formula: str, cap: str, n: int) -> float:
    row = row_of(formula, cap, n)
    return max(row.capped_random, row.capped_simple)


@pytest.mark.parametrize(
    ("text", "n", "value"),
    [
        ("8", 100, 8.0),
        ("4 log n", 100, 4 * np.log(100)),
        ("log n", 100, np.log(100)),
        ("n", 100, 100.0),
        ("4n", 100, 400.0),
        ("4*n", 100, 400.0),
        ("n^1.5", 100, 1000.0),
        ("n^3/2", 100, 500000.0),
        ("n^2", 100, 10000.0),
        (" n^2 / 16 ", 8, 4.0),
        ("1/2 n", 8, 4.0),
        ("0.5n", 8, 4.0),
    ],
)
def test_a_cap_is_read_as_it_is_written(text: str, n: int, value: float) -> None:
    assert parse_logit_range(text).at(n) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text", ["", "m", "n^", "^2", "n^-1", "0", "n/0", "0n", "nn", "n^17", "exp n", "/2", "8 8"]
)
def test_other_caps_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="logit_range="):
        parse_logit_range(text)


def test_the_caps_that_are_tried_grow() -> None:
    values = [cap.at(10**6) for cap in TRIED]
    assert values == sorted(values)


def test_a_cap_lowers_the_range_that_it_is_about() -> None:
    """A head that is multiplied by s(n)/r(n) has the range s(n), and others keep theirs."""
    model = attemper.compile(PARITY, "01", regime="temperature")
    words = simple_words(of_model(model).frame, 12)
    before = ranges(model, words)
    assert before[1, 1] > 100 > before[0, 0] == 0
    whole = capped(model, {head: 1.0 for head in before})(words)
    np.testing.assert_array_equal(whole, capped(model, {})(words))
    blurred = capped(model, {(1, 1): 8 / before[1, 1]})(words)
    assert np.abs(blurred - whole).max() > 0.5


@pytest.mark.sweep(0)
def test_the_lookup_of_parity_needs_n_squared() -> None:
    assert random_influence(PARITY, "n^2", 64) > 0.99
    for cap in ("8", "4 log n", "n", "n^1.5"):
        assert random_influence(PARITY, cap, 64) < 0.01
    found = bridged(PARITY, "n^2", 16, 32)
    assert [head.construction for head in found.heads] == ["Uniform", "Sign", "Lookup"]
    assert found.heads[0].needs == "8"
    assert found.heads[2].needs in {"n^2", "4n^2"}
    assert [head.breaks for head in found.heads] == ["O(1/n)", "more: temperature", "more: temperature"]
    assert found.finished


@pytest.mark.sweep(0)
def test_signs_and_neighbours_need_n_and_selections_log_n() -> None:
    for formula in (MAJORITY, PREVIOUS):
        found = bridged(formula, "4n", 16, 64)
        assert found.rows[-1].capped_random == pytest.approx(1, abs=1e-3)
        assert found.rows[-1].wrong == 0
        assert found.heads[-1].needs in {"n", "4n"}
        assert influence(formula, "4 log n", 64) < 0.4
    for formula in (FIRST, SINCE):
        assert influence(formula, "4 log n", 64) == pytest.approx(1, abs=1e-3)
    assert bridged(SINCE, "n", 16, 64).heads[0].needs in {"8", "4 log n"}


@pytest.mark.slow
def test_the_table_of_the_bridge() -> None:
    """Random words for PARITY; the others on random and simple ones."""
    assert random_influence(PARITY, "n^2", 512) == pytest.approx(1, abs=5e-4)
    for cap in ("8", "4 log n", "n", "n^1.5"):
        assert random_influence(PARITY, cap, 512) < 1e-3
    for formula in (MAJORITY, PREVIOUS):
        assert influence(formula, "4n", 256) == pytest.approx(1, abs=5e-4)
        assert influence(formula, "8", 256) < 0.15
        assert influence(formula, "4 log n", 256) < 0.15
    for formula in (FIRST, SINCE):
        for n in (16, 64, 256):
            assert influence(formula, "4 log n", n) == pytest.approx(1, abs=5e-4)


def test_time_and_interrupts_leave_what_there_is() -> None:
    model = attemper.compile(PREVIOUS, "01", regime="temperature")
    cap = parse_logit_range("n")
    late = bridge(model, cap, (8, 16), samples=2, seed=0, seconds=0, report=lambda _: None)
    assert (len(late.rows), late.finished, [head.needs for head in late.heads]) == (1, False, [None])

    def interrupt(text: str) -> None:
        if text.startswith("layer"):
            raise KeyboardInterrupt

    stopped = bridge(model, cap, (8,), samples=2, seed=0, seconds=60, report=interrupt)
    assert (len(stopped.rows), stopped.heads, stopped.interrupted) == (1, (), True)


def test_networks_that_put_out_numbers_are_refused() -> None:
    model = attemper.compile(attemper.program("alphabet a b\noutput count[j <= i] in 'a'"))
    with pytest.raises(UnsupportedError, match="numbers"):
        bridge(model, parse_logit_range("n"), (8,), samples=2, seed=0, seconds=9, report=lambda _: None)


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize("formula", [PARITY, MAJORITY, FIRST, PREVIOUS, SINCE, "#<['1'] % 3 = 1 & O '0'"])
def test_every_network_breaks_exactly_one_assumption(formula: str, regime: str) -> None:
    model = attemper.compile(formula, "01", regime=regime)  # type: ignore[arg-type]
    answers = [answer.value for layer in one_symbol(model.network) for answer in layer]
    kinds = [type(head.construction).__name__ for layer in model.network.layers for head in layer.heads]
    broken = "more: unbounded positions" if regime == "unbounded" else "more: temperature"
    assert answers == ["O(1/n)" if kind == "Uniform" else broken for kind in kinds]


def test_a_head_that_averages_what_others_have_written_is_no_exception() -> None:
    """One symbol can turn every prefix's parity: the average of these bits is not O(1/n)."""
    model = attemper.compile("#<[#<['1'] % 2 = 0] <= #<['1']", "01", regime="temperature")
    heads = [
        (number, type(head.construction).__name__, answer.value)
        for number, (layer, answers) in enumerate(
            zip(model.network.layers, one_symbol(model.network), strict=True)
        )
        for head, answer in zip(layer.heads, answers, strict=True)
    ]
    averages = [(number, answer) for number, kind, answer in heads if kind == "Uniform"]
    assert averages[0] == (0, "O(1/n)")
    assert averages[-1][0] > 0
    assert averages[-1][1] == "more: what it reads"


UNBOUNDED: list[tuple[Callable[[], ClosedForm], Boundedness]] = [
    (lambda: times(I, over(N)), Boundedness.YES),
    (lambda: times(SIGN, over(I)), Boundedness.YES),
    (lambda: I, Boundedness.NO),
    (lambda: times(I, SIGN), Boundedness.NO),
    (lambda: plus(N, 1, times(-1, I)), Boundedness.NO),
    (lambda: times(I, I, over(N)), Boundedness.NO),
    (lambda: Digits(N), Boundedness.NO),
    (lambda: plus(I, Digits(I)), Boundedness.UNKNOWN),
    (lambda: plus(I, times(-1, I)), Boundedness.UNKNOWN),
    (lambda: times(I, FIRST_PLACE), Boundedness.UNKNOWN),
    (lambda: Power(plus(I, 1), 2), Boundedness.NO),
]


@pytest.mark.parametrize(("form", "answer"), UNBOUNDED)
def test_what_is_bounded_is_decided_exactly_or_not_at_all(
    form: Callable[[], ClosedForm], answer: Boundedness
) -> None:
    assert is_bounded(form()) is answer


def test_show_and_the_bridge_have_a_column_for_it(tmp_path: object) -> None:
    folder = f"{tmp_path}/majority"
    attemper.compile(MAJORITY, "01", regime="temperature").save(folder)
    record = command("show", folder, "--json").record
    assert [head["one_symbol"] for head in record["head_list"]] == ["O(1/n)", "more: temperature"]
    shown = command("show", folder).out
    assert "one symbol can change" in shown
    assert "O(1): tau" in shown
    said = command("influence", folder, "--logit-range", "4n", "--lengths", "8,16")
    assert said.code == 0
    assert "4n" in said.out
    found = command("influence", folder, "--logit-range", "4n", "--lengths", "8", "--json").record
    assert found["heads"][1]["construction"] == "Sign"
    assert found["rows"][0]["wrong"] == 0
