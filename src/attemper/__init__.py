"""attemper: from languages to softmax transformers, with proof.

The public names are loaded when first used, so that importing a trusted part of the package never
imports torch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from attemper.compiling.softening.normalise import LayerNorm
    from attemper.errors import (
        AlphabetError,
        AmbiguousReadingError,
        AttemperError,
        AutomatonError,
        ExitCode,
        InternalError,
        MachineError,
        MalformedFileError,
        OptionError,
        SourceError,
        UndecidedError,
        UnprovedError,
        UnsupportedError,
        WordError,
    )
    from attemper.exact.predicates import PredicateError, register_predicate
    from attemper.languages.regular.dfa import Dfa
    from attemper.modules import ModuleError
    from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network
    from attemper.theories.causal.ask import causal
    from attemper.theories.depth.ask import depth
    from attemper.theories.influence.ask.bounding import bound
    from attemper.theories.influence.ask.measuring import influence
    from attemper.theories.refutation.ask import reduce, refute
    from attemper.theories.softening.ask import load_softened, pieces, soften
    from attemper.training.ask import data
    from attemper.version import __version__
    from attemper.workbench.asking import verify
    from attemper.workbench.checking import check
    from attemper.workbench.classifying import classify
    from attemper.workbench.compiling import compile  # noqa: A004
    from attemper.workbench.decompiling import decompile
    from attemper.workbench.folder import load
    from attemper.workbench.language import Language
    from attemper.workbench.model import Model
    from attemper.workbench.naming import dfa, formula, language, machine, program, regex
    from attemper.workbench.same import same
    from attemper.workbench.simulating import simulate
    from attemper.workbench.translating import to_formula
    from attemper.workbench.zoo import zoo

__all__ = [
    "AlphabetError",
    "AmbiguousReadingError",
    "AttemperError",
    "AutomatonError",
    "Dfa",
    "ExitCode",
    "HeadOf",
    "InternalError",
    "Language",
    "LayerNorm",
    "LayerOf",
    "MachineError",
    "MalformedFileError",
    "Model",
    "ModuleError",
    "OptionError",
    "PredicateError",
    "SourceError",
    "UndecidedError",
    "UnitOf",
    "UnprovedError",
    "UnsupportedError",
    "WordError",
    "__version__",
    "bound",
    "causal",
    "check",
    "classify",
    "compile",
    "data",
    "decompile",
    "depth",
    "dfa",
    "formula",
    "hard_network",
    "influence",
    "judge",
    "language",
    "load",
    "load_softened",
    "machine",
    "pieces",
    "program",
    "reduce",
    "refute",
    "regex",
    "register_predicate",
    "same",
    "simulate",
    "soften",
    "to_formula",
    "verify",
    "zoo",
]

__dir__ = __all__.copy

_HOMES = {
    "AlphabetError": "attemper.errors",
    "AmbiguousReadingError": "attemper.errors",
    "AttemperError": "attemper.errors",
    "AutomatonError": "attemper.errors",
    "Dfa": "attemper.languages.regular.dfa",
    "ExitCode": "attemper.errors",
    "HeadOf": "attemper.networks.typed",
    "InternalError": "attemper.errors",
    "Language": "attemper.workbench.language",
    "LayerNorm": "attemper.compiling.softening.normalise",
    "LayerOf": "attemper.networks.typed",
    "MachineError": "attemper.errors",
    "MalformedFileError": "attemper.errors",
    "Model": "attemper.workbench.model",
    "ModuleError": "attemper.modules",
    "OptionError": "attemper.errors",
    "PredicateError": "attemper.exact.predicates",
    "SourceError": "attemper.errors",
    "UndecidedError": "attemper.errors",
    "UnitOf": "attemper.networks.typed",
    "UnprovedError": "attemper.errors",
    "UnsupportedError": "attemper.errors",
    "WordError": "attemper.errors",
    "__version__": "attemper.version",
    "bound": "attemper.theories.influence.ask.bounding",
    "causal": "attemper.theories.causal.ask",
    "check": "attemper.workbench.checking",
    "classify": "attemper.workbench.classifying",
    "compile": "attemper.workbench.compiling",
    "data": "attemper.training.ask",
    "decompile": "attemper.workbench.decompiling",
    "depth": "attemper.theories.depth.ask",
    "dfa": "attemper.workbench.naming",
    "formula": "attemper.workbench.naming",
    "hard_network": "attemper.networks.typed",
    "influence": "attemper.theories.influence.ask.measuring",
    "judge": "attemper.theories.judging.ask",
    "language": "attemper.workbench.naming",
    "load": "attemper.workbench.folder",
    "load_softened": "attemper.theories.softening.ask",
    "machine": "attemper.workbench.naming",
    "pieces": "attemper.theories.softening.ask",
    "program": "attemper.workbench.naming",
    "reduce": "attemper.theories.refutation.ask",
    "refute": "attemper.theories.refutation.ask",
    "regex": "attemper.workbench.naming",
    "register_predicate": "attemper.exact.predicates",
    "same": "attemper.workbench.same",
    "simulate": "attemper.workbench.simulating",
    "soften": "attemper.theories.softening.ask",
    "to_formula": "attemper.workbench.translating",
    "verify": "attemper.workbench.asking",
    "zoo": "attemper.workbench.zoo",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'attemper' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
