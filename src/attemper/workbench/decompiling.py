"""A network read back: the automaton or the formula that its weights compute, proved for all lengths."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, assert_never, final

from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import load_if_any
from attemper.certifying.certificate import certify
from attemper.checker.check import judge
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.compiling.lowering.program_to_formula import program_to_formula
from attemper.errors import ExitCode, OptionError, UnprovedError, UnsupportedError
from attemper.escapes import escaped
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.minimal import difference
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Word
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.wellformed import require_wellformed
from attemper.reading import networks as reading
from attemper.reading.implied import sure_selections
from attemper.reading.machines import CONFIGURATIONS, SECONDS, counts_without_bound
from attemper.workbench.automata import Caps, automaton_of_language
from attemper.workbench.language import Language
from attemper.workbench.limits import limits_among
from attemper.workbench.model import Model
from attemper.workbench.translate import translate
from attemper.writing import write_together

if TYPE_CHECKING:
    from attemper.workbench.report.decompiled import Remarks


class PrintAs(StrEnum):
    """What is printed or written of what was read."""

    AUTOMATON = "automaton"
    FORMULA = "formula"
    PROGRAM = "program"


@final
@dataclass(frozen=True)
class ReadNetwork:
    """A network, and what is said of it: a remark for whoever asks where the two differ."""

    network: Network
    regime: Regime = Regime.UNBOUNDED
    claimed: Definition | None = None
    place: str = ""
    """The folder that it was read from."""


@final
@dataclass(frozen=True, repr=False)
class Decompiled:
    """What a network computes, for words of all lengths, in real arithmetic: PROVED, or UNKNOWN.

    It is the minimal automaton, with the number of `configurations` that were followed, or, of a network
    whose counts rise and fall and for which no automaton was found, a past formula that counts. The empty
    word's verdict is the network's. `str(...)` is what `attemper decompile` prints.
    """

    subject: ReadNetwork
    held: Language | None = None
    """The language; None of UNKNOWN."""
    realisation: Realisation | None = None
    """The program that the network runs, of what is proved."""
    configurations: int | None = None
    reason: str = ""
    """Why there is no automaton, or nothing at all."""
    caps: Caps = field(default_factory=Caps)
    """Within which a claim is followed that it is compared with."""

    def __repr__(self) -> str:
        if self.held is None:
            return "<Decompiled: UNKNOWN>"
        match self.held.definition:
            case Dfa(_, moves):
                return f"<Decompiled: an automaton with {len(moves)} states, proved>"
            case _:
                return "<Decompiled: a formula that counts, proved>"

    def __str__(self) -> str:
        from attemper.workbench.report.decompiled import lines_of

        return "\n".join(map(escaped, lines_of(self, self.remarks)))

    def __bool__(self) -> bool:
        """There may be no answer: look at the status."""
        raise TypeError("what was read is not true or false; look at its status")

    @property
    def status(self) -> Status:
        """PROVED, or UNKNOWN with the `reason`."""
        return Status.UNKNOWN if self.held is None else Status.PROVED

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper decompile` returns to the shell."""
        return ExitCode.UNKNOWN if self.held is None else ExitCode.OK

    @property
    def language(self) -> Language:
        """The language that the network computes. Raises `UnprovedError` with the reason, of UNKNOWN."""
        if self.held is None:
            raise UnprovedError(f"it is not read back: {self.reason}")
        return self.held

    @property
    def automaton(self) -> Dfa | None:
        """The minimal automaton, the empty word included; None where none was found, for the `reason`."""
        found = None if self.held is None else self.held.definition
        return found if isinstance(found, Dfa) else None

    @cached_property
    def formula(self) -> str:
        """The text of a past formula, read at the last position, that is proved to be the network's language.

        Of the empty word a formula says nothing. Raises `UnprovedError` where nothing is known, and
        `UnsupportedError` where an automaton has no formula below 20,000 operators, or none that is proved.
        """
        if isinstance(self.language.definition, TemporalLanguage):
            return show(self.language.definition.formula)
        assert self.automaton is not None, "weights are read back as one of the two"
        found = translate(self.automaton)
        if not found.proved:
            raise UnsupportedError("the automaton's formula is not proved to be the same language")
        return show(found.formula)

    @property
    def program(self) -> str:
        """The steps of the program that the network runs. Raises `UnprovedError` where nothing is known."""
        if self.realisation is None:
            raise UnprovedError(f"it is not read back: {self.reason}")
        return show_program(self.realisation.program)

    @cached_property
    def remarks(self) -> Remarks | None:
        """Its class, a short formula, where it differs from the claim; None of UNKNOWN. This takes time."""
        from attemper.workbench.report.decompiled import remarks_on

        return None if self.held is None else remarks_on(self)

    @property
    def record(self) -> dict[str, object]:
        """What was read, as JSON data."""
        from attemper.workbench.report.decompiled import record_of

        return record_of(self, self.remarks)

    def text(self, form: PrintAs = PrintAs.AUTOMATON) -> str:
        """The automaton as JSON, the formula or the program: what stands in a file, line break included.

        Raises `UnprovedError` and `UnsupportedError` where that does not exist.
        """
        match form:
            case PrintAs.PROGRAM:
                return self.program
            case PrintAs.FORMULA:
                return f"{self.formula}\n"
            case PrintAs.AUTOMATON:
                found = self.language.definition
                if not isinstance(found, Dfa):
                    raise UnsupportedError(
                        "no automaton was found, but a formula that counts: write that, as formula",
                        option="as",
                    )
                return dfa_to_json(found)
            case _:
                assert_never(form)

    def save(self, path: str | Path, form: PrintAs = PrintAs.AUTOMATON) -> None:
        """Write what was read into a file. Raises what `text` raises, and `MalformedFileError`."""
        write_together({Path(path): self.text(form).encode("utf-8")})

    @property
    def model(self) -> Model:
        """The same weights as a model whose language is what was read."""
        return Model(self.subject.network, self.language, self.subject.regime, said=self.realisation)

    def certificate(self, progress: Callable[[int], None] = lambda _: None) -> Certificate:
        """A certificate whose claim is what was read, with the horizons of all float formats."""
        model = self.model
        said = None if self.automaton is None else self.realisation
        return certify(model.network, model.digest, self.language.definition, said, progress)


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


@final
@dataclass(frozen=True)
class Departure:
    """Where what was read differs from the claim: a word (of automata a shortest), None if there is none.

    `unknown` says why that is not known.
    """

    word: Word | None
    unknown: str = ""


def departure(found: Decompiled) -> Departure | None:
    """Where what was read differs from what is claimed; None where nothing is claimed.

    A claim that is no automaton is followed to one within the same caps.
    """
    claimed, automaton = found.subject.claimed, found.automaton
    if claimed is None:
        return None
    if not claimed.fits(found.subject.network.alphabet):
        return Departure(None, "the claim is about words over other symbols")
    if automaton is None:
        verdict = judge(found.subject.network, claimed, (RealClaim(),))
        witness = verdict.claims[0].witness
        unknown = "" if verdict.status is Status.PROVED or witness else verdict.claims[0].text
        return Departure(witness, unknown)
    try:
        other = automaton_of_language(claimed, automaton.alphabet, found.caps)
    except UnprovenError as error:
        return Departure(None, f"the claim has no automaton: {error}")
    return Departure(difference(automaton, other))
