"""Which JSON is a program (FORMAT.md section 3): earlier steps, of the right kind."""

from __future__ import annotations

from typing import Any

from tests.support.oracles.second_reader.forms import has_sense, is_sound
from tests.support.oracles.shapes import MisshapenError, require

COUNTS = ("count", "linear")
WEAK = ("<=", ">=", "all")


def read_bits(step: list[Any]) -> list[int]:
    """The steps that a step reads as bits."""
    match step:
        case ["not", k] | ["count", _, k] | ["shift", _, k, _, _]:
            return [k]
        case ["gate", _, ks] | ["merge", ks] | ["table", ks, _]:
            return list(ks)
        case ["attend", _, _, cases, value, _]:
            return [*(k for case in cases for k in case if k is not None), value]
        case ["nearest", _, _, where, _, _, value]:
            return [where, value]
        case ["matched", _, _, where, _, _]:
            return [where]
        case _:
            return []


def read_counts(step: list[Any]) -> list[int]:
    """The steps that a step reads as counts."""
    match step:
        case ["linear", parts, _]:
            return [k for _, k in parts]
        case ["compare" | "equals", k, _] | ["count test", _, k, _, _]:
            return [k]
        case ["nearest" | "matched", _, _, _, query, key, *_]:
            return [query, key]
        case _:
            return []


def complaint(program: Any) -> str | None:
    """What is wrong with a program as data, or None."""
    try:
        require("attemper-certificate/3", program, "program")
    except MisshapenError as wrong:
        return str(wrong)
    alphabet, steps = program["alphabet"], program["steps"]
    if not alphabet or len(set(alphabet)) < len(alphabet):
        return "no alphabet"
    for number, step in enumerate(steps):
        if not _is_sound(step, alphabet):
            return f"step {number} is none"
        for refs, counts in ((read_bits(step), False), (read_counts(step), True)):
            for k in refs:
                if k >= number or (steps[k][0] in COUNTS) != counts:
                    return f"step {number} reads {k}"
    return _complaint_of_symbols(program) if program["numbers"] is None else _complaint_of_numbers(program)


def _complaint_of_symbols(program: Any) -> str | None:
    symbols = [symbol for symbol, _ in program["symbols"]]
    read = outputs(program)
    if len(set(symbols)) < len(symbols):
        return "a symbol that is put out twice"
    if read[0] != program["output"]:
        return "the output is not the first symbol's bit"
    if not all(_is_there(program, k, counts=False) for k in read):
        return "an output is no bit"
    return None


def _complaint_of_numbers(program: Any) -> str | None:
    numbers = program["numbers"]
    measure, rows, names = numbers["measure"], numbers["rows"], numbers["names"]
    parts = [part for row in rows for part in row]
    if program["symbols"] or numbers["mask"] not in WEAK or not parts:
        return "no numbers"
    if measure == "distribution":
        if len(set(names)) < len(names) or len(names) != len(rows) or numbers["mask"] != "all":
            return "no distribution"
    elif names or len(rows) != 1:
        return "no number"
    for part in parts:
        bit, count, factor = part["bit"], part["count"], part["factor"]
        if (bit, count) == (None, None) or (count is not None and measure == "distribution"):
            return "a part of nothing, or of a count that is no probability"
        if measure == "integer" and (count is None or "/" in factor):
            return "a part of no integer"
        for k, counts in ((bit, False), (count, True)):
            if k is not None and not _is_there(program, k, counts=counts):
                return "a part of another kind"
    first = parts[0]["count"] if parts[0]["bit"] is None else parts[0]["bit"]
    return None if program["output"] == first else "the output is not the first step of a number"


def _is_there(program: Any, k: int, *, counts: bool) -> bool:
    return k < len(program["steps"]) and (program["steps"][k][0] in COUNTS) == counts


def outputs(program: Any) -> list[int]:
    """The bit that is the output, or those of all symbols."""
    return [k for _, k in program["symbols"]] or [program["output"]]


def _is_sound(step: Any, alphabet: list[str]) -> bool:
    """What a step's shape does not say of it alone."""
    match step:
        case ["letter", symbols]:
            return set(symbols) <= set(alphabet) and len(set(symbols)) == len(symbols)
        case ["place", form]:
            return is_sound(form)
        case ["count test", predicate, *_]:
            return has_sense(predicate)
        case ["table", bits, rows]:
            fits = all(len(row) == len(bits) for row in rows)
            return len(bits) <= 12 and fits and len(set(map(tuple, rows))) == len(rows)
        case ["shift", _, _, distance, default]:
            return 1 <= distance <= 64 and (default is not None or distance == 1)
        case ["attend", _, _, cases, _, _]:
            return bool(cases) and (len(cases) == 1 or all(here is not None for here, _ in cases))
        case ["nearest" | "matched", mask, *_]:
            return mask in WEAK
        case _:
            return True
