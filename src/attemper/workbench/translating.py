"""A regular language as a past formula, asked from Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.workbench import naming
from attemper.workbench.limits import cascade_limits
from attemper.workbench.translate import Translation, found_formula, shown_same

if TYPE_CHECKING:
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike


def to_formula(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    limits: Mapping[str, int] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Translation:
    """A regular language as a past formula, read at the last position; its `text` is how it is written.

    The formula holds at position i of a word exactly if the first i symbols are in the language: `proved` for
    all lengths by the checker, or else tried on all words up to the length `agreed`; `way` says whether a
    search found it. On the empty word, which has no position, ask the language.

    * `language`, `alphabet`, `at`, `empty`: as for `attemper.language`; of a formula or program its automaton
      must be found.
    * `limits`: how large the automaton's cascade may grow, by the names that a refusal says, as in
      `{"symbols": 8000}`.
    * `report` hears what is done. An interrupt of the proof leaves the formula.

    Raises what `attemper.language` raises, `OptionError` for a limit that there is not, and
    `UnsupportedError` if no automaton is found, or it has no cascade, or a formula too large to be written.

    >>> found = to_formula("regex:(b*ab*a)*b*")
    >>> found.text, found.proved, found.way.value
    ('#<[a] % 2 = 0', True, 'cascade')
    """
    caps = cascade_limits(limits, CascadeCaps())
    spoken = naming.language(language, alphabet, at=at, empty=empty)
    automaton = spoken.automaton()
    report(f"it has {len(automaton.moves):,} states; translating")
    formula, way = found_formula(automaton, caps)
    report("a formula is found; proving it")
    try:
        return replace(shown_same(automaton, formula, way), language=spoken)
    except KeyboardInterrupt as end:
        why = str(end) or "interrupted"
        return Translation(spoken, formula, way, proved=False, unfinished=why)
