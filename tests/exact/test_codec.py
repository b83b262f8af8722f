"""The one reader and writer of files: what is written is read back, and nothing else is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import product
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attemper.errors import AttemperError
from attemper.exact.codec import (
    DEEPEST,
    INTEGER,
    LARGEST,
    RATIONAL,
    SHARED,
    Codec,
    CodecError,
    Natural,
    Ordinary,
    Positive,
    Rational,
    Within,
    tag_of,
)
from attemper.languages.temporal import syntax

IN_ORDER = "expected each part after its own, from left to right, and none that nobody has"
ONCE = "expected each part once"
ASCENDING = "expected a list that ascends, without repetition"
TOO_DEEP = "more than 200 lists and objects stand one inside the other"
A_FRACTION = 'expected a fraction such as "3/2", in lowest terms'


# Classes with a field of every kind --------------------------------------------------------------------


class Colour(StrEnum):
    """Texts of an enumeration."""

    RED = "red"
    DARK_RED = "dark red"


@dataclass(frozen=True)
class Name:
    """A class of one field."""

    text: str


@dataclass(frozen=True)
class Names:
    """A class of one field, which is a list of classes of one field."""

    all: tuple[Name, ...]


@dataclass(frozen=True)
class Empty:
    """A class without fields."""


@dataclass(frozen=True)
class Point:
    """A class of several fields, which refuses what they are together."""

    x: Ordinary
    y: Ordinary

    def __post_init__(self) -> None:
        if self.x == self.y == 7:
            raise ValueError("no point is at 7, 7")
        if self.x == self.y == 8:
            raise AttemperError("no point is at 8, 8")


@dataclass(frozen=True)
class OneOfABC:
    """A class with a name of several words."""

    which: Literal["a", "b", "c"]


Shape = Empty | Name | Point | OneOfABC
ShapeOrColour = Colour | Point | Empty


@dataclass(frozen=True)
class Everything:
    """A field of every kind."""

    flag: bool
    whole: int
    natural: Natural
    positive: Positive
    small: Annotated[int, Within(-16, 16)]
    text: str
    nothing: None
    fraction: Fraction
    rational: Rational
    unit: Annotated[Fraction, Within(0, 1, digits=3)]
    number: float
    colour: Colour
    choice: Literal["north", "south"]
    maybe: Natural | None
    point_if_any: Point | None
    shape: Shape
    shape_or_none: Shape | None
    shape_or_colour: ShapeOrColour
    numbers: tuple[int, ...]
    rows: tuple[tuple[Name, ...], ...]
    pair: tuple[Colour, Natural]
    three: tuple[int, str, bool]
    set: frozenset[Natural]
    name: Name
    names: Names
    point: Point
    points: tuple[Point, ...]


EVERYTHING: Codec[Everything] = Codec(Everything)

ordinary = st.integers(-(10**11), 10**11)
naturals = st.integers(0, LARGEST)
rationals = st.builds(Fraction, st.integers(-(10**40) + 1, 10**40 - 1), st.integers(1, 10**40 - 1))
texts = st.text()
colours = st.sampled_from(Colour)
names = st.builds(Name, texts)
points = st.builds(Point, ordinary, ordinary.filter(lambda y: y not in {7, 8}))
shapes = st.one_of(st.just(Empty()), names, points, st.builds(OneOfABC, st.sampled_from("abc")))
everythings = st.builds(
    Everything,
    flag=st.booleans(),
    whole=st.integers(-LARGEST, LARGEST),
    natural=naturals,
    positive=st.integers(1, LARGEST),
    small=st.integers(-16, 16),
    text=texts,
    nothing=st.none(),
    fraction=st.fractions(),
    rational=rationals,
    unit=st.fractions(0, 1, max_denominator=999),
    number=st.floats(allow_nan=False),
    colour=colours,
    choice=st.sampled_from(["north", "south"]),
    maybe=st.none() | naturals,
    point_if_any=st.none() | points,
    shape=shapes,
    shape_or_none=st.none() | shapes,
    shape_or_colour=colours | points | st.just(Empty()),
    numbers=st.lists(st.integers(-LARGEST, LARGEST)).map(tuple),
    rows=st.lists(st.lists(names, max_size=2).map(tuple), max_size=3).map(tuple),
    pair=st.tuples(colours, naturals),
    three=st.tuples(st.integers(-LARGEST, LARGEST), texts, st.booleans()),
    set=st.frozensets(naturals),
    name=names,
    names=st.builds(Names, st.lists(names, max_size=3).map(tuple)),
    point=points,
    points=st.lists(points, max_size=3).map(tuple),
)

EXAMPLE = Everything(
    flag=True,
    whole=-3,
    natural=LARGEST,
    positive=1,
    small=-16,
    text="é",
    nothing=None,
    fraction=Fraction(-3, 2),
    rational=Fraction(4),
    unit=Fraction(1, 999),
    number=0.5,
    colour=Colour.DARK_RED,
    choice="south",
    maybe=None,
    point_if_any=Point(1, 2),
    shape=OneOfABC("b"),
    shape_or_none=Empty(),
    shape_or_colour=Colour.RED,
    numbers=(3, 1, 1),
    rows=((), (Name("x"), Name(""))),
    pair=(Colour.RED, 0),
    three=(0, "0", False),
    set=frozenset({10, 9, 100}),
    name=Name("n"),
    names=Names((Name("one"), Name("two"))),
    point=Point(-1, 1),
    points=(Point(0, 1),),
)

WRITTEN: dict[str, Any] = {
    "flag": True,
    "whole": -3,
    "natural": 2**63 - 1,
    "positive": 1,
    "small": -16,
    "text": "é",
    "nothing": None,
    "fraction": "-3/2",
    "rational": "4",
    "unit": "1/999",
    "number": "0x1.0000000000000p-1",
    "colour": "dark red",
    "choice": "south",
    "maybe": None,
    "point_if_any": {"x": 1, "y": 2},
    "shape": ["one of abc", "b"],
    "shape_or_none": ["empty"],
    "shape_or_colour": "red",
    "numbers": [3, 1, 1],
    "rows": [[], ["x", ""]],
    "pair": ["red", 0],
    "three": [0, "0", False],
    "set": [9, 10, 100],
    "name": "n",
    "names": ["one", "two"],
    "point": {"x": -1, "y": 1},
    "points": [{"x": 0, "y": 1}],
}


# What is written is read back --------------------------------------------------------------------------


def test_each_kind_is_written_as_the_rule_says() -> None:
    assert EVERYTHING.encode(EXAMPLE) == WRITTEN
    assert list(EVERYTHING.encode(EXAMPLE)) == list(WRITTEN)
    assert EVERYTHING.read(WRITTEN) == EXAMPLE


def plain(data: object) -> bool:
    """Whether the data are of JSON's own types, and of no class that is derived from one."""
    if type(data) is list:
        return all(map(plain, data))
    if type(data) is dict:
        return all(type(key) is str and plain(entry) for key, entry in data.items())
    return data is None or type(data) in {bool, int, str}


