"""attemper: from languages to softmax transformers, with proof.

The public names are loaded when first used, so that importing a trusted part of the package never
imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attemper.errors import AttemperError
    from attemper.exact.predicates import register_predicate
    from attemper.workbench.model import Model, compile, load  # noqa: A004

__version__ = "0.1.0"
__all__ = ["AttemperError", "Model", "__version__", "compile", "load", "register_predicate"]

_HOMES = {
    "AttemperError": "attemper.errors",
    "Model": "attemper.workbench.model",
    "compile": "attemper.workbench.model",
    "load": "attemper.workbench.model",
    "register_predicate": "attemper.exact.predicates",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'attemper' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
