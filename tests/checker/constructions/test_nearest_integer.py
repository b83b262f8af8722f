"""The nearest integer: bounds hold, each side condition is needed, positions are integers, too."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product as pairs
from types import SimpleNamespace
from typing import Any, cast

import flint
import pytest

from attemper.attention_program import meaning
from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import Choice, Count, Letter, Mask, Nearest, Place, Program
from attemper.checker import whole_numbers
from attemper.checker.analysis import Analysis
from attemper.checker.attention.leads import Trail
from attemper.checker.attention.parabolas import noise_of
from attemper.checker.attention.scores import ReadHead, read_head
from attemper.checker.constructions import nearest_integer as rules
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Clamped, Names, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding import integers
from attemper.checker.rounding.arithmetic import BeyondError, Kernel, as_number
from attemper.checker.rounding.attention import LARGEST_LOSS, RoundedHead
from attemper.checker.rounding.integers import has_one_sign
from attemper.checker.rounding.network import Rounding, failure_at
from attemper.checker.rules import HeadFact, Rule, stray_mass
from attemper.checker.values import ResidualValues, Value
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import ONE, ClosedForm, I, N, Power, over, plus, times
from attemper.exact.formats import FLOAT32, FLOAT64, FloatFormat
from attemper.exact.monomials import Monomial
from attemper.languages.words import words_of_length
from attemper.networks.layers import (
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    NearestInteger,
    Network,
    Softmax,
)
from attemper.networks.meaning_soft import attention, output_bits, residual_streams
from attemper.networks.regime import Regime
from tests.support.drawn.nearest import AB, language_of, nearest_by_definition, one_nearest

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)
CASE = {
    "mask": Mask.ALL,
    "choice": Choice.RIGHTMOST,
    "query": ((1, -1), 1),
    "key": ((-1, 1), 0),
    "where": ("a",),
    "side": Mask.UP_TO,
}


def compiled(regime: Regime) -> tuple[Compiled, Analysis]:
    program = one_nearest(**CASE)  # type: ignore[arg-type]
    found = compile_language(language_of(program), AB, regime)
    return found, prove(found.soft, language_of(program), found.realisation)


def last_head(network: Network) -> Head:
    (head,) = network.layers[-1].heads
    assert isinstance(head.construction, NearestInteger)
    return head


def with_last_head(network: Network, head: Head) -> Network:
    return replace(network, layers=(*network.layers[:-1], replace(network.layers[-1], heads=(head,))))


def rule_of(fact: HeadFact) -> Rule:
    """The one rule of a head: a nearest integer's."""
    (rule,) = fact.rules
    assert rule.construction is NearestInteger
    return rule


def noise_in(analysis: Analysis, head: Head) -> Fraction:
    """By how much errors can change differences of scores of a head of the last layer."""
    with precision(64):
        return noise_of(read_head(analysis.names, head, analysis.layers[-1].before))


@pytest.mark.parametrize("regime", REGIMES)
def test_the_right_position_has_the_attention_that_is_said(regime: Regime) -> None:
    found, analysis = compiled(regime)
    (fact,) = analysis.layers[-1].heads
    rule, noise = rule_of(fact), noise_in(analysis, last_head(found.soft))
    assert rule.behind == (Trail(4 - noise, Fraction(4)),)
    assert rule.ahead == (Trail(12 - noise, Fraction(4)),)
    assert rule.said == ()
    with precision(64):
        most = fact.stray_mass
    assert most < ball(Fraction(19, 1000))
    for word in words_of_length(AB, 5):
        right = nearest_by_definition(**CASE, word=word)  # type: ignore[arg-type]
        rows = attention(last_head(found.soft), residual_streams(found.soft, word)[-2])
        for weights, j in zip(rows, right, strict=True):
            assert 1 - weights[j] <= most