@given(everythings)
def test_every_value_is_read_back(value: Everything) -> None:
    data = EVERYTHING.encode(value)
    assert plain(data)
    assert EVERYTHING.read(data) == value
    again = EVERYTHING.read(json.loads(json.dumps(data)))
    assert again == value
    assert EVERYTHING.encode(again) == data


@given(st.floats())
def test_every_float_is_read_back_bit_by_bit(value: float) -> None:
    codec: Codec[float] = Codec(float)
    text = codec.encode(value)
    found = codec.read(text)
    assert (
        math.isnan(found)
        if math.isnan(value)
        else (found, math.copysign(1, found))
        == (
            value,
            math.copysign(1, value),
        )
    )
    assert codec.encode(found) == text


@given(st.fractions() | rationals)
def test_every_fraction_has_one_text(value: Fraction) -> None:
    codec: Codec[Fraction] = Codec(Fraction)
    assert codec.read(codec.encode(value)) == value
    assert codec.encode(value) == str(value)


def test_a_codec_may_be_of_one_kind_of_another_kind() -> None:
    """Not only classes have codecs."""
    pairs: Codec[tuple[tuple[int, str], ...]] = Codec(tuple[tuple[int, str], ...])
    assert pairs.read(pairs.encode(((1, "a"), (2, "")))) == ((1, "a"), (2, ""))
    shapes_: Codec[Shape | None] = Codec(Shape | None)
    assert [shapes_.encode(value) for value in (None, Empty(), Name("x"), Point(1, 2))] == [
        None,
        ["empty"],
        ["name", "x"],
        ["point", 1, 2],
    ]


@pytest.mark.parametrize(
    ("kind", "tag"),
    [(Empty, "empty"), (OneOfABC, "one of abc"), (Everything, "everything"), (CodecError, "codec error")],
)
def test_tags_are_the_names_of_classes(kind: type, tag: str) -> None:
    assert tag_of(kind) == tag


# What is not read --------------------------------------------------------------------------------------


def refusal(codec: Codec[Any], data: object) -> str:
    """What is said of data that are refused, which is nothing but `CodecError`."""
    with pytest.raises(ValueError) as caught:
        codec.read(data)
    assert type(caught.value) is CodecError
    path, cause = caught.value.path.removeprefix("."), caught.value.args[0]
    assert str(caught.value) == (f"{path}: {cause}" if path else cause)
    return str(caught.value)


NO_INTEGERS = [
    True,
    False,
    None,
    1.0,
    0.0,
    -0.0,
    2.5,
    math.inf,
    math.nan,
    "1",
    "",
    [],
    [1],
    {},
    {"1": 1},
    b"1",
]

