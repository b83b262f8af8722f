"""The exact part of the construction *Select* again (FORMAT.md sections 0, 4 and 5), on raw files.

Forms of i and n are compared for all lengths, as the text says. Which values a diagram takes is read off a
sample of words, on which each head is run as the hard attention that the rule says it approximates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from tests.support.oracles.second_reader import integers
from tests.support.oracles.second_reader.forms import NothingShownError
from tests.support.oracles.second_reader.integers import MisfitError, Nearests, Values
from tests.support.oracles.second_reader.laurent import (
    J,
    Laurent,
    Lead,
    W,
    at_shortest,
    constant,
    lead,
    minus,
    monomial,
    of_four,
    plus,
    scaled,
    tie_difference,
    times,
    worst,
)
from tests.support.oracles.second_reader.raw import RawHead, RawLayer, RawNetwork
from tests.support.oracles.second_reader.streams import (
    Held,
    Integer,
    Known,
    Sample,
    Table,
    linear,
    linear_with_mixed,
    of_form,
    sample_for,
)

MASKS = {
    "future-masked": ("<=", False),
    "past-masked": (">=", False),
    "strictly future-masked": ("<=", True),
    "strictly past-masked": (">=", True),
    "unmasked": ("all", False),
}
"""The mask that also shows i, and whether this one does not."""


@dataclass(frozen=True)
class Selects:
    """The rule applies, in every cell, by these leads: ahead is None where there is one level."""

    leads: frozenset[tuple[Lead, Lead | None]]

    @property
    def stray_mass(self) -> float:
        """The greatest of all cells."""
        weights = [behind.weight + (ahead.weight if ahead else 0) for behind, ahead in self.leads]
        return max(weight / (1 + weight) for weight in weights)


@dataclass(frozen=True)
class Fails:
    """The rule is tried and does not apply."""

    why: str


@dataclass(frozen=True)
class Unread:
    """Another construction, or something that this reader does not follow."""

    why: str


Answer = Selects | Values | Nearests | Fails | Unread

Cell = tuple[Fraction, ...]
"""The values of all factors at i."""

MOST_CELLS = 16


@dataclass(frozen=True)
class _Choice:
    """How a head chooses: T and the power of j in t, the levels, the best first, and each spot's one."""

    power: int
    rightmost: bool
    tie: Laurent
    levels: list[Laurent]
    level_of: list[int]


@dataclass(frozen=True)
class _Factors:
    """What the scores are made of: the inverse temperature, and each row's query and key."""

    cold: Known
    rows: list[tuple[Known, Known]]


@dataclass(frozen=True)
class Reading:
    """What the rule says of each head of each layer, and what the output then is on the sample."""

    answers: list[list[Answer]]
    sample: Sample
    outputs: list[tuple[str | None, Held]]
    stream: list[Held]

    @property
    def output(self) -> Held:
        """The only output."""
        ((_, held),) = self.outputs
        return held


def read(network: RawNetwork) -> Reading:
    """Read a network layer by layer."""
    temperatures = [head.temperature for layer in network.layers for head in layer.heads]
    sample = sample_for(network.alphabet, [*temperatures, *(form for _, form in network.positions)])
    stream = _start(network, sample)
    answers = []
    for layer in network.layers:
        found = [_head(head, stream, sample, network.head_width) for head in layer.heads]
        answers.append([answer for answer, _ in found])
        stream = _after_heads(layer, stream, [outputs for _, outputs in found], sample)
        stream = _after_hidden(layer, stream, sample)
    outputs = [(symbol, stream[coordinate]) for symbol, coordinate in network.outputs]
    return Reading(answers, sample, outputs, stream)


def _start(network: RawNetwork, sample: Sample) -> list[Held]:
    rows = [
        dict(zip(network.alphabet, column, strict=True)) for column in zip(*network.embedding, strict=True)
    ]
    stream: list[Held] = [Known({}, tuple(row[word[i - 1]] for word, i in sample.spots)) for row in rows]
    for c, form in network.positions:
        stream[c] = _added(stream[c], of_form(form, sample))
    return stream


def _added(left: Held, right: Held) -> Held:
    for held, other in ((left, right), (right, left)):
        if isinstance(held, NothingShownError):
            return held
        if isinstance(held, Integer):
            is_alone = isinstance(other, Known) and not (
                other.powers or other.digits or other.error or any(other.table)
            )
            return held if is_alone else NothingShownError("something is added to an integer")
    assert isinstance(left, Known)
    assert isinstance(right, Known)
    return left.plus(right)


