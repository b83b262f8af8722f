"""What was read of a network: a value that prints itself, and where it departs from what is claimed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import assert_never, final

from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_program
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certifying.certificate import certify
from attemper.checker.check import judge
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, UnprovedError, UnsupportedError
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.languages.definition import Definition
from attemper.languages.regular.classes import classify
from attemper.languages.regular.dfa import AUTOMATON, Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.minimal import difference
from attemper.languages.regular.relating import shortest_word
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Word, show_word
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.workbench.automata import Caps, automaton_of_language
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from attemper.workbench.translate import translate
from attemper.writing import write_together

LONGEST_SHOWN = 400
"""A formula of more characters than these is written only where it is asked for."""

SMALL = 40
"""The formula of an automaton with more states than these is looked for only where it is asked for."""

MOST_CLASSIFIED = 2_000
"""The class of an automaton with more states than these is not looked for."""

ENDS = (("accepted", True), ("rejected", False))


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
class Decompiled(Tabled):
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
        return None if self.held is None else remarks_on(self)

    @property
    def record(self) -> dict[str, object]:
        """What was read, as JSON data."""
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


@final
@dataclass(frozen=True)
class Remarks:
    """What is said beside what was read: all that takes time of its own, and nothing that is needed."""

    kind: str
    """The class of the automaton's language; empty if there is none, or where that is not known."""
    formula: str
    """A formula that is short enough to be shown beside the automaton; empty if there is none."""
    departure: Departure | None


def remarks_on(found: Decompiled) -> Remarks:
    """The class, a formula, and where what was read differs from the claim."""
    kind = "" if found.automaton is None else class_of(found.automaton)
    return Remarks(kind, _short_formula(found), departure(found))


def class_of(automaton: Dfa) -> str:
    """The class of an automaton's language; empty where that takes too long to be found."""
    if len(automaton.moves) > MOST_CLASSIFIED:
        return ""
    try:
        return classify(automaton).kind.value
    except UnsupportedError:
        return ""


def _short_formula(found: Decompiled) -> str:
    if found.automaton is not None and len(found.automaton.moves) > SMALL:
        return ""
    try:
        return found.formula
    except UnsupportedError:
        return ""


def lines_of(found: Decompiled, remarks: Remarks | None) -> list[str]:
    """What is printed; without remarks the verdict alone."""
    automaton = found.automaton
    if remarks is None:
        return [verdict_line(found)]
    if automaton is None:
        lines = [verdict_line(found), f"formula: {remarks.formula}", _empty(found)]
        return [*lines, *_departed(remarks.departure), f"no automaton was found: {found.reason}"]
    is_short = remarks.formula and len(remarks.formula) <= LONGEST_SHOWN
    formula = f"formula: {remarks.formula if is_short else 'long: ask for it as formula'}"
    kind, *words = automaton_lines(automaton, remarks.kind)
    return [verdict_line(found), kind, formula, *words, *_departed(remarks.departure)]


def verdict_line(found: Decompiled) -> str:
    """The status, and what it is about."""
    return f"{found.status}: {found.reason if found.held is None else _claim(found)}"


def _claim(found: Decompiled) -> str:
    if found.automaton is None:
        return "it computes a formula that counts, at all lengths, in real arithmetic"
    states = f"{len(found.automaton.moves):,} state{'' if len(found.automaton.moves) == 1 else 's'}"
    return f"it computes an automaton with {states}, at all lengths, in real arithmetic"


def _empty(found: Decompiled) -> str:
    return f"empty word: {'accepted' if found.subject.network.accepts_empty else 'rejected'}"


def _departed(found: Departure | None) -> list[str]:
    match found:
        case None:
            return []
        case Departure(None, ""):
            return ["the certificate claims the same language"]
        case Departure(None, unknown):
            return [f"not compared with the certificate's claim: {unknown}"]
        case Departure(word, _):
            assert word is not None
            return [f"differs from the certificate's claim at {show_word(word)}"]


def record_of(found: Decompiled, remarks: Remarks | None) -> dict[str, object]:
    """What was read, as JSON data; without remarks the looking for them was interrupted."""
    if found.held is None:
        return {"subject": found.subject.place, "status": str(found.status), "reason": found.reason}
    automaton = found.automaton
    record: dict[str, object] = {
        "subject": found.subject.place,
        "status": str(found.status),
        "automaton": None if automaton is None else AUTOMATON.encode(automaton),
        "states": None if automaton is None else len(automaton.moves),
        "configurations": found.configurations,
        "class": remarks.kind or None if remarks else None,
        "formula": remarks.formula or None if remarks else None,
        "no_automaton": found.reason or None,
        "empty": "accept" if found.subject.network.accepts_empty else "reject",
    }
    if automaton is not None:
        for name, accepted in ENDS:
            word = shortest_word(automaton, accepted)
            record[f"shortest_{name}"] = None if word is None else list(word)
    record["program"] = found.program
    if remarks is None:
        record["interrupted"] = True
    elif remarks.departure is not None:
        word, unknown = remarks.departure.word, remarks.departure.unknown
        record["claim"] = {
            "same": None if unknown else word is None,
            "word": None if word is None else list(word),
            "reason": unknown or None,
        }
    return record


def automaton_lines(automaton: Dfa, kind: str) -> Iterator[str]:
    """The class of an automaton's language, a shortest word in it and a shortest one outside."""
    yield f"class: {kind or 'not known, as too much would have to be looked at'}"
    for name, accepted in ENDS:
        word = shortest_word(automaton, accepted)
        yield f"shortest {name} word: {'none' if word is None else show_word(word)}"
