"""Reading the text of an attention program, as `show` writes it. No check rests on it."""

from __future__ import annotations

import json
from dataclasses import replace

from attemper.attention_program import ops
from attemper.attention_program.wellformed import complaints
from attemper.errors import AlphabetError, SourceError
from attemper.exact.closed_forms import FORM
from attemper.exact.codec import INTEGER, RATIONAL
from attemper.exact.predicates import PREDICATE, PredicateError
from attemper.languages.measures import Measure
from attemper.languages.words import Alphabet

ProgramOutputs = tuple[ops.Ref, tuple[tuple[str, ops.Ref], ...], ops.Numbers | None]
"""`Program.output`, `Program.symbols` and `Program.numbers`."""


def parse_steps(text: str) -> ops.Program:
    """Read a program's text; raises `SourceError` with the line that cannot be read.

    Well-formedness is a separate question: see `wellformed.complaints`.
    """
    lines = [(number, line.strip()) for number, line in enumerate(text.split("\n"), start=1)]
    lines = [(number, line) for number, line in lines if line]
    alphabet: Alphabet | None = None
    output: ProgramOutputs | None = None
    steps: list[ops.Step] = []
    for number, line in lines:
        head, _, rest = line.partition(" ")
        try:
            if alphabet is None:
                alphabet = _parse_alphabet_line(head, rest)
            elif output is not None:
                raise ValueError("nothing may follow the output")
            elif head == "output":
                output = _parse_output(rest)
            else:
                steps.append(_parse_step_line(head, rest, len(steps)))
        except (ValueError, RecursionError, AlphabetError, PredicateError) as error:
            raise SourceError(f"cannot read the step: {error}", text=text, line=number) from None
    if alphabet is None or output is None:
        raise SourceError("a program starts with 'alphabet' and ends with 'output'", text=text)
    return _with_output(ops.Program(alphabet, tuple(steps), *output))


def parse_program(text: str) -> ops.Program:
    r"""Read the text of a well-formed attention program, as `attemper show` writes it.

    Raises `SourceError`, naming the line or step that is wrong.

    >>> program = parse_program('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = not s0\noutput s1')
    >>> len(program.steps), program.output
    (2, 1)
    """
    program = parse_steps(text)
    for complaint in complaints(program):
        raise SourceError(f"the program is ill formed: {complaint}", text=text)
    return program


def _with_output(program: ops.Program) -> ops.Program:
    """The program, whose text does not say of a part's only step whether that is a bit."""
    numbers, steps = program.numbers, program.steps
    if numbers is None:
        return program

    def settled(part: ops.Part) -> ops.Part:
        ref = part.bit
        if part.count is not None or ref is None or not 0 <= ref < len(steps):
            return part
        return replace(part, bit=None, count=ref) if isinstance(steps[ref], ops.Count | ops.Linear) else part

    rows = tuple(tuple(map(settled, row)) for row in numbers.rows)
    return replace(program, numbers=replace(numbers, rows=rows))


def _parse_output(text: str) -> ProgramOutputs:
    """A bit; or names, and the bit of each; or numbers."""
    if text.split(" ", 1)[0] in set(Measure):
        numbers = _parse_numbers(text)
        if not numbers.inputs:
            raise ValueError("expected parts of numbers: output integer <= 1*s0*s4 2*s5")
        return numbers.inputs[0], (), numbers
    if not text.startswith("["):
        return _ref(text), (), None
    names, end = json.JSONDecoder().raw_decode(text)
    bits = [_ref(word) for word in text[end:].split()]
    if not all(isinstance(name, str) for name in names) or not 0 < len(names) == len(bits):
        raise ValueError('expected the output\'s symbols, and as many bits: output ["x", "y"] s1 s2')
    return bits[0], tuple(zip(names, bits, strict=True)), None


def _parse_numbers(text: str) -> ops.Numbers:
    measure, _, rest = text.partition(" ")
    if measure == Measure.DISTRIBUTION:
        names, end = json.JSONDecoder().raw_decode(rest)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise ValueError('expected the names: output distribution ["a", "b"] 1/3*s0 ; 2/3*s0')
        rows = tuple(tuple(map(_part, row.split())) for row in rest[end:].split(";"))
        return ops.Numbers(Measure.DISTRIBUTION, ops.Mask.ALL, rows, tuple(names))
    mask, *parts = rest.split()
    return ops.Numbers(Measure(measure), ops.Mask(mask), (tuple(map(_part, parts)),))


def _part(text: str) -> ops.Part:
    """A part; its only step is taken for a bit."""
    match text.split("*"):
        case [factor, ref]:
            return ops.Part(RATIONAL.read(factor), _ref(ref), None)
        case [factor, bit, count]:
            return ops.Part(RATIONAL.read(factor), _ref(bit), _ref(count))
        case _:
            raise ValueError(f"'{text[:40]}' is not a part of a number, such as 1/2*s3*s4")


