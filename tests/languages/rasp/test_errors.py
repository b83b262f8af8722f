"""Whatever is no program gets an error that points at its place and says what to write."""

from __future__ import annotations

import random
import re

import pytest

from attemper.errors import AttemperError, ExitCode, SourceError, UnsupportedError
from attemper.languages.rasp.parse import MAX_DEFINITIONS, MAX_LISTED, MAX_NESTING, MAX_TEXT
from attemper.languages.rasp.program import parse_rasp
from attemper.languages.rasp.show import show
from tests.support.judges.rasp import RaspSampler
from tests.support.suites import Few

HEAD = "alphabet a b (\nempty reject\np = in 'a'\nd = pos\nkind = p ? round : square\n"
"""The definitions of most texts below, which begin on line 6."""


def error_of(text: str) -> AttemperError:
    with pytest.raises((SourceError, UnsupportedError)) as caught:
        parse_rasp(text)
    return caught.value


def assert_points_into(error: AttemperError, text: str) -> tuple[int, int]:
    """Line and column lie in the text, and the caret stands under that place."""
    found = re.search(r" \(line (\d+), column (\d+)\)\n {4}(.*)\n {4}( *)\^", str(error))
    assert found, str(error)
    line, column = int(found[1]), int(found[2])
    source = text.split("\n")[line - 1]
    assert 1 <= column <= len(source) + 1
    under = (found[3] + " ")[len(found[4])]
    meant = (source + " ")[column - 1]
    assert under == (meant if meant.isprintable() else " ")
    assert error.details["line"] == line
    assert error.details["column"] == column
    return line, column


@pytest.mark.parametrize(
    ("text", "line", "column", "said"),
    [
        ("", 1, 1, "the first line is the alphabet"),
        ("# a program\nempty accept", 2, 1, "the first line is the alphabet"),
        ("alphabet\nempty accept\noutput true", 1, 9, "needs at least one symbol"),
        ("alphabet a a", 1, 10, "occurs twice"),
        ("alphabet a b\noutput true", 2, 8, "what the empty word gives is not said"),
        ("alphabet a b\nempty accept\noutput symbol", 3, 8, "there is no verdict"),
        ("alphabet a b\noutput at first symbol", 2, 17, "there is no verdict"),
        ("alphabet a b\nempty accept", 2, 13, "there is no output"),
        ("alphabet a\nempty maybe\noutput true", 2, 7, "expected: accept or reject"),
        ("alphabet a\nempty accept\nempty accept\noutput true", 3, 1, "said twice"),
        ("alphabet a\nempty accept\noutput true\noutput true", 4, 1, "nothing may follow the output"),
        ("alphabet a\nalphabet b", 2, 1, "there is one alphabet"),
        ("alphabet a\n  count = true\noutput count", 2, 3, "'count' is a word of the language"),
        ("alphabet a\ni = true", 2, 1, "'i' is a word of the language"),
        ("alphabet a\n1x = true", 2, 1, "'1' cannot stand here"),
        ("alphabet a\nx true", 2, 3, "expected: ="),
        ("alphabet a\nx = true\nx = false", 3, 1, "'x' is defined already, on line 2"),
        ("alphabet a\nx = !y\ny = true", 3, 1, "'y' is used on line 2 and defined on line 3"),
        ("alphabet a\nx = !x", 2, 1, "'x' is used on line 2 and defined on line 2"),
    ],
)
def test_whole_texts(text: str, line: int, column: int, said: str) -> None:
    error = error_of(text)
    assert said in str(error)
    assert assert_points_into(error, text) == (line, column)
    assert error.exit_code is ExitCode.SOURCE


