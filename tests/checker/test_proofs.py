"""Every network of the spine is proved: its output is its formula, for all lengths, in real arithmetic."""

from __future__ import annotations

import random
import time

import pytest

from attemper.certificates.claims import Certificate, RealClaim
from attemper.checker.check import check
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.verdict import Status
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.named.entry import Entry, SourceText
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Binary, Comparison, Numerical, Unary, subformulas
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compile as compile_formula
from attemper.workbench.demo import SHOWN, title
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from attemper.workbench.zoo import compile_entry
from tests.support.drawn.samples import FormulaSampler

AB = Alphabet(("a", "b"))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize(("entry", "source"), SHOWN, ids=[title(*shown) for shown in SHOWN])
def test_named_languages_are_certified_and_checked(entry: Entry, source: SourceText, regime: str) -> None:
    try:
        model = compile_entry(entry, source, regime=regime)
    except UnsupportedError:
        assert regime == "decoder"
        return
    certificate = model.certify()
    verdict = model.check(certificate)
    assert verdict.status is Status.PROVED, verdict.claims
    assert certificate.claims[0] == RealClaim()


def _random_model(seed: int, nesting: int) -> Model | None:
    rng = random.Random(seed)
    regime = list(Regime)[seed % 3]
    alphabet = AB if seed % 4 else Alphabet(("a", "b", "c"))
    formula = FormulaSampler(rng, alphabet.symbols, past_only=regime is Regime.DECODER).formula(nesting)
    language = TemporalLanguage(formula, At.LAST, accepts_empty=False)
    try:
        network = compile_language(language, alphabet, regime).soft
    except UnsupportedError:
        return None
    return Model(network, Language(language, alphabet), regime)


def _is_proved(network: Network, language: Definition) -> bool:
    try:
        prove(network, language)
    except UnprovenError:
        return False
    return True


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(0, 300, 10))
def test_random_formulas_are_proved(seed: int) -> None:
    for own in range(seed, seed + 10):
        model = _random_model(own, 5)
        if model is None:
            continue
        certificate = Certificate("", model.language.definition, (RealClaim(),))
        verdict = check(model.network, "", certificate)
        assert verdict.status is Status.PROVED, (own, model.title, verdict.claims)


@pytest.mark.slow
def test_many_random_formulas_are_proved_but_for_a_few() -> None:
    """Normal forms are not complete for all of temporal logic with counts; this says how far they reach."""
    unproved = [
        model.title
        for seed in range(1000, 4000)
        if (model := _random_model(seed, 4 + seed % 3)) is not None
        and not _is_proved(model.network, model.language.definition)
    ]
    assert len(unproved) <= 15, "\n".join(unproved)


@pytest.mark.sweep(0)
def test_a_formula_of_50_operators_is_checked_within_two_seconds_of_cpu() -> None:
    found = 0
    for seed in range(400):
        model = _random_model(seed, 8)
        if model is None:
            continue
        kinds = (Unary, Binary, Comparison, Numerical)
        operators = sum(isinstance(part, kinds) for part in subformulas(model.language.definition.formula))
        if not 45 <= operators <= 60:
            continue
        certificate = model.certify()
        start = time.process_time()
        verdict = model.check(certificate)
        spent = time.process_time() - start
        assert verdict.status is Status.PROVED, show(model.language.definition.formula)
        assert spent < 2, (seed, spent)
        found += 1
        if found == 3:
            return
    raise AssertionError("the samples have no formula of that size")


def test_200_operators_are_proved() -> None:
    text = " | ".join(f"Y (a S (b & O ({'Y ' * (k % 5)}a)))" for k in range(40))
    model = compile_formula(text, "ab")
    assert _is_proved(model.network, model.language.definition)


EQUIVALENT = [
    ("O (a | b)", "O a | O b"),
    ("H (a & b)", "H a & H b"),
    ("Y (a & Y b)", "Y a & Y Y b"),
    ("a S b", "!(!a T !b)"),
    ("F a", "true U a"),
    ("2*#<[a] >= 3", "#<[a] >= 2"),
    ("#<[a] - #<[b] > 0", "!(#<[b] >= #<[a])"),
    ("#[a] == 3", "#[a] >= 3 & #[a] < 4"),
    ("#<[true] >= 3", "pos >= 3"),
    ("#[true] == pos", "last"),
    ("even(#<[true])", "pos % 2 = 0"),
    ("O (a & even(pos) | b & first)", "O (a & even(pos)) | O (b & first)"),
    ("a xor b", "true"),
]

DIFFERENT = [
    ("O (a & Y b)", "O a & O Y b"),
    ("a S b", "a S (b & Y a)"),
    ("Y a", "WY a"),
    ("#<[a] > #<[b]", "#<[a] >= #<[b]"),
    ("#<[a] >= 2", "#<[a] >= 3"),
    ("even(#<[a])", "odd(#<[a])"),
    ("F a", "X F a"),
    ("pos % 3 = 0", "pos % 3 = 1"),
    ("#<[a] > #>[b]", "#<[a] >= #>[b]"),
    ("H a", "G a"),
]


@pytest.mark.parametrize(("text", "same"), EQUIVALENT)
def test_a_network_is_proved_to_compute_an_equivalent_formula(text: str, same: str) -> None:
    model = compile_formula(text, "ab", at="last")
    assert _is_proved(model.network, TemporalLanguage(parse(same, AB), At.LAST, accepts_empty=False))


@pytest.mark.parametrize(("text", "other"), DIFFERENT)
def test_a_network_is_refuted_to_compute_another_formula(text: str, other: str) -> None:
    model = compile_formula(text, "ab", at="last")
    language = TemporalLanguage(parse(other, AB), At.LAST, accepts_empty=False)
    assert not _is_proved(model.network, language)
    verdict = check(model.network, "", Certificate("", language, (RealClaim(),)))
    assert verdict.status is Status.REFUTED
    assert verdict.claims[0].witness is not None
