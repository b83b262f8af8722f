"""Bounds and what follows from them, in words."""

from __future__ import annotations

from fractions import Fraction

from attemper.checker.verdict import ClaimVerdict, Status
from attemper.models.soft.weights import Encoder
from attemper.theories.influence import certificate

ARITHMETIC = "the real-number function of the float64 weights, with softmax"


def shown(encoder: Encoder, found: certificate.OneSymbolBound) -> str:
    """What a bound is about, in words: the only output, or sums and differences of several by name."""
    if found.functionals == ((1,),):
        return "the output"
    return " and ".join(_combination(encoder, functional) for functional in found.functionals)


def _combination(encoder: Encoder, functional: certificate.Functional) -> str:
    """A functional as people write it: `END - 0`."""
    terms = [(factor, name) for factor, name in zip(functional, encoder.outputs, strict=True) if factor]
    terms.sort(key=lambda term: term[0] < 0)  # the positive ones first, else in order
    texts = [f"{'-' if f < 0 else '+'} {'' if abs(f) == 1 else f'{abs(f)} '}{name}" for f, name in terms]
    return " ".join(texts).removeprefix("+ ")


def bits_of(found: certificate.OneSymbolBound) -> tuple[str, str]:
    """The first two symbols beside the marker."""
    first, second, *_ = (symbol for symbol in found.symbols if symbol != found.ending)
    return first, second


def unknown(text: str) -> ClaimVerdict:
    return ClaimVerdict(Status.UNKNOWN, text)


def frequencies(found: certificate.OneSymbolBound) -> str:
    """The box of a bound, in words."""
    assert isinstance(found.bound, certificate.FrequencyBound)
    assert found.bound.box is not None
    symbols = [symbol for symbol in found.symbols if symbol != found.ending][1:]
    period = 1 if found.bound.residue is None else found.bound.residue[0]
    residues = [
        f" at positions i = {i % period} mod {period}" if period > 1 else "" for i in range(1, period + 1)
    ]
    places = (f"{symbol}{residue}" for residue in residues for symbol in symbols)
    sides = zip(places, found.bound.box, strict=True)
    return " and ".join(f"from {number(low)} n to {number(high)} n times {s}" for s, (low, high) in sides)


def number(value: Fraction) -> str:
    """The number as people write it: a decimal where that is exact and short, else a fraction."""
    digits = next((k for k in range(13) if 10**k % value.denominator == 0), None)
    if not digits:
        return str(value)
    whole, part = divmod(abs(value.numerator) * (10**digits // value.denominator), 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{digits}}"
