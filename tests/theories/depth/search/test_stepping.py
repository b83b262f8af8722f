"""F_k letter by letter is F_k by its definition."""

from __future__ import annotations

from itertools import chain, product

import pytest

from attemper.theories.depth.search.stepping import Sight, SteppedClasses
from tests.support.oracles.layered import places, value_at_end


@pytest.mark.sweep(14)
@pytest.mark.parametrize("layers", [0, 1, 2, 3])
@pytest.mark.parametrize(("prefix", "period"), [(1, 1), (1, 2), (2, 1), (3, 2)])
@pytest.mark.parametrize(("left", "right"), [(True, True), (True, False), (False, True)])
def test_steps_part_words_as_the_definition_does(
    layers: int, prefix: int, period: int, left: bool, right: bool
) -> None:
    steps = SteppedClasses(layers, Sight(prefix, period, leftmost=left, rightmost=right))
    by_definition: dict[object, int] = {}
    words = list(chain.from_iterable(product((0, 1), repeat=n) for n in range(1, 8)))
    numbers = set()
    for word in words:
        state, number = steps.start, -1
        for letter in word:
            number, state = steps.step(state, letter)
        named = ["ab"[letter] for letter in word]
        meant = value_at_end(named, layers, places(prefix, period), first=left, last=right)
        assert by_definition.setdefault(meant, number) == number, word
        numbers.add(number)
    assert len(numbers) == len(by_definition)
    assert len(words) == 254


def test_a_place_follows_the_one_before() -> None:
    for prefix, period in ((1, 1), (1, 3), (4, 1), (3, 5)):
        sight, place = Sight(prefix, period), places(prefix, period)
        assert all(sight.after(place(i)) == place(i + 1) for i in range(1, 40))
