"""Networks that count without end are read back as formulas, before any automaton is looked for."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.ops import Program
from attemper.checker.names import UnprovenError
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.words import Alphabet
from attemper.reading import machines, networks
from attemper.reading.machines import CapReachedError, Followed, automaton_of
from attemper.workbench import decompiling
from tests.support.cli.command_line import attemper as run_attemper
from tests.support.drawn.counting import ENDLESS, REGULAR
from tests.support.judges.read_back import decompiled

LONGEST = {"ab": 8, "abc": 5}


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """The programs that were followed, each time."""
    programs: list[Program] = []

    def following(program: Program, *groups: object, **options: object) -> Followed:
        programs.append(program)
        return automaton_of(program, *groups, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(networks, "automaton_of", following)
    return programs


@pytest.mark.sweep(5)
@pytest.mark.parametrize(("text", "symbols"), ENDLESS)
def test_a_formula_that_counts_is_given_back_without_following_anything(
    text: str, symbols: str, followed: list[Program]
) -> None:
    found = decompiled(attemper.compile(text, symbols, at="last").network)
    assert found.automaton is None
    assert not followed, "no configuration at all"
    alphabet = Alphabet(tuple(symbols))
    source, own = parse(text, alphabet), parse(found.formula, alphabet)
    for word in product(symbols, repeat=LONGEST[symbols]):
        assert truth(own, word) == truth(source, word), word


@pytest.mark.sweep(3)
@pytest.mark.parametrize("text", REGULAR)
def test_what_counts_and_is_regular_is_an_automaton(text: str) -> None:
    found = decompiled(attemper.compile(text, "ab").network, configurations=5_000).automaton
    assert found is not None
    formula = parse(text, Alphabet(("a", "b")))
    for word in product("ab", repeat=8):
        assert found.prefixes(word) == truth(formula, word)


def test_a_band_around_equality_has_nine_states() -> None:
    """Seven differences, a start and a sink: a head that asks for more than it looks for keeps both apart."""
    found = decompiled(attemper.compile("H (#<[a] <= #<[b] + 3 & #<[b] <= #<[a] + 3)", "ab").network)
    assert found.automaton is not None
    assert len(found.automaton.moves) == 9


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("#<[a] = 2 * #<[b]", "#<[a] == 2*#<[b]"),
        ("#<[b] == #<[a]", "#<[a] == #<[b]"),
        ("!(#<[b] + 2 == #<[a])", "#<[a] != #<[b] + 2"),
        ("#<[a] != #<[b]", "#<[a] != #<[b]"),
        ("#<[a] == #<[b] & pos % 3 = 0", "pos % 3 = 0 & #<[a] == #<[b]"),
        ("a S (#<[a] == #<[b])", "(a & #<[a] != #<[b]) S #<[a] == #<[b]"),
        ("#<[a] >= #<[b] & #<[a] <= #<[b] + 1", "#<[b] < #<[a] + 1 & #<[b] + 1 >= #<[a]"),
    ],
)
def test_two_inequalities_that_say_equality_are_written_as_that(text: str, read: str) -> None:
    assert decompiled(attemper.compile(text, "ab").network).formula == read


def test_where_no_formula_is_proved_it_is_followed_all_the_same(
    followed: list[Program], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What seems to count without end is refused for nothing else than what refuses it by itself."""
    monkeypatch.setattr(decompiling, "_counting", lambda *_: None)
    with pytest.raises(CapReachedError, match="over 500 configurations: a total rises and falls"):
        decompiled(attemper.compile("#<[a] < #<[b]", "ab").network, configurations=500)
    assert len(followed) == 1


def test_a_regular_language_that_seemed_to_count_without_end_is_an_automaton_if_no_formula_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(networks, "endless", lambda _: "wrongly")
    found = decompiled(attemper.compile("H (a -> Y b)", "ab").network)
    assert found.automaton is not None
    assert len(found.automaton.moves) == 4


def test_the_time_that_is_said_is_the_time_that_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not what was left of it when following began."""
    monkeypatch.setattr(machines, "monotonic", lambda: float("inf"))
    with pytest.raises(UnprovenError, match=r"it was not followed within 10 seconds$"):
        decompiled(attemper.compile("H (a -> Y b)", "ab").network, seconds=10)


def test_what_is_printed_of_a_network_that_counts(tmp_path: Path) -> None:
    assert (
        run_attemper("compile", "#<[a] = 2 * #<[b]", "--alphabet", "ab", "-o", tmp_path / "twice").code == 0
    )
    outcome = run_attemper("decompile", tmp_path / "twice", "--seconds", "10")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.split("\n", 4)[:4] == [
        "PROVED: it computes a formula that counts, at all lengths, in real arithmetic",
        "formula: #<[a] == 2*#<[b]",
        "empty word: rejected",
        "the certificate claims the same language",
    ]
    assert " ".join(outcome.out.split("\n", 4)[4].split()) == (
        "no automaton was found: a total seems to rise and fall without end: after a^8 and a^16 the answers "
        "to b b b ... part at symbol 4, after a^16 and a^24 at symbol 8"
    )


RIGHT = "alphabet a b\nempty reject\noutput (leftmost[{0}] symbol else 'none') = symbol\n"


def test_what_looks_to_the_right_is_told_what_to_do(tmp_path: Path) -> None:
    for name, mask in (("all", "all"), ("past", "j <= i")):
        (tmp_path / f"{name}.rasp").write_text(RIGHT.format(mask), encoding="utf-8")
        made = run_attemper("compile", f"program:{tmp_path}/{name}.rasp", "-o", tmp_path / name)
        assert made.code == 0, made.err
    refused = run_attemper("decompile", tmp_path / "all")
    assert refused.code == 12
    assert "step" not in refused.out
    assert "masks j <= i and j < i" in " ".join(refused.out.split())
    found = attemper.decompile(tmp_path / "past").automaton
    assert found is not None
    assert all(found.accepts(word) is (word[0] == word[-1]) for word in product("ab", repeat=6))
