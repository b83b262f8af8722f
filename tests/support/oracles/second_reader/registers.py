"""What the attention of a program keeps of the past (the table of FORMAT.md section 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil, floor, lcm
from typing import Any

from tests.support.oracles.second_reader.forms import holds, value_of
from tests.support.oracles.second_reader.places import Places
from tests.support.oracles.second_reader.program_shape import COUNTS

ASKING = ("compare", "equals", "count test")
"""The steps that ask a count."""

Step = list[Any]
Bit = int | None
"""None is unknown."""
Registers = tuple[Any, ...]
Values = Mapping[int, Bit]


def whatever(function: Callable[..., Any], arguments: Sequence[Bit]) -> Any:
    """The function's value if it is the same whatever the unknown arguments are; else None."""
    choices = [(0, 1) if argument is None else (argument,) for argument in arguments]
    results = {function(*choice) for choice in product(*choices)}
    return results.pop() if len(results) == 1 else None


@dataclass(frozen=True)
class Sum:
    """A count that is tested: constant + sum of factor * bit, by whether the last position is counted."""

    constant: int
    factors: tuple[tuple[int, bool, int], ...]
    """Bit, whether j = i counts when it is read at i, factor."""
    modulus: int
    thresholds: tuple[int, ...]
    bound: int
    """Further from 0 than this, a sum of both signs is unknown."""

    def initial(self) -> tuple[int, Bit]:
        return self.constant % self.modulus, self._capped(self.constant)

    def kept(self, register: tuple[Bit, Bit], values: Values) -> tuple[Bit, Bit]:
        return self._added(register, [(k, factor) for k, _, factor in self.factors], values)

    def read(
        self, register: tuple[Bit, Bit], values: Values, ask: Callable[[int], int], *, sized: bool
    ) -> Bit:
        """The answer to a question about the count at i."""
        part = register[1] if sized else register[0]
        if part is None:
            return None
        here = [(k, factor) for k, weak, factor in self.factors if weak]

        def answer(*bits: int) -> int:
            return ask(part + sum(factor * bit for (_, factor), bit in zip(here, bits, strict=True)))

        bit: Bit = whatever(answer, [values[k] for k, _ in here])
        return bit

    def _added(
        self, register: tuple[Bit, Bit], parts: list[tuple[int, int]], values: Values
    ) -> tuple[Bit, Bit]:
        def plus(start: int) -> Callable[..., int]:
            return lambda *bits: (
                start + sum(factor * bit for (_, factor), bit in zip(parts, bits, strict=True))
            )

        bits = [values[k] for k, _ in parts]
        remainder, size = register
        if remainder is not None:
            start = plus(remainder)
            remainder = whatever(lambda *bits: start(*bits) % self.modulus, bits)
        if size is not None:
            begin = plus(size)
            size = whatever(lambda *bits: self._capped(begin(*bits)), bits)
        return remainder, size

    def _capped(self, size: int) -> Bit:
        if not self.thresholds:
            return 0
        signs = {factor > 0 for _, _, factor in self.factors if factor}
        if False not in signs:
            return min(size, max(self.thresholds))
        if True not in signs:
            return max(size, min(self.thresholds) - 1)
        return size if abs(size) <= self.bound else None


