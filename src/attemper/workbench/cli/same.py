"""attemper same"""

from __future__ import annotations

from typing import Annotated

import typer

from attemper.languages.words import listed, show_word
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import AtOption, EmptyOption, Json, LanguageArgument
from attemper.workbench.cli.progress import activity
from attemper.workbench.same import UP_TO, same
from attemper.workbench.sameness import Answer, Sameness


def same_command(
    a: LanguageArgument,
    b: LanguageArgument,
    contained: Annotated[
        bool, typer.Option("--contained", help="Ask whether every word of A is in B, and no more.")
    ] = False,
    alphabet: Annotated[
        str | None,
        typer.Option(
            help="Of formulas and expressions (default: the other side's); words over it are compared."
        ),
    ] = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    up_to: Annotated[
        int, typer.Option(min=0, help="Where there is no proof, try all words of up to so many symbols.")
    ] = UP_TO,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="Follow, and then try longer words, for so long.")
    ] = SECONDS,
    configurations: Annotated[
        int, typer.Option(min=1, help="Follow at most so many configurations to an automaton.")
    ] = CONFIGURATIONS,
    json: Json = False,
) -> int:
    """Say whether A and B are one language, for words of every length; or show a word that tells them apart.

    SAME is proved: the checker shows both sides to be one automaton, or one formula. A network is what its
    weights compute in real arithmetic; floats are compared by no command.

    Exit codes: 0 SAME or CONTAINED, 1 DIFFERENT or NOT CONTAINED, with a word, 11 SAME or CONTAINED if a
    registered predicate is what is assumed, 12 UNKNOWN, with the reason.
    """
    with activity("comparing") as report:
        found = same(
            a,
            b,
            alphabet=alphabet,
            contained=contained,
            at=at,
            empty=empty,
            up_to=up_to,
            seconds=seconds,
            configurations=configurations,
            report=report,
        )
    if json:
        print_json({"a": a, "b": b, **_record(found)})
    else:
        for line in _lines(found):
            out.print(line)
    return found.exit_code


def _record(found: Sameness) -> dict[str, object]:
    """The answer as JSON data."""
    return {
        "answer": str(found.answer),
        "alphabet": list(found.alphabet.symbols),
        "word": None if found.word is None else list(found.word),
        "verdicts": found.verdicts and list(found.verdicts),
        "shortest": found.is_shortest,
        "states": found.states and list(found.states),
        "reason": found.reason,
        "longest": found.longest,
        "words": found.words,
        "assumptions": list(found.assumptions),
    }


def _lines(found: Sameness) -> list[str]:
    over = f"words over {listed(found.alphabet.symbols, 'symbols')}"
    match found.answer:
        case Answer.SAME:
            return [f"SAME: A and B have the same {over}, of every length", *_proved_by(found)]
        case Answer.CONTAINED:
            return [f"CONTAINED: B has all of A's {over}, of every length", *_proved_by(found)]
        case Answer.UNKNOWN:
            return [f"UNKNOWN: {found.reason}"]
        case Answer.DIFFERENT | Answer.NOT_CONTAINED:
            return [f"{found.answer}: {_told(found)}", f"  {_shown_by(found)}"]


def _proved_by(found: Sameness) -> list[str]:
    return [f"  {_shown_by(found)}", *(f"  assuming {assumption}" for assumption in found.assumptions)]


def _shown_by(found: Sameness) -> str:
    if found.states is None:
        return found.reason
    left, right = (f"{count:,} state{'' if count == 1 else 's'}" for count in found.states)
    return f"{found.reason}: {left}" if left == right else f"{found.reason}: {left} and {right}"


def _told(found: Sameness) -> str:
    """The word, and which side accepts it."""
    word = "the empty word" if not found.word else f"'{show_word(found.word)}'"
    has, lacks = ("A", "B") if found.verdicts == (True, False) else ("B", "A")
    shortest = "no shorter word tells them apart" if found.is_shortest else "perhaps a shorter word does, too"
    return f"{word} is in {has} and not in {lacks}; {shortest}"
