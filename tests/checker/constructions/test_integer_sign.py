"""The sign of a nearest key less its query: bounds hold, each side condition is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache

import flint
import pytest

from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import Choice, Count, Letter, Mask, Matched, Place, Program
from attemper.checker import whole_numbers
from attemper.checker.analysis import Analysis
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.nearest_keys import Compared
from attemper.checker.attention.scores import ReadHead
from attemper.checker.constructions import integer_sign as rules
from attemper.checker.constructions.integer_sign import ComparedScore
from attemper.checker.constructions.nearest_integer import apart_of
from attemper.checker.identities import Formulas
from attemper.checker.names import Affine, Clamped, Names, NearestKey, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel, OfInteger
from attemper.checker.rounding.network import Rounding, failure_at
from attemper.checker.rules import HeadFact, stray_mass
from attemper.checker.values import PerStep, ResidualValues, Value, bound_of
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ONE, SIGN, ClosedForm, Digits, I, N, Number, Power, plus, times
from attemper.exact.formats import FLOAT32, FLOAT64
from attemper.exact.monomials import Monomial
from attemper.languages.words import words_of_length
from attemper.networks.layers import (
    Head,
    IntegerSign,
    LinearForm,
    Masking,
    NearestInteger,
    Network,
    Softmax,
)
from attemper.networks.meaning_soft import attention, residual_streams
from attemper.networks.regime import Regime
from tests.support.drawn.matching import one_matched
from tests.support.drawn.nearest import AB, language_of, nearest_by_definition
from tests.support.mutants.closed_forms import edited

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)
CASE = (Mask.ALL, Choice.RIGHTMOST, ((1, -1), 1), ((-1, 1), 1), ("a",), Mask.UP_TO)
"""Counts of both signs: equal ones, such as are equally near on both sides, and equal ones at a b alone."""

PROGRAM = one_matched(*CASE)
LANGUAGE = language_of(PROGRAM)


@cache
def compiled(regime: Regime, program: Program = PROGRAM) -> tuple[Compiled, Analysis]:
    language = language_of(program)
    found = compile_language(language, AB, regime)
    return found, prove(found.soft, language, found.realisation)


def said_of(fact: HeadFact) -> ComparedScore:
    """What is said of the scores of a head, of which there is one rule: a sign's."""
    (rule,) = fact.rules
    assert rule.construction is IntegerSign
    assert isinstance(rule.said, ComparedScore)
    return rule.said


def is_proved(network: Network, found: Compiled, program: Program = PROGRAM) -> bool:
    said = found.realisation and replace(found.realisation, program=program)
    try:
        prove(network, language_of(program), said)
    except UnprovenError:
        return False
    return True


def clamped(count: tuple[tuple[int, int], int], i: int, word: tuple[str, ...]) -> int:
    weights = dict(zip(AB.symbols, count[0], strict=True))
    return min(max(count[1] + sum(weights[symbol] for symbol in word[:i]), 1), len(word))


def with_head(network: Network, layer: int, index: int, head: Head) -> Network:
    own = network.layers[layer]
    heads = (*own.heads[:index], head, *own.heads[index + 1 :])
    layers = (*network.layers[:layer], replace(own, heads=heads), *network.layers[layer + 1 :])
    return replace(network, layers=layers)


def scaled(form: LinearForm, factor: int | Fraction) -> LinearForm:
    return tuple((coordinate, own * factor) for coordinate, own in form)


