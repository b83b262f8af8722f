"""That k layers of unique hard attention are enough, by classes or a formula (FORMAT.md, section 13)."""

from __future__ import annotations

from collections import deque

from attemper.checker.verdict import ClaimVerdict, Status
from attemper.languages.definition import Definition
from attemper.languages.words import Alphabet
from attemper.theories.depth.certificate import EnoughByClasses, EnoughByFormula, HardNetworks, TieBreaking
from attemper.theories.depth.check.pairs import MOST_LAYERS, in_layers
from attemper.theories.depth.check.reading import formula_reading, layers_of, reading_of

MOST = 200_000
"""More pairs of a class and a state, or of two states, are not looked at."""

MOST_ENTRIES = 50_000_000
"""Orders with more entries in all are not written down."""

Order = tuple[int, ...]
SeenOrders = tuple[int, tuple[tuple[Order, Order], ...]]
"""The next place; and of each layer below k its values so far by last, and by first, occurrence."""


def check_classes(
    language: Definition, alphabet: Alphabet, networks: HardNetworks, claim: EnoughByClasses
) -> ClaimVerdict:
    """PROVED if F_k puts the words into so many classes, and none has words inside and outside the language.

    Raises `UnsupportedError` for a language that is not read letter by letter.
    """
    if claim.classes > MOST or claim.layers > MOST_LAYERS:
        text = f"{claim.classes:,} classes of {claim.layers:,} layers are more than are looked at"
        return ClaimVerdict(Status.UNKNOWN, f"{text} ({MOST:,}, {MOST_LAYERS})")
    text = f"{in_layers(claim.layers)} suffice{'s' if claim.layers == 1 else ''}"
    reading, table = reading_of(language), dict[object, int]()
    inside: dict[int, bool] = {}
    known, entries = set[tuple[int, object]](), 0
    nothing: SeenOrders = (networks.place(1), (((), ()),) * claim.layers)
    queue = deque([(nothing, reading.start)])
    while queue:
        past, before = queue.popleft()
        for letter in alphabet.symbols:
            number, after = _read(past, letter, networks, table)
            state = reading.step(before, letter)
            if inside.setdefault(number, reading.accepts(state)) is not reading.accepts(state):
                why = "two words of one class are not both in the language, or both outside"
                return ClaimVerdict(
                    Status.REFUTED, f"{in_layers(claim.layers)} cannot know the language: {why}"
                )
            entries += sum(len(last) + len(first) for last, first in after[1])
            if (number, state) not in known:
                known.add((number, state))
                queue.append((after, state))
        if len(inside) > claim.classes:
            break
        if len(known) > MOST or entries > MOST_ENTRIES:
            return ClaimVerdict(Status.UNKNOWN, f"{text}: more than {MOST:,} cases, or too long orders")
    return _counted(claim, len(inside), text)


def _counted(claim: EnoughByClasses, count: int, text: str) -> ClaimVerdict:
    """The verdict where no class has words inside and outside, and so many were met."""
    if count != claim.classes:
        least = "at least " if count > claim.classes else ""
        why = f"of {in_layers(claim.layers)} there are {least}{count:,} classes, not {claim.classes:,}"
        return ClaimVerdict(Status.REFUTED, why)
    classes = f"{count:,} class{'' if count == 1 else 'es'}"
    how = f"they make {classes} of words, and each is inside the language or outside"
    return ClaimVerdict(Status.PROVED, f"{text}: {how}")


def _read(
    past: SeenOrders, letter: str, networks: HardNetworks, table: dict[object, int]
) -> tuple[int, SeenOrders]:
    """The number of F_k at the next position, where the letter stands, and what the one after it sees."""
    place, orders = past
    value = table.setdefault((letter, place), len(table))
    after = []
    for last, first in orders:
        seen_last = (*(other for other in last if other != value), value)
        seen_first = first if value in first else (*first, value)
        after.append(
            (
                () if networks.choice is TieBreaking.LEFTMOST else seen_last,
                () if networks.choice is TieBreaking.RIGHTMOST else seen_first,
            )
        )
        value = table.setdefault((len(after), value, last, first), len(table))
    return value, (networks.place(place + 1), tuple(after))


def check_formula(
    language: Definition, alphabet: Alphabet, networks: HardNetworks, claim: EnoughByFormula
) -> ClaimVerdict:
    """PROVED if the formula, read at the last position, is the language, and its operators nest no deeper.

    Raises `UnsupportedError` for a formula that looks at positions, counts or the future, and for a language
    that is not read letter by letter.
    """
    text = f"{in_layers(claim.layers)} suffice{'s' if claim.layers == 1 else ''}"
    if networks.choice is TieBreaking.LEFTMOST:
        return ClaimVerdict(Status.UNKNOWN, f"{text}: a formula's operators take the rightmost position")
    formula, needed = formula_reading(claim.formula), layers_of(claim.formula)
    if needed > claim.layers:
        return ClaimVerdict(Status.REFUTED, f"{text}: the formula's operators need {needed}")
    reading = reading_of(language)
    known = {(formula.start, reading.start)}
    queue = deque(known)
    while queue and len(known) <= MOST:
        left, right = queue.popleft()
        for letter in alphabet.symbols:
            pair = formula.step(left, letter), reading.step(right, letter)
            if formula.accepts(pair[0]) is not reading.accepts(pair[1]):
                return ClaimVerdict(Status.REFUTED, f"{text}: the formula is another language")
            if pair not in known:
                known.add(pair)
                queue.append(pair)
    if queue:
        return ClaimVerdict(Status.UNKNOWN, f"{text}: more than {MOST:,} cases are needed")
    how = f"a past formula is the language, and its operators need {needed}"
    return ClaimVerdict(Status.PROVED, f"{text}: {how}")
