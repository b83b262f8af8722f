"""Every network, way out and format puts out what `DenseTransformer` does, as near as the page says."""

from __future__ import annotations

import pytest

from tests.support.exported import subjects, words_for

pytestmark = pytest.mark.exports

SUBJECTS = dict(subjects())
WAYS = ("traceable", "hugging-face", "onnx", "torch", "transformer-lens", "page")
NUMBERS = {"histogram", "bigrams", "all masks"}
UNIT = {"float64": 2.0**-53, "float32": 2.0**-24}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SUBJECTS)
def test_no_label_differs_and_bits_are_the_same(name: str, way: str) -> None:
    from tests.exports.table import cell, measured, stated

    subject = SUBJECTS[name]
    found = list(measured(name, subject, way))
    longest = max(map(len, words_for(subject.network)))
    for dtype, one in found:
        assert one.labels == 0
        # Numbers are means: two of them are apart by what sums of n products lose (test_traceable.py).
        room = 3 * 4 * (2 * longest + 8 + 4 * 8) * UNIT[dtype] if name in NUMBERS else 0
        assert one.outputs <= room
    said = stated()[name][WAYS.index(way)]
    assert (said == "0") == (cell(found) == "0") or name in NUMBERS
