"""How far a softened network is from the hard one, on all words of one length: an error for each number.

Let x be the stream of the hard network and x' that of the soft one, in real arithmetic, at one word. For each
position and coordinate there is a number E >= |x' - x|, found layer by layer from E = 0.

**Scores.** A score of j at i is x_i^T A x_j, A = W_Q^T W_K. With e = x' - x, and * the position of the
greatest score of the hard network, the soft network's difference of scores less the hard one's is

    x'_i^T A (e_j - e_*) + e_i^T A (x_j - x_*),

at most D_j = (|x_i^T A| + E_i |A|) (E_j + E_*) + E_i |A (x_j - x_*)|. So the soft weight of j is at most
r / (1 + r), r = exp((s_j - s_* + D_j) / tau).

**Heads.** The soft head averages v'_j, within |V| E_j of v_j. The weights add up to 1, so its average is off
from v_* by at most F_* + sum over other j of weight_j max(0, |v_j - v_*| + F_j - F_*), F = |V| E. Positions
that share the greatest score have the same value (`streams`): F_* is the greatest F among them, and j runs
over the rest. A uniform head's weights are the same in both networks: the average of F. A head that sees
nothing adds 0 in both. What several heads write to one coordinate is added.

**Feed-forward.** A hidden unit whose sum is at least |W_1| E above 0 is linear between x and x', one as far
below 0 stays 0. Any other changes by at most |W_1| E, and by no more than the positive part of its sum plus
that. So E' = |I + W_2 S W_1| E + |W_2| (changes of the others), S = 1 for units that are surely positive.

**Arithmetic.** What the hard network computes is exact (`streams`), and so are A, A x, W_2 S W_1 and all
differences of hard numbers; they are rounded to float64 once they are known (`rounded`). All else is bounds
in float64, every rounding counted, 0 only where an error is exactly 0. Infinite numbers, and what is no
number, stay so up to the bound, which is infinite then, unless they are of a weight, which is at most 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ClosedForm, evaluate
from attemper.languages.words import Word
from attemper.models.arrays import Floats
from attemper.models.enclosures.forms import GAMMA, TINY, powers
from attemper.networks.layers import Head, Network, Softmax
from attemper.theories.softening.check import rounded
from attemper.theories.softening.check.streams import SymbolNumbers, batches, follow

COLDEST = 2**900
"""An inverse temperature is 0, or between this and its reciprocal, or below 0."""

MOST_KEPT = 2**28
"""Bytes of what is kept of all words between two temperatures; more is found again each time."""

Facts = tuple[SymbolNumbers, tuple[rounded.LayerFacts, ...]]
"""Some words, and what the layers do on them."""

InverseTemperatures = Sequence[Sequence[ClosedForm]]
"""1/tau of each head of each layer."""


@final
@dataclass(frozen=True)
class ErrorBound:
    """At least |soft - hard|, over all words and positions: for each coordinate, and for all put out."""

    coordinates: tuple[float, ...]
    outputs: float


def error_bound(soft: Network, length: int, on_words: Iterable[Word] | None = None) -> ErrorBound:
    """How far the softmax network is at most from the average-hard one with the same weights.

    max over words w of n symbols and positions i of |soft(w)_i - hard(w)_i|, in real arithmetic; infinite
    where nothing is found. `on_words` are words of this length, to look at no others.

    Raises `TieError` where the hard network is not tieless, and `UnsupportedError` for a head that is not a
    softmax head and numbers beyond the range of float64.
    """
    return ErrorBudget(soft, length, on_words).error_bound(inverse_temperatures(soft))


def inverse_temperatures(soft: Network) -> tuple[tuple[ClosedForm, ...], ...]:
    """1/tau of each head of each layer; raises `UnsupportedError` for heads that are not softmax heads."""
    return tuple(
        tuple(_coldness(head, number, index) for index, head in enumerate(layer.heads))
        for number, layer in enumerate(soft.layers)
    )


def _coldness(head: Head, layer: int, index: int) -> ClosedForm:
    if not isinstance(head.weighting, Softmax):
        raise UnsupportedError(f"head {index} of layer {layer} is {head.weighting}, and has no temperature")
    return head.weighting.inverse_temperature


class ErrorBudget:
    """The errors of one hard network at one length, for any temperatures: see the head of this file.

    What does not depend on the temperatures is kept, if it fits into `MOST_KEPT` bytes.

    >>> import attemper
    >>> network = attemper.compile("'a' S 'b'", "ab", regime="temperature").network
    >>> budget = ErrorBudget(network, 4)
    >>> own = inverse_temperatures(network)
    >>> budget.error_bound(own).outputs, budget.is_within(own, Fraction(1, 100))
    (0.0, True)
    """

    def __init__(self, hard: Network, length: int, on_words: Iterable[Word] | None = None) -> None:
        self.hard = hard
        self.length = length
        self._words = None if on_words is None else tuple(on_words)
        self._maps = tuple(rounded.LayerMaps(layer, len(hard.coordinates)) for layer in hard.layers)
        self._kept: list[Facts] | None = None
        self._suspect: list[Facts] = []

    def error_bound(self, inverse_temperatures: InverseTemperatures) -> ErrorBound:
        """At least the error with these temperatures, over all words: see the function `error_bound`."""
        worst = np.zeros(len(self.hard.coordinates))
        for _, errors in self._errors(inverse_temperatures, self._facts()):
            worst = np.maximum(worst, errors.max(axis=(0, 1)))
        found = tuple(map(float, worst))
        return ErrorBound(found, max(found[output] for output in self.hard.outputs))

    def is_within(self, inverse_temperatures: InverseTemperatures, epsilon: Fraction) -> bool:
        """Whether what is put out has an error of at most epsilon with these temperatures.

        It stops at the first words where that is not shown, and looks at the worst of them first next time.
        """
        outputs = list(self.hard.outputs)
        for words, errors in self._errors(inverse_temperatures, chain(self._suspect, self._facts())):
            worst = errors[..., outputs].max(axis=(1, 2))
            if float(worst.max()) > epsilon:
                row = int(worst.argmax())
                self._suspect = [self._facts_of(words[row : row + 1])]
                return False
        return True

    def _facts(self) -> Iterator[Facts]:
        """Those of one batch of words after the other."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Facts] | None = []
        size = 0
        for words in batches(self.hard, self.length, self._words):
            facts = self._facts_of(words)
            size += sum(layer.size for layer in facts[1])
            kept = None if kept is None or size > MOST_KEPT else [*kept, facts]
            yield facts
        self._kept = kept

    def _facts_of(self, words: SymbolNumbers) -> Facts:
        steps = enumerate(follow(self.hard, words))
        return words, tuple(
            rounded.facts_of(self._maps[number], step, is_first=number == 0) for number, step in steps
        )

    def _errors(
        self, inverse_temperatures: InverseTemperatures, facts: Iterable[Facts]
    ) -> Iterator[tuple[SymbolNumbers, Floats]]:
        """The words of each batch, and their errors (B, n, d) after the last layer."""
        colds = [[_cold(form, self.length) for form in layer] for layer in inverse_temperatures]
        for words, layers in facts:
            with np.errstate(all="ignore"):
                errors = np.zeros((*words.shape, len(self.hard.coordinates)))
                for maps, layer, cold in zip(self._maps, layers, colds, strict=True):
                    errors = _fed_forward(maps, layer, _mixed(maps, layer, errors, cold))
            yield words, np.where(np.isfinite(errors), errors, np.inf)


