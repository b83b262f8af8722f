"""A verdict as lines for people, and as a record for programs, which can be read back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, WordPair

REAL = "real"
"""What records call the arithmetic of claims about a network that name none."""


def lines_of(verdict: Verdict) -> Iterator[str]:
    """The verdict for people: the worst status, what it is about, and every claim."""
    yield str(verdict.status)
    subject = verdict.subject
    if subject is not None:
        yield from _subject_lines(subject)
    for claim in verdict.claims:
        yield f"  {claim.text}" if claim.is_vacuous else f"  {claim.status}: {claim.text}"
        for assumption in claim.assumptions:
            yield f"    assuming {assumption}"
    name = "float arithmetic" if subject is None or subject.about is About.NETWORK else "arithmetic"
    for arithmetic in dict.fromkeys(claim.arithmetic for claim in verdict.claims if claim.arithmetic):
        yield f"  {name}: {arithmetic}"
    if verdict.explanation:
        yield "  the proof, layer by layer:"
        yield from (f"    {line}" for line in verdict.explanation)


def _subject_lines(subject: Subject) -> Iterator[str]:
    if subject.language is not None:
        yield f"  language: {subject.language}"
    if subject.place:
        yield f"  {subject.about}: {subject.place}"
    if subject.digest is not None:
        yield f"  digest: {subject.digest}"


def record_of(verdict: Verdict) -> dict[str, object]:
    """The verdict as JSON data."""
    subject = verdict.subject
    about = About.NETWORK if subject is None else subject.about
    found: dict[str, object] = {"verdict": str(verdict.status)}
    if subject is not None:
        found |= {"language": subject.language, str(about): subject.place, "digest": subject.digest}
    unnamed = REAL if about is About.NETWORK else ""
    found["claims"] = [
        {
            "verdict": str(claim.status),
            "text": claim.text,
            "assumptions": list(claim.assumptions),
            "arithmetic": claim.arithmetic or unnamed,
            "witness": None if claim.witness is None else list(claim.witness),
            "vacuous": claim.is_vacuous,
        }
        for claim in verdict.claims
    ]
    if verdict.explanation:
        found["explanation"] = list(verdict.explanation)
    pair = None if subject is None else subject.pair
    return found if pair is None else {**found, **_pair_record(pair)}


def _pair_record(pair: WordPair) -> dict[str, object]:
    return {
        "decided_by": list(pair.decided_by),
        "words": [list(pair.member), list(pair.stranger)],
        "members": [True, False],
        "answers": [pair.answer, pair.answer],
        "free": pair.free / pair.length,
        "n": pair.length,
    }


def verdict_of(record: Mapping[str, Any]) -> Verdict:
    """The verdict that `record_of` wrote. Raises KeyError, TypeError or ValueError for any other record."""
    subject = _subject_of(record)
    claims = [
        ClaimVerdict(
            Status(claim["verdict"]),
            claim["text"],
            tuple(claim["assumptions"]),
            "" if claim["arithmetic"] == REAL else claim["arithmetic"],
            None if claim["witness"] is None else tuple(claim["witness"]),
            claim["vacuous"],
        )
        for claim in record["claims"]
    ]
    verdict = Verdict(tuple(claims), subject, tuple(record.get("explanation", ())))
    if verdict.status is not Status(record["verdict"]):
        raise ValueError("a verdict is as good as its worst claim")
    return verdict


def _subject_of(record: Mapping[str, Any]) -> Subject | None:
    about = next((about for about in About if about in record), None)
    if about is None:
        return None
    pair = None
    if "words" in record:
        member, stranger = map(tuple, record["words"])
        free = round(record["free"] * record["n"])
        pair = WordPair(
            member, stranger, record["answers"][0], record["n"], free, tuple(record["decided_by"])
        )
    return Subject(about, record[about], record["digest"], record["language"], pair)
