"""A network's weights as those of a stock GPT-2, by the names that transformers gives them."""

from __future__ import annotations

from fractions import Fraction
from math import isfinite

import torch
from torch import Tensor

from attemper.exports.gpt2.layout import GAIN, Layout
from attemper.exports.gpt2.vocabulary import Vocabulary, answers_of, tokens_of_answers
from attemper.networks.layers import Network
from attemper.running.closed_form_tensors import form_values
from attemper.running.weights import torch_weights

SHARPNESS = 40
"""Logits are so many times a bit minus 1/2: e^-40 is what the wrong answer gets."""

TensorsByName = dict[str, Tensor]
"""Tensors by their names."""


def position_table(network: Network, positions: int, dtype: torch.dtype) -> Tensor:
    """The position embedding of positions 1 to `positions`, [position, coordinate]: no form may depend on n.

    Values are computed in float64 and rounded to the format, as a running network does.
    """
    i = torch.arange(1, positions + 1)
    table = torch.zeros(positions, len(network.coordinates), dtype=dtype)
    for coordinate, form in network.positions:
        table[:, coordinate] += form_values(form, i, i).to(dtype)
    return table


def greatest_sizes(network: Network, positions: int) -> list[Fraction]:
    """The greatest absolute value of each coordinate's position embedding; infinite ones are 2^1024."""
    sizes = position_table(network, positions, torch.float64).abs().amax(dim=0)
    return [Fraction(size) if isfinite(size) else Fraction(2) ** 1024 for size in sizes.tolist()]


def body_weights(
    network: Network, layout: Layout, vocabulary: Vocabulary, dtype: torch.dtype
) -> TensorsByName:
    """Everything of the model but what reads its last stream.

    A number is written to its column, and its opposite to the twin, so that the mean of a stream is 0 up to
    rounding. It is read from both, by half: what a norm subtracts from all columns cancels.
    """
    own = torch_weights(network, dtype)
    symbols = len(network.alphabet.symbols)
    words = torch.zeros(len(vocabulary.tokens), layout.width, dtype=dtype)
    words[:symbols] = _written(own["embed.W_E"], layout)
    places = _written(position_table(network, layout.positions, dtype), layout)
    places[:, layout.one], places[:, layout.twin(layout.one)] = 1, -1
    weights = {"transformer.wte.weight": words, "transformer.wpe.weight": places}
    for number in range(layout.layers):
        block = f"transformer.h.{number}"
        weights |= _norm(f"{block}.ln_1", layout, dtype) | _norm(f"{block}.ln_2", layout, dtype)
        weights |= _attention(own, number, layout, dtype) | _feed_forward(own, number, layout, dtype)
    return weights | _norm("transformer.ln_f", layout, dtype)


def classifier_weights(network: Network, layout: Layout, dtype: torch.dtype) -> TensorsByName:
    """The read-out of a model that labels tokens: logits [label], +-`SHARPNESS` (bit - 1/2)."""
    answers = answers_of(network)
    rows = torch.zeros(len(answers), layout.width, dtype=dtype)
    bias = torch.zeros(len(answers), dtype=dtype)
    for row, answer in enumerate(answers):
        slope = SHARPNESS if answer.is_one else -SHARPNESS
        _read(rows[row], layout, answer.coordinate, slope)
        bias[row] = -slope / 2
    return {"classifier.weight": rows, "classifier.bias": bias}


def next_token_weights(
    network: Network, layout: Layout, vocabulary: Vocabulary, dtype: torch.dtype
) -> TensorsByName:
    """The read-out of a model that says its answer as the next token: logits [token].

    An answer's logit is +-`SHARPNESS` (bit - 1/2), and that of every other token -`SHARPNESS`.
    """
    rows = torch.zeros(len(vocabulary.tokens), layout.width, dtype=dtype)
    places = [vocabulary.tokens.index(token) for token in tokens_of_answers(network)]
    for place in set(range(len(vocabulary.tokens))) - set(places):
        _read(rows[place], layout, layout.one, -SHARPNESS)
    for place, answer in zip(places, answers_of(network), strict=True):
        slope = SHARPNESS if answer.is_one else -SHARPNESS
        _read(rows[place], layout, answer.coordinate, slope)
        _read(rows[place], layout, layout.one, -slope / 2)
    return {"lm_head.weight": rows}


def _read(row: Tensor, layout: Layout, coordinate: int, factor: float) -> None:
    """Add to a row of a read-out what reads the factor times a coordinate."""
    row[coordinate] += factor / 2
    row[layout.twin(coordinate)] -= factor / 2


def _written(rows: Tensor, layout: Layout) -> Tensor:
    """Rows [..., coordinate] as rows [..., column]: each number, and its opposite."""
    columns = torch.zeros(*rows.shape[:-1], layout.width, dtype=rows.dtype)
    columns[..., : rows.shape[-1]] = rows
    columns[..., layout.twin(0) : layout.twin(rows.shape[-1])] = -rows
    return columns


def _norm(name: str, layout: Layout, dtype: torch.dtype) -> TensorsByName:
    gain = torch.full((layout.width,), GAIN, dtype=dtype)
    return {f"{name}.weight": gain, f"{name}.bias": torch.zeros(layout.width, dtype=dtype)}


def _attention(own: TensorsByName, number: int, layout: Layout, dtype: torch.dtype) -> TensorsByName:
    """One layer's heads: `c_attn` [column, query and key and value], `c_proj` [head and row, column]."""
    name, width, inner = f"transformer.h.{number}.attn", layout.width, layout.head_width
    reading = torch.zeros(3, layout.heads, inner, width, dtype=dtype)
    writing = torch.zeros(layout.heads, inner, width, dtype=dtype)
    if f"blocks.{number}.attn.W_O" in own:
        for part, factor in enumerate((layout.query_factor, 1, 1)):
            weight = own[f"blocks.{number}.attn.{('W_Q', 'W_K', 'W_V')[part]}"] * factor
            heads, _, rows = weight.shape
            reading[part, :heads, :rows] = _written(weight.transpose(1, 2), layout) / 2
        writing[:heads, :rows] = _written(own[f"blocks.{number}.attn.W_O"], layout)
    return {
        f"{name}.c_attn.weight": reading.reshape(3 * width, width).T.contiguous(),
        f"{name}.c_attn.bias": torch.zeros(3 * width, dtype=dtype),
        f"{name}.c_proj.weight": writing.reshape(width, width),
        f"{name}.c_proj.bias": torch.zeros(width, dtype=dtype),
    }


def _feed_forward(own: TensorsByName, number: int, layout: Layout, dtype: torch.dtype) -> TensorsByName:
    """One layer's hidden units: `c_fc` [column, unit], `c_proj` [unit, column]."""
    name, mlp = f"transformer.h.{number}.mlp", f"blocks.{number}.mlp"
    reading = torch.zeros(layout.inner, layout.width, dtype=dtype)
    bias = torch.zeros(layout.inner, dtype=dtype)
    writing = torch.zeros(layout.inner, layout.width, dtype=dtype)
    if f"{mlp}.b_in" in own:
        units = len(own[f"{mlp}.b_in"])
        reading[:units] = _written(own[f"{mlp}.W_in"].T, layout) / 2
        bias[:units] = own[f"{mlp}.b_in"]
        writing[:units] = _written(own[f"{mlp}.W_out"], layout)
    return {
        f"{name}.c_fc.weight": reading.T.contiguous(),
        f"{name}.c_fc.bias": bias,
        f"{name}.c_proj.weight": writing,
        f"{name}.c_proj.bias": torch.zeros(layout.width, dtype=dtype),
    }
