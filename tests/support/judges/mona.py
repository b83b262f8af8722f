"""MONA as an oracle: formulas of past and future as M2L-STR text, and its automaton to walk words through.

MONA decides monadic second-order logic over finite words and shares no code or idea with attemper:
its words here are non-empty, each symbol is the set of the places (from 0) where it stands, and every
operator is written out with quantifiers over places.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Constant,
    First,
    Formula,
    Last,
    Symbol,
    Unary,
    UnaryOperator,
)
from attemper.languages.words import Word

_CONNECTIVES = {
    BinaryOperator.AND: "({f}) & ({g})",
    BinaryOperator.OR: "({f}) | ({g})",
    BinaryOperator.XOR: "~(({f}) <=> ({g}))",
    BinaryOperator.IMPLIES: "({f}) => ({g})",
    BinaryOperator.IFF: "({f}) <=> ({g})",
}
# {x} is the place of the formula, {j} of its operand; `max $` is the last place.
_UNARY = {
    UnaryOperator.NOT: "ex1 {j}: {j} = {x} & ~({f})",
    UnaryOperator.YESTERDAY: "ex1 {j}: {j} < {x} & {x} = {j} + 1 & ({f})",
    UnaryOperator.WEAK_YESTERDAY: "all1 {j}: {j} < {x} & {x} = {j} + 1 => ({f})",
    UnaryOperator.ONCE: "ex1 {j}: {j} <= {x} & ({f})",
    UnaryOperator.HISTORICALLY: "all1 {j}: {j} <= {x} => ({f})",
    UnaryOperator.NEXT: "ex1 {j}: {x} < {j} & {j} = {x} + 1 & ({f})",
    UnaryOperator.WEAK_NEXT: "all1 {j}: {x} < {j} & {j} = {x} + 1 => ({f})",
    UnaryOperator.EVENTUALLY: "ex1 {j}: {x} <= {j} & ({f})",
    UnaryOperator.ALWAYS: "all1 {j}: {x} <= {j} => ({f})",
}
# {f} speaks of the place {k}, {g} of the place {j}.
_BINARY = {
    BinaryOperator.SINCE: "ex1 {j}: {j} <= {x} & ({g}) & (all1 {k}: {j} < {k} & {k} <= {x} => ({f}))",
    BinaryOperator.PAST_RELEASE: "all1 {j}: {j} <= {x} => ({g}) | (ex1 {k}: {j} < {k} & {k} <= {x} & ({f}))",
    BinaryOperator.UNTIL: "ex1 {j}: {x} <= {j} & ({g}) & (all1 {k}: {x} <= {k} & {k} < {j} => ({f}))",
    BinaryOperator.RELEASE: "all1 {j}: {x} <= {j} => ({g}) | (ex1 {k}: {x} <= {k} & {k} < {j} & ({f}))",
    BinaryOperator.WEAK_UNTIL: "all1 {k}: {x} <= {k} => ({f}) | (ex1 {j}: {x} <= {j} & {j} <= {k} & ({g}))",
    BinaryOperator.STRONG_RELEASE: (
        "ex1 {k}: {x} <= {k} & ({f}) & (all1 {j}: {x} <= {j} & {j} <= {k} => ({g}))"
    ),
}


def mona_text(formula: Formula, place: str, sets: dict[str, str], depth: int = 0) -> str:
    """The M2L-STR formula that says that `formula` holds at `place`; `sets` names the symbols' sets."""
    j, k = f"j{depth}", f"k{depth}"
    match formula:
        case Symbol(name):
            return f"{place} in {sets[name]}"
        case Constant(value):
            return "true" if value else "false"
        case First():
            return f"{place} = 0"
        case Last():
            return f"{place} = max $"
        case Unary(operator, operand):
            inner = mona_text(operand, j, sets, depth + 1)
            return _UNARY[operator].format(x=place, j=j, f=inner)
        case Binary(operator, left, right) if operator in _CONNECTIVES:
            f, g = (mona_text(part, place, sets, depth + 1) for part in (left, right))
            return _CONNECTIVES[operator].format(f=f, g=g)
        case Binary(operator, left, right):
            f, g = mona_text(left, k, sets, depth + 1), mona_text(right, j, sets, depth + 1)
            return _BINARY[operator].format(x=place, j=j, k=k, f=f, g=g)
        case _:
            raise ValueError(f"{formula} counts: monadic second-order logic cannot say it")


@dataclass(frozen=True)
class MonaAutomaton:
    """MONA's automaton for one formula, complete and deterministic, over non-empty words."""

    initial: int
    accepting: frozenset[int]
    edges: dict[int, list[tuple[str, int]]]
    symbols: tuple[str, ...]

    def accepts(self, word: Word) -> bool:
        state = self.initial
        for letter in word:
            bits = "".join("1" if letter == symbol else "0" for symbol in self.symbols)
            (state,) = (target for guard, target in self.edges[state] if _allows(guard, bits))
        return state in self.accepting


def mona_automaton(executable: str, formula: Formula, symbols: tuple[str, ...], at: str) -> MonaAutomaton:
    """MONA's automaton of the words at whose "first" or "last" position the formula holds."""
    sets = {symbol: f"P{number}" for number, symbol in enumerate(symbols)}
    place = {"first": "0", "last": "max $"}[at]
    statement = f"ex1 p: p = {place} & ({mona_text(formula, 'p', sets)});"
    output = _run(executable, f"m2l-str;\nvar2 {', '.join(sets.values())};\n{statement}\n")
    (tracks,) = re.findall(r"free variables: (.*)", output)
    assert tracks.split() == list(sets.values())
    edges: dict[int, list[tuple[str, int]]] = {}
    for source, guard, target in re.findall(r"State (\d+): ([01X]+) -> state (\d+)", output):
        edges.setdefault(int(source), []).append((guard, int(target)))
    # In m2l-str the initial state is a dummy: its only edge, for any letter, goes to the true initial state.
    (dummy,) = re.findall(r"Initial state: (\d+)", output)
    ((guard, initial),) = edges[int(dummy)]
    assert set(guard) == {"X"}
    (accepting,) = re.findall(r"Accepting states: (.*)", output)
    return MonaAutomaton(initial, frozenset(map(int, accepting.split())), edges, symbols)


def _allows(guard: str, bits: str) -> bool:
    return all(allowed in ("X", bit) for allowed, bit in zip(guard, bits, strict=True))


def _run(executable: str, program: str) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "formula.mona"
        path.write_text(program, encoding="ascii")
        command = [executable, "-q", "-w", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\n{program}"
    return done.stdout
