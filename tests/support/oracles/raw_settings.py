"""What a network and its program do where variables are set, from FORMAT.md, section 16, and raw files alone.

Nothing here imports attemper. A setting has for each variable a table [word, position] of values: 0 for none
of its codes, 1, 2, ..., or NATURAL. All words of one length run side by side, in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from tests.support.oracles.raw_files import Floats, Integers, RawNetwork
from tests.support.oracles.raw_forward import (
    FORMATS,
    Batch,
    Kernel,
    Order,
    Way,
    batch_of,
    run_every_output,
)
from tests.support.oracles.raw_truth import steps_of

NATURAL = -1

WAY = Way(Kernel.NUMERATOR, Order.PAIRWISE)

Variables = Sequence[Mapping[str, Any]]
"""The variables of a file, as JSON data."""

Edges = Sequence[Sequence[Any]]
"""A set of edges, as JSON data."""


def every_word(letters: int, length: int) -> Batch:
    """All words of a length."""
    return batch_of(list(product(range(letters), repeat=length)))


def network_outputs(
    network: RawNetwork, variables: Variables, batch: Batch, setting: Sequence[Integers]
) -> Floats:
    """N[beta]: each output coordinate [word, position, output]."""

    def after(layer: int, stream: Floats) -> Floats:
        stream = stream.copy()
        for variable, values in zip(variables, setting, strict=True):
            if variable["layer"] != layer:
                continue
            for number, code in enumerate(variable["codes"], start=1):
                for holder in code["holders"]:
                    bit = (values == number) ^ holder["opposite"]
                    own = stream[..., holder["coordinate"]]
                    stream[..., holder["coordinate"]] = np.where(values == NATURAL, own, bit)
        return stream

    return run_every_output(network, batch, FORMATS["float64"], WAY, after)


def rows_of(variable: Mapping[str, Any], values: Integers) -> Floats:
    """What a variable holds for each value [word, position, holder]; not a number if natural."""
    rows = [
        np.where(values == NATURAL, np.nan, (values == number) ^ holder["opposite"])
        for number, code in enumerate(variable["codes"], start=1)
        for holder in code["holders"]
    ]
    return np.stack(rows, axis=-1)


def edge_outputs(
    network: RawNetwork, variables: Variables, edges: Edges, batch: Batch, rows: Sequence[Floats]
) -> Floats:
    """N[E, gamma]: each output coordinate [word, position, output], where each edge carries its rows."""

    def read(reader: str, stream: Floats) -> Floats:
        stream = stream.copy()
        for edge, own in zip(edges, rows, strict=True):
            if reader == _reader(edge):
                places = _coordinates(variables[edge[1]])
                stream[..., places] = np.where(np.isnan(own), stream[..., places], own)
        return stream

    return run_every_output(network, batch, FORMATS["float64"], WAY, reads=read)


def _reader(edge: Sequence[Any]) -> str:
    match edge:
        case ["head edge", _, layer, head, part]:
            return f"head {layer}.{head} {part}"
        case ["feed forward edge", _, layer]:
            return f"feed-forward {layer}"
        case ["output edge", _]:
            return "output"
    raise ValueError(edge)


def program_outputs(
    program: Mapping[str, Any], variables: Variables, batch: Batch, setting: Sequence[Integers]
) -> Floats:
    """P[beta]: each output's bit [word, position, output]."""
    codes = {
        code["step"]: (number, values)
        for variable, values in zip(variables, setting, strict=True)
        for number, code in enumerate(variable["codes"], start=1)
    }

    def after(ref: int, row: Integers) -> Integers:
        if ref not in codes:
            return row
        number, values = codes[ref]
        return np.where(values == NATURAL, row, values == number)

    rows = steps_of(program, program["alphabet"], batch, after)
    refs = [ref for _, ref in program["symbols"]] or [program["output"]]
    return np.stack([rows[ref] for ref in refs], axis=-1)


def natural_rows(network: RawNetwork, variables: Variables, batch: Batch) -> list[Floats]:
    """What each variable's coordinates are where nothing is set, [word, position, holder]."""
    found: dict[int, Floats] = {}

    def after(layer: int, stream: Floats) -> Floats:
        found[layer] = stream
        return stream

    run_every_output(network, batch, FORMATS["float64"], WAY, after)
    return [found[variable["layer"]][..., _coordinates(variable)] for variable in variables]


def meant_rows(program: Mapping[str, Any], variables: Variables, batch: Batch) -> list[Integers]:
    """What they should be, by the program's steps."""
    rows = steps_of(program, program["alphabet"], batch)
    return [
        np.stack(
            [
                1 - rows[code["step"]] if holder["opposite"] else rows[code["step"]]
                for code in variable["codes"]
                for holder in code["holders"]
            ],
            axis=-1,
        )
        for variable in variables
    ]


def interchanged(
    network: RawNetwork, variable: Mapping[str, Any], bases: Batch, rows: Floats, position: int
) -> Floats:
    """The outputs where one variable's numbers at a position are those of sources [word, holder]."""

    def after(layer: int, stream: Floats) -> Floats:
        stream = stream.copy()
        if layer == variable["layer"]:
            stream[:, position, _coordinates(variable)] = rows
        return stream

    return run_every_output(network, bases, FORMATS["float64"], WAY, after)


def _coordinates(variable: Mapping[str, Any]) -> list[int]:
    return [holder["coordinate"] for code in variable["codes"] for holder in code["holders"]]
