"""Numbers that are put out: that a network's are those of a program, at every position of every word.

A number of the network and one of the program differ by averages over the visible positions, which are one
average: of what is summed up. It is no greater in size than the greatest that is averaged.
"""

from __future__ import annotations

from fractions import Fraction

from attemper.attention_program.ops import Numbers, Part
from attemper.checker.analysis import Analysis
from attemper.checker.diagrams import Diagram
from attemper.checker.names import Affine, Names, UnprovenError
from attemper.checker.program import MASKINGS, Steps
from attemper.checker.values import plain
from attemper.languages.measures import REAL_ACCURACY, Measure


def are_numbers_of(analysis: Analysis, steps: Steps, said: Numbers) -> bool:
    """Whether each number that a network puts out is seen to be the program's, but for what it may be off.

    Raises `UnprovenError` also where the program's numbers are to be a distribution and are not seen to be.
    """
    names, end = steps.names, analysis.end
    meant = [_number(steps, said, row) for row in said.rows]
    if said.measure is Measure.DISTRIBUTION:
        _require_distribution(names, meant)
    allowed = Fraction(0) if said.measure is Measure.INTEGER else REAL_ACCURACY
    for output, number in zip(analysis.network.outputs, meant, strict=True):
        own = plain(end.values[output], names, "the output")
        between = names.plus(own, names.scaled(number, -1))
        if end.errors[output] + _greatest(names, between) > allowed:
            return False
    return True


def _number(steps: Steps, said: Numbers, row: tuple[Part, ...]) -> Diagram:
    names = steps.names
    return names.canonical(names.total(_part(steps, said, part) for part in row))


def _part(steps: Steps, said: Numbers, part: Part) -> Diagram:
    names = steps.names
    bit = names.true if part.bit is None else steps.bit(part.bit)
    share = names.true if part.count is None else steps.share(MASKINGS[said.mask], part.count)
    return names.scaled(names.product(bit, share), part.factor)


def _require_distribution(names: Names, numbers: list[Diagram]) -> None:
    if any(value < 0 for number in numbers for value in names.constants(number, "a probability")):
        raise UnprovenError("a probability is negative somewhere")
    if names.canonical(names.total(numbers)) != names.true:
        raise UnprovenError("the probabilities are not seen to have the sum 1 everywhere")


def _greatest(names: Names, diagram: Diagram) -> Fraction:
    """The greatest size of a number, whose averages must be over the same positions."""
    values = names.values(names.canonical(names.with_edges(diagram)))
    return max(_size(names, value) for value in values)


def _size(names: Names, value: Affine) -> Fraction:
    means = [(names.average(number), factor) for number, factor in value.parts]
    if len({mean.masking for mean, _ in means}) > 1:
        raise UnprovenError("a number that is put out is no average over the visible positions")
    averaged = names.total(names.scaled(mean.summand, factor) for mean, factor in means)
    whole = names.canonical(names.plus(averaged, names.number(value.constant)))
    return max(abs(size) for size in names.constants(whole, "an average"))
