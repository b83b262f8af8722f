"""What is read as a masked model: networks with hard weights, hard models with a mask, encoders."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from attemper.compiling.pipeline import compile_language
from attemper.errors import AlphabetError, OptionError, UnsupportedError, WordError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import (
    FIRST,
    LAST,
    SIGN,
    ClosedForm,
    Digits,
    I,
    N,
    evaluate,
    over,
    plus,
    times,
)
from attemper.exact.predicates import Named, NonNegative, Remainder, Zero
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import parse_alphabet
from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import MaskedModel, alphabet_of, numbers_of, placed, verdicts
from attemper.models.hard.masked_arrays import MaskedEncoder, MaskedHardModel
from attemper.models.hard.masked_examples import Alternating
from attemper.models.hard.masked_loading import as_masked, load_masked
from attemper.models.hard.masked_networks import MaskedNetwork
from attemper.models.hard.periods import places_of
from attemper.models.soft.reading import read_weights
from attemper.models.soft.weights import Encoder, Mask, NoPositions, Periodic, Table
from attemper.modules import ModuleError
from attemper.networks.files import save as save_network
from attemper.networks.layers import HardWeighting, Masking, Network
from attemper.networks.meaning_hard import output_bits
from attemper.networks.regime import Regime
from attemper.networks.structure import Provenance
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.reading.models.tables import automaton_of_masked
from tests.support.drawn.by_rows import seen
from tests.support.drawn.hard_examples import LastIs, PrefixXor, RandomWeights

AB = parse_alphabet("ab")


def test_the_examples_have_the_languages_that_they_say() -> None:
    alternating = minimal(parse_regex("ab(ab)*", "ab"))
    for length in range(1, 9):
        for word in product("ab", repeat=length):
            assert verdicts(Alternating(), word)[-1] == (length, alternating.accepts(word))
            assert verdicts(LastIs("a"), word)[-1] == (length, word[-1] == "a")
    assert verdicts(Alternating(), ()) == ()


def test_words_of_a_model() -> None:
    assert numbers_of(LastIs("b"), "abb").tolist() == [0, 1, 1]
    with pytest.raises(WordError, match="'c' at position 2") as caught:
        numbers_of(LastIs("b"), "ac")
    assert caught.value.details["position"] == 2
    assert alphabet_of(LastIs("b")) == AB
    assert placed((0, 1), np.arange(1, 5)).tolist() == [1, 1, 1, 1]
    assert placed((0, 3), np.arange(1, 8)).tolist() == [1, 2, 3, 1, 2, 3, 1]


# Networks -------------------------------------------------------------------------------------------

FORMULAS = [
    "O a",
    "O (b & Y a) & H (a -> Y b)",
    "a S b",
    "Y Y a",
    "O (a & first)",
    "H (a -> Y b) | (b S (a & Y b))",
    "pos % 3 = 1 & O (a & even(pos))",
    "pos <= 3 & a | pos > 5 & O a",
    "Y Y Y Y a",
]


def hard(formula: str, regime: Regime = Regime.DECODER) -> tuple[TemporalLanguage, Network]:
    language = TemporalLanguage(parse(formula, AB), At.LAST, False)
    return language, compile_language(language, AB, regime).hard


@pytest.mark.sweep(4)
@pytest.mark.parametrize("formula", FORMULAS)
def test_compiled_networks_with_hard_weights_are_read_back(formula: str) -> None:
    language, network = hard(formula)
    read = automaton_of_masked(MaskedNetwork(network))
    for length in range(1, 8):
        for word in product("ab", repeat=length):
            bits = language.bits(word)
            assert read.dfa.accepts(word) == bits[-1]
            if length == 4:
                assert verdicts(MaskedNetwork(network), word) == tuple(enumerate(bits, start=1))
    assert read.dfa.accepts(()) is False
    assert read.empty == "the model's attribute 'accepts_empty'"
    assert automaton_of_masked(MaskedNetwork(replace(network, accepts_empty=True))).dfa.accepts(())


def test_a_network_is_read_from_its_folder(tmp_path: Path) -> None:
    _, network = hard("O (b & Y a)")
    save_network(network, Provenance("formula", "O (b & Y a)", "last", "decoder"), tmp_path / "net")
    model = load_masked(str(tmp_path / "net"))
    assert automaton_of_masked(model).dfa == minimal(parse_regex("(a|b)*ab(a|b)*", "ab"))


def only_layer(**parts: Any) -> Network:
    """A network of one layer with one head, of which some parts are others."""
    _, network = hard("O a")
    layer = network.layers[0]
    return replace(network, layers=(replace(layer, heads=(replace(layer.heads[0], **parts),)),))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("masking", Masking)
@pytest.mark.parametrize("weighting", [HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST])
@pytest.mark.parametrize("first", [False, True])
def test_masks_and_ties_of_a_network(weighting: HardWeighting, masking: Masking, first: bool) -> None:
    """A head that scores nothing and adds 'a' to the output, in all ten kinds, read at both ends."""
    network = replace(only_layer(masking=masking, weighting=weighting, query=(), key=()), reads_first=first)
    read = automaton_of_masked(MaskedNetwork(network))
    for length in range(1, 7):
        for word in product("ab", repeat=length):
            assert read.dfa.accepts(word) == (output_bits(network, word)[0 if first else -1] == 1)


BOTH_WAYS = ["F (a & O b)", "a U (b & H (a -> F b))", "G (b | O a)", "F (a & pos % 2 = 0) & O (b S a)"]


@pytest.mark.sweep(2)
@pytest.mark.parametrize("formula", BOTH_WAYS)
@pytest.mark.parametrize("at", At)
def test_networks_that_look_both_ways_are_read_back(formula: str, at: At) -> None:
    language = TemporalLanguage(parse(formula, AB), at, False)
    model = MaskedNetwork(compile_language(language, AB, Regime.UNBOUNDED).hard)
    read = automaton_of_masked(model)
    for length in range(1, 7):
        for word in product("ab", repeat=length):
            bit = language.bits(word)[0 if at is At.FIRST else -1]
            assert read.dfa.accepts(word) == bit
            if length == 4:
                assert verdicts(model, word)[-1] == (4, bit)


def test_heads_that_average_are_not_read() -> None:
    with pytest.raises(UnsupportedError, match="layer 0, head 0, averages over all positions with"):
        MaskedNetwork(only_layer(weighting=HardWeighting.AVERAGE))


def test_networks_that_are_not_read() -> None:
    _, network = hard("O a")
    uniform = hard_network(
        "ab",
        embedding={"a": {"a": 1}},
        positions={},
        layers=[LayerOf([HeadOf("<=", {"share": {"a": 1}})])],
        output="share",
    )
    with pytest.raises(UnsupportedError, match="averages"):
        MaskedNetwork(uniform)
    with pytest.raises(UnsupportedError, match="puts out a symbol"):
        MaskedNetwork(replace(network, symbols=(("x", 0), ("y", 1))))
    soft = compile_language(TemporalLanguage(parse("O a", AB), At.LAST, False), AB, Regime.DECODER).soft
    with pytest.raises(UnsupportedError, match="averages"):
        MaskedNetwork(soft)
    for form in (over(I), I, N, times(I, over(N)), Digits(I)):
        position = (network.positions[0][0], form)
        with pytest.raises(UnsupportedError, match="is not periodic in i"):
            MaskedNetwork(replace(network, positions=(*network.positions, position)))


def forms() -> list[ClosedForm]:
    tests = [
        closed_forms.Test(predicate, per_position, 0, shift)
        for predicate in (Zero(), NonNegative(), Remainder(3, 1), Remainder(4, 0), Named("even"))
        for per_position in (-3, -1, 0, 1, 2)
        for shift in (-7, -2, 0, 1, 6)
    ]
    return [*tests, SIGN, FIRST, plus(SIGN, tests[3], times(2, tests[40])), times(SIGN, tests[60], tests[12])]


def test_places_of_closed_forms_are_true_far_beyond_them() -> None:
    for form in forms():
        prefix, period = places_of(form)
        values = [evaluate(form, i, 1) for i in range(1, prefix + 4 * period + 40)]
        assert all(
            values[i - 1] == values[i + period - 1] for i in range(prefix + 1, len(values) - period + 1)
        ), form
    for form in (LAST, closed_forms.Test(Named("prime"), 1, 0, 0)):
        with pytest.raises(UnsupportedError, match="is not periodic"):
            places_of(form)


# Hard models with a mask ----------------------------------------------------------------------------


class Latest:
    """A hard model that looks for symbols; y is (1, symbol, what the head of the layer found)."""

    length, digest, semantics, heads = 6, "latest", "integers", (1, 1)
    symbols: tuple[str, ...] = ("a", "b")
    ending: str | None = None
    mask: Any = "<="

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.stack([np.ones_like(symbols), symbols, np.zeros_like(symbols)], axis=1)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return np.broadcast_to(keys[:, 1 + layer], (len(queries), len(keys)))

    def combine(self, layer: int, own: Array, attended: list[Array]) -> Array:
        # Of layer 0 whether a b is seen that is not here; of layer 1 whether that was so somewhere.
        seen = attended[0][:, 1 + layer] * (1 - own[:, 1]) if layer == 0 else attended[0][:, 2]
        return np.stack([own[:, 0], own[:, 1], seen], axis=1)

    def labels(self, activations: Array) -> Any:
        return activations[:, 2] == 1


class Unmasked:
    """The same without a word about masks."""

    length, digest, semantics, heads = Latest.length, Latest.digest, Latest.semantics, Latest.heads
    symbols, ending = Latest.symbols, Latest.ending
    embed, scores, combine, labels = Latest.embed, Latest.scores, Latest.combine, Latest.labels


def masked(mask: Any, **parts: Any) -> Any:
    model = Latest()
    model.mask = mask
    for name, value in parts.items():
        setattr(model, name, value)
    return model


DECLARED = ["<=", "<", "all", None, (("<=",), ("<",)), (("<",), ("all",)), [["<"], ["<="]], ((">",), ("<",))]


@pytest.mark.parametrize("mask", DECLARED)
def test_a_hard_model_with_a_declared_mask(mask: Any) -> None:
    """Without one every head sees all positions."""
    model: Any = Unmasked() if mask is None else masked(mask)
    read = automaton_of_masked(MaskedHardModel(model))
    rows = [mask or "all"] * 2 if isinstance(mask, str | None) else [row[0] for row in mask]
    for length in range(1, 8):
        for word in product("ab", repeat=length):
            assert read.dfa.accepts(word) == plainly(word, rows)


def plainly(word: tuple[str, ...], masks: list[str]) -> bool:
    """What `Latest` says, by hand."""
    found = ["b" in seen(masks[0], [*word], i) and letter == "a" for i, letter in enumerate(word)]
    return any(seen(masks[1], found, len(word) - 1))


def test_a_hard_model_with_an_end_marker() -> None:
    model = masked("<=", symbols=("a", "b", "$"), ending="$")
    read = automaton_of_masked(MaskedHardModel(model))
    assert read.dfa == minimal(parse_regex("(a|b)*b(a|b)*a(a|b)*", "ab"))


@pytest.mark.parametrize(
    ("mask", "said"),
    [
        ("left", "layer 0, head 0: the mask 'left' is none of <=, <, >=, >, all"),
        ((("<",), ([],)), r"layer 1, head 0: the mask \[\] is none of"),
        ((("<",),), "must be one text, or a tuple"),
        (7, "must be one text, or a tuple"),
    ],
)
def test_masks_that_are_not_read(mask: Any, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        MaskedHardModel(masked(mask))


def test_a_hard_model_with_positions_is_refused() -> None:
    model: Any = RandomWeights(9, (1,))
    object.__setattr__(model, "mask", "<=")
    with pytest.raises(UnsupportedError, match="the embedding of '0' at position 2 is another than at 1"):
        MaskedHardModel(model)
    with pytest.raises(UnsupportedError, match="at position 2 is another than at 1"):
        as_masked(PrefixXor(9, 1), "xor")


# Encoders -------------------------------------------------------------------------------------------


def encoder(
    positions: Any = None, mask: Mask = Mask.FUTURE_MASKED, seed: int = 0, outputs: int = 1
) -> Encoder:
    torch.manual_seed(seed)
    layer = torch.nn.TransformerEncoderLayer(4, 2, 6, batch_first=True, dtype=torch.float64)
    stack = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    embedding = torch.nn.Embedding(2, 4, dtype=torch.float64)
    readout = torch.nn.Linear(4, outputs, dtype=torch.float64)
    return read_weights(
        stack, embedding, readout, ("a", "b"), None, positions=positions or NoPositions(), mask=mask
    )


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("mask", "period", "seed", "states"),
    [
        (Mask.FUTURE_MASKED, 0, 0, 2),
        (Mask.FUTURE_MASKED, 2, 9, 8),
        (Mask.FUTURE_MASKED, 3, 5, 40),
        (Mask.UNMASKED, 0, 4, 1),
        (Mask.UNMASKED, 2, 9, 6),
    ],
)
def test_an_encoder_with_hard_attention(mask: Mask, period: int, seed: int, states: int) -> None:
    table = np.random.default_rng(1).standard_normal((period, 4))
    weights = encoder(Periodic(table) if period else None, mask, seed=seed)
    read = automaton_of_masked(MaskedEncoder(weights))
    assert len(read.dfa.moves) >= states
    for length in range(1, 8):
        for word in product((0, 1), repeat=length):
            assert read.dfa.accepts(tuple("ab"[k] for k in word)) == hard_encoder(weights, table, word)


def hard_encoder(weights: Encoder, table: Any, word: tuple[int, ...]) -> bool:
    """The encoder with leftmost-hard attention, by PyTorch's formulas in matrices; ties are by equal rows."""
    rows = [weights.embedding[k] + (table[i % len(table)] if len(table) else 0) for i, k in enumerate(word)]
    for layer in weights.layers:
        size = weights.width // layer.heads
        after = []
        for i, own in enumerate(rows):
            parts = []
            for head in range(layer.heads):
                q, k, v = (
                    slice(p * weights.width + head * size, p * weights.width + (head + 1) * size)
                    for p in range(3)
                )
                query = layer.in_weight[q] @ own + layer.in_bias[q]
                visible = rows[: i + 1] if weights.mask is Mask.FUTURE_MASKED else rows
                scores = [float(query @ (layer.in_weight[k] @ key + layer.in_bias[k])) for key in visible]
                there = rows[int(np.argmax(scores))]
                best = next(j for j, row in enumerate(rows) if np.array_equal(row, there))
                parts.append(layer.in_weight[v] @ rows[best] + layer.in_bias[v])
            middle = normed(own + layer.out_weight @ np.concatenate(parts) + layer.out_bias, layer.norms, 0)
            hidden = np.maximum(layer.hidden_weight @ middle + layer.hidden_bias, 0)
            after.append(normed(middle + layer.back_weight @ hidden + layer.back_bias, layer.norms, 1))
        rows = after
    return bool((weights.readout @ rows[-1] + weights.bias)[0] > 0)


