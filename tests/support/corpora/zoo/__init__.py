"""The page of the zoo, written from what was compiled, and read back.

`python -m tests.support.corpora.zoo --write` compiles every language in every regime, and writes
`docs/zoo.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import assert_never, final

import attemper
from attemper.languages.named.entry import (
    Automaton,
    Entry,
    FormulaText,
    LanguageClass,
    Rasp,
    Regex,
    RegimeName,
    SourceText,
    ZooEntry,
)
from attemper.languages.named.zoo import FAMILIES, everything, named
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Alphabet, Word
from attemper.workbench.automata import automaton_of_language
from attemper.workbench.zoo import compile_entry
from attemper.workbench.zoo_sources import language_of
from tests import ROOT
from tests.support.corpora.literature.compiled import horizon
from tests.support.writers.compared import LENGTHS, TASKS, compared_words

PAGE = ROOT / "docs" / "zoo.md"
REGULAR = tuple(LanguageClass)[:4]
OPENING = Path(__file__).with_name("opening.md")

SECTIONS = {
    "first": "Regular languages",
    "majority": "Counting and brackets",
    "flip-flop": "Looking up",
    "copy-previous-symbol": "Put out at every position",
}
"""The headings, each before the entry of this name."""

WIDEST = 70
"""A longer text is counted, not shown."""

NONE = "–"

BEHIND_TABLES = "## Names with a parameter"
"""The heading behind the tables of entries."""

HEADERS = (
    *("class", "written as", "depth", "attention", "heads"),
    *("float32: unbounded", "temperature", "decoder"),
)
"""Behind the name and the definition."""


@final
@dataclass(frozen=True)
class Size:
    """What the page says of a language and its networks: layers with attention, heads, and float32 horizons.

    `depth` is how many layers of unique hard attention there must be. The layers and heads are the most in
    any regime; the horizons are with numerator-first kernels.
    """

    depth: str
    layers: int
    heads: int
    horizons: tuple[tuple[RegimeName, int], ...]


Sizes = Mapping[str, Size]
"""By the entry's name."""


def attention_layers(model: attemper.Model) -> int:
    return sum(1 for layer in model.network.layers if layer.heads)


def size_of(entry: ZooEntry) -> Size:
    """The language, compiled and certified in its regimes."""
    models = {regime: compile_entry(entry, entry.source, regime=regime) for regime in entry.regimes}
    return Size(
        depth_of(entry),
        max(map(attention_layers, models.values())),
        max(sum(len(layer.heads) for layer in model.network.layers) for model in models.values()),
        tuple((regime, horizon(model.certify(), "float32")) for regime, model in models.items()),
    )


def depth_of(entry: ZooEntry) -> str:
    """How many layers of unique hard attention its language needs, as a cell; a task has no language."""
    if not isinstance(entry, Entry):
        return NONE
    if entry.kind not in REGULAR:
        return "none"
    meant, alphabet = language_of(entry, entry.source).definition, Alphabet(entry.alphabet)
    dfa = automaton_of_language(meant, alphabet)
    period = attemper.classify(dfa).modulus
    if period is None:
        return "none"
    # A formula is a bound from above by itself. No clock decides what the page says.
    known = (meant, alphabet) if isinstance(meant, TemporalLanguage) else (dfa,)
    found = attemper.depth(*known, period=period, limits={"classes": CLASSES}, seconds=100_000)
    upper = found.upper
    number = f"≥ {found.lower}" if upper is None else f"{found.lower} to {upper}"
    number = str(found.lower) if found.lower == upper else number
    return number if period == 1 else f"none; period {period}: {number}"


CLASSES = 5_000
"""So many classes are listed for each number of layers."""

LONGEST = {2: 8, 3: 7, 4: 6, 5: 5, 6: 5, 12: 3, 16: 3}
"""By the number of symbols, the length up to which all words are tried."""


def short_words(entry: ZooEntry) -> list[Word]:
    """All words of so many symbols, the empty one first."""
    longest = LONGEST[len(entry.alphabet)]
    return [word for length in range(longest + 1) for word in product(entry.alphabet, repeat=length)]


# Writing -------------------------------------------------------------------------------------------------


def page(sizes: Sizes) -> str:
    """The whole text."""
    return "\n".join(
        [OPENING.read_text(encoding="utf-8"), *_tables(sizes), *_families(), *_compared(), *_references()]
    )


