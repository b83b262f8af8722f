"""Networks and certificates in which one thing was changed.

Weights are changed as they stand in the file: one number of one tensor. A mutant without a network is one
that no file can hold. Labels (the construction of a head, the names of coordinates) are changed too: the
checker may use them only to select what it tries.
"""

from __future__ import annotations

import math
import random
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeVar

from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim, SourceMeaning
from attemper.checker.rounding.arithmetic import Kernel
from attemper.exact import closed_forms
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import NonNegative, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal import syntax
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.networks import layers
from attemper.networks.safetensors import Tensor
from attemper.networks.weights import embedding_from, heads_from, hidden_from, tensors_of
from attemper.networks.wellformed import is_clamp
from tests.support.mutants.realisations import realisation_mutants

T = TypeVar("T")


@dataclass(frozen=True)
class Mutant:
    """What was changed, and the network (None: no file can hold it) with a certificate that is about it."""

    name: str
    network: layers.Network | None
    certificate: Certificate


def mutants_of(network: layers.Network, certificate: Certificate, rng: random.Random) -> Iterator[Mutant]:
    """Every mutant of a network with its certificate; the random choice is which zeros become 1."""
    for name, changed in network_mutants(network, rng):
        yield Mutant(name, changed, certificate)
    claimed = (*claim_mutants(certificate), *program_certificates(network, certificate, rng))
    for name, changed_certificate in claimed:
        yield Mutant(name, network, changed_certificate)


def network_mutants(
    network: layers.Network, rng: random.Random
) -> Iterator[tuple[str, layers.Network | None]]:
    """Every mutant of a network."""
    for generate in (position_mutants, temperature_mutants, mask_mutants, label_mutants, reading_mutants):
        yield from generate(network)
    yield from weight_mutants(network, rng)


# Weights ---------------------------------------------------------------------------------------------


NUMBERS: dict[str, Callable[[float], float]] = {
    "doubled": lambda x: 2 * x,
    "halved": lambda x: x / 2,
    "one ulp up": lambda x: math.nextafter(x, math.inf),
    "negated": lambda x: -x,
    "zeroed": lambda x: 0.0,
}
"""What can happen to a weight that is not 0."""

ZEROS_SET = 10
"""How many zeros of each tensor are set to 1."""


def weight_mutants(
    network: layers.Network, rng: random.Random
) -> Iterator[tuple[str, layers.Network | None]]:
    """One number of one tensor changed: each that is not 0, and a random selection of zeros."""
    tensors = tensors_of(network)
    for name, tensor in tensors.items():
        for place, value in enumerate(tensor.numbers):
            if value:
                for what, change in NUMBERS.items():
                    yield (
                        f"{name}[{place}] {what}",
                        _with_weight(network, tensors, name, place, change(value)),
                    )
        zeros = [place for place, value in enumerate(tensor.numbers) if not value]
        for place in rng.sample(zeros, min(ZEROS_SET, len(zeros))):
            yield f"{name}[{place}] set", _with_weight(network, tensors, name, place, 1.0)


def _with_weight(
    network: layers.Network, tensors: dict[str, Tensor], name: str, place: int, value: float
) -> layers.Network | None:
    numbers = array("d", tensors[name].numbers)
    numbers[place] = value
    changed = tensors | {name: Tensor(tensors[name].shape, numbers)}
    part = name.split(".")
    try:
        if part[0] == "embed":
            symbols, width = len(network.embedding), len(network.coordinates)
            return replace(network, embedding=embedding_from(changed, symbols, width))
        return _with_layer(
            network, int(part[1]), lambda layer: _reread(network, layer, int(part[1]), changed)
        )
    except ValueError:
        return None


def _reread(
    network: layers.Network, layer: layers.Layer, number_: int, tensors: dict[str, Tensor]
) -> layers.Layer:
    width = len(network.coordinates)
    rows = tuple((len(head.query), len(head.values)) for head in layer.heads)
    read = heads_from(tensors, number_, rows, width, network.head_width)
    heads = tuple(
        replace(head, query=own.query, key=own.key, values=own.values, targets=own.targets)
        for head, own in zip(layer.heads, read, strict=True)
    )
    hidden = hidden_from(tensors, number_, len(layer.hidden), width)
    # Clamps are remarks for running; a mutant has those that still are clamps.
    clamps = tuple((low, high) for low, high in layer.clamps if is_clamp(hidden[low], hidden[high]))
    return replace(layer, heads=heads, hidden=hidden, clamps=clamps)


