"""Whole networks: errors add up, only bits get names, a proof says what it may, a wrong word is found."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache

import flint
import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.checker import analysis as analysis_module
from attemper.checker import counterexample, realising
from attemper.checker import proof as proof_module
from attemper.checker.analysis import Analysis, analyse, outputs_of
from attemper.checker.attention.scores import Output
from attemper.checker.counterexample import wrong_word
from attemper.checker.diagrams import TooLargeError
from attemper.checker.heads import head_fact
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, PlaceTest, UnprovenError
from attemper.checker.proof import RECURSION, prove
from attemper.checker.rules import Rule
from attemper.checker.values import ResidualValues
from attemper.exact.balls import precision, upper_bound
from attemper.exact.closed_forms import I, Power, plus
from attemper.exact.monomials import Monomial
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import HardWeighting, Layer, Neighbour, Network, Uniform
from attemper.workbench.model import Model
from tests.checker.test_automata import AB as LETTERS
from tests.checker.test_automata import LAST_B, A, B, bit, built, group, layer, running

AB = Alphabet(("a", "b"))
TEXTS = ("a S b", "Y a", "#<[a] >= #<[b]", "O (a & Y b)", "#<[a] >= #>[b]")


@lru_cache
def compiled(text: str, regime: str = "unbounded", at: str = "last") -> Model:
    return attemper.compile(text, "ab", regime=regime, at=at)  # type: ignore[arg-type]


def prepare() -> None:
    for text in TEXTS:
        compiled(text)
        compiled(text, "temperature")


def language(text: str, *, at: At = At.LAST, accepts: bool = False) -> TemporalLanguage:
    return TemporalLanguage(parse(text, AB), at, accepts_empty=accepts)


# Layer by layer --------------------------------------------------------------------------------------


@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("text", TEXTS)
def test_stray_attention_times_spread_is_added_up(text: str, regime: str) -> None:
    network = compiled(text, regime).network
    analysis = analyse(network)
    assert len(analysis.layers) == len(network.layers)
    before = analysis.start
    for own, fact in zip(network.layers, analysis.layers, strict=True):
        assert fact.before is before
        errors = list(before.errors)
        for head, derived, mass in zip(own.heads, fact.heads, fact.masses, strict=True):
            with precision(64):
                others = max(upper_bound(rule.others(flint.arb(0))) for rule in derived.rules)
                assert abs(mass - others / (1 + others)) <= mass / 2**60
                assert mass == upper_bound(derived.stray_mass)
                again = head_fact(analysis.names, head, before)
                assert again.rules == derived.rules
                assert again.outputs == derived.outputs
            assert (mass == 0) == all(rule.construction is Uniform for rule in derived.rules)
            for output in derived.outputs:
                errors[output.target] += mass * output.spread
        assert fact.middle.errors == errors
        before = fact.after
    assert analysis.end is before


def test_two_heads_add_to_one_coordinate() -> None:
    network = compiled("a S b").network
    (head, *others), (own, *rest) = network.layers[0].heads, network.layers
    twice = replace(network, layers=(replace(own, heads=(head, head, *others)), *rest))
    one, two = analyse(network).layers[0], analyse(twice).layers[0]
    (target,) = head.targets
    assert two.middle.errors[target] == 2 * one.middle.errors[target] > 0
    assert len(two.heads) == len(one.heads) + 1


def test_what_no_rule_covers_is_named_by_layer_and_head() -> None:
    network = compiled("O (a & Y b)").network
    last = len(network.layers) - 1
    head = network.layers[last].heads[0]
    hard = replace(network.layers[last], heads=(head, replace(head, weighting=HardWeighting.AVERAGE)))
    with pytest.raises(UnprovenError, match=f"layer {last}, head 1: it is not a softmax head"):
        analyse(replace(network, layers=(*network.layers[:last], hard)))


def test_attention_without_a_finite_bound_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rule, "others", lambda self, loss: flint.arb(1) / 0)
    with pytest.raises(UnprovenError, match="layer 0, head 0: its attention has no finite bound"):
        analyse(compiled("#<[a] >= #<[b]").network)


def lettered(second: Layer | None = None) -> Network:
    """[a] to coordinate 2 and [b] to coordinate 3."""
    first = layer(bit([(0, 1)], 2), bit([(1, 1)], 3))
    return built(LETTERS, [first] if second is None else [first, second], 3)


def test_bits_of_groups_are_named() -> None:
    analysis = analyse(lettered(), symbols={0: [(2, 3)]})
    names = analysis.names
    (fact,) = analysis.symbols
    assert (fact.layer, fact.group) == (0, 0)
    assert fact.definitions == (names.letter("a"), names.letter("b"))
    assert analyse(lettered()).symbols == ()
    following = lettered(layer(bit([(2, 1)], 4)))
    named = analyse(following, symbols={0: [(2, 3)], 1: [(4,)]})
    assert [(fact.layer, fact.group) for fact in named.symbols] == [(0, 0), (1, 0)]
    assert named.symbols[1].definitions == (named.names.symbol(0, 0, 0),)
    alone = analyse(lettered(), symbols={0: [(2,), (3,)]})
    assert [(fact.layer, fact.group) for fact in alone.symbols] == [(0, 0), (0, 1)]
    with pytest.raises(UnprovenError, match="layer 0: a bit of a symbol"):
        analyse(lettered(), symbols={0: [(2, 9)]})


def test_groups_that_are_rough_or_no_bits_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    network = lettered()
    doubled = replace(
        network.layers[0],
        hidden=tuple(replace(u, outputs=((2, 3 * u.outputs[0][1]),)) for u in network.layers[0].hidden),
    )
    with pytest.raises(UnprovenError, match="is not exactly 0 or 1"):
        analyse(replace(network, layers=(doubled,)), symbols={0: [(2, 3)]})
    plain_layer = analysis_module.layer_fact

    def rough(*arguments: object) -> object:
        fact = plain_layer(*arguments)  # type: ignore[arg-type]
        fact.after.errors[3] = Fraction(1, 100)
        return fact

    monkeypatch.setattr(analysis_module, "layer_fact", rough)
    with pytest.raises(UnprovenError, match="is not exactly 0 or 1"):
        analyse(network, symbols={0: [(2, 3)]})


def test_a_head_leads_by_its_gap_and_strays_by_its_mass() -> None:
    """A count is exact; a logit of the head of 'Y a' falls by 4 with each step away from the neighbour."""
    analysis = analyse(attemper.compile("#<['a'] <= #<['b'] & Y a", "ab").network)
    exact, softened = analysis.layers[0].heads
    assert [rule.construction for rule in exact.rules] == [Uniform]
    assert [rule.construction for rule in softened.rules] == [Neighbour, Neighbour]
    assert [tail.start for rule in softened.rules for tail in rule.behind] == [8, 12, 8, 12]
    assert softened.least_gap == 4
    none, little = analysis.layers[0].masses
    assert none == 0
    assert 0 < little < Fraction(1, 4)
    assert max(analysis.layers[0].middle.errors) == little
    assert max(analysis.layers[0].after.errors[unit] for unit in (0, 1)) == 0


# Proofs ----------------------------------------------------------------------------------------------


def with_end(analysis: Analysis, coordinate: int, **changes: object) -> Analysis:
    """The analysis with another error or value at the end."""
    last = analysis.layers[-1]
    after = ResidualValues(list(last.after.values), list(last.after.errors))
    if "error" in changes:
        after.errors[coordinate] = changes["error"]  # type: ignore[assignment]
    if "value" in changes:
        after.values[coordinate] = changes["value"]  # type: ignore[assignment]
    return replace(analysis, end=after)


def test_an_output_is_right_up_to_a_quarter() -> None:
    analysis = prove(compiled("a S b").network, language("a S b"))
    output, names, right = analysis.network.output, analysis.names, outputs_of(analysis)
    assert outputs_of(with_end(analysis, output, error=Fraction(1, 4))) == right
    for error in (Fraction(1, 4) + Fraction(1, 2**70), Fraction(1, 2)):
        with pytest.raises(UnprovenError, match="off by more than 1/4"):
            outputs_of(with_end(analysis, output, error=error))
    for powers in ((1, 0), (0, 1)):
        value = {**analysis.end.values[output], powers: names.true}
        with pytest.raises(UnprovenError):
            outputs_of(with_end(analysis, output, value=value))
    assert outputs_of(with_end(analysis, output, value={})) == (names.false,)


def test_a_network_without_layers_ends_as_it_starts() -> None:
    analysis = analyse(compiled("a").network)
    assert analysis.layers == ()
    assert analysis.end is analysis.start


@pytest.mark.parametrize(
    ("error", "text"), [(TooLargeError, "too large"), (RecursionError, "nest too deeply")]
)
def test_what_is_too_large_is_not_proved(
    monkeypatch: pytest.MonkeyPatch, error: type[Exception], text: str
) -> None:
    def fail(*arguments: object, **names: object) -> None:
        raise error

    monkeypatch.setattr(proof_module, "analyse", fail)
    monkeypatch.setattr(realising, "analyse", fail)
    with pytest.raises(UnprovenError, match=text):
        prove(compiled("a S b").network, language("a S b"))
    with pytest.raises(UnprovenError, match=text):
        prove(lettered(), LAST_B, running(A, B))
    program = ProgramLanguage(running(A, B).program, At.LAST, accepts_empty=False)
    with pytest.raises(UnprovenError, match=text):
        prove(lettered(), program)


def test_programs_are_run_with_room_to_recurse(monkeypatch: pytest.MonkeyPatch) -> None:
    limits = []
    original = realising.analyse

    def noting(*arguments: object, **names: object) -> Analysis:
        limits.append(sys.getrecursionlimit())
        return original(*arguments, **names)  # type: ignore[arg-type]

    monkeypatch.setattr(realising, "analyse", noting)
    before = sys.getrecursionlimit()
    said = running(A, B, groups=[group((2, 0))])
    analysis = prove(lettered(), LAST_B, said)
    prove(lettered(), ProgramLanguage(said.program, At.LAST, accepts_empty=False), said)
    assert sys.getrecursionlimit() == before
    assert limits == [max(before, RECURSION)] * 2
    assert analysis.symbols, "the bits are named"
    with pytest.raises(UnprovenError):
        prove(lettered(), LAST_B, running(B, A))
    assert sys.getrecursionlimit() == before


def test_a_language_that_nobody_knows_is_not_proved() -> None:
    class Other:
        """A language of a kind that has no rule."""

        def fits(self, alphabet: Alphabet) -> bool:
            """Its alphabet is no matter."""
            return True

    with pytest.raises(UnprovenError, match="no rule is about Other"):
        prove(lettered(), Other())  # type: ignore[arg-type]


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Of every time that a network is followed: how many tests of places are cases, and whether loosely."""
    found: list[tuple[int, bool]] = []
    places: dict[int, int] = {}
    original = proof_module.analyse

    class Noting(Formulas):
        """The names of a proof, whose tests of places are counted."""

        def __init__(self, symbols: tuple[str, ...], expand: frozenset[PlaceTest] = frozenset()) -> None:
            super().__init__(symbols, expand)
            places[id(self.names)] = len(expand)

    def noting(network: Network, names: Names, is_loose: bool = False) -> Analysis:
        found.append((places[id(names)], is_loose))
        return original(network, names, is_loose=is_loose)

    monkeypatch.setattr(proof_module, "Formulas", Noting)
    monkeypatch.setattr(proof_module, "analyse", noting)
    return found


