"""A hard network on all words of a length: magnitudes, gaps and ties, against the definition."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from random import Random

import pytest

import attemper
from attemper.errors import OptionError, UnsupportedError, WordError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import ONE, SIGN, I, N, number, over, plus, times
from attemper.exact.predicates import Zero
from attemper.languages.words import Alphabet
from attemper.networks.layers import (
    HardWeighting,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Network,
    Normalisation,
    Uniform,
)
from attemper.theories.softening.check import streams
from attemper.theories.softening.check.enumeration import LONGEST, Examined, TiedHead, examine, reach
from attemper.theories.softening.check.streams import TieError, follow
from attemper.theories.softening.check.uniform import is_uniform
from tests.support.drawn.soft_networks import drawn, hard_facts, softened, tieless

MASKINGS = tuple(Masking)


def agrees(network: Network, length: int) -> Examined:
    """What is examined, after a comparison with the definition."""
    magnitudes, gaps, is_tied = hard_facts(network, length)
    examined = examine(network, length)
    assert (examined.tie is not None) == is_tied
    if not is_tied:
        assert examined.magnitudes == tuple(magnitudes)
        assert examined.gaps == tuple(map(tuple, gaps))
        for found, layer in zip(examined.attained_magnitudes, range(len(network.layers)), strict=True):
            again = examine(network, length, [found.word])
            assert again.magnitudes[layer] == found.value
        for number_, layer_gaps in enumerate(examined.attained_gaps):
            for index, gap in enumerate(layer_gaps):
                if gap is not None:
                    assert examine(network, length, [gap.word]).gaps[number_][index] == gap.value
    return examined


@pytest.mark.parametrize("masking", MASKINGS)
def test_random_networks_are_examined_as_the_definition_says(masking: Masking) -> None:
    random = Random(f"examined {masking}")
    for count in range(3):
        network = drawn(random, 1 + count % 3, maskings=(masking,))
        for length in (1, 2, 4):
            agrees(network, length)


@pytest.mark.sweep(0)
def test_a_tie_is_one_by_the_definition() -> None:
    random = Random("ties")
    found = 0
    while found < 6:
        network = drawn(random, 2, maskings=MASKINGS)
        tie = examine(network, 3).tie
        if tie is not None:
            require_tie(network, tie)
            found += 1


def require_tie(network: Network, tie: TiedHead) -> None:
    """Both positions have the greatest score, and the head's values differ there."""
    from attemper.networks.meaning_hard import attention, residual_streams, value_of

    stream = residual_streams(network, tie.word, HardWeighting.AVERAGE)[tie.layer]
    head = network.layers[tie.layer].heads[tie.head]
    weights = attention(head, stream)[tie.position - 1]
    assert set(tie.tied) <= set(weights)
    first, second = ([value_of(form, stream[j - 1]) for form in head.values] for j in tie.tied)
    assert first != second


@pytest.mark.parametrize(
    ("source", "alphabet", "regime"),
    [
        ("'a' S 'b'", "ab", "temperature"),
        ("#<['a'] = #<['b']", "ab", "temperature"),
        ("#<['a'] > #<['b']", "ab", "unbounded"),
        ("Y Y 'a'", "ab", "decoder"),
    ],
)
def test_compiled_networks_are_uniform_and_tieless(source: str, alphabet: str, regime: str) -> None:
    """Sign heads have many greatest scores, with one value."""
    network = attemper.compile(source, alphabet, regime=regime).network
    assert agrees(network, 1).tie is agrees(network, 4).tie is agrees(network, 5).tie is None
    for number_, layer in enumerate(network.layers):
        for index, head in enumerate(layer.heads):
            assert is_uniform(network, number_, index) == isinstance(head.construction, Uniform)


def row(*parts: tuple[int, Fraction | int]) -> LinearForm:
    return tuple((c, Fraction(value)) for c, value in parts)


def one_head(
    query: LinearForm, key: LinearForm, places: dict[int, object], *, masking: Masking = Masking.NONE
) -> Network:
    """Coordinates: 0 target, 1 [a], 2.. positions; the value is [a] - 1/3 of coordinate 2."""
    head = Head(
        Uniform(),
        masking,
        HardWeighting.AVERAGE,
        (query,),
        (key,),
        (row((1, 1), (2, Fraction(-1, 3))),),
        (0,),
    )
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=tuple(f"x{c}" for c in range(5)),
        embedding=(row((1, 1)), ()),
        positions=tuple(sorted(places.items())),  # type: ignore[arg-type]
        layers=(Layer((head,), (), ()),),
        head_width=1,
        output=0,
        reads_first=False,
        accepts_empty=False,
    )


ONLY_AT_SEVEN = plus(I, times(-1, I, closed_forms.Test(Zero(), 0, 1, -7)))
"""j, but 0 at every j of words of seven symbols."""


def test_a_tie_at_one_length_only() -> None:
    network = one_head(row((3, 1)), row((2, 1)), {2: ONLY_AT_SEVEN, 3: ONE})
    for length in (1, 2, 6, 8):
        assert examine(network, length).tie is None
    assert examine(network, 6).gaps == ((1,),)
    assert examine(network, 1).gaps == ((None,),)
    tie = examine(network, 7).tie
    assert tie == TiedHead(tuple("aaaaaab"), 1, 0, 0, (1, 7))
    assert examine(network, 7, [tuple("aaaaaaa")]).gaps == ((None,),), "all values are the same in this word"
    with pytest.raises(
        TieError, match="positions, 1 and 7, when it looks from position 1 of the word 'aaaaaab'"
    ):
        list(follow(network, next(streams.batches(network, 7))))


