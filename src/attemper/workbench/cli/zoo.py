"""attemper zoo"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Annotated, assert_never, final

import typer

from attemper.errors import ExitCode
from attemper.languages.named.entry import (
    Automaton,
    Entry,
    FormulaText,
    Rasp,
    Regex,
    SourceText,
    StatedOutput,
    Transduction,
    ZooEntry,
)
from attemper.languages.named.zoo import ALIASES, FAMILIES, everything, named
from attemper.languages.words import Alphabet, Word, show_alphabet, show_word
from attemper.workbench.cli.compiled import shortened
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json

NAME = 16
"""How many columns the names of facts have."""


def zoo_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="An entry of the list; without it, the list.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=0, max=100_000, metavar="N", help="How many words of each kind (default: 3)."),
    ] = None,
    longest: Annotated[
        int | None,
        typer.Option(min=0, max=100_000, metavar="N", help="The greatest length of words (default: 12)."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="For the choice of the words (default: 0).")
    ] = None,
    json: Json = False,
) -> int:
    """List what has a name; or show one, with words.

    Of a language there are words in it, words not in it and near misses; of what puts something out at every
    position there are words with what is put out.

    Exit codes: 2 if there is no such name.
    """
    given = {"--count": count, "--longest": longest, "--seed": seed}
    options = [option for option, value in given.items() if value is not None]
    if name is None:
        if options:
            raise typer.BadParameter(f"{options[0]} needs a NAME")
        _print_list(json=json)
        return ExitCode.OK
    entry = named(name)
    drawn = _drawn(entry, 3 if count is None else count, 12 if longest is None else longest, seed or 0)
    if json:
        print_json({**_record(entry), **asdict(drawn)})
        return ExitCode.OK
    if name != entry.name:
        out.print(f"'{name}' is '{entry.name}'")
    out.print(f"{entry.name}: {entry.definition}")
    for fact, value in (*_facts(entry), *drawn.facts()):
        out.print(f"{fact:{NAME}} {value}", hang=NAME + 1)
    return ExitCode.OK


# The list ------------------------------------------------------------------------------------------------


def _print_list(*, json: bool) -> None:
    """A line for each entry, as many columns wide as there are; then what else can be named."""
    if json:
        for entry in everything():
            print_json(_record(entry))
        return
    widths = max(len(entry.name) for entry in everything()), max(len(entry.kind) for entry in everything())
    for entry in everything():
        left = f"{entry.name:{widths[0]}}  {entry.kind:{widths[1]}}  "
        out.print(left + cut(entry.definition, out.columns - len(left)))
    out.print("")
    for family in FAMILIES:
        out.print(f"{family.shown}: {family.range}")
    others = ", ".join(f"{alias} is {name}" for alias, name in ALIASES.items())
    out.print(f"other names: {others}")
    out.print("'attemper zoo NAME' says all about one; 'attemper compile zoo:NAME -o DIR' compiles it")


def cut(text: str, columns: int) -> str:
    """The text, or as many whole words of it as there is room for.

    >>> cut("words with an even number of 1s", 20)
    'words with an ...'
    """
    if len(text) <= columns:
        return text
    return text[: columns - 3].rpartition(" ")[0] + " ..."


# One entry -----------------------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class _Words:
    """Words of a language to look at."""

    members: list[Word]
    strangers: list[Word]
    near_misses: list[tuple[Word, Word]]

    def facts(self) -> Iterator[tuple[str, str]]:
        yield from (("in", show_word(word)) for word in self.members)
        yield from (("not in", show_word(word)) for word in self.strangers)
        for inside, outside in self.near_misses:
            yield "near miss", f"{show_word(inside)} is in, {show_word(outside)} is not"


@final
@dataclass(frozen=True)
class _Example:
    """A word, and what is put out at each of its positions; fractions as text."""

    word: Word
    outputs: tuple[str | int | dict[str, str], ...]


@final
@dataclass(frozen=True)
class _Examples:
    """Words with what is put out, to look at."""

    words: list[_Example]

    def facts(self) -> Iterator[tuple[str, str]]:
        for example in self.words:
            yield "word", f"{show_word(example.word)} gives {_shown(example.outputs)}"


def _shown(outputs: tuple[str | int | dict[str, str], ...]) -> str:
    """Names as a word, numbers in a row, distributions as their texts."""
    if any(isinstance(one, dict) for one in outputs):
        rows = (one.items() for one in outputs if isinstance(one, dict))
        return ", ".join(" ".join(f"{name} {likely}" for name, likely in row) for row in rows)
    names = tuple(one for one in outputs if isinstance(one, str))
    is_words = len(names) == len(outputs) and not any("/" in name for name in names)
    return show_word(names) if is_words else " ".join(map(str, outputs))


def _plain(put_out: StatedOutput) -> str | int | dict[str, str]:
    """What JSON has: fractions are texts."""
    match put_out:
        case Fraction():
            return str(put_out)
        case dict():
            return {name: str(likely) for name, likely in put_out.items()}
        case _:
            return put_out


def _drawn(entry: ZooEntry, count: int, longest: int, seed: int) -> _Words | _Examples:
    match entry:
        case Entry():
            return _Words(
                entry.members(seed=seed, count=count, longest=longest),
                entry.strangers(seed=seed, count=count, longest=longest),
                entry.near_misses(seed=seed, count=count, longest=longest),
            )
        case Transduction():
            words = entry.words(seed=seed, count=count, longest=longest)
            return _Examples([_Example(word, tuple(map(_plain, entry.outputs(word)))) for word in words])
        case _:
            assert_never(entry)


def _record(entry: ZooEntry) -> dict[str, object]:
    """All about the entry as JSON data, without words."""
    record: dict[str, object] = {
        "name": entry.name,
        "definition": entry.definition,
        "class": entry.kind.value,
        "alphabet": list(entry.alphabet),
        "layers": entry.layers,
        "regimes": list(entry.regimes),
        "references": [str(reference) for reference in entry.references],
        "sources": [source_record(source) for source in entry.sources],
    }
    match entry:
        case Entry():
            return {**record, "polarity": entry.polarity or None, "empty": entry.accepts(())}
        case Transduction():
            numbers = {} if entry.measured is None else {"measured": entry.measured.value}
            return {**record, "puts_out": list(entry.puts_out), **numbers}
        case _:
            assert_never(entry)


def source_record(source: SourceText) -> dict[str, object]:
    """A source as JSON data, under the name of its kind."""
    match source:
        case FormulaText(text, at):
            return {"formula": text, "at": at}
        case Regex(text):
            return {"regex": text}
        case Automaton(moves, accepting, _):
            return {"moves": [list(row) for row in moves], "accepting": sorted(accepting)}
        case Rasp(text):
            return {"program": text}
        case _:
            assert_never(source)


def source_facts(source: SourceText) -> Iterator[tuple[str, str]]:
    """A source's kind and text, line by line, or how large it is.

    >>> list(source_facts(Regex("(ab)*")))
    [('expression', '(ab)*')]
    """
    match source:
        case FormulaText(text, at):
            yield "formula", shortened(text if at == "last" else f"{text}, read at the first position")
        case Regex(text):
            yield "expression", shortened(text)
        case Automaton(moves, _, _):
            yield "automaton", f"{len(moves)} states"
        case Rasp(text):
            lines = text.splitlines()
            yield from zip(["program", *[""] * len(lines)], lines, strict=False)
        case _:
            assert_never(source)


def _facts(entry: ZooEntry) -> Iterator[tuple[str, str]]:
    yield "class", entry.kind
    if isinstance(entry, Entry) and entry.polarity:
        yield "polarity", entry.polarity
    yield "alphabet", show_alphabet(Alphabet(entry.alphabet))
    match entry:
        case Entry():
            yield "empty word", "in the language" if entry.accepts(()) else "not in the language"
        case Transduction(puts_out=names, measured=measured):
            what = measured.value if measured else "one"
            yield "puts out", f"{what} {'of ' if names else ''}{' '.join((*names, 'at every position'))}"
        case _:
            assert_never(entry)
    for source in entry.sources or (entry.source,):
        yield from source_facts(source)
    yield "attention", f"{entry.layers} layer{'' if entry.layers == 1 else 's'} at most"
    yield "regimes", ", ".join(entry.regimes)
    for reference in entry.references:
        yield "reference", str(reference)
