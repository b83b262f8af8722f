"""From a language to a soft network: the order of the passes, written once.

An automaton is decomposed into a cascade; but where a counter between two bounds is shallower, or the ends of
the word say it all in fewer layers, that is written as a formula, and goes the way of a formula. `passes`
says why each pass stands where it does. Between two passes the pipeline checks that the level is well-formed,
and shows it to whoever watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, assert_never, final

from attemper.attention_program.language import ProgramLanguage, defining_program
from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import Realisation
from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.building.sizes import require_few_weights
from attemper.compiling.cascade import Cascade
from attemper.compiling.decomposing.alternatives import Alternative
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.levels import Level, NetworkLevel, ProgramLevel, require_wellformed
from attemper.compiling.literal.single_heads import Heads
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.passes import (
    Assemble,
    CascadeToProgram,
    DropUnused,
    FromTheSign,
    GuardEdges,
    HardToSoft,
    JoinShifts,
    MoveShifts,
    Normalise,
    ParityHeads,
    Pass,
    ReadProgram,
    RequireRegime,
    SimplifyProgram,
    SingleHeads,
    SpellOut,
    TemporalToProgram,
)
from attemper.compiling.simplifying.spell_out import Shared
from attemper.compiling.softening.hard_to_soft import MARGINS
from attemper.compiling.softening.normalise import LayerNorm, require_bounded
from attemper.errors import UnsupportedError
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network, parameter_count
from attemper.networks.regime import Regime

LevelIn = TypeVar("LevelIn")
LevelOut = TypeVar("LevelOut", bound=Level)
Further = TypeVar("Further", bound=Level)


@final
@dataclass(frozen=True)
class PassResult:
    """A pass, and the level that it made."""

    by: Pass[Any, Level]
    level: Level


Watch = Callable[[PassResult], None]
"""Called between two passes, and after the last."""


@final
@dataclass(frozen=True)
class Pipeline(Generic[LevelIn, LevelOut]):
    """Passes one after the other; `then` admits only what can read the level before."""

    passes: tuple[Pass[Any, Level], ...]

    def then(self, following: Pass[LevelOut, Further]) -> Pipeline[LevelIn, Further]:
        """The pipeline with one more pass."""
        return Pipeline((*self.passes, following))

    def run(self, source: LevelIn, watch: Watch) -> tuple[PassResult, ...]:
        """Every level on the way, each well-formed."""
        stages: list[PassResult] = []
        before: object = source
        for each in self.passes:
            before = level = each.apply(before)
            require_wellformed(level, each.name)
            stages.append(PassResult(each, level))
            watch(stages[-1])
        return tuple(stages)


def first(start: Pass[LevelIn, LevelOut]) -> Pipeline[LevelIn, LevelOut]:
    """The pipeline of one pass."""
    return Pipeline((start,))


def formula_pipeline(
    language: TemporalLanguage,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int,
    shared: Shared | None = None,
) -> Pipeline[TemporalLanguage, NetworkLevel]:
    """The passes that a formula goes through.

    A shift over several positions is one head, by cases; unless no cases may share a head.
    """
    moved = (
        first(TemporalToProgram(alphabet))
        .then(SimplifyProgram())
        .then(RequireRegime(regime, language.formula))
        .then(MoveShifts())
    )
    joined = moved if shared is Shared.NONE else moved.then(JoinShifts())
    return (
        joined.then(GuardEdges()).then(Assemble()).then(HardToSoft(regime, least_margin)).then(DropUnused())
    )


def literal_pipeline(
    language: TemporalLanguage, alphabet: Alphabet, regime: Regime, least_margin: int, heads: Heads
) -> Pipeline[TemporalLanguage, NetworkLevel]:
    """The passes that a formula goes through to the papers' own network: their embeddings, and no others."""
    soft = (
        first(TemporalToProgram(alphabet))
        .then(SimplifyProgram())
        .then(RequireRegime(regime, language.formula))
        .then(ParityHeads())
        .then(Assemble(is_literal=True))
        .then(FromTheSign())
        .then(HardToSoft(regime, least_margin, is_literal=True))
        .then(DropUnused())
    )
    return soft.then(SingleHeads()) if heads is Heads.ONE else soft


SHARED = {
    Regime.UNBOUNDED: Shared.PLACES,
    Regime.TEMPERATURE: Shared.ALL,
    Regime.DECODER: Shared.ALL,
}
"""Which cases share a head in each regime, if nothing else is said: as many as can."""


def program_pipeline(
    regime: Regime, least_margin: int, shared: Shared | None, names: Mapping[Ref, str]
) -> Pipeline[ProgramLanguage, NetworkLevel]:
    """The passes that an attention program goes through."""
    return (
        first(ReadProgram(names))
        .then(SimplifyProgram())
        .then(SpellOut(shared or SHARED[regime]))
        .then(RequireRegime(regime, None))
        .then(MoveShifts())
        .then(JoinShifts())
        .then(GuardEdges())
        .then(Assemble())
        .then(HardToSoft(regime, least_margin))
        .then(DropUnused())
    )


def cascade_pipeline(
    accepts_empty: bool, regime: Regime, least_margin: int
) -> Pipeline[Cascade, NetworkLevel]:
    """The passes that a cascade goes through."""
    return (
        first(CascadeToProgram(accepts_empty))
        .then(Assemble())
        .then(HardToSoft(regime, least_margin))
        .then(DropUnused())
    )


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
    """What the soft network runs, and where its groups are; of a program, the program as it was written."""
    alternatives: tuple[Alternative, ...]
    """The ways that were tried for an automaton; none for a formula."""
    stages: tuple[PassResult, ...]
    """What each pass made."""


