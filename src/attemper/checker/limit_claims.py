"""Checks what is claimed of soft attention: what one symbol can change, and what follows from that.

Nothing of a search is trusted: the bound is computed again from the encoder's weights, in arithmetic that
counts its roundings, and compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import assert_never

import flint
import numpy as np
from numpy.typing import NDArray

from attemper.certificates.limits import (
    Consequence,
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
from attemper.checker.floors import (
    Readout,
    atypical,
    cross_entropy_floor,
    margin_impossible_from,
    recogniser_floor,
    typical_floor,
)
from attemper.checker.frequencies import Region, changes_of_pairs, largest_bound
from attemper.checker.tables import Exchange, change_bound
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict
from attemper.encoders.meaning import outputs_in_balls
from attemper.encoders.weights import Encoder
from attemper.encoders.wellformed import complaints
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.balls import ball, precision, upper_bound
from attemper.languages.sources.values import Parity, source_named

Counts = NDArray[np.int64]

ARITHMETIC = "the real-number function of the float64 weights, with softmax"

END = "END"
"""The name of the output that says that a word ends."""

BITS = 128
"""The precision of two words' outputs."""

MOST_COUNTS = 1_000_000
"""More lengths than this are not looked at one by one."""


def check_limit(found: OneSymbolBound, encoder: Encoder, place: str = "") -> Verdict:
    """The verdict on a bound and on all that is said to follow from it; `place` says where the encoder is."""
    subject = Subject(About.ENCODER, place, found.digest)
    complaint = next(mismatches(found, encoder), None)
    if complaint is not None:
        return Verdict((ClaimVerdict(Status.MALFORMED, complaint),), subject)
    try:
        first = _bounded(found, _known(encoder, found))
    except (MalformedFileError, UnsupportedError) as error:
        return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),), subject)
    if first.status is not Status.PROVED:
        return Verdict((first,), subject)
    more = (_following(found, encoder, consequence) for consequence in found.consequences)
    return Verdict((first, *more), subject)


def at_its_length(found: OneSymbolBound, encoder: Encoder) -> Encoder:
    """The encoder that the bound is about: with its positions as a table, if the bound is for one length.

    Raises `UnsupportedError` where the encoder has no such length.
    """
    return encoder if isinstance(found.bound, FrequencyBound) else encoder.at(found.bound.length)


def mismatches(found: OneSymbolBound, encoder: Encoder) -> Iterator[str]:
    """Why the bound is not about this encoder, or nothing is said of the encoder at all."""
    yield from complaints(encoder)
    try:
        digest = encoder.digest
    except UnsupportedError as error:
        yield str(error)
        return
    if found.digest != digest:
        yield "the bound is about another encoder: its digest differs"
    if (found.symbols, found.ending) != (encoder.symbols, encoder.ending):
        yield "the bound is about an encoder with other symbols"
    if any(len(functional) != len(encoder.outputs) for functional in found.functionals):
        yield f"its functionals are not about {len(encoder.outputs)} outputs"


def _known(encoder: Encoder, found: OneSymbolBound) -> Fraction | None:
    """The constant, or the change, that the weights prove; None if nothing is proved."""
    match found.bound:
        case FrequencyBound(start, _, residue, box, splits):
            proved = largest_bound(
                encoder, np.array(found.functionals, dtype=np.int64), Region(start, residue, box), splits
            )
        case TableBound(length, _, last_only):
            which = Exchange.LAST_BUT_ONE if last_only else Exchange.ANY
            proved = max(change_bound(encoder, length, each, which).change for each in found.functionals)
        case PairBound():
            return change_of_pair(encoder, found.bound, found.functionals)
        case _:
            assert_never(found.bound)
    return Fraction(proved) if np.isfinite(proved) else None


