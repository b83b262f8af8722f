"""What steps are called where nobody has named them."""

from __future__ import annotations

import re

import pytest

import attemper
from attemper.attention_program.naming import LABEL_WIDTH, DistinctNames, step_names
from attemper.attention_program.parse import parse_steps
from attemper.languages.named.zoo import everything

TEXT = """\
alphabet ["a", "b"]
s0 = letter ["a"]
s1 = place ["sum", [["number", "1"], ["product", [["number", "-1"], ["test", ["zero"], 1, 0, -1]]]]]
s2 = and s0 s1
s3 = attend <= rightmost where s0 value s0 default 0
s4 = attend < rightmost where s0 value s2
s5 = attend < rightmost where s0:s1 s2:s3 value s0
s6 = count <= s0
s7 = linear 2 s6 -1
s8 = compare s7 >= 0
s9 = previous 3 s0 default 0
s10 = nearest all leftmost where s0 query s6 key s6 value s1
s11 = previous 3 s0 default 1
output s8
"""

SAID = (
    "a",
    "not [i - 1 = 0]",
    "a and (not [i - 1 = 0])",
    "rightmost a up to i",
    "(a and (not [i - 1 = 0])) at rightmost a before i",
    "a at rightmost a:(not [i - 1 = 0]), (a and (not [i - 1 = ...",
    "count of a up to i",
    "2 (count of a up to i) + -1",
    "(2 (count of a up to i) + -1) >= 0",
    "previous 3 a",
    "(not [i - 1 = 0]) at leftmost a with (count of a up to i)...",
    "previous 3 a #2",
)


def test_steps_are_called_by_what_they_say() -> None:
    assert step_names(parse_steps(TEXT), {}) == SAID


def test_names_that_are_given_stand_in_those_of_others() -> None:
    names = step_names(parse_steps(TEXT), {0: "left", 6: "so far"})
    assert (names[0], names[3], names[7]) == ("left", "rightmost left up to i", "2 (so far) + -1")


def test_a_number_is_never_that_of_another_name() -> None:
    names = DistinctNames(["x", "x #2"])
    assert [names.new("x"), names.new("x"), names.new("x #2"), names.new("y")] == [
        "x #3",
        "x #4",
        "x #2 #2",
        "y",
    ]


@pytest.mark.sweep(4)
@pytest.mark.parametrize(
    "name", ["k-hop-2", "dyck-2", "tomita-4", "reverse", *(one.name for one in everything())]
)
def test_no_label_is_a_number_of_a_step_and_no_two_are_alike(name: str) -> None:
    labels = attemper.compile(f"zoo:{name}").network.coordinates
    assert len(set(labels)) == len(labels)
    assert not [label for label in labels if re.search(r"\bs[0-9]+\b", label)]
    assert max(map(len, labels)) < 3 * LABEL_WIDTH
