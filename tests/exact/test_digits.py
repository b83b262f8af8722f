"""The closed form `digits`: how many binary digits a positive integer has."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest
import torch

from attemper.exact.closed_forms import (
    FORM,
    SIGN,
    Digits,
    I,
    N,
    Power,
    complaints,
    depends_on_length,
    evaluate,
    nesting,
    over,
    plus,
    shift_position,
    show_form,
    times,
)
from attemper.exact.codec import CodecError
from attemper.running.closed_form_tensors import form_values

MARGIN = plus(8, times(2, Digits(N)))


def test_digits_are_those_of_the_binary_number() -> None:
    for n in range(1, 2_000):
        assert evaluate(Digits(N), 1, n) == len(f"{n:b}")
    assert evaluate(Digits(plus(times(I, Power(N, 2)), 3)), 2, 5) == len(f"{2 * 25 + 3:b}")


def test_digits_bound_the_logarithm_from_above() -> None:
    """e^-digits(n) < 1/n, and n e^-digits(n) <= 3 e^-2: what every margin that grows rests on."""
    most = 3 * flint.arb(-2).exp()
    for n in range(1, 5_000):
        faded = flint.arb(-int(evaluate(Digits(N), 1, n))).exp() * n
        assert faded < 1
        assert faded <= most or n == 3


def test_tensors_have_the_same_digits() -> None:
    n = torch.tensor([*range(1, 3_000), 2**31 - 1, 2**31, 2**40, 2**53 - 1])
    exact = [float(evaluate(MARGIN, 1, int(length))) for length in n]
    assert form_values(MARGIN, torch.ones_like(n), n).tolist() == exact


@pytest.mark.parametrize(
    "form",
    [plus(N, -1), times(N, 0), over(N), SIGN, plus(), times(N, Fraction(1, 2)), Power(plus(I, -2), 2)],
)
def test_digits_of_what_may_be_no_positive_integer_are_refused(form: object) -> None:
    with pytest.raises(ValueError, match="digits are those of a positive integer"):
        Digits(form)  # type: ignore[arg-type]
    data = ["sum", [["position"], ["digits", FORM.encode(form)]]]  # type: ignore[arg-type]
    with pytest.raises(CodecError, match=r"^parts\[1\]: digits are those of a positive integer"):
        FORM.read(data)


@pytest.mark.parametrize("form", [Digits(N), MARGIN, Digits(Digits(times(I, N))), Digits(plus(I, 3))])
def test_digits_are_read_back(form: object) -> None:
    assert FORM.read(FORM.encode(form)) == form  # type: ignore[arg-type]


def test_the_shape_of_digits() -> None:
    assert show_form(MARGIN) == "(8 + 2*digits(n))"
    assert depends_on_length(MARGIN)
    assert not depends_on_length(Digits(I))
    assert nesting(Digits(Power(N, 2))) == 2
    assert shift_position(Digits(plus(I, N)), 1) == Digits(plus(plus(I, 1), N))
    with pytest.raises(ValueError, match="positive integer"):
        shift_position(Digits(I), -1)


def test_digits_count_to_the_total_degree() -> None:
    digits = FORM.read(["digits", ["power", ["length"], 16]])
    assert list(complaints(times(*[digits] * 4))) == []
    assert list(complaints(times(*[digits] * 5))) == [
        "powers and products nest to the degree 80, and no construction needs more than 64"
    ]
