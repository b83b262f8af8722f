"""Whether a certificate holds: the weights are read again, and everything it claims is derived from them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import assert_never

from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.evidence import Evidence, MeansSubformula, RoundedLayer, SoftenedHead
from attemper.checker.analysis import ROUNDED
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.proof import Proof, prove_language
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.checker.subjects import describe
from attemper.checker.values import error_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.exact.closed_forms import ClosedForm, tests_in
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import BUILT_IN, Named, PredicateError
from attemper.languages.language import Language, accepts_empty, reads_first
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.syntax import Numerical, Symbol, subformulas
from attemper.networks.layers import Network, Softmax

ARITHMETIC = (
    "round to nearest; sums in any order; position embeddings and temperatures from float64; "
    "exp within 8 u (bfloat16: 2 u) and exact at 0 (FORMAT.md, section 6)"
)

NO_ROUNDING = "rounding is ignored: every operation of the format is taken to be exact"


def check(
    network: Network,
    digest: str,
    certificate: Certificate,
    *,
    ignore_rounding: bool = False,
    place: str = "",
) -> Verdict:
    """The verdict on every claim of a certificate about the network with that digest.

    Nothing is taken from the certificate but what it claims; labels and constructions in the network
    only select which rule is tried. With `ignore_rounding` the claims about float formats are proved in real
    arithmetic and are PROVED_UNDER_ASSUMPTIONS at best. `place` says where the network is, for the verdict's
    subject.
    """
    language = describe(certificate.language, network.alphabet)
    subject = Subject(About.NETWORK, place, digest, language)
    return replace(_check(network, digest, certificate, ignore_rounding), subject=subject)


def _check(network: Network, digest: str, certificate: Certificate, ignore_rounding: bool) -> Verdict:
    if certificate.network != digest:
        return _one(Status.MALFORMED, "the certificate is about another network: the digests differ")
    if not certificate.claims:
        return _one(Status.MALFORMED, "the certificate claims nothing")
    claims, evidence = certificate.claims, certificate.evidence
    return judge(network, certificate.language, claims, evidence, ignore_rounding=ignore_rounding)


def judge(
    network: Network,
    language: Language,
    claims: tuple[Claim, ...],
    evidence: tuple[Evidence, ...] = (),
    *,
    rounding: str = "",
    ignore_rounding: bool = False,
) -> Verdict:
    """The verdict on claims, at least one, that the network computes the language; and on evidence for them.

    `rounding` says why the network rounds otherwise than the weights it stands for: claims about float
    formats then are UNKNOWN.
    """
    try:
        return _judge(network, language, claims, evidence, rounding, ignore_rounding)
    except PredicateError as error:
        return _one(Status.UNKNOWN, f"a predicate cannot be evaluated: {error}")
    except TooLargeError:
        return _one(Status.UNKNOWN, "its Boolean blocks are too large to be compared")
    except RecursionError:
        return _one(Status.UNKNOWN, "its parts nest too deeply to be compared")


def _judge(
    network: Network,
    language: Language,
    claims: tuple[Claim, ...],
    evidence: tuple[Evidence, ...],
    rounding: str,
    ignore_rounding: bool,
) -> Verdict:
    if not _knows(network, language):
        return _one(Status.MALFORMED, "the language has symbols that the network does not know")
    read = network.accepts_empty, network.reads_first
    if read != (accepts_empty(language), reads_first(language)):
        return _refuted_or_unknown(network, language, claims, "it is read in another way than is claimed")
    try:
        proof, holds = prove_language(network, language)
    except UnprovenError as error:
        return _refuted_or_unknown(network, language, claims, str(error))
    if not holds:
        return _refuted_or_unknown(
            network, language, claims, "its output is not shown to be that of the language"
        )
    for complaint in _unsupported(proof, evidence):
        return _one(Status.UNKNOWN, f"the evidence does not hold: {complaint}")
    assumptions = tuple(
        f"the registered predicate '{name}' is the same function wherever the network runs"
        for name in sorted(_registered(network, language))
    )
    return Verdict(
        tuple(_claim_verdict(proof, claim, assumptions, rounding, ignore_rounding) for claim in claims)
    )


def _claim_verdict(
    proof: Proof, claim: Claim, assumptions: tuple[str, ...], rounding: str, ignore_rounding: bool
) -> ClaimVerdict:
    match claim:
        case RealClaim():
            status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
            return ClaimVerdict(status, "all lengths, in real arithmetic", assumptions)
        case FloatClaim(name, kernel, horizon, _):
            text = f"lengths up to {horizon:,}, in {name} with {kernel} kernels"
            if name not in FORMATS or kernel not in set(Kernel) or horizon < 0:
                text = f"there is no arithmetic {name[:40]} with {kernel[:40]} kernels"
                return ClaimVerdict(Status.MALFORMED, text)
            if ignore_rounding:
                return ClaimVerdict(Status.PROVED_UNDER_ASSUMPTIONS, text, (*assumptions, NO_ROUNDING))
            if rounding:
                return ClaimVerdict(Status.UNKNOWN, f"{text}: {rounding}", assumptions, ARITHMETIC)
            place = failure_at(proof.analysis, FORMATS[name], Kernel(kernel), horizon)
            if place is not None:
                reason = f"{text}: no proof for {place}"
                return ClaimVerdict(Status.UNKNOWN, reason, assumptions, ARITHMETIC)
            status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
            return ClaimVerdict(status, text, assumptions, ARITHMETIC)
        case _:
            assert_never(claim)


def _knows(network: Network, language: Language) -> bool:
    """Whether the network reads the symbols of the language; an automaton's in the same order."""
    if isinstance(language, Dfa):
        return language.alphabet == network.alphabet
    named = {part.name for part in subformulas(language.formula) if isinstance(part, Symbol)}
    return named <= set(network.alphabet.symbols)


