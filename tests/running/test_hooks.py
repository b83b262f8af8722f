"""Hook points: their names and shapes, and that looking through them does not change what is computed."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import get_args

import pytest
import torch
from torch import Tensor

import attemper
from attemper.compiling.pipeline import compile_language
from attemper.errors import OptionError
from attemper.languages.words import Word
from attemper.networks.layers import (
    Construction,
    HardWeighting,
    Head,
    IntegerSign,
    IntegerValue,
    Masking,
    NearestInteger,
    Select,
    Softmax,
    Uniform,
)
from attemper.networks.regime import Regime
from attemper.running.attention import HeadInputs
from attemper.running.batches import pad
from attemper.running.blocks import Block
from attemper.running.dense import DenseTransformer
from attemper.running.engines.fused import attend as fused
from attemper.running.engines.matrix import attend as by_matrix
from attemper.running.hooks import hooks
from attemper.running.numbers import read_bit
from attemper.running.places import Places
from attemper.running.truth import truth_of_words
from attemper.workbench.model import Model
from attemper.workbench.options import WeightsName
from tests.support.drawn.samples import adversarial_words

U64 = 2.0**-53
"""The unit round-off of float64."""

EVERYTHING = "(a S b) & X (a U b) | even(#<[a]) & #<[a] <= #>[b] | #[a] = #[b]"
"""All constructions: select, neighbour, uniform, sign, local sign, lookup; all three maskings."""

FORMULAS = (
    EVERYTHING,
    "Y (a S b)",
    "X (a U b)",
    "3*#<[a] - 2*#<[b] >= 1",
    "#>[a] <= #>[b]",
    "#[a] <= #[b]",
    "even(#>[a])",
    "#<[a] <= #>[b]",
)
REGIMES = ("unbounded", "temperature")


# Helpers ---------------------------------------------------------------------------------------------


def compiled(formula: str, regime: str = "unbounded", symbols: str = "ab") -> Model:
    return attemper.compile(formula, symbols, at="last", regime=regime)


def hard_network(formula: str, symbols: str = "ab") -> DenseTransformer:
    """The hard network itself, with the leftmost, rightmost and average weightings of its heads."""
    model = compiled(formula, symbols=symbols)
    return DenseTransformer(
        compile_language(model.language.definition, model.alphabet, Regime.UNBOUNDED).hard
    )


def ragged(model: DenseTransformer, words: list[Word]) -> tuple[Tensor, Tensor]:
    symbols = model.network.alphabet.symbols
    return pad([[symbols.index(symbol) for symbol in word] for word in words])


def some_words() -> list[Word]:
    return [
        word for length in (1, 2, 3, 24) for word in adversarial_words(random.Random(1), ("a", "b"), length)
    ]


def read(values: Tensor, lengths: Tensor) -> list[list[bool | None]]:
    return [
        [read_bit(value) for value in row[:length]]
        for row, length in zip(values.tolist(), lengths.tolist(), strict=True)
    ]


def expected_names(model: DenseTransformer) -> set[str]:
    """The names that the docstring of DenseTransformer lists, those of TransformerLens."""
    of_a_block = [
        "hook_resid_pre",
        "attn.hook_q",
        "attn.hook_k",
        "attn.hook_v",
        "attn.hook_attn_scores",
        "attn.hook_pattern",
        "attn.hook_z",
        "hook_attn_out",
        "hook_resid_mid",
        "mlp.hook_pre",
        "mlp.hook_post",
        "hook_mlp_out",
        "hook_resid_post",
    ]
    layers = range(len(model.network.layers))
    return {"hook_embed", "hook_pos_embed"} | {f"blocks.{n}.{name}" for n in layers for name in of_a_block}


# Names and shapes ------------------------------------------------------------------------------------


def test_the_large_formula_has_every_construction_and_every_mask() -> None:
    """What the other tests here rely on."""
    heads = [head for layer in compiled(EVERYTHING).network.layers for head in layer.heads]
    of_programs_only = {IntegerSign, IntegerValue, NearestInteger}
    assert {type(head.construction) for head in heads} == set(get_args(Construction)) - of_programs_only
    assert {head.masking for head in heads} == {masking for masking in Masking if not masking.is_strict}


@pytest.mark.parametrize("weights", ["soft", "hard"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_the_cache_holds_every_hook_point_in_its_documented_shape(formula: str, weights: WeightsName) -> None:
    model = compiled(formula).dense(weights=weights)
    tokens, lengths = ragged(model, some_words())
    output, cache = model.run_with_cache(tokens, lengths)
    assert set(cache) == expected_names(model)
    batch, positions = tokens.shape
    assert output.shape == (batch, positions)
    width, head_width = len(model.network.coordinates), model.network.head_width
    for name in ("hook_embed", "hook_pos_embed"):
        assert cache[name].shape == (batch, positions, width)
    for number, layer in enumerate(model.network.layers):
        block = f"blocks.{number}."
        for name in ("hook_resid_pre", "hook_attn_out", "hook_resid_mid", "hook_mlp_out", "hook_resid_post"):
            assert cache[block + name].shape == (batch, positions, width)
        for name in ("hook_q", "hook_k", "hook_v", "hook_z"):
            assert cache[f"{block}attn.{name}"].shape == (batch, positions, len(layer.heads), head_width)
        for name in ("hook_attn_scores", "hook_pattern"):
            assert cache[f"{block}attn.{name}"].shape == (batch, len(layer.heads), positions, positions)
        for name in ("hook_pre", "hook_post"):
            assert cache[f"{block}mlp.{name}"].shape == (batch, positions, len(layer.hidden))


def test_the_residual_stream_is_the_sum_of_what_is_written_to_it() -> None:
    """x = WE + PE, c = x + SA(x), x' = c + FFN(c), as in theory.md, section 1."""
    model = compiled(EVERYTHING).dense()
    tokens, lengths = ragged(model, some_words())
    output, cache = model.run_with_cache(tokens, lengths)
    stream = cache["hook_embed"] + cache["hook_pos_embed"]
    for number in range(len(model.network.layers)):
        block = f"blocks.{number}."
        assert torch.equal(stream, cache[block + "hook_resid_pre"])
        middle = stream + cache[block + "hook_attn_out"]
        assert torch.equal(middle, cache[block + "hook_resid_mid"])
        assert torch.equal(cache[block + "mlp.hook_post"], cache[block + "mlp.hook_pre"].relu())
        stream = middle + cache[block + "hook_mlp_out"]
        assert torch.equal(stream, cache[block + "hook_resid_post"])
    assert torch.equal(output, stream[..., model.network.output])


