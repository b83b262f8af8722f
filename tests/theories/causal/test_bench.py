"""Benchmarks: untidy networks keep their language, labels are what raw files say, and scores are of pairs."""

from __future__ import annotations

import json
import math
import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import circuits

import attemper
from attemper.attention_program.realisation import Realisation
from attemper.certificates.claims import FloatClaim
from attemper.checker.verdict import Status
from attemper.errors import ExitCode, MalformedFileError, OptionError
from attemper.networks.layers import Network
from attemper.theories.causal.bench.cases import BenchCase, cases
from attemper.theories.causal.bench.dials import beside, split, thrice
from attemper.theories.causal.bench.making import CLAIM, TURNED, every_case, made
from attemper.theories.causal.bench.reading import EdgeReads
from attemper.theories.causal.bench.scoring import BenchScores, CaseScore, read_found, scored
from attemper.theories.causal.certificate import Interchange, Taken
from attemper.theories.causal.check.claims import judge_causal
from attemper.theories.causal.search.labelling import Labelling
from attemper.theories.causal.statements import EdgeLabel
from attemper.workbench.model import Model
from tests.support.cli.command_line import attemper as command
from tests.support.judges.bench_folders import RawCase
from tests.support.judges.set_variables import Truth
from tests.support.suites import Few

QUARTER = Fraction(1, 4)


def said_of(model: Model) -> Realisation:
    assert model.realisation is not None
    return model.realisation


def every_head(network: Network) -> Iterator[tuple[int, int]]:
    for number, layer in enumerate(network.layers):
        yield from ((number, head) for head in range(len(layer.heads)))


def proves(model: Model, network: Network, said: Realisation) -> bool:
    changed = Model(network, model.language, model.regime, said)
    return changed.check(changed.certify()).status is Status.PROVED


@pytest.mark.parametrize("text", ["O (a & Y b)", "even(#<[a]) | Y a", "regex:(ab|ba)*", "H (a -> O b)"])
def test_dials_leave_the_language(text: str, few: Few) -> None:
    model = attemper.compile(text, "ab")
    said = said_of(model)
    assert proves(model, split(model.network, QUARTER), said)
    for other in few(("H a", "O (a & Y b)", "regex:(ab)*", "#<[a] >= 2"), 2):
        distractor = attemper.compile(other, "ab")
        assert proves(model, *beside(model.network, said, distractor.network, said_of(distractor)))
    copied = [thrice(model.network, *place) for place in every_head(model.network)]
    assert all(proves(model, network, said) for network in copied if network is not None)


def test_two_of_three_heads_decide() -> None:
    network = thrice(attemper.compile("O (a & O b)", "ab").network, 1, 0)
    assert network is not None
    assert len(network.layers[1].heads) == 3
    assert {len(unit.form) for unit in network.layers[1].hidden} == {3}
    averaged = attemper.compile("even(#<[a])", "ab").network
    assert {thrice(averaged, *place) for place in every_head(averaged)} == {None}


def test_what_a_distractor_carries_is_irrelevant_and_read() -> None:
    model, distractor = attemper.compile("O a", "abc"), attemper.compile("O b", "abc")
    network, said = beside(model.network, said_of(model), distractor.network, said_of(distractor))
    joined = Model(network, model.language, model.regime, said)
    claims = [own for own in joined.certify().claims if isinstance(own, FloatClaim)]
    assert claims
    assert all(own.horizon > 100_000 for own in claims)
    found = attemper.causal(joined, edges=["all"])
    assert found.claim is not None
    needed, own = (own for own in found.edges if own.text.startswith("feed-forward 1"))
    assert needed.label is EdgeLabel.MATTERS_BY_INTERCHANGE
    assert own.edge_set.matters is None
    late = network.layers[1].hidden
    assert [unit.outputs for unit in late] == [((network.output, factor),) for factor in (1, 1, -2)]
    assert Truth(network, said.program, found.claim.variables, 4).is_irrelevant(
        own.edge_set.edges, random.Random(1)
    )


def test_cases_are_proved_and_their_labels_true(few: Few) -> None:
    rng = random.Random(5)
    for case in every_case(len(few(range(12), 2)), seed=5):
        claim = case.claim
        assert judge_causal(case.model.network, case.model.digest, claim).status is Status.PROVED
        truth = Truth(case.model.network, claim.program, claim.variables, 3)
        assert truth.is_held()
        for own in claim.edge_sets:
            if own.matters is None:
                assert truth.is_irrelevant(own.edges, rng)
            else:
                assert truth.changes_a_bit(own.edges, own.matters)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 20))
