"""Two words that no k layers of unique hard attention tell apart (FORMAT.md, section 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attemper.checker.verdict import ClaimVerdict, Status
from attemper.languages.definition import Definition
from attemper.languages.words import Word
from attemper.theories.depth.certificate import HardNetworks, Inseparable, TieBreaking

MOST_LETTERS, MOST_LAYERS = 1_000, 64
"""Longer words, and more layers, are not looked at."""

LONGEST_SHOWN = 60
"""Of a longer word only the beginning is shown."""


def check_pair(language: Definition, networks: HardNetworks, claim: Inseparable) -> ClaimVerdict:
    """PROVED if one of the words is in the language, and F_k is the same at the ends of both.

    Then no network of the class with k layers, or fewer, gives the two words different answers, whatever its
    width, heads and functions. Raises what the language's meaning raises.
    """
    first, second = claim.words
    letters, layers = max(len(first), len(second)), claim.layers
    if letters > MOST_LETTERS or layers > MOST_LAYERS:
        text = f"a pair of words of up to {MOST_LETTERS:,} letters, and {MOST_LAYERS} layers, is looked at"
        return ClaimVerdict(Status.UNKNOWN, f"{text}, not one of {letters:,} letters and {layers:,} layers")
    texts = [shown(word, claim.words) for word in claim.words]
    text = f"at least {in_layers(layers + 1)}: {' against '.join(texts)}"
    member, other = is_member(language, first), is_member(language, second)
    if member is other:
        same = "both are" if member else "neither is"
        return ClaimVerdict(Status.REFUTED, f"{text}: {same} in the language")
    one, another = values_at_ends(claim.words, layers, networks)
    if one != another:
        return ClaimVerdict(Status.REFUTED, f"{text}: {in_layers(layers)} can tell them apart")
    inside, outside = texts if member else texts[::-1]
    which = f"{inside} is in the language, {outside} is not, and F_{layers} is equal at their ends"
    longer = ", also for weights that depend on the length" if len(first) == len(second) else ""
    return ClaimVerdict(Status.PROVED, f"at least {in_layers(layers + 1)}{longer}: {which}")


def is_member(language: Definition, word: Word) -> bool:
    """Whether a word that has letters is in the language, by the language's own meaning."""
    return language.bits(word)[0 if language.reads_first else -1]


def values_at_ends(words: tuple[Word, Word], layers: int, networks: HardNetworks) -> tuple[int, int]:
    """F_k at the last position of each word, as numbers that are equal if and only if the values are."""
    numbers = _numbered([[(letter, networks.place(i)) for i, letter in enumerate(word, 1)] for word in words])
    for _ in range(layers):
        numbers = _numbered([list(_next_layer(row, networks.choice)) for row in numbers])
    return numbers[0][-1], numbers[1][-1]


def _numbered(rows: Sequence[Sequence[object]]) -> list[list[int]]:
    """The values of one layer at all positions of both words, by one table of all that occur."""
    table: dict[object, int] = {}
    return [[table.setdefault(value, len(table)) for value in row] for row in rows]


def _next_layer(row: list[int], choice: TieBreaking) -> Iterator[object]:
    """F_k at each position, of F_(k-1): its own, and those before by last, and by first, occurrence."""
    by_last: dict[int, None] = {}
    by_first: dict[int, None] = {}
    for own in row:
        last = () if choice is TieBreaking.LEFTMOST else tuple(by_last)
        first = () if choice is TieBreaking.RIGHTMOST else tuple(by_first)
        yield own, last, first
        by_last.pop(own, None)
        by_last[own] = by_first[own] = None


def in_layers(count: int) -> str:
    """So many layers, in words."""
    return f"{count:,} layer{'' if count == 1 else 's'}"


def shown(word: Word, beside: Sequence[Word] = ()) -> str:
    """The word, or of a long one the beginning and how many letters it has.

    Letters are set apart by blanks where one of them, or of the words beside, has several characters.
    """
    blank = "" if all(len(letter) == 1 for own in (word, *beside) for letter in own) else " "
    text = blank.join(word[:LONGEST_SHOWN])
    return text if len(word) <= LONGEST_SHOWN else f"{text}... ({len(word):,} letters)"
