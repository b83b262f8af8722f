"""Select: the rightmost (leftmost) visible position where a bit holds (SHASA Lemma 8, Theorems 15, 16)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, assert_never, final

from attemper.attention_program.ops import Attend, Choice, Merge, Program, Ref
from attemper.compiling.building.bits import is_embedded, letter_and_place, read, strip_negations
from attemper.compiling.building.counts import Need
from attemper.compiling.building.gadgets import negation_of
from attemper.compiling.building.plan import MASKINGS, Rename, Rows, exponential, one_sided
from attemper.compiling.building.site import Site
from attemper.compiling.building.weights import Coordinates, added, form, scaled
from attemper.errors import InternalError
from attemper.exact.closed_forms import ONE, ClosedForm, I, N, Power, over, times
from attemper.networks.layers import LinearForm, Masking, Select, Softmax
from attemper.networks.regime import Regime


@final
@dataclass(frozen=True)
class SelectPlan:
    """Score -(the sum of here * blocked over the cases), and of the best the rightmost (leftmost)."""

    construction: Select
    masking: Masking
    value_range: ClassVar[int] = 1

    def hard(self, stream: Coordinates) -> Rows:
        return Rows(self._queries(stream), self._keys(-1), one_sided(self.construction.leftmost))

    def soft(self, regime: Regime, margin: int, stream: Coordinates) -> Rows:
        """Lemma 8: a blocked position loses more than the whole tie-break is worth."""
        towards = -1 if self.construction.leftmost else 1
        coldness: ClosedForm = ONE
        match regime:
            case Regime.UNBOUNDED:
                queries = self._queries(stream, I if self.masking.weak is Masking.FUTURE else N)
                keys, nearest = self._keys(-2 * margin), scaled(stream.at(I), towards * margin)
            case Regime.TEMPERATURE:
                queries, keys = self._queries(stream), self._keys(-1)
                nearest = scaled(stream.at(times(I, over(N))), Fraction(towards, 2))
                coldness = times(2 * margin, N)
            case Regime.DECODER:
                # In the form -2 blocked (not + 2 allowed) the competing scores are only -1/j, which
                # float32 tells apart far longer: 1/j - 1/(j+1) would drown next to 2.
                queries, keys = self._queries(stream), self._keys(-2)
                nearest = scaled(stream.at(over(I)), -towards)
                coldness = times(margin, Power(I, 2))
            case _:
                assert_never(regime)
        return Rows(
            (*queries, stream.at(ONE)), (*keys, nearest), Softmax(coldness), self._in_force_by(queries)
        )

    def _in_force_by(self, queries: tuple[LinearForm, ...]) -> Select:
        """The construction about the bits at i that the queries read, which may be multiplied by a reach."""
        pairs = zip(queries, self.construction.cases, strict=True)
        cases = tuple((None if here is None else query, blocked) for query, (here, blocked) in pairs)
        return Select(self.construction.leftmost, cases)

    def _queries(self, stream: Coordinates, reach: ClosedForm = ONE) -> tuple[LinearForm, ...]:
        """For each case `reach` where the case is in force, else 0."""
        return tuple(
            stream.at(reach) if here is None else _reaching(stream, here, reach)
            for here, _ in self.construction.cases
        )

    def _keys(self, factor: int) -> tuple[LinearForm, ...]:
        return tuple(scaled(blocked, factor) for _, blocked in self.construction.cases)

    def stray_mass(self, regime: Regime, margin: int) -> Fraction:
        """r + r^3: the positions on the nearer side (Lemma 6), and the blocked ones."""
        return exponential(-margin) + exponential(-3 * margin)

    def renamed(self, rename: Rename) -> Select:
        cases = self.construction.cases
        return Select(
            self.construction.leftmost,
            tuple((None if here is None else rename(here), rename(blocked)) for here, blocked in cases),
        )


def _reaching(stream: Coordinates, here: LinearForm, reach: ClosedForm) -> LinearForm:
    """reach * here: for a reach that is not 1, `here` must be made of position embeddings.

    A feed-forward cannot multiply a bit by a number that grows with n; a position embedding can.
    """
    if reach == ONE:
        return here
    closed_forms = dict(stream.placed())
    if not all(coordinate in closed_forms for coordinate, _ in here):
        raise InternalError("a case that depends on symbols at temperature 1 (please report)")
    return added(*(scaled(stream.at(times(reach, closed_forms[c])), factor) for c, factor in here))


def needs(program: Program, step: Attend) -> Iterator[Need]:
    """The value, what is in force at i, and the negations of what is looked for; see `_blocked`."""
    for here, there in step.cases:
        if here is not None:
            yield from read(program, here)
        yield from _needs_of_key(program, there)
    yield from read(program, step.value)


def _needs_of_key(program: Program, where: Ref) -> Iterator[Need]:
    base, positive = strip_negations(program, where)
    if isinstance(program.steps[base], Merge):
        yield from read(program, base)
    elif letter_and_place(program, where) is None and not is_embedded(program, base):
        # The head's key is "blocked", the negation, as a coordinate that is exactly 0
        # where the head may look: in floats 1 - g would carry the rounding of g.
        yield base, not positive


def selected(site: Site, ref: Ref, step: Attend) -> LinearForm:
    """The raw output of the step's head."""
    cases = tuple(
        (None if here is None else site.bit(here), _blocked(site, there)) for here, there in step.cases
    )
    target = site.attended(ref)
    plan = SelectPlan(Select(step.choice is Choice.LEFTMOST, cases), MASKINGS[step.mask])
    site.share_head(site.ready[ref], plan, site.bit(step.value), target)
    return form((target, 1))


def _blocked(site: Site, where: Ref) -> LinearForm:
    """The negation of `where`: exactly 0 where it holds, 1 or more where it does not."""
    both = letter_and_place(site.program, where)
    if both is not None:
        letter, place = (scaled(site.bit(ref), -1) for ref in both)
        return added(site.stream.constant(2), letter, place)
    return negation_of(site, where)
