"""The demo: entries of the zoo, each compiled, proved, and right on long words."""

from __future__ import annotations

import pytest

from attemper.languages.named.entry import Entry, FormulaText, SourceText
from attemper.networks.regime import Regime
from attemper.workbench.demo import LONGEST, SHOWN, demo_row, demo_words, title
from attemper.workbench.zoo import compile_entry

TITLES = [title(*shown) for shown in SHOWN]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    ("entry", "source"), [*SHOWN[::3], *SHOWN[-3:-1]], ids=[*TITLES[::3], *TITLES[-3:-1]]
)
def test_the_demo_finds_the_transformers_right(entry: Entry, source: SourceText) -> None:
    row = demo_row(entry, source, Regime.TEMPERATURE)
    assert row is not None
    assert row.right
    assert row.longest == LONGEST == 2_000
    assert row.verdict == "PROVED"


def test_a_regime_that_cannot_has_no_row() -> None:
    (total,) = [shown for shown in SHOWN if isinstance(shown[1], FormulaText) and "#['1']" in shown[1].text]
    assert demo_row(*total, Regime.DECODER) is None


def test_the_demo_has_parity_three_times_and_every_other_language_once() -> None:
    assert len(set(TITLES)) == len(TITLES) == 12
    names = [entry.name for entry, _ in SHOWN]
    assert names.count("parity-odd") == 3
    assert len(set(names)) == 10


def test_words_of_the_demo_are_in_the_language_and_not() -> None:
    for entry, source in SHOWN:
        words = list(demo_words(entry, compile_entry(entry, source)))
        long_ones = [entry.accepts(word) for word in words if len(word) > 4]
        assert any(long_ones), entry.name
        assert not all(long_ones), entry.name
