"""How far what a sublayer reads through a normalisation can be off, in floats and in real arithmetic.

A normalisation makes g s (h - m) + b of each number h of a position, with one s and one m for all of them. A
pair of opposite numbers is read as a difference, from which m and b cancel. So what is read is off by

* the relative error of s against 1 / sqrt(base): the numbers that are no constants make it smaller, those
  that are no exact opposites larger, and the variance, its square root and its inverse are rounded;
* the relative distance of the weights from those of the plain network;
* a few roundings of g s (|h| + |m|) + |b|, different ones for the two of a pair.

In real arithmetic only the first two are there, and m is 0. (certificates/FORMAT.md, section 11; ours.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, assert_never, final

import flint

from attemper.checker.names import UnprovenError
from attemper.checker.rounding.arithmetic import (
    ZERO,
    BeyondError,
    Lengths,
    Normalised,
    Off,
    OfInteger,
    OfNumber,
    as_number,
)
from attemper.checker.rounding.growth import scaled, size_of, total
from attemper.checker.values import Value
from attemper.exact.balls import ball
from attemper.exact.formats import FloatFormat

if TYPE_CHECKING:
    from attemper.checker.normalised import NormReads, Reads

SCALE = 5
"""What eps, adding it, the square root and the inverse lose, in u: an inverse root may be off by 2 ulp."""

STEPS = 4
"""What taking off m, multiplying with s and with g, and adding b lose of g s (|h| + |m|), in u."""

BIASES = 2
"""What is lost of b, in u."""

SQUARES = 8
"""By so many terms more than there are coordinates the sum of their squares is off, in U."""

STORED = 2**80
"""What is stored lies between 2^-80 and 2^80 if it is not 0."""

HALF = Fraction(1, 2)


def scaled_format(form: FloatFormat, reads: Reads) -> FloatFormat:
    """The format as the plain network's numbers see it: the stream holds them times the unit.

    Raises `UnprovenError` where something that is stored may leave its range.
    """
    if form.roundoff == 0:
        return form
    unit = max(reads.unit, 1 / reads.unit)
    if min(reads.sizes) * STORED < 1 or max(reads.sizes) > STORED or unit > STORED:
        raise UnprovenError("the weights (some are too large or too small)")
    return replace(form, range=int(form.range / unit))


@final
@dataclass(frozen=True)
class Common:
    """What all that is read at a position has in common.

    Each sum that is read is off by `relative` of itself, and each of its terms by `own` of itself. A number
    is rounded by `steps` of its size and that of `shift`, m in units of the plain network.
    """

    relative: flint.arb
    own: flint.arb
    shift: flint.arb
    steps: flint.arb


def read_offs(
    lengths: Lengths, reads: Reads, norm: NormReads, values: list[Value], offs: list[Off]
) -> list[Off]:
    """How far off each coordinate is where a sublayer reads it, of a stream with these values and errors."""
    common = _common(lengths, reads, norm, values, offs)
    root = ball(reads.base).sqrt()
    pairs = enumerate(zip(values, offs, strict=True))
    return [_read(lengths, common, _Own.of(lengths, reads, norm, root, c), *pair) for c, pair in pairs]


def _read(lengths: Lengths, common: Common, own: _Own, value: Value, off: Off) -> Normalised:
    """How far off one coordinate is where it is read, beside what all of the position is off by."""
    size, rate = lengths.size(value), common.own
    whole = 1 + common.relative
    common_mode = (common.shift + own.bias) * whole
    absolute_part = (common.steps * common.shift + own.lost) * whole
    kept, found = (1 + rate) * whole, as_number(off)
    at_zero = ZERO if found.at_zero == 0 and common_mode == 0 else found.at_zero * kept + absolute_part
    if size == 0:
        return Normalised(OfNumber(at_zero, ZERO, ZERO, ZERO), common.relative, common_mode, ZERO)
    has_powers = set(value) != {(0, 0)}
    of_part = has_powers or lengths.arithmetic.has_means(value)
    read = OfNumber(
        at_zero,
        found.elsewhere * kept + rate * whole * size + absolute_part,
        found.average * kept + absolute_part,
        (_together(found.relative, rate) if of_part else found.relative) * whole,
    )
    lost = rate * whole, absolute_part
    of = _grown(lengths, value, off, kept, lost, read)
    return Normalised(of, common.relative, common_mode, absolute_part if has_powers else ZERO)


def _grown(
    lengths: Lengths,
    value: Value,
    off: Off,
    kept: flint.arb,
    lost: tuple[flint.arb, flint.arb],
    read: OfNumber,
) -> OfNumber | OfInteger:
    """The error `read`, of an integer at each length, too: with (relatively, absolutely) so much `lost`."""
    match off:
        case OfNumber() | Normalised():
            return read
        case OfInteger(growth=growth, per_step=per_step):
            rest = total([scaled(size_of(lengths, value), lost[0]), {0: lost[1]}])
            grown, stepped = (total([scaled(error, kept), rest]) for error in (growth, per_step))
            return OfInteger(grown, stepped, read)
        case _:
            assert_never(off)


@final
@dataclass(frozen=True)
class _Own:
    """Of one coordinate: the size of its bias where it is read, and what is lost of that and to underflow."""

    bias: flint.arb
    lost: flint.arb

    @classmethod
    def of(cls, lengths: Lengths, reads: Reads, norm: NormReads, root: flint.arb, coordinate: int) -> _Own:
        gains, biases = norm.gains[coordinate], norm.biases[coordinate]
        if lengths.arithmetic.is_real or not all(gains):
            return cls(ZERO, ZERO)
        gain = ball(min(map(abs, gains)))
        bias = root / ball(reads.unit) * ball(max(map(abs, biases))) / gain
        steps = BIASES + (not all(map(lengths.arithmetic.holds, biases)))
        below = 4 * lengths.tiny * (1 + root + root / gain)
        return cls(bias, steps * lengths.u * bias + below)


def _common(lengths: Lengths, reads: Reads, norm: NormReads, values: list[Value], offs: list[Off]) -> Common:
    arithmetic, u, width = lengths.arithmetic, lengths.u, 2 * len(values)
    shift = _shift(lengths, reads, values, offs)
    varying, constant = _squares(lengths, reads, values, offs)
    part, base = ball(2 * reads.unit**2 / (width * reads.base)), ball(reads.base)
    more = part * (varying + constant)
    less = part * constant + (ball(reads.unit) * shift) ** 2 / base
    if not (less <= ball(HALF)):
        raise BeyondError("a normalisation (what is constant is not known well enough)")
    # 1 - 1 / sqrt(1 + x) <= x / 2; and 1 / sqrt(1 - x) - 1 <= x up to 1/2.
    scale = (more / 2).min(1 - 1 / (1 + more).sqrt()).max(less)
    variance = ball(reads.base - reads.eps) + more * base
    _require_range(lengths, width * (variance + ball(reads.eps)))
    share = variance / (variance + ball(reads.eps))
    rounding = SCALE * u + (width + SQUARES) * ball(lengths.form.sum_roundoff) * share
    below = ZERO if arithmetic.is_real else lengths.tiny / base
    gains = [gain for pair in norm.gains for gain in pair]
    steps = (STEPS + (not all(map(arithmetic.holds, gains)))) * u
    relative = _together(scale, rounding, below, ball(norm.distance))
    return Common(relative, _together(steps, ball(norm.spread)), shift, steps)


def _require_range(lengths: Lengths, squares: flint.arb) -> None:
    """Raise `BeyondError` if eps, or the sum of a position's squares, may leave the range of the format."""
    if not lengths.arithmetic.is_real and not (4 * squares < lengths.form.range):
        raise BeyondError("a normalisation (its squares leave the range of the format)")


