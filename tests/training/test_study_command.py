"""attemper study: its numbers, their tables, and its page, which needs an extra."""

from __future__ import annotations

import csv
import json
import re
import sys
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch

from attemper.errors import OptionError
from attemper.languages.sources.values import Parity, source_named
from attemper.models.slopes import slope
from attemper.training.entries import entries_of, settings_from
from attemper.training.measuring import measured
from attemper.training.models import Convolution, ParityRnn
from attemper.training.prefixes import odds_of
from attemper.training.runs import TrainingRun, load_run, train
from attemper.training.study.files import _csv, write_study
from attemper.training.study.plans import SOURCES, StudyPlan, plans
from attemper.training.study.results import Study, study_of
from attemper.training.sweeps import folder_of, swept
from tests.support.cli.command_line import attemper

TINY = {"steps": 3, "batch": 4, "length": 5}


def tiny_plans() -> list[StudyPlan]:
    """The quick study with hardly any steps, words and lengths."""
    found = []
    for plan in plans(quick=True):
        entries = entries_of(plan.settings)
        if plan.settings.model.kind != "parity-rnn":
            entries["training"] |= TINY
        entries["evaluation"] = {"lengths": [8, 16, 32], "words": 4}
        found.append(StudyPlan(plan.source, plan.model, settings_from(entries)))
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[StudyPlan], list[TrainingRun], Study]:
    asked, folder = tiny_plans(), tmp_path_factory.mktemp("runs")
    done = [train(plan.settings, folder_of(plan.settings, folder)) for plan in asked]
    return asked, done, study_of(asked, done)


def test_every_model_is_on_each_source_and_the_rnn_on_parity_alone() -> None:
    for quick in (True, False):
        asked = plans(quick=quick)
        assert len({folder_of(plan.settings, Path()) for plan in asked}) == len(asked) == 11
        kinds = {source: {p.settings.model.kind for p in asked if p.source == source} for source in SOURCES}
        assert kinds["parity-even"] - kinds["dyck2"] == {"parity-rnn"}
        for plan in asked:
            assert plan.settings.task.kind == "source"
            assert plan.settings.task.name == plan.source
    longest = {max(plan.settings.evaluation.lengths) for plan in plans(quick=False)}
    assert longest == {512}


def test_points_are_what_the_runs_measured(made: tuple[list[StudyPlan], list[TrainingRun], Study]) -> None:
    asked, done, study = made
    expected = [
        (plan.source, plan.model, row["n"], row["loss"], row["excess"], row["floor"], row["change"])
        for plan, run in zip(asked, done, strict=True)
        for row in run.rows
        if row["kind"] == "measured"
    ]
    assert [(p.source, p.model, p.n, p.loss, p.excess, p.floor, p.change) for p in study.points] == expected
    assert len(expected) == 33
    for point in study.points:
        assert point.excess >= point.floor - 1e-12


def test_the_convolution_stays_under_its_bound(
    made: tuple[list[StudyPlan], list[TrainingRun], Study],
) -> None:
    asked, done, study = made
    bounded = [point for point in study.points if point.bound is not None]
    assert {(point.source, point.n) for point in bounded} == {(s, n) for s in SOURCES for n in (8, 16, 32)}
    for point in bounded:
        assert point.bound is not None
        assert 0 < point.largest <= point.bound
    for plan, run in zip(asked, done, strict=True):
        if isinstance(run.model, Convolution):
            odds = odds_of(source_named(plan.source, Fraction(SOURCES[plan.source])))
            own = [point.bound for point in bounded if point.source == plan.source]
            assert own == [run.model.influence(n + 1, *odds) for n in (8, 16, 32)]


def test_levels_are_those_of_the_theory(made: tuple[list[StudyPlan], list[TrainingRun], Study]) -> None:
    levels = {(one.source, one.name, one.n): one for one in made[2].levels}
    for (source, name), value in {
        ("parity-even", "limit: H_bi, read at x_n"): 0.19696,
        ("parity-even", "limit: H_uni, a query symbol"): 0.21576,
        ("dyck2", "limit: type, even n"): 0.22181,
        ("dyck2", "limit: type and END, one exchange, even n"): 0.27226,
        ("dyck2", "limit: a table on x_n and the parity of n, even n"): 0.34739,
    }.items():
        level = levels[source, name, None]
        assert level.is_limit
        assert round(level.excess, 5) == value
    assert {n for source, name, n in levels if name == "type: P_0 q ln 2"} == {8, 16, 32}
    assert not any(one.is_limit for (_, name, _), one in levels.items() if not name.startswith("limit"))
    windows = [one.excess for (_, name, _), one in levels.items() if name.startswith("the last")]
    assert windows == sorted(windows, reverse=True)


