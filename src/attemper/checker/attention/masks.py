"""What a mask shows at position i of n: how much, how far, and where that is more than one position."""

from __future__ import annotations

from attemper.exact import laurent
from attemper.exact.laurent import Laurent
from attemper.networks.layers import Masking

DOMAINS = {
    Masking.FUTURE: laurent.AFTER_FIRST,
    Masking.PAST: laurent.BEFORE_LAST,
    Masking.NONE: laurent.LONGER_THAN_ONE,
}
"""Where a head sees more than one position."""

VISIBLE: dict[Masking, Laurent] = {
    Masking.FUTURE: laurent.monomial(1, 0),
    Masking.PAST: laurent.plus(laurent.monomial(0, 1), laurent.monomial(1, 0, -1), laurent.constant(1)),
    Masking.NONE: laurent.monomial(0, 1),
}
"""How many positions are visible from i."""

REACH = {
    Masking.FUTURE: laurent.monomial(1, 0),
    Masking.PAST: laurent.monomial(0, 1),
    Masking.NONE: laurent.monomial(0, 1),
}
"""The greatest visible position."""
