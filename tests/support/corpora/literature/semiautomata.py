"""Semiautomata that Liu et al. simulate by few layers: memories, walks between walls, and groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from attemper.languages.named.entry import Automaton, FormulaText, explored
from tests.support.corpora.literature.entry import Entry, Family, Oracle, by, running

# One bit of memory ---------------------------------------------------------------------------------------


def reads_what_was_written(word: str) -> bool:
    """Pairs of an instruction (write, read, ignore) and a bit; the first writes, the last reads."""
    if not re.fullmatch("(w[01])([wri][01])*(r[01])", word):
        return False
    memory = ""
    for instruction, bit in zip(word[::2], word[1::2], strict=True):
        if instruction == "w":
            memory = bit
        elif instruction == "r" and bit != memory:
            return False
    return True


def flip_flop() -> Automaton:
    """The states: whether an instruction or its bit comes next, and what is remembered."""

    def step(state: tuple[str, str], symbol: str) -> tuple[str, str]:
        match state, symbol:
            case ("start", _), "w":
                return ("w", "")
            case ("w", _), ("0" | "1"):
                return ("next", symbol)
            case ("next" | "done", _), "w":
                return ("w", "")
            case ("next" | "done", memory), ("r" | "i"):
                return (symbol, memory)
            case ("r", memory), ("0" | "1") if symbol == memory:
                return ("done", memory)
            case ("i", memory), ("0" | "1"):
                return ("next", memory)
            case _:
                return ("dead", "")

    return explored(tuple("wri01"), ("start", ""), step, lambda state: state[0] == "done")


def flip_flop_word(draw: Random, length: int) -> str:
    memory = draw.choice("01")
    word = f"w{memory}"
    while len(word) + 4 <= length:
        instruction, bit = draw.choice("wri"), draw.choice("01")
        memory = bit if instruction == "w" else memory
        word += instruction + (memory if instruction == "r" else bit)
    return f"{word}r{memory}"


FLIP_FLOP = (
    "H (pos % 2 = 1 <-> (w | r | i)) & O (first & w) & pos % 2 = 0 & Y r"
    " & H ('1' & Y r -> !('0' & Y w) S ('1' & Y w)) & H ('0' & Y r -> !('1' & Y w) S ('0' & Y w))"
)

# Walks between walls -------------------------------------------------------------------------------------


def walk(sizes: tuple[int, ...]) -> tuple[Automaton, Oracle]:
    """From one corner of a grid to the same corner: two symbols for each direction, which walls stop."""
    alphabet = "LRDU"[: 2 * len(sizes)]
    steps = {"L": (0, -1), "R": (0, 1), "D": (1, -1), "U": (1, 1)}

    def step(place: tuple[int, ...], symbol: str) -> tuple[int, ...]:
        axis, change = steps[symbol]
        after = place[axis] + change
        return (*place[:axis], after, *place[axis + 1 :]) if 0 <= after < sizes[axis] else place

    def stays_or_walks(line: list[str], symbol: str) -> list[str]:
        """The same with pictures: one line of cells for each direction, * where the walker stands."""
        axis, change = steps[symbol]
        pair = ("*.", ".*") if change > 0 else (".*", "*.")
        return [cells.replace(*pair, 1) if at == axis else cells for at, cells in enumerate(line)]

    corner = [f"*{'.' * (size - 1)}" for size in sizes]
    automaton = explored(tuple(alphabet), (0,) * len(sizes), step, lambda place: not any(place))
    return automaton, running(corner, stays_or_walks, lambda line: line == corner)


def walk_entry(name: str, sizes: tuple[int, ...], before: int) -> Entry:
    return Entry(name, "LRDU"[: 2 * len(sizes)], *walk(sizes), before=before)


# Groups: words that multiply to the identity --------------------------------------------------------------

Permutation = tuple[int, ...]


def word_problem(generators: Mapping[str, Permutation]) -> Automaton:
    """The automaton whose states are the permutations."""
    identity = tuple(range(len(next(iter(generators.values())))))

    def step(state: Permutation, symbol: str) -> Permutation:
        return tuple(state[place] for place in generators[symbol])

    return explored(tuple("".join(generators)), identity, step, lambda state: state == identity)


def rotation(count: int) -> Permutation:
    return (*range(1, count), 0)


def reflection(count: int) -> Permutation:
    return tuple(-place % count for place in range(count))


def turned_and_flipped(count: int) -> Oracle:
    """A polygon by how far it is turned (a) and whether it is flipped (b)."""

    def step(state: tuple[int, bool], symbol: str) -> tuple[int, bool]:
        angle, flipped = state
        return (angle, not flipped) if symbol == "b" else ((angle + (-1 if flipped else 1)) % count, flipped)

    return running((0, False), step, lambda state: state == (0, False))


Point = tuple[int, ...]


def moved(start: Point, moves: dict[str, Callable[[Point], Point]]) -> Oracle:
    """A point in general position, which is back only if nothing is moved."""
    return running(start, lambda point, symbol: moves[symbol](point), lambda point: point == start)


def with_the_last_two_swapped(point: Point) -> Point:
    return (*point[:-2], point[-1], point[-2])


def with_the_last_in_front(point: Point) -> Point:
    return (point[-1], *point[:-1])


def dealt(count: int, first: Callable[[Point], Point], second: Callable[[Point], Point]) -> Oracle:
    """A row of cards that are moved."""
    return moved(tuple(range(count)), {"a": first, "b": second})


def multiplied() -> Oracle:
    """The quaternions i and j as complex matrices with two rows."""
    one, i, j = ((1, 0), (0, 1)), ((1j, 0), (0, -1j)), ((0, 1), (-1, 0))
    matrices = {"a": i, "b": j}

    def step(left: tuple[tuple[complex, ...], ...], symbol: str) -> tuple[tuple[complex, ...], ...]:
        right = matrices[symbol]
        columns = tuple(zip(*right, strict=True))
        return tuple(
            tuple(sum(x * y for x, y in zip(row, column, strict=True)) for column in columns) for row in left
        )

    return running(one, step, lambda matrix: matrix == one)


def quaternions() -> Automaton:
    """States are a sign and one of 1, i, j, k; words of i and j."""
    table = {("1", "a"): (1, "i"), ("i", "a"): (-1, "1"), ("j", "a"): (-1, "k"), ("k", "a"): (1, "j")}
    table |= {("1", "b"): (1, "j"), ("i", "b"): (1, "k"), ("j", "b"): (-1, "1"), ("k", "b"): (-1, "i")}

    def step(state: tuple[int, str], symbol: str) -> tuple[int, str]:
        sign, unit = table[state[1], symbol]
        return (sign * state[0], unit)

    return explored(tuple("ab"), (1, "1"), step, lambda state: state == (1, "1"))


def divisible(**moduli: int) -> Oracle:
    return by(lambda word: all(word.count(symbol) % modulus == 0 for symbol, modulus in moduli.items()))


DISJOINT_CYCLES = {"a": (1, 0, 2, 3, 4, 5, 6), "b": (0, 1, 3, 2, 4, 5, 6), "c": (0, 1, 2, 3, 5, 6, 4)}

TETRAHEDRON = {"a": (1, 0, 3, 2), "b": (1, 2, 0, 3)}
"""Half a turn about an axis through two edges, a third of a turn about one through a corner."""

CUBE = {"a": (1, 0, 2, 3), "b": (1, 2, 3, 0)}
"""What rotations do to a cube's four diagonals: half a turn about an edge, a quarter about a face."""

