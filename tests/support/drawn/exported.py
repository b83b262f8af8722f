"""Networks of every regime, mask and construction, and how far an export is from ours on them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import Any

import torch
from torch import Tensor

import attemper
from attemper import LayerNorm, Model
from attemper.exact.closed_forms import ONE, I, N, over, times
from attemper.exports.subject import Exported
from attemper.languages.words import Word
from attemper.networks.layers import Masking, Network
from attemper.networks.structure import Provenance
from attemper.running.dense import DenseTransformer
from attemper.running.traceable.labels import labels_of
from attemper.workbench.options import RegimeName
from tests.support.drawn.matching import kth_b
from tests.support.drawn.nearest import palindromes
from tests.support.drawn.scan_networks import POSITIONS, HeadOf, network_of

STRICT = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = attend > leftmost where s0 value s1 default 1
s3 = attend < rightmost where s1 value s0 default 0
s4 = attend all leftmost where s1 value s0 default 1
s5 = xor s2 s3 s4
output s5
"""
HISTOGRAM, BIGRAMS = "histogram-so-far", "trigram-lm"

Build = Callable[[], Model]


def _formula(text: str, alphabet: str, regime: RegimeName, **options: Any) -> Build:
    return lambda: attemper.compile(text, alphabet, regime=regime, **options)


def _named(name: str, regime: RegimeName) -> Build:
    return lambda: attemper.compile(f"zoo:{name}", regime=regime)


def _program(program: Any, regime: RegimeName) -> Build:
    return lambda: attemper.compile(program, regime=regime)


MODELS: dict[str, Build] = {
    "majority": _formula("#<['0'] <= #<['1']", "01", "unbounded"),
    "since": _formula("(!'c') S 'b'", "abc", "unbounded"),
    "until": _formula("'a' U 'b'", "abc", "temperature", at="first"),
    "next": _formula("X 'a' & F 'b'", "ab", "temperature", at="first"),
    "two steps back": _formula("Y Y 'a'", "ab", "decoder"),
    "both sides counted": _formula("#>['a'] = #<['b']", "ab", "temperature"),
    "even length": _formula("even(len) | 'a' S 'b'", "ab", "unbounded"),
    "parity": _named("parity-even", "decoder"),
    "dyck-1": _named("dyck-1", "unbounded"),
    "automaton": lambda: attemper.compile(attemper.regex("(ab)*", "ab"), regime="decoder"),
    "strict": _program(attemper.program(STRICT), "unbounded"),
    "palindromes": _program(palindromes(), "temperature"),
    "k-th b": _program(kth_b(), "unbounded"),
    "previous symbol": _named("copy-previous-symbol", "decoder"),
    "histogram": _named(HISTOGRAM, "unbounded"),
    "bigrams": _named(BIGRAMS, "temperature"),
    "layer norm": _formula("odd(#<['1'])", "01", "temperature", layer_norm=LayerNorm()),
    "rms norm": _formula("(!'c') S 'b'", "abc", "decoder", layer_norm=LayerNorm(is_centred=False)),
}
"""Compiled models; their bits are what a last clamp makes exactly 0 or 1."""


def all_masks() -> Network:
    """Heads that nothing is said of, and averages, under every mask; the numbers of all are put out."""
    heads = [
        HeadOf(
            query=({"one": 1}, {"a": 1}),
            key=({"a": 2, "1/j": -1}, {"j/n": 3}),
            values=({"a": 1}, {"sign": 1, "b": -1}),
            masking=masking,
            cold=times(I, over(N)),
        )
        for masking in Masking
    ]
    means = [HeadOf((), (), ({"a": 1}, {"j/n": 1}), masking, ONE) for masking in Masking]
    places = {name: form for name, form in POSITIONS.items() if name != "1/(j+1)"}  # no file has such a form
    network = network_of(*heads, *means, positions=places)
    names = [name for name in network.coordinates if name.startswith("out")]
    put_out = tuple((name, network.coordinates.index(name)) for name in names)
    return replace(network, symbols=put_out, output=put_out[0][1])


def subjects() -> Iterator[tuple[str, Exported]]:
    """Every network by its name."""
    for name, build in MODELS.items():
        model = build()
        yield name, Exported(model.network, model.source)
    yield "all masks", Exported(all_masks(), Provenance("formula", "true", "last", "unbounded"))


