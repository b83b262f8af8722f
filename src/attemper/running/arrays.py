"""The engine `numpy`: a network on one word at a time, in float64, by numpy alone.

It is for words that end before torch would have been imported, and for where torch is not installed.
Attention is numerator-first: sums of e^score and of e^score times the values are formed, and divided once, so
averages of bits have their exact sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, assert_never, final

import numpy as np

from attemper.exact import closed_forms
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds, periodic
from attemper.languages.words import Word
from attemper.networks import layers
from attemper.networks.weights import tensors_of
from attemper.running.runs import Run, empty_run, run_of

if TYPE_CHECKING:
    from attemper.models.arrays import Booleans, Floats, Integers

Patterns = dict[tuple[int, int], "Floats"]
"""What each head attends to [query, key], by its layer and its number there."""

SCORES_AT_ONCE = 1 << 20
"""How many scores of a head are in memory at a time (8 MiB)."""


@final
@dataclass(frozen=True)
class Arrays:
    """A network that runs in numpy; `weighting` replaces every head's own (None: it stays)."""

    network: layers.Network
    weighting: layers.HardWeighting | None = None

    @cached_property
    def weights(self) -> dict[str, Floats]:
        """Every weight, under its name in `weights.safetensors`."""
        return arrays_of(self.network)

    def runs(self, words: Iterable[Word]) -> Iterator[Run]:
        """Run words one by one, in their order."""
        for word in words:
            yield self.run(word) if word else empty_run(self.network)

    def run(self, word: Word) -> Run:
        """Run a word that is not empty."""
        outputs, margins = self._outputs(word, None)
        return run_of(self.network, word, outputs.T.tolist(), float(np.min([*margins.values(), np.inf])))

    def watched(self, word: Word) -> tuple[Floats, dict[int, float], Patterns]:
        """What a word that is not empty makes the network put out [position, output], and how.

        The smallest margin of each layer that has clamps, and what every head attends to.
        """
        patterns: Patterns = {}
        return *self._outputs(word, patterns), patterns

    # Beyond its horizon a network may leave float64; what is no number is read as such.
    @np.errstate(all="ignore")
    def _outputs(self, word: Word, patterns: Patterns | None) -> tuple[Floats, dict[int, float]]:
        """The outputs [position, output], and each layer's smallest margin; fills `patterns`, if given."""
        tokens = np.array([self.network.alphabet.symbols.index(symbol) for symbol in word])
        network, n = self.network, len(word)
        margins: dict[int, float] = {}
        x = self.weights["embed.W_E"][tokens]
        table = np.zeros_like(x)
        for coordinate, form in network.positions:
            table[:, coordinate] += form_array(form, n)
        x = x + table
        for number, layer in enumerate(network.layers):
            x = x + self._attended(number, layer, x, patterns)
            pre = self._read(number, "ln2", x) @ self._weight(number, "mlp.W_in")
            pre = pre + self._weight(number, "mlp.b_in")
            x = x + np.maximum(pre, 0) @ self._weight(number, "mlp.W_out")
            if layer.clamps:
                low, high = map(list, zip(*layer.clamps, strict=True))
                margins[number] = float(np.maximum(-pre[:, low], pre[:, high]).min())
        outputs = x[:, list(network.outputs)]
        normalisation = network.normalisation
        return (outputs if normalisation is None else outputs / float(normalisation.unit)), margins

    def _weight(self, layer: int, name: str) -> Floats:
        return self.weights[f"blocks.{layer}.{name}"]

    def _attended(self, number: int, layer: layers.Layer, x: Floats, patterns: Patterns | None) -> Floats:
        """What the heads of a layer add to the residual stream."""
        read, added = self._read(number, "ln1", x), np.zeros_like(x)
        query, key, value, output = (self._weight(number, f"attn.W_{part}") for part in "QKVO")
        for place, head in enumerate(layer.heads):
            weighting = self.weighting or head.weighting
            q = read @ query[place] * _scale(weighting, len(x), self.network.head_width)
            k = read @ key[place]
            added += attended(head, weighting, q, k, read @ value[place]) @ output[place]
            if patterns is not None:
                numerators, denominator = _shares(head.masking, weighting, np.arange(len(x)), q, k)
                patterns[number, place] = numerators / denominator
        return added

    def _read(self, number: int, norm: str, x: Floats) -> Floats:
        """What a sublayer reads of the residual stream."""
        match self.network.normalisation:
            case None:
                return x
            case layers.Normalisation(eps=eps, is_centred=is_centred):
                deviation = x - x.mean(axis=1, keepdims=True) if is_centred else x
                scale = np.sqrt(np.square(deviation).mean(axis=1, keepdims=True) + float(eps))
                read = deviation / scale * self._weight(number, f"{norm}.w")
                if is_centred:
                    read = read + self._weight(number, f"{norm}.b")
                # Where the mean square of x is no number, a quotient by infinity would be one.
                return np.where(np.isinf(np.square(x).mean(axis=1, keepdims=True)), np.nan, read)
            case _:
                assert_never(self.network.normalisation)