def test_cases_by_places_are_told_apart_only_if_needed(proofs: list[tuple[int, bool]]) -> None:
    mixed = "O (a & even(pos) | b & pos >= 3)"
    cases = (
        ("O (a & even(pos))", "O (a & even(pos))", [False]),
        (mixed, mixed, [False, True]),
        (mixed, "O (a & even(pos)) | O (b & pos >= 3)", [False, True]),
    )
    for text, expected, wanted in cases:
        proofs.clear()
        prove(compiled(text).network, language(expected))
        assert proofs[0] == (0, True)
        split = [places > 0 for places, _ in proofs]
        assert split == sorted(split)
        assert set(split) in ({False}, set(wanted)), "split as far as the proof needed it"
        for which in set(split):
            loosely = [own for (places, own) in proofs if (places > 0) is which]
            assert loosely in ([True], [True, False])
    for text, other in (("Y a", "Y b"), ("a", "b")):
        proofs.clear()
        with pytest.raises(UnprovenError, match="its output is not shown"):
            prove(compiled(text).network, language(other))
        assert proofs == [(0, True)], "without places and ranges there is nothing to tell apart"


def test_what_a_range_is_enough_for_is_followed_once_else_strictly(proofs: list[tuple[int, bool]]) -> None:
    """That the first symbol is an a is read there, where every visible position is blocked but the first."""
    for text, followed in (("a S b", [(0, True)]), ("O (first & a)", [(0, True), (0, False)])):
        proofs.clear()
        prove(compiled(text).network, language(text))
        assert proofs == followed


