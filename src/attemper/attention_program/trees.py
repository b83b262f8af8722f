"""Attention programs as plain JSON data, for certificates: no parser of text is needed to read them.

    {"alphabet": [symbol, ...], "steps": [step, ...], "output": k or [[symbol, k], ...] or numbers}

where a step is one of these, and k, m number earlier steps from 0:

    ["letter", [symbol, ...]]  ["place", closed form]
    ["not", k]  ["and" | "or" | "xor" | "union" | "merge", [k, ...]]
    ["table", [k, ...], ["01...", ...]]                     the rows for which it is 1
    ["attend", mask, choice, where, value]                  as a head does; else with a default, 0 or 1
    ["nearest", mask, choice, where, query, key, value]  ["matched", mask, choice, where, query, key]
    ["previous" | "next", k]                                as a head does; else with a distance and a default
    ["count", mask, k]
    ["linear", [[factor, k], ...], constant]
    ["compare", k, threshold]  ["equals", k, value]  ["test", predicate, k, scale, shift]

mask is "<=" "<" ">=" ">" or "all"; choice "rightmost" or "leftmost"; where a step, or a list of cases
[here, there] of steps, with null for what is everywhere in force. Numbers are

    {"integer" | "fraction": [part, ...], "over": mask}  {"distribution": [[name, [part, ...]], ...]}

and a part is ["p/q", bit or null, count or null].
"""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program import ops
from attemper.attention_program.wellformed import complaints
from attemper.errors import AlphabetError
from attemper.exact.closed_forms import (
    form_from_tree,
    form_to_tree,
    parse_rational,
    plain_integer,
    predicate_from_tree,
    predicate_to_tree,
)
from attemper.exact.predicates import PredicateError
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet


def program_to_tree(program: ops.Program) -> dict[str, object]:
    """The program as JSON data.

    It is read back if the program is well formed and its integers are of ordinary size (`plain_integer`).
    """
    return {
        "alphabet": list(program.alphabet.symbols),
        "steps": [_step_tree(step) for step in program.steps],
        "output": _output_tree(program),
    }


def program_from_tree(tree: object) -> ops.Program:
    """Read a program back.

    Raises ValueError on anything that `program_to_tree` does not write of a well-formed program.
    """
    try:
        program = _program(tree)
        found = complaints(program)
        if found:
            raise ValueError(str(found[0])[:200])
        if program_to_tree(program) != tree:
            raise ValueError("the program is not written in the one way that it has")
    except (AlphabetError, PredicateError, RecursionError) as error:
        raise ValueError(str(error)) from None
    return program


def _output_tree(program: ops.Program) -> object:
    numbers = program.numbers
    if numbers is None:
        return [list(pair) for pair in program.symbols] if program.symbols else program.output
    rows = [[[str(part.factor), part.bit, part.count] for part in row] for row in numbers.rows]
    if numbers.measure is Measure.DISTRIBUTION:
        return {"distribution": [list(pair) for pair in zip(numbers.names, rows, strict=True)]}
    return {str(numbers.measure): rows[0], "over": str(numbers.mask)}


def _step_tree(step: ops.Step) -> list[object]:
    match step:
        case ops.Letter(symbols):
            return ["letter", list(symbols)]
        case ops.Place(form):
            return ["place", form_to_tree(form)]
        case ops.Not(bit):
            return ["not", bit]
        case ops.Gate(connective, bits):
            return [str(connective), list(bits)]
        case ops.Merge(bits):
            return ["merge", list(bits)]
        case ops.Table(bits, rows):
            return ["table", list(bits), ["".join(str(int(bit)) for bit in row) for row in rows]]
        case ops.Attend() | ops.Nearest() | ops.Matched() | ops.Shift():
            return _looking_tree(step)
        case ops.Count(mask, bit):
            return ["count", str(mask), bit]
        case ops.Linear(parts, constant):
            return ["linear", [list(part) for part in parts], constant]
        case ops.Compare() | ops.Equals() | ops.CountTest():
            return _comparing_tree(step)
        case _:
            assert_never(step)


