"""Ninety languages of the literature: compiled, proved, and right where plain Python functions decide.

Those functions share nothing with attemper; `docs/languages.md` says how large the networks are.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Literal

import pytest

import attemper
from attemper.certificates.claims import Certificate
from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.languages.named.entry import Automaton
from tests.support.corpora import literature
from tests.support.corpora.literature import ENTRIES, NOT_SOLVABLE, NOT_YET
from tests.support.corpora.literature.compiled import compiled, horizon, tried
from tests.support.corpora.literature.entry import Entry, Oracle
from tests.support.corpora.literature.page import NEAR, PAGE, page, size_of, sizes_in
from tests.support.corpora.literature.samples import Plan, words_of

COMPILING = [name for name in ENTRIES if name not in (*NOT_SOLVABLE, *NOT_YET)]

SIZES = sizes_in(PAGE.read_text(encoding="utf-8"))

NEAR_HORIZONS = [name for name, size in SIZES.items() if size is not None and size.float32 < NEAR]

SAMPLE = (
    "Tomita 3, expression",
    "Tomita 3, program",
    "Even pairs, formula",
    "Bucket sort of 1 2 3",
    "D_4",
    "Shuffle-2",
    "Boolean-3",
    "Reset-Dyck-1",
    "LTT: at least 2 ab, fewer than 3 cc",
    "Alternate response",
    "Flip-flop, formula",
    "Gridworld, 3 x 3 cells",
    "D4",
    "Dyck-(2, 2)",
)
"""A dozen of all kinds, for every run of the tests."""

FEW = Plan(short=60, each=8, longest=100)
MANY = Plan(short=2_100, each=160)
SOME = Plan(short=150, each=24)

FLOAT32_WORDS = 60


def proved(model: attemper.Model) -> Certificate:
    """The certificate, of which every claim is proved."""
    certificate = model.certify()
    assert model.check(certificate).status is Status.PROVED
    return certificate


# A few at every run ----------------------------------------------------------------------------------------


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_dozen_are_proved_and_right_on_a_few_words(name: str) -> None:
    entry = ENTRIES[name]
    model = compiled(entry)
    assert horizon(proved(model), "float64") >= FEW.longest
    found = tried(entry, model, words_of(entry, FEW))
    assert found.wrong == ()
    assert 8 <= found.members < found.words


@pytest.mark.parametrize("name", NOT_SOLVABLE)
def test_groups_that_are_not_solvable_are_refused(name: str) -> None:
    with pytest.raises(UnsupportedError, match="in a group that is not solvable: it has the factor A5"):
        compiled(ENTRIES[name])


@pytest.mark.parametrize("name", NOT_YET)
def test_what_is_not_built_yet_is_refused(name: str) -> None:
    with pytest.raises(UnsupportedError):
        compiled(ENTRIES[name])


def test_the_page_names_these_languages_and_what_is_refused() -> None:
    """Everything on the page but the numbers, which the slow tests compare."""
    assert list(SIZES) == list(ENTRIES)
    assert len(SIZES) == 91
    assert {name for name, size in SIZES.items() if size is None} == {*NOT_SOLVABLE, *NOT_YET}
    assert page(SIZES) == PAGE.read_text(encoding="utf-8")


# The oracles -----------------------------------------------------------------------------------------------


def test_sources_and_oracles_are_loaded_without_the_rest_of_attemper() -> None:
    """The zoo's own files import nothing of what compiles either (`tests/languages/named/test_zoo.py`)."""
    script = "import sys, tests.support.corpora.literature.samples; print(*sys.modules)"
    root = Path(__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root
    )
    loaded = {name for name in found.stdout.split() if name.startswith("attemper.")}
    plain = {f"attemper.{name}" for name in ("errors", "escapes", "languages", "languages.words", "version")}
    assert {name for name in loaded - plain if not name.startswith("attemper.languages.named")} == set()


def test_only_what_compiles_imports_more_of_attemper_than_the_zoo() -> None:
    folder = Path(literature.__file__).parent
    importing = {path.name for path in folder.glob("*.py") if _imported(path)}
    assert importing == {"compiled.py", "page.py", "__main__.py"}


