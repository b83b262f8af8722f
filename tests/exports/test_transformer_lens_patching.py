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
from attemper.theories.causal.certificate import HeadEdge, OutputEdge, Taken
from attemper.theories.causal.check.settings import row_of
from attemper.theories.causal.statements import READ_AT

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


def test_a_direct_path_is_patched_and_nothing_else(tmp_path: Path) -> None:
    """What one head writes reaches the query, key or values of one later head: as by hand, at its input."""
    from transformer_lens import patching

    attemper.compile("#[a] = #[b]", "ab").export("transformer-lens", tmp_path / "out", uniform_heads=True)
    lens = load(tmp_path / "out")
    clean, corrupted = ["abbaab"], ["abaaab"]
    caches = [lens.run_with_cache(words)[1] for words in (clean, corrupted)]
    tokens = lens.to_tokens(corrupted)
    assert "blocks.1.attn.hook_k_input" not in caches[0]

    def metric(output: torch.Tensor) -> torch.Tensor:
        return output.sum()

    moved = 0
    for component in ("q", "k", "v"):
        for source in range(lens.cfg.n_heads):
            found = patching.get_act_patch_direct_path(
                lens, tokens, *caches, metric, src_layer=0, src_head=source, component=component
            )
            apart = caches[0]["blocks.0.attn.hook_z"] - caches[1]["blocks.0.attn.hook_z"]
            written = apart[:, :, source] @ lens.blocks[0].attn.W_O[source]
            for head in range(lens.cfg.n_heads):

                def added(copies: Any, hook: Any, head: int = head, written: Any = written) -> Any:
                    copies[:, :, head] += written
                    return copies

                point = f"blocks.1.attn.hook_{component}_input"
                by_hand = metric(lens.run_with_hooks(tokens, fwd_hooks=[(point, added)]))
                assert torch.allclose(found[1, head], by_hand.to(found.dtype))
                moved += int(not torch.isclose(by_hand, metric(lens(tokens))))
    assert moved, "its second layer looks up what the first has counted"
    assert not lens.cfg.use_split_qkv_input


def test_attribution_patching_scores_nodes_and_edges(tmp_path: Path) -> None:
    """TransformerLens' own tool; a writer's score is the sum of its edges', and of its node."""
    from transformer_lens.tools.analysis import attribution_patching

    attemper.compile("zoo:fraction-seen").export("transformer-lens", tmp_path / "out", uniform_heads=True)
    lens = load(tmp_path / "out").requires_grad_()
    clean, corrupted = (lens.to_tokens(words) for words in (["abbcab", "ababac"], ["acaaab", "abaabb"]))

    def metric(output: torch.Tensor) -> torch.Tensor:
        return output.sum()

    scores = {}
    for granularity in ("node", "edge"):
        config = attribution_patching.EdgeAttributionConfig(granularity=granularity)
        found = attribution_patching.attribution_patch(lens, clean, corrupted, metric, config)
        scores[granularity] = found.node_scores
    assert len(scores["node"]) == 6 * (1 + sum(lens.cfg.n_heads + 1 for _ in lens.blocks))
    for node, score in scores["edge"].items():
        assert abs(scores["node"][node] - score) < 1e-9
    assert any(scores["node"].values()), "it puts out numbers, which are not rounded to bits"
    assert not lens.cfg.use_attn_result


def test_caches_have_what_parts_read_and_write_if_they_are_told(tmp_path: Path) -> None:
    lens = exported(tmp_path / "out", uniform_heads=True)
    lens.set_use_split_qkv_input(True)
    lens.set_use_hook_mlp_in(True)
    lens.set_use_attn_result(True)
    assert lens.cfg.use_split_qkv_input
    _, kept = lens.run_with_cache(["abcab"])
    assert kept["blocks.1.attn.hook_k_input"].shape == (1, 5, lens.cfg.n_heads, lens.cfg.d_model)
    assert torch.equal(kept["blocks.1.hook_mlp_in"], kept["blocks.1.hook_resid_mid"])
    assert torch.allclose(kept["blocks.1.attn.hook_result"].sum(dim=2), kept["blocks.1.hook_attn_out"])


def test_edges_are_patched_as_their_recipes_say(tmp_path: Path) -> None:
    """Every witness of the labels MATTERS, done again with TransformerLens alone."""
    for source in ("O (a & O b)", "#<[O a] >= 2", "regex:(ab)*", "O (b & Y a) & H ((b & Y a) | !b)"):
        model = attemper.compile(source, "ab")
        model.export("transformer-lens", tmp_path / source[-5:].replace("/", ""))
        lens = load(tmp_path / source[-5:].replace("/", ""))
        found = attemper.causal(model, edges=["all"], up_to=3)
        assert found.claim is not None
        shown = [own.edge_set for own in found.edges if own.edge_set.matters is not None]
        assert shown
        for own in shown:
            assert own.matters is not None
            (edge,), variables = own.edges, found.claim.variables
            natural = lens([list(own.matters.base)])[0]
            after = lens.run_with_hooks(
                [list(own.matters.base)], fwd_hooks=list(patches(lens, edge, own.matters, variables))
            )[0]
            assert bool(((natural > 0.5) != (after > 0.5)).any()), source


def patches(lens: Any, edge: Any, said: Any, variables: Any) -> Any:
    """Hooks for what is taken along an edge."""
    own = variables[edge.variable]
    places = list(own.coordinates)
    for taken in said.taken:
        at = taken.position - 1
        if isinstance(taken, Taken):
            _, cache = lens.run_with_cache([list(taken.source)])
            row = cache[f"blocks.{own.layer}.hook_resid_post"][0, at, places]
        else:
            row = torch.tensor([float(bit) for bit in row_of(own, taken.value).values()], dtype=torch.float64)

        def patched(copies: Any, hook: Any, at: int = at, row: Any = row) -> Any:
            if isinstance(edge, HeadEdge):
                copies[0, at, edge.head, places] = row
            else:
                copies[0, at, places] = row
            return copies

        if isinstance(edge, OutputEdge):
            continue
        point = READ_AT[edge.part] if isinstance(edge, HeadEdge) else "hook_mlp_in"
        yield f"blocks.{edge.layer}.{point}", patched


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
