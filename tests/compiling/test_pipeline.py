"""Passes are objects; the pipeline checks each level and shows it to whoever watches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest

from attemper.compiling.levels import NetworkLevel, ProgramLevel
from attemper.compiling.passes import Assemble, GuardEdges, SimplifyProgram, TemporalToProgram
from attemper.compiling.pipeline import PassResult, compile_language, first
from attemper.errors import InternalError
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime
from tests.support.drawn.automata import dyck

AB = Alphabet(("a", "b"))
YESTERDAY = TemporalLanguage(parse("Y a", AB), At.FIRST, True)
TO_NETWORK = ["assemble", "hard_to_soft", "drop_unused"]


@dataclass(frozen=True)
class ReadTheFuture:
    """Leaves a step that reads a later one."""

    name: ClassVar[str] = "read_the_future"

    def apply(self, before: ProgramLevel) -> ProgramLevel:
        return replace(before, program=replace(before.program, steps=before.program.steps[::-1]))


@dataclass(frozen=True)
class LoseTheOutput:
    """Leaves a network whose output does not exist."""

    name: ClassVar[str] = "lose_the_output"

    def apply(self, before: NetworkLevel) -> NetworkLevel:
        return replace(before, network=replace(before.network, output=len(before.network.coordinates)))


def watched(text: str) -> list[PassResult]:
    stages: list[PassResult] = []
    language = TemporalLanguage(parse(text, AB), At.LAST, False)
    compile_language(language, AB, Regime.UNBOUNDED, watch=stages.append)
    return stages


def test_the_passes_of_a_formula_in_their_order() -> None:
    assert [stage.by.name for stage in watched("a S (Y b)")] == [
        "temporal_to_program",
        "simplify_program",
        "require_regime",
        "move_shifts",
        "join_shifts",
        "guard_edges",
        *TO_NETWORK,
    ]


def test_the_passes_of_a_cascade_and_of_a_counter() -> None:
    stages: list[PassResult] = []
    compile_language(parse_regex("a*b", AB), AB, Regime.DECODER, watch=stages.append)
    assert [stage.by.name for stage in stages] == ["cascade_to_program", *TO_NETWORK]
    stages.clear()
    brackets = dyck(8)
    compile_language(brackets, brackets.alphabet, Regime.DECODER, watch=stages.append)
    assert [stage.by.name for stage in stages][:2] == ["temporal_to_program", "simplify_program"]


def test_what_is_compiled_are_the_levels_that_were_shown() -> None:
    stages: list[PassResult] = []
    compiled = compile_language(YESTERDAY, AB, Regime.TEMPERATURE, watch=stages.append)
    programs = {s.by.name: s.level.program for s in stages if isinstance(s.level, ProgramLevel)}
    networks = {s.by.name: s.level.network for s in stages if isinstance(s.level, NetworkLevel)}
    assert compiled.program == programs["simplify_program"] != programs["guard_edges"]
    assert compiled.guarded == programs["guard_edges"]
    assert compiled.hard == networks["assemble"]
    assert compiled.soft == networks["drop_unused"]
    assert (compiled.soft.reads_first, compiled.soft.accepts_empty) == (True, True)


def test_names_of_steps_follow_the_steps() -> None:
    for stage in watched("Y a xor O (Y a)"):
        if isinstance(stage.level, ProgramLevel):
            steps = [ref for ref, name in stage.level.names.items() if name == "Y a"]
            assert len(steps) == 1, stage.by.name
        else:
            assert stage.level.network.coordinates.count("Y a") == 1


def test_an_ill_formed_program_names_the_pass_that_left_it() -> None:
    pipeline = first(TemporalToProgram(AB)).then(SimplifyProgram()).then(ReadTheFuture()).then(GuardEdges())
    shown: list[PassResult] = []
    with pytest.raises(InternalError, match="ill-formed program after 'read_the_future'"):
        pipeline.run(YESTERDAY, shown.append)
    assert [stage.by.name for stage in shown] == ["temporal_to_program", "simplify_program"]


def test_an_ill_formed_network_names_the_pass_that_left_it() -> None:
    pipeline = first(TemporalToProgram(AB)).then(GuardEdges()).then(Assemble()).then(LoseTheOutput())
    with pytest.raises(InternalError, match="ill-formed network after 'lose_the_output'"):
        pipeline.run(YESTERDAY, lambda _: None)
