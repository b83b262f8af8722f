"""From a cascade to its attention program and hard network: the same bits, by three definitions."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise, product

import pytest

from attemper.attention_program import meaning
from attemper.attention_program.ops import Count
from attemper.attention_program.wellformed import require_wellformed
from attemper.checker.proof import prove
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.cascade import (
    Cascade,
    Chain,
    Content,
    Counter,
    Delay,
    Latch,
    Register,
    RegisterLevel,
    Sum,
    SymbolNumber,
)
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.lowering import cascade_to_program as lowering
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet, Word, parse_alphabet, words_of_length
from attemper.networks import meaning_hard
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from tests.compiling.decomposing.verifying import prefixes
from tests.support.drawn import automata

AB = Alphabet(("a", "b"))
ABC = Alphabet(("a", "b", "c"))

Contents = tuple[Content, ...]

Meaning = Callable[[Word], bool]
"""Whether a word that is not empty is accepted."""


# Cascades by hand -------------------------------------------------------------------------------------


def contents_of(register: Register, below: int) -> tuple[Content, ...]:
    """What a register can hold, if `below` symbols stand below it."""
    match register:
        case Latch(store):
            return (None, *sorted({label for _, label in store if label is not None}))
        case Counter(_, modulus) | Sum(_, modulus):
            return tuple(range(modulus))
        case Delay():
            return (None, *range(below))


def level(
    below: int, registers: tuple[Register, ...], table: Callable[[SymbolNumber, Contents], SymbolNumber]
) -> RegisterLevel:
    """A level whose table is given for every symbol below and all contents."""
    cases = product(range(below), product(*(contents_of(register, below) for register in registers)))
    return RegisterLevel(registers, tuple((case, table(*case)) for case in cases))


def cascade(
    alphabet: Alphabet, *chains: Chain, prefix: int = 0, period: int = 1, accepting: set[tuple[int, ...]]
) -> Cascade:
    return Cascade(alphabet, prefix, period, chains, frozenset(accepting))


def says(
    alphabet: Alphabet, registers: tuple[Register, ...], accepts: Callable[[SymbolNumber, Contents], bool]
) -> Cascade:
    """One level above the letters, which accepts by its table."""
    only = level(len(alphabet.symbols), registers, lambda below, held: int(accepts(below, held)))
    return cascade(alphabet, Chain((only,), (0, 1)), accepting={(1,)})


def last_of(word: Word, symbols: str) -> str | None:
    return next((symbol for symbol in reversed(word) if symbol in symbols), None)


def latch_that_is_emptied() -> Cascade:
    """a stores 0, b empties, c leaves alone."""
    return says(ABC, (Latch(((0, 0), (1, None))),), lambda _, held: held == (0,))


def latch_with_two_labels() -> Cascade:
    """a stores 0, b stores 1; accepted where the letter and the last a or b before it are the same."""
    return says(AB, (Latch(((0, 0), (1, 1))),), lambda below, held: held == (below,))


def latch_that_is_never_set() -> Cascade:
    return says(AB, (Latch(()),), lambda below, held: held == (None,) and below == 0)


def latch_that_is_only_emptied() -> Cascade:
    return says(AB, (Latch(((1, None),)),), lambda below, held: held == (None,) and below == 1)


def counters() -> Cascade:
    """The a's so far are divisible by 3 and the letters before by 2."""

    def accepts(below: SymbolNumber, held: Contents) -> bool:
        before, letters = held
        assert before is not None
        return (before + (below == 0)) % 3 == 0 and letters == 0

    return says(AB, (Counter(frozenset({0}), 3), Counter(frozenset({0, 1}), 2)), accepts)


def delays(*distances: int) -> Cascade:
    """The letter is the same as all those at the distances, or nothing stands there."""
    return says(
        AB, tuple(map(Delay, distances)), lambda below, held: all(x is None or x == below for x in held)
    )


def same_as_delayed(*distances: int) -> Meaning:
    return lambda word: all(d >= len(word) or word[-1 - d] == word[-1] for d in distances)


def one_of_each() -> Cascade:
    """A latch that c sets and b empties, the parity of the a's before, and the letter three places before."""

    def accepts(below: SymbolNumber, held: Contents) -> bool:
        latched, parity, delayed = held
        return (latched == 7) if delayed is None else (parity == 1) == (delayed == below)

    return says(ABC, (Latch(((2, 7), (1, None))), Counter(frozenset({0}), 2), Delay(3)), accepts)


def meant_by_one_of_each(word: Word) -> bool:
    before = word[:-1]
    if len(word) <= 3:
        return last_of(before, "bc") == "c"
    return (before.count("a") % 2 == 1) == (word[-4] == word[-1])


