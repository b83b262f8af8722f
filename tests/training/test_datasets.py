"""Sets of words on disk: the same seed has the same bytes, both layouts come back, wrong ones are named."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path

import pytest

from attemper.errors import MalformedFileError
from attemper.training.ask import data
from attemper.training.datasets import (
    DatasetFormat,
    files_of,
    read_split,
    training_words,
)
from attemper.training.labelled import Labelled
from attemper.training.settings import RecognitionTask

ODD = "zoo:parity-odd"
EMPTY, ONE, ZEROS = Labelled((), False), Labelled(("1",), True), Labelled(("0", "0"), False)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("layout", DatasetFormat)
def test_the_same_seed_gives_the_same_bytes_and_the_manifest_says_what_they_are(
    layout: DatasetFormat, tmp_path: Path
) -> None:
    splits = ((0, 8), (9, 12))
    for folder, seed in (("a", 3), ("b", 3), ("c", 4)):
        data(ODD, lengths=splits, count=20, seed=seed, layout=layout.value).save(tmp_path / folder)
    manifest = data(ODD, lengths=splits, count=20, seed=3, layout=layout.value).record
    files = contents(tmp_path / "a")
    assert contents(tmp_path / "b") == files
    assert contents(tmp_path / "c") != files
    assert json.loads(files.pop("manifest.json")) == manifest
    assert manifest["language"] == "zoo:parity-odd"
    assert str(manifest["polarity"]).startswith("odd")
    assert manifest["alphabet"] == ["0", "1"]
    named = {name: digest for one in manifest["splits"] for name, digest in one["sha256"].items()}  # type: ignore[attr-defined]
    assert named == {name: sha256(content).hexdigest() for name, content in files.items()}


@pytest.mark.parametrize("layout", DatasetFormat)
@pytest.mark.parametrize("name", ["parity-odd", "dyck-2", "flip-flop", "tomita-4"])
def test_what_is_written_is_read_and_every_label_is_the_oracle_s(
    name: str, layout: DatasetFormat, tmp_path: Path
) -> None:
    found = data(f"zoo:{name}", lengths=((0, 5), (6, 30)), count=30, layout=layout.value)
    found.save(tmp_path)
    assert [one for split in ("0-5", "6-30") for one in read_split(tmp_path, split)] == list(found.words)
    for (least, greatest), said in zip(((0, 5), (6, 30)), found.record["splits"], strict=True):  # type: ignore[call-overload]
        words = read_split(tmp_path, f"{least}-{greatest}")
        assert (len(words), sum(one.label for one in words)) == (said["words"], said["members"])
        for one in words:
            assert least <= len(one.word) <= greatest
            assert one.label == found.task.accepts(one.word)


@pytest.mark.parametrize("layout", DatasetFormat)
@pytest.mark.parametrize(
    "words",
    [[], [EMPTY], [EMPTY, ONE], [ONE, EMPTY], [EMPTY, EMPTY], [ONE, EMPTY, ZEROS], [ONE, EMPTY, EMPTY]],
    ids=str,
)
def test_the_empty_word_comes_back_wherever_it_stands(
    words: list[Labelled], layout: DatasetFormat, tmp_path: Path
) -> None:
    put(tmp_path, files_of(words, "x", layout))
    assert read_split(tmp_path, "x") == words


def test_the_layout_of_flare_is_lines_of_symbols_and_lines_of_labels() -> None:
    assert files_of([ONE, EMPTY, ZEROS], "x", DatasetFormat.FLARE) == {
        "x/main.tok": b"1\n\n0 0\n",
        "x/labels.txt": b"1\n0\n0\n",
    }


LINE = b'{"word": ["1"], "label": true}\n'


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x.jsonl": LINE + b"{}\n"}, "line 2: it is no word with a label"),
        ({"x.jsonl": LINE + b"\n" + LINE}, "line 2: it is no word with a label"),
        ({"x.jsonl": b'{"word": "1", "label": true}'}, "line 1: it is no word"),
        ({"x.jsonl": b'{"word": ["1"], "label": 1}'}, "line 1: it is no word"),
        ({"x.jsonl": b'{"word": [1], "label": true}'}, "line 1: it is no word"),
        ({"x.jsonl": b'{"word": [], "word": ["1"], "label": true}'}, "line 1: it is no word"),
        ({"x.jsonl": b"[" * 99_999}, "line 1: it is no word"),
        ({"x.jsonl": b"\xff"}, "is no text in UTF-8"),
        ({"x/main.tok": b"1\n\n", "x/labels.txt": b"1\n"}, "2 words and 1 labels"),
        ({"x/main.tok": b"1\n", "x/labels.txt": b"yes\n"}, "line 1: 'yes' is neither 0 nor 1"),
        ({"x/main.tok": b"1\n"}, "there is no"),
        ({}, "there is no"),
    ],
    ids=range(12),
)
def test_files_that_say_no_words_are_named(files: dict[str, bytes], said: str, tmp_path: Path) -> None:
    put(tmp_path, files)
    with pytest.raises(MalformedFileError) as found:
        read_split(tmp_path, "x")
    assert said in str(found.value)


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"x.jsonl": LINE + b'{"word": ["1", "1"], "label": true}\n'}, "word 2: its label is not that of"),
        (
            {"x.jsonl": LINE + b'{"word": ["2"], "label": true}\n'},
            "word 2: '2' is no symbol of zoo:parity-odd",
        ),
        ({"x/main.tok": b"1\n1\n", "x/labels.txt": b"1\n0\n"}, "word 2: its label is not that of"),
        ({"x.jsonl": b""}, "split 'x': it has no words"),
        ({"manifest.json": b"[]"}, "lists no splits"),
        ({"manifest.json": b'{"splits": []}'}, "lists no splits"),
        ({"manifest.json": b"{"}, "lists no splits"),
        ({"manifest.json": b'{"splits": [{"name": "gone"}]}'}, "there is no"),
        ({".hidden": b""}, "has no words"),
        ({}, "has no words"),
    ],
    ids=range(10),
)
def test_words_that_nobody_may_learn_are_named(files: dict[str, bytes], said: str, tmp_path: Path) -> None:
    put(tmp_path, files)
    with pytest.raises(MalformedFileError) as found:
        training_words(_asked(tmp_path), (0, 9), 0)
    assert said in str(found.value)


def _asked(folder: Path) -> RecognitionTask:
    return RecognitionTask(kind="recognition", language=ODD, data=str(folder))


@pytest.mark.parametrize("layout", DatasetFormat)
def test_the_first_split_is_learned(layout: DatasetFormat, tmp_path: Path) -> None:
    data(ODD, lengths=((7, 9), (0, 3)), count=6, layout=layout.value).save(tmp_path)
    task, words = training_words(_asked(tmp_path), (0, 9), 0)
    assert str(task.language) == ODD
    assert words == read_split(tmp_path, "7-9")
    (tmp_path / "manifest.json").unlink()
    assert training_words(_asked(tmp_path), (0, 9), 0)[1] == read_split(tmp_path, "0-3")
