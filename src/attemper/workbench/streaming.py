"""What is said of a network as a stream, before any symbol is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.errors import UnsupportedError
from attemper.running.streaming.planning import REMEDY
from attemper.running.streaming.stream import Stream
from attemper.workbench.model import Model


@final
@dataclass(frozen=True)
class Streaming:
    """The most numbers of a stream's state, or what forbids a stream."""

    most: int | None
    refused: str | None

    def __str__(self) -> str:
        if self.refused is not None:
            return f"none: {self.refused}"
        return f"its state has at most {self.most:,} numbers, at every position"


def streaming_of(model: Model) -> Streaming:
    """What a stream of the model keeps, or the head or layer that forbids one.

    >>> import attemper
    >>> print(streaming_of(attemper.compile("O a", "ab", regime="decoder")))
    its state has at most 92 numbers, at every position
    >>> print(streaming_of(attemper.compile("X a", "ab", at="first")))
    none: layer 0, head 0 looks at positions after it
    """
    try:
        return Streaming(Stream(model.network, "").most, None)
    except UnsupportedError as error:
        return Streaming(None, str(error).removesuffix(f": {REMEDY}"))
