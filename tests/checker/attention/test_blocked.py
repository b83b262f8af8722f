"""What is read where nothing matches: no more need be said of that than a range, and floats may lose it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from attemper.attention_program.language import ProgramLanguage
from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import Analysis
from attemper.checker.attention.by_cases import CasesRule
from attemper.checker.attention.competition import RivalPair
from attemper.checker.constructions.select import SelectRule
from attemper.checker.diagrams import Diagram
from attemper.checker.heads import head_fact
from attemper.checker.names import Affine, Range, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rules import HeadFact
from attemper.compiling.pipeline import compile_language
from attemper.exact.balls import ball, precision, upper_bound
from attemper.exact.formats import FLOAT32
from attemper.languages.named.entry import Rasp
from attemper.languages.named.zoo import named
from attemper.languages.rasp.program import parse_rasp
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Masking, Network
from attemper.networks.regime import Regime
from tests.checker.attention.test_by_cases import BACK, TIE, by_cases, cases, equal_letters
from tests.support.drawn.head_cases import LONG, WORDS, Case, fact_of
from tests.support.drawn.heads import ALL, LEFT, Palette, attended, places

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
    rules = fact.rule.rules if isinstance(fact.rule, CasesRule) else (fact.rule,)
    found: list[list[RivalPair]] = []
    for rule in rules:
        assert isinstance(rule, SelectRule)
        assert rule.competition is not None
        found.append(list(rule.competition.pairs))
    return found


@pytest.mark.sweep(18, also=["17"])
@pytest.mark.parametrize("number", range(len(cases())))
def test_what_is_read_is_what_is_said_or_in_the_range(number: int) -> None:
    """Where nothing matches, an average of what is blocked is read, however the weights are."""
    own, head, fact, loose = both(cases()[number])
    (exact,), (output,) = fact.outputs, loose.outputs
    assert (output.spread, output.size, loose.rule.gap) == (exact.spread, exact.size, fact.rule.gap)
    low, high = ends_of(own, output.diagram)
    unsaid = 0
    with precision(100):
        mass = ball(upper_bound(loose.rule.stray(flint.arb(0), flint.arb(1))) * output.spread)
        for place in places(own, head, [*WORDS[:12], LONG]):
            ends = [place.reading.number(end, place.i) for end in (low, high)]
            off = mass if ends[0] == ends[1] else ball(Fraction(1, 2**50))
            assert ball(ends[0]) - off <= attended(place) <= ball(ends[1]) + off
            assert ends[0] == ends[1] or fact.reads_blocked
            unsaid += ends[0] != ends[1]
    assert bool(unsaid) <= fact.reads_blocked == loose.reads_blocked
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


def test_ranges_are_those_of_what_is_blocked_and_have_no_other_name() -> None:
    """Where a is wanted, b is blocked: 2 (-1)^j + 5 [third] there, from -2 to 7; of a it is 1 more."""
    own, _, _, loose = both(equal_letters(STRICT_LEFT, TIE))
    (output,) = loose.outputs
    values = [value for value in own.names.values(output.diagram) if value.parts]
    assert sorted(own.names.bounds(value) for value in values) == [(-2, 7), (-1, 8)]
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
    assert not fact.reads_blocked
    assert loose.outputs == fact.outputs
    _, _, fact, loose = both(replace(case, value={"a": 3, "sign": 1}))
    assert fact.reads_blocked
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
