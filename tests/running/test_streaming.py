"""Streams put out what whole words do, whatever the network is, or refuse; their state does not grow."""

from __future__ import annotations

import json
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import attemper
from attemper.attention_program.parse import parse_program
from attemper.errors import (
    AttemperError,
    MalformedFileError,
    OptionError,
    UndecidedError,
    UnsupportedError,
    WordError,
)
from attemper.exact.closed_forms import ONE, SIGN, ClosedForm, I, Power, number, over, plus, times
from attemper.languages.named.zoo import everything
from attemper.languages.temporal.show import show
from attemper.languages.words import Word
from attemper.networks.layers import Masking, Network, Softmax
from attemper.networks.meaning_soft import output_bits
from attemper.networks.typed import HeadOf, LayerOf, hard_network
from attemper.running.batches import run_words
from attemper.running.closed_form_tensors import form_values
from attemper.running.dense import DenseTransformer
from attemper.running.numbers import read_bit
from attemper.running.streaming.forms import position_function
from attemper.running.streaming.heads import NEGLIGIBLE, limit_at
from attemper.running.streaming.outputs import read_output
from attemper.running.streaming.planning import stage_of, streaming_head
from attemper.running.streaming.stream import Stream
from attemper.running.streaming.windows import FARTHEST, kept_for
from attemper.workbench.options import RegimeName
from attemper.workbench.verifying.comparing import exact_rows
from attemper.workbench.zoo import compile_entry
from tests.support.drawn.samples import FormulaSampler, adversarial_words
from tests.support.mutants.changed_networks import changed
from tests.support.oracles.numbers import BIGRAMS, FRACTION, HISTOGRAM

LENGTHS = (1, 2, 3, 9, 60, 200)
REGIMES: tuple[RegimeName, ...] = ("decoder", "unbounded")


def majority() -> attemper.Model:
    return attemper.compile("#<['0'] <= #<['1']", "01", regime="decoder")


NAMES = ("majority", "dyck-1", "parity", "ab-star", "flip-flop", "cascade")


@cache
def six() -> dict[str, attemper.Model]:
    """The networks that are measured: two counters, one counter of nesting, and three automata."""
    regime: RegimeName = "decoder"
    return {
        "majority": majority(),
        "dyck-1": attemper.compile("#<['('] = #<[')'] & H #<[')'] <= #<['(']", "()", regime=regime),
        "parity": attemper.compile("even(#<['1'])", "01", regime=regime),
        "ab-star": attemper.compile(attemper.regex("(ab)*", "ab"), regime=regime),
        "flip-flop": attemper.compile("!r S s", "srk", regime=regime),
        "cascade": attemper.compile(attemper.regex("(a(ab)*b)*", "ab"), regime=regime),
    }


def pushed(stream: Stream, word: Sequence[str]) -> tuple[list[object], list[float]]:
    """What a stream puts out on a word, and its values."""
    found: list[object] = []
    values: list[float] = []
    for symbol in word:
        found.append(stream.push(symbol))
        values.append(stream.value)
    return found, values


def random_models(seed: int, count: int) -> Iterator[attemper.Model]:
    """Models of random past formulas, in both regimes that can stream."""
    rng = random.Random(seed)
    while count:
        formula = FormulaSampler(rng, ("a", "b"), past_only=True).formula(rng.randint(1, 4))
        try:
            yield attemper.compile(show(formula), "ab", at="last", regime=rng.choice(REGIMES))
        except AttemperError:
            continue  # this regime cannot, or the formula is a constant that is refused
        count -= 1


def some_words(rng: random.Random, lengths: Sequence[int], each: int) -> Iterator[Word]:
    for length in lengths:
        words = list(adversarial_words(rng, ("a", "b"), length))
        yield from rng.sample(words, min(each, len(words)))


def until_refused(stream: Stream, word: Sequence[str]) -> tuple[list[object], list[float], str | None]:
    """What a stream puts out on a word, its values, and why it refused to go on, if it did."""
    found: list[object] = []
    values: list[float] = []
    try:
        for symbol in word:
            found.append(stream.push(symbol))
            values.append(stream.value)
    except (UnsupportedError, UndecidedError) as error:
        return found, values, str(error)
    return found, values, None


def refusal_of(network: Network) -> str | None:
    """What forbids a stream of the network."""
    try:
        Stream(network, "")
    except UnsupportedError as error:
        return str(error)
    return None


def near(have: float, want: float) -> bool:
    return math.isclose(have, want, rel_tol=1e-11, abs_tol=1e-11)


