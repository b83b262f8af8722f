"""Rounding in a head: what is computed of it at one length, and how far what it writes can be off.

What is known of its score gaps stands in the files beside this one. (certificates/FORMAT.md, section 6.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from attemper.checker.attention.contests import Contest
from attemper.checker.attention.scores import Output
from attemper.checker.names import Names
from attemper.checker.rounding import arithmetic
from attemper.checker.rounding.competition import Competition, competition_of
from attemper.checker.rounding.scan import ARGUMENT, DROPPED, EXPS, Scan
from attemper.checker.rounding.score_gaps import Cold, ScoredRow, losses, sum_rate
from attemper.checker.rules import stray_mass
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball
from attemper.networks.layers import Head, LinearForm

LARGEST_LOSS = Fraction(15, 16)
"""Score gaps may be smaller by this part; more is not looked at."""

QUOTIENT = 4
"""What dividing, rounding each weight and rounding the result lose, in u."""


Competitions = dict[int, Competition | None]
"""What competes in a head, by the identity of its contest, which the network's analysis keeps."""

LostShares = dict[str, flint.arb]
"""By place, the part that is lost of what may be."""


@final
@dataclass(frozen=True)
class RoundedRow:
    """One product of a query and a key row: the query's form, both values, and what is computed."""

    form: LinearForm
    query: Value
    key: Value
    scored: ScoredRow


@final
@dataclass(frozen=True)
class RoundedHead:
    """A head as it is computed at one length: its rows, its temperature, and its values with its outputs.

    `before` has the values of the coordinates that the head reads, `offs` their errors, `of_keys` those where
    keys read them. `lost_shares` takes notes of how much is lost of what may be: a remark, no proof rests on
    it.
    `known` keeps what score gaps lose, for all heads at one length, `competitions` what competes, at every
    one.
    `scan` is there if it is a scan that runs the head.
    """

    name: str
    head: Head
    lengths: arithmetic.Lengths
    kernel: arithmetic.Kernel
    cold: Cold
    rows: tuple[RoundedRow, ...]
    values: tuple[tuple[arithmetic.Rounded, Output], ...]
    before: ResidualValues
    offs: list[arithmetic.Off]
    of_keys: list[arithmetic.Off]
    lost_shares: LostShares
    known: dict[Hashable, tuple[flint.arb, flint.arb]]
    competitions: Competitions
    scan: Scan | None = None

    @property
    def names(self) -> Names:
        """The names of what the values are made of."""
        return self.lengths.names

    @property
    def noise(self) -> flint.arb:
        """By which factor two weights can be off against each other.

        Each is off by exp's error, its argument by one more rounding. Right positions of less than the
        largest score have arguments of their own: 4 u more.
        """
        exp = self.lengths.form.exp * self.lengths.u
        own = (1 + exp) / (1 - exp) * (1 + 4 * self.lengths.u)
        return own if self.scan is None else own ** (EXPS + self.lengths.length.bit_length())

    @property
    def argument(self) -> flint.arb:
        """By which part of a score gap more exp's argument may be off: what is rounded there."""
        return (2 if self.scan is None else ARGUMENT) * self.lengths.u

    @property
    def quotient(self) -> flint.arb:
        """What a mean of values loses beside stray attention, relative to the largest value.

        The weights above and below the fraction line may be rounded differently.
        """
        return self.noise * (1 + self.sums) - 1 + self.dropped + self.vanished

    @property
    def vanished(self) -> flint.arb:
        """By how much a mean moves for weights that underflow, relative to the largest value."""
        # The greatest weight is 1, and two values may be opposite.
        others = 0 if self.lengths.arithmetic.is_real else self.lengths.length - 1
        return 2 * others * self.lengths.tiny

    @property
    def dropped(self) -> flint.arb:
        """By how much a mean moves for what a scan drops, relative to the largest value."""
        # Two values may be opposite.
        return arithmetic.ZERO if self.scan is None else 2 * ball(DROPPED)

    @property
    def sums(self) -> flint.arb:
        """The error of a quotient of two sums over the positions, relative to the largest value."""
        long = self.lengths.long
        return 2 * long / (1 - long) + QUOTIENT * self.lengths.u

    @property
    def is_one_class(self) -> bool:
        """Whether a scan runs the head, and its keys are powers of the position alone."""
        return self.scan is not None and all(map(self.scan.is_placed, self.head.key))

    def is_known_relatively(self, row: RoundedRow) -> bool:
        """Whether all errors of a row's query are relative: it is a number but 0, or an average like that."""
        found = self.names.values(row.query[0, 0]) if set(row.query) == {(0, 0)} else []
        # What is 0 in exact arithmetic may be computed as another number, all of which is an absolute error.
        is_constant = len(found) == 1 and not found[0].parts and found[0].constant != 0
        return is_constant or bool(self.mean_off(row) == 0)

    def losses(self, contest: Contest) -> tuple[flint.arb, flint.arb]:
        """(near, far) of what competes; raises `BeyondError` if that is not known."""
        if id(contest) not in self.competitions:
            self.competitions[id(contest)] = competition_of(contest)
        competition = self.competitions[id(contest)]
        if competition is None:
            raise self.uncovered()
        # These and the length are all that `losses` asks for. Competitions are compared by what they say, the
        # temperature and rows as objects.
        asked = competition, tuple(row.scored for row in self.rows), self.cold
        if asked not in self.known:
            self.known[asked] = losses(self.lengths, *asked)
        return self.known[asked]

    def mean_off(self, row: RoundedRow) -> flint.arb:
        """The absolute error of an average that the query carries as it is; `UNKNOWN` for multiples."""
        found = self.names.values(row.query.get((0, 0), self.names.false))
        if len(row.form) != 1 or set(row.query) != {(0, 0)} or len(found) != 1:
            return arithmetic.UNKNOWN
        coordinate, factor = row.form[0]
        if factor != 1:
            return arithmetic.UNKNOWN
        off = self.offs[coordinate]
        if not found[0].parts:
            return self._read(off, arithmetic.as_number(off).constant)
        if found[0].constant or [own for _, own in found[0].parts] != [1]:
            return arithmetic.UNKNOWN
        return self._read(off, arithmetic.as_number(off).average)

    def _read(self, off: arithmetic.Off, error: flint.arb) -> flint.arb:
        """An absolute error where the coordinate is read: what is relative to the number is not in it."""
        lost = self.lengths.arithmetic.pair
        return error * (1 + lost) + arithmetic.common(off)[1] * lost

    def bear(self, loss: flint.arb) -> flint.arb:
        """By which part leads may be less, with what is rounded in exp's argument.

        Raises `BeyondError` unless so large a part may be lost. Nothing is where no other position is seen.
        """
        if self.lengths.length == 1:
            return self.argument
        lost_share = loss / ball(LARGEST_LOSS)
        self.lost_shares[self.name] = lost_share.max(self.lost_shares.get(self.name, arithmetic.ZERO))
        if not (loss <= ball(LARGEST_LOSS)):
            raise arithmetic.BeyondError(self.name)
        return loss + self.argument

    def uncovered(self) -> arithmetic.BeyondError:
        """The error for rows that no rule is made for."""
        return arithmetic.BeyondError(f"{self.name} (no rule for rounding covers its rows)")


