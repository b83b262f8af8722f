"""The judgement on claims and on single pieces of evidence, at the edges of what is true."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

import attemper
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.certificates.evidence import Evidence, MeansSubformula, RoundedLayer, SoftenedHead
from attemper.checker.check import check, derived_error, judge
from attemper.checker.proof import Proof, prove_language
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import ClaimVerdict, Status
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, register_predicate
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Symbol
from attemper.languages.words import Alphabet
from attemper.workbench.model import Model

TWO_LAYERS = "#<['a'] <= #<['b'] & Y a"
"""Compiled, it has two heads in the first layer and one in the second."""

TINY = Fraction(1, 10**30)


@cache
def model(formula: str) -> Model:
    return attemper.compile(formula, "ab")


@cache
def proof_of(formula: str) -> Proof:
    proof, holds = prove_language(model(formula).network, model(formula).language)
    assert holds
    return proof


def prepare() -> None:
    """What all tests share."""
    proof_of(TWO_LAYERS)
    proof_of("O a & H b")
    proof_of("O a")


def complaint(formula: str, evidence: Evidence) -> str | None:
    """What is said against one piece of evidence; None if the claim is proved."""
    own = model(formula)
    verdict = judge(own.network, own.language, (RealClaim(),), (evidence,))
    if verdict.status is Status.PROVED:
        return None
    assert verdict.status is Status.UNKNOWN
    (claim,) = verdict.claims
    return claim.text.removeprefix("the evidence does not hold: ")


# Softened heads --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("layer", "head"), [(0, 0), (0, 1), (1, 0)])
def test_evidence_may_be_about_every_head(layer: int, head: int) -> None:
    evidence = SoftenedHead(layer, head, Fraction(0), Fraction(1))
    assert complaint(TWO_LAYERS, evidence) is None


@pytest.mark.parametrize(("layer", "head"), [(-1, 0), (0, -1), (0, 2), (1, -1), (1, 1), (2, 0), (2, 2)])
def test_evidence_about_a_head_that_is_not_there_does_not_hold(layer: int, head: int) -> None:
    evidence = SoftenedHead(layer, head, Fraction(0), Fraction(1))
    assert complaint(TWO_LAYERS, evidence) == f"there is no layer {layer}, head {head}"


def test_a_margin_holds_up_to_the_gap_of_the_weights() -> None:
    """A logit of the head of 'Y a' falls by 4 with each step away from the neighbour."""
    assert complaint(TWO_LAYERS, SoftenedHead(0, 1, Fraction(4), Fraction(1))) is None
    assert complaint(TWO_LAYERS, SoftenedHead(0, 1, 4 - TINY, Fraction(1))) is None
    said = complaint(TWO_LAYERS, SoftenedHead(0, 1, 4 + TINY, Fraction(1)))
    assert said is not None
    assert said.startswith("layer 0, head 1 has a margin of 4, not 4")


def test_a_uniform_head_has_no_margin() -> None:
    assert complaint(TWO_LAYERS, SoftenedHead(0, 0, Fraction(0), Fraction(0))) is None
    assert complaint(TWO_LAYERS, SoftenedHead(0, 0, TINY, Fraction(0))) is not None
    assert complaint(TWO_LAYERS, SoftenedHead(0, 0, Fraction(0), -TINY)) is not None


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 0)])
def test_a_mass_holds_from_the_derived_one_on(layer: int, head: int) -> None:
    mass = proof_of(TWO_LAYERS).analysis.layers[layer].masses[head]
    assert complaint(TWO_LAYERS, SoftenedHead(layer, head, Fraction(0), mass)) is None
    assert complaint(TWO_LAYERS, SoftenedHead(layer, head, Fraction(0), mass + TINY)) is None
    said = complaint(TWO_LAYERS, SoftenedHead(layer, head, Fraction(0), mass - TINY))
    assert said is not None
    assert "of its attention to other positions" in said


# Rounded layers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", [-1, 2])
def test_an_error_in_a_layer_that_is_not_there_does_not_hold(layer: int) -> None:
    assert complaint(TWO_LAYERS, RoundedLayer(layer, Fraction(1, 4))) == f"there is no layer {layer}"


def test_the_error_of_a_layer_is_that_of_its_worst_form() -> None:
    """The first layer reads a count, which is exact, and 'Y a', which the mass of one head is off at most."""
    proof = proof_of(TWO_LAYERS)
    exact, softened = proof.analysis.layers[0].masses
    assert exact == 0
    assert 0 < softened < Fraction(1, 4)
    assert derived_error(proof, 0) == softened


@pytest.mark.parametrize("layer", [0, 1])
def test_an_error_holds_from_the_derived_one_up_to_a_quarter(layer: int) -> None:
    error = derived_error(proof_of(TWO_LAYERS), layer)
    for right in (error, error + TINY, Fraction(1, 4) - TINY, Fraction(1, 4)):
        assert complaint(TWO_LAYERS, RoundedLayer(layer, right)) is None
    for wrong in (error - TINY, Fraction(1, 4) + TINY):
        said = complaint(TWO_LAYERS, RoundedLayer(layer, wrong))
        assert said is not None
        assert said.startswith(f"hidden units of layer {layer} may be off by more than")


def test_an_error_is_none_where_no_form_is_read() -> None:
    own = model("O a")
    (layer,) = own.network.layers
    network = replace(own.network, layers=(replace(layer, hidden=()),))
    proof, _ = prove_language(network, own.language)
    assert derived_error(proof, 0) == 0


# Subformulas -----------------------------------------------------------------------------------------


def test_a_coordinate_may_be_a_subformula_from_the_first_to_the_last() -> None:
    """'O a' has the subformulas 'a', read by coordinate 2 at first, and 'O a', the output in the end."""
    assert complaint("O a", MeansSubformula(-1, 2, 0)) is None
    assert complaint("O a", MeansSubformula(0, model("O a").network.output, 1)) is None
    assert complaint("O a", MeansSubformula(-1, 2, 1)) == "after layer -1, coordinate 2 is not subformula 1"


def test_a_network_without_layers_has_meanings_in_the_embedding_only() -> None:
    """Its only coordinate is the last subformula; counted from the end, each of the numbers is -1."""
    own, proof = model("O a & H b"), proof_of("O a & H b")
    assert (len(own.network.layers), len(own.network.coordinates), len(proof.meanings)) == (0, 1, 5)
    assert complaint("O a & H b", MeansSubformula(-1, 0, 4)) is None
    for layer, coordinate, number in [
        (-2, 0, 4),
        (0, 0, 4),
        (-1, -1, 4),
        (-1, 1, 4),
        (-1, 0, -1),
        (-1, 0, 5),
    ]:
        assert complaint("O a & H b", MeansSubformula(layer, coordinate, number)) == (
            f"there is no layer {layer}, coordinate {coordinate} or subformula {number}"
        )


def test_one_piece_of_evidence_that_does_not_hold_is_enough() -> None:
    own = model("O a")
    right, wrong = RoundedLayer(0, Fraction(1, 4)), RoundedLayer(1, Fraction(1, 4))
    for evidence in ((right, wrong), (wrong, right)):
        verdict = judge(own.network, own.language, (RealClaim(), RealClaim()), evidence)
        assert verdict.claims == (
            ClaimVerdict(Status.UNKNOWN, "the evidence does not hold: there is no layer 1"),
        )


# Claims ----------------------------------------------------------------------------------------------


def status(claim: Claim, **options: bool | str) -> Status:
    own = model("O a")
    return judge(own.network, own.language, (claim,), **options).status  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", list(Kernel))
def test_a_horizon_may_be_nothing_but_not_less(kernel: Kernel) -> None:
    assert status(FloatClaim("float32", kernel, 0, "")) is Status.PROVED
    assert status(FloatClaim("float32", kernel, 1, "")) is Status.PROVED
    for horizon in (-1, -2):
        assert status(FloatClaim("float32", kernel, horizon, "")) is Status.MALFORMED
        assert status(FloatClaim("float32", kernel, horizon, ""), ignore_rounding=True) is Status.MALFORMED


@pytest.mark.parametrize(
    ("name", "kernel"), [("float33", "numerator-first"), ("float32", "numerator"), ("float33", "none")]
)
def test_arithmetic_that_does_not_exist_is_malformed(name: str, kernel: str) -> None:
    verdict = judge(model("O a").network, model("O a").language, (FloatClaim(name, kernel, 1, ""),))
    assert verdict.claims == (
        ClaimVerdict(Status.MALFORMED, f"there is no arithmetic {name} with {kernel} kernels"),
    )


def test_rounding_is_ignored_only_where_that_is_said() -> None:
    too_long = FloatClaim("bfloat16", "numerator-first", 10**12, "")
    assert status(too_long) is Status.UNKNOWN
    assert status(too_long, ignore_rounding=False) is Status.UNKNOWN
    assert status(too_long, ignore_rounding=True) is Status.PROVED_UNDER_ASSUMPTIONS
    assert status(RealClaim(), ignore_rounding=True) is Status.PROVED
    own = model("O a")
    certificate = Certificate("digest", own.language, (too_long,), ())
    assert check(own.network, "digest", certificate).status is Status.UNKNOWN
    ignoring = check(own.network, "digest", certificate, ignore_rounding=True)
    assert ignoring.status is Status.PROVED_UNDER_ASSUMPTIONS


def test_other_rounding_leaves_claims_about_floats_unknown() -> None:
    short = FloatClaim("float64", "numerator-first", 1, "")
    assert status(short) is Status.PROVED
    assert status(short, rounding="it is rounded otherwise") is Status.UNKNOWN
    assert status(RealClaim(), rounding="it is rounded otherwise") is Status.PROVED


def test_one_claim_in_real_arithmetic_is_enough_for_a_wrong_word_to_refute() -> None:
    """The network computes 'a', and 'b' is another language."""
    network = model("O a & H b").network
    claims: tuple[Claim, ...] = (RealClaim(), FloatClaim("float64", "numerator-first", 1, ""))
    language = TemporalLanguage(Symbol("a"), At.LAST, False)
    for some in (claims, claims[::-1], claims[:1]):
        verdict = judge(network, language, some)
        assert verdict.status is Status.REFUTED
        assert verdict.claims[0].witness == ("a",)
    assert judge(network, language, claims[1:]).status is Status.UNKNOWN


@pytest.mark.parametrize("symbols", [("0", "1"), ("b", "a"), ("a",), ("a", "b", "c")])
def test_an_automaton_over_other_symbols_is_malformed_however_it_is_read(symbols: tuple[str, ...]) -> None:
    """Whether it is read as the network is, or not: no word is tried on it."""
    language = Dfa(Alphabet(symbols), ((0,) * len(symbols),), 0, frozenset())
    for first in (False, True):
        for empty in (False, True):
            network = replace(model("O a").network, reads_first=first, accepts_empty=empty)
            assert judge(network, language, (RealClaim(),)).claims == (
                ClaimVerdict(Status.MALFORMED, "the language has symbols that the network does not know"),
            )


# Predicates that a user registered --------------------------------------------------------------------


def is_seventh(value: int) -> bool:
    """A predicate of a user's."""
    return value % 7 == 0


