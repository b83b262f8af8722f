"""A drawn basis for a network, in which its bits stand on no axis and floats lose nothing."""

from __future__ import annotations

from array import array
from random import Random

from attemper.errors import UnsupportedError
from attemper.networks.layers import Network
from attemper.networks.weights import tensors_of
from attemper.theories.causal.check.turned import axes_kept, rotated
from attemper.theories.causal.rotation import Reflection, Rotation

ROUNDS = 12

IDLE = range(3, 7)


def turning(network: Network, digest: str, rng: Random) -> Rotation:
    """As many reflections as leave the weights numbers of float32; none where there is nothing to turn.

    What is turned are bits that hidden units or embeddings write, and idle coordinates: never what grows with
    positions, of which each axis would get a part, and lose what float32 cannot hold beside it.
    """
    idle = rng.choice(IDLE)
    free = sorted(set(range(len(network.coordinates) + idle)) - axes_kept(network))
    if len(free) == idle:
        return Rotation(digest, 0, ())
    drawn = tuple(_reflection(rng, free) for _ in range(ROUNDS))
    tried = (Rotation(digest, idle, drawn[:rounds]) for rounds in range(ROUNDS, 0, -1))
    return next((said for said in tried if _is_exact(rotated(network, said))), Rotation(digest, 0, ()))


def _reflection(rng: Random, free: list[int]) -> Reflection:
    four = rng.sample(free, 4)
    plus = rng.randint(2, 4)
    return Reflection(tuple(four[:plus]), tuple(four[plus:]))


def _is_exact(network: Network) -> bool:
    """Whether all weights are numbers of float32."""
    try:
        tensors = tensors_of(network).values()
    except UnsupportedError:
        return False
    return all(array("d", array("f", tensor.numbers)) == tensor.numbers for tensor in tensors)