def _bounded(found: OneSymbolBound, known: Fraction | None) -> ClaimVerdict:
    match found.bound:
        case FrequencyBound(start, constant, residue, box, _):
            claimed = constant
            words = "any word" if box is None else f"a word with {_frequencies(found)}"
            lengths = "" if residue is None else f" with n = {residue[1]} mod {residue[0]}"
            text = (
                f"one symbol of {words} of n symbols changes the output by at most {_number(constant)}/n, "
                f"for all n >= {start}{lengths}"
            )
        case TableBound(length, change, last_only):
            claimed = change
            which = "the last symbol but the marker" if last_only else "one symbol"
            text = (
                f"{which} of any word of n = {length} symbols changes the output by at most {_number(change)}"
            )
        case PairBound(first, _, change):
            claimed = change
            text = (
                f"the two words of {len(first)} symbols have outputs that differ by at most {_number(change)}"
            )
        case _:
            assert_never(found.bound)
    if known is None:
        return _unknown(f"not shown that {text}: no finite bound is found")
    if known > claimed:
        return _unknown(f"not shown that {text}: no more than {_number(known)} is found")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


def _following(found: OneSymbolBound, encoder: Encoder, consequence: Consequence) -> ClaimVerdict:
    """Whether this follows from the bound, which is proved."""
    try:
        match consequence:
            case NoMargin():
                return _no_margin(found, encoder, consequence)
            case NoMarginAt():
                return _no_margin_at(found, encoder, consequence)
            case RecogniserFloor(length, nats):
                _require_recogniser(found, encoder)
                if len(found.symbols) != 3:
                    raise NotAboutError("uniform words are words over two symbols")
                floor = recogniser_floor(_change(found, length, every_word=True))
                text = (
                    f"cross-entropy on PARITY of uniform words of n = {length} symbols: at least "
                    f"{_number(nats)} nats"
                )
            case SourceFloor(source, p, length, nats):
                floor = source_floor(found, encoder, consequence)
                text = (
                    f"cross-entropy on the source {source} with p = {p}, prefixes of {length - 1} symbols "
                    f"and the marker: at least {_number(nats)} nats"
                )
            case _:
                assert_never(consequence)
    except (NotAboutError, OptionError) as error:
        return ClaimVerdict(Status.MALFORMED, str(error))
    if not floor >= ball(nats):
        return _unknown(f"not shown: {text}; the bound proves {floor.str(6, radius=False)}")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


class NotAboutError(Exception):
    """A consequence that cannot follow from such a bound, or is not about such an encoder."""


def _no_margin(found: OneSymbolBound, encoder: Encoder, claim: NoMargin) -> ClaimVerdict:
    """From a length on the bound leaves no room for the margin; at each length before, a pair of words."""
    _require_recogniser(found, encoder)
    bound = found.bound
    if not isinstance(bound, FrequencyBound) or bound.residue is not None:
        raise NotAboutError(
            "that no margin is possible from a length on follows from a bound for all lengths"
        )
    if claim.start < 2:
        raise NotAboutError("a word of n = 1 is its marker, and has no symbol to exchange")
    enough = margin_impossible_from(bound.constant, claim.margin, bound.start)
    # A range of more than 2^63 numbers has no length in Python.
    lengths, wanted = range(claim.start, enough), max(0, enough - claim.start)
    if len(claim.counts) != wanted:
        raise NotAboutError(f"'counts' must have a number for each length from {claim.start} below {enough}")
    if wanted > MOST_COUNTS:
        return _unknown(f"it has more than {MOST_COUNTS:,} lengths with a pair of words each")
    if bound.box is not None and not _has_pairs(bound.box, max(claim.start, enough)):
        raise NotAboutError("the box is so narrow that not every length has a pair of words inside it")
    text = (
        f"PARITY of {_bits(found)[1]} is not decided with a margin of {_number(claim.margin)} at any length "
        f"n >= {claim.start}"
    )
    if any(count > length - 2 for length, count in zip(lengths, claim.counts, strict=True)):
        raise NotAboutError("'counts' must leave room for one more of the second symbol and the marker")
    changes = changes_of_counts(found, encoder, lengths, claim.counts)
    for length, change in zip(lengths, changes, strict=True):
        if not leaves_no_room(change, claim.margin):
            return _unknown(f"not shown: {text}: the pair of words at n = {length} may have it")
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
    symbol = _bits(found)[1]
    text = f"PARITY of {symbol} is not decided with a margin of {_number(claim.margin)} at n = {length}"
    if not change < 2 * claim.margin:
        return _unknown(f"not shown: {text}")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)