INPUTS = ("attn.hook_q_input", "attn.hook_k_input", "attn.hook_v_input")


@pytest.mark.parametrize("engine", ["matrix", "fused", "auto"])
def test_each_reader_has_a_copy_of_what_it_reads(engine: str) -> None:
    """Copies are the stream, a head reads its own alone, and nobody else reads it."""
    model = compiled(EVERYTHING).dense(engine=engine)
    tokens, lengths = ragged(model, some_words())
    output = model(tokens, lengths)
    for number, layer in enumerate(model.network.layers):
        block = f"blocks.{number}."
        names = [block + name for name in (*INPUTS, "hook_mlp_in", "hook_resid_pre", "hook_resid_mid")]
        again, cache = model.run_with_cache(tokens, lengths, names)
        assert torch.allclose(again, output, rtol=0, atol=1e-12)
        assert torch.equal(cache[block + "hook_mlp_in"], cache[block + "hook_resid_mid"])
        stream = cache[block + "hook_resid_pre"][:, :, None].expand(-1, -1, len(layer.heads), -1)
        assert all(torch.equal(cache[block + name], stream) for name in INPUTS)
        if not layer.heads:
            continue
        for point, name in zip(("hook_q", "hook_k", "hook_v"), INPUTS, strict=True):

            def changed(copies: Tensor) -> None:
                copies[:, :, 0] += 1

            parts = [f"{block}attn.{own}" for own in ("hook_q", "hook_k", "hook_v")]
            _, before = model.run_with_cache(tokens, lengths, [*parts, block + "hook_resid_pre"])
            with hooks(model, {block + name: changed}):
                _, after = model.run_with_cache(tokens, lengths, [*parts, block + "hook_resid_pre"])
            other = {own for own in before if not torch.allclose(before[own], after[own], atol=1e-9)}
            assert other <= {f"{block}attn.{point}"}
            assert torch.allclose(
                before[f"{block}attn.{point}"][:, :, 1:], after[f"{block}attn.{point}"][:, :, 1:]
            )
            weight = getattr(model.blocks[number].attn, f"W_{point[-1].upper()}")[0]
            assert bool(other) == bool((weight.sum(dim=0) != 0).any()), "where it reads the sum of all"


