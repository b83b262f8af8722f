"""Programs as people write them, for tests: their meaning straight from the text, and random ones.

`RaspMeaning` shares nothing with the lowering: it looks at every pair of positions, and has the values of
Bits as bools, of Integers as ints, of Symbols as strings and of Distributions as pairs.
"""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterable
from fractions import Fraction

from attemper.attention_program.ops import Choice, Direction, Mask
from attemper.languages.rasp import syntax
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, Word

Value = bool | int | str | tuple[tuple[str, Fraction], ...]

_SEES: dict[Mask, Callable[[int, int], bool]] = {
    Mask.UP_TO: lambda i, j: j <= i,
    Mask.BEFORE: lambda i, j: j < i,
    Mask.FROM: lambda i, j: j >= i,
    Mask.AFTER: lambda i, j: j > i,
    Mask.ALL: lambda i, j: True,
}
_RELATIONS: dict[syntax.Relation, Callable[[Value, Value], bool]] = {
    syntax.Relation.EQUAL: operator.eq,
    syntax.Relation.UNEQUAL: operator.ne,
    syntax.Relation.AT_MOST: operator.le,
    syntax.Relation.LESS: operator.lt,
    syntax.Relation.AT_LEAST: operator.ge,
    syntax.Relation.GREATER: operator.gt,
}


