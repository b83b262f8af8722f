"""A second reading of the float rule of TieBreak, from FORMAT.md alone: nothing here imports the checker.

Names follow sections 5 and 6. A `Laurent` form is a sum of coefficients times i^a n^b, by (a, b).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, reduce
from itertools import pairwise, product
from math import comb

from flint import arb, ctx, fmpq

from attemper.exact.closed_forms import (
    Alternating,
    ClosedForm,
    Length,
    Number,
    Position,
    Power,
    Product,
    Sum,
)
from attemper.networks.layers import Head, Layer, LinearForm, Masking, Network, Softmax

Laurent = dict[tuple[int, int], Fraction]
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
BITS = 200


class NoBoundError(Exception):
    """A side condition of the rule fails, or no bound is left."""


@dataclass(frozen=True)
class Arithmetic:
    """A number format as section 6 introduces the format: u, U, the range, the least normal number, exp."""

    name: str
    u: Fraction
    sums: Fraction
    range: int
    tiny: Fraction
    exp: int


DOUBLE = Fraction(1, 2**53)
FORMATS = {
    "float64": Arithmetic("float64", DOUBLE, DOUBLE, 2**900, Fraction(1, 2**1022), 8),
    "float32": Arithmetic("float32", Fraction(1, 2**24), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 8),
    "bfloat16": Arithmetic("bfloat16", Fraction(1, 2**8), Fraction(1, 2**24), 2**100, Fraction(1, 2**126), 2),
}


# Laurent forms ------------------------------------------------------------------------------------


def add(*forms: Laurent) -> Laurent:
    """The sum, without zeros."""
    total: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for form in forms:
        for monomial, factor in form.items():
            total[monomial] += factor
    return {monomial: factor for monomial, factor in total.items() if factor}


def scale(form: Laurent, factor: Fraction | int) -> Laurent:
    """The multiple."""
    return {monomial: c * factor for monomial, c in form.items()} if factor else {}


def multiply(left: Laurent, right: Laurent) -> Laurent:
    """The product."""
    return add(*({(a + c, b + d): x * y} for (a, b), x in left.items() for (c, d), y in right.items()))


def sizes(form: Laurent) -> Laurent:
    """The form with every coefficient's absolute value: a bound of the form's absolute value."""
    return {monomial: abs(factor) for monomial, factor in form.items()}


def greatest(form: Laurent, length: int) -> Fraction:
    """A bound of a form with positive coefficients on 1 <= i <= n <= N."""
    return sum((c * length ** (max(a, 0) + max(b, 0)) for (a, b), c in form.items()), ZERO)


CONSTANT: Laurent = {(0, 0): ONE}
POSITION: Laurent = {(1, 0): ONE}
LENGTH: Laurent = {(0, 1): ONE}
FUTURE, PAST = Masking.FUTURE, Masking.PAST
CORNERS = {FUTURE: [(2, 0)], PAST: [(1, 1)], Masking.NONE: [(2, 0), (1, 1)]}
VISIBLE: dict[Masking, Laurent] = {
    FUTURE: POSITION,
    PAST: add(LENGTH, scale(POSITION, -1), CONSTANT),
    Masking.NONE: LENGTH,
}
GREATEST: dict[Masking, Laurent] = {FUTURE: POSITION, PAST: LENGTH, Masking.NONE: LENGTH}


@cache
def expanded(a: int, b: int, i: int, d: int) -> tuple[tuple[tuple[int, int], int], ...]:
    """(i + x)^a (i + d + x + y)^b as a polynomial in x and y."""
    total: defaultdict[tuple[int, int], int] = defaultdict(int)
    for p in range(a + 1):
        for q in range(b + 1):
            for r in range(q + 1):
                total[p + r, q - r] += (
                    comb(a, p) * i ** (a - p) * comb(b, q) * (i + d) ** (b - q) * comb(q, r)
                )
    return tuple(total.items())


def polynomials(forms: tuple[Laurent, ...], corner: tuple[int, int]) -> list[dict[tuple[int, int], Fraction]]:
    """The forms in x and y, after multiplying all with the least powers of i and n that do."""
    least_a = min([0, *(a for form in forms for a, _ in form)])
    least_b = min([0, *(b for form in forms for _, b in form)])
    found = []
    for form in forms:
        total: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (a, b), factor in form.items():
            for monomial, c in expanded(a - least_a, b - least_b, *corner):
                total[monomial] += factor * c
        found.append({monomial: factor for monomial, factor in total.items() if factor})
    return found


def ratio(above: Laurent, below: Laurent, mask: Masking) -> Fraction:
    """The c of section 4 with above >= c below: the ratio at x = y = 0, if that is a bound everywhere."""
    found = []
    for corner in CORNERS[mask]:
        p, q = polynomials((above, below), corner)
        c = p.get((0, 0), ZERO) / q[0, 0]
        if any(p.get(monomial, ZERO) < c * q.get(monomial, ZERO) for monomial in {*p, *q}):
            raise NoBoundError(f"no ratio {above} {below} {corner}")
        found.append(c)
    return min(found)


def coefficient_ratio(above: Laurent, below: Laurent, mask: Masking) -> Fraction:
    """The c of section 6 with above >= c below: the least ratio of coefficients in x and y, or 0."""
    found = []
    for corner in CORNERS[mask]:
        p, q = polynomials((above, below), corner)
        if any(factor < 0 for factor in p.values()):
            return ZERO
        found += [p.get(monomial, ZERO) / factor for monomial, factor in q.items()]
    return min(found)


MOST_LOWERED = 10


@cache
def _lowered(
    lead: tuple[tuple[tuple[int, int], Fraction], ...], a: int, b: int, mask: Masking
) -> tuple[int, Fraction]:
    for k in range(MOST_LOWERED):
        found = max(coefficient_ratio(dict(lead), {(a - x, b - k + x): ONE}, mask) for x in range(k + 1))
        if found > 0:
            return k, found
    raise NoBoundError("no multiple of the lead")


def against(errors: Laurent, lead: Laurent, mask: Masking, length: int) -> Fraction:
    """The errors as a multiple of the lead: a term e i^a n^b is at most (N^k / c) e times the lead."""
    total, key = ZERO, tuple(sorted(lead.items()))
    for (a, b), e in errors.items():
        k, c = _lowered(key, a, b, mask)
        total += e * length**k / c
    return total


# Numbers of a run -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Computed:
    """A number that is computed: a bound of its size, its grid 2^g if exact on one, its error.

    `relative` is its relative error, `absolute` an error beyond that one.
    """

    size: Laurent
    grid: int | None
    relative: Fraction = ZERO
    absolute: Fraction = ZERO
    power_of_two: bool = False


def odd_part(value: Fraction) -> tuple[int, int] | None:
    """The odd m and the g with |value| = m 2^g; None where there are none."""
    if not value or value.denominator & (value.denominator - 1):
        return None
    m, g = abs(value.numerator), 1 - value.denominator.bit_length()
    zeros = (m & -m).bit_length() - 1
    return m >> zeros, g + zeros


def is_power_of_two(value: Fraction) -> bool:
    """Whether the value is plus or minus a power of two."""
    parts = odd_part(value)
    return parts is not None and parts[0] == 1


def holds(value: Fraction, u: Fraction) -> bool:
    """Whether a format holds the number."""
    parts = odd_part(value)
    return not value or (parts is not None and parts[0] <= 1 / u)


def held(size: Laurent, grid: int | None, u: Fraction, length: int) -> bool:
    """Whether the format holds all multiples of 2^grid up to the size."""
    return grid is not None and greatest(size, length) * u <= Fraction(2) ** grid


def both(*errors: Fraction) -> Fraction:
    """The relative error of errors one after the other."""
    return reduce(lambda x, y: x * (1 + y), errors, ONE) - 1


def constant(value: Fraction, u: Fraction) -> Computed:
    """A number that is rounded once."""
    size, parts = scale(CONSTANT, abs(value)), odd_part(value)
    if not value:
        return Computed({}, 0)
    if parts is not None and parts[0] <= 1 / u:
        return Computed(size, parts[1], power_of_two=parts[0] == 1)
    return Computed(size, None, u)


def times(left: Computed, right: Computed, u: Fraction, length: int) -> Computed:
    """The product of two numbers, rounded once unless exact."""
    size = multiply(left.size, right.size)
    grid = None if left.grid is None or right.grid is None else left.grid + right.grid
    power = left.power_of_two and right.power_of_two
    exact = left.power_of_two or right.power_of_two or held(size, grid, u, length)
    relative = both(left.relative, right.relative, ZERO if exact else u)
    return Computed(size, grid if exact else None, relative, ZERO, power)


def plus(left: Computed, right: Computed, u: Fraction, length: int) -> Computed:
    """The sum of two positive numbers, rounded once unless exact."""
    size = add(left.size, right.size)
    grid = None if left.grid is None or right.grid is None else min(left.grid, right.grid)
    exact = held(size, grid, u, length)
    relative = both(max(left.relative, right.relative), ZERO if exact else u)
    return Computed(size, grid if exact else None, relative)


def in_double(form: ClosedForm, length: int) -> Computed:
    """A closed form as evaluated in float64, one rounding for each operation."""
    match form:
        case Number(value):
            return constant(value, DOUBLE)
        case Position():
            return Computed(POSITION, 0)
        case Length():
            return Computed(LENGTH, 0)
        case Alternating():
            return Computed(CONSTANT, 0, power_of_two=True)
        case Product(parts):
            return reduce(lambda x, y: times(x, y, DOUBLE, length), [in_double(p, length) for p in parts])
        case Sum(parts):
            return reduce(lambda x, y: plus(x, y, DOUBLE, length), [in_double(p, length) for p in parts])
        case Power(Position() | Length() as base, exponent):
            size = {(exponent, 0) if isinstance(base, Position) else (0, exponent): ONE}
            exact = exponent >= 0 and held(size, 0, DOUBLE, length)
            return Computed(size, 0 if exact else None, ZERO if exact else DOUBLE)
    raise NoBoundError(f"a closed form of another kind: {form}")


def in_format(form: ClosedForm, arithmetic: Arithmetic, length: int) -> Computed:
    """A closed form as the run gets the form: rounded to the format once."""
    found = in_double(form, length)
    if arithmetic.u == DOUBLE or held(found.size, found.grid, arithmetic.u, length):
        return found
    if found.power_of_two:
        return found
    return Computed(found.size, None, both(found.relative, arithmetic.u))


def exactly(form: ClosedForm) -> Laurent:
    """A closed form as a Laurent form."""
    match form:
        case Number(value):
            return scale(CONSTANT, value)
        case Position():
            return POSITION
        case Length():
            return LENGTH
        case Product(parts):
            return reduce(multiply, [exactly(part) for part in parts])
        case Sum(parts):
            return add(*(exactly(part) for part in parts))
        case Power(Position(), exponent):
            return {(exponent, 0): ONE}
        case Power(Length(), exponent):
            return {(0, exponent): ONE}
    raise NoBoundError(f"a closed form of another kind: {form}")


# The stream before the head -------------------------------------------------------------------------


@dataclass(frozen=True)
class Stream:
    """The coordinates before the head: by symbol where a symbol decides, closed forms elsewhere."""

    letters: tuple[dict[int, Fraction], ...]
    errors: dict[int, Fraction]
    positions: dict[int, ClosedForm]
    arithmetic: Arithmetic
    length: int


def read_stream(network: Network, arithmetic: Arithmetic, length: int) -> Stream:
    """What the head's layer reads: the embedding, and what the feed-forward layer before the head wrote."""
    letters = tuple(dict(embedding) for embedding in network.embedding)
    if not all(holds(value, arithmetic.u) for letter in letters for value in letter.values()):
        raise NoBoundError("an embedding that the format does not hold")
    errors: dict[int, Fraction] = {}
    if len(network.layers) == 2:
        (units, targets) = _units(network.layers[0])
        for target in targets:
            gate = [(form, dict(outputs)[target]) for form, outputs in units if target in dict(outputs)]
            written = [written_by(gate, letter, arithmetic) for letter in letters]
            errors[target] = max(error for _, error in written)
            for letter, (value, _) in zip(letters, written, strict=True):
                letter[target] = value
    return Stream(letters, errors, dict(network.positions), arithmetic, length)


