"""Languages of counters: majorities, equal counts, brackets of one kind, and thresholds."""

from __future__ import annotations

from itertools import pairwise
from random import Random

from attemper.languages.named import references
from attemper.languages.named.entry import Entry, FormulaText, LanguageClass
from attemper.languages.named.regular import BITS, with_ones
from attemper.languages.named.spelling import DrawnText, decides, draws, edges

# Majorities ----------------------------------------------------------------------------------------------


def _tie(draw: Random, length: int) -> str:
    return with_ones(draw, length - length % 2, length // 2)


def _tie_in_blocks(_: Random, length: int) -> str:
    return "1" * (length // 2) + "0" * (length // 2)


def _at_least_half(draw: Random, length: int) -> str:
    return with_ones(draw, length, draw.randint((length + 1) // 2, length))


def _more_than_half(draw: Random, length: int) -> str:
    return with_ones(draw, length, draw.randint(length // 2 + 1, length)) if length else "1"


MAJORITY = Entry(
    "majority",
    "words with at least as many 1s as 0s",
    LanguageClass.COUNTER,
    BITS,
    FormulaText("#<['0'] <= #<['1']"),
    decides(lambda word: word.count("0") <= word.count("1")),
    draws(_at_least_half),
    edges(_tie, _tie_in_blocks, lambda draw, length: _tie(draw, length)[::-1]),
    2,
    (references.STROBL_2024, references.YANG_CHIANG_2024),
    polarity="ties are in; 'majority-strict' has them out",
)

MAJORITY_STRICT = Entry(
    "majority-strict",
    "words with more 1s than 0s",
    LanguageClass.COUNTER,
    BITS,
    FormulaText("#<['1'] > #<['0']"),
    decides(lambda word: word.count("1") > word.count("0")),
    draws(_more_than_half),
    edges(_tie, _tie_in_blocks, lambda draw, length: _tie(draw, length)[::-1]),
    2,
    (references.DELETANG_2023,),
    polarity="ties are out; 'majority' has them in",
)


def _most(draw: Random, length: int) -> str:
    """As many a's as the most frequent other symbol, or more."""
    least = draw.randint(0, length // 3)
    middle = draw.randint(least, (length - least) // 2)
    others = ["b"] * least + ["c"] * middle
    symbols = [*others, *"a" * (length - least - middle)]
    draw.shuffle(symbols)
    return "".join(symbols)


MOST_FREQUENT = Entry(
    "most-frequent",
    "words over a, b and c in which no symbol is more frequent than a",
    LanguageClass.COUNTER,
    ("a", "b", "c"),
    FormulaText("#<[a] >= #<[b] & #<[a] >= #<[c]"),
    decides(lambda word: word.count("a") >= max(word.count("b"), word.count("c"))),
    draws(_most),
    edges(
        lambda _, length: "a" * (length // 3) + "b" * (length // 3) + "c" * (length // 3),
        lambda _, length: "ab" * (length // 2),
        lambda _, length: "c" * (length // 2) + "a" * (length // 2),
    ),
    2,
    (references.WEISS_2021, references.LINDNER_2023),
    polarity="ties with a are in",
)

# Equal counts --------------------------------------------------------------------------------------------


def _any_of(symbols: str) -> str:
    return symbols if len(symbols) == 1 else f"({' | '.join(symbols)})"


def equal_blocks(symbols: str, kind: LanguageClass) -> Entry:
    """a^n b^n and its longer kin; n >= 0."""
    implied = [f"{symbol} -> !O {_any_of(symbols[place:])}" for place, symbol in enumerate(symbols[:-1], 1)]
    order = implied[0] if len(implied) == 1 else " & ".join(f"({part})" for part in implied)
    counts = " & ".join(f"#<[{x}] = #<[{y}]" for x, y in pairwise(symbols))

    def accepts(word: str) -> bool:
        return word == "".join(symbol * (len(word) // len(symbols)) for symbol in symbols)

    def member(_: Random, length: int) -> str:
        return "".join(symbol * (length // len(symbols)) for symbol in symbols)

    shown = " ".join(f"{symbol}^n" for symbol in symbols)
    return Entry(
        "-".join(f"{symbol}-n" for symbol in symbols),
        f"{shown} for n >= 0: blocks of equal length, in this order",
        kind,
        tuple(symbols),
        FormulaText(f"H ({order}) & {counts}"),
        decides(accepts),
        draws(member),
        edges(
            lambda draw, length: member(draw, length) + symbols[-1],
            lambda draw, length: symbols[0] + member(draw, length - 1),
            lambda draw, length: member(draw, length - len(symbols))[:-1] + symbols[0],
            lambda _, length: symbols * (length // len(symbols)),
        ),
        2,
        (references.BHATTAMISHRA_2020, references.STROBL_2024),
    )


A_N_B_N = equal_blocks("ab", LanguageClass.COUNTER)
A_N_B_N_C_N = equal_blocks("abc", LanguageClass.CONTEXT_SENSITIVE)
A_N_B_N_C_N_D_N = equal_blocks("abcd", LanguageClass.CONTEXT_SENSITIVE)

# Brackets, each kind counted by itself ---------------------------------------------------------------------

PAIRS = ("()", "[]", "{}", "<>", "aA", "bB", "cC", "dD")
"""Kinds of brackets: what opens, and what closes."""


def balanced(draw: Random, length: int, depth: int | None = None, pair: str = "()") -> str:
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


def deep(_: Random, length: int) -> str:
    return "(" * (length // 2) + ")" * (length // 2)


def flat(_: Random, length: int) -> str:
    return "()" * (length // 2)


def early_dip(_: Random, length: int) -> str:
    return ")(" + "()" * (length // 2 - 1)


def last_wrong(_: Random, length: int) -> str:
    return "()" * (length // 2 - 1) + "(("


def _is_balanced(word: str, pairs: tuple[str, ...]) -> bool:
    """No level below 0, and 0 in the end, for each kind by itself."""
    levels = dict.fromkeys(pairs, 0)
    for symbol in word:
        pair = next(pair for pair in pairs if symbol in pair)
        levels[pair] += 1 if symbol == pair[0] else -1
        if levels[pair] < 0:
            return False
    return not any(levels.values())


DYCK_1 = Entry(
    "dyck-1",
    "well-nested brackets of one kind, to any depth",
    LanguageClass.COUNTER,
    ("(", ")"),
    FormulaText("H (#<['('] >= #<[')']) & #<['('] = #<[')']"),
    decides(lambda word: _is_balanced(word, ("()",))),
    draws(balanced),
    edges(deep, flat, early_dip, last_wrong),
    3,
    (references.HAHN_2020, references.BHATTAMISHRA_2020, references.YANG_CHIANG_2024),
)


def shuffle(kinds: int) -> Entry:
    """Brackets of several kinds, each balanced by itself."""
    pairs = PAIRS[:kinds]

    def member(draw: Random, length: int) -> str:
        words = [list(balanced(draw, length // kinds, None, pair)) for pair in pairs]
        mixed = [number for number, word in enumerate(words) for _ in word]
        draw.shuffle(mixed)
        return "".join(words[number].pop(0) for number in mixed)

    never_below = " & ".join(f"#<['{x}'] >= #<['{y}']" for x, y in map(tuple, pairs))
    closed = " & ".join(f"#<['{x}'] = #<['{y}']" for x, y in map(tuple, pairs))
    opening, closing = ("".join(brackets) for brackets in zip(*pairs, strict=True))
    return Entry(
        f"dyck-shuffle-{kinds}",
        f"brackets of {kinds} kinds, each well nested by itself, as in ([)]",
        LanguageClass.COUNTER,
        tuple("".join(pairs)),
        FormulaText(f"H ({never_below}) & {closed}"),
        decides(lambda word: _is_balanced(word, pairs)),
        draws(member),
        edges(
            _nested(opening, closing),
            lambda draw, length: deep(draw, length)[1:] + ")",
            early_dip,
            last_wrong,
        ),
        3,
        (references.BHATTAMISHRA_2020, references.WEISS_2021, references.YANG_CHIANG_2024),
    )


def _nested(opening: str, closing: str) -> DrawnText:
    """All kinds open, then all close, in the order in which they were opened."""

    def drawn(_: Random, length: int) -> str:
        times = length // (2 * len(opening))
        return opening * times + closing * times

    return drawn


# Thresholds ----------------------------------------------------------------------------------------------


def seen(times: int) -> Entry:
    """The histogram's question, with one threshold."""
    symbols = "abc"

    def member(draw: Random, length: int) -> str:
        last = draw.choice(symbols)
        word = [last] * (times - 1) + draw.choices(symbols, k=length - times)
        draw.shuffle(word)
        return "".join(word) + last

    return Entry(
        f"seen-{times}",
        f"words whose last symbol occurs at least {times} times",
        LanguageClass.STAR_FREE,
        tuple(symbols),
        FormulaText(" | ".join(f"{symbol} & #<[{symbol}] >= {times}" for symbol in symbols)),
        decides(lambda word: word != "" and word.count(word[-1]) >= times),
        draws(member),
        edges(
            lambda _, length: "a" * min(length, times),
            lambda _, length: "a" * (times - 1) + "b" * (length - times) + "a",
            lambda _, length: ("ab" * times)[: min(length, 2 * times)],
        ),
        2,
        (references.WEISS_2021, references.LINDNER_2023),
    )
