"""The residual stream before each layer and what each head of it attends to, from a module that runs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from attemper.networks.layers import Network
from attemper.running.dense import DenseTransformer
from attemper.running.hooks import hooks
from tests.support.judges.extended_rows import head_rows, score_size


@dataclass(frozen=True)
class Seen:
    """One run: what is put out [word, position, ...], and of each layer its stream and its heads.

    `streams[layer]` is [word, position, d_model], `heads[layer]` is [word, position, head, d_head]: both as
    float64, which holds the numbers of every format.
    """

    output: NDArray[np.float64]
    streams: tuple[NDArray[np.float64], ...]
    heads: tuple[NDArray[np.float64], ...]


def heads_of(module: DenseTransformer, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> Seen:
    """Run the words and keep what the heads read and attend to."""
    streams = [(f"blocks.{layer}.hook_resid_pre",) for layer in range(len(module.blocks))]
    return _seen(module, streams, lambda: module(tokens, lengths))


def heads_in_blocks(module: DenseTransformer, tokens: torch.Tensor) -> Seen:
    """The same of one word [1, position] as the scan reads it where nobody watches: long words in blocks."""
    lengths = torch.tensor([tokens.shape[1]])
    after = [(f"blocks.{layer}.hook_resid_post",) for layer in range(len(module.blocks) - 1)]
    streams = [("hook_embed", "hook_pos_embed"), *after]
    return _seen(module, streams, lambda: module.scanner().run(tokens, lengths, None)[..., 0])


def _seen(
    module: DenseTransformer, streams: Sequence[tuple[str, ...]], run: Callable[[], torch.Tensor]
) -> Seen:
    """What is seen in a run; each layer's stream is the sum of what some hook points show."""
    kept: defaultdict[str, list[NDArray[np.float64]]] = defaultdict(list)

    def keep(name: str) -> Callable[[torch.Tensor], None]:
        return lambda activation: kept[name].append(activation.detach().double().cpu().numpy().copy())

    heads = [f"blocks.{layer}.attn.hook_z" for layer in range(len(module.blocks))]
    names = [name for stream in streams for name in stream] + heads
    with torch.no_grad(), hooks(module, {name: keep(name) for name in names}):
        output = run().double().cpu().numpy()
    n = output.shape[1]
    found = {name: _joined(blocks, n) for name, blocks in kept.items()}
    before = tuple(sum(found[name] for name in stream) for stream in streams)
    return Seen(output, before[: len(heads)], tuple(found[name] for name in heads))


def _joined(blocks: list[NDArray[np.float64]], n: int) -> NDArray[np.float64]:
    """What the blocks make up; or the last, where the word was read as a whole in the end."""
    return blocks[-1] if blocks[-1].shape[1] == n else np.concatenate(blocks, axis=1)


def rounding_to(dtype: torch.dtype) -> Callable[[float], float] | None:
    """What the format makes of a number; None for float64, which changes none."""
    if dtype == torch.float64:
        return None
    return lambda number: torch.tensor(number, dtype=torch.float64).to(dtype).item()


# What is compared ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """How far the heads of a run are from rows in 64-bit mantissas, fed by that run's own streams.

    `worst` is the greatest distance, over all heads and words, in parts of the head's greatest value or of 1,
    beyond the one rounding of what is written to a narrow format.
    """

    worst: float
    where: str
    seen: Seen

    def score_size(self, network: Network) -> float:
        """The size of what the largest scores are added up from, in any layer, on any word."""
        layers = enumerate(self.seen.streams)
        return max((score_size(network, layer, word) for layer, words in layers for word in words), default=0)


def judged(module: DenseTransformer, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> Judged:
    """Compare every head of the module with its rows, word by word; padding is nobody's."""
    return judged_run(module, heads_of(module, tokens, lengths), tokens, lengths)


def judged_run(
    module: DenseTransformer, seen: Seen, tokens: torch.Tensor, lengths: torch.Tensor | None = None
) -> Judged:
    """The same of what was seen before."""
    sizes = [tokens.shape[1]] * len(tokens) if lengths is None else lengths.tolist()
    rounded, unit = rounding_to(module.dtype), unit_of(module.dtype)
    worst, where = 0.0, ""
    for layer, (streams, heads) in enumerate(zip(seen.streams, seen.heads, strict=True)):
        for word, n in enumerate(sizes):
            rows = head_rows(module.network, layer, streams[word, :n], rounded=rounded)
            for head, row in enumerate(rows):
                own = heads[word, :n, head, : row.shape[1]]
                apart = distance(own, row, unit)
                if not apart <= worst:
                    worst, where = apart, f"layer {layer}, head {head}, word {word} of {n} symbols"
    return Judged(worst, where, seen)


def errors_by_construction(module: DenseTransformer, tokens: torch.Tensor) -> dict[str, float]:
    """The greatest distance of heads from their rows, by what the heads are said to be for; in float64."""
    seen, found = heads_of(module, tokens), defaultdict[str, float](float)
    for number, (streams, heads) in enumerate(zip(seen.streams, seen.heads, strict=True)):
        layer = module.network.layers[number]
        for word, stream in enumerate(streams):
            for head, row in enumerate(head_rows(module.network, number, stream)):
                kind = type(layer.heads[head].construction).__name__
                apart = distance(heads[word, :, head, : row.shape[1]], row, 0.0)
                found[kind] = max(found[kind], apart)
    return dict(found)


def distance(own: NDArray[np.float64], row: NDArray[np.longdouble], unit: float) -> float:
    """The greatest distance beyond one rounding to the format, in parts of the greatest value or of 1."""
    if not row.size:
        return 0.0
    apart = np.abs(own - row) - unit * np.abs(row)
    return float(max(0.0, apart.max()) / max(1.0, np.abs(row).max())) if np.isfinite(own).all() else np.inf


def unit_of(dtype: torch.dtype) -> float:
    """How much one rounding to a narrow format changes, relatively; 0 for float64, where it counts."""
    return 0.0 if dtype == torch.float64 else float(torch.finfo(dtype).eps) / 2


def module_of(network: Network, engine: str, dtype: torch.dtype = torch.float64) -> DenseTransformer:
    """The network, running in that way."""
    return DenseTransformer(network, dtype, engine=engine, sealed=True)
