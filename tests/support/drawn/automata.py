"""Automata with names, and random ones from a seed. All are minimal unless said otherwise."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Sequence

from attemper.languages.named import entry as named
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet

State = Hashable

DEAD = "dead"
"""The state of no return of automata given by rules."""


def explored(
    symbols: Sequence[str],
    start: State,
    move: Callable[[State, str], State],
    accepts: Callable[[State], bool],
) -> Dfa:
    """The minimal automaton of a rule that says which state follows which."""
    found = named.explored(tuple(symbols), start, move, accepts)
    return minimal(Dfa(Alphabet(tuple(symbols)), found.moves, 0, found.accepting))


def from_rows(symbols: str, rows: Sequence[Sequence[int]], accepting: Iterable[int], start: int = 0) -> Dfa:
    """The minimal automaton of a table."""
    return minimal(Dfa(Alphabet(tuple(symbols)), tuple(map(tuple, rows)), start, frozenset(accepting)))


def empty() -> Dfa:
    return from_rows("ab", [(0, 0)], [])


def universal() -> Dfa:
    return from_rows("ab", [(0, 0)], [0])


def tomita(number: int) -> Dfa:
    """Tomita's languages over 0 and 1.

    1: 1*. 2: (10)*. 3: no odd run of 0s after an odd run of 1s. 4: no 000. 5: evenly many 0s and evenly
    many 1s. 6: as many 0s as 1s modulo 3. 7: 0*1*0*1*.
    """
    match number:
        case 1:
            return from_rows("01", [(1, 0), (1, 1)], [0])
        case 2:
            return from_rows("01", [(2, 1), (0, 2), (2, 2)], [0])
        case 3:
            # 0: 1s even; 1: 1s odd; 2: odd 1s, then 0s odd; 3: odd 1s, then 0s even; 4: dead
            return from_rows("01", [(0, 1), (2, 0), (3, 4), (2, 1), (4, 4)], [0, 1, 3])
        case 4:
            return from_rows("01", [(1, 0), (2, 0), (3, 0), (3, 3)], [0, 1, 2])
        case 5:
            return from_rows("01", [(1, 2), (0, 3), (3, 0), (2, 1)], [0])
        case 6:
            return from_rows("01", [(1, 2), (2, 0), (0, 1)], [0])
        case 7:
            return from_rows("01", [(0, 1), (2, 1), (2, 3), (4, 3), (4, 4)], [0, 1, 2, 3])
        case _:
            raise ValueError(number)


def ab_star() -> Dfa:
    return from_rows("ab", [(1, 2), (2, 0), (2, 2)], [0])


def a_star_b() -> Dfa:
    return from_rows("ab", [(0, 1), (2, 2), (2, 2)], [1])


def has_aa() -> Dfa:
    return contains_power(2)


def contains_power(k: int) -> Dfa:
    """Words over a and b with k letters a in a row."""
    return explored("ab", 0, lambda s, x: s if s == k else (s + 1 if x == "a" else 0), lambda s: s == k)


def dyck(depth: int, kinds: int = 1) -> Dfa:
    """Well nested words of one or two kinds of brackets, at most `depth` deep."""
    opening, closing = "(["[:kinds], ")]"[:kinds]

    def move(state: State, symbol: str) -> State:
        if not isinstance(state, tuple):
            return DEAD
        if symbol in opening:
            return (*state, opening.index(symbol)) if len(state) < depth else DEAD
        return state[:-1] if state and state[-1] == closing.index(symbol) else DEAD

    return explored(opening + closing, (), move, lambda state: state == ())


def clamped(states: int) -> Dfa:
    """A number from 0 on that a raises and b lowers as far as there are states; accepted if it is 0."""
    last = states - 1
    return from_rows("ab", [(min(q + 1, last), max(q - 1, 0)) for q in range(states)], [0])


def parity() -> Dfa:
    return count_modulo(2)


def count_modulo(k: int) -> Dfa:
    """Words over a and b in which the number of b is divisible by k."""
    return from_rows("ab", [(q, (q + 1) % k) for q in range(k)], [0])


def length_modulo(k: int, symbols: str = "a") -> Dfa:
    return from_rows(symbols, [((q + 1) % k,) * len(symbols) for q in range(k)], [0])


def contains_all(k: int) -> Dfa:
    """Words in which each of k letters occurs."""
    every = frozenset("abcdefgh"[:k])
    return explored(sorted(every), frozenset(), lambda s, x: s | {x}, lambda s: s == every)  # type: ignore[operator]


def kth_from_end(k: int) -> Dfa:
    """Words over a and b whose k-th letter from the end is a."""
    return explored("ab", "b" * k, lambda s, x: (s + x)[1:], lambda s: s[0] == "a")  # type: ignore[operator,index]


def iso_date() -> Dfa:
    """dddd-dd-dd, where d stands for a digit."""
    shape = "dddd-dd-dd"
    return explored(
        "d-",
        0,
        lambda s, x: s + 1 if s != DEAD and s < len(shape) and shape[s] == x else DEAD,  # type: ignore[operator,index]
        lambda s: s == len(shape),
    )


def no_odd_run() -> Dfa:
    """Words over 0 and 1 whose runs of 1 all have even length: (0|11)*."""
    return from_rows("01", [(0, 1), (2, 0), (2, 2)], [0])


def block_comments() -> Dfa:
    """Texts over *, / and x in which comments are closed."""
    rows = {"code": "code slash code", "slash": "comment slash code"}
    rows |= {"comment": "star comment comment", "star": "star code comment"}
    table = {state: dict(zip("*/x", row.split(), strict=True)) for state, row in rows.items()}
    return explored("*/x", "code", lambda s, x: table[str(s)][x], lambda s: s in ("code", "slash"))


GENERATORS: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "S3": ((1, 2, 0), (1, 0, 2)),
    "S4": ((1, 2, 3, 0), (1, 0, 2, 3)),
    "D4": ((1, 2, 3, 0), (0, 3, 2, 1)),
    # The left multiplications of 1, i, -1, -i, j, k, -j, -k by i and by j, in this order.
    "Q8": ((1, 2, 3, 0, 5, 6, 7, 4), (4, 7, 6, 5, 2, 1, 0, 3)),
    "A4": ((1, 2, 0, 3), (0, 2, 3, 1)),
    "A5": ((1, 2, 0, 3, 4), (1, 2, 3, 4, 0)),
    "S5": ((1, 2, 3, 4, 0), (1, 0, 2, 3, 4)),
}


def word_problem(name: str) -> Dfa:
    """Words over two generators a and b of a group whose product is the identity."""
    generators = dict(zip("ab", GENERATORS[name], strict=True))
    unit = tuple(range(len(GENERATORS[name][0])))
    return explored(
        "ab",
        unit,
        lambda s, x: tuple(generators[x][point] for point in s),  # type: ignore[attr-defined]
        lambda s: s == unit,
    )


def permuting(*generators: Sequence[int]) -> Dfa:
    """Words over a, b, ... whose permutations take 0 to 0."""
    return from_rows("abcdefgh"[: len(generators)], list(zip(*generators, strict=True)), [0])


def random_dfa(seed: int, states: int, letters: int) -> Dfa:
    """The minimal automaton of a random table; it may have fewer states."""
    draw = random.Random(seed)
    rows = [[draw.randrange(states) for _ in range(letters)] for _ in range(states)]
    return from_rows("abcdefgh"[:letters], rows, [q for q in range(states) if draw.random() < 0.5])


def random_near_permutations(seed: int, states: int, letters: int) -> Dfa:
    """Random letters that are permutations, or permutations with one state moved elsewhere."""
    draw = random.Random(seed)
    columns = []
    for _ in range(letters):
        column = draw.sample(range(states), states)
        if draw.random() < 0.5:
            column[draw.randrange(states)] = draw.randrange(states)
        columns.append(column)
    accepting = [q for q in range(states) if draw.random() < 0.5]
    return from_rows("abcdefgh"[:letters], list(zip(*columns, strict=True)), accepting)


def random_order_preserving(seed: int, states: int, letters: int) -> Dfa:
    """Every letter keeps the order of the states, so the language is star-free; some go up, some down."""
    draw = random.Random(seed)
    near = [[q + (-1) ** k * draw.randint(0, 3) for q in range(states)] for k in range(letters)]
    columns = [sorted(min(max(target, 0), states - 1) for target in column) for column in near]
    accepting = [q for q in range(states) if draw.random() < 0.5]
    return from_rows(
        "abcdefgh"[:letters], list(zip(*columns, strict=True)), accepting, draw.randrange(states)
    )


def random_reset_cascade(seed: int, sizes: Sequence[int], letters: int) -> Dfa:
    """Levels that a letter and the levels above either reset or leave alone, so the language is star-free."""
    return random_cascade(seed, [("r", size) for size in sizes], letters)


def random_cascade(seed: int, parts: Sequence[tuple[str, int]], letters: int) -> Dfa:
    """Levels of counters ("c", modulus) and resets ("r", values) that a letter and the levels above drive."""
    draw = random.Random(seed)
    rules: dict[State, int | None] = {}

    def move(state: State, symbol: str) -> State:
        after = []
        for level, ((kind, size), value) in enumerate(zip(parts, state, strict=True)):  # type: ignore[call-overload]
            key = (symbol, state[:level])  # type: ignore[index]
            if key not in rules:
                rules[key] = draw.randrange(size) if kind == "c" else draw.choice([None, *range(size)])
            chosen = rules[key]
            if kind == "c":
                assert chosen is not None
                after.append((value + chosen) % size)
            else:
                after.append(value if chosen is None else chosen)
        return tuple(after)

    chosen_states: dict[State, bool] = {}
    return explored(
        "abcdefgh"[:letters],
        (0,) * len(parts),
        move,
        lambda state: chosen_states.setdefault(state, draw.random() < 0.5),
    )


def random_r_trivial(seed: int, states: int, letters: int) -> Dfa:
    """Every letter leads to the same state or a higher one, so the language is star-free."""
    draw = random.Random(seed)
    rows = [[draw.randrange(q, states) for _ in range(letters)] for q in range(states)]
    return from_rows("abcdefgh"[:letters], rows, [q for q in range(states) if draw.random() < 0.5])


def wandering(dfa: Dfa, draw: random.Random, length: int, straying: float = 0) -> tuple[str, ...]:
    """A walk that goes on to a state that it visited least; with this probability, anywhere."""
    visits = [0] * len(dfa.moves)
    state, word = dfa.start, []
    for _ in range(length):
        row = dfa.moves[state]
        least = min(visits[target] for target in row)
        letter = draw.choice([n for n, target in enumerate(row) if visits[target] == least])
        if straying and draw.random() < straying:
            letter = draw.randrange(len(row))
        state = row[letter]
        visits[state] += 1
        word.append(dfa.alphabet.symbols[letter])
    return tuple(word)
