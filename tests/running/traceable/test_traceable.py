"""The traceable module computes what `DenseTransformer` does, wherever padding stands, and can be traced."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from math import inf, isnan
from typing import get_args

import pytest
import torch

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import ONE, Digits, I, Power, times
from attemper.exact.codec import CodecError
from attemper.exports.subject import Exported
from attemper.networks.files import read_structure
from attemper.networks.layers import Construction, Foreign, Hidden, Layer, Masking, Network
from attemper.networks.regime import Regime
from attemper.networks.structure import Provenance, structure_of
from attemper.networks.weights import tensors_of
from attemper.running.closed_form_tensors import form_values
from attemper.running.dense import DenseTransformer
from attemper.running.streaming.forms import position_function
from attemper.running.traceable.architecture import architecture_of
from attemper.running.traceable.labels import UNDECIDED, labels_of
from attemper.running.traceable.module import TraceableTransformer
from attemper.running.weights import torch_weights
from tests.support.drawn.exported import (
    MODELS,
    all_masks,
    difference,
    padded,
    puts_out_bits,
    rounding_of_means,
    subjects,
    words_for,
)
from tests.support.drawn.long_words import exact_bits, wrong_positions
from tests.support.drawn.scan_networks import HeadOf, network_of
from tests.support.drawn.scan_sweeps import random_formulas, some_words
from tests.support.drawn.typed_networks import uniform_only
from tests.support.slowly import every_nth, mostly_slow

FORMATS = {torch.float64: 2.0**-53, torch.float32: 2.0**-24}
SUBJECTS = dict(subjects())
SHARE_OF_A = Provenance("formula", "true", "last", "unbounded")


def subject_of(formula: str) -> Exported:
    model = attemper.compile(formula, "ab")
    return Exported(model.network, model.source)


def largest(words: list[tuple[str, ...]]) -> int:
    return max(map(len, words))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("dtype", mostly_slow(FORMATS, [torch.float64]), ids=str)
@pytest.mark.parametrize("name", every_nth(SUBJECTS, 3))
def test_outputs_and_labels_are_those_of_the_dense_module(name: str, dtype: torch.dtype) -> None:
    """Bits, and symbols' bits, are the same exactly; numbers but for the roundings of two sums of n terms."""
    network, words = SUBJECTS[name].network, words_for(SUBJECTS[name].network)
    with torch.no_grad():
        found = difference(network, SUBJECTS[name].traceable(dtype), dtype, words)
    assert found.labels == 0
    if puts_out_bits(network):
        assert found.outputs == 0
        return
    assert found.outputs <= rounding_of_means(largest(words), FORMATS[dtype])


@pytest.mark.sweep(1)
@pytest.mark.parametrize("regime", list(Regime))
def test_random_formulas_have_their_meaning(regime: Regime) -> None:
    """The oracle is the formula's exact meaning at every position, not another module."""
    tried = 0
    for seed, (network, language) in enumerate(random_formulas(regime, range(7000, 7040))):
        try:
            module = TraceableTransformer(structure_of(network, SHARE_OF_A))
        except UnsupportedError:  # a predicate that is a Python function
            continue
        module.load_state_dict(torch_weights(network))
        tried += 1
        for n in (1, 2, 3, 17, 60):
            words = some_words(n, len(network.alphabet.symbols), 4, n + seed)
            outputs, margins = module(torch.as_tensor(words), torch.ones(words.shape))
            assert (margins > 0).all()
            for word, row in zip(words, outputs.numpy(), strict=True):
                assert not wrong_positions(row, exact_bits(language, network.alphabet, word))
    assert tried >= 20


def test_the_subjects_have_every_mask_construction_and_regime() -> None:
    heads = [head for one in SUBJECTS.values() for layer in one.network.layers for head in layer.heads]
    assert {head.masking for head in heads} == set(Masking)
    assert {type(head.construction) for head in heads} == {*get_args(Construction), Foreign}
    assert {one.source.regime for one in SUBJECTS.values()} == {"unbounded", "temperature", "decoder"}
    averaged = {head.masking for head in heads if not head.query}
    assert averaged == set(Masking)


