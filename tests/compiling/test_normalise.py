"""The pass that makes a network of pairs for an architecture with LayerNorm, and what it refuses."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from math import isqrt
from pathlib import Path

import pytest

import attemper
from attemper import LayerNorm
from attemper.checker.verdict import Status
from attemper.compiling.softening.normalise import normalise
from attemper.errors import AttemperError, ExitCode, OptionError, UnsupportedError
from attemper.exact.closed_forms import FORM, I, evaluate, times
from attemper.exact.closed_forms import complaints as form_complaints
from attemper.networks.layers import LinearForm, Network, Norm, Normalisation
from attemper.networks.meaning_hard import residual_streams as hard_streams
from attemper.networks.meaning_soft import output_rows, residual_streams
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from tests.support.drawn.normalised import FETCH_FOUR

DRAW = random.Random(3)
GAINS = tuple(Fraction(DRAW.uniform(0.25, 1.75)) * DRAW.choice((1, -1)) for _ in range(331))
BIASES = tuple(Fraction(DRAW.gauss(0, 1)) for _ in range(337))

WAYS = {
    "layer norm": LayerNorm(),
    "gains, biases": LayerNorm(gain=GAINS, bias=BIASES, unit=Fraction(1, 2**10)),
    "padding": LayerNorm(eps=Fraction(0), padding=Fraction(2**16)),
    "RMS": LayerNorm(is_centred=False, unit=Fraction(1, 4)),
}


def plain_network() -> Network:
    return attemper.compile(FETCH_FOUR, "abc", regime="temperature").network


def normalisation_of(network: Network) -> Normalisation:
    assert network.normalisation is not None
    return network.normalisation


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_coordinates_stand_in_pairs_of_opposite_numbers(how: LayerNorm) -> None:
    plain = plain_network()
    wide = normalise(plain, how)
    assert complaints(wide) == ()
    half = len(wide.coordinates) // 2
    assert half == len(plain.coordinates) + (how.padding != 0)
    for stream in residual_streams(wide, tuple("abcbba")):
        for vector in stream:
            for one, other in zip(vector[:half], vector[half:], strict=True):
                assert (one + other).contains(0)
                assert abs(one + other) < 2**-200


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_what_is_written_first_is_the_plain_embedding_times_lambda(how: LayerNorm) -> None:
    plain = plain_network()
    wide = normalise(plain, how)
    placed = dict(wide.positions)
    half = len(wide.coordinates) // 2
    for coordinate, form in plain.positions:
        for i, n in ((1, 1), (2, 5), (7, 7)):
            value = how.unit * evaluate(form, i, n)
            assert evaluate(placed[coordinate], i, n) == value == -evaluate(placed[coordinate + half], i, n)
    for row, wider in zip(plain.embedding, wide.embedding, strict=True):
        assert dict(wider) == {
            place: sign * how.unit * number
            for coordinate, number in row
            for place, sign in ((coordinate, 1), (coordinate + half, -1))
        }


def sizes(row: LinearForm) -> dict[int, Fraction]:
    return dict(row)


@pytest.mark.parametrize("how", WAYS.values(), ids=WAYS)
def test_each_weight_is_rounded_once(how: LayerNorm) -> None:
    """w sqrt(base) / (2 lambda g) to float64: within half a unit in the last place of it."""
    plain = plain_network()
    wide, half = normalise(plain, how), len(plain.coordinates) + (how.padding != 0)
    base = how.eps + how.unit**2 * (1 + how.padding**2) / half  # the constants: 1 and the padding
    for number, (layer, wider) in enumerate(zip(plain.layers, wide.layers, strict=True)):
        norm = normalisation_of(wide).before_feed_forward[number]
        for unit, own in zip(layer.hidden, wider.hidden, strict=True):
            assert own.bias == unit.bias
            found = sizes(own.form)
            for coordinate, weight in unit.form:
                assert found[coordinate] == -found[coordinate + half]
                square = (found[coordinate] * 2 * how.unit * norm.gain[coordinate] / weight) ** 2
                assert abs(square / base - 1) < Fraction(1, 2**51)
                assert (found[coordinate] > 0) == (weight * norm.gain[coordinate] > 0)


def test_partners_have_the_same_gain_and_bias_norm_after_norm() -> None:
    wide = normalise(plain_network(), WAYS["gains, biases"])
    how, half = normalisation_of(wide), len(wide.coordinates) // 2
    norms = [
        norm for pair in zip(how.before_attention, how.before_feed_forward, strict=True) for norm in pair
    ]
    rows = [norm.gain for norm in norms], [norm.bias for norm in norms]
    for drawn, found in zip((GAINS, BIASES), rows, strict=True):
        assert all(row[:half] == row[half:] for row in found)
        listed = [number for row in found for number in row[:half]]
        assert listed == [drawn[k % len(drawn)] for k in range(len(listed))]


def test_a_head_of_many_values_becomes_several() -> None:
    plain = plain_network()
    layer = plain.layers[0]
    head = layer.heads[0]
    many = replace(head, values=head.values[:1] * 11, targets=tuple(range(11)))
    plain = replace(plain, layers=(replace(layer, heads=(many,)), *plain.layers[1:]), head_width=16)
    wide = normalise(plain, LayerNorm())
    half = len(wide.coordinates) // 2
    assert complaints(wide) == ()
    assert wide.head_width == 16
    targets = [head.targets for head in wide.layers[0].heads]
    assert targets == [
        (*range(8), *range(half, half + 8)),
        (*range(8, 11), *range(half + 8, half + 11)),
    ]
    word = tuple("abcb")
    unit = normalisation_of(wide).unit
    after, wanted = residual_streams(wide, word)[1], residual_streams(plain, word)[1]
    for vector, right in zip(after, wanted, strict=True):
        for coordinate in range(11):
            assert abs(vector[coordinate] - right[coordinate] * unit.numerator / unit.denominator) < 2**-60


@pytest.mark.parametrize("padding", [0, 32])
def test_reads_are_off_by_one_factor_at_each_position(padding: int) -> None:
    """What a sublayer reads of x is phi x, with one phi in [1 - rho, 1] for all coordinates of a position."""
    how = LayerNorm(unit=Fraction(1, 2**9), padding=Fraction(padding))
    model = attemper.compile(FETCH_FOUR, "abc", layer_norm=how)
    half = len(model.network.coordinates) // 2
    base = how.eps + how.unit**2 * (1 + how.padding**2) / half
    _, cache = model.dense().run_with_cache(*model.to_tokens(["abcbb", "bbbaa"]))
    for number in range(len(model.network.layers)):
        for place, norm in (("pre", "ln1"), ("mid", "ln2")):
            x = cache[f"blocks.{number}.hook_resid_{place}"][..., :half] / float(how.unit)
            h = cache[f"blocks.{number}.{norm}.hook_normalized"]
            read = float(base) ** 0.5 / (2 * float(how.unit)) * (h[..., :half] - h[..., half:])
            phi = (read * x).sum(dim=-1) / (x * x).sum(dim=-1)
            assert (read - phi[..., None] * x).abs().max() < 1e-9
            varying = (x * x).sum(dim=-1) - 1 - padding**2
            rho = float(how.unit**2) * varying / half / (2 * float(base))
            assert (phi <= 1).all()
            assert (phi >= 1 - rho).all()
            assert (phi < 1 - rho / 2).all()


def test_a_square_root_has_its_bits() -> None:
    """A base of any size: weights are then rounded from it once."""
    for eps in (Fraction(1, 10**12), Fraction(1, 3), Fraction(1)):
        for power in (0, 40, 100):
            how = LayerNorm(eps=eps, unit=Fraction(1, 2**power))
            wide = normalise(plain_network(), how)
            unit = next(unit for layer in wide.layers for unit in layer.hidden)
            plain = next(unit for layer in plain_network().layers for unit in layer.hidden)
            weight = abs(unit.form[0][1] / plain.form[0][1])
            base = eps + how.unit**2 / len(plain_network().coordinates)
            exact = Fraction(isqrt((base.numerator << 400) // base.denominator), 1 << 200) / (2 * how.unit)
            assert float(exact) == float(weight)


# Refusals --------------------------------------------------------------------------------------------


def test_unbounded_embeddings_are_refused_with_the_reason() -> None:
    with pytest.raises(
        UnsupportedError, match=r"every weight by e\^\(2A\)/n: no head can single out"
    ) as caught:
        attemper.compile("O a", "ab", regime="unbounded", layer_norm=LayerNorm())
    assert caught.value.exit_code is ExitCode.UNSUPPORTED


def test_the_first_regime_is_temperature() -> None:
    assert attemper.compile("O a", "ab", layer_norm=LayerNorm()).regime is Regime.TEMPERATURE
    assert attemper.compile(attemper.regex("a*b", "ab"), layer_norm=LayerNorm()).regime is Regime.TEMPERATURE


def test_what_is_not_in_the_regime_is_refused_as_ever() -> None:
    with pytest.raises(UnsupportedError, match="decoder regime"):
        attemper.compile("F a", "ab", at="last", regime="decoder", layer_norm=LayerNorm())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"unit": Fraction(1, 3)}, r"lambda = 1/3 is not 2\^-k"),
        ({"unit": Fraction(2)}, r"lambda = 2 is not 2\^-k"),
        ({"unit": Fraction(1, 2**101)}, r"k from 0 to 100"),
        ({"unit": 2.0**-40}, r"unit=9.09\S+ is no Fraction: write Fraction"),
        ({"eps": 1e-5}, r"eps=1e-05 is no Fraction: write Fraction\('1e-5'\)"),
        ({"eps": Fraction(-1)}, "eps = -1 is not from 0 to 1"),
        ({"eps": Fraction(2)}, "eps = 2 is not from 0 to 1"),
        ({"eps": Fraction(0)}, r"give a padding, for example 2\^16"),
        ({"eps": Fraction(1, 10**40)}, "with at most 40 digits"),
        ({"padding": Fraction(-1)}, "the padding -1 is not a whole number"),
        ({"padding": Fraction(1, 2)}, "the padding 1/2 is not a whole number"),
        ({"padding": Fraction(2**61)}, r"from 0 to 2\^60"),
        ({"gain": (Fraction(1), Fraction(0))}, "a gain is 0"),
        ({"gain": (Fraction(-(2**31)),)}, r"a gain is smaller than 2\^-30 or larger than 2\^30"),
        ({"gain": (Fraction(1, 2**31),)}, r"a gain is smaller than 2\^-30 or larger than 2\^30"),
        ({"bias": (Fraction(-(2**31)),)}, r"a bias is larger than 2\^30"),
        ({"gain": ()}, "gain is no tuple of Fractions"),
        ({"gain": (1.0,)}, "gain is no tuple of Fractions"),
        ({"bias": [Fraction(1)]}, "bias is no tuple of Fractions"),
        ({"bias": (Fraction(1),), "is_centred": False}, "RMSNorm has no bias"),
    ],
)
def test_options_that_are_none_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        LayerNorm(**options)  # type: ignore[arg-type]


def test_the_greatest_and_least_options_are_written_and_read(tmp_path: Path) -> None:
    for how in (
        LayerNorm(unit=Fraction(1, 2**100), eps=Fraction(0), padding=Fraction(2**60 - 1)),
        LayerNorm(unit=Fraction(1), eps=Fraction(1, 10**39)),
        LayerNorm(gain=(Fraction(2**30), Fraction(-1, 2**30)), bias=(Fraction(2**30),)),
    ):
        model = attemper.compile("O a", "ab", layer_norm=how)
        model.save(tmp_path)
        assert attemper.load(tmp_path) == model


def test_a_position_embedding_that_no_file_holds_is_refused() -> None:
    """A form of the greatest degree has no room for one more factor."""
    network = attemper.compile("O a", "ab", regime="temperature").network
    largest = times(*[I] * 64)
    assert FORM.read(FORM.encode(largest)) == largest
    assert list(form_complaints(largest)) == []
    with pytest.raises(UnsupportedError, match=r"embedding i\*i\S+ times lambda cannot be written"):
        normalise(replace(network, positions=((0, largest),)), LayerNorm())


def test_something_else_than_a_layer_norm_is_refused() -> None:
    with pytest.raises(OptionError, match=r"layer_norm is of the type bool: give attemper.LayerNorm\(\)"):
        attemper.compile("O a", "ab", layer_norm=True)  # type: ignore[arg-type]


def test_there_is_no_exact_hard_reading() -> None:
    network = attemper.compile("O a", "ab", layer_norm=LayerNorm()).network
    with pytest.raises(UnsupportedError, match="no exact hard reading"):
        hard_streams(network, ("a",))


def test_hard_attention_models_are_not_normalised() -> None:
    model = attemper.compile("O (b & Y a)", "ab", layer_norm=LayerNorm())
    with pytest.raises(AttemperError, match="compile it without LayerNorm"):
        attemper.refute(model, "zoo:parity-even", length=12)


# Well-formedness -------------------------------------------------------------------------------------


def broken(change: dict[str, object], norm: Norm | None = None) -> tuple[str, ...]:
    network = attemper.compile("O a", "ab", layer_norm=LayerNorm(is_centred=False)).network
    how = replace(normalisation_of(network), **change)  # type: ignore[arg-type]
    if norm is not None:
        how = replace(how, before_attention=(norm,))
    return complaints(replace(network, normalisation=how))


def test_what_is_no_normalisation_is_said() -> None:
    ones, zeros = (Fraction(1),) * 10, (Fraction(0),) * 10
    assert broken({}) == ()
    assert broken({"eps": Fraction(-1, 3)}) == ("eps is -1/3, less than 0",)
    for unit in (Fraction(0), Fraction(-1), Fraction(3, 4)):
        assert broken({"unit": unit}) == (f"the unit {unit} is no power of two",)
    assert broken({"unit": Fraction(4)}) == ()
    assert broken({"before_feed_forward": ()}) == ("0 norms before the feed-forward layer for 1 layers",)
    assert broken({}, Norm(ones[1:], zeros)) == (
        "layer 0: the norm before attention is not one of 10 coordinates",
    )
    assert broken({}, Norm(ones, zeros[1:])) == (
        "layer 0: the norm before attention is not one of 10 coordinates",
    )
    assert broken({}, Norm(ones, ones)) == (
        "layer 0: the norm before attention has a bias, which RMSNorm has not",
    )
    assert broken({"is_centred": True}, Norm(ones, ones)) == ()


def test_where_nothing_is_divided_by_nothing_is_said() -> None:
    """With eps 0 and no number in the stream there is no output: it refutes nothing, and proves nothing."""
    network = attemper.compile("O a", "ab", layer_norm=LayerNorm()).network
    how = replace(normalisation_of(network), eps=Fraction(0))
    empty = replace(network, embedding=((), ()), positions=(), normalisation=how)
    assert not output_rows(empty, ("a",))[0][0].is_finite()
    assert attemper.check(empty, "O a").status is Status.UNKNOWN
