"""Networks of a clamp's bit, written by hand over `ab`: the letter a, and what is set beside it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from attemper.exact.closed_forms import ClosedForm
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Network
from attemper.networks.wellformed import complaints

Terms = Mapping[str, Fraction | int]

HALF = Fraction(1, 2)


def form(names: tuple[str, ...], terms: Terms) -> LinearForm:
    """sum of amount * coordinate."""
    found = {names.index(name): Fraction(amount) for name, amount in terms.items()}
    return tuple(sorted((place, amount) for place, amount in found.items() if amount))


def clamp(read: LinearForm, target: int) -> tuple[Hidden, Hidden]:
    """Two hidden units that write 1 if the form is at least 3/4, and 0 if it is at most 1/4."""
    return (
        Hidden(read, Fraction(-1, 4), ((target, Fraction(2)),)),
        Hidden(read, Fraction(-3, 4), ((target, Fraction(-2)),)),
    )


def letters_network(
    positions: Mapping[str, ClosedForm],
    read: Terms,
    *,
    embedding: tuple[Terms, ...] = ({"a": 1}, {}),
    before: tuple[Layer, ...] = (),
    heads: tuple[Head, ...] = (),
    more: tuple[str, ...] = (),
) -> Network:
    """Layers, and then one whose clamp of `read` is put out. Coordinates: a, positions, more, out."""
    names = ("a", *positions, *more, "out")
    last = Layer(heads, clamp(form(names, read), names.index("out")), ((0, 1),))
    network = Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=names,
        embedding=tuple(form(names, terms) for terms in embedding),
        positions=tuple((names.index(name), place) for name, place in positions.items()),
        layers=(*before, last),
        head_width=4,
        output=names.index("out"),
        reads_first=False,
        accepts_empty=False,
    )
    assert not complaints(network)
    return network
