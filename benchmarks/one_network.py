"""One network on long words, in a process of its own, whose peak of memory is nobody else's.

`python -m benchmarks.one_network NAME LENGTH [WORD ...]` prints one line of JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from dataclasses import asdict, dataclass

import numpy as np
import torch
from tests.support.drawn.long_words import WORDS, Tokens, exact_bits, shown_rows, wrong_positions

from attemper.running.dense import DenseTransformer
from benchmarks.subjects import meaning_of, model_of, sees, subjects


@dataclass(frozen=True)
class Measured:
    """What one network did with words of one length; seconds are those of the processor."""

    name: str
    length: int
    sees: str
    seconds: dict[str, float]
    wrong: dict[str, int]
    peak_mib: float
    before_mib: float


def main() -> None:
    """Measure the network and the words that the arguments name; all words if none is named."""
    name, length, *words = sys.argv[1:]
    print(json.dumps(asdict(measured(name, int(length), words or list(WORDS)))))


def measured(name: str, length: int, words: list[str]) -> Measured:
    """Time and memory of all runs first, then what should have come out. Raises `KeyError` for a name."""
    torch.set_num_threads(1)
    found = {subject.name: subject for subject in subjects()}
    model = model_of(found[name])
    if model is None:
        raise KeyError(f"{name} cannot be compiled")
    symbols = len(model.alphabet.symbols)
    module = model.dense(engine="scan")
    ran(module, WORDS["random"](1000, symbols))
    before = peak_mib()
    seconds, shown = {}, {}
    for word in words:
        seconds[word], shown[word] = ran(module, WORDS[word](length, symbols))
    peak = peak_mib()
    meaning = meaning_of(found[name], model)
    wrong = {
        word: wrong_positions(shown[word], exact_bits(meaning, model.alphabet, WORDS[word](length, symbols)))
        for word in words
    }
    return Measured(name, length, sees(model.network), seconds, wrong, peak, before)


def ran(module: DenseTransformer, tokens: Tokens) -> tuple[float, np.ndarray]:
    """Seconds of the processor, and what was put out [output, position], in few bits: it is only read."""
    batch = torch.from_numpy(tokens)[None]
    start = time.process_time()
    with torch.no_grad():
        output = module(batch)[0]
    seconds = time.process_time() - start
    return seconds, shown_rows(output.numpy()).astype(np.float16)


def peak_mib() -> float:
    """The most memory that this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