# Words that go wrong ---------------------------------------------------------------------------------


def first_wrong(model: Model, other: TemporalLanguage) -> Word | None:
    """By definition: the first word, the shortest first, on which the languages differ."""
    read_at, own = (0 if model.network.reads_first else -1), (0 if other.at is At.FIRST else -1)
    for n in range(1, 5):
        for word in words_of_length(AB, n):
            if model.language.definition.bits(word)[read_at] != other.bits(word)[own]:
                return word
    return None


OTHERS = (
    "a S b",
    "Y a",
    "a S (b & Y a)",
    "O (a & Y b)",
    "#<[a] > #<[b]",
    "true",
    "!(a S b)",
    "Y Y Y b",
    "H a",
)


def found_wrong(network: Network, said: TemporalLanguage) -> Word | None:
    """The word that refutes a network."""
    found = wrong_word(network, said)
    return None if found is None else found.word


@pytest.mark.sweep(25)
@pytest.mark.parametrize("at", At)
@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("text", ["a S b", "Y a", "X a | b"])
def test_the_first_wrong_word_is_found(text: str, other: str, at: At) -> None:
    for own in ("last", "first"):
        model = compiled(text, "unbounded", own)
        said = language(other, at=at, accepts=model.network.accepts_empty)
        found, expected = found_wrong(model.network, said), first_wrong(model, said)
        if expected is not None or found is None:
            assert found == expected
        else:
            assert model.language.definition.bits(found) != said.bits(found), (
                "right where it is read, wrong elsewhere"
            )
        assert found_wrong(model.network, replace(said, accepts_empty=not model.network.accepts_empty)) == ()