def _looking_tree(step: ops.Looking) -> list[object]:
    match step:
        case ops.Attend(mask, choice, cases, value, default):
            where = [list(case) for case in cases] if step.where is None else step.where
            return ["attend", str(mask), str(choice), where, value, *_default_tree(default)]
        case ops.Nearest(mask, choice, place, query, key, value):
            return ["nearest", str(mask), str(choice), place, query, key, value]
        case ops.Matched(mask, choice, place, query, key):
            return ["matched", str(mask), str(choice), place, query, key]
        case ops.Shift(direction, bit, distance, default):
            return [str(direction), bit, *([] if default is None else [distance, int(default)])]
        case _:
            assert_never(step)


def _comparing_tree(step: ops.Comparing) -> list[object]:
    match step:
        case ops.Compare(count, threshold):
            return ["compare", count, threshold]
        case ops.Equals(count, value):
            return ["equals", count, value]
        case ops.CountTest(predicate, count, scale, shift):
            return ["test", predicate_to_tree(predicate), count, scale, shift]
        case _:
            assert_never(step)


def _program(tree: object) -> ops.Program:
    match tree:
        case {"alphabet": list(symbols), "steps": list(steps), "output": output, **rest} if not rest:
            return _with_output(Alphabet(tuple(symbols)), tuple(map(_step, steps)), output)
        case _:
            raise ValueError("a program has an alphabet, steps and an output, and nothing else")


def _with_output(alphabet: Alphabet, steps: tuple[ops.Step, ...], tree: object) -> ops.Program:
    if isinstance(tree, dict):
        numbers = _numbers(tree)
        if not numbers.inputs:
            raise ValueError("numbers that are made of nothing")
        return ops.Program(alphabet, steps, numbers.inputs[0], numbers=numbers)
    if not isinstance(tree, list):
        return ops.Program(alphabet, steps, plain_integer(tree))
    symbols = tuple(map(_symbol, tree))
    if not symbols:
        raise ValueError("an output of no symbols")
    return ops.Program(alphabet, steps, symbols[0][1], symbols)


def _numbers(tree: dict[object, object]) -> ops.Numbers:
    match tree:
        case {"distribution": list(rows), **rest} if not rest:
            pairs = tuple(map(_probability, rows))
            names, parts = tuple(name for name, _ in pairs), tuple(parts for _, parts in pairs)
            return ops.Numbers(Measure.DISTRIBUTION, ops.Mask.ALL, parts, names)
        case {"integer": parts, "over": str(mask), **rest} if not rest:
            return ops.Numbers(Measure.INTEGER, ops.Mask(mask), (_number(parts),))
        case {"fraction": parts, "over": str(mask), **rest} if not rest:
            return ops.Numbers(Measure.FRACTION, ops.Mask(mask), (_number(parts),))
        case _:
            raise ValueError(f"not numbers that are put out: {str(tree)[:80]}")


def _probability(tree: object) -> tuple[str, tuple[ops.Part, ...]]:
    match tree:
        case [str(name), parts]:
            return name, _number(parts)
        case _:
            raise ValueError(f"not a name and its number: {str(tree)[:80]}")


def _number(tree: object) -> tuple[ops.Part, ...]:
    if not isinstance(tree, list):
        raise ValueError(f"not the parts of a number: {str(tree)[:80]}")
    return tuple(map(_part_of_number, tree))


def _part_of_number(tree: object) -> ops.Part:
    match tree:
        case [str(factor), bit, count]:
            return ops.Part(parse_rational(factor), _optional(bit), _optional(count))
        case _:
            raise ValueError(f"not a part of a number: {str(tree)[:80]}")


def _optional(tree: object) -> ops.Ref | None:
    return None if tree is None else plain_integer(tree)


def _symbol(tree: object) -> tuple[str, ops.Ref]:
    match tree:
        case [str(name), bit]:
            return name, plain_integer(bit)
        case _:
            raise ValueError(f"not a symbol and its bit: {str(tree)[:80]}")


