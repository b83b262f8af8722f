"""A stream whose scores have no powers of j errs by no more than a scan in float64 may: every coordinate."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from itertools import islice

import flint
import pytest

import attemper
from attemper.attention_program.ops import Compare, Count, Letter, Linear, Mask, Program
from attemper.checker.diagrams import TooLargeError
from attemper.checker.names import UnprovenError
from attemper.checker.program import Programs
from attemper.checker.rounding.arithmetic import UNKNOWN, Kernel
from attemper.checker.rounding.network import Rounding
from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision
from attemper.exact.formats import FLOAT64
from attemper.languages.words import Alphabet
from attemper.running.streaming.averages import Averages
from attemper.running.streaming.heads import limit_at
from attemper.running.streaming.steps import StreamingNetwork, steps_of
from attemper.running.streaming.stream import Stream
from tests.support.drawn.audited import subject
from tests.support.drawn.counter_machines import families, random_machine
from tests.support.judges.audit import Subject, allowed_of, followed
from tests.support.judges.derived import Reading
from tests.support.suites import Few


def rows_of(steps: StreamingNetwork, tokens: tuple[int, ...]) -> Iterator[list[float]]:
    """Every coordinate of the residual stream at each position; each is written once, so the last is all."""
    for i, token in enumerate(tokens, start=1):
        x = list(steps.rows[token])
        for (coordinate, _), function in zip(steps.positions, steps.moving, strict=True):
            x[coordinate] += function(i)
        for layer in steps.layers:
            layer.step(i, x, limit_at(i))
        yield x


def wrong(own: Subject, rng: random.Random, longest: int) -> Iterator[str]:
    """Each coordinate that a stream puts further off than is said of scans; and "" for each word."""
    analysis = followed(own)
    if analysis is None or len(analysis.layers) < len(own.network.layers):
        return
    symbols = own.network.alphabet.symbols
    for _ in range(3):
        tokens = tuple(rng.choices(range(len(symbols)), k=rng.randint(1, longest)))
        try:
            bounds = Rounding(analysis, FLOAT64).bounds_at(Kernel.SCAN, len(tokens))
        except (UnprovenError, TooLargeError):
            return
        if bounds.failure is not None:
            continue
        reading = Reading(analysis.names, tuple(symbols[token] for token in tokens))
        for i, x in enumerate(rows_of(steps_of(own.network), tokens), start=1):
            for c, (off, found) in enumerate(zip(bounds.offs, x, strict=True)):
                low, high = reading.ends(analysis.end.values[c], i)
                allowed = allowed_of(reading, analysis.end, c, off, i)
                own_value = flint.arb(found)
                if allowed < UNKNOWN and (
                    own_value < ball(low) - allowed or own_value > ball(high) + allowed
                ):
                    yield f"{own.name}: x{c} at {i} is {found!r}, not {low}..{high} up to {allowed}"
        yield ""


def machine_subject(rng: random.Random) -> Subject:
    machine = rng.choice([random_machine(rng, rng.randint(1, 8), rng.randint(1, 3)), *families()[:30]])
    network = attemper.compile(machine, regime="decoder").network
    return Subject(f"{machine.outputs[:3]}", network, Programs)


def counting_subject(rng: random.Random) -> Subject:
    """A weighted sum of counts of letters, compared with a number."""
    letters = [Letter(tuple(rng.sample("abc", rng.randint(1, 2)))) for _ in range(2)]
    counts = [Count(Mask.UP_TO, k) for k in range(2)]
    total = Linear(tuple((rng.choice((1, -1, 3, -7, 100)), 2 + k) for k in range(2)), rng.randint(-5, 5))
    program = Program(
        Alphabet(("a", "b", "c")), (*letters, *counts, total, Compare(4, rng.randint(-2, 3))), 5
    )
    model = attemper.compile(attemper.program(program), regime="decoder")
    return Subject("counts", model.network, Programs)


def subjects(rng: random.Random, number: int) -> Iterator[Subject]:
    kinds: tuple[Callable[[], Subject], ...] = (
        lambda: machine_subject(rng),
        lambda: counting_subject(rng),
        lambda: subject("compiled", str(rng.random()), 40),
        lambda: subject("mutant", str(rng.random()), 40),
    )
    for k in range(number):
        own = kinds[k % len(kinds)]()
        try:
            if Stream(own.network, "").is_scan and own.network.layers:
                yield own
        except UnsupportedError:
            continue


def found_in(some: list[Subject]) -> list[str]:
    rng = random.Random(2)
    with precision(256):
        return [text for own in some for text in wrong(own, rng, 12)]


def test_every_coordinate_is_within_what_is_said_of_scans(few: Few) -> None:
    count = len(list(few(range(2_000), 60)))
    found = found_in(list(subjects(random.Random(1), count)))
    assert not [text for text in found if text]
    assert len(found) >= count / 3


def test_a_sum_that_is_off_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    some = list(islice(subjects(random.Random(3), 24), 8))
    mean = Averages._mean
    monkeypatch.setattr(
        Averages, "_mean", lambda own, kinds: [value * (1 + 2.0**-40) for value in mean(own, kinds)]
    )
    assert any(found_in(some))


def test_which_streams_are_scans() -> None:
    majority = attemper.compile("#<['0'] <= #<['1']", regime="decoder").stream()
    assert majority.is_scan
    assert not attemper.compile("O a", "ab", regime="decoder").stream().is_scan
    assert not attemper.compile("#<['0'] <= #<['1']", regime="unbounded").stream().is_scan
