"""From an automaton to a chain: ever smaller sets that the state is in, one level of latches for each.

The images Q.v over the suffixes v of what has been read form a decreasing sequence that ends with the true
state. A level knows one set of it; the next level knows a smaller one. (It is a schedule of the holonomy
decomposition, with sets that are carried along instead of being looked up again.) Where carrying them along
permutes their states, levels of counters are put in between.
"""

from __future__ import annotations

from attemper.compiling.cascade import Chain, RegisterLevel
from attemper.compiling.decomposing.counting import counted_stage
from attemper.compiling.decomposing.frames import Frames, frames
from attemper.compiling.decomposing.latches import latch_level
from attemper.compiling.decomposing.limits import check
from attemper.compiling.decomposing.refining import refine
from attemper.compiling.decomposing.stages import CascadeQuestion, Images, Stage
from attemper.compiling.decomposing.twists import Twist, check_solvable, period, twists
from attemper.languages.regular.groups import derived_series
from attemper.languages.regular.image_sets import members


class PeriodNeededError(Exception):
    """The place of the position modulo `period` would make a counter superfluous."""

    def __init__(self, period: int) -> None:
        super().__init__(f"the place must have a period divisible by {period}")
        self.period = period


def flag_chain(
    stage: Stage,
    images: Images,
    question: CascadeQuestion,
    below: tuple[RegisterLevel, ...],
    remembering: int,
    *,
    may_place: bool = True,
) -> Chain:
    """Levels above the stage until the question is settled.

    `below` are the levels that the stage stands on. A level forgets rather than have more than `remembering`
    rows.

    Raises `PeriodNeededError` where a finer place in the stage saves counters, unless it `may_place` nothing,
    and `UnsupportedError` for groups that are not solvable and beyond the limits.
    """
    levels = list(below)
    while (settled := _settled(stage, images, question)) is None:
        check(len(levels) + 1, images.limits, "levels", "levels")
        refinement, known = refine(stage, images), frames(stage, images)
        twisted = twists(refinement, known, images)
        if twisted:
            for twist in twisted:
                _check(twist, known, images, may_place=may_place)
            counters, stage = counted_stage(twisted, known, images.limits)
            levels += counters
            refinement, known = refine(stage, images), frames(stage, images)
        level, stage = latch_level(refinement, known, images, remembering)
        levels.append(level)
    return Chain(tuple(levels), settled)


def height(
    stage: Stage, images: Images, question: CascadeQuestion, most: int, *, may_place: bool = True
) -> int:
    """About how many sublayers `flag_chain` takes, found without its tables; most + 1 for all above `most`.

    Raises the same errors.
    """
    sublayers = levels = 0
    while sublayers <= most and _settled(stage, images, question) is None:
        levels += 1
        check(levels, images.limits, "levels", "levels")
        refinement, known = refine(stage, images), frames(stage, images)
        counted = 0
        for twist in twists(refinement, known, images):
            _check(twist, known, images, may_place=may_place)
            counted = max(counted, 2 * (len(derived_series(twist.group)) - 1))
        sublayers += counted + bool(known.resets)
        stage = refinement.above
    return min(sublayers, most + 1)


def _check(twist: Twist, known: Frames, images: Images, *, may_place: bool) -> None:
    needed = period(twist, known) if may_place else None
    if needed is not None:
        raise PeriodNeededError(needed)
    check_solvable(twist, known, images)


def _settled(stage: Stage, images: Images, question: CascadeQuestion) -> tuple[int, ...] | None:
    """The answer for each step of a stage; None if the set of some step has states with different codes."""
    letters = len(images.dfa.alphabet.symbols)
    found = []
    for step in stage.steps:
        states = stage.sets[step.source]
        if not question.with_letter:
            states = images.under(states, step.letter)
        possible = {question.codes[state] for state in members(states)}
        if len(possible) > 1:
            return None
        code = possible.pop()
        found.append(code * letters + step.letter if question.with_letter else code)
    return tuple(found)
