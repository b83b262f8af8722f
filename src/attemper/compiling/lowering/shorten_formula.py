"""The shortest past formulas of many sets of words, by search, and shorter ones for the parts of a formula.

Formulas are listed by size, each as the set of the words on which it holds, and one is kept for each set. A
set has all words up to a length, and is one integer: its binary digits are the words, length by length, so
that the words that end in another letter are another block of digits. A formula that is right on these
words is followed beside the automaton, which decides. `split_formula` puts longer formulas together.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from math import lcm
from typing import TypeVar, final

from attemper.compiling.lowering.cascade_to_formula import POSITION
from attemper.errors import UnsupportedError
from attemper.exact.predicates import Remainder
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal import syntax
from attemper.languages.temporal.connectives import negation
from attemper.languages.temporal.core import values_by_core
from attemper.languages.words import Alphabet

WORDS = 800
"""Of so many words at most it is looked at whether a formula holds."""

LENGTHS = 10
"""They have at most so many letters."""

CANDIDATES = 20_000
"""So many formulas are tried, the shortest first."""

CANDIDATES_FOR_PARTS = 250_000
"""So many are tried for the parts of a long formula."""

MEMORIES = 5_000
"""A formula that remembers more is not followed."""

PLACE = 3
"""A test of the position's remainder counts as so many operators: as `pos`, `%` and `=`."""

Set = int
"""The words on which a formula holds, as binary digits."""

_UNARY = (
    syntax.UnaryOperator.YESTERDAY,
    syntax.UnaryOperator.WEAK_YESTERDAY,
    syntax.UnaryOperator.ONCE,
    syntax.UnaryOperator.HISTORICALLY,
)
_BINARY = (
    syntax.BinaryOperator.AND,
    syntax.BinaryOperator.OR,
    syntax.BinaryOperator.SINCE,
    syntax.BinaryOperator.IMPLIES,
    syntax.BinaryOperator.IFF,
)
_COMMUTATIVE = frozenset({syntax.BinaryOperator.AND, syntax.BinaryOperator.OR, syntax.BinaryOperator.IFF})


# Sets of words ----------------------------------------------------------------------------------------


