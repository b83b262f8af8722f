"""A network that normalises what its sublayers read, seen as a plain one whose reads are off by a little.

The residual stream holds every number x_c twice, as lambda x_c at a coordinate c < d and as -lambda x_c at
its *partner* c + d. With mean 0 and the mean square lambda^2 v, a normalisation with gain g and bias b makes

    h_c = g_c lambda x_c / sqrt(eps + lambda^2 v) + b_c

of it. A form that reads h_c times r and its partner times r' reads

    2 lambda g_c r x_c / sqrt(eps + lambda^2 v)        if r g_c = -r' g_(c+d) and r b_c = -r' b_(c+d).

Let base = eps + lambda^2 (2/D) sum of x_c^2 over the constant coordinates, of D = 2 d. Then a weight w near
2 lambda g_c r / sqrt(base) is read times phi (1 + kappa), where phi is one number for all that is read at a
position, and kappa is what w is off by.

Everything that is said here is derived from the weights. (certificates/FORMAT.md, section 11; ours.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import reduce
from typing import final

from attemper.checker.names import UnprovenError
from attemper.exact.closed_forms import ClosedForm, Number, Product
from attemper.exact.roots import square_root
from attemper.networks.constants import constants_of, written_by
from attemper.networks.layers import Coordinate, Head, Hidden, LinearForm, Network, Norm, Normalisation

NEAR = Fraction(1, 2**49)
"""A weight of the plain network is the simplest rational that is so near to what stands there, relatively."""

BITS = 128
"""To so many bits the square root of `base` is taken to find that rational: no proof rests on it."""

Between = tuple[Fraction, Fraction]
"""The least and the greatest that a number can be."""

ODD = "its coordinates are no pairs of opposite numbers"


@final
@dataclass(frozen=True)
class NormReads:
    """How one sublayer reads: each weight is off by at most the relative `distance`.

    Those of one form are off by relative errors that differ by at most `spread`. Coordinate c, of the first
    d, and its partner have the gains `gains[c]` and the biases `biases[c]`.
    """

    distance: Fraction
    spread: Fraction
    gains: tuple[tuple[Fraction, Fraction], ...]
    biases: tuple[tuple[Fraction, Fraction], ...]


@final
@dataclass(frozen=True)
class Reads:
    """How a network reads through its normalisations, layer by layer.

    `constants` are the coordinates that are one number at all positions of all words, with that number, and
    `base` is eps and their part of the mean square. The squares of the coordinates `letters`, which only the
    symbol says, sum to at most `of_letters`. `sizes` are the least and the greatest size of any number
    that is stored and not 0.
    """

    eps: Fraction
    unit: Fraction
    base: Fraction
    is_centred: bool
    constants: tuple[tuple[Coordinate, Fraction], ...]
    letters: frozenset[Coordinate]
    of_letters: Fraction
    sizes: tuple[Fraction, Fraction]
    attention: tuple[NormReads, ...]
    feed_forward: tuple[NormReads, ...]


def plain_of(network: Network, how: Normalisation) -> tuple[Network, Reads]:
    """The plain network of the first d coordinates, and how far what the network reads is off from it.

    Raises `UnprovenError` where coordinates are no pairs, or are read otherwise than as differences.
    """
    width, odd = divmod(len(network.coordinates), 2)
    if odd or not all(output < width for output in network.outputs):
        raise UnprovenError(ODD)
    pairs = _PairWrites(network, how, width)
    attention, feed_forward, layers = [], [], []
    for number, layer in enumerate(network.layers):
        reader = _Reader(pairs, how.before_attention[number], f"layer {number}'s attention")
        heads = tuple(reader.head(head) for head in layer.heads)
        attention.append(reader.found())
        reader = _Reader(pairs, how.before_feed_forward[number], f"layer {number}'s feed-forward")
        hidden = tuple(reader.hidden(unit) for unit in layer.hidden)
        feed_forward.append(reader.found())
        layers.append(replace(layer, heads=heads, hidden=hidden))
    plain = replace(
        network,
        coordinates=network.coordinates[:width],
        embedding=pairs.embedding,
        positions=pairs.positions,
        layers=tuple(layers),
        normalisation=None,
    )
    return plain, _reads(network, how, pairs, tuple(attention), tuple(feed_forward))


def _reads(
    network: Network,
    how: Normalisation,
    pairs: _PairWrites,
    attention: tuple[NormReads, ...],
    feed_forward: tuple[NormReads, ...],
) -> Reads:
    placed = {coordinate for coordinate, _ in pairs.positions}
    letters = frozenset(pairs.fixed - set(pairs.constants) - placed)
    squares = (sum((f**2 for c, f in form if c in letters), Fraction(0)) for form in pairs.embedding)
    sizes = [abs(number) for number in _stored(network, how) if number]
    return Reads(
        how.eps,
        how.unit,
        pairs.base,
        how.is_centred,
        tuple(pairs.constants.items()),
        letters,
        max(squares),
        (min(sizes, default=Fraction(1)), max(sizes, default=Fraction(1))),
        attention,
        feed_forward,
    )


@final
class _PairWrites:
    """What is written, in pairs: exact negatives at partners, so that the mean is 0."""

    def __init__(self, network: Network, how: Normalisation, width: int) -> None:
        self.width, self.unit = width, how.unit
        self.embedding = tuple(self.written(form) for form in network.embedding)
        self.positions = tuple(self._positions(dict(network.positions)))
        self.fixed = set(range(width)) - written_by(network.layers)
        self.constants = constants_of(self.embedding, self.positions, self.fixed)
        squares = sum((value**2 for value in self.constants.values()), Fraction(0))
        self.base = how.eps + how.unit**2 * squares / width
        if self.base <= 0:
            raise UnprovenError("eps is 0, and no constant is in its place")
        self.root = square_root(self.base, BITS)
        self._weights: dict[Fraction, tuple[Fraction, Between]] = {}

    def weight(self, product: Fraction) -> tuple[Fraction, Between]:
        """The plain network's weight where gain times weight is this, and its relative error."""
        if product not in self._weights:
            self._weights[product] = _weight(2 * self.unit * product, self.root, self.base)
        return self._weights[product]

    def written(self, form: LinearForm) -> LinearForm:
        """What is added to the first of each pair, in the plain network's unit."""
        factors = dict(form)
        for coordinate, factor in form:
            partner = coordinate + (self.width if coordinate < self.width else -self.width)
            if factors.get(partner) != -factor:
                raise UnprovenError(f"{ODD}: x{coordinate} is written otherwise than x{partner}")
        return tuple((c, factor / self.unit) for c, factor in form if c < self.width)

    def _positions(self, forms: dict[Coordinate, ClosedForm]) -> Iterator[tuple[Coordinate, ClosedForm]]:
        for coordinate in sorted(forms):
            if coordinate >= self.width:
                if coordinate - self.width not in forms:
                    raise UnprovenError(f"{ODD}: x{coordinate} is embedded, and its partner is not")
                continue
            factor, rest = _factored(forms[coordinate])
            partner = forms.get(coordinate + self.width)
            if partner is None or _factored(partner) != (-factor, rest):
                raise UnprovenError(f"{ODD}: x{coordinate} is embedded otherwise than its partner")
            yield coordinate, _multiplied(factor / self.unit, rest)


