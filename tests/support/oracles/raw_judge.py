"""Whether a folder's network computes what its certificate says, on given words, from the files alone.

Nothing here imports attemper: the network is run in balls and in every float format that it has a claim of,
beside the truth of the certificate's language.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import numpy as np

from tests.support.oracles.raw_exact import every_output
from tests.support.oracles.raw_files import RawNetwork, kind_of, places_of, read_folder
from tests.support.oracles.raw_forward import (
    FORMATS,
    Batch,
    Format,
    Way,
    batch_of,
    covered_ways,
    run_every_output,
)
from tests.support.oracles.raw_truth import broken_promises, shown, truths

QUARTER = Fraction(1, 4)
"""How far a bit may be from the truth, and in floats an integer: its share times what the mask shows."""

EXACTLY = {
    None: QUARTER,
    "integer": Fraction(0),
    "fraction": Fraction(1, 2**40),
    "distribution": Fraction(1, 2**40),
}
"""How far an output of each kind may be from the truth in real arithmetic."""

IN_FLOATS = {
    None: QUARTER,
    "integer": QUARTER,
    "fraction": Fraction(1, 2**16),
    "distribution": Fraction(1, 2**16),
}
"""The same in floats, of an integer before it is divided."""

MASKS = {"future-masked": "<=", "past-masked": ">=", "unmasked": "all"}
"""How a program names the maskings that an integer may be over."""

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
    language = certificate["language"]
    found.wrong += _misnamed(raw, language)
    _judge_exactly(raw, language, exactly, found)
    for claim in certificate["claims"]:
        match claim:
            case ["real claim", _]:
                continue
            case ["float claim", form, kernel, horizon, _]:
                words = [word for word in in_floats if len(word) <= horizon]
                _judge_floats(raw, language, (FORMATS[form], covered_ways(kernel)[:ways]), words, found)
            case _:
                raise ValueError(f"no claim: {claim}")
    return found


def _misnamed(raw: RawNetwork, language: Any) -> Iterator[str]:
    """A network of a program puts out the program's symbols or numbers, in its order; any other a bit."""
    kind, names, over = None, list[str | None](), None
    if language[0] == "program language":
        program = language[1]
        kind, names = kind_of(program), [name for name, _ in program["symbols"]]
        if kind is not None:
            names = list(program["numbers"]["names"])
            over = program["numbers"]["mask"] if kind == "integer" else None
    if [name for name, _ in raw.outputs] != (names or [None]):
        yield f"the network puts out {raw.outputs}"
    if (raw.kind, None if raw.over is None else MASKS.get(raw.over)) != (kind, over):
        yield f"the network puts out {raw.kind} {raw.over}"


def _expected(raw: RawNetwork, language: Any, batch: Batch) -> Any:
    """The truth of each output, [word, position, output]: integers or Fractions."""
    if language[0] == "program language" and broken_promises(language[1], raw.alphabet, batch).any():
        raise AssertionError("a promise is broken")
    rows = [
        row if row.dtype == object else row.astype(int)
        for row in truths(language, raw.alphabet, batch).values()
    ]
    return np.stack(rows, axis=-1)


def _judge_exactly(raw: RawNetwork, language: Any, words: Sequence[Word], found: Judgement) -> None:
    if not words:
        return
    for word, expected in zip(words, _expected(raw, language, batch_of(words)).tolist(), strict=True):
        rows = every_output(raw, word)
        for number, row in enumerate(rows):
            for place, value in enumerate(row):
                found.exact += 1
                wanted = Fraction(expected[place][number])
                if not is_within(value, wanted, EXACTLY[raw.kind]):
                    said = f"output {number} at {place + 1} is {value}, not {wanted}"
                    found.wrong.append(f"{_text(raw, word)}: {said}")


def is_within(value: flint.arb, wanted: Fraction, allowed: Fraction) -> bool:
    """Whether some number of the narrow ball is as near as that: it may be off by just as much."""
    off = abs(value - flint.fmpq(wanted.numerator, wanted.denominator))
    return not bool(off > flint.fmpq(allowed.numerator, allowed.denominator))


def _judge_floats(
    raw: RawNetwork,
    language: Any,
    arithmetic: tuple[Format, Sequence[Way]],
    words: Sequence[Word],
    found: Judgement,
) -> None:
    if not words:
        return
    batch = batch_of(words)
    places = places_of(batch.lengths)
    expected = _expected(raw, language, batch)
    real = np.broadcast_to(places.real[..., None], expected.shape)
    seen = np.ones_like(places.i)
    if raw.kind == "integer":
        seen = shown(language[1]["numbers"]["mask"], places)
    times = np.broadcast_to(seen[..., None], expected.shape)[real].tolist()
    wanted = expected[real].tolist()
    form, ways = arithmetic
    for way in ways:
        output = run_every_output(raw, batch, form, way)
        found.floats += len(wanted)
        wrong = np.zeros(real.shape, dtype=bool)
        wrong[real] = [
            not (math.isfinite(value) and abs(Fraction(value) - truth) * by <= IN_FLOATS[raw.kind])
            for value, truth, by in zip(output[real].tolist(), wanted, times, strict=True)
        ]
        for row in np.flatnonzero(wrong.any(axis=(1, 2))):
            found.wrong.append(f"{_text(raw, words[row])} in {form.name}, {way}: {output[row]}")


def _text(raw: RawNetwork, word: Word) -> str:
    return " ".join(raw.alphabet[k] for k in word)
