"""Sets of labelled words on disk, in two layouts: JSON lines with a manifest, and that of FLaRe.

JSON lines: `SPLIT.jsonl`, a line `{"word": ["0", "1"], "label": true}` for each word. FLaRe: folders `SPLIT/`
with `main.tok`, a line of symbols with blanks between them for each word (an empty line is the empty word),
and `labels.txt`, a line 1 or 0 for each. `manifest.json` says of either which language it is, with its
polarity.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import assert_never

from attemper.errors import MalformedFileError
from attemper.files import parse_json, read_bytes
from attemper.languages.words import Word
from attemper.training.labelled import Labelled, Task, drawn, task_of
from attemper.training.settings import RecognitionTask
from attemper.workbench.lengths import LengthRange
from attemper.workbench.naming import language
from attemper.writing import write_together

MANIFEST, FORMAT = "manifest.json", "attemper-data/1"
TOKENS, LABELS = "main.tok", "labels.txt"
REMEDY = "make one with 'attemper data'"
MOST_BYTES = 2**32


class DatasetFormat(StrEnum):
    """How a set of words is written."""

    JSONL = "jsonl"
    FLARE = "flare"


def name_of(split: LengthRange) -> str:
    """What a split's file or folder is called.

    >>> name_of((2, 50))
    '2-50'
    """
    return f"{split[0]}-{split[1]}"


def write_data(folder: Path, files: Mapping[str, bytes], manifest: Mapping[str, object]) -> None:
    """Write the splits' files and the manifest that names them.

    The splits that an older manifest in the folder names are removed, and nothing else is. Raises
    `MalformedFileError` if the folder cannot be written.
    """
    older = _files_of_manifest(folder)
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    written = {folder / name: data for name, data in files.items()}
    write_together({**written, folder / MANIFEST: text.encode()})
    for path in older - set(written):
        path.unlink(missing_ok=True)
        if path.parent != folder and not any(path.parent.iterdir()):
            path.parent.rmdir()


def is_data(folder: Path) -> bool:
    """Whether words were written to the folder before."""
    return bool(_files_of_manifest(folder))


def _files_of_manifest(folder: Path) -> set[Path]:
    """The files of the splits that a manifest of ours in the folder names: none where there is no such."""
    try:
        entry = parse_json(read_bytes(folder / MANIFEST, REMEDY))
    except (ValueError, RecursionError, MalformedFileError):
        return set()
    match entry:
        case {"format": str(form), "splits": list(splits)} if form == FORMAT:
            names = [split["name"] for split in splits if isinstance(split, dict) and "name" in split]
            known = {name for name in names if re.fullmatch(r"\d{1,6}-\d{1,6}", str(name))}
            listed = [
                name for split in known for layout in DatasetFormat for name in files_of((), split, layout)
            ]
            paths = [folder / name for name in listed]
            return {path for path in paths if path.is_file() and not path.parent.is_symlink()}
        case _:
            return set()


def files_of(words: Iterable[Labelled], name: str, layout: DatasetFormat) -> dict[str, bytes]:
    """The files of a split, by their names in the folder."""
    match layout:
        case DatasetFormat.JSONL:
            lines = (
                json.dumps({"word": list(one.word), "label": one.label}, ensure_ascii=False) for one in words
            )
            return {f"{name}.jsonl": "".join(f"{line}\n" for line in lines).encode()}
        case DatasetFormat.FLARE:
            listed = list(words)
            tokens = "".join(" ".join(one.word) + "\n" for one in listed)
            labels = "".join(f"{int(one.label)}\n" for one in listed)
            return {f"{name}/{TOKENS}": tokens.encode(), f"{name}/{LABELS}": labels.encode()}
        case _:
            assert_never(layout)


def read_split(folder: Path, name: str) -> list[Labelled]:
    """The words of a split, in whichever layout it is. Raises `MalformedFileError`, naming file and line."""
    if (folder / name).is_dir():
        return _read_flare(folder / name)
    path = folder / f"{name}.jsonl"
    found = []
    for number, line in enumerate(_lines(path), 1):
        try:
            entry = parse_json(line.encode())
        except (ValueError, RecursionError):
            entry = None
        match entry:
            case {"word": list(word), "label": bool(label)} if all(isinstance(one, str) for one in word):
                found.append(Labelled(tuple(word), label))
            case _:
                raise MalformedFileError(f"'{path}', line {number}: it is no word with a label; {REMEDY}")
    return found


def _read_flare(folder: Path) -> list[Labelled]:
    words: list[Word] = [tuple(line.split()) for line in _lines(folder / TOKENS)]
    labels = _lines(folder / LABELS)
    if len(words) != len(labels):
        raise MalformedFileError(
            f"'{folder}' has {len(words):,} words and {len(labels):,} labels: one of {TOKENS} and {LABELS} "
            "is not complete"
        )
    for number, label in enumerate(labels, 1):
        if label not in {"0", "1"}:
            raise MalformedFileError(f"'{folder / LABELS}', line {number}: '{label[:20]}' is neither 0 nor 1")
    return [Labelled(word, label == "1") for word, label in zip(words, labels, strict=True)]


def _lines(path: Path) -> list[str]:
    """The lines of a text; an empty one is a line."""
    try:
        text = read_bytes(path, REMEDY, MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise MalformedFileError(f"'{path}' is no text in UTF-8") from None
    return text.removesuffix("\n").split("\n") if text else []


def training_words(asked: RecognitionTask, lengths: LengthRange, seed: int) -> tuple[Task, list[Labelled]]:
    """The language and its training set: the first split of `data`, or words drawn from the seed.

    Raises `MalformedFileError` for a set without words, with another alphabet, or with a label that the
    language contradicts, and what reading the language raises.
    """
    task = task_of(language(asked.language, asked.alphabet, at=asked.at, empty=asked.empty))
    if not asked.data:
        return task, list(drawn(task, lengths, asked.words, seed))
    folder = Path(asked.data)
    words = read_split(folder, _first_split(folder))
    if not words:
        raise MalformedFileError(f"'{folder}', split '{_first_split(folder)}': it has no words; {REMEDY}")
    for number, one in enumerate(words, 1):
        foreign = next((symbol for symbol in one.word if symbol not in task.alphabet), None)
        if foreign is not None:
            raise MalformedFileError(
                f"'{folder}', word {number}: '{foreign}' is no symbol of {task.language}"
            )
        if task.accepts(one.word) != one.label:
            raise MalformedFileError(f"'{folder}', word {number}: its label is not that of {task.language}")
    return task, words


def _first_split(folder: Path) -> str:
    """The first split of a manifest; without one, the first folder or file in the order of names."""
    if (folder / MANIFEST).exists():
        try:
            entry = parse_json(read_bytes(folder / MANIFEST, REMEDY))
        except (ValueError, RecursionError):
            entry = None
        match entry:
            case {"splits": [{"name": str(name)}, *_]}:
                return name
            case _:
                raise MalformedFileError(f"'{folder / MANIFEST}' lists no splits; {REMEDY}")
    names = sorted(path.name.removesuffix(".jsonl") for path in folder.glob("*") if path.name[0] != ".")
    if not names:
        raise MalformedFileError(f"'{folder}' has no words; {REMEDY}")
    return names[0]