def _units(layer: Layer) -> tuple[list[tuple[LinearForm, LinearForm]], list[int]]:
    assert not layer.heads
    assert all(unit.bias == 0 for unit in layer.hidden)
    units = [(unit.form, unit.outputs) for unit in layer.hidden]
    return units, sorted({target for _, outputs in units for target, _ in outputs})


def written_by(
    gate: list[tuple[LinearForm, Fraction]], letter: dict[int, Fraction], arithmetic: Arithmetic
) -> tuple[Fraction, Fraction]:
    """What units without bias write where the letter stands, and its error: the rules 1, 2 and 4.

    Every unit reads one coordinate with factor 1 that the letters write.
    """
    u, terms = arithmetic.u, []
    for form, factor in gate:
        [(coordinate, one)] = form
        assert one == 1
        if letter.get(coordinate, ZERO) > 0:
            terms.append((letter[coordinate], factor))
    value = sum((s * factor for s, factor in terms), ZERO)
    total = sum((abs(s * factor) for s, factor in terms), ZERO)
    grids = [odd_part(s * factor) for s, factor in terms]
    if all(parts is not None and parts[0] <= 1 / u for parts in grids) and (
        not grids or total * u <= Fraction(2) ** min(parts[1] for parts in grids if parts)
    ):
        return value, ZERO
    error = sum((abs(s * factor) * (2 * u + (ZERO if holds(factor, u) else u)) for s, factor in terms), ZERO)
    lost = Fraction(8, 7) * (len(terms) - 1) * arithmetic.sums * (total + error)
    if arithmetic.name == "bfloat16":
        lost += u * (abs(value) + error + lost)
    return value, error + lost


