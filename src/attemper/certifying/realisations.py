"""Which program a network might run that nobody has a program for: those of the compiler's own networks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from attemper.attention_program.language import defining_program
from attemper.attention_program.realisation import Realisation
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.networks.layers import Network
from attemper.networks.regime import Regime

WAYS = (CascadeCaps(), CascadeCaps(counter=False))
"""How an automaton is compiled, by any command."""


def realisations(network: Network, language: Definition) -> Iterator[Realisation | None]:
    """What the network might run if it computes the language, the likeliest first; at least one.

    The program of a language that is one; None where a proof needs none. An automaton's is that of a
    compiled network with the same layers and coordinates, whatever its weights; None if there is no such.
    """
    if isinstance(language, Dfa):
        yield from _of_an_automaton(network, language)
        return
    program = defining_program(language)
    yield None if program is None else Realisation(program)


def _of_an_automaton(network: Network, language: Dfa) -> Iterator[Realisation | None]:
    found: list[Realisation] = []
    for limits, regime in product(WAYS, Regime):
        try:
            compiled = compile_language(language, language.alphabet, regime, limits=limits)
        except UnsupportedError:
            continue
        alike = _shape(compiled.soft) == _shape(network, len(compiled.soft.coordinates))
        if alike and compiled.realisation not in found:
            found.append(compiled.realisation)
            yield compiled.realisation
    if not found:
        yield None


def _shape(network: Network, width: int | None = None) -> tuple[tuple[str, ...], int]:
    """Labels and layers; of a normalised network's coordinates the first ones, which have partners."""
    first = None if network.normalisation is None else width
    return network.coordinates[:first], len(network.layers)
