"""Numbers that are put out, from the command line and from Python."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import PROGRAM, Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.attention_program.wellformed import complaints
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certificates.files import CERTIFIED
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError, SourceError, UndecidedError, UnsupportedError
from attemper.exact.codec import CodecError
from attemper.languages.temporal.reading import At
from attemper.languages.words import words_of_length
from attemper.models.hard.networks import NetworkModel
from attemper.networks.layers import Network
from attemper.running.numbers import read_numbers, show_number
from attemper.workbench.verify import Plan, verify
from tests.support.cli.command_line import attemper as command
from tests.support.oracles.numbers import BIGRAMS, FRACTION, HISTOGRAM, bigrams, fraction, histogram
from tests.support.writers.compared import agree

ORACLES = {HISTOGRAM: histogram, FRACTION: fraction, BIGRAMS: bigrams}
IDS = ("histogram", "fraction", "bigrams")


def compiled(text: str, regime: attemper.workbench.options.RegimeName = "temperature") -> attemper.Model:
    return attemper.compile(attemper.program(parse_program(text)), regime=regime)


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize("text", ORACLES, ids=IDS)
def test_numbers_are_put_out_and_proved(text: str, regime: attemper.workbench.options.RegimeName) -> None:
    model, oracle = compiled(text, regime), ORACLES[text]
    words = ["".join(word) for n in range(1, 6) for word in words_of_length(model.alphabet, n)]
    for weights in ("soft", "hard"):
        for word, run in zip(words, model.run(words, weights=weights), strict=True):
            assert agree(run.outputs, oracle(word)), word
    long = "abbab" * 50
    assert agree(model.output(long), oracle(long))
    certificate = model.certify()
    assert model.check(certificate).status is Status.PROVED
    assert verify(model, Plan(4, 20, 60)).disagreement is None


def test_the_types_of_what_is_put_out() -> None:
    assert compiled(HISTOGRAM).output("abca") == (1, 1, 1, 2)
    assert compiled(FRACTION).output("ab") == (0.0, 0.25)
    (only,) = compiled(BIGRAMS).output("a")
    assert only == {"a": 0.5, "b": 0.5}
    assert [str(run) for run in compiled(HISTOGRAM).run(["aa", ""])] == [
        "<Run aa: 1, 2, margin inf>",
        "<Run (empty): margin inf>",
    ]
    (counted,) = compiled(HISTOGRAM).run(["aa"])
    assert counted.outputs == (1, 2)
    for ask in (lambda: counted.accepted, lambda: counted.bits):
        with pytest.raises(UnsupportedError, match="there is no verdict: an integer is put out"):
            ask()
    assert compiled(FRACTION).output("") == ()


def test_the_module_puts_out_shares_and_a_number_for_each_name() -> None:
    model = compiled(HISTOGRAM)
    found = model.dense()(*model.to_tokens(["aab", "c"]))
    assert found.shape == (2, 3)
    assert torch.allclose(found[0], torch.tensor([1, 1, 1 / 3], dtype=torch.float64))
    model = compiled(BIGRAMS)
    found = model.dense()(*model.to_tokens(["aab", "b"]))
    assert found.shape == (2, 3, 2)
    assert torch.allclose(found[0].sum(dim=-1), torch.ones(3, dtype=torch.float64))


@pytest.mark.parametrize("text", ORACLES, ids=IDS)
def test_numbers_are_no_verdict(text: str) -> None:
    model = compiled(text)
    for asked in (model.accepts, model.positions):
        with pytest.raises(UnsupportedError, match="is put out at every position"):
            asked("ab")
    with pytest.raises(UnsupportedError, match="numbers, not bits"):
        model.language.definition.bits(("a",))
    with pytest.raises(OptionError, match="no verdict"):
        attemper.compile(attemper.program(parse_program(text), empty="accept"))


def test_a_share_that_is_near_no_integer_is_not_read() -> None:
    network: Network = compiled(HISTOGRAM).network
    found = read_numbers(network, [[1.0, 0.9, float("nan"), 0.49]])
    assert found == (1, 2, None, 2)
    assert read_numbers(network, [[0.0, 0.2, -1 / 3]]) == (0, None, -1)
    assert [show_number(one) for one in (None, 3, 0.5, {"a": 1.0})] == ["?", "3", "0.5", "a 1"]
    (rough,) = compiled(HISTOGRAM).run(["a" * 600 + "b" * 600], dtype="bfloat16")
    assert rough.numbers is not None
    assert None in rough.numbers
    with pytest.raises(UndecidedError):
        compiled(HISTOGRAM).output("a" * 600 + "b" * 600, dtype="bfloat16")


def test_integers_that_no_float_holds_are_read_exactly() -> None:
    network: Network = compiled(HISTOGRAM).network
    shares = [float(10**12 - 1)] * 9009
    assert read_numbers(network, [shares])[-1] == 9009 * (10**12 - 1)
    assert read_numbers(network, [[float("inf"), 1e308, -1e308]])[0] is None


def test_verify_shows_a_wrong_word() -> None:
    model = compiled(HISTOGRAM)
    other = compiled(HISTOGRAM.replace("1*s2*s5", "2*s2*s5"))
    wrong = verify(replace(model, network=other.network), Plan(3, 0, 1)).disagreement
    assert wrong is not None
    assert (wrong.word, wrong.position, wrong.expected, wrong.got) == (("c",), 1, 1, 2)
    other = compiled(BIGRAMS.replace("1/3", "1/4").replace("2/3", "3/4"))
    model = compiled(BIGRAMS)
    wrong = verify(replace(model, network=other.network), Plan(3, 0, 1)).disagreement
    assert wrong is not None
    assert wrong.expected == {"a": Fraction(1, 3), "b": Fraction(2, 3)}


# Texts and data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ORACLES, ids=IDS)
def test_texts_and_data_are_read_back(text: str) -> None:
    program = parse_program(text)
    assert show_program(program) == text
    assert PROGRAM.read(json.loads(json.dumps(PROGRAM.encode(program)))) == program


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        ("integer <= 1/2*s0*s3", "a factor that is no integer"),
        ("integer <= 1*s0", "has no count"),
        ("integer < 1*s3", "not put out under the mask"),
        ("integer <= 1*s3*s0", "s3 is a count, a bit is meant"),
        ("integer <= 1*s99", "s99 is not a step"),
        ("integer <=", "expected parts"),
        ("integer <= s3", "is not a part"),
        ("fraction <= 1/0*s3", "expected a fraction such as \"3/2\", in lowest terms, not '1/0'"),
        ('distribution ["a"] 1*s3', "a probability has a count"),
        ('distribution ["a", "a"] 1*s0 ; 0*s0', "distinct names"),
        ('distribution ["a", "b"] 1*s0', "1 numbers are put out"),
        ('distribution {"a": 1} 1*s0', "expected the names"),
        ("distribution 1*s0", "cannot read"),
    ],
)
def test_outputs_that_are_none(output: str, complaint: str) -> None:
    steps = HISTOGRAM[: HISTOGRAM.index("output")]
    with pytest.raises(SourceError, match=complaint):
        parse_program(f"{steps}output {output}\n")


def test_the_output_is_the_first_step_of_the_numbers() -> None:
    program = parse_program(HISTOGRAM)
    other = Program(program.alphabet, program.steps, 1, numbers=program.numbers)
    assert "the first step" in str(complaints(other)[0])


def _numbers(
    *rows: object, measure: str = "integer", mask: object = "<=", names: Sequence[str] = ()
) -> dict[str, Any]:
    return {"measure": measure, "mask": mask, "rows": list(rows), "names": list(names)}


def _part(factor: object, bit: object, count: object) -> dict[str, Any]:
    return {"factor": factor, "bit": bit, "count": count}


WHOLE, SHARE = _part("1", 0, 3), _part("1", 0, None)
NUMBERS = "language.program.numbers"


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ({"measure": "integer", "rows": [[WHOLE]], "names": []}, f"{NUMBERS}: the entry 'mask' is missing"),
        (_numbers([WHOLE], mask="<"), "numbers are not put out under the mask '<'"),
        (_numbers([WHOLE], mask=None), f"{NUMBERS}.mask: expected one of"),
        (_numbers([]), "the output is not the first step that the numbers are made of"),
        (_numbers(), "the output is not the first step that the numbers are made of"),
        (_numbers([WHOLE], [WHOLE]), "2 numbers are put out where one is"),
        (_numbers([_part("2/2", 0, 3)]), f"{NUMBERS}.rows[0][0].factor: expected a fraction"),
        (_numbers([_part("1/2", 0, 3)]), "a factor that is no integer"),
        (_numbers([WHOLE, _part("1", None, None)]), "a part of a number has neither a bit nor a count"),
        (_numbers([{**WHOLE, "more": 4}]), f"{NUMBERS}.rows[0][0]: the entry 'more' is unknown"),
        (_numbers([_part(1, 0, 3)]), f"{NUMBERS}.rows[0][0].factor: expected a fraction"),
        (_numbers("1"), f"{NUMBERS}.rows[0]: expected a list, not '1'"),
        ({**_numbers([WHOLE], measure="fraction"), "more": 1}, f"{NUMBERS}: the entry 'more' is unknown"),
        (_numbers([WHOLE], names=["a"]), "a distribution has distinct names, and nothing else has names"),
        (
            _numbers([SHARE], measure="distribution", names=["a"]),
            "numbers are not put out under the mask '<='",
        ),
        (
            _numbers([SHARE], [], measure="distribution", mask="all", names=["a", "a"]),
            "a distribution has distinct names, and nothing else has names",
        ),
        (
            _numbers([SHARE], measure="distribution", mask="all", names=["a", "b"]),
            "1 numbers are put out where one is, or one for each name",
        ),
        (_numbers([WHOLE], measure="share"), f"{NUMBERS}.measure: expected one of"),
    ],
)
def test_numbers_that_are_none(numbers: object, said: str) -> None:
    program = PROGRAM.encode(parse_program(HISTOGRAM))
    language = ProgramLanguage(parse_program(HISTOGRAM), At.LAST, False)
    data = CERTIFIED.encode(Certificate("", language, (RealClaim(),)))
    assert data["language"] == ["program language", program, "last", False]
    with pytest.raises(CodecError, match=re.escape(said)):
        CERTIFIED.decode(
            {**data, "language": ["program language", {**program, "numbers": numbers}, "last", False]}
        )


# Folders and commands ----------------------------------------------------------------------------


def test_commands_about_integers(tmp_path: Path) -> None:
    file, net = tmp_path / "one.rasp", tmp_path / "net"
    file.write_text("alphabet a b\noutput count[j <= i : symbol(j) = symbol(i)]\n", encoding="utf-8")
    assert command("compile", f"program:{file}", "--regime", "decoder", "-o", net).code == ExitCode.OK
    assert command("run", net, "aab", "").out == "aab  1 2 1\n(empty)  \n"
    assert command("run", net, "aab", "--json").record == {"word": ["a", "a", "b"], "outputs": [1, 2, 1]}
    assert "puts out             an integer at every position: its share" in command("show", net).out
    explained = command("check", net, "--explain").out
    assert "exactly the integer's share" in explained
    assert "[number integer]: an integer's share: what the language says" in explained
    assert "puts out  an integer at every position" in command("show", file).out.splitlines()


def test_hard_attention_with_numbers_has_no_answer() -> None:
    network = compiled(BIGRAMS).network
    with pytest.raises(UnsupportedError, match="numbers at every position, and no verdict"):
        NetworkModel(network, 4, "")


def test_commands_about_distributions(tmp_path: Path) -> None:
    file, net = tmp_path / "one.program", tmp_path / "net"
    file.write_text(BIGRAMS, encoding="utf-8")
    assert command("compile", f"program:{file}", "-o", net).code == ExitCode.OK
    assert command("run", net, "aa").out == "aa\n  1  a 0.5 b 0.5\n  2  a 0.333333 b 0.666667\n"
    assert command("check", net, "--against", f"program:{file}").code == ExitCode.OK
    other = tmp_path / "other.program"
    other.write_text(BIGRAMS.replace("1/3", "1/4").replace("2/3", "3/4"), encoding="utf-8")
    found = command("check", net, "--against", f"program:{other}")
    assert found.code == ExitCode.REFUTED
    assert "a number that is put out for 'aa' at position 2" in " ".join(found.out.split())
    refused = command("compile", f"program:{file}", "--at", "first", "-o", tmp_path / "no")
    assert refused.code == ExitCode.USAGE


@pytest.mark.parametrize("text", ORACLES, ids=IDS)
def test_folders_are_read_back_and_changes_are_seen(text: str, tmp_path: Path) -> None:
    model = compiled(text)
    model.save(tmp_path, certificate=model.certify())
    again = attemper.load(tmp_path)
    assert again.network == model.network
    assert isinstance(again.language.definition, ProgramLanguage)
    structure = json.loads((tmp_path / "network.json").read_text(encoding="utf-8"))
    for output in (0, {"fraction": 0, "over": "future-masked"}, {"integer": 0}, {"distribution": []}, {}):
        changed = json.dumps({**structure, "output": output})
        (tmp_path / "network.json").write_text(changed, encoding="utf-8")
        assert check_path(tmp_path).status is Status.MALFORMED
        assert check_path(tmp_path, edited=True).status is not Status.PROVED
