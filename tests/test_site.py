"""The site, as far as it can be seen without mkdocs: pages, links, navigation, and what is made."""

from __future__ import annotations

import doctest
import posixpath
import re
from collections import Counter

import pytest
from docs.site import pages, reference
from docs.site.pages import COPIED, LINK, place

import attemper
from attemper.registry import COMMANDS
from tests import ROOT

SOURCES = sorted(
    [
        *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md")),
        *(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/tutorial/*.py")),
        *COPIED,
    ]
)
"""The files of the repository that are pages of the site."""

START = "docs/index.md"


def text_of(source: str) -> str:
    """A page's Markdown, without code; that of a tutorial stands in comments."""
    text = (ROOT / source).read_text(encoding="utf-8")
    if source.endswith(".py"):
        return "\n".join(line[2:] for line in text.splitlines() if line.startswith("# "))
    return re.sub(r"^(```+).*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)


def links(source: str) -> list[tuple[str, str]]:
    """Where the links of a page lead: a path in the repository, and the anchor there, if any."""
    prose = re.sub(r"`[^`\n]*`", "code", text_of(source))
    local = [("", anchor) for anchor in re.findall(r"\]\(#([^)\s]*)\)", prose)]
    found = [(match[1], (match[2] or "").removeprefix("#")) for match in LINK.finditer(prose)]
    here = posixpath.dirname(source)
    return [
        (posixpath.normpath(posixpath.join(here, path)) if path else source, anchor)
        for path, anchor in [*local, *found]
    ]


def anchors(source: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them, and the site."""
    titles = re.findall(r"^#+ (.*)$", text_of(source), re.MULTILINE)
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in plain}


def navigation() -> list[str]:
    """The pages that mkdocs.yml names, in its order."""
    _, nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")
    return re.findall(r"^ +- (?:[^:\n]+: )?(\S+\.md)$", nav, re.MULTILINE)


def test_the_navigation_names_every_page_once() -> None:
    assert len(SOURCES) > 60
    assert Counter(navigation()) == Counter(place(source) for source in SOURCES)


@pytest.mark.parametrize("source", [*SOURCES, "README.md"])
def test_every_link_leads_to_a_page_and_a_heading_there(source: str) -> None:
    for path, anchor in links(source):
        assert (ROOT / path).is_file(), f"{source}: {path}"
        assert not anchor or anchor in anchors(path), f"{source}: {path}#{anchor}"


@pytest.mark.parametrize("source", SOURCES)
def test_what_a_page_links_is_in_the_site(source: str) -> None:
    assert [path for path, _ in links(source) if place(path) is None] == []


def test_links_are_found() -> None:
    assert ("src/attemper/certificates/FORMAT.md", "") in links("docs/refutation.md")
    assert ("docs/glossary.md", "horizon") in links("docs/guarantees.md")
    assert not {"class-1", "nowhere"} & anchors("docs/glossary.md")
    assert {"glossary", "in-real-arithmetic", "proved_under_assumptions"} <= anchors("docs/glossary.md")


def test_every_page_is_two_clicks_from_the_start() -> None:
    near = {path for path, _ in links(START)}
    further = {path for page in near & set(SOURCES) for path, _ in links(page)}
    assert set(SOURCES) - near - further - {START} == set()
    assert {"docs/gallery/index.html", "docs/tutorial/first_network.py"} <= near


@pytest.mark.parametrize("source", [one for one in SOURCES if re.match(r"docs/[\w/-]+\.md", one)])
def test_a_page_opens_with_the_question_that_it_answers(source: str) -> None:
    text = (ROOT / source).read_text(encoding="utf-8")
    is_record = re.match(r"docs/decisions/\d", source) is not None
    assert is_record or re.match(r"# .*\n\n\*[A-Z].*\?\*\n\n", text)


@pytest.mark.parametrize("source", [source for source in SOURCES if source.startswith("docs/")])
def test_prompts_stand_in_fences(source: str) -> None:
    """Else GitHub shows quotations, and the site takes what is in brackets for links."""
    assert re.findall(r"^>>> .*", text_of(source), re.MULTILINE) == []


def test_the_reference_has_every_command_and_every_public_name() -> None:
    assert re.findall(r"^### (.*)$", reference.commands_page(), re.MULTILINE) == [c.name for c in COMMANDS]
    assert re.findall(r"^::: attemper\.(.*)$", reference.names_page(), re.MULTILINE) == attemper.__all__


def test_a_section_has_what_help_prints_and_the_exit_codes_of_the_command() -> None:
    section = reference.commands_page().split("### check\n")[1].split("\n### ")[0]
    assert "\nUsage: attemper check" in section
    assert "  --memory MB" in section
    assert "Exit codes of its own: 6 (MALFORMED), 10 (REFUTED, with the word that goes wrong), 11 " in section
    assert "`" not in reference.own_codes("check").replace("`--seconds`", "").replace("`--memory`", "")


@pytest.mark.parametrize("module", [pages, reference], ids=["pages", "reference"])
def test_the_examples_of_what_makes_the_site_hold(module: object) -> None:
    failed, tried = doctest.testmod(module)  # type: ignore[arg-type]
    assert (failed, tried > 0) == (0, True)
