"""That setting variables does in a network what it does in its program, at any positions of any word.

Network and program are followed under one set of names. After its layer a variable's coordinates must hold
its steps exactly; then each of its values gets a free name, on both sides, and the names of one variable
exclude each other. Whatever follows is shown of the names, and so of every value in their place.
(FORMAT.md, section 16.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from attemper.attention_program.ops import Program, Ref, inputs
from attemper.checker.analysis import PRECISION, Analysis, LayerFact, layer_fact, outputs_of
from attemper.checker.diagrams import Diagram, TooLargeError
from attemper.checker.names import Names, UnprovenError
from attemper.checker.program import Programs, Steps
from attemper.checker.proof import deep
from attemper.checker.values import ResidualValues, embedded, plain
from attemper.exact.balls import precision
from attemper.networks.layers import Coordinate, Network
from attemper.theories.causal.certificate import CausalEdge, CausalVariable, Holder
from attemper.theories.causal.check.cutting import cut


def follow(network: Network, program: Program, variables: Sequence[CausalVariable]) -> None:
    """Raises `UnprovenError`, naming the variable or the output that is not shown to be the program's.

    The network is well formed, and `mismatches` has nothing to say of it.
    """
    require_order(program, variables)

    def after(steps: Steps, stream: ResidualValues, layer: int) -> ResidualValues:
        here = [own for own in variables if own.layer == layer]
        for variable in here:  # all before any of them is named
            _require_row(steps.names, stream, variable, [steps.bit(ref) for ref in variable.steps])
        return named(steps, stream, layer, here)

    _follow(network, program, after)


def follow_cut(
    network: Network, program: Program, variables: Sequence[CausalVariable], edges: Sequence[CausalEdge]
) -> None:
    """Raises `UnprovenError` unless outputs are the program's, whatever values the edges carry.

    As `follow`; and `lost_edges` has nothing to say of the edges.
    """
    without, twins = cut(network, variables, edges)

    def after(steps: Steps, stream: ResidualValues, layer: int) -> ResidualValues:
        changed = stream.copy()
        for number, edge in enumerate(edges):
            variable = variables[edge.variable]
            if variable.layer == layer:
                _require_row(steps.names, stream, variable, _held_in(steps.names, stream, variable))
                for coordinate, bit in _row(steps.names, layer, number, variable):
                    changed.values[twins[number][coordinate]] = {(0, 0): bit}
        return changed

    _follow(without, program, after)


def mismatches(network: Network, program: Program, variables: Sequence[CausalVariable]) -> Iterator[str]:
    """Why the variables are none of this network, or its outputs not those of the program."""
    if network.normalisation is not None:
        yield "its sublayers read normalised numbers"
    if network.alphabet != program.alphabet:
        yield "the program reads other symbols than the network, or in another order"
    names = tuple(name for name, _ in network.symbols), tuple(name for name, _ in program.symbols)
    if network.measure is not None or names[0] != names[1]:
        yield "the network puts out other symbols than the program, or numbers"
    for variable in variables:
        if variable.layer not in range(len(network.layers)):
            yield f"there is no layer {variable.layer}"
        for coordinate in variable.coordinates:
            if coordinate not in range(len(network.coordinates)):
                yield f"there is no coordinate {coordinate}"
            elif variable.layer == len(network.layers) - 1 and coordinate in network.outputs:
                yield f"coordinate {coordinate} is put out as it was set: nothing is said of the network then"


def require_order(program: Program, variables: Sequence[CausalVariable]) -> None:
    """Raises `UnprovenError` unless what variables are made of is set in earlier layers.

    So no name comes too late for what was made of its step.
    """
    layers = {ref: variable.layer for variable in variables for ref in variable.steps}
    for ref, layer in layers.items():
        for other in ancestors(program, ref) & layers.keys():
            if layers[other] >= layer:
                raise UnprovenError(
                    f"step {ref} is made of step {other}, which no earlier layer holds as a variable"
                )


def ancestors(program: Program, ref: Ref) -> set[Ref]:
    """The steps that a step is made of, without itself."""
    found, left = set[Ref](), [ref]
    while left:
        new = set(inputs(program.steps[left.pop()])) - found
        found |= new
        left += new
    return found


def _follow(
    network: Network, program: Program, after: Callable[[Steps, ResidualValues, int], ResidualValues]
) -> None:
    """Layer by layer, with the stream as it is changed after each; in the end outputs are the program's."""
    try:
        with deep(), precision(PRECISION):
            programs = Programs(network.alphabet.symbols)
            steps, facts = Steps(programs, program), list[LayerFact]()
            start = stream = embedded(programs.names, network)
            for number, layer in enumerate(network.layers):
                facts.append(layer_fact(programs.names, layer, number, stream))
                stream = after(steps, facts[-1].after, number)
            steps.make_all()
            if steps.promises:
                raise UnprovenError("bits of a sum, or cases, of the program may hold together")
            analysis = Analysis(network, programs.names, start, tuple(facts), (), stream)
            if outputs_of(analysis) != tuple(map(steps.bit, program.outputs)):
                raise UnprovenError("an output is not shown to be the program's, whatever is set")
    except TooLargeError:
        raise UnprovenError("its Boolean blocks are too large to be compared") from None
    except RecursionError:
        raise UnprovenError("its Boolean blocks nest too deeply to be compared") from None


