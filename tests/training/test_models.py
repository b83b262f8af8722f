"""The models that are trained: against their formulas, and what they may not see."""

from __future__ import annotations

from itertools import product
from math import cos, log, sin, sqrt
from typing import Any

import pytest
import torch
from torch import Tensor

from attemper.errors import OptionError
from attemper.training.models import LastSymbols, ParityRnn, model_of, parameter_count
from attemper.training.settings import ModelSettings
from attemper.training.transformer import Transformer, sinusoids
from tests.support.drawn.training import PARITY, tiny

NORMS, TEMPERATURES, POSITIONS = ("post", "pre", "none"), ("none", "log-n"), ("none", "sinusoidal", "learned")

KINDS: list[dict[str, object]] = [
    *(
        {"kind": "transformer", "norm": norm, "temperature": temperature, "positions": positions}
        for norm, temperature, positions in product(NORMS, TEMPERATURES, POSITIONS)
    ),
    {"kind": "lstm"},
    {"kind": "convolution", "window": 2},
    {"kind": "convolution", "window": 4},
    {"kind": "table", "window": 3},
]


def transformer(seed: int = 0, **entries: Any) -> Transformer:
    torch.manual_seed(seed)
    settings = ModelSettings(**{"width": 8, "hidden": 12, "layers": 2, "longest": 16, **entries})
    return Transformer(settings, 3, 3).double()


def words(count: int, length: int, tokens: int = 3) -> Tensor:
    return torch.randint(tokens, (count, length), generator=torch.Generator().manual_seed(length))


@pytest.mark.parametrize(
    ("entries", "task", "count"),
    [
        ({"kind": "transformer"}, PARITY, 17_283),
        ({"kind": "lstm"}, PARITY, 8_643),
        ({"kind": "parity-rnn"}, PARITY, 0),
        ({"kind": "table", "window": 2}, PARITY, 16 * 3),
        ({"kind": "convolution", "window": 2}, PARITY, 3 * 32 + (2 * 32 + 1) * 32 + 33 * 3),
        ({"kind": "transformer", "positions": "learned"}, PARITY, 17_283 + 512 * 32),
    ],
)
def test_how_many_numbers_are_trained(
    entries: dict[str, object], task: dict[str, object], count: int
) -> None:
    full = {"width": 32, "layers": 2, "hidden": 64, **entries}
    steps = {"steps": 0} if entries["kind"] == "parity-rnn" else {}
    assert parameter_count(model_of(tiny(task=task, model=full, training=steps), 3, 3)) == count


@pytest.mark.parametrize("entries", KINDS, ids=str)
@pytest.mark.parametrize("training", [True, False])
def test_later_tokens_change_nothing(entries: dict[str, object], *, training: bool) -> None:
    model = model_of(tiny(model=entries), 3, 3).double().train(training)
    tokens = words(4, 7)
    with torch.no_grad():
        whole = model(tokens)
        for length in range(1, 8):
            other = tokens.clone()
            other[:, length:] = (other[:, length:] + 1) % 3
            assert torch.allclose(model(other)[:, :length], whole[:, :length], rtol=0, atol=1e-12)
            assert torch.allclose(model(tokens[:, :length]), whole[:, :length], rtol=0, atol=1e-12)


@pytest.mark.parametrize("entries", KINDS, ids=str)
def test_a_model_says_the_same_when_nothing_is_trained(entries: dict[str, object]) -> None:
    model, tokens = model_of(tiny(model=entries), 3, 3).double(), words(3, 6)
    trained = model.train()(tokens).detach()
    with torch.no_grad():
        assert torch.allclose(model.eval()(tokens), trained, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("norm", "temperature"), list(product(NORMS, TEMPERATURES)))
def test_padding_changes_nothing(norm: str, temperature: str) -> None:
    for causal in (True, False):
        model = transformer(norm=norm, temperature=temperature, causal=causal)
        tokens = words(3, 5)
        padded = torch.cat([tokens, torch.full((3, 3), 2)], dim=1)
        mask = (torch.arange(8) < 5).expand(3, 8)
        for at_work in (model.train(), model.eval()):
            with torch.no_grad():
                expected = at_work(tokens)
                assert torch.allclose(at_work(padded, mask)[:, :5], expected, rtol=0, atol=1e-12)
                full = torch.ones(3, 5, dtype=torch.bool)
                assert torch.allclose(at_work(tokens, full), expected, rtol=0, atol=1e-12)


def test_words_of_several_lengths_are_what_each_is_alone() -> None:
    model = transformer(causal=False, temperature="log-n").eval()
    tokens, ends = words(4, 6), torch.tensor([1, 6, 3, 4])
    with torch.no_grad():
        together = model(tokens, torch.arange(6) < ends[:, None])
        for row, end in enumerate(ends.tolist()):
            alone = model(tokens[row : row + 1, :end])[0]
            assert torch.allclose(together[row, :end], alone, rtol=0, atol=1e-12)


