"""What else is said of an automaton whose cascade is too large: a formula that does without, or all caps."""

from __future__ import annotations

from attemper.compiling.decomposing.limits import CapError, CascadeCaps
from attemper.compiling.decomposing.looking_ahead import with_all_caps
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.definite import definite_automaton
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula
from attemper.workbench.translate import searched


def remedied(refusal: CapError, dfa: Dfa, limits: CascadeCaps) -> UnsupportedError:
    """The refusal, with a formula of the same language if one is found, else with all caps that are met."""
    formula = _formula_of(dfa)
    if formula is None:
        return with_all_caps(dfa, limits, refusal)
    written = show(formula) + (" (with empty='accept')" if dfa.accepts_empty else "")
    return UnsupportedError(
        f"{refusal}; or compile a formula of the same language, which needs no cascade: {written}",
        **{**refusal.details, "options": ("limits", "empty")},
        formula=show(formula),
    )


def _formula_of(dfa: Dfa) -> Formula | None:
    """One that only looks at the last symbols, or a short one."""
    definite = definite_automaton(dfa)
    return searched(dfa) if definite is None else definite.formula
