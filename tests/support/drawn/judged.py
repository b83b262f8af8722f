"""Encoders of one layer with random weights, and what they are asked about."""

from __future__ import annotations

import random

import numpy as np

from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.models.soft.activations import Activation
from attemper.models.soft.vocabulary import AskedToken, ModelTokens
from attemper.models.soft.weights import Encoder, EncoderLayer, EncoderNorm, Mask, NoPositions, Periodic
from attemper.theories.judging.certificate import Reading
from attemper.theories.judging.check.cells import JudgedTask
from attemper.theories.judging.check.heads import ReadEncoder
from tests import ROOT

FIXTURES = ROOT / "tests" / "theories" / "judging" / "fixtures"
"""Trained runs: `attemper train settings.toml` makes each again."""

AUTOMATA = (
    parse_regex("(a(ab)*b)*", "ab"),
    parse_regex("(aa)*", "a"),
    parse_regex("(a|b)*ab*", "ab"),
    parse_regex("a*b*c*", "abc"),
    Dfa(Alphabet(("a", "b")), ((1, 2), (0, 2), (2, 1), (3, 0)), 0, frozenset({0, 3})),
)
"""Several predecessors of a cell; one letter; a state that all words reach; three letters; a state that none
reaches.
"""


def encoder_for(
    dfa: Dfa,
    reading: Reading,
    seed: int,
    *,
    heads: int = 1,
    norm: str = "none",
    period: int = 0,
    width: int = 8,
    activation: Activation = Activation.RELU,
    last: bool = False,
    asked: bool = False,
) -> Encoder:
    """A random encoder over the automaton's symbols and one more, or two if it is `asked` with a start and a
    marker; positions with a period, or none; and perhaps a last norm.
    """
    rng = np.random.default_rng(seed)

    def drawn(*shape: int, size: float = 0.6) -> np.ndarray:  # type: ignore[type-arg]
        return rng.normal(scale=size, size=shape)

    letters = dfa.alphabet.symbols
    both = EncoderNorm(1 + drawn(width, size=0.1), drawn(width, size=0.1), 1e-5)
    layer = EncoderLayer(
        drawn(3 * width, width),
        drawn(3 * width, size=0.1),
        drawn(width, width),
        drawn(width, size=0.1),
        drawn(2 * width, width),
        drawn(2 * width, size=0.1),
        drawn(width, 2 * width, size=0.3),
        drawn(width, size=0.1),
        None if norm == "none" else (both, both),
        heads,
        norm == "pre",
        activation,
    )
    outputs = (
        (*letters, "END") if reading is Reading.NEXT else random.Random(seed).choice([("o",), ("n", "y")])
    )
    if asked:
        outputs = ("n", "y")
    symbols = (*letters, "$", "^") if asked else (*letters, "$")
    return Encoder(
        symbols,
        None if reading is Reading.NEXT else "$",
        drawn(len(symbols), width, size=1.0),
        Periodic(drawn(period, width)) if period else NoPositions(),
        random.Random(seed).choice(list(Mask)) if reading is Reading.VERDICT else Mask.FUTURE_MASKED,
        (layer,),
        drawn(len(outputs), width),
        drawn(len(outputs), size=0.1),
        outputs,
        both if last else None,
    )


def read_of(dfa: Dfa, reading: Reading, up_to: int, seed: int, **asked: object) -> ReadEncoder:
    """A random encoder as it reads words to a length."""
    encoder = encoder_for(dfa, reading, seed, **asked)  # type: ignore[arg-type]
    vocabulary = None
    if asked.get("asked"):
        tokens = (*dfa.alphabet.symbols, "$", "^", "e", "n", "y")
        vocabulary = ModelTokens(tokens, "^", "e", AskedToken("$", "y", "n"))
    task = JudgedTask(dfa, reading, vocabulary)
    return ReadEncoder(encoder, task, up_to + task.beside)
