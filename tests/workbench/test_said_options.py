"""A message speaks of an argument as Python spells it, and the command line of its option."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import attemper as library
from attemper.errors import UnsupportedError
from attemper.registry import COMMANDS
from attemper.workbench.cli.spelling import as_typed, option_of
from tests.support.cli.command_line import attemper

SOURCES = Path(library.__file__).parent
OF_THE_COMMAND_LINE = re.compile(
    r"(^|/)(cli/.*|command/.*|\w*command|checker/__main__|papers/\w+|statements)\.py$|/command/"
)
"""The modules in which options are declared, and speak for themselves, or that name a command to be typed."""

OPTION = re.compile(r"(?<![\w-])--[a-z]")

COMMAND = re.compile(r"'attemper [a-z-]+( DIR| \{\})?( --[a-z-]+( [A-Z:]+)?)*'")
"""A command that is quoted in full is right for whoever reads it."""


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and the text of every string but docstrings, which speak to readers of the code.

    What is put into a text is {} there.
    """
    known = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        match node:
            case ast.JoinedStr(values=parts):
                known |= set(map(id, parts))
                yield (
                    node.lineno,
                    "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts),
                )
            case ast.Constant(value=str(text)) if id(node) not in known:
                yield node.lineno, text


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield path.relative_to(SOURCES).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def of_styles(text: str) -> bool:
    """Whether it is a style sheet, whose variables begin as options do."""
    return "{" in text and "var(--" in text


def test_no_message_outside_the_command_line_spells_an_option() -> None:
    found = [
        f"{name}:{line}: {text}"
        for name, tree in modules()
        if not OF_THE_COMMAND_LINE.search(name)
        for line, text in texts(tree)
        if OPTION.search(COMMAND.sub("", text)) and not of_styles(text)
    ]
    assert found == []


def test_that_test_would_notice_an_option() -> None:
    tree = ast.parse('def f(n):\n    """Say --n."""\n    raise ValueError(f"{n}: choose a smaller --n")')
    assert [line for line, text in texts(tree) if OPTION.search(text)] == [3]


def options() -> set[str]:
    """All options of all commands."""
    found: set[str] = set()
    for command in COMMANDS:
        outcome = attemper(command.name, "--help")
        found |= set(re.findall(r"--[a-z][a-z0-9-]*", outcome.out))
    return found


def named_arguments() -> Iterator[tuple[str, str]]:
    """What errors say that they speak of: `options=("up_to",)`."""
    for name, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword) and node.arg == "options" and isinstance(node.value, ast.Tuple):
                for element in node.value.elts:
                    if isinstance(element, ast.Constant):
                        yield f"{name}:{node.value.lineno}", str(element.value)


def test_every_argument_that_an_error_names_has_an_option() -> None:
    known = options()
    named = list(named_arguments())
    assert len(named) > 20
    assert [(where, one) for where, one in named if option_of(one) not in known] == []


@pytest.mark.parametrize(
    ("message", "arguments", "typed"),
    [
        ("use up_to=19 or less", ["up_to"], "use --up-to 19 or less"),
        ("say at='first' or force=True", ["at", "force"], "say --at first or --force"),
        ("n=3, of 'n0' and 'n', not n", ["n", "n0"], "--length 3, of --n0 and --length, not n"),
        ("leave 'rounding' out, without rounding", ["rounding"], "leave --round out, without rounding"),
        ("limits={'labels': 9, 'levels': 8}, which", ["limits"], "--limit labels=9 --limit levels=8, which"),
        ("seconds=0.5 is late; say seconds=1.", ["seconds"], "--seconds 0.5 is late; say --seconds 1."),
        ("logit_range='4 log n' grows", ["logit_range"], "--logit-range '4 log n' grows"),
        ("start='' is none", ["start"], "--start '' is none"),
        ("eps=True, bits_up_to=3", ["up_to"], "eps=True, bits_up_to=3"),
        ("nothing is named: up_to=3", [], "nothing is named: up_to=3"),
    ],
)
def test_arguments_become_options(message: str, arguments: list[str], typed: str) -> None:
    assert as_typed(message, arguments) == typed


def test_python_is_told_of_its_argument_and_the_command_line_of_its_option(tmp_path: Path) -> None:
    model = library.compile("O a", "ab")
    with pytest.raises(UnsupportedError, match="use up_to=19 or less") as caught:
        library.verify(model, up_to=50)
    assert caught.value.details == {"options": ("up_to",)}
    model.save(tmp_path / "net")
    said = attemper("verify", tmp_path / "net", "--up-to", "50")
    assert (said.code, "use --up-to 19 or less" in said.err) == (4, True)
    error = json.loads(attemper("verify", tmp_path / "net", "--up-to", "50", "--json").err)["error"]
    assert (error["options"], error["message"].endswith("use --up-to 19 or less")) == (["--up-to"], True)


def test_a_refusal_that_names_limits_can_be_typed_as_it_stands() -> None:
    ask = ("compile", "regex:(a|b)*aab(a|b)*", "--alphabet", "ab", "-o", "unused", "--limit", "levels=1")
    said = attemper(*ask)
    assert said.code == 4
    assert "limits=" not in said.err
    assert " --limit levels=" in said.err


def test_the_check_s_own_process_says_which_arguments_it_means(tmp_path: Path) -> None:
    (tmp_path / "file.json").write_text("{}")
    said = attemper("check", tmp_path / "file.json", "--edited")
    assert (said.code, "--edited, --against and --explain are about networks" in said.err) == (2, True)