def test_hard_heads_and_outputs_in_the_middle_are_not_judged() -> None:
    network = compiled("a S b").network
    (own, *rest) = network.layers
    hard = replace(own, heads=tuple(replace(h, weighting=HardWeighting.AVERAGE) for h in own.heads))
    said = language("true", accepts=network.accepts_empty)
    assert wrong_word(network, said) is not None
    assert wrong_word(replace(network, layers=(hard, *rest)), said) is None
    middle = built([[(0, Fraction(1, 2))], [(0, Fraction(1, 2))]], [], 0)
    for text in ("true", "false"):
        found = wrong_word(middle, language(text))
        assert found is not None
        assert "is 0.5" in found.text, "neither verdict, but more than 1/4 from both bits"
    for value, text in ((Fraction(2, 5), "true"), (Fraction(3, 5), "false")):
        near = built([[(0, value)], [(0, value)]], [], 0)
        assert found_wrong(near, language(text)) == ("a",)
    for value, text in ((Fraction(1, 4), "false"), (Fraction(3, 4), "true")):
        near = built([[(0, value)], [(0, value)]], [], 0)
        assert wrong_word(near, language(text)) is None


def test_only_so_many_words_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    network, said = compiled("Y a").network, language("Y a & !Y Y Y b")
    wrong = first_wrong(compiled("Y a"), said)
    assert wrong is not None
    number = [w for n in range(1, 5) for w in words_of_length(AB, n)].index(wrong) + 1
    monkeypatch.setattr(counterexample, "LONGER", ())
    monkeypatch.setattr(counterexample, "WORDS", number)
    assert found_wrong(network, said) == wrong
    monkeypatch.setattr(counterexample, "WORDS", number - 1)
    assert wrong_word(network, said) is None


def test_a_network_that_divides_by_zero_is_not_judged() -> None:
    network = compiled("a S b").network
    divided = replace(
        network,
        positions=(*network.positions[:-1], (network.positions[-1][0], Power(plus(I, -1), -1))),
    )
    assert wrong_word(divided, language("true", accepts=language("a S b").accepts_empty)) is None


@pytest.mark.parametrize(("power", "is_taken"), [(-2, True), (0, True), (1, False), (2, False)])
def test_errors_do_not_grow_with_the_word(power: int, is_taken: bool) -> None:
    names = Formulas(AB.symbols).names
    stream = ResidualValues([{}, {(0, 0): names.letter("b")}], [Fraction(0), Fraction(1, 7)])
    output = Output(1, names.letter("a"), Fraction(1), Fraction(1), 1, Monomial(Fraction(1, 9), power))
    if not is_taken:
        with pytest.raises(UnprovenError, match="coordinate 1 is off by more and more in longer words"):
            analysis_module._take(names, stream, output, Fraction(1, 2))
        return
    analysis_module._take(names, stream, output, Fraction(1, 2))
    assert stream.values == [{}, {(0, 0): names.letter("b"), (0, 1): names.letter("a")}]
    assert stream.errors == [0, Fraction(16, 63)]
    assert stream.vanishing == {1: Monomial(Fraction(16, 63), 0)}
