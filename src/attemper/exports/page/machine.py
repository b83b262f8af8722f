"""The machine that a network runs, as a page draws it: what each token says, not which comes next."""

from __future__ import annotations

from attemper.exports.page.forms import Data
from attemper.exports.subject import Exported
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.machines.show import show_machine
from attemper.languages.machines.syntax import CounterMachine
from attemper.languages.machines.turing import START, Move
from attemper.languages.words import Alphabet
from attemper.networks.tokens import puts_out_tokens


def machine_data(subject: Exported) -> dict[str, Data] | None:
    """What the tokens of a network say that writes a machine's run; None for every other network.

    A counter machine is that of the source. A Turing machine's source is a program, and its tokens are known
    by their names: whatever writes such tokens is shown as what they say.

    >>> import attemper
    >>> machine = attemper.machine("input x n; take: sub n -> take else halt")
    >>> model = attemper.compile(machine, regime="decoder")
    >>> machine_data(Exported(model.network, model.source))["effects"]
    [[1, 0, 1], [1, 0, 0], [1, 0, -1], [0, 0, 0]]
    """
    network, source = subject.network, subject.source
    if not puts_out_tokens(network):
        return None
    match source.kind:
        case "machine":
            return _counters(parse_machine(source.text), network.alphabet)
        case "program":
            return _tape(network.alphabet)
        case _:
            return None


def _counters(machine: CounterMachine, alphabet: Alphabet) -> dict[str, Data] | None:
    """Registers, texts of lines 1, 2, ..., and of each symbol the next line, a register, what is added."""
    if not MachineLanguage(machine).fits(alphabet):
        return None
    shown = show_machine(machine).splitlines()
    return {
        "kind": "counters",
        "registers": list(machine.registers),
        "lines": [*shown[len(shown) - len(machine.lines) :]],
        "effects": [[said.line, said.register, said.amount] for said in machine.effects.values()],
    }


def _tape(alphabet: Alphabet) -> dict[str, Data] | None:
    """Of each symbol the state that follows, what was written, and how far to the right the head went."""
    first, *others = alphabet.symbols
    moves = [move for token in others if (move := Move.of_token(token)) is not None]
    if first != START or not moves or len(moves) < len(others):
        return None
    effects: list[Data] = [["A", None, 0]]
    effects += [[own.state, own.symbol, 1 if own.direction == "R" else -1] for own in moves]
    return {"kind": "tape", "effects": effects}
