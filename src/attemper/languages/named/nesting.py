"""Brackets of several kinds, to a depth or to any depth, and palindromes."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from attemper.languages.named import references
from attemper.languages.named.counting import PAIRS, balanced
from attemper.languages.named.entry import WITH_LENGTH, Automaton, Entry, LanguageClass, Rasp, explored
from attemper.languages.named.spelling import DrawnText, decides, draws, edges

MOST_KINDS = len(PAIRS)

# What is nested --------------------------------------------------------------------------------------------


def is_nested(word: str, pairs: tuple[str, ...], depth: int | None = None) -> bool:
    """Whether every bracket closes the last one that is open, and no more than `depth` are open at a time."""
    closing = {pair[0]: pair[1] for pair in pairs}
    expected: list[str] = []
    for symbol in word:
        if symbol in closing:
            expected.append(closing[symbol])
            if depth is not None and len(expected) > depth:
                return False
        elif not expected or expected.pop() != symbol:
            return False
    return not expected


def _kinds_drawn(pairs: tuple[str, ...], depth: int | None) -> DrawnText:
    """Draws a nested word of one kind, and a kind for each of its pairs."""

    def drawn(draw: Random, length: int) -> str:
        word, expected = "", ""
        for symbol in balanced(draw, length, depth):
            if symbol == "(":
                pair = draw.choice(pairs)
                word, expected = word + pair[0], expected + pair[1]
            else:
                word, expected = word + expected[-1], expected[:-1]
        return word

    return drawn


def _tower(pairs: tuple[str, ...], depth: int | None) -> DrawnText:
    """As deep as may be, again and again, with another kind inside than outside."""
    outer, inner = pairs[0], pairs[-1]

    def drawn(_: Random, length: int) -> str:
        height = length // 2 if depth is None else min(depth, length // 2)
        if not height:
            return ""
        tower = outer[0] * (height - 1) + inner + outer[1] * (height - 1)
        return tower * (length // len(tower))

    return drawn


def _wrapped(pairs: tuple[str, ...]) -> DrawnText:
    """Many shallow pairs within some of another kind: the partners of the last brackets are far away."""
    outer, inner = pairs[-1], pairs[0]

    def drawn(_: Random, length: int) -> str:
        height = length // 8
        return outer[0] * height + inner * ((length - 2 * height) // 2) + outer[1] * height

    return drawn


def _wrong_at_the_end(pairs: tuple[str, ...]) -> DrawnText:
    """The first bracket of all is closed by another kind, or not closed."""

    def drawn(_: Random, length: int) -> str:
        return pairs[0][0] + pairs[-1] * (length // 2 - 1) + pairs[-1][1]

    return drawn


# Bounded depth ---------------------------------------------------------------------------------------------

DEEPEST = {1: 98, 2: 5} | dict.fromkeys(range(3, MOST_KINDS + 1), 3)
"""By the number of kinds, the greatest depth."""

DEPTHS = "M = 1 to 98 for K = 1, to 5 for K = 2, to 3 for K = 3 to 8"
"""The same in words."""

MANY_SYMBOLS = 32_000
"""The cap on a cascade's symbols that four kinds or more to the depth 3 need."""


def bounded(kinds: int, depth: int) -> Entry:
    """Brackets to a depth: a regular language, whose states are what is open."""
    pairs = PAIRS[:kinds]
    closing = {pair[0]: pair[1] for pair in pairs}
    alphabet = tuple("".join(pairs))
    symbols = MANY_SYMBOLS if kinds > 3 and depth > 2 else None
    plural = "one kind" if kinds == 1 else f"{kinds} kinds"
    return Entry(
        f"dyck-{kinds}-depth-{depth}",
        f"well-nested brackets of {plural}, at most {depth} open at a time",
        LanguageClass.STAR_FREE,
        alphabet,
        replace(_automaton(alphabet, closing, depth), symbols=symbols),
        decides(lambda word: is_nested(word, pairs, depth)),
        draws(_kinds_drawn(pairs, depth)),
        edges(
            _tower(pairs, depth),
            _tower(pairs, depth + 1),
            _wrong_at_the_end(pairs),
            lambda draw, length: _tower(pairs, depth)(draw, length)[1:],
        ),
        min(depth + 1, 3) if kinds == 1 else depth + 1,
        (references.HEWITT_2020, references.YAO_2021, references.BHATTAMISHRA_2020),
    )


def _automaton(alphabet: tuple[str, ...], closing: dict[str, str], depth: int) -> Automaton:
    """The states are the brackets that must still close, the innermost last; None: too late."""

    def step(expected: str | None, symbol: str) -> str | None:
        if expected is None:
            return None
        if symbol in closing:
            return expected + closing[symbol] if len(expected) < depth else None
        return expected[:-1] if expected.endswith(symbol) else None

    return explored(alphabet, "", step, lambda expected: expected == "")


