"""The scan: the same softmax in time linear in the length, head by head against rows in 64-bit mantissas."""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction

import flint
import numpy as np
import pytest
import torch

import attemper
from attemper.exact.balls import precision
from attemper.exact.closed_forms import ONE, I, Number, Power, Product
from attemper.languages.words import Alphabet, words_of_length
from attemper.networks import meaning_soft
from attemper.networks.layers import Foreign, Head, Layer, Masking, Network, Softmax
from attemper.networks.regime import Regime
from attemper.running.blocks import Block
from attemper.running.dense import DenseTransformer
from attemper.running.engines.scan import forward
from attemper.running.engines.scan.forward import ModuleScan
from attemper.running.engines.scan.past import UnfitError
from tests.support.drawn import scan_networks as by_hand
from tests.support.drawn.automata import random_dfa
from tests.support.drawn.long_words import (
    WORDS,
    accepted_prefixes,
    as_word,
    exact_bits,
    random_word,
    wrong_positions,
)
from tests.support.drawn.scan_networks import FAMILIES, OTHERS, WHERE, HeadOf, network_of
from tests.support.drawn.scan_sweeps import (
    AB,
    CLOSE,
    UNIT,
    demo_networks,
    foreign,
    mutants,
    ragged,
    random_cascades,
    random_formulas,
    require_close,
    require_right,
    some_words,
    steeper,
)
from tests.support.judges.extended_rows import HAS_EXTENDED, head_rows
from tests.support.judges.head_outputs import heads_in_blocks, heads_of, judged, judged_run, module_of

pytestmark = pytest.mark.skipif(not HAS_EXTENDED, reason="no numbers of a 64-bit mantissa here")

LENGTHS = (1, 2, 3, 9, 60, 333)
REGIMES = list(Regime)
DEMO = {name: (network, language) for name, network, language in demo_networks()}


# The oracles -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_rows_are_what_the_definition_says(family: str) -> None:
    """Against proven enclosures, in all maskings: 64-bit numbers are within 2^-50 of values of at most n."""
    for network in foreign(family, range(12)):
        word = tuple(random.Random(0).choices("ab", k=7))
        with precision(meaning_soft.PRECISION):
            (stream, *_) = meaning_soft.residual_streams(network, word)
            rows = head_rows(network, 0, np.array([[float(x.mid()) for x in vector] for vector in stream]))
            for head, row in zip(network.layers[0].heads, rows, strict=True):
                weights = meaning_soft.attention(head, stream)
                for i, own in enumerate(weights):
                    for v, ((coordinate, factor), *rest) in enumerate(head.values):
                        terms = [(coordinate, factor), *rest]
                        exact = sum(
                            (
                                weight * _fraction(factor) * stream[j - 1][coordinate]
                                for coordinate, factor in terms
                                for j, weight in own.items()
                            ),
                            flint.arb(0),
                        )
                        assert abs(float(row[i, v]) - float(exact.mid())) <= 7 * 2.0**-50


