"""The page that leads to all others: a row for each entry of the zoo."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from html import escape

from attemper.checker.rounding.network import LONGEST
from attemper.exact.formats import FORMATS
from attemper.workbench.zoo_pages.making import KERNEL, ZooPage

TITLE = "The zoo &middot; attemper"
"""What an index is known by."""

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfaf7; --ink: #1d2430; --quiet: #5d6675; --line: #dfe1e6; --blue: #2458c5;
  font: 16px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; background: var(--ground); color: var(--ink); }
@media (prefers-color-scheme: dark) {
  :root { --ground: #14171c; --ink: #e7e9ee; --quiet: #9aa3b2; --line: #323843; --blue: #7fa8ff; }
}
body { max-width: 86rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { font-size: 1.5rem; margin: .25rem 0; }
p { margin: .3rem 0; color: var(--quiet); max-width: 46rem; }
a { color: var(--blue); font-weight: 600; }
.scroll { overflow-x: auto; margin-top: 1.2rem; }
table { border-collapse: collapse; font-size: .9rem; }
th, td { padding: .45rem .8rem .45rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 500; vertical-align: bottom; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
tbody th { font-weight: 600; white-space: nowrap; }
tbody td:nth-child(2) { min-width: 16rem; }
tbody td:nth-child(6) { white-space: nowrap; font-size: .8rem; }
small { color: var(--quiet); display: block; }
"""  # noqa: E501 - a rule is a line

_COLUMNS = ("name", "what it is", "class", "layers", "heads", "regimes")


def index_text(pages: Sequence[ZooPage]) -> str:
    """The index as HTML: without scripts, and without a request to anywhere.

    >>> from attemper.languages.named.zoo import named
    >>> from attemper.workbench.zoo_pages.making import zoo_page
    >>> '<a href="aa-star.html">aa-star</a>' in index_text([zoo_page(named("aa-star"))])
    True
    """
    policy = f"default-src 'none'; style-src 'sha256-{b64encode(sha256(_STYLE.encode()).digest()).decode()}'"
    heads = "".join(f'<th scope="col">{name}</th>' for name in _COLUMNS)
    horizons = "".join(f'<th scope="col">horizon, {name}</th>' for name in FORMATS)
    rows = "\n".join(map(_row, pages))
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{TITLE}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>The zoo</h1>
<p>Languages and tasks on which people try transformers. Each page has a softmax transformer that is right at
every length in real arithmetic where it is certified, and that runs on any word as you type.</p>
<p>A horizon is the length up to which the network's certificate says that it is right in that float format,
with kernels of the class {KERNEL}; pages compute in float64. {LONGEST:,} is as far as is looked.</p>
<div class="scroll" tabindex="0" role="region" aria-label="all entries of the zoo">
<table>
<thead><tr>{heads}{horizons}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
</div>
</body>
</html>
"""


def _row(page: ZooPage) -> str:
    """An entry: its name leads to its page; where there is none, the row says why."""
    entry = page.entry
    name = f'<a href="{page.file}">{escape(entry.name)}</a>' if page.html else escape(entry.name)
    picture = "<small>with a picture of its automaton</small>" if page.has_picture and page.html else ""
    refusal = f"<small>no page: {escape(page.refusal)}</small>" if page.refusal else ""
    cells = (
        f"<td>{escape(entry.definition)}{picture}{refusal}</td>",
        f"<td>{escape(entry.kind)}</td>",
        _number(page.layers),
        _number(page.heads),
        f"<td>{escape(', '.join(entry.regimes))}</td>",
        *(_number(page.horizons.get(name)) for name in FORMATS),
    )
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def _number(number: int | None) -> str:
    """A number with commas; a dash where there is none: nothing was compiled, or nothing is proved."""
    return f'<td class="number">{"&ndash;" if number is None else f"{number:,}"}</td>'
