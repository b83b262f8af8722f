"""Folders whose networks put out numbers, judged from their files alone: a wrong number is found."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import flint
import numpy as np
import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.languages.temporal.reading import At
from attemper.languages.words import words_of_length
from tests.checker.test_read_again import certified, language_of, require_read
from tests.support.oracles import raw_truth
from tests.support.oracles.numbers import BIGRAMS, FRACTION, HISTOGRAM, random_integers
from tests.support.oracles.raw_files import read_folder
from tests.support.oracles.raw_forward import all_words, batch_of
from tests.support.oracles.raw_judge import Judgement, is_within, judge

WORDS = list(all_words(2, 3))

TEXTS = {"histogram": HISTOGRAM, "fraction": FRACTION, "bigrams": BIGRAMS}


@pytest.fixture(params=TEXTS)
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A certified network that puts out numbers, which is right."""
    model = attemper.compile(attemper.program(parse_program(TEXTS[request.param])), regime="temperature")
    source = certified(model, tmp_path)
    found = judge(tmp_path, exactly=WORDS, in_floats=WORDS)
    assert found.wrong == []
    assert found.exact
    assert found.floats
    require_read(tmp_path, model, source)
    return tmp_path


def judged_after(folder: Path, name: str, change: Callable[[Any], None]) -> Judgement:
    """What is found once a JSON file of the folder has been changed."""
    entries = json.loads((folder / name).read_bytes())
    change(entries)
    (folder / name).write_text(json.dumps(entries))
    return judge(folder, exactly=WORDS, in_floats=WORDS)


def is_distribution(folder: Path) -> bool:
    """Whether the folder's network puts one out."""
    return bool(json.loads((folder / "network.json").read_bytes())["measure"] == "distribution")


@pytest.mark.sweep(1)
def test_another_factor_is_found(folder: Path) -> None:
    def change(certificate: Any) -> None:
        *_, parts = certificate["language"][1]["numbers"]["rows"]
        parts[0]["factor"] = "3"

    if is_distribution(folder):
        with pytest.raises(AssertionError, match="promise"):
            judged_after(folder, "certificate.json", change)
    else:
        wrong = judged_after(folder, "certificate.json", change).wrong
        assert any("output 0 at" in said for said in wrong)
        assert any("float64" in said for said in wrong)


@pytest.mark.sweep(1)
def test_another_bit_is_found(folder: Path) -> None:
    def change(certificate: Any) -> None:
        program = certificate["language"][1]
        program["steps"][0] = ["letter", ["b"]]
        if is_distribution(folder):
            program["steps"][1] = ["letter", ["a"]]

    assert judged_after(folder, "certificate.json", change).wrong


@pytest.mark.sweep(1)
def test_other_names_kinds_and_maskings_are_found(folder: Path) -> None:
    def change(certificate: Any) -> None:
        numbers = certificate["language"][1]["numbers"]
        if numbers["measure"] == "distribution":
            numbers["names"].reverse()
        elif numbers["measure"] == "integer":
            numbers["mask"] = "all"
        else:
            numbers["measure"] = "integer"

    assert "the network puts out" in judged_after(folder, "certificate.json", change).wrong[0]


@pytest.mark.sweep(1)
def test_shares_of_other_positions_are_found(folder: Path) -> None:
    def change(structure: Any) -> None:
        for layer in structure["layers"]:
            for head in layer["heads"]:
                head["masking"] = "unmasked"

    assert judged_after(folder, "network.json", change).wrong


def scale_what_is_put_out(folder: Path, factor: float) -> None:
    """Multiply what the last layer's hidden units add."""
    raw = read_folder(folder)
    last = max(k for k in range(len(raw.heads)) if raw.weight(k, "mlp.b_in").size)
    outer = raw.weight(last, "mlp.W_out")
    data = (folder / "weights.safetensors").read_bytes()
    assert data.count(outer.tobytes()) == 1
    changed = np.asarray(outer * factor, dtype="<f8").tobytes()
    (folder / "weights.safetensors").write_bytes(data.replace(outer.tobytes(), changed))


@pytest.mark.sweep(1)
def test_real_numbers_are_judged_more_closely_than_floats(folder: Path) -> None:
    """By 2^-38 no number may be greater, by 2^-50 no integer; floats may be off by more than both."""
    scale_what_is_put_out(folder, 1 + 2.0**-38)
    wrong = judge(folder, exactly=WORDS, in_floats=WORDS).wrong
    assert wrong
    assert not any("float" in said for said in wrong)
    scale_what_is_put_out(folder, 1 / (1 + 2.0**-38) + 2.0**-50)
    is_exact = read_folder(folder).kind == "integer"
    assert bool(judge(folder, exactly=WORDS, in_floats=WORDS).wrong) == is_exact


@pytest.mark.sweep(1)
def test_floats_are_judged_by_themselves(folder: Path) -> None:
    scale_what_is_put_out(folder, 1 + (0.5 if read_folder(folder).kind == "integer" else 2.0**-10))
    assert all("float" in said for said in judge(folder, exactly=(), in_floats=WORDS).wrong)
    assert judge(folder, exactly=(), in_floats=WORDS).wrong


def test_a_number_may_be_off_by_just_as_much_as_is_said() -> None:
    third, allowed = flint.arb(1) / 3, Fraction(1, 2**40)
    for spare, is_near in ((Fraction(0), True), (Fraction(1, 2**45), False)):
        off = flint.fmpq(1, 2**40) + flint.fmpq(spare.numerator, spare.denominator)
        assert is_within(third - off, Fraction(1, 3), allowed) is is_near
    assert is_within(third, Fraction(1, 3), Fraction(0))
    assert not is_within(third, Fraction(1, 3) + Fraction(1, 2**50), Fraction(0))


def test_the_raw_reading_of_integers_is_the_library_s() -> None:
    for seed in range(12):
        program = parse_program(random_integers(Random(seed)))
        language, source = ProgramLanguage(program, At.LAST, False), language_of(program)
        for n in range(1, 4):
            for word in words_of_length(program.alphabet, n):
                batch = batch_of([tuple("ab".index(own) for own in word)])
                (shares,) = language.numbers(word)
                assert list(raw_truth.truths(source, "ab", batch)[None][0]) == list(shares)