MOVES_OF_A_TETRAHEDRON: dict[str, Callable[[Point], Point]] = {
    "a": lambda point: (point[0], -point[1], -point[2]),
    "b": lambda point: (point[2], point[0], point[1]),
}
MOVES_OF_A_CUBE: dict[str, Callable[[Point], Point]] = {
    "a": lambda point: (-point[0], point[2], point[1]),
    "b": lambda point: (-point[1], point[0], point[2]),
}


def five_cards(first: Permutation) -> tuple[Automaton, Oracle]:
    """Permutations of five cards, moved by `first` and by a cycle of all."""
    moves = {"a": first, "b": rotation(5)}
    shuffled: dict[str, Callable[[Point], Point]] = {
        symbol: partial(_rearranged, order) for symbol, order in moves.items()
    }
    return word_problem(moves), moved((0, 1, 2, 3, 4), shuffled)


def _rearranged(order: Permutation, cards: Point) -> Point:
    return tuple(cards[place] for place in order)


def group(
    name: str, automaton: Automaton, oracle: Oracle, alphabet: str = "ab", before: int | None = None
) -> Entry:
    return Entry(name, alphabet, automaton, oracle, before=before)


FAMILY = Family(
    "Semiautomata",
    "B. Liu et al., *Transformers Learn Shortcuts to Automata*, 2023; B. Liu et al., *Exposing Attention "
    "Glitches with Flip-Flop Language Modeling*, 2023.",
    (
        Entry("Flip-flop, automaton", "wri01", flip_flop(), by(reads_what_was_written), before=3),
        Entry(
            "Flip-flop, formula",
            "wri01",
            FormulaText(FLIP_FLOP),
            by(reads_what_was_written),
            flip_flop_word,
            before=3,
        ),
        walk_entry("Gridworld, 4 cells", (4,), 3),
        walk_entry("Gridworld, 8 cells", (8,), 7),
        walk_entry("Gridworld, 16 cells", (16,), 15),
        walk_entry("Gridworld, 3 x 3 cells", (3, 3), 3),
        walk_entry("Gridworld, 5 x 5 cells", (5, 5), 5),
        group("C7", word_problem({"a": rotation(7), "b": tuple(range(7))}), divisible(a=7), before=2),
        group("C2 x C2 x C3", word_problem(DISJOINT_CYCLES), divisible(a=2, b=2, c=3), "abc", 3),
        group(
            "S3",
            word_problem({"a": (0, 2, 1), "b": (2, 0, 1)}),
            dealt(3, with_the_last_two_swapped, with_the_last_in_front),
            before=5,
        ),
        group("D4", word_problem({"a": rotation(4), "b": reflection(4)}), turned_and_flipped(4), before=3),
        group("Q8", quaternions(), multiplied(), before=3),
        group("D8", word_problem({"a": rotation(8), "b": reflection(8)}), turned_and_flipped(8), before=6),
        group("A4", word_problem(TETRAHEDRON), moved((1, 2, 3), MOVES_OF_A_TETRAHEDRON), before=5),
        group("S4", word_problem(CUBE), moved((1, 2, 3), MOVES_OF_A_CUBE), before=6),
        group("A5", *five_cards((1, 2, 0, 3, 4))),
        group("S5", *five_cards((1, 0, 2, 3, 4))),
    ),
)
