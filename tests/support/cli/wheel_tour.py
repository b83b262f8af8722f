"""What `make test-wheel` runs in an environment that has the package as users install it, and nothing else.

Only the standard library is imported here. Every step is a process of its own in an empty folder. The tour is
made twice, as its one argument says: where torch is not installed, and where it is.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

DEV = {"pytest", "hypothesis", "mypy", "ruff", "plotly", "transformers", "onnx", "starlette"}
"""What must not be there: of these everything has to work without."""

MOST_MEGABYTES = 135
"""How large the installation may be without torch, on Linux x86-64."""

PYTHONS_OWN = ("pip", "setuptools", "pkg_resources", "_distutils_hack", "distutils-precedence")
"""How that begins in site-packages which a new environment may have by itself."""

WAYS = ("without-torch", "with-torch")


@dataclass(frozen=True)
class Step:
    """A command, its exit code, and what it must say, in its output and its errors.

    `needs_torch` is what of it needs torch, if anything: without it the command must say so, and do nothing.
    `extra` is the extra that it then names.
    """

    command: str
    says: str
    code: int = 0
    needs_torch: str = ""
    extra: str = "torch"

    def without_torch(self) -> Step:
        """What is to happen where torch is not installed."""
        if not self.needs_torch:
            return self
        return Step(self.command, f"{self.needs_torch} needs torch: pip install 'attemper[{self.extra}]'", 2)


STEPS = (
    Step("attemper --version", "0."),
    Step("attemper compile #<['0']_<=_#<['1'] --alphabet 01 -o majority", "certified for all lengths"),
    Step("attemper certify majority", "in float32"),
    Step("attemper check majority", "PROVED: all lengths, in real arithmetic"),
    Step("attemper check majority --explain", "PROVED"),
    Step("attemper schema certificate", "attemper-certificate/3"),
    Step("attemper check --rules", "# The certificate format, rule by rule"),
    Step("attemper show majority", "float64"),
    Step("attemper show majority --engines", "engine auto", needs_torch="a table of engines"),
    Step("attemper classify regex:(0|11)* --alphabet 01", "quasi-aperiodic"),
    Step("attemper to-formula regex:(b*ab*a)*b* --alphabet ab", "#<[a] % 2 = 0"),
    Step("attemper compile zoo:parity-even -o parity", "compiled"),
    Step("attemper zoo parity-even", "parity-even"),
    Step("attemper decompile parity", "PROVED: it computes an automaton with 2 states"),
    Step("attemper decompile majority --as formula", "#<['1'] >= #<['0']"),
    Step("attemper decompile attemper.models.hard.masked_examples:Alternating", "MEASURED"),
    Step(
        "attemper simulate attemper.models.hard.masked_examples:Surrounded -o between", "PROVED: all lengths"
    ),
    Step("attemper paper yang theorem-16", "HOLDS"),
    Step("attemper four-ways --lengths 8", "temperature"),
    Step("attemper same net:parity regex:(0*10*1)*0*", "SAME"),
    Step("attemper depth regex:(ab)* --alphabet ab -o depth.json", "least depth: 2"),
    Step("python -m attemper.checker depth.json", "PROVED"),
    Step("attemper compile O(b&Y(a)) --alphabet ab -o once", "certified for all lengths"),
    Step("attemper causal once -o causal.json", "PROVED: after layer 0"),
    Step("python -m attemper.checker causal.json --model once", "PROVED"),
    Step("attemper judge encoders:shares regex:b*a(a|b)* --alphabet ab --up-to 5 -o judged.json", "PROVED"),
    Step("python -m attemper.checker judged.json --model encoders:shares", "PROVED"),
    Step("attemper bench cases --count 1 --seed 1", "cases/0: ", needs_torch="a benchmark"),
    Step("attemper score cases causal.json", "has no numbers by case and edge", code=6),
    Step("attemper refute once zoo:parity-even --length 16 --free 0.8 -o found.json", "wrote found.json"),
    Step("attemper check found.json", "PROVED"),
    Step("attemper show found.json", "layer 0, head 0"),
    Step("attemper lemma --c 2 --heads 2", "tuned"),
    Step("attemper source dyck2 --p 1/3 --length 8", "H_opt"),
    Step("attemper compile tm:1RA--- -o right", "compiled"),
    Step("attemper generate right --prompt start --most 2", "A1R A1R"),
    Step("attemper soften once --epsilon 1/100 -o soft", "wrote soft"),
    Step("attemper run majority 0110 00101", "accepted  0110  0111"),
    Step("attemper run majority 01 --weights hard", "accepted"),
    Step(
        "attemper run majority 01 --dtype bfloat16 --weights hard",
        "accepted",
        needs_torch="the format bfloat16",
    ),
    Step("attemper run majority 01 --engine scan", "accepted", needs_torch="the engine 'scan'"),
    Step("attemper trace majority 0110", "layer 0, head 0"),
    Step("attemper verify majority --up-to 5 --count 20 --longest 60", "no disagreement"),
    Step(
        "attemper verify majority --up-to 3 --count 5 --longest 2000",
        "no disagreement",
        needs_torch="a word of more than 1,024 symbols",
    ),
    Step(
        "attemper influence majority --lengths 8,16 --count 2",
        "measured in float64",
        needs_torch="a network as a module",
    ),
    Step("attemper bound encoders:masked --length 16", "PROVED"),
    Step("attemper page majority -o majority.html", "majority.html"),
    Step("attemper export majority circuit -o circuit.json", "circuit.json"),
    Step("attemper export majority torch -o majority.pt2", "majority.pt2", needs_torch="the export torch"),
    Step("attemper export majority transformer-lens -o lens", "lens"),
    Step(
        "attemper export majority hugging-face -o out",
        "attemper[hugging-face]",
        2,
        needs_torch="the export hugging-face",
        extra="hugging-face",
    ),
    Step(
        "attemper export majority gpt2 -o out --positions 9",
        "attemper[hugging-face]",
        2,
        needs_torch="the export gpt2",
        extra="hugging-face",
    ),
    Step(
        "attemper export majority onnx -o out.onnx",
        "attemper[onnx]",
        2,
        needs_torch="the export onnx",
        extra="onnx",
    ),
    Step("attemper import majority -o back", "nothing is to be restored", 6),
    Step("attemper play", "attemper[play]", 2),
    Step("attemper data zoo:parity-even --lengths 0-8 --count 10 -o words", "wrote words"),
    Step("attemper train by_hand.toml -o run", "wrote run", needs_torch="attemper train"),
    Step("attemper study --quick -o study", "attemper[report]", 2, needs_torch="attemper study"),
    Step("attemper verify majority --scheduler tcp://127.0.0.1:1", "attemper[cluster]", 2),
    Step("python -m attemper.checker majority", "PROVED"),
    Step("python -m attemper.workbench.demo", "majority", needs_torch="a word of more than 1,024 symbols"),
)
"""All commands of the table in `attemper.registry`: a test compares them."""

WRITTEN = (
    "majority.html",
    "circuit.json",
    "lens/network.json",
    "depth.json",
    "found.json",
    "soft/network.json",
)
WRITTEN_WITH_TORCH = ("majority.pt2",)

BY_HAND = """
task = { name = "parity-even", p = "1/2" }
model = { kind = "parity-rnn" }
training = { steps = 0 }
evaluation = { lengths = [8], words = 8 }
"""
"""A run in which nothing is to be trained: `attemper train` measures."""

ENCODERS = """
import numpy as np
from attemper.models.soft.weights import Encoder, EncoderLayer, Mask, NoPositions

