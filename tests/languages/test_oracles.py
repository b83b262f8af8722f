"""The exact meaning agrees on short words with Spot, MONA and a second reading: none knows attemper."""

from __future__ import annotations

import random
import shutil
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import (
    FORMULA,
    Binary,
    BinaryOperator,
    Constant,
    First,
    Formula,
    Last,
    Symbol,
    Unary,
    UnaryOperator,
    subformulas,
)
from attemper.languages.words import Alphabet, Word, words_of_length
from tests.support.judges.mona import mona_automaton, mona_text
from tests.support.oracles import raw_truth
from tests.support.oracles.raw_forward import batch_of

AB = Alphabet(("a", "b"))
ABC = Alphabet(("a", "b", "c"))

UNARY_MIRROR = {
    UnaryOperator.NOT: UnaryOperator.NOT,
    UnaryOperator.YESTERDAY: UnaryOperator.NEXT,
    UnaryOperator.WEAK_YESTERDAY: UnaryOperator.WEAK_NEXT,
    UnaryOperator.ONCE: UnaryOperator.EVENTUALLY,
    UnaryOperator.HISTORICALLY: UnaryOperator.ALWAYS,
}
BINARY_MIRROR = {
    BinaryOperator.SINCE: BinaryOperator.UNTIL,
    BinaryOperator.PAST_RELEASE: BinaryOperator.RELEASE,
}
CONNECTIVES = (
    BinaryOperator.AND,
    BinaryOperator.OR,
    BinaryOperator.XOR,
    BinaryOperator.IMPLIES,
    BinaryOperator.IFF,
)
PAST = (*UNARY_MIRROR, *BINARY_MIRROR, *CONNECTIVES, First())
FUTURE = (
    *UNARY_MIRROR.values(),
    *BINARY_MIRROR.values(),
    BinaryOperator.WEAK_UNTIL,
    BinaryOperator.STRONG_RELEASE,
    *CONNECTIVES,
    Last(),
)
MIXED = (*UnaryOperator, *BinaryOperator, First(), Last())

Vocabulary = tuple[UnaryOperator | BinaryOperator | First | Last, ...]


def draw(rng: random.Random, nesting: int, vocabulary: Vocabulary, alphabet: Alphabet = AB) -> Formula:
    """A random formula without counts, its operators drawn evenly from the vocabulary."""
    if nesting == 0 or rng.random() < 0.05:
        edges = [edge for edge in vocabulary if isinstance(edge, First | Last)]
        symbols = [Symbol(name) for name in alphabet.symbols]
        return rng.choice([*edges, *symbols * 4, Constant(rng.random() < 0.5)])
    operator = rng.choice([one for one in vocabulary if not isinstance(one, First | Last)])
    left = draw(rng, nesting - 1, vocabulary, alphabet)
    if isinstance(operator, UnaryOperator):
        return Unary(operator, left)
    return Binary(operator, left, draw(rng, nesting - 1, vocabulary, alphabet))


def draw_many(seed: int, number: int, vocabulary: Vocabulary, alphabet: Alphabet = AB) -> Iterator[Formula]:
    rng = random.Random(seed)
    for _ in range(number):
        yield draw(rng, rng.choice([2, 3, 3, 4]), vocabulary, alphabet)


def short_words(alphabet: Alphabet, longest: int) -> list[Word]:
    return [word for length in range(1, longest + 1) for word in words_of_length(alphabet, length)]


SHORT = short_words(AB, 5)


# Spot


SPOT_UNARY = {
    UnaryOperator.NOT: "!",
    UnaryOperator.NEXT: "X[!]",
    UnaryOperator.WEAK_NEXT: "X",
    UnaryOperator.EVENTUALLY: "F",
    UnaryOperator.ALWAYS: "G",
}


