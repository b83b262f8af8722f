"""Many changed networks and changed files: what is proved of them is what raw files say on short words."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest

import attemper
from attemper.checker.verdict import Status, Verdict
from attemper.exact.codec import CodecError
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CAUSAL, CausalClaim
from attemper.theories.causal.check.claims import judge_causal, proof_of
from attemper.theories.causal.statements import Causal
from tests.support.drawn.causal import models, with_changed_writer
from tests.support.judges.set_variables import Truth
from tests.support.mutants.changed_networks import changed
from tests.support.mutants.json_data import mutant
from tests.support.suites import Few

PROVED = Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS


def labelled(seed: int, count: int) -> list[Causal]:
    """Networks with proved variables and labelled edges."""
    found = (attemper.causal(model, edges=["all"], up_to=2) for model in models(seed, count))
    return [own for own in found if own.claim is not None]


def changed_networks(own: Causal, count: int, rng: Random) -> Iterator[Network]:
    """Every other one has another number in what writes a variable, the others anywhere."""
    assert own.claim is not None
    for number in range(count):
        network = None
        if number % 2:
            network = with_changed_writer(own.network, rng.choice(own.claim.variables), rng)
        yield changed(rng, own.network) if network is None else network


def false_claims(network: Network, said: CausalClaim, verdict: Verdict, rng: Random) -> list[str]:
    """What is proved, or refuted, and otherwise on words of up to 3 symbols."""
    if verdict.status is Status.MALFORMED:
        return []
    truth = Truth(network, said.program, said.variables, 3)
    first = verdict.claims[0]
    wrong = (
        [first.text]
        if first.status in PROVED and not (truth.is_held() and truth.holds_where_set(rng))
        else []
    )
    edges = zip(verdict.claims[len(verdict.claims) - len(said.edge_sets) :], said.edge_sets, strict=True)
    for claim, edge_set in edges:
        if claim.status in PROVED:
            shown = edge_set.matters
            holds = (
                truth.is_irrelevant(edge_set.edges, rng)
                if shown is None
                else truth.changes_a_bit(edge_set.edges, shown)
            )
            wrong += [] if holds else [claim.text]
    return wrong


def try_networks(seed: int, models_count: int, mutants: int) -> Counter[Status]:
    rng, seen = Random(f"networks {seed}"), Counter[Status]()
    for own in labelled(seed, models_count):
        assert own.claim is not None
        for network in changed_networks(own, mutants, rng):
            judge = judge_causal if rng.random() < 0.02 else proof_of
            verdict = judge(network, own.claim.network, own.claim)
            seen.update(claim.status for claim in verdict.claims)
            assert false_claims(network, own.claim, verdict, rng) == []
    return seen


def try_files(seed: int, models_count: int, mutants: int) -> Counter[Status]:
    rng, seen = Random(f"files {seed}"), Counter[Status]()
    for own in labelled(1_000 + seed, models_count):
        assert own.claim is not None
        data = json.loads(json.dumps(CAUSAL.encode(own.claim)))
        for _ in range(mutants):
            try:
                said = CAUSAL.decode(json.loads(near(data, rng)))
            except (CodecError, ValueError, RecursionError):
                seen[Status.MALFORMED] += 1
                continue
            said = replace(said, network=own.claim.network)
            verdict = judge_causal(own.network, said.network, said)
            seen.update(claim.status for claim in verdict.claims)
            assert false_claims(own.network, said, verdict, rng) == [], json.dumps(CAUSAL.encode(said))
    return seen


def near(data: dict[str, object], rng: Random) -> str:
    """With a change that a reader may take: in variables or edges, of numbers or entries of one kind."""
    part = rng.choice(["variables", "edge_sets", "program"])
    if rng.random() < 0.5:
        return mutant(data, rng)
    inner = json.loads(json.dumps(data[part]))
    places = [place for place in _numbers(inner) if place]
    if not places:
        return mutant(data, rng)
    *path, last = rng.choice(places)
    here = inner
    for step in path:
        here = here[step]
    here[last] = max(0, here[last] + rng.choice([-2, -1, 1, 2])) if rng.random() < 0.8 else rng.randrange(12)
    return json.dumps({**data, part: inner})


def _numbers(data: object, path: tuple[int | str, ...] = ()) -> Iterator[tuple[int | str, ...]]:
    if isinstance(data, int) and not isinstance(data, bool):
        yield path
    elif isinstance(data, list):
        for number, own in enumerate(data):
            yield from _numbers(own, (*path, number))
    elif isinstance(data, dict):
        for name, own in data.items():
            yield from _numbers(own, (*path, name))


def test_changed_networks_are_proved_where_it_is_true(few: Few) -> None:
    seen = try_networks(0, 3, len(few(range(40), 10)))
    assert seen[Status.UNKNOWN]
    assert seen[Status.PROVED]


def test_changed_files_are_proved_where_it_is_true(few: Few) -> None:
    seen = try_files(0, 3, len(few(range(60), 20)))
    assert seen[Status.MALFORMED]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 51))
def test_10_000_changed_networks(seed: int) -> None:
    try_networks(seed, 5, 40)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 51))
def test_10_000_changed_files(seed: int) -> None:
    try_files(seed, 5, 40)
