"""A file about causal variables, in words."""

from __future__ import annotations

from pathlib import Path

from attemper.attention_program.show import show_step
from attemper.theories.causal.certificate import CAUSAL, Code
from attemper.workbench.report.files import ShownFile


def show_causal(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file claims, of which network."""
    del model, columns
    said = CAUSAL.load(path)
    steps = said.program.steps
    lines = [f"network: {said.network}"]
    for number, variable in enumerate(said.variables):
        codes = "; ".join(
            f"{_holders(code)} is s{code.step} = {show_step(steps[code.step])}" for code in variable.codes
        )
        lines.append(f"variable {number}, after layer {variable.layer}: {codes}")
    lines.append(f"claimed, to be checked with 'attemper check {path} --model DIR'")
    return ShownFile(tuple(lines), {"kind": "causal", **CAUSAL.encode(said)})


def _holders(code: Code) -> str:
    return " and ".join(f"{'1 - ' if own.opposite else ''}x{own.coordinate}" for own in code.holders)