def test_order_matters_with_positions_only() -> None:
    tokens = torch.tensor([[0, 1, 1, 0, 2]])
    swapped = torch.tensor([[1, 0, 0, 1, 2]])
    for positions in POSITIONS:
        model = transformer(causal=False, positions=positions).eval()
        with torch.no_grad():
            same = torch.allclose(model(tokens)[:, -1], model(swapped)[:, -1], rtol=0, atol=1e-12)
        assert same is (positions == "none")


def by_hand(model: Transformer, tokens: list[int], *, causal: bool, log_n: bool) -> Tensor:
    """Post-norm layers with every softmax written out, query by query."""
    rows = [model.embedding.weight[token] for token in tokens]
    for layer in model.encoder.layers:
        weight, bias = layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias
        width, heads = model.settings.width, model.settings.heads
        size, mixed = width // heads, [weight @ row + bias for row in rows]
        new = []
        for i, row in enumerate(rows):
            seen = range(i + 1) if causal else range(len(rows))
            found = []
            for head in range(heads):
                part = slice(head * size, (head + 1) * size)
                q = mixed[i][:width][part]
                scores = [float(q @ mixed[j][width : 2 * width][part]) / sqrt(size) for j in seen]
                scaled = torch.tensor([score * (log(len(seen)) if log_n else 1) for score in scores])
                powers = torch.exp(scaled.double())
                shares = powers / powers.sum()
                found.append(
                    sum(share * mixed[j][2 * width :][part] for share, j in zip(shares, seen, strict=True))
                )
            row = layer.norm1(row + layer.self_attn.out_proj(torch.cat(found)))
            new.append(layer.norm2(row + layer.linear2(layer.linear1(row).clamp(min=0))))
        rows = new
    return torch.stack([model.readout(row) for row in rows])


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("temperature", TEMPERATURES)
@torch.no_grad()
def test_attention_is_the_softmax_of_its_formula(*, temperature: str, causal: bool) -> None:
    model = transformer(temperature=temperature, causal=causal)
    for training, word in product((True, False), ([2], [2, 0], [2, 0, 1, 1, 0, 1])):
        expected = by_hand(model, word, causal=causal, log_n=temperature == "log-n")
        found = model.train(training)(torch.tensor([word]))[0]
        # The scores of the reference pass through float32, once.
        assert torch.allclose(found, expected, rtol=0, atol=1e-6)


def test_sinusoids_are_those_of_the_formula() -> None:
    for width in (1, 2, 5, 8):
        table = sinusoids(40, width)
        assert table.shape == (40, width)
        for i, c in product(range(40), range(width)):
            angle = i / 10000 ** ((c - c % 2) / width)
            assert abs(float(table[i, c]) - (cos(angle) if c % 2 else sin(angle))) < 1e-12


def test_more_positions_than_were_learned_are_refused() -> None:
    model = transformer(positions="learned")
    assert model(words(1, 16)).shape == (1, 16, 3)
    with pytest.raises(OptionError, match=r"17 positions.*learned 16.*model\.longest"):
        model(words(1, 17))


@pytest.mark.parametrize("window", [1, 2, 3])
def test_a_table_reads_the_last_symbols_exactly(window: int) -> None:
    torch.manual_seed(0)
    model = LastSymbols(ModelSettings(kind="table", window=window), 2, 2)
    assert not model.table.weight.any()  # nothing is known before the first step
    torch.nn.init.normal_(model.table.weight)
    said: dict[tuple[int, ...], list[float]] = {}
    for n in range(1, 6):
        for word in product(range(2), repeat=n):
            (found,) = model(torch.tensor([word]))[:, -1].tolist()
            # What is before the word is a symbol of its own.
            seen = ((-1,) * window + word)[-window:]
            assert said.setdefault(seen, found) == found
    assert len({tuple(one) for one in said.values()}) == len(said)


@pytest.mark.parametrize("odd", [False, True])
def test_the_rnn_counts_ones_modulo_two(*, odd: bool) -> None:
    rnn = ParityRnn(0.3, odd=odd)
    for n in range(1, 9):
        tokens = torch.tensor([[2, *word] for word in product(range(2), repeat=n)])
        assert torch.equal(rnn.parity(tokens), (tokens == 1).cumsum(dim=1).double() % 2)


def test_layers_have_first_weights_of_their_own_from_the_seed_alone() -> None:
    settings = tiny(model={"layers": 2})
    torch.manual_seed(5)
    before = torch.get_rng_state()
    model = model_of(settings, 3, 3)
    assert torch.equal(torch.get_rng_state(), before)
    assert isinstance(model, Transformer)
    first, second = (layer.linear1.weight for layer in model.encoder.layers)
    assert not torch.equal(first, second)
    torch.manual_seed(6)
    again = model_of(settings, 3, 3)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))


@pytest.mark.parametrize("kind", ["convolution", "table"])
def test_a_window_with_too_many_contents_is_refused(kind: str) -> None:
    with pytest.raises(OptionError, match=r"model\.window = 40"):
        model_of(tiny(model={"kind": kind, "window": 40}), 3, 3)
