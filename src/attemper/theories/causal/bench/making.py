"""Benchmarks: networks of drawn languages, with what the dials do to them, and labels of all their edges."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import final

from attemper.checker.verdict import Status
from attemper.errors import AttemperError, OptionError
from attemper.missing import torch_needed
from attemper.theories.causal.ask import causal
from attemper.theories.causal.bench.dials import beside, split, thrice
from attemper.theories.causal.statements import Causal
from attemper.workbench.compiling import compile as compile_model
from attemper.workbench.model import Model

ALPHABET = "abc"

CLAIM = "causal.json"
"""The file in a case's folder that has its variables and the labels of its edges."""

SHARES = (Fraction(1, 4), Fraction(3, 8), Fraction(1, 2))

UP_TO = 3
"""Words of so many symbols are tried to show that an edge matters."""


@final
@dataclass(frozen=True)
class MadeCase:
    """A network, how it was made, and what is proved of its variables and edges."""

    model: Model
    how: str
    found: Causal

    def save(self, folder: Path) -> None:
        """Write the network with its certificate, and the claim beside it."""
        self.model.save(folder, certificate=self.model.certify())
        self.found.save(folder / CLAIM)


def made(count: int, seed: int, report: Callable[[str], None] = lambda _: None) -> Iterator[MadeCase]:
    """So many cases, always the same for a seed. Each has an edge that matters.

    Languages are formulas and expressions; of every other case the network has one or two distractors, of
    every third there is a head of which two copies outvote a third, and of every fourth units are split.
    Raises `OptionError` for a count below 1.
    """
    if count < 1:
        raise OptionError("a benchmark has 1 case or more", options=("count",))
    with torch_needed("a benchmark"):
        import torch  # noqa: F401, so that labels do not depend on whether it is there
    rng = Random(f"attemper bench {seed}")
    for number in range(count):
        report(f"case {number + 1} of {count}")
        while True:
            case = _drawn(rng, number)
            if case is not None:
                yield case
                break


def _drawn(rng: Random, number: int) -> MadeCase | None:
    """A case, or None where the draw is no good one: not all is proved together, or no edge matters."""
    model, how = _compiled(rng), list[str]()
    network, said = model.network, model.realisation
    if said is None:
        return None
    for _ in range(rng.choice((1, 2)) if number % 2 else 0):
        other = _compiled(rng)
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
    untidy = Model(network, model.language, model.regime, said)
    try:
        found = causal(untidy, edges=["all"], up_to=UP_TO)
    except AttemperError:
        return None
    matters = any(own.edge_set.matters is not None for own in found.edges)
    if not matters or found.status is not Status.PROVED:
        return None
    return MadeCase(untidy, ", ".join((model.title, *how)), found)


def _compiled(rng: Random) -> Model:
    """The network of a formula or an expression; of another one where it is too large."""
    while True:
        text = _formula(rng, rng.choice((2, 3))) if rng.random() < 0.7 else f"regex:{_expression(rng, 3)}"
        try:
            return compile_model(text, ALPHABET)
        except AttemperError:
            continue


def _formula(rng: Random, depth: int) -> str:
    if not depth:
        return rng.choice(("a", "b", "c", "!a", "!b"))
    left, right = _formula(rng, depth - 1), _formula(rng, rng.randrange(depth))
    return rng.choice(
        (
            *(f"({left} & {right})", f"({left} | {right})", f"({left} S {right})"),
            *(f"Y {left}", f"O {left}", f"H {left}", f"even(#<[{left}])", f"#<[{left}] >= 2"),
        )
    )


def _expression(rng: Random, depth: int) -> str:
    if not depth:
        return rng.choice(ALPHABET)
    left, right = _expression(rng, depth - 1), _expression(rng, rng.randrange(depth))
    return rng.choice((f"({left}|{right})", f"{left}{right}", f"({left})*", f"({left}{right})*"))
