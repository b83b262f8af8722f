"""A word that a network gets wrong, by definition: the soft meaning in balls against the language's bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, permutations
from typing import final

import flint

from attemper.attention_program.language import ProgramLanguage
from attemper.checker.proof import put_out_alike
from attemper.errors import UnsupportedError
from attemper.exact.balls import ball
from attemper.languages.definition import Definition
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.measures import FLOAT_ACCURACY, NEAR, REAL_ACCURACY, Measure
from attemper.languages.words import Alphabet, Word, show_word, words_of_length
from attemper.networks.layers import Network, Softmax
from attemper.networks.meaning_soft import output_rows

WORDS = 120
"""How many words are tried, the shortest first."""

LONGER = (9, 14, 21, 34)
"""The lengths of the words of two blocks, or of two letters in turn, that are tried after those."""

MACHINE_WORDS = 5_000
"""How many words are tried of a machine: all short ones that tell tables apart, of up to some 60 lines."""

SCORES = 100_000
"""No longer words are tried when so many scores were computed."""

MIDDLE, QUARTER = Fraction(1, 2), Fraction(1, 4)


OutputBalls = tuple[tuple[flint.arb, ...], ...]
"""Enclosures of each output at every position."""


@final
@dataclass(frozen=True)
class Wrong:
    """A word that refutes that the network computes the language, and what is wrong with it."""

    word: Word
    text: str


def wrong_word(network: Network, language: Definition, longest: int | None = None) -> Wrong | None:
    """A word with a wrong verdict, else one with an output that is not its bit; None says nothing.

    No word has more than `longest` symbols, if that is a number.
    """
    if network.accepts_empty != language.accepts_empty:
        return Wrong((), "the empty word gets the wrong answer")
    if not all(isinstance(head.weighting, Softmax) for layer in network.layers for head in layer.heads):
        return None
    if not put_out_alike(network, language):  # what an output should be is then not said
        return None
    astray = None
    for word in _tried(network, language):
        if longest is not None and len(word) > longest:
            return astray
        try:
            outputs = output_rows(network, word)
            if network.symbols or network.measure is not None:
                wrong = _wrong_put_out(network, language, word, outputs)
                if wrong is not None:
                    return wrong
                continue
            expected = language.rows(word)
        except (ZeroDivisionError, UnsupportedError):
            # 1/x of an embedding that is 0 here: nothing is computed at all; or a program means nothing here.
            return astray
        for output, bits in zip(outputs, expected, strict=True):
            read = output[0 if network.reads_first else -1], bits[0 if language.reads_first else -1]
            if _is_wrong(*read):
                return Wrong(word, f"'{show_word(word)}' gets the wrong answer")
            astray = astray or _astray(word, output, bits)
    return astray


def _wrong_put_out(network: Network, language: Definition, word: Word, outputs: OutputBalls) -> Wrong | None:
    """The first symbol, or number, that is not the language's."""
    if isinstance(language, ProgramLanguage) and network.measure is not None:
        return _wrong_number(network, word, outputs, language.numbers(word))
    return _wrong_symbol(network, word, outputs, language.rows(word))


def _wrong_number(
    network: Network,
    word: Word,
    outputs: OutputBalls,
    expected: tuple[tuple[Fraction, ...], ...],
) -> Wrong | None:
    """The first number that is proved to be further from what it should be than is claimed."""
    is_integer = network.measure is Measure.INTEGER
    allowed: int | Fraction = 0 if is_integer else REAL_ACCURACY
    if network.normalisation is not None:
        # An integer's share may be off by as much over the number of positions.
        allowed = NEAR if is_integer else FLOAT_ACCURACY
    for output, numbers in zip(outputs, expected, strict=True):
        for i, (own, number) in enumerate(zip(output, numbers, strict=True), start=1):
            if abs(own - ball(number)) > ball(Fraction(allowed)):
                shown = own.str(6, radius=False)
                text = f"a number that is put out for '{show_word(word)}' at position {i} is {shown}"
                return Wrong(word, f"{text}, not {number}")
    return None


def _wrong_symbol(
    network: Network, word: Word, outputs: OutputBalls, expected: tuple[tuple[bool, ...], ...]
) -> Wrong | None:
    """The first position at which the bit of a symbol is proved not to be within 1/4 of what it should be."""
    names = [name for name, _ in network.symbols]
    for i, (balls, bits) in enumerate(
        zip(zip(*outputs, strict=True), zip(*expected, strict=True), strict=True), 1
    ):
        if any(abs(own - int(bit)) > ball(QUARTER) for own, bit in zip(balls, bits, strict=True)):
            meant = names[bits.index(True)]
            found = [name for name, own in zip(names, balls, strict=True) if own > ball(MIDDLE)]
            shown = f"'{found[0]}'" if len(found) == 1 and found != [meant] else "no symbol alone"
            return Wrong(word, f"'{show_word(word)}' gets {shown} at position {i}, where '{meant}' is right")
    return None


def _tried(network: Network, language: Definition) -> Iterator[Word]:
    """Of a machine the words that tell its table from others; else whatever words are cheap."""
    if not isinstance(language, MachineLanguage):
        return _words(network)
    from attemper.languages.machines.telling import telling_words

    return islice(telling_words(language.machine), MACHINE_WORDS)


def _words(network: Network) -> Iterator[Word]:
    """The shortest words, then longer ones while they are cheap enough."""
    yield from islice(_short_words(network.alphabet), WORDS)
    scores, heads = 0, 1 + sum(len(layer.heads) for layer in network.layers)
    for word in _longer_words(network.alphabet):
        scores += heads * len(word) ** 2
        if scores > SCORES:
            return
        yield word


def _short_words(alphabet: Alphabet) -> Iterator[Word]:
    for length in range(1, WORDS):
        yield from words_of_length(alphabet, length)


def _longer_words(alphabet: Alphabet) -> Iterator[Word]:
    """Words in which one letter only just outweighs another, and words in which two letters take turns."""
    for length in LONGER:
        for one, other in permutations(alphabet.symbols, 2):
            half = length // 2
            yield (one,) * half + (other,) * (length - half)
            yield ((one, other) * length)[:length]


def _is_wrong(output: flint.arb, expected: bool) -> bool:
    """Whether the output is proved to stand on the wrong side of 1/2."""
    return bool(output < ball(MIDDLE)) if expected else bool(output > ball(MIDDLE))


def _astray(word: Word, outputs: tuple[flint.arb, ...], expected: tuple[bool, ...]) -> Wrong | None:
    """The first position at which the output is proved not to be within 1/4 of its bit."""
    for i, (output, bit) in enumerate(zip(outputs, expected, strict=True), start=1):
        if abs(output - int(bit)) > ball(QUARTER):
            shown = output.str(6, radius=False)
            return Wrong(
                word, f"the output for '{show_word(word)}' at position {i} is {shown}, not {int(bit)}"
            )
    return None