def test_of_1000_cases_all_that_is_said_is_proved_and_so(seed: int, tmp_path: Path) -> None:
    for number, case in enumerate(every_case(100, seed)):
        folder = tmp_path / str(number)
        case.save(folder)
        for place in (folder, folder / CLAIM, folder / TURNED):
            assert attemper.check(place).status is Status.PROVED
        raw, rng = RawCase(folder), random.Random(seed)
        assert not list(raw.wrong_interventions())
        assert not any(raw.is_wrong_at(length, rng) for length in (1, 100, 1024))


def test_a_seed_makes_the_same_cases() -> None:
    one, again, other = (made(0, seed) for seed in (1, 1, 2))
    assert one == again
    assert one.how != other.how


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("bench") / "cases"
    for number, case in enumerate(every_case(3, seed=1)):
        case.save(place / str(number))
    return place


def answers(bench: Path, number: float, other: float) -> dict[str, dict[str, float]]:
    return {
        own.name: {edge: number if matters else other for edge, matters in own.matters.items()}
        for own in cases(bench)
    }


def test_the_exact_circuit_scores_1_and_chance_a_half(bench: Path) -> None:
    assert scored(bench, answers(bench, 1, 0)).pairs == 1
    assert scored(bench, answers(bench, 0, 1)).pairs == 0
    assert scored(bench, answers(bench, 1, 1)).pairs == 0.5
    rng = random.Random(1)
    drawn = {own.name: {edge: rng.random() for edge in own.matters} for own in cases(bench)}
    assert 0 <= scored(bench, drawn).pairs <= 1
    alike = CaseScore(None, 2, 2)
    shown = "1: pairs 0.750, 4 edges are enough, of its own circuit 2\nmean: pairs 0.750, size 0.750"
    both = BenchScores({"0": alike, "1": CaseScore(0.75, 4, 2)})
    assert str(both) == f"0: one label, 2 edges are enough, of its own circuit 2\n{shown}"
    assert BenchScores({"0": alike}).pairs != BenchScores({"0": alike}).pairs, "not a number"
    with pytest.raises(TypeError):
        bool(BenchScores({}))


def test_the_fewest_edges_are_kept_that_are_enough(bench: Path) -> None:
    for own in cases(bench):
        network, every = own.model.network, own.edges
        exact = {name: float(name in own.circuit) for name in every}
        (score,) = scored_alone(own, exact)
        assert (score.kept, score.enough) == (len(own.circuit), len(own.circuit))
        (alike,) = scored_alone(own, dict.fromkeys(every, 1.0))
        assert alike.kept == len(every)
        drawn = {name: float(number) for number, name in enumerate(sorted(every))}
        (score,) = scored_alone(own, drawn)
        rest = sorted(every)[: len(every) - score.kept]
        truth = Truth(network, own.claim.program, own.claim.variables, 3)
        assert not rest or truth.is_irrelevant([every[name] for name in rest], random.Random(1))
        more = [*rest, sorted(every)[len(rest)]]
        assert not truth.is_irrelevant([every[name] for name in more], random.Random(1))


def test_a_card_says_what_is_proved(bench: Path) -> None:
    for own in cases(bench):
        text = (own.folder / "README.md").read_text(encoding="utf-8")
        assert f"{sum(own.matters.values())} of {len(own.edges)} edges matter" in text
        assert f"{len(own.circuit)} edges are a minimal circuit" in text
        certificate = own.model.certificate
        assert certificate is not None
        horizons = [claim.horizon for claim in certificate.claims if isinstance(claim, FloatClaim)]
        for horizon in horizons:
            assert (f"up to {horizon:,} symbols" in text) == (horizon > 0)
        assert ("for no number format" in text) == (not any(horizons))


