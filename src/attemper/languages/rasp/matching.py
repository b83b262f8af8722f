"""Integers of two positions that are compared with each other: the key at j, the query at i.

A head compares numbers from 1 to n: where an integer is less it takes 1, where it is more, n. So that this
does no harm where the integers themselves are right,

* an integer counts each position once at most, with the factor 1 or -1, on one side: it never exceeds n;
* numbers stand at i: what is added to the key is taken off the query;
* an integer with cases is one sum if they differ in what they say of the position itself only, which is a
  difference of counts: [b] = count[j <= i] b - count[j < i] b;
* positions are counted from 1, from either end: n - j is the number of positions from j on, less 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product

from attemper.attention_program.ops import Connective, Count, Gate, Letter, Mask, Not, Ref, Step
from attemper.languages.rasp.bits import Bits
from attemper.languages.rasp.integers import Branches, IntegerSteps, IntegerTerm, sum_of
from attemper.languages.rasp.strict import WITHOUT_I

MAX_UNKNOWN = 10
"""Of more bits than these nobody knows here whether they exclude each other."""


class NotMatchedError(Exception):
    """The integer cannot be compared between positions; why is its argument."""


def key_of(branches: Branches, integers: IntegerSteps, symbols: Iterable[str]) -> tuple[IntegerTerm, int]:
    """The key, and the number that is taken off both it and the query. Raises `NotMatchedError`."""
    key = key_term(branches, integers, symbols)
    number = key.constant if key.parts else 0
    return IntegerTerm(key.parts, key.constant - number), number


def key_term(branches: Branches, integers: IntegerSteps, symbols: Iterable[str]) -> IntegerTerm:
    """The key. Raises `NotMatchedError`."""
    term = _one_sum(branches, integers, symbols)
    if term is None:
        raise NotMatchedError(
            "distinguishes cases (? :, min, max, abs) that count other positions differently, and what is "
            "compared at j is one sum of counts: distinguish cases at i, or choose between several attentions"
        )
    return _in_range(term, integers, symbols)


def queries_of(
    branches: Branches, taken_off: int, integers: IntegerSteps, symbols: Iterable[str]
) -> tuple[tuple[Ref, Ref], ...]:
    """Pairs (bit at i, step of the query where the bit holds); exactly one bit holds.

    Raises `NotMatchedError`.
    """
    terms = query_terms(branches, taken_off, integers, symbols)
    return tuple((bit, integers.whole(term)) for bit, term in terms)


def query_terms(
    branches: Branches, taken_off: int, integers: IntegerSteps, symbols: Iterable[str]
) -> tuple[tuple[Ref, IntegerTerm], ...]:
    """Pairs (bit at i, the query where the bit holds); exactly one bit holds. Raises `NotMatchedError`.

    Cases are one sum here, too, if no case counts fewer things.
    """
    whole = _one_sum(branches, integers, symbols)
    if whole is not None and all(len(whole.parts) <= len(term.parts) for _, term in branches):
        branches = ((integers.bits.true, whole),)
    number = IntegerTerm((), -taken_off)
    terms = ((bit, _in_range(term, integers, symbols)) for bit, term in branches)
    return tuple((bit, sum_of(((1, term), (1, number)))) for bit, term in terms)


def _one_sum(branches: Branches, integers: IntegerSteps, symbols: Iterable[str]) -> IntegerTerm | None:
    """The integer as one sum of counts; None if its cases count other positions differently.

    Its number is the least of those that the cases add.
    """
    bits = integers.bits
    branches = tuple((case, _one_sided(term, integers)) for case, term in branches)
    least = min((term for _, term in branches), key=lambda term: term.constant)
    elsewhere, here = _apart(least, bits.true)
    strict = next((mask for mask, _ in elsewhere if mask is not Mask.ALL), Mask.BEFORE)
    constants = {(): bits.false, tuple(symbols): bits.true}
    known = constants | {_holds_of(count.bit, bits, symbols): count.bit for _, count in least.parts}
    terms = [(1, least)]
    for case, term in branches:
        own_elsewhere, own_here = _apart(term, bits.true)
        if own_elsewhere != elsewhere:
            return None
        for bit in dict.fromkeys((*own_here, *here)):
            both = bits.all_of((case, bit))
            both = known.setdefault(_holds_of(both, bits, symbols), both)
            if both == bits.false:
                continue
            at_itself = IntegerTerm(((1, Count(strict.weak, both)), (-1, Count(strict, both))), 0)
            terms.append((own_here.get(bit, 0) - here.get(bit, 0), at_itself))
    return sum_of(terms)


def _apart(term: IntegerTerm, true: Ref) -> tuple[dict[tuple[Mask, Ref], int], dict[Ref, int]]:
    """An integer as factors of counts that leave out the position itself, and of bits that it has."""
    elsewhere, here = dict[tuple[Mask, Ref], int](), {true: term.constant}
    for factor, (mask, bit) in ((factor, (count.mask, count.bit)) for factor, count in term.parts):
        outside = WITHOUT_I.get(mask, mask)
        if outside is not mask:
            here[bit] = here.get(bit, 0) + factor
        elsewhere[outside, bit] = elsewhere.get((outside, bit), 0) + factor
    return {what: factor for what, factor in elsewhere.items() if factor}, here


def _in_range(term: IntegerTerm, integers: IntegerSteps, symbols: Iterable[str]) -> IntegerTerm:
    """The same integer, its positions counted on one side; raises `NotMatchedError` where it may exceed n."""
    whole = _one_sided(term, integers)
    if len({count.mask.weak for _, count in whole.parts}) > 1:
        raise NotMatchedError(
            "counts on more than one side of a position: give all its counts one mask, "
            "j <= i (or j < i), j >= i (or j > i), or all"
        )
    for parts in (whole.parts, _seen_here(whole)):
        if not _at_most_once(parts, integers.bits, symbols):
            raise NotMatchedError(_MAY_EXCEED)
    return whole


_MAY_EXCEED = (
    "may exceed n, the length of the word, and numbers up to n are compared between positions: "
    "let each position count once at most, with the factor 1 or -1"
)


def _one_sided(term: IntegerTerm, integers: IntegerSteps) -> IntegerTerm:
    """The same integer, all its positions in one count. Raises `NotMatchedError`."""
    everywhere = integers.bits.true
    others = tuple(part for part in term.parts if part[1].bit != everywhere)
    counted = tuple(part for part in term.parts if part[1].bit == everywhere)
    positions = _counted_once(IntegerTerm(counted, 0), integers)
    return sum_of(((1, IntegerTerm(others, term.constant)), (1, positions)))


def _counted_once(positions: IntegerTerm, integers: IntegerSteps) -> IntegerTerm:
    """A sum of positions as one count of positions; it is a i + b n + c."""
    place = integers.place(positions)
    assert place is not None, "all positions are counted"
    per_position, per_length, constant = place
    match per_position, per_length:
        case (0, 0):
            return IntegerTerm((), constant)
        case (1, 0) | (-1, 0):
            return _positions(per_position, Mask.UP_TO, constant, integers)
        case (0, 1) | (0, -1):
            return _positions(per_length, Mask.ALL, constant, integers)
        case (-1, 1) | (1, -1):
            return _positions(per_length, Mask.FROM, constant - per_length, integers)
        case _:
            raise NotMatchedError(_MAY_EXCEED)


def _positions(factor: int, mask: Mask, constant: int, integers: IntegerSteps) -> IntegerTerm:
    return IntegerTerm(((factor, Count(mask, integers.bits.true)),), constant)


def signs_of(key: IntegerTerm, bits: Bits, symbols: Iterable[str]) -> frozenset[int]:
    """Which of -1, 0 and 1 is the sign of a key somewhere, as far as is seen of what it counts."""
    own = _steps(_seen_here(key), bits, symbols) or {-1, 0, 1}
    each = own | (_steps(key.parts, bits, symbols) or {-1, 0, 1})
    signs = {sign for sign in (-1, 1) if sign in each}
    is_signed = any(own == {sign} and -sign not in each for sign in (-1, 1))
    return frozenset(signs if is_signed else {0, *signs})


def _seen_here(term: IntegerTerm) -> list[tuple[int, Count]]:
    """The counts that also count the position itself."""
    return [part for part in term.parts if part[1].mask not in {Mask.BEFORE, Mask.AFTER}]


def _at_most_once(parts: Iterable[tuple[int, Count]], bits: Bits, symbols: Iterable[str]) -> bool:
    """Whether the factors of the counts that a position is counted in always sum to -1, 0 or 1."""
    steps = _steps(parts, bits, symbols)
    return steps is not None and max(map(abs, steps)) <= 1


def _steps(parts: Iterable[tuple[int, Count]], bits: Bits, symbols: Iterable[str]) -> set[int] | None:
    """What the factors of the counts that a position is counted in can sum to; None: nobody knows.

    Bits of the word's symbol are known; of what attention finds anything is taken to be possible.
    """
    factors = [(factor, count.bit) for factor, count in parts]
    steps = bits.builder.steps
    needed = _needed([bit for _, bit in factors], steps)
    unknown = [ref for ref in needed if not isinstance(steps[ref], Letter | Not | Gate)]
    unknown = [ref for ref in unknown if ref not in {bits.true, bits.false}]
    if len(unknown) > MAX_UNKNOWN:
        return None
    found = set[int]()
    for symbol in symbols:
        for values in product((False, True), repeat=len(unknown)):
            known = {bits.true: True, bits.false: False, **dict(zip(unknown, values, strict=True))}
            all_known = _values(needed, steps, symbol, known)
            found.add(sum(factor for factor, bit in factors if all_known[bit]))
    return found


def _holds_of(bit: Ref, bits: Bits, symbols: Iterable[str]) -> tuple[str, ...] | Ref:
    """The symbols of the word of which a bit holds; the bit itself where that is not all that it says."""
    steps = bits.builder.steps
    needed = [ref for ref in _needed([bit], steps) if ref not in {bits.true, bits.false}]
    if not all(isinstance(steps[ref], Letter | Not | Gate) for ref in needed):
        return bit
    known = {bits.true: True, bits.false: False}
    return tuple(symbol for symbol in symbols if _values(needed, steps, symbol, known)[bit])


def _values(
    needed: Iterable[Ref], steps: list[Step], symbol: str, known: Mapping[Ref, bool]
) -> Mapping[Ref, bool]:
    """The bits at a position with that symbol, where those that are no gates or letters are known."""
    found = dict(known)
    for ref in needed:
        if ref not in found:
            found[ref] = _value(steps[ref], symbol, found)
    return found


def _needed(bits: list[Ref], steps: list[Step]) -> list[Ref]:
    """The gates and letters that the bits are made of, and what these read, in their order."""
    found: set[Ref] = set()
    waiting = list(bits)
    while waiting:
        ref = waiting.pop()
        if ref in found:
            continue
        found.add(ref)
        match steps[ref]:
            case Not(bit):
                waiting.append(bit)
            case Gate(_, inner):
                waiting += inner
            case _:
                pass
    return sorted(found)


def _value(step: Step, symbol: str, known: Mapping[Ref, bool]) -> bool:
    match step:
        case Letter(symbols):
            return symbol in symbols
        case Not(bit):
            return not known[bit]
        case Gate(Connective.AND, inner):
            return all(known[bit] for bit in inner)
        case Gate(Connective.XOR, inner):
            return sum(known[bit] for bit in inner) % 2 == 1
        case Gate(_, inner):
            return any(known[bit] for bit in inner)
        case _:
            raise AssertionError("what attention finds is not known")
