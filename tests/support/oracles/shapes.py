"""JSON as the one rule of FORMAT.md has it, in the shapes that its grammar says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.oracles.grammar import grammars

FORMAT = Path(__file__).parents[3] / "src" / "attemper" / "certificates" / "FORMAT.md"

NESTED = 200
"""So many lists and objects may stand one inside the other."""


class MisshapenError(Exception):
    """This is no JSON of the one rule, or has another shape."""


def read_json(data: bytes) -> Any:
    """JSON in UTF-8 without a key twice, and nested no deeper than the rule allows."""
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, RecursionError) as wrong:
        raise MisshapenError("no JSON") from wrong
    level = [value]
    for _ in range(NESTED):
        level = [part for one in level if isinstance(one, list | dict) for part in _inside(one)]
    if any(isinstance(one, list | dict) for one in level):
        raise MisshapenError("nested too deeply")
    return value


def require(name: str, value: Any, kind: str = "") -> None:
    """The value has the shape of a file of the format, or that of a kind in it; else `MisshapenError`."""
    if not grammars(FORMAT)[name].fits(value, kind):
        raise MisshapenError(f"{str(value)[:200]} is no {kind or name}")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise MisshapenError("a key twice")
    return dict(pairs)


def _no_number(name: str) -> Any:
    raise MisshapenError(name)


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