@final
class Words:
    """All words of 1 to so many letters. Those of each length are k blocks: one for each last letter."""

    def __init__(self, alphabet: Alphabet, most: int | None = None) -> None:
        self.symbols = alphabet.symbols
        self.widths = [1]
        for length in range(LENGTHS):
            following = self.widths[-1] * len(self.symbols)
            if length < 2 or sum(self.widths) + following <= (most or WORDS):
                self.widths.append(following)
        del self.widths[0]
        self.offsets = [sum(self.widths[:n]) for n in range(len(self.widths))]
        self.all = (1 << sum(self.widths)) - 1
        repeated = [sum(1 << width * n for n in range(len(self.symbols))) for width in (1, *self.widths)]
        self.longer = list(zip(self.offsets[1:], self.widths[1:], repeated[1:], strict=False))
        """Offset and width of each length from 2 on, and what repeats the words that are one shorter."""

    def letter(self, symbol: str) -> Set:
        """The words that end in the symbol."""
        own = self.symbols.index(symbol)
        found = 0
        for offset, width in zip(self.offsets, self.widths, strict=True):
            block = width // len(self.symbols)
            found |= ((1 << block) - 1) << (offset + own * block)
        return found

    def first(self) -> Set:
        """The words of one letter."""
        return (1 << self.widths[0]) - 1

    def place(self, modulus: int, remainder: int) -> Set:
        """The words whose length has the remainder."""
        blocks = enumerate(zip(self.offsets, self.widths, strict=True), 1)
        return sum((1 << w) - 1 << o for length, (o, w) in blocks if length % modulus == remainder)

    def accepted(self, dfa: Dfa) -> Set:
        """The words that the automaton accepts."""
        found, states = 0, [dfa.start]
        for offset in self.offsets:
            states = [dfa.moves[state][letter] for letter in range(len(self.symbols)) for state in states]
            bits = "".join("1" if state in dfa.accepting else "0" for state in reversed(states))
            found |= int(bits, 2) << offset
        return found

    def since(self, kept: Set, begun: Set) -> Set:
        """The words with `begun` at some prefix, and `kept` at all later ones."""
        before = begun & self.first()
        found = before
        for offset, width, repeated in self.longer:
            here = (1 << width) - 1
            before = (begun >> offset | kept >> offset & before * repeated) & here
            found |= before << offset
        return found

    def yesterday(self, own: Set) -> Set:
        """The words whose prefix without the last letter is in the set."""
        before, found = own & self.first(), 0
        for offset, width, repeated in self.longer:
            found |= before * repeated << offset
            before = own >> offset & (1 << width) - 1
        return found

    def shorter(self, own: Set) -> Set:
        """The words that with one more letter are in the set."""
        found = 0
        following = list(zip(self.offsets, self.widths, strict=True))[1:]
        for (into, width), (offset, _) in zip(
            zip(self.offsets, self.widths, strict=False), following, strict=False
        ):
            for letter in range(len(self.symbols)):
                found |= (own >> offset + letter * width & (1 << width) - 1) << into
        return found

    def prefixes(self, own: Set) -> Set:
        """The words of the set and all their prefixes."""
        found = 0
        while own & ~found:
            found |= own
            own = self.shorter(own)
        return found

    def of_core(self, formula: syntax.Formula, known: Mapping[syntax.Formula, Set]) -> Set:
        """The set of a formula whose operator is of the core. Raises `UnsupportedError` otherwise."""
        match formula:
            case syntax.Symbol(name):
                return self.letter(name)
            case syntax.Constant(value):
                return self.all if value else 0
            case syntax.First():
                return self.first()
            case syntax.Unary(syntax.UnaryOperator.NOT, operand):
                return self.all ^ known[operand]
            case syntax.Unary(syntax.UnaryOperator.YESTERDAY, operand):
                return self.yesterday(known[operand])
            case syntax.Binary(syntax.BinaryOperator.SINCE, left, right):
                return self.since(known[left], known[right])
            case syntax.Binary(operator, left, right) if operator in _GATES:
                return _GATES[operator](known[left], known[right])
            case syntax.Numerical(Remainder(modulus, remainder), term) if term == POSITION:
                return self.place(modulus, remainder)
            case _:
                raise UnsupportedError("only past formulas without counts are shortened")


_GATES: dict[syntax.BinaryOperator, Callable[[int, int], int]] = {
    syntax.BinaryOperator.AND: lambda left, right: left & right,
    syntax.BinaryOperator.OR: lambda left, right: left | right,
    syntax.BinaryOperator.XOR: lambda left, right: left ^ right,
}


# Search -----------------------------------------------------------------------------------------------


