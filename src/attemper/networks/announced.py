"""How large the weights of a network can be, from its structure alone: no more of the file is read."""

from __future__ import annotations

from collections.abc import Mapping

from attemper.networks.weights import MOST_PARAMETERS, NORM_PARTS, tensor_names

ENTRY = 1_000
"""The most bytes that the header of the container spends on one tensor: name, type, shape and place."""

REMARKS = 200_000
"""The most bytes of everything else in that header: other programs write remarks there."""


def announced_bytes(structure: Mapping[str, object]) -> int:
    """The most bytes of the weights of a network with this structure, every number in float64.

    Entries of another shape announce nothing: whoever decodes the structure says what is wrong with them.
    Raises ValueError if there are more numbers than any network is written with.

    >>> announced_bytes({"alphabet": ["a", "b"], "coordinates": ["x"], "head_width": 1, "layers": []})
    201024
    """
    layers = _list(structure.get("layers"))
    width, head_width = len(_list(structure.get("coordinates"))), _size(structure.get("head_width"))
    is_centred = _is_centred(structure.get("normalisation"))
    numbers = len(_list(structure.get("alphabet"))) * width
    if is_centred is not None:
        numbers += len(layers) * width * len(NORM_PARTS[is_centred])
    for layer in layers:
        entries = layer if isinstance(layer, dict) else {}
        numbers += len(_list(entries.get("heads"))) * 4 * width * head_width
        numbers += _size(entries.get("hidden")) * (2 * width + 1)
    if numbers > MOST_PARAMETERS:
        raise ValueError(
            f"it announces {numbers:,} weights, more than {MOST_PARAMETERS:,}, the most there can be"
        )
    return 8 + REMARKS + ENTRY * len(tensor_names(len(layers), is_centred)) + 8 * numbers


def _list(entry: object) -> list[object]:
    return entry if isinstance(entry, list) else []


def _is_centred(entry: object) -> bool | None:
    """What is read of the mean before each sublayer; None if nothing is normalised."""
    return None if entry is None else not (isinstance(entry, dict) and entry.get("kind") == "rms norm")


def _size(entry: object) -> int:
    return max(0, entry) if type(entry) is int else 0
