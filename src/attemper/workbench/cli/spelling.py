"""How the command line spells what a message calls by Python's names: up_to=19 is --up-to 19.

An error that speaks of arguments says which in `details["options"]`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPELT_OTHERWISE = {
    "first": "--from",
    "gaps": "--gap",
    "limits": "--limit",
    "magnitudes": "--magnitude",
    "n": "--length",
    "rounding": "--round",
}
"""Arguments whose options are not called as they are."""

_PLAIN = r"[\w.-]+"
"""A text that a shell takes as it stands."""

_VALUES = r"""=(?:True\b|'(?P<text>[^']*)'|\{(?P<table>[^}]*)\}|(?P<value>[^\s;,]*[^\s;,.)]))"""


def option_of(argument: str) -> str:
    """The option that stands for an argument.

    >>> option_of("up_to"), option_of("rounding")
    ('--up-to', '--round')
    """
    return _SPELT_OTHERWISE.get(argument, f"--{argument.replace('_', '-')}")


def as_typed(message: str, arguments: Sequence[str]) -> str:
    """The message with options in the place of arguments, which stand there with a value, or in quotes.

    >>> as_typed("use up_to=19 or less, or force=True", ["up_to", "force"])
    'use --up-to 19 or less, or --force'
    >>> as_typed("at='first' says where, and 'at' is for formulas", ["at"])
    '--at first says where, and --at is for formulas'
    >>> as_typed("raise them with limits={'labels': 9, 'levels': 8}", ["limits"])
    'raise them with --limit labels=9 --limit levels=8'
    """
    if not arguments:
        return message
    names = "|".join(map(re.escape, arguments))
    return re.sub(rf"(?<![\w'-])(?P<name>{names}){_VALUES}|'(?P<quoted>{names})'", _typed, message)


def _typed(found: re.Match[str]) -> str:
    option = option_of(found["name"] or found["quoted"])
    if found["table"] is not None:
        entries = (entry.partition(": ") for entry in found["table"].split(", "))
        return " ".join(f"{option} {name.strip(chr(39))}={value}" for name, _, value in entries)
    if (text := found["text"]) is not None:
        return f"{option} {text if re.fullmatch(_PLAIN, text) else repr(text)}"
    return option if found["value"] is None else f"{option} {found['value']}"
