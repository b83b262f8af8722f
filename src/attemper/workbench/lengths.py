"""Lengths of words as users write them: numbers and ranges, with commas between them."""

from __future__ import annotations

import re

from attemper.errors import OptionError

LengthRange = tuple[int, int]
"""The least and the greatest length of words."""

_RANGES = re.compile(r"[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*")


def ranges_of(text: str) -> tuple[LengthRange, ...]:
    """The ranges that a text lists; a number alone is the range of that length.

    Raises `OptionError` for another text, for a range whose least length is above its greatest, and for one
    that is there twice.

    >>> ranges_of("8,16"), ranges_of("2-50, 51-100")
    (((8, 8), (16, 16)), ((2, 50), (51, 100)))
    """
    plain = text.replace(" ", "")
    if not _RANGES.fullmatch(plain):
        raise OptionError(
            f"lengths: '{text[:80]}' lists no lengths: write 8,16 or 0-40 or 2-50,51-100",
            options=("lengths",),
        )
    ends = [part.partition("-") for part in plain.split(",")]
    found = tuple((int(least), int(greatest or least)) for least, _, greatest in ends)
    for least, greatest in found:
        if least > greatest:
            raise OptionError(
                f"lengths: {least}-{greatest} has no lengths: the least one comes first", options=("lengths",)
            )
    if len(set(found)) < len(found):
        raise OptionError(
            f"lengths: '{text[:80]}' has one of them twice: give each once", options=("lengths",)
        )
    return found
