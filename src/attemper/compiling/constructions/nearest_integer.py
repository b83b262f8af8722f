"""Nearest integer: the position whose integer is nearest to the one at i, rightmost or leftmost (ours)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import ClassVar, assert_never, final

import flint

from attemper.attention_program.ops import Choice, Matched, Merge, Nearest, Program, Ref
from attemper.compiling.building.bits import is_embedded, read, strip_negations
from attemper.compiling.building.counts import NUMBERS, Integer, Need, integers_of, is_position
from attemper.compiling.building.gadgets import negation_of
from attemper.compiling.building.plan import MASKINGS, Rename, Rows, one_sided
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, form, scaled
from attemper.errors import InternalError
from attemper.exact.balls import precision, upper_bound
from attemper.exact.closed_forms import ONE, ClosedForm, I, N, Power, over, times
from attemper.networks.layers import LinearForm, Masking, NearestInteger, Softmax
from attemper.networks.regime import Regime


@final
@dataclass(frozen=True)
class NearestIntegerPlan:
    """Score -(query - key)^2 - blocked, but for query^2; of the best the rightmost (leftmost)."""

    construction: NearestInteger
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        own = self.construction
        query = (own.query, stream.at(ONE), stream.at(ONE))
        key = (scaled(own.key, 2), scaled(own.square, -1), scaled(own.blocked, -1))
        return Rows(query, key, one_sided(own.leftmost))

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """Scores of 2 n B for each unit, so that B for each step of the tie-break never outweighs one."""
        own, towards = self.construction, -1 if self.construction.leftmost else 1
        one = stream.at(ONE)
        match regime:
            case Regime.UNBOUNDED:
                query = (own.query, one, stream.at(N), one)
                key = (
                    scaled(own.key, 4 * margin),
                    scaled(own.square, -2 * margin),
                    scaled(own.blocked, -2 * margin),
                    scaled(stream.at(I), towards * margin),
                )
                cold = Softmax(ONE)
            case Regime.TEMPERATURE:
                query = (own.query, one, stream.at(over(N, 2)), one)
                key = (
                    scaled(own.key, 2),
                    scaled(own.square, -1),
                    scaled(own.blocked, -1),
                    scaled(stream.at(times(I, over(N, 3))), Fraction(towards, 2)),
                )
                cold = Softmax(times(2 * margin, Power(N, 3)))
            case Regime.DECODER:
                raise InternalError("integers are compared in the decoder regime (please report)")
            case _:
                assert_never(regime)
        rows = [pair for pair in zip(query, key, strict=True) if pair[1]]
        return Rows(tuple(own for own, _ in rows), tuple(own for _, own in rows), cold)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """e^noise (r / (1 - r) + r^3), where integers are off by so little that noise < B / 250."""
        return _stray(margin)

    def renamed(self, rename: Rename) -> NearestInteger:
        own = self.construction
        forms = (rename(form) for form in (own.blocked, own.query, own.key, own.square))
        return NearestInteger(own.leftmost, *forms)


def needs(program: Program, step: Nearest) -> Iterator[Need]:
    """What is needed to look for a position, and the value there."""
    yield from needs_to_look(program, step)
    yield from read(program, step.value)


def needs_to_look(program: Program, step: Nearest | Matched) -> Iterator[Need]:
    """The integers, and the negation of `where` as a coordinate that is exactly 0 or 1."""
    for integer in integers_of(program, step):
        if not is_position(program, integer):
            yield integer
    base, positive = strip_negations(program, step.where)
    if isinstance(program.steps[base], Merge):
        yield from read(program, base)
    elif not is_embedded(program, base):
        yield base, not positive


def found(site: Site, ref: Ref, step: Nearest) -> LinearForm:
    """The raw output of the step's head."""
    target = site.attended(ref)
    site.share_head(site.ready[ref], plan_for(site, step), site.bit(step.value), target)
    return form((target, 1))


def plan_for(site: Site, step: Nearest | Matched) -> NearestIntegerPlan:
    """The head that looks for the position."""
    read_at = (own for integer in integers_of(site.program, step) for own in _forms(site, integer))
    forms = (negation_of(site, step.where), *read_at)
    return NearestIntegerPlan(NearestInteger(step.choice is Choice.LEFTMOST, *forms), MASKINGS[step.mask])


def _forms(site: Site, integer: Integer) -> tuple[LinearForm, ...]:
    """An integer, and for a key its square."""
    if not is_position(site.program, integer):
        return tuple(form((coordinate, 1)) for coordinate in site.integers[integer])
    position = site.stream.at(NUMBERS[integer.average.mask])
    return (position, site.stream.at(Power(I, 2))) if integer.is_key else (position,)


def in_units(construction: NearestInteger, regime: Regime, stream: Coordinates) -> NearestInteger:
    """The construction of the softmax head: positions in the regime's unit, as looked-up integers are."""
    own = construction
    units = (ONE, N, N) if regime is Regime.UNBOUNDED else (over(N), over(N), over(N, 2))
    forms = zip((own.query, own.key, own.square), units, strict=True)
    return NearestInteger(own.leftmost, own.blocked, *(_in_unit(f, unit, stream) for f, unit in forms))


def _in_unit(own: LinearForm, unit: ClosedForm, stream: Coordinates) -> LinearForm:
    placed = {coordinate: closed for closed, coordinate in stream.positions.items()}
    closed = placed.get(own[0][0])
    return own if closed is None or unit == ONE else stream.at(times(unit, closed))


@cache
def _stray(margin: int) -> Fraction:
    with precision(64):
        ball = flint.arb(margin)
        near = (-ball).exp()
        return upper_bound((ball / 250).exp() * (near / (1 - near) + near**3))
