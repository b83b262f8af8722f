"""A model as HTML for notebooks: a table of what it is and how large."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from attemper.escapes import escaped
from attemper.networks.layers import parameter_count

if TYPE_CHECKING:
    from attemper.workbench.model import Model

LONGEST = 200
"""Longer titles are cut off."""


def model_html(model: Model) -> str:
    """The model as a table without scripts: title, regime, layers, heads and parameters."""
    layers = model.network.layers
    title = " ".join(model.title.split())
    shown = title if len(title) <= LONGEST else f"{title[:LONGEST]}..."
    facts = {
        "regime": str(model.regime),
        "layers": f"{len(layers):,}",
        "heads": f"{sum(len(layer.heads) for layer in layers):,}",
        "parameters": f"{parameter_count(model.network):,}",
    }
    rows = "".join(f"<tr><th>{name}</th><td>{escape(fact)}</td></tr>" for name, fact in facts.items())
    return f"<table><caption><code>{escape(escaped(shown))}</code></caption>{rows}</table>"
