"""A verdict as lines for people and as a record, which reads back."""

from __future__ import annotations

import json

import pytest

import attemper
from attemper.checker.report import lines_of, record_of, verdict_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, WordPair

PAIR = WordPair(("a", "b"), ("a", "a"), True, 3, 2, (1,))
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