def attended(head: RoundedHead, others: Callable[[], flint.arb]) -> list[arithmetic.Off]:
    """How far the head's values are off, if others weigh so much, relative to the winner.

    What they weigh is asked only where another position is seen.
    """
    mass = arithmetic.ZERO if head.lengths.length == 1 else stray_mass(others() * head.noise)
    quotient = head.quotient
    found: list[arithmetic.Off] = []
    for value, output in head.values:
        largest = ball(output.size) + value.absolute
        off = mass * ball(output.spread) + value.absolute + largest * quotient
        # A range stands for whatever is read, and is off like a constant. Both of a pair get the weights of
        # the same scores.
        found.append(
            arithmetic.OfNumber(
                off, off, off, arithmetic.ZERO, apart=2 * (value.absolute + largest * quotient)
            )
        )
    return found


def lost_of_parabola(head: RoundedHead) -> flint.arb:
    """By which part score gaps can be smaller, with at most one row for each power of j; `BeyondError` for
    others.

    An error of the queries, common to all positions, counts by (3 c + j) / |j - c| <= 4 N, all others by
    (3 c^2 + 2 c j + j^2) / (j - c)^2 <= 6 N^2.

    Also where c is less than 1 or more than n, and the right position is 1 or n.
    """
    if not _one_of_each_power(head.names, [row.key for row in head.rows]):
        raise head.uncovered()
    lengths, cold, n = head.lengths, head.cold, head.lengths.length
    query = arithmetic.greatest(row.scored.query.relative for row in head.rows)
    key = arithmetic.greatest(row.scored.key.relative for row in head.rows)
    rate = sum_rate(lengths, len(head.rows), cold)
    each = (1 + key) * (1 + lengths.u) ** cold.roundings * (1 + rate) - 1
    if head.is_one_class and all(map(head.is_known_relatively, head.rows)):
        # The right position is the peak, and no square is in what others are behind that.
        return (4 * n + 1) * ((1 + query) * (1 + each) - 1)
    of_means = sum((head.mean_off(row) for row in head.rows), arithmetic.ZERO) * (1 + query)
    return 4 * n * query + 6 * n**2 * each * (1 + query) + (2 * n**2 + 4 * n**3 * each) * of_means


def _one_of_each_power(names: Names, keys: list[Value]) -> bool:
    """Whether the keys are multiples of j and j^2, or of 1/j and 1/j^2, one each: nothing cancels."""
    powers = [power for key in keys for power, _ in key]
    alone = all(len(key) == 1 and all(map(names.diagrams.is_constant, key.values())) for key in keys)
    of_two = set(powers) <= {1, 2} or set(powers) <= {-1, -2}
    return alone and of_two and len(set(powers)) == len(powers)