@final
@dataclass
class _Reader:
    """What one sublayer reads; `place` is its name in errors."""

    pairs: _PairWrites
    norm: Norm
    place: str
    distance: Fraction = Fraction(0)
    spread: Fraction = Fraction(0)
    raw: dict[LinearForm, LinearForm] = field(default_factory=dict)

    def found(self) -> NormReads:
        """What holds for everything that was read."""
        width = self.pairs.width
        gains, biases = (
            tuple(zip(numbers[:width], numbers[width:], strict=True))
            for numbers in (self.norm.gain, self.norm.bias)
        )
        return NormReads(self.distance, self.spread, gains, biases)

    def form(self, form: LinearForm) -> LinearForm:
        """The form of the plain network that is read."""
        factors, width = dict(form), self.pairs.width
        found, errors = [], set()
        for coordinate in sorted({c % width for c in factors}):
            (r, gain, bias), (s, partner_gain, partner_bias) = (
                (factors.get(c, Fraction(0)), self.norm.gain[c], self.norm.bias[c])
                for c in (coordinate, coordinate + width)
            )
            if r * gain != -s * partner_gain or r * bias != -s * partner_bias:
                raise UnprovenError(
                    f"{self.place} reads x{coordinate} otherwise than as a difference from its partner"
                )
            if not r * gain:
                raise UnprovenError(f"{self.place} reads x{coordinate} times 0")
            weight, error = self.pairs.weight(r * gain)
            found.append((coordinate, weight))
            errors.add(error)
        if errors:
            low, high = min(low for low, _ in errors), max(high for _, high in errors)
            self.distance = max(self.distance, -low, high)
            self.spread = max(self.spread, high - low if len(errors) > 1 else Fraction(0))
        return tuple(found)

    def head(self, head: Head) -> Head:
        """The head of the plain network: of each pair of values the first."""
        unit, width = self.pairs.unit, self.pairs.width
        values = dict(zip(head.targets, head.values, strict=True))
        if len(values) != len(head.targets):
            raise UnprovenError(f"{self.place} writes a coordinate twice with one head")
        for target, form in values.items():
            partner = target + (width if target < width else -width)
            if values.get(partner) != tuple((c, -factor) for c, factor in form):
                raise UnprovenError(f"{ODD}: {self.place} writes x{target} otherwise than x{partner}")
        targets = tuple(target for target in head.targets if target < width)
        return replace(
            head,
            query=tuple(map(self.form, head.query)),
            key=tuple(map(self.form, head.key)),
            values=tuple(self.form(_divided(values[target], unit)) for target in targets),
            targets=targets,
        )

    def hidden(self, unit: Hidden) -> Hidden:
        """The hidden unit of the plain network. Units of one form there must have one form here.

        For what is read is then off by the same for all of them.
        """
        form = self.form(unit.form)
        if self.raw.setdefault(form, unit.form) != unit.form:
            raise UnprovenError(f"{self.place}: two hidden units read nearly the same")
        return replace(unit, form=form, outputs=self.pairs.written(unit.outputs))