def _fraction(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def test_blocks_of_symbols_take_an_automaton_where_single_ones_do() -> None:
    for seed in range(20):
        dfa = random_dfa(seed, 5, 2)
        for n in (1, 2, 3, 10, 57, 400):
            word = random_word(n, 2, seed)
            assert accepted_prefixes(dfa, word).tolist() == list(dfa.prefixes(as_word(dfa.alphabet, word)))


@pytest.mark.parametrize("kind", WORDS)
def test_words_have_their_length_and_alphabet(kind: str) -> None:
    for symbols in (1, 2, 3):
        for n in (1, 2, 3, 8, 33):
            word = WORDS[kind](n, symbols)
            assert word.shape == (n,)
            assert set(word.tolist()) <= set(range(symbols))


# Compiled networks -----------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("regime", REGIMES)
def test_random_formulas(regime: Regime, seed: int) -> None:
    for network, language in random_formulas(regime, range(seed, seed + 1)):
        for n in LENGTHS:
            require_right(network, language, some_words(n, 2, 3, n + seed))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("regime", REGIMES)
def test_random_cascades(regime: Regime, seed: int) -> None:
    for network, dfa in random_cascades(regime, range(seed, seed + 1)):
        for n in (1, 3, 60):
            require_right(network, dfa, some_words(n, len(dfa.alphabet.symbols), 2, n + seed))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", DEMO)
def test_networks_of_the_demo(name: str) -> None:
    network, language = DEMO[name]
    for n in (1, 2, 9, 120):
        require_right(network, language, some_words(n, len(network.alphabet.symbols), 2, n))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("power", [20, 53, 60, 80, 300])
@pytest.mark.parametrize("regime", REGIMES)
def test_scores_beyond_all_integers(regime: Regime, power: int) -> None:
    """What is left out is told from what is best, also where 60 is less than the rounding of a score."""
    for network, language in random_formulas(regime, range(400, 406)):
        for n in (1, 2, 9, 40):
            require_right(steeper(network, 2**power), language, some_words(n, 2, 3, n))


def test_the_first_of_many_symbols_is_counted_where_scores_are_large() -> None:
    """PARITY of one 1 at the far end, in the decoder regime: beyond i = 2^19 scores have 60 binary digits."""
    network, language = DEMO["parity-odd, decoder"]
    n = 2**19 + 5
    with torch.no_grad():
        output = module_of(network, "scan")(torch.from_numpy(WORDS["one far event"](n, 2))[None])
    exact = exact_bits(language, network.alphabet, WORDS["one far event"](n, 2))
    assert wrong_positions(output.numpy(), exact) == 0


@pytest.mark.sweep(0)
def test_all_short_words() -> None:
    """Every word up to length 6, in batches of one length: nothing depends on how a word is drawn."""
    for name in ("majority, unbounded", "dyck-1, decoder", "parity-odd, temperature", "ab-star, unbounded"):
        network, language = DEMO[name]
        for n in range(1, 7):
            words = list(words_of_length(network.alphabet, n))
            index = [[network.alphabet.symbols.index(symbol) for symbol in word] for word in words]
            require_right(network, language, torch.tensor(index))


# Ragged batches --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("regime", REGIMES)
def test_ragged_batches(regime: Regime, seed: int) -> None:
    """Words of one symbol and of a hundred side by side; what n is differs from word to word."""
    for network, language in random_formulas(regime, range(100 + seed, 101 + seed)):
        rng = random.Random(seed)
        kinds = rng.sample(list(WORDS), 6)
        words = [WORDS[kind](n, 2) for kind, n in zip(kinds, (1, 2, 7, 31, 100, 64), strict=True)]
        tokens, lengths = ragged(words)
        scan = require_close(network, tokens, lengths)
        for word, own in zip(words, scan.seen.output, strict=True):
            bits = (own[: len(word)] >= 0.75).tolist()
            assert bits == exact_bits(language, AB, word)[0].tolist()


@pytest.mark.parametrize("regime", REGIMES)
def test_padding_does_not_matter_at_all(regime: Regime) -> None:
    for network, _ in random_formulas(regime, range(200, 206)):
        tokens, lengths = ragged([random_word(n, 2, n) for n in (1, 9, 40)])
        others = torch.where(torch.arange(40)[None] < lengths[:, None], tokens, 1 - tokens)
        module = module_of(network, "scan")
        for own, other, n in zip(module(tokens, lengths), module(others, lengths), lengths, strict=True):
            assert torch.equal(own[:n], other[:n])


# Long words in blocks --------------------------------------------------------------------------------------


BLOCKS = (
    "O (a & Y b)",
    "a S b",
    "#<[a] <= #<[b]",
    "even(#<[a])",
    "Y (a S b) & #<[a & Y b] >= 2",
    "H (a | Y a)",
)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("block", [16, 100])
@pytest.mark.parametrize("regime", [Regime.UNBOUNDED, Regime.DECODER])
def test_blocks_of_a_word_are_the_word(monkeypatch: pytest.MonkeyPatch, regime: Regime, block: int) -> None:
    """Carried from block to block, or read as a whole where that is not enough: the same heads."""
    monkeypatch.setattr(forward, "BLOCK", block)
    for text in BLOCKS:
        model = attemper.compile(text, "ab", regime=regime.value)
        module = module_of(model.network, "scan")
        for kind in random.Random(text).sample(list(WORDS), 2):
            tokens = torch.from_numpy(WORDS[kind](200, 2))[None]
            found = judged_run(module, heads_in_blocks(module, tokens), tokens)
            assert found.worst <= CLOSE, (text, kind, found.where)
            exact = exact_bits(model.language.definition, model.alphabet, WORDS[kind](200, 2))
            assert wrong_positions(found.seen.output, exact) == 0, (text, kind)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("block", [7])
@pytest.mark.parametrize("family", FAMILIES)
def test_blocks_of_a_foreign_head(monkeypatch: pytest.MonkeyPatch, family: str, block: int) -> None:
    monkeypatch.setattr(forward, "BLOCK", block)
    for number, network in enumerate(foreign(family, range(400, 403), looks_back=True)):
        module = module_of(network, "scan")
        assert module.scanner().looks_back
        tokens = some_words(150, 2, 1, number)
        found = judged_run(module, heads_in_blocks(module, tokens), tokens)
        allowed = CLOSE + 8 * UNIT * found.score_size(network)
        assert found.worst <= allowed, (found.worst, allowed, found.where)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("looks_back", [True, False])
@pytest.mark.parametrize("family", FAMILIES)
def test_words_of_all_lengths_in_lots(monkeypatch: pytest.MonkeyPatch, family: str, looks_back: bool) -> None:
    """Nobody watches: words are sorted into lots, and some are longer than a block; the mean is put out."""
    for name, size in {"FEW": 40, "COLUMNS": 200, "BLOCK": 32}.items():
        monkeypatch.setattr(forward, name, size)
    for number, network in enumerate(foreign(family, range(500, 502), looks_back=looks_back)):
        rng = random.Random(number)
        words = [random_word(rng.choice([1, 2, rng.randint(3, 90)]), 2, seed) for seed in range(25)]
        with torch.no_grad():
            output = module_of(network, "scan")(*ragged(words)).numpy()
        for word, own in zip(words, output, strict=True):
            alone = judged(module_of(network, "fused"), torch.from_numpy(word)[None])
            (row, *_) = head_rows(network, 0, alone.seen.streams[0][0])
            apart = np.abs(own[: len(word)] - row[:, 0]).max() / max(1.0, np.abs(row).max())
            assert apart <= CLOSE + alone.worst + 8 * UNIT * alone.score_size(network)


# Changed modules -------------------------------------------------------------------------------------------


def of_all_layers(change: Callable[[Block], object]) -> Callable[[DenseTransformer], object]:
    return lambda module: [change(layer) for layer in module.blocks]


CHANGES: dict[str, Callable[[DenseTransformer], object]] = {
    "queries": of_all_layers(lambda layer: layer.attn.W_Q.data.mul_(0.01)),
    "keys": of_all_layers(lambda layer: layer.attn.W_K.data[:, 1:, 0].sub_(0.25)),
    "values": of_all_layers(lambda layer: layer.attn.W_V.data.mul_(-3)),
    "an embedding where a closed form stands": lambda module: module.embed.W_E.data[0].add_(0.5),
    "hidden units where a closed form stands": of_all_layers(lambda layer: layer.mlp.W_out.data.add_(0.25)),
    "heads where a closed form stands": of_all_layers(lambda layer: layer.attn.W_O.data[:, 0].add_(0.5)),
}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("text", ["even(#<[a])", "a S (b & Y a)", "(a U b) & #<[a] <= #>[b]"])
def test_changed_parameters_are_read_anew(text: str, change: str) -> None:
    """A module that is not sealed is run, then changed, then run: it is what the parameters say now."""
    model = attemper.compile(text, "ab", at="last")
    tokens = some_words(30, 2, 3, 0)
    found = {}
    for engine in ("scan", "fused"):
        module = model.dense(engine=engine)
        before = heads_of(module, tokens)
        CHANGES[change](module)
        found[engine] = heads_of(module, tokens)
        kept = zip(before.heads + before.streams, found[engine].heads + found[engine].streams, strict=True)
        assert not all(np.array_equal(old, new) for old, new in kept)
    for own, other in zip(found["scan"].heads, found["fused"].heads, strict=True):
        assert np.allclose(own, other, rtol=0, atol=1e-9 * np.abs(other).max(initial=1.0))


# Changed and foreign networks ------------------------------------------------------------------------------


@pytest.mark.sweep(0)
@pytest.mark.parametrize("part", range(6))
def test_changed_weights(part: int) -> None:
    """What the weights say counts, and not what a head is said to be for."""
    for number, network in enumerate(mutants(range(6 * part, 6 * part + 6))):
        for n in (1, 5, 40, 150):
            require_close(network, some_words(n, 2, 2, number + n))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_heads_without_a_construction(family: str) -> None:
    for number, network in enumerate(foreign(family, range(8))):
        for n in (1, 2, 3, 60):
            require_close(network, some_words(n, 2, 2, number + n))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("family", FAMILIES)
def test_heads_without_a_construction_in_ragged_batches(family: str) -> None:
    for number, network in enumerate(foreign(family, range(100, 106))):
        require_close(network, *ragged([random_word(n, 2, n + number) for n in (1, 3, 17, 50)]))


BY_HAND: dict[str, HeadOf] = {
    "wrong neighbour": by_hand.wrong_neighbour(),
    "inverse geometric": by_hand.inverse_geometric(),
    "upwards": by_hand.upwards(),
    "many contents": by_hand.many_contents(),
    "few contents": by_hand.few_contents(),
    **{f"geometric, {masking}": by_hand.geometric(masking) for masking in Masking},
}


@pytest.mark.sweep(4)
@pytest.mark.parametrize("name", BY_HAND)
def test_heads_by_hand(name: str) -> None:
    network = network_of(BY_HAND[name])
    for n in (1, 2, 3, 4, 30, 300):
        require_close(network, some_words(n, 2, 4, n))
    require_close(network, *ragged([random_word(n, 2, n) for n in (1, 3, 30, 77)]))


def test_the_top_of_a_flat_parabola_is_found_beside_another_class() -> None:
    """As far as floats tell, both neighbours are as near to the top: their scores must decide, not that."""
    tokens = torch.tensor([[0, 0, 1]])
    found = judged(module_of(network_of(by_hand.wrong_neighbour()), "scan"), tokens)
    assert found.worst <= CLOSE
    where = found.seen.heads[0][0, :, 0, 1]
    assert (abs(where - 2) < 1e-3).all(), "the a at position 2 has score 120, the b 110"


@pytest.mark.parametrize("beside", ["aaaaaaa", "b", "bbb", "bbbbbbb"])
def test_other_words_and_padding_are_no_reason_for_another_way(beside: str) -> None:
    """Scores -j^2 from an a, and j^2 from a b: such parabolas have no linear way, and padding is b here."""
    module = module_of(network_of(HeadOf([{"a": -1, "b": 1}], [{"jj": 1}], WHERE)), "scan")
    scan = ModuleScan(module)
    tokens = torch.tensor([[0, 0, 0, 1, 1, 1, 1], [1] * 7])
    tokens[1, : len(beside)] = torch.tensor(["ab".index(letter) for letter in beside])
    alone = scan.run(tokens[:1, :3], torch.tensor([3]), None)
    assert scan.ways.of == {(0, 0): {"window"}}
    scan = ModuleScan(module)
    together = scan.run(tokens, torch.tensor([3, len(beside)]), None)
    assert torch.equal(together[0, :3], alone[0])
    assert scan.ways.of[0, 0] == ({"window"} if "b" not in beside else {"window", "dense"})
    if "b" in beside:
        with pytest.raises(UnfitError, match="open upwards"):
            scan.run(tokens, torch.tensor([3, len(beside)]), None, dense=False)


# Formats ---------------------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("regime", REGIMES)
def test_narrow_streams_are_rounded_once(regime: Regime, dtype: torch.dtype) -> None:
    """A head computes in float64 from what the stream holds, and rounds what it writes once."""
    for network, _ in random_formulas(regime, range(300, 308)):
        for n in (1, 3, 60):
            found = judged(module_of(network, "scan", dtype), some_words(n, 2, 2, n))
            assert found.worst <= CLOSE, found.where


@pytest.mark.sweep(2)
@pytest.mark.parametrize("family", [*FAMILIES, *OTHERS])
def test_foreign_heads_on_narrow_streams(family: str) -> None:
    """Keys are closed forms in float64, also where a head runs row by row: 1/j is none of float32's."""
    for number, network in enumerate(foreign(family, range(200, 206))):
        for n in (1, 3, 60):
            found = judged(module_of(network, "scan", torch.float32), some_words(n, 2, 2, n + number))
            assert found.worst <= CLOSE, found.where


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_position_embeddings_that_are_not_taken_apart_are_float64_in_keys(dtype: torch.dtype) -> None:
    """j as 2^9 j / 2^9, a power beyond those that are looked at: bfloat16 would hold it up to 256 alone."""
    position = Product((Power(Number(Fraction(2)), 9), Number(Fraction(1, 512)), I))
    head = Head(
        Foreign(),
        Masking.NONE,
        Softmax(ONE),
        (((2, Fraction(8)),),),
        (((3, Fraction(1)),),),
        (((0, Fraction(1)),),),
        (4,),
    )
    one = Fraction(1)
    network = Network(
        alphabet=Alphabet(("a", "b")),
        coordinates=("a", "b", "one", "j", "out"),
        embedding=(((0, one), (2, one)), ((1, one), (2, one))),
        positions=((3, position),),
        layers=(Layer((head,), (), ()),),
        head_width=16,
        output=4,
        reads_first=False,
        accepts_empty=False,
    )
    module = DenseTransformer(network, dtype, engine="scan")
    for n in (200, 257, 300):
        tokens = torch.ones(1, n, dtype=torch.int64)
        tokens[0, -1] = 0
        assert (module(tokens) > 0.99).all(), "the last letter, an a, leads by 8"