def normed(row: Any, norms: Any, which: int) -> Any:
    centred = row - row.mean()
    return (
        centred / np.sqrt((centred**2).mean() + norms[which].epsilon) * norms[which].gain + norms[which].bias
    )


def test_encoders_that_are_not_read() -> None:
    with pytest.raises(UnsupportedError, match=r"positions \(Table\) are not known to be periodic"):
        MaskedEncoder(encoder(Table(np.zeros((5, 4)))))
    with pytest.raises(UnsupportedError, match="one output"):
        MaskedEncoder(encoder(outputs=2))


# Loading --------------------------------------------------------------------------------------------

MODULE = """
from attemper.models.hard.masked_examples import Alternating
from tests.support.drawn.by_rows import seen
from tests.support.drawn.hard_examples import LastIs
from attemper.exact import closed_forms
from attemper.exact.closed_forms import SIGN
instance = LastIs("a")
kind = LastIs
number = 3
def made():
    return Alternating()
def nothing():
    Alternating()
def broken():
    return {}["x"]
class Half:
    symbols, places, layers, semantics = ("a",), (0, 1), (), "half"
    scores = None
half = Half()
class Hard:
    length, scores = 3, None
hard = Hard()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "masked_models_here.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "masked_models_here"


def test_models_of_a_module(module: str) -> None:
    assert load_masked(f"{module}:instance") == LastIs("a")
    assert load_masked(f"{module}:made") == Alternating()


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("absent", OptionError, "has no 'absent'"),
        ("number", ModuleError, "is no masked model: it has no 'symbols'"),
        ("nothing", ModuleError, "returned None"),
        ("broken", ModuleError, "raised KeyError"),
        ("kind", ModuleError, "raised TypeError"),
        ("half", ModuleError, "it has no 'embed'"),
        ("hard", ModuleError, "is no hard-attention model, as it has no 'embed'"),
    ],
)
def test_objects_that_are_no_models(module: str, name: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        load_masked(f"{module}:{name}")


def test_objects_of_every_kind() -> None:
    _, network = hard("O a")
    kinds: list[Any] = [
        network,
        MaskedNetwork(network),
        encoder(),
        MaskedEncoder(encoder()),
        masked("<"),
        Alternating(),
    ]
    found: list[MaskedModel] = [as_masked(kind, "here") for kind in kinds]
    assert [type(model).__name__ for model in found] == [
        "MaskedNetwork",
        "MaskedNetwork",
        "MaskedEncoder",
        "MaskedEncoder",
        "MaskedHardModel",
        "Alternating",
    ]
    with pytest.raises(AlphabetError):
        parse_alphabet("")
