"""From a language to a soft network: the order of the passes, written once.

An automaton is decomposed into a cascade, and its program needs neither simplifying nor guards; but where a
counter between two bounds is shallower, that is written as a formula. A formula goes through all of these:

    temporal_to_program   operators become the attention patterns they need
    simplify_program      before scheduling, so that no layer is spent on constants or repetitions
    guard_edges           last among the program passes: guards would hide what simplifying looks for
    program_to_hard       heads, layers and coordinates, exactly
    hard_to_soft          after assembly: margins depend on how many bits each layer's clamps add up
    drop_unused           last: only now is it known which position embeddings the regime needs

Well-formedness is checked after every pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.attention_program.wellformed import require_wellformed
from attemper.compiling.assembling.program_to_hard import LABEL_WIDTH, Assembled, assemble
from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.decomposing.decompose import Alternative, decompose
from attemper.compiling.decomposing.limits import Limits
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.lowering.temporal_to_program import temporal_to_program
from attemper.compiling.regimes import Regime, require_regime
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.simplifying.simplify_program import simplify_program
from attemper.compiling.softening.bounds import MARGINS
from attemper.compiling.softening.drop_unused import drop_unused
from attemper.compiling.softening.hard_to_soft import Evidence, hard_to_soft
from attemper.errors import InternalError, UnsupportedError
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.networks.wellformed import complaints


@final
@dataclass(frozen=True)
class Compiled:
    """Every level of one language on its way to a softmax transformer."""

    program: Program
    """As lowered and simplified."""
    guarded: Program
    """With the edges of every attention step guarded."""
    hard: Network
    soft: Network
    realisation: Realisation
    """The program that the soft network runs, and where its groups of bits are."""
    evidence: tuple[Evidence, ...]
    alternatives: tuple[Alternative, ...]
    """The ways that were tried for an automaton; none for a formula."""


def compile_language(
    language: Language,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int = MARGINS[0],
    limits: Limits | None = None,
) -> Compiled:
    """Compile a language, in the order that this module's text explains; no margin is below `least_margin`.

    `limits` are those of an automaton's cascade.

    Raises `UnsupportedError` if the regime cannot compute the formula, with the nearest that can, or if
    no cascade of moderate size computes the automaton, with what stands in the way.
    """
    match language:
        case TemporalLanguage():
            return _from_formula(language, alphabet, regime, least_margin, ())
        case Dfa():
            return _from_automaton(language, regime, least_margin, limits)
        case _:
            raise UnsupportedError(f"nothing compiles {type(language).__name__}: write it as a formula")


def _from_automaton(dfa: Dfa, regime: Regime, least_margin: int, limits: Limits | None) -> Compiled:
    found = decompose(dfa, limits)
    if isinstance(found.chosen, BoundedCounter):
        language = TemporalLanguage(counter_to_formula(found.chosen), At.LAST, dfa.accepts(()))
        return _from_formula(language, dfa.alphabet, regime, least_margin, found.alternatives)
    lowered = cascade_to_program(found.chosen)
    program = require_wellformed(lowered.program, "cascade_to_program")
    hard = assemble(program, lowered.names, False, dfa.accepts(()), lowered.symbols)
    return _softened(program, program, hard, regime, least_margin, found.alternatives)


def _from_formula(
    language: TemporalLanguage,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int,
    alternatives: tuple[Alternative, ...],
) -> Compiled:
    lowered, refs = temporal_to_program(language.formula, alphabet)
    require_wellformed(lowered, "temporal_to_program")
    program, to_simple = simplify_program(lowered)
    require_wellformed(program, "simplify_program")
    require_regime(program, language.formula, regime)
    guarded, to_guarded = guard_edges(program)
    require_wellformed(guarded, "guard_edges")
    names: dict[Ref, str] = {}
    for part, ref in refs.items():
        if to_simple[ref] >= 0 and (final_ref := to_guarded[to_simple[ref]]) >= 0:
            names.setdefault(final_ref, _label(show(part)))
    hard = assemble(guarded, names, language.at is At.FIRST, language.accepts_empty)
    return _softened(program, guarded, hard, regime, least_margin, alternatives)


def _softened(
    program: Program,
    guarded: Program,
    assembled: Assembled,
    regime: Regime,
    least_margin: int,
    alternatives: tuple[Alternative, ...],
) -> Compiled:
    hard = assembled.network
    _require_wellformed(hard, "program_to_hard")
    soft, evidence = hard_to_soft(hard, regime, least_margin)
    _require_wellformed(soft, "hard_to_soft")
    soft, moved = drop_unused(soft)
    _require_wellformed(soft, "drop_unused")
    groups = tuple(
        SymbolGroup(group.layer, tuple((moved[coordinate], ref) for coordinate, ref in group.bits))
        for group in assembled.groups
    )
    realisation = Realisation(guarded, groups)
    return Compiled(program, guarded, hard, soft, realisation, evidence, alternatives)


def _label(text: str) -> str:
    return text if len(text) <= LABEL_WIDTH else f"{text[: LABEL_WIDTH - 3]}..."


def _require_wellformed(network: Network, after: str) -> None:
    found = complaints(network)
    if found:
        raise InternalError(f"ill-formed network after '{after}' (please report): {'; '.join(found[:5])}")