def _step(tree: object) -> ops.Step:
    match tree:
        case ["letter", list(symbols)]:
            return ops.Letter(tuple(symbols))
        case ["place", form]:
            return ops.Place(form_from_tree(form))
        case ["not", bit]:
            return ops.Not(plain_integer(bit))
        case [("and" | "or" | "xor" | "union") as connective, bits]:
            return ops.Gate(ops.Connective(connective), _refs(bits))
        case ["merge", bits]:
            return ops.Merge(_refs(bits))
        case ["table", bits, list(rows)]:
            return ops.Table(_refs(bits), tuple(map(_row, rows)))
        case ["count", str(mask), bit]:
            return ops.Count(ops.Mask(mask), plain_integer(bit))
        case ["linear", list(parts), constant]:
            return ops.Linear(tuple(map(_part, parts)), plain_integer(constant))
        case ["compare" | "equals" | "test", *_]:
            return _comparing(tree)
        case _:
            return _looking(tree)


def _looking(tree: object) -> ops.Step:
    match tree:
        case ["attend", str(mask), str(choice), where, value, *default] if len(default) <= 1:
            return ops.Attend(
                ops.Mask(mask), ops.Choice(choice), _cases(where), plain_integer(value), _default(default)
            )
        case ["nearest", str(mask), str(choice), *refs] if len(refs) == 4:
            return ops.Nearest(ops.Mask(mask), ops.Choice(choice), *map(plain_integer, refs))
        case ["matched", str(mask), str(choice), *refs] if len(refs) == 3:
            return ops.Matched(ops.Mask(mask), ops.Choice(choice), *map(plain_integer, refs))
        case [("previous" | "next") as direction, bit]:
            return ops.Shift(ops.Direction(direction), plain_integer(bit), default=None)
        case [("previous" | "next") as direction, bit, distance, default]:
            numbers = (plain_integer(bit), plain_integer(distance))
            return ops.Shift(ops.Direction(direction), *numbers, _default([default]))
        case _:
            raise ValueError(f"not a step: {str(tree)[:80]}")


def _comparing(tree: object) -> ops.Step:
    match tree:
        case ["compare", count, threshold]:
            return ops.Compare(plain_integer(count), plain_integer(threshold))
        case ["equals", count, value]:
            return ops.Equals(plain_integer(count), plain_integer(value))
        case ["test", predicate, count, scale, shift]:
            numbers = (plain_integer(count), plain_integer(scale), plain_integer(shift))
            return ops.CountTest(predicate_from_tree(predicate), *numbers)
        case _:
            raise ValueError(f"not a step: {str(tree)[:80]}")


def _refs(tree: object) -> tuple[ops.Ref, ...]:
    if not isinstance(tree, list):
        raise ValueError(f"not a list of steps: {str(tree)[:80]}")
    return tuple(map(plain_integer, tree))


def _cases(tree: object) -> ops.Cases:
    return tuple(map(_case, tree)) if isinstance(tree, list) else ops.everywhere(plain_integer(tree))


def _case(tree: object) -> tuple[ops.Ref | None, ops.Ref]:
    match tree:
        case [None, there]:
            return None, plain_integer(there)
        case [here, there]:
            return plain_integer(here), plain_integer(there)
        case _:
            raise ValueError(f"not a case: {str(tree)[:80]}")


def _default_tree(default: bool | None) -> list[object]:
    return [] if default is None else [int(default)]


def _default(tree: list[object]) -> bool | None:
    """The default in a list of at most one."""
    numbers = [plain_integer(number) for number in tree]
    if not set(numbers) <= {0, 1}:
        raise ValueError(f"a default is 0 or 1, not {str(tree)[:80]}")
    return numbers[0] == 1 if numbers else None


def _row(tree: object) -> tuple[bool, ...]:
    if not isinstance(tree, str) or set(tree) - {"0", "1"}:
        raise ValueError(f"not a row of bits: {str(tree)[:80]}")
    return tuple(bit == "1" for bit in tree)


def _part(tree: object) -> tuple[int, ops.Ref]:
    match tree:
        case [factor, count]:
            return plain_integer(factor), plain_integer(count)
        case _:
            raise ValueError(f"not a part of a sum: {str(tree)[:80]}")
