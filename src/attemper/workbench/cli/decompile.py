"""attemper decompile"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, final

import typer

from attemper.attention_program.show import show_program
from attemper.checker.names import UnprovenError
from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.temporal.show import show
from attemper.languages.words import Word, show_word
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.cli.console import activity, out, print_json
from attemper.workbench.cli.options import Json
from attemper.workbench.decompiling import Decompiled, Departure, decompile, departure
from attemper.workbench.reading_models import ModelReading, read_model
from attemper.writing import write_together

WORDS = 10_000
"""So many words are run by the definition of somebody's model unless it is said otherwise."""

LONGEST_SHOWN = 400
"""A formula of more characters than these is written only where it is asked for."""

SMALL = 40
"""The formula of an automaton with more states than these is looked for only where it is asked for."""


class Form(StrEnum):
    """What is printed or written."""

    AUTOMATON = "automaton"
    FORMULA = "formula"
    PROGRAM = "program"


@final
@dataclass(frozen=True)
class _Shown:
    """What is said of a network."""

    found: Decompiled
    text: str
    """The automaton, formula or program that was asked for."""
    formula: str
    """A formula that is short enough to be shown beside the automaton; empty if there is none."""
    departure: Departure | None


def decompile_command(
    subject: Annotated[
        str,
        typer.Argument(
            metavar="DIR|MODULE:OBJECT",
            help="A network's folder, or somebody's future-masked hard-attention model.",
        ),
    ],
    form: Annotated[
        Form, typer.Option("--as", help="What is printed, and written by -o FILE.")
    ] = Form.AUTOMATON,
    edited: Annotated[
        bool, typer.Option("--edited", help="Read the weights as they are now, whoever changed them.")
    ] = False,
    configurations: Annotated[
        int, typer.Option(min=1, metavar="N", help="UNKNOWN beyond so many configurations.")
    ] = CONFIGURATIONS,
    seconds: Annotated[float, typer.Option(metavar="S", help="UNKNOWN after so long.")] = SECONDS,
    words: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help=f"Of a model: run so many words by its definition ({WORDS:,})."
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE|DIR/",
            help="Write what was read; with a / at the end the same weights, certified to compute that.",
        ),
    ] = None,
    json: Json = False,
) -> int:
    """Say which language a network computes, from its weights alone, proved for all lengths.

    What is printed of a folder is PROVED by the checker from the weights; neither its certificate nor its
    source is looked at. Of somebody's model the automaton is MEASURED: its functions are believed.

    Exit codes: 0 read back, 1 a model's own runs differ from the tables, 12 UNKNOWN, with the reason.
    """
    if ":" in subject and not Path(subject).exists():
        if edited or form is not Form.AUTOMATON or (output or "").endswith("/"):
            raise OptionError("--edited, --as and -o DIR/ are about a network's folder, not about a model")
        return _model(subject, WORDS if words is None else words, configurations, seconds, output, json)
    if words is not None:
        raise OptionError("--words is for somebody's model, MODULE:OBJECT: a folder's weights are proved")
    try:
        with activity("reading the weights", quiet=json) as report:
            found = decompile(
                subject, edited=edited, configurations=configurations, seconds=seconds, report=report
            )
            report("writing down what was read")
            shown = _shown(found, form)
            if output is not None:
                _write(shown, form, output)
    except UnprovenError as error:
        return _unknown(subject, str(error), json)
    except KeyboardInterrupt:
        return _unknown(subject, "interrupted", json)
    if json:
        print_json({"subject": subject, "status": "PROVED", **_record(shown, form)})
        return ExitCode.OK
    out.print_lines("\n".join(_lines(shown, form)))
    if output is not None:
        out.print(f"wrote {output}")
    return ExitCode.OK


def _unknown(subject: str, reason: str, json: bool) -> int:
    if json:
        print_json({"subject": subject, "status": "UNKNOWN", "reason": reason})
    else:
        out.print(f"UNKNOWN: {reason}")
    return ExitCode.UNKNOWN


# A network's folder ---------------------------------------------------------------------------------------


def _shown(found: Decompiled, form: Form) -> _Shown:
    """The texts. Raises `UnsupportedError` where the one that was asked for does not exist."""
    automaton, formula = found.automaton, ""
    is_small = automaton is None or len(automaton.moves) <= SMALL
    if is_small or form is Form.FORMULA:
        try:
            formula = show(found.formula)
        except UnsupportedError:
            if form is Form.FORMULA:
                raise
    return _Shown(found, _text(found, form, formula), formula, departure(found))


def _text(found: Decompiled, form: Form, formula: str) -> str:
    match form:
        case Form.PROGRAM:
            return show_program(found.realisation.program)
        case Form.AUTOMATON if found.automaton is not None:
            return dfa_to_json(found.automaton)
        case _:
            return f"{formula}\n"


