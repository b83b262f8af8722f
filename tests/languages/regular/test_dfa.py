"""Complete automata: their meaning, the minimal ones and differences, against all short words."""

from __future__ import annotations

import random

import pytest

from attemper.errors import AutomatonError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import difference, minimal
from attemper.languages.words import Alphabet, Word, words_of_length

A = Alphabet(("a",))
AB = Alphabet(("a", "b"))
ABC = Alphabet(("a", "b", "c"))


def random_dfa(rng: random.Random, count: int, alphabet: Alphabet, density: float = 0.5) -> Dfa:
    moves = tuple(tuple(rng.randrange(count) for _ in alphabet.symbols) for _ in range(count))
    accepting = frozenset(state for state in range(count) if rng.random() < density)
    return Dfa(alphabet, moves, rng.randrange(count), accepting)


def random_dfas(seed: int, count: int, most_states: int = 7) -> list[Dfa]:
    rng = random.Random(seed)
    return [
        random_dfa(rng, rng.randint(1, most_states), rng.choice((A, AB, ABC)), rng.choice((0.1, 0.5, 0.9)))
        for _ in range(count)
    ]


def run_by_hand(dfa: Dfa, word: Word) -> list[int]:
    """The states visited, the start included."""
    states = [dfa.start]
    for symbol in word:
        states.append(dfa.moves[states[-1]][dfa.alphabet.symbols.index(symbol)])
    return states


def words_up_to(alphabet: Alphabet, length: int) -> list[Word]:
    return [word for n in range(length + 1) for word in words_of_length(alphabet, n)]


def language(dfa: Dfa, length: int) -> frozenset[Word]:
    return frozenset(word for word in words_up_to(dfa.alphabet, length) if dfa.accepts(word))


def distinct_rests(dfa: Dfa) -> int:
    """How many languages may follow a word: reachable states, told apart by the words they accept.

    Words of fewer symbols than there are states are enough for both. (Moore 1956.)
    """
    tails = words_up_to(dfa.alphabet, len(dfa.moves) - 1)
    reached = {run_by_hand(dfa, word)[-1] for word in tails}
    return len(
        {
            tuple(
                run_by_hand(Dfa(dfa.alphabet, dfa.moves, q, dfa.accepting), t)[-1] in dfa.accepting
                for t in tails
            )
            for q in reached
        }
    )


@pytest.mark.parametrize("dfa", random_dfas(1, 40, 5))
def test_what_an_automaton_accepts(dfa: Dfa) -> None:
    for word in words_up_to(dfa.alphabet, 5):
        states = run_by_hand(dfa, word)
        assert dfa.state_after(word) == states[-1]
        assert dfa.accepts(word) is (states[-1] in dfa.accepting)
        assert dfa.prefixes(word) == tuple(state in dfa.accepting for state in states[1:])


@pytest.mark.parametrize(
    ("moves", "start", "accepting", "fragment"),
    [
        ((), 0, (), "none of the states"),
        (((0, 0),), 1, (), "none of the states 0 to 0"),
        (((0, 0),), -1, (), "none of the states"),
        (((0, 0),), 0, (1,), "none of the states"),
        (((0,),), 0, (), "state 0 must have one move to a state for each of 2 symbols"),
        (((0, 0), (0, 2)), 0, (), "state 1 must have one move"),
        (((0, 0, 0),), 0, (), "state 0 must have one move"),
    ],
)
def test_no_automaton(
    moves: tuple[tuple[int, ...], ...], start: int, accepting: tuple[int, ...], fragment: str
) -> None:
    with pytest.raises(AutomatonError, match=fragment):
        Dfa(AB, moves, start, frozenset(accepting))


@pytest.mark.sweep(30)
@pytest.mark.parametrize("dfa", random_dfas(2, 150, 6))
def test_the_minimal_automaton_has_the_language_and_no_state_too_many(dfa: Dfa) -> None:
    small = minimal(dfa)
    longest = 7 if len(dfa.alphabet.symbols) < 3 else 5
    assert language(small, longest) == language(dfa, longest)
    assert difference(small, dfa) is None
    assert len(small.moves) == distinct_rests(dfa)
    assert minimal(small) == small


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_the_minimal_automaton_forgets_names_copies_and_unreachable_states(seed: int) -> None:
    rng = random.Random(seed)
    dfa = random_dfa(rng, rng.randint(1, 8), rng.choice((A, AB, ABC)))
    count = len(dfa.moves)
    copies = 3 * count
    # State k of the larger automaton behaves as state k mod count; moves go to any of its copies.
    moves = tuple(
        tuple(target + count * rng.randrange(3) for target in dfa.moves[state % count])
        for state in range(copies)
    )
    accepting = frozenset(state for state in range(copies) if state % count in dfa.accepting)
    names = list(range(copies))
    rng.shuffle(names)
    renamed = [()] * copies
    for state, row in enumerate(moves):
        renamed[names[state]] = tuple(names[target] for target in row)
    larger = Dfa(
        dfa.alphabet,
        tuple(renamed),
        names[dfa.start + count * rng.randrange(3)],
        frozenset(names[state] for state in accepting),
    )
    assert minimal(larger) == minimal(dfa)


