"""A network read back: the automaton or the formula that its weights compute, proved for all lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import monotonic

from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import RealClaim
from attemper.certificates.files import load_if_any
from attemper.checker.check import judge
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.compiling.lowering.program_to_formula import program_to_formula
from attemper.errors import OptionError, UnsupportedError
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.wellformed import require_wellformed
from attemper.reading import networks as reading
from attemper.reading.implied import sure_selections
from attemper.reading.machines import CONFIGURATIONS, SECONDS, counts_without_bound
from attemper.workbench.automata import Caps
from attemper.workbench.decompiled import Decompiled, ReadNetwork
from attemper.workbench.language import Language
from attemper.workbench.limits import limits_among
from attemper.workbench.model import Model


def decompile(
    network: str | Path | Model | Network,
    *,
    edited: bool = False,
    limits: Mapping[str, int] | None = None,
    seconds: float = SECONDS,
    report: Callable[[str], None] = lambda _: None,
) -> Decompiled:
    """The language of all words, of any length n, that a network accepts in real arithmetic, proved.

    The analysis reads the weights; neither the certificate nor what the network was compiled from is looked
    at. `network` is a folder, whose weights may have been changed if `edited`, a model or a network. At most
    so many configurations are followed as `limits` says (`{"configurations": 200_000}`), for at most so many
    `seconds`.

    Raises `MalformedFileError` (no such folder), `OptionError`, and `UnsupportedError` where the network puts
    out something else than a bit, is read at the first position or normalises what it reads.
    (The automaton is finite as memories are: Yang, Chiang and Angluin, "Masked Hard-Attention Transformers
    Recognize Exactly the Star-Free Languages", 2024; the proof of what is read is the checker's.)

    >>> from attemper.workbench.compiling import compile
    >>> found = decompile(compile("H (a -> Y b)", "ab"))
    >>> len(found.automaton.moves), found.automaton.accepts(("b", "a")), found.formula
    (4, True, 'H (b | Y b)')
    >>> print(decompile(compile("F a", "ab", at="last")).status)
    UNKNOWN
    """
    most = limits_among(limits, {"configurations": CONFIGURATIONS})
    subject = subject_of(network, edited=edited)
    caps = Caps(most["configurations"], seconds)
    try:
        return read_back(subject, caps, report)
    except UnprovenError as reason:
        return Decompiled(subject, reason=str(reason), caps=caps)


def read_back(
    subject: ReadNetwork, caps: Caps | None = None, report: Callable[[str], None] = lambda _: None
) -> Decompiled:
    """What is proved of a network. Raises what `decompile` raises, and `UnprovenError` with the reason."""
    caps = caps or Caps()
    if not caps.seconds > 0:
        raise OptionError(f"seconds={caps.seconds!r} is no number above 0", options=("seconds",))
    end = monotonic() + caps.seconds
    _require_bit(subject.network)
    read = partial(
        reading.decompile,
        subject.network,
        configurations=caps.configurations,
        seconds=caps.seconds,
        end=end,
        report=report,
    )
    try:
        found = _read(subject, read, report)
    except UnprovenError as reason:
        counting = _counting_in_the_end(subject, str(reason), end - monotonic(), report)
        if counting is None:
            raise reason from None
        found = counting
    return replace(found, caps=caps)


def _read(
    subject: ReadNetwork, read: Callable[..., reading.RecoveredMachine], report: Callable[[str], None]
) -> Decompiled:
    """What is proved of the network: a formula before an automaton where it seems to count without end."""
    try:
        found = read(follow_endless=False)
    except reading.EndlessError as reason:
        counting = _counting(subject, reason.said, str(reason), report)
        if counting is not None:
            return counting
        found = read()
    held = Language(found.automaton, subject.network.alphabet)
    return Decompiled(subject, held, found.realisation, found.configurations)


def subject_of(network: str | Path | Model | Network, *, edited: bool = False) -> ReadNetwork:
    """The network, and what it is said to compute.

    Raises `MalformedFileError`, `UnsupportedError`, and `OptionError` for a network that is not well formed.
    """
    match network:
        case Network():
            return ReadNetwork(require_wellformed(network))
        case Model():
            return ReadNetwork(
                require_wellformed(network.network), network.regime, network.language.definition
            )
        case str() | Path():
            folder = Path(network)
            certificate = load_if_any(folder)
            claimed = None if certificate is None else certificate.language
            if edited:
                return ReadNetwork(files.load_edited(folder)[0].network, claimed=claimed, place=str(network))
            own, source = files.load(folder)
            regime = Regime(source.regime) if source.regime in set(Regime) else Regime.UNBOUNDED
            return ReadNetwork(own, regime, claimed, str(network))
        case _:
            raise OptionError(
                f"a {type(network).__name__} is no network: give a folder, a model or a network"
            )


def _require_bit(network: Network) -> None:
    """Raise `UnsupportedError` for a network of which no automaton says what it computes."""
    if network.symbols or network.measure is not None:
        raise UnsupportedError(
            "it puts out symbols or numbers: only a network that puts out a bit is read back"
        )
    if network.reads_first:
        raise UnsupportedError(
            "it is read at the first position: only a network that is read last is read back"
        )
    if network.normalisation is not None:
        raise UnsupportedError(
            "what it reads through a normalisation is off by a little, more so in longer words, so that no "
            "automaton is its language at all lengths: decompile the network that was normalised"
        )


def _counting_in_the_end(
    subject: ReadNetwork, reason: str, seconds: float, report: Callable[[str], None]
) -> Decompiled | None:
    """The formula of a network for which no automaton was found, as `_counting` has it."""
    try:
        said = reading.program_of(subject.network, seconds=seconds)
    except UnprovenError:
        return None
    return _counting(subject, said, reason, report)


def _counting(
    subject: ReadNetwork, said: Realisation, reason: str, report: Callable[[str], None]
) -> Decompiled | None:
    """The formula of a network whose counts rise and fall, if it is proved to be the network's."""
    report("looking for a formula that counts")
    network = subject.network
    try:
        if not counts_without_bound(said.program):
            return None
        formula = program_to_formula(said.program, sure_selections(said.program))
    except (UnprovenError, UnsupportedError):
        return None
    language = TemporalLanguage(formula, At.LAST, network.accepts_empty)
    verdict = judge(network, language, (RealClaim(),))
    held = Language(language, network.alphabet)
    return Decompiled(subject, held, said, reason=reason) if verdict.status is Status.PROVED else None
