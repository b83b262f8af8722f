"""Which coordinates of a network are causal variables of its program: for all words, or two words say no."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NoReturn, final

from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.wellformed import is_machine
from attemper.checker.names import UnprovenError
from attemper.checker.report import record_of
from attemper.checker.verdict import EXIT_CODES, Status, Verdict
from attemper.compiling.pipeline import compile_language
from attemper.errors import ExitCode, OptionError, UnprovedError, UnsupportedError
from attemper.html_tables import Tabled
from attemper.languages.words import show_word
from attemper.missing import has_torch, torch_needed
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import (
    CAUSAL,
    CausalClaim,
    CausalVariable,
    HeldBit,
    Holder,
    complaints,
)
from attemper.theories.causal.check.claims import JOINTLY, proof_of, text_of
from attemper.theories.causal.check.following import ancestors, mismatches
from attemper.theories.causal.check.settings import (
    TRIED,
    Interchange,
    Interchanges,
    Taken,
    WrongSetting,
    short_interchanges,
)
from attemper.theories.causal.search.finding import variables_in
from attemper.workbench.model import Model

UP_TO = 4
"""Words of so many symbols are tried where nothing is proved."""

PROVED = frozenset({Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS})


@final
@dataclass(frozen=True)
class JudgedVariable:
    """One variable, alone: what is proved of it, or what goes wrong."""

    variable: CausalVariable
    text: str
    status: Status
    reason: str = ""
    wrong: WrongSetting | None = None

    def lines(self) -> Iterator[str]:
        """For people: what it is, and why it is refuted or unknown."""
        yield f"{self.status}: {self.text}"
        if self.reason:
            yield f"  {self.reason}"
        if self.wrong is not None:
            yield from (f"  {recipe(self.variable, taken)}" for taken in self.wrong.shown_by.taken)

    def as_record(self) -> dict[str, object]:
        """The same as JSON data."""
        said: dict[str, object] = {
            "variable": self.text,
            "status": str(self.status),
            "reason": self.reason,
        }
        if self.wrong is None:
            return said
        taken = [{"position": own.position, "source": list(own.source)} for own in self.wrong.shown_by.taken]
        return {**said, "base": list(self.wrong.shown_by.base), "taken": taken}


@final
@dataclass(frozen=True, repr=False)
class Causal(Tabled):
    """Variables of a network, each judged alone, and the checker's verdict on the proved ones together.

    `claim` has what is claimed of all that are proved, None if nothing is; `verdict` is the checker's on it.
    So many variables were `left` where somebody interrupted.
    """

    network: Network
    program: Program
    variables: tuple[JudgedVariable, ...]
    claim: CausalClaim | None
    verdict: Verdict | None
    left: int = 0

    @property
    def status(self) -> Status:
        """What the checker says of all that are proved together; of a single one, what is said of it.

        UNKNOWN where somebody interrupted.
        """
        if self.left:
            return Status.UNKNOWN
        if self.verdict is not None:
            return self.verdict.status
        return self.variables[0].status if len(self.variables) == 1 else Status.UNKNOWN

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return EXIT_CODES[self.status]

    @property
    def record(self) -> dict[str, object]:
        """What `--json` prints."""
        together = {} if self.verdict is None else record_of(self.verdict)
        return {
            **together,
            "status": str(self.status),
            "left": self.left,
            "variables": [own.as_record() for own in self.variables],
        }

    def save(self, path: str | Path) -> None:
        """Write what is claimed, for `attemper check`. Raises `UnprovedError` where nothing is proved."""
        if self.claim is None:
            raise UnprovedError("no variable is proved: there is nothing to write")
        CAUSAL.save(self.claim, Path(path))

    def replay(self, number: int) -> list[list[float]]:
        """What is put out in torch after the interchange that refutes a variable [position][output].

        Raises `OptionError` for a variable that is not refuted by one.
        """
        own = self.variables[number]
        if own.wrong is None:
            raise OptionError(f"variable {number} is not refuted: there is nothing to replay")
        with torch_needed("a replay"):
            from attemper.theories.causal.search.interchanges import replayed
        return replayed(Interchanges(self.network, self.program, (own.variable,)), own.wrong.shown_by)

    def __bool__(self) -> NoReturn:
        raise TypeError("variables can be proved, refuted or UNKNOWN: see the status of each")

    def __repr__(self) -> str:
        proved = sum(own.status in PROVED for own in self.variables)
        return f"<Causal: {proved} of {len(self.variables)} variables proved>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        if not self.variables:
            yield "no coordinate is seen to hold a step of the program after a layer"
        for own in self.variables:
            yield from own.lines()
        if self.left:
            yield f"interrupted: {self.left} more are not looked at"
        if self.verdict is not None and self.claim is not None:
            count = len(self.claim.variables)
            which = "it alone" if count == 1 else f"these {count} together"
            yield f"{self.verdict.status}, {which}: {JOINTLY}"


def causal(
    model: Model,
    *,
    step: int | None = None,
    layer: int | None = None,
    coordinates: Mapping[int, str] | None = None,
    up_to: int = UP_TO,
    report: Callable[[str], None] = lambda _: None,
) -> Causal:
    """Which coordinates hold a step of the program that the network runs, and cause what it puts out.

    Of a variable it is claimed: wherever its coordinates are set after their layer, as 1 for a value and 0
    for the others, or taken from runs on other words of the same length, at any positions, alone or with the
    other variables, what is put out is within 1/4 of what the program puts out if its step is set so; and
    where nothing is set the coordinates are exactly the step's bits. In real arithmetic, for words of every
    length (FORMAT.md, section 16). Ablation by means or of single opposites, steering, counts and what heads
    write themselves are no such settings.

    * Without `step` all are looked for that clamps hold, and groups of bits of an automaton's network.
    * `step`, `layer`, `coordinates`: a variable of your own: the number of the program's step, the layer
      after which it is held, and by coordinate "+", or "-" for 1 less the bit.
    * `up_to`: where nothing is proved, all words of so many symbols are tried, and their interchanges.

    An interrupt ends it with what is known so far.

    Raises `OptionError` for options that name nothing, and `UnsupportedError` where the network runs no
    program that is known, or is normalised.

    >>> import attemper
    >>> found = causal(attemper.compile("O (a & O b)", "ab"))
    >>> print(found.variables[0].text)
    after layer 0: 1 - x1 and x2 is s3 = and s0 s2
    >>> found.status
    <Status.PROVED: 'PROVED'>
    """
    network, said = model.network, realisation_of(model)
    if (step, layer, coordinates) != (None, None, None):
        tried = [_own(network, said.program, step, layer, coordinates)]
    else:
        report("looking for what coordinates hold")
        try:
            tried = variables_in(network, said)
        except UnprovenError as error:
            raise UnsupportedError(f"the network cannot be followed: {error}") from None
    asked, judged = _Asked(network, model.digest, said.program, up_to), list[JudgedVariable]()
    with suppress(KeyboardInterrupt):
        report("proving what can be proved at once")
        proved = asked.proved_at_once(tried)
        for number, variable in enumerate(tried):
            report(f"variable {number + 1} of {len(tried)}")
            judged.append(asked.judged(variable, proved))
    claim, verdict = asked.together(judged)
    return Causal(network, said.program, tuple(judged), claim, verdict, len(tried) - len(judged))


def realisation_of(model: Model) -> Realisation:
    """The machine's program that the network runs: as its certificate says, or as it is compiled again.

    Raises `UnsupportedError` where there is none that puts out bits, or the network is normalised.
    """
    if model.network.normalisation is not None:
        raise UnsupportedError("what is claimed of variables is about networks without normalisation")
    said = model.realisation
    if said is None or not is_machine(said.program):
        compiled = compile_language(model.language.definition, model.alphabet, model.regime)
        machine = is_machine(compiled.realisation.program)
        said = compiled.realisation if machine else Realisation(compiled.guarded)
    if said.program.numbers is not None:
        raise UnsupportedError("the network puts out numbers: variables are about programs of bits")
    return said


def _own(
    network: Network,
    program: Program,
    step: int | None,
    layer: int | None,
    coordinates: Mapping[int, str] | None,
) -> CausalVariable:
    if step is None or layer is None or not coordinates:
        raise OptionError(
            "a variable of your own has a step, a layer and coordinates",
            options=("step", "layer", "coordinates"),
        )
    if not set(coordinates.values()) <= {"+", "-"}:
        raise OptionError("coordinates are held as '+' or '-'", options=("coordinates",))
    holders = tuple(Holder(coordinate, sign == "-") for coordinate, sign in coordinates.items())
    own = CausalVariable(layer, (HeldBit(step, holders),))
    for complaint in (*complaints(CausalClaim("", program, (own,))), *mismatches(network, program, (own,))):
        raise OptionError(complaint, options=("step", "layer", "coordinates"))
    return own


def recipe(own: CausalVariable, taken: Taken) -> str:
    """What is taken, under TransformerLens' names, to be done by hand.

    >>> from attemper.theories.causal.certificate import HeldBit, Holder
    >>> recipe(CausalVariable(0, (HeldBit(3, (Holder(2, False),)),)), Taken(0, 2, ("b", "a")))
    "blocks.0.hook_resid_post[:, 1, [2]] = that of 'ba'"
    """
    where = f"[:, {taken.position - 1}, {list(own.coordinates)}]"
    return f"blocks.{own.layer}.hook_resid_post{where} = that of '{show_word(taken.source)}'"


@final
@dataclass(frozen=True)
class _Asked:
    """A network and its program, of which variables are asked."""

    network: Network
    digest: str
    program: Program
    up_to: int

    def proof(self, variables: Sequence[CausalVariable]) -> tuple[CausalClaim, Verdict]:
        """What is claimed of these together, and whether it is proved; nothing is tried."""
        claim = CausalClaim(self.digest, self.program, tuple(variables))
        return claim, proof_of(self.network, self.digest, claim)

    def proved_at_once(self, variables: Sequence[CausalVariable]) -> Mapping[CausalVariable, Status]:
        """Those that are proved together, so each of them alone, where nobody else comes before them.

        That one is made of another which no earlier layer holds is no proof of either.
        """
        clear = [own for own in variables if not any(self._is_made_of(other, own) for other in variables)]
        if len(clear) < 2:
            return {}
        _, verdict = self.proof(clear)
        return dict.fromkeys(clear, verdict.status) if verdict.status in PROVED else {}

    def _is_made_of(self, other: CausalVariable, own: CausalVariable) -> bool:
        """Whether another variable, which its layer or one before holds, is made of this one."""
        made_of = set[Ref]().union(*(ancestors(self.program, ref) for ref in other.steps))
        return other.layer <= own.layer and not made_of.isdisjoint(own.steps)

    def judged(self, variable: CausalVariable, proved: Mapping[CausalVariable, Status]) -> JudgedVariable:
        """One variable alone: proved, refuted, or neither."""
        text = text_of(self.program, variable, self.network.coordinates)
        if variable in proved:
            return JudgedVariable(variable, text, proved[variable])
        _, verdict = self.proof((variable,))
        if verdict.status in PROVED:
            return JudgedVariable(variable, text, verdict.status)
        interchanges = Interchanges(self.network, self.program, (variable,))
        wrong = interchanges.refuting(self._tried(interchanges))
        if wrong is not None:
            return JudgedVariable(variable, text, Status.REFUTED, wrong.text, wrong)
        return JudgedVariable(
            variable, text, Status.UNKNOWN, verdict.claims[0].text.removeprefix(f"{JOINTLY}: ")
        )

    def _tried(self, interchanges: Interchanges) -> Iterator[Interchange]:
        """What seems to go wrong in torch; without torch a few that are short."""
        if not has_torch():
            return islice(short_interchanges(self.network.alphabet, interchanges.variables), TRIED)
        from attemper.theories.causal.search.interchanges import suspects

        return suspects(interchanges, self.up_to)

    def together(self, judged: Sequence[JudgedVariable]) -> tuple[CausalClaim | None, Verdict | None]:
        """What is claimed of all that are proved, and what the checker says to that."""
        proved = [own.variable for own in judged if own.status in PROVED]
        return self.proof(proved) if proved else (None, None)