# Bounds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("factor", "most"),
    [(Fraction(1), Fraction(1, 20)), (Fraction(7, 8), Fraction(1, 12)), (Fraction(1, 2), Fraction(1, 2))],
)
def test_a_nearest_key_is_off_by_what_is_said_for_each_step(
    factor: Fraction, most: Fraction, regime: Regime
) -> None:
    """Also where nothing is equal, keys are equally near on both sides, or an equal one is blocked; and with
    scores that are a part of what they are.
    """
    found, _ = compiled(regime)
    layer, head = nearest_head(found.soft)
    assert isinstance(head.construction, NearestInteger)
    head = replace(head, key=tuple(scaled(form, factor) for form in head.key))
    network = with_head(found.soft, layer, 0, head)
    analysis = prove(network, LANGUAGE, found.realisation)
    (target,), after = head.targets, analysis.layers[layer].after
    step, fading = after.steps[target], after.vanishing[target]
    assert step is not None
    assert step.bound.power == -1
    assert fading.power == 0
    assert after.errors[target] == fading.factor < most
    kinds = set()
    for n in (1, 2, 5):
        for word in words_of_length(AB, n):
            right = nearest_by_definition(*CASE, word)
            for i, vector in enumerate(residual_streams(network, word)[layer + 1], start=1):
                key, query = clamped(CASE[3], right[i - 1], word), clamped(CASE[2], i, word)
                off = abs(vector[target] - ball(Fraction(key, n)))
                assert off <= ball(step.bound.factor / n) * max(1, abs(key - query))
                kinds.add((key > query) - (key < query))
    assert kinds == {-1, 0, 1}


@pytest.mark.parametrize("regime", REGIMES)
def test_the_right_parity_has_the_attention_that_is_said(regime: Regime) -> None:
    found, analysis = compiled(regime)
    for number, fact in enumerate(analysis.layers[-1].heads):
        said = said_of(fact)
        assert said.smallest == 4
        assert 0 < said.off < Fraction(1, 10)
        assert fact.least_gap == 2 * 4 * (1 - said.off)
        head = found.soft.layers[-1].heads[number]
        with precision(64):
            most = fact.stray_mass
        for word in words_of_length(AB, 4):
            right = nearest_by_definition(*CASE, word)
            rows = attention(head, residual_streams(found.soft, word)[-2])
            for i, weights in enumerate(rows, start=1):
                apart = clamped(CASE[3], right[i - 1], word) - clamped(CASE[2], i, word)
                parity = int(not apart >= number)
                wrong = sum((weight for j, weight in weights.items() if j % 2 != parity), flint.arb(0))
                assert wrong <= most


def test_the_bound_of_stray_attention() -> None:
    """Of a query that is off by 1/8 of itself, and of the keys that a nearest integer reads."""
    names = Formulas(AB.symbols).names
    fact = rules.integer_sign(read(names, query_of(names, 1), steps=steps_of(names, Fraction(1, 8))))
    (rule,) = fact.rules
    assert said_of(fact).off == Fraction(1, 8)
    with precision(128):
        loss, noise = ball(Fraction(1, 3)), ball(Fraction(5, 4))
        whole = 2 * (-7 * (1 - loss)).exp() * noise
        found = stray_mass(rule.others(loss) * noise)
        assert found.overlaps(whole / (1 + whole))
        assert found.rel_accuracy_bits() > 100
        behind, beyond = (
            Trail(Fraction(4), Fraction(3)),
            [Trail(Fraction(12), Fraction(2)), Trail(Fraction(11))],
        )
        losses = [loss, ball(Fraction(1, 4)), ball(Fraction(1, 5))]
        near = (-4 * (1 - loss)).exp() / (1 - (-3 * (1 - loss)).exp())
        far = flint.arb(-9).exp() / (1 - (flint.arb(-3) / 2).exp())
        expected = 2 * near + far + (-11 * ball(Fraction(4, 5))).exp()
        apart = apart_of(behind, beyond, losses)
        assert apart.overlaps(expected)
        assert apart.rel_accuracy_bits() > 100


# False networks ----------------------------------------------------------------------------------


def sign_heads(network: Network) -> Iterator[tuple[int, Head]]:
    for index, head in enumerate(network.layers[-1].heads):
        assert isinstance(head.construction, IntegerSign)
        yield index, head


def of_query(change: Callable[[LinearForm], LinearForm]) -> Callable[[Head], Head]:
    return lambda head: replace(head, query=tuple(map(change, head.query)))


def factors(*wanted: int | Fraction) -> Callable[[LinearForm], LinearForm]:
    """Other factors of: the query, the key that is found, 1/n; in the order of the coordinates."""
    return lambda form: tuple(
        (c, own * Fraction(factor)) for (c, own), factor in zip(form, wanted, strict=True) if factor
    )


