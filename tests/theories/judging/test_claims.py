"""Files of judgements: what is changed is not PROVED unless it is still true; and runs by raw files."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import OptionError
from attemper.models.soft.weights import Encoder
from attemper.theories.judging.certificate import (
    JUDGEMENT,
    CellExtremes,
    ExactExtremes,
    Judgement,
    Reading,
)
from attemper.theories.judging.check.claims import check_judgement, judge, load_judged
from attemper.theories.judging.search.attacking import worst_word
from attemper.theories.judging.search.proving import boxed, heads_to_judge
from tests.support.drawn.judged import AUTOMATA, FIXTURES, read_of
from tests.support.judges.judged_words import RawTask
from tests.support.oracles.raw_encoder import RawRun
from tests.support.suites import Few

UP_TO = {"bstar": 8, "depth2": 8, "sorted": 6, "hasa": 4}
"""Of each run so far that all its words can be tried."""


@pytest.fixture(scope="module")
def proofs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("proofs")
    found = {name: folder / f"{name}.json" for name in UP_TO}
    for name, path in found.items():
        own = attemper.judge(FIXTURES / name, up_to=UP_TO[name])
        assert own.status is Status.PROVED
        own.save(path)
    return found


def verdict(name: str, data: object, tmp_path: Path) -> Status:
    path = tmp_path / "judgement.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return judge(path, str(FIXTURES / name)).status


def truth(name: str, data: Any) -> RawTask:
    return RawTask(RawRun(FIXTURES / name), data)


def test_margins_are_those_of_all_words(proofs: dict[str, Path]) -> None:
    for name, path in proofs.items():
        own = attemper.judge(FIXTURES / name, up_to=UP_TO[name])
        data = json.loads(path.read_bytes())
        margins = [truth(name, data).margin(word) for word in truth(name, data).words(UP_TO[name])]
        assert own.least is not None
        assert 0 < own.least <= min(margins) + 1e-9
        assert judge(path, str(FIXTURES / name)).status is Status.PROVED


def numbers_of(data: Any) -> list[Any]:
    """All lists of numbers in the cells."""
    return [row for _, highest in map(dict.values, data["evidence"][5]) for row in highest]


def without_numbers(data: Any, number: int) -> None:
    data["evidence"][5][number] = {"parts": 0, "highest": []}


Change = Callable[[Any], Any]


def changed_number(place: int, change: Callable[[float], float]) -> Change:
    def changed(data: Any) -> None:
        row = numbers_of(data)[place % len(numbers_of(data))]
        one = place % len(row)
        row[one] = change(float.fromhex(row[one])).hex()

    return changed


def axes(data: Any) -> Any:
    return data["evidence"][3]


CHANGES: dict[str, Change] = {
    **{f"lowered {k}": changed_number(k, lambda x: x - 2e-7 * (1 + abs(x))) for k in (0, 3, 8, 31)},
    "lowered much": changed_number(5, lambda x: x - 1),
    "far below": changed_number(5, lambda x: -abs(x) - 100),
    "nan": changed_number(5, lambda _: math.nan),
    "infinite": changed_number(5, lambda _: math.inf),
    "a float": lambda data: numbers_of(data)[0].__setitem__(0, 1.5),
    "true": lambda data: data["evidence"][5][0].update(parts=True),
    "parts below 0": lambda data: data["evidence"][5][0].update(parts=-1),
    "parts": lambda data: data["evidence"][5][0].update(parts=4),
    "no parts, and numbers": lambda data: data["evidence"][5][0].update(parts=0),
    "many parts": lambda data: data["evidence"][5][0].update(parts=5000),
    "a cell is missing": lambda data: data["evidence"][5].pop(),
    "a cell too many": lambda data: data["evidence"][5].append(data["evidence"][5][-1]),
    "cells in another order": lambda data: data["evidence"][5].reverse(),
    "a head is missing": lambda data: data["evidence"][5][1]["highest"].pop(),
    "a number is missing": lambda data: numbers_of(data)[1].pop(),
    "no numbers": lambda data: [row.clear() for row in numbers_of(data)],
    "no axes": lambda data: [head.clear() for head in axes(data)],
    "no head's axes": lambda data: axes(data).pop(),
    "axes are 0": lambda data: [
        row.__setitem__(slice(None), ["0x0.0p+0"] * len(row)) for head in axes(data) for row in head
    ],
    "an axis is another": lambda data: axes(data)[0][0].__setitem__(0, (0.3).hex()),
    "an axis is short": lambda data: axes(data)[0][0].pop(),
    "slopes are missing": lambda data: data["evidence"][4].pop(),
    "slopes are short": lambda data: [row.pop() for head in data["evidence"][4] for row in head],
    "longer": lambda data: data["evidence"].__setitem__(1, data["evidence"][1] + 1),
    "much longer": lambda data: data["evidence"].__setitem__(1, 10**6),
    "too long": lambda data: data["evidence"].__setitem__(1, 10**6 + 1),
    "another digest": lambda data: data.update(digest="0" * 64),
    "another reading": lambda data: data.update(
        reading={"next": "verdict", "verdict": "next"}[data["reading"]]
    ),
    "no reading": lambda data: data.update(reading="loud"),
    "another format": lambda data: data.update(format="attemper-judgement/1"),
    "more": lambda data: data.update(more=1),
    "other letters": lambda data: data["automaton"].update(alphabet=data["automaton"]["alphabet"][::-1]),
    "no state accepts": lambda data: data["automaton"].update(accepting=[]),
    "another start": lambda data: data["automaton"].update(start=1),
}


@pytest.mark.parametrize("name", list(UP_TO))
def test_what_is_changed_is_not_proved(name: str, proofs: dict[str, Path], tmp_path: Path, few: Few) -> None:
    for what in few(list(CHANGES), 12):
        data = json.loads(proofs[name].read_bytes())
        before = json.dumps(data)
        CHANGES[what](data)
        if json.dumps(data) == before:
            continue  # a list of one head, or of one letter, backwards
        assert verdict(name, data, tmp_path) in {Status.UNKNOWN, Status.MALFORMED}, what


def test_a_cell_of_few_words_needs_no_numbers(proofs: dict[str, Path], tmp_path: Path) -> None:
    for name in ("bstar", "depth2"):
        data = json.loads(proofs[name].read_bytes())
        for number in range(len(data["evidence"][5])):
            without_numbers(data, number)
        assert verdict(name, data, tmp_path) is Status.PROVED
        task = truth(name, data)
        data["automaton"]["accepting"] = [1]
        assert not all(task.margin(word) > 0 for word in truth(name, data).words(4))
        assert verdict(name, data, tmp_path) in {Status.UNKNOWN, Status.MALFORMED}
    found = attemper.judge(FIXTURES / "bstar", up_to=12)
    found.save(tmp_path / "long.json")
    data = json.loads((tmp_path / "long.json").read_bytes())
    assert verdict("bstar", data, tmp_path) is Status.PROVED
    without_numbers(data, -1)
    assert verdict("bstar", data, tmp_path) is Status.UNKNOWN, "4,095 words"


def test_no_mutant_is_proved_that_a_word_belies(proofs: dict[str, Path], tmp_path: Path, few: Few) -> None:
    """Automata with a move or a verdict changed, numbers and axes changed by a little or a lot."""
    rng, proved = random.Random(1), 0
    for name in few(list(UP_TO), 2):
        for _ in few(range(120), 8):
            data = json.loads(proofs[name].read_bytes())
            kind = rng.randrange(5)
            if kind == 0:
                rng.choice(data["automaton"]["moves"])[0] = rng.randrange(len(data["automaton"]["moves"]))
            elif kind == 1:
                state = rng.randrange(len(data["automaton"]["moves"]))
                data["automaton"]["accepting"] = sorted({state} ^ set(data["automaton"]["accepting"]))
            elif kind == 2:
                row = rng.choice(numbers_of(data))
                one = rng.randrange(len(row))
                row[one] = (float.fromhex(row[one]) * rng.uniform(-2, 3)).hex()
            elif kind == 3:
                row = rng.choice(rng.choice(axes(data)))
                one = rng.randrange(len(row))
                row[one] = (float.fromhex(row[one]) + rng.choice([-1, 1]) * 10 ** -rng.uniform(0, 9)).hex()
            else:
                rng.choice(data["evidence"][5])["parts"] = rng.choice([1, 4, 16])
            if verdict(name, data, tmp_path) is Status.PROVED:
                proved += 1
                task = truth(name, data)
                assert all(task.margin(word) > 0 for word in task.words(data["evidence"][1]))
    assert proved, "what is weaker is proved, too"


def test_words_are_refuted_that_are_answered_wrong_and_no_others(
    proofs: dict[str, Path], tmp_path: Path, few: Few
) -> None:
    for name in few(list(UP_TO), 2):
        data = json.loads(proofs[name].read_bytes())
        found = attemper.judge(FIXTURES / name, up_to=1)
        assert found.proof is not None
        letters = data["automaton"]["alphabet"]
        data["automaton"]["accepting"] = sorted(
            set(range(len(data["automaton"]["moves"]))) - set(data["automaton"]["accepting"])
        )
        task = truth(name, data)
        for word in (own for n in range(4) for own in product(letters, repeat=n)):
            encoder = load_judged(str(FIXTURES / name), letters, len(word) + 1)
            data["digest"], data["evidence"] = encoder.digest, ["wrong word", list(word), 0]
            own = check_judgement(JUDGEMENT.decode(data), encoder)
            if not task.is_read(word, 10**6):
                assert own.status is Status.MALFORMED
                continue
            assert own.status is (Status.REFUTED if task.margin(word) < 0 else Status.UNKNOWN)
            assert (own.claims[0].witness == word) == (own.status is Status.REFUTED)


def test_what_a_wrong_word_must_be(tmp_path: Path) -> None:
    found = attemper.judge(FIXTURES / "hasa", up_to=12)
    assert found.wrong is not None
    assert found.status is Status.REFUTED
    assert "confirmed in PyTorch" in found.wrong.runtime
    found.save(tmp_path / "wrong.json")
    data = json.loads((tmp_path / "wrong.json").read_bytes())
    task = truth("hasa", data)
    assert task.margin(found.wrong.word) == pytest.approx(found.wrong.margin, rel=1e-9)
    assert found.wrong.margin < 0
    assert verdict("hasa", data, tmp_path) is Status.REFUTED
    for word in (["c"], ["a", ""], ["a"] * 5001):
        assert verdict("hasa", {**data, "evidence": ["wrong word", word, 0]}, tmp_path) is Status.MALFORMED


def test_a_model_must_be_named_and_is_another_if_anything_is(proofs: dict[str, Path], tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="which encoder"):
        judge(proofs["bstar"], None)
    assert judge(proofs["bstar"], str(FIXTURES / "hasa")).status is Status.MALFORMED
    folder = tmp_path / "run"
    shutil.copytree(FIXTURES / "bstar", folder)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[-4] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    assert judge(proofs["bstar"], str(folder)).status is Status.MALFORMED


def test_an_encoder_in_python_is_judged_too(proofs: dict[str, Path]) -> None:
    encoder = load_judged(str(FIXTURES / "bstar"), "ab", 9)
    found = attemper.judge(encoder, "regex:b*", "ab", up_to=8)
    assert (found.status, found.proved_to) == (Status.PROVED, 8)
    assert isinstance(found.proof, Judgement)
    assert isinstance(found.proof.evidence, ExactExtremes)
    with pytest.raises(OptionError, match="say which language"):
        attemper.judge(encoder, up_to=8)


def falsely_evident(seed: int) -> Iterator[tuple[Encoder, Judgement]]:
    """Evidence for a random encoder that answers some word wrong, with changes that might hide it."""
    rng = random.Random(seed)
    dfa, reading = AUTOMATA[seed % len(AUTOMATA)], list(Reading)[seed % 2]
    norm, period, heads = rng.choice(["none", "pre", "post"]), rng.choice([0, 2, 9]), rng.choice([1, 2])
    read = read_of(dfa, reading, 3, seed, heads=heads, norm=norm, period=period, width=4)
    own, cells = heads_to_judge(read), list(read.task.cells_to(3))
    assert any(worst_word(read, own, cell)[1] < -1e-3 for cell in cells)
    extremes = [each.extremes for each in boxed(read, own, cells)]
    axes, slopes = ([getattr(head, kind).tolist() for head in own] for kind in ("axes", "slopes"))
    while True:
        rows = [[list(row) for row in head] for head in axes]
        turned = [[list(row) for row in head] for head in slopes]
        numbers = [[list(head) for head in cell.highest] for cell in extremes]
        for _ in range(rng.choice([1, 1, 5])):
            some = rng.choice([*rng.choice(numbers), *rng.choice(rows)])
            place = rng.randrange(len(some))
            factor = rng.choice([-1.0, 0.0, 0.5, 2.0, 1 - 1e-9, 1 + 1e-3, 1e30])
            some[place] = rng.choice([some[place] * factor, some[place] - 10 ** -rng.uniform(0, 12)])
        if rng.random() < 0.2:
            rng.shuffle(numbers)
        made = tuple(CellExtremes(1, tuple(map(tuple, cell))) for cell in numbers)
        kept = (tuple(tuple(tuple(row) for row in head) for head in each) for each in (rows, turned))
        yield (
            read.encoder,
            Judgement(read.encoder.digest, "", dfa, reading, None, ExactExtremes(3, (0, 0), *kept, made)),
        )


@pytest.mark.parametrize("seed", range(60))
def test_no_evidence_hides_a_word_that_is_answered_wrong(seed: int, few: Few) -> None:
    for encoder, judgement in islice(falsely_evident(seed), len(few(range(300), 6))):
        assert check_judgement(judgement, encoder).status in {Status.UNKNOWN, Status.MALFORMED}


def test_two_runs_find_the_same(tmp_path: Path) -> None:
    for name in ("bstar", "depth2"):
        for number in range(2):
            attemper.judge(FIXTURES / name, up_to=9).save(tmp_path / f"{number}.json")
        assert (tmp_path / "0.json").read_bytes() == (tmp_path / "1.json").read_bytes()
