"""From a cascade to an attention program: one strict selection per label, one union of cubes per symbol.

    latch       attend < rightmost: where the symbol below stores something, value [it stores this label]
    counter     count <=, then a test of its remainder; what i itself counts is allowed for in the table
    sum         counters, then for each value the union of the conjunctions of remainders that add up to it
    delays      up to distance k: k latches, one for each residue of the position modulo k
    table       for each symbol the union of the conjunctions (symbol below, contents) that lead to it

A latch reads 0 where nothing was stored, so the program needs no guards. Tables are written as decision
trees: a register is asked only where its content matters.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod
from typing import Protocol, assert_never, final

from attemper.attention_program import ops
from attemper.attention_program.builder import Builder, prune
from attemper.compiling.cascade import (
    Cascade,
    Chain,
    Content,
    Counter,
    Delay,
    Latch,
    RegisterLevel,
    Sum,
    SymbolNumber,
    after,
)
from attemper.exact.closed_forms import ONE, ClosedForm, Test, times
from attemper.exact.predicates import NonNegative, Remainder, Zero

AnswerRow = tuple[Content, ...]
"""The answers to all questions of a table, in their order."""

PartialTable = dict[AnswerRow, Content]
"""The results of some cases; the others never occur."""

SymbolPartition = tuple[tuple[SymbolNumber, ...], ...]
"""Symbols, each in one part."""

Answers = tuple[tuple[int, Content], ...]
"""The answers to some of the questions: (number of the question, answer)."""

MAX_COMBINED_CODES = 1024
"""Up to so many combinations of codes, those that are accepted are written as a decision tree."""


MAX_JOINT_CUBES = 64
"""Up to so many conjunctions, chains side by side meet in their last feed-forward, else in one more."""


@final
@dataclass(frozen=True)
class LoweredCascade:
    """The program, what its steps mean, and the groups of bits that say which symbol it is."""

    program: ops.Program
    names: dict[ops.Ref, str]
    symbols: tuple[tuple[ops.Ref, ...], ...]


def cascade_to_program(cascade: Cascade) -> LoweredCascade:
    """The attention program of a cascade: the same bit at every position of every word."""
    lowering = _CascadeLowering(cascade)
    output = lowering.output()
    program, to = prune(ops.Program(cascade.alphabet, tuple(lowering.builder.steps), output))
    names = {to[ref]: name for ref, name in lowering.names.items() if to[ref] >= 0}
    names.setdefault(program.output, "accepted")
    groups = (tuple(to[ref] for ref in group if to[ref] >= 0) for group in lowering.groups)
    return LoweredCascade(program, names, tuple(group for group in groups if group))


class _Below(Protocol):
    """The symbols that a level reads."""

    def union(self, symbols: Collection[SymbolNumber]) -> ops.Ref:
        """The bit that says that it is one of these."""

    def union_among(self, symbols: Collection[SymbolNumber], known: Collection[SymbolNumber]) -> ops.Ref:
        """The same, where it is known to be one of others that include these."""

    def read_by(self, level: RegisterLevel, latch: Latch) -> Collection[SymbolNumber]:
        """The symbols that a head for the latch can read, at a position where its answer matters."""

    def views(self, tables: Mapping[SymbolNumber, PartialTable]) -> tuple[SymbolPartition, ...]:
        """What is asked of the symbol, so that the table is known."""


class _CascadeLowering:
    def __init__(self, cascade: Cascade) -> None:
        self.cascade = cascade
        self.builder = Builder()
        self.names: dict[ops.Ref, str] = {}
        self.groups: list[tuple[ops.Ref, ...]] = []

    def output(self) -> ops.Ref:
        chains = self.cascade.chains
        base = _Base(self)
        codes = [self._codes(chain, number, base) for number, chain in enumerate(chains)]
        if len(chains) == 1:
            one = [ref for code, ref in codes[0].items() if (code,) in self.cascade.accepting]
            # Each code is a union of cubes already: the output has the cubes of all that are accepted.
            return self._union(bit for ref in one for bit in self._cubes_of(ref))
        accepted: list[list[ops.Ref]] = [
            [codes[number][content] for number, content in answers]
            for answers in _accepted(self.cascade)
            if all(content in codes[number] for number, content in answers)
        ]
        return self._union(self._at_once(accepted) or self._after_all(accepted))

    def _at_once(self, accepted: Sequence[Sequence[ops.Ref]]) -> list[ops.Ref]:
        """The cubes of conjunctions of codes; none if they are too many."""
        if sum(prod(len(self._cubes_of(ref)) for ref in refs) for refs in accepted) > MAX_JOINT_CUBES:
            return []
        return [
            self.conjunction(bit for cube in cubes for bit in self._cubes_of(cube))
            for refs in accepted
            for cubes in product(*map(self._cubes_of, refs))
        ]

    def _after_all(self, accepted: Sequence[Sequence[ops.Ref]]) -> list[ops.Ref]:
        """Conjunctions of codes, one feed-forward later, as merges are read: when each chain has finished."""
        merged = ([self.builder.add(ops.Merge((ref,))) for ref in refs] for refs in accepted)
        return [self.conjunction(refs) for refs in merged]

    def _cubes_of(self, ref: ops.Ref) -> tuple[ops.Ref, ...]:
        step = self.builder.steps[ref]
        assert isinstance(step, ops.Gate)
        return step.bits

    def _codes(self, chain: Chain, number: int, base: _Below) -> dict[Content, ops.Ref]:
        """The bit of each code of a chain."""
        prefix = "" if len(self.cascade.chains) == 1 else f"chain {number + 1}, "
        codes: Mapping[Content, Content] = dict(enumerate(chain.codes))
        if not chain.levels:
            same: dict[Content, Content] = {code: code for code in chain.codes}
            return self._level(_first_level(chain), base, same, f"{prefix}code")
        below = base
        for height, level in enumerate(chain.levels[:-1], start=1):
            own: dict[Content, Content] = {symbol: symbol for _, symbol in level.rows}
            below = _Symbols(self, self._level(level, below, own, f"{prefix}level {height}, symbol"))
        return self._level(chain.levels[-1], below, codes, f"{prefix}code")

    def _level(
        self, level: RegisterLevel, below: _Below, results: Mapping[Content, Content], label: str
    ) -> dict[Content, ops.Ref]:
        """The bit of each result of a level's symbols."""
        tables = _tables(level, results)
        views = below.views(tables)
        ask = _Questions(self, level, below, views)
        cubes: dict[Content, list[ops.Ref]] = {}
        for answers, result in _tree(_cases(tables, views), len(views) + len(level.registers)):
            cubes.setdefault(result, []).extend(ask.conjunctions(answers))
        return self.group(cubes, label)

    def group(self, cubes: Mapping[Content, Sequence[ops.Ref]], label: str) -> dict[Content, ops.Ref]:
        """A bit for each result, of which one is 1: the union of its cubes."""
        found = {result: self._own_union(parts) for result, parts in cubes.items()}
        self.names |= {ref: f"{label} {result}" for result, ref in found.items()}
        self.groups.append(tuple(found.values()))
        return found

    def _union(self, bits: Iterable[ops.Ref]) -> ops.Ref:
        return self.builder.add(ops.Gate(ops.Connective.UNION, tuple(bits)))

    def _own_union(self, bits: Iterable[ops.Ref]) -> ops.Ref:
        """A union that is not shared, even with an equal one: a symbol's bits belong to it alone."""
        self.builder.steps.append(ops.Gate(ops.Connective.UNION, tuple(bits)))
        return len(self.builder.steps) - 1

    def conjunction(self, bits: Iterable[ops.Ref]) -> ops.Ref:
        """All of the bits."""
        return self.builder.add(ops.Gate(ops.Connective.AND, tuple(bits)))

    def place(self, form: ClosedForm) -> ops.Ref:
        """A bit of the position."""
        return self.builder.add(ops.Place(form))


