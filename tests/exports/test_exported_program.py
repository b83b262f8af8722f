"""Networks as .pt2 files: torch alone runs them, for every batch size and length. Needs no extra."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
import torch

import attemper
from attemper.errors import MalformedFileError, UnsupportedError
from attemper.exports.exported_program import write_exported_program
from attemper.exports.remarks import remarks_of
from attemper.exports.subject import Exported
from tests.support.drawn.exported import MODELS, padded, words_for
from tests.support.slowly import mostly_slow

CASES = (
    ("since", "float64"),
    ("until", "float32"),
    ("rms norm", "float64"),
    ("previous symbol", "float32"),
    ("histogram", "float64"),
)

RUN = """
import sys
class Refusing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "attemper":
            raise ImportError(name)
sys.meta_path.insert(0, Refusing())
import json, torch
extra = {"attemper.json": ""}
module = torch.export.load(sys.argv[1], extra_files=extra).module()
said = json.loads(extra["attemper.json"])
symbols = said["alphabet"]
tokens = torch.tensor([[symbols.index(symbol) for symbol in sys.argv[2]]])
outputs, margins = module(tokens, torch.ones_like(tokens))
print(json.dumps([outputs.tolist(), margins.tolist(), said["read_at"]]))
"""


@pytest.mark.sweep(0)
@pytest.mark.parametrize(("name", "dtype"), mostly_slow(CASES, CASES[:1]))
def test_the_program_is_the_traceable_module_for_every_shape(name: str, dtype: str, tmp_path: Path) -> None:
    model = MODELS[name]()
    subject = Exported(model.network, model.source)
    write_exported_program(subject, tmp_path / "x.pt2", dtype)
    program = torch.export.load(tmp_path / "x.pt2").module()
    module = subject.traceable(getattr(torch, dtype))
    words = words_for(model.network, 2, (1, 17, 777))
    for batch in ([words[0]], words[:1] * 3, words[-3:], words):
        for left in (False, True):
            tokens, mask = padded(model.network, batch, left=left)
            outputs, margins = program(tokens, mask)
            own, room = module(tokens, mask)
            assert torch.equal(outputs, own)
            assert torch.equal(margins, room)
            assert outputs.dtype is getattr(torch, dtype)


@pytest.mark.sweep(0)
def test_rows_without_symbols_are_finite(tmp_path: Path) -> None:
    model = MODELS["since"]()
    write_exported_program(Exported(model.network, model.source), tmp_path / "x.pt2", "float64")
    program = torch.export.load(tmp_path / "x.pt2").module()
    mask = torch.tensor([[0, 0, 0], [1, 1, 0]])
    outputs, margins = program(torch.tensor([[9, 9, 9], [1, 0, 9]]), mask)
    assert outputs.isfinite().all()
    assert margins[0] == float("inf")
    assert outputs[1, :2].tolist() == [1, 1]


@pytest.mark.sweep(0)
def test_a_process_without_this_package_runs_it(tmp_path: Path) -> None:
    model = MODELS["until"]()
    model.export("torch", tmp_path / "x.pt2")
    run = subprocess.run(
        [sys.executable, "-c", RUN, str(tmp_path / "x.pt2"), "aab"],
        capture_output=True,
        text=True,
        check=True,
    )
    (own,) = model.run(["aab"])
    assert json.loads(run.stdout) == [[list(own.values)], [own.margin], "first"]


@pytest.mark.sweep(0)
def test_the_file_says_what_is_in_it(tmp_path: Path) -> None:
    model = MODELS["until"]()
    subject = Exported(model.network, model.source, model.certify())
    write_exported_program(subject, tmp_path / "x.pt2", "float32")
    extra = {"attemper.json": ""}
    torch.export.load(tmp_path / "x.pt2", extra_files=extra)
    assert json.loads(extra["attemper.json"]) == remarks_of(subject, "float32")


@pytest.mark.parametrize("name", ["since", "until", "automaton", "previous symbol", "histogram"])
def test_remarks_say_how_a_network_is_read(name: str) -> None:
    model = MODELS[name]()
    subject = Exported(model.network, model.source, model.certify())
    said = remarks_of(subject, "float32")
    assert said["alphabet"] == list(model.alphabet.symbols)
    assert said["read_at"] == ("first" if model.network.reads_first else "last")
    assert said["accepts_empty"] is model.network.accepts_empty
    assert said["digest"] == model.digest
    assert said["source"] == model.source.text
    assert said["names"] == [symbol for symbol, _ in model.network.symbols]
    assert said["horizon"] == subject.horizons()["float32"]["numerator-first"]
    kinds = {"previous symbol": "symbol", "histogram": "integer"}
    assert said["puts_out"] == kinds.get(name, "bit")


def test_nothing_is_claimed_without_a_certificate() -> None:
    model = MODELS["since"]()
    said = remarks_of(Exported(model.network, model.source), "float64")
    assert (said["horizon"], said["horizons"]) == (None, {})


@pytest.mark.sweep(0)
def test_no_path_of_the_machine_is_in_the_file(tmp_path: Path) -> None:
    MODELS["since"]().export("torch", tmp_path / "x.pt2")
    root = str(Path(attemper.__file__).parents[2]).encode()
    with ZipFile(tmp_path / "x.pt2") as archive:
        contents = [archive.read(name) for name in archive.namelist()]
    assert contents
    assert not any(root in content or b"site-packages" in content for content in contents)


@pytest.mark.sweep(0)
def test_a_file_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "x.pt2"
    path.write_bytes(b"before")
    with pytest.raises(UnsupportedError, match="'prime' is a Python function"):
        attemper.compile("prime(pos)", "ab").export("torch", path)
    assert path.read_bytes() == b"before"
    MODELS["since"]().export("torch", path)
    assert [one.name for one in tmp_path.iterdir()] == ["x.pt2"]
    assert path.read_bytes() != b"before"
    with pytest.raises(MalformedFileError, match="cannot write"):
        MODELS["since"]().export("torch", path / "y.pt2")
    with pytest.raises(MalformedFileError, match="is a folder"):
        MODELS["since"]().export("torch", tmp_path)
