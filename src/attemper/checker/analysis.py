"""A network, layer by layer: what every coordinate means, proved from the weights alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import final

import flint

from attemper.checker.feed_forward import Group, apply_groups, groups_of
from attemper.checker.heads import HeadFact, head_fact
from attemper.checker.terms import Terms, Test, UnprovenError
from attemper.checker.values import Stream, add, embedded
from attemper.exact.balls import precision, upper_bound
from attemper.networks.layers import Layer, Network

PRECISION = 64
"""Bits of the balls that bound attention."""


@final
@dataclass(frozen=True)
class LayerFact:
    """One layer: the stream before it, its heads, the stream between, its feed-forward, the stream after."""

    before: Stream
    heads: tuple[HeadFact, ...]
    masses: tuple[Fraction, ...]
    middle: Stream
    groups: tuple[Group, ...]
    after: Stream


@final
@dataclass(frozen=True)
class Analysis:
    """All layers of a network."""

    network: Network
    terms: Terms
    start: Stream
    layers: tuple[LayerFact, ...]

    @cached_property
    def end(self) -> Stream:
        """The stream after the last layer."""
        return self.layers[-1].after if self.layers else self.start


def analyse(network: Network, expand: frozenset[Test] = frozenset()) -> Analysis:
    """What the network computes. Raises `UnprovenError`, naming the layer and head that no rule covers."""
    terms = Terms(network.alphabet.symbols, expand)
    start = stream = embedded(terms, network)
    facts: list[LayerFact] = []
    with precision(PRECISION):
        for number, layer in enumerate(network.layers):
            facts.append(_layer_fact(terms, layer, number, stream))
            stream = facts[-1].after
    return Analysis(network, terms, start, tuple(facts))


def _layer_fact(terms: Terms, layer: Layer, number: int, stream: Stream) -> LayerFact:
    middle = Stream(list(stream.values), list(stream.errors))
    heads: list[HeadFact] = []
    masses: list[Fraction] = []
    for index, head in enumerate(layer.heads):
        try:
            fact = head_fact(terms, head, stream)
        except UnprovenError as error:
            raise UnprovenError(f"layer {number}, head {index}: {error}") from None
        try:
            mass = upper_bound(fact.rule.stray(flint.arb(0), flint.arb(0)))
        except OverflowError:
            raise UnprovenError(f"layer {number}, head {index}: its attention has no finite bound") from None
        for output in fact.outputs:
            target = output.target
            middle.values[target] = add(terms, middle.values[target], {(0, 0): output.diagram})
            middle.errors[target] += mass * output.spread
        heads.append(fact)
        masses.append(mass)
    groups = groups_of(terms, layer, number, middle)
    after = apply_groups(terms, groups, middle)
    return LayerFact(stream, tuple(heads), tuple(masses), middle, tuple(groups), after)
