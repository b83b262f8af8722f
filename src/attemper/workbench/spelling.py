"""How a language is spelled in one text: a kind, a colon, and what that kind reads.

    formula:TEXT  formula@first:TEXT  regex:TEXT  dfa:FILE  program:FILE  machine:FILE  tm:TEXT
    zoo:NAME  net:DIR

A bare text is a path if, outside quotes, it has a slash or begins with a drive's letter and a colon, or if it
ends as files do; else it is a formula. Whether something of that name exists never matters: a formula has
neither colons nor slashes outside quotes, so that no text is ever read in two ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.errors import OptionError


class Kind(StrEnum):
    """What stands before the colon."""

    FORMULA = "formula"
    REGEX = "regex"
    DFA = "dfa"
    PROGRAM = "program"
    MACHINE = "machine"
    TURING = "tm"
    ZOO = "zoo"
    NET = "net"


KINDS = (
    "formula:TEXT, regex:TEXT, dfa:FILE, program:FILE, machine:FILE, tm:TEXT, zoo:NAME, net:DIR, "
    "or a bare formula"
)
"""What help and errors say."""

ENDINGS = {".json": Kind.DFA, ".rasp": Kind.PROGRAM, ".machine": Kind.MACHINE}
"""A bare text that ends so is a file."""

_SAYS_WHERE = (Kind.FORMULA, Kind.PROGRAM)
"""The kinds that can say where they are read, as in formula@first:TEXT."""

_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_KIND = re.compile(r"(?P<kind>[A-Za-z][\w-]+)(?:@(?P<at>\w*))?:(?P<rest>.*)", re.DOTALL)
_PATH = re.compile(r"[/\\]|^[A-Za-z]:")


@final
@dataclass(frozen=True)
class Spelling:
    """A language as it was written: its kind, what stands behind the colon, and where it is to be read."""

    kind: Kind
    text: str
    at: str | None = None
    """first, last, or None where that is not said."""
    is_bare: bool = False
    """Whether the kind was not said."""

    def __str__(self) -> str:
        where = "" if self.at is None else f"@{self.at}"
        return f"{self.kind}{where}:{self.text}"


def spelling_of(text: str) -> Spelling:
    """The language that a text spells; no file is looked at. Raises `OptionError` for another kind.

    >>> spelling_of("regex:(ab)*").kind, spelling_of("O (a & ':')").kind, spelling_of("nets/ends").kind
    (<Kind.REGEX: 'regex'>, <Kind.FORMULA: 'formula'>, <Kind.NET: 'net'>)
    >>> str(spelling_of("formula@first:G a")), str(spelling_of("mine.rasp"))
    ('formula@first:G a', 'program:mine.rasp')
    >>> spelling_of("regexp:(ab)*")
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: 'regexp:' is no kind of language: write formula:TEXT, regex:TEXT, dfa:FILE, \
program:FILE, machine:FILE, tm:TEXT, zoo:NAME, net:DIR, or a bare formula
    """
    found = _KIND.fullmatch(text)
    if found is None:
        spelling = Spelling(_bare_kind(text), text, is_bare=True)
    else:
        spelling = Spelling(_kind(found["kind"]), found["rest"], _at(text, found["kind"], found["at"]))
    if not spelling.text.strip():
        raise OptionError(f"'{text}' names no language: write {KINDS}")
    return spelling


def _kind(word: str) -> Kind:
    if word not in set(Kind):
        raise OptionError(f"'{word[:40]}:' is no kind of language: write {KINDS}")
    return Kind(word)


def _at(text: str, kind: str, word: str | None) -> str | None:
    if word is None:
        return None
    if kind not in set(_SAYS_WHERE) or word not in {"first", "last"}:
        raise OptionError(
            f"'{text.partition(':')[0][:40]}:' does not say where a language is read: write "
            "formula@first:TEXT, formula@last:TEXT, program@first:FILE or program@last:FILE"
        )
    return word


def _bare_kind(text: str) -> Kind:
    ending = next((kind for ending, kind in ENDINGS.items() if text.endswith(ending)), None)
    if ending is not None:
        return ending
    return Kind.NET if _PATH.search(_QUOTED.sub("", text)) else Kind.FORMULA
