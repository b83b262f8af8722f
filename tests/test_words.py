"""A word means one thing: the name of a class or of a type alias stands for one thing in the whole package.

`double_names.txt` lists the names that still stand for two or more. It may only shrink.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "attemper"
LISTED = Path(__file__).with_name("double_names.txt")


NAMED = re.compile(r"(?:class (\w+)[(:]|(?:type )?(?![A-Z0-9_]+ = )([A-Z]\w*)(?:: TypeAlias)? = )")
"""How a line begins that names a class or an alias. What has capitals only is a constant."""


def named(text: str) -> Iterator[str]:
    """The classes and type aliases of a module, those under a condition (`TYPE_CHECKING`) among them.

    Read line by line: syntax trees of the whole package would take twenty times as long.
    """
    conditional = False
    for line in text.splitlines():
        if line and not line[0].isspace():
            conditional = line.startswith("if ")
        if found := NAMED.match(line.lstrip() if conditional else line):
            yield found[1] or found[2]


def doubles(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The names that two modules or more define, each with these modules; `texts` has their texts."""
    homes: defaultdict[str, list[str]] = defaultdict(list)
    for module, text in texts.items():
        for name in named(text):
            homes[name].append(module)
    return {name: where for name, where in sorted(homes.items()) if len(where) > 1}


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    paths = sorted(SOURCE.rglob("*.py"))
    return doubles({path.relative_to(SOURCE).as_posix(): path.read_text(encoding="utf-8") for path in paths})


@pytest.fixture(scope="module")
def listed() -> list[str]:
    return LISTED.read_text(encoding="utf-8").split()


def test_a_new_name_means_one_thing(found: dict[str, list[str]], listed: list[str]) -> None:
    new = [f"{name}: {', '.join(where)}" for name, where in found.items() if name not in listed]
    assert not new, "choose another name for one of them:\n" + "\n".join(new)


def test_the_list_names_no_more_than_there_are(found: dict[str, list[str]], listed: list[str]) -> None:
    gone = sorted(set(listed) - set(found))
    assert not gone, f"each means one thing now: take it out of {LISTED.name}: {', '.join(gone)}"


def test_the_list_is_sorted_and_names_each_once(listed: list[str]) -> None:
    assert listed == sorted(set(listed))


def test_classes_and_aliases_are_found_wherever_a_module_has_them() -> None:
    texts = {
        "a": "class Row: ...\nif TYPE_CHECKING:\n    Cell = int\nLIMIT = 1",
        "b": "Row = tuple[int, ...]\nLIMIT = 2",
        "c": "from a import Row\nclass Cell: ...\ndef f():\n    class Row: ...",
    }
    assert doubles(texts) == {"Cell": ["a", "c"], "Row": ["a", "b"]}
