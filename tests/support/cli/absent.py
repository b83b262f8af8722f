"""The command line in a process of its own, in which some modules cannot be imported."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Collection
from pathlib import Path

from tests.support.cli.command_line import Outcome

LOADED = "modules that were loaded: "

_PREAMBLE = """
import sys

class Hiding:
    names = {names!r}

    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        hidden = name.partition(".")[0] in self.names
        return None if hidden else self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""

_COMMAND = """
sys.argv = ["attemper", *{arguments!r}]
from attemper.__main__ import main
try:
    main()
finally:
    sys.stdout.flush()
    print({loaded!r}, *sorted({{name.partition(".")[0] for name in sys.modules}}), file=sys.stderr)
"""


def python_without(modules: Collection[str], script: str, folder: Path, stdin: str = "") -> Outcome:
    """Run a script in a folder, in a process that cannot import these modules."""
    text = _PREAMBLE.format(names=sorted(modules)) + script
    finished = subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        cwd=folder,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(finished.returncode, finished.stdout, finished.stderr)


def attemper_without(
    modules: Collection[str], folder: Path, *arguments: object, stdin: str = ""
) -> tuple[Outcome, set[str]]:
    """What `attemper ARGUMENTS...` does in a folder without these modules, and which others it has loaded."""
    script = _COMMAND.format(arguments=[str(argument) for argument in arguments], loaded=LOADED)
    found = python_without(modules, script, folder, stdin)
    said, _, loaded = found.err.rpartition(LOADED)
    return Outcome(found.code, found.out, said), set(loaded.split())
