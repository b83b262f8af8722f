"""Horizons against real runs: no bit is wrong up to a horizon, and failures are not far beyond it.

A `FloatClaim` speaks of all words and of all kernels of a class. Here it meets words that break
constructions, the library's own two ways to attend, and kernels made to be unkind: sums in other
orders, exp as far off as the rules allow.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.errors import UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.languages.named.entry import FormulaText
from attemper.languages.temporal.show import show
from attemper.languages.words import Word
from attemper.networks.layers import Masking
from attemper.running.engines import fused
from attemper.running.hooks import HookPoint
from attemper.running.numbers import read_bit
from attemper.running.places import Places
from attemper.running.truth import truth_of_words
from attemper.workbench.demo import SHOWN
from attemper.workbench.model import Model
from attemper.workbench.options import DType
from tests.support.drawn.samples import FormulaSampler, adversarial_words
from tests.support.suites import Few

REGIMES = ("unbounded", "temperature", "decoder")
KERNELS = ("numerator-first", "normalise-first")
NARROW: tuple[DType, ...] = ("float32", "bfloat16")
ORDERS = ("left", "right", "heavy first", "light first", "shuffled")

FORMULAS: tuple[tuple[str, str, str | None], ...] = (
    *((one.text, " ".join(entry.alphabet), None) for entry, one in SHOWN if isinstance(one, FormulaText)),
    ("a S b", "abc", None),
    ("Y a", "ab", None),
    ("X a", "ab", "first"),
    ("O (a & Y b)", "ab", None),
    ("#<[a] <= #>[b]", "ab", "last"),
    ("prime(#<[a])", "ab", None),
    ("even(#<[a])", "ab", None),
    ("3*#<[a] - 2*#<[b] >= 0", "ab", None),
)
TIMELESS = ("a S b", "Y a", "X a", "O (a & Y b)", "#<['0'] <= #<['1']", "3*#<[a] - 2*#<[b] >= 0")
"""Shifts, selections and sign heads: nothing in them grows faster than n."""

Numbers = NDArray[np.floating]
Sdpa = Callable[..., Tensor]


# Models and claims -----------------------------------------------------------------------------------


def _models() -> Iterator[tuple[str, str, str, str | None]]:
    for formula, alphabet, at in FORMULAS:
        for regime in REGIMES:
            try:
                attemper.compile(formula, alphabet, at=at, regime=regime)
            except UnsupportedError:
                continue
            yield formula, regime, alphabet, at


MODELS = tuple(_models())


@cache
def model_of(formula: str, regime: str) -> Model:
    alphabet, at = next((a, p) for f, r, a, p in MODELS if (f, r) == (formula, regime))
    return attemper.compile(formula, alphabet, at=at, regime=regime)


@cache
def horizons(formula: str, regime: str) -> dict[tuple[str, str], int]:
    """The horizon of each (format, kernel)."""
    return horizons_of(model_of(formula, regime))


def horizons_of(model: Model) -> dict[tuple[str, str], int]:
    claims = model.certify().claims
    return {(c.format, c.kernel): c.horizon for c in claims if isinstance(c, FloatClaim)}


each_model = pytest.mark.parametrize(("formula", "regime"), [model[:2] for model in MODELS])


# Words -----------------------------------------------------------------------------------------------


def hard_words(symbols: tuple[str, ...], length: int) -> list[Word]:
    """Runs of one symbol, boundary counts, short periods, single exceptions, for every pair of symbols."""
    rng = random.Random(length)
    found: list[Word] = []
    pairs = [(a, b) for a in symbols for b in symbols if a != b]
    if len(symbols) == 2:
        pairs = pairs[:1]
    for a, b in rng.sample(pairs, min(6, len(pairs))):
        found += adversarial_words(rng, (a, b), length)
        for k in {0, 1, 2, length // 3, 2 * length // 5, length // 2, 3 * length // 5, length - 1}:
            for number in {max(k - 1, 0), min(k, length), min(k + 1, length)}:
                found.append((a,) * number + (b,) * (length - number))
                found.append((b,) * number + (a,) * (length - number))
        for period in ((a, b), (b, a), (a, a, b), (a, b, b), (a, a, b, b), (a, a, a, b, b), (b, b, a, a, a)):
            found.append((period * length)[:length])
        for place in {0, 1, length // 2, length - 3, length - 2, length - 1} & set(range(length)):
            found += [single(a, b, length, place), single(b, a, length, place)]
        for c in symbols[-1:]:
            if c not in (a, b) and length > 2:
                found += [
                    (a, *(c,) * (length - 2), b),
                    (a, b, *(c,) * (length - 2)),
                    (*(c,) * (length - 2), a, b),
                ]
    return list(dict.fromkeys(found))


def single(a: str, b: str, length: int, place: int) -> Word:
    """One b, at `place`, among a's."""
    return (*(a,) * place, b, *(a,) * (length - place - 1))


