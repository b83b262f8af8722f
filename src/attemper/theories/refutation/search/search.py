"""The search for a restriction under which the model gives one answer, with as many free symbols as can be.

Hitting keeps the first layer simple, the layers up to the last but one are listed, the last one is captured
at position n. Then fixed symbols are freed again as long as the answer stays constant. Everything is
verified by a function that the caller supplies: the search itself proves nothing.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import final

import numpy as np

from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction, fixed
from attemper.theories.refutation.search.capturing import Capturer, Symbols
from attemper.theories.refutation.search.hitting import Ranking, choices_under, hit, ranking
from attemper.theories.refutation.search.states import (
    Activations,
    Choices,
    TooManyError,
    answers,
    following,
    lowest,
)

BOUNDS = (None, 128, 64, 32, 16, 8, 4, 2, 1, 0)
"""How many free symbols a head of the first layer may depend on, in the order of the attempts."""

MOST_VALUES = (50_000, 1_000_000)
"""How many combinations of activations of a layer are listed, at most: first few, then many."""

MOST_SEEN = 2_000_000
"""The same where nothing but the answer is asked for; not more than what is verified."""

EARLY_SEEN = 20_000
"""The same while what one starts with, and the first attempts, are polished."""

MOST_ENTRIES = 1 << 24
"""If more values could be attended to in the first layer, hitting is left out: each takes 100 bytes or so."""

TARGETS = 24
"""How many of the best-scoring values each head of the last layer is aimed at, if one can be forced."""

SHARE = 0.25
"""The share of the time that is left which each part of an attempt may take."""

ATTEMPTS = 0.8
"""The share of all time after which no attempt begins, so that there is some left for polishing."""

EARLY = 4_000
"""How many steps, times n, that polishing takes: enough for short words. (No clock, so that it is the same
every time.)"""

SMALL = 12
"""How many pairs of words are tried to begin with."""

SHARES = (0.9, 0.5, 0.1)
"""Which part of their symbols is chosen at random: the first that leaves a pair."""

ROUNDS = 4
"""How often everything is tried again, with other values aimed at, if there is time."""

SETTLED = 10.0
"""The search ends if nothing better was found for so many seconds, and for as long as the best one took."""

NEAR = 8
"""A new attempt is polished if its free part is at least 1 - 1 / NEAR of the best one's."""

FIRST_CHUNK = 4
"""How many symbols are freed at once to begin with."""

RARELY = 4
"""Polishing goes on unverified for so many times as long as a verification takes."""

PATIENCE = 2
"""After how many attempts in a row that were no better the next ones are left out."""

Verify = Callable[[Restriction], bool | None]
"""The one answer under a restriction, or None if that is not proved."""


@final
@dataclass(frozen=True)
class ConstantRestriction:
    """A restriction under which the model's answer is constant, verified."""

    restriction: Restriction
    answer: bool


