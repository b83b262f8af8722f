"""Random well-formed attention programs with every kind of step, and programs as a head runs them."""

from __future__ import annotations

import random
from dataclasses import KW_ONLY, dataclass, field, replace
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from attemper.attention_program import ops
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero
from attemper.languages.words import Alphabet

Defaults = tuple[bool | None, ...]

EVERY: Defaults = (False, True, None)
SAID: Defaults = (False, True)
"""Those of definitions."""
AS_HEADS: Defaults = (None,)

PLAIN = (ops.Connective.AND, ops.Connective.OR, ops.Connective.XOR)
"""The connectives that promise nothing of their inputs."""

BINARY_FORMS: tuple[closed_forms.ClosedForm, ...] = (
    closed_forms.number(0),
    closed_forms.number(1),
    closed_forms.FIRST,
    closed_forms.LAST,
    closed_forms.ONLY,
    closed_forms.complement(closed_forms.FIRST),
    closed_forms.times(closed_forms.LAST, closed_forms.Test(Remainder(2, 0), 1, 0, 0)),
    closed_forms.Test(Named("prime"), 2, -1, 3),
    closed_forms.Test(NonNegative(), -2, 1, 1),
    closed_forms.times(Fraction(1, 2), closed_forms.plus(1, closed_forms.SIGN)),
    closed_forms.times(closed_forms.N, closed_forms.over(closed_forms.N)),
    closed_forms.times(closed_forms.I, closed_forms.I, closed_forms.over(closed_forms.I, 2)),
)
"""Closed forms that are 0 or 1 at every position."""