# Closed forms ----------------------------------------------------------------------------------------


def position_mutants(network: layers.Network) -> Iterator[tuple[str, layers.Network]]:
    """One position embedding changed, removed or moved to another coordinate."""
    for index, (coordinate, form) in enumerate(network.positions):
        before, after = network.positions[:index], network.positions[index + 1 :]
        name = f"position embedding of {coordinate}"
        for what, changed in form_mutants(form):
            yield (
                f"{name}: {what}",
                replace(network, positions=(*before, (coordinate, changed), *after)),
            )
        yield f"{name}: removed", replace(network, positions=(*before, *after))
        taken = {other for other, _ in network.positions}
        for other in range(len(network.coordinates)):
            if other not in taken:
                yield (
                    f"{name}: moved to {other}",
                    replace(network, positions=(*before, (other, form), *after)),
                )


def temperature_mutants(network: layers.Network) -> Iterator[tuple[str, layers.Network]]:
    """One inverse temperature changed."""
    for name, head, put in heads_of(network):
        assert isinstance(head.weighting, layers.Softmax)
        form = head.weighting.inverse_temperature
        constants = (
            ("one", closed_forms.number(1)),
            ("zero", closed_forms.number(0)),
            ("i", closed_forms.I),
            ("n", closed_forms.N),
            ("n^2", closed_forms.Power(closed_forms.N, 2)),
        )
        for what, changed in (*form_mutants(form), *constants):
            if changed != form:
                yield f"{name}: coldness {what}", put(replace(head, weighting=layers.Softmax(changed)))


def form_mutants(form: closed_forms.ClosedForm) -> Iterator[tuple[str, closed_forms.ClosedForm]]:
    """The form scaled, shifted and negated as a whole, and with one node changed."""
    for factor in (2, Fraction(1, 2), -1):
        yield f"times {factor}", closed_forms.times(factor, form)
    yield "plus 1", closed_forms.plus(1, form)
    yield "plus (-1)^i", closed_forms.plus(closed_forms.SIGN, form)
    yield "times (-1)^i", closed_forms.times(closed_forms.SIGN, form)
    yield from ((f"{what} inside", changed) for what, changed in _node_mutants(form))


def _node_mutants(form: closed_forms.ClosedForm) -> Iterator[tuple[str, closed_forms.ClosedForm]]:
    match form:
        case closed_forms.Number(value):
            yield "number + 1", closed_forms.Number(value + 1)
            yield "number negated", closed_forms.Number(-value)
        case closed_forms.Position():
            yield "i to i + 1", closed_forms.plus(closed_forms.I, 1)
            yield "i to n", closed_forms.N
        case closed_forms.Length():
            yield "n to i", closed_forms.I
            yield "n to n + 1", closed_forms.plus(closed_forms.N, 1)
        case closed_forms.Alternating():
            yield "sign negated", closed_forms.times(-1, closed_forms.SIGN)
            yield "sign to 1", closed_forms.number(1)
        case closed_forms.Test():
            yield from _test_mutants(form)
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            for index, part in enumerate(parts):
                for what, changed in _node_mutants(part):
                    yield what, type(form)((*parts[:index], changed, *parts[index + 1 :]))
                yield "part removed", type(form)((*parts[:index], *parts[index + 1 :]))
        case closed_forms.Power(base, exponent):
            yield "exponent + 1", closed_forms.Power(base, exponent + 1)
            yield "exponent - 1", closed_forms.Power(base, exponent - 1)
            for what, changed in _node_mutants(base):
                yield what, closed_forms.Power(changed, exponent)
        case closed_forms.Digits():
            for constant in (0, 1, 4, 12):
                yield f"digits to {constant}", closed_forms.number(constant)
            yield "digits of i", closed_forms.Digits(closed_forms.I)
            yield "digits of n + 1", closed_forms.Digits(closed_forms.plus(closed_forms.N, 1))


def _test_mutants(test: closed_forms.Test) -> Iterator[tuple[str, closed_forms.Test]]:
    yield "test shifted up", replace(test, shift=test.shift + 1)
    yield "test shifted down", replace(test, shift=test.shift - 1)
    yield "test of another place", replace(test, per_position=test.per_position + 1)
    yield "test of another length", replace(test, per_length=test.per_length + 1)
    for predicate in (Zero(), NonNegative(), Remainder(2, 0)):
        if predicate != test.predicate:
            yield f"test of {predicate}", replace(test, predicate=predicate)