def test_states_are_numbered_in_the_order_of_the_first_visit() -> None:
    for dfa in random_dfas(3, 40, 10):
        small = minimal(dfa)
        visited = list(dict.fromkeys([small.start, *(target for row in small.moves for target in row)]))
        assert visited == list(range(len(small.moves)))


def test_the_empty_and_the_universal_language() -> None:
    for dfa in random_dfas(4, 20, 8):
        nothing = Dfa(dfa.alphabet, dfa.moves, dfa.start, frozenset())
        everything = Dfa(dfa.alphabet, dfa.moves, dfa.start, frozenset(range(len(dfa.moves))))
        loop = ((0,) * len(dfa.alphabet.symbols),)
        assert minimal(nothing) == Dfa(dfa.alphabet, loop, 0, frozenset())
        assert minimal(everything) == Dfa(dfa.alphabet, loop, 0, frozenset({0}))
        assert difference(nothing, everything) == ()


@pytest.mark.parametrize(("period", "remainder", "states"), [(1, 0, 1), (6, 2, 6), (6, 0, 6)])
def test_one_letter(period: int, remainder: int, states: int) -> None:
    # A cycle twice as long as needed.
    cycle = tuple(((q + 1) % (2 * period),) for q in range(2 * period))
    accepting = frozenset(q for q in range(2 * period) if q % period == remainder)
    small = minimal(Dfa(A, cycle, 0, accepting))
    assert len(small.moves) == states
    assert [small.accepts(("a",) * n) for n in range(40)] == [n % period == remainder for n in range(40)]


def test_two_hundred_states() -> None:
    # The number of a's modulo 200, twice over: b switches between two copies that behave alike.
    count = 200
    moves = tuple(
        ((q + 1) % count + copy * count, q + (1 - copy) * count) for copy in (0, 1) for q in range(count)
    )
    dfa = Dfa(AB, moves, count + 7, frozenset({0, count}))
    small = minimal(dfa)
    assert small.moves == tuple(((q + 1) % count, q) for q in range(count))
    assert small.accepting == {count - 7}
    assert difference(dfa, small) is None
    shifted = Dfa(AB, small.moves, 1, small.accepting)
    assert difference(small, shifted) == ("a",) * (count - 8)


def test_two_hundred_random_states() -> None:
    rng = random.Random(200)
    for alphabet in (AB, ABC):
        dfa = random_dfa(rng, 200, alphabet)
        small = minimal(dfa)
        assert 2 <= len(small.moves) <= 200
        for _ in range(2000):
            word = tuple(rng.choices(alphabet.symbols, k=rng.randrange(40)))
            assert small.accepts(word) is dfa.accepts(word)


def test_a_difference_is_a_shortest_word_that_tells_two_automata_apart() -> None:
    rng = random.Random(5)
    equal = 0
    for _ in range(400):
        alphabet = rng.choice((A, AB))
        left, right = (random_dfa(rng, rng.randint(1, 3), alphabet) for _ in range(2))
        # States of two automata are told apart by a word shorter than the two together.
        apart = [w for w in words_up_to(alphabet, 6) if left.accepts(w) is not right.accepts(w)]
        found = difference(left, right)
        assert (found is None) is (not apart) is (minimal(left) == minimal(right))
        if found is None:
            equal += 1
        else:
            assert found in apart
            assert len(found) == len(apart[0])
    assert 10 < equal < 390


def test_automata_over_different_alphabets_are_not_compared() -> None:
    with pytest.raises(AutomatonError, match="different alphabets"):
        difference(Dfa(A, ((0,),), 0, frozenset()), Dfa(Alphabet(("b",)), ((0,),), 0, frozenset()))
