"""The language that a network computes, for words of all lengths, read from its weights alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import final

from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.languages.regular.dfa import Dfa
from attemper.networks.layers import Network
from attemper.reading import machines
from attemper.reading.endless import endless
from attemper.reading.machines import automaton_of
from attemper.reading.programs import read_program

NAMED = (12, 100, 4, 0)
"""From which size of a bit's diagram on the bits of a layer get names of their own: tried in this order."""


@final
@dataclass(frozen=True)
class RecoveredMachine:
    """The minimal automaton of a network's language, the empty word included, and the program that it runs.

    The checker has proved from the weights that the network computes the automaton, for all lengths, in real
    arithmetic; `configurations` is how many the program's last walk met.
    """

    automaton: Dfa
    configurations: int
    realisation: Realisation


class EndlessError(UnprovenError):
    """A network whose counts seem to rise and fall without end. `said` is the program that it runs."""

    def __init__(self, message: str, said: Realisation) -> None:
        super().__init__(message)
        self.said = said


@final
@dataclass(frozen=True)
class DecompilingLimits:
    """How many configurations are followed, of which programs, and who is told what is being done."""

    configurations: int = machines.CONFIGURATIONS
    follow_endless: bool = True
    report: Callable[[str], None] = lambda _: None


def decompile(
    network: Network,
    *,
    configurations: int = machines.CONFIGURATIONS,
    seconds: float = machines.SECONDS,
    end: float | None = None,
    follow_endless: bool = True,
    report: Callable[[str], None] = lambda _: None,
) -> RecoveredMachine:
    """The automaton of all words, of any length n, that the network accepts in real arithmetic.

    Nothing but the network is looked at. Its verdict on the empty word, which it does not compute, is its
    `accepts_empty`. What is returned is PROVED by the checker's rule for automata.

    Raises `CapReachedError` (an `UnprovenError`) after `configurations` or `seconds`, which are over at `end`
    if they began before. Raises `UnprovenError` with the reason where the network puts out something else
    than a bit, is read at the first position, looks to the right, counts without end, or has a head that no
    rule covers. Unless `follow_endless`, raises `EndlessError` in the place of following a program that seems
    to count without end, by a few words that it is tried on.
    """
    _require_bit(network)
    limits = DecompilingLimits(configurations, follow_endless, report)
    clock = _Clock(monotonic() + seconds if end is None else end, seconds)
    reasons: list[UnprovenError] = []
    for large in NAMED:
        try:
            return _decompiled(network, large, limits, clock)
        except (machines.CapReachedError, EndlessError):
            raise
        except UnprovenError as error:
            reasons.append(error)
    raise reasons[0]


def program_of(network: Network, *, seconds: float = machines.SECONDS) -> Realisation:
    """The program that the network runs, as `reading.programs` finds it. Raises as `decompile` does.

    Nothing is proved: the checker has to be asked what the network computes.
    """
    _require_bit(network)
    clock = _Clock(monotonic() + seconds, seconds)
    return _read(network, max(NAMED), clock)


def _require_bit(network: Network) -> None:
    if network.symbols or network.measure is not None:
        raise UnprovenError("it puts out symbols or numbers, not a bit")
    if network.reads_first:
        raise UnprovenError("it is read at the first position, where an automaton has read one symbol only")
    if network.normalisation is not None:
        raise UnprovenError(
            "what is read through a normalisation is off by a little, more so in longer words"
        )


@final
@dataclass(frozen=True)
class _Clock:
    """When the time is over."""

    end: float
    seconds: float

    def look(self) -> None:
        """Raise `CapReachedError` once the time is over."""
        if monotonic() > self.end:
            raise machines.CapReachedError(f"it was not read within {self.seconds:g} seconds", "seconds")


def _read(network: Network, large: int, clock: _Clock) -> Realisation:
    try:
        return read_program(network, large, clock.look)
    except TooLargeError:
        raise UnprovenError("its Boolean blocks are too large to be compared") from None
    except RecursionError:
        raise UnprovenError("its Boolean blocks nest too deeply to be followed") from None


def _decompiled(network: Network, large: int, limits: DecompilingLimits, clock: _Clock) -> RecoveredMachine:
    limits.report("following heads and hidden units")
    said = _read(network, large, clock)
    clock.look()
    _require_left(said)
    if not limits.follow_endless:
        _require_end(said)
    limits.report(f"following a program of {len(said.program.steps):,} steps")
    followed = automaton_of(
        said.program,
        [tuple(ref for _, ref in group.bits) for group in said.groups],
        configurations=limits.configurations,
        seconds=clock.seconds,
        end=clock.end,
        accepts_empty=network.accepts_empty,
    )
    limits.report(f"{len(followed.dfa.moves):,} states; proving")
    verdict = judge(network, followed.dfa, (RealClaim(),), said)
    for assumption in verdict.claims[0].assumptions:
        raise UnprovenError(f"what was found is proved only if {assumption}")
    if verdict.status is not Status.PROVED:
        raise UnprovenError(f"the checker does not prove what was found: {verdict.claims[0].text}")
    return RecoveredMachine(followed.dfa, followed.configurations, said)


def _require_left(said: Realisation) -> None:
    """Raise `UnprovenError` for what looks to the right, before its steps are refused by their numbers."""
    if any(map(machines.looks_to_the_right, said.program.steps)):
        raise UnprovenError(
            "a head looks to the right, or at all positions, and only what looks to the left is followed, "
            "symbol by symbol: if what the network was made of can be said by masks j <= i and j < i (in a "
            "formula: of the past), compile that and decompile it; 'attemper check DIR' proves what a "
            "network is said to compute, whichever way it looks"
        )


def _require_end(said: Realisation) -> None:
    """Raise `EndlessError` where words show totals that rise and fall, farther and farther."""
    found = endless(said.program)
    if found is not None:
        raise EndlessError(str(found), said)
