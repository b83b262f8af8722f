"""Which engine runs, what each reaches, and that all give the same bits."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import attemper
from attemper.errors import OptionError
from attemper.running import dense
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import ON_QUERIES, ON_SCORES, SCAN_FROM, Engine, engine_reaching
from attemper.running.engines.scan import classes, forward
from attemper.running.hooks import hooks

FORMULA = "O (b & Y a) & #<[a] <= #<[b]"
ALL_OF_THEM = [engine for engine in Engine if engine not in {Engine.AUTO, Engine.NUMPY}]


def word_of(length: int) -> torch.Tensor:
    return (torch.arange(length) % 3 == 1).long()[None, :]


def engines_that_ran(module: DenseTransformer, positions: int, monkeypatch: pytest.MonkeyPatch) -> str:
    """The engine of a call without a name: the scan, or one that attends layer by layer."""
    ran: list[str] = []
    run = forward.ModuleScan.run

    def noticed(self: forward.ModuleScan, *arguments: object, **options: object) -> torch.Tensor:
        ran.append("scan")
        return run(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(forward.ModuleScan, "run", noticed)
    module(word_of(positions))
    return ran[0] if ran else "another"


@pytest.mark.parametrize("engine", ALL_OF_THEM)
@pytest.mark.parametrize("length", [1, 2, 7, 65])
def test_all_engines_give_the_same_bits(engine: Engine, length: int) -> None:
    module = attemper.compile(FORMULA, "ab").dense()
    expected = module(word_of(length), engine="matrix")
    assert (module(word_of(length), engine=engine) - expected).abs().max() <= 1e-11


def test_auto_is_the_scan_from_many_positions_on(monkeypatch: pytest.MonkeyPatch) -> None:
    module = attemper.compile(FORMULA, "ab").dense()
    assert module.engine_for(SCAN_FROM) is Engine.SCAN
    assert module.engine_for(SCAN_FROM - 1) is Engine.FUSED
    assert engines_that_ran(module, SCAN_FROM, monkeypatch) == "scan"
    assert engines_that_ran(module, SCAN_FROM - 1, monkeypatch) == "another"


def test_auto_is_no_scan_where_gradients_are_wanted_or_attention_is_hard() -> None:
    model = attemper.compile(FORMULA, "ab")
    module = model.dense()
    module.blocks[0].mlp.W_in.requires_grad_()
    assert module.engine_for(SCAN_FROM) is Engine.FUSED
    with torch.no_grad():
        assert module.engine_for(SCAN_FROM) is Engine.SCAN
    assert model.dense(weights="hard").engine_for(SCAN_FROM) is Engine.FUSED
    normed = attemper.compile("O a", "ab", layer_norm=attemper.LayerNorm())
    assert normed.dense().engine_for(SCAN_FROM) is Engine.FUSED


def test_auto_is_fused_where_a_head_has_no_linear_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan alone runs such a head row by row, and says so."""
    monkeypatch.setattr(classes, "MOST_CLASSES", 1)
    module = attemper.compile("O a", "ab").dense()
    tokens = word_of(SCAN_FROM)
    expected = module(tokens, engine="fused")
    assert torch.equal(module(tokens), expected)
    scanner = module.scanner()
    rows = scanner.run(tokens, torch.tensor([SCAN_FROM]), None)[..., 0]
    assert scanner.ways.of[0, 0] == {"dense"}
    assert "more than 1 contents" in scanner.ways.reasons[0, 0]
    assert (rows - expected).abs().max() <= 1e-11


@pytest.mark.parametrize(("weights", "layer_norm"), [("hard", False), ("soft", True)])
def test_a_scan_that_cannot_be_is_refused(weights: str, layer_norm: bool) -> None:
    how = attemper.LayerNorm() if layer_norm else None
    model = attemper.compile("O a", "ab", layer_norm=how)
    with pytest.raises(OptionError, match=r"does not run this network: .*; use engine='fused'"):
        model.dense(weights=weights, engine="scan")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="does not run this network"):
        model.accepts("ab", weights=weights, engine="scan")  # type: ignore[arg-type]


def test_an_unknown_engine_is_refused_with_those_there_are() -> None:
    model = attemper.compile("O a", "ab")
    for call in (model.dense, lambda engine: model.accepts("a", engine=engine)):
        with pytest.raises(OptionError, match="'warp' is none of 'auto', 'matrix', 'fused', 'scan'"):
            call(engine="warp")  # type: ignore[operator]


