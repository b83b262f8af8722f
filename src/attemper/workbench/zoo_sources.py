"""What the sources of the zoo's entries say: from a source to a language."""

from __future__ import annotations

from typing import assert_never

from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.languages.definition import Definition
from attemper.languages.named.entry import Automaton, Entry, FormulaText, Rasp, Regex, SourceText, ZooEntry
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet


def language_of(entry: ZooEntry, source: SourceText) -> Definition:
    """What a source of the entry says, with the oracle's verdict on the empty word."""
    alphabet = Alphabet(entry.alphabet)
    match source:
        case FormulaText(text, at):
            accepts_empty = isinstance(entry, Entry) and entry.accepts(())
            return read_language(parse(text, alphabet), At(at), accepts_empty)
        case Regex(text):
            return parse_regex(text, alphabet)
        case Automaton(moves, accepting, _):
            return minimal(Dfa(alphabet, moves, 0, accepting))
        case Rasp(text):
            from attemper.workbench.programs import program_language  # refutations need no texts of programs

            return program_language(text, None, None)
        case _:
            assert_never(source)


def limits_for(source: SourceText) -> CascadeCaps:
    """How large an automaton's cascade may grow."""
    return (
        CascadeCaps(symbols=source.symbols)
        if isinstance(source, Automaton) and source.symbols
        else CascadeCaps()
    )


def rasp_of(source: SourceText) -> str:
    """The text of an attention program; empty for other sources."""
    return source.text if isinstance(source, Rasp) else ""


def regex_of(source: SourceText) -> str:
    """The text of a regular expression; empty for other sources."""
    return source.text if isinstance(source, Regex) else ""
