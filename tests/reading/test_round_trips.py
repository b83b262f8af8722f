"""Networks read back: the automaton is the one that the source has by definition, with the empty word."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice, product

import pytest

import attemper
from attemper.attention_program.machine import output
from attemper.checker.names import UnprovenError
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet, parse_alphabet
from attemper.reading.programs import read_program
from attemper.workbench.decompiled import Decompiled
from tests.support.drawn.regexes import Expression, random_expressions
from tests.support.judges.past_automata import Table, drawn, least, table_of
from tests.support.judges.read_back import decompiled, wrong_words
from tests.support.oracles.raw_forward import all_words
from tests.support.slowly import mostly_slow

LETTERS = "abc"

REGIMES = ("unbounded", "temperature", "decoder")

HUNDREDS = mostly_slow(range(0, 1000, 25), fast=(400,))
"""The first seeds of runs of 25 formulas."""


def read_back(formula: Formula, regime: str, empty: str = "reject") -> Decompiled:
    model = attemper.compile(show(formula), LETTERS, regime=regime, at="last", empty=empty)  # type: ignore[arg-type]
    return decompiled(model.network)


def table(dfa: Dfa) -> Table:
    """The automaton as the oracle has them, minimal by the oracle's own partitions."""
    assert dfa.start == 0
    own = Table(dfa.moves, dfa.accepting)
    assert len(least(own).moves) == len(own.moves), "it is not minimal"
    return least(own)


def formula_of(seed: int, most: int = 12) -> Formula:
    draw = random.Random(seed)
    return drawn(draw, draw.randint(0, most), LETTERS)


# The oracle --------------------------------------------------------------------------------------------


@pytest.mark.sweep(15)
@pytest.mark.parametrize("seed", range(40))
def test_the_oracle_is_the_meaning(seed: int) -> None:
    formula = formula_of(seed, 7)
    found = table_of(formula, LETTERS, accepts_empty=seed % 2 == 0)
    assert found.accepts(()) == (seed % 2 == 0)
    words = [word for n in range(1, 6) for word in product(range(3), repeat=n)]
    for word in random.Random(seed).sample(words, 60):
        assert found.accepts(word) == truth(formula, tuple(LETTERS[k] for k in word))[-1], word


def test_the_oracle_makes_states_one_that_no_word_tells_apart() -> None:
    twice = Table(((1, 2), (0, 2), (1, 0)), frozenset({2}))
    assert least(twice) == Table(((0, 1), (0, 0)), frozenset({1}))


# Formulas ----------------------------------------------------------------------------------------------


@pytest.mark.sweep(0)
@pytest.mark.parametrize("first", HUNDREDS)
def test_random_past_formulas(first: int) -> None:
    """At most one of 25 is refused, and none is another language."""
    refused = []
    for seed in range(first, first + 25):
        formula, empty = formula_of(seed), seed % 2 == 0
        try:
            found = read_back(formula, REGIMES[seed % 3], "accept" if empty else "reject")
        except UnprovenError as error:
            refused.append((seed, str(error)))
            continue
        assert found.automaton is not None, (seed, show(formula))
        assert table(found.automaton) == table_of(formula, LETTERS, empty), (seed, show(formula))
    assert len(refused) <= 1, refused


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5000, 5040))
def test_formulas_with_fifty_operators(seed: int) -> None:
    """Their automata by definition have too many states before they are made minimal: words are compared."""
    formula = drawn(random.Random(seed), 50, LETTERS)
    found = read_back(formula, REGIMES[seed % 3]).automaton
    assert found is not None
    draw = random.Random(seed)
    for length in (1, 2, 3, 5, 8, 13, 21, 34):
        word = tuple(draw.choice(LETTERS) for _ in range(length))
        assert found.prefixes(word) == truth(formula, word)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize(
    "text",
    [
        # A count of the positions after the first, and one more at the first: it rises only.
        "c -> 0 != #<[#<[b] % 3 = 0]",
        "#<[#<[b] % 2 = 0] == 3",
        "3 > 2*#<[0 == #<[O a]]",
        # A remainder that no first position has, beside a count that the first position decides, too.
        "pos % 3 = 0 & #<[a] > 3",
        "(3*#<[b] % 2 = 1) T pos % 4 = 3",
        # A sum of ones is the position.
        "#<[(2*#<[c] - 2) % 2 = 0] >= 3",
        "#<[true] > 4",
        # A head that reads far back has a case for each remainder of the place.
        "Y Y Y Y a",
        "O (a & Y b & Y Y b & Y Y Y a & Y Y Y Y b)",
        # What two heads of a layer say together.
        "WY H (a xor (first <-> c))",
        "true",
        "false",
        "first",
        "a",
    ],
)
def test_formulas_that_were_refused_or_might_be(text: str, regime: str) -> None:
    formula = parse(text, Alphabet(tuple(LETTERS)))
    found = read_back(formula, regime).automaton
    assert found is not None
    assert table(found) == table_of(formula, LETTERS)


# Expressions -------------------------------------------------------------------------------------------

EXPRESSIONS = (
    "(ab)*", "(aa)*", "a*b", "~(a|b)+", "(a|b)*", "a{2,3}", "(aab|b)*", "((a|b)(a|b))*a",
    "b*ab*ab*", "(a(ab)*b)*"
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(EXPRESSIONS)))
def test_expressions(number: int) -> None:
    regex = EXPRESSIONS[number]
    source = minimal(parse_regex(regex, parse_alphabet("ab")))
    model = attemper.compile(attemper.regex(regex, "ab"), regime=REGIMES[number % 3])  # type: ignore[arg-type]
    assert decompiled(model.network).automaton == source


