"""The command line, run inside the test's own process."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

from attemper.workbench.cli import progress, time_limit
from attemper.workbench.cli.app import main

ENDLESS = 10_000
"""Columns enough for every line: most tests ask what is said, not where it is wrapped."""


@dataclass(frozen=True)
class Outcome:
    """What a command returned and printed."""

    code: int
    out: str
    err: str

    @property
    def records(self) -> list[dict[str, Any]]:
        """The JSON objects on the lines of the standard output."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def record(self) -> dict[str, Any]:
        """The only JSON object on the standard output."""
        (record,) = self.records
        return record


NEVER = 1e6
"""Seconds that no test lasts."""


def attemper(
    *arguments: object, stdin: str = "", columns: int | None = ENDLESS, patience: float = NEVER
) -> Outcome:
    """Run `attemper ARGUMENTS...`; no command may ever end in a traceback or exit 70.

    With `columns` None the variable COLUMNS is not set, as in a pipe. What goes on is said after `patience`
    seconds, and each time after so many more: what a test reads is not to depend on how fast its machine is.
    """
    out, err = io.StringIO(), io.StringIO()
    argv = ["attemper", *map(str, arguments)]
    code: object = None
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(sys, "argv", argv),
        mock.patch.object(sys, "stdin", io.StringIO(stdin)),
        mock.patch.multiple(progress, SHOWN_AFTER=patience, RENEWED_AFTER=patience),
        mock.patch.multiple(progress, FIRST_LINE=patience, NEXT_LINE=patience),
        mock.patch.object(time_limit, "GRACE", NEVER),  # nobody is to end the tests' own process
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    assert isinstance(code, int), "main() always says its exit code"
    assert "Traceback" not in out.getvalue() + err.getvalue()
    assert code != 70
    return Outcome(int(code), out.getvalue(), err.getvalue())
