"""Named places in a running transformer where activations can be read or replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from torch import Tensor, nn


class HookPoint(nn.Module):
    """The identity. A PyTorch forward hook on it sees the activation, and replaces it by what it returns."""

    def forward(self, activation: Tensor) -> Tensor:
        return activation

    @property
    def is_watched(self) -> bool:
        """Whether somebody has registered a hook here."""
        return bool(self._forward_hooks or self._forward_pre_hooks)


@contextmanager
def hooks(model: nn.Module, on: Mapping[str, Callable[[Tensor], Tensor | None]]) -> Iterator[None]:
    """Call each function with the activation of its hook point while the block runs.

    A function that returns a tensor replaces the activation. Raises `KeyError` for an unknown name.

    >>> import attemper, torch
    >>> module = attemper.compile("O a", "ab").dense()
    >>> with hooks(module, {"blocks.0.attn.hook_z": torch.zeros_like}):
    ...     module(torch.tensor([[0, 1]])).round().tolist()
    [[0.0, 0.0]]
    """
    handles = []
    try:
        for name, function in on.items():
            handles.append(_point(model, name).register_forward_hook(_as_torch_hook(function)))
        yield
    finally:
        for handle in handles:
            handle.remove()


def _point(model: nn.Module, name: str) -> HookPoint:
    try:
        found = model.get_submodule(name)
    except AttributeError:
        found = None
    if not isinstance(found, HookPoint):
        raise KeyError(f"no hook point is called '{name}'; one is, for example, 'blocks.0.hook_resid_post'")
    return found


def _as_torch_hook(
    function: Callable[[Tensor], Tensor | None],
) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], Tensor | None]:
    def hook(module: nn.Module, arguments: tuple[Tensor, ...], output: Tensor) -> Tensor | None:
        del module, arguments
        return function(output)

    return hook
