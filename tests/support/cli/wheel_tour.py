"""What `make test-wheel` runs in an environment that has the package as users install it, and nothing else.

Only the standard library is imported here. Every step is a process of its own in an empty folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

DEV = {"pytest", "hypothesis", "mypy", "ruff", "plotly", "transformers", "onnx", "starlette"}
"""What must not be there: of these everything has to work without."""


@dataclass(frozen=True)
class Step:
    """A command, its exit code, and what it must say, in its output and its errors."""

    command: str
    says: str
    code: int = 0


STEPS = (
    Step("attemper --version", "0."),
    Step("attemper compile #<['0']_<=_#<['1'] --alphabet 01 -o majority", "certified for all lengths"),
    Step("attemper certify majority", "in float32"),
    Step("attemper check majority", "PROVED: all lengths, in real arithmetic"),
    Step("attemper check majority --explain", "PROVED"),
    Step("attemper check --rules", "# The certificate format, rule by rule"),
    Step("attemper show majority", "float64"),
    Step("attemper classify --regex (0|11)* --alphabet 01", "quasi-aperiodic"),
    Step("attemper formula --regex (b*ab*a)*b* --alphabet ab", "#<[a] % 2 = 0"),
    Step("attemper zoo parity-even -o parity", "compiled"),
    Step("attemper decompile parity", "PROVED: it computes an automaton with 2 states"),
    Step("attemper decompile majority --as formula", "#<['1'] >= #<['0']"),
    Step("attemper decompile attemper.models.hard.masked_examples:Alternating", "MEASURED"),
    Step("attemper same parity regex:(0*10*1)*0*", "SAME"),
    Step("attemper depth --regex (ab)* --alphabet ab -o depth.json", "least depth: 2"),
    Step("python -m attemper.checker depth.json", "PROVED"),
    Step("attemper run majority 0110 00101", "accepted  0110  0111"),
    Step("attemper run majority 01 --dtype bfloat16 --weights hard", "accepted"),
    Step("attemper trace majority 0110", "layer 0, head 0"),
    Step("attemper verify majority --up-to 5 --random 20 --length 60", "soft = hard = exact meaning"),
    Step("attemper page majority -o majority.html", "majority.html"),
    Step("attemper export circuit majority -o circuit.json", "circuit.json"),
    Step("attemper export torch majority -o majority.pt2", "majority.pt2"),
    Step("attemper export hugging-face majority -o out", "attemper[hugging-face]", 2),
    Step("attemper export gpt2 majority -o out --positions 9", "attemper[hugging-face]", 2),
    Step("attemper export transformer-lens majority -o lens", "lens"),
    Step("attemper export onnx majority -o out.onnx", "attemper[onnx]", 2),
    Step("attemper play", "attemper[play]", 2),
    Step("attemper data parity-even --split 0-8 --count 10 -o words", "wrote words"),
    Step("attemper study --quick -o study", "attemper[report]", 2),
    Step("attemper verify majority --scheduler tcp://127.0.0.1:1", "attemper[cluster]", 2),
    Step("python -m attemper.checker majority", "PROVED"),
    Step("python -m attemper.workbench.demo", "majority"),
)

WRITTEN = ("majority.html", "circuit.json", "majority.pt2", "lens/network.json")


def main() -> int:
    """Take all steps, say what failed, and return how many did."""
    installed = {one.metadata["Name"].lower() for one in distributions()}
    failures = [f"{name} is installed, and should not be" for name in sorted(DEV & installed)]
    with TemporaryDirectory() as folder:
        failures += [complaint for step in STEPS for complaint in _complaints(step, Path(folder))]
        failures += [f"{name} was not written" for name in WRITTEN if not Path(folder, name).is_file()]
    print("\n".join(failures) or f"{len(STEPS)} commands, each as it should be")  # noqa: T201
    return len(failures)


def _complaints(step: Step, folder: Path) -> list[str]:
    """What is wrong with a step's outcome."""
    # What Python is told elsewhere to import is not what was installed.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    words = _command(step.command.split())
    finished = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    said = finished.stdout + finished.stderr
    if finished.returncode == step.code and step.says in said and "Traceback" not in said:
        return []
    return [f"{step.command}: exit code {finished.returncode}, and it says:\n{said}"]


def _command(words: Sequence[str]) -> list[str]:
    """The command's words, with the programs of this environment; _ stands for a blank."""
    name, *others = (word.replace("_<=_", " <= ") for word in words)
    return [sys.executable if name == "python" else str(Path(sys.executable).with_name(name)), *others]


if __name__ == "__main__":
    sys.exit(main())