class RaspMeaning:
    """What a source says of a word, at each position."""

    def __init__(self, source: syntax.ProgramText, word: Word) -> None:
        self.word = word
        self.definitions = {one.name: one.expression for one in source.definitions}
        self.known: dict[tuple[str, int], Value] = {}
        self.keys: dict[tuple[int, int], int] = {}
        self.output = source.output

    def outputs(self) -> tuple[Value, ...]:
        return tuple(self.value(self.output, i) for i in range(1, len(self.word) + 1))

    def named(self, name: str, i: int) -> Value:
        if (name, i) not in self.known:
            self.known[name, i] = self.value(self.definitions[name], i)
        return self.known[name, i]

    def value(self, expression: syntax.Expression, i: int, j: int = 0) -> Value:
        """The value at i; inside brackets, where all is applied, at i and j."""

        def of(part: syntax.Expression) -> Value:
            return self.value(part, i, j)

        match expression:
            case syntax.Truth(value) | syntax.Number(value):
                return value
            case syntax.Edge(at):
                return i == (1 if at is At.FIRST else len(self.word))
            case syntax.In(symbols):
                return self.word[i - 1] in symbols
            case syntax.WordSymbol():
                return self.word[i - 1]
            case syntax.Name(name):
                return self.named(name, i)
            case syntax.SymbolName(name):
                return name
            case syntax.Distributed(probabilities):
                return probabilities
            case syntax.Position():
                return i
            case syntax.Length():
                return len(self.word)
            case syntax.Negation(operand):
                return not of(operand)
            case syntax.Joined(syntax.Join.AND, parts):
                return all(map(of, parts))
            case syntax.Joined(syntax.Join.OR, parts):
                return any(map(of, parts))
            case syntax.Joined(syntax.Join.XOR, parts):
                return sum(map(bool, map(of, parts))) % 2 == 1
            case syntax.Implication(premise, conclusion):
                return not of(premise) or of(conclusion)
            case syntax.Comparison(relation, left, right):
                return _RELATIONS[relation](of(left), of(right))
            case syntax.RemainderTest(operand, modulus, remainder):
                return (int(of(operand)) - remainder) % modulus == 0
            case syntax.Sum(parts):
                return sum(int(of(part)) for part in parts)
            case syntax.Negative(operand):
                return -int(of(operand))
            case syntax.Multiple(factor, operand):
                return factor * int(of(operand))
            case syntax.ExtremeOf(extreme, parts):
                numbers = [int(of(part)) for part in parts]
                return min(numbers) if extreme is syntax.Extreme.LEAST else max(numbers)
            case syntax.Magnitude(operand):
                return abs(int(of(operand)))
            case syntax.Conditional(condition, then, otherwise):
                return of(then) if of(condition) else of(otherwise)
            case syntax.Quantified(syntax.Quantifier.EVERY, mask, condition, None):
                assert condition is not None
                return self._found(mask, condition, i) == self._found(mask, None, i)
            case syntax.Quantified(quantifier, mask, condition, body):
                return self._quantified(quantifier, self._found(mask, condition, i), body)
            case syntax.Selection(choice, mask, condition, value, default):
                found = self._found(mask, condition, i)
                if not found:
                    assert default is not None
                    return self.value(default, i)
                chosen = max(found) if choice is Choice.RIGHTMOST else min(found)
                return self.value(value, chosen, chosen)
            case syntax.Nearest():
                if not self._found(expression.mask, None, i):
                    assert expression.default is not None
                    return self.value(expression.default, i)
                chosen = self._nearest(expression, i)
                return self.value(expression.value, chosen, chosen)
            case syntax.Shifted(direction, distance, value, default):
                there = i - distance if direction is Direction.PREVIOUS else i + distance
                if 1 <= there <= len(self.word):
                    return self.value(value, there)
                return False if default is None else self.value(default, i)
            case syntax.Applied(operand, index):
                return self.value(operand, i if index is syntax.Index.HERE else j)

    def _found(self, mask: Mask, condition: syntax.Expression | None, i: int) -> list[int]:
        seen = [j for j in range(1, len(self.word) + 1) if _SEES[mask](i, j)]
        return [j for j in seen if condition is None or self.value(condition, i, j)]

    def _nearest(self, nearest: syntax.Nearest, i: int) -> int:
        """The position that is read: a number that is added to the key is taken off both Integers."""
        number, query = self._added(nearest.key), int(self.value(nearest.query, i))
        distances = {}
        for j in self._found(nearest.mask, None, i):
            key = self._key(nearest, j)
            sought = nearest.condition is None or bool(self.value(nearest.condition, i, j))
            distances[j] = (self._clamped(query - number) - self._clamped(key - number)) ** 2 + (not sought)
        best = [j for j, distance in distances.items() if distance == min(distances.values())]
        return best[-1] if nearest.choice is Choice.RIGHTMOST else best[0]

    def _clamped(self, integer: int) -> int:
        return min(max(integer, 1), len(self.word))

    def _key(self, nearest: syntax.Nearest, j: int) -> int:
        if (id(nearest), j) not in self.keys:
            self.keys[id(nearest), j] = int(self.value(nearest.key, 0, j))
        return self.keys[id(nearest), j]

    def _added(self, key: syntax.Expression) -> int:
        """The number in a key, whose positions are those from either end, from 1 on."""
        positions, lengths, number = self._places(key)
        return number - {(-1, 1): 1, (1, -1): -1}.get((positions, lengths), 0)

    def _places(self, integer: syntax.Expression) -> tuple[int, int, int]:
        """How often it has the position and the length, and the number that is added."""
        match integer:
            case syntax.Position():
                return 1, 0, 0
            case syntax.Length():
                return 0, 1, 0
            case syntax.Number(value):
                return 0, 0, value
            case syntax.Name(name):
                return self._places(self.definitions[name])
            case syntax.Applied(operand):
                return self._places(operand)
            case syntax.Negative(operand):
                position, length, number = self._places(operand)
                return -position, -length, -number
            case syntax.Sum(parts):
                rows = zip(*map(self._places, parts), strict=True)
                position, length, number = map(sum, rows)
                return position, length, number
            case syntax.Conditional(_, then, otherwise):
                return min(map(self._places, (then, otherwise)), key=lambda places: places[2])
            case _:
                return 0, 0, 0

    def _quantified(
        self, quantifier: syntax.Quantifier, found: list[int], body: syntax.Expression | None
    ) -> Value:
        holds = [body is None or bool(self.value(body, j, j)) for j in found]
        match quantifier:
            case syntax.Quantifier.SOME:
                return any(holds)
            case syntax.Quantifier.EVERY:
                return all(holds)
            case syntax.Quantifier.COUNT:
                return sum(holds)


