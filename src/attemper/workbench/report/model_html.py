"""A model as HTML for notebooks: a table of what it is and how large."""

from __future__ import annotations

from html import escape

from attemper.escapes import escaped
from attemper.networks.layers import Network, parameter_count
from attemper.networks.regime import Regime

LONGEST = 200
"""Longer titles are cut off."""


def model_html(network: Network, title: str, regime: Regime) -> str:
    """A model as a table without scripts: title, regime, layers, heads and parameters."""
    layers, line = network.layers, " ".join(title.split())
    shown = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
    facts = {
        "regime": str(regime),
        "layers": f"{len(layers):,}",
        "heads": f"{sum(len(layer.heads) for layer in layers):,}",
        "parameters": f"{parameter_count(network):,}",
    }
    rows = "".join(f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    return f"<table><caption><code>{escape(escaped(shown))}</code></caption>{rows}</table>"