def agree_with_whole_words(network: Network, words: Sequence[Word], *, may_refuse: bool) -> int:
    """Compare a stream with dense runs of the words; how many positions were compared.

    A stream may refuse, if that is allowed, but what it has put out until then must be right.
    """
    compared = 0
    dense = DenseTransformer(network)
    for word, run in zip(words, run_words(dense, words), strict=True):
        stream = Stream(network, "")
        bits, values, refusal = until_refused(stream, word)
        assert refusal is None or may_refuse, (word, refusal)
        assert refusal is None or refusal.startswith("layer ") or "beyond float64" in refusal
        for place, (have, want) in enumerate(zip(values, run.values, strict=False)):
            if not near(have, want):
                # The scores of lookups are formed in dense from large squares, which round.
                exact = float(output_bits(network, word[: place + 1])[place].mid())
                assert near(have, exact), (word, have, want, exact)
        if len(values) == len(word) and run.margin > 1e-9:
            assert tuple(bits) == run.bits
        assert stream.size <= stream.most
        compared += len(values)
    return compared


# The same as whole words --------------------------------------------------------------------------------


@pytest.mark.sweep(0)
def test_random_formulas_stream_as_they_run() -> None:
    rng, streamed = random.Random(5), 0
    for model in random_models(5, 40):
        words = list(some_words(rng, LENGTHS, 3))
        refusal = refusal_of(model.network)
        if refusal is not None:
            assert "reads n" in refusal
            assert model.regime == "unbounded"
            continue
        streamed += agree_with_whole_words(model.network, words, may_refuse=False) > 0
    assert streamed > 25


@pytest.mark.slow
def test_many_random_formulas_stream_as_they_run() -> None:
    rng = random.Random(6)
    for model in random_models(6, 600):
        words = list(some_words(rng, (*LENGTHS, 700), 4))
        if refusal_of(model.network) is not None:
            continue
        agree_with_whole_words(model.network, words, may_refuse=False)


@pytest.mark.sweep(0)
def test_changed_networks_stream_as_they_run_or_refuse() -> None:
    rng, compared = random.Random(7), 0
    for model in random_models(7, 60):
        if not model.network.layers:
            continue
        network = changed(rng, model.network)
        refusal = refusal_of(network)
        if refusal is not None:
            assert refusal.startswith("layer ")
            continue
        words = list(some_words(rng, (1, 3, 9, 60), 3))
        compared += agree_with_whole_words(network, words, may_refuse=True)
    assert compared > 5000


@pytest.mark.slow
def test_many_changed_networks_stream_as_they_run_or_refuse() -> None:
    rng = random.Random(8)
    for model in random_models(8, 1000):
        if not model.network.layers:
            continue
        network = changed(rng, model.network)
        if refusal_of(network) is not None:
            continue
        agree_with_whole_words(network, list(some_words(rng, (1, 3, 9, 60, 150), 3)), may_refuse=True)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", NAMES)
def test_six_networks_put_out_the_bits_of_dense_on_2000_symbols(name: str) -> None:
    model = six()[name]
    rng = random.Random(name)
    word = [rng.choice(model.alphabet.symbols) for _ in range(2000)]
    found, values = pushed(model.stream(), word)
    (run,) = model.run([word])
    assert tuple(found) == run.bits
    assert max(abs(have - want) for have, want in zip(values, run.values, strict=True)) < 1e-11


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regex", ["(ab)*", "a*b", "(a|b)*aab(a|b)*", "(aa)*", "(a(ab)*b)*", "(b*ab*a)*b*"])
@pytest.mark.parametrize("regime", REGIMES)
def test_cascades_stream_on_all_short_words(regex: str, regime: RegimeName) -> None:
    model = attemper.compile(attemper.regex(regex, "ab"), regime=regime)
    if refusal_of(model.network) is not None:
        assert "b*ab*a" in regex
        assert regime == "unbounded"
        assert "reads n" in str(refusal_of(model.network))
        return
    for length in range(1, 7):
        for word in product("ab", repeat=length):
            stream = model.stream()
            assert tuple(map(stream.push, word)) == model.positions(word)
            assert stream.accepts is model.accepts(word)


@pytest.mark.slow
def test_the_zoo_streams_as_it_runs() -> None:
    """Of all entries, in both regimes; every network of the decoder regime can stream."""
    rng, streamed = random.Random(14), 0
    for entry in everything():
        for regime in REGIMES:
            try:
                model = compile_entry(entry, entry.source, regime=regime)
            except AttemperError:
                continue  # this regime cannot
            if regime == "unbounded" and refusal_of(model.network) is not None:
                continue
            for length in (1, 2, 5, 30, 120):
                word = [rng.choice(model.alphabet.symbols) for _ in range(length)]
                (run,) = model.run([word])
                for have, want in zip(map(model.stream().push, word), run.outputs, strict=True):
                    assert have == (want if isinstance(want, bool | str) else pytest.approx(want, abs=1e-11))
            streamed += 1
    assert streamed > 80


