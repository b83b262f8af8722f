"""Many runs: a product of settings, on any executor. Finished runs are not run again."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from itertools import product
from pathlib import Path

from attemper.errors import OptionError, UnsupportedError
from attemper.training.entries import changed, digest_of, entries_of, settings_from
from attemper.training.settings import Settings

DIGITS = 16
"""So many digits of its digest name a run's folder."""


def products(entries: Mapping[str, object], axes: Sequence[str]) -> list[Settings]:
    """The settings with every choice of values; an axis is a text such as `seeds.data=[0, 1, 2]`.

    Choices that are the same settings are one run. Raises `OptionError` for an axis that is no list of
    values, for two of one entry, and what `settings_from` raises.

    >>> task = {"task": {"name": "parity-even", "p": "1/2"}}
    >>> [one.seeds.init for one in products(task, ["seeds.init=[0, 1]", "training.steps=[5, 6]"])]
    [0, 0, 1, 1]
    """
    listed = [_axis(text) for text in axes]
    for place, (name, _) in enumerate(listed):
        if name in (other for other, _ in listed[:place]):
            raise OptionError(f"'{name}' is swept over twice: list all its values at once")
    choices = [[(name, value) for value in values] for name, values in listed]
    found = [settings_from(changed(entries, chosen)) for chosen in product(*choices)]
    return list({digest_of(one): one for one in found}.values())


def folder_of(settings: Settings, folder: Path) -> Path:
    """Where a run of these settings stands in the folder of a sweep."""
    return folder / digest_of(settings)[:DIGITS]


def swept(
    runs: Sequence[Settings],
    folder: Path,
    executor: Executor,
    threads: int,
    each: Callable[[int], None],
    device: str = "cpu",
) -> Iterator[Path]:
    """The folders of all runs, as they are finished; `each` is told of each one.

    A run that was begun before goes on; one that is finished is there at once. Raises what `train` raises,
    and `UnsupportedError` if a process dies.
    """
    waiting = [
        executor.submit(_trained, entries_of(one), folder_of(one, folder), threads, device) for one in runs
    ]
    try:
        for done in as_completed(waiting):
            each(1)
            yield done.result()
    except BrokenExecutor:
        raise UnsupportedError(
            "a process of the sweep died: was it killed, or is there too little memory? What is finished "
            "stays: sweep again, with fewer jobs"
        ) from None
    finally:
        for one in waiting:
            one.cancel()


def _trained(entries: Mapping[str, object], folder: Path, threads: int, device: str) -> Path:
    """One run, in a process of its own."""
    import torch

    from attemper.training.runs import train

    torch.set_num_threads(threads)
    return train(settings_from(entries), folder, resume=True, device=device).folder


def _axis(text: str) -> tuple[str, list[object]]:
    """An entry's name and its values."""
    name, _, values = (part.strip() for part in text.partition("="))
    try:
        listed = tomllib.loads(f"values = {values}")["values"]
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list) or not listed:
        raise OptionError(f"'{text}' lists no values of an entry: write it as seeds.data=[0, 1, 2]")
    return name, listed
