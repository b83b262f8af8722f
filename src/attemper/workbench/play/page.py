"""The page of `attemper play`: that of `attemper page` without a network, below a form that asks for one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from string import Template

from attemper.exports.page.writing import document
from attemper.languages.named.entry import Automaton, Entry, FormulaText, Rasp, Regex, ZooEntry
from attemper.languages.named.zoo import everything
from attemper.languages.words import Alphabet, show_alphabet
from attemper.workbench.play.question import Notation, Question


def play_page() -> str:
    """The page as HTML: its form sends questions to the server that it came from, and to nobody else.

    >>> page = play_page()
    >>> "<form" in page, "connect-src 'self'" in page, "<script src" in page
    (True, True, False)
    """
    offered = json.dumps({name: vars(question) for name, question in examples()}).replace("<", "\\u003c")
    above = Template(_part("form.html")).substitute(
        examples=offered,
        names="".join(f"<option>{escape(name)}</option>" for name, _ in examples()),
        style=_part("form.css"),
        script=_part("form.js"),
    )
    return document(None, above=above, connect=True)


def examples() -> Iterator[tuple[str, Question]]:
    """The entries of the zoo that are written as texts, by name.

    >>> dict(examples())["majority"].text
    "#<['0'] <= #<['1']"
    """
    for entry in everything():
        question = _asked(entry)
        if question is not None:
            yield entry.name, question


def _asked(entry: ZooEntry) -> Question | None:
    """What a reader would type for an entry; None for an automaton, which is a table."""
    letters = show_alphabet(Alphabet(entry.alphabet))
    match entry.source:
        case FormulaText(text, at):
            accepts = isinstance(entry, Entry) and entry.accepts(())
            return Question(Notation.FORMULA, text, letters, at=at, empty="accept" if accepts else "reject")
        case Regex(text):
            return Question(Notation.REGEX, text, letters)
        case Rasp(text):
            return Question(Notation.PROGRAM, text)
        case Automaton():
            return None


def _part(name: str) -> str:
    """The text of one of the files beside this one."""
    return files("attemper.workbench.play").joinpath(name).read_text(encoding="utf-8")
