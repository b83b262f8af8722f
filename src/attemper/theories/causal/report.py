"""A file about causal variables, in words."""

from __future__ import annotations

from pathlib import Path

from attemper.theories.causal.certificate import CAUSAL
from attemper.theories.causal.check.claims import texts_of
from attemper.workbench.report.files import ShownFile


def show_causal(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, of which network."""
    del model, columns
    said = CAUSAL.load(path)
    lines = (
        f"network: {said.network}",
        *texts_of(said.program, said.variables),
        f"claimed, to be checked with 'attemper check {path} --model DIR'",
    )
    return ShownFile(lines, {"kind": "causal", **CAUSAL.encode(said)})
