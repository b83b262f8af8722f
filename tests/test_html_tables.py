"""Results as HTML tables: everything is escaped, and everything has an end."""

from __future__ import annotations

import ast
from html import unescape
from pathlib import Path
from xml.etree.ElementTree import fromstring

from attemper.html_tables import LONGEST, MOST, html_text, left_out, record_html

ROOT = Path(__file__).parents[1]

ODD = "</table><script>alert('&')</script>\u202e"


def test_text_is_escaped_and_cut() -> None:
    assert html_text(ODD) == "&lt;/table&gt;&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;\\u202e"
    assert html_text("<" * 10, 3) == "&lt;&lt;&lt;..."
    assert len(unescape(html_text("<" * 10_000))) == LONGEST + 3


def test_a_record_is_a_table_of_what_it_says() -> None:
    record = {
        "answer": "DIFFERENT",
        "word": ["a", "b"],
        "verdicts": [True, False],
        "shortest": True,
        "states": 12345,
        "reason": "",
        "assumptions": [],
        "witness": None,
        "longest": 0,
        "groups": [{"order": 2}],
        ODD: {ODD: ODD},
    }
    root = fromstring(record_html(f"DIFFERENT: 'ab'\nsecond {ODD}", record))
    rows = {row.findtext("th"): row.findtext("td") for row in root.iter("tr")}
    shown = ODD.replace("\u202e", "\\u202e")
    assert rows == {
        "answer": "DIFFERENT",
        "word": "a, b",
        "verdicts": "true, false",
        "shortest": "yes",
        "states": "12,345",
        "longest": "0",
        "groups": '{"order": 2}',
        shown: f'{{"{shown}": "{shown}"}}',
    }
    assert list(root.itertext())[:2] == ["DIFFERENT: 'ab'", f"second {shown}"]


def test_a_record_of_any_size_is_a_small_table() -> None:
    lists = {f"entry {k} {'x' * 1000}": ["<" * 1000] * 1000 for k in range(1000)}
    html = record_html("\n".join(["<" * 1000] * 1000), lists)
    assert len(html) < 200_000
    assert html.count("<tr>") == MOST
    assert html.endswith("<p>left out: 960 more entries: see .record</p></div>")
    assert f"{'a, ' * MOST}60 more" in record_html("", {"word": ["a"] * 100})


def test_every_result_with_a_record_is_a_table() -> None:
    """By the one way that there is. (The trusted verdict has no record of its own.)"""
    found = {
        (path.name, node.name): {ast.unparse(base) for base in node.bases}
        for path in (ROOT / "src").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and any(_is_record(member) for member in node.body)
    }
    assert found.pop(("html_tables.py", "Tabled")) == set()
    assert [name for name, bases in found.items() if "Tabled" not in bases] == []


def _is_record(member: ast.stmt) -> bool:
    return isinstance(member, ast.FunctionDef) and member.name == "record" and bool(member.decorator_list)


def test_nothing_is_said_to_be_left_out_where_nothing_is() -> None:
    assert left_out(0, "heads") == left_out(-3, "heads") == []
    assert left_out(1234, "heads: see .heads") == ["<p>left out: 1,234 more heads: see .heads</p>"]
