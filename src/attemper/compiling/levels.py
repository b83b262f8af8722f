"""What passes hand on: a language at one stage on its way from a program to a softmax network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never, final

from attemper.attention_program import wellformed as program_wellformed
from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import SymbolGroup
from attemper.errors import InternalError
from attemper.networks import wellformed as network_wellformed
from attemper.networks.layers import Network


@final
@dataclass(frozen=True)
class ProgramLevel:
    """An attention program, and what its network is to know besides."""

    program: Program
    names: Mapping[Ref, str]
    """The subformulas that steps compute."""
    reads_first: bool
    accepts_empty: bool
    symbols: tuple[tuple[Ref, ...], ...] = ()
    """Groups of bits of which at most one ever holds."""


@final
@dataclass(frozen=True)
class NetworkLevel:
    """A network, and where it makes the groups of bits of which at most one is 1."""

    network: Network
    groups: tuple[SymbolGroup, ...]


Level = ProgramLevel | NetworkLevel


def require_wellformed(level: Level, after: str) -> None:
    """Raise `InternalError` if the pass called `after` left its level ill-formed."""
    match level:
        case ProgramLevel():
            program_wellformed.require_wellformed(level.program, after)
        case NetworkLevel():
            found = network_wellformed.complaints(level.network)
            if found:
                listed = "; ".join(found[:5])
                raise InternalError(f"ill-formed network after '{after}' (please report): {listed}")
        case _:
            assert_never(level)