def _head(head: RawHead, stream: Sequence[Held], sample: Sample, width: int) -> tuple[Answer, list[Held]]:
    """The answer, and what each value is after the head."""
    columns = [v for v, row in enumerate(head.w_o) if any(row)]
    if head.construction in ("uniform", "sign", "integer value", "nearest integer"):
        return _other_head(head, stream, sample, width)
    if head.construction != "select":
        return Unread(head.construction), [NothingShownError(f"a head of {head.construction}")] * len(columns)
    try:
        factors = _factors(head, stream, sample, width)
        cells = _cells(factors)
        choices = {cell: _choice(factors, cell, head.masking) for cell in set(cells)}
        answer = Selects(frozenset(_leads(choice, MASKS[head.masking][0]) for choice in choices.values()))
        values = [_exact(linear(stream, [row[v] for row in head.w_v], len(sample.spots))) for v in columns]
    except MisfitError as misfit:
        return Fails(str(misfit)), [NothingShownError("a head that fails")] * len(columns)
    except NothingShownError as reason:
        return Unread(str(reason)), [reason] * len(columns)
    here = [choices[cell] for cell in cells]
    return answer, [_chosen_value(here, head.masking, value, answer, sample) for value in values]


def _other_head(
    head: RawHead, stream: Sequence[Held], sample: Sample, width: int
) -> tuple[Answer, list[Held]]:
    """A head of whole numbers, or of averages, which are followed as they should be."""
    unknown: list[Held] = [
        NothingShownError(f"a head of {head.construction}") for row in head.w_o if any(row)
    ]
    try:
        values = integers.values_of(head, stream, sample)
        if head.construction == "sign":
            return Unread("sign"), integers.sign(head, stream, sample, width, values)
        scores = integers.scores_of(head, stream, sample, width)
        match head.construction:
            case "uniform":
                return Unread("uniform"), integers.uniform(scores, values)
            case "integer value":
                return integers.integer_value(scores, values)
            case _:
                return integers.nearest_integer(scores, values)
    except MisfitError as misfit:
        whole = head.construction in ("integer value", "nearest integer")
        return (Fails if whole else Unread)(str(misfit)), unknown
    except NothingShownError as reason:
        return Unread(str(reason)), unknown


def _factors(head: RawHead, stream: Sequence[Held], sample: Sample, width: int) -> _Factors:
    """The inverse temperature over the root of d_head, and the rows whose products depend on j."""
    root = isqrt(width)
    if root * root != width:
        raise NothingShownError("the root of d_head is no rational")
    temperature = of_form(head.temperature, sample)
    if not isinstance(temperature, Known) or temperature.digits:
        raise NothingShownError("the temperature is not followed")
    rows, size = [], len(sample.spots)
    for r in range(width):
        query = _exact(linear_with_mixed(stream, [row[r] for row in head.w_q], size))
        key = _exact(linear(stream, [row[r] for row in head.w_k], size))
        depends = any(p for p, _ in key.powers) or len(set(key.table)) > 1
        if depends and (query.powers or query.mixed or any(query.table)):
            rows.append((query, key))
    return _Factors(temperature.times(Fraction(1, root)), rows)


def _cells(factors: _Factors) -> list[Cell]:
    """At each spot the values of all factors at i."""
    at_i = [factors.cold, *(query for query, _ in factors.rows)]
    cells = list(
        zip(*(table for known in at_i for table in (known.table, *known.mixed.values())), strict=True)
    )
    if len(set(cells)) > MOST_CELLS:
        raise MisfitError("the factors at i have too many joint values")
    return cells


def _choice(factors: _Factors, cell: Cell, masking: str) -> _Choice:
    """The score as T t(j) + L(j), with the values of a cell in place of the factors at i."""
    values = iter(cell)
    mask, cold = MASKS[masking][0], _in_cell(factors.cold, values)
    ties: dict[int, Laurent] = {}
    terms: list[tuple[Laurent, Table]] = []
    for query, key in factors.rows:
        asked = times(cold, _in_cell(query, values))
        for (p, q), factor in key.powers.items():
            if p:
                own = times(asked, scaled(monomial(0, q), factor))
                ties[p] = plus(ties.get(p, {}), own)
        if len(set(key.table)) > 1:
            terms.append((asked, key.table))
    ties = {power: form for power, form in ties.items() if form}
    if len(ties) != 1 or not set(ties) <= {1, -1}:
        raise MisfitError(f"t(j) is made of the powers {sorted(ties)}")
    ((power, tie),) = ties.items()
    levels, level_of = _levels(terms, mask, len(factors.cold.table))
    return _Choice(power, power * at_shortest(tie, mask) > 0, tie, levels, level_of)


def _in_cell(known: Known, values: Iterator[Fraction]) -> Laurent:
    """What a factor at i is in a cell; takes the values of its tables."""
    form = plus(known.powers, constant(next(values)))
    for a, b in known.mixed:
        form = plus(form, scaled(monomial(a, b), next(values)))
    return form


def _exact(known: Known) -> Known:
    if known.error:
        raise MisfitError("it reads what is not exact")
    return known


