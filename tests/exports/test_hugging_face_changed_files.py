"""A folder with another configuration, tokenizer or file than were exported is refused by its name."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.certificates.files import CERTIFIED
from attemper.errors import MalformedFileError
from attemper.exports.hugging_face_files import (
    CONFIG,
    TOKENIZER,
    TOKENIZER_SETTINGS,
    WEIGHTS,
    as_text,
    tokenizer_settings,
)
from attemper.exports.restoring import read_hugging_face
from attemper.exports.subject import Exported
from attemper.networks.safetensors import encode_tensors
from tests.support.mutants.exported_folders import (
    Config,
    exported_config,
    weights_of,
    write,
)

REPLACING = {"type": "Replace", "pattern": {"String": "a"}, "content": "b"}


CUT = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}


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


def test_every_change_of_the_structure_is_refused(since: Exported, tmp_path: Path) -> None:
    config, weights = exported_config(since), encode_tensors(weights_of(since))
    write(tmp_path, config, weights)
    places = list(_places(config["network"]))
    assert len(places) > 40
    for path in places:
        attacked = {**config, "network": _replaced(config["network"], path)}
        (tmp_path / CONFIG).write_text(json.dumps(attacked), encoding="utf-8")
        with pytest.raises(MalformedFileError):
            read_hugging_face(tmp_path)


def test_a_changed_structure_is_named(since: Exported, tmp_path: Path) -> None:
    config = exported_config(since)
    network = {**config["network"], "accepts_empty": True}
    folder = write(tmp_path, {**config, "network": network}, encode_tensors(weights_of(since)))
    with pytest.raises(MalformedFileError, match=r"config.json' was changed: network.digest is"):
        read_hugging_face(folder)


def test_another_networks_certificate_is_refused(since: Exported, tmp_path: Path) -> None:
    other = attemper.compile("O 'b'", "abc").certify()
    config = {**exported_config(since), "certificate": CERTIFIED.encode(other)}
    with pytest.raises(MalformedFileError, match="certificate of another network"):
        read_hugging_face(write(tmp_path, config, encode_tensors(weights_of(since))))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"certificate": {"format": "attemper-certificate/3"}}, "no readable certificate"),
        ({"network": None}, "has no entry 'network'"),
        ({"model_type": "gpt2"}, "is of another model"),
        ({"weights_sha256": None}, "other weights than were exported"),
        ({"transformers_weights": "other.safetensors"}, "changed: transformers_weights is not expected"),
        ({"auto_map": {}}, "changed: auto_map is not expected"),
        ({"certificate": None}, "changed: certificate is not expected"),
        ({"dtype": "float16"}, "changed: dtype is float16, not float64"),
        ({"dtype": 64}, "changed: dtype is 64"),
        ({"architectures": ["GPT2Model"]}, "changed: architectures"),
        ({"id2label": {"0": "accepted", "1": "rejected", "2": "undecided"}}, "id2label.0 is accepted, not"),
        ({"label2id": {"accepted": 0, "rejected": 1, "undecided": 2}}, "label2id.rejected is 1, not 0"),
        ({"pad_token_id": 0}, "changed: pad_token_id is 0, not 3"),
        ({"network": {"alphabet": ["a"]}}, "does not hold a network: .*format attemper-network/4"),
        (
            {"network": {"format": "attemper-network/4", "alphabet": ["a"]}},
            "does not hold a network: the entry 'source' is missing",
        ),
    ],
)
def test_other_configurations_are_refused(change: Config, said: str, since: Exported, tmp_path: Path) -> None:
    folder = write(tmp_path, {**exported_config(since), **change}, encode_tensors(weights_of(since)))
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(folder)


def _entry(*path: str | int, value: object) -> Callable[[Any], Any]:
    """The data with that value at one place."""

    def change(data: Any) -> Any:
        if len(path) == 1:
            return {**data, path[0]: value}
        return {**data, path[0]: _entry(*path[1:], value=value)(data[path[0]])}

    return change


@pytest.mark.parametrize(
    ("file", "change", "said"),
    [
        (TOKENIZER, _entry("model", "vocab", value={"b": 0, "a": 1, "c": 2}), "model.vocab.a is 1, not 0"),
        (TOKENIZER, _entry("normalizer", value=REPLACING), "normalizer is"),
        (TOKENIZER, _entry("truncation", value=CUT), "truncation is"),
        (TOKENIZER, _entry("post_processor", value=None), "post_processor is None"),
        (TOKENIZER, _entry("pre_tokenizer", value=None), "pre_tokenizer is None"),
        (TOKENIZER, _entry("added_tokens", value=[]), "added_tokens is"),
        (TOKENIZER_SETTINGS, _entry("model_max_length", value=3), "model_max_length is 3"),
        (TOKENIZER_SETTINGS, _entry("tokenizer_class", value="GPT2Tokenizer"), "tokenizer_class is"),
        (TOKENIZER_SETTINGS, _entry("auto_map", value={}), "auto_map is not expected"),
        (TOKENIZER_SETTINGS, _entry("padding_side", value="middle"), "padding_side is not expected"),
    ],
)
def test_a_changed_tokenizer_is_refused(
    file: str, change: Callable[[Any], Any], said: str, since: Exported, tmp_path: Path
) -> None:
    folder = write(tmp_path, exported_config(since), encode_tensors(weights_of(since)))
    data = json.loads((folder / file).read_text(encoding="utf-8"))
    (folder / file).write_text(json.dumps(change(data)), encoding="utf-8")
    with pytest.raises(MalformedFileError, match=f"{file}' was changed: {said}"):
        read_hugging_face(folder)


@pytest.mark.parametrize("name", [True, False])
def test_what_transformers_adds_to_settings_is_no_change(name: bool, since: Exported, tmp_path: Path) -> None:
    folder = write(tmp_path, exported_config(since), encode_tensors(weights_of(since)))
    settings = tokenizer_settings(since.network.alphabet)
    side = "left" if name else "right"
    more = {"is_local": name, "local_files_only": name, "padding_side": side}
    (folder / TOKENIZER_SETTINGS).write_bytes(as_text({**settings, **more}))
    assert read_hugging_face(folder) == since


@pytest.mark.parametrize(
    "name",
    [
        "other.safetensors",
        "model.safetensors.index.json",
        "adapter_config.json",
        "special_tokens_map.json",
        "vocab.txt",
        "modeling.py",
    ],
)
def test_files_that_no_export_writes_are_refused(name: str, since: Exported, tmp_path: Path) -> None:
    folder = write(tmp_path, exported_config(since), encode_tensors(weights_of(since)))
    (folder / name).write_text("{}")
    with pytest.raises(MalformedFileError, match=f"{name}' is no file of an export"):
        read_hugging_face(folder)
    (folder / name).rename(folder / "README.md")
    (folder / ".gitattributes").write_text("")
    assert read_hugging_face(folder) == since


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        (CONFIG, b'{"model_type": "attemper"', "is not complete JSON"),
        (CONFIG, b'{"model_type": "attemper", "model_type": "attemper"}', "twice"),
        (CONFIG, b"[" * 100_000, "is not complete JSON"),
        (CONFIG, b"[]", "holds no JSON object"),
        (TOKENIZER, b"[]", "holds no JSON object"),
        (TOKENIZER, None, "there is no .*tokenizer.json"),
        (TOKENIZER_SETTINGS, None, "there is no .*tokenizer_config.json"),
        (WEIGHTS, b"", "is not a weights file"),
        (WEIGHTS, b"0" * 3_000_000, "more than the"),
        (CONFIG, None, "there is no .*config.json"),
        (WEIGHTS, None, "there is no .*model.safetensors"),
    ],
)
def test_damaged_files_are_named(
    file: str, content: bytes | None, said: str, since: Exported, tmp_path: Path
) -> None:
    folder = write(tmp_path, exported_config(since), encode_tensors(weights_of(since)))
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(MalformedFileError, match=said):
        read_hugging_face(folder)
