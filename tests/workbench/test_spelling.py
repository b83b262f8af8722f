"""The grammar in which languages are named: every text is read as what it is, and as nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from attemper.errors import OptionError
from attemper.languages.named.entry import FormulaText, Regex
from attemper.languages.named.zoo import ALIASES, everything
from attemper.languages.temporal.parse import parse
from attemper.workbench.spelling import Kind, Spelling, spelling_of
from tests.support.corpora.literature import ENTRIES
from tests.support.drawn.regexes import random_regex

SOURCES = [entry.source for entry in ENTRIES.values()] + [
    source for entry in everything() for source in entry.sources
]

UNARY = ("!", "Y ", "WY ", "O ", "H ", "X ", "WX ", "F ", "G ")
BINARY = (" & ", " | ", " -> ", " <-> ", " xor ", " S ", " T ", " U ", " R ", " W ", " M ")


def random_formula(draw: random.Random, depth: int) -> str:
    """A formula's text, with quoted symbols that look like parts of paths and kinds."""
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(
            ("a", "b", "'0'", "':'", "'/'", "'\\'", '"x:y"', "'dfa:'", "first", "pos % 2 = 1", "true")
        )
    kind = draw.randrange(4)
    if kind == 0:
        return draw.choice(UNARY) + f"({random_formula(draw, depth - 1)})"
    if kind == 1:
        sign = draw.choice(("<=", "<", "=", "!=", ">", ">="))
        return (
            f"#<[{random_formula(draw, depth - 1)}] {sign} 2*#[{random_formula(draw, depth - 1)}] + len - 1"
        )
    left, right = (random_formula(draw, depth - 1) for _ in range(2))
    return f"({left}){draw.choice(BINARY)}({right})"


def formulas() -> Iterator[str]:
    """Formulas of the literature and of the zoo, and random ones."""
    yield from dict.fromkeys(source.text for source in SOURCES if isinstance(source, FormulaText))
    draw = random.Random("formulas")
    yield from (random_formula(draw, 4) for _ in range(150))


def expressions() -> Iterator[str]:
    """Expressions of the literature and of the zoo, and random ones."""
    yield from dict.fromkeys(source.text for source in SOURCES if isinstance(source, Regex))
    draw = random.Random("expressions")
    yield from (random_regex(draw, "abc", 4) for _ in range(80))


def test_formulas_are_read_as_formulas() -> None:
    every = list(formulas())
    assert len(every) >= 200
    for text in every:
        assert spelling_of(text) == Spelling(Kind.FORMULA, text, is_bare=True), text
        assert spelling_of(f"formula:{text}") == Spelling(Kind.FORMULA, text), text
        parse(text)  # it is one


def test_expressions_are_read_as_expressions() -> None:
    every = list(expressions())
    assert len(every) >= 100
    for text in every:
        assert spelling_of(f"regex:{text}") == Spelling(Kind.REGEX, text), text


def test_names_of_the_zoo_are_read_as_names() -> None:
    for name in [*(entry.name for entry in everything()), *ALIASES]:
        assert spelling_of(f"zoo:{name}") == Spelling(Kind.ZOO, name)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("ends/", Kind.NET),
        ("./ends", Kind.NET),
        ("nets/ends", Kind.NET),
        ("nets\\ends", Kind.NET),
        ("C:ends", Kind.NET),
        ("c:\\nets\\ends", Kind.NET),
        ("C:/nets/ends", Kind.NET),
        ("C:\\nets\\even.json", Kind.DFA),
        ("even.json", Kind.DFA),
        ("nets/even.json", Kind.DFA),
        ("sort.rasp", Kind.PROGRAM),
        ("ends", Kind.FORMULA),
        ("O a", Kind.FORMULA),
        ("O (a & '/')", Kind.FORMULA),
        ('"C:/x" & a', Kind.FORMULA),
        ("O ':'", Kind.FORMULA),
    ],
)
def test_a_bare_text_is_a_path_by_its_looks_alone(text: str, kind: Kind) -> None:
    assert spelling_of(text) == Spelling(kind, text, is_bare=True)


@pytest.mark.parametrize(
    "text",
    [
        "formula:O a",
        "formula@first:G a",
        "regex:(ab)*",
        "dfa:x.json",
        "program@last:-",
        "zoo:parity",
        "net:x",
    ],
)
def test_a_spelling_is_written_as_it_is_read(text: str) -> None:
    assert str(spelling_of(text)) == text
    assert spelling_of(str(spelling_of(text))) == spelling_of(text)


def test_what_stands_behind_the_colon_may_have_colons() -> None:
    assert spelling_of("net:C:\\nets") == Spelling(Kind.NET, "C:\\nets")
    assert spelling_of("formula:O ':'") == Spelling(Kind.FORMULA, "O ':'")
    assert spelling_of("regex:(':'|a)\n*") == Spelling(Kind.REGEX, "(':'|a)\n*")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("regexp:(ab)*", "'regexp:' is no kind of language: write formula:TEXT, regex:TEXT"),
        ("float32:ends", "'float32:' is no kind of language"),
        ("http://host/x", "'http:' is no kind of language"),
        ("Formula:O a", "'Formula:' is no kind"),
        ("regex@first:a", "'regex@first:' does not say where a language is read: write formula@first:TEXT"),
        ("formula@middle:a", "'formula@middle:' does not say where"),
        ("formula@:a", "'formula@:' does not say where"),
        ("", "'' names no language"),
        ("   ", "names no language"),
        ("formula:", "'formula:' names no language"),
        ("zoo: ", "'zoo: ' names no language"),
    ],
)
def test_what_is_no_kind_is_said(text: str, said: str) -> None:
    with pytest.raises(OptionError) as raised:
        spelling_of(text)
    assert said in str(raised.value)