@pytest.mark.parametrize("engine", [Engine.FUSED, Engine.SCAN, Engine.AUTO])
@pytest.mark.parametrize("point", ON_SCORES)
def test_a_hook_that_would_see_nothing_is_an_error(engine: Engine, point: str) -> None:
    module = attemper.compile(FORMULA, "ab").dense(engine=engine)
    name = f"blocks.1.attn.{point}"
    with hooks(module, {name: lambda seen: None}):
        for length in (3, SCAN_FROM):
            with pytest.raises(OptionError, match=f"a hook on {name} .* engine='matrix'"):
                module(word_of(length))
        module(word_of(3), engine="matrix")
    module(word_of(3))


def in_block(point: str) -> str:
    return f"blocks.0.{point}" if point == "hook_mlp_in" else f"blocks.0.attn.{point}"


@pytest.mark.parametrize("point", ON_QUERIES)
def test_the_scan_has_no_queries_keys_and_values_to_see(point: str) -> None:
    module = attemper.compile(FORMULA, "ab").dense(engine="scan")
    with hooks(module, {in_block(point): lambda seen: None}):
        with pytest.raises(OptionError, match="engine='fused'"):
            module(word_of(3))
        module(word_of(3), engine="fused")


def test_whoever_names_points_gets_an_engine_that_reaches_them() -> None:
    module = attemper.compile(FORMULA, "ab").dense(engine="scan")
    for point in (*ON_SCORES, *ON_QUERIES, "hook_z"):
        name = in_block(point)
        _, cache = module.run_with_cache(word_of(5), names=[name])
        assert set(cache) == {name}
    assert engine_reaching(["blocks.0.hook_resid_pre"], Engine.SCAN) is Engine.SCAN
    assert engine_reaching(["blocks.0.attn.hook_q"], Engine.MATRIX) is Engine.MATRIX


POINTS = (
    "hook_embed",
    "hook_pos_embed",
    "blocks.1.hook_resid_pre",
    "blocks.1.attn.hook_z",
    "blocks.1.hook_attn_out",
    "blocks.1.hook_resid_mid",
    "blocks.1.mlp.hook_pre",
    "blocks.1.mlp.hook_post",
    "blocks.1.hook_mlp_out",
    "blocks.1.hook_resid_post",
)


@pytest.mark.parametrize("point", POINTS)
def test_hooks_of_the_scan_see_and_change_what_those_of_the_matrix_do(point: str) -> None:
    module = attemper.compile(FORMULA, "ab").dense()
    tokens, lengths = torch.cat([word_of(9), 1 - word_of(9)]), torch.tensor([9, 6])
    real = torch.arange(9)[None, :] < lengths[:, None]
    seen: dict[str, torch.Tensor] = {}
    outputs = []
    for engine in ("matrix", "scan"):

        def halved(activation: torch.Tensor, engine: str = engine) -> torch.Tensor:
            seen[engine] = activation.clone()
            return activation / 2

        with hooks(module, {point: halved}):
            outputs.append(module(tokens, lengths, engine=engine)[real])
    shape = torch.broadcast_shapes(seen["matrix"].shape, seen["scan"].shape)
    matrix, scan = (seen[engine].expand(shape)[real] for engine in ("matrix", "scan"))
    assert (matrix - scan).abs().max() <= 1e-11
    assert (outputs[0] - outputs[1]).abs().max() <= 1e-11
    assert not torch.equal(outputs[0], module(tokens, lengths)[real])