@pytest.mark.parametrize("engine", ["matrix", "fused"])
def test_what_heads_write_is_summed(engine: str) -> None:
    model = compiled(EVERYTHING).dense(engine=engine)
    tokens, lengths = ragged(model, some_words())
    for number in range(len(model.network.layers)):
        names = [f"blocks.{number}.attn.hook_result", f"blocks.{number}.hook_attn_out"]
        _, cache = model.run_with_cache(tokens, lengths, names)
        assert torch.equal(cache[names[0]].sum(dim=2), cache[names[1]])
        with hooks(model, {names[0]: torch.zeros_like}):
            _, ablated = model.run_with_cache(tokens, lengths, names)
        assert not ablated[names[1]].any()


def test_units_read_a_copy_of_their_own() -> None:
    model = compiled("a S b").dense()
    tokens, lengths = ragged(model, some_words())
    names = ["blocks.0.hook_resid_mid", "blocks.0.mlp.hook_pre"]
    _, before = model.run_with_cache(tokens, lengths, names)
    with hooks(model, {"blocks.0.hook_mlp_in": lambda copy: copy.add_(1)}):
        _, after = model.run_with_cache(tokens, lengths, names)
    assert torch.equal(before[names[0]], after[names[0]])
    assert not torch.equal(before[names[1]], after[names[1]])


def test_the_scan_has_no_copies() -> None:
    model = compiled("a S b").dense(engine="scan")
    tokens, lengths = ragged(model, some_words())
    for name in (*INPUTS, "hook_mlp_in"):
        with (
            pytest.raises(OptionError, match="sees nothing under the engine 'scan'"),
            hooks(model, {f"blocks.0.{name}": torch.zeros_like}),
        ):
            model(tokens, lengths)
        _, cache = model.run_with_cache(tokens, lengths, [f"blocks.0.{name}"])
        assert len(cache) == 1, "another engine is taken"


def test_the_cache_can_be_limited_to_some_names() -> None:
    model = compiled("a S b").dense()
    tokens, lengths = ragged(model, some_words())
    names = ["blocks.0.attn.hook_pattern", "hook_embed"]
    _, cache = model.run_with_cache(tokens, lengths, names)
    assert set(cache) == set(names)


def test_an_unknown_name_is_a_key_error_and_leaves_no_hook_behind() -> None:
    model = compiled("a S b").dense()
    with pytest.raises(KeyError), hooks(model, {"hook_embed": torch.zeros_like, "blocks.9.hook_q": abs}):
        pass
    assert not model.hook_embed.is_watched


def test_a_hook_before_a_hook_point_is_obeyed_too() -> None:
    """PyTorch has hooks that see an activation before it passes; they, too, need the n x n matrix."""
    model = compiled("a S b").dense(engine="matrix")
    tokens, lengths = ragged(model, [("b", "a")])
    point, seen = model.blocks[0].attn.hook_pattern, []
    handle = point.register_forward_pre_hook(lambda _module, inputs: seen.append(inputs[0].shape))
    assert point.is_watched
    model(tokens, lengths)
    handle.remove()
    model(tokens, lengths)
    assert seen == [(1, 1, 2, 2)]
    assert not point.is_watched


