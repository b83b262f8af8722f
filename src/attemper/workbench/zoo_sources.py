"""What the sources of the zoo's entries say: from a source to a language."""

from __future__ import annotations

from typing import assert_never

from attemper.certificates.claims import SourceMeaning
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.languages.named.entry import Automaton, Entry, FormulaText, Rasp, Regex, SourceText, ZooEntry
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet
from attemper.workbench.language import Language
from attemper.workbench.renaming import renamed


def language_of(entry: ZooEntry, source: SourceText, alphabet: Alphabet | None = None) -> Language:
    """What a source of the entry says, with the oracle's verdict on the empty word.

    Over another alphabet its symbols stand for the entry's, in their order; the source has no text then.
    """
    own = Alphabet(entry.alphabet)
    meant = _meant(entry, source, own)
    if alphabet is None or alphabet == own:
        return Language(meant, own, written=source.text if isinstance(source, Regex | Rasp) else "")
    return Language(renamed(meant, own, alphabet), alphabet)


def _meant(entry: ZooEntry, source: SourceText, alphabet: Alphabet) -> SourceMeaning:
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
