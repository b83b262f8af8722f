"""Bits that are infinite, and norms of numbers whose squares the format does not have, are no answers."""

from __future__ import annotations

from fractions import Fraction
from math import inf, nan

import pytest
import torch

from attemper.networks.layers import Normalisation
from attemper.running.norms import norm_of
from attemper.running.numbers import read_bit
from attemper.running.traceable.labels import UNDECIDED, labels_of


@pytest.mark.parametrize("value", [inf, -inf, nan, 0.26, 0.74])
def test_no_reader_takes_them_for_a_bit(value: float) -> None:
    assert read_bit(value) is None
    assert labels_of(torch.tensor([value]), torch.tensor([0.25])).tolist() == [UNDECIDED]


@pytest.mark.parametrize(("value", "bit"), [(0.75, True), (1e300, True), (0.25, False), (-1e300, False)])
def test_bits_are_what_is_at_least_a_quarter_from_a_half(value: float, bit: bool) -> None:
    assert read_bit(value) is bit
    assert labels_of(torch.tensor([value], dtype=torch.float64), torch.tensor([0.25])).tolist() == [int(bit)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("is_centred", [True, False])
def test_a_norm_of_what_is_too_large_to_be_squared_is_no_number(is_centred: bool, dtype: torch.dtype) -> None:
    weights = {"w": torch.ones(2, dtype=dtype), "b": torch.zeros(2, dtype=dtype)}
    norm = norm_of(Normalisation(Fraction(1, 10**5), Fraction(1), is_centred, (), ()), weights)
    large = torch.finfo(dtype).max ** 0.5
    found = norm(torch.tensor([[large * 2, -large * 2], [large / 2, -large / 2]], dtype=dtype))
    assert found[0].isnan().all()
    assert found[1].tolist() == pytest.approx([1, -1], abs=1e-3)
