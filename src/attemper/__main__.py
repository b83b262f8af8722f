"""The command `attemper`, also `python -m attemper`: Ctrl-C ends it with 130 from its first moment on."""

from __future__ import annotations

import os
import signal
import sys

INTERRUPTED = 130
"""`errors.ExitCode.INTERRUPTED`, before anything is imported."""


def main() -> None:
    """Import the command line, which takes a while, and run it."""
    can_be_interrupted = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if can_be_interrupted:
        # Nothing is begun, so nothing has to be put in order; an exception could end in some module's own
        # handling of failed imports.
        signal.signal(signal.SIGINT, _leave)
    from attemper.workbench.cli.app import commands
    from attemper.workbench.cli.app import main as run

    commands(sys.argv[1:])
    if can_be_interrupted:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run()
    except KeyboardInterrupt:  # for example a second one, while the first is being answered
        _leave()
    finally:
        # An interrupt inside of text that a library executes (dataclasses are made so) is remembered even if
        # it is answered: Python would end by the signal, not with the exit code. Another text clears that.
        exec("")


def _leave(*_: object) -> None:
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, b"interrupted\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
