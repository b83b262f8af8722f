"""Whether a network's outputs on a word are the first ones of its outputs on every longer word."""

from __future__ import annotations

from attemper.exact.closed_forms import depends_on_length
from attemper.languages.measures import Measure
from attemper.networks.layers import Head, Masking, Network, Softmax

BACKWARD = {Masking.FUTURE, Masking.STRICT_FUTURE}


def shares_prefixes(network: Network) -> bool:
    """Whether output i depends on the first i symbols alone, in real arithmetic.

    That is so where no head sees a position after its own, and nothing that is computed reads n: neither a
    position embedding nor a temperature, nor the reading of an integer as a share of what a mask shows. (By
    induction over layers: an embedding, a head, a normalisation and a feed-forward layer at position i then
    see nothing but positions up to i.)

    >>> from attemper.workbench.compiling import compile
    >>> [shares_prefixes(compile(text, "ab", at="last").network) for text in ("O a", "F a")]
    [True, False]
    """
    heads = [head for layer in network.layers for head in layer.heads]
    reads_no_length = not any(depends_on_length(form) for _, form in network.positions)
    share_is_backward = network.measure is not Measure.INTEGER or network.over in BACKWARD
    return reads_no_length and share_is_backward and all(_looks_back(head) for head in heads)


def _looks_back(head: Head) -> bool:
    """Whether a head sees nothing after its own position, and does not know n."""
    is_cold_by_length = isinstance(head.weighting, Softmax) and depends_on_length(
        head.weighting.inverse_temperature
    )
    return head.masking in BACKWARD and not is_cold_by_length
