"""Tables for terminals: no vertical lines, and cells that wrap where the table says so."""

from __future__ import annotations

from collections.abc import Collection

from rich.box import SIMPLE_HEAD
from rich.table import Column, Table


def table(*headers: str, wraps: Collection[str] = (), caption: str | None = None) -> Table:
    """An empty table with these headers. Only cells below the headers in `wraps` take several lines."""
    columns = [Column(header, overflow="fold", no_wrap=header not in wraps) for header in headers]
    return Table(
        *columns,
        box=SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        title=caption,
        title_justify="left",
    )
