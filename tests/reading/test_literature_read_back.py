"""Languages of the literature: what is read back from their networks, judged by plain Python functions."""

from __future__ import annotations

import pytest

from attemper.checker.names import UnprovenError
from attemper.errors import UnsupportedError
from tests.support.corpora.literature import ENTRIES, NOT_SOLVABLE, NOT_YET
from tests.support.corpora.literature.compiled import compiled
from tests.support.corpora.literature.samples import Plan, words_of
from tests.support.judges.read_back import decompiled, said_of
from tests.support.slowly import mostly_slow

COUNTING = frozenset(
    {
        *("Majority", "Bucket sort of 1 2 3", "a^n b^n", "a^n b^n c^n", "a^n b^n c^n d^n"),
        *("Shuffle-1", "Shuffle-2", "Shuffle-4", "Shuffle-6", "Boolean-3", "Boolean-5"),
    }
)
"""They count without bound, and come back as formulas."""

NOT_READ = {"Reset-Dyck-1": "a head looks to the right"}
"""Counts that rise and fall since a position that is looked for: no automaton, and no formula either."""

SAMPLE = (
    "Tomita 3, program",
    "D_12",
    "Shuffle-6",
    "Reset-Dyck-1",
    "Response",
    "Q8",
    "Dyck-(2, 3)",
    "Tomita 7",
)

WORDS = Plan(short=500, each=40, longest=120)


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "name", mostly_slow((name for name in ENTRIES if name not in (*NOT_SOLVABLE, *NOT_YET)), fast=SAMPLE)
)
def test_a_language_of_the_literature_is_read_back(name: str) -> None:
    """All that are read at the last position; those that are no automata are formulas that count."""
    entry = ENTRIES[name]
    network = compiled(entry).network
    if network.reads_first:
        with pytest.raises(UnsupportedError, match="read at the first position"):
            decompiled(network)
        return
    if name in NOT_READ:
        with pytest.raises(UnprovenError, match=NOT_READ[name]):
            decompiled(network)
        return
    found = decompiled(network, seconds=600)
    assert (found.automaton is None) is (name in COUNTING)
    symbols = network.alphabet.symbols
    for word in words_of(entry, WORDS):
        if word:
            said = said_of(found.language.definition, symbols, tuple(map(symbols.index, word)))
            assert said is entry.oracle.accepts(word), word
    assert network.accepts_empty is entry.oracle.accepts("")