def two_levels() -> Cascade:
    """Below: whether the letter differs from the one before it. Above: such changes, counted modulo 3."""
    change = level(2, (Delay(1),), lambda below, held: int(held[0] is not None and held[0] != below))
    count = level(2, (Counter(frozenset({1}), 3),), lambda below, held: ((held[0] or 0) + below) % 3)
    return cascade(AB, Chain((change, count), (5, 6, 5)), accepting={(6,)})


def meant_by_two_levels(word: Word) -> bool:
    return sum(x != y for x, y in pairwise(word)) % 3 == 1


def level_without_registers() -> Cascade:
    """Below: a and c become one symbol; above: a latch over these."""
    names = RegisterLevel((), (((0, ()), 0), ((1, ()), 1), ((2, ()), 0)))
    latch = level(2, (Latch(((1, 3), (0, None))),), lambda _, held: int(held == (3,)))
    return cascade(ABC, Chain((names, latch), (0, 1)), accepting={(1,)})


def places() -> Cascade:
    """Positions 1 and 2 reject; then a is accepted at every third position, b at the others."""
    codes = tuple(
        int(place >= 2 and (letter == 0) == (place == 2)) for place in range(5) for letter in range(2)
    )
    return cascade(AB, Chain((), codes), prefix=2, period=3, accepting={(1,)})


def meant_by_places(word: Word) -> bool:
    return len(word) > 2 and (word[-1] == "a") == (len(word) % 3 == 0)


def registers_above_places() -> Cascade:
    """The last b at an even position, if there was one, stood at position 2."""
    # Places 0, 1, 2 and then 3, 4 in turn: positions 1, 2, 3, and the even and odd ones from 4 on.
    latch = Latch(((1 * 2 + 1, 0), (3 * 2 + 1, 1)))
    only = level(10, (latch,), lambda _, held: int(held in {(None,), (0,)}))
    return cascade(AB, Chain((only,), (0, 1)), prefix=3, period=2, accepting={(1,)})


def meant_by_registers_above_places(word: Word) -> bool:
    found = [i for i, symbol in enumerate(word[:-1], start=1) if symbol == "b" and i % 2 == 0]
    return not found or found[-1] == 2


def several_chains() -> Cascade:
    """A parity, a latch, and whether the position is even; accepted where just two of the three hold."""
    parity = level(
        4, (Counter(frozenset({0, 2}), 2),), lambda below, held: ((held[0] or 0) + (below % 2 == 0)) % 2
    )
    latch = level(4, (Latch(((1, 0), (3, 0), (0, None), (2, None))),), lambda _, held: int(held == (0,)))
    chains = Chain((parity,), (0, 1)), Chain((latch,), (0, 1)), Chain((), (0, 0, 1, 1))
    two = {row for row in product((0, 1), repeat=3) if sum(row) == 2}
    return cascade(AB, *chains, period=2, accepting=two)


def meant_by_several_chains(word: Word) -> bool:
    before = word[:-1]
    return (word.count("a") % 2 == 1) + (before[-1:] == ("b",)) + (len(word) % 2 == 0) == 2


def chains_without_levels() -> Cascade:
    """One says which letter it is, the other nothing."""
    return cascade(ABC, Chain((), (0, 1, 1)), Chain((), (4, 4, 4)), accepting={(1, 4)})


BY_HAND: dict[str, tuple[Cascade, Meaning]] = {
    "a latch that is emptied": (latch_that_is_emptied(), lambda w: last_of(w[:-1], "ab") == "a"),
    "a latch with two labels": (latch_with_two_labels(), lambda w: last_of(w[:-1], "ab") == w[-1]),
    "a latch that is never set": (latch_that_is_never_set(), lambda w: w[-1] == "a"),
    "a latch that is only emptied": (latch_that_is_only_emptied(), lambda w: w[-1] == "b"),
    "counters": (counters(), lambda w: w.count("a") % 3 == 0 and len(w) % 2 == 1),
    "delay 1": (delays(1), same_as_delayed(1)),
    "delay 2": (delays(2), same_as_delayed(2)),
    "delay 3": (delays(3), same_as_delayed(3)),
    "delays 1 and 3": (delays(1, 3), same_as_delayed(1, 3)),
    "delays 1, 2 and 3": (delays(1, 2, 3), same_as_delayed(1, 2, 3)),
    "one of each": (one_of_each(), meant_by_one_of_each),
    "two levels": (two_levels(), meant_by_two_levels),
    "a level without registers": (level_without_registers(), lambda w: w[-2:-1] == ("b",)),
    "places": (places(), meant_by_places),
    "registers above places": (registers_above_places(), meant_by_registers_above_places),
    "several chains": (several_chains(), meant_by_several_chains),
    "chains without levels": (chains_without_levels(), lambda w: w[-1] != "a"),
    "nothing": (cascade(AB, Chain((), (0, 1)), accepting=set()), lambda w: False),
    "everything": (cascade(AB, Chain((), (0, 1)), accepting={(0,), (1,)}), lambda w: True),
}


