"""By which way each engine computes a network's heads: what `attemper show --engines` prints."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import cycle, islice
from typing import TYPE_CHECKING, final

from attemper.missing import torch_needed

if TYPE_CHECKING:
    from attemper.workbench.model import Model

PROBE = 64
"""The length of the word on which heads are seen: all symbols in turn."""

MEANT = {
    "average": "running means",
    "flat": "running sums of each class",
    "geometric": "geometric series",
    "running": "running sums of the nearest members",
    "window": "the members around the best",
    "dense": "row by row",
    "nothing": "nothing: no value is read",
}
"""What the ways of the scan are."""


@final
@dataclass(frozen=True)
class HeadWay:
    """How the scan computes one head, and why row by row if it does."""

    layer: int
    head: int
    ways: tuple[str, ...]
    reason: str


@final
@dataclass(frozen=True)
class Engines:
    """What `auto` is, from how many positions in a batch on, and the scan's ways; or why there is no scan."""

    scan_from: int
    refused: str
    in_blocks: bool
    heads: tuple[HeadWay, ...]

    def as_record(self) -> dict[str, object]:
        """As JSON has it."""
        heads = [
            {"layer": one.layer, "head": one.head, "ways": list(one.ways), "reason": one.reason or None}
            for one in self.heads
        ]
        return {
            "auto": "fused" if self.refused else "scan",
            "from": None if self.refused else self.scan_from,
            "refused": self.refused or None,
            "blocks": self.in_blocks,
            "heads": heads,
        }


def engines_of(model: Model) -> Engines:
    """The engines of a model, as a word of all its symbols in turn shows them."""
    with torch_needed("a table of engines"):
        import torch

    from attemper.running.engines.choice import scan_is_refused
    from attemper.running.engines.names import SCAN_FROM

    module = model.dense()
    refused = scan_is_refused(module)
    if refused:
        return Engines(SCAN_FROM, refused, False, ())
    tokens = torch.tensor([list(islice(cycle(range(len(model.alphabet.symbols))), PROBE))])
    scanner = module.scanner()
    with torch.no_grad():
        scanner.run(tokens, torch.tensor([PROBE]), None)
    ways = scanner.ways
    heads = tuple(
        HeadWay(layer, head, tuple(sorted(found)), ways.reasons.get((layer, head), ""))
        for (layer, head), found in sorted(ways.of.items())
    )
    return Engines(SCAN_FROM, "", scanner.looks_back, heads)
