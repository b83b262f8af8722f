"""What settings mean, on two letters and two coordinates, by hand."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice

import pytest

from attemper.attention_program.ops import (
    Attend,
    Choice,
    Connective,
    Letter,
    Mask,
    Merge,
    Place,
    Program,
)
from attemper.exact.closed_forms import ONE
from attemper.languages.words import Alphabet
from attemper.networks.layers import Hidden, Layer, Network
from attemper.theories.causal.certificate import (
    CausalClaim,
    CausalVariable,
    FeedForwardEdge,
    HeldBit,
    Holder,
    SetTo,
)
from attemper.theories.causal.check.settings import (
    Interchange,
    Interchanges,
    Taken,
    WrongSetting,
    keeps_promises,
    row_of,
    short_interchanges,
    short_settings,
    shown_interchange,
)
from tests.support.drawn.causal import either, of_letters

AB, BB = ("a", "b"), ("b", "b")
SAID = of_letters(Connective.OR)


def outputs(network: Network, said: Interchange, claim: CausalClaim = SAID) -> list[float]:
    (row,) = Interchanges(network, claim.program, claim.variables).outputs(said)
    return [float(ball.mid()) for ball in row]


def refuted(network: Network, *tried: Interchange, claim: CausalClaim = SAID) -> str | None:
    found = Interchanges(network, claim.program, claim.variables).refuting(tried)
    return None if found is None else found.text


def test_what_is_taken_is_what_stood_there_after_the_layer() -> None:
    network, none = either(Fraction(1)), Interchange(AB, ())
    interchanges = Interchanges(network, SAID.program, SAID.variables)
    taken = Interchange(AB, (Taken(0, 1, BB),))
    assert outputs(network, none) == [1, 1]
    assert outputs(network, taken) == [0, 1]
    assert interchanges.steps(none) == ((1, 0), (0, 1), (1, 1))
    assert interchanges.steps(taken) == ((0, 0), (0, 1), (0, 1))
    both = Interchange(AB, (Taken(0, 1, BB), Taken(1, 1, BB)))
    assert outputs(network, both) == [1, 1]
    assert interchanges.steps(both) == ((0, 0), (1, 1), (1, 1))
    assert refuted(network, none, taken, both) is None


def test_after_the_last_layer_nothing_reads_it() -> None:
    late = replace(SAID, variables=(replace(SAID.variables[0], layer=1),))
    assert outputs(either(Fraction(1)), Interchange(AB, (Taken(0, 1, BB),)), late) == [1, 1]


def test_a_quarter_is_near_enough_and_more_is_not() -> None:
    whole = Interchange(AB, (Taken(0, 1, AB),))
    assert refuted(either(Fraction(1), Fraction(5, 4)), whole) is None
    text = "on 'ab', with s0 at position 1 as on 'ab', at position 1 1.30000 is put out, not 1"
    assert refuted(either(Fraction(1), Fraction(13, 10)), whole) == text
    assert refuted(either(Fraction(1), Fraction(3, 4)), whole) is None
    assert refuted(either(Fraction(1), Fraction(7, 10)), Interchange(AB, ())) == (
        "on 'ab', at position 1 0.700000 is put out, not 1"
    )


def test_the_position_is_said() -> None:
    network = either(Fraction(1, 2))
    taken = Interchange(("b", "a"), (Taken(1, 2, ("a", "a")),))
    assert refuted(network, taken) == (
        "on 'ba', with s1 at position 2 as on 'aa', at position 2 0.500000 is put out, not 1"
    )


@pytest.mark.parametrize(("opposite", "said"), [(False, "1 + 0.125"), (True, "0 + 1.13")])
def test_a_row_is_looked_at_where_nothing_is_taken(opposite: bool, said: str) -> None:
    own = CausalVariable(0, (HeldBit(0, (Holder(2, opposite),)),))
    found = refuted(either(Fraction(9, 8)), Interchange(("a",), ()), claim=replace(SAID, variables=(own,)))
    assert found == f"on 'a', coordinate 2 after layer 0 is {said} at position 1"
    assert refuted(either(Fraction(9, 8)), Interchange(("a",), (Taken(0, 1, ("a",)),))) is None


def test_short_interchanges_are_all_of_each_length() -> None:
    one = SAID.variables[:1]
    found = list(islice(short_interchanges(Alphabet(("a", "b")), one), 6 + 4 * (1 + 2 * 4) + 1))
    assert found[:3] == [
        Interchange(("a",), ()),
        Interchange(("a",), (Taken(0, 1, ("a",)),)),
        Interchange(("a",), (Taken(0, 1, ("b",)),)),
    ]
    assert all(len(own.base) == 2 for own in found[6:-1])
    assert len(set(found)) == len(found)
    assert {taken.position for own in found[6:-1] for taken in own.taken} == {1, 2}
    assert len(found[-1].base) == 3
    assert {
        taken.variable
        for own in islice(short_interchanges(Alphabet(("a",)), SAID.variables), 3)
        for taken in own.taken
    } == {0, 1}


GROUP = CausalVariable(0, (HeldBit(0, (Holder(2, False),)), HeldBit(1, (Holder(3, True),))))


def test_short_settings_are_all_values_at_all_positions_of_each_length() -> None:
    found = list(islice(short_settings(Alphabet(("a",)), {1: SAID.variables[1], 4: GROUP}), 5 + 10 + 1))
    assert found[:5] == [
        Interchange(("a",), (SetTo(number, 1, value),))
        for number, most in ((1, 1), (4, 2))
        for value in range(most + 1)
    ]
    assert all(own.base == ("a", "a") for own in found[5:-1])
    assert len(set(found)) == len(found)
    assert {own.taken[0].position for own in found[5:-1]} == {1, 2}
    assert found[-1].base == ("a",) * 3


def test_a_value_is_that_of_its_code() -> None:
    claim = replace(SAID, variables=(GROUP,))
    assert [row_of(GROUP, value) for value in range(3)] == [{2: 0, 3: 1}, {2: 1, 3: 1}, {2: 0, 3: 0}]
    interchanges = Interchanges(either(Fraction(1)), claim.program, claim.variables)
    for value, bits in enumerate(((0, 0), (1, 0), (0, 1))):
        steps = interchanges.steps(Interchange(AB, (SetTo(0, 2, value),)))
        assert [steps[ref][1] for ref in (0, 1)] == list(bits)
        assert [steps[ref][0] for ref in (0, 1)] == [1, 0], "elsewhere it is natural"


@pytest.mark.parametrize(
    ("put_out", "shown"),
    [
        (Fraction(1), True),
        (Fraction(51, 100), True),
        (Fraction(1, 2), False),
        (Fraction(2, 5), False),
    ],
)
def test_a_bit_changes_where_half_is_crossed(put_out: Fraction, shown: bool) -> None:
    """From what is put out to 0, and from 0 to that: on 1/2 itself a number is neither bit."""
    network = either(Fraction(1))
    last = Layer((), (Hidden(((2, Fraction(1)),), Fraction(0), ((4, put_out),)),), ())
    network = replace(network, layers=(network.layers[0], last))
    interchanges = Interchanges(network, SAID.program, SAID.variables, (FeedForwardEdge(0, 1),))
    for base, value in (("ba", 0), ("bb", 1)):
        found = interchanges.changing(Interchange(tuple(base), (SetTo(0, 2, value),)))
        assert (found is not None) == shown
        if found is not None:
            text = f"on '{base}', with s0 at position 2 set to {value}"
            assert found.text == f"{text}, at position 2 {value} is put out, not {1 - value}"


def test_half_is_neither_bit() -> None:
    """Of 1/2 and 1 neither is the other bit."""
    network, half = either(Fraction(1)), Fraction(1, 2)
    units = Hidden((), Fraction(1), ((4, half),)), Hidden(((2, Fraction(1)),), Fraction(0), ((4, half),))
    network = replace(network, layers=(network.layers[0], Layer((), units, ())))
    interchanges = Interchanges(network, SAID.program, SAID.variables, (FeedForwardEdge(0, 1),))
    for base, value in (("a", 0), ("b", 1)):
        assert interchanges.changing(Interchange((base,), (SetTo(0, 1, value),))) is None


def test_promises_are_of_sums_and_of_cases() -> None:
    steps = Letter(("a",)), Letter(("b",)), Place(ONE), Merge((0, 1))
    merged = Program(Alphabet(("a", "b")), steps, 3)
    assert keeps_promises(merged, ((1, 0), (0, 0), (1, 1), (1, 0)))
    assert not keeps_promises(merged, ((0, 1), (0, 1), (1, 1), (0, 2)))
    looked = Attend(Mask.UP_TO, Choice.RIGHTMOST, ((0, 2), (1, 2)), 2, None)
    cases = replace(merged, steps=(*steps[:3], looked))
    assert keeps_promises(cases, ((1, 0), (0, 1), (1, 1), (1, 1)))
    assert not keeps_promises(cases, ((1, 0), (1, 1), (1, 1), (1, 1)))
    anywhere = replace(merged, steps=(*steps[:3], replace(looked, cases=((None, 0),))))
    assert keeps_promises(anywhere, ((1, 1), (1, 1), (1, 1), (1, 1)))


def test_where_a_network_means_nothing_nothing_is_refuted() -> None:
    broken = replace(SAID.program, steps=(*SAID.program.steps, Place(ONE), Merge((0, 0))))
    assert (
        Interchanges(either(Fraction(1)), broken, SAID.variables).refuting([Interchange(("a",), ())]) is None
    )


def test_an_interchange_in_words() -> None:
    assert shown_interchange(Interchange(AB, ()), SAID.variables) == "on 'ab'"
    two = Interchange(AB, (Taken(0, 1, BB), Taken(1, 2, AB)))
    assert shown_interchange(two, SAID.variables) == (
        "on 'ab', with s0 at position 1 as on 'bb' and s1 at position 2 as on 'ab'"
    )
    assert WrongSetting(two, "text").shown_by is two
