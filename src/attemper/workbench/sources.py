"""A language as the text that a network's folder has of it, and as one line for people."""

from __future__ import annotations

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.show import show_program
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.networks.files import Provenance
from attemper.networks.regime import Regime


def source_of(language: Definition, regex: str, regime: Regime) -> Provenance:
    """The language as a text that can be read back; `regex` is what an automaton was written as, or empty."""
    match language:
        case TemporalLanguage(formula, at, _):
            return Provenance("formula", show(formula), str(at), str(regime))
        case ProgramLanguage(program, at, _):
            return Provenance("program", show_program(program), str(at), str(regime))
        case Dfa() if regex:
            return Provenance("regex", regex, str(At.LAST), str(regime))
        case Dfa():
            return Provenance("automaton", dfa_to_json(language), str(At.LAST), str(regime))
        case _:
            raise UnsupportedError(f"{type(language).__name__} has no text that can be read back")


def title_of(language: Definition, regex: str, regime: Regime) -> str:
    """The formula, the regular expression, or how large the automaton or the program is."""
    match language:
        case Dfa(_, moves) if not regex:
            return f"an automaton with {len(moves)} states"
        case ProgramLanguage(program, _, _):
            return f"an attention program of {len(program.steps)} steps"
        case _:
            return source_of(language, regex, regime).text