CHANGES: dict[str, Callable[[Head], Head]] = {
    "a third threshold": of_query(factors(1, 1, 3)),
    "another constant": of_query(factors(1, 1, 2)),
    "no constant: 0 has no sign": of_query(factors(1, 1, 0)),
    "the other constant": of_query(factors(1, 1, -1)),
    "half of the query": of_query(factors(Fraction(1, 2), 1, 1)),
    "half of the key": of_query(factors(1, Fraction(1, 2), 1)),
    "no query": of_query(factors(0, 1, 1)),
    "no key": of_query(factors(1, 0, 1)),
    "the sum of both": of_query(factors(-1, 1, 1)),
    "the opposite": of_query(lambda form: scaled(form, -1)),
    "another mask": lambda head: replace(head, masking=Masking.FUTURE),
    "the opposite key": lambda head: replace(head, key=tuple(scaled(form, -1) for form in head.key)),
    "the opposite value": lambda head: replace(head, values=tuple(scaled(f, -1) for f in head.values)),
    "no score": lambda head: replace(head, key=((),)),
    "a hundredth of the lead": lambda head: replace(
        head, key=tuple(scaled(form, Fraction(1, 100)) for form in head.key)
    ),
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("change", CHANGES)
def test_another_head_proves_nothing(change: str, regime: Regime) -> None:
    found, _ = compiled(regime)
    last = len(found.soft.layers) - 1
    for index, head in sign_heads(found.soft):
        assert [factor for _, factor in head.query[0]] in ([-2, 2, 1], [-2, 2, -1])
        changed = with_head(found.soft, last, index, CHANGES[change](head))
        assert not is_proved(changed, found)


@pytest.mark.parametrize("regime", REGIMES)
def test_a_lesser_lead_is_enough_as_long_as_clamps_round(regime: Regime) -> None:
    found, _ = compiled(regime)
    last = len(found.soft.layers) - 1
    for factor, is_right in ((Fraction(1, 2), True), (2, True), (Fraction(1, 8), False)):
        network = found.soft
        for index, head in sign_heads(found.soft):
            key = tuple(scaled(form, factor) for form in head.key)
            network = with_head(network, last, index, replace(head, key=key))
        assert is_proved(network, found) is is_right


@pytest.mark.parametrize("regime", REGIMES)
def test_other_programs_are_not_run(regime: Regime) -> None:
    found, _ = compiled(regime)
    *before, last = PROGRAM.steps
    assert isinstance(last, Matched)
    others = (
        replace(last, mask=Mask.UP_TO),
        replace(last, choice=Choice.LEFTMOST),
        replace(last, where=1),
        replace(last, query=last.key, key=last.query),
        replace(last, query=last.key),
    )
    for other in others:
        program = replace(PROGRAM, steps=(*before, other))
        assert is_proved(compiled(regime, program)[0].soft, found, program) is True
        assert not is_proved(found.soft, found, program)


def nearest_head(network: Network) -> tuple[int, Head]:
    layer = len(network.layers) - 2
    (head,) = network.layers[layer].heads
    return layer, head


@pytest.mark.parametrize("regime", REGIMES)
def test_the_key_is_read_where_it_is_nearest(regime: Regime) -> None:
    """What is read is the key of the very head, under its mask, with its choice and its place."""
    found, _ = compiled(regime)
    layer, head = nearest_head(found.soft)
    signs = found.soft.layers[-1].heads
    query = next(c for c, factor in signs[0].query[0] if factor == -2)
    tie = head.key[3]
    changes = (
        replace(head, masking=Masking.FUTURE),
        replace(head, key=(*head.key[:3], scaled(tie, -1))),
        replace(head, key=(*head.key[:2], (), tie)),
        replace(head, values=(((query, Fraction(1)),),)),
        replace(head, values=tuple(scaled(form, 2) for form in head.values)),
        replace(head, values=tuple(scaled(form, -1) for form in head.values)),
        replace(head, values=(head.key[1],)),
        replace(head, values=(head.key[0],)),
    )
    for changed in changes:
        assert not is_proved(with_head(found.soft, layer, 0, changed), found)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    ("factor", "match"), [(Fraction(3, 8), "off by too much"), (Fraction(1, 4), "the tie-break fades")]
)
def test_scores_that_are_too_small_prove_nothing(factor: Fraction, match: str, regime: Regime) -> None:
    """What is less near, n times it, must be behind; and the keys may not be off by half a step."""
    found, _ = compiled(regime)
    layer, head = nearest_head(found.soft)
    key = tuple(scaled(form, factor) for form in head.key)
    with pytest.raises(UnprovenError, match=match):
        prove(with_head(found.soft, layer, 0, replace(head, key=key)), LANGUAGE, found.realisation)


