"""Brackets of k kinds to depth m, Dyck-(k, m): how much hierarchy a transformer holds."""

from __future__ import annotations

from tests.support.corpora.literature.entry import Entry, Family, named


def brackets(kinds: int, depth: int, before: int | None) -> Entry:
    return named(f"Dyck-({kinds}, {depth})", f"dyck-{kinds}-depth-{depth}", before=before)


FAMILY = Family(
    "Dyck languages of bounded depth",
    "J. Hewitt et al., *RNNs can generate bounded hierarchical languages with optimal memory*, 2020; "
    "S. Yao et al., *Self-Attention Networks Can Process Bounded Hierarchical Languages*, 2021.",
    (
        brackets(2, 2, 3),
        brackets(2, 3, 4),
        brackets(2, 4, 5),
        brackets(2, 5, 6),
        brackets(3, 3, 4),
        brackets(8, 2, 3),
        brackets(8, 3, None),
    ),
)
