"""What people read first of a case: the page in its folder."""

from __future__ import annotations

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CausalClaim

NAME = "README.md"


def card(how: str, network: Network, certificate: Certificate, claim: CausalClaim) -> str:
    """How the network was made, what is proved of it, and what is not said of it."""
    single = [own for own in claim.edge_sets if len(own.edges) == 1]
    matter = sum(own.matters is not None for own in single)
    out = max((len(own.edges) for own in claim.edge_sets if own.matters is None), default=0)
    heads = sum(len(layer.heads) for layer in network.layers)
    floats = [
        f"- in {own.format}, with {own.kernel} attention, for words of up to {own.horizon:,} symbols"
        for own in certificate.claims
        if isinstance(own, FloatClaim) and own.horizon
    ]
    lines = (
        f"# {how.replace('*', chr(92) + '*')}",
        "",
        "A network whose causal edges are labelled by proof.",
        "To find them is necessary and not sufficient: this is a sanity suite with exact labels.",
        "",
        f"{len(network.layers)} layers, {heads} heads, {len(network.coordinates)} coordinates.",
        f"Causal variables, proved together: {len(claim.variables)}.",
        f"{matter} of {len(single)} edges matter; {len(single) - out} edges are a minimal circuit.",
        "",
        "Its language is proved for all words in real arithmetic; and",
        "",
        *(floats or ["- for no number format"]),
        "",
        "The network in `rotated` is the same function in real arithmetic.",
        "Nothing is proved of it for floats.",
        "",
        "`attemper check` proves this folder again, `causal.json` and `rotation.json`.",
    )
    return "\n".join(lines) + "\n"
