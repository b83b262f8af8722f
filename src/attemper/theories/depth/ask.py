"""How many layers of unique hard attention a language needs: bounds from both sides, each proved."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from attemper.errors import OptionError, UnsupportedError
from attemper.languages.regular.classes import RegularClass, show_classification
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.image_sets import LIMIT
from attemper.languages.regular.minimal import minimal
from attemper.theories.depth.certificate import DepthClaims, HardNetworks, TieBreaking
from attemper.theories.depth.check.pairs import MOST_LAYERS
from attemper.theories.depth.search.admitting import beyond_all_layers
from attemper.theories.depth.search.caps import CLASSES, SECONDS, ClassCaps
from attemper.theories.depth.search.climb import Climb
from attemper.theories.depth.search.found import Depth
from attemper.theories.depth.search.sources import automaton_to_search, in_states
from attemper.workbench import naming
from attemper.workbench.limits import limits_among

if TYPE_CHECKING:
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike

LIMITS = {"classes": CLASSES, "image_sets": LIMIT}
"""How many classes of words, and how many sets of states, are looked at."""


def depth(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    layers: int | None = None,
    period: int = 1,
    prefix: int = 1,
    choice: str = "both",
    same_length: bool = False,
    limits: Mapping[str, int] | None = None,
    seconds: float = SECONDS,
    report: Callable[[str], None] = lambda _: None,
) -> Depth:
    """How many layers of unique hard attention a regular language needs, whatever else the network has.

    The networks are future-masked transformers that read the verdict on a word of n >= 1 letters, any n, at
    its last position: y_i^(k) = combine(y_i^(k-1), y_j^(k-1), ...), where j <= i or j < i has the greatest
    score, of several the leftmost or rightmost. Functions, width and heads are arbitrary. FORMAT.md, sections
    12 and 13, has the theorem: y_i^(k) is a function of F_k(i), and may be F_k(i).

    * `language`, `alphabet`, `at`, `empty`: as for `attemper.language`; of a formula or program its
      automaton must be found (counts modulo a number have one, others need not).
    * `layers`: look for a pair for each k up to this one; without it, until both bounds meet.
    * `period`, `prefix`: position embeddings with this period from position `prefix` on; 1, 1: none.
    * `choice`: "both", or that all ties are broken "leftmost" or "rightmost".
    * `same_length`: look for pairs of one length, which refute networks whose weights depend on n, too.
    * `limits`: `classes`, so many of which are listed for one k, and `image_sets`, sets of states that are
      examined to see whether any number of layers is enough.
    * `seconds`: how long to search, give or take a step; `report` hears what is done.

    An interrupt ends the search with what is known so far.

    Raises `OptionError` for an option, `UnsupportedError` for a language that no number of layers is enough
    for (unless `layers` is given) or that is not regular, and what reading a formula raises.

    >>> found = depth("regex:(ab)*")
    >>> found, found.pair, found.by
    (<Depth: least depth 2>, (('a', 'b'), ('a', 'a', 'b')), EnoughByClasses(layers=2, classes=602))
    """
    _require_numbers(layers, period, prefix, seconds)
    most = limits_among(limits, LIMITS)
    if choice not in set(TieBreaking):
        raise OptionError(
            f"choice={choice!r} is none of {', '.join(repr(str(one)) for one in TieBreaking)}",
            options=("choice",),
        )
    networks = HardNetworks(prefix, period, TieBreaking(choice))
    report("making the automaton")
    spoken = naming.language(language, alphabet, at=at, empty=empty)
    spoken.require_verdicts()
    least = minimal(automaton_to_search(spoken))
    if layers is None:
        refuse_beyond(least, period, most["image_sets"])
    shown = spoken.definition if in_states(spoken.definition) else least
    climb = Climb(spoken, least, DepthClaims(shown, spoken.alphabet, networks, ()), report)
    caps = ClassCaps(most["classes"], time.monotonic() + seconds)
    return climb.up_to(MOST_LAYERS if layers is None else layers, caps, same_length=same_length)


def refuse_beyond(dfa: Dfa, period: int, limit: int) -> None:
    """Raise `UnsupportedError`, with the witness, if no number of layers is enough for the language."""
    found = beyond_all_layers(dfa, period, limit)
    if found is None:
        return
    places = "without position embeddings" if period == 1 else f"with position embeddings of period {period}"
    helpful = f"give them positions with period={found.modulus}, or " if found.modulus is not None else ""
    kind = (
        "not quasi-aperiodic"
        if found.kind not in {RegularClass.APERIODIC, RegularClass.QUASI_APERIODIC}
        else "not star-free"
    )
    raise UnsupportedError(
        f"no number of layers of unique hard attention is enough {places}: the language is {kind}. "
        + " / ".join(show_classification(found).splitlines())
        + f" / {helpful}ask for pairs up to some k, as with layers=2",
        options=("period", "layers"),
    )


def _require_numbers(layers: object, period: object, prefix: object, seconds: object) -> None:
    for name, value in (("period", period), ("prefix", prefix)):
        if type(value) is not int or not 1 <= value < 2**63:
            raise OptionError(f"{name}={value!r} is not a whole number from 1 on")
    if layers is not None and (type(layers) is not int or not 0 <= layers <= MOST_LAYERS):
        raise OptionError(
            f"layers={layers!r} is not a number of layers from 0 to {MOST_LAYERS}", options=("layers",)
        )
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 10**6:
        raise OptionError(f"seconds={seconds!r} is not a number of seconds above 0", options=("seconds",))
