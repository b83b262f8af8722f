"""attemper to-formula"""

from __future__ import annotations

from attemper.compiling.decomposing.limits import CascadeCaps, parse_caps
from attemper.languages.temporal.show import show
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
    LanguageArgument,
    LimitOption,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.written import lines_on, record_of_language, written_language
from attemper.workbench.translate import Way, translate


def to_formula_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    limit: LimitOption = None,
    json: Json = False,
) -> None:
    """Write a regular language as a past formula, read at the last position."""
    limits = CascadeCaps().with_caps(parse_caps(limit or []))
    spoken = written_language(language, alphabet, at, empty)
    with activity("making the automaton") as report:
        automaton = spoken.automaton()
        report(f"it has {len(automaton.moves):,} states; translating")
        found = translate(automaton, limits)
    verdict = "accept" if automaton.accepts(()) else "reject"
    if json:
        record = {"proved": found.proved, "agreed_up_to": found.agreed, "way": found.way.value}
        print_json(
            {
                "formula": show(found.formula),
                "at": "last",
                "empty": verdict,
                **record,
                **record_of_language(spoken),
            }
        )
        return
    for line in lines_on(spoken):
        out.print(line)
    out.print(show(found.formula))
    shown = "proved the same language"
    if not found.proved:
        shown = f"NOT proved the same language, tried up to length {found.agreed}"
    out.print(f"read at the last position, empty word: {verdict}; {shown}")
    if found.way is not Way.SEARCH:
        out.print(f"not from the search for a short formula: read from the automaton's {found.way.value}")
