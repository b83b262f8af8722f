"""Every network, way out and format puts out what `DenseTransformer` does, as near as the page says."""

from __future__ import annotations

import pytest

from attemper.errors import UnsupportedError
from tests.support.drawn.exported import puts_out_bits, rounding_of_means, subjects, words_for

pytestmark = pytest.mark.exports

SUBJECTS = dict(subjects())
WAYS = ("traceable", "hugging-face", "onnx", "torch", "transformer-lens", "page")
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24}
NUMBERS_ARE_REFUSED = [
    (name, "hugging-face") for name, subject in SUBJECTS.items() if subject.network.measure is not None
]


def room_of(name: str, dtype: str) -> float:
    """How far outputs may be apart: bits not at all, means by what two sums of n products lose."""
    network = SUBJECTS[name].network
    longest = max(map(len, words_for(network)))
    return 0 if puts_out_bits(network) else rounding_of_means(longest, UNIT[dtype])


def test_the_page_has_every_network_and_way() -> None:
    from tests.exports.table import WAYS as OPENED
    from tests.exports.table import stated

    assert tuple(OPENED) == WAYS
    assert {name: tuple(cells) for name, cells in stated().items()} == dict.fromkeys(SUBJECTS, WAYS)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_what_the_page_says_is_within_what_arithmetic_allows(name: str, way: str) -> None:
    """Sums of several terms differ by machine, so that no test asks for the very number that is stated."""
    from tests.exports.table import REFUSED, formats_of, stated

    said = stated()[name][way]
    if (name, way) in NUMBERS_ARE_REFUSED:
        assert said == REFUSED
        return
    if puts_out_bits(SUBJECTS[name].network):
        assert said == "0"
        return
    numbers = said.split(" / ")
    for place, dtype in enumerate(formats_of(way)):
        assert float(numbers[place % len(numbers)]) <= room_of(name, dtype)


@pytest.mark.parametrize(("name", "way"), NUMBERS_ARE_REFUSED)
def test_what_the_page_says_to_be_refused_is(name: str, way: str) -> None:
    from tests.exports.table import measured

    with pytest.raises(UnsupportedError, match="no class of Hugging Face answers with numbers"):
        next(measured(name, SUBJECTS[name], way))


@pytest.mark.parametrize(
    ("name", "way"),
    [(name, way) for name in SUBJECTS for way in WAYS if (name, way) not in NUMBERS_ARE_REFUSED],
)
def test_no_label_differs_and_bits_are_the_same(name: str, way: str) -> None:
    """No way refuses another network: what it raises fails the test.

    Margins are far from 0, so that no machine's exp, and no order of a sum, would make another bit of one.
    """
    from tests.exports.table import formats_of, measured

    found = list(measured(name, SUBJECTS[name], way))
    assert tuple(dtype for dtype, _ in found) == formats_of(way)
    for dtype, one in found:
        assert one.words >= sum(2**n for n in range(1, 7)) + 5 * 14
        assert one.least > 0.2
        assert one.labels == 0
        assert one.outputs <= room_of(name, dtype)
