"""From a Hugging Face folder back to the network: the same digest, or a refusal, without the libraries."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import attemper
from attemper import Model
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.exports.hugging_face_files import (
    PREFIX,
)
from attemper.exports.restoring import read_hugging_face
from attemper.exports.subject import Exported
from attemper.networks.safetensors import encode_tensors
from tests.support.cli.command_line import attemper as run_command_line
from tests.support.mutants.exported_folders import (
    exported_config,
    in_float32,
    subject_of,
    weights_of,
    write,
)
from tests.support.mutants.saved import with_number

MODELS: dict[str, Callable[[], Model]] = {
    "decoder": lambda: attemper.compile("Y 'a' & O 'b'", "ab", regime="decoder"),
    "temperature": lambda: attemper.compile("'a' U 'b'", "ab", regime="temperature", at="first"),
    "counts": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "layer norm": lambda: attemper.compile(
        "O 'a'", "ab", regime="temperature", layer_norm=attemper.LayerNorm()
    ),
    "symbols": lambda: attemper.compile("zoo:copy-previous-symbol"),
    "long symbols": lambda: attemper.compile("O push", "push pop"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_restored_is_the_same_network_and_is_proved(name: str, tmp_path: Path) -> None:
    subject = subject_of(MODELS[name]())
    folder = write(tmp_path / "exported", exported_config(subject), encode_tensors(weights_of(subject)))
    found = read_hugging_face(folder)
    assert found == subject
    subject.save(tmp_path / "own")
    found.save(tmp_path / "restored")
    for file in ("network.json", "weights.safetensors", "certificate.json"):
        assert (tmp_path / "restored" / file).read_bytes() == (tmp_path / "own" / file).read_bytes()
    assert check_path(tmp_path / "restored").status is Status.PROVED


def test_a_network_itself_is_no_export_and_nothing_of_it_is_to_be_removed(tmp_path: Path) -> None:
    attemper.compile("O a", "ab").save(tmp_path / "once")
    outcome = run_command_line("import", tmp_path / "once", "-o", tmp_path / "back")
    assert outcome.code == 6
    assert f"'{tmp_path / 'once'}' is a network of attemper already" in outcome.err
    assert "remove" not in outcome.err


def test_a_network_without_a_certificate_is_restored_without_one(since: Exported, tmp_path: Path) -> None:
    bare = replace(since, certificate=None)
    assert read_hugging_face(write(tmp_path, exported_config(bare), encode_tensors(weights_of(bare)))) == bare


def test_weights_that_float32_holds_are_restored_from_float32(since: Exported, tmp_path: Path) -> None:
    found = read_hugging_face(
        write(tmp_path, exported_config(since, "float32"), in_float32(weights_of(since)))
    )
    assert found == since


def test_the_command_restores_a_folder_that_is_proved(since: Exported, tmp_path: Path) -> None:
    write(tmp_path / "exported", exported_config(since), encode_tensors(weights_of(since)))
    back = tmp_path / "back"
    found = run_command_line("import", tmp_path / "exported", "-o", back)
    assert (found.code, found.err) == (0, "")
    assert found.out == f"restored !c S b to {back}; 'attemper check {back}' says what is proved\n"
    checked = run_command_line("check", back)
    assert (checked.code, checked.out.partition(":")[0]) == (0, "PROVED")


def test_what_was_exported_as_another_kind_is_said_with_what_helps(since: Exported, tmp_path: Path) -> None:
    since.save(tmp_path / "gpt2" / "network")
    for name in ("since.onnx", "since.pt2", "since.json"):
        (tmp_path / name).write_text("")
    for name, said in {
        "gpt2": f"the network itself stands in '{tmp_path / 'gpt2' / 'network'}'",
        "since.onnx": "was exported as onnx",
        "since.pt2": "was exported as torch",
        "since.json": "was exported as circuit",
    }.items():
        found = run_command_line("import", tmp_path / name, "-o", tmp_path / "back")
        assert (found.code, found.out) == (4, "")
        assert said in found.err
    assert run_command_line("import", tmp_path / "nowhere", "-o", tmp_path / "back").code == 6
    assert not (tmp_path / "back").exists()


@pytest.mark.parametrize(
    ("arguments", "now"),
    [
        (("export", "circuit", "majority", "-o", "x.json"), "write attemper export DIR KIND -o OUT"),
        (("export", "gpt2", "nets/a", "--json", "-o", "x"), "write attemper export DIR KIND -o OUT"),
        (("import", "hugging-face", "majority", "-o", "x"), "write attemper import IN -o DIR"),
    ],
)
def test_the_old_order_is_answered_with_the_new_one(arguments: tuple[str, ...], now: str) -> None:
    found = run_command_line(*arguments)
    assert (found.code, found.out) == (2, "")
    assert now in found.err


def test_a_folder_may_be_called_as_a_kind_is(
    since: Exported, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    since.save(tmp_path / "circuit")
    assert run_command_line("export", "circuit", "circuit", "-o", "x.json").code == 0
    write(tmp_path / "hugging-face", exported_config(since), encode_tensors(weights_of(since)))
    assert run_command_line("import", "hugging-face", "-o", "back").code == 0
    assert run_command_line("export", "back", "-o", "x.json").code == 2


def test_the_command_refuses_a_changed_weight(since: Exported, tmp_path: Path) -> None:
    tensors = weights_of(since)
    name = f"{PREFIX}embed.W_E"
    attacked = {**tensors, name: with_number(tensors[name], 0, 0.25)}
    write(tmp_path / "exported", exported_config(since), encode_tensors(attacked))
    found = run_command_line("import", tmp_path / "exported", "-o", tmp_path / "back")
    assert (found.code, found.out) == (6, "")
    assert "other weights than were exported" in found.err
    assert not (tmp_path / "back").exists()


def test_neither_torch_nor_transformers_is_needed(since: Exported, tmp_path: Path) -> None:
    folder = write(tmp_path, exported_config(since), encode_tensors(weights_of(since)))
    script = (
        "import sys\n"
        "for name in ('torch', 'numpy', 'transformers', 'safetensors'): sys.modules[name] = None\n"
        "from pathlib import Path\n"
        "from attemper.exports.restoring import read_hugging_face\n"
        "print(read_hugging_face(Path(sys.argv[1])).digest)"
    )
    run = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == since.digest


@pytest.mark.sweep(0)
def test_without_transformers_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['transformers'] = None\n"
        "from attemper.errors import OptionError\n"
        "try: import attemper.exports.hugging_face\n"
        "except OptionError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "this needs transformers: pip install 'attemper[hugging-face]' (in a clone: '.[hugging-face]')\n"
    )
