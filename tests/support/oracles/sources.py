"""Sources straight from their definitions: prefixes, one symbol at a time; and tests of drawn ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from math import log, sqrt
from typing import Protocol, TypeVar

import flint

BITS = 200

Word = tuple[str, ...]

Key = TypeVar("Key", bound=Hashable)
Drawn = TypeVar("Drawn", bound=Hashable)

Symbols = dict[str, Fraction]

PAIRS = {"(": ")", "[": "]"}


class Source(Protocol):
    """What is read of a source: PARITY has a bit `odd` as well, brackets have not."""

    p: Fraction


def after(source: Source, prefix: Word) -> Symbols:
    """What follows a live prefix, by the words of the definition."""
    if hasattr(source, "odd"):
        if sum(symbol == "1" for symbol in prefix) % 2 == int(source.odd):
            return {"END": source.p, "0": (1 - source.p) / 2, "1": (1 - source.p) / 2}
        return {"0": Fraction(1, 2), "1": Fraction(1, 2)}
    expected = unmatched(prefix)
    forced = PAIRS[prefix[expected[-1]]] if expected else "END"
    return {"(": source.p / 2, "[": source.p / 2, forced: 1 - source.p}


def unmatched(prefix: Word) -> list[int]:
    """Where the brackets stand that nothing closes."""
    found: list[int] = []
    for place, symbol in enumerate(prefix):
        if symbol in PAIRS:
            found.append(place)
        else:
            found.pop()
    return found


def prefixes(source: Source, n: int) -> dict[Word, Fraction]:
    """All live prefixes of n symbols, each with the probability that a word begins with it."""
    layer: dict[Word, Fraction] = {(): Fraction(1)}
    for _ in range(n):
        layer = {
            (*prefix, symbol): weight * share
            for prefix, weight in layer.items()
            for symbol, share in after(source, prefix).items()
            if symbol != "END"
        }
    return layer


def law(source: Source, n: int) -> dict[Word, Fraction]:
    """The law of the first n symbols of words that have so many."""
    found = prefixes(source, n)
    total = sum(found.values())
    return {prefix: weight / total for prefix, weight in found.items()}


def gathered(shares: Mapping[Drawn, Fraction], key: Callable[[Drawn], Key]) -> dict[Key, Fraction]:
    """The law of a function of what is drawn."""
    found: dict[Key, Fraction] = defaultdict(Fraction)
    for drawn, share in shares.items():
        found[key(drawn)] += share
    return dict(found)


def remembered(
    source: Source, n: int, start: Drawn, remember: Callable[[Drawn, int, str], Drawn]
) -> dict[Drawn, Fraction]:
    """The law of what is remembered of n symbols of PARITY, given that the word has so many.

    `remember` makes of what is remembered, a place from 0 on and the symbol there what is remembered next: so
    long prefixes need not be listed.
    """
    layer = {(0, start): Fraction(1)}
    for place in range(n):
        step: dict[tuple[int, Drawn], Fraction] = defaultdict(Fraction)
        for (ones, memory), weight in layer.items():
            for symbol, share in after(source, ("1",) * ones).items():
                if symbol != "END":
                    key = (ones + int(symbol)) % 2, remember(memory, place, symbol)
                    step[key] += weight * share
        layer = dict(step)
    total = sum(layer.values())
    found: dict[Drawn, Fraction] = defaultdict(Fraction)
    for (_, memory), weight in layer.items():
        found[memory] += weight / total
    return dict(found)


def paths(source: Source, n: int) -> dict[tuple[bool, ...], Fraction]:
    """The law of which of n brackets open, given that the word has so many."""
    layer: dict[tuple[bool, ...], Fraction] = {(): Fraction(1)}
    for _ in range(n):
        layer = {
            (*path, opens): mass * (source.p if opens else 1 - source.p)
            for path, mass in layer.items()
            for opens in (True, False)
            if opens or 2 * sum(path) > len(path)
        }
    total = sum(layer.values())
    return {path: mass / total for path, mass in layer.items()}


def conditional_entropy(source: Source, n: int, known: Callable[[Word], Hashable]) -> flint.arb:
    """The entropy of what follows n symbols, given a function of them, in nats."""
    shares = law(source, n)
    joint: dict[Hashable, Symbols] = defaultdict(lambda: defaultdict(Fraction))
    for prefix, share in shares.items():
        for symbol, chance in after(source, prefix).items():
            joint[known(prefix)][symbol] += share * chance
    with flint.ctx.workprec(BITS):
        total = flint.arb(0)
        for symbols in joint.values():
            whole = sum(symbols.values(), Fraction(0))
            total -= sum((ball(part) * ball(part / whole).log() for part in symbols.values()), flint.arb(0))
        return total


def ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def shows(value: flint.arb, text: str) -> bool:
    """Whether the number, rounded to as many digits as the text has, certainly is the text."""
    digits = len(text.partition(".")[2])
    with flint.ctx.workprec(BITS):
        return bool(abs(value - ball(Fraction(text))) <= ball(Fraction(1, 2 * 10**digits)))


def exceeds_chance(seen: Iterable[Key], shares: Mapping[Key, Fraction]) -> bool:
    """Whether Pearson's statistic is beyond a quantile that chance exceeds at most once in a million times.

    With expected counts of at least 20 in each cell the statistic nearly has the chi-square law of d = cells
    - 1 degrees of freedom, and P(chi-square >= d + 2 sqrt(d x) + 2 x) <= e^-x for every x > 0 (Laurent and
    Massart 2000, Lemma 1); here x = ln 10^6.
    """
    counts: dict[Key, int] = defaultdict(int)
    for one in seen:
        assert one in shares, "something was drawn that has no probability"
        counts[one] += 1
    total = sum(counts.values())
    assert min(shares.values()) * total >= 20
    statistic = sum(
        (counts[one] - float(share) * total) ** 2 / (float(share) * total) for one, share in shares.items()
    )
    degrees, x = len(shares) - 1, log(10**6)
    return statistic > degrees + 2 * sqrt(degrees * x) + 2 * x
