"""A network in another basis, from FORMAT.md, section 17, and raw files alone.

Nothing here imports attemper.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.support.oracles.raw_files import Floats, RawNetwork
from tests.support.oracles.raw_forward import FORMATS, batch_of, run_every_output
from tests.support.oracles.raw_settings import WAY, Variables


def basis_of(rotation: Mapping[str, Any], width: int) -> Floats:
    """Q [axis, coordinate]: the stream x is Q x in the other basis, idle coordinates last."""
    basis = np.eye(width + rotation["idle"])
    for reflection in rotation["reflections"]:
        vector = np.zeros(len(basis))
        vector[reflection["plus"]], vector[reflection["minus"]] = 1, -1
        basis = (np.eye(len(basis)) - np.outer(vector, vector) / 2) @ basis
    return basis


def interchanged_outputs(
    network: RawNetwork,
    basis: Floats,
    variables: Variables,
    base: Sequence[int],
    taken: Sequence[tuple[int, int, Sequence[int]]],
    form: str = "float64",
) -> Floats:
    """What is put out [position, output] where variables at positions, from 1, are what they are on sources.

    Of the stream only its parts along a variable's directions are changed, each by what it differs.
    """
    batch = batch_of([base, *(source for _, _, source in taken)])

    def after(layer: int, stream: Floats) -> Floats:
        stream = stream.copy()
        for row, (number, position, _) in enumerate(taken, start=1):
            if variables[number]["layer"] == layer:
                places = [own["coordinate"] for code in variables[number]["codes"] for own in code["holders"]]
                along = basis[:, places]
                apart = (stream[row, position - 1] - stream[0, position - 1]) @ along
                stream[0, position - 1] += along @ apart
        return stream

    return run_every_output(network, batch, FORMATS[form], WAY, after)[0]
