"""Attention programs that compare counts, and what they mean by definitions of their own."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder
from attemper.attention_program.language import ProgramLanguage
from attemper.checker.proof import prove
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.exact.closed_forms import ONE, ClosedForm, Test
from attemper.exact.predicates import Remainder
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet, Word
from attemper.networks.regime import Regime

PAIRS = ("()", "[]", "{}")
AB = Alphabet(("a", "b"))
EVEN = Test(Remainder(2, 0), 1, 0, 0)

Weights = tuple[int, int]
"""What is added to a count at an a and at a b."""


def dyck(kinds: int) -> ops.Program:
    """Well-nested brackets of so many kinds, at every position of the prefix that ends there.

    The partner of a closing bracket is the last opening one before which the depth was the depth behind it.
    """
    pairs = PAIRS[:kinds]
    build = Builder()
    left = build.add(ops.Letter(tuple(opening for opening, _ in pairs)))
    right = build.add(ops.Letter(tuple(closing for _, closing in pairs)))
    up, down = build.add(ops.Count(ops.Mask.UP_TO, left)), build.add(ops.Count(ops.Mask.UP_TO, right))
    depth, above = (build.add(ops.Linear(((1, up), (-1, down)), constant)) for constant in (0, 1))
    wrong = [build.add(ops.Not(build.add(ops.Compare(depth, 0))))]
    for opening, closing in pairs:
        own = build.add(ops.Letter((opening,)))
        partner = build.add(ops.Nearest(ops.Mask.UP_TO, ops.Choice.RIGHTMOST, left, above, depth, own))
        wrong.append(
            build.add(ops.Gate(ops.Connective.AND, (build.add(ops.Letter((closing,))), _not(build, partner))))
        )
    bad = build.add(ops.Gate(ops.Connective.OR, tuple(wrong)))
    some = build.add(ops.Attend(ops.Mask.UP_TO, ops.Choice.RIGHTMOST, ops.everywhere(bad), bad, False))
    output = build.add(ops.Gate(ops.Connective.AND, (_not(build, some), build.add(ops.Equals(depth, 0)))))
    return ops.Program(Alphabet(tuple("".join(pairs))), tuple(build.steps), output)


def _not(build: Builder, bit: ops.Ref) -> ops.Ref:
    return build.add(ops.Not(bit))


def reversed_bit() -> ops.Program:
    """The letter a of the word read backwards, at every position."""
    build = Builder()
    letter, one = build.add(ops.Letter(("a",))), build.add(ops.Place(ONE))
    query, key = build.add(ops.Count(ops.Mask.FROM, one)), build.add(ops.Count(ops.Mask.UP_TO, one))
    found = build.add(ops.Nearest(ops.Mask.ALL, ops.Choice.RIGHTMOST, one, query, key, letter))
    return ops.Program(AB, tuple(build.steps), found)


def palindromes() -> ops.Program:
    """Whether the word is the same read backwards, at every position."""
    mirrored = reversed_bit()
    build = Builder()
    for step in mirrored.steps:
        build.add(step)
    differs = build.add(ops.Gate(ops.Connective.XOR, (0, mirrored.output)))
    somewhere = build.add(
        ops.Attend(ops.Mask.ALL, ops.Choice.RIGHTMOST, ops.everywhere(differs), differs, False)
    )
    nowhere = build.add(ops.Not(somewhere))
    return ops.Program(AB, tuple(build.steps), nowhere)


def is_nested(word: Word) -> tuple[bool, ...]:
    """Whether each prefix is well nested, with a stack."""
    closing = dict(PAIRS)
    stack: list[str] = []
    found: list[bool] = []
    for symbol in word:
        if symbol in closing:
            stack.append(closing[symbol])
        elif not stack or stack.pop() != symbol:
            stack.append("no bracket closes this")
        found.append(not stack)
    return tuple(found)


def one_nearest(
    mask: ops.Mask,
    choice: ops.Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None = ("a", "b"),
    value: ClosedForm = EVEN,
    side: ops.Mask = ops.Mask.UP_TO,
) -> ops.Program:
    """One nearest count over a and b: weights and a constant for the query and the key."""
    build = Builder()
    letters = [build.add(ops.Letter((symbol,))) for symbol in AB.symbols]
    counts = [build.add(ops.Count(side, letter)) for letter in letters]
    sums = [
        build.add(ops.Linear(tuple(zip(weights, counts, strict=True)), constant))
        for weights, constant in (query, key)
    ]
    sought = build.add(ops.Place(EVEN)) if where is None else build.add(ops.Letter(tuple(where)))
    found = build.add(ops.Nearest(mask, choice, sought, *sums, build.add(ops.Place(value))))
    return ops.Program(AB, tuple(build.steps), found)


def random_nearest(rng: Random) -> ops.Program:
    """A nearest count with constants that lead out of 1..n on both sides."""
    sides = (ops.Mask.UP_TO, ops.Mask.FROM, ops.Mask.ALL)
    query, key = (((rng.choice((-1, 0, 1)), rng.choice((-1, 1))), rng.randint(-2, 2)) for _ in range(2))
    where = rng.choice((("a", "b"), ("a",), None))
    mask, choice, side = rng.choice(sides), rng.choice(list(ops.Choice)), rng.choice(sides)
    return one_nearest(mask, choice, query, key, where, side=side)


def nearest_by_definition(
    mask: ops.Mask,
    choice: ops.Choice,
    query: tuple[Weights, int],
    key: tuple[Weights, int],
    where: Sequence[str] | None,
    side: ops.Mask,
    word: Word,
) -> tuple[int, ...]:
    """The positions that `one_nearest` reads, from its definition."""
    n = len(word)
    shown = {
        ops.Mask.UP_TO: lambda i, j: j <= i,
        ops.Mask.FROM: lambda i, j: j >= i,
        ops.Mask.ALL: lambda i, j: True,
    }
    queries, keys = (clamped(count, side, word) for count in (query, key))

    def is_sought(j: int) -> bool:
        return j % 2 == 0 if where is None else word[j - 1] in where

    found = []
    for i in range(1, n + 1):
        off = {
            j: (queries[i - 1] - keys[j - 1]) ** 2 + (not is_sought(j))
            for j in range(1, n + 1)
            if shown[mask](i, j)
        }
        best = [j for j, distance in off.items() if distance == min(off.values())]
        found.append(best[-1] if choice is ops.Choice.RIGHTMOST else best[0])
    return tuple(found)


def clamped(count: tuple[Weights, int], side: ops.Mask, word: Word) -> list[int]:
    """A count over a and b at every position: 1 where it is less, the word's length where it is greater."""
    weights, constant = count
    each = [weights[AB.symbols.index(symbol)] for symbol in word]
    n = len(word)
    seen = {
        ops.Mask.UP_TO: lambda i: each[: i + 1],
        ops.Mask.FROM: lambda i: each[i:],
        ops.Mask.ALL: lambda i: each,
    }[side]
    return [min(max(constant + sum(seen(i)), 1), n) for i in range(n)]


def language_of(program: ops.Program) -> ProgramLanguage:
    """The program, read at the last position."""
    return ProgramLanguage(program, At.LAST, True)


def compiled(program: ops.Program, regime: Regime) -> Compiled:
    """The program's networks, which are proved."""
    language = language_of(program)
    found = compile_language(language, program.alphabet, regime)
    prove(found.soft, language, found.realisation)
    return found
