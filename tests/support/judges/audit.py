"""The audit: what the checker says of every coordinate after every layer, against the network's own files.

A network is written to bytes and read twice: by the library, whose checker says of each coordinate what it
is at every position of every word and by how much it can be off, in real arithmetic and in floats; and by
`raw_files`, `raw_exact` and `raw_forward`, which import nothing of the library and run it. No language is
needed, so that a wrong fact in between is seen also where no output shows it.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import flint
import numpy as np

from attemper.checker.analysis import (
    PRECISION,
    Analysis,
    LayerFact,
    OneHot,
    SymbolFact,
    layer_fact,
    with_names,
)
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import Mean, NearestKey, UnprovenError, Whole
from attemper.checker.rounding.arithmetic import EXACT, UNKNOWN, Kernel, Off, OfInteger, OfNumber, PowersOfN
from attemper.checker.rounding.network import Rounding
from attemper.checker.sums import Sums
from attemper.checker.values import ResidualValues, Value, embedded
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FORMATS
from attemper.networks.layers import Network
from tests.support.judges.derived import Reading
from tests.support.judges.read_back import raw_of
from tests.support.oracles import raw_exact, raw_forward
from tests.support.oracles.raw_files import RawNetwork
from tests.support.oracles.raw_forward import batch_of, covered_ways

Numbers = tuple[int, ...]
"""A word, as numbers of symbols."""


@dataclass(frozen=True)
class Subject:
    """A network, what other positions are called where it is followed, and its groups that hold symbols."""

    name: str
    network: Network
    positions: Callable[[tuple[str, ...]], Sums]
    symbols: Mapping[int, Sequence[OneHot]] = field(default_factory=dict)
    is_loose: bool = False


@dataclass
class Tally:
    """How much was compared, by what it is, and what was found to be false."""

    counts: Counter[str] = field(default_factory=Counter)
    false: list[str] = field(default_factory=list)


def audit(subject: Subject, words: Sequence[Numbers], runs: int, rng: random.Random, tally: Tally) -> None:
    """Compare all that is said of a network on the words, exactly, and in floats on so many random ways."""
    tally.counts["networks"] += 1
    analysis = followed(subject)
    if analysis is None:
        return
    tally.counts["followed"] += 1
    tally.counts["layers"] += len(analysis.layers)
    tally.counts["whole"] += len(analysis.layers) == len(subject.network.layers)
    heads = [head for fact in analysis.layers for head in fact.heads]
    tally.counts.update(rule.construction.__name__ for head in heads for rule in head.rules)
    raw = raw_of(analysis.network)
    readings = [_reading(analysis, word) for word in words]
    kept = [number for number, reading in enumerate(readings) if keeps_promises(analysis, reading)]
    words, readings = [words[k] for k in kept], [readings[k] for k in kept]
    if not words:
        return
    false = list(_false_values(analysis, raw, words, readings, tally.counts))
    false += _false_floats(analysis, raw, words, readings, runs, rng, tally.counts)
    tally.false += [f"{subject.name}: {own}" for own in false]


def followed(subject: Subject) -> Analysis | None:
    """What the checker says of a network, of as many layers as it has rules for; None if of no layer."""
    network, named = subject.network, list[SymbolFact]()
    names = subject.positions(network.alphabet.symbols).names
    facts: list[LayerFact] = []
    try:
        start = stream = embedded(names, network)
        with precision(PRECISION):
            for number, layer in enumerate(network.layers):
                fact = layer_fact(names, layer, number, stream, subject.is_loose)
                stream = with_names(names, number, subject.symbols.get(number, ()), fact.after, named)
                facts.append(fact)
    except (UnprovenError, TooLargeError):
        if not facts:
            return None
    cut = Network(**{**vars(network), "layers": network.layers[: len(facts)]})
    return Analysis(cut, names, start, tuple(facts), tuple(named), stream)


def keeps_promises(analysis: Analysis, reading: Reading) -> bool:
    """Whether on this word at most one bit of each group is 1, which names of symbols take for granted."""
    places = range(1, reading.length + 1)
    return all(
        sum(reading.number(bit, i) for bit in fact.definitions) <= 1
        for fact in analysis.symbols
        for i in places
    )


def _reading(analysis: Analysis, word: Numbers) -> Reading:
    symbols = {(fact.layer, fact.group): fact.definitions for fact in analysis.symbols}
    return Reading(analysis.names, tuple(analysis.names.symbols[k] for k in word), symbols)


# In real arithmetic ---------------------------------------------------------------------------------------


def _false_values(
    analysis: Analysis,
    raw: RawNetwork,
    words: Sequence[Numbers],
    readings: Sequence[Reading],
    counts: Counter[str],
) -> Iterator[str]:
    """Each coordinate that is further from its value than its error, after each step of a layer."""
    stages = [("the embedding", analysis.start)]
    for number, fact in enumerate(analysis.layers):
        stages += [(f"the heads of layer {number}", fact.middle), (f"layer {number}", fact.after)]
    befores = [*(fact.before for fact in analysis.layers[1:]), analysis.end]
    for word, reading, streams in zip(words, readings, raw_exact.every_stream(raw, words), strict=True):
        said = [*zip(stages, streams, strict=True)]
        if analysis.symbols:
            said += [((f"naming layer {k}", b), streams[2 * k + 2]) for k, b in enumerate(befores)]
        for (place, stream), rows in said:
            counts["values"] += len(rows) * len(rows[0])
            for i, row in enumerate(rows, start=1):
                for coordinate, found in enumerate(row):
                    if wrong := _wrong_value(reading, stream, coordinate, i, found):
                        yield f"{word} at {i} after {place}: x{coordinate} is {found}, not {wrong}"


def _wrong_value(
    reading: Reading, stream: ResidualValues, coordinate: int, i: int, found: flint.arb
) -> str | None:
    low, high = reading.ends(stream.values[coordinate], i)
    error = error_of(reading, stream, coordinate, i)
    if low == high and not error:
        is_wrong = found != (ball(low) if low else 0)
    else:
        is_wrong = found < ball(low - error) or found > ball(high + error)
    if is_wrong:
        return f"{low}..{high} up to {float(error)}"
    return None


def error_of(reading: Reading, stream: ResidualValues, coordinate: int, i: int) -> Fraction:
    """The error that the checker states of a coordinate, in a word of this length."""
    length, bound = Fraction(reading.length), stream.vanishing.get(coordinate)
    if bound is None:
        return stream.errors[coordinate]
    error = bound.factor * length**bound.power
    step = stream.steps.get(coordinate)
    if step is None:
        return error
    return min(error, step.bound.factor * length**step.bound.power * _steps(reading, step.found, i))


def _steps(reading: Reading, found: int, i: int) -> int:
    """By how much a nearest key is away from its query, but at least one step."""
    whole = reading.names.quantities[found]
    assert isinstance(whole, NearestKey)
    return max(1, abs(reading.whole(found, i) - reading.whole(whole.query, i)))


# In floats ------------------------------------------------------------------------------------------------


def _false_floats(
    analysis: Analysis,
    raw: RawNetwork,
    words: Sequence[Numbers],
    readings: Sequence[Reading],
    runs: int,
    rng: random.Random,
    counts: Counter[str],
) -> Iterator[str]:
    """Each coordinate that a run in floats puts further from its value than is said."""
    batch = batch_of(words)
    for _ in range(runs):
        form, kernel = rng.choice(tuple(FORMATS.values())), rng.choice(tuple(Kernel))
        way = rng.choice(covered_ways(str(kernel)))
        try:
            bounds = Rounding(analysis, form).bounds_at(kernel, max(map(len, words)))
        except (UnprovenError, TooLargeError):
            continue
        some = _known(analysis.network, bounds.offs, is_whole=bounds.failure is None)
        counts["runs"] += bool(some)
        if not some:
            continue
        found = raw_forward.run_every_coordinate(raw, batch, raw_forward.FORMATS[form.name], way)
        for reading, rows in zip(readings, found, strict=True):
            for i in range(1, reading.length + 1):
                for c in some:
                    if wrong := _wrong_float(
                        reading, analysis.end, c, bounds.offs[c], i, float(rows[i - 1, c])
                    ):
                        yield f"{form.name}, {way}: {''.join(reading.word)} at {i}: x{c} is {wrong}"
            counts["floats"] += reading.length * len(some)


def _known(network: Network, offs: Sequence[Off], *, is_whole: bool) -> list[int]:
    """The coordinates of which something is said; where it is not said of all, those written once."""
    if is_whole:
        return list(range(len(offs)))
    writers = Counter(c for c, _ in network.positions)
    writers.update({c for form in network.embedding for c, _ in form})
    for layer in network.layers:
        writers.update(target for head in layer.heads for target in head.targets)
        writers.update({target for unit in layer.hidden for target, _ in unit.outputs})
    return [c for c, off in enumerate(offs) if off is not EXACT and writers[c] == 1]


def _wrong_float(
    reading: Reading, stream: ResidualValues, coordinate: int, off: Off, i: int, found: float
) -> str | None:
    value = stream.values[coordinate]
    low, high = reading.ends(value, i)
    allowed = allowed_of(reading, stream, coordinate, off, i)
    if allowed >= UNKNOWN:
        return None
    if (
        not np.isfinite(found)
        or flint.arb(found) < ball(low) - allowed
        or flint.arb(found) > ball(high) + allowed
    ):
        return f"{found!r}, not {low}..{high} up to {allowed}"
    return None


def allowed_of(reading: Reading, stream: ResidualValues, coordinate: int, off: Off, i: int) -> flint.arb:
    """How far a computed coordinate may be from its value at a position."""
    value = stream.values[coordinate]
    if isinstance(off, OfInteger):
        allowed = _at(off.growth, reading.length)
        step = stream.steps.get(coordinate)
        if step is not None and stream.steps_of(coordinate, step.found):
            allowed = allowed.min(_at(off.per_step, reading.length) * _steps(reading, step.found, i))
        return allowed
    assert isinstance(off, OfNumber), "a stream is not read through a normalisation"
    low, high = reading.ends(value, i)
    size = ball(max(abs(low), abs(high)))
    if low != high:
        return off.constant.max(off.average + off.relative * size)
    if _is_average(reading, value, i):
        return off.average + off.relative * size
    if not low:
        return off.at_zero
    if any(powers != (0, 0) for powers in value) and off.relative < UNKNOWN:
        return off.elsewhere.min(off.relative * size)
    return off.elsewhere


def _at(growth: PowersOfN, length: int) -> flint.arb:
    return sum((size * flint.arb(length) ** power for power, size in growth.items()), flint.arb(0))


def _is_average(reading: Reading, value: Value, i: int) -> bool:
    """Whether the value is made of an average of several positions, or of a ReLU of one."""
    for diagram in value.values():
        for number, _ in reading.terminal(diagram, i).parts:
            own = reading.names.quantities[number]
            if not isinstance(own, Whole | Mean):
                return True
            if isinstance(own, Mean) and len(reading.seen(own.masking, i)) > 1:
                return True
    return False
