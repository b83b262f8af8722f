"""How far beyond its proved horizon a float format first goes wrong: `python -m benchmarks.horizons`."""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.languages.words import Word
from attemper.running.truth import truth_of_words

MODELS = (
    ("even(#<[a])", "unbounded"),
    ("even(#<[a])", "temperature"),
    ("even(#<[a])", "decoder"),
    ("prime(#<[a])", "unbounded"),
    ("#<[a] <= #>[b]", "unbounded"),
    ("#<[a] <= #>[b]", "temperature"),
    ("!O (#<[Y b] = #>[b])", "unbounded"),
    ("O (odd(pos) & pos = #[b])", "unbounded"),
    ("a S b", "unbounded"),
    ("a S b", "temperature"),
    ("a S b", "decoder"),
    ("Y a", "unbounded"),
    ("Y a", "temperature"),
    ("Y a", "decoder"),
    ("O (a & Y b)", "unbounded"),
    ("O (a & Y b)", "decoder"),
)
FORMATS = ("float32", "bfloat16")

LONGEST = 4096
"""Longer words are not tried."""

STEP = 1.05
"""From one tried length to the next, beyond 64."""


@dataclass(frozen=True)
class Gap:
    """A horizon and the first length at which a run failed, if one did."""

    horizon: int
    failure: int | None

    @property
    def ratio(self) -> float:
        """Failure (or the longest word tried) over horizon."""
        return (self.failure or LONGEST) / max(self.horizon, 1)


def print_horizons() -> None:
    """Print the table and the median of the ratios that were measured."""
    table = Table("model", "regime", "format", "horizon", "first measured failure", "ratio")
    ratios: list[float] = []
    for formula, regime in MODELS:
        model = attemper.compile(formula, "abc", at="last", regime=regime)
        for claim in model.certify().claims:
            if not isinstance(claim, FloatClaim) or claim.kernel != "numerator-first":
                continue
            if claim.format not in FORMATS or claim.horizon >= LONGEST:
                continue
            gap = measured(model, claim)
            ratios += [gap.ratio] if gap.failure and gap.horizon else []
            failure = str(gap.failure) if gap.failure else f"none to {LONGEST}"
            ratio = f"{gap.ratio:.1f}" if gap.failure else f">= {gap.ratio:.1f}"
            table.add_row(escape(formula), regime, claim.format, str(claim.horizon), failure, ratio)
    console = Console(width=120)
    console.print(table)
    console.print(f"median ratio of those with a horizon and a failure: {statistics.median(ratios):.1f}")


def measured(model: attemper.Model, claim: FloatClaim) -> Gap:
    """Try longer and longer words from the horizon on."""
    length = claim.horizon + 1
    while length <= LONGEST:
        if fails(model, words_of(length), claim.format):
            return Gap(claim.horizon, length)
        length = max(length + 1, int(length * STEP) if length > 64 else 0)
    return Gap(claim.horizon, None)


def fails(model: attemper.Model, words: list[Word], dtype: str) -> bool:
    """Whether a bit is wrong or undecided, or a clamp has a negative margin."""
    truths = truth_of_words(model.language.formula, words).tolist()
    runs = model.run(words, dtype="bfloat16" if dtype == "bfloat16" else "float32")
    return any(run.margin < 0 or list(run.bits) != truth for run, truth in zip(runs, truths, strict=True))


def words_of(length: int) -> list[Word]:
    """Words that construction after construction fails on first."""
    rng, half, rest = random.Random(length), length // 2, length - 1
    words = [("a",) * length, ("b", *("a",) * rest), ("a", *("b",) * rest), (*("a",) * rest, "b")]
    words += [("a",) * half + ("b",) * (length - half), ("b",) * half + ("a",) * (length - half)]
    words += [(period * length)[:length] for period in (("b", "c"), ("a", "b"), ("a", "a", "b"))]
    words.append(tuple(rng.choice("ab") for _ in range(length)))
    return list(dict.fromkeys(words))


if __name__ == "__main__":
    print_horizons()
