"""What heads, rows and linear forms share at one length: just what would be computed anew, and less often."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import pytest

import attemper
from attemper.checker.analysis import Analysis
from attemper.checker.attention.contests import Contest
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding import attention, score_gaps
from attemper.checker.rounding.arithmetic import (
    EXACT,
    UNKNOWN,
    Inexact,
    Kernel,
    Lengths,
    OfInteger,
    OfNumber,
    key_of,
)
from attemper.checker.rounding.competition import (
    Competition,
    Rival,
    RivalPair,
    ScoreGap,
    ScoreTerm,
    competition_of,
)
from attemper.checker.rounding.heads import RoundedHeads
from attemper.checker.rounding.network import Bounds, Rounding
from attemper.exact import laurent
from attemper.exact.closed_forms import ONE, SIGN, number, plus, times
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FORMATS
from attemper.exact.laurent import AFTER_FIRST
from tests.support.drawn.audited import subject
from tests.support.judges.audit import followed
from tests.support.judges.rounding import NUMERATOR, cold_of, off_of, rounded_at, run_at, selecting, shifting
from tests.support.mutants.attacks import EVEN, form, network_of


class Forgetful(dict[Any, Any]):
    """A dictionary that finds nothing of what was put in."""

    def __contains__(self, _: object) -> bool:
        return False

    def setdefault(self, _: Hashable, default: Any = None) -> Any:
        return default


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be kept within a look."""
    owners: tuple[tuple[Any, tuple[str, ...]], ...] = (
        (Lengths, ("_linear", "_offs")),
        (RoundedHeads, ("_rows", "_losses")),
    )
    for owner, names in owners:
        monkeypatch.setattr(owner, "__init__", _forgetting(owner.__init__, names))


def _forgetting(made: Any, names: tuple[str, ...]) -> Any:
    def anew(self: Any, *args: Any, **more: Any) -> None:
        made(self, *args, **more)
        for name in names:
            assert getattr(self, name) == {}
            setattr(self, name, Forgetful())

    return anew


def all_bounds(analysis: Analysis) -> list[Bounds]:
    lengths = (1, 2, 300, 2**20)
    roundings = [Rounding(analysis, form_) for form_ in FORMATS.values()]
    return [own.bounds_at(kernel, n) for own in roundings for kernel in Kernel for n in lengths]


def analyses(kind: str, seed: int) -> Iterator[Analysis]:
    """What is said of networks that have a rule in every format."""
    for name in (f"shared {seed}", *(f"shared {seed}.{again}" for again in range(9))):
        analysis = followed(subject(kind, name))
        assert analysis is not None
        with suppress(UnprovenError):
            for form_ in FORMATS.values():
                Rounding(analysis, form_)
            yield analysis


def exactly(found: Any) -> Hashable:
    """What is found, each ball as it is."""
    if isinstance(found, flint.arb):
        return key_of(found)
    if isinstance(found, list | tuple):
        return tuple(map(exactly, found))
    if isinstance(found, dict):
        return tuple((place, exactly(own)) for place, own in found.items())
    return exactly(vars(found)) if isinstance(found, OfNumber | OfInteger | Bounds) else found


