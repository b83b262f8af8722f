"""A judgement's file, in words."""

from __future__ import annotations

from pathlib import Path

from attemper.languages.words import show_word
from attemper.theories.judging.certificate import JUDGEMENT, ExactExtremes
from attemper.theories.judging.check.claims import at_offset, said, task_of
from attemper.workbench.report.files import ShownFile


def show_judgement(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, and of which encoder."""
    del model, columns
    found = JUDGEMENT.load(path)
    if isinstance(found.evidence, ExactExtremes):
        claim = said(task_of(found), found.evidence.up_to, found.evidence.offsets)
    else:
        where = f"'{show_word(found.evidence.word)}'{at_offset(found.evidence.offset)}"
        claim = f"{where} is answered wrong, as {found.automaton.text()} has it"
    lines = (
        f"encoder: {found.source}, digest {found.digest}",
        claim,
        f"claimed, to be checked with 'attemper check {path} --model DIR'",
    )
    return ShownFile(
        lines, {"kind": "judgement", "encoder": found.source, "digest": found.digest, "claim": claim}
    )
