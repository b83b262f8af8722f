"""Two words that a restriction allows, one in a language and one not: the simplest in a fixed order.

They differ in one symbol; of such pairs the one with the least symbols, position by position, in the word of
the language first.
"""

from __future__ import annotations

from typing import assert_never, final

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word
from attemper.models.hard.protocol import HardModel
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target, contains, symbols_of

StateNumbers = tuple[int, ...]

Moves = dict[int, list[int]]
"""For each symbol that a position may have, where it leads from each state."""

StatePairs = frozenset[tuple[int, int]]
"""Pairs of states."""

MOST_PAIRS = 4_000_000
"""The most pairs of states, times positions, that are looked at."""


def start(model: HardModel, language: Target) -> Restriction:
    """Where a search begins: which two symbols each position may have.

    Dyck languages begin with floor(.2 m) opening and end with floor(.2 m) closing brackets, m the length of
    the word, with the first pair of brackets in between (Hahn 2020, Corollary 2). Raises `UnsupportedError`
    if the model lacks the symbols, or for brackets if the words have an odd number of symbols.
    """
    missing = [symbol for symbol in symbols_of(language) if symbol not in model.symbols]
    if missing:
        raise UnsupportedError(
            f"the model has no symbol {missing[0]!r}; its symbols are {' '.join(model.symbols)}"
        )
    if model.ending in symbols_of(language):
        raise UnsupportedError(f"the model's end marker {model.ending!r} cannot be a symbol of the language")
    number = {symbol: k for k, symbol in enumerate(model.symbols)}
    size = model.length - (model.ending is not None)
    match language:
        case Dfa(alphabet):
            inner = [tuple(sorted(number[symbol] for symbol in alphabet.symbols))] * size
        case Dyck(pairs):
            if size % 2:
                raise UnsupportedError(
                    f"no word of {size} symbols is well nested; choose another length, one more or less"
                )
            opening, closing = (number[symbol] for symbol in pairs[0])
            margin = size // 5
            both = tuple(sorted((opening, closing)))
            inner = [(opening,)] * margin + [both] * (size - 2 * margin) + [(closing,)] * margin
        case Blocks(first, second):
            inner = [tuple(sorted((number[first], number[second])))] * size
        case _:
            assert_never(language)
    ending = [] if model.ending is None else [(number[model.ending],)]
    return Restriction((*inner, *ending))


def simplest_pair(model: HardModel, restriction: Restriction, language: Target) -> tuple[Word, Word] | None:
    """A word in the language and one that is not, both allowed; None if there is no such pair.

    They differ in one symbol: between any two allowed words one gets by changing one symbol after the other.
    The restriction must be below that of `start`, so with no more than the first kind of brackets free.
    """
    allowed = restriction.allowed[: model.length - (model.ending is not None)]
    match language:
        case Dfa():
            found = _PairWalks(model, allowed, language).simplest()
        case Dyck(pairs):
            member = _balanced(model, allowed, pairs[0])
            found = None if member is None else _with_a_change(allowed, member)
        case Blocks(first, second):
            half, odd = divmod(len(allowed), 2)
            word = (model.symbols.index(first),) * half + (model.symbols.index(second),) * half
            fits = not odd and all(s in some for s, some in zip(word, allowed, strict=True))
            found = _with_a_change(allowed, word) if fits else None
        case _:
            assert_never(language)
    if found is None:
        return None
    one, other = (tuple(model.symbols[s] for s in word) for word in found)
    assert contains(language, one)
    assert not contains(language, other)
    return one, other


def _with_a_change(
    allowed: tuple[tuple[int, ...], ...], member: StateNumbers
) -> tuple[StateNumbers, StateNumbers] | None:
    """The word, and the least one that differs in one symbol: not in the language, whose counts it breaks."""
    changes = [
        (*member[:i], symbol, *member[i + 1 :])
        for i, some in enumerate(allowed)
        for symbol in some
        if symbol != member[i]
    ]
    return (member, min(changes)) if changes else None


