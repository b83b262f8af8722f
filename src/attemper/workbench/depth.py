"""How many layers of unique hard attention a language needs: bounds from both sides, each proved."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import assert_never, final

from attemper.certificates.depth import (
    Choice,
    DepthClaim,
    DepthClaims,
    EnoughByClasses,
    EnoughByFormula,
    HardNetworks,
    Inseparable,
)
from attemper.certificates.depth import save as save_claims
from attemper.checker.depth import MOST_LAYERS, MOST_LETTERS
from attemper.checker.depth_claims import judge_claim
from attemper.checker.verdict import Status
from attemper.depths.admitting import beyond_all_layers
from attemper.depths.caps import CLASSES, SECONDS, Caps
from attemper.depths.deepening import FEW, Layer, Paused, deepen
from attemper.depths.searching import Apart, Enough, Open
from attemper.depths.stepping import Sight
from attemper.errors import InternalError, OptionError, UnsupportedError
from attemper.languages.regular.classes import Kind, show_classification
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.words import Alphabet, Word
from attemper.workbench.depth_sources import bound_by_formula, in_states, regular_language

QUICK_LAYERS = 8
"""So many layers `quick_depth` looks at."""


@final
@dataclass(frozen=True, repr=False)
class Depth:
    """How many layers networks of a class need for a language, from below and from above.

    No network with fewer than `lower` layers knows the language: `pair` are two words that it would have to
    tell apart, None if `lower` is 0. Some network with `upper` layers does, by all classes of words or by a
    formula, which `by` is; None, both, where no bound from above was found. `stopped` says why nothing more
    was looked for where the two differ, `capped` that a cap or an interrupt was the reason, and `layers` what
    was found for each k. All of `claims` is proved by the checker.
    """

    lower: int
    upper: int | None
    by: EnoughByClasses | EnoughByFormula | None
    claims: DepthClaims
    layers: tuple[tuple[int, str | DepthClaim], ...]
    stopped: str = ""
    capped: bool = False

    @property
    def pair(self) -> tuple[Word, Word] | None:
        """Two words with one answer from all networks with fewer than `lower` layers."""
        found = [claim.words for claim in self.claims.claims if isinstance(claim, Inseparable)]
        return found[-1] if found else None

    @property
    def least(self) -> int | None:
        """The least number of layers, if both bounds meet."""
        return self.lower if self.lower == self.upper else None

    def __repr__(self) -> str:
        above = "no bound from above" if self.upper is None else f"at most {self.upper}"
        known = f"least depth {self.least}" if self.least is not None else f"at least {self.lower}, {above}"
        return f"<Depth: {known}>"

    def save(self, path: str | Path) -> None:
        """Write the claims to a file for `attemper check`.

        Raises `OptionError` if there are none, and `MalformedFileError` if writing fails.
        """
        if not self.claims.claims:
            raise OptionError(f"there is nothing to save: {self.stopped}")
        save_claims(self.claims, Path(path))


def depth(
    language: Dfa | TemporalLanguage | str,
    alphabet: str | Alphabet | None = None,
    *,
    at: str | None = None,
    layers: int | None = None,
    period: int = 1,
    prefix: int = 1,
    choice: str = "both",
    same_length: bool = False,
    classes: int = CLASSES,
    seconds: float = SECONDS,
    report: Callable[[str], None] = lambda _: None,
) -> Depth:
    """How many layers of unique hard attention a regular language needs, whatever else the network has.

    The networks are future-masked transformers that read the verdict on a word of n >= 1 letters, any n, at
    its last position: y_i^(k) = combine(y_i^(k-1), y_j^(k-1), ...), where j <= i or j < i has the greatest
    score, of several the leftmost or rightmost. Functions, width and heads are arbitrary. FORMAT.md, sections
    12 and 13, has the theorem: y_i^(k) is a function of F_k(i), and may be F_k(i).

    * `language`: an automaton; or a formula over the `alphabet`, read `at` "first" or "last", whose
      automaton is finite (counts modulo a number are, others are not).
    * `layers`: look for a pair for each k up to this one; without it, until both bounds meet.
    * `period`, `prefix`: position embeddings with this period from position `prefix` on; 1, 1: none.
    * `choice`: "both", or that all ties are broken "leftmost" or "rightmost".
    * `same_length`: look for pairs of one length, which refute networks whose weights depend on n, too.
    * `classes`, `seconds`: caps on the search for one k, and for all; `report` hears what is done.

    An interrupt ends the search with what is known so far.

    Raises `OptionError` for an option, `UnsupportedError` for a language that no number of layers is enough
    for (unless `layers` is given) or that is not regular, and what reading a formula raises.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> found = depth(parse_regex("(ab)*", "ab"))
    >>> found, found.pair, found.by
    (<Depth: least depth 2>, (('a', 'b'), ('a', 'a', 'b')), EnoughByClasses(layers=2, classes=602))
    """
    _require_numbers(layers, period, prefix, classes, seconds)
    if choice not in set(Choice):
        raise OptionError(f"choice={choice!r} is none of {', '.join(repr(str(one)) for one in Choice)}")
    networks = HardNetworks(prefix, period, Choice(choice))
    report("making the automaton")
    meant, letters, dfa = regular_language(language, alphabet, at)
    least = minimal(dfa)
    if layers is None:
        refuse_beyond(least, period)
    shown = meant if in_states(meant) else least
    climb = _Climb(least, DepthClaims(shown, letters, networks, ()), report)
    caps = Caps(classes, time.monotonic() + seconds)
    return climb.up_to(MOST_LAYERS if layers is None else layers, caps, same_length=same_length)


def quick_depth(dfa: Dfa, period: int = 1) -> Depth:
    """The depth as far as few classes and few layers show it: both bounds, and no formula is looked for.

    The answer does not depend on how fast anything is. For a minimal automaton of a language that some
    number of layers is enough for.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> quick_depth(parse_regex("(ab)*", "ab")), quick_depth(parse_regex("(a(ab)*b)*", "ab"))
    (<Depth: least depth 2>, <Depth: at least 3, no bound from above>)
    """
    networks = HardNetworks(1, period)
    climb = _Climb(dfa, DepthClaims(dfa, dfa.alphabet, networks, ()), lambda _: None, is_quick=True)
    return climb.up_to(QUICK_LAYERS, Caps(FEW), same_length=False)


@final
@dataclass
class _Climb:
    """What is known so far."""

    dfa: Dfa
    claims: DepthClaims
    report: Callable[[str], None]
    lower: int = 0
    by: EnoughByClasses | EnoughByFormula | None = None
    found: list[tuple[int, str | DepthClaim]] = field(default_factory=list)
    stopped: str = ""
    is_capped: bool = False
    is_quick: bool = False
    _is_bounded: bool = False

    def up_to(self, most: int, caps: Caps, *, same_length: bool) -> Depth:
        """What is found for k = 0, ..., most; an interrupt ends the search."""
        sight = _sight(self.claims.networks)
        try:
            for found in deepen(self.dfa, sight, caps, most, same_length=same_length):
                if self.is_over_with(found):
                    break
        except KeyboardInterrupt:
            self.stopped, self.is_capped = "interrupted", True
        return self.result(most)

    def is_over_with(self, layer: Layer) -> bool:
        """Take what was found for one k; whether the bounds meet, or nothing more can be found."""
        k, outcome = layer.layers, layer.outcome
        match outcome:
            case Apart((first, second)) if max(len(first), len(second)) > MOST_LETTERS:
                self.stopped = f"a pair has more than the {MOST_LETTERS:,} letters that the checker looks at"
            case Apart((first, second)):
                claim = Inseparable(k, (self._spelled(first), self._spelled(second)))
                self._add(k, claim)
                self.lower = k + 1
                self.report(f"{k + 1:,} layers at least")
                return self._meets()
            case Paused() if self.is_quick:
                self.stopped = f"more than {FEW:,} classes"
                return True
            case Paused():
                self._bound_from_above()
                return self._meets()
            case Enough(classes):
                if self._is_proved(EnoughByClasses(k, classes)):
                    self.by = EnoughByClasses(k, classes)
                    self._add(k, self.by)
                    return True
                self.stopped = f"{classes:,} classes, more than the checker looks at"
            case Open(classes, why):
                self.stopped = f"{classes:,} classes were listed: {why}"
            case _:
                assert_never(outcome)
        self.is_capped = True
        self.found.append((k, self.stopped))
        self._bound_from_above()
        return True

    def _meets(self) -> bool:
        return self.by is not None and self.by.layers == self.lower

    def _spelled(self, letters: tuple[int, ...]) -> Word:
        return tuple(self.dfa.alphabet.symbols[letter] for letter in letters)

    def _bound_from_above(self) -> None:
        """Look for a formula of few layers, once."""
        if self._is_bounded or self.claims.networks.choice is Choice.LEFTMOST:
            return
        self._is_bounded = True
        self.report("looking for a formula of few layers")
        claim = bound_by_formula(self.dfa, self.claims.language, self.lower)
        if claim is not None and self._is_proved(claim):
            self.by = claim

    def _add(self, k: int, claim: DepthClaim) -> None:
        if not self._is_proved(claim):
            raise InternalError(f"the checker does not accept what was found (please report): {claim}")
        self.found.append((k, claim))

    def _is_proved(self, claim: DepthClaim) -> bool:
        return judge_claim(self.claims, claim).status is Status.PROVED

    def result(self, most: int) -> Depth:
        """All that was found."""
        pairs = [claim for _, claim in self.found if isinstance(claim, Inseparable)]
        claims = (*pairs, *(() if self.by is None else (self.by,)))
        meant = self.claims
        upper = None if self.by is None else self.by.layers
        meets = self._meets()
        stopped = "" if meets else self.stopped or f"k up to {most:,} was asked for"
        own = DepthClaims(meant.language, meant.alphabet, meant.networks, claims)
        capped = self.is_capped and not meets
        return Depth(self.lower, upper, self.by, own, tuple(self.found), stopped, capped)


def refuse_beyond(dfa: Dfa, period: int) -> None:
    """Raise `UnsupportedError`, with the witness, if no number of layers is enough for the language."""
    found = beyond_all_layers(dfa, period)
    if found is None:
        return
    places = "without position embeddings" if period == 1 else f"with position embeddings of period {period}"
    helpful = f"give them positions with --period {found.modulus}, or " if found.modulus is not None else ""
    kind = (
        "not quasi-aperiodic" if found.kind not in {Kind.APERIODIC, Kind.QUASI_APERIODIC} else "not star-free"
    )
    raise UnsupportedError(
        f"no number of layers of unique hard attention is enough {places}: the language is {kind}. "
        + " / ".join(show_classification(found).splitlines())
        + f" / {helpful}ask for pairs up to some k with --layers"
    )


def _sight(networks: HardNetworks) -> Sight:
    leftmost, rightmost = networks.choice is not Choice.RIGHTMOST, networks.choice is not Choice.LEFTMOST
    return Sight(networks.prefix, networks.period, leftmost=leftmost, rightmost=rightmost)


def _require_numbers(
    layers: object, period: object, prefix: object, classes: object, seconds: object
) -> None:
    numbers = (("period", period, 1), ("prefix", prefix, 1), ("classes", classes, 1))
    for name, value, least in numbers:
        if type(value) is not int or not least <= value < 2**63:
            raise OptionError(f"{name}={value!r} is not a whole number from {least} on")
    if layers is not None and (type(layers) is not int or not 0 <= layers <= MOST_LAYERS):
        raise OptionError(f"layers={layers!r} is not a number of layers from 0 to {MOST_LAYERS}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 10**6:
        raise OptionError(f"seconds={seconds!r} is not a number of seconds above 0")
