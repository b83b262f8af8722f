"""The engines that a network can run on, and which of them `auto` is."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attemper.errors import OptionError

SCAN_FROM = 4096
"""From so many positions in a batch on (words times the width of the longest), `auto` is the scan."""

ON_SCORES = ("hook_attn_scores", "hook_pattern")
"""The hook points that the matrix engine alone reaches."""

ON_PARTS = ("hook_q_input", "hook_k_input", "hook_v_input", "hook_mlp_in", "hook_result")
"""The hook points on what one part of a layer alone reads or writes: made where somebody watches them."""

ON_QUERIES = ("hook_q", "hook_k", "hook_v", *ON_PARTS)
"""The hook points that the scan alone does not reach: it never has all queries in one tensor."""

SHORT = 1024
"""Up to so many symbols `auto` runs one word in numpy, in less time than it takes to import torch.

Where torch is not installed `auto` runs all such words in numpy, and no longer ones.
"""


class Engine(StrEnum):
    """How attention is computed. In real arithmetic all engines give the same softmax."""

    AUTO = "auto"
    """For one short word in float64 numpy, and for all where torch is not installed. Of a module, the scan
    for batches of many positions where attention is soft, nothing is normalised and nobody wants gradients;
    else fused."""
    MATRIX = "matrix"
    """Every head makes its n x n matrix of scores and that of weights, which hooks can see and change."""
    FUSED = "fused"
    """Running means, and torch's fused attention: time n^2, memory n. Hard heads make their matrices."""
    SCAN = "scan"
    """Time n: sums over classes of keys, in float64 inside each head (docs/scan.md)."""
    NUMPY = "numpy"
    """Word by word in float64, without torch: time n^2, memory n."""


def engine_of(name: str) -> Engine:
    """The engine of that name. Raises `OptionError`.

    >>> engine_of("scan")
    <Engine.SCAN: 'scan'>
    """
    try:
        return Engine(name)
    except ValueError:
        known = ", ".join(f"'{engine}'" for engine in Engine)
        raise OptionError(f"engine={name!r} is none of {known}") from None


def engine_reaching(names: Iterable[str], engine: Engine) -> Engine:
    """The engine on which all of these hook points are reached: the given one if it reaches them.

    >>> engine_reaching(["blocks.0.attn.hook_pattern"], Engine.AUTO)
    <Engine.MATRIX: 'matrix'>
    """
    points = {name.rpartition(".")[2] for name in names}
    if not points.isdisjoint(ON_SCORES):
        return Engine.MATRIX
    if not points.isdisjoint(ON_QUERIES) and engine in {Engine.AUTO, Engine.SCAN}:
        return Engine.FUSED
    return engine


def what_needs_torch(engine: Engine, dtype: str) -> str:
    """What of a run numpy does not have: another engine or format, or else long words.

    >>> what_needs_torch(Engine.AUTO, "float64")
    'a word of more than 1,024 symbols'
    """
    if engine is not Engine.AUTO:
        return f"the engine '{engine}'"
    return f"a word of more than {SHORT:,} symbols" if dtype == "float64" else f"the format {dtype}"
