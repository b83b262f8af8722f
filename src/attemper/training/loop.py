"""The training loop: Adam, a rate that rises and falls by the step, and a record of the loss.

Everything that decides a step follows from the settings, the number of the step and the state before it: a
run that goes on from a saved state does what it would have done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import final

import torch
from torch import Tensor, nn

from attemper.errors import UnsupportedError
from attemper.training.losses import Lesson
from attemper.training.settings import TrainingSettings

_ENTRIES = ("exp_avg", "exp_avg_sq")
"""What Adam remembers of each parameter, beside the number of steps."""


@final
@dataclass
class TrainingState:
    """A model, its optimiser, how many steps are done, and the sum of the losses not yet recorded."""

    model: nn.Module
    optimiser: torch.optim.Adam
    step: int = 0
    total: float = 0.0

    @classmethod
    def begun(cls, model: nn.Module, asked: TrainingSettings) -> TrainingState:
        """Before the first step."""
        return cls(model, torch.optim.Adam(model.parameters(), lr=asked.rate))

    def tensors(self) -> dict[str, Tensor]:
        """Everything that is trained or remembered, by name, as it is saved."""
        found = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for number, own in self.optimiser.state_dict()["state"].items():
            found |= {f"optimiser.{number}.{name}": tensor for name, tensor in own.items()}
        return {name: tensor.detach().clone().contiguous() for name, tensor in found.items()}

    def restore(self, tensors: dict[str, Tensor], step: int, total: float) -> None:
        """Become the state that these tensors are of. Raises `ValueError` if they are of another model."""
        self.model.load_state_dict(
            {name.removeprefix("model."): own for name, own in tensors.items() if name.startswith("model.")}
        )
        remembered: dict[int, dict[str, Tensor]] = {}
        for name, own in tensors.items():
            if name.startswith("optimiser."):
                _, number, entry = name.split(".")
                remembered.setdefault(int(number), {})[entry] = own
        parameters = list(self.model.parameters())
        for place, entries in remembered.items():
            expected = {**dict.fromkeys(_ENTRIES, tuple(parameters[place].shape)), "step": ()}
            if {entry: tuple(own.shape) for entry, own in entries.items()} != expected:
                raise ValueError(f"of parameter {place} it remembers something else than Adam")
        groups = self.optimiser.state_dict()["param_groups"]
        self.optimiser.load_state_dict({"state": remembered, "param_groups": groups})
        self.step, self.total = step, total


@final
@dataclass(frozen=True)
class Logged:
    """The mean loss, in nats, since the record before, and the rate and the gradient's norm of this step."""

    step: int
    loss: float
    rate: float
    gradient: float


def rate_at(asked: TrainingSettings, step: int) -> float:
    """The rate of a step, counted from 0: it rises over `warmup` steps and falls in a line to 0.

    >>> asked = TrainingSettings(steps=100, warmup=10, rate=1.0)
    >>> rate_at(asked, 4), rate_at(asked, 50)
    (0.48, 0.5)
    """
    rising = min(1.0, (step + 1) / asked.warmup) if asked.warmup else 1.0
    return asked.rate * rising * (1 - step / asked.steps)


def trained(
    state: TrainingState, lesson: Lesson, asked: TrainingSettings, each: Callable[[int], None]
) -> Iterator[Logged | None]:
    """Do the steps that are left; `each` is told after each one. Yields a record, or None to save the state.

    The state is to be saved where None is yielded: after every `save_every` steps, and after the last. Raises
    `UnsupportedError` for a loss, or a gradient, that is no finite number.
    """
    while state.step < asked.steps:
        rate = rate_at(asked, state.step)
        for group in state.optimiser.param_groups:
            group["lr"] = rate
        loss = lesson.loss(state.model, state.step)
        state.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        gradient = nn.utils.clip_grad_norm_(state.model.parameters(), asked.clip)
        if not (isfinite(float(loss.detach())) and isfinite(float(gradient))):
            raise UnsupportedError(
                f"step {state.step + 1:,}: the loss or its gradient is no finite number: "
                "train with a smaller training.rate"
            )
        state.optimiser.step()
        state.step, state.total = state.step + 1, state.total + float(loss.detach())
        if state.step % asked.log_every == 0 or state.step == asked.steps:
            since = state.step - (state.step - 1) // asked.log_every * asked.log_every
            yield Logged(state.step, state.total / since, rate, float(gradient))
            state.total = 0.0
        if state.step % asked.save_every == 0 or state.step == asked.steps:
            yield None
        each(1)