class Machine:
    """Some steps of a program, with their registers; other steps are given."""

    def __init__(
        self,
        steps: Sequence[Step],
        followed: Sequence[int],
        given: frozenset[int],
        places: Places,
        states: int,
    ) -> None:
        self.steps, self.followed, self.given, self.places = steps, followed, given, places
        self.sums = self._tested(states)
        self.kept_bits = [k for k in followed if k not in given and steps[k][0] in ("attend", "shift")]

    def initial(self) -> Registers:
        bits = tuple((0, 0) for _ in self.kept_bits)
        return bits, tuple(sum_.initial() for sum_ in self.sums.values())

    def values(
        self, letter: str, place: int, registers: Registers, codes: Mapping[int, Bit]
    ) -> dict[int, Bit]:
        """The bits of all followed steps at a position."""
        bits = dict(zip(self.kept_bits, registers[0], strict=True))
        counts = dict(zip(self.sums, registers[1], strict=True))
        values: dict[int, Bit] = {}
        for k in self.followed:
            if k in self.given:
                values[k] = codes[k]
            elif self.steps[k][0] in ASKING:
                values[k] = self._asked(self.steps[k], counts, values)
            elif self.steps[k][0] not in COUNTS:
                values[k] = self._bit(self.steps[k], letter, place, bits.get(k, (0, 0)), values)
        return values

    def kept(self, values: Values, place: int, registers: Registers) -> Registers:
        """The registers after a position."""
        bits = []
        for k, register in zip(self.kept_bits, registers[0], strict=True):
            step = self.steps[k]
            if step[0] == "shift":
                bits.append((0, values[step[2]]))
            else:
                held = whatever(lambda w, held: w | held, [values[_sought(step)], register[0]])
                bits.append((held, _attended(step, place, register, values)))
        sums = zip(self.sums.values(), registers[1], strict=True)
        return tuple(bits), tuple(sum_.kept(register, values) for sum_, register in sums)

    def promises_kept(self, values: Values, groups: Sequence[Sequence[int]]) -> bool:
        """Whether at most one bit of each group, union and merge is 1 or unknown."""
        gates = [
            self.steps[k][-1]
            for k in self.followed
            if k not in self.given and self.steps[k][:-1] in (["gate", "union"], ["merge"])
        ]
        return all(sum(values[k] != 0 for k in bits) <= 1 for bits in [*groups, *gates])

    def _bit(self, step: Step, letter: str, place: int, register: tuple[Bit, Bit], values: Values) -> Bit:
        bit: Bit
        match step:
            case ["letter", symbols]:
                return int(letter in symbols)
            case ["place", form]:
                return int(value_of(form, place, place))
            case ["attend", "<=", *_]:
                return _attended(step, place, register, values)
            case ["attend", *_]:
                return 0 if place == 1 else register[1]
            case ["shift", "previous", k, 1, None]:
                return values[k] if place == 1 else register[1]
            case ["not", k]:
                bit = whatever(lambda b: 1 - b, [values[k]])
            case ["gate", "and", ks]:
                bit = whatever(lambda *bits: int(all(bits)), [values[k] for k in ks])
            case ["gate", "or", ks]:
                bit = whatever(lambda *bits: int(any(bits)), [values[k] for k in ks])
            case ["gate", "xor", ks]:
                bit = whatever(lambda *bits: sum(bits) % 2, [values[k] for k in ks])
            case ["gate", "union", ks] | ["merge", ks]:
                bit = whatever(lambda *bits: sum(bits), [values[k] for k in ks])
            case ["table", ks, rows]:
                bit = whatever(lambda *bits: int(list(bits) in rows), [values[k] for k in ks])
            case _:
                raise AssertionError(step)
        return bit

    def _asked(self, step: Step, counts: Mapping[int, tuple[Bit, Bit]], values: Values) -> Bit:
        sum_, register = self.sums[_asked_of(step)], counts[_asked_of(step)]
        match step:
            case ["compare", _, t]:
                return sum_.read(register, values, lambda c: int(c >= t), sized=True)
            case ["equals", _, t]:
                return sum_.read(register, values, lambda c: int(c == t), sized=True)
            case ["count test", predicate, _, a, b]:
                sized = predicate in (["zero"], ["non negative"])
                return sum_.read(
                    register, values, lambda c: int(holds(predicate, Fraction(a * c + b))), sized=sized
                )
            case _:
                raise AssertionError(step)

    def _tested(self, states: int) -> dict[int, Sum]:
        """The counts that are tested, each with what is asked of it."""
        tests: dict[int, list[Step]] = {}
        for k in self.followed:
            if k not in self.given and self.steps[k][0] in ASKING:
                tests.setdefault(_asked_of(self.steps[k]), []).append(self.steps[k])
        return {count: self._sum(count, asked, states) for count, asked in tests.items()}

    def _sum(self, count: int, asked: list[Step], states: int) -> Sum:
        constant, factors = self._parts(count)
        moduli = [step[1][1] for step in asked if step[0] == "count test" and step[1][0] == "remainder"]
        thresholds = tuple(t for step in asked for t in _thresholds(step))
        change = max(sum(abs(f) for f in factors.values() if (f > 0) == up) for up in (False, True))
        bound = states * change + max(map(abs, [*thresholds, constant]))
        return Sum(
            constant,
            tuple((k, weak, f) for (k, weak), f in factors.items() if f),
            lcm(*moduli),
            thresholds,
            bound,
        )

    def _parts(self, count: int) -> tuple[int, Counter[tuple[int, bool]]]:
        match self.steps[count]:
            case ["count", mask, k]:
                return 0, Counter({(k, mask == "<="): 1})
            case ["linear", parts, constant]:
                factors: Counter[tuple[int, bool]] = Counter()
                for factor, k in parts:
                    more, inner = self._parts(k)
                    constant += factor * more
                    for key, value in inner.items():
                        factors[key] += factor * value
                return constant, factors
            case step:
                raise AssertionError(step)


def _attended(step: Step, place: int, register: tuple[Bit, Bit], values: Values) -> Bit:
    """What the weak `attend` gives at i."""
    rightmost = step[2] == "rightmost"

    def weak(w: int, v: int, held: int, before: int) -> int:
        if place == 1 or (w and rightmost):
            return v
        if held:
            return before
        if w:
            return v
        return v if rightmost else before

    bit: Bit = whatever(weak, [values[_sought(step)], values[step[4]], *register])
    return bit


def _sought(step: Step) -> int:
    """The bit that an `attend` of one case looks for."""
    ((here, sought),) = step[3]
    assert here is None
    return int(sought)


def _asked_of(step: Step) -> int:
    count: int = step[2] if step[0] == "count test" else step[1]
    return count


def _thresholds(step: Step) -> list[int]:
    """The least counts at which an answer changes."""
    match step:
        case ["compare", _, t]:
            return [t]
        case ["equals", _, t]:
            return [t, t + 1]
        case ["count test", ["zero" | "non negative" as predicate], _, a, b]:
            if a == 0:
                return [0]
            edge = Fraction(-b, a)
            if predicate == "zero":
                return [ceil(edge), floor(edge) + 1]
            return [ceil(edge) if a > 0 else floor(edge) + 1]
        case _:
            return []
