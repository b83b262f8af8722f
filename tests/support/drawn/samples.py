"""Random formulas with every operator, and words chosen to break constructions."""

from __future__ import annotations

import random
from collections.abc import Iterator

from attemper.exact.predicates import Named, Remainder
from attemper.languages.temporal import syntax
from attemper.languages.words import Word

PAST_UNARY = (
    syntax.UnaryOperator.NOT,
    syntax.UnaryOperator.YESTERDAY,
    syntax.UnaryOperator.WEAK_YESTERDAY,
    syntax.UnaryOperator.ONCE,
    syntax.UnaryOperator.HISTORICALLY,
)
PAST_BINARY = (
    syntax.BinaryOperator.SINCE,
    syntax.BinaryOperator.PAST_RELEASE,
    syntax.BinaryOperator.AND,
    syntax.BinaryOperator.OR,
    syntax.BinaryOperator.XOR,
    syntax.BinaryOperator.IMPLIES,
    syntax.BinaryOperator.IFF,
)


class FormulaSampler:
    """Draws formulas; with `past_only`, those that the decoder regime admits."""

    def __init__(self, rng: random.Random, symbols: tuple[str, ...], *, past_only: bool = False) -> None:
        self.rng = rng
        self.symbols = symbols
        self.unary = PAST_UNARY if past_only else tuple(syntax.UnaryOperator)
        self.binary = PAST_BINARY if past_only else tuple(syntax.BinaryOperator)
        self.sides = (syntax.Side.LEFT,) if past_only else tuple(syntax.Side)
        self.past_only = past_only

    def formula(self, nesting: int) -> syntax.Formula:
        """A formula whose operators nest at most `nesting` deep."""
        if nesting == 0 or self.rng.random() < 0.08:
            return self._leaf()
        kind = self.rng.random()
        if kind < 0.33:
            return syntax.Unary(self.rng.choice(self.unary), self.formula(nesting - 1))
        if kind < 0.72:
            operator = self.rng.choice(self.binary)
            return syntax.Binary(operator, self.formula(nesting - 1), self.formula(nesting - 1))
        if kind < 0.9:
            operator_ = self.rng.choice(tuple(syntax.ComparisonOperator))
            return syntax.Comparison(operator_, self._term(nesting - 1), self._term(nesting - 1))
        return self._numerical(nesting - 1)

    def _leaf(self) -> syntax.Formula:
        kind = self.rng.random()
        if kind < 0.75:
            return syntax.Symbol(self.rng.choice(self.symbols))
        if kind < 0.85:
            return syntax.First() if self.past_only or self.rng.random() < 0.5 else syntax.Last()
        if kind < 0.9:
            return syntax.Constant(self.rng.random() < 0.5)
        return self._numerical(0)

    def _numerical(self, nesting: int) -> syntax.Formula:
        modulus = self.rng.randint(1, 4)
        predicate = self.rng.choice(
            [
                Remainder(modulus, self.rng.randrange(modulus)),
                Named(self.rng.choice(["even", "odd", "prime", "square"])),
            ]
        )
        factor = self.rng.choice([1, 1, 1, 2, -1])
        return syntax.Numerical(
            predicate, syntax.Term(((factor, self._atom(nesting)),), self.rng.choice([0, 0, 1, -2]))
        )

    def _term(self, nesting: int) -> syntax.Term:
        parts = tuple(
            (self.rng.choice([1, 1, 1, 2, 3, -1, -2]), self._atom(nesting))
            for _ in range(self.rng.randint(0, 2))
        )
        return syntax.linear_term(parts, self.rng.choice([0, 0, 1, 2, 3, -1]))

    def _atom(self, nesting: int) -> syntax.TermAtom:
        kind = self.rng.random()
        if kind < 0.15:
            return syntax.PositionAtom()
        if kind < 0.25 and not self.past_only:
            return syntax.LengthAtom()
        return syntax.CountAtom(self.rng.choice(self.sides), self.formula(nesting))


def adversarial_words(rng: random.Random, symbols: tuple[str, ...], length: int) -> Iterator[Word]:
    """Words of one length: runs of one symbol, one symbol changed, exact ties, counts at the boundary."""
    a, b = symbols[0], symbols[1]
    half = length // 2
    for symbol in symbols:
        yield (symbol,) * length
    yield (a,) * half + (b,) * (length - half)
    yield (b,) * half + (a,) * (length - half)
    yield tuple((a, b)[i % 2] for i in range(length))
    for place in {0, half, length - 1}:
        changed = [a] * length
        changed[place] = b
        yield tuple(changed)
    for excess in (-1, 0, 1):
        # As many a's as b's, one fewer, one more; in random order.
        number = min(max(half + excess, 0), length)
        word = [a] * number + [b] * (length - number)
        rng.shuffle(word)
        yield tuple(word)
    for _ in range(3):
        yield tuple(rng.choice(symbols) for _ in range(length))
    rare = rng.random() * 0.1
    yield tuple(a if rng.random() < rare else b for _ in range(length))
