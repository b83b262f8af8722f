"""attemper source: its numbers, its tables in eighty columns, its polarity, and what it refuses."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from attemper.languages.sources.bracket_levels import star_excess
from attemper.languages.sources.brackets import block_law, closing, height_masses
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.values import NAMES, Brackets, Parity
from attemper.theories.influence.report.sources import report_of
from tests.support.cli.command_line import attemper


def source(
    name: str, p: object, n: object, *options: object, columns: int | None = 80
) -> tuple[int, str, str]:
    found = attemper("source", name, "--p", p, "--length", n, *options, columns=columns)
    return found.code, found.out, found.err


@pytest.mark.parametrize("odd", [False, True])
def test_json_has_the_levels_of_parity(odd: bool) -> None:
    name = "parity-odd" if odd else "parity-even"
    found = attemper("source", name, "--p", "1/2", "--length", 64, "--k", 3, "--json").record
    half = Parity(Fraction(1, 2), odd)
    assert (found["source"], found["p"], found["n"], found["unit"]) == (name, "1/2", 64, "nats")
    assert found["mean_length"] == ("4" if odd else "2")
    assert found["survival"] == ("1.34543e-8" if odd else "6.72713e-9")
    assert found["optimum"] == float(optimum(half))
    assert list(found["levels"]) == ["all", "0", "1", "2", "3"]
    for k in range(4):
        level = found["levels"][str(k)]
        assert level["level"] == float(last_symbols(half, k))
        assert level["excess"] == pytest.approx(level["level"] - found["optimum"], abs=1e-15)
    assert [round(found["floors"][eps]["last"], 4) for eps in ("0.1", "0.5", "1", "2", "4")] == [
        *(1.0525, 1.0129, 0.9721, 0.9169, 0.8751)
    ]
    assert round(found["floors"]["0.1"]["query"], 4) == 1.0699
    assert [round(row["saved"], 6) for row in found["savings"].values()] == [0.219512, 0.174416, 0.215762]


def test_json_has_the_floors_and_laws_of_brackets() -> None:
    found = attemper("source", "dyck2", "--p", "0.4", "--length", 16, "--json").record
    here = Brackets(Fraction(2, 5))
    assert (found["source"], found["p"], found["mean_length"]) == ("dyck2", "2/5", "4")
    assert found["excess"]["star"]["n"] == float(star_excess(here, 16))
    limits = {name: (round(row["even"], 5), round(row["odd"], 5)) for name, row in found["excess"].items()}
    assert limits["type"] == (0.22181, 0.2426)
    assert (limits["star"][0], limits["table_last"][0]) == (0.27226, 0.34739)
    assert limits["table_query"] == (0.53512, 0.41589)
    assert found["shares"]["P_0"]["n"] == float(closing(here, 16))
    masses = dict(height_masses(here, 16))
    assert {int(h): row["probability"] for h, row in found["heights"].items()} == pytest.approx(
        {height: mass / sum(masses.values()) for height, mass in masses.items()}, abs=1e-16
    )
    assert [row["probability"] for row in found["blocks"].values()] == list(
        map(float, block_law(16).values())
    )
    assert "blocks" not in attemper("source", "dyck2", "--p", "0.4", "--length", 15, "--json").record


@pytest.mark.parametrize("name", NAMES)
def test_bits_are_losses_over_ln_two_and_probabilities_stay(name: str) -> None:
    options = ("source", name, "--p", "1/3", "--length", 12, "--json")
    nats, bits = attemper(*options).record, attemper(*options, "--bits").record
    assert (nats["unit"], bits["unit"]) == ("nats", "bits")
    assert bits["optimum"] == pytest.approx(nats["optimum"] / log(2), rel=1e-15)
    for key in ("levels", "floors", "savings", "excess"):
        for row, values in nats.get(key, {}).items():
            for column, value in values.items():
                assert bits[key][row][column] == pytest.approx(value / log(2), rel=1e-14)
    for key in ("shares", "heights", "blocks", "survival"):
        assert bits.get(key) == nats.get(key)


@pytest.mark.parametrize(
    ("name", "n"), [*((name, 64) for name in NAMES), ("parity-odd", 1), ("dyck2", 1), ("dyck2", 512)]
)
def test_tables_fit_eighty_columns(name: str, n: int) -> None:
    code, out, _ = source(name, "123/999", n)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    assert "H_opt" in out


def test_an_infinite_mean_is_said() -> None:
    assert "the mean length is infinite" in source("dyck2", "1/2", 8)[1]
    assert attemper("source", "dyck2", "--p", "3/4", "--length", 8, "--json").record["mean_length"] is None


def test_parity_alone_says_its_polarity() -> None:
    code, out, _ = source("parity", "1/2", 8, columns=1000)
    note, rest = out.split("\n", 1)
    assert code == 0
    assert note == (
        "note: 'parity' is parity-even: an even number of 1s, as in Hahn 2020; parity-odd has the other words"
    )
    assert rest == source("parity-even", "1/2", 8, columns=1000)[1]
    options = ("--p", "1/2", "--length", 8, "--json")
    assert attemper("source", "parity", *options) == attemper("source", "parity-even", *options)


def test_a_single_symbol_has_no_level_of_the_last_one() -> None:
    found = attemper("source", "parity-even", "--p", "1/2", "--length", 1, "--json").record
    assert list(found["levels"]) == ["all", "0"]
    assert {row["last"] for row in found["floors"].values()} == {None}
    assert list(found["savings"]) == ["query"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("parity-even", "--p", "0", "--length", "8"),
            "--p must be between 0 and 1, for example 0.9 or 9/10",
        ),
        (("parity-even", "--p", "1", "--length", "8"), "--p must be between 0 and 1"),
        (("dyck2", "--p", "nan", "--length", "8"), "--p must be between 0 and 1"),
        (("dyck2", "--p", "1/0", "--length", "8"), "--p must be between 0 and 1"),
        (
            ("dyck2", "--p", "1/2", "--length", "0"),
            "--length 0 is no length here: give a number of symbols from 1 on",
        ),
        (("dyck2", "--p", "1/2", "--length", "4097"), "--length 4097 is beyond the 4,096 symbols"),
        (("parity-odd", "--p", "1/2", "--length", "-3"), "--length -3 is no length here"),
        (("majority", "--p", "1/2", "--length", "8"), "choose one of parity-even, parity-odd, dyck2"),
        (("dyck2", "--p", "1/2", "--length", "8", "--k", "2"), "--k is for parity-even and parity-odd"),
        (("parity-odd", "--p", "1/2", "--length", "8", "--k", "-1"), "--k must be from 0 to 1,000"),
        (("parity-odd", "--p", "1/2"), "Missing option '--length'"),
        (("parity-odd", "--n", "8"), "write --length N"),
        ((), "Missing"),
    ],
)
def test_mistakes_have_a_code_and_a_remedy(arguments: tuple[str, ...], message: str) -> None:
    plain = attemper("source", *arguments)
    assert (plain.code, plain.out) == (2, "")
    assert message in plain.err
    asked = attemper("source", *arguments, "--json")
    assert (asked.code, asked.out) == (2, "")
    assert '"code": 2' in asked.err


@pytest.mark.parametrize("rest", [(), ("bound", "x:y"), ("source", "dyck2")])
def test_the_group_limits_is_gone(rest: tuple[str, ...]) -> None:
    said = attemper("limits", *rest)
    assert (said.code, said.out) == (2, "")
    assert "write attemper bound MODEL or attemper source NAME" in said.err


def test_p_is_one_half_unless_said() -> None:
    assert attemper("source", "dyck2", "--length", 8) == attemper(
        "source", "dyck2", "--length", 8, "--p", "1/2"
    )


def test_the_report_prints_what_the_command_does() -> None:
    found = report_of(Brackets(Fraction(2, 5)), 64, 10, bits=False)
    assert attemper("source", "dyck2", "--p", "2/5", "--length", 64).out == f"{found}\n"
    assert attemper("source", "dyck2", "--p", "2/5", "--length", 64, "--json").record == found.record
    assert repr(found) == "<SourceReport: dyck2, p = 2/5, after 64 symbols>"
