"""A bound on what one symbol can change, as a file: what is written reads back, and nothing else is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from attemper.certificates.files import format_of
from attemper.errors import MalformedFileError
from attemper.theories.influence.certificate import (
    FrequencyBound,
    NoMargin,
    NoMarginAt,
    OneSymbolBound,
    PairBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
    decode,
    encode,
    load,
    save,
)

HALF = Fraction(1, 2)
BOUND = OneSymbolBound(
    "ab12",
    "models:mine",
    ("0", "1", "$"),
    "$",
    ((1,),),
    FrequencyBound(4096, Fraction(366), None, None, "0.1.."),
    (
        NoMargin(Fraction(1), 4094, (7, 8)),
        RecogniserFloor(4096, Fraction(693, 1000)),
        SourceFloor("parity-even", HALF, 4096, Fraction(1)),
    ),
)
BOXED = replace(BOUND, bound=FrequencyBound(5, HALF, (2, 1), ((Fraction(0), HALF), (HALF, Fraction(1))), "."))
TABLE = replace(
    BOUND, bound=TableBound(64, Fraction(1, 3), last_only=True), consequences=(NoMarginAt(HALF, 64),)
)
PAIR = replace(BOUND, bound=PairBound(("0", "1"), ("0", "0"), HALF), consequences=())


@pytest.mark.parametrize("bound", [BOUND, BOXED, TABLE, PAIR])
def test_what_is_written_reads_back(bound: OneSymbolBound, tmp_path: Path) -> None:
    save(bound, tmp_path / "bound.json")
    assert format_of(tmp_path / "bound.json") == "attemper-limit/1"
    assert load(tmp_path / "bound.json") == bound


def at(*keys: Any, value: Any) -> Callable[[Any], None]:
    """A change of one entry."""

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        at("format", value="attemper-limit/2"),
        at("more", value=1),
        at("model", value=3),
        at("symbols", value=["0", "0", "$"]),
        at("symbols", value=["0", "$"]),
        at("ending", value="#"),
        at("ending", value=None),
        at("functionals", value=[]),
        at("functionals", value=[[0]]),
        at("functionals", value=[[1], [1, 2]]),
        at("functionals", value=[[True]]),
        at("functionals", value=[[1.0]]),
        at("bound", "form", value="words"),
        at("bound", "n0", value=0),
        at("bound", "n0", value=True),
        at("bound", "n0", value=2**41),
        at("bound", "constant", value="-1"),
        at("bound", "constant", value="2/4"),
        at("bound", "constant", value="0.5"),
        at("bound", "constant", value="1e3"),
        at("bound", "constant", value="1/0"),
        at("bound", "constant", value=1.5),
        at("bound", "constant", value="NaN"),
        at("bound", "residue", value=[2, 2]),
        at("bound", "residue", value=[2, True]),
        at("bound", "residue", value=[0, 0]),
        at("bound", "box", value=[["0", "1"], ["0", "1"]]),
        at("bound", "box", value=[["1", "0"]]),
        at("bound", "box", value=[["0", "2"]]),
        at("bound", "splits", value=None),
        at("consequences", 0, "from", value=0),
        at("consequences", 0, "counts", value=[7, -1]),
        at("consequences", 0, "counts", value=[7, True]),
        at("consequences", 1, "recogniser", value="majority"),
        at("consequences", 1, "more", value=1),
        at("consequences", 2, "cross_entropy", value="dyck2"),
        at("consequences", 2, "p", value="1/2 "),
        at("consequences", value={}),
    ],
)
def test_every_other_shape_is_malformed(change: Callable[[Any], None]) -> None:
    data = json.loads(json.dumps(encode(BOUND)))
    assert decode(data) == BOUND
    change(data)
    with pytest.raises(ValueError, match=r".+"):
        decode(data)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(MalformedFileError, match="attemper bound MODEL"):
        load(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("[]")
    assert format_of(tmp_path / "other.json") == format_of(tmp_path) == format_of(tmp_path / "none") == ""
    with pytest.raises(MalformedFileError, match="is not a bound"):
        load(tmp_path / "other.json")