def test_every_prefix_is_a_word() -> None:
    model = attemper.compile("#<[a] = #<[b] & (a S O b)", "ab", regime="decoder")
    stream = model.stream()
    assert stream.accepts is model.accepts("")
    word = ""
    for symbol in "abbabaabab":
        word += symbol
        stream.push(symbol)
        assert stream.accepts is model.accepts(word)
        (run,) = model.run([word])
        assert math.isclose(stream.margin, run.margin, abs_tol=1e-12)


@pytest.mark.parametrize("text", [HISTOGRAM, FRACTION, BIGRAMS], ids=["integers", "fractions", "shares"])
def test_numbers_are_put_out(text: str) -> None:
    model = attemper.compile(attemper.program(parse_program(text)), regime="decoder")
    word = (model.alphabet.symbols * 40)[:50] + model.alphabet.symbols[:1] * 20
    stream = model.stream()
    for have, want in zip(map(stream.push, word), model.output(word), strict=True):
        assert have == pytest.approx(want, abs=1e-11)
        assert type(have) is type(want)
    with pytest.raises(UnsupportedError, match="there is no verdict"):
        assert stream.accepts


def test_an_integer_is_a_share_of_what_is_seen() -> None:
    network = attemper.compile(attemper.program(parse_program(HISTOGRAM)), regime="decoder").network
    assert read_output(replace(network, over=Masking.FUTURE), [0.6], 5) == 3
    assert read_output(replace(network, over=Masking.STRICT_FUTURE), [0.75], 5) == 3
    assert read_output(network, [0.5], 5) is None
    for later in (None, Masking.NONE, Masking.PAST):
        with pytest.raises(UnsupportedError, match="positions that come later"):
            Stream(replace(network, over=later), "")


def test_nothing_is_read_where_a_bit_inside_could_not_be_rounded() -> None:
    """At temperature 1/0 the sign head averages: its clamp sees what is neither bit."""
    network = majority().network
    *others, last = network.layers
    heads = tuple(replace(head, weighting=Softmax(number(0))) for head in last.heads)
    network = replace(network, layers=(*others, replace(last, heads=heads)))
    stream, word = Stream(network, ""), ""
    undecided = 0
    for symbol in "0110100":
        word += symbol
        found = stream.push(symbol)
        (run,) = run_words(DenseTransformer(network), [tuple(word)])
        assert found is run.bits[-1]
        assert stream.accepts is run.bits[-1]
        assert math.isclose(stream.margin, run.margin, abs_tol=1e-12)
        undecided += found is None
    assert undecided > 3


def test_symbols_are_put_out() -> None:
    text = "alphabet a b c\noutput first ? 'c' : previous symbol else 'c'"
    model = attemper.compile(attemper.program(text), regime="decoder")
    stream = model.stream()
    assert [stream.push(symbol) for symbol in "abbca"] == ["c", "a", "b", "b", "c"]
    assert model.output("abbca") == ("c", "a", "b", "b", "c")
    with pytest.raises(UnsupportedError, match="there is no verdict"):
        assert stream.accepts


def test_a_verdict_at_the_first_position_stays() -> None:
    model = attemper.compile("a", "ab", at="first", regime="decoder")
    stream = model.stream()
    assert [stream.push(symbol) for symbol in "abb"] == [True, False, False]
    assert stream.accepts is True is model.accepts("abb")


def test_bits_are_read_as_of_whole_words() -> None:
    values = (-1.0, 0.25, 0.2500001, 0.5, 0.7499999, 0.75, 2.0, float("nan"), float("inf"))
    bits = [False, False, None, None, None, True, True, None, None]
    assert [read_bit(value) for value in values] == bits
    network = attemper.compile("a", "ab").network
    assert [read_output(network, [value], 1) for value in values] == bits


# Each kind of head against the definition ---------------------------------------------------------------


def one_head(
    *,
    mask: str = "<=",
    key: dict[str, object],
    query: dict[str, object] | None = None,
    value: dict[str, object] | None = None,
    places: dict[str, object],
    cold: ClosedForm = ONE,
) -> Network:
    """A network whose output is what one head reads; letter b has 1 in `b`."""
    query = {"one": 1} if query is None else query
    value = {"b": 1} if value is None else value
    rows = [{name: factor} for name, factor in query.items()]
    keys = [{name: factor} for name, factor in key.items()]
    head = HeadOf(mask, {"out": value}, query=rows, key=keys)
    network = hard_network(
        "ab",
        embedding={"b": {"b": 1}},
        positions={"one": "1"} | places,
        layers=[LayerOf([head])],
        output="out",
    )
    (layer,) = network.layers
    soft = tuple(replace(own, weighting=Softmax(cold)) for own in layer.heads)
    return replace(network, layers=(replace(layer, heads=soft),))


