"""TransformerLens' own tools of patching run on what is exported."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper import Model
from attemper.errors import OptionError, WordError
from attemper.exports.transformer_lens import load
from attemper.exports.transformer_lens.writing import settings_in

pytestmark = pytest.mark.exports


@cache
def hop() -> Model:
    return attemper.compile("zoo:k-hop-2")


def exported(folder: Path, *, uniform_heads: bool) -> Any:
    hop().export("transformer-lens", folder, uniform_heads=uniform_heads)
    assert settings_in(folder) == ("float64", uniform_heads)
    return load(folder)


def test_layers_have_as_many_heads_and_all_functions_of_patching_run(tmp_path: Path) -> None:
    from transformer_lens import patching

    assert len({len(layer.heads) for layer in hop().network.layers}) > 1
    lens = exported(tmp_path / "out", uniform_heads=True)
    symbols = hop().alphabet.symbols
    clean, corrupted = ([symbols[k % len(symbols)] for k in range(n, n + 6)] for n in (0, 1))
    tokens = lens.to_tokens([corrupted])
    _, cache_of_clean = lens.run_with_cache([clean])

    def metric(output: torch.Tensor) -> torch.Tensor:
        return output[0, -1].sum()

    functions = [
        getattr(patching, name)
        for name in dir(patching)
        # A direct path asks for a copy of the stream before each head, which a bridge has alone.
        if name.startswith("get_act_patch_") and "direct_path" not in name
    ]
    assert len(functions) >= 10
    for function in functions:
        found = function(lens, tokens, cache_of_clean, metric)
        assert bool(torch.isfinite(found).all())
    heads = patching.get_act_patch_attn_head_out_all_pos(lens, tokens, cache_of_clean, metric)
    assert heads.shape == (lens.cfg.n_layers, lens.cfg.n_heads)
    for number, layer in enumerate(hop().network.layers):
        assert bool((heads[number, len(layer.heads) :] == metric(lens(tokens))).all())


def test_added_heads_change_no_number(tmp_path: Path) -> None:
    plain = exported(tmp_path / "plain", uniform_heads=False)
    uniform = exported(tmp_path / "uniform", uniform_heads=True)
    words = [hop().alphabet.symbols * n for n in (1, 2, 3)]
    assert torch.allclose(uniform(words), plain(words), rtol=0, atol=1e-12)
    assert {block.attn.W_O.shape[0] for block in uniform.blocks} == {uniform.cfg.n_heads}
    assert {block.attn.W_O.shape[0] for block in plain.blocks} != {uniform.cfg.n_heads}


def test_words_are_texts_or_lists_of_symbols(tmp_path: Path) -> None:
    attemper.compile("O a", "ab").export("transformer-lens", tmp_path / "out")
    lens = load(tmp_path / "out")
    for words in ([("a", "b"), ("b",)], [["a", "b"], "b"], ["ab", "b"]):
        assert torch.equal(lens.to_tokens(words), lens.to_tokens(["ab", "b"]))
        assert torch.equal(lens(words), lens(["ab", "b"]))
    assert lens.to_str_tokens([("a", "b")]) == [["a", "b"]]
    for wrong in ([("a", "c")], [(1, 2)], [3], [None]):
        with pytest.raises(WordError):
            lens(wrong)


def test_a_loaded_module_is_in_evaluation_mode(tmp_path: Path) -> None:
    attemper.compile("O a", "ab").export("transformer-lens", tmp_path / "out")
    assert not any(module.training for module in load(tmp_path / "out").modules())


def test_uniform_heads_are_of_this_kind_alone(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="uniform heads are for transformer-lens alone"):
        attemper.compile("O a", "ab").export("circuit", tmp_path / "out.json", uniform_heads=True)


def test_a_gpt2_pads_on_the_right_and_its_card_says_what_does_not_work(tmp_path: Path) -> None:
    from transformers import AutoTokenizer

    attemper.compile("O a", "ab").export("gpt2", tmp_path / "out", positions=16)
    assert AutoTokenizer.from_pretrained(tmp_path / "out").padding_side == "right"
    card = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "half precision is wrong" in card
    assert 'padding_side="left"' in card
