"""Which positions a mask shows: its ends, its number and its comparisons agree, of numbers and arrays."""

from __future__ import annotations

import copy
import operator
import pickle
from collections.abc import Callable

import numpy as np
import pytest
import torch

from attemper.attention_program import ops
from attemper.languages.masks import PositionMask
from attemper.models.soft import weights
from attemper.networks.layers import Masking

LENGTHS = range(1, 6)

SHOWN: dict[PositionMask, Callable[[int, int], bool]] = {
    Masking.FUTURE: operator.le,
    Masking.STRICT_FUTURE: operator.lt,
    Masking.PAST: operator.ge,
    Masking.STRICT_PAST: operator.gt,
    Masking.NONE: lambda j, i: True,
    ops.Mask.UP_TO: operator.le,
    ops.Mask.BEFORE: operator.lt,
    ops.Mask.FROM: operator.ge,
    ops.Mask.AFTER: operator.gt,
    ops.Mask.ALL: lambda j, i: True,
}

MASKS = (*Masking, *ops.Mask)


def test_every_mask_is_here() -> None:
    assert {str(mask) for mask in SHOWN} == {str(mask) for mask in MASKS}


@pytest.mark.parametrize("mask", MASKS)
def test_what_is_visible_is_what_is_seen(mask: PositionMask) -> None:
    for n in LENGTHS:
        for i in range(1, n + 1):
            shown = [j for j in range(1, n + 1) if SHOWN[mask](j, i)]
            assert list(mask.visible(i, n)) == shown
            assert [j for j in range(1, n + 1) if mask.sees(i, j)] == shown
            assert mask.number_visible(i, n) == len(shown)
            a, b, c = mask.number_visible_form
            assert a * i + b * n + c == len(shown)


@pytest.mark.parametrize("mask", MASKS)
def test_arrays_are_seen_in_their_common_shape(mask: PositionMask) -> None:
    places = range(1, 5)
    expected = [[SHOWN[mask](j, i) for j in places] for i in range(1, 4)]
    rows, columns = np.arange(1, 4)[:, None], np.arange(1, 5)[None, :]
    assert mask.sees(rows, columns).tolist() == expected
    assert mask.sees(torch.from_numpy(rows), torch.from_numpy(columns)).tolist() == expected
    assert mask.sees(rows.astype(object), columns.astype(object)).tolist() == expected


@pytest.mark.parametrize("mask", MASKS)
def test_ends_of_tensors_are_those_of_numbers(mask: PositionMask) -> None:
    i, n = torch.arange(1, 5), torch.full((4,), 4)
    numbers = [mask.number_visible(own, 4) for own in range(1, 5)]
    assert mask.number_visible(i, n).tolist() == numbers
    assert mask.number_visible(i.numpy(), n.numpy()).tolist() == numbers


def test_a_mask_shows_everything_if_nothing_else_is_said() -> None:
    class Whole(PositionMask):
        ALL = "everything"

    assert (Whole.ALL.before, Whole.ALL.here, Whole.ALL.after) == (True, True, True)


def test_strict_masks_have_a_weak_one_of_the_same_side() -> None:
    assert [mask.weak for mask in Masking if mask.is_strict] == [Masking.FUTURE, Masking.PAST]
    assert [mask.weak for mask in ops.Mask if mask.is_strict] == [ops.Mask.UP_TO, ops.Mask.FROM]
    assert all(mask.weak is mask for mask in MASKS if not mask.is_strict)


def test_encoders_have_two_of_them() -> None:
    assert list(weights.Mask.FUTURE_MASKED.visible(2, 3)) == [1, 2]
    assert list(weights.Mask.UNMASKED.visible(2, 3)) == [1, 2, 3]


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_is_its_text(mask: PositionMask) -> None:
    assert type(mask)(str(mask)) is mask
    assert pickle.loads(pickle.dumps(mask)) is mask
    assert copy.deepcopy(mask) is mask