def _unsupported(proof: Proof, evidence: tuple[Evidence, ...]) -> Iterator[str]:
    """Every piece of evidence that is stronger than what was derived."""
    parts, layers = tuple(proof.meanings), proof.analysis.layers
    width = len(proof.analysis.network.coordinates)
    for item in evidence:
        match item:
            case SoftenedHead(layer, head, margin, mass):
                name = f"layer {layer}, head {head}"
                if not (0 <= layer < len(layers) and 0 <= head < len(layers[layer].heads)):
                    yield f"there is no {name}"
                elif margin > layers[layer].heads[head].rule.gap:
                    yield f"{name} has a margin of {layers[layer].heads[head].rule.gap}, not {margin}"
                elif mass < layers[layer].masses[head]:
                    yield f"{name} may give more than {float(mass):.3g} of its attention to other positions"
            case RoundedLayer(layer, error):
                if not 0 <= layer < len(layers):
                    yield f"there is no layer {layer}"
                elif not derived_error(proof, layer) <= error <= ROUNDED:
                    yield f"hidden units of layer {layer} may be off by more than {float(error):.3g}"
            case MeansSubformula(layer, coordinate, number):
                known = -1 <= layer < len(layers) and 0 <= coordinate < width and 0 <= number < len(parts)
                if not known:
                    yield f"there is no layer {layer}, coordinate {coordinate} or subformula {number}"
                elif not proof.computes(layer, coordinate, parts[number]):
                    yield f"after layer {layer}, coordinate {coordinate} is not subformula {number}"
            case _:
                assert_never(item)


def derived_error(proof: Proof, layer: int) -> Fraction:
    """How far any linear form that hidden units of the layer read can be off, in real arithmetic."""
    fact = proof.analysis.layers[layer]
    return max((error_of(group.form, fact.middle) for group in fact.groups), default=Fraction(0))


def _registered(network: Network, language: Language) -> set[str]:
    """The predicates that a user registered and that the network or the formula uses."""
    forms: list[ClosedForm] = [form for _, form in network.positions]
    for layer in network.layers:
        forms += [h.weighting.inverse_temperature for h in layer.heads if isinstance(h.weighting, Softmax)]
    named = {test.predicate for form in forms for test in tests_in(form)}
    parts = () if isinstance(language, Dfa) else subformulas(language.formula)
    named |= {part.predicate for part in parts if isinstance(part, Numerical)}
    return {predicate.name for predicate in named if isinstance(predicate, Named)} - BUILT_IN


def _refuted_or_unknown(
    network: Network, language: Language, claims: tuple[Claim, ...], reason: str
) -> Verdict:
    """REFUTED if a short word shows that the claims are false."""
    if not any(isinstance(claim, RealClaim) for claim in claims):
        # A word that goes wrong in real arithmetic does not refute a claim about floats.
        return _one(Status.UNKNOWN, reason)
    from attemper.checker.counterexample import wrong_word  # no proof rests on what this needs

    wrong = wrong_word(network, language)
    if wrong is None:
        return _one(Status.UNKNOWN, reason)
    text = f"{wrong.text}, in real arithmetic ({reason})"
    return Verdict((ClaimVerdict(Status.REFUTED, text, witness=wrong.word),))


def _one(status: Status, text: str) -> Verdict:
    return Verdict((ClaimVerdict(status, text),))
