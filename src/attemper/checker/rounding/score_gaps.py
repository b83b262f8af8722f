"""What rounding can take away from the score gaps of a head: the one lemma for all heads.

For two positions w and j the computed scores differ by q'(k(w) - k(j)) summed over the rows, where q' is
the computed query with its temperature, the same number for both. So an error of a query counts by how far
the two keys are apart, and only errors of keys, of products and of sums count at both positions. Their sum E
is set against the exact score gap L of that pair: where E <= loss L the computed score gap is at least (1 -
loss) L. (certificates/FORMAT.md, section 6.)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import assert_never, final

import flint

from attemper.checker.rounding.arithmetic import (
    UNKNOWN,
    ZERO,
    BeyondError,
    Inexact,
    Lengths,
    OnGrid,
    Rounded,
    greatest,
)
from attemper.checker.rounding.competition import (
    Competition,
    KeyValues,
    Rival,
    RivalPair,
    ScoreGap,
    ScoreTerm,
)
from attemper.checker.rounding.growth import scaled, total
from attemper.exact import laurent
from attemper.exact.balls import ball

KNOWN = Fraction(1, 2)
"""Up to this relative error a number counts as known relatively."""

SCANNED = 64
"""So often more a scan rounds each product: coefficients, peaks and differences, in u of their sizes."""

LINEAR = 8
"""So often where scores are linear in j or 1/j: then what is lost of a difference is a part of that."""

PARTS = 7
"""A scan splits a key into what is read and, of each of three powers, a part with and one without (-1)^j."""

LaurentBound = dict[laurent.VariablePowers, flint.arb]
"""A bound on an error: a Laurent form with balls, the sum of arb * i^a n^b by (a, b)."""


@final
@dataclass(frozen=True, eq=False)
class Cold:
    """The inverse temperature, which may meet the query or the whole score. One is equal to itself alone.

    `is_exact` says that multiplying by it never rounds: it is one power of two everywhere. `is_scanned` says
    that scores are those of a scan.
    """

    number: Rounded
    is_exact: bool
    is_scanned: bool = False

    @property
    def roundings(self) -> int:
        """How often a product of query, key and temperature is rounded."""
        return (1 if self.is_exact else 2) + (SCANNED if self.is_scanned else 0)

    def terms(self, rows: int) -> int:
        """How many products a sum of rows is made of."""
        return PARTS * rows if self.is_scanned else rows


@final
@dataclass(frozen=True, eq=False)
class ScoredRow:
    """One row of the scores at one length: the query with its temperature, the key, and their product.

    One is equal to itself alone. `grid` is that of the products if they are exact, in whichever order
    temperature, query and key meet.
    """

    query: Rounded
    key: Rounded
    product: Rounded
    grid: Fraction | None


def scored_row(lengths: Lengths, query: Rounded, key: Rounded, cold: Cold) -> ScoredRow:
    """A row from what its two linear forms and the temperature are computed as."""
    colder, inner = lengths.product(query, cold.number), lengths.product(query, key)
    product = lengths.product(colder, key)
    # Up to 16 rows are added, before or after the temperature.
    sizes = (16 * (one.size + one.absolute) for one in (colder, inner, product))
    if not all(size < lengths.form.range for size in sizes):
        raise BeyondError("scores (they leave the range of the format)")
    if cold.is_scanned:
        return ScoredRow(colder, key, _split(lengths, colder, key, cold), None)
    grid = product.grid if isinstance(product, OnGrid) and isinstance(inner, OnGrid) else None
    return ScoredRow(colder, key, product, grid)


def unknown_relatively(scored: ScoredRow) -> ScoredRow:
    """A row whose key and products are known absolutely only."""
    key, product = (
        Inexact(own.size, own.inverse, own.absolute, own.at_zero, UNKNOWN, own.absolute_part)
        for own in (scored.key, scored.product)
    )
    return replace(scored, key=key, product=product)


def _split(lengths: Lengths, query: Rounded, key: Rounded, cold: Cold) -> Rounded:
    """A product as a scan forms it: of the query and each part of the key, all of whose sizes count."""
    size, rate = query.size * key.size, (1 + lengths.u) ** cold.roundings
    absolute = (query.size + query.absolute) * (key.size + key.absolute) * rate - size + lengths.tiny
    inverse, relative = query.inverse * key.inverse, (1 + query.relative) * (1 + key.relative) * rate - 1
    known = relative if inverse < lengths.form.range else UNKNOWN
    return Inexact(size, inverse, absolute, absolute, known)


def sum_rate(lengths: Lengths, rows: int, cold: Cold) -> flint.arb:
    """What adding the products of so many rows can lose, relative to the sum of their sizes.

    The temperature may come before or after the sum.
    """
    terms = cold.terms(rows)
    if terms <= 1:
        return ZERO
    rate = lengths.arithmetic.summed(terms, flint.arb(1), flint.arb(1))
    return rate if cold.is_exact else (1 + rate) * (1 + lengths.u) - 1


def lost_below(lengths: Lengths, rows: int, cold: Cold) -> flint.arb:
    """What two scores can lose to underflow together: of products, before or after the temperature."""
    return 4 * rows * (lengths.tiny + ball(lengths.form.least_normal) * (1 + cold.number.size))


def losses(
    lengths: Lengths, competition: Competition, rows: Sequence[ScoredRow], cold: Cold
) -> tuple[flint.arb, flint.arb]:
    """(near, far): by which part score gaps can be smaller than in real arithmetic, `far` for kind AHEAD.

    Raises `BeyondError` where nothing relates an error to its score gap.
    """
    near, far = _greatest(_Scores(lengths, competition, rows, cold))
    if not cold.is_scanned:
        return near, far
    # A class is as far behind as its peak, whose own score is rounded, and which has another score gap. By so
    # much of that the score gap of each other position is less: what is there of the peak's is (1 - most) of
    # it.
    peaks, most = greatest(_greatest(_Scores(lengths, competition, rows, cold, of_peaks=True))), near.max(far)
    if not (most < 1):
        return UNKNOWN, UNKNOWN
    lost = 2 * peaks / (1 - most)
    return near + lost, far + lost


def _greatest(scores: _Scores) -> tuple[flint.arb, flint.arb]:
    """The greatest parts of score gaps that pairs can lose, kind AHEAD apart."""
    told_apart = scores.competition.told_apart(scores.heard)
    found = [(pair.kind is Rival.AHEAD, scores.loss(pair)) for pair in told_apart]
    near, far = (greatest(loss for is_far, loss in found if is_far is which) for which in (False, True))
    return near, far


@final
@dataclass(frozen=True)
class _Part:
    """A row: how large its query is, how far that is off, what its products lose."""

    row: ScoreTerm
    scored: ScoredRow
    query: LaurentBound
    off: LaurentBound
    rounding: flint.arb

    def is_heard(self) -> bool:
        """Whether its keys are part of any bound: not if its query is 0, and computed as 0.

        But a tie-break has to be known, whatever its query is.
        """
        return self.row.is_tie or bool(self.query) or not all(bool(own == 0) for own in self.off.values())


@final
class _Scores:
    """The rows of one head at one length; if `of_peaks`, only what products and sums are rounded by.

    `parts` has the rows, `heard` the numbers of those that say something.
    """

    def __init__(
        self,
        lengths: Lengths,
        competition: Competition,
        rows: Sequence[ScoredRow],
        cold: Cold,
        of_peaks: bool = False,
    ) -> None:
        self.of_peaks = of_peaks
        self.lengths = lengths
        self.competition = competition
        self.rows = rows
        self.cold = cold
        roundings = cold.roundings - SCANNED + LINEAR if cold.is_scanned else cold.roundings
        self.product_rate = (1 + lengths.u) ** roundings - 1
        self._sum_rate = cache(self._sum_rate_of)
        self.parts = list(map(self._part, competition.rows, rows))
        self.heard = tuple(k for k, own in enumerate(self.parts) if own.is_heard())

    def loss(self, pair: RivalPair) -> flint.arb:
        """The largest part of its score gap that the pair can lose."""
        others, apart, both = self._errors(pair)
        competition = self.competition
        reach = competition.reach
        match pair.kind:
            case Rival.FARTHER:
                # (w + j) / |w - j| <= 2 reach / steps, for j and for 1/j alike.
                tie = [*apart, *_times(both, laurent.times(reach, Fraction(2, competition.steps)))]
                return self._share(tie, competition.size) + self._share(others, pair.score_gap)
            case Rival.PENALISED:
                # The score gap is T + P, of the tie-break and of what pushes back: a T + b P <= max(a, b) (T
                # + P).
                farthest = reach if competition.power > 0 else laurent.constant(1)
                pushed = [*others, *_times(both, laurent.times(farthest, 2))]
                return self._share(apart, competition.size).max(self._share(pushed, pair.score_gap))
            case Rival.AHEAD:
                tie = [*_times(apart, competition.apart), *_times(both, competition.both)]
                return self._share([*others, *tie], pair.score_gap)
            case _:
                assert_never(pair.kind)

    def _errors(self, pair: RivalPair) -> tuple[list[LaurentBound], list[LaurentBound], list[LaurentBound]]:
        """(others, apart, both): of rows without the tie-break's t; of those with it, times |t(w) - t(j)|
        and times |t(w)| + |t(j)|.
        """
        others: list[LaurentBound] = [{(0, 0): lost_below(self.lengths, len(self.rows), self.cold)}]
        apart: list[LaurentBound] = []
        both: list[LaurentBound] = []
        sums = [self._sum_rate(place) for place in (pair.winner, pair.other)]
        for number in self.heard:
            part, keys = self.parts[number], (pair.winner[number], pair.other[number])
            row, scored = part.row, part.scored
            if row.is_tie:
                key = laurent.monomial(0, row.growth, abs(keys[0]))
                errors = _times([part.off], key)
                others += self._besides(part, greatest(sums))
                rate = (1 + self._relative(scored)) * (1 + part.rounding) * (1 + greatest(sums)) - 1
                apart += [] if self.of_peaks else errors
                both += [scaled(size, rate) for size in (*_times([part.query], key), *errors)]
                continue
            offs = [_key_error(scored, key) for key in keys]
            distance = ball(abs(keys[0] - keys[1])) + offs[0] + offs[1]
            if not self.of_peaks:
                others += [scaled(part.off, distance), scaled(part.query, offs[0] + offs[1])]
            for value, value_off, rate in zip(keys, offs, sums, strict=True):
                size = scored.key.size if self.cold.is_scanned else ball(abs(value))
                lost = (size + value_off) * ((1 + part.rounding) * (1 + rate) - 1)
                others += [scaled(part.query, lost), scaled(part.off, lost)]
        return others, apart, both

    def _part(self, row: ScoreTerm, scored: ScoredRow) -> _Part:
        query = _balls(row.query)
        off: LaurentBound = {(0, 0): scored.query.absolute}
        if scored.query.relative <= ball(KNOWN) and not row.is_average:
            off = total([scaled(query, scored.query.relative), {(0, 0): scored.query.at_zero}])
        return _Part(row, scored, query, off, ZERO if scored.grid is not None else self.product_rate)

    def _besides(self, part: _Part, rate: flint.arb) -> list[LaurentBound]:
        """What the tie-break's keys are off by beside their relative errors, at both positions."""
        if part.scored.key.absolute_part == 0:
            return []
        lost = 2 * part.scored.key.absolute_part * (1 + part.rounding) * (1 + rate)
        return [scaled(part.query, lost), scaled(part.off, lost)]

    def _relative(self, scored: ScoredRow) -> flint.arb:
        """The relative part of the error of a tie-break's key."""
        relative = scored.key.relative_part
        if not (relative <= ball(KNOWN)):
            raise BeyondError("scores (the tie-break's key is not known relatively)")
        return relative

    def _sum_rate_of(self, place: KeyValues) -> flint.arb:
        """What the sum of the rows can lose at a place: nothing for one product, or if every sum is exact."""
        if self.cold.is_scanned:
            return sum_rate(self.lengths, len(self.rows), self.cold)
        present = [
            scored
            for row, scored, key in zip(self.competition.rows, self.rows, place, strict=True)
            if not (_is_nothing(row.query, scored.query) or (not key and bool(scored.key.at_zero == 0)))
        ]
        if len(present) <= 1:
            return ZERO
        grids = [scored.grid for scored in present if scored.grid is not None]
        size = sum((scored.product.size for scored in present), ZERO)
        if len(grids) == len(present) and self.lengths.arithmetic.fits(size, min(grids)):
            return ZERO
        return sum_rate(self.lengths, len(present), self.cold)

    def _share(self, errors: Iterable[LaurentBound], score_gap: ScoreGap) -> flint.arb:
        """Which part of a score gap the errors are at most, for all i <= n <= N."""
        lost = ZERO
        for powers, size in total(errors).items():
            if size == 0:
                continue
            worth = score_gap.worth(powers)
            if worth is None:
                return UNKNOWN
            k, factor = worth
            lost += size * flint.arb(self.lengths.length) ** k / ball(factor)
        return lost


def _is_nothing(query: laurent.Laurent, computed: Rounded) -> bool:
    """Whether a query is computed as exactly 0."""
    return not query and bool(computed.at_zero == 0)


def _key_error(scored: ScoredRow, key: Fraction) -> flint.arb:
    """How far a key can be off where its exact value is this number."""
    if not key:
        return scored.key.at_zero
    if not (scored.key.relative < UNKNOWN):
        # Numbers can be so small that even such a part of them is little.
        return scored.key.absolute
    return scored.key.absolute.min(scored.key.relative * ball(abs(key)))


def _balls(form: laurent.Laurent) -> LaurentBound:
    return {powers: ball(factor) for powers, factor in form.items()}


def _times(errors: Iterable[LaurentBound], form: laurent.Laurent) -> list[LaurentBound]:
    """Bounds times a form without negative coefficients."""
    return [
        {(a + c, b + d): size * ball(factor) for (a, b), size in own.items()}
        for own in errors
        for (c, d), factor in form.items()
    ]
