"""ONNX Runtime's arithmetic on a CPU, as FORMAT.md, section 6, assumes it: exp, sums, means, operations."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from attemper.exact.balls import precision

pytestmark = pytest.mark.exports

UNIT = {"float32": Fraction(1, 2**24), "float64": Fraction(1, 2**53)}
FORMATS = tuple(UNIT)

LOWEST = {"float32": -86.0, "float64": -700.0}
"""Above it exp is a normal number of the format."""

EXP_ULPS, MEAN_ULPS = 8, 4
"""What section 6 allows, in units of round-off: of exp, and of a mean of exact values."""


@pytest.fixture(autouse=True)
def _precise() -> Any:
    with precision(200):
        yield


def run(kind: str, dtype: str, *inputs: Any, outputs: int = 1) -> Any:
    """What the runtime computes of one operation, or of a chain `A>B` of them on the first input."""
    import onnxruntime
    from onnx import TensorProto, helper

    element = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}[dtype]
    names = [f"x{number}" for number in range(len(inputs))]
    nodes = [helper.make_node(kind, names, ["y"])]
    shapes = [
        helper.make_tensor_value_info(name, element, one.shape)
        for name, one in zip(names, inputs, strict=True)
    ]
    graph = helper.make_graph(nodes, kind, shapes, [helper.make_tensor_value_info("y", element, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, dict(zip(names, inputs, strict=True)))
    assert found.dtype == dtype
    return found


def exp_points(dtype: str) -> Any:
    """Points from 0 down: even ones, each binade's ends and neighbours, and random ones."""
    draw = np.random.default_rng(7)
    lowest = LOWEST[dtype]
    ends = -(2.0 ** np.arange(-60, np.log2(-lowest)))
    points = [
        np.linspace(lowest, 0, 4_000),
        ends,
        draw.uniform(lowest, 0, 100_000),
        -(2.0 ** draw.uniform(-40, 6, 50_000)),
    ]
    found = np.concatenate(points).astype(dtype)
    return np.concatenate([found, np.nextafter(found, np.array(-1, dtype)), np.zeros(37, dtype)])


def worst_exp(points: Sequence[Any], found: Sequence[Any], unit: Fraction) -> float:
    """The greatest relative error, in units of round-off, from above."""
    worst = arb(0)
    for point, own in zip(points, found, strict=True):
        exact = arb(float(point)).exp()
        worst = worst.max(abs(arb(float(own)) / exact - 1) / arb(unit.numerator) * unit.denominator)
    return float(worst.upper())


@pytest.mark.parametrize("dtype", FORMATS)
def test_exp_is_as_section_6_assumes(dtype: str) -> None:
    """Within 8 u, and exactly 1 at 0, wherever in a vector the number stands."""
    points = exp_points(dtype)
    found = run("Exp", dtype, points)
    assert (found[points == 0] == 1).all()
    assert (points == 0).sum() >= 37
    worst = worst_exp(points, found, UNIT[dtype])
    assert 0.5 < worst <= EXP_ULPS
    assert worst <= {"float32": 1.3, "float64": 2.2}[dtype]  # as docs/arithmetic.md says


@pytest.mark.parametrize("dtype", FORMATS)
def test_exp_of_a_single_number_is_that_of_a_vector(dtype: str) -> None:
    """Kernels take whole vectors and what is left over by different code."""
    points = exp_points(dtype)[::997]
    for width in (1, 2, 3, 5, 8, 13, 16, 31):
        found = run("Exp", dtype, points[:width])
        assert worst_exp(points[:width], found, UNIT[dtype]) <= EXP_ULPS
        assert run("Exp", dtype, np.zeros(width, dtype)).tolist() == [1] * width


@pytest.mark.parametrize("dtype", FORMATS)
def test_exp_below_the_range_is_small_and_never_negative(dtype: str) -> None:
    points = np.array([-87.5, -104, -200, -745, -746, -1e4, -3e38, -np.inf], dtype)
    found = run("Exp", dtype, points)
    assert (found >= 0).all()
    assert found[-1] == 0
    exact = [arb(float(point)).exp() for point in points[:-1]]
    limit = {"float32": arb(2) ** -125, "float64": arb(2) ** -1021}[dtype]
    for own, right in zip(found[:-1], exact, strict=True):
        assert abs(arb(float(own)) - right) <= limit + right * EXP_ULPS * arb(2) ** -24


