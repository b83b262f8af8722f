"""The zoo: every named language, and what is put out at every position, by name. The only list of them.

Names with a parameter in them (`k-hop-3`) are those of a family: lists show a few of its members, and all
others can be named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, final

from attemper.errors import OptionError, UnsupportedError
from attemper.languages.named import counting, nesting, numbers, regular, retrieval, transductions
from attemper.languages.named.entry import Entry, Transduction, ZooEntry

FARTHEST = 2
"""A name that differs in more letters is not what was meant."""

LONGEST_PATTERN = 8
"""The greatest length of the pattern of `detect-...`."""


@final
@dataclass(frozen=True)
class Family:
    """Entries made by a function.

    `shown` is how its names are written; a name that fits `pattern` has the parameters of `make` as its
    groups. `listed` are the parameters of those that lists show. `allows` says whether there is a member with
    these parameters, and `range` the same in words.
    """

    shown: str
    pattern: str
    make: Callable[..., ZooEntry]
    listed: tuple[tuple[int | str, ...], ...]
    range: str
    allows: Callable[..., bool]

    def named(self, name: str) -> ZooEntry | None:
        """The member of this name; None if the name is of another form. Raises `OptionError`."""
        found = re.fullmatch(self.pattern, name)
        if found is None:
            return None
        parameters: tuple[Any, ...] = tuple(int(p) if p.isdecimal() else p for p in found.groups())
        if not self.allows(*parameters):
            raise OptionError(f"there is no '{name}' in the zoo: of '{self.shown}' there are {self.range}")
        return self.make(*parameters)


NUMBER = "([1-9][0-9]{0,2})"

FAMILIES = (
    Family("mod-K", f"mod-{NUMBER}", regular.modulo, ((3,), (5,)), "K = 2 to 16", lambda k: 2 <= k <= 16),
    Family(
        "dyck-shuffle-K",
        f"dyck-shuffle-{NUMBER}",
        counting.shuffle,
        ((2,),),
        "K = 2 to 6",
        lambda k: 2 <= k <= 6,
    ),
    Family(
        "dyck-K-depth-M",
        f"dyck-{NUMBER}-depth-{NUMBER}",
        nesting.bounded,
        ((1, 3), (1, 10), (2, 2), (2, 3)),
        nesting.DEPTHS,
        lambda kinds, depth: depth <= nesting.DEEPEST.get(kinds, 0),
    ),
    Family(
        "dyck-K",
        f"dyck-{NUMBER}",
        nesting.unbounded,
        ((2,), (3,)),
        f"K = 1 to {nesting.MOST_KINDS}",
        lambda kinds: 2 <= kinds <= nesting.MOST_KINDS,
    ),
    Family(
        "dyck-K-appendix-e",
        f"dyck-{NUMBER}-appendix-e",
        nesting.appendix_e,
        ((2,),),
        f"K = 2 to {nesting.MOST_KINDS}",
        lambda kinds: 2 <= kinds <= nesting.MOST_KINDS,
    ),
    Family("k-hop-K", f"k-hop-{NUMBER}", retrieval.k_hop, ((1,), (2,), (3,)), "K = 1 to 4", lambda k: k <= 4),
    Family("seen-K", f"seen-{NUMBER}", counting.seen, ((3,),), "K = 2 to 20", lambda k: 2 <= k <= 20),
    Family(
        "detect-WORD",
        "detect-([a-z]+)",
        retrieval.detects,
        (("aab",), ("aaaab",)),
        f"words of 2 to {LONGEST_PATTERN} letters a and b",
        lambda word: 2 <= len(word) <= LONGEST_PATTERN and set(word) <= {"a", "b"},
    ),
    Family(
        "k-hop-K-symbol",
        f"k-hop-{NUMBER}-symbol",
        transductions.k_hop_symbol,
        ((1,), (2,), (3,)),
        "K = 1 to 4",
        lambda k: k <= 4,
    ),
)

ALIASES = {
    "parity": "parity-even",
    "dyck1": "dyck-1",
    "dyck2": "dyck-2",
    "ones": "tomita-1",
    "anbn": "a-n-b-n",
    "anbncn": "a-n-b-n-c-n",
    "induction-head": "k-hop-1-symbol",
    "n-gram-detect": "detect-aab",
    "n-gram-lm": "trigram-lm",
    "fraction-of-previous": "fraction-seen",
}
"""Other names, and what they stand for."""


@cache
def everything() -> tuple[ZooEntry, ...]:
    """All that lists show, in their order.

    >>> len(everything()) == len({one.name for one in everything()})
    True
    """
    return tuple(_everything())


def _everything() -> Iterator[ZooEntry]:
    yield from (regular.FIRST, regular.AB_STAR, regular.AA_STAR, regular.DATE)
    yield from (regular.PARITY_EVEN, regular.PARITY_ODD)
    yield from _listed("mod-K")
    yield from (regular.EVEN_RUNS, regular.MULTIPLES_OF_3, *regular.TOMITA)
    yield from (counting.MAJORITY, counting.MAJORITY_STRICT, counting.MOST_FREQUENT)
    yield from (counting.A_N_B_N, counting.A_N_B_N_C_N, counting.A_N_B_N_C_N_D_N, counting.DYCK_1)
    yield from _listed("dyck-shuffle-K", "dyck-K-depth-M", "dyck-K", "dyck-K-appendix-e")
    yield nesting.PALINDROMES
    yield from (retrieval.FLIP_FLOP, retrieval.MQAR)
    yield from _listed("k-hop-K", "detect-WORD")
    yield retrieval.COPY_PREVIOUS
    yield from _listed("seen-K")
    yield transductions.COPY_PREVIOUS_SYMBOL
    yield from _listed("k-hop-K-symbol")
    yield from (transductions.MQAR_SYMBOL, transductions.MOST_FREQUENT_SYMBOL, transductions.SORT)
    yield transductions.REVERSE
    yield from (numbers.HISTOGRAM, numbers.HISTOGRAM_SO_FAR, numbers.FRACTION_SEEN, numbers.TRIGRAM_LM)


def _listed(*shown: str) -> Iterator[ZooEntry]:
    for family in FAMILIES:
        if family.shown in shown:
            yield from (family.make(*parameters) for parameters in family.listed)


def named(name: str) -> ZooEntry:
    """The entry of this name, or of what the name stands for.

    Raises `OptionError` if there is none: with the names that contain the text, or else the nearest one,
    unless all are far.

    >>> named("parity").name, named("k-hop-2").layers
    ('parity-even', 3)
    >>> named("parety")
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: there is no 'parety' in the zoo; the nearest name is 'parity'
    """
    name = ALIASES.get(name, name)
    found = next((one for one in everything() if one.name == name), None)
    if found is not None:
        return found
    for family in FAMILIES:
        member = family.named(name)
        if member is not None:
            return member
    raise OptionError(f"there is no '{name}' in the zoo; {_advice(name)}")


def _advice(name: str) -> str:
    known = [*(one.name for one in everything()), *ALIASES]
    if name and (longer := [f"'{one}'" for one in known if name.lower() in one]):
        return f"names with it are {', '.join(longer)}"
    alike = [one for one in known if abs(len(one) - len(name)) <= FARTHEST]
    nearest = min(alike, key=lambda one: _distance(name, one), default="")
    if nearest and _distance(name, nearest) <= FARTHEST:
        return f"the nearest name is '{nearest}'"
    return "'attemper zoo' lists all names"


def _distance(one: str, other: str) -> int:
    """How many letters must be put in, taken out or replaced to make one of the other.

    >>> _distance("parety", "parity"), _distance("nope", "ones")
    (1, 3)
    """
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row = row, [i]
        for j, against in enumerate(other, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != against)))
    return row[-1]


def language_named(name: str) -> Entry:
    """The language of this name; raises `OptionError` as `named`, and `UnsupportedError` if it is none.

    >>> language_named("sort")
    Traceback (most recent call last):
    ...
    attemper.errors.UnsupportedError: 'sort' is no language: it puts something out at every position
    """
    found = named(name)
    if isinstance(found, Transduction):
        raise UnsupportedError(f"'{found.name}' is no language: it puts something out at every position")
    return found
