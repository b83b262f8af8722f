"""`attemper influence`: somebody's model, measured length by length, and what is said of that."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from attemper.encoders.loading import load_encoder
from attemper.encoders.soft import outputs_of, outputs_of_histograms
from attemper.encoders.weights import Encoder, Mask, NoPositions
from attemper.errors import OptionError, UnsupportedError, WordError
from attemper.languages.words import Alphabet, Word, parse_word, show_word
from attemper.limits.influence import (
    CLIMBERS,
    MOST_CASES,
    Changes,
    Frame,
    HistogramExchange,
    Integers,
    Matrix,
    Outputs,
    OutputsOfHistograms,
    Place,
    Seen,
    WordExchange,
    all_histograms,
    all_words,
    climb,
    count_histograms,
    count_words,
    given_words,
    merged,
    random_words,
    sampled_words,
    slope,
)
from attemper.workbench.model import Model, load

if TYPE_CHECKING:
    from attemper.running.dense import DenseTransformer

SCORES_AT_ONCE = 1 << 24
"""How many scores of one layer exist at a time where a network's scores are watched."""


class Mode(StrEnum):
    """Which pairs of words are looked at."""

    EXACT = "exact"
    WORD = "word"
    SAMPLED = "sampled"
    SEARCH = "search"


FOUND_AS = {
    Mode.EXACT: "maximum over all words",
    Mode.WORD: "largest in the given words",
    Mode.SAMPLED: "largest in the sampled words",
    Mode.SEARCH: "largest found by search, at most the maximum",
}
"""What the largest change of a mode is."""


@final
@dataclass(frozen=True)
class Subject:
    """A model as it is measured: its symbols by number, its outputs by name, and what computes them.

    `histograms` computes the same from counts where order cannot matter, and is None where it can.
    """

    source: str
    symbols: tuple[str, ...]
    frame: Frame
    names: tuple[str, ...]
    outputs: Outputs
    histograms: OutputsOfHistograms | None = None


@final
@dataclass(frozen=True)
class Plan:
    """How a model is measured: the mode (None: exact where possible, else sampled), and for how long.

    `words` are those of `Mode.WORD` and `Mode.SAMPLED`, numbered and framed, of each length; sampled ones are
    drawn uniformly where there are none. `samples` is how many of them, or how many words a search runs.
    """

    mode: Mode | None
    lengths: tuple[int, ...]
    samples: int
    seed: int
    seconds: float
    words: dict[int, Integers] | None = None


@final
@dataclass(frozen=True)
class Measured:
    """What was seen at one length; `finished` is False where the time was up, or somebody interrupted."""

    length: int
    mode: Mode
    seen: Seen
    finished: bool


@final
@dataclass(frozen=True)
class Row:
    """A line of the report: a length, a class of positions, and an output."""

    length: int
    place: Place
    output: str
    changes: Changes

    @property
    def scaled(self) -> float:
        """n times the largest change."""
        return self.length * self.changes.largest


@final
@dataclass(frozen=True)
class Report:
    """All lengths that were reached, with the names that are shown."""

    subject: Subject
    measured: tuple[Measured, ...]
    interrupted: bool

    @property
    def rows(self) -> list[Row]:
        """The lines, by length, class and output."""
        names = self.subject.names
        return [
            Row(each.length, place, names[output], changes)
            for each in self.measured
            for (place, output), changes in sorted(each.seen.items(), key=lambda item: _order(item[0]))
        ]

    @property
    def largest_rows(self) -> list[Row]:
        """Of each length and class of positions the line of the output that changes most."""
        best: dict[tuple[int, Place], Row] = {}
        for row in self.rows:
            key = row.length, row.place
            if key not in best or row.changes.largest > best[key].changes.largest:
                best[key] = row
        return list(best.values())

    def slopes(self) -> dict[Place, float | None]:
        """The slopes on log-log axes of the classes' largest changes."""
        rows = self.largest_rows
        places = dict.fromkeys(row.place for row in rows)
        return {
            place: slope([(row.length, row.changes.largest) for row in rows if row.place is place])
            for place in places
        }

    def as_csv(self) -> str:
        """A line for each length, class of positions and output, below one with the names of the columns."""
        written = io.StringIO()
        writer = csv.writer(written, lineterminator="\n")
        columns = ("n", "mode", "finished", "positions", "output", "exchanges", "largest", "n_times_largest")
        writer.writerow([*columns, "mean", "word", "position", "before", "after"])
        modes = {each.length: each for each in self.measured}
        for row in self.rows:
            each, changes = modes[row.length], row.changes
            mean = "" if changes.mean is None else repr(changes.mean)
            writer.writerow(
                [
                    row.length,
                    each.mode,
                    int(each.finished),
                    row.place,
                    row.output,
                    changes.exchanges,
                    repr(changes.largest),
                    repr(row.scaled),
                    mean,
                    *exchange_record(self.subject.symbols, changes.exchange).values(),
                ]
            )
        return written.getvalue()

    def as_record(self) -> dict[str, object]:
        """The report as JSON data."""
        return {
            "model": self.subject.source,
            "evidence": "measured in float64, not proved",
            "interrupted": self.interrupted,
            "lengths": [_measured_record(self, each) for each in self.measured],
            "slopes": {str(place): found for place, found in self.slopes().items()},
        }


