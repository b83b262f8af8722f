"""nnsight reads and edits a module whose engine is the matrix, as docs/transformer-lens.md shows."""

from __future__ import annotations

import pytest
import torch

import attemper

pytestmark = pytest.mark.exports

MODEL = attemper.compile("#<['0'] <= #<['1']", "01")
WORDS = ["0110", "0011", "1100"]
POINTS = ("attn.hook_pattern", "attn.hook_z", "hook_resid_post")


def test_activations_are_read_as_our_cache_has_them() -> None:
    from nnsight import NNsight

    module = MODEL.dense(engine="matrix")
    tokens, _ = MODEL.to_tokens(WORDS)
    expected, cache = MODEL.dense(engine="matrix").run_with_cache(tokens)
    traced = NNsight(module)
    with traced.trace(tokens):
        pattern = traced.blocks[0].attn.hook_pattern.output.save()
        z = traced.blocks[0].attn.hook_z.output.save()
        stream = traced.blocks[0].hook_resid_post.output.save()
        output = traced.output.save()
    for name, found in zip(POINTS, (pattern, z, stream), strict=True):
        assert torch.equal(found, cache[f"blocks.0.{name}"]), name
    assert torch.equal(output, expected)


def test_edits_do_what_a_hook_of_ours_does() -> None:
    from nnsight import NNsight

    tokens, _ = MODEL.to_tokens(WORDS)
    own = MODEL.dense(engine="matrix")
    for point in POINTS:
        traced = NNsight(MODEL.dense(engine="matrix"))
        on = {f"blocks.0.{point}": torch.zeros_like}
        with traced.trace(tokens):
            place = traced.blocks[0]
            for name in point.split("."):
                place = getattr(place, name)
            place.output[:] = 0
            output = traced.output.save()
        assert torch.equal(output, own.run_with_hooks(tokens, on=on)), point
        assert not torch.equal(output, own(tokens)), point