def _shift(lengths: Lengths, reads: Reads, values: list[Value], offs: list[Off]) -> flint.arb:
    """How large the mean is that is taken off: pairs are not exactly opposite, and sums are rounded."""
    if lengths.arithmetic.is_real or not reads.is_centred:
        return ZERO
    found, sizes = ZERO, ZERO
    for value, off in zip(values, offs, strict=True):
        error, apart = lengths.of_mean(value, off), as_number(off).apart
        found += 2 * error if apart is None else apart
        sizes += lengths.size(value) + error
    return found / len(values) + 4 * ball(lengths.form.sum_roundoff) * sizes


def _squares(
    lengths: Lengths, reads: Reads, values: list[Value], offs: list[Off]
) -> tuple[flint.arb, flint.arb]:
    """The squares of all numbers that vary, and what those of the constants are off by."""
    constants = dict(reads.constants)
    varying, constant = ball(reads.of_letters), ZERO
    for c, (value, off) in enumerate(zip(values, offs, strict=True)):
        error = lengths.of_mean(value, off)
        if c in constants:
            constant += (2 * ball(abs(constants[c])) + error) * error
        elif c in reads.letters:
            varying += (2 * lengths.size(value) + error) * error
        else:
            varying += (lengths.size(value) + error) ** 2
    return varying, constant


def _together(*rates: flint.arb) -> flint.arb:
    """(1 + a) (1 + b) ... - 1, where a and b may be less than the last bit of 1."""
    found = ZERO
    for rate in rates:
        found += rate + found * rate
    return found
