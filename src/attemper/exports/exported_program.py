"""A network as a file of `torch.export` (.pt2): torch alone runs it, without this package."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path

import torch

from attemper.exports.remarks import remarks_of
from attemper.exports.subject import Exported
from attemper.exports.tracing import exported_program
from attemper.writing import write_together

REMARKS = "attemper.json"
"""The extra file in it: a JSON object with what `remarks_of` says."""


def write_exported_program(subject: Exported, path: Path, dtype: str) -> None:
    """Write the program and the extra file `attemper.json`, completely or not at all.

    `torch.export.load(path, extra_files={"attemper.json": ""}).module()` maps tokens and mask, both int64
    [batch, position], to outputs and margins. Raises what `architecture_of` raises, and `MalformedFileError`
    if the file cannot be written.
    """
    said = json.dumps(remarks_of(subject, dtype), ensure_ascii=False)
    stream = BytesIO()
    torch.export.save(exported_program(subject, dtype), stream, extra_files={REMARKS: said})
    write_together({path: stream.getvalue()})
