"""Attention programs from their text to a certified network: bits, and symbols at every position."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import attemper
from attemper.attention_program.ops import PROGRAM, Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.attention_program.wellformed import complaints
from attemper.checker import proof
from attemper.checker.names import UnprovenError
from attemper.compiling.pipeline import compile_language
from attemper.errors import ExitCode, OptionError, SourceError, UnsupportedError
from attemper.languages.words import words_of_length
from attemper.networks.files import STRUCTURE
from attemper.networks.regime import Regime
from attemper.workbench.folder import load
from tests.support.cli.command_line import attemper as command

FAR = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = previous s0 default 0
s3 = previous s1 default 0
s4 = attend <= rightmost where s0:s2 s1:s3 value s0 default 1
s5 = previous 3 s4 default 1
output s5
"""
"""Three positions before: whether, at the rightmost position behind a symbol like this one, stands an a."""

INDUCTION = """alphabet ["a", "b", "c"]
s0 = letter ["a"]
s1 = letter ["b"]
s2 = letter ["c"]
s3 = previous s0 default 0
s4 = previous s1 default 0
s5 = previous s2 default 0
s6 = attend < rightmost where s0:s3 s1:s4 s2:s5 value s0 default 0
s7 = attend < rightmost where s0:s3 s1:s4 s2:s5 value s1 default 0
s8 = attend < rightmost where s0:s3 s1:s4 s2:s5 value s2 default 0
s9 = or s6 s7 s8
s10 = not s9
output ["a", "b", "c", "none"] s6 s7 s8 s10
"""


def far(word: str) -> list[bool]:
    """What FAR means, in other words."""
    found = []
    for i in range(len(word)):
        if i < 3:
            found.append(True)
            continue
        behind = [j for j in range(1, i - 2) if word[j - 1] == word[i - 3]]
        found.append(word[behind[-1]] == "a" if behind else True)
    return found


def induction(word: str) -> tuple[str, ...]:
    """At every position: what came after the last time that this symbol stood before."""
    found = []
    for i, symbol in enumerate(word):
        before = word.rfind(symbol, 0, max(i - 1, 0))
        found.append(word[before + 1] if before >= 0 else "none")
    return tuple(found)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_a_program_is_compiled_right_and_proved(regime: attemper.workbench.options.RegimeName) -> None:
    model = attemper.compile(attemper.program(parse_program(FAR)), regime=regime)
    words = ["".join(word) for n in range(1, 8) for word in words_of_length(model.alphabet, n)]
    for weights in ("soft", "hard"):
        for word, run in zip(words, model.run(words, weights=weights), strict=True):
            assert list(run.bits) == far(word), word
    assert model.check(model.certify()).status.value == "PROVED"


@pytest.mark.sweep(0)
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_an_induction_head_puts_out_symbols(regime: attemper.workbench.options.RegimeName) -> None:
    model = attemper.compile(attemper.program(parse_program(INDUCTION)), regime=regime)
    assert len(model.network.layers) == 2
    words = ["".join(word) for n in range(1, 6) for word in words_of_length(model.alphabet, n)]
    for word, run in zip(words, model.run(words), strict=True):
        assert run.outputs == induction(word), word
    assert model.output("abcab" * 40) == induction("abcab" * 40)
    assert model.check(model.certify()).status.value == "PROVED"


def test_the_module_puts_out_one_number_for_each_symbol() -> None:
    model = attemper.compile(attemper.program(parse_program(INDUCTION)))
    tokens, lengths = model.to_tokens(["abab", "c"])
    found = model.dense()(tokens, lengths)
    assert found.shape == (2, 4, 4)
    names = [name for name, _ in model.network.symbols]
    assert tuple(names[k] for k in found[0].argmax(dim=-1)) == induction("abab")
    assert torch.equal(found[0].round(), torch.nn.functional.one_hot(found[0].argmax(dim=-1), 4).double())


def test_a_symbol_is_no_verdict() -> None:
    model = attemper.compile(attemper.program(parse_program(INDUCTION)))
    with pytest.raises(UnsupportedError, match="a symbol is put out"):
        model.accepts("ab")
    assert model.output("") == ()
    with pytest.raises(OptionError, match="no verdict"):
        attemper.compile(attemper.program(parse_program(INDUCTION), at="first"))


@pytest.mark.parametrize("text", [FAR, INDUCTION])
def test_texts_and_data_are_read_back(text: str) -> None:
    program = parse_program(text)
    assert show_program(program) == text
    assert PROGRAM.read(PROGRAM.encode(program)) == program


@pytest.mark.parametrize(
    ("output", "complaint"),
    [
        ('["x", "x"] s0 s1', "an output symbol has two bits"),
        ('["x", "y"] s0 s99', "the output s99 is not a step"),
        ('["x", "y"] s0', "as many bits"),
        ('["x", 3] s0 s1', "as many bits"),
        ("[] ", "as many bits"),
    ],
)
def test_outputs_that_are_none(output: str, complaint: str) -> None:
    text = INDUCTION.replace('["a", "b", "c", "none"] s6 s7 s8 s10', output)
    with pytest.raises(SourceError, match=complaint):
        parse_program(text)


def test_an_output_that_is_not_the_first_symbols() -> None:
    program = parse_program(INDUCTION)
    other = Program(program.alphabet, program.steps, 7, program.symbols)
    assert [str(one) for one in complaints(other)] == ["the output is not the bit of the first symbol"]


