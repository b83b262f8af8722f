"""What commands print and pages say is explained in the glossary, and linked where it is used first."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import Status
from attemper.exact.formats import FORMATS
from attemper.languages.named.zoo import ALIASES, everything
from attemper.languages.regular.classes import RegularClass
from attemper.networks.layers import Construction, HardWeighting, Masking
from attemper.networks.regime import Regime
from attemper.registry import COMMANDS
from attemper.workbench.compiling import compile as compile_language
from tests.support.cli.checked_here import checked_here
from tests.support.cli.command_line import attemper

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
PAGES = [ROOT / "README.md", *sorted(set((ROOT / "docs").glob("*.md")) - {GLOSSARY})]

EVERYDAY = {
    *("alphabet", "construction", "score", "float64", "temperature", "hard attention", "digest", "read at"),
    *("counter", "gap", "margin", "refutation", "verdict on the empty word"),
    *("SAME", "DIFFERENT", "CONTAINED", "MEASURED", "place", "configuration"),
}
"""Terms that are also plain words, or titles: a page links them where they are meant as terms."""

PLAIN = {
    *("hard-attention", "end-of-word", "well-nested", "0-based", "two-element"),
    *("DIR", "FILE", "PATH", "MODULE", "OBJECT", "LANGUAGE", "MODEL", "OPTIONS", "COMMAND", "ARGS", "WORD"),
    *("JSON", "TEXT", "MODE", "SYMBOLS", "to-formula", "four-ways"),
    *("INTEGER", "FLOAT", "MB", "R", "S", "SHARE", "N", "K", "Q", "H", "C", "UTF", "FORMAT", "PE", "Z2"),
    *("NOT", "NAME", "NUMBER", "SYMBOL", "ADDRESS", "log-log"),
    *(
        "HTML",
        "KIND",
        "OUT",
        "PAPER",
        "STATEMENT",
        "hugging-face",
        "transformer-lens",
        "TASK",
        "RUN",
        "LENGTHS",
        "TOKENS",
        "REGISTER",
    ),
    *("LANGUAGE", "SYMBOLS", "MODEL", "MODE", "PATH", "to-formula", "four-ways"),
}
"""Words with a hyphen or in capitals that are no terms: of English, a command, what options take."""


def headings() -> list[str]:
    return re.findall(r"^### (.*)$", GLOSSARY.read_text(encoding="utf-8"), re.MULTILINE)


def defined() -> set[str]:
    """The terms that have an entry, and those in italics inside one; in lower case."""
    text = GLOSSARY.read_text(encoding="utf-8")
    return {term.lower() for term in (*headings(), *re.findall(r"\*([\w-]+)\*", text))}


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def prose(text: str) -> str:
    """The text with code, headings, pictures and links to elsewhere blanked, every character in its place."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found.group())

    code = (r"```.*?```", r"`[^`\n]*`", r"^#.*$", r"^(?:>>>|\.\.\.) .*$")
    for pattern in (*code, r"!\[[^]]*\]\([^)]*\)", r"(?<=\])\((?!(?:docs/)?glossary)[^)]*\)"):
        text = re.sub(pattern, blank, text, flags=re.DOTALL if pattern.startswith("```") else re.MULTILINE)
    return text


def first_use(term: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])", text, re.IGNORECASE)


def test_links_to_the_glossary_lead_to_an_entry() -> None:
    anchors = {anchor(heading) for heading in headings()}
    assert len(anchors) == len(headings()) > 40
    for page in (*PAGES, GLOSSARY):
        for link in re.findall(
            r"\]\((?:(?:docs/)?glossary\.md)?#([^)]*)\)", page.read_text(encoding="utf-8")
        ):
            assert link in anchors, f"{page.name}: {link}"


def test_what_is_read_first_links_each_term_where_it_uses_it_first() -> None:
    linked = 0
    firsts = ("README.md", "docs/"), ("docs/guarantees.md", ""), ("docs/tour.md", "")
    for page, folder in ((ROOT / name, folder) for name, folder in firsts):
        text = prose(page.read_text(encoding="utf-8"))
        # The longest first: "solvable" is not used where "not solvable" is.
        for heading in sorted(set(headings()) - EVERYDAY, key=len, reverse=True):
            found = first_use(heading, text)
            if found is not None:
                link = f"]({folder}glossary.md#{anchor(heading)})"
                said = text[max(0, found.start() - 60) : found.end() + 9]
                assert text.startswith(link, found.end()), f"{page.name}, {heading}: {said}"
                text = text.replace(f"[{found.group()}{link}", " " * len(f"[{found.group()}{link}"))
                linked += 1
    assert linked > 20


def test_each_term_that_a_page_uses_is_linked_from_one() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    links = {link for text in texts for link in re.findall(r"glossary\.md#([^)]*)\)", text)}
    for heading in set(headings()) - EVERYDAY:
        if any(first_use(heading, prose(text)) for text in texts):
            assert anchor(heading) in links, heading


