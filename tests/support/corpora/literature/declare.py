"""Temporal formulas over finite words: patterns of Declare, and chains of the benchmarks for LTLf tools.

They are read at the first position and look forward, so that nothing is said of prefixes.
"""

from __future__ import annotations

import re
from functools import reduce
from random import Random

from attemper.languages.named.entry import FormulaText
from tests.support.corpora.literature.entry import Entry, Family, Member, only_whole


def is_responded(word: str) -> bool:
    return word.rfind("a") <= word.rfind("b")


def is_preceded(word: str) -> bool:
    return "b" not in word or "a" in word[: word.index("b")]


def is_chained(word: str) -> bool:
    return all(after == "b" for after in re.findall("a(.?)", word, re.DOTALL))


def is_alternating(word: str) -> bool:
    return all("b" in part for part in word.split("a")[1:])


def counts_up(word: str) -> bool:
    """From 0 on, modulo 4."""
    return all(int(symbol) == place % 4 for place, symbol in enumerate(word))


def until_chain(symbols: str) -> str:
    return " U ".join(symbols)  # to the right


def eventually_chain(symbols: str) -> str:
    return reduce(lambda rest, symbol: f"F ({symbol} & X {rest})", reversed(symbols[:-1]), f"F {symbols[-1]}")


def chain_entry(symbols: str, before: int) -> Entry:
    first, last = symbols[:-1], symbols[-1]
    pattern = re.compile("".join(f"{symbol}*" for symbol in first) + last)

    def member(draw: Random, length: int) -> str:
        sizes = [draw.randint(0, max(0, length - 1) // len(symbols)) for _ in first]
        start = "".join(symbol * size for symbol, size in zip(first, sizes, strict=True)) + last
        return start + "".join(draw.choices(symbols, k=length - len(start)))

    accepts = only_whole(lambda word: pattern.match(word) is not None)
    source = FormulaText(until_chain(symbols), "first")
    return Entry(f"Until chain of {len(symbols)}", symbols, source, accepts, member, before=before)


def has_in_order(word: str, symbols: str) -> bool:
    """Whether the symbols stand at places one after the other."""
    place = -1
    for symbol in symbols:
        place = word.find(symbol, place + 1)
        if place < 0:
            return False
    return True


def pieces(*units: str) -> Member:
    """Units one after the other."""

    def member(draw: Random, length: int) -> str:
        word = ""
        while len(word) + 4 <= length:
            word += draw.choice(units)
        return word[:length] or units[0][:length]

    return member


BIT_0, BIT_1 = "('1' | '3')", "('2' | '3')"
COUNTER = f"'0' & G ((X true) -> (X {BIT_0} <-> !{BIT_0}) & (X {BIT_1} <-> ({BIT_1} xor {BIT_0})))"

FAMILY = Family(
    "LTLf and Declare",
    "M. Pesic, *Constraint-based workflow management systems* (Declare), 2008; G. De Giacomo, M. Vardi, "
    "*Linear Temporal Logic and Linear Dynamic Logic on Finite Traces*, 2013.",
    (
        Entry("Response", "abc", FormulaText("G (a -> F b)", "first"), only_whole(is_responded), before=2),
        Entry("Precedence", "abc", FormulaText("!b W a", "first"), only_whole(is_preceded), before=1),
        Entry(
            "Chain response",
            "abc",
            FormulaText("G (a -> X b)", "first"),
            only_whole(is_chained),
            pieces("ab", "b", "c", "cab"),
            before=2,
        ),
        Entry(
            "Alternate response",
            "abc",
            FormulaText("G (a -> X (!a U b))", "first"),
            only_whole(is_alternating),
            pieces("acb", "ab", "c", "b"),
            before=3,
        ),
        Entry(
            "Absence 2",
            "abc",
            FormulaText("!F (a & X F a)", "first"),
            only_whole(lambda word: word.count("a") < 2),
            lambda draw, length: "".join(draw.choices("bc", k=length - 1)) + "a",
            before=3,
        ),
        Entry(
            "Not co-existence",
            "abc",
            FormulaText("!(F a & F b)", "first"),
            only_whole(lambda word: "a" not in word or "b" not in word),
            lambda draw, length: "".join(draw.choices(draw.choice(("ac", "bc")), k=length)),
            before=1,
        ),
        chain_entry("abcd", 3),
        chain_entry("abcdefgh", 7),
        Entry(
            "Eventually chain of 6",
            "abc",
            FormulaText(eventually_chain("abcabc"), "first"),
            only_whole(lambda word: has_in_order(word, "abcabc")),
            before=11,
        ),
        Entry(
            "Next chain of 8",
            "ab",
            FormulaText("X X X X X X X X a", "first"),
            only_whole(lambda word: word[8:9] == "a"),
            before=8,
        ),
        Entry(
            "Counter of 2 bits",
            "0123",
            FormulaText(COUNTER, "first"),
            only_whole(counts_up),
            lambda _, length: ("0123" * length)[:length],
            before=2,
        ),
    ),
)
