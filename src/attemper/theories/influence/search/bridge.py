"""Compiled networks with the range of their logits capped: which growth in n each head needs.

The range r(n) of a head is the greatest difference of two scores of one query, over all queries of the words
looked at. A cap multiplies all scores of the head by min(1, s(n)/r(n)), which is a higher temperature: Hahn's
Lemma 5 assumes of every head a range that no word exceeds, of any length, so s(n) a constant. A head that
still works under a cap needs no greater logits; under a slower growth its attention blurs, and one symbol
changes less and less. All of this is measured, on words that are named; it shows no maximum.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Floats, Integers
from attemper.theories.influence.search import influence
from attemper.theories.influence.search.logit_ranges import TRIED, LogitRange
from attemper.theories.influence.search.subjects import of_model, outputs_of_network
from attemper.workbench.model import Model
from attemper.workbench.report.assumptions import one_symbol

if TYPE_CHECKING:
    from torch import Tensor


HeadName = tuple[int, int]
"""A layer and a head in it, from 0."""

Factors = Mapping[HeadName, float]
"""What the scores of heads are multiplied by; 1 for those that are not named."""

DEFAULT_LENGTHS = (16, 64, 256)

DEFAULT_SAMPLES = 8

LONGEST_CAPPED = 2048
"""The longest word whose scores are changed: all of a layer's exist at a time, more than once."""


@final
@dataclass(frozen=True)
class CappedRow:
    """The influence at a length, on random and on simple words, with all heads capped and without.

    r(n) is that of the random words, or of the simple ones.

    `wrong` is how many of the `words` get another bit at position n with the cap, or none that can be read.
    """

    n: int
    capped_random: float
    capped_simple: float
    uncapped_random: float
    uncapped_simple: float
    wrong: int
    words: int


@final
@dataclass(frozen=True)
class HeadNeed:
    """A head: the slowest of the caps tried at which the network still works, only this head being capped.

    `needs` is None where it works under none of them, or where the time was up. `breaks` is what
    `report.assumptions` says of it.
    """

    layer: int
    head: int
    construction: str
    needs: str | None
    breaks: str


@final
@dataclass(frozen=True)
class Bridge:
    """What is found of a network; `finished` is False where the time was up or somebody interrupted."""

    logit_range: str
    rows: tuple[CappedRow, ...]
    heads: tuple[HeadNeed, ...]
    lengths: tuple[int, ...]
    finished: bool
    interrupted: bool

    def as_record(self) -> dict[str, object]:
        """The same as JSON data."""
        return {**asdict(self), "evidence": "measured in float64, not proved"}


def capped(model: Model, factors: Factors) -> influence.Outputs:
    """What the network puts out at position n, as a function of words (B, n), heads' scores times factors.

    >>> from attemper.workbench.compiling import compile as compile_formula
    >>> model = compile_formula("Y '1'", "01", regime="temperature")
    >>> words = np.array([[0, 1, 0], [0, 0, 1]])
    >>> capped(model, {(0, 0): 1e-6})(words).round(2).tolist()
    [[0.17], [0.17]]
    >>> capped(model, {})(words).round(2).tolist()
    [[1.0], [0.0]]
    """
    from attemper.running.hooks import hooks

    module = model.dense(engine="matrix")
    layers: dict[int, dict[int, float]] = {}
    for (layer, head), factor in factors.items():
        if factor < 1:
            layers.setdefault(layer, {})[head] = factor
    on = {_point(layer): _times(heads) for layer, heads in layers.items()}

    def outputs(words: Integers) -> Floats:
        with hooks(module, on):
            return outputs_of_network(module, words)

    return outputs