@dataclass(frozen=True)
class AtPlace:
    """A linear form at the positions of one symbol: its exact value, its error, its grid if exact."""

    value: Fraction
    error: Fraction
    grid: int | None


def linear_at(form: LinearForm, letter: dict[int, Fraction], stream: Stream) -> AtPlace:
    """A linear form of letters, written bits and constant closed forms, where the letter stands."""
    arithmetic, u = stream.arithmetic, stream.arithmetic.u
    value, error, total, count, grids = ZERO, ZERO, ZERO, 0, []
    for coordinate, factor in form:
        if coordinate in stream.positions:
            closed = in_format(stream.positions[coordinate], arithmetic, stream.length)
            x = exactly(stream.positions[coordinate])[0, 0]
            off = closed.relative * abs(x)
        else:
            x, off = letter.get(coordinate, ZERO), stream.errors.get(coordinate, ZERO)
        if not x and not off:
            continue
        count += 1
        term, size = factor * x, abs(factor) * (abs(x) + off)
        rounded = abs(factor) * off
        if not holds(factor, u):
            rounded += u * size
        if not is_power_of_two(factor) and not (not off and (is_power_of_two(x) or holds(term, u))):
            rounded += u * size
        value, error, total = value + term, error + rounded, total + abs(term) + rounded
        parts = odd_part(term) if not rounded else None
        grids.append(None if parts is None else parts[1])
    grid = None if not grids or None in grids else min(g for g in grids if g is not None)
    if count > 1 and not (grid is not None and total * u <= Fraction(2) ** grid):
        lost = Fraction(8, 7) * (count - 1) * arithmetic.sums * total
        error += lost + (u * (abs(value) + error + lost) if arithmetic.name == "bfloat16" else ZERO)
        grid = None
    return AtPlace(value, error, grid if count else 0)