def test_an_edge_can_carry_what_it_does_elsewhere(bench: Path) -> None:
    for own in cases(bench):
        reads = EdgeReads(own)
        clean, other = torch.tensor([[0, 1, 2, 1]]), torch.tensor([[1, 1, 0, 2]])
        carried = reads.carried(other)
        assert torch.equal(reads(clean), reads(clean, reads.carried(clean)))
        truth = Truth(own.model.network, own.claim.program, own.claim.variables, 4)
        base, source = (tuple("abc"[token] for token in words[0].tolist()) for words in (clean, other))
        for name, edge in own.edges.items():
            taken = tuple(Taken(edge.variable, position, source) for position in range(1, 5))
            bits = (reads(clean) > 0.5) != (reads(clean, {name: carried[name]}) > 0.5)
            assert bool(bits.any()) == truth.changes_a_bit([edge], Interchange(base, taken)), name


def test_frequencies_are_shares_of_pairs_of_words(bench: Path) -> None:
    for own in cases(bench):
        reads, every = EdgeReads(own), list(product(range(3), repeat=3))
        pairs = random.Random(own.name).sample(list(product(every, every)), 4)
        clean, other = (torch.tensor([pair[k] for pair in pairs]) for k in (0, 1))
        found, letters = reads.frequencies(clean, other), own.model.alphabet.symbols
        truth = Truth(own.model.network, own.claim.program, own.claim.variables, 3)
        for name, edge in own.edges.items():
            count = 0
            for base, source in pairs:
                taken = tuple(Taken(edge.variable, i, tuple(letters[k] for k in source)) for i in (1, 2, 3))
                said = Interchange(tuple(letters[k] for k in base), taken)
                count += truth.changes_a_bit([edge], said)
            assert found[name] == count / 4
            assert own.matters[name] or not count


def test_methods_are_scored_from_files_alone(bench: Path) -> None:
    scores = circuits.compared(bench)
    assert (scores["the circuit itself"].pairs, scores["the circuit itself"].size) == (1, 1)
    assert all(0 <= own.pairs <= 1 and 0 < own.size <= 1 for own in scores.values())
    assert scores["activation patching"].pairs >= scores["sizes of weights"].pairs


@pytest.mark.slow
def test_what_methods_see_on_100_cases(tmp_path: Path) -> None:
    for number, case in enumerate(every_case(100, seed=0)):
        case.save(tmp_path / f"{number:03}")
    scores = circuits.compared(tmp_path)
    assert (scores["the circuit itself"].pairs, scores["the circuit itself"].size) == (1, 1)
    assert 0.4 < scores["random numbers"].pairs < 0.6, "chance"
    assert (
        scores["activation patching"].pairs > 0.9 > scores["mean ablation"].pairs > scores["gradients"].pairs
    )


def scored_alone(case: BenchCase, found: dict[str, float]) -> list[CaseScore]:
    """The score of one case among others."""
    every = {own.name: dict.fromkeys(own.matters, 0.0) for own in cases(case.folder.parent)}
    return [scored(case.folder.parent, every | {case.name: found}).by_case[case.name]]


def test_a_case_is_a_network_of_its_language(bench: Path) -> None:
    for own in cases(bench):
        assert attemper.check(own.folder).status is Status.PROVED
        assert own.model.network.alphabet.symbols == ("a", "b", "c")


@pytest.fixture
def copied(bench: Path, tmp_path: Path) -> Path:
    """A benchmark of one case that has both labels."""
    own = next(own for own in cases(bench) if 0 < sum(own.matters.values()) < len(own.matters))
    shutil.copytree(own.folder, tmp_path / "cases" / "0")
    return tmp_path / "cases"


def with_edge_sets(bench: Path, change: Callable[[Any], Any]) -> None:
    path = bench / "0" / CLAIM
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "edge_sets": change(data["edge_sets"])}))


def test_labels_are_proved_again_and_none_is_missing(copied: Path) -> None:
    found, path = answers(copied, 1, 0), copied / "0" / CLAIM
    text = path.read_text()
    for change, said in (
        (lambda sets: [{**own, "matters": None} for own in sets], "the labels of case 0 are REFUTED"),
        (lambda sets: sets[1:], "has no label"),
        (lambda sets: [own for own in sets if own["matters"] is None], "has no label"),
        (lambda sets: [], "has no label"),
        (lambda sets: [own for own in sets if len(own["edges"]) == 1], "cannot be left out"),
    ):
        with_edge_sets(copied, change)
        with pytest.raises(OptionError, match=said):
            scored(copied, found)
        path.write_text(text)
    assert scored(copied, found).pairs == 1