@pytest.mark.sweep(0)
@pytest.mark.parametrize(
    ("number", "regex"),
    [
        # A bit that random words do not have, beside two groups.
        (0, "c(a|b)(a+){3}((ac)*|c*|cb)"),
        # The output is a bit, once tests of the place are decided at the first position.
        (2, "((ba)*)?|(b+)*a*a*|aa*a"),
    ],
)
def test_expressions_that_were_refused(number: int, regex: str) -> None:
    source = minimal(parse_regex(regex, parse_alphabet(LETTERS)))
    model = attemper.compile(source, regime=REGIMES[number])  # type: ignore[arg-type]
    assert decompiled(model.network).automaton == source


def test_a_step_that_others_are_made_of_is_read_under_its_name() -> None:
    """Its negation is made before the bit has a name, and again from the name."""
    model = attemper.compile("a & c <-> 2*#<[b] <= 3", LETTERS, at="last")
    said = read_program(model.network, 0)
    assert said.groups
    for word in product(LETTERS, repeat=5):
        assert output(said.program, word)[-1] == model.accepts(word)


@pytest.mark.sweep(0)
def test_a_memory_of_seven_letters() -> None:
    model = attemper.compile(attemper.regex("(a|b)*a(a|b){6}", "ab"))
    found = decompiled(model.network).automaton
    assert found is not None
    assert (found, len(found.moves)) == (minimal(parse_regex("(a|b)*a(a|b){6}", parse_alphabet("ab"))), 128)


SMALL = 20
"""The expressions of the campaign have automata with at most so many states."""


def small_expressions(part: int, count: int) -> Iterator[Expression]:
    """Random expressions whose automata are small; those of one part are drawn together."""
    small = (own for own in random_expressions(part, 10 * count) if len(own.dfa.moves) <= SMALL)
    return islice(small, count)


@pytest.mark.parametrize("part", mostly_slow(range(10), fast=()))
def test_two_hundred_expressions(part: int) -> None:
    refused = []
    for number, expression in enumerate(small_expressions(part, 20)):
        try:
            model = attemper.compile(expression.dfa, regime=REGIMES[number % 3])  # type: ignore[arg-type]
        except UnsupportedError:
            continue  # a group that is not solvable, or a cascade that is too large
        try:
            found = decompiled(model.network).automaton
        except UnprovenError as error:
            refused.append((expression.text, str(error)))
            continue
        assert found == minimal(expression.dfa), expression.text
    assert not refused


def brackets(depth: int) -> Dfa:
    """Balanced brackets, at most so many open at a time."""
    lost = depth + 1
    moves = [(state + 1, state - 1 if state else lost) for state in range(depth + 1)]
    return minimal(Dfa(Alphabet(("(", ")")), (*moves, (lost, lost)), 0, frozenset({0})))


@pytest.mark.parametrize("depth", [1, 8, 30, 98])
def test_brackets_by_counting(depth: int) -> None:
    opened, closed = "#<['(']", "#<[')']"
    text = f"H ({opened} >= {closed} & {opened} <= {closed} + {depth}) & {opened} == {closed}"
    model = attemper.compile(text, "()", empty="accept")
    assert decompiled(model.network).automaton == brackets(depth)


@pytest.mark.parametrize("depth", mostly_slow((2, 8, 30), fast=(2,)))
def test_brackets_by_a_cascade(depth: int) -> None:
    assert decompiled(attemper.compile(brackets(depth)).network).automaton == brackets(depth)


# Counts without bound ----------------------------------------------------------------------------------


def counting(seed: int) -> str:
    draw = random.Random(seed)
    left, right, both = (show(drawn(draw, draw.randint(0, 2), "ab")) for _ in range(3))
    comparison = f"#<[{left}] {draw.choice(['<', '<=', '==', '!='])} #<[{right}] + {draw.randint(0, 2)}"
    return draw.choice([comparison, f"({comparison}) & ({both})", f"O ({comparison})", f"Y ({comparison})"])


@pytest.mark.sweep(0)
@pytest.mark.parametrize("first", mostly_slow(range(0, 150, 15), fast=(0,)))
def test_counts_without_bound_are_refused_or_given_back_as_a_formula(first: int) -> None:
    """Some of the languages are regular all the same: an automaton has to be the network's."""
    kinds: dict[str, int] = {"automaton": 0, "formula": 0, "refused": 0}
    for seed in range(first, first + 15):
        network = attemper.compile(counting(seed), "ab", regime=REGIMES[seed % 3], at="last").network  # type: ignore[arg-type]
        try:
            found = decompiled(network, configurations=1_000)
        except UnprovenError:
            kinds["refused"] += 1
            continue
        assert not wrong_words(network, found.language.definition, list(all_words(2, 7))), counting(seed)
        kinds["formula" if found.automaton is None else "automaton"] += 1
    assert kinds["formula"] > 0


@pytest.mark.parametrize("text", ["#<[a] < #<[b]", "#<[a] == #<[b]", "O (#<[a] > 2*#<[b])"])
def test_what_counts_without_bound_is_no_automaton(text: str) -> None:
    model = attemper.compile(text, "ab")
    found = decompiled(model.network, configurations=500)
    assert found.automaton is None
    for word in all_words(2, 6):
        named = tuple("ab"[k] for k in word)
        assert truth(parse(found.formula, Alphabet(("a", "b"))), named) == truth(
            parse(text, Alphabet(("a", "b"))), named
        )