REFUSED: dict[str, list[tuple[object, str]]] = {
    "flag": [(data, "expected true or false, not") for data in (0, 1, 1.0, None, "true", [True], [])],
    "whole": [
        *((data, f"expected an integer, not {data!r}") for data in NO_INTEGERS),
        (2**63, "expected an integer, not 9223372036854775808"),
        (-(2**63), "expected an integer, not -9223372036854775808"),
        (10**30, "expected an integer, not 1000000000000000000000000000000"),
    ],
    "natural": [
        *((data, f"expected an integer from 0, not {data!r}") for data in NO_INTEGERS),
        (-1, "expected an integer from 0, not -1"),
        (2**63, "expected an integer from 0, not 9223372036854775808"),
    ],
    "positive": [
        *((data, f"expected an integer from 1, not {data!r}") for data in NO_INTEGERS),
        (0, "expected an integer from 1, not 0"),
    ],
    "small": [
        *((data, f"expected an integer from -16 to 16, not {data!r}") for data in NO_INTEGERS),
        (17, "expected an integer from -16 to 16, not 17"),
        (-17, "expected an integer from -16 to 16, not -17"),
    ],
    "text": [(data, "expected a text, not") for data in (None, 0, True, [], ["a"], {}, b"a", Colour.RED)],
    "nothing": [(data, f"expected null, not {data!r}") for data in (False, 0, "", "null", [], {})],
    "rational": [
        *((data, A_FRACTION) for data in (1, 1.0, True, None, [], ["1"], {}, Fraction(1, 2), b"1", 0)),
        *((data, f"{A_FRACTION}, not {data!r}") for data in ("+1", "01", "-01", "00", "1/02", "1/0", "0/0")),
        *((data, A_FRACTION) for data in ("", "-", "/", "1/", "/2", "--1", "1//2", "1/-2", "1/+2", "1/2/3")),
        *((data, A_FRACTION) for data in (" 1", "1 ", "1 /2", "1/ 2", "1\n", "\t1", "1\u00a0", "1/2\n")),
        *((data, A_FRACTION) for data in ("1.0", "1e3", "0x1", "1_000", "inf", "nan", "½", "1⁄2", "−1")),
        *((data, A_FRACTION) for data in ("\u0661", "1/\u0662", "\uff11", "\u00b2", "१", "1\u0660")),
        *((data, A_FRACTION) for data in ("1" * 41, "-" + "1" * 41, "1/" + "1" * 41, "9" * 5000)),
    ],
    "fraction": [
        *((data, A_FRACTION) for data in (1, 1.0, True, None, [], "01", "+1", " 1", "\u0661", "1/0")),
        *((data, A_FRACTION) for data in ("1" * 1001, "1/" + "1" * 1001, "9" * 5000)),
    ],
    "unit": [
        *((data, f"{A_FRACTION} from 0 to 1, not") for data in ("-1", "-1/2", "2", "3/2", "1001/1000")),
        ("1/1000", f"{A_FRACTION} from 0 to 1, not '1/1000'"),
        (0, f"{A_FRACTION} from 0 to 1, not 0"),
    ],
    "number": [
        (data, "expected a number in hexadecimal, not")
        for data in (
            0.5,
            1,
            True,
            None,
            [],
            {},
            "",
            "x",
            "0x",
            "0x1p2000",
            "0x1.g",
            "\u0661",
            b"0x1p0",
            "\ud800",
        )
    ],
    "colour": [
        (data, 'expected one of "red", "dark red", not')
        for data in ("", "RED", "DARK_RED", "Red", "red ", "blue", 0, None, True, ["red"], [], {})
    ],
    "choice": [
        (data, 'expected one of "north", "south", not')
        for data in ("", "North", "east", "n", 0, None, True, ["north"], {})
    ],
    "maybe": [(data, "an integer from 0, not") for data in (-1, True, 1.0, "", "null", [], [None], 2**63)],
    "point_if_any": [
        *((data, "an object with the entries x, y, not") for data in ([], 0, False, "", ["point", 1, 2])),
        ({}, "the entry 'x' is missing"),
    ],
    "shape": [
        *(
            (data, 'expected one of ["empty", ...], ["name", ...], ["point", ...], ["one of abc", ...]')
            for data in (
                *(None, 0, True, "", "empty", [], {}, {"x": 1, "y": 2}, [0], [None], [["empty"]], [True, 1]),
                *(
                    ["Empty"],
                    ["EMPTY"],
                    ["empty "],
                    ["oneofabc", "a"],
                    ["OneOfABC", "a"],
                    ["one of a b c", "a"],
                ),
                *(("empty",), ["shape"], [{}], ["point", 1, 2][::-1]),
            )
        ),
        (["empty", 0], 'after "empty" stands nothing, not [0]'),
        (["empty", None], 'after "empty" stands nothing, not [None]'),
        (["point"], 'after "point" stands x, y, not []'),
        (["point", 1], 'after "point" stands x, y, not [1]'),
        (["point", 1, 2, 3], 'after "point" stands x, y, not [1, 2, 3]'),
        (["point", {"x": 1, "y": 2}], 'after "point" stands x, y, not '),
        (["point", 7, 7], "no point is at 7, 7"),
        (["point", 8, 8], "no point is at 8, 8"),
    ],
    "shape_or_none": [
        *(
            (data, '["empty", ...], ["name", ...], ["point", ...], ["one of abc", ...]')
            for data in ([], False, 0)
        ),
    ],
    "shape_or_colour": [
        *(
            (data, 'expected one of "red", "dark red", not')
            for data in ("", "empty", "RED", "point", "colour")
        ),
        *((data, '["point", ...], ["empty", ...], one of "red", "dark red"') for data in ([], 0, None, True)),
        *(
            (data, '["point", ...], ["empty", ...], one of "red", "dark red"')
            for data in (["red"], ["colour"])
        ),
        (["colour", "red"], '["point", ...], ["empty", ...], one of "red", "dark red"'),
    ],
    "numbers": [(data, "expected a list, not") for data in (None, 0, "", "12", {}, {"0": 1}, (1, 2), True)],
    "rows": [(data, "expected a list, not") for data in (None, "x", {})],
    "pair": [
        *((data, "expected a list of 2 entries, not") for data in (None, "ab", {}, [], ["red"], ("red", 0))),
        (["red", 0, 0], "expected a list of 2 entries, not ['red', 0, 0]"),
    ],
    "three": [(data, "expected a list of 3 entries, not") for data in ([], [0, "0"], [0, "0", False, None])],
    "set": [(data, "expected a list, not") for data in (None, 0, "12", {}, {1, 2}, frozenset({1}), (1,))],
    "name": [(data, "expected a text, not") for data in (None, 0, ["n"], {"text": "n"}, ["name", "n"])],
    "names": [(data, "expected a list, not") for data in (None, "one", {"all": []})],
    "point": [
        *((data, "expected an object with the entries x, y, not") for data in (None, 0, "", [], [1, 2])),
        *((data, "expected an object with the entries x, y, not") for data in (["point", 1, 2], True)),
        ({}, "the entry 'x' is missing"),
        ({"y": 1}, "the entry 'x' is missing"),
        ({"x": 1}, "the entry 'y' is missing"),
        ({"x": 1, "y": 2, "z": 3}, "the entry 'z' is unknown; remove it"),
        ({"x": 1, "y": 2, "X": 3}, "the entry 'X' is unknown; remove it"),
        ({"x": 1, "y": 2, "": 3}, "the entry '' is unknown; remove it"),
        ({"x": 1, "y": 2, 0: 3}, "the entry '0' is unknown; remove it"),
        ({"x": 1, "Y": 2}, "the entry 'y' is missing"),
        ({"x": 1, "y": 2, "z" * 500: 3}, f"the entry '{'z' * 80}' is unknown; remove it"),
        ({"x": 7, "y": 7}, "no point is at 7, 7"),
        ({"x": 8, "y": 8}, "no point is at 8, 8"),
    ],
    "points": [(data, "expected a list, not") for data in (None, {}, {"x": 1, "y": 2})],
}
"""For each field what stands in its place, and what is said of it."""


