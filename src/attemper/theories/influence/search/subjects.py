"""Models as `attemper influence` measures them: encoders in Python, and compiled networks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from attemper.errors import OptionError, UnsupportedError, WordError
from attemper.languages.words import Alphabet, Word
from attemper.models.arrays import Floats, Integers
from attemper.models.soft.loading import load_encoder
from attemper.models.soft.soft import outputs_of, outputs_of_histograms
from attemper.models.soft.weights import Encoder, Mask, NoPositions
from attemper.theories.influence.search.influence import Outputs, OutputsOfHistograms, WordFrame
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from attemper.workbench.words import word_of

if TYPE_CHECKING:
    from attemper.running.dense import DenseTransformer
    from attemper.workbench.words import WordLike

MOST_WORDS = 1_000_000
"""So many words of a file are measured at most: a pipe may have no end."""

SCORES_AT_ONCE = 1 << 24
"""How many scores of one layer exist at a time where a network's scores are watched."""


@final
@dataclass(frozen=True)
class MeasuredModel:
    """A model as it is measured: its symbols by number, its outputs by name, and what computes them.

    `histograms` computes the same from counts where order cannot matter, and is None where it can.
    """

    source: str
    symbols: tuple[str, ...]
    frame: WordFrame
    names: tuple[str, ...]
    outputs: Outputs
    histograms: OutputsOfHistograms | None = None


def subject_of(model: Model | Encoder | str, start: str | None, log_odds: str | None) -> MeasuredModel:
    """The model, or what a folder or MODULE:OBJECT names; `start` begins every word and is never exchanged.

    With `log_odds` its one output is ln(P / (1 - P)), P the probability of that output by a softmax over all.
    """
    subject = _named(model, start) if isinstance(model, str) else _subject(model, "", start)
    return subject if log_odds is None else in_log_odds(subject, log_odds)


def _named(source: str, start: str | None) -> MeasuredModel:
    if Path(source).is_dir() or ":" not in source:
        return _subject(load(Path(source)), source, start)
    return _subject(load_encoder(source), source, start)


def _subject(model: object, source: str, start: str | None) -> MeasuredModel:
    match model:
        case Model():
            if start is not None:
                raise OptionError("start is for encoders: no compiled network has such a symbol")
            return of_model(model, source)
        case Encoder():
            return of_encoder(model, source, start)
        case _:
            raise OptionError(
                f"model={type(model).__name__} is neither a model nor an encoder: see docs/limits.md"
            )


def of_encoder(encoder: Encoder, source: str = "", start: str | None = None) -> MeasuredModel:
    """An encoder with soft attention, run in float64."""
    if start is not None and (start not in encoder.symbols or start == encoder.ending):
        raise OptionError(
            f"start='{start}' is none of the symbols {' '.join(encoder.symbols)}", options=("start",)
        )
    fixed = {start, encoder.ending}
    number = {symbol: k for k, symbol in enumerate(encoder.symbols)}
    frame = WordFrame(
        tuple(k for symbol, k in number.items() if symbol not in fixed),
        None if start is None else number[start],
        None if encoder.ending is None else number[encoder.ending],
    )
    ordered = encoder.mask is not Mask.UNMASKED or not isinstance(encoder.positions, NoPositions)
    return MeasuredModel(
        source,
        encoder.symbols,
        frame,
        encoder.outputs,
        lambda words: outputs_of(encoder, words),
        None if ordered else lambda counts, last: outputs_of_histograms(encoder, counts.astype(float), last),
    )


def of_model(model: Model, source: str = "") -> MeasuredModel:
    """A compiled network, run in float64 with its softmax; its outputs are those at position n.

    Raises `UnsupportedError` if it is read at the first position.
    """
    network = model.network
    if network.reads_first:
        raise UnsupportedError(
            "this network is read at the first position, and influence is measured at the last: compile the "
            "formula with at='last'",
            options=("at",),
        )
    module = model.dense()
    names = tuple(name for name, _ in network.symbols) or ("output",)
    return MeasuredModel(
        source,
        network.alphabet.symbols,
        WordFrame(tuple(range(len(network.alphabet.symbols)))),
        names,
        lambda words: outputs_of_network(module, words),
    )


def outputs_of_network(module: DenseTransformer, words: Integers) -> Floats:
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


def in_log_odds(subject: MeasuredModel, name: str) -> MeasuredModel:
    """The same model, its output the log-odds of one of its outputs under a softmax over all of them."""
    if name not in subject.names or len(subject.names) < 2:
        raise OptionError(
            f"log_odds='{name}' is none of the model's outputs, {' '.join(subject.names)}, or the only one",
            options=("log_odds",),
        )
    chosen = subject.names.index(name)

    def odds(values: Floats) -> Floats:
        others = np.delete(values, chosen, axis=1)
        return np.asarray(values[:, [chosen]] - np.logaddexp.reduce(others, axis=1)[:, None])

    histograms = subject.histograms
    return replace(
        subject,
        names=(f"log-odds of {name}",),
        outputs=lambda words: odds(subject.outputs(words)),
        histograms=None if histograms is None else lambda counts, last: odds(histograms(counts, last)),
    )


def words_in(
    words: Iterable[WordLike], subject: MeasuredModel, place: Callable[[int], str]
) -> dict[int, Integers]:
    """The words, without markers, framed and numbered, by their length n.

    Raises `WordError`, with the `place` of the word, for a word that cannot be read, or without a symbol.
    """
    frame, symbols = subject.frame, [subject.symbols[k] for k in subject.frame.free]
    numbers = {symbol: k for k, symbol in enumerate(symbols)}
    bodies: dict[int, list[list[int]]] = {}
    for word_number, given in enumerate(words, start=1):
        if word_number > MOST_WORDS:
            raise WordError(f"more than {MOST_WORDS:,} words are not measured: give fewer")
        word = _word(given, word_number, Alphabet(tuple(symbols)), place(word_number))
        bodies.setdefault(len(word), []).append([numbers[symbol] for symbol in word])
    if not bodies:
        raise WordError("there is no word to measure: give one at least")
    return {size + frame.fixed: frame.words(np.array(some)) for size, some in sorted(bodies.items())}


def _word(given: WordLike, number: int, alphabet: Alphabet, place: str) -> Word:
    try:
        word = word_of(given, alphabet)
    except WordError as error:
        raise WordError(f"{place}: {error}", word=number, **error.details) from None
    if not word:
        raise WordError(f"{place} is empty: there is nothing to exchange", word=number)
    return word
