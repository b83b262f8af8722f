"""A verdict as lines for people, and as a record for programs."""

from __future__ import annotations

from collections.abc import Iterator

from attemper.checker.verdict import VERDICT, About, Subject, Verdict


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
    """The verdict as JSON data: its worst status, and what it is made of."""
    return {"verdict": str(verdict.status), **VERDICT.encode(verdict)}
