"""Which coordinates of a network are causal variables of its program, and which of their edges matter.

For all words, or two words are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.wellformed import is_machine
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status, Verdict
from attemper.compiling.pipeline import compile_language
from attemper.errors import OptionError, UnsupportedError
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import (
    CausalClaim,
    CausalVariable,
    EdgeSet,
    HeldBit,
    Holder,
    complaints,
)
from attemper.theories.causal.check.claims import JOINTLY, proof_of, text_of
from attemper.theories.causal.check.following import ancestors, mismatches
from attemper.theories.causal.check.settings import Interchanges
from attemper.theories.causal.search.edges import ALL, edge_sets
from attemper.theories.causal.search.finding import variables_in
from attemper.theories.causal.search.labelling import Labelling
from attemper.theories.causal.search.trying import Trying
from attemper.theories.causal.statements import PROVED, Causal, EdgeLabel, JudgedEdges, JudgedVariable
from attemper.workbench.model import Model

UP_TO = 4
"""Words of so many symbols are tried where nothing is proved."""


def causal(
    model: Model,
    *,
    step: int | None = None,
    layer: int | None = None,
    coordinates: Mapping[int, str] | None = None,
    edges: Sequence[str] = (),
    claim: CausalClaim | None = None,
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
    * `edges`: sets of edges from variables that are proved to their readers, each set in one text: as
      "head 1.0 query <- s8, head 1.1 values <- s8", "feed-forward 1 <- s8", "output <- s8", a variable named
      by one of its steps; or "all", every edge with a weight by itself, and those that are left out together
      without a change. They are IRRELEVANT if no values that they carry, each its own, change a bit that is
      put out, on any word; they MATTER if some do, on a word that is shown, and by interchange if other words
      have these values there.
    * `claim`: what a file says of the network: its program is the one that is meant, and its variables are
      looked at in place of those that are found, in their order.
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
    network = model.network
    said = realisation_of(model) if claim is None else Realisation(_program_of(model, claim))
    if (step, layer, coordinates) != (None, None, None):
        tried = [_own(network, said.program, step, layer, coordinates)]
    elif claim is not None:
        tried = list(claim.variables)
    else:
        report("looking for what coordinates hold")
        try:
            tried = variables_in(network, said)
        except UnprovenError as error:
            raise UnsupportedError(f"the network cannot be followed: {error}") from None
    asked, judged = _Asked(network, model.digest, said.program, up_to), list[JudgedVariable]()
    sets, labelled = list[EdgeSet](), dict[int, JudgedEdges]()
    circuit, is_interrupted = list[JudgedEdges](), True
    with suppress(KeyboardInterrupt):
        report("proving what can be proved at once")
        proved = asked.proved_at_once(tried)
        for number, variable in enumerate(tried):
            report(f"variable {number + 1} of {len(tried)}")
            judged.append(asked.judged(variable, proved))
        said_of = asked.claim(_proved(judged))
        sets += edge_sets(network, said_of, edges)
        labelling = Labelling(network, said_of, up_to)
        for number, label in labelling.labels(sets, report):
            labelled[number] = label
        if ALL in edges:
            report("edges that can be left out together")
            alone = [labelled[number] for number in range(len(sets))]
            circuit += labelling.circuit(alone)
        is_interrupted = False
    left = len(tried) - len(judged) + len(sets) - len(labelled) or int(is_interrupted)
    known = [*(own for _, own in sorted(labelled.items())), *circuit]
    together, verdict = asked.together(judged, known)
    return Causal(network, said.program, tuple(judged), together, verdict, left, tuple(known))


def _program_of(model: Model, claim: CausalClaim) -> Program:
    """The claim's program. Raises `OptionError` if the claim is about another network, or is none."""
    if claim.network != model.digest:
        raise OptionError("the claim is about another network: the digests differ", options=("claim",))
    for complaint in (*complaints(claim), *mismatches(model.network, claim.program, claim.variables)):
        raise OptionError(f"the claim is none: {complaint}", options=("claim",))
    return claim.program


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


@final
@dataclass(frozen=True)
class _Asked:
    """A network and its program, of which variables are asked."""

    network: Network
    digest: str
    program: Program
    up_to: int

    def claim(self, variables: Sequence[CausalVariable], sets: Sequence[EdgeSet] = ()) -> CausalClaim:
        """What is claimed of these together."""
        return CausalClaim(self.digest, self.program, tuple(variables), tuple(sets))

    def verdict(self, claim: CausalClaim) -> Verdict:
        """Whether it is proved; nothing is tried."""
        return proof_of(self.network, self.digest, claim)

    def proved_at_once(self, variables: Sequence[CausalVariable]) -> Mapping[CausalVariable, Status]:
        """Those that are proved together, so each of them alone, where nobody else comes before them.

        That one is made of another which no earlier layer holds is no proof of either.
        """
        clear = [own for own in variables if not any(self._is_made_of(other, own) for other in variables)]
        if len(clear) < 2:
            return {}
        verdict = self.verdict(self.claim(clear))
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
        verdict = self.verdict(self.claim((variable,)))
        if verdict.status in PROVED:
            return JudgedVariable(variable, text, verdict.status)
        interchanges = Interchanges(self.network, self.program, (variable,))
        tried = Trying(self.network, (variable,)).of(interchanges, self.up_to)
        wrong = interchanges.refuting(tried)
        if wrong is not None:
            return JudgedVariable(variable, text, Status.REFUTED, wrong.text, wrong)
        return JudgedVariable(
            variable, text, Status.UNKNOWN, verdict.claims[0].text.removeprefix(f"{JOINTLY}: ")
        )

    def together(
        self, judged: Sequence[JudgedVariable], labelled: Sequence[JudgedEdges]
    ) -> tuple[CausalClaim, Verdict] | tuple[None, None]:
        """What is claimed of all that is proved, and what the checker says to that."""
        if not _proved(judged):
            return None, None
        known = [own.edge_set for own in labelled if own.label is not EdgeLabel.UNKNOWN]
        claim = self.claim(_proved(judged), known)
        return claim, self.verdict(claim)


def _proved(judged: Sequence[JudgedVariable]) -> list[CausalVariable]:
    return [own.variable for own in judged if own.status in PROVED]
