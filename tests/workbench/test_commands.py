"""The table of commands: `--help` lists what the commands say of themselves, and loads none of them."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import import_module

import pytest
import typer

from attemper.workbench.cli.commands import COMMANDS, Command
from tests.support.command_line import attemper


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_a_line_is_the_first_sentence_of_the_docstring(command: Command) -> None:
    module, _, name = command.home.partition(":")
    loaded = getattr(import_module(module), name)
    said = loaded.info.help if isinstance(loaded, typer.Typer) else inspect.getdoc(loaded)
    assert command.help == said.partition("\n")[0]


def test_no_two_commands_have_one_name() -> None:
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)


def loaded_by(*arguments: str) -> set[str]:
    """The modules that the command has loaded when it ends, in a process of its own."""
    script = (
        f"import sys; sys.argv[1:] = {list(arguments)!r}; import attemper.__main__ as it\n"
        "try: it.main()\n"
        "except SystemExit: pass\n"
        "print('loaded', *sys.modules)"
    )
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(finished.stdout.rpartition("loaded ")[2].split())


@pytest.mark.sweep(2)
@pytest.mark.parametrize("arguments", [["--help"], [], ["chek"], ["--version"]])
def test_help_loads_no_command(arguments: list[str]) -> None:
    loaded = loaded_by(*arguments)
    own = {name for name in loaded if name.partition(".")[0] == "attemper"}
    assert own == {
        "attemper",
        "attemper.__main__",
        "attemper.errors",
        "attemper.escapes",
        "attemper.missing",
        "attemper.workbench",
        "attemper.workbench.cli",
        *(
            f"attemper.workbench.cli.{name}"
            for name in ("app", "commands", "completion", "console", "failing", "progress")
        ),
    }
    assert not {"numpy", "torch", "lark", "flint"} & loaded


def test_a_command_behind_two_dashes_is_the_command() -> None:
    assert attemper("--", "run", "--help").out == attemper("run", "--help").out


def test_only_training_imports_pydantic() -> None:
    """Typer does so by itself; what is measured here is what our modules do."""
    homes = [c.home.partition(":")[0] for c in COMMANDS if c.name not in ("data", "train", "study")]
    script = f"import sys, {', '.join(homes)}; print(*sys.modules)"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = finished.stdout.split()
    assert "pydantic" not in loaded, [name for name in loaded if name.startswith("attemper.training")]
