"""docs/programs.md: every program on the page does what it says, every expression has its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.meaning import numbers, run
from attemper.checker.proof import prove
from attemper.errors import UnsupportedError
from attemper.languages.rasp.parse import MAX_DEFINITIONS, MAX_LISTED, MAX_NESTING, MAX_TEXT
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.types import MAX_NAMES
from attemper.languages.words import Word
from tests.languages.rasp.test_meaning import assert_means_what_it_says
from tests.support.drawn.matching import place_of_kth_b
from tests.support.judges.rasp import words_to

PAGE = (Path(__file__).parents[3] / "docs" / "programs.md").read_text(encoding="utf-8")
PROGRAMS: dict[str, str] = dict(re.findall(r"```rasp\n# (\w+)\.rasp\n(.*?)```", PAGE, re.DOTALL))

CONTEXT = (
    "alphabet a b\nempty reject\np = in 'a'\nq = previous p\nx = pos\ny = count[j <= i] p\n"
    "s = p ? a : none\nt = symbol\nd = {a: 1}\n"
)
"""The page's letters: p and q are Bits, x and y Integers, s and t Symbols, d a Distribution."""


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table of a section, without its head."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def codes(cell: str) -> list[str]:
    return [code.replace("\\|", "|") for code in re.findall(r"`([^`]*)`", cell)]


def put_out(found: RaspProgram, word: Word) -> list[str]:
    """The symbols that a program puts out."""
    computed = run(found.program, word)
    return [next(name for name, bit in found.program.symbols if computed[bit][i]) for i in range(len(word))]


def accepts(found: RaspProgram, word: Word) -> bool:
    return bool(run(found.program, word)[found.program.output][-1])


def hop(word: Word, i: int | None) -> int | None:
    """The last position up to i that stands behind an occurrence of the symbol at i; from 0."""
    if i is None:
        return None
    return next((j for j in range(i, 0, -1) if word[j - 1] == word[i]), None)


def induction(word: Word) -> list[str]:
    found = [hop(word, i) for i in range(len(word))]
    return ["none" if j is None else word[j] for j in found]


def two_hops(word: Word) -> list[str]:
    found = [hop(word, hop(word, i)) for i in range(len(word))]
    return ["none" if j is None else word[j] for j in found]


def flip_flop(word: Word) -> bool:
    stored = None
    for command, bit in pairwise(word):
        if bit not in "01":
            continue
        if command == "r" and stored != bit:
            return False
        if command == "w":
            stored = bit
    return True


def balanced(word: Word) -> bool:
    text = "".join(word)
    while "()" in text:
        text = text.replace("()", "")
    return not text


def well_nested(word: Word) -> bool:
    text = "".join(word)
    while "()" in text or "[]" in text:
        text = text.replace("()", "").replace("[]", "")
    return not text


VERDICTS: dict[str, tuple[Callable[[Word], bool], int]] = {
    "majority": (lambda word: 2 * word.count("1") > len(word), 8),
    "balanced": (balanced, 8),
    "brackets": (well_nested, 6),
    "appendix_e": (well_nested, 5),
    "depth_two": (lambda word: re.fullmatch(r"(\((\(\))*\))*", "".join(word)) is not None, 10),
    "flipflop": (flip_flop, 5),
    "distinct": (lambda word: len(set(word)) == len(word), 5),
    "frequent": (lambda word: all(word.count(word[-1]) >= word.count(x) for x in word), 6),
    "trigram": (
        lambda word: any((x, z) == ("a", "b") for x, _, z in zip(word, word[1:], word[2:], strict=False)),
        8,
    ),
    "kth": (lambda word: (place_of_kth_b(word) or 1) % 2 == 0, 8),
}


ACCEPT_EMPTY = {"balanced", "brackets", "appendix_e", "depth_two", "flipflop", "distinct"}


def increment(word: Word) -> list[str]:
    value = (int("".join(word), 2) + 1) % 2 ** len(word)
    return list(f"{value:0{len(word)}b}")


