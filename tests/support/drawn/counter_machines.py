"""Counter machines to try things on: families that compute something, and random tables."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count, islice

from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.syntax import Adding, CounterMachine, Input, MachineLine, Subtracting

LEAST, LAST, PERIOD = 2_000, 1_000, 500
"""A run is worth trying if it has so many tokens and no period up to PERIOD in the LAST ones."""


@dataclass
class Listing:
    """Lines of a machine, with labels of their own."""

    lines: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=count)

    def label(self) -> str:
        """A label that no line has yet."""
        return f"q{next(self.numbers)}"

    def move(self, source: str, to: Mapping[str, int], at: str, then: str) -> None:
        """From `at` on each unit of the source becomes so many of others; then goes on."""
        labels = [self.label() for _ in to]
        self.lines.append(f"{at}: sub {source} -> {labels[0] if labels else at} else {then}")
        follow = [*labels[1:], at] if labels else []
        for label, (register, amount), after in zip(labels, to.items(), follow, strict=True):
            self.lines.append(f"{label}: add {register} {amount} -> {after}")

    def machine(self, *registers: str) -> CounterMachine:
        """The machine, with decimal inputs for these registers."""
        inputs = [f"input {r}{k} {r} {k}" for r in registers for k in (100, 10, 1)]
        return parse_machine("\n".join([*inputs, *self.lines]))


def collatz(odd: int, plus: int) -> CounterMachine:
    """n becomes n / 2, or odd * n + plus, until it is 1."""
    made = Listing()
    made.lines += ["A: sub n -> A1 else B", "A1: sub n -> A2 else C", "A2: add m -> A"]
    made.move("m", {"n": 1}, "B", "A")
    made.lines += ["C: sub m -> C1 else halt", f"C1: add n {odd + plus} -> C2", f"C2: add n {2 * odd} -> D"]
    made.move("m", {"n": 2 * odd}, "D", "A")
    return made.machine("n")


def powers(base: int) -> CounterMachine:
    """r = base^n, and then all over with n + 1 = 1, 2, ... in its place."""
    made = Listing()
    made.lines += ["Z: add k -> Y"]
    made.move("k", {"n": 1, "t": 1}, "Y", "X")
    made.move("t", {"k": 1}, "X", "I")
    made.lines += ["I: add r -> L", "L: sub n -> M else E"]
    made.move("r", {"t": base}, "M", "N")
    made.move("t", {"r": 1}, "N", "L")
    made.move("r", {}, "E", "Z")
    return made.machine("n")


def squares(step: int) -> CounterMachine:
    """s adds up step, 2 step, 3 step, ..."""
    made = Listing()
    made.lines += [f"L: add m {step} -> C"]
    made.move("m", {"s": 1, "t": 1}, "C", "D")
    made.move("t", {"m": 1}, "D", "L")
    return made.machine("m")


def division(first: int, step: int) -> CounterMachine:
    """q adds up how often each of first, first + step, ... goes into n."""
    made = Listing()
    made.lines += [f"I: add d {first} -> L"]
    made.move("n", {"x": 1, "t": 1}, "L", "T")
    made.move("t", {"n": 1}, "T", "E")
    made.move("d", {"e": 1, "t": 1}, "E", "U")
    made.move("t", {"d": 1}, "U", "W")
    made.lines += ["W: sub x -> V else Z", "V: sub e -> F else Q", "F: add f -> W", "Q: add q -> R"]
    made.move("f", {"e": 1}, "R", "V")
    made.move("e", {}, "Z", "G")
    made.move("f", {}, "G", "S")
    made.lines += [f"S: add d {step} -> L"]
    return made.machine("n")


def gcd(step: int) -> CounterMachine:
    """g adds up the greatest common divisors of n and step, 2 step, ..."""
    made = Listing()
    made.lines += [f"I: add k {step} -> P"]
    made.move("n", {"a": 1, "t": 1}, "P", "P2")
    made.move("t", {"n": 1}, "P2", "O")
    made.move("k", {"b": 1, "t": 1}, "O", "O2")
    made.move("t", {"k": 1}, "O2", "G")
    made.lines += ["G: sub a -> H else A", "H: sub b -> C else B", "C: add c -> G", "B: add a -> B2"]
    made.move("c", {"b": 1}, "B2", "G")
    made.move("c", {"a": 1}, "A", "T")
    made.lines += ["T: sub b -> T2 else Y", "T2: add b -> G"]
    made.move("a", {"g": 1}, "Y", "I")
    return made.machine("n")


def sieve(first: int) -> CounterMachine:
    """p counts the primes from n + first on, each tried by every smaller number."""
    made = Listing()
    made.lines += [f"I: add n {first} -> N", "N: add n -> K", "K: add d -> J", "J: add d -> L"]
    made.move("n", {"x": 1, "t": 1}, "L", "T")
    made.move("t", {"n": 1}, "T", "E")
    made.move("d", {"e": 1, "t": 1}, "E", "U")
    made.move("t", {"d": 1}, "U", "W")
    # x counts down while e does, and e is filled again: both end together where d divides n.
    made.lines += ["W: sub x -> V else O", "V: sub e -> F else R", "F: add f -> W"]
    made.move("f", {"e": 1}, "R", "V")
    made.lines += ["O: sub e -> S else D", "S: add e -> X"]
    made.move("e", {}, "X", "X2")
    made.move("f", {}, "X2", "X3")
    made.lines += ["X3: add d -> L"]
    # d divides n: n is a prime if d is n.
    made.move("f", {}, "D", "D2")
    made.move("n", {"t": 1, "y": 1}, "D2", "D3")
    made.move("t", {"n": 1}, "D3", "D4")
    made.lines += ["D4: sub d -> D5 else D6", "D5: sub y -> D4 else D6", "D6: sub y -> D7 else D8"]
    made.move("y", {}, "D7", "N")
    made.lines += ["D8: add p -> N"]
    return made.machine("n")


def fibonacci(one: int, two: int) -> CounterMachine:
    """(a, b) becomes (b, one * a + two * b)."""
    made = Listing()
    made.move("b", {"d": 1, "c": two}, "L", "M")
    made.move("a", {"c": one}, "M", "N")
    made.move("c", {"b": 1}, "N", "O")
    made.move("d", {"a": 1}, "O", "L")
    return made.machine("a", "b")


def tag(first: tuple[int, ...], second: tuple[int, ...]) -> CounterMachine:
    """Like a 2-tag system over 1 and 2: w is a number in base 3, whose lowest digit is the front.

    Two digits go from the front, and what the first of them stands for is added at p, which grows.
    """
    made = Listing()
    made.lines += ["I: add p -> J"]
    made.move("p", {"p2": 3}, "J", "J1")
    made.move("p2", {"p": 3}, "J1", "P0")
    for digit, word in enumerate(((), first, second)):
        made.lines.append(f"P{digit}: sub w -> {f'P{digit + 1}' if digit < 2 else 'P3'} else Q{digit}")
        value = sum(own * 3**k for k, own in enumerate(word))
        made.move("v", {"w": 1}, f"Q{digit}", f"R{digit}")
        made.move("w", {"z": 1}, f"R{digit}", f"S{digit}")
        made.lines += [
            f"S{digit}: sub z -> S{digit}a else T{digit}",
            f"S{digit}a: sub z -> S{digit}b else T{digit}",
        ]
        made.lines += [f"S{digit}b: sub z -> S{digit}c else T{digit}", f"S{digit}c: add w -> S{digit}"]
        made.move("p", {"p2": 1, "w": max(value, 1)}, f"T{digit}", f"U{digit}")
        made.move("p2", {"p": 2 if word else 1}, f"U{digit}", "P0")
    made.lines += ["P3: add v -> P0"]
    return made.machine("w")


def families() -> list[CounterMachine]:
    """Sixty machines that compute something."""
    return [
        *(collatz(odd, plus) for odd in (3, 5, 7, 9) for plus in (1, 3, 5)),
        *map(powers, (2, 3, 4, 5, 6, 7)),
        *map(squares, (1, 2, 3, 4, 5, 7, 9, 11)),
        *(division(first, step) for first in (2, 3, 5) for step in (1, 2, 3)),
        *map(gcd, (1, 2, 3, 5)),
        *map(sieve, (1, 2, 4, 6)),
        *(fibonacci(one, two) for one in (1, 2, 3) for two in (1, 2, 3)),
        *(tag(first, second) for first in ((1, 2), (2, 1, 1), (2,), (2, 2)) for second in ((1,), (1, 1))),
    ]


def is_worth_trying(tokens: list[str]) -> bool:
    """Whether a run is long, and does not go round and round at its end."""
    tail = tokens[-LAST:]
    return len(tokens) >= LEAST and not any(tail[p:] == tail[:-p] for p in range(1, PERIOD + 1))


def runs_worth_trying(machine: CounterMachine, most: int) -> Iterator[tuple[dict[str, int], list[str]]]:
    """Inputs, and runs from there, that are long and do not go round and round."""
    registers = [
        name
        for name in machine.registers
        if any(machine.registers[own.register] == name for own in machine.inputs)
    ]
    for number in range(1, 200):
        begin = {name: number + 2 * k for k, name in enumerate(registers)}
        word = [token for name, value in begin.items() for token in _units(machine, name, value)]
        tokens = list(islice(run(machine, (*word, machine.start)), most))
        while len(tokens) >= LEAST and not is_worth_trying(tokens):
            del tokens[-100:]
        if len(tokens) >= LEAST:
            yield begin, tokens


def _units(machine: CounterMachine, name: str, value: int) -> list[str]:
    register = machine.registers.index(name)
    (one,) = (own.token for own in machine.inputs if (own.register, own.amount) == (register, 1))
    return [one] * value


def random_machine(rng: random.Random, lines: int, registers: int) -> CounterMachine:
    """Any table: with lines that nothing comes to, that go on with themselves, registers that nobody asks."""

    def target() -> int:
        return rng.choice([0, *range(1, lines + 1), *range(1, lines + 1)])

    def line(number: int) -> MachineLine:
        register, after = rng.randrange(registers), rng.choice([number % lines + 1, target()])
        if rng.random() < 0.45:
            return Adding(f"L{number}", register, rng.choice([1, 1, 2, 5]), after)
        return Subtracting(f"L{number}", register, target(), after)

    inputs = tuple(Input(f"x{r}", r, 1) for r in range(registers))
    table = tuple(line(number) for number in range(1, lines + 1))
    return CounterMachine(tuple(f"r{r}" for r in range(registers)), inputs, "go", table)


def changed(rng: random.Random, machine: CounterMachine) -> CounterMachine:
    """The machine with one place of its table changed, over the same tokens."""
    places = [
        (k, name)
        for k, line in enumerate(machine.lines)
        for name in ("then", "otherwise", "register", "amount")
        if hasattr(line, name)
    ]
    places += [(-1 - k, name) for k in range(len(machine.inputs)) for name in ("register", "amount")]
    place, name = rng.choice(places)
    old = machine.lines[place] if place >= 0 else machine.inputs[-1 - place]
    now = getattr(old, name)
    most = {"register": len(machine.registers) - 1, "amount": now + 1}.get(name, len(machine.lines))
    least = 1 if name == "amount" else 0
    others = [value for value in range(least, most + 1) if value != now] or [now]
    new = replace(old, **{name: rng.choice(others)})
    if place >= 0:
        return replace(machine, lines=(*machine.lines[:place], new, *machine.lines[place + 1 :]))
    at = -1 - place
    return replace(machine, inputs=(*machine.inputs[:at], new, *machine.inputs[at + 1 :]))
