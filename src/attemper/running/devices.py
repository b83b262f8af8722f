"""Where torch computes."""

from __future__ import annotations

import torch

from attemper.errors import OptionError

DEVICES = ("cpu", "cuda", "mps")


def device_named(name: str, form: torch.dtype = torch.float32) -> torch.device:
    """The device of that name, for numbers of that format. Raises `OptionError` if torch finds none here.

    >>> device_named("cpu", torch.float64)
    device(type='cpu')
    """
    if name not in DEVICES:
        raise OptionError(f"device='{name}' is none of {', '.join(DEVICES)}", options=("device",))
    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[name]:
        others = " or ".join(own for own in DEVICES if there[own])
        raise OptionError(f"torch finds no {name} here: use {others}", options=("device",))
    if name == "mps" and form is torch.float64:
        raise OptionError("mps has no float64: use float32, or the cpu", options=("device", "dtype"))
    return torch.device(name)
