"""A language as the text that a network's folder has of it."""

from __future__ import annotations

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.show import show_program
from attemper.errors import UnsupportedError
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.networks.regime import Regime
from attemper.networks.structure import Provenance
from attemper.workbench.language import Language


def source_of(language: Language, regime: Regime) -> Provenance:
    """The language as a text that can be read back."""
    match language.definition:
        case TemporalLanguage(formula, at, _):
            return Provenance("formula", show(formula), str(at), str(regime))
        case ProgramLanguage(program, at, _):
            return Provenance("program", show_program(program), str(at), str(regime))
        case MachineLanguage(machine):
            from attemper.languages.machines.show import show_machine

            return Provenance("machine", show_machine(machine), str(At.LAST), str(regime))
        case Dfa() if language.written:
            return Provenance("regex", language.written, str(At.LAST), str(regime))
        case Dfa() as automaton:
            from attemper.languages.regular.files import dfa_to_json  # texts of formulas need none of it

            return Provenance("automaton", dfa_to_json(automaton), str(At.LAST), str(regime))
        case other:
            raise UnsupportedError(f"{type(other).__name__} has no text that can be read back")
