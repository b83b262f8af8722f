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
from attemper.exact.closed_forms import ONE, Number
from attemper.exact.formats import FLOAT32, FORMATS, REAL
from attemper.exports.gpt2.layout import EPSILON, GAIN, layout_of
from attemper.exports.gpt2.noise import BIT, ROOM, SCORE_GAP, readings
from attemper.exports.gpt2.reading import require_finite, require_readable
from attemper.exports.gpt2.rounding import ReadBounds, relative
from attemper.exports.gpt2.weights import greatest_sizes
from attemper.networks.layers import Foreign, Head, Hidden, Layer, Masking, Network, Select, Softmax, Uniform
from tests.support.drawn.clamped_networks import (
    large_beside,
    letters_network,
    shared_units,
    tiny,
    wide_scores,
)

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
    stream = ReadBounds(FLOAT32, width, sizes, [Fraction(0)] * len(sizes))
    form = tuple((c, Fraction(weight)) for c, weight in enumerate(weights))
    return off, stream.read(form)


@pytest.mark.sweep(6)
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
    assert 1 <= off <= bound  # how far beyond the sum itself is for the machine's order of summation
    off, bound = worst_read(torch.full((1, 8), 2.0**-110), [2**100])
    assert off == Fraction(1, 2**10) <= bound


def test_what_is_lost_below_the_normal_range_counts_also_where_nothing_is_rounded() -> None:
    """In each of the three steps of a norm L, times its gain; and twice L in the two products."""
    stream = ReadBounds(REAL, 16, [Fraction(0)] * 2, [Fraction(0)] * 2)
    least, weight = REAL.least_normal, Fraction(2**40)
    assert stream.read(()) == 0
    assert stream.read(((1, weight),)) == 2 * least * (3 * 2**50 * weight + 2)


def test_roundings_without_end_are_refused() -> None:
    assert relative(2**20, FLOAT32) == Fraction(1, 15)
    with pytest.raises(UnsupportedError, match="fewer positions"):
        relative(2**21 + 1, FLOAT32)


# Networks --------------------------------------------------------------------------------------------------


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
    hidden = Hidden(
        (), huge if part == "mlp.b_in" else none, ((2, huge if part == "mlp.W_out" else Fraction(2)),)
    )
    key = ((0, huge),) if part == "attn.W_K" else ()
    head = Head(Foreign(), Masking.FUTURE, Softmax(ONE), (((0, Fraction(2)),),), (key,), (), ())
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


@pytest.mark.parametrize(("part", "other"), [("query", "key"), ("key", "query")])
@pytest.mark.parametrize(("size", "dtype"), [(120, "float32"), (1000, "float64")])
def test_a_row_of_a_head_that_overflows_is_refused_whatever_the_other_is(
    size: int, dtype: str, part: str, other: str
) -> None:
    """Infinity times 0 is no number, and the score as a whole may be small."""
    for factor in (Fraction(0), Fraction(1, 2 ** (size - 20))):
        rows = {part: ((((0, Fraction(2**size)),)),), other: ((((0, factor),) if factor else ()),)}
        head = Head(Foreign(), Masking.FUTURE, Softmax(ONE), rows["query"], rows["key"], (), ())
        network = letters_network({}, {"a": 1}, heads=(head,))
        with pytest.raises(UnsupportedError, match=rf"{part} 0 of head 0\.0 can be as large as 2\^"):
            require_readable(network, layout_of(network, 4), dtype)


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


def test_numbers_that_cancel_in_a_sum_are_rounded_there() -> None:
    """2^22 and its opposite are written to one coordinate: the sum may be off by 4 roundings, a read by 8."""
    units = tuple(Hidden((), Fraction(2**22), ((1, Fraction(sign)),)) for sign in (1, -1))
    network = replace(letters_network({}, {"a": 1}), layers=(Layer((), units, ()),))
    *_, output = readings(network, layout_of(network, 4), [Fraction(0)] * 2, FLOAT32)
    assert output.noise >= 2**23 * (8 + 2 * 4) * FLOAT32.roundoff
    with pytest.raises(UnsupportedError, match="can read the output 'out' as far off as"):
        require_readable(network, layout_of(network, 4), "float32")
    require_readable(network, layout_of(network, 4), "float64")


def test_noise_goes_through_hidden_units_that_are_no_clamp() -> None:
    network = wide_scores(Foreign(), 2**26)()
    heads, _ = network.layers
    copy = Layer((), (Hidden(((3, Fraction(1)),), Fraction(0), ((4, Fraction(1)),)),), ())
    own = replace(network, layers=(heads, copy))
    with pytest.raises(UnsupportedError, match="can read the output 'out' as far off as 2"):
        require_readable(own, layout_of(own, 16), "float32")
    require_readable(own, layout_of(own, 16), "float64")


def test_scores_are_held_before_the_root_of_the_head_width_divides_them() -> None:
    """2^99 is a score that is small enough, and not if a GPT-2 forms twice or 4 times as much first."""
    query, key = ((1, Fraction(2**50)),), ((1, Fraction(2**49)),)
    head = Head(Foreign(), Masking.FUTURE, Softmax(ONE), (query,), (key,), (), ())
    network = letters_network({"one": ONE}, {"a": 1}, heads=(head,))
    with pytest.raises(UnsupportedError, match=r"the scores of head 0\.0 can be as large as 2\^10"):
        require_readable(network, layout_of(network, 4), "float32")
    small = replace(head, key=(((1, Fraction(2**45)),),))
    own = replace(network, layers=(replace(network.layers[0], heads=(small,)),))
    require_readable(own, layout_of(own, 4), "float32")


ZOO = ("majority", "dyck-1", "flip-flop", "k-hop-3", "a-n-b-n-c-n-d-n", "dyck-1-depth-10", "detect-aaaab")
FORMULAS = ("(!'b') S 'a'", "H ('a' -> Y 'b')", "#<['a'] + 2 * #<['b'] >= 3")


@pytest.mark.sweep(5)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", [*ZOO, *FORMULAS])
def test_compiled_networks_are_read_well_up_to_512_positions(name: str, dtype: str) -> None:
    is_named = name in ZOO
    model = attemper.compile(f"zoo:{name}", regime="unbounded") if is_named else attemper.compile(name, "ab")
    layout = layout_of(model.network, 512)
    require_readable(model.network, layout, dtype)
    tabulated = greatest_sizes(model.network, 512)
    found = list(readings(model.network, layout, tabulated, FORMATS[dtype]))
    assert {BIT, SCORE_GAP} <= {one.bears for one in found}
    has_clamps = any(layer.clamps for layer in model.network.layers)
    assert has_clamps == (ROOM in {one.bears for one in found})
    assert all(0 < one.noise < one.bears for one in found if one.bears == BIT)