def test_hooks_are_removed_after_an_error() -> None:
    model = compiled("a S b").dense()

    def refuse(activation: Tensor) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), hooks(model, {"hook_embed": refuse}):
        model(*ragged(model, some_words()))
    assert not model.hook_embed.is_watched


def test_layers_without_heads_can_be_watched() -> None:
    """A Boolean formula needs a feed-forward layer only; its attention adds nothing, watched or not."""
    model = compiled("a & pos % 2 = 0").dense()
    output, cache = model.run_with_cache(*ragged(model, [("a", "a", "b")]))
    assert set(cache) == expected_names(model)
    assert output.tolist() == [[0.0, 1.0, 0.0]]


# Watching changes nothing ------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_watching_the_patterns_changes_no_bit(formula: str, regime: str) -> None:
    """The scores way and the streaming way are the same function, and the bits are true in both.

    The values may differ by the format. The output is a sum of rounded clamps, each of them a bit up to
    40 u: folded bits are 1 +- 40 u in every order of summing.
    """
    model = compiled(formula, regime)
    dense = model.dense()
    clamps = max(1, len(model.network.layers[-1].clamps))
    for length in (1, 2, 3, 40):
        words = list(adversarial_words(random.Random(length), ("a", "b"), length))
        tokens, lengths = ragged(dense, words)
        streamed = dense(tokens, lengths)
        watched, cache = dense.run_with_cache(tokens, lengths)
        assert "blocks.0.attn.hook_pattern" in cache
        truth = truth_of_words(model.language.definition.formula, words).tolist()
        assert read(streamed, lengths) == read(watched, lengths) == truth
        assert (streamed - watched).abs().max() <= 2 * 40 * U64 * clamps


def attention_of(block: Block, x: Tensor, places: Places) -> tuple[Tensor, Tensor]:
    """hook_z of one layer, on the same input, the streaming way and the scores way."""
    seen: list[Tensor] = []
    with hooks(block, {"attn.hook_z": lambda z: seen.append(z)}):
        block.attn(HeadInputs(x, x, x), places, fused)
        block.attn(HeadInputs(x, x, x), places, by_matrix)
    streamed, scored = seen
    return streamed, scored


def format_bound(block: Block, head: Head, index: int, x: Tensor, places: Places) -> float:
    """How far two float64 evaluations of one softmax head may be apart.

    With d = d_head and S the largest sum |q_m k_m| / (sqrt(d) tau), a score is off by (d + 3) u S at
    most: one rounding of the scaled query, d of the dot product, two of scale and shift by the maximum.
    With exp's few u, weights are off by a factor e^(+-e), so the average moves by (e^2e - 1) max|v|. The
    sums of n products and weights, rescaled at most once per key, add 4 n u, the divisions a few u.
    Both ways may be off by that.
    """
    attention = block.attn
    assert isinstance(head.weighting, Softmax)
    q, k, v = (
        torch.einsum("bnd,de->bne", x, W[index]) for W in (attention.W_Q, attention.W_K, attention.W_V)
    )
    scale = attention.scales_of((head.weighting,), q, places)[:, :, 0]
    largest = ((q * scale).abs() @ k.abs().transpose(1, 2)).max().item()
    n, d = x.shape[1], q.shape[-1]
    off = torch.tensor((d + 3) * U64 * largest + 8 * U64, dtype=torch.float64)
    return 2 * v.abs().max().item() * (torch.expm1(2 * off).item() + (4 * n + 64) * U64)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_streaming_and_scores_agree_head_by_head(formula: str, regime: str) -> None:
    """On the same input every head's output is the same up to float64's round-off, see `format_bound`."""
    dense = compiled(formula, regime).dense()
    words = [word for n in (5, 33) for word in adversarial_words(random.Random(n), ("a", "b"), n)]
    tokens, lengths = ragged(dense, words)
    places = Places(lengths, tokens.shape[1])
    _, cache = dense.run_with_cache(tokens, lengths)
    real = places.real
    for number, (block, layer) in enumerate(zip(dense.blocks, dense.network.layers, strict=True)):
        x = cache[f"blocks.{number}.hook_resid_pre"]
        streamed, scored = attention_of(block, x, places)
        for index, head in enumerate(layer.heads):
            bound = format_bound(block, head, index, x, places)
            assert bound < 1e-7
            difference = (streamed[:, :, index] - scored[:, :, index])[real].abs().max().item()
            assert difference <= bound