# Masks, labels, reading ------------------------------------------------------------------------------


def mask_mutants(network: layers.Network) -> Iterator[tuple[str, layers.Network]]:
    """Every other masking of every head."""
    for name, head, put in heads_of(network):
        for masking in layers.Masking:
            if masking is not head.masking:
                yield f"{name}: {masking}", put(replace(head, masking=masking))


def label_mutants(network: layers.Network) -> Iterator[tuple[str, layers.Network]]:
    """Every other construction that a head could be said to be."""
    some = tuple((coordinate, Fraction(1)) for coordinate in range(min(1, len(network.coordinates))))
    labels: tuple[layers.Construction, ...] = (
        layers.Uniform(),
        layers.Select(False, ((None, some),)),
        layers.Select(True, ((None, some),)),
        layers.Neighbour(False),
        layers.Neighbour(True),
        layers.Sign(some),
        layers.LocalSign(some, some, some, 1),
        layers.Lookup(some, some),
        layers.IntegerValue(some, some, False),
        layers.NearestInteger(False, some, some, some, some),
    )
    for name, head, put in heads_of(network):
        for label in labels:
            yield f"{name}: said to be {type(label).__name__}", put(replace(head, construction=label))


def reading_mutants(network: layers.Network) -> Iterator[tuple[str, layers.Network]]:
    """Another output coordinate, another place or verdict, a head or layer or unit less, layers swapped."""
    for other in range(len(network.coordinates)):
        if other != network.output:
            yield f"output at {other}", replace(network, output=other)
    yield "read at the other end", replace(network, reads_first=not network.reads_first)
    yield "other verdict on the empty word", replace(network, accepts_empty=not network.accepts_empty)
    yield "symbols swapped", replace(network, embedding=network.embedding[::-1])
    for index in range(len(network.layers)):
        rest = (*network.layers[:index], *network.layers[index + 1 :])
        yield f"layer {index} removed", replace(network, layers=rest)
        twice = (*network.layers[: index + 1], *network.layers[index:])
        yield f"layer {index} twice", replace(network, layers=twice)
        heads, hidden = network.layers[index].heads, network.layers[index].hidden
        for h in range(len(heads)):
            fewer = (*heads[:h], *heads[h + 1 :])
            yield f"layer {index} without head {h}", _with_heads(network, index, fewer)
            yield f"layer {index} with head {h} twice", _with_heads(network, index, (*heads, heads[h]))
        for u in range(len(hidden)):
            units = (*hidden[:u], *hidden[u + 1 :])
            changed = replace(network.layers[index], hidden=units, clamps=())
            yield f"layer {index} without unit {u}", _with_layer(network, index, lambda _, c=changed: c)  # type: ignore[misc]
    for name, head, put in heads_of(network):
        for m, target in enumerate(head.targets):
            for other in range(len(network.coordinates)):
                if other != target:
                    targets = (*head.targets[:m], other, *head.targets[m + 1 :])
                    yield f"{name}: value {m} to {other}", put(replace(head, targets=targets))


def heads_of(
    network: layers.Network,
) -> Iterator[tuple[str, layers.Head, Callable[[layers.Head], layers.Network]]]:
    """Each head, with the network that has another head in its place."""
    for index, layer in enumerate(network.layers):
        for h, head in enumerate(layer.heads):

            def put(changed: layers.Head, index: int = index, h: int = h) -> layers.Network:
                heads = network.layers[index].heads
                return _with_heads(network, index, (*heads[:h], changed, *heads[h + 1 :]))

            yield f"layer {index}, head {h}", head, put


def _with_heads(network: layers.Network, index: int, heads: tuple[layers.Head, ...]) -> layers.Network:
    return _with_layer(network, index, lambda layer: replace(layer, heads=heads))


def _with_layer(
    network: layers.Network, index: int, change: Callable[[layers.Layer], layers.Layer]
) -> layers.Network:
    return replace(network, layers=put_at(network.layers, index, change(network.layers[index])))


# Claims ----------------------------------------------------------------------------------------------


def claim_mutants(certificate: Certificate) -> Iterator[tuple[str, Certificate]]:
    """Horizons stretched, arithmetics exchanged, another reading or formula."""
    for index, claim in enumerate(certificate.claims):
        if isinstance(claim, FloatClaim):
            for what, changed in _float_claims(claim):
                claims = put_at(certificate.claims, index, changed)
                name = f"claim of {claim.format}, {claim.kernel}: {what}"
                yield name, replace(certificate, claims=claims)
    for what, language in language_mutants(certificate.language):
        yield what, replace(certificate, language=language)