def is_eleventh(value: int) -> bool:
    """Another predicate of a user's."""
    return value % 11 == 0


def test_predicates_of_the_network_and_of_the_formula_are_assumed() -> None:
    """Each is, also where nothing depends on it, and where the other does not have it."""
    register_predicate("seventh", is_seventh)
    register_predicate("eleventh", is_eleventh)
    plain = model("a").network
    number = len(plain.coordinates)
    embedded = replace(
        plain,
        coordinates=(*plain.coordinates, "unread"),
        positions=(*plain.positions, (number, closed_forms.Test(Named("seventh"), 1, 0, 0))),
    )
    for network, text, names in (
        (plain, "a", []),
        (plain, "a & (prime(pos) | !prime(pos))", []),
        (embedded, "a", ["seventh"]),
        (plain, "a & (eleventh(pos) | !eleventh(pos))", ["eleventh"]),
        (embedded, "a & (eleventh(pos) | !eleventh(pos))", ["eleventh", "seventh"]),
        (embedded, "a & (seventh(pos) | !seventh(pos))", ["seventh"]),
    ):
        language = TemporalLanguage(parse(text, network.alphabet), At.LAST, False)
        (claim,) = judge(network, language, (RealClaim(),)).claims
        assert claim.status is (Status.PROVED_UNDER_ASSUMPTIONS if names else Status.PROVED)
        assert claim.assumptions == tuple(
            f"the registered predicate '{name}' is the same function wherever the network runs"
            for name in names
        )
