"""What one symbol can change in a soft encoder, as data, and its file: bounds, and what follows from them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import assert_never, final

from attemper.certificates.files import read_as, write_as_json
from attemper.languages.words import Word

FORMAT = "attemper-limit/1"

Functional = tuple[int, ...]
"""An integer combination of an encoder's K outputs: one number for each of them."""


@final
@dataclass(frozen=True)
class FrequencyBound:
    """For all n >= `start`, two words of n symbols that one exchange parts differ by at most `constant` / n.

    With a `residue` (m, r) only lengths n = r mod m are meant: those of an encoder whose positions have the
    period m. With a `box` this is said of words whose symbols have frequencies inside it: of each symbol but
    the first and the marker, in order (with a period, at each residue of the positions from 1 on), from a
    least to a greatest part of the n positions. `splits` cuts the boxes of
    frequencies and u = 1/n into the parts on which the derivative is bounded; FORMAT.md has its letters.
    """

    start: int
    constant: Fraction
    residue: tuple[int, int] | None
    box: tuple[tuple[Fraction, Fraction], ...] | None
    splits: str


@final
@dataclass(frozen=True)
class TableBound:
    """Two words of `length` symbols that one exchange parts differ by at most `change`.

    With `last_only` this is said of exchanges at position n - 1 only.
    """

    length: int
    change: Fraction
    last_only: bool


@final
@dataclass(frozen=True)
class PairBound:
    """These two words, which one exchange parts, differ by at most `change`; both without the end marker."""

    first: Word
    second: Word
    change: Fraction

    @property
    def length(self) -> int:
        """n, which counts the end marker."""
        return len(self.first) + 1


ChangeBound = FrequencyBound | TableBound | PairBound


@final
@dataclass(frozen=True)
class NoMargin:
    """From n = `start` on no word's output is at least `margin` or at most -`margin` as PARITY has it.

    At a length that the bound says too little of, words with `counts[n - start]` and one more of the second
    symbol, and the first elsewhere, are a pair that no margin parts.
    """

    margin: Fraction
    start: int
    counts: tuple[int, ...]


@final
@dataclass(frozen=True)
class NoMarginAt:
    """At this n no word's output is at least `margin` or at most -`margin` as PARITY has it."""

    margin: Fraction
    length: int


@final
@dataclass(frozen=True)
class RecogniserFloor:
    """On uniform words of n symbols a recogniser of PARITY has a cross-entropy of `nats` at least."""

    length: int
    nats: Fraction


@final
@dataclass(frozen=True)
class SourceFloor:
    """On prefixes of n - 1 symbols and the marker, where a source goes on so far, `nats` at least.

    `source` is `parity-even` or `parity-odd`, p its probability of ending.
    """

    source: str
    p: Fraction
    length: int
    nats: Fraction


Consequence = NoMargin | NoMarginAt | RecogniserFloor | SourceFloor


@final
@dataclass(frozen=True)
class OneSymbolBound:
    """What one symbol can change in the outputs of an encoder with soft attention, and what follows.

    `digest` is the encoder's (at the bound's length, for one whose positions a function gives), `source`
    MODULE:OBJECT (a remark). The bound is said of each of the `functionals`.
    """

    digest: str
    source: str
    symbols: tuple[str, ...]
    ending: str
    functionals: tuple[Functional, ...]
    bound: ChangeBound
    consequences: tuple[Consequence, ...] = ()


def save(found: OneSymbolBound, path: Path) -> None:
    """Write the file. Raises `MalformedFileError` if that fails."""
    write_as_json(encode(found), path)


def load(path: Path) -> OneSymbolBound:
    """Read the file. Raises `MalformedFileError` with what is wrong."""
    return read_as("bound", path, decode, "make one with 'attemper bound MODEL -o FILE'")


def encode(found: OneSymbolBound) -> dict[str, object]:
    """The bound as JSON data."""
    return {
        "format": FORMAT,
        "model": found.digest,
        "source": found.source,
        "symbols": list(found.symbols),
        "ending": found.ending,
        "functionals": [list(functional) for functional in found.functionals],
        "bound": _encode_bound(found.bound),
        "consequences": [_encode_consequence(each) for each in found.consequences],
    }


def decode(data: object) -> OneSymbolBound:
    """Read a bound from JSON data; raises ValueError for every other shape."""
    match data:
        case {
            "format": str(version),
            "model": str(digest),
            "source": str(source),
            "symbols": list(symbols),
            "ending": str(ending),
            "functionals": list(functionals),
            "bound": dict(bound),
            "consequences": list(consequences),
            **rest,
        } if version == FORMAT and not rest:
            names = tuple(symbols)
            if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
                raise ValueError("its symbols are not texts that differ")
            if ending not in names or len(names) < 3:
                raise ValueError("its symbols lack the end marker, or two others")
            found = tuple(_functional(entry) for entry in functionals)
            if not found or len({len(each) for each in found}) > 1:
                raise ValueError("its functionals are none, or not of one length")
            known = _decode_bound(bound, len(names) - 2)
            said = tuple(_decode_consequence(entry) for entry in consequences)
            return OneSymbolBound(digest, source, names, ending, found, known, said)
        case _:
            raise ValueError(f"it does not have the entries of {FORMAT}")


