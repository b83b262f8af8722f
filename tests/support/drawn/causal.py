"""Networks of formulas and automata, with hypotheses about what their coordinates hold."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import attemper
from attemper.attention_program.ops import Connective, Count, Gate, Letter, Linear, Program
from attemper.errors import AttemperError
from attemper.languages.words import Alphabet
from attemper.networks.layers import Hidden, Layer, Network
from attemper.theories.causal.certificate import CausalClaim, CausalVariable, HeldBit, Holder
from attemper.workbench.model import Model


def random_formula(rng: random.Random, depth: int) -> str:
    """A formula over a, b and c, with counts."""
    if not depth:
        return rng.choice(["a", "b", "!c"])
    left, right = random_formula(rng, depth - 1), random_formula(rng, rng.randrange(depth))
    return rng.choice(
        [
            f"({left} & {right})",
            f"({left} | {right})",
            f"Y ({left})",
            f"({left} S {right})",
            f"O ({left})",
            f"H ({left})",
            f"!({left})",
            f"#<[{left}] >= {rng.choice(['1', '2', f'#<[{right}]'])}",
            f"even(#<[{left}])",
        ]
    )


def models(seed: int, count: int) -> Iterator[Model]:
    """Networks of random formulas."""
    rng = random.Random(f"causal {seed}")
    while count:
        try:
            yield attemper.compile(random_formula(rng, rng.choice([3, 4, 5])), "abc")
        except AttemperError:
            continue
        count -= 1


def with_changed_writer(network: Network, variable: CausalVariable, rng: random.Random) -> Network | None:
    """Another number in a hidden unit that writes the variable; None where there is none."""
    layer = network.layers[variable.layer]
    writers = [
        number
        for number, unit in enumerate(layer.hidden)
        if any(coordinate in variable.coordinates for coordinate, _ in unit.outputs)
    ]
    if not writers:
        return None
    number = rng.choice(writers)
    units = list(layer.hidden)
    units[number] = _changed(units[number], network, rng)
    layers = list(network.layers)
    layers[variable.layer] = replace(layer, hidden=tuple(units), clamps=())
    return replace(network, layers=tuple(layers))


def _changed(unit: Hidden, network: Network, rng: random.Random) -> Hidden:
    match rng.randrange(3):
        case 0:
            return replace(unit, bias=unit.bias + rng.choice([-1, Fraction(-1, 2), Fraction(1, 2), 1]))
        case 1:
            extra = rng.randrange(len(network.coordinates))
            form = dict(unit.form)
            form[extra] = form.get(extra, Fraction(0)) + rng.choice([-1, 1])
            return replace(unit, form=tuple(sorted((c, x) for c, x in form.items() if x)))
        case _:
            place = rng.randrange(len(unit.outputs))
            outputs = [
                (c, x * rng.choice([-1, 2]) if k == place else x) for k, (c, x) in enumerate(unit.outputs)
            ]
            return replace(unit, outputs=tuple(outputs))


def wrong_guesses(program: Program, variable: CausalVariable, rng: random.Random) -> Iterator[CausalVariable]:
    """Another step, another sign, a part of its coordinates, another layer."""
    bits = [ref for ref, step in enumerate(program.steps) if not isinstance(step, Count | Linear)]
    code = rng.choice(variable.codes)
    rest = tuple(own for own in variable.codes if own is not code)
    yield replace(variable, codes=(*rest, HeldBit(rng.choice(bits), code.holders)))
    turned = tuple(Holder(own.coordinate, not own.opposite) for own in code.holders)
    yield replace(variable, codes=(*rest, HeldBit(code.step, turned)))
    if len(code.holders) > 1:
        yield replace(variable, codes=(*rest, HeldBit(code.step, code.holders[1:])))
    yield replace(variable, layer=variable.layer + rng.choice([-1, 1]) if variable.layer else 1)


# By hand ---------------------------------------------------------------------------------------------------


def either(held: Fraction, put_out: Fraction = Fraction(1)) -> Network:
    """Two coordinates, the first of them `held` where the letter is a; put out is their sum, up to `put_out`.

    The second layer adds 1 to the first coordinate, which nobody reads.
    """
    one = Fraction(1)
    letters = (
        Hidden(((0, one),), Fraction(0), ((2, held),)),
        Hidden(((1, one),), Fraction(0), ((3, one),)),
    )
    both = ((2, one), (3, one))
    clamped = (
        Hidden(both, Fraction(0), ((4, put_out),)),
        Hidden(both, Fraction(-1), ((4, -put_out),)),
        Hidden((), one, ((2, one),)),
    )
    return Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=("letter a", "letter b", "a", "b", "out"),
        embedding=(((0, one),), ((1, one),)),
        positions=(),
        layers=(Layer((), letters, ()), Layer((), clamped, ())),
        head_width=4,
        output=4,
        reads_first=False,
        accepts_empty=False,
    )


def of_letters(connective: Connective) -> CausalClaim:
    """That the two coordinates are two variables."""
    steps = Letter(("a",)), Letter(("b",)), Gate(connective, (0, 1))
    variables = [CausalVariable(0, (HeldBit(ref, (Holder(2 + ref, opposite=False),)),)) for ref in (0, 1)]
    return CausalClaim("", Program(Alphabet(("a", "b")), steps, 2), tuple(variables))
