"""Whether a certificate holds: the weights are read again, and everything it claims is derived from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, assert_never

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.proof import assumptions_of, prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import Roundings
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.exact.formats import FORMATS, REAL
from attemper.exact.predicates import PredicateError
from attemper.languages.definition import Definition
from attemper.languages.measures import meant_by
from attemper.networks.layers import Network
from attemper.networks.wellformed import complaints

if TYPE_CHECKING:
    from attemper.attention_program.realisation import Realisation

ARITHMETIC = (
    "round to nearest; sums in any order; position embeddings and temperatures from float64; "
    "exp within 8 u (bfloat16: 2 u) and exact at 0 (FORMAT.md, section 6)"
)

SCANNING = (
    "of scans: heads in float64, from a stream in the format; expm1 within 8 u, too; "
    "what is left out weighs 2^-52 at most (FORMAT.md, section 6)"
)

NORMALISING = "normalisations within 4 u at each number and 5 u + (D + 8) U in common (section 11)"

NO_HORIZON = "what is read through a normalisation is off by a little, so that a claim needs a horizon"

NO_ROUNDING = "rounding is ignored: every operation of the format is taken to be exact"


def check(
    network: Network,
    digest: str,
    certificate: Certificate,
    *,
    ignore_rounding: bool = False,
    explained: bool = False,
    place: str = "",
) -> Verdict:
    """The verdict on every claim of a certificate about the network with that digest.

    Nothing is taken from the certificate but what it claims; labels and constructions in the network
    only select which rule is tried. With `ignore_rounding` the claims about float formats are proved in real
    arithmetic and are PROVED_UNDER_ASSUMPTIONS at best. `place` says where the network is, for the verdict's
    subject.
    """
    language = certificate.language.text(network.alphabet)
    subject = Subject(About.NETWORK, place, digest, language)
    return replace(_check(network, digest, certificate, ignore_rounding, explained), subject=subject)


def _check(
    network: Network, digest: str, certificate: Certificate, ignore_rounding: bool, explained: bool
) -> Verdict:
    if certificate.network != digest:
        return _one(Status.MALFORMED, "the certificate is about another network: the digests differ")
    if not certificate.claims:
        return _one(Status.MALFORMED, "the certificate claims nothing")
    return judge(
        network,
        certificate.language,
        certificate.claims,
        certificate.realisation,
        ignore_rounding=ignore_rounding,
        explained=explained,
    )


def judge(
    network: Network,
    language: Definition,
    claims: tuple[Claim, ...],
    realisation: Realisation | None = None,
    *,
    rounding: str = "",
    ignore_rounding: bool = False,
    explained: bool = False,
) -> Verdict:
    """The verdict on claims, at least one, that the network computes the language.

    `realisation` is the program that it is said to run. `rounding` says why the network rounds otherwise than
    the weights it stands for: claims about float formats then are UNKNOWN. `explained` adds the proof, or how
    far it goes, as people read it.
    """
    verdict = _answered(network, language, claims, realisation, rounding, ignore_rounding)
    if not explained or verdict.status is Status.MALFORMED:
        return verdict
    from attemper.checker.explaining import explained_lines  # no verdict rests on it

    return replace(verdict, explanation=explained_lines(network, language, realisation))


def _answered(
    network: Network,
    language: Definition,
    claims: tuple[Claim, ...],
    realisation: Realisation | None,
    rounding: str,
    ignore_rounding: bool,
) -> Verdict:
    try:
        return _judge(network, language, claims, realisation, rounding, ignore_rounding)
    except PredicateError as error:
        return _one(Status.UNKNOWN, f"a predicate cannot be evaluated: {error}")
    except TooLargeError:
        return _one(Status.UNKNOWN, "its Boolean blocks are too large to be compared")
    except RecursionError:
        return _one(Status.UNKNOWN, "its parts nest too deeply to be compared")


def _judge(
    network: Network,
    language: Definition,
    claims: tuple[Claim, ...],
    realisation: Realisation | None,
    rounding: str,
    ignore_rounding: bool,
) -> Verdict:
    for complaint in complaints(network):
        return _one(Status.MALFORMED, f"the network is not well formed: {complaint}")
    if not language.fits(network.alphabet):
        return _one(
            Status.MALFORMED,
            "the language is over other symbols than the network, or in another order",
        )
    if (network.accepts_empty, network.reads_first) != (language.accepts_empty, language.reads_first):
        return _refuted_or_unknown(network, language, claims, "it is read in another way than is claimed")
    try:
        analysis = prove(network, language, realisation)
    except UnprovenError as error:
        return _refuted_or_unknown(network, language, claims, str(error))
    assumptions, roundings = assumptions_of(network, language), Roundings(analysis)
    return Verdict(
        tuple(_claim_verdict(roundings, claim, assumptions, rounding, ignore_rounding) for claim in claims)
    )


def _claim_verdict(
    roundings: Roundings, claim: Claim, assumptions: tuple[str, ...], rounding: str, ignore_rounding: bool
) -> ClaimVerdict:
    analysis = roundings.analysis
    match claim:
        case RealClaim(horizon):
            return _of_real_claim(roundings, horizon, assumptions)
        case FloatClaim(name, kernel, horizon, _):
            meant = meant_by(analysis.network.measure, in_floats=True)
            text = f"{_reach(horizon)} in {name} with {kernel} kernels{meant}"
            if name not in FORMATS or kernel not in set(Kernel) or horizon < 0:
                text = f"there is no arithmetic {name[:40]} with {kernel[:40]} kernels"
                return ClaimVerdict(Status.MALFORMED, text)
            if rounding and not ignore_rounding:
                return ClaimVerdict(Status.UNKNOWN, f"{text}: {rounding}", assumptions, ARITHMETIC)
            if ignore_rounding:
                place = _real_failure(roundings, horizon)
                assumptions = (*assumptions, NO_ROUNDING)
            else:
                place = roundings.failure_at(FORMATS[name], Kernel(kernel), horizon)
            arithmetic = "" if ignore_rounding else _arithmetic(analysis, kernel)
            return _unless(place, text, assumptions, arithmetic, is_vacuous=not horizon)
        case _:
            assert_never(claim)


def _of_real_claim(roundings: Roundings, horizon: int | None, assumptions: tuple[str, ...]) -> ClaimVerdict:
    analysis = roundings.analysis
    meant = meant_by(analysis.network.measure, in_floats=analysis.reads is not None)
    if horizon is not None:
        if horizon < 0:
            return ClaimVerdict(Status.MALFORMED, "there are no words of so many symbols")
        text, place = f"{_reach(horizon)} in real arithmetic{meant}", _real_failure(roundings, horizon)
        return _unless(place, text, assumptions, is_vacuous=not horizon)
    text = f"all lengths, in real arithmetic{meant}"
    if analysis.reads is not None:
        return ClaimVerdict(Status.UNKNOWN, f"{text}: {NO_HORIZON}", assumptions)
    return _unless(None, text, assumptions)


def _reach(horizon: int) -> str:
    """How far a claim goes: one about no length says nothing."""
    return f"lengths up to {horizon:,}," if horizon else "nothing is proved"


def _real_failure(roundings: Roundings, horizon: int) -> str | None:
    """The place that has no proof in real arithmetic: none if nothing is normalised."""
    if roundings.analysis.reads is None:
        return None
    return roundings.failure_at(REAL, Kernel.NUMERATOR_FIRST, horizon)


def _unless(
    place: str | None,
    text: str,
    assumptions: tuple[str, ...],
    arithmetic: str = "",
    *,
    is_vacuous: bool = False,
) -> ClaimVerdict:
    """PROVED, unless there is a place without a proof."""
    if place is not None:
        return ClaimVerdict(Status.UNKNOWN, f"{text}: no proof for {place}", assumptions, arithmetic)
    status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
    return ClaimVerdict(status, text, assumptions, arithmetic, is_vacuous=is_vacuous)


def _arithmetic(analysis: Analysis, kernel: str) -> str:
    if kernel == Kernel.SCAN:
        return SCANNING
    return ARITHMETIC if analysis.reads is None else f"{ARITHMETIC}; {NORMALISING}"


def _refuted_or_unknown(
    network: Network, language: Definition, claims: tuple[Claim, ...], reason: str
) -> Verdict:
    """REFUTED if a short word shows that the claims are false."""
    horizons = [claim.horizon for claim in claims if isinstance(claim, RealClaim) and claim.horizon != 0]
    if not horizons:
        # A word that goes wrong in real arithmetic does not refute a claim about floats.
        return _one(Status.UNKNOWN, reason)
    from attemper.checker.counterexample import wrong_word  # no proof rests on what this needs

    longest = None if None in horizons else max(own for own in horizons if own is not None)
    wrong = wrong_word(network, language, longest)
    if wrong is None:
        return _one(Status.UNKNOWN, reason)
    text = f"{wrong.text}, in real arithmetic ({reason})"
    return Verdict((ClaimVerdict(Status.REFUTED, text, witness=wrong.word),))


def _one(status: Status, text: str) -> Verdict:
    return Verdict((ClaimVerdict(status, text),))