def arrays_of(network: layers.Network) -> dict[str, Floats]:
    """Every weight of the network; raises `UnsupportedError` as `tensors_of` does."""
    return {
        name: np.asarray(tensor.numbers, dtype=np.float64).reshape(tensor.shape)
        for name, tensor in tensors_of(network).items()
    }


def _scale(weighting: layers.Weighting, n: int, head_width: int) -> Floats:
    """1 / (sqrt(d_head) tau) at every position; hard heads need no tau."""
    root = np.full((n, 1), 1 / sqrt(head_width))
    if not isinstance(weighting, layers.Softmax):
        return root
    return root * form_array(weighting.inverse_temperature, n)[:, None]


def attended(head: layers.Head, weighting: layers.Weighting, q: Floats, k: Floats, v: Floats) -> Floats:
    """What a head attends to [position, d_head], some queries at a time."""
    n = len(q)
    rows = max(1, SCORES_AT_ONCE // n)
    parts = []
    for start in range(0, n, rows):
        i = np.arange(start, min(start + rows, n))
        numerators, denominator = _shares(head.masking, weighting, i, q, k)
        parts.append((numerators @ v) / denominator)
    return np.concatenate(parts)


def _shares(
    masking: layers.Masking, weighting: layers.Weighting, i: Integers, q: Floats, k: Floats
) -> tuple[Floats, Floats]:
    """How much the queries at positions i attend to each key [query, key]: numerators, and their divisors."""
    visible: Booleans = masking.sees(i[:, None], np.arange(len(k))[None, :])
    scores = np.where(visible, q[i] @ k.T, -np.inf)
    sees = visible.any(axis=1, keepdims=True)
    numerators = np.where(visible, _numerators(scores, weighting), 0)
    # Who sees nothing attends to nothing. Where something is seen and no score is a number, nothing here is.
    return numerators, np.where(sees, numerators.sum(axis=1, keepdims=True), 1)


def _numerators(scores: Floats, weighting: layers.Weighting) -> Floats:
    """What each key weighs [query, key], before the division by the sum over all keys."""
    greatest = scores.max(axis=1, keepdims=True)
    if isinstance(weighting, layers.Softmax):
        weights: Floats = np.exp(scores - greatest)
        return weights
    best: Booleans = (scores == greatest) & np.isfinite(greatest)
    match weighting:
        case layers.HardWeighting.AVERAGE:
            return np.where(best, 1.0, 0.0)
        case layers.HardWeighting.LEFTMOST:
            return _first(best)
        case layers.HardWeighting.RIGHTMOST:
            return _first(best[:, ::-1])[:, ::-1]
        case _:
            assert_never(weighting)


def _first(best: Booleans) -> Floats:
    """1 at the first best key of each query."""
    first: Floats = np.where(best & (best.cumsum(axis=1) == 1), 1.0, 0.0)
    return first


def form_array(form: closed_forms.ClosedForm, n: int) -> Floats:
    """The form at the positions 1..n of a word of length n; every operation rounds at most once.

    What `running.closed_form_tensors` has for torch's tensors.
    """
    i: Integers = np.arange(1, n + 1)
    match form:
        case closed_forms.Number(value):
            return np.full(n, float(value))
        case closed_forms.Position():
            return i.astype(np.float64)
        case closed_forms.Length():
            return np.full(n, float(n))
        case closed_forms.Alternating():
            return (1 - 2 * (i % 2)).astype(np.float64)
        case closed_forms.Test(predicate, per_position, per_length, shift):
            return _holds(predicate, per_position * i + per_length * n + shift).astype(np.float64)
        case closed_forms.Sum(parts):
            return sum((form_array(part, n) for part in parts), np.zeros(n))
        case closed_forms.Product(parts):
            return _product([form_array(part, n) for part in parts], n)
        case closed_forms.Power(base, exponent):
            # Its repeated product, as FORMAT.md says.
            power = _product([form_array(base, n)] * abs(exponent), n)
            return 1 / power if exponent < 0 else power
        case closed_forms.Digits(inner):
            values = form_array(inner, n)
            # A number is m 2^e with m from 1/2 on and below 1, exactly: e is how many digits it has.
            return np.where(np.isfinite(values), np.frexp(values)[1], np.nan)
        case _:
            assert_never(form)


def _product(factors: list[Floats], n: int) -> Floats:
    product = np.ones(n)
    for factor in factors:
        product = product * factor
    return product


def _holds(predicate: Predicate, values: Integers) -> Booleans:
    """Which of the integers are in the predicate's set."""
    match periodic(predicate):
        case Remainder(modulus, remainder):
            return np.equal(values % modulus, remainder)
        case Zero():
            return np.equal(values, 0)
        case NonNegative():
            return np.greater_equal(values, 0)
        case Named():
            # A registered predicate is a Python function: ask it once per distinct integer.
            distinct, place = np.unique(values, return_inverse=True)
            answers = np.array([holds(predicate, value) for value in distinct.tolist()])
            return answers[place]
        case _:
            assert_never(predicate)
