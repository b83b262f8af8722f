"""What depends on positions and lengths alone is computed once, and stays what it is."""

from __future__ import annotations

import copy
import dataclasses
import io
import random
import sys
import threading
from fractions import Fraction
from typing import Any

import pytest
import torch
from torch import Tensor

import attemper
from attemper.exact.closed_forms import Number
from attemper.running import attention, dense, kept
from attemper.running.kept import KeptTensors
from attemper.workbench.model import Model

FORMULA = "even(#<[a]) & (a S b) | #<[a] <= #>[b] | #[a] <= #[b]"
"""Position embeddings of all kinds, and in the temperature regime temperatures in n."""


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shape of the positions at which a closed form was evaluated, each time one was."""
    seen: list[tuple[int, ...]] = []

    def noting(module: Any) -> None:
        values = module.form_values

        def noted(form: Any, i: Tensor, n: Tensor) -> Tensor:
            seen.append(tuple(i.shape))
            return values(form, i, n)

        monkeypatch.setattr(module, "form_values", noted)

    for module in (dense, attention):
        noting(module)
    return seen


def compiled(regime: Any = "temperature") -> Model:
    return attemper.compile(FORMULA, "ab", at="last", regime=regime)


@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_closed_forms_are_evaluated_once_for_each_length_and_format(
    regime: Any, evaluated: list[tuple[int, ...]]
) -> None:
    model = compiled(regime)
    for length in (5, 9):
        for dtype in ("float64", "float32"):
            list(model.run(["a" * length], dtype=dtype, engine="fused"))
            first = len(evaluated)
            list(model.run(["b" * length, "ab" * (length // 2) + "b"], dtype=dtype))
            assert len(evaluated) == first
    # One row of positions serves a whole batch.
    assert {shape[0] for shape in evaluated} == {1}


def test_zero_queries_are_looked_for_once_where_nobody_can_change_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[None] = []
    find = attention.Attention._find_zero_queries

    def noted(self: attention.Attention) -> list[bool]:
        looked.append(None)
        return find(self)

    monkeypatch.setattr(attention.Attention, "_find_zero_queries", noted)
    model = compiled()
    layers = len(model.network.layers)
    for word in ("ab", "abba", "b" * 9):
        model.accepts(word, engine="fused")
    assert len(looked) == layers
    module = model.dense()
    for _ in range(3):
        module(torch.tensor([[0, 1]]))
    assert len(looked) == 4 * layers


def test_a_query_that_is_changed_behind_torch_s_back_is_obeyed() -> None:
    """`.data` leaves no trace, so that a user's module must look at its queries each time."""
    module = attemper.compile("even(#<[a])", "ab").dense()
    tokens = torch.tensor([[0, 1, 0, 0, 1]])
    patterns = []
    for weight in (0.0, 5.0):
        module.blocks[0].attn.W_Q.data[:, :, 0] = weight
        module.blocks[0].attn.W_K.data[:, :, 0] = torch.arange(module.cfg.d_model, dtype=torch.float64)
        streamed = module.run_with_cache(tokens, names=["blocks.0.attn.hook_z"])[1]
        scored = module.run_with_cache(tokens)[1]
        difference = streamed["blocks.0.attn.hook_z"] - scored["blocks.0.attn.hook_z"]
        assert difference.abs().max() < 1e-12
        patterns.append(scored["blocks.0.attn.hook_pattern"])
    assert not torch.equal(*patterns)


def test_ragged_batches_and_single_words_agree() -> None:
    """A batch of one length uses the table, one of several lengths does not."""
    module = compiled().dense()
    tokens, lengths = compiled().to_tokens(["abbab", "ab", "bbb"])
    together = module(tokens, lengths)
    for _ in range(2):
        for row, length in enumerate(lengths.tolist()):
            alone = module(tokens[row : row + 1, :length])
            assert torch.allclose(alone[0], together[row, :length], atol=1e-12)