@pytest.mark.parametrize("smallest", [times(8, 1), plus(8, Digits(N)), times(2, Digits(I))])
def test_integers_whose_margin_does_not_grow_are_not_compared(smallest: ClosedForm) -> None:
    right = plus(8, times(2, Digits(N)))
    found, _ = compiled(Regime.UNBOUNDED)
    weaker = edited(
        found.soft, {times(right, N, power): times(smallest, N, power) for power in (I, Power(I, 2))}
    )
    assert weaker != found.soft
    assert not is_proved(weaker, found)
    found, _ = compiled(Regime.TEMPERATURE)
    weaker = edited(found.soft, {times(right, Power(N, 3)): times(smallest, Power(N, 3))})
    assert weaker != found.soft
    assert not is_proved(weaker, found)


@pytest.mark.parametrize("regime", REGIMES)
def test_a_lead_that_fades_proves_nothing(regime: Regime) -> None:
    """B n for each sign: with B alone long words go wrong."""
    found, _ = compiled(regime)
    change = {times(N, SIGN): SIGN} if regime is Regime.UNBOUNDED else {times(4, N): times(4, 1)}
    faded = edited(found.soft, change)
    assert faded != found.soft
    assert not is_proved(faded, found)


@pytest.mark.parametrize("regime", REGIMES)
def test_another_reading_of_the_key_is_no_query(regime: Regime) -> None:
    """The nearest key to K less another integer than K may be 0, whatever its sign is compared with."""
    found, _ = compiled(regime)
    _, head = nearest_head(found.soft)
    # The other integer is the key here: K' at i itself.
    (((key, _),),) = head.values
    last = len(found.soft.layers) - 1
    network = found.soft
    for index, own in sign_heads(found.soft):
        query = tuple((key if factor == -2 else c, factor) for c, factor in own.query[0])
        network = with_head(network, last, index, replace(own, query=(tuple(sorted(query)),)))
    assert network != found.soft
    assert not is_proved(network, found)


# One head by itself ------------------------------------------------------------------------------


