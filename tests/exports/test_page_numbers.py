"""The page's interpreter, in node, computes what `DenseTransformer` does in float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import pytest
import torch

from attemper.exports.page.contents import page_contents
from attemper.languages.words import Word
from attemper.networks.layers import Network, Softmax
from attemper.running.batches import tokens_of
from attemper.running.dense import DenseTransformer
from attemper.running.traceable.labels import LABELS, labels_of
from tests.exports.runs_page import Interpreter, needs_node, run_page
from tests.support.drawn.exported import difference, subjects, words_for
from tests.support.slowly import every_nth

pytestmark = needs_node

U = Fraction(1, 2**53)
SUBJECTS = dict(subjects())
NUMBERS = {"histogram", "bigrams", "all masks"}
"""What puts out numbers: no clamp makes them the same bit for bit."""

SAMPLE = ("majority", "until", "strict", "dyck-1", "parity", "layer norm", "rms norm", "all masks", "k-th b")


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Interpreter]:
    interpreter = Interpreter(tmp_path)
    yield interpreter
    interpreter.stop()


@dataclass(frozen=True)
class Sizes:
    """The greatest length, size of a score, and size of what a clamp adds up, on some words."""

    length: int
    score: float
    clamped: float

    def room_of_means(self, largest: float, width: int) -> float:
        """How far two means of n values, none larger than `largest`, can be apart when they are computed.

        A weight is off by 8 u and by 4 u times its score, a sum of n products by 2 n u: twice, above and
        below the fraction line, for each of the two means. Norms add up `width` numbers.
        """
        return float(4 * (2 * self.length + width + 8 + 4 * Fraction(self.score)) * U * Fraction(largest))


def sizes_of(network: Network, words: list[Word]) -> Sizes:
    """The sizes on the longest of the words, measured by the dense module."""
    dense, length = DenseTransformer(network), max(map(len, words))
    longest = [word for word in words if len(word) == length]
    with torch.no_grad():
        _, cache = dense.run_with_cache(*tokens_of(network.alphabet, longest))
    scores = [cache[f"blocks.{number}.attn.hook_attn_scores"] for number in range(len(network.layers))]
    finite = [own[own.isfinite()].abs().max().item() for own in scores if own.isfinite().any()]
    clamped = 0.0
    for number, layer in enumerate(network.layers):
        normed = f"blocks.{number}.ln2.hook_normalized"
        read = cache.get(normed, cache[f"blocks.{number}.hook_resid_mid"]).abs().amax(dim=(0, 1))
        sums = read @ dense.blocks[number].mlp.W_in.abs() + dense.blocks[number].mlp.b_in.abs()
        clamped = max([clamped, *(sums[unit].item() for clamp in layer.clamps for unit in clamp)])
    return Sizes(length, max(finite, default=0.0), clamped)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("name", every_nth(SUBJECTS, 3))
def test_outputs_and_verdicts_are_those_of_the_dense_module(name: str, tmp_path: Path) -> None:
    """Bits, and symbols' bits, are the same exactly; numbers, and margins, but for the roundings of sums."""
    network = SUBJECTS[name].network
    words = words_for(network, 6, (7, 64, 299, 300))
    with torch.no_grad():
        found = difference(network, run_page(SUBJECTS[name], tmp_path), torch.float64, words)
    sizes, width = sizes_of(network, words), len(network.coordinates)
    assert found.labels == 0
    assert found.outputs <= (sizes.room_of_means(3, width) if name in NUMBERS else 0)
    assert found.margins <= sizes.room_of_means(sizes.clamped, width)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", SAMPLE)
def test_the_stream_and_the_attention_are_those_of_the_dense_module(name: str, node: Interpreter) -> None:
    network = SUBJECTS[name].network
    node.show(page_contents(SUBJECTS[name]))
    dense, symbols = DenseTransformer(network), network.alphabet.symbols
    for word in ((symbols[0],), tuple(symbols[k % 2] for k in (0, 1, 1, 0, 1)), symbols[:2] * 10):
        ran = node.run(word, weights=True, stream=True)
        with torch.no_grad():
            _, cache = dense.run_with_cache(*tokens_of(network.alphabet, [word]))
        sizes, width = sizes_of(network, [word]), len(network.coordinates)
        embedded = (cache["hook_embed"] + cache["hook_pos_embed"])[0]
        assert ran["stream"][0] == embedded.tolist()
        for number in range(len(network.layers)):
            room = sizes.room_of_means(cache[f"blocks.{number}.hook_resid_post"].abs().max().item(), width)
            for step, point in ((2 * number + 1, "hook_resid_mid"), (2 * number + 2, "hook_resid_post")):
                ours = torch.tensor(ran["stream"][step], dtype=torch.float64)
                assert (ours - cache[f"blocks.{number}.{point}"][0]).abs().max() <= room
            pattern = cache[f"blocks.{number}.attn.hook_pattern"][0]
            if len(pattern):
                ours = torch.tensor(ran["weights"][number], dtype=torch.float64)
                assert (ours - pattern).abs().max() <= sizes.room_of_means(1, width)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", SAMPLE)
def test_a_head_that_is_off_adds_nothing(name: str, node: Interpreter) -> None:
    """As with rows of W_O that are 0: one head after the other, and all of them."""
    network = SUBJECTS[name].network
    node.show(page_contents(SUBJECTS[name]))
    heads = [
        (number, head) for number, layer in enumerate(network.layers) for head in range(len(layer.heads))
    ]
    symbols = network.alphabet.symbols
    word = tuple(symbols[k % 2] for k in (0, 1, 1, 0, 1, 1))
    for off in (*([head] for head in heads), heads):
        dense = DenseTransformer(network)
        for number, head in off:
            dense.blocks[number].attn.W_O[head] = 0
        with torch.no_grad():
            outputs, margin = dense.run_with_margin(*tokens_of(network.alphabet, [word]))
        ran = node.run(word, [f"{number}.{head}" for number, head in off])
        sizes, width = sizes_of(network, [word]), len(network.coordinates)
        ours = torch.tensor(ran["outputs"], dtype=torch.float64).T.reshape(outputs[0].shape)
        assert (ours - outputs[0]).abs().max() <= sizes.room_of_means(max(sizes.clamped, 3), width)
        if margin.isfinite():
            assert abs(ran["margin"] - margin.item()) <= sizes.room_of_means(sizes.clamped, width)
        if network.measure is None and not network.symbols:
            place = 0 if network.reads_first else -1
            assert ran["verdict"] == LABELS[labels_of(outputs[:, place], margin)]


def test_some_head_matters_in_every_network_that_has_one(node: Interpreter) -> None:
    for name in SAMPLE:
        network = SUBJECTS[name].network
        node.show(page_contents(SUBJECTS[name]))
        every = [
            f"{number}.{h}" for number, layer in enumerate(network.layers) for h in range(len(layer.heads))
        ]
        words = [
            tuple(network.alphabet.symbols[k % 2] for k in (*pattern, 1)) for pattern in ((0, 1), (1, 1, 0))
        ]
        runs = [(node.run(word), node.run(word, every)) for word in words]
        assert any(on["outputs"] != off["outputs"] for on, off in runs), name


def test_the_subjects_have_what_they_are_for() -> None:
    networks = [SUBJECTS[name].network for name in SAMPLE]
    heads = [head for network in networks for layer in network.layers for head in layer.heads]
    assert any(isinstance(head.weighting, Softmax) and not head.query for head in heads)
    assert any(network.normalisation is not None for network in networks)
