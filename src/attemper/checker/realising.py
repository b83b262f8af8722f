"""That a network runs an attention program: both are followed under the same names, and end in one diagram.

Nothing is said of where the network keeps a step, but for groups of bits: each bit of a group gets a name of
its own, on both sides, once the network's bit and the program's step have been seen to be one diagram. That
at most one bit of a group is 1 is a promise, and so is that of a sum of bits that is meant to be a bit;
whoever uses the result has to keep those that are returned.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from attemper.attention_program.ops import Count, Linear, Ref
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.checker.analysis import Analysis, OneHot, SymbolFact, analyse, outputs_of
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps, results_of
from attemper.networks.layers import Network

Promise = tuple[Ref, ...]
"""Bits of the program, one named as often as it occurs, of which at most one is 1 at any position."""


def realise(network: Network, said: Realisation) -> tuple[Analysis, tuple[Promise, ...]]:
    """What the network computes. Its output is the program's, and is a bit, if the promises are kept.

    The program has the meaning of `attention_program.machine`. Raises `UnprovenError`, naming the group or
    the output that is not shown to be the program's.
    """
    require_known(network, said)
    programs = Programs(network.alphabet.symbols)
    analysis = analyse(network, programs.names, symbols_of(said))
    steps = Steps(programs, said.program)
    for pairs in named_together(analysis, said):
        for group, fact in pairs:
            require_defined(steps, group, fact)
        for group, fact in pairs:
            name_group(steps, group, fact)
    steps.make_all()
    if outputs_of(analysis) != results_of(steps):
        raise UnprovenError("the output is not shown to be the program's")
    groups = (tuple(ref for _, ref in group.bits) for group in said.groups)
    return analysis, (*groups, *steps.promises)


def require_known(network: Network, said: Realisation) -> None:
    """Raise `UnprovenError` unless groups are of coordinates of the network, and of bits of the program."""
    if network.alphabet != said.program.alphabet:
        raise UnprovenError("the program has another alphabet than the network")
    coordinates, steps = range(len(network.coordinates)), said.program.steps
    for group in said.groups:
        if group.layer not in range(len(network.layers)):
            raise UnprovenError(f"there is no layer {group.layer}")
        if not group.bits:
            raise UnprovenError(f"a group of layer {group.layer} has no bits")
        for coordinate, ref in group.bits:
            if coordinate not in coordinates:
                raise UnprovenError(f"there is no coordinate {coordinate}")
            if ref not in range(len(steps)) or isinstance(steps[ref], Count | Linear):
                raise UnprovenError(f"step {ref} is no bit of the program")


def groups_by_layer(said: Realisation) -> dict[int, list[SymbolGroup]]:
    """The groups that each layer makes."""
    found: dict[int, list[SymbolGroup]] = {}
    for group in said.groups:
        found.setdefault(group.layer, []).append(group)
    return found


def symbols_of(said: Realisation) -> dict[int, list[OneHot]]:
    """The coordinates of the groups that each layer makes."""
    return {
        layer: [tuple(coordinate for coordinate, _ in group.bits) for group in groups]
        for layer, groups in groups_by_layer(said).items()
    }


def named_together(
    analysis: Analysis, said: Realisation
) -> Iterator[tuple[tuple[SymbolGroup, SymbolFact], ...]]:
    """The groups of each layer with what the network's bits are: no name of a layer is in its definitions."""
    groups = groups_by_layer(said)
    for layer, facts in groupby(analysis.symbols, key=lambda fact: fact.layer):
        yield tuple((groups[layer][fact.group], fact) for fact in facts)


def require_defined(steps: Steps, group: SymbolGroup, fact: SymbolFact) -> None:
    """Raise `UnprovenError` unless the bits of a group are the program's."""
    for (coordinate, ref), bit in zip(group.bits, fact.definitions, strict=True):
        if steps.bit(ref) != steps.names.canonical(bit):
            raise UnprovenError(
                f"after layer {group.layer}, coordinate {coordinate} is not shown to be step {ref}"
            )


def name_group(steps: Steps, group: SymbolGroup, fact: SymbolFact) -> None:
    """Call the bits of a group by the names that the network's have."""
    for code, (_, ref) in enumerate(group.bits):
        steps.name(ref, steps.names.symbol(fact.layer, fact.group, code))