def _write(shown: _Shown, form: Form, output: str) -> None:
    """What was asked for, as a file; or the weights, certified to compute what was read, as a folder.

    Raises `UnsupportedError` where there is no automaton to be written: a formula is no automaton's file.
    """
    if not output.endswith("/"):
        if form is Form.AUTOMATON and shown.found.automaton is None:
            raise UnsupportedError(
                f"no automaton was found, but a formula that counts: write that with --as formula -o {output}"
            )
        write_together({Path(output): shown.text.encode("utf-8")})
        return
    shown.found.model.save(output, certificate=shown.found.certificate())


def _lines(shown: _Shown, form: Form) -> list[str]:
    found, automaton = shown.found, shown.found.automaton
    if form is not Form.AUTOMATON:
        return [shown.text.rstrip("\n"), f"PROVED: {_claim(found)}"]
    if automaton is None:
        return [f"PROVED: {_claim(found)}", f"formula: {shown.formula}", _empty(found), *_departed(shown)]
    lines = [f"PROVED: {_claim(found)}", f"class: {classify(automaton).kind.value}"]
    if shown.formula and len(shown.formula) <= LONGEST_SHOWN:
        lines.append(f"formula: {shown.formula}")
    else:
        lines.append("formula: see --as formula")
    for name, accepted in (("accepted", True), ("rejected", False)):
        word = shortest_word(automaton, accepted)
        lines.append(f"shortest {name} word: {'none' if word is None else show_word(word)}")
    return [*lines, *_departed(shown)]


def _claim(found: Decompiled) -> str:
    if found.automaton is None:
        return "it counts without bound, and computes a formula, at all lengths, in real arithmetic"
    states = f"{len(found.automaton.moves):,} state{'' if len(found.automaton.moves) == 1 else 's'}"
    return (
        f"it computes an automaton with {states}, at all lengths, in real arithmetic "
        f"({found.configurations:,} configurations followed)"
    )


def _empty(found: Decompiled) -> str:
    return f"empty word: {'accepted' if found.subject.network.accepts_empty else 'rejected'}"


def _departed(shown: _Shown) -> list[str]:
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


def _record(shown: _Shown, form: Form) -> dict[str, object]:
    """What was read, as JSON data."""
    found, automaton = shown.found, shown.found.automaton
    record: dict[str, object] = {
        "automaton": None if automaton is None else automaton.tree(),
        "states": None if automaton is None else len(automaton.moves),
        "configurations": found.configurations,
        "class": None if automaton is None else classify(automaton).kind.value,
        "formula": shown.formula or None,
        "empty": "accept" if found.subject.network.accepts_empty else "reject",
    }
    if automaton is not None:
        for name, accepted in (("accepted", True), ("rejected", False)):
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


def shortest_word(dfa: Dfa, accepted: bool) -> Word | None:
    """A shortest word that is accepted, or one that is rejected; None if there is none.

    >>> from attemper.languages.words import Alphabet
    >>> ends_in_a = Dfa(Alphabet(("a", "b")), ((1, 0), (1, 0)), 0, frozenset({1}))
    >>> shortest_word(ends_in_a, True), shortest_word(ends_in_a, False)
    (('a',), ())
    """
    words: dict[int, Word] = {dfa.start: ()}
    waiting = deque([dfa.start])
    while waiting:
        state = waiting.popleft()
        if (state in dfa.accepting) is accepted:
            return words[state]
        for symbol, target in zip(dfa.alphabet.symbols, dfa.moves[state], strict=True):
            if target not in words:
                words[target] = (*words[state], symbol)
                waiting.append(target)
    return None


# Somebody's model -----------------------------------------------------------------------------------------


def _model(
    subject: str, words: int, configurations: int, seconds: float, output: str | None, json: bool
) -> int:
    try:
        with activity("reading the model", quiet=json) as report:
            found = read_model(
                subject, words=words, configurations=configurations, seconds=seconds, progress=report
            )
    except KeyboardInterrupt:
        return _unknown(subject, "interrupted", json)
    if output is not None and found.disagreement is None:
        write_together({Path(output): dfa_to_json(found.dfa).encode("utf-8")})
    if json:
        print_json(found.record())
    else:
        out.print_lines("\n".join(_model_lines(found)))
        if output is not None and found.disagreement is None:
            out.print(f"wrote {output}")
    return ExitCode.OK if found.disagreement is None else ExitCode.DISAGREEMENT


def _model_lines(found: ModelReading) -> list[str]:
    lines = list(found.lines())
    if found.disagreement is None:
        lines.append(f"class: {classify(found.dfa).kind.value}")
        for name, accepted in (("accepted", True), ("rejected", False)):
            word = shortest_word(found.dfa, accepted)
            lines.append(f"shortest {name} word: {'none' if word is None else show_word(word)}")
    return lines
