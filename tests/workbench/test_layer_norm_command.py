"""Normalised networks on the command line: compiled, shown, traced, verified, run, measured, refused."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import typer

import attemper as library
from attemper import LayerNorm
from attemper.compiling.softening.normalise import normalise
from attemper.errors import ExitCode
from attemper.networks.layers import Network
from attemper.workbench.cli.options import rational
from attemper.workbench.report.assumptions import one_symbol
from attemper.workbench.report.summary import logit_growth
from tests.support.cli.command_line import Outcome, attemper
from tests.support.drawn.normalised import BUILDS

MAJORITY = "#<['0'] <= #<['1']"


def compiled(folder: Path, *options: object, formula: str = MAJORITY, alphabet: str = "01") -> Outcome:
    return attemper("compile", formula, "--alphabet", alphabet, "-o", folder, *options)


@pytest.fixture(scope="module")
def majority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("normalised") / "majority"
    assert compiled(folder, "--layer-norm").code == ExitCode.OK
    return folder


def test_the_options_make_the_network_that_python_makes(tmp_path: Path) -> None:
    ways = {
        ("--lambda", "2^-24", "--eps", "1e-6"): LayerNorm(unit=Fraction(1, 2**24), eps=Fraction(1, 10**6)),
        ("--eps", "0", "--padding", "2^16"): LayerNorm(eps=Fraction(0), padding=Fraction(2**16)),
    }
    for options, how in ways.items():
        compiled(tmp_path, "--layer-norm", *options)
        assert library.load(tmp_path).network == library.compile(MAJORITY, "01", layer_norm=how).network
    compiled(tmp_path, "--rms-norm", "--regime", "decoder")
    how = LayerNorm(is_centred=False)
    model = library.load(tmp_path)
    assert model.network == library.compile(MAJORITY, "01", regime="decoder", layer_norm=how).network


def test_automata_and_programs_are_normalised_too(tmp_path: Path) -> None:
    outcome = attemper("compile", "regex:a*b", "--alphabet", "ab", "--layer-norm", "-o", tmp_path / "ends")
    assert outcome.code == ExitCode.OK
    assert attemper("run", tmp_path / "ends", "aab", "ba").out == "accepted  aab  001\nrejected  ba  10\n"
    text = "alphabet a b\nempty reject\noutput previous(2) in 'a'\n"
    (tmp_path / "two.rasp").write_text(text, encoding="utf-8")
    outcome = attemper("compile", f"program:{tmp_path}/two.rasp", "--layer-norm", "-o", tmp_path / "two")
    assert outcome.code == ExitCode.OK
    assert library.load(tmp_path / "two").positions("aabb") == (False, False, True, True)


def test_show_says_how_a_network_is_normalised(majority: Path) -> None:
    shown = attemper("show", majority).out
    line = "normalisation        layer norm, eps 1e-05; the residual stream holds numbers times 2^-40\n"
    assert line in shown
    assert "position embeddings  1, [i - 1 = 0], (1 + -1*[i - 1 = 0]), (-1)^i\n" in shown
    assert "minus" not in shown
    record = attemper("show", majority, "--json").record
    assert record["normalisation"] in line
    assert record["d_model"] == 20


def test_show_names_the_other_norm_and_other_networks_have_none(tmp_path: Path) -> None:
    compiled(tmp_path, "--rms-norm", "--lambda", "1")
    assert (
        "RMS norm, eps 1e-05; the residual stream holds numbers times 2^0" in attemper("show", tmp_path).out
    )
    compiled(tmp_path)
    assert "normalisation" not in attemper("show", tmp_path).out
    assert attemper("show", tmp_path, "--json").record["normalisation"] is None


def test_words_are_run_traced_and_verified(majority: Path) -> None:
    for options in ([], ["--weights", "hard"], ["--dtype", "float32"]):
        outcome = attemper("run", majority, "0110", "00101", *options)
        assert outcome.out == "accepted  0110  0111\nrejected  00101  00000\n"
    traced = attemper("trace", majority, "0110").out
    assert "layer 1, head 0: Sign, writes sign #<['0'] <= #<['1']\n" in traced
    assert "2  1  .      1.000  .    .      2\n" in traced
    verified = attemper("verify", majority, "--up-to", "6", "--count", "30", "--longest", "150")
    assert "on 156 words up to length 150\nno disagreement (measured, not proved); " in verified.out


@pytest.mark.parametrize("name", ["parity", "since", "dyck-1", "automaton"])
def test_soft_hard_and_exact_meaning_agree(name: str) -> None:
    found = library.verify(BUILDS[name]("temperature", LayerNorm()), up_to=5, count=12, longest=60)
    assert found.disagreement is None


def test_the_last_pass_is_explained(tmp_path: Path) -> None:
    outcome = compiled(tmp_path, "--layer-norm", "--explain", formula="O a", alphabet="ab")
    text = outcome.out[
        outcome.out.index("pass normalise: 1 layers, 1 heads, 10 coordinates, 2 hidden units\n") :
    ]
    for line in (
        "  x7 = minus letter a\n",
        "  h is what each sublayer reads of x: layer norm, eps 1e-05; the residual stream holds numbers",
        "    x3 += 0.00158114 h2(j) - 0.00158114 h7(j)\n",
        "    x6 += -1.81899e-12 relu(1.73848e+09 h3 - 1.73848e+09 h8 - 0.25) + 1.81899e-12 relu(",
    ):
        assert line in text


# What one symbol can change ---------------------------------------------------------------------------


def answers(network: Network) -> list[list[str]]:
    return [[str(head) for head in layer] for layer in one_symbol(network)]


def test_what_is_normalised_depends_on_all_of_its_position() -> None:
    """One symbol changes an average of letters by O(1/n), but not one of what a sharp head stands beside."""
    plain = library.compile("#[a] <= 3", "ab", regime="temperature").network
    average = replace(plain.layers[0], hidden=(), clamps=())
    plain = replace(plain, layers=(*plain.layers, average))
    assert answers(plain) == [["O(1/n)"], ["more: temperature"], ["O(1/n)"]]
    normalised = normalise(plain, LayerNorm())
    assert answers(normalised) == [["O(1/n)"], ["more: temperature"], ["more: what it reads"]]


def test_what_is_normalised_is_bounded() -> None:
    """Of unbounded embeddings nothing grows behind a LayerNorm: logits grow as the temperature says."""
    plain = library.compile("Y a", "ab").network
    assert answers(plain) == [["more: unbounded positions"]]
    assert logit_growth(plain, plain.layers[0].heads[0]) == 1
    normalised = normalise(plain, LayerNorm())
    assert answers(normalised) == [["O(1/n)"]]
    assert logit_growth(normalised, normalised.layers[0].heads[0]) == 0


def test_heads_behind_a_normalisation_without_eps_are_not_decided() -> None:
    how = LayerNorm(eps=Fraction(0), padding=Fraction(2**16))
    assert answers(library.compile(MAJORITY, "01", layer_norm=how).network) == [["UNKNOWN"], ["UNKNOWN"]]


def test_influence_is_measured(majority: Path) -> None:
    outcome = attemper("influence", majority, "--lengths", "4,6")
    assert outcome.code == ExitCode.OK
    capped = attemper("influence", majority, "--lengths", "6", "--logit-range", "n", "--count", "4")
    assert capped.code == ExitCode.OK


# Refusals --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--layer-norm", "--regime", "unbounded"], 4, "no head can single out a position at all lengths"),
        (["--layer-norm", "--eps", "0"], 2, "give a padding, for example 2^16"),
        (["--layer-norm", "--lambda", "3"], 2, "lambda = 3 is not 2^-k with k from 0 to 100: take 2^-40"),
        (["--layer-norm", "--lambda", "2^-x"], 2, "--lambda '2^-x' is no number that can be taken"),
        (["--layer-norm", "--eps", "-1"], 2, "--eps '-1' is no number"),
        (["--layer-norm", "--eps", "1e-9999"], 2, "--eps '1e-9999' is no number"),
        (["--layer-norm", "--eps", "1/0"], 2, "--eps '1/0' is no number"),
        (["--layer-norm", "--padding", "0^-1"], 2, "--padding '0^-1' is no number"),
        (["--layer-norm", "--rms-norm"], 2, "give one of --layer-norm and --rms-norm"),
        (["--lambda", "2^-40"], 2, "--lambda is for a normalised network: give --layer-norm, too"),
        (["--padding", "2^16"], 2, "--padding is for a normalised network"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path: Path, options: list[str], code: int, said: str) -> None:
    outcome = compiled(tmp_path / "model", *options)
    assert outcome.code == code
    assert said in outcome.err
    assert not (tmp_path / "model").exists()


def test_numbers_are_read_exactly() -> None:
    for text, value in (
        ("2^-40", Fraction(1, 2**40)),
        ("2^16", Fraction(65536)),
        ("1e-5", Fraction(1, 100_000)),
        ("1E-5", Fraction(1, 100_000)),
        ("0.001", Fraction(1, 1000)),
        ("3/8", Fraction(3, 8)),
        ("0", Fraction(0)),
    ):
        assert rational(text, "--eps") == value
    for text in ("", "nan", "inf", "x", "-1", "1e999", "1_000", "2^-4000", "2^^3"):
        with pytest.raises(typer.BadParameter, match="is no number"):
            rational(text, "--eps")


def test_refute_asks_for_a_network_without_layer_norm(tmp_path: Path) -> None:
    compiled(tmp_path, "--layer-norm", formula="O (b & Y a)", alphabet="ab")
    outcome = attemper("refute", tmp_path, "zoo:parity-even", "--length", "12")
    assert outcome.code == ExitCode.UNSUPPORTED
    assert "compile it without LayerNorm" in outcome.err
