"""Which JSON is a program (FORMAT.md section 3): earlier steps, of the right kind."""

from __future__ import annotations

from typing import Any

COUNTS = ("count", "linear")
MASKS = ("<=", "<", ">=", ">", "all")


def is_number(value: Any) -> bool:
    """Whether this is an integer, which true and false are not."""
    return isinstance(value, int) and not isinstance(value, bool)


def read_bits(step: list[Any]) -> list[int]:
    """The steps that a step reads as bits."""
    match step:
        case ["not" | "previous" | "next", k] | ["count", _, k] | ["previous" | "next", k, _, _]:
            return [k]
        case ["and" | "or" | "xor" | "union" | "merge", ks] | ["table", ks, _]:
            return list(ks)
        case ["attend", _, _, list() as cases, value, *_]:
            return [*(k for case in cases for k in case), value]
        case ["attend", _, _, where, value, *_] | ["nearest", _, _, where, _, _, value]:
            return [where, value]
        case _:
            return []


def read_counts(step: list[Any]) -> list[int]:
    """The steps that a step reads as counts."""
    match step:
        case ["linear", parts, _]:
            return [k for _, k in parts]
        case ["compare" | "equals", k, _] | ["test", _, k, _, _]:
            return [k]
        case ["nearest", _, _, _, query, key, _]:
            return [query, key]
        case _:
            return []


def complaint(program: Any) -> str | None:
    """What is wrong with a program as data, or None."""
    try:
        return _complaint(program)
    except (KeyError, TypeError, ValueError) as wrong:
        return f"no program: {wrong!r}"


def _complaint(program: Any) -> str | None:
    if set(program) != {"alphabet", "steps", "output"}:
        return "other entries than a program's"
    alphabet, steps, output = program["alphabet"], program["steps"], program["output"]
    if not alphabet or len(set(alphabet)) < len(alphabet):
        return "no alphabet"
    for number, step in enumerate(steps):
        if not _is_step(step, alphabet):
            return f"step {number} is none"
        for refs, counts in ((read_bits(step), False), (read_counts(step), True)):
            for k in refs:
                if not is_number(k) or not 0 <= k < number or (steps[k][0] in COUNTS) != counts:
                    return f"step {number} reads {k}"
    symbols = [symbol for symbol, _ in output] if isinstance(output, list) else [None]
    if not symbols or len(set(symbols)) < len(symbols):
        return "a symbol that is put out twice, or none"
    for k in outputs(program):
        if not is_number(k) or not 0 <= k < len(steps) or steps[k][0] in COUNTS:
            return "an output is no bit"
    return None


def outputs(program: Any) -> list[int]:
    """The bit that is the output, or those of all symbols."""
    output = program["output"]
    return [k for _, k in output] if isinstance(output, list) else [output]


def _is_bit(value: Any) -> bool:
    return is_number(value) and value in (0, 1)


def _are_cases(where: Any) -> bool:
    return isinstance(where, list) and bool(where) and all(len(case) == 2 for case in where)


def _is_step(step: Any, alphabet: list[str]) -> bool:
    match step:
        case ["letter", list() as symbols]:
            return all(symbol in alphabet for symbol in symbols)
        case ["place", _] | ["not" | "previous" | "next", _]:
            return True
        case ["and" | "or" | "xor" | "union" | "merge", list()]:
            return True
        case ["table", list() as bits, list() as rows]:
            fits = all(len(row) == len(bits) and not set(row) - {"0", "1"} for row in rows)
            return len(bits) <= 12 and fits and len(set(rows)) == len(rows)
        case ["previous" | "next", _, d, default]:
            return is_number(d) and 1 <= d <= 64 and _is_bit(default)
        case ["attend", mask, "rightmost" | "leftmost", where, _, *default]:
            is_said = len(default) < 2 and all(map(_is_bit, default))
            return mask in MASKS and is_said and (is_number(where) or _are_cases(where))
        case ["count", mask, _]:
            return mask in MASKS
        case ["nearest", mask, "rightmost" | "leftmost", _, _, _, _]:
            return mask in ("<=", ">=", "all")
        case ["linear", list() as parts, constant]:
            return is_number(constant) and all(is_number(factor) for factor, _ in parts)
        case ["compare" | "equals", _, t]:
            return is_number(t)
        case ["test", predicate, _, a, b]:
            known = predicate in ("zero", "nonnegative") or predicate[0] in ("mod", "named")
            return known and is_number(a) and is_number(b)
        case _:
            return False
