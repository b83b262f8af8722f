"""Languages whose networks are tried behind LayerNorm, words hard for attention, and which go wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

import attemper
from attemper import LayerNorm, Model
from attemper.languages.words import Word
from attemper.running.batches import runs_of
from attemper.running.dense import DenseTransformer
from attemper.running.runs import Run
from attemper.workbench.options import RegimeName
from attemper.workbench.verifying.boundaries import boundary_words
from attemper.workbench.verifying.comparing import exact_rows
from tests.support.judges.campaign import adversarial

Build = Callable[[RegimeName, LayerNorm | None], Model]

BROAD, NARROW = LayerNorm(), LayerNorm(unit=Fraction(1, 2**24))
"""lambda = 2^-40 and 2^-24, with the eps of torch."""


def _of_formula(text: str, alphabet: str) -> Build:
    return lambda regime, how: attemper.compile(text, alphabet, regime=regime, layer_norm=how)


def _of_regex(text: str, alphabet: str) -> Build:
    return lambda regime, how: attemper.compile(attemper.regex(text, alphabet), regime=regime, layer_norm=how)


BUILDS: dict[str, Build] = {
    "majority": _of_formula("#<['0'] <= #<['1']", "01"),
    "parity": _of_formula("odd(#<['1'])", "01"),
    "since": _of_formula("(!'c') S 'b'", "abc"),
    "historically": _of_formula("H ('a' -> Y 'b')", "ab"),
    "dyck-1": _of_formula("#<['('] = #<[')'] & !O(#<[')'] > #<['('])", "()"),
    "automaton": _of_regex("(0|11)*", "01"),
    "dyck-2": lambda regime, how: attemper.compile("zoo:dyck-2", regime=regime, layer_norm=how),
}

CASES: tuple[tuple[str, RegimeName], ...] = (
    *((name, regime) for name in BUILDS for regime in ("temperature", "decoder") if name != "dyck-2"),
    ("dyck-2", "temperature"),
)

FETCH_FOUR = "'a' S ('b' & Y ('b' & Y 'b'))"
"""The tie-breaks of this formula are what fails first where lambda is large."""


def all_words(model: Model, longest: int) -> list[Word]:
    """Every word of up to so many symbols but the empty one."""
    symbols = model.alphabet.symbols
    return [word for length in range(1, longest + 1) for word in product(symbols, repeat=length)]


def hard_words(model: Model, length: int, seed: int = 0) -> list[Word]:
    """Runs, ties, blocks, single symbols and random words, of one length."""
    symbols = model.alphabet.symbols
    drawn = adversarial(length, len(symbols), random.Random(seed))
    found = [*boundary_words(symbols, length), *(tuple(symbols[k] for k in word) for word in drawn)]
    if set(symbols) >= set("()"):
        found += list(nestings(symbols, length, random.Random(seed)))
    return list(dict.fromkeys(found))


def nestings(symbols: Sequence[str], length: int, draw: random.Random) -> Iterator[Word]:
    """Brackets nested as deep as can be, and with one of them wrong: the deepest, the last, the first."""
    kinds = list(zip(symbols[0::2], symbols[1::2], strict=True))
    nested = draw.choices(kinds, k=length // 2)
    closing = [close for _, close in reversed(nested)]
    word = [*(opening for opening, _ in nested), *closing]
    yield tuple(word)
    for place in (0, len(nested) - 1, len(nested), len(word) - 1):
        for symbol in symbols:
            yield (*word[:place], symbol, *word[place + 1 :])
    yield tuple(word[1:])


def wrong_runs(model: Model, module: DenseTransformer, words: Iterable[Word]) -> Iterator[Run]:
    """The runs that show another bit than the language's at some position."""
    by_length: dict[int, list[Word]] = {}
    for word in words:
        by_length.setdefault(len(word), []).append(word)
    for some in by_length.values():
        for run, rows in zip(runs_of(module, some), _bits(model, some), strict=True):
            if [list(row) for row in run.rows] != [list(row) for row in rows]:
                yield run


def _bits(model: Model, words: list[Word]) -> list[list[list[bool]]]:
    if model.alphabet.symbols == tuple("()[]"):
        return [[brackets(word)] for word in words]
    return [[list(row) for row in rows] for rows in exact_rows(model.language.definition, words)]


def brackets(word: Word) -> list[bool]:
    """Whether each prefix is well nested, brackets of two kinds: by a stack."""
    open_ones: list[str] = []
    found, is_broken = [], False
    for symbol in word:
        if symbol in "([":
            open_ones.append(symbol)
        else:
            is_broken = is_broken or not open_ones or open_ones.pop() + symbol not in ("()", "[]")
        found.append(not is_broken and not open_ones)
    return found
