"""Whether what is said to follow from a bound does: no margin on PARITY, and cross-entropies from below."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import assert_never

import flint
import numpy as np
from numpy.typing import NDArray

from attemper.checker.verdict import ClaimVerdict, Status
from attemper.errors import OptionError
from attemper.exact.balls import ball
from attemper.languages.sources.values import CLOSING, END, Brackets, source_named
from attemper.models.soft.weights import Encoder
from attemper.theories.influence.certificate import (
    Consequence,
    EveryLengthBound,
    FrequencyBound,
    Functional,
    NoMargin,
    NoMarginAt,
    OneSymbolBound,
    PairBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
)
from attemper.theories.influence.check import floors
from attemper.theories.influence.check.frequencies import changes_of_pairs
from attemper.theories.influence.check.said import ARITHMETIC, bits_of, number, unknown

Counts = NDArray[np.int64]

BRACKETS = (*CLOSING, *CLOSING.values())
"""What words of 2DYCK are made of."""

MOST_COUNTS = 1_000_000
"""More lengths than this are not looked at one by one."""


class NotAboutError(Exception):
    """A consequence that cannot follow from such a bound, or is not about such an encoder."""


def following(found: OneSymbolBound, encoder: Encoder, consequence: Consequence) -> ClaimVerdict:
    """Whether this follows from the bound, which is proved."""
    try:
        match consequence:
            case NoMargin():
                return _no_margin(found, encoder, consequence)
            case NoMarginAt():
                return _no_margin_at(found, encoder, consequence)
            case RecogniserFloor(length, nats):
                _require_recogniser(found, encoder)
                if len(found.symbols) != 2 + (found.ending is not None):
                    raise NotAboutError("uniform words are words over two symbols")
                floor = floors.recogniser_floor(_change(found, length, every_word=True))
                text = (
                    f"cross-entropy on PARITY of uniform words of n = {length} symbols: at least "
                    f"{number(nats)} nats"
                )
            case SourceFloor(source, p, length, nats):
                floor = source_floor(found, encoder, consequence)
                read = f"{length} symbols" if found.ending is None else f"{length - 1} symbols and the marker"
                text = (
                    f"cross-entropy on the source {source} with p = {p}, prefixes of {read}: at least "
                    f"{number(nats)} nats"
                )
            case _:
                assert_never(consequence)
    except (NotAboutError, OptionError) as error:
        return ClaimVerdict(Status.MALFORMED, str(error))
    if not floor >= ball(nats):
        return unknown(f"not shown: {text}; the bound proves {floor.str(6, radius=False)}")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


def _no_margin(found: OneSymbolBound, encoder: Encoder, claim: NoMargin) -> ClaimVerdict:
    """From a length on the bound leaves no room for the margin; at each length before, a pair of words."""
    _require_recogniser(found, encoder)
    match found.bound:
        case FrequencyBound(start, constant, None, box, _):
            pass
        case EveryLengthBound(constant):
            start, box = 2, None
        case _:
            raise NotAboutError(
                "that no margin is possible from a length on follows from a bound for all lengths"
            )
    if claim.start < 2:
        raise NotAboutError("a word of n = 1 is its marker, and has no symbol to exchange")
    enough = floors.margin_impossible_from(constant, claim.margin, start)
    # A range of more than 2^63 numbers has no length in Python.
    lengths, wanted = range(claim.start, enough), max(0, enough - claim.start)
    if len(claim.counts) != wanted:
        raise NotAboutError(f"'counts' must have a number for each length from {claim.start} below {enough}")
    if wanted > MOST_COUNTS:
        return unknown(f"it has more than {MOST_COUNTS:,} lengths with a pair of words each")
    if wanted and (found.ending is None or isinstance(found.bound, EveryLengthBound)):
        raise NotAboutError("'counts' are of encoders with an end marker whose words are their frequencies")
    if box is not None and not _has_pairs(box, max(claim.start, enough)):
        raise NotAboutError("the box is so narrow that not every length has a pair of words inside it")
    text = (
        f"PARITY of {bits_of(found)[1]}, even or odd, is not decided with a margin of {number(claim.margin)} "
        f"at any length n >= {claim.start}"
    )
    if any(count > length - 2 for length, count in zip(lengths, claim.counts, strict=True)):
        raise NotAboutError("'counts' must leave room for one more of the second symbol and the marker")
    changes = changes_of_counts(found, encoder, lengths, claim.counts)
    for length, change in zip(lengths, changes, strict=True):
        if not leaves_no_room(change, claim.margin):
            return unknown(f"not shown: {text}: the pair of words at n = {length} may have it")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


def leaves_no_room(change: float, margin: Fraction) -> bool:
    """Whether outputs that differ by at most this change, or by something unknown, have no such margin."""
    return bool(np.isfinite(change)) and Fraction(float(change)) < 2 * margin


def changes_of_counts(
    found: OneSymbolBound, encoder: Encoder, lengths: range, counts: Sequence[int]
) -> NDArray[np.float64]:
    """For each length a bound on what one more of the second symbol changes, beside so many and the first."""
    if not lengths:
        return np.zeros(0)
    histograms = _histograms(found, np.arange(lengths.start, lengths.stop), np.array(counts))
    return changes_of_pairs(encoder, np.array(found.functionals[0], dtype=np.float64), *histograms)


def _no_margin_at(found: OneSymbolBound, encoder: Encoder, claim: NoMarginAt) -> ClaimVerdict:
    """At one length the bound leaves no room for the margin between two words that one exchange parts."""
    _require_recogniser(found, encoder)
    length, bound = claim.length, found.bound
    if isinstance(bound, PairBound):
        if length != bound.length or not _is_exchange(found, bound):
            raise NotAboutError(f"the words are not of n = {length}, or not parted by one exchange")
        change = bound.change
    else:
        if isinstance(bound, FrequencyBound) and bound.box is not None and not _has_pairs(bound.box, length):
            raise NotAboutError(f"the box is so narrow that n = {length} may have no pair of words inside it")
        change = _change(found, length, every_word=False)
    text = (
        f"PARITY of {bits_of(found)[1]}, even or odd, is not decided with a margin of {number(claim.margin)} "
        f"at n = {length}"
    )
    if not change < 2 * claim.margin:
        return unknown(f"not shown: {text}")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


def _is_exchange(found: OneSymbolBound, pair: PairBound) -> bool:
    """Whether the words differ at one place, in the two symbols that PARITY is about."""
    if len(pair.first) != len(pair.second):
        return False
    differing = [{a, b} for a, b in zip(pair.first, pair.second, strict=True) if a != b]
    return differing == [set(bits_of(found))]


def _histograms(found: OneSymbolBound, lengths: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """For each length the histograms of two words that one exchange parts, of shape (B, S) each."""
    first, second = (found.symbols.index(symbol) for symbol in bits_of(found))
    histograms = np.zeros((len(lengths), len(found.symbols)), dtype=np.int64)
    histograms[:, found.symbols.index(found.ending)] = 1
    histograms[:, first], histograms[:, second] = lengths - 1 - counts, counts
    others = histograms.copy()
    others[:, first] -= 1
    others[:, second] += 1
    return histograms, others


def _has_pairs(box: tuple[tuple[Fraction, Fraction], ...], length: int) -> bool:
    """Whether at every length from this one on some k has k and k + 1 of the second symbol inside the box.

    k = ceil(low n) has k + 1 < low n + 2; that is at most high n - 1, so that n - 1 positions have room.
    """
    ((low, high),) = box if len(box) == 1 else ((Fraction(0), Fraction(0)),)
    return (high - low) * length >= 3


def source_floor(found: OneSymbolBound, encoder: Encoder, claim: SourceFloor) -> flint.arb:
    """The cross-entropy on a source that no encoder with such a bound goes below."""
    source = source_named(claim.source, claim.p)
    readout = floors.Readout.LAST if found.ending is None else floors.Readout.QUERY
    if isinstance(source, Brackets):
        return _bracket_floor(found, encoder, source, claim.length, readout)
    if bits_of(found) != ("0", "1"):
        raise NotAboutError("PARITY's sources are over 0 and 1, in this order")
    _require_next_symbols(found, encoder)
    change = _change(found, claim.length, every_word=False)
    bound = found.bound
    if isinstance(bound, FrequencyBound) and bound.box is not None:
        if len(bound.box) > 1:
            raise NotAboutError("how often words leave a box is known for a box of one side, that of 1")
        ((low, high),) = bound.box
        delta = floors.atypical(source, claim.length, low, high, readout)
        return floors.typical_floor(source, change, delta, readout)
    return floors.cross_entropy_floor(source, claim.length, change, readout)


def _bracket_floor(
    found: OneSymbolBound, encoder: Encoder, source: Brackets, length: int, readout: floors.Readout
) -> flint.arb:
    """The cross-entropy on 2DYCK: retyping the bracket that is closed next is one exchange.

    It changes z_) - z_] by at most the bound, if that is about this difference, and by twice as much at most
    if the bound is about END's against both.
    """
    if sorted(encoder.outputs) != sorted((*BRACKETS, END)) or set(found.symbols) - {found.ending} != set(
        BRACKETS
    ):
        raise NotAboutError(f"dyck2 is for encoders over ( ) [ ] whose outputs are named ( ) [ ] and {END}")
    if isinstance(found.bound, TableBound) and found.bound.last_only:
        raise NotAboutError("the bracket that is closed next stands anywhere, and the bound is about n - 1")
    eps = _change(found, length, every_word=True)
    if _difference(encoder, ")", "]") not in found.functionals:
        _require_against_end(found, encoder, ")", "]")
        eps *= 2
    return floors.cross_entropy_floor(source, length, eps, readout)


def _change(found: OneSymbolBound, length: int, *, every_word: bool) -> Fraction:
    """What one symbol changes at most in words of that length: all words, or all that the bound is about."""
    if length < 2:
        raise NotAboutError("a word of n = 1 is its marker, and has no symbol to exchange")
    match found.bound:
        case FrequencyBound(start, constant, residue, box, _):
            if length < start or (residue is not None and length % residue[0] != residue[1]):
                raise NotAboutError(f"the bound says nothing of n = {length}")
            if every_word and box is not None:
                raise NotAboutError("the bound is not about all words")
            return constant / length
        case EveryLengthBound(constant):
            return constant / length
        case TableBound(only, change, _):
            if length != only:
                raise NotAboutError(f"the bound says nothing of n = {length}")
            return change
        case PairBound():
            raise NotAboutError("a cross-entropy does not follow from a bound for two words")
        case _:
            assert_never(found.bound)


def _require_recogniser(found: OneSymbolBound, encoder: Encoder) -> None:
    """The one output is the log-odds of acceptance, and the bound is about it."""
    if len(encoder.outputs) != 1 or not {(1,), (-1,)} & set(found.functionals):
        raise NotAboutError("this is about recognisers: encoders with one output, which the bound is about")
    if len(found.functionals) > 1:
        raise NotAboutError("the bound of a recogniser is about its output alone")


def _require_next_symbols(found: OneSymbolBound, encoder: Encoder) -> None:
    """The outputs are the logits of 0, 1 and END, and the bound is about END's against each of the others.

    The log-odds of END, -ln(e^(z_0 - z_END) + e^(z_1 - z_END)), then change by no more than the bound: they
    are a soft minimum of the differences, which moves by at most the most that one of them moves.
    """
    if sorted(encoder.outputs) != ["0", "1", END]:
        raise NotAboutError(f"this is about encoders whose outputs are named 0, 1 and {END}")
    _require_against_end(found, encoder, "0", "1")


def _require_against_end(found: OneSymbolBound, encoder: Encoder, *others: str) -> None:
    """The bound is about END's logit against each of the others."""
    for wanted in (_difference(encoder, END, other) for other in others):
        if wanted not in found.functionals:
            raise NotAboutError(f"the bound lacks the functional {list(wanted)}")


def _difference(encoder: Encoder, one: str, other: str) -> Functional:
    """One output less another."""
    return tuple((name == one) - (name == other) for name in encoder.outputs)