def compile_language(
    language: Definition,
    alphabet: Alphabet,
    regime: Regime,
    least_margin: int = MARGINS[0],
    limits: CascadeCaps | None = None,
    watch: Watch = lambda _: None,
    shared: Shared | None = None,
    names: Mapping[Ref, str] | None = None,
    layer_norm: LayerNorm | None = None,
    literal: Heads | None = None,
) -> Compiled:
    """Compile a language, in the order that this module's text explains; no margin is below `least_margin`.

    `limits` are those of an automaton's cascade; `shared` says which cases of selections share a head,
    instead of the regime; `watch` is called after every pass; `names` are those of a program's steps, which
    its network's coordinates are labelled with; `layer_norm` says how each sublayer's input is normalised;
    `literal`, of formulas alone, asks for the papers' own network, with so many heads in a layer.

    Raises `UnsupportedError` if the regime cannot compute the formula, with the nearest that can, or if
    no cascade of moderate size computes the automaton, with what stands in the way, or if the network has
    more weights than are saved, read and run.
    """
    if layer_norm is not None:
        require_bounded(regime)
    match language:
        case TemporalLanguage() if literal is not None:
            stages = literal_pipeline(language, alphabet, regime, least_margin, literal).run(language, watch)
            return _compiled(stages, ())
        case TemporalLanguage():
            pipeline = formula_pipeline(language, alphabet, regime, least_margin, shared)
            stages = pipeline.run(language, watch)
            return _compiled(_normalised(stages, layer_norm, watch), ())
        case Dfa():
            stages, tried = _from_automaton(language, regime, least_margin, limits, watch)
            return _compiled(_normalised(stages, layer_norm, watch), tried)
        case _:
            program = defining_program(language)
            if program is None:
                raise UnsupportedError(f"nothing compiles {type(language).__name__}: write it as a formula")
            passes = program_pipeline(regime, least_margin, shared, names or {})
            read = (
                language
                if isinstance(language, ProgramLanguage)
                else ProgramLanguage(program, At.LAST, False)
            )
            stages = passes.run(read, watch)
            compiled = _compiled(_normalised(stages, layer_norm, watch), ())
            return replace(compiled, realisation=Realisation(program))


def _normalised(
    stages: tuple[PassResult, ...], how: LayerNorm | None, watch: Watch
) -> tuple[PassResult, ...]:
    """The stages, and the network of pairs if there is to be one."""
    if how is None:
        return stages
    plain = stages[-1].level
    assert isinstance(plain, NetworkLevel)
    return (*stages, *first(Normalise(how)).run(plain, watch))


def _from_automaton(
    dfa: Dfa, regime: Regime, least_margin: int, limits: CascadeCaps | None, watch: Watch
) -> tuple[tuple[PassResult, ...], tuple[Alternative, ...]]:
    """The way with the fewest layers; of these with the fewest heads, then coordinates; and all tried."""
    # Taking automata apart is a third of the compiler, and no formula needs it.
    from attemper.compiling.decomposing.decompose import decompose
    from attemper.compiling.lowering.ends_to_formula import ends_to_formula

    found = decompose(dfa, limits)
    ends = ends_to_formula(dfa)
    if ends is None:
        return _of_decomposition(dfa, found.chosen, regime, least_margin, watch), found.alternatives
    usual = _of_decomposition(dfa, found.chosen, regime, least_margin, lambda _: None)
    short = _of_formula(ends, dfa, regime, least_margin, lambda _: None)
    is_taken = _cost(short) < _cost(usual)
    chosen, rows = (short, 0) if is_taken else (usual, None)
    for stage in chosen:
        watch(stage)
    return chosen, (*found.alternatives, Alternative("first and last letters", 1, rows, rows))


def _of_decomposition(
    dfa: Dfa, found: Cascade | BoundedCounter, regime: Regime, least_margin: int, watch: Watch
) -> tuple[PassResult, ...]:
    match found:
        case BoundedCounter() as counter:
            return _of_formula(counter_to_formula(counter), dfa, regime, least_margin, watch)
        case Cascade() as cascade:
            return cascade_pipeline(dfa.accepts(()), regime, least_margin).run(cascade, watch)
        case _:
            assert_never(found)


def _of_formula(
    formula: Formula, dfa: Dfa, regime: Regime, least_margin: int, watch: Watch
) -> tuple[PassResult, ...]:
    """The stages of a formula that says what the automaton does; beside automata no cases are followed."""
    language = TemporalLanguage(formula, At.LAST, dfa.accepts(()))
    pipeline = formula_pipeline(language, dfa.alphabet, regime, least_margin, Shared.NONE)
    return pipeline.run(language, watch)


def _cost(stages: tuple[PassResult, ...]) -> tuple[int, int, int]:
    """Layers, heads and coordinates of the last network."""
    level = stages[-1].level
    assert isinstance(level, NetworkLevel)
    layers = level.network.layers
    return len(layers), sum(len(layer.heads) for layer in layers), len(level.network.coordinates)


def _compiled(stages: tuple[PassResult, ...], alternatives: tuple[Alternative, ...]) -> Compiled:
    programs = [(stage.by, stage.level) for stage in stages if isinstance(stage.level, ProgramLevel)]
    networks = [stage.level for stage in stages if isinstance(stage.level, NetworkLevel)]
    unguarded = [level.program for by, level in programs if by.name != GuardEdges.name]
    guarded, soft = programs[-1][1].program, networks[-1]
    require_few_weights(parameter_count(soft.network))
    return Compiled(
        program=unguarded[-1],
        guarded=guarded,
        hard=networks[0].network,
        soft=soft.network,
        realisation=Realisation(guarded, soft.groups),
        alternatives=alternatives,
        stages=stages,
    )
