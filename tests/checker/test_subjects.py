"""What a verdict is about, as it is shown; and that a verdict's record reads back."""

from __future__ import annotations

import json

import pytest
from attemper.checker.subjects import describe, describe_automaton, listed

import attemper
from attemper.checker.report import lines_of, record_of, verdict_of
from attemper.checker.verdict import About, ClaimVerdict, Pair, Status, Subject, Verdict
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Symbol
from attemper.languages.words import Alphabet

AB = Alphabet(("a", "b"))


def test_a_formula_is_shown_with_where_it_is_read() -> None:
    language = TemporalLanguage(parse("G (a -> F b)", AB), At.FIRST, True)
    assert describe(language, AB) == (
        "G (a -> F b) (read at the first position of words over a b; the empty word is accepted)"
    )


def test_a_long_formula_is_counted() -> None:
    language = TemporalLanguage(parse(" & ".join("ab" * 500), AB), At.LAST, False)
    assert describe(language, AB).startswith(
        "a formula with 1,001 subformulas, too long to be shown (read at"
    )


def test_large_automata_and_alphabets_are_cut_short() -> None:
    alphabet = Alphabet(tuple(f"s{k}" for k in range(100)))
    dfa = Dfa(alphabet, ((0,) * 100, (1,) * 100), 1, frozenset())
    text = describe_automaton(dfa)
    assert "s59 ... (100 symbols) with 2 states: start 1; accepting none; its moves are too many" in text
    assert len(text) < 500


PAIR = Pair(("a", "b"), ("a", "a"), True, 3, 2, (1,))
CLAIMS = (
    ClaimVerdict(Status.PROVED, "x", arithmetic="rounded"),
    ClaimVerdict(Status.PROVED_UNDER_ASSUMPTIONS, "y", ("this", "that")),
)


@pytest.mark.parametrize(
    "verdict",
    [
        Verdict(CLAIMS),
        Verdict(CLAIMS, Subject(About.NETWORK, "folder", "0" * 64, "O a")),
        Verdict(CLAIMS, Subject(About.NETWORK, "folder")),
        Verdict(CLAIMS, Subject(About.MODEL, "module:model", "digest", "parity", PAIR)),
        Verdict((ClaimVerdict(Status.REFUTED, "x", witness=("a", "\x1b")),), Subject(About.MODEL, "")),
        Verdict((ClaimVerdict(Status.REFUTED, "x", witness=()),)),
    ],
)
def test_a_record_reads_back(verdict: Verdict) -> None:
    assert verdict_of(json.loads(json.dumps(record_of(verdict)))) == verdict


def test_a_record_that_says_more_than_its_claims_is_refused() -> None:
    record = record_of(Verdict((ClaimVerdict(Status.UNKNOWN, "x"),)))
    with pytest.raises(ValueError, match="as good as its worst claim"):
        verdict_of({**record, "verdict": "PROVED"})
    with pytest.raises(ValueError, match="empty"):
        verdict_of({**record, "claims": []})


def test_lines_for_people() -> None:
    subject = Subject(About.NETWORK, "folder", "0" * 64, "O a")
    assert list(lines_of(Verdict(CLAIMS, subject))) == [
        "PROVED_UNDER_ASSUMPTIONS",
        "  language: O a",
        "  network: folder",
        f"  digest: {'0' * 64}",
        "  PROVED: x",
        "  PROVED_UNDER_ASSUMPTIONS: y",
        "    assuming this",
        "    assuming that",
        "  float arithmetic: rounded",
    ]


def test_a_verdict_from_python_says_of_what() -> None:
    model = attemper.compile("O a", "ab")
    subject = model.check(model.certify()).subject
    assert subject is not None
    assert subject.digest == model.digest
    assert subject.language is not None
    assert subject.language.startswith("O a (read at the last position")


def test_the_names_and_numbers_that_are_shown_have_a_greatest_length() -> None:
    """Sixty characters of a name, sixty names, sixty moves."""
    assert listed(["s" * 60], "symbols") == "s" * 60
    assert listed(["s" * 61], "symbols") == "s" * 60 + "..."
    assert listed(["s"] * 60, "symbols") == " ".join("s" * 60)
    assert listed(["s"] * 61, "symbols") == " ".join("s" * 60) + " ... (61 symbols)"
    assert listed([], "symbols") == ""
    shown, hidden = (
        describe_automaton(Dfa(AB, ((0, 0),) * count, count - 1, frozenset({0}))) for count in (30, 31)
    )
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
        assert describe(language, AB) == (
            f"{text} (read at the last position of words over a b; the empty word is rejected)"
        )


def test_arithmetic_is_named_by_what_the_verdict_is_about() -> None:
    """Of a model all claims are in its own; of a network those that name none are about real numbers."""
    for subject, name, unnamed in (
        (None, "float arithmetic", "real"),
        (Subject(About.NETWORK, "folder"), "float arithmetic", "real"),
        (Subject(About.MODEL, "module:model"), "arithmetic", ""),
    ):
        verdict = Verdict(CLAIMS, subject)
        assert [line for line in lines_of(verdict) if "arithmetic" in line] == [f"  {name}: rounded"]
        first, second = json.loads(json.dumps(record_of(verdict)))["claims"]
        assert (first["arithmetic"], second["arithmetic"]) == ("rounded", unnamed)


def test_of_two_words_the_first_is_a_member() -> None:
    record = record_of(Verdict(CLAIMS, Subject(About.MODEL, "module:model", "digest", "parity", PAIR)))
    assert {name: record[name] for name in ("words", "members", "answers", "decided_by", "free", "n")} == {
        "words": [["a", "b"], ["a", "a"]],
        "members": [True, False],
        "answers": [True, True],
        "decided_by": [1],
        "free": pytest.approx(2 / 3),
        "n": 3,
    }