rows, one = np.arange(3.0)[:, None], np.ones((1, 1))
masked = Encoder(("0", "1", "$"), "$", rows, NoPositions(), Mask.FUTURE_MASKED, (), one, one[0], ("o",))

zero, none = np.zeros((1, 1)), np.zeros(1)
heads = np.concatenate([zero, zero, one])
layer = EncoderLayer(heads, np.zeros(3), one, none, zero, none, zero, none, None, 1, False)
rest = NoPositions(), Mask.UNMASKED, (layer,), one, np.array([-0.1]), ("a",)
shares = Encoder(("a", "b", "$"), "$", np.array([[1.0], [0.0], [0.0]]), *rest)
"""
"""Encoders that numpy runs: a sum, and the share of a symbol."""


def main(way: str) -> int:
    """Take all steps, say what failed and how large the installation is, and return how many failed."""
    has_torch = way == "with-torch"
    installed = {one.metadata["Name"].lower() for one in distributions()}
    failures = [f"{name} is installed, and should not be" for name in sorted(DEV & installed)]
    if has_torch is not ("torch" in installed):
        failures.append(f"torch is installed: {not has_torch}")
    steps = STEPS if has_torch else tuple(step.without_torch() for step in STEPS)
    written = WRITTEN + WRITTEN_WITH_TORCH * has_torch
    with TemporaryDirectory() as folder:
        Path(folder, "by_hand.toml").write_text(BY_HAND, encoding="utf-8")
        Path(folder, "encoders.py").write_text(ENCODERS, encoding="utf-8")
        failures += [complaint for step in steps for complaint in _complaints(step, Path(folder))]
        failures += [f"{name} was not written" for name in written if not Path(folder, name).is_file()]
    megabytes = _megabytes(Path(sysconfig.get_path("purelib")))
    is_measured = not has_torch and (platform.system(), platform.machine()) == ("Linux", "x86_64")
    if is_measured and megabytes > MOST_MEGABYTES:
        failures.append(f"{megabytes:.0f} MB are installed, more than {MOST_MEGABYTES}")
    done = f"{len(steps)} commands, each as it should be {way.replace('-', ' ')}"
    print("\n".join(failures) or done, f"{megabytes:.0f} MB installed", sep="\n")  # noqa: T201
    return len(failures)


def _megabytes(site: Path) -> float:
    """What all files take, but for Python's own tools and compiled bytecode, in millions of bytes."""
    files = (
        path
        for path in site.rglob("*")
        if path.is_file()
        and path.suffix != ".pyc"
        and not path.relative_to(site).parts[0].startswith(PYTHONS_OWN)
    )
    return sum(path.stat().st_size for path in files) / 1e6


def _complaints(step: Step, folder: Path) -> list[str]:
    """What is wrong with a step's outcome."""
    # What Python is told elsewhere to import is not what was installed.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = _command(step.command.split())
    finished = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = finished.stdout + finished.stderr
    # Where it does not fit, a line goes on below.
    if (
        finished.returncode == step.code
        and step.says in said.replace("\n  ", " ")
        and "Traceback" not in said
    ):
        return []
    return [f"{step.command}: exit code {finished.returncode}, and it says:\n{said}"]


def _command(words: Sequence[str]) -> list[str]:
    """The command's words, with the programs of this environment; _ stands for a blank."""
    name, *others = (word.replace("_<=_", " <= ") for word in words)
    return [sys.executable if name == "python" else str(Path(sys.executable).with_name(name)), *others]


if __name__ == "__main__":
    (named,) = sys.argv[1:]
    sys.exit(main(WAYS[WAYS.index(named)]))