@pytest.mark.parametrize(
    ("written", "column", "said"),
    [
        ("output in a", 11, "symbols of the word stand in quotes: in 'a'"),
        ("output in 'c'", 11, "symbol 'c' is not in the alphabet"),
        ("output in '(", 11, "a quotation mark is not closed"),
        ("output in 'a' 'a'", 15, "symbol 'a' stands there twice"),
        ("output p &", 11, "the line ends too early"),
        ("output p & & p", 12, "expected: an expression"),
        ("output (p", 10, "expected: "),
        ("output p)", 9, "')' closes nothing"),
        ("output @", 8, "unexpected '@'"),
        ("output a", 8, "written in 'a'"),
        ("output q", 8, "'q' is not defined"),
        ("output p & knd = round", 12, "did you mean 'kind'?"),
        ("output 'a b' = symbol", 8, "blank"),
        ("output cout[j <= i] p > 1", 8, "unknown name 'cout': did you mean count?"),
        ("output p & rigthmost[j <= i] p else true", 12, "unknown name 'rigthmost': did you mean rightmost?"),
        ("output previos p", 8, "unknown name 'previos': did you mean previous?"),
        ("output frist", 8, "'frist' is not defined: did you mean 'first'?"),
        ("output foo[j <= i] p", 11, "'[' stands only behind some, every, count, rightmost and leftmost"),
        (
            "output every[all] kind = symbol",
            19,
            "a Symbol{round, square}; brackets: every[all] (kind = symbol)",
        ),
        ("output some[j <= i] d > 3 & p", 21, "an Integer; brackets: some[j <= i] (d > 3)"),
        ("output some[all] knd = symbol", 18, "'knd' is not defined: did you mean 'kind'?"),
        ("output i", 8, "'i' is no integer"),
        ("output at firs p", 11, "expected: first or last"),
        ("output p(j)", 8, "(j) stands only inside [ : ] and behind it"),
        ("output some[j <= i : p]", 22, "f(i) or f(j)"),
        ("output some[j <= i : p(j) & some[all] p]", 29, "f(i) or f(j)"),
        ("output some[j <= i]", 8, "what does 'some' speak of?"),
        ("output some[j <= i] p(i)", 21, "is read at j"),
        ("output some[j <= i] d", 21, "'some' speaks of a Bit, and this is an Integer"),
        ("output some[j <= i : p(k)]", 23, "(i) or (j)"),
        ("output some[j = i] p", 13, "j <= i, j < i, j >= i, j > i or all"),
        ("output some p", 13, "expected: ["),
        ("output rightmost[j < i] p", 25, "a head attends somewhere"),
        ("output rightmost[j < i] p", 25, "(else false, for example)"),
        ("output (previous kind) = round", 18, "(else none, for example)"),
        (
            "output rightmost[j < i] kind else true",
            35,
            "Symbol{round, square} and what stands behind 'else' a Bit",
        ),
        ("output rightmost[j < i] p else none", 32, "'none' is not defined"),
        ("output d + p > 1", 12, "a part of a sum is an Integer, and this is a Bit"),
        ("output d & p", 8, "what '&' joins is a Bit, and this is an Integer"),
        ("output !kind", 9, "what '!' negates is a Bit, and this is a Symbol{round, square}"),
        ("output p ? d : p", 12, "these are an Integer and a Bit"),
        ("output p = p", 8, "these are Bits"),
        ("output kind = d", 8, "not a Symbol{round, square} and an Integer"),
        ("output kind < symbol", 8, "Symbols have no order"),
        ("output kind = rund", 8, "these are never equal"),
        ("output d % 0 = 0", 12, "a modulus is at least 1"),
        ("output d % 3 = 4", 16, "lies in 0..2, not 4"),
        ("output d % 3 > 1", 14, "tested by = or !="),
        ("output d + 1 % 3 = 1", 14, "put a sum in round brackets"),
        ("output d * 2 = 1", 10, "with the number first"),
        ("output 9999999999 < d", 8, "larger than 1000000000"),
        ("output previous(0) p", 8, "a distance is at least 1"),
        ("output nearest p", 16, "behind 'nearest' stands 'rightmost' or 'leftmost'"),
        ("output nearest rightmost[all] p", 29, "expected: :"),
        ("output nearest rightmost[all : d(j)] p", 36, "expected: "),
        ("output nearest rightmost[all : p(j) & d(j) ~ d(i)] p", 44, "behind a comma"),
        ("output nearest rightmost[all : d(j) ~ d(i), p(j)] p", 43, "expected: "),
        ("output nearest rightmost[all : d(j) ~ d(i)] p else true", 52, "under 'all', and takes no 'else'"),
        ("output nearest rightmost[j >= i : d(j) ~ d(i)] p else true", 55, "finds a position under 'j >= i'"),
        ("output nearest rightmost[j < i : d(j) ~ d(i)] p", 47, "what 'nearest' gives there (else false"),
        ("output (nearest leftmost[j > i : d(j) ~ d(i)] kind) = round", 47, "(else none, for example)"),
        ("output previous nearest rightmost[all : d(j) ~ d(i)] p else true", 61, "brackets, if that is"),
        ("output some[j <= i : d(j) ~ d(i)]", 27, "'~' stands only in nearest"),
        ("output d ~ 3", 10, "'~' stands only in nearest"),
        ("output nearest rightmost[all : d(i) ~ d(i)] p", 32, "an Integer at j with one at i"),
        ("output nearest rightmost[all : d(j) ~ d(j)] p", 32, "an Integer at j with one at i"),
        ("output nearest rightmost[all : d(j) + d(i) ~ 1] p", 32, "an Integer at j with one at i"),
        ("output nearest rightmost[all : len ~ 1] p", 32, "an Integer at j with one at i"),
        ("output nearest rightmost[all : d ~ d(i)] p", 32, "f(i) or f(j)"),
        (
            "output nearest rightmost[all : p(j) ~ d(i)] p",
            32,
            "what '~' compares is an Integer, and this is a Bit",
        ),
        ("output nearest rightmost[all : d(j), d(j) ~ d(i)] p", 32, "a condition is a Bit"),
        ("output nearest rightmost[all : d(j) ~ d(i)] p(i)", 45, "is read at j"),
    ],
)
def test_lines(written: str, column: int, said: str) -> None:
    text = HEAD + written
    error = error_of(text)
    assert said in str(error)
    assert assert_points_into(error, text) == (6, column)
    assert error.exit_code is ExitCode.SOURCE