def _tables(sizes: Sizes) -> Iterator[str]:
    for entry in everything():
        if entry.name in SECTIONS:
            yield f"## {SECTIONS[entry.name]}\n"
            first = ("language", "its words") if isinstance(entry, Entry) else ("task", "what is put out")
            yield f"| {' | '.join([*first, *HEADERS])} |"
            yield "|" + "---|" * len([*first, *HEADERS])
        yield _row(entry, sizes[entry.name])
        if _is_last(entry):
            yield ""


def _is_last(entry: ZooEntry) -> bool:
    """Whether the next language has a heading, or there is none."""
    later = everything()[everything().index(entry) + 1 :]
    return not later or later[0].name in SECTIONS


def _row(entry: ZooEntry, size: Size) -> str:
    cells = [entry.name, _escaped(entry.definition), entry.kind.value, written(entry.source)]
    horizons = dict(size.horizons)
    cells += [size.depth, str(size.layers), str(size.heads)]
    cells += [f"{horizons[r]:,}" if r in horizons else NONE for r in ("unbounded", "temperature", "decoder")]
    return f"| {' | '.join(cells)} |"


def written(source: SourceText) -> str:
    """A source in a table."""
    match source:
        case FormulaText(text, at):
            return _code(text, "a formula") + (", read first" if at == "first" else "")
        case Regex(text):
            return _code(text, "an expression")
        case Automaton(moves, _, _):
            return f"an automaton of {len(moves)} states"
        case Rasp(text):
            return f"a program of {len(text.splitlines())} lines"
        case _:
            assert_never(source)


def _code(text: str, what: str) -> str:
    return f"`{_escaped(text)}`" if len(text) <= WIDEST else f"{what} of {len(text)} characters"


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")


def _families() -> Iterator[str]:
    yield f"{BEHIND_TABLES}\n"
    yield "The tables have some of these; the others are called by their names.\n"
    yield from (f"* `{family.shown}`: {family.range}" for family in FAMILIES)
    yield ""


def _compared() -> Iterator[str]:
    yield "## Tasks of other compilers\n"
    yield (
        "Tracr and the compiler of C-RASP have some of these as their examples, and come out wrong in places "
        "(–: none is known).\n"
        "Tracr's n is what a model was compiled for (tracr-pypi 1.0.0 with its defaults; tried were 8 to 16, "
        "32, 64, 128, 256 and 512,\n"
        "not all for each task). `frac_prevs` is wrong there by 0.0023. The networks\n"
        f"here are right on all words that `python -m tests.support.writers.compared` draws, up to "
        f"{LENGTHS[-1]:,} symbols each, in float32, in each of their regimes.\n"
        "For `sort` and `reverse` that is farther than what is proved.\n"
    )
    yield "| task | of | theirs is first wrong | here | words | wrong |"
    yield "|---|---|---|---|---|---|"
    for task in TASKS:
        count = len(compared_words(named(task.entry)))
        yield f"| {task.name} | {task.compiler} | {task.first_wrong} | {task.entry} | {count} | 0 |"
    yield ""


def _references() -> Iterator[str]:
    yield "## References\n"
    found = {reference for entry in everything() for reference in entry.references}
    for reference in sorted(found, key=str):
        names = (entry.name for entry in everything() if reference in entry.references)
        yield f"* {reference.authors}, *{reference.title}*, {reference.year}: {', '.join(names)}"
    yield ""


# Reading -------------------------------------------------------------------------------------------------


def sizes_in(text: str) -> dict[str, Size]:
    """What a page says, in its order."""
    tables = text.partition(BEHIND_TABLES)[0]
    return dict(_read(line) for line in tables.splitlines() if _is_row(line))


def _is_row(line: str) -> bool:
    return line.startswith("| ") and not line.startswith(("| language |", "| task |"))


def _read(line: str) -> tuple[str, Size]:
    start, depth, layers, heads, *others = line.removesuffix(" |").rsplit(" | ", 6)
    name = start.removeprefix("| ").partition(" | ")[0]
    regimes: tuple[RegimeName, ...] = ("unbounded", "temperature", "decoder")
    horizons = zip(regimes, others, strict=True)
    said = tuple((regime, int(number.replace(",", ""))) for regime, number in horizons if number != NONE)
    return name, Size(depth, int(layers), int(heads), said)