def short(own: object) -> str:
    """A name of a case."""
    return ascii(own)[:40]


CASES = [(name, data, said) for name, cases in REFUSED.items() for data, said in cases]


@pytest.mark.parametrize(("name", "data", "said"), CASES, ids=short)
def test_other_data_are_refused_with_their_place(name: str, data: object, said: str) -> None:
    found = refusal(EVERYTHING, {**WRITTEN, name: data})
    assert found.startswith(f"{name}: ")
    assert said in found
    assert len(found) < 400


INSIDE: list[tuple[str, object, str]] = [
    ("numbers", [3, True], "numbers[1]: expected an integer, not True"),
    ("numbers", [3, 1.0], "numbers[1]: expected an integer, not 1.0"),
    ("numbers", [[3]], "numbers[0]: expected an integer, not [3]"),
    ("rows", [[], ["x", 0]], "rows[1][1]: expected a text, not 0"),
    ("rows", [[], "x"], "rows[1]: expected a list, not 'x'"),
    ("pair", ["blue", 0], "pair[0]: expected one of"),
    ("pair", [0, "red"], "pair[0]: expected one of"),
    ("pair", ["red", -1], "pair[1]: expected an integer from 0, not -1"),
    ("three", [0, 0, False], "three[1]: expected a text, not 0"),
    ("three", [0, "0", 0], "three[2]: expected true or false, not 0"),
    ("set", [9, -1], "set[1]: expected an integer from 0, not -1"),
    ("set", [9, True], "set[1]: expected an integer from 0, not True"),
    ("names", ["one", None], "names[1]: expected a text, not None"),
    ("point", {"x": 1, "y": "2"}, "point.y: expected an integer from -100000000000 to 100000000000, not '2'"),
    ("point", {"x": 10**11 + 1, "y": 2}, "point.x: expected an integer from -100000000000 to 100000000000"),
    ("points", [{"x": 0, "y": 1}, {"x": 0}], "points[1]: the entry 'y' is missing"),
    ("points", [{"x": 0, "y": 1}, {"x": 0, "y": None}], "points[1].y: expected an integer from"),
    ("points", [{"x": 0, "y": 1}, {"x": 7, "y": 7}], "points[1]: no point is at 7, 7"),
    ("point_if_any", {"x": 1, "y": 2.0}, "point_if_any.y: expected an integer from"),
    ("shape", ["point", 1, "2"], "shape.y: expected an integer from"),
    ("shape", ["point", "1", "2"], "shape.x: expected an integer from"),
    ("shape", ["name", None], "shape.text: expected a text, not None"),
    ("shape", ["one of abc", "d"], 'shape.which: expected one of "a", "b", "c", not \'d\''),
    ("shape_or_none", ["name", 0], "shape_or_none.text: expected a text, not 0"),
    ("shape_or_colour", ["point", 1, True], "shape_or_colour.y: expected an integer from"),
]


@pytest.mark.parametrize(("name", "data", "said"), INSIDE, ids=str)
def test_the_place_is_that_of_what_is_wrong(name: str, data: object, said: str) -> None:
    assert refusal(EVERYTHING, {**WRITTEN, name: data}).startswith(said)


OTHER_WAYS: list[tuple[str, object]] = [
    *(("rational", text) for text in ("2/4", "-2/4", "4/1", "0/1", "-0", "-0/3", "6/3")),
    *(("fraction", text) for text in ("2/4", "4/1", "-0")),
    *(("unit", text) for text in ("2/4", "0/1", "-0", "2/2")),
    *(("number", text) for text in ("0.5", "1", "0x1p-1", "0X1.0000000000000P-1", " 0x1.0000000000000p-1")),
    *(
        ("number", text)
        for text in ("+0x1.0000000000000p-1", "0x1.0000000000000p-1\n", "Infinity", "infinity")
    ),
    *(("number", text) for text in ("NaN", "+inf", "0", "-0", "0x0p0", "0x1.00000000000000p-1", "1p-1")),
    *(("set", numbers) for numbers in ([10, 9, 100], [9, 100, 10], [9, 9], [9, 10, 10], [100, 9, 10])),
]