# Rows -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A computed row: |q| and dq as forms; its key at every symbol, or for a row with t the relative error.

    In a row with t the key's factor and powers of n count to the query.
    """

    size: Laurent
    off: Laurent
    keys: tuple[AtPlace, ...] | None
    key_error: Fraction
    exact: bool
    grid: int | None
    signed: Laurent | None


def read_query(form: LinearForm, stream: Stream) -> tuple[Computed, Laurent | None]:
    """The query of a row, one coordinate, and its exact form where that reads no symbol."""
    arithmetic, u = stream.arithmetic, stream.arithmetic.u
    [(coordinate, factor)] = form
    weight = constant(factor, u)
    if coordinate in stream.positions:
        closed = stream.positions[coordinate]
        read = in_format(closed, arithmetic, stream.length)
        signed = None if "Alternating" in repr(closed) else scale(exactly(closed), factor)
    else:
        values = [letter.get(coordinate, ZERO) for letter in stream.letters]
        one = constant(max(map(abs, values)), u)
        grids = [parts[1] for parts in map(odd_part, values) if parts]
        off = stream.errors.get(coordinate, ZERO)
        read = Computed(
            one.size, min(grids) if grids and not off else None, ZERO, off, not off and one.power_of_two
        )
        signed = scale(CONSTANT, factor * values[0]) if len(set(values)) == 1 else None
    found = times(read, weight, u, stream.length)
    return Computed(
        found.size, found.grid, found.relative, abs(factor) * read.absolute, found.power_of_two
    ), signed


def t_power(form: LinearForm, stream: Stream) -> int | None:
    """The p for which the key is a multiple of j^p; None for a key of letters and constants."""
    read = [exactly(stream.positions[c]) for c, _ in form if c in stream.positions]
    powers = {a for closed in read for a, _ in closed if a}
    moving = powers or any(b for closed in read for _, b in closed)
    if not moving:
        return None
    if len(form) > 1 or len(read[0]) > 1 or powers not in ({1}, {-1}):
        raise NoBoundError("a key that is neither a multiple of t(j) nor finitely many values")
    return powers.pop()


def temperature_times(
    query: Computed, cold: Computed, u: Fraction, length: int
) -> tuple[Laurent, Laurent, Computed]:
    """|q|, dq = rho |q| + zeta, and q itself, for a query and the inverse temperature."""
    found = times(query, cold, u, length)
    zeta = scale(cold.size, query.absolute * (1 + found.relative))
    return found.size, add(scale(found.size, found.relative), zeta), found


def read_row(
    query: LinearForm, key: LinearForm, cold_form: ClosedForm, stream: Stream
) -> tuple[Row, int | None]:
    """A row of the head and the power of j in its key."""
    u, length = stream.arithmetic.u, stream.length
    cold = in_format(cold_form, stream.arithmetic, length)
    asked, signed = read_query(query, stream)
    size, off, q = temperature_times(asked, cold, u, length)
    whole = None if signed is None else multiply(signed, exactly(cold_form))
    power = t_power(key, stream)
    if power is not None:
        [(coordinate, factor)] = key
        k = times(
            in_format(stream.positions[coordinate], stream.arithmetic, length), constant(factor, u), u, length
        )
        [(a, b)] = k.size
        moved = {(0, b): k.size[a, b]}
        exact, grid = _products(asked, cold, q, k, u, length)
        sign = scale(exactly(stream.positions[coordinate]), factor)[a, b] / k.size[a, b]
        row = Row(
            multiply(size, moved),
            multiply(off, moved),
            None,
            k.relative,
            exact,
            grid,
            None if whole is None else multiply(whole, scale(moved, sign)),
        )
        return row, power
    keys = tuple(linear_at(key, letter, stream) for letter in stream.letters)
    grids = [at.grid for at in keys if at.value]
    largest = scale(CONSTANT, max(abs(at.value) for at in keys))
    known = not any(at.error for at in keys) and None not in grids
    k = Computed(largest, min([g for g in grids if g is not None], default=0) if known else None)
    exact, grid = _products(asked, cold, q, k, u, length)
    return Row(size, off, keys, ZERO, exact, grid, whole), None


def _products(
    asked: Computed, cold: Computed, q: Computed, k: Computed, u: Fraction, length: int
) -> tuple[bool, int | None]:
    """Whether the format holds q, k and all products of query, key and temperature; the products' grid."""
    if q.grid is None or k.grid is None or asked.grid is None or asked.absolute or cold.grid is None:
        return False, None
    exact = (
        held(q.size, q.grid, u, length)
        and held(k.size, k.grid, u, length)
        and held(multiply(q.size, k.size), q.grid + k.grid, u, length)
        and held(multiply(asked.size, k.size), asked.grid + k.grid, u, length)
    )
    return exact, q.grid + k.grid if exact else None