def _measured_record(report: Report, each: Measured) -> dict[str, object]:
    rows = [row for row in report.rows if row.length == each.length]
    return {
        "n": each.length,
        "mode": str(each.mode),
        "largest_is": FOUND_AS[each.mode],
        "finished": each.finished,
        "changes": [
            {
                "positions": str(row.place),
                "output": row.output,
                "exchanges": row.changes.exchanges,
                "largest": row.changes.largest,
                "n_times_largest": row.scaled,
                "mean": row.changes.mean,
                "exchange": exchange_record(report.subject.symbols, row.changes.exchange),
            }
            for row in rows
        ],
    }


def exchange_record(symbols: Sequence[str], exchange: WordExchange | HistogramExchange) -> dict[str, object]:
    """An exchange with the names of symbols; of a histogram the `word` is its counts."""
    match exchange:
        case WordExchange(word, position, after):
            shown = show_word(tuple(symbols[symbol] for symbol in word))
            before = symbols[word[position - 1]]
            return {"word": shown, "position": position, "before": before, "after": symbols[after]}
        case HistogramExchange(counts, _, before_number, after):
            shown = " ".join(f"{symbols[s]}:{count}" for s, count in enumerate(counts))
            return {
                "word": shown,
                "position": None,
                "before": symbols[before_number],
                "after": symbols[after],
            }


def _order(key: tuple[Place, int]) -> tuple[int, int]:
    return list(Place).index(key[0]), key[1]


def measure(subject: Subject, plan: Plan, report: Callable[[str], None]) -> Report:
    """Measure each length in turn, until the time is up or somebody presses Ctrl-C; with what there is."""
    deadline = time.monotonic() + plan.seconds
    measured: list[Measured] = []
    mode = plan.mode or _default_mode(subject, plan.lengths)
    for length in plan.lengths:
        report(f"n = {length}")
        seen: dict[tuple[Place, int], Changes] = {}
        finished, interrupted = False, False
        try:
            for part in _parts(subject, plan, mode, length):
                seen = merged((seen, part))
                if time.monotonic() > deadline:
                    break
            else:
                finished = True
        except KeyboardInterrupt:
            interrupted = True
        measured.append(Measured(length, mode, seen, finished))
        if not finished:
            return Report(subject, tuple(measured), interrupted)
    return Report(subject, tuple(measured), interrupted=False)


def _default_mode(subject: Subject, lengths: Sequence[int]) -> Mode:
    """Exact where all lengths are short enough, else sampled."""
    count = count_words if subject.histograms is None else count_histograms
    few = all(length < MOST_CASES * 2 and count(subject.frame, length) <= MOST_CASES for length in lengths)
    return Mode.EXACT if few else Mode.SAMPLED


def _parts(subject: Subject, plan: Plan, mode: Mode, length: int) -> Iterator[Seen]:
    frame = subject.frame
    match mode:
        case Mode.EXACT if subject.histograms is not None:
            return all_histograms(subject.histograms, frame, len(subject.symbols), length)
        case Mode.EXACT:
            return all_words(subject.outputs, frame, length)
        case Mode.WORD:
            if plan.words is None:
                raise OptionError("--mode word needs --words FILE")
            return given_words(subject.outputs, frame, plan.words[length])
        case Mode.SAMPLED:
            frame.require(length)
            words = plan.words[length] if plan.words else random_words(frame, length, plan.samples, plan.seed)
            return sampled_words(subject.outputs, frame, words, plan.seed)
        case Mode.SEARCH:
            return _rounds(subject, plan, length)


