"""attemper check --edited: the verdict says what changed weights do, with a word if they do harm."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from attemper.certificates.files import CERTIFICATE
from attemper.networks.files import WEIGHTS
from tests.support.cli.command_line import Outcome, attemper

MAJORITY = "#<['0'] <= #<['1']"

Tensors = dict[str, torch.Tensor]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("edited") / "majority"
    assert attemper("compile", MAJORITY, "--alphabet", "01", "-o", folder).code == 0
    return folder


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    """A copy of the network, to be changed."""
    return Path(shutil.copytree(original, tmp_path / "majority"))


def change(folder: Path, edit: Callable[[Tensors], object]) -> None:
    """Change the weights as people do: with the safetensors library."""
    tensors = safetensors.torch.load_file(folder / WEIGHTS)
    edit(tensors)
    safetensors.torch.save_file(tensors, folder / WEIGHTS)


def add(name: str, index: tuple[int, ...], amount: float) -> Callable[[Tensors], object]:
    def edit(tensors: Tensors) -> None:
        tensors[name][index] += amount

    return edit


def times(name: str, factor: float) -> Callable[[Tensors], object]:
    return lambda tensors: tensors[name].mul_(factor)


def judged(folder: Path, *options: str) -> Outcome:
    outcome = attemper("check", folder, "--edited", *options)
    assert outcome.err == ""
    return outcome


def test_what_nobody_changed_is_proved_as_before(folder: Path) -> None:
    assert judged(folder).out == attemper("check", folder).out


@pytest.mark.sweep(0)
def test_weights_that_only_went_through_the_library_are_proved(folder: Path) -> None:
    before = attemper("check", folder).out
    change(folder, lambda tensors: None)
    assert attemper("check", folder).code == 6
    after = judged(folder)
    assert (after.code, claims_in(after.out)) == (0, claims_in(before))


def claims_in(out: str) -> list[str]:
    """The lines of a verdict without those that say of what: the digest is that of the changed files."""
    subject = ("  language: ", "  network: ", "  digest: ")
    return [line for line in out.splitlines() if not line.startswith(subject)]


HARMFUL = {
    "a bias": (add("blocks.1.mlp.b_in", (0,), 1), "0"),
    "an embedding": (add("embed.W_E", (0, 4), 1), None),
    "a query turned": (times("blocks.1.attn.W_Q", -1), None),
    "a value turned": (times("blocks.0.attn.W_V", -1), None),
    "a value a tenth larger": (lambda t: t["blocks.0.attn.W_V"][0, 4, 0].mul_(1.1), None),
    "a head ablated": (times("blocks.1.attn.W_O", 0), None),
    "a head written elsewhere": (add("blocks.1.attn.W_O", (0, 0, 1), 1), None),
    "a unit that writes more": (add("blocks.1.mlp.W_out", (0, 1), 1), None),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", HARMFUL)
def test_a_harmful_change_is_refuted_with_a_word(name: str, folder: Path) -> None:
    edit, word = HARMFUL[name]
    change(folder, edit)
    outcome = judged(folder, "--json")
    (claim,) = outcome.record["claims"]
    assert (outcome.code, claim["status"]) == (10, "REFUTED"), claim
    assert word is None or claim["witness"] == list(word)
    shown = judged(folder).out
    assert shown.startswith("REFUTED: ")
    assert f"'{''.join(claim['witness'])}'" in shown


def test_an_output_far_from_its_bit_is_shown_with_its_position(folder: Path) -> None:
    """The verdict is still on the right side of 1/2; the claim says within 1/4."""
    change(folder, add("blocks.1.mlp.W_out", (0, 1), 0.625))
    (claim,) = judged(folder, "--json").record["claims"]
    assert claim["status"] == "REFUTED"
    assert "the output for '1' at position 1 is 1." in claim["text"]
    assert ", not 1, in real arithmetic" in claim["text"]


HARMLESS = {
    "a query twice as large": times("blocks.1.attn.W_Q", 2),
    "half the value, twice the output": lambda t: (
        t["blocks.0.attn.W_V"].mul_(0.5),
        t["blocks.0.attn.W_O"].mul_(2),
    ),
    "in float32": lambda t: t.update({name: tensor.float() for name, tensor in t.items()}),
    "in bfloat16": lambda t: t.update({name: tensor.bfloat16() for name, tensor in t.items()}),
}


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", HARMLESS)
def test_a_harmless_change_is_proved(name: str, folder: Path) -> None:
    change(folder, HARMLESS[name])
    (real, *floats) = judged(folder, "--json").record["claims"]
    assert real["status"] == "PROVED"
    if "query" not in name:
        assert [claim["status"] for claim in floats] == ["PROVED"] * 9


def test_a_factor_that_rounds_leaves_floats_unknown(folder: Path) -> None:
    change(folder, times("blocks.0.attn.W_V", 1 / 3))
    change(folder, times("blocks.0.attn.W_O", 3))
    outcome = judged(folder, "--json")
    real, *floats = outcome.record["claims"]
    assert (outcome.code, real["status"]) == (12, "PROVED")
    assert {claim["status"] for claim in floats} == {"UNKNOWN"}
    assert all("layer 0, head 0 multiplies value 0 by 3.0, which rounds it" in c["text"] for c in floats)
    ignoring = judged(folder, "--ignore-rounding", "--json").record["claims"]
    assert {claim["status"] for claim in ignoring[1:]} == {"PROVED_UNDER_ASSUMPTIONS"}


def test_a_head_that_writes_too_much_is_unknown(folder: Path) -> None:
    change(folder, lambda tensors: tensors["blocks.1.attn.W_O"][0, 0].fill_(1))
    outcome = judged(folder)
    assert outcome.code == 12
    assert "layer 1, head 0 writes 11 values, more than its width 4" in outcome.out


def test_a_weight_where_the_network_has_none_is_malformed(folder: Path) -> None:
    change(folder, add("blocks.0.attn.W_Q", (0, 0, 0), 1))
    outcome = judged(folder)
    assert outcome.code == 6
    assert "head 0 uses 0 of its rows" in outcome.out


@pytest.mark.parametrize("name", [CERTIFICATE, WEIGHTS])
def test_a_missing_file_is_malformed(name: str, folder: Path) -> None:
    (folder / name).unlink()
    outcome = judged(folder)
    assert outcome.code == 6
    assert f"there is no '{folder / name}'" in outcome.out


def test_the_weights_as_they_were_are_not_judged(folder: Path) -> None:
    """A head of half the lead: the claim in real arithmetic is still true."""
    change(folder, times("blocks.1.attn.W_Q", 0.5))
    assert judged(folder, "--json").record["claims"][0]["status"] == "PROVED"


def test_claims_of_nothing_are_malformed(folder: Path) -> None:
    path = folder / CERTIFICATE
    before = path.read_text(encoding="utf-8")
    start, end = before.index('"claims": ['), before.index('"program"')
    path.write_text(before[:start] + '"claims": [], ' + before[end:], encoding="utf-8")
    assert claims_in(judged(folder).out) == ["MALFORMED: the certificate claims nothing"]


def test_a_refutation_cannot_be_edited(folder: Path) -> None:
    outcome = attemper("check", folder / WEIGHTS, "--edited")
    assert outcome.code == 2
    assert "not about a refutation" in outcome.err
