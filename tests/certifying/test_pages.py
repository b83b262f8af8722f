"""What the documents say of horizons and of proofs, against what is proved today."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.certifying.certificate import prove
from attemper.errors import UnprovedError, UnsupportedError
from attemper.languages.temporal.show import show
from attemper.workbench.options import RegimeName
from tests.support.drawn import automata
from tests.support.drawn.samples import FormulaSampler

DOCS = Path(__file__).parents[2] / "docs"

THEORY = (DOCS / "theory.md").read_text(encoding="utf-8")
AUTOMATA = " ".join((DOCS / "automata.md").read_text(encoding="utf-8").split())


def horizon(model: attemper.Model, kernel: str = "numerator-first", dtype: str = "float32") -> int:
    claims = [one for one in model.certify().claims if isinstance(one, FloatClaim)]
    return next(one.horizon for one in claims if (one.format, one.kernel) == (dtype, kernel))


def numbers(text: str) -> list[int]:
    return [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*\d|\d", text)]


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("row", "formula", "regimes"),
    [
        ("`even(#<[a])` (worst word: b a^(n-1))", "even(#<[a])", ("unbounded", "temperature", "decoder")),
        ("`#<[a] <= #>[b]`", "#<[a] <= #>[b]", ("unbounded", "temperature")),
        ("PARITY without predicates", "!O (#<[Y a] = #>[a])", ("unbounded", "temperature")),
        ("`a S b`", "a S b", ("unbounded", "decoder")),
    ],
)
def test_the_table_of_proved_horizons(row: str, formula: str, regimes: tuple[RegimeName, ...]) -> None:
    (stated,) = re.findall(
        rf"^\| {re.escape(row)} \| {', '.join(regimes)} \| ([\d, ]+) \|", THEORY, re.MULTILINE
    )
    assert numbers(stated) == [horizon(attemper.compile(formula, "ab", regime=one)) for one in regimes]


def test_the_range_of_one_sided_horizons() -> None:
    (stated,) = re.findall(
        r"^\| `Y a`, comparisons of left counts \| all \| ([\d,]+ to [\d,]+) \|", THEORY, re.MULTILINE
    )
    regimes: tuple[RegimeName, ...] = ("unbounded", "temperature", "decoder")
    found = [
        horizon(attemper.compile(formula, "ab", regime=regime))
        for formula in ("Y a", "#<[a] <= #<[b]")
        for regime in regimes
    ]
    assert numbers(stated) == [min(found), max(found)]


@pytest.mark.sweep(0)
def test_the_horizon_of_a_counter_and_of_its_cascade() -> None:
    (stated,) = re.findall(
        r"to length (\d+) in float32 as a counter \(three layers\), to ([\d,]+) as a cascade", AUTOMATA
    )
    brackets = automata.dyck(10)
    counter = attemper.compile(brackets)
    cascade = attemper.compile(brackets, horizon=100_000, dtype="float32", kernel="normalise-first")
    assert (counter.cfg.n_layers, cascade.cfg.n_layers) == (3, 7)
    kernel = "normalise-first"
    assert numbers(" ".join(stated)) == [horizon(counter, kernel), horizon(cascade, kernel)]


@pytest.mark.sweep(0)
def test_the_horizon_of_a_walk() -> None:
    (stated,) = re.findall(r"A walk is proved to length (\d+) in float32", AUTOMATA)
    assert int(stated) == horizon(attemper.compile(automata.clamped(8)))


@pytest.mark.slow
def test_how_many_random_formulas_have_no_proof() -> None:
    """The first 1,500 of the sampler that compile, over two and three letters, of three sizes."""
    promised = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    (stated,) = re.findall(r"of 1,500 random formulas (\d+) have no proof", promised)
    proved, unproved, seed = 0, 0, 0
    while proved + unproved < 1_500:
        draw, seed = random.Random(seed), seed + 1
        letters = ("a", "b", "c")[: 2 + seed % 2]
        formula = FormulaSampler(draw, letters).formula(3 + seed % 3)
        try:
            model = attemper.compile(show(formula), letters, at="last")
        except UnsupportedError:
            continue
        try:
            prove(model.network, model.language.definition, model.realisation)
        except UnprovedError:
            unproved += 1
        else:
            proved += 1
    assert unproved == int(stated)
