"""k = 0, 1, 2, ...: for each the complete search, and where a cap ends that, words of shapes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never, final

from attemper.languages.regular.dfa import Dfa
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.equal_lengths import search_by_length
from attemper.theories.depth.search.searching import NO_EQUAL_LENGTHS, Apart, Enough, Open, Outcome, search
from attemper.theories.depth.search.shapes import search_shapes
from attemper.theories.depth.search.stepping import Sight

FEW = 1_000
"""After so many classes of one k whoever asked may know better."""


@final
@dataclass(frozen=True)
class Paused:
    """Nothing is found yet, and listing more classes takes time: a bound from above may spare that."""


@final
@dataclass(frozen=True)
class LayerFindings:
    """What was found out about k layers."""

    layers: int
    outcome: Outcome | Paused


def deepen(
    dfa: Dfa, sight: Sight, caps: ClassCaps, most: int, *, same_length: bool = False
) -> Iterator[LayerFindings]:
    """What is found for k = 0, 1, ..., `most`: a pair each, until k layers are enough or none is found.

    Each k is begun, and after a pause gone on with, when that is asked for: whoever knows a bound from above
    stops there.
    """
    for layers in range(most + 1):
        few = replace(caps, classes=min(FEW, caps.classes))
        outcome = _search(dfa, layers, sight, few, same_length=same_length)
        if isinstance(outcome, Open) and outcome.why != NO_EQUAL_LENGTHS:
            yield LayerFindings(layers, Paused())
            outcome = _at_length(dfa, layers, sight, caps, same_length=same_length)
        yield LayerFindings(layers, outcome)
        if not isinstance(outcome, Apart):
            return


def _at_length(dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps, *, same_length: bool) -> Outcome:
    """The search over classes takes half of what is left of the time; words of shapes the other half."""
    now = time.monotonic()
    half = caps if caps.deadline is None else replace(caps, deadline=now + (caps.deadline - now) / 2)
    found = _search(dfa, layers, sight, half, same_length=same_length)
    if isinstance(found, Open) and found.why != NO_EQUAL_LENGTHS:
        pair = search_shapes(dfa, layers, sight, caps, same_length=same_length)
        return found if pair is None else Apart(pair, found.classes)
    return found


def _search(dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps, *, same_length: bool) -> Outcome:
    return _of_one_length(dfa, layers, sight, caps) if same_length else search(dfa, layers, sight, caps)


def _of_one_length(dfa: Dfa, layers: int, sight: Sight, caps: ClassCaps) -> Outcome:
    """A pair of one length; else whether k layers are enough, by networks that are the same at each n."""
    by_length = search_by_length(dfa, layers, sight, caps)
    match by_length:
        case Apart():
            return by_length
        case Enough():
            found = search(dfa, layers, sight, caps)
            return Open(found.classes, NO_EQUAL_LENGTHS) if isinstance(found, Apart) else found
        case Open():
            found = search(dfa, layers, sight, caps, same_length=True)
            no_more = isinstance(found, Open) and found.why == NO_EQUAL_LENGTHS
            return replace(found, why=by_length.why) if isinstance(found, Open) and no_more else found
        case _:
            assert_never(by_length)
