"""Tables of lemmas: what is measured is at most what is proved, and that at most what is published."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.theories.softening.ask import soften
from attemper.theories.softening.lemmas import compared
from attemper.theories.softening.lemmas.compared import LemmaTable
from tests.support.drawn.tied_networks import levelled
from tests.support.drawn.typed_networks import ever_closer, last_a, tied_at_seven, two_into_one

ROUNDED = 1.01
"""Numbers are printed with three digits."""

UNTOLD = 1e-50
"""What is measured and less than this was not told from 0."""

SOFTENED = {
    "one head": lambda: soften(last_a(), epsilon="1/100"),
    "two heads and a unit": lambda: soften(two_into_one(), epsilon="1/100"),
    "ties": lambda: soften(levelled("<=", {"a": 1}, {"a": 1}), epsilon="1/100"),
    "tried": lambda: soften(tied_at_seven(), epsilon="1/100", up_to=6),
    "no monomial": lambda: soften(ever_closer(5), epsilon="1/8", up_to=5),
    "flip-flop": lambda: soften(attemper.compile("zoo:flip-flop", regime="temperature"), epsilon="1/8"),
    "parity": lambda: soften(attemper.compile("zoo:parity-even", regime="temperature"), epsilon="1/100"),
    "dyck-2": lambda: soften(attemper.compile("zoo:dyck-2", regime="temperature"), epsilon="1/8"),
}


@pytest.fixture(autouse=True)
def _short_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two letters those of four symbols, of four or five those of two."""
    monkeypatch.setattr(compared, "MOST_RUN", 30)


def number(text: str | None) -> float:
    return inf if text is None else float(text.removeprefix("<"))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", SOFTENED)
def test_what_is_measured_is_at_most_every_bound_and_ours_at_most_the_published_one(name: str) -> None:
    tables = SOFTENED[name]().lemmas
    assert [own.temperatures for own in tables] == ["as softened", "of Theorem 26, as published"]
    for own in tables:
        require_in_order(own)
    assert {row.lemma for row in tables[0].rows} >= {
        "24",
        "25, 30",
        "28",
        "26",
        "29",
        "32",
        "33",
        "34",
        "Edelman et al.",
    }
    # At its own temperature Theorem 26 says something of every layer, and keeps its epsilon.
    assert all(row.published is not None for row in tables[1].rows if row.lemma != "24")


def require_in_order(found: LemmaTable) -> None:
    for row in found.rows:
        bounds = [number(text) for text in (row.own, row.published, row.proved)]
        own, published, proved = bounds
        if row.lemma == "24":
            assert proved <= number(row.measured) * ROUNDED or row.proved is None
            continue
        assert number(row.measured) <= min(bounds) * ROUNDED + UNTOLD, row
        assert own <= published * ROUNDED or row.own is None, row


def test_scores_are_off_by_what_the_weights_make_of_the_error_before() -> None:
    """Lemma 32 by hand: |A|_1 (2 X e + e^2), the sum over pairs of coordinates."""
    softened = soften(attemper.compile("zoo:dyck-2", regime="temperature"), epsilon="1/8")
    rows = {(row.place, row.lemma): row for row in softened.lemmas[0].rows}
    before, read = number(rows["1", "25, 30"].own), number(rows["2", "29"].own)
    head = softened.hard.layers[2].heads[0]
    pairs: dict[tuple[int, int], Fraction] = {}
    for query, key in zip(head.query, head.key, strict=True):
        for (a, x), (b, y) in product(query, key):
            pairs[a, b] = pairs.get((a, b), Fraction(0)) + x * y
    entries = float(sum(abs(value) for value in pairs.values()))
    assert number(rows["2.0", "32"].own) == pytest.approx(entries * (2 * read * before + before**2), rel=0.02)


def test_the_table_of_a_rounded_network_is_at_its_own_temperatures_alone() -> None:
    (alone,) = soften(last_bit(), epsilon="1/8", rounding=True).lemmas
    assert alone.rows[-1].proved == "0"


def last_bit() -> attemper.Model:
    return attemper.compile("O a", "ab", regime="temperature")


def test_a_word_that_ties_behind_what_was_assumed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared, "MOST_RUN", 256)
    found = soften(tied_at_seven(), epsilon="1/100", gaps={"0.0": "1"}, up_to=6)
    with pytest.raises(UnsupportedError, match="ties"):
        _ = found.lemmas