AT_I = ["position"]
PARITY = ["alternating"]
OVER_I = ["power", AT_I, -1]
SIGNED_I = ["product", [AT_I, PARITY]]
SQUARE = ["product", [AT_I, AT_I]]
MINUS_SQUARE = ["product", [["number", "-1"], AT_I, AT_I]]

ROWS: dict[str, tuple[str, Callable[[], Network]]] = {
    "rightmost": ("Recurrence", lambda: one_head(key={"j": "1/3"}, places={"j": AT_I})),
    "leftmost": ("Recurrence", lambda: one_head(key={"j": "-1/3"}, places={"j": AT_I})),
    "strictly before": ("Recurrence", lambda: one_head(mask="<", key={"j": "1/2"}, places={"j": AT_I})),
    "nearest": (
        "Window",
        lambda: one_head(key={"j": -4}, places={"j": OVER_I}, cold=Power(I, 2)),
    ),
    "first": (
        "Window",
        lambda: one_head(key={"j": 4}, places={"j": OVER_I}, cold=Power(I, 2)),
    ),
    "strictly nearest": (
        "Window",
        lambda: one_head(mask="<", key={"j": -4}, places={"j": OVER_I}, cold=Power(I, 2)),
    ),
    "by parity": (
        "Geometric",
        lambda: one_head(
            key={"j": "1/5"}, query={"b": 1}, value={"s": 1}, places={"j": SIGNED_I, "s": PARITY}
        ),
    ),
    "by parity, without a letter": (
        "Geometric",
        lambda: one_head(key={"j": "-1/5"}, query={"b": 1}, value={"s": 1}, places={"j": AT_I, "s": PARITY}),
    ),
    "weighed letters": ("Averages", lambda: one_head(key={"b": "1/2"}, query={"j": 1}, places={"j": OVER_I})),
    "weighed parities": ("Averages", lambda: one_head(key={"s": "1/2"}, places={"s": PARITY})),
    "parabola": (
        "Vertex",
        lambda: one_head(
            key={"j": 3, "minus square": "1/4"},
            query={"one": 1, "half": 1},
            value={"s": 1, "third": 1},
            places={"j": AT_I, "half": "1/2", "minus square": MINUS_SQUARE, "s": PARITY}
            | {"third": ["test", ["remainder", 3, 1], 1, 0, 0]},
        ),
    ),
    "parabola in 1/j": (
        "Vertex",
        lambda: one_head(
            mask="<",
            key={"j": 2, "minus square": 3},
            query={"one": 1, "half": 1},
            value={"s": 1},
            places={
                "j": OVER_I,
                "half": "5/2",
                "minus square": ["product", [["number", "-1"], ["power", AT_I, -2]]],
                "s": PARITY,
            },
            cold=Power(I, 4),
        ),
    ),
    "parabolas by parity": (
        "Vertex",
        lambda: one_head(
            key={"j": "7/2", "minus square": "1/8"},
            query={"one": 1, "half": 1},
            value={"s": 1},
            places={"j": SIGNED_I, "half": "1", "minus square": MINUS_SQUARE, "s": PARITY},
        ),
    ),
}


@pytest.mark.parametrize("name", ROWS)
def test_each_kind_of_head_is_within_1e_13_of_the_definition(name: str) -> None:
    kind, make = ROWS[name]
    network = make()
    (layer,) = network.layers
    assert type(streaming_head(stage_of(network), "", layer.heads[0])).__name__ == kind
    rng = random.Random(name)
    for word in [*product("ab", repeat=4), tuple(rng.choice("ab") for _ in range(70)), ("a",) * 69 + ("b",)]:
        _, values = pushed(Stream(network, ""), word)
        for have, want in zip(values, output_bits(network, word), strict=True):
            assert abs(have - float(want.mid())) < 1e-13


@pytest.mark.parametrize("by_kind", [False, True], ids=["all alike", "by parity"])
def test_long_averages_lose_nothing(by_kind: bool) -> None:
    """The mean of 1/j up to 20,000 is within a few roundings, though as many sums were rounded."""
    places: dict[str, object] = {"j": OVER_I, "s": PARITY}
    key: dict[str, object] = {"s": 1} if by_kind else {"one": 1}
    network = one_head(key=key, value={"j": 1}, places=places)
    stream, n = Stream(network, ""), 20_000
    _, values = pushed(stream, "a" * n)
    weights = [math.exp(-2.0) if by_kind and j % 2 else 1.0 for j in range(1, n + 1)]
    exact = math.fsum(w / j for j, w in enumerate(weights, start=1)) / math.fsum(weights)
    assert abs(values[-1] - exact) <= 4 * 2**-53 * exact