@dataclass
class ProgramSampler:
    """Draws programs over {a, b}.

    `defaults` has those that selections and shifts are drawn with. Programs that are `spelled_out` have no
    cases, and shifts to the neighbour with the default 0 only; those that can be `compiled` have cases only
    where a default is said. With `direct_tests`, numerical predicates are read of single counts only, which
    is what the assembly covers. Every promise is kept: cases and unions are of the bits of partitions.
    """

    rng: random.Random
    _: KW_ONLY
    defaults: Defaults = EVERY
    spelled_out: bool = False
    compiled: bool = True
    direct_tests: bool = True
    steps: list[ops.Step] = field(default_factory=list, init=False)
    bits: list[ops.Ref] = field(default_factory=list, init=False)
    counts: list[ops.Ref] = field(default_factory=list, init=False)
    direct: list[ops.Ref] = field(default_factory=list, init=False)

    def program(self, steps: int) -> ops.Program:
        """A program of at least `steps` steps; its output is the last bit, or any."""
        self._add(ops.Letter(("a",)))
        while len(self.steps) < steps:
            self._add(self._step())
        output = self.bits[-1] if self.rng.random() < 0.7 else self._bit()
        return ops.Program(Alphabet(("a", "b")), tuple(self.steps), output)

    def _step(self) -> ops.Step:
        on_bits = (
            self._letter,
            self._place,
            self._negation,
            self._gate,
            self._gate,
            self._table,
            self._union,
        )
        looking = (self._attend, self._attend, self._shift)
        on_counts = (self._count, self._count, self._linear, self._compare, self._count_test)
        return self.rng.choice((*on_bits, *looking, *on_counts))()

    def _letter(self) -> ops.Step:
        return ops.Letter(self.rng.choice([("a",), ("b",), ("b", "a"), ()]))

    def _place(self) -> ops.Step:
        return ops.Place(self.rng.choice(BINARY_FORMS))

    def _negation(self) -> ops.Step:
        return ops.Not(self._bit())

    def _gate(self) -> ops.Step:
        width = self.rng.choice([0, 1, 2, 2, 2, 3, 4])
        return ops.Gate(self.rng.choice(PLAIN), tuple(self._bit() for _ in range(width)))

    def _union(self) -> ops.Step:
        parts = self._alone()
        return self.rng.choice((ops.Merge(parts), ops.Gate(ops.Connective.UNION, parts)))

    def _alone(self) -> tuple[ops.Ref, ...]:
        """The two bits of a partition, each narrowed by any other bit: no two hold together."""
        own = self._bit()
        sides = (own, self._add(ops.Not(own)))
        return tuple(self._add(ops.Gate(ops.Connective.AND, (side, self._bit()))) for side in sides)

    def _table(self) -> ops.Step:
        width = self.rng.choice([0, 1, 2, 2, 3, 4])
        every = [tuple(bool(row >> k & 1) for k in range(width)) for row in range(2**width)]
        rows = self.rng.sample(every, self.rng.randint(0, len(every)))
        return ops.Table(tuple(self._bit() for _ in range(width)), tuple(rows))

    def _attend(self) -> ops.Step:
        mask, choice = self.rng.choice(tuple(ops.Mask)), self.rng.choice(tuple(ops.Choice))
        default = self._default()
        return ops.Attend(mask, choice, self._cases(default), self._bit(), default)

    def _cases(self, default: bool | None) -> ops.Cases:
        """One that is everywhere in force, one that is not, or several that exclude each other."""
        alone = self.spelled_out or (self.compiled and default is None)
        if alone or self.rng.random() < 0.5:
            return ops.everywhere(self._bit())
        heres = self.rng.choice((self._alone, lambda: (self._bit(),), self._three))()
        return tuple((here, self._bit()) for here in heres)

    def _three(self) -> tuple[ops.Ref, ...]:
        """Bits of a partition into three, with both sides of another one in the first part."""
        own, other = self._bit(), self._bit()
        outside, opposite = self._add(ops.Not(own)), self._add(ops.Not(other))
        parts = (self._add(ops.Gate(ops.Connective.AND, (own, side))) for side in (other, opposite))
        return *parts, outside

    def _default(self) -> bool | None:
        return self.rng.choice(self.defaults)

    def _shift(self) -> ops.Step:
        direction, bit, default = self.rng.choice(tuple(ops.Direction)), self._bit(), self._default()
        if default is None or self.spelled_out:
            return ops.Shift(direction, bit, 1, None if default is None else False)
        return ops.Shift(direction, bit, self.rng.choice((1, 1, 2, 3)), default)

    def _count(self) -> ops.Step:
        return ops.Count(self.rng.choice(tuple(ops.Mask)), self._bit())

    def _linear(self) -> ops.Step:
        parts = tuple(
            (self.rng.choice([1, 1, 2, 3, -1, -2, 0]), self._some_count())
            for _ in range(self.rng.randint(0, 3))
        )
        return ops.Linear(parts, self.rng.randint(-3, 3))

    def _compare(self) -> ops.Step:
        kind = self.rng.choice([ops.Compare, ops.Equals])
        return kind(self._some_count(), self.rng.randint(-3, 3))

    def _count_test(self) -> ops.Step:
        count = self._some_direct_count() if self.direct_tests else self._some_count()
        return ops.CountTest(
            self._predicate(), count, self.rng.choice([1, 1, 1, 2, -1, 0]), self.rng.randint(-2, 2)
        )

    def _predicate(self) -> Predicate:
        modulus = self.rng.randint(1, 4)
        remainder = Remainder(modulus, self.rng.randrange(modulus))
        return self.rng.choice([remainder, Zero(), NonNegative(), Named("prime"), Named("square")])

    def _bit(self) -> ops.Ref:
        return self.rng.choice(self.bits)

    def _some_count(self) -> ops.Ref:
        return self.rng.choice(self.counts) if self.counts else self._add(self._count())

    def _some_direct_count(self) -> ops.Ref:
        return self.rng.choice(self.direct) if self.direct else self._add(self._count())

    def _add(self, step: ops.Step) -> ops.Ref:
        ref = len(self.steps)
        self.steps.append(step)
        (self.counts if isinstance(step, ops.Count | ops.Linear) else self.bits).append(ref)
        if isinstance(step, ops.Count):
            self.direct.append(ref)
        return ref


def without_defaults(program: ops.Program) -> ops.Program:
    """The same steps, each as a head does: shifts that go further read the neighbour."""
    return replace(program, steps=tuple(map(_as_a_head_does, program.steps)))


def _as_a_head_does(step: ops.Step) -> ops.Step:
    match step:
        case ops.Attend():
            return replace(step, default=None)
        case ops.Shift(direction, bit):
            return ops.Shift(direction, bit, default=None)
        case _:
            return step


def programs(**options: Any) -> st.SearchStrategy[ops.Program]:
    """Random programs of 1 to 14 steps or a few more, by a sampler with these options."""

    def draw(rng: random.Random, steps: int) -> ops.Program:
        return ProgramSampler(rng, **options).program(steps)

    return st.builds(draw, st.randoms(use_true_random=False), st.integers(1, 14))