@pytest.mark.parametrize("name", ["hook_q", "hook_k", "hook_v", "hook_z"])
def test_watching_queries_or_values_keeps_the_bits(name: str) -> None:
    """A watched query may be replaced, so its head no longer counts as uniform; the bits stay the same."""
    dense = compiled(EVERYTHING).dense()
    tokens, lengths = ragged(dense, some_words())
    names = [f"blocks.{number}.attn.{name}" for number in range(len(dense.blocks))]
    watched, _ = dense.run_with_cache(tokens, lengths, names)
    assert read(watched, lengths) == read(dense(tokens, lengths), lengths)


# Patterns ---------------------------------------------------------------------------------------------


def visible(masking: Masking, length: int) -> Tensor:
    """Which keys (columns) each query (rows) of a word may see."""
    everything = torch.ones(length, length, dtype=torch.bool)
    match masking:
        case Masking.FUTURE:
            return everything.tril()
        case Masking.PAST:
            return everything.triu()
        case Masking.NONE:
            return everything


def patterns(model: DenseTransformer, words: list[Word]) -> list[tuple[Head, list[Tensor]]]:
    """Every head with its pattern on each word, cut to the word's length."""
    tokens, lengths = ragged(model, words)
    _, cache = model.run_with_cache(tokens, lengths)
    found = []
    for number, layer in enumerate(model.network.layers):
        pattern = cache[f"blocks.{number}.attn.hook_pattern"]
        for index, head in enumerate(layer.heads):
            found.append((head, [pattern[b, index, :n, :n] for b, n in enumerate(lengths.tolist())]))
    return found


def models_of_both_kinds() -> list[Callable[[], DenseTransformer]]:
    return [
        lambda: compiled(EVERYTHING).dense(),
        lambda: compiled(EVERYTHING, "temperature").dense(),
        lambda: compiled(EVERYTHING).dense(weights="hard"),
        lambda: hard_network(EVERYTHING),
    ]


@pytest.mark.parametrize(
    "make", models_of_both_kinds(), ids=["soft", "soft, temperature", "average-hard", "hard"]
)
def test_rows_of_patterns_are_averages_over_visible_positions(make: Callable[[], DenseTransformer]) -> None:
    """Rows sum to 1 (up to n u for n rounded weights), hidden positions get exactly 0, padding included."""
    found = patterns(make(), some_words())
    assert {head.masking for head, _ in found} == {masking for masking in Masking if not masking.is_strict}
    for head, matrices in found:
        for matrix in matrices:
            n = len(matrix)
            assert (matrix >= 0).all()
            assert (matrix[~visible(head.masking, n)] == 0).all()
            assert (matrix.sum(dim=1) - 1).abs().max() <= 2 * (n + 1) * U64


def test_padding_gets_no_attention() -> None:
    """The columns of padding are exactly 0 in the rows of real positions, under every mask."""
    model = compiled(EVERYTHING).dense()
    tokens, lengths = ragged(model, [("a", "b", "a"), ("a", "b") * 6])
    _, cache = model.run_with_cache(tokens, lengths)
    for number in range(len(model.blocks)):
        pattern = cache[f"blocks.{number}.attn.hook_pattern"]
        assert (pattern[0, :, :3, 3:] == 0).all()