def test_a_lookup_stays_near_the_definition_where_dense_does_not() -> None:
    """The differences of a parabola's scores are formed without its squares, which are large."""
    network = attemper.compile("prime(#<[a])", "ab", regime="decoder").network
    word = ("a", "b", "a", "a", "b") * 30
    _, values = pushed(Stream(network, ""), word)
    exact = [float(want.mid()) for want in output_bits(network, word)]
    assert max(abs(have - want) for have, want in zip(values, exact, strict=True)) < 1e-11


FORMS = [
    plus(times(3, I), over(I, 3), SIGN),
    times(Fraction(1, 3), Power(plus(I, 1), 2)),
    over(plus(I, Fraction(1, 2))),
    number(Fraction(-7, 5)),
]


@pytest.mark.parametrize("form", FORMS)
def test_closed_forms_are_evaluated_as_tensors_are(form: ClosedForm) -> None:
    import torch

    i = torch.arange(1, 200)
    function = position_function(form)
    assert [function(j) for j in range(1, 200)] == pytest.approx(form_values(form, i, i).tolist(), rel=4e-16)


# What is left out ---------------------------------------------------------------------------------------


def test_windows_are_wide_enough_at_every_position() -> None:
    """The oldest kept position is far enough below the best, up to position 2^53, and one fewer is not."""
    assert float(FARTHEST) > limit_at(2**53) > limit_at(1) > 60 * math.log(2)
    assert limit_at(1000) == math.log(1000) + NEGLIGIBLE * math.log(2)
    for slope in (Fraction(4), Fraction(8), Fraction(-64), Fraction(9, 2)):
        kept = kept_for(slope)
        assert abs(slope) * (kept - 1) >= FARTHEST > abs(slope) * (kept - 2)


def test_a_head_that_is_not_sharp_enough_refuses() -> None:
    """Each score is but 1/8 below the next: 64 positions are not enough, and that is said."""
    network = one_head(key={"j": Fraction(-1, 8)}, places={"j": OVER_I}, cold=Power(I, 2))
    stream, word = Stream(network, ""), ("a", "b", "a") * 30
    _, values, refusal = until_refused(stream, word)
    assert (refusal or "").startswith(
        "layer 0, head 0 cannot be streamed at position 76: more positions count"
    )
    (run,) = run_words(DenseTransformer(network), [word])
    assert values == pytest.approx(run.values[: len(values)], abs=1e-13)
    assert stream.position == len(values) == 75
    with pytest.raises(UnsupportedError, match="the stream ended at position 76"):
        stream.push("a")
    with pytest.raises(UnsupportedError, match="the stream ended"):
        stream.save("nowhere")


def test_a_head_whose_best_positions_change_sides_refuses_or_is_right() -> None:
    """The query's sign says which end is best: both ends are kept."""
    query: dict[str, object] = {"signed": 1}
    network = one_head(
        key={"j": 8}, query=query, places={"j": OVER_I, "signed": ["product", [PARITY, AT_I, AT_I]]}
    )
    word = [random.Random(3).choice("ab") for _ in range(150)]
    (run,) = run_words(DenseTransformer(network), [tuple(word)])
    _, values = pushed(Stream(network, ""), word)
    assert values == pytest.approx(run.values, abs=1e-12)


SIGNED: dict[str, object] = {"j": ["product", [PARITY, OVER_I]]}
HALF_LEVEL: dict[str, object] = {"j": ["product", [OVER_I, ["sum", [["number", "1"], PARITY]]]]}
"""2/j at even positions, and 0 at odd ones."""


def far_from_level(name: str) -> Network:
    """Heads whose best position is at another end for each parity, or at none; and others."""
    squares: dict[str, object] = {"one": 1, "other": 1}
    match name:
        case "ends by parity":
            return one_head(key={"j": 8}, places=SIGNED, cold=Power(I, 2))
        case "half level":
            return one_head(key={"j": 8}, places=HALF_LEVEL, cold=Power(I, 2))
        case "far first":
            return one_head(key={"j": -4}, places={"j": AT_I})
        case "less and less sharp":
            return one_head(key={"j": -80}, places={"j": OVER_I}, cold=I)
        case "best at both ends":
            places: dict[str, object] = {"j": AT_I, "square": SQUARE, "other": "1"}
            return one_head(key={"j": -9, "square": 1}, query=squares, value={"j": 1}, places=places)
        case _:
            raise AssertionError(name)


