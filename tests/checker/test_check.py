"""The judgement on claims, at the edges of what is true."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Gate,
    Letter,
    Mask,
    Merge,
    Place,
    Program,
    Shift,
    Step,
    everywhere,
)
from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import Certificate, Claim, FloatClaim, RealClaim
from attemper.checker.analysis import Analysis
from attemper.checker.check import check, judge
from attemper.checker.rounding import network as rounding
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import Rounding
from attemper.checker.verdict import ClaimVerdict, Status
from attemper.errors import OptionError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import LAST
from attemper.exact.formats import FloatFormat
from attemper.exact.predicates import Named, register_predicate
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.syntax import Symbol
from attemper.languages.words import Alphabet
from attemper.networks.layers import LinearForm
from attemper.reading.machines import automaton_of
from attemper.workbench.decompiling import decompile
from attemper.workbench.model import Model
from attemper.workbench.same import same
from tests.support.mutants.attacks import network_of


@cache
def model(formula: str) -> Model:
    return attemper.compile(formula, "ab")


@cache
def regular() -> Model:
    return attemper.compile(attemper.regex("a*b", "ab"), regime="decoder")


def prepare() -> None:
    """What all tests share."""
    for text in ("O a & H b", "O a"):
        judge(model(text).network, model(text).language.definition, (RealClaim(),))
    judge(regular().network, regular().language.definition, (RealClaim(),), regular().realisation)


# Claims ----------------------------------------------------------------------------------------------


def status(claim: Claim, **options: bool | str) -> Status:
    own = model("O a")
    return judge(own.network, own.language.definition, (claim,), **options).status  # type: ignore[arg-type]


@pytest.mark.parametrize("kernel", list(Kernel))
def test_a_horizon_may_be_nothing_but_not_less(kernel: Kernel) -> None:
    own = model("O a")
    nothing, something = (FloatClaim("float32", kernel, horizon, "") for horizon in (0, 1))
    assert status(something) is Status.PROVED
    assert status(nothing) is Status.UNKNOWN, "where nothing else is claimed, nothing is proved"
    assert judge(own.network, own.language.definition, (nothing, something)).status is Status.PROVED
    for horizon in (-1, -2):
        assert status(FloatClaim("float32", kernel, horizon, "")) is Status.MALFORMED
        assert status(FloatClaim("float32", kernel, horizon, ""), ignore_rounding=True) is Status.MALFORMED


@pytest.mark.parametrize(
    ("name", "kernel"), [("float33", "numerator-first"), ("float32", "numerator"), ("float33", "none")]
)
def test_arithmetic_that_does_not_exist_is_malformed(name: str, kernel: str) -> None:
    verdict = judge(
        model("O a").network, model("O a").language.definition, (FloatClaim(name, kernel, 1, ""),)
    )
    assert verdict.claims == (
        ClaimVerdict(Status.MALFORMED, f"there is no arithmetic {name} with {kernel} kernels"),
    )


def test_rounding_is_ignored_only_where_that_is_said() -> None:
    too_long = FloatClaim("bfloat16", "numerator-first", 10**12, "")
    assert status(too_long) is Status.UNKNOWN
    assert status(too_long, ignore_rounding=False) is Status.UNKNOWN
    assert status(too_long, ignore_rounding=True) is Status.PROVED_UNDER_ASSUMPTIONS
    assert status(RealClaim(), ignore_rounding=True) is Status.PROVED
    own = model("O a")
    certificate = Certificate("digest", own.language.definition, (too_long,))
    assert check(own.network, "digest", certificate).status is Status.UNKNOWN
    ignoring = check(own.network, "digest", certificate, ignore_rounding=True)
    assert ignoring.status is Status.PROVED_UNDER_ASSUMPTIONS


def test_a_proof_is_explained_only_where_that_is_said() -> None:
    own = model("O a")
    certificate = Certificate(own.digest, own.language.definition, (RealClaim(),))
    assert check(own.network, own.digest, certificate).explanation == ()
    assert judge(own.network, own.language.definition, (RealClaim(),)).explanation == ()
    for explained in (False, True):
        verdicts = (
            check(own.network, own.digest, certificate, explained=explained),
            judge(own.network, own.language.definition, (RealClaim(),), explained=explained),
        )
        assert all(bool(verdict.explanation) == explained for verdict in verdicts)


def test_other_rounding_leaves_claims_about_floats_unknown() -> None:
    short = FloatClaim("float64", "numerator-first", 1, "")
    assert status(short) is Status.PROVED
    assert status(short, rounding="it is rounded otherwise") is Status.UNKNOWN
    assert status(RealClaim(), rounding="it is rounded otherwise") is Status.PROVED


def test_one_claim_in_real_arithmetic_is_enough_for_a_wrong_word_to_refute() -> None:
    """The network computes 'a', and 'b' is another language."""
    network = model("O a & H b").network
    claims: tuple[Claim, ...] = (RealClaim(), FloatClaim("float64", "numerator-first", 1, ""))
    language = TemporalLanguage(Symbol("a"), At.LAST, False)
    for some in (claims, claims[::-1], claims[:1]):
        verdict = judge(network, language, some)
        assert verdict.status is Status.REFUTED
        assert verdict.claims[0].witness == ("a",)
    assert judge(network, language, claims[1:]).status is Status.UNKNOWN


@pytest.mark.parametrize("symbols", [("0", "1"), ("b", "a"), ("a",), ("a", "b", "c")])
def test_an_automaton_over_other_symbols_is_malformed_however_it_is_read(symbols: tuple[str, ...]) -> None:
    """Whether it is read as the network is, or not: no word is tried on it."""
    language = Dfa(Alphabet(symbols), ((0,) * len(symbols),), 0, frozenset())
    for first in (False, True):
        for empty in (False, True):
            network = replace(model("O a").network, reads_first=first, accepts_empty=empty)
            assert judge(network, language, (RealClaim(),)).claims == (
                ClaimVerdict(
                    Status.MALFORMED,
                    "the language is over other symbols than the network, or in another order",
                ),
            )


# Programs --------------------------------------------------------------------------------------------


def text_of(claims: tuple[ClaimVerdict, ...]) -> str:
    (claim,) = claims
    return claim.text


def test_an_automaton_needs_the_program_that_the_network_runs() -> None:
    own = regular()
    assert (
        judge(own.network, own.language.definition, (RealClaim(),), own.realisation).status is Status.PROVED
    )
    verdict = judge(own.network, own.language.definition, (RealClaim(),))
    assert verdict.status is Status.UNKNOWN
    assert text_of(verdict.claims) == "nothing says which program the network runs"
    for said, status in ((own.realisation, Status.PROVED), (None, Status.UNKNOWN)):
        certificate = Certificate.by_way_of(said, "digest", own.language.definition, (RealClaim(),))
        assert certificate.realisation == said
        assert check(own.network, "digest", certificate).status is status


def test_what_a_formula_s_network_is_said_to_run_is_not_asked() -> None:
    """A proof needs no program; one that is wrong does no harm."""
    own = model("O a")
    for said in (own.realisation, regular().realisation, None):
        assert judge(own.network, own.language.definition, (RealClaim(),), said).status is Status.PROVED


def claiming(*steps: Step, output: int = -1) -> ProgramLanguage:
    """A program over a and b, read at the last position."""
    place = output if output >= 0 else len(steps) - 1
    return ProgramLanguage(Program(Alphabet(("a", "b")), steps, place), At.LAST, accepts_empty=False)


A, B = Letter(("a",)), Letter(("b",))


def test_a_network_is_proved_to_run_a_program() -> None:
    own = model("O a").network
    ever = Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(0), 0, None)
    for language in (
        claiming(A, ever),
        claiming(B, A, Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(1), 1, None)),
    ):
        claims = (RealClaim(), FloatClaim("float32", "numerator-first", 1_000, ""))
        assert judge(own, language, claims).status is Status.PROVED
    counted = claiming(A, Count(Mask.UP_TO, 0), Compare(1, 1))
    assert judge(own, counted, (RealClaim(),)).status is Status.UNKNOWN, "the same, in another way"


def test_a_program_that_the_network_does_not_run_is_refuted_with_a_word() -> None:
    own = model("O a").network
    for language, witness in (
        (claiming(B, Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(0), 0, None)), ("a",)),
        (claiming(A, Attend(Mask.BEFORE, Choice.RIGHTMOST, everywhere(0), 0, None)), ("a",)),
        (
            claiming(A, Shift(Direction.PREVIOUS, 0, default=None), Gate(Connective.OR, (0, 1))),
            ("a", "b", "b"),
        ),
    ):
        verdict = judge(own, language, (RealClaim(),))
        assert verdict.status is Status.REFUTED
        assert verdict.claims[0].witness == witness


def test_a_program_is_read_at_the_end_where_the_network_is() -> None:
    own = model("O a").network
    language = claiming(A, Attend(Mask.UP_TO, Choice.RIGHTMOST, everywhere(0), 0, None))
    assert judge(own, replace(language, at=At.FIRST), (RealClaim(),)).status is Status.REFUTED
    assert judge(own, replace(language, accepts_empty=True), (RealClaim(),)).status is Status.REFUTED
    other = replace(language.program, alphabet=Alphabet(("b", "a")))
    assert judge(own, replace(language, program=other), (RealClaim(),)).status is Status.MALFORMED


def test_bits_of_a_union_that_can_hold_together_prove_nothing() -> None:
    """The network may well add them up; but 2 is no bit, and the promise is broken."""
    for step in (Gate(Connective.UNION, (0, 0)), Merge((0, 0))):
        for twice in (1, 2):
            network = network_of(1, [[(0, twice)], []], {}, [], 0)
            assert judge(network, claiming(A, step), (RealClaim(),)).status is not Status.PROVED
    apart = claiming(A, B, Gate(Connective.UNION, (0, 1)))
    network = network_of(1, [[(0, 1)], [(0, 1)]], {}, [], 0)
    assert judge(network, apart, (RealClaim(),)).status is Status.PROVED


def test_a_promise_that_nobody_can_follow_proves_nothing() -> None:
    """Two bits to the right that are never 1 together: what is kept of the past does not show it."""
    last = Place(LAST)
    steps = (
        A,
        Shift(Direction.NEXT, 0, default=None),
        last,
        Gate(Connective.AND, (1, 2)),
        Gate(Connective.AND, (0, 2)),
    )
    language = claiming(*steps, Gate(Connective.UNION, (3, 4)))
    own = attemper.compile("last & a", "ab").network
    assert judge(own, language, (RealClaim(),)).status is Status.UNKNOWN


def test_groups_of_a_claim_about_a_program_must_be_kept() -> None:
    own = regular()
    said = own.realisation
    assert said is not None
    language = ProgramLanguage(said.program, At.LAST, accepts_empty=False)
    assert judge(own.network, language, (RealClaim(),), said).status is Status.PROVED
    (group,) = said.groups
    letter = own.network.coordinates.index("letter a")
    together = replace(said, groups=(replace(group, bits=(*group.bits, (letter, 0))),))
    verdict = judge(own.network, language, (RealClaim(),), together)
    assert verdict.status is Status.UNKNOWN
    assert text_of(verdict.claims) == "two bits of a symbol can be 1"
    other = replace(said, program=replace(said.program, output=0))
    verdict = judge(own.network, language, (RealClaim(),), other)
    assert text_of(verdict.claims) == "the network is said to run another program than the language's"


def test_an_ill_formed_program_proves_nothing() -> None:
    """A shift over two positions without a default, which no head does: it was followed as one over one."""
    twice, once, wrong = (
        claiming(A, *(Shift(Direction.PREVIOUS, bit, distance, None) for bit, distance in shifts)).program
        for shifts in ([(0, 1), (1, 1)], [(0, 1)], [(0, 2)])
    )
    network = attemper.compile(attemper.program(twice)).network
    one_before = automaton_of(once, accepts_empty=False).dfa
    said = Realisation(twice)
    assert (
        judge(network, automaton_of(twice, accepts_empty=False).dfa, (RealClaim(),), said).status
        is Status.PROVED
    )
    for language in (one_before, ProgramLanguage(wrong, At.LAST, accepts_empty=False)):
        verdict = judge(network, language, (RealClaim(),), Realisation(wrong))
        assert verdict.status is not Status.PROVED
        assert "the program is ill-formed: s1" in text_of(verdict.claims)


@pytest.mark.parametrize("twice", [((0, Fraction(1, 2)),) * 2, ((0, Fraction(0)),), ((99, Fraction(1)),)])
def test_an_ill_formed_network_is_malformed(twice: LinearForm) -> None:
    """A coordinate that stands twice in a form is not what files would say: no file has one, but code can."""
    own = model("O a")
    network = replace(own.network, embedding=(twice, *own.network.embedding[1:]))
    verdict = judge(network, own.language.definition, (RealClaim(),))
    assert verdict.status is Status.MALFORMED
    assert text_of(verdict.claims).startswith("the network is not well formed: the embedding of 'a'")
    for ask in (decompile, lambda found: same(found, own)):
        with pytest.raises(OptionError, match="not well formed: the embedding of 'a'"):
            ask(network)
        with pytest.raises(OptionError, match="not well formed: the embedding of 'a'"):
            ask(replace(own, network=network))


def test_predicates_of_a_program_are_assumed() -> None:
    register_predicate("seventh", is_seventh)
    network = attemper.compile("seventh(#<[a])", "ab").network
    language = claiming(A, Count(Mask.UP_TO, 0), CountTest(Named("seventh"), 1, 1, 0))
    (claim,) = judge(network, language, (RealClaim(),)).claims
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    place = closed_forms.Test(Named("seventh"), 1, 0, 0)
    language = claiming(A, Place(place), output=0)
    (claim,) = judge(model("a").network, language, (RealClaim(),)).claims
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS


# Predicates that a user registered --------------------------------------------------------------------


def is_seventh(value: int) -> bool:
    """A predicate of a user's."""
    return value % 7 == 0


