"""attemper classify"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, final

import typer

from attemper.errors import UnsupportedError
from attemper.languages.regular import classes
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.forcing import ForcingGrowth, forcing_number, growth
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
    LanguageArgument,
    require_ending,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.written import lines_on, record_of_language, written_language
from attemper.writing import write_together

FORCED_LENGTH = 100
"""The length of which the forcing number is printed."""


@final
@dataclass(frozen=True)
class _Forcing:
    """The forcing number at `FORCED_LENGTH`, and its growth; None beyond a cap, which `refusal` names."""

    fixed: int | None
    growth: ForcingGrowth | None
    refusal: str | None


def classify_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw the minimal automaton to this file, x.svg."),
    ] = None,
    json: Json = False,
) -> None:
    """Say what class a regular language is in: star-free, quasi-aperiodic, solvable or neither; and why."""
    spoken = written_language(language, alphabet, at, empty)
    with activity("making the automaton") as report:
        automaton = spoken.automaton()
        if svg is not None:
            _draw(automaton, svg)
        report(f"it has {len(automaton.moves):,} states; looking for groups")
        found = classes.classify(automaton)
        report("forcing numbers")
        forced = _forcing(automaton)
    if json:
        record = _record(automaton, found)
        picture = {} if svg is None else {"picture": str(svg)}
        print_json(
            {
                **record_of_language(spoken),
                "states": len(automaton.moves),
                **record,
                "forcing": _forcing_record(forced),
                **picture,
            }
        )
        return
    for line in lines_on(spoken):
        out.print(line)
    out.print(f"{len(automaton.moves)} states")
    out.print_lines(classes.show_classification(found))
    out.print("'attemper depth' says how many layers it needs")
    out.print(_forcing_text(forced))
    if svg is not None:
        out.print(f"wrote a picture to {svg}")


def _draw(automaton: Dfa, svg: Path) -> None:
    """Write the picture. Raises `UnsupportedError` for too many states, before anything is classified."""
    require_ending(svg, (".svg",), "as a picture does: --svg x.svg")
    from attemper.exports.pictures.svg import automaton_svg

    write_together({svg: automaton_svg(automaton, standalone=True).encode()})


def _record(dfa: Dfa, found: classes.Classification) -> dict[str, object]:
    """A classification as JSON data; `witness_holds` says that the automaton, run on it, agrees."""
    match found.witness:
        case classes.Cycle(word, states):
            words, permuted = [word], states
        case classes.EqualLengths(idle, moving, states):
            words, permuted = [idle, moving], states
        case classes.Permuting(generators, states, _):
            words, permuted = list(generators), states
        case None:
            words, permuted = [], ()
    return {
        "class": found.kind.value,
        "reason": found.reason,
        "modulus": found.modulus,
        "derived_length": found.derived_length,
        "groups": [asdict(group) for group in found.groups],
        "witness": {"words": [list(word) for word in words], "states": list(permuted)},
        "witness_holds": classes.check_witness(dfa, found),
    }


def _forcing(dfa: Dfa) -> _Forcing:
    """What is found of forcing numbers within their caps."""
    fixed, found, refusal = None, None, None
    try:
        fixed = forcing_number(dfa, FORCED_LENGTH).fixed
    except UnsupportedError as error:
        refusal = str(error)
    try:
        found = growth(dfa)
    except UnsupportedError as error:
        refusal = str(error)
    return _Forcing(fixed, found, refusal)


def _forcing_record(forced: _Forcing) -> dict[str, object]:
    """Forcing numbers as JSON data; slopes are fractions, by the length modulo how many they are."""
    found = forced.growth
    return {
        "n": FORCED_LENGTH,
        "fixed": forced.fixed,
        "sensitive": found and found.sensitive,
        "slope": found and str(found.slope),
        "slopes": found and [str(slope) for slope in found.slopes],
        "bounded": found and found.bounded,
        "not_computed": forced.refusal,
    }


def _forcing_text(forced: _Forcing) -> str:
    """A line on forcing numbers: what they exclude, and else that they exclude nothing."""
    fixed, found = forced.fixed, forced.growth
    at = f"n = {FORCED_LENGTH}"
    if found is None and fixed is None:
        return f"forcing numbers not computed: {forced.refusal}"
    if found is None:
        return f"forced by {_symbols(fixed)} at {at}; at other lengths not computed: {forced.refusal}"
    if not found.sensitive:
        here = "" if fixed is None else f"{_symbols(fixed)} at {at}, and by "
        return (
            f"forced by {here}at most {_symbols(found.bounded)} at every length: "
            f"this alone does not say whether hard attention can recognise it"
        )
    here = "" if fixed is None else f"is {fixed} at {at} and "
    period = len(found.slopes)
    steepest = classes.shown_states([r for r, slope in enumerate(found.slopes) if slope == found.slope])
    where = f" where n mod {period} is {steepest}" if period > 1 else ""
    rate = "n" if found.slope == 1 else f"{found.slope} n"
    return (
        f"sensitive: hard attention cannot recognise it (Hahn 2020, Theorem 1): "
        f"the forcing number {here}grows like {rate}{where}"
    )


def _symbols(count: int | None) -> str:
    return f"{count} symbol{'' if count == 1 else 's'}"
