"""The picture of what a network was compiled from, where that is an automaton or a regular expression."""

from __future__ import annotations

from attemper.errors import AttemperError, UnsupportedError
from attemper.exports.pictures.svg import automaton_svg
from attemper.exports.subject import Exported
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_from_json
from attemper.languages.regular.regex import parse_regex


def picture_of(language: Definition) -> tuple[str | None, str]:
    """The automaton's picture as SVG, and why there is none if it is too large; others have no picture.

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


def source_picture(subject: Exported) -> tuple[str | None, str]:
    """`picture_of` what the subject says that it was compiled from; a formula or a program has no picture.

    What cannot be read has none, either, for the reason that is said.
    """
    try:
        match subject.source.kind:
            case "regex":
                return picture_of(parse_regex(subject.source.text, subject.network.alphabet))
            case "automaton":
                return picture_of(dfa_from_json(subject.source.text))
            case _:
                return None, ""
    except AttemperError as refusal:
        return None, str(refusal)
