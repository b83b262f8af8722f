"""Counter machines in a stock GPT-2: `generate`, with its cache, writes the run and ends where that does."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.languages.machines.meaning import run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.syntax import CounterMachine
from tests.support.drawn.counter_machines import collatz, fibonacci, squares

pytestmark = pytest.mark.exports

LONG, SHORT = 1_000, 64

MACHINES: dict[str, tuple[CounterMachine, tuple[str, ...]]] = {
    "collatz": (collatz(3, 1), ("n10",) * 2 + ("n1",) * 7 + ("start",)),
    "fibonacci": (fibonacci(1, 1), ("a1", "b1", "start")),
    "squares": (squares(1), ("start",)),
}


BY_ONES = {
    "back and forth": "input one n; down: sub n -> up else up; up: add n -> down",
    "doubling": """
        input one n
        take:  sub n -> give else move
        give:  add m 2 -> take
        move:  sub m -> back else take
        back:  add n -> move""",
    "fibonacci": """
        input one a
        split: sub a -> keep else move
        keep:  add c -> copy
        copy:  add d -> split
        move:  sub b -> sum else next
        sum:   add c -> move
        next:  sub c -> new else back
        new:   add b -> next
        back:  sub d -> old else split
        old:   add a -> back""",
}
"""Of inputs of 1 alone the counts are small enough for float32."""


def written(folder: Path, dtype: str, prompt: tuple[str, ...], most: int) -> list[str]:
    """What GPT-2 writes behind a prompt, with its cache."""
    import torch
    from transformers import AutoTokenizer, GPT2LMHeadModel

    model: Any = GPT2LMHeadModel.from_pretrained(folder, dtype=getattr(torch, dtype))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    read = tokenizer(" ".join(prompt), return_tensors="pt")
    ids = model.generate(**read, do_sample=False, max_new_tokens=most, use_cache=True)[0].tolist()
    return list(tokenizer.convert_ids_to_tokens(ids[len(prompt) :]))


@pytest.mark.parametrize("name", MACHINES)
def test_gpt2_writes_what_the_machine_writes(name: str, tmp_path: Path) -> None:
    machine, prompt = MACHINES[name]
    model = attemper.compile(machine, regime="unbounded")
    model.export("gpt2", tmp_path / "out", positions=LONG + 100)
    assert written(tmp_path / "out", "float64", prompt, LONG) == list(islice(run(machine, prompt), LONG))


@pytest.mark.parametrize("name", ["fibonacci", "squares"])
def test_gpt2_in_float32_as_far_as_the_export_goes(name: str, tmp_path: Path) -> None:
    """Scores of signs grow with i, so that the export refuses more positions in float32."""
    machine, prompt = MACHINES[name]
    model = attemper.compile(machine, regime="unbounded")
    with pytest.raises(UnsupportedError, match="float64 reads better"):
        model.export("gpt2", tmp_path / "out", dtype="float32", positions=LONG)
    model.export("gpt2", tmp_path / "out", dtype="float32", positions=SHORT)
    most = SHORT - len(prompt)
    assert written(tmp_path / "out", "float32", prompt, most) == list(islice(run(machine, prompt), most))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BY_ONES)
def test_gpt2_in_both_formats_writes_for_long_what_counts_by_ones(
    name: str, dtype: str, tmp_path: Path
) -> None:
    machine, prompt = parse_machine(BY_ONES[name]), ("one", "start")
    attemper.compile(machine, regime="unbounded").export(
        "gpt2", tmp_path / "out", dtype=dtype, positions=LONG + 10
    )
    assert written(tmp_path / "out", dtype, prompt, LONG) == list(islice(run(machine, prompt), LONG))


def test_gpt2_ends_where_the_machine_halts(tmp_path: Path) -> None:
    machine, _ = MACHINES["collatz"]
    attemper.compile(machine, regime="unbounded").export("gpt2", tmp_path / "out", positions=512)
    prompt = ("n1",) * 3 + ("start",)
    wanted = list(run(machine, prompt))
    assert written(tmp_path / "out", "float64", prompt, 500) == [*wanted, "none"]
    assert "ends at `none`" in (tmp_path / "out" / "README.md").read_text()


def test_a_decoder_is_refused_with_the_regime_that_fits(tmp_path: Path) -> None:
    model = attemper.compile(MACHINES["squares"][0], regime="decoder")
    with pytest.raises(UnsupportedError, match="unbounded"):
        model.export("gpt2", tmp_path / "out", positions=512)
