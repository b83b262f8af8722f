"""What a network that runs an attention program holds: slow and exact, straight from the definition.

Only steps that say what a head does are a machine's (`wellformed.require_machine`): their meaning is that of
`meaning`, but for unions and merges. A network adds their bits up; that the sum is at most 1 is a promise,
which is not looked at here. `guard_edges` makes such a program of any other.

Where a conjunction of a letter and a place is looked for and holds nowhere, compiled heads prefer positions
that have one of the two: they add them up instead of waiting for the conjunction. A machine does not.
"""

from __future__ import annotations

from attemper.attention_program.meaning import Setting, StepValues, run_with
from attemper.attention_program.ops import Program
from attemper.attention_program.wellformed import require_machine
from attemper.languages.words import Word


def run(program: Program, word: Word, changed: Setting | None = None) -> tuple[StepValues, ...]:
    """The number that every step is at every position of the word, each as it is `changed`.

    Raises `UnsupportedError` for a program with a step that no machine has (`wellformed.require_machine`).
    """
    return run_with(sum, require_machine(program), word, changed)


def output(program: Program, word: Word) -> StepValues:
    """The result at every position of the word: 0 or 1, unless a sum of bits exceeds 1. Raises as `run`."""
    return run(program, word)[program.output]