def test_a_name_that_is_defined_is_not_taken_for_a_word_of_the_language() -> None:
    error = error_of("alphabet a b\nempty reject\ncounts = in 'a'\noutput counts[all] counts")
    assert "'[' stands only behind" in str(error)


SIXTY = " ".join(f"s{number}" for number in range(60))
MANY = [f"q{k}" for k in range(1, 6)]


@pytest.mark.parametrize(
    ("written", "column", "said"),
    [
        ("output nearest rightmost[all : (2 * d)(j) ~ d(i)] p", 32, "'(2 * d)(j)' may exceed n"),
        ("output nearest rightmost[all : d(j) ~ (d + len)(i)] p", 39, "'(d + len)(i)' may exceed n"),
        ("output nearest rightmost[all : abs(d(j) - 3) ~ d(i)] p", 32, "distinguishes cases"),
        ("output nearest rightmost[all : (p ? d : 1)(j) ~ d(i)] p", 32, "count other positions differently"),
        ("output nearest rightmost[all : (p ? d : d - 1)(j) ~ d(i)] p", 32, "may exceed n"),
        ("output nearest rightmost[all : d(j) ~ d(i)] d", 45, "Integers that 'nearest' fetches"),
        ("output nearest rightmost[all : d(j) ~ d(i)] {a: 1}", 45, "'nearest' fetches no Distribution"),
        ("output some[j <= i : d(j) < d(i) + 1]", 22, "no other comparison of the two is built"),
        ("output (rightmost[j < i] d else 0) > 1", 26, "Integers that 'rightmost' fetches"),
        ("output previous d > 1", 17, "Integers that 'previous' fetches"),
        ("output rightmost[all] p else p", 30, "anything else is chosen by"),
        ("output previous(65) p", 8, "a distance is at most 64"),
    ],
)
def test_what_is_not_built_is_refused(written: str, column: int, said: str) -> None:
    text = HEAD + written
    error = error_of(text)
    assert said in str(error)
    assert assert_points_into(error, text) == (6, column)
    assert error.exit_code is ExitCode.UNSUPPORTED


def test_sixty_cases_are_read_and_one_more_is_refused() -> None:
    condition = "empty reject\noutput some[j < i : symbol(i) = symbol(j)]"
    assert parse_rasp(f"alphabet {SIXTY}\n{condition}")
    text = f"alphabet {SIXTY} p\n{condition}"
    error = error_of(text)
    assert "the condition has 61 cases, and heads for at most 60 are built" in str(error)
    assert assert_points_into(error, text) == (3, 8)
    assert error.exit_code is ExitCode.UNSUPPORTED


def test_cases_are_counted_by_what_is_left_at_j() -> None:
    """Six bits at i, 64 combinations: but only whether an odd number of them hold matters."""
    bits = "\n".join(f"q{k} = previous({k}) in 'a'" for k in range(1, 7))
    one = " xor ".join(f"q{k}(i)" for k in range(1, 7))
    head = f"alphabet a b\nempty reject\n{bits}\n"
    assert parse_rasp(f"{head}output some[j < i : ({one}) & q1(j)]")
    pairs = " & ".join(f"(q{k}(i) -> q{k}(j))" for k in range(1, 7))
    text = f"{head}output some[j < i : {pairs}]"
    assert "the condition has 64 cases" in str(error_of(text))


def test_a_condition_that_reads_too_much_is_refused() -> None:
    bits = [f"q{k}" for k in range(1, 42)]
    head = "alphabet a b\nempty reject\n" + "".join(
        f"{name} = previous({k}) in 'a'\n" for k, name in enumerate(bits, 1)
    )
    text = f"{head}output some[j < i : {' | '.join(f'{name}(i)' for name in bits)}]"
    error = error_of(text)
    assert "reads too many things at i" in str(error)
    assert error.exit_code is ExitCode.UNSUPPORTED


