"""Networks of a clamp's bit, written by hand over `ab`: the letter a, and what is set beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction

from attemper.exact.closed_forms import ONE, ClosedForm, I, Number, over, times
from attemper.languages.words import Alphabet
from attemper.networks import layers
from attemper.networks.wellformed import complaints

Terms = Mapping[str, Fraction | int]

HALF, BIG = Fraction(1, 2), Fraction(2**80)


def form(names: tuple[str, ...], terms: Terms) -> layers.LinearForm:
    """sum of amount * coordinate."""
    found = {names.index(name): Fraction(amount) for name, amount in terms.items()}
    return tuple(sorted((place, amount) for place, amount in found.items() if amount))


def clamp(read: layers.LinearForm, target: int) -> tuple[layers.Hidden, layers.Hidden]:
    """Two hidden units that write 1 if the form is at least 3/4, and 0 if it is at most 1/4."""
    return (
        layers.Hidden(read, Fraction(-1, 4), ((target, Fraction(2)),)),
        layers.Hidden(read, Fraction(-3, 4), ((target, Fraction(-2)),)),
    )


def letters_network(
    positions: Mapping[str, ClosedForm],
    read: Terms,
    *,
    embedding: tuple[Terms, ...] = ({"a": 1}, {}),
    before: tuple[layers.Layer, ...] = (),
    heads: tuple[layers.Head, ...] = (),
    more: tuple[str, ...] = (),
) -> layers.Network:
    """Layers, and then one whose clamp of `read` is put out. Coordinates: a, positions, more, out."""
    names = ("a", *positions, *more, "out")
    last = layers.Layer(heads, clamp(form(names, read), names.index("out")), ((0, 1),))
    network = layers.Network(
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


def shared_units() -> layers.Network:
    """Clamps (0, 1) and (2, 1), whose units add 2^80 a + 1 where they seem to add up to 1."""
    read = ((0, BIG),)
    units = (
        layers.Hidden(read, HALF, ((1, Fraction(1)),)),
        layers.Hidden(read, Fraction(0), ((1, Fraction(-1)),)),
        layers.Hidden(read, HALF, ((1, Fraction(1)),)),
    )
    return letters_network({}, {"a": 1}, before=(layers.Layer((), units, ((0, 1), (2, 1))),), more=("big",))


def large_beside(exponent: int, weight: int) -> Callable[[], layers.Network]:
    """20 numbers about 2^exponent that nobody reads, and `weight` (1 - 1) in the clamp of the letter."""
    positions = {"one": ONE, "uno": ONE}
    positions |= {
        f"h{j}": times(Number(Fraction(2**exponent * (j + 3), 2 * j + 7)), over(I)) for j in range(20)
    }
    return lambda: letters_network(positions, {"a": 1, "one": 2**weight, "uno": -(2**weight)})


def tiny(exponent: int) -> Callable[[], layers.Network]:
    """A letter that is 2^-exponent, read by 2^exponent."""
    amount = Fraction(1, 2**exponent)
    return lambda: letters_network({}, {"a": 2**exponent}, embedding=({"a": amount}, {}))


def wide_scores(
    construction: layers.Construction | layers.Foreign, weight: int
) -> Callable[[], layers.Network]:
    """A head whose scores are weight (1 - 1), written where the clamp reads."""
    row = ((1, Fraction(weight)), (2, Fraction(-weight)))
    head = layers.Head(
        construction,
        layers.Masking.FUTURE,
        layers.Softmax(ONE),
        (((1, Fraction(1)),),),
        (row,),
        (((0, Fraction(1)),),),
        (3,),
    )
    return lambda: letters_network(
        {"one": ONE, "uno": ONE}, {"seen": 2}, before=(layers.Layer((head,), (), ()),), more=("seen",)
    )
