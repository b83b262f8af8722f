"""A file about a network in another basis, read and judged: the one network is made again from the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError
from attemper.networks import files
from attemper.networks.layers import Coordinate, Foreign, Head, Hidden, Layer, Network
from attemper.theories.causal.check.network import network_in
from attemper.theories.causal.rotation import FOLDER, ROTATION, Rotation

EQUAL = (
    f"all lengths, in real arithmetic: the network in '{FOLDER}' puts out what this one does, and after each "
    "layer its residual stream is this one's after the reflections"
)


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file, about the network in the folder `model`, or its own, and the one beside it."""
    folder = path.parent if model is None else Path(model)
    try:
        said = ROTATION.load(path)
        network, digest = network_in(folder)
        turned, _ = files.load(path.parent / FOLDER)
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(folder)))
    subject = Subject(About.NETWORK, str(folder), digest)
    for reason in _malformed(network, digest, turned, said):
        return Verdict((ClaimVerdict(Status.MALFORMED, reason),), subject)
    if turned == rotated(network, said):
        return Verdict((ClaimVerdict(Status.PROVED, EQUAL),), subject)
    return Verdict((ClaimVerdict(Status.UNKNOWN, f"{EQUAL}: that network is another one"),), subject)


def _malformed(network: Network, digest: str, turned: Network, said: Rotation) -> Iterator[str]:
    if said.network != digest:
        yield "the file is about another network: the digests differ"
    if len(turned.coordinates) != len(network.coordinates) + said.idle:
        yield f"the network in '{FOLDER}' has not {said.idle} coordinates more"
    yield from mismatches(network, said)


def rotated(network: Network, said: Rotation) -> Network:
    """The network that reads and writes its stream after the reflections, if `mismatches` says nothing."""
    touched = {own for reflection in said.reflections for own in reflection.coordinates}
    labels = (*network.coordinates, *(f"idle {number}" for number in range(said.idle)))
    return replace(
        network,
        coordinates=tuple(f"axis {own}" if own in touched else label for own, label in enumerate(labels)),
        embedding=tuple(map(said.of, network.embedding)),
        layers=tuple(
            Layer(
                tuple(_head(own, said) for own in layer.heads),
                tuple(Hidden(said.of(own.form), own.bias, said.of(own.outputs)) for own in layer.hidden),
                layer.clamps,
            )
            for layer in network.layers
        ),
    )


def _head(head: Head, said: Rotation) -> Head:
    query, key, values = (tuple(map(said.of, forms)) for forms in (head.query, head.key, head.values))
    return replace(head, construction=Foreign(), query=query, key=key, values=values)


def axes_kept(network: Network) -> set[Coordinate]:
    """Coordinates that no reflection changes: of positions, of what heads write, and of outputs."""
    written = {target for layer in network.layers for head in layer.heads for target in head.targets}
    return {own for own, _ in network.positions} | written | {*network.outputs, network.output}


def mismatches(network: Network, said: Rotation) -> Iterator[str]:
    """Why the network cannot be turned so."""
    if network.normalisation is not None:
        yield "its sublayers read normalised numbers"
    kept = axes_kept(network)
    for own in sorted({own for reflection in said.reflections for own in reflection.coordinates}):
        if own not in range(len(network.coordinates) + said.idle):
            yield f"there is no coordinate {own}"
        elif own in kept:
            yield f"coordinate {own} is a position's, a head's or an output's, and stays as it is"
