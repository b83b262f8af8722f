"""What an exported bit is called, and where the verdict is read."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from attemper.running.numbers import read_bit
from attemper.running.traceable.labels import ACCEPTED, LABELS, REJECTED, UNDECIDED, labels_of, read_at

INF = float("inf")
NAN = float("nan")


def test_labels_are_what_a_run_reads() -> None:
    values = [0.0, 0.25, 0.2500001, 0.5, 0.7499999, 0.75, 1.0, -3.0, 4.0, INF, -INF, NAN]
    named = {True: ACCEPTED, False: REJECTED, None: UNDECIDED}
    for value, margin in product(values, [0.25, 0.0, INF]):
        (label,) = labels_of(torch.tensor([value], dtype=torch.float64), torch.tensor([margin])).tolist()
        assert label == named[read_bit(value)], (value, margin)
    for value, margin in product(values, [-1e-9, -INF, NAN]):
        assert labels_of(torch.tensor([value]), torch.tensor([margin])).tolist() == [UNDECIDED]


def test_a_margin_is_about_all_positions_of_its_word() -> None:
    outputs, margins = torch.tensor([[0.0, 1.0], [1.0, 0.0]]), torch.tensor([0.1, -0.1])
    assert labels_of(outputs, margins).tolist() == [[REJECTED, ACCEPTED], [UNDECIDED, UNDECIDED]]
    assert LABELS[UNDECIDED] == "undecided"


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("accepts_empty", [False, True])
def test_the_verdict_is_read_at_the_first_or_last_real_position(first: bool, accepts_empty: bool) -> None:
    for width in range(5):
        masks = torch.tensor(list(product((False, True), repeat=width)), dtype=torch.bool).reshape(
            2**width, width
        )
        outputs = torch.arange(10.0, 10 + width).expand(len(masks), width)
        found = read_at(outputs, masks, first=first, accepts_empty=accepts_empty).tolist()
        for mask, value in zip(masks.tolist(), found, strict=True):
            real = [place for place, is_real in enumerate(mask) if is_real]
            right = 10 + real[0 if first else -1] if real else float(accepts_empty)
            assert value == right