def _rounds(subject: Subject, plan: Plan, length: int) -> Iterator[Seen]:
    """A search that ends once as many words as samples have been run."""
    subject.frame.require(length)
    classes = {subject.frame.place(at, length) for at in subject.frame.positions(length)}
    rounds = -(-plan.samples // (2 * CLIMBERS * len(classes)))
    found = climb(subject.outputs, subject.frame, length, plan.seed)
    for _ in range(rounds):
        yield next(found)


def subject_of(source: str, start: str | None, log_odds: str | None) -> Subject:
    """The model that a folder or MODULE:OBJECT names; `start` begins every word and is never exchanged.

    With `log_odds` its one output is ln(P / (1 - P)), P the probability of that output by a softmax over all.
    """
    if Path(source).is_dir() or ":" not in source:
        if start is not None:
            raise OptionError("--start is for encoders: no compiled network has such a symbol")
        subject = of_model(load(Path(source)), source)
    else:
        subject = of_encoder(load_encoder(source), source, start)
    return subject if log_odds is None else in_log_odds(subject, log_odds)


def of_encoder(encoder: Encoder, source: str = "", start: str | None = None) -> Subject:
    """An encoder with soft attention, run in float64."""
    if start is not None and (start not in encoder.symbols or start == encoder.ending):
        raise OptionError(f"--start '{start}' is none of the symbols {' '.join(encoder.symbols)}")
    fixed = {start, encoder.ending}
    number = {symbol: k for k, symbol in enumerate(encoder.symbols)}
    frame = Frame(
        tuple(k for symbol, k in number.items() if symbol not in fixed),
        None if start is None else number[start],
        None if encoder.ending is None else number[encoder.ending],
    )
    ordered = encoder.mask is not Mask.UNMASKED or not isinstance(encoder.positions, NoPositions)
    return Subject(
        source,
        encoder.symbols,
        frame,
        encoder.outputs,
        lambda words: outputs_of(encoder, words),
        None if ordered else lambda counts, last: outputs_of_histograms(encoder, counts.astype(float), last),
    )


def of_model(model: Model, source: str = "") -> Subject:
    """A compiled network, run in float64 with its softmax; its outputs are those at position n.

    Raises `UnsupportedError` if it is read at the first position.
    """
    network = model.network
    if network.reads_first:
        raise UnsupportedError(
            "this network is read at the first position, and influence is measured at the last: compile the "
            "formula with --at last"
        )
    module = model.dense()
    names = tuple(name for name, _ in network.symbols) or ("output",)
    return Subject(
        source,
        network.alphabet.symbols,
        Frame(tuple(range(len(network.alphabet.symbols)))),
        names,
        lambda words: outputs_of_network(module, words),
    )


def outputs_of_network(module: DenseTransformer, words: Integers) -> Matrix:
    """What the network puts out at position n, of shape (B, K), for words (B, n)."""
    import torch

    heads = max((len(layer.heads) for layer in module.network.layers), default=1)
    size = max(1, SCORES_AT_ONCE // (max(1, heads) * words.shape[1] ** 2))
    parts = []
    with torch.no_grad():
        for top in range(0, len(words), size):
            values = module(torch.from_numpy(words[top : top + size]))[:, -1]
            parts.append(values.reshape(len(values), -1).double().numpy())
    return np.concatenate(parts)


def in_log_odds(subject: Subject, name: str) -> Subject:
    """The same model, its output the log-odds of one of its outputs under a softmax over all of them."""
    if name not in subject.names or len(subject.names) < 2:
        raise OptionError(
            f"--log-odds '{name}' is none of the model's outputs, {' '.join(subject.names)}, or the only one"
        )
    chosen = subject.names.index(name)

    def odds(values: Matrix) -> Matrix:
        others = np.delete(values, chosen, axis=1)
        return np.asarray(values[:, [chosen]] - np.logaddexp.reduce(others, axis=1)[:, None])

    histograms = subject.histograms
    return replace(
        subject,
        names=(f"log-odds of {name}",),
        outputs=lambda words: odds(subject.outputs(words)),
        histograms=None if histograms is None else lambda counts, last: odds(histograms(counts, last)),
    )


def words_in(lines: Sequence[str], subject: Subject) -> dict[int, Integers]:
    """The words on the lines, framed and numbered, by their length n.

    Raises `WordError`, with the number of the line, for a word that cannot be read, or without a symbol.
    """
    frame, symbols = subject.frame, [subject.symbols[k] for k in subject.frame.free]
    numbers = {symbol: k for k, symbol in enumerate(symbols)}
    bodies: dict[int, list[list[int]]] = {}
    for line_number, line in enumerate(lines, start=1):
        word = _word_on(line, line_number, Alphabet(tuple(symbols)))
        bodies.setdefault(len(word), []).append([numbers[symbol] for symbol in word])
    if not bodies:
        raise WordError("there is no word to measure: give one word a line")
    return {size + frame.fixed: frame.words(np.array(some)) for size, some in sorted(bodies.items())}


def _word_on(line: str, number: int, alphabet: Alphabet) -> Word:
    try:
        word = parse_word(line, alphabet)
    except WordError as error:
        raise WordError(f"word {number}: {error}", word=number, **error.details) from None
    if not word:
        raise WordError(f"word {number} is empty: there is nothing to exchange", word=number)
    return word
