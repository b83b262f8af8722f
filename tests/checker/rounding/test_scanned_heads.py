"""What a scan loses of leads, against a scan whose every operation is off as much as it may be."""

from __future__ import annotations

import random
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attemper.certifying.horizons import Horizons
from attemper.checker.analysis import Analysis
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Arithmetic, BeyondError, Kernel, Lengths, greatest
from attemper.checker.rounding.network import Rounding, _Run
from attemper.checker.rounding.scan import ARGUMENT
from attemper.checker.rules import HeadFact
from attemper.exact.balls import precision
from attemper.exact.formats import BFLOAT16, FLOAT32, FORMATS
from attemper.languages.temporal.parse import parse
from attemper.networks.layers import Head, Network
from attemper.workbench.compiling import compile as compile_formula
from tests.support.judges.campaign import source_of
from tests.support.judges.rounding import losses_borne
from tests.support.judges.scanned import Inexact, Scan, Stream, averaged, embedded, scores
from tests.support.oracles import raw_forward, raw_truth
from tests.support.oracles.raw_files import read_folder
from tests.support.oracles.raw_forward import batch_of, covered_ways
from tests.support.slowly import every_nth

LENGTH = 24
"""In so short words a scan in float32 from a stream in bfloat16 can be seen to lose something."""

HEADS = [
    ("a S b", "unbounded"),
    ("a S b", "temperature"),
    ("a S b", "decoder"),
    ("a U b", "unbounded"),
    ("F (b & X a)", "temperature"),
    ("Y a", "unbounded"),
    ("Y a", "decoder"),
    ("X a", "unbounded"),
    ("O (even(pos) & a)", "decoder"),
    ("even(#<[a])", "unbounded"),
    ("even(#<[a])", "temperature"),
    ("even(#<[a])", "decoder"),
    ("#<[a] <= #<[b]", "unbounded"),
    ("#<[a] <= #<[b]", "decoder"),
    ("#<[a] = #>[b]", "unbounded"),
    ("#<[a] = #>[b]", "temperature"),
]


def narrow(analysis: Analysis) -> _Run:
    """All bounds with float32 in the place of float64, for a stream in bfloat16."""
    rounding = Rounding(analysis, BFLOAT16)
    rounding.wide = Arithmetic(analysis.names, FLOAT32)
    run = _Run(rounding, Kernel.SCAN, Lengths(rounding.arithmetic, LENGTH))
    with suppress(BeyondError):
        run.require()
    return run


def lost_of(fact: HeadFact, run: _Run, analysis: Analysis, layer: int, index: int) -> Fraction:
    """The largest part of a lead that the head's rules say is lost."""
    head = analysis.network.layers[layer].heads[index]
    computed = run.heads.head("head", head, fact.outputs, analysis.layers[layer].before, run.offs)
    whole = greatest(losses_borne(fact, computed)) + ARGUMENT * computed.lengths.u
    upper = whole.upper().fmpq()
    return Fraction(int(upper.p), int(upper.q))


def rounded(stream: Stream, bits: int) -> Stream:
    """Every number with so many bits, as it stands in the stream."""
    return [[Fraction(_to_bits(float(x), bits)) for x in row] for row in stream]


def _to_bits(number: float, bits: int) -> float:
    mantissa, exponent = np.frexp(number)
    return float(np.ldexp(np.round(np.ldexp(mantissa, bits)), exponent - bits))


def streams_of(network: Network, word: str) -> list[Stream]:
    """The exact streams before each layer up to the first that attends to something."""
    found = [embedded(network, word)]
    for layer in network.layers:
        if any(head.query for head in layer.heads):
            break
        found.append(averaged(layer, found[-1]))
    return found


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("formula", "regime"), every_nth(HEADS, 2))
def test_no_lead_loses_more_than_is_said(formula: str, regime: str) -> None:
    model = compile_formula(formula, "ab", at="last", regime=regime)  # type: ignore[arg-type]
    analysis = prove(model.network, model.language.definition, model.realisation)
    rng, lost, network = random.Random(f"{formula} {regime}"), [], model.network
    with precision(64):
        run = narrow(analysis)
        for word in [*("".join(rng.choices("ab", k=n)) for n in (2, 3, 9, 16, LENGTH, LENGTH)), "a" * LENGTH]:
            streams = streams_of(network, word)
            layer = len(streams) - 1
            for index, head in enumerate(network.layers[layer].heads):
                fact = analysis.layers[layer].heads[index]
                if not head.query:
                    continue
                allowed = lost_of(fact, run, analysis, layer, index)
                read = rounded(streams[-1], 8)
                lost.append(_most_lost(network, head, streams[-1], read, allowed, rng))
    assert lost
    assert max(lost) > 0


def _most_lost(
    network: Network, head: Head, exact: Stream, read: Stream, allowed: Fraction, rng: random.Random
) -> float:
    """The largest part of a lead that is lost, by no more than is allowed, as part of that."""
    most = 0.0
    draws = (lambda: rng.uniform(-1, 1)), (lambda: rng.choice((-1, 1))), (lambda: 1), (lambda: 0)
    for place in range(1, len(exact) + 1):
        true = scores(head, exact, place)
        if not true:
            continue
        best = max(true.values())
        for draw in draws:
            for moved in (False, True):
                scan = Scan(network, head, read, Inexact(2.0**-24, draw))
                found = scan.log_weights(place, moved)
                right = max(found[j] for j, score in true.items() if score == best)
                for j, score in true.items():
                    if score < best:
                        part = 1 - (right - found[j]) / np.longdouble(float(best - score))
                        assert part <= float(allowed), (place, j, part, float(allowed))
                        most = max(most, float(part / np.longdouble(float(allowed))))
    return most


# Whole networks ------------------------------------------------------------------------------------------

LONGEST = 96


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("formula", "regime"), every_nth(HEADS, 2))
def test_no_bit_is_wrong_up_to_the_horizon(formula: str, regime: str, tmp_path: Path) -> None:
    """Read from files, and computed by a forward pass that imports nothing of the library."""
    model = compile_formula(formula, "ab", at="last", regime=regime)  # type: ignore[arg-type]
    model.save(tmp_path)
    raw, rng = read_folder(tmp_path), random.Random(f"{formula} {regime}")
    horizons = Horizons(prove(model.network, model.language.definition, model.realisation))
    for form in FORMATS.values():
        longest = min(horizons.of(form, Kernel.SCAN).length, LONGEST)
        if not longest:
            continue
        words = [
            [rng.randrange(2) for _ in range(n)] for n in {1, min(2, longest), longest} for _ in range(3)
        ]
        words += [[k % 2 for k in range(longest)], [0] * longest, [1] * longest]
        words += [[0] * (longest - 1) + [1], [1] + [0] * (longest - 1)]
        words += [sorted(words[k]) for k in range(len(words))]
        batch = batch_of(words)
        expected = raw_truth.truth(source_of(parse(formula, model.alphabet)), "ab", batch)
        real = np.arange(longest)[None, :] < batch.lengths[:, None]
        for way in covered_ways("scan")[::3]:
            output = raw_forward.run(raw, batch, raw_forward.FORMATS[form.name], way)
            assert (np.abs(output - expected) <= 0.25)[real].all(), (form.name, longest, str(way))
