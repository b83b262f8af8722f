"""Tensors that depend on positions and lengths alone, computed once and used again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock

import torch
from torch import Tensor

NUMBERS_KEPT = 1 << 20
"""How many numbers one store keeps at most (8 MiB in float64)."""


class KeptTensors:
    """The tensors that were asked for last; what exceeds `NUMBERS_KEPT` numbers is made anew each time.

    Nobody may write to a tensor that was kept. Threads may share a store.

    >>> kept = KeptTensors()
    >>> kept.get("ones", lambda: torch.ones(2)) is kept.get("ones", lambda: torch.ones(2))
    True
    """

    def __init__(self) -> None:
        self._kept: dict[Hashable, Tensor] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """The tensor of this key; `make` makes it where it is not kept."""
        if torch.compiler.is_compiling():
            return make()
        with self._lock:
            found = self._kept.pop(key, None)
            if found is not None:
                self._kept[key] = found  # as the one that was used last
                return found
        # A tensor of inference mode could not be used in a gradient later.
        with torch.inference_mode(False), torch.no_grad():
            made = make()
        if made.numel() <= NUMBERS_KEPT:
            with self._lock:
                self._keep(key, made)
        return made

    def _keep(self, key: Hashable, made: Tensor) -> None:
        self._kept[key] = made
        numbers = sum(tensor.numel() for tensor in self._kept.values())
        for oldest in list(self._kept):
            if numbers <= NUMBERS_KEPT:
                return
            numbers -= self._kept.pop(oldest).numel()

    def __getstate__(self) -> dict[str, object]:
        """Copies and files of a module begin with nothing kept."""
        return {"_kept": {}}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Made by a copy or read from a file."""
        self.__dict__.update(state, _lock=Lock())
