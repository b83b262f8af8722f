"""Networks in another basis, exported: TransformerLens runs their interventions, and GPT-2 their bits."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from attemper import bench
from attemper.errors import UnsupportedError
from attemper.exports.transformer_lens import load as load_lens
from attemper.theories.causal.certificate import Interchange, Taken

pytestmark = pytest.mark.exports


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench")
    for number in (1, 2, 4, 5):
        bench.made(number, seed=1).save(place / str(number))
    return place


def test_transformer_lens_replays_the_interventions(folder: Path, tmp_path: Path) -> None:
    for case in bench.cases(folder):
        case.rotated.export("transformer-lens", tmp_path / case.name)
        lens = load_lens(tmp_path / case.name)
        for own in case.interventions:
            for said, meant in (
                (own.interchange, own.outcome),
                (Interchange(own.interchange.base, ()), own.clean),
            ):
                found = bits_after(lens, case, said)
                assert found.tolist() == [list(map(bool, row)) for row in meant], (case.name, said)


def bits_after(lens: Any, case: bench.BenchCase, said: Interchange) -> torch.Tensor:
    """What is put out [position, output], where along a variable's directions sources' numbers stand."""
    caches = {word: lens.run_with_cache([list(word)])[1] for word in said.sources}

    def patched(stream: torch.Tensor, hook: Any, taken: Taken) -> torch.Tensor:
        along = case.basis[:, list(case.claim.variables[taken.variable].coordinates)].to(stream.dtype)
        at = taken.position - 1
        there = caches[taken.source][hook.name][0, at]
        stream[0, at] += along @ (along.T @ (there - stream[0, at]))
        return stream

    fwd_hooks = [
        (f"blocks.{case.claim.variables[own.variable].layer}.hook_resid_post", partial(patched, taken=own))
        for own in said.taken
        if isinstance(own, Taken)
    ]
    output = lens.run_with_hooks([list(said.base)], fwd_hooks=fwd_hooks)[0]
    return (output if output.dim() == 2 else output[:, None]) > 0.5


def test_a_stock_gpt2_puts_out_the_same_bits(folder: Path, tmp_path: Path) -> None:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    fitting = 0
    for case in bench.cases(folder):
        place = tmp_path / case.name
        try:
            case.rotated.export("gpt2", place, dtype="float64", positions=64)
        except UnsupportedError:  # of a mask, or of a position's form, that GPT-2 does not have
            continue
        fitting += 1
        stock = transformers.AutoModelForTokenClassification.from_pretrained(place / "token-classification")
        tokens = torch.randint(len(case.model.alphabet.symbols), (50, 64))
        with torch.no_grad():
            labels = stock(tokens).logits.argmax(dim=-1)
            meant = case.model.dense()(tokens) > 0.5
        names = [[stock.config.id2label[label] for label in row] for row in labels.tolist()]
        assert [[name == "accepted" for name in row] for row in names] == meant.tolist()
    assert fitting
