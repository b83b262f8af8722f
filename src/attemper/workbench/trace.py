"""Everything that happens when a model reads one word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from attemper.languages.temporal.meaning import truth_of_subformulas
from attemper.languages.temporal.show import show
from attemper.languages.words import Word

if TYPE_CHECKING:
    from torch import Tensor

    from attemper.workbench.model import Model

Matrix = tuple[tuple[float, ...], ...]


@final
@dataclass(frozen=True)
class HeadTrace:
    """One head's attention: row i - 1, column j - 1 is the weight of position j for the query at i."""

    layer: int
    head: int
    construction: str
    writes: tuple[str, ...]
    soft: Matrix
    hard: Matrix


@final
@dataclass(frozen=True)
class LayerMargin:
    """The smallest margin of a layer's clamps on the word; 1/4 is perfect, negative is broken."""

    layer: int
    margin: float


@final
@dataclass(frozen=True)
class Trace:
    """The truth of every subformula at every position, every head's attention, and the margins."""

    word: Word
    subformulas: tuple[tuple[str, tuple[bool, ...]], ...]
    output: tuple[float, ...]
    heads: tuple[HeadTrace, ...]
    margins: tuple[LayerMargin, ...]


def trace_word(model: Model, word: Word) -> Trace:
    """Run the model softly and average-hard on a non-empty word, keeping what its heads attend to."""
    known = truth_of_subformulas(model.language.formula, word)
    subformulas = tuple((show(part), truth) for part, truth in known.items())
    if not word:
        return Trace(word, subformulas, (), (), ())
    output, soft = _activations(model, word, "soft")
    _, hard = _activations(model, word, "hard")
    heads, margins = [], []
    for number, layer in enumerate(model.network.layers):
        for index, head in enumerate(layer.heads):
            name = f"blocks.{number}.attn.hook_pattern"
            heads.append(
                HeadTrace(
                    number,
                    index,
                    type(head.construction).__name__,
                    tuple(model.network.coordinates[target] for target in head.targets),
                    _matrix(soft[name][0, index]),
                    _matrix(hard[name][0, index]),
                )
            )
        if layer.clamps:
            pre = soft[f"blocks.{number}.mlp.hook_pre"][0]
            low, high = ([pair[side] for pair in layer.clamps] for side in (0, 1))
            room = (-pre[:, low]).maximum(pre[:, high]).min()
            margins.append(LayerMargin(number, float(room)))
    return Trace(word, subformulas, output, tuple(heads), tuple(margins))


def _activations(model: Model, word: Word, weights: str) -> tuple[tuple[float, ...], dict[str, Tensor]]:
    import torch

    from attemper.running.batches import pad

    dense = model.dense(weights="hard" if weights == "hard" else "soft")
    names = [
        f"blocks.{number}.mlp.hook_pre" for number, layer in enumerate(model.network.layers) if layer.clamps
    ]
    names += [
        f"blocks.{number}.attn.hook_pattern"
        for number, layer in enumerate(model.network.layers)
        if layer.heads
    ]
    symbols = model.alphabet.symbols
    tokens, lengths = pad([[symbols.index(symbol) for symbol in word]])
    with torch.no_grad():
        output, cache = dense.run_with_cache(tokens, lengths, names)
    return tuple(output[0].tolist()), cache


def _matrix(rows: Tensor) -> Matrix:
    return tuple(tuple(row) for row in rows.tolist())
