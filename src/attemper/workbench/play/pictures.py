"""The picture of a language's automaton, where it has one that can be read."""

from __future__ import annotations

from attemper.errors import UnsupportedError
from attemper.exports.pictures.svg import automaton_svg
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa


def picture_of(language: Language) -> tuple[str | None, str]:
    """The automaton's picture, and why there is none if it is too large; other languages have no picture.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> picture, why_not = picture_of(parse_regex("(ab)*", "ab"))
    >>> (picture or "")[:4], why_not
    ('<svg', '')
    """
    match language:
        case Dfa():
            try:
                return automaton_svg(language), ""
            except UnsupportedError as refusal:
                return None, str(refusal)
        case _:
            return None, ""
