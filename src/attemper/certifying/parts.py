"""The part of a network that a failed proof rests on.

Where a bit is rounded exactly nothing is left of the errors before it. So what fails at a length rests on few
heads and hidden units: those whose errors reach the place that failed. What is exact at a length is exact at
every shorter one, so that the whole network fails wherever the part does. The part is cheaper to evaluate,
and says where to look at the whole. That a length is proved is believed of the whole only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import final

from attemper.checker.analysis import Analysis
from attemper.checker.rounding.arithmetic import Kernel, is_exact
from attemper.checker.rounding.network import Bounds, Rounding
from attemper.networks.layers import Coordinate, Head

HeadIndex = tuple[int, int]
"""A head, by its layer and its index there."""


@final
@dataclass(frozen=True)
class NetworkPart:
    """Heads, and coordinates that hidden units write to, with all units that do."""

    heads: frozenset[HeadIndex]
    written: frozenset[Coordinate]

    def __len__(self) -> int:
        return len(self.heads) + len(self.written)


@final
class Parts:
    """All parts of a network, by what its heads and hidden units read, and what writes to a coordinate."""

    def __init__(self, analysis: Analysis) -> None:
        self.outputs = analysis.network.outputs
        self.measure = analysis.network.measure
        # What is read through a normalisation is off by what all coordinates are off by.
        self._has_parts = analysis.reads is None
        self._named: dict[str, HeadIndex] = {}
        self._heads: dict[Coordinate, HeadIndex] = {}
        self._reads: dict[HeadIndex | Coordinate, set[Coordinate]] = {}
        for number, (layer, fact) in enumerate(zip(analysis.network.layers, analysis.layers, strict=True)):
            for index, head in enumerate(layer.heads):
                self._named[_name(number, index)] = number, index
                self._heads.update(dict.fromkeys(head.targets, (number, index)))
                self._reads[number, index] = set(_read_by(head))
            for group in fact.groups:
                for target in group.outputs:
                    self._reads.setdefault(target, set()).update(c for c, _ in group.form)
        self.whole = _part(self._reads)

    def has(self, part: NetworkPart, name: str) -> bool:
        """Whether a part has the head of that name."""
        return self._named.get(name) in part.heads

    def behind_failure(self, bounds: Bounds) -> NetworkPart:
        """The part that a failure rests on: everything, if that is not known."""
        if not self._has_parts or not bounds.offs:
            return self.whole
        # Either a head has no proof, or an output is off by too much.
        head = self._named.get((bounds.failure or "").partition(" (")[0])
        found: set[HeadIndex | Coordinate] = set()
        new = {*self._writers(bounds, self.outputs), *([] if head is None else [head])}
        while new:
            found |= new
            new = {writer for one in new for writer in self._writers(bounds, self._reads[one])} - found
        return _part(found) if found else self.whole

    def _writers(self, bounds: Bounds, coordinates: Iterable[Coordinate]) -> list[HeadIndex | Coordinate]:
        """What writes to coordinates, as far as they are not exact; nothing writes to an embedding."""
        writers = (self._heads.get(c, c) for c in coordinates if not is_exact(bounds.offs[c]))
        return [writer for writer in writers if writer in self._reads]


@final
class PartRounding:
    """A part of a network in one format; what is worked out for the whole is not worked out again."""

    def __init__(self, rounding: Rounding, part: NetworkPart) -> None:
        whole, self._names = rounding.analysis, dict[str, str]()
        layers, facts = [], []
        for number, (layer, fact) in enumerate(zip(whole.network.layers, whole.layers, strict=True)):
            kept = [index for index in range(len(layer.heads)) if (number, index) in part.heads]
            self._names.update({_name(number, new): _name(number, old) for new, old in enumerate(kept)})
            layers.append(replace(layer, heads=tuple(layer.heads[index] for index in kept)))
            facts.append(replace(fact, heads=tuple(fact.heads[index] for index in kept)))
        self._rounding = copy(rounding)
        self._rounding.writings = [
            [writing for writing in own if writing.target in part.written] for own in rounding.writings
        ]
        read = {c for layer in layers for head in layer.heads for c in _read_by(head)}
        read.update(whole.network.outputs, _read_by_units(self._rounding))
        positions = tuple(pair for pair in whole.network.positions if pair[0] in read)
        network = replace(whole.network, layers=tuple(layers), embedding=(), positions=positions)
        self._rounding.analysis = replace(whole, network=network, layers=tuple(facts))

    def bounds_at(self, kernel: Kernel, length: int) -> Bounds:
        """The bounds of the part, with the names that heads have in the whole."""
        bounds = self._rounding.bounds_at(kernel, length)
        lost_shares = {self._names[name]: size for name, size in bounds.lost_shares.items()}
        if bounds.failure is None:
            return Bounds(bounds.offs, lost_shares, None)
        name, blank, reason = bounds.failure.partition(" (")
        return Bounds(bounds.offs, lost_shares, self._names.get(name, name) + blank + reason)


def _part(found: Iterable[HeadIndex | Coordinate]) -> NetworkPart:
    """A part of these heads and coordinates."""
    found = frozenset(found)
    heads = frozenset(one for one in found if isinstance(one, tuple))
    return NetworkPart(heads, frozenset(one for one in found if isinstance(one, int)))


def _name(layer: int, index: int) -> str:
    """What the checker calls a head."""
    return f"layer {layer}, head {index}"


def _read_by(head: Head) -> Iterator[Coordinate]:
    """The coordinates that a head reads."""
    yield from (c for form in (*head.query, *head.key, *head.values) for c, _ in form)


def _read_by_units(rounding: Rounding) -> Iterator[Coordinate]:
    """The coordinates that hidden units read."""
    yield from (c for writings in rounding.writings for writing in writings for c in writing.inputs)
