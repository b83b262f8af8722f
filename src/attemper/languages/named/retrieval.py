"""Languages of looking up: what was written last, what stood before, and where a symbol led before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random

from attemper.languages.named import references
from attemper.languages.named.drawing import random_word
from attemper.languages.named.entry import Entry, FormulaText, LanguageClass, Rasp, Regex, explored
from attemper.languages.named.regular import BITS
from attemper.languages.named.spelling import decides, draws, edges
from attemper.languages.words import Word

TRIES = 200
"""How many random words are tried for one that is a member."""


def drawn_until(accepts: Callable[[Word], bool], alphabet: tuple[str, ...]) -> Callable[[Random, int], Word]:
    """Draws random words up to the first one in the language, for languages that have many."""

    def member(draw: Random, length: int) -> Word:
        words = (random_word(alphabet, draw, length) for _ in range(TRIES))
        return next(filter(accepts, words), ())

    return member


# Memory of one bit -----------------------------------------------------------------------------------------

INSTRUCTIONS = ("w0", "w1", "r0", "r1", "i")


def reads_what_was_written(word: Word) -> bool:
    """Every read gives what was last written; a read before any write fails."""
    written = None
    for instruction in word:
        if instruction.startswith("w"):
            written = instruction[1]
        if instruction.startswith("r") and instruction[1] != written:
            return False
    return True


def _run_of_instructions(draw: Random, length: int) -> Word:
    written = draw.choice("01")
    word = [f"w{written}"]
    for _ in range(length - 1):
        kind = draw.choice("wri")
        if kind == "w":
            written = draw.choice("01")
        word.append("i" if kind == "i" else f"{kind}{written}")
    return tuple(word)


def _far_writes(_: Random, length: int) -> Iterator[Word]:
    """One write and many ignores before the read; two writes, and the first one is asked for; no write."""
    if length < 3:
        return
    ignored = ("i",) * (length - 2)
    yield ("w1", *ignored, "r1")
    yield ("w0", *ignored, "r1")
    yield ("w0", "w1", *ignored[1:], "r0")
    yield (*ignored, "r0", "w0")


def _memory(memory: str | None, instruction: str) -> str | None:
    """The automaton's states: the bit that was written last, none yet, or None after a wrong read."""
    if memory is None or instruction in {f"r{bit}" for bit in "01" if bit != memory}:
        return None
    return instruction[1] if instruction.startswith("w") else memory


FLIP_FLOP_PROGRAM = """\
alphabet w0 w1 r0 r1 i
empty accept
write = in 'w0' 'w1'
stored = rightmost[j <= i : write(j)] symbol else none
wrong = in 'r0' & stored != 'w0' | in 'r1' & stored != 'w1'
output every[j <= i] !wrong
"""

FLIP_FLOP = Entry(
    "flip-flop",
    "writes, reads and ignores: every read gives the last write",
    LanguageClass.STAR_FREE,
    INSTRUCTIONS,
    FormulaText("H ((r0 -> !w1 S w0) & (r1 -> !w0 S w1))"),
    reads_what_was_written,
    _run_of_instructions,
    _far_writes,
    2,
    (references.LIU_FLIP_FLOP_2023, references.YANG_2024),
    also=(
        explored(INSTRUCTIONS, "", _memory, lambda memory: memory is not None),
        Rasp(FLIP_FLOP_PROGRAM),
    ),
)

# Hops: where the symbol here stood before, and what came after it ----------------------------------------

SYMBOLS = ("a", "b", "c")


def hop(word: Word, place: int) -> int | None:
    """The rightmost j <= place (from 0) such that the symbol before j is the one at `place`; None: none."""
    found = [j for j in range(1, place + 1) if word[j - 1] == word[place]]
    return found[-1] if found else None


def led_to(word: Word, place: int, hops: int) -> int | None:
    """Where so many hops lead from the place; None: one of them leads nowhere."""
    there: int | None = place
    for _ in range(hops):
        there = None if there is None else hop(word, there)
    return there


def ends_at_a(word: Word, hops: int) -> bool:
    """Whether the hops, from the last position on, lead to the symbol a."""
    place = led_to(word, len(word) - 1, hops) if word else None
    return place is not None and word[place] == "a"


def hop_formula(hops: int) -> str:
    """The formula of k hops: at each symbol x, at the last position with an x before it, that of k - 1."""
    inner = "a" if hops == 1 else f"({hop_formula(hops - 1)})"
    return " | ".join(f"{x} & (!(Y {x}) S (Y {x} & {inner}))" for x in SYMBOLS)


def hop_lines(hops: int) -> list[str]:
    """Definitions of a program: one head a hop, with one condition; each reads what the one before found."""
    lines = ["before = previous symbol else none"]
    for k in range(1, hops + 1):
        read = "symbol" if k == 1 else f"hop{k - 1}"
        lines.append(f"hop{k} = rightmost[j <= i : before(j) = symbol(i)] {read} else none")
    return lines


def _hop_program(hops: int) -> str:
    return "\n".join(["alphabet a b c", "empty reject", *hop_lines(hops), f"output hop{hops} = 'a'", ""])


def chains(draw: Random, length: int) -> Iterator[Word]:
    """No such symbol before; the last one twice; the first one again; one link of the chain far away."""
    if length < 4:
        return
    filling = tuple(draw.choices("bc", k=length - 3))
    yield (*"b" * (length - 1), "a")
    yield (*filling, "b", "a", "a")
    yield ("a", *"b" * (length - 2), "a")
    yield ("c", "a", *"b" * (length - 3), "c")
    yield ("b", "a", "c", "b", *"a" * (length - 5), "c")[:length]
    yield tuple(("abcacb" * length)[:length])