def test_uniform_heads_have_uniform_patterns() -> None:
    for model in (compiled(EVERYTHING).dense(), hard_network(EVERYTHING)):
        uniform = [
            found for found in patterns(model, some_words()) if isinstance(found[0].construction, Uniform)
        ]
        assert uniform
        for head, matrices in uniform:
            for matrix in matrices:
                seen = visible(head.masking, len(matrix)).double()
                assert (matrix - seen / seen.sum(dim=1, keepdim=True)).abs().max() <= 4 * U64


def select_patterns(
    weighting: str, formula: str, words: list[Word]
) -> tuple[Head, list[Tensor], list[Tensor]]:
    """The select head of a hard network under some weighting: its pattern and its scores on each word."""
    hard = hard_network(formula, "abc")
    override = HardWeighting(weighting) if weighting != "own" else None
    model = DenseTransformer(hard.network, weighting=override)
    ((number, index, head),) = [
        (number, index, head)
        for number, layer in enumerate(model.network.layers)
        for index, head in enumerate(layer.heads)
        if isinstance(head.construction, Select)
    ]
    tokens, lengths = ragged(model, words)
    _, cache = model.run_with_cache(tokens, lengths)
    pattern, scores = (cache[f"blocks.{number}.attn.{name}"] for name in ("hook_pattern", "hook_attn_scores"))
    sizes = list(enumerate(lengths.tolist()))
    return head, [pattern[b, index, :n, :n] for b, n in sizes], [scores[b, index, :n, :n] for b, n in sizes]


def tie_words() -> list[Word]:
    """Words in which several positions, all of them, or none are not passed over by `a S b`."""
    rng = random.Random(3)
    words: list[Word] = [("a",) * 9, ("b",) * 9, ("c",) * 9, ("b", "c") * 5, ("b", *("a",) * 8), ("a",)]
    return words + [tuple(rng.choice("abc") for _ in range(rng.randint(1, 12))) for _ in range(30)]


def weights_on(places: list[int], like: Tensor) -> Tensor:
    row = torch.zeros_like(like)
    row[places] = 1 / len(places)
    return row


@pytest.mark.parametrize("formula", ["a S b", "a U b"])
@pytest.mark.parametrize("weighting", ["leftmost-hard", "rightmost-hard", "average-hard", "own"])
def test_hard_weightings_break_ties_as_they_say(weighting: str, formula: str) -> None:
    """One-hot on the leftmost or rightmost of the highest visible scores, or uniform on all of them.

    S looks for the rightmost at or before i, U for the leftmost from i on (theory.md, section 4).
    """
    head, matrices, all_scores = select_patterns(weighting, formula, tie_words())
    if weighting == "own":
        weighting = "rightmost-hard" if formula == "a S b" else "leftmost-hard"
        assert head.weighting == weighting
    ties = 0
    for matrix, scores in zip(matrices, all_scores, strict=True):
        for row, row_scores in zip(matrix, scores, strict=True):
            best = [j for j, score in enumerate(row_scores) if score == row_scores.max()]
            ties += len(best) > 1
            chosen = {"leftmost-hard": best[:1], "rightmost-hard": best[-1:], "average-hard": best}[weighting]
            assert torch.equal(row, weights_on(chosen, row))
    assert ties > 100


def test_the_hard_select_head_reads_the_last_place_that_is_not_passed_over() -> None:
    """By hand: under a S b on b c a a b a, the head looks at the nearest letter other than a."""
    _, (matrix,), _ = select_patterns("own", "a S b", [("b", "c", "a", "a", "b", "a")])
    assert matrix.argmax(dim=1).tolist() == [0, 1, 1, 1, 4, 4]
    assert torch.equal(matrix.sum(dim=1), torch.ones(6, dtype=torch.float64))