def _divided(form: LinearForm, number: Fraction) -> LinearForm:
    return tuple((coordinate, factor / number) for coordinate, factor in form)


def _stored(network: Network, how: Normalisation) -> Iterator[Fraction]:
    """Every weight, gain and bias."""
    forms = [*network.embedding]
    for layer in network.layers:
        forms += [form for head in layer.heads for form in (*head.query, *head.key, *head.values)]
        forms += [form for unit in layer.hidden for form in (unit.form, unit.outputs)]
        yield from (unit.bias for unit in layer.hidden)
    yield from (factor for form in forms for _, factor in form)
    for norm in (*how.before_attention, *how.before_feed_forward):
        yield from (*norm.gain, *norm.bias)


# Closed forms --------------------------------------------------------------------------------------


def _factored(form: ClosedForm) -> tuple[Fraction, ClosedForm]:
    """(q, rest) of q * rest as it is written; a number is a multiple of 1.

    Numbers are rounded alike whatever power of two they are times, and so is every operation behind them.
    """
    match form:
        case Number(value):
            return value, Number(Fraction(1))
        case Product((Number(value), *rest)):
            return value, Product(tuple(rest))
        case _:
            return Fraction(1), Product((form,))


def _multiplied(factor: Fraction, rest: ClosedForm) -> ClosedForm:
    match rest:
        case Number(value):
            return Number(factor * value)
        case Product(parts) if factor == 1:
            return parts[0] if len(parts) == 1 else rest
        case Product(parts):
            return Product((Number(factor), *parts))
        case _:
            return rest


# Weights -------------------------------------------------------------------------------------------


def _weight(product: Fraction, root: Fraction, base: Fraction) -> tuple[Fraction, Between]:
    """(w, e): a simple rational near product / sqrt(base), which is w (1 + e), with e between two rationals.

    If (1 + e)^2 = 1 + t, then e is within t^2 / 2 of t / 2 where |t| <= 1/2.
    """
    about = abs(product) / root
    weight = simplest_between(about * (1 - NEAR), about * (1 + NEAR))
    apart = product**2 / (base * weight**2) - 1
    if abs(apart) > Fraction(1, 2):
        raise UnprovenError("a weight is not known well enough")
    low, high = (_rounded((apart + sign * apart**2) / 2, sign) for sign in (-1, 1))
    return (weight if product > 0 else -weight), (low, high)


def _rounded(number: Fraction, sign: int) -> Fraction:
    """Nearly the number, and no less (sign 1) or no more (sign -1), in few digits."""
    scaled = (sign * number.numerator << 2 * BITS) // -number.denominator
    return Fraction(-sign * scaled, 1 << 2 * BITS)


def simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """The rational with the least denominator from low to high, 0 < low <= high.

    >>> simplest_between(Fraction(33, 100), Fraction(34, 100))
    Fraction(1, 3)
    """
    wholes = []
    while (whole := low.numerator // low.denominator) != low and whole + 1 > high:
        wholes.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    last = Fraction(whole if whole == low else whole + 1)
    return reduce(lambda rest, own: own + 1 / rest, reversed(wholes), last)
