"""Interchanges of a case with what is put out after them: for methods that search no edges, but variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from random import Random
from typing import final

from attemper.documents import Document
from attemper.exact.codec import Codec, Natural
from attemper.languages.words import Word
from attemper.networks.layers import Network
from attemper.theories.causal.certificate import CausalClaim, Interchange, Taken
from attemper.theories.causal.check.settings import Interchanges

COUNT = 20

TRIED = 200

LONGEST = 10

MOST_TAKEN = 3


@final
@dataclass(frozen=True)
class StoredIntervention:
    """An interchange, and the bits that are put out [position][output]: without it, and after it."""

    interchange: Interchange
    clean: tuple[tuple[Natural, ...], ...]
    outcome: tuple[tuple[Natural, ...], ...]


@final
@dataclass(frozen=True)
class Interventions:
    """Those of the network with this digest, with the variables of its claim, by their numbers."""

    network: str
    stored: tuple[StoredIntervention, ...]


INTERVENTIONS: Document[Interventions] = Document(
    "attemper-interventions/1",
    "file of interventions",
    Codec(Interventions),
    "make one with 'attemper bench DIR'",
)


def interventions(network: Network, claim: CausalClaim, rng: Random) -> Interventions:
    """Drawn interchanges of proved variables: half of them change what is put out, where so many are found.

    Outcomes are the program's, exactly: that the network's are is what is proved of the variables, for words
    of every length and every mixture of sources.
    """
    runs = Interchanges(network, claim.program, claim.variables)
    drawn = map(partial(_outcome, runs), islice(_interchanges(network, claim, rng), TRIED))
    changing, others = list[StoredIntervention](), list[StoredIntervention]()
    for own in drawn:
        (changing if own.outcome != own.clean else others).append(own)
        if min(len(changing), len(others)) == COUNT // 2:
            break
    kept = (*changing[: COUNT // 2], *others[: COUNT // 2], *changing[COUNT // 2 :], *others[COUNT // 2 :])
    return Interventions(claim.network, kept[:COUNT])


def _interchanges(network: Network, claim: CausalClaim, rng: Random) -> Iterator[Interchange]:
    while True:
        length = rng.randint(1, LONGEST)
        places = [(own, at) for own in range(len(claim.variables)) for at in range(1, length + 1)]
        taken = rng.sample(places, min(len(places), rng.randint(1, MOST_TAKEN)))
        yield Interchange(
            _word(network, length, rng),
            tuple(Taken(own, at, _word(network, length, rng)) for own, at in taken),
        )


def _word(network: Network, length: int, rng: Random) -> Word:
    return tuple(rng.choices(network.alphabet.symbols, k=length))


def _outcome(runs: Interchanges, said: Interchange) -> StoredIntervention:
    clean, outcome = (
        tuple(zip(*(steps[ref] for ref in runs.program.outputs), strict=True))
        for steps in (runs.steps_of(said.base), runs.steps(said))
    )
    return StoredIntervention(said, clean, outcome)