def compared_with(names: Names) -> tuple[int, Compared]:
    """The key of the b's nearest to the number of a's."""
    ((asked, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1).parts
    ((key, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1).parts
    found, _ = whole_numbers.nearest_key(names, Masking.FUTURE, False, names.true, asked, key)
    return found, Compared(found, Fraction(1), -1, whole_numbers.beyond(names, found, 0))


def read(
    names: Names,
    query: Value,
    key: Value | None = None,
    steps: dict[int, PerStep | None] | None = None,
    errors: tuple[Fraction, Fraction, Fraction] = (Fraction(1, 100), Fraction(0), Fraction(0)),
    cold: Value | None = None,
) -> ReadHead:
    """A head whose query is coordinate 0 + coordinate 1 + coordinate 2."""
    bounds = {c: Monomial(error, 0) for c, error in enumerate(errors)}
    own = steps_of(names, Fraction(1, 100)) if steps is None else steps
    stream = ResidualValues([{}, {}, {}], list(errors), bounds, own)
    form = tuple((c, Fraction(1)) for c in range(3))
    exact = Monomial(Fraction(0))
    return ReadHead(
        names,
        Masking.NONE,
        ((query, {(0, 1): names.scaled(names.sign, 4)} if key is None else key),),
        {(0, 0): names.true} if cold is None else cold,
        ({(0, 0): names.sign},),
        (0,),
        ((bound_of(form, stream), exact),),
        (exact,),
        (form,),
        stream,
        False,
        names.true,
    )


def steps_of(names: Names, off: Fraction) -> dict[int, PerStep | None]:
    """The nearest key, of which a step is 1 / n, is off by so much of it."""
    found, _ = compared_with(names)
    return {0: PerStep(found, Monomial(off, -1))}


def query_of(names: Names, constant: int, unit: int | Fraction = 1) -> Value:
    found, _ = compared_with(names)
    whole = names.quantities[found]
    assert isinstance(whole, NearestKey)
    parts = tuple(sorted(((found, Fraction(2 * unit)), (whole.query, Fraction(-2 * unit)))))
    return {(0, -1): names.affine(Affine(Fraction(constant * unit), parts))}


@pytest.mark.parametrize("unit", [Fraction(1), Fraction(1, 3), Fraction(-5)])
@pytest.mark.parametrize("constant", [1, -1])
def test_a_sign_is_named_by_what_is_compared(constant: int, unit: Fraction) -> None:
    names = Formulas(AB.symbols).names
    found, _ = compared_with(names)
    fact = rules.integer_sign(read(names, query_of(names, constant, unit)))
    said = said_of(fact)
    assert said.smallest == 4 * abs(unit)
    assert said.off == Fraction(1, 100) / abs(unit)
    assert fact.rules[0].behind == (Trail(2 * said.smallest * (1 - said.off)),) * 2
    is_more = whole_numbers.beyond(names, found, 0 if constant == 1 else 1)
    is_even = is_more if unit > 0 else names.negation(is_more)
    expected = names.choose(names.only, names.sign, names.choose(is_even, names.true, names.number(-1)))
    (output,) = fact.outputs
    assert output.diagram == expected
    assert [output.spread, output.size] == [2, 1]


@pytest.mark.parametrize("constant", [0, 2, 3, -3])
def test_other_constants_have_no_rule(constant: int) -> None:
    names = Formulas(AB.symbols).names
    with pytest.raises(UnprovenError, match="does not compare an integer with the one"):
        rules.integer_sign(read(names, query_of(names, constant)))


def test_errors_must_be_known_for_each_step() -> None:
    """An error of 1/100 of the length is no small part of a step: only what is known of this key counts."""
    names = Formulas(AB.symbols).names
    found, _ = compared_with(names)
    query = query_of(names, 1)
    whole = names.quantities[found]
    assert isinstance(whole, NearestKey)
    other, _ = whole_numbers.nearest_key(names, Masking.NONE, False, names.true, whole.query, whole.key)
    none, hundredth = Fraction(0), Fraction(1, 100)
    assert rules.integer_sign(read(names, query)).rules
    wrong = (
        {"steps": {0: None}},
        {"steps": {0: PerStep(other, Monomial(hundredth, -1))}},
        {"steps": {0: PerStep(found, Monomial(hundredth, 0))}},
        {"steps": {0: PerStep(found, Monomial(Fraction(1), -1))}},
        {"errors": (hundredth, Fraction(1, 10**9), none)},
    )
    for own in wrong:
        with pytest.raises(UnprovenError, match="off by too much"):
            rules.integer_sign(read(names, query, **own))


def test_an_error_that_was_added_to_is_known_as_it_is_only() -> None:
    fresh = ResidualValues([{}], [Fraction(0)])
    fresh.worsen(0, Monomial(Fraction(1, 9)), PerStep(3, Monomial(Fraction(1, 50), -1)))
    form = ((0, Fraction(2)),)
    assert bound_of(form, fresh) == Monomial(Fraction(2, 9), 0)
    assert bound_of(form, fresh, 3) == Monomial(Fraction(1, 25), -1)
    assert bound_of(form, fresh, 4) == Monomial(Fraction(2, 9), 0)
    fresh.worsen(0, Monomial(Fraction(0), 5))
    assert bound_of(form, fresh, 3) == Monomial(Fraction(1, 25), -1)
    fresh.worsen(0, Monomial(Fraction(1, 9)), PerStep(3, Monomial(Fraction(1, 50), -1)))
    assert bound_of(form, fresh, 3) == Monomial(Fraction(4, 9), 0)


@pytest.mark.parametrize(
    ("key", "cold", "match"),
    [
        (lambda names: {(0, 1): names.true}, None, "not exactly"),
        (lambda names: {(1, 0): names.sign}, None, "not exactly"),
        (lambda names: {(0, 1): names.sign, (0, 0): names.sign}, None, "not exactly"),
        (lambda names: {(0, 1): names.letter("a")}, None, "parity|position alone"),
        (lambda names: {(0, 0): names.sign}, None, "its lead is not positive"),
        (None, lambda names: {(0, 0): names.letter("a")}, "depends on the word"),
        (None, lambda names: {(0, -1): names.true}, "its lead is not positive"),
        (None, lambda names: {(1, 0): names.true, (0, 0): names.number(-3)}, "both parities are as likely"),
    ],
)
def test_other_scores_have_no_rule(
    key: Callable[[Names], Value] | None, cold: Callable[[Names], Value] | None, match: str
) -> None:
    names = Formulas(AB.symbols).names
    head = read(names, query_of(names, 1), key and key(names), cold=cold and cold(names))
    with pytest.raises(UnprovenError, match=match):
        rules.integer_sign(head)


def test_several_rows_approximate_keys_and_other_masks_have_no_rule() -> None:
    names = Formulas(AB.symbols).names
    head = read(names, query_of(names, 1))
    ((errors, _),) = head.errors
    wrong = (
        replace(head, masking=Masking.PAST),
        replace(head, rows=head.rows * 2, errors=head.errors * 2),
        replace(head, errors=((errors, Monomial(Fraction(1, 10**6))),)),
        replace(head, values=({(0, 0): names.letter("a")},)),
        replace(head, value_errors=(Monomial(Fraction(1, 10**6)),)),
    )
    for own in wrong:
        with pytest.raises(UnprovenError):
            rules.integer_sign(own)


@pytest.mark.parametrize(
    ("side", "form"),
    [
        (Masking.FUTURE, {(1, -1): 1}),
        (Masking.PAST, {(1, -1): -1, (0, 0): 1, (0, -1): 1}),
        (Masking.NONE, {(0, 0): 1}),
    ],
)
def test_numbers_of_positions_stand_as_they_are(side: Masking, form: dict[tuple[int, int], int]) -> None:
    names = Formulas(AB.symbols).names
    ((asked, _),) = whole_numbers.clamped(names, side, names.true, 1).parts
    ((key, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1).parts
    found, own = whole_numbers.nearest_key(names, Masking.FUTURE, False, names.true, asked, key)
    assert names.quantities[asked] == Clamped(side, names.true, 1)
    query = {powers: names.number(-2 * factor) for powers, factor in form.items()}
    compared = Affine(Fraction(1), tuple((number, 2 * factor) for number, factor in own.parts))
    query[0, -1] = names.plus(query.get((0, -1), names.false), names.affine(compared))
    steps: dict[int, PerStep | None] = {0: PerStep(found, Monomial(Fraction(1, 100), -1))}
    fact = rules.integer_sign(read(names, query, steps=steps))
    assert said_of(fact).compared.found == found
    query[1, -2] = names.true
    with pytest.raises(UnprovenError, match="does not compare"):
        rules.integer_sign(read(names, query, steps=steps))


# Floats ------------------------------------------------------------------------------------------


def test_a_key_is_off_for_each_step_in_floats_too() -> None:
    found, analysis = compiled(Regime.UNBOUNDED)
    layer = len(found.soft.layers) - 2
    (target,) = found.soft.layers[layer].heads[0].targets
    exact = analysis.layers[layer].after.steps[target]
    assert exact is not None
    for form, length in ((FLOAT64, 1000), (FLOAT32, 20)):
        off = Rounding(analysis, form).bounds_at(Kernel.NUMERATOR_FIRST, length).offs[target]
        assert isinstance(off, OfInteger)
        assert set(off.per_step) >= {-1}
        assert off.growth[0].upper() >= off.per_step[-1].lower()
        with precision(64):
            whole = sum(
                (size * flint.arb(length) ** power for power, size in off.per_step.items()), flint.arb(0)
            )
            assert whole >= ball(exact.bound.factor) / length


def test_what_floats_lose_is_what_the_query_is_off_by() -> None:
    found, analysis = compiled(Regime.TEMPERATURE)
    assert said_of(analysis.layers[-1].heads[0]).off < Fraction(1, 10)
    name, most = f"layer {len(found.soft.layers) - 1}, head 0", ball(Fraction(15, 16))
    losses = []
    for length in (1_000, 10_000, 20_000):
        bounds = Rounding(analysis, FLOAT64).bounds_at(Kernel.NUMERATOR_FIRST, length)
        losses.append(bounds.lost_shares[name] * most)
    assert losses[0] < losses[1] < losses[2]
    assert failure_at(analysis, FLOAT64, Kernel.NUMERATOR_FIRST, 200_000) is not None


def placed(network: Network, factors: dict[ClosedForm, Fraction]) -> Network:
    """Other multiples of some position embeddings."""
    positions = tuple(
        (c, times(Number(factors[own]), own) if own in factors else own) for c, own in network.positions
    )
    return replace(network, positions=positions)


@pytest.mark.parametrize("read", [Fraction(1, 2**40), Fraction(1)])
def test_integers_in_units_that_underflow_have_no_horizon(read: Fraction) -> None:
    """In real arithmetic the network is as right as before; in floats keys or queries are flushed to 0.

    With position embeddings in 2^-95 a factor of 2^-40 makes 2^-135 of them: where a key is read as a
    value, or in what the sign heads compare.
    """
    build = Builder()
    a, one = build.add(Letter(("a",))), build.add(Place(ONE))
    query, key = build.add(Count(Mask.FROM, one)), build.add(Count(Mask.UP_TO, one))
    build.add(Matched(Mask.ALL, Choice.RIGHTMOST, a, query, key))
    program = Program(AB, tuple(build.steps), len(build.steps) - 1)
    found, _ = compiled(Regime.UNBOUNDED, program)
    (nearest,) = found.soft.layers[0].heads
    before = {c: own for c, own in found.soft.positions}
    asked, compared = (c for c, _ in found.soft.layers[1].heads[0].query[0] if c in before)
    ((share, _),) = nearest.values[0]
    small, signs = Fraction(1, 2**95), before[found.soft.layers[1].heads[0].key[0][0][0]]
    units = {before[c]: small for c in (asked, compared, share)} | {signs: Fraction(2**60)}
    network = with_head(placed(found.soft, units), 0, 0, replace(nearest, values=(((share, read),),)))
    for index, head in sign_heads(found.soft):
        # The key that is read stands in units of `read`; the whole query in those of 2^-40 at least.
        others = Fraction(1, 2) if read < 1 else Fraction(1, 2**40)
        own = tuple((c, f * others / (1 if c in before else read)) for c, f in head.query[0])
        scores = (scaled(head.key[0], Fraction(2**31) if read < 1 else Fraction(2**35)),)
        cold = Softmax(Number(1 / (small * 2**60 * others * scores[0][0][1] / head.key[0][0][1])))
        network = with_head(network, 1, index, replace(head, query=(own,), key=scores, weighting=cold))
    analysis = prove(network, language_of(program), found.realisation)
    for kernel in Kernel:
        assert failure_at(analysis, FLOAT64, kernel, 1000) is None
        assert failure_at(analysis, FLOAT32, kernel, 1) is None
        # A scan multiplies in float64, and rounds what is read to float32.
        is_lost = kernel is not Kernel.SCAN or read < 1
        assert ("layer 1, head 0" in str(failure_at(analysis, FLOAT32, kernel, 2))) is is_lost
