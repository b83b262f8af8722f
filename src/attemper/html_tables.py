"""What notebooks show of a result: its text and its record, as an HTML table without scripts."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from html import escape

from attemper.escapes import escaped

LONGEST = 300
"""Longer texts are cut off."""

MOST = 40
"""How many rows a table has at most, and how many items are shown of a list."""


class Tabled:
    """A result that a notebook shows as a table: what `str` says of it, and its record.

    >>> class Counted(Tabled):
    ...     record = {"words": 1200}
    ...     __str__ = lambda _: "1,200 words are right"
    >>> Counted()._repr_html_().count("1,200")
    2
    """

    @property
    @abstractmethod
    def record(self) -> dict[str, object]:
        """What `--json` prints of it."""

    def _repr_html_(self) -> str:
        return record_html(str(self), self.record)


def html_text(text: str, room: int = LONGEST) -> str:
    """The text in HTML: nothing in it is markup or unprintable, and what has no room is cut off.

    >>> html_text("#<[a] <= 3"), html_text("abcdefgh", 4)
    ('#&lt;[a] &lt;= 3', 'abcd...')
    """
    return escape(escaped(text if len(text) <= room else f"{text[:room]}..."))


def row_html(name: str, cells: Iterable[str]) -> str:
    """A row of cells, which are HTML already, behind its name.

    >>> row_html("size", ["2", "3"])
    '<tr><th>size</th><td>2</td><td>3</td></tr>'
    """
    return f"<tr><th>{name}</th>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def left_out(count: int, what: str) -> list[str]:
    """A sentence on how many of something are not shown; none where that is 0 or less.

    >>> left_out(2, "heads: see .heads"), left_out(0, "heads")
    (['<p>left out: 2 more heads: see .heads</p>'], [])
    """
    return [f"<p>left out: {count:,} more {what}</p>"] if count > 0 else []


def record_html(title: str, record: Mapping[str, object]) -> str:
    """A result as a table: its text on top, and a row for each entry that says something.

    >>> record_html("SAME", {"states": [2, 2], "word": None})
    '<div><p><code>SAME</code></p><table><tr><th>states</th><td>2, 2</td></tr></table></div>'
    """
    rows = [row_html(html_text(name), [_value(value)]) for name, value in record.items() if _says(value)]
    lines = "<br/>".join(html_text(line) for line in title.splitlines()[:MOST])
    more = left_out(len(rows) - MOST, "entries: see .record")
    return f"<div><p><code>{lines}</code></p><table>{''.join(rows[:MOST])}</table>{''.join(more)}</div>"


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {}, ())


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list() | tuple():
            more = [f"{len(value) - MOST:,} more"] if len(value) > MOST else []
            return html_text(", ".join([*map(_item, value[:MOST]), *more]))
        case _:
            return html_text(_item(value))


def _item(value: object) -> str:
    """What stands in a list or a cell: texts as they are, and all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
