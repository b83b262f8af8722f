"""Networks for the audit, drawn at random: compiled ones, changed ones, and ones that are written by hand."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Program
from attemper.checker.identities import Formulas
from attemper.checker.program import Programs
from attemper.checker.realising import symbols_of
from attemper.compiling.literal.single_heads import Heads
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.errors import AttemperError, UnsupportedError
from attemper.exact.predicates import Named, Remainder
from attemper.languages.definition import Definition
from attemper.languages.temporal import syntax
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from tests.support.drawn.automata import random_near_permutations, random_reset_cascade
from tests.support.drawn.hand_built import KINDS as HAND_BUILT
from tests.support.drawn.hand_built import Draft, hand_built
from tests.support.drawn.hand_integers import nearest_network
from tests.support.drawn.hand_steps import steps_network
from tests.support.drawn.nearest import random_nearest
from tests.support.drawn.programs import ProgramSampler
from tests.support.drawn.samples import FormulaSampler
from tests.support.judges.audit import Numbers, Subject, followed
from tests.support.judges.read_back import raw_of
from tests.support.mutants.one_change import gentle_mutant, random_network_mutant

AB = ("a", "b")
BY_DRAFT = {"integers": nearest_network, "steps": steps_network}
WIDEST = 60
"""Wider networks are not looked at: they take longer, and show nothing more."""


@lru_cache(maxsize=256)
def subject(kind: str, seed: str, widest: int = WIDEST) -> Subject:
    """One network of a kind that is not too wide; the seed says which."""
    rng = random.Random(f"{kind} {seed}")
    name, network, made = KINDS[kind](rng)
    while len(network.coordinates) > widest:
        name, network, made = KINDS[kind](rng)
    if made is not None and made.realisation.groups and rng.random() < 0.8:
        return Subject(f"{name} ({kind} {seed})", network, Programs, symbols_of(made.realisation))
    positions, is_loose = rng.choice(
        ((Formulas, False), (Formulas, False), (Formulas, True), (Programs, False))
    )
    return Subject(f"{name} ({kind} {seed})", network, positions, is_loose=is_loose)


Drawn = tuple[str, Network, Compiled | None]
"""A name, a network, and what was compiled if it is that."""


# Compiled ------------------------------------------------------------------------------------------------


def _compiled(rng: random.Random) -> Drawn:
    """The network of a random formula, counting formula, program or automaton, in any regime.

    That of a formula is often the papers' own.
    """
    while True:
        regime = rng.choice(tuple(Regime))
        name, language = rng.choice(SOURCES)(rng, regime is Regime.DECODER)
        is_literal = isinstance(language, TemporalLanguage) and rng.random() < 0.4
        try:
            made = compile_language(
                language, Alphabet(AB), regime, literal=rng.choice(tuple(Heads)) if is_literal else None
            )
        except AttemperError:
            continue
        if made.soft.layers:
            return f"{name}, {regime}", made.soft, made


def _formula(rng: random.Random, past_only: bool) -> tuple[str, Definition]:
    sampler = FormulaSampler(rng, AB, past_only=past_only)
    return _of_formula(sampler.formula(rng.choice((1, 2, 2))))


def _counting(rng: random.Random, past_only: bool) -> tuple[str, Definition]:
    """A comparison of counts of letters, or a predicate of one."""
    sides = (syntax.Side.LEFT,) if past_only else tuple(syntax.Side)
    parts = [
        (rng.choice((1, 1, 2, -1)), syntax.CountAtom(rng.choice(sides), syntax.Symbol(symbol)))
        for symbol in rng.sample(AB, rng.randint(1, 2))
    ]
    if rng.random() < 0.4:
        predicate = rng.choice((Remainder(rng.randint(2, 4), 1), Named("prime"), Named("square")))
        return _of_formula(
            syntax.Numerical(predicate, syntax.linear_term(tuple(parts[:1]), rng.choice((0, 0, 1, -1))))
        )
    operator = rng.choice(tuple(syntax.ComparisonOperator))
    return _of_formula(
        syntax.Comparison(
            operator, syntax.linear_term(tuple(parts), 0), syntax.linear_term((), rng.randint(-1, 3))
        )
    )


def _of_formula(formula: syntax.Formula) -> tuple[str, Definition]:
    return show(formula), TemporalLanguage(formula, At.LAST, accepts_empty=False)


def _program(rng: random.Random, past_only: bool) -> tuple[str, Definition]:
    return _of_program(ProgramSampler(rng).program(rng.randint(2, 6)))


def _nearest(rng: random.Random, past_only: bool) -> tuple[str, Definition]:
    return _of_program(random_nearest(rng))


def _of_program(program: Program) -> tuple[str, Definition]:
    return f"program of {len(program.steps)} steps", ProgramLanguage(program, At.LAST, accepts_empty=False)


def _automaton(rng: random.Random, past_only: bool) -> tuple[str, Definition]:
    seed = rng.randrange(10**6)
    if rng.random() < 0.5:
        return f"automaton {seed}", random_reset_cascade(seed, (2,), 2)
    return f"automaton {seed}", random_near_permutations(seed, rng.randint(2, 3), 2)


SOURCES: tuple[Callable[[random.Random, bool], tuple[str, Definition]], ...] = (
    *[_formula] * 5,
    *[_counting] * 3,
    *[_program] * 4,
    _nearest,
    _automaton,
)
"""What is compiled, by how often."""


# Changed -------------------------------------------------------------------------------------------------


def _mutant(rng: random.Random) -> Drawn:
    """A network of another kind that was changed in one to three places, and still has a first layer."""
    while True:
        name, network, made = (_compiled if rng.random() < 0.6 else _written)(rng)
        for _ in range(rng.choice((1, 1, 1, 2, 3))):
            draw = random_network_mutant if rng.random() < 0.6 else gentle_mutant
            what, changed = draw(network, rng)
            if changed is None or complaints(changed):
                break
            name, network = f"{name}; {what}", changed
        else:
            if followed(Subject(name, network, Formulas)) is not None:
                return name, network, made


# Written by hand -----------------------------------------------------------------------------------------


def _written(rng: random.Random) -> Drawn:
    """A network that no compiler made; files must be able to hold its weights."""
    while True:
        kind = rng.choice((*HAND_BUILT, *BY_DRAFT))
        network = BY_DRAFT[kind](Draft(rng)) if kind in BY_DRAFT else hand_built(kind, rng).network
        with suppress(UnsupportedError):
            raw_of(network)
            return kind, network, None


KINDS: dict[str, Callable[[random.Random], Drawn]] = {
    "compiled": _compiled,
    "mutant": _mutant,
    "hand-built": _written,
}


# Words ---------------------------------------------------------------------------------------------------


def words_of(network: Network, rng: random.Random, longest: int) -> list[Numbers]:
    """One symbol alone, one at the first and at the last position among others, runs, ties, and any word."""
    symbols = len(network.alphabet.symbols)
    a, b = rng.sample(range(symbols), 2)
    half, run, length = rng.randint(1, longest // 2), rng.randint(2, longest), rng.randint(2, longest)
    tie = [a] * half + [b] * half
    rng.shuffle(tie)
    return [
        (rng.randrange(symbols),),
        rng.choice(((a, b), (a, a))),
        (b, *[a] * (run - 1)),
        (*[a] * rng.randint(1, longest - 1), b),
        tuple(tie),
        tuple(rng.randrange(symbols) for _ in range(length)),
    ]
