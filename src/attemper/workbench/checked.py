"""What a check found, as people and programs read it: the verdict is the checker's, the words are ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import final

from attemper.checker.report import lines_of, record_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.errors import ExitCode
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.languages.words import Word

USUAL = "numerator-first"
"""The kernels of our own runs: of other ones a short answer says something only where it differs."""

_FLOATS = re.compile(
    r"(?:lengths up to (?P<horizon>[\d,]+),|nothing is proved) in (?P<format>\w+) with (?P<kernel>[\w-]+) "
    r"kernels(?P<meant>(?:; .*)?)"
)
"""How a proved claim about a float format reads."""

_ELSEWHERE = " at position "
"""So reads a claim that is refuted at a position, where the verdict on the word need not be wrong."""


@final
@dataclass(frozen=True, repr=False)
class Checked(Tabled):
    """The verdict on every claim; `str(...)` is what `attemper check` prints. Never a bool.

    >>> import attemper
    >>> found = attemper.check(attemper.compile("O a", "ab"))
    >>> print(found)
    PROVED: all lengths, in real arithmetic
      language: O a (read at the last position of words over a b; the empty word is rejected)
    >>> found, found.witness
    (<Checked: PROVED>, None)
    """

    verdict: Verdict

    @property
    def status(self) -> Status:
        """The worst status of a claim."""
        return self.verdict.status

    @property
    def claims(self) -> tuple[ClaimVerdict, ...]:
        """What is said of each claim."""
        return self.verdict.claims

    @property
    def subject(self) -> Subject | None:
        """What it is about; None where it has no place and no language was read."""
        return self.verdict.subject

    @property
    def explanation(self) -> tuple[str, ...]:
        """The proof, or how far it goes, in lines for people, if that was asked for."""
        return self.verdict.explanation

    @property
    def witness(self) -> Word | None:
        """The word that a claim goes wrong on, of REFUTED."""
        return next((claim.witness for claim in self.claims if claim.witness is not None), None)

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper check` returns to the shell."""
        return self.verdict.exit_code

    @property
    def record(self) -> dict[str, object]:
        """The verdict as JSON data, complete."""
        return record_of(self.verdict)

    def lines(self, *, complete: bool = False) -> Iterator[str]:
        """What is printed; if `complete`, every claim on a line, the digest, what is assumed of floats."""
        return lines_of(self.verdict) if complete else _lines(self.verdict)

    def __str__(self) -> str:
        # Names in a file can have line breaks, and none of them begins a line of ours.
        return "\n".join(map(escaped, self.lines()))

    def __repr__(self) -> str:
        return f"<Checked: {self.status}>"

    def __bool__(self) -> bool:
        """A verdict has more than two values: compare its status."""
        raise TypeError("a verdict is not true or false; look at its status")


def _lines(verdict: Verdict) -> Iterator[str]:
    """The claims, what is assumed, what it is about, and the proof; first the status, if no claim says it."""
    said = list(_claim_lines(verdict))
    if not said[0].startswith(f"{verdict.status}:"):
        yield str(verdict.status)
    yield from said
    if any(claim.witness is not None and _ELSEWHERE in claim.text for claim in verdict.claims):
        yield "  judged at every position of a word; 'attemper same' compares the verdicts on words alone"
    for assumption in dict.fromkeys(one for claim in verdict.claims for one in claim.assumptions):
        yield f"  assuming {assumption}"
    subject = verdict.subject
    if subject is not None and subject.language is not None:
        yield f"  language: {subject.language}"
    if subject is not None and subject.place and subject.about is not About.NETWORK:
        yield f"  {subject.about}: {subject.place}"
    if verdict.explanation:
        yield "  the proof, layer by layer:"
        yield from (f"    {line}" for line in verdict.explanation)


def _claim_lines(verdict: Verdict) -> Iterator[str]:
    """Every claim, but of what is PROVED of floats only the usual kernels, one line for all formats."""
    usual: dict[tuple[Status, str], list[re.Match[str]]] = {}
    others: list[tuple[str, str]] = []
    for claim in verdict.claims:
        found = _FLOATS.fullmatch(claim.text)
        if found is None:
            yield _said(claim)
        elif found["kernel"] == USUAL:
            usual.setdefault((claim.status, found["meant"]), []).append(found)
        elif claim.status is Status.PROVED:
            others.append((found["format"], _said(claim)))
        else:
            yield _said(claim)
    for (status, meant), group in usual.items():
        yield _together(status, group) + meant
    said = {found["format"] for group in usual.values() for found in group}
    yield from (text for form, text in others if form not in said)


def _said(claim: ClaimVerdict) -> str:
    """The claim behind what is found of it; one about no length is not printed as proved."""
    return claim.text if claim.is_vacuous else f"{claim.status}: {claim.text}"


def _together(status: Status, found: Sequence[re.Match[str]]) -> str:
    """How far the claims about several formats go, in one line."""
    reaching = [f"{one['horizon']} in {one['format']}" for one in found if one["horizon"]]
    empty = [one["format"] for one in found if not one["horizon"]]
    parts = [f"{status}: lengths up to {', '.join(reaching)}"] if reaching else []
    parts += [f"nothing is proved in {', '.join(empty)}"] if empty else []
    return "; ".join(parts)
