"""What a GPT-2 reads wrong is refused: bounds against torch's own norm, and networks made to pass them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
import torch
from torch.nn.functional import layer_norm, linear

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, I, Number, over, times
from attemper.exact.formats import FLOAT32, FORMATS
from attemper.exports.gpt2.layout import EPSILON, GAIN, layout_of
from attemper.exports.gpt2.noise import BIT, LEAD, ROOM, readings
from attemper.exports.gpt2.reading import require_finite, require_readable
from attemper.exports.gpt2.rounding import Stream, relative
from attemper.exports.gpt2.sizes import alone_of, pairs_of, sizes_of
from attemper.exports.gpt2.weights import greatest_sizes
from attemper.networks.layers import Foreign, Head, Hidden, Layer, Masking, Network, Select, Softmax, Uniform
from tests.support.clamped_networks import HALF, letters_network

UP, BIG = Fraction(2), Fraction(2**80)


def unit(amount: Fraction, bias: Fraction, written: Fraction, *, read: int = 0, to: int = 1) -> Hidden:
    return Hidden(((read, amount),), bias, ((to, written),))


# Sizes -----------------------------------------------------------------------------------------------------


def test_a_unit_counts_in_one_clamp_only() -> None:
    low, high = unit(BIG, HALF, Fraction(1)), unit(BIG, Fraction(0), Fraction(-1))
    layer = Layer((), (low, high, low), ((0, 1), (2, 1)))
    assert pairs_of(layer) == ((0, 1),)
    assert alone_of(layer) == (low,)
    network = replace(letters_network({}, {"a": 1}), layers=(layer,))
    assert sizes_of(network, [Fraction(0)] * 2) == [1, HALF + BIG + HALF]
    twice = Layer((), (low, high), ((0, 1), (0, 1)))
    assert pairs_of(twice) == ((0, 1),)
    assert sizes_of(replace(network, layers=(twice,)), [Fraction(0)] * 2) == [1, HALF]


@pytest.mark.parametrize(
    "second",
    [
        unit(BIG / 2, Fraction(0), Fraction(-1)),
        unit(BIG, Fraction(0), Fraction(1)),
        unit(BIG, Fraction(0), Fraction(-2)),
        unit(BIG, Fraction(0), Fraction(-1), to=0),
        Hidden(((0, BIG),), Fraction(0), ()),
    ],
    ids=["another form", "the same sign", "another factor", "another target", "nothing"],
)
def test_units_that_do_not_cancel_are_no_pair(second: Hidden) -> None:
    first = unit(BIG, HALF, Fraction(1))
    layer = Layer((), (first, second), ((0, 1),))
    assert pairs_of(layer) == ()
    assert alone_of(layer) == (first, second)
    network = replace(letters_network({}, {"a": 1}), layers=(layer,))
    assert sizes_of(network, [Fraction(0)] * 2)[1] >= BIG


def test_pairs_of_any_order_and_number_of_outputs_count_once() -> None:
    first = Hidden(((0, BIG),), HALF, ((0, UP), (1, -UP)))
    second = Hidden(((0, BIG),), Fraction(0), ((0, -UP), (1, UP)))
    for units, pair in (((first, second), (0, 1)), ((second, first), (1, 0)), ((second, first), (0, 1))):
        network = replace(letters_network({}, {"a": 1}), layers=(Layer((), units, (pair,)),))
        assert sizes_of(network, [Fraction(0)] * 2) == [2, 1]


def test_an_embedding_is_as_large_as_its_largest_symbol_whatever_the_sign() -> None:
    for embedding in (({"a": -5}, {"a": 2}), ({"a": 2}, {"a": -5}), ({"a": 5}, {"a": -5})):
        assert sizes_of(letters_network({}, {"a": 1}, embedding=embedding), [Fraction(0)] * 2)[0] == 5


# One read --------------------------------------------------------------------------------------------------


def worst_read(half: torch.Tensor, weights: list[int]) -> tuple[Fraction, Fraction]:
    """How far a float32 GPT-2 reads a form of the first coordinates off, and the bound on that."""
    x = torch.cat([half, -half], dim=1)
    width = x.shape[1]
    y = layer_norm(x, (width,), torch.full((width,), float(GAIN)), torch.zeros(width), float(EPSILON))
    own = torch.zeros(half.shape[1])
    own[: len(weights)] = torch.tensor(weights, dtype=torch.float32)
    read = linear(y, torch.cat([own, -own])[None] / 2)[:, 0]
    exact = [
        sum(w * Fraction(n) for w, n in zip(weights, row[: len(weights)], strict=True))
        for row in half.tolist()
    ]
    off = max(abs(Fraction(got) - meant) for got, meant in zip(read.tolist(), exact, strict=True))
    sizes = [Fraction(size) for size in half.abs().amax(dim=0).tolist()]
    stream = Stream(FLOAT32, width, sizes, [Fraction(0)] * len(sizes))
    form = tuple((c, Fraction(weight)) for c, weight in enumerate(weights))
    return off, stream.read(form)


@pytest.mark.parametrize("width", [8, 16, 31, 64, 500])
@pytest.mark.parametrize("size", [-110, -76, -40, 0, 12, 30, 36])
def test_no_read_is_further_off_than_its_bound(size: int, width: int) -> None:
    draw = torch.Generator().manual_seed(width)
    half = torch.randn(200, width, generator=draw) * 2.0**size
    for weights in ([1], [3, -5, 7], [2**20, -(2**20), 1, 1, 1, 1]):
        off, bound = worst_read(half, weights)
        assert off <= bound
        half[:, 1] = half[:, 0]
        off, bound = worst_read(half, weights)
        assert off <= bound


def test_a_read_beside_large_numbers_is_really_off() -> None:
    """What is refused is no ghost: a sum of 1 is read far off, and of what is below 2^-76 nothing is left."""
    draw = torch.Generator().manual_seed(0)
    half = torch.rand(200, 32, generator=draw) * 2.0**37
    half[:, :2] = 1
    off, bound = worst_read(half, [2**20, 1 - 2**20])
    assert 8 < off <= bound
    off, bound = worst_read(torch.full((1, 8), 2.0**-110), [2**100])
    assert off == Fraction(1, 2**10) <= bound


def test_roundings_without_end_are_refused() -> None:
    assert relative(2**20, FLOAT32) == Fraction(1, 15)
    with pytest.raises(UnsupportedError, match="fewer --positions"):
        relative(2**21 + 1, FLOAT32)


# Networks --------------------------------------------------------------------------------------------------


def shared_units() -> Network:
    read = ((0, BIG),)
    units = (
        Hidden(read, HALF, ((1, Fraction(1)),)),
        Hidden(read, Fraction(0), ((1, Fraction(-1)),)),
        Hidden(read, HALF, ((1, Fraction(1)),)),
    )
    return letters_network({}, {"a": 1}, before=(Layer((), units, ((0, 1), (2, 1))),), more=("big",))


def large_beside(exponent: int, weight: int) -> Callable[[], Network]:
    """20 numbers about 2^exponent that nobody reads, and `weight` (1 - 1) in the clamp of the letter."""
    positions = {"one": ONE, "uno": ONE}
    positions |= {
        f"h{j}": times(Number(Fraction(2**exponent * (j + 3), 2 * j + 7)), over(I)) for j in range(20)
    }
    return lambda: letters_network(positions, {"a": 1, "one": 2**weight, "uno": -(2**weight)})


def tiny(exponent: int) -> Callable[[], Network]:
    amount = Fraction(1, 2**exponent)
    return lambda: letters_network({}, {"a": 2**exponent}, embedding=({"a": amount}, {}))


def wide_scores(construction: object, weight: int) -> Callable[[], Network]:
    """A head whose scores are weight (1 - 1), written where the clamp reads."""
    row = ((1, Fraction(weight)), (2, Fraction(-weight)))
    head = Head(
        construction,  # type: ignore[arg-type]
        Masking.FUTURE,
        Softmax(ONE),
        (((1, Fraction(1)),),),
        (row,),
        (((0, Fraction(1)),),),
        (3,),
    )
    return lambda: letters_network(
        {"one": ONE, "uno": ONE}, {"seen": 2}, before=(Layer((head,), (), ()),), more=("seen",)
    )


REFUSED: dict[str, tuple[Callable[[], Network], tuple[str, ...], str]] = {
    "units that two clamps share": (shared_units, ("float64", "float32"), "'big' can be as large as 2"),
    "small numbers": (tiny(110), ("float32",), r"can read hidden unit 0\.0 as far off as 2\^"),
    "smaller numbers": (tiny(1010), ("float64",), r"can read hidden unit 0\.0 as far off as 2\^"),
    "no finite weight": (
        tiny(1010),
        ("float32",),
        r"blocks\.0\.mlp\.W_in\[0, 0\] is no finite number in float32",
    ),
    "the mean": (large_beside(37, 20), ("float32",), r"can read hidden unit 0\.0 as far off as"),
    "a smaller mean": (large_beside(30, 14), ("float32",), r"can read hidden unit 0\.0 as far off as"),
    "1 - 1 times 2^26": (large_beside(0, 26), ("float32",), r"can read hidden unit 0\.0 as far off as"),
    "scores of any head": (wide_scores(Foreign(), 2**26), ("float32",), r"can read hidden unit 1\.0 as far"),
    "scores that are said to be 0": (wide_scores(Uniform(), 2**26), ("float32",), r"hidden unit 1\.0 as far"),
    "scores of a construction": (
        wide_scores(Select(False, ((None, ((0, Fraction(1)),)),)), 2**26),
        ("float32",),
        r"can read the scores of head 0\.0 as far off as",
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_a_gpt2_would_read_wrong_is_refused(why: str) -> None:
    make, formats, message = REFUSED[why]
    network = make()
    for dtype in formats:
        with pytest.raises(UnsupportedError, match=message):
            require_readable(network, layout_of(network, 16), dtype)


@pytest.mark.parametrize("part", ["embed.W_E", "position embedding", "attn.W_K", "mlp.b_in", "mlp.W_out"])
def test_a_number_that_no_float32_holds_is_named(part: str) -> None:
    """2^130, in a network whose other numbers are small."""
    huge, none = Fraction(2**130), Fraction(0)
    position = Number(huge) if part == "position embedding" else ONE
    embedding = ({"a": huge if part == "embed.W_E" else 1}, {})
    hidden = Hidden((), huge if part == "mlp.b_in" else none, ((2, huge if part == "mlp.W_out" else UP),))
    key = ((0, huge),) if part == "attn.W_K" else ()
    head = Head(Foreign(), Masking.FUTURE, Softmax(ONE), (((0, UP),),), (key,), (), ())
    layer = Layer((head,), (hidden,), ())
    network = letters_network({"one": position}, {"a": 1}, embedding=embedding, before=(layer,), more=("b",))
    with pytest.raises(UnsupportedError, match=rf"{part}\[.*\] is no finite number in float32"):
        require_finite(network, layout_of(network, 4), torch.float32)
    require_finite(network, layout_of(network, 4), torch.float64)


def test_the_factor_of_queries_counts_for_what_is_finite() -> None:
    """2^126 times the root of the head width is a float32, and times that of a GPT-2's width none."""
    head = Head(Foreign(), Masking.FUTURE, Softmax(ONE), (((0, Fraction(2**126)),),), ((),), (), ())
    network = letters_network({}, {"a": 1}, heads=(head,))
    layout = layout_of(network, 4)
    require_finite(network, replace(layout, query_factor=1), torch.float32)
    with pytest.raises(UnsupportedError, match=r"blocks\.0\.attn\.W_Q\[0, 0, 0\]"):
        require_finite(network, replace(layout, query_factor=2), torch.float32)


