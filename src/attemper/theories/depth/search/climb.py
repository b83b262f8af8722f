"""What is known of the layers that a language needs, from below and from above, and the way up to that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import assert_never, final

from attemper.checker.verdict import Status
from attemper.errors import InternalError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word
from attemper.theories.depth import certificate
from attemper.theories.depth.check.claims import judge_claim
from attemper.theories.depth.check.pairs import MOST_LETTERS
from attemper.theories.depth.search.caps import ClassCaps
from attemper.theories.depth.search.deepening import LayerFindings, Paused, deepen
from attemper.theories.depth.search.found import Depth
from attemper.theories.depth.search.searching import Apart, Enough, Open
from attemper.theories.depth.search.sources import bound_by_formula
from attemper.theories.depth.search.stepping import Sight
from attemper.workbench.language import Language


@final
@dataclass
class Climb:
    """What is known so far."""

    spoken: Language
    dfa: Dfa
    claims: certificate.DepthClaims
    report: Callable[[str], None]
    lower: int = 0
    by: certificate.EnoughByClasses | certificate.EnoughByFormula | None = None
    found: list[tuple[int, str | certificate.DepthClaim]] = field(default_factory=list)
    stopped: str = ""
    is_capped: bool = False
    _is_bounded: bool = False

    def up_to(self, most: int, caps: ClassCaps, *, same_length: bool) -> Depth:
        """What is found for k = 0, ..., most; an interrupt ends the search."""
        sight = _sight(self.claims.networks)
        try:
            for found in deepen(self.dfa, sight, caps, most, same_length=same_length):
                if self.is_over_with(found):
                    break
        except KeyboardInterrupt as end:
            self.stopped, self.is_capped = str(end) or "interrupted", True
        return self.result(most)

    def is_over_with(self, layer: LayerFindings) -> bool:
        """Take what was found for one k; whether the bounds meet, or nothing more can be found."""
        k, outcome = layer.layers, layer.outcome
        match outcome:
            case Apart((first, second)) if max(len(first), len(second)) > MOST_LETTERS:
                self.stopped = f"a pair has more than the {MOST_LETTERS:,} letters that the checker looks at"
            case Apart((first, second)):
                claim = certificate.Inseparable(k, (self._spelled(first), self._spelled(second)))
                self._add(k, claim)
                self.lower = k + 1
                self.report(f"{k + 1:,} layers at least")
                return self._meets()
            case Paused():
                self._bound_from_above()
                return self._meets()
            case Enough(classes):
                if self._is_proved(enough := certificate.EnoughByClasses(k, classes)):
                    self.by = enough
                    self.found.append((k, enough))
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
        if self._is_bounded or self.claims.networks.choice is certificate.TieBreaking.LEFTMOST:
            return
        self._is_bounded = True
        self.report("looking for a formula of few layers")
        claim = bound_by_formula(self.dfa, self.claims.language, self.lower)
        if claim is not None and self._is_proved(claim):
            self.by = claim

    def _add(self, k: int, claim: certificate.DepthClaim) -> None:
        if not self._is_proved(claim):
            raise InternalError(f"the checker does not accept what was found (please report): {claim}")
        self.found.append((k, claim))

    def _is_proved(self, claim: certificate.DepthClaim) -> bool:
        return judge_claim(self.claims, claim).status is Status.PROVED

    def result(self, most: int) -> Depth:
        """All that was found."""
        pairs = [claim for _, claim in self.found if isinstance(claim, certificate.Inseparable)]
        claims = (*pairs, *(() if self.by is None else (self.by,)))
        meant = self.claims
        upper = None if self.by is None else self.by.layers
        meets = self._meets()
        stopped = "" if meets else self.stopped or f"k up to {most:,} was asked for"
        own = certificate.DepthClaims(meant.language, meant.alphabet, meant.networks, claims)
        capped = self.is_capped and not meets
        return Depth(self.spoken, self.lower, upper, self.by, own, tuple(self.found), stopped, capped)


def _sight(networks: certificate.HardNetworks) -> Sight:
    leftmost, rightmost = (
        networks.choice is not certificate.TieBreaking.RIGHTMOST,
        networks.choice is not certificate.TieBreaking.LEFTMOST,
    )
    return Sight(networks.prefix, networks.period, leftmost=leftmost, rightmost=rightmost)