def words_for(
    network: Network, longest: int = 6, lengths: Sequence[int] = (7, 16, 64, 299, 300)
) -> list[Word]:
    """All words of up to `longest` symbols, and of each length random words and twelve on boundaries.

    Boundaries are where an answer may change by one symbol: at either end, in the middle, where two symbols
    are equally many or one more than that, and of words that are their own mirror image.
    """
    symbols = network.alphabet.symbols
    found = [word for n in range(1, longest + 1) for word in product(symbols, repeat=n)]
    draw = random.Random(1)
    for n in lengths:
        found += [tuple(draw.choices(symbols, k=n)) for _ in range(2)]
        found += boundaries(symbols[0], symbols[-1], tuple(draw.choices(symbols, k=n // 2)), n)
    return found


def boundaries(a: str, b: str, half: Word, n: int) -> list[Word]:
    """Twelve words of n symbols; `half` has n // 2 symbols of which mirror images are made."""
    less, more = n // 2, n - n // 2
    mirrored = (*half, *(a,) * (n % 2), *half[::-1])
    return [
        (a,) * n,
        (b,) * n,
        (b,) * (n - 1) + (a,),
        (a,) + (b,) * (n - 1),
        (a,) * less + (b,) * more,
        (b,) * less + (a,) * more,
        (a,) * (less + 1) + (b,) * (more - 1),
        (b,) * (less + 1) + (a,) * (more - 1),
        ((a, b) * n)[:n],
        ((b, a) * n)[:n],
        mirrored,
        (a if mirrored[0] == b else b, *mirrored[1:]),
    ]


def batches(words: Sequence[Word], size: int = 64) -> Iterator[list[Word]]:
    """The words by length, so many at a time: neighbours differ in length at the edges of batches only."""
    mixed = list(words)
    random.Random(2).shuffle(mixed)
    mixed.sort(key=lambda word: len(word) // 8)
    for start in range(0, len(mixed), size):
        yield mixed[start : start + size]


def padded(network: Network, words: Sequence[Word], *, left: bool, pad: int = 0) -> tuple[Tensor, Tensor]:
    """Tokens and mask [word, position], padded on one side."""
    number = {symbol: place for place, symbol in enumerate(network.alphabet.symbols)}
    width = max(map(len, words))
    tokens, mask = torch.full((len(words), width), pad), torch.zeros(len(words), width, dtype=torch.int64)
    for row, word in enumerate(words):
        place = slice(width - len(word), None) if left else slice(len(word))
        tokens[row, place] = torch.tensor([number[symbol] for symbol in word])
        mask[row, place] = 1
    return tokens, mask


RunExport = Callable[[Tensor, Tensor], tuple[Tensor, Tensor | None]]
"""Tokens and mask to outputs and margins, as `TraceableTransformer`; None where an export has no margins."""


@dataclass
class Difference:
    """How far an export is from `DenseTransformer`: outputs, margins, and how many labels differ.

    `least` is the least margin of `DenseTransformer` on the words.
    """

    words: int = 0
    least: float = inf
    outputs: float = 0.0
    margins: float = 0.0
    labels: int = 0


def puts_out_bits(network: Network) -> bool:
    """Whether a clamp makes what is put out 0 or 1 exactly, and no head's mean is put out as it is."""
    heads = (head for layer in network.layers for head in layer.heads)
    written = {target for head in heads for target in head.targets}
    return network.measure is None and not written & set(network.outputs)


def rounding_of_means(n: int, u: float) -> float:
    """How far two computed means of n values can be apart.

    Values are at most 3, scores at most 8. Each weight is off by 8 u and by 4 u times its score, each sum of
    n products by 2 n u: twice, above and below the fraction line, for each of the two means.
    """
    return 3 * 4 * (2 * n + 8 + 4 * 8) * u


def difference(network: Network, run: RunExport, dtype: torch.dtype, words: Sequence[Word]) -> Difference:
    """The greatest differences at real positions, words padded on the right and on the left.

    Of what puts out bits labels are compared, too: those of each bit at each position, where an export has no
    margins by the bits alone.
    """
    dense = DenseTransformer(network, dtype)
    found = Difference(words=len(words))
    for batch in batches(words):
        tokens, mask = padded(network, batch, left=False)
        with torch.no_grad():
            right, margins = dense.run_with_margin(tokens, mask.sum(1))
        found.least = min(found.least, float(margins.min()))
        for left in (False, True):
            outputs, own = run(*padded(network, batch, left=left))
            for row, word in enumerate(batch):
                place = slice(-len(word), None) if left else slice(len(word))
                theirs, ours, margin = outputs[row, place], right[row, : len(word)], margins[row]
                found.outputs = max(found.outputs, _apart(theirs, ours))
                if own is not None:
                    found.margins = max(found.margins, _apart(own[row], margin))
                if puts_out_bits(network):
                    found.labels += _labels_apart(theirs, None if own is None else own[row], ours, margin)
    return found


def _apart(theirs: Tensor, ours: Tensor) -> float:
    """The largest difference; infinity where only one of two is no number, or another infinity."""
    theirs, ours = theirs.double(), ours.double()
    is_same = (theirs == ours) | (theirs.isnan() & ours.isnan())
    apart = (theirs - ours).abs().masked_fill(is_same, 0)
    return float(apart.nan_to_num(nan=inf).max())


def _labels_apart(theirs: Tensor, their_margin: Tensor | None, ours: Tensor, margin: Tensor) -> int:
    """How many labels of one word differ."""
    if their_margin is None:
        return int(((theirs >= 0.75) != (ours >= 0.75)).sum())
    return int((labels_of(theirs[None], their_margin[None]) != labels_of(ours[None], margin[None])).sum())