def test_a_gap_with_a_large_denominator() -> None:
    """1/j^16 and 3^-60, one after the other: the least lead is that of the fifth position over the sixth."""
    key = row((2, 2**40), (4, Fraction(1, 3**60)))
    network = one_head(row((3, 1)), key, {2: over(I, 16), 3: ONE, 4: SIGN}, masking=Masking.PAST)
    score_gap = 2**40 * (Fraction(1, 5**16) - Fraction(1, 6**16)) - Fraction(2, 3**60)
    assert examine(network, 6).gaps == ((score_gap,),)


def test_scores_are_differences_before_they_are_rounded() -> None:
    """Scores of 2^120 that differ by 2^-40: neither floats nor 64 bits hold them."""
    key = row((2, Fraction(1, 2**40)), (3, 2**80))
    network = one_head(row((3, 2**40)), key, {2: I, 3: ONE}, masking=Masking.STRICT_PAST)
    assert agrees(network, 3).gaps == ((1,),)
    assert agrees(network, 1).gaps == ((None,),)
    assert agrees(network, 2).gaps == ((None,),)


def test_what_is_uniform_by_its_syntax() -> None:
    places = {2: N, 3: number(Fraction(1, 2)), 4: SIGN}
    assert is_uniform(one_head((), row((2, 1)), places), 0, 0)
    assert is_uniform(one_head(row((4, 1)), row((3, 2)), places), 0, 0)
    assert is_uniform(one_head(row((0, 1)), row((4, 1)), places), 0, 0), "nothing is written to 0 before"
    assert not is_uniform(one_head(row((4, 1)), row((2, 1)), places), 0, 0), "not a number, but a form of n"
    assert not is_uniform(one_head(row((4, 1)), row((1, 1)), places), 0, 0), "symbols differ"
    assert not is_uniform(one_head(row((3, 1)), row((4, 1)), places), 0, 0)
    written = one_head(row((4, 1)), row((3, 1)), places)
    assert not is_uniform(replace(written, layers=written.layers * 2), 1, 0) or written.layers[0].heads
    unit = Layer((), (Hidden(row((1, 1)), Fraction(0), row((3, 1))),), ())
    behind = replace(written, layers=(unit, *written.layers))
    assert not is_uniform(behind, 1, 0), "a hidden unit writes what the key reads"
    head = replace(written.layers[0].heads[0], targets=(3,))
    behind = replace(written, layers=(Layer((head,), (), ()), *written.layers))
    assert not is_uniform(behind, 1, 0), "a head does"
    assert is_uniform(behind, 0, 0)


def test_a_magnitude_is_that_of_every_coordinate() -> None:
    """Also of one that is not read, and not of what stands behind the last layer."""
    network = one_head((), (), {2: number(7), 3: times(-1, I), 4: plus(N, Fraction(1, 2))})
    assert examine(network, 3).magnitudes == (7,)
    assert examine(network, 9).magnitudes == (Fraction(19, 2),)


def test_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    network, examined = next(tieless(3, 3, 5))
    assert examine(softened(network, 1), 5) == examined
    monkeypatch.setattr(streams, "AT_ONCE", 75)
    assert examine(network, 5) == examined
    words = [tuple("abaab"), tuple("bbbbb")]
    both = examine(network, 5, words)
    alone = [examine(network, 5, [word]) for word in words]
    assert both.magnitudes == tuple(map(max, *(found.magnitudes for found in alone)))


@pytest.mark.slow
@pytest.mark.parametrize("masking", MASKINGS)
def test_many_random_networks_are_examined_as_the_definition_says(masking: Masking) -> None:
    random = Random(f"examined at length {masking}")
    for count in range(200):
        agrees(drawn(random, 1 + count % 3, maskings=(masking, Masking.FUTURE)), 1 + count % 5)


def test_what_cannot_be_examined_is_refused() -> None:
    network = next(islice(tieless(1, 1, 3), 1))[0]
    layer = network.layers[0]
    chosen = replace(layer.heads[1], weighting=HardWeighting.LEFTMOST)
    leftmost = replace(network, layers=(replace(layer, heads=(layer.heads[0], chosen)),))
    with pytest.raises(UnsupportedError, match="head 1 of layer 0 is leftmost-hard"):
        examine(leftmost, 3)
    normalised = replace(network, normalisation=Normalisation(Fraction(1), Fraction(1), True, (), ()))
    with pytest.raises(UnsupportedError, match="normalised"):
        examine(normalised, 3)
    with pytest.raises(OptionError, match="0 symbols"):
        examine(network, 0)
    with pytest.raises(UnsupportedError, match="give a length up to 2,896"):
        examine(network, 2897)
    with pytest.raises(WordError, match="has 2 symbols, not 3"):
        examine(network, 3, [("a", "b")])
    with pytest.raises(WordError, match="'c' at position 2"):
        examine(network, 3, [("a", "c", "b")])


def test_how_far_so_many_words_reach() -> None:
    for symbols in (1, 2, 3, 10):
        for words in (0, 1, 2, 3, 14, 15, 1000, 1110, 1111):
            length = reach(symbols, words)
            assert sum(symbols**n for n in range(1, length + 1)) <= words
            assert length == LONGEST or sum(symbols**n for n in range(1, length + 2)) > words