def few_words(symbols: tuple[str, ...], length: int, number: int) -> list[Word]:
    """The most uniform of the hard words and a sample of the others."""
    words = hard_words(symbols, length)
    plain = [word for word in words if len(set(word)) == 1][:2]
    return plain + random.Random(length).sample(words, min(number, len(words)))


def require_right(model: Model, words: list[Word], dtype: DType) -> None:
    """Every bit at every position is right, and every clamp keeps its margin."""
    truths = truth_of_words(model.language.definition.formula, words).tolist()
    for run, truth in zip(model.run(words, dtype=dtype, engine="fused"), truths, strict=True):
        wrong = [i for i, (bit, true) in enumerate(zip(run.bits, truth, strict=True), 1) if bit is not true]
        text = f"{model.title} ({model.regime}, {dtype}) at {len(run.word)}: {' '.join(run.word[:40])}"
        assert not wrong, f"{text}: wrong at {wrong[:5]}, margin {run.margin}"
        assert run.margin >= 0, f"{text}: margin {run.margin}"


# Kernels ---------------------------------------------------------------------------------------------


@contextmanager
def by_scores(model: Model, dtype: DType) -> Iterator[None]:
    """The library's own normalise-first way: watching a pattern makes it."""
    handles = [
        module.register_forward_hook(lambda *_: None)
        for name, module in model.dense(dtype=dtype, engine="fused").named_modules()
        if isinstance(module, HookPoint) and name.endswith("hook_pattern")
    ]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def own_kernel(model: Model, dtype: DType, kernel: str) -> Iterator[None]:
    """The library's own kernel of a class."""
    if kernel == "numerator-first":
        yield
    else:
        with by_scores(model, dtype):
            yield


