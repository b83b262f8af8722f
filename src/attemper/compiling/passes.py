"""The passes as objects. A pass has a name; its fields are its options; it makes one level of another.

Levels are well-formed before and after a pass, and passes change nothing in place. Each wraps the function
that bears its name, and says why it stands where it stands in the pipeline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol, TypeVar, final

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.naming import LABEL_WIDTH, short
from attemper.attention_program.ops import Program, Ref
from attemper.attention_program.realisation import SymbolGroup
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.assembling.schedule import make_schedule
from attemper.compiling.cascade import Cascade
from attemper.compiling.levels import Level, NetworkLevel, ProgramLevel
from attemper.compiling.literal.from_the_sign import from_the_sign
from attemper.compiling.literal.parity_heads import parity_heads
from attemper.compiling.literal.single_heads import single_heads
from attemper.compiling.lowering.cascade_to_program import cascade_to_program
from attemper.compiling.lowering.temporal_to_program import temporal_to_program
from attemper.compiling.regimes import require_regime
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.simplifying.join_shifts import join_shifts
from attemper.compiling.simplifying.move_shifts import move_shifts
from attemper.compiling.simplifying.simplify_program import simplify_program
from attemper.compiling.simplifying.spell_out import Shared, spell_out
from attemper.compiling.softening.drop_unused import drop_unused
from attemper.compiling.softening.hard_to_soft import hard_to_soft
from attemper.compiling.softening.normalise import LayerNorm, normalise
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import Shown, show_by_operands
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime

Before_contra = TypeVar("Before_contra", contravariant=True)
After_co = TypeVar("After_co", bound=Level, covariant=True)


class Pass(Protocol[Before_contra, After_co]):
    """One step of the compiler."""

    name: ClassVar[str]

    def apply(self, before: Before_contra) -> After_co:
        """The next level."""


@final
@dataclass(frozen=True)
class TemporalToProgram:
    """Operators become the attention patterns they need."""

    name: ClassVar[str] = "temporal_to_program"
    alphabet: Alphabet

    def apply(self, before: TemporalLanguage) -> ProgramLevel:
        program, refs = temporal_to_program(before.formula, self.alphabet)
        return ProgramLevel(program, _labels(refs), before.at is At.FIRST, before.accepts_empty)


@final
@dataclass(frozen=True)
class CascadeToProgram:
    """Registers become attention, tables gates. Neither simplifying nor guards are needed."""

    name: ClassVar[str] = "cascade_to_program"
    accepts_empty: bool

    def apply(self, before: Cascade) -> ProgramLevel:
        lowered = cascade_to_program(before)
        return ProgramLevel(lowered.program, lowered.names, False, self.accepts_empty, lowered.symbols)


@final
@dataclass(frozen=True)
class SimplifyProgram:
    """Before scheduling, so that no layer is spent on constants or repetitions."""

    name: ClassVar[str] = "simplify_program"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        return _rewritten(before, *simplify_program(before.program))


@final
@dataclass(frozen=True)
class ReadProgram:
    """What a user wrote is where it starts: nothing is lowered. `names`: what steps are called there."""

    name: ClassVar[str] = "read_program"
    names: Mapping[Ref, str] = field(default_factory=dict)

    def apply(self, before: ProgramLanguage) -> ProgramLevel:
        names = {ref: short(name) for ref, name in self.names.items()}
        return ProgramLevel(before.program, names, before.reads_first, before.accepts_empty)


@final
@dataclass(frozen=True)
class SpellOut:
    """After simplifying, which may leave one case of several; formulas have neither cases nor distances."""

    name: ClassVar[str] = "spell_out"
    shared: Shared

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        return _rewritten(before, *spell_out(before.program, self.shared))


@final
@dataclass(frozen=True)
class RequireRegime:
    """Changes nothing: after simplifying, which may have removed what the regime cannot compute."""

    name: ClassVar[str] = "require_regime"
    regime: Regime
    formula: Formula | None

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        require_regime(before.program, self.formula, self.regime)
        return before


@final
@dataclass(frozen=True)
class MoveShifts:
    """Only where that saves a layer: selections under strict masks are heads of their own."""

    name: ClassVar[str] = "move_shifts"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        after = _rewritten(before, *move_shifts(before.program))
        return after if layers_of(after.program) < layers_of(before.program) else before


@final
@dataclass(frozen=True)
class JoinShifts:
    """Only where that saves a layer; after moving shifts, which may leave none."""

    name: ClassVar[str] = "join_shifts"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        after = _rewritten(before, *join_shifts(before.program))
        return after if layers_of(after.program) < layers_of(before.program) else before


@final
@dataclass(frozen=True)
class GuardEdges:
    """Last among the program passes: guards would hide what simplifying looks for."""

    name: ClassVar[str] = "guard_edges"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        return _rewritten(before, *guard_edges(before.program))


@final
@dataclass(frozen=True)
class ParityHeads:
    """The papers' way alone: it stands in the place of guards, which formulas' own heads do not need."""

    name: ClassVar[str] = "parity_heads"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        return _rewritten(before, *parity_heads(before.program))


@final
@dataclass(frozen=True)
class FromTheSign:
    """The papers' way alone: before softening, which writes keys for the forms that are read."""

    name: ClassVar[str] = "from_the_sign"

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        return replace(before, network=from_the_sign(before.network))


