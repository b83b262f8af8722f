"""Closed forms on tensors of positions and lengths, in float64."""

from __future__ import annotations

import sys
from typing import assert_never

import torch
from torch import Tensor

from attemper.exact import closed_forms
from attemper.exact.predicates import Named, NonNegative, Predicate, Remainder, Zero, holds, periodic


def form_values(form: closed_forms.ClosedForm, i: Tensor, n: Tensor) -> Tensor:
    """The form at positions i of words of length n (int64 tensors of one shape), as float64.

    Integers up to 2^53 are exact, and so are their digits; every operation rounds at most once.
    """
    match form:
        case closed_forms.Number(value):
            return constant_like(i, float(value), torch.float64)
        case closed_forms.Position():
            return i.double()
        case closed_forms.Length():
            return n.double()
        case closed_forms.Alternating():
            return (1 - 2 * (i % 2)).double()
        case closed_forms.Test(predicate, per_position, per_length, shift):
            return predicate_values(predicate, per_position * i + per_length * n + shift).double()
        case closed_forms.Sum(parts):
            total = torch.zeros_like(i, dtype=torch.float64)
            for part in parts:
                total = total + form_values(part, i, n)
            return total
        case closed_forms.Product(parts):
            return _product([form_values(part, i, n) for part in parts], like=i)
        case closed_forms.Power(base, exponent):
            # Its repeated product, as FORMAT.md says: what other runtimes make of a power is not exact.
            power = _product([form_values(base, i, n)] * abs(exponent), like=i)
            return power.reciprocal() if exponent < 0 else power
        case closed_forms.Digits(inner):
            return _binary_digits(form_values(inner, i, n))
        case _:
            assert_never(form)


def constant_like(shaped: Tensor, value: float, dtype: torch.dtype) -> Tensor:
    """A tensor of that shape and device with one number everywhere, of that format.

    The number comes from a tensor: ONNX exporters round a Python number to float32, whatever format it fills.
    """
    return torch.tensor(value, dtype=dtype, device=shaped.device).expand(shaped.shape)


def _product(factors: list[Tensor], *, like: Tensor) -> Tensor:
    product = torch.ones_like(like, dtype=torch.float64)
    for factor in factors:
        product = product * factor
    return product


def _binary_digits(values: Tensor) -> Tensor:
    """How many binary digits positive integers have, in all of float64's range; beyond there is no number."""
    is_finite = values <= constant_like(values, sys.float_info.max, values.dtype)
    digits = (values >= 1).to(values.dtype)
    for step in (512, 256, 128, 64, 32, 16, 8, 4, 2, 1):
        has_more = values >= constant_like(values, 2.0**step, values.dtype)
        digits = digits + step * has_more
        values = torch.where(has_more, values * constant_like(values, 2.0**-step, values.dtype), values)
    return torch.where(is_finite, digits, constant_like(values, float("nan"), values.dtype))


def predicate_values(predicate: Predicate, values: Tensor) -> Tensor:
    """Which of the integers (int64) are in the predicate's set, as a bool tensor."""
    match periodic(predicate):
        case Remainder(modulus, remainder):
            return values % modulus == remainder
        case Zero():
            return values == 0
        case NonNegative():
            return values >= 0
        case Named():
            # A registered predicate is a Python function: ask it once per distinct integer.
            distinct, place = torch.unique(values, return_inverse=True)
            answers = torch.tensor([holds(predicate, value) for value in distinct.tolist()])
            return answers.to(values.device)[place]
        case _:
            assert_never(predicate)