@pytest.mark.parametrize(("name", "data"), OTHER_WAYS, ids=str)
def test_what_is_written_in_another_way_is_refused(name: str, data: object) -> None:
    """It is read as a value, but that is written otherwise."""
    assert refusal(EVERYTHING, {**WRITTEN, name: data}).startswith(f"{name}: expected ")


@pytest.mark.parametrize(
    "data", [None, True, 0, 1.0, "", "everything", [], list(WRITTEN.values()), [WRITTEN]]
)
def test_a_class_is_an_object(data: object) -> None:
    entries = ", ".join(WRITTEN)
    assert refusal(EVERYTHING, data).startswith(f"expected an object with the entries {entries}, not ")


@pytest.mark.parametrize("name", WRITTEN)
def test_every_entry_is_there_once(name: str) -> None:
    rest = {key: entry for key, entry in WRITTEN.items() if key != name}
    assert refusal(EVERYTHING, rest) == f"the entry '{name}' is missing"
    assert refusal(EVERYTHING, {**rest, name.upper(): WRITTEN[name]}) == f"the entry '{name}' is missing"
    assert EVERYTHING.read({**rest, name: WRITTEN[name]}) == EXAMPLE


@pytest.mark.parametrize("size", [4_000, 5_000, 100_000])
def test_very_long_integers_are_refused_as_all_others_are(size: int) -> None:
    """JSON's reader makes none of them, but data can come from elsewhere."""
    for codec in (INTEGER, RATIONAL, EVERYTHING):
        assert "expected a" in refusal(codec, 10**size)
    assert refusal(EVERYTHING, {**WRITTEN, "natural": 10**size}).startswith(
        "natural: expected an integer from 0"
    )


def test_very_long_data_are_cut_short() -> None:
    for data in ("x" * 10**6, ["x" * 10**6] * 100, {"x" * 10**6: 1}, list(range(10**5))):
        assert len(refusal(INTEGER, data)) < 400
        assert len(refusal(EVERYTHING, data)) < 1_000


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=12,
    ),
    st.sampled_from(sorted(WRITTEN)),
)
def test_any_data_are_read_or_refused(data: object, name: str) -> None:
    """What is read is written in just that way; every error but `CodecError` escapes."""
    for own in (data, {**WRITTEN, name: data}):
        try:
            value = EVERYTHING.read(own)
        except CodecError:
            continue
        assert json.dumps(EVERYTHING.encode(value)) == json.dumps({key: own[key] for key in WRITTEN})  # type: ignore[index]


# How deep data are -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leaf:
    """An end."""


@dataclass(frozen=True)
class Inner:
    """One part."""

    part: Leaf | Inner | Fork


@dataclass(frozen=True)
class Fork:
    """A list of parts."""

    parts: tuple[Leaf | Inner | Fork, ...]


@dataclass(frozen=True)
class Chain:
    """An object that may have another one in it."""

    number: Natural
    rest: Chain | None


@dataclass(frozen=True)
class Rows:
    """Lists in lists, of an object."""

    rows: tuple[tuple[Rows, ...], ...]
    number: Natural


Tree = Leaf | Inner | Fork
TREE: Codec[Tree] = Codec(Tree)
CHAIN: Codec[Chain] = Codec(Chain)
ROWS: Codec[Rows] = Codec(Rows)


def inners(count: int) -> list[Any]:
    """So many lists, one inside the other."""
    data: list[Any] = ["leaf"]
    for _ in range(count - 1):
        data = ["inner", data]
    return data


