"""The exact part of the construction *Select* again (FORMAT.md sections 0, 4 and 5), on raw files.

Forms of i and n are compared for all lengths, as the text says. Which values a diagram takes is read off a
sample of words, on which each head is run as the hard attention that the rule says it approximates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, isqrt

from tests.support.oracles.second_reader import integers
from tests.support.oracles.second_reader.forms import NothingShownError
from tests.support.oracles.second_reader.integers import MisfitError, Nearests, Values
from tests.support.oracles.second_reader.laurent import (
    Laurent,
    constant,
    least_ratio,
    minus,
    monomial,
    plus,
    scaled,
    times,
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
    """The rule applies, in every cell: far is None where b takes one value."""

    gap: Fraction
    far: Fraction | None
    stray_mass: float


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
    """How a head chooses: t, and what is blocked by how much (None: nothing)."""

    power: int
    rightmost: bool
    tie: Laurent
    levels: tuple[Laurent, Table] | None


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
        answer = _worst([_bounds(choice, MASKS[head.masking][0]) for choice in choices.values()])
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
    """The score as G t(j) - P b(j), with the values of a cell in place of the factors at i."""
    values = iter(cell)
    cold = _in_cell(factors.cold, values)
    ties: dict[tuple[int, Fraction], Laurent] = {}
    blocks: dict[Table, Laurent] = {}
    for query, key in factors.rows:
        asked = times(cold, _in_cell(query, values))
        if not asked:
            continue
        for (p, q), factor in key.powers.items():
            if p:
                own = times(asked, scaled(monomial(0, q), factor))
                ties[p, factor] = plus(ties.get((p, factor), {}), own)
        if len(set(key.table)) > 1:
            blocks[key.table] = plus(blocks.get(key.table, {}), asked)
    ties = {name: form for name, form in ties.items() if form}
    if len(ties) != 1 or not {p for p, _ in ties} <= {1, -1}:
        raise MisfitError(f"t(j) is made of the multiples {sorted(ties)}")
    (((power, _), tie),) = ties.items()
    positive = _is_positive(tie, MASKS[masking][0])
    return _Choice(
        power,
        (power == 1) == positive,
        tie if positive else scaled(tie, -1),
        _levels([(form, table) for table, form in blocks.items() if form], masking),
    )


def _in_cell(known: Known, values: Iterator[Fraction]) -> Laurent:
    """What a factor at i is in a cell; takes the values of its tables."""
    form = plus(known.powers, constant(next(values)))
    for a, b in known.mixed:
        form = plus(form, scaled(monomial(a, b), next(values)))
    return form


def _worst(answers: Sequence[Selects]) -> Selects:
    return Selects(
        min(answer.gap for answer in answers),
        min((answer.far for answer in answers if answer.far is not None), default=None),
        max(answer.stray_mass for answer in answers),
    )


def _exact(known: Known) -> Known:
    if known.error:
        raise MisfitError("it reads what is not exact")
    return known


def _is_positive(form: Laurent, mask: str) -> bool:
    """Which of the form and its negative is above 0 everywhere, as far as the value at one place tells."""
    least = least_ratio(form, constant(1), mask)
    most = least_ratio(scaled(form, -1), constant(1), mask)
    if (least is None or least <= 0) and (most is None or most <= 0):
        # A form that falls to 0 is positive, too, but has no least value: its gap says so.
        return sum(form.values(), Fraction(0)) > 0
    return least is not None and least > 0


def _levels(blocks: Sequence[tuple[Laurent, Table]], masking: str) -> tuple[Laurent, Table] | None:
    """P, positive, and b with the least value 0; None if b is constant."""
    by_form: dict[tuple[tuple[tuple[int, int], Fraction], ...], Table] = {}
    for form, table in blocks:
        first = form[max(form)]
        key = tuple(sorted(scaled(form, 1 / first).items()))
        before = by_form.get(key, (Fraction(0),) * len(table))
        by_form[key] = tuple(x + first * y for x, y in zip(before, table, strict=True))
    if not by_form:
        return None
    if len(by_form) > 1:
        raise MisfitError("terms that are no multiples of one P")
    ((form_, table),) = by_form.items()
    if len(set(table)) == 1:
        return None
    sign = 1 if _is_positive(dict(form_), MASKS[masking][0]) else -1
    best = max(sign * x for x in table)
    return scaled(dict(form_), sign), tuple(best - sign * x for x in table)


def _bounds(choice: _Choice, mask: str) -> Selects:
    """Gap, far and the stray mass."""
    reach = monomial(1, 0) if mask == "<=" else monomial(0, 1)
    gap = least_ratio(choice.tie, constant(1) if choice.power == 1 else times(reach, reach), mask)
    if gap is None or gap <= 0:
        raise MisfitError("no gap")
    r = exp(-gap)
    far = None if choice.levels is None else _far(choice, choice.levels, mask, reach)
    bound = r / (1 - r) + (0 if far is None else exp(-far))
    return Selects(gap, far, bound / (1 + bound))


def _far(choice: _Choice, levels: tuple[Laurent, Table], mask: str, reach: Laurent) -> Fraction:
    visible: Mapping[str, Laurent] = {
        "<=": monomial(1, 0),
        ">=": plus(minus(monomial(0, 1), monomial(1, 0)), constant(1)),
        "all": monomial(0, 1),
    }
    others = minus(visible[mask], constant(1))
    form, table = levels
    values = sorted(set(table))
    pushed = scaled(form, min(y - x for x, y in pairwise(values)))
    if choice.power == 1:
        behind = minus(pushed, times(choice.tie, others))
    else:
        inverse = {(-a, -b): value for (a, b), value in reach.items()}
        behind = plus(minus(pushed, choice.tie), times(choice.tie, inverse))
    far = least_ratio(plus(minus(behind, others), constant(1)), constant(1), mask)
    half = least_ratio(plus(minus(scaled(behind, Fraction(1, 2)), others), constant(1)), constant(1), mask)
    if far is None or far <= 0 or half is None or half <= 0:
        raise MisfitError("blocked positions can win")
    return far


def _chosen_value(
    choices: Sequence[_Choice], masking: str, value: Known, answer: Selects, sample: Sample
) -> Held:
    """The value at the position that is read, by the choice at i, and how far the head can be off."""
    if value.powers or value.digits:
        return NothingShownError("a head that reads powers of i or n")
    mask, strict = MASKS[masking]
    nothing = (Fraction(0),) * len(value.table)
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
            levels = choice.levels[1] if choice.levels else nothing
            best = min(levels[j] for j in visible)
            level = [j for j in visible if levels[j] == best]
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
