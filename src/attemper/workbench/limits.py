"""Caps on what is made, as users say them: `limits={NAME: N}`, and texts NAME=N on the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attemper.compiling.decomposing.limits import CAPS, CascadeCaps
from attemper.errors import OptionError
from attemper.workbench.options import require


def parse_limits(texts: Iterable[str] | None) -> dict[str, int]:
    """The limits in texts NAME=N; the last one of a name counts. Raises `OptionError` for another text.

    >>> parse_limits(["symbols=8000", "levels=70"])
    {'symbols': 8000, 'levels': 70}
    """
    found: dict[str, int] = {}
    for text in texts or ():
        name, _, number = text.partition("=")
        if not (number.isascii() and number.isdigit()):
            raise OptionError(
                f"a limit is given as NAME=N, for example symbols=8000, not as '{text[:80]}'",
                options=("limits",),
            )
        found[name] = int(number)
    return found


def limits_among(given: Mapping[str, int] | None, usual: Mapping[str, int], least: int = 1) -> dict[str, int]:
    """The usual limits, or those that are given in their place. Raises `OptionError` for what is none.

    >>> limits_among({"classes": 20}, {"classes": 200_000})
    {'classes': 20}
    >>> limits_among({"class": 20}, {"classes": 200_000})
    Traceback (most recent call last):
    ...
    attemper.errors.OptionError: there is no limit 'class'; the limits are: classes
    """
    limits: Mapping[str, int] = {} if given is None else given
    require("limits", limits, Mapping, 'give names and numbers, for example {"symbols": 8000}')
    for name, number in limits.items():
        if name not in usual:
            raise OptionError(f"there is no limit '{str(name)[:80]}'; the limits are: {', '.join(usual)}")
        if type(number) is not int or not least <= number < 2**63:
            raise OptionError(f"the limit '{name}' is a whole number from {least} on, not {number!r}")
    return {**usual, **limits}


def cascade_limits(limits: Mapping[str, int] | None, usual: CascadeCaps) -> CascadeCaps:
    """The usual caps on a cascade with others, by their names. Raises `OptionError` for what is none.

    >>> cascade_limits({"symbols": 8_000}, CascadeCaps()).symbols
    8000
    """
    return usual.with_caps(limits_among(limits, {name: getattr(usual, name) for name in CAPS}, least=0))
