"""As many heads in each layer: tools that make one table of all heads ask for that."""

from __future__ import annotations

from dataclasses import replace

from attemper.networks.layers import Network, Uniform


def with_uniform_heads(network: Network) -> Network:
    """The network with heads behind those of smaller layers that read nothing and write nothing.

    What it computes is the same; as sums have more terms, which are 0, they may be rounded in another order.
    """
    most = max((layer.heads for layer in network.layers), key=len, default=())
    if not most:
        return network
    blank = replace(most[0], construction=Uniform(), query=(), key=(), values=(), targets=())
    layers = (
        replace(layer, heads=layer.heads + (blank,) * (len(most) - len(layer.heads)))
        for layer in network.layers
    )
    return replace(network, layers=tuple(layers))
