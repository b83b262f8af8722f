"""Whether a cascade is right: exactly, over everything its registers can hold, and on chosen words."""

from __future__ import annotations

import random
from collections.abc import Iterator

from attemper.compiling.cascade import (
    Cascade,
    Chain,
    Counter,
    Delay,
    Latch,
    RegisterLevel,
    Sum,
    after,
    start,
)
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word, words_of_length
from tests.support.drawn.automata import wandering


def prefixes(cascade: Cascade, word: Word) -> tuple[bool, ...]:
    """Whether each of the prefixes of length 1..n is accepted, by definition."""
    letters = cascade.alphabet.symbols
    base = tuple(
        _place(cascade, i) * len(letters) + letters.index(symbol) for i, symbol in enumerate(word, start=1)
    )
    codes = [_codes(chain, base) for chain in cascade.chains]
    return tuple(row in cascade.accepting for row in zip(*codes, strict=True))


def _place(cascade: Cascade, i: int) -> int:
    """The place of a position i >= 1."""
    steps = i - 1
    return steps if steps < cascade.prefix else cascade.prefix + (steps - cascade.prefix) % cascade.period


def _codes(chain: Chain, base: tuple[int, ...]) -> tuple[int, ...]:
    symbols = base
    for level in chain.levels:
        symbols = tuple(_symbols(level, symbols))
    return tuple(chain.codes[symbol] for symbol in symbols)


def _symbols(level: RegisterLevel, below: tuple[int, ...]) -> Iterator[int]:
    """The level's symbol at every position."""
    contents = start(level)
    for i, symbol in enumerate(below):
        yield level.table[symbol, contents]
        contents = tuple(
            below[i + 1 - r.distance]
            if isinstance(r, Delay) and r.distance <= i + 1
            else after(r, symbol, held)
            for r, held in zip(level.registers, contents, strict=True)
        )


def configurations(cascade: Cascade, dfa: Dfa, cap: int) -> int | None:
    """How many configurations of place, state and registers occur; fails where the codes are wrong.

    None if there are more than `cap`; what was seen of them agrees.
    """
    letters = len(dfa.alphabet.symbols)
    begin = 0, dfa.start, tuple(tuple(start(level) for level in chain.levels) for chain in cascade.chains)
    seen = {begin}
    waiting = [begin]
    while waiting:
        place, state, held = waiting.pop()
        following = place + 1 if place + 1 < cascade.prefix + cascade.period else cascade.prefix
        for letter, target in enumerate(dfa.moves[state]):
            codes, contents = [], []
            for chain, registers in zip(cascade.chains, held, strict=True):
                symbol, contained = place * letters + letter, []
                for level, inside in zip(chain.levels, registers, strict=True):
                    contained.append(_after(level, symbol, inside))
                    symbol = level.table[symbol, inside]
                codes.append(chain.codes[symbol])
                contents.append(tuple(contained))
            assert (tuple(codes) in cascade.accepting) == (target in dfa.accepting)
            reached = following, target, tuple(contents)
            if reached not in seen:
                if len(seen) == cap:
                    return None
                seen.add(reached)
                waiting.append(reached)
    return len(seen)


def _after(level: RegisterLevel, symbol: int, held: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """What the registers hold next. The delays of a level have the distances 1, 2, ... in this order."""
    following: list[int | None] = []
    earlier: int | None = symbol
    for register, content in zip(level.registers, held, strict=True):
        match register:
            case Latch():
                following.append(dict(register.store).get(symbol, content))
            case Counter():
                assert content is not None
                following.append((content + (symbol in register.counted)) % register.modulus)
            case Sum():
                assert content is not None
                following.append((content + dict(register.weights).get(symbol, 0)) % register.modulus)
            case _:
                following.append(earlier)
                earlier = content
    return tuple(following)


def words(dfa: Dfa, seed: int, count: int) -> Iterator[Word]:
    """Random words up to length 300: letters, runs, repetitions, and walks that prefer states seen rarely."""
    draw = random.Random(seed)
    symbols = dfa.alphabet.symbols
    for number in range(count):
        length = draw.randint(1, 300)
        match number % 4:
            case 0:
                yield tuple(draw.choices(symbols, k=length))
            case 1:
                runs = [(draw.choice(symbols),) * draw.randint(1, 9) for _ in range(length)]
                yield tuple(symbol for run in runs for symbol in run)[:length]
            case 2:
                piece = draw.choices(symbols, k=draw.randint(1, 6))
                yield tuple((piece * length)[: draw.randint(1, length)] + draw.choices(symbols, k=5))
            case _:
                yield wandering(dfa, draw, length, 0.1)


def check(
    cascade: Cascade, dfa: Dfa, *, seed: int = 0, count: int = 8, short: int = 4, cap: int = 1_000
) -> None:
    """Fails unless the cascade agrees with the automaton, as far as this looks."""
    configurations(cascade, dfa, cap)
    for length in range(1, short + 1):
        for word in words_of_length(dfa.alphabet, length):
            assert prefixes(cascade, word) == dfa.prefixes(word)
    for word in words(dfa, seed, count):
        assert prefixes(cascade, word) == dfa.prefixes(word)
