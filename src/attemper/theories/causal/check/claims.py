"""A file about causal variables, read and judged against a network's weights."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.show import show_step
from attemper.checker.names import UnprovenError
from attemper.checker.proof import assuming, registered_by, registered_in
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, OptionError
from attemper.exact.predicates import PredicateError
from attemper.languages.temporal.reading import At
from attemper.networks import files, wellformed
from attemper.networks.files import STRUCTURE
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, CausalVariable, HeldBit, complaints
from attemper.theories.causal.check.following import ancestors, follow, mismatches
from attemper.theories.causal.check.settings import (
    TRIED,
    Interchange,
    refuting,
    short_interchanges,
)

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


def judge_causal(
    network: Network,
    digest: str,
    said: CausalClaim,
    place: str = "",
    tried: Iterable[Interchange] | None = None,
) -> Verdict:
    """The verdict on all variables together, and what each of them is; nothing is taken for granted.

    Where nothing is proved the interchanges `tried` are looked at (by default short ones).
    """
    subject = Subject(About.NETWORK, place, digest)
    for reason in _malformed(network, digest, said):
        return Verdict((ClaimVerdict(Status.MALFORMED, reason),), subject)
    claim, single = _joint(network, said, tried), tuple[ClaimVerdict, ...]()
    if claim.status in {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}:
        texts = texts_of(said.program, said.variables, network.coordinates)
        single = tuple(ClaimVerdict(claim.status, text, claim.assumptions) for text in texts)
    return Verdict((claim, *single), subject)


def _malformed(network: Network, digest: str, said: CausalClaim) -> Iterator[str]:
    """Why there is no claim about this network: what comes first is asked first."""
    if said.network != digest:
        yield "the file is about another network: the digests differ"
    yield from complaints(said)
    yield from wellformed.complaints(network)
    yield from mismatches(network, said.program, said.variables)


def _joint(network: Network, said: CausalClaim, tried: Iterable[Interchange] | None) -> ClaimVerdict:
    language = ProgramLanguage(said.program, At.LAST, accepts_empty=False)
    assumptions = assuming(registered_in(network) | registered_by(language))
    try:
        follow(network, said.program, said.variables)
    except (UnprovenError, PredicateError) as error:
        if tried is None:
            tried = islice(short_interchanges(network.alphabet, said.variables), TRIED)
        wrong = refuting(network, said.program, said.variables, tried)
        if wrong is None:
            return ClaimVerdict(Status.UNKNOWN, f"{JOINTLY}: {error}")
        return ClaimVerdict(Status.REFUTED, wrong.text, assumptions, witness=wrong.shown_by.base)
    status = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
    return ClaimVerdict(status, JOINTLY, assumptions)


def texts_of(
    program: Program, variables: Iterable[CausalVariable], labels: Sequence[str] = ()
) -> Iterator[str]:
    """Each variable in words, with the labels of coordinates if there are any, and whether it is read."""
    for number, variable in enumerate(variables):
        idle = "" if _is_read(program, variable) else ", but nothing that is put out is made of it"
        codes = "; ".join(_code_text(program, code, labels) for code in variable.codes)
        yield f"variable {number}, after layer {variable.layer}: {codes}{idle}"


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
