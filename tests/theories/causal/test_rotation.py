"""Networks in another basis: the same function, from raw files, and no other is taken for one."""

from __future__ import annotations

import json
import random
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, MalformedFileError, OptionError
from attemper.theories.causal.bench.cases import cases
from attemper.theories.causal.bench.making import made
from attemper.theories.causal.bench.turning import turning
from attemper.theories.causal.check.turned import judge, mismatches, rotated
from attemper.theories.causal.rotation import ROTATION, Reflection, Rotation
from attemper.workbench.model import Model
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


def test_the_judge_sees_what_is_wrong(bench: Path, tmp_path: Path) -> None:
    place = tmp_path / "case"
    shutil.copytree(next(cases(bench)).folder, place)
    path = place / "interventions.json"
    data = json.loads(path.read_text())
    changed = [own for own in data["stored"] if own["clean"] != own["outcome"]]
    for own in changed:
        own["clean"], own["outcome"] = own["outcome"], own["clean"]
    path.write_text(json.dumps(data))
    assert len(list(RawCase(place).wrong_interventions())) == 4 * len(changed) > 0


# What is no rotation --------------------------------------------------------------------------------------


@pytest.fixture
def plain() -> Model:
    return attemper.compile("O (a & O b)", "ab")


@pytest.fixture
def folder(plain: Model, tmp_path: Path) -> Path:
    said = turning(plain.network, plain.digest, random.Random(1))
    plain.save(tmp_path)
    replace(plain, network=rotated(plain.network, said)).save(tmp_path / "rotated")
    ROTATION.save(said, tmp_path / "rotation.json")
    return tmp_path


def status_of(folder: Path, said: Rotation) -> Status:
    ROTATION.save(said, folder / "rotation.json")
    return judge(folder / "rotation.json", None).status


def test_other_reflections_are_not_these(folder: Path) -> None:
    said = ROTATION.load(folder / "rotation.json")
    assert judge(folder / "rotation.json", None).status is Status.PROVED
    first, *rest = said.reflections
    flipped = Reflection(first.plus[1:], (*first.minus, first.plus[0]))
    backwards = Reflection(first.minus, first.plus)
    assert status_of(folder, replace(said, reflections=(backwards, *rest))) is Status.PROVED, "the same plane"
    for other in ((flipped, *rest), tuple(rest), (*said.reflections, first)):
        assert status_of(folder, replace(said, reflections=other)) is Status.UNKNOWN


def test_what_is_about_nothing_is_malformed(folder: Path, plain: Model) -> None:
    said, network = ROTATION.load(folder / "rotation.json"), plain.network
    free, width = said.reflections[0].coordinates[1:], len(network.coordinates) + said.idle
    (target,) = network.layers[1].heads[0].targets
    (position, _), *_ = network.positions
    for kept in (network.output, target, position, width, 999):
        assert (
            status_of(folder, replace(said, reflections=(Reflection((kept, *free), ()),))) is Status.MALFORMED
        )
    assert (
        status_of(folder, replace(said, reflections=(Reflection((width - 1, *free), ()),)))
        is not Status.MALFORMED
    )
    for other in (
        replace(said, network="0" * 64),
        replace(said, idle=said.idle + 1),
        replace(said, idle=said.idle - 1, reflections=()),
        replace(said, idle=10**12),
    ):
        assert status_of(folder, other) is Status.MALFORMED
    for reflections in ((Reflection(free, ()),), (Reflection((*free, free[0]), ()),), said.reflections * 9):
        ROTATION.save(replace(said, reflections=reflections), folder / "rotation.json")
        with pytest.raises(MalformedFileError):
            ROTATION.load(folder / "rotation.json")
        assert judge(folder / "rotation.json", None).status is Status.MALFORMED


def test_axes_that_are_turned_say_so(folder: Path, plain: Model) -> None:
    said = ROTATION.load(folder / "rotation.json")
    touched = {own for reflection in said.reflections for own in reflection.coordinates}
    labels = rotated(plain.network, said).coordinates
    assert {own for own, label in enumerate(labels) if label == f"axis {own}"} == touched
    assert labels[plain.network.output] == plain.network.coordinates[plain.network.output]


def test_normalised_networks_are_not_turned(plain: Model) -> None:
    normalised = attemper.compile("O (a & O b)", "ab", layer_norm=attemper.LayerNorm())
    said = Rotation(normalised.digest, 0, ())
    assert list(mismatches(plain.network, said)) == []
    assert list(mismatches(normalised.network, said)) == ["its sublayers read normalised numbers"]


def test_a_changed_network_is_not_the_other_one(folder: Path) -> None:
    model = attemper.load(folder / "rotated")
    network = model.network
    unit = network.layers[0].hidden[0]
    changed = replace(unit, bias=unit.bias + 1)
    first = replace(network.layers[0], hidden=(changed, *network.layers[0].hidden[1:]), clamps=())
    replace(model, network=replace(network, layers=(first, *network.layers[1:]))).save(folder / "rotated")
    verdict = command("check", folder / "rotation.json")
    assert (verdict.code, "that network is another one" in verdict.out) == (ExitCode.UNKNOWN, True)
    (folder / "rotated" / "network.json").unlink()
    assert command("check", folder / "rotation.json").code == ExitCode.FILE


def test_the_plain_network_may_stand_elsewhere(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for name in ("network.json", "weights.safetensors"):
        (folder / name).rename(elsewhere / name)
    assert judge(folder / "rotation.json", str(elsewhere)).status is Status.PROVED
    with pytest.raises(OptionError, match="there is no network in"):
        judge(folder / "rotation.json", None)


def test_networks_with_nothing_to_turn_stay_as_they_are() -> None:
    model = attemper.compile("H a", "a")
    said = turning(model.network, model.digest, random.Random(1))
    assert (said.idle, said.reflections) == (0, ())
    assert rotated(model.network, said).embedding == model.network.embedding
    unwritten = attemper.compile("O (a & O b)", "ab")
    assert turning(unwritten.network, unwritten.digest, random.Random(1)).reflections
