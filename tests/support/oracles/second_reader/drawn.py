"""Random programs as JSON that look to the left only, and automata that are nearly theirs."""

from __future__ import annotations

import copy
from random import Random
from typing import Any

Program = dict[str, Any]


def program(random: Random) -> Program:
    """A program over a and b with bits that are often of every kind that section 7 follows."""
    steps: list[Any] = [["letter", ["a"]]]
    bits: list[int] = [0]
    counts: list[int] = []
    size = random.randrange(4, 16)
    while len(steps) < size:
        if random.random() < 0.2:
            steps.append(_count(random, bits, counts))
            counts.append(len(steps) - 1)
        else:
            steps.append(_test(random, counts) if counts and random.random() < 0.25 else _bit(random, bits))
            bits.append(len(steps) - 1)
    output = random.choice(bits[-3:])
    return {"alphabet": ["a", "b"], "steps": steps, "output": output, "symbols": [], "numbers": None}


def groups(random: Random, drawn: Program) -> list[list[int]]:
    """Some bits, said to exclude each other."""
    bits = [k for k, step in enumerate(drawn["steps"]) if step[0] not in ("count", "linear")]
    return [random.choices(bits, k=random.randrange(1, 3)) for _ in range(random.randrange(1, 4))]


def nearly(random: Random, automaton: list[Any]) -> list[Any]:
    """The automaton with one move, one verdict or the start changed."""
    tag, alphabet, moves, start, accepting = copy.deepcopy(automaton)
    state = random.randrange(len(moves))
    match random.randrange(3):
        case 0:
            accepting = sorted({*accepting} ^ {state})
        case 1:
            moves[state][random.randrange(2)] = random.randrange(len(moves))
        case _:
            start = state
    return [tag, alphabet, moves, start, accepting]


def changed(random: Random, drawn: Program) -> Program:
    """The program with one step that reads something else, or another gate, mask, choice or place."""
    other = copy.deepcopy(drawn)
    step = random.choice([step for step in other["steps"][1:] if step != ["place", ["number", "1"]]])
    number = other["steps"].index(step)
    match step:
        case ["gate", "and" | "union", bits] | ["merge", bits]:
            step[:-1] = random.choice([step[:-1], ["gate", "and"], ["gate", "or"], ["gate", "union"]])
            bits[random.randrange(len(bits))] = random.randrange(number)
        case ["attend", mask, choice, [case], _, _]:
            step[1] = random.choice([mask, "<=", "<"])
            step[2] = random.choice([choice, "leftmost"])
            read, k = random.choice([(step, 4), (case, 1)])
            read[k] = random.randrange(number)
        case ["not", _]:
            step[1] = random.randrange(number)
        case ["place", ["test", *parts]]:
            step[1] = ["test", *parts[:-1], parts[-1] + random.choice([-1, 1])]
        case _:
            other["output"] = random.randrange(number)
    return other


def _count(random: Random, bits: list[int], counts: list[int]) -> list[Any]:
    if not counts or random.random() < 0.6:
        return ["count", random.choice(["<=", "<"]), random.choice(bits[-5:])]
    parts = [[random.choice([-2, -1, 1, 2, 3]), k] for k in random.sample(counts, min(len(counts), 2))]
    return ["linear", parts, random.randrange(-2, 3)]


def _test(random: Random, counts: list[int]) -> list[Any]:
    k, t = random.choice(counts[-2:]), random.randrange(-3, 4)
    factor = random.choice([-2, -1, 1, 2])
    return random.choice(
        [
            ["compare", k, t],
            ["equals", k, t],
            ["count test", [random.choice(["zero", "non negative"])], k, factor, t],
            ["count test", ["remainder", random.choice([2, 3]), random.randrange(2)], k, factor, t],
        ]
    )


def _bit(random: Random, bits: list[int]) -> list[Any]:
    near = [random.choice(bits[-5:]) for _ in range(3)]
    some = near[: random.choice([0, 1, 2, 2, 2, 3])]
    rows = sorted({tuple(random.random() < 0.5 for _ in some) for _ in range(random.randrange(5))})
    name = random.choice(["and", "or", "xor", "and", "or", "xor", "union", "merge"])
    gate = ["merge", some] if name == "merge" else ["gate", name, some]
    attend = [
        "attend",
        random.choice(["<=", "<"]),
        random.choice(["rightmost", "leftmost"]),
        [[None, near[0]]],
        near[1],
        None,
    ]
    return random.choice(
        [
            ["letter", [random.choice("ab")]],
            ["place", _place(random)],
            ["not", near[0]],
            gate,
            gate,
            ["table", some, [list(row) for row in rows]],
            attend,
            attend,
            ["shift", "previous", near[0], 1, None],
        ]
    )


def _place(random: Random) -> Any:
    remainder = ["remainder", random.choice([2, 3]), random.randrange(2)]
    predicate = random.choice([["zero"], ["non negative"], remainder])
    test = ["test", predicate, random.choice([1, 1, 2, -1]), 0, random.randrange(-3, 4)]
    one = ["number", "1"]
    half = ["product", [["number", "1/2"], ["sum", [one, ["alternating"]]]]]
    return random.choice([["number", "0"], one, half, test, test, ["product", [test, test]]])
