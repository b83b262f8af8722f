"""Short words that tell two machines over the same tokens apart, nearly always.

What is put out depends on the line that the last token comes before, and on whether a register is positive
there. So two tables that differ differ after one token, or before one that *asks* for a register, as a line
that subtracts from it comes next, where the register is 0 or 1. A run hardly ever comes to the line that
differs.
"""

from __future__ import annotations

from collections.abc import Iterator

from attemper.languages.machines.syntax import END, CounterMachine, Subtracting
from attemper.languages.words import Word

MOST_TOKENS = 200
"""Of more tokens no register is filled or emptied."""


def telling_words(machine: CounterMachine) -> list[Word]:
    """Each token alone, behind 1 in each register, and before one that asks with 0 and 1 in its register.

    The shortest come first.

    They have at most three tokens where amounts are 1 or 2, and else as many as take an amount away.

    >>> from attemper.languages.machines.parse import parse_machine
    >>> words = telling_words(parse_machine("input x n; take: sub n -> take else halt"))
    >>> print(*(" ".join(word) for word in words), sep="; ")
    x; start; take-; take0; take- x; x start; x take-; x x; x take0; start start; take0 start; x x take-; \
take- x start; x start start; x take- start; x take0 start; x x take- start
    """
    return sorted(dict.fromkeys(_telling_words(machine)), key=len)


def _telling_words(machine: CounterMachine) -> Iterator[Word]:
    yield from ((token,) for token in machine.effects)
    for register in range(len(machine.registers)):
        adds = {
            token: said.amount if said.register == register else 0 for token, said in machine.effects.items()
        }
        asking = [token for token in adds if _asks(machine, token, register)]
        for ask in asking:
            yield from _at_the_edge(adds, (ask,))
        filled = _holding(adds, 1)
        yield from ((*filled, token) for token in adds if filled is not None)
        for ask in sorted(asking, key=lambda token: adds[token] != 0)[:1]:
            for token in adds:
                yield from _at_the_edge(adds, (token, ask))


def _asks(machine: CounterMachine, token: str, register: int) -> bool:
    """Whether the line after a token subtracts from the register."""
    number = machine.effects[token].line
    line = None if number == END else machine.lines[number - 1]
    return isinstance(line, Subtracting) and line.register == register


def _at_the_edge(adds: dict[str, int], end: Word) -> Iterator[Word]:
    """Words with that end after which a register holds 0, and 1, by what each token adds to it."""
    for held in (0, 1):
        before = _holding(adds, held - sum(adds[token] for token in end))
        if before is not None:
            yield (*before, *end)


def _holding(adds: dict[str, int], number: int) -> Word | None:
    """A word after which the register holds that number; None where none does, or that takes many tokens."""
    adding = sorted((token for token in adds if adds[token] > 0), key=adds.__getitem__)
    taking = [token for token in adds if adds[token] < 0]
    exact = [token for token in adding if adds[token] == number]
    if exact or number == 0:
        return tuple(exact[:1])
    filled: Word = ()
    if number > 0 and adding:
        filled = (adding[0],) * -(-number // adds[adding[0]])
    over = len(filled) * adds[adding[0]] - number if filled else -number
    if over < 0 or (over and not taking) or len(filled) + over > MOST_TOKENS:
        return None
    return (*filled, *(taking[:1] * over))
