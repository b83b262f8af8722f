"""What a stock GPT-2 can hold, and its weights by GPT-2's definition; no library of the extra is needed."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
import torch
from torch.nn.functional import layer_norm

import attemper
from attemper import LayerNorm, Model
from attemper.errors import OptionError, UnsupportedError
from attemper.exact.closed_forms import ONE, number
from attemper.exports.gpt2.card import card_of
from attemper.exports.gpt2.fitting import require_fitting
from attemper.exports.gpt2.layout import EPSILON, GAIN, layout_of, most_mean_square
from attemper.exports.gpt2.sizes import require_small, sizes_of
from attemper.exports.gpt2.vocabulary import tokens_of_answers, vocabulary_of
from attemper.exports.gpt2.weights import (
    body_weights,
    classifier_weights,
    greatest_sizes,
    next_token_weights,
)
from attemper.exports.gpt2.writing import write_gpt2
from attemper.exports.subject import Exported
from attemper.languages.words import Alphabet
from attemper.networks.layers import HEAD_WIDTHS, Hidden, Layer
from attemper.networks.structure import Provenance
from attemper.workbench.verifying.comparing import exact_rows
from tests.support.drawn.scan_networks import HeadOf, network_of
from tests.support.drawn.typed_networks import two_into_one
from tests.support.oracles.plain_gpt2 import stream_of

FITTING: dict[str, Callable[[], Model]] = {
    "majority": lambda: attemper.compile("#<['0'] <= #<['1']", "01"),
    "since": lambda: attemper.compile("(!'c') S 'b'", "abc"),
    "a letter": lambda: attemper.compile("a", "ab"),
    "true": lambda: attemper.compile("true", "ab"),
    "dyck-1": lambda: attemper.compile("zoo:dyck-1", regime="unbounded"),
    "flip-flop": lambda: attemper.compile("zoo:flip-flop", regime="unbounded"),
    "symbols": lambda: attemper.compile("zoo:copy-previous-symbol", regime="unbounded"),
    "odd width": lambda: attemper.compile("zoo:a-n-b-n-c-n", regime="unbounded"),
}


def subject_of(model: Model) -> Exported:
    return Exported(model.network, model.source)


# Weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", FITTING)
def test_a_gpt2_of_these_weights_says_what_is_meant(name: str, dtype: torch.dtype) -> None:
    model = FITTING[name]()
    require_fitting(subject_of(model), "float64", 8)
    network, layout = model.network, layout_of(model.network, 8)
    reading, saying = (vocabulary_of(network, with_answers=some) for some in (False, True))
    labels = classifier_weights(network, layout, dtype)
    tokens_out = next_token_weights(network, layout, saying, dtype)["lm_head.weight"]
    names = [name for name, _ in network.symbols]
    symbols = model.alphabet.symbols
    for length in range(1, 6 if len(symbols) < 4 else 4):
        words = list(product(symbols, repeat=length))
        tokens, _ = model.to_tokens(words)
        x = stream_of(body_weights(network, layout, reading, dtype), tokens, layout.heads, 2.0**100)
        wide = stream_of(body_weights(network, layout, saying, dtype), tokens, layout.heads, 2.0**100)
        assert torch.equal(x, wide)
        got = (x @ labels["classifier.weight"].T + labels["classifier.bias"]).argmax(dim=-1).tolist()
        said = (x @ tokens_out.T).argmax(dim=-1).tolist()
        for place, rows in enumerate(exact_rows(model.language.definition, words)):
            expected = [column.index(True) if names else int(column[0]) for column in zip(*rows, strict=True)]
            assert got[place] == expected, words[place]
            answers = [tokens_of_answers(network)[one] for one in expected]
            assert [saying.tokens[token] for token in said[place]] == answers


def test_tokens_that_are_no_answers_have_a_logit_of_their_own() -> None:
    """-40 at every position, whatever is read there: below both logits of an answer, which are +-20."""
    model = FITTING["majority"]()
    layout, saying = layout_of(model.network, 4), vocabulary_of(model.network, with_answers=True)
    tokens, _ = model.to_tokens(["0110"])
    x = stream_of(body_weights(model.network, layout, saying, torch.float64), tokens, layout.heads, 2.0**100)
    logits = x @ next_token_weights(model.network, layout, saying, torch.float64)["lm_head.weight"].T
    others = [saying.tokens.index(token) for token in ("0", "1", "[pad]")]
    assert float((logits[..., others] + 40).abs().max()) <= 1e-10
    assert float((logits[..., 3:].abs() - 20).abs().max()) <= 1e-10


@pytest.mark.parametrize("name", FITTING)
def test_whatever_is_written_is_written_to_its_twin_as_the_opposite(name: str) -> None:
    network = FITTING[name]().network
    layout = layout_of(network, 4)
    vocabulary = vocabulary_of(network, with_answers=True)
    weights = body_weights(network, layout, vocabulary, torch.float64)
    half = layout.width // 2
    written = ["wte", "wpe", *(f"h.{n}.{at}.c_proj" for n in range(layout.layers) for at in ("attn", "mlp"))]
    for part in written:
        rows = weights[f"transformer.{part}.weight"]
        assert torch.equal(rows[:, :half], -rows[:, half:]), part
    assert weights["transformer.wpe.weight"][:, layout.one].tolist() == [1] * 4


def test_a_layout_has_heads_as_wide_as_those_of_the_network() -> None:
    """The least that is wide enough, also where it is the width itself: 4, 16; and for 16 never 4."""
    small = network_of(HeadOf([{"a": 1}], [{"a": 1}], [{"a": 1}]), positions={})
    for width in HEAD_WIDTHS:
        layout = layout_of(replace(small, head_width=width), 4)
        assert (layout.heads, layout.head_width) == ((1, 16) if width == 16 else (2, 4))


def test_scaling_by_head_widths_is_exact() -> None:
    for width in HEAD_WIDTHS:
        network = replace(network_of(HeadOf([{"one": 1}], [{"a": 1}], [{"a": 1}])), head_width=width)
        layout = layout_of(network, 4)
        assert layout.query_factor**2 * width == layout.head_width
        assert layout.width % 2 == 0
        assert layout.width >= 2 * (len(network.coordinates) + 1)


def test_a_table_with_too_many_weights_is_refused() -> None:
    network = FITTING["majority"]().network
    with pytest.raises(UnsupportedError, match=r"100,000,000 positions has 3,200,.* fewer positions"):
        layout_of(network, 10**8)


# The norm that does nothing --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_the_norm_divides_by_exactly_its_gain_up_to_the_bound(dtype: str) -> None:
    """Streams with 0 in the middle of the word: what is subtracted is the same everywhere, so seen there."""
    form = getattr(torch, dtype)
    gain, bias = torch.full((66,), float(GAIN), dtype=form), torch.zeros(66, dtype=form)
    draw = torch.Generator().manual_seed(0)
    exponent = (most_mean_square(dtype).numerator.bit_length() - 1) // 2
    bits = torch.randint(0, 2, (200, 32), generator=draw).to(form)
    for size in range(exponent + 1):
        half = torch.cat([bits * 2.0**size, torch.zeros(200, 1, dtype=form)], dim=1)
        x = torch.cat([half, -half], dim=1)
        assert float(x.square().double().mean(dim=1).max()) <= most_mean_square(dtype)
        y = layer_norm(x, (66,), gain, bias, float(EPSILON))
        shift = y[:, 32:33]
        assert float(shift.abs().max()) <= 2.0 ** (size + 3) * 2.0 ** (-53 if dtype == "float64" else -24)
        assert torch.equal(y, x + shift)
        assert torch.equal(y[:, :33] / 2 - y[:, 33:] / 2, half)
    beyond = torch.full((1, 66), 2.0 ** (exponent + 2), dtype=form)
    beyond[:, 33:] *= -1
    assert not torch.equal(layer_norm(beyond, (66,), gain, bias, float(EPSILON)), beyond)


def test_what_the_norm_subtracts_cancels_between_twins() -> None:
    """Thirds and large numbers, whose mean is not 0 in floats: what is read of both is the number."""
    draw = torch.Generator().manual_seed(1)
    half = torch.rand(500, 32, generator=draw, dtype=torch.float32) / 3
    half[:, 0] = 1000.1
    x = torch.cat([half, -half], dim=1)
    gain = torch.full((64,), float(GAIN), dtype=torch.float32)
    y = layer_norm(x, (64,), gain, torch.zeros(64), float(EPSILON))
    own = (half.abs() + 1) * 2.0**-22
    assert bool(((y[:, :32] / 2 - y[:, 32:] / 2 - half).abs() <= own).all())


@pytest.mark.parametrize("name", FITTING)
def test_no_coordinate_is_larger_than_its_bound(name: str) -> None:
    model = FITTING[name]()
    bound = sizes_of(model.network, greatest_sizes(model.network, 6))
    words = [word for n in range(1, 7) for word in product(model.alphabet.symbols[:3], repeat=n)]
    tokens, lengths = model.to_tokens(words)
    module = model.dense()
    layers = range(len(module.blocks))
    points = [f"blocks.{number}.hook_resid_{at}" for number in layers for at in ("pre", "mid", "post")]
    _, cache = module.run_with_cache(tokens, lengths, ["hook_embed", *points])
    most = torch.tensor([float(size) for size in bound], dtype=torch.float64)
    real = torch.arange(tokens.shape[1])[None] < lengths[:, None]
    assert len(cache) == 1 + len(points)
    for point, x in cache.items():
        assert bool((x.abs() <= most * (1 + 2**-40))[real].all()), point


def test_hidden_units_that_are_no_clamp_are_bounded_one_by_one() -> None:
    network = network_of(HeadOf([{}], [{}], [{"a": 1}]), positions={})
    a, out = network.coordinates.index("a"), network.output
    low = Hidden(((a, Fraction(2)),), Fraction(-1, 2), ((out, Fraction(1)),))
    high = Hidden(((a, Fraction(2)),), Fraction(-3, 2), ((out, Fraction(-1)),))
    own = replace(network, layers=(*network.layers, Layer((), (low, high), ())))
    assert sizes_of(own, [Fraction(0)] * len(network.coordinates))[out] == 1 + Fraction(5, 2) + Fraction(7, 2)
    paired = replace(network, layers=(*network.layers, Layer((), (low, high), ((0, 1),))))
    assert sizes_of(paired, [Fraction(0)] * len(network.coordinates))[out] == 1 + 1


def test_positions_that_are_too_large_for_the_norm_are_refused_by_coordinate() -> None:
    network = network_of(HeadOf([{"one": 1}], [{"jjj": 1}], [{"a": 1}]))
    layout = layout_of(network, 2000)
    require_small(network, layout, greatest_sizes(network, 2000), "float32")
    with pytest.raises(UnsupportedError, match=r"'jjj' can be as large as 2\^33, and in float64"):
        require_small(network, layout, greatest_sizes(network, 2000), "float64")


# Refusals --------------------------------------------------------------------------------------------------


def compiled(formula: str, alphabet: str = "ab", **options: object) -> Callable[[], Exported]:
    return lambda: subject_of(attemper.compile(formula, alphabet, **options))  # type: ignore[arg-type]


REFUSED: dict[str, tuple[Callable[[], Exported], str]] = {
    "positions with n": (compiled("O a", regime="temperature"), r"the coordinate 'PE i\*n\^-1' is i\*n\^-1"),
    "a temperature": (compiled("Y a", regime="decoder"), r"head 0\.0 has softmax at temperature 1/\("),
    "the future": (compiled("'a' U 'b'", at="first"), r"head 0\.0 is past-masked|the coordinate 'PE"),
    "a strict mask": (
        lambda: subject_of(attemper.compile(attemper.regex("a*b*", "ab"))),
        r"\(j <= i\), and head 0\.0 is strictly future-masked",
    ),
    "counts with n": (compiled("odd(#<[a])"), r"the coordinate 'PE n\*i' is n\*i"),
    "a test with n": (compiled("pos = len"), r"the coordinate 'PE .*n"),
    "a norm": (compiled("O a", layer_norm=LayerNorm()), "compile without LayerNorm and RMSNorm"),
    "numbers": (lambda: subject_of(attemper.compile("zoo:histogram-so-far")), "puts out an integer"),
    "hard attention": (
        lambda: Exported(two_into_one(), Provenance("hard", "0" * 64, "last", "unbounded")),
        r"head 0\.0 has average-hard attention",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_no_gpt2_holds_is_refused_by_name(why: str, tmp_path: Path) -> None:
    make, message = REFUSED[why]
    subject = make()
    with pytest.raises(UnsupportedError, match=message):
        write_gpt2(subject, tmp_path / "out", "float64", 64)
    assert not (tmp_path / "out").exists()


def test_a_constant_temperature_that_is_not_1_is_refused() -> None:
    for cold, is_refused in ((number(1), False), (number(2), True)):
        head = HeadOf([{"one": 1}], [{"a": 1}], [{"a": 1}], cold=cold)
        network = network_of(head, positions={"one": ONE})
        subject = Exported(network, Provenance("typed", "0" * 64, "last", "unbounded"))
        if is_refused:
            with pytest.raises(UnsupportedError, match=r"head 0\.0 has softmax at temperature 1/\(2\)"):
                require_fitting(subject, "float64", 8)
        else:
            require_fitting(subject, "float64", 8)


def test_a_registered_predicate_is_refused_by_name(tmp_path: Path) -> None:
    attemper.register_predicate("gpt2_square", lambda i: round(i**0.5) ** 2 == i)
    with pytest.raises(UnsupportedError, match="'gpt2_square' is a Python function"):
        write_gpt2(compiled("gpt2_square(pos) & a")(), tmp_path / "out", "float64", 64)


def test_options_are_refused(tmp_path: Path) -> None:
    subject = compiled("O a")()
    with pytest.raises(OptionError, match="'bfloat16' is none of float64, float32"):
        write_gpt2(subject, tmp_path / "out", "bfloat16", 64)
    with pytest.raises(OptionError, match="positions=0"):
        write_gpt2(subject, tmp_path / "out", "float64", 0)


def test_positions_must_be_said_and_are_for_gpt2_alone(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab")
    with pytest.raises(OptionError, match="gpt2 needs positions"):
        model.export("gpt2", tmp_path / "out")
    with pytest.raises(OptionError, match="positions is for gpt2 alone"):
        model.export("circuit", tmp_path / "out.json", positions=8)
    assert not list(tmp_path.iterdir())


def test_a_missing_library_names_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(OptionError, match=r"pip install 'attemper\[hugging-face\]'"):
        write_gpt2(compiled("O a")(), tmp_path / "out", "float64", 64)


# Words and the card ----------------------------------------------------------------------------------------


def network_over(*symbols: str) -> attemper.Model:
    return attemper.compile("true", Alphabet(symbols))


@pytest.mark.parametrize(
    ("symbols", "tokens"),
    [
        (("0", "1"), ("0", "1", "[pad]", "rejected", "accepted")),
        (tuple("[pad]"), (*"[pad]", "[pad]①", "rejected", "accepted")),
        (("x[pad]", "accepted"), ("x[pad]", "accepted", "[pad]①", "rejected", "accepted①")),
    ],
)
def test_tokens_are_never_mistaken_for_symbols(symbols: tuple[str, ...], tokens: tuple[str, ...]) -> None:
    assert vocabulary_of(network_over(*symbols).network, with_answers=True).tokens == tokens


def test_symbols_that_are_put_out_are_those_that_are_read() -> None:
    network = FITTING["symbols"]().network
    assert vocabulary_of(network, with_answers=True).tokens == ("a", "b", "c", "[pad]", "none")


def test_padding_is_none_of_the_symbols_that_are_put_out() -> None:
    network = replace(FITTING["a letter"]().network, symbols=(("[pad]", 0), ("[unknown]", 1)), output=0)
    vocabulary = vocabulary_of(network, with_answers=True)
    assert vocabulary.tokens == ("a", "b", "[pad]①", "[pad]", "[unknown]")
    assert vocabulary.unknown == "[unknown]①"


def test_the_card_says_what_is_not_proved() -> None:
    model = attemper.compile("#<['0'] <= #<['1']", "01", empty="accept")
    subject = Exported(model.network, model.source, model.certify())
    card = card_of(subject, layout_of(model.network, 512), "float32")
    horizon = subject.horizons()["float32"]["normalise-first"]
    assert f"in float32: normalise-first up to {horizon:,} symbols; numerator-first" in card
    assert "nothing is proved of these weights in floats" in card
    assert "a stock GPT-2 cannot" in card
    assert "The empty word, which no GPT-2 reads, is accepted." in card
    assert "words of up to 512 symbols" in card
    bare = card_of(subject_of(FITTING["symbols"]()), layout_of(FITTING["symbols"]().network, 8), "float64")
    assert "Verdict" not in bare
    assert "The certificate of the network" not in bare
