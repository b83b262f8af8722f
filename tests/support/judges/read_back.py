"""What `decompile` says of a network, beside a forward pass of the network's own two files.

Words are run in float64 from the raw numbers; where that is not within 1/8 of what was said, in balls, in
real arithmetic: that is what is claimed. Nothing that runs a network imports attemper.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

import numpy as np

from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.networks.files import contents_of
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.workbench.automata import Caps
from attemper.workbench.decompiled import Decompiled
from attemper.workbench.decompiling import read_back, subject_of
from tests.support.oracles.raw_exact import outputs
from tests.support.oracles.raw_files import RawNetwork, raw_network
from tests.support.oracles.raw_forward import FORMATS, Kernel, Order, Way, batch_of, run

Word = tuple[int, ...]


def decompiled(
    network: Network, *, configurations: int = CONFIGURATIONS, seconds: float = SECONDS
) -> Decompiled:
    """What is proved of a network. Raises `UnprovenError` with the reason where nothing is."""
    return read_back(subject_of(network), Caps(configurations, seconds))


NEAR = 1 / 8

NO_SOURCE = Provenance("formula", "true", "last", "unbounded")
"""What the files say that they were made from: nobody looks at that."""


def raw_of(network: Network) -> RawNetwork:
    """The network as it stands in its files."""
    structure, weights = contents_of(network, NO_SOURCE)
    return raw_network(json.dumps(structure).encode(), weights)


def long_words(symbols: int, count: int, longest: int, draw: random.Random) -> list[Word]:
    """Random words, some of them with long runs."""
    found = []
    for _ in range(count):
        length, stay = draw.randint(8, longest), draw.choice([0.0, 0.0, 0.9])
        word = [draw.randrange(symbols)]
        while len(word) < length:
            word.append(word[-1] if draw.random() < stay else draw.randrange(symbols))
        found.append(tuple(word))
    return found


def said_of(language: Dfa | TemporalLanguage, symbols: Sequence[str], word: Word) -> bool:
    """Whether a word is accepted, from the automaton's table or by the meaning of the formula."""
    match language:
        case Dfa(_, moves, start, accepting):
            state = start
            for letter in word:
                state = moves[state][letter]
            return state in accepting
        case TemporalLanguage():
            return truth(language.formula, tuple(symbols[letter] for letter in word))[-1]


def wrong_words(network: Network, language: Dfa | TemporalLanguage, words: Sequence[Word]) -> list[Word]:
    """The words on which the network's last output is not within 1/4 of what the language says."""
    raw = raw_of(network)
    own = run(raw, batch_of(words), FORMATS["float64"], Way(Kernel.NUMERATOR, Order.SEQUENTIAL))
    last = own[np.arange(len(words)), [len(word) - 1 for word in words]]
    wrong = []
    for word, found in zip(words, last.tolist(), strict=True):
        wanted = said_of(language, network.alphabet.symbols, word)
        if not abs(found - wanted) <= NEAR and bool(abs(outputs(raw, word)[-1] - int(wanted)) > 0.25):
            wrong.append(word)
    return wrong
