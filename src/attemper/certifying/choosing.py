"""From a language to a network that the checker proves: what is compiled, how wide, and what is tried next.

Nothing here is believed by anybody: every candidate is judged by the checker.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import final

from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.ops import Attend, Ref
from attemper.certifying.certificate import prove
from attemper.certifying.horizons import horizon_of
from attemper.checker.analysis import Analysis
from attemper.checker.rounding.arithmetic import Kernel
from attemper.compiling.decomposing.alternatives import WALK, Alternative
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.literal.single_heads import Heads
from attemper.compiling.pipeline import Compiled, compile_language
from attemper.compiling.simplifying.spell_out import Shared
from attemper.compiling.softening.hard_to_soft import MARGINS
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import UnprovedError, UnsupportedError
from attemper.exact.formats import FloatFormat
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet
from attemper.networks.regime import Regime

DEFAULT = CascadeCaps()
"""The caps on an automaton's cascade, if nothing else is said."""

COUNTING = ("a counter", WALK)
"""The ways of `decompose` that compare counts: with fewer layers than latches have, and shorter horizons."""

GOAL_MARGINS = MARGINS[:3]
"""Wider margins than these gain nothing that was ever measured."""


@final
@dataclass(frozen=True)
class Goal:
    """A horizon that a network is to reach."""

    form: FloatFormat
    kernel: Kernel
    horizon: int


@final
@dataclass(frozen=True)
class Candidate:
    """A way to compile the language; `limits` are those of an automaton's cascade.

    `shared` are the cases of a program's selections that share a head; None: as many as the regime can.
    """

    limits: CascadeCaps
    margin: int
    regime: Regime
    shared: Shared | None = None

    def __str__(self) -> str:
        return f"the {self.regime} regime with margin {self.margin}"


@final
@dataclass(frozen=True)
class Chosen:
    """A network, and what it is proved to compute, or why nothing is proved."""

    candidate: Candidate
    compiled: Compiled
    analysis: Analysis | None
    """What the network computes, if that is proved to be the language."""
    reason: str


@final
@dataclass
class _Failures:
    """What was tried in vain."""

    refusal: UnsupportedError | None = None
    """The last thing that could not be compiled."""
    unproved: list[Chosen] = field(default_factory=list)
    horizon: int = -1
    limit: str = ""
    """The greatest horizon that was reached, and what limited it."""


def choose(
    language: Definition,
    alphabet: Alphabet,
    regimes: Sequence[Regime],
    goal: Goal | None = None,
    limits: CascadeCaps = DEFAULT,
    names: Mapping[Ref, str] | None = None,
    layer_norm: LayerNorm | None = None,
    literal: Heads | None = None,
) -> Chosen:
    """The first network, smallest margins first, that is proved and whose horizon reaches the goal.

    `limits` are those of an automaton's cascade, `names` those of a program's steps; `layer_norm` says how
    each sublayer's input is normalised; `literal` asks for the papers' own network. Without a goal the first
    that is compiled is returned if none is proved. Raises `UnsupportedError` if nothing can be compiled, or
    if no network reaches the goal: with the largest horizon that is reached and the head that limits it.
    """
    failures = _Failures()
    for candidate in _candidates(language, regimes, goal, limits):
        try:
            compiled = compile_language(
                language,
                alphabet,
                candidate.regime,
                candidate.margin,
                candidate.limits,
                shared=candidate.shared,
                names=names,
                layer_norm=layer_norm,
                literal=literal,
            )
        except UnsupportedError as error:
            failures.refusal = error
            continue
        try:
            analysis = prove(compiled.soft, language, compiled.realisation)
        except UnprovedError as error:
            failures.unproved.append(Chosen(candidate, compiled, None, str(error)))
            continue
        if goal is None or _reaches(analysis, goal, candidate, failures):
            return Chosen(candidate, compiled, analysis, "")
    if goal is None and failures.unproved:
        return failures.unproved[0]
    raise _error(goal, failures)


def _candidates(
    language: Definition, regimes: Sequence[Regime], goal: Goal | None, limits: CascadeCaps
) -> Iterator[Candidate]:
    """Every way to compile, the smallest networks first.

    For a goal an automaton that can be a counter or a walk is tried as another cascade, too: that has more
    layers and longer horizons. So is a program with a head for every case, which has more heads.
    """
    margins = MARGINS[:1] if goal is None else GOAL_MARGINS
    for way in product([limits], margins, regimes):
        yield Candidate(*way)
    if goal is not None and isinstance(language, ProgramLanguage):
        for way in product([limits], margins, regimes, [Shared.NONE]):
            yield Candidate(*way)
    other = replace(limits, counter=False)
    if goal is not None and isinstance(language, Dfa) and _differ(language, limits, other):
        for way in product([other], margins, regimes):
            yield Candidate(*way)


def _differ(dfa: Dfa, one: CascadeCaps, other: CascadeCaps) -> bool:
    """Whether an automaton is taken apart in another way within other limits."""
    from attemper.compiling.decomposing.decompose import decompose  # no formula needs it

    try:
        return decompose(dfa, one).chosen != decompose(dfa, other).chosen
    except UnsupportedError:
        return False


def way_taken(alternatives: Sequence[Alternative]) -> Alternative:
    """The way in which an automaton's network was built, of those that were tried: the first of the best."""
    return min(
        (one for one in alternatives if one.sublayers is not None and one.rows is not None),
        key=lambda one: (one.sublayers, one.rows, one.labels),
    )


def tells_cases_apart(chosen: Chosen) -> bool:
    """Whether a head of the network looks for one thing or another, by the bits at i."""
    return any(isinstance(step, Attend) and step.where is None for step in chosen.compiled.guarded.steps)


def layers_without_counting(found: Chosen) -> int | None:
    """About the layers of attention of the cascade that `choose` tries, too, where a counter misses a goal.

    None where the network that was found does not compare counts, or where no way to such a cascade was
    seen. It is what was estimated when the ways were compared: for a remark no cascade is built.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> dfa = parse_regex("(a(a(a(a(a(ab)*b)*b)*b)*b)*b)*", "ab")
    >>> layers_without_counting(choose(dfa, dfa.alphabet, [Regime.UNBOUNDED]))
    4
    """
    tried = found.compiled.alternatives
    if not tried or way_taken(tried).name not in COUNTING:
        return None
    others = (one for one in tried if one.name not in COUNTING and one.refusal is None)
    return min((one.sublayers for one in others if one.sublayers is not None), default=None)


def _reaches(analysis: Analysis, goal: Goal, candidate: Candidate, failures: _Failures) -> bool:
    """Whether the network is proved up to the goal's horizon."""
    horizon, place = horizon_of(analysis, goal.form, goal.kernel, goal.horizon)
    if horizon > failures.horizon:
        failures.horizon, failures.limit = horizon, f"{place} in {candidate}"
    return horizon >= goal.horizon


def _error(goal: Goal | None, failures: _Failures) -> UnsupportedError:
    """Why nothing was chosen."""
    limit = failures.limit or next((one.reason for one in failures.unproved), "")
    if goal is None or not limit:
        assert failures.refusal is not None
        return failures.refusal
    return UnsupportedError(
        f"no network reaches a horizon of {goal.horizon:,} in {goal.form.name} with {goal.kernel} "
        f"kernels; the largest that is proved is {max(failures.horizon, 0):,}, limited by {limit}. "
        "Use a wider format, or a smaller horizon."
    )