def is_eleventh(value: int) -> bool:
    """Another predicate of a user's."""
    return value % 11 == 0


def test_predicates_of_the_network_and_of_the_formula_are_assumed() -> None:
    """Each is, also where nothing depends on it, and where the other does not have it."""
    register_predicate("seventh", is_seventh)
    register_predicate("eleventh", is_eleventh)
    plain = model("a").network
    number = len(plain.coordinates)
    embedded = replace(
        plain,
        coordinates=(*plain.coordinates, "unread"),
        positions=(*plain.positions, (number, closed_forms.Test(Named("seventh"), 1, 0, 0))),
    )
    for network, text, names in (
        (plain, "a", []),
        (plain, "a & (prime(pos) | !prime(pos))", []),
        (embedded, "a", ["seventh"]),
        (plain, "a & (eleventh(pos) | !eleventh(pos))", ["eleventh"]),
        (embedded, "a & (eleventh(pos) | !eleventh(pos))", ["eleventh", "seventh"]),
        (embedded, "a & (seventh(pos) | !seventh(pos))", ["seventh"]),
    ):
        language = TemporalLanguage(parse(text, network.alphabet), At.LAST, False)
        (claim,) = judge(network, language, (RealClaim(),)).claims
        assert claim.status is (Status.PROVED_UNDER_ASSUMPTIONS if names else Status.PROVED)
        assert claim.assumptions == tuple(
            f"the registered predicate '{name}' is the same function wherever the network runs"
            for name in names
        )


def test_what_a_format_needs_is_worked_out_once_for_all_its_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    model = attemper.compile("a S b", "ab", at="last")
    certificate = model.certify()
    floats = [claim for claim in certificate.claims if isinstance(claim, FloatClaim)]
    claimed = {claim.format for claim in floats if claim.horizon}
    assert len([claim for claim in floats if claim.horizon]) > len(claimed) > 1
    made: list[str] = []

    class Counted(Rounding):  # type: ignore[misc]
        def __init__(self, analysis: Analysis, form: FloatFormat) -> None:
            made.append(form.name)
            super().__init__(analysis, form)

    monkeypatch.setattr(rounding, "Rounding", Counted)
    assert model.check(certificate).status is Status.PROVED
    assert sorted(made) == sorted(claimed)