@pytest.mark.parametrize(
    ("name", "least", "said"),
    [
        ("ends by parity", 300, None),
        ("half level", 128, "at position 129: more positions count"),
        ("far first", 300, None),
        ("less and less sharp", 64, "more positions count"),
        ("best at both ends", 0, "at position 1: its scores are best at both ends"),
    ],
)
def test_heads_that_are_not_compiled_are_right_until_they_refuse(
    name: str, least: int, said: str | None
) -> None:
    network = far_from_level(name)
    rng = random.Random(name)
    word = tuple(rng.choice("ab") for _ in range(300))
    (run,) = run_words(DenseTransformer(network), [word])
    _, values, refusal = until_refused(Stream(network, ""), word)
    assert len(values) >= least
    assert values == pytest.approx(run.values[: len(values)], abs=1e-12)
    assert (refusal is None) if said is None else (said in (refusal or ""))


@pytest.mark.parametrize("by", ["the word", "a head"])
def test_a_coordinate_that_more_than_a_position_embedding_writes_is_content(by: str) -> None:
    """What a key reads is then no closed form of its position, and is compared as it is."""
    first = LayerOf([HeadOf("<=", {"j": {"b": 1}})])
    second = LayerOf([HeadOf("<=", {"out": {"b": 1}}, query=[{"one": 1}], key=[{"j": "1/2"}])])
    network = hard_network(
        "ab",
        embedding={"b": {"b": 1, "j": 3} if by == "the word" else {"b": 1}},
        positions={"one": "1", "j": AT_I},
        layers=[second] if by == "the word" else [first, second],
        output="out",
    )
    layers = [
        replace(layer, heads=tuple(replace(head, weighting=Softmax(ONE)) for head in layer.heads))
        for layer in network.layers
    ]
    network = replace(network, layers=tuple(layers))
    word = tuple("abbabaabbaababba" * 2)
    _, values = pushed(Stream(network, ""), word)
    (run,) = run_words(DenseTransformer(network), [word])
    assert values == pytest.approx(run.values, abs=1e-13)


def test_a_head_that_reads_an_average_has_too_many_kinds_of_keys() -> None:
    first = HeadOf("<=", {"mean": {"b": 1}})
    second = HeadOf("<=", {"out": {"b": 1}}, query=[{"one": 1}], key=[{"mean": 1}])
    network = hard_network(
        "ab",
        embedding={"b": {"b": 1}},
        positions={"one": "1"},
        layers=[LayerOf([first]), LayerOf([second])],
        output="out",
    )
    layers = [
        replace(layer, heads=tuple(replace(head, weighting=Softmax(ONE)) for head in layer.heads))
        for layer in network.layers
    ]
    network = replace(network, layers=tuple(layers))
    rng = random.Random(9)
    word = tuple(rng.choice("ab") for _ in range(200))
    (run,) = run_words(DenseTransformer(network), [word])
    _, values, refusal = until_refused(Stream(network, ""), word)
    assert re.match(r"layer 1, head 0 cannot be streamed beyond position \d+: it reads more", refusal or "")
    assert len(values) > 64
    assert values == pytest.approx(run.values[: len(values)], abs=1e-12)


def test_numbers_beyond_float64_end_the_stream() -> None:
    network = one_head(key={"j": 1}, places={"j": ["power", AT_I, 3]}, value={"j": 1})
    with pytest.raises(UnsupportedError, match="no parabola"):
        Stream(network, "")
    network = one_head(key={"b": 1}, places={"j": AT_I}, value={"j": 1})
    positions = tuple((c, Power(I, 400) if form == I else form) for c, form in network.positions)
    network = replace(network, positions=positions)
    stream = Stream(network, "")
    with pytest.raises(UndecidedError, match="a number at position 6 is beyond float64"):
        pushed(stream, "abababab")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: attemper.compile("X a", "ab", at="first"), "layer 0, head 0 looks at positions after it"),
        (lambda: attemper.compile("even(#<[a])", "ab"), "layer 1, head 1 reads n"),
        (
            lambda: attemper.compile("O a", "ab", regime="temperature"),
            "has a temperature that reads n|reads n",
        ),
        (lambda: attemper.compile("pos = len", "ab"), "reads n"),
        (lambda: attemper.compile("O a", "ab", layer_norm=attemper.LayerNorm()), "through a normalisation"),
    ],
)
def test_what_forbids_a_stream_is_named(make: Callable[[], attemper.Model], said: str) -> None:
    model = make()
    with pytest.raises(UnsupportedError, match=said):
        model.stream()