def test_what_is_of_no_case_is_refused(copied: Path, bench: Path) -> None:
    found = answers(copied, 1, 0)
    with pytest.raises(OptionError, match="numbers for a case 7, and no such case"):
        scored(copied, found | {"7": {}})
    for number in (math.nan, math.inf):
        with pytest.raises(OptionError, match="no finite number"):
            scored(copied, {"0": dict.fromkeys(found["0"], number)})
    (own,) = cases(copied)
    other = next(case for case in cases(bench) if case.claim.network != own.claim.network)
    for name in ("interventions.json", TURNED):
        (own.folder / name).write_bytes((other.folder / name).read_bytes())
    for read in (lambda: own.interventions, lambda: own.rotation, lambda: own.basis):
        with pytest.raises(MalformedFileError, match="is about another network"):
            read()
    (copied / "results").mkdir()
    with pytest.raises(MalformedFileError, match=r"there is no '.*results"):
        list(cases(copied))


def test_an_interrupt_ends_a_case_and_makes_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    for name in ("labels", "circuit"):
        with monkeypatch.context() as patched:
            patched.setattr(Labelling, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                made(1, seed=1)


def test_an_alignment_is_asked_of_the_program_that_the_case_has(copied: Path) -> None:
    """The network runs its distractors, too, of which its language says nothing."""
    own = next(cases(copied))
    single = next(variable for variable in own.claim.variables if len(variable.codes) == 1)
    code = single.codes[0]
    signs = ",".join(f"{holder.coordinate}:{'-' if holder.opposite else '+'}" for holder in code.holders)
    asked = ("causal", own.folder, "--claim", own.folder / CLAIM)
    alone = command(*asked, "--step", code.step, "--layer", single.layer, "--coordinates", signs)
    assert "PROVED, it alone" in alone.out, alone.err
    every = command(*asked, "--edges", "all", "--up-to", 3)
    assert all(f"{edge}\n" in every.out for edge in own.edges)
    twice = attemper.causal(own.model, claim=own.claim, edges=["all", "all", next(iter(own.edges))], up_to=3)
    assert (twice.status, len(twice.edges)) == (Status.PROVED, len(own.claim.edge_sets))
    with pytest.raises(OptionError, match="the claim is about another network"):
        attemper.causal(attemper.compile("O a", "abc"), claim=own.claim)
    wrong = replace(own.claim, variables=(replace(single, layer=99),), edge_sets=())
    with pytest.raises(OptionError, match="the claim is none: there is no layer 99"):
        attemper.causal(own.model, claim=wrong)


def test_the_commands(tmp_path: Path) -> None:
    place, found = tmp_path / "cases", tmp_path / "found.json"
    assert command("bench", place, "--count", 2, "--seed", 4).code == 0
    assert [own.name for own in cases(place)] == ["0", "1"]
    assert "is there already" in command("bench", place).err
    assert command("bench", tmp_path / "again", "--count", 2, "--seed", 4, "--jobs", 2).code == 0
    assert [own.claim for own in cases(tmp_path / "again")] == [own.claim for own in cases(place)]
    both = command("bench", tmp_path / "other", "--jobs", 2, "--scheduler", "tcp://127.0.0.1:1")
    assert (both.code, "leave --jobs out" in both.err) == (ExitCode.USAGE, True)
    found.write_text(json.dumps(answers(place, 2, 1)))
    record = command("score", place, found, "--json").record
    assert set(record) == {"pairs", "size", "cases"}
    assert "mean: pairs 1.000, size " in command("score", place, found).out
    for data, said, code in (
        ([], "has no numbers by case and edge", ExitCode.FILE),
        ({"0": {"e": True}}, "'e' has no finite number", ExitCode.FILE),
        ({"0": {"e": 10**400}}, "'e' has no finite number", ExitCode.FILE),
        ({}, "case 0 has no number for", ExitCode.USAGE),
    ):
        found.write_text(json.dumps(data))
        refused = command("score", place, found)
        assert (refused.code, said in refused.err) == (code, True), refused.err
    for text in ("{", "[" * 200_000):
        found.write_text(text)
        with pytest.raises(MalformedFileError, match="is no JSON"):
            read_found(found)
    (tmp_path / "nothing").mkdir()
    with pytest.raises(MalformedFileError, match="there are no cases"):
        list(cases(tmp_path / "nothing"))
