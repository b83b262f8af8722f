"""A verdict as lines for people and as a record, which reads back."""

from __future__ import annotations

import json

import pytest

import attemper
from attemper.checker.report import lines_of, record_of
from attemper.checker.verdict import VERDICT, About, ClaimVerdict, Status, Subject, Verdict, WordPair

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
    assert VERDICT.read(json.loads(json.dumps(VERDICT.encode(verdict)))) == verdict
    assert record_of(verdict) == {"verdict": str(verdict.status), **VERDICT.encode(verdict)}


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
    for subject, name in (
        (None, "float arithmetic"),
        (Subject(About.NETWORK, "folder"), "float arithmetic"),
        (Subject(About.MODEL, "module:model"), "arithmetic"),
    ):
        verdict = Verdict(CLAIMS, subject)
        assert [line for line in lines_of(verdict) if "arithmetic" in line] == [f"  {name}: rounded"]


def test_a_record_has_the_words_of_a_refutation() -> None:
    found = VERDICT.encode(Verdict(CLAIMS, Subject(About.MODEL, "module:model", "digest", "parity", PAIR)))
    assert found["subject"]["pair"] == {
        "member": ["a", "b"],
        "stranger": ["a", "a"],
        "answer": True,
        "length": 3,
        "free": 2,
        "decided_by": [1],
    }
