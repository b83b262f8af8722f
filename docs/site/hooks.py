"""What mkdocs asks while it builds the site: pages from elsewhere in the repository, and made ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jupytext
from docs.site.notebooks import executed, page_of
from docs.site.pages import COPIED, in_the_site
from docs.site.reference import commands_page, names_page
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from attemper.registry import DOCUMENTS
from attemper.workbench.schemas import schema

ROOT = Path(__file__).parents[2]


MADE: dict[str, Callable[[], str]] = {"reference/api.md": names_page, "reference/cli.md": commands_page}
"""Pages whose opening stands in docs/; the rest is made."""

SOURCES = {page: source for source, page in COPIED.items()}


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that stand elsewhere in the repository, and every tutorial as it runs."""
    made: dict[str, str] = {}
    for source, page in COPIED.items():
        made[page] = (ROOT / source).read_text(encoding="utf-8")
    for tutorial in sorted(ROOT.glob("docs/tutorial/*.py")):
        notebook = executed(tutorial)
        made[f"tutorial/{tutorial.stem}.ipynb"] = jupytext.writes(notebook, "ipynb")
        made[f"tutorial/{tutorial.stem}.md"] = page_of(notebook, f"{tutorial.stem}.ipynb")
    for kind in DOCUMENTS:
        made[f"schemas/{kind}.json"] = json.dumps(schema(kind), indent=1)
    for name, text in made.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to where files stand in the site, and append what is made."""
    name = page.file.src_uri
    made = MADE[name]() if name in MADE else ""
    return in_the_site(markdown, SOURCES.get(name, f"docs/{name}")) + made
