"""Proofs as people read them: what is said, and that no verdict depends on whether anything is."""

from __future__ import annotations

from dataclasses import replace

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Compare, Count, Letter, Linear, Mask, Place, Program
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.explaining import MOST_STEPS, explain
from attemper.checker.verdict import Status
from attemper.exact.closed_forms import I
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network

AB = Alphabet(("a", "b"))


def lines_of(model: attemper.Model) -> list[str]:
    return list(explain(model.network, model.language, model.realisation))


def test_a_formula_is_named_by_its_parts() -> None:
    lines = lines_of(attemper.compile("O (a & Y b)", "ab"))
    assert lines[0] == "layer 0"
    assert (
        "  head 0: neighbour, future-masked, a lead of 4 per step, at most 0.0184 of the attention elsewhere"
        in lines
    )
    assert "  hidden units 2, 3 write x2 [a & Y b]: a & Y b" in lines
    assert any(line.endswith("O (a & Y b), off by at most 0.0184") for line in lines)
    assert lines[-1].endswith("what the language says, at every position of every word")


def test_a_group_of_bits_is_named_by_the_steps_of_the_program() -> None:
    lines = lines_of(attemper.compile_regex("(ab)*", "ab"))
    assert "  hidden units 2, 3 write x2 ['b' at place 0]: s4 = and s3 s1" in lines


def lettered() -> tuple[Network, Program]:
    """A network that runs `a`, and that program."""
    model = attemper.compile("a", "ab")
    return model.network, Program(AB, (Letter(("a",)),), 0)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (((0, ((99, 0),)),), "there is no coordinate 99"),
        (((0, ((0, 99),)),), "step 99 is no bit of the program"),
        (((7, ((0, 0),)),), "there is no layer 7"),
    ],
)
def test_what_is_said_wrongly_is_why_there_is_no_proof(
    said: tuple[tuple[int, tuple[tuple[int, int], ...]], ...], reason: str
) -> None:
    model = attemper.compile_regex("(ab)*", "ab")
    assert model.realisation is not None
    wrong = replace(model.realisation, groups=tuple(SymbolGroup(*group) for group in said))
    for explained in (False, True):
        verdict = judge(model.network, model.language, (RealClaim(),), wrong, explained=explained)
        assert verdict.claims[0].text == reason
        assert verdict.explanation == ((f"no proof: {reason}",) if explained else ())


def test_another_alphabet_is_why_there_is_no_proof() -> None:
    network, _ = lettered()
    other = Realisation(Program(Alphabet(("a", "c")), (Letter(("a",)),), 0))
    dfa = attemper.parse_regex("a", AB)
    verdict = judge(network, dfa, (RealClaim(),), other, explained=True)
    assert verdict.explanation == ("no proof: the program has another alphabet than the network",)


def test_steps_that_nobody_reads_are_not_explained() -> None:
    network, program = lettered()
    doubled = [Linear(((1, k), (1, k)), 0) for k in range(1, 60)]
    idle = (*program.steps, Count(Mask.UP_TO, 0), *doubled, Compare(60, 1), Place(I))
    language = ProgramLanguage(Program(AB, idle, 0), At.LAST, network.accepts_empty)
    verdict = judge(network, language, (RealClaim(),), explained=True)
    assert verdict.status is Status.PROVED
    assert verdict.explanation[-1].endswith("at every position of every word")


def test_a_long_program_is_not_explained() -> None:
    network, program = lettered()
    language = ProgramLanguage(
        Program(AB, program.steps * (MOST_STEPS + 1), 0), At.LAST, network.accepts_empty
    )
    verdict = judge(network, language, (RealClaim(),), explained=True)
    assert verdict.status is Status.PROVED
    assert "too long to be explained" in verdict.explanation[0]


@pytest.mark.parametrize(
    "steps",
    [(Place(I),), (Letter(("a",)), Place(I), Count(Mask.UP_TO, 1), Compare(2, 1))],
    ids=["read", "counted"],
)
def test_a_program_that_means_nothing_is_neither_proved_nor_a_crash(steps: tuple[Place, ...]) -> None:
    network, _ = lettered()
    language = ProgramLanguage(Program(AB, steps, len(steps) - 1), At.LAST, network.accepts_empty)
    assert judge(network, language, (RealClaim(),)).status in {Status.UNKNOWN, Status.REFUTED}