def spot_text(formula: Formula, strong_next: str = "X[!]") -> str:
    """The formula in Spot's syntax: the letter a is the proposition p, the letter b is !p."""
    match formula:
        case Symbol(name):
            return {"a": "p", "b": "!p"}[name]
        case Constant(value):
            return "1" if value else "0"
        case Last():
            return "!X[!]1"
        case Unary(operator, operand):
            spelling = strong_next if operator is UnaryOperator.NEXT else SPOT_UNARY[operator]
            return f"{spelling}({spot_text(operand, strong_next)})"
        case Binary(operator, left, right):
            return f"({spot_text(left, strong_next)}) {operator} ({spot_text(right, strong_next)})"
        case _:
            raise ValueError(f"Spot has no past: {formula}")


@pytest.fixture(scope="module")
def spot() -> ModuleType:
    # Spot's import triggers a DeprecationWarning from C; made an error, it ends the process.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("spot", reason="Spot is not installed: pip install spottl (Linux x86-64)")


def spot_acceptor(spot: ModuleType, text: str) -> Callable[[Word], bool]:
    """Whether a non-empty word over {a, b} satisfies the LTLf formula, by Spot's automaton for it."""
    import buddy

    automaton: Any = spot.to_finite(spot.translate(spot.from_ltlf(text), "BA", "small"))
    p = automaton.register_ap("p")
    letters = {"a": buddy.bdd_ithvar(p), "b": buddy.bdd_nithvar(p)}
    successors = {
        (state, letter): [edge.dst for edge in automaton.out(state) if edge.cond & meets != buddy.bddfalse]
        for state in range(automaton.num_states())
        for letter, meets in letters.items()
    }
    accepting = {state for state in range(automaton.num_states()) if automaton.state_is_accepting(state)}
    initial = automaton.get_init_state_number()

    def accepts(word: Word) -> bool:
        states = {initial}
        for letter in word:
            states = {target for state in states for target in successors[state, letter]}
        return not states.isdisjoint(accepting)

    return accepts


def mirrored(formula: Formula) -> Formula:
    """The future formula that says of the reversed word what this past formula says of the word."""
    match formula:
        case First():
            return Last()
        case Unary(operator, operand):
            return Unary(UNARY_MIRROR[operator], mirrored(operand))
        case Binary(operator, left, right):
            return Binary(BINARY_MIRROR.get(operator, operator), mirrored(left), mirrored(right))
        case _:
            return formula


def seeds(fast: int, slow: int) -> list[Any]:
    """One seed per case; the later ones only in the long sweeps."""
    return [*range(fast), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(fast, fast + slow))]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", seeds(4, 6))
def test_future_formulas_at_the_first_position_agree_with_spot(spot: ModuleType, seed: int) -> None:
    for formula in draw_many(seed, 40, FUTURE):
        accepts = spot_acceptor(spot, spot_text(formula))
        wrong = [word for word in SHORT if truth(formula, word)[0] != accepts(word)]
        assert wrong == [], show(formula)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", seeds(4, 6))
def test_past_formulas_at_the_last_position_agree_with_spot_on_the_mirror_image(
    spot: ModuleType, seed: int
) -> None:
    for formula in draw_many(1000 + seed, 40, PAST):
        accepts = spot_acceptor(spot, spot_text(mirrored(formula)))
        wrong = [word for word in SHORT if truth(formula, word)[-1] != accepts(word[::-1])]
        assert wrong == [], show(formula)


@pytest.mark.parametrize("operator", [*SPOT_UNARY, *(one for one in FUTURE if one in tuple(BinaryOperator))])
def test_each_future_operator_alone_agrees_with_spot(
    spot: ModuleType, operator: UnaryOperator | BinaryOperator
) -> None:
    formula = parse(f"{operator} a" if isinstance(operator, UnaryOperator) else f"(a | last) {operator} X b")
    accepts = spot_acceptor(spot, spot_text(formula))
    assert [truth(formula, word)[0] for word in SHORT] == [accepts(word) for word in SHORT]


def test_the_bare_next_of_spot_is_weak(spot: ModuleType) -> None:
    """The trap: `X b` means in Spot what `WX b` means here; our `X b` is Spot's `X[!] b`."""
    ours, word = parse("X b"), ("a",)
    assert truth(ours, word) == (False,)
    assert spot_acceptor(spot, spot_text(ours, strong_next="X"))(word)
    assert not spot_acceptor(spot, spot_text(ours))(word)
    assert truth(parse("WX b"), word) == (True,)


