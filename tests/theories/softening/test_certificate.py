"""Certificates of softened networks as files: they read back, and everything else is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from attemper.certificates.files import CERTIFICATE
from attemper.errors import MalformedFileError
from attemper.theories.softening.certificate import (
    Approximation,
    ClosedFormErrors,
    Enumerated,
    GapBy,
    HeadGap,
    LayerError,
    Monomial,
    decode,
    encode,
    load,
    save,
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
    assert decode(json.loads(json.dumps(encode(found)))) == found
    save(found, tmp_path)
    assert load(tmp_path) == found


def test_the_written_form_is_that_of_the_page() -> None:
    layer = {
        "magnitude": ["given", "3/2", "1"],
        "gaps": [None, ["rule", "1/2", "-1"]],
        "error": [f"{10**30}/7", "-5/1024"],
    }
    assert encode(CHAIN) == {
        "format": "attemper-approximation/1",
        "network": "ab",
        "hard": "cd",
        "epsilon": "1/100",
        "first": 1,
        "last": None,
        "evidence": {"form": "closed form", "checked_to": 5, "layers": [layer]},
    }


def _with(path: tuple[object, ...], value: object) -> Any:
    data: Any = encode(CHAIN)
    inner = data
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return data


LAYERS = ("evidence", "layers")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("format",), "attemper-approximation/2"),
        (("more",), 1),
        (("network",), 1),
        (("epsilon",), "2/4"),
        (("epsilon",), "-1"),
        (("epsilon",), 0.5),
        (("epsilon",), "1e-3"),
        (("first",), 0),
        (("first",), True),
        (("last",), 0),
        (("last",), 2**40 + 1),
        (("evidence",), {"form": "enumerated", "more": 1}),
        (("evidence",), {"form": "rule"}),
        (("evidence", "checked_to"), -1),
        (("evidence", "checked_to"), 1.0),
        (LAYERS, None),
        ((*LAYERS, 0, "more"), 1),
        ((*LAYERS, 0, "error"), ["1"]),
        ((*LAYERS, 0, "error"), ["1", "1", "1"]),
        ((*LAYERS, 0, "error"), ["1", "1/0"]),
        ((*LAYERS, 0, "error"), ["1", "12345678901"]),
        ((*LAYERS, 0, "error"), ["1" * 1001, "0"]),
        ((*LAYERS, 0, "error"), ["١", "0"]),
        ((*LAYERS, 0, "magnitude"), ["somebody", "1", "0"]),
        ((*LAYERS, 0, "magnitude"), ["1", "0"]),
        ((*LAYERS, 0, "gaps"), [["given", "-1", "0"], None]),
        ((*LAYERS, 0, "gaps"), [["given", "1", "-0"], None]),
        ((*LAYERS, 0, "gaps"), ["given"]),
    ],
)
def test_other_shapes_are_refused(path: tuple[object, ...], value: object, tmp_path: Path) -> None:
    data = _with(path, value)
    with pytest.raises(ValueError):
        decode(data)
    (tmp_path / CERTIFICATE).write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(MalformedFileError, match="is not a certificate of an approximation"):
        load(tmp_path)
