"""Integer value: an integer itself, read at the position that a count is the number of (SHASA Lemma 7; ours).

In `unbounded` an integer stands as K for a query and as n K, n K^2 for a key; in `temperature`, whose
embeddings are bounded, as K / n, K / n, (K / n)^2.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Count, Linear
from attemper.compiling.building.counts import Integer, integer_of
from attemper.compiling.building.plan import Rename, Rows
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, scaled
from attemper.compiling.constructions.uniform import name_of
from attemper.errors import InternalError, UnsupportedError
from attemper.exact.closed_forms import ONE, Digits, I, N, Power, over, plus, times
from attemper.networks.layers import HardWeighting, IntegerValue, LinearForm, Masking, Softmax
from attemper.networks.regime import Regime

LEAST_MARGIN = 8
"""What errors of integers are bounded with, beside the digits; see `certificates/FORMAT.md`."""

_SQUARE = Power(I, 2)

SHARE = times(I, over(N))
"""The position as a part of the length."""


@final
@dataclass(frozen=True)
class IntegerValuePlan:
    """Score 2 ratio j - unit j^2, highest at j = c, where ratio = c * unit; or at 1, or at n."""

    construction: IntegerValue
    masking: Masking
    value_range: ClassVar[int] = 0

    def hard(self, stream: Coordinates) -> Rows:
        key = (scaled(stream.at(I), 2), scaled(stream.at(_SQUARE), -1))
        return Rows(self._query(), key, HardWeighting.AVERAGE)

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """Scores -(j - c)^2 with a lead of B + 2 digits(n) at j = c, so that integers are off by n^-2."""
        lead = plus(max(margin, LEAST_MARGIN), times(2, Digits(N)))
        match regime:
            case Regime.UNBOUNDED:
                linear, square = (stream.at(times(lead, N, power)) for power in (I, _SQUARE))
                cold = Softmax(ONE)
            case Regime.TEMPERATURE:
                linear, square = (stream.at(times(power, over(N, 2))) for power in (I, _SQUARE))
                cold = Softmax(times(lead, Power(N, 3)))
            case Regime.DECODER:
                raise InternalError("integers are read in the decoder regime (please report)")
            case _:
                assert_never(regime)
        return Rows(self._query(), (scaled(linear, 2), scaled(square, -1)), cold)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """0: no clamp reads an integer."""
        return Fraction(0)

    def renamed(self, rename: Rename) -> IntegerValue:
        construction = self.construction
        return IntegerValue(rename(construction.ratio), rename(construction.unit), construction.is_key)

    def _query(self) -> tuple[LinearForm, ...]:
        return self.construction.ratio, self.construction.unit


def allocate_integer(site: Site, integer: Integer, *, is_compared: bool) -> None:
    """Coordinates for an integer: one for a query, two for a key, and one more if it is compared."""
    name = _called(site, integer)
    labels = [f"key of {name}", f"square of {name}"] if integer.is_key else [f"integer of {name}"]
    site.integers[integer] = tuple(map(site.stream.new, labels))
    if is_compared:
        site.shares[integer] = site.stream.new(f"share of {name}")


def _called(site: Site, integer: Integer) -> str:
    """The name that a user gave the integer, if there is one; else what is averaged."""
    for ref, name in site.names.items():
        if isinstance(site.program.steps[ref], Count | Linear):
            with suppress(UnsupportedError):  # counts on several sides are compared, but not looked up
                if integer_of(site.program, ref, integer.is_key) == integer:
                    return name
    return name_of(site, integer.average)


def make_integer(site: Site, integer: Integer) -> None:
    """Have an integer read in the layer after its average's."""
    layer = 2 + max((site.ready[bit] for _, bit in integer.average.parts), default=0)
    ratio, unit = site.average(integer.average), site.average(integer.unit)
    plan = IntegerValuePlan(IntegerValue(ratio, unit, integer.is_key), Masking.NONE)
    positions = (site.stream.at(I), site.stream.at(_SQUARE))
    # A query is read without its square.
    pairs = list(zip(positions, site.integers[integer], strict=False))
    if integer in site.shares:
        pairs.append((site.stream.at(SHARE), site.shares[integer]))
    site.add_head(layer, plan, tuple(pairs))


def in_units(
    construction: IntegerValue, values: tuple[LinearForm, ...], regime: Regime, stream: Coordinates
) -> tuple[LinearForm, ...]:
    """What the softmax head carries: a query, or a key and its square, in the regime's unit; and shares."""
    if regime is Regime.TEMPERATURE:
        forms = (SHARE, times(_SQUARE, over(N, 2))) if construction.is_key else (SHARE,)
    else:
        forms = (times(N, I), times(N, _SQUARE)) if construction.is_key else (I,)
    return (*map(stream.at, forms), *values[len(forms) :])