def test_reading_the_bare_next_of_spot_as_strong_is_often_wrong(spot: ModuleType) -> None:
    with_next = [
        formula
        for formula in draw_many(7, 60, FUTURE)
        if any(isinstance(p, Unary) and p.operator is UnaryOperator.NEXT for p in subformulas(formula))
    ]
    misread = 0
    for formula in with_next:
        bare = spot_acceptor(spot, spot_text(formula, strong_next="X"))
        misread += any(truth(formula, word)[0] != bare(word) for word in SHORT)
    assert 0 < misread < len(with_next)


def test_the_mirror_of_a_past_formula_is_its_meaning_on_the_reversed_word() -> None:
    for formula in draw_many(5, 60, PAST):
        for word in short_words(AB, 4):
            assert truth(formula, word) == truth(mirrored(formula), word[::-1])[::-1]


# The second reading of files, which needs nothing installed


@pytest.mark.sweep(2)
@pytest.mark.parametrize("seed", range(6))
def test_mixed_formulas_agree_with_the_second_reading_at_every_position(seed: int) -> None:
    coded = [tuple(AB.symbols.index(symbol) for symbol in word) for word in SHORT]
    for formula in draw_many(4000 + seed, 30, MIXED):
        written = ["temporal language", FORMULA.encode(formula), "last", False]
        read = raw_truth.truth(written, AB.symbols, batch_of(coded))
        wrong = [
            word
            for word, row in zip(SHORT, read, strict=True)
            if list(truth(formula, word)) != row[: len(word)].tolist()
        ]
        assert wrong == [], show(formula)


# MONA


@pytest.fixture(scope="module")
def mona() -> str:
    executable = shutil.which("mona")
    if executable is None:
        pytest.skip("MONA is not installed: apt-get install mona")
    return executable


@pytest.mark.parametrize("at", ["first", "last"])
@pytest.mark.parametrize("seed", seeds(3, 5))
def test_mixed_formulas_agree_with_mona(mona: str, seed: int, at: str) -> None:
    place = {"first": 0, "last": -1}[at]
    for formula in draw_many(2000 + seed, 30, MIXED):
        automaton = mona_automaton(mona, formula, AB.symbols, at)
        wrong = [word for word in SHORT if truth(formula, word)[place] != automaton.accepts(word)]
        assert wrong == [], show(formula)


@pytest.mark.parametrize("at", ["first", "last"])
def test_mixed_formulas_over_three_symbols_agree_with_mona(mona: str, at: str) -> None:
    place = {"first": 0, "last": -1}[at]
    words = short_words(ABC, 4)
    for formula in draw_many(3000, 25, MIXED, ABC):
        automaton = mona_automaton(mona, formula, ABC.symbols, at)
        wrong = [word for word in words if truth(formula, word)[place] != automaton.accepts(word)]
        assert wrong == [], show(formula)


@pytest.mark.parametrize(
    "operator", [*UnaryOperator, *(operator for operator in BinaryOperator if operator not in CONNECTIVES)]
)
def test_each_temporal_operator_alone_agrees_with_mona_at_both_ends(
    mona: str, operator: UnaryOperator | BinaryOperator
) -> None:
    formula = parse(f"{operator} a" if isinstance(operator, UnaryOperator) else f"a {operator} b")
    for at, place in (("first", 0), ("last", -1)):
        automaton = mona_automaton(mona, formula, ABC.symbols, at)
        for word in short_words(ABC, 4):
            assert automaton.accepts(word) == truth(formula, word)[place], (at, word)


def test_mona_is_not_asked_about_counts() -> None:
    with pytest.raises(ValueError, match="counts"):
        mona_text(parse("#<[a] = 1"), "p", {"a": "P0"})


def test_the_random_formulas_use_every_operator() -> None:
    for vocabulary in (PAST, FUTURE, MIXED):
        parts = {part for formula in draw_many(0, 120, vocabulary) for part in subformulas(formula)}
        used = {part.operator for part in parts if isinstance(part, Unary | Binary)}
        assert used | {First(), Last()} >= set(vocabulary)
        assert used <= set(vocabulary)
