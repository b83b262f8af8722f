"""What people read first of a case: the page in its folder."""

from __future__ import annotations

from attemper.certificates.claims import Certificate, FloatClaim
from attemper.networks.layers import Network
from attemper.theories.causal.bench.circuit import circuit, labels
from attemper.theories.causal.certificate import CausalClaim

NAME = "README.md"


def card(how: str, network: Network, certificate: Certificate, claim: CausalClaim) -> str:
    """How the network was made, what is proved of it, and what is not said of it."""
    matters, kept = labels(claim), circuit(claim)
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
        f"{sum(matters.values())} of {len(matters)} edges matter; {len(kept)} edges are a minimal circuit.",
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