@pytest.mark.parametrize("name", ["majority", "strict", "both sides counted", "rms norm", "all masks"])
def test_padding_may_stand_anywhere_and_hold_anything(name: str) -> None:
    subject = SUBJECTS[name]
    module = subject.traceable(torch.float64)
    word = tuple(subject.network.alphabet.symbols[k % 2] for k in (0, 1, 1, 0, 1))
    tokens, mask = padded(subject.network, [word], left=False)
    right, margin = module(tokens, mask)
    for junk in (0, 7, -1):
        apart = torch.full((1, 9), junk)
        seats = torch.tensor([1, 2, 5, 6, 8])
        apart[0, seats] = tokens[0]
        own = torch.zeros(1, 9, dtype=torch.bool)
        own[0, seats] = True
        outputs, margins = module(apart, own)
        assert torch.equal(margins >= 0, margin >= 0)
        room = rounding_of_means(9, FORMATS[torch.float64]) if not puts_out_bits(subject.network) else 0
        assert (outputs[:, seats] - right).abs().max() <= room


def test_a_word_without_symbols_in_a_batch_disturbs_nobody() -> None:
    subject = SUBJECTS["until"]
    tokens, mask = padded(subject.network, [("a", "b"), ("a",)], left=False)
    alone, margin = subject.traceable(torch.float64)(tokens, mask)
    both = torch.cat([tokens, tokens[:1]]), torch.cat([mask, torch.zeros_like(mask[:1])])
    outputs, margins = subject.traceable(torch.float64)(*both)
    assert torch.equal(outputs[:2, :1], alone[:, :1])
    assert outputs[0, 1] == alone[0, 1]
    assert torch.equal(margins[:2], margin)
    assert outputs.isfinite().all()
    assert margins[2] == float("inf")


@pytest.mark.sweep(0)
@pytest.mark.parametrize(
    "name",
    mostly_slow(["majority", "parity", "layer norm", "strict", "all masks"], ["majority", "all masks"]),
)
def test_tracing_gives_one_program_for_all_batches_and_lengths(name: str) -> None:
    """`torch.export` refuses what branches on data; what it traced at length 3 is right at 1 and 50."""
    subject = SUBJECTS[name]
    module = subject.traceable(torch.float64)
    symbols = subject.network.alphabet.symbols
    example = padded(subject.network, [(*symbols[:2], symbols[0])] * 2, left=False)
    batch, position = torch.export.Dim("batch"), torch.export.Dim("position")
    shapes = ({0: batch, 1: position},) * 2
    traced = torch.export.export(module, example, dynamic_shapes=shapes, strict=False).module()
    for words in ([(symbols[1],)], [tuple(symbols[:2]) * 25, (symbols[0],) * 7, (symbols[1],)]):
        for left in (False, True):
            given = padded(subject.network, words, left=left)
            ours, traced_ours = module(*given), traced(*given)
            assert torch.equal(ours[0], traced_ours[0])
            assert torch.equal(ours[1], traced_ours[1])


def test_every_tensor_is_asked_for_by_name_and_shape() -> None:
    for subject in SUBJECTS.values():
        shapes = dict(architecture_of(subject.structure).shapes())
        assert shapes == {name: tensor.shape for name, tensor in tensors_of(subject.network).items()}
        # In the order of the file, so that its digest can be made of a module's own weights.
        assert list(subject.traceable(torch.float64).state_dict()) == list(tensors_of(subject.network))
    subject = SUBJECTS["layer norm"]
    weights = torch_weights(subject.network)
    del weights["blocks.0.ln1.b"]
    with pytest.raises(RuntimeError, match=r"blocks\.0\.ln1\.b"):
        TraceableTransformer(subject.structure).load_state_dict(weights, strict=True)


def test_an_averaging_head_that_was_given_queries_puts_out_no_number() -> None:
    """Such a head is no running mean any more; a wrong number would look right."""
    subject = SUBJECTS["majority"]
    module = subject.traceable(torch.float64)
    with torch.no_grad():
        module.get_parameter("blocks.0.attn.W_Q")[0, 0, 0] = 1
    outputs, margins = module(*padded(subject.network, [("0", "1")], left=False))
    assert outputs.isnan().all()
    assert margins.tolist() == [-inf]


def test_a_uniform_head_with_queries_is_run_with_them() -> None:
    """Somebody types a head in whose scores are equal though its queries are not 0."""
    soft = attemper.soften(uniform_only(), epsilon="1/100").network
    module = TraceableTransformer(structure_of(soft, SHARE_OF_A))
    module.load_state_dict(torch_weights(soft))
    given = padded(soft, [("a", "a", "b"), ("b", "a")], left=False)
    ours, dense = module(*given)[0], DenseTransformer(soft)(given[0], given[1].sum(1))
    assert torch.equal(ours[0], dense[0])
    assert torch.equal(ours[1, :2], dense[1, :2])


