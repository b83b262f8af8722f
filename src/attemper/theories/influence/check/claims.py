"""Checks what is claimed of soft attention: what one symbol can change, and what follows from that.

Nothing of a search is trusted: the bound is computed again from the encoder's weights, in arithmetic that
counts its roundings, and compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import assert_never

import flint
import numpy as np

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.balls import precision, upper_bound
from attemper.models.soft.loading import load_encoder
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.weights import Bounded, Encoder, by_last_symbol, require_plain
from attemper.models.soft.wellformed import complaints
from attemper.theories.influence import certificate
from attemper.theories.influence.check.consequences import following
from attemper.theories.influence.check.every_length import every_length_bound
from attemper.theories.influence.check.frequencies import Region, largest_bound
from attemper.theories.influence.check.said import ARITHMETIC, frequencies, number, shown, unknown
from attemper.theories.influence.check.tables import Exchange, change_bound

MOST_PLACES = 10**6
"""At lengths up to this one positions are asked for."""

BITS = 128
"""The precision of two words' outputs."""


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file of a bound on what one symbol can change in an encoder.

    Code is never imported because a file says so: the encoder must be named by the user. Raises `OptionError`
    where there is none, and what loading an encoder raises.
    """
    try:
        found = certificate.LIMIT.load(path)
    except MalformedFileError as error:
        return malformed(error, Subject(About.ENCODER, model or ""))
    if model is None:
        raise OptionError(f"say with model=MODULE:OBJECT which encoder '{path}' is about", options=("model",))
    return check_limit(found, load_encoder(model), model)


def check_limit(found: certificate.OneSymbolBound, encoder: Encoder, place: str = "") -> Verdict:
    """The verdict on a bound and on all that is said to follow from it; `place` says where the encoder is."""
    subject = Subject(About.ENCODER, place, found.digest)
    try:
        encoder = at_its_length(found, encoder)
        complaint = next(mismatches(found, encoder), None)
        if complaint is not None:
            return Verdict((ClaimVerdict(Status.MALFORMED, complaint),), subject)
        first = _bounded(found, encoder, _known(encoder, found))
    except (MalformedFileError, UnsupportedError) as error:
        return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),), subject)
    if first.status is not Status.PROVED:
        return Verdict((first,), subject)
    more = (following(found, encoder, consequence) for consequence in found.consequences)
    return Verdict((first, *more), subject)


def at_its_length(found: certificate.OneSymbolBound, encoder: Encoder) -> Encoder:
    """The encoder that the bound is about: with its positions as a table, if the bound is for one length.

    Raises `UnsupportedError` where the encoder has no such length.
    """
    if isinstance(found.bound, certificate.FrequencyBound | certificate.EveryLengthBound):
        return encoder
    return encoder.at(found.bound.length)


def mismatches(found: certificate.OneSymbolBound, encoder: Encoder) -> Iterator[str]:
    """Why the bound is not about this encoder, or nothing is said of the encoder at all.

    Raises `UnsupportedError` for an encoder of another kind than bounds are about.
    """
    yield from complaints(encoder)
    require_plain(encoder)
    if found.digest != encoder.digest:
        yield "the bound is about another encoder: its digest differs"
    if (found.symbols, found.ending) != (encoder.symbols, encoder.ending):
        yield "the bound is about an encoder with other symbols"
    if any(len(functional) != len(encoder.outputs) for functional in found.functionals):
        yield f"its functionals are not about {len(encoder.outputs)} outputs"


def _known(encoder: Encoder, found: certificate.OneSymbolBound) -> Fraction | None:
    """The constant, or the change, that the weights prove; None if nothing is proved."""
    match found.bound:
        case certificate.FrequencyBound(start, _, residue, box, splits):
            functionals, region = np.array(found.functionals, dtype=np.int64), Region(start, residue, box)
            proved = max(largest_bound(each, functionals, region, splits) for each in by_last_symbol(encoder))
        case certificate.EveryLengthBound():
            require_box(found, encoder)
            return _greatest(every_length_bound(encoder, found.functionals)[:1])
        case certificate.TableBound(length, _, last_only):
            which = Exchange.LAST_BUT_ONE if last_only else Exchange.ANY
            proved = max(change_bound(encoder, length, each, which).change for each in found.functionals)
        case certificate.PairBound():
            return change_of_pair(encoder, found.bound, found.functionals)
        case _:
            assert_never(found.bound)
    return Fraction(proved) if np.isfinite(proved) else None


def require_box(found: certificate.OneSymbolBound, encoder: Encoder) -> None:
    """Raises `UnsupportedError` if positions leave their box, which is the user's word, where a length is
    named.
    """
    floors = certificate.RecogniserFloor | certificate.SourceFloor
    named = (own.length for own in found.consequences if isinstance(own, floors))
    for length in (2, *(length for length in named if length <= MOST_PLACES)):
        encoder.at(length)


def change_of_pair(
    encoder: Encoder, pair: certificate.PairBound, functionals: Sequence[certificate.Functional]
) -> Fraction | None:
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
        return _greatest([_combined(each, moved) for each in functionals])


def _greatest(values: Sequence[flint.arb]) -> Fraction | None:
    """The greatest size of the numbers, from above; None if there is none that is finite."""
    try:
        return max(upper_bound(abs(value)) for value in values)
    except OverflowError:
        return None


def _combined(functional: certificate.Functional, outputs: Sequence[flint.arb]) -> flint.arb:
    return sum((f * output for f, output in zip(functional, outputs, strict=True)), flint.arb(0))


def _bounded(found: certificate.OneSymbolBound, encoder: Encoder, known: Fraction | None) -> ClaimVerdict:
    """What is said of the first claim, the bound.

    What stands at position n is the same in both words: the marker, or the symbol that is read.
    """
    what, one = shown(encoder, found), "one symbol" if found.ending else "one symbol before the last"
    match found.bound:
        case certificate.FrequencyBound(start, constant, residue, box, _):
            claimed = constant
            words = "any word" if box is None else f"a word with {frequencies(found)}"
            lengths = "" if residue is None else f" with n = {residue[1]} mod {residue[0]}"
            text = (
                f"{one} of {words} of n symbols changes {what} by at most {number(constant)}/n, "
                f"for all n >= {start}{lengths}"
            )
        case certificate.EveryLengthBound(constant):
            claimed = constant
            assert isinstance(encoder.positions, Bounded), "no other positions have such a bound"
            held = f"from {encoder.positions.least} to {encoder.positions.greatest}"
            text = (
                f"{one} of any word of n symbols changes {what} by at most {number(constant)}/n, for all "
                f"n >= 2, with any positions {held}"
            )
        case certificate.TableBound(length, change, last_only):
            claimed = change
            last = "the last symbol but the marker" if found.ending else "the last symbol but one"
            which = last if last_only else one
            text = f"{which} of any word of n = {length} symbols changes {what} by at most {number(change)}"
        case certificate.PairBound(first, _, change):
            claimed = change
            text = f"the two words of {len(first)} symbols change {what} by at most {number(change)}"
        case _:
            assert_never(found.bound)
    if known is None:
        return unknown(f"not shown that {text}: no finite bound is found")
    if known > claimed:
        return unknown(f"not shown that {text}: no more than {number(known)} is found")
    return ClaimVerdict(Status.PROVED, text, arithmetic=ARITHMETIC)
