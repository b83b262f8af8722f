"""Which positions compete for the attention of a head, and by how much the right one leads: the score gap.

For heads that choose by a tie-break. Exact, for all lengths, and the same for every number format; what
rounding can take away from each score gap is set against it elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from functools import lru_cache
from typing import final

from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.values import Value, multiply
from attemper.exact import laurent

MAX_PLACES = 64
"""More combinations of key values than any construction has."""

MAX_REDUCTION = 64
"""By how many powers of N an error may outgrow a score gap."""

KeyValues = tuple[Fraction, ...]
"""A class of positions j: what each row's key is there, without the n^b j or n^b / j of a tie-break's."""


class Rival(Enum):
    """Where the other position lies, seen from the winner: who is ahead would win a tie."""

    FARTHER = auto()
    """Further off, and level but for the tie-break."""
    PENALISED = auto()
    """Further off, and pushed back besides."""
    CLOSER = auto()
    """Nearer, and pushed back by more than the tie-break gives."""
    SELF = auto()
    """Position i itself beside its neighbour."""


@final
@dataclass(frozen=True)
class ScoreGap:
    """A positive Laurent form in i and n that is the least score gap of a pair, and what it is worth."""

    form: laurent.Laurent
    domain: laurent.Domain
    _worth: dict[tuple[int, int], tuple[int, Fraction] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __hash__(self) -> int:
        """The same for equal score gaps; fractions are slow to hash."""
        return hash((self.domain, frozenset(self.form)))

    def worth(self, power: tuple[int, int]) -> tuple[int, Fraction] | None:
        """(k, c) with i^a n^b <= N^k score gap / c wherever 1 <= i <= n <= N: the least k for which c is
        found.

        Powers are lowered one by one, which only makes the monomial larger by at most N each.
        """
        if power not in self._worth:
            self._worth[power] = self._found(*power)
        return self._worth[power]

    def _found(self, a: int, b: int) -> tuple[int, Fraction] | None:
        for k in range(MAX_REDUCTION):
            lowered = [(a - k, b), (a, b - k)] if k else [(a, b)]
            found = [laurent.most_times(self.form, power, self.domain) for power in lowered]
            best = max((c for c in found if c is not None), default=None)
            if best is not None:
                return k, best
        return None


@final
@dataclass(frozen=True)
class RivalPair:
    """A class of positions that can be the right one, and one that it competes with.

    `case` numbers what is known of i. `score_gap` is the least score gap without the tie-break's part, which
    for kind FARTHER is all there is: there it is the least score gap of the tie-break.
    """

    case: int
    winner: KeyValues
    other: KeyValues
    kind: Rival
    score_gap: ScoreGap


@final
@dataclass(frozen=True)
class ScoreTerm:
    """One product of a query and a key row.

    `is_tie` says that the key is a multiple of n^b j or n^b / j, b being `growth`. `queries` bounds, for each
    case of i, the size of the query times the inverse temperature. `is_average` says that the query can be an
    average somewhere: then its error is known absolutely only.
    """

    is_tie: bool
    queries: tuple[laurent.Laurent, ...]
    growth: int = 0
    is_average: bool = False


@final
@dataclass(frozen=True)
class Competition:
    """All that competes: the rows, and the pairs of classes of positions.

    The tie-break is `size` * j^power or its negative; `reach` is the greatest visible position. Two level
    positions are at least `steps` apart.
    """

    power: int
    size: ScoreGap
    reach: laurent.Laurent
    steps: int
    rows: tuple[ScoreTerm, ...]
    pairs: tuple[RivalPair, ...]
    _told: dict[tuple[tuple[int, ...], ...], dict[Hashable, RivalPair]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __hash__(self) -> int:
        """The same for equal competitions, and for few others."""
        return hash((self.power, self.size, self.steps, len(self.rows), len(self.pairs), self.pairs[:1]))

    def told_apart(self, rows: tuple[tuple[int, ...], ...]) -> Collection[RivalPair]:
        """One of all pairs that differ at most in the keys of rows that are not these, by case.

        A pair is its case, which has the queries, its kind, its score gap and its keys: all else is the
        competition's.
        """
        if rows not in self._told:
            self._told[rows] = {
                (
                    pair.case,
                    pair.kind,
                    pair.score_gap,
                    *((pair.winner[k], pair.other[k]) for k in rows[pair.case]),
                ): pair
                for pair in self.pairs
            }
        return self._told[rows].values()


def rows_of(
    names: Names, rows: Iterable[tuple[Value, Value]], coldness: Value, power: int, cases: list[Diagram]
) -> tuple[tuple[ScoreTerm, ...], list[Diagram]]:
    """The rows, and the diagram of each one's key; `cases` are bits that hold of i.

    Raises `UnprovenError` where a key is more than a number, or more than a multiple of the tie-break.
    """
    found, keys = [], []
    for query, key in rows:
        if len(key) > 1:
            raise UnprovenError("a key mixes powers of j")
        ((p, b), diagram), *_ = [*key.items(), ((0, 0), names.false)]
        names.constants(diagram, "a key")
        if p and (p != power or not names.diagrams.is_constant(diagram)):
            raise UnprovenError("a key is not a multiple of the tie-break's")
        if b and not p:
            raise UnprovenError("a key that does not depend on j grows with n")
        whole = multiply(names, query, coldness)
        is_average = any(value.parts for part in whole.values() for value in names.values(part))
        found.append(
            ScoreTerm(p != 0, tuple(_magnitudes(names, whole, case) for case in cases), b, is_average)
        )
        keys.append(diagram)
    return tuple(found), keys


def places_of(names: Names, keys: list[Diagram], where: Diagram) -> list[KeyValues]:
    """All combinations of the keys' values at positions j where a bit holds."""
    joint = names.diagrams.constant(())
    for key in keys:
        joint = names.diagrams.combine("and then", _appended, joint, key)
    found = names.diagrams.values(names.diagrams.constrain(joint, where, names.false))
    places = sorted(place for place in found if isinstance(place, tuple))
    if len(places) > MAX_PLACES:
        raise UnprovenError("its keys have too many values")
    return places


def _appended(before: KeyValues, value: Affine) -> KeyValues:
    return (*before, value.constant)


def _magnitudes(names: Names, value: Value, case: Diagram) -> laurent.Laurent:
    """What bounds the size of a value at every i where the bit `case` holds."""
    found: laurent.Laurent = {}
    for powers, diagram in value.items():
        inside = names.values(names.diagrams.constrain(diagram, case, names.false))
        magnitude = max(abs(end) for own in inside for end in names.bounds(own))
        found = laurent.plus(found, laurent.monomial(*powers, magnitude))
    return found


def if_covered(competition: Callable[[], Competition]) -> Competition | None:
    """The competition; None where its rows are too mixed, which matters for floats only."""
    try:
        return _shared(competition())
    except UnprovenError:
        return None


@lru_cache(maxsize=1 << 10)
def _shared(competition: Competition) -> Competition:
    """One of all equal competitions: what follows from it, for whichever head, is worked out once."""
    return competition