# The head -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """A combination of values of all keys: the keys, their errors, the level b, and sigma."""

    keys: tuple[Fraction, ...]
    errors: tuple[Fraction, ...]
    level: Fraction
    sigma: Fraction


@dataclass(frozen=True)
class Bound:
    """What the rule derives for a head at N."""

    near: Fraction
    ahead: Fraction
    others: arb
    stray_mass: arb
    value_error: arb


@dataclass(frozen=True)
class Score:
    """The score G t(j) - P b(j): the power of j in t, G, P and b by symbol."""

    power: int
    g: Laurent
    p: Laurent
    levels: tuple[Fraction, ...]


def read_score(rows: Iterable[tuple[Row, int | None]], leftmost: bool) -> Score:
    """The score's normal form: the first lines of TieBreak in section 5."""
    rows = list(rows)
    powers = {power for _, power in rows if power is not None}
    if len(powers) != 1:
        raise NoBoundError("not one t(j)")
    [power] = powers
    parts = []
    for row, found in rows:
        if found is not None:
            if row.signed is None:
                raise NoBoundError("a query of t that is no form of i and n")
            parts.append(row.signed)
    g = scale(add(*parts), power * (-1 if leftmost else 1))
    others = _other_terms([row for row, found in rows if found is None])
    differences = [add(form, scale(others[0], -1)) for form in others]
    p = next((form for form in differences if form), {})
    if p and sum(p.values()) < 0:
        p = scale(p, -1)
    levels = []
    for form in differences:
        factor = form[next(iter(p))] / p[next(iter(p))] if form and next(iter(p)) in form else ZERO
        if add(form, scale(p, -factor)):
            raise NoBoundError("not multiples of one form")
        levels.append(-factor)
    return Score(power, g, p, tuple(level - min(levels) for level in levels))


