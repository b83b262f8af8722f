"""Which coordinates hold which steps of a program: variables that a network may have.

Network and program are followed as the checker follows them (`check/following.py`), but nothing is named
apart from groups of bits that exclude each other, which a certificate lists. A coordinate that a layer writes
holds a step if both have one diagram. Nothing rests on what is found: the checker follows it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from attemper.attention_program.ops import Count, Letter, Linear, Not, Place, Program, Ref
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker.analysis import PRECISION, layer_fact
from attemper.checker.diagrams import Diagram
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps
from attemper.checker.proof import deep
from attemper.checker.values import ResidualValues, embedded, plain
from attemper.exact.balls import precision
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import Code, Holder, Variable
from attemper.theories.causal.check.following import ancestors


def variables_in(network: Network, said: Realisation) -> list[Variable]:
    """Variables that the network has, if the checker says so, in the order of their layers.

    Raises `UnprovenError` where the network cannot be followed.
    """
    with deep(), precision(PRECISION):
        return list(_variables(network, said.program, said.groups))


def _variables(network: Network, program: Program, groups: Sequence[SymbolGroup]) -> Iterator[Variable]:
    programs = Programs(network.alphabet.symbols)
    names, steps = programs.names, Steps(programs, program)
    unnamed = {ref for group in groups for _, ref in group.bits}
    made_of = {ref: ancestors(program, ref) for ref in range(len(program.steps))}
    taken, stream = set[Ref](), embedded(names, network)
    last = len(network.layers) - 1
    for number, layer in enumerate(network.layers):
        before, stream = stream, layer_fact(names, layer, number, stream).after
        here = [group for group in groups if group.layer == number]
        own = {ref for group in here for _, ref in group.bits}
        # A step that is asked for before a group is named keeps what it is made of.
        asked = [ref for ref in _bits(program) if not made_of[ref] & unnamed and ref not in unnamed - own]
        shown = set() if number < last else set(network.outputs)
        holders = _holders(steps, before, stream, [ref for ref in asked if ref not in taken], shown)
        for place, group in enumerate(here):
            codes = tuple(Code(ref, holders[ref]) for _, ref in group.bits if ref in holders)
            if len(codes) == len(group.bits):
                yield Variable(number, codes)
            for value, (coordinate, ref) in enumerate(group.bits):
                name = names.symbol(number, place, value)
                steps.name(ref, name)
                for holder in holders.get(ref, (Holder(coordinate, opposite=False),)):
                    bit = names.negation(name) if holder.opposite else name
                    stream.values[holder.coordinate] = {(0, 0): bit}
        unnamed -= own
        taken |= own
        for ref in sorted(holders.keys() - own):
            yield Variable(number, (Code(ref, holders[ref]),))
        taken |= holders.keys()


def _bits(program: Program) -> Iterator[Ref]:
    """Steps that a layer makes; the opposite of one is held where that is."""
    for ref, step in enumerate(program.steps):
        if not isinstance(step, Letter | Place | Not | Count | Linear):
            yield ref


def _holders(
    steps: Steps, before: ResidualValues, stream: ResidualValues, asked: Sequence[Ref], shown: set[int]
) -> dict[Ref, tuple[Holder, ...]]:
    """Of the steps that are asked for, where the layer has written them; of equal steps the last."""
    names, by_diagram = steps.names, dict[Diagram, Ref]()
    for ref in asked:
        bit = steps.bit(ref)
        if not names.diagrams.is_constant(bit):
            by_diagram[bit] = ref
    found: dict[Ref, list[Holder]] = {}
    for coordinate, value in enumerate(stream.values):
        if value == before.values[coordinate] or stream.errors[coordinate] or coordinate in shown:
            continue
        try:
            held = names.canonical(plain(value, names, ""))
            opposite = names.canonical(names.negation(held))
        except UnprovenError:
            continue
        for bit, is_opposite in ((held, False), (opposite, True)):
            if bit in by_diagram:
                found.setdefault(by_diagram[bit], []).append(Holder(coordinate, is_opposite))
                break
    return {ref: tuple(holders) for ref, holders in found.items()}
