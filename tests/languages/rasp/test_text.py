"""Reading and showing texts: they undo each other, and what a text leaves open is read one way."""

from __future__ import annotations

import pytest

from attemper.attention_program.ops import Attend, Choice, Letter, Mask, Nearest, Place, Shift
from attemper.attention_program.show import show_program, show_step
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import number
from attemper.languages.rasp.classes import ProgramClass
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.rasp.syntax import Index, Shifted, indices
from attemper.languages.temporal.reading import At

HEAD = "alphabet a b (\nempty reject\np = in 'a'\nq = in 'b'\nd = pos\ns = p ? 'x' : 'y'\n"


def shown(output: str) -> str:
    """What is shown of an output line."""
    return show(parse_source(f"{HEAD}output {output}")).splitlines()[-1].removeprefix("output ")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("((p))&(q)", "p & q"),
        ("p & q & p", "p & q & p"),
        ("p & (q & p)", "p & (q & p)"),
        ("(p & q) & p", "(p & q) & p"),
        ("p | q & p xor q -> p -> q", "p | q & p xor q -> p -> q"),
        ("(p -> q) -> p", "(p -> q) -> p"),
        ("! ! p", "!!p"),
        ("!(p & q)", "!(p & q)"),
        ("p ? q : p ? p : q", "p ? q : p ? p : q"),
        ("(p ? q : p) ? p : q", "(p ? q : p) ? p : q"),
        ("d - (d - 1) >= -1", "d - (d - 1) >= -1"),
        ("d + -1 > 0", None),
        ("d - 1 + 2 * (d + 1) = 0", "d - 1 + 2 * (d + 1) = 0"),
        ("-d + 2 * 3 * d < 0", "-d + 2 * 3 * d < 0"),
        ("(d+1) % 3 != 1", "!((d + 1) % 3 = 1)"),
        ("max(d, 1, abs(-d)) = len", "max(d, 1, abs(-d)) = len"),
        ("symbol = a | s != x", "symbol = 'a' | s != 'x'"),
        ("in 'a' '('", "in 'a' '('"),
        ("some[j<=i]p", "some[j <= i] p"),
        ("some [ j < i : p(j) ]", "some[j < i : p(j)]"),
        ("some[all : p(j)] & p", "some[all : p(j)] & p"),
        ("some[all : p(j)] (p & q)", "some[all : p(j)] (p & q)"),
        ("some[all] some[all] p", "some[all] some[all] p"),
        ("every[j >= i : (p & q) (i)] p(j)", "every[j >= i : (p & q)(i)] p(j)"),
        ("count[j > i] p - count[j > i] !p > 1", "count[j > i] p - count[j > i] !p > 1"),
        ("rightmost[all] p else false", "rightmost[all] p else false"),
        ("rightmost[all] previous p else true else false", "rightmost[all] previous p else true else false"),
        ("rightmost[all] (previous p) else false", "rightmost[all] (previous p) else false"),
        ("previous  previous( 3 ) p", "previous previous(3) p"),
        ("previous (p)", "previous p"),
        ("!previous p", "!previous p"),
        ("(next s else none) = 'x'", "next s else 'none' = 'x'"),
        ("nearest leftmost[all:d(j)~d(i)]p", "nearest leftmost[all : d(j) ~ d(i)] p"),
        (
            "nearest rightmost[j <= i : p(j) & q(i) , (d-1)(j) ~ 2 - d(i)] (p & q)",
            "nearest rightmost[j <= i : p(j) & q(i), (d - 1)(j) ~ 2 - d(i)] (p & q)",
        ),
        ("(nearest rightmost[all : d(i) ~ d(j)] s) = 'x'", "nearest rightmost[all : d(i) ~ d(j)] s = 'x'"),
        (
            "rightmost[all] (nearest rightmost[all : d(i) ~ d(j)] p) else true",
            "rightmost[all] (nearest rightmost[all : d(i) ~ d(j)] p) else true",
        ),
        (
            "rightmost[all] (nearest leftmost[j > i : d(i) ~ d(j)] p else false) else true",
            "rightmost[all] nearest leftmost[j > i : d(i) ~ d(j)] p else false else true",
        ),
    ],
)
def test_what_is_shown_is_short_and_reads_back(written: str, canonical: str | None) -> None:
    if canonical is None:
        with pytest.raises(Exception, match="cannot stand here"):
            shown(written)
        return
    assert shown(written) == canonical
    assert parse_source(f"{HEAD}output {written}") == parse_source(f"{HEAD}output {canonical}")


def test_symbols_stand_in_the_alphabet_as_they_are() -> None:
    source = parse_source(
        "alphabet # ' it's '(' \"'b'\" output\nempty accept\noutput in '#' \"'b'\" 'output'"
    )
    assert source.alphabet.symbols == ("#", "'", "it's", "(", "'b'", "output")
    assert parse_source(show(source)) == source