def _other_terms(rows: list[Row]) -> list[Laurent]:
    """By symbol, the score without t, less what does not depend on j."""
    total: list[Laurent] = []
    for row in rows:
        assert row.keys is not None
        if len({at.value for at in row.keys}) == 1:
            continue
        if row.signed is None:
            raise NoBoundError("a query of b that is no form of i and n")
        terms = [scale(row.signed, at.value) for at in row.keys]
        total = [add(x, y) for x, y in zip(total, terms, strict=True)] if total else terms
    return total or [{}]


def sigma_at(rows: list[Row], symbol: int, cold_is_power: bool, stream: Stream) -> Fraction:
    """What adding the rows can lose where the symbol stands, relative to the sum of their sizes."""
    arithmetic, u = stream.arithmetic, stream.arithmetic.u
    there = [r for r in rows if r.size and (r.keys is None or r.keys[symbol].value or r.keys[symbol].error)]
    if len(there) <= 1:
        return ZERO
    if all(row.exact for row in there):
        total = sum((greatest(_row_size(row, symbol), stream.length) for row in there), ZERO)
        if total * u <= Fraction(2) ** min(row.grid for row in there if row.grid is not None):
            return ZERO
    lost = Fraction(8, 7) * (len(there) - 1) * arithmetic.sums
    if arithmetic.name == "bfloat16":
        lost += 2 * u * (1 + lost)
    return lost if cold_is_power else both(lost, u)


def _row_size(row: Row, symbol: int) -> Laurent:
    """A bound of |q k| at a symbol, in a row with t for t = j."""
    return (
        multiply(row.size, POSITION | {})
        if row.keys is None
        else scale(row.size, abs(row.keys[symbol].value))
    )


