"""A file about causal variables, read and judged against a network's weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.show import show_step
from attemper.checker.names import UnprovenError
from attemper.checker.proof import assumptions_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, OptionError
from attemper.exact.predicates import PredicateError
from attemper.languages.temporal.reading import At
from attemper.networks import files, wellformed
from attemper.networks.files import STRUCTURE
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, CausalVariable, HeldBit, complaints
from attemper.theories.causal.check.following import ancestors, follow, mismatches
from attemper.theories.causal.check.settings import TRIED, Interchanges, short_interchanges

JOINTLY = (
    "all lengths, in real arithmetic: wherever variables are set, or taken from other words, alone or "
    "together, what is put out is within 1/4 of the program's bit"
)


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file: about the network in the folder `model`, or in the file's own folder."""
    folder = path.parent if model is None else Path(model)
    try:
        said = CAUSAL.load(path)
        if not (folder / STRUCTURE).is_file():
            raise OptionError(
                f"there is no network in '{folder}': say with 'model' which folder the file is about",
                options=("model",),
            )
        network, source = files.load(folder)
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(folder)))
    return judge_causal(network, files.digest_of(network, source), said, str(folder))


def judge_causal(network: Network, digest: str, said: CausalClaim, place: str = "") -> Verdict:
    """The verdict on all variables together, and what each of them is; nothing is taken for granted.

    Where nothing is proved some short interchanges are tried.
    """
    verdict = proof_of(network, digest, said, place)
    if verdict.status is not Status.UNKNOWN:
        return verdict
    tried = islice(short_interchanges(network.alphabet, said.variables), TRIED)
    wrong = Interchanges(network, said.program, said.variables).refuting(tried)
    if wrong is None:
        return verdict
    assumptions, witness = _assumptions(network, said), wrong.shown_by.base
    claim = ClaimVerdict(Status.REFUTED, wrong.text, assumptions, witness=witness)
    return replace(verdict, claims=(claim,))


def proof_of(network: Network, digest: str, said: CausalClaim, place: str = "") -> Verdict:
    """The same, but UNKNOWN where nothing is proved: no interchange is tried."""
    subject = Subject(About.NETWORK, place, digest)
    for reason in _malformed(network, digest, said):
        return Verdict((ClaimVerdict(Status.MALFORMED, reason),), subject)
    try:
        follow(network, said.program, said.variables)
    except (UnprovenError, PredicateError) as error:
        return Verdict((ClaimVerdict(Status.UNKNOWN, f"{JOINTLY}: {error}"),), subject)
    assumptions = _assumptions(network, said)
    status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
    texts = (
        f"variable {number}, {text_of(said.program, variable, network.coordinates)}"
        for number, variable in enumerate(said.variables)
    )
    return Verdict(tuple(ClaimVerdict(status, text, assumptions) for text in (JOINTLY, *texts)), subject)


def _assumptions(network: Network, said: CausalClaim) -> tuple[str, ...]:
    return assumptions_of(network, ProgramLanguage(said.program, At.LAST, accepts_empty=False))


def _malformed(network: Network, digest: str, said: CausalClaim) -> Iterator[str]:
    """Why there is no claim about this network: what comes first is asked first."""
    if said.network != digest:
        yield "the file is about another network: the digests differ"
    yield from complaints(said)
    yield from wellformed.complaints(network)
    yield from mismatches(network, said.program, said.variables)


def text_of(program: Program, variable: CausalVariable, labels: Sequence[str] = ()) -> str:
    """A variable in words, with the labels of coordinates if there are any, and whether it is read."""
    idle = "" if _is_read(program, variable) else ", but nothing that is put out is made of it"
    codes = "; ".join(_code_text(program, code, labels) for code in variable.codes)
    return f"after layer {variable.layer}: {codes}{idle}"


def _is_read(program: Program, variable: CausalVariable) -> bool:
    read = set(program.outputs).union(*(ancestors(program, output) for output in program.outputs))
    return not read.isdisjoint(variable.steps)


def _code_text(program: Program, code: HeldBit, labels: Sequence[str]) -> str:
    holders = " and ".join(
        f"{'1 - ' if holder.opposite else ''}x{holder.coordinate}" for holder in code.holders
    )
    names = {labels[holder.coordinate] for holder in code.holders if labels}
    label = f" '{min(names)}'" if len(names) == 1 else ""
    return f"{holders}{label} is s{code.step} = {show_step(program.steps[code.step])}"
