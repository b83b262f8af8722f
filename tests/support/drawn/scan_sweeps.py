"""Sweeps of the scan over compiled, changed and foreign networks: the fast tests' and the slow ones'.

Every head is compared with rows in 64-bit mantissas, and all bits with torch's fused attention and with the
exact meaning.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch

from attemper.compiling.pipeline import compile_language
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import times
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.layers import Head, Masking, Network, Softmax
from attemper.networks.regime import Regime
from attemper.workbench.demo import SHOWN
from attemper.workbench.zoo import compile_entry
from tests.support.drawn import automata
from tests.support.drawn.long_words import WORDS, Tokens, exact_bits, shown_rows, wrong_positions
from tests.support.drawn.samples import FormulaSampler
from tests.support.drawn.scan_networks import drawn_head, network_of
from tests.support.judges.head_outputs import Judged, judged, module_of
from tests.support.mutants.changed_networks import changed
from tests.support.mutants.one_change import weight_mutants

CLOSE = 1e-11
"""How far a head may be from its rows, in parts of its greatest value or of 1."""

UNIT = 2.0**-53
"""How much one rounding in float64 changes, relatively."""

AB = Alphabet(("a", "b"))


# Networks ------------------------------------------------------------------------------------------------


def random_formulas(regime: Regime, seeds: range) -> Iterator[tuple[Network, Definition]]:
    """A network for each seed, of a formula whose operators nest two to four deep."""
    for seed in seeds:
        rng = random.Random(seed)
        sampler = FormulaSampler(rng, AB.symbols, past_only=regime is Regime.DECODER)
        language = TemporalLanguage(sampler.formula(rng.choice([2, 3, 4])), At.LAST, False)
        yield compile_language(language, AB, regime).soft, language


def random_cascades(regime: Regime, seeds: range) -> Iterator[tuple[Network, Dfa]]:
    """A network for each seed whose automaton can be taken apart within the caps."""
    for seed in seeds:
        rng = random.Random(seed)
        parts = [(rng.choice("rrc"), rng.choice([2, 2, 3])) for _ in range(rng.choice([1, 2, 2, 3]))]
        dfa = automata.random_cascade(seed, parts, rng.choice([2, 3]))
        try:
            yield compile_language(dfa, dfa.alphabet, regime).soft, dfa
        except UnsupportedError:
            continue


def demo_networks() -> Iterator[tuple[str, Network, Definition]]:
    """Every network of the demo."""
    for entry, source in SHOWN:
        for regime in Regime:
            try:
                model = compile_entry(entry, source, regime=regime.value)
            except UnsupportedError:
                continue
            yield f"{entry.name}, {regime}", model.network, model.language.definition


def mutants(seeds: range) -> Iterator[Network]:
    """A network for each seed, of a formula, where one to three things, or one number, were changed."""
    for seed in seeds:
        rng = random.Random(seed)
        regime = rng.choice(list(Regime))
        ((network, _),) = random_formulas(regime, range(seed, seed + 1))
        if not any(layer.heads for layer in network.layers):
            continue
        if rng.random() < 0.7:
            yield changed(rng, network)
            continue
        possible = [own for _, own in weight_mutants(network, rng) if own is not None]
        yield rng.choice(possible)


def foreign(family: str, seeds: range, *, looks_back: bool = False) -> Iterator[Network]:
    """Networks of two heads drawn from a family; future-masked ones, if they are to look back only."""
    masks = [Masking.FUTURE, Masking.STRICT_FUTURE] if looks_back else list(Masking)
    for seed in seeds:
        rng = random.Random(f"{family} {seed}")
        heads = [drawn_head(rng, family) for _ in range(2)]
        yield network_of(*(replace(head, masking=rng.choice(masks)) for head in heads))


def steeper(network: Network, factor: int) -> Network:
    """The network with all scores so many times as large: where a head leads, it leads by so much more."""

    def cooled(head: Head) -> Head:
        assert isinstance(head.weighting, Softmax)
        return replace(head, weighting=Softmax(times(factor, head.weighting.inverse_temperature)))

    layers = (replace(layer, heads=tuple(map(cooled, layer.heads))) for layer in network.layers)
    return replace(network, layers=tuple(layers))


# Words ---------------------------------------------------------------------------------------------------


def some_words(n: int, symbols: int, count: int, seed: int) -> torch.Tensor:
    """A random word and others of every kind, [word, position]."""
    rng = random.Random(seed)
    kinds = rng.sample([name for name in WORDS if name != "random"], count - 1)
    words = [
        np.random.default_rng(seed).integers(0, symbols, n),
        *(WORDS[kind](n, symbols) for kind in kinds),
    ]
    return torch.from_numpy(np.stack(words))


def ragged(words: Sequence[Tokens]) -> tuple[torch.Tensor, torch.Tensor]:
    """Words of several lengths, padded with their last symbols' neighbours, and the lengths."""
    lengths = [len(word) for word in words]
    rows = [np.pad(word, (0, max(lengths) - len(word)), mode="reflect") for word in words]
    return torch.from_numpy(np.stack(rows)), torch.tensor(lengths)


# What must hold --------------------------------------------------------------------------------------------


def require_right(network: Network, language: Definition, tokens: torch.Tensor) -> Judged:
    """Heads within 1e-11 of their rows, and within that and the fused engine's own error of the fused ones.

    All bits are those of the fused engine, and the exact ones. No head runs row by row.
    """
    module = module_of(network, "scan")
    scan = judged(module, tokens)
    assert scan.worst <= CLOSE, (scan.worst, scan.where)
    assert not module.scanner().ways.reasons
    require_same_bits(network, language, tokens, scan)
    return scan


def require_same_bits(network: Network, language: Definition, tokens: torch.Tensor, scan: Judged) -> None:
    """All bits are the exact ones, and the fused engine's."""
    with torch.no_grad():
        fused = module_of(network, "fused")(tokens).numpy()
    for word, own, other in zip(tokens.numpy(), scan.seen.output, fused, strict=True):
        exact = exact_bits(language, network.alphabet, word)
        assert wrong_positions(shown_rows(own), exact) == 0, word.tolist()
        assert wrong_positions(shown_rows(other), exact) == 0, word.tolist()


def require_close(network: Network, tokens: torch.Tensor, lengths: torch.Tensor | None = None) -> Judged:
    """Heads within 1e-11 of their rows, where scores allow as much.

    A float64 kernel that adds scores up from numbers of size S is right to a few roundings of S: beyond
    1e-11, heads may be off by what torch's fused attention is off for these weights, and 8 u S.
    """
    scan = judged(module_of(network, "scan"), tokens, lengths)
    if scan.worst > CLOSE:
        fused = judged(module_of(network, "fused"), tokens, lengths)
        allowed = CLOSE + fused.worst + 8 * UNIT * scan.score_size(network)
        assert scan.worst <= allowed, (scan.worst, allowed, scan.where)
    return scan
