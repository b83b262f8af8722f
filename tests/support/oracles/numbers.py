"""Programs that put out numbers, and a second reading of what they put out, straight from their words."""

from __future__ import annotations

import random
from fractions import Fraction

HISTOGRAM = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = letter ["c"]
s3 = count <= s0
s4 = count <= s1
s5 = count <= s2
output integer <= 1*s0*s3 1*s1*s4 1*s2*s5
"""

FRACTION = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = count < s0
output fraction <= 1/2*s1
"""

BIGRAMS = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = previous s0 default 0
s3 = and s2 s0
s4 = and s2 s1
s5 = or s3 s4
s6 = not s5
output distribution ["a", "b"] 1/3*s3 1*s4 1/2*s6 ; 2/3*s3 1/2*s6
"""

MASKS = ("<=", ">=", "all")


def histogram(word: str) -> tuple[int, ...]:
    """How often the symbol at each position occurs up to there."""
    return tuple(word[: i + 1].count(symbol) for i, symbol in enumerate(word))


def fraction(word: str) -> tuple[Fraction, ...]:
    """Half of what part of the positions up to each stand before it and have an a."""
    return tuple(Fraction(word[:i].count("a"), 2 * (i + 1)) for i in range(len(word)))


def bigrams(word: str) -> tuple[dict[str, Fraction], ...]:
    """The probabilities after each position: known after aa and ab."""
    known = {"aa": (Fraction(1, 3), Fraction(2, 3)), "ab": (Fraction(1), Fraction(0))}
    rows = (known.get(word[max(i - 1, 0) : i + 1], (Fraction(1, 2),) * 2) for i in range(len(word)))
    return tuple(dict(zip("ab", row, strict=True)) for row in rows)


def random_integers(rng: random.Random) -> str:
    """A program that puts out an integer: a few counts, chosen by bits of many kinds."""
    mask = rng.choice(MASKS)
    strict = {"<=": "<", ">=": ">"}.get(mask, mask)
    steps = [
        'letter ["a"]',
        "not s0",
        'place ["test", ["remainder", 2, 0], 1, 0, 0]',
        'place ["test", ["zero"], 1, 0, -1]',
    ]

    def bit() -> int:
        return rng.choice([k for k, step in enumerate(steps) if not step.startswith(("count", "linear"))])

    for _ in range(rng.randrange(4)):
        steps.append(
            rng.choice(
                [
                    f"and s{bit()} s{bit()}",
                    f"xor s{bit()} s{bit()}",
                    f"previous s{bit()} default {rng.randrange(2)}",
                    f"attend <= rightmost where s{bit()} value s{bit()} default {rng.randrange(2)}",
                ]
            )
        )
    counts = []
    for _ in range(rng.randint(1, 3)):
        counts.append(len(steps))
        steps.append(f"count {rng.choice((mask, strict))} s{bit()}")
    if rng.random() < 0.5:
        parts = " ".join(f"{rng.randint(-3, 3)} s{count}" for count in counts)
        counts.append(len(steps))
        steps.append(f"linear {parts} {rng.randint(-4, 4)}")
    parts = []
    for _ in range(rng.randint(1, 3)):
        here = rng.choice(["", f"*s{bit()}"])
        parts.append(f"{rng.choice((-2, -1, 1, 1, 3))}{here}*s{rng.choice(counts)}")
    lines = [f"s{k} = {step}" for k, step in enumerate(steps)]
    return "\n".join(['alphabet ["a", "b"]', *lines, f"output integer {mask} {' '.join(parts)}"]) + "\n"