def change_of_pair(encoder: Encoder, pair: PairBound, functionals: Sequence[Functional]) -> Fraction | None:
    """The greatest change of a functional between the words, from above; by the definition, in balls.

    None if no finite bound is found. Raises `UnsupportedError` for words that the encoder does not read.
    """
    numbers = {symbol: k for k, symbol in enumerate(encoder.symbols) if symbol != encoder.ending}
    if len(pair.first) != len(pair.second):
        raise UnsupportedError("the words of a pair have different lengths")
    if any(symbol not in numbers for word in (pair.first, pair.second) for symbol in word):
        raise UnsupportedError("a word has a symbol that the encoder does not have, or the end marker")
    marker = encoder.symbols.index(str(encoder.ending))
    first, second = (
        outputs_in_balls(encoder, [*(numbers[symbol] for symbol in word), marker], BITS)
        for word in (pair.first, pair.second)
    )
    with precision(BITS):
        moved = [b - a for a, b in zip(first, second, strict=True)]
        try:
            return max(upper_bound(abs(_combined(each, moved))) for each in functionals)
        except OverflowError:
            return None


def _combined(functional: Functional, outputs: Sequence[flint.arb]) -> flint.arb:
    return sum((f * output for f, output in zip(functional, outputs, strict=True)), flint.arb(0))


def _is_exchange(found: OneSymbolBound, pair: PairBound) -> bool:
    """Whether the words differ at one place, in the two symbols that PARITY is about."""
    if len(pair.first) != len(pair.second):
        return False
    differing = [{a, b} for a, b in zip(pair.first, pair.second, strict=True) if a != b]
    return differing == [set(_bits(found))]


def _histograms(found: OneSymbolBound, lengths: Counts, counts: Counts) -> tuple[Counts, Counts]:
    """For each length the histograms of two words that one exchange parts, of shape (B, S) each."""
    first, second = (found.symbols.index(symbol) for symbol in _bits(found))
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
    if not isinstance(source, Parity) or _bits(found) != ("0", "1"):
        raise NotAboutError("the sources are over 0 and 1, in this order")
    _require_next_symbols(found, encoder)
    change = _change(found, claim.length, every_word=False)
    bound = found.bound
    if isinstance(bound, FrequencyBound) and bound.box is not None:
        if len(bound.box) > 1:
            raise NotAboutError("how often words leave a box is known for a box of one side, that of 1")
        ((low, high),) = bound.box
        delta = atypical(source, claim.length, low, high, Readout.QUERY)
        return typical_floor(source, change, delta, Readout.QUERY)
    return cross_entropy_floor(source, claim.length, change, Readout.QUERY)


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
    ending = encoder.outputs.index(END)
    for other in range(3):
        wanted = tuple((k == ending) - (k == other) for k in range(3))
        if other != ending and wanted not in found.functionals:
            raise NotAboutError(f"the bound lacks the functional {list(wanted)}")


def _bits(found: OneSymbolBound) -> tuple[str, str]:
    """The first two symbols beside the marker."""
    first, second, *_ = (symbol for symbol in found.symbols if symbol != found.ending)
    return first, second


def _unknown(text: str) -> ClaimVerdict:
    return ClaimVerdict(Status.UNKNOWN, text)


def _frequencies(found: OneSymbolBound) -> str:
    """The box of a bound, in words."""
    assert isinstance(found.bound, FrequencyBound)
    assert found.bound.box is not None
    symbols = [symbol for symbol in found.symbols if symbol != found.ending][1:]
    period = 1 if found.bound.residue is None else found.bound.residue[0]
    residues = [
        f" at positions i = {i % period} mod {period}" if period > 1 else "" for i in range(1, period + 1)
    ]
    places = (f"{symbol}{residue}" for residue in residues for symbol in symbols)
    sides = zip(places, found.bound.box, strict=True)
    return " and ".join(f"from {_number(low)} n to {_number(high)} n times {s}" for s, (low, high) in sides)


def _number(value: Fraction) -> str:
    """The number as people write it: a decimal where that is exact and short, else a fraction."""
    digits = next((k for k in range(13) if 10**k % value.denominator == 0), None)
    if not digits:
        return str(value)
    whole, part = divmod(abs(value.numerator) * (10**digits // value.denominator), 10**digits)
    return f"{'-' if value < 0 else ''}{whole}.{part:0{digits}}"
