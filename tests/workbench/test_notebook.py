"""What a notebook shows of models and traces: all of it escaped, and small however large they are."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from xml.etree.ElementTree import fromstring

import pytest

import attemper
from attemper.errors import OptionError
from attemper.workbench.report import model_html
from attemper.workbench.report.attention import attended_text
from attemper.workbench.report.heads import HeadTrace, LayerMargin
from attemper.workbench.trace import Trace

# Traces -----------------------------------------------------------------------------------------------------


def test_a_notebook_shows_truth_and_pictures() -> None:
    trace = attemper.compile("#<['<'] <= #<['&']", "<&").trace("<&&<")
    html = trace._repr_html_()
    assert "<script" not in html
    assert html.count("<table>") == html.count("</table>") == 1
    assert html.count("<svg ") == html.count("</svg>") == len(trace.heads) == 2
    fromstring(html)  # it is closed as XML is
    told = [attended_text(head, i) for head in trace.heads for i in range(1, 5)]
    assert [unescape(title) for title in re.findall(r"<title>(position[^<]*)</title>", html)] == told
    assert "<code>&lt;&amp;&amp;&lt;</code>" in html
    assert "#&lt;[&#x27;&lt;&#x27;]" in html
    assert re.findall("[<&]{2}", re.sub("<[^<>]*>|&[#a-z0-9]+;", "", html)) == [], "symbols are escaped"


def test_a_notebook_shows_the_end_of_a_long_word() -> None:
    trace = attemper.compile("O a", "ab").trace("ab" * 100)
    html = trace._repr_html_()
    assert "positions 161 to 200 of 200, and no others" in html
    assert html.count("<title>position ") == 40
    assert len(html) < 30_000


def test_a_notebook_draws_no_more_heads_than_a_page_has_room_for() -> None:
    """Of 500 heads, on a word of 40 symbols and on one of 3, and with as many subformulas."""
    for length, drawn in ((40, 6), (3, 40)):
        weights = tuple(
            tuple(1 / i if j <= i else 0.0 for j in range(1, length + 1)) for i in range(1, length + 1)
        )
        heads = tuple(HeadTrace(0, k, "Uniform", ("x" * 1000,) * 100, weights, weights) for k in range(500))
        truths = tuple(("a" * 1000, (True,) * length) for _ in range(500))
        margins = tuple(LayerMargin(k, 0.25) for k in range(500))
        outputs = (True,) * length
        html = Trace(("<",) * length, True, outputs, truths, (1.0,) * length, heads, margins)._repr_html_()
        assert html.count("<svg ") == drawn
        assert f"left out: {500 - drawn} more heads: see .heads" in html
        assert html.count("left out: 460 more") == (2 if drawn != 40 else 3)
        assert len(html) < 250_000


def test_the_trace_of_the_empty_word_has_no_tables() -> None:
    trace = attemper.compile("O a", "ab").trace("")
    assert repr(trace) == "<Trace of (empty): 2 subformulas, 0 heads>"
    assert trace._repr_html_() == "<div><p>word <code>(empty)</code></p></div>"


# Models -----------------------------------------------------------------------------------------------------


def facts_in(html: str) -> dict[str, str]:
    return dict(re.findall(r"<tr><th>([a-z_ ]+)</th><td>([\w,]+)</td></tr>", html))


def test_a_notebook_shows_a_model_as_tables_and_pictures() -> None:
    html = attemper.compile("#<['<'] <= #<['&']", "<&")._repr_html_()
    fromstring(html)  # it is closed as XML is, and symbols are escaped
    assert "<p><code>#&lt;[&#x27;&lt;&#x27;] &lt;= #&lt;[&#x27;&amp;&#x27;]</code></p>" in html
    sizes = {"layers": "2", "heads": "2", "d_model": "11", "parameters": "466"}
    assert facts_in(html) == {"regime": "unbounded", "hidden units": "4", **sizes}
    assert "<tr><th>1</th><td>0</td><td>Sign</td><td><code>sign #&lt;[&#x27;&lt;&#x27;]" in html
    assert html.count("<svg ") == 2
    assert "on the word <code>&amp;&amp;&lt;&lt;&amp;&lt;</code>" in html


def test_a_model_without_heads_is_shown_without_pictures() -> None:
    html = attemper.compile("a" + " | a" * 500, "ab")._repr_html_()
    assert facts_in(html)["layers"] == "0"
    assert html.count("<table>") == 1
    assert len(html) < 1000
    first = attemper.compile(attemper.regex("(ab)*", "ab"))._repr_html_()
    assert "<tr><th>0</th><td>none</td><td></td><td></td><td></td><td>8</td></tr>" in first
    assert first.count("<svg ") == 1


def test_a_notebook_shows_the_first_heads_of_many() -> None:
    model = attemper.compile("O a", "ab")
    deep = replace(model, network=replace(model.network, layers=model.network.layers * 100))
    html = deep._repr_html_()
    assert html.count("<svg ") == 24
    assert "left out: 76 more rows: 'attemper show' lists every head" in html
    assert len(html) < 60_000


def test_why_nothing_is_drawn_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    model = attemper.compile("O a", "ab")
    monkeypatch.setattr(model_html, "LARGE", 100)
    assert "<p>nothing is drawn of so large a network: see model.trace(word)</p>" in model._repr_html_()
    monkeypatch.undo()

    def refused(*_: object) -> None:
        raise OptionError("no <torch> here")

    monkeypatch.setattr(type(model), "trace", refused)
    html = model._repr_html_()
    assert "<p>nothing is drawn: no &lt;torch&gt; here</p>" in html
    assert "attended O a" in html
