"""Networks as hard-attention models: rows of integers are the fractions that they stand for."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import I, Number
from attemper.languages.words import Alphabet
from attemper.models.hard import networks
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import activations, scored
from attemper.networks.layers import HardWeighting, Head, Hidden, Layer, LinearForm, Masking, Network, Select
from attemper.networks.meaning_hard import attention, residual_streams, value_of

FORMULAS = (
    "O (b & Y a) & H (a -> Y b)",
    "(a & even(pos)) S b",
    "Y Y (a | first)",
    "F (b & X a)",
    "a U b",
    "a",
)
WIDTH = 4


def compiled(formula: str) -> list[Network]:
    found = []
    for regime in ("unbounded", "temperature", "decoder"):
        try:
            found.append(attemper.compile(formula, "ab", at="last", regime=regime).network)  # type: ignore[arg-type]
        except UnsupportedError:
            assert regime == "decoder"
    return found


def rational(draw: random.Random, size: int) -> Fraction:
    return Fraction(draw.randint(-size, size), draw.randint(1, size))


def form(draw: random.Random, size: int) -> LinearForm:
    some = draw.sample(range(WIDTH), draw.randint(1, WIDTH))
    return tuple((coordinate, rational(draw, size)) for coordinate in sorted(some))


def head(draw: random.Random, size: int) -> Head:
    parts = draw.randint(1, 3)
    targets = tuple(draw.randrange(WIDTH) for _ in range(parts))
    return Head(
        Select(False, ((None, ()),)),
        draw.choice(list(Masking)),
        HardWeighting.LEFTMOST,
        tuple(form(draw, size) for _ in range(2)),
        tuple(form(draw, size) for _ in range(2)),
        tuple(form(draw, size) for _ in range(parts)),
        targets,
    )


def hidden(draw: random.Random, size: int) -> Hidden:
    outputs = tuple((draw.randrange(WIDTH), rational(draw, size)) for _ in range(2))
    return Hidden(form(draw, size), rational(draw, size), outputs)


def arbitrary(seed: int, size: int) -> Network:
    """A network of random fractions up to the size; coordinates read each other in a circle."""
    draw = random.Random(seed)
    return Network(
        Alphabet(("a", "b")),
        tuple("wxyz"),
        tuple(form(draw, size) for _ in range(2)),
        ((1, I), (2, Number(rational(draw, size)))),
        tuple(
            Layer(
                tuple(head(draw, size) for _ in range(draw.randint(0, 2))),
                tuple(hidden(draw, size) for _ in range(3)),
                (),
            )
            for _ in range(3)
        ),
        4,
        0,
        False,
        False,
    )


def assert_exact(network: Network, word: tuple[int, ...]) -> None:
    """All vectors are those of the definition, and all scores in its order."""
    model = NetworkModel(network, len(word), "")
    streams = residual_streams(network, tuple("ab"[s] for s in word), HardWeighting.LEFTMOST)
    found = activations(model, np.array(word))
    for layer, (stream, rows) in enumerate(zip(streams, found, strict=True)):
        vectors = model._streams[layer]
        scales = vectors.scales
        shown = [
            [Fraction(int(value), scale) for value, scale in zip(row, scales, strict=True)]
            for row in vectors.rows(rows[:, 1])
        ]
        assert shown == stream
    for layer, heads in enumerate(network.layers):
        for number, one in enumerate(heads.heads):
            scores = scored(model, layer, number, found[layer], found[layer])
            assert_ordered(one, streams[layer], scores)
    wanted = [vector[network.output] == 1 for vector in streams[-1]]
    assert model.labels(found[-1]).tolist() == wanted


def assert_ordered(one: Head, stream: list[list[Fraction]], scores: np.ndarray) -> None:  # type: ignore[type-arg]
    """Each row of scores is in the order of the exact ones, with what is masked below them."""
    for i, row in enumerate(scores.tolist(), start=1):
        query = [value_of(part, stream[i - 1]) for part in one.query]
        seen = one.masking.visible(i, len(stream))
        exact = {
            j: sum(q * value_of(part, stream[j - 1]) for q, part in zip(query, one.key, strict=True))
            for j in seen
        }
        order = sorted(set(exact.values()))
        kept = sorted({row[j - 1] for j in seen})
        assert [kept.index(row[j - 1]) for j in seen] == [order.index(exact[j]) for j in seen]
        hidden_ones = [row[j - 1] for j in range(1, len(stream) + 1) if j not in seen]
        assert not kept or all(value < kept[0] for value in hidden_ones)
    assert len(attention(one, stream)) == len(scores)


@pytest.mark.parametrize("formula", FORMULAS)
def test_rows_of_a_compiled_network_are_its_exact_vectors(formula: str) -> None:
    draw = random.Random(formula)
    for network in compiled(formula):
        for length in (1, 2, 7, 20):
            assert_exact(network, tuple(draw.randrange(2) for _ in range(length)))


@pytest.mark.sweep(11)
@pytest.mark.parametrize("size", [3, 1000, 10**9, 10**40])
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_exact_in_every_kind_of_integers(seed: int, size: int) -> None:
    """Small fractions in 32 or 64 bits, large ones in Python's integers."""
    assert_exact(arbitrary(seed, size), (0, 1, 1, 0, 1, 0))


def test_large_fractions_take_pythons_integers_and_small_ones_do_not() -> None:
    def kinds(network: Network) -> set[str]:
        model = NetworkModel(network, 6, "")
        rows = activations(model, np.array([0, 1, 1, 0, 1, 0]))[0]
        return {model._streams[0].rows(rows[:, 1]).dtype.name}

    assert kinds(arbitrary(0, 3)) == {"int64"}
    assert kinds(arbitrary(0, 10**40)) == {"object"}


def test_no_fraction_is_computed_with_once_the_length_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    (network, *_) = compiled("O (b & Y a) & H (a -> Y b)")
    asked: list[int] = []
    evaluate = networks.evaluate

    def counted(closed: object, position: int, length: int) -> Fraction:
        asked.append(position)
        return evaluate(closed, position, length)  # type: ignore[arg-type]

    monkeypatch.setattr(networks, "evaluate", counted)
    model = NetworkModel(network, 40, "")
    assert len(asked) == 40 * len(network.positions), "once for each position, whatever the symbol"

    def refused(*_: object) -> Fraction:
        raise AssertionError("a fraction is computed with")

    for name in ("__add__", "__radd__", "__mul__", "__rmul__", "__hash__"):
        monkeypatch.setattr(Fraction, name, refused)
    word = np.array([k % 2 for k in range(40)])
    rows = activations(model, word)[-1]
    assert model.labels(rows).shape == (40,)
    assert len(asked) == 40 * len(network.positions)


def test_only_the_vectors_that_are_asked_for_are_made() -> None:
    """A large alphabet at a large length costs nothing before its words are looked at."""
    letters = tuple(f"s{k}" for k in range(300))
    network = attemper.compile("O (s1 & Y s0)", letters, at="last").network
    model = NetworkModel(network, 500, "")
    activations(model, np.zeros(500, dtype=np.int64))
    first = model._streams[0]
    assert len(first.rows(np.arange(500))) == 500
    with pytest.raises(IndexError):
        first.rows(np.array([500]))
