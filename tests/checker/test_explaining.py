"""Proofs as people read them: what is said, and that no verdict depends on whether anything is."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Choice, Compare, Count, Letter, Linear, Mask, Place, Program
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.certificates.claims import RealClaim
from attemper.checker import explaining
from attemper.checker.analysis import Analysis
from attemper.checker.check import judge
from attemper.checker.diagrams import TooLargeError
from attemper.checker.explaining import MOST_STEPS, explain
from attemper.checker.verdict import Status
from attemper.compiling.pipeline import compile_language
from attemper.exact.closed_forms import I, Power
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.networks.form_text import form_text
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from tests.support.drawn.matching import one_matched
from tests.support.drawn.nearest import dyck, language_of

AB = Alphabet(("a", "b"))


def lines_of(model: attemper.Model) -> list[str]:
    return list(explain(model.network, model.language.definition, model.realisation))


def test_a_formula_is_named_by_its_parts() -> None:
    lines = lines_of(attemper.compile("O (a & Y b)", "ab"))
    assert lines[0] == "layer 0"
    assert (
        "  head 0: neighbour, future-masked, a lead of at least 4, at most 0.0184 of the attention elsewhere"
        in lines
    )
    assert "  hidden units 2, 3 write x2 [a & Y b]: a & Y b" in lines
    assert any(line.endswith("O (a & Y b), off by at most 0.0184") for line in lines)
    assert lines[-1].endswith("what the language says, at every position of every word")


def test_a_group_of_bits_is_named_by_the_steps_of_the_program() -> None:
    lines = lines_of(attemper.compile(attemper.regex("(ab)*", "ab")))
    assert "  hidden units 2, 3 write x2 ['b' at place 0]: s4 = and s3 s1" in lines


# How far a proof goes ---------------------------------------------------------------------------------


def without_keys(network: Network, number: int) -> Network:
    """The network with heads of one layer that no rule is about."""
    layer = network.layers[number]
    heads = tuple(replace(head, key=((),) * len(head.key)) for head in layer.heads)
    layers = (*network.layers[:number], replace(layer, heads=heads), *network.layers[number + 1 :])
    return replace(network, layers=layers)


@pytest.mark.parametrize("number", range(3))
def test_a_layer_that_no_rule_covers_is_where_the_proof_ends(number: int) -> None:
    model = attemper.compile("Y (b & Y (a & Y a))", "ab")
    whole = lines_of(model)
    lines = list(explain(without_keys(model.network, number), model.language.definition, None))
    assert lines[-1].startswith(f"no proof: layer {number}, head 0: ")
    assert lines[:-1] == (whole[: whole.index(f"layer {number}")])


def test_a_formula_is_explained_alike_whatever_the_network_is_said_to_run() -> None:
    model = attemper.compile("O (a & Y b)", "ab")
    assert model.realisation is not None
    lines = lines_of(model)
    assert list(explain(model.network, model.language.definition)) == lines
    group = SymbolGroup(0, ((model.network.output, model.realisation.program.output),))
    grouped = replace(model.realisation, groups=(group,))
    assert list(explain(model.network, model.language.definition, grouped))[-1] == lines[-1]


def test_groups_of_bits_are_granted_to_an_automaton_and_to_its_program() -> None:
    """Every bit of a group is called by the step that is said, of several that are the same bit."""
    model = attemper.compile(attemper.regex("(aa)*b", "ab"))
    assert model.realisation is not None
    language = ProgramLanguage(model.realisation.program, At.LAST, model.network.accepts_empty)
    lines = lines_of(model)
    assert lines[0] == "taken for granted until the last line: at most one bit of each group is 1"
    for coordinate, ref in (bit for group in model.realisation.groups for bit in group.bits):
        (line,) = (line for line in lines if f" write x{coordinate} [" in line)
        assert f": s{ref} = " in line
    assert list(explain(model.network, language, model.realisation)) == lines
    assert "taken for granted" not in "".join(explain(model.network, language))


def test_a_group_that_is_not_what_is_said_is_why_there_is_no_proof() -> None:
    model = attemper.compile(attemper.regex("(aa)*b", "ab"))
    assert model.realisation is not None
    first, *others = model.realisation.groups
    (one, ref), (other, step), *bits = first.bits
    swapped = replace(first, bits=((one, step), (other, ref), *bits))
    said = replace(model.realisation, groups=(swapped, *others))
    lines = list(explain(model.network, model.language.definition, said))
    assert "layer 0" in lines
    assert lines[-1] == f"no proof: after layer 0, coordinate {one} is not shown to be step {step}"
    assert not any(line.startswith("the output") for line in lines)


def test_a_step_that_has_no_diagram_is_why_there_is_no_proof() -> None:
    network, _ = lettered()
    language = ProgramLanguage(Program(AB, (Place(I),), 0), At.LAST, network.accepts_empty)
    *before, last = explain(network, language)
    assert last == "no proof: a test of positions reads a position embedding that is not bounded"
    assert not any(line.startswith("the output") for line in before)


def test_an_embedding_without_a_meaning_is_why_there_is_no_proof() -> None:
    model = attemper.compile("Y a", "ab")
    (place, _), *others = model.network.positions
    network = replace(model.network, positions=((place, Power(I, 99)), *others))
    assert list(explain(network, model.language.definition)) == [
        "no proof: a closed form has a larger power than any rule needs"
    ]
    verdict = judge(network, model.language.definition, (RealClaim(),), explained=True)
    assert verdict.status is not Status.PROVED


def test_a_layer_with_too_many_cases_is_where_the_proof_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    model = attemper.compile("Y a", "ab")
    analyse = explaining.analyse  # type: ignore[attr-defined]

    def too_large(network: Network, *more: object) -> Analysis:
        if network.layers:
            raise TooLargeError
        return analyse(network, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(explaining, "analyse", too_large)
    assert lines_of(model) == ["no proof: a layer's cases are too many"]


# Texts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regime", "factor"),
    [(Regime.UNBOUNDED, ""), (Regime.TEMPERATURE, "(4*n) ("), (Regime.DECODER, "(4*i^2) (")],
)
def test_a_score_is_shown_with_its_temperature(regime: Regime, factor: str) -> None:
    model = attemper.compile("Y a", "ab", regime=regime.value)
    (line,) = (line for line in lines_of(model) if "score of j at i" in line)
    score = line.removeprefix("    score of j at i: ")
    (head,) = model.network.layers[0].heads
    products = [
        f"({form_text(q)} at i) ({form_text(k)} at j)" for q, k in zip(head.query, head.key, strict=True)
    ]
    assert score == factor + " + ".join(products) + ")" * bool(factor)


def test_a_score_of_nothing_is_0() -> None:
    lines = lines_of(attemper.compile("#<[a] >= #<[b]", "ab"))
    assert "    score of j at i: 0" in lines


def test_bounds_are_shown_with_three_digits_and_rounded_up() -> None:
    assert (explaining._upper(Fraction(0)), explaining._upper(Fraction(1, 10))) == ("0.000", "0.100")
    for places, number in itertools.product(
        range(3, 40), (100, 101, 121, 819, 991, 999, 81_234_567, 10**9 + 1)
    ):
        bound = Fraction(number, 10 ** (places + len(str(number))))
        text = explaining._upper(bound)
        digits = text.split("e")[0].replace(".", "").lstrip("0")
        assert len(digits) == 3
        assert 0 <= Fraction(text) - bound < bound / 100
        assert number > 999 or Fraction(text) == bound


def test_a_large_bound_is_shown_to_a_thousandth_and_rounded_up() -> None:
    for bound, text in ((Fraction(1), "1.000"), (Fraction(40, 3), "13.334"), (Fraction(1, 3), "0.334")):
        assert explaining._upper(bound) == text


# What is said wrongly ---------------------------------------------------------------------------------


def lettered() -> tuple[Network, Program]:
    """A network that runs `a`, and that program."""
    model = attemper.compile("a", "ab")
    return model.network, Program(AB, (Letter(("a",)),), 0)


@pytest.mark.sweep(1)
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
    model = attemper.compile(attemper.regex("(ab)*", "ab"))
    assert model.realisation is not None
    wrong = replace(model.realisation, groups=tuple(SymbolGroup(*group) for group in said))
    for explained in (False, True):
        verdict = judge(model.network, model.language.definition, (RealClaim(),), wrong, explained=explained)
        assert verdict.claims[0].text == reason
        assert verdict.explanation == ((f"no proof: {reason}",) if explained else ())


def test_another_alphabet_is_why_there_is_no_proof() -> None:
    network, _ = lettered()
    other = Realisation(Program(Alphabet(("a", "c")), (Letter(("a",)),), 0))
    dfa = attemper.regex("a", AB).definition
    verdict = judge(network, dfa, (RealClaim(),), other, explained=True)
    assert verdict.explanation == ("no proof: the program has another alphabet than the network",)


def test_steps_that_nobody_reads_are_not_explained() -> None:
    network, program = lettered()
    doubled = [Linear(((1, k), (1, k)), 0) for k in range(1, 60)]
    idle = (*program.steps, Count(Mask.UP_TO, 0), *doubled, Compare(60, 1))
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


def test_integers_are_shown_with_their_powers() -> None:
    program = dyck(2)
    language = language_of(program)
    for regime, shown in (
        (
            Regime.UNBOUNDED,
            ("n times an integer from 1 to n", "n times the square of an integer from 1 to n"),
        ),
        (Regime.TEMPERATURE, ("n^-1 times an integer from 1 to n", "n^-2 times the square of an integer")),
    ):
        found = compile_language(language, program.alphabet, regime)
        text = "\n".join(explain(found.soft, language, found.realisation))
        assert all(line in text for line in shown)
        assert "off by at most 0.000111 n^-" in text
        assert "NearestInteger".lower() in text
        assert "no proof" not in text


def test_an_integer_that_is_nearest_is_shown() -> None:
    program = one_matched(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0))
    language = language_of(program)
    found = compile_language(language, program.alphabet, Regime.UNBOUNDED)
    text = "\n".join(explain(found.soft, language, found.realisation))
    assert "n^-1 times an integer from 1 to n, read where it is nearest to another" in text
    assert "no proof" not in text
