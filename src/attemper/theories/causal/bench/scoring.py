"""How well a method finds the edges of a benchmark that matter."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, final

from attemper.errors import MalformedFileError, OptionError
from attemper.files import parse_json, read_bytes
from attemper.html_tables import Tabled
from attemper.theories.causal.bench.making import CLAIM
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, edge_text
from attemper.theories.causal.check.claims import judge
from attemper.theories.causal.statements import PROVED
from attemper.workbench.folder import load
from attemper.workbench.model import Model

REMEDY = "make cases with 'attemper bench DIR'"


@final
@dataclass(frozen=True)
class BenchCase:
    """One network of a benchmark, and which of its edges matter; those of which it is not known are none.

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
    def matters(self) -> dict[str, bool]:
        """Of each labelled edge whether it matters."""
        return {
            edge_text(own.edges[0], self.claim.variables): own.matters is not None
            for own in self.claim.edge_sets
            if len(own.edges) == 1
        }


def cases(bench: str | Path) -> Iterator[BenchCase]:
    """The cases of a benchmark, in the order of their names. Raises `MalformedFileError` where it has none.

    >>> from tempfile import TemporaryDirectory
    >>> from attemper.theories.causal.bench.making import made
    >>> with TemporaryDirectory() as folder:
    ...     for case in made(1, seed=1):
    ...         case.save(Path(folder, "0"))
    ...     [(own.name, any(own.matters.values())) for own in cases(folder)]
    [('0', True)]
    """
    found = sorted(path.parent for path in Path(bench).glob(f"*/{CLAIM}"))
    if not found:
        raise MalformedFileError(f"there are no cases in '{bench}': {REMEDY}")
    for folder in found:
        yield BenchCase(folder, CAUSAL.load(folder / CLAIM))


@final
@dataclass(frozen=True, repr=False)
class BenchScores(Tabled):
    """Of each case how often an edge that matters has a greater number than one that is irrelevant.

    1/2 is what chance does; equal numbers count half. None for a case in which all edges have one label.
    """

    by_case: Mapping[str, float | None]

    @property
    def mean(self) -> float:
        """Of all cases that have both labels; not a number where none has."""
        known = [own for own in self.by_case.values() if own is not None]
        return sum(known) / len(known) if known else math.nan

    @property
    def record(self) -> dict[str, object]:
        """What `--json` prints."""
        return {"mean": self.mean, "cases": dict(self.by_case)}

    def __bool__(self) -> NoReturn:
        raise TypeError("scores are numbers: compare their mean")

    def __repr__(self) -> str:
        return f"<BenchScores: mean {self.mean:.3f} of {len(self.by_case)} cases>"

    def __str__(self) -> str:
        lines = (
            f"{name}: {'one label' if own is None else f'{own:.3f}'}" for name, own in self.by_case.items()
        )
        return "\n".join((*lines, f"mean: {self.mean:.3f}"))


def scored(bench: str | Path, found: Mapping[str, Mapping[str, float]]) -> BenchScores:
    """Scores of numbers for edges, by case: the greater, the more the edge is said to matter.

    The labels of every case are proved again, so that nothing rests on who made the files. Raises
    `OptionError` for an edge without a number, or a label that is not proved.
    """
    return BenchScores({case.name: _of_case(case, found.get(case.name, {})) for case in cases(bench)})


def _of_case(case: BenchCase, found: Mapping[str, float]) -> float | None:
    verdict = judge(case.folder / CLAIM, None)
    if verdict.status not in PROVED:
        raise OptionError(f"the labels of case {case.name} are {verdict.status}: make the case again")
    missing = [edge for edge in case.matters if edge not in found]
    if missing:
        raise OptionError(f"case {case.name} has no number for '{missing[0]}', and {len(missing) - 1} others")
    needed = [found[edge] for edge, matters in case.matters.items() if matters]
    idle = [found[edge] for edge, matters in case.matters.items() if not matters]
    if not needed or not idle:
        return None
    wins = sum((own > other) + (own == other) / 2 for own in needed for other in idle)
    return wins / (len(needed) * len(idle))


def read_found(path: Path) -> dict[str, dict[str, float]]:
    """Numbers for edges by case, from a file of JSON. Raises `MalformedFileError`."""
    try:
        data: Any = parse_json(read_bytes(path, "write numbers for edges, by case"))
    except ValueError as error:
        raise MalformedFileError(f"'{path}' is no JSON: {error}") from None
    if not isinstance(data, dict) or not all(isinstance(own, dict) for own in data.values()):
        raise MalformedFileError(f"'{path}' has no numbers by case and edge")
    for name, own in data.items():
        for edge, number in own.items():
            if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
                raise MalformedFileError(f"'{path}': case {name}, '{edge}' has no finite number")
    return data