def ranges(model: Model, words: Integers) -> dict[HeadName, float]:
    """r(n) of every head of the network as it is, on these words (B, n).

    >>> from attemper.workbench.compiling import compile as compile_formula
    >>> model = compile_formula("Y '1'", "01", regime="temperature")
    >>> round(ranges(model, np.array([[0, 1, 0, 1]]))[0, 0])
    36
    """
    from attemper.running.hooks import hooks

    module, found = model.dense(engine="matrix"), dict[HeadName, float]()

    def look(layer: int) -> Callable[[Tensor], None]:
        def hook(scores: Tensor) -> None:
            for head, greatest in enumerate(_greatest_range(scores)):
                found[layer, head] = max(greatest, found.get((layer, head), 0.0))

        return hook

    with hooks(module, {_point(layer): look(layer) for layer in range(len(module.blocks))}):
        outputs_of_network(module, words)
    return found


def _point(layer: int) -> str:
    """Where the scores of a layer can be seen and replaced."""
    return f"blocks.{layer}.attn.hook_attn_scores"


def _greatest_range(scores: Tensor) -> list[float]:
    """The greatest range of a row, of each head, in scores [batch, head, query, key], -inf where masked."""
    import torch

    seen = scores.isfinite()
    greatest = scores.where(seen, -torch.inf).amax(-1)
    least = scores.where(seen, torch.inf).amin(-1)
    # A row in which nothing is seen has the range -inf.
    found: list[float] = (greatest - least).clamp_min(0).amax((0, 2)).tolist()
    return found


def _times(heads: Mapping[int, float]) -> Callable[[Tensor], Tensor]:
    """Scores [batch, head, query, key] to the same, those of these heads multiplied."""

    def hook(scores: Tensor) -> Tensor:
        made = scores.clone()
        for head, factor in heads.items():
            made[:, head] *= factor
        return made

    return hook


