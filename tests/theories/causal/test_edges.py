"""Edges of variables against brute force from raw files: what is irrelevant is, and what matters does."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.attention_program.ops import Connective, Gate, Letter, Place, Program, Step
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, OptionError
from attemper.exact.closed_forms import number
from attemper.networks.layers import Hidden, Layer, LinearForm, Network
from attemper.theories.causal.certificate import (
    CausalClaim,
    CausalEdge,
    CausalVariable,
    EdgeSet,
    FeedForwardEdge,
    HeadEdge,
    HeadPart,
    HeldBit,
    Holder,
    Interchange,
    OutputEdge,
    SetTo,
    Taken,
    complaints,
)
from attemper.theories.causal.check import claims as claims_of
from attemper.theories.causal.check import settings as settings_of
from attemper.theories.causal.check.claims import judge_causal
from attemper.theories.causal.check.cutting import cut, lost_edges
from attemper.theories.causal.check.following import follow_cut
from attemper.theories.causal.search.edges import edges_in
from attemper.theories.causal.search.labelling import Labelling
from attemper.theories.causal.statements import EdgeLabel
from attemper.workbench.model import Model
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.causal import either, models, of_letters
from tests.support.judges.set_variables import Truth
from tests.support.suites import Few

SAID = of_letters(Connective.OR)
ONE = Fraction(1)


def two_of_three() -> Network:
    """`O (a & O b)`, whose last head stands there three times: what two of them read is put out."""
    network = attemper.compile("O (a & O b)", "ab").network
    first, last = network.layers
    (head,), (target,) = last.heads, last.heads[0].targets
    places = (target, len(network.coordinates), len(network.coordinates) + 1)
    together = tuple((place, ONE) for place in places)
    hidden = (
        Hidden(together, Fraction(-5, 4), ((network.output, Fraction(2)),)),
        Hidden(together, Fraction(-7, 4), ((network.output, Fraction(-2)),)),
    )
    heads = tuple(replace(head, targets=(place,)) for place in places)
    return replace(
        network,
        coordinates=(*network.coordinates, "second", "third"),
        layers=(first, Layer(heads, hidden, ())),
    )


def judged(network: Network, said: CausalClaim, *edge_sets: EdgeSet) -> list[Status]:
    """The verdicts on sets of edges, where the variables are proved."""
    verdict = judge_causal(network, said.network, replace(said, edge_sets=edge_sets))
    assert {claim.status for claim in verdict.claims[: -len(edge_sets)]} == {Status.PROVED}
    return [claim.status for claim in verdict.claims[-len(edge_sets) :]]


def test_of_three_heads_each_is_irrelevant_and_two_matter() -> None:
    network = two_of_three()
    found = attemper.causal(attemper.compile("O (a & O b)", "ab"))
    assert found.claim is not None
    truth = Truth(network, found.program, found.claim.variables, 3)
    for part in (HeadPart.KEY, HeadPart.VALUES):
        edges = [HeadEdge(0, 1, head, part) for head in range(3)]
        assert (
            judged(network, found.claim, *(EdgeSet((edge,), None) for edge in edges)) == [Status.PROVED] * 3
        )
        assert all(truth.is_irrelevant([edge], random.Random(1)) for edge in edges)
    values = [HeadEdge(0, 1, head, HeadPart.VALUES) for head in range(3)]
    shown = Interchange(("b", "a"), (Taken(0, 2, ("a", "a")),))
    for pair in combinations(values, 2):
        sets = EdgeSet(pair, None), EdgeSet(pair, shown)
        assert judged(network, found.claim, *sets) == [Status.REFUTED, Status.PROVED]
        assert truth.changes_a_bit(pair, shown)
        assert not truth.is_irrelevant(pair, random.Random(1))
    assert judged(network, found.claim, EdgeSet(tuple(values[:1]), shown)) == [Status.UNKNOWN]


def test_what_is_irrelevant_together_is_proved_once(monkeypatch: pytest.MonkeyPatch) -> None:
    network = two_of_three()
    found = attemper.causal(attemper.compile("O (a & O b)", "ab"))
    assert found.claim is not None
    values = [HeadEdge(0, 1, head, HeadPart.VALUES) for head in range(3)]
    keys = [HeadEdge(0, 1, head, HeadPart.KEY) for head in range(3)]
    both = EdgeSet((keys[0], values[0]), None)
    asked, real = list[object](), claims_of.follow_cut

    def counted(*given: Any) -> None:
        asked.append(given[-1])
        real(*given)

    monkeypatch.setattr(claims_of, "follow_cut", counted)
    single = [EdgeSet((edge,), None) for edge in both.edges]
    assert judged(network, found.claim, *single, both) == [Status.PROVED] * 3
    assert asked == [both.edges], "what stands in the set is proved with it"
    asked.clear()
    wrong = EdgeSet((values[0], values[1]), None)
    sets = *single, wrong, EdgeSet((values[1],), None)
    assert judged(network, found.claim, *sets) == [*[Status.PROVED] * 2, Status.REFUTED, Status.PROVED]
    assert len(asked) == 4, "what is not proved together says nothing of its parts"
    shown = Interchange(("b", "a"), (Taken(0, 2, ("a", "a")),))
    assert judged(network, found.claim, both, EdgeSet((values[0],), shown))[1] is Status.UNKNOWN


def thrice_read() -> Model:
    model = attemper.compile("O (a & O b)", "ab")
    return Model(two_of_three(), model.language, model.regime, model.realisation)


def test_a_circuit_is_what_is_left_when_the_rest_is_left_out() -> None:
    found = attemper.causal(thrice_read(), edges=["all"])
    labels = [own.label for own in found.edges]
    assert labels == [*[EdgeLabel.IRRELEVANT] * 7, *[EdgeLabel.MATTERS_BY_INTERCHANGE] * 4]
    out = found.edges[6].edge_set.edges
    assert len(out) == 2
    for own in found.edges[7:]:
        assert set(own.edge_set.edges) > set(out), "one more beside those that are left out"
    assert {own.edge_set.edges[-1] for own in found.edges[7:]} | set(out) == {
        own.edge_set.edges[0] for own in found.edges[:6]
    }
    assert found.status is Status.PROVED
    alone = attemper.causal(attemper.compile("O (a & O b)", "ab"), edges=["all"])
    assert all(len(own.edge_set.edges) == 1 for own in alone.edges), "there is nothing to leave out"


def test_an_interrupt_before_the_circuit_leaves_the_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Labelling, "circuit", interrupted)
    found = attemper.causal(thrice_read(), edges=["all"])
    assert (found.status, found.left, len(found.edges)) == (Status.UNKNOWN, 1, 6)


UNKNOWN = {5: 3, 11: 1, 15: 2, 16: 1, 17: 1, 19: 4}
"""By seeds, of how many edges nothing is said; of 121 edges these are 12."""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(25))
def test_labels_are_what_raw_files_say(seed: int) -> None:
    rng, counts = random.Random(seed), Counter[EdgeLabel]()
    for model in models(500 + seed, 2):
        found = attemper.causal(model, edges=["all"], up_to=3)
        if found.claim is None:
            continue
        truth = Truth(found.network, found.program, found.claim.variables, 3)
        for own in found.edges:
            counts[own.label] += 1
            assert is_true(truth, own.edge_set, own.label, rng), own.text
        if len(found.edges) > 1:
            pair = EdgeSet(tuple(rng.sample([own.edge_set.edges[0] for own in found.edges], 2)), None)
            (status,) = judged(found.network, found.claim, pair)
            if status is not Status.UNKNOWN:
                assert truth.is_irrelevant(pair.edges, rng) == (status is Status.PROVED)
    assert counts[EdgeLabel.UNKNOWN] == UNKNOWN.get(seed, 0)


def is_true(truth: Truth, edge_set: EdgeSet, label: EdgeLabel, rng: random.Random) -> bool:
    """Whether short words say so, too."""
    if edge_set.matters is not None:
        natural = edge_set.matters.is_natural
        assert label is (EdgeLabel.MATTERS_BY_INTERCHANGE if natural else EdgeLabel.MATTERS)
        return truth.changes_a_bit(edge_set.edges, edge_set.matters)
    return label is EdgeLabel.UNKNOWN or truth.is_irrelevant(edge_set.edges, rng)


def test_edges_of_groups_are_set_to_any_of_their_values(few: Few) -> None:
    for text in few(("(ab|ba)*", "a*b*", "(ab)*", "(a|bb)*b"), 2):
        found = attemper.causal(attemper.compile(f"regex:{text}", "ab"), edges=["all"], up_to=3)
        assert found.claim is not None
        truth = Truth(found.network, found.program, found.claim.variables, 3)
        assert all(is_true(truth, own.edge_set, own.label, random.Random(text)) for own in found.edges)


# By hand: two letters, held after layer 0, and their sum is put out after layer 1 ---------------------------


def claims(network: Network, edges: tuple[CausalEdge, ...], shown: Interchange | None = None) -> Status:
    (status,) = judged(network, SAID, EdgeSet(edges, shown))
    return status


def nobody_writes(network: Network) -> Network:
    """Without the unit that writes over a variable."""
    first, last = network.layers
    return replace(network, layers=(first, replace(last, hidden=last.hidden[:2])))


def test_a_feed_forward_reads_what_the_edge_carries() -> None:
    network, edge = nobody_writes(either(ONE)), FeedForwardEdge(0, 1)
    assert claims(network, (edge,)) is Status.REFUTED
    assert claims(network, (edge,), Interchange(("a",), (Taken(0, 1, ("b",)),))) is Status.PROVED
    assert claims(network, (edge,), Interchange(("b",), (Taken(0, 1, ("a",)),))) is Status.UNKNOWN
    assert claims(network, (edge,), Interchange(("a",), (SetTo(0, 1, 0),))) is Status.PROVED
    assert claims(network, (edge,), Interchange(("a",), ())) is Status.UNKNOWN


@pytest.mark.parametrize(
    ("late", "status"),
    [(0, Status.PROVED), (Fraction(-1, 5), Status.UNKNOWN), (Fraction(-3, 4), Status.REFUTED)],
)
def test_units_whose_weights_cancel_read_nothing(late: Fraction, status: Status) -> None:
    network = nobody_writes(either(ONE))
    first, last = network.layers
    by_letters = [replace(unit, form=((0, ONE), (1, ONE))) for unit in last.hidden]
    cancelling = [Hidden(((2, ONE),), Fraction(0), ((4, own),)) for own in (ONE + late, -ONE)]
    layers = first, replace(last, hidden=(*by_letters, *cancelling))
    edge_set = EdgeSet((FeedForwardEdge(0, 1),), None)
    said = replace(SAID, variables=SAID.variables[:1], edge_sets=(edge_set,))
    verdict = judge_causal(replace(network, layers=layers), "", said)
    assert verdict.claims[-1].status is status


def test_the_output_reads_what_stands_there_at_the_end() -> None:
    network = replace(nobody_writes(either(ONE)), output=2)
    said = replace(SAID, program=replace(SAID.program, output=0), variables=SAID.variables[:1])
    assert list(edges_in(network, said.variables)) == [FeedForwardEdge(0, 1), OutputEdge(0)]
    sets = (
        EdgeSet((FeedForwardEdge(0, 1),), None),
        EdgeSet((OutputEdge(0),), None),
        EdgeSet((OutputEdge(0),), Interchange(("a", "b"), (Taken(0, 2, ("b", "a")),))),
    )
    assert judged(network, said, *sets) == [Status.PROVED, Status.REFUTED, Status.PROVED]


def test_who_is_cut_off_reads_twins_and_nobody_else_does() -> None:
    network = nobody_writes(either(ONE))
    without, (twins,) = cut(network, SAID.variables, [FeedForwardEdge(1, 1)])
    assert twins == {3: 5}
    forms: list[LinearForm] = [unit.form for unit in without.layers[1].hidden]
    assert forms == [((2, ONE), (5, ONE))] * 2
    assert without.layers[0] == network.layers[0]
    both, _ = cut(network, SAID.variables, [FeedForwardEdge(1, 1), FeedForwardEdge(0, 1)])
    assert [unit.form for unit in both.layers[1].hidden] == [((5, ONE), (6, ONE))] * 2


def test_twins_are_those_of_each_variable() -> None:
    both = replace(
        SAID.variables[0], codes=(HeldBit(0, (Holder(0, opposite=False), Holder(2, opposite=False))),)
    )
    network = nobody_writes(either(ONE))
    without, twins = cut(network, (both, SAID.variables[1]), [FeedForwardEdge(0, 1), FeedForwardEdge(1, 1)])
    assert twins == ({0: 5, 2: 6}, {3: 7})
    assert without.coordinates[5:] == ("twin of letter a", "twin of a", "twin of b")
    forms: list[LinearForm] = [unit.form for unit in without.layers[1].hidden]
    assert forms == [((6, ONE), (7, ONE))] * 2


def test_a_variable_of_bits_and_numbers_carries_nothing() -> None:
    """Coordinate 2 holds a, coordinate 3 the number -1 there: their sum is 0, and no row is."""
    first, last = nobody_writes(either(ONE)).layers
    minus = Hidden(((0, ONE),), Fraction(0), ((3, -ONE),))
    unread = replace(last, hidden=(Hidden(((0, ONE),), Fraction(0), ((4, ONE),)),))
    network = replace(either(ONE), layers=(replace(first, hidden=(first.hidden[0], minus)), unread))
    codes = tuple(HeldBit(ref, (Holder(2 + ref, opposite=False),)) for ref in (0, 1))
    own = CausalVariable(0, codes)
    program = replace(SAID.program, output=0)
    with pytest.raises(UnprovenError, match="after layer 0 a coordinate is not seen to be 0 or 1"):
        follow_cut(network, program, (own,), (FeedForwardEdge(0, 1),))


def test_variables_and_edges_have_verdicts_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables are refuted, one set is proved and another refuted: each in its place."""
    network = nobody_writes(either(ONE))
    first, last = network.layers
    by_letter = [replace(unit, form=((0, ONE), (3, ONE))) for unit in last.hidden]
    network = replace(network, layers=(first, replace(last, hidden=tuple(by_letter))))
    sets = EdgeSet((FeedForwardEdge(1, 1),), None), EdgeSet((FeedForwardEdge(0, 1),), None)
    said = replace(SAID, edge_sets=sets)
    verdict = judge_causal(network, "", said)
    assert [claim.status for claim in verdict.claims] == [Status.REFUTED, Status.REFUTED, Status.PROVED]
    assert [claim.witness is None for claim in verdict.claims] == [False, False, True]
    monkeypatch.setattr(settings_of, "TRIED", 0)
    untried = [claim.status for claim in judge_causal(network, "", said).claims]
    assert untried == [Status.UNKNOWN, Status.UNKNOWN, Status.PROVED]


