"""Recognition tasks of Deletang et al. and of the benchmark FLaRe, as sets of words."""

from __future__ import annotations

import re
from random import Random

from attemper.languages.named.entry import Automaton, FormulaText, Regex, explored
from tests.support.corpora.literature.entry import Entry, Family, by, named

DEAD = "dead"

# Cycle navigation: steps on a cycle of five places, then the place where they end ------------------------

STEPS = {"<": -1, ">": 1, "=": 0}


def navigates(word: str) -> bool:
    is_written_so = re.fullmatch("[<>=]*[0-4]", word) is not None
    return is_written_so and (word.count(">") - word.count("<")) % 5 == int(word[-1])


def navigation() -> Automaton:
    def step(place: int | str, symbol: str) -> int | str:
        if isinstance(place, str):
            return DEAD
        if symbol in STEPS:
            return (place + STEPS[symbol]) % 5
        return "done" if place == int(symbol) else DEAD

    return explored(tuple("<>=01234"), 0, step, lambda place: place == "done")


# Modular arithmetic: a sum without brackets, an equals sign, its value modulo 5 ----------------------------

EXPRESSION = "[0-4]([-+*][0-4])*=[0-4]"


def holds_from_left_to_right(word: str) -> bool:
    if not re.fullmatch(EXPRESSION, word):
        return False
    value = int(word[0])
    for operator, digit in zip(word[1:-2:2], word[2:-2:2], strict=True):
        number = int(digit)
        value = {"+": value + number, "-": value - number, "*": value * number}[operator] % 5
    return value == int(word[-1])


def holds_with_precedence(word: str) -> bool:
    if not re.fullmatch(EXPRESSION, word):
        return False
    terms = re.findall("([-+]?)([0-4](?:[*][0-4])*)", word[:-2])
    return sum(_signed(sign, term) for sign, term in terms) % 5 == int(word[-1])


def _signed(sign: str, term: str) -> int:
    product = 1
    for digit in term.split("*"):
        product = product * int(digit) % 5
    return -product if sign == "-" else product


def arithmetic_from_left_to_right() -> Automaton:
    """The states: the value so far, and the operator that waits, if one does."""

    def step(state: tuple[object, ...], symbol: str) -> tuple[object, ...]:
        match state, symbol.isdigit():
            case ("start",), True:
                return ("value", int(symbol))
            case ("value", _), False:
                return ("equals" if symbol == "=" else symbol, state[1])
            case ("+", int(value)), True:
                return ("value", (value + int(symbol)) % 5)
            case ("-", int(value)), True:
                return ("value", (value - int(symbol)) % 5)
            case ("*", int(value)), True:
                return ("value", value * int(symbol) % 5)
            case ("equals", int(value)), True if value == int(symbol):
                return ("done",)
            case _:
                return (DEAD,)

    return explored(tuple("01234+-*="), ("start",), step, lambda state: state == ("done",))


def arithmetic_with_precedence() -> Automaton:
    """The states: the sum of the finished terms, the factor so far, and what is expected."""

    def step(state: tuple[object, ...], symbol: str) -> tuple[object, ...]:
        match state, symbol.isdigit():
            case ("start",), True:
                return ("value", 0, int(symbol))
            case ("value", int(total), int(term)), False:
                whole = (total + term) % 5
                waiting = {"*": ("*", total, term), "=": ("equals", whole)}
                return waiting.get(symbol, (symbol, whole))
            case ("+", int(total)), True:
                return ("value", total, int(symbol))
            case ("-", int(total)), True:
                return ("value", total, -int(symbol) % 5)
            case ("*", int(total), int(term)), True:
                return ("value", total, term * int(symbol) % 5)
            case ("equals", int(total)), True if total == int(symbol):
                return ("done",)
            case _:
                return (DEAD,)

    return explored(tuple("01234+-*="), ("start",), step, lambda state: state == ("done",))


# Bucket sort: a word, a mark, its symbols in order ----------------------------------------------------------


def is_sorted_copy(word: str) -> bool:
    before, mark, after = word.partition("#")
    return mark == "#" and after == "".join(sorted(before))


def sorted_copy(draw: Random, length: int) -> str:
    word = "".join(draw.choices("123", k=(length - 1) // 2))
    return f"{word}#{''.join(sorted(word))}"


BUCKETS = " & ".join(f"#<['{k}' & !O '#'] = #<['{k}' & O '#']" for k in "123")
BUCKET_SORT = (
    f"#<['#'] = 1 & {BUCKETS}"
    " & H ('1' & O '#' -> !O (('2' | '3') & O '#')) & H ('2' & O '#' -> !O ('3' & O '#'))"
)


def same_ends(word: str) -> bool:
    return word != "" and word[0] == word[-1]


FAMILY = Family(
    "Deletang et al. and FLaRe",
    "G. Deletang et al., *Neural Networks and the Chomsky Hierarchy*, 2023; A. Butoi et al., *Training "
    "Neural Networks as Recognizers of Formal Languages* (FLaRe), 2025.",
    (
        Entry("Even pairs, expression", "ab", Regex("a.*a|b.*b|a|b"), by(same_ends), before=3),
        Entry("Even pairs, formula", "ab", FormulaText("a <-> O (first & a)"), by(same_ends), before=1),
        named("Parity", "parity-odd", before=2, other=1),
        Entry(
            "Repeat 01",
            "01",
            Regex("(01)*"),
            by(lambda word: word == "01" * (len(word) // 2)),
            lambda _, length: "01" * (length // 2),
            before=2,
        ),
        named("First", "first", before=2, other=1),
        named("Majority", "majority-strict", before=2),
        Entry("Cycle navigation", "<>=01234", navigation(), by(navigates), before=5),
        Entry(
            "Modular arithmetic, left to right",
            "01234+-*=",
            arithmetic_from_left_to_right(),
            by(holds_from_left_to_right),
        ),
        Entry(
            "Modular arithmetic, with precedence",
            "01234+-*=",
            arithmetic_with_precedence(),
            by(holds_with_precedence),
        ),
        Entry(
            "Bucket sort of 1 2 3",
            "123#",
            FormulaText(BUCKET_SORT),
            by(is_sorted_copy),
            sorted_copy,
            before=3,
        ),
    ),
)