class RaspSampler:
    """Draws sources whose types fit, with every kind of expression."""

    def __init__(self, rng: random.Random, alphabet: str = "ab") -> None:
        self.rng = rng
        self.alphabet = Alphabet(tuple(alphabet))
        self.bits: list[str] = []
        self.integers: list[str] = []
        self.symbols: dict[str, frozenset[str]] = {}

    def source(self, definitions: int) -> syntax.ProgramText:
        """A source of so many definitions; the output builds on them."""
        defined = []
        for index in range(definitions):
            name = f"d{index}"
            defined.append(syntax.Assignment(name, self._defined(name)))
        if self.rng.random() < 0.2:
            return syntax.ProgramText(self.alphabet, None, tuple(defined), self.symbol(2)[0])
        at = At.FIRST if self.rng.random() < 0.2 else At.LAST
        return syntax.ProgramText(self.alphabet, self.rng.random() < 0.5, tuple(defined), self.bit(2), at)

    def _defined(self, name: str) -> syntax.Expression:
        match self.rng.choice(("bit", "bit", "bit", "integer", "symbol")):
            case "bit":
                bit = self.bit(2)
                self.bits.append(name)
                return bit
            case "integer":
                integer = self.integer(2)
                self.integers.append(name)
                return integer
            case _:
                symbol, names = self.symbol(2)
                self.symbols[name] = names
                return symbol

    def bit(self, depth: int) -> syntax.Expression:
        leaves: list[Callable[[], syntax.Expression]] = [self._in, self._bit_name, self._bit_name]
        leaves += [
            lambda: syntax.Truth(self.rng.random() < 0.5),
            lambda: syntax.Edge(self.rng.choice(list(At))),
        ]
        if depth == 0:
            return self.rng.choice(leaves)()
        inner: list[Callable[[], syntax.Expression]] = [
            lambda: syntax.Negation(self.bit(depth - 1)),
            lambda: self._joined(lambda: self.bit(depth - 1)),
            lambda: syntax.Implication(self.bit(depth - 1), self.bit(depth - 1)),
            lambda: self._compared(self.integer(depth - 1), self.integer(depth - 1)),
            lambda: self._equal(self.symbol(depth - 1), self.symbol(depth - 1)),
            lambda: self._congruence(self.integer(depth - 1)),
            lambda: syntax.Conditional(self.bit(depth - 1), self.bit(depth - 1), self.bit(depth - 1)),
            lambda: self._quantified(depth),
            lambda: self._quantified(depth),
            lambda: self._selection(self.bit(depth - 1), syntax.Truth(self.rng.random() < 0.3)),
            lambda: self._selection(self.bit(depth - 1), syntax.Truth(self.rng.random() < 0.3)),
            lambda: self._nearest(self.bit(depth - 1), syntax.Truth(self.rng.random() < 0.3)),
            lambda: self._shifted_value(
                self.bit(depth - 1), self.rng.choice((None, syntax.Truth(True), syntax.Truth(False)))
            ),
        ]
        return self.rng.choice([*leaves, *inner, *inner])()

    def integer(self, depth: int) -> syntax.Expression:
        leaves: list[Callable[[], syntax.Expression]] = [
            lambda: syntax.Number(self.rng.randrange(4)),
            syntax.Position,
            syntax.Length,
            self._integer_name,
        ]
        if depth == 0:
            return self.rng.choice(leaves)()
        one = lambda: self.integer(depth - 1)  # noqa: E731 - drawn anew each time
        inner: list[Callable[[], syntax.Expression]] = [
            lambda: syntax.Sum((one(), one())),
            lambda: syntax.Sum((one(), syntax.Negative(one()), one())),
            lambda: syntax.Negative(one()),
            lambda: syntax.Multiple(self.rng.randrange(4), one()),
            lambda: syntax.ExtremeOf(self.rng.choice(list(syntax.Extreme)), (one(), one())),
            lambda: syntax.Magnitude(one()),
            lambda: syntax.Conditional(self.bit(depth - 1), one(), one()),
            lambda: self._count(depth),
            lambda: self._count(depth),
            lambda: self._count(depth),
        ]
        return self.rng.choice([*leaves, *inner, *inner])()

    def symbol(self, depth: int) -> tuple[syntax.Expression, frozenset[str]]:
        draw = self.rng.randrange(8 if depth else 3)
        match draw:
            case 0:
                return syntax.WordSymbol(), frozenset(self.alphabet.symbols)
            case 1 if self.symbols:
                name = self.rng.choice(list(self.symbols))
                return syntax.Name(name), self.symbols[name]
            case 1 | 2:
                name = self._symbol_name()
                return syntax.SymbolName(name), frozenset({name})
            case 3 | 4:
                (then, some), (otherwise, others) = self.symbol(depth - 1), self.symbol(depth - 1)
                return syntax.Conditional(self.bit(depth - 1), then, otherwise), some | others
            case 5:
                value, names = self.symbol(depth - 1)
                default = self._symbol_name()
                nearest = self._nearest(value, syntax.SymbolName(default))
                return nearest, names | ({default} if nearest.mask.is_strict else set())
            case _:
                value, names = self.symbol(depth - 1)
                default = self._symbol_name()
                fetch = self._selection if draw == 6 else self._shifted_value
                return fetch(value, syntax.SymbolName(default)), names | {default}

    def _symbol_name(self) -> str:
        return self.rng.choice(("round", "square", "none", *self.alphabet.symbols))

    def _in(self) -> syntax.Expression:
        some = [one for one in self.alphabet.symbols if self.rng.random() < 0.5]
        return syntax.In(tuple(some or self.alphabet.symbols[:1]))

    def _bit_name(self) -> syntax.Expression:
        return syntax.Name(self.rng.choice(self.bits)) if self.bits else self._in()

    def _integer_name(self) -> syntax.Expression:
        return syntax.Name(self.rng.choice(self.integers)) if self.integers else syntax.Position()

    def _joined(self, draw: Callable[[], syntax.Expression]) -> syntax.Expression:
        return syntax.Joined(
            self.rng.choice(list(syntax.Join)), tuple(draw() for _ in range(self.rng.choice((2, 2, 3))))
        )

    def _compared(self, left: syntax.Expression, right: syntax.Expression) -> syntax.Expression:
        return syntax.Comparison(self.rng.choice(list(syntax.Relation)), left, right)

    def _equal(
        self, one: tuple[syntax.Expression, frozenset[str]], two: tuple[syntax.Expression, frozenset[str]]
    ) -> syntax.Expression:
        relation = self.rng.choice((syntax.Relation.EQUAL, syntax.Relation.UNEQUAL))
        right = two[0] if one[1] & two[1] else syntax.SymbolName(self.rng.choice(sorted(one[1])))
        return syntax.Comparison(relation, one[0], right)

    def _congruence(self, operand: syntax.Expression) -> syntax.Expression:
        modulus = self.rng.choice((1, 2, 3))
        return syntax.RemainderTest(operand, modulus, self.rng.randrange(modulus))

    def _quantified(self, depth: int) -> syntax.Expression:
        quantifier = self.rng.choice((syntax.Quantifier.SOME, syntax.Quantifier.EVERY))
        condition = self._condition_or_none()
        body = None if condition is not None and self.rng.random() < 0.5 else self._body(depth)
        return syntax.Quantified(quantifier, self._mask(), condition, body)

    def _count(self, depth: int) -> syntax.Expression:
        condition = self.condition(1, (syntax.Index.THERE,)) if self.rng.random() < 0.3 else None
        body = None if condition is not None and self.rng.random() < 0.5 else self._body(depth)
        return syntax.Quantified(syntax.Quantifier.COUNT, self._mask(), condition, body)

    def _body(self, depth: int) -> syntax.Expression:
        return self.condition(1, (syntax.Index.THERE,)) if self.rng.random() < 0.2 else self.bit(depth - 1)

    def _selection(self, value: syntax.Expression, default: syntax.Expression) -> syntax.Expression:
        choice = self.rng.choice(list(Choice))
        return syntax.Selection(choice, self._mask(), self._condition_or_none(), value, default)

    def _nearest(self, value: syntax.Expression, default: syntax.Expression) -> syntax.Nearest:
        """Integers of which one is at j, and is one sum; the default where the mask is strict."""
        mask = self.rng.choice(list(Mask))
        condition = self.condition(1, tuple(syntax.Index)) if self.rng.random() < 0.5 else None
        key, query = self._at_most_n(), self._at_most_n()
        if self.rng.random() < 0.2:
            query = syntax.Conditional(self.bit(0), query, self._at_most_n())
        sides = [syntax.Applied(key, syntax.Index.THERE), syntax.Applied(query, syntax.Index.HERE)]
        self.rng.shuffle(sides)
        otherwise = default if mask.is_strict else None
        choice = self.rng.choice(list(Choice))
        return syntax.Nearest(choice, mask, condition, sides[0], sides[1], value, otherwise)

    def _at_most_n(self) -> syntax.Expression:
        """An Integer that never exceeds n: a factor for each symbol, or a position; and a number."""
        number = self.rng.randrange(-2, 3)
        added: syntax.Expression = (
            syntax.Negative(syntax.Number(-number)) if number < 0 else syntax.Number(number)
        )
        if self.rng.random() < 0.3:
            position = syntax.Sum((syntax.Length(), syntax.Negative(syntax.Position()), added))
            return self.rng.choice(
                (syntax.Sum((syntax.Position(), added)), position, syntax.Sum((syntax.Length(), added)))
            )
        mask = self.rng.choice(list(Mask))
        counts: list[syntax.Expression] = []
        for symbol in self.alphabet.symbols:
            count = syntax.Quantified(syntax.Quantifier.COUNT, mask, None, syntax.In((symbol,)))
            counts += self.rng.choice(([count], [count], [syntax.Negative(count)], []))
        return syntax.Sum((*counts, added)) if counts else syntax.Position()

    def _shifted_value(
        self, value: syntax.Expression, default: syntax.Expression | None
    ) -> syntax.Expression:
        return syntax.Shifted(self.rng.choice(list(Direction)), self.rng.choice((1, 1, 2, 3)), value, default)

    def _mask(self) -> Mask:
        return self.rng.choice(list(Mask))

    def _condition_or_none(self) -> syntax.Expression | None:
        return None if self.rng.random() < 0.25 else self.condition(2, tuple(syntax.Index))

    def condition(self, depth: int, at: tuple[syntax.Index, ...]) -> syntax.Expression:
        """A condition that reads at these of i and j, and at least at one of them."""
        leaves: list[Callable[[], syntax.Expression]] = [
            lambda: syntax.Applied(self.bit(0), self.rng.choice(at)),
            lambda: syntax.Applied(self.bit(1), self.rng.choice(at)),
            lambda: self._equal(self._symbol_at(at), self._symbol_at(at)),
            lambda: self._equal(self._symbol_at(at), self._symbol_at(at)),
            lambda: self._of_integers(self.rng.choice(at)),
        ]
        if depth == 0:
            return self.rng.choice(leaves)()
        one = lambda: self.condition(depth - 1, at)  # noqa: E731 - drawn anew each time
        inner: list[Callable[[], syntax.Expression]] = [
            lambda: syntax.Negation(one()),
            lambda: self._joined(one),
            lambda: self._joined(one),
            lambda: syntax.Implication(one(), one()),
            lambda: syntax.Conditional(one(), one(), one()),
            lambda: syntax.Joined(syntax.Join.OR, (one(), syntax.Truth(self.rng.random() < 0.5))),
        ]
        return self.rng.choice([*leaves, *inner])()

    def _symbol_at(self, at: tuple[syntax.Index, ...]) -> tuple[syntax.Expression, frozenset[str]]:
        value, names = self.symbol(self.rng.choice((0, 0, 1)))
        if isinstance(value, syntax.SymbolName) or self.rng.random() < 0.9:
            return syntax.Applied(value, self.rng.choice(at)), names
        name = self._symbol_name()
        chosen = syntax.Conditional(
            syntax.Applied(self.bit(0), self.rng.choice(at)),
            syntax.Applied(value, at[0]),
            syntax.SymbolName(name),
        )
        return chosen, names | {name}

    def _of_integers(self, index: syntax.Index) -> syntax.Expression:
        left, right = syntax.Applied(self.integer(1), index), syntax.Applied(self.integer(0), index)
        return self.rng.choice((self._compared(left, right), self._congruence(left)))


def words_to(alphabet: Alphabet, length: int) -> Iterable[Word]:
    """All words of 1 to so many symbols."""
    words: list[Word] = [()]
    for _ in range(length):
        words = [(*word, symbol) for word in words for symbol in alphabet.symbols]
        yield from words
