"""Networks with a layer that has no hidden unit, no head, or neither of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from attemper.exact.closed_forms import ONE
from attemper.exports.subject import Exported
from attemper.networks.layers import Hidden, Layer, Masking, Network, Norm, Normalisation
from attemper.networks.structure import Provenance
from tests.support.drawn.scan_networks import HeadOf, network_of

SHARE_OF_A = Provenance("formula", "true", "last", "unbounded")
NOTHING = Layer((), (), ())


def share_of_a() -> Network:
    """The share of a's up to each position, which a head puts out in a layer without hidden units."""
    return network_of(HeadOf((), (), ({"a": 1},), Masking.FUTURE, ONE), positions={"one": ONE})


def _unit() -> Hidden:
    """A hidden unit that adds the letter b to what is put out."""
    return Hidden(((1, Fraction(1)),), Fraction(0), ((3, Fraction(1)),))


def _with(*layers: Layer) -> Callable[[], Network]:
    return lambda: replace(share_of_a(), layers=(*share_of_a().layers, *layers))


def _normalised() -> Network:
    norm = Norm((Fraction(1),) * 4, (Fraction(0),) * 4)
    return replace(
        share_of_a(), normalisation=Normalisation(Fraction(1, 2**17), Fraction(1), True, (norm,), (norm,))
    )


BUILDS: dict[str, Callable[[], Network]] = {
    "no units": share_of_a,
    "no units in the second layer": _with(share_of_a().layers[0]),
    "no heads in the second layer": _with(Layer((), (_unit(),), ())),
    "nothing in the second layer": _with(NOTHING),
    "nothing between": _with(NOTHING, Layer((), (_unit(),), ())),
    "no units, normalised": _normalised,
    "nothing at all": lambda: replace(share_of_a(), layers=(NOTHING,)),
}


def subject_of(name: str) -> Exported:
    """One of them, as exports take it."""
    return Exported(BUILDS[name](), SHARE_OF_A)