def _mixed(
    maps: rounded.LayerMaps, layer: rounded.LayerFacts, errors: Floats, colds: Sequence[Floats]
) -> Floats:
    """The errors behind the heads, which add up."""
    found = errors.copy()
    for head, visible, score_gaps, cold in zip(
        maps.heads, layer.visible, layer.gaps_by_head, colds, strict=True
    ):
        if score_gaps is None:
            added = _averaged(head, visible, errors)
        else:
            added = _attended(head, score_gaps, errors, cold)
        for place, target in enumerate(head.targets):
            found[..., target] = rounded.up(found[..., target] + added[..., place], 1)
    return found


def _cold(form: ClosedForm, length: int) -> Floats:
    """1/tau at each position, rounded once; not a number where it is below 0: nothing is known then."""
    values = [evaluate(form, i, length) for i in range(1, length + 1)]
    if any(value and not 1 <= abs(value) * COLDEST <= COLDEST**2 for value in values):
        raise UnsupportedError("an inverse temperature is beyond 2^-900 .. 2^900; scale the head's query")
    return np.array([float("nan") if value < 0 else float(value) for value in values])


def _averaged(head: rounded.HeadMaps, visible: NDArray[np.bool_], errors: Floats) -> Floats:
    """The error of a uniform head (B, n, M): the average of its values' errors; 0 where nothing is seen."""
    width, length = errors.shape[2], errors.shape[1]
    own = rounded.up(errors @ head.values.T, width)
    counts = np.maximum(visible.sum(axis=1), 1)[:, None]
    return rounded.up(rounded.up(visible.astype(np.float64) @ own, length) / counts, 1)