@pytest.mark.parametrize(
    "changed",
    [
        INDUCTION.replace("s6 s7 s8 s10", "s6 s7 s8 s9"),  # sometimes two, sometimes none
        INDUCTION.replace('["a", "b", "c", "none"] s6 s7 s8 s10', '["a", "b", "c"] s6 s7 s8'),
    ],
)
def test_what_is_not_exactly_one_symbol_is_not_proved(changed: str) -> None:
    model = attemper.compile(attemper.program(parse_program(changed)))
    with pytest.raises(UnsupportedError, match="not exactly one symbol"):
        model.language.definition.rows(("a", "b", "a"))
    with pytest.raises(attemper.AttemperError, match="not seen to be exactly one symbol"):
        model.certify()


def test_other_symbols_are_another_language() -> None:
    model = attemper.compile(attemper.program(parse_program(INDUCTION)))
    renamed = attemper.compile(attemper.program(parse_program(INDUCTION.replace('"none"', '"nothing"'))))
    swapped = attemper.compile(attemper.program(parse_program(INDUCTION.replace("s6 s7 s8", "s7 s6 s8"))))
    bit = attemper.compile(
        attemper.program(parse_program(INDUCTION.replace('["a", "b", "c", "none"] s6 s7 s8 s10', "s6")))
    )
    for other in (renamed, swapped, bit):
        with pytest.raises(UnprovenError):
            proof.prove(model.network, other.language.definition)
        with pytest.raises(UnprovenError):
            proof.prove(other.network, model.language.definition)


def test_two_cases_in_force_are_not_proved() -> None:
    text = """alphabet ["a", "b"]
s0 = letter ["a"]
s1 = letter ["a", "b"]
s2 = attend <= rightmost where s0:s0 s1:s1 value s0 default 0
output s2
"""
    language = attemper.program(parse_program(text)).definition
    network = compile_language(language, parse_program(text).alphabet, Regime.UNBOUNDED).soft
    with pytest.raises(UnsupportedError, match="two cases"):
        language.bits(("a",))
    with pytest.raises(UnprovenError, match="two cases"):
        proof.prove(network, language)


def test_commands_on_a_program(tmp_path: Path) -> None:
    text, folder = tmp_path / "far.program", tmp_path / "far"
    text.write_text(FAR)
    made = command("compile", f"program:{text}", "-o", folder, "--regime", "decoder", "--json")
    assert (made.code, made.record["layers"]) == (ExitCode.OK, 3)
    assert made.record["horizons"][0]["horizon"] > 1000
    assert command("check", folder).code == ExitCode.OK
    assert command("check", folder, "--against", f"program:{text}").code == ExitCode.OK
    assert command("verify", folder, "--up-to", "4", "--count", "8", "--longest", "20").code == ExitCode.OK
    assert command("run", folder, "abba", "--json").record["positions"] == [int(bit) for bit in far("abba")]
    assert "s5 = previous 3 s4 default 1" in command("trace", folder, "abba").out
    assert "s4 = attend <= rightmost where" in command("check", folder, "--explain").out
    other = tmp_path / "other.program"
    other.write_text(FAR.replace("default 1\noutput", "default 0\noutput"))
    assert command("check", folder, "--against", f"program:{other}").code == ExitCode.REFUTED


@pytest.mark.sweep(0)
def test_commands_on_symbols(tmp_path: Path) -> None:
    text, folder = tmp_path / "induction.program", tmp_path / "induction"
    text.write_text(INDUCTION)
    assert command("compile", f"program:{text}", "-o", folder).code == ExitCode.OK
    assert command("run", folder, "abcab", "cc").out.splitlines() == [
        "abcab  none none none b c",
        "cc  none none",
    ]
    assert command("run", folder, "abab", "--json").record["outputs"] == list(induction("abab"))
    assert "puts out             one of a b c none at every position" in command("show", folder).out
    assert command("verify", folder, "--up-to", "4", "--count", "8", "--longest", "20").code == ExitCode.OK
    assert command("check", folder).code == ExitCode.OK
    assert '"output": [\n  [\n   "a",' in (folder / STRUCTURE).read_text()
    assert load(folder).output("abab") == induction("abab")
    refused = command("refute", folder, "regex:a*", "--alphabet", "a b c", "--length", "8")
    assert (refused.code, "puts out a symbol" in refused.err) == (ExitCode.UNSUPPORTED, True)
    assert command("compile", f"program:{text}", "-o", folder, "--at", "last").code == ExitCode.USAGE


def test_what_commands_refuse(tmp_path: Path) -> None:
    text = tmp_path / "ahead.program"
    text.write_text('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = next 2 s0 default 0\noutput s1\n')
    ahead = command("compile", f"program:{text}", "-o", tmp_path / "x", "--regime", "decoder")
    assert (ahead.code, "next s0 default 0" in ahead.err) == (ExitCode.UNSUPPORTED, True)
    assert (
        command("compile", f"program:{text}", "-o", tmp_path / "x", "--alphabet", "ab").code == ExitCode.USAGE
    )
    assert command("compile", "O a", f"program:{text}", "-o", tmp_path / "x").code == ExitCode.USAGE
    text.write_text('alphabet ["a", "b"]\ns0 = lettr ["a"]\noutput s0\n')
    wrong = command("compile", f"program:{text}", "-o", tmp_path / "x")
    assert (wrong.code, "unknown step" in wrong.err) == (ExitCode.SOURCE, True)
