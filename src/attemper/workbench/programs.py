"""Attention programs in the forms that users have: steps, or a text with names (`docs/programs.md`)."""

from __future__ import annotations

from collections.abc import Mapping

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.wellformed import complaints
from attemper.errors import OptionError, SourceError, UnsupportedError
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.temporal.reading import At
from attemper.workbench.language import Language, what_is_put_out
from attemper.workbench.options import choice, require


def text_of(program: Program | RaspProgram | str) -> str:
    """The program's text; empty for steps, which have none."""
    match program:
        case str():
            return program
        case RaspProgram():
            return show(program.source)
        case _:
            return ""


def names_of(language: Language) -> Mapping[Ref, str]:
    r"""The names that its text gives the steps of a program; none if that is another program's.

    >>> import attemper
    >>> names_of(attemper.program("alphabet a b\nempty reject\nlate = previous in 'a'\noutput !late"))
    {1: 'late'}
    """
    if not language.written or not isinstance(language.definition, ProgramLanguage):
        return {}
    try:
        found = parse_rasp(language.written)
    except (SourceError, UnsupportedError):
        return {}
    return found.names if found.program == language.definition.program else {}


def program_language(
    program: Program | RaspProgram | str, at: str | None, empty: str | None
) -> ProgramLanguage:
    """The language of a program; a text says itself how it is read, steps do not.

    Raises `OptionError` (an option that says it again, a program that is ill formed), and what `parse_rasp`
    raises.
    """
    found = parse_rasp(program) if isinstance(program, str) else program
    if isinstance(found, RaspProgram):
        if at is not None or empty is not None:
            raise OptionError("the program's text says itself how it is read: leave 'at' and 'empty' out")
        return ProgramLanguage(found.program, found.at, found.accepts_empty)
    require("program", found, Program, "give a text, or what attemper.program(...) makes")
    for complaint in complaints(found):
        raise OptionError(f"this is not a well-formed program: {complaint}")
    puts_out = what_is_put_out(found)
    if puts_out and (at or "last", empty or "reject") != ("last", "reject"):
        raise OptionError(
            f"the program puts out {puts_out} at every position: there is no verdict to be read"
        )
    accepts_empty = choice("empty", empty or "reject", ("accept", "reject")) == "accept"
    return ProgramLanguage(found, At(choice("at", at or "last", tuple(At))), accepts_empty)
