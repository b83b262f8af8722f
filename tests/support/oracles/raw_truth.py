"""The truth of a certificate's language at every position, from FORMAT.md section 1 alone.

Nothing here imports attemper. The language is the JSON data of a certificate: a formula, an automaton, or an
attention program. Words run side by side, [word, position]; what stands in the padding means
nothing.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.support.oracles.raw_files import Places, asked, exact_form, kind_of, places_of
from tests.support.oracles.raw_forward import Batch

Bits = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.int64]

Truths = dict[str | None, Bits | Numbers]
"""The truth of each output, by its name; None if it is the only one and has none."""

COMPARED: dict[str, Callable[[Numbers, Numbers], Bits]] = {
    "<=": operator.le,
    "<": operator.lt,
    ">=": operator.ge,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}


def truth(language: Sequence[Any], alphabet: Sequence[str], batch: Batch) -> Bits | Numbers:
    """Whether the language holds at each position; an automaton, whether it accepts the prefix up to there.

    Of a program its only output, which is more than 1 where bits are added up that hold together.
    """
    (found,) = truths(language, alphabet, batch).values()
    return found


def truths(language: Sequence[Any], alphabet: Sequence[str], batch: Batch) -> Truths:
    """The truth of each output: of the only one, without a name, or of each symbol's bit.

    Numbers are Fractions, 0 in the padding; of an integer its share of the positions that are shown.
    """
    match language:
        case ["program language", program, _, _]:
            return _run(program, alphabet, batch)
        case ["dfa", symbols, moves, start, accepting]:
            assert list(symbols) == list(alphabet)
            return {None: _followed(np.array(moves), start, accepting, batch)}
        case ["temporal language", nodes, _, _]:
            return {None: _truth(nodes, alphabet, batch)}
        case _:
            raise ValueError(f"no language: {language}")


def _truth(nodes: Sequence[Any], alphabet: Sequence[str], batch: Batch) -> Bits:
    places = places_of(batch.lengths)
    known: list[Bits] = []
    for node in nodes:
        known.append(_node(node, known, alphabet, batch, places))
    return known[-1]


def _followed(moves: Numbers, start: int, accepted: Sequence[int], batch: Batch) -> Bits:
    accepting = np.isin(np.arange(len(moves)), accepted)
    states = np.full(len(batch.lengths), start)
    found = np.zeros(batch.tokens.shape, dtype=bool)
    for position in range(batch.tokens.shape[1]):
        states = moves[states, batch.tokens[:, position]]
        found[:, position] = accepting[states]
    return found


def _node(node: Any, known: list[Bits], alphabet: Sequence[str], batch: Batch, places: Places) -> Bits:
    match node:
        case ["symbol", name]:
            return batch.tokens == list(alphabet).index(name)
        case ["constant", bool(value)]:
            return np.full(batch.tokens.shape, value)
        case ["first"]:
            return places.i == 1
        case ["last"]:
            return _steps(places) == places.n
        case ["unary", name, k]:
            return _UNARY[name](known[k], places)
        case ["binary", name, k, m]:
            return _BINARY[name](known[k], known[m], places)
        case ["comparison", name, left, right]:
            return COMPARED[name](_term(left, known, places), _term(right, known, places))
        case ["numerical", predicate, term]:
            return asked(predicate, _term(term, known, places))
        case _:
            raise ValueError(f"no node of a formula: {node}")


def _steps(places: Places) -> Numbers:
    return np.broadcast_to(np.arange(1, places.i.shape[1] + 1), places.i.shape)


def _term(term: Any, known: list[Bits], places: Places) -> Numbers:
    total = np.full(places.i.shape, term["constant"])
    for factor, atom in term["parts"]:
        match atom:
            case ["position atom"]:
                total = total + factor * _steps(places)
            case ["length atom"]:
                total = total + factor * places.n
            case ["count atom", side, k]:
                total = total + factor * _count(side, known[k] & places.real)
            case _:
                raise ValueError(f"no atom of a term: {atom}")
    return total


def _count(side: str, bits: Bits) -> Numbers:
    left = bits.cumsum(axis=1)
    whole = left[:, -1:]
    return {"#<": left, "#>": whole - left + bits, "#": np.broadcast_to(whole, bits.shape)}[side]


def _before(bit: Bits, at_start: bool) -> Bits:
    """The bit at i - 1."""
    return np.concatenate([np.full((len(bit), 1), at_start), bit[:, :-1]], axis=1)


def _after(bit: Bits, at_end: bool, places: Places) -> Bits:
    """The bit at i + 1."""
    moved = np.concatenate([bit[:, 1:], np.zeros((len(bit), 1), dtype=bool)], axis=1)
    return np.where(_steps(places) == places.n, at_end, moved)


def _since(left: Bits, right: Bits) -> Bits:
    """Some j <= i has right, and all positions after j up to i have left."""
    found, now = np.zeros_like(right), np.zeros(len(right), dtype=bool)
    for position in range(right.shape[1]):
        now = right[:, position] | (left[:, position] & now)
        found[:, position] = now
    return found


def _until(left: Bits, right: Bits, places: Places) -> Bits:
    """Some j >= i has right, and all positions from i to before j have left."""
    found, now, real = np.zeros_like(right), np.zeros(len(right), dtype=bool), places.real
    for position in reversed(range(right.shape[1])):
        now = real[:, position] & (right[:, position] | (left[:, position] & now))
        found[:, position] = now
    return found


def _always(bit: Bits) -> Bits:
    return np.ones_like(bit)


_UNARY: dict[str, Callable[[Bits, Places], Bits]] = {
    "!": lambda bit, places: ~bit,
    "Y": lambda bit, places: _before(bit, False),
    "WY": lambda bit, places: _before(bit, True),
    "X": lambda bit, places: _after(bit, False, places),
    "WX": lambda bit, places: _after(bit, True, places),
    "O": lambda bit, places: _since(_always(bit), bit),
    "H": lambda bit, places: ~_since(_always(bit), ~bit),
    "F": lambda bit, places: _until(_always(bit), bit, places),
    "G": lambda bit, places: ~_until(_always(bit), ~bit, places),
}
_BINARY: dict[str, Callable[[Bits, Bits, Places], Bits]] = {
    "&": lambda left, right, places: left & right,
    "|": lambda left, right, places: left | right,
    "xor": lambda left, right, places: left ^ right,
    "->": lambda left, right, places: ~left | right,
    "<->": lambda left, right, places: left == right,
    "S": lambda left, right, places: _since(left, right),
    "T": lambda left, right, places: ~_since(~left, ~right),
    "U": _until,
    "R": lambda left, right, places: ~_until(~left, ~right, places),
    "W": lambda left, right, places: _until(left, right, places) | ~_until(_always(left), ~left, places),
    "M": lambda left, right, places: _until(right, left & right, places),
}


# Programs --------------------------------------------------------------------------------------------------


def _run(program: Mapping[str, Any], alphabet: Sequence[str], batch: Batch) -> Truths:
    """The outputs of a program at every position; a bit is 0 or 1."""
    assert list(program["alphabet"]) == list(alphabet)
    places, rows = places_of(batch.lengths), steps_of(program, alphabet, batch)
    if program["numbers"] is not None:
        return _numbers(program["numbers"], rows, places)
    if program["symbols"]:
        return {symbol: rows[k] for symbol, k in program["symbols"]}
    return {None: rows[program["output"]]}


def steps_of(
    program: Mapping[str, Any],
    alphabet: Sequence[str],
    batch: Batch,
    after: Callable[[int, Numbers], Numbers] | None = None,
) -> list[Numbers]:
    """Every step, [word, position]; `after` says what a step, by its number, is set to."""
    places, rows = places_of(batch.lengths), list[Numbers]()
    for number, step in enumerate(program["steps"]):
        row = _step(step, rows, alphabet, batch, places)
        rows.append(row if after is None else after(number, row))
    return rows


def broken_promises(program: Mapping[str, Any], alphabet: Sequence[str], batch: Batch) -> Bits:
    """In which words some promise of the program is broken at some position: it then means nothing."""
    places, rows = places_of(batch.lengths), steps_of(program, alphabet, batch)
    broken = np.zeros(places.i.shape, dtype=bool)
    for step in program["steps"]:
        match step:
            case ["gate", "union", read] | ["merge", read]:
                alone = read
            case ["attend", _, _, cases, _, _]:
                alone = [here for here, _ in cases if here is not None]
            case _:
                continue
        broken |= sum((rows[k] for k in alone), _zero(places)) > 1
    if program["symbols"]:
        broken |= sum((rows[k] for _, k in program["symbols"]), _zero(places)) != 1
    if kind_of(program) == "distribution":
        numbers = list(_numbers(program["numbers"], rows, places).values())
        broken |= (sum(numbers) != 1) | np.any([number < 0 for number in numbers], axis=0)
    return (broken & places.real).any(axis=1)


def shown(mask: str, places: Places) -> Numbers:
    """How many positions each position sees; 1 in the padding."""
    return np.where(places.real, _seen_sum(mask, np.ones(places.i.shape, dtype=np.int64), places), 1)


def _numbers(said: Mapping[str, Any], rows: list[Numbers], places: Places) -> dict[str | None, Any]:
    """The numbers that a program puts out, by name."""
    if said["measure"] == "distribution":
        whole = np.ones(places.i.shape, dtype=np.int64)
        named = zip(said["names"], said["rows"], strict=True)
        return {name: _number(parts, rows, whole, places) for name, parts in named}
    (parts,) = said["rows"]
    return {None: _number(parts, rows, shown(said["mask"], places), places)}


def _number(parts: Sequence[Any], rows: list[Numbers], seen: Numbers, places: Places) -> Any:
    """The sum of factor * bit * count / seen: of a part without a count, of factor * bit."""
    factors = [Fraction(part["factor"]) for part in parts]
    common = math.lcm(*(factor.denominator for factor in factors))
    total = np.zeros(places.i.shape, dtype=object)
    for factor, part in zip(factors, parts, strict=True):
        bit, count = part["bit"], part["count"]
        term = (seen if count is None else rows[count]) * (1 if bit is None else rows[bit])
        total += int(factor * common) * np.where(places.real, term, 0).astype(object)
    found = np.full(places.i.shape, Fraction(0), dtype=object)
    found[places.real] = np.frompyfunc(Fraction, 2, 1)(
        total[places.real], (common * seen.astype(object))[places.real]
    )
    return found


def _step(step: Any, rows: list[Numbers], alphabet: Sequence[str], batch: Batch, places: Places) -> Numbers:
    match step:
        case ["letter", list(names)]:
            return np.isin(batch.tokens, [list(alphabet).index(name) for name in names]).astype(np.int64)
        case ["place", form]:
            return _placed(form, places)
        case ["not", k]:
            return 1 - rows[k]
        case ["gate", gate, list(read)]:
            return _gate(gate, [rows[k] for k in read], places)
        case ["merge", list(read)]:
            return sum((rows[k] for k in read), _zero(places))
        case ["table", list(read), list(lines)]:
            given = [
                sum((rows[k] == bit for k, bit in zip(read, line, strict=True)), _zero(places))
                for line in lines
            ]
            return sum(((hits == len(read)).astype(np.int64) for hits in given), _zero(places))
        case ["attend", mask, choice, cases, value, default]:
            sought = [(None if here is None else rows[here], rows[there]) for here, there in cases]
            return _attended(mask, choice == "leftmost", sought, rows[value], places, default)
        case ["nearest", mask, choice, where, query, key, value]:
            counts = (_clamped(rows[k], places) for k in (query, key))
            return _nearest(mask, choice == "leftmost", rows[where], *counts, rows[value], places)
        case ["matched", mask, choice, where, query, key]:
            own, keys = (_clamped(rows[k], places) for k in (query, key))
            found = _nearest(mask, choice == "leftmost", rows[where], own, keys, keys, places)
            return (found == own).astype(np.int64)
        case ["shift", direction, k, distance, default]:
            at_edge = rows[k] if default is None else _zero(places) + default
            return _neighbour(direction, distance, rows[k], at_edge, places)
        case ["count", mask, k]:
            return _seen_sum(mask, rows[k], places)
        case ["linear", list(parts), constant]:
            return sum((factor * rows[k] for factor, k in parts), _zero(places) + constant)
        case ["compare", k, threshold]:
            return (rows[k] >= threshold).astype(np.int64)
        case ["equals", k, value]:
            return (rows[k] == value).astype(np.int64)
        case ["count test", predicate, k, scale, shift]:
            return asked(predicate, scale * rows[k] + shift).astype(np.int64)
        case _:
            raise ValueError(f"no step of a program: {step}")


def _zero(places: Places) -> Numbers:
    return np.zeros(places.i.shape, dtype=np.int64)


def _placed(form: Any, places: Places) -> Numbers:
    known = {(i, n): exact_form(form, i, n) for i, n in set(zip(places.i.flat, places.n.flat, strict=True))}
    assert all(value in (0, 1) for value in known.values()), "a place is neither 0 nor 1"
    pairs = zip(places.i.flat, places.n.flat, strict=True)
    return np.array([int(known[pair]) for pair in pairs], dtype=np.int64).reshape(places.i.shape)


def _gate(name: str, read: list[Numbers], places: Places) -> Numbers:
    holding = sum(((row != 0).astype(np.int64) for row in read), _zero(places))
    total = sum(read, _zero(places))
    match name:
        case "and":
            return (holding == len(read)).astype(np.int64)
        case "or":
            return (holding > 0).astype(np.int64)
        case "xor":
            return total % 2
        case "union":
            return total
        case _:
            raise ValueError(f"no gate: {name}")


def _visible(mask: str, i: int, places: Places) -> Bits:
    """Which positions j the position i sees, from 1, in each word."""
    steps = _steps(places)
    return {"<=": steps <= i, "<": steps < i, ">=": steps >= i, ">": steps > i, "all": steps > 0}[
        mask
    ] & places.real


def _neighbour(direction: str, distance: int, row: Numbers, at_edge: Numbers, places: Places) -> Numbers:
    """What stands so many positions away; at the edge what is given for it."""
    wanted = _steps(places) + (distance if direction == "next" else -distance)
    inside = (wanted >= 1) & (wanted <= places.n)
    read = np.take_along_axis(row, np.broadcast_to(wanted.clip(1, row.shape[1]) - 1, row.shape), axis=1)
    return np.where(inside, read, at_edge)


Sought = tuple[Numbers | None, Numbers]
"""What has to hold at i (everywhere: None), and what is looked for then."""


def _attended(
    mask: str,
    leftmost: bool,
    sought: list[Sought],
    value: Numbers,
    places: Places,
    default: bool | None,
) -> Numbers:
    """The value at the outermost of the visible positions where the fewest sought bits are missing.

    Where all of them lack one, or nothing is sought, the default if there is one; 0 if none is visible.
    """
    found, width = _zero(places), value.shape[1]
    for i in range(1, width + 1):
        seen = _visible(mask, i, places)
        in_force = [1 if here is None else here[:, i - 1 : i] for here, _ in sought]
        missing = sum((at * (1 - row) for at, (_, row) in zip(in_force, sought, strict=True)), _zero(places))
        least = np.where(seen, missing, np.iinfo(np.int64).max).min(axis=1)
        best = seen & (missing == least[:, None])
        place = best.argmax(axis=1) if leftmost else width - 1 - best[:, ::-1].argmax(axis=1)
        matches = seen.any(axis=1)
        if default is not None:
            matches &= (least == 0) & (sum(in_force) + np.zeros((len(value), 1), int) > 0)[:, 0]
        found[:, i - 1] = np.where(matches, value[np.arange(len(value)), place], default or 0)
    return found


def _clamped(count: Numbers, places: Places) -> Numbers:
    """A count as 1 where it is less, and as n where it is greater."""
    return np.minimum(np.maximum(count, 1), places.n)


def _nearest(
    mask: str,
    leftmost: bool,
    where: Numbers,
    query: Numbers,
    key: Numbers,
    value: Numbers,
    places: Places,
) -> Numbers:
    """The value at the outermost of the visible j with the least (query - key at j)^2 + (1 - where at j)."""
    found, width = _zero(places), value.shape[1]
    for i in range(1, width + 1):
        seen = _visible(mask, i, places)
        off = (query[:, i - 1 : i] - key) ** 2 + (1 - where)
        least = np.where(seen, off, np.iinfo(np.int64).max).min(axis=1)
        best = seen & (off == least[:, None])
        place = best.argmax(axis=1) if leftmost else width - 1 - best[:, ::-1].argmax(axis=1)
        found[:, i - 1] = np.where(seen.any(axis=1), value[np.arange(len(value)), place], 0)
    return found


def _seen_sum(mask: str, row: Numbers, places: Places) -> Numbers:
    found = _zero(places)
    for i in range(1, row.shape[1] + 1):
        found[:, i - 1] = np.where(_visible(mask, i, places), row, 0).sum(axis=1)
    return found
