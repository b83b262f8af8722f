"""The program of a counter machine: what the machine writes next, at every position of every word.

up_r is the sum of what the tokens up to here add to register r, positive_r is [up_r >= 1], and at(q) says
that the token here comes before line q. An adding line puts out its token where at(q), a subtracting one
where at(q) and positive_r, or at(q) and not positive_r; `none` is put out where the token here comes before
the end. Each token comes before one line or the end, so that exactly one symbol is put out. (Jiang, Hahn,
Zetzsche and Lin, *Softmax Transformers are Turing-Complete*, has such programs on paper.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from attemper.attention_program.ops import (
    Compare,
    Connective,
    Count,
    Gate,
    Letter,
    Linear,
    Mask,
    Not,
    Program,
    Ref,
    Step,
)
from attemper.languages.machines.syntax import END, HALTS, Adding, CounterMachine, tokens_of


def program_of(machine: CounterMachine) -> Program:
    """The program that puts out what the machine writes next, as the machine's own `rows` say.

    >>> from attemper.attention_program.show import show_program
    >>> from attemper.languages.machines.parse import parse_machine
    >>> print(show_program(program_of(parse_machine("input x n; take: sub n -> take else halt"))))
    alphabet ["x", "start", "take-", "take0"]
    s0 = letter ["x", "start", "take-"]
    s1 = letter ["x"]
    s2 = count <= s1
    s3 = letter ["take-"]
    s4 = count <= s3
    s5 = linear 1 s2 -1 s4 0
    s6 = compare s5 >= 1
    s7 = not s6
    s8 = and s0 s6
    s9 = and s0 s7
    s10 = letter ["take0"]
    output ["take-", "take0", "none"] s8 s9 s10
    <BLANKLINE>
    """
    known: dict[Step, Ref] = {}

    def add(step: Step) -> Ref:
        return known.setdefault(step, len(known))

    symbols = tuple(_outputs(machine, add))
    return Program(machine.alphabet, tuple(known), symbols[0][1], symbols)


def _outputs(machine: CounterMachine, add: Callable[[Step], Ref]) -> Iterator[tuple[str, Ref]]:
    for number, line in enumerate(machine.lines, start=1):
        here = add(Letter(machine.tokens_before(number)))
        if isinstance(line, Adding):
            yield tokens_of(line)[0], here
            continue
        is_positive = _is_positive(machine, add, line.register)
        for token, holds in zip(tokens_of(line), (is_positive, add(Not(is_positive))), strict=True):
            yield token, add(Gate(Connective.AND, (here, holds)))
    yield HALTS, add(Letter(machine.tokens_before(END)))


def _is_positive(machine: CounterMachine, add: Callable[[Step], Ref], register: int) -> Ref:
    """[the register is 1 or more], of the sum of what all tokens up to here add to it."""
    adding: dict[int, list[str]] = {}
    for token, said in machine.effects.items():
        if said.amount and said.register == register:
            adding.setdefault(said.amount, []).append(token)
    counts = tuple(
        (amount, add(Count(Mask.UP_TO, add(Letter(tuple(tokens)))))) for amount, tokens in adding.items()
    )
    return add(Compare(add(Linear(counts, 0)), 1))
