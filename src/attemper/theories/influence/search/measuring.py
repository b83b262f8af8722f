"""`attemper influence`: a model measured, length by length, in one of several modes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import final

from attemper.errors import OptionError, UnsupportedError
from attemper.models.arrays import Integers
from attemper.theories.influence.search import enumeration, influence
from attemper.theories.influence.search.climbing import CLIMBERS, climb
from attemper.theories.influence.search.results import MeasuredLength, Mode, Report
from attemper.theories.influence.search.subjects import MeasuredModel

FEW_WORDS = 1 << 14
"""So many words of a length are enumerated where nobody asks for it."""

LONGEST_WORD = 8192
"""The longest word that is run, symbol by symbol: its scores are n^2 numbers."""


@final
@dataclass(frozen=True)
class MeasuringPlan:
    """How a model is measured: the mode (None: exact where possible, else sampled), and for how long.

    `words` are those of `Mode.WORD` and `Mode.SAMPLED`, numbered and framed, of each length; sampled ones are
    drawn uniformly where there are none. `samples` is how many of them, or how many words a search runs.
    """

    mode: Mode | None
    lengths: tuple[int, ...]
    samples: int
    seed: int
    seconds: float
    words: dict[int, Integers] | None = None


def measure(subject: MeasuredModel, plan: MeasuringPlan, report: Callable[[str], None]) -> Report:
    """Measure each length in turn, until the time is up or somebody presses Ctrl-C; with what there is."""
    deadline = time.monotonic() + plan.seconds
    measured: list[MeasuredLength] = []
    mode = plan.mode or _default_mode(subject, plan.lengths)
    for length in plan.lengths:
        report(f"n = {length}")
        seen: dict[tuple[influence.PositionClass, int], influence.Changes] = {}
        finished, interrupted = False, False
        try:
            for part in _parts(subject, plan, mode, length):
                seen = influence.merged((seen, part))
                if time.monotonic() > deadline:
                    break
            else:
                finished = True
        except KeyboardInterrupt:
            interrupted = True
        measured.append(MeasuredLength(length, mode, seen, finished))
        if not finished:
            return Report(subject, tuple(measured), interrupted)
    return Report(subject, tuple(measured), interrupted=False)


def _default_mode(subject: MeasuredModel, lengths: Sequence[int]) -> Mode:
    """Exact where all lengths are short enough, else sampled."""
    frame = subject.frame
    if subject.histograms is not None:
        few = all(
            n <= enumeration.MOST_CASES and enumeration.count_histograms(frame, n) <= enumeration.MOST_CASES
            for n in lengths
        )
    else:
        few = all(n <= FEW_WORDS and enumeration.count_words(frame, n) <= FEW_WORDS for n in lengths)
    return Mode.EXACT if few else Mode.SAMPLED


def _parts(subject: MeasuredModel, plan: MeasuringPlan, mode: Mode, length: int) -> Iterator[influence.Seen]:
    frame = subject.frame
    if length > LONGEST_WORD and (mode is not Mode.EXACT or subject.histograms is None):
        raise UnsupportedError(
            f"words of {length:,} symbols have too many scores: at most {LONGEST_WORD:,} symbols are run"
        )
    match mode:
        case Mode.EXACT if subject.histograms is not None:
            return enumeration.all_histograms(subject.histograms, frame, len(subject.symbols), length)
        case Mode.EXACT:
            return enumeration.all_words(subject.outputs, frame, length)
        case Mode.WORD:
            if plan.words is None:
                raise OptionError("mode='word' needs 'words'", options=("mode", "words"))
            return influence.given_words(subject.outputs, frame, plan.words[length])
        case Mode.SAMPLED:
            frame.require(length)
            words = (
                plan.words[length]
                if plan.words
                else influence.random_words(frame, length, plan.samples, plan.seed)
            )
            return influence.sampled_words(subject.outputs, frame, words, plan.seed)
        case Mode.SEARCH:
            return _rounds(subject, plan, length)


def _rounds(subject: MeasuredModel, plan: MeasuringPlan, length: int) -> Iterator[influence.Seen]:
    """A search that ends once as many words as samples have been run."""
    subject.frame.require(length)
    classes = {subject.frame.place(at, length) for at in subject.frame.positions(length)}
    rounds = -(-plan.samples // (2 * CLIMBERS * len(classes)))
    found = climb(subject.outputs, subject.frame, length, plan.seed)
    for _ in range(rounds):
        yield next(found)
