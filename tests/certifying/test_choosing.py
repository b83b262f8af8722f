"""The one loop: what is compiled, how wide, and what is tried where something is not proved."""

from __future__ import annotations

import pytest

import attemper
from attemper.certifying.choosing import Chosen, Goal, choose, layers_without_counting, way_taken
from attemper.certifying.horizons import horizon_of
from attemper.checker.rounding.arithmetic import Kernel
from attemper.compiling.decomposing.decompose import decompose
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.errors import UnprovedError, UnsupportedError
from attemper.exact.formats import FLOAT32, FLOAT64
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import parse_alphabet
from attemper.networks.regime import Regime
from tests.support.drawn import automata

NUMERATOR = Kernel.NUMERATOR_FIRST


def chosen(formula: str, regimes: tuple[Regime, ...], goal: Goal | None = None) -> Chosen:
    language = attemper.formula(formula, "ab", at="last")
    return choose(language.definition, language.alphabet, regimes, goal)


def horizon(found: Chosen) -> int:
    assert found.analysis is not None
    return horizon_of(found.analysis, FLOAT32, NUMERATOR)[0]


def test_without_a_goal_the_smallest_network_is_chosen() -> None:
    found = chosen("even(#<[a])", (Regime.TEMPERATURE,))
    assert (found.candidate.margin, found.candidate.regime) == (4, Regime.TEMPERATURE)
    assert found.analysis is not None
    assert found.reason == ""


def test_what_is_not_proved_is_chosen_with_the_reason() -> None:
    # Known to be beyond the checker's normal forms; if it is proved one day, take another one.
    found = chosen("H (even(len) xor pos % 4 = 0)", (Regime.UNBOUNDED,))
    assert found.analysis is None
    assert found.reason.startswith("no proof that the network computes its language")


def test_margins_grow_until_the_goal_is_reached() -> None:
    least = horizon(chosen("even(#<[a])", (Regime.UNBOUNDED,)))
    found = chosen("even(#<[a])", (Regime.UNBOUNDED,), Goal(FLOAT32, NUMERATOR, least))
    assert found.candidate.margin == 4
    found = chosen("even(#<[a])", (Regime.UNBOUNDED,), Goal(FLOAT32, NUMERATOR, least + 1))
    assert found.candidate.margin == 8
    assert horizon(found) > least


def test_a_goal_that_is_missed_names_what_is_reached_and_by_what_it_is_limited() -> None:
    pattern = (
        r"the largest that is proved is \d\d\d, limited by layer 1, head \d in the \w+ regime with margin 16"
    )
    with pytest.raises(UnsupportedError, match=pattern):
        chosen("even(#<[a])", tuple(Regime), Goal(FLOAT32, NUMERATOR, 10**6))
    with pytest.raises(UnsupportedError, match="decoder regime"):
        chosen("F a", (Regime.DECODER,), Goal(FLOAT32, NUMERATOR, 10))
    with pytest.raises(UnsupportedError, match="decoder regime"):
        chosen("F a", (Regime.DECODER,))


def test_a_goal_that_no_proof_covers_says_so() -> None:
    formula = "H (even(len) xor pos % 4 = 0)"
    with pytest.raises(UnsupportedError, match=r"is 0, limited by no proof that the network"):
        chosen(formula, (Regime.UNBOUNDED,), Goal(FLOAT64, NUMERATOR, 1))


@pytest.mark.sweep(0)
def test_a_counter_is_tried_as_a_cascade_where_it_does_not_reach_the_goal() -> None:
    alphabet = parse_alphabet("ab")
    expression = "(ab)*"
    for _ in range(6):
        expression = f"(a{expression}b)*"
    dfa = parse_regex(expression, alphabet)
    short = choose(dfa, alphabet, (Regime.UNBOUNDED,))
    assert short.compiled.alternatives[-1].name == "a counter"
    longer = 900_000
    far = choose(dfa, alphabet, (Regime.UNBOUNDED,), Goal(FLOAT32, NUMERATOR, longer))
    assert horizon(far) >= longer > horizon(short)
    assert not far.candidate.limits.counter


@pytest.mark.sweep(0)
def test_a_walk_is_a_longer_cascade_where_that_goes_further() -> None:
    """A counter of steps rounds more than latches."""
    dfa = automata.clamped(5)
    short = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,))
    assert sum(1 for layer in short.compiled.soft.layers if layer.heads) == 3
    far = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,), Goal(FLOAT32, NUMERATOR, 100_000))
    assert horizon(far) >= 100_000 > horizon(short)
    assert not far.candidate.limits.counter


@pytest.mark.sweep(0)
@pytest.mark.parametrize(
    ("dfa", "layers"), [(automata.clamped(8), 7), (automata.clamped(4), None), (automata.a_star_b(), None)]
)
def test_a_network_that_counts_knows_how_deep_one_is_that_does_not(dfa: Dfa, layers: int | None) -> None:
    found = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,))
    assert layers_without_counting(found) == layers
    if layers is not None:
        far = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,), Goal(FLOAT32, NUMERATOR, 100_000))
        assert horizon(far) >= 100_000 > horizon(found)
        assert sum(1 for layer in far.compiled.soft.layers if layer.heads) == layers
        assert layers_without_counting(far) is None


def test_for_a_remark_on_layers_no_automaton_is_taken_apart_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took half of the time that a language of 100 states took to compile."""
    dfa = automata.dyck(6)
    found = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,))
    again = decompose(dfa, CascadeCaps(counter=False))
    monkeypatch.setattr("attemper.compiling.decomposing.decompose.decompose", None)
    assert layers_without_counting(found) == way_taken(again.alternatives).sublayers == 4


def test_a_network_that_counts_may_be_the_only_one() -> None:
    """Without counting there would be more levels than are allowed."""
    dfa = automata.clamped(8)
    found = choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,), limits=CascadeCaps(levels=5))
    assert layers_without_counting(found) is None


def test_caps_are_those_that_are_said() -> None:
    dfa = automata.dyck(3)
    with pytest.raises(UnsupportedError, match=r"beyond the cap of 5; raise it with limits=\{'symbols': "):
        choose(dfa, dfa.alphabet, (Regime.UNBOUNDED,), limits=CascadeCaps(symbols=5, counter=False))


def test_if_nothing_is_proved_the_smaller_network_is_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnprovedError("no proof today")

    monkeypatch.setattr("attemper.certifying.choosing.prove", refuse)
    alphabet = parse_alphabet("ab")
    found = choose(parse_regex("a*b", alphabet), alphabet, (Regime.UNBOUNDED,))
    assert (found.analysis, found.reason) == (None, "no proof today")