def _attended(head: rounded.HeadMaps, score_gaps: rounded.GapFacts, errors: Floats, cold: Floats) -> Floats:
    """The error of a head that is not uniform (B, n, M)."""
    own = rounded.up(errors @ head.values.T, errors.shape[2])
    weights = _weights(score_gaps, _moved(head, score_gaps, errors), cold)
    found = np.zeros((*errors.shape[:2], len(head.targets)))
    for place in range(len(head.targets)):
        there = own[:, None, :, place]
        best = np.where(score_gaps.best, there, 0.0).max(axis=2)
        more = rounded.up(score_gaps.apart[..., place] + there, 1) - best[:, :, None]
        more = rounded.up(np.maximum(more, 0.0), 1)
        stray = rounded.up((weights * more).sum(axis=2), errors.shape[1])
        found[..., place] = rounded.up(best + stray, 1)
    return found


def _moved(head: rounded.HeadMaps, score_gaps: rounded.GapFacts, errors: Floats) -> Floats:
    """D (B, n, n): at least how much the difference of the scores at j and at the winner changes."""
    width = errors.shape[2]
    if not errors.any():
        return np.zeros_like(score_gaps.below)
    slopes = rounded.up(score_gaps.slopes + rounded.up(errors @ head.product, width), 1)
    there = rounded.up(slopes @ errors.swapaxes(1, 2), width)
    found = there + np.take_along_axis(there, score_gaps.winner[:, :, None], 2)
    for place, coordinate in enumerate(head.read):
        found += errors[:, :, coordinate, None] * score_gaps.pulls[..., place]
    return rounded.up(found, len(head.read) + 2)


def _weights(score_gaps: rounded.GapFacts, moved: Floats, cold: Floats) -> Floats:
    """At least the soft weights of the rivals, 0 elsewhere.

    The exponent is rounded three times, and 1/tau once; it can underflow. Beyond -700 and 100 bounds do not
    change.
    """
    exponent = (moved - score_gaps.below) * cold[:, None]
    exponent = np.clip(exponent + 8 * GAMMA * np.abs(exponent) + TINY, -700, 100)
    value, off = powers(exponent)
    ratio = rounded.up(value + off, 1)
    return np.where(score_gaps.rivals, np.fmin(rounded.up(ratio / (1 + ratio), 1), 1.0), 0.0)


def _fed_forward(maps: rounded.LayerMaps, facts: rounded.LayerFacts, errors: Floats) -> Floats:
    """The errors behind the feed-forward layer."""
    width, units = errors.shape[2], facts.low.shape[2]
    if not units:
        return errors
    reach = rounded.up(errors @ maps.inner.T, width)
    active, silent = facts.low >= reach, facts.high <= -reach
    change = np.minimum(reach, rounded.up(facts.high + reach, 1))
    change = np.where(active | silent, 0.0, change)
    return rounded.up(_linear(maps, active, errors) + rounded.up(change @ maps.outer.T, units), 1)


def _linear(maps: rounded.LayerMaps, active: NDArray[np.bool_], errors: Floats) -> Floats:
    """|I + W_2 S W_1| E, for the active units S of each position."""
    width = errors.shape[2]
    flat, rows = active.reshape(-1, active.shape[2]), errors.reshape(-1, width)
    found = np.empty_like(rows)
    patterns, which = _patterns(flat)
    for number, first in enumerate(patterns.tolist()):
        own = which == number
        found[own] = rounded.up(rows[own] @ maps.slopes(flat[first]).T, width)
    return found.reshape(errors.shape)


AT_ONCE = 32
"""So many units make one number of a pattern."""


def _patterns(active: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A row of each pattern that occurs, and the number of each row's pattern."""
    first, which = np.zeros(1, dtype=np.int64), np.zeros(len(active), dtype=np.int64)
    for top in range(0, active.shape[1], AT_ONCE):
        some = active[:, top : top + AT_ONCE]
        codes = some @ (1 << np.arange(some.shape[1], dtype=np.int64))
        # Fewer patterns than rows, and both numbers below 2^31 or 2^32.
        _, first, which = np.unique((which << AT_ONCE) | codes, return_index=True, return_inverse=True)
    return first, which
