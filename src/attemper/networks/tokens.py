"""Networks that go on writing: what they put out can be read as the next symbol of the word."""

from __future__ import annotations

from attemper.languages.machines.syntax import HALTS
from attemper.networks.layers import Network


def puts_out_tokens(network: Network) -> bool:
    """Whether all that a network puts out are symbols of its own, and `none`, at which nothing follows.

    >>> import attemper
    >>> machine = attemper.machine("input x n; sub n -> 1 else halt")
    >>> puts_out_tokens(attemper.compile(machine, regime="decoder").network)
    True
    >>> puts_out_tokens(attemper.compile("O a", "ab").network)
    False
    """
    names = {name for name, _ in network.symbols if network.measure is None}
    return bool(names) and names <= {*network.alphabet.symbols, HALTS}