def test_slopes_are_of_the_mean_changes(made: tuple[list[StudyPlan], list[TrainingRun], Study]) -> None:
    study = made[2]
    for one in study.slopes:
        own = [(p.n, p.change) for p in study.points if (p.source, p.model) == (one.source, one.model)]
        assert one.slope == slope(own)
    assert len(study.slopes) == 11


def test_tables_have_every_number(made: tuple[list[StudyPlan], list[TrainingRun], Study]) -> None:
    study = made[2]
    for kind, rows in (("point", study.points), ("level", study.levels), ("slope", study.slopes)):
        records = [record for record in study.records() if record["kind"] == kind]
        lines = list(csv.DictReader(_csv(rows).splitlines()))
        assert len(lines) == len(records) == len(rows)
        for line, record in zip(lines, records, strict=True):
            own = {name: "" if value is None else str(value) for name, value in record.items()}
            assert own == {"kind": kind, **line}
    json.loads(json.dumps(list(study.records()), allow_nan=False))


def test_without_plotly_nothing_is_begun_and_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    found = attemper("study", "--quick", "-o", tmp_path / "out")
    assert (found.code, found.out) == (2, "")
    (line,) = found.err.splitlines()
    assert line.startswith("error: ")
    assert line.endswith("pip install 'attemper[report]' (in a clone: '.[report]')")
    assert not (tmp_path / "out").exists()


def test_a_page_without_plotly_is_refused(
    made: tuple[list[StudyPlan], list[TrainingRun], Study], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(OptionError, match=r"attemper\[report\]"):
        write_study(made[2], tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_page_shows_every_number_and_loads_nothing(tmp_path: Path) -> None:
    said = attemper("study", "--quick", "--json", "-o", tmp_path / "out")
    assert said.code == 0
    names = ("study.html", "points.csv", "levels.csv", "slopes.csv")
    page, *tables = [(tmp_path / "out" / name).read_text(encoding="utf-8") for name in names]
    for record in said.records:
        kind = record.pop("kind")
        table = tables[("point", "level", "slope").index(kind)]
        for value in record.values():
            if isinstance(value, float):
                assert repr(value) in table
                assert f"<td>{value!r}</td>" in page
    tags = re.sub(r"<script[^>]*>.*?</script>", "", page, flags=re.DOTALL)
    assert not re.search(r"\b(src|href)\s*=|url\(|@import", tags)
    assert not re.search(r"<script[^>]*\ssrc\s*=", page)
    assert page.count('id="figure-') == 4
    # The library stands there once: the other figures are short.
    assert sorted(map(len, re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)))[-2] < 100_000
    assert "limit: H_bi" in page
    shown = attemper("study", "--quick", "-o", tmp_path / "out")
    assert (shown.code, shown.out.splitlines()[-1]) == (0, f"wrote {tmp_path / 'out' / 'study.html'}")


@pytest.mark.slow
def test_the_quick_study_is_done_in_processes(tmp_path: Path) -> None:
    """All but its page: the floors hold at every length, and what is exact has no excess."""
    asked = plans(quick=True)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        folders = list(swept([plan.settings for plan in asked], tmp_path, executor, 1, lambda _: None))
    assert len(folders) == len(asked)
    study = study_of(asked, [load_run(folder_of(plan.settings, tmp_path)) for plan in asked])
    for point in study.points:
        assert point.excess >= point.floor - 1e-12
        if point.model == "RNN built by hand":
            assert abs(point.excess) < 1e-15
        if point.bound is not None:
            assert point.largest <= point.bound


@pytest.mark.slow
@pytest.mark.parametrize("odd", [False, True])
def test_the_rnn_is_exact_at_a_million_symbols(*, odd: bool) -> None:
    n, rnn = 10**6, ParityRnn(0.5, odd=odd)
    source = Parity(Fraction(1, 2), odd=odd)
    assert abs(measured(lambda tokens: rnn(tokens)[:, -1], source, n, 1, seed=0).excess) < 1e-15
    tokens = torch.randint(2, (1, n), generator=torch.Generator().manual_seed(0))
    parity = rnn.parity(tokens)
    assert torch.equal(parity, tokens.cumsum(dim=1).double() % 2)
    for place in (0, n // 2, n - 1):
        other = tokens.clone()
        other[0, place] = 1 - other[0, place]
        assert abs(float(rnn.parity(other)[0, -1]) - float(parity[0, -1])) == 1