@final
class _Symbols:
    """The symbols of a level."""

    def __init__(self, lowering: _CascadeLowering, bits: Mapping[Content, ops.Ref]) -> None:
        self.lowering = lowering
        self.bits = bits

    def union(self, symbols: Collection[SymbolNumber]) -> ops.Ref:
        found = tuple(self.bits[symbol] for symbol in sorted(symbols) if symbol in self.bits)
        return self.lowering.builder.add(ops.Merge(found))

    def union_among(self, symbols: Collection[SymbolNumber], _: Collection[SymbolNumber]) -> ops.Ref:
        return self.union(symbols)

    def read_by(self, level: RegisterLevel, _: Latch) -> Collection[SymbolNumber]:
        return {symbol for (symbol, _), _ in level.rows}

    def views(self, tables: Mapping[SymbolNumber, PartialTable]) -> tuple[SymbolPartition, ...]:
        return (_alike(tables),)


@final
class _Base:
    """Letters and places, which stand in the embedding.

    If a register asks for what is neither a set of letters nor one of places, a feed-forward before the first
    attention makes a bit for every letter at every place, and everybody reads these. Else a table that would
    ask for such a set asks for the letter and for the place.
    """

    def __init__(self, lowering: _CascadeLowering) -> None:
        self.lowering = lowering
        cascade = lowering.cascade
        self.letters = cascade.alphabet.symbols
        self.places = [_place(cascade, place) for place in range(cascade.prefix + cascade.period)]
        self.joint: dict[SymbolNumber, ops.Ref] = {}
        first = [_first_level(chain) for chain in cascade.chains]
        if any(self._widened(*asked) is None for level in first for asked in self._asked(level)):
            self._join()

    def union(self, symbols: Collection[SymbolNumber]) -> ops.Ref:
        add = self.lowering.builder.add
        if self.joint:
            return add(ops.Merge(tuple(self.joint[symbol] for symbol in sorted(symbols))))
        letters, places = self._letters_and_places(symbols)
        if len(places) in {0, len(self.places)}:
            return add(ops.Letter(tuple(self.letters[letter] for letter in letters)))
        return add(ops.Merge(tuple(self.lowering.place(self.places[place]) for place in places)))

    def union_among(self, symbols: Collection[SymbolNumber], known: Collection[SymbolNumber]) -> ops.Ref:
        return self.union(symbols if self.joint else self._widened(symbols, known) or symbols)

    def views(self, tables: Mapping[SymbolNumber, PartialTable]) -> tuple[SymbolPartition, ...]:
        whole = _alike(tables)
        if self.joint or all(map(self._is_plain, whole)):
            return (whole,)
        width = len(self.letters)
        return tuple(
            _parts((symbol, number(symbol)) for symbol in tables)
            for number in (width.__rmod__, width.__rfloordiv__)
        )

    def read_by(self, level: RegisterLevel, latch: Latch) -> Collection[SymbolNumber]:
        """Those that the latch stores, if it is empty at the first position only: there a head reads 0."""
        place = level.registers.index(latch)
        empty = {
            symbol // len(self.letters) for (symbol, contents), _ in level.rows if contents[place] is None
        }
        is_first = empty <= {0} and self.lowering.cascade.prefix > 0
        return latch.by_symbol if is_first else {symbol for (symbol, _), _ in level.rows}

    def _asked(
        self, level: RegisterLevel
    ) -> Iterator[tuple[Collection[SymbolNumber], Collection[SymbolNumber]]]:
        """The sets of symbols that the registers of a level ask for, and what is known where they do."""
        occurring = {symbol for (symbol, _), _ in level.rows}
        for register in level.registers:
            match register:
                case Latch(store):
                    yield occurring - {symbol for symbol, _ in store}, occurring
                    for label in {label for _, label in store}:
                        own = [symbol for symbol, stored in store if stored == label and symbol in occurring]
                        yield own, self.read_by(level, register)
                case Counter(counted, _):
                    yield counted, occurring
                case Sum():
                    yield from ((symbols, occurring) for _, symbols in _counted(register))
                case Delay():
                    yield from (([symbol], occurring) for symbol in occurring)
                case _:
                    assert_never(register)

    def _widened(
        self, symbols: Collection[SymbolNumber], known: Collection[SymbolNumber]
    ) -> Collection[SymbolNumber] | None:
        """All that have certain letters, or certain places, and of the known symbols just these; or None."""
        width, own = len(self.letters), set(symbols)
        letters, places = self._letters_and_places(symbols)
        every = range(width * len(self.places))
        of_letters = {symbol for symbol in every if symbol % width in letters}
        of_places = {symbol for symbol in every if symbol // width in places}
        plain = [own] if self._is_plain(symbols) else []
        return next((wide for wide in (*plain, of_letters, of_places) if own == wide & {*known, *own}), None)

    def _is_plain(self, symbols: Collection[SymbolNumber]) -> bool:
        """Whether they are all that have certain letters, or all that have certain places."""
        letters, places = self._letters_and_places(symbols)
        whole = len(places) in {0, len(self.places)} or len(letters) == len(self.letters)
        return whole and len(letters) * len(places) == len(symbols)

    def _letters_and_places(self, symbols: Collection[SymbolNumber]) -> tuple[list[int], list[int]]:
        width = len(self.letters)
        return sorted({symbol % width for symbol in symbols}), sorted({symbol // width for symbol in symbols})

    def _join(self) -> None:
        """A bit for every letter at every place, made by a feed-forward before the first attention."""
        width, lowering = len(self.letters), self.lowering
        for symbol in range(width * len(self.places)):
            letter = lowering.builder.add(ops.Letter((self.letters[symbol % width],)))
            place = lowering.place(self.places[symbol // width])
            self.joint[symbol] = lowering.conjunction((letter, place))
            lowering.names[self.joint[symbol]] = (
                f"'{self.letters[symbol % width]}' at place {symbol // width}"
            )
        lowering.groups.append(tuple(self.joint.values()))


def _first_level(chain: Chain) -> RegisterLevel:
    """The level above the base; without levels, one that gives the codes."""
    if chain.levels:
        return chain.levels[0]
    return RegisterLevel((), tuple(((symbol, ()), code) for symbol, code in enumerate(chain.codes)))


def _place(cascade: Cascade, place: int) -> ClosedForm:
    """[i has this place]."""
    if place < cascade.prefix:
        return Test(Zero(), 1, 0, -1 - place)
    if cascade.period == 1:
        return Test(NonNegative(), 1, 0, -1 - cascade.prefix)
    residue = Test(Remainder(cascade.period, (1 + place) % cascade.period), 1, 0, 0)
    return times(Test(NonNegative(), 1, 0, -1 - cascade.prefix), residue) if cascade.prefix else residue


# Tables -----------------------------------------------------------------------------------------------


def _tables(level: RegisterLevel, results: Mapping[Content, Content]) -> dict[SymbolNumber, PartialTable]:
    """For each symbol below, the results by the contents of the registers.

    The content of a counter or sum includes what i itself adds.
    """
    found: dict[SymbolNumber, PartialTable] = {}
    for (symbol, contents), own in level.rows:
        seen = tuple(
            after(register, symbol, held) if isinstance(register, Counter | Sum) else held
            for register, held in zip(level.registers, contents, strict=True)
        )
        found.setdefault(symbol, {})[seen] = results[own]
    return found


def _parts(signs: Iterable[tuple[SymbolNumber, Hashable]]) -> SymbolPartition:
    """The symbols with the same sign together, in the order of the first of each."""
    found: dict[Hashable, list[SymbolNumber]] = {}
    for symbol, sign in signs:
        found.setdefault(sign, []).append(symbol)
    return tuple(map(tuple, found.values()))


def _alike(tables: Mapping[SymbolNumber, PartialTable]) -> SymbolPartition:
    """The symbols with the same table together."""
    return _parts((symbol, frozenset(table.items())) for symbol, table in tables.items())


def _cases(tables: Mapping[SymbolNumber, PartialTable], views: Sequence[SymbolPartition]) -> PartialTable:
    """All tables in one, by the number of the symbol's part in each view, and the contents."""
    numbers = [{symbol: n for n, part in enumerate(view) for symbol in part} for view in views]
    return {
        (*(number[symbol] for number in numbers), *case): result
        for symbol, table in tables.items()
        for case, result in sorted(table.items(), key=repr)
    }


def _counted(register: Sum) -> Iterator[tuple[int, frozenset[SymbolNumber]]]:
    """What is counted for a sum, and its weight: each weight, or each binary digit if these are fewer."""
    weights = {symbol: weight % register.modulus for symbol, weight in register.weights}
    distinct = sorted({weight for weight in weights.values() if weight})
    digits = [1 << place for place in range(max(distinct, default=0).bit_length())]
    if len(digits) < len(distinct):
        for digit in digits:
            yield digit, frozenset(symbol for symbol, weight in weights.items() if weight & digit)
    else:
        for own in distinct:
            yield own, frozenset(symbol for symbol, weight in weights.items() if weight == own)


def _tree(cases: Mapping[AnswerRow, Content], questions: int) -> Iterator[tuple[Answers, Content]]:
    """Answers that decide the result, and the result; of any two, one question has different answers."""
    if len(set(cases.values())) <= 1:
        for result in set(cases.values()):
            yield (), result
        return
    best = min(range(questions), key=lambda question: _disorder(cases, question))
    parts: dict[Content, dict[AnswerRow, Content]] = {}
    for case, result in cases.items():
        parts.setdefault(case[best], {})[case] = result
    for answer, part in parts.items():
        for answers, result in _tree(part, questions):
            yield ((best, answer), *answers), result


def _disorder(cases: Mapping[AnswerRow, Content], question: int) -> tuple[int, int]:
    """How many results remain possible after each answer, in all; questions that tell nothing come last."""
    left: dict[Content, set[Content]] = {}
    for case, result in cases.items():
        left.setdefault(case[question], set()).add(result)
    return (sum(map(len, left.values())) if len(left) > 1 else len(cases) + 1), len(left)


def _accepted(cascade: Cascade) -> Iterator[Answers]:
    """Disjoint conditions on the codes of the chains: one of them holds where the prefix is accepted."""
    codes = [sorted(set(chain.codes)) for chain in cascade.chains]
    if prod(map(len, codes)) > MAX_COMBINED_CODES:
        yield from (tuple(enumerate(row)) for row in sorted(cascade.accepting))
        return
    cases: dict[AnswerRow, Content] = {row: int(row in cascade.accepting) for row in product(*codes)}
    yield from (answers for answers, accepted in _tree(cases, len(codes)) if accepted)


# Registers --------------------------------------------------------------------------------------------


@final
class _Questions:
    """What a level's table asks: for the part of each view that has the symbol below, then for registers."""

    def __init__(
        self,
        lowering: _CascadeLowering,
        level: RegisterLevel,
        below: _Below,
        views: Sequence[SymbolPartition],
    ) -> None:
        self.lowering = lowering
        self.level = level
        self.below = below
        self.views = views
        self.symbols = sorted({symbol for (symbol, _), _ in level.rows})
        self.sums: dict[Sum, _Symbols] = {}
        self.latched: dict[tuple[int, Content], ops.Ref] = {}
        """[the register of this number holds this label]: a table asks that in many of its rows."""
        self.window = max((r.distance for r in level.registers if isinstance(r, Delay)), default=0)

    def conjunctions(self, answers: Answers) -> list[ops.Ref]:
        """The disjoint conjunctions that say that these are the answers."""
        bits: list[ops.Ref] = []
        delays: list[tuple[int, Content]] = []
        for question, answer in answers:
            if question < len(self.views):
                assert answer is not None
                bits.append(self.below.union(self.views[question][answer]))
                continue
            number = question - len(self.views)
            register = self.level.registers[number]
            match register:
                case Latch():
                    if (number, answer) not in self.latched:
                        self.latched[number, answer] = self._latched(register, answer)
                    bits.append(self.latched[number, answer])
                case Counter(counted, modulus):
                    assert answer is not None
                    count = self.lowering.builder.add(ops.Count(ops.Mask.UP_TO, self._exact(counted)))
                    test = ops.CountTest(Remainder(modulus, answer), count, 1, 0)
                    bits.append(self.lowering.builder.add(test))
                case Sum():
                    assert answer is not None
                    bits.append(self._sum(register).union([answer]))
                case Delay(distance):
                    delays.append((distance, answer))
                case _:
                    assert_never(register)
        if not delays:
            return [self.lowering.conjunction(bits)]
        return [
            self.lowering.conjunction((*bits, *self._delayed(delays, residue)))
            for residue in range(self.window)
        ]

    def _sum(self, register: Sum) -> _Symbols:
        """The values of a sum, as symbols."""
        if register not in self.sums:
            nothing = _Symbols(self.lowering, {0: self.lowering.place(ONE)})
            parts = [self._remainders(register, *part) for part in _counted(register)] or [nothing]
            while len(parts) > 1:
                parts = [*parts[2:], self._added(parts[0], parts[1], register.modulus)]
            self.sums[register] = parts[0]
        return self.sums[register]

    def _remainders(self, register: Sum, weight: int, counted: frozenset[SymbolNumber]) -> _Symbols:
        """What one counter adds to a sum."""
        add = self.lowering.builder.add
        count = add(ops.Count(ops.Mask.UP_TO, self._exact(counted)))
        order = register.modulus // gcd(weight, register.modulus)
        return _Symbols(
            self.lowering,
            {
                weight * own % register.modulus: add(ops.CountTest(Remainder(order, own), count, 1, 0))
                for own in range(order)
            },
        )

    def _added(self, one: _Symbols, other: _Symbols, modulus: int) -> _Symbols:
        """The values of the sum of two."""
        cubes: dict[Content, list[ops.Ref]] = {}
        for left, right in product(one.bits, other.bits):
            assert left is not None
            assert right is not None
            both = self.lowering.conjunction((one.union([left]), other.union([right])))
            cubes.setdefault((left + right) % modulus, []).append(both)
        return _Symbols(self.lowering, self.lowering.group(cubes, "sum"))

    def _exact(self, symbols: Collection[SymbolNumber]) -> ops.Ref:
        """The union as a bit that is 0 or 1 in floats too, as a count needs it.

        A bit made of several approximate ones is rounded once more, by one more feed-forward.
        """
        union = self.below.union(symbols)
        return self.lowering.conjunction((union,)) if isinstance(self.below, _Symbols) else union

    def _latched(self, latch: Latch, answer: Content) -> ops.Ref:
        """[the latch holds this label]; for None, that it holds nothing."""
        where = self._one_of(set(latch.by_symbol))
        known = self.below.read_by(self.level, latch)
        if answer is not None:
            return self._attend(where, {s for s, label in latch.store if label == answer}, known)
        holds = self._attend(where, {s for s, label in latch.store if label is not None}, known)
        return self.lowering.builder.add(ops.Not(holds))

    def _one_of(self, symbols: set[SymbolNumber]) -> ops.Ref:
        """The bit that heads look for: not one of the others, so that their key is exactly 0 there."""
        others = [symbol for symbol in self.symbols if symbol not in symbols]
        return self.lowering.builder.add(ops.Not(self.below.union(others)))

    def _attend(
        self, where: ops.Ref, symbols: Collection[SymbolNumber], known: Collection[SymbolNumber]
    ) -> ops.Ref:
        """What stands at the last position with `where`, at which the symbol is known to be one of those."""
        value = self.below.union_among([symbol for symbol in self.symbols if symbol in symbols], known)
        return self.lowering.builder.add(
            ops.Attend(ops.Mask.BEFORE, ops.Choice.RIGHTMOST, ops.everywhere(where), value, None)
        )

    def _delayed(self, delays: list[tuple[int, Content]], residue: int) -> Iterator[ops.Ref]:
        """The contents of delays, where i has this residue modulo the window."""
        place = self.lowering.place
        if self.window > 1:
            yield place(Test(Remainder(self.window, residue), 1, 0, 0))
        reach = max((distance for distance, answer in delays if answer is not None), default=0)
        if reach:
            yield place(Test(NonNegative(), 1, 0, -1 - reach))
        for distance, answer in delays:
            if answer is None:
                yield place(Test(NonNegative(), -1, 0, distance))
                continue
            there = Remainder(self.window, (residue - distance) % self.window)
            where = place(Test(there, 1, 0, 0)) if self.window > 1 else place(ONE)
            yield self._attend(where, {answer}, self.symbols)