def test_what_a_hook_writes_to_its_activation_is_forgotten() -> None:
    module = compiled().dense()
    tokens = torch.tensor([[0, 1, 1], [1, 0, 0]])
    before = module(tokens)

    def spoil(activation: Tensor) -> Tensor:
        return activation.fill_(7)

    names = [name for name, point in module.named_modules() if name.endswith(("hook_pos_embed", "hook_z"))]
    spoiled = module.run_with_hooks(tokens, on=dict.fromkeys(names, spoil))
    assert not torch.equal(spoiled, before)
    assert torch.equal(module(tokens), before)
    _, cache = module.run_with_cache(tokens)
    assert cache["hook_pos_embed"].shape == (2, 3, module.cfg.d_model)
    for activation in cache.values():
        activation.fill_(7)
    assert torch.equal(module(tokens), before)


def test_a_weighting_that_is_replaced_is_obeyed() -> None:
    """Temperatures are kept by what they are, not by the head that has them."""
    one, other = compiled("unbounded"), compiled("temperature")
    module = other.dense()
    tokens = torch.tensor([[0, 1, 1, 0]])
    before = module(tokens)
    theirs = [block.attn.weightings for block in one.dense().blocks]
    own = [list(block.attn.weightings) for block in module.blocks]
    for block, weightings in zip(module.blocks, theirs, strict=True):
        block.attn.weightings[:] = weightings
    warmer = module(tokens)
    assert not torch.equal(warmer, before)
    for block, weightings in zip(module.blocks, own, strict=True):
        block.attn.weightings[:] = weightings
    assert torch.equal(module(tokens), before)


def test_position_embeddings_that_are_replaced_are_obeyed() -> None:
    """The checker reads the positions of `module.network`, so that the module runs with these, too."""
    module = compiled().dense()
    tokens = torch.tensor([[0, 1, 1, 0]])
    before = module(tokens)
    network = module.network
    forms = tuple((coordinate, Number(Fraction(0))) for coordinate, _ in network.positions)
    module.network = dataclasses.replace(network, positions=forms)
    _, cache = module.run_with_cache(tokens, names=["hook_pos_embed"])
    assert not cache["hook_pos_embed"].any()
    module.network = network
    assert torch.equal(module(tokens), before)


def test_gradients_can_be_taken_after_a_run_in_inference_mode() -> None:
    module = compiled().dense()
    tokens = torch.tensor([[0, 1, 1]])
    with torch.inference_mode():
        module(tokens)
    for parameter in module.parameters():
        parameter.requires_grad_()
    module(tokens).sum().backward()
    assert module.embed.W_E.grad is not None


def test_copies_and_files_of_a_module_keep_nothing() -> None:
    module = compiled().dense()
    tokens = torch.tensor([[0, 1, 1]])
    output = module(tokens)
    file = io.BytesIO()
    torch.save(module, file)
    file.seek(0)
    for twin in (copy.deepcopy(module), torch.load(file, weights_only=False)):
        assert not twin._position_tables._kept
        assert torch.equal(twin(tokens), output)


def test_only_so_many_numbers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "NUMBERS_KEPT", 10)
    store, made = KeptTensors(), []

    def ask(key: int, size: int) -> None:
        store.get(key, lambda: made.append(key) or torch.zeros(size))

    for key in (1, 2, 1, 3, 1):
        ask(key, 4)  # 2 is the one that was used least recently when 3 comes
    assert made == [1, 2, 3]
    ask(2, 4)
    assert made == [1, 2, 3, 2]
    ask(4, 11)
    ask(4, 11)
    assert made == [1, 2, 3, 2, 4, 4]
    assert sum(tensor.numel() for tensor in store._kept.values()) <= 10


def test_threads_share_a_module() -> None:
    """Long words push kept tensors out, so that threads meet while the store changes."""
    module, began = attemper.compile("Y (a S b)", "ab").dense(), threading.Barrier(8)
    failed: list[Exception] = []

    def run(seed: int) -> None:
        draw = random.Random(seed)
        began.wait()
        try:
            for _ in range(12):
                module(torch.zeros((1, draw.randrange(1, 2_000)), dtype=torch.int64))
        except (RuntimeError, KeyError) as error:
            failed.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert failed == []
