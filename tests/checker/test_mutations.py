"""One thing is changed in a proved network or in its certificate: it is rejected, or it is still true.

Still true means: on every word of two letters up to length 8 the output is that of the source at every
position, and every horizon is at most the one computed anew. Programs and groups of bits are changed also
together with the network: what a certificate says of them proves nothing by itself.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import islice
from typing import Literal
from unittest import mock

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.claims import Certificate, FloatClaim
from attemper.checker.check import check
from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import growth
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Constant, Symbol
from attemper.networks.layers import LocalSign, Lookup, Neighbour, Network, Select, Sign, Uniform
from attemper.networks.wellformed import complaints
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests.support.judges.brute_force import falsehoods
from tests.support.mutants.one_change import (
    Mutant,
    about,
    claim_mutants,
    mutants_of,
    network_mutants,
    program_certificates,
    real_claim_only,
    sampled,
)

Regime = Literal["unbounded", "temperature", "decoder"]
Kind = Literal["first", "last", "regex", "program", "program of a regex"]
"""A formula and where it is read; an expression; that the network runs its program."""

Case = tuple[str, Regime, Kind]

FEW: tuple[Case, ...] = (
    ("a S b", "unbounded", "last"),
    ("O a", "decoder", "last"),
    ("a U b", "temperature", "first"),
    ("Y a", "temperature", "last"),
    ("X a", "unbounded", "first"),
    ("Y a", "decoder", "last"),
    ("#<[a] <= #<[b]", "unbounded", "last"),
    ("#[a] <= #[b]", "temperature", "last"),
    ("#<[a] <= #<[b]", "decoder", "last"),
    ("#<[a] >= #>[b]", "unbounded", "last"),
    ("#<[a] >= #>[b]", "temperature", "last"),
    ("prime(#<[a])", "unbounded", "last"),
    ("prime(#<[a])", "decoder", "last"),
    ("pos % 3 == 1 & O a", "temperature", "last"),
)
"""Every construction of a head, in every regime that has it."""

MANY: tuple[Case, ...] = (
    *FEW,
    ("H a", "temperature", "last"),
    ("a S b", "decoder", "last"),
    ("F (a & G b)", "unbounded", "first"),
    ("a S (b & Y a)", "decoder", "last"),
    ("WX b", "temperature", "first"),
    ("prime(#[a])", "temperature", "last"),
    ("even(#<[a])", "temperature", "last"),
)
"""More models, among them some of two layers of temporal operators."""

PROGRAMS: tuple[Case, ...] = (
    ("a*b", "decoder", "regex"),
    ("(ab)*", "temperature", "regex"),
    ("(b*ab*a)*b*", "unbounded", "regex"),
    ("a S b", "temperature", "program"),
    ("X a", "unbounded", "program"),
    ("#<[a] <= #<[b]", "decoder", "program"),
    ("a*b", "decoder", "program of a regex"),
)
"""With a program in the certificate; three of them have groups of bits."""

SAMPLE = 8
"""How many mutants of each model the fast test looks at."""


class Fate(StrEnum):
    """What becomes of a mutant; there is no third class."""

    REJECTED = "rejected"
    STILL_TRUE = "still true"


ACCEPTED = (Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS)


@lru_cache(maxsize=64)
def proved(case: Case) -> tuple[Model, Certificate]:
    """A model and its certificate, about a network called 'x'."""
    text, regime, kind = case
    if kind in {"regex", "program of a regex"}:
        model = attemper.compile(attemper.regex(text, "ab"), regime=regime)
    else:
        model = attemper.compile(text, "ab", regime=regime, at="first" if kind == "first" else "last")
    if kind.startswith("program"):
        assert model.realisation is not None
        language = ProgramLanguage(model.realisation.program, At.LAST, model.network.accepts_empty)
        model = replace(model, language=Language(language, model.alphabet))
    certificate = model.certify()
    assert model.check(certificate).status in ACCEPTED
    return model, about(certificate, "x")


def status_of(network: Network, certificate: Certificate, *, refute: bool) -> Status:
    """What the checker says; without `refute` it does not look for a word that goes wrong, which is slow."""
    if refute:
        return check(network, "x", certificate).status
    with mock.patch("attemper.checker.counterexample.wrong_word", return_value=None):
        return check(network, "x", certificate).status


def fate(mutant: Mutant, *, refute: bool = False) -> Fate:
    """Rejected, or still true; it fails where a mutant is accepted that is wrong.

    The certificate is checked as it is, and as the bare claim about real arithmetic, which is the
    easiest to accept.
    """
    network = mutant.network
    if network is None or complaints(network):
        return Fate.REJECTED
    for certificate in (mutant.certificate, real_claim_only(mutant.certificate)):
        if status_of(network, certificate, refute=refute) in ACCEPTED:
            try:
                wrong = next(falsehoods(network, certificate), None)
            except UnsupportedError:
                return Fate.REJECTED  # weights that no file can hold
            assert wrong is None, f"accepted, but wrong: {mutant.name}: {wrong}"
            return Fate.STILL_TRUE
    return Fate.REJECTED


def all_mutants(case: Case) -> list[Mutant]:
    model, certificate = proved(case)
    return list(mutants_of(model.network, certificate, random.Random(f"zeros of {case}")))


@pytest.mark.sweep(0)
def test_the_models_have_every_construction() -> None:
    found = {
        (type(head.construction), case[1])
        for case in FEW
        for layer in proved(case)[0].network.layers
        for head in layer.heads
    }
    every = {(kind, regime) for kind in (Uniform, Select, Neighbour, Sign) for regime in ("unbounded",)}
    every |= {(kind, regime) for kind in (Select, Neighbour) for regime in ("temperature", "decoder")}
    every |= {
        (LocalSign, "unbounded"),
        (LocalSign, "temperature"),
        (Lookup, "unbounded"),
        (Lookup, "decoder"),
    }
    assert every <= found


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", FEW, ids=str)
def test_a_proved_model_is_true_by_brute_force(case: Case) -> None:
    model, certificate = proved(case)
    assert list(falsehoods(model.network, certificate)) == []


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", FEW, ids=str)
def test_sampled_mutants_are_rejected_or_still_true(case: Case) -> None:
    for mutant in sampled(all_mutants(case), random.Random(f"sample of {case}"), SAMPLE):
        fate(mutant)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", FEW, ids=str)
def test_no_horizon_can_be_stretched(case: Case) -> None:
    model, certificate = proved(case)
    tried = 0
    for name, claimed in claim_mutants(certificate):
        if "horizon" in name:
            tried += 1
            assert status_of(model.network, claimed, refute=False) not in ACCEPTED, name
    assert tried == 3 * sum(isinstance(claim, FloatClaim) for claim in certificate.claims)


# Programs and groups ---------------------------------------------------------------------------------


def both_mutated(case: Case, rng: random.Random) -> Iterator[Mutant]:
    """Mutants of the network, each with a mutant of what it is said to run."""
    model, certificate = proved(case)
    networks = list(network_mutants(model.network, rng))
    certificates = list(program_certificates(model.network, certificate, rng))
    while True:
        (name, network), (what, claimed) = rng.choice(networks), rng.choice(certificates)
        yield Mutant(f"{name}; {what}", network, claimed)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_a_proved_program_is_true_by_brute_force(case: Case) -> None:
    model, certificate = proved(case)
    assert list(falsehoods(model.network, certificate)) == []


@pytest.mark.sweep(0)
@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_sampled_mutants_of_programs_and_networks_are_rejected_or_still_true(case: Case) -> None:
    rng = random.Random(f"programs of {case}")
    model, certificate = proved(case)
    claimed = list(program_certificates(model.network, certificate, rng))
    some = [Mutant(name, model.network, own) for name, own in rng.sample(claimed, min(25, len(claimed)))]
    some += islice(both_mutated(case, rng), 15)
    some += sampled(all_mutants(case), rng, SAMPLE)
    counts = Counter(fate(mutant) for mutant in some)
    assert counts[Fate.REJECTED] > 10


@pytest.mark.slow
@pytest.mark.parametrize("case", PROGRAMS, ids=str)
def test_many_mutants_of_programs_and_networks_are_rejected_or_still_true(
    case: Case, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = random.Random(f"many programs of {case}")
    mutants = [*all_mutants(case), *islice(both_mutated(case, rng), 2_000)]
    counts = Counter(fate(mutant) for mutant in mutants)
    with capsys.disabled():
        shown = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
        print(f"\n{' '.join(case)}: {counts.total()} mutants: {shown}")  # noqa: T201 - the point of the sweep
    assert counts[Fate.REJECTED] > counts.total() / 4


def test_the_brute_force_sees_a_wrong_program() -> None:
    """A program that means something else than the network is wrong by the raw files alone."""
    model, certificate = proved(("a S b", "temperature", "program"))
    wrong = seen = 0
    for _, claimed in program_certificates(model.network, real_claim_only(certificate), random.Random(5)):
        seen += 1
        wrong += next(falsehoods(model.network, claimed), None) is not None
    assert wrong > seen / 3


@pytest.mark.sweep(0)
def test_refuted_means_that_the_witness_is_wrong() -> None:
    """With the search for a word: what it finds is judged wrong by definition, what it accepts is true."""
    for case in (FEW[0], FEW[8]):
        model, _ = proved(case)
        refuted = 0
        for mutant in sampled(all_mutants(case), random.Random(3), 16):
            if mutant.network is None or complaints(mutant.network):
                continue
            if mutant.certificate.language != model.language.definition:
                continue
            verdict = check(mutant.network, "x", mutant.certificate)
            for claim in verdict.claims:
                if claim.status is Status.REFUTED:
                    refuted += 1
                    bare = real_claim_only(mutant.certificate)
                    assert next(falsehoods(mutant.network, bare), None) is not None, mutant.name
                    assert claim.witness is not None
                    assert all(symbol in model.alphabet.symbols for symbol in claim.witness)
                    assert len(model.language.definition.bits(claim.witness)) == len(claim.witness)
        assert refuted > 0


@pytest.mark.sweep(0)
def test_the_brute_force_sees_a_wrong_network() -> None:
    """The judge is not asleep: it names what is wrong with a flipped output, mask, reading or horizon."""
    model, certificate = proved(FEW[0])
    network = model.network
    bare = real_claim_only(certificate)
    wrong = [
        replace(network, embedding=network.embedding[::-1]),
        replace(network, accepts_empty=not network.accepts_empty),
        replace(network, reads_first=not network.reads_first),
        replace(network, layers=()),
    ]
    assert all(next(falsehoods(changed, bare), None) for changed in wrong)
    for name, claimed in claim_mutants(certificate):
        if "horizon" in name:
            assert next(falsehoods(network, claimed), None), name


def test_writing_onto_a_growing_position_embedding_is_judged_not_a_crash() -> None:
    """No rule for rounding covers it, though in real arithmetic the output is still right."""
    model, certificate = proved(FEW[0])
    grown = [c for c, form in model.network.positions if growth(form) > 0]
    layer = model.network.layers[0]
    outputs = tuple(sorted((*layer.hidden[0].outputs, (grown[0], Fraction(1)))))
    hidden = (replace(layer.hidden[0], outputs=outputs), *layer.hidden[1:])
    network = replace(model.network, layers=(replace(layer, hidden=hidden), *model.network.layers[1:]))
    assert status_of(network, real_claim_only(certificate), refute=False) is Status.PROVED
    assert status_of(network, certificate, refute=False) is Status.UNKNOWN


def test_a_certificate_of_a_formula_of_another_kind_is_malformed() -> None:
    model, certificate = proved(FEW[0])
    assert isinstance(certificate.language, TemporalLanguage)
    for formula in (Symbol("a"), Constant(True)):
        changed = replace(certificate, language=replace(certificate.language, formula=formula))
        assert model.check(about(changed, model.digest)).status is Status.MALFORMED


@pytest.mark.slow
@pytest.mark.parametrize("case", MANY, ids=str)
def test_all_mutants_are_rejected_or_still_true(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter(fate(mutant) for mutant in all_mutants(case))
    with capsys.disabled():
        shown = ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
        print(f"\n{' '.join(case)}: {counts.total()} mutants: {shown}")  # noqa: T201 - the point of the sweep
    assert counts[Fate.REJECTED] > counts.total() / 4