def test_a_lookup_of_letters_is_refused() -> None:
    squares: dict[str, object] = {"j": AT_I, "minus square": MINUS_SQUARE}
    rows: dict[str, object] = {"j": 6, "minus square": 1}
    two: dict[str, object] = {"one": 1, "other": 1}
    network = one_head(key=rows, query=two, places=squares | {"other": "1"})
    with pytest.raises(UnsupportedError, match="layer 0, head 0 looks up what is written at j"):
        Stream(network, "")
    three = {"one": 1, "other": 1, "third": 1}
    network = one_head(
        key=rows | {"b": 1}, query=three, value={"j": 1}, places=squares | {"other": "1", "third": "1"}
    )
    with pytest.raises(UnsupportedError, match="layer 0, head 0 looks for numbers that are written at j"):
        Stream(network, "")


def test_hard_heads_and_formats_are_refused() -> None:
    hard = hard_network(
        "ab",
        embedding={"b": {"b": 1}},
        positions={},
        layers=[LayerOf([HeadOf("<=", {"o": {"b": 1}})])],
        output="o",
    )
    with pytest.raises(UnsupportedError, match="layer 0, head 0 has hard attention"):
        Stream(hard, "")
    with pytest.raises(OptionError, match="float64"):
        majority().stream(dtype="float32")
    with pytest.raises(OptionError, match="none of"):
        majority().stream(dtype="float8")  # type: ignore[arg-type]


# The state ----------------------------------------------------------------------------------------------


