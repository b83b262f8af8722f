"""Compiled networks with a few weights, masks or biases changed at random."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from attemper.exact.closed_forms import times
from attemper.networks.layers import Head, Layer, LinearForm, Masking, Network

FACTORS = tuple(Fraction(p, q) for p, q in ((-1, 1), (2, 1), (1, 2), (3, 1), (7, 8), (9, 8), (0, 1), (1, 8)))


def changed(random: Random, network: Network) -> Network:
    """The network with one to three changes, and no clamps, which they may break."""
    layers = [replace(layer, clamps=()) for layer in network.layers]
    for _ in range(random.choice([1, 1, 2, 3])):
        place = random.randrange(len(layers))
        layers[place] = _layer(random, layers[place], len(network.coordinates))
    positions = list(network.positions)
    if positions and random.random() < 0.15:
        place = random.randrange(len(positions))
        coordinate, form = positions[place]
        positions[place] = coordinate, times(form, random.choice(FACTORS))
    return replace(network, layers=tuple(layers), positions=tuple(positions))


def _layer(random: Random, layer: Layer, width: int) -> Layer:
    if layer.heads and (random.random() < 0.8 or not layer.hidden):
        place = random.randrange(len(layer.heads))
        head = _head(random, layer.heads[place], width)
        return replace(layer, heads=(*layer.heads[:place], head, *layer.heads[place + 1 :]))
    if not layer.hidden:
        return layer
    place = random.randrange(len(layer.hidden))
    unit = layer.hidden[place]
    if random.random() < 0.5:
        unit = replace(unit, bias=unit.bias * random.choice(FACTORS))
    else:
        unit = replace(unit, form=_form(random, unit.form, width))
    return replace(layer, hidden=(*layer.hidden[:place], unit, *layer.hidden[place + 1 :]))


def _head(random: Random, head: Head, width: int) -> Head:
    part = random.choice(["query", "query", "key", "key", "values", "masking"])
    if part == "masking":
        return replace(head, masking=random.choice(list(Masking)))
    forms: tuple[LinearForm, ...] = getattr(head, part)
    if not forms:
        return head
    place = random.randrange(len(forms))
    others = (*forms[:place], _form(random, forms[place], width), *forms[place + 1 :])
    return replace(head, **{part: others})


def _form(random: Random, form: LinearForm, width: int) -> LinearForm:
    factors = dict(form)
    kind = random.random()
    if factors and kind < 0.6:
        factors[random.choice(list(factors))] *= random.choice(FACTORS)
    elif factors and kind < 0.8:
        factors[random.randrange(width)] = factors.pop(random.choice(list(factors)))
    else:
        factors[random.randrange(width)] = random.choice((Fraction(1), Fraction(-1), Fraction(1, 2)))
    return tuple(sorted((coordinate, factor) for coordinate, factor in factors.items() if factor))
