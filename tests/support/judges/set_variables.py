"""Claims about causal variables against the network's own bytes: every short word, and many settings."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from attemper.attention_program.ops import Program
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import (
    CAUSAL,
    CausalClaim,
    CausalEdge,
    CausalVariable,
    EdgeSet,
    Interchange,
    Taken,
)
from tests.support.judges.read_back import raw_of
from tests.support.oracles import raw_settings
from tests.support.oracles.raw_files import Floats, Integers
from tests.support.oracles.raw_forward import batch_of
from tests.support.oracles.raw_settings import NATURAL, every_word

ROOM = 0.25 + 1e-6
"""Outputs may be so far off, in float64."""

HALF = 0.5

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
        self.said = program
        self.program, self.variables = claim["program"], claim["variables"]
        self.network, self.longest = raw_of(network), longest
        self.counts = [len(variable["codes"]) for variable in self.variables]

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
            for setting in _settings(batch.tokens.shape, self.counts, rng):
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

    def is_irrelevant(self, edges: Sequence[CausalEdge], rng: random.Random) -> bool:
        """Whether outputs stay the program's for each value at each position along edges, and mixtures."""
        return not any(self._changed(edges, _apart, rng))

    def changes_a_bit(self, edges: Sequence[CausalEdge], said: Interchange) -> bool:
        """Whether an interchange that is read along the edges alone changes a bit that is put out."""
        symbols = self.network.alphabet
        base = batch_of([[symbols.index(s) for s in said.base]])
        data = self._edges(edges)
        natural = [self._rows(edge, np.full(base.tokens.shape, NATURAL)) for edge in edges]
        rows = [own.copy() for own in natural]
        for taken in said.taken:
            if isinstance(taken, Taken):
                source = batch_of([[symbols.index(s) for s in taken.source]])
                there = raw_settings.natural_rows(self.network, self.variables, source)[taken.variable]
                row = there[0, taken.position - 1]
            else:
                value = np.full(base.tokens.shape, taken.value)
                row = raw_settings.rows_of(self.variables[taken.variable], value)[0, 0]
            for edge, own in zip(edges, rows, strict=True):
                if edge.variable == taken.variable:
                    own[:, taken.position - 1] = row
        given = self.network, self.variables, data, base
        before, after = (raw_settings.edge_outputs(*given, own) for own in (natural, rows))
        return bool(((before > HALF) & (after < HALF) | (before < HALF) & (after > HALF)).any())

    def some_bit_changes(self, edges: Sequence[CausalEdge], rng: random.Random) -> bool:
        """Whether some setting of the edges changes a bit."""
        return any(self._changed(edges, lambda found, meant: bool((np.abs(found - meant) > HALF).any()), rng))

    def _changed(
        self, edges: Sequence[CausalEdge], is_wrong: Callable[[Floats, Floats], bool], rng: random.Random
    ) -> Iterator[bool]:
        counts = [len(self.variables[edge.variable]["codes"]) for edge in edges]
        for batch in self._batches():
            shape = batch.tokens.shape
            natural = [np.full(shape, NATURAL) for _ in self.variables]
            meant = raw_settings.program_outputs(self.program, self.variables, batch, natural)
            for setting in _settings(shape, counts, rng):
                rows = [self._rows(edge, own) for edge, own in zip(edges, setting, strict=True)]
                given = self.network, self.variables, self._edges(edges), batch
                found = raw_settings.edge_outputs(*given, rows)
                yield is_wrong(found, meant)

    def _rows(self, edge: CausalEdge, values: Integers) -> Floats:
        return raw_settings.rows_of(self.variables[edge.variable], values)

    def _edges(self, edges: Sequence[CausalEdge]) -> list[list[Any]]:
        data = CAUSAL.codec.encode(CausalClaim("", self.said, (), (EdgeSet(tuple(edges), None),)))
        found: list[list[Any]] = json.loads(json.dumps(data["edge_sets"][0]["edges"]))
        return found

    def _batches(self) -> list[Any]:
        letters = len(self.network.alphabet)
        return [every_word(letters, length) for length in range(1, self.longest + 1)]

    def _values(self, number: int, batch: Any) -> Integers:
        """Which value the program gives a variable at each position of each word."""
        refs = [code["step"] for code in self.variables[number]["codes"]]
        rows = raw_settings.steps_of(self.program, self.program["alphabet"], batch)
        return sum((k * rows[ref] for k, ref in enumerate(refs, start=1)), np.zeros_like(batch.tokens))

    def _differs(self, batch: Any, setting: list[Integers]) -> bool:
        found = raw_settings.network_outputs(self.network, self.variables, batch, setting)
        return _apart(found, raw_settings.program_outputs(self.program, self.variables, batch, setting))


def _apart(found: Floats, meant: Floats) -> bool:
    return bool((np.abs(found - meant) > ROOM).any())


def _settings(shape: tuple[int, ...], counts: Sequence[int], rng: random.Random) -> list[list[Integers]]:
    """Nothing set, one of so many values at one place or all, and mixtures: a table for each count."""
    natural = [np.full(shape, NATURAL) for _ in counts]
    found = [natural]
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