@pytest.mark.parametrize("dtype", FORMATS)
def test_means_of_exact_values_are_correctly_rounded(dtype: str) -> None:
    """Weights of 1 times small integers, over their number: both sums are exact, and one division rounds."""
    draw = np.random.default_rng(1)
    for n in (1, 2, 3, 41, 1000, 4099):
        values = draw.integers(-8, 9, (n, 3)).astype(dtype)
        weights = np.ones((1, n), dtype)
        numerator, total = run("MatMul", dtype, weights, values), run("ReduceSum", dtype, weights)
        assert numerator.tolist() == values.sum(axis=0, keepdims=True).tolist()
        assert total.item() == n
        found = run("Div", dtype, numerator, total)
        for own, exact in zip(found[0], values.sum(axis=0), strict=True):
            mean = Fraction(int(exact), n)
            assert abs(Fraction(float(own)) - mean) <= UNIT[dtype] * abs(mean)


@pytest.mark.parametrize("kind", ["ReduceSum", "CumSum", "MatMul"])
@pytest.mark.parametrize("dtype", FORMATS)
def test_sums_lose_at_most_what_any_order_loses(dtype: str, kind: str) -> None:
    """N u of the sum of absolute values; section 6 allows (8/7) (N - 1) U and the products' own roundings."""
    draw = np.random.default_rng(2)
    for n in (2, 17, 1000, 5000):
        values = (draw.standard_normal(n) * 2.0 ** draw.integers(-12, 12, n)).astype(dtype)
        match kind:
            case "ReduceSum":
                found = run(kind, dtype, values).item()
            case "CumSum":
                found = cumulative(dtype, values)[-1]
            case _:
                found = run(kind, dtype, np.ones((1, n), dtype), values[:, None]).item()
        exact, size = (sum(map(Fraction, map(float, row))) for row in (values, abs(values)))
        assert abs(Fraction(float(found)) - exact) <= n * UNIT[dtype] * size


def cumulative(dtype: str, values: Any) -> Any:
    """Running sums, whose axis is an input of int64."""
    import onnxruntime
    from onnx import TensorProto, helper

    element = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}[dtype]
    graph = helper.make_graph(
        [helper.make_node("CumSum", ["x", "axis"], ["y"])],
        "sums",
        [helper.make_tensor_value_info("x", element, values.shape)],
        [helper.make_tensor_value_info("y", element, values.shape)],
        [helper.make_tensor("axis", TensorProto.INT64, [], [0])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": values})[0]


@pytest.mark.parametrize("dtype", FORMATS)
@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div", "Sqrt", "Reciprocal"])
def test_operations_round_once(dtype: str, kind: str) -> None:
    """The nearest number of the format, as numpy has it: all that is no sum and no exp is made of these."""
    draw = np.random.default_rng(3)
    one, other = (draw.uniform(0.1, 100, 2_001).astype(dtype) for _ in range(2))
    if kind in {"Sqrt", "Reciprocal"}:
        expected = np.sqrt(one) if kind == "Sqrt" else np.array(1, dtype) / one
        assert (run(kind, dtype, one) == expected).all()
        return
    named = {"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide}[kind]
    assert (run(kind, dtype, one, other) == named(one, other)).all()


@pytest.mark.parametrize("dtype", FORMATS)
def test_its_own_layer_normalisation_is_not_of_the_class_in_float64(dtype: str) -> None:
    """Why no export has it: eps is a float32 number there. In float64 the scale is off by 10^7 u and more."""
    import onnxruntime
    from onnx import TensorProto, helper

    element = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}[dtype]
    half = np.random.default_rng(4).standard_normal((1, 8)) * 1e-3
    x = np.concatenate([half, -half], axis=1).astype(dtype)
    graph = helper.make_graph(
        [helper.make_node("LayerNormalization", ["x", "w"], ["y"], epsilon=1e-5)],
        "norm",
        [
            helper.make_tensor_value_info(name, element, shape)
            for name, shape in (("x", (1, 16)), ("w", (16,)))
        ],
        [helper.make_tensor_value_info("y", element, (1, 16))],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {"x": x, "w": np.ones(16, dtype)})
    exact = [arb(float(value)) for value in x[0]]
    mean = sum(exact, arb(0)) / 16
    variance = sum(((value - mean) ** 2 for value in exact), arb(0)) / 16
    scale = 1 / (variance + arb(1) / 100_000).sqrt()
    worst = max(
        abs(arb(float(own)) / ((value - mean) * scale) - 1)
        for own, value in zip(found[0], exact, strict=True)
    )
    ulps = float((worst * UNIT[dtype].denominator).mid())
    assert ulps > 10**7 if dtype == "float64" else ulps < 30
