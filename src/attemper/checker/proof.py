"""That a network computes a language, at every position of every word of any length, in real arithmetic.

Of a formula: the network and the formula have one normal form. So of an attention program, unless that is a
machine's: then the network runs it. Of an automaton: the network runs a program, and the program is followed
beside the automaton.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from attemper.checker.analysis import Analysis, analyse, outputs_of
from attemper.checker.diagrams import TooLargeError
from attemper.checker.identities import Formulas
from attemper.checker.names import PlaceTest, Range, UnprovenError
from attemper.checker.source import meanings_of
from attemper.exact.closed_forms import ClosedForm, tests_in
from attemper.exact.predicates import BUILT_IN, Named
from attemper.languages.definition import Definition
from attemper.languages.measures import Measure
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.networks.layers import Network, Softmax

if TYPE_CHECKING:
    from attemper.attention_program.ops import Program
    from attemper.attention_program.realisation import Realisation

RECURSION = 20_000
"""Deep enough for diagrams over all codes of a symbol."""

Meaning = Callable[[Analysis, Formulas], bool]
"""Whether the outputs of what was followed are seen to be what they are to be, under these names."""

OTHER = "its output is not shown to be that of the language"


def prove(network: Network, language: Definition, realisation: Realisation | None = None) -> Analysis:
    """What the network computes, which is the language. Raises `UnprovenError` where that is not shown.

    `realisation` is the program that the network is said to run, without which nothing is shown of an
    automaton. What is found of a network that normalises what its sublayers read is true of the plain network
    that it stands for, and of itself as far as `Analysis.reads` says.
    """
    require_symbols(network, language)
    how = network.normalisation
    if how is None:
        return _proved(network, language, realisation)
    from attemper.checker.normalised import plain_of

    plain, reads = plain_of(network, how)
    return replace(_proved(plain, language, realisation), reads=reads)


def _proved(network: Network, language: Definition, realisation: Realisation | None) -> Analysis:
    try:
        match language:
            case TemporalLanguage(formula, _, _):
                return _of_definition(
                    network, lambda analysis, formulas: _is_formula(analysis, formulas, formula)
                )
            case Dfa():
                return _of_automaton(network, language, realisation)
            case _:
                return _of_program(network, language, realisation)
    except TooLargeError:
        raise UnprovenError("its Boolean blocks are too large to be compared") from None
    except RecursionError:
        raise UnprovenError("its Boolean blocks nest too deeply to be compared") from None


def require_symbols(network: Network, language: Definition) -> None:
    """Raise `UnprovenError` unless network and language read and put out the same symbols, or numbers."""
    if not language.fits(network.alphabet):
        raise UnprovenError("it reads other symbols than the language")
    if not put_out_alike(network, language):
        raise UnprovenError("it puts out other symbols than the language, or other numbers")


def put_out_alike(network: Network, language: Definition) -> bool:
    """Whether each output of the network is said to be that of the language in the same place."""
    names = tuple(name for name, _ in network.symbols)
    program = None if isinstance(language, TemporalLanguage | Dfa) else _program_of(language)
    numbers = None if program is None else program.numbers
    if numbers is not None:
        from attemper.checker.program import MASKINGS

        over = MASKINGS[numbers.mask] if numbers.measure is Measure.INTEGER else None
        return (network.measure, network.over, names) == (numbers.measure, over, numbers.names)
    meant = () if program is None else program.symbols
    return network.measure is None and names == tuple(name for name, _ in meant)


def _of_definition(network: Network, is_meant: Meaning) -> Analysis:
    """Both sides in one normal form. Raises `UnprovenError` where they are not seen to be the same.

    "Some position has f or g" is "some position has f, or some has g": if the two sides differ at first,
    both are split into cases by the tests of positions that stand beside letters.
    """
    found, mixed = _compared(network, is_meant, frozenset())
    if found is None and mixed:
        found, _ = _compared(network, is_meant, mixed)
    if found is None:
        raise UnprovenError(OTHER)
    return found


def _compared(
    network: Network, is_meant: Meaning, expand: frozenset[PlaceTest]
) -> tuple[Analysis | None, frozenset[PlaceTest]]:
    """What the network computes, if its outputs are seen to be what is meant; else what could be split.

    At first no more than a range is said of what is read of blocked positions: in real arithmetic nothing is
    gained by that, but floats need not tell blocked positions apart then.
    """
    for is_loose in (True, False):
        formulas = Formulas(network.alphabet.symbols, expand)
        try:
            analysis = analyse(network, formulas.names, is_loose=is_loose)
            if is_meant(analysis, formulas):
                return analysis, frozenset()
        except (UnprovenError, TooLargeError, RecursionError):
            if not _has_ranges(formulas):
                raise
        if not _has_ranges(formulas):
            break
    return None, formulas.mixed_places()


def _has_ranges(formulas: Formulas) -> bool:
    """Whether less was said than could be: where not, a strict proof would be the same."""
    return any(isinstance(quantity, Range) for quantity in formulas.names.quantities)


def _is_formula(analysis: Analysis, formulas: Formulas, formula: Formula) -> bool:
    """Whether the output is within 1/4 of the formula's truth."""
    return outputs_of(analysis) == (meanings_of(formulas, formula)[formula],)


