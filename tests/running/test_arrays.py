"""The engine `numpy` gives what torch's matrices give, on networks of all kinds, also what is undecided."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch

import attemper
from attemper.errors import OptionError
from attemper.exact.closed_forms import ONE, ClosedForm
from attemper.languages.words import Word
from attemper.networks.layers import HardWeighting, Masking, Network, Weighting
from attemper.running.arrays import SCORES_AT_ONCE, Arrays, form_array
from attemper.running.batches import runs_of, tokens_of
from attemper.running.blocks import clamp_room
from attemper.running.closed_form_tensors import form_values
from attemper.running.dense import DenseTransformer
from attemper.running.engines.names import SHORT, Engine
from attemper.running.runs import Run
from tests.running.test_scores_too_small import WEIGHTINGS, _mean_of_ones
from tests.support.drawn.empty_layers import share_of_a
from tests.support.drawn.scan_networks import FAMILIES, OTHERS, POSITIONS, drawn_head, network_of
from tests.support.mutants.changed_networks import changed

FORMULAS = {
    "majority": ("#<['0'] <= #<['1']", "01", {}),
    "parity": ("even(#<['1'])", "01", {"regime": "temperature"}),
    "both sides": ("#<['1'] = #>['1']", "01", {}),
    "future": ("X a | G (a -> F b)", "ab", {"at": "first"}),
    "decoder": ("H (a -> Y b)", "ab", {"regime": "decoder"}),
    "LayerNorm": ("O (b & Y a)", "ab", {"layer_norm": attemper.LayerNorm()}),
    "RMSNorm": ("O (b & Y a)", "ab", {"layer_norm": attemper.LayerNorm(is_centred=False)}),
}
NAMED = ("reverse", "histogram", "histogram-so-far", "fraction-seen", "trigram-lm")


def network(name: str) -> Network:
    if name in NAMED:
        return attemper.compile(f"zoo:{name}").network
    formula, alphabet, options = FORMULAS[name]
    return attemper.compile(formula, alphabet, **options).network


def words_over(symbols: tuple[str, ...]) -> list[Word]:
    """All words of up to 3 of the first three symbols, and longer ones."""
    draw = random.Random(7)
    short = [word for n in range(4) for word in product(symbols[:3], repeat=n)]
    return [*short, *(tuple(draw.choices(symbols, k=n)) for n in (9, 40))]


def require_same(found: Run, expected: Run) -> None:
    assert (found.word, found.rows) == (expected.word, expected.rows)
    assert found.margin == pytest.approx(expected.margin, abs=1e-6, nan_ok=True)
    assert found.values == pytest.approx(expected.values, rel=1e-6, abs=1e-6, nan_ok=True)
    assert (found.numbers is None) is (expected.numbers is None)
    for one, other in zip(found.numbers or (), expected.numbers or (), strict=True):
        assert one == (other if isinstance(other, int | None) else pytest.approx(other, abs=1e-6))


def require_as_matrix(network: Network, words: list[Word], weighting: HardWeighting | None = None) -> None:
    matrix = DenseTransformer(network, torch.float64, weighting, engine="matrix")
    for found, expected in zip(Arrays(network, weighting).runs(words), runs_of(matrix, words), strict=True):
        require_same(found, expected)


@pytest.mark.parametrize("name", [*FORMULAS, *NAMED])
def test_compiled_networks_run_as_by_matrices(name: str) -> None:
    compiled = network(name)
    words = words_over(compiled.alphabet.symbols)
    require_as_matrix(compiled, words)
    require_as_matrix(compiled, words[-4:], HardWeighting.AVERAGE)


@pytest.mark.parametrize("weighting", [None, HardWeighting.AVERAGE])
@pytest.mark.parametrize("name", [*FORMULAS, *NAMED])
def test_what_is_watched_is_what_hooks_see(name: str, weighting: HardWeighting | None) -> None:
    """Outputs, every head's weights and every layer's smallest margin."""
    compiled = network(name)
    matrix = DenseTransformer(compiled, torch.float64, weighting, engine="matrix")
    for word in words_over(compiled.alphabet.symbols)[-6:]:
        outputs, margins, patterns = Arrays(compiled, weighting).watched(word)
        expected, cache = matrix.run_with_cache(*tokens_of(compiled.alphabet, [word]))
        assert outputs.reshape(expected[0].shape) == pytest.approx(expected[0].numpy(), abs=1e-9)
        numbers = {(k, h) for k, layer in enumerate(compiled.layers) for h in range(len(layer.heads))}
        assert set(patterns) == numbers
        for (k, h), pattern in patterns.items():
            seen = cache[f"blocks.{k}.attn.hook_pattern"][0, h].numpy()
            assert pattern == pytest.approx(seen, abs=1e-9)
        assert set(margins) == {k for k, layer in enumerate(compiled.layers) if layer.clamps}
        for k, margin in margins.items():
            room = clamp_room(compiled.layers[k], cache[f"blocks.{k}.mlp.hook_pre"]).min()
            assert margin == pytest.approx(float(room), abs=1e-6)


@pytest.mark.parametrize("name", ["majority", "future", "decoder"])
def test_changed_networks_run_as_by_matrices(name: str) -> None:
    compiled, draw = network(name), random.Random(3)
    for _ in range(8):
        require_as_matrix(changed(draw, compiled), words_over(compiled.alphabet.symbols)[-6:])


def test_drawn_heads_run_as_by_matrices() -> None:
    draw = random.Random(11)
    for family in (*FAMILIES, *OTHERS):
        for _ in range(4):
            require_as_matrix(network_of(drawn_head(draw, family)), words_over(("a", "b"))[-4:])


@pytest.mark.parametrize("weighting", WEIGHTINGS, ids=str)
@pytest.mark.parametrize("masking", Masking)
def test_ties_and_what_is_no_number(masking: Masking, weighting: Weighting) -> None:
    """Scores that all are equal, or all less than any number of float64."""
    for size in (1, 2**500, 2**600):
        own = _mean_of_ones(masking, weighting, size)
        require_as_matrix(own, [("a",) * n for n in (1, 2, 5)])


def test_a_broken_clamp_is_undecided_everywhere() -> None:
    compiled = network("majority")
    (clamped,) = [place for place, layer in enumerate(compiled.layers) if layer.clamps][:1]
    layer = compiled.layers[clamped]
    low, high = layer.clamps[0]
    hidden = list(layer.hidden)
    for unit, bias in ((low, Fraction(1)), (high, Fraction(-9))):
        hidden[unit] = replace(hidden[unit], bias=bias)
    layers = list(compiled.layers)
    layers[clamped] = replace(layer, hidden=tuple(hidden))
    broken = replace(compiled, layers=tuple(layers))
    (run,) = Arrays(broken).runs([("0", "1")])
    assert run.margin < 0
    assert run.bits == (None, None)
    require_as_matrix(broken, [("0", "1")])


@pytest.mark.parametrize("form", [*POSITIONS.values(), ONE], ids=str)
def test_closed_forms_are_those_of_tensors_bit_for_bit(form: ClosedForm) -> None:
    for n in (1, 2, 7, 300):
        i = torch.arange(1, n + 1)
        expected = form_values(form, i, torch.full_like(i, n)).numpy()
        assert np.array_equal(form_array(form, n), expected)


def test_many_queries_are_taken_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, word = network("both sides"), tuple("0110100101")
    (whole,) = Arrays(compiled).runs([word])
    monkeypatch.setattr("attemper.running.arrays.SCORES_AT_ONCE", 30)
    (parts,) = Arrays(compiled).runs([word])
    assert SCORES_AT_ONCE > 30
    require_same(parts, whole)


def test_a_mean_of_bits_is_rounded_once() -> None:
    """Numerator-first: the share of 1s among N positions is the float64 nearest to it."""
    word = tuple("ab" * 30)
    (run,) = Arrays(share_of_a()).runs([word])
    exact = [float(Fraction(word[:n].count("a"), n)) for n in range(1, len(word) + 1)]
    assert run.values == tuple(exact)


# Which engine runs ------------------------------------------------------------------------------------------


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Word]:
    """The words that numpy has run."""
    seen: list[Word] = []
    own = Arrays.run

    def run(self: Arrays, word: Word) -> Run:
        seen.append(word)
        return own(self, word)

    monkeypatch.setattr(Arrays, "run", run)
    return seen


def test_auto_is_numpy_for_one_short_word_in_float64(ran: list[Word]) -> None:
    model = attemper.compile("O a", "ab")
    assert model.accepts("bab")
    assert model.positions("ba") == (False, True)
    assert model.output("b" * SHORT)[-1] is False
    assert list(map(len, ran)) == [3, 2, SHORT]
    list(model.run(["a", "b"]))
    assert model.accepts("a", dtype="float32")
    assert model.accepts("a", engine="fused")
    assert model.accepts("a" * (SHORT + 1))
    assert len(ran) == 3
    assert [run.bits for run in model.run(["a", "", "b"], engine="numpy")] == [(True,), (), (False,)]
    assert model.accepts("a", weights="hard")
    assert len(ran) == 6


def test_auto_is_numpy_for_all_short_words_where_torch_is_not(
    ran: list[Word], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("attemper.workbench.model.has_torch", lambda: False)
    model = attemper.compile("O a", "ab")
    assert [run.bits for run in model.run(["a", "", "b" * SHORT])] == [(True,), (), (False,) * SHORT]
    assert list(map(len, ran)) == [1, SHORT]
    list(model.run(["a", "b" * (SHORT + 1)]))
    list(model.run(["a", "b"], dtype="float32"))
    assert len(ran) == 2


def test_numpy_is_float64_and_no_module() -> None:
    model = attemper.compile("O a", "ab")
    with pytest.raises(OptionError, match="engine='numpy' is float64, not float32"):
        model.accepts("a", dtype="float32", engine="numpy")
    with pytest.raises(OptionError, match="engine='numpy' runs words without a module"):
        model.dense(engine="numpy")
    assert not model.scans(10**6, "soft", "float64", str(Engine.NUMPY))