@final
class Library:
    """One of the shortest formulas for each of many sets of words.

    They test the remainders of positions by all that divides the period.
    """

    def __init__(
        self, words: Words, period: int = 1, wanted: Set | None = None, candidates: int | None = None
    ) -> None:
        self.words = words
        self.candidates = candidates or CANDIDATES
        self.period = period
        self.found: dict[Set, syntax.Formula] = {}
        self.by_size: list[list[tuple[Set, syntax.Formula]]] = [[]]
        self.wanted = wanted
        self._list()

    def shorter(self, formula: syntax.Formula) -> syntax.Formula:
        """The same, with a shorter formula for each part that has one.

        Raises `UnsupportedError` if it is no past formula without counts.
        """
        sets = values_by_core(formula, self.words.of_core)
        known: dict[syntax.Formula, syntax.Formula] = {}
        for part in syntax.subformulas(formula):
            known[part] = with_operands(part, known)
            found = self.found.get(sets[part])
            if found is not None and found != known[part] and same(found, known[part], self.words.symbols):
                known[part] = found
        return known[formula]

    def _list(self) -> None:
        words, left = self.words, self.candidates
        leaves: list[tuple[Set, syntax.Formula]] = [
            (words.letter(s), syntax.Symbol(s)) for s in words.symbols
        ]
        leaves += [
            (words.first(), syntax.First()),
            (words.all, syntax.Constant(True)),
            (0, syntax.Constant(False)),
        ]
        candidates = iter(leaves)
        while True:
            size, before = len(self.by_size), left
            own: list[tuple[Set, syntax.Formula]] = []
            self.by_size.append(own)
            for holds, formula in candidates:
                left -= 1
                if holds not in self.found:
                    self.found[holds] = formula
                    own.append((holds, formula))
                if left <= 0 or holds == self.wanted:
                    return
            if left == before and size > PLACE:  # there are no more sets: each has its formula
                return
            candidates = self._of_size(size + 1)

    def _of_size(self, size: int) -> Iterator[tuple[Set, syntax.Formula]]:
        """Negations last: of two formulas of a size people prefer the other one."""
        if size == PLACE:
            for modulus in (m for m in range(2, self.period + 1) if self.period % m == 0):
                for remainder in range(modulus):
                    test = syntax.Numerical(Remainder(modulus, remainder), POSITION)
                    yield self.words.place(modulus, remainder), test
        for unary in _UNARY:
            for holds, formula in self.by_size[size - 1]:
                yield self._unary(unary, holds), syntax.Unary(unary, formula)
        for one in range(1, size - 1):
            for operator in _BINARY:
                if one > size - 1 - one and operator in _COMMUTATIVE:
                    continue
                for left, f in self.by_size[one]:
                    for right, g in self.by_size[size - 1 - one]:
                        yield self._binary(operator, left, right), syntax.Binary(operator, f, g)
        for holds, formula in self.by_size[size - 1]:
            yield self.words.all ^ holds, negation(formula)

    def _unary(self, operator: syntax.UnaryOperator, own: Set) -> Set:
        words = self.words
        match operator:
            case syntax.UnaryOperator.YESTERDAY:
                return words.yesterday(own)
            case syntax.UnaryOperator.WEAK_YESTERDAY:
                return words.yesterday(own) | words.first()
            case syntax.UnaryOperator.ONCE:
                return words.since(words.all, own)
            case _:
                return words.all ^ words.since(words.all, words.all ^ own)

    def _binary(self, operator: syntax.BinaryOperator, left: Set, right: Set) -> Set:
        words = self.words
        match operator:
            case syntax.BinaryOperator.SINCE:
                return words.since(left, right)
            case syntax.BinaryOperator.IMPLIES:
                return words.all ^ left | right
            case syntax.BinaryOperator.IFF:
                return words.all ^ left ^ right
            case _:
                return _GATES[operator](left, right)


def shortened(formula: syntax.Formula, alphabet: Alphabet) -> syntax.Formula:
    """The same formula with parts that are no longer than they need be; as it is if it counts.

    >>> from attemper.languages.temporal.parse import parse
    >>> from attemper.languages.temporal.show import show
    >>> show(shortened(parse("a & Y a | b & Y a | !Y (a | b)"), Alphabet(("a", "b"))))
    'WY a'
    """
    words = Words(alphabet)
    try:
        values_by_core(formula, words.of_core)  # asked before the search, which takes longer
    except UnsupportedError:
        return formula
    return Library(words, candidates=CANDIDATES_FOR_PARTS).shorter(formula)


def with_operands(part: syntax.Formula, known: Mapping[syntax.Formula, syntax.Formula]) -> syntax.Formula:
    """The formula with other operands, and counts of other formulas."""
    match part:
        case syntax.Unary(syntax.UnaryOperator.NOT, operand):
            return negation(known[operand])
        case syntax.Unary(operator, operand):
            return syntax.Unary(operator, known[operand])
        case syntax.Binary(operator, left, right):
            return syntax.Binary(operator, known[left], known[right])
        case syntax.Comparison(operator_, left_term, right_term):
            return syntax.Comparison(
                operator_, _of_other_counts(left_term, known), _of_other_counts(right_term, known)
            )
        case syntax.Numerical(predicate, term):
            return syntax.Numerical(predicate, _of_other_counts(term, known))
        case _:
            return part


def _of_other_counts(term: syntax.Term, known: Mapping[syntax.Formula, syntax.Formula]) -> syntax.Term:
    parts = (
        (
            factor,
            syntax.CountAtom(atom.side, known[atom.formula]) if isinstance(atom, syntax.CountAtom) else atom,
        )
        for factor, atom in term.parts
    )
    return syntax.linear_term(tuple(parts), term.constant)