def _imported(path: Path) -> set[str]:
    """What a file imports of attemper besides the zoo."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    named = {name for name in named if name.partition(".")[0] == "attemper"}
    return {name for name in named if not name.startswith("attemper.languages.named")}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_words_are_of_the_kinds_that_they_should_be(name: str) -> None:
    entry = ENTRIES[name]
    words = words_of(entry, SOME)
    assert words[0] == ""
    assert set(entry.alphabet) <= set(words)
    assert len(words[-1]) >= SOME.longest - 1
    long_ones = [entry.oracle.accepts(word) for word in words if len(word) >= SOME.longest // 3]
    assert 2 <= sum(long_ones) <= len(long_ones) - 2


@pytest.mark.parametrize("name", [name for name, entry in ENTRIES.items() if entry.member is not None])
def test_members_are_members(name: str) -> None:
    entry, draw = ENTRIES[name], Random(name)
    assert entry.member is not None
    for length in (*range(20, 40), 299, 300):
        word = entry.member(draw, length)
        assert len(word) <= length
        assert entry.oracle.accepts(word), word


@pytest.mark.parametrize("name", [name for name, e in ENTRIES.items() if isinstance(e.source, Automaton)])
def test_automata_and_their_oracles_are_two_definitions_of_one_language(name: str) -> None:
    """So that what is refused is what it is called, too."""
    entry = ENTRIES[name]
    for word in words_of(entry, SOME):
        assert _accepted_prefixes(entry, word) == _prefixes(entry.oracle, word), word


def _accepted_prefixes(entry: Entry, word: str) -> list[bool]:
    assert isinstance(entry.source, Automaton)
    state, found = 0, [0 in entry.source.accepting]
    for symbol in word:
        state = entry.source.moves[state][entry.alphabet.index(symbol)]
        found.append(state in entry.source.accepting)
    return found


def _prefixes(oracle: Oracle, word: str) -> list[bool]:
    assert oracle.prefixes is not None
    return oracle.prefixes(word)


# All of them, on many words --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILING)
def test_every_language_is_proved_and_right_and_as_large_as_the_page_says(name: str) -> None:
    entry = ENTRIES[name]
    model = compiled(entry)
    certificate = proved(model)
    assert horizon(certificate, "float64") >= MANY.longest
    words = words_of(entry, MANY)
    assert tried(entry, model, words).wrong == ()
    reached = [word for word in words if len(word) <= horizon(certificate, "float32")]
    some = Random(name).sample(reached, min(FLOAT32_WORDS, len(reached)))
    assert tried(entry, model, some, "float32").wrong == ()
    assert size_of(model, certificate) == SIZES[name], (
        "docs/languages.md says another size: python -m tests.support.corpora.literature --write"
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", NEAR_HORIZONS)
def test_near_float32_horizons_are_reached(name: str) -> None:
    """Words of the horizon's own length and of one less, among others."""
    entry = ENTRIES[name]
    model = compiled(entry)
    longest = horizon(model.certify(), "float32")
    words = words_of(entry, Plan(short=1, each=8, longest=longest))
    assert {longest - 1, longest} <= set(map(len, words))
    assert tried(entry, model, words, "float32").wrong == ()


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["temperature", "decoder"])
@pytest.mark.parametrize("name", COMPILING)
def test_every_language_in_other_regimes(name: str, regime: Literal["temperature", "decoder"]) -> None:
    entry = ENTRIES[name]
    if regime == "decoder" and entry.oracle.prefixes is None:
        with pytest.raises(UnsupportedError, match="decoder"):
            compiled(entry, regime)
        return
    model = compiled(entry, regime)
    longest = min(horizon(proved(model), "float64"), SOME.longest)
    assert tried(entry, model, words_of(entry, Plan(SOME.short, SOME.each, longest))).wrong == ()


def test_a_network_of_another_language_is_noticed() -> None:
    few, many = ENTRIES["D_2"], ENTRIES["D_3"]
    assert tried(few, compiled(many), ["", "ab", "aabb", "aaabbb", "ba"]).wrong == ("aaabbb",)
