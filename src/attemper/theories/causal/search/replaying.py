"""An interchange done in torch: numbers are copied from one run to another, at the layer that is claimed."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attemper.languages.words import Word
from attemper.networks.layers import Network
from attemper.running.dense import DenseTransformer
from attemper.theories.causal.certificate import CausalVariable
from attemper.theories.causal.check.settings import Interchange


def replayed(network: Network, variables: Sequence[CausalVariable], said: Interchange) -> list[list[float]]:
    """What the network puts out on the base word after the interchange: [position][output], in float64.

    At `blocks.l.hook_resid_post`, l the variable's layer, its coordinates at the position are replaced by
    those of a run on the source.
    """
    module = DenseTransformer(network, torch.float64)
    points = {f"blocks.{variables[taken.variable].layer}.hook_resid_post": None for taken in said.taken}
    caches = {taken.source: _stream(module, taken.source, list(points)) for taken in said.taken}

    def copying(point: str) -> _Copying:
        here = [t for t in said.taken if point == f"blocks.{variables[t.variable].layer}.hook_resid_post"]
        return _Copying(
            [(t.position - 1, list(variables[t.variable].coordinates), caches[t.source][point]) for t in here]
        )

    with torch.no_grad():
        found = module.run_with_hooks(
            _tokens(network, said.base), on={point: copying(point) for point in points}
        )
    rows: list[list[float]] = (found if found.dim() == 3 else found[..., None])[0].tolist()
    return rows


class _Copying:
    def __init__(self, rows: list[tuple[int, list[int], Tensor]]) -> None:
        self.rows = rows

    def __call__(self, stream: Tensor) -> Tensor:
        after = stream.clone()
        for place, coordinates, source in self.rows:
            after[:, place, coordinates] = source[:, place, coordinates]
        return after


def _tokens(network: Network, word: Word) -> Tensor:
    return torch.tensor([[network.alphabet.symbols.index(symbol) for symbol in word]])


def _stream(module: DenseTransformer, word: Word, points: Sequence[str]) -> dict[str, Tensor]:
    with torch.no_grad():
        _, cache = module.run_with_cache(_tokens(module.network, word), names=points)
    return cache