def test_names_of_symbols_are_not_taken_for_misspelt_definitions() -> None:
    """Only a Symbol can be meant, and neither `none` nor what is a symbol elsewhere is a mistake."""
    head = "alphabet a b\nempty reject\np = in 'a'\n"
    assert parse_rasp(f"{head}once = p ? round : square\noutput (previous once else none) = round")
    assert parse_rasp(f"{head}around = p ? round : square\noutput around = round")
    assert parse_rasp(f"{head}rounds = pos\noutput (p ? round : square) = round & rounds > 0")


def test_comments_and_blank_lines_say_nothing() -> None:
    text = "\n# a\n alphabet a b\r\n\nempty accept # yes\n  x = in 'a' # '\n\noutput x#\n"
    assert show(parse_source(text)) == "alphabet a b\nempty accept\nx = in 'a'\noutput x"


def test_an_output_is_read_at_the_last_position_or_at_the_first() -> None:
    head = "alphabet a b\nempty accept\n"
    assert parse_rasp(f"{head}output in 'a'").at is At.LAST
    assert parse_rasp(f"{head}output first & in 'a'").at is At.LAST
    found = parse_rasp(f"{head}output at first in 'a'")
    assert found.at is At.FIRST
    assert found.accepts_empty
    assert show(found.source).endswith("output at first in 'a'")


def test_equality_of_symbols_is_one_selection_of_as_many_cases() -> None:
    found = parse_rasp(
        "alphabet a b c\nempty reject\noutput rightmost[j < i : symbol(j) = symbol(i)] in 'a' else true"
    )
    steps = found.program.steps
    (attend,) = (step for step in steps if isinstance(step, Attend))
    assert (attend.mask, attend.choice, attend.default) == (Mask.BEFORE, Choice.RIGHTMOST, True)
    letters = [steps[there] for _, there in attend.cases]
    assert letters == [Letter(("a",)), Letter(("b",)), Letter(("c",))]
    assert [here for here, _ in attend.cases] == [there for _, there in attend.cases]


def test_what_is_the_same_for_several_symbols_is_one_case() -> None:
    found = parse_rasp(
        "alphabet a b c d\nempty reject\n"
        "kind = in 'a' 'b' ? round : in 'c' ? square : none\n"
        "output some[j < i : kind(i) = kind(j) & kind(i) != none]"
    )
    (attend,) = (step for step in found.program.steps if isinstance(step, Attend))
    assert len(attend.cases) == 2


def test_a_condition_that_reads_nothing_at_i_needs_no_cases() -> None:
    head = "alphabet a b\nempty reject\np = in 'a'\n"
    for condition in ("p(j)", "p(j) & (p(i) | !p(i) | true)", "p(j) & (p(i) -> true)"):
        found = parse_rasp(f"{head}output some[j < i : {condition}]")
        (attend,) = (step for step in found.program.steps if isinstance(step, Attend))
        assert attend.where is not None, condition
        assert attend.where == attend.value


def test_a_bit_at_i_that_decides_alone_is_no_case() -> None:
    """Where the bit is false nothing matches, so that one case is enough."""
    found = parse_rasp("alphabet a b\nempty reject\np = in 'a'\noutput some[j < i : p(i) & !p(j)]")
    (attend,) = (step for step in found.program.steps if isinstance(step, Attend))
    ((here, _),) = attend.cases
    assert here is not None


def test_shifts_keep_their_distance() -> None:
    found = parse_rasp("alphabet a b\nempty reject\noutput next(3) in 'a' else true")
    (shift,) = (step for step in found.program.steps if isinstance(step, Shift))
    assert (str(shift.direction), shift.distance, shift.default) == ("next", 3, True)


def test_positions_alone_are_no_counts() -> None:
    found = parse_rasp(
        "alphabet a b\nempty reject\noutput 2 * pos - count[all] true > 0 & count[j > i] true < 3"
    )
    assert "count" not in show_program(found.program)
    assert "place" in show_program(found.program)


@pytest.mark.parametrize(
    ("output", "holds"),
    [
        ("count[j < i] true < pos", True),
        ("count[j < i] true = pos - 1", True),
        ("count[j >= i] true + pos = len", False),
        ("count[j > i] true + pos - len >= 0", True),
        ("(pos - count[j < i] true) % 2 = 0", False),
    ],
)
def test_counts_of_positions_that_cancel_are_constants(output: str, holds: bool) -> None:
    found = parse_rasp(f"alphabet a b\nempty reject\noutput {output}")
    assert found.program.steps == (Place(number(int(holds))),)


def test_an_integer_of_one_sum_has_its_name() -> None:
    found = parse_rasp(
        "alphabet ( )\nempty accept\nleft = in '('\nopened = count[j <= i] left\n"
        "depth = opened - count[j <= i] !left\noutput depth = 0 & max(depth, 1) = 1"
    )
    assert set(found.names.values()) == {"left", "opened", "depth"}
    assert {name: str(kind) for name, kind in found.types.items()} == {
        "left": "Bit",
        "opened": "Integer",
        "depth": "Integer",
    }


