"""The loop: the rate at every step, records that are means, and when a state is to be saved."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from attemper.errors import UnsupportedError
from attemper.training.loop import Logged, TrainingState, rate_at, trained
from attemper.training.losses import lesson_of
from attemper.training.models import model_of
from attemper.training.settings import TrainingSettings
from tests.support.drawn.training import tiny


def ran(**entries: Any) -> tuple[list[Logged | None], list[float]]:
    """What a run yields, and the losses of its steps, asked again of the same models."""
    settings = tiny(training=entries)
    lesson = lesson_of(settings)
    state = TrainingState.begun(model_of(settings, lesson.tokens, lesson.outputs), settings.training)
    losses: list[float] = []

    class Watched:
        def loss(self, model: torch.nn.Module, step: int) -> torch.Tensor:
            assert step == len(losses)
            found = lesson.loss(model, step)
            losses.append(float(found.detach()))
            return found

    done: list[int] = []
    found = list(trained(state, Watched(), settings.training, done.append))  # type: ignore[arg-type]
    assert done == [1] * settings.training.steps
    return found, losses


@pytest.mark.parametrize("warmup", [0, 1, 3, 10, 50])
def test_the_rate_rises_and_falls_to_nothing(warmup: int) -> None:
    asked = TrainingSettings(steps=20, warmup=warmup, rate=2.0)
    rates = [rate_at(asked, step) for step in range(20)]
    for step, rate in enumerate(rates):
        rising = 1 if warmup == 0 else min(1, (step + 1) / warmup)
        assert rate == pytest.approx(2.0 * rising * (20 - step) / 20, rel=1e-12)
    assert rates[0] == pytest.approx(2.0 / max(1, warmup), rel=1e-12)
    assert rates[-1] > 0


@pytest.mark.parametrize(
    ("steps", "log_every", "save_every"),
    [(7, 3, 2), (7, 7, 7), (6, 3, 4), (1, 50, 200), (5, 1, 1), (5, 2, 9), (0, 1, 1)],
)
def test_records_are_means_and_states_are_saved(steps: int, log_every: int, save_every: int) -> None:
    found, losses = ran(steps=steps, log_every=log_every, save_every=save_every)
    records = [one for one in found if one is not None]
    logged = [s for s in range(1, steps + 1) if s % log_every == 0 or s == steps]
    saved = [s for s in range(1, steps + 1) if s % save_every == 0 or s == steps]
    assert [one.step for one in records] == logged
    assert found.count(None) == len(saved)
    before = 0
    for one in records:
        own = losses[before : one.step]
        assert one.loss == pytest.approx(sum(own) / len(own), rel=1e-12)
        assert one.rate == rate_at(tiny(training={"steps": steps}).training, one.step - 1)
        assert one.gradient > 0
        before = one.step


@pytest.mark.parametrize("stop", range(8))
def test_a_state_that_is_restored_goes_on_as_it_would_have(stop: int) -> None:
    settings = tiny()
    lesson = lesson_of(settings)

    def begun() -> TrainingState:
        return TrainingState.begun(model_of(settings, 3, 3), settings.training)

    whole = begun()
    expected = list(trained(whole, lesson, settings.training, lambda _: None))
    first = begun()

    class Stopped(Exception):  # noqa: N818 - no error, but what interrupts
        pass

    def each(_: int) -> None:
        if first.step >= stop:
            raise Stopped

    records = []
    try:
        if stop:
            for one in trained(first, lesson, settings.training, each):
                records.append(one)
    except Stopped:
        pass
    second = begun()
    second.restore(first.tensors(), first.step, first.total)
    records += list(trained(second, lesson, settings.training, lambda _: None))
    assert records == expected
    for a, b in zip(whole.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(a, b)


def test_a_state_of_another_model_is_refused() -> None:
    settings = tiny()
    state = TrainingState.begun(model_of(settings, 3, 3), settings.training)
    list(trained(state, lesson_of(settings), settings.training, lambda _: None))
    fresh = TrainingState.begun(model_of(settings, 3, 3), settings.training)
    tensors = state.tensors()
    bad = {name: own for name, own in tensors.items() if not name.endswith("exp_avg")}
    with pytest.raises(ValueError, match="something else than Adam"):
        fresh.restore(bad, 7, 0.0)
    with pytest.raises(ValueError, match="something else than Adam"):
        fresh.restore({**tensors, "optimiser.0.exp_avg": torch.zeros(1)}, 7, 0.0)
    with pytest.raises(RuntimeError):
        fresh.restore({**tensors, "model.readout.bias": torch.zeros(5)}, 7, 0.0)


def test_a_run_that_leaves_the_numbers_stops() -> None:
    with pytest.raises(UnsupportedError, match=r"step \d+: the loss or its gradient is no finite number"):
        ran(steps=40, rate=1e30, warmup=0)
