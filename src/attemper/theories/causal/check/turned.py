"""A file about a network in another basis, read and judged: the one network is made again from the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.theories.causal.rotation import FOLDER, ROTATION, Rotation, mismatches, rotated

EQUAL = (
    f"all lengths, in real arithmetic: the network in '{FOLDER}' puts out what this one does, and after each "
    "layer its residual stream is this one's after the reflections"
)


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file, about the network in the folder `model`, or its own, and the one beside it."""
    folder = path.parent if model is None else Path(model)
    try:
        said = ROTATION.load(path)
        network, source = files.load(folder)
        turned, _ = files.load(path.parent / FOLDER)
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(folder)))
    digest = files.digest_of(network, source)
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