# Comparing --------------------------------------------------------------------------------------------


def words_up_to(alphabet: Alphabet, length: int) -> Iterator[Word]:
    for n in range(1, length + 1):
        yield from words_of_length(alphabet, n)


def assert_lowered_rightly(
    source: Cascade, expected: Callable[[Word], tuple[bool, ...]], longest: int
) -> None:
    """Program, hard network and expectation agree; of each group of symbols at most one bit holds."""
    lowered = cascade_to_program(source)
    program = require_wellformed(lowered.program, "cascade_to_program")
    network = assemble(program, lowered.names, False, False, lowered.symbols).network
    for word in words_up_to(source.alphabet, longest):
        wanted = expected(word)
        rows = meaning.run(program, word)
        assert tuple(map(bool, rows[program.output])) == wanted, word
        for group in lowered.symbols:
            assert all(sum(rows[ref][i] for ref in group) <= 1 for i in range(len(word))), word
        assert meaning_hard.output_bits(network, word) == wanted, word


@pytest.mark.sweep(3, also=["two levels"])
@pytest.mark.parametrize("name", BY_HAND)
def test_cascades_by_hand(name: str) -> None:
    source, accepts = BY_HAND[name]

    def expected(word: Word) -> tuple[bool, ...]:
        return tuple(accepts(word[:i]) for i in range(1, len(word) + 1))

    assert all(prefixes(source, word) == expected(word) for word in words_up_to(source.alphabet, 6))
    assert_lowered_rightly(source, expected, 6 if len(source.alphabet.symbols) == 2 else 4)


def test_many_combinations_of_codes_are_listed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    source = several_chains()
    monkeypatch.setattr(lowering, "MAX_COMBINED_CODES", 7)
    assert_lowered_rightly(source, partial(prefixes, source), 6)


def test_a_table_may_leave_out_what_never_occurs() -> None:
    """The latch is full after the first position: its table says nothing of an empty one further on."""
    whole = level(4, (Latch(((0, 0), (1, 1))),), lambda below, held: int(held == (below % 2,)))
    rows = tuple(row for row in whole.rows if (row[0][1] == (None,)) == (row[0][0] < 2))
    source = cascade(AB, Chain((RegisterLevel(whole.registers, rows),), (0, 1)), prefix=1, accepting={(1,)})
    assert len(rows) < len(whole.rows)
    assert_lowered_rightly(source, lambda w: tuple(i > 0 and x == w[0] for i, x in enumerate(w)), 6)


def test_chains_may_have_a_symbol_in_common() -> None:
    """Two first levels make the same bit of b; it belongs to the symbols of one of them only."""
    first = RegisterLevel((), (((0, ()), 0), ((1, ()), 1), ((2, ()), 0)))
    other = RegisterLevel((), (((0, ()), 0), ((1, ()), 1), ((2, ()), 2)))
    latch = level(2, (Latch(((0, 0), (1, 1))),), lambda _, held: int(held == (1,)))
    wide = level(3, (Latch(((0, 0), (1, 1), (2, 2))),), lambda _, held: int(held == (1,)))
    source = cascade(
        ABC, Chain((first, latch), (0, 1)), Chain((other, wide), (0, 1)), accepting={(1, 1), (0, 0)}
    )
    lowered = cascade_to_program(source)
    network = assemble(lowered.program, lowered.names, False, False, lowered.symbols).network
    assert not complaints(network)
    assert_lowered_rightly(source, partial(prefixes, source), 4)


# Random cascades --------------------------------------------------------------------------------------


def random_register(draw: random.Random, below: int) -> Register:
    symbols = range(below)
    match draw.randrange(4):
        case 0:
            stored = draw.sample(symbols, draw.randint(0, below))
            return Latch(tuple((symbol, draw.choice([None, 0, 1])) for symbol in stored))
        case 1:
            return Counter(frozenset(s for s in symbols if draw.random() < 0.5), draw.randint(2, 3))
        case 2:
            modulus = draw.randint(2, 6)
            return Sum(tuple((symbol, draw.randrange(modulus)) for symbol in symbols), modulus)
        case _:
            return Delay(draw.randint(1, 3))


def random_level(draw: random.Random, below: int, width: int) -> RegisterLevel:
    registers = tuple(random_register(draw, below) for _ in range(draw.randint(0, 2)))
    return level(below, registers, lambda _, __: draw.randrange(width))