class UnkindKernel:
    """Attention that adds in a chosen order, one by one, with exp wrong by most of what is allowed."""

    def __init__(self, kernel: str, order: str) -> None:
        self.normalises = kernel == "normalise-first"
        self.order = order
        self.rng = np.random.default_rng(0)

    def attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        scale: float = 1.0,
    ) -> Tensor:
        """In place of torch's fused attention."""
        assert attn_mask is None
        assert scale == 1.0
        dtype = query.dtype
        wide = torch.promote_types(dtype, torch.float32)
        scores = (query.to(wide) @ key.to(wide).transpose(-1, -2)).to(dtype).to(wide).numpy()
        if is_causal:
            scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf).astype(scores.dtype)
        arguments = scores - scores.max(axis=-1, keepdims=True)
        sign = self.rng.choice([-1.0, 1.0], size=arguments.shape)
        off = 1 + 3 * float(FORMATS[str(dtype).removeprefix("torch.")].roundoff) * sign
        weights = np.where(arguments == 0, 1.0, np.exp(arguments.astype(np.float64)) * off)
        narrow = torch.from_numpy(weights).to(dtype).to(wide).numpy()
        return self._averages(narrow, value.to(wide).numpy(), dtype)

    def means(self, v: Tensor, masking: Masking, places: Places) -> Tensor:
        """In place of running means: [batch, position, head, d_head]."""
        assert not places.is_ragged
        wide = torch.promote_types(v.dtype, torch.float32)
        values = v.transpose(1, 2).to(wide).numpy()
        n = v.shape[1]
        seen = {Masking.FUTURE: np.tri(n), Masking.PAST: np.tri(n).T, Masking.NONE: np.ones((n, n))}[masking]
        weights = np.broadcast_to(seen.astype(values.dtype), (*values.shape[:2], n, n))
        return self._averages(weights, values, v.dtype).transpose(1, 2)

    def _averages(self, weights: Numbers, values: Numbers, dtype: torch.dtype) -> Tensor:
        order = self._order_of(weights)
        weights = np.take_along_axis(weights, order, axis=-1)
        total = one_by_one(weights)
        if self.normalises:
            weights = rounded(weights / rounded(total, dtype)[..., None], dtype)
        found = np.empty((*weights.shape[:-1], values.shape[-1]), values.dtype)
        for m in range(values.shape[-1]):
            spread = np.broadcast_to(values[..., None, :, m], weights.shape)
            numerators = one_by_one(weights * np.take_along_axis(spread, order, axis=-1))
            found[..., m] = numerators if self.normalises else numerators / total
        return torch.from_numpy(found).to(dtype)

    def _order_of(self, weights: Numbers) -> NDArray[np.intp]:
        places = np.arange(weights.shape[-1])
        match self.order:
            case "heavy first":
                return np.argsort(-weights, axis=-1, kind="stable")
            case "light first":
                return np.argsort(weights, axis=-1, kind="stable")
            case "right":
                places = places[::-1]
            case "shuffled":
                places = self.rng.permutation(places)
        return np.broadcast_to(places, weights.shape)


def one_by_one(numbers: Numbers) -> Numbers:
    """Sums along the last axis, each addition rounded."""
    sums: Numbers = np.add.accumulate(numbers, axis=-1, dtype=numbers.dtype)[..., -1]
    return sums


def rounded(numbers: Numbers, dtype: torch.dtype) -> Numbers:
    """Rounded to the format, in the type that they had."""
    wide = torch.from_numpy(np.ascontiguousarray(numbers))
    result: Numbers = wide.to(dtype).to(wide.dtype).numpy()
    return result


class FewRows:
    """Fused attention for long words: the last layer at a few positions only, the others near by.

    Heads below the last layer see `WINDOW` positions back. In shifts the weights farther away are 0 in
    every format, so what they give is what they would give.
    """

    WINDOW = 512
    STEP = 1024

    def __init__(self, rows: list[range], fused: Sdpa) -> None:
        self.rows = rows
        self.fused = fused
        self.is_last = False

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, is_causal: bool = False, **_: object
    ) -> Tensor:
        """In place of torch's fused attention."""
        width = query.shape[2]
        assert is_causal
        found = torch.zeros_like(value)
        blocks = self.rows if self.is_last else [range(k, k + self.STEP) for k in range(0, width, self.STEP)]
        for block in blocks:
            first = 0 if self.is_last else max(0, block.start - self.WINDOW)
            end = min(block.stop, width)
            hidden = torch.arange(first, end)[None, :] > torch.arange(block.start, end)[:, None]
            mask = torch.zeros(hidden.shape, dtype=query.dtype).masked_fill_(hidden, float("-inf"))
            found[:, :, block.start : end] = self.fused(
                query[:, :, block.start : end],
                key[:, :, first:end],
                value[:, :, first:end],
                attn_mask=mask,
                scale=1.0,
            )
        return found


