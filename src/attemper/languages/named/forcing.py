"""Forcing numbers of context-free languages, exactly: dyck1, dyck2, and a^n b^n.

Each of them is decided by one symbol, such as a closing bracket at the beginning, so the forcing number alone
says nothing about hard attention. For well-nested brackets a *base* restriction takes such words away: of a
word of length m, opening brackets at the first floor(m/5) positions and closing ones at the last floor(m/5).
Then floor(m/5) + 1 further symbols are needed, more than eps m, and Theorem 1 begun at the base shows that no
transformer with hard attention recognises dyck1 or dyck2. (Hahn 2020, Theorem 1 and Corollary 2; there n
counts an end marker, so m = n - 1.)
"""

from __future__ import annotations

from collections.abc import Sequence

from attemper.errors import OptionError
from attemper.languages.regular.forcing import ForcingNumber

FIRST = {"dyck1": ")", "dyck2": ")", "a^n b^n": "b"}
"""The languages, each with a symbol with which none of its words begins."""

BRACKETS = ("(", ")", None)

_Heights = tuple[int, int, bool] | None
"""Which heights are left after a restricted beginning, and whether some of its words went below 0.

The heights are lowest, lowest + 2, ..., highest; None if all words went below 0.
"""


def forcing_number_of(name: str, length: int) -> ForcingNumber:
    """The forcing number at a length of dyck1, dyck2 or a^n b^n: 0 at 0 and at odd lengths, otherwise 1.

    At an odd length there are no words of these languages, at length 0 there is one word in all. At any other
    length there are words inside and outside, and all that begin with ) or with b are outside.
    (Hahn 2020, Theorem 1: so a^n b^n is not out of reach; the brackets need `after_base`.)

    >>> forcing_number_of("dyck2", 4)
    ForcingNumber(fixed=1, restriction=(')', None, None, None), member=False)
    >>> forcing_number_of("a^n b^n", 3).fixed
    0
    """
    if name not in FIRST:
        raise OptionError(f"'{name}' is none of the languages {', '.join(FIRST)}")
    if length < 0:
        raise ValueError(f"there are no words of length {length}")
    if length == 0:
        return ForcingNumber(0, (), True)
    if length % 2:
        return ForcingNumber(0, (None,) * length, False)
    return ForcingNumber(1, (FIRST[name], *(None,) * (length - 1)), False)


def base_restriction(length: int) -> tuple[str | None, ...]:
    """Opening brackets at the first floor(length/5) positions and closing ones at the last. (Corollary 2.)

    >>> base_restriction(5)
    ('(', None, None, None, ')')
    """
    fifth = length // 5
    return ("(",) * fifth + (None,) * (length - 2 * fifth) + (")",) * fifth


def after_base(length: int, kinds: int = 1) -> ForcingNumber:
    """How many symbols decide membership in dyck1 or dyck2 once the base restriction is given.

    `kinds` are the kinds of brackets that the free positions range over. One kind is for dyck1, and for dyck2
    as in the proof, where all other brackets are left out: words of one kind are in dyck2 iff in dyck1. At an
    even length m > 0 the number is then floor(m/5) + 1: as many closing brackets after the opening ones, and
    the height is below 0. With all four brackets of dyck2 one symbol is enough, ] after the last (, so the
    proof has to leave the other kind out. (Hahn 2020, Corollary 2.)

    >>> after_base(10)
    ForcingNumber(fixed=3, restriction=('(', '(', ')', ')', ')', None, None, None, ')', ')'), member=False)
    >>> after_base(10, kinds=2).fixed
    1
    """
    base = base_restriction(length)
    if kinds == 1:
        return bracket_forcing_number(base)
    if kinds != 2:
        raise OptionError(f"there are one or two kinds of brackets, not {kinds}")
    if length == 0 or length % 2:
        return ForcingNumber(0, base, length == 0)
    fifth = length // 5
    return ForcingNumber(1, (*base[:fifth], "]", *base[fifth + 1 :]), False)


def bracket_forcing_number(base: Sequence[str | None]) -> ForcingNumber:
    """The least number of further symbols that decide membership in dyck1, given those that are not None.

    A shortest path over positions. Of words that agree with a restriction and never went below 0, the heights
    are all of lowest, lowest + 2, ..., highest: a bracket shifts them, a free position takes the lowest one
    down and the highest one up, and -1 is dropped. In the end all are outside iff 0 is not among the heights,
    and all inside iff 0 is the only one and no word went below. (Hahn 2020, Corollary 2.)

    >>> bracket_forcing_number(("(", None, None, None))
    ForcingNumber(fixed=1, restriction=('(', None, None, '('), member=False)
    """
    layers: list[dict[_Heights, tuple[int, _Heights, str | None]]] = [{(0, 0, False): (0, None, None)}]
    for given in base:
        layer: dict[_Heights, tuple[int, _Heights, str | None]] = {}
        for heights, (cost, _, _) in layers[-1].items():
            for bracket in BRACKETS if given is None else (given,):
                target = _after(heights, bracket)
                total = cost + (given is None and bracket is not None)
                if target not in layer or total < layer[target][0]:
                    layer[target] = total, heights, bracket
        layers.append(layer)
    heights = min((h for h in layers[-1] if _member(h) is not None), key=lambda h: layers[-1][h][0])
    fixed, member = layers[-1][heights][0], bool(_member(heights))
    restriction: list[str | None] = []
    for layer in reversed(layers[1:]):
        _, heights, bracket = layer[heights]
        restriction.append(bracket)
    return ForcingNumber(fixed, tuple(reversed(restriction)), member)


def _after(heights: _Heights, bracket: str | None) -> _Heights:
    """The heights one position later; None for the bracket is a free position."""
    if heights is None:
        return None
    lowest, highest, below = heights
    lowest += 1 if bracket == "(" else -1
    highest += -1 if bracket == ")" else 1
    if highest < 0:
        return None
    return (lowest + 2, highest, True) if lowest < 0 else (lowest, highest, below)


def _member(heights: _Heights) -> bool | None:
    """Whether all words are well nested, or none is; None if some are."""
    if heights is None or heights[0] > 0:
        return False
    return None if heights[1] > 0 or heights[2] else True
