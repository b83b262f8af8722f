"""Linear forms and the residual stream while a network is being put together."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from attemper.attention_program.naming import DistinctNames
from attemper.exact.closed_forms import ONE, ClosedForm, show_form
from attemper.networks.layers import Coordinate, HardWeighting, Head, Hidden, Layer, LinearForm


def form(*parts: tuple[Coordinate, int | Fraction]) -> LinearForm:
    """The linear form in normal form: merged, ascending, without zeros."""
    factors: dict[Coordinate, Fraction] = {}
    for coordinate, factor in parts:
        factors[coordinate] = factors.get(coordinate, Fraction(0)) + factor
    return tuple((coordinate, factors[coordinate]) for coordinate in sorted(factors) if factors[coordinate])


def scaled(linear: LinearForm, factor: int | Fraction) -> LinearForm:
    """factor * linear."""
    return form(*((coordinate, own * factor) for coordinate, own in linear))


def added(*linears: LinearForm) -> LinearForm:
    """The sum of linear forms."""
    return form(*(part for linear in linears for part in linear))


def stored(factor: Fraction) -> Fraction:
    """The weight nearest to a number: networks are stored in float64."""
    return Fraction(float(factor))


class Coordinates:
    """The coordinates allocated so far, by label, and the position embeddings among them."""

    def __init__(
        self, labels: Iterable[str] = (), positions: Iterable[tuple[Coordinate, ClosedForm]] = ()
    ) -> None:
        self.labels = list(labels)
        self._names = DistinctNames(self.labels)
        self.positions = {closed: coordinate for coordinate, closed in positions}

    def new(self, label: str) -> Coordinate:
        """A fresh coordinate: 0 until something writes to it. A label that is there gets a number."""
        self.labels.append(self._names.new(label))
        return len(self.labels) - 1

    def place(self, closed: ClosedForm) -> Coordinate:
        """The coordinate of a position embedding."""
        if closed not in self.positions:
            self.positions[closed] = self.new(f"PE {show_form(closed)}")
        return self.positions[closed]

    def at(self, closed: ClosedForm) -> LinearForm:
        """A position embedding as a linear form."""
        return form((self.place(closed), 1))

    def constant(self, value: int | Fraction) -> LinearForm:
        """A constant as a linear form."""
        return form((self.place(ONE), value))

    def placed(self) -> tuple[tuple[Coordinate, ClosedForm], ...]:
        """The position embeddings, by coordinate."""
        return tuple(sorted(((c, closed) for closed, c in self.positions.items()), key=lambda pair: pair[0]))


class LayerDraft:
    """A layer being filled; equal hidden units and equal clamps are kept once."""

    def __init__(self) -> None:
        self.heads: list[Head] = []
        self._hidden: dict[tuple[LinearForm, Fraction], tuple[int, dict[Coordinate, Fraction]]] = {}
        self._clamps: dict[tuple[int, int], None] = {}

    def add_hidden(self, linear: LinearForm, bias: Fraction, target: Coordinate, factor: Fraction) -> int:
        """Add factor * ReLU(linear + bias) to the target; the hidden unit's number."""
        number, outputs = self._hidden.setdefault((linear, bias), (len(self._hidden), {}))
        outputs[target] = outputs.get(target, Fraction(0)) + factor
        return number

    def add_clamp(self, linear: LinearForm, low: Fraction, target: Coordinate, sign: int | Fraction) -> None:
        """Add sign * [2 ReLU(x - low) - 2 ReLU(x - low - 1/2)] to the target."""
        below = self.add_hidden(linear, -low, target, Fraction(2 * sign))
        above = self.add_hidden(linear, -low - Fraction(1, 2), target, Fraction(-2 * sign))
        self._clamps.setdefault((below, above))

    @property
    def units(self) -> int:
        """How many hidden units there are."""
        return len(self._hidden)

    def has_wide_head(self) -> bool:
        """Whether a head has more than four values, or rows: a soft one has one more, if it breaks ties."""
        ties = HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST
        rows = (len(head.query) + (head.weighting in ties) for head in self.heads)
        return max((*rows, *(len(head.values) for head in self.heads)), default=0) > 4

    def finished(self) -> Layer:
        """The layer."""
        hidden = tuple(
            Hidden(linear, bias, form(*outputs.items()))
            for (linear, bias), (_, outputs) in self._hidden.items()
        )
        return Layer(tuple(self.heads), hidden, tuple(self._clamps))
