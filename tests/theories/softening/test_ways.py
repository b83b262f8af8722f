"""PARITY's vanishing gap and ways out, against closed forms, plain floats, and the network on every word."""

from __future__ import annotations

from itertools import product
from math import exp, log, sqrt, tanh
from pathlib import Path
from xml.etree import ElementTree

import flint
import pytest

from attemper.errors import ExitCode
from attemper.exact.balls import precision
from attemper.networks.meaning_soft import output_bits
from attemper.theories.softening.ways import (
    PRECISION,
    WAYS,
    WayOut,
    gap_of,
    gaps_at,
    published_parity,
    vanishing,
)
from tests.support.cli.command_line import attemper

SVG = "{http://www.w3.org/2000/svg}"


def way(name: str) -> WayOut:
    (found,) = (own for own in WAYS if own.name == name)
    return found


@pytest.mark.parametrize("n", [2, 4, 6, 16, 60, 500])
def test_at_even_lengths_the_gap_is_4_tanh_1_over_n_squared(n: int) -> None:
    gap = way("constant temperature").gap(n)
    with precision(PRECISION):
        assert gap.overlaps(4 * flint.arb(1).tanh() / n**2)
        assert gap.rad() < 1e-30


@pytest.mark.parametrize(("n", "ratio"), [(3, 1.0689), (5, 1.0238), (9, 1.0072), (33, 1.0005)])
def test_at_odd_lengths_it_is_a_little_more(n: int, ratio: float) -> None:
    gap = float(way("constant temperature").gap(n).mid())
    assert gap * n**2 / (4 * tanh(1)) == pytest.approx(ratio, abs=5e-5)


def test_the_published_network_puts_that_out_on_every_word_at_every_position(few) -> None:
    network = published_parity()
    for n in few(range(2, 8), 2):
        with precision(PRECISION):
            expected = vanishing(n)
        for bits in product("01", repeat=n - 1):
            for found in output_bits(network, ("$", *bits)):
                assert found.overlaps(expected[bits.count("1")])
                assert (found > 0) == (bits.count("1") % 2 == 0)


def plain_lookup(n: int, exponent: float) -> float:
    """The gap where position j weighs e^(-exponent (j - c)^2), in floats."""
    outputs = []
    for c in range(1, n + 1):
        weights = [exp(-exponent * (j - c) ** 2) for j in range(1, n + 1)]
        outputs.append(sum(w * (-1) ** (j - 1) for j, w in enumerate(weights, 1)) / sum(weights))
    return min(outputs[0::2]) - max(outputs[1::2])


@pytest.mark.parametrize("n", [3, 4, 16, 64])
def test_what_is_looked_up_keeps_a_gap_if_the_temperature_or_the_keys_grow(n: int) -> None:
    cold, slow, keys = (
        float(way(name).gap(n).mid())
        for name in ("temperature 1/(4 n^2)", "temperature 1/ln n", "unbounded positions")
    )
    assert cold == pytest.approx(plain_lookup(n, 4), abs=1e-12)
    assert keys == pytest.approx(cold, abs=1e-12)
    assert slow == pytest.approx(plain_lookup(n, log(n) / n**2), abs=1e-12)
    assert cold > 2 - 8 * exp(-4) > 1.85
    assert n == 3 or slow < 0


@pytest.mark.parametrize("n", [2, 3, 4, 9, 128])
def test_a_unit_rounds_what_is_left_with_a_slope_that_grows_like_n_squared(n: int) -> None:
    outputs = way("rounding").outputs(n)
    assert all(bit.overlaps(flint.arb(1 - k % 2)) for k, bit in enumerate(outputs))
    assert n % 2 or float((1 / way("constant temperature").gap(n)).mid()) == pytest.approx(n**2 / 4 / tanh(1))


@pytest.mark.parametrize("n", [4, 16, 22, 128])
def test_layer_norm_keeps_a_gap_with_eps_0_alone(n: int) -> None:
    s = 2 * tanh(1) / n**2
    assert float(way("layer norm, eps 0").gap(n).mid()) == pytest.approx(2)
    assert float(way("layer norm, eps 1e-5").gap(n).mid()) == pytest.approx(2 * s / sqrt(s * s + 1e-5))


def test_a_gap_is_between_the_least_even_and_the_greatest_odd_output() -> None:
    assert gap_of([flint.arb(x) for x in (5, 1, 3, -2, 4)]) == 2
    assert gap_of([flint.arb(x) for x in (5, 1, 3, 4)]) == -1


def test_the_command_prints_what_python_finds_and_draws_it(tmp_path: Path) -> None:
    picture = tmp_path / "gaps.svg"
    record = attemper("four-ways", "--lengths", "4,6-7", "--svg", picture, "--json").record
    assert record["picture"] == str(picture)
    found = {own["way"]: own["gaps"] for own in record["gaps"]}
    assert found == {own.way: {str(n): gap for n, gap in own.gaps.items()} for own in gaps_at([4, 6, 7])}
    drawn = ElementTree.parse(picture).getroot()
    # One way has no gap: it is named, and no line is drawn.
    assert len(list(drawn.iter(f"{SVG}polyline"))) == len(WAYS) - 1
    texts = [text.text for text in drawn.iter(f"{SVG}text")]
    assert "temperature 1/ln n: not above 0" in texts
    assert {own.name for own in WAYS} - {"temperature 1/ln n"} <= set(texts)
    said = attemper("four-ways", "--lengths", "4").out
    assert "constant temperature   nothing             0.19" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lengths", "1"], "each is from 2 to 512"),
        (["--lengths", "2-99999999"], "each is from 2 to 512"),
        (["--lengths", "x"], "lists no lengths"),
        (["--svg", "x.png"], "does not end in .svg"),
    ],
)
def test_what_cannot_be_asked_is_refused(arguments: list[str], said: str) -> None:
    refused = attemper("four-ways", *arguments)
    assert refused.code == ExitCode.USAGE
    assert said in refused.err
