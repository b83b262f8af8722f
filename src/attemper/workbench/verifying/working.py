"""What a worker does with a task, in another thread, process or machine: plain data comes, plain data goes.

A task names its model by the digest of the model's bytes, and brings these bytes or not. A worker keeps the
modules that it has built, in each thread its own, and answers None to a task whose model it has never seen:
the caller then sends that task again, with the bytes.
"""

from __future__ import annotations

import pickle
import threading
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import final

from attemper.checker.proof import deep
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.networks.layers import Network
from attemper.version import __version__
from attemper.workbench.model import Model
from attemper.workbench.verifying.answers import Verification
from attemper.workbench.verifying.batches import Batch
from attemper.workbench.verifying.comparing import TestedNetwork, try_batches
from attemper.workbench.verifying.engines import one_thread

MOST_KEPT = 2
"""How many models a thread of a worker keeps."""

RECURSION = 30_000
"""Room in which the deepest formulas that can be read can be pickled; reading a pickle takes no depth."""


@final
@dataclass(frozen=True)
class BatchTask:
    """Batches to be tried with the model whose bytes have this digest; `version` is the sender's."""

    digest: str
    packed: bytes | None
    batches: tuple[Batch, ...] = ()
    version: str = __version__


class _Kept(threading.local):
    """The networks that this thread has built, by digest, the oldest first."""

    def __init__(self) -> None:
        self.kept_networks: dict[str, TestedNetwork] = {}


_kept = _Kept()


def packed(model: Model) -> BatchTask:
    """A task with the model and no batches yet.

    Raises `UnsupportedError` for a formula that nests more deeply than this Python can write.
    """
    try:
        with deep(RECURSION):
            data = pickle.dumps((model.network, model.language.definition), protocol=pickle.HIGHEST_PROTOCOL)
    except RecursionError:
        # Python 3.12 has a limit for this that nobody can raise.
        raise UnsupportedError(
            "the formula nests too deeply for this version of Python to send it to another process: try "
            "its words in this one (leave 'jobs' and 'scheduler' out)",
            options=("jobs", "scheduler"),
        ) from None
    return BatchTask(sha256(data).hexdigest(), data)


def with_batches(task: BatchTask, batches: tuple[Batch, ...], *, brings_model: bool) -> BatchTask:
    """The task with these batches, with or without the model."""
    return replace(task, batches=batches, packed=task.packed if brings_model else None)


def work(task: BatchTask) -> Verification | None:
    """What the task's words show, or None if the task brings no model and this worker does not know it.

    Raises `UnsupportedError` where the sender has another version, whose words may be others.
    """
    if task.version != __version__:
        raise UnsupportedError(
            f"a worker has attemper {__version__}, and the sweep was begun by {task.version}: install "
            "the same version everywhere"
        )
    tested = _tested_of(task)
    if tested is None:
        return None
    with one_thread():
        return try_batches(tested, task.batches)


def _tested_of(task: BatchTask) -> TestedNetwork | None:
    kept_networks = _kept.kept_networks
    if task.digest not in kept_networks:
        if task.packed is None:
            return None
        for oldest in list(kept_networks)[: len(kept_networks) - MOST_KEPT + 1]:
            del kept_networks[oldest]
        network, language = _unpacked(task.packed)
        kept_networks[task.digest] = TestedNetwork.of(network, language)
    return kept_networks[task.digest]


def _unpacked(data: bytes) -> tuple[Network, Definition]:
    """The network and the language that `packed` has written."""
    network, language = pickle.loads(data)
    return network, language
