"""`python -m attemper.checker`: the checker alone, with the standard library and python-flint.

For a refutation's file it needs numpy, too, and whatever its model does.
"""

from __future__ import annotations

import argparse
import os
import sys
from io import TextIOWrapper
from typing import TextIO

from attemper.checker.limits import (
    MEMORY,
    SECONDS,
    ProcessLimits,
    Request,
    check_within,
    memory_note,
    seconds_since_start,
)
from attemper.checker.report import lines_of, record_of
from attemper.errors import AttemperError, ExitCode
from attemper.escapes import escaped, escaped_json


def main() -> int:
    """Print the verdict, and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    said = _parser().parse_args()
    note = memory_note()
    if note is not None:
        _write(sys.stderr, note)
    try:
        request = Request(
            said.path, said.model, said.against, said.ignore_rounding, said.edited, said.explain
        )
        verdict = check_within(request, ProcessLimits(said.seconds, said.memory), seconds_since_start())
    except AttemperError as error:
        # The place has lines of its own; what the message quotes from a file has none.
        text = f"error: {escaped(str(error).removesuffix(error.place))}{error.place}"
        _write(sys.stderr, *text.split("\n"))
        return error.exit_code
    except KeyboardInterrupt:
        _write(sys.stderr, "interrupted")
        return ExitCode.INTERRUPTED
    try:
        if said.json:
            sys.stdout.write(escaped_json(record_of(verdict)) + "\n")
        else:
            _write(sys.stdout, *lines_of(verdict))
        sys.stdout.flush()
    except BrokenPipeError:
        # Keep Python from complaining when it flushes what nobody will read.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return verdict.exit_code


def _write(stream: TextIO, *lines: str) -> None:
    stream.writelines(escaped(line) + "\n" for line in lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m attemper.checker",
        description="Check a network's certificate, or a refutation, trusting nothing that it says.",
        epilog="Exit codes: 0 PROVED, 10 REFUTED, 11 PROVED_UNDER_ASSUMPTIONS, 12 UNKNOWN, 6 MALFORMED.",
        allow_abbrev=False,
    )
    parser.add_argument("path", metavar="DIR|FILE", help="a network's folder, or a refutation's file")
    parser.add_argument("--json", action="store_true", help="print one line of JSON")
    parser.add_argument(
        "--seconds", type=float, default=SECONDS, metavar="S", help="UNKNOWN after so long (%(default)g)"
    )
    parser.add_argument(
        "--memory", type=int, default=MEMORY, metavar="MB", help="UNKNOWN beyond that (%(default)s)"
    )
    parser.add_argument("--ignore-rounding", action="store_true", help="take float operations to be exact")
    parser.add_argument("--edited", action="store_true", help="the weights may differ from those certified")
    parser.add_argument("--model", metavar="DIR|MODULE:OBJECT", help="the model that a refutation is about")
    parser.add_argument("--explain", action="store_true", help="print the proof layer by layer")
    parser.add_argument(
        "--against", metavar="FILE", help="judge the network by this certificate, not by the folder's own"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
