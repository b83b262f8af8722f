"""The engines that a network can run on."""

from __future__ import annotations

from enum import StrEnum


class Engine(StrEnum):
    """How attention is computed."""

    AUTO = "auto"
    MATRIX = "matrix"
    FUSED = "fused"
    SCAN = "scan"
