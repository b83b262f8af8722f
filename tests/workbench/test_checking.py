"""attemper.check: any network in memory against any language, with no certificate."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program, parse_steps
from attemper.certificates.claims import FloatClaim, RealClaim
from attemper.certifying.realisations import realisations
from attemper.checker.verdict import Status, Verdict
from attemper.errors import AlphabetError, OptionError, SourceError, UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.networks.layers import Masking
from attemper.running.dense import DenseTransformer
from attemper.workbench.against import programs_of
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests.support.cli.command_line import attemper as run_command_line

MAJORITY = "#<['0'] <= #<['1']"
PARITY = attemper.Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))


@pytest.fixture(scope="module")
def model() -> Model:
    return attemper.compile(MAJORITY, "01")


@pytest.fixture
def module(model: Model) -> DenseTransformer:
    """A module of its own, to be changed."""
    return DenseTransformer(model.network)


def the_claim(verdict: Verdict) -> Any:
    (claim,) = verdict.claims
    return claim


def test_a_model_a_network_and_a_module_are_proved(model: Model, module: DenseTransformer) -> None:
    for network in (model, model.network, module, DenseTransformer(model.network, torch.float32)):
        for language in (MAJORITY, model.language.definition, model):
            verdict = attemper.check(network, language)
            assert the_claim(verdict).text == "all lengths, in real arithmetic"
            assert verdict.status is Status.PROVED


def test_the_same_language_in_other_words_is_proved(model: Model) -> None:
    assert attemper.check(model, "!(#<['1'] < #<['0'])").status is Status.PROVED


def test_another_language_is_refuted_with_a_word(model: Model) -> None:
    verdict = attemper.check(model, "#<['0'] < #<['1']")
    assert (verdict.status, the_claim(verdict).witness) == (Status.REFUTED, ("0", "1"))
    assert attemper.check(model, PARITY).status is Status.REFUTED


def test_an_automaton_is_judged() -> None:
    model = attemper.compile(PARITY)
    assert attemper.check(model, PARITY).status is Status.PROVED
    assert attemper.check(model.dense(), model).status is Status.PROVED


def test_a_text_is_read_where_the_network_is_read() -> None:
    model = attemper.compile("F a", "ab", at="first", empty="accept")
    assert attemper.check(model, "F a").status is Status.PROVED
    assert attemper.check(model, attemper.compile("F a", "ab", at="last")).status is Status.REFUTED


def test_changed_parameters_of_a_module_are_judged(model: Model, module: DenseTransformer) -> None:
    module.blocks[1].mlp.b_in[0] += 1
    verdict = attemper.check(module, model)
    assert (verdict.status, the_claim(verdict).witness) == (Status.REFUTED, ("0",))
    assert attemper.check(model, model).status is Status.PROVED


def test_masks_and_weightings_are_those_with_which_a_module_runs(model: Model) -> None:
    assert attemper.check(model.dense(weights="hard"), model).status is Status.UNKNOWN
    module = DenseTransformer(model.network)
    module.blocks[0].attn.maskings[0] = Masking.PAST
    assert attemper.check(module, model).status is Status.REFUTED


@pytest.mark.parametrize("kind", ["torch", "float32", "bfloat16", "numpy", "big-endian"])
def test_a_state_dict_is_judged(kind: str, model: Model, module: DenseTransformer) -> None:
    ways = {
        "torch": lambda t: t,
        "float32": lambda t: t.float(),
        "bfloat16": lambda t: t.bfloat16(),
        "numpy": lambda t: t.numpy().astype(np.float32),
        "big-endian": lambda t: t.numpy().astype(">f8"),
    }
    tensors = {name: ways[kind](tensor) for name, tensor in module.state_dict().items()}
    for like in (model, model.network):
        assert attemper.check(tensors, model, like=like).status is Status.PROVED
    tensors["embed.W_E"] = tensors["embed.W_E"] * -1
    assert attemper.check(tensors, model, like=model).status is Status.REFUTED


def test_float_claims_are_judged_on_request(model: Model, module: DenseTransformer) -> None:
    claims = model.certify().claims
    assert attemper.check(module, model, claims=claims).status is Status.PROVED
    longer = FloatClaim("float32", "numerator-first", 2_097_152, "")
    verdict = attemper.check(module, model, claims=(RealClaim(), longer))
    assert [claim.status for claim in verdict.claims] == [Status.PROVED, Status.UNKNOWN]
    assert verdict.claims[1].text.endswith("kernels: no proof for sums over so many positions")
    module.blocks[0].attn.W_V.div_(3)
    module.blocks[0].attn.W_O.mul_(3)
    assert {c.status for c in attemper.check(module, model, claims=claims).claims[1:]} == {Status.UNKNOWN}
    assert attemper.check(module, model).status is Status.PROVED


def test_a_weight_that_is_no_float_leaves_floats_unknown(model: Model) -> None:
    """A query of a third: in real arithmetic the head still finds its position."""
    layer = model.network.layers[1]
    (head,) = layer.heads
    third = replace(head, query=tuple(tuple((c, x / Fraction(3)) for c, x in row) for row in head.query))
    network = replace(model.network, layers=(model.network.layers[0], replace(layer, heads=(third,))))
    verdict = attemper.check(network, model, claims=model.certify().claims[:2])
    assert [claim.status for claim in verdict.claims] == [Status.PROVED, Status.UNKNOWN]
    assert "is not exactly a float64" in verdict.claims[1].text


def test_more_values_than_a_head_is_wide_are_unknown(model: Model, module: DenseTransformer) -> None:
    module.blocks[0].attn.W_O[0, 0] += 1
    verdict = attemper.check(module, model)
    assert verdict.status is Status.UNKNOWN
    assert "layer 0, head 0 writes 11 values" in the_claim(verdict).text


def refused(*arguments: Any, **options: Any) -> str:
    with pytest.raises(OptionError) as caught:
        attemper.check(*arguments, **options)
    return str(caught.value)


def test_what_cannot_be_judged_is_refused(model: Model, module: DenseTransformer) -> None:
    tensors = dict(module.state_dict())
    name = "embed.W_E"
    assert "give like=MODEL" in refused(tensors, model)
    assert "like=MODEL is for a state dict" in refused(model, model, like=model)
    assert "network=int cannot be judged" in refused(3, model)
    assert "network=Linear cannot be judged" in refused(torch.nn.Linear(1, 1), model)
    assert "int names no language" in refused(model, 3)
    assert "leaves nothing to judge" in refused(model, model, claims=())
    assert "missing or unexpected tensors: more" in refused(
        tensors | {"more": tensors[name]}, model, like=model
    )
    for wrong, fragment in (
        (tensors[name][:1], "tensor 'embed.W_E' has shape [1, 11], not [2, 11]"),
        (tensors[name].long(), "tensor 'embed.W_E' holds torch.int64, not floats"),
        (np.zeros((2, 11), dtype=int), "tensor 'embed.W_E' holds int64, not floats"),
        (np.zeros((2, 11), dtype=np.longdouble), "not floats of at most 64 bits"),
        (tensors[name] * torch.nan, "tensor 'embed.W_E' has a number that is not finite"),
    ):
        assert fragment in refused(tensors | {name: wrong}, model, like=model)
    with pytest.raises(SourceError):
        attemper.check(model, "O 2")


def test_a_module_of_another_class_or_depth_is_refused(model: Model, module: DenseTransformer) -> None:
    class Subclass(DenseTransformer):
        """Whatever its forward does, its network does not say."""

    assert "network=Subclass cannot be judged" in refused(Subclass(model.network), model)
    module.blocks = module.blocks[:1]
    assert "the module has 1 blocks, its network 2 layers" in refused(module, model)


def test_a_network_that_is_not_well_formed_is_refused(model: Model) -> None:
    assert "output coordinate 99 does not exist" in refused(replace(model.network, output=99), model)


# Programs --------------------------------------------------------------------------------------------

EVER = """alphabet ["0", "1"]
s0 = letter ["1"]
s1 = attend <= rightmost where s0 value s0
output s1
"""


def test_a_network_is_judged_against_a_program() -> None:
    model = attemper.compile("O '1'", "01")
    program = parse_program(EVER)
    for network in (model, model.network, model.dense()):
        for language in (program, ProgramLanguage(program, At.LAST, accepts_empty=False)):
            verdict = attemper.check(network, language)
            assert verdict.status is Status.PROVED
            assert verdict.subject is not None
            assert verdict.subject.language is not None
            assert verdict.subject.language.startswith("an attention program of 2 steps: s0 = letter")
    other = replace(program, output=0)
    verdict = attemper.check(model, other)
    assert (verdict.status, the_claim(verdict).witness) == (Status.REFUTED, ("1", "0"))
    claims = (RealClaim(), FloatClaim("float32", "numerator-first", 1_000, ""))
    assert attemper.check(model, program, claims=claims).status is Status.PROVED


def test_a_program_is_read_where_the_network_is_read() -> None:
    model = attemper.compile("F '1'", "01", at="first", empty="accept")
    until = parse_program(EVER.replace("<= rightmost", ">= leftmost"))
    assert attemper.check(model, until).status is Status.PROVED
    elsewhere = ProgramLanguage(until, At.LAST, accepts_empty=True)
    assert attemper.check(model, elsewhere).status is Status.REFUTED


def test_changed_weights_are_judged_against_a_program() -> None:
    module = DenseTransformer(attemper.compile("O '1'", "01").network)
    module.blocks[0].mlp.b_in[0] += 1
    assert attemper.check(module, parse_program(EVER)).status is Status.REFUTED


def test_a_model_of_a_program_is_a_language() -> None:
    model = attemper.compile("O '1'", "01")
    program = ProgramLanguage(parse_program(EVER), At.LAST, accepts_empty=False)
    running = replace(model, language=Language(program, model.alphabet))
    assert attemper.check(model, running).status is Status.PROVED
    assert running.check(running.certify()).status is Status.PROVED
    assert running.title == "an attention program of 2 steps"
    assert running.source.kind == "program"


def test_a_program_with_defaults_is_judged_by_what_it_says() -> None:
    """Where no 1 has been, 0: the definition says so, and a head reads a 0 all the same."""
    model = attemper.compile("O '1'", "01")
    for default, status in (("default 0", Status.PROVED), ("default 1", Status.REFUTED)):
        program = parse_program(EVER.replace("value s0", f"value s0 {default}"))
        assert attemper.check(model, program).status is status


def test_a_program_that_no_machine_runs_is_refused() -> None:
    model = attemper.compile("O '1'", "01")
    late = parse_steps(EVER.replace("value s0", "value s7"))
    assert "this is not a well-formed program: s1: s7 is not an earlier step" in refused(model, late)
    default = parse_steps(EVER.replace("value s0", "value s0 default 1"))
    with pytest.raises(UnsupportedError, match="s1 has a default"):
        attemper.check(model, model, program=default)


def test_a_saved_model_of_a_program_is_loaded(tmp_path: Path) -> None:
    model = attemper.compile("O '1'", "01")
    program = ProgramLanguage(parse_program(EVER), At.LAST, accepts_empty=False)
    running = replace(model, language=Language(program, model.alphabet))
    running.save(tmp_path)
    loaded = attemper.load(tmp_path)
    assert (loaded.language.definition, loaded.source.text) == (program, EVER)
    assert loaded.check(loaded.certify()).status is Status.PROVED
    assert loaded.accepts("010")


def test_what_an_automaton_s_network_runs_is_found_if_nobody_says() -> None:
    """From its weights; and where these are not read, by compiling the automaton again, in every way."""
    dfa = attemper.regex("a*b", Alphabet(("a", "b")))
    for regime in ("unbounded", "decoder"):
        model = attemper.compile(dfa, regime=regime)  # type: ignore[arg-type]
        assert attemper.check(model.network, dfa).status is Status.PROVED
        assert attemper.check(DenseTransformer(model.network), dfa).status is Status.PROVED
    other = attemper.compile("b & !Y O b", "ab")
    assert attemper.check(other, dfa).status is Status.PROVED
    assert attemper.check(other, "regex:a*b|bb").witness == ("b", "b")
    first = replace(other.network, reads_first=True)
    assert list(programs_of(first, dfa.definition)) == list(realisations(first, dfa.definition))


def test_what_is_found_says_what_the_command_prints(tmp_path: Path) -> None:
    model = attemper.compile("#<['0'] <= #<['1']", "01")
    found = attemper.check(model)
    assert (found.status, found.exit_code, found.witness) == (Status.PROVED, 0, None)
    assert str(found).splitlines()[0] == "PROVED: all lengths, in real arithmetic"
    assert repr(found) == "<Checked: PROVED>"
    with pytest.raises(TypeError, match="look at its status"):
        bool(found)
    model.save(tmp_path, certificate=model.certify())
    for judged in (attemper.check(tmp_path), attemper.check(str(tmp_path), edited=True)):
        shown = run_command_line("check", tmp_path)
        assert shown.out == f"{judged}\n"
        assert run_command_line("check", tmp_path, "--json").record == judged.record
    assert str(judged).splitlines()[1] == (
        "PROVED: lengths up to 1,099,511,627,776 in float64, 2,097,151 in float32, 1,817,678 in bfloat16"
    )
    claims = (RealClaim(), FloatClaim("float32", "scan", 10, ""), FloatClaim("float32", "scan", 10**15, ""))
    mixed = attemper.check(tmp_path, model, claims=claims)
    assert [line.split(":")[0] for line in str(mixed).splitlines()[:4]] == [
        *("UNKNOWN", "PROVED", "UNKNOWN", "PROVED"),
    ]


def test_nothing_is_proved_to_length_0() -> None:
    model = attemper.compile("O '1'", "01")
    claims = tuple(FloatClaim(name, "numerator-first", 9 * (name != "bfloat16"), "") for name in FORMATS)
    assert str(attemper.check(model, claims=claims)).splitlines()[0] == (
        "PROVED: lengths up to 9 in float64, 9 in float32; nothing is proved in bfloat16"
    )
    nothing = attemper.check(model, claims=claims[-1:])
    assert str(nothing).splitlines()[:2] == ["UNKNOWN", "nothing is proved in bfloat16"]


def test_what_lies_on_disk_has_options_of_its_own(tmp_path: Path) -> None:
    model = attemper.compile("O '1'", "01")
    model.save(tmp_path / "net", certificate=model.certify())
    for options in ({"like": model}, {"claims": (RealClaim(),)}, {"program": model}):
        with pytest.raises(OptionError):
            attemper.check(tmp_path / "net", **options)
    for options in ({"edited": True}, {"model": "net"}):
        with pytest.raises(OptionError, match="on disk"):
            attemper.check(model, **options)
    with pytest.raises(OptionError, match="does not say what it is to compute"):
        attemper.check(model.network)
    assert attemper.check(model.network, "O '1'").status is Status.PROVED
    assert attemper.check(tmp_path / "net", "O '1'", claims=model.certify().claims).status is Status.PROVED
    with pytest.raises(AlphabetError, match=r"the network reads \{0 1\} in this order"):
        attemper.check(model, attemper.formula("O a", "ab"))
