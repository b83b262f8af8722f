"""Random future-masked networks of unique hard attention, and their verdicts, in plain Python.

Nothing of attemper is imported, nor numpy: an oracle for whatever reads such networks back. Numbers are
integers or floats; every sum begins with 0 and is taken in the order of the coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

Number = int | float
Row = tuple[Number, ...]
Matrix = tuple[Row, ...]


@dataclass(frozen=True)
class PlainHead:
    strict: bool
    leftmost: bool
    score: Matrix
    """The score of x at j for y at i is the sum of y[r] score[r][c] x[c]."""
    value: Matrix


@dataclass(frozen=True)
class PlainLayer:
    heads: tuple[PlainHead, ...]
    hidden: Matrix
    bias: Row
    back: Matrix
    floats: bool
    cap: Number


@dataclass(frozen=True)
class PlainMasked:
    letters: int
    prefix: int
    period: int
    embedding: Matrix
    positions: Matrix
    """A row for each place, the prefix before the period."""
    layers: tuple[PlainLayer, ...]
    label: Row
    floats: bool


def drawn(seed: int, letters: int = 2, places: tuple[int, int] = (0, 1), *, floats: bool) -> PlainMasked:
    """1 to 4 layers of 1 to 3 heads, masks and ties mixed, ReLU, and activations between -cap and cap."""
    draw = Random(seed)
    width = draw.randint(2, 4)

    def entry() -> Number:
        return draw.uniform(-1, 1) if floats else draw.randint(-3, 3)

    def matrix(rows: int, columns: int) -> Matrix:
        return tuple(tuple(entry() for _ in range(columns)) for _ in range(rows))

    layers = []
    for _ in range(draw.randint(1, 4)):
        heads = tuple(
            PlainHead(
                draw.random() < 0.5,
                draw.random() < 0.5,
                _sparse(draw, matrix(width, width)),
                matrix(width, width),
            )
            for _ in range(draw.randint(1, 3))
        )
        hidden, back = matrix(2 * width, width), matrix(width, 2 * width)
        cap = draw.choice((1, 2, 3))
        layers.append(PlainLayer(heads, hidden, matrix(1, 2 * width)[0], back, floats, cap))
    count = sum(places)
    return PlainMasked(
        letters,
        *places,
        matrix(letters, width),
        matrix(count, width),
        tuple(layers),
        matrix(1, width)[0],
        floats,
    )


def _sparse(draw: Random, matrix: Matrix) -> Matrix:
    """The matrix with many zeros, so that scores are equal often."""
    keep = draw.choice((0.0, 0.2, 0.5, 1.0))
    return tuple(tuple(entry if draw.random() < keep else 0 * entry for entry in row) for row in matrix)


def dot(left: Row, right: Row) -> Number:
    total: Number = 0
    for one, other in zip(left, right, strict=True):
        total = total + one * other
    return total


def image(matrix: Matrix, row: Row) -> Row:
    return tuple(dot(line, row) for line in matrix)


def combined(layer: PlainLayer, own: Row, read: list[Row]) -> Row:
    """The residual stream behind heads and hidden units, clipped; integers are divided by 4 before."""
    middle = own
    for head, there in zip(layer.heads, read, strict=True):
        middle = tuple(a + b for a, b in zip(middle, image(head.value, there), strict=True))
    active = tuple(max(a + b, 0) for a, b in zip(image(layer.hidden, middle), layer.bias, strict=True))
    after = tuple(a + b for a, b in zip(middle, image(layer.back, active), strict=True))
    scaled = after if layer.floats else tuple(value // 4 for value in after)
    return tuple(min(max(value, -layer.cap), layer.cap) + 0 for value in scaled)


def embedded(model: PlainMasked, position: int, letter: int) -> Row:
    """y^(0) at a position from 1 on."""
    place = position - 1
    if place >= model.prefix:
        place = model.prefix + (place - model.prefix) % model.period
    there = model.positions[place]
    return tuple(a + b + 0 for a, b in zip(model.embedding[letter], there, strict=True))


def extended(
    model: PlainMasked, stream: tuple[tuple[Row, ...], ...], letter: int
) -> tuple[tuple[Row, ...], ...]:
    """The rows of all positions so far, in each of the layers 0..L, after one letter more."""
    own = embedded(model, len(stream[0]) + 1, letter)
    after = [(*stream[0], own)]
    for number, layer in enumerate(model.layers):
        rows = after[number]
        read = []
        for head in layer.heads:
            visible = rows[:-1] if head.strict else rows
            query = tuple(dot(tuple(line[c] for line in head.score), own) for c in range(len(own)))
            found: Row = tuple(0 * value for value in own)
            best: Number | None = None
            for key in visible:
                score = dot(query, key)
                if best is None or score > best or (score == best and not head.leftmost):
                    best, found = score, key
            read.append(found)
        own = combined(layer, own, read)
        after.append((*stream[number + 1], own))
    return tuple(after)


def verdicts(model: PlainMasked, longest: int) -> Iterator[tuple[tuple[int, ...], bool]]:
    """Every word of 1 to `longest` letters, and whether it is accepted."""
    empty: tuple[tuple[Row, ...], ...] = ((),) * (len(model.layers) + 1)
    waiting = [((), empty)]
    while waiting:
        word, stream = waiting.pop()
        for letter in range(model.letters):
            longer = extended(model, stream, letter)
            yield (*word, letter), bool(dot(model.label, longer[-1][-1]) > 0)
            if len(word) + 1 < longest:
                waiting.append(((*word, letter), longer))


def verdict(model: PlainMasked, word: tuple[int, ...]) -> bool:
    """Whether one word of at least one letter is accepted."""
    stream: tuple[tuple[Row, ...], ...] = ((),) * (len(model.layers) + 1)
    for letter in word:
        stream = extended(model, stream, letter)
    return bool(dot(model.label, stream[-1][-1]) > 0)
