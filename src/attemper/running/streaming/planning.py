"""Which state a head needs in a stream, from its raw weights, mask and closed forms; or why it has none.

Labels, and what a head is said to be for, are never read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ClosedForm, depends_on_length
from attemper.networks.constants import written_by
from attemper.networks.layers import Coordinate, Head, LinearForm, Masking, Network, Softmax
from attemper.running.engines.scan.shapes import Combination, KeyRow, key_row
from attemper.running.engines.scan.waves import WaveSum, waves_of
from attemper.running.streaming.averages import Averages
from attemper.running.streaming.forms import OfPosition, position_function
from attemper.running.streaming.keys import MOST_KINDS, HeadScores, wave_sum
from attemper.running.streaming.recurrences import Recurrence
from attemper.running.streaming.residues import Geometric
from attemper.running.streaming.vertices import Vertex
from attemper.running.streaming.windows import MOST_KEPT, Window, kept_for

AS_IF = 1
"""Closed forms without n are the same at every length: they are read as of words of this one."""

REMEDY = "run whole words instead"

AnyHead = Averages | Recurrence | Window | Geometric | Vertex
"""A head of a stream."""


@final
@dataclass(frozen=True)
class KnownStream:
    """What is known of the residual stream, whatever the word is.

    `pure` coordinates hold a position embedding and nothing else; `lettered` ones only what the word
    embedding writes; `unknown` ones hold an n.
    """

    network: Network
    pure: dict[Coordinate, ClosedForm]
    lettered: frozenset[Coordinate]
    unknown: frozenset[Coordinate]


def stage_of(network: Network) -> KnownStream:
    """What is known of the residual stream of a network."""
    positions, written = dict(network.positions), written_by(network.layers)
    embedded = {coordinate for form in network.embedding for coordinate, _ in form}
    return KnownStream(
        network,
        {c: form for c, form in positions.items() if c not in written | embedded},
        frozenset(range(len(network.coordinates))) - written - set(positions),
        frozenset(c for c, form in positions.items() if depends_on_length(form)),
    )


def streaming_head(stage: KnownStream, name: str, head: Head) -> AnyHead:
    """What streams the head; raises `UnsupportedError` with its name and why nothing can."""
    cold = _require_past(stage, name, head)
    pairs = [(_floats(query), _floats(key)) for query, key in zip(head.query, head.key, strict=True)]
    pairs = [(query, key) for query, key in pairs if query and key]
    keys = tuple(key_row(key, stage.pure, AS_IF) for _, key in pairs)
    queries = tuple(key_row(query, stage.pure, AS_IF) for query, _ in pairs)
    values = tuple(map(_floats, head.values))
    powers = {power for key in keys for power, _ in key.waves} - {0}
    scores = HeadScores(
        name,
        head.masking.is_strict,
        cold,
        tuple(query for query, _ in pairs),
        keys,
        any(flag for key in keys for _, flag in key.waves),
        min(powers, default=0) < 0,
    )
    kinds = _most_kinds(stage, scores)
    if not powers:
        return Averages(scores, values, kinds)
    if powers in ({1}, {-1}):
        return _linear(stage, scores, values, kinds, _slopes(scores, queries, waves_of(cold, AS_IF)))
    if powers <= {1, 2} or powers <= {-1, -2}:
        return _vertex(stage, scores, values)
    raise UnsupportedError(f"{name} has scores that are no parabola of the position: {REMEDY}")


def require_known(stage: KnownStream, name: str, read: Iterable[LinearForm]) -> None:
    """Raises `UnsupportedError` if one of the linear forms reads n."""
    if any(coordinate in stage.unknown for form in read for coordinate, _ in form):
        raise UnsupportedError(f"{name} reads n, which a stream does not know: {REMEDY}")


def _require_past(stage: KnownStream, name: str, head: Head) -> ClosedForm:
    """The inverse temperature of a soft head that looks to the past and does not read n."""
    if head.masking.weak is not Masking.FUTURE:
        raise UnsupportedError(f"{name} looks at positions after it: {REMEDY}")
    if not isinstance(head.weighting, Softmax):
        raise UnsupportedError(f"{name} has hard attention, and a stream is softmax: {REMEDY}")
    require_known(stage, name, (*head.query, *head.key, *head.values))
    cold = head.weighting.inverse_temperature
    if depends_on_length(cold):
        raise UnsupportedError(
            f"{name} has a temperature that reads n, which a stream does not know: {REMEDY}"
        )
    return cold


def _linear(
    stage: KnownStream,
    scores: HeadScores,
    values: tuple[Combination, ...],
    kinds: int,
    slopes: tuple[tuple[Fraction, int] | None, ...],
) -> AnyHead:
    """A head whose score in a kind is level + slope g; `slopes` are c and e of c i^e, if that is known."""
    known = [slope for slope in slopes if slope is not None]
    constants = [c for c, e in known if e == 0 or not c]
    if len(constants) == len(slopes) and not scores.is_inverse:
        return Recurrence(scores, values, kinds, (float(constants[0]), float(constants[-1])))
    by_parity = _values_by_parity(stage, values)
    if by_parity is not None and not scores.contents and not scores.is_inverse:
        wide = scores if scores.has_parity or by_parity[0] == by_parity[1] else _with_parity(scores)
        return Geometric(wide, by_parity)
    if len(known) < len(slopes):
        return Window(scores, values, kinds, MOST_KEPT, first=True, last=True)
    late = {(c > 0) is not scores.is_inverse for c, _ in known if c}
    least = 2 if scores.is_inverse else 0
    kept = max(kept_for(c) if e >= least else MOST_KEPT for c, e in known)
    return Window(scores, values, kinds, kept, first=late != {True}, last=late != {False})


def _vertex(stage: KnownStream, scores: HeadScores, values: tuple[Combination, ...]) -> AnyHead:
    """A lookup whose values are position embeddings."""
    if scores.contents:
        raise UnsupportedError(
            f"{scores.name} looks for numbers that are written at j, so that its state would grow: {REMEDY}"
        )
    if any(coordinate not in stage.pure for form in values for coordinate, _ in form):
        raise UnsupportedError(
            f"{scores.name} looks up what is written at j, so that its state would grow: {REMEDY}"
        )
    return Vertex(scores, tuple(_of_position(stage, form) for form in values))


def _of_position(stage: KnownStream, form: Combination) -> OfPosition:
    """A linear form of pure coordinates as a function of the position."""
    parts = [(factor, position_function(stage.pure[coordinate])) for coordinate, factor in form]
    return lambda j: sum(factor * part(j) for factor, part in parts)


def _slopes(
    scores: HeadScores, queries: tuple[KeyRow, ...], cold: WaveSum | None
) -> tuple[tuple[Fraction, int] | None, ...]:
    """For even and, if keys have a parity, odd positions: c and e where the slope is c i^e, else None."""
    power = -1 if scores.is_inverse else 1
    signs = (1, -1) if scores.has_parity else (1,)
    return tuple(_slope(scores, queries, cold, power, sign) for sign in signs)


def _slope(
    scores: HeadScores, queries: tuple[KeyRow, ...], cold: WaveSum | None, power: int, sign: int
) -> tuple[Fraction, int] | None:
    total: WaveSum = {}
    for query, key in zip(queries, scores.keys, strict=True):
        factor = wave_sum(key, power, sign)
        if factor and query.content:
            return None
        for name, own in query.waves.items():
            total[name] = total.get(name, Fraction(0)) + factor * own
    found = [(name, c) for name, c in total.items() if c]
    if not found:
        return Fraction(0), 0
    if len(found) > 1 or cold is None or len(cold) != 1:
        return None
    ((exponent, flag), c), ((other, flags), temperature) = found[0], next(iter(cold.items()))
    return None if flag or flags else (c * temperature, exponent + other)


def _values_by_parity(
    stage: KnownStream, values: tuple[Combination, ...]
) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """The values at even and at odd positions, if all of one parity have the same; else None."""
    rows = [key_row(form, stage.pure, AS_IF) for form in values]
    if any(row.content or any(power for power, _ in row.waves) for row in rows):
        return None
    even, odd = (tuple(float(wave_sum(row, 0, sign)) for row in rows) for sign in (1, -1))
    return even, odd


def _with_parity(scores: HeadScores) -> HeadScores:
    """The same scores, where positions of another parity are of another kind."""
    return HeadScores(
        scores.name, scores.is_strict, scores.cold, scores.queries, scores.keys, True, scores.is_inverse
    )


def _most_kinds(stage: KnownStream, scores: HeadScores) -> int:
    """The most kinds of keys that there can be."""
    contents = [scores.keys[row].content for row in scores.contents]
    if any(c not in stage.lettered for content in contents for c, _ in content):
        return MOST_KINDS * scores.stride
    rows = [{c: float(x) for c, x in form} for form in stage.network.embedding]
    seen = {tuple(sum(x * row.get(c, 0.0) for c, x in own) for own in contents) for row in rows}
    return min(len(seen), MOST_KINDS) * scores.stride


def _floats(form: LinearForm) -> Combination:
    """The linear form in float64, which its weights are exactly."""
    return tuple((coordinate, float(factor)) for coordinate, factor in form)