@pytest.mark.parametrize("regime", REGIMES)
def test_errors_change_no_difference_of_scores_by_more_than_the_noise(regime: Regime) -> None:
    found, analysis = compiled(regime)
    head, program = last_head(found.soft), one_nearest(**CASE)  # type: ignore[arg-type]
    noise = noise_in(analysis, head)
    assert 0 < noise < Fraction(1, 50)
    assert rule_of(analysis.layers[-1].heads[0]).behind[0].start == 4 - noise
    for word in words_of_length(AB, 5):
        n, rows = len(word), meaning.run(program, word)
        integers = [[min(max(count, 1), n) for count in rows[step]] for step in (4, 5)]
        for i, weights in enumerate(attention(head, residual_streams(found.soft, word)[-2]), start=1):
            scores = {}
            for j, weight in weights.items():
                off = (integers[0][i - 1] - integers[1][j - 1]) ** 2 + (word[j - 1] != "a")
                scores[j] = weight.log() - (-8 * n * off + 4 * j)
            for one, other in pairs(scores.values(), repeat=2):
                assert abs(one - other) <= ball(noise)


@pytest.mark.parametrize(
    ("loss", "loss_ahead", "noise"),
    [
        (Fraction(0), Fraction(0), Fraction(1, 3)),
        (Fraction(1, 3), Fraction(1, 7), Fraction(1)),
        (Fraction(15, 16), Fraction(1, 2), Fraction(5, 4)),
    ],
)
def test_the_bound_of_stray_attention(loss: Fraction, loss_ahead: Fraction, noise: Fraction) -> None:
    """3 a step behind; 5, and 1 a step, ahead: each first one less 1/2, which is what errors change."""
    names = Formulas(AB.symbols).names
    errors = [EXACT] * 4
    errors[1] = (Monomial(Fraction(0)), Monomial(Fraction(1, 4)))
    fact = rules.nearest_integer(read(parts_of(names, push=4, tie=3), errors, names))
    with precision(128):
        kept, kept_ahead = 1 - ball(loss), 1 - ball(loss_ahead)
        behind = (-ball(Fraction(5, 2)) * kept).exp() / (1 - (-3 * kept).exp())
        ahead = (-ball(Fraction(9, 2)) * kept_ahead).exp() / (1 - (-kept_ahead).exp())
        whole = (behind + ahead) * ball(noise)
        others = rule_of(fact).others(ball(loss), ball(loss_ahead)) * ball(noise)
        assert stray_mass(others).overlaps(whole / (1 + whole))
        assert others.rel_accuracy_bits() > 100


# Side conditions ---------------------------------------------------------------------------------


def scaled(form: LinearForm, factor: int | Fraction) -> LinearForm:
    return tuple((coordinate, own * factor) for coordinate, own in form)


@pytest.mark.sweep(17)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("row", [0, 1, 2, 3])
@pytest.mark.parametrize("factor", [-1, Fraction(1, 2), Fraction(3, 4), 2])
def test_every_row_has_its_factor(regime: Regime, row: int, factor: Fraction) -> None:
    """A key or a query that is scaled: the parabola is another one, or b, or the tie-break."""
    found, _ = compiled(regime)
    head = last_head(found.soft)
    for name in ("query", "key"):
        rows = list(getattr(head, name))
        rows[row] = scaled(rows[row], factor)
        new: dict[str, Any] = {name: tuple(rows)}
        changed = with_last_head(found.soft, replace(head, **new))
        language = language_of(one_nearest(**CASE))  # type: ignore[arg-type]
        if row == 3 and factor in {Fraction(1, 2), Fraction(3, 4)}:
            prove(changed, language, found.realisation)
            continue
        with pytest.raises(UnprovenError):
            prove(changed, language, found.realisation)


@pytest.mark.parametrize("regime", REGIMES)
def test_the_integers_are_not_exchanged(regime: Regime) -> None:
    found, _ = compiled(regime)
    head, language = last_head(found.soft), language_of(one_nearest(**CASE))  # type: ignore[arg-type]
    integer, one = head.query[0], head.query[1]
    for query, key in (
        ((one, integer, *head.query[2:]), head.key),
        ((integer, integer, *head.query[2:]), head.key),
        (head.query, (head.key[1], head.key[0], *head.key[2:])),
        (head.query, (scaled(integer, 16), *head.key[1:])),
        (head.query, (*head.key[:3], head.key[0])),
    ):
        changed = with_last_head(found.soft, replace(head, query=query, key=key))
        with pytest.raises(UnprovenError):
            prove(changed, language, found.realisation)


