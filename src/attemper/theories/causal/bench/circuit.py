"""What a claim says of single edges, and which of them are its circuit."""

from __future__ import annotations

from attemper.theories.causal.certificate import CausalClaim, CausalEdge


def labels(claim: CausalClaim) -> dict[CausalEdge, bool]:
    """Of each edge that has a label by itself whether it matters."""
    return {own.edges[0]: own.matters is not None for own in claim.edge_sets if len(own.edges) == 1}


def circuit(claim: CausalClaim) -> frozenset[CausalEdge]:
    """What is kept of these where most are left out: those that together are said to change no bit."""
    irrelevant = (own.edges for own in claim.edge_sets if own.matters is None)
    left_out = max(irrelevant, key=lambda edges: len(edges), default=())
    return frozenset(labels(claim)).difference(left_out)
