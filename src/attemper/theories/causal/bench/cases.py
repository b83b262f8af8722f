"""The cases of a benchmark, as they stand in its folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, final

from attemper.errors import MalformedFileError
from attemper.theories.causal.bench.circuit import circuit, labels
from attemper.theories.causal.bench.making import CLAIM, STORED, TURNED
from attemper.theories.causal.bench.stored import INTERVENTIONS, Interventions, StoredIntervention
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, CausalEdge, edge_text
from attemper.theories.causal.rotation import FOLDER, ROTATION, Rotation
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
        return {edge_text(own, self.claim.variables): own for own in labels(self.claim)}

    @property
    def matters(self) -> dict[str, bool]:
        """Of each edge whether it matters by itself."""
        own = labels(self.claim)
        return {name: own[edge] for name, edge in self.edges.items()}

    @property
    def circuit(self) -> frozenset[str]:
        """Edges without which the others, together, change no bit: what is kept where these are left out.

        None of them can be left out beside those: of three of which two decide one is left out, the first.
        """
        kept = circuit(self.claim)
        return frozenset(name for name, edge in self.edges.items() if edge in kept)


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
