"""From an automaton to the best cascade that a few ways find, or to a counter if that is shallower."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import assert_never, final

from attemper.compiling.bounded_counter import BoundedCounter
from attemper.compiling.cascade import Cascade, Chain, Counter, Delay, Latch, Register, RegisterLevel, Sum
from attemper.compiling.decomposing.alternatives import WALK, Alternative
from attemper.compiling.decomposing.bases import PositionCycle, by_last_letters, by_place, exact_places
from attemper.compiling.decomposing.bounded import bounded_counter
from attemper.compiling.decomposing.congruences import UnionBudget, quotient, splitting
from attemper.compiling.decomposing.flag import PeriodNeededError, flag_chain, height
from attemper.compiling.decomposing.limits import CascadeCaps, check
from attemper.compiling.decomposing.merging import merge
from attemper.compiling.decomposing.pruning import prune
from attemper.compiling.decomposing.series import in_series
from attemper.compiling.decomposing.stages import CascadeQuestion, Images, Stage
from attemper.compiling.decomposing.walks import walk_chain
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet

LAST_LETTERS = 7
"""How many of the last letters are looked at, at most."""

WINDOWS = 600
"""The most rows for a table of the last letters."""


PLAIN = "plain"


@final
@dataclass(frozen=True)
class Decomposition:
    """What has the fewest sublayers, the smallest cascade or a counter, and what else was tried."""

    chosen: Cascade | BoundedCounter
    alternatives: tuple[Alternative, ...]


@final
@dataclass(frozen=True)
class _StagePlan:
    """A first stage that is worth trying."""

    name: str
    places: PositionCycle
    levels: tuple[RegisterLevel, ...]
    stage: Stage
    sublayers: int


@final
@dataclass(frozen=True)
class _Candidate:
    """A chain above the places."""

    name: str
    places: PositionCycle
    chain: Chain

    @property
    def sublayers(self) -> int:
        return sum(level.sublayers for level in self.chain.levels)


@final
@dataclass(frozen=True)
class _Task:
    """An automaton, what is asked about its states, and why ways were given up, by their names."""

    dfa: Dfa
    question: CascadeQuestion
    images: Images
    refused: dict[str, UnsupportedError] = field(default_factory=dict)

    def refuse(self, name: str, error: UnsupportedError, sublayers: int | None = None) -> Alternative:
        """A way that is given up."""
        self.refused[name] = error
        return Alternative(name, sublayers, refusal=str(error))


def rows_of(chains: Sequence[Chain]) -> int:
    """The rows of all tables."""
    return sum(len(level.rows) for chain in chains for level in chain.levels)


def labels_of(chains: Sequence[Chain]) -> int:
    """The labels of all latches, the empty one not counted."""
    latches = [
        r for chain in chains for level in chain.levels for r in level.registers if isinstance(r, Latch)
    ]
    return sum(len({label for _, label in latch.store if label is not None}) for latch in latches)


def decompose(dfa: Dfa, limits: CascadeCaps | None = None) -> Decomposition:
    """What says after every letter whether the word so far is in the automaton's language.

    Raises `UnsupportedError` if a group is not solvable (then there is nothing), or if every way goes beyond
    a limit (`CapError`): that of a walk, if the automaton is one, else of the plain way.
    """
    limits = limits or CascadeCaps()
    least = minimal(dfa)
    letters, small = _without_twins(least)
    codes = tuple(int(state in small.accepting) for state in range(len(small.moves)))
    task = _Task(small, CascadeQuestion(codes), Images(small, limits))
    plans, tried = _plans(task, limits)
    counter = bounded_counter(least) if limits.counter else None
    if counter is not None:
        if all(plan.sublayers > counter.sublayers for plan in plans):
            tried += [Alternative(plan.name, plan.sublayers) for plan in plans]
            return Decomposition(counter, (*tried, Alternative("a counter", counter.sublayers, 0, 0)))
        tried.append(Alternative("a counter", counter.sublayers))
    direct, refusals = _best(task, plans, None)
    tried += refusals
    best: tuple[_Candidate, ...] | None = None
    if direct is not None:
        best = (direct,)
        tried.append(_described(direct.name, best))
    accepting: frozenset[tuple[int, ...]] = frozenset({(1,)})
    parts, refusal = _split(small, limits, None if direct is None else _sublayers(best or ()))
    if parts is not None:
        built, congruences = parts
        tried.append(_described(f"{len(built)} automata side by side", built))
        if best is None or _cost(built) < _cost(best):
            best = built
            accepting = frozenset(tuple(c[state] for c in congruences) for state in small.accepting)
    elif refusal is not None:
        tried.append(refusal)
    if best is None:
        series = in_series(small, task.question, limits)
        if series is not None and rows_of([series[0]]) <= limits.rows:
            chain, number = series
            best = (_Candidate(f"{number} automata one after the other", PositionCycle(0, 1), chain),)
            tried.append(_described(best[0].name, best))
    if best is None:
        raise task.refused.get(WALK, task.refused[PLAIN])
    return Decomposition(_assembled(dfa.alphabet, letters, best, accepting), tuple(tried))


def _without_twins(dfa: Dfa) -> tuple[tuple[int, ...], Dfa]:
    """The class of each letter, and the automaton over one letter from each class of those that act alike."""
    number: dict[tuple[int, ...], int] = {}
    columns: list[tuple[int, ...]] = [
        tuple(row[letter] for row in dfa.moves) for letter in range(len(dfa.alphabet.symbols))
    ]
    letters = tuple(number.setdefault(column, len(number)) for column in columns)
    symbols = tuple(dfa.alphabet.symbols[letters.index(n)] for n in range(len(number)))
    moves = tuple(tuple(column[state] for column in number) for state in range(len(dfa.moves)))
    return letters, Dfa(Alphabet(symbols), moves, dfa.start, dfa.accepting)


def _plans(task: _Task, limits: CascadeCaps) -> tuple[list[_StagePlan | _Candidate], list[Alternative]]:
    """The first stages that can be built on, the refusals of others, and a walk if that is shallower."""
    plans: list[_StagePlan | _Candidate] = []
    refused: list[Alternative] = []
    for name, places, count in _bases(task.images):
        most = min((plan.sublayers for plan in plans), default=4 * limits.levels)
        try:
            plan = _plan(task, name, places, count, most)
        except UnsupportedError as error:
            refused.append(task.refuse(name, error))
        else:
            plans.append(plan)
        task.images.is_limited = True
    try:
        walk = walk_chain(task.dfa, task.question, limits) if limits.bases and limits.counter else None
    except UnsupportedError as error:
        refused.append(task.refuse(WALK, error))
    else:
        plans += [] if walk is None else _shallower(_Candidate(WALK, walk[0], _smaller(task, *walk)), plans)
    return plans, refused


def _shallower(walk: _Candidate, plans: Sequence[_StagePlan | _Candidate]) -> list[_Candidate]:
    """The walk, if it has fewer sublayers than any of the plans."""
    return [walk] if all(walk.sublayers < plan.sublayers for plan in plans) else []


def _smaller(task: _Task, places: PositionCycle, raw: Chain) -> Chain:
    """The chain without rows that never occur, and with what is alike merged."""
    base = places.symbols(len(task.dfa.alphabet.symbols))
    return merge(prune(merge(raw), base, task.images.limits.configurations))


def _bases(images: Images) -> Iterator[tuple[str, PositionCycle, int]]:
    """Name, places and number of last letters known."""
    yield PLAIN, PositionCycle(0, 1), 0
    if not images.limits.bases:
        return
    try:
        places, sets = exact_places(images)
    except UnsupportedError:
        places, sets = PositionCycle(0, 1), ()
    everything = (1 << len(images.dfa.moves)) - 1
    informative = everything not in sets[places.prefix :] and places.count > 1
    if informative:
        if places.period > 1:
            yield f"position modulo {places.period}", PositionCycle(0, places.period), 0
        if places.prefix:
            yield f"position up to {places.prefix}, modulo {places.period}", places, 0
    letters = len(images.dfa.alphabet.symbols)
    for count in range(1, LAST_LETTERS + 1):
        if letters ** (count + 1) <= WINDOWS:
            name = "last letter" if count == 1 else f"last {count} letters"
            yield name, PositionCycle(0, 1), count
            if places.period > 1 and informative and letters ** (count + 1) * places.period <= WINDOWS:
                yield f"{name}, position modulo {places.period}", PositionCycle(0, places.period), count


def _plan(task: _Task, name: str, places: PositionCycle, count: int, most: int) -> _StagePlan:
    """A first stage with as long a period as is needed, and the sublayers of what is built on it.

    These are counted up to `most`, not further.
    """
    carried = False
    while True:
        check(places.count, task.images.limits, "places", "places")
        levels: tuple[RegisterLevel, ...] = ()
        if count:
            level, stage = by_last_letters(places, task.images, count, carried=carried)
            levels = (level,)
        else:
            stage = by_place(places, task.images, carried=carried)
        try:
            sublayers = height(stage, task.images, task.question, most)
        except PeriodNeededError as need:
            places, carried = PositionCycle(places.prefix, lcm(places.period, need.period)), True
        else:
            return _StagePlan(name, places, levels, stage, len(levels) + sublayers)


def _best(
    task: _Task, plans: Sequence[_StagePlan | _Candidate], allowed: int | None
) -> tuple[_Candidate | None, list[Alternative]]:
    """The smallest chain among those with the fewest sublayers, or with as many as are allowed."""
    found: list[_Candidate] = []
    notes: list[Alternative] = []
    for plan in sorted(plans, key=lambda plan: plan.sublayers):
        if found and plan.sublayers > (_sublayers(found) if allowed is None else allowed):
            notes.append(Alternative(plan.name, plan.sublayers))
            continue
        if any(built.name[:4] == plan.name[:4] == "last" for built in found):
            notes.append(Alternative(plan.name, plan.sublayers))
            continue
        task.images.is_limited = bool(found)
        try:
            found.append(plan if isinstance(plan, _Candidate) else _build(task, plan))
        except UnsupportedError as error:
            notes.append(task.refuse(plan.name, error, plan.sublayers))
    best = min(found, key=lambda built: _cost((built,)), default=None)
    notes += [_described(built.name, (built,)) for built in found if built is not best]
    return best, notes


def _build(task: _Task, plan: _StagePlan) -> _Candidate:
    """The smaller of two chains: whose levels forget where they would be large, or wherever they can."""
    limits = task.images.limits
    found = []
    period = plan.places.period
    for remembering in (limits.rows_remembering, 0):
        try:
            raw = flag_chain(plan.stage, task.images, task.question, plan.levels, remembering)
        except PeriodNeededError as need:
            period = need.period
            continue
        found.append(_Candidate(plan.name, plan.places, _smaller(task, plan.places, raw)))
        if all(len(level.registers) <= 1 for level in raw.levels[len(plan.levels) :]):
            break
    if not found:
        raise UnsupportedError(
            f"what is left of its groups needs positions modulo {period}, which was not foreseen"
        )
    best = min(found, key=lambda built: _cost([built]))
    check(rows_of([best.chain]), limits, "rows", "rows in all tables")
    return best


def _split(
    dfa: Dfa, limits: CascadeCaps, best: int | None
) -> tuple[tuple[tuple[_Candidate, ...], tuple[tuple[int, ...], ...]] | None, Alternative | None]:
    """Chains for the parts of the automaton, if they have no more sublayers than the best so far."""
    name = "automata side by side"
    budget = UnionBudget(limits.congruence_steps)
    congruences = splitting(dfa, budget)
    if congruences is None:
        spent = f"more than {limits.congruence_steps} steps to find congruences, the cap"
        return None, Alternative(
            name, refusal=spent if budget.left < 0 else "the automaton has no such parts"
        )
    tasks = [_task(quotient(dfa, congruence), limits) for congruence in congruences]
    plans = [_plans(task, limits)[0] for task in tasks]
    if not all(plans):
        return None, Alternative(name, refusal="a part was refused")
    allowed = max(min(plan.sublayers for plan in part) for part in plans)
    if best is not None and allowed > best:
        return None, Alternative(name, allowed)
    built = [_best(task, part, allowed)[0] for task, part in zip(tasks, plans, strict=True)]
    whole = tuple(part for part in built if part is not None)
    if len(whole) < len(built):
        return None, Alternative(name, allowed, refusal="a part was refused")
    return (whole, congruences), None


def _task(dfa: Dfa, limits: CascadeCaps) -> _Task:
    return _Task(dfa, CascadeQuestion(tuple(range(len(dfa.moves)))), Images(dfa, limits))


def _sublayers(parts: Sequence[_Candidate]) -> int:
    return max(part.sublayers for part in parts)


def _cost(parts: Sequence[_Candidate]) -> tuple[int, int]:
    chains = [part.chain for part in parts]
    return _sublayers(parts), rows_of(chains) + labels_of(chains)


def _described(name: str, parts: Sequence[_Candidate]) -> Alternative:
    chains = [part.chain for part in parts]
    return Alternative(name, _sublayers(parts), rows_of(chains), labels_of(chains))


def _assembled(
    alphabet: Alphabet,
    letters: tuple[int, ...],
    parts: Sequence[_Candidate],
    accepting: frozenset[tuple[int, ...]],
) -> Cascade:
    """The chains above common places and the full alphabet."""
    places = PositionCycle(
        max(part.places.prefix for part in parts), lcm(*(part.places.period for part in parts))
    )
    width = max(letters) + 1
    chains = []
    for part in parts:
        own = [_place(part.places, place) for place in range(places.count)]
        below = tuple(place * width + letter for place in own for letter in letters)
        chains.append(_above(part.chain, below, places))
    return Cascade(alphabet, places.prefix, places.period, tuple(chains), accepting)


def _place(places: PositionCycle, steps: int) -> int:
    """The place after so many letters."""
    return steps if steps < places.prefix else places.prefix + (steps - places.prefix) % places.period


def _above(chain: Chain, below: tuple[int, ...], places: PositionCycle) -> Chain:
    """The chain above other symbols, each of which stands for one of its own."""
    if not chain.levels:
        return Chain((), tuple(chain.codes[symbol] for symbol in below))
    if below == tuple(range(len(below))):
        return chain
    first, *others = chain.levels
    if places.count == 1 and not any(isinstance(register, Delay) for register in first.registers):
        return Chain((_told_apart(first, below), *others), chain.codes)
    names = RegisterLevel((), tuple(((symbol, ()), own) for symbol, own in enumerate(below)))
    return Chain((names, *chain.levels), chain.codes)


def _told_apart(level: RegisterLevel, below: tuple[int, ...]) -> RegisterLevel:
    """The level above other symbols, without delays: as sets of letters these cost nothing."""
    behind: dict[int, list[int]] = {}
    for symbol, own in enumerate(below):
        behind.setdefault(own, []).append(symbol)
    registers: list[Register] = []
    for register in level.registers:
        match register:
            case Latch(store):
                registers.append(Latch(tuple((s, label) for own, label in store for s in behind[own])))
            case Counter(counted, modulus):
                registers.append(Counter(frozenset(s for own in counted for s in behind[own]), modulus))
            case Sum(weights, modulus):
                summed = tuple((s, weight) for own, weight in weights for s in behind[own])
                registers.append(Sum(summed, modulus))
            case Delay():
                raise AssertionError("a delay holds symbols")
            case _:
                assert_never(register)
    rows = tuple(((s, contents), result) for (own, contents), result in level.rows for s in behind[own])
    return RegisterLevel(tuple(registers), rows)
