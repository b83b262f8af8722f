"""From a Hugging Face folder back to the network: the same digest, or a refusal. No library is needed."""

from __future__ import annotations

import hashlib
import json
import struct
import subprocess
import sys
from array import array
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper import Model
from attemper.certificates.files import encode
from attemper.checker.folders import check_path
from attemper.checker.verdict import Status
from attemper.errors import MalformedFileError
from attemper.exports.restoring import CONFIG, PREFIX, WEIGHTS, read_hugging_face
from attemper.exports.subject import Subject
from attemper.networks.files import contents_of
from attemper.networks.safetensors import Tensor, encode_tensors
from attemper.networks.weights import tensors_of
from tests.support.command_line import attemper as run_command_line

Config = dict[str, Any]
Weights = dict[str, Tensor]


def config_of(subject: Subject, dtype: str = "float64") -> Config:
    """What an exported `config.json` holds of the network; its own entries, that transformers adds to."""
    _, weights = contents_of(subject.network, subject.source)
    return {
        "model_type": "attemper",
        "dtype": dtype,
        "network": json.loads(json.dumps(subject.structure, sort_keys=True)),
        "certificate": None if subject.certificate is None else encode(subject.certificate),
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }


def weights_of(subject: Subject) -> Weights:
    """The tensors under their names in an exported file, in an order of its own."""
    return {f"{PREFIX}{name}": tensor for name, tensor in sorted(tensors_of(subject.network).items())}


def write(folder: Path, config: Config, weights: bytes) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    (folder / WEIGHTS).write_bytes(weights)
    return folder


def in_float32(tensors: Weights) -> bytes:
    """The container with every number rounded to float32."""
    header, body = {}, b""
    for name, tensor in tensors.items():
        data = array("f", tensor.numbers).tobytes()
        place = [len(body), len(body) + len(data)]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": place}
        body += data
    text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
    return struct.pack("<Q", len(text)) + text + body


def subject_of(model: Model) -> Subject:
    return Subject(model.network, model.source, model.certify())


@pytest.fixture(scope="module")
def since() -> Subject:
    return subject_of(attemper.compile("(!'c') S 'b'", "abc", regime="decoder"))


MODELS: dict[str, Callable[[], Model]] = {
    "decoder": lambda: attemper.compile("Y 'a' & O 'b'", "ab", regime="decoder"),
    "temperature": lambda: attemper.compile("'a' U 'b'", "ab", regime="temperature", at="first"),
    "counts": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "layer norm": lambda: attemper.compile(
        "O 'a'", "ab", regime="temperature", layer_norm=attemper.LayerNorm()
    ),
    "symbols": lambda: attemper.compile_named("copy-previous-symbol"),
    "long symbols": lambda: attemper.compile("O push", "push pop"),
}


@pytest.mark.parametrize("name", MODELS)
def test_what_is_restored_is_the_same_network_and_is_proved(name: str, tmp_path: Path) -> None:
    subject = subject_of(MODELS[name]())
    folder = write(tmp_path / "exported", config_of(subject), encode_tensors(weights_of(subject)))
    found = read_hugging_face(folder)
    assert found == subject
    subject.save(tmp_path / "own")
    found.save(tmp_path / "restored")
    for file in ("network.json", "weights.safetensors", "certificate.json"):
        assert (tmp_path / "restored" / file).read_bytes() == (tmp_path / "own" / file).read_bytes()
    assert check_path(tmp_path / "restored").status is Status.PROVED


def test_a_network_without_a_certificate_is_restored_without_one(since: Subject, tmp_path: Path) -> None:
    bare = replace(since, certificate=None)
    assert read_hugging_face(write(tmp_path, config_of(bare), encode_tensors(weights_of(bare)))) == bare


def test_weights_that_float32_holds_are_restored_from_float32(since: Subject, tmp_path: Path) -> None:
    found = read_hugging_face(write(tmp_path, config_of(since, "float32"), in_float32(weights_of(since))))
    assert found == since


