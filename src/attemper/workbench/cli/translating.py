"""attemper to-formula"""

from __future__ import annotations

from attemper.workbench.cli.console import print_found
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    EmptyOption,
    Json,
    LanguageArgument,
    LimitOption,
)
from attemper.workbench.cli.progress import activity
from attemper.workbench.cli.time_limit import SecondsOption, limited
from attemper.workbench.cli.written import written_language
from attemper.workbench.limits import parse_limits
from attemper.workbench.translating import to_formula


@limited
def to_formula_command(
    language: LanguageArgument,
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    empty: EmptyOption = None,
    limit: LimitOption = None,
    seconds: SecondsOption = 60,
    json: Json = False,
) -> int:
    """Write a regular language as a past formula, read at the last position.

    Exit codes: 0 a formula was found, 12 the time was up before that, or before it was proved or tried.
    """
    del seconds
    limits = parse_limits(limit)
    spoken = written_language(language, alphabet, at, empty)
    with activity("making the automaton") as report:
        found = to_formula(spoken, limits=limits, report=report)
    print_found(found, json=json)
    return found.exit_code
