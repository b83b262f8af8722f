"""A file about causal variables, in words."""

from __future__ import annotations

from pathlib import Path

from attemper.theories.causal.certificate import CAUSAL
from attemper.theories.causal.check.claims import edge_set_text, text_of
from attemper.theories.causal.rotation import FOLDER, ROTATION
from attemper.workbench.report.files import ShownFile


def show_causal(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, of which network."""
    del model, columns
    said = CAUSAL.load(path)
    lines = (
        f"network: {said.network}",
        *(f"variable {number}, {text_of(said.program, own)}" for number, own in enumerate(said.variables)),
        *(edge_set_text(own, said.variables) for own in said.edge_sets),
        f"claimed, to be checked with 'attemper check {path} --model DIR'",
    )
    return ShownFile(lines, {"kind": "causal", **CAUSAL.encode(said)})


def show_rotation(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, of which network."""
    del model, columns
    said = ROTATION.load(path)
    lines = (
        f"network: {said.network}",
        f"in another basis in '{FOLDER}': {said.idle} idle coordinates, {len(said.reflections)} reflections",
        f"claimed, to be checked with 'attemper check {path}'",
    )
    return ShownFile(lines, {"kind": "rotation", **ROTATION.encode(said)})
