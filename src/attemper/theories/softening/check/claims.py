"""Checks what is claimed of a softened network: how far it is from the hard network with the same weights.

Nothing of a search is trusted. An enumeration is done again; of a chain of errors every gap, magnitude and
error is derived from the weights and the temperatures, and compared exactly. What is given is tried on all
words of some lengths, and is an assumption beyond them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import assert_never

from attemper.checker.names import UnprovenError
from attemper.checker.proof import assuming, deep, registered_in
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exact.monomials import ZERO, Monomial
from attemper.exact.predicates import PredicateError
from attemper.files import CERTIFICATE
from attemper.networks import files
from attemper.networks.layers import Network, Softmax
from attemper.networks.structure import HARD
from attemper.theories.softening.certificate import (
    APPROXIMATION,
    Approximation,
    ClosedFormErrors,
    Enumerated,
    GapBy,
    LayerError,
)
from attemper.theories.softening.check import powers
from attemper.theories.softening.check.by_rule import UNFOLLOWED, LayerByRule, by_rule
from attemper.theories.softening.check.closed_form import ErrorChain
from attemper.theories.softening.check.given import Given, given_in, refuting, shown
from attemper.theories.softening.check.hard import hardened, uniform_heads

MOST_WORDS = 2**20
"""As many words are tried at most, over all lengths."""


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on how far a softened network is from its hard one, as its folder's certificate says.

    A folder says itself which network it is about: nobody names another.
    """
    del model
    try:
        network, source = files.load(path)
        digest = files.digest_of(network, source)
        found = APPROXIMATION.load(path / CERTIFICATE)
        if source.kind != HARD or source.text != found.hard:
            raise MalformedFileError("the certificate is about another hard network than this one's source")
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(path)))
    return check_approximation(network, digest, found, str(path))


def check_approximation(network: Network, digest: str, found: Approximation, place: str = "") -> Verdict:
    """The verdict on a softened network with that digest; `place` says where the network is."""
    subject = Subject(About.NETWORK, place, digest)
    complaint = next(_mismatches(network, digest, found), None)
    if complaint is not None:
        return Verdict((ClaimVerdict(Status.MALFORMED, complaint),), subject)
    try:
        with deep():
            claim = _judged(network, found)
    except (UnprovenError, UnsupportedError) as error:
        claim = _unknown(found, str(error))
    except PredicateError as error:
        claim = _unknown(found, f"a predicate cannot be evaluated: {error}")
    except UNFOLLOWED:
        claim = _unknown(found, "its numbers or Boolean blocks are too large")
    return Verdict((claim,), subject)


def _mismatches(network: Network, digest: str, found: Approximation) -> Iterator[str]:
    """Why the certificate is not about this network."""
    if network.normalisation is not None:
        yield "a certificate of an approximation is about networks without normalisation"
        return
    if found.network != digest:
        yield "the certificate is about another network: the digests differ"
    heads = [head for layer in network.layers for head in layer.heads]
    if not all(isinstance(head.weighting, Softmax) for head in heads):
        yield "a softened network has softmax heads only"
    if found.hard != files.bare_digest(hardened(network)):
        yield "the certificate is about another hard network: its digest differs"
    match found.evidence:
        case Enumerated():
            if found.last is None:
                yield "an enumeration is of finitely many lengths"
        case ClosedFormErrors(layers):
            yield from _of_layers(network, layers)
        case _:
            assert_never(found.evidence)


def _of_layers(network: Network, layers: tuple[LayerError, ...]) -> Iterator[str]:
    if len(layers) != len(network.layers):
        yield f"the certificate is about {len(layers)} layers, and the network has {len(network.layers)}"
        return
    for number, (layer, uniform) in enumerate(zip(layers, uniform_heads(network), strict=True)):
        if tuple(gap is None for gap in layer.gaps) != uniform:
            yield f"layer {number}: heads that are not uniform have a lead each, and others have none"


def _judged(network: Network, found: Approximation) -> ClaimVerdict:
    registered = assuming(registered_in(network))
    match found.evidence:
        case Enumerated():
            return _enumerated(network, found, registered)
        case ClosedFormErrors(layers, checked_to):
            known = by_rule(hardened(network))
            _require_ruled(layers, known)
            given = given_in(layers, _closes(network, found, layers, known).bits)
            return _tried(network, found, given, checked_to, registered)
        case _:
            assert_never(found.evidence)


# All words of some lengths ---------------------------------------------------------------------------


def _enumerated(network: Network, found: Approximation, registered: tuple[str, ...]) -> ClaimVerdict:
    from attemper.theories.softening.check.elementwise import (
        error_bound,  # numpy: other checks do not need it
    )

    assert found.last is not None
    _require_few(network, found.first, found.last)
    for length in range(found.first, found.last + 1):
        outputs = error_bound(network, length).outputs
        if not outputs < float("inf") or Fraction(outputs) > found.epsilon:
            reason = f"in words of {length} symbols no error of less than {outputs:.3g} is shown"
            return _unknown(found, reason)
    return _proved(found, registered)