def nearest_of(brackets: str, definitions: str = "", value: str = "in 'a'") -> list[str]:
    """The integers of the steps that look for the nearest one, query and key, each as text."""
    found = parse_rasp(f"alphabet a b c\nempty reject\n{definitions}output nearest {brackets} {value}")
    steps = found.program.steps
    return [
        " ~ ".join(show_step(steps[ref]) for ref in (step.query, step.key))
        for step in steps
        if isinstance(step, Nearest)
    ]


@pytest.mark.parametrize(
    ("brackets", "query", "key"),
    [
        ("rightmost[all : pos(j) ~ len + 1 - pos(i)]", "count >= s0", "count <= s0"),
        ("rightmost[all : len - pos(j) ~ pos(i)]", "linear 1 s2 1", "count >= s0"),
        ("rightmost[all : pos(i) - 2 ~ pos(j) + 1]", "linear 1 s1 -3", "count <= s0"),
        ("rightmost[all : pos(j) ~ 7]", "linear 7", "count <= s0"),
        ("leftmost[j >= i : len - len(j) ~ len(i)]", "count all s0", "linear 0"),
    ],
)
def test_positions_are_counted_from_one_and_numbers_stand_at_i(brackets: str, query: str, key: str) -> None:
    assert nearest_of(brackets) == [f"{query} ~ {key}"]


def test_a_sum_of_counts_is_in_range_where_no_position_counts_twice() -> None:
    """Symbols exclude each other; of what attention finds anything is possible."""
    both = "x = count[j <= i] in 'a' - count[j < i] in 'b' + count[j <= i] (in 'c' & last)\n"
    assert len(nearest_of("rightmost[all : x(j) ~ x(i)]", both)) == 1
    for twice in (
        "x = count[j <= i] in 'a' + count[j <= i] in 'a' 'b'\n",
        "x = count[j <= i] in 'a' - 2 * count[j <= i] in 'b'\n",
        "x = count[j <= i] previous in 'a' + count[j <= i] previous in 'b'\n",
        "x = pos + count[j < i] in 'b'\n",
    ):
        with pytest.raises(UnsupportedError, match=r"'x\(j\)' may exceed n"):
            nearest_of("rightmost[all : x(j) ~ pos(i)]", twice)
    for sides in ("count[j <= i] in 'a' + count[j >= i] in 'b'", "pos - count[all] in 'b'"):
        with pytest.raises(UnsupportedError, match=r"'x\(i\)' counts on more than one side"):
            nearest_of("rightmost[all : pos(j) ~ x(i)]", f"x = {sides}\n")


def test_what_is_nearest_takes_a_head_for_each_case_at_i() -> None:
    """Also where no case of a condition is in force: all positions are one further off there."""
    assert len(nearest_of("rightmost[all : (in 'a')(i) & (in 'b')(j), pos(j) ~ pos(i)]")) == 2
    assert len(nearest_of("rightmost[all : pos(j) ~ max(pos(i), 3)]")) == 2
    with pytest.raises(UnsupportedError, match=r"this has [0-9]+ cases, and 'nearest' takes a head for each"):
        nearest_of(
            "rightmost[all : symbol(i) = symbol(j) & ((previous in 'a')(i) -> first(j)) & "
            "((next in 'b')(i) -> last(j)), pos(j) ~ max(pos(i) - 2, 5 - pos(i), 3, -pos(i), 7, 8)]"
        )


def test_a_symbol_that_is_fetched_has_a_step_less_than_names() -> None:
    assert len(nearest_of("rightmost[all : pos(j) ~ 1]", value="symbol = 'c'")) == 2
    assert nearest_of("rightmost[all : pos(j) ~ 1]", value="'a' = 'a'") == []


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("in 'a'", ProgramClass.B_RASP),
        ("first & last", ProgramClass.B_RASP),
        ("some[all : symbol(i) = symbol(j)]", ProgramClass.B_RASP),
        ("previous(3) in 'a'", ProgramClass.B_RASP),
        ("count[j <= i] in 'a' = 0", ProgramClass.C_RASP),
        ("max(count[j < i] in 'a', pos) = abs(3)", ProgramClass.C_RASP),
        ("count[j >= i] in 'a' = 0", None),
        ("count[j <= i] in 'a' = len", None),
        ("pos % 2 = 0", None),
        ("last & pos > 1", None),
        ("some[j <= i] (count[j <= i] in 'a' = 0)", None),
        ("nearest rightmost[j <= i : pos(j) ~ 3] in 'a'", None),
    ],
)
def test_classes_are_recognised(output: str, expected: ProgramClass | None) -> None:
    unused = "alphabet a b\nempty reject\nunused = count[all] in 'a'\nx = "
    assert parse_rasp(f"{unused}{output}\noutput x").program_class is expected


def test_the_indices_of_an_expression_are_those_of_its_own_brackets() -> None:
    source = parse_source(f"{HEAD}output some[j < i : (previous p)(i) & q(j)]")
    condition = getattr(source.output, "condition")  # noqa: B009 - every Quantified has one
    assert indices(condition) == {Index.HERE, Index.THERE}
    assert indices(source.output) == frozenset()
    assert isinstance(condition.parts[0].operand, Shifted)
