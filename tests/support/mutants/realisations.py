"""Programs, and groups of bits in networks, in which one thing was changed.

A mutant is well formed: what a file refuses is tested where files are. Whether a mutant still means the same
is for its user to find out.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from attemper.attention_program import ops
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.attention_program.wellformed import complaints
from attemper.exact.closed_forms import complement
from attemper.exact.predicates import NonNegative, Remainder, Zero
from attemper.networks.layers import Network

NAMES_TRIED = 3
"""How many false groups of each size are drawn."""


def random_program_mutant(program: ops.Program, rng: random.Random) -> tuple[str, ops.Program]:
    """A program of which one step was changed; well formed."""
    while True:
        ref = rng.randrange(len(program.steps))
        others = [other for other in step_mutants(program, ref) if other != program.steps[ref]]
        if others:
            other = rng.choice(others)
            steps = (*program.steps[:ref], other, *program.steps[ref + 1 :])
            return f"s{ref} is {other}", replace(program, steps=steps)


def program_mutants(program: ops.Program) -> Iterator[tuple[str, ops.Program]]:
    """Every mutant of every step, and every other output."""
    for ref, step in enumerate(program.steps):
        for other in step_mutants(program, ref):
            if other != step:
                steps = (*program.steps[:ref], other, *program.steps[ref + 1 :])
                yield f"s{ref} is {other}", replace(program, steps=steps)
    for ref in bits_below(program, len(program.steps)):
        if not program.symbols and ref != program.output:
            yield f"output s{ref}", replace(program, output=ref)
        for place, (name, bit) in enumerate(program.symbols):
            if ref != bit:
                symbols = (*program.symbols[:place], (name, ref), *program.symbols[place + 1 :])
                yield f"{name} is s{ref}", replace(program, symbols=symbols, output=symbols[0][1])


def bits_below(program: ops.Program, below: ops.Ref) -> list[ops.Ref]:
    """The steps before this one that are bits."""
    return [ref for ref in range(below) if not isinstance(program.steps[ref], ops.Count | ops.Linear)]


def step_mutants(program: ops.Program, ref: ops.Ref) -> Iterator[ops.Step]:
    """A step with another reference, mask, choice, connective, threshold, row, letter or place."""
    bits = bits_below(program, ref)
    counts = [k for k in range(ref) if k not in bits]
    match program.steps[ref]:
        case ops.Letter(symbols):
            yield ops.Letter(tuple(symbol for symbol in program.alphabet.symbols if symbol not in symbols))
            yield from (ops.Letter((symbol,)) for symbol in program.alphabet.symbols)
        case ops.Place(form):
            yield ops.Place(complement(form))
        case ops.Not(bit):
            yield ops.Gate(ops.Connective.OR, (bit,))
            yield from map(ops.Not, bits)
        case ops.Gate(connective, read):
            yield from (ops.Gate(other, read) for other in ops.Connective)
            yield from (ops.Gate(connective, other) for other in _other_bits(read, bits))
        case ops.Merge(read):
            yield ops.Gate(ops.Connective.OR, read)
            yield from map(ops.Merge, _other_bits(read, bits))
        case ops.Table(read, rows):
            yield from (ops.Table(read, (*rows[:k], *rows[k + 1 :])) for k in range(len(rows)))
            yield from (
                ops.Table(other, rows) for other in _other_bits(read, bits) if len(other) == len(read)
            )
        case ops.Attend() as step:
            yield from _other_selections(step, bits)
        case ops.Nearest() as step:
            yield from _other_nearest(step, bits, counts)
        case ops.Shift(direction, bit, distance, default) as step:
            yield from (replace(step, direction=other) for other in ops.Direction)
            yield from (replace(step, bit=other) for other in bits)
            if default is not None:
                yield ops.Shift(direction, bit, distance, not default)
                yield from (replace(step, distance=other) for other in (distance - 1, distance + 1) if other)
        case ops.Count(mask, bit):
            yield from (ops.Count(other, bit) for other in ops.Mask)
            yield from (ops.Count(mask, other) for other in bits)
        case ops.Linear(parts, constant):
            yield from (ops.Linear(parts, constant + step) for step in (-1, 1))
            for k, (factor, count) in enumerate(parts):
                for part in ((-factor, count), (factor + 1, count), *((factor, other) for other in counts)):
                    yield ops.Linear((*parts[:k], part, *parts[k + 1 :]), constant)
        case ops.Compare(count, threshold):
            yield from (ops.Compare(count, threshold + step) for step in (-1, 1))
            yield from (ops.Compare(other, threshold) for other in counts)
            yield ops.Equals(count, threshold)
        case ops.Equals(count, value):
            yield from (ops.Equals(count, value + step) for step in (-1, 1))
            yield ops.Compare(count, value)
        case ops.CountTest(predicate, count, scale, shift):
            yield from (ops.CountTest(predicate, count, scale, shift + step) for step in (-1, 1))
            yield from (ops.CountTest(other, count, scale, shift) for other in (Zero(), NonNegative()))
            yield ops.CountTest(Remainder(3, 1), count, scale, shift)
            yield ops.CountTest(predicate, count, scale + 1, shift)


def _other_selections(step: ops.Attend, bits: list[ops.Ref]) -> Iterator[ops.Step]:
    """With another mask, choice, case, value or default."""
    yield from (replace(step, mask=mask) for mask in ops.Mask)
    yield from (replace(step, choice=choice) for choice in ops.Choice)
    yield from (replace(step, value=bit) for bit in bits)
    if step.default is not None:
        yield replace(step, default=not step.default)
    for k, (here, there) in enumerate(step.cases):
        others = [*((here, bit) for bit in bits), *((bit, there) for bit in bits if here is not None)]
        yield from (replace(step, cases=(*step.cases[:k], case, *step.cases[k + 1 :])) for case in others)
        if len(step.cases) > 1:
            yield replace(step, cases=(*step.cases[:k], *step.cases[k + 1 :]))
    for (k, (here, there)), (m, (other, other_there)) in combinations(enumerate(step.cases), 2):
        cases = list(step.cases)
        cases[k], cases[m] = (here, other_there), (other, there)
        yield replace(step, cases=tuple(cases))


def _other_nearest(step: ops.Nearest, bits: list[ops.Ref], counts: list[ops.Ref]) -> Iterator[ops.Step]:
    """With another mask, choice, bit, value or count, or with its counts exchanged."""
    yield from (replace(step, mask=mask) for mask in (ops.Mask.UP_TO, ops.Mask.FROM, ops.Mask.ALL))
    yield from (replace(step, choice=choice) for choice in ops.Choice)
    yield from (replace(step, where=bit) for bit in bits)
    yield from (replace(step, value=bit) for bit in bits)
    yield from (replace(step, query=count) for count in counts)
    yield from (replace(step, key=count) for count in counts)
    yield replace(step, query=step.key, key=step.query)


def _other_bits(read: tuple[ops.Ref, ...], bits: list[ops.Ref]) -> Iterator[tuple[ops.Ref, ...]]:
    """One bit less, and another in its place."""
    for k in range(len(read)):
        yield (*read[:k], *read[k + 1 :])
        yield from ((*read[:k], bit, *read[k + 1 :]) for bit in bits)


# Groups ----------------------------------------------------------------------------------------------


def group_mutants(
    network: Network, said: Realisation, rng: random.Random
) -> Iterator[tuple[str, Realisation]]:
    """Groups dropped, merged, split, in another layer; bits of another coordinate or step; false groups."""
    groups = said.groups
    if groups:
        yield "no groups", replace(said, groups=())
        united = SymbolGroup(groups[-1].layer, tuple(bit for group in groups for bit in group.bits))
        yield "all groups are one", replace(said, groups=(united,))
    for k, group in enumerate(groups):
        for what, others in _of_group(network, said, group, rng):
            yield f"group {k}: {what}", replace(said, groups=(*groups[:k], *others, *groups[k + 1 :]))
    for number, group in enumerate(false_groups(network, said, rng)):
        yield f"false group {number}: {group}", replace(said, groups=(*groups, group))


def _of_group(
    network: Network, said: Realisation, group: SymbolGroup, rng: random.Random
) -> Iterator[tuple[str, tuple[SymbolGroup, ...]]]:
    bits, steps = group.bits, bits_below(said.program, len(said.program.steps))
    yield "dropped", ()
    yield "turned round", (replace(group, bits=bits[::-1]),)
    yield "twice", (group, group)
    for layer in range(len(network.layers)):
        yield f"in layer {layer}", (replace(group, layer=layer),)
    if len(bits) > 1:
        cut = rng.randrange(1, len(bits))
        yield "split", (replace(group, bits=bits[:cut]), replace(group, bits=bits[cut:]))
        yield "a bit less", (replace(group, bits=bits[1:] if rng.random() < 0.5 else bits[:-1]),)
    place = rng.randrange(len(bits))
    coordinate, ref = bits[place]
    others = [
        ("another coordinate", (rng.randrange(len(network.coordinates)), ref)),
        ("another step", (coordinate, rng.choice(steps))),
        ("another bit", rng.choice(bits)),
    ]
    for what, bit in others:
        yield f"{what} {bit}", (replace(group, bits=(*bits[:place], bit, *bits[place + 1 :])),)
    more = (rng.randrange(len(network.coordinates)), rng.choice(steps))
    yield f"one more {more}", (replace(group, bits=(*bits, more)),)


def false_groups(network: Network, said: Realisation, rng: random.Random) -> Iterator[SymbolGroup]:
    """Groups of bits that the network has somewhere, whether or not they hold together."""
    steps = bits_below(said.program, len(said.program.steps))
    known = [bit for group in said.groups for bit in group.bits]
    for size in (1, 2, 3):
        for _ in range(NAMES_TRIED if network.layers else 0):
            layer = rng.randrange(len(network.layers))
            drawn = [
                rng.choice(known)
                if known and rng.random() < 0.7
                else (rng.randrange(len(network.coordinates)), rng.choice(steps))
                for _ in range(size)
            ]
            yield SymbolGroup(layer, tuple(drawn))


def realisation_mutants(
    network: Network, said: Realisation, rng: random.Random
) -> Iterator[tuple[str, Realisation]]:
    """The mutants of the program, and of the groups."""
    for name, program in program_mutants(said.program):
        assert not complaints(program), name
        yield name, replace(said, program=program)
    yield from group_mutants(network, said, rng)