@pytest.mark.parametrize(
    "point", ["hook_pos_embed", "hook_embed", "blocks.0.hook_mlp_out", "blocks.1.hook_resid_pre"]
)
@pytest.mark.parametrize("engine", ["scan", "auto"])
def test_a_coordinate_that_a_hook_has_changed_is_read_as_it_is(
    point: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Keys of position embeddings are closed forms only as long as they are in the stream."""
    module = attemper.compile("even(#<[a]) & O (b & Y a)", "ab", regime="temperature").dense()
    monkeypatch.setattr(dense, "SCAN_FROM", 300)
    tokens = word_of(300)
    calls: list[str] = []

    def changed(activation: torch.Tensor) -> torch.Tensor:
        calls.append(point)
        return activation * 1.01 + 0.001

    with hooks(module, {point: changed}):
        expected = module(tokens, engine="fused")
        calls.clear()
        found = module(tokens, engine=engine)
    assert calls == [point]
    assert (found - expected).abs().max() <= 1e-9
    assert (found - module(tokens)).abs().max() > 1e-4


def test_the_scan_refuses_to_run_where_gradients_are_wanted() -> None:
    module = attemper.compile(FORMULA, "ab").dense(engine="scan")
    module.blocks[0].mlp.W_in.requires_grad_()
    with pytest.raises(OptionError, match="no gradients"):
        module(word_of(3))
    with torch.no_grad():
        module(word_of(3))


@pytest.mark.parametrize("point", ["blocks.0.attn.hook_z", "blocks.1.mlp.hook_pre", "blocks.1.hook_mlp_out"])
def test_hooks_see_what_nobody_reads(point: str) -> None:
    """Values that W_O writes nowhere, and layers without hidden units."""
    network = attemper.compile(FORMULA, "ab").network
    bare = replace(network.layers[1], hidden=(), clamps=())
    module = DenseTransformer(replace(network, layers=(network.layers[0], bare)))
    module.blocks[0].attn.W_O[0] = 0
    _, matrix = module.run_with_cache(word_of(9))
    with hooks(module, {point: lambda seen: matrix.__setitem__("scan", seen)}):
        module(word_of(9), engine="scan")
    assert matrix["scan"].shape == matrix[point].shape
    assert matrix[point].numel() == 0 or (matrix["scan"] - matrix[point]).abs().max() <= 1e-11


@pytest.mark.parametrize("where", ["blocks.0", "blocks.0.attn", "blocks.1.mlp", "embed"])
def test_a_hook_on_a_module_that_the_scan_never_calls_is_an_error(where: str) -> None:
    module = attemper.compile(FORMULA, "ab").dense()
    handle = module.get_submodule(where).register_forward_hook(lambda *seen: None)
    with pytest.raises(OptionError, match=f"a hook on {where} sees nothing"):
        module(word_of(SCAN_FROM))
    handle.remove()
    module(word_of(SCAN_FROM))


@pytest.mark.parametrize("length", [1, 5])
def test_what_hooks_keep_does_not_change_any_more(length: int) -> None:
    """The scan adds to the stream in place, and hooks see copies."""
    module = attemper.compile(FORMULA, "ab").dense(engine="scan")
    _, expected = attemper.compile(FORMULA, "ab").dense(engine="matrix").run_with_cache(word_of(length))
    for name in POINTS:
        _, cache = module.run_with_cache(word_of(length), names=[name])
        assert (cache[name] - expected[name]).abs().max() <= 1e-11, name


@pytest.mark.sweep(4)
@pytest.mark.parametrize("block", [64, 1, 2, 5])
@pytest.mark.parametrize(
    ("formula", "regime"),
    [
        (FORMULA, "unbounded"),
        (FORMULA, "decoder"),
        ("even(#<[b])", "temperature"),
        ("a S (b & Y b)", "decoder"),
    ],
)
def test_long_words_run_block_by_block(
    formula: str, regime: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a block needs of the past is kept, or noticed to be missing."""
    monkeypatch.setattr(forward, "BLOCK", block)
    blocks: list[int] = []
    grid = forward.ModuleScan._grid

    def noticed(self: forward.ModuleScan, tokens: torch.Tensor, *rest: object) -> object:
        blocks.append(len(tokens))
        return grid(self, tokens, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(forward.ModuleScan, "_grid", noticed)
    module = attemper.compile(formula, "ab", regime=regime).dense()  # type: ignore[arg-type]
    for tokens in (word_of(131), (torch.arange(131) == 0).long()[None, :], torch.zeros(1, 131).long()):
        blocks.clear()
        found = module(tokens, engine="scan")
        assert max(blocks) == block
        assert (found - module(tokens, engine="matrix")).abs().max() <= 1e-11


def test_margins_are_the_same_in_all_engines() -> None:
    module = attemper.compile(FORMULA, "ab").dense()
    tokens, lengths = torch.cat([word_of(70), 1 - word_of(70)]), torch.tensor([70, 33])
    _, fused = module.run_with_margin(tokens, lengths, "fused")
    _, scan = module.run_with_margin(tokens, lengths, "scan")
    assert (fused - scan).abs().max() <= 1e-11
