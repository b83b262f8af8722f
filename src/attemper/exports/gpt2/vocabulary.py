"""The tokens of an exported GPT-2: the symbols, one for padding, and what is put out."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain, count
from typing import final

from attemper.languages.machines.syntax import HALTS
from attemper.languages.words import Alphabet
from attemper.networks.layers import Coordinate, Network
from attemper.running.traceable.labels import LABELS

REJECTED, ACCEPTED = LABELS[:2]


@final
@dataclass(frozen=True)
class Vocabulary:
    """Tokens by their numbers: the symbols from 0 on, then `padding`, then answers that are no symbols.

    `unknown` is a token without an embedding, or None: tools that try a tokenizer on a text of their own,
    as TransformerLens does, need one.
    """

    alphabet: Alphabet
    padding: str
    answers: tuple[str, ...]
    unknown: str | None

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the order of their numbers, none twice."""
        return tuple(dict.fromkeys((*self.alphabet.symbols, self.padding, *self.answers)))

    @property
    def end(self) -> int | None:
        """The number of the answer at which nothing more is written, which is no symbol; None without one."""
        is_end = HALTS in self.answers and HALTS not in self.alphabet.symbols
        return self.tokens.index(HALTS) if is_end else None

    @property
    def padding_id(self) -> int:
        """The number of the token for padding."""
        return len(self.alphabet.symbols)


@final
@dataclass(frozen=True)
class AnswerBit:
    """Something that is put out: where its bit stands, and whether it is meant when the bit is 1."""

    name: str
    coordinate: Coordinate
    is_one: bool


def answers_of(network: Network) -> tuple[AnswerBit, ...]:
    """What a network can put out: rejected and accepted, or the names of symbols.

    >>> import attemper
    >>> [answer.name for answer in answers_of(attemper.compile("O a", "ab").network)]
    ['rejected', 'accepted']
    """
    if network.symbols:
        return tuple(AnswerBit(name, coordinate, True) for name, coordinate in network.symbols)
    return AnswerBit(REJECTED, network.output, False), AnswerBit(ACCEPTED, network.output, True)


def vocabulary_of(network: Network, *, with_answers: bool) -> Vocabulary:
    """The tokens of a model that reads words, and of one that also says its answer as the next token.

    An answer that is a symbol's name is that symbol where symbols are put out; where bits are put out it has
    a name of its own.

    >>> import attemper
    >>> vocabulary_of(attemper.compile("O a", "ab").network, with_answers=True).tokens
    ('a', 'b', '[pad]', 'rejected', 'accepted')
    """
    names = {answer.name for answer in answers_of(network)}
    padding, unknown = (_fresh(name, network.alphabet, names) for name in ("[pad]", "[unknown]"))
    if not with_answers:
        return Vocabulary(network.alphabet, padding, (), None)
    return Vocabulary(network.alphabet, padding, tokens_of_answers(network), unknown)


def tokens_of_answers(network: Network) -> tuple[str, ...]:
    """The token of each answer, in the order of `answers_of`."""
    names = (answer.name for answer in answers_of(network))
    return tuple(names if network.symbols else (_fresh(name, network.alphabet) for name in names))


def _fresh(name: str, alphabet: Alphabet, taken: Collection[str] = ()) -> str:
    """The name, or one like it, that no text of symbols holds and that is not taken."""
    marks = (chr(0x2460 + number) for number in count())
    names = chain([name], (name + mark for mark in marks))
    return next(own for own in names if own not in taken and not _is_text(own, alphabet))


def _is_text(name: str, alphabet: Alphabet) -> bool:
    """Whether a text of symbols can hold the name."""
    if alphabet.is_single_character:
        return set(name) <= set(alphabet.symbols)
    return any(name in symbol for symbol in alphabet.symbols)