def simple_words(frame: influence.WordFrame, length: int) -> Integers:
    """Constant and alternating words, two halves, and one odd symbol at either end; each for two symbols."""
    bodies = []
    for a, b in ((0, 1), (1, 0)):
        alternating = np.where(np.arange(length) % 2 == 0, a, b)
        halves = np.where(np.arange(length) < length // 2, a, b)
        first, last = np.full(length, a), np.full(length, a)
        first[0], last[-1] = b, b
        bodies += [np.full(length, a), alternating, halves, first, last]
    return frame.words(np.array(bodies))


def bridge(
    model: Model,
    cap: LogitRange,
    lengths: Sequence[int],
    *,
    samples: int,
    seed: int,
    seconds: float,
    report: Callable[[str], None],
) -> Bridge:
    """Measure the influence with all heads capped, and find the cap that each head needs.

    Raises `UnsupportedError` as `Trial` does, and for a length at which nothing can be exchanged.
    """
    run = Trial(model, samples, seed, seconds, report)
    rows: list[CappedRow] = []
    needs: list[HeadNeed] = []
    finished, interrupted = False, False
    try:
        for length in lengths:
            if rows and run.is_late:
                break
            report(f"n = {length}")
            rows.append(run.row(cap, length))
        for need in run.needs(lengths):
            needs.append(need)
        finished = not run.is_late
    except KeyboardInterrupt:
        interrupted = True
    return Bridge(cap.text, tuple(rows), tuple(needs), tuple(lengths), finished, interrupted)


class Trial:
    """A network and the words on which its heads are tried: `samples` random ones, and the simple ones.

    Raises `UnsupportedError` for a network that puts out numbers, or is read at the first position.
    """

    def __init__(
        self,
        model: Model,
        samples: int,
        seed: int,
        seconds: float = math.inf,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        if model.network.measure is not None:
            raise UnsupportedError(
                "this network puts out numbers: 'logit_range' asks whether bits stay right",
                options=("logit_range",),
            )
        self.model, self.samples, self.seed = model, samples, seed
        self.frame = of_model(model).frame
        self.deadline, self.report = time.monotonic() + seconds, report
        self.uncapped = capped(model, {})
        self._spans: dict[int, dict[HeadName, float]] = {}
        self.heads = [
            (number, index)
            for number, layer in enumerate(model.network.layers)
            for index in range(len(layer.heads))
        ]

    @property
    def is_late(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self.deadline

    def row(self, cap: LogitRange, length: int) -> CappedRow:
        """The influence at a length with all heads capped."""
        self.frame.require(length)
        if length > LONGEST_CAPPED:
            raise UnsupportedError(
                f"words of {length:,} symbols have too many scores: at most {LONGEST_CAPPED:,} are run"
            )
        drawn = influence.random_words(self.frame, length, self.samples, self.seed)
        simple = simple_words(self.frame, length)
        outputs = {}
        wrong = 0
        for name, words in (("random", drawn), ("simple", simple)):
            factors = {head: _factor(cap, length, span) for head, span in ranges(self.model, words).items()}
            outputs[name] = capped(self.model, factors)
            differs = _bits(outputs[name](words)) != _bits(self.uncapped(words))
            wrong += int(differs.any(axis=1).sum())
        return CappedRow(
            length,
            capped_random=self._influence(outputs["random"], drawn),
            capped_simple=self._influence(outputs["simple"], simple),
            uncapped_random=self._influence(self.uncapped, drawn),
            uncapped_simple=self._influence(self.uncapped, simple),
            wrong=wrong,
            words=len(drawn) + len(simple),
        )

    def _influence(self, outputs: influence.Outputs, words: Integers) -> float:
        seen = influence.merged(influence.sampled_words(outputs, self.frame, words, self.seed))
        return max(changes.largest for changes in seen.values())

    def spans(self, length: int) -> dict[HeadName, float]:
        """r(n) of every head, on the words that are tried at a length."""
        if length not in self._spans:
            self._spans[length] = ranges(self.model, self._tested(length))
        return self._spans[length]

    def needs(self, lengths: Sequence[int]) -> Iterator[HeadNeed]:
        """What each head needs at these lengths."""
        answers = one_symbol(self.model.network)
        words = [self._tested(length) for length in lengths]
        wanted = [_bits(self.uncapped(some)) for some in words]
        for layer, head in self.heads:
            construction = self.model.network.layers[layer].heads[head].construction
            needed = self._slowest((layer, head), words, wanted)
            yield HeadNeed(layer, head, type(construction).__name__, needed, answers[layer][head].value)

    def _tested(self, length: int) -> Integers:
        """Random and simple words, and each with its last symbol but one exchanged."""
        drawn = influence.random_words(self.frame, length, self.samples, self.seed)
        words = np.concatenate([drawn, simple_words(self.frame, length)])
        other = words.copy()
        other[:, -2] = (other[:, -2] + 1) % len(self.frame.free)
        return np.concatenate([words, other])

    def _slowest(self, head: HeadName, words: Sequence[Integers], wanted: Sequence[Integers]) -> str | None:
        for cap in TRIED:
            if self.is_late:
                return None
            self.report(f"layer {head[0]}, head {head[1]}: {cap.text}")
            if all(self._works(head, cap, some, bits) for some, bits in zip(words, wanted, strict=True)):
                return cap.text
        return None

    def _works(self, head: HeadName, cap: LogitRange, words: Integers, wanted: Integers) -> bool:
        length = words.shape[1]
        factor = _factor(cap, length, self.spans(length)[head])
        return factor >= 1 or bool((_bits(capped(self.model, {head: factor})(words)) == wanted).all())


def _factor(cap: LogitRange, length: int, span: float) -> float:
    """min(1, s(n)/r(n))."""
    return min(1.0, cap.at(length) / span) if span > 0 else 1.0


def _bits(values: Floats) -> Integers:
    """The bits that outputs show, as `running.numbers.read_bit` reads them; 2 for neither."""
    return np.where(values >= 3 / 4, 1, np.where(values <= 1 / 4, 0, 2)).astype(np.int64)