def _parse_alphabet_line(head: str, rest: str) -> Alphabet:
    if head != "alphabet":
        raise ValueError("the first line is the alphabet")
    return Alphabet(_strings(rest))


def _parse_step_line(head: str, rest: str, index: int) -> ops.Step:
    equals, _, step = rest.partition(" ")
    if head != f"s{index}" or equals != "=":
        raise ValueError(f"expected 's{index} = ...'")
    return _parse_step(step)


def _parse_step(text: str) -> ops.Step:
    name, _, rest = text.partition(" ")
    words = rest.split()
    match name, words:
        case "letter", _:
            return ops.Letter(_strings(rest))
        case "place", _:
            return ops.Place(FORM.read(json.loads(rest)))
        case "not", [bit]:
            return ops.Not(_ref(bit))
        case "merge", bits:
            return ops.Merge(tuple(_ref(bit) for bit in bits))
        case (("and" | "or" | "xor" | "union"), bits):
            return ops.Gate(ops.Connective(name), tuple(_ref(bit) for bit in bits))
        case "table", _ if ":" in words:
            colon = words.index(":")
            rows = tuple(_row(row) for row in words[colon + 1 :])
            return ops.Table(tuple(_ref(bit) for bit in words[:colon]), rows)
        case (("attend" | "nearest" | "matched" | "previous" | "next"), _):
            return _parse_looking(name, words)
        case "count", [mask, bit]:
            return ops.Count(ops.Mask(mask), _ref(bit))
        case "linear", [*parts, constant] if len(parts) % 2 == 0:
            pairs = zip(parts[::2], parts[1::2], strict=True)
            return ops.Linear(
                tuple((_integer(factor), _ref(count)) for factor, count in pairs), _integer(constant)
            )
        case _:
            return _parse_comparing(text)


def _parse_looking(name: str, words: list[str]) -> ops.Step:
    match name, words:
        case "attend", _:
            return _parse_attend(words)
        case "nearest", [mask, choice, "where", where, "query", query, "key", key, "value", value]:
            return ops.Nearest(ops.Mask(mask), ops.Choice(choice), *map(_ref, (where, query, key, value)))
        case "matched", [mask, choice, "where", where, "query", query, "key", key]:
            return ops.Matched(ops.Mask(mask), ops.Choice(choice), *map(_ref, (where, query, key)))
        case (("previous" | "next"), _):
            return _parse_shift(ops.Direction(name), words)
        case _:
            raise ValueError(f"not a step: {' '.join([name, *words])[:80]}")


def _parse_attend(words: list[str]) -> ops.Attend:
    match words:
        case [mask, choice, "where", *cases, "value", value]:
            default = None
        case [mask, choice, "where", *cases, "value", value, "default", after]:
            default = _default(after)
        case _:
            raise ValueError("expected 'attend MASK CHOICE where ... value sK', and perhaps 'default 0'")
    return ops.Attend(ops.Mask(mask), ops.Choice(choice), tuple(map(_case, cases)), _ref(value), default)


def _parse_shift(direction: ops.Direction, words: list[str]) -> ops.Shift:
    match words:
        case [bit]:
            return ops.Shift(direction, _ref(bit), default=None)
        case [bit, "default", default]:
            return ops.Shift(direction, _ref(bit), default=_default(default))
        case [distance, bit, "default", default]:
            return ops.Shift(direction, _ref(bit), _integer(distance), _default(default))
        case _:
            raise ValueError(f"expected '{direction} sK default 0'")


def _parse_comparing(text: str) -> ops.Step:
    match text.split(maxsplit=4):
        case ["compare", count, ">=", threshold]:
            return ops.Compare(_ref(count), _integer(threshold))
        case ["equals", count, "=", value]:
            return ops.Equals(_ref(count), _integer(value))
        case ["test", count, scale, shift, predicate]:
            return ops.CountTest(
                PREDICATE.read(json.loads(predicate)), _ref(count), _integer(scale), _integer(shift)
            )
        case _:
            raise ValueError(f"unknown step '{text[:60]}'")


def _ref(text: str) -> ops.Ref:
    if not (text.startswith("s") and text[1:].isascii() and text[1:].isdigit() and len(text) < 12):
        raise ValueError(f"'{text[:40]}' is not a step")
    return int(text[1:])


def _integer(text: str) -> int:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        raise ValueError(f"'{text[:40]}' is not an integer")
    return INTEGER.read(int(text))


def _case(text: str) -> tuple[ops.Ref | None, ops.Ref]:
    here, colon, there = text.partition(":")
    return (_ref(here), _ref(there)) if colon else (None, _ref(here))


def _default(text: str) -> bool:
    if text not in {"0", "1"}:
        raise ValueError(f"the default is 0 or 1, not '{text[:40]}'")
    return text == "1"


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
