"""Regular languages and counter languages on which Bhattamishra et al. trained transformers and LSTMs."""

from __future__ import annotations

import re
from random import Random

from attemper.languages.named.entry import FormulaText, Regex
from tests.support.corpora.literature.entry import (
    Entry,
    Family,
    Member,
    Oracle,
    by,
    named,
    only_whole,
    running,
)

# Nested a's and b's ------------------------------------------------------------------------------------


def nested(depth: int) -> str:
    """D_n as an expression: D_0 is the empty word, D_n is (a D_(n-1) b)*."""
    return "(a" * depth + "b)*" * depth


def balanced(depth: int | None = None) -> Oracle:
    """As many a's as b's, in no prefix fewer, in no prefix more than `depth` more; None: no bound."""

    def step(level: int | None, symbol: str) -> int | None:
        after = None if level is None else level + (1 if symbol == "a" else -1)
        return after if after is not None and after >= 0 and (depth is None or after <= depth) else None

    return running(0, step, lambda level: level == 0)


def balanced_word(
    draw: Random, length: int, depth: int | None = None, pair: tuple[str, str] = ("a", "b")
) -> str:
    """Few brackets open at a time, or as many as may be."""
    word: list[str] = []
    level, left, eager = 0, length - length % 2, draw.choice((0.5, 0.9))
    while left:
        may_open = level < left and (depth is None or level < depth)
        opens = may_open and (level == 0 or draw.random() < eager)
        word.append(pair[0] if opens else pair[1])
        level += 1 if opens else -1
        left -= 1
    return "".join(word)


def nested_entry(depth: int, before: int) -> Entry:
    def member(draw: Random, length: int) -> str:
        return balanced_word(draw, length, depth)

    return Entry(f"D_{depth}", "ab", Regex(nested(depth)), balanced(depth), member, before=before)


# Repetitions and plain expressions ---------------------------------------------------------------------


def repetition(name: str, alphabet: str, expression: str, unit: str, before: int) -> Entry:
    def accepts(word: str) -> bool:
        return word == unit * (len(word) // len(unit)) and len(word) % len(unit) == 0

    def member(_: Random, length: int) -> str:
        return unit * (length // len(unit))

    return Entry(name, alphabet, Regex(expression), by(accepts), member, before=before)


def plain(expression: str, alphabet: str, member: Member | None, before: int) -> Entry:
    """An expression that means the same to Python's own `re`."""
    pattern = re.compile(expression)

    def accepts(word: str) -> bool:
        return pattern.fullmatch(word) is not None

    return Entry(expression, alphabet, Regex(expression), by(accepts), member, before=before)


def blocks_in_order(symbols: str) -> Member:
    """At least one of each symbol, in order."""

    def member(draw: Random, length: int) -> str:
        return "".join(symbol * draw.randint(1, max(1, length // len(symbols))) for symbol in symbols)

    return member


def two_parts(left: str, middle: str, right: str) -> Member:
    """Some of `left`, then `middle`, then some of `right`."""

    def member(draw: Random, length: int) -> str:
        size = draw.randint(0, length - 1)
        parts = draw.choices(left, k=size), draw.choices(right, k=length - 1 - size)
        return middle.join("".join(part) for part in parts)

    return member


# Counters ------------------------------------------------------------------------------------------------


def shuffle(kinds: int, before: int) -> Entry:
    return named(f"Shuffle-{kinds}", f"dyck-shuffle-{kinds}", before=before)


def boolean(arities: dict[str, int], before: int) -> Entry:
    """Well-formed expressions in Polish notation, of the values 0 and 1 and operators of these arities."""
    needed = " + ".join(f"{arity - 1} * #<['{symbol}']" for symbol, arity in arities.items() if arity > 1)
    found = "#<['0' | '1']"
    formula = f"{found} = 1 + {needed} & !Y O ({found} > {needed})"

    def step(missing: int, symbol: str) -> int:
        """How many expressions are still to come; -1: there was one too many."""
        return missing - 1 + arities.get(symbol, 0) if missing > 0 else -1

    def member(draw: Random, length: int) -> str:
        word, missing = "", 1
        while missing:
            fitting = [symbol for symbol, arity in arities.items() if len(word) + missing + arity <= length]
            word += draw.choice(fitting or ["0", "1"]) if draw.random() < 0.7 else draw.choice("01")
            missing = step(missing, word[-1])
        return word

    most = max(arities.values())
    oracle = running(1, step, lambda missing: missing == 0)
    alphabet = "01" + "".join(arities)
    return Entry(f"Boolean-{most}", alphabet, FormulaText(formula), oracle, member, before=before)


AFTER_RESET = ("a & !F r", "b & !F r")
"""An opening, a closing bracket with no reset at or after it."""

RESET_DYCK = "H (#<[{0}] >= #<[{1}]) & #<[{0}] = #<[{1}]".format(*AFTER_RESET)


def balanced_since_reset(word: str) -> bool:
    return balanced().accepts(word.rpartition("r")[2])


def reset_word(draw: Random, length: int) -> str:
    size = draw.randint(0, length // 2)
    return "".join(draw.choices("abr", k=length - size - 1)) + "r" + balanced_word(draw, size)


FAMILY = Family(
    "Bhattamishra et al.",
    "S. Bhattamishra, K. Ahuja, N. Goyal, *On the Ability and Limitations of Transformers to Recognize "
    "Formal Languages*, 2020.",
    (
        nested_entry(2, 3),
        nested_entry(3, 3),
        nested_entry(4, 4),
        nested_entry(12, 3),
        repetition("(aa)* over a", "a", "(aa)*", "aa", 1),
        repetition("(aa)* over a b", "ab", "(aa)*", "aa", 2),
        repetition("(aaaa)* over a", "a", "(aaaa)*", "aaaa", 1),
        repetition("(abab)*", "ab", "(abab)*", "abab", 2),
        plain("aa*bb*cc*dd*ee*", "abcde", blocks_in_order("abcde"), 2),
        plain("[ab]*d[bc]*", "abcd", two_parts("ab", "d", "bc"), 2),
        plain("[012]*02*", "012", two_parts("012", "0", "2"), 1),
        named("a^n b^n", "a-n-b-n", before=2),
        named("a^n b^n c^n", "a-n-b-n-c-n", before=2),
        named("a^n b^n c^n d^n", "a-n-b-n-c-n-d-n", before=2),
        named("Shuffle-1", "dyck-1", before=3),
        shuffle(2, 3),
        shuffle(4, 3),
        shuffle(6, 3),
        boolean({"~": 1, "+": 2, ">": 3}, 4),
        boolean({"~": 1, "+": 2, ">": 3, "*": 4, "%": 5}, 4),
        Entry(
            "Reset-Dyck-1",
            "abr",
            FormulaText(RESET_DYCK),
            only_whole(balanced_since_reset),
            reset_word,
            before=4,
        ),
    ),
)