def language_mutants(language: SourceMeaning) -> Iterator[tuple[str, SourceMeaning]]:
    """Read at the other end, with the other verdict on the empty word; another formula or automaton."""
    if isinstance(language, TemporalLanguage | ProgramLanguage):
        other = At.FIRST if language.at is At.LAST else At.LAST
        yield "claimed to be read at the other end", replace(language, at=other)
        empty = replace(language, accepts_empty=not language.accepts_empty)
        yield "claimed to have the other verdict on the empty word", empty
    if isinstance(language, TemporalLanguage):
        for what, formula in formula_mutants(language.formula):
            yield f"formula: {what}", replace(language, formula=formula)
    if isinstance(language, Dfa):
        for number_, dfa in enumerate(dfa_mutants(language)):
            yield f"automaton {number_}", dfa


def dfa_mutants(dfa: Dfa) -> Iterator[Dfa]:
    """One move changed, one state's verdict flipped, another start."""
    for state, row in enumerate(dfa.moves):
        for s, target in enumerate(row):
            for other in set(range(len(dfa.moves))) - {target}:
                moved = (*row[:s], other, *row[s + 1 :])
                yield replace(dfa, moves=(*dfa.moves[:state], moved, *dfa.moves[state + 1 :]))
        yield replace(dfa, accepting=dfa.accepting ^ {state})
        if state != dfa.start:
            yield replace(dfa, start=state)


def _float_claims(claim: FloatClaim) -> Iterator[tuple[str, Claim]]:
    horizon = claim.horizon
    stretched = {"stretched by one": horizon + 1, "doubled": 2 * horizon + 2, "endless": 2**62}
    for what, longer in stretched.items():
        yield f"horizon {what}", replace(claim, horizon=longer)
    for name in FORMATS:
        for kernel in Kernel:
            if (name, kernel) != (claim.format, claim.kernel):
                yield f"said of {name}, {kernel}", replace(claim, format=name, kernel=str(kernel))
    yield "said of float8", replace(claim, format="float8")


def formula_mutants(formula: syntax.Formula) -> Iterator[tuple[str, syntax.Formula]]:
    """The formula with one subformula negated, replaced by a constant, or with another operator."""
    for part in syntax.subformulas(formula):
        for what, changed in _part_mutants(part):
            if show(changed) != show(part):
                yield what, substitute(formula, part, changed)


def _part_mutants(part: syntax.Formula) -> Iterator[tuple[str, syntax.Formula]]:
    yield "negated", syntax.Unary(syntax.UnaryOperator.NOT, part)
    yield "true", syntax.Constant(True)
    match part:
        case syntax.Symbol(name):
            yield "other symbol", syntax.Symbol({"a": "b", "b": "a"}.get(name, name))
        case syntax.Unary(operator, operand):
            yield "operator removed", operand
            for other in syntax.UnaryOperator:
                yield f"{operator} to {other}", syntax.Unary(other, operand)
        case syntax.Binary(operator, left, right):
            yield "operands swapped", syntax.Binary(operator, right, left)
            for other_ in syntax.BinaryOperator:
                yield f"{operator} to {other_}", syntax.Binary(other_, left, right)
        case syntax.Comparison(operator, left, right):
            yield "terms swapped", syntax.Comparison(operator, right, left)
            for comparison in syntax.ComparisonOperator:
                yield f"{operator} to {comparison}", syntax.Comparison(comparison, left, right)
            for offset in (1, -1):
                shifted = syntax.linear_term(left.parts, left.constant + offset)
                yield f"left term {offset:+}", syntax.Comparison(operator, shifted, right)
        case syntax.Numerical(predicate, term):
            for offset in (1, -1, 2):
                shifted = syntax.linear_term(term.parts, term.constant + offset)
                yield f"argument {offset:+}", syntax.Numerical(predicate, shifted)
            yield "other predicate", syntax.Numerical(Remainder(3, 1), term)


def substitute(formula: syntax.Formula, part: syntax.Formula, by: syntax.Formula) -> syntax.Formula:
    """The formula with another formula at every place of a part."""
    if show(formula) == show(part):
        return by
    match formula:
        case syntax.Unary(operator, operand):
            return syntax.Unary(operator, substitute(operand, part, by))
        case syntax.Binary(operator, left, right):
            return syntax.Binary(operator, substitute(left, part, by), substitute(right, part, by))
        case _:
            # Parts of counts stay: what is counted is changed through the weights.
            return formula


