"""What competes in heads with a tie-break: pairs of positions, by what the head computes on short words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import assert_never

import pytest

from attemper.checker.attention.bounds import DOMAINS
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.rounding.competition import Competition, Rival, competition_of
from attemper.checker.rules import Rule
from attemper.exact import laurent
from attemper.exact.predicates import Remainder
from attemper.networks.layers import Construction, Head, Masking, Neighbour, Select, Uniform
from tests.support.drawn.heads import AB, ALL, LEFT, RIGHT, Form, Palette, Rows, short_words
from tests.support.judges.derived import Reading

SELECT, NEIGHBOUR = Select(False, ((None, ()),)), Neighbour(False)
NO_LETTERS = short_words(("a",), 6)


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("masking", [LEFT, RIGHT, ALL])
def test_a_tie_break_gives_at_most_what_the_farthest_positions_are_apart(
    masking: Masking, direction: int
) -> None:
    grown, name = ("i^2", "i") if masking is LEFT else ("n^2", "n")
    linear, inverse = (
        Contender(SELECT, masking, rows, power).fact()[2][None]
        for rows, power in (
            ([({"1": 3}, {"i": direction}), ({name: 9}, NO_B)], 1),
            ([({grown: 3}, {"1/i": direction}), ({grown: 9}, NO_B)], -1),
        )
    )
    (span, level), (inverse_span, inverse_level) = map(given, (linear, inverse))
    for n in range(1, 7):
        for i in range(1, n + 1):
            seen = masking.visible(i, n)
            assert laurent.at(span, i, n) == 3 * (len(seen) - 1)
            assert laurent.at(inverse_span, i, n) == 3 * seen[-1] ** 2 * (1 - Fraction(1, seen[-1]))
            assert laurent.at(level, i, n) == laurent.at(inverse_level, i, n) == 3
            is_inside = any(i >= first.gap and n >= i + second.gap for first, second in DOMAINS[masking])
            assert is_inside == (len(seen) > 1)


def given(competition: Competition) -> tuple[laurent.Laurent, laurent.Laurent]:
    """What the tie-break can take from a push, and the least that it gives between two of one level."""
    forms = {pair.kind: pair.score_gap.form for pair in competition.pairs}
    span = laurent.plus(forms[Rival.PENALISED], laurent.times(forms[Rival.AHEAD], -1))
    return span, forms[Rival.FARTHER]


def test_a_key_that_is_the_same_everywhere_does_not_matter() -> None:
    own = Palette()
    rows: Rows = [({"i": 3, "a": 1}, {"1": 2}), ({"1": 1}, {"n": 1})]
    head = own.head(Uniform(), LEFT, rows, {"a": 1})
    assert head_fact(own.names, head, own.stream()).rules == (Rule(Uniform),)
    with pytest.raises(UnprovenError, match="not all equal"):
        head_fact(own.names, own.head(Uniform(), LEFT, [*rows, ({"1": 1}, {"i": 1})], {"a": 1}), own.stream())


# Rivals ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Contender:
    """A head with a tie-break; its first row is that of t(j) = j^power, whose key may grow as n^growth."""

    construction: Construction
    masking: Masking
    rows: Rows
    power: int = 1
    growth: int = 0
    values: tuple[Form, ...] = ({"a": 1, "sign": 2},)
    symbols: tuple[str, ...] = AB

    def fact(self) -> tuple[Palette, Head, dict[int | None, Competition]]:
        """The head, and what is found to compete in it: in a neighbour by i modulo 2."""
        own = Palette(self.symbols)
        own.values["n^2 sign"] = {(0, 2): own.names.sign}
        own.add("sign of a", own.names.product(own.names.letter("a"), own.names.sign))
        head = own.head(self.construction, self.masking, self.rows, {})
        targets = tuple(range(len(self.values)))
        head = replace(head, values=tuple(own.form(value) for value in self.values), targets=targets)
        odd = own.names.place(Remainder(2, 1), 1, 0, 0)
        cells = {own.names.true: None, odd: 1, own.names.negation(odd): 0}
        found: dict[int | None, Competition] = {}
        for rule in head_fact(own.names, head, own.stream()).rules:
            competition = competition_of(rule.said)
            assert competition is not None
            found[cells[rule.said.levels.head.here]] = competition
        assert found.keys() == ({None} if self.construction is SELECT else {0, 1})
        return own, head, found


@dataclass(frozen=True)
class Rivals:
    """The right position w and another one j, as i sees them.

    `keys` are those of all rows at w and at j, that of the tie-break without n^b j or n^b / j. `tie` and
    `rest` are by how much w is ahead of j by the tie-break and by all other rows, `weight` the factor of
    |t(w) - t(j)|, `values` what the head reads at both.
    """

    i: int
    n: int
    w: int
    j: int
    keys: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]
    tie: Fraction
    rest: Fraction
    weight: Fraction
    queries: tuple[Fraction, ...]
    values: tuple[tuple[Fraction, ...], tuple[Fraction, ...]]

    @property
    def score(self) -> Fraction:
        """By how much w is ahead."""
        return self.tie + self.rest


def rivals(own: Palette, contender: Contender) -> Iterator[Rivals]:
    """All of them on short words, from the scores alone; the inverse temperature is 1.

    Neighbours here read no letters.
    """
    masking = contender.masking
    longest = 6 - len(contender.symbols)
    words = short_words(contender.symbols, longest) if contender.construction is SELECT else NO_LETTERS
    for word in words:
        n, reading = len(word), Reading(own.names, word)

        def at(form: Form, k: int, reading: Reading = reading) -> Fraction:
            return sum((f * reading.value(own.values[name], k) for name, f in form.items()), Fraction(0))

        keys = {k: [at(key, k) for _, key in contender.rows] for k in range(1, n + 1)}
        values = {k: tuple(at(value, k) for value in contender.values) for k in range(1, n + 1)}
        for i in range(1, n + 1):
            queries = tuple(at(query, i) for query, _ in contender.rows)
            tie, rest = {}, {}
            for k in masking.visible(i, n):
                tie[k], *others = (query * key for query, key in zip(queries, keys[k], strict=True))
                rest[k] = sum(others, Fraction(0))
            if contender.construction is SELECT:
                w = max(tie, key=lambda k: (rest[k], tie[k]), default=0)
            else:
                w = i - 1 if masking is LEFT else i + 1
            for j in tie.keys() - {w} if w in tie else ():
                places = [
                    (keys[k][0] / (Fraction(k) ** contender.power * n**contender.growth), *keys[k][1:])
                    for k in (w, j)
                ]
                apart = Fraction(w) ** contender.power - Fraction(j) ** contender.power
                yield Rivals(
                    i=i,
                    n=n,
                    w=w,
                    j=j,
                    keys=(places[0], places[1]),
                    tie=tie[w] - tie[j],
                    rest=rest[w] - rest[j],
                    weight=abs((tie[w] - tie[j]) / apart),
                    queries=queries,
                    values=(values[w], values[j]),
                )


def kind_of(one: Rivals, contender: Contender) -> Rival:
    """How the two compete, by its definition."""
    if contender.construction is SELECT:
        return Rival.FARTHER if not one.rest else Rival.PENALISED if one.tie > 0 else Rival.AHEAD
    return Rival.AHEAD if one.j == one.i else Rival.FARTHER if (one.w - one.j) % 2 == 0 else Rival.PENALISED


def score_gap_of(one: Rivals, kind: Rival, contender: Contender) -> Fraction:
    """The least lead of such a pair where i sees what it does, as FORMAT.md has it."""
    seen = contender.masking.weak.visible(one.i, one.n)
    greatest = one.i if contender.masking.weak is LEFT else one.n
    is_linear = contender.power > 0
    match kind:
        case Rival.FARTHER:
            steps = 1 if contender.construction is SELECT else 2
            return one.weight * steps / (1 if is_linear else greatest**2)
        case Rival.PENALISED:
            return one.rest
        case Rival.AHEAD if contender.construction is SELECT:
            return one.rest - one.weight * (len(seen) - 1 if is_linear else 1 - Fraction(1, greatest))
        case Rival.AHEAD:
            return one.rest - one.weight * (1 if is_linear else Fraction(2, one.i**2))
        case _:
            assert_never(kind)


def far_of(one: Rivals, contender: Contender) -> tuple[Fraction, Fraction]:
    """How far who is ahead is from the winner in t(j), and the sum of both, at most: as FORMAT.md has it."""
    greatest = one.i if contender.masking.weak is LEFT else one.n
    if contender.construction is SELECT:
        return Fraction(greatest if contender.power > 0 else 1), Fraction(
            2 * greatest if contender.power > 0 else 2
        )
    if contender.power > 0:
        return Fraction(1), Fraction(3 * one.i)
    return Fraction(2, one.i**2), Fraction(3, one.i)


def agreed(own: Palette, contender: Contender) -> set[tuple[Fraction, ...]]:
    """The levels, by the keys of all rows but the first, whose positions all have the same values."""
    values = defaultdict(set)
    for one in rivals(own, contender):
        for keys, value in zip(one.keys, one.values, strict=True):
            values[keys[1:]].add(value)
    return {level for level, found in values.items() if len(found) == 1}


def wrong(
    own: Palette, contender: Contender, competitions: dict[int | None, Competition]
) -> Iterator[object]:
    """What is not as the scores have it."""
    score_gaps = {
        (cell, pair.winner, pair.other, pair.kind): pair.score_gap
        for cell, competition in competitions.items()
        for pair in competition.pairs
    }
    needed, queries = set(), defaultdict(list)
    free = agreed(own, contender) if contender.construction is SELECT else set()
    domain = DOMAINS[contender.masking.weak]
    for one in rivals(own, contender):
        cell = None if contender.construction is SELECT else one.i % 2
        competition, kind = competitions[cell], kind_of(one, contender)
        queries[cell, one.i, one.n].append(one.queries)
        greatest = one.i if contender.masking.weak is LEFT else one.n
        if laurent.at(competition.size.form, one.i, one.n) != one.weight or competition.size.domain != domain:
            yield "the size of the tie-break", one
        if laurent.at(competition.reach, one.i, one.n) != greatest:
            yield "the greatest position", one
        if kind is Rival.AHEAD:
            far = tuple(laurent.at(form, one.i, one.n) for form in (competition.apart, competition.both))
            t_w, t_j = (Fraction(k) ** contender.power for k in (one.w, one.j))
            if far != far_of(one, contender):
                yield "another distance", one
            if abs(t_w - t_j) > far[0] or t_w + t_j > far[1]:
                yield "further off", one
        if kind is Rival.FARTHER and one.keys[0][1:] in free:
            continue
        needed.add((cell, *one.keys, kind))
        score_gap = score_gaps.get((cell, *one.keys, kind))
        if score_gap is None:
            yield "no pair", one
        elif (
            laurent.at(score_gap.form, one.i, one.n) != score_gap_of(one, kind, contender)
            or score_gap.domain != domain
        ):
            yield "another lead", one
        elif (one.rest if kind is Rival.PENALISED else one.score) < laurent.at(score_gap.form, one.i, one.n):
            yield "not even that lead", one
    pairs = sum(len(competition.pairs) for competition in competitions.values())
    if len(score_gaps) != pairs or score_gaps.keys() - needed:
        yield "pairs that never compete", score_gaps.keys() - needed
    for competition in competitions.values():
        if any(own < 0 for form in (competition.apart, competition.both) for own in form.values()):
            yield "negative factors", competition
    room: dict[tuple[int | None, int], list[Fraction]] = defaultdict(list)
    for (cell, i, n), found in queries.items():
        for number, sizes in enumerate(zip(*found, strict=True)):
            bound = laurent.at(competitions[cell].rows[number].query, i, n)
            room[cell, number].append(bound - max(map(abs, sizes)))
    if any(min(of_row) != 0 for of_row in room.values()):
        yield "the sizes of queries", room


# Contests --------------------------------------------------------------------------------------------

ODDLY: tuple[Form, Form] = ({"1": 2, "sign": 1}, {"1": 3})
"""A row whose query depends on the parity of i; every position has the same key."""

UP, DOWN = ({"1": 4}, {"i": 1}), ({"1": 4}, {"i": -1})
UP_INVERSE, DOWN_INVERSE = {"1/i": -1}, {"1/i": 1}
NO_B = {"b": -1}

CONTENDERS = [
    Contender(SELECT, LEFT, [UP, ({"i": 8}, NO_B)]),
    Contender(SELECT, LEFT, [({"1": 3}, {"i": -1}), ({"n": 9}, {"a": 1, "b": 3})]),
    Contender(SELECT, RIGHT, [DOWN, ({"n": 8}, NO_B), ODDLY]),
    Contender(SELECT, RIGHT, [UP, ({"n": 11}, NO_B)]),
    Contender(SELECT, ALL, [UP, ({"n": 8}, NO_B)]),
    Contender(SELECT, ALL, [({"1": 2}, {"in": -1}), ({"n^2": 6}, {"b": -2})], growth=1),
    Contender(SELECT, LEFT, [({"i^2": 4}, UP_INVERSE), ({"i^2": 8}, NO_B)], -1),
    Contender(SELECT, LEFT, [({"i^2": 4}, DOWN_INVERSE), ({"i^2": 9}, NO_B)], -1),
    Contender(SELECT, RIGHT, [({"n^2": 4}, DOWN_INVERSE), ({"n^2": 8}, NO_B)], -1),
    Contender(SELECT, ALL, [({"n^2": 5}, UP_INVERSE), ({"n^2": 9}, NO_B)], -1),
    Contender(SELECT, Masking.STRICT_FUTURE, [UP, ({"i": 8}, NO_B)]),
    Contender(SELECT, Masking.STRICT_PAST, [({"n^2": 4}, DOWN_INVERSE), ({"n^2": 8}, NO_B)], -1),
    Contender(SELECT, LEFT, [UP]),
    Contender(SELECT, LEFT, [UP, ({"i": 8}, {"b": -1, "c": -3})], symbols=("a", "b", "c")),
    Contender(
        SELECT, ALL, [DOWN, ({"n": 9}, {"a": -2, "b": 2})], values=({"sign": 1},), symbols=("a", "b", "c")
    ),
    # Where all values of a level agree, it does not matter which of its positions wins.
    Contender(SELECT, LEFT, [UP, ({"i": 8}, NO_B)], values=({"a": 1},)),
    Contender(SELECT, LEFT, [UP, ({"i": 8}, NO_B)], values=({"sign of a": 1},)),
    Contender(SELECT, ALL, [DOWN, ({"n": 8}, {"b": 1})], values=({"sign of a": 1, "b": 2},)),
    Contender(SELECT, LEFT, [UP, ({"i": 8}, NO_B)], values=({"a": 1}, {"sign of a": 1})),
    Contender(SELECT, LEFT, [UP, ({"i": 8}, NO_B)], values=({"sign": 1}, {"a": 1})),
    Contender(SELECT, RIGHT, [UP], values=({"1": 5},)),
    Contender(NEIGHBOUR, LEFT, [UP, ({"sign": -6}, {"sign": 1})]),
    Contender(NEIGHBOUR, LEFT, [UP, ({"i sign": -6}, {"sign": 1}), ODDLY]),
    Contender(NEIGHBOUR, LEFT, [({"i^2": 4}, UP_INVERSE), ({"sign": -9}, {"sign": 1})], -1),
    Contender(NEIGHBOUR, RIGHT, [DOWN, ({"n sign": -6}, {"sign": 1}), ODDLY]),
    Contender(NEIGHBOUR, RIGHT, [({"n^2": 4}, DOWN_INVERSE), ({"n^2 sign": -9}, {"sign": 1}), ODDLY], -1),
]


@pytest.mark.sweep(10)
@pytest.mark.parametrize("number", range(len(CONTENDERS)))
def test_every_two_positions_that_compete_are_a_pair_with_its_least_lead(number: int) -> None:
    contender = CONTENDERS[number]
    own, _, competitions = contender.fact()
    assert {competition.power for competition in competitions.values()} == {contender.power}
    level = [one for one in rivals(own, contender) if kind_of(one, contender) is Rival.FARTHER]
    steps = min(abs(one.w - one.j) for one in level)
    assert {competition.steps for competition in competitions.values()} == {steps}
    assert list(wrong(own, contender, competitions)) == []