@final
@dataclass(frozen=True)
class SingleHeads:
    """Last: no pass behind it has to know of layers that have no feed-forward."""

    name: ClassVar[str] = "single_heads"

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        assert not before.groups, "formulas have no groups of bits, whose layers would be others"
        return replace(before, network=single_heads(before.network))


@final
@dataclass(frozen=True)
class Assemble:
    """Heads, layers and coordinates, exactly."""

    name: ClassVar[str] = "assemble"
    is_literal: bool = False

    def apply(self, before: ProgramLevel) -> NetworkLevel:
        made = assemble(
            before.program,
            before.names,
            before.reads_first,
            before.accepts_empty,
            before.symbols,
            is_literal=self.is_literal,
        )
        return NetworkLevel(made.network, made.groups)


@final
@dataclass(frozen=True)
class HardToSoft:
    """After assembly: margins depend on how many bits each layer's clamps add up."""

    name: ClassVar[str] = "hard_to_soft"
    regime: Regime
    least_margin: int
    is_literal: bool = False

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        soft = hard_to_soft(before.network, self.regime, self.least_margin, is_literal=self.is_literal)
        return replace(before, network=soft)


@final
@dataclass(frozen=True)
class DropUnused:
    """Only now is it known which position embeddings the regime needs."""

    name: ClassVar[str] = "drop_unused"

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        smaller, moved = drop_unused(before.network)
        groups = tuple(
            SymbolGroup(group.layer, tuple((moved[coordinate], ref) for coordinate, ref in group.bits))
            for group in before.groups
        )
        return NetworkLevel(smaller, groups)


@final
@dataclass(frozen=True)
class Normalise:
    """Last: a coordinate that nothing reads would be part of the size that everything is divided by."""

    name: ClassVar[str] = "normalise"
    layer_norm: LayerNorm

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        return replace(before, network=normalise(before.network, self.layer_norm))


def _labels(refs: Mapping[Formula, Ref]) -> dict[Ref, str]:
    """How the text of each step's formula begins; formulas stand after their operands."""
    names: dict[Ref, str] = {}
    shown: Shown = {}
    for part, ref in refs.items():
        text, tightness = show_by_operands(part, shown)
        shown[part] = text[: LABEL_WIDTH + 1], tightness
        names.setdefault(ref, short(text))
    return names


def layers_of(program: Program) -> int:
    """How many layers a simplified program takes."""
    guarded, _ = guard_edges(program)
    return make_schedule(guarded).depth


def _rewritten(before: ProgramLevel, program: Program, to: Sequence[Ref]) -> ProgramLevel:
    """The level with a new program; `to` has the new step of each old one (-1: dropped)."""
    names: dict[Ref, str] = {}
    for ref, name in before.names.items():
        if to[ref] >= 0:
            names.setdefault(to[ref], name)
    groups = (tuple(to[ref] for ref in group if to[ref] >= 0) for group in before.symbols)
    return replace(before, program=program, names=names, symbols=tuple(group for group in groups if group))
