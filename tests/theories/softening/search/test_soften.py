"""Softened networks are as near to their hard ones as is claimed, and what cannot be softened is refused."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import OptionError, UnprovedError, UnsupportedError
from attemper.exact.balls import ball
from attemper.exact.closed_forms import evaluate
from attemper.exact.monomials import Monomial
from attemper.networks.layers import HardWeighting, Network, Softmax
from attemper.networks.meaning_hard import output_rows as hard_rows
from attemper.networks.meaning_soft import output_rows as soft_rows
from attemper.networks.typed import HeadOf, LayerOf, UnitOf, hard_network
from attemper.theories.softening.ask import soften
from attemper.theories.softening.certificate import ClosedFormErrors, Enumerated, GapBy
from attemper.theories.softening.check.given import Gap, MagnitudeBound
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.check.streams import TieError
from attemper.theories.softening.search.soften import Softening, SofteningRequest, soften_network
from attemper.workbench.compiling import compile as compile_formula
from tests.support.drawn.tied_networks import levelled
from tests.support.drawn.typed_networks import (
    ever_closer,
    last_a,
    tied_at_seven,
    two_into_one,
    uniform_only,
)

HUNDREDTH = Fraction(1, 100)
SHARE = ["product", [["position"], ["power", ["length"], -1]]]
"""i/n."""

RADIUS = Fraction(1, 2**200)
"""More than the radius of balls, which are never quite 0."""

ENTRIES = (
    *("ones", "parity-even", "dyck-1", "majority", "flip-flop", "induction-head", "anbn", "mqar"),
    *("tomita-3", "k-hop-2", "dyck-2", "reverse"),
)


def require_near(found: Softening, lengths: range, most: Fraction) -> None:
    """By the definitions alone: exact rationals against balls, at every position of every word."""
    symbols = found.hard.alphabet.symbols
    for length in lengths:
        for word in product(symbols, repeat=length):
            rows = zip(hard_rows(found.hard, word), soft_rows(found.soft, word), strict=True)
            for hard, soft in rows:
                for exact, enclosed in zip(hard, soft, strict=True):
                    assert abs(enclosed - ball(exact)) <= ball(most + RADIUS), (word, exact, enclosed)


@pytest.mark.parametrize("network", [last_a, two_into_one, uniform_only], ids=lambda one: one.__name__)
@pytest.mark.parametrize("epsilon", [Fraction(1, 4), HUNDREDTH, Fraction(1, 10**9)])
def test_networks_that_are_typed_in_are_softened_by_rule_for_all_lengths(network, epsilon):
    found = soften_network(network(), SofteningRequest(epsilon))
    assert (found.first, found.last, found.unruled) == (1, None, "")
    assert isinstance(found.evidence, ClosedFormErrors)
    assert {gap.by for layer in found.evidence.layers for gap in layer.gaps if gap} <= {GapBy.RULE}
    require_near(found, range(1, 6), epsilon)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("regime", ["temperature", "unbounded"])
def test_entries_of_the_zoo_are_softened_by_rule_without_a_word_of_help(name, regime):
    model = attemper.compile(f"zoo:{name}", regime=regime)
    found = soften(model, epsilon=HUNDREDTH)
    assert found.verdict.status is Status.PROVED
    assert found.certificate.last is None
    assert found.softening.unruled == ""
    # Logarithmically colder than the compiler's, which knows more of distances; not by another power of n.
    for n, most in ((10, 9), (1000, 21)):
        assert max(ratios(found.network, model.network, n)) <= most


def ratios(network: Network, original: Network, n: int) -> list[Fraction]:
    """By which factor heads are colder, at i = n."""
    layers = zip(network.layers, original.layers, uniform_heads(original), strict=True)
    return [
        evaluate(own.weighting.inverse_temperature, n, n) / evaluate(was.weighting.inverse_temperature, n, n)
        for layer, before, uniform in layers
        for own, was, is_uniform in zip(layer.heads, before.heads, uniform, strict=True)
        if not is_uniform and isinstance(own.weighting, Softmax) and isinstance(was.weighting, Softmax)
    ]


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", ["parity-even", "dyck-2", "tomita-3"])
def test_softened_entries_are_near_by_the_definitions(name):
    found = soften(attemper.compile(f"zoo:{name}", regime="temperature"), epsilon=HUNDREDTH)
    symbols = len(found.hard.alphabet.symbols)
    require_near(found.softening, range(1, 4 if symbols > 2 else 6), HUNDREDTH)


def test_a_tie_at_one_length_only_is_told_with_its_place():
    with pytest.raises(TieError) as refusal:
        soften_network(tied_at_seven(), SofteningRequest(HUNDREDTH))
    tie = refusal.value.tie
    assert (len(tie.word), tie.layer, tie.head, tie.tied) == (7, 0, 0, (3, 4))


def test_a_network_that_is_tieless_at_short_lengths_is_claimed_for_these():
    found = soften(tied_at_seven(), epsilon=HUNDREDTH, up_to=6)
    assert (found.verdict.status, found.certificate.first, found.certificate.last) == (Status.PROVED, 1, 6)
    assert found.certificate.evidence == Enumerated()
    require_near(found.softening, range(1, 7), HUNDREDTH)


def test_so_many_words_are_tried_as_the_limit_says():
    for words, last in ((14, 3), (62, 5)):
        assert soften(tied_at_seven(), epsilon=HUNDREDTH, limits={"words": words}).certificate.last == last


def test_what_is_given_is_an_assumption_beyond_the_words_that_were_tried():
    found = soften(tied_at_seven(), epsilon=HUNDREDTH, gaps={"0.0": "1"}, up_to=6)
    (claim,) = found.verdict.claims
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert (
        "layer 0, head 0: at all visible positions of the greatest score the values are the same"
        in claim.assumptions[0]
    )
    assert "n <= 6" in claim.assumptions[0]


@pytest.mark.parametrize(
    ("network", "said"),
    [
        (tied_at_seven, {"gaps": {"0.0": "2"}, "up_to": 6}),
        (last_a, {"gaps": {"0.0": "1"}, "up_to": 4}),
        (last_a, {"gaps": {"0.0": "n^-1"}, "magnitudes": {"0": "1/2"}, "up_to": 4}),
        (last_a, {"rounding": True, "up_to": 4}),
    ],
)
def test_what_is_given_and_false_is_refuted_with_a_word(network, said):
    (claim,) = soften(network(), epsilon=HUNDREDTH, **said).verdict.claims
    assert claim.status is Status.REFUTED
    assert claim.witness


def test_a_gap_that_shrinks_like_a_power_of_two_is_no_monomial_but_its_words_are_tried():
    with pytest.raises(OptionError, match="2\\^-n"):
        soften(ever_closer(5), epsilon=HUNDREDTH, gaps={"0.0": "2^-n"})
    found = soften(ever_closer(5), epsilon=HUNDREDTH, up_to=5)
    assert found.verdict.status is Status.PROVED
    assert [seen.gaps[0][0] for seen in found.softening.examined[1:]] == [
        Fraction(1, 2**n) for n in range(2, 6)
    ]
    require_near(found.softening, range(1, 6), HUNDREDTH)


def test_errors_of_heads_that_write_to_one_coordinate_add_up():
    both = soften_network(two_into_one(), SofteningRequest(HUNDREDTH))
    assert isinstance(both.evidence, ClosedFormErrors)
    # Halved twice, as one half of the sum is put out; the uniform head adds nothing.
    assert both.evidence.layers[-1].error.factor <= HUNDREDTH
    twice = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "place": SHARE},
        layers=[LayerOf([head_of("sum"), head_of("sum")])],
        output="sum",
    )
    once = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "place": SHARE},
        layers=[LayerOf([head_of("sum")])],
        output="sum",
    )
    errors = []
    for network in (once, twice):
        asked = SofteningRequest(
            Fraction(1),
            gaps={(0, h): Monomial(Fraction(1), Fraction(-1)) for h in range(len(network.layers[0].heads))},
            up_to=3,
        )
        soft = soften_network(network, asked)
        assert isinstance(soft.evidence, ClosedFormErrors)
        errors.append((soft.slopes, soft.evidence.layers[0].error))
    (slopes, error), (others, double) = errors
    assert slopes != others or double.factor == 2 * error.factor


def head_of(target: str) -> HeadOf:
    return HeadOf("<=", {target: {"place": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])


def test_bits_are_rounded_to_the_same_bits():
    found = soften(attemper.compile("zoo:parity-even", regime="temperature"), epsilon="1/8", rounding=True)
    assert (found.verdict.status, found.certificate.epsilon) == (Status.PROVED, 0)
    require_near(found.softening, range(1, 6), Fraction(0))


def test_bits_of_words_that_were_tried_are_rounded_to_the_same_bits():
    found = soften(ever_closer(4), epsilon="1/8", up_to=4, rounding=True)
    assert (found.verdict.status, found.certificate.epsilon) == (Status.PROVED, 0)
    require_near(found.softening, range(1, 5), Fraction(0))


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({"gaps": {"0.1": "1"}}, "there is no head 0.1"),
        ({"gaps": {"head": "1"}}, "'head' names no head"),
        ({"gaps": {"0.0": "0"}}, "not more than 0"),
        ({"gaps": {"0.0": "n"}}, "grows with n"),
        ({"magnitudes": {"7": "1"}}, "there is no layer 7"),
        ({"epsilon": 0}, "above 0"),
        ({"epsilon": "1/4", "rounding": True}, "less than 1/4"),
    ],
)
def test_what_nobody_can_mean_is_refused_by_name(said, error):
    with pytest.raises(OptionError, match=error):
        soften(last_a(), **{"epsilon": HUNDREDTH, **said})


def test_normalised_networks_are_refused():
    model = compile_formula("O a", "ab", layer_norm=LayerNorm())
    with pytest.raises(UnsupportedError, match="without LayerNorm"):
        soften(model, epsilon=HUNDREDTH)


def test_a_gap_of_a_uniform_head_is_refused():
    with pytest.raises(OptionError, match="is uniform"):
        soften(uniform_only(), epsilon=HUNDREDTH, gaps={"0.0": "1"})


@pytest.mark.parametrize("weighting", [HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST])
def test_heads_that_break_ties_by_themselves_are_refused(weighting):
    values_differ = levelled("<=", {"a": 1, "b": 1}, {"a": 1})
    with pytest.raises(UnsupportedError, match=f"layer 0, head 0 is {weighting}"):
        soften(replace_head(values_differ, weighting), epsilon=HUNDREDTH)


@pytest.mark.parametrize("weighting", [HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST])
@pytest.mark.parametrize("network", [last_a(), levelled("<=", {"a": 1}, {"a": 1})])
def test_heads_whose_best_positions_have_one_value_may_break_ties_as_they_like(network, weighting):
    breaking = replace_head(network, weighting)
    found = soften(breaking, epsilon=HUNDREDTH)
    assert found.verdict.status is Status.PROVED
    assert found.certificate == soften(network, epsilon=HUNDREDTH).certificate
    for word in product(network.alphabet.symbols, repeat=3):
        assert hard_rows(breaking, word) == hard_rows(network, word)


def replace_head(network: Network, weighting: HardWeighting) -> Network:
    from dataclasses import replace

    (layer,) = network.layers
    (head,) = layer.heads
    return replace(network, layers=(replace(layer, heads=(replace(head, weighting=weighting),)),))


def test_what_is_not_a_bit_everywhere_is_not_rounded_when_words_are_tried():
    share = HeadOf("<=", {"share": {"place": 1}}, query=[{"one": 1}], key=[{"step": 1}])
    steps = [
        ["product", [["number", f"1/{2**k}"], ["position"], ["test", ["zero"], 0, 1, -k]]]
        for k in range(1, 4)
    ]
    network = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "place": SHARE, "step": ["sum", steps]},
        layers=[LayerOf([share])],
        output="share",
    )
    with pytest.raises(UnprovedError, match="not 0 or 1"):
        soften(network, epsilon="1/8", up_to=3, rounding=True)


def test_the_certificate_is_judged_from_the_files(tmp_path):
    from attemper.checker.folders import check_folder

    found = soften(last_a(), epsilon=HUNDREDTH)
    found.save(tmp_path)
    assert check_folder(tmp_path).status is Status.PROVED
    text = (tmp_path / "certificate.json").read_text().replace('"1/100"', '"1/1000"')
    (tmp_path / "certificate.json").write_text(text)
    assert check_folder(tmp_path).status is Status.UNKNOWN


def tied_behind_a_mean() -> Network:
    """Layer 1 sees scores that tie in the hard network, and differ in the soft one by what layer 0 is off."""
    first = ["test", ["zero"], 1, 0, -1]
    there = HeadOf("<=", {"x": {"first": 1}}, query=[{"one": 1}], key=[{"minus place": 1}])
    tied = HeadOf("all", {"y": {"first": 1}}, query=[{"one": 1}], key=[{"x": 1}])
    places = {"one": 1, "first": first, "minus place": ["product", [["number", "-1"], ["position"]]]}
    return hard_network(
        "a", embedding={}, positions=places, layers=[LayerOf([there]), LayerOf([tied])], output="y"
    )


def test_a_gap_that_is_given_says_that_nothing_ties() -> None:
    """A tie has no visible score that is less: a gap alone would be no assumption at all."""
    found = soften(tied_behind_a_mean(), epsilon=HUNDREDTH, gaps={"1.0": "1"}, up_to=1)
    (claim,) = found.verdict.claims
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert "at all visible positions of the greatest score the values are the same" in claim.assumptions[0]
    with pytest.raises(TieError):
        soften(tied_behind_a_mean(), epsilon=HUNDREDTH, gaps={"1.0": "1"}, up_to=2)


def test_a_small_gap_that_is_given_is_not_rounded_where_it_is_said() -> None:
    small = Fraction(1, 10**30 + 1)
    assert f"at least {small} below it" in str(Gap(0, 0, Monomial(small)))
    assert f"larger than {1 / small} n^2 in size" in str(MagnitudeBound(0, Monomial(1 / small, Fraction(2))))


def test_units_that_write_nothing_are_no_reason_to_stop() -> None:
    idle = UnitOf({"one": 1, "a": 1}, {})
    network = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={"one": 1, "place": SHARE},
        layers=[LayerOf([head_of("where")], [idle])],
        output="where",
    )
    assert soften(network, epsilon=HUNDREDTH).verdict.status is Status.PROVED


def test_lengths_that_are_not_claimed_are_not_tried() -> None:
    """A tie at n = 7 does not matter to who asks from 8 on."""
    found = soften(tied_at_seven(), epsilon=HUNDREDTH, first=8, up_to=9)
    assert (found.verdict.status, found.certificate.first, found.certificate.last) == (Status.PROVED, 8, 9)
    given = soften(tied_at_seven(), epsilon=HUNDREDTH, gaps={"0.0": "1"}, first=8, up_to=9)
    (claim,) = given.verdict.claims
    assert claim.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert claim.assumptions[0].startswith("for n >= 8, layer 0, head 0")
    assert "8 <= n <= 9" in claim.assumptions[0]
    with pytest.raises(OptionError, match="too many to be tried"):
        soften(tied_at_seven(), epsilon=HUNDREDTH, first=30)