def test_a_falling_tie_break_reads_the_leftmost() -> None:
    found, _ = compiled(Regime.UNBOUNDED)
    head = last_head(found.soft)
    changed = with_last_head(found.soft, replace(head, key=(*head.key[:3], scaled(head.key[3], -1))))
    leftmost = one_nearest(**{**CASE, "choice": Choice.LEFTMOST})  # type: ignore[arg-type]
    prove(changed, language_of(leftmost), found.realisation and replace(found.realisation, program=leftmost))


@pytest.mark.parametrize(
    ("masking", "mask"),
    [(Masking.FUTURE, Mask.UP_TO), (Masking.PAST, Mask.FROM)],
)
def test_other_masks_are_other_programs(masking: Masking, mask: Mask) -> None:
    found, _ = compiled(Regime.UNBOUNDED)
    changed = with_last_head(found.soft, replace(last_head(found.soft), masking=masking))
    other = one_nearest(**{**CASE, "mask": mask})  # type: ignore[arg-type]
    prove(changed, language_of(other), replace(found.realisation, program=other))
    with pytest.raises(UnprovenError, match="not shown to be"):
        prove(changed, language_of(one_nearest(**CASE)), found.realisation)  # type: ignore[arg-type]


def test_strict_masks_have_no_rule() -> None:
    found, _ = compiled(Regime.UNBOUNDED)
    changed = with_last_head(found.soft, replace(last_head(found.soft), masking=Masking.STRICT_FUTURE))
    with pytest.raises(UnprovenError, match="only selections have a rule for strict masks"):
        prove(changed, language_of(one_nearest(**CASE)), found.realisation)  # type: ignore[arg-type]


# One head by itself ------------------------------------------------------------------------------


EXACT = (Monomial(Fraction(0)), Monomial(Fraction(0)))


def read(
    rows: list[tuple[Value, Value]],
    errors: list[tuple[Monomial, Monomial]] | None = None,
    names: Names | None = None,
) -> ReadHead:
    names = names or Formulas(AB.symbols).names
    cold: Value = {(0, 0): names.true}
    value: Value = {(0, 0): names.letter("b")}
    bounds = tuple(errors or [EXACT] * len(rows))
    return ReadHead(
        names,
        Masking.FUTURE,
        tuple(rows),
        cold,
        (value,),
        (0,),
        bounds,
        EXACT[:1],
        (),
        ResidualValues([]),
        False,
        names.true,
    )


def parts_of(names: Names, push: int | Fraction = 8, tie: int | Fraction = 4) -> list[tuple[Value, Value]]:
    """K of the a's, K' of the b's, b at a's."""
    number = names.number
    asked, found, square = (
        names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter(s), p))
        for s, p in (("a", 1), ("b", 1), ("b", 2))
    )
    return [
        ({(0, 0): asked}, {(0, 1): names.scaled(found, 2 * push)}),
        ({(0, 0): number(1)}, {(0, 1): names.scaled(square, -push)}),
        ({(0, 1): number(1)}, {(0, 0): names.scaled(names.letter("a"), -push)}),
        ({(0, 0): number(1)}, {(1, 0): number(tie)}),
    ]


