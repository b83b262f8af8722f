"""How well a method finds the edges of a benchmark that matter."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, final

from attemper.documents import brief
from attemper.errors import MalformedFileError, OptionError
from attemper.files import parse_json, read_bytes
from attemper.html_tables import Tabled
from attemper.networks.layers import Network
from attemper.theories.causal.bench.making import CLAIM, STORED, TURNED
from attemper.theories.causal.bench.stored import INTERVENTIONS, Interventions, StoredIntervention
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, CausalEdge, EdgeSet, edge_text
from attemper.theories.causal.check.claims import doubt_of, judge
from attemper.theories.causal.rotation import FOLDER, ROTATION, Rotation
from attemper.theories.causal.search.edges import ALL, edge_sets
from attemper.theories.causal.statements import PROVED
from attemper.workbench.folder import load
from attemper.workbench.model import Model

if TYPE_CHECKING:
    from torch import Tensor

Said = TypeVar("Said", Interventions, Rotation)

REMEDY = "make cases with 'attemper bench DIR'"


@final
@dataclass(frozen=True)
class BenchCase:
    """One network of a benchmark, and which of its edges matter.

    Edges have the names that `attemper causal` gives them. Nothing is proved again: `scored` does that.
    """

    folder: Path
    claim: CausalClaim

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.folder.name

    @property
    def model(self) -> Model:
        """The network, as `attemper.load` reads it."""
        return load(self.folder)

    @property
    def rotated(self) -> Model:
        """The network in another basis of its residual stream."""
        return load(self.folder / FOLDER)

    @property
    def rotation(self) -> Rotation:
        """Which basis that is. Raises `MalformedFileError` for a file about another network."""
        return self._own(ROTATION.load(self.folder / TURNED), TURNED)

    @property
    def basis(self) -> Tensor:
        """Q [axis, coordinate]: where the stream is x in the network it is Q x in the other, in float64.

        A direction d that was found there is Q^T d here: a coordinate, if it is a variable's.
        """
        import torch

        said, width = self.rotation, len(self.model.network.coordinates)
        rows = torch.zeros(width + said.idle, width, dtype=torch.float64)
        for own in range(width):
            for axis, part in said.of(((own, Fraction(1)),)):
                rows[axis, own] = float(part)
        return rows

    @property
    def interventions(self) -> Sequence[StoredIntervention]:
        """Interchanges of its variables, and the bits that are put out after them, as the program says.

        Raises `MalformedFileError` for a file about another network.
        """
        return self._own(INTERVENTIONS.load(self.folder / STORED), STORED).stored

    def _own(self, said: Said, name: str) -> Said:
        if said.network != self.claim.network:
            raise MalformedFileError(f"'{self.folder / name}' is about another network: {REMEDY}")
        return said

    @property
    def edges(self) -> dict[str, CausalEdge]:
        """Its edges, by their names."""
        return {
            edge_text(own.edges[0], self.claim.variables): own.edges[0]
            for own in self.claim.edge_sets
            if len(own.edges) == 1
        }

    @property
    def matters(self) -> dict[str, bool]:
        """Of each edge whether it matters by itself."""
        return {
            edge_text(own.edges[0], self.claim.variables): own.matters is not None
            for own in self.claim.edge_sets
            if len(own.edges) == 1
        }

    @property
    def circuit(self) -> frozenset[str]:
        """Edges without which the others, together, change no bit: what is kept where these are left out.

        None of them can be left out beside those: of three of which two decide one is left out, the first.
        """
        idle = [own.edges for own in self.claim.edge_sets if own.matters is None]
        left_out = max(map(set, idle), key=len, default=set[CausalEdge]())
        return frozenset(name for name, edge in self.edges.items() if edge not in left_out)


def cases(bench: str | Path) -> Iterator[BenchCase]:
    """The cases of a benchmark, in the order of their names.

    Raises `MalformedFileError` where there is none, or a folder in it is none.

    >>> from tempfile import TemporaryDirectory
    >>> from attemper.theories.causal.bench.making import made
    >>> with TemporaryDirectory() as folder:
    ...     made(0, seed=1).save(Path(folder, "0"))
    ...     [(own.name, any(own.matters.values())) for own in cases(folder)]
    [('0', True)]
    """
    found = sorted(path for path in Path(bench).glob("*") if path.is_dir())
    if not found:
        raise MalformedFileError(f"there are no cases in '{bench}': {REMEDY}")
    for folder in found:
        yield BenchCase(folder, CAUSAL.load(folder / CLAIM))


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
    network = case.model.network
    verdict = judge(case.folder / CLAIM, None)
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
    claim, edges = case.claim, case.edges
    for own in edge_sets(network, claim, [ALL]):
        if own.edges[0] not in edges.values():
            yield f"'{edge_text(own.edges[0], claim.variables)}' has no label"
    out = {edge for name, edge in edges.items() if name not in case.circuit}
    shown = [set(own.edges) for own in claim.edge_sets if own.matters is not None]
    for name in sorted(case.circuit):
        if not any(edges[name] in own and own <= out | {edges[name]} for own in shown):
            yield f"it does not show that '{name}' cannot be left out"
    if not case.circuit:
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