def test_every_name_that_values_have_is_explained() -> None:
    enums = (Status, Regime, Masking, HardWeighting, Kernel, RegularClass)
    names = {str(member.value) for kind in enums for member in kind}
    names |= {kind.__name__ for kind in get_args(Construction)} | set(FORMATS)
    # Strictly masked heads are explained with the others.
    assert {name.lower().removeprefix("strictly ") for name in names} - defined() == set()


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What every command prints, its help included, about networks and languages of every kind."""
    folder = tmp_path_factory.mktemp("printed")
    names = ("net", "reader", "ends", "normed", "out.json")
    net, reader, ends, normed, refuted = (folder / name for name in names)
    outcomes = [
        attemper("compile", "#<[a] <= #>[b] & H (a -> Y b)", "--alphabet", "ab", "-o", net, "--explain"),
        attemper("compile", "O (b & Y a)", "--alphabet", "ab", "-o", reader, "--regime", "temperature"),
        attemper("compile", "regex:(a|b)*ab", "--alphabet", "ab", "-o", ends),
        attemper("compile", "O a", "--alphabet", "ab", "-o", normed, "--rms-norm", "--explain"),
        attemper("refute", reader, "zoo:parity", "--length", "20", "--free", "0.5", "-o", refuted),
        attemper("show", refuted),
        attemper("check", refuted),
        attemper("influence", reader, "--lengths", "4,5"),
        attemper("influence", reader, "--lengths", "8", "--logit-range", "n"),
        attemper("lemma", "--length", "40", "--k", "8"),
        attemper("lemma", "--c", "2", "--heads", "2"),
        attemper("source", "parity", "--p", "1/2", "--length", 8),
        attemper("source", "dyck2", "--p", "1/3", "--length", 8),
        attemper("source", "--help"),
        *(
            attemper("classify", f"regex:{regex}", "--alphabet", "ab")
            for regex in ("a*b", "(aa)*", "(b*ab*a)*b*")
        ),
        attemper("to-formula", "regex:a*b", "--alphabet", "ab"),
        *(attemper("zoo", *names) for names in ([], ["parity"], ["dyck-2"], ["seen-3"])),
        attemper("run", net, "ab", "ba"),
        attemper("verify", net, "--up-to", "3", "--count", "5", "--longest", "20"),
        attemper("certify", net),
    ]
    with checked_here():
        outcomes += [attemper(command, net) for command in ("show", "check")]
        outcomes += [attemper("trace", net, "ab"), attemper("check", net, "--explain")]
        outcomes += [attemper("show", ends), attemper("show", normed), attemper("check", normed, "--explain")]
    outcomes += [attemper(command.name, "--help") for command in COMMANDS]
    assert all(outcome.code == 0 for outcome in outcomes), [o for o in outcomes if o.code]
    # A word that the help breaks at its hyphen is one word.
    return re.sub(r"-\n\s*", "-", "\n".join(outcome.out for outcome in outcomes))


def test_what_commands_print_is_explained(printed: str) -> None:
    words = re.sub(r"\S*[/.]\S*|--[\w-]+|(?<!\w)'[^'\n]*'(?!\w)", " ", printed)  # paths, options, quotes
    # Languages have names of their own, and classes of their own are explained on their page.
    names = "|".join([*(entry.name for entry in everything()), *ALIASES])
    words = re.sub(rf"(?<![\w-])(?:{names})(?![\w-])", " ", words)
    words = re.sub(r"(?<![\w-])(?:[A-Z]+|[a-z]+)(?:-[a-z]+)*-[A-Z]+(?![\w-])", " ", words)
    hyphened = set(re.findall(r"(?<![\w-])[a-z]+-[a-z]+(?![\w-])", words))
    capitals = set(re.findall(r"(?<![\w-])[A-Z][A-Z_]{2,}(?![\w-])", words))
    known = defined() | {word.lower() for word in PLAIN}
    assert {word for word in hyphened | capitals if word.lower() not in known} == set()
    assert {"numerator-first", "future-masked", "star-free"} <= hyphened
    assert "PROVED" in capitals


def test_terms_that_look_like_any_word_are_explained_where_they_are_printed(printed: str) -> None:
    terms = ["horizon", "margin", "kernel", "position embedding", "regime", "temperature", "certificate"]
    terms += ["digest", "logit", "construction", "forcing number", "coordinate", "free", "sensitive"]
    assert [term for term in terms if first_use(term, printed) is None] == []
    assert [term for term in terms if term not in defined()] == []


def test_a_network_without_clamps_is_explained(tmp_path: Path) -> None:
    """`verify` prints this in place of a margin, for what puts out numbers only."""
    compile_language("zoo:fraction-seen").save(tmp_path / "numbers")
    outcome = attemper("verify", tmp_path / "numbers", "--up-to", "2", "--count", "0")
    assert outcome.out.endswith("; no clamps\n")
    text = GLOSSARY.read_text(encoding="utf-8")
    clamp = text.partition("### clamp\n")[2].partition("###")[0]
    assert "`no clamps`" in clamp
