"""What a verdict is about, as it is shown; and that a verdict's record reads back."""

from __future__ import annotations

import json

import pytest

import attemper
from attemper.checker.report import lines_of, record_of, verdict_of
from attemper.checker.subjects import describe, describe_automaton
from attemper.checker.verdict import About, ClaimVerdict, Pair, Status, Subject, Verdict
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
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
