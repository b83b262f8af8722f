"""What is measured of a model on a source: against sums over all prefixes, and levels that are known."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from math import log, nan

import flint
import pytest
import torch
from torch import Tensor

from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.bracket_levels import type_excess
from attemper.languages.sources.entropies import PRECISION, entropy
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.pairs import least_loss
from attemper.languages.sources.values import Brackets, Parity, Source
from attemper.languages.words import Word
from attemper.training import measuring
from attemper.training.measuring import Logits, Measured, measured
from attemper.training.models import ParityRnn
from attemper.training.prefixes import symbols_of
from tests.support.drawn.training import ByWord
from tests.support.oracles.sources import after, law, prefixes

EVEN, ODD = Parity(Fraction(1, 2), odd=False), Parity(Fraction(1, 3), odd=True)
DYCK = Brackets(Fraction(2, 5))
CASES = [(EVEN, 1), (EVEN, 2), (EVEN, 6), (ODD, 1), (ODD, 5), (DYCK, 1), (DYCK, 2), (DYCK, 5), (DYCK, 6)]

Each = Callable[[Logits, Source, Word], Measured]


@pytest.fixture
def each(monkeypatch: pytest.MonkeyPatch) -> Each:
    """What is measured of one prefix and its partner."""

    def found(model: Logits, source: Source, word: Word) -> Measured:
        def given(source: Source, n: int, count: int, seed: int) -> tuple[Word, ...]:
            return (word,)

        monkeypatch.setattr(measuring, "sample", given)
        return measured(model, source, len(word), 1, seed=0)

    return found


def random_tables(source: Source, n: int, scale: float) -> ByWord:
    draw = random.Random(f"{source} {n} {scale}")
    size = len(symbols_of(source)) + 1
    return ByWord(
        source,
        {
            word: torch.tensor([draw.uniform(-scale, scale) for _ in range(size)], dtype=torch.float64)
            for word in prefixes(source, n)
        },
    )


def slack(scale: float) -> float:
    """How far float64 may put an excess below its floor, for logits of at most this size.

    With u = 2^-53 and M the size: subtracting the greatest of K <= 5 logits errs by 2Mu; its K exponentials
    are right to (2M + 2)u, relatively, their sum to Ku more, and the logarithm, of a number in [1, K], to u
    times at most ln 5 + 1 besides: each log-probability errs by less than (4M + 12)u. The excess is a mean of
    K of them, and of the exact law's K logarithms, with K further roundings of terms of at most 2M + 3: less
    than (16M + 64)u. The floor falls by at most 1/2 for each unit of eps, a difference of two log-odds with
    errors of less than (4M + 12)u each: less than (4M + 12)u. Together less than (32M + 128)u.
    """
    return (32 * scale + 128) * 2.0**-53


def loss_by_definition(model: ByWord, source: Source, n: int) -> flint.arb:
    """The cross-entropy given |w| >= n, in balls, over all prefixes."""
    outputs = (*symbols_of(source), "END")
    with precision(200):
        total = flint.arb(0)
        for word, share in law(source, n).items():
            logits = [flint.arb(one) for one in model.table[word].tolist()]
            norm = sum((one.exp() for one in logits), flint.arb(0)).log()
            for symbol, chance in after(source, word).items():
                total += ball(share * chance) * (norm - logits[outputs.index(symbol)])
        return total


@pytest.mark.sweep(13)
@pytest.mark.parametrize(("source", "n"), CASES, ids=str)
@pytest.mark.parametrize("scale", [0.5, 8.0, 600.0])
def test_pairs_have_the_mean_of_all_prefixes_and_keep_their_floors(
    source: Source, n: int, scale: float, each: Each
) -> None:
    model, mean = random_tables(source, n, scale), Fraction(0)
    for word, share in law(source, n).items():
        found = each(model, source, word)
        assert found.excess >= found.floor - slack(scale)
        assert found.change == found.largest
        mean += share * Fraction(found.excess)
    with precision(PRECISION):
        expected = loss_by_definition(model, source, n) - optimum(source)
    assert abs(float(mean) - float(expected.mid())) <= slack(scale)


@pytest.mark.parametrize(("source", "n"), CASES, ids=str)
def test_a_model_that_is_exact_has_no_excess(source: Source, n: int, each: Each) -> None:
    outputs = (*symbols_of(source), "END")
    table = {
        word: torch.tensor(
            [
                log(after(source, word)[symbol]) if symbol in after(source, word) else -900.0
                for symbol in outputs
            ],
            dtype=torch.float64,
        )
        for word in prefixes(source, n)
    }
    for word in table:
        found = each(ByWord(source, table), source, word)
        assert abs(found.excess) <= slack(900)
        assert 0 <= found.floor <= slack(900)


@pytest.mark.parametrize("size", [0.0, 1e6, 1e300])
@pytest.mark.parametrize("source", [EVEN, ODD, DYCK], ids=str)
def test_equal_and_huge_logits_keep_the_floor(source: Source, size: float, each: Each) -> None:
    draw = random.Random(int(size))
    for word in prefixes(source, 4):
        table: dict[Word, Tensor] = {
            other: torch.tensor(
                [draw.choice((-size, size)) for _ in (*symbols_of(source), "END")], dtype=torch.float64
            )
            for other in prefixes(source, 4)
        }
        found = each(ByWord(source, table), source, word)
        assert found.excess >= found.floor - slack(size)


def by_last_symbol(source: Parity, n: int) -> ByWord:
    """The best table on x_n, for n >= 2."""
    a = source.accepting_share
    accepting = {"0": a, "1": 1 - a}
    table = {}
    for word in prefixes(source, n):
        end = accepting[word[-1]] * source.p
        shares = ((1 - end) / 2, (1 - end) / 2, end)
        table[word] = torch.tensor([log(share) for share in shares], dtype=torch.float64)
    return ByWord(source, table)


@pytest.mark.parametrize("source", [EVEN, ODD], ids=str)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_table_on_the_last_symbol_is_at_its_level_and_on_its_floor(
    source: Parity, n: int, each: Each
) -> None:
    model, mean = by_last_symbol(source, n), Fraction(0)
    for word, share in law(source, n).items():
        found = each(model, source, word)
        alpha = source.accepting_share if word[-1] == "0" else 1 - source.accepting_share
        with precision(PRECISION):
            least = least_loss(source.p, alpha, Fraction(0)) - ball(alpha) * entropy(source.p)
        assert found.change == 0
        assert abs(found.floor - float(least.mid())) <= slack(8)
        assert abs(found.excess - found.floor) <= slack(8)
        mean += share * Fraction(found.excess)
    with precision(PRECISION):
        level = last_symbols(source, 1) - optimum(source)
    assert abs(float(mean) - float(level.mid())) <= slack(8)


@pytest.mark.parametrize("n", [1, 4, 5])
def test_brackets_that_are_not_told_apart_cost_the_level_of_the_type(n: int, each: Each) -> None:
    """A table on the state, but for the type of the bracket that is to be closed."""
    p, q = float(DYCK.p), float(DYCK.q)
    table = {}
    for word in prefixes(DYCK, n):
        forced = [q / 2, q / 2, 0.0] if "END" not in after(DYCK, word) else [0.0, 0.0, q]
        shares = torch.tensor([p / 2, forced[0], p / 2, forced[1], forced[2]], dtype=torch.float64)
        table[word] = torch.where(shares > 0, shares.log(), -900.0)
    mean = floor = Fraction(0)
    for word, share in law(DYCK, n).items():
        found = each(ByWord(DYCK, table), DYCK, word)
        mean += share * Fraction(found.excess)
        floor += share * Fraction(found.floor)
    level = float(type_excess(DYCK, n).mid()) + _last_is_open(n) * q * log(2)
    assert abs(float(mean) - level) <= slack(900)
    assert abs(float(floor) - level) <= slack(900)


def _last_is_open(n: int) -> float:
    """P(x_n opens, given |w| >= n): there x_n itself is exchanged, and P_0 counts those that close."""
    return float(sum(share for word, share in law(DYCK, n).items() if word[-1] in "(["))


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_the_rnn_built_by_hand_has_no_excess(*, odd: bool, p: Fraction) -> None:
    rnn, source = ParityRnn(float(p), odd=odd), Parity(p, odd=odd)
    for n in (1, 2, 3, 65):
        found = measured(lambda tokens: rnn(tokens)[:, -1], source, n, 16, seed=n)
        assert abs(found.excess) <= 1e-15
        assert found.floor <= found.excess + 1e-15
        assert abs(found.loss - float(optimum(source).mid())) <= 1e-15


def test_it_is_computed_in_float64_whatever_the_model_says() -> None:
    source = EVEN
    found = measured(lambda tokens: torch.zeros(len(tokens), 3), source, 4, 64, seed=0)
    exact = measured(lambda tokens: torch.zeros(len(tokens), 3, dtype=torch.float64), source, 4, 64, seed=0)
    assert found == exact
    assert found.standard_error > 0


def test_long_and_many_prefixes_are_run_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def model(tokens: Tensor) -> Tensor:
        sizes.append(tokens.shape)
        return tokens[:, -3:].double()

    whole = measured(model, EVEN, 9, 6, seed=0)
    assert sizes == [(6, 10), (6, 10)]
    sizes.clear()
    monkeypatch.setattr(measuring, "AT_ONCE", 25)
    assert measured(model, EVEN, 9, 6, seed=0) == whole
    assert sizes == [(2, 10)] * 6
    monkeypatch.setattr(measuring, "AT_ONCE", 1)
    assert measured(model, EVEN, 9, 6, seed=0) == whole


@pytest.mark.parametrize("bad", [nan, float("inf")])
def test_what_is_no_number_is_not_measured(bad: float) -> None:
    with pytest.raises(UnsupportedError, match="not a finite number"):
        measured(lambda tokens: torch.full((len(tokens), 3), bad), EVEN, 3, 2, seed=0)
