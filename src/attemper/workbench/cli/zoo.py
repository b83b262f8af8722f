"""attemper zoo"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, assert_never, final

import typer

from attemper.compiling.regimes import Regime
from attemper.errors import ExitCode
from attemper.languages.named.entry import Automaton, Entry, Formula, Regex, Source, Unbuilt
from attemper.languages.named.zoo import ALIASES, FAMILIES, entries
from attemper.languages.words import Alphabet, Word, show_alphabet
from attemper.workbench.cli.compiling import Order, fill, shortened
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import Json
from attemper.workbench.zoo import language_of, limits_for, named, regex_of, source_of

NAME = 16
"""How many columns the names of facts have."""

UNBUILT = "not compiled yet"


def zoo_command(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A language of the list; without it, the list.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIR", help="Compile the language, and write this folder."),
    ] = None,
    regime: Annotated[
        Regime | None, typer.Option(help="With -o, as in 'attemper compile' (default: unbounded).")
    ] = None,
    words: Annotated[
        int | None, typer.Option(min=0, max=100_000, help="How many words of each kind (default: 3).")
    ] = None,
    length: Annotated[
        int | None, typer.Option(min=0, max=100_000, help="The greatest length of the words (default: 12).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="For the choice of the words (default: 0).")] = None,
    json: Json = False,
) -> int:
    """List the named languages; show one, with words in it, words not in it and near misses; or compile it.

    Exit codes: those of 'attemper compile'; 2 if there is no such name.
    """
    given = {"-o": output, "--regime": regime, "--words": words, "--length": length, "--seed": seed}
    options = [option for option, value in given.items() if value is not None]
    if name is None:
        if options:
            raise typer.BadParameter(f"{options[0]} needs the NAME of a language")
        _print_list(json=json)
        return ExitCode.OK
    entry = named(name)
    if output is not None:
        if set(options) - {"-o", "--regime"}:
            raise typer.BadParameter(f"{options[-1]} is for words that are shown: leave it out, or -o")
        return fill(_order(entry, regime or Regime.UNBOUNDED), output, explain=False, json=json)
    if regime is not None:
        raise typer.BadParameter("--regime needs -o DIR, the folder to compile to")
    drawn = _drawn(entry, 3 if words is None else words, 12 if length is None else length, seed or 0)
    if json:
        print_json({**_record(entry), **asdict(drawn)})
    else:
        _print_entry(name, entry, drawn)
    return ExitCode.OK


def _order(entry: Entry, regime: Regime) -> Order:
    """What `attemper compile` would be told. Raises `UnsupportedError` if there is no source yet."""
    source = source_of(entry)
    alphabet, limits = Alphabet(entry.alphabet), limits_for(source)
    return Order(language_of(entry, source), alphabet, (regime,), limits=limits, regex=regex_of(source))


# The list ------------------------------------------------------------------------------------------------


def _print_list(*, json: bool) -> None:
    """A line for each entry, as many columns wide as there are; then what else can be named."""
    if json:
        for entry in entries():
            print_json(_record(entry))
        return
    widths = max(len(entry.name) for entry in entries()), max(len(entry.kind) for entry in entries())
    for entry in entries():
        left = f"{entry.name:{widths[0]}}  {entry.kind:{widths[1]}}  "
        state = f"({UNBUILT}) " if isinstance(entry.source, Unbuilt) else ""
        out.print(left + cut(state + entry.definition, out.columns - len(left)))
    out.print("")
    for family in FAMILIES:
        out.print(f"{family.shown}: {family.range}")
    others = ", ".join(f"{alias} is {name}" for alias, name in ALIASES.items())
    out.print(f"other names: {others}")
    out.print("'attemper zoo NAME' says all about one; 'attemper zoo NAME -o DIR' compiles it")


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
class _Drawn:
    """Words to look at."""

    members: list[Word]
    strangers: list[Word]
    near_misses: list[tuple[Word, Word]]


def _drawn(entry: Entry, count: int, longest: int, seed: int) -> _Drawn:
    return _Drawn(
        entry.members(seed=seed, count=count, longest=longest),
        entry.strangers(seed=seed, count=count, longest=longest),
        entry.near_misses(seed=seed, count=count, longest=longest),
    )


def _record(entry: Entry) -> dict[str, object]:
    """All about the entry as JSON data, without words."""
    return {
        "name": entry.name,
        "definition": entry.definition,
        "class": entry.kind.value,
        "polarity": entry.polarity or None,
        "alphabet": list(entry.alphabet),
        "empty": entry.accepts(()),
        "compiles": not isinstance(entry.source, Unbuilt),
        "sources": [source_record(source) for source in (entry.source, *entry.also)],
        "program": entry.program or None,
        "layers": entry.layers,
        "regimes": list(entry.regimes),
        "references": [str(reference) for reference in entry.references],
    }


def source_record(source: Source) -> dict[str, object]:
    """A source as JSON data, under the name of its kind."""
    match source:
        case Formula(text, at):
            return {"formula": text, "at": at}
        case Regex(text):
            return {"regex": text}
        case Automaton(moves, accepting, _):
            return {"moves": [list(row) for row in moves], "accepting": sorted(accepting)}
        case Unbuilt(needs):
            return {"needs": needs}
        case _:
            assert_never(source)


def source_fact(source: Source) -> tuple[str, str]:
    """A source's kind and text, or how large it is.

    >>> source_fact(Regex("(ab)*"))
    ('expression', '(ab)*')
    """
    match source:
        case Formula(text, at):
            return "formula", text if at == "last" else f"{text}, read at the first position"
        case Regex(text):
            return "expression", text
        case Automaton(moves, _, _):
            return "automaton", f"{len(moves)} states"
        case Unbuilt(needs):
            return UNBUILT, f"that needs {needs}"
        case _:
            assert_never(source)


def _facts(entry: Entry) -> Iterator[tuple[str, str]]:
    yield "class", entry.kind
    if entry.polarity:
        yield "polarity", entry.polarity
    yield "alphabet", show_alphabet(Alphabet(entry.alphabet))
    yield "empty word", "in the language" if entry.accepts(()) else "not in the language"
    for source in (entry.source, *entry.also):
        kind, text = source_fact(source)
        yield kind, shortened(text)
    for number, line in enumerate(entry.program.splitlines()):
        yield "program" if number == 0 else "", line
    yield "attention", f"{entry.layers} layer{'' if entry.layers == 1 else 's'} at most"
    yield "regimes", ", ".join(entry.regimes)
    for reference in entry.references:
        yield "reference", str(reference)


def _print_entry(name: str, entry: Entry, drawn: _Drawn) -> None:
    if name != entry.name:
        out.print(f"'{name}' is '{entry.name}'")
    out.print(f"{entry.name}: {entry.definition}")
    for fact, value in _facts(entry):
        out.print(f"{fact:{NAME}} {value}", hang=NAME + 1)

    def shown(word: Word) -> str:
        between = "" if Alphabet(entry.alphabet).is_single_character else " "
        return between.join(word) or "(empty)"

    for word in drawn.members:
        out.print(f"{'in':{NAME}} {shown(word)}", hang=NAME + 1)
    for word in drawn.strangers:
        out.print(f"{'not in':{NAME}} {shown(word)}", hang=NAME + 1)
    for inside, outside in drawn.near_misses:
        out.print(f"{'near miss':{NAME}} {shown(inside)} is in, {shown(outside)} is not", hang=NAME + 1)
