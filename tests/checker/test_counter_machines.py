"""Claims about counter machines: proved of all words, and a wrong table or weight is never proved."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import islice, product
from pathlib import Path

import pytest

import attemper
from attemper.certificates.claims import RealClaim
from attemper.checker.check import judge
from attemper.checker.verdict import Status
from attemper.exact.balls import ball
from attemper.languages.machines.meaning import next_tokens, run
from attemper.languages.machines.parse import parse_machine
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.machines.syntax import CounterMachine
from attemper.networks.layers import Network
from attemper.networks.meaning_soft import output_rows
from tests.support.cli.command_line import attemper as command
from tests.support.drawn.counter_machines import changed, families, random_machine, runs_worth_trying
from tests.support.mutants.one_change import gentle_mutant, random_network_mutant
from tests.support.suites import Few

ALL = (RealClaim(),)

COLLATZ = families()[0]


def network_of(machine: CounterMachine) -> Network:
    return attemper.compile(machine, regime="decoder").network


def status_of(network: Network, machine: CounterMachine) -> Status:
    return judge(network, MachineLanguage(machine), ALL).status


def test_families_are_proved_and_run_as_their_machines_do(few: Few) -> None:
    for machine in few(families(), 2):
        model = attemper.compile(machine, regime="decoder")
        assert model.check(model.certify()).status is Status.PROVED
        tried = 0
        for begin, tokens in islice(runs_worth_trying(machine, 6_000), 5):
            assert list(islice(model.generate(begin), len(tokens))) == tokens
            tried += 1
        assert tried == 5


def test_random_tables_are_proved_and_run_as_their_machines_do(few: Few) -> None:
    rng = random.Random(5)
    machines = [
        random_machine(rng, rng.choice([0, 1, 2, 3, 8, 20, 45]), rng.randint(1, 8)) for _ in range(300)
    ]
    for machine in few(machines, 10):
        model = attemper.compile(machine, regime="decoder")
        assert status_of(model.network, machine) is Status.PROVED
        inputs = [own.token for own in machine.inputs]
        for k in (0, 3, 17):
            prompt = (*rng.choices(inputs, k=k), machine.start)
            wanted = list(islice(run(machine, prompt), 200))
            assert list(islice(model.generate(prompt), 200)) == wanted


def test_words_that_are_no_runs_get_what_the_integers_say(few: Few) -> None:
    rng = random.Random(6)
    for machine in few([COLLATZ, *(random_machine(rng, 12, 3) for _ in range(19))], 4):
        model = attemper.compile(machine, regime="decoder")
        words = [tuple(rng.choices(machine.alphabet.symbols, k=rng.randint(1, 40))) for _ in range(100)]
        for found, word in zip(model.run(words, engine="numpy"), words, strict=True):
            assert found.outputs == next_tokens(machine, word), word


def test_a_table_that_differs_is_told_by_a_short_word(few: Few) -> None:
    rng, found = random.Random(7), Counter[Status]()
    tables = (random_machine(rng, rng.randint(1, 24), rng.randint(1, 5)) for _ in range(199))
    machines = [COLLATZ, *tables]
    for machine in few(machines, 3):
        network = network_of(machine)
        for _ in range(10):
            other = changed(rng, machine)
            verdict = judge(network, MachineLanguage(other), ALL)
            found[verdict.status] += 1
            if verdict.status is Status.PROVED:
                for word in tried_words(machine, other):
                    assert next_tokens(machine, word) == next_tokens(other, word), (machine, other, word)
            elif verdict.status is Status.REFUTED:
                witness = verdict.claims[0].witness
                assert witness is not None
                assert next_tokens(machine, witness) != next_tokens(other, witness)
                assert " is right" in verdict.claims[0].text
            else:  # a table may differ only where more is added than a word of the search takes away
                assert verdict.status is Status.UNKNOWN
    assert found[Status.UNKNOWN] * 100 <= sum(found.values())


def tried_words(machine: CounterMachine, other: CounterMachine) -> list[tuple[str, ...]]:
    tokens = machine.alphabet.symbols
    adding = {own.token for own in machine.inputs}
    return [
        *product(tokens),
        *islice(product(tokens, tokens), 400),
        *islice(product(adding, tokens, tokens), 400),
    ]


def test_no_weight_that_differs_is_proved(few: Few) -> None:
    rng, found = random.Random(8), Counter[Status]()
    machines = [parse_machine("input x n; sub n -> 2 else halt; add m 2 -> 1"), COLLATZ]
    networks = [network_of(machine) for machine in machines]
    for trial in few(range(2_000), 36):
        machine, network = machines[trial % 2], networks[trial % 2]
        _, mutant = rng.choice((random_network_mutant, gentle_mutant))(network, rng)
        if mutant is None:  # no file can hold it
            continue
        status = status_of(mutant, machine)
        found[status] += 1
        if status is Status.PROVED:
            for word in rng.sample(tried_words(machine, machine), 40):
                rows = zip(output_rows(mutant, word), MachineLanguage(machine).rows(word), strict=True)
                pairs = [pair for row in rows for pair in zip(*row, strict=True)]
                assert all(abs(own - int(bit)) < ball(Fraction(26, 100)) for own, bit in pairs)
    assert found[Status.REFUTED]
    assert found[Status.PROVED]


def test_another_machine_beside_right_weights_is_never_proved(tmp_path: Path) -> None:
    machine = parse_machine("input x n; take: sub n -> give else halt; give: add m 2 -> take")
    model = attemper.compile(machine, regime="decoder")
    model.save(tmp_path, certificate=model.certify())
    assert command("check", tmp_path).code == 0
    said = json.loads((tmp_path / "certificate.json").read_text())
    assert said["language"][0] == "machine language"
    edited = replace(machine, inputs=(replace(machine.inputs[0], amount=2),))
    said["language"] = json.loads(
        json.dumps(said["language"])
        .replace('["x", 0, 1]', '["x", 0, 2]')
        .replace('{"token": "x", "register": 0, "amount": 1}', '{"token": "x", "register": 0, "amount": 2}')
    )
    assert said["language"] != json.loads((tmp_path / "certificate.json").read_text())["language"]
    (tmp_path / "certificate.json").write_text(json.dumps(said))
    outcome = command("check", tmp_path)
    assert outcome.code == 6, outcome  # the network's own source is another machine's
    assert status_of(model.network, edited) is Status.REFUTED


def test_what_is_proved_is_printed_and_reads_back(tmp_path: Path) -> None:
    model = attemper.compile(COLLATZ, regime="decoder")
    model.save(tmp_path, certificate=model.certify())
    shown = " ".join(command("check", tmp_path).out.split())
    text = shown.partition("a counter machine: ")[2].partition(" digest")[0]
    assert parse_machine(text) == COLLATZ


@pytest.mark.parametrize("regime", ["decoder", "unbounded", "temperature"])
def test_every_regime_has_machines(regime: str) -> None:
    machine = parse_machine("input x n; sub n -> 2 else halt; add m 2 -> 1")
    model = attemper.compile(machine, regime=regime)  # type: ignore[arg-type]
    assert model.check(model.certify()).status is Status.PROVED
    assert list(model.generate({"n": 3})) == ["1-", "2+"] * 3 + ["10"]
