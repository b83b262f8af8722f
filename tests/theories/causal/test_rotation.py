"""Networks in another basis: the same function, from raw files, and no other is taken for one."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, MalformedFileError
from attemper.theories.causal.bench.making import made
from attemper.theories.causal.bench.scoring import BenchCase, cases
from attemper.theories.causal.bench.turning import turning
from attemper.theories.causal.check.turned import rotated
from attemper.theories.causal.rotation import ROTATION, Reflection, Rotation
from tests.support.cli.command_line import attemper as command
from tests.support.judges.bench_folders import RawCase
from tests.support.oracles.raw_forward import FORMATS, batch_of, run_every_coordinate, run_every_output
from tests.support.oracles.raw_settings import WAY, every_word
from tests.support.suites import Few


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench") / "cases"
    for number in (1, 5, 7):
        made(number, seed=2).save(place / str(number))
    return place


def test_the_stream_is_the_other_one_after_the_reflections(bench: Path) -> None:
    for case in cases(bench):
        assert attemper.check(case.folder / "rotation.json").status is Status.PROVED
        raw = RawCase(case.folder)
        square = raw.basis @ raw.basis.T
        assert np.array_equal(square, np.eye(len(square))), "orthogonal, in floats too"
        assert np.count_nonzero(raw.basis) > 3 * len(square), "bits stand on no axis"
        own_basis = case.basis.numpy()
        assert np.array_equal(own_basis, raw.basis[:, : own_basis.shape[1]])
        for length in (1, 2, 4):
            batch = every_word(3, length)
            own, other = (
                run_every_coordinate(read, batch, FORMATS["float64"], WAY) for read in (raw.plain, raw.turned)
            )
            assert np.abs(other - own @ own_basis.T).max() < 1e-9


def test_floats_lose_nothing(bench: Path, few: Few) -> None:
    rng = random.Random(1)
    for case in cases(bench):
        raw = RawCase(case.folder)
        for length in few((1, 7, 64, 300, 1024), 4):
            batch = batch_of([rng.choices(range(3), k=length)])
            own, other = (
                run_every_output(read, batch, FORMATS["float32"], WAY) for read in (raw.plain, raw.turned)
            )
            assert np.array_equal(own > 0.5, other > 0.5)
            assert np.abs(other - np.rint(other)).max() < 1e-6


def test_stored_interventions_are_what_both_networks_do(bench: Path) -> None:
    changing = 0
    for case in cases(bench):
        raw = RawCase(case.folder)
        assert not list(raw.wrong_interventions())
        assert not raw.is_wrong_at(300, random.Random(1))
        assert len(raw.stored) == 20
        changing += sum(own["outcome"] != own["clean"] for own in raw.stored)
    assert changing >= 10


def test_the_judge_sees_what_is_wrong(case: BenchCase) -> None:
    path = case.folder / "interventions.json"
    data = json.loads(path.read_text())
    changed = [own for own in data["stored"] if own["clean"] != own["outcome"]]
    for own in changed:
        own["clean"], own["outcome"] = own["outcome"], own["clean"]
    path.write_text(json.dumps(data))
    assert len(list(RawCase(case.folder).wrong_interventions())) == 4 * len(changed) > 0


# What is no rotation --------------------------------------------------------------------------------------


@pytest.fixture
def case(tmp_path: Path) -> BenchCase:
    made(0, seed=3).save(tmp_path / "cases" / "0")
    (own,) = cases(tmp_path / "cases")
    return own


def status_of(case: BenchCase, said: Rotation) -> Status:
    ROTATION.save(said, case.folder / "rotation.json")
    return attemper.check(case.folder / "rotation.json").status


def test_other_reflections_are_not_these(case: BenchCase) -> None:
    said = case.rotation
    first, *rest = said.reflections
    flipped = Reflection(first.plus[1:], (*first.minus, first.plus[0]))
    backwards = Reflection(first.minus, first.plus)
    assert status_of(case, replace(said, reflections=(backwards, *rest))) is Status.PROVED, "the same plane"
    for other in ((flipped, *rest), tuple(rest), (*said.reflections, first)):
        assert status_of(case, replace(said, reflections=other)) is Status.UNKNOWN


def test_what_is_about_nothing_is_malformed(case: BenchCase) -> None:
    said, network = case.rotation, case.model.network
    output, free = network.output, said.reflections[0].coordinates[1:]
    for other in (
        replace(said, network="0" * 64),
        replace(said, idle=said.idle + 1),
        replace(said, idle=10**12),
        replace(said, reflections=(Reflection((output, *free), ()),)),
        replace(said, reflections=(Reflection((999, *free), ()),)),
    ):
        assert status_of(case, other) is Status.MALFORMED
    for reflections in ((Reflection(free, ()),), (Reflection((*free, free[0]), ()),), said.reflections * 9):
        ROTATION.save(replace(said, reflections=reflections), case.folder / "rotation.json")
        with pytest.raises(MalformedFileError):
            case.rotation  # noqa: B018
        assert attemper.check(case.folder / "rotation.json").status is Status.MALFORMED


def test_a_changed_network_is_not_the_other_one(case: BenchCase) -> None:
    folder, network = case.folder / "rotated", case.rotated.network
    unit = network.layers[0].hidden[0]
    changed = replace(unit, bias=unit.bias + 1)
    first = replace(network.layers[0], hidden=(changed, *network.layers[0].hidden[1:]), clamps=())
    other = replace(network, layers=(first, *network.layers[1:]))
    replace(case.rotated, network=other).save(folder)
    verdict = command("check", case.folder / "rotation.json")
    assert (verdict.code, "that network is another one" in verdict.out) == (ExitCode.UNKNOWN, True)
    (folder / "network.json").unlink()
    assert command("check", case.folder / "rotation.json").code == ExitCode.FILE


def test_networks_with_nothing_to_turn_stay_as_they_are() -> None:
    model = attemper.compile("H a", "a")
    said = turning(model.network, model.digest, random.Random(1))
    assert (said.idle, said.reflections) == (0, ())
    assert rotated(model.network, said).embedding == model.network.embedding
    unwritten = attemper.compile("O (a & O b)", "ab")
    assert turning(unwritten.network, unwritten.digest, random.Random(1)).reflections