# Any depth -------------------------------------------------------------------------------------------------


_PARTNER = "nearest rightmost[j <= i : left(j), depth(j) ~ depth(i) + 1]"
"""The partner of a closing bracket is the last opening one that is as deep."""

_BY_KIND = f"""\
kind    = in '(' ')' ? round : square
partner = {_PARTNER} kind
wrong   = !left & partner != kind
"""


def _kind_by_kind(pairs: tuple[str, ...]) -> str:
    """For each kind whether the partner is of that kind."""
    found = [f"kind{k} = {_PARTNER} in '{pair[0]}'\n" for k, pair in enumerate(pairs, start=1)]
    wrong = [f"in '{pair[1]}' & !kind{k}" for k, pair in enumerate(pairs, start=1)]
    return f"{''.join(found)}wrong   = {' | '.join(wrong)}\n"


def _brackets(pairs: tuple[str, ...], wrong: str) -> str:
    """The program of brackets, with the lines that say what a wrong closing bracket is."""
    opening = " ".join(f"'{pair[0]}'" for pair in pairs)
    return (
        f"alphabet {' '.join(''.join(pairs))}\n"
        "empty accept\n"
        f"left    = in {opening}\n"
        "depth   = count[j <= i] left - count[j <= i] !left\n"
        f"{wrong}"
        "output !some[j <= i] (depth < 0 | wrong) & depth = 0\n"
    )


def unbounded(kinds: int) -> Entry:
    """Brackets of several kinds, to any depth."""
    pairs = PAIRS[:kinds]
    own = Rasp(_brackets(pairs, _kind_by_kind(pairs)))
    source, also = (Rasp(_brackets(pairs, _BY_KIND)), (own,)) if kinds == 2 else (own, ())
    return Entry(
        f"dyck-{kinds}",
        f"well-nested brackets of {kinds} kinds, to any depth",
        LanguageClass.CONTEXT_FREE,
        tuple("".join(pairs)),
        source,
        decides(lambda word: is_nested(word, pairs)),
        draws(_kinds_drawn(pairs, None)),
        edges(_tower(pairs, None), _wrapped(pairs), _wrong_at_the_end(pairs)),
        4,
        (references.HAHN_2020, references.YAO_2021, references.STROBL_2024),
        regimes=WITH_LENGTH,
        also=also,
    )


def appendix_e(kinds: int) -> Entry:
    """The same brackets by the program that the paper has in its Appendix E, line by line."""
    pairs = PAIRS[:kinds]
    left, right = (" ".join(f"'{pair[side]}'" for pair in pairs) for side in (0, 1))
    matched = " | ".join(f"leftmatch = '{pair[0]}' & in '{pair[1]}'" for pair in pairs)
    same = unbounded(kinds)
    text = (
        f"alphabet {' '.join(same.alphabet)}\n"
        "empty accept\n"
        f"left      = in {left}\n"
        f"right     = in {right}\n"
        "sumleft   = count[j <= i] left\n"
        "sumright  = count[j <= i] right\n"
        "depth     = left ? sumleft - sumright : sumleft - sumright + 1\n"
        "leftmatch = rightmost[j < i : depth(j) = depth(i)] symbol else none\n"
        f"mismatch  = right & !({matched})\n"
        "error     = sumright > sumleft | mismatch\n"
        "ok        = every[j <= i] !error\n"
        "output ok & sumleft = sumright\n"
    )
    return replace(
        same,
        name=f"dyck-{kinds}-appendix-e",
        definition=f"well-nested brackets of {kinds} kinds, as Yang et al. have them in Appendix E",
        source=Rasp(text),
        also=(),
        layers=7,
        references=(references.YANG_STROBL_2024,),
    )


def _palindrome(draw: Random, length: int) -> str:
    half = "".join(draw.choices("ab", k=(length + 1) // 2))
    return half + half[::-1][length % 2 :]


PALINDROMES_PROGRAM = """\
alphabet a b
empty accept
mirrored = nearest rightmost[all : pos(j) ~ len + 1 - pos(i)] symbol
output every[all] (mirrored = symbol)
"""

PALINDROMES = Entry(
    "palindromes",
    "words over a and b that are the same from right to left",
    LanguageClass.CONTEXT_FREE,
    ("a", "b"),
    Rasp(PALINDROMES_PROGRAM),
    decides(lambda word: word == word[::-1]),
    draws(_palindrome),
    edges(
        lambda _, length: "a" * length,
        lambda draw, length: _palindrome(draw, length)[:-1] + "a",
        _palindrome,
    ),
    2,
    (references.DELETANG_2023, references.STROBL_2024),
    regimes=WITH_LENGTH,
)
