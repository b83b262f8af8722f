"""The papers' own construction: the theorems' position embeddings and no others, one head in a layer,
proved, and right by an oracle that reads the files alone.

The lists are Yang et al.'s words (the constant 1 beside them); their formulas are lost in our copy, and
where the words do not fix them they are ours: Theorems 20 and 21 name four, five and three embeddings beside
the predicates.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pytest

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.certificates.files import save as save_certificate
from attemper.certifying.certificate import certificate_of, prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.compiling.literal.single_heads import Heads
from attemper.compiling.pipeline import compile_language
from attemper.errors import OptionError, UnsupportedError
from attemper.exact.closed_forms import Test as PlaceBit
from attemper.exact.closed_forms import show_form
from attemper.exact.formats import FLOAT64
from attemper.exact.predicates import Named, Predicate, Remainder
from attemper.languages.temporal import syntax
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet
from attemper.networks.layers import Foreign, Masking, Network
from attemper.networks.regime import Regime
from tests.support.oracles.raw_judge import judge

AB = Alphabet(("a", "b"))
SIGN, OVER_N = "(-1)^i", "i*n^-1"

TEMPERATURE, UNBOUNDED, DECODER = Regime.TEMPERATURE, Regime.UNBOUNDED, Regime.DECODER
Y, X = syntax.UnaryOperator.YESTERDAY, syntax.UnaryOperator.NEXT
S, U = syntax.BinaryOperator.SINCE, syntax.BinaryOperator.UNTIL


@dataclass(frozen=True)
class Logic:
    """A logic of the paper, and the position embeddings of the theorem for each regime that it has."""

    unary: tuple[syntax.UnaryOperator, ...]
    binary: tuple[syntax.BinaryOperator, ...]
    sides: tuple[syntax.Side, ...]
    embeddings: dict[Regime, set[str]]


LOGICS = {
    "LTL[Y, X]": Logic(
        (Y, X),
        (),
        (),
        {TEMPERATURE: {SIGN, OVER_N}, UNBOUNDED: {SIGN, "i", "n"}},  # Theorem 12
    ),
    "LTL[S, U]": Logic((), (S, U), (), {TEMPERATURE: {OVER_N}, UNBOUNDED: {"i", "n"}}),  # Theorem 15
    "LTL[Y, S]": Logic(
        (Y,),
        (S,),
        (),
        {DECODER: {SIGN, "i^-1"}, UNBOUNDED: {SIGN, "i"}},  # Theorems 13, 16, Corollary 18
    ),
    "LTL[#, +, Mon]": Logic(
        (),
        (),
        (syntax.Side.LEFT, syntax.Side.RIGHT),
        {  # Theorem 20
            TEMPERATURE: {SIGN, "i", "i*n^-2", "i^2*n^-2"},
            UNBOUNDED: {SIGN, "i", "n", "n*i", "n*i^2"},
        },
    ),
    "past LTL[#, +, Mon]": Logic((), (), (syntax.Side.LEFT,), {DECODER: {SIGN, "i", "i^2"}}),  # Theorem 21
}


def drawn(rng: random.Random, logic: Logic, nesting: int) -> syntax.Formula:
    """A formula of the logic whose operators nest at most so deep."""
    if nesting == 0 or rng.random() < 0.1:
        return syntax.Symbol(rng.choice("ab"))
    inner = partial(drawn, rng, logic, nesting - 1)
    own = bool(logic.unary) + bool(logic.binary) + 2 * bool(logic.sides)
    match rng.choice(["not", "gate", *["own"] * 3 * own]):
        case "not":
            return syntax.Unary(syntax.UnaryOperator.NOT, inner())
        case "gate":
            operator = rng.choice((syntax.BinaryOperator.AND, syntax.BinaryOperator.OR))
            return syntax.Binary(operator, inner(), inner())
        case _ if logic.sides:
            return rng.choice((_comparison, _predicate))(rng, logic, nesting)
        case _:
            operator = rng.choice((*logic.unary, *logic.binary))
            if isinstance(operator, syntax.UnaryOperator):
                return syntax.Unary(operator, inner())
            return syntax.Binary(operator, inner(), inner())


def _atom(rng: random.Random, logic: Logic, nesting: int) -> syntax.CountAtom:
    return syntax.CountAtom(rng.choice(logic.sides), drawn(rng, logic, min(nesting - 1, 1)))


def _comparison(rng: random.Random, logic: Logic, nesting: int) -> syntax.Formula:
    parts = tuple(
        (rng.choice([1, 1, 2, -1, -3]), _atom(rng, logic, nesting)) for _ in range(rng.randint(1, 2))
    )
    operator = rng.choice([syntax.ComparisonOperator.AT_LEAST, syntax.ComparisonOperator.EQUAL])
    return syntax.Comparison(
        operator, syntax.linear_term(parts, rng.randint(-2, 1)), syntax.linear_term((), 0)
    )


def _predicate(rng: random.Random, logic: Logic, nesting: int) -> syntax.Formula:
    predicates: list[Predicate] = [Remainder(3, 1), Named("odd"), Named("prime")]
    predicate = rng.choice(predicates)
    return syntax.Numerical(predicate, syntax.Term(((1, _atom(rng, logic, nesting)),), rng.randint(0, 1)))


Words = list[tuple[int, ...]]


def words(rng: random.Random) -> tuple[Words, Words]:
    """All words to length 7, and some of up to 300 symbols."""
    short = [tuple(code >> k & 1 for k in range(n)) for n in range(1, 8) for code in range(2**n)]
    long: Words = []
    for length in (rng.randint(8, 299), 300):
        long += [(0,) * length, (1,) * length, (1,) + (0,) * (length - 1), (0,) * (length - 1) + (1,)]
        long += [tuple(rng.choices((0, 1), (share, 1), k=length)) for share in (1, 9)]
    return short, long


def heads_by_the_proof(formula: syntax.Formula, network: Network) -> int:
    """As many heads as the proofs have: two for each Y or X, one for each S or U, three stages for a
    count.
    """
    parts = set(syntax.subformulas(formula))
    operators = [part.operator for part in parts if isinstance(part, syntax.Unary | syntax.Binary)]
    atoms = [
        atom
        for part in parts
        if isinstance(part, syntax.Comparison | syntax.Numerical)
        for _, atom in (
            syntax.subtract(part.left, part.right) if isinstance(part, syntax.Comparison) else part.term
        ).parts
    ]
    edges = 2 if any(head.masking is Masking.PAST for layer in network.layers for head in layer.heads) else 1
    return (
        edges
        + 2 * sum(operator in {Y, X} for operator in operators)
        + sum(operator in {S, U} for operator in operators)
        + 2 * len(set(atoms))
        + 2 * len(atoms)
    )


NEVER = {35}
"""Formulas of counts that count what never holds: in floats no rule knows such an average."""

CASES = [
    (name, regime, seed)
    for name, logic in LOGICS.items()
    for regime in logic.embeddings
    for seed in range(60)
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(("name", "regime", "seed"), CASES)
def test_theorems_as_they_are_proved(name: str, regime: Regime, seed: int, tmp_path: Path) -> None:
    logic, rng = LOGICS[name], random.Random(seed)
    formula = drawn(rng, logic, 3)
    language = TemporalLanguage(formula, At.LAST, False)
    model = attemper.compile(show(formula), "ab", at="last", regime=regime.value, construction="paper")
    network = model.network
    tests = {show_form(closed) for _, closed in network.positions if isinstance(closed, PlaceBit)}
    assert {show_form(closed) for _, closed in network.positions} - tests - {"0", "1"} <= logic.embeddings[
        regime
    ]
    assert not tests or logic.sides, "only the logic of counts has numerical predicates"
    assert max((len(layer.heads) for layer in network.layers), default=0) <= 1
    assert sum(len(layer.heads) for layer in network.layers) <= heads_by_the_proof(formula, network)
    analysis = prove(network, language, None)
    model.save(tmp_path)
    arithmetics = ((FLOAT64, Kernel.NUMERATOR_FIRST),)
    certificate = certificate_of(analysis, model.digest, language, None, arithmetics=arithmetics)
    save_certificate(certificate, tmp_path)
    _, claim = certificate.claims
    assert isinstance(claim, FloatClaim)
    assert claim.horizon >= 300 or seed in NEVER, show(formula)
    short, long = words(rng)
    for exactly, in_floats in ((short[:6] + short[60:64], short), ([], long)):
        judged = judge(tmp_path, exactly=exactly, in_floats=in_floats, ways=1)
        assert not judged.wrong, (show(formula), judged.wrong[:3])
        assert judged.floats >= len(in_floats) or seed in NEVER


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize(
    ("text", "before", "each"),
    [("Y ", 1, 2), ("X ", 1, 2), ("a S ", 0, 1), ("a U ", 0, 1)],
)
def test_layers_as_the_proofs_count_them(text: str, before: int, each: int, depth: int) -> None:
    """First or last once, then two layers for each Y or X; one for each S or U."""
    formula = parse(f"{text}(" * depth + "b" + ")" * depth, AB)
    for regime in (TEMPERATURE, UNBOUNDED):
        language = TemporalLanguage(formula, At.LAST, False)
        one, many = (compile_language(language, AB, regime, literal=heads).soft for heads in Heads)
        assert len(one.layers) == before + each * depth
        assert len(many.layers) == before + depth
        prove(many, language, None)


def test_layers_of_counts() -> None:
    """First (and last), the averages, then two retrievals for each count."""
    for text, layers in (("#<[a] >= 2", 4), ("#<[a] + #>[b] >= 3", 8), ("odd(#<[a])", 4)):
        model = attemper.compile(text, "ab", construction="paper")
        assert [len(layer.heads) for layer in model.network.layers] == [1] * layers


@pytest.mark.parametrize(
    ("text", "regime"),
    [
        ("Y b", TEMPERATURE),
        ("Y b", DECODER),
        ("X b", UNBOUNDED),
        ("a S b", TEMPERATURE),
        ("#<[a] >= 2", DECODER),
        ("#<[a] + #>[b] >= 3", TEMPERATURE),
        ("odd(#<[a])", UNBOUNDED),
    ],
)
def test_heads_of_which_nothing_is_said_are_proved(text: str, regime: Regime) -> None:
    """As if somebody had typed the network in."""
    language = TemporalLanguage(parse(text, AB), At.LAST, False)
    network = compile_language(language, AB, regime, literal=Heads.ONE).soft
    untold = [
        replace(layer, heads=tuple(replace(head, construction=Foreign()) for head in layer.heads))
        for layer in network.layers
    ]
    prove(replace(network, layers=tuple(untold)), language, None)


def test_an_expression_becomes_a_formula_first() -> None:
    """Corollaries 17 and 18."""
    model = attemper.compile("regex:(ab)*", construction="paper")
    assert model.check(model.certify()).status == "PROVED"
    assert attemper.same(model.language, "regex:(ab)*").status == "PROVED"


def test_what_is_refused() -> None:
    with pytest.raises(OptionError, match="only the papers' construction"):
        attemper.compile("O a", "ab", heads="many")
    with pytest.raises(OptionError, match="has no layer normalisation"):
        attemper.compile("O a", "ab", construction="paper", layer_norm=attemper.LayerNorm())
    with pytest.raises(UnsupportedError, match="j <= i only"):
        attemper.compile("X a", "ab", at="last", construction="paper", regime="decoder")
