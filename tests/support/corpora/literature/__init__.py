"""Ninety languages that papers and benchmarks about transformers and recurrent networks recognise.

`python -m tests.support.corpora.literature --write` compiles them and writes `docs/languages.md`.
"""

from __future__ import annotations

from tests.support.corpora.literature import (
    bhattamishra,
    declare,
    deletang,
    dyck,
    semiautomata,
    subregular,
    tomita,
)
from tests.support.corpora.literature.entry import Entry, Family

FAMILIES: tuple[Family, ...] = (
    tomita.FAMILY,
    deletang.FAMILY,
    bhattamishra.FAMILY,
    subregular.FAMILY,
    declare.FAMILY,
    semiautomata.FAMILY,
    dyck.FAMILY,
)

ENTRIES: dict[str, Entry] = {entry.name: entry for family in FAMILIES for entry in family.entries}

NOT_SOLVABLE = ("A5", "S5")
"""Groups that are not solvable: refused, and for good, unless TC0 = NC1."""

NOT_YET: tuple[str, ...] = ()
"""What is refused today, and should compile: a test fails as soon as one of them does."""
