"""How long words may be for a model as it stands: by the format in which it runs, and by its weights."""

from __future__ import annotations

import hashlib
from array import array

import torch

from attemper.exports.hugging_face.configuration import AttemperConfig
from attemper.networks.safetensors import Tensor, encode_tensors
from attemper.running.traceable.module import TraceableTransformer


def horizon_of(config: AttemperConfig, module: TraceableTransformer) -> int | None:
    """The greatest length in symbols that the configuration's certificate claims for this very module.

    That is the horizon of the one format that all its weights have. None, which is no claim: if there is no
    certificate, or that of another network; if the certificate says nothing of the format; if autocast, or
    what PyTorch is told of float32 in matrix products, computes in another format than that of the weights;
    and if a weight is not the network's own, as after training, pruning, or rounding to a format that does
    not hold it, of which nothing can be told afterwards.
    Hooks, and attributes of the module that somebody has replaced, are not looked at.
    Whether the claim holds, `attemper check` says of the folder that `attemper import` restores.
    """
    formats = {weight.dtype for weight in module.parameters()}
    devices = {weight.device.type for weight in module.parameters()}
    if len(formats) != 1 or "meta" in devices or any(map(torch.is_autocast_enabled, devices)):
        return None
    if torch.float32 in formats and not _multiplies_in_float32():
        return None
    horizon: int | None = config.horizons.get(str(formats.pop()).removeprefix("torch."))
    return horizon if digest_of_weights(module) == config.weights_sha256 else None


def _multiplies_in_float32() -> bool:
    """Whether no narrower format stands in for float32 in matrix products, as PyTorch can be told."""
    try:
        return torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # set by several ways, of which one says another thing
        return False


def digest_of_weights(module: TraceableTransformer) -> str:
    """The SHA-256 digest, in hexadecimal digits, of the `weights.safetensors` with the module's weights."""
    tensors = {
        name: Tensor(tuple(weight.shape), array("d", weight.double().flatten().tolist()))
        for name, weight in module.state_dict().items()
    }
    return hashlib.sha256(encode_tensors(tensors)).hexdigest()