@pytest.mark.sweep(6)
@pytest.mark.parametrize("kind", ["compiled", "hand-built", "mutant"])
@pytest.mark.parametrize("seed", range(30))
def test_what_is_kept_in_a_look_is_what_would_be_computed_anew(
    kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysis = next(analyses(kind, seed))
    kept = [exactly(bounds) for bounds in all_bounds(analysis)]
    forget(monkeypatch)
    assert [exactly(bounds) for bounds in all_bounds(analysis)] == kept


def test_a_linear_form_is_shared_only_by_forms_of_the_same_factors_numbers_and_errors() -> None:
    network = selecting()
    run, analysis = run_at(network, FLOAT32, 100)
    values = analysis.layers[0].before.values
    noisy, broad = off_of(*[flint.arb(1) / 2**9] * 4), off_of(*[flint.arb(1) / 2**8] * 4)
    errors = ([EXACT] * 6, [EXACT, noisy, *[EXACT] * 4], [noisy] * 6, [broad] * 6)
    forms = [form((c, factor)) for c in range(6) for factor in (1, 3, Fraction(1, 3))]
    forms += [form((0, 1), (c, factor)) for c in (1, 2, 5) for factor in (1, 3)]
    shared = run.lengths
    for own, offs in product(forms, errors):
        anew = Lengths(run.lengths.arithmetic, run.lengths.length)
        found = vars(shared.linear(own, values, offs)), vars(anew.linear(own, values, offs))
        assert exactly(found[0]) == exactly(found[1]), (own, offs)
    assert shared.linear(form((0, 1)), values, [EXACT] * 6) is shared.linear(
        form((1, 1)), values, [EXACT] * 6
    )


def test_an_error_is_shared_only_where_both_its_balls_are_the_same() -> None:
    lengths = run_at(selecting(), FLOAT32, 100)[0].lengths
    third = flint.arb(1) / 3
    pairs = list(product((flint.arb(0), third, third.mid(), flint.arb(1)), repeat=2))
    found = [lengths.off_by(*pair) for pair in pairs]
    assert [exactly((off.at_zero, off.elsewhere)) for off in found] == [exactly(pair) for pair in pairs]
    assert lengths.off_by(flint.arb(1) / 3, flint.arb(1)) is found[7]
    assert exactly(lengths.off_by(third, third)) == exactly(off_of(third, third))


def test_a_row_is_shared_only_by_rows_of_the_same_query_key_and_temperature() -> None:
    run, analysis = run_at(selecting(), FLOAT32, 100)
    before, heads = analysis.layers[0].before, RoundedHeads(run.lengths, NUMERATOR)
    forms, colds = [form((3, 1)), form((2, 4)), form((0, 3)), form((5, 1))], (ONE, number(3), number(4))
    for query, key, closed in product(forms, forms, colds):
        rows = [
            own._row(query, key, own._cold(closed), before, run.offs, run.offs).scored
            for own in (heads, RoundedHeads(run.lengths, NUMERATOR))
        ]
        parts = [exactly([vars(row.query), vars(row.key), vars(row.product), row.grid]) for row in rows]
        assert parts[0] == parts[1]


def test_a_row_of_a_scan_is_shared_only_by_rows_whose_keys_it_splits_alike() -> None:
    """(-1)^j and a test of j that is the same numbers: a scan splits the key with one of them."""
    places = {1: ONE, 2: SIGN, 3: plus(times(2, EVEN), -1)}
    run, analysis = run_at(network_of(4, [[(0, 1)], []], places, [], 0), FLOAT32, 100, Kernel.SCAN)
    heads, exact = run.heads, [EXACT] * 4
    rows = [
        heads._row(form((1, 1)), form((1, 1), (c, 1)), heads._cold(ONE), analysis.start, exact, exact).scored
        for c in (2, 3)
    ]
    assert [bool(row.key.relative < UNKNOWN) for row in rows] == [True, False]


def contests_of(analysis: Analysis) -> list[Contest]:
    """Of each selection and neighbour, in every cell."""
    rules = [rule for layer in analysis.layers for fact in layer.heads for rule in fact.rules]
    return [rule.said for rule in rules if isinstance(rule.said, Contest)]


def test_losses_are_shared_only_by_heads_of_the_same_contest_rows_and_temperature() -> None:
    run, analysis = run_at(selecting(), FLOAT32, 100)
    computed, [contest] = rounded_at(run, analysis), contests_of(analysis)
    plain = competition_of(contest)
    assert plain is not None
    competitions = (
        plain,
        replace(plain, steps=2),
        replace(plain, pairs=plain.pairs[:1]),
        replace(plain, size=ScoreGap(laurent.constant(2), AFTER_FIRST)),
    )
    # A head whose rows read another coordinate, or the same with an error, says other rows.
    run.offs[2] = off_of(*[flint.arb(1) / 2**20] * 4)
    rows = (computed.rows, rounded_at(run, analysis).rows)
    colds = (computed.cold, cold_of(run, number(3), is_exact=False))
    found = set()
    for competition, own, cold in product(competitions, rows, colds):
        one = replace(computed, rows=own, cold=cold, competitions={id(contest): competition})
        losses = exactly(one.losses(contest))
        assert losses == exactly(replace(one, known={}).losses(contest))
        found.add(losses)
    assert len(computed.known) == len(competitions) * 4
    assert len(found) == 8


def test_equal_contests_are_one_and_others_are_not() -> None:
    model = attemper.compile("O (a & Y b) & O (b & Y a) & H (a -> O b)", "ab", regime="temperature")
    analysis = prove(model.network, model.language.definition, model.realisation)
    found = [competition_of(contest) for contest in contests_of(analysis)]
    competitions = [competition for competition in found if competition is not None]
    assert len(set(map(id, competitions))) == len(set(competitions)) < len(competitions)
    one = competitions[0]
    for name, other in (
        ("power", -one.power),
        ("size", ScoreGap(laurent.constant(7), one.size.domain)),
        ("reach", laurent.constant(7)),
        ("steps", 7),
        ("apart", laurent.constant(7)),
        ("both", laurent.constant(7)),
        ("rows", (*one.rows, ScoreTerm(False, laurent.constant(7)))),
        ("pairs", (*one.pairs, *one.pairs)),
    ):
        assert replace(one, **{name: other}) != one


# Rows that say nothing -----------------------------------------------------------------------------------


def cells(count: int) -> Competition:
    """A contest whose rows but the first have queries that are 0; its places differ in these rows' keys."""
    places = [tuple(Fraction(int(k == row)) for row in range(count)) for k in range(count)]
    score_gap = ScoreGap(laurent.constant(4), AFTER_FIRST)
    pairs = [RivalPair(one, other, Rival.FARTHER, score_gap) for one, other in product(places, repeat=2)]
    rows = [ScoreTerm(False, laurent.constant(int(k == 0))) for k in range(count)]
    distances = laurent.constant(3), laurent.constant(6)
    return Competition(1, score_gap, laurent.constant(3), 1, *distances, tuple(rows), tuple(pairs))


def test_pairs_are_told_apart_by_the_rows_that_say_something() -> None:
    competition = cells(5)
    assert len(competition.told_apart((0, 1, 2, 3, 4))) == 25
    told = competition.told_apart((0,))
    assert {(pair.winner[0], pair.other[0]) for pair in told} == set(product((0, 1), repeat=2))
    assert len(told) == 4
    assert len(competition.told_apart(())) == 1
    kinds = tuple(replace(competition.pairs[0], kind=kind) for kind in Rival)
    assert set(replace(competition, pairs=kinds).told_apart(())) == set(kinds)
    leads_ = tuple(replace(kinds[0], score_gap=ScoreGap(laurent.constant(k), AFTER_FIRST)) for k in (1, 2))
    assert set(replace(competition, pairs=leads_).told_apart(())) == set(leads_)


def test_each_parity_of_i_has_a_contest_of_its_own() -> None:
    """The winner's parity is the other one, and what one of them loses is not taken for the other's."""
    run, analysis = run_at(shifting(), BFLOAT16, 100)
    computed, contests = rounded_at(run, analysis), contests_of(analysis)
    keys = set[tuple[Fraction, Fraction]]()
    for competition in map(competition_of, contests):
        assert competition is not None
        [parity] = [k for k, row in enumerate(competition.rows) if not row.is_tie]
        assert {pair.kind for pair in competition.pairs} == set(Rival)
        assert len({pair.winner[parity] for pair in competition.pairs}) == 1
        for pair in competition.pairs:
            own = pair.winner[parity], pair.other[parity]
            assert (own[0] == own[1]) is (pair.kind is Rival.FARTHER)
            keys.add(own)
    assert keys == set(product((Fraction(8), Fraction(-8)), repeat=2))
    for contest in contests:
        assert exactly(computed.losses(contest)) == exactly(replace(computed, known={}).losses(contest))
    assert len(computed.known) == len(computed.competitions) == 2


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 2**20)])
def test_a_row_says_nothing_only_if_its_query_is_computed_as_0(noise: Fraction) -> None:
    run, analysis = run_at(selecting(), FLOAT64, 100)
    computed = rounded_at(run, analysis)
    [one, *_] = [row.scored for row in computed.rows]
    error = flint.arb(flint.fmpq(noise.numerator, noise.denominator))
    loud = replace(one, query=Inexact(one.query.size, one.query.inverse, error, error, error))
    scores = score_gaps._Scores(run.lengths, cells(3), [one, loud, one], computed.cold)
    assert scores.heard == ((0, 1) if noise else (0,))
    assert score_gaps._Scores(run.lengths, cells(3), [loud] * 3, computed.cold).heard == (
        (0, 1, 2) if noise else (0,)
    )
    average = replace(cells(3), rows=tuple(replace(row, is_average=True) for row in cells(3).rows))
    slight = replace(
        one, query=Inexact(one.query.size, one.query.inverse, flint.arb(1), flint.arb(0), one.query.relative)
    )
    assert score_gaps._Scores(run.lengths, average, [slight] * 3, computed.cold).heard == (0, 1, 2)


