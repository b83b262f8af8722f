"""A file about depth, in words."""

from __future__ import annotations

from pathlib import Path

from attemper.theories.depth.certificate import DEPTH
from attemper.theories.depth.check.claims import describe
from attemper.theories.depth.search.found import claim_line, claim_record
from attemper.workbench.report.files import ShownFile


def show_depth(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, of which networks and which language."""
    del model, columns
    found = DEPTH.load(path)
    language, networks = found.language.text(found.alphabet), describe(found.networks)
    lines = (
        f"language: {language}",
        f"networks: {networks}",
        *map(claim_line, found.claims),
        f"claimed, to be checked with 'attemper check {path}'",
    )
    claims = [{"layers": claim.layers, **claim_record(claim)} for claim in found.claims]
    return ShownFile(lines, {"kind": "depth", "language": language, "networks": networks, "claims": claims})
