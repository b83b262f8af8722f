"""The page's interpreter in node: one process for each network, which is asked about many words."""

from __future__ import annotations

import json
import shutil
import subprocess
import weakref
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from attemper.exports.page.contents import json_of, page_contents
from attemper.exports.subject import Exported
from attemper.languages.words import Word
from tests.support.drawn.exported import RunExport

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None, reason="the page's interpreter runs in node, which is not installed"
)

ASK = """
const calls = { wordOf, formValue, bitOf, putOut, verdictOf, normalised, short,
  integerOf: (share, count) => String(integerOf(share, count)),
  nextOf: (word) => nextOf(network, word, run(network, word)), countersAfter, tapeAfter,
  exponentials: (points) => points.map((x) => Math.exp(x)) };
const text = (row) => Array.from(row, String);
const rows = (stream) => stream.map(text);
let network;
const answer = (asked) => {
  if (asked.network) return (network = asked.network).title;
  if (asked.call) return calls[asked.call](...asked.given);
  const off = new Set(asked.off), ran = run(network, asked.word, (l, h) => off.has(`${l}.${h}`));
  const weights = (head) => asked.word.map((_, q) => text(head.weights(q)));
  return {
    outputs: rows(ran.outputs), margin: String(ran.margin), verdict: verdictOf(network, ran),
    putOut: asked.word.map((_, p) => putOut(network, ran, p)),
    weights: asked.weights ? ran.heads.map((layer) => layer.map(weights)) : null,
    stream: asked.stream ? ran.steps.map((step) => rows(step.stream)) : null,
  };
};
const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => console.log(JSON.stringify(answer(JSON.parse(line)))));
"""


class Interpreter:
    """A node process with the page's interpreter in it."""

    def __init__(self, folder: Path) -> None:
        assert NODE is not None
        parts = ("interpreter.js", "reading.js", "machine.js")
        page = files("attemper.exports.page")
        script = Path(folder) / "asked.js"
        script.write_text("\n".join([*(page.joinpath(part).read_text() for part in parts), ASK]))
        self._process = subprocess.Popen(
            [NODE, str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.stop = weakref.finalize(self, _stop, self._process)

    def ask(self, **asked: object) -> Any:
        """What the script answers."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the interpreter stopped: node's error stands above"
        return json.loads(line)

    def call(self, name: str, *given: object) -> Any:
        """What one of the page's functions gives back."""
        return self.ask(call=name, given=given)

    def show(self, contents: dict[str, Any]) -> None:
        """Take another network, as a page's JSON has it."""
        self.ask(network=json.loads(json_of(contents)))

    def run(self, word: Word, off: Sequence[str] = (), **more: bool) -> dict[str, Any]:
        """What the network does with a word; numbers are floats, and those of rows lists."""
        ran: dict[str, Any] = self.ask(word=list(word), off=list(off), **more)
        floats = {name: _floats(ran[name]) for name in ("outputs", "margin", "weights", "stream")}
        return {**ran, **floats}


def _stop(process: subprocess.Popen[str]) -> None:
    process.communicate()


def _floats(given: Any) -> Any:
    """Texts of numbers, in lists as they stand, as floats."""
    if isinstance(given, list):
        return [_floats(own) for own in given]
    return None if given is None else float(given.replace("Infinity", "inf"))


def run_page(subject: Exported, folder: Path) -> RunExport:
    """The page's interpreter as an export: tokens and mask to outputs and margins, in float64."""
    folder.mkdir(exist_ok=True)
    interpreter = Interpreter(folder)
    interpreter.show(page_contents(subject))
    symbols, kept = subject.network.alphabet.symbols, dict[Word, tuple[list[list[float]], float]]()

    def of_word(word: Word) -> tuple[list[list[float]], float]:
        if word not in kept:
            ran = interpreter.run(word)
            kept[word] = ran["outputs"], ran["margin"]
        return kept[word]

    def run(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        names = len(subject.network.outputs)
        outputs = torch.zeros(*tokens.shape, names, dtype=torch.float64)
        margins = torch.empty(len(tokens), dtype=torch.float64)
        for row, (numbers, real) in enumerate(zip(tokens, mask.bool(), strict=True)):
            rows, margins[row] = of_word(tuple(symbols[number] for number in numbers[real]))
            outputs[row, real] = torch.tensor(rows, dtype=torch.float64).T
        return outputs if subject.network.symbols else outputs[..., 0], margins

    return run
