"""Equal counts: what is compiled is what is meant, in both regimes, proved and run."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
import torch

from attemper.attention_program import meaning
from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import (
    PROGRAM,
    Choice,
    Compare,
    Count,
    Letter,
    Mask,
    Matched,
    Nearest,
    Place,
    Program,
    Step,
)
from attemper.attention_program.parse import parse_program
from attemper.attention_program.show import show_program
from attemper.attention_program.wellformed import complaints
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.errors import SourceError, UnsupportedError
from attemper.exact.closed_forms import ONE
from attemper.exact.codec import CodecError
from attemper.exact.formats import FLOAT32, FLOAT64
from attemper.languages.words import Word, words_of_length
from attemper.networks.layers import IntegerSign, NearestInteger
from attemper.networks.regime import Regime
from attemper.running.dense import DenseTransformer
from tests.support.drawn.matching import (
    kth_b,
    matched_by_definition,
    one_matched,
    place_of_kth_b,
)
from tests.support.drawn.nearest import AB, compiled, language_of, one_nearest

REGIMES = (Regime.UNBOUNDED, Regime.TEMPERATURE)


def soft_bits(found: Compiled, words: list[Word]) -> list[tuple[bool, ...]]:
    """The softmax network's outputs in float64, which are within 1/4 of bits."""
    rows = DenseTransformer(found.soft)(torch.tensor([[AB.symbols.index(s) for s in w] for w in words]))
    bits = rows > 0.5
    assert float((rows - bits.double()).abs().max()) <= 0.25
    return [tuple(map(bool, row)) for row in bits]


def right_of_kth_b(word: Word, default: bool) -> tuple[bool, ...]:
    place = place_of_kth_b(word)
    return (default if place is None else place % 2 == 0,) * len(word)


