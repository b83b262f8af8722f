"""Each construction is one file, and passes know none of them by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

import attemper
from attemper.compiling.constructions.table import plan_of
from attemper.compiling.pipeline import compile_language
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.layers import Construction, HardWeighting, Softmax
from attemper.networks.regime import Regime
from tests.support.drawn.matching import kth_b
from tests.support.drawn.nearest import dyck, language_of

COMPILING = Path(attemper.__file__).parent / "compiling"
NAMES = [re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower() for kind in get_args(Construction)]
AB = Alphabet(("a", "b"))
WITH_ALL = "Y a & a S b & #<[a] > 2 & #<[a] = #>[b] & even(#<[b])"


def test_each_construction_is_one_short_file() -> None:
    files = {path.stem: path for path in (COMPILING / "constructions").glob("*.py")}
    assert set(files) == {*NAMES, "table", "__init__"}
    for path in files.values():
        assert len(path.read_text(encoding="utf-8").splitlines()) < 150, path


@pytest.mark.parametrize("folder", ["assembling", "softening", "building"])
def test_passes_know_no_construction_by_name(folder: str) -> None:
    kinds = "|".join(kind.__name__ for kind in get_args(Construction))
    for path in (COMPILING / folder).glob("*.py"):
        assert not re.search(rf"\b({kinds})\b", path.read_text(encoding="utf-8")), path


def test_the_table_has_a_plan_for_every_construction() -> None:
    language = TemporalLanguage(parse(WITH_ALL, AB), At.LAST, False)
    brackets = dyck(2)
    seen = set()
    compiled = [
        compile_language(language, AB, Regime.UNBOUNDED),
        compile_language(language_of(brackets), brackets.alphabet, Regime.UNBOUNDED),
        compile_language(language_of(kth_b()), AB, Regime.UNBOUNDED),
    ]
    both = [pair for own in compiled for pair in ((own.hard, HardWeighting), (own.soft, Softmax))]
    for network, weighting in both:
        for head in (head for layer in network.layers for head in layer.heads):
            plan = plan_of(head)
            assert (plan.construction, plan.masking) == (head.construction, head.masking)
            assert plan.renamed(lambda form: form) == head.construction
            assert isinstance(head.weighting, weighting)
            assert 0 <= plan.stray_mass(Regime.UNBOUNDED, 8) <= plan.stray_mass(Regime.UNBOUNDED, 4) < 1
            seen.add(type(head.construction))
    assert seen == set(get_args(Construction))