# What readers of the rule found: true claims that were refuted ----------------------------------------------


def held_by(first: tuple[Hidden, ...], last: tuple[Hidden, ...]) -> Network:
    """The first layer writes coordinate 2, the second the output."""
    return replace(either(ONE), layers=(Layer((), first, ()), Layer((), last, ())))


def of_steps(*steps: Step) -> CausalClaim:
    """That coordinate 2 is a variable, which the second layer does not need."""
    own = CausalVariable(0, (HeldBit(0, (Holder(2, opposite=False),)),))
    program = Program(SAID.program.alphabet, steps, 0)
    return CausalClaim("", program, (own,), (EdgeSet((FeedForwardEdge(0, 1),), None),))


A = Letter(("a",))
LETTER = Hidden(((0, ONE),), Fraction(0), ((2, ONE),))
BOTH = Hidden(((0, ONE), (2, ONE)), Fraction(-1), ((4, ONE),))


def test_what_is_no_row_is_not_carried_along_an_edge() -> None:
    """5 stands on a, and carried to b it would be put out; no value is 5."""
    fives = Hidden(((0, ONE),), Fraction(0), ((2, Fraction(5)),))
    last = (
        replace(LETTER, outputs=((4, ONE),)),
        Hidden(((1, Fraction(4)), (2, ONE)), Fraction(-5), ((4, ONE),)),
    )
    verdict = judge_causal(held_by((fives,), last), "", of_steps(A))
    assert verdict.claims[-1].status is Status.UNKNOWN