def test_a_tie_break_is_heard_whatever_its_query_is() -> None:
    run, analysis = run_at(selecting(), FLOAT64, 100)
    computed = rounded_at(run, analysis)
    scored = [row.scored for row in computed.rows][:1] * 2
    ties = replace(cells(2), rows=tuple(replace(row, is_tie=True) for row in cells(2).rows))
    assert score_gaps._Scores(run.lengths, ties, scored, computed.cold).heard == (0, 1)


# How often -----------------------------------------------------------------------------------------------


def test_the_pairs_of_a_definite_language_are_as_many_as_its_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three for each of its 13 cells, and one where no case is in force; 494 if places are told apart."""
    model = attemper.compile(attemper.regex("(a|b)*a(a|b){12}", "ab"))
    rounding = Rounding(prove(model.network, model.language.definition, model.realisation), FLOAT64)
    asked: list[RivalPair] = []
    loss = score_gaps._Scores.loss
    monkeypatch.setattr(score_gaps._Scores, "loss", lambda own, pair: asked.append(pair) or loss(own, pair))
    assert rounding.bounds_at(NUMERATOR, 1000).failure is None
    assert len(asked) <= 3 * 13 + 1


def test_heads_that_do_the_same_share_what_their_leads_lose(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " | ".join(f"O (a & Y {'Y ' * (k % 3)}O (b & {'Y ' * k}a))" for k in range(4))
    model = attemper.compile(text, "ab", regime="temperature")
    analysis = prove(model.network, model.language.definition, model.realisation)
    asked, found = [], []
    of_head, losses = attention.RoundedHead.losses, attention.losses
    monkeypatch.setattr(attention.RoundedHead, "losses", lambda *own: asked.append(1) or of_head(*own))
    monkeypatch.setattr(attention, "losses", lambda *own: found.append(1) or losses(*own))
    assert Rounding(analysis, FLOAT64).bounds_at(NUMERATOR, 1000).failure is None
    assert len(asked) > 10
    assert 3 * len(found) < 2 * len(asked)
