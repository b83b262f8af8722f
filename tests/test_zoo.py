"""The zoo end to end: every language in every regime is proved, right on words, and as the page says."""

from __future__ import annotations

from itertools import product

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.languages.named.entry import Entry, RegimeName, SourceText, Transduction
from attemper.languages.named.zoo import (
    everything,
    language_named,
    named,
)
from attemper.languages.words import Word
from attemper.workbench.zoo import compile_entry
from tests.support.corpora.zoo import PAGE, attention_layers, horizon, page, short_words, size_of, sizes_in
from tests.support.writers.compared import LENGTHS, TASKS, agree, compared, compared_words

SIZES = sizes_in(PAGE.read_text(encoding="utf-8"))

BUILT = [entry for entry in everything() if isinstance(entry, Entry) and entry.sources]

PUTTING_OUT = [entry for entry in everything() if isinstance(entry, Transduction) and entry.sources]

COMPILING = [(entry, regime) for entry in BUILT for regime in entry.regimes]

OTHER_SOURCES = [(entry, source) for entry in BUILT for source in entry.also]

SAMPLE: tuple[tuple[str, RegimeName], ...] = (
    ("parity", "decoder"),
    ("a-n-b-n", "temperature"),
    ("dyck-shuffle-2", "unbounded"),
    ("dyck-2-depth-2", "decoder"),
    ("flip-flop", "temperature"),
    ("k-hop-1", "unbounded"),
    ("mqar", "decoder"),
    ("detect-aab", "unbounded"),
    ("seen-3", "temperature"),
    ("dyck-2", "temperature"),
    ("palindromes", "unbounded"),
)

LONGEST = 256


def words_of(entry: Entry, count: int, longest: int) -> list[Word]:
    """Members, strangers and near misses, and the edge words themselves."""
    pairs = entry.near_misses(seed=1, count=count, longest=longest)
    return [
        (),
        *entry.members(seed=1, count=count, longest=longest),
        *entry.strangers(seed=1, count=count, longest=longest),
        *(word for pair in pairs for word in pair),
    ]


def require_proved_and_right(model: attemper.Model, entry: Entry, count: int) -> None:
    """The certificate is accepted, and so is every word by the oracle's verdict, in float64."""
    assert model.check(model.certify()).status is Status.PROVED
    words = words_of(entry, count, LONGEST)
    assert max(map(len, words)) == LONGEST
    for word, run in zip(words, model.run(words), strict=True):
        assert run.accepted is entry.accepts(word), word


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("name", "regime"), SAMPLE)
def test_some_are_proved_and_right(name: str, regime: RegimeName) -> None:
    model, entry = attemper.compile(f"zoo:{name}", regime=regime), language_named(name)
    assert attention_layers(model) <= entry.layers
    require_proved_and_right(model, entry, 4)


def require_proved_and_put_out(model: attemper.Model, entry: Transduction, count: int) -> None:
    """The certificate is accepted, and every word gives what the oracle says, in float64."""
    assert model.check(model.certify()).status is Status.PROVED
    words = [word for word in entry.words(seed=1, count=count, longest=LONGEST) if word]
    assert max(map(len, words)) == LONGEST
    for word, run in zip(words, model.run(words), strict=True):
        assert agree(run.outputs, entry.outputs(word)), word


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("name", "regime"),
    [
        *(("induction-head", "temperature"), ("mqar-symbol", "decoder"), ("sort", "unbounded")),
        *(("histogram", "unbounded"), ("fraction-seen", "decoder"), ("trigram-lm", "temperature")),
        ("reverse", "temperature"),
    ],
)
def test_some_put_out_what_they_should(name: str, regime: RegimeName) -> None:
    model, entry = attemper.compile(f"zoo:{name}", regime=regime), named(name)
    assert attention_layers(model) <= entry.layers
    require_proved_and_put_out(model, entry, 30)


def test_the_page_has_all_languages_and_says_what_is_not_compiled() -> None:
    """Everything on the page but the numbers, which the slow tests compare."""
    assert list(SIZES) == [entry.name for entry in everything()]
    assert page(SIZES) == PAGE.read_text(encoding="utf-8")


def test_no_language_has_more_layers_on_the_page_than_it_should() -> None:
    for entry in (*BUILT, *PUTTING_OUT):
        size = SIZES[entry.name]
        assert size.layers <= entry.layers
        assert tuple(regime for regime, _ in size.horizons) == entry.regimes


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "regime"), COMPILING, ids=[f"{entry.name} {regime}" for entry, regime in COMPILING]
)
def test_every_language_is_proved_and_right_in_its_regimes(entry: Entry, regime: RegimeName) -> None:
    model = attemper.compile(f"zoo:{entry.name}", regime=regime)
    assert attention_layers(model) <= entry.layers
    require_proved_and_right(model, entry, 60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "source"),
    OTHER_SOURCES,
    ids=[
        f"{entry.name} {type(source).__name__} {number}"
        for number, (entry, source) in enumerate(OTHER_SOURCES)
    ],
)
def test_other_ways_to_write_a_language_are_proved_and_right(entry: Entry, source: SourceText) -> None:
    require_proved_and_right(compile_entry(entry, source), entry, 30)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "regime"),
    [(entry, regime) for entry in PUTTING_OUT for regime in entry.regimes],
    ids=[f"{entry.name} {regime}" for entry in PUTTING_OUT for regime in entry.regimes],
)
def test_everything_that_is_put_out_is_proved_and_right(entry: Transduction, regime: RegimeName) -> None:
    model = attemper.compile(f"zoo:{entry.name}", regime=regime)
    assert attention_layers(model) <= entry.layers
    require_proved_and_put_out(model, entry, 200)


