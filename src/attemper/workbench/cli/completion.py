"""Completion by the shell: which command the line is about while it is being typed."""

from __future__ import annotations

from collections.abc import Mapping

_LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where bash and the other shells say what stands on the line."""


def being_typed(environment: Mapping[str, str]) -> list[str]:
    """The words after the command on the line that a shell asks about, without the last.

    >>> being_typed({"COMP_WORDS": "attemper run --dt"})
    ['run']
    >>> being_typed({"COMP_WORDS": "attemper ru"})
    []
    """
    line = next((environment[name] for name in _LINES if name in environment), "")
    # The last word may be unfinished: `che` is no command yet. After a blank there is an empty one.
    return f"{line}|".split()[1:-1]
