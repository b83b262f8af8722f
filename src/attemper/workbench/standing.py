"""What is proved of one side, or of both together: an automaton, or a formula that both are."""

from __future__ import annotations

from typing import assert_never

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.realisation import Realisation
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.syntax import Binary, BinaryOperator
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.reading.machines import CapReachedError
from attemper.reading.networks import decompile
from attemper.workbench.automata import Caps, automaton_of_language, compiled_network
from attemper.workbench.language import Language
from attemper.workbench.sides import ComparedSide, Weighed


def automaton_of_side(side: ComparedSide, caps: Caps) -> Dfa:
    """The minimal automaton of a side, of any length n, proved. Raises `UnprovenError` with the reason.

    A network's is read from its weights; where that fails, but for the reason that the network keeps too
    much, it is that of the language which the network is said to compute, if this is proved of the weights.
    """
    match side:
        case Language(language, alphabet):
            return automaton_of_language(language, alphabet, caps)
        case Weighed(_, network):
            try:
                return decompile(network, configurations=caps.configurations, seconds=caps.seconds).automaton
            except CapReachedError:
                raise
            except UnprovenError as reason:
                return _as_claimed(side, caps, reason)
        case _:
            assert_never(side)


def _as_claimed(side: Weighed, caps: Caps, reason: UnprovenError) -> Dfa:
    """The automaton of what the network is said to compute. Raises the reason unless that is proved."""
    network, claimed = side.network, side.claimed
    alike = claimed is not None and (claimed.reads_first, claimed.accepts_empty) == (
        network.reads_first,
        network.accepts_empty,
    )
    if claimed is None or not alike:
        raise reason
    try:
        _require_computes(network, claimed, side.said)
    except UnprovenError:
        raise reason from None
    return automaton_of_language(claimed, side.alphabet, caps)


def _require_computes(network: Network, language: Definition, said: Realisation | None = None) -> None:
    """Raise `UnprovenError` unless the network's output is the language's at every position of every word."""
    if prove(network, language, said).reads is not None:
        raise UnprovenError("the network normalises what it reads, and is right up to a length only")


def is_one_formula(left: ComparedSide, right: ComparedSide, alphabet: Alphabet) -> bool:
    """Whether both sides are proved to be one formula, at every position of every word over the alphabet.

    Both are then read at the same end. The empty word, which has no position, is not looked at.
    """
    if _reads_first(left) is not _reads_first(right):
        return False
    formulas = dict.fromkeys(one for one in (_formula(left), _formula(right)) if one is not None)
    return any(
        _computes(left, formula, alphabet) and _computes(right, formula, alphabet) for formula in formulas
    )


def is_contained_formula(left: ComparedSide, right: ComparedSide, alphabet: Alphabet) -> bool:
    """Whether 'left and right' is proved to be one formula with left, at every position of every word."""
    one, other = _formula(left), _formula(right)
    if one is None or other is None or _reads_first(left) is not _reads_first(right):
        return False
    together = TemporalLanguage(Binary(BinaryOperator.AND, one.formula, other.formula), one.at, False)
    return (
        _computes(left, one, alphabet)
        and _computes(right, other, alphabet)
        and _computes(Language(one, alphabet), together, alphabet)
    )


def _reads_first(side: ComparedSide) -> bool:
    return side.definition.reads_first if isinstance(side, Language) else side.network.reads_first


def _formula(side: ComparedSide) -> TemporalLanguage | None:
    """The formula that the side is, or is said to be."""
    language = side.definition if isinstance(side, Language) else side.claimed
    return language if isinstance(language, TemporalLanguage) else None


def _computes(side: ComparedSide, formula: TemporalLanguage, alphabet: Alphabet) -> bool:
    """Whether the side is proved to be the formula, by its network, or by one that computes both."""
    if not formula.fits(side.alphabet):  # with --alphabet one side can have symbols that the other has not
        return False
    try:
        match side:
            case Weighed(_, network):
                _require_computes(network, formula)
            case Language(TemporalLanguage(own, _, _)) if own == formula.formula:
                return True
            case Language(TemporalLanguage() | ProgramLanguage() as language):
                network = compiled_network(language, alphabet)
                for claim in (language, formula):
                    _require_computes(network, claim)
            case _:
                return False
    except UnprovenError:
        return False
    return True
