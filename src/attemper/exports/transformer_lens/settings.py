"""What TransformerLens asks of a model's `cfg`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, final

from attemper.running.config import Config


@final
@dataclass(frozen=True)
class LensConfig(Config):
    """The sizes of a network, and the settings that TransformerLens' tools look at.

    `n_heads` and `d_mlp` are those of the layer with the most. There is no `n_ctx`, since words of every
    length are read, and no beginning-of-sequence token is prepended.
    """

    model_name: str
    n_ctx: None = None
    n_key_value_heads: None = None
    attn_only: bool = False
    parallel_attn_mlp: bool = False
    positional_embedding_type: str = "standard"
    default_prepend_bos: bool = False
    use_attn_result: bool = False
    use_split_qkv_input: bool = False
    use_attn_in: bool = False
    use_hook_mlp_in: bool = False


def settings_of(config: Config, name: str, kept: Mapping[str, Any]) -> LensConfig:
    """The settings of a model of that name; `kept` says, by setting, what caches have of parts of layers."""
    sizes = {one.name: getattr(config, one.name) for one in fields(Config)}
    return LensConfig(**sizes, model_name=name, **kept)