def test_weights_that_float32_rounds_are_refused(tmp_path: Path) -> None:
    subject = subject_of(MODELS["layer norm"]())
    folder = write(tmp_path, config_of(subject, "float32"), in_float32(weights_of(subject)))
    with pytest.raises(MalformedFileError, match=r"other weights than were exported.*float32.*in float64"):
        read_hugging_face(folder)


def changed(tensor: Tensor, place: int, number: float) -> Tensor:
    numbers = array("d", tensor.numbers)
    numbers[place] = number
    return Tensor(tensor.shape, numbers)


def _neighbours(number: float) -> Iterator[float]:
    """The nearest numbers, and quite others."""
    (bits,) = struct.unpack("<q", struct.pack("<d", number))
    for other in (bits + 1, bits - 1 if number else bits + 2):
        yield struct.unpack("<d", struct.pack("<q", other))[0]
    yield from (number + 1, -number, 2.0**100)


def test_every_change_of_every_weight_is_refused(since: Subject, tmp_path: Path) -> None:
    """To its neighbours, its negative (of 0 too) and others: no other number is taken for it."""
    config, tensors = config_of(since), weights_of(since)
    tried = 0
    for name, tensor in tensors.items():
        for place, number in enumerate(tensor.numbers):
            for other in _neighbours(number):
                attacked = {**tensors, name: changed(tensor, place, other)}
                folder = write(tmp_path, config, encode_tensors(attacked))
                with pytest.raises(MalformedFileError):
                    read_hugging_face(folder)
                tried += 1
    assert tried == 5 * sum(len(tensor.numbers) for tensor in tensors.values())


@pytest.mark.parametrize(
    ("number", "said"),
    [(0.5, "other weights than were exported"), (float("nan"), "not finite"), (-0.0, "-0.0 at .*, not 0.0")],
)
def test_what_is_wrong_with_a_weight_is_said(
    number: float, said: str, since: Subject, tmp_path: Path
) -> None:
    tensors = weights_of(since)
    name = f"{PREFIX}embed.W_E"
    place = tensors[name].numbers.index(0 if number == 0 else 1)
    attacked = {**tensors, name: changed(tensors[name], place, number)}
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(write(tmp_path, config_of(since), encode_tensors(attacked)))


def _without(weights: Weights) -> Weights:
    return dict(list(weights.items())[1:])


def _with_another(weights: Weights) -> Weights:
    return {**weights, "classifier": Tensor((1,), array("d", [1.0]))}


def _transposed(weights: Weights) -> Weights:
    tensor = weights[f"{PREFIX}embed.W_E"]
    return {**weights, f"{PREFIX}embed.W_E": Tensor(tensor.shape[::-1], tensor.numbers)}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_without, "missing or unexpected tensors: blocks"),
        (_with_another, "missing or unexpected tensors: classifier"),
        (_transposed, r"'embed.W_E' has shape \[\d+, 3\], not \[3, \d+\]"),
    ],
)
def test_other_tensors_are_refused(
    change: Callable[[Weights], Weights], said: str, since: Subject, tmp_path: Path
) -> None:
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(write(tmp_path, config_of(since), encode_tensors(change(weights_of(since)))))


def _places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The way to every number, text, truth value and empty list in JSON data."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list) and value:
        for place, inner in enumerate(value):
            yield from _places(inner, (*path, place))
    else:
        yield path


def _replaced(value: Any, path: tuple[str | int, ...]) -> Any:
    """The data with another value of the same type at one place."""
    if path:
        copy = value.copy()
        copy[path[0]] = _replaced(value[path[0]], path[1:])
        return copy
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}2"
        case _:
            return [0]


def test_every_change_of_the_structure_is_refused(since: Subject, tmp_path: Path) -> None:
    config, weights = config_of(since), encode_tensors(weights_of(since))
    write(tmp_path, config, weights)
    places = list(_places(config["network"]))
    assert len(places) > 40
    for path in places:
        attacked = {**config, "network": _replaced(config["network"], path)}
        (tmp_path / CONFIG).write_text(json.dumps(attacked), encoding="utf-8")
        with pytest.raises(MalformedFileError):
            read_hugging_face(tmp_path)