def _encode_bound(bound: ChangeBound) -> dict[str, object]:
    match bound:
        case FrequencyBound(start, constant, residue, box, splits):
            sides = None if box is None else [[str(least), str(greatest)] for least, greatest in box]
            entries: dict[str, object] = {"form": "frequencies", "n0": start, "constant": str(constant)}
            lengths = None if residue is None else list(residue)
            return entries | {"residue": lengths, "box": sides, "splits": splits}
        case TableBound(length, change, last_only):
            return {"form": "table", "n": length, "change": str(change), "last_only": last_only}
        case PairBound(first, second, change):
            return {"form": "pair", "words": [list(first), list(second)], "change": str(change)}
        case _:
            assert_never(bound)


def _decode_bound(entry: dict[str, object], free: int) -> ChangeBound:
    """The bound of an encoder with so many free frequencies."""
    match entry:
        case {
            "form": "frequencies",
            "n0": int(start),
            "constant": str(constant),
            "residue": None | [int(), int()] as residue,
            "box": list() | None as box,
            "splits": str(splits),
            **rest,
        } if not rest:
            lengths = None if residue is None else _residue(residue)
            sides = None if box is None else tuple(_side(side) for side in box)
            wanted = free * (1 if lengths is None else lengths[0])
            if sides is not None and len(sides) != wanted:
                raise ValueError(f"its box must have {wanted} sides, one for each free frequency")
            return FrequencyBound(_length(start), _fraction(constant), lengths, sides, splits)
        case {
            "form": "table",
            "n": int(length),
            "change": str(change),
            "last_only": bool(last_only),
            **rest,
        } if not rest:
            return TableBound(_length(length), _fraction(change), last_only)
        case {"form": "pair", "words": [list(first), list(second)], "change": str(change), **rest} if (
            not rest
        ):
            if not all(isinstance(symbol, str) for symbol in (*first, *second)):
                raise ValueError("its words are not lists of symbols")
            return PairBound(tuple(first), tuple(second), _fraction(change))
        case _:
            raise ValueError("its bound is neither by frequencies nor by a table of positions, nor of a pair")


def _encode_consequence(found: Consequence) -> dict[str, object]:
    match found:
        case NoMargin(margin, start, counts):
            return {"no_margin": str(margin), "from": start, "counts": list(counts)}
        case NoMarginAt(margin, length):
            return {"no_margin": str(margin), "n": length}
        case RecogniserFloor(length, nats):
            return {"recogniser": "parity", "n": length, "nats": str(nats)}
        case SourceFloor(source, p, length, nats):
            return {"cross_entropy": source, "p": str(p), "n": length, "nats": str(nats)}
        case _:
            assert_never(found)


def _decode_consequence(entry: object) -> Consequence:
    match entry:
        case {"no_margin": str(margin), "from": int(start), "counts": list(counts), **rest} if not rest:
            if not all(type(count) is int and count >= 0 for count in counts):
                raise ValueError("'counts' must be integers from 0 on")
            return NoMargin(_fraction(margin), _length(start), tuple(counts))
        case {"no_margin": str(margin), "n": int(length), **rest} if not rest:
            return NoMarginAt(_fraction(margin), _length(length))
        case {"recogniser": "parity", "n": int(length), "nats": str(nats), **rest} if not rest:
            return RecogniserFloor(_length(length), _fraction(nats))
        case {
            "cross_entropy": "parity-even" | "parity-odd" as source,
            "p": str(p),
            "n": int(length),
            "nats": str(nats),
            **rest,
        } if not rest:
            return SourceFloor(source, _fraction(p), _length(length), _fraction(nats))
        case _:
            raise ValueError(f"no consequence has these entries: {str(entry)[:80]}")


def _functional(entry: object) -> Functional:
    if not isinstance(entry, list) or not all(type(number) is int for number in entry) or not any(entry):
        raise ValueError(f"a functional is a list of integers that are not all 0, not {str(entry)[:80]}")
    if max(map(abs, entry)) > MOST_FACTOR:
        raise ValueError(f"a functional has integers up to {MOST_FACTOR:,} only")
    return tuple(entry)


def _length(number: int) -> int:
    if type(number) is not int or not 1 <= number <= MOST_LENGTH:
        raise ValueError(f"a length is an integer from 1 to {MOST_LENGTH:,}")
    return number


MOST_LENGTH = 2**40
"""Longer words than this are nobody's."""


def _residue(entry: object) -> tuple[int, int]:
    match entry:
        case [int(period), int(rest)] if (
            type(period) is type(rest) is int and 0 <= rest < period <= MOST_PERIOD
        ):
            return period, rest
        case _:
            raise ValueError(
                f"a residue is a pair [m, r], 0 <= r < m <= {MOST_PERIOD}, not {str(entry)[:80]}"
            )


MOST_FACTOR = 2**20
"""Larger combinations of outputs than this are nobody's."""

MOST_PERIOD = 64
"""Boxes have so many axes for each symbol at most."""


def _side(entry: object) -> tuple[Fraction, Fraction]:
    match entry:
        case [str(least), str(greatest)]:
            side = _fraction(least), _fraction(greatest)
            if not 0 <= side[0] < side[1] <= 1:
                raise ValueError("a side of the box goes from a part of 1 to a greater one")
            return side
        case _:
            raise ValueError(f"a side of the box is a pair of fractions, not {str(entry)[:80]}")


_FRACTION = re.compile(r"(0|[1-9][0-9]{0,999})(/[1-9][0-9]{0,999})?")


def _fraction(text: str) -> Fraction:
    """A fraction from 0 on as Python writes it: p or p/q, in lowest terms."""
    if not _FRACTION.fullmatch(text) or str(Fraction(text)) != text:
        raise ValueError(f"'{text[:80]}' is no fraction in lowest terms, such as 3/2")
    return Fraction(text)