# Interventions ----------------------------------------------------------------------------------------


def test_replacing_a_pattern_changes_the_output_while_the_hook_is_there() -> None:
    """Making S's head uniform averages the b's before i: no longer the nearest, so b b a c c a is misread."""
    model = compiled("a S b", symbols="abc").dense(engine="matrix")
    tokens, lengths = ragged(model, [tuple("bbacca")])
    before = model(tokens, lengths)
    assert read(before, lengths) == [[True, True, True, False, False, False]]

    def ablate(pattern: Tensor) -> Tensor:
        seen = (pattern > 0).to(pattern.dtype)
        return seen / seen.sum(dim=-1, keepdim=True)

    with hooks(model, {"blocks.0.attn.hook_pattern": ablate}):
        ablated = model(tokens, lengths)
    # 1, 1, 2/3, 2/4, 2/5, 2/6 through the clamp 2R(x - 1/4) - 2R(x - 3/4).
    expected = torch.tensor([[1, 1, 5 / 6, 1 / 2, 3 / 10, 1 / 6]], dtype=torch.float64)
    assert (ablated - expected).abs().max() <= 2**-48
    assert torch.equal(model(tokens, lengths), before)


def test_an_ablated_head_is_as_good_as_a_zero_value() -> None:
    """A pattern of zeros and values of zeros leave the same residual stream."""
    model = compiled("a S b", symbols="abc").dense(engine="matrix")
    tokens, lengths = ragged(model, [tuple("bbacca"), tuple("cab")])
    with hooks(model, {"blocks.0.attn.hook_pattern": torch.zeros_like}):
        without_pattern = model(tokens, lengths)
    with hooks(model, {"blocks.0.attn.hook_z": torch.zeros_like}):
        without_z = model(tokens, lengths)
    with hooks(model, {"blocks.0.attn.hook_v": torch.zeros_like}):
        without_v = model(tokens, lengths)
    assert torch.equal(without_pattern, without_z)
    assert torch.equal(without_z, without_v)
    assert not torch.equal(without_z, model(tokens, lengths))


def test_replacing_scores_is_seen_by_the_pattern() -> None:
    """Scores come before the softmax: equal visible scores give the uniform pattern."""
    model = compiled("a S b", symbols="abc").dense(engine="matrix")
    tokens, lengths = ragged(model, [tuple("bbacca")])
    kept: list[Tensor] = []
    flat = {
        "blocks.0.attn.hook_attn_scores": lambda scores: torch.where(scores.isinf(), scores, 0),
        "blocks.0.attn.hook_pattern": lambda pattern: kept.append(pattern),
    }
    with hooks(model, flat):
        model(tokens, lengths)
    seen = torch.ones(6, 6, dtype=torch.float64).tril()
    assert (kept[0][0, 0] - seen / seen.sum(dim=1, keepdim=True)).abs().max() <= 8 * U64


def test_replacing_the_query_of_a_uniform_head_is_obeyed() -> None:
    """Streaming takes heads with WQ = 0 for running means, but not while their query may be replaced.

    With queries and keys replaced by j's own number, the head of #<[a] looks at its last visible position.
    """
    model = compiled("even(#<[a])").dense()
    tokens, lengths = ragged(model, [tuple("abaab")])
    block = model.blocks[0]
    heads = [head for head in model.network.layers[0].heads if isinstance(head.construction, Uniform)]
    assert len(heads) == len(model.network.layers[0].heads)

    def steps(rows: Tensor) -> Tensor:
        return torch.arange(1, 6, dtype=rows.dtype)[None, :, None, None].expand_as(rows) * 10

    values: list[Tensor] = []
    with (
        hooks(block, {"attn.hook_q": steps, "attn.hook_k": steps}),
        hooks(block, {"attn.hook_v": values.append, "attn.hook_z": values.append}),
    ):
        model(tokens, lengths)
    v, z = values
    assert (v - z).abs().max() <= 2**-48