def one_head(query: float, key: float, **more: object) -> Network:
    """One head with one score everywhere, which reads whether an a stands at j; its average is put out."""
    head = HeadOf(({"one": query},), ({"one": key},), ({"a": 1},))
    return replace(network_of(head, positions={"one": ONE}), **more)


def traceable_of(network: Network, dtype: torch.dtype = torch.float64) -> TraceableTransformer:
    module = TraceableTransformer(structure_of(network, SHARE_OF_A), dtype)
    module.load_state_dict(torch_weights(network, dtype))
    return module


@pytest.mark.parametrize("size", [2.0**600, -(2.0**600)])
def test_scores_beyond_the_format_give_no_number(size: float) -> None:
    """All scores are then one infinity: a head that sees something, and cannot weigh it, adds no 0."""
    network = one_head(2.0**600, size)
    outputs, _ = traceable_of(network)(*padded(network, [("a", "a")], left=False))
    assert outputs.isnan().all()
    assert labels_of(outputs, torch.tensor([inf])).tolist() == [[UNDECIDED] * 2]


def test_a_hidden_unit_that_sees_no_number_is_said() -> None:
    """Its ReLU, and the margin of its clamp, may be taken for numbers by a runtime."""
    unit = Hidden(((2, Fraction(1)),), Fraction(0), ((3, Fraction(1)),))
    network = one_head(1, 1)
    broken = replace(network, layers=(*network.layers, Layer((), (unit,), ())))
    module = traceable_of(broken)
    given = padded(broken, [("a", "b"), ("b",)], left=False)
    assert module(*given)[1].tolist() == [inf, inf]
    with torch.no_grad():
        module.get_parameter("embed.W_E")[0] = float("nan")
    # Padding is an a in the second word, and disturbs nobody.
    assert module(*given)[1].tolist() == [-inf, inf]


def test_digits_are_right_in_all_of_the_formats_range() -> None:
    i = torch.tensor([1, 2, 3, 4, 7, 8, 2**31, 2**52 + 1, 2**60])
    for exponent in (1, 2, 5, 16):
        powers = form_values(Digits(Power(I, exponent)), i, i).tolist()
        assert powers == [(number**exponent).bit_length() for number in i.tolist()]


def test_beyond_the_formats_range_there_is_no_number_of_digits() -> None:
    large = Digits(Power(Power(I, 16), 16))
    i = torch.tensor([15, 16])
    within, beyond = form_values(large, i, i).tolist()
    assert within == (15**256).bit_length()
    assert isnan(beyond)
    assert position_function(large)(15) == within
    with pytest.raises(OverflowError):  # the stream says at which position
        position_function(large)(16)
    assert isnan(position_function(Digits(times(Power(I, 200), Power(I, 200))))(16))


def test_the_structure_may_come_from_the_file() -> None:
    """What JSON makes of the structure is the structure: hugging-face's config holds no more."""
    for subject in SUBJECTS.values():
        again = read_structure(json.loads(json.dumps(subject.data)))
        assert again == subject.structure
        assert architecture_of(again) == architecture_of(subject.structure)


def test_a_predicate_that_is_a_function_is_refused_by_its_name() -> None:
    with pytest.raises(UnsupportedError, match="the predicate 'prime' is a Python function"):
        subject_of("prime(pos)").traceable(torch.float64)
    subject = subject_of("even(pos) & pos % 3 = 1")
    assert subject.traceable(torch.float64).architecture.positions


def test_hard_attention_is_refused_by_its_head() -> None:
    model = attemper.compile("O a", "ab")
    hard = attemper.soften(uniform_only(), epsilon="1/100").hard
    with pytest.raises(UnsupportedError, match=r"head 0\.0 has average-hard attention"):
        architecture_of(structure_of(hard, model.source))


@pytest.mark.parametrize("entry", ["alphabet", "positions", "layers", "output", "head_width"])
def test_what_is_no_structure_is_refused(entry: str) -> None:
    data = dict(SUBJECTS["since"].data)
    del data[entry]
    with pytest.raises(CodecError, match=f"^the entry '{entry}' is missing$"):
        read_structure(data)
    assert MODELS


def test_all_masks_puts_out_every_head() -> None:
    network = all_masks()
    assert len(network.outputs) == 2 * 2 * len(Masking)
    assert replace(network, symbols=()).outputs == network.outputs[:1]
