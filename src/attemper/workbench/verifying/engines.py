"""On which engine words are tried: torch, in batches; where it is not installed numpy, word by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module

from attemper.languages.words import Word
from attemper.missing import has_torch, torch_needed
from attemper.networks.layers import HardWeighting, Network
from attemper.running.engines.names import SHORT, Engine, what_needs_torch
from attemper.running.runs import Run

RunFunction = Callable[[Sequence[Word]], Iterator[Run]]
"""Words that are not empty to what a network did with each, in their order."""


def require_reached(longest: int) -> None:
    """Raises `OptionError` where torch is not installed and words are so long that numpy takes too long."""
    if longest > SHORT:
        with torch_needed(what_needs_torch(Engine.AUTO, "float64")):
            import_module("torch")


def runs_by(network: Network, override: HardWeighting | None) -> RunFunction:
    """The network in float64, by a module or by arrays that nobody else has."""
    if not has_torch():
        from attemper.running.arrays import Arrays

        return Arrays(network, override).runs
    import torch

    from attemper.running.batches import run_words
    from attemper.running.dense import DenseTransformer

    module = DenseTransformer(network, torch.float64, override, sealed=True)
    for parameter in module.parameters():
        # Numbers that numpy has made begin anywhere in memory, and a sum over them may be rounded otherwise
        # in another process; torch's own begin at multiples of 64 bytes.
        parameter.data = parameter.data.clone()
    return partial(run_words, module)


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, torch computes with one thread, so that no sum depends on how many there are."""
    if not has_torch():
        yield
        return
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
