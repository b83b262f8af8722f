"""The certificate of a network: what the checker can prove of it, and how far each format goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.evidence import Evidence, MeansSubformula, RoundedLayer, SoftenedHead
from attemper.certifying.horizons import Horizons
from attemper.checker.check import derived_error
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.proof import Proof, prove_language
from attemper.checker.rounding.arithmetic import Kernel
from attemper.errors import UnprovedError
from attemper.exact.formats import FORMATS, FloatFormat
from attemper.languages.language import Language
from attemper.networks.layers import Network

ARITHMETICS = tuple((form, kernel) for form in FORMATS.values() for kernel in Kernel)
"""What `certify` looks at: every format with every class of kernels."""

DIGITS = 64
"""Masses are rounded up to so many significant bits, so that certificates stay short."""


def certify(
    network: Network,
    digest: str,
    language: Language,
    progress: Callable[[int], None] = lambda _: None,
    arithmetics: Sequence[tuple[FloatFormat, Kernel]] = ARITHMETICS,
) -> Certificate:
    """The strongest certificate that the checker accepts, with the horizon of every format and kernel.

    `progress` is called with 1 after each horizon. Raises `UnprovedError` if the checker has no proof.
    """
    return certificate_of(prove(network, language), digest, language, progress, arithmetics)


def prove(network: Network, language: Language) -> Proof:
    """The proof that the network computes the language; raises `UnprovedError` if the checker has none."""
    try:
        proof, holds = prove_language(network, language)
    except UnprovenError as error:
        raise UnprovedError(f"no proof that the network computes its language: {error}") from None
    if not holds:
        raise UnprovedError("no proof that the network computes its language: its output is not shown to be")
    return proof


def certificate_of(
    proof: Proof,
    digest: str,
    language: Language,
    progress: Callable[[int], None] = lambda _: None,
    arithmetics: Sequence[tuple[FloatFormat, Kernel]] = ARITHMETICS,
) -> Certificate:
    """The certificate of a network with that digest, whose proof is known."""
    claims: list[Claim] = [RealClaim()]
    horizons = Horizons(proof.analysis)
    for form, kernel in arithmetics:
        found = horizons.of(form, kernel)
        claims.append(FloatClaim(form.name, str(kernel), found.length, found.place))
        progress(1)
    return Certificate(digest, language, tuple(claims), tuple(_evidence(proof)))


def _evidence(proof: Proof) -> list[Evidence]:
    found: list[Evidence] = []
    for number, layer in enumerate(proof.analysis.layers):
        for index, (head, mass) in enumerate(zip(layer.heads, layer.masses, strict=True)):
            found.append(SoftenedHead(number, index, head.rule.gap, _rounded_up(mass)))
        found.append(RoundedLayer(number, _rounded_up(derived_error(proof, number))))
    numbers: dict[Diagram, int] = {}
    for number, meaning_of_part in enumerate(proof.meanings.values()):
        numbers.setdefault(meaning_of_part, number)
    if not numbers:
        return found
    seen: set[int] = set()
    for layer_number in range(-1, len(proof.analysis.layers)):
        for coordinate in range(len(proof.analysis.network.coordinates)):
            meaning = None if coordinate in seen else proof.exact_meaning(layer_number, coordinate)
            if meaning in numbers:
                seen.add(coordinate)
                found.append(MeansSubformula(layer_number, coordinate, numbers[meaning]))
    return found


def _rounded_up(value: Fraction) -> Fraction:
    """The least multiple of a power of two that is not smaller, with few significant bits."""
    if not value:
        return value
    shift = max(0, value.denominator.bit_length() - value.numerator.bit_length() + DIGITS)
    return Fraction(-(-value.numerator * 2**shift // value.denominator), 2**shift)
