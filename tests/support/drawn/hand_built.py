"""Random small networks put together by hand from the checker's own vocabulary, each with its formula.

Not from the compiler, and not by changing what the compiler makes: sums that cancel, constants at the edge of
a format's precision, leads that are barely large enough, keys with rounding noise, rows that undo each other,
several writers of one coordinate. In real arithmetic each computes its formula by construction, or nearly;
numbers are drawn with a bias to extremes. Nothing is promised about floats: that is what the claims are for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise

from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    ONE,
    ONLY,
    SIGN,
    ClosedForm,
    I,
    N,
    Power,
    Test,
    number,
    over,
    plus,
    times,
)
from attemper.exact.predicates import Remainder
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    Construction,
    Coordinate,
    Head,
    Hidden,
    Layer,
    LinearForm,
    LocalSign,
    Lookup,
    Masking,
    Neighbour,
    Network,
    Select,
    Sign,
    Softmax,
    Uniform,
)
from attemper.networks.wellformed import complaints

EVEN = Test(Remainder(2, 0), 1, 0, 0)
ODD = Test(Remainder(2, 1), 1, 0, 0)
LARGEST = 39
"""Weights up to 2^40 have claims."""

Part = tuple[Coordinate, int | Fraction]
Row = tuple[LinearForm, LinearForm]


@dataclass(frozen=True)
class HandBuilt:
    """A network, the kind that it was drawn from, and the formula that it should compute."""

    kind: str
    network: Network
    formula: str


@dataclass(frozen=True)
class Bit:
    """A coordinate that holds the truth of a formula."""

    coordinate: Coordinate
    text: str


def hand_built(kind: str, rng: random.Random) -> HandBuilt:
    """A random network of a kind."""
    network, formula = KINDS[kind](Draft(rng))
    found = complaints(network)
    assert not found, (kind, found)
    return HandBuilt(kind, network, formula)


# Drafts -------------------------------------------------------------------------------------------------


class Draft:
    """A network that is being put together, one layer after the other, and where its numbers come from.

    `bits` is the precision of the format that the numbers aim at.
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.bits = rng.choice((8, 24, 24, 24, 53))
        self.symbols = ("a", "b") if rng.random() < 0.6 else ("a", "b", "c")
        self.width = 0
        self.letters: list[dict[Coordinate, Fraction]] = [{} for _ in self.symbols]
        self.positions: dict[Coordinate, ClosedForm] = {}
        self.layers: list[Layer] = []
        self.heads: list[Head] = []
        self.hidden: list[Hidden] = []
        self.known: dict[ClosedForm, Coordinate] = {}

    def fresh(self) -> Coordinate:
        """A coordinate that holds nothing yet."""
        self.width += 1
        return self.width - 1

    def letter(self, symbol: str, size: int | Fraction = 1) -> Bit:
        """A new coordinate that is `size` at a symbol."""
        coordinate = self.fresh()
        self.letters[self.symbols.index(symbol)][coordinate] = Fraction(size)
        return Bit(coordinate, symbol)

    def place(self, form: ClosedForm) -> Coordinate:
        """A coordinate with a position embedding."""
        if form not in self.known:
            self.known[form] = self.fresh()
            self.positions[self.known[form]] = form
        return self.known[form]

    def one(self, factor: int | Fraction = 1) -> LinearForm:
        """A constant, as a linear form."""
        return linear((self.place(ONE), factor))

    def unit(
        self, parts: Iterable[Part], bias: int | Fraction, target: Coordinate, factor: int | Fraction
    ) -> None:
        """A hidden unit of the layer at hand."""
        if factor:
            self.hidden.append(Hidden(linear(*parts), Fraction(bias), linear((target, factor))))

    def head(
        self,
        construction: Construction,
        coldness: ClosedForm,
        rows: Sequence[Row],
        values: Sequence[tuple[LinearForm, Coordinate]],
        masking: Masking = Masking.FUTURE,
    ) -> None:
        """A head of the layer at hand."""
        query, key = tuple(q for q, _ in rows), tuple(k for _, k in rows)
        forms, targets = tuple(f for f, _ in values), tuple(t for _, t in values)
        self.heads.append(Head(construction, masking, Softmax(coldness), query, key, forms, targets))

    def close(self) -> None:
        """What was drawn since the last layer is a layer."""
        if self.heads or self.hidden:
            self.layers.append(Layer(tuple(self.heads), tuple(self.hidden), ()))
        self.heads, self.hidden = [], []

    def network(self, output: Coordinate) -> Network:
        """The network that was drawn, read at a coordinate."""
        self.close()
        rows = max((len(h.query) + 0 for layer in self.layers for h in layer.heads), default=1)
        values = max((len(h.values) for layer in self.layers for h in layer.heads), default=1)
        return Network(
            alphabet=Alphabet(self.symbols),
            coordinates=tuple(f"c{k}" for k in range(self.width)),
            embedding=tuple(linear(*own.items()) for own in self.letters),
            positions=tuple(sorted(self.positions.items())),
            layers=tuple(self.layers),
            head_width=next(w for w in (1, 4, 16) if max(rows, values) <= w),
            output=output,
            reads_first=False,
            accepts_empty=False,
        )

    def read_at(self, bit: Bit) -> tuple[Network, str]:
        """The network that was drawn, read at a bit, and the bit's formula."""
        return self.network(bit.coordinate), bit.text


def linear(*parts: Part) -> LinearForm:
    """A linear form of parts in any order, of which some may name one coordinate or be 0."""
    total: dict[Coordinate, Fraction] = {}
    for coordinate, factor in parts:
        total[coordinate] = total.get(coordinate, Fraction(0)) + Fraction(factor)
    return tuple(sorted((c, f) for c, f in total.items() if f))


# Numbers ------------------------------------------------------------------------------------------------


def exponent(draft: Draft, low: int = -6) -> int:
    """An exponent of 2: often at the edge of the format's precision, often small, else anything."""
    rng, edge = draft.rng, min(draft.bits, LARGEST)
    chance = rng.random()
    if chance < 0.45:
        return rng.randint(max(low, edge - 7), min(edge + 1, LARGEST))
    if chance < 0.7:
        return rng.randint(max(low, -1), 5)
    return rng.randint(low, min(edge, LARGEST))