@dataclass(frozen=True)
class Errors:
    """The rows of E: those of |t(w) - t(j)|, those of |t(w)| + |t(j)| without the roundings, and all others."""

    rows: list[Row]
    p: int
    u: Fraction
    underflow: Fraction

    def pi(self, row: Row) -> Fraction:
        return ZERO if row.exact else (1 + self.u) ** self.p - 1

    def apart(self) -> Laurent:
        """What multiplies |t(w) - t(j)|."""
        return add(*(row.off for row in self.rows if row.keys is None))

    def together(self, sigma: Fraction) -> Laurent:
        """What multiplies |t(w)| + |t(j)|."""
        found: list[Laurent] = []
        for row in self.rows:
            if row.keys is None:
                lost = (1 + row.key_error) * ((1 + self.pi(row)) * (1 + sigma) - 1)
                found.append(scale(add(row.size, row.off), row.key_error + lost))
        return add(*found)

    def others(self, w: Place, j: Place) -> Laurent:
        """The errors of all rows without t, and underflow."""
        found = [scale(CONSTANT, self.underflow)]
        for r, row in enumerate(self.rows):
            if row.keys is None:
                continue
            off = w.errors[r] + j.errors[r]
            found.append(scale(row.off, abs(w.keys[r] - j.keys[r]) + off))
            found.append(scale(row.size, off))
            for x in (w, j):
                lost = (abs(x.keys[r]) + x.errors[r]) * ((1 + self.pi(row)) * (1 + x.sigma) - 1)
                found.append(scale(add(row.size, row.off), lost))
        return add(*found)


def bound(network: Network, arithmetic: Arithmetic, length: int) -> Bound:
    """The float rule of TieBreak for the only head of the network, for words of up to `length` symbols."""
    head: Head = network.layers[-1].heads[0]
    assert isinstance(head.weighting, Softmax)
    stream = read_stream(network, arithmetic, length)
    cold_form = head.weighting.inverse_temperature
    read = [read_row(q, k, cold_form, stream) for q, k in zip(head.query, head.key, strict=True)]
    leftmost = getattr(head.construction, "leftmost")
    score = read_score(read, leftmost)
    rows = [row for row, _ in read]
    mask = head.masking.weak
    gap = gap_of(score, mask)
    least_far(score, mask, ONE)
    places, agreeing = _places(head, rows, score, cold_form, stream)
    cold = in_format(cold_form, arithmetic, length)
    unit = Fraction(1, arithmetic.range)
    underflow = 4 * len(rows) * (unit + arithmetic.tiny * (1 + greatest(cold.size, length)))
    errors = Errors(rows, 1 if cold.power_of_two else 2, arithmetic.u, underflow)
    near = max([ZERO, *_near_losses(score, places, agreeing, errors, mask, length)])
    ahead = max([ZERO, *_ahead_losses(score, places, errors, mask, length)])
    return _conclude(score, gap, near, ahead, head, stream)


def _places(
    head: Head, rows: list[Row], score: Score, cold_form: ClosedForm, stream: Stream
) -> tuple[list[Place], set[Fraction]]:
    """The places of the head, and the levels on which its values agree."""
    cold_is_power = in_format(cold_form, stream.arithmetic, stream.length).power_of_two
    found: dict[tuple[Fraction, ...], Place] = {}
    values: defaultdict[Fraction, set[tuple[Fraction, ...]]] = defaultdict(set)
    levels = score.levels if len(score.levels) > 1 else score.levels * len(stream.letters)
    for symbol, letter in enumerate(stream.letters):
        keys = tuple(ZERO if row.keys is None else row.keys[symbol].value for row in rows)
        errors = tuple(ZERO if row.keys is None else row.keys[symbol].error for row in rows)
        sigma = sigma_at(rows, symbol, cold_is_power, stream)
        place = Place(keys, errors, levels[symbol], sigma)
        if keys in found:
            errors = tuple(max(pair) for pair in zip(errors, found[keys].errors, strict=True))
            place = Place(keys, errors, levels[symbol], max(sigma, found[keys].sigma))
        found[keys] = place
        values[levels[symbol]].add(tuple(linear_at(value, letter, stream).value for value in head.values))
    return list(found.values()), {level for level, several in values.items() if len(several) == 1}