def test_numbers_that_overflow_on_the_way_are_refused() -> None:
    """A unit that writes nothing: infinity times 0 is no number in a matrix product."""
    layer = Layer((), (Hidden(((0, Fraction(2**120)),), Fraction(0), ()),), ())
    network = letters_network({}, {"a": 1}, before=(layer,))
    with pytest.raises(UnsupportedError, match=r"hidden unit 0\.0 can be as large as 2\^1"):
        require_readable(network, layout_of(network, 4), "float32")
    require_readable(network, layout_of(network, 4), "float64")


def test_noise_of_a_foreign_head_is_noise_of_its_average() -> None:
    """Scores of 2^20 (1 - 1) are off by more than 1/2 in float32, its average by twice its values."""
    network = wide_scores(Foreign(), 2**20)()
    found = {one.name: one for one in readings(network, layout_of(network, 16), [Fraction(1)] * 5, FLOAT32)}
    assert found["the scores of head 0.0"].bears is None
    assert found["hidden unit 1.0"].noise > 2 * 2 * min(found["the scores of head 0.0"].noise, Fraction(1, 2))
    assert found["hidden unit 1.0"].bears == ROOM
    assert found["the output 'out'"].bears == BIT


ZOO = ("majority", "dyck-1", "flip-flop", "k-hop-3", "a-n-b-n-c-n-d-n", "dyck-1-depth-10", "detect-aaaab")
FORMULAS = ("(!'b') S 'a'", "H ('a' -> Y 'b')", "#<['a'] + 2 * #<['b'] >= 3")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*ZOO, *FORMULAS])
def test_compiled_networks_are_read_well_up_to_512_positions(name: str, dtype: str) -> None:
    is_named = name in ZOO
    model = attemper.compile_named(name, regime="unbounded") if is_named else attemper.compile(name, "ab")
    layout = layout_of(model.network, 512)
    require_readable(model.network, layout, dtype)
    tabulated = greatest_sizes(model.network, 512)
    found = list(readings(model.network, layout, tabulated, FORMATS[dtype]))
    assert {BIT, LEAD} <= {one.bears for one in found}
    has_clamps = any(layer.clamps for layer in model.network.layers)
    assert has_clamps == (ROOM in {one.bears for one in found})
    assert all(0 < one.noise < one.bears for one in found if one.bears == BIT)
