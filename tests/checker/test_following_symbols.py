"""What is followed of an automaton's network, against the definitions of the atoms, word by word.

The diagrams are made by hand, and an oracle evaluates them at each position of each word by the definition
of their atoms. It keeps nothing from one position to the next.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import pytest
from attemper.checker.automata import computes

from attemper.checker import automata
from attemper.checker.analysis import ROUNDED, Analysis, SymbolFact
from attemper.checker.diagrams import Diagram, Variable
from attemper.checker.identities import Formulas
from attemper.checker.names import (
    Affine,
    At,
    CountRemainder,
    Exists,
    LetterBit,
    PlaceAtLeast,
    PlaceRemainder,
    Shifted,
    SumAtLeast,
    SymbolCode,
    UnprovenError,
)
from attemper.checker.values import Stream
from attemper.exact.predicates import NonNegative, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet
from attemper.networks.layers import Masking, Network
from tests.support import automata as samples

LEFT = Masking.FUTURE
"""What sees the positions up to its own."""

ONE, ZERO = Affine(Fraction(1)), Affine(Fraction(0))


# The oracle -----------------------------------------------------------------------------------------


class Oracle:
    """What diagrams are at each position of words, by the definition of their atoms."""

    def __init__(self, names: Formulas, symbols: Sequence[Sequence[Diagram]] = ()) -> None:
        self.names = names
        self.symbols = symbols

    def value(self, diagram: Diagram, word: str, i: int) -> Hashable:
        """A diagram at position i, from 1."""
        diagrams = self.names.diagrams
        while not diagrams.is_constant(diagram):
            variable, low, high = diagrams.top(diagram)
            diagram = high if self.holds(variable, word, i) else low
        return diagrams.value(diagram)

    def number(self, diagram: Diagram, word: str, i: int) -> int:
        """A number at position i."""
        found = self.value(diagram, word, i)
        assert isinstance(found, Affine)
        assert not found.parts
        assert found.constant.denominator == 1
        return int(found.constant)

    def total(self, diagram: Diagram, word: str, i: int) -> int:
        """The sum of a number over the positions up to i."""
        return sum(self.number(diagram, word, j) for j in range(1, i + 1))

    def code(self, group: int, word: str, i: int) -> int:
        """Which bit of a symbol is 1."""
        (*found,) = (k for k, bit in enumerate(self.symbols[group]) if self.number(bit, word, i))
        assert len(found) <= 1
        return found[0] if found else automata.NOTHING

    def holds(self, variable: Variable, word: str, i: int) -> bool:
        """A variable at position i."""
        family, threshold = variable
        match self.names.atoms[family]:
            case LetterBit(bit):
                return bool(self.names.symbols.index(word[i - 1]) >> bit & 1)
            case SymbolCode(0, group):
                return self.number(self.symbols[group][threshold], word, i) == 1
            case PlaceAtLeast(1, 0):
                return i >= threshold
            case PlaceRemainder(modulus, factor, 0):
                return (factor * i - threshold) % modulus == 0
            case Exists(Masking.FUTURE, where):
                return self.total(where, word, i) > 0
            case At(Masking.FUTURE, False, where, inner):
                selected = [j for j in range(1, i + 1) if self.number(where, word, j)]
                return bool(selected) and self.holds((inner, threshold), word, selected[-1])
            case Shifted(-1, inner):
                return i > 1 and self.holds((inner, threshold), word, i - 1)
            case CountRemainder(Masking.FUTURE, bit, modulus, factor):
                return (factor * self.total(bit, word, i) - threshold) % modulus == 0
            case SumAtLeast(Masking.FUTURE, summand):
                return self.total(summand, word, i) >= threshold
            case atom:
                raise AssertionError(atom)


def words(symbols: str, longest: int) -> Iterator[str]:
    """All words of the length; what is asked at each position is asked of all shorter words."""
    return map("".join, product(symbols, repeat=longest))


STATES = 1000
"""So many that no sum is given up."""


def assert_followed(oracle: Oracle, diagram: Diagram, followed: Iterator[str] | Sequence[str]) -> None:
    """Step by step a diagram is what the oracle says, with places folded as they are."""
    subject = automata._Subject(oracle.names, diagram, STATES)
    places = automata._Places.of([subject])
    for word in followed:
        place, memories = 1, subject.start
        for i, letter in enumerate(word, start=1):
            codes = tuple(oracle.code(group, word, i) for _, group in subject.parents)
            scene = (oracle.names.symbols.index(letter), place, 0, codes)
            found, memories = subject.step(scene, memories)
            assert found == oracle.value(diagram, word, i), (word, i)
            place = places.next(place)


# Diagrams -------------------------------------------------------------------------------------------


def drawn(names: Formulas, rng: random.Random, bits: list[Diagram]) -> Diagram:
    """A random bit, made of a few others that look to the left."""
    bits = list(bits)

    def some() -> Diagram:
        return rng.choice(bits[-5:])

    def counted() -> Diagram:
        return names.scaled(some(), rng.choice((1, 2, 3)))

    for _ in range(rng.randint(2, 6)):
        match rng.choice(
            ("gate", "gate", "not", "place", "exists", "at", "at", "shift", "mod", "sum", "sum")
        ):
            case "gate":
                gate = rng.choice((names.both, names.either, names.different))
                bits.append(gate(some(), rng.choice(bits)))
            case "not":
                bits.append(names.negation(some()))
            case "place":
                modulus = rng.randint(2, 4)
                test = rng.choice((Remainder(modulus, rng.randrange(modulus)), NonNegative(), Zero()))
                bits.append(names.place(test, rng.choice((1, 2, -1)), 0, rng.randint(-4, 3)))
            case "exists":
                bits.append(names.exists(LEFT, some()))
            case "at":
                bits.append(names.attend(LEFT, False, some(), rng.choice(bits)))
            case "shift":
                bits.append(names.shifted(some(), -1, rng.choice((names.false, names.true))))
            case "mod":
                modulus = rng.randint(2, 4)
                remainder = Remainder(modulus, rng.randrange(modulus))
                bits.append(
                    names.counted_test(LEFT, some(), remainder, rng.choice((1, 2)), rng.randint(-1, 1))
                )
            case _:
                summand = names.plus(counted(), names.scaled(counted(), rng.choice((1, 0, -1))))
                signed = names.scaled(summand, rng.choice((1, -1)))
                bits.append(names.sum_at_least(LEFT, signed, rng.randint(-3, 4)))
    return bits[-1]


@pytest.mark.parametrize("seed", range(40))
def test_what_looks_left_is_followed_as_it_is_defined(seed: int) -> None:
    rng = random.Random(f"diagram {seed}")
    symbols = rng.choice(("ab", "ab", "abc"))
    names = Formulas(tuple(symbols))
    letters = [names.letter(symbol) for symbol in symbols]
    diagram = drawn(names, rng, letters)
    long = ["".join(rng.choices(symbols, k=14)) for _ in range(3)]
    assert_followed(Oracle(names), diagram, [*words(symbols, {2: 5, 3: 4}[len(symbols)]), *long])


@pytest.mark.parametrize("seed", range(40))
def test_symbols_that_are_kept_are_told_apart_as_far_as_it_matters(seed: int) -> None:
    """Functions of a symbol here, of the one that was kept and of that one a position late."""
    rng = random.Random(f"symbol {seed}")
    names = Formulas(tuple("abcd"))
    letters = [names.letter(symbol) for symbol in "abcd"]
    codes = [names.symbol(0, 0, code) for code in range(3)]

    def some(of: Sequence[Diagram]) -> Diagram:
        found = names.false
        for bit in rng.sample(of, rng.randint(1, 2)):
            found = names.either(found, bit)
        return found

    where = some(letters)
    kept = [names.chosen(LEFT, False, where, code) for code in codes]
    late = [names.shifted(bit, -1, names.false) for bit in kept]
    parts = [some(codes), some(kept), some(late), some([names.shifted(bit, -1, names.false) for bit in late])]
    for others in (kept, late):
        same = [names.both(code, bit) for code, bit in zip(codes, others, strict=True)]
        parts.append(names.either(names.either(same[0], same[1]), same[2]))
    if rng.random() < 0.3:
        parts.append(names.attend(LEFT, False, some(letters), some(kept)))
    diagram = names.false
    for part in rng.sample(parts, rng.randint(1, 3)):
        diagram = rng.choice((names.different, names.either))(diagram, part)
    long = ["".join(rng.choices("abcd", k=9)) for _ in range(40)]
    assert_followed(Oracle(names, [letters[:3]]), diagram, [*words("abcd", 3), *long])


@pytest.mark.parametrize("size", range(1, 10))
def test_every_letter_is_told_from_every_other(size: int) -> None:
    symbols = "abcdefghi"[:size]
    names = Formulas(tuple(symbols))
    for symbol in symbols:
        assert_followed(Oracle(names), names.letter(symbol), list(symbols))


@pytest.mark.parametrize("modulus", [2, 3, 4, 5])
def test_places_are_folded_where_all_tests_repeat(modulus: int) -> None:
    """Around the prefix and twice around the period, of one test and of a threshold with a remainder."""
    names = Formulas(("a",))
    for factor, shift, threshold in product((1, 2, 3), (0, 1), (1, 2, 6)):
        remainder = names.place(Remainder(modulus, 1), factor, 0, shift)
        late = names.at_least_place(1, 0, -threshold)
        for diagram in (remainder, late, names.both(remainder, late), names.either(remainder, late)):
            assert_followed(Oracle(names), diagram, ["a" * 30])


@pytest.mark.parametrize("summand", [(1, 0), (0, 2), (3, 1), (-1, 0), (0, -2), (-2, -3), (1, -1), (2, -3)])
def test_sums_are_followed_on_both_sides_of_their_thresholds(summand: tuple[int, int]) -> None:
    """One threshold, two of one sum, and a sum that is looked at again one position late."""
    names = Formulas(("a", "b"))
    counted = names.plus(*(names.scaled(names.letter(s), k) for s, k in zip("ab", summand, strict=True)))
    for threshold in range(-4, 5):
        reached = names.sum_at_least(LEFT, counted, threshold)
        further = names.sum_at_least(LEFT, counted, threshold + 2)
        late = names.shifted(reached, -1, names.false)
        for diagram in (reached, names.different(reached, further), names.different(reached, late)):
            assert_followed(Oracle(names), diagram, [*words("ab", 6), "a" * 9, "b" * 9])


@pytest.mark.parametrize(
    ("factors", "last"), [((1, 0), 4), ((3, 2), 4), ((-1, 0), -3), ((-3, -2), -3)], ids=str
)
def test_sums_that_only_rise_or_only_fall_are_cut_off(factors: tuple[int, int], last: int) -> None:
    """At the largest of the thresholds -2 and 4, and at the smallest less 1, where both are settled for ever.

    The atoms are made as they stand: in normal forms a sum that only falls is one that only rises.
    """
    names = Formulas(("a", "b"))
    summand = names.plus(*(names.scaled(names.letter(s), k) for s, k in zip("ab", factors, strict=True)))
    atom = SumAtLeast(LEFT, summand)
    diagram = names.different(names._bit(atom, -2), names._bit(atom, 4))
    assert_followed(Oracle(names), diagram, [*words("ab", 5), "a" * 9])
    subject = automata._Subject(names, diagram, STATES)
    memories = subject.start
    for _ in range(20):
        _, memories = subject.step((0, 1, 0, ()), memories)
    assert memories == (last,)


def test_a_kept_sum_is_known_at_each_of_its_thresholds() -> None:
    """Thresholds hold together, so none stands for another: 1 or at least 3 was kept, 0 or 2 was not."""
    names = Formulas(("a", "b", "c"))
    a, b = names.letter("a"), names.letter("b")
    one, two, three = (names.chosen(LEFT, False, b, names.sum_at_least(LEFT, a, t)) for t in (1, 2, 3))
    odd = names.either(names.both(one, names.negation(two)), three)
    for diagram in (odd, names.different(odd, names.shifted(odd, -1, names.false))):
        assert_followed(Oracle(names), diagram, [*words("abc", 4), *("a" * k + "bcabcc" for k in range(6))])


def test_a_kept_symbol_that_something_else_keeps_is_known_by_each_of_its_codes() -> None:
    """On a letter x the last of a, b and c is kept, on y what was kept then: all three differ at last."""
    names = Formulas(tuple("abcxy"))
    letters = {symbol: names.letter(symbol) for symbol in "abcxy"}
    definitions = [letters[symbol] for symbol in "abc"]
    any_of_them = names.either(names.either(*definitions[:2]), definitions[2])
    twice = []
    for code in range(3):
        kept = names.chosen(LEFT, False, any_of_them, names.symbol(0, 0, code))
        twice.append(names.attend(LEFT, False, letters["x"], kept))
    # The last letter is a with a kept, b with b, or x where c is kept.
    pairs = [names.both(letters[s], bit) for s, bit in zip("abx", twice, strict=True)]
    diagram = names.either(names.either(pairs[0], pairs[1]), pairs[2])
    followed = [f"{p}x{q}{r}xy{s}" for p, q, r, s in product("abc", "abc", "abcx", "abcx")]
    assert_followed(Oracle(names, [definitions]), diagram, [*words("abcxy", 3), *followed])


def test_each_code_of_a_kept_symbol_is_told_apart_by_what_stands_here() -> None:
    """Kept is a, or it is b and here is x, or it is c and here is y."""
    names = Formulas(tuple("abcxy"))
    definitions = [names.letter(symbol) for symbol in "abc"]
    x, y = names.letter("x"), names.letter("y")
    any_of_them = names.negation(names.either(x, y))
    a, b, c = (names.attend(LEFT, False, any_of_them, names.symbol(0, 0, code)) for code in range(3))
    diagram = names.either(a, names.either(names.both(b, x), names.both(c, y)))
    assert_followed(Oracle(names, [definitions]), diagram, list(words("abcxy", 4)))


# The rule -------------------------------------------------------------------------------------------


def analysed(
    names: Formulas, output: Diagram, symbols: Sequence[Sequence[Diagram]] = (), error: Fraction = Fraction(0)
) -> Analysis:
    """The analysis of a network whose output and symbols are these diagrams."""
    network = Network(
        alphabet=Alphabet(names.symbols),
        coordinates=("out",),
        embedding=((),) * len(names.symbols),
        positions=(),
        layers=(),
        head_width=1,
        output=0,
        reads_first=False,
        accepts_empty=False,
    )
    facts = tuple(SymbolFact(0, group, tuple(bits)) for group, bits in enumerate(symbols))
    return Analysis(network, names, Stream([{(0, 0): output}], [error]), (), facts)


def ends_in(symbols: str, accepted: str) -> Dfa:
    """Words whose last letter is one of these."""
    return samples.explored(symbols, "", lambda _, x: x, lambda s: bool(s) and str(s) in accepted)


def test_an_output_that_is_off_by_a_quarter_is_read_as_its_bit() -> None:
    names = Formulas(("a", "b"))
    for error, answer in ((Fraction(0), True), (ROUNDED, True), (ROUNDED + Fraction(1, 10**9), False)):
        assert computes(analysed(names, names.letter("a"), error=error), ends_in("ab", "a")) is answer


@pytest.mark.parametrize("explored", [automata.MAX_EXPLORED, 0], ids=["together", "one by one"])
@pytest.mark.parametrize("meeting", [(0, 1), (0, 2), (1, 2), (0, 1, 2)], ids=str)
def test_any_two_bits_of_a_symbol_that_meet_are_found(
    meeting: tuple[int, ...], explored: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three bits, each 1 on a letter of its own, and on a fourth letter the bits that meet."""
    monkeypatch.setattr(automata, "MAX_EXPLORED", explored)
    names = Formulas(tuple("abcd"))
    letters = [names.letter(symbol) for symbol in "abcd"]
    output = names.symbol(0, 0, 2)
    assert computes(analysed(names, output, [letters[:3]]), ends_in("abcd", "c"))
    bits = [names.either(bit, letters[3]) if k in meeting else bit for k, bit in enumerate(letters[:3])]
    with pytest.raises(UnprovenError, match="two bits of one symbol"):
        computes(analysed(names, output, [bits]), ends_in("abcd", "cd" if 2 in meeting else "c"))