@final
@dataclass
class Search:
    """Looks for `ConstantRestriction`s; `best` has the one with the most free positions so far.

    `deadline` is a time of `time.monotonic`. `report` is told what goes on. `narrow` says which restrictions
    are of use, for a language those that allow a word of it and one that is not: it returns the smallest
    restriction that still does, or None.
    """

    model: HardModel
    base: Restriction
    verify: Verify
    deadline: float
    narrow: Callable[[Restriction], Restriction | None] = lambda restriction: restriction
    report: Callable[[str], None] = lambda _: None
    seed: int = 0
    best: ConstantRestriction | None = field(default=None, init=False)
    _ranking: Ranking | None = field(default=None, init=False)
    _is_random: bool = field(default=False, init=False)
    _bounds: Sequence[int | None] = field(default=(), init=False)
    _most_values: int = field(default=MOST_VALUES[-1], init=False)
    _hit: dict[int, Restriction] = field(default_factory=dict, init=False)
    _began: float = field(default=0, init=False)
    _found: float = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng(self.seed)

    def run(self, enough: int) -> ConstantRestriction | None:
        """Searches until `enough` positions are free, or the time is over, or new attempts stop helping."""
        self._began = self._found = time.monotonic()
        self._start_small()
        over = self._slice(ATTEMPTS)
        bounds = self._bounds = self._rank()
        for most in MOST_VALUES:
            self._most_values = most
            self._keep(self._polished(self.best, enough, EARLY / self.model.length, EARLY_SEEN))
            bounds = self._attempts(bounds, enough, over)
        self._keep(self._polished(self.best, enough))
        for _ in range(ROUNDS if self.best is not None and len(self.model.heads) > 0 else 0):
            self._again(enough)
        return self.best

    def _rank(self) -> Sequence[int | None]:
        """How much the first layer can be simplified in the attempts; a layer alone is captured as it is."""
        if len(self.model.heads) <= 1:
            return (None,) * len(self.model.heads)
        try:
            self._ranking = ranking(self.model, self.base, MOST_ENTRIES)
        except TooManyError:
            return (None,)
        return BOUNDS

    def _attempts(self, bounds: Sequence[int | None], enough: int, over: float) -> list[int | None]:
        """One attempt for each bound; the bounds under which there were too many activations."""
        too_many: list[int | None] = []
        failures, has_solved = 0, False
        for bound in bounds:
            if self._is_over(over) or self._has(enough) or (has_solved and failures >= PATIENCE):
                break
            before = self.best
            try:
                for candidate in self._solve(bound):
                    if not self._is_over():
                        self._keep(self._verified(candidate))
            except TooManyError:
                too_many.append(bound)
            has_solved |= self.best is not before
            failures = failures + 1 if self.best is before else 0
        return too_many

    def _again(self, enough: int) -> None:
        """New attempts, with other values aimed at, each of them polished."""
        self._is_random = True
        for bound in self._bounds:
            if self._is_over() or self._has(enough) or self._is_settled():
                return
            with suppress(TooManyError):
                for candidate in self._solve(bound):
                    assert self.best is not None
                    if self._is_over() or self._has(enough) or self._is_settled():
                        return
                    if len(candidate.free) * NEAR > len(self.best.restriction.free) * (NEAR - 1):
                        self._keep(self._polished(self._verified(candidate), enough))

    def _slice(self, share: float = SHARE) -> float:
        """When a share of the time that is left will be over."""
        return time.monotonic() + (self.deadline - time.monotonic()) * share

    def _has(self, enough: int) -> bool:
        return self.best is not None and len(self.best.restriction.free) >= enough

    def _is_settled(self) -> bool:
        """Whether it has been long enough since something better was found."""
        return time.monotonic() - self._found > max(SETTLED, self._found - self._began)

    def _is_over(self, deadline: float | None = None) -> bool:
        return time.monotonic() > (self.deadline if deadline is None else deadline)

    def _verified(self, restriction: Restriction) -> ConstantRestriction | None:
        """The restriction with its answer, if it is of use and the answer is constant."""
        if self.narrow(restriction) is None:
            return None
        answer = self.verify(restriction)
        return None if answer is None else ConstantRestriction(restriction, answer)

    def _keep(self, found: ConstantRestriction | None) -> None:
        """Keeps it if it is the best."""
        if found is None:
            return
        if self.best is None or len(found.restriction.free) > len(self.best.restriction.free):
            self.best, self._found = found, time.monotonic()
            self.report(f"{len(found.restriction.free)} of {self.model.length} symbols are free")

    def _solve(self, bound: int | None) -> Iterator[Restriction]:
        """Restrictions under which position n should have one value in the last layer, the freest first.

        Raises `TooManyError` if there are too many activations.
        """
        self.report("all of the first layer" if bound is None else f"first layer: at most {bound} each")
        restriction = self._simplified(bound)
        if bound is not None and restriction == self.base:
            return  # nothing had to be fixed: that was tried with a looser bound, or none
        states = self._states(restriction)
        slice_end = self._slice()
        capturer = Capturer(self.model, states, len(restriction.free))
        found: list[Symbols] = []
        for query, known in self._starts(capturer):
            for head in range(self.model.heads[-1]):
                captured = self._cheapest(capturer, head, query, known, slice_end)
                if captured is None:
                    break
                known = captured
            else:
                found.append(known)
                capturer.most = len(known) - 1
        for known in reversed(found[-2:]):
            yield fixed(restriction, known)

    def _simplified(self, bound: int | None) -> Restriction:
        """The symbols that must be fixed so that no head of the first layer depends on more than `bound`."""
        if bound is None or self._ranking is None:
            return self.base
        if bound not in self._hit:
            self._hit[bound] = hit(self.base, self._ranking, bound, self._slice())
        return self._hit[bound]

    def _starts(self, capturer: Capturer) -> list[tuple[int, Symbols]]:
        """Values of position n below the last layer, with symbols that force them, the fewest first."""
        last = len(self.model.heads) - 1
        found: list[tuple[int, Symbols]] = []
        values = list(capturer.states[-1].of(self.model.length - 1))
        if self._is_random:
            self._draw.shuffle(values)
        for value in values[: 8 * TARGETS]:
            known: Symbols = {}
            if capturer.force(last, value, known):
                found.append((value, known))
        return sorted(found, key=lambda pair: len(pair[1]))[:TARGETS]

    def _states(self, restriction: Restriction) -> list[Activations]:
        """The states of the layers up to the last but one."""
        states = [lowest(self.model, restriction)]
        deadline = self._slice()
        known = self._known(restriction)
        for layer in range(len(self.model.heads) - 1):
            states.append(following(self.model, layer, states[-1], self._most_values, deadline, known))
            known = None
        return states

    def _known(self, restriction: Restriction) -> tuple[Choices, ...] | None:
        """The choices of the first layer, if they follow from the ranking."""
        if self._ranking is None or not self._ranking.is_complete:
            return None
        return choices_under(restriction, self._ranking)

    def _seen(self, restriction: Restriction, most: int) -> bool | None:
        """The one answer under a restriction, found faster than by verifying it, and not to be relied on."""
        state, known = lowest(self.model, restriction), self._known(restriction)
        try:
            found = answers(self.model, state, most, known)
        except TooManyError:
            return None
        return found.pop() if len(found) == 1 else None

    def _cheapest(
        self, capturer: Capturer, head: int, query: int, known: Symbols, deadline: float
    ) -> Symbols | None:
        """The fewest symbols that make a head of the last layer attend to one of the best values."""
        layer, most = len(self.model.heads) - 1, capturer.most
        best: Symbols | None = None
        for tried, target in enumerate(capturer.choices(layer, head, query)):
            if self._is_over(deadline) or (best is not None and tried > TARGETS):
                break
            if self._is_random and self._draw.random() < 1 / 2:
                continue
            attempt = dict(known)
            if capturer.capture(layer, head, query, int(target), attempt):
                best = attempt
                capturer.most = len(attempt) - 1
        capturer.most = most
        return best

    def _start_small(self) -> None:
        """Looks for two words, at random, which the model does not tell apart, to have something."""
        for _ in range(SMALL):
            if self._is_over():
                return
            restriction = self.base
            for share in SHARES:
                some = [i for i in self.base.free if self._draw.random() < share]
                chosen = {i: int(self._draw.choice(self.base.allowed[i - 1])) for i in some}
                if self.narrow(fixed(self.base, chosen)) is not None:
                    restriction = fixed(self.base, chosen)
                    break
            smallest = self.narrow(restriction)
            if smallest is not None:
                self._keep(self._verified(smallest))
            if self.best is not None:
                return

    def _polished(
        self, found: ConstantRestriction | None, enough: int, steps: float = math.inf, most: int = MOST_SEEN
    ) -> ConstantRestriction | None:
        """With fixed symbols freed while the answer stays constant: a few at once, more if that goes well.

        Only the last restriction is verified, and some on the way there, so that little is lost on Ctrl-C.
        """
        if found is None:
            return None
        guess, free = found.restriction, set(found.restriction.free)
        waiting = [i for i in self.base.free if i not in free]
        self._draw.shuffle(waiting)
        chunk = FIRST_CHUNK
        next_check = time.monotonic()
        while waiting and steps > 0 and not self._is_over() and len(guess.free) < enough:
            steps -= 1
            tried = _freed(guess, self.base, waiting[:chunk])
            if self._seen(tried, most) is not None:
                guess, waiting, chunk = tried, waiting[chunk:], 2 * chunk
                if time.monotonic() > next_check:
                    began = time.monotonic()
                    found = self._confirmed(guess, found)
                    next_check = time.monotonic() + RARELY * (time.monotonic() - began)
            elif chunk == 1 or len(waiting) == 1:
                waiting = waiting[1:]  # it cannot be freed, nor when even more are free
            else:
                chunk = max(1, min(chunk, len(waiting)) // 2)
        return self._confirmed(guess, found)

    def _confirmed(self, guess: Restriction, found: ConstantRestriction) -> ConstantRestriction:
        """The guess if it is verified, else what was found before it."""
        if guess == found.restriction:
            return found
        confirmed = self._verified(guess) or found
        self._keep(confirmed)
        return confirmed


def _freed(restriction: Restriction, base: Restriction, positions: Sequence[int]) -> Restriction:
    allowed = list(restriction.allowed)
    for position in positions:
        allowed[position - 1] = base.allowed[position - 1]
    return Restriction(tuple(allowed))
