"""Two floors on a language model's cross-entropy on PARITY, from what x_(n-1) was seen to change.

A change eps of END's log-odds under one exchange of x_(n-1) costs g(alpha, eps) on the pair of prefixes
(`attemper.languages.sources.pairs`). A floor from *all* words needs one eps for all of them, so the worst
word found says how high such a floor can be at most. The floor of *typical* words is the mean of g over
prefixes drawn from the source. Both are measured, on samples: nothing here is a bound.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import final

import numpy as np

from attemper.errors import OptionError
from attemper.exact.balls import ball
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.pairs import least_loss, mean_least_loss
from attemper.languages.sources.sampling import sample
from attemper.languages.sources.values import Parity, Source, name_of
from attemper.models.arrays import Integers
from attemper.theories.influence.search.influence import PositionClass, exchanged
from attemper.theories.influence.search.results import Report
from attemper.theories.influence.search.subjects import MeasuredModel

PREFIXES = 256
"""How many prefixes are drawn for the typical floor."""


@final
@dataclass(frozen=True)
class Floors:
    """What is seen of x_(n-1) at one length n (which counts the symbol that begins a word), in nats.

    `worst_change` is that of the worst word found, and `from_worst` G of that change: no floor from all words
    is above it. `mean_change` is over `prefixes` drawn ones, and `typical` the mean floor of their pairs,
    with the standard error of that mean. `table` is H_bi, the loss of a table on x_n, and `optimum` H_opt.
    """

    n: int
    source: str
    p: str
    worst_change: float
    from_worst: float
    prefixes: int
    mean_change: float
    typical: float
    standard_error: float
    table: float
    optimum: float

    def as_record(self) -> dict[str, object]:
        """The floors as JSON data."""
        return {**asdict(self), "evidence": "measured in float64, not proved"}


def words_from(source: Source, subject: MeasuredModel, length: int, count: int, seed: int) -> Integers:
    """Words of n symbols, framed, whose free ones are drawn from the source given that so many come.

    Raises `OptionError` if the source has a symbol that the model lacks.
    """
    symbols = [subject.symbols[k] for k in subject.frame.free]
    number = {symbol: k for k, symbol in enumerate(symbols)}
    drawn = sample(source, max(1, length - subject.frame.fixed), count, seed)
    missing = sorted({symbol for word in drawn for symbol in word} - set(symbols))
    if missing:
        raise OptionError(
            f"the source {name_of(source)} gives '{missing[0]}', which is none of the model's symbols, "
            f"{' '.join(symbols)}"
        )
    return subject.frame.words(np.array([[number[symbol] for symbol in word] for word in drawn]))


def floors_of(report: Report, source: Parity, seed: int) -> list[Floors]:
    """Both floors at each length of the report, whose outputs are the log-odds of END."""
    worst: dict[int, float] = {}
    for row in report.rows:
        if row.place is PositionClass.LAST_BUT_ONE:
            worst[row.length] = max(row.changes.largest, worst.get(row.length, 0.0))
    return [_floors(report.subject, source, n, change, seed) for n, change in worst.items()]


def _floors(subject: MeasuredModel, source: Parity, length: int, worst: float, seed: int) -> Floors:
    words = words_from(source, subject, length, PREFIXES, seed)
    changes = changes_before_last(subject, words)
    one = subject.symbols.index("1")
    ones = words[:, -1] == one
    pairs = np.array(
        [
            pair_floor(source, bool(is_one), Fraction(change))
            for is_one, change in zip(ones, changes.tolist(), strict=True)
        ]
    )
    # Given that n symbols come x_n is 0 or 1 with 1/2 each: the mean is taken for either, and then of both.
    either = [some for some in (pairs[~ones], pairs[ones]) if len(some)]
    worst = max(worst, float(changes.max()))
    return Floors(
        n=length,
        source=name_of(source),
        p=str(source.p),
        worst_change=worst,
        from_worst=float(mean_least_loss(source.p, Fraction(worst)).mid()),
        prefixes=PREFIXES,
        mean_change=float(changes.mean()),
        typical=float(np.mean([some.mean() for some in either])),
        standard_error=float(np.sqrt(sum(some.var() / len(some) for some in either)) / len(either)),
        table=float(last_symbols(source, 1).mid()),
        optimum=float(optimum(source).mid()),
    )


def pair_floor(source: Parity, last_is_one: bool, eps: Fraction) -> float:
    """g(alpha, eps) + (1 - alpha p) ln 2, with alpha the probability that the last state accepts, given x_n.

    With x_n = 0 the state before the last is the last one and accepts with a = (1-p)/(2-p); with 1 it is the
    other one.
    """
    a = source.accepting_share
    alpha = 1 - a if last_is_one else a
    rest = ball(1 - alpha * source.p) * ball(Fraction(2)).log()
    return float((least_loss(source.p, alpha, eps) + rest).mid())


def changes_before_last(
    subject: MeasuredModel, words: Integers
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """How much the one output changes, in each of the words (B, n), if x_(n-1) becomes the other symbol."""
    zero, one = subject.symbols.index("0"), subject.symbols.index("1")
    at = np.full(len(words), words.shape[1] - 1)
    other = np.where(words[:, -2] == zero, one, zero)
    changes = np.abs(subject.outputs(words) - subject.outputs(exchanged(words, at, other)))
    return np.asarray(changes[:, 0])