# Beside an automaton ----------------------------------------------------------------------------------

Memory = tuple[int, frozenset[syntax.Formula] | None]
"""The position before, modulo all that it is tested by, and what is asked of it and held there; None before
the first."""

BEGIN: Memory = (0, None)

State = TypeVar("State", bound=Hashable)
Other = TypeVar("Other", bound=Hashable)
Following = Callable[[State, str], tuple[bool, State]]
"""Whether the word so far is accepted with one more symbol, and the state then."""


def says(formula: syntax.Formula, dfa: Dfa) -> bool:
    """Whether a past formula is seen to hold, at each position of every word, if that prefix is accepted."""
    numbers = {symbol: number for number, symbol in enumerate(dfa.alphabet.symbols)}

    def moved(state: int, symbol: str) -> tuple[bool, int]:
        target = dfa.moves[state][numbers[symbol]]
        return target in dfa.accepting, target

    return _are_alike(_followed(formula), BEGIN, moved, dfa.start, dfa.alphabet.symbols)


def same(one: syntax.Formula, other: syntax.Formula, symbols: Sequence[str]) -> bool:
    """Whether two past formulas are seen to be true at the same positions of every word."""
    return _are_alike(_followed(one), BEGIN, _followed(other), BEGIN, symbols)


def _are_alike(
    one: Following[State], begin: State, other: Following[Other], start: Other, symbols: Sequence[str]
) -> bool:
    """Whether both say the same after every word; False if there are more than `MEMORIES` pairs of states."""
    waiting = [(begin, start)]
    seen = set(waiting)
    for left, right in waiting:
        for symbol in symbols:
            (is_true, after), (is_also, there) = one(left, symbol), other(right, symbol)
            if is_true != is_also:
                return False
            if (after, there) not in seen:
                seen.add((after, there))
                waiting.append((after, there))
        if len(waiting) > MEMORIES:
            return False
    return True


def _followed(formula: syntax.Formula) -> Following[Memory]:
    tests = [part.predicate for part in syntax.subformulas(formula) if isinstance(part, syntax.Numerical)]
    period = lcm(*(test.modulus for test in tests if isinstance(test, Remainder)))
    return lambda memory, symbol: _step(formula, symbol, memory, period)


def _step(formula: syntax.Formula, symbol: str, memory: Memory, period: int) -> tuple[bool, Memory]:
    """Whether the formula holds at a position with this symbol, and what is remembered of that position."""
    remembered: set[syntax.Formula] = set()
    position, before = (memory[0] + 1) % period, memory[1]

    def of_core(part: syntax.Formula, known: Mapping[syntax.Formula, bool]) -> bool:
        value = _holds(part, known, symbol, position, before)
        match part:
            case syntax.Unary(syntax.UnaryOperator.YESTERDAY, operand) if known[operand]:
                remembered.add(operand)
            case syntax.Binary(syntax.BinaryOperator.SINCE) if value:
                remembered.add(part)
            case _:
                pass
        return value

    value = values_by_core(formula, of_core)[formula]
    return value, (position, frozenset(remembered))


def _holds(
    part: syntax.Formula,
    known: Mapping[syntax.Formula, bool],
    symbol: str,
    position: int,
    before: frozenset[syntax.Formula] | None,
) -> bool:
    match part:
        case syntax.Symbol(name):
            return name == symbol
        case syntax.Constant(value):
            return value
        case syntax.First():
            return before is None
        case syntax.Unary(syntax.UnaryOperator.NOT, operand):
            return not known[operand]
        case syntax.Unary(syntax.UnaryOperator.YESTERDAY, operand):
            return before is not None and operand in before
        case syntax.Binary(syntax.BinaryOperator.SINCE, left, right):
            return known[right] or (known[left] and before is not None and part in before)
        case syntax.Binary(operator, left, right) if operator in _GATES:
            return bool(_GATES[operator](known[left], known[right]))
        case syntax.Numerical(Remainder(modulus, remainder), term) if term == POSITION:
            return position % modulus == remainder
        case _:
            raise UnsupportedError("only past formulas without counts are followed beside an automaton")
