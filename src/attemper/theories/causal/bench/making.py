"""Benchmarks: networks of drawn languages, with what the dials do to them, and labels of all their edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import repeat
from pathlib import Path
from random import Random
from typing import final

from attemper.certificates.claims import Certificate
from attemper.checker.verdict import Status
from attemper.errors import AttemperError, UnprovedError
from attemper.languages.words import Alphabet
from attemper.missing import torch_needed
from attemper.theories.causal.ask import causal
from attemper.theories.causal.bench.card import NAME, card
from attemper.theories.causal.bench.dials import beside, split, thrice
from attemper.theories.causal.bench.stored import INTERVENTIONS, Interventions, interventions
from attemper.theories.causal.bench.turning import turning
from attemper.theories.causal.certificate import CAUSAL, CausalClaim
from attemper.theories.causal.check.turned import rotated
from attemper.theories.causal.rotation import FOLDER, ROTATION, Rotation
from attemper.theories.causal.statements import EdgeLabel
from attemper.workbench.compiling import compile as compile_model
from attemper.workbench.model import Model
from attemper.writing import write_together

ALPHABET = "abc"

FORMULAS = 0.7
"""So often a language is a formula, else an expression."""

KNOWN = 0.2
"""So often it is one of the zoo: of formulas, automata and programs."""

ZOO = (
    *("ab-star", "even-runs", "multiples-of-3", "tomita-3", "a-n-b-n", "a-n-b-n-c-n", "detect-aab"),
    *("dyck-1", "dyck-2", "dyck-shuffle-2", "dyck-1-depth-10", "flip-flop", "palindromes", "mqar", "k-hop-1"),
)
"""Those that put out bits and of which all edges are labelled by short words."""

CLAIM = "causal.json"
"""The file in a case's folder that has its variables and the labels of its edges."""

STORED = "interventions.json"
"""The file that has interchanges, and what is put out after them."""

TURNED = "rotation.json"
"""The file that says in which basis the network in the folder of that name is."""

WIDEST = 64
"""Networks with more coordinates are not drawn: they can take minutes to label."""

SHARES = (Fraction(1, 4), Fraction(3, 8), Fraction(1, 2))

UP_TO = 3
"""Words of so many symbols are tried to show that an edge matters."""


@final
@dataclass(frozen=True)
class MadeCase:
    """A network, how it was made, what is proved of its variables and edges, and another basis for it."""

    model: Model
    certificate: Certificate
    how: str
    claim: CausalClaim
    interventions: Interventions
    rotation: Rotation

    @property
    def rotated(self) -> Model:
        """The network in the other basis. Of it nothing is proved for floats."""
        return replace(self.model, network=rotated(self.model.network, self.rotation), said=None)

    def save(self, folder: Path) -> None:
        """Write the network with its certificate, and all that is said of it beside it."""
        self.model.save(folder, certificate=self.certificate)
        self.rotated.save(folder / FOLDER)
        CAUSAL.save(self.claim, folder / CLAIM)
        INTERVENTIONS.save(self.interventions, folder / STORED)
        ROTATION.save(self.rotation, folder / TURNED)
        text = card(self.how, self.model.network, self.certificate, self.claim)
        write_together({folder / NAME: text.encode()})


def made(number: int, seed: int) -> MadeCase:
    """The case with a number, always the same for a seed.

    All its edges are labelled, and words show of one that it matters.
    Languages are formulas, expressions, and some of the zoo; of every other case the network has one or two
    distractors, of every third there is a head of which two copies outvote a third, and of every fourth units
    are split.
    """
    with torch_needed("a benchmark"):
        import torch  # noqa: F401, so that labels do not depend on whether it is there
    rng = Random(f"attemper bench {seed} {number}")
    while True:
        case = _case(rng, number)
        if case is not None:
            return case


def _case(rng: Random, number: int) -> MadeCase | None:
    """A drawn case; None where the dials do nothing, or not all is proved."""
    drawn = _untidy(rng, number)
    proved = None if drawn is None else _proved(drawn[0])
    if drawn is None or proved is None:
        return None
    (model, how), (certificate, claim) = drawn, proved
    stored = interventions(model.network, claim, rng)
    return MadeCase(model, certificate, how, claim, stored, turning(model.network, model.digest, rng))


