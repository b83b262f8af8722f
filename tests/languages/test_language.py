"""Languages of all kinds, as everybody sees them who need not know how they were written."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from attemper.attention_program.language import LONGEST_PROGRAM, ProgramLanguage
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Connective,
    Count,
    CountTest,
    Direction,
    Gate,
    Letter,
    Mask,
    Place,
    Program,
    Shift,
    everywhere,
)
from attemper.certificates.claims import Certificate, SourceMeaning
from attemper.certificates.files import CERTIFIED
from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Symbol
from attemper.languages.words import Alphabet, listed, words_of_length

AB = Alphabet(("a", "b"))
WORDS = [word for n in range(1, 5) for word in words_of_length(AB, n)]

SINCE = parse("a S b", AB)
LATCH = Program(
    AB,
    (Letter(("b",)), Letter(("a",)), Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(0), 0, None)),
    2,
)
"""[b has been], and its letters."""

ENDS_IN_B = Dfa(AB, ((0, 1), (0, 1)), 0, frozenset({1}))

LANGUAGES: dict[str, SourceMeaning] = {
    "formula": TemporalLanguage(SINCE, At.LAST, accepts_empty=False),
    "formula, first": TemporalLanguage(parse("a U b", AB), At.FIRST, accepts_empty=True),
    "automaton": ENDS_IN_B,
    "automaton with the empty word": Dfa(AB, ((0, 1), (1, 1)), 0, frozenset({0})),
    "program": ProgramLanguage(LATCH, At.LAST, accepts_empty=False),
    "program, first": ProgramLanguage(LATCH, At.FIRST, accepts_empty=True),
}

LETTERS = [["symbol", "a"], ["symbol", "b"]]
LATCH_DATA = {
    "alphabet": ["a", "b"],
    "steps": [
        ["letter", ["b"]],
        ["letter", ["a"]],
        ["attend", "<=", "rightmost", [[None, 0]], 0, None],
    ],
    "output": 2,
    "symbols": [],
    "numbers": None,
}

WRITTEN: dict[str, list[object]] = {
    "formula": ["temporal language", [*LETTERS, ["binary", "S", 0, 1]], "last", False],
    "formula, first": ["temporal language", [*LETTERS, ["binary", "U", 0, 1]], "first", True],
    "automaton": ["dfa", ["a", "b"], [[0, 1], [0, 1]], 0, [1]],
    "automaton with the empty word": ["dfa", ["a", "b"], [[0, 1], [1, 1]], 0, [0]],
    "program": ["program language", LATCH_DATA, "last", False],
    "program, first": ["program language", LATCH_DATA, "first", True],
}
"""As FORMAT.md has them, section 1."""


@pytest.mark.parametrize("name", LANGUAGES)
def test_where_it_is_read_and_what_it_says_of_the_empty_word(name: str) -> None:
    language = LANGUAGES[name]
    assert language.reads_first == ("first" in name)
    assert language.accepts_empty == ("empty" in name or "first" in name)


def test_bits_are_those_of_each_position() -> None:
    for word in WORDS:
        assert LANGUAGES["formula"].bits(word) == truth(SINCE, word)
        assert LANGUAGES["automaton"].bits(word) == tuple(symbol == "b" for symbol in word)
        assert LANGUAGES["program"].bits(word) == tuple("b" in word[: i + 1] for i in range(len(word)))


def test_a_program_has_the_bits_that_it_says() -> None:
    """Where bits of a sum hold together, the program means nothing."""
    for default, edge in ((None, True), (False, False), (True, True)):
        steps = (Letter(("a",)), Shift(Direction.PREVIOUS, 0, default=default))
        shift = ProgramLanguage(Program(AB, steps, 1), At.LAST, False)
        assert shift.bits(("a", "b", "b")) == (edge, True, False)
        assert shift.bits(("b",)) == (default is True,)
    union = Program(AB, (Letter(("a",)), Gate(Connective.UNION, (0, 0))), 1)
    assert ProgramLanguage(union, At.LAST, False).bits(("b", "b")) == (False, False)
    with pytest.raises(UnsupportedError, match="means nothing on ab: two bits of a union hold together"):
        ProgramLanguage(union, At.LAST, False).bits(("a", "b"))
    half = ProgramLanguage(Program(AB, (Place(closed_forms.number(Fraction(1, 2))),), 0), At.LAST, False)
    with pytest.raises(UnsupportedError, match="means nothing on a"):
        half.bits(("a",))


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_language_fits_its_alphabet_and_no_other(name: str) -> None:
    language = LANGUAGES[name]
    assert language.fits(AB)
    assert not language.fits(Alphabet(("a",)))
    if not name.startswith("formula"):
        assert not language.fits(Alphabet(("b", "a")))
        assert not language.fits(Alphabet(("a", "b", "c")))


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_is_written_in_a_certificate_is_read_back(name: str) -> None:
    language = LANGUAGES[name]
    data = json.loads(json.dumps(CERTIFIED.encode(Certificate("x", language, ()))))
    assert data["language"] == WRITTEN[name]
    assert CERTIFIED.decode(data).language == language


def test_predicates_are_those_of_numbers_that_are_tested() -> None:
    formula = TemporalLanguage(parse("prime(#<[a]) & even(pos)", AB), At.LAST, accepts_empty=False)
    assert {getattr(p, "name", None) for p in formula.predicates()} >= {"prime"}
    assert list(ENDS_IN_B.predicates()) == []
    place = closed_forms.Test(Zero(), 1, 0, -1)
    steps = (Letter(("a",)), Place(place), Count(Mask.UP_TO, 0), CountTest(Named("square"), 2, 1, 0))
    more = (Place(closed_forms.times(place, closed_forms.Test(Remainder(3, 1), 1, 0, 0))),)
    program = ProgramLanguage(Program(AB, (*steps, *more), 3), At.LAST, accepts_empty=False)
    assert set(program.predicates()) == {Zero(), Named("square"), Remainder(3, 1)}
    assert list(LANGUAGES["program"].predicates()) == []


def test_a_short_program_is_shown_step_by_step() -> None:
    assert LANGUAGES["program, first"].text(AB) == (
        'an attention program of 3 steps: s0 = letter ["b"]; s1 = letter ["a"]; '
        "s2 = attend <= rightmost where s0 value s0; output s2 "
        "(read at the first position of words over a b; the empty word is accepted)"
    )


def test_a_long_program_is_counted() -> None:
    around = len('s0 = letter [""]' + "output s0")
    for length, is_shown in ((LONGEST_PROGRAM - around, True), (LONGEST_PROGRAM - around + 1, False)):
        symbols = "a" * length
        program = Program(Alphabet((symbols,)), (Letter((symbols,)),), 0)
        text = ProgramLanguage(program, At.LAST, accepts_empty=False).text(program.alphabet)
        assert text.startswith("an attention program of 1 steps")
        assert ("; output s0" in text) is is_shown


def test_a_formula_is_shown_with_where_it_is_read() -> None:
    language = TemporalLanguage(parse("G (a -> F b)", AB), At.FIRST, True)
    assert language.text(AB) == (
        "G (a -> F b) (read at the first position of words over a b; the empty word is accepted)"
    )


def test_a_long_formula_is_counted() -> None:
    language = TemporalLanguage(parse(" & ".join("ab" * 500), AB), At.LAST, False)
    assert language.text(AB).startswith("a formula with 1,001 subformulas, too long to be shown (read at")


def test_large_automata_and_alphabets_are_cut_short() -> None:
    alphabet = Alphabet(tuple(f"s{k}" for k in range(100)))
    dfa = Dfa(alphabet, ((0,) * 100, (1,) * 100), 1, frozenset())
    text = dfa.text()
    assert "s59 ... (100 symbols) with 2 states: start 1; accepting none; its moves are too many" in text
    assert len(text) < 500


def test_the_names_and_numbers_that_are_shown_have_a_greatest_length() -> None:
    """Sixty characters of a name, sixty names, sixty moves."""
    assert listed(["s" * 60], "symbols") == "s" * 60
    assert listed(["s" * 61], "symbols") == "s" * 60 + "..."
    assert listed(["s"] * 60, "symbols") == " ".join("s" * 60)
    assert listed(["s"] * 61, "symbols") == " ".join("s" * 60) + " ... (61 symbols)"
    assert listed([], "symbols") == ""
    shown, hidden = (Dfa(AB, ((0, 0),) * count, count - 1, frozenset({0})).text() for count in (30, 31))
    assert shown.endswith(
        "30 states: start 29; accepting 0; moves " + ", ".join(f"{q}: 0 0" for q in range(30))
    )
    assert hidden.endswith("31 states: start 30; accepting 0; its moves are too many to be shown")


def test_the_text_of_a_formula_is_shown_up_to_a_length() -> None:
    """Two thousand characters; one more, and its subformulas are counted."""
    for name, text in (
        ("s" * 2_000, "s" * 2_000),
        ("s" * 2_001, "a formula with 1 subformulas, too long to be shown"),
    ):
        language = TemporalLanguage(Symbol(name), At.LAST, False)
        assert language.text(AB) == (
            f"{text} (read at the last position of words over a b; the empty word is rejected)"
        )