def test_an_integer_of_too_many_cases_is_refused() -> None:
    parts = " + ".join(f"abs(count[j <= i] previous({k}) in 'a' - 1)" for k in range(1, 8))
    text = f"alphabet a b\nempty reject\noutput {parts} > 9"
    error = error_of(text)
    assert "distinguishes too many cases" in str(error)
    assert_points_into(error, text)
    assert error.exit_code is ExitCode.UNSUPPORTED


def test_what_grows_from_definition_to_definition_is_refused() -> None:
    head = "alphabet a b\nempty reject\np = in 'a'\n"
    doubled = "x0 = pos\n" + "".join(f"x{k} = x{k - 1} + x{k - 1}\n" for k in range(1, 40))
    error = error_of(f"{head}{doubled}output x39 > 3")
    assert "larger than 1000000000" in str(error)
    assert error.exit_code is ExitCode.SOURCE
    named = "s0 = p ? x0 : y0\n" + "".join(f"s{k} = p ? s{k - 1} : z{k}\n" for k in range(1, 1_100))
    assert "more than 1,000 names" in str(error_of(f"{head}{named}output p"))
    many = "".join(f"x{k} = p\n" for k in range(MAX_DEFINITIONS + 1))
    assert "more than 2,000 definitions" in str(error_of(f"{head}{many}output p"))


def test_a_program_of_too_many_steps_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.languages.rasp.bits.MAX_STEPS", 14)
    head = "alphabet a b c d\nempty reject\n"
    text = f"{head}s = previous symbol else none\nt = previous s else none\noutput s = t"
    error = error_of(text)
    assert "steps, as Symbols have a step for each of their names" in str(error)
    assert assert_points_into(error, text) == (4, 5)
    assert error.exit_code is ExitCode.UNSUPPORTED


def test_many_symbols_are_too_many_cases_at_once() -> None:
    symbols = " ".join(f"s{k}" for k in range(500))
    error = error_of(f"alphabet {symbols}\nempty reject\noutput some[j < i : symbol(i) = symbol(j)]")
    assert "the condition has 500 cases" in str(error)


def test_large_texts_are_refused() -> None:
    head = "alphabet a\nempty reject\n"
    assert "characters, more than" in str(error_of(head + "#" * MAX_TEXT + "\noutput true"))
    assert parse_rasp(f"{head}output {'(' * 5_000}true{')' * 5_000}")
    assert parse_rasp(f"{head}output {'!' * (MAX_NESTING - 2)}true")
    assert "nests deeper" in str(error_of(f"{head}output {'!' * MAX_NESTING}true"))
    assert parse_rasp(f"{head}output {' & '.join(['in ' + repr('a')] * MAX_LISTED)}")
    assert "joined in a row" in str(error_of(f"{head}output {' & '.join(['true'] * (MAX_LISTED + 1))}"))


def test_the_deepest_expressions_of_every_kind_are_read() -> None:
    """At the cap no recursion is too deep for Python."""
    head = "alphabet a\nempty reject\nx = in 'a'\n"
    most = MAX_NESTING - 3
    for before, after, middle in (
        ("!", "", "x"),
        ("previous ", "", "x"),
        ("some[all] ", "", "x"),
        ("rightmost[all] (", ") else false", "x"),
        ("x & (x | ", ")", "x"),
        ("x ? x : (", ")", "x"),
        ("x -> ", "", "x"),
        ("1 < abs(-", ")", "pos"),
    ):
        times = most if before not in {"x & (x | ", "1 < abs(-"} else most // 3
        inner = f"{before * times}{middle}{after * times}"
        if before.startswith("1 <"):
            inner = f"1 < {'abs(-' * times}pos{')' * times}"
        text = f"{head}output {inner}"
        found = parse_rasp(text)
        assert parse_rasp(show(found.source)).source == found.source


def test_damaged_texts_are_read_or_refused(few: Few) -> None:
    """A character more, less or elsewhere: an error that points into the text, or another program."""
    refused, seeds = 0, few(range(400), 40)
    for seed in seeds:
        rng = random.Random(seed)
        text = show(RaspSampler(rng).source(3))
        for _ in range(5):
            place = rng.randrange(len(text))
            other = rng.choice(
                [text[rng.randrange(len(text))], "", "(", "'", "~", "[", "\n", "é", "\x00", "i"]
            )
            damaged = text[:place] + other + text[place + rng.randrange(2) :]
            try:
                parse_rasp(damaged)
            except (SourceError, UnsupportedError) as error:
                assert_points_into(error, damaged)
                refused += 1
    assert refused > 5 * len(seeds) // 4
