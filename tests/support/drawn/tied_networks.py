"""Average-hard networks whose best positions often tie: typed in at random, and what a rule says of them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from random import Random

from attemper.networks.layers import HardWeighting, Network
from attemper.networks.meaning_hard import residual_streams
from attemper.networks.typed import MASKS, HeadOf, LayerOf, Terms, UnitOf, hard_network
from attemper.theories.softening.check.by_rule import LayerByRule, by_rule
from tests.support.judges.chain_judge import at, seen_of
from tests.support.judges.derived import Reading

PLACES = {
    "one": "1",
    "first": ["test", ["zero"], 1, 0, -1],
    "last": ["test", ["zero"], 1, -1, 0],
    "third": ["test", ["zero"], 1, 0, -3],
    "sign": ["alternating"],
    "length": ["length"],
    "share": ["power", ["length"], -1],
}
"""Position embeddings that levels are made of, and two that scale them."""

AT_J = ("a", "b", "c", "first", "last", "third", "sign")


def typed(layers: list[LayerOf], output: str, alphabet: str = "abc") -> Network:
    """A network over letters, whose coordinates are one-hot."""
    embedding = {symbol: {symbol: 1} for symbol in alphabet}
    return hard_network(alphabet, embedding=embedding, positions=PLACES, layers=layers, output=output)


def levelled(mask: str, key: Terms, value: Terms, query: Terms | None = None) -> Network:
    """One head, and hidden units that read what it writes."""
    head = HeadOf(mask, {"x": value}, query=[query or {"one": 1}], key=[key])
    return typed([LayerOf([head], [UnitOf({"x": 1}, {"y": 1})])], "y")


def drawn(random: Random) -> Network:
    """One or two layers of heads without a tie-break; hidden units read all that a head writes."""
    layers, known = [], list(AT_J)
    for number in range(random.choice((1, 1, 2))):
        heads = [_head(random, f"x{number}{h}", known) for h in range(random.choice((1, 1, 2)))]
        units = []
        for h in range(len(heads)):
            units.append(UnitOf({f"x{number}{h}": 1}, {f"y{number}{h}": 1}))
            known.append(f"y{number}{h}")
        layers.append(LayerOf(heads, units))
    return typed(layers, known[-1])


def _head(random: Random, target: str, known: list[str]) -> HeadOf:
    """Values are made of the key, of a letter, or of anything: often they agree where scores tie."""
    key = _form(random, known)
    value = random.choice((key, {name: 2 * f for name, f in key.items()}, _form(random, known)))
    rows = [key] if random.random() < 0.8 else [key, _form(random, known)]
    queries = [_query(random, known) for _ in rows]
    return HeadOf(random.choice(list(MASKS)), {target: value}, query=queries, key=rows)


def _form(random: Random, known: list[str]) -> dict[str, int]:
    names = random.sample(known, random.choice((1, 1, 2, 3)))
    return {name: random.choice((-2, -1, 1, 1, 2)) for name in names}


def _query(random: Random, known: list[str]) -> dict[str, int]:
    if random.random() < 0.6:
        return {random.choice(("one", "one", "length", "share")): random.choice((1, 1, 3, -1))}
    return {"one": random.choice((0, 1)), random.choice(known): random.choice((-1, 1, 2))}


def false_of(network: Network, longest: int) -> tuple[list[str], tuple[LayerByRule, ...]]:
    """What rules say that is false of some word of up to so many symbols, and all that they say.

    Heads that a rule covers must tie between equal values only, and lead by what is said; what units read of
    them must be what the diagram says, at every position.
    """
    known, seen, false = by_rule(network), seen_of(network, longest), list[str]()
    for number, layer in enumerate(known):
        for index, head in enumerate(layer.heads):
            for n in range(1, longest + 1):
                score_gap = seen.score_gaps.get((number, index, n))
                if head and (number, index, n) in seen.ties:
                    false.append(f"values tie in head {number}.{index} at {n}")
                if head and score_gap is not None and float(at(head.gap, n)) > float(score_gap) * (1 + 1e-9):
                    false.append(f"head {number}.{index} leads by {score_gap} at {n}, not {head.gap}")
    for n in range(1, longest + 1):
        for word in product(network.alphabet.symbols, repeat=n):
            false += _false_values(network, known, word)
    return false, known


def _false_values(network: Network, known: tuple[LayerByRule, ...], word: tuple[str, ...]) -> list[str]:
    false = []
    for number, layer in enumerate(network.layers):
        if not known[number].groups:
            continue
        reading = Reading(known[number].names, word)
        attended = replace(network, layers=(*network.layers[:number], replace(layer, hidden=(), clamps=())))
        middle = residual_streams(attended, word, HardWeighting.AVERAGE)[-1]
        for form, group in known[number].groups.items():
            for i, vector in enumerate(middle, start=1):
                found = sum((factor * vector[c] for c, factor in form), Fraction(0))
                if reading.number(group.diagram, i) != found:
                    false.append(f"{word} at {i}: layer {number} reads {found} in {form}")
    return false
