"""The three regimes: what position embeddings may grow like, and where the sharpness comes from."""

from __future__ import annotations

from enum import StrEnum


class Regime(StrEnum):
    """How a compiled network makes soft attention sharp enough at every length."""

    UNBOUNDED = "unbounded"
    """Position embeddings grow with i and n; temperature 1."""
    TEMPERATURE = "temperature"
    """Bounded position embeddings; each head has a temperature that depends on n."""
    DECODER = "decoder"
    """Future-masked; position embeddings bounded, they and the temperatures depend on i only."""
