"""What a transformer that runs an attention program computes: slow and exact, straight from the definition.

A head attends somewhere wherever it sees anything. So a machine's steps are those of `meaning` but for these:

    attend              the value at the rightmost (leftmost) of the visible positions where `where` is
                        greatest: at a blocked one where it holds nowhere; 0 where i sees nothing
                        (strict masks, at one end)
    previous, next      the bit at i itself where there is no neighbour
    union, merge        the sum of the bits; that it is at most 1 is a promise, which is not looked at here

A count is what it is in `meaning`: under a strict mask the head sees nothing at one end, and the sum of
nothing is 0. `guard_edges` writes programs whose output is the same in both.

Where a conjunction of a letter and a place is looked for and holds nowhere, compiled heads prefer positions
that have one of the two: they add them up instead of waiting for the conjunction. A machine does not.
"""

from __future__ import annotations

from attemper.attention_program.meaning import Edges, Row, chosen, run_with
from attemper.attention_program.ops import Attend, Program
from attemper.attention_program.wellformed import require_machine
from attemper.languages.words import Word


def run(program: Program, word: Word) -> tuple[Row, ...]:
    """The number that every step is at every position of the word.

    Raises `UnsupportedError` for a program with a step that no machine has (`wellformed.require_machine`).
    """
    return run_with(Edges(_attend, _shift, sum), require_machine(program), word)


def output(program: Program, word: Word) -> Row:
    """The result at every position of the word: 0 or 1, unless a sum of bits exceeds 1. Raises as `run`."""
    return run(program, word)[program.output]


def _attend(step: Attend, seen: range, _: int, rows: list[Row]) -> int:
    if not seen:
        return 0
    greatest = max(rows[step.where][j - 1] for j in seen)
    found = [j for j in seen if rows[step.where][j - 1] == greatest]
    return rows[step.value][chosen(step.choice, found) - 1]


def _shift(row: Row, j: int) -> int:
    return row[min(max(j, 1), len(row)) - 1]
