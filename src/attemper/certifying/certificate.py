"""The certificate of a network: what the checker can prove of it, and how far each format goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim, SourceMeaning
from attemper.certifying.horizons import Horizons
from attemper.checker import proof
from attemper.checker.analysis import Analysis
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.errors import UnprovedError
from attemper.exact.formats import FORMATS, REAL, FloatFormat
from attemper.languages.definition import Definition
from attemper.networks.layers import Network

ARITHMETICS = tuple((form, kernel) for form in FORMATS.values() for kernel in Kernel)
"""What `certify` looks at: every format with every class of kernels."""


def certify(
    network: Network,
    digest: str,
    language: SourceMeaning,
    realisation: Realisation | None = None,
    progress: Callable[[int], None] = lambda _: None,
    arithmetics: Sequence[tuple[FloatFormat, Kernel]] = ARITHMETICS,
) -> Certificate:
    """The strongest certificate that the checker accepts, with the horizon of every format and kernel.

    `realisation` is the program that the network runs, which an automaton's proof needs. `progress` is called
    with 1 after each horizon. Raises `UnprovedError` if the checker has no proof.
    """
    analysis = prove(network, language, realisation)
    return certificate_of(analysis, digest, language, realisation, progress, arithmetics)


def prove(network: Network, language: Definition, realisation: Realisation | None) -> Analysis:
    """What the network computes: the language. Raises `UnprovedError` if the checker has no proof.

    Nor has it one of a normalised network of which it can say nothing in real arithmetic, at any length.
    """
    try:
        analysis = proof.prove(network, language, realisation)
    except UnprovenError as error:
        raise UnprovedError(f"no proof that the network computes its language: {error}") from None
    if analysis.reads is not None:
        place = failure_at(analysis, REAL, Kernel.NUMERATOR_FIRST, 1)
        if place is not None:
            raise UnprovedError(
                f"no proof for {place}: what it reads through its normalisation is off by too much; a "
                "smaller lambda, as 2^-40, or a larger padding makes that less"
            )
    return analysis


def certificate_of(
    analysis: Analysis,
    digest: str,
    language: SourceMeaning,
    realisation: Realisation | None,
    progress: Callable[[int], None] = lambda _: None,
    arithmetics: Sequence[tuple[FloatFormat, Kernel]] = ARITHMETICS,
) -> Certificate:
    """The certificate of a network with that digest, of which is known what it computes.

    A formula's proof needs no program, so that its certificate has none. A network that normalises what its
    sublayers read has a horizon in real arithmetic, too.
    """
    horizons = Horizons(analysis)
    claims: list[Claim] = [
        RealClaim(None if analysis.reads is None else horizons.in_real_arithmetic().length)
    ]
    for form, kernel in arithmetics:
        found = horizons.of(form, kernel)
        claims.append(FloatClaim(form.name, str(kernel), found.length, found.place))
        progress(1)
    return Certificate.by_way_of(realisation, digest, language, tuple(claims))
