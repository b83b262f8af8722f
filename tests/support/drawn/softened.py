"""Softened networks with a chain of errors, made as simply as can be: c and k are tried one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from attemper.checker.names import UnprovenError
from attemper.exact.closed_forms import ONE, Digits, N, Power, plus, times
from attemper.exact.monomials import Monomial
from attemper.networks.files import bare_digest
from attemper.networks.layers import Network, Softmax
from attemper.theories.softening.certificate import (
    Approximation,
    ClosedFormErrors,
    GapBy,
    HeadGap,
    LayerError,
)
from attemper.theories.softening.check.by_rule import LayerByRule, by_rule
from attemper.theories.softening.check.closed_form import ErrorChain
from attemper.theories.softening.check.hard import hardened, uniform_heads

DIGEST = "f" * 64
"""Of a network that is in no folder."""

ZERO = Monomial(Fraction(0))

Claims = tuple[LayerError, ...]


def by_rules(network: Network) -> Claims:
    """What the rules say of every layer; errors are not filled in."""
    found = []
    for known, uniform in zip(by_rule(hardened(network)), uniform_heads(network), strict=True):
        assert known.magnitude is not None
        assert all(alone or head for alone, head in zip(uniform, known.heads, strict=True))
        gaps = tuple(None if head is None else HeadGap(GapBy.RULE, head.gap) for head in known.heads)
        found.append(LayerError(known.magnitude, GapBy.RULE, gaps, ZERO))
    return tuple(found)


def cooled(network: Network, claims: Claims, c: int, k: int) -> Network:
    """The network at 1/tau = (c + k D(n)) / gap, head by head."""
    layers = []
    for layer, claimed in zip(network.layers, claims, strict=True):
        forms = [
            ONE
            if own is None
            else times(1 / own.gap.factor, Power(N, -int(own.gap.power)), plus(c, times(k, Digits(N))))
            for own in claimed.gaps
        ]
        heads = (
            replace(head, weighting=Softmax(form)) for head, form in zip(layer.heads, forms, strict=True)
        )
        layers.append(replace(layer, heads=tuple(heads)))
    return replace(network, layers=tuple(layers))


def with_errors(
    network: Network,
    claims: Claims,
    known: tuple[LayerByRule, ...] | None = None,
    *,
    takes_bits: bool = False,
) -> Claims:
    """The claims with the least errors that can be claimed. Raises `UnprovenError` if there are none."""
    chain = ErrorChain(network, known or by_rule(hardened(network)), takes_bits)
    before, found = chain.start(), []
    for number, claimed in enumerate(claims):
        errors = chain.errors_after(number, claimed, before)
        found.append(replace(claimed, error=chain.needed(number, errors)))
        before = chain.after(errors, found[-1].error)
    return tuple(found)


def softened(
    network: Network,
    claims: Claims,
    epsilon: Fraction = Fraction(1, 100),
    *,
    checked_to: int = 0,
    last: int | None = None,
    takes_bits: bool = False,
) -> tuple[Network, Approximation]:
    """The network at the highest temperature that closes the chain, k first, and its certificate."""

    known = by_rule(hardened(network))

    def at(c: int, k: int) -> tuple[Network, Claims] | None:
        soft = cooled(network, claims, c, k)
        try:
            found = with_errors(soft, claims, known, takes_bits=takes_bits)
        except UnprovenError:
            return None
        error = found[-1].error if found else ZERO
        return None if error.factor and (error.power > 0 or error.factor > epsilon) else (soft, found)

    soft, found = _least(at)
    hard = bare_digest(hardened(network))
    return soft, Approximation(DIGEST, hard, epsilon, 1, last, ClosedFormErrors(found, checked_to))


def _least(at: Callable[[int, int], tuple[Network, Claims] | None]) -> tuple[Network, Claims]:
    for k in range(12):
        if at(200, k) is None:
            continue
        low, high = -1, 200
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if at(middle, k) is None else (low, middle)
        found = at(high, k)
        assert found is not None
        return found
    raise AssertionError("no temperature closes the chain")