def size(draft: Draft, low: int = -6) -> Fraction:
    """A positive number: a power of two, or one with more bits, few or as many as a format holds."""
    rng = draft.rng
    own = Fraction(2) ** exponent(draft, low)
    extra = rng.choice((0, 0, 0, 1, 2, 4, 7, 8, 10, 23))
    return own * (1 + Fraction(rng.randrange(2**extra), 2**extra))


def a_little(draft: Draft, least: Fraction = Fraction(0)) -> Fraction:
    """A lead: a little more than the least that is needed, or much more."""
    rng = draft.rng
    over_it = Fraction(rng.choice((1, 2, 3, 5, 8, 13)), rng.choice((1, 2, 4, 8)))
    return least + over_it * (1 if rng.random() < 0.75 else Fraction(2) ** rng.randint(1, 12))


def gap_of(draft: Draft) -> Fraction:
    """A lead per step that leaves a sixth of the attention at most, or much more."""
    rng = draft.rng
    chance = rng.random()
    if chance < 0.5:
        return Fraction(rng.choice((2, 3, 4, 5, 6, 8, 12, 16)))
    if chance < 0.8:
        return 2 + Fraction(rng.randrange(2**10), 2**7)
    return Fraction(2) ** rng.randint(4, 14)


def cancelling(draft: Draft, total: Fraction, count: int) -> list[Fraction]:
    """Numbers of all sizes whose sum is the total; all are numbers of float64."""
    rng = draft.rng
    found: list[Fraction] = []
    grid = Fraction(1, 2 ** rng.choice((0, 0, 2, 8)))
    for _ in range(count - 1):
        own = (size(draft, 0) // grid) * grid * rng.choice((1, -1))
        found.append(own)
        if rng.random() < 0.5 and len(found) < count - 1:
            found.append(-own + rng.choice((-1, 0, 0, 1)) * grid)
    found = [own for own in found[: count - 1] if own]
    last = total - sum(found, Fraction(0))
    if abs(last) > 2**LARGEST:
        return [total]
    found += [last] if last else []
    if rng.random() < 0.5:
        rng.shuffle(found)
    return found


# Units --------------------------------------------------------------------------------------------------


def rewritten(draft: Draft, bit: Bit, weight: Fraction = Fraction(1), noise: Fraction | None = None) -> Bit:
    """`weight` times an exact bit on a new coordinate, by units that cancel: exact in real arithmetic alone.

    `noise` is about how far the format that the draft aims at is then off, if it is said.
    """
    rng, target = draft.rng, draft.fresh()
    c = bit.coordinate
    style = rng.choice(("plain", "split", "split", "many", "bias", "scaled"))
    if noise is not None:
        split_by_noise(draft, c, target, weight, noise)
    elif style == "plain":
        draft.unit([(c, 1)], 0, target, weight)
    elif style == "split":
        split_by_noise(draft, c, target, weight, Fraction(1, 2 ** rng.randint(2, 14)))
    elif style == "many":
        for factor in cancelling(draft, weight, rng.randint(2, 7)):
            draft.unit([(c, 1)], 0, target, factor)
    elif style == "bias":
        most = size(draft, 0)
        draft.unit([(c, weight)], most, target, 1)
        draft.unit([], most, target, -1)
    else:
        scale = Fraction(2) ** rng.randint(-10, 10)
        draft.unit([(c, weight * scale)], 0, target, 1 / scale)
    return Bit(target, bit.text)


def split_by_noise(
    draft: Draft, c: Coordinate, target: Coordinate, weight: Fraction, noise: Fraction
) -> None:
    """Units whose factors add up to the weight, one of them a number that the format must round."""
    rng = draft.rng
    bits = 24 if draft.bits == 53 else draft.bits
    most = noise * 2 ** (bits + rng.choice((-1, 0, 0, 1)))
    most = Fraction(2) ** min(max(round(most).bit_length() - 1, 1), LARGEST)
    eps = noise * rng.choice((Fraction(1), Fraction(63, 64), Fraction(1, 2), Fraction(3, 8), Fraction(-1, 2)))
    factors = [most + weight + eps, -most, -eps]
    if not all(map(fits, factors)):
        factors = [weight]
    for factor in factors:
        draft.unit([(c, 1)], 0, target, factor)


def clamped(
    draft: Draft, read: Coordinate, text: str, value: Fraction = Fraction(1), low: Fraction = Fraction(0)
) -> Bit:
    """What a head read, `low` or `low + value`, rounded to a bit by pairs of units (Lemma 9)."""
    rng, target = draft.rng, draft.fresh()
    pairs = [Fraction(1)]
    if rng.random() < 0.35:
        top = rng.randint(1, 6)
        pairs = [Fraction(2**top), *(-Fraction(2**k) for k in range(top)), Fraction(-1)][: top + 2]
        pairs = pairs if sum(pairs) == 1 else [Fraction(2), Fraction(-1)]
    ups, downs = [], []
    for own in pairs:
        step = rng.choice((Fraction(1, 2), Fraction(1, 2), Fraction(1, 4)))
        first = rng.choice(
            [Fraction(k, 8) for k in range(1, 8) if Fraction(1, 8) <= Fraction(k, 8) <= Fraction(7, 8) - step]
        )
        ups.append((low + first * value, own / (step * value)))
        downs.append((low + (first + step) * value, -own / (step * value)))
    order = (
        [*ups, *downs]
        if rng.random() < 0.5
        else [unit for pair in zip(ups, downs, strict=True) for unit in pair]
    )
    for threshold, factor in order:
        draft.unit([(read, 1)], -threshold, target, factor)
    return Bit(target, text)


def output_of(draft: Draft, read: Coordinate, text: str) -> Bit:
    """What a head read, as it is or rounded."""
    return Bit(read, text) if draft.rng.random() < 0.35 else clamped(draft, read, text)


# Selections ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Class:
    """The positions of one level: the formula that says which, and the key that pushes them back."""

    text: str
    level: int


@dataclass(frozen=True)
class Scales:
    """How a selection's scores are put together: temperature, tie-break query and key, and blocking query.

    In real arithmetic the tie-break is `sign` * t(j), and the push is large enough, times the two factors.
    """

    coldness: ClosedForm
    tie_query: ClosedForm
    tie_key: ClosedForm
    push_query: ClosedForm
    bounded: bool


def scales_of(draft: Draft, masking: Masking) -> Scales:
    """One of the ways in which temperature, queries and keys share the growth of scores."""
    future = masking.weak is Masking.FUTURE
    reach: ClosedForm = I if future else N
    square = Power(reach, 2)
    ways = [
        Scales(ONE, ONE, I, reach, bounded=False),
        Scales(N, ONE, times(I, over(N)), ONE, bounded=False),
        Scales(square, ONE, over(I), ONE, bounded=True),
        Scales(ONE, square, over(I), square, bounded=True),
        Scales(reach, over(reach), I, ONE, bounded=False),
        Scales(reach, reach, over(I), reach, bounded=True),
        Scales(Power(N, 2), over(N), times(I, over(N)), over(N), bounded=False),
        Scales(times(reach, N), over(N), times(I, over(reach)) if not future else I, over(N), bounded=False),
    ]
    return draft.rng.choice(ways[:-1])


def select(
    draft: Draft,
    classes: Sequence[Class],
    keys: Sequence[tuple[Coordinate, Fraction]],
    value: LinearForm,
    masking: Masking,
    leftmost: bool,
) -> Coordinate:
    """A head that reads a value at the nearest visible position of the least level; keys push b(j) down."""
    rng, scales = draft.rng, scales_of(draft, masking)
    stretch = rng.choice(
        (Fraction(1), Fraction(1), Fraction(1, 3), Fraction(3), Fraction(2) ** rng.randint(-12, 12))
    )
    gap = gap_of(draft)
    levels = sorted({own.level for own in classes})
    step = min((b - a for a, b in pairwise(levels)), default=1)
    push = (gap + a_little(draft, Fraction(1))) / step
    if scales.bounded and rng.random() < 0.5:
        push = a_little(draft, gap) / step
    away = (-1 if leftmost else 1) * (-1 if scales.bounded else 1)
    tie = (linear((draft.place(scales.tie_query), gap)), linear((draft.place(scales.tie_key), away)))
    rows = [tie]
    if keys:
        rows.append((linear((draft.place(scales.push_query), push)), linear(*keys)))
    rows += decorations(draft)
    if rng.random() < 0.3:
        rng.shuffle(rows)
    if rng.random() < 0.12:
        rows = [part for row in rows for part in split_row(draft, row)][:16]
    # The temperature carries the stretch, the queries its inverse where that is a number of float64.
    dyadic = (
        stretch.numerator & (stretch.numerator - 1) == 0
        and stretch.denominator & (stretch.denominator - 1) == 0
    )
    if dyadic:
        rows = [(linear(*((c, f / stretch) for c, f in q)), k) for q, k in rows]
        coldness = times(stretch, scales.coldness) if stretch != 1 else scales.coldness
    else:
        coldness = times(abs(stretch) if stretch > 1 else number(stretch), scales.coldness)
        if stretch < 1:
            rows = [(linear(*((c, f * 3) for c, f in q)), k) for q, k in rows]
    target = draft.fresh()
    draft.head(Select(leftmost, ((None, ()),)), coldness, rows, [(value, target)], masking)
    return target


def decorations(draft: Draft) -> list[Row]:
    """Rows whose keys are the same at all positions: softmax does not see them, sums of floats do."""
    rng = draft.rng
    if rng.random() < 0.8:
        return []
    key = rng.choice((ONE, ONE, N))
    return [
        (
            linear((draft.place(rng.choice((ONE, I))), rng.choice((1, -1)))),
            linear((draft.place(key), size(draft))),
        )
    ]


def split_row(draft: Draft, row: Row) -> list[Row]:
    """A row as several that add up to it."""
    query, key = row
    if draft.rng.random() < 0.5 or len(query) != 1:
        return [row]
    ((c, factor),) = query
    parts = cancelling(draft, factor, draft.rng.randint(2, 5))
    return [(linear((c, own)), key) for own in parts]


def selected(classes: Sequence[Class], value: str, masking: Masking, leftmost: bool) -> str:
    """The formula of a selection: the value at the nearest position of the least level in sight."""
    weak = masking.weak
    if weak is Masking.NONE:
        side = Masking.PAST if leftmost else Masking.FUTURE
        inner = selected(classes, value, side, leftmost)
        return f"(O (first & {inner}))" if leftmost else f"(F (last & {inner}))"
    future = weak is Masking.FUTURE
    found, before = [], ""
    for level in sorted({own.level for own in classes}):
        here = "(" + " | ".join(own.text for own in classes if own.level == level) + ")"
        found.append(f"({before}{_nearest(here, value, future, leftmost)})")
        before += f"!({'O' if future else 'F'} {here}) & "
    text = "(" + " | ".join(found) + ")"
    if masking.is_strict:
        return f"({'Y' if future else 'X'} {text})"
    return text


def _nearest(here: str, value: str, future: bool, leftmost: bool) -> str:
    if future and not leftmost:
        return f"(!{here} S ({here} & {value}))"
    if future:
        return f"(O ({here} & {value} & !(Y (O {here}))))"
    if leftmost:
        return f"(!{here} U ({here} & {value}))"
    return f"(F ({here} & {value} & !(X (F {here}))))"


def _side(draft: Draft) -> tuple[Masking, bool]:
    """A mask and a direction; most often the nearest position, of which formulas speak most easily."""
    masking = draft.rng.choice(
        (*[Masking.FUTURE] * 3, Masking.PAST, Masking.STRICT_FUTURE, Masking.STRICT_PAST)
    )
    if draft.rng.random() < 0.06:
        return draft.rng.choice(tuple(Masking)), draft.rng.random() < 0.5
    return masking, masking.weak is Masking.PAST


def _letters(draft: Draft) -> list[Bit]:
    return [draft.letter(symbol) for symbol in draft.symbols]


def _classes(draft: Draft, bits: Sequence[Bit]) -> list[Class]:
    """Levels for the symbols, of which the least is 0."""
    levels = [draft.rng.choice((0, 1, 1, 2, 3)) for _ in bits]
    least = min(levels)
    return [Class(bit.text, level - least) for bit, level in zip(bits, levels, strict=True)]


def _one_wanted(draft: Draft, bits: Sequence[Bit]) -> list[Class]:
    """Level 0 for one symbol, and others, most often one, for those that are blocked."""
    wanted = draft.rng.choice(bits)
    return [Class(bit.text, 0 if bit is wanted else draft.rng.choice((1, 1, 1, 2))) for bit in bits]


def _value_of(draft: Draft, bits: Sequence[Bit]) -> tuple[LinearForm, str]:
    """Some of the symbols, as a value and a formula."""
    some = draft.rng.sample(list(bits), draft.rng.randint(1, len(bits) - 1))
    return linear(*((bit.coordinate, 1) for bit in some)), "(" + " | ".join(bit.text for bit in some) + ")"


def _keys(
    draft: Draft, bits: Sequence[Bit], classes: Sequence[Class], noisy: float
) -> list[tuple[Coordinate, Fraction]]:
    """Keys that push each symbol back by its level, some through coordinates with rounding noise."""
    keys = []
    for bit, own in zip(bits, classes, strict=True):
        if own.level:
            source = rewritten(draft, bit) if draft.rng.random() < noisy else bit
            keys.append((source.coordinate, Fraction(-own.level)))
    return keys


def kind_select(draft: Draft, noisy: float = 0.3) -> tuple[Network, str]:
    """The nearest position of the least level."""
    bits = _letters(draft)
    classes = _classes(draft, bits)
    keys = _keys(draft, bits, classes, noisy)
    value, text = _value_of(draft, bits)
    draft.close()
    masking, leftmost = _side(draft)
    read = select(draft, classes, keys, value, masking, leftmost)
    return draft.read_at(output_of(draft, read, selected(classes, text, masking, leftmost)))


Drawn = Callable[[Draft, Sequence[Bit]], list[Class]]
"""Draws levels for the symbols."""


@dataclass(frozen=True)
class ByCases:
    """A head by cases that was drawn: what it reads of `text` is at `target`.

    `heres` has for each case a coordinate that is 1 where the case is in force, and its formula; `levels` the
    levels of the symbols then, for cases of which something is said.
    """

    target: Coordinate
    text: str
    heres: tuple[Bit, ...]
    levels: dict[int, list[Class]]
    symbols: tuple[Bit, ...]
    masking: Masking
    leftmost: bool

    def read(self, text: str) -> str:
        """The formula of what the head reads of another one."""
        plain = [Class(bit.text, 0) for bit in self.symbols]
        found = [
            f"({here.text} & {selected(self.levels.get(k, plain), text, self.masking, self.leftmost)})"
            for k, here in enumerate(self.heres)
        ]
        return "(" + " | ".join(found) + ")"


def _by_cases(draft: Draft, classes: Drawn) -> ByCases:
    """A head that reads the nearest position of the least level, where i says which level a symbol has."""
    rng, bits = draft.rng, _letters(draft)
    modulus = rng.choice((0, 0, 2, 3))
    places = [Test(Remainder(modulus, r), 1, 0, 0) for r in range(modulus)]
    texts = [f"pos % {modulus} = {r}" for r in range(modulus)] or [bit.text for bit in bits]
    some = rng.sample(range(len(texts)), rng.randint(1, len(texts)))
    levels = {k: classes(draft, bits) for k in some}
    keys = {k: _keys(draft, bits, own, 0.2) for k, own in levels.items()}
    value, text = _value_of(draft, bits)
    draft.close()
    masking, leftmost = _side(draft)
    scales = scales_of(draft, masking)
    while scales.push_query != ONE and not modulus:
        scales = scales_of(draft, masking)
    gap = gap_of(draft)
    away = (-1 if leftmost else 1) * (-1 if scales.bounded else 1)
    rows = [(linear((draft.place(scales.tie_query), gap)), linear((draft.place(scales.tie_key), away)))]
    for k in some:
        push = gap + a_little(draft, Fraction(1))
        here = draft.place(times(scales.push_query, places[k])) if modulus else bits[k].coordinate
        rows.append((linear((here, push)), linear(*keys[k])))
    rows += decorations(draft)
    rng.shuffle(rows)
    target = draft.fresh()
    draft.head(Select(leftmost, ((None, ()),)), scales.coldness, rows, [(value, target)], masking)
    heres = [
        Bit(draft.place(places[k]) if modulus else bits[k].coordinate, own) for k, own in enumerate(texts)
    ]
    return ByCases(target, text, tuple(heres), levels, tuple(bits), masking, leftmost)


def kind_by_cases(draft: Draft) -> tuple[Network, str]:
    """The nearest position of the least level, where i says which level a symbol has."""
    drawn = _by_cases(draft, _classes)
    return draft.read_at(output_of(draft, drawn.target, drawn.read(drawn.text)))


def kind_guarded(draft: Draft) -> tuple[Network, str]:
    """What a head by cases reads, where a guard says that something matches there; or guards that say less:
    that of another case, of a head with another mask or direction, a negated one, none, or too weak ones.

    Where nothing matches the values are of all sizes.
    """
    draft.symbols, draft.letters = ("a", "b", "c"), [{} for _ in range(3)]
    rng, drawn = draft.rng, _by_cases(draft, _one_wanted)
    head, value, out = draft.heads[-1], draft.fresh(), draft.fresh()
    mistake = rng.choice((*["none"] * 6, "another case", "another head", "negated", "no guard"))
    loud = rng.choice((0, 1) if mistake in {"another head", "negated", "no guard"} else (0, 1, 1, 5, -3))
    weight = 1 + abs(loud) if rng.random() < 0.9 else Fraction(1, 2)
    wanted = {k: [own.text for own in classes if not own.level] for k, classes in drawn.levels.items()}
    matching = {text for texts in wanted.values() for text in texts}
    some = [(bit, 1 if bit.text in matching else loud) for bit in drawn.symbols if rng.random() < 0.7]
    read = drawn.read("(" + " | ".join(["false", *(bit.text for bit, size in some if size == 1)]) + ")")
    values, guards = [(linear(*((bit.coordinate, size) for bit, size in some)), value)], []
    for texts in wanted.values():
        guards.append(draft.fresh())
        values.append((linear(*((b.coordinate, 1) for b in drawn.symbols if b.text in texts)), guards[-1]))
    other, split = drawn, len(values)
    if mistake == "another head":
        other, split = replace(drawn, masking=_side(draft)[0]), 1
    draft.heads = [
        replace(
            head, masking=own.masking, values=tuple(v for v, _ in part), targets=tuple(t for _, t in part)
        )
        for own, part in ((drawn, values[:split]), (other, values[split:]))
        if part
    ]
    sign = {"no guard": 0, "negated": -1}.get(mistake, 1)
    first, last = rng.choice(((1, 3), (1, 3), (1, 5), (2, 4), (3, 7), (0, 8)))
    texts = []
    for (k, found), guard in zip(wanted.items(), guards, strict=True):
        here = drawn.heres[rng.choice(list(wanted)) if mistake == "another case" else k]
        form: list[Part] = [(value, 1), (here.coordinate, weight)]
        form += [(guard, sign * weight)] if sign else []
        top = weight * (1 + max(sign, 0))
        for edge, factor in ((first, 1), (last, -1)):
            draft.unit(form, -(top + Fraction(edge, 8)), out, Fraction(8 * factor, last - first))
        guarded = other.read("(" + " | ".join(found) + ")")
        texts.append(f"({here.text} & {read} & {['true', guarded, f'!{guarded}'][sign]})")
    return draft.network(out), "(" + " | ".join(texts) + ")"


def kind_blocked_noise(draft: Draft) -> tuple[Network, str]:
    """Levels whose keys are computed with rounding noise, and values that differ on one level."""
    draft.symbols, draft.letters = ("a", "b", "c"), [{} for _ in range(3)]
    bits = _letters(draft)
    classes = [Class("a", 1), Class("b", 1), Class("c", 0)]
    noisy = rewritten(draft, bits[1], noise=Fraction(1, 2 ** draft.rng.randint(3, 12)))
    keys = [(bits[0].coordinate, Fraction(-1)), (noisy.coordinate, Fraction(-1))]
    masking = draft.rng.choice((Masking.FUTURE, Masking.FUTURE, Masking.PAST, Masking.STRICT_FUTURE))
    leftmost = masking.weak is Masking.PAST
    draft.close()
    some = draft.rng.choice((bits[0], bits[1]))
    read = select(draft, classes, keys, linear((some.coordinate, 1)), masking, leftmost)
    return draft.read_at(output_of(draft, read, selected(classes, some.text, masking, leftmost)))


def kind_values(draft: Draft) -> tuple[Network, str]:
    """Values far from 0 and 1, rounded by thresholds as far off."""
    bits = _letters(draft)
    classes = _classes(draft, bits)
    keys = _keys(draft, bits, classes, 0.1)
    some = draft.rng.choice(bits)
    high, low = Fraction(2) ** exponent(draft, -10), draft.rng.choice((Fraction(0), size(draft, 0)))
    value = linear((some.coordinate, high), *draft.one(low))
    masking, leftmost = _side(draft)
    masking = masking.weak if low else masking
    draft.close()
    read = select(draft, classes, keys, value, masking, leftmost)
    return draft.read_at(clamped(draft, read, selected(classes, some.text, masking, leftmost), high, low))


# Feed-forward -------------------------------------------------------------------------------------------


def kind_gates(draft: Draft) -> tuple[Network, str]:
    """Several gates on one coordinate, each exact alone, whose sum is a letter."""
    rng, target = draft.rng, draft.fresh()
    parts = cancelling(draft, Fraction(1), rng.randint(2, 14))
    if rng.random() < 0.6:
        below = rng.choice((0, 1, 2, 2, 3, 3, 4))
        most, count = Fraction(2) ** (draft.bits - 1 - below), 2 ** (below + 1) + rng.randint(-1, 12)
        parts = [most + 1] * count + [-most] * count + [Fraction(-1)] * (count - 1)
    shared = [draft.letter("a") for _ in range(rng.randint(1, 3))]
    alone, scales = rng.choice((0.7, 1, 1)), rng.choice(((0,), (0,), (0, -3, 3)))
    for factor in parts:
        source = draft.letter("a") if rng.random() < alone else rng.choice(shared)
        scale = Fraction(2) ** max(rng.choice(scales), int(abs(factor)).bit_length() - LARGEST)
        draft.unit([(source.coordinate, scale)], 0, target, factor / scale)
    return draft.network(target), "a"


def kind_cases(draft: Draft) -> tuple[Network, str]:
    """Random units on letters and parity, put right case by case."""
    rng, target = draft.rng, draft.fresh()
    a, even = draft.letter("a"), Bit(draft.place(EVEN), "even(pos)")
    text, wanted = rng.choice(BOOLEAN)
    units = []
    for _ in range(rng.randint(1, 6)):
        parts = [
            (bit.coordinate, rng.choice((1, -1)) * size(draft, -2))
            for bit in rng.sample([a, even], rng.randint(1, 2))
        ]
        units.append(
            (
                parts,
                rng.choice((0, 0, 1, -1)) * size(draft, -2),
                rng.choice((1, -1)) * Fraction(2) ** rng.randint(-8, 8),
            )
        )
    for parts, bias, factor in units:
        draft.unit(parts, bias, target, factor)
    for letter in (False, True):
        for parity in (False, True):
            at = {a.coordinate: letter, even.coordinate: parity}
            total = sum(
                (f * max(Fraction(0), b + sum(x * at[c] for c, x in p)) for p, b, f in units), Fraction(0)
            )
            missing = wanted(letter, parity) - total
            form = [(a.coordinate, 1 if letter else -1), (even.coordinate, 1 if parity else -1)]
            if fits(missing):
                draft.unit(form, 1 - letter - parity, target, missing)
    return draft.network(target), text


BOOLEAN: tuple[tuple[str, Callable[[bool, bool], bool]], ...] = (
    ("a", lambda a, e: a),
    ("a & even(pos)", lambda a, e: a and e),
    ("a | even(pos)", lambda a, e: a or e),
    ("a xor even(pos)", lambda a, e: a != e),
    ("!a", lambda a, e: not a),
)


def fits(value: Fraction) -> bool:
    """Whether float64 holds a number, within the sizes that claims allow."""
    return abs(value) <= 2**40 and Fraction(float(value)) == value


def _copies(draft: Draft, count: int, source: Bit) -> list[Coordinate]:
    """Heads that read their own position: approximate copies of a bit, near 0 or 1."""
    targets = []
    for _ in range(count):
        gap = Fraction(draft.rng.randint(4, 9)) + Fraction(draft.rng.randrange(8), 8)
        target = draft.fresh()
        rows = [(draft.one(), linear((draft.place(I), gap)))]
        draft.head(Select(False, ((None, ()),)), ONE, rows, [(linear((source.coordinate, 1)), target)])
        targets.append(target)
    return targets


def kind_interleaved(draft: Draft) -> tuple[Network, str]:
    """Several Lemma 9 pairs on one coordinate, one from each copy of a letter."""
    rng, a = draft.rng, draft.letter("a")
    count = rng.randint(2, 8)
    copies, total = _copies(draft, count, a), draft.fresh()
    factors = [Fraction(rng.choice((1, -1)) * 2 ** max(exponent(draft, 0), 0)) for _ in copies]
    if rng.random() < 0.5:
        factors = [Fraction(1)] * count
    units = [(c, Fraction(-1, 4), 2 * f) for c, f in zip(copies, factors, strict=True)]
    downs = [(c, Fraction(-3, 4), -2 * f) for c, f in zip(copies, factors, strict=True)]
    for c, bias, factor in [*units, *downs] if rng.random() < 0.7 else sorted([*units, *downs]):
        draft.unit([(c, 1)], bias, total, factor)
    draft.close()
    return _less_than_a_bit(draft, total, sum(factors), a)


def _less_than_a_bit(draft: Draft, total: Coordinate, weight: Fraction, a: Bit) -> tuple[Network, str]:
    """`total` is weight times a: the difference is amplified, and taken from the output."""
    rng = draft.rng
    difference = [(total, Fraction(1)), *([(a.coordinate, -weight)] if weight else [])]
    first = Fraction(2) ** rng.randint(0, 14)
    middle = draft.fresh()
    if rng.random() < 0.5 or not weight:
        draft.unit([(c, first * f) for c, f in difference], 0, middle, 1)
    else:
        draft.unit([(total, first)], 0, middle, 1)
        draft.unit(
            [(a.coordinate, weight * first if fits(weight * first) else weight)],
            0,
            middle,
            -1 if fits(weight * first) else -first,
        )
    draft.close()
    out, second = draft.fresh(), Fraction(2) ** rng.choice((0, 8, 20, 30, 39))
    for sign in (1, -1):
        draft.unit([(middle, sign * second)], 0, out, -1)
    draft.unit([(a.coordinate, 1)], 0, out, 1)
    return draft.network(out), "a"


def kind_amplified(draft: Draft) -> tuple[Network, str]:
    """A letter rewritten with rounding noise, less the letter, amplified over two layers."""
    a = draft.letter("a")
    weight = Fraction(2) ** draft.rng.randint(0, 12)
    noisy = rewritten(draft, a, weight)
    draft.close()
    return _less_than_a_bit(draft, noisy.coordinate, weight, a)


# Neighbours ---------------------------------------------------------------------------------------------


def shift(draft: Draft, value: Bit, style: str) -> Bit:
    """A head that reads the neighbour: the other parity first, then the nearest."""
    rng = draft.rng
    future = rng.random() < 0.7
    masking = Masking.FUTURE if future else Masking.PAST
    target = draft.fresh()
    towards = 1 if future else -1
    if style == "general":
        coldness, rows = _shift_rows(draft, towards, I if future else N)
    else:
        coldness, rows = ONE, _heavy_shift_rows(draft, towards, style)
    draft.head(Neighbour(not future), coldness, rows, [(linear((value.coordinate, 1)), target)], masking)
    text = (
        f"((first & {value.text}) | Y {value.text})"
        if future
        else f"((last & {value.text}) | X {value.text})"
    )
    return output_of(draft, target, text)


def _shift_rows(draft: Draft, towards: int, reach: ClosedForm) -> tuple[ClosedForm, list[Row]]:
    """Parity and tie-break rows in one of the ways to share growth."""
    rng, gap = draft.rng, gap_of(draft)
    own = a_little(draft, Fraction(1))
    square = Power(reach, 2)
    coldness, tie_query, tie_key, parity_query, away = rng.choice(
        (
            (ONE, ONE, I, SIGN, towards),
            (N, ONE, times(I, over(N)), SIGN, towards),
            (N, ONE, times(I, over(N)), times(SIGN, over(N)), towards),
            (square, ONE, over(I), SIGN, -towards),
            (reach, over(reach), I, times(SIGN, over(reach)), towards),
            (reach, over(reach), I, SIGN, towards),
        )
    )
    weight = (gap + own) / 2
    rows = [
        (linear((draft.place(parity_query), -weight)), linear((draft.place(SIGN), 1))),
        (linear((draft.place(tie_query), gap)), linear((draft.place(tie_key), away))),
    ]
    return coldness, rows


def _heavy_shift_rows(draft: Draft, towards: int, style: str) -> list[Row]:
    """Rows for each parity with large weights, a small lead over i itself, noise, and rows that cancel."""
    rng = draft.rng
    bits = min(draft.bits, LARGEST + 12)
    below = (6, 8, 10, 11, 12) if style == "noisy" else (1, 2, 3, 4, 4, 5, 6, 8, 12, bits - 2)
    high = max(bits - rng.choice(below), 2)
    gap, grid = Fraction(2) ** high, Fraction(2) ** (high - bits + 1)
    own = rng.choice(
        (Fraction(5, 4), Fraction(3, 2), Fraction(2), Fraction(5, 2), Fraction(4), Fraction(8), 8 * grid)
    )
    own = max(-(-own // grid) * grid, grid)
    weight = gap + own
    odd, even = draft.place(ODD), draft.place(EVEN)
    # A weight beyond 2^40 is shared by the query and the key.
    shared = Fraction(2) ** max(high - LARGEST + 1, rng.choice((0, 0, 2)))
    tie = (draft.one(gap / shared), linear((draft.place(I), towards * shared)))
    if style == "noisy":
        noise = own * rng.choice((Fraction(1, 8), Fraction(1, 4), Fraction(1, 2), Fraction(1)))
        keyed = [
            rewritten(draft, Bit(own_place, ""), weight / shared, noise / shared).coordinate
            for own_place in (odd, even)
        ]
        draft.close()
        rows = [(linear((q, 1)), linear((k, -shared))) for q, k in zip(keyed, (odd, even), strict=True)]
        return [*rows, tie]
    evens = [(linear((even, weight / shared)), linear((even, -shared)))]
    parts = [weight / shared]
    if style == "rows":
        parts = cancelling(draft, weight / shared, rng.randint(3, 11))
        if rng.random() < 0.5:
            count, small = rng.randint(3, 10), Fraction(rng.choice((7, 14, 28, 20, 24))) / shared
            parts = [gap / shared, *[small] * count, own / shared - count * small]
    odds = [(linear((odd, part)), linear((odd, -shared))) for part in parts]
    order = [[tie, *odds, *evens], [*odds, *evens, tie], [odds[0], tie, *odds[1:], *evens]]
    return rng.choice(order)


def kind_shift(draft: Draft, style: str = "general") -> tuple[Network, str]:
    """The neighbour: in every way to share growth, or as the style says.

    By large weights with noise and a small lead ("noisy"), by large rows whose sum is rounded ("sum"), or by
    many rows of different size that cancel ("rows").
    """
    return draft.read_at(shift(draft, draft.letter("a"), style))


# Counts -------------------------------------------------------------------------------------------------

SIDES = {Masking.FUTURE: "#<", Masking.PAST: "#>", Masking.NONE: "#"}


def _mean(draft: Draft, parts: Sequence[LinearForm], masking: Masking) -> list[Coordinate]:
    """A head that averages."""
    targets = [draft.fresh() for _ in parts]
    draft.head(Uniform(), ONE, [], list(zip(parts, targets, strict=True)), masking)
    return targets


def _counted(draft: Draft) -> Bit:
    """What is counted: a letter, or a bit of an earlier layer, perhaps with rounding noise."""
    chance = draft.rng.random()
    if chance < 0.6:
        return draft.letter("a")
    bit = draft.letter("a") if chance < 0.75 else _stage(draft, _letters(draft))
    noisy = rewritten(draft, bit)
    draft.close()
    return noisy


def kind_sign(draft: Draft) -> tuple[Network, str]:
    """The sign of a sum over the visible positions."""
    rng = draft.rng
    masking = rng.choice((Masking.FUTURE, Masking.FUTURE, Masking.PAST, Masking.NONE))
    side, mark = SIDES[masking], LAST if masking is Masking.PAST else FIRST
    a, b = _counted(draft), draft.letter("b")
    p, q = rng.choice((1, 1, 2, 3, 7, 100)), -rng.choice((1, 1, 2, 5, 64, 1000))
    unit = rng.choice(
        (Fraction(1), Fraction(1), Fraction(3), Fraction(2) ** rng.randint(-12, 12), size(draft, -3))
    )
    parts = linear((a.coordinate, 2 * p * unit), (b.coordinate, 2 * q * unit), (draft.place(mark), unit))
    (mean,) = _mean(draft, [parts], masking)
    if rng.random() < 0.15:
        mean, unit = _moved_mean(draft, mean, unit)
    draft.close()
    strength = a_little(draft, Fraction(1)) * 2
    reach: ClosedForm = I if masking is Masking.FUTURE else N
    coldness, key = rng.choice(
        ((reach, SIGN), (ONE, times(I, SIGN)), (N, SIGN), (over(reach), times(reach, I, SIGN)))
    )
    scale = strength / unit
    factor = Fraction(2) ** rng.randint(-5, 5)
    if scale.denominator & (scale.denominator - 1):
        coldness, scale = times(scale, coldness), Fraction(1)
    rows = [(linear((mean, 1)), linear((draft.place(key), scale * factor)))]
    target = draft.fresh()
    value = linear((draft.place(EVEN), 1))
    draft.head(
        Sign(()), times(1 / factor, coldness) if factor != 1 else coldness, rows, [(value, target)], masking
    )
    test = f"{p}*{side}[{a.text}] - {-q}*{side}[b] >= 0"
    text = {
        Masking.FUTURE: f"!first & {test}",
        Masking.PAST: f"(last & even(pos)) | (!last & {test})",
        Masking.NONE: f"len >= 2 & {test}",
    }[masking]
    return draft.read_at(output_of(draft, target, text))


def _moved_mean(draft: Draft, mean: Coordinate, unit: Fraction) -> tuple[Coordinate, Fraction]:
    """A mean written again by units, shifted up and back, or scaled."""
    target, scale = draft.fresh(), Fraction(2) ** draft.rng.randint(-8, 8)
    most = Fraction(2) ** draft.rng.randint(10, 20)
    draft.unit([(mean, scale)], most, target, 1)
    draft.unit([], most, target, -1)
    return target, unit * scale


def kind_lookup(draft: Draft) -> tuple[Network, str]:
    """The position of a count."""
    rng = draft.rng
    mask = rng.choice((Masking.FUTURE, Masking.FUTURE, Masking.PAST, Masking.NONE))
    bounded = mask is Masking.FUTURE and rng.random() < 0.4
    side, mark = SIDES[mask], LAST if mask is Masking.PAST else FIRST
    a = _counted(draft)
    counted, unit = _mean(draft, [linear((a.coordinate, 1)), linear((draft.place(mark), 1))], mask)
    draft.close()
    gap = gap_of(draft)
    if bounded:
        keys = (times(-1, Power(I, -2)), over(I))
        coldness: ClosedForm = times(Power(I, 4), gap)
    elif rng.random() < 0.5:
        keys, coldness = (I, times(-1, Power(I, 2))), times(gap, I if mask is Masking.FUTURE else N)
    else:
        keys, coldness = (times(N, I), times(-1, N, Power(I, 2))), number(gap)
    factors = (1, 2) if bounded else (2, 1)
    scale = Fraction(2) ** rng.randint(-6, 6)
    rows = [
        (linear((mean, 1)), linear((draft.place(key), f * scale)))
        for mean, key, f in zip((counted, unit), keys, factors, strict=True)
    ]
    modulus = rng.choice((2, 2, 3, 5, 16))
    remainder = rng.choice([r for r in range(modulus) if r != 1 % modulus])
    asked = Test(Remainder(modulus, remainder), 1, 0, 0)
    target = draft.fresh()
    full = rng.random() < 0.3
    head_mask = Masking.NONE if (mask is not Masking.FUTURE or full) and not bounded else Masking.FUTURE
    draft.head(
        Lookup((), ()),
        times(1 / scale, coldness),
        rows,
        [(linear((draft.place(asked), 1)), target)],
        head_mask,
    )
    text = f"({side}[{a.text}] >= 1 & {side}[{a.text}] % {modulus} = {remainder})"
    return draft.read_at(output_of(draft, target, text))


def kind_local_sign(draft: Draft) -> tuple[Network, str]:
    """The sign of a sum over both sides, at the two positions in the middle."""
    rng = draft.rng
    p, q = rng.choice((1, 1, 2, 3, 17)), rng.choice((1, 1, 2, 5, 40))
    a, b = draft.letter("a"), draft.letter("b")
    ((left,), (right,)) = (
        _mean(draft, [linear((a.coordinate, 2 * p))], Masking.FUTURE),
        _mean(draft, [linear((b.coordinate, -2 * q))], Masking.PAST),
    )
    later, longer = draft.place(plus(1, times(-1, FIRST))), draft.place(plus(1, times(-1, ONLY)))
    gate, edge = draft.fresh(), draft.fresh()
    room = p + q + rng.choice((0, 1, 5, 2**10))
    half = Fraction(1, 2)
    for sign in (1, -1):
        draft.unit([(left, sign * half), (right, -sign * half), (later, -room)], 0, gate, sign)
    more = 2 * (p + q) + 2
    for bias, sign in ((0, 1), (-1, -1)):
        draft.unit([(draft.place(ONE), 1), (left, 1), (right, 1), (longer, -more)], bias, edge, sign)
    draft.close()
    gap = gap_of(draft)
    tightness = gap * (2 * p + 2 * q) + a_little(draft, gap)
    alternating = times(I, SIGN), times(plus(N, 1, times(-1, I)), SIGN)
    shrink = rng.random() < 0.4
    by = Power(N, -2) if shrink else ONE
    centre = plus(I, Fraction(-1, 2), FIRST)
    rows = [
        (
            linear((draft.place(times(centre, over(N)) if shrink else centre), 1)),
            linear((draft.place(times(I, over(N)) if shrink else I), 2 * tightness)),
        ),
        (draft.one(), linear((draft.place(times(Power(I, 2), by) if shrink else Power(I, 2)), -tightness))),
        (
            linear((left, 1)),
            linear((draft.place(times(alternating[0], by) if shrink else alternating[0]), gap)),
        ),
        (
            linear((right, 1)),
            linear((draft.place(times(alternating[1], by) if shrink else alternating[1]), gap)),
        ),
        (
            linear(*draft.one(), (left, half), (right, -half), (gate, -2)),
            linear((draft.place(times(SIGN, by) if shrink else SIGN), gap)),
        ),
    ]
    read = draft.fresh()
    draft.head(
        LocalSign((), (), (), 1),
        Power(N, 2) if shrink else ONE,
        rows,
        [(linear((draft.place(SIGN), 1)), read)],
        Masking.NONE,
    )
    out = draft.fresh()
    for bias, factor in ((Fraction(-1, 4), 2), (Fraction(-3, 4), -2)):
        draft.unit([(draft.place(ONE), half), (read, half), (edge, 1)], bias, out, factor)
    return draft.network(out), f"{p}*#<[a] >= {q}*#>[b]"


# Shared coordinates -------------------------------------------------------------------------------------


def kind_shared(draft: Draft) -> tuple[Network, str]:
    """Several writers of one coordinate: heads, units, letters and position embeddings."""
    rng = draft.rng
    a = draft.letter("a")
    parts = cancelling(draft, Fraction(1), rng.randint(2, 5))
    style = rng.choice(("heads", "head and units", "letter and units", "letter and place"))
    target = draft.fresh()
    if style in ("heads", "head and units"):
        gap = 8 * a_little(draft, Fraction(1)) + max(abs(part) for part in parts).numerator.bit_length()
        heads = parts if style == "heads" else parts[:1]
        for part in heads:
            rows = [(draft.one(gap), linear((draft.place(I), 1)))]
            draft.head(Select(False, ((None, ()),)), ONE, rows, [(linear((a.coordinate, part)), target)])
        for part in parts[len(heads) :]:
            draft.unit([(a.coordinate, 1)], 0, target, part)
    elif style == "letter and units":
        draft.letters[0][target] = parts[0]
        for part in parts[1:]:
            draft.unit([(a.coordinate, 1)], 0, target, part)
    else:
        most = size(draft, 0)
        draft.letters[0][target] = Fraction(1)
        form = rng.choice((I, EVEN, ONE))
        draft.positions[target] = times(most, form)
        draft.unit([(draft.place(form), 1)], 0, target, -most)
    return draft.network(target), "a"


# Deep ---------------------------------------------------------------------------------------------------


def _stage(draft: Draft, bits: list[Bit]) -> Bit:
    """One more layer on bits that are there, exactly or up to rounding noise."""
    rng = draft.rng
    value = rng.choice(bits)
    if rng.random() < 0.5:
        value = rewritten(draft, value)
        draft.close()
    chance = rng.random()
    if chance < 0.35:
        read = shift(draft, value, rng.choice(("general", "general", "noisy", "sum", "rows")))
    else:
        blocking = rng.choice(bits)
        if rng.random() < 0.6:
            blocking = rewritten(draft, blocking)
            draft.close()
        masking, leftmost = _side(draft)
        classes = [Class(f"!{blocking.text}", 0), Class(blocking.text, 1)]
        keys = [(blocking.coordinate, Fraction(-1))]
        found = select(draft, classes, keys, linear((value.coordinate, 1)), masking, leftmost)
        read = clamped(draft, found, selected(classes, value.text, masking, leftmost))
    if read.coordinate not in [target for unit in draft.hidden for target, _ in unit.outputs]:
        read = clamped(draft, read.coordinate, read.text)
    draft.close()
    return read


def kind_deep(draft: Draft) -> tuple[Network, str]:
    """Two or three layers of attention, each on what the one before left."""
    bits = _letters(draft)
    for _ in range(draft.rng.choice((2, 2, 3))):
        bits.append(_stage(draft, bits if len(bits) < 4 else bits[-2:]))
    return draft.read_at(bits[-1])


KINDS: dict[str, Callable[[Draft], tuple[Network, str]]] = {
    "gates": kind_gates,
    "cases": kind_cases,
    "interleaved": kind_interleaved,
    "amplified": kind_amplified,
    "select": kind_select,
    "by cases": kind_by_cases,
    "guarded": kind_guarded,
    "blocked noise": kind_blocked_noise,
    "values": kind_values,
    "shift": kind_shift,
    "small lead": partial(kind_shift, style="noisy"),
    "rounded sum": partial(kind_shift, style="sum"),
    "lost rows": partial(kind_shift, style="rows"),
    "sign": kind_sign,
    "lookup": kind_lookup,
    "local sign": kind_local_sign,
    "shared": kind_shared,
    "deep": kind_deep,
}
"""Every kind of network."""
