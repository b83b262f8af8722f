"""Programs written in Python: `docs/programs.md` has the language.

>>> from attemper import rasp
>>> from attemper.rasp import i, j
>>> seen = rasp.some(where=rasp.symbol(i) == rasp.symbol(j), mask="<")
>>> print(rasp.text(rasp.every(~seen, mask="all"), alphabet="abc", accepts_empty=True))
alphabet a b c
empty accept
output every[all] !some[j < i : symbol(i) = symbol(j)]
"""

from attemper.languages.rasp.values import (
    Value,
    count,
    distribution,
    every,
    first,
    following,
    i,
    implies,
    is_in,
    j,
    last,
    leftmost,
    length,
    maximum,
    minimum,
    nearest,
    position,
    previous,
    program,
    rightmost,
    some,
    symbol,
    text,
    when,
)

__all__ = [
    "Value",
    "count",
    "distribution",
    "every",
    "first",
    "following",
    "i",
    "implies",
    "is_in",
    "j",
    "last",
    "leftmost",
    "length",
    "maximum",
    "minimum",
    "nearest",
    "position",
    "previous",
    "program",
    "rightmost",
    "some",
    "symbol",
    "text",
    "when",
]