@pytest.mark.parametrize(
    "steps", [(A, A, Gate(Connective.UNION, (0, 1))), (A, Place(number(2)))], ids=["promise", "no bit"]
)
def test_words_on_which_the_program_means_nothing_refute_nothing(steps: tuple[Step, ...]) -> None:
    network = held_by((LETTER,), (BOTH,))
    assert judge_causal(network, "", of_steps(*steps)).claims[-1].status is Status.UNKNOWN
    assert judge_causal(network, "", of_steps(A)).claims[-1].status is Status.REFUTED


def test_a_row_is_looked_at_where_promises_are_kept() -> None:
    twos = replace(LETTER, outputs=((2, Fraction(2)),))
    alone = ((2, ONE),)
    last = Hidden(alone, Fraction(0), ((4, ONE),)), Hidden(alone, Fraction(-1), ((4, -ONE),))
    broken = of_steps(A, A, A, Gate(Connective.UNION, (1, 2)))
    assert judge_causal(held_by((twos,), last), "", broken).claims[0].status is Status.UNKNOWN
    assert judge_causal(held_by((twos,), last), "", of_steps(A)).claims[0].status is Status.REFUTED


@pytest.mark.parametrize("taken", [SetTo(0, -1, 0), SetTo(0, 0, 1), SetTo(0, 1, -1), Taken(0, 0, ("b", "b"))])
def test_no_number_counts_from_the_end(taken: Taken | SetTo) -> None:
    edge = FeedForwardEdge(0, 1)
    claim = replace(of_steps(A), edge_sets=(EdgeSet((edge,), Interchange(("a", "b"), (taken,))),))
    network = held_by((LETTER,), (BOTH,))
    assert judge_causal(network, "", claim).status is Status.MALFORMED
    assert list(lost_edges(network, claim.variables, [HeadEdge(0, 1, -1, HeadPart.KEY)]))


