"""A file about depth, read and judged: each of its claims by the rule that its evidence asks for."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.predicates import PredicateError
from attemper.theories.depth import certificate
from attemper.theories.depth.check.enough import check_classes, check_formula
from attemper.theories.depth.check.pairs import check_pair

OUTSIDE = "averages over several maxima, softmax, relative positions, masks to the right"
"""What networks may do that no claim is about."""


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file of claims about depth. Raises `OptionError` where a model is named."""
    if model is not None:
        raise OptionError(f"'{path}' is about all networks of a class: leave 'model' out", options=("model",))
    try:
        found = certificate.DEPTH.load(path)
    except MalformedFileError as error:
        return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),), Subject(About.NETWORKS, ""))
    return judge_depth(found)


def judge_depth(found: certificate.DepthClaims) -> Verdict:
    """The verdict on each of the claims, none of which is taken for granted."""
    subject = Subject(About.NETWORKS, describe(found.networks), language=found.language.text(found.alphabet))
    return Verdict(tuple(judge_claim(found, claim) for claim in found.claims), subject)


def judge_claim(found: certificate.DepthClaims, claim: certificate.DepthClaim) -> ClaimVerdict:
    """The verdict on one claim, UNKNOWN where the language means nothing on a word, or nests too deeply."""
    try:
        match claim:
            case certificate.Inseparable():
                return check_pair(found.language, found.networks, claim)
            case certificate.EnoughByClasses():
                return check_classes(found.language, found.alphabet, found.networks, claim)
            case certificate.EnoughByFormula():
                return check_formula(found.language, found.alphabet, found.networks, claim)
            case _:
                assert_never(claim)
    except (PredicateError, UnsupportedError) as error:
        return ClaimVerdict(Status.UNKNOWN, str(error).splitlines()[0])
    except RecursionError:
        return ClaimVerdict(Status.UNKNOWN, "its parts nest too deeply to be looked at")


def describe(networks: certificate.HardNetworks) -> str:
    """The class of networks that a claim is about, and what is outside.

    >>> describe(certificate.HardNetworks(1, 2, certificate.TieBreaking.LEFTMOST)).partition(";")[0]
    'every future-masked transformer of unique hard attention with position embeddings of period 2, ties broken to the left, any width, heads and functions'
    """  # noqa: E501 - a line, as it is printed
    places = "without position embeddings"
    if (networks.prefix, networks.period) != (1, 1):
        start = "" if networks.prefix == 1 else f" from position {networks.prefix:,} on"
        places = f"with position embeddings of period {networks.period:,}{start}"
    sides = {
        certificate.TieBreaking.BOTH: "",
        certificate.TieBreaking.LEFTMOST: "left",
        certificate.TieBreaking.RIGHTMOST: "right",
    }
    side = sides[networks.choice] and f", ties broken to the {sides[networks.choice]}"
    return (
        f"every future-masked transformer of unique hard attention {places}{side}, any width, heads and "
        f"functions; not: {OUTSIDE}"
    )