def residues(word: Word) -> list[str]:
    return [("zero", "one", "two")[word[:i].count("a") % 3] for i in range(1, len(word) + 1)]


ANSWERS: dict[str, Callable[[Word], list[str]]] = {
    "induction": induction,
    "twohops": two_hops,
    "rotated": lambda word: [word[-1], *word[:-1]],
    "firsthalf": lambda word: [*word[: len(word) // 2], *["none"] * (len(word) - len(word) // 2)],
    "rules": lambda word: ["a" if 2 * word.count("a") >= len(word) else "b"] * len(word),
    "increment": increment,
    "residues": residues,
    "reversed": lambda word: list(word[::-1]),
}
TRANSDUCTIONS = ("rotated", "firsthalf", "rules", "increment", "residues", "reversed")


def histogram(word: Word) -> list[list[Fraction]]:
    return [[Fraction(word.count(symbol), len(word)) for symbol in word]]


def bigrams(word: Word) -> list[list[Fraction]]:
    """How likely a, b and the end are after the last symbol."""
    rows = {"a": (0, Fraction(3, 4), Fraction(1, 4)), "b": (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))}
    return [[Fraction(rows[symbol][k]) for symbol in word] for k in range(3)]


NUMBERS: dict[str, Callable[[Word], list[list[Fraction]]]] = {"histogram": histogram, "bigrams": bigrams}


def test_every_program_of_the_page_has_an_oracle() -> None:
    assert set(PROGRAMS) == {*VERDICTS, *ANSWERS, *NUMBERS}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_the_page(name: str) -> None:
    found = parse_rasp(PROGRAMS[name])
    for word in words_to(found.program.alphabet, 6):
        assert list(map(list, numbers(found.program, word))) == NUMBERS[name](word), word


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", VERDICTS)
def test_verdicts_of_the_page(name: str) -> None:
    found = parse_rasp(PROGRAMS[name])
    oracle, longest = VERDICTS[name]
    for word in words_to(found.program.alphabet, longest):
        assert accepts(found, word) == oracle(word), word
    assert found.accepts_empty == (name in ACCEPT_EMPTY)
    assert_means_what_it_says(found, 3)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ANSWERS)
def test_symbols_of_the_page(name: str) -> None:
    found = parse_rasp(PROGRAMS[name])
    for word in words_to(found.program.alphabet, 6):
        assert put_out(found, word) == ANSWERS[name](word), word


@pytest.mark.parametrize("name", TRANSDUCTIONS)
def test_transductions_of_the_page_are_proved_networks(name: str) -> None:
    model = attemper.compile(attemper.program(PROGRAMS[name]), regime="temperature")
    words = list(words_to(model.alphabet, 4))
    assert [list(run.outputs) for run in model.run(words)] == list(map(ANSWERS[name], words))
    assert model.output(words[-1] * 20) == tuple(ANSWERS[name](words[-1] * 20))
    language = model.language.definition
    assert isinstance(language, ProgramLanguage)
    assert model.realisation is not None
    prove(model.network, language, model.realisation)


def test_every_expression_of_the_page_has_the_type_that_is_said() -> None:
    tried = 0
    for cell, said, *_ in rows("Expressions"):
        for code in codes(cell):
            found = parse_rasp(f"{CONTEXT}e = {code}\noutput p").types["e"]
            assert said in {"any", re.sub(r"\{.*", "", str(found))}, code
            tried += 1
    assert tried > 45


def test_what_the_page_calls_not_built_is_refused() -> None:
    refused = rows("Not built yet")
    assert len(refused) == 2
    for cell, _ in refused:
        (code,) = codes(cell)
        with pytest.raises(UnsupportedError):
            parse_rasp(f"{CONTEXT}output {code}")


def test_the_page_says_the_caps() -> None:
    assert f"up to {MAX_TEXT:,} characters and {MAX_DEFINITIONS:,} definitions" in PAGE
    assert f"up to {MAX_NAMES:,} names" in PAGE
    assert f"nests up to {MAX_NESTING} levels" in PAGE
    assert f"lists of up to {MAX_LISTED:,} parts" in PAGE