@pytest.mark.parametrize(
    ("edges", "shown", "said"),
    [
        ((), None, "empty"),
        ((OutputEdge(0), OutputEdge(0)), None, "names an edge twice"),
        ((OutputEdge(2),), None, "there is no variable 2"),
        ((FeedForwardEdge(0, 0),), None, "feed-forward 0 <- s0 is no edge"),
        ((OutputEdge(0),), Interchange((), ()), "of 1 symbol or more"),
        ((OutputEdge(0),), Interchange(("a",), (Taken(0, 1, ("a", "b")),)), "have one length"),
        ((OutputEdge(0),), Interchange(("a",), (Taken(0, 1, ("c",)),)), "no symbol 'c'"),
        ((OutputEdge(0),), Interchange(("a",), (Taken(1, 1, ("b",)),)), "none of the edges is from it"),
        ((OutputEdge(0),), Interchange(("a",), (Taken(0, 2, ("b",)),)), "no position 2"),
        ((OutputEdge(0),), Interchange(("a",), (SetTo(0, 1, 2),)), "no value 2"),
        ((OutputEdge(0),), Interchange(("a",), (SetTo(0, 1, 1), SetTo(0, 1, 0))), "named twice"),
    ],
)
def test_what_is_no_set_of_edges(edges: tuple[CausalEdge, ...], shown: Interchange | None, said: str) -> None:
    claim = replace(SAID, edge_sets=(EdgeSet(edges, shown),))
    assert any(said in complaint for complaint in complaints(claim))
    (found,) = judge_causal(nobody_writes(either(ONE)), "", claim).claims
    assert found.status is Status.MALFORMED


