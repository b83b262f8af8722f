"""Networks built by hand that are right in real arithmetic and go wrong in floats where nobody looks.

Each is a way to fool a rounding analysis. The checker proves their formula for all lengths, and
may claim no length in floats at which a run, in the library's own engine, gives a wrong bit.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from attemper.certificates.claims import Certificate, FloatClaim, RealClaim
from attemper.certifying.horizons import horizon_of
from attemper.checker.check import check
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import Status
from attemper.exact.closed_forms import (
    FIRST,
    ONE,
    SIGN,
    ClosedForm,
    I,
    N,
    Power,
    number,
    over,
    plus,
    times,
)
from attemper.exact.closed_forms import (
    Test as Asked,
)
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import NonNegative
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, Word
from attemper.networks.layers import (
    Hidden,
    Layer,
    Lookup,
    Neighbour,
    Network,
    Select,
    Sign,
    Uniform,
)
from attemper.running.dense import DenseTransformer
from tests.support.corpora.certificates import CORPORA
from tests.support.mutants.attacks import ATTACKS, EVEN, Part, form, head, hidden, network_of
from tests.support.oracles.raw_files import read_folder
from tests.support.oracles.raw_forward import FORMATS as RAW_FORMATS
from tests.support.oracles.raw_forward import batch_of, covered_ways, run


def _mlp(*hidden: Hidden) -> Layer:
    return Layer((), hidden, ())


A_ONLY: list[list[Part]] = [[(0, 1)], []]
NONE: list[list[Part]] = [[], []]
SHORT: tuple[Word, ...] = (("a",), ("a", "b", "a"))
MEAN = head(Uniform(), ONE, [], [(form((0, 4), (1, -2), (2, 1)), 5)])
POSITIVE = "!first & 4*#<[a] - 2*pos >= 0"

Attack = tuple[str, Network, str, str, tuple[Word, ...]]


def _random_words(*lengths: int) -> tuple[Word, ...]:
    rng = random.Random(1)
    return tuple(tuple(rng.choice("ab") for _ in range(n)) for n in lengths)


def _attacks() -> Iterator[Attack]:
    """(name, network, formula, format, words that go wrong)."""
    yield (
        "groups_that_cancel",
        network_of(
            2,
            A_ONLY,
            {},
            [
                _mlp(
                    hidden([(0, 1)], 0, 1, 2**25),
                    hidden([(0, 2)], -1, 1),
                    hidden([(0, 3)], -2, 1, -(2**25)),
                )
            ],
            1,
        ),
        "a",
        "float32",
        SHORT,
    )
    tiny = Fraction(1, 2**160)
    yield (
        "weights_out_of_range",
        network_of(2, A_ONLY, {}, [_mlp(hidden([(0, tiny)], 0, 1, 2**160))], 1),
        "a",
        "float32",
        SHORT,
    )
    small = Fraction(1, 2**700)
    layers = [_mlp(hidden([(0, small)], 0, 1, small)), _mlp(hidden([(1, 2**700)], 0, 2, 2**700))]
    yield "numbers_that_underflow", network_of(3, A_ONLY, {}, layers, 2), "a", "float64", SHORT
    # 2^-60, 2^-135, 2^-55, 1: the second product is 0 in bfloat16, though no unit's input underflows.
    factors = ((-20, -40), (-35, -40), (40, 40), (40, 15))
    layers = [
        _mlp(hidden([(k, Fraction(2) ** own)], 0, k + 1, Fraction(2) ** after))
        for k, (own, after) in enumerate(factors)
    ]
    yield "products_that_underflow", network_of(5, A_ONLY, {}, layers, 4), "a", "bfloat16", SHORT
    letters: list[list[Part]] = [[(0, 1 + Fraction(1, 2**30))], [(0, 1)]]
    network = network_of(2, letters, {0: number(-1)}, [_mlp(hidden([(0, 2**30)], 0, 1))], 1)
    yield "letter_and_position_on_one_coordinate", network, "a", "float32", SHORT
    closed = plus(FIRST, 10**30, -(10**30))
    yield "closed_form_that_cancels", network_of(1, NONE, {0: closed}, [], 0), "first", "float64", SHORT
    closed = times(*[Power(I, 16), over(I, 16)] * 2)
    network = network_of(2, NONE, {0: closed}, [_mlp(hidden([(0, 2**39)], 1 - 2**39, 1))], 1)
    yield (
        "closed_form_that_is_not_quite_one",
        network,
        "true",
        "float32",
        tuple(("a",) * k for k in (10, 100)),
    )
    lost = _mlp(hidden([(0, 1)], 2**25, 1), hidden([], 2**25, 1, -1), hidden([(0, 1)], 0, 1, -1))
    network = network_of(2, A_ONLY, {}, [lost, _mlp(hidden([(0, 1)], 0, 1))], 1)
    yield "error_written_over", network, "a", "float32", SHORT
    sign = head(Sign(()), times(8, I), [(form((5, 1)), form((3, 1)))], [(form((4, 1)), 6)])
    places = {1: ONE, 2: FIRST, 3: plus(SIGN, 2**30), 4: EVEN}
    network = network_of(7, A_ONLY, places, [Layer((MEAN,), (), ()), Layer((sign,), (), ())], 6)
    words: tuple[Word, ...] = (tuple("aaaa"), tuple("abaa"))
    yield "constant_beside_the_sign", network, POSITIVE, "float32", words
    rows = [(form((2, 2**30)), form((0, 1))), (form((1, 1)), form((2, 8)))]
    select = head(Select(False, ((None, ()),)), ONE, rows, [(form((4, 1)), 5)])
    both = _mlp(hidden([(0, 1), (3, 1)], -1, 4))
    network = network_of(6, A_ONLY, {1: ONE, 2: I, 3: EVEN}, [both, Layer((select,), (), ())], 5)
    words = (("a",) * 5, ("a",) * 64)
    yield "winner_that_is_not_at_zero", network, "!a S (a & even(pos))", "float32", words
    rows = [(form((3, 1)), form((1, -4096), (2, -8192))), (form((3, 1)), form((7, -1)))]
    select = head(Select(False, ((None, ()),)), times(8, I, I), rows, [(form((6, 1)), 8)])
    both = _mlp(hidden([(0, 1), (1, 1), (5, 1)], -1, 6))
    network = network_of(
        9,
        [[(0, 1)], [(1, 1)], [(2, 1)]],
        {3: ONE, 5: EVEN, 7: over(I)},
        [both, Layer((select,), (), ())],
        8,
    )
    text = "(!a S (a & even(pos))) | (!O a & (!b S (b & even(pos))))"
    yield "nobody_at_level_zero", network, text, "float32", tuple(("b",) * k for k in (32, 512, 2048))
    averages = head(Uniform(), ONE, [], [(form((0, 1)), 5), (form((1, 1)), 6)])
    rows = [(form((5, 1)), form((2, 1))), (form((6, 1)), form((3, 1)))]
    lookup = head(Lookup((), ()), times(8, I), rows, [(form((4, 1)), 7)])
    places = {1: FIRST, 2: plus(times(2, I), 2**23), 3: times(-1, I, I), 4: EVEN}
    network = network_of(8, A_ONLY, places, [Layer((averages,), (), ()), Layer((lookup,), (), ())], 7)
    text = "#<[a] % 2 = 0 & #<[a] >= 1"
    yield "constant_beside_the_parabola", network, text, "float32", _random_words(6, 20, 50, 200)
    rows = [(form((4, 1)), form((1, 1))), (form((2, 1)), form((3, 1)))]
    lookup = head(Lookup((), ()), times(8, I), rows, [(form((0, 1)), 5)])
    average = head(Uniform(), ONE, [], [(form((0, 1)), 4)])
    places = {0: FIRST, 1: times(-1, I, I), 2: ONE, 3: number(2**30)}
    network = network_of(6, NONE, places, [Layer((average,), (), ()), Layer((lookup,), (), ())], 5)
    yield "row_that_does_not_depend_on_j", network, "true", "float32", (("a",) * 2, ("a",) * 5)
    rows = [(form((1, 2**30)), form((1, 1))), (form((1, 1)), form((2, 8)))]
    select = head(Select(False, ((None, ()),)), ONE, rows, [(form((4, 1)), 5)])
    network = network_of(6, A_ONLY, {1: ONE, 2: I, 4: EVEN}, [Layer((select,), (), ())], 5)
    yield "level_row_that_drowns_the_tie_break", network, "even(pos)", "float32", (("a",) * 5, ("a",) * 64)
    rows = [(form((1, 1)), form((0, 2**30), (3, 2**30))), (form((1, 1)), form((2, 8)))]
    select = head(Select(False, ((None, ()),)), ONE, rows, [(form((4, 1)), 5)])
    letters = [[(0, 1)], [(3, 1)]]
    network = network_of(6, letters, {1: ONE, 2: I, 4: EVEN}, [Layer((select,), (), ())], 5)
    yield "level_row_of_letters", network, "even(pos)", "float32", (("a", "b", "b"), ("a", "b") * 32)
    shrunk = (hidden([(5, Fraction(1, 2**18))], 1, 6), hidden([(1, 1)], 0, 6, -1))
    coldness = times(8 * 2**18, I)
    sign = head(Sign(()), coldness, [(form((6, 1)), form((3, 1)))], [(form((4, 1)), 7)])
    places = {1: ONE, 2: FIRST, 3: SIGN, 4: EVEN}
    network = network_of(8, A_ONLY, places, [Layer((MEAN,), shrunk, ()), Layer((sign,), (), ())], 7)
    yield "average_scaled_away", network, POSITIVE, "float32", (("a", "b") * 64, ("a", "b") * 512)
    rows = [(form((3, -1)), form((2, 1))), (form((1, 1)), form((4, 1)))]
    neighbour = head(Neighbour(False), times(8, N), rows, [(form((0, 1)), 5)])
    places = {1: ONE, 2: times(N, SIGN), 3: SIGN, 4: times(I, over(N))}
    network = network_of(6, A_ONLY, places, [Layer((neighbour,), (), ())], 5)
    yield "length_in_the_parity_key", network, "first & a | Y a", "float32", _random_words(100, 2000, 6000)


@pytest.mark.sweep(12)
@pytest.mark.parametrize("attack", list(_attacks()), ids=lambda attack: attack[0])
def test_no_horizon_reaches_a_length_that_goes_wrong(attack: Attack) -> None:
    _, network, text, name, words = attack
    formula = parse(text, network.alphabet)
    analysis = prove(network, TemporalLanguage(formula, At.LAST, False))
    wrong = {
        engine: [
            len(word) for word in words if _goes_wrong(network, word, truth(formula, word), name, engine)
        ]
        for engine in ("fused", "scan")
    }
    assert wrong["fused"], "the attack works"
    horizon, _ = horizon_of(analysis, FORMATS[name], Kernel.SCAN)
    assert all(horizon < length for length in wrong["scan"])
    for kernel in (Kernel.NUMERATOR_FIRST, Kernel.NORMALISE_FIRST):
        horizon, _ = horizon_of(analysis, FORMATS[name], kernel)
        assert horizon < min(wrong["fused"])
        language = TemporalLanguage(formula, At.LAST, accepts_empty=False)
        claim = FloatClaim(name, str(kernel), min(wrong["fused"]), "")
        verdict = check(network, "", Certificate("", language, (claim,)))
        assert verdict.status is Status.UNKNOWN


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", list(ATTACKS))
def test_no_horizon_reaches_the_word_of_an_attack(name: str) -> None:
    """Judged from the saved files, by a forward pass that imports nothing of the library."""
    attack = ATTACKS[name]()
    raw, batch = read_folder(CORPORA / "rejected" / name), batch_of([["abc".index(s) for s in attack.word]])
    formula = parse(attack.formula, attack.network.alphabet)
    expected = np.array(truth(formula, tuple(attack.word)), dtype=float)
    ways = covered_ways("numerator-first")
    outputs = [run(raw, batch, RAW_FORMATS[attack.format], way)[0] for way in ways]
    assert any((np.abs(output - expected) > 0.25).any() for output in outputs), "the attack works"
    analysis = prove(attack.network, TemporalLanguage(formula, At.LAST, False))
    horizon, _ = horizon_of(analysis, FORMATS[attack.format], Kernel.NUMERATOR_FIRST)
    assert horizon < min(len(attack.word), attack.horizon)


def _goes_wrong(network: Network, word: Word, expected: tuple[bool, ...], name: str, engine: str) -> bool:
    tokens = torch.tensor([[network.alphabet.symbols.index(symbol) for symbol in word]])
    with torch.no_grad():
        output = DenseTransformer(network, getattr(torch, name))(tokens, engine=engine)[0].double()
    return bool((~((output - torch.tensor(expected).double()).abs() <= 0.25)).any())


def test_a_clamp_of_many_small_terms_is_not_taken_to_be_exact() -> None:
    """2^19 [a] and sixteen terms near 0: two orders of summation give 0 and 2."""
    count = 16
    heads = tuple(
        head(
            Select(False, ((None, ()),)),
            number(Fraction(7, 2)),
            [(form((2, 1)), form((3, 1)))],
            [(form((1, 1)), 4 + k)],
        )
        for k in range(count)
    )
    total: list[Part] = [(0, 2**19), *((4 + k, 1) for k in range(count))]
    clamp = (
        hidden(total, Fraction(-1, 4), 4 + count, 2),
        hidden(total, Fraction(-3, 4), 4 + count, -2),
    )
    places: dict[int, ClosedForm] = {2: ONE, 3: I}
    letters: list[list[Part]] = [[(0, 1)], [(1, 1)]]
    network = network_of(5 + count, letters, places, [Layer(heads, clamp, ())], 4 + count)
    formula = parse("true", network.alphabet)
    analysis = prove(network, TemporalLanguage(formula, At.LAST, False))
    assert horizon_of(analysis, FORMATS["float32"], Kernel.NUMERATOR_FIRST)[0] <= 1


def test_tests_of_integers_beyond_64_bits_have_no_horizon() -> None:
    network = network_of(1, NONE, {0: Asked(NonNegative(), 10**11, 0, 0)}, [], 0)
    formula = parse("true", network.alphabet)
    analysis = prove(network, TemporalLanguage(formula, At.LAST, False))
    horizon, _ = horizon_of(analysis, FORMATS["float64"], Kernel.NUMERATOR_FIRST)
    assert horizon * 10**11 < 2**63


@pytest.mark.parametrize("coldness", [number(10**30), number(Fraction(1, 10**30)), Power(Power(I, 8), 8)])
def test_extreme_temperatures_get_a_verdict(coldness: ClosedForm) -> None:
    rows = [(form((1, 1)), form((2, 1)))]
    select = head(Select(False, ((None, ()),)), coldness, rows, [(form((0, 1)), 3)])
    network = network_of(4, A_ONLY, {1: ONE, 2: I}, [Layer((select,), (), ())], 3)
    language = TemporalLanguage(parse("a", network.alphabet), At.LAST, accepts_empty=False)
    claims = tuple(FloatClaim(name, "numerator-first", 4, "") for name in FORMATS)
    verdict = check(network, "", Certificate("", language, claims))
    assert verdict.status is not Status.MALFORMED


def test_a_temperature_of_a_degree_that_no_file_has_is_malformed() -> None:
    select = head(Select(False, ((None, ()),)), Power(Power(I, 80), 80), [], [(form((0, 1)), 1)])
    plain = network_of(2, A_ONLY, {}, [], 1)
    network = replace(plain, layers=(Layer((select,), (), ()),))
    language = TemporalLanguage(parse("a", network.alphabet), At.LAST, accepts_empty=False)
    verdict = check(network, "", Certificate("", language, (RealClaim(),)))
    assert verdict.status is Status.MALFORMED
    assert "nest to the degree 6400" in verdict.claims[0].text


def test_a_formula_with_unknown_symbols_is_malformed() -> None:
    network = network_of(1, A_ONLY, {}, [], 0)
    other = parse("c", Alphabet(("a", "c")))
    language = TemporalLanguage(other, At.LAST, accepts_empty=False)
    claim = FloatClaim("float32", "numerator-first", 1, "")
    verdict = check(network, "", Certificate("", language, (claim,)))
    assert verdict.status is Status.MALFORMED
