"""Counters between two bounds: found wherever they are, and their formulas against the automata."""

from __future__ import annotations

import random

import pytest

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.decomposing.bounded import MOST_RANGES, bounded_counter
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Word, parse_alphabet, words_of_length
from attemper.networks.regime import Regime
from tests.support.drawn import automata
from tests.support.drawn.counters import Rule, random_rule


def wrong_words(counter: BoundedCounter, dfa: Dfa, seed: int) -> list[Word]:
    """All short words, random long ones, and ones that stay inside for long, with another prefix accepted."""
    formula, draw = counter_to_formula(counter), random.Random(seed)
    symbols = dfa.alphabet.symbols
    words = [w for n in range(1, 6 if len(symbols) < 4 else 5) for w in words_of_length(dfa.alphabet, n)]
    words += [tuple(draw.choices(symbols, k=40)) for _ in range(5)]
    words += [automata.wandering(dfa, draw, 60) for _ in range(10)]
    return [word for word in words if truth(formula, word) != dfa.prefixes(word)]


def is_proved(counter: BoundedCounter, dfa: Dfa, regime: Regime = Regime.UNBOUNDED) -> bool:
    language = TemporalLanguage(counter_to_formula(counter), At.LAST, dfa.accepts(()))
    compiled = compile_language(language, dfa.alphabet, regime)
    assert sum(1 for layer in compiled.soft.layers if layer.heads) <= counter.sublayers
    try:
        prove(compiled.soft, dfa, compiled.realisation)
    except UnprovenError:
        return False
    return True


@pytest.mark.sweep(12)
@pytest.mark.parametrize("seed", range(60))
def test_random_counters(seed: int) -> None:
    """Those that are found are right on words, and the checker proves their networks for all words."""
    draw = random.Random(f"counter {seed}")
    dfa = random_rule(draw).dfa()
    counter = bounded_counter(dfa)
    if counter is not None:
        assert not wrong_words(counter, dfa, seed)
        assert is_proved(counter, dfa, draw.choice(list(Regime)))


def test_most_random_counters_are_found() -> None:
    """Others have one state or several, as minimal automata, where the rule has another number of them."""
    found = [bounded_counter(random_rule(random.Random(f"counter {seed}")).dfa()) for seed in range(200)]
    assert sum(counter is not None for counter in found) >= 80
    assert any(counter is not None and counter.accepts_outside for counter in found)
    assert any(counter is not None and counter.is_monotone for counter in found)
    assert any(counter is not None and None in counter.weights for counter in found)
    assert any(counter is not None and len(counter.accepting) > 1 for counter in found)


@pytest.mark.parametrize("depth", [1, 2, 6, 98])
def test_brackets(depth: int) -> None:
    dfa = automata.dyck(depth)
    counter = bounded_counter(dfa)
    assert counter == BoundedCounter(dfa.alphabet, (1, -1), 0, depth, ((0, 0),), accepts_outside=False)
    assert not wrong_words(counter, dfa, depth)
    assert is_proved(counter, dfa)


@pytest.mark.parametrize(
    ("pattern", "formula"),
    [
        ("(b*a){0,7}b*", "#<[a] <= 7"),
        ("~((b*a){0,7}b*)", "!#<[a] <= 7"),
        ("(a|b){3,5}|(a|b){7}", "H !c & #<[a | b] <= 7 & (#<[a | b] >= 3 & #<[a | b] <= 5 | #<[a | b] == 7)"),
        ("(a(a(ab)*b)*b)*", "H !c & H (#<[a] - #<[b] >= 0 & #<[a] - #<[b] <= 3) & #<[a] - #<[b] == 0"),
        ("(bba)*", "H !c & H (2*#<[a] - #<[b] >= -2 & 2*#<[a] - #<[b] <= 0) & 2*#<[a] - #<[b] == 0"),
    ],
)
def test_what_the_formulas_look_like(pattern: str, formula: str) -> None:
    letters = "ab" if "c" not in formula else "abc"
    dfa = parse_regex(pattern, parse_alphabet(letters))
    counter = bounded_counter(dfa)
    assert counter is not None
    assert show(counter_to_formula(counter)) == formula
    assert not wrong_words(counter, dfa, 1)
    assert is_proved(counter, dfa)


@pytest.mark.parametrize(
    "pattern", ["[]", ".*", "()", "a*", "~(a*)", "a*b", ".*aa.*", "(aa)*", "(a|b)*a", "((a|b)(a|b))*"]
)
def test_what_is_no_counter(pattern: str) -> None:
    assert bounded_counter(parse_regex(pattern, parse_alphabet("ab"))) is None


def test_a_counter_that_stays_at_its_bound_is_none() -> None:
    """Saturation: the number goes on from the bound."""
    dfa = automata.explored(
        "ab", 0, lambda q, x: min(int(str(q)) + 1, 3) if x == "a" else 0, lambda q: q == 3
    )
    assert bounded_counter(dfa) is None


def test_two_ways_out_are_none() -> None:
    """Above the range words are accepted, below it they are rejected."""

    def move(state: object, symbol: str) -> object:
        after = state + (1 if symbol == "a" else -1) if isinstance(state, int) else state
        return {4: "above", -1: "below"}.get(after, after)  # type: ignore[call-overload]

    assert bounded_counter(automata.explored("ab", 0, move, lambda q: q == "above")) is None  # type: ignore[arg-type]


def test_too_many_ranges_are_refused() -> None:
    def alternating(ranges: int) -> Dfa:
        return Rule((1, -1), 0, 2 * ranges, frozenset(range(1, 2 * ranges, 2)), False).dfa()

    most = bounded_counter(alternating(MOST_RANGES))
    assert most is not None
    assert is_proved(most, alternating(MOST_RANGES))
    assert bounded_counter(alternating(MOST_RANGES + 1)) is None


@pytest.mark.sweep(32)
@pytest.mark.parametrize("seed", range(150))
def test_random_automata_that_look_like_counters(seed: int) -> None:
    """One move of a counter is changed: it is no counter any more, or another one that is right."""
    draw = random.Random(f"almost {seed}")
    dfa = random_rule(draw).dfa()
    moves = [list(row) for row in dfa.moves]
    state, letter = draw.randrange(len(moves)), draw.randrange(len(moves[0]))
    moves[state][letter] = draw.randrange(len(moves))
    changed = minimal(Dfa(dfa.alphabet, tuple(map(tuple, moves)), dfa.start, dfa.accepting))
    counter = bounded_counter(changed)
    if counter is not None:
        assert not wrong_words(counter, changed, seed)


# Which way is taken ----------------------------------------------------------------------------------


def test_a_cascade_is_taken_if_it_has_as_few_layers() -> None:
    assert not isinstance(decompose(automata.dyck(5)).chosen, BoundedCounter)
    found = decompose(automata.dyck(6))
    assert isinstance(found.chosen, BoundedCounter)
    assert found.chosen.sublayers == 3
    assert [(one.name, one.sublayers) for one in found.alternatives if one.rows is not None] == [
        ("a counter", 3)
    ]
    assert all(one.sublayers >= 4 for one in found.alternatives[:-1] if one.sublayers is not None)
    assert not isinstance(decompose(automata.dyck(6), CascadeCaps(counter=False)).chosen, BoundedCounter)


@pytest.mark.sweep(0)
def test_a_counter_is_taken_where_a_cascade_is_refused() -> None:
    dfa = automata.dyck(198)
    assert isinstance(decompose(dfa).chosen, BoundedCounter)
    with pytest.raises(UnsupportedError, match="beyond the cap"):
        decompose(dfa, CascadeCaps(counter=False))