@pytest.mark.parametrize("default", [False, True])
@pytest.mark.parametrize("regime", REGIMES)
def test_the_kth_b(regime: Regime, default: bool) -> None:
    """K = number of a's, 0 and more than there are b's included."""
    program = kth_b(default=default)
    found = compiled(program, regime)
    assert len(found.soft.layers) == 4
    for n in range(1, 8):
        words = list(words_of_length(AB, n))
        expected = [right_of_kth_b(word, default) for word in words]
        assert soft_bits(found, words) == expected
        if n < 6:
            assert [meaning.output(program, word) for word in words] == expected


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
def test_the_kth_b_of_many_words(regime: Regime) -> None:
    found = compiled(kth_b(), regime)
    for n in range(1, 12):
        words = list(words_of_length(AB, n))
        assert soft_bits(found, words) == [right_of_kth_b(word, default=False) for word in words]
    rng = random.Random(6)
    for n in (50, 101, 256, 400):
        words = []
        for share in (0.1, 0.3, 0.45, 0.5, 0.55, 0.9):
            words += [tuple(rng.choices(AB.symbols, (share, 1 - share), k=n)) for _ in range(4)]
        words += [tuple("a" * k + "b" * (n - k)) for k in (1, n // 2 - 1, n // 2, n // 2 + 1, n - 1)]
        words += [tuple("b" * (n - k) + "a" * k) for k in (1, n // 2 - 1, n // 2, n // 2 + 1, n - 1)]
        assert soft_bits(found, words) == [right_of_kth_b(word, default=False) for word in words]


CASES = {
    "nothing equal": (Mask.ALL, Choice.RIGHTMOST, ((1, -1), 2), ((-1, 1), -1), ("a", "b"), Mask.UP_TO),
    "equal where not": (Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0), ("a",), Mask.UP_TO),
    "never where": (Mask.UP_TO, Choice.RIGHTMOST, ((1, -1), 1), ((1, -1), 0), (), Mask.UP_TO),
    "on both sides": (Mask.ALL, Choice.RIGHTMOST, ((0, 0), 3), ((1, -1), 3), ("b",), Mask.UP_TO),
    "from the right": (Mask.FROM, Choice.LEFTMOST, ((1, 0), -1), ((0, 1), 1), None, Mask.FROM),
    "less than 1": (Mask.UP_TO, Choice.LEFTMOST, ((-1, -1), 0), ((-1, 0), 0), ("a", "b"), Mask.UP_TO),
    "more than n": (Mask.ALL, Choice.RIGHTMOST, ((1, 1), 2), ((1, 0), 2), ("b",), Mask.ALL),
}
"""Odd places of counts: mask, choice, query, key, where, side."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("case", CASES)
def test_matches_are_those_of_the_definition(case: str, regime: Regime) -> None:
    program = one_matched(*CASES[case])
    found = compiled(program, regime)
    for n in range(1, 7):
        words = list(words_of_length(AB, n))
        expected = [matched_by_definition(*CASES[case], word) for word in words]
        assert soft_bits(found, words) == expected
        if n < 5:
            assert [meaning.output(program, word) for word in words] == expected


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("mask", [Mask.UP_TO, Mask.FROM, Mask.ALL])
def test_matches_of_all_weights(mask: Mask, regime: Regime) -> None:
    """Every weight of -1, 0 and 1, queries + c for c of -2 to 2, all words to length 7."""
    rng = random.Random(7)
    steps = (-1, 0, 1)
    for choice in Choice:
        for constant in range(-2, 3):
            for _ in range(6):
                query, key = ((rng.choice(steps), rng.choice(steps)) for _ in range(2))
                where = rng.choice([("a",), ("b",), ("a", "b"), None])
                side = rng.choice([Mask.UP_TO, Mask.FROM, Mask.ALL])
                case = (mask, choice, (query, constant), (key, 0), where, side)
                found = compiled(one_matched(*case), regime)
                for n in range(1, 8):
                    words = list(words_of_length(AB, n))
                    assert soft_bits(found, words) == [matched_by_definition(*case, word) for word in words]


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("side", [Mask.UP_TO, Mask.FROM, Mask.ALL])
def test_positions_are_compared_without_a_lookup(side: Mask, regime: Regime) -> None:
    """Whether the position that is the number of all positions on a side is seen."""
    build = Builder()
    one = build.add(Place(ONE))
    query, key = build.add(Count(side, one)), build.add(Count(Mask.UP_TO, one))
    build.add(Matched(Mask.UP_TO, Choice.RIGHTMOST, one, query, key))
    program = Program(AB, tuple(build.steps), len(build.steps) - 1)
    found = compiled(program, regime)
    assert len(found.soft.layers) == 2
    for n in range(1, 8):
        place = {Mask.UP_TO: lambda i: i, Mask.FROM: lambda i, n=n: n - i + 1, Mask.ALL: lambda i, n=n: n}[
            side
        ]
        assert soft_bits(found, [("a",) * n]) == [tuple(place(i) <= i for i in range(1, n + 1))]


def test_what_is_nearest_and_whether_it_is_equal_share_a_head() -> None:
    found = compiled(kth_b(), Regime.TEMPERATURE)
    heads = [head for layer in found.soft.layers for head in layer.heads]
    (nearest,) = [head for head in heads if isinstance(head.construction, NearestInteger)]
    assert len(nearest.values) == 3
    assert len([head for head in heads if isinstance(head.construction, IntegerSign)]) == 2


def test_other_ranges_places_and_counts_are_other_programs() -> None:
    """A network is not taken for one that asks of the integers something else."""
    program = kth_b()
    found = compiled(program, Regime.TEMPERATURE)
    tried = 0
    for ref, step in enumerate(program.steps):
        match step:
            case Compare(count, threshold) if isinstance(program.steps[count], Count):
                other: Step = replace(step, threshold=threshold + 1)
            case Matched() | Nearest():
                other = replace(step, where=1)
            case _:
                continue
        changed = replace(program, steps=(*program.steps[:ref], other, *program.steps[ref + 1 :]))
        with pytest.raises(UnprovenError):
            prove(found.soft, language_of(changed))
        tried += 1
    assert tried == 5


@pytest.mark.parametrize("regime", REGIMES)
def test_horizons_of_the_kth_b(regime: Regime) -> None:
    program = kth_b()
    found = compile_language(language_of(program), AB, regime)
    analysis = prove(found.soft, language_of(program), found.realisation)
    for form, length in ((FLOAT64, 20_000), (FLOAT32, 28)):
        assert failure_at(analysis, form, Kernel.NUMERATOR_FIRST, length) is None
        assert failure_at(analysis, form, Kernel.NUMERATOR_FIRST, 4 * length) is not None


# The step ----------------------------------------------------------------------------------------


def test_the_decoder_regime_says_why_not() -> None:
    program = one_matched(*CASES["equal where not"])
    with pytest.raises(
        UnsupportedError, match=r"decoder regime cannot compute 'matched all .* regime='temperature'"
    ):
        compile_language(language_of(program), AB, Regime.DECODER)


def test_programs_are_read_back() -> None:
    for program in (kth_b(), one_matched(*CASES["from the right"])):
        assert parse_program(show_program(program)) == program
        assert PROGRAM.read(PROGRAM.encode(program)) == program


def test_other_entries_are_no_match() -> None:
    tree = PROGRAM.encode(one_matched(*CASES["from the right"]))
    *before, last = tree["steps"]
    place = f"^steps\\[{len(before)}\\]"
    assert last[0] == "matched"
    for ill, said in (
        ([*last, 0], f'{place}: after "matched" stands mask, choice, where, query, key, not'),
        (last[:-1], f'{place}: after "matched" stands mask, choice, where, query, key, not'),
        (["matched", "<<", *last[2:]], f"{place}.mask: expected one of .*, not '<<'"),
        ([*last[:-1], "0"], f"{place}.key: expected an integer from 0, not '0'"),
    ):
        with pytest.raises(CodecError, match=said):
            PROGRAM.read({**tree, "steps": [*before, ill]})
    found = complaints(PROGRAM.read({**tree, "steps": [*before, [*last[:-1], 0]]}))
    assert list(map(str, found)) == [f"s{len(before)}: s0 is a bit, a count is meant"]
    text = show_program(one_matched(*CASES["from the right"]))
    with pytest.raises(SourceError, match="not a step"):
        parse_program(text.replace(" key ", " keys "))


@pytest.mark.parametrize("mask", [Mask.BEFORE, Mask.AFTER])
def test_strict_masks_are_no_masks_of_a_match(mask: Mask) -> None:
    program = one_matched(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0))
    *before, last = program.steps
    assert isinstance(last, Matched)
    found = complaints(replace(program, steps=(*before, replace(last, mask=mask))))
    assert [str(complaint) for complaint in found] == [
        f"s{len(before)}: the nearest count is looked for where i itself is seen, not under '{mask}'"
    ]


def test_bits_and_counts_are_told_apart() -> None:
    program = one_matched(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0))
    *before, last = program.steps
    assert isinstance(last, Matched)
    for ill in ({"query": 0}, {"key": 1}, {"where": 2}):
        assert len(complaints(replace(program, steps=(*before, replace(last, **ill))))) == 1


def test_a_match_is_no_part_of_what_is_nearest() -> None:
    """Steps are told apart by all that they say: another mask, choice, place or count is another bit."""
    nearest = one_nearest(Mask.ALL, Choice.LEFTMOST, ((1, 0), 0), ((0, 1), 0), ("b",))
    step = nearest.steps[-1]
    assert isinstance(step, Nearest)
    build = Builder()
    refs = [build.add(own) for own in nearest.steps]
    matched = build.add(Matched(step.mask, step.choice, step.where, step.query, step.key))
    assert matched not in refs
    assert build.add(Matched(step.mask, step.choice, step.where, step.query, step.key)) == matched
    assert build.add(Letter(("a",))) in refs