def forks(count: int) -> list[Any]:
    """So many lists, which is an odd number, one inside the other."""
    assert count % 2
    data: list[Any] = ["leaf"]
    for _ in range(count // 2):
        data = ["fork", [data]]
    return data


def chains(count: int) -> dict[str, Any]:
    """So many objects, one inside the other."""
    data: dict[str, Any] = {"number": 0, "rest": None}
    for _ in range(count - 1):
        data = {"number": 1, "rest": data}
    return data


def rows(count: int) -> dict[str, Any]:
    """So many objects and lists, one inside the other: 2, 5, 8, ..."""
    assert count % 3 == 2
    data: dict[str, Any] = {"rows": [], "number": 0}
    for _ in range(count // 3):
        data = {"rows": [[data]], "number": 0}
    return data


NESTED: dict[str, tuple[Codec[Any], Callable[[int], Any], int, int]] = {
    "tagged lists": (TREE, inners, DEEPEST, DEEPEST + 1),
    "lists of tagged lists": (TREE, forks, DEEPEST - 1, DEEPEST + 1),
    "objects": (CHAIN, chains, DEEPEST, DEEPEST + 1),
    "lists and objects": (ROWS, rows, DEEPEST, DEEPEST + 3),
}


@pytest.mark.parametrize("name", NESTED)
def test_two_hundred_levels_are_read_and_no_more(name: str) -> None:
    assert DEEPEST == 200
    codec, made, within, beyond = NESTED[name]
    data = made(within)
    assert codec.encode(codec.read(data)) == data
    for depth in (beyond, beyond + 3000 * 2, beyond + 100_002):
        assert refusal(codec, made(depth)).endswith(TOO_DEEP)


def test_the_depth_at_which_data_are_refused_has_a_path() -> None:
    assert refusal(TREE, inners(201)) == ".".join(["part"] * 200) + f": {TOO_DEEP}"
    assert refusal(CHAIN, chains(201)) == ".".join(["rest"] * 200) + f": {TOO_DEEP}"


def test_the_levels_are_counted_alike_on_all_branches() -> None:
    """A wide list is no deep one, and the deepest branch decides, wherever it stands."""
    wide = ["fork", [inners(198)] * 50]
    assert TREE.encode(TREE.read(wide)) == wide
    for place in (0, 25, 49):
        branches = [inners(198)] * 50
        branches[place] = inners(199)
        assert refusal(TREE, ["fork", branches]).startswith(f"parts[{place}].part")


@pytest.mark.parametrize("data", ["lists", "objects"])
def test_data_that_nest_deeply_where_nothing_does_are_refused(data: str) -> None:
    deep: Any = 0
    for _ in range(100_000):
        deep = [deep] if data == "lists" else {"x": deep}
    for name in WRITTEN:
        assert refusal(EVERYTHING, {**WRITTEN, name: deep}).startswith(name)
    assert "expected" in refusal(INTEGER, deep)
    assert "expected" in refusal(CHAIN, deep) or "missing" in refusal(CHAIN, deep)


# Parts that are shared ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """A name."""

    name: str


@dataclass(frozen=True)
class Negation:
    """Of one part."""

    of: Expression


@dataclass(frozen=True)
class Both:
    """Of two parts."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Weighed:
    """A part inside of a list of pairs, and a class that has parts but is none."""

    terms: tuple[tuple[Ordinary, Term], ...]


@dataclass(frozen=True)
class Counted:
    """A class of two fields, one of them a part."""

    side: Literal["left", "right"]
    of: Expression


@dataclass(frozen=True)
class Constant:
    """A class without parts."""


Expression = Variable | Negation | Both | Weighed
Term = Counted | Constant
SharedExpression = Annotated[Expression, SHARED]


@dataclass(frozen=True)
class Pair:
    """Two shared values beside each other, whose parts are numbered apart."""

    first: SharedExpression
    second: SharedExpression


EXPRESSION: Codec[Expression] = Codec(SharedExpression)
PAIR: Codec[Pair] = Codec(Pair)

X, Y = Variable("x"), Variable("y")

SHARED_VALUES: dict[str, tuple[Expression, list[Any]]] = {
    "one part": (X, [["variable", "x"]]),
    "a part twice": (Both(X, X), [["variable", "x"], ["both", 0, 0]]),
    "operands from left to right": (
        Both(Y, X),
        [["variable", "y"], ["variable", "x"], ["both", 0, 1]],
    ),
    "operands before what has them": (
        Both(Negation(X), Both(Y, X)),
        [["variable", "x"], ["negation", 0], ["variable", "y"], ["both", 2, 0], ["both", 1, 3]],
    ),
    "parts inside of lists": (
        Weighed(((2, Counted("left", Negation(X))), (-1, Constant()), (3, Counted("right", X)))),
        [
            ["variable", "x"],
            ["negation", 0],
            ["weighed", [[2, ["counted", "left", 1]], [-1, ["constant"]], [3, ["counted", "right", 0]]]],
        ],
    ),
    "a list without parts": (Weighed(()), [["weighed", []]]),
}


@pytest.mark.parametrize("name", SHARED_VALUES)
def test_shared_parts_are_written_once(name: str) -> None:
    value, data = SHARED_VALUES[name]
    assert EXPRESSION.encode(value) == data
    assert EXPRESSION.read(data) == value


expressions: st.SearchStrategy[Expression] = st.recursive(
    st.builds(Variable, st.sampled_from("xyz")),
    lambda inner: (
        st.builds(Negation, inner)
        | st.builds(Both, inner, inner)
        | st.builds(
            Weighed,
            st.lists(
                st.tuples(
                    ordinary,
                    st.builds(Counted, st.sampled_from(["left", "right"]), inner) | st.just(Constant()),
                ),
                max_size=3,
            ).map(tuple),
        )
    ),
    max_leaves=12,
)


def references(data: object) -> list[int]:
    """The numbers of parts that stand in a part."""
    match data:
        case ["negation", int(of)]:
            return [of]
        case ["both", int(left), int(right)]:
            return [left, right]
        case ["weighed", terms]:
            return [term[2] for _, term in terms if term[0] == "counted"]
        case _:
            return []


@given(expressions)
def test_every_shared_value_is_read_back(value: Expression) -> None:
    data = EXPRESSION.encode(value)
    assert plain(data)
    assert EXPRESSION.read(json.loads(json.dumps(data))) == value
    texts_ = [json.dumps(node) for node in data]
    assert len(set(texts_)) == len(texts_)
    assert all(number < index for index, node in enumerate(data) for number in references(node))
    assert {number for node in data for number in references(node)} == set(range(len(data) - 1))
    assert PAIR.read(PAIR.encode(Pair(value, value))) == Pair(value, value)
    assert PAIR.encode(Pair(value, X)) == {"first": data, "second": [["variable", "x"]]}


def test_a_shared_value_is_as_small_as_its_parts() -> None:
    """The same part twice, again and again, is one part more each time, and no power of two of them."""
    data: list[Any] = [["variable", "x"], *(["both", k, k] for k in range(16))]
    value = EXPRESSION.read(data)
    assert EXPRESSION.encode(value) == data


A_PART = "expected the number of an earlier part, not "

NO_SHARED: dict[str, tuple[object, str]] = {
    "nothing": (None, "expected a list of parts, the last of them the whole, not None"),
    "an object": ({}, "expected a list of parts, the last of them the whole, not {}"),
    "a number": (0, "expected a list of parts, the last of them the whole, not 0"),
    "a tuple": ((["variable", "x"],), "expected a list of parts, the last of them the whole, not ("),
    "no part": ([], "expected a list of parts, the last of them the whole, not []"),
    "a part without a list": (["variable", "x"], "[0]: expected one of "),
    "a part that is a number": ([["variable", "x"], 0], "[1]: expected one of "),
    "a part that is none": ([["symbol", "x"]], "[0]: expected one of "),
    "a class that is no part": ([["constant"]], "[0]: expected one of "),
    "an entry too many": ([["variable", "x", "y"]], '[0]: after "variable" stands name, not '),
    "an entry too few": ([["variable", "x"], ["both", 0]], '[1]: after "both" stands left, right, not [0]'),
    "itself": ([["negation", 0]], f"[0].of: {A_PART}0"),
    "itself, later": ([["variable", "x"], ["both", 0, 1]], f"[1].right: {A_PART}1"),
    "a later part": ([["negation", 1], ["variable", "x"]], f"[0].of: {A_PART}1"),
    "a part that does not exist": ([["variable", "x"], ["negation", 9]], f"[1].of: {A_PART}9"),
    "a part from the end": ([["variable", "x"], ["negation", -1]], f"[1].of: {A_PART}-1"),
    "a part by a truth value": ([["variable", "x"], ["negation", False]], f"[1].of: {A_PART}False"),
    "a part by a float": ([["variable", "x"], ["negation", 0.0]], f"[1].of: {A_PART}0.0"),
    "a part by a text": ([["variable", "x"], ["negation", "0"]], f"[1].of: {A_PART}'0'"),
    "a part by nothing": ([["variable", "x"], ["negation", None]], f"[1].of: {A_PART}None"),
    "a part that is written out": (
        [["negation", ["variable", "x"]]],
        f"[0].of: {A_PART}['variable', 'x']",
    ),
    "a part of a list that is later": (
        [["weighed", [[1, ["counted", "left", 0]]]]],
        f"[0].terms[0][1].of: {A_PART}0",
    ),
    "a factor that is a part's": (
        [["variable", "x"], ["weighed", [["0", ["counted", "left", 0]]]]],
        "[1].terms[0][0]: expected an integer from",
    ),
    "a part that nobody has": ([["variable", "y"], ["variable", "x"]], IN_ORDER),
    "a part that nobody has, in between": (
        [["variable", "x"], ["variable", "y"], ["negation", 0]],
        IN_ORDER,
    ),
    "parts after the whole": ([["variable", "x"], ["negation", 0], ["variable", "x"]], f"[2]: {ONCE}"),
    "a part that stands twice": ([["variable", "x"], ["variable", "x"], ["both", 0, 1]], f"[1]: {ONCE}"),
    "a part that stands twice, and is read once": (
        [["variable", "x"], ["variable", "x"], ["negation", 1]],
        f"[1]: {ONCE}",
    ),
    "the whole twice": ([["variable", "x"], ["variable", "x"]], f"[1]: {ONCE}"),
    "operands from right to left": ([["variable", "y"], ["variable", "x"], ["both", 1, 0]], IN_ORDER),
    "operands before their turn": (
        [["variable", "x"], ["variable", "y"], ["negation", 0], ["both", 1, 0], ["both", 2, 3]],
        IN_ORDER,
    ),
}


@pytest.mark.parametrize("name", NO_SHARED)
def test_other_lists_of_parts_are_refused(name: str) -> None:
    data, said = NO_SHARED[name]
    assert refusal(EXPRESSION, data).startswith(said)
    inside = refusal(PAIR, {"first": [["variable", "x"]], "second": data})
    assert inside.startswith(f"second{'' if said.startswith('[') else ': '}{said}")


def test_the_parts_of_one_value_are_not_those_of_another() -> None:
    data = {"first": [["variable", "x"]], "second": [["negation", 0]]}
    assert refusal(PAIR, data) == f"second[0].of: {A_PART}0"


def test_many_shared_parts_are_no_deep_data() -> None:
    """Each part is one list in the list of parts, however many there are one after the other."""
    count = 400
    data: list[Any] = [["variable", "x"], *(["negation", k] for k in range(count))]
    value = EXPRESSION.read(data)
    assert EXPRESSION.encode(value) == data


@dataclass(frozen=True)
class Wrapped:
    """Lists in lists, and shared parts at any depth; a class of two fields."""

    inner: tuple[Wrapped, ...]
    shared: SharedOrDeep | None


@dataclass(frozen=True)
class Deep:
    """A part that has no number, but lists in lists."""

    lists: tuple[Deeper, ...]


@dataclass(frozen=True)
class Deeper:
    """Lists in lists."""

    lists: tuple[Deeper, ...]


SharedOrDeep = Annotated[Deep | Variable, SHARED]
WRAPPED: Codec[Wrapped] = Codec(Wrapped)


def wrapped(levels: int, inside: int) -> dict[str, Any]:
    """So many levels around a list of one shared part, in which so many lists stand one inside the other."""
    assert levels % 2
    lists: list[Any] = []
    for _ in range(inside - 1):
        lists = [lists]
    data: dict[str, Any] = {"inner": [], "shared": [["deep", lists]]}
    for _ in range(levels // 2):
        data = {"inner": [data], "shared": None}
    return data


def test_no_shared_part_begins_to_count_anew() -> None:
    """The list of parts, a part and what stands in it are as deep as the lists around them say."""
    assert WRAPPED.encode(WRAPPED.read(wrapped(1, 197))) == wrapped(1, 197)
    assert WRAPPED.encode(WRAPPED.read(wrapped(101, 97))) == wrapped(101, 97)
    for levels in (1, 3, 101, 195, 197, 199):
        assert refusal(WRAPPED, wrapped(levels, 199 - levels if levels < 198 else 1)).endswith(TOO_DEEP)
        assert refusal(WRAPPED, wrapped(levels, 400)).endswith(TOO_DEEP)


@dataclass(frozen=True)
class Linked:
    """Objects in objects, each with a shared part."""

    shared: SharedOrDeep | None
    rest: Linked | None


LINKED: Codec[Linked] = Codec(Linked)


@pytest.mark.parametrize("inside", [1, 2, 300, 100_000])
def test_no_shared_part_stands_below_the_last_level(inside: int) -> None:
    """Its list would be the 201st."""
    lists: list[Any] = []
    for _ in range(inside - 1):
        lists = [lists]
    for shared in ([["deep", lists]], [["variable", "x"]]):
        data: dict[str, Any] = {"shared": shared, "rest": None}
        for _ in range(199):
            data = {"shared": None, "rest": data}
        assert refusal(LINKED, data).endswith(TOO_DEEP)


# Kinds ---------------------------------------------------------------------------------------------------


def test_limits_are_met_exactly() -> None:
    for kind, least, most in (
        (Natural, 0, LARGEST),
        (Positive, 1, LARGEST),
        (Ordinary, -(10**11), 10**11),
        (int, -LARGEST, LARGEST),
        (Annotated[int, Within(most=3)], None, 3),
        (Annotated[int, Within(least=-3)], -3, None),
    ):
        codec: Codec[int] = Codec(kind)
        for end, step in ((least, -1), (most, 1)):
            if end is not None:
                assert codec.read(end) == end
                assert "expected an integer" in refusal(codec, end + step)


def test_limits_of_fractions_are_met_exactly() -> None:
    codec: Codec[Fraction] = Codec(Annotated[Fraction, Within(-1, 2, digits=2)])
    for text in ("-1", "2", "0", "-98/99", "99/50", "1/99"):
        assert codec.encode(codec.read(text)) == text
    for text in ("-100/99", "3", "-2", "1/100", "100/99", "201/100", "-3/2"):
        assert refusal(codec, text) == f"{A_FRACTION} from -1 to 2, not {text!r}"


def test_codecs_of_equal_kinds_do_not_mix() -> None:
    """Kinds that Python takes for equal, or nearly so, have their own rules."""
    assert "from 0," in refusal(Codec(Annotated[int, Within(0, LARGEST)]), -1)
    assert "from 1," in refusal(Codec(Annotated[int, Within(1, LARGEST)]), -1)
    assert Codec(bool).read(True) is True
    assert "expected an integer" in refusal(Codec(int), True)
    assert "true or false" in refusal(Codec(bool), 1)
    assert 'one of "a", not' in refusal(Codec(Literal["a"]), "b")
    assert Codec(Literal["b", "a"]).read("b") == "b"


def test_an_error_says_the_path_from_outside() -> None:
    error = CodecError("it is wrong")
    assert (str(error), error.path) == ("it is wrong", "")
    assert str(error.inside(3).inside("name").inside(0)) == "[0].name[3]: it is wrong"
    assert str(CodecError("it is wrong").inside(3).inside("name")) == "name[3]: it is wrong"
    assert isinstance(error, ValueError)


def test_a_fraction_has_a_thousand_digits_where_nothing_else_is_said() -> None:
    kind: Codec[Fraction] = Codec(Fraction)
    longest = f"{'9' * 1_000}/1{'0' * 999}"
    assert kind.encode(kind.read(longest)) == longest
    for text in (f"9{longest}", f"{longest}0"):
        with pytest.raises(CodecError, match="expected a fraction"):
            kind.read(text)


def test_a_part_that_has_many_parts_is_written_once_more_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading writes again: a new attempt for each part that is missing would take squares of time."""
    count = 4_000
    symbols: list[Any] = [["symbol", f"s{k}"] for k in range(count)]
    counts = [[1, ["count atom", "#", k]] for k in range(count)]
    nodes = [*symbols, ["numerical", ["remainder", 2, 1], {"parts": counts, "constant": 0}]]
    hashed = 0
    own = syntax.CountAtom.__hash__

    def noted(atom: syntax.CountAtom) -> int:
        nonlocal hashed
        hashed += 1
        return own(atom)

    monkeypatch.setattr(syntax.CountAtom, "__hash__", noted)
    assert syntax.FORMULA.encode(syntax.FORMULA.read(nodes)) == nodes
    assert hashed < 20 * count


def test_terms_whose_factors_are_minus_one_and_minus_two_have_many_hashes() -> None:
    """Python's own hashes of these two numbers are one: so many equal hashes would take squares of time."""
    atoms = [syntax.CountAtom(syntax.Side.TOTAL, syntax.Symbol(f"s{k}")) for k in range(8)]
    terms = [
        syntax.Term(tuple(zip(factors, atoms, strict=True)), -1) for factors in product((-1, -2), repeat=8)
    ]
    assert len({hash(term) for term in terms}) > 200
