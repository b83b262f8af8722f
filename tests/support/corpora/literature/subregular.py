"""Languages of the subregular classes: local, piecewise, with thresholds, on a tier, and cyclic counts."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from string import ascii_letters, digits

from attemper.languages.named.entry import FormulaText, Regex
from tests.support.corpora.literature.entry import Entry, Family, Member, avoiding, by

SIXTEEN = ascii_letters[:16]
SIXTY_FOUR = ascii_letters + digits + "_$"


def has_subsequence(word: str, wanted: str) -> bool:
    symbols = iter(word)
    return all(symbol in symbols for symbol in wanted)


def local(name: str, alphabet: str, expression: str, *factors: str) -> Entry:
    """No word with one of the factors."""
    oracle = by(lambda word: not any(factor in word for factor in factors))
    return Entry(name, alphabet, Regex(expression), oracle, avoiding(alphabet, *factors), before=2)


def piecewise(name: str, alphabet: str, source: FormulaText | Regex, wanted: str, before: int) -> Entry:
    """No word with the subsequence."""

    def member(draw: Random, length: int) -> str:
        """Up to the first of its symbols, from there to the next of them, and so on."""
        turns = sorted(draw.randint(0, length) for _ in wanted[1:])
        sizes = [end - start for start, end in pairwise((0, *turns, length))]
        parts = [draw.choices(alphabet.replace(x, ""), k=size) for x, size in zip(wanted, sizes, strict=True)]
        return "".join(symbol for part in parts for symbol in part)

    return Entry(
        name, alphabet, source, by(lambda word: not has_subsequence(word, wanted)), member, before=before
    )


def on_tier(word: str, tier: str = "ab") -> str:
    return "".join(symbol for symbol in word if symbol in tier)


def how_often(word: str, factor: str) -> int:
    return sum(word.startswith(factor, place) for place in range(len(word)))


def with_inserted(alphabet: str, pieces: tuple[str, ...]) -> Member:
    """Random symbols with these pieces in them, in order."""

    def member(draw: Random, length: int) -> str:
        gaps = len(pieces) + 1
        size = max(0, length - sum(map(len, pieces))) // gaps
        word = ""
        for piece in (*pieces, ""):
            word += "".join(draw.choices(alphabet, k=draw.randint(0, size))) + piece
        return word

    return member


def absent_on_tier(alphabet: str) -> Entry:
    oracle = by(lambda word: "ab" not in on_tier(word))
    name = f"TSL2: no ab on the tier a b, {len(alphabet)} symbols"
    return Entry(name, alphabet, Regex("~(.*a[^ab]*b.*)"), oracle, on_the_tier(alphabet), before=3)


def on_the_tier(alphabet: str) -> Member:
    """First b's, then a's, among the other symbols."""
    rest = alphabet.replace("a", "").replace("b", "")

    def member(draw: Random, length: int) -> str:
        turn = draw.randint(0, length)
        early, late = draw.choices(rest + "b", k=turn), draw.choices(rest + "a", k=length - turn)
        return "".join((*early, *late))

    return member


FAMILY = Family(
    "Subregular classes",
    "S. van der Poel et al., *MLRegTest*, 2024; L. Strobl et al., *What Formal Languages Can Transformers "
    "Express?*, 2024.",
    (
        local("SL2: no ab, no cd", "abcd", "~(.*(ab|cd).*)", "ab", "cd"),
        local("SL4: no abcd", "abcd", "~(.*abcd.*)", "abcd"),
        local("SL6: no aabbab", "ab", "~(.*aabbab.*)", "aabbab"),
        piecewise("SP3: no subsequence abc", "abcd", Regex("~(.*a.*b.*c.*)"), "abc", 3),
        piecewise(
            "SP4: no subsequence abab", "abcd", FormulaText("!O (b & O (a & O (b & O a)))"), "abab", before=4
        ),
        piecewise("SP4: no subsequence abcd, 64 symbols", SIXTY_FOUR, Regex("~(.*a.*b.*c.*d.*)"), "abcd", 5),
        Entry(
            "LT: aba if and only if bb",
            "abcd",
            Regex("(.*aba.* & .*bb.*) | (~(.*aba.*) & ~(.*bb.*))"),
            by(lambda word: ("aba" in word) == ("bb" in word)),
            with_inserted("abcd", ("aba", "bb")),
            before=4,
        ),
        Entry(
            "LTT: at least 2 ab, fewer than 3 cc",
            "abcd",
            FormulaText("#<[b & Y a] >= 2 & #<[c & Y c] < 3"),
            by(lambda word: how_often(word, "ab") >= 2 and how_often(word, "cc") < 3),
            with_inserted("abd", ("ab", "cc", "ab")),
            before=3,
        ),
        Entry(
            "LTT: at least 3 ab",
            "abcd",
            Regex(".*ab.*ab.*ab.*"),
            by(lambda word: how_often(word, "ab") >= 3),
            with_inserted("abcd", ("ab", "ab", "ab")),
            before=5,
        ),
        Entry(
            "PT: subsequence aba or bcb, not both",
            "abcd",
            FormulaText("O (a & O (b & O a)) xor O (b & O (c & O b))"),
            by(lambda word: has_subsequence(word, "aba") != has_subsequence(word, "bcb")),
            with_inserted("ad", ("aba",)),
            before=3,
        ),
        absent_on_tier("abcd"),
        absent_on_tier(SIXTEEN),
        absent_on_tier(SIXTY_FOUR),
        Entry(
            "TLTT: at least 2 ab on the tier a b",
            "abcd",
            Regex(".*a[cd]*b.*a[cd]*b.*"),
            by(lambda word: how_often(on_tier(word), "ab") >= 2),
            with_inserted("abcd", ("ab", "acdb")),
            before=4,
        ),
        Entry(
            "Zp: a's modulo 3",
            "abcd",
            FormulaText("#<[a] % 3 = 0"),
            by(lambda word: word.count("a") % 3 == 0),
            before=2,
        ),
    ),
)
