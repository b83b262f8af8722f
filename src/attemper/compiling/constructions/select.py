"""Select: the rightmost (leftmost) visible position where a bit holds (SHASA Lemma 8, Theorems 15, 16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Attend, Choice, Merge, Program, Ref
from attemper.compiling.building.bits import is_embedded, letter_and_place, read, strip_negations
from attemper.compiling.building.counts import Need
from attemper.compiling.building.plan import MASKINGS, Rename, Rows, exponential, one_sided
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Stream, added, form, scaled
from attemper.compiling.regimes import Regime
from attemper.exact.closed_forms import ONE, I, N, Power, over, times
from attemper.networks.layers import LinearForm, Masking, Select, Softmax


@final
@dataclass(frozen=True)
class SelectPlan:
    """Score -[blocked], and of the best positions the rightmost (leftmost)."""

    construction: Select
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Stream) -> Rows:
        query, key = (stream.at(ONE),), (scaled(self.construction.blocked, -1),)
        return Rows(query, key, one_sided(self.construction.leftmost))

    def soft(self, regime: Regime, margin: int, stream: Stream) -> Rows:
        """Lemma 8: a blocked position loses more than the whole tie-break is worth."""
        blocked, towards = self.construction.blocked, -1 if self.construction.leftmost else 1
        match regime:
            case Regime.UNBOUNDED:
                reach = stream.at(I if self.masking.weak is Masking.FUTURE else N)
                key = (scaled(blocked, -2 * margin), scaled(stream.at(I), towards * margin))
                return Rows((reach, stream.at(ONE)), key, Softmax(ONE))
            case Regime.TEMPERATURE:
                tie_break = scaled(stream.at(times(I, over(N))), Fraction(towards, 2))
                key = (scaled(blocked, -1), tie_break)
                return Rows((stream.at(ONE), stream.at(ONE)), key, Softmax(times(2 * margin, N)))
            case Regime.DECODER:
                # In the form -2 blocked (not + 2 allowed) the competing scores are only -1/j, which
                # float32 tells apart far longer: 1/j - 1/(j+1) would drown next to 2.
                key = (scaled(blocked, -2), scaled(stream.at(over(I)), -towards))
                return Rows((stream.at(ONE), stream.at(ONE)), key, Softmax(times(margin, Power(I, 2))))
            case _:
                assert_never(regime)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """r + r^3: the positions on the nearer side (Lemma 6), and the blocked ones."""
        return exponential(-margin) + exponential(-3 * margin)

    def renamed(self, rename: Rename) -> Select:
        return Select(self.construction.leftmost, rename(self.construction.blocked))


def needs(program: Program, step: Attend) -> Iterator[Need]:
    """The value, and the negation of `where`; see `_blocked`."""
    where = sought(step)
    base, positive = strip_negations(program, where)
    if isinstance(program.steps[base], Merge):
        yield from read(program, base)
    elif letter_and_place(program, where) is None and not is_embedded(program, base):
        # The head's key is "blocked", the negation, as a coordinate that is exactly 0
        # where the head may look: in floats 1 - g would carry the rounding of g.
        yield base, not positive
    yield from read(program, step.value)


def selected(site: Site, ref: Ref, step: Attend) -> LinearForm:
    """The raw output of the step's head."""
    construction = Select(step.choice is Choice.LEFTMOST, _blocked(site, sought(step)))
    target = site.attended(ref)
    plan = SelectPlan(construction, MASKINGS[step.mask])
    site.share_head(site.ready[ref], plan, site.bit(step.value), target)
    return form((target, 1))


def sought(step: Attend) -> Ref:
    """What the head of a step looks for; several cases are steps of their own by now."""
    assert step.where is not None, "cases are spelled out before assembly"
    return step.where


def _blocked(site: Site, where: Ref) -> LinearForm:
    """The negation of `where`: exactly 0 where it holds, 1 or more where it does not."""
    both = letter_and_place(site.program, where)
    if both is not None:
        letter, place = (scaled(site.bit(ref), -1) for ref in both)
        return added(site.stream.constant(2), letter, place)
    base, positive = strip_negations(site.program, where)
    if is_embedded(site.program, base) or isinstance(site.program.steps[base], Merge):
        own = site.bit(base)
        return site.negated(own) if positive else own
    return form((site.bits[base, not positive], 1))
