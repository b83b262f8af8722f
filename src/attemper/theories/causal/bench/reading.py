"""A network in which each edge can carry something else, for methods that patch edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import final

import torch
from torch import Tensor

from attemper.running.dense import DenseTransformer
from attemper.running.hooks import hooks
from attemper.theories.causal.bench.cases import BenchCase
from attemper.theories.causal.check.cutting import cut

HALF = 0.5
"""What is put out is a bit, and near 0 or 1."""


@final
class EdgeReads:
    """A case's network in float64, whose edges read coordinates of their own: other numbers can stand there.

    Tokens are [word, position], and what an edge carries is [word, position, coordinate], with the
    coordinates of its variable. Gradients flow through all of it.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from attemper.theories.causal.bench.making import made
    >>> from attemper.theories.causal.bench.cases import cases
    >>> with TemporaryDirectory() as folder:
    ...     made(0, seed=1).save(Path(folder, "0"))
    ...     (case,) = cases(folder)
    ...     reads = EdgeReads(case)
    >>> clean, other = torch.tensor([[0, 1, 2]]), torch.tensor([[2, 2, 0]])
    >>> bool((reads(clean, reads.carried(clean)) == reads(clean)).all())
    True
    >>> edge, *_ = reads.edges
    >>> patched = reads(clean, {edge: reads.carried(other)[edge]})
    """

    def __init__(self, case: BenchCase) -> None:
        network, variables, edges = case.model.network, case.claim.variables, case.edges
        without, twins = cut(network, variables, list(edges.values()))
        self.edges: tuple[str, ...] = tuple(edges)
        """The names of its edges."""
        self._module = DenseTransformer(without, torch.float64)
        self._points: dict[str, dict[str, tuple[list[int], list[int]]]] = {}
        for (name, edge), own in zip(edges.items(), twins, strict=True):
            point = f"blocks.{variables[edge.variable].layer}.hook_resid_post"
            self._points.setdefault(point, {})[name] = (list(own.keys()), list(own.values()))

    def carried(self, tokens: Tensor) -> dict[str, Tensor]:
        """What each edge carries on words."""
        found: dict[str, Tensor] = {}

        def keep(point: str, stream: Tensor) -> Tensor:
            own = self._points[point]
            found.update((name, stream[..., places].detach()) for name, (places, _) in own.items())
            return self._written(own, {}, stream)

        self._run(self._module, tokens, keep)
        return found

    def __call__(
        self, tokens: Tensor, carried: Mapping[str, Tensor] | None = None, *, unclamped: bool = False
    ) -> Tensor:
        """What is put out where these edges carry that; the others carry what is there.

        `unclamped`: before the last rounding to bits, as `DenseTransformer.unclamped` does, for gradients.
        """
        run = self._module.unclamped if unclamped else self._module

        def write(point: str, stream: Tensor) -> Tensor:
            return self._written(self._points[point], carried or {}, stream)

        return self._run(run, tokens, write)

    @torch.no_grad()
    def frequencies(self, clean: Tensor, other: Tensor) -> dict[str, float]:
        """Of each edge the share of words on which a bit that is put out changes, at some position, where it
        carries what it carries on the other word.

        Both are [word, position]: as many pairs as there are, of a distribution of your own. An edge that is
        irrelevant has 0, and one that matters may have 0 on such words.
        """
        natural, elsewhere = self(clean) > HALF, self.carried(other)
        return {
            name: float(
                ((self(clean, {name: elsewhere[name]}) > HALF) != natural)
                .flatten(1)
                .any(dim=1)
                .double()
                .mean()
            )
            for name in self.edges
        }

    def _run(
        self, run: Callable[[Tensor], Tensor], tokens: Tensor, change: Callable[[str, Tensor], Tensor]
    ) -> Tensor:
        with hooks(self._module, {point: partial(change, point) for point in self._points}):
            return run(tokens)

    @staticmethod
    def _written(
        edges: Mapping[str, tuple[list[int], list[int]]], carried: Mapping[str, Tensor], stream: Tensor
    ) -> Tensor:
        after = stream.clone()
        for name, (places, twins) in edges.items():
            after[..., twins] = carried[name] if name in carried else stream[..., places]
        return after
