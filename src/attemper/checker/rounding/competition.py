"""Which positions compete for the attention of a head, and by how much the right one leads: the score gap.

For heads that choose by a tie-break. Exact, for all lengths, and the same for every number format; what
rounding can take away from each score gap is set against it elsewhere.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import final

from attemper.checker.attention.bounds import DOMAINS, VISIBLE
from attemper.checker.attention.contests import Contest
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.values import Value, multiply
from attemper.exact import laurent
from attemper.networks.layers import Masking

MAX_PLACES = 64
"""More combinations of key values than any construction has."""

MAX_REDUCTION = 16
"""By how many powers of N an error may outgrow a score gap."""

KeyValues = tuple[Fraction, ...]
"""A class of positions j: what each row's key is there, without the n^b j or n^b / j of a tie-break's."""


class Rival(Enum):
    """Where the other position lies, seen from the winner: who is ahead would win a tie."""

    FARTHER = auto()
    """Further off, and level but for the tie-break."""
    PENALISED = auto()
    """Further off, and pushed back besides."""
    AHEAD = auto()
    """Nearer, or i itself beside its neighbour, and pushed back by more than the tie-break gives."""


@final
@dataclass(frozen=True)
class ScoreGap:
    """A positive Laurent form in i and n that is the least score gap of a pair, and what it is worth."""

    form: laurent.Laurent
    domain: laurent.Domain
    _worth: dict[laurent.VariablePowers, tuple[int, Fraction] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __hash__(self) -> int:
        """The same for equal score gaps; fractions are slow to hash."""
        return hash((self.domain, frozenset(self.form)))

    def worth(self, power: laurent.VariablePowers) -> tuple[int, Fraction] | None:
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
            found = [laurent.most(self.form, {power: Fraction(1)}, self.domain) for power in lowered]
            best = max((c for c in found if c is not None), default=Fraction(0))
            if best > 0:
                return k, best
        return None


@final
@dataclass(frozen=True)
class RivalPair:
    """A class of positions that can be the right one, and one that it competes with.

    `score_gap` is the least score gap without the tie-break's part, which for kind FARTHER is all there is:
    there it is the least score gap of the tie-break.
    """

    winner: KeyValues
    other: KeyValues
    kind: Rival
    score_gap: ScoreGap


@final
@dataclass(frozen=True)
class ScoreTerm:
    """One product of a query and a key row.

    `is_tie` says that the key is a multiple of n^b j or n^b / j, b being `growth`. `query` bounds the size of
    the query times the inverse temperature, at every i that is looked at. `is_average` says that the query
    can be an average somewhere: then its error is known absolutely only.
    """

    is_tie: bool
    query: laurent.Laurent
    growth: int = 0
    is_average: bool = False


@final
@dataclass(frozen=True)
class Competition:
    """All that competes: the rows, and the pairs of classes of positions.

    The tie-break is `size` * j^power or its negative; `reach` is the greatest visible position. Two level
    positions are at least `steps` apart. Who is ahead is as far from the winner as `apart` says, in t(j), and
    both have a sum of `both`.
    """

    power: int
    size: ScoreGap
    reach: laurent.Laurent
    steps: int
    apart: laurent.Laurent
    both: laurent.Laurent
    rows: tuple[ScoreTerm, ...]
    pairs: tuple[RivalPair, ...]
    _told: dict[tuple[int, ...], dict[Hashable, RivalPair]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def __hash__(self) -> int:
        """The same for equal competitions, and for few others."""
        return hash((self.power, self.size, self.steps, len(self.rows), len(self.pairs), self.pairs[:1]))

    def told_apart(self, rows: tuple[int, ...]) -> Collection[RivalPair]:
        """One of all pairs that differ at most in the keys of rows that are not these.

        A pair is its kind, its score gap and its keys: all else is the competition's.
        """
        if rows not in self._told:
            self._told[rows] = {
                (pair.kind, pair.score_gap, *((pair.winner[k], pair.other[k]) for k in rows)): pair
                for pair in self.pairs
            }
        return self._told[rows].values()


@lru_cache(maxsize=1 << 10)
def _shared(competition: Competition) -> Competition:
    """One of all equal competitions: what follows from it, for whichever head, is worked out once."""
    return competition


def competition_of(contest: Contest) -> Competition | None:
    """What competes in a head that chooses; None where its rows are too mixed: no rule of floats is for them.

    On an agreed level every winner reads the same; on some none wins, or nothing is said of what is read.
    """
    head, levels = contest.levels.head, contest.levels
    try:
        rows, keys = rows_of(head.names, head.rows, head.coldness, contest.power, head.here)
        places = places_of(head.names, [*keys, levels.of_position], head.names.true)
    except UnprovenError:
        return None
    size, reach = _sizes(contest)
    gained, apart, both = _distances(contest, reach)
    level = ScoreGap(_closest(contest, size, reach), size.domain)
    losers, free = _losers(contest), levels.agreed if contest.steps == 1 else frozenset[int]()
    pairs: list[RivalPair] = []
    for (*winner, b), (*other, c) in product(places, repeat=2):
        if c < b or b in losers or (b == c and b in free):
            continue
        own = tuple(winner), tuple(other)
        if b == c:
            pairs.append(RivalPair(*own, Rival.FARTHER, level))
            continue
        pushed = laurent.plus(levels.forms[int(b)], laurent.times(levels.forms[int(c)], -1))
        left = laurent.plus(pushed, laurent.times(laurent.times(size.form, gained), -1))
        pairs.append(RivalPair(*own, Rival.PENALISED, ScoreGap(pushed, size.domain)))
        pairs.append(RivalPair(*own, Rival.AHEAD, ScoreGap(left, size.domain)))
    about = contest.power, size, reach, contest.steps, apart, both
    return _shared(Competition(*about, rows, tuple(pairs)))


def _sizes(contest: Contest) -> tuple[ScoreGap, laurent.Laurent]:
    """The size of the tie-break, and the greatest visible position."""
    sign = 1 if contest.is_rising == (contest.power > 0) else -1
    reach = laurent.monomial(1, 0) if contest.masking is Masking.FUTURE else laurent.monomial(0, 1)
    return ScoreGap(laurent.times(contest.tie, sign), DOMAINS[contest.masking]), reach


def _closest(contest: Contest, size: ScoreGap, reach: laurent.Laurent) -> laurent.Laurent:
    """The least that the tie-break sets two level positions apart.

    |1/j - 1/k| = |j - k| / (j k), and both are at most the greatest visible position.
    """
    closest = laurent.times(size.form, contest.steps)
    return closest if contest.power > 0 else laurent.times(closest, _inverse(reach, 2))


def _distances(
    contest: Contest, reach: laurent.Laurent
) -> tuple[laurent.Laurent, laurent.Laurent, laurent.Laurent]:
    """(gained, apart, both): how far in t(j) who is ahead is from the winner, twice, and their sum.

    The second is no less than the first, and has no negative factors.
    """
    one, is_linear = laurent.constant(1), contest.power > 0
    if contest.steps == 2:
        # i and i - 1, or i and i + 1: their sum is at most 3 i, that of their inverses 3 / i.
        step = one if is_linear else laurent.monomial(-2, 0, 2)
        return step, step, laurent.monomial(contest.power, 0, 3)
    if is_linear:
        gained = laurent.plus(VISIBLE[contest.masking], laurent.constant(-1))
        return gained, reach, laurent.times(reach, 2)
    return laurent.plus(one, laurent.times(_inverse(reach, 1), -1)), one, laurent.times(one, 2)


def _losers(contest: Contest) -> frozenset[int]:
    """The levels on which none wins, or of whose winners nothing is said."""
    levels = contest.levels
    if contest.steps == 2 or levels.head.is_loose:
        return frozenset(range(1, len(levels.forms)))
    return levels.hopeless


def _inverse(reach: laurent.Laurent, power: int) -> laurent.Laurent:
    """1 / reach^power, of a monomial."""
    return {(-power * a, -power * b): factor for (a, b), factor in reach.items()}


def rows_of(
    names: Names, rows: Iterable[tuple[Value, Value]], coldness: Value, power: int, here: Diagram
) -> tuple[tuple[ScoreTerm, ...], list[Diagram]]:
    """The rows, and the diagram of each one's key; `here` is a bit that holds of i.

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
        found.append(ScoreTerm(p != 0, _magnitude(names, whole, here), b, is_average))
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


def _magnitude(names: Names, value: Value, here: Diagram) -> laurent.Laurent:
    """What bounds the size of a value at every i where the bit `here` holds."""
    found: laurent.Laurent = {}
    for powers, diagram in value.items():
        inside = names.values(names.diagrams.constrain(diagram, here, names.false))
        magnitude = max(abs(end) for own in inside for end in names.bounds(own))
        found = laurent.plus(found, laurent.monomial(*powers, magnitude))
    return found
