"""A network as the program that `torch.export` makes of it, for all batch sizes and lengths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from attemper.exports.subject import Exported

if TYPE_CHECKING:
    from torch.export import ExportedProgram

INPUTS, OUTPUTS = ("tokens", "mask"), ("outputs", "margins")
"""The names of what goes in, both int64 [batch, position], and of what comes out."""

AXES: dict[str, dict[int, str]] = {"tokens": {0: "batch", 1: "position"}, "mask": {}}
"""The names of the axes, said once for both inputs, which share them."""


def exported_program(subject: Exported, dtype: str) -> ExportedProgram:
    """The traced network: tokens and mask, of at least one word and one position, to outputs and margins.

    Raises what `architecture_of` raises.

    >>> import attemper
    >>> model = attemper.compile("O a", "ab")
    >>> program = exported_program(Exported(model.network, model.source), "float64").module()
    >>> program(torch.tensor([[1, 0, 1, 1]]), torch.tensor([[1, 1, 1, 1]]))[0].tolist()
    [[0.0, 1.0, 1.0, 1.0]]
    """
    axes = {0: torch.export.Dim("batch", min=1), 1: torch.export.Dim("position", min=1)}
    # Neither axis of an example may be 1: such an axis is taken for one that is always 1.
    example = torch.zeros(2, 3, dtype=torch.int64)
    program = torch.export.export(
        subject.traceable(getattr(torch, dtype)),
        (example, torch.ones_like(example)),
        dynamic_shapes=dict.fromkeys(INPUTS, axes),
        strict=False,
    )
    for node in program.graph.nodes:
        # Paths of whoever exports have no place in files that they give away.
        node.meta.pop("stack_trace", None)
    return program
