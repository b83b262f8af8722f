"""Two words that a restriction allows, one in a language and one not: the simplest in a fixed order.

Those that differ in the fewest symbols; of these the ones with the least symbols, position by position, in
the word of the language first.
"""

from __future__ import annotations

from typing import assert_never, final

from attemper.certificates.restrictions import Restriction
from attemper.errors import UnsupportedError
from attemper.hard_models.protocol import HardModel
from attemper.languages.regular.dfa import Dfa
from attemper.languages.targets import Blocks, Dyck, Target, contains, symbols_of
from attemper.languages.words import Word

Numbers = tuple[int, ...]

MOST_PAIRS = 4_000_000
"""The most pairs of states, times positions, for which the fewest differences are counted."""


def start(model: HardModel, language: Target) -> Restriction:
    """Where a search begins: which two symbols each position may have.

    Dyck languages begin with floor(.2 m) opening and end with floor(.2 m) closing brackets, m the length of
    the word, with the first pair of brackets in between (Hahn 2020, Corollary 2). Raises `UnsupportedError`
    if the model lacks the symbols, or if no word of this length can be in the language.
    """
    missing = [symbol for symbol in symbols_of(language) if symbol not in model.symbols]
    if missing:
        raise UnsupportedError(
            f"the model has no symbol {missing[0]!r}; its symbols are {' '.join(model.symbols)}"
        )
    number = {symbol: k for k, symbol in enumerate(model.symbols)}
    size = model.length - (model.ending is not None)
    match language:
        case Dfa(alphabet):
            inner = [tuple(sorted(number[symbol] for symbol in alphabet.symbols))] * size
        case Dyck(pairs):
            if size % 2:
                raise UnsupportedError(
                    f"no word of {size} symbols is well nested; choose another length (--n), one more or less"
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
    """A word in the language and one that is not, both allowed; None if there is no such pair."""
    allowed = restriction.allowed[: model.length - (model.ending is not None)]
    match language:
        case Dfa():
            found = _Pairs(model, allowed, language).simplest()
        case Dyck(pairs):
            member = _balanced(model, allowed, pairs[0])
            found = None if member is None else _with_a_change(model, allowed, member)
        case Blocks(first, second):
            half, odd = divmod(len(allowed), 2)
            word = (model.symbols.index(first),) * half + (model.symbols.index(second),) * half
            fits = not odd and all(s in some for s, some in zip(word, allowed, strict=True))
            found = _with_a_change(model, allowed, word) if fits else None
        case _:
            assert_never(language)
    if found is None:
        return None
    one, other = (tuple(model.symbols[s] for s in word) for word in found)
    assert contains(language, one)
    assert not contains(language, other)
    return one, other


def _with_a_change(
    model: HardModel, allowed: tuple[tuple[int, ...], ...], member: Numbers
) -> tuple[Numbers, Numbers] | None:
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
) -> Numbers | None:
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
class _Pairs:
    """Walks of two words through an automaton, position by position."""

    def __init__(self, model: HardModel, allowed: tuple[tuple[int, ...], ...], dfa: Dfa) -> None:
        letter = {symbol: k for k, symbol in enumerate(dfa.alphabet.symbols)}
        self.moves = [
            {s: [row[letter[model.symbols[s]]] for row in dfa.moves] for s in some} for some in allowed
        ]
        self.dfa = dfa
        if len(dfa.moves) ** 2 * len(allowed) > MOST_PAIRS:
            raise UnsupportedError(
                f"an automaton of {len(dfa.moves)} states is too large for words of {len(allowed)} symbols: "
                f"more than {MOST_PAIRS} pairs of states would be looked at"
            )

    def simplest(self) -> tuple[Numbers, Numbers] | None:
        """The pair with the fewest differences, then the least one."""
        states = range(len(self.dfa.moves))
        ends = {
            (p, q): 0
            for p in states
            for q in states
            if p in self.dfa.accepting and q not in self.dfa.accepting
        }
        costs: list[dict[tuple[int, int], int]] = [ends]
        for moves in reversed(self.moves):
            costs.append(self._before(moves, costs[-1]))
        costs.reverse()
        here = self.dfa.start, self.dfa.start
        if here not in costs[0]:
            return None
        member, stranger = [], []
        for moves, before, after in zip(self.moves, costs, costs[1:], strict=False):
            for s, t in ((s, t) for s in moves for t in moves):
                there = moves[s][here[0]], moves[t][here[1]]
                if there in after and after[there] + (s != t) == before[here]:
                    member.append(s)
                    stranger.append(t)
                    here = there
                    break
        return tuple(member), tuple(stranger)

    def _before(
        self, moves: dict[int, list[int]], after: dict[tuple[int, int], int]
    ) -> dict[tuple[int, int], int]:
        found: dict[tuple[int, int], int] = {}
        states = range(len(self.dfa.moves))
        for p in states:
            for q in states:
                costs = [
                    cost + (s != t)
                    for s in moves
                    for t in moves
                    if (cost := after.get((moves[s][p], moves[t][q]))) is not None
                ]
                if costs:
                    found[p, q] = min(costs)
        return found
