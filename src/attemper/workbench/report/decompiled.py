"""What was read back from a network, as text and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import final

from attemper.attention_program.show import show_program
from attemper.errors import UnsupportedError
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.relating import shortest_word
from attemper.languages.temporal.show import show
from attemper.languages.words import show_word
from attemper.workbench.decompiling import Decompiled, Departure, departure

LONGEST_SHOWN = 400
"""A formula of more characters than these is written only where it is asked for."""

SMALL = 40
"""The formula of an automaton with more states than these is looked for only where it is asked for."""


ENDS = (("accepted", True), ("rejected", False))


class Form(StrEnum):
    """What is printed or written."""

    AUTOMATON = "automaton"
    FORMULA = "formula"
    PROGRAM = "program"


@final
@dataclass(frozen=True)
class Shown:
    """What is said of a network."""

    found: Decompiled
    text: str
    """The automaton, formula or program that was asked for."""
    formula: str
    """A formula that is short enough to be shown beside the automaton; empty if there is none."""
    departure: Departure | None


def shown_of(found: Decompiled, form: Form) -> Shown:
    """The texts. Raises `UnsupportedError` where the one that was asked for does not exist."""
    automaton, formula = found.automaton, ""
    is_small = automaton is None or len(automaton.moves) <= SMALL
    if is_small or form is Form.FORMULA:
        try:
            formula = show(found.formula)
        except UnsupportedError:
            if form is Form.FORMULA:
                raise
    return Shown(found, _text(found, form, formula), formula, departure(found))


def _text(found: Decompiled, form: Form, formula: str) -> str:
    match form:
        case Form.PROGRAM:
            return show_program(found.realisation.program)
        case Form.AUTOMATON if found.automaton is not None:
            return dfa_to_json(found.automaton)
        case _:
            return f"{formula}\n"


def lines_of(shown: Shown, form: Form) -> list[str]:
    """What is printed."""
    found, automaton = shown.found, shown.found.automaton
    if form is not Form.AUTOMATON:
        return [shown.text.rstrip("\n"), f"PROVED: {_claim(found)}"]
    if automaton is None:
        lines = [f"PROVED: {_claim(found)}", f"formula: {shown.formula}", _empty(found), *_departed(shown)]
        return [*lines, f"no automaton was found: {found.reason}"]
    kind, *words = automaton_lines(automaton)
    lines = [f"PROVED: {_claim(found)}", kind]
    if shown.formula and len(shown.formula) <= LONGEST_SHOWN:
        lines.append(f"formula: {shown.formula}")
    else:
        lines.append("formula: see --as formula")
    return [*lines, *words, *_departed(shown)]


def _claim(found: Decompiled) -> str:
    if found.automaton is None:
        return "it computes a formula that counts, at all lengths, in real arithmetic"
    states = f"{len(found.automaton.moves):,} state{'' if len(found.automaton.moves) == 1 else 's'}"
    return (
        f"it computes an automaton with {states}, at all lengths, in real arithmetic "
        f"({found.configurations:,} configurations followed)"
    )


def _empty(found: Decompiled) -> str:
    return f"empty word: {'accepted' if found.subject.network.accepts_empty else 'rejected'}"


def _departed(shown: Shown) -> list[str]:
    found = shown.departure
    match found:
        case None:
            return []
        case Departure(None, ""):
            return ["the certificate claims the same language"]
        case Departure(None, unknown):
            return [f"not compared with the certificate's claim: {unknown}"]
        case Departure(word, _):
            assert word is not None
            return [f"differs from the certificate's claim at {show_word(word)}"]


def record_of(shown: Shown, form: Form) -> dict[str, object]:
    """What was read, as JSON data."""
    found, automaton = shown.found, shown.found.automaton
    record: dict[str, object] = {
        "automaton": None if automaton is None else automaton.tree(),
        "states": None if automaton is None else len(automaton.moves),
        "configurations": found.configurations,
        "class": None if automaton is None else classify(automaton).kind.value,
        "formula": shown.formula or None,
        "no_automaton": found.reason or None,
        "empty": "accept" if found.subject.network.accepts_empty else "reject",
    }
    if automaton is not None:
        for name, accepted in ENDS:
            word = shortest_word(automaton, accepted)
            record[f"shortest_{name}"] = None if word is None else list(word)
    if form is Form.PROGRAM:
        record["program"] = shown.text
    if shown.departure is not None:
        word, unknown = shown.departure.word, shown.departure.unknown
        record["claim"] = {
            "same": None if unknown else word is None,
            "word": None if word is None else list(word),
            "reason": unknown or None,
        }
    return record


def automaton_lines(automaton: Dfa) -> Iterator[str]:
    """The class of an automaton's language, a shortest word in it and a shortest one outside."""
    yield f"class: {classify(automaton).kind.value}"
    for name, accepted in ENDS:
        word = shortest_word(automaton, accepted)
        yield f"shortest {name} word: {'none' if word is None else show_word(word)}"