def _require_few(network: Network, first: int, last: int) -> None:
    """Raises `UnprovenError` where there are too many words of these lengths."""
    symbols, words = len(network.alphabet.symbols), 0
    for length in range(first, last + 1):
        # Numbers of words are not written out beyond what is tried.
        words += symbols ** min(length, MOST_WORDS.bit_length())
        if words > MOST_WORDS:
            raise UnprovenError(
                f"there are more than {MOST_WORDS:,} words of {first} to {length} symbols: they are not tried"
            )


def _tried(
    network: Network,
    found: Approximation,
    given: tuple[Given, ...],
    checked_to: int,
    registered: tuple[str, ...],
) -> ClaimVerdict:
    """What a chain that closes proves: given is tried on the words that are to be tried."""
    if not given:
        return _proved(found, registered)
    last = checked_to if found.last is None else min(checked_to, found.last)
    _require_few(network, found.first, last)
    hard = hardened(network)
    for length in range(found.first, last + 1):
        wrong = refuting(hard, given, length)
        if wrong is not None:
            return ClaimVerdict(Status.REFUTED, wrong.text, witness=wrong.word)
    if found.last is not None and found.last <= checked_to:
        return _proved(found, registered)
    lengths = f"n <= {last:,}" if found.first == 1 else f"{found.first:,} <= n <= {last:,}"
    tried = f"(checked exactly for {lengths})" if last >= found.first else "(not checked)"
    where = "" if found.first == 1 else f"for n >= {found.first:,}, "
    return _proved(found, (*registered, *(f"{where}{own} {tried}" for own in given)))


# A chain of errors -------------------------------------------------------------------------------------


def _require_ruled(layers: tuple[LayerError, ...], known: tuple[LayerByRule, ...]) -> None:
    """Raises `UnprovenError` unless the rules say all that is said to be by rule."""
    for number, (layer, own) in enumerate(zip(layers, known, strict=True)):
        if layer.magnitude_by is GapBy.RULE and not (
            own.magnitude is not None and powers.is_at_most(powers.of(own.magnitude), layer.magnitude)
        ):
            raise UnprovenError(
                f"layer {number}: no rule says that its numbers are at most {shown(layer.magnitude)}"
            )
        for index, (gap, head) in enumerate(zip(layer.gaps, own.heads, strict=True)):
            if gap is None or gap.by is not GapBy.RULE:
                continue
            if head is None or not _is_at_least(head.gap, gap.gap):
                raise UnprovenError(
                    f"layer {number}, head {index}: no rule says that it leads by {shown(gap.gap)}"
                )


def _is_at_least(own: Monomial, least: Monomial) -> bool:
    """Whether one monomial is seen to be at least another at every n >= 1."""
    return own.factor >= least.factor and (own.power >= least.power or not least.factor)


def _closes(
    network: Network, found: Approximation, layers: tuple[LayerError, ...], known: tuple[LayerByRule, ...]
) -> ErrorChain:
    """The chain of errors, with what it takes for granted. Raises `UnprovenError` where it does not close."""
    try:
        return _followed(ErrorChain(network, known), found, layers)
    except UnprovenError:
        chain = _followed(ErrorChain(network, known, takes_bits=True), found, layers)
        if not chain.bits:
            raise
        return chain


def _followed(chain: ErrorChain, found: Approximation, layers: tuple[LayerError, ...]) -> ErrorChain:
    """The chain, if the error of each layer is at most what is claimed, and the last at most epsilon."""
    before, last = chain.start(), ZERO
    for number, claimed in enumerate(layers):
        errors = chain.errors_after(number, claimed, before)
        needed = chain.needed(number, errors)
        if not powers.is_at_most(powers.of(needed), claimed.error):
            raise UnprovenError(
                f"layer {number}: its error is claimed to be at most {shown(claimed.error)}, and at most "
                f"{shown(needed)} is shown"
            )
        before, last = chain.after(errors, claimed.error), claimed.error
    if last.factor and (last.power > 0 or last.factor > found.epsilon):
        raise UnprovenError(f"the last error, {shown(last)}, is not shown to be at most {found.epsilon}")
    return chain


# What is said ------------------------------------------------------------------------------------------


def _said(found: Approximation) -> str:
    """The claim as people read it."""
    if found.last is None:
        lengths = "all lengths" if found.first == 1 else f"all lengths from {found.first:,} on"
    else:
        lengths = f"lengths {found.first:,} to {found.last:,}"
    near = f"within {found.epsilon} of that of" if found.epsilon else "the same as that of"
    return (
        f"{lengths}, in real arithmetic: what is put out is {near} the average-hard network with the same "
        f"weights ({found.hard[:12]})"
    )


def _proved(found: Approximation, assumptions: tuple[str, ...]) -> ClaimVerdict:
    status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
    return ClaimVerdict(status, _said(found), assumptions)


def _unknown(found: Approximation, reason: str) -> ClaimVerdict:
    return ClaimVerdict(Status.UNKNOWN, f"not shown for {_said(found)}: {reason}")