def _levels(terms: Sequence[tuple[Laurent, Table]], mask: str, size: int) -> tuple[list[Laurent], list[int]]:
    """What the terms add up to: the forms that there are, the best first, and the one at each spot."""
    found: dict[tuple[Fraction, ...], Laurent] = {}
    places = list(zip(*(table for _, table in terms), strict=True)) or [()] * size
    for place in set(places):
        found[place] = plus(*(scaled(form, x) for (form, _), x in zip(terms, place, strict=True)))
    levels: list[Laurent] = []
    for form in found.values():
        if form not in levels:
            levels.append(form)
    levels.sort(key=lambda form: at_shortest(form, mask), reverse=True)
    number = {place: levels.index(form) for place, form in found.items()}
    return levels, [number[place] for place in places]


def _leads(choice: _Choice, mask: str) -> tuple[Lead, Lead | None]:
    """Behind, and ahead."""
    tie = tie_difference(choice.tie, choice.power)
    farther, nearer = (J, W) if choice.rightmost else (W, J)
    behind = lead(tie, mask, low=farther)
    if behind is None or behind.start <= 0:
        raise MisfitError("no lead over those further off")
    ahead = [
        lead(plus(of_four(minus(better, worse)), tie), mask, low=nearer)
        for better, worse in pairwise(choice.levels)
    ]
    found = [own for own in ahead if own is not None and own.start > 0]
    if len(found) != len(ahead):
        raise MisfitError("no lead over those on worse levels")
    return behind, worst(found) if found else None


def _chosen_value(
    choices: Sequence[_Choice], masking: str, value: Known, answer: Selects, sample: Sample
) -> Held:
    """The value at the position that is read, by the choice at i, and how far the head can be off."""
    if value.powers or value.digits:
        return NothingShownError("a head that reads powers of i or n")
    mask, strict = MASKS[masking]
    table: list[Fraction] = []
    begin = 0
    for word in sample.words:
        here = range(begin, begin + len(word))
        for i in here:
            visible = [j for j in here if _sees(mask, strict, i, j)]
            if not visible:
                table.append(Fraction(0))
                continue
            choice = choices[i]
            best = min(choice.level_of[j] for j in visible)
            level = [j for j in visible if choice.level_of[j] == best]
            table.append(value.table[level[-1] if choice.rightmost else level[0]])
        begin += len(word)
    spread = max(value.table) - min(value.table)
    return Known({}, tuple(table), spread * Fraction(answer.stray_mass))


def _sees(mask: str, strict: bool, i: int, j: int) -> bool:
    if i == j:
        return not strict
    return mask == "all" or (j < i) == (mask == "<=")


def _after_heads(
    layer: RawLayer, stream: Sequence[Held], outputs: Sequence[Sequence[Held]], sample: Sample
) -> list[Held]:
    after = list(stream)
    for head, values in zip(layer.heads, outputs, strict=True):
        for row, value in zip(filter(any, head.w_o), values, strict=True):
            for c, factor in enumerate(row):
                if factor:
                    after[c] = _added(
                        after[c], value if isinstance(value, NothingShownError) else value.times(factor)
                    )
    return after


def _after_hidden(layer: RawLayer, stream: Sequence[Held], sample: Sample) -> list[Held]:
    """Hidden units with one linear form are one piecewise linear function of the form's value."""
    after = list(stream)
    units: dict[tuple[Fraction, ...], list[int]] = {}
    for unit in range(len(layer.b_in)):
        units.setdefault(tuple(row[unit] for row in layer.w_in), []).append(unit)
    for form, members in units.items():
        for c in range(len(stream)):
            pieces = [(layer.b_in[unit], layer.w_out[unit][c]) for unit in members if layer.w_out[unit][c]]
            if pieces:
                after[c] = _added(after[c], _piecewise(stream, form, pieces, len(sample.spots)))
    return after


def _piecewise(
    stream: Sequence[Held], form: Sequence[Fraction], pieces: Sequence[tuple[Fraction, Fraction]], size: int
) -> Held:
    try:
        read_ = linear(stream, form, size)
    except NothingShownError as reason:
        return reason
    if read_.powers or read_.digits:
        return NothingShownError("hidden units that read powers of i or n")

    def value(s: Fraction) -> Fraction:
        return sum((factor * max(s + bias, Fraction(0)) for bias, factor in pieces), Fraction(0))

    error = Fraction(0)
    for s in set(read_.table):
        low, high = s - read_.error, s + read_.error
        bends = [-bias for bias, _ in pieces if low < -bias < high]
        error = max(error, *(abs(value(x) - value(s)) for x in (low, high, *bends)))
    values = {s: value(s) for s in set(read_.table)}
    return Known({}, tuple(values[s] for s in read_.table), error)
