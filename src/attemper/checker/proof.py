"""That a network computes a language, at every position of every word of any length, in real arithmetic."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import assert_never, final

from attemper.checker.analysis import ROUNDED, Analysis, analyse
from attemper.checker.automata import computes
from attemper.checker.diagrams import Diagram, TooLargeError
from attemper.checker.identities import Formulas
from attemper.checker.names import UnprovenError
from attemper.checker.source import meanings_of
from attemper.checker.values import Stream
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.networks.layers import Network

RECURSION = 20_000
"""Deep enough for diagrams over all codes of a symbol."""


@final
@dataclass(frozen=True)
class Proof:
    """What the network computes, and what every subformula means, in one set of normal forms.

    For an automaton there are no subformulas.
    """

    analysis: Analysis
    meanings: dict[Formula, Diagram]

    def computes(self, layer: int, coordinate: int, formula: Formula) -> bool:
        """Whether after the layer (-1: in the embedding) the coordinate is exactly a subformula's truth."""
        return self.exact_meaning(layer, coordinate) == self.meanings[formula]

    def exact_meaning(self, layer: int, coordinate: int) -> Diagram | None:
        """The normal form of a coordinate after the layer (-1: in the embedding); None if it is not exact."""
        stream = self._stream(layer)
        return None if stream.errors[coordinate] else self._meaning(stream, coordinate)

    def outputs(self, formula: Formula) -> bool:
        """Whether the output coordinate is within 1/4 of the truth of the formula."""
        end, output = self.analysis.end, self.analysis.network.output
        return end.errors[output] <= ROUNDED and self._meaning(end, output) == self.meanings[formula]

    def _meaning(self, stream: Stream, coordinate: int) -> Diagram | None:
        value = stream.values[coordinate]
        if set(value) - {(0, 0)}:
            return None
        return self.analysis.names.settled(value.get((0, 0), self.analysis.names.false))

    def _stream(self, layer: int) -> Stream:
        return self.analysis.start if layer < 0 else self.analysis.layers[layer].after


def prove(network: Network, formula: Formula) -> Proof:
    """The normal forms of both sides. Raises `UnprovenError` where no rule covers a step.

    "Some position has f or g" is "some position has f, or some has g": if the two sides differ at first,
    both are split into cases by the tests of positions that stand beside letters.
    """
    try:
        names = Formulas(network.alphabet.symbols)
        proof = _proof(network, formula, names)
        expand = names.mixed_places()
        if proof.outputs(formula) or not expand:
            return proof
        return _proof(network, formula, Formulas(network.alphabet.symbols, expand))
    except TooLargeError:
        raise UnprovenError("its Boolean blocks are too large to be compared") from None
    except RecursionError:
        raise UnprovenError("its Boolean blocks nest too deeply to be compared") from None


def prove_language(network: Network, language: Language) -> tuple[Proof, bool]:
    """What the network computes, and whether that is the language. Raises `UnprovenError`."""
    match language:
        case TemporalLanguage(formula, _, _):
            proof = prove(network, formula)
            return proof, proof.outputs(formula)
        case Dfa():
            return _follow(network, language)
        case _:
            assert_never(language)


def _follow(network: Network, dfa: Dfa) -> tuple[Proof, bool]:
    """One-hot symbols have long diagrams, through which the rules recurse."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        symbols = {number: layer.symbols for number, layer in enumerate(network.layers)}
        analysis = analyse(network, symbols=symbols)
        return Proof(analysis, {}), computes(analysis, dfa)
    except TooLargeError:
        raise UnprovenError("its symbols are too many to be compared") from None
    except RecursionError:
        raise UnprovenError("its symbols nest too deeply to be compared") from None
    finally:
        sys.setrecursionlimit(limit)


def _proof(network: Network, formula: Formula, names: Formulas) -> Proof:
    return Proof(analyse(network, names), meanings_of(names, formula))