# Programs and groups ---------------------------------------------------------------------------------


def program_certificates(
    network: layers.Network, certificate: Certificate, rng: random.Random
) -> Iterator[tuple[str, Certificate]]:
    """The certificate with another program, or with other groups; a claim about a program is about that."""
    said = certificate.realisation
    if said is None:
        return
    for name, other in realisation_mutants(network, said, rng):
        language = certificate.language
        if isinstance(language, ProgramLanguage):
            language = replace(language, program=other.program)
        yield name, Certificate.by_way_of(other, certificate.network, language, certificate.claims)


def put_at(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    """The tuple with one item replaced."""
    return (*items[:index], item, *items[index + 1 :])


def about(certificate: Certificate, digest: str) -> Certificate:
    """The certificate, about the network with that digest."""
    return replace(certificate, network=digest)


def real_claim_only(certificate: Certificate) -> Certificate:
    """The least that the certificate claims: nothing of floats."""
    return replace(certificate, claims=(RealClaim(),))


def sampled(mutants: Iterable[Mutant], rng: random.Random, count: int) -> list[Mutant]:
    """Some of the mutants."""
    found = list(mutants)
    return rng.sample(found, min(count, len(found)))


# One mutant at random ----------------------------------------------------------------------------------


SIZES: dict[str, Callable[[float], float]] = NUMBERS | {
    "times 2^10": lambda x: x * 2**10,
    "times 2^-10": lambda x: x / 2**10,
    "times 2^20": lambda x: x * 2**20,
    "times 3": lambda x: x * 3,
    "one and a half times": lambda x: x * 1.5,
    "off by 2^-9": lambda x: x * (1 + 2.0**-9),
    "off by 2^-23": lambda x: x * (1 + 2.0**-23),
}
"""What can happen to a weight, with factors that matter to floats."""


def random_network_mutant(network: layers.Network, rng: random.Random) -> tuple[str, layers.Network | None]:
    """One mutant of a network, most often with another weight; the others are not made."""
    if rng.random() < 0.6:
        return _random_weight_mutant(network, rng)
    generate = rng.choice(
        (position_mutants, temperature_mutants, mask_mutants, label_mutants, reading_mutants)
    )
    found = list(generate(network))
    return rng.choice(found) if found else _random_weight_mutant(network, rng)


def _random_weight_mutant(network: layers.Network, rng: random.Random) -> tuple[str, layers.Network | None]:
    tensors = tensors_of(network)
    name = rng.choice([own for own, tensor in tensors.items() if len(tensor.numbers)])
    numbers = tensors[name].numbers
    places = [place for place, value in enumerate(numbers) if value]
    if places and rng.random() < 0.85:
        place, what = rng.choice(places), rng.choice(tuple(SIZES))
        return f"{name}[{place}] {what}", _with_weight(
            network, tensors, name, place, SIZES[what](numbers[place])
        )
    place = rng.randrange(len(numbers))
    return f"{name}[{place}] set", _with_weight(network, tensors, name, place, 1.0)


# Mutants that real arithmetic often allows --------------------------------------------------------------


FACTORS = (2, 4, Fraction(1, 2), 3, Fraction(3, 2), 1024, Fraction(1, 1024), 1 + Fraction(1, 2**23), 2**20)


def gentle_mutant(network: layers.Network, rng: random.Random) -> tuple[str, layers.Network | None]:
    """A change that often keeps the meaning in real arithmetic, though not what floats make of it."""
    places = [(index, h) for index, layer in enumerate(network.layers) for h in range(len(layer.heads))]
    with_units = [index for index, layer in enumerate(network.layers) if layer.hidden]
    if not places and not with_units:
        return _random_weight_mutant(network, rng)
    if with_units and (not places or rng.random() < 0.45):
        index = rng.choice(with_units)
        what, hidden = rng.choice((_scaled_unit, _split_unit, _moved_unit))(network.layers[index], rng)
        return f"layer {index}: {what}", _with_hidden(network, index, hidden)
    index, h = rng.choice(places)
    head = network.layers[index].heads[h]
    what, changed = rng.choice((_colder, _heavier_row, _shared_row, _level_row, _turned_rows))(
        network, head, rng
    )
    heads = network.layers[index].heads
    return f"layer {index}, head {h}: {what}", _with_heads(
        network, index, (*heads[:h], changed, *heads[h + 1 :])
    )


def _with_hidden(network: layers.Network, index: int, hidden: tuple[layers.Hidden, ...]) -> layers.Network:
    return _with_layer(network, index, lambda layer: replace(layer, hidden=hidden, clamps=()))


def _scaled_unit(layer: layers.Layer, rng: random.Random) -> tuple[str, tuple[layers.Hidden, ...]]:
    """A unit read larger and written smaller."""
    place, factor = rng.randrange(len(layer.hidden)), Fraction(2) ** rng.randint(-12, 12)
    unit = layer.hidden[place]
    changed = layers.Hidden(scaled(unit.form, factor), unit.bias * factor, scaled(unit.outputs, 1 / factor))
    return f"unit {place} scaled by {factor}", put_at(layer.hidden, place, changed)


def _split_unit(layer: layers.Layer, rng: random.Random) -> tuple[str, tuple[layers.Hidden, ...]]:
    """A unit as two, one with a large factor and one that takes it back."""
    place, most = rng.randrange(len(layer.hidden)), Fraction(2) ** rng.randint(0, 30)
    unit = layer.hidden[place]
    more = tuple((c, x + most) for c, x in unit.outputs)
    less = tuple((c, -most) for c, _ in unit.outputs)
    pair = tuple(
        layers.Hidden(unit.form, unit.bias, tuple((c, x) for c, x in own if x)) for own in (more, less)
    )
    rest = (*layer.hidden[:place], *layer.hidden[place + 1 :])
    hidden = (*rest[:place], *pair, *rest[place:]) if rng.random() < 0.5 else (pair[0], *rest, pair[1])
    return f"unit {place} split by {most}", hidden


def _moved_unit(layer: layers.Layer, rng: random.Random) -> tuple[str, tuple[layers.Hidden, ...]]:
    """The order of the units turned or shuffled."""
    hidden = list(layer.hidden)
    rng.shuffle(hidden)
    return "units shuffled", tuple(hidden)


def _colder(network: layers.Network, head: layers.Head, rng: random.Random) -> tuple[str, layers.Head]:
    assert isinstance(head.weighting, layers.Softmax)
    factor = rng.choice(FACTORS)
    form = closed_forms.times(factor, head.weighting.inverse_temperature)
    return f"colder by {factor}", replace(head, weighting=layers.Softmax(form))


def _heavier_row(network: layers.Network, head: layers.Head, rng: random.Random) -> tuple[str, layers.Head]:
    if not head.query:
        return _colder(network, head, rng)
    row, factor = rng.randrange(len(head.query)), rng.choice(FACTORS)
    query = put_at(head.query, row, scaled(head.query[row], Fraction(factor)))
    return f"row {row} times {factor}", replace(head, query=query)


def _shared_row(network: layers.Network, head: layers.Head, rng: random.Random) -> tuple[str, layers.Head]:
    """A row's query larger and its key smaller."""
    if not head.query:
        return _colder(network, head, rng)
    row, factor = rng.randrange(len(head.query)), Fraction(2) ** rng.randint(-12, 12)
    query = put_at(head.query, row, scaled(head.query[row], factor))
    key = put_at(head.key, row, scaled(head.key[row], 1 / factor))
    return f"row {row}: query times {factor}, key divided by it", replace(head, query=query, key=key)


def _level_row(network: layers.Network, head: layers.Head, rng: random.Random) -> tuple[str, layers.Head]:
    """One more row, whose key is the same everywhere."""
    ones = [coordinate for coordinate, form in network.positions if form == closed_forms.number(1)]
    if not ones or not head.query or len(head.query) == network.head_width:
        return _heavier_row(network, head, rng)
    one, most = ones[0], Fraction(2) ** rng.randint(0, 24)
    form: tuple[tuple[int, Fraction], ...] = ((one, Fraction(1)),)
    query, key = (*head.query, form), (*head.key, scaled(form, most))
    return f"a level row of {most}", replace(head, query=query, key=key)


def _turned_rows(network: layers.Network, head: layers.Head, rng: random.Random) -> tuple[str, layers.Head]:
    return "rows turned round", replace(head, query=head.query[::-1], key=head.key[::-1])


def scaled(form: tuple[tuple[int, Fraction], ...], factor: Fraction) -> tuple[tuple[int, Fraction], ...]:
    """A linear form times a number that is not 0."""
    return tuple((c, x * factor) for c, x in form)
