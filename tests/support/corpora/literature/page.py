"""The page of the ninety languages, written from what was compiled, and read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never, final

import attemper
from attemper.certificates.claims import Certificate
from attemper.languages.named.entry import Automaton, FormulaText, Rasp, Regex, SourceText
from attemper.workbench.report.summary import summary_of
from tests import ROOT
from tests.support.corpora.literature import ENTRIES, FAMILIES
from tests.support.corpora.literature.compiled import horizon
from tests.support.corpora.literature.entry import Entry

PAGE = ROOT / "docs" / "languages.md"
OPENING = Path(__file__).with_name("opening.md")

WIDEST = 44
"""A longer text is counted, not shown."""

NEAR = 1_000
"""Networks with a smaller horizon are counted."""

REFUSED = "refused"


@final
@dataclass(frozen=True)
class Size:
    """What the page says of a network; `float32` is the horizon there, with numerator-first kernels."""

    layers: int
    heads: int
    parameters: int
    float32: int


Sizes = Mapping[str, Size | None]
"""By the language's name; None: refused."""


def size_of(model: attemper.Model, certificate: Certificate) -> Size:
    """What the page says of this network."""
    summary = summary_of(model)
    return Size(summary.layers, summary.heads, summary.parameters, horizon(certificate, "float32"))


# Writing -------------------------------------------------------------------------------------------------


def page(sizes: Sizes) -> str:
    """The whole text."""
    return "\n".join([_opening(sizes), *_tables(sizes)])


def _opening(sizes: Sizes) -> str:
    found = {name: size for name, size in sizes.items() if size is not None}
    before = {name: ENTRIES[name].before for name in found}
    return OPENING.read_text(encoding="utf-8").format(
        languages=len(sizes),
        compiling=len(found),
        fewer=sum((before[name] or 0) > size.layers for name, size in found.items()),
        short=sum(size.float32 < NEAR for size in found.values()),
        near=NEAR,
    )


def _tables(sizes: Sizes) -> Iterator[str]:
    for family in FAMILIES:
        yield f"## {family.title}\n\n{family.papers}\n"
        yield "| language | written as | layers | 0.1.0 | heads | parameters | float32 |"
        yield "|---|---|---|---|---|---|---|"
        yield from (row(entry, sizes[entry.name]) for entry in family.entries)
        yield ""


def row(entry: Entry, size: Size | None) -> str:
    """A language's line."""
    before = REFUSED if entry.before is None else str(entry.before)
    if size is None:
        numbers = [REFUSED, before, "", "", ""]
    else:
        numbers = [str(size.layers), before, str(size.heads), f"{size.parameters:,}", f"{size.float32:,}"]
    return f"| {' | '.join([entry.name, _written(entry.source), *numbers])} |"


def _written(source: SourceText) -> str:
    match source:
        case FormulaText(text, at):
            shown = _shown(text) or f"a formula of {len(text)} characters"
            return f"{shown}, read first" if at == "first" else shown
        case Regex(text):
            return _shown(text) or f"an expression of {len(text)} characters"
        case Automaton(moves, _, symbols):
            cap = "" if symbols is None else f", with the cap symbols={symbols}"
            return f"an automaton of {len(moves)} states{cap}"
        case Rasp(text):
            return f"an attention program of {len(text.splitlines())} lines"
        case _:
            assert_never(source)


def _shown(text: str) -> str:
    """The text as code in a table, if it is short."""
    escaped = text.replace("|", r"\|")
    return f"`{escaped}`" if len(text) <= WIDEST else ""


# Reading -------------------------------------------------------------------------------------------------


def sizes_in(text: str) -> dict[str, Size | None]:
    """What a page says, in its order."""
    return dict(_read(line) for line in text.partition("\n## ")[2].splitlines() if _is_row(line))


def _is_row(line: str) -> bool:
    return line.startswith("| ") and not line.startswith("| language |")


def _read(line: str) -> tuple[str, Size | None]:
    start, layers, _, *others = line.removesuffix(" |").rsplit(" | ", 5)
    name = start.removeprefix("| ").partition(" | ")[0]
    if layers == REFUSED:
        return name, None
    return name, Size(int(layers), *(int(number.replace(",", "")) for number in others))
