"""That a network runs an attention program: both are followed under the same names, and end in one diagram.

Nothing is said of where the network keeps a step, but for groups of bits: each bit of a group gets a name of
its own, on both sides, once the network's bit and the program's step have been seen to be one diagram. That
at most one bit of a group is 1 is a promise, which whoever uses the result has to keep.
"""

from __future__ import annotations

from attemper.certificates.claims import Realisation, SymbolGroup
from attemper.checker.analysis import ROUNDED, Analysis, Symbol, analyse
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs, Steps
from attemper.checker.values import plain
from attemper.networks.layers import Network


def realise(network: Network, said: Realisation) -> Analysis:
    """What the network computes. Its output is the program's, if at most one bit of each group is 1.

    Raises `UnprovenError`, naming the group or the output that is not shown to be the program's.
    """
    if network.alphabet != said.program.alphabet:
        raise UnprovenError("the program has another alphabet than the network")
    names = Programs(network.alphabet.symbols)
    by_layer: dict[int, list[SymbolGroup]] = {}
    for group in said.groups:
        by_layer.setdefault(group.layer, []).append(group)
    analysis = analyse(
        network,
        names,
        {
            layer: [[coordinate for coordinate, _ in group.bits] for group in groups]
            for layer, groups in by_layer.items()
        },
    )
    steps = Steps(names, said.program)
    for fact in analysis.symbols:
        bits = by_layer[fact.layer][fact.group].bits
        for (coordinate, ref), bit in zip(bits, fact.definitions, strict=True):
            if steps.bit(ref) != names.settled(bit):
                raise UnprovenError(
                    f"after layer {fact.layer}, coordinate {coordinate} is not shown to be step {ref}"
                )
        for code, (_, ref) in enumerate(bits):
            steps.name(ref, names.symbol(fact.layer, fact.group, code))
    output = plain(analysis.end.values[network.output], names, "the output")
    if analysis.end.errors[network.output] > ROUNDED or names.settled(output) != steps.bit(
        said.program.output
    ):
        raise UnprovenError("the output is not shown to be the program's")
    return analysis


def _symbol(group: SymbolGroup) -> Symbol:
    return tuple(coordinate for coordinate, _ in group.bits)
