"""Words on which constructions break first: at a formula's own numbers, ties, and one symbol changed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import permutations, product

from attemper.exact.predicates import Remainder
from attemper.languages.temporal.syntax import Comparison, Formula, Numerical, Term, subformulas, subtract
from attemper.languages.words import Word


def words_at_the_boundary(formula: Formula, symbols: Sequence[str], longest: int) -> Iterator[Word]:
    """Words at which the formula's own numbers are met exactly, or missed by one.

    For each integer c of the formula: lengths c - 1, c, c + 1, and as many of one symbol among
    others. For each two factors p, q: p times one symbol's count against q times another's, tied,
    one more, one fewer.
    """
    numbers = sorted({abs(number) for number in _numbers(formula)})
    for number in numbers:
        for count in (c for c in (number - 1, number, number + 1) if 1 <= c <= longest):
            for symbol, other in permutations(symbols, 2):
                yield (symbol,) * count
                yield (symbol,) * count + (other,) * min(count, longest - count)
                yield (other,) * min(7, longest - count) + (symbol,) * count
    factors = [number for number in numbers if 0 < number <= longest] or [1]
    for p, q in product(dict.fromkeys([1, *factors]), repeat=2):
        times = max(1, min(longest // (p + q), 40))
        for symbol, other in permutations(symbols, 2):
            tie = (symbol,) * (q * times) + (other,) * (p * times)
            yield from (word for word in (tie, tie[::-1], tie[1:], tie[:-1]) if 0 < len(word) <= longest)


def _numbers(formula: Formula) -> Iterator[int]:
    """The factors, constants and moduli in the formula."""
    for part in subformulas(formula):
        terms: tuple[Term, ...] = ()
        if isinstance(part, Comparison):
            difference = subtract(part.left, part.right)
            terms = (part.left, part.right, difference)
        elif isinstance(part, Numerical):
            terms = (part.term,)
            if isinstance(part.predicate, Remainder):
                yield part.predicate.modulus
        for term in terms:
            yield term.constant
            yield from (factor for factor, _ in term.parts)


def boundary_words(symbols: Sequence[str], length: int) -> Iterator[Word]:
    """Runs of one symbol, one symbol changed, and exact ties, of one length."""
    half = length // 2
    for symbol in symbols:
        yield (symbol,) * length
        for other in symbols:
            if other != symbol:
                yield (symbol,) * half + (other,) * (length - half)
                for place in (0, half, length - 1):
                    yield tuple(other if i == place else symbol for i in range(length))
    yield tuple(symbols[i % len(symbols)] for i in range(length))


def random_word(rng: random.Random, symbols: Sequence[str], length: int) -> Word:
    """Uniform symbols, or one symbol rare, so that counts come out small as well."""
    weights = [1.0] * len(symbols)
    weights[rng.randrange(len(symbols))] = rng.choice([1.0, 0.05])
    return tuple(rng.choices(symbols, weights, k=length))
