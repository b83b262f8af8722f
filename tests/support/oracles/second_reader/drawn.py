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
    return {"alphabet": ["a", "b"], "steps": steps, "output": random.choice(bits[-3:])}


def groups(random: Random, drawn: Program) -> list[list[int]]:
    """Some bits, said to exclude each other."""
    bits = [k for k, step in enumerate(drawn["steps"]) if step[0] not in ("count", "linear")]
    return [random.choices(bits, k=random.randrange(1, 3)) for _ in range(random.randrange(1, 4))]


def nearly(random: Random, automaton: dict[str, Any]) -> dict[str, Any]:
    """The automaton with one move, one verdict or the start changed."""
    changed = copy.deepcopy(automaton)
    state = random.randrange(len(changed["moves"]))
    match random.randrange(3):
        case 0:
            changed["accepting"] = sorted({*changed["accepting"]} ^ {state})
        case 1:
            changed["moves"][state][random.randrange(2)] = random.randrange(len(changed["moves"]))
        case _:
            changed["start"] = state
    return changed


def changed(random: Random, drawn: Program) -> Program:
    """The program with one step that reads something else, or another gate, mask, choice or place."""
    other = copy.deepcopy(drawn)
    step = random.choice([step for step in other["steps"][1:] if step != ["place", "1"]])
    number = other["steps"].index(step)
    match step:
        case ["and" | "union" | "merge", bits]:
            step[0] = random.choice([step[0], "and", "or", "union"])
            bits[random.randrange(len(bits))] = random.randrange(number)
        case ["attend", mask, *_]:
            step[1] = random.choice([mask, "<=", "<"])
            step[2] = random.choice([step[2], "leftmost"])
            step[random.choice([3, 4])] = random.randrange(number)
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
            ["test", random.choice(["zero", "nonnegative"]), k, factor, t],
            ["test", ["mod", random.choice([2, 3]), random.randrange(2)], k, factor, t],
        ]
    )


def _bit(random: Random, bits: list[int]) -> list[Any]:
    near = [random.choice(bits[-5:]) for _ in range(3)]
    some = near[: random.choice([0, 1, 2, 2, 2, 3])]
    rows = sorted({"".join(random.choice("01") for _ in some) for _ in range(random.randrange(5))})
    gate = random.choice(["and", "or", "xor", "and", "or", "xor", "union", "merge"])
    return random.choice(
        [
            ["letter", [random.choice("ab")]],
            ["place", _place(random)],
            ["not", near[0]],
            [gate, some],
            [gate, some],
            ["table", some, rows],
            [
                "attend",
                random.choice(["<=", "<"]),
                random.choice(["rightmost", "leftmost"]),
                near[0],
                near[1],
            ],
            [
                "attend",
                random.choice(["<=", "<"]),
                random.choice(["rightmost", "leftmost"]),
                near[0],
                near[1],
            ],
            ["previous", near[0]],
        ]
    )


def _place(random: Random) -> Any:
    predicate = random.choice(["zero", "nonnegative", ["mod", random.choice([2, 3]), random.randrange(2)]])
    test = ["test", predicate, random.choice([1, 1, 2, -1]), 0, random.randrange(-3, 4)]
    return random.choice(["0", "1", ["*", "1/2", ["+", "1", "sign"]], test, test, ["*", test, test]])
