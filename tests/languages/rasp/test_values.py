"""Programs built from Python values say the same as texts."""

from __future__ import annotations

import pytest

from attemper import rasp
from attemper.errors import SourceError
from attemper.languages.rasp.program import parse_rasp
from attemper.rasp import i, j
from tests.languages.rasp.test_meaning import assert_means_what_it_says


def text_of(output: rasp.Value, alphabet: str = "ab") -> list[str]:
    """The lines behind the alphabet and the empty word."""
    return rasp.text(output, alphabet=alphabet, accepts_empty=False).splitlines()[2:]


def test_every_kind_of_expression_has_a_value() -> None:
    p, q, n, s = rasp.is_in("a").named("p"), rasp.is_in("b").named("q"), rasp.position, rasp.symbol
    for value, written in (
        (p & q | ~p ^ True, "p & q | (!p xor true)"),
        (False | p, "false | p"),
        (True & p, "true & p"),
        (True ^ p, "true xor p"),
        (rasp.implies(p, False), "p -> false"),
        (n + 1 - rasp.length >= -2, "pos + 1 - len >= -2"),
        (1 + n < 3, "1 + pos < 3"),
        (1 - n <= 3 * n, "1 - pos <= 3 * pos"),
        (n * -2 > -n, "-2 * pos > -pos"),
        (n == 1, "pos = 1"),
        (n != 1, "pos != 1"),
        (n % 3 == 1, "pos % 3 = 1"),
        (n % 3 != 1, "!(pos % 3 = 1)"),
        (abs(n - 2) == rasp.minimum(n, 4), "abs(pos - 2) = min(pos, 4)"),
        (rasp.maximum(n, 2, 3) == 3, "max(pos, 2, 3) = 3"),
        (rasp.when(p, "x", s) == "a", "(p ? 'x' : symbol) = 'a'"),
        (s != "b", "symbol != 'b'"),
        (rasp.first | rasp.last, "first | last"),
        (rasp.some(p), "some[j <= i] p"),
        (rasp.some(where=p, mask="all"), "some[all : p(j)]"),
        (rasp.every(q, where=p(i) & q(j), mask=">"), "every[j > i : p(i) & q(j)] q"),
        (rasp.count(p, mask=">=") == 2, "count[j >= i] p = 2"),
        (
            rasp.rightmost(p, where=s(i) == s(j), default=True),
            "rightmost[j <= i : symbol(i) = symbol(j)] p else true",
        ),
        (rasp.leftmost(value=s, default="none", mask="<") == "a", "leftmost[j < i] symbol else 'none' = 'a'"),
        (
            rasp.nearest(p, key=n, query=rasp.length - n, mask="all", choice="leftmost"),
            "nearest leftmost[all : pos(j) ~ (len - pos)(i)] p",
        ),
        (
            rasp.nearest(s, key=n, query=3, where=p) == "a",
            "nearest rightmost[j <= i : p(j), pos(j) ~ 3] symbol = 'a'",
        ),
        (
            rasp.nearest(p, key=n, query=3, mask="<", default=True),
            "nearest rightmost[j < i : pos(j) ~ 3] p else true",
        ),
        (rasp.previous(p), "previous p"),
        (rasp.previous(p, 3), "previous(3) p"),
        (rasp.following(s, default="none") == "a", "next symbol else 'none' = 'a'"),
    ):
        assert text_of(value)[-1] == f"output {written}"
        found = rasp.program(value & p & q, alphabet="ab", accepts_empty=True)
        assert found.accepts_empty
        assert_means_what_it_says(found, 4)


def test_what_is_used_twice_is_defined_once() -> None:
    p = rasp.is_in("a")
    for _ in range(200):
        p = rasp.previous(p) & rasp.some(p, mask="<")
    lines = text_of(p)
    assert len(lines) == 200
    assert lines[-1] == "output previous v199 & some[j < i] v199"


def test_what_nests_too_deeply_is_cut_up() -> None:
    p = rasp.is_in("a")
    for _ in range(2_000):
        p = rasp.previous(p)
    found = rasp.program(p, alphabet="ab", accepts_empty=False)
    assert 2_000 <= len(found.program.steps) <= 2_100


def test_names_are_kept() -> None:
    left = rasp.is_in("(").named("left")
    depth = (rasp.count(left) - rasp.count(~left)).named("depth")
    found = rasp.program((depth == 0) & rasp.every(depth >= 0), alphabet="( )", accepts_empty=True, at="last")
    assert {"left", "depth"} <= set(found.names.values())
    assert [definition.name for definition in found.source.definitions] == ["left", "depth"]


def test_a_value_and_its_named_form_are_one_definition() -> None:
    p = rasp.some(rasp.is_in("a"))
    named = p.named("seen")
    assert text_of(p & named & rasp.previous(p)) == [
        "seen = some[j <= i] in 'a'",
        "output seen & seen & previous seen",
    ]


def test_two_values_of_one_name_are_refused() -> None:
    one, two = rasp.is_in("a").named("x"), rasp.is_in("b").named("x")
    with pytest.raises(SourceError, match="'x' is defined already"):
        rasp.program(one & two, alphabet="ab", accepts_empty=True)


def test_errors_point_into_the_text() -> None:
    with pytest.raises(SourceError, match="a Bit, and this is an Integer") as caught:
        rasp.program(rasp.position & rasp.first, alphabet="ab", accepts_empty=True)
    assert "output pos & first" in str(caught.value)


def test_python_that_means_something_else_is_refused() -> None:
    p, n = rasp.is_in("a"), rasp.position
    with pytest.raises(TypeError, match="no Python bool"):
        assert p
    with pytest.raises(TypeError, match="no Python bool"):
        assert 1 < n < 3
    with pytest.raises(TypeError, match="multiplied by a Python int"):
        n * n  # type: ignore[operator]
    with pytest.raises(TypeError, match="neither a value"):
        n + 1.5  # type: ignore[operator]
    with pytest.raises(TypeError, match="as in x % 3 == 1"):
        n % 3 == p  # noqa: B015


def test_values_can_be_kept_in_sets_and_dicts() -> None:
    p = rasp.is_in("a")
    assert {p: 1}[p] == 1


def test_a_list_of_symbols_is_an_alphabet() -> None:
    found = rasp.program(rasp.is_in("push"), alphabet=["push", "pop"], accepts_empty=False, at="first")
    assert found.program.alphabet.symbols == ("push", "pop")
    assert parse_rasp(rasp.text(rasp.is_in("a"), alphabet="a b", accepts_empty=False))
