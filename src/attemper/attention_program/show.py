"""The attention program as text, one step a line; `parse.parse_steps` reads it back.

alphabet ["a", "b"]
s0 = letter ["a"]
s1 = place ["test", "zero", 1, 0, -1]
s2 = and s0 s1
s3 = attend <= rightmost where s2 value s0 default 0
s4 = count <= s3
s5 = linear 2 s4 -1
s6 = compare s5 >= 0
s7 = attend < rightmost where s0:s1 s2:s6 value s0
s8 = previous 3 s7 default 0
s9 = nearest <= rightmost where s0 query s5 key s4 value s8
s10 = matched <= rightmost where s0 query s5 key s4
output s9

Without `default`, a selection or a shift is what a head does. Cases are written `here:there`. A program that
puts out a symbol ends in its names and their bits: `output ["odd", "even"] s3 s4`. Numbers are sums of parts
`factor*bit*count`, counts divided by the number of visible positions: `output integer <= 1*s0*s4 2*s5`,
`output fraction all 1/2*s4`, `output distribution ["a", "b"] 1/3*s0 1*s2 ; 2/3*s0`.
"""

from __future__ import annotations

import json
from typing import assert_never

from attemper.attention_program import ops
from attemper.exact.closed_forms import FORM
from attemper.exact.predicates import PREDICATE
from attemper.languages.measures import Measure


def show_program(program: ops.Program) -> str:
    """The program's text."""
    lines = [f"alphabet {json.dumps(list(program.alphabet.symbols))}"]
    lines += [f"s{index} = {show_step(step)}" for index, step in enumerate(program.steps)]
    return "\n".join([*lines, _show_output(program)]) + "\n"


def _show_output(program: ops.Program) -> str:
    if program.numbers is not None:
        return f"output {_show_numbers(program.numbers)}"
    if not program.symbols:
        return f"output s{program.output}"
    names = json.dumps([name for name, _ in program.symbols])
    return " ".join([f"output {names}", *(f"s{bit}" for bit in program.outputs)])


def _show_numbers(numbers: ops.Numbers) -> str:
    rows = " ; ".join(" ".join(map(_show_part, row)) for row in numbers.rows)
    if numbers.measure is Measure.DISTRIBUTION:
        return f"{numbers.measure} {json.dumps(list(numbers.names))} {rows}"
    return f"{numbers.measure} {numbers.mask} {rows}"


def _show_part(part: ops.Part) -> str:
    return "*".join([str(part.factor), *(f"s{ref}" for ref in (part.bit, part.count) if ref is not None)])


def show_step(step: ops.Step) -> str:
    """One step's text."""
    match step:
        case ops.Letter(symbols):
            return f"letter {json.dumps(list(symbols))}"
        case ops.Place(form):
            return f"place {json.dumps(FORM.encode(form))}"
        case ops.Not(bit):
            return f"not s{bit}"
        case ops.Gate(connective, bits):
            return " ".join([connective, *(f"s{bit}" for bit in bits)])
        case ops.Table(bits, rows):
            shown = [f"s{bit}" for bit in bits]
            return " ".join(
                ["table", *shown, ":", *("".join(str(int(v)) for v in row) or "-" for row in rows)]
            )
        case ops.Merge(bits):
            return " ".join(["merge", *(f"s{bit}" for bit in bits)])
        case ops.Attend() | ops.Nearest() | ops.Matched() | ops.Shift():
            return _show_looking(step)
        case ops.Count(mask, bit):
            return f"count {mask} s{bit}"
        case ops.Linear(parts, constant):
            return " ".join(["linear", *(f"{factor} s{count}" for factor, count in parts), str(constant)])
        case ops.Compare() | ops.Equals() | ops.CountTest():
            return _show_comparing(step)
        case _:
            assert_never(step)


def _show_looking(step: ops.Looking) -> str:
    match step:
        case ops.Attend(mask, choice, cases, value, default):
            where = " ".join(f"s{t}" if h is None else f"s{h}:s{t}" for h, t in cases)
            return f"attend {mask} {choice} where {where} value s{value}{_default(default)}"
        case ops.Nearest(mask, choice, place, query, key, value):
            return f"nearest {mask} {choice} where s{place} query s{query} key s{key} value s{value}"
        case ops.Matched(mask, choice, place, query, key):
            return f"matched {mask} {choice} where s{place} query s{query} key s{key}"
        case ops.Shift(direction, bit, distance, default):
            far = f" {distance}" if distance > 1 else ""
            return f"{direction}{far} s{bit}{_default(default)}"
        case _:
            assert_never(step)


def _default(default: bool | None) -> str:
    """What a step says of positions where there is nothing to read; nothing, if it does as a head does."""
    return "" if default is None else f" default {int(default)}"


def _show_comparing(step: ops.Comparing) -> str:
    match step:
        case ops.Compare(count, threshold):
            return f"compare s{count} >= {threshold}"
        case ops.Equals(count, value):
            return f"equals s{count} = {value}"
        case ops.CountTest(predicate, count, scale, shift):
            return f"test s{count} {scale} {shift} {json.dumps(PREDICATE.encode(predicate))}"
        case _:
            assert_never(step)
