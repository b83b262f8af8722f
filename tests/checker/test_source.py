"""The normal form of a formula is its truth, at every position of every short word."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping

import pytest

import attemper
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.proof import prove
from attemper.checker.source import meanings_of
from attemper.languages.temporal.meaning import truth_of_subformulas
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Formula,
    Symbol,
    Unary,
    UnaryOperator,
    linear_term,
)
from attemper.languages.words import Alphabet, words_of_length
from tests.support.drawn.samples import FormulaSampler
from tests.support.judges.derived import Reading

ABC = Alphabet(("a", "b", "c"))
AB = Alphabet(("a", "b"))


def check(formula: Formula, alphabet: Alphabet, longest: int) -> None:
    """In the normal form, and in that with cases by places, where there are any."""
    names = Formulas(alphabet.symbols).names
    meanings = meanings_of(names.positions, formula)
    compare(names, meanings, formula, alphabet, longest)
    if expand := names.positions.mixed_places():
        names = Formulas(alphabet.symbols, expand).names
        compare(names, meanings_of(names.positions, formula), formula, alphabet, longest)


def compare(
    names: Names, meanings: Mapping[Formula, Diagram], formula: Formula, alphabet: Alphabet, longest: int
) -> None:
    for word in itertools.chain(*(words_of_length(alphabet, n) for n in range(1, longest + 1))):
        reading = Reading(names, word)
        for part, bits in truth_of_subformulas(formula, word).items():
            found = [reading.number(meanings[part], i) for i in range(1, len(word) + 1)]
            assert found == list(bits), (part, word)


A, B = Symbol("a"), Symbol("b")


@pytest.mark.parametrize("operator", [*UnaryOperator, *BinaryOperator], ids=str)
def test_every_operator_of_letters(operator: UnaryOperator | BinaryOperator) -> None:
    formula = Unary(operator, A) if isinstance(operator, UnaryOperator) else Binary(operator, A, B)
    check(formula, ABC, 4)


PLACES_ALONE = {
    "O (first xor last)": "O (first | last)",
    "F (first xor last)": "F (first & last)",
    "H (first <-> even(pos))": "H (first <-> odd(pos))",
    "O (even(pos) xor last)": "O (even(pos) | last)",
    "O (first xor pos = 3)": "O (first xor pos = 2)",
    "O (prime(pos) xor first xor last)": "O (prime(pos) xor last)",
    "O (first xor (a & last))": "O (first xor (b & last))",
    "O (first xor last) & G (last xor even(pos))": "O (first xor last)",
}
"""Each with what it is not."""

COUNTS = (
    "#<[a]",
    "#>[b]",
    "#[a]",
    "#<[a] + #>[b]",
    "#<[a] - #[b]",
    "#>[a] + #[b]",
    "pos",
    "len",
    "len - 2*pos",
    "2*#<[a] - pos",
)


@pytest.mark.sweep(32)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("operator", ComparisonOperator)
def test_every_comparison_with_numbers(count: str, operator: ComparisonOperator) -> None:
    comparison = parse(f"{count} >= 0", AB)
    assert isinstance(comparison, Comparison)
    for number in (-1, 0, 1, 2, 3):
        check(Comparison(operator, comparison.left, linear_term((), number)), AB, 4)


@pytest.mark.parametrize(
    "text",
    [
        "pos % 3 = 1",
        "even(len)",
        "odd(pos + len)",
        "prime(2*pos - len)",
        "square(len - pos)",
        "even(#<[a])",
        "odd(#>[a] + 1)",
        "prime(#[a])",
        "square(2*#<[b] - 1)",
        "#<[a] % 3 = 2",
        "-1*#[b] % 3 = 2",
        "prime(#<[true])",
        "even(pos - pos)",
        "even(#<[false] + pos)",
        "5 >= 5",
        "prime(7)",
        "even(7)",
        "#<[false] >= 0",
        "#<[false] > 0",
    ],
)
def test_numerical_predicates(text: str) -> None:
    check(parse(text, AB), AB, 5)


@pytest.mark.parametrize(
    "text",
    [
        "(#<[a] - #<[b]) % 3 = 0",
        "(2*#<[a] - pos + 1) % 3 = 0",
        "(#<[a] + #>[b] + 2*#[a] - 1) % 4 != 2",
        "(#>[true] - #>[a] + len) % 5 = 3",
        "(3*#<[a] - #<[b]) % 3 = 1",
        "(#<[a] + #<[b]) % 17 = 3",
        "even(#<[a] + #>[b])",
        "odd(#<[a] + pos)",
        "even(#<[a] + #<[a & true] + #<[b])",
        "even(#<[a] - #<[a & true])",
    ],
)
def test_remainders_of_several_counts(text: str) -> None:
    check(parse(text, AB), AB, 5)


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    "text",
    [
        "(len - #>[true]) % 4 = 1",
        "(pos - #>[true]) % 3 = 1",
        "(2*#>[a | b] - #<[true] - 3) % 5 = 2",
        "(#<[true] + #>[true] - #[true]) % 3 = 1",
        "even(#>[true] - len)",
        "prime(len - #>[true])",
        "square(2*#>[true] - pos + 1)",
        "(#>[true] + pos - len + #<[a]) % 3 = 1",
        "(3*#<[a] - #>[true] + len) % 3 = 1",
    ],
)
def test_counts_of_true_are_positions(text: str) -> None:
    check(parse(text, AB), AB, 8)


@pytest.mark.parametrize(
    "text", ["prime(#<[a] + #>[b])", "prime(#<[a] - len)", "(#<[a] + #<[b] + #>[a]) % 22 = 1"]
)
def test_predicates_of_several_counts_have_no_normal_form(text: str) -> None:
    formula = parse(text, AB)
    with pytest.raises(UnprovenError, match="several counts at once"):
        meanings_of(Formulas(AB.symbols), formula)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("text", PLACES_ALONE)
def test_some_position_with_a_test_of_places(text: str) -> None:
    check(parse(text, AB), AB, 8)


@pytest.mark.parametrize("text", PLACES_ALONE)
def test_some_position_with_a_test_of_places_is_proved_as_what_it_is(text: str) -> None:
    network = attemper.compile(text, "ab", at="last").network
    prove(network, TemporalLanguage(parse(text, AB), At.LAST, False))
    with pytest.raises(UnprovenError):
        prove(network, TemporalLanguage(parse(PLACES_ALONE[text], AB), At.LAST, False))


@pytest.mark.sweep(12)
@pytest.mark.parametrize("seed", range(24))
def test_random_formulas(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(4):
        try:
            check(FormulaSampler(rng, AB.symbols).formula(rng.choice((1, 2, 2))), AB, 4)
        except UnprovenError:
            continue


@pytest.mark.parametrize(
    "text", ["#<[a] + #>[b] - #[a]", "2*#[b] - #<[a] + 3*#>[a]", "#[a] - #<[a] - #>[a] + pos - len"]
)
def test_sums_of_all_three_sides(text: str) -> None:
    for number in (-1, 0, 1, 2):
        check(parse(f"{text} >= {number}", AB), AB, 4)


@pytest.mark.parametrize("seed", range(6))
def test_every_meaning_is_settled(seed: int) -> None:
    """Negations, too, which are not settled again."""
    rng = random.Random(seed)
    for _ in range(25):
        names = Formulas(ABC.symbols).names
        formula = FormulaSampler(rng, ABC.symbols).formula(3)
        try:
            meanings = meanings_of(names.positions, Unary(UnaryOperator.NOT, formula))
        except UnprovenError:
            continue
        assert all(names.canonical(meaning) == meaning for meaning in meanings.values())
