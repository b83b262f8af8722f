"""How far beyond its proved horizon a float format first goes wrong: `python -m benchmarks.horizons`.

Names of formulas or entries of the zoo after the command restrict the table to these.
"""

from __future__ import annotations

import random
import statistics
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, cast

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.languages.measures import FLOAT_ACCURACY
from attemper.languages.named.drawing import changed, random_word
from attemper.languages.named.entry import Transduction, ZooEntry
from attemper.languages.words import Word
from attemper.running.batches import Run
from attemper.running.truth import truth_of_words

if TYPE_CHECKING:
    from attemper.workbench.options import DTypeLike

FORMULAS = (
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

LONGEST = 4096
"""Longer words are not tried."""

ENTRIES = (
    "k-hop-1",
    "k-hop-2",
    "k-hop-3",
    "mqar",
    "mqar-symbol",
    "trigram-lm",
    "majority",
    "dyck-1",
    "dyck-shuffle-2",
    "a-n-b-n",
    "a-n-b-n-c-n",
    "histogram",
    "dyck-2",
    "dyck-3",
    "sort",
    "reverse",
    "palindromes",
)
"""Entries of the zoo; every regime of each is tried."""

FORMULA_FORMATS = {"float32": LONGEST, "bfloat16": LONGEST}
ENTRY_FORMATS = {"float32": inf, "float64": 200_000}
"""The formats that are tried, where their horizon is below a number."""

STEP_WITHIN, STEP_BEYOND = 1.7, 1.1
"""From one length to the next, as far as they are more than one apart: within the horizon, beyond it."""


@dataclass(frozen=True)
class Subject:
    """A model to try: the formats, words of about a length, and whether a run is right."""

    name: str
    regime: str
    model: attemper.Model
    formats: Mapping[str, float]
    words: Callable[[int], list[Word]]
    is_right: Callable[[Run], bool]


@dataclass(frozen=True)
class Gap:
    """A horizon and the first length at which a run failed, if one did, of the lengths up to `longest`."""

    horizon: int
    failure: int | None
    longest: int

    def cells(self) -> tuple[str, str, str]:
        """Horizon, first failure and their ratio, as the table shows them."""
        if self.failure is not None and self.failure <= self.horizon:
            return f"{self.horizon:,}", f"{self.failure:,}", "A FALSE CLAIM"
        reached = (self.failure or self.longest) / max(self.horizon, 1)
        if self.failure is not None:
            return f"{self.horizon:,}", f"{self.failure:,}", f"{reached:.1f}"
        return f"{self.horizon:,}", f"none to {self.longest:,}", f">= {reached:.1f}" if reached > 1 else "-"


def print_horizons(names: Sequence[str] = ()) -> None:
    """Print the lines of these names, or of all, as they are measured, and the median of the ratios."""
    show("model", "regime", "format", "horizon", "first failure", "ratio")
    ratios: list[float] = []
    for subject in subjects(names):
        for claim in sorted(claims_of(subject), key=lambda claim: claim.horizon):
            gap = measured(subject, claim)
            ratios += [gap.failure / gap.horizon] if gap.failure and gap.horizon else []
            show(subject.name, subject.regime, claim.format, *gap.cells())
    if ratios:
        print(f"median ratio of those with a horizon and a failure: {statistics.median(ratios):.1f}")


def show(name: str, regime: str, dtype: str, horizon: str, failure: str, ratio: str) -> None:
    """Print a line of the table."""
    print(f"{name:27}{regime:13}{dtype:10}{horizon:>11}{failure:>17}{ratio:>15}", flush=True)


def claims_of(subject: Subject) -> list[FloatClaim]:
    """The claims that are tried, of those that the checker accepts."""
    claims = (claim for claim in subject.model.certify().claims if isinstance(claim, FloatClaim))
    ours = (claim for claim in claims if claim.kernel == "numerator-first")
    return [claim for claim in ours if claim.horizon < subject.formats.get(claim.format, 0)]


def subjects(names: Sequence[str] = ()) -> Iterator[Subject]:
    """The formulas and the entries of the zoo in all their regimes, of these names or all."""
    for formula, regime in FORMULAS:
        if not names or formula in names:
            yield of_formula(formula, regime)
    for name in ENTRIES:
        entry = attemper.zoo[name]
        for regime in entry.regimes if not names or name in names else ():
            yield of_entry(entry, attemper.compile(f"zoo:{name}", regime=regime), regime)


def of_formula(formula: str, regime: str) -> Subject:
    """A formula over a, b and c; its bits are compared at every position."""
    model = attemper.compile(formula, "abc", at="last", regime=regime)

    def is_right(run: Run) -> bool:
        (truth,) = truth_of_words(model.language.definition.formula, [run.word]).tolist()
        return list(run.bits) == truth

    def words(length: int) -> list[Word]:
        return worst("abc", random.Random(length), length)

    return Subject(formula, regime, model, FORMULA_FORMATS, words, is_right)


def of_entry(entry: ZooEntry, model: attemper.Model, regime: str) -> Subject:
    """An entry of the zoo; its oracle says what is right: the verdict, or what is put out everywhere."""

    def is_right(run: Run) -> bool:
        found = run.outputs
        if None in found:
            return False
        if isinstance(entry, Transduction):
            return all(map(agrees, entry.outputs(run.word), found))
        return run.accepted == entry.accepts(run.word)

    def words(length: int) -> list[Word]:
        rng = random.Random(length)
        drawn = list(entry.edges(rng, length))
        if not isinstance(entry, Transduction):
            drawn.append(entry.member(rng, length))
        near = [changed(word, entry.alphabet, rng) for word in drawn]
        found = (*worst(entry.alphabet, rng, length), *drawn, *near)
        return [word for word in dict.fromkeys(found) if word]

    return Subject(entry.name, regime, model, ENTRY_FORMATS, words, is_right)


def agrees(expected: object, found: object) -> bool:
    """Probabilities are as near as a float claim says of them; everything else, integers too, is the same."""
    if isinstance(expected, dict) and isinstance(found, dict):
        return all(abs(found[name] - number) <= FLOAT_ACCURACY for name, number in expected.items())
    return expected == found


def measured(subject: Subject, claim: FloatClaim, longest: int = LONGEST) -> Gap:
    """Try longer and longer words, as far as the longest."""
    dtype = cast("DTypeLike", claim.format)
    for length in lengths(claim.horizon, longest):
        runs = subject.model.run(subject.words(length), dtype=dtype)
        failures = [len(run.word) for run in runs if run.margin < 0 or not subject.is_right(run)]
        if failures:
            return Gap(claim.horizon, min(failures), longest)
    return Gap(claim.horizon, None, longest)


def lengths(horizon: int, longest: int) -> list[int]:
    """From 1 to the longest, growing by the steps, and the two on either side of the horizon."""
    found = {length for length in (horizon, horizon + 1, longest) if 1 <= length <= longest}
    length = 1
    while length < longest:
        found.add(length)
        step = STEP_WITHIN if length < horizon else STEP_BEYOND
        length = max(length + 1, int(length * step))
    return sorted(found)


def worst(symbols: Sequence[str], rng: random.Random, length: int) -> list[Word]:
    """Words that construction after construction fails on first, of one length."""
    first, second, *_ = symbols
    half, rest = length // 2, length - 1
    words: list[Word] = [(symbol,) * length for symbol in symbols]
    for one, other in ((first, second), (second, first), (first, symbols[-1])):
        words += [
            (one,) * half + (other,) * (length - half),
            (one, *(other,) * rest),
            (*(one,) * rest, other),
        ]
    periods = (symbols[:2], symbols[1:], (first, first, second), symbols)
    words += [(tuple(period) * length)[:length] for period in periods]
    words += [
        wrapped(symbols, height, length) for height in sorted({1, length // 16, length // 4, length // 2 - 1})
    ]
    drawn = random_word(tuple(symbols), rng, length)
    words += [drawn, tuple(sorted(drawn)), tuple(sorted(drawn, reverse=True))]
    return list(dict.fromkeys(words))


def wrapped(symbols: Sequence[str], height: int, length: int) -> Word:
    """`[^height ()...() ]^height`, where the alphabet is brackets; the same pattern for others."""
    height = max(0, min(height, (length - 2) // 2))
    opening, closing = symbols[-2:]
    inner = tuple(symbols[:2]) * length
    return (opening,) * height + inner[: length - 2 * height] + (closing,) * height


if __name__ == "__main__":
    print_horizons(sys.argv[1:])
