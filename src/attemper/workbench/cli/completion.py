"""Completion by the shell: which command the line is about while it is being typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ASKED = "_ATTEMPER_COMPLETE"
"""The variable by which a shell asks how a line goes on, with typer's scripts."""

_LINES = ("COMP_WORDS", "_TYPER_COMPLETE_ARGS")
"""Where bash and the other shells say what stands on the line."""


def being_typed(arguments: Sequence[str], environment: Mapping[str, str]) -> Sequence[str]:
    """The arguments; where a shell asks how a line goes on, those that stand there, without the last.

    >>> being_typed(["run", "majority"], {})
    ['run', 'majority']
    >>> being_typed([], {"_ATTEMPER_COMPLETE": "complete_bash", "COMP_WORDS": "attemper run --dt"})
    ['run']
    >>> being_typed([], {"_ATTEMPER_COMPLETE": "complete_bash", "COMP_WORDS": "attemper ru"})
    []
    """
    if not environment.get(ASKED):
        return arguments
    line = next((environment[name] for name in _LINES if name in environment), "")
    # The last word may be unfinished: `che` is no command yet. After a blank there is an empty one.
    return f"{line}|".split()[1:-1]