# Caps -----------------------------------------------------------------------------------------------


def output_and_places(diagram: Diagram, names: Formulas) -> tuple[automata._Subject, automata._Places]:
    """An output without symbols, and its places."""
    output = automata._Subject(names, diagram, STATES)
    return output, automata._Places.of([output])


def test_as_many_configurations_as_the_cap_are_followed_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each of the two states of the automaton: nothing is kept, and places are all alike."""
    names, dfa = Formulas(("a", "b")), ends_in("ab", "a")
    assert len(dfa.moves) == 2
    output, places = output_and_places(names.letter("a"), names)
    for cap, answer in ((3, True), (2, True), (1, None), (0, None)):
        monkeypatch.setattr(automata, "MAX_EXPLORED", cap)
        assert automata._explored(places, dfa, {}, output) is answer


def test_as_many_configurations_as_the_cap_are_followed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """One for each state and letter."""
    names, dfa = Formulas(("a", "b")), ends_in("ab", "a")
    output, places = output_and_places(names.letter("a"), names)
    symbol = automata._Subject(
        names, automata._code(names, SymbolFact(0, 0, (names.letter("a"),))), len(dfa.moves)
    )
    for cap in (5, 4):
        monkeypatch.setattr(automata, "MAX_CONFIGURATIONS", cap)
        automata._Followed(places, dfa).follow((0, 0), symbol)
        assert automata._Followed(places, dfa).agrees(output)
    for cap in (3, 2):
        monkeypatch.setattr(automata, "MAX_CONFIGURATIONS", cap)
        with pytest.raises(UnprovenError, match="a symbol has over"):
            automata._Followed(places, dfa).follow((0, 0), symbol)
        with pytest.raises(UnprovenError, match="its output has over"):
            automata._Followed(places, dfa).agrees(output)


def test_as_many_symbols_as_the_cap_are_read_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two symbols with two codes each on the letter a, and one of them with one on b."""
    dfa = ends_in("ab", "a")
    start, (a, b) = dfa.start, (0, 1)
    left = automata.Track(frozenset({(a, 1, start, (0,)), (a, 1, start, (1,)), (b, 1, start, (2,))}), {})
    right = automata.Track(frozenset({(a, 1, start, (3,)), (a, 1, start, (4,))}), {})
    paths = automata._Paths(automata._Places(1, 1), dfa, [left, right])
    expected = {(a, 1, start, codes) for codes in ((0, 3), (0, 4), (1, 3), (1, 4))}
    monkeypatch.setattr(automata, "MAX_CONFIGURATIONS", 4)
    assert set(paths.first()) == expected
    monkeypatch.setattr(automata, "MAX_CONFIGURATIONS", 3)
    with pytest.raises(UnprovenError, match="read together"):
        paths.first()


@pytest.mark.parametrize(("threshold", "modulus"), [(1, 16), (12, 2), (2, 15)])
def test_more_positions_than_the_cap_are_not_told_apart(
    threshold: int, modulus: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of these alone, the threshold or the period or both together, has more than ten."""
    names = Formulas(("a",))
    late = names.at_least_place(1, 0, -threshold)
    output = names.different(late, names.place(Remainder(modulus, 0), 1, 0, 0))
    assert_followed(Oracle(names), output, ["a" * 40])
    monkeypatch.setattr(automata, "MAX_PLACES", 10)
    with pytest.raises(UnprovenError, match="positions apart"):
        output_and_places(output, names)
