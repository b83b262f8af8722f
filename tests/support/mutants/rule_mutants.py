"""Networks of which something is changed that a rule for heads reads: rows, margins, digits, symbols.

`tests.support.mutants.one_change` changes one weight or one closed form; here a whole row is, or two of
them at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

from attemper.exact import closed_forms
from attemper.exact.closed_forms import ClosedForm, Digits, I, N, Number, Power, Product, Sum, over
from attemper.networks.layers import Head, Network, Softmax
from tests.support.mutants.one_change import heads_of, put_at, scaled

Row = tuple[tuple[int, Fraction], ...]
Changed = Iterator[tuple[str, Network]]

FACTORS = tuple(map(Fraction, ("-1", "1/16", "1/2", "3/4", "2", "3", "16")))
FORMS: tuple[ClosedForm, ...] = (
    Number(Fraction(3, 4)),
    Number(Fraction(9, 8)),
    Digits(N),
    over(Digits(N)),
    N,
)
FORMS = (*FORMS, over(N), I, over(I))
"""What a margin is multiplied with."""


def rule_mutants(network: Network, rng: random.Random) -> Changed:
    """Every such mutant; the random choice is which coordinate is read in place of another."""
    for name, head, put in heads_of(network):
        for what, changed in head_mutants(head, network, rng):
            yield f"{name}: {what}", put(changed)
    for index, (coordinate, form) in enumerate(network.positions):
        for what, other in margin_mutants(form):
            changed_forms = put_at(network.positions, index, (coordinate, other))
            yield f"position embedding of {coordinate}: {what}", replace(network, positions=changed_forms)
    yield from symbol_mutants(network)


def head_mutants(head: Head, network: Network, rng: random.Random) -> Iterator[tuple[str, Head]]:
    """A head with another row, with two rows exchanged or with another margin."""
    assert isinstance(head.weighting, Softmax)
    for what, form in margin_mutants(head.weighting.inverse_temperature):
        yield f"coldness {what}", replace(head, weighting=Softmax(form))
    for row in range(len(head.query)):
        query, key = head.query[row], head.key[row]
        yield f"row {row} turned round", _with_row(head, row, key, query)
        yield f"row {row} empty", _with_row(head, row, (), key)
        for factor in FACTORS:
            yield f"query {row} times {factor}", _with_row(head, row, scaled(query, factor), key)
            yield f"key {row} times {factor}", _with_row(head, row, query, scaled(key, factor))
        for what, other in _row_mutants(query, len(network.coordinates), rng):
            yield f"query {row} {what}", _with_row(head, row, other, key)
        for what, other in _row_mutants(key, len(network.coordinates), rng):
            yield f"key {row} {what}", _with_row(head, row, query, other)
    for one, other_row in combinations(range(len(head.key)), 2):
        keys = put_at(put_at(head.key, one, head.key[other_row]), other_row, head.key[one])
        yield f"keys {one} and {other_row} exchanged", replace(head, key=keys)


def _with_row(head: Head, row: int, query: Row, key: Row) -> Head:
    return replace(head, query=put_at(head.query, row, query), key=put_at(head.key, row, key))


def _row_mutants(row: Row, width: int, rng: random.Random) -> Iterator[tuple[str, Row]]:
    """With one term less, weighed otherwise, or of another coordinate."""
    for place, (coordinate, factor) in enumerate(row):
        yield f"without {coordinate}", (*row[:place], *row[place + 1 :])
        for other in (-factor, 2 * factor, factor / 2):
            yield f"has {other} of {coordinate}", put_at(row, place, (coordinate, other))
        free = sorted(set(range(width)) - {own for own, _ in row})
        for moved in rng.sample(free, min(2, len(free))):
            yield f"reads {moved} for {coordinate}", tuple(sorted(put_at(row, place, (moved, factor))))


def margin_mutants(form: ClosedForm) -> Iterator[tuple[str, ClosedForm]]:
    """A form times another, and with other digits: a constant for them, half of them, those of i."""
    for factor in FORMS:
        yield f"times {factor}", closed_forms.times(factor, form)
    for other in _digits_mutants(form):
        yield f"is {other}", other


def _digits_mutants(form: ClosedForm) -> Iterator[ClosedForm]:
    match form:
        case Digits():
            yield from (Number(Fraction(constant)) for constant in (0, 1, 2, 8, 30))
            yield from (Digits(I), closed_forms.times(Fraction(1, 2), form))
        case Sum(parts) | Product(parts):
            for place, part in enumerate(parts):
                for other in _digits_mutants(part):
                    yield type(form)(put_at(parts, place, other))
        case Power(base, exponent):
            for other in _digits_mutants(base):
                yield Power(other, exponent)


def symbol_mutants(network: Network) -> Changed:
    """Another coordinate for a symbol, two of them exchanged, one symbol less."""
    symbols = network.symbols
    for place, (name, own) in enumerate(symbols):
        for other in range(len(network.coordinates)):
            if other != own:
                yield f"{name} at {other}", with_symbols(network, put_at(symbols, place, (name, other)))
        if len(symbols) > 1:
            yield f"without {name}", with_symbols(network, (*symbols[:place], *symbols[place + 1 :]))
    for one, two in combinations(range(len(symbols)), 2):
        (name, own), (other_name, other) = symbols[one], symbols[two]
        changed = put_at(put_at(symbols, one, (name, other)), two, (other_name, own))
        yield f"{name} and {other_name} exchanged", with_symbols(network, changed)


def with_symbols(network: Network, symbols: tuple[tuple[str, int], ...]) -> Network:
    """The network that puts these out."""
    return replace(network, symbols=symbols, output=symbols[0][1])
