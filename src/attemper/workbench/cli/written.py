"""What a user wrote on the command line to be compiled, as a language."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import final

import typer

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.files import read_utf8
from attemper.languages.definition import Definition
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, parse_alphabet
from attemper.workbench.cli.classifying import automaton_of
from attemper.workbench.compiling import language_of_regex, read_source
from attemper.workbench.programs import program_language, what_is_put_out


class EmptyOption(StrEnum):
    """The verdict on the empty word."""

    ACCEPT = "accept"
    REJECT = "reject"


@final
@dataclass(frozen=True)
class WrittenLanguage:
    """One of formula, regular expression, automaton's file and program's file; and how it is read."""

    formula: str | None
    regex: str | None
    dfa: Path | None
    program: Path | None
    alphabet: str | None
    at: At | None
    empty: EmptyOption | None

    @property
    def doing(self) -> str:
        """What reading it is called while that takes long."""
        return "reading" if self.regex is None and self.dfa is None else "making the automaton"

    def language(self) -> tuple[Definition, Alphabet, str]:
        """The language, its alphabet, and a program's text, if it is written as one.

        Raises `typer.BadParameter` and what reading the text raises.
        """
        if (self.formula, self.regex, self.dfa, self.program).count(None) != 3:
            raise typer.BadParameter("give one of FORMULA, --regex, --dfa and --program")
        if self.program is not None:
            return self._of_program(self.program)
        if self.formula is not None:
            return *self._of_formula(self.formula), ""
        if self.at is not None or self.empty is not None:
            raise typer.BadParameter(
                "--at and --empty are for formulas and programs: an automaton says both itself"
            )
        if self.regex is not None and self.alphabet is not None:
            letters = parse_alphabet(self.alphabet)
            return language_of_regex(self.regex, letters), letters, ""
        dfa = automaton_of(self.regex, self.dfa, self.alphabet)
        return dfa, dfa.alphabet, ""

    def _of_formula(self, formula: str) -> tuple[Definition, Alphabet]:
        if self.alphabet is None:
            raise typer.BadParameter("a formula needs an --alphabet, for example --alphabet 01")
        at = None if self.at is None else self.at.value
        return read_source(formula, self.alphabet, at, (self.empty or EmptyOption.REJECT).value)

    def _of_program(self, file: Path) -> tuple[Definition, Alphabet, str]:
        if self.alphabet is not None:
            raise typer.BadParameter("a program says its alphabet itself: leave --alphabet out")
        text = read_utf8(file, "give the file of an attention program")
        if file.suffix == ".rasp":
            at, empty = (None if option is None else option.value for option in (self.at, self.empty))
            found = program_language(text, at, empty)
            return found, found.program.alphabet, text
        program = parse_program(text)
        puts_out = what_is_put_out(program)
        if puts_out and not (self.at is None and self.empty is None):
            raise typer.BadParameter(
                f"--at and --empty say how a verdict is read; this program puts out {puts_out} everywhere"
            )
        language = ProgramLanguage(program, self.at or At.LAST, self.empty is EmptyOption.ACCEPT)
        return language, program.alphabet, ""
