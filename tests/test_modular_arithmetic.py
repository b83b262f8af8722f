"""Arithmetic modulo 5, a task of Deletang et al. and of FLaRe: judged by an oracle that only calculates."""

from __future__ import annotations

import random
import re
from functools import cache

import pytest

from attemper.checker.proof import prove
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.languages.regular.dfa import Dfa
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compiled_source
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests.support.drawn import automata

SYMBOLS = "01234+-*="


def left_to_right() -> Dfa:
    """d o d o ... d = d, with operators that bind alike."""

    def move(state: object, symbol: str) -> object:
        match state:
            case ("first",) if symbol.isdigit():
                return "value", int(symbol)
            case ("value", value) if symbol in "+-*":
                return "operator", value, symbol
            case ("value", value) if symbol == "=":
                return "equals", value
            case ("operator", int(value), operator) if symbol.isdigit():
                own = int(symbol)
                return "value", {"+": value + own, "-": value - own, "*": value * own}[str(operator)] % 5
            case ("equals", value) if symbol == str(value):
                return ("right",)
            case _:
                return automata.DEAD

    return automata.explored(SYMBOLS, ("first",), move, lambda state: state == ("right",))


def with_precedence() -> Dfa:
    """The same, where products are calculated before sums: the sum so far, and the last term."""

    def move(state: object, symbol: str) -> object:
        match state:
            case ("open", total, int(term)) if symbol.isdigit():
                return "value", total, term * int(symbol) % 5
            case ("value", total, term) if symbol == "*":
                return "open", total, term
            case ("value", int(total), int(term)) if symbol in "+-":
                return "open", (total + term) % 5, 1 if symbol == "+" else 4
            case ("value", int(total), int(term)) if symbol == "=":
                return "equals", (total + term) % 5
            case ("equals", value) if symbol == str(value):
                return ("right",)
            case _:
                return automata.DEAD

    return automata.explored(SYMBOLS, ("open", 0, 1), move, lambda state: state == ("right",))


def value(expression: str, has_precedence: bool) -> int:
    """The value modulo 5, from left to right or as Python calculates it."""
    if has_precedence:
        return int(eval(expression)) % 5
    total = 0
    for operator, digit in re.findall(r"([-+*])(\d)", "+" + expression):
        total = int(eval(f"({total}){operator}{digit}")) % 5
    return total


def is_right(text: str, has_precedence: bool) -> bool:
    found = re.fullmatch(r"(\d(?:[-+*]\d)*)=(\d)", text)
    return found is not None and value(found[1], has_precedence) == int(found[2])


@cache
def words() -> tuple[str, ...]:
    """Equations, equations with one symbol changed, and random symbols, up to length 60."""
    draw = random.Random("arithmetic")
    found = ["".join(draw.choices(SYMBOLS, k=draw.randint(1, 9))) for _ in range(100)]
    for number in range(300):
        digits = 1 + draw.randrange(30)
        text = draw.choice("01234") + "".join(
            draw.choice("+-*") + draw.choice("12340") for _ in range(digits - 1)
        )
        text += f"={value(text, number % 2 == 0) if number % 3 else draw.choice('01234')}"
        place = draw.randrange(len(text))
        found += [text, text[:place] + draw.choice(SYMBOLS) + text[place + 1 :]]
    return tuple(found)


def assert_right(model: Model, has_precedence: bool) -> None:
    runs = list(model.run(sorted((tuple(word) for word in words()), key=len)))
    expected = [is_right("".join(run.word), has_precedence) for run in runs]
    assert [run.bits[-1] for run in runs] == expected
    assert sum(expected) >= 100


def test_the_oracle_calculates() -> None:
    assert is_right("1+2*3=4", False)
    assert is_right("1+2*3=2", True)
    assert not is_right("1+2*3=2", False)
    assert not is_right("1+=1", True)


@pytest.mark.slow
def test_from_left_to_right() -> None:
    """One counter modulo 4, of multipliers, turns another modulo 5, of summands."""
    dfa = left_to_right()
    model = compiled_source(Language(dfa, dfa.alphabet), CascadeCaps(), [Regime.UNBOUNDED])
    prove(model.network, dfa, model.realisation)
    assert_right(model, False)


@pytest.mark.slow
def test_with_precedence() -> None:
    dfa = with_precedence()
    model = compiled_source(Language(dfa, dfa.alphabet), CascadeCaps(), [Regime.UNBOUNDED])
    prove(model.network, dfa, model.realisation)
    assert_right(model, True)