def test_what_is_read_is_named_by_all_that_makes_it() -> None:
    names = Formulas(AB.symbols).names
    fact = rules.nearest_integer(read(parts_of(names), names=names))
    ((asked, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1).parts
    ((found, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1).parts
    where = names.negation(names.letter("a"))
    expected = whole_numbers.nearest(names, Masking.FUTURE, False, where, asked, found, names.letter("b"))
    assert fact.outputs[0].diagram == expected
    assert fact.outputs[0].diagram != whole_numbers.nearest(
        names, Masking.FUTURE, False, where, found, asked, names.letter("b")
    )
    assert names.quantities[asked] == Clamped(Masking.FUTURE, names.letter("a"), 1)
    assert rule_of(fact).behind == (Trail(Fraction(4), Fraction(4)),)
    assert rule_of(fact).ahead == (Trail(Fraction(12), Fraction(4)),)


def test_a_tie_break_of_less_than_1_points_where_it_points() -> None:
    names = Formulas(AB.symbols).names
    ((asked, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1).parts
    ((found, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1).parts
    where, half = names.negation(names.letter("a")), Fraction(1, 2)
    for tie, is_leftmost in ((half, False), (-half, True)):
        fact = rules.nearest_integer(read(parts_of(names, tie=tie), names=names))
        rule = rule_of(fact)
        assert (rule.behind, rule.ahead) == ((Trail(half, half),), (Trail(16 - half, 8 - half),))
        assert fact.outputs[0].diagram == whole_numbers.nearest(
            names, Masking.FUTURE, is_leftmost, where, asked, found, names.letter("b")
        )


def test_keys_of_a_larger_distance_count_n_times() -> None:
    """8 n - (n - 1) and the tie-break, 4 for each step, whatever else the head reads."""
    names = Formulas(AB.symbols).names
    key: Value = {(0, -1): names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1))}
    head = read(parts_of(names), names=names)
    plain = rules.nearest_integer(head)
    alone = rules.nearest_integer(replace(head, values=(key,)))
    assert rule_of(plain).said == ()
    assert rule_of(alone).said == (Trail(Fraction(19), Fraction(11)), Trail(Fraction(11), Fraction(3)))
    (read_letter,), (read_key,) = plain.outputs, alone.outputs
    assert read_letter.step is None
    assert read_key.step is not None
    for order in (1, -1):
        values, outputs = ((*head.values, key)[::order], (read_letter, read_key)[::order])
        both = rules.nearest_integer(replace(head, values=values, targets=(0, 0), value_errors=EXACT[:1] * 2))
        assert (both.rules, both.outputs) == (alone.rules, outputs)


@pytest.mark.parametrize(
    ("push", "match"),
    [(3, "other positions can win"), (4, "the tie-break fades"), (Fraction(33, 8), None), (8, None)],
)
def test_what_is_nearer_to_the_end_must_be_behind_by_more_each_step(
    push: int | Fraction, match: str | None
) -> None:
    """4 n for each unit is as much as 4 a step may take, and 3 n less."""
    names = Formulas(AB.symbols).names
    head = read(parts_of(names, push=push), names=names)
    if match is not None:
        with pytest.raises(UnprovenError, match=match):
            rules.nearest_integer(head)
        return
    assert rule_of(rules.nearest_integer(head)).ahead == (Trail(Fraction(2 * push - 4), Fraction(push - 4)),)


@pytest.mark.parametrize("push", [8, 5, Fraction(33, 8)])
def test_errors_may_not_take_the_first_lead(push: int | Fraction) -> None:
    """Which is that of a step, 4: of who is on the other side it is 2 push - 4, which is more."""
    names = Formulas(AB.symbols).names
    for left in (Fraction(1, 10**9), Fraction(0), Fraction(-1, 10**9)):
        errors = [EXACT] * 4
        errors[1] = (Monomial(Fraction(0)), Monomial((4 - left) / 2))
        head = read(parts_of(names, push=push), errors, names)
        if left <= 0:
            with pytest.raises(UnprovenError, match="further from the integer can win"):
                rules.nearest_integer(head)
            continue
        assert rules.nearest_integer(head).least_gap == left


def test_the_noise_is_that_of_all_rows() -> None:
    names = Formulas(AB.symbols).names
    rows = parts_of(names)
    errors = [EXACT] * 4
    errors[0] = (Monomial(Fraction(1, 100), -2), Monomial(Fraction(1, 50), -1))
    errors[1] = (Monomial(Fraction(0)), Monomial(Fraction(1, 7), 0))
    fact = rules.nearest_integer(read(rows, errors, names))
    # |K| <= n, 16 n K' <= 16 n^2: 2 (e_q |k| + (|q| + e_q) e_k), powers of at most 0.
    first = 2 * (Fraction(16, 100) + Fraction(101, 100) * Fraction(1, 50))
    noise = first + 2 * Fraction(1, 7)
    assert rule_of(fact).behind == (Trail(4 - noise, Fraction(4)),)
    assert rule_of(fact).ahead == (Trail(12 - noise, Fraction(4)),)
    for row, side, power in ((0, 0, -1), (0, 1, 0), (1, 1, 1), (1, 0, -2), (2, 1, 0)):
        worse = list(errors)
        pair = list(worse[row])
        pair[side] = Monomial(Fraction(1, 1000), power)
        worse[row] = (pair[0], pair[1])
        with pytest.raises(UnprovenError, match="off by too much in longer words"):
            rules.nearest_integer(read(rows, worse, names))


@pytest.mark.parametrize(
    ("row", "change", "match"),
    [
        (
            0,
            lambda names, q, k: (q, {(0, 1): names.plus(k[0, 1], names.letter("a"))}),
            "multiplies an integer",
        ),
        (0, lambda names, q, k: ({(0, 0): names.letter("a")}, k), "not a multiple of an integer"),
        (0, lambda names, q, k: ({**q, (0, 1): names.true}, k), "not a multiple of an integer"),
        (
            0,
            lambda names, q, k: ({(0, 0): names.plus(q[0, 0], names.true)}, k),
            "not a multiple of an integer",
        ),
        (
            3,
            lambda names, q, k: ({(0, 0): names.plus(names.letter("a"), names.true)}, k),
            "not a multiple of an integer",
        ),
        (1, lambda names, q, k: (q, {(0, 1): names.scaled(names.letter("a"), 3)}), "not one square"),
        (
            2,
            lambda names, q, k: (q, {(0, 0): names.scaled(names.letter("a"), -16)}),
            "pushed away .* by a bit",
        ),
        (
            2,
            lambda names, q, k: (
                q,
                {(0, 0): names.scaled(names.plus(names.letter("a"), names.number(Fraction(-1, 3))), -24)},
            ),
            "pushed away .* by a bit",
        ),
        (2, lambda names, q, k: (q, {(0, 0): names.mean(Masking.PAST, names.letter("a"))}), "average"),
        (2, lambda names, q, k: ({(1, 0): names.true}, k), "pushed away .* by a bit"),
        (3, lambda names, q, k: (q, {(1, 0): names.letter("a")}), "no number"),
        (3, lambda names, q, k: (q, {(3, 0): names.true}), "no number"),
        (3, lambda names, q, k: (q, {(-1, 0): names.true}), "no number"),
        (3, lambda names, q, k: ({(-1, 0): names.true}, k), "fades"),
    ],
)
def test_other_scores_have_no_rule(row: int, change: object, match: str) -> None:
    names = Formulas(AB.symbols).names
    rows = parts_of(names)
    rows[row] = change(names, *rows[row])  # type: ignore[operator]
    with pytest.raises(UnprovenError, match=match):
        rules.nearest_integer(read(rows, names=names))


def where_with(*extra: tuple[str, int], symbols: tuple[str, ...] = AB.symbols) -> Diagram:
    """Where b is 0, of a nearest integer whose only keys without integers are multiples of letters."""
    names = Formulas(symbols).names
    rows = parts_of(names)
    one = names.number(1)
    rows[2:3] = [({(0, 1): one}, {(0, 0): names.scaled(names.letter(s), factor)}) for s, factor in extra]
    found = rules.nearest_integer(read(rows, names=names)).outputs[0].diagram
    for where in (
        names.true,
        *(names.negation(names.letter(s)) for s in symbols),
        *map(names.letter, symbols),
    ):
        clamps = [whole_numbers.clamped(names, Masking.FUTURE, names.letter(s), 1).parts for s in "ab"]
        ((asked, _),), ((key, _),) = clamps
        if found == whole_numbers.nearest(names, Masking.FUTURE, False, where, asked, key, names.letter("b")):
            return where
    raise AssertionError("it looks for something else")


def test_a_bit_may_be_pushed_in_several_rows_and_pulled() -> None:
    names = Formulas(AB.symbols).names
    assert where_with(("a", -8)) == names.negation(names.letter("a"))
    assert where_with(("a", -3), ("a", -5)) == names.negation(names.letter("a"))
    assert where_with(("a", 8)) == names.letter("a")
    assert where_with(("a", -8), ("a", 8)) == names.true
    assert where_with() == names.true


def test_rows_that_cancel_push_nothing() -> None:
    names = Formulas(AB.symbols).names
    rows = parts_of(names)
    b = {(0, 0): names.scaled(names.letter("b"), -8)}
    expected = rules.nearest_integer(read(rows, names=names)).outputs
    for more in ({(0, 1): names.number(3)}, {(1, 0): names.number(1)}):
        less = {powers: names.scaled(factor, -1) for powers, factor in more.items()}
        found = rules.nearest_integer(read([*rows, (more, b), (less, b)], names=names))
        assert found.outputs == expected


def test_half_a_push_is_none() -> None:
    abc = ("a", "b", "c")
    for extra in ((("a", -8), ("b", -4)), (("a", -4),), (("a", 8), ("b", -8))):
        with pytest.raises(UnprovenError, match=r"pushed away .* by a bit"):
            where_with(*extra, symbols=abc)


def test_an_integer_that_is_weighed_by_a_letter_is_none() -> None:
    names = Formulas(AB.symbols).names
    rows = parts_of(names)
    query, key = rows[0]
    rows[0] = query, {(0, 1): names.choose(names.letter("a"), key[0, 1], names.number(3))}
    with pytest.raises(UnprovenError, match="weighed differently at different positions"):
        rules.nearest_integer(read(rows, names=names))


# Positions ---------------------------------------------------------------------------------------


def by_position(side: Mask) -> Program:
    """The letter at the position that is the number of all positions on a side: 'reverse' for `from`."""
    build = Builder()
    letter, one = build.add(Letter(("a",))), build.add(Place(ONE))
    query, key = build.add(Count(side, one)), build.add(Count(Mask.UP_TO, one))
    return Program(
        AB,
        (*build.steps, Nearest(Mask.ALL, Choice.RIGHTMOST, one, query, key, letter)),
        len(build.steps),
    )


def one_layer(query: ClosedForm, regime: Regime) -> Network:
    """A single head about positions, and the feed-forward that rounds what it reads."""
    unit: ClosedForm = ONE if regime is Regime.UNBOUNDED else over(N)
    forms: tuple[ClosedForm, ...]
    factors: list[Fraction]
    if regime is Regime.UNBOUNDED:
        forms, cold, factors = (
            (times(N, I), times(N, Power(I, 2)), I),
            Softmax(ONE),
            [Fraction(16), Fraction(-8), Fraction(4)],
        )
    else:
        forms = (times(I, over(N)), times(Power(I, 2), over(N, 2)), times(I, over(N, 3)))
        cold, factors = Softmax(times(8, Power(N, 3))), [Fraction(2), Fraction(-1), Fraction(1, 2)]
    head = Head(
        NearestInteger(False, (), ((2, Fraction(1)),), ((3, Fraction(1)),), ((4, Fraction(1)),)),
        Masking.NONE,
        cold,
        (((2, Fraction(1)),), ((1, Fraction(1)),), ((1, Fraction(1)),)),
        tuple(((3 + k, factor),) for k, factor in enumerate(factors)),
        (((0, Fraction(1)),),),
        (6,),
    )
    read_bit = ((6, Fraction(1)),)
    units = tuple(
        Hidden(read_bit, -Fraction(bias, 4), ((7, Fraction(sign)),)) for bias, sign in ((1, 2), (3, -2))
    )
    return Network(
        AB,
        ("a", "1", "query", "key", "square", "tie", "attended", "output"),
        (((0, Fraction(1)),), ()),
        ((1, ONE), (2, times(query, unit)), *((3 + k, form) for k, form in enumerate(forms))),
        (Layer((head,), units, ((0, 1),)),),
        4,
        7,
        False,
        True,
    )


MIRRORED = plus(N, 1, times(-1, I))
QUERIES = {Mask.UP_TO: I, Mask.FROM: MIRRORED, Mask.ALL: N}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("side", QUERIES)
def test_positions_are_integers(side: Mask, regime: Regime) -> None:
    program, network = by_position(side), one_layer(QUERIES[side], regime)
    prove(network, language_of(program))
    for other in QUERIES:
        if other is not side:
            with pytest.raises(UnprovenError):
                prove(network, language_of(by_position(other)))
    for word in words_of_length(AB, 4):
        for i, (bit, found) in enumerate(
            zip(meaning.output(program, word), output_bits(network, word), strict=True)
        ):
            place = {Mask.UP_TO: i, Mask.FROM: 3 - i, Mask.ALL: 3}[side]
            assert bit == (word[place] == "a")
            assert abs(found - int(bit)) < 0.25


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    "query",
    [
        plus(I, 1),
        plus(N, times(-1, I)),
        plus(N, 2, times(-1, I)),
        plus(N, -1),
        times(2, I),
        ONE,
        plus(I, I, N),
    ],
)
def test_positions_that_may_not_be_there_are_none(query: ClosedForm, regime: Regime) -> None:
    """Beyond 1..n the outermost position is read: that is the clamp of another number than any count."""
    network = one_layer(query, regime)
    for side in QUERIES:
        with pytest.raises(UnprovenError):
            prove(network, language_of(by_position(side)))


def test_a_position_beside_counted_keys() -> None:
    """The position whose count of b is nearest to the number of the position here."""
    names = Formulas(AB.symbols).names
    rows = parts_of(names)
    rows[0] = ({(1, 0): names.true}, rows[0][1])
    fact = rules.nearest_integer(read(rows, names=names))
    ((asked, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.true, 1).parts
    ((found, _),) = whole_numbers.clamped(names, Masking.FUTURE, names.letter("b"), 1).parts
    where = names.negation(names.letter("a"))
    expected = whole_numbers.nearest(names, Masking.FUTURE, False, where, asked, found, names.letter("b"))
    assert fact.outputs[0].diagram == expected


# Rounding ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "u"), [(FLOAT32, Fraction(1, 2**24)), (FLOAT64, Fraction(1, 2**53))])
def test_what_is_read_is_off_by_what_strays(form: FloatFormat, u: Fraction) -> None:
    """W with every lead smaller by E, and the quotient of two sums: FORMAT.md's formulas, once more."""
    found, analysis = compiled(Regime.UNBOUNDED)
    number_, changed = len(found.soft.layers) - 1, noise_in(analysis, last_head(found.soft))
    target = last_head(found.soft).targets[0]
    for length in (2, 24):
        bounds = Rounding(analysis, form).bounds_at(Kernel.NUMERATOR_FIRST, length)
        off = as_number(bounds.offs[target])
        # That of who is first behind, whose lead is the least.
        loss = bounds.lost_shares[f"layer {number_}, head 0"] * ball(Fraction(15, 16))
        with precision(128):
            unit, e = ball(u), 8 * ball(u)
            noise = (1 + e) * (1 + 4 * unit) / (1 - e)
            starts = [ball(4 - changed), ball(12 - changed)]
            kept = [1 - loss * starts[0] / start - 2 * unit for start in starts]
            whole = sum(
                (
                    (-start * part).exp() / (1 - (-4 * part).exp())
                    for start, part in zip(starts, kept, strict=True)
                ),
                flint.arb(0),
            )
            whole *= noise
            sums = 2 * (2 * length * unit) / (1 - 2 * length * unit) + 4 * unit
            expected = whole / (1 + whole) + noise * (1 + sums) - 1
            assert abs(off.elsewhere - expected) <= expected * ball(Fraction(1, 10**8))
            assert off.at_zero.overlaps(off.elsewhere)


@pytest.mark.parametrize("lost", [Fraction(0), Fraction(1), Fraction(52, 16), Fraction(53, 16), Fraction(4)])
def test_each_first_lead_loses_all_errors_once_and_two_roundings(
    lost: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    """W of loss = E / start for each side, up to 15/16 of the least; and so for what keys are off by."""
    u, noise = Fraction(1, 64), ball(Fraction(3))
    starts = Fraction(7, 2), Fraction(23, 2), Fraction(8), Fraction(15, 2)
    behind, ahead, *beyond = (Trail(start, Fraction(k)) for k, start in enumerate(starts, start=2))
    rule = Rule(NearestInteger, (behind,), (ahead,), tuple(beyond))
    monkeypatch.setattr(integers, "scores_off", lambda _: ball(lost))
    monkeypatch.setattr(integers, "attended", lambda _, others: [others()] * 2)
    monkeypatch.setattr(integers, "nearest_key_off", lambda *said: said[-1])
    outputs = [SimpleNamespace(step=None), SimpleNamespace(step=1, growth=-1)]
    head: Any = SimpleNamespace(
        name="the head",
        lengths=SimpleNamespace(length=5),
        noise=noise,
        argument=2 * ball(u),
        head=SimpleNamespace(values=(None, None)),
        values=[(None, output) for output in outputs],
        lost_shares={},
    )
    head.bear = partial(RoundedHead.bear, head)
    with precision(64):
        if lost > Fraction(15, 16) * starts[0]:
            with pytest.raises(BeyondError, match=r"^the head$"):
                integers.nearest_integer(rule, head)
            return
        weights = []
        for step, start in enumerate(starts, start=2):
            kept = 1 - ball(lost / start) - 2 * ball(u)
            weights.append((-ball(start) * kept).exp() / (1 - (-step * kept).exp()))
        others, apart = cast(list[flint.arb], integers.nearest_integer(rule, head))
        assert others.overlaps(weights[0] + weights[1])
        assert apart.overlaps((2 * weights[0] + weights[2] + weights[3]) * noise)
        assert min(others.rel_accuracy_bits(), apart.rel_accuracy_bits()) > 50
        assert head.lost_shares["the head"].overlaps(ball(lost / starts[0] / LARGEST_LOSS))


def test_keys_of_both_signs_are_twice_as_far_apart() -> None:
    names = Formulas(AB.symbols).names
    whole = names.affine(whole_numbers.clamped(names, Masking.FUTURE, names.letter("a"), 1))
    assert has_one_sign(names, {(0, 0): whole, (1, 0): names.number(2)})
    assert has_one_sign(names, {(0, 0): names.scaled(whole, -3), (1, 0): names.number(0)})
    assert not has_one_sign(names, {(0, 0): whole, (1, 0): names.number(-2)})
    assert not has_one_sign(names, {(0, 0): names.plus(names.scaled(whole, -1), names.number(1))})
    step = names.plus(names.letter("a"), names.scaled(names.letter("b"), -1))
    assert not has_one_sign(names, {(0, 0): names.mean(Masking.FUTURE, step)})


def test_values_may_be_any_numbers() -> None:
    """The spread and the size of what is read."""
    names = Formulas(AB.symbols).names
    value = names.plus(names.scaled(names.letter("a"), -3), names.number(1))
    head = replace(read(parts_of(names), names=names), values=({(0, 0): value},))
    (output,) = rules.nearest_integer(head).outputs
    assert [output.spread, output.size, output.growth] == [3, 2, 0]
    assert output.error is None


def test_a_key_that_is_0_everywhere_loses_nothing() -> None:
    """Where the bit `where` is one at all positions, nothing is taken away from any of them."""
    build = Builder()
    a, one = build.add(Letter(("a",))), build.add(Place(ONE))
    count = build.add(Count(Mask.UP_TO, a))
    always = build.add(Nearest(Mask.ALL, Choice.LEFTMOST, a, count, count, one))
    read = build.add(Nearest(Mask.ALL, Choice.LEFTMOST, always, count, count, a))
    language = language_of(Program(AB, tuple(build.steps), read))
    found = compile_language(language, AB, Regime.UNBOUNDED)
    analysis = prove(found.soft, language, found.realisation)
    assert failure_at(analysis, FLOAT64, Kernel.NUMERATOR_FIRST, 100) is None
    assert has_one_sign(analysis.names, {})
