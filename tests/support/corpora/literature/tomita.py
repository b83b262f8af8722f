"""Tomita's seven languages, which studies of recurrent networks and transformers have used ever since."""

from __future__ import annotations

from tests.support.corpora.literature.entry import Family, named

FAMILY = Family(
    "Tomita's languages",
    "M. Tomita, *Dynamic construction of finite-state automata from examples using hill-climbing*, 1982.",
    (
        named("Tomita 1", "tomita-1", before=1, other=1),
        named("Tomita 2", "tomita-2", before=2),
        named("Tomita 3, expression", "tomita-3", before=5, other=1),
        named("Tomita 3, program", "tomita-3"),
        named("Tomita 4", "tomita-4", before=2),
        named("Tomita 5, expression", "tomita-5", before=2, other=1),
        named("Tomita 5, formula", "tomita-5", before=2),
        named("Tomita 6, expression", "tomita-6", before=2, other=1),
        named("Tomita 6, formula", "tomita-6"),
        named("Tomita 7", "tomita-7", before=3),
    ),
)
