"""Certificates of softened networks as files: they read back, and everything else is refused."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from attemper.certificates.files import CERTIFICATE
from attemper.errors import MalformedFileError
from attemper.exact.codec import CodecError
from attemper.exact.monomials import Monomial
from attemper.theories.softening.certificate import (
    APPROXIMATION,
    Approximation,
    ClosedFormErrors,
    Enumerated,
    GapBy,
    HeadGap,
    LayerError,
)

LAYER = LayerError(
    Monomial(Fraction(3, 2), Fraction(1)),
    GapBy.GIVEN,
    (None, HeadGap(GapBy.RULE, Monomial(Fraction(1, 2), Fraction(-1)))),
    Monomial(Fraction(10**30, 7), Fraction(-5, 1024)),
)
CHAIN = Approximation("ab", "cd", Fraction(1, 100), 1, None, ClosedFormErrors((LAYER,), 5))
TRIED = Approximation("ab", "cd", Fraction(0), 2, 9, Enumerated())


@pytest.mark.parametrize("found", [CHAIN, TRIED])
def test_a_certificate_reads_back(found: Approximation, tmp_path: Path) -> None:
    assert APPROXIMATION.decode(json.loads(json.dumps(APPROXIMATION.encode(found)))) == found
    APPROXIMATION.save(found, tmp_path / CERTIFICATE)
    assert APPROXIMATION.load(tmp_path / CERTIFICATE) == found


def test_the_written_form_is_that_of_the_page() -> None:
    layer = {
        "magnitude": {"factor": "3/2", "power": "1"},
        "magnitude_by": "given",
        "gaps": [None, {"by": "rule", "gap": {"factor": "1/2", "power": "-1"}}],
        "error": {"factor": f"{10**30}/7", "power": "-5/1024"},
    }
    assert APPROXIMATION.encode(CHAIN) == {
        "format": "attemper-approximation/2",
        "network": "ab",
        "hard": "cd",
        "epsilon": "1/100",
        "first": 1,
        "last": None,
        "evidence": ["closed form errors", [layer], 5],
    }


def _with(path: tuple[object, ...], value: object) -> Any:
    data: Any = APPROXIMATION.encode(CHAIN)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


LAYERS = ("evidence", 1)
ERROR = (*LAYERS, 0, "error")
GAPS = (*LAYERS, 0, "gaps")


def _power(power: object) -> dict[str, object]:
    return {"factor": "1", "power": power}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("format",), "attemper-approximation/3", "it is not of the format attemper-approximation/2"),
        (("format",), "attemper-approximation/1", "it was made by an older attemper"),
        (("more",), 1, "the entry 'more' is unknown"),
        (("network",), 1, "network: expected a text, not 1"),
        (("epsilon",), "2/4", "epsilon: expected a fraction"),
        (("epsilon",), "-1", "epsilon: expected a fraction"),
        (("epsilon",), 0.5, "epsilon: expected a fraction"),
        (("epsilon",), "1e-3", "epsilon: expected a fraction"),
        (("first",), 0, "first: expected an integer from 1"),
        (("first",), True, "first: expected an integer from 1"),
        (("last",), 0, "last: expected an integer from 1"),
        (("last",), 2**40 + 1, "last: expected an integer from 1"),
        (("evidence",), ["enumerated", 1], 'evidence: after "enumerated" stands nothing, not [1]'),
        (("evidence",), ["rule"], 'evidence: expected one of ["enumerated", ...]'),
        (("evidence", 2), -1, "evidence.checked_to: expected an integer from 0"),
        (("evidence", 2), 1.0, "evidence.checked_to: expected an integer from 0"),
        (LAYERS, None, "evidence.layers: expected a list, not None"),
        ((*LAYERS, 0, "more"), 1, "evidence.layers[0]: the entry 'more' is unknown"),
        (ERROR, {"factor": "1"}, "layers[0].error: the entry 'power' is missing"),
        (ERROR, {**_power("1"), "more": "1"}, "layers[0].error: the entry 'more' is unknown"),
        (ERROR, ["1", "1"], "layers[0].error: expected an object with the entries factor, power"),
        (ERROR, _power("1/0"), "layers[0].error.power: expected a fraction"),
        (ERROR, _power("1234567890"), "layers[0].error.power: expected a fraction"),
        (ERROR, {"factor": "1" * 1001, "power": "0"}, "layers[0].error.factor: expected a fraction"),
        (ERROR, {"factor": "\u0661", "power": "0"}, "layers[0].error.factor: expected a fraction"),
        ((*LAYERS, 0, "magnitude_by"), "somebody", 'magnitude_by: expected one of "rule", "given"'),
        ((*LAYERS, 0, "magnitude_by"), None, 'magnitude_by: expected one of "rule", "given"'),
        (
            GAPS,
            [{"by": "given", "gap": {"factor": "-1", "power": "0"}}, None],
            "layers[0].gaps[0].gap.factor: expected a fraction",
        ),
        (
            GAPS,
            [{"by": "given", "gap": _power("-0")}, None],
            "layers[0].gaps[0].gap.power: expected a fraction",
        ),
        (GAPS, ["given"], "layers[0].gaps[0]: expected an object with the entries by, gap"),
    ],
)
def test_other_shapes_are_refused(path: tuple[object, ...], value: object, said: str, tmp_path: Path) -> None:
    data = _with(path, value)
    with pytest.raises(CodecError, match=re.escape(said)):
        APPROXIMATION.decode(data)
    (tmp_path / CERTIFICATE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedFileError, match="is not a certificate of an approximation"):
        APPROXIMATION.load(tmp_path / CERTIFICATE)


def test_the_last_length_is_not_before_the_first() -> None:
    data: Any = APPROXIMATION.encode(TRIED)
    assert APPROXIMATION.decode({**data, "first": 9}).first == 9
    with pytest.raises(CodecError, match="the last length is less than the first"):
        APPROXIMATION.decode({**data, "first": 10})
