"""How many layers of hard attention a classified language needs, as far as a short search shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.checker.depth import in_layers
from attemper.languages.regular.classes import Classification
from attemper.languages.regular.dfa import Dfa
from attemper.workbench.depth import quick_depth
from attemper.workbench.depth_climb import Depth


@final
@dataclass(frozen=True)
class LayersNeeded:
    """What is known of a regular language, with positions modulo `period`; None: no layers are enough."""

    period: int | None
    depth: Depth | None

    @property
    def text(self) -> str:
        """A line on the layers."""
        what = "layers of unique hard attention"
        if self.depth is None:
            return f"depth: no number of {what} is enough, whatever the period of positions"
        without = "" if self.period == 1 else "no number of layers is enough without positions; "
        places = "without positions" if self.period == 1 else f"with positions of period {self.period}"
        lower, least = self.depth.lower, self.depth.least
        if least is not None:
            return f"depth: {without}{in_layers(least)} of unique hard attention {places}, and no fewer"
        known = f"at least {in_layers(lower)} of unique hard attention {places}"
        return f"depth: {without}{known} ('attemper depth' looks further)"

    @property
    def cell(self) -> str:
        """The same in a table."""
        if self.depth is None:
            return "none"
        lower, upper = self.depth.lower, self.depth.upper
        number = f"≥ {lower}" if upper is None else str(lower) if lower == upper else f"{lower} to {upper}"
        return number if self.period == 1 else f"none; period {self.period}: {number}"

    @property
    def record(self) -> dict[str, object] | None:
        """The same as JSON data."""
        if self.depth is None:
            return None
        return {"period": self.period, "at_least": self.depth.lower, "at_most": self.depth.upper}


def layers_needed(dfa: Dfa, found: Classification) -> LayersNeeded:
    """The layers that the language of a minimal automaton of this class needs.

    >>> from attemper.languages.regular.classes import classify
    >>> from attemper.languages.regular.regex import parse_regex
    >>> pairs = parse_regex("(aa)*", "a")
    >>> print(layers_needed(pairs, classify(pairs)).cell)
    none; period 2: 0
    """
    period = found.modulus
    return LayersNeeded(period, None if period is None else quick_depth(dfa, period))
