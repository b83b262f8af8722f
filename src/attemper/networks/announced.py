"""How large the weights of a network can be, from its structure alone: no more of the file is read."""

from __future__ import annotations

from attemper.networks.structure import Structure
from attemper.networks.weights import MOST_PARAMETERS, NORM_PARTS, tensor_names

ENTRY = 1_000
"""The most bytes that the header of the container spends on one tensor: name, type, shape and place."""

REMARKS = 200_000
"""The most bytes of everything else in that header: other programs write remarks there."""


def announced_bytes(structure: Structure) -> int:
    """The most bytes of the weights of a network with this structure, every number in float64.

    Raises ValueError if there are more numbers than any network is written with.
    """
    width = len(structure.coordinates)
    is_centred = structure.normalisation and structure.normalisation.is_centred
    numbers = len(structure.alphabet.symbols) * width
    if is_centred is not None:
        numbers += len(structure.layers) * width * len(NORM_PARTS[is_centred])
    for layer in structure.layers:
        numbers += len(layer.heads) * 4 * width * structure.head_width
        numbers += layer.hidden * (2 * width + 1)
    if numbers > MOST_PARAMETERS:
        raise ValueError(
            f"it announces {numbers:,} weights, more than {MOST_PARAMETERS:,}, the most there can be"
        )
    return 8 + REMARKS + ENTRY * len(tensor_names(len(structure.layers), is_centred)) + 8 * numbers