def wrong_in_rows(model: Model, word: Word, dtype: DType, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The wrong positions among the first, middle and last ones of a long word."""
    n = len(word)
    rows = [range(min(24, n)), range(n // 2 - 12, n // 2 + 12), range(n - 24, n)]
    few = FewRows(rows, torch.nn.functional.scaled_dot_product_attention)
    dense = model.dense(dtype=dtype, engine="fused")

    def come_to(block: torch.nn.Module, _: object) -> None:
        few.is_last = block is dense.blocks[-1]

    handles = [block.register_forward_pre_hook(come_to) for block in dense.blocks]
    numbers = {symbol: number for number, symbol in enumerate(model.alphabet.symbols)}
    try:
        with monkeypatch.context() as patch, torch.no_grad():
            patch.setattr(torch.nn.functional, "scaled_dot_product_attention", few.attend)
            values = dense(torch.tensor([[numbers[symbol] for symbol in word]]))[0].tolist()
    finally:
        for handle in handles:
            handle.remove()
    (truth,) = truth_of_words(model.language.definition.formula, [word]).tolist()
    return [i + 1 for row in rows for i in row if read_bit(values[i]) is not truth[i]]


# Soundness: small lengths, every kernel ---------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kernel", KERNELS)
@each_model
def test_no_bit_is_wrong_at_small_lengths(formula: str, regime: str, kernel: str) -> None:
    model = model_of(formula, regime)
    for dtype in NARROW:
        horizon = horizons(formula, regime)[dtype, kernel]
        lengths = {1, 2, 3, 5, 8, 16, 31, 33} | {horizon - 1, horizon} & set(range(128))
        for length in sorted(n for n in lengths if 1 <= n <= horizon):
            words = hard_words(model.alphabet.symbols, length)
            with own_kernel(model, dtype, kernel):
                require_right(model, words if length < 16 else words[::3], dtype)


@pytest.mark.sweep(5)
@pytest.mark.parametrize("kernel", KERNELS)
@each_model
def test_no_unkind_kernel_is_wrong_at_small_lengths(
    formula: str, regime: str, kernel: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_of(formula, regime)
    for dtype in NARROW:
        horizon = horizons(formula, regime)[dtype, kernel]
        for length in {2, min(9, horizon), min(horizon, 48)}:
            if not 1 <= length <= horizon:
                continue
            words = few_words(model.alphabet.symbols, length, 6)
            for order in ORDERS:
                unkind = UnkindKernel(kernel, order)
                with monkeypatch.context() as patch:
                    patch.setattr(torch.nn.functional, "scaled_dot_product_attention", unkind.attend)
                    patch.setattr(fused, "_running_means", unkind.means)
                    require_right(model, words, dtype)


@pytest.mark.sweep(0)
def test_random_formulas_keep_to_their_horizons() -> None:
    rng = random.Random(11)
    for _ in range(12):
        require_kept_by_a_random_formula(rng)


@pytest.mark.sweep(0)
def test_random_formulas_have_horizons(few: Few) -> None:
    """Selections that block nothing, or everything, have a rule for rounding too."""
    rng = random.Random(13)
    horizons = [best_float64_horizon(rng) for _ in few(range(25), 5)]
    assert sum(horizon < 1000 for horizon in horizons) <= 3


def best_float64_horizon(rng: random.Random) -> int:
    regime = rng.choice(REGIMES)
    formula = FormulaSampler(rng, ("a", "b"), past_only=regime == "decoder").formula(4)
    model = attemper.compile(show(formula), "ab", at="last", regime=regime)
    return max(horizon for (dtype, _), horizon in horizons_of(model).items() if dtype == "float64")


@pytest.mark.slow
def test_many_random_formulas_keep_to_their_horizons() -> None:
    rng = random.Random(12)
    for _ in range(200):
        require_kept_by_a_random_formula(rng)


def require_kept_by_a_random_formula(rng: random.Random) -> None:
    regime = rng.choice(REGIMES)
    sampler = FormulaSampler(rng, ("a", "b"), past_only=regime == "decoder")
    model = attemper.compile(show(sampler.formula(2)), "ab", at="last", regime=regime)
    for (dtype, kernel), horizon in horizons_of(model).items():
        if kernel not in KERNELS:
            continue
        for length in {1, 2, 7, min(horizon, 40), min(horizon, 200)}:
            if dtype in NARROW and 1 <= length <= horizon:
                with own_kernel(model, dtype, kernel):
                    require_right(model, few_words(("a", "b"), length, 8), dtype)


# Soundness: at the horizon ----------------------------------------------------------------------------


@pytest.mark.sweep(3)
@pytest.mark.parametrize("kernel", KERNELS)
@each_model
def test_no_bit_is_wrong_at_the_horizon_itself(formula: str, regime: str, kernel: str) -> None:
    """Lookups, local sign heads, bfloat16 and sums of quotients: horizons that a run reaches at once."""
    model = model_of(formula, regime)
    for dtype in NARROW:
        horizon = horizons(formula, regime)[dtype, kernel]
        if 33 < horizon <= 1100:
            with own_kernel(model, dtype, kernel):
                require_right(model, few_words(model.alphabet.symbols, horizon, 4), dtype)


@pytest.mark.parametrize(("formula", "regime"), [("even(#<[a])", "decoder"), ("#<[a] <= #>[b]", "unbounded")])
def test_ragged_batches_keep_to_the_horizon(formula: str, regime: str) -> None:
    """Padding changes the kernel that torch takes, not what a claim says."""
    model = model_of(formula, regime)
    longest = horizons(formula, regime)["float32", "numerator-first"]
    words = [word for n in (longest, 1, 17, longest // 2) for word in few_words(("a", "b"), n, 1)]
    for run in model.run(words, dtype="float32", engine="fused"):
        (truth,) = truth_of_words(model.language.definition.formula, [run.word]).tolist()
        assert list(run.bits) == truth
        assert run.margin >= 0


@pytest.mark.sweep(0)
@pytest.mark.parametrize("order", ["left", "heavy first"])
@pytest.mark.parametrize("formula", ["even(#<[a])", "#<[a] <= #>[b]"])
def test_no_unkind_kernel_is_wrong_at_a_short_horizon(
    formula: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for regime in ("unbounded", "temperature"):
        model = model_of(formula, regime)
        for kernel in KERNELS:
            unkind = UnkindKernel(kernel, order)
            length = horizons(formula, regime)["float32", kernel]
            with monkeypatch.context() as patch:
                patch.setattr(torch.nn.functional, "scaled_dot_product_attention", unkind.attend)
                patch.setattr(fused, "_running_means", unkind.means)
                words = [("a",) * length, ("b",) + ("a",) * (length - 1), *few_words(("a", "b"), length, 1)]
                require_right(model, words, "float32")


@pytest.mark.sweep(0)
@pytest.mark.parametrize("formula", TIMELESS[-2:])
def test_comparisons_in_bfloat16_are_right_at_a_horizon_beyond_a_million(
    formula: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D is a quotient of exact integers: even 8 bits keep its sign."""
    model = model_of(formula, "decoder")
    a, b = model.alphabet.symbols
    length = horizons(formula, "decoder")["bfloat16", "numerator-first"]
    assert length > 1_000_000
    tie = length // 2 if formula == TIMELESS[-2] else 2 * length // 5
    for number in (tie, tie + 1):
        word = (a,) * number + (b,) * (length - number)
        assert not wrong_in_rows(model, word, "bfloat16", monkeypatch)


@pytest.mark.slow
@each_model
def test_no_bit_is_wrong_at_long_words(formula: str, regime: str) -> None:
    """All positions, n = min(horizon, 20,000)."""
    model = model_of(formula, regime)
    a, b, *_ = model.alphabet.symbols
    for dtype in ("float64", *NARROW):
        length = min(
            horizons(formula, regime)[dtype, "numerator-first"], 20_000 if dtype != "float64" else 5000
        )
        if length > 1100:
            half = length // 2
            words = [
                ((a, b) * length)[:length],
                (a,) * half + (b,) * (length - half),
                single(b, a, length, 0),
            ]
            for word in words:
                require_right(model, [word], dtype)


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("formula", TIMELESS[-2:])
def test_boundary_counts_in_bfloat16_to_50000(formula: str, regime: str) -> None:
    """All positions; counts at, one below and one above the boundary, in blocks and alternating."""
    model = model_of(formula, regime)
    a, b = model.alphabet.symbols
    for length in (20_000, 50_000):
        assert length <= horizons(formula, regime)["bfloat16", "numerator-first"]
        tie = length // 2 if formula == TIMELESS[-2] else 2 * length // 5
        for number in (tie - 1, tie, tie + 1):
            require_right(model, [(a,) * number + (b,) * (length - number)], "bfloat16")
        period = (a, b) if formula == TIMELESS[-2] else (b, a, b, a, b)
        require_right(model, [period * (length // len(period))], "bfloat16")


@pytest.mark.slow
@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("formula", [formula for formula in TIMELESS if formula != "X a"])
def test_selections_and_signs_in_float32_are_right_at_their_horizons(
    formula: str, regime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """About a million symbols, at n = horizon; at the first, middle and last positions."""
    model = model_of(formula, regime)
    a, b, *_ = model.alphabet.symbols
    c = model.alphabet.symbols[-1]
    n = horizons(formula, regime)["float32", "numerator-first"]
    half, fifths = n // 2, 2 * n // 5
    words = [(b, c, *(a,) * (n - 2)), (c, b, *(a,) * (n - 2)), ((b, c) * n)[:n], ((c, b) * n)[:n]]
    words += [(a,) * number + (b,) * (n - number) for number in (half, half + 1, fifths, fifths + 1)]
    for word in words:
        assert not wrong_in_rows(model, word, "float32", monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_lookups_in_float64_are_right_at_a_normalise_first_horizon(regime: str) -> None:
    model = model_of("even(#<[a])", regime)
    length = min(horizons("even(#<[a])", regime)["float64", "normalise-first"], 4095)
    with by_scores(model, "float64"):
        for word in (("a",) * length, ("b",) + ("a",) * (length - 1)):
            require_right(model, [word], "float64")


# Horizons are not silly -------------------------------------------------------------------------------


@pytest.mark.sweep(27)
@each_model
def test_shifts_selections_and_signs_reach_100000_symbols_in_float32(formula: str, regime: str) -> None:
    if formula in TIMELESS:
        assert horizons(formula, regime)["float32", "numerator-first"] >= 100_000


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("formula", ["even(#<[a])", "prime(#<[a])", "#<[a] <= #>[b]"])
def test_float32_fails_not_far_beyond_a_short_horizon(formula: str, regime: str) -> None:
    """Lookups and local sign heads do fail: some bit is undecided or wrong within 20 horizons."""
    model = model_of(formula, regime)
    horizon = horizons(formula, regime)["float32", "numerator-first"]
    assert any(fails(model, horizon * factor, "float32") for factor in (3, 4, 5, 7, 10, 14, 20))


def test_bfloat16_fails_right_beyond_the_horizon_of_selections() -> None:
    """Integers above 256 are not exact in bfloat16, and the proof and the runs stop there together."""
    model = model_of("a S b", "unbounded")
    assert horizons("a S b", "unbounded")["bfloat16", "numerator-first"] == 256
    assert fails(model, 257, "bfloat16") or fails(model, 258, "bfloat16")


def fails(model: Model, length: int, dtype: DType) -> bool:
    """Whether some word of that length shows a failure."""
    a, b, *_ = model.alphabet.symbols
    half = length // 2
    plain = [(a,) * length, (b,) + (a,) * (length - 1), (a,) * half + (b,) * (length - half)]
    words = plain + few_words(model.alphabet.symbols, length, 40 if length < 300 else 3)
    truths = truth_of_words(model.language.definition.formula, words).tolist()
    runs = model.run(words, dtype=dtype, engine="fused")
    return any(run.margin < 0 or list(run.bits) != truth for run, truth in zip(runs, truths, strict=True))
