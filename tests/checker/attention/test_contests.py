"""Levels of positions, and what is read where nothing matches: no more need be said of that than a range."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import permutations, product

import pytest

from attemper.attention_program.language import ProgramLanguage
from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import Analysis
from attemper.checker.attention.bounds import at_corner
from attemper.checker.attention.contests import Contest, contest_of
from attemper.checker.attention.scores import read_head
from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import Affine, Range, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.competition import RivalPair, competition_of
from attemper.checker.rules import HeadFact
from attemper.compiling.pipeline import compile_language
from attemper.exact import laurent
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.formats import FLOAT32
from attemper.languages.named.entry import Rasp
from attemper.languages.named.zoo import named
from attemper.languages.rasp.program import parse_rasp
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Masking, Network
from attemper.networks.regime import Regime
from tests.checker.attention.test_by_cases import BACK, INVERSE, TIE, by_cases, cases, equal_letters
from tests.support.drawn.head_cases import LONG, SELECT, WORDS, Case, fact_of
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Place, attended, places, short_words

STRICT_LEFT, STRICT_RIGHT = Masking.STRICT_FUTURE, Masking.STRICT_PAST


def both(case: Case) -> tuple[Palette, Head, HeadFact, HeadFact]:
    """What is derived of a head, and what is derived of the same one loosely."""
    own, head, fact = fact_of(case)
    return own, head, fact, head_fact(own.names, head, own.stream(), is_loose=True)


def is_loosely_proved(analysis: Analysis) -> bool:
    """Whether no more than a range is said of something."""
    return any(isinstance(quantity, Range) for quantity in analysis.names.quantities)


def ends_of(own: Palette, diagram: Diagram) -> list[Diagram]:
    """The least and the greatest number that a value can be, as diagrams."""
    names = own.names
    return [
        names.diagrams.map(("end", k), lambda value, k=k: Affine(names.bounds(value)[k]), diagram)
        for k in range(2)
    ]


def pairs_of(fact: HeadFact) -> list[list[RivalPair]]:
    """What competes, cell by cell."""
    found: list[list[RivalPair]] = []
    for rule in fact.rules:
        competition = competition_of(rule.said)
        assert competition is not None
        found.append(list(competition.pairs))
    return found


# Levels ---------------------------------------------------------------------------------------------------

SYMBOLS = ("a", "b", "c")
THREE: tuple[Form, Form] = ({"i": 8}, {"b": -1, "c": -2})
LEVELLED: dict[str, Case] = {
    "one level": Case(SELECT, LEFT, [TIE], {"a": 1}),
    "what is blocked": Case(SELECT, LEFT, [TIE, ({"i": 8}, {"b": -1})], {"a": 1}),
    "three levels": Case(SELECT, LEFT, [TIE, THREE], {"a": 1, "b": 2}),
    "in 1/j": Case(SELECT, ALL, [INVERSE, ({"n^2": 8}, {"b": -1})], {"sign": 1}),
    "strictly": Case(SELECT, STRICT_LEFT, [TIE, ({"i": 8}, {"b": -1})], {"a": 1}),
    "of two kinds": Case(SELECT, LEFT, [TIE, ({"i": 8}, {"b": -1}), ({"n": 8}, {"sign": 1})], {"a": 1}),
    "what agrees": Case(SELECT, ALL, [BACK, ({"n": 9}, {"a": -2, "b": 2})], {"a": 1, "first": 1}),
    "the first is best": Case(SELECT, LEFT, [TIE, ({"i": 8}, {"first": 1})], {"a": 1}),
    "the last is best": Case(SELECT, RIGHT, [BACK, ({"n": 8}, {"last": 1, "b": 2})], {"a": 1, "last": 1}),
    "every second": Case(SELECT, LEFT, [TIE, ({"i": 8}, {"sign": -1})], {"sign": 1}),
}


def contest(case: Case) -> tuple[Palette, Contest, list[Place]]:
    """Who competes in a head, and what it sees in short words."""
    own = Palette(SYMBOLS)
    head = own.head(case.construction, case.masking, case.rows, case.value)
    found = contest_of(read_head(own.names, head, own.stream()))
    return own, found, list(places(own, head, short_words(SYMBOLS, 4)))


@pytest.mark.parametrize("name", LEVELLED)
def test_a_score_is_that_of_its_level_and_a_tie_break(name: str) -> None:
    """Up to what is the same for all j; the first level is the best one."""
    _, own, seen = contest(LEVELLED[name])
    forms, level_of = own.levels.forms, own.levels.of_position
    assert len(set(map(str, forms))) == len(forms) == len(own.levels.bits)
    for place in seen:
        i, n = place.i, place.reading.length
        levels = [laurent.at(form, i, n) for form in forms]
        if len(own.masking.visible(i, n)) > 1:
            assert levels == sorted(set(levels), reverse=True)
        rest = {
            score - levels[int(place.reading.number(level_of, j))] - laurent.at(own.tie, i, n) * t
            for j, score in place.scores.items()
            for t in [Fraction(j) ** own.power]
        }
        assert len(rest) <= 1
        for j in place.scores:
            bits = [place.reading.number(bit, j) for bit in own.levels.bits]
            assert bits == [place.reading.number(level_of, j) == k for k in range(len(forms))]


@pytest.mark.parametrize("name", LEVELLED)
def test_a_tie_break_rises_if_larger_positions_win_it(name: str) -> None:
    _, own, seen = contest(LEVELLED[name])
    assert own.masking is own.levels.head.masking.weak
    for place in seen:
        ties = [
            laurent.at(own.tie, place.i, place.reading.length) * Fraction(j) ** own.power
            for j in own.masking.visible(place.i, place.reading.length)
        ]
        assert ties == sorted(ties, reverse=not own.is_rising)


@pytest.mark.parametrize("name", LEVELLED)
def test_levels_agree_if_all_their_positions_have_the_same_values(name: str) -> None:
    case = LEVELLED[name]
    own, found, seen = contest(case)
    values: dict[int, set[Fraction]] = {k: set() for k in range(len(found.levels.forms))}
    for place in seen:
        for j in range(1, place.reading.length + 1):
            level = int(place.reading.number(found.levels.of_position, j))
            values[level].add(place.reading.number(own.sum_of(case.value), j))
    assert found.levels.agreed == {level for level, of_level in values.items() if len(of_level) == 1}


@pytest.mark.parametrize("name", LEVELLED)
def test_levels_are_hopeless_on_which_none_wins(name: str) -> None:
    """That there is a first position, or a last or an odd one, is not known."""
    _, own, seen = contest(LEVELLED[name])
    winning = set()
    for place in seen:
        if place.scores:
            best = max(place.scores, key=lambda j: place.scores[j])
            winning.add(int(place.reading.number(own.levels.of_position, best)))
    hopeless = set(range(len(own.levels.forms))) - winning
    assert own.levels.hopeless <= hopeless
    assert own.levels.hopeless == hopeless or name in {
        "the first is best",
        "the last is best",
        "every second",
    }


def test_a_level_may_be_hopeless_in_one_cell_alone() -> None:
    """Where i has the letter a, it sees one: itself, unless a mask hides it. Elsewhere there may be none."""
    for masking, of_a in ((LEFT, {1}), (ALL, {1}), (STRICT_LEFT, frozenset())):
        own, _, fact, _ = both(by_cases(masking, TIE, ({"n a": 8, "n b": 12}, {"a": 1})))
        cells = {rule.said.levels.head.here: rule.said.levels.hopeless for rule in fact.rules}
        a = own.names.letter("a")
        assert cells == {a: of_a, own.names.negation(a): frozenset()}


@pytest.mark.parametrize(
    ("masking", "corner"),
    [(LEFT, (2, 2)), (STRICT_LEFT, (2, 2)), (ALL, (2, 2)), (RIGHT, (1, 2)), (STRICT_RIGHT, (1, 2))],
)
def test_the_corner_is_the_shortest_word_where_two_are_seen(
    masking: Masking, corner: tuple[int, int]
) -> None:
    form = laurent.plus(laurent.monomial(2, -1, 3), laurent.monomial(0, 1, 100), laurent.constant(-7))
    assert at_corner(form, masking) == laurent.at(form, *corner)
    i, n = corner
    assert len(masking.weak.visible(i, n)) == 2
    assert not any(len(masking.weak.visible(k, n - 1)) > 1 for k in range(1, n))


# Who wins -------------------------------------------------------------------------------------------------

Drawn = dict[str, Fraction]
"""Factors of i, n, their products, and 1."""

GROWN = {"1": (0, 0), "i": (1, 0), "n": (0, 1), "i^2": (2, 0), "in": (1, 1), "n^2": (0, 2)}


def drawn_tie(rng: random.Random) -> Drawn:
    """About 0 in the shortest words, in one of them at least, or far from it."""
    a, b, little = (
        rng.choice((0, 1, 1, 2)),
        rng.choice((-1, 0, 0, 1)),
        Fraction(rng.choice((-1, 0, 1, 20)), 10),
    )
    i, n = rng.choice(((1, 2), (2, 2)))
    constant = rng.choice((Fraction(4), little - a * i - b * n))
    return {"i": Fraction(a), "n": Fraction(b), "1": constant}


def drawn_level(rng: random.Random, tie: Drawn, reach: str) -> Drawn:
    """Enough for any tie-break of this size, or just more than nothing, or a multiple of the tie-break."""
    match rng.randrange(3):
        case 0:
            return {reach: Fraction(rng.choice((2, 8, 20))), "1": Fraction(rng.randrange(-12, 4))}
        case 1:
            return {"n^2": Fraction(8), "i^2": Fraction(rng.choice((-7, 0)))}
        case _:
            by_n = {"i": "in", "n": "n^2", "1": "n"}
            return {by_n[name]: own for name, own in tie.items()} | {"1": Fraction(rng.choice((1, 7)), 2)}


def at_place(form: Drawn, i: int, n: int) -> Fraction:
    return sum((own * i ** GROWN[name][0] * n ** GROWN[name][1] for name, own in form.items()), Fraction(0))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("masking", [LEFT, RIGHT, ALL])
def test_the_winner_leads_by_what_is_said_wherever_it_is(masking: Masking, seed: int) -> None:
    """On each level, over whoever is on the same or a worse one: on the far side, or on the near side."""
    rng = random.Random(f"{masking} {seed}")
    proved = 0
    for _ in range(60):
        tie, direction = drawn_tie(rng), rng.choice((1, -1))
        levels = [drawn_level(rng, tie, "i" if masking is LEFT else "n") for _ in range(rng.choice((1, 2)))]
        own = Palette(SYMBOLS)
        keys: list[Form] = [{"b": -1, "c": -1}, {"c": -1}]
        rows = [(tie, {"i": direction}), *zip(levels, keys, strict=False)]
        head = own.head(SELECT, masking, rows, {"a": 1})
        try:
            found = contest_of(read_head(own.names, head, own.stream()))
            behind, ahead = found.behind(), found.ahead()
        except UnprovenError:
            continue
        proved += len(ahead)
        assert behind.step is not None
        for n in range(2, 7):
            for i in range(1, n + 1):
                size = direction * at_place(tie, i, n)
                # a alone is not pushed, b by the first form, c by both: who is pushed least is best.
                pushed = [Fraction(0)]
                for level in levels:
                    pushed.append(pushed[-1] + at_place(level, i, n))
                known = [laurent.at(form, i, n) for form in found.levels.forms]
                if len(masking.visible(i, n)) > 1:
                    assert known == sorted(set(known), reverse=True)
                for w, j in permutations(masking.visible(i, n), 2):
                    nearer = (j > w) is found.is_rising
                    for better, worse in product(set(pushed), repeat=2):
                        lead = worse - better + size * (w - j)
                        if better > worse:
                            continue
                        if not nearer:
                            assert lead >= behind.start + behind.step * (abs(w - j) - 1) > 0
                        elif better < worse:
                            ((start, step),) = ((own.start, own.step) for own in ahead)
                            assert step is not None
                            assert lead >= start + step * (abs(w - j) - 1) > 0
    assert proved > 2


# What is read where nothing matches -----------------------------------------------------------------------


@pytest.mark.sweep(18, also=["17"])
@pytest.mark.parametrize("number", range(len(cases())))
def test_what_is_read_is_what_is_said_or_in_the_range(number: int) -> None:
    """Where nothing matches, an average of what is blocked is read, however the weights are."""
    own, head, fact, loose = both(cases()[number])
    (exact,), (output,) = fact.outputs, loose.outputs
    assert (output.spread, output.size) == (exact.spread, exact.size)
    assert [(rule.behind, rule.ahead) for rule in loose.rules] == [
        (rule.behind, rule.ahead) for rule in fact.rules
    ]
    low, high = ends_of(own, output.diagram)
    unsaid = 0
    with precision(100):
        mass = ball(upper_bound(loose.stray_mass) * output.spread)
        for place in places(own, head, [*WORDS[:12], LONG]):
            ends = [place.reading.number(end, place.i) for end in (low, high)]
            off = mass if ends[0] == ends[1] else ball(Fraction(1, 2**50))
            assert ball(ends[0]) - off <= attended(place) <= ball(ends[1]) + off
            unsaid += ends[0] != ends[1]
    assert bool(unsaid) <= (output.diagram != exact.diagram)
    for few, all_ in zip(pairs_of(loose), pairs_of(fact), strict=True):
        assert {str(pair.winner) + str(pair.other) for pair in few} <= {
            str(pair.winner) + str(pair.other) for pair in all_
        }


def test_a_range_is_said_where_nothing_matches_and_nowhere_else() -> None:
    """At i = 2 of `ab`, which looks for a b before it; the first position sees nothing, and reads 0."""
    own, _, fact, loose = both(equal_letters(STRICT_LEFT, TIE))
    names = own.names
    (exact,), (output,) = fact.outputs, loose.outputs
    unsaid = names.where("unsaid", lambda value: bool(value.parts), output.diagram)
    wanted = names.false
    for letter in "ab":
        before = names.positions.shifted(names.positions.exists(LEFT, names.letter(letter)), -1, names.true)
        wanted = names.either(wanted, names.both(names.letter(letter), names.negation(before)))
    assert unsaid == wanted
    said = names.negation(wanted)
    assert names.product(said, output.diagram) == names.product(said, exact.diagram)


def test_of_several_levels_what_is_read_on_the_best_one_is_said() -> None:
    """An a at even j, then a b there, then an a at odd j: on a lower level any of the others is read."""
    pushes = [({"i": 8}, {"b": -1}), ({"n": 8}, {"sign": 1})]
    own, _, fact, loose = both(Case(SELECT, LEFT, [({"1": 4}, {"i": 1}), *pushes], {"a": 1}))
    names = own.names
    even = names.equals(names.sign, Fraction(1))
    seen = names.positions.exists(LEFT, names.both(names.letter("a"), even))
    (exact,), (output,) = fact.outputs, loose.outputs
    unsaid = names.where("unsaid", lambda value: bool(value.parts), output.diagram)
    assert unsaid == names.negation(seen)
    assert names.product(seen, output.diagram) == names.product(seen, exact.diagram)


def test_ranges_are_those_of_what_is_blocked_and_have_no_other_name() -> None:
    """Where a is wanted, b is blocked: 2 (-1)^j + 5 [third] there, from -2 to 7; of a it is 1 more."""
    own, _, _, loose = both(equal_letters(STRICT_LEFT, TIE))
    (output,) = loose.outputs
    values = [value for value in own.names.values(output.diagram) if value.parts]
    assert sorted(own.names.bounds(value) for value in values) == [
        (Fraction(-2), Fraction(7)),
        (Fraction(-1), Fraction(8)),
    ]
    assert len({number for value in values for number, _ in value.parts}) == 2


@pytest.mark.parametrize("case", [equal_letters(STRICT_LEFT, TIE), equal_letters(STRICT_RIGHT, BACK)])
def test_nothing_is_asked_of_pairs_whose_winner_is_blocked(case: Case) -> None:
    """In each cell there is a row by whose keys all winners match; others win where none of them is seen."""
    _, _, fact, loose = both(case)
    for pairs, are_fewer in ((pairs_of(loose), True), (pairs_of(fact), False)):
        for own in pairs:
            assert any(all(pair.winner[row] == 0 for pair in own) for row in (1, 2)) is are_fewer


def test_what_agrees_at_all_blocked_positions_is_said() -> None:
    """A value that is 0 wherever the bit fails that is looked for needs no range."""
    case = replace(by_cases(ALL, TIE, ({"n": 8}, {"b": -1})), value={"a": 3})
    _, _, fact, loose = both(case)
    assert loose.outputs == fact.outputs
    _, _, fact, loose = both(replace(case, value={"a": 3, "sign": 1}))
    assert loose.outputs != fact.outputs


# Networks -------------------------------------------------------------------------------------------------


def language_of(name: str) -> ProgramLanguage:
    """The program of an entry of the zoo."""
    text = next(source.text for source in named(name).sources if isinstance(source, Rasp))
    found = parse_rasp(text)
    return ProgramLanguage(found.program, found.at, found.accepts_empty)


def compiled(name: str, regime: Regime) -> tuple[ProgramLanguage, Network]:
    language = language_of(name)
    return language, compile_language(language, language.program.alphabet, regime).soft


@pytest.mark.parametrize("regime", [Regime.TEMPERATURE, Regime.DECODER])
@pytest.mark.parametrize(
    "name",
    [
        "k-hop-1",
        "mqar-symbol",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("k-hop-2", "k-hop-3", "k-hop-3-symbol")),
    ],
)
def test_one_head_for_all_cases_goes_as_far_as_a_head_for_each(name: str, regime: Regime) -> None:
    language, network = compiled(name, regime)
    assert {len(layer.heads) for layer in network.layers} == {1}
    analysis = prove(network, language)
    assert is_loosely_proved(analysis)
    length, _ = horizon_of(analysis, FLOAT32, Kernel.NUMERATOR_FIRST, 250_000)
    assert length == 250_000


def with_last(network: Network, layer: Layer, coordinates: int) -> Network:
    more = tuple(f"more {k}" for k in range(coordinates))
    return replace(network, layers=(*network.layers[:-1], layer), coordinates=(*network.coordinates, *more))


def test_a_gate_that_leans_on_what_is_blocked_is_proved_of_exact_heads_alone() -> None:
    """It adds [a is read] & [something else is read]: never both, but two ranges do not say so."""
    language, network = compiled("k-hop-1", Regime.TEMPERATURE)
    layer, own = network.layers[-1], len(network.coordinates)
    (head,) = layer.heads
    letters = {form: target for form, target in zip(head.values, head.targets, strict=True)}
    (form,) = network.embedding[0]
    other = tuple(sorted(network.embedding[1] + network.embedding[2]))
    reads_a = letters[form,]
    head = replace(head, values=(*head.values, other), targets=(*head.targets, own))
    both_read: LinearForm = ((reads_a, Fraction(1)), (own, Fraction(1)))
    units = tuple(
        Hidden(both_read, -Fraction(edge, 4), ((network.output, factor),))
        for edge, factor in ((6, Fraction(4)), (7, Fraction(-4)))
    )
    changed = with_last(network, replace(layer, heads=(head,), hidden=(*layer.hidden, *units)), 1)
    analysis = prove(changed, language)
    assert not is_loosely_proved(analysis)
    assert horizon_of(analysis, FLOAT32, Kernel.NUMERATOR_FIRST)[0] < 100_000


@pytest.mark.parametrize("mistake", ["no guard", "another case's guard", "another case", "no case"])
def test_guards_are_needed_as_they_are(mistake: str) -> None:
    """Each gate is [case] & [the case's guard] & [value]: three literals, at least 9/4 together."""
    language, network = compiled("k-hop-1", Regime.TEMPERATURE)
    layer = network.layers[-1]
    gates = [[part[0] for part in unit.form] for unit in layer.hidden]
    (value,) = set.intersection(*map(set, gates))
    heres = {c for form in network.embedding for c, _ in form}
    here, guard = (
        [next(c for c in gate if c != value and (c in heres) is own) for gate in gates]
        for own in (True, False)
    )
    hidden = []
    for k, unit in enumerate(layer.hidden):
        near = (k + 2) % len(gates)
        swap = {"another case's guard": {guard[k]: guard[near]}, "another case": {here[k]: here[near]}}
        left_out = {"no guard": guard[k], "no case": here[k]}.get(mistake)
        moved = swap.get(mistake, {})
        form = sorted((moved.get(c, c), factor) for c, factor in unit.form if c != left_out)
        hidden.append(replace(unit, form=tuple(form), bias=unit.bias + (left_out is not None)))
    with pytest.raises(UnprovenError):
        prove(with_last(network, replace(layer, hidden=tuple(hidden)), 0), language)
