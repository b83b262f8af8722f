"""What steps are called where nobody has named them: by what they say, each by a name of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import assert_never, final

from attemper.attention_program import ops
from attemper.exact import closed_forms
from attemper.exact.closed_forms import ClosedForm, show_form
from attemper.exact.predicates import show_predicate
from attemper.languages.temporal.show import show_symbol

LABEL_WIDTH = 60
"""Longer names are cut."""

PART_WIDTH = 24
"""What a step reads is cut to that, where the whole would be too long."""

_WHERE = {
    ops.Mask.UP_TO: "up to i",
    ops.Mask.BEFORE: "before i",
    ops.Mask.FROM: "from i on",
    ops.Mask.AFTER: "after i",
    ops.Mask.ALL: "anywhere",
}


@final
class DistinctNames:
    """Names so far: one that is given again gets a number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._times = dict.fromkeys(taken, 1)

    def new(self, name: str) -> str:
        """The name, or with a number behind it if there is such a one.

        >>> names = DistinctNames(["a", "a #2"])
        >>> names.new("b"), names.new("a"), names.new("a")
        ('b', 'a #3', 'a #4')
        """
        number = self._times.get(name, 0) + 1
        found = name if number == 1 else f"{name} #{number}"
        while found in self._times:
            number += 1
            found = f"{name} #{number}"
        self._times |= {found: 1, name: number}
        return found


def step_names(program: ops.Program, given: Mapping[ops.Ref, str]) -> tuple[str, ...]:
    """A name for each step: the given one, or what it does to those that it reads. No two have one name.

    >>> from attemper.languages.words import Alphabet
    >>> bits = (ops.Letter(("a",)), ops.Shift(ops.Direction.PREVIOUS, 0), ops.Not(1))
    >>> nearest = ops.Attend(ops.Mask.BEFORE, ops.Choice.RIGHTMOST, ops.everywhere(0), 2, None)
    >>> step_names(ops.Program(Alphabet(("a", "b")), (*bits, nearest), 3), {1: "late"})
    ('a', 'late', 'not late', '(not late) at rightmost a before i')
    """
    names: list[str] = []
    distinct = DistinctNames()
    for ref, step in enumerate(program.steps):
        names.append(distinct.new(short(given.get(ref) or _said(step, names))))
    return tuple(names)


def short(text: str, width: int = LABEL_WIDTH) -> str:
    """A text as it fits into a label."""
    return text if len(text) <= width else f"{text[: width - 3].rstrip('.')}..."


def _said(step: ops.Step, names: list[str]) -> str:
    whole = _text(step, lambda ref: _part(names[ref], LABEL_WIDTH))
    return whole if len(whole) <= LABEL_WIDTH else _text(step, lambda ref: _part(names[ref], PART_WIDTH))


def _part(name: str, width: int) -> str:
    """A step as another one reads it: in brackets, if it has blanks and no brackets around it."""
    name = short(name, width)
    return f"({name})" if " " in name and not re.fullmatch(r"\([^()]*\)|\[[^][]*\]", name) else name


def _place(form: ClosedForm) -> str:
    match form:
        case closed_forms.Number(value) if value in {0, 1}:
            return "true" if value else "false"
        case closed_forms.Sum(
            (closed_forms.Number(1), closed_forms.Product((closed_forms.Number(-1), inner)))
        ):
            return f"not {show_form(inner)}"
        case _:
            return show_form(form)


def _text(step: ops.Step, part: Callable[[ops.Ref], str]) -> str:
    match step:
        case ops.Letter(symbols):
            return " or ".join(map(show_symbol, symbols)) or "no letter"
        case ops.Place(form):
            return _place(form)
        case ops.Not(bit):
            return f"not {part(bit)}"
        case ops.Gate(ops.Connective.AND | ops.Connective.XOR as connective, bits):
            return f" {connective} ".join(map(part, bits)) or f"{connective} of nothing"
        case ops.Gate(_, bits) | ops.Merge(bits):
            return " or ".join(map(part, bits)) or "or of nothing"
        case ops.Table(bits, _):
            return f"table of {', '.join(map(part, bits))}"
        case ops.Attend() | ops.Nearest() | ops.Matched() | ops.Shift():
            return _looking(step, part)
        case ops.Count() | ops.Linear() | ops.Compare() | ops.Equals() | ops.CountTest():
            return _counting(step, part)
        case _:
            assert_never(step)


def _looking(step: ops.Looking, part: Callable[[ops.Ref], str]) -> str:
    match step:
        case ops.Attend(mask, choice, cases, value, _):
            sought = ", ".join(
                part(there) if here is None else f"{part(here)}:{part(there)}" for here, there in cases
            )
            found = f"{choice} {sought} {_WHERE[mask]}"
            return found if value == step.where else f"{part(value)} at {found}"
        case ops.Nearest(mask, choice, where, query, key, value):
            return (
                f"{part(value)} at {choice} {part(where)} with {part(key)} near {part(query)} {_WHERE[mask]}"
            )
        case ops.Matched(mask, choice, where, query, key):
            return f"{choice} {part(where)} with {part(key)} = {part(query)} {_WHERE[mask]}"
        case ops.Shift(direction, bit, distance, _):
            return f"{direction} {part(bit)}" if distance == 1 else f"{direction} {distance} {part(bit)}"
        case _:
            assert_never(step)


def _counting(step: ops.CountStep | ops.Comparing, part: Callable[[ops.Ref], str]) -> str:
    match step:
        case ops.Count(mask, bit):
            return f"count of {part(bit)} {_WHERE[mask]}"
        case ops.Linear(parts, constant):
            terms = [part(count) if factor == 1 else f"{factor} {part(count)}" for factor, count in parts]
            return " + ".join([*terms, *([str(constant)] if constant or not terms else [])])
        case ops.Compare(count, threshold):
            return f"{part(count)} >= {threshold}"
        case ops.Equals(count, value):
            return f"{part(count)} = {value}"
        case ops.CountTest(predicate, count, scale, shift):
            scaled = part(count) if scale == 1 else f"{scale} {part(count)}"
            return show_predicate(predicate, f"{scaled} + {shift}" if shift else scaled)
        case _:
            assert_never(step)
