"""attemper formula"""

from __future__ import annotations

from attemper.compiling.decomposing.limits import CascadeCaps, parse_caps
from attemper.languages.temporal.show import show
from attemper.workbench.cli.classifying import automaton_of
from attemper.workbench.cli.console import out, print_json
from attemper.workbench.cli.options import AlphabetOption, CapOption, DfaOption, Json, RegexOption
from attemper.workbench.cli.progress import activity
from attemper.workbench.translate import Way, translate


def formula_command(
    regex: RegexOption = None,
    dfa: DfaOption = None,
    alphabet: AlphabetOption = None,
    cap: CapOption = None,
    json: Json = False,
) -> None:
    """Write a regular language as a past formula, read at the last position."""
    limits = CascadeCaps().with_caps(parse_caps(cap or []))
    with activity("making the automaton") as report:
        automaton = automaton_of(regex, dfa, alphabet)
        report(f"it has {len(automaton.moves):,} states; translating")
        found = translate(automaton, limits)
    empty = "accept" if automaton.accepts(()) else "reject"
    if json:
        record = {"proved": found.proved, "agreed_up_to": found.agreed, "way": found.way.value}
        print_json({"formula": show(found.formula), "at": "last", "empty": empty, **record})
        return
    out.print(show(found.formula))
    shown = "proved the same language"
    if not found.proved:
        shown = f"NOT proved the same language, tried up to length {found.agreed}"
    out.print(f"read at the last position, empty word: {empty}; {shown}")
    if found.way is not Way.SEARCH:
        out.print(f"not from the search for a short formula: read from the automaton's {found.way.value}")
