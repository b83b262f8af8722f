"""Which class a regular language is in, and its forcing numbers: asked, and told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from attemper.errors import ExitCode, UnsupportedError
from attemper.html_tables import Tabled
from attemper.languages.regular import classes
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.forcing import SETS, ForcingGrowth, forcing_number, growth
from attemper.languages.regular.image_sets import LIMIT
from attemper.languages.regular.sensitivity import average_sensitivity
from attemper.workbench import naming
from attemper.workbench.language import Language
from attemper.workbench.limits import limits_among
from attemper.workbench.report.languages import lines_on, record_of_language

if TYPE_CHECKING:
    from attemper.languages.regular.classes import Classification, RegularClass, Witness
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike

FORCED_LENGTH = 100
"""The length of which the forcing number and the average sensitivity are told."""

LIMITS = {"image_sets": LIMIT, "sets": SETS}
"""How many sets of states are examined for the class, and for forcing numbers."""


@final
@dataclass(frozen=True)
class Forcing:
    """The forcing number at `FORCED_LENGTH`, and its growth; None beyond a cap, which `refusal` names."""

    fixed: int | None
    growth: ForcingGrowth | None
    refusal: str | None
    was_interrupted: bool = False

    def text(self) -> str:
        """A line: what they exclude, and else that they exclude nothing."""
        fixed, found = self.fixed, self.growth
        at = f"n = {FORCED_LENGTH}"
        if found is None and fixed is None:
            return f"forcing numbers not computed: {self.refusal}"
        if found is None:
            return f"forced by {_symbols(fixed)} at {at}; at other lengths not computed: {self.refusal}"
        if not found.sensitive:
            here = "" if fixed is None else f"{_symbols(fixed)} at {at}, and by "
            return (
                f"forced by {here}at most {_symbols(found.bounded)} at every length: "
                f"this alone does not say whether hard attention can recognise it"
            )
        here = "" if fixed is None else f"is {fixed} at {at} and "
        period = len(found.slopes)
        steepest = classes.shown_states([r for r, slope in enumerate(found.slopes) if slope == found.slope])
        where = f" where n mod {period} is {steepest}" if period > 1 else ""
        rate = "n" if found.slope == 1 else f"{found.slope} n"
        return (
            f"sensitive: hard attention cannot recognise it (Hahn 2020, Theorem 1): "
            f"the forcing number {here}grows like {rate}{where}"
        )

    def as_record(self) -> dict[str, object]:
        """As JSON data; slopes are fractions, by the length modulo how many they are."""
        found = self.growth
        return {
            "n": FORCED_LENGTH,
            "fixed": self.fixed,
            "sensitive": found and found.sensitive,
            "slope": found and str(found.slope),
            "slopes": found and [str(slope) for slope in found.slopes],
            "bounded": found and found.bounded,
            "not_computed": self.refusal,
        }


@final
@dataclass(frozen=True, repr=False)
class Classified(Tabled):
    """The class of a regular language: that of its minimal automaton, with a witness, and forcing numbers.

    `sensitivity` is the average sensitivity at `FORCED_LENGTH`; None where the automaton is too large.
    """

    language: Language
    automaton: Dfa
    classification: Classification
    forcing: Forcing
    sensitivity: Fraction | None

    @property
    def kind(self) -> RegularClass:
        """Star-free, quasi-aperiodic, solvable or not solvable."""
        return self.classification.kind

    @property
    def witness(self) -> Witness | None:
        """The words that show that the language is in no class below; None if there is none."""
        return self.classification.witness

    @property
    def modulus(self) -> int | None:
        """Positions modulo this number are enough besides order; None if no number is."""
        return self.classification.modulus

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return ExitCode.UNKNOWN if self.forcing.was_interrupted else ExitCode.OK

    def __repr__(self) -> str:
        return f"<Classified: {self.kind.value}, {len(self.automaton.moves)} states>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from lines_on(self.language)
        yield f"{len(self.automaton.moves)} states"
        yield classes.show_classification(self.classification)
        yield "'attemper depth' says how many layers it needs"
        if self.sensitivity is not None:
            yield (
                f"average sensitivity {float(self.sensitivity):.6g} at n = {FORCED_LENGTH}: so many "
                "positions turn membership if their symbol is exchanged"
            )
        yield self.forcing.text()

    @property
    def record(self) -> dict[str, object]:
        """What was found as JSON data; `witness_holds` says that the automaton, run on it, agrees."""
        found = self.classification
        words, permuted = _told(found.witness)
        return {
            **record_of_language(self.language),
            "states": len(self.automaton.moves),
            "class": found.kind.value,
            "reason": found.reason,
            "modulus": found.modulus,
            "derived_length": found.derived_length,
            "groups": [asdict(group) for group in found.groups],
            "witness": {"words": [list(word) for word in words], "states": list(permuted)},
            "witness_holds": classes.check_witness(self.automaton, found),
            "forcing": self.forcing.as_record(),
            "average_sensitivity": {
                "n": FORCED_LENGTH,
                "exact": None if self.sensitivity is None else str(self.sensitivity),
            },
        }


def classify(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    limits: Mapping[str, int] | None = None,
    report: Callable[[str], None] = lambda _: None,
) -> Classified:
    """Which class a regular language is in, with a witness: star-free, quasi-aperiodic, solvable or neither.

    The class is that of its minimal automaton (`docs/automata.md` defines the classes). Arguments are those
    of `attemper.language`; of a formula or program its automaton must be found.

    * `limits`: how many sets of states are examined, `image_sets` for the class and `sets` for forcing
      numbers. Beyond the latter, or where an interrupt ends it, there are no forcing numbers.
    * `report` hears what is done.

    Raises what `attemper.language` raises, `OptionError` for a limit that there is not, and
    `UnsupportedError` if no automaton is found or it has too many image sets.

    >>> found = classify("regex:(aa)*", "ab")
    >>> found, found.modulus
    (<Classified: quasi-aperiodic, 3 states>, 2)
    """
    most = limits_among(limits, LIMITS)
    spoken = naming.language(language, alphabet, at=at, empty=empty)
    automaton = spoken.automaton()
    report(f"it has {len(automaton.moves):,} states; looking for groups")
    found = classes.classify(automaton, most["image_sets"])
    report(f"it is {found.kind.value}; forcing numbers")
    sensitivity = _sensitivity(automaton)
    return Classified(spoken, automaton, found, _forcing(automaton, most["sets"]), sensitivity)


def _sensitivity(dfa: Dfa) -> Fraction | None:
    """The average sensitivity at `FORCED_LENGTH`, or None where the automaton is too large."""
    try:
        return average_sensitivity(dfa, FORCED_LENGTH)
    except UnsupportedError:
        return None


def _forcing(dfa: Dfa, limit: int) -> Forcing:
    """What is found of forcing numbers within their caps."""
    fixed, found, refusal = None, None, None
    try:
        try:
            fixed = forcing_number(dfa, FORCED_LENGTH, limit).fixed
        except UnsupportedError as error:
            refusal = str(error)
        try:
            found = growth(dfa, limit)
        except UnsupportedError as error:
            refusal = str(error)
    except KeyboardInterrupt as end:
        return Forcing(fixed, found, str(end) or "interrupted", was_interrupted=True)
    return Forcing(fixed, found, refusal)


def _told(witness: Witness | None) -> tuple[list[tuple[str, ...]], tuple[int, ...]]:
    """The words of a witness, and the states that they permute."""
    match witness:
        case classes.Cycle(word, states):
            return [word], states
        case classes.EqualLengths(idle, moving, states):
            return [idle, moving], states
        case classes.Permuting(generators, states, _):
            return list(generators), states
        case None:
            return [], ()


def _symbols(count: int | None) -> str:
    return f"{count} symbol{'' if count == 1 else 's'}"
