"""Words to try a language on: all short ones, random ones, members, almost members, blocks and periods.

Nothing here imports attemper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, product
from random import Random
from typing import final

from attemper.languages.named.entry import Automaton
from tests.support.corpora.literature.entry import Entry


@final
@dataclass(frozen=True)
class Plan:
    """All short words, about as many as `short`; of each other kind some words, none beyond `longest`."""

    short: int
    each: int
    longest: int = 300


def words_of(entry: Entry, plan: Plan) -> list[str]:
    """The words, the shortest first, each once; the empty one among them."""
    alphabet, draw = entry.alphabet, Random(entry.name)
    sizes = lengths(draw, plan.longest)
    members = list(islice(members_of(entry, draw, sizes, plan.longest), plan.each))
    found = [
        *short_words(alphabet, plan.short),
        *islice(random_words(alphabet, draw, sizes), plan.each),
        *members,
        *(changed(draw.choice(members), alphabet, draw) for _ in range(plan.each if members else 0)),
        *islice(blocks(alphabet, draw, sizes), plan.each // 2),
        *islice(periods(alphabet, draw, sizes), plan.each // 2),
    ]
    fitting = (word for word in found if len(word) <= plan.longest)
    return sorted(dict.fromkeys(fitting), key=len)


def short_words(alphabet: str, budget: int) -> Iterator[str]:
    """All words up to the greatest length up to which there are no more than the budget."""
    longest, total = 0, 1
    while total + len(alphabet) ** (longest + 1) <= budget:
        longest += 1
        total += len(alphabet) ** longest
    for length in range(longest + 1):
        yield from map("".join, product(alphabet, repeat=length))


def lengths(draw: Random, longest: int) -> Iterator[int]:
    """Short ones, any ones, the greatest, and the one before: even and odd."""
    while True:
        yield draw.randint(1, min(24, longest))
        yield draw.randint(1, longest)
        yield longest
        yield max(1, longest - 1)


def random_words(alphabet: str, draw: Random, sizes: Iterator[int]) -> Iterator[str]:
    """Symbols drawn evenly, or some of them rarely."""
    while True:
        yield "".join(draw.choices(alphabet, weights_of(alphabet, draw), k=next(sizes)))


def weights_of(alphabet: str, draw: Random) -> list[float]:
    """All alike, or some of them small."""
    return [draw.random() ** 3 if draw.random() < 0.5 else 1.0 for _ in alphabet]


def members_of(entry: Entry, draw: Random, sizes: Iterator[int], longest: int) -> Iterator[str]:
    """Words of the language: drawn as the entry says, by walks on its automaton, or random ones that are."""
    if entry.member is not None:
        yield from (entry.member(draw, size) for size in sizes)
    elif isinstance(entry.source, Automaton):
        ends = reaching(entry.source, longest)
        yield from (walk(entry.source, ends, entry.alphabet, draw, size) for size in sizes)
    else:
        yield from filter(entry.oracle.accepts, islice(random_words(entry.alphabet, draw, sizes), 2_000))


def reaching(automaton: Automaton, longest: int) -> list[frozenset[int]]:
    """For each number of symbols the states from which an accepting one can be reached in just so many."""
    found = [automaton.accepting]
    for _ in range(longest):
        states = (q for q, row in enumerate(automaton.moves) if not found[-1].isdisjoint(row))
        found.append(frozenset(states))
    return found


def walk(
    automaton: Automaton, ends: Sequence[frozenset[int]], alphabet: str, draw: Random, length: int
) -> str:
    """A word along which the automaton accepts, of the length or the nearest one that there is."""
    length = min((n for n, states in enumerate(ends) if 0 in states), key=lambda n: abs(n - length))
    state, word, weights = 0, "", weights_of(alphabet, draw)
    for left in range(length - 1, -1, -1):
        row = automaton.moves[state]
        fitting = [number for number, target in enumerate(row) if target in ends[left]]
        (number,) = draw.choices(fitting, [weights[number] for number in fitting])
        state, word = row[number], word + alphabet[number]
    return word


def changed(word: str, alphabet: str, draw: Random) -> str:
    """The word with one symbol replaced, left out or put in, near an end as often as not."""
    near = min(len(word), 8)
    place = draw.choice(
        (draw.randint(0, len(word)), draw.randint(0, near), len(word) - draw.randint(0, near))
    )
    symbol = draw.choice(alphabet)
    match draw.randrange(4):
        case 0:
            return word[:place] + word[place + 1 :]
        case 1:
            return word[:place] + symbol + word[place:]
        case _:
            return word[:place] + symbol + word[place + 1 :]


def blocks(alphabet: str, draw: Random, sizes: Iterator[int]) -> Iterator[str]:
    """Runs of one symbol after the other."""
    while True:
        size, symbols = next(sizes), draw.choices(alphabet, k=draw.randint(1, 8))
        longest = draw.choice((3, 20, size))
        yield "".join(symbol * draw.randint(1, longest) for symbol in symbols)[:size]


def periods(alphabet: str, draw: Random, sizes: Iterator[int]) -> Iterator[str]:
    """A few symbols again and again."""
    while True:
        size, unit = next(sizes), "".join(draw.choices(alphabet, k=draw.randint(1, 7)))
        yield (unit * size)[:size]
