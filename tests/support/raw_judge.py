"""Whether a folder's network computes what its certificate says, on given words, from the files alone.

Nothing here imports attemper: the network is run in balls and in every float format that it has a claim of,
beside the truth of the certificate's source.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.raw_exact import every_output
from tests.support.raw_files import RawNetwork, places_of, read_folder
from tests.support.raw_forward import FORMATS, Batch, batch_of, covered_ways, run_every_output
from tests.support.raw_truth import broken_promises, truths

QUARTER = 0.25
"""How far an output may be from the truth."""

Word = tuple[int, ...]


@dataclass
class Judgement:
    """How many outputs were computed exactly, and in floats, and what was found to be wrong."""

    exact: int = 0
    floats: int = 0
    wrong: list[str] = field(default_factory=list)


def judge(folder: Path, *, exactly: Sequence[Word], in_floats: Sequence[Word], ways: int = 2) -> Judgement:
    """The network of a folder on words, each of the first in balls, each of the others in floats.

    Of each claim about floats, the words that it covers are run in the first so many ways that it covers.
    """
    raw = read_folder(folder)
    certificate = json.loads((folder / "certificate.json").read_bytes())
    found = Judgement()
    found.wrong += _misnamed(raw, certificate["source"])
    _judge_exactly(raw, certificate["source"], exactly, found)
    for claim in certificate["claims"]:
        if claim["arithmetic"] != "real":
            words = [word for word in in_floats if len(word) <= claim["horizon"]]
            _judge_floats(raw, certificate["source"], claim, words, ways, found)
    return found


def _misnamed(raw: RawNetwork, source: Any) -> Iterator[str]:
    """A network of a program puts out the program's symbols, in its order; any other names none."""
    output = source["program"]["output"] if "program" in source else None
    symbols = [symbol for symbol, _ in output] if isinstance(output, list) else [None]
    if [symbol for symbol, _ in raw.outputs] != symbols:
        yield f"the network puts out {raw.outputs}"


def _expected(raw: RawNetwork, source: Any, batch: Batch) -> Any:
    """The truth of each output, [word, position, output]."""
    if "program" in source and broken_promises(source["program"], raw.alphabet, batch).any():
        raise AssertionError("a promise is broken")
    return np.stack(list(truths(source, raw.alphabet, batch).values()), axis=-1).astype(int)


def _judge_exactly(raw: RawNetwork, source: Any, words: Sequence[Word], found: Judgement) -> None:
    if not words:
        return
    for word, expected in zip(words, _expected(raw, source, batch_of(words)), strict=True):
        rows = every_output(raw, word)
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                found.exact += 1
                bit = int(expected[place, number])
                if not abs(value - bit) <= QUARTER:
                    shown = _shown(raw, word)
                    found.wrong.append(f"{shown}: output {number} at {place + 1} is {value}, not {bit}")


def _judge_floats(
    raw: RawNetwork, source: Any, claim: Any, words: Sequence[Word], ways: int, found: Judgement
) -> None:
    if not words:
        return
    batch = batch_of(words)
    real = places_of(batch.lengths).real[..., None]
    expected = _expected(raw, source, batch)
    form = FORMATS[claim["arithmetic"]]
    for way in covered_ways(claim["kernel"])[:ways]:
        output = run_every_output(raw, batch, form, way)
        found.floats += int(np.broadcast_to(real, expected.shape).sum())
        wrong = ~(np.abs(output - expected) <= QUARTER) & real
        for row in np.flatnonzero(wrong.any(axis=(1, 2))):
            found.wrong.append(f"{_shown(raw, words[row])} in {form.name}, {way}: {output[row]}")


def _shown(raw: RawNetwork, word: Word) -> str:
    return " ".join(raw.alphabet[k] for k in word)