def test_a_changed_structure_is_named(since: Subject, tmp_path: Path) -> None:
    config = config_of(since)
    network = {**config["network"], "accepts_empty": True}
    folder = write(tmp_path, {**config, "network": network}, encode_tensors(weights_of(since)))
    with pytest.raises(MalformedFileError, match=r"config.json' was changed: in 'network' digest is"):
        read_hugging_face(folder)


def test_another_networks_certificate_is_refused(since: Subject, tmp_path: Path) -> None:
    other = attemper.compile("O 'b'", "abc").certify()
    config = {**config_of(since), "certificate": encode(other)}
    with pytest.raises(MalformedFileError, match="certificate of another network"):
        read_hugging_face(write(tmp_path, config, encode_tensors(weights_of(since))))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"certificate": {"format": "attemper-certificate/2"}}, "no readable certificate"),
        ({"network": None}, "has no entry 'network'"),
        ({"model_type": "gpt2"}, "is of another model"),
        ({"weights_sha256": None}, "other weights than were exported"),
        ({"network": {"alphabet": ["a"]}}, "does not hold a network"),
    ],
)
def test_other_configurations_are_refused(change: Config, said: str, since: Subject, tmp_path: Path) -> None:
    folder = write(tmp_path, {**config_of(since), **change}, encode_tensors(weights_of(since)))
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(folder)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (CONFIG, b'{"model_type": "attemper"', "is not complete JSON"),
        (CONFIG, b'{"model_type": "attemper", "model_type": "attemper"}', "twice"),
        (CONFIG, b"[" * 100_000, "is not complete JSON"),
        (CONFIG, b"[]", "is of another model"),
        (WEIGHTS, b"", "is not a weights file"),
        (WEIGHTS, b"0" * 3_000_000, "more than the"),
        (CONFIG, None, "there is no .*config.json"),
        (WEIGHTS, None, "there is no .*model.safetensors"),
    ],
)
def test_damaged_files_are_named(
    file: str, content: bytes | None, said: str, since: Subject, tmp_path: Path
) -> None:
    folder = write(tmp_path, config_of(since), encode_tensors(weights_of(since)))
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(folder)


def test_the_command_restores_a_folder_that_is_proved(since: Subject, tmp_path: Path) -> None:
    write(tmp_path / "exported", config_of(since), encode_tensors(weights_of(since)))
    back = tmp_path / "back"
    found = run_command_line("import", "hugging-face", tmp_path / "exported", "-o", back)
    assert (found.code, found.err) == (0, "")
    assert found.out == f"restored !c S b to {back}; 'attemper check {back}' says what is proved\n"
    checked = run_command_line("check", back)
    assert (checked.code, checked.out.split()[0]) == (0, "PROVED")


def test_the_command_refuses_a_changed_weight(since: Subject, tmp_path: Path) -> None:
    tensors = weights_of(since)
    name = f"{PREFIX}embed.W_E"
    attacked = {**tensors, name: changed(tensors[name], 0, 0.25)}
    write(tmp_path / "exported", config_of(since), encode_tensors(attacked))
    found = run_command_line("import", "hugging-face", tmp_path / "exported", "-o", tmp_path / "back")
    assert (found.code, found.out) == (6, "")
    assert "other weights than were exported" in found.err
    assert not (tmp_path / "back").exists()


def test_neither_torch_nor_transformers_is_needed(since: Subject, tmp_path: Path) -> None:
    folder = write(tmp_path, config_of(since), encode_tensors(weights_of(since)))
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


def test_without_transformers_the_extra_is_named() -> None:
    script = (
        "import sys; sys.modules['transformers'] = None\n"
        "from attemper.errors import OptionError\n"
        "try: import attemper.exports.hugging_face\n"
        "except OptionError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == (
        "transformers is not installed, which this needs: pip install 'attemper[hugging-face]'\n"
    )