def every_case(count: int, seed: int, workers: Executor | None = None) -> Iterator[MadeCase]:
    """The cases with numbers below `count`, in their order; made in this process, or by workers."""
    run = map if workers is None else workers.map
    yield from run(made, range(count), repeat(seed))


def _untidy(rng: Random, number: int) -> tuple[Model, str] | None:
    """A drawn network with what the dials do to it, and how it was made; None where they do nothing."""
    known = f"zoo:{rng.choice(ZOO)}" if rng.random() < KNOWN else None
    model = _compiled(rng, ALPHABET) if known is None else compile_model(known)
    network, said, how = model.network, model.realisation, list[str]()
    if said is None:
        return None
    for _ in range(rng.choice((1, 2)) if number % 2 else 0):
        other = _compiled(rng, model.alphabet.symbols)
        if other.realisation is None:
            return None
        network, said = beside(network, said, other.network, other.realisation)
        how.append(f"beside {other.title}")
    if number % 3 == 2:
        heads = [(layer, own) for layer, has in enumerate(network.layers) for own in range(len(has.heads))]
        rng.shuffle(heads)
        copied = next((made for place in heads if (made := thrice(network, *place)) is not None), None)
        if copied is None:
            return None
        network = copied
        how.append("a head thrice")
    if number % 4 == 3:
        share = rng.choice(SHARES)
        network = split(network, share)
        how.append(f"units split at {share}")
    title = model.title if known is None else known
    return Model(network, model.language, model.regime, said), ", ".join((title, *how))


def _proved(model: Model) -> tuple[Certificate, CausalClaim] | None:
    """What is proved of it, its variables and its edges; None where that is not all, or words show of no edge
    that it matters.
    """
    if len(model.network.coordinates) > WIDEST:
        return None
    try:
        found = causal(model, edges=["all"], up_to=UP_TO)
    except AttemperError:
        return None
    if found.left:
        raise KeyboardInterrupt  # which has ended the search: a case is made whole, or not at all
    labels = {own.label for own in found.edges}
    is_good = EdgeLabel.MATTERS_BY_INTERCHANGE in labels and EdgeLabel.UNKNOWN not in labels
    if found.claim is None or not is_good or found.status is not Status.PROVED:
        return None
    try:
        return model.certify(), found.claim
    except UnprovedError:  # a program with distractors is another one than its language
        return None


def _compiled(rng: Random, symbols: Sequence[str]) -> Model:
    """The network of a formula or an expression; of another one where it is too large."""
    while True:
        letters = all(map(str.isalpha, symbols)) and set(map(len, symbols)) == {1}
        is_formula = not letters or rng.random() < FORMULAS
        text = _formula(rng, symbols, rng.choice((2, 3))) if is_formula else _expression(rng, symbols, 3)
        try:
            return compile_model(text if is_formula else f"regex:{text}", Alphabet(tuple(symbols)))
        except AttemperError:
            continue


def _formula(rng: Random, symbols: Sequence[str], depth: int) -> str:
    if not depth:
        return rng.choice(("", "!")) + f"'{rng.choice(symbols)}'"
    left, right = _formula(rng, symbols, depth - 1), _formula(rng, symbols, rng.randrange(depth))
    return rng.choice(
        (
            *(f"({left} & {right})", f"({left} | {right})", f"({left} S {right})"),
            *(f"Y {left}", f"O {left}", f"H {left}", f"even(#<[{left}])", f"#<[{left}] >= 2"),
        )
    )


def _expression(rng: Random, symbols: Sequence[str], depth: int) -> str:
    if not depth:
        return rng.choice(symbols)
    left, right = _expression(rng, symbols, depth - 1), _expression(rng, symbols, rng.randrange(depth))
    return rng.choice((f"({left}|{right})", f"{left}{right}", f"({left})*", f"({left}{right})*"))
