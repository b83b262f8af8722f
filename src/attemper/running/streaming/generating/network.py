"""A network that reads one symbol at a time, as a function of straight-line Python."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from types import CodeType
from typing import Any

from attemper.errors import AttemperError
from attemper.exact.closed_forms import Alternating, Position, Sum, Test
from attemper.running.engines.scan.shapes import Combination
from attemper.running.streaming.generating.heads import VariableNames, write_head
from attemper.running.streaming.generating.text import NEAR, Text
from attemper.running.streaming.heads import Keeping
from attemper.running.streaming.planning import AnyHead
from attemper.running.streaming.steps import StreamingLayer, StreamingNetwork

OutputsWithMargin = tuple[tuple[float, ...], float]
"""The outputs at a position, and the smallest margin up to there."""

GIVES_UP = (ArithmeticError, ValueError, AttemperError)


def generated(
    steps: StreamingNetwork, position: int, margin: float
) -> Generator[OutputsWithMargin | None, int | None, None]:
    """What `steps.step` does with each token, as one function, for the kinds of keys that its heads have met.

    It begins with their state at that position, and gives them their state where None is sent in place of a
    token. Where it cannot tell what to do, as a key is of another kind or a number is not finite, it yields
    None and is not asked again: from what the heads have, `steps.step` does it, or says what is wrong.
    """
    text = Text(is_near=position < NEAR)
    with text.block("try:"):
        text.line("i += 1")
        x = _embedded(text, steps)
        for layer in steps.layers:
            _layer(text, layer, x)
    text.line(f"except {text.bind(GIVES_UP)}: continue")
    text.line(f"found = ({''.join(f'{x[c]}, ' for c in steps.outputs)}), margin")
    each = [
        "token = yield found",
        "found = None",
        "if token is None:",
        *_indented([*text.stores, "continue"]),
    ]
    whole = [*text.loads, "found = None", "while True:", *_indented([*each, *text.lines])]
    exec(_code("\n".join(["def stream(i, margin, exp=exp, log=log):", *_indented(whole)])), text.objects)
    function: Any = text.objects["stream"]
    made: Generator[OutputsWithMargin | None, int | None, None] = function(position, margin)
    next(made)
    return made


def _indented(lines: Sequence[str]) -> list[str]:
    return [f" {line}" for line in lines]


@lru_cache(maxsize=16)
def _code(text: str) -> CodeType:
    """What Python makes of a text, once for all streams of a network."""
    return compile(text, "<stream>", "exec")


def _embedded(text: Text, steps: StreamingNetwork) -> list[str]:
    """The residual stream before the first layer."""
    columns = list(zip(*steps.rows, strict=True))
    x = [repr(column[0]) for column in columns]
    varied = [c for c, column in enumerate(columns) if len(set(map(repr, column))) > 1]
    if varied:
        rows = text.bind(tuple(tuple(row[c] for c in varied) for row in steps.rows))
        text.line(f"{''.join(f'x{c}, ' for c in varied)} = {rows}[token]")
        for c in varied:
            x[c] = f"x{c}"
    for c, form in steps.positions:
        # These are never -0.0, which 0.0 would change.
        is_it = x[c] == "0.0" and isinstance(form, Position | Alternating | Test | Sum)
        x[c] = text.form(form) if is_it else text.let(f"{x[c]} + {text.form(form)}")
    return x


def _head(
    text: Text, head: AnyHead, x: VariableNames, twins: dict[str, tuple[Keeping, VariableNames]]
) -> VariableNames:
    """What the head reads: the same as its twin in the layer, where both have the same state."""
    if not isinstance(head, Keeping):
        return write_head(text, head, x)
    key = repr((type(head), replace(head.scores, name=""), head.values, head.rows()))
    if key in twins:
        text.stores.append(f"{text.bind(_take_state)}({text.bind(head)}, {text.bind(twins[key][0])})")
    else:
        twins[key] = head, write_head(text, head, x)
    return twins[key][1]


def _take_state(head: Any, twin: Any) -> None:
    head.kinds = deepcopy(twin.kinds)


def _layer(text: Text, layer: StreamingLayer, x: list[str]) -> None:
    """Heads read the stream before any of them writes to it, and so do hidden units."""
    twins: dict[str, tuple[Keeping, VariableNames]] = {}
    found = [(_head(text, head, x, twins), targets) for head, targets in layer.heads]
    for names, targets in found:
        for name, target in zip(names, targets, strict=True):
            x[target] = text.let(f"{x[target]} + {name}")
    seen: dict[int, tuple[str, Combination]] = {}
    for form, units in layer.sums:
        total = text.linear(form, x)
        seen |= {unit: (text.let(f"{total} + {bias!r}"), outputs) for unit, bias, outputs in units}
    for target in {target for _, outputs in seen.values() for target, _ in outputs}:
        x[target] = text.let(x[target])
    for name, outputs in seen.values():
        if outputs:
            with text.block(f"if not {name} <= 0.0:"):
                for target, factor in outputs:
                    text.line(f"{x[target]} += {name if factor == 1.0 else f'{factor!r} * {name}'}")
    _clamps(text, layer, {unit: name for unit, (name, _) in seen.items()})


def _clamps(text: Text, layer: StreamingLayer, seen: dict[int, str]) -> None:
    """The smallest margin of the layer's clamps, as `min` and `max` find it."""
    margins = []
    for low, high in layer.clamps:
        margins.append(text.let(f"-{seen[low]}"))
        text.line(f"if {seen[high]} > {margins[-1]}: {margins[-1]} = {seen[high]}")
    for other in margins[1:]:
        text.line(f"if {other} < {margins[0]}: {margins[0]} = {other}")
    if margins:
        text.line(f"if {margins[0]} < margin: margin = {margins[0]}")
