"""How large the constants of Hahn's Depth Reduction Lemma are: a calculator of its parameters for one layer.

The search is done in floats, on logarithms, and proves nothing. What it finds are rationals and an integer,
and the conditions of the proof are then confirmed for these, exactly or with balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar, final

import flint

from attemper.errors import InternalError
from attemper.exact.balls import ball, precision, upper_bound

_PRECISIONS = (128, 256, 512, 1024, 2048)
_GRID, _ROUNDS, _WIDEST = 17, 9, 16
"""Points in each direction, rounds of narrowing, and the largest log-odds of a share."""
_SHARES = 10**9
"""Shares are multiples of 1/_SHARES."""
_FLOAT = 10**14
"""What a float knows of a logarithm, with room for the errors of the search."""
_DIGITS = 6
"""Digits, after the first, of a k that is too large to be told from its neighbours by a float."""

_Number = TypeVar("_Number", Fraction, float)


class _Rates(NamedTuple, Generic[_Number]):
    """Rationals where something is proved, floats in the search."""

    eta: _Number
    q: _Number
    delta: _Number


class Variant(StrEnum):
    """Which proof the constants are for. A, B are the Local Lemma's, f bounds the neighbours of a tuple.

    PUBLISHED: A = 1/k^2, B = 1/2, f = 2^(2c) c^2 k^2 H / (eta C), as printed.
    PROVED: the same with f = 2^c c^2 k^2 H / (eta C), which is what the supplement's Corollary 18 proves.
    TUNED: that f, and A = 1/(f + 1), for which (1-A)^f is never less than 1/e.
    ALTERATION: random bits and then repairs (docs/depth-reduction.md); no Local Lemma.
    """

    PUBLISHED = "published"
    PROVED = "proved"
    TUNED = "tuned"
    ALTERATION = "alteration"


@final
@dataclass(frozen=True)
class RemovedLayer:
    """The layer that is to be removed: of a c-transformer with H heads, where C n inputs are free.

    `inputs`: c >= 1, how many inputs a layer-0 activation depends on at most; `heads`: H >= 1.
    `kept`: C'/C in (0, 1), the share of the free inputs that must stay free; `before`: C in (0, 1].
    """

    inputs: int
    heads: int
    kept: Fraction
    before: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if self.inputs < 1 or self.heads < 1:
            raise ValueError("a layer has at least one head, and activations at least one input")
        if not (0 < self.kept < 1 and 0 < self.before <= 1):
            raise ValueError("the share that stays free must be between 0 and 1, and some inputs free before")


@final
@dataclass(frozen=True)
class Parameters:
    """Parameters for which the Depth Reduction Lemma holds (`holds` confirms it).

    eta, q, delta, k: as in the paper (k is K, and delta is 0, for ALTERATION).
    `inputs_after`: c' = c (2^c k H + 1). `shortest`: for all n >= `shortest` there is a restriction with at
    least C' n free inputs under which all tuples are k-satisfied, and c' < C' n, so that it says something.
    """

    variant: Variant
    layer: RemovedLayer
    eta: Fraction
    q: Fraction
    delta: Fraction
    k: int
    inputs_after: int
    shortest: int


def parameters(variant: Variant, layer: RemovedLayer) -> Parameters:
    """Parameters of the Depth Reduction Lemma with a small least length.

    The conditions, for c, H, C of the layer, C' = kept C and n >= n_min:

        all but ALTERATION (Hahn 2020, Lemma 4; supplement, Definition 5 and Lemmas 17, 21-23)
            k >= 2^c c / (eta C)                                                  for Stage 2
            (1 - (q/2)^c)^(k eta C / c^2) <= A (1-B) (1-A)^f                      (31)
            exp(-delta^2 q (1-2 eta) C n / 3) <= B (1-A)^(2^c H n)                (32), with delta <= 1
            (1-2 eta) (1-(1+delta) q) = C'/C                                      (4)
        ALTERATION (docs/depth-reduction.md)
            eta + q + c 2^c H (1-(q/2)^c)^(K eta C / c^2) / C <= 1 - C'/C
            and with c = 1, where no Stage 1 is needed, the same with eta = 0 and (1-q/2)^K
        both
            c (2^c k H + 1) < C' n

    Corrections: Stage 2 needs 2^c c / k <= eta C (supplement), not <= eta (paper). The Chernoff bound needs
    delta <= 1. Guaranteed: `shortest` is large enough. Not claimed: that it is the least possible. The search
    is over two shares in (0, 1), whose log-odds are on a grid of 17 x 17 points in [-16, 16] that is narrowed
    eight times around the best point: eta = (1 - C'/C) u / 2 and delta = v; for ALTERATION
    eta = (1 - C'/C) u and q = (1 - C'/C - eta) v.

    Raises OverflowError if the numbers are beyond floats: `exponent` is for these.

    >>> found = parameters(Variant.ALTERATION, RemovedLayer(1, 1, Fraction(1, 2)))
    >>> found.k, found.inputs_after, found.shortest
    (14, 29, 59)
    """
    if layer.inputs > 200:
        raise OverflowError(f"with {layer.inputs} inputs k has more digits than is sensible to print")
    rates = _searched(variant, layer)
    k = _rounded_up(_least_log_k(variant, layer, _floats(rates)))
    while not _has_room(variant, layer, rates, k):
        k += max(1, k // 10**_DIGITS)
    after = inputs_after(layer, k)
    shortest = max(_covers(layer, after), _shortest_by_local_lemma(variant, layer, rates, k))
    found = Parameters(variant, layer, rates.eta, rates.q, rates.delta, k, after, shortest)
    if not holds(found):
        raise InternalError(f"the conditions do not hold at the length found: {found}")
    return found


def holds(found: Parameters) -> bool:
    """Whether all conditions of `parameters` hold at n = `shortest`, and so at every n from there on.

    (In (32) both exponents are multiples of n, and the inequality can hold only if the left one is larger.)
    Rational conditions are decided exactly, the others with balls.
    """
    layer, rates = found.layer, _Rates(found.eta, found.q, found.delta)
    return (
        found.inputs_after == inputs_after(layer, found.k)
        and found.inputs_after < layer.before * layer.kept * found.shortest
        and _has_room(found.variant, layer, rates, found.k)
        and _enough(found.variant, layer, rates, found.k, found.shortest)
    )


def inputs_after(layer: RemovedLayer, k: int) -> int:
    """c' = c (2^c k H + 1): how many inputs an activation depends on when the layer is gone (Lemma 4)."""
    values: int = 2**layer.inputs
    return layer.inputs * (values * k * layer.heads + 1)


def layer_above(found: Parameters) -> RemovedLayer:
    """The next layer, when the first is gone: C' is its C, c' its c; H and C'/C are the same again."""
    layer = found.layer
    return RemovedLayer(found.inputs_after, layer.heads, layer.kept, layer.before * layer.kept)


def exponent(variant: Variant, layer: RemovedLayer) -> int:
    """An e such that the conditions on k hold for k = 10^e: how large k is where it cannot be printed.

    The same search as `parameters`, and the same conditions, confirmed with balls at k = 10^e (for (32): at
    all n from some length on).

    >>> first = parameters(Variant.ALTERATION, RemovedLayer(1, 1, Fraction(1, 2)))
    >>> exponent(Variant.ALTERATION, layer_above(first))
    25
    """
    rates = _searched(variant, layer)
    found = math.ceil(_least_log_k(variant, layer, _floats(rates)) / math.log(10))
    while not _has_room(variant, layer, rates, _PowerOfTen(found)):
        # Of a longer number the last digits are no float's: it is that far off, not by 1.
        found += max(1, found // _FLOAT)
    return found


@final
@dataclass(frozen=True)
class _PowerOfTen:
    """10^exponent, not multiplied out."""

    exponent: int


# The search, in floats -------------------------------------------------------------------------------------


def _searched(variant: Variant, layer: RemovedLayer) -> _Rates[Fraction]:
    """eta, q and delta, from a grid of shares; `parameters` says which."""

    def value(point: tuple[float, float]) -> float:
        shares = (_share(coordinate) for coordinate in point)
        return _log_shortest(variant, layer, _from_shares(variant, layer, float(layer.kept), *shares))

    best, half = (0.0, 0.0), float(_WIDEST)
    for _ in range(_ROUNDS):
        best = min(_grid(best, half), key=value)
        half *= 3 / _GRID
    first, second = (Fraction(round(_share(coordinate) * _SHARES), _SHARES) for coordinate in best)
    return _from_shares(variant, layer, layer.kept, first, second)


def _grid(middle: tuple[float, float], half: float) -> list[tuple[float, float]]:
    steps = [half * (2 * i / (_GRID - 1) - 1) for i in range(_GRID)]
    return [(middle[0] + dx, middle[1] + dy) for dx in steps for dy in steps]


def _share(log_odds: float) -> float:
    """Between 0 and 1, and at least 1/_SHARES from both."""
    return 1 / (1 + math.exp(-max(-_WIDEST, min(_WIDEST, log_odds))))


def _from_shares(
    variant: Variant, layer: RemovedLayer, kept: _Number, first: _Number, second: _Number
) -> _Rates[_Number]:
    lost = 1 - kept
    if variant is not Variant.ALTERATION:
        eta = lost * first / 2
        return _Rates(eta, (1 - kept / (1 - 2 * eta)) / (1 + second), second)
    eta = lost * first * (layer.inputs > 1)
    return _Rates(eta, (lost - eta) * second, kept * 0)


def _floats(rates: _Rates[Fraction]) -> _Rates[float]:
    return _Rates(*map(float, rates))


def _log_shortest(variant: Variant, layer: RemovedLayer, rates: _Rates[float]) -> float:
    """The logarithm of the least n, about."""
    log_k = _least_log_k(variant, layer, rates)
    c, heads, before = layer.inputs, math.log(layer.heads), float(layer.before)
    after = math.log(c) + _log_sum(c * math.log(2) + log_k + heads, 0)
    covers = after - math.log(before * float(layer.kept))
    if variant is Variant.ALTERATION:
        return covers
    chernoff = math.log(rates.delta**2 * rates.q * (1 - 2 * rates.eta) * before / 3)
    lost = c * math.log(2) + heads + _log_probability(variant, layer, rates, log_k)
    if lost >= chernoff:
        return math.inf
    return max(covers, math.log(math.log(2)) - chernoff - math.log1p(-math.exp(lost - chernoff)))


def _least_log_k(variant: Variant, layer: RemovedLayer, rates: _Rates[float]) -> float:
    """The logarithm of the least k, about."""
    rate = _log_rate(layer, rates)
    if variant is Variant.ALTERATION:
        return math.log(_log_of_repairs(layer, rates)) - rate
    least = layer.inputs * math.log(2) + math.log(layer.inputs) - math.log(rates.eta * float(layer.before))
    found = least
    for _ in range(300):
        # From below, to the least fixed point: the right side grows like log k only.
        last, found = found, max(least, _log_needed(variant, layer, rates, found) - rate)
        if found - last <= 1e-15 * abs(found):
            break
    return found


def _log_rate(layer: RemovedLayer, rates: _Rates[float]) -> float:
    """log of -log(1 - (q/2)^c) eta C / c^2: the decay for each new activation (-log(1 - q/2) if eta = 0)."""
    c = layer.inputs
    power = c * math.log(rates.q / 2)
    decay = power if power < -40 else math.log(-math.log1p(-math.exp(power)))
    if rates.eta == 0:
        return decay
    return decay + math.log(rates.eta * float(layer.before)) - 2 * math.log(c)


def _log_of_repairs(layer: RemovedLayer, rates: _Rates[float]) -> float:
    """log of c 2^c H / (C (1 - C'/C - eta - q))."""
    c = layer.inputs
    room = float(layer.before) * (1 - float(layer.kept) - rates.eta - rates.q)
    return math.log(c) + c * math.log(2) + math.log(layer.heads) - math.log(room)


def _log_needed(variant: Variant, layer: RemovedLayer, rates: _Rates[float], log_k: float) -> float:
    """log of -log(A (1-B) (1-A)^f), about."""
    if variant is Variant.TUNED:
        return math.log(_log_neighbours(variant, layer, rates) + 2 * log_k + math.log(2) + 1)
    return _log_sum(math.log(2 * log_k + math.log(2)), _log_neighbours(variant, layer, rates))


def _log_neighbours(variant: Variant, layer: RemovedLayer, rates: _Rates[float]) -> float:
    """log of f / k^2."""
    c = layer.inputs
    others = 2 * math.log(c) + math.log(layer.heads) - math.log(rates.eta * float(layer.before))
    return _doublings(variant, layer) * math.log(2) + others


def _doublings(variant: Variant, layer: RemovedLayer) -> int:
    """The power of 2 in f."""
    return 2 * layer.inputs if variant is Variant.PUBLISHED else layer.inputs


def _log_probability(variant: Variant, layer: RemovedLayer, rates: _Rates[float], log_k: float) -> float:
    """log of A, about."""
    return -2 * log_k - (_log_neighbours(variant, layer, rates) if variant is Variant.TUNED else 0)


def _log_sum(left: float, right: float) -> float:
    """log(exp(left) + exp(right))."""
    high, low = max(left, right), min(left, right)
    return high + math.log1p(math.exp(low - high))


def _rounded_up(log_k: float) -> int:
    if log_k < math.log(10**12):
        return max(1, math.ceil(math.exp(log_k)))
    zeros = math.floor(log_k / math.log(10)) - _DIGITS
    power: int = 10**zeros
    return math.ceil(math.exp(log_k - zeros * math.log(10))) * power


# The confirmation, in rationals and balls ------------------------------------------------------------------


def _decided(positive: Callable[[], flint.arb]) -> bool:
    """Whether a number is at least 0: undecided balls are computed again with more bits."""
    for bits in _PRECISIONS:
        with precision(bits):
            found = positive()
            if found >= 0:
                return True
            if found < 0:
                return False
    raise InternalError("a condition of the Depth Reduction Lemma is too close to be decided")


def _has_room(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: int | _PowerOfTen) -> bool:
    """All conditions that are not about n; and that (32) holds for all n from some length on."""
    eta, q, delta = rates
    if not (0 <= eta < Fraction(1, 2) and 0 < q < 1 and 0 <= delta <= 1):
        return False
    if variant is Variant.ALTERATION:
        room = 1 - layer.kept - eta - q
        if room <= 0 or (eta == 0 and layer.inputs > 1):
            return False
        return _decided(lambda: _decay(layer, rates, _ball_of(k)) - _repairs(layer, room).log())
    if eta == 0 or delta == 0 or (1 - 2 * eta) * (1 - (1 + delta) * q) < layer.kept:
        return False
    return (
        _decided(lambda: _ball_of(k) * ball(eta * layer.before) - _power_of_two(layer.inputs) * layer.inputs)
        and _decided(lambda: _local_lemma_margin(variant, layer, rates, _ball_of(k)))
        and _decided(lambda: _chernoff_rate(variant, layer, rates, _ball_of(k)))
    )


def _ball_of(k: int | _PowerOfTen) -> flint.arb:
    return flint.arb(10) ** k.exponent if isinstance(k, _PowerOfTen) else flint.arb(k)


def _power_of_two(power: int) -> flint.arb:
    return flint.arb(2) ** power


def _decay(layer: RemovedLayer, rates: _Rates[Fraction], k: flint.arb) -> flint.arb:
    """-log of the bound on the probability that a tuple stays unsatisfied."""
    c = layer.inputs
    independent = k if rates.eta == 0 else k * ball(rates.eta * layer.before / c**2)
    return -independent * (-(ball(rates.q / 2) ** c)).log1p()


def _repairs(layer: RemovedLayer, room: Fraction) -> flint.arb:
    return ball(layer.inputs * layer.heads / (layer.before * room)) * _power_of_two(layer.inputs)


def _neighbours(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: flint.arb) -> flint.arb:
    """f."""
    others = ball(layer.inputs**2 * layer.heads / (rates.eta * layer.before))
    return _power_of_two(_doublings(variant, layer)) * others * k**2


def _probability(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: flint.arb) -> flint.arb:
    """A."""
    return 1 / (_neighbours(variant, layer, rates, k) + 1) if variant is Variant.TUNED else 1 / k**2


def _local_lemma_margin(
    variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: flint.arb
) -> flint.arb:
    """log of A (1-B) (1-A)^f, minus log of the left side of (31)."""
    rare = _probability(variant, layer, rates, k)
    avoided = _neighbours(variant, layer, rates, k) * (-rare).log1p()
    return rare.log() - flint.arb(2).log() + avoided + _decay(layer, rates, k)


def _chernoff_rate(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: flint.arb) -> flint.arb:
    """What n is multiplied with in the logarithm of (32): the right side's, minus the left side's."""
    eta, q, delta = rates
    lost = _power_of_two(layer.inputs) * layer.heads * (-_probability(variant, layer, rates, k)).log1p()
    return ball(delta**2 * q * (1 - 2 * eta) * layer.before / 3) + lost


def _enough(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: int, n: int) -> bool:
    """(32) at n."""
    if variant is Variant.ALTERATION:
        return True
    return _decided(lambda: n * _chernoff_rate(variant, layer, rates, flint.arb(k)) - flint.arb(2).log())


def _covers(layer: RemovedLayer, after: int) -> int:
    """The least n with c' < C' n."""
    return math.floor(after / (layer.before * layer.kept)) + 1


def _shortest_by_local_lemma(variant: Variant, layer: RemovedLayer, rates: _Rates[Fraction], k: int) -> int:
    """An n from which on (32) holds, about the least."""
    if variant is Variant.ALTERATION:
        return 1
    with precision(_PRECISIONS[-1]):
        rate = _chernoff_rate(variant, layer, rates, flint.arb(k))
        return math.ceil(upper_bound(flint.arb(2).log() / rate))
