"""attemper: from languages to softmax transformers, with proof.

The public names are loaded when first used, so that importing a trusted part of the package never
imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attemper.attention_program.parse import parse_program
    from attemper.compiling.softening.normalise import LayerNorm
    from attemper.errors import AttemperError
    from attemper.exact.predicates import register_predicate
    from attemper.languages.regular.classes import classify
    from attemper.languages.regular.dfa import Dfa
    from attemper.languages.regular.files import read_dfa
    from attemper.languages.regular.regex import parse_regex
    from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network
    from attemper.theories.depth.ask import depth
    from attemper.theories.refutation.ask import refute
    from attemper.theories.softening.ask import load_softened, soften
    from attemper.version import __version__
    from attemper.workbench.asking import formula_of, verify
    from attemper.workbench.checking import check
    from attemper.workbench.compiling import compile, compile_dfa, compile_program, compile_regex  # noqa: A004
    from attemper.workbench.decompiling import decompile
    from attemper.workbench.folder import load
    from attemper.workbench.model import Model
    from attemper.workbench.same import same
    from attemper.workbench.zoo import compile_named, named

__all__ = [
    "AttemperError",
    "Dfa",
    "HeadOf",
    "LayerNorm",
    "LayerOf",
    "Model",
    "UnitOf",
    "__version__",
    "check",
    "classify",
    "compile",
    "compile_dfa",
    "compile_named",
    "compile_program",
    "compile_regex",
    "decompile",
    "depth",
    "formula_of",
    "hard_network",
    "load",
    "load_softened",
    "named",
    "parse_program",
    "parse_regex",
    "read_dfa",
    "refute",
    "register_predicate",
    "same",
    "soften",
    "verify",
]

__dir__ = __all__.copy

_HOMES = {
    "AttemperError": "attemper.errors",
    "Dfa": "attemper.languages.regular.dfa",
    "HeadOf": "attemper.networks.typed",
    "LayerNorm": "attemper.compiling.softening.normalise",
    "LayerOf": "attemper.networks.typed",
    "Model": "attemper.workbench.model",
    "UnitOf": "attemper.networks.typed",
    "__version__": "attemper.version",
    "check": "attemper.workbench.checking",
    "classify": "attemper.languages.regular.classes",
    "compile": "attemper.workbench.compiling",
    "compile_dfa": "attemper.workbench.compiling",
    "compile_named": "attemper.workbench.zoo",
    "compile_program": "attemper.workbench.compiling",
    "compile_regex": "attemper.workbench.compiling",
    "decompile": "attemper.workbench.decompiling",
    "depth": "attemper.theories.depth.ask",
    "formula_of": "attemper.workbench.asking",
    "hard_network": "attemper.networks.typed",
    "load": "attemper.workbench.folder",
    "load_softened": "attemper.theories.softening.ask",
    "named": "attemper.workbench.zoo",
    "parse_program": "attemper.attention_program.parse",
    "parse_regex": "attemper.languages.regular.regex",
    "read_dfa": "attemper.languages.regular.files",
    "refute": "attemper.theories.refutation.ask",
    "register_predicate": "attemper.exact.predicates",
    "same": "attemper.workbench.same",
    "soften": "attemper.theories.softening.ask",
    "verify": "attemper.workbench.asking",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'attemper' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