def named(
    steps: Steps, stream: ResidualValues, layer: int, variables: Sequence[CausalVariable]
) -> ResidualValues:
    """The stream with names in place of a layer's variables, which the steps have from now on, too."""
    after, names = stream.copy(), steps.names
    for number, variable in enumerate(variables):
        for value, ref in enumerate(variable.steps):
            steps.name(ref, names.symbol(layer, number, value))
        for coordinate, bit in _row(names, layer, number, variable):
            after.values[coordinate] = {(0, 0): bit}
    return after


def _row(
    names: Names, layer: int, number: int, variable: CausalVariable
) -> Iterator[tuple[Coordinate, Diagram]]:
    """What coordinates hold where each value has a name, of which at most one is 1."""
    for value, code in enumerate(variable.codes):
        name = names.symbol(layer, number, value)
        for holder in code.holders:
            yield holder.coordinate, names.negation(name) if holder.opposite else name


def _held_in(names: Names, stream: ResidualValues, variable: CausalVariable) -> list[Diagram]:
    """What stands at the first coordinate of each code."""
    bits = [_bit_at(names, stream, variable.layer, code.holders[0]) for code in variable.codes]
    if not all(map(names.is_bit, bits)):
        raise UnprovenError(f"after layer {variable.layer} a coordinate is not seen to be 0 or 1")
    return bits


def _require_row(
    names: Names, stream: ResidualValues, variable: CausalVariable, bits: Sequence[Diagram]
) -> None:
    """The coordinates hold exactly these bits, one for each code, and those exclude each other."""
    for code, bit in zip(variable.codes, bits, strict=True):
        for holder in code.holders:
            if _bit_at(names, stream, variable.layer, holder) != bit:
                side = "1 less step" if holder.opposite else "step"
                what = f"after layer {variable.layer}, coordinate {holder.coordinate}"
                raise UnprovenError(f"{what} is not shown to be {side} {code.step}")
    if not names.is_bit(names.canonical(names.total(bits))):
        raise UnprovenError(f"steps {variable.steps} are not seen to exclude each other")


def _bit_at(names: Names, stream: ResidualValues, layer: int, holder: Holder) -> Diagram:
    """What the coordinate holds, or of an opposite what it is the opposite of."""
    what = f"after layer {layer}, coordinate {holder.coordinate}"
    if stream.errors[holder.coordinate]:
        raise UnprovenError(f"{what} is not shown to be exact")
    held = plain(stream.values[holder.coordinate], names, what)
    return names.canonical(names.negation(held) if holder.opposite else held)
