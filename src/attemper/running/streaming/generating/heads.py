"""The heads of a stream as lines of Python, each for the kinds of keys that it has met.

The lines do what `step` of the head does, in its order, on variables in place of its state. Where a key is of
no kind that was met, or a number is as it should not be, they give up: `continue` goes on to the next symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import log
from sys import float_info
from typing import assert_never

from attemper.exact.closed_forms import Position
from attemper.running.streaming.averages import Averages
from attemper.running.streaming.generating.text import Text
from attemper.running.streaming.heads import NEGLIGIBLE
from attemper.running.streaming.keys import HeadScores
from attemper.running.streaming.planning import AnyHead
from attemper.running.streaming.recurrences import Recurrence
from attemper.running.streaming.residues import Geometric
from attemper.running.streaming.vertices import Vertex
from attemper.running.streaming.windows import Window

LIMIT = f"log(i) + {NEGLIGIBLE * log(2)!r}"
"""What `limit_at` does."""

VariableNames = Sequence[str]

Add = Callable[[VariableNames], None]
"""Writes the lines that add a position with these values to a kind."""

AccumulatorLines = tuple[list[Add], Callable[[VariableNames], VariableNames]]
"""Of each kind the lines that add to it; and the lines that read, where the stream has these names."""


def write_head(text: Text, head: AnyHead, x: VariableNames) -> VariableNames:
    """Write what the head does where the residual stream has the names x; the names of what it reads."""
    match head:
        case Averages():
            adds, read = _averages(text, head)
        case Recurrence():
            adds, read = _recurrence(text, head)
        case Window():
            adds, read = _window(text, head)
        case Geometric() | Vertex():
            # They keep nothing, and are asked themselves.
            queries, width = ", ".join(_queries(text, head.scores, x)), range(head.width)
            found = text.let(f"{text.bind(head.read)}(i, [{queries}], {text.once(LIMIT)})")
            return [text.let(f"{found}[{m}]") for m in width]
        case _:
            assert_never(head)
    if head.scores.is_strict:
        before = read(x)
        _see(text, head, x, adds)
        return before
    _see(text, head, x, adds)
    return read(x)


def _see(text: Text, head: Averages | Recurrence | Window, x: VariableNames, adds: Sequence[Add]) -> None:
    """Add the position to its kind."""
    scores = head.scores
    key = [text.once("i & 1")] if scores.has_parity else []
    key += [text.linear(scores.keys[row].content, x) for row in scores.contents]
    values = [text.linear(value, x) for value in head.values]
    for place, (kind, add) in enumerate(zip(head.kinds, adds, strict=True)):
        same = " and ".join(f"{have} == {number!r}" for have, number in zip(key, kind, strict=True))
        with text.block(f"{'elif' if place else 'if'} {same or True}:"):
            add(values)
    text.line("else: continue")


def _queries(text: Text, scores: HeadScores, x: VariableNames) -> VariableNames:
    cold = text.form(scores.cold)
    return [text.let(f"{cold} * {text.linear(query, x)}") for query in scores.queries]


def _top(text: Text, levels: VariableNames) -> str:
    """The largest, as `max` finds it."""
    top = text.let(levels[0])
    for level in levels[1:]:
        text.line(f"if {level} > {top}: {top} = {level}")
    return top


def _weighed(
    text: Text, peaks: VariableNames, weights: VariableNames, sums: Sequence[VariableNames]
) -> VariableNames:
    """The sums of all kinds, weighed by how far their peaks are below the best one, and averaged."""
    top = _top(text, peaks)
    factors = [text.let(f"exp({peak} - {top})") for peak in peaks]
    weight, *totals = (
        text.sum([f"{factor} * {own}" for factor, own in zip(factors, column, strict=True)])
        for column in (weights, *zip(*sums, strict=True))
    )
    return _averaged(text, totals, weight)


def _averaged(text: Text, sums: VariableNames, weight: str) -> VariableNames:
    text.line(f"if not 0.0 < {weight} <= {float_info.max!r}: continue")
    return [text.let(f"{total} / {weight}") for total in sums]


def _averages(text: Text, head: Averages) -> AccumulatorLines:
    counts, sums, lost = [], [], []
    for kind in head.kinds.values():
        own, width = text.bind(kind), range(len(head.values))
        counts.append(text.keep(f"{own}.count", "float({})", "int({})"))
        sums.append([text.keep(f"{own}.sums[{m}]") for m in width])
        lost.append([text.keep(f"{own}.lost[{m}]") for m in width])

    def adding(count: str, sums: VariableNames, lost: VariableNames) -> Add:
        def add(values: VariableNames) -> None:
            text.line(f"{count} += 1.0")
            for total, rest, value in zip(sums, lost, values, strict=True):
                text.line(f"new = {total} + {value}; part = new - {total}")
                text.line(f"{rest} += ({total} - (new - part)) + ({value} - part); {total} = new")

        return add

    def read(x: VariableNames) -> VariableNames:
        whole = [
            [f"({total} + {rest})" for total, rest in zip(*both, strict=True)]
            for both in zip(sums, lost, strict=True)
        ]
        if len(counts) == 1:
            return [text.let(f"{total} / {counts[0]}") for total in whole[0]]
        q = _queries(text, head.scores, x)
        levels = [text.linear(head.scores.level(key), q) for key in head.kinds]
        return _weighed(text, levels, counts, whole)

    return list(map(adding, counts, sums, lost)), read


def _recurrence(text: Text, head: Recurrence) -> AccumulatorLines:
    kinds = list(head.kinds.items())
    bests, weights, sums = [], [], []
    for _, kind in kinds:
        own = text.bind(kind)
        bests.append(text.keep(f"{own}.best"))
        weights.append(text.keep(f"{own}.weight"))
        sums.append([text.keep(f"{own}.sums[{m}]") for m in range(len(head.values))])

    def adding(slope: float, best: str, weight: str, sums: VariableNames) -> Add:
        def add(values: VariableNames) -> None:
            text.line(f"factor = exp({-abs(slope)!r} * (i - {best}))")
            if slope < 0.0:
                text.line(f"{weight} += factor")
            else:
                text.line(f"{weight} = 1.0 + factor * {weight}; {best} = i")
            for total, value in zip(sums, values, strict=True):
                new = f"{total} + factor * {value}" if slope < 0.0 else f"{value} + factor * {total}"
                text.line(f"{total} = {new}")

        return add

    def read(x: VariableNames) -> VariableNames:
        q = _queries(text, head.scores, x)
        peaks = [
            text.let(f"{text.linear(head.scores.level(key), q)} + {kind.slope!r} * {best}")
            for (key, kind), best in zip(kinds, bests, strict=True)
        ]
        return _weighed(text, peaks, weights, sums)

    return list(map(adding, (kind.slope for _, kind in kinds), bests, weights, sums)), read


def _window(text: Text, head: Window) -> AccumulatorLines:
    scores, kinds = head.scores, []
    # Floats are faster, and their products are exact while positions are small.
    place, kind_of = (text.form(Position()), "float") if text.is_near else ("i", "int")
    read_as, kept_as = (f"[({of}(j), v) for j, v in {{}}]" for of in (kind_of, "int"))
    for kind in head.kinds.values():
        own = text.bind(kind)
        first = text.keep(f"{own}.first", read_as, kept_as)
        last = text.keep(f"{own}.last", f"deque({read_as}, {head.kept_last})", f"deque({kept_as})")
        kinds.append((text.keep(f"{own}.count"), first, last))

    def adding(count: str, first: str, last: str) -> Add:
        def add(values: VariableNames) -> None:
            text.line(f"new = ({place}, ({''.join(f'{value}, ' for value in values)}))")
            if head.kept_first:
                text.line(f"if {count} < {head.kept_first}: {first}.append(new)")
            text.line(f"{count} += 1")
            text.line(f"{last}.appendleft(new)")

        return add

    def read(x: VariableNames) -> VariableNames:
        q = _queries(text, scores, x)
        found = []
        for key, kind in zip(head.kinds, kinds, strict=True):
            slope = text.linear(scores.slope(key), q)
            members = _better_end(text, head, slope, *kind)
            best = text.let(f"{members}[0][0]")
            lead = f"{slope} / {best}" if scores.is_inverse else f"{slope} * {best}"
            peak = text.let(f"{text.linear(scores.level(key), q)} + {lead}")
            found.append((peak, slope, best, members, kind[0]))
        top, least = _top(text, [peak for peak, *_ in found]), text.once(f"-({LIMIT})")
        weight, sums = text.let("0.0"), [text.let("0.0") for _ in head.values]
        parts = "".join(f"v{m}, " for m in range(len(sums)))
        for peak, slope, best, members, count in found:
            text.line(f"lead = {peak} - {top}")
            with text.block(f"for j, ({parts}) in {members}:"):
                step = f"(({best} - j) / (j * {best}))" if scores.is_inverse else f"(j - {best})"
                text.line(f"score = lead + {slope} * {step}")
                text.line(f"if score < {least}: break")
                text.line(f"factor = exp(score); {weight} += factor")
                for m, total in enumerate(sums):
                    text.line(f"{total} += factor * v{m}")
            with text.block("else:"):
                text.line(f"if {count} > len({members}): continue")
        return _averaged(text, sums, weight)

    return [adding(*kind) for kind in kinds], read


def _better_end(text: Text, head: Window, slope: str, count: str, first: str, last: str) -> str:
    """The members that are kept of a kind, the best first."""
    late = f"not {slope} > 0.0" if head.scores.is_inverse else f"{slope} > 0.0"
    if head.kept_first and head.kept_last:
        return text.let(f"{last} if {late} else {first}")
    kept, other = (last, f"not ({late})") if head.kept_last else (first, late)
    members = text.let(kept)
    with text.block(f"if {other}:"):
        text.line(f"if {count} > len({kept}): continue")
        text.line(f"{members} = [*reversed({kept})]")
    return members
