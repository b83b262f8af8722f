"""How far a run in floating point can be from the real numbers, for all words up to a length N.

Every bound grows with N, so what holds at N holds for all shorter words. Nothing is assumed about the
order of summation. The arithmetic (roundings, exp, kernel classes) is specified in
certificates/FORMAT.md, section "Arithmetic"; each bound below is one of its rules.
"""

from __future__ import annotations

from enum import StrEnum
from fractions import Fraction
from typing import final

import flint

from attemper.checker.analysis import Analysis
from attemper.checker.heads import HeadFact, Output
from attemper.checker.proof import ROUNDED
from attemper.checker.rounded_forms import UNKNOWN, ZERO, BeyondError, Lengths, Off, Rounded
from attemper.checker.rounded_units import Writing, writings_of, written
from attemper.checker.rules import LocalSignRule, LookupRule, ShiftRule, SignRule, TieBreakRule
from attemper.checker.values import Stream, Value, of_closed_form, of_form
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FloatFormat
from attemper.networks.layers import Head, Softmax

PRECISION = 64

LONGEST = 2**40
"""Lengths beyond it are not looked at."""

LARGEST_LOSS = Fraction(15, 16)
"""Leads may be smaller by this part; more is not looked at."""

FAR_LOSS = Fraction(1, 2)
"""The loss up to which a tie-break's bound on blocked positions holds."""


class Kernel(StrEnum):
    """How a kernel divides: once, after summing e_j v_j, or each weight before it meets its value."""

    NUMERATOR_FIRST = "numerator-first"
    NORMALISE_FIRST = "normalise-first"


@final
class Rounding:
    """One network in one format, for one class of attention kernels."""

    def __init__(self, analysis: Analysis, form: FloatFormat, kernel: Kernel) -> None:
        self.analysis = analysis
        self.form = form
        self.kernel = kernel
        self.writings = [
            writings_of(analysis.terms, fact.groups, fact.middle, fact.after) for fact in analysis.layers
        ]
        self.coldness: dict[Softmax, Value] = {}
        for layer in analysis.network.layers:
            for head in layer.heads:
                assert isinstance(head.weighting, Softmax)
                coldness = of_closed_form(analysis.terms, head.weighting.inverse_temperature)
                self.coldness[head.weighting] = coldness

    def horizon(self) -> tuple[int, str]:
        """The greatest N up to which every answer is proved right, and the place that has no proof beyond.

        A power of two at which the proof fails is found first, then the exact place below it.
        """
        with precision(PRECISION):
            good, bad, blame = 0, 1, ""
            while not (blame := self._failure(bad)):
                good, bad = bad, 2 * bad
                if bad > LONGEST:
                    return LONGEST, ""
            while bad - good > 1:
                middle = (good + bad) // 2
                failure = self._failure(middle)
                good, bad, blame = (good, middle, failure) if failure else (middle, bad, blame)
            return good, blame

    def holds(self, length: int) -> bool:
        """Whether every answer is proved right for all words of up to `length` symbols."""
        with precision(PRECISION):
            return length == 0 or (length <= LONGEST and not self._failure(length))

    def _failure(self, length: int) -> str:
        """What the proof fails at for this length; empty if it holds."""
        try:
            _Run(self, Lengths(self.analysis.terms, self.form, length)).require()
        except BeyondError as error:
            return str(error)
        return ""