def k_hop(hops: int) -> Entry:
    """k-hop induction heads; one hop is the induction head itself."""

    def accepts(word: Word) -> bool:
        return ends_at_a(word, hops)

    return Entry(
        f"k-hop-{hops}",
        "the symbol that followed the previous occurrence of the last one is a"
        if hops == 1
        else f"{hops} hops, each to the symbol after the previous occurrence of this one, lead to a",
        LanguageClass.STAR_FREE,
        SYMBOLS,
        Rasp(_hop_program(hops)),
        accepts,
        drawn_until(accepts, SYMBOLS),
        chains,
        hops + 1,
        (references.SANFORD_2024,) if hops > 1 else (references.OLSSON_2022, references.SANFORD_2024),
        also=(FormulaText(hop_formula(hops)),),
    )


# Keys and values -------------------------------------------------------------------------------------------

KEYS, VALUES = ("k", "l"), ("x", "y")


def recalls_x(word: Word) -> bool:
    """Whether the word ends with a key whose last value was x; a key's value is what follows it directly."""
    bound: dict[str, str] = {}
    for key, value in pairwise(word):
        if key in KEYS and value in VALUES:
            bound[key] = value
    return bool(word) and bound.get(word[-1]) == "x"


def _recall_formula() -> str:
    value = " | ".join(VALUES)
    return " | ".join(f"{key} & (!(Y {key} & ({value})) S (Y {key} & x))" for key in KEYS)


def bindings(_: Random, length: int) -> Iterator[Word]:
    """Bound far away; bound again; a key without a value; asked twice in a row; followed by another key."""
    if length < 6:
        return
    others = ("l", "y") * length
    yield ("k", "x", *others[: length - 3], "k")
    yield ("k", "x", "k", "y", *others[: length - 5], "k")
    yield (*others[: length - 1], "k")
    yield ("k", "x", *others[: length - 4], "k", "k")
    yield ("k", "x", *others[: length - 5], "k", "l", "k")[-length:]


MQAR_PROGRAM = """\
alphabet k l x y
empty reject
of_k = in 'x' 'y' & previous in 'k'
of_l = in 'x' 'y' & previous in 'l'
output rightmost[j <= i : (in 'k')(i) & of_k(j) | (in 'l')(i) & of_l(j)] in 'x' else false
"""

MQAR = Entry(
    "mqar",
    "the last symbol is a key (k, l), and the value (x, y) that last followed it is x",
    LanguageClass.STAR_FREE,
    (*KEYS, *VALUES),
    FormulaText(_recall_formula()),
    recalls_x,
    drawn_until(recalls_x, (*KEYS, *VALUES)),
    bindings,
    2,
    (references.ARORA_2023,),
    also=(Rasp(MQAR_PROGRAM),),
)

# What stands next to each other ----------------------------------------------------------------------------


def _places(pattern: str) -> str:
    """The pattern read from its last symbol back, each at its distance."""
    back = [f"in '{symbol}'" for symbol in reversed(pattern)]
    return " & ".join([back[0], *(f"previous({distance}) {one}" for distance, one in enumerate(back[1:], 1))])


def detects(pattern: str) -> Entry:
    """The n-gram somewhere in the word."""
    formula = f"{pattern[1]} & Y {pattern[0]}"
    for symbol in pattern[2:]:
        formula = f"{symbol} & Y ({formula})"

    def member(draw: Random, length: int) -> str:
        room = max(0, length - len(pattern))
        before = draw.randint(0, room)
        word = "".join(draw.choices("ab", k=room))
        return word[:before] + pattern + word[before:]

    return Entry(
        f"detect-{pattern}",
        f"words over a and b with {pattern} somewhere in them",
        LanguageClass.STAR_FREE,
        ("a", "b"),
        Rasp(f"alphabet a b\nempty reject\noutput some[j <= i] ({_places(pattern)})\n"),
        decides(lambda word: pattern in word),
        draws(member),
        edges(
            lambda _, length: pattern[1:] + pattern[-1] * (length - len(pattern)) + pattern[:-1],
            lambda _, length: pattern[0] * (length - len(pattern) + 1) + pattern[1:],
            lambda _, length: pattern + pattern[-1] * (length - len(pattern)),
            lambda draw, length: member(draw, length)[1:],
        ),
        2,
        (references.SVETE_COTTERELL_2024, references.WEISS_2021),
        also=(FormulaText(f"O ({formula})"), Regex(f".*{pattern}.*")),
    )


COPY_PREVIOUS = Entry(
    "copy-previous",
    "words whose symbol before the last one is 1",
    LanguageClass.STAR_FREE,
    BITS,
    FormulaText("Y '1'"),
    decides(lambda word: word[-2:-1] == "1"),
    draws(lambda draw, length: "".join((*draw.choices("01", k=length - 2), "1", draw.choice("01")))),
    edges(
        lambda *_: "1",
        lambda *_: "10",
        lambda _, length: "1" * (length - 2) + "01",
        lambda _, length: "0" * (length - 2) + "10",
    ),
    1,
    (references.WEISS_2021, references.SVETE_COTTERELL_2024),
    also=(Regex(".*1."),),
)
