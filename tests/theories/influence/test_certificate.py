"""A bound on what one symbol can change, as a file: what is written reads back, and nothing else is read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from attemper.certificates.files import format_of
from attemper.errors import MalformedFileError
from attemper.exact.codec import CodecError
from attemper.theories.influence.certificate import (
    LIMIT,
    EveryLengthBound,
    FrequencyBound,
    NoMargin,
    NoMarginAt,
    OneSymbolBound,
    PairBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
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
EVERY = replace(
    BOUND,
    bound=EveryLengthBound(Fraction(7, 2)),
    consequences=(NoMargin(HALF, 2, ()), SourceFloor("dyck2", HALF, 64, Fraction(1))),
)
UNMARKED = replace(BOUND, symbols=("0", "1"), ending=None, consequences=())


@pytest.mark.parametrize("bound", [BOUND, BOXED, TABLE, PAIR, EVERY, UNMARKED])
def test_what_is_written_reads_back(bound: OneSymbolBound, tmp_path: Path) -> None:
    LIMIT.save(bound, tmp_path / "bound.json")
    assert format_of(tmp_path / "bound.json") == "attemper-limit/3"
    assert LIMIT.load(tmp_path / "bound.json") == bound


START, CONSTANT, RESIDUE, BOX, SPLITS = range(1, 6)
"""Where the fields of a frequency bound stand in its list."""


def at(*keys: Any, value: Any) -> Callable[[Any], None]:
    """A change of one entry."""

    def change(data: Any) -> None:
        for key in keys[:-1]:
            data = data[key]
        data[keys[-1]] = value

    return change


A_FRACTION = "expected a fraction such as"

WRONG = [
    (at("format", value="attemper-limit/4"), "it is not of the format attemper-limit/3"),
    (at("format", value="attemper-limit/2"), "it was made by an older attemper, as attemper-limit/2"),
    (at("more", value=1), "the entry 'more' is unknown"),
    (at("digest", value=3), "digest: expected a text, not 3"),
    (at("symbols", value=["0", "0", "$"]), "its symbols are not texts that differ"),
    (at("symbols", value=["0", "$"]), "or two others"),
    (at("ending", value="#"), "lack the end marker"),
    (at("ending", value=3), "ending: expected a text, not 3"),
    (at("functionals", value=[]), "its functionals are none"),
    (at("functionals", value=[[0]]), "one of them is 0 everywhere"),
    (at("functionals", value=[[1], [1, 2]]), "or not of one length"),
    (at("functionals", value=[[True]]), "functionals[0][0]: expected an integer from"),
    (at("functionals", value=[[1.0]]), "functionals[0][0]: expected an integer from"),
    (at("functionals", value=[[2**20 + 1]]), "functionals[0][0]: expected an integer from"),
    (at("bound", 0, value="words"), 'bound: expected one of ["frequency bound", ...]'),
    (at("bound", START, value=0), "bound.start: expected an integer from 1"),
    (at("bound", START, value=True), "bound.start: expected an integer from 1"),
    (at("bound", START, value=2**41), "bound.start: expected an integer from 1"),
    (at("bound", CONSTANT, value="-1"), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value="2/4"), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value="0.5"), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value="1e3"), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value="1/0"), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value=1.5), f"bound.constant: {A_FRACTION}"),
    (at("bound", CONSTANT, value="NaN"), f"bound.constant: {A_FRACTION}"),
    (at("bound", RESIDUE, value=[2, 2]), "a residue is a pair [m, r], 0 <= r < m <= 64"),
    (at("bound", RESIDUE, value=[2, True]), "bound.residue[1]: expected an integer from 0"),
    (at("bound", RESIDUE, value=[0, 0]), "bound.residue[0]: expected an integer from 1 to 64"),
    (at("bound", RESIDUE, value=[65, 0]), "bound.residue[0]: expected an integer from 1 to 64"),
    (at("bound", BOX, value=[["0", "1"], ["0", "1"]]), "its box must have 1 sides"),
    (at("bound", BOX, value=[["1", "0"]]), "a side of the box goes from a part of 1 to a greater one"),
    (at("bound", BOX, value=[["0", "2"]]), f"bound.box[0][1]: {A_FRACTION}"),
    (at("bound", SPLITS, value=None), "bound.splits: expected a text, not None"),
    (at("consequences", 0, 2, value=0), "consequences[0].start: expected an integer from 1"),
    (at("consequences", 0, 3, value=[7, -1]), "consequences[0].counts[1]: expected an integer from 0"),
    (at("consequences", 0, 3, value=[7, True]), "consequences[0].counts[1]: expected an integer from 0"),
    (at("consequences", 1, 0, value="majority floor"), 'consequences[1]: expected one of ["no margin", ...]'),
    (
        at("consequences", 1, value=["recogniser floor", 9, "1", 1]),
        'consequences[1]: after "recogniser floor"',
    ),
    (at("consequences", 2, 1, value="dyck"), "its source 'dyck' is none of parity-even, parity-odd, dyck2"),
    (at("consequences", 2, 2, value="1/2 "), f"consequences[2].p: {A_FRACTION}"),
    (at("consequences", value={}), "consequences: expected a list, not {}"),
]


@pytest.mark.parametrize(("change", "said"), WRONG)
def test_every_other_shape_is_malformed(change: Callable[[Any], None], said: str) -> None:
    data = json.loads(json.dumps(LIMIT.encode(BOUND)))
    assert LIMIT.decode(data) == BOUND
    change(data)
    with pytest.raises(CodecError, match=re.escape(said)):
        LIMIT.decode(data)


@pytest.mark.parametrize("bound", [replace(BOXED.bound, residue=None), PAIR.bound])  # type: ignore[type-var]
def test_boxes_and_pairs_are_of_encoders_with_a_marker(bound: FrequencyBound | PairBound) -> None:
    """Shares of n positions and words without x_n mean something else where x_n is any symbol."""
    with pytest.raises(CodecError, match="are of an encoder with an end marker"):
        LIMIT.decode(LIMIT.encode(replace(UNMARKED, symbols=("0", "1", "2"), bound=bound)))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(MalformedFileError, match="attemper bound MODEL"):
        LIMIT.load(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("[]")
    assert format_of(tmp_path / "other.json") == format_of(tmp_path) == format_of(tmp_path / "none") == ""
    with pytest.raises(MalformedFileError, match="is not a bound"):
        LIMIT.load(tmp_path / "other.json")
