"""What a reader of the page asks: a language as text, and how it is to be compiled."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, assert_never, cast, final

from attemper.errors import OptionError
from attemper.files import parse_json

if TYPE_CHECKING:
    from attemper.workbench.model import Model


class Notation(StrEnum):
    """How the language is written."""

    FORMULA = "formula"
    REGEX = "regex"
    PROGRAM = "program"


CHOICES: dict[str, tuple[str, ...]] = {
    "written": tuple(Notation),
    "regime": ("unbounded", "temperature", "decoder"),
    "at": ("", "first", "last"),
    "empty": ("", "accept", "reject"),
}
"""What the fields of a question may say, where that is not a text of the reader's."""


@final
@dataclass(frozen=True)
class Question:
    """A text in one of the three languages, and the options that `attemper compile` has for it.

    `at` (where the verdict is read) and `empty` (the verdict on the empty word) are for formulas, and empty
    where the compiler's default is meant; a program says all that and its alphabet itself.
    Raises `OptionError` for another choice than those of `CHOICES`, and for a missing text or alphabet.
    """

    written: str
    text: str
    alphabet: str = ""
    regime: str = "unbounded"
    at: str = ""
    empty: str = ""

    def __post_init__(self) -> None:
        for name, choices in CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                raise OptionError(f"{name} must be one of {', '.join(filter(None, choices))}, not '{value}'")
        if not self.text.strip():
            raise OptionError(f"write a {_NAMES[Notation(self.written)]}")
        if self.written != Notation.PROGRAM and not self.alphabet.strip():
            raise OptionError("write the alphabet: characters (01), or symbols between blanks (push pop)")

    def as_json(self) -> str:
        """The question on one line, as `read_question` reads it."""
        return json.dumps(vars(self))


_NAMES = {
    Notation.FORMULA: "formula, for example O a",
    Notation.REGEX: "regular expression, for example (ab)*",
    Notation.PROGRAM: "program: its first line is the alphabet, for example alphabet a b",
}


def read_question(data: bytes) -> Question:
    """The question that a JSON object of texts is; its keys are the names of the fields.

    Raises `OptionError` for anything else.

    >>> read_question(b'{"written": "formula", "text": "O a", "alphabet": "ab"}').regime
    'unbounded'
    """
    names = [field.name for field in fields(Question)]
    try:
        record = parse_json(data)
    except (ValueError, RecursionError):
        record = None
    if (
        not isinstance(record, dict)
        or not set(record) <= set(names)
        or not {"written", "text"} <= set(record)
    ):
        raise OptionError(f"a question is a JSON object with 'written' and 'text', and of these: {names}")
    for name, value in record.items():
        if not isinstance(value, str):
            raise OptionError(f"'{name}' must be a text")
    return Question(**record)


def model_of(question: Question) -> Model:
    """The model that is asked for. Raises what `attemper.compile` and its relatives raise."""
    from attemper.workbench import naming
    from attemper.workbench.compiling import compile as compile_language
    from attemper.workbench.language import Language
    from attemper.workbench.options import RegimeName
    from attemper.workbench.programs import program_language

    written, text, alphabet = Notation(question.written), question.text, question.alphabet
    regime = cast(RegimeName, question.regime)
    at = cast(Literal["first", "last"] | None, question.at or None)
    empty = cast(Literal["accept", "reject"] | None, question.empty or None)
    match written:
        case Notation.FORMULA:
            language = naming.formula(text, alphabet, at=at, empty=empty or "reject")
        case Notation.REGEX:
            language = naming.regex(text, alphabet)
        case Notation.PROGRAM:
            # A reader of the page sends texts, and no names of files.
            meant = program_language(text, at, empty)
            language = Language(meant, meant.program.alphabet, written=text)
        case _:
            assert_never(written)
    return compile_language(language, regime=regime)
