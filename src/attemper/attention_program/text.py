"""The attention program as text, one step a line; `parse_steps(show_program(p)) == p`.

alphabet ["a", "b"]
s0 = letter ["a"]
s1 = place ["test", "zero", 1, 0, -1]
s2 = and s0 s1
s3 = attend <= rightmost where s2 value s0 default 0
s4 = count <= s3
s5 = linear 2 s4 -1
s6 = compare s5 >= 0
output s6
"""

from __future__ import annotations

import json
from typing import assert_never

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Equals,
    Gate,
    Letter,
    Linear,
    Mask,
    Merge,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    Table,
)
from attemper.attention_program.wellformed import complaints, require_machine
from attemper.errors import AlphabetError, SourceError
from attemper.exact.closed_forms import (
    form_from_tree,
    form_to_tree,
    predicate_from_tree,
    predicate_to_tree,
)
from attemper.exact.predicates import PredicateError
from attemper.languages.words import Alphabet


def show_program(program: Program) -> str:
    """The program's text."""
    lines = [f"alphabet {json.dumps(list(program.alphabet.symbols))}"]
    lines += [f"s{index} = {show_step(step)}" for index, step in enumerate(program.steps)]
    return "\n".join([*lines, f"output s{program.output}"]) + "\n"


def show_step(step: Step) -> str:
    """One step's text."""
    match step:
        case Letter(symbols):
            return f"letter {json.dumps(list(symbols))}"
        case Place(form):
            return f"place {json.dumps(form_to_tree(form))}"
        case Not(bit):
            return f"not s{bit}"
        case Gate(connective, bits):
            return " ".join([connective, *(f"s{bit}" for bit in bits)])
        case Table(bits, rows):
            shown = [f"s{bit}" for bit in bits]
            return " ".join(
                ["table", *shown, ":", *("".join(str(int(v)) for v in row) or "-" for row in rows)]
            )
        case Merge(bits):
            return " ".join(["merge", *(f"s{bit}" for bit in bits)])
        case Attend(mask, choice, where, value, default, match):
            matching = f" match s{match[0]} s{match[1]}" if match else ""
            return f"attend {mask} {choice} where s{where} value s{value} default {int(default)}{matching}"
        case Shift(direction, bit):
            return f"{direction} s{bit}"
        case Count(mask, bit):
            return f"count {mask} s{bit}"
        case Linear(parts, constant):
            return " ".join(["linear", *(f"{factor} s{count}" for factor, count in parts), str(constant)])
        case Compare(count, threshold):
            return f"compare s{count} >= {threshold}"
        case Equals(count, value):
            return f"equals s{count} = {value}"
        case CountTest(predicate, count, scale, shift):
            return f"test s{count} {scale} {shift} {json.dumps(predicate_to_tree(predicate))}"
        case _:
            assert_never(step)


def parse_steps(text: str) -> Program:
    """Read a program's text; raises `SourceError` with the line that cannot be read.

    Well-formedness is a separate question: see `wellformed.complaints`.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line]
    alphabet: Alphabet | None = None
    output: Ref | None = None
    steps: list[Step] = []
    for number, line in lines:
        head, _, rest = line.partition(" ")
        try:
            if alphabet is None:
                alphabet = _parse_alphabet_line(head, rest)
            elif output is not None:
                raise ValueError("nothing may follow the output")
            elif head == "output":
                output = _ref(rest)
            else:
                steps.append(_parse_step_line(head, rest, len(steps)))
        except (ValueError, RecursionError, AlphabetError, PredicateError) as error:
            raise SourceError(f"cannot read the step: {error}", text=text, line=number) from None
    if alphabet is None or output is None:
        raise SourceError("a program starts with 'alphabet' and ends with 'output'", text=text)
    return Program(alphabet, tuple(steps), output)


def parse_program(text: str) -> Program:
    r"""Read the text of a program that a transformer can run as it stands.

    Raises `SourceError`, naming the line or step that is wrong, and `UnsupportedError` for a step that no
    machine has.

    >>> program = parse_program('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = not s0\noutput s1')
    >>> len(program.steps), program.output
    (2, 1)
    """
    program = parse_steps(text)
    for complaint in complaints(program):
        raise SourceError(f"the program is ill formed: {complaint}", text=text)
    return require_machine(program)


def _parse_alphabet_line(head: str, rest: str) -> Alphabet:
    if head != "alphabet":
        raise ValueError("the first line is the alphabet")
    return Alphabet(_strings(rest))


def _parse_step_line(head: str, rest: str, index: int) -> Step:
    equals, _, step = rest.partition(" ")
    if head != f"s{index}" or equals != "=":
        raise ValueError(f"expected 's{index} = ...'")
    return _parse_step(step)


def _parse_step(text: str) -> Step:
    name, _, rest = text.partition(" ")
    words = rest.split()
    match name, words:
        case "letter", _:
            return Letter(_strings(rest))
        case "place", _:
            return Place(form_from_tree(json.loads(rest)))
        case "not", [bit]:
            return Not(_ref(bit))
        case "merge", bits:
            return Merge(tuple(_ref(bit) for bit in bits))
        case (("and" | "or" | "xor" | "union"), bits):
            return Gate(Connective(name), tuple(_ref(bit) for bit in bits))
        case "table", _ if ":" in words:
            colon = words.index(":")
            rows = tuple(_row(row) for row in words[colon + 1 :])
            return Table(tuple(_ref(bit) for bit in words[:colon]), rows)
        case "attend", [
            mask,
            choice,
            "where",
            where,
            "value",
            value,
            "default",
            ("0" | "1") as default,
            *match,
        ]:
            return Attend(Mask(mask), Choice(choice), _ref(where), _ref(value), default == "1", _match(match))
        case (("previous" | "next"), [bit]):
            return Shift(Direction(name), _ref(bit))
        case "count", [mask, bit]:
            return Count(Mask(mask), _ref(bit))
        case "linear", [*parts, constant] if len(parts) % 2 == 0:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return Linear(tuple((int(factor), _ref(count)) for factor, count in pairs), int(constant))
        case "compare", [count, ">=", threshold]:
            return Compare(_ref(count), int(threshold))
        case "equals", [count, "=", value]:
            return Equals(_ref(count), int(value))
        case "test", [count, scale, shift, *_]:
            tree = json.loads(rest.split(maxsplit=3)[3]) if len(words) > 3 else None
            return CountTest(predicate_from_tree(tree), _ref(count), int(scale), int(shift))
        case _:
            raise ValueError(f"unknown step '{text[:60]}'")


def _ref(text: str) -> Ref:
    if not (text.startswith("s") and text[1:].isascii() and text[1:].isdigit() and len(text) < 12):
        raise ValueError(f"'{text[:40]}' is not a step")
    return int(text[1:])


def _match(words: list[str]) -> tuple[Ref, Ref] | None:
    match words:
        case []:
            return None
        case ["match", query, key]:
            return _ref(query), _ref(key)
        case _:
            raise ValueError("expected 'match sQ sK' or nothing after the default")


def _row(text: str) -> tuple[bool, ...]:
    if text == "-":
        return ()
    if set(text) - {"0", "1"}:
        raise ValueError(f"'{text[:40]}' is not a row of bits")
    return tuple(c == "1" for c in text)


def _strings(text: str) -> tuple[str, ...]:
    values = json.loads(text)
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise ValueError("expected a list of symbols")
    return tuple(values)