IN_THEIR_REGIMES = [(entry, regime) for entry in (*BUILT, *PUTTING_OUT) for regime in entry.regimes]

AT_ONCE = 2_048
"""So many words are run together."""


def require_right_on_all(words: list[Word], entry: Entry | Transduction, model: attemper.Model) -> None:
    """The network, run in float64, is right on every word."""
    for start in range(0, len(words), AT_ONCE):
        for run in model.run(words[start : start + AT_ONCE]):
            if isinstance(entry, Entry):
                assert run.accepted is entry.accepts(run.word), run.word
            else:
                assert agree(run.outputs, entry.outputs(run.word)), run.word


@pytest.mark.slow
@pytest.mark.parametrize(
    ("entry", "regime"),
    IN_THEIR_REGIMES,
    ids=[f"{entry.name} {regime}" for entry, regime in IN_THEIR_REGIMES],
)
def test_networks_are_right_on_all_short_words(entry: Entry | Transduction, regime: RegimeName) -> None:
    """Some 300,000 words in all."""
    words = [word for word in short_words(entry) if word]
    require_right_on_all(words, entry, attemper.compile(f"zoo:{entry.name}", regime=regime))


@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("name", ["dyck-2", "dyck-3", "reverse"])
def test_some_networks_are_right_on_all_words_of_four_symbols(name: str, regime: RegimeName) -> None:
    entry = named(name)
    words = [word for n in range(1, 5) for word in product(entry.alphabet, repeat=n)]
    require_right_on_all(words, entry, attemper.compile(f"zoo:{name}", regime=regime))


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_brackets_of_two_kinds_are_right_on_all_words_of_eight_symbols(regime: RegimeName) -> None:
    entry = language_named("dyck-2")
    words = [word for n in (7, 8) for word in product(entry.alphabet, repeat=n)]
    require_right_on_all(words, entry, attemper.compile("zoo:dyck-2", regime=regime))


@pytest.mark.slow
@pytest.mark.parametrize("entry", [*BUILT, *PUTTING_OUT], ids=lambda entry: entry.name)
def test_networks_are_as_large_as_the_page_says(entry: Entry | Transduction) -> None:
    assert size_of(entry) == SIZES[entry.name], (
        "docs/zoo.md says another size: python -m tests.support.corpora.zoo --write"
    )


COMPARED = [(task.entry, regime) for task in TASKS for regime in named(task.entry).regimes]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "regime"), COMPARED)
def test_tasks_of_other_compilers_are_right_in_float32(name: str, regime: RegimeName) -> None:
    found = compared(named(name), regime)
    assert (found.wrong, found.first_wrong) == (0, None)
    assert found.words > 200


def test_a_task_of_other_compilers_is_right_at_ties() -> None:
    entry = language_named("majority")
    words = compared_words(entry)
    assert {len(word) for word in words} >= set(LENGTHS)
    ties = [word for word in words if 2 * word.count("1") == len(word)]
    assert {len(word) for word in ties} >= set(LENGTHS)
    assert any(2 * word.count("1") == len(word) - 1 for word in words)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("name", ["dyck-2", "dyck-3"])
def test_brackets_are_right_as_far_as_integers_are_exact(name: str, regime: RegimeName) -> None:
    """24 n^3 < 1 / u is about what integers of the size n^3 can do."""
    certificate = attemper.compile(f"zoo:{name}", regime=regime).certify()
    assert horizon(certificate, "float64") >= 20_000
    assert horizon(certificate, "float32") >= 32


def test_the_page_says_so_of_brackets_in_float32() -> None:
    for name in ("dyck-2", "dyck-3"):
        size = SIZES[name]
        assert min(length for _, length in size.horizons) >= 32


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_horizons_of_numbers_are_as_far_as_they_should_be(regime: RegimeName) -> None:
    for name, dtype, length in (
        ("trigram-lm", "float32", 250_000),
        ("histogram-so-far", "float64", 1_000_000),
        ("fraction-seen", "float32", 1_000_000),
    ):
        assert horizon(attemper.compile(f"zoo:{name}", regime=regime).certify(), dtype) >= length


HORIZONS = {
    250_000: ("k-hop-1", "k-hop-2", "k-hop-3", "mqar", "detect-aab", "detect-aaaab"),
    280_000: ("a-n-b-n", "a-n-b-n-c-n"),
    800_000: ("majority", "dyck-1", "dyck-shuffle-2"),
}
"""Lengths that languages must reach in float32, with numerator-first kernels, in every regime."""


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize(
    ("name", "length"), [(name, length) for length, names in HORIZONS.items() for name in names]
)
def test_horizons_in_float32_are_as_far_as_they_should_be(name: str, length: int, regime: RegimeName) -> None:
    model = attemper.compile(f"zoo:{name}", regime=regime, horizon=length, dtype="float32")
    certificate = model.certify()
    assert horizon(certificate, "float32") >= length
    assert model.check(certificate).status is Status.PROVED
