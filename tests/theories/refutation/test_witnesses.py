"""The two words of a refutation: the simplest pair of all, in the order that is written down."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import product

import pytest

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet, Word
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target, contains
from attemper.theories.refutation.search import witnesses
from attemper.theories.refutation.search.named import refute
from attemper.theories.refutation.search.witnesses import simplest_pair, start

PARITY = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
ROUND = ("(", ")")
SQUARE = ("[", "]")


def model_with(symbols: Sequence[str], ending: str | None, length: int) -> HardModel:
    """Only its symbols and its length matter."""
    return RandomTables(length, (1,), symbols=tuple(symbols), ending=ending)


def simplest_of_all(model: HardModel, restriction: Restriction, language: Target) -> tuple[Word, Word] | None:
    """Fewest differences; then position by position the least symbols, in the member first."""
    size = model.length - (model.ending is not None)
    words = sorted({word[:size] for word in product(*restriction.allowed)})
    inside = [contains(language, tuple(model.symbols[s] for s in word)) for word in words]
    members = [word for word, is_in in zip(words, inside, strict=True) if is_in]
    strangers = [word for word, is_in in zip(words, inside, strict=True) if not is_in]
    if not members or not strangers:
        return None

    def order(pair: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[int, list[tuple[int, int]]]:
        together = list(zip(*pair, strict=True))
        return sum(s != t for s, t in together), together

    member, stranger = min(product(members, strangers), key=order)
    return tuple(model.symbols[s] for s in member), tuple(model.symbols[s] for s in stranger)


def random_restriction(
    draw: random.Random, model: HardModel, letters: Sequence[str], most: int
) -> Restriction:
    """Some of the letters at each position, and few words in all."""
    numbers = [model.symbols.index(letter) for letter in letters]
    size = model.length - (model.ending is not None)
    allowed = [(draw.choice(numbers),) for _ in range(size)]
    words = 1
    for i in draw.sample(range(size), size):
        count = draw.randint(1, min(3, len(numbers)))
        if words * count <= most:
            words *= count
            allowed[i] = tuple(sorted(draw.sample(numbers, count)))  # type: ignore[assignment]
    ending = [] if model.ending is None else [(model.symbols.index(model.ending),)]
    return Restriction((*allowed, *ending))


def random_model(draw: random.Random, symbols: Sequence[str], lengths: tuple[int, int]) -> HardModel:
    """With and without an end marker; the order of its symbols is random, too."""
    ending = draw.choice((None, "$"))
    shuffled = draw.sample(symbols, len(symbols))
    if ending is not None:
        shuffled.insert(draw.randint(0, len(shuffled)), ending)
    return model_with(shuffled, ending, draw.randint(*lengths) + (ending is not None))


def random_dfa(draw: random.Random, letters: Sequence[str]) -> Dfa:
    count = draw.randint(1, 5)
    moves = tuple(tuple(draw.randrange(count) for _ in letters) for _ in range(count))
    accepting = frozenset(state for state in range(count) if draw.random() < 0.4)
    return Dfa(Alphabet(tuple(letters)), moves, draw.randrange(count), accepting)


def agreement(
    draw: random.Random, language: Target, symbols: Sequence[str], letters: Sequence[str]
) -> tuple[str, int]:
    """Compares one pair; says whether there is one, and in how many symbols its words differ."""
    model = random_model(draw, symbols, (1, 7))
    restriction = random_restriction(draw, model, letters, 48)
    expected = simplest_of_all(model, restriction, language)
    assert simplest_pair(model, restriction, language) == expected, (model, restriction, language)
    if expected is None:
        return "none", 0
    return "pair", sum(s != t for s, t in zip(*expected, strict=True))


def test_the_simplest_pair_of_parity() -> None:
    draw = random.Random("parity")
    found = Counter(agreement(draw, PARITY, ("0", "1"), ("0", "1")) for _ in range(80))
    assert set(found) == {("none", 0), ("pair", 1)}


def test_the_simplest_pairs_of_random_automata() -> None:
    draw = random.Random("automata")
    found = Counter(agreement(draw, random_dfa(draw, "ab"), "abc", "ab") for _ in range(250))
    # The words of a restriction are connected by changes of one symbol, so that one always suffices.
    assert set(found) == {("none", 0), ("pair", 1)}
    assert found["pair", 1] > 50
    assert found["none", 0] > 20


def test_the_simplest_pairs_of_random_automata_over_three_letters() -> None:
    draw = random.Random("three letters")
    found = Counter(agreement(draw, random_dfa(draw, "abc"), "abcd", "abc") for _ in range(150))
    assert found["pair", 1] > 30
    assert found["none", 0] > 10


def test_the_words_of_the_simplest_pair_are_the_least_of_those_that_differ_in_one_symbol() -> None:
    """The words of a only, and the unmixed ones: those of a only or of b only."""
    moves = ((1, 2), (1, 3), (3, 2), (3, 3))
    all_a = Dfa(Alphabet(("a", "b")), moves, 0, frozenset({1}))
    unmixed = Dfa(Alphabet(("a", "b")), moves, 0, frozenset({1, 2}))
    model = model_with("ab", None, 4)
    everything = Restriction(((0, 1),) * 4)
    for language in (all_a, unmixed):
        assert simplest_pair(model, everything, language) == (("a",) * 4, ("a", "a", "a", "b"))
    far = Restriction(((0, 1), (1,), (1,), (0, 1)))
    assert simplest_pair(model, far, all_a) is None
    assert simplest_pair(model, far, unmixed) == (("b",) * 4, ("a", "b", "b", "b"))


@pytest.mark.parametrize("pairs", [(ROUND,), (SQUARE,), (ROUND, SQUARE)])
def test_the_simplest_pair_of_brackets(pairs: tuple[tuple[str, str], ...]) -> None:
    """Over the first pair of brackets, as all restrictions of a search are."""
    draw = random.Random(f"dyck {pairs}")
    found = Counter(agreement(draw, Dyck(pairs), (*ROUND, *SQUARE), pairs[0]) for _ in range(150))
    assert set(found) == {("none", 0), ("pair", 1)}
    assert found["pair", 1] > 15


def test_the_simplest_pair_of_brackets_may_have_a_change_to_other_symbols() -> None:
    draw = random.Random("dyck x")
    found = Counter(agreement(draw, Dyck((ROUND,)), (*ROUND, "x"), (*ROUND, "x")) for _ in range(150))
    assert found["pair", 1] > 15


def test_the_simplest_pair_may_have_symbols_that_the_automaton_does_not_know() -> None:
    model = model_with("abc", None, 1)
    everything = Dfa(Alphabet(("a", "b")), ((0, 0),), 0, frozenset({0}))
    assert simplest_pair(model, Restriction(((0, 2),)), everything) == (("a",), ("c",))


def test_the_simplest_pair_of_two_blocks() -> None:
    draw = random.Random("blocks")
    found: Counter[tuple[str, int]] = Counter()
    for _ in range(150):
        found[agreement(draw, Blocks("a", "b"), "abc", draw.choice(("ab", "abc")))] += 1
    for size in range(1, 7):
        model = model_with("ba", None, size)
        everything = Restriction(((0, 1),) * size)
        expected = simplest_of_all(model, everything, Blocks("a", "b"))
        assert simplest_pair(model, everything, Blocks("a", "b")) == expected
        assert (expected is None) is (size % 2 == 1)
    assert found["pair", 1] > 3
    assert found["none", 0] > 20


def test_words_that_differ_in_one_symbol_only_at_the_end_marker_are_no_pair() -> None:
    model = model_with("01$", "$", 4)
    for allowed in product([(0,), (1,)], repeat=3):
        assert simplest_pair(model, Restriction((*allowed, (2,))), PARITY) is None


def test_automata_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_with("01", None, 5)
    everything = Restriction(((0, 1),) * 5)
    monkeypatch.setattr(witnesses, "MOST_PAIRS", 2 * 2 * 5)
    assert simplest_pair(model, everything, PARITY) == (("0",) * 5, ("0",) * 4 + ("1",))
    monkeypatch.setattr(witnesses, "MOST_PAIRS", 2 * 2 * 5 - 1)
    with pytest.raises(UnsupportedError, match="2 states is too large for words of 5 symbols"):
        simplest_pair(model, everything, PARITY)


# --- where a search begins -------------------------------------------------------------------------------


def test_a_search_begins_with_the_symbols_of_the_language() -> None:
    model = model_with("1x0$", "$", 4)
    assert start(model, PARITY) == Restriction(((0, 2), (0, 2), (0, 2), (3,)))
    assert start(model, Blocks("x", "1")) == Restriction(((0, 1), (0, 1), (0, 1), (3,)))
    unmarked = model_with("01", None, 2)
    assert start(unmarked, PARITY) == Restriction(((0, 1), (0, 1)))


@pytest.mark.parametrize("size", [2, 4, 8, 10, 12, 14, 20])
@pytest.mark.parametrize("ending", [None, "$"])
def test_brackets_begin_with_some_that_open_and_end_with_as_many_that_close(
    size: int, ending: str | None
) -> None:
    symbols = (")", "]", "(", "[", "$")[: 4 if ending is None else 5]
    model = model_with(symbols, ending, size + (ending is not None))
    restriction = start(model, Dyck((ROUND, SQUARE)))
    margin = int(0.2 * size)
    middle = ((0, 2),) * (size - 2 * margin)
    marker = () if ending is None else ((4,),)
    assert restriction.allowed == ((2,),) * margin + middle + ((0,),) * margin + marker
    # However the middle is chosen with as many of both, opening ones never run out.
    pair = simplest_pair(model, restriction, Dyck((ROUND, SQUARE)))
    assert pair is not None
    assert contains(Dyck((ROUND,)), pair[0])


def test_symbols_that_the_model_lacks_are_refused() -> None:
    model = model_with("ab$", "$", 5)
    languages: list[tuple[Target, str]] = [
        (PARITY, "0"),
        (Dyck((("a", "b"), ("c", "d"))), "c"),
        (Blocks("a", "c"), "c"),
    ]
    for language, missing in languages:
        with pytest.raises(UnsupportedError, match=rf"no symbol '{missing}'; its symbols are a b \$"):
            start(model, language)


@pytest.mark.parametrize(("ending", "length"), [(None, 3), (None, 1), ("$", 4), ("$", 2)])
def test_an_odd_number_of_brackets_is_refused(ending: str | None, length: int) -> None:
    model = model_with((*ROUND, "$"), ending, length)
    size = length - (ending is not None)
    with pytest.raises(
        UnsupportedError, match=rf"no word of {size} symbols is well nested; choose another length"
    ):
        start(model, Dyck((ROUND,)))


@pytest.mark.parametrize(
    "language",
    [
        Dfa(Alphabet(("0", "1")), ((0, 0),), 0, frozenset({0})),
        Dfa(Alphabet(("0", "1")), ((0, 0),), 0, frozenset()),
        Blocks("0", "1"),
    ],
)
def test_languages_with_no_words_or_only_words_of_the_length_are_refused(language: Target) -> None:
    model = model_with("01", None, 3)
    with pytest.raises(UnsupportedError, match="choose another length"):
        refute(model, language)


def test_languages_with_words_that_have_the_end_marker_are_refused() -> None:
    model = model_with("01$", "$", 3)
    language = Dfa(Alphabet(("0", "$")), ((0, 1), (1, 0)), 0, frozenset({0}))
    with pytest.raises(UnsupportedError):
        start(model, language)