@final
class _Run:
    """The bounds at one length, layer by layer."""

    def __init__(self, rounding: Rounding, lengths: Lengths) -> None:
        self.rounding = rounding
        self.lengths = lengths
        self.offs: list[Off] = []

    def require(self) -> None:
        """Raise `BeyondError` with the place unless the output is right."""
        analysis = self.rounding.analysis
        if not (4 * self.lengths.long < 1):
            raise BeyondError("sums over so many positions")
        self.offs = [self._embedded(value) for value in analysis.start.values]
        blame = dict.fromkeys(range(len(self.offs)), "the embedding")
        for number, (layer, fact) in enumerate(zip(analysis.network.layers, analysis.layers, strict=True)):
            after = list(self.offs)
            taken: set[int] = {c for c, value in enumerate(fact.before.values) if value}
            for index, (head, head_fact) in enumerate(zip(layer.heads, fact.heads, strict=True)):
                name = f"layer {number}, head {index}"
                for target, off in self._head(head, head_fact, fact.before, name):
                    if target in taken:
                        raise BeyondError(f"{name} (it adds to something that stands there)")
                    taken.add(target)
                    after[target], blame[target] = off, name
            self.offs = after
            for writing in self.rounding.writings[number]:
                worst = self._worst_input(writing)
                if writing.target in taken:
                    raise BeyondError(
                        f"layer {number}'s feed-forward (it adds to something that stands there)"
                    )
                after[writing.target] = written(self.lengths, writing, fact.middle, self.offs)
                blame[writing.target] = blame.get(worst, "the embedding")
            self.offs = after
        output = analysis.network.output
        off = self.offs[output]
        if not (off.constant.max(off.mean + off.relative) <= ball(ROUNDED)):
            raise BeyondError(blame[output])

    def _worst_input(self, writing: Writing) -> int:
        """The coordinate that contributes the largest error."""
        inputs = [c for form, _, _ in writing.parts for c, _ in form]
        return max(inputs, key=lambda c: float(self.offs[c].constant.mid()), default=-1)

    def _embedded(self, value: Value) -> Off:
        rounded = self.lengths.closed_form(value)
        relative = rounded.relative if set(value) - {(0, 0)} or not value else ZERO
        return Off(rounded.zero, rounded.absolute, ZERO, relative)

    # Heads ---------------------------------------------------------------------------------------

    def _head(self, head: Head, fact: HeadFact, before: Stream, name: str) -> list[tuple[int, Off]]:
        forms = [self.lengths.linear(form, before.values, self.offs) for form in head.values]
        pairs = list(zip(forms, fact.outputs, strict=True))
        if not head.query:
            return [(output.target, self._average(form, output)) for form, output in pairs]
        loss, slack = self._scores(head, fact, before, name)
        if not (loss <= ball(LARGEST_LOSS)) or not (slack <= 4):
            raise BeyondError(name)
        # exp is off by 4 u, its argument by one more rounding; the weights are compared with each other.
        u = self.lengths.u
        mass = fact.rule.stray(loss + 2 * u, slack + 8 * u)
        found = []
        for form, output in pairs:
            off = mass * ball(output.spread) + form.absolute + ball(output.size) * self._sums(8)
            found.append((output.target, Off(off, off)))
        return found

    def _sums(self, roundings: int) -> flint.arb:
        """The error of a quotient of two sums over the positions, relative to the largest value."""
        long = self.lengths.long
        return 2 * long / (1 - long) + roundings * self.lengths.u

    def _average(self, form: Rounded, output: Output) -> Off:
        """A uniform head: an exact sum divided once, or a sum of quotients; exact over one position."""
        whole = self.lengths.long * ball(output.size)
        numerators = self.rounding.kernel is Kernel.NUMERATOR_FIRST
        if numerators and form.grid is not None and whole <= ball(form.grid):
            return Off(ZERO, ZERO, ZERO, 2 * self.lengths.u)
        mean = form.absolute + ball(output.size) * self._sums(4)
        # The average of a constant is a constant, but not computed as one.
        alone = form.absolute if self.lengths.has_means({(0, 0): output.diagram}) else mean
        return Off(alone, alone, mean, 2 * self.lengths.u)

    def _scores(self, head: Head, fact: HeadFact, before: Stream, name: str) -> tuple[flint.arb, flint.arb]:
        """(loss, slack): by how much the leads of the head's rule can be smaller than in real arithmetic."""
        assert isinstance(head.weighting, Softmax)
        lengths, u, n = self.lengths, self.lengths.u, self.lengths.length
        cold = lengths.closed_form(self.rounding.coldness[head.weighting])
        queries, keys = (
            [lengths.linear(form, before.values, self.offs) for form in forms]
            for forms in (head.query, head.key)
        )
        rows = [lengths.product(lengths.product(q, cold), k) for q, k in zip(queries, keys, strict=True)]
        sizes = sum((row.size for row in rows), ZERO)
        if not (sizes < self.rounding.form.range):
            raise BeyondError(f"{name} (its scores leave the range of the format)")
        worst = ZERO
        for row in rows:
            worst = worst.max(row.relative)
        of_means = sum((self.offs[c].mean for form in head.query for c, _ in form), ZERO)
        match fact.rule:
            case LocalSignRule():
                return ZERO, sum((row.absolute for row in rows), ZERO) + len(rows) * u * sizes
            case SignRule() if len(rows) == 1:
                return worst + of_means * n / ball(fact.unit), ZERO
            case LookupRule() if len(rows) <= 2:
                return 6 * n**2 * (worst + u) + (4 * n**2 + 6 * n**3) * of_means, ZERO
            case TieBreakRule(_, _, far_loss) if self._is_tie_break(head, before):
                crossing = sum((row.zero for row in rows), ZERO)
                slack = crossing if crossing == 0 else crossing + 2 * u * sizes
                if not (ball(far_loss) * (worst + 2 * u) <= ball(FAR_LOSS)):
                    raise BeyondError(name)
                return 2 * n * self._tie_row(head, before, rows).relative, slack
            case ShiftRule(gap, own, _):
                share = ball(max(Fraction(1), gap / own)) if own > 0 else UNKNOWN
                joined = ZERO if self._parities_apart(head, before) else self._sum_loss(rows, sizes)
                near = 2 * n * self._tie_row(head, before, rows).relative * share
                return near.max(4 * worst) + 4 * u, joined
            case _:
                raise BeyondError(f"{name} (no rule for rounding covers its rows)")

    def _sum_loss(self, rows: list[Rounded], sizes: flint.arb) -> flint.arb:
        """What adding the rows can lose: nothing if all partial sums are exact."""
        grids = [row.grid for row in rows if row.grid is not None]
        exact = len(grids) == len(rows) and self.lengths.fits(sizes, min(grids))
        return ZERO if exact else 2 * self.lengths.u * sizes

    def _tie_row(self, head: Head, before: Stream, rows: list[Rounded]) -> Rounded:
        """The row whose key grows or shrinks with j."""
        terms = self.rounding.analysis.terms
        keys = [of_form(terms, key, before) for key in head.key]
        return next(row for row, key in zip(rows, keys, strict=True) if set(key) - {(0, 0)})

    def _is_tie_break(self, head: Head, before: Stream) -> bool:
        """One row is the tie-break; the others' keys are 0 exactly at the positions that are not blocked."""
        terms = self.rounding.analysis.terms
        ties = 0
        for key in head.key:
            value = of_form(terms, key, before)
            if set(value) - {(0, 0)}:
                ties += 1
                if len(value) != 1:
                    return False
            elif value:
                found = [v.constant for v in terms.values(value[0, 0])]
                if 0 not in found or min(found) < 0 < max(found):
                    return False
        return ties == 1 and len(head.key) <= 2

    def _parities_apart(self, head: Head, before: Stream) -> bool:
        """Whether every row but the tie-break's is exactly 0 between positions of different parity."""
        terms = self.rounding.analysis.terms
        for query, key in zip(head.query, head.key, strict=True):
            pair = of_form(terms, query, before), of_form(terms, key, before)
            if set(pair[1]) - {(0, 0)}:
                continue
            at_even, at_odd = (
                [terms.at_fixed(value.get((0, 0), terms.false), j) for value in pair] for j in (2, 1)
            )
            if terms.product(at_even[0], at_odd[1]) != terms.false:
                return False
            if terms.product(at_odd[0], at_even[1]) != terms.false:
                return False
        return True
