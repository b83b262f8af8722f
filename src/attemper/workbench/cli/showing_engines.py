"""attemper show --engines"""

from __future__ import annotations

from attemper.workbench.cli.console import out, print_json
from attemper.workbench.model import Model
from attemper.workbench.report.engines import MEANT, PROBE, Engines, engines_of
from attemper.workbench.report.tables import table


def show_engines(model: Model, *, json: bool) -> None:
    """Print which engine `auto` is, and the way by which the scan computes each head."""
    engines = engines_of(model)
    if json:
        print_json(engines.as_record())
        return
    out.print(_auto(engines))
    if engines.refused:
        return
    shown = table("layer", "head", "scan", "which sums", wraps=("which sums",))
    for one in engines.heads:
        meant = one.reason or ", ".join(MEANT[way] for way in one.ways)
        shown.add_row(str(one.layer), str(one.head), ", ".join(one.ways), meant)
    out.print(shown)
    blocks = "long words run block by block" if engines.in_blocks else "words run as a whole"
    out.print(f"as seen on a word of {PROBE} symbols; {blocks}")


def _auto(engines: Engines) -> str:
    if engines.refused:
        return f"engine auto is fused: the scan does not run this network, as {engines.refused}"
    least = f"{engines.scan_from:,} positions in a batch"
    if any("dense" in one.ways for one in engines.heads):
        return "engine auto is fused: some heads have no linear way"
    return f"engine auto is scan from {least} on, fused below"