def test_edges_that_the_network_does_not_have() -> None:
    network = nobody_writes(either(ONE))
    for edge, said in (
        (FeedForwardEdge(0, 2), "there is no layer 2"),
        (HeadEdge(0, 1, 0, HeadPart.KEY), "there is no head 1.0"),
    ):
        assert said in list(lost_edges(network, SAID.variables, [edge]))
        claim = replace(SAID, edge_sets=(EdgeSet((edge,), None),))
        assert judge_causal(network, "", claim).status is Status.MALFORMED
    (complaint,) = lost_edges(either(ONE), SAID.variables, [FeedForwardEdge(0, 1)])
    assert "layer 1 writes where a variable is held" in complaint
    assert not list(lost_edges(either(ONE), SAID.variables, [FeedForwardEdge(1, 1)]))


# The command ------------------------------------------------------------------------------------------------


def test_edges_on_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "net"
    assert command("compile", "O (a & O b)", "--alphabet", "ab", "-o", folder).code == 0
    found = command("causal", folder, "--edges", "all", "-o", folder / "causal.json")
    assert found.code == ExitCode.OK
    assert "MATTERS BY INTERCHANGE: head 1.0 values <- s3" in found.out
    assert "blocks.1.attn.hook_v_input[:, " in found.out
    checked = command("check", folder / "causal.json")
    assert checked.code == ExitCode.OK
    assert "PROVED: head 1.0 values <- s3: matters by interchange on '" in checked.out
    assert "head 1.0 values <- s3: matters by interchange on" in command("show", folder / "causal.json").out
    record: dict[str, Any] = command(
        "causal", folder, "--edges", "head 1.0 key <- s3, head 1.0 values <- s3", "--json"
    ).record
    (own,) = record["edges"]
    assert (own["edges"], own["label"][:7]) == ("head 1.0 key <- s3, head 1.0 values <- s3", "MATTERS")
    assert json.dumps(own["taken"])
    for text, said in (
        ("head 1.0 <- s3", "is no edge: write 'all'"),
        ("head 1.0 key <- s9", "no variable that is proved has step 9"),
        ("head 1.7 key <- s3", "there is no head 1.7"),
        ("head 0.0 key <- s3", "is no edge: that layer is over"),
    ):
        refused = command("causal", folder, "--edges", text)
        assert (refused.code, said in refused.err) == (ExitCode.USAGE, True), refused.err
    with pytest.raises(OptionError):
        attemper.causal(attemper.compile("a", "ab"), edges=["output <- s0"])
