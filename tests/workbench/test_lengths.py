"""Lengths as users write them: what is read, and what is refused."""

from __future__ import annotations

import pytest

from attemper.errors import OptionError
from attemper.workbench.lengths import ranges_of


def test_numbers_and_ranges_are_read() -> None:
    assert ranges_of("2-50, 51-100,101-150") == ((2, 50), (51, 100), (101, 150))
    assert ranges_of("0-0,1-3,7") == ((0, 0), (1, 3), (7, 7))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "lists no lengths"),
        ("-1-5", "lists no lengths"),
        ("[1,2]", "lists no lengths"),
        ("0-40,", "lists no lengths"),
        ("1.5", "lists no lengths"),
        ("²", "lists no lengths"),
        ("0-" + "9" * 5000, "lists no lengths"),
        ("5-4", "5-4 has no lengths"),
        ("0-4,0-4", "one of them twice"),
        ("7,7-7", "one of them twice"),
    ],
)
def test_what_lists_no_lengths_is_refused(text: str, said: str) -> None:
    with pytest.raises(OptionError) as found:
        ranges_of(text)
    assert said in str(found.value)
    assert len(str(found.value)) < 200