def random_chain(draw: random.Random, below: int) -> Chain:
    levels = []
    for _ in range(draw.randint(0, 2)):
        width = draw.randint(2, 3)
        levels.append(random_level(draw, below, width))
        below = width
    return Chain(tuple(levels), tuple(draw.randrange(3) for _ in range(below)))


def random_cascade(seed: int) -> Cascade:
    draw = random.Random(seed)
    prefix, period = draw.choice([(0, 1), (0, 1), (1, 1), (0, 2), (2, 2), (1, 3)])
    base = 2 * (prefix + period)
    chains = tuple(random_chain(draw, base) for _ in range(draw.randint(1, 3)))
    rows = product(*(sorted(set(chain.codes)) for chain in chains))
    return cascade(
        AB, *chains, prefix=prefix, period=period, accepting={row for row in rows if draw.random() < 0.5}
    )


@pytest.mark.sweep(0)
@pytest.mark.parametrize("start", range(0, 20, 10))
def test_random_cascades(start: int) -> None:
    for seed in range(start, start + 10):
        source = random_cascade(seed)
        assert_lowered_rightly(source, partial(prefixes, source), 5)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1_000, 2_000, 50))
def test_many_random_cascades(start: int) -> None:
    for seed in range(start, start + 50):
        source = random_cascade(seed)
        assert_lowered_rightly(source, partial(prefixes, source), 6)


# Automata ---------------------------------------------------------------------------------------------


def small_automaton(seed: int) -> Dfa:
    draw = random.Random(seed)
    states, letters = draw.randint(2, 4), 2
    match seed % 4:
        case 0:
            return automata.random_dfa(seed, states, letters)
        case 1:
            return automata.random_near_permutations(seed, states, letters)
        case 2:
            return automata.random_order_preserving(seed, states + 1, letters)
        case _:
            return automata.random_reset_cascade(seed, (2, 2), letters)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("start", range(8, 32, 8))
def test_random_automata(start: int) -> None:
    refused = 0
    for seed in range(start, start + 8):
        dfa = small_automaton(seed)
        try:
            source = decompose(dfa).chosen
        except UnsupportedError:
            refused += 1
            continue
        assert_lowered_rightly(source, dfa.prefixes, 6)
    assert refused <= 1


# Below the first level --------------------------------------------------------------------------------


@pytest.mark.sweep(5, also=["ab.*-ab-2"])
@pytest.mark.parametrize(
    ("pattern", "letters", "layers"),
    [
        ("a.*", "ab", 1),
        ("[ab].*", "abcd", 1),
        ("[ab]*", "abcd", 1),
        (".*ab.*ab.*", "abcd", 3),
        ("([ab]{2})*", "abc", 2),
        ("a.*a|b.*b|a|b", "ab", 1),
        ("(aa)*", "ab", 1),
        ("ab.*", "ab", 2),
        (".a.*", "ab", 2),
        ("..a.*b", "ab", 3),
    ],
)
def test_what_the_first_letters_decide(pattern: str, letters: str, layers: int) -> None:
    """A letter at a place is asked for as a letter where the head reads at that place only.

    Where a head can read other places before it has found the one that it looks for, it reads a bit of both.
    """
    dfa = parse_regex(pattern, parse_alphabet(letters))
    source = decompose(dfa).chosen
    assert_lowered_rightly(source, dfa.prefixes, 6 if len(letters) == 2 else 4)
    compiled = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    assert len(compiled.soft.layers) == layers
    prove(compiled.soft, dfa, compiled.realisation)


def test_chains_side_by_side_meet_at_once() -> None:
    """In the feed-forward of their last layer, unless that takes too many conjunctions."""
    dfa = automata.contains_all(5)
    compiled = compile_language(dfa, dfa.alphabet, Regime.UNBOUNDED)
    assert len(compiled.soft.layers) == 1


@pytest.mark.sweep(0)
def test_sums_of_many_weights_are_added_two_and_two() -> None:
    """The letters weigh 0 to 6 modulo 7: counted by binary digits, in three counts and not in six."""
    letters = Alphabet(tuple("abcdefg"))
    weighed = Sum(tuple((letter, letter) for letter in range(7)), 7)
    source = says(letters, (weighed,), lambda below, held: ((held[0] or 0) + below) % 7 == 0)
    lowered = cascade_to_program(source)
    assert sum(isinstance(step, Count) for step in lowered.program.steps) == 3
    assert_lowered_rightly(source, lambda word: prefixes(source, word), 3)
    assert prefixes(source, tuple("bg")) == (False, True)
