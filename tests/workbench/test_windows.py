"""Windows of positions, rulers and cut texts; traces as a line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

import attemper
from attemper.workbench.report.windows import (
    cut,
    cut_word,
    ruler,
    spans,
    strip,
    widest_window,
    width_of,
    window_around,
)

LENGTHS = st.integers(1, 300)


@given(st.data(), LENGTHS, st.integers(1, 120))
def test_a_window_has_the_position_and_as_many_others_as_there_is_room_for(
    data: st.DataObject, length: int, room: int
) -> None:
    position = data.draw(st.integers(1, length))
    window = window_around(position, length, room)
    assert position in window.positions
    assert 1 <= window.first <= window.last <= length
    assert len(window.positions) == min(room, length)
    assert window.is_whole == (room >= length)


@given(LENGTHS, st.integers(1, 120), st.integers(0, 130))
def test_the_widest_window_is_the_widest_that_fits(length: int, room: int, most: int) -> None:
    window = widest_window(1, length, room, lambda window: len(window.positions) <= most)
    assert len(window.positions) == max(1, min(length, room, most))


@given(LENGTHS, st.integers(1, 60))
def test_a_ruler_is_read_from_top_to_bottom(length: int, room: int) -> None:
    window = window_around(length // 2 + 1, length, room)
    rows = ruler(window).split("\n")
    assert [int("".join(digits)) for digits in zip(*rows, strict=True)] == list(window.positions)


@given(st.sets(st.integers(1, 60)))
def test_spans_name_every_number_once(numbers: set[int]) -> None:
    found: list[int] = []
    for part in spans(sorted(numbers)).split():
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    assert found == sorted(numbers)


@given(st.text(max_size=60), st.integers(3, 40))
def test_a_cut_text_has_room_and_says_that_it_was_cut(text: str, room: int) -> None:
    shown = cut(text, room)
    assert cell_len(shown) <= room
    assert shown.isprintable()
    if text.isprintable():
        assert shown == text or (shown.endswith("...") and text.startswith(shown.removesuffix("...")))


def test_a_cut_word_says_its_length() -> None:
    assert cut_word(tuple("0110"), 10) == "0110"
    assert cut_word(("push", "pop") * 20, 40) == "push pop push pop push po... (length 40)"
    assert cut_word((), 20) == "(empty)"


def test_symbols_stand_in_columns_of_one_width() -> None:
    assert width_of(["a", "b"]) == 1
    assert width_of(["w0", "i"]) == 3
    assert width_of(["日"]) == 3
    assert strip(["w0", "i", "日"], 3) == "w0 i  日 "


# Traces in Python -----------------------------------------------------------------------------------


def test_a_trace_is_one_line() -> None:
    trace = attemper.compile("#<['0'] <= #<['1']", "01").trace("01" * 300)
    assert repr(trace) == f"<Trace of {'01' * 12}... (length 600): 3 subformulas, 2 heads>"
    assert repr(trace.heads[1]) == "<HeadTrace layer 1, head 0: Sign, 600 positions>"
