"""Networks as modules of TransformerLens: the same numbers, its hooks, its cache."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import fields
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

import attemper
from attemper import LayerNorm, Model
from attemper.errors import MalformedFileError, OptionError, WordError
from attemper.exports.transformer_lens import load
from attemper.networks.layers import Masking, Network
from attemper.running.config import Config
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import ON_PARTS
from attemper.running.hooks import HookPoint
from tests.support.drawn.plain_heads import plain_head
from tests.support.drawn.scan_networks import FAMILIES, drawn_head, network_of
from tests.support.drawn.typed_networks import two_into_one, uniform_only

pytestmark = pytest.mark.exports

MODELS: dict[str, Callable[[], Model]] = {
    "majority": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "dyck-1": lambda: attemper.compile("zoo:dyck-1", regime="unbounded"),
    "until": lambda: attemper.compile("'a' U 'b'", "ab", at="first", regime="temperature"),
    "decoder": lambda: attemper.compile("H ('a' -> Y 'b')", "ab", regime="decoder"),
    "strict": lambda: attemper.compile(attemper.regex("(0|11)*", "01")),
    "layer norm": lambda: attemper.compile("O (a & Y b)", "ab", layer_norm=LayerNorm()),
    "rms norm": lambda: attemper.compile("O (a & Y b)", "ab", layer_norm=LayerNorm(is_centred=False)),
    "symbols": lambda: attemper.compile("zoo:copy-previous-symbol"),
    "numbers": lambda: attemper.compile("zoo:trigram-lm"),
    "parity": lambda: attemper.compile("zoo:parity-even"),
    "several characters": lambda: attemper.compile("zoo:flip-flop"),
}


def lens_of(network: Network, dtype: torch.dtype = torch.float64) -> Any:
    from attemper.exports.transformer_lens.hooked_module import LensTransformer

    return LensTransformer(network, dtype)


def texts_of(model: Model, draw: random.Random) -> list[str]:
    symbols = model.alphabet.symbols
    words = [word for n in range(1, 4) for word in product(symbols[:3], repeat=n)]
    words += [tuple(draw.choices(symbols, k=n)) for n in (9, 40, 41)]
    return [" ".join(word) for word in words]


def compare(network: Network, dtype: torch.dtype, tokens: Tensor, lengths: Tensor) -> None:
    """Outputs, margins and every activation are equal, bit for bit."""
    own, lens = DenseTransformer(network, dtype, engine="matrix"), lens_of(network, dtype)
    expected, activations = own.run_with_cache(tokens, lengths)
    output, cache = lens.run_with_cache(tokens, lengths)
    assert torch.equal(output, expected)
    assert torch.equal(lens(tokens, lengths), expected)
    margins, own_margins = (module.run_with_margin(tokens, lengths)[1] for module in (lens, own))
    assert torch.equal(margins, own_margins)
    copies = {name for name in lens.hook_dict if name.rpartition(".")[2] in ON_PARTS}
    assert len(copies) == len(ON_PARTS) * len(network.layers)
    assert set(cache.keys()) == set(activations) == set(lens.hook_dict) - copies
    for name, activation in activations.items():
        assert torch.equal(cache[name], activation), name


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", MODELS)
def test_everything_is_equal_to_our_own_module(name: str, dtype: torch.dtype) -> None:
    model = MODELS[name]()
    texts = texts_of(model, random.Random(name))
    tokens, lengths = model.to_tokens([tuple(text.split()) for text in texts])
    compare(model.network, dtype, tokens, lengths)
    lens = lens_of(model.network, dtype)
    expected = DenseTransformer(model.network, dtype, engine="matrix")(tokens, lengths)
    assert torch.equal(lens(texts), expected)
    padded = lens.to_tokens(texts)
    assert torch.equal(lens(padded), expected)
    assert torch.equal(lens(padded, lengths), expected)
    assert lens.to_str_tokens(padded) == [text.split() for text in texts]


@pytest.mark.parametrize("masking", Masking)
@pytest.mark.parametrize("seed", range(6))
def test_drawn_heads_of_every_mask_and_temperature(seed: int, masking: Masking) -> None:
    draw = random.Random(seed)
    head = drawn_head(draw, draw.choice(list(FAMILIES)))
    networks = [
        plain_head(draw),
        network_of(type(head)(head.query, head.key, head.values, masking, head.cold)),
    ]
    for network in networks:
        size = len(network.alphabet.symbols)
        tokens = torch.tensor([[draw.randrange(size) for _ in range(12)] for _ in range(5)])
        lengths = torch.tensor([draw.randint(1, 12) for _ in range(5)])
        compare(network, torch.float64, tokens, lengths)


@pytest.mark.parametrize("make", [two_into_one, uniform_only])
def test_hard_attention_runs_as_well(make: Callable[[], Network]) -> None:
    tokens = torch.tensor(list(product((0, 1), repeat=5)))
    compare(make(), torch.float64, tokens, torch.full((32,), 5))


# Hooks -----------------------------------------------------------------------------------------------------


def hook_by_name(name: str) -> list[tuple[str, Callable[..., Tensor]]]:
    return [(name, lambda activation, hook: torch.zeros_like(activation))]


@pytest.mark.parametrize(
    "name",
    ["blocks.0.attn.hook_attn_scores", "blocks.0.attn.hook_pattern", "blocks.0.attn.hook_z", "hook_embed"],
)
def test_hooks_change_what_they_see(name: str) -> None:
    """As a hook of ours does; scores are edited, too."""
    model = MODELS["dyck-1"]()
    lens, own = lens_of(model.network), model.dense(engine="matrix")
    tokens, lengths = model.to_tokens(["(())()", "())("])
    changed = lens.run_with_hooks(tokens, lengths, fwd_hooks=hook_by_name(name))
    assert torch.equal(changed, own.run_with_hooks(tokens, lengths, on={name: torch.zeros_like}))
    assert not torch.equal(changed, lens(tokens, lengths))
    assert torch.equal(lens(tokens, lengths), own(tokens, lengths))


def test_hooks_stay_until_they_are_reset() -> None:
    lens = lens_of(MODELS["majority"]().network)
    before = lens("0110")
    lens.add_hook(*hook_by_name("blocks.0.attn.hook_z")[0])
    assert not torch.equal(lens("0110"), before)
    lens.reset_hooks()
    assert torch.equal(lens("0110"), before)
    with lens.hooks(fwd_hooks=hook_by_name("blocks.1.hook_mlp_out")):
        assert not torch.equal(lens("0110"), before)
    assert torch.equal(lens("0110"), before)


def test_gradients_reach_a_hook() -> None:
    lens, seen = lens_of(MODELS["majority"]().network), []
    lens.embed.W_E.requires_grad_(True)
    name = "blocks.0.attn.hook_attn_scores"
    with lens.hooks(bwd_hooks=[(name, lambda grad, hook: seen.append(grad.shape))], reset_hooks_end=True):
        lens("0110").sum().backward()
    assert seen == [(1, 1, 4, 4)]
    assert lens.embed.W_E.grad is not None


def test_points_are_of_both_kinds() -> None:
    from transformer_lens.hook_points import HookPoint as TheirPoint

    lens = lens_of(MODELS["layer norm"]().network)
    assert all(isinstance(point, TheirPoint) and isinstance(point, HookPoint) for point in lens.hook_points())
    assert "blocks.0.ln1.hook_normalized" in lens.hook_dict
    assert [point.name for point in lens.hook_points()] == list(lens.hook_dict)


# The cache -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in MODELS if name not in {"layer norm", "rms norm"}])
def test_parts_add_up_to_the_stream(name: str) -> None:
    """Up to 1e-9: numbers of up to a million are added in another order."""
    model = MODELS[name]()
    lens, last = lens_of(model.network), len(model.network.layers) - 1
    texts = texts_of(model, random.Random(name))[-2:-1]
    _, cache = lens.run_with_cache(texts)
    stream = cache[f"blocks.{last}.hook_resid_post"]
    for options in ({"expand_neurons": True}, {"expand_neurons": False}):
        stack, labels = cache.get_full_resid_decomposition(apply_ln=False, return_labels=True, **options)
        assert len(labels) == len(stack)
        assert float((stack.sum(dim=0) - stream).abs().max()) <= 1e-9
    layers = model.network.layers
    heads = [f"L{n}H{h}" for n, layer in enumerate(layers) for h in range(len(layer.heads))]
    units = [f"L{n}N{u}" for n, layer in enumerate(layers) for u in range(len(layer.hidden))]
    _, labels = cache.get_full_resid_decomposition(apply_ln=False, return_labels=True)
    assert labels == [*heads, *units, "embed", "pos_embed", "bias"]
    stack, labels = cache.decompose_resid(apply_ln=False, return_labels=True)
    assert len(labels) == len(stack) == 2 + 2 * len(layers)
    assert float((stack.sum(dim=0) - stream).abs().max()) <= 1e-9
    stack, labels = cache.stack_head_results(-1, return_labels=True, incl_remainder=True)
    assert labels == [*heads, "remainder"]
    assert float((stack.sum(dim=0) - stream).abs().max()) <= 1e-9
    stack, labels = cache.stack_neuron_results(-1, return_labels=True, neuron_slice=(0, 1))
    assert labels == [f"L{n}N0" for n, layer in enumerate(layers) if layer.hidden]
    assert len(stack) == len(labels)
    streams, labels = cache.accumulated_resid(apply_ln=False, incl_mid=True, return_labels=True)
    assert torch.equal(streams[-1], stream)
    assert labels[-1] == "final_post"


def test_the_cache_has_shorthands_and_one_word_without_a_batch() -> None:
    model = MODELS["dyck-1"]()
    lens = lens_of(model.network)
    _, cache = lens.run_with_cache("(())", remove_batch_dim=True)
    assert cache["pattern", 0].shape == (len(model.network.layers[0].heads), 4, 4)
    assert torch.equal(cache["resid_post", -1], cache["blocks.2.hook_resid_post"])
    _, plain = lens.run_with_cache("(())", return_cache_object=False, names_filter="hook_embed")
    assert list(plain) == ["hook_embed"]


# Words, folders, sizes -------------------------------------------------------------------------------------


def refusals(lens: Any) -> Sequence[tuple[Callable[[], object], type[Exception], str]]:
    return (
        (lambda: lens("012"), WordError, "symbol '2' at position 3"),
        (lambda: lens(""), WordError, "none of them empty"),
        (lambda: lens([]), WordError, "needs words"),
        (lambda: lens(["01", ""]), WordError, "none of them empty"),
        (lambda: lens(torch.tensor([[0, 2, 1]])), WordError, "padding stands on the right"),
        (lambda: lens(torch.tensor([[2, 2]])), WordError, "length 0"),
        (lambda: lens(torch.tensor([[0, 3]])), WordError, "token 3"),
        (lambda: lens(torch.tensor([[0, 2]]), torch.tensor([2])), WordError, "token 2"),
        (lambda: lens(torch.tensor([[0, 1]]), torch.tensor([3])), WordError, "length 3"),
        (lambda: lens(torch.tensor([[0, 1]]), torch.tensor([1, 1])), WordError, "2 lengths for 1 words"),
        (lambda: lens(torch.tensor([[0, 1]]), [1]), WordError, "lengths must be a tensor"),
        (lambda: lens(torch.tensor([0, 1])), WordError, r"must be \[batch, position\]"),
        (lambda: lens(torch.tensor([[0.0, 1.0]])), WordError, "must be integers"),
        (lambda: lens.to_tokens("01", prepend_bos=True), OptionError, "no beginning-of-sequence"),
        (lambda: lens.to_str_tokens(torch.tensor([0, 5])), WordError, "token 5 does not exist"),
    )


def test_what_is_no_word_is_refused() -> None:
    lens = lens_of(MODELS["majority"]().network)
    for call, error, message in refusals(lens):
        with pytest.raises(error, match=message):
            call()


def test_tokens_and_texts() -> None:
    lens, blanks = lens_of(MODELS["majority"]().network), lens_of(MODELS["several characters"]().network)
    assert lens.to_tokens("0110").tolist() == [[0, 1, 1, 0]]
    assert lens.to_tokens(["01", "011"]).tolist() == [[0, 1, 2], [0, 1, 1]]
    assert lens.to_str_tokens("0110") == ["0", "1", "1", "0"]
    assert lens.to_str_tokens(["0", "11"]) == [["0"], ["1", "1"]]
    assert lens.to_str_tokens(torch.tensor([0, 1, 2])) == ["0", "1"]
    assert lens.to_string(lens.to_tokens(["01", "011"])) == ["01", "011"]
    assert blanks.to_string(blanks.to_tokens("w0 i r0")[0]) == "w0 i r0"
    assert lens.to_single_token("1") == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_exported_folder_is_loaded_in_its_format(dtype: str, tmp_path: Path) -> None:
    model = MODELS["majority"]()
    model.export("transformer-lens", tmp_path / "out", dtype=dtype)
    lens = load(tmp_path / "out")
    assert lens.cfg.dtype == getattr(torch, dtype)
    assert lens.cfg.model_name == model.title
    assert load(tmp_path / "out", "float64").cfg.dtype == torch.float64
    words = ["0110", "11111"]
    assert torch.equal(lens(words), model.dense(dtype=dtype, engine="matrix")(*model.to_tokens(words)))
    with pytest.raises(OptionError, match="bfloat16"):
        load(tmp_path / "out", "bfloat16")
    with pytest.raises(MalformedFileError):
        load(tmp_path / "nowhere")


def test_cfg_has_all_our_sizes() -> None:
    model = MODELS["dyck-1"]()
    lens = lens_of(model.network)
    for field in fields(Config):
        assert getattr(lens.cfg, field.name) == getattr(model.cfg, field.name)
    assert (lens.cfg.n_ctx, lens.cfg.default_prepend_bos) == (None, False)


def test_parameters_are_those_of_the_file_and_move_together() -> None:
    model = MODELS["majority"]()
    lens = lens_of(model.network)
    assert list(lens.state_dict()) == list(model.dense().state_dict())
    halved = lens.to(torch.float32)
    assert halved.dense.dtype == torch.float32
    assert torch.equal(
        halved("0110"), model.dense(dtype="float32", engine="matrix")(*model.to_tokens(["0110"]))
    )
