"""A file about causal variables, read and judged against a network's weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.attention_program.show import show_step
from attemper.checker.names import UnprovenError
from attemper.checker.proof import assumptions_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError
from attemper.exact.predicates import PredicateError
from attemper.languages.temporal.reading import At
from attemper.networks import wellformed
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import (
    CAUSAL,
    CausalClaim,
    CausalEdge,
    CausalVariable,
    EdgeSet,
    HeldBit,
    complaints,
    edge_text,
)
from attemper.theories.causal.check.cutting import lost_edges
from attemper.theories.causal.check.following import ancestors, follow, follow_cut, mismatches
from attemper.theories.causal.check.network import network_in
from attemper.theories.causal.check.settings import Interchanges, shown_interchange

JOINTLY = (
    "all lengths, in real arithmetic: wherever variables are set, or taken from other words, alone or "
    "together, what is put out is within 1/4 of the program's bit"
)

IRRELEVANT = (
    "irrelevant, all lengths, in real arithmetic: whatever values these carry, together, what is put out is "
    "within 1/4 of the program's bit"
)


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file: about the network in the folder `model`, or in the file's own folder."""
    folder = path.parent if model is None else Path(model)
    try:
        said = CAUSAL.load(path)
        network, digest = network_in(folder)
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(folder)))
    return judge_causal(network, digest, said, str(folder))


def judge_causal(network: Network, digest: str, said: CausalClaim, place: str = "") -> Verdict:
    """The verdict on all variables together, what each of them is, and on each set of edges.

    Nothing is taken for granted. Where nothing is proved some short interchanges are tried.
    """
    verdict = proof_of(network, digest, said, place)
    if verdict.status is Status.MALFORMED:
        return verdict
    claims = list(verdict.claims)
    if claims[0].status is Status.UNKNOWN:
        claims[:1] = [_refuted(network, said, ()) or claims[0]]
    first_set = len(claims) - len(said.edge_sets)
    for number, edge_set in enumerate(said.edge_sets, start=first_set):
        if claims[number].status is Status.UNKNOWN and edge_set.matters is None:
            claims[number] = _refuted(network, said, edge_set.edges) or claims[number]
    return replace(verdict, claims=tuple(claims))


def _refuted(network: Network, said: CausalClaim, edges: Sequence[CausalEdge]) -> ClaimVerdict | None:
    interchanges = Interchanges(network, said.program, said.variables, edges)
    wrong = interchanges.refuting(interchanges.short())
    if wrong is None:
        return None
    text = f"{edges_text(edges, said.variables)}: {wrong.text}" if edges else wrong.text
    return ClaimVerdict(Status.REFUTED, text, _assumptions(network, said), witness=wrong.shown_by.base)


def proof_of(network: Network, digest: str, said: CausalClaim, place: str = "") -> Verdict:
    """The same, but UNKNOWN where nothing is proved: no interchange is tried but those that are claimed."""
    subject = Subject(About.NETWORK, place, digest)
    for reason in _malformed(network, digest, said):
        return Verdict((ClaimVerdict(Status.MALFORMED, reason),), subject)
    assumptions = _assumptions(network, said)
    proved = Status.PROVED_UNDER_ASSUMPTIONS if assumptions else Status.PROVED
    texts, doubts = [JOINTLY], [_doubt(partial(follow, network, said.program, said.variables))]
    if doubts == [None]:
        texts += (f"variable {k}, {text_of(said.program, own)}" for k, own in enumerate(said.variables))
        doubts *= len(texts)
    texts += (edge_set_text(own, said.variables) for own in said.edge_sets)
    doubts += _edge_doubts(network, said)
    return Verdict(
        tuple(
            ClaimVerdict(Status.UNKNOWN, f"{text}: {doubt}")
            if doubt is not None
            else ClaimVerdict(proved, text, assumptions)
            for text, doubt in zip(texts, doubts, strict=True)
        ),
        subject,
    )


def _doubt(prove: Callable[[], None]) -> str | None:
    try:
        prove()
    except (UnprovenError, PredicateError) as error:
        return str(error)
    return None


def _edge_doubts(network: Network, said: CausalClaim) -> Iterator[str | None]:
    """The doubts of each set. What is proved of edges together is so of some of them: the rest is natural."""
    doubts, irrelevant = dict[EdgeSet, str | None](), list[set[CausalEdge]]()
    for own in sorted(said.edge_sets, key=lambda own: len(own.edges), reverse=True):
        edges = set(own.edges)
        is_part = own.matters is None and any(map(edges.issubset, irrelevant))
        doubts[own] = None if is_part else doubt_of(network, said, own)
        if own.matters is None and doubts[own] is None:
            irrelevant.append(edges)
    yield from (doubts[own] for own in said.edge_sets)


def doubt_of(network: Network, said: CausalClaim, edge_set: EdgeSet) -> str | None:
    """Why what is said of the edges is not proved; None where it is."""
    if edge_set.matters is not None:
        shown = Interchanges(network, said.program, said.variables, edge_set.edges)
        return None if shown.changing(edge_set.matters) else "no output is shown to change its bit"
    return _doubt(partial(follow_cut, network, said.program, said.variables, edge_set.edges))


def edge_set_text(edge_set: EdgeSet, variables: Sequence[CausalVariable]) -> str:
    """Edges in words, and what is said of them."""
    edges, shown = edges_text(edge_set.edges, variables), edge_set.matters
    if shown is None:
        return f"{edges}: {IRRELEVANT}"
    how = "matters by interchange" if shown.is_natural else "matters"
    return f"{edges}: {how} {shown_interchange(shown, variables)}"


def edges_text(edges: Sequence[CausalEdge], variables: Sequence[CausalVariable]) -> str:
    """Edges in words.

    >>> from attemper.theories.causal.certificate import FeedForwardEdge, Holder, OutputEdge
    >>> held = CausalVariable(0, (HeldBit(8, (Holder(4, opposite=False),)),))
    >>> edges_text([FeedForwardEdge(0, 1), OutputEdge(0)], [held])
    'feed-forward 1 <- s8, output <- s8'
    """
    return ", ".join(edge_text(edge, variables) for edge in edges)


def _assumptions(network: Network, said: CausalClaim) -> tuple[str, ...]:
    return assumptions_of(network, ProgramLanguage(said.program, At.LAST, accepts_empty=False))


def _malformed(network: Network, digest: str, said: CausalClaim) -> Iterator[str]:
    """Why there is no claim about this network: what comes first is asked first."""
    if said.network != digest:
        yield "the file is about another network: the digests differ"
    yield from complaints(said)
    yield from wellformed.complaints(network)
    yield from mismatches(network, said.program, said.variables)
    for edge_set in said.edge_sets:
        yield from lost_edges(network, said.variables, edge_set.edges)


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
    label = f" {min(names)!r}" if len(names) == 1 else ""
    return f"{holders}{label} is s{code.step} = {show_step(program.steps[code.step])}"
