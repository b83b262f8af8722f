"""Whether an engine can run a module, and reaches what somebody has hooked there."""

from __future__ import annotations

import torch

from attemper.errors import OptionError
from attemper.networks.layers import Softmax
from attemper.running.blocks import BlockStack
from attemper.running.engines.names import ON_QUERIES, ON_SCORES, Engine
from attemper.running.hooks import HookPoint


def scan_is_refused(model: BlockStack) -> str:
    """Why the scan does not run this network; nothing if it does."""
    if model.network.normalisation is not None:
        return "its sublayers read normalised coordinates, whose keys are no closed forms of the position"
    weightings = (weighting for layer in model.blocks for weighting in layer.attn.weightings)
    if not all(isinstance(weighting, Softmax) for weighting in weightings):
        return "it has hard attention"
    return ""


def require_runnable(model: BlockStack, engine: Engine) -> None:
    """Raises `OptionError` for numpy, and for the scan of a network that it does not run."""
    if engine is Engine.NUMPY:
        raise OptionError(
            "engine='numpy' runs words without a module: take model.run(words, engine='numpy'), or make the "
            "module with another engine"
        )
    reason = scan_is_refused(model) if engine is Engine.SCAN else ""
    if reason:
        raise OptionError(f"engine='scan' does not run this network: {reason}; use engine='fused'")


def require_reached(model: BlockStack, engine: Engine) -> bool:
    """Whether somebody watches. Raises `OptionError` for a hook that the engine does not reach.

    And for gradients, which the scan has not.
    """
    missed = {Engine.MATRIX: (), Engine.SCAN: ON_SCORES + ON_QUERIES}.get(engine, ON_SCORES)
    if engine is Engine.SCAN:
        _require_no_gradients(model)
    watched = False
    for name, module in model.named_modules():
        if not (module._forward_hooks or module._forward_pre_hooks) or not name:
            continue
        point = name.rpartition(".")[2]
        if isinstance(module, HookPoint):
            watched = True
        elif engine is Engine.SCAN:
            raise OptionError(
                f"a hook on {name} sees nothing under the engine 'scan', which calls hook points alone: "
                "hook one of them, for example 'blocks.0.hook_resid_post', or take engine='fused'"
            )
        if point in missed:
            remedy = "matrix" if point in ON_SCORES else "fused"
            raise OptionError(
                f"a hook on {name} sees nothing under the engine '{engine}': make the module with "
                f"engine='{remedy}', or name the engine in the call"
            )
    return watched


def wants_gradients(model: BlockStack) -> bool:
    """Whether some parameter asks for a gradient now."""
    return torch.is_grad_enabled() and any(weight.requires_grad for weight in model.parameters())


def _require_no_gradients(model: BlockStack) -> None:
    if wants_gradients(model):
        raise OptionError(
            "the engine 'scan' has no gradients, which parameters ask for: take engine='fused', or run "
            "the module in torch.no_grad()"
        )
