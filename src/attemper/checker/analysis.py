"""A network, layer by layer: what every coordinate means, proved from the weights alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from attemper.checker.attention.scores import Output
from attemper.checker.diagrams import Diagram
from attemper.checker.feed_forward import UnitGroup, apply_groups, groups_of
from attemper.checker.heads import head_fact
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.rules import HeadFact
from attemper.checker.values import ResidualValues, add, embedded, plain
from attemper.exact.balls import precision, upper_bound
from attemper.exact.monomials import Monomial
from attemper.networks.layers import Coordinate, Layer, Network

if TYPE_CHECKING:
    from attemper.checker.normalised import Reads

PRECISION = 64
"""Bits of the balls that bound attention."""

ROUNDED = Fraction(1, 4)
"""An output that is at most this far from 0 or 1 is read as that bit."""

OneHot = tuple[Coordinate, ...]
"""Coordinates of which at most one is 1: which of them says what the symbol is."""


@final
@dataclass(frozen=True)
class LayerFact:
    """One layer: the stream before it, its heads, the stream between, its feed-forward, the stream after."""

    before: ResidualValues
    heads: tuple[HeadFact, ...]
    masses: tuple[Fraction, ...]
    middle: ResidualValues
    groups: tuple[UnitGroup, ...]
    after: ResidualValues


@final
@dataclass(frozen=True)
class SymbolFact:
    """A group of coordinates that hold bits after a layer: from there on each bit has a name of its own.

    `definitions` says what each bit is. That at most one of them is 1 is assumed by the names, and is
    for the reader of this fact to prove.
    """

    layer: int
    group: int
    definitions: tuple[Diagram, ...]


@final
@dataclass(frozen=True)
class Analysis:
    """All layers of a network."""

    network: Network
    names: Names
    start: ResidualValues
    layers: tuple[LayerFact, ...]
    symbols: tuple[SymbolFact, ...]
    end: ResidualValues
    """After the last layer, with the names of its symbols."""
    reads: Reads | None = None
    """How what sublayers read differs from what is said here, where they read through normalisations."""


def analyse(
    network: Network,
    names: Names | None = None,
    symbols: Mapping[int, Sequence[OneHot]] | None = None,
    is_loose: bool = False,
) -> Analysis:
    """What the network computes. Raises `UnprovenError`, naming the layer and head that no rule covers.

    `names` are those of a formula if nothing else is said. `symbols` has groups of coordinates by layer: what
    follows takes for granted that at most one coordinate of a group is 1 after the layer, for callers who
    prove it. If it `is_loose`, no more than a range is said of what selections read where nothing matches.
    """
    if network.normalisation is not None:
        raise UnprovenError("its sublayers read normalised numbers: rules are about its plain network")
    names = Formulas(network.alphabet.symbols).names if names is None else names
    start = stream = embedded(names, network)
    facts: list[LayerFact] = []
    named: list[SymbolFact] = []
    with precision(PRECISION):
        for number, layer in enumerate(network.layers):
            facts.append(layer_fact(names, layer, number, stream, is_loose))
            stream = facts[-1].after
            stream = with_names(names, number, (symbols or {}).get(number, ()), stream, named)
    return Analysis(network, names, start, tuple(facts), tuple(named), stream)


def outputs_of(analysis: Analysis) -> tuple[Diagram, ...]:
    """What each output is within 1/4 of, at every position. Raises `UnprovenError`."""
    return tuple(_output_of(analysis, output) for output in analysis.network.outputs)


def _output_of(analysis: Analysis, output: Coordinate) -> Diagram:
    end = analysis.end
    if end.errors[output] > ROUNDED:
        raise UnprovenError("its output can be off by more than 1/4")
    return analysis.names.canonical(plain(end.values[output], analysis.names, "the output"))


def with_names(
    names: Names, number: int, groups: Sequence[OneHot], stream: ResidualValues, named: list[SymbolFact]
) -> ResidualValues:
    """The stream with names in place of the bits of symbols, whose definitions are added to `named`."""
    if not groups:
        return stream
    after = stream.copy()
    for group, coordinates in enumerate(groups):
        what = f"layer {number}: a bit of a symbol"
        definitions = []
        for code, coordinate in enumerate(coordinates):
            bit = plain(stream.values[coordinate], names, what)
            if stream.errors[coordinate] or not names.is_bit(bit):
                raise UnprovenError(f"{what} is not exactly 0 or 1")
            definitions.append(bit)
            after.values[coordinate] = {(0, 0): names.symbol(number, group, code)}
        named.append(SymbolFact(number, group, tuple(definitions)))
    return after


def _take(names: Names, stream: ResidualValues, output: Output, mass: Fraction) -> None:
    """Add what a head puts out to the stream, with its error."""
    target, error = output.target, output.error or Monomial(mass * output.spread)
    if error.power > 0:
        raise UnprovenError(f"coordinate {target} is off by more and more in longer words")
    stream.values[target] = add(names, stream.values[target], {(0, output.growth): output.diagram})
    stream.worsen(target, error, output.step)


def layer_fact(
    names: Names, layer: Layer, number: int, stream: ResidualValues, is_loose: bool = False
) -> LayerFact:
    middle = stream.copy()
    heads: list[HeadFact] = []
    masses: list[Fraction] = []
    for index, head in enumerate(layer.heads):
        try:
            fact = head_fact(names, head, stream, is_loose)
            mass = upper_bound(fact.stray_mass)
        except UnprovenError as error:
            raise UnprovenError(f"layer {number}, head {index}: {error}") from None
        except OverflowError:
            raise UnprovenError(f"layer {number}, head {index}: its attention has no finite bound") from None
        for output in fact.outputs:
            _take(names, middle, output, mass)
        heads.append(fact)
        masses.append(mass)
    groups = groups_of(names, layer, number, middle)
    after = apply_groups(names, groups, middle)
    return LayerFact(stream, tuple(heads), tuple(masses), middle, tuple(groups), after)
