"""Random regular expressions from a seed, together with their minimal automata."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import parse_alphabet

ALPHABETS = ("ab", "abc")

SIZES = ((5, 9), (10, 19), (20, 39), (40, 60))
"""Ranges of numbers of states that are drawn from in turn: without them most automata would be small."""

OPERATIONS = {"sequence": 10, "union": 6, "star": 4, "plus": 1, "option": 1, "power": 1, "set": 1, "both": 1}
"""How often each is drawn; `both` is an intersection with a complement."""


@dataclass(frozen=True)
class Expression:
    """A regular expression and its minimal automaton."""

    text: str
    dfa: Dfa


def random_regex(draw: random.Random, letters: str, nesting: int) -> str:
    """An expression in brackets, or a letter, whose operations nest at most `nesting` deep."""
    if nesting == 0 or draw.random() < 0.1:
        return draw.choice(letters)

    def part() -> str:
        return random_regex(draw, letters, nesting - 1)

    match draw.choices(list(OPERATIONS), weights=list(OPERATIONS.values()))[0]:
        case "sequence":
            return f"({part()}{part()})"
        case "union":
            return f"({part()}|{part()})"
        case "star":
            return f"(({part()})*)"
        case "plus":
            return f"(({part()})+)"
        case "option":
            return f"(({part()})?)"
        case "power":
            least = draw.randint(1, 3)
            return f"(({part()}){{{least},{least + draw.randint(0, 2)}}})"
        case "set":
            return draw.choice([".", f"[^{draw.choice(letters)}]", f"[{letters[0]}-{letters[-1]}]"])
        case _:
            return f"({part()}&~{part()})"


def random_expressions(seed: int, count: int) -> Iterator[Expression]:
    """Expressions over two and three letters whose automata have 5 to 60 states, all of them different."""
    draw = random.Random(seed)
    found: set[Dfa] = set()
    while len(found) < count:
        least, most = SIZES[len(found) % len(SIZES)]
        letters = ALPHABETS[len(found) // len(SIZES) % len(ALPHABETS)]
        text = random_regex(draw, letters, draw.randint(4, 7))
        dfa = parse_regex(text, parse_alphabet(letters))
        if least <= len(dfa.moves) <= most and dfa not in found:
            found.add(dfa)
            yield Expression(text, dfa)