def _balanced(
    model: HardModel, allowed: tuple[tuple[int, ...], ...], pair: tuple[str, str]
) -> StateNumbers | None:
    """The least balanced word over one pair of brackets."""
    change = {model.symbols.index(pair[0]): 1, model.symbols.index(pair[1]): -1}
    after: list[set[int]] = [{0}]
    for some in reversed(allowed):
        after.append(
            {
                h - change[s]
                for h in after[-1]
                for s in some
                if s in change and 0 <= h - change[s] <= len(allowed)
            }
        )
    after.reverse()
    if 0 not in after[0]:
        return None
    word, height = [], 0
    for i, some in enumerate(allowed):
        symbol = next(s for s in some if s in change and height + change[s] in after[i + 1])
        height += change[symbol]
        word.append(symbol)
    return tuple(word)


@final
class _PairWalks:
    """Walks of two words through an automaton that part at one position."""

    def __init__(self, model: HardModel, allowed: tuple[tuple[int, ...], ...], dfa: Dfa) -> None:
        letter = {symbol: k for k, symbol in enumerate(dfa.alphabet.symbols)}
        nowhere = len(dfa.moves)  # where symbols lead that the automaton does not know
        # Few sets of symbols are allowed at many positions.
        kinds = {some: self._moves(model, some, letter, dfa, nowhere) for some in dict.fromkeys(allowed)}
        self.allowed = allowed
        self.moves = [kinds[some] for some in allowed]
        self.dfa = dfa
        if len(dfa.moves) ** 2 * len(allowed) > MOST_PAIRS:
            raise UnsupportedError(
                f"an automaton of {len(dfa.moves)} states is too large for words of {len(allowed)} symbols: "
                f"more than {MOST_PAIRS} pairs of states would be looked at"
            )

    @staticmethod
    def _moves(
        model: HardModel, some: tuple[int, ...], letter: dict[str, int], dfa: Dfa, nowhere: int
    ) -> Moves:
        known = {s: letter.get(model.symbols[s]) for s in some}
        return {
            s: [*(nowhere if k is None else row[k] for row in dfa.moves), nowhere] for s, k in known.items()
        }

    def simplest(self) -> tuple[StateNumbers, StateNumbers] | None:
        """The least pair, symbol by symbol, the accepted word's first."""
        apart, together = self._suffixes()
        here = self.dfa.start, self.dfa.start
        if here[0] not in together[0]:
            return None
        member: list[int] = []
        stranger: list[int] = []
        has_parted = False
        for i, moves in enumerate(self.moves):
            for s, t in ((s, t) for s in moves for t in moves):
                there = moves[s][here[0]], moves[t][here[1]]
                if s != t:
                    fits = not has_parted and there in apart[i + 1]
                else:
                    fits = there in apart[i + 1] if has_parted else there[0] in together[i + 1]
                if fits:
                    member.append(s)
                    stranger.append(t)
                    here, has_parted = there, has_parted or s != t
                    break
        return tuple(member), tuple(stranger)

    def _suffixes(self) -> tuple[list[StatePairs], list[frozenset[int]]]:
        """Before each position, and at the end: which states words have that can end on different sides.

        First the pairs that a common rest takes to an accepting and a rejecting state, then the states from
        which two words can part so that they come to such a pair.
        """
        states = range(len(self.dfa.moves) + 1)
        ends = {(p, q) for p in self.dfa.accepting for q in states if q not in self.dfa.accepting}
        apart: list[StatePairs] = [frozenset(ends)]
        together: list[frozenset[int]] = [frozenset()]
        known: dict[
            tuple[tuple[int, ...], StatePairs, frozenset[int]], tuple[StatePairs, frozenset[int]]
        ] = {}
        for some, moves in zip(reversed(self.allowed), reversed(self.moves), strict=True):
            # Further from the end nothing new comes about.
            key = some, apart[-1], together[-1]
            if key not in known:
                known[key] = _before(moves, states, apart[-1], together[-1])
            apart.append(known[key][0])
            together.append(known[key][1])
        return apart[::-1], together[::-1]


def _before(
    moves: Moves, states: range, later: StatePairs, parting: frozenset[int]
) -> tuple[StatePairs, frozenset[int]]:
    """Pairs that one symbol, or states that two, can take to the pairs and states before the rest."""
    apart = {(p, q) for p in states for q in states if any((m[p], m[q]) in later for m in moves.values())}
    together = {
        p
        for p in states
        if any(m[p] in parting for m in moves.values())
        or any((m[p], other[p]) in later for m in moves.values() for other in moves.values())
    }
    return frozenset(apart), frozenset(together)
