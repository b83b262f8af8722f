"""A proof as a person would read it, layer by layer. Nothing is proved here: the facts are the checker's.

The coordinates of the residual stream are x0, x1, ...; beside each stands its label, which is a remark of
whoever wrote the network. What is said of it after the colon is derived from the weights.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from attemper.attention_program.language import defining_program
from attemper.attention_program.ops import Count, Linear, Ref
from attemper.attention_program.realisation import Realisation
from attemper.attention_program.show import show_step
from attemper.attention_program.wellformed import is_machine
from attemper.checker.analysis import Analysis, LayerFact, OneHot, analyse
from attemper.checker.diagrams import Diagram, TooLargeError
from attemper.checker.identities import Formulas
from attemper.checker.names import Clamped, Names, NearestKey, UnprovenError
from attemper.checker.normalised import Reads, plain_of
from attemper.checker.program import Programs, Steps
from attemper.checker.proof import deep, prove
from attemper.checker.realising import name_group, named_together, require_defined, require_known, symbols_of
from attemper.checker.registers import made_of
from attemper.checker.source import meanings_of
from attemper.checker.values import ResidualValues, Value
from attemper.exact.closed_forms import ONE, show_form
from attemper.exact.monomials import Exponent
from attemper.exact.predicates import PredicateError
from attemper.languages.definition import Definition
from attemper.languages.measures import Measure
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show_within
from attemper.languages.temporal.syntax import Formula
from attemper.networks.form_text import form_text
from attemper.networks.layers import Coordinate, Head, Network, Softmax

LONGEST_TEXT = 100
"""Longer texts of formulas and steps are not shown."""

MOST_STEPS = 2_000
"""A longer program is not explained."""

DIGITS = 3
"""How many significant digits of a bound are shown; it is rounded up."""


def explained_lines(network: Network, language: Definition, said: Realisation | None) -> tuple[str, ...]:
    """What `explain` says, or why that is too much to say."""
    try:
        return tuple(explain(network, language, said))
    except (TooLargeError, RecursionError):
        return ("the proof is too large to be explained",)
    except PredicateError as error:
        return (f"a predicate cannot be evaluated: {error}",)


def explain(network: Network, language: Definition, said: Realisation | None = None) -> Iterator[str]:
    """The proof that the network computes the language, or how far it goes and what stands in its way."""
    program = defining_program(language)
    if said is None and program is not None:
        said = Realisation(program)
    try:
        if network.normalisation is not None:
            network, reads = plain_of(network, network.normalisation)
            yield from _normalised(reads, len(network.coordinates))
        _require_readable(network, said)
        with deep():
            reading = _read(network, language, said)
    except UnprovenError as error:
        yield f"no proof: {error}"
        return
    if said is not None and said.groups:
        yield "taken for granted until the last line: at most one bit of each group is 1"
    for number, fact in enumerate(reading.analysis.layers):
        yield from _layer(reading, number, fact)
    if reading.failure:
        yield f"no proof: {reading.failure}"
        return
    output = ", ".join(_named(reading, reading.analysis.end, one) for one in network.outputs)
    try:
        prove(network, language, said)
    except UnprovenError as error:
        yield f"the output, {output}"
        yield f"no proof: {error}"
    else:
        yield f"the output, {output}: what the language says, at every position of every word"


def _normalised(reads: Reads, width: int) -> Iterator[str]:
    """What the rest of the proof is about, of a network that normalises what its sublayers read."""
    norms = (*reads.attention, *reads.feed_forward)
    distance = max((norm.distance for norm in norms), default=Fraction(0))
    first = f"x0 to x{width - 1}"
    yield f"this is about the plain network: {first} stand there times {reads.unit}, and times -{reads.unit}"
    yield (
        "each sublayer reads differences: the plain network's numbers, times one number of the position; "
        f"weights are off by at most {_upper(distance)}"
    )


def _require_readable(network: Network, said: Realisation | None) -> None:
    if said is not None:
        require_known(network, said)
        if len(said.program.steps) > MOST_STEPS:
            raise UnprovenError(f"a program of more than {MOST_STEPS:,} steps is too long to be explained")


@final
@dataclass(frozen=True)
class _Reading:
    """What is known of a network as far as rules apply, and why nothing is known of what follows."""

    analysis: Analysis
    texts: dict[Diagram, str]
    failure: str


def _read(network: Network, language: Definition, said: Realisation | None) -> _Reading:
    symbols = network.alphabet.symbols
    formula = language.formula if isinstance(language, TemporalLanguage) else None
    said = said if formula is None else None
    positions = Formulas(symbols) if said is None or not is_machine(said.program) else Programs(symbols)
    groups = symbols_of(said) if isinstance(positions, Programs) and said is not None else None
    analysis, failure = _as_far_as_rules_apply(network, positions.names, groups)
    if said is not None:
        texts, complaint = _steps(analysis, Steps(positions, said.program), said)
        return _Reading(analysis, texts, failure or complaint)
    return _Reading(analysis, {} if formula is None else _formulas(positions, formula), failure)


def _as_far_as_rules_apply(
    network: Network, names: Names, groups: dict[int, list[OneHot]] | None
) -> tuple[Analysis, str]:
    """What the first layers compute, and why nothing is known of the next one.

    Raises `UnprovenError` if the embedding has no meaning.
    """
    failure = ""
    for depth in range(len(network.layers), 0, -1):
        try:
            return analyse(replace(network, layers=network.layers[:depth]), names, groups), failure
        except (UnprovenError, TooLargeError, RecursionError) as error:
            failure = str(error) or "a layer's cases are too many"
    return analyse(replace(network, layers=()), names, groups), failure


def _formulas(positions: Programs | Formulas, formula: Formula) -> dict[Diagram, str]:
    """What every subformula is called."""
    assert isinstance(positions, Formulas)
    found: dict[Diagram, str] = {}
    for part, meaning in meanings_of(positions, formula).items():
        found.setdefault(meaning, show_within(part, LONGEST_TEXT) or "a long subformula")
        found.setdefault(positions.names.negation(meaning), f"not ({found[meaning]})")
    return found


def _steps(analysis: Analysis, steps: Steps, said: Realisation) -> tuple[dict[Diagram, str], str]:
    """What every step of the program is called, and why a group is not what is said; empty if each is."""
    complaint = ""
    found: dict[Diagram, str] = {}
    for pairs in named_together(analysis, said):
        try:
            for group, fact in pairs:
                require_defined(steps, group, fact)
        except (UnprovenError, TooLargeError) as error:
            complaint = complaint or str(error)
            continue
        for group, fact in pairs:
            name_group(steps, group, fact)
            for (_, ref), definition in zip(group.bits, fact.definitions, strict=True):
                found[steps.names.canonical(definition)] = _step(said, ref)
    wanted = (*said.program.outputs, *(ref for group in said.groups for _, ref in group.bits))
    for ref in sorted(made_of(said.program, wanted, ())):
        if isinstance(said.program.steps[ref], Count | Linear):
            continue
        try:
            bit = steps.bit(ref)
        except (UnprovenError, TooLargeError) as error:
            complaint = complaint or str(error)
            continue
        found.setdefault(bit, _step(said, ref))
        found.setdefault(steps.names.negation(bit), f"not s{ref}")
    return found, complaint


def _step(said: Realisation, ref: Ref) -> str:
    text = show_step(said.program.steps[ref])
    return f"s{ref} = {text}" if len(text) <= LONGEST_TEXT else f"s{ref}"


def _layer(reading: _Reading, number: int, fact: LayerFact) -> Iterator[str]:
    network = reading.analysis.network
    yield f"layer {number}"
    layer = network.layers[number]
    for index, (head, own, mass) in enumerate(zip(layer.heads, fact.heads, fact.masses, strict=True)):
        kind = type(head.construction).__name__.lower()
        yield f"  head {index}: {kind}, {head.masking}, {_gap_text(own.least_gap, mass)}"
        yield f"    score of j at i: {_score(head)}"
        for value, target in zip(head.values, head.targets, strict=True):
            yield f"    reads {form_text(value)} at j, writes {_named(reading, fact.middle, target)}"
    written = sorted({target for group in fact.groups for target in group.outputs})
    for target in written:
        units = [k for k, unit in enumerate(layer.hidden) if target in dict(unit.outputs)]
        yield f"  hidden units {_listed(units)} write {_named(reading, fact.after, target)}"


def _gap_text(gap: Fraction, mass: Fraction) -> str:
    if not mass:
        return "all of the attention where it belongs"
    return f"a lead of at least {gap}, at most {_upper(mass)} of the attention elsewhere"


def _score(head: Head) -> str:
    rows = zip(head.query, head.key, strict=True)
    products = " + ".join(f"({form_text(query)} at i) ({form_text(key)} at j)" for query, key in rows)
    if not isinstance(head.weighting, Softmax) or head.weighting.inverse_temperature == ONE:
        return products or "0"
    return f"({show_form(head.weighting.inverse_temperature)}) ({products or '0'})"


def _named(reading: _Reading, stream: ResidualValues, coordinate: Coordinate) -> str:
    """A coordinate, and what it holds."""
    names, value = reading.analysis.names, stream.values[coordinate]
    text = None
    if not set(value) - {(0, 0)}:
        text = reading.texts.get(names.canonical(value.get((0, 0), names.false)))
    text = text or _integer(names, value) or _number(reading.analysis.network, coordinate)
    error, vanishing = stream.errors[coordinate], stream.vanishing.get(coordinate)
    power = f" {_power(vanishing.power)}" if vanishing and vanishing.power else ""
    off = f", off by at most {_upper(error)}{power}" if error else ""
    return f"{_label(reading.analysis.network, coordinate)}: {text}{off}"


_NUMBERS = {
    Measure.INTEGER: "an integer's share",
    Measure.FRACTION: "a fraction",
    Measure.DISTRIBUTION: "a probability",
}


def _number(network: Network, coordinate: Coordinate) -> str:
    """What is said of a number that is put out, if it is one."""
    if network.measure is None or coordinate not in network.outputs:
        return "no part of what is claimed"
    return _NUMBERS[network.measure]


def _integer(names: Names, value: Value) -> str | None:
    """What is said of an integer: which power of it, times which power of n."""
    if len(value) != 1:
        return None
    (((by_position, growth), diagram),) = value.items()
    if by_position or not names.diagrams.is_constant(diagram):
        return None
    (own,) = names.values(diagram)
    whole = names.quantities[own.parts[0][0]] if len(own.parts) == 1 and not own.constant else None
    if not isinstance(whole, Clamped | NearestKey):
        return None
    factors = [str(own.parts[0][1])] if own.parts[0][1] != 1 else []
    factors += [_power(growth)] if growth else []
    integer = "an integer from 1 to n"
    if isinstance(whole, NearestKey):
        integer = "an integer from 1 to n, read where it is nearest to another"
    elif whole.power > 1:
        integer = f"the square of {integer}"
    return f"{' '.join(factors)} times {integer}" if factors else integer


def _power(exponent: Exponent) -> str:
    return "n" if exponent == 1 else f"n^{exponent}"


def _label(network: Network, coordinate: Coordinate) -> str:
    return f"x{coordinate} [{network.coordinates[coordinate]}]"


def _upper(bound: Fraction) -> str:
    """A decimal that is not less."""
    places = DIGITS
    while bound and bound * 10**places < 10 ** (DIGITS - 1):
        places += 1
    digits = -(-bound.numerator * 10**places // bound.denominator)
    whole, part = divmod(digits, 10**places)
    return f"{whole}.{part:0{places}d}" if places < 12 else f"{digits}e-{places}"


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))
