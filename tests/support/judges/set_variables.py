"""Claims about causal variables against the network's own bytes: every short word, and many settings."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from attemper.attention_program.ops import Program
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CAUSAL, CausalClaim, CausalVariable
from tests.support.judges.read_back import raw_of
from tests.support.oracles import raw_settings
from tests.support.oracles.raw_files import Floats, Integers
from tests.support.oracles.raw_settings import NATURAL, every_word

ROOM = 0.25 + 1e-6
"""Outputs may be so far off, in float64."""

HELD = 1e-6
"""Rows are exact but for the roundings of float64."""

MIXTURES = 10
"""So many settings of each length have values at random positions."""


class Truth:
    """What a claim says, tried on all words up to a length."""

    def __init__(
        self, network: Network, program: Program, variables: Sequence[CausalVariable], longest: int
    ) -> None:
        claim = json.loads(json.dumps(CAUSAL.encode(CausalClaim("", program, tuple(variables)))))
        self.program, self.variables = claim["program"], claim["variables"]
        self.network, self.longest = raw_of(network), longest

    def is_held(self) -> bool:
        """Whether coordinates are their steps on every word."""
        for batch in self._batches():
            rows = raw_settings.natural_rows(self.network, self.variables, batch)
            meant = raw_settings.meant_rows(self.program, self.variables, batch)
            if any(np.abs(own - bits).max() > HELD for own, bits in zip(rows, meant, strict=True)):
                return False
        return True

    def holds_where_set(self, rng: random.Random) -> bool:
        """Whether outputs are the program's for each value at each position, everywhere, and mixtures."""
        for batch in self._batches():
            for setting in self._settings(batch.tokens.shape, rng):
                if self._differs(batch, setting):
                    return False
        return True

    def holds_interchanged(self) -> bool:
        """Whether they are for every two words, one variable at one position, by its numbers there."""
        for batch in self._batches():
            natural = raw_settings.natural_rows(self.network, self.variables, batch)
            count, length = batch.tokens.shape
            for number, variable in enumerate(self.variables):
                steps = self._values(number, batch)
                for position in range(length):
                    for source in range(count):
                        rows = np.broadcast_to(
                            natural[number][source, position], (count, natural[number].shape[-1])
                        )
                        found = raw_settings.interchanged(self.network, variable, batch, rows, position)
                        setting = [np.full(batch.tokens.shape, NATURAL) for _ in self.variables]
                        setting[number][:, position] = steps[source, position]
                        meant = raw_settings.program_outputs(self.program, self.variables, batch, setting)
                        if _apart(found, meant):
                            return False
        return True

    def _batches(self) -> list[Any]:
        letters = len(self.network.alphabet)
        return [every_word(letters, length) for length in range(1, self.longest + 1)]

    def _values(self, number: int, batch: Any) -> Integers:
        """Which value the program gives a variable at each position of each word."""
        refs = [code["step"] for code in self.variables[number]["codes"]]
        rows = raw_settings.steps_of(self.program, self.program["alphabet"], batch)
        return sum((k * rows[ref] for k, ref in enumerate(refs, start=1)), np.zeros_like(batch.tokens))

    def _settings(self, shape: tuple[int, ...], rng: random.Random) -> list[list[Integers]]:
        natural = [np.full(shape, NATURAL) for _ in self.variables]
        found = [natural]
        counts = [len(variable["codes"]) for variable in self.variables]
        for number, count in enumerate(counts):
            for value in range(count + 1):
                for places in (*range(shape[1]), slice(None)):
                    own = [table.copy() for table in natural]
                    own[number][:, places] = value
                    found.append(own)
        draw = np.random.default_rng(rng.randrange(2**32))
        for _ in range(MIXTURES):
            found.append([draw.integers(NATURAL, count + 1, shape) for count in counts])
        return found

    def _differs(self, batch: Any, setting: list[Integers]) -> bool:
        found = raw_settings.network_outputs(self.network, self.variables, batch, setting)
        return _apart(found, raw_settings.program_outputs(self.program, self.variables, batch, setting))


def _apart(found: Floats, meant: Floats) -> bool:
    return bool((np.abs(found - meant) > ROOM).any())
