"""Tie-breaks that point one way in the shortest word and the other way elsewhere: nothing is proved by them.

Two readers with fresh eyes found the networks below PROVED while the lemma of heads that choose took a
tie-break whose lead is negative somewhere: then the better of two levels need not be the better one.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.heads import head_fact
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.exact.closed_forms import ONE, I, N, plus, times
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Hidden, Layer, LinearForm, Masking, Network, Select, Softmax
from tests.support.drawn.heads import ALL, LEFT, RIGHT, Form, Palette, Rows

EVERYWHERE = Select(False, ((None, ()),))

ONES, DIFFERENCE, POSITION, A, OTHERS, FOUND, SHARP, READ, BIT = 0, 2, 3, 5, 6, 7, 8, 9, 10


def form(*parts: tuple[int, int | Fraction]) -> LinearForm:
    return tuple((coordinate, Fraction(factor)) for coordinate, factor in parts)


def clamp(read: LinearForm, low: Fraction, high: Fraction, target: int, size: int) -> tuple[Hidden, Hidden]:
    """Units that rise by 1 from low to high."""
    return Hidden(read, -low, form((target, size))), Hidden(read, -high, form((target, -size)))


def turning() -> Network:
    """Its second head prefers larger j by T = 100 (i + n - 3) - 3, which is -3 at i = 1, n = 2.

    A position with an a scores n T + 7/2 more, which is less than nothing there. The first head finds out
    whether there is an a at all.
    """
    slope = plus(times(100, plus(I, N, -3)), -3)
    forms = enumerate((ONE, slope, plus(times(slope, N), Fraction(7, 2)), I, N))
    some = Head(
        EVERYWHERE,
        Masking.NONE,
        Softmax(ONE),
        (form((ONES, 8)), form((4, 16))),
        (form((POSITION, 1)), form((A, 1))),
        (form((A, 1)),),
        (FOUND,),
    )
    turned = Head(
        EVERYWHERE,
        Masking.NONE,
        Softmax(ONE),
        (form((1, 1)), form((DIFFERENCE, 1))),
        (form((POSITION, 1)), form((A, 1))),
        (form((OTHERS, 1)),),
        (READ,),
    )
    sharp = clamp(form((FOUND, 1)), Fraction(1, 4), Fraction(3, 4), SHARP, 2)
    both = clamp(form((SHARP, 10), (READ, 1)), Fraction(1096, 100), Fraction(1098, 100), BIT, 50)
    layers = (Layer((some,), sharp, ()), Layer((turned,), both, ()))
    names = tuple(f"x{k}" for k in range(11))
    letters = (form((A, 1)), form((OTHERS, 1)))
    return Network(Alphabet(("a", "b")), names, letters, tuple(forms), layers, 4, BIT, True, False)


def test_a_level_is_not_the_better_one_where_the_tie_break_turns_round() -> None:
    """At i = 1 of `ba` it answers 1; that it never does was PROVED."""
    never = TemporalLanguage(parse("false"), At.FIRST, False)
    verdict = judge(turning(), never, (RealClaim(),))
    assert verdict.status is Status.REFUTED
    assert "its lead is not positive" in verdict.claims[0].text
    assert verdict.claims[0].witness == ("b", "a")


TURNING: dict[str, tuple[Masking, Form]] = {
    "negative once": (ALL, {"i": 1, "n": 1, "1": Fraction(-31, 10)}),
    "nothing once": (ALL, {"i": 1, "n": 1, "1": -3}),
    "negative at first": (LEFT, {"i": 1, "1": Fraction(-21, 10)}),
    "negative in longer words": (LEFT, {"1": 5, "n": -1}),
    "negative further left": (RIGHT, {"n": 1, "i": -2, "1": Fraction(1, 10)}),
    "fading": (LEFT, {"1/i": 1}),
}


@pytest.mark.parametrize("name", TURNING)
def test_a_tie_break_that_leads_nowhere_or_backwards_is_refused(name: str) -> None:
    """Alone, and beside levels that are far apart."""
    own, (masking, turning_form) = Palette(), TURNING[name]
    alone: Rows = [(turning_form, {"i": 1})]
    for rows in (alone, [*alone, ({"n^2": 500}, {"a": 1})]):
        with pytest.raises(UnprovenError, match=r"its lead is not positive|not proved for all lengths"):
            head_fact(own.names, own.head(EVERYWHERE, masking, rows, {"a": 1}), own.stream())