def _is_program(analysis: Analysis, formulas: Formulas, program: Program) -> bool:
    """Whether each output is within 1/4 of the program's bit, or is its number."""
    from attemper.checker.numbers import are_numbers_of
    from attemper.checker.program import defined_by, kept_by

    if program.numbers is not None:
        return are_numbers_of(analysis, kept_by(formulas, program), program.numbers)
    return outputs_of(analysis) == defined_by(formulas, program)


# By way of a program: what is about programs is imported by these functions, as no formula needs it -----


def _program_of(language: Definition) -> Program | None:
    from attemper.attention_program.language import defining_program

    return defining_program(language)


def _of_automaton(network: Network, dfa: Dfa, said: Realisation | None) -> Analysis:
    if said is None:
        raise UnprovenError("nothing says which program the network runs")
    from attemper.attention_program.wellformed import is_machine

    if not is_machine(said.program):
        raise UnprovenError("the program that the network is said to run is no machine's")
    _require_wellformed(said.program)
    return _of_machine(network, said, dfa)


def _of_program(network: Network, language: Definition, said: Realisation | None) -> Analysis:
    from attemper.attention_program.realisation import Realisation
    from attemper.attention_program.wellformed import is_machine

    program = _program_of(language)
    if program is None:
        raise UnprovenError(f"no rule is about {type(language).__name__}")
    said = Realisation(program) if said is None else said
    if said.program != program:
        raise UnprovenError("the network is said to run another program than the language's")
    _require_wellformed(said.program)
    if not is_machine(said.program) or said.program.numbers is not None:
        if said.groups:
            raise UnprovenError("groups of bits are those of a machine's program")
        with deep():
            return _of_definition(
                network, lambda analysis, formulas: _is_program(analysis, formulas, said.program)
            )
    return _of_machine(network, said, None)


def _of_machine(network: Network, said: Realisation, dfa: Dfa | None) -> Analysis:
    """The network runs a machine's program, which keeps its promises and is followed beside the automaton."""
    from attemper.checker.reachability import follows
    from attemper.checker.realising import realise

    with deep():
        analysis, promised = realise(network, said)
    if (promised or dfa is not None) and not follows(said.program, dfa, promised):
        raise UnprovenError(OTHER)
    return analysis


def _require_wellformed(program: Program) -> None:
    """Raise `UnprovenError` at a step without a meaning: files have none, but programs made by code can."""
    from attemper.attention_program.wellformed import complaints

    for complaint in complaints(program):
        raise UnprovenError(f"the program is ill-formed: {complaint}")


@contextmanager
def deep(room: int = RECURSION) -> Iterator[None]:
    """Room to recurse: one-hot symbols have long diagrams."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, room))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


# What is taken for granted ------------------------------------------------------------------------


def assuming(registered: set[str]) -> tuple[str, ...]:
    """What a verdict takes for granted of predicates that a user registered."""
    return tuple(
        f"the registered predicate '{name}' is the same function wherever the network runs"
        for name in sorted(registered)
    )


def assumptions_of(network: Network, language: Definition) -> tuple[str, ...]:
    """What a verdict on a network and a language takes for granted."""
    return assuming(registered_in(network) | registered_by(language))


def registered_by(language: Definition) -> set[str]:
    """The predicates that a user registered and that the language uses."""
    return {predicate.name for predicate in language.predicates() if isinstance(predicate, Named)} - BUILT_IN


def registered_in(network: Network) -> set[str]:
    """The predicates that a user registered and that the network uses."""
    forms: list[ClosedForm] = [form for _, form in network.positions]
    for layer in network.layers:
        forms += [h.weighting.inverse_temperature for h in layer.heads if isinstance(h.weighting, Softmax)]
    named = {test.predicate for form in forms for test in tests_in(form)}
    return {predicate.name for predicate in named if isinstance(predicate, Named)} - BUILT_IN