def test_the_measured_networks_are_six() -> None:
    assert tuple(six()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_state_does_not_grow(name: str) -> None:
    model = six()[name]
    rng, stream, sizes = random.Random(name), model.stream(), []
    for position in range(1, 3001):
        stream.push(rng.choice(model.alphabet.symbols))
        if position in (1000, 3000):
            sizes.append(stream.size)
    assert sizes[0] == sizes[1] <= stream.most


@pytest.mark.parametrize("regime", REGIMES)
def test_a_saved_state_goes_on_exactly(regime: RegimeName, tmp_path: Path) -> None:
    rng = random.Random(11)
    tried = 0
    for number_, model in enumerate(random_models(11, 30)):
        if model.regime != regime:
            continue
        try:
            stream = model.stream()
        except UnsupportedError:
            continue
        word = [rng.choice("ab") for _ in range(80)]
        cut = rng.randrange(80)
        pushed(stream, word[:cut])
        path = tmp_path / f"{number_}.json"
        stream.save(path)
        other = model.stream(state=path)
        assert other.state == stream.state == model.stream(state=stream.state).state
        assert (other.position, other.margin, other.accepts) == (cut, stream.margin, stream.accepts)
        assert other.size == stream.size
        assert pushed(other, word[cut:]) == pushed(stream, word[cut:])
        assert other.state == stream.state
        tried += 1
    assert tried > 5


def test_a_state_of_another_network_is_refused_with_both_names() -> None:
    ours, theirs = majority(), attemper.compile("#<['0'] < #<['1']", "01", regime="decoder")
    stream = theirs.stream()
    stream.push("1")
    with pytest.raises(MalformedFileError) as caught:
        ours.stream(state=stream.state)
    assert ours.digest in str(caught.value)
    assert theirs.digest in str(caught.value)


def test_damaged_states_are_refused(tmp_path: Path) -> None:
    model = six()["cascade"]
    stream = model.stream()
    pushed(stream, "aabbab" * 9)
    path = tmp_path / "state.json"
    stream.save(path)
    text = path.read_text(encoding="utf-8")
    rng = random.Random(12)
    cuts = [text[:cut] for cut in (0, 1, 50, len(text) // 2, len(text) - 3)]
    digits = [place for place, character in enumerate(text) if character in "123456789"]
    exchanged = [text[:place] + "0" + text[place + 1 :] for place in rng.sample(digits, 40)]
    for damaged in (*cuts, *exchanged, "[]", "{}", "null", "[" * 100_000):
        path.write_text(damaged, encoding="utf-8")
        with pytest.raises(MalformedFileError):
            model.stream(state=path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(MalformedFileError, match="no JSON"):
        model.stream(state=path)
    with pytest.raises(MalformedFileError, match="there is no"):
        model.stream(state=tmp_path / "nowhere")
    with pytest.raises(MalformedFileError, match="a folder"):
        model.stream(state=tmp_path)


def test_states_of_another_shape_are_refused_though_their_digest_fits() -> None:
    """Each entry changed in a way of its own, and the digest made again."""
    from attemper.running.streaming import saved

    for name, model in six().items():
        stream = model.stream()
        pushed(stream, model.alphabet.symbols * 20)
        whole = stream.state
        heads = whole["heads"]
        assert isinstance(heads, list)
        changes: list[dict[str, object]] = [
            {"position": True},
            {"position": -1},
            {"position": 2**53 + 1},
            {"position": 7},
            {"first": []},
            {"last": ["0x1.0p+0", "0x0.0p+0"]},
            {"last": [1.0]},
            {"margin": "much"},
            {"margin": None},
            {"heads": heads[1:]},
            {"heads": [[*rows, *rows] for rows in heads]},
            {"heads": [[row[:-1] for row in rows] for rows in heads]},
            {"heads": [[[*row[:-1], "nan"] for row in rows] for rows in heads]},
            {"heads": [[["-" + row[0], *row[1:]] for row in rows] for rows in heads]},
            {"heads": "none"},
            {"more": 1},
        ]
        refused = 0
        for change in changes:
            data = {key: value for key, value in (whole | change).items() if key != "digest"}
            data["digest"] = saved._digest(data)
            try:
                model.stream(state=data)
            except MalformedFileError:
                refused += 1
        # The sign of a 0 or of a letter's number changes nothing that could be noticed.
        assert refused >= len(changes) - 1, name


def test_a_state_before_the_first_symbol(tmp_path: Path) -> None:
    model = majority()
    model.stream().save(tmp_path / "state.json")
    stream = model.stream(state=tmp_path / "state.json")
    assert (stream.position, stream.output, stream.accepts) == (0, None, model.accepts(""))
    with pytest.raises(WordError, match="no symbol was read"):
        assert stream.value
    assert stream.push("1") is True


def test_states_are_exact_json(tmp_path: Path) -> None:
    stream = majority().stream()
    pushed(stream, "0101101")
    stream.save(tmp_path / "state.json")
    assert json.loads((tmp_path / "state.json").read_text(encoding="utf-8")) == stream.state
    with pytest.raises(MalformedFileError, match="cannot write"):
        stream.save(tmp_path / "state.json" / "below")


def test_an_unknown_symbol_changes_nothing() -> None:
    stream = majority().stream()
    pushed(stream, "01")
    before = stream.state
    for symbol in ("x", "", "01", "0" * 1000, 0, None, ["0"]):
        with pytest.raises(WordError, match=r"at position 3 is not in the alphabet \{0 1\}") as caught:
            stream.push(symbol)  # type: ignore[arg-type]
        assert caught.value.details == {"position": 3}
    assert stream.state == before
    assert stream.push("1") is True


def test_what_is_torn_is_not_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C inside a step leaves some heads before the symbol, and some after it."""
    stream = majority().stream()
    stream.push("1")

    def interrupted(*_: object) -> float:
        raise KeyboardInterrupt

    monkeypatch.setattr("attemper.running.streaming.steps.limit_at", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.push("1")
    assert not stream.is_whole
    with pytest.raises(UnsupportedError, match="the stream ended at position 2: KeyboardInterrupt"):
        assert stream.state


def structured(name: str, length: int) -> list[str]:
    """A word on which a network has to look far back, or to tell counts apart that differ by one."""
    rng, word, depth = random.Random(name), list[str](), 0
    while len(word) < length:
        match name:
            case "majority":
                word += ["0", "1"]
            case "dyck-1":
                up = depth == 0 or rng.random() < 0.5
                depth += 1 if up else -1
                word.append("(" if up else ")")
            case "parity":
                word.append("1" if rng.random() < 0.001 else "0")
            case "ab-star":
                word += ["a", "b"]
            case "flip-flop":
                word.append(rng.choice("sr") if rng.random() < 0.0001 else "k")
            case _:
                word += ["a", *"ab" * rng.randint(0, 50), "b"]
    return word[:length]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["random", "structured"])
@pytest.mark.parametrize("name", NAMES)
def test_a_million_symbols(name: str, kind: str) -> None:
    """Right at every position against the exact meaning, with a state of the same size."""
    model, rng = six()[name], random.Random(name)
    drawn = [rng.choice(model.alphabet.symbols) for _ in range(10**6)]
    word = drawn if kind == "random" else structured(name, 10**6)
    stream, bits, early = model.stream(), [], 0
    for symbol in word:
        bits.append(stream.push(symbol))
        if stream.position == 1000:
            early = stream.size
    ((wanted,),) = exact_rows(model.language.definition, [tuple(word)])
    assert sum(have is not bool(want) for have, want in zip(bits, wanted, strict=True)) == 0
    assert early <= stream.size <= stream.most
    # A kind of keys that comes late takes its room then, and no more later.
    assert early == stream.size or name == "flip-flop"
