"""What a case of a benchmark says of its interventions and its other basis, tried on its raw files alone."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.oracles.raw_files import Floats, RawNetwork, read_folder
from tests.support.oracles.raw_forward import FORMATS, batch_of, run_every_output
from tests.support.oracles.raw_rotations import basis_of, interchanged_outputs
from tests.support.oracles.raw_settings import NATURAL, WAY, program_outputs


class RawCase:
    """A case's two networks with their bases, and what the files beside them say."""

    def __init__(self, folder: Path) -> None:
        self.claim = json.loads((folder / "causal.json").read_text())
        self.stored = json.loads((folder / "interventions.json").read_text())["stored"]
        self.plain, self.turned = read_folder(folder), read_folder(folder / "rotated")
        width = self.plain.tensors["embed.W_E"].shape[1]
        self.basis = basis_of(json.loads((folder / "rotation.json").read_text()), width)
        self.both: tuple[tuple[RawNetwork, Floats], ...] = (
            (self.plain, np.eye(width)),
            (self.turned, self.basis),
        )

    def wrong_interventions(self) -> Iterator[Any]:
        """Those after which a network puts out other bits than the file says, or without which it does."""
        for own in self.stored:
            said = own["interchange"]
            taken = [(number, at, self._tokens(source)) for _, number, at, source in said["taken"]]
            for network, basis in self.both:
                for places, meant in (([], own["clean"]), (taken, own["outcome"])):
                    base, variables = self._tokens(said["base"]), self.claim["variables"]
                    found = interchanged_outputs(network, basis, variables, base, places)
                    if not np.array_equal(found > 0.5, np.array(meant) > 0):
                        yield said

    def _tokens(self, word: Sequence[str]) -> list[int]:
        return [self.plain.alphabet.index(symbol) for symbol in word]

    def is_wrong_at(self, length: int, rng: random.Random, form: str = "float64") -> bool:
        """Whether a network's bits are not the program's on a random word of that length."""
        batch = batch_of([rng.choices(range(len(self.plain.alphabet)), k=length)])
        natural = np.full(batch.tokens.shape, NATURAL)
        said = self.claim["program"], self.claim["variables"]
        meant = program_outputs(*said, batch, [natural] * len(said[1]))
        found = (run_every_output(network, batch, FORMATS[form], WAY) for network, _ in self.both)
        return any(not np.array_equal(own > 0.5, meant > 0) for own in found)
