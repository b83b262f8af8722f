"""The files on the way of `O a` to PROVED: `python -m tests.support.writers.entered` lists them in order.

`entered` has those of which a function is called, in a process that has imported them all;
`entered_by_a_new_process` also those that are only imported.
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from types import FrameType
from typing import final

import attemper
from attemper.checker.verdict import Status
from tests import ROOT

SOURCE = ROOT / "src" / "attemper"


def compile_and_check() -> None:
    """`O a` becomes a network, and PROVED is said of it: in real arithmetic, and up to all horizons."""
    model = attemper.compile("O a", "ab", regime="temperature")
    assert model.check(model.certify()).status is Status.PROVED


@final
class Entered:
    """While it is the profile, takes down the files of which a function is called; importing is no call."""

    def __init__(self) -> None:
        self.files: dict[str, None] = {}
        """In the order in which they are first entered."""
        self._imports = 0

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if code.co_name == "<module>":
            self._imports += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not self._imports and code.co_flags & inspect.CO_OPTIMIZED:
            self.files.setdefault(code.co_filename)


def entered() -> list[str]:
    """Files of ours below src/attemper, in the order in which `compile_and_check` first enters them.

    It runs once before, so that what is kept for the process is there, whoever asks. Methods that dataclasses
    write themselves are in no file.
    """
    compile_and_check()
    found, before = Entered(), sys.getprofile()
    sys.setprofile(found)
    try:
        compile_and_check()
    finally:
        sys.setprofile(before)
    return [name.removeprefix(f"{SOURCE}/") for name in found.files if name.startswith(f"{SOURCE}/")]


NEW = """
import sys
files = {}
sys.setprofile(lambda frame, event, _: files.setdefault(frame.f_code.co_filename))
import attemper
model = attemper.compile("O a", "ab", regime="temperature")
status = model.check(model.certify()).status
sys.setprofile(None)
print(status, *files, sep="\\n")
"""


def entered_by_a_new_process() -> list[str]:
    """Files of ours, with those that are imported, in the order in which a new process first enters them."""
    finished = subprocess.run([sys.executable, "-c", NEW], capture_output=True, text=True, check=True)
    status, *files = finished.stdout.splitlines()
    assert status == Status.PROVED
    return [name.removeprefix(f"{SOURCE}/") for name in files if name.startswith(f"{SOURCE}/")]


if __name__ == "__main__":
    print(*entered(), sep="\n")  # noqa: T201 - what is asked for
