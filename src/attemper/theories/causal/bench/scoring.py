"""How well a method finds the edges of a benchmark that matter."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from attemper.documents import brief
from attemper.errors import MalformedFileError, OptionError
from attemper.files import parse_json, read_bytes
from attemper.html_tables import Tabled
from attemper.networks.layers import Network
from attemper.theories.causal.bench.cases import BenchCase, cases
from attemper.theories.causal.bench.circuit import circuit, labels
from attemper.theories.causal.certificate import EdgeSet, edge_text
from attemper.theories.causal.check.claims import doubt_of, judge_causal
from attemper.theories.causal.search.edges import ALL, edge_sets
from attemper.theories.causal.statements import PROVED


@final
@dataclass(frozen=True)
class CaseScore:
    """How well numbers tell the edges of a case that matter.

    `pairs`: of the pairs of an edge that matters and one that is irrelevant, the share in which the first has
    the greater number; equal numbers count half, so that chance is 1/2. None where all edges have one label.
    `kept`: so many edges, those with the greatest numbers, are enough: the others are proved to change no
    bit, whatever values they carry together. The case has a circuit of `enough` edges.
    """

    pairs: float | None
    kept: int
    enough: int

    def __str__(self) -> str:
        pairs = "one label" if self.pairs is None else f"pairs {self.pairs:.3f}"
        return f"{pairs}, {self.kept} edges are enough, of its own circuit {self.enough}"


@final
@dataclass(frozen=True, repr=False)
class BenchScores(Tabled):
    """The scores of each case."""

    by_case: Mapping[str, CaseScore]

    @property
    def pairs(self) -> float:
        """The mean of all cases that have both labels; not a number where none has."""
        known = [own.pairs for own in self.by_case.values() if own.pairs is not None]
        return sum(known) / len(known) if known else math.nan

    @property
    def size(self) -> float:
        """The mean of `enough` / `kept`: 1 where no edge is kept in vain."""
        return sum(own.enough / own.kept for own in self.by_case.values()) / len(self.by_case)

    @property
    def record(self) -> dict[str, object]:
        """What `--json` prints."""
        by_case = {name: asdict(own) for name, own in self.by_case.items()}
        pairs = None if math.isnan(self.pairs) else self.pairs
        return {"pairs": pairs, "size": self.size, "cases": by_case}

    def __bool__(self) -> NoReturn:
        raise TypeError("scores are numbers: compare their means")

    def __repr__(self) -> str:
        return f"<BenchScores: {self._means()} of {len(self.by_case)} cases>"

    def __str__(self) -> str:
        lines = (f"{name}: {own}" for name, own in self.by_case.items())
        return "\n".join((*lines, f"mean: {self._means()}"))

    def _means(self) -> str:
        pairs = "of one label each" if math.isnan(self.pairs) else f"pairs {self.pairs:.3f}"
        return f"{pairs}, size {self.size:.3f}"


def scored(bench: str | Path, found: Mapping[str, Mapping[str, float]]) -> BenchScores:
    """Scores of numbers for edges, by case: the greater, the more the edge is said to matter.

    The labels of every case are proved again, and that none is missing, so that nothing rests on who made the
    files. Raises `OptionError` for an edge without a number, a case that is not there, and for labels that
    are not proved or not complete.
    """
    every = list(cases(bench))
    for name in sorted(set(found) - {case.name for case in every}):
        raise OptionError(f"there are numbers for a case {name}, and no such case")
    return BenchScores({case.name: _of_case(case, found.get(case.name, {})) for case in every})


def _of_case(case: BenchCase, found: Mapping[str, float]) -> CaseScore:
    model = case.model
    network = model.network
    verdict = judge_causal(network, model.digest, case.claim)
    if verdict.status not in PROVED:
        raise OptionError(f"the labels of case {case.name} are {verdict.status}: make the case again")
    for reason in _missing_labels(case, network):
        raise OptionError(f"case {case.name} is not complete, {reason}: make it again")
    missing = [edge for edge in case.edges if edge not in found]
    if missing:
        raise OptionError(f"case {case.name} has no number for '{missing[0]}', and {len(missing) - 1} others")
    for edge in case.edges:
        if not math.isfinite(found[edge]):
            raise OptionError(f"case {case.name} has no finite number for '{edge}'")
    return CaseScore(_pairs(case, found), _kept(case, network, found), len(case.circuit))


def _missing_labels(case: BenchCase, network: Network) -> Iterator[str]:
    """What a case does not say of its edges: a label of each, and that its circuit has none in vain."""
    claim, labelled, kept = case.claim, labels(case.claim), circuit(case.claim)
    for own in edge_sets(network, claim, [ALL]):
        if own.edges[0] not in labelled:
            yield f"'{edge_text(own.edges[0], claim.variables)}' has no label"
    out = labelled.keys() - kept
    shown = [set(own.edges) for own in claim.edge_sets if own.matters is not None]
    for edge in labelled:
        if edge in kept and not any(edge in own and own <= out | {edge} for own in shown):
            yield f"it does not show that '{edge_text(edge, claim.variables)}' cannot be left out"
    if not kept:
        yield "no edge matters"


def _pairs(case: BenchCase, found: Mapping[str, float]) -> float | None:
    needed = [found[edge] for edge, matters in case.matters.items() if matters]
    idle = [found[edge] for edge, matters in case.matters.items() if not matters]
    if not needed or not idle:
        return None
    wins = sum((own > other) + (own == other) / 2 for own in needed for other in idle)
    return wins / (len(needed) * len(idle))


def _kept(case: BenchCase, network: Network, found: Mapping[str, float]) -> int:
    """How many edges have to be kept; those with equal numbers are kept or left out together.

    What is irrelevant together is so in part: the fewer are left out, the sooner it is proved.
    """
    edges = case.edges
    steps = sorted({found[name] for name in edges}, reverse=True)

    def is_enough(least: float) -> bool:
        rest = tuple(edge for name, edge in edges.items() if found[name] < least)
        return not rest or doubt_of(network, case.claim, EdgeSet(rest, None)) is None

    number = bisect_left(steps, True, key=is_enough)
    return sum(found[name] >= steps[number] for name in edges)


def read_found(path: Path) -> dict[str, dict[str, float]]:
    """Numbers for edges by case, from a file of JSON. Raises `MalformedFileError`."""
    try:
        data: Any = parse_json(read_bytes(path, "write numbers for edges, by case"))
    except (ValueError, RecursionError) as error:
        raise MalformedFileError(f"'{path}' is no JSON: {brief(error)}") from None
    if not isinstance(data, dict) or not all(isinstance(own, dict) for own in data.values()):
        raise MalformedFileError(f"'{path}' has no numbers by case and edge")
    for name, own in data.items():
        for edge, number in own.items():
            if not _is_finite(number):
                raise MalformedFileError(f"'{path}': case {name}, '{edge}' has no finite number")
    return data


def _is_finite(number: object) -> bool:
    try:
        return isinstance(number, int | float) and not isinstance(number, bool) and math.isfinite(number)
    except OverflowError:  # an integer that no float holds
        return False
