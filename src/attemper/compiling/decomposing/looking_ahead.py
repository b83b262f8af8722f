"""Which caps a cascade meets beyond the first that stops it."""

from __future__ import annotations

from dataclasses import replace

from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CapError, CascadeCaps
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa

AS_FAR = 4
"""No cap is tried beyond so many times its default: a refusal is not to take longer than the work."""


def with_all_caps(dfa: Dfa, limits: CascadeCaps, refusal: CapError) -> CapError:
    """The refusal of an automaton within these limits, with every cap that is met when others are raised."""
    met = {one.cap: one for one in refusal.met}
    while True:
        caps = {cap: one.more for cap, one in met.items()}
        if any(more > AS_FAR * getattr(CascadeCaps(), cap) for cap, more in caps.items()):
            return CapError(list(met.values()), is_enough=False)
        try:
            decompose(dfa, limits.with_caps(caps))
        except CapError as error:
            met |= {one.cap: replace(one, allowed=getattr(limits, one.cap)) for one in error.met}
        except UnsupportedError:
            return CapError(list(met.values()), is_enough=False)
        else:
            return CapError(list(met.values()), is_enough=True)
