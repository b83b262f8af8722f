"""Random well-formed attention programs with every kind of step."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
)
from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ONLY,
    SIGN,
    ClosedForm,
    I,
    N,
    Test,
    complement,
    number,
    over,
    plus,
    times,
)
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero
from attemper.languages.words import Alphabet

PLAIN = (Connective.AND, Connective.OR, Connective.XOR)
"""The connectives that promise nothing of their inputs."""

BINARY_FORMS: tuple[ClosedForm, ...] = (
    number(0),
    number(1),
    FIRST,
    LAST,
    ONLY,
    complement(FIRST),
    times(LAST, Test(Remainder(2, 0), 1, 0, 0)),
    Test(Named("prime"), 2, -1, 3),
    Test(NonNegative(), -2, 1, 1),
    times(Fraction(1, 2), plus(1, SIGN)),
    times(N, over(N)),
    times(I, I, over(I, 2)),
)
"""Closed forms that are 0 or 1 at every position."""


class ProgramSampler:
    """Draws programs over {a, b}.

    With `matching`, attention to equal counts occurs; with `defaults`, selections with the default 1 do. With
    `direct_tests`, numerical predicates are read of single counts only, which is what the assembly covers.
    """

    def __init__(
        self,
        rng: random.Random,
        *,
        matching: bool = False,
        defaults: bool = True,
        direct_tests: bool = True,
    ) -> None:
        self.rng = rng
        self.matching = matching
        self.defaults = defaults
        self.direct_tests = direct_tests
        self.steps: list[Step] = []
        self.bits: list[Ref] = []
        self.counts: list[Ref] = []
        self.direct: list[Ref] = []

    def program(self, steps: int) -> Program:
        """A program of at least `steps` steps; its output is the last bit, or any."""
        self._add(Letter(("a",)))
        while len(self.steps) < steps:
            self._add(self._step())
        output = self.bits[-1] if self.rng.random() < 0.7 else self._bit()
        return Program(Alphabet(("a", "b")), tuple(self.steps), output)

    def _step(self) -> Step:
        draw = self.rng.choice(
            [
                self._letter,
                self._place,
                self._negation,
                self._gate,
                self._gate,
                self._table,
                self._union,
                self._attend,
                self._attend,
                self._shift,
                self._count,
                self._count,
                self._linear,
                self._compare,
                self._count_test,
            ]
        )
        return draw()

    def _letter(self) -> Step:
        return Letter(self.rng.choice([("a",), ("b",), ("b", "a"), ()]))

    def _place(self) -> Step:
        return Place(self.rng.choice(BINARY_FORMS))

    def _negation(self) -> Step:
        return Not(self._bit())

    def _gate(self) -> Step:
        width = self.rng.choice([0, 1, 2, 2, 2, 3, 4])
        return Gate(self.rng.choice(PLAIN), tuple(self._bit() for _ in range(width)))

    def _union(self) -> Step:
        """The bits of a partition, each narrowed by any other bit: no two hold together."""
        own = self._bit()
        self._add(Not(own))
        parts = []
        for side in (own, self.bits[-1]):
            self._add(Gate(Connective.AND, (side, self._bit())))
            parts.append(self.bits[-1])
        merged = self.rng.random() < 0.5
        return Merge(tuple(parts)) if merged else Gate(Connective.UNION, tuple(parts))

    def _table(self) -> Step:
        width = self.rng.choice([0, 1, 2, 2, 3, 4])
        every = [tuple(bool(row >> k & 1) for k in range(width)) for row in range(2**width)]
        rows = self.rng.sample(every, self.rng.randint(0, len(every)))
        return Table(tuple(self._bit() for _ in range(width)), tuple(rows))

    def _attend(self) -> Step:
        match = None
        if self.matching and self.rng.random() < 0.5:
            match = (self._some_count(), self._some_count())
        mask, choice = self.rng.choice(tuple(Mask)), self.rng.choice(tuple(Choice))
        where, value, default = self._bit(), self._bit(), self.rng.random() < 0.5
        return Attend(mask, choice, where, value, self.defaults and default, match)

    def _shift(self) -> Step:
        return Shift(self.rng.choice(tuple(Direction)), self._bit())

    def _count(self) -> Step:
        return Count(self.rng.choice(tuple(Mask)), self._bit())

    def _linear(self) -> Step:
        parts = tuple(
            (self.rng.choice([1, 1, 2, 3, -1, -2, 0]), self._some_count())
            for _ in range(self.rng.randint(0, 3))
        )
        return Linear(parts, self.rng.randint(-3, 3))

    def _compare(self) -> Step:
        kind = self.rng.choice([Compare, Equals])
        return kind(self._some_count(), self.rng.randint(-3, 3))

    def _count_test(self) -> Step:
        count = self._some_direct_count() if self.direct_tests else self._some_count()
        return CountTest(
            self._predicate(), count, self.rng.choice([1, 1, 1, 2, -1, 0]), self.rng.randint(-2, 2)
        )

    def _predicate(self) -> Predicate:
        modulus = self.rng.randint(1, 4)
        return self.rng.choice(
            [
                Remainder(modulus, self.rng.randrange(modulus)),
                Zero(),
                NonNegative(),
                Named("prime"),
                Named("square"),
            ]
        )

    def _bit(self) -> Ref:
        return self.rng.choice(self.bits)

    def _some_count(self) -> Ref:
        return self.rng.choice(self.counts) if self.counts else self._add(self._count())

    def _some_direct_count(self) -> Ref:
        return self.rng.choice(self.direct) if self.direct else self._add(self._count())

    def _add(self, step: Step) -> Ref:
        ref = len(self.steps)
        self.steps.append(step)
        (self.counts if isinstance(step, Count | Linear) else self.bits).append(ref)
        if isinstance(step, Count):
            self.direct.append(ref)
        return ref


def programs(
    *, matching: bool = False, defaults: bool = True, direct_tests: bool = True
) -> st.SearchStrategy[Program]:
    """Random programs of 1 to 14 steps or a few more."""

    def draw(rng: random.Random, steps: int) -> Program:
        sampler = ProgramSampler(rng, matching=matching, defaults=defaults, direct_tests=direct_tests)
        return sampler.program(steps)

    return st.builds(draw, st.randoms(use_true_random=False), st.integers(1, 14))