def _near_losses(
    score: Score, places: list[Place], agreeing: set[Fraction], errors: Errors, mask: Masking, length: int
) -> Iterable[Fraction]:
    """The losses of the pairs called level and behind."""
    g, top = score.g, GREATEST[mask]
    step = g if score.power == 1 else multiply(g, {(-2 * a, -2 * b): ONE for a, b in top})
    reach = top if score.power == 1 else CONSTANT
    apart = errors.apart()
    for w, j in product(places, places):
        together, others = errors.together(max(w.sigma, j.sigma)), errors.others(w, j)
        if w.level == j.level and w.level not in agreeing:
            t_errors = add(apart, scale(multiply(together, top), 2))
            yield against(t_errors, g, mask, length) + against(others, step, mask, length)
        if w.level < j.level:
            yield against(apart, g, mask, length)
            rest = add(others, scale(multiply(together, reach), 2))
            yield against(rest, scale(score.p, j.level - w.level), mask, length)


def _behind_by(score: Score, mask: Masking) -> Laurent:
    """G (V - 1), or G - G / R: what t can gain on the far side."""
    if score.power == 1:
        return multiply(score.g, add(VISIBLE[mask], scale(CONSTANT, -1)))
    [(a, b)] = GREATEST[mask]
    return multiply(score.g, {(0, 0): ONE, (-a, -b): -ONE})


def _ahead_losses(
    score: Score, places: list[Place], errors: Errors, mask: Masking, length: int
) -> Iterable[Fraction]:
    """The losses of the pairs called ahead."""
    reach = GREATEST[mask] if score.power == 1 else CONSTANT
    for w, j in product(places, places):
        if w.level < j.level:
            lead = add(scale(score.p, j.level - w.level), scale(_behind_by(score, mask), -1))
            t_errors = add(errors.apart(), scale(errors.together(max(w.sigma, j.sigma)), 2))
            yield against(add(errors.others(w, j), multiply(t_errors, reach)), lead, mask, length)


def _exact_ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def gap_of(score: Score, mask: Masking) -> Fraction:
    """The gap of section 5."""
    step = CONSTANT if score.power == 1 else multiply(GREATEST[mask], GREATEST[mask])
    gap = ratio(score.g, step, mask)
    if gap <= 0:
        raise NoBoundError("no gap")
    return gap


def least_far(score: Score, mask: Masking, half: Fraction) -> Fraction | None:
    """far, with D times `half` in place of D; None where b takes one value."""
    levels = sorted(set(score.levels))
    if len(levels) == 1:
        return None
    least = min(high - low for low, high in pairwise(levels))
    d = add(scale(score.p, least), scale(_behind_by(score, mask), -1))
    far = ratio(add(scale(d, half), scale(VISIBLE[mask], -1), scale(CONSTANT, 2)), CONSTANT, mask)
    if far <= 0:
        raise NoBoundError("far is not positive")
    return far


def _conclude(
    score: Score, gap: Fraction, near: Fraction, ahead: Fraction, head: Head, stream: Stream
) -> Bound:
    """W, the stray mass and the error of the head's value."""
    arithmetic, u, n = stream.arithmetic, stream.arithmetic.u, stream.length
    far = least_far(score, head.masking.weak, HALF)
    if far is not None and ahead + 2 * u > HALF:
        raise NoBoundError("ahead loses too much")
    left = 1 - near - 2 * u
    if left <= 0:
        raise NoBoundError("near loses everything")
    e = arithmetic.exp * u
    with ctx.workprec(BITS):
        noise = _exact_ball((1 + e) / (1 - e))
        r = (-_exact_ball(gap * left)).exp()
        others = r / (1 - r)
        if far is not None:
            others += (-_exact_ball(far)).exp()
        others *= noise
        stray = others / (1 + others)
        at = [[linear_at(value, letter, stream) for letter in stream.letters] for value in head.values]
        if 2 * n * arithmetic.sums >= 1:
            raise NoBoundError("too many positions")
        grows = 1 + 4 * n * arithmetic.sums / (1 - 2 * n * arithmetic.sums) + 4 * u
        errors = []
        for row in at:
            off = max(x.error for x in row)
            spread = max(x.value for x in row) - min(x.value for x in row)
            largest = max(abs(x.value) for x in row) + off
            errors.append(
                stray * _exact_ball(spread)
                + _exact_ball(off)
                + _exact_ball(largest) * (noise * _exact_ball(grows) - 1)
            )
        return Bound(near, ahead, others, stray, max(errors))
