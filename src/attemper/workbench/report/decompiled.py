"""What was read back from a network, as text and as JSON data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

from attemper.errors import UnsupportedError
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.relating import shortest_word
from attemper.languages.words import show_word
from attemper.workbench.decompiling import Decompiled, Departure, departure

LONGEST_SHOWN = 400
"""A formula of more characters than these is written only where it is asked for."""

SMALL = 40
"""The formula of an automaton with more states than these is looked for only where it is asked for."""

MOST_CLASSIFIED = 2_000
"""The class of an automaton with more states than these is not looked for."""

ENDS = (("accepted", True), ("rejected", False))


@final
@dataclass(frozen=True)
class Remarks:
    """What is said beside what was read: all that takes time of its own, and nothing that is needed."""

    kind: str
    """The class of the automaton's language; empty if there is none, or where that is not known."""
    formula: str
    """A formula that is short enough to be shown beside the automaton; empty if there is none."""
    departure: Departure | None


def remarks_on(found: Decompiled) -> Remarks:
    """The class, a formula, and where what was read differs from the claim."""
    kind = "" if found.automaton is None else class_of(found.automaton)
    return Remarks(kind, _short_formula(found), departure(found))


def class_of(automaton: Dfa) -> str:
    """The class of an automaton's language; empty where that takes too long to be found."""
    if len(automaton.moves) > MOST_CLASSIFIED:
        return ""
    try:
        return classify(automaton).kind.value
    except UnsupportedError:
        return ""


def _short_formula(found: Decompiled) -> str:
    if found.automaton is not None and len(found.automaton.moves) > SMALL:
        return ""
    try:
        return found.formula
    except UnsupportedError:
        return ""


def lines_of(found: Decompiled, remarks: Remarks | None) -> list[str]:
    """What is printed; without remarks the verdict alone."""
    automaton = found.automaton
    if remarks is None:
        return [verdict_line(found)]
    if automaton is None:
        lines = [verdict_line(found), f"formula: {remarks.formula}", _empty(found)]
        return [*lines, *_departed(remarks.departure), f"no automaton was found: {found.reason}"]
    is_short = remarks.formula and len(remarks.formula) <= LONGEST_SHOWN
    formula = f"formula: {remarks.formula if is_short else 'long: ask for it as formula'}"
    kind, *words = automaton_lines(automaton, remarks.kind)
    return [verdict_line(found), kind, formula, *words, *_departed(remarks.departure)]


def verdict_line(found: Decompiled) -> str:
    """The status, and what it is about."""
    return f"{found.status}: {found.reason if found.held is None else _claim(found)}"


def _claim(found: Decompiled) -> str:
    if found.automaton is None:
        return "it computes a formula that counts, at all lengths, in real arithmetic"
    states = f"{len(found.automaton.moves):,} state{'' if len(found.automaton.moves) == 1 else 's'}"
    return f"it computes an automaton with {states}, at all lengths, in real arithmetic"


def _empty(found: Decompiled) -> str:
    return f"empty word: {'accepted' if found.subject.network.accepts_empty else 'rejected'}"


def _departed(found: Departure | None) -> list[str]:
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


def record_of(found: Decompiled, remarks: Remarks | None) -> dict[str, object]:
    """What was read, as JSON data; without remarks the looking for them was interrupted."""
    if found.held is None:
        return {"subject": found.subject.place, "status": str(found.status), "reason": found.reason}
    automaton = found.automaton
    record: dict[str, object] = {
        "subject": found.subject.place,
        "status": str(found.status),
        "automaton": None if automaton is None else automaton.tree(),
        "states": None if automaton is None else len(automaton.moves),
        "configurations": found.configurations,
        "class": remarks.kind or None if remarks else None,
        "formula": remarks.formula or None if remarks else None,
        "no_automaton": found.reason or None,
        "empty": "accept" if found.subject.network.accepts_empty else "reject",
    }
    if automaton is not None:
        for name, accepted in ENDS:
            word = shortest_word(automaton, accepted)
            record[f"shortest_{name}"] = None if word is None else list(word)
    record["program"] = found.program
    if remarks is None:
        record["interrupted"] = True
    elif remarks.departure is not None:
        word, unknown = remarks.departure.word, remarks.departure.unknown
        record["claim"] = {
            "same": None if unknown else word is None,
            "word": None if word is None else list(word),
            "reason": unknown or None,
        }
    return record


def automaton_lines(automaton: Dfa, kind: str) -> Iterator[str]:
    """The class of an automaton's language, a shortest word in it and a shortest one outside."""
    yield f"class: {kind or 'not known, as too much would have to be looked at'}"
    for name, accepted in ENDS:
        word = shortest_word(automaton, accepted)
        yield f"shortest {name} word: {'none' if word is None else show_word(word)}"
