"""A bound on what one symbol can change in an encoder: searched, with what follows, and checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import takewhile
from math import ceil, floor, isfinite, log10
from pathlib import Path
from time import monotonic
from typing import NoReturn, assert_never, final

import flint
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from attemper.checker.report import record_of
from attemper.checker.verdict import Status, Verdict
from attemper.errors import ExitCode, InternalError, OptionError, UnsupportedError
from attemper.exact.balls import upper_bound
from attemper.exact.codec import LONGEST
from attemper.html_tables import Tabled
from attemper.languages.sources import brackets
from attemper.languages.sources.values import END, Brackets, Parity, Source, name_of, source_named
from attemper.models.arrays import Floats
from attemper.models.soft.loading import load_encoder
from attemper.models.soft.soft import outputs_of, outputs_of_histograms
from attemper.models.soft.weights import (
    Bounded,
    Encoder,
    Mask,
    NoPositions,
    Periodic,
    by_last_symbol,
    require_plain,
)
from attemper.models.soft.wellformed import complaints
from attemper.theories.influence.certificate import (
    LIMIT,
    ChangeBound,
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
from attemper.theories.influence.check.claims import BITS, change_of_pair, check_limit, require_box
from attemper.theories.influence.check.consequences import (
    BRACKETS,
    MOST_COUNTS,
    changes_of_counts,
    leaves_no_room,
    source_floor,
)
from attemper.theories.influence.check.every_length import every_length_bound
from attemper.theories.influence.check.floors import margin_impossible_from, recogniser_floor
from attemper.theories.influence.check.frequencies import Region, axes_of, bounds_on_boxes
from attemper.theories.influence.check.said import bits_of
from attemper.theories.influence.check.tables import Exchange, change_bound
from attemper.theories.influence.search.beside import Beside, beside, hahns_constant
from attemper.theories.influence.search.frequencies import search
from attemper.theories.influence.search.greatest import greatest_found
from attemper.theories.influence.search.margins import close_pairs
from attemper.workbench.cli.console import text_of
from attemper.workbench.report.tables import table

FrequencyBox = tuple[tuple[Fraction, Fraction], ...] | None

DIGITS = 6
"""How many digits a number keeps, rounded to its safe side, so that it is said as it is proved."""

LONG = 20_000
"""A length at which n times the change is measured: it is nearly what it is for all longer words."""

CLOSE = 1.05
"""The search ends where the bound is so many times what was measured."""

INVERSE = 0.25
"""How wide 1/n counts beside a frequency where a box is halved: little depends on it."""

EVEN = Parity(Fraction(1, 2), odd=False)

SEARCHING = 0.5
"""So much of the time is for the search: the checker looks at every leaf again, and then at what follows."""

USEFUL = 4
"""With scores that range over more, a bound for every n is larger than what it bounds is ever."""

GREATEST = 1000
"""Constants from 2^1000 on are not written."""

SUMS = Fraction(1, 2**30)
"""What is left above a constant: sums in another order, on another machine, end at another last digit."""

SPLITS = Fraction(1, 2**10)
"""The same for tables, whose parts are chosen by what was computed before."""

MOST_PAIRS = 100_000
"""For at most so many lengths, one by one, two words are looked for that no margin parts."""

MOST_DENOMINATOR = 10**6
"""Numbers that are asked for are of few digits."""

TRIED = 16
"""How many words are tried for two whose outputs are close."""

WHY = (
    "the change may grow faster than 1/n on some words, or the boxes are still "
    "too wide; try typical words, a larger n0 or more seconds"
)


@final
@dataclass(frozen=True)
class Typical:
    """Words whose frequency of 1s is within `tau` of the source's."""

    source: Parity
    tau: Fraction

    @property
    def side(self) -> tuple[Fraction, Fraction]:
        """From which to which share of the n positions has a 1."""
        a = self.source.accepting_share
        middle = 2 * a * (1 - a)
        return max(Fraction(0), middle - self.tau), min(Fraction(1), middle + self.tau)


@final
@dataclass(frozen=True, repr=False)
class Limit(Tabled):
    """What a search for a bound found, and what the independent checker says to that.

    `bound` and `verdict` are None where nothing finite was found, for the `reason` that is named. `measured`
    is n times the greatest change that was found at a few lengths: no constant is below it. It is that of all
    words where the encoder has two symbols beside the marker, and of words that were tried where it has more
    (`is_of_all_words`); empty where nothing was measured, as of positions with a period.
    A bound for every n has beside it by how much the scores of one query range in each layer (`ranges`), what
    was measured and what tables of positions prove at a few lengths (`beside`), and log10 of the constant of
    Hahn's own proof (`hahn`; None where that is 0).
    `remark` says what was tried without success before this bound. Where only typical words are meant,
    `measured` is of these, and `everywhere` of all words. It prints as the lines of `attemper bound`.
    """

    bound: OneSymbolBound | None
    verdict: Verdict | None
    reason: str
    measured: tuple[tuple[int, float], ...]
    leaves: int
    seconds: float
    interrupted: bool = False
    remark: str = ""
    everywhere: tuple[int, float] | None = None
    is_of_all_words: bool = True
    ranges: tuple[float, ...] = ()
    beside: tuple[Beside, ...] = ()
    hahn: float | None = None

    @property
    def status(self) -> Status:
        """PROVED; UNKNOWN where no bound was found."""
        return Status.UNKNOWN if self.verdict is None else self.verdict.status

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        if self.verdict is None:
            return ExitCode.UNKNOWN
        return ExitCode.INTERRUPTED if self.interrupted else self.verdict.exit_code

    def __bool__(self) -> NoReturn:
        raise TypeError("a search can end with UNKNOWN, so it is neither true nor false: look at its status")

    def __repr__(self) -> str:
        if self.verdict is None:
            return f"<Limit: {self.status}, no bound after {self.seconds:.1f} s>"
        return f"<Limit: {self.status}, {self.verdict.claims[0].text}>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        """The claims, and what was measured beside them; or why there are none."""
        if self.verdict is None:
            yield f"UNKNOWN: {self.reason}"
        else:
            yield from (f"{claim.status}: {claim.text}" for claim in self.verdict.claims)
            yield f"arithmetic: {self.verdict.claims[0].arithmetic}"
        if self.remark:
            yield f"UNKNOWN: {self.remark}"
        if self.everywhere is not None and self.bound is not None:
            yield "what follows rests on the bound for typical words, and counts the others in"
        kind = "all words" if self.is_of_all_words else "the words that were tried"
        kind = kind if self.everywhere is None else "typical words"
        for words, each in [*((kind, each) for each in self.measured), ("all words", self.everywhere)]:
            if each is not None:
                yield f"n times the greatest change of {words} is {each[1]:.6g} at n = {each[0]}: measured"
        if self.leaves:
            yield f"{self.leaves:,} leaves"
        if self.ranges:
            yield from self._compared()

    def _compared(self) -> Iterator[str | Table]:
        """Why a bound for every n is as large as it is, and what stands beside it."""
        shown = ", ".join(f"{each:.3g}" for each in self.ranges)
        yield f"scores of one query range over {shown} at most, layer by layer: the bound grows with e^range"
        if max(self.ranges) > USEFUL:
            yield (
                f"beyond a range of about {USEFUL} it says little: positions in a narrower box, smaller "
                "weights or a bound for one length say more"
            )
        if not self.beside or self.bound is None or not isinstance(self.bound.bound, EveryLengthBound):
            return
        yield ""
        yield "n times what one symbol changes: in words that were tried, and at most"
        rows = table("n", "tried", "by the table of positions", "for every n", "in Hahn's proof")
        proved = f"{float(self.bound.bound.constant):.6g}"
        hahn = "0" if self.hahn is None else f"10^{self.hahn:.4g}"
        for each in self.beside:
            by_table = "vacuous" if each.table is None else f"{each.table:.6g}"
            rows.add_row(str(each.length), f"{each.tried:.6g}", by_table, proved, hahn)
        yield rows

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        said = {"verdict": str(self.status), "reason": self.reason}
        return {
            **(said if self.verdict is None else record_of(self.verdict)),
            "measured": list(map(_measured, self.measured)),
            "measured_of": "all words" if self.is_of_all_words else "words that were tried",
            "measured_over_all_words": None if self.everywhere is None else _measured(self.everywhere),
            "leaves": self.leaves,
            "score_ranges": list(self.ranges),
            "beside": [vars(each) for each in self.beside],
            "log10_of_hahns_constant": self.hahn,
            "remark": self.remark,
            "seconds": round(self.seconds, 1),
        }

    def save(self, path: str | Path) -> None:
        """Write the bound to a file for `attemper check`.

        Raises `OptionError` if there is none, and `MalformedFileError` if writing fails.
        """
        if self.bound is None:
            raise OptionError(f"there is no bound to save: {self.reason}")
        LIMIT.save(self.bound, Path(path))


def _measured(pair: tuple[int, float]) -> dict[str, object]:
    return {"n": pair[0], "n_times_change": pair[1]}


def rounded_up(value: float | Fraction) -> Fraction:
    """The least decimal with about `DIGITS` significant digits that is not below a number from 0 on.

    >>> rounded_up(366.1234567), rounded_up(Fraction(2137, 100000))
    (Fraction(91531, 250), Fraction(2137, 100000))
    """
    exact = Fraction(value)
    if not exact:
        return exact
    places = DIGITS - 1 - floor(log10(exact))
    scale = Fraction(10**places) if places >= 0 else Fraction(1, 10**-places)
    return ceil(exact * scale) / scale


def rounded_down(value: flint.arb) -> Fraction:
    """The greatest decimal with `DIGITS` places that is not above an exact number; 0 below the least of them.

    >>> rounded_down(flint.arb("0.69314718").lower())
    Fraction(693147, 1000000)
    """
    # A number such as e^-(10^12) has more digits than any memory.
    if not value * 10**DIGITS >= 1:
        return Fraction(0)
    exact = value.fmpq()
    return Fraction(int(exact.p) * 10**DIGITS // int(exact.q), 10**DIGITS)


def functionals_of(encoder: Encoder) -> tuple[Functional, ...]:
    """The differences of END and every other output, where there are both; else each output alone.

    Of 2DYCK's next symbols it is that of the closing brackets, too: what Theorem 6 needs.
    """
    count = len(encoder.outputs)
    if count == 1 or END not in encoder.outputs:
        return tuple(tuple(int(k == row) for k in range(count)) for row in range(count))
    ending = encoder.outputs.index(END)
    others = (row for row in range(count) if row != ending)
    against_end = tuple(tuple((k == ending) - (k == other) for k in range(count)) for other in others)
    if not predicts_brackets(encoder):
        return against_end
    return (*against_end, tuple((name == ")") - (name == "]") for name in encoder.outputs))


def letters_of(encoder: Encoder) -> tuple[str, ...]:
    """The symbols that an exchange can put anywhere: all but the end marker."""
    return tuple(symbol for symbol in encoder.symbols if symbol != encoder.ending)


def predicts_brackets(encoder: Encoder) -> bool:
    """Whether the outputs are what may follow a prefix of 2DYCK."""
    return sorted(encoder.outputs) == sorted((*BRACKETS, END))


@final
@dataclass(frozen=True)
class BoundRequest:
    """What a bound is wanted for.

    `start` is n0, `length` the n of a bound for one length. `margin` is the m of "decided with margin m";
    `source` is what cross-entropies of next symbols are about. With `typical` only its words are meant.
    """

    start: int = 4096
    length: int | None = None
    source: Parity = EVEN
    typical: Typical | None = None
    margin: Fraction = Fraction(1)
    seconds: float = 60
    report: Callable[[str], None] = lambda _: None


def bound(
    encoder: Encoder | str,
    *,
    n0: int = 4096,
    length: int | None = None,
    typical: str | None = None,
    tau: Fraction | str = "0.1",
    p: Fraction | str = "1/2",
    margin: Fraction | str = "1",
    seconds: float = 60,
    report: Callable[[str], None] = lambda _: None,
) -> Limit:
    """Bound what one symbol can change in an encoder with soft attention, and what follows, with proof.

    The largest change |f(x) - f(x')| of an output, over words x, x' of n symbols (the end marker counted)
    that differ in one symbol but the last, is at most C/n: for all words of all lengths n >= n0 where there
    are neither mask nor positions, for those with n = n0 mod m where positions have the period m, and for all
    n >= 2 where a function gives positions in a box, without LayerNorm and mask. Every encoder with a mask or
    positions without a period has a bound for all words of one `length` n, or for two words. (Hahn 2020,
    Lemma 5, with computed constants, and Theorem 6; `docs/limits.md`, and `certificates/FORMAT.md`, section
    9.)

    * `encoder`: an `Encoder`, as `attemper.models.soft.reading` reads it from PyTorch, or `"MODULE:OBJECT"`.
    * `typical`: "parity-even" or "parity-odd": the constant is for words whose frequency of 1s is within
      `tau` of that source's alone; `p` is its probability of ending, or of dyck2 that of an opening bracket,
      where the encoder is over ( ) [ ] and puts out logits of these and END.
    * `margin`: from which n on PARITY is decided with no such margin is said, too.
    * `seconds`: half of them are for the search; the rest is for the checker. `report` hears what is done.

    Cross-entropies that follow are in nats, for words of at least n symbols. Raises `OptionError` for options
    that do not fit the encoder, and `UnsupportedError` for encoders of which nothing is proved.

    >>> import numpy as np
    >>> from attemper.models.soft.weights import Encoder, Mask, NoPositions
    >>> rows, one = np.arange(3.0)[:, None], np.ones((1, 1))
    >>> symbols = ("0", "1", "$")
    >>> encoder = Encoder(symbols, "$", rows, NoPositions(), Mask.FUTURE_MASKED, (), one, one[0], ("o",))
    >>> found = bound(encoder, length=16)
    >>> found.status, found.bound.bound.change
    (<Status.PROVED: 'PROVED'>, Fraction(0, 1))
    """
    if not isinstance(encoder, Encoder | str):
        raise OptionError(
            f"encoder={type(encoder).__name__} is no encoder: docs/limits.md says how one is read"
        )
    if type(n0) is not int or n0 < 2 or (length is not None and (type(length) is not int or length < 2)):
        raise OptionError("n0 and length are numbers of symbols from 2 on, the end marker counted")
    source = source_named(typical or "parity-even", _number(p, "p", Fraction(1)))
    if not isinstance(source, Parity):
        raise OptionError("bounds follow for parity-even and parity-odd: an encoder reads 0 and 1")
    words = None if typical is None else Typical(source, _number(tau, "tau", Fraction(1)))
    began = monotonic()
    found = encoder_named(encoder) if isinstance(encoder, str) else encoder
    require_plain(found)
    left = seconds - (monotonic() - began)
    asked = BoundRequest(n0, length, source, words, _number(margin, "margin"), left, report)
    return bound_and_check(found, asked, encoder if isinstance(encoder, str) else "")


def _number(given: Fraction | str, name: str, below: Fraction | None = None) -> Fraction:
    """A number above 0 and below another, read exactly. Raises `OptionError`."""
    try:
        found = Fraction(given)
    except (ValueError, ZeroDivisionError, TypeError, OverflowError):
        found = Fraction(0)
    if not found > 0 or (below is not None and not found < below) or found.denominator > MOST_DENOMINATOR:
        allowed = "above 0" if below is None else f"between 0 and {below}"
        raise OptionError(f"'{name}' must be a number {allowed}, for example 1/2", options=(name,))
    return found


def encoder_named(source: str) -> Encoder:
    """The encoder that MODULE:OBJECT names.

    Raises `UnsupportedError` for a folder of `attemper compile`: every network that is compiled breaks one of
    the assumptions on purpose, which `attemper show` names head by head. Raises what loading an encoder does.
    """
    if Path(source).is_dir():
        raise UnsupportedError(
            f"'{source}' is a compiled network: its scores, positions or temperatures grow with n, so that "
            "one symbol can change its output at every length; 'attemper influence' measures how much"
        )
    return load_encoder(source)


def bound_and_check(encoder: Encoder, asked: BoundRequest, source: str = "") -> Limit:
    """Bound what one symbol can change in an encoder, and have the checker judge the bound and what follows.

    An unmasked encoder without position embeddings gets a bound C/n for all lengths n >= n0 (with positions
    of a period m: those with n = n0 mod m), one with positions by a function for all n >= 2; where a length
    is given, one for words of this length: by the table of positions or, where that says nothing, of two
    words. `source` is MODULE:OBJECT, or empty.

    Raises `OptionError` for options that do not fit the encoder, and `UnsupportedError` for encoders of which
    nothing is proved.
    """
    for complaint in complaints(encoder):
        raise UnsupportedError(f"this is no encoder to say anything about: {complaint}")
    if len(letters_of(encoder)) < 2:
        raise UnsupportedError("bounds are for encoders over two symbols or more beside the end marker")
    if encoder.mask is Mask.UNMASKED and isinstance(encoder.positions, NoPositions | Periodic):
        if asked.length is not None:
            raise OptionError(
                "'length' is for encoders with a mask or positions: this one has a bound for all n",
                options=("length",),
            )
        if asked.typical is not None and isinstance(encoder.positions, Periodic):
            raise OptionError("'typical' is for encoders without position embeddings", options=("typical",))
        if asked.typical is not None and (encoder.ending is None or len(encoder.symbols) != 3):
            raise OptionError(
                "'typical' is for encoders over two symbols beside the end marker", options=("typical",)
            )
        if asked.start > LONGEST:
            raise OptionError(f"'n0' must be at most {LONGEST:,}", options=("n0",))
        return _by_frequencies(encoder, source, asked)
    if asked.typical is not None:
        raise OptionError(
            "'typical' is for unmasked encoders without position embeddings", options=("typical",)
        )
    if asked.length is not None:
        return _by_table(encoder, source, asked.length, asked)
    if isinstance(encoder.positions, Bounded):
        return _by_recursion(encoder, source, asked)
    raise OptionError(
        "an encoder with a mask or a table of positions has a bound for one length: say which, as in "
        "length=64; positions by a function (Bounded), unmasked, have one for every n",
        options=("length",),
    )


def _by_frequencies(encoder: Encoder, source: str, asked: BoundRequest) -> Limit:
    started = monotonic()
    box = None if asked.typical is None else (asked.typical.side,)
    residue = _residue(encoder, asked.start)
    functionals = functionals_of(encoder)
    lengths = dict.fromkeys((asked.start, max(asked.start, LONG))) if asked.start <= MOST_COUNTS else ()
    measured = tuple((n, n * greatest_change(encoder, n, box)) for n in lengths) if residue is None else ()
    everywhere = None
    if box is not None and lengths:
        longest = max(lengths)
        everywhere = longest, longest * greatest_change(encoder, longest, None)
    read, region = by_last_symbol(encoder), Region(asked.start, residue, box)

    def bounds(low: Floats, high: Floats) -> Floats:
        rows = np.array(functionals, dtype=np.int64)
        found = [bounds_on_boxes(each, rows, region, low, high) for each in read]
        return np.asarray(np.max(found, axis=0))

    found = search(
        bounds,
        [1.0] * (axes_of(read[0]) - 1) + [INVERSE / asked.start],
        target=CLOSE * max((change for _, change in measured), default=0.0),
        seconds=SEARCHING * (asked.seconds - (monotonic() - started)),
        progress=lambda at: asked.report(
            f"n times the change is at most {at.constant:.6g}: {at.leaves:,} leaves"
        ),
    )
    if not isfinite(found.constant):
        reason = f"no finite bound was found by {found.leaves:,} leaves: {WHY}"
        nothing = Limit(None, None, reason, measured, found.leaves, monotonic() - started, found.interrupted)
        return replace(nothing, is_of_all_words=len(letters_of(encoder)) == 2)
    bound = FrequencyBound(
        asked.start, rounded_up(Fraction(found.constant) * (1 + SUMS)), residue, box, found.splits
    )
    whole = OneSymbolBound(encoder.digest, source, encoder.symbols, encoder.ending, functionals, bound)
    judged = _judged(encoder, whole, asked, measured, found.leaves, started, found.interrupted)
    return replace(judged, everywhere=everywhere, is_of_all_words=len(letters_of(encoder)) == 2)


def _by_recursion(encoder: Encoder, source: str, asked: BoundRequest) -> Limit:
    """The bound for every n, and what stands beside it."""
    started = monotonic()
    asked.report("following the layers in boxes")
    functionals = functionals_of(encoder)
    constant, ranges = every_length_bound(encoder, functionals)
    if not constant < flint.arb(2) ** GREATEST:
        reason = (
            f"the constant for every n is beyond 2^{GREATEST}, as the scores of one query range so widely"
        )
        return Limit(None, None, reason, (), 0, monotonic() - started)
    bound = EveryLengthBound(rounded_up(upper_bound(constant)))
    whole = OneSymbolBound(encoder.digest, source, encoder.symbols, encoder.ending, functionals, bound)
    judged = _judged(encoder, whole, asked, (), 0, started, interrupted=False)
    rows = beside(encoder, functionals, asked.seconds - (monotonic() - started), asked.report)
    return replace(
        judged, ranges=tuple(map(float, ranges)), beside=rows, hahn=hahns_constant(encoder, functionals)
    )


def _by_table(encoder: Encoder, source: str, length: int, asked: BoundRequest) -> Limit:
    started = monotonic()
    there = encoder.at(length)
    functionals = functionals_of(encoder)
    asked.report(f"bounding by the table of {length} positions")
    last_only = encoder.mask is Mask.FUTURE_MASKED and not predicts_brackets(encoder)
    which = Exchange.LAST_BUT_ONE if last_only else Exchange.ANY
    found = [change_bound(there, length, each, which) for each in functionals]
    remark = ""
    if any(each.vacuous for each in found):
        change, diameter = (
            max(side) for side in zip(*((each.change, each.diameter) for each in found), strict=True)
        )
        apart = "no words' outputs are" if encoder.ending else "those of no words with one last symbol are"
        remark = (
            f"the bound for all words of n = {length} is vacuous: one symbol changes the output by at most "
            f"{change:.6g}, and {apart} further apart than {diameter:.6g}"
        )
        asked.report("the table says nothing: looking for two words whose outputs are close")
        if encoder.ending is None:
            return Limit(None, None, remark, (), 0, monotonic() - started)
        bound: TableBound | PairBound = _close_pair(there, length, functionals)
    else:
        bound = TableBound(
            length, rounded_up(Fraction(max(each.change for each in found)) * (1 + SPLITS)), last_only
        )
    whole = OneSymbolBound(there.digest, source, there.symbols, there.ending, functionals, bound)
    return replace(_judged(there, whole, asked, (), 0, started, interrupted=False), remark=remark)


def _judged(
    encoder: Encoder,
    bound: OneSymbolBound,
    asked: BoundRequest,
    measured: tuple[tuple[int, float], ...],
    leaves: int,
    started: float,
    interrupted: bool,
) -> Limit:
    """What follows from the bound, and what the checker says to all of it."""
    asked.report("checking what was found, and what follows")
    whole = replace(bound, consequences=tuple(_consequences(encoder, bound, asked)))
    if isinstance(bound.bound, EveryLengthBound):
        require_box(whole, encoder)
    verdict = check_limit(whole, encoder, bound.source)
    if verdict.status is not Status.PROVED:
        said = "; ".join(f"{claim.status}: {claim.text}" for claim in verdict.claims)
        raise InternalError(f"the checker does not accept what was found: {said}")
    return Limit(whole, verdict, "", measured, leaves, monotonic() - started, interrupted)


def _close_pair(encoder: Encoder, length: int, functionals: tuple[Functional, ...]) -> PairBound:
    """Of some words of n symbols, each with an exchange beside it, the two whose outputs are closest."""
    first, second, *_ = (symbol for symbol in encoder.symbols if symbol != encoder.ending)
    numbers = [encoder.symbols.index(symbol) for symbol in (first, second, str(encoder.ending))]
    drawn = np.random.default_rng(0).integers(0, 2, size=(TRIED, length))
    places = np.arange(TRIED) * (length - 2) // (TRIED - 1)
    drawn[:, -1] = 2
    drawn[np.arange(TRIED), places] = 0
    others = drawn.copy()
    others[np.arange(TRIED), places] = 1
    words = np.array(numbers)[np.concatenate([drawn, others])]
    outputs = outputs_of(encoder, words) @ np.array(functionals).T
    best = int(np.abs(outputs[TRIED:] - outputs[:TRIED]).max(axis=1).argmin())
    one, other = (tuple(encoder.symbols[k] for k in words[row, :-1]) for row in (best, TRIED + best))
    change = change_of_pair(encoder, PairBound(one, other, Fraction(0)), functionals)
    if change is None:
        raise UnsupportedError(
            f"the outputs of words of {length} symbols are not finite in balls of {BITS} bits"
        )
    return PairBound(one, other, rounded_up(change))


# What follows --------------------------------------------------------------------------------------


def _consequences(encoder: Encoder, found: OneSymbolBound, asked: BoundRequest) -> Iterator[Consequence]:
    """All that follows from a bound, for the encoder's outputs: a recogniser's, or the next symbol's."""
    if len(encoder.outputs) == 1:
        yield from _of_recognisers(encoder, found, asked)
        return
    source: Source = asked.source
    if predicts_brackets(encoder) and set(letters_of(encoder)) == set(BRACKETS):
        source = Brackets(asked.source.p)
    elif sorted(encoder.outputs) != ["0", "1", END] or bits_of(found) != ("0", "1"):
        return
    for length in _lengths(found.bound, asked):
        if isinstance(source, Brackets) and length > brackets.LONGEST:
            return
        claim = SourceFloor(name_of(source), source.p, length, Fraction(0))
        nats = rounded_down(source_floor(found, encoder, claim))
        if nats:
            yield replace(claim, nats=nats)


def _of_recognisers(encoder: Encoder, found: OneSymbolBound, asked: BoundRequest) -> Iterator[Consequence]:
    match found.bound:
        case FrequencyBound(_, constant, residue, box, _):
            if residue is None:
                yield from _no_margin(encoder, found, found.bound, asked)
            changes = {} if box is not None else {n: constant / n for n in _lengths(found.bound, asked)}
        case EveryLengthBound(constant):
            start = margin_impossible_from(constant, asked.margin, 2)
            if start <= LONGEST:
                yield NoMargin(asked.margin, start, ())
            changes = {n: constant / n for n in _lengths(found.bound, asked)}
        case TableBound(length, change, _):
            if change < 2 * asked.margin:
                yield NoMarginAt(asked.margin, length)
            changes = {length: change}
        case PairBound(_, _, change):
            if change < 2 * asked.margin:
                yield NoMarginAt(asked.margin, found.bound.length)
            changes = {}
        case _:
            assert_never(found.bound)
    if len(letters_of(encoder)) == 2:
        for length, change in changes.items():
            nats = rounded_down(recogniser_floor(change))
            if nats:
                yield RecogniserFloor(length, nats)


def _lengths(bound: ChangeBound, asked: BoundRequest) -> list[int]:
    """The lengths of which a cross-entropy is said: all from n0 on have one, these are named."""
    match bound:
        case FrequencyBound() | EveryLengthBound():
            residue = bound.residue if isinstance(bound, FrequencyBound) else None
            start, period = asked.start, 1 if residue is None else residue[0]
            named = [start + (k - 1) * start // period * period for k in (1, 10, 100)]
            return [length for length in named if length <= LONGEST]
        case TableBound():
            return [bound.length]
        case PairBound():
            return []
        case _:
            assert_never(bound)


def _no_margin(
    encoder: Encoder, found: OneSymbolBound, bound: FrequencyBound, asked: BoundRequest
) -> Iterator[NoMargin]:
    enough = margin_impossible_from(bound.constant, asked.margin, bound.start)
    if bound.box is not None:
        ((low, high),) = bound.box
        enough = max(enough, ceil(3 / (high - low)))
    if enough > LONGEST:
        return
    counts = (
        ()
        if bound.box is not None or found.ending is None
        else _pairs_below(encoder, found, asked.margin, enough)
    )
    yield NoMargin(asked.margin, enough - len(counts), counts)


def _pairs_below(encoder: Encoder, found: OneSymbolBound, margin: Fraction, enough: int) -> tuple[int, ...]:
    """Counts of pairs that no margin parts, as the checker sees them, for the lengths just below `enough`."""
    marker = encoder.symbols.index(found.ending)
    columns = [*(encoder.symbols.index(symbol) for symbol in bits_of(found)), marker]
    # The bias is in no difference, and rounding to it would hide them.
    unbiased = replace(encoder, bias=np.zeros_like(encoder.bias))

    def outputs(counts: Floats) -> Floats:
        histograms = np.zeros((len(counts), len(encoder.symbols)))
        histograms[:, columns] = counts
        return outputs_of_histograms(unbiased, histograms, marker)[:, 0]

    counts = close_pairs(outputs, margin, max(2, enough - MOST_PAIRS), enough)
    changes = changes_of_counts(found, encoder, range(enough - len(counts), enough), counts)
    close = takewhile(lambda change: leaves_no_room(change, margin), reversed(changes))
    return counts[len(counts) - sum(1 for _ in close) :]


def greatest_change(encoder: Encoder, length: int, box: FrequencyBox) -> float:
    """The greatest change of an output by one exchange, in float64, among words of n symbols: measured.

    Of two symbols beside the marker over all words; with a box, over those whose second symbol has such a
    frequency. More have more histograms than can be looked at: it is the greatest that is found.
    """
    if encoder.ending is None:
        return max(greatest_change(each, length, box) for each in by_last_symbol(encoder))
    marker = encoder.symbols.index(encoder.ending)
    letters = [row for row in range(len(encoder.symbols)) if row != marker]
    unbiased = replace(encoder, bias=np.zeros_like(encoder.bias))

    def outputs(histograms: NDArray[np.int64]) -> Floats:
        counts = np.ones((len(histograms), len(encoder.symbols)))
        counts[:, letters] = histograms
        found = outputs_of_histograms(unbiased, counts, marker) @ np.array(functionals_of(encoder)).T
        return np.asarray(found)

    if len(letters) > 2:
        return greatest_found(outputs, len(letters), length - 1)
    low, high = box[0] if box else (Fraction(0), Fraction(1))
    ones = np.arange(ceil(low * length), min(length - 1, int(high * length)) + 1)
    histograms = np.stack([length - 1 - ones, ones], axis=1)
    return float(np.abs(np.diff(outputs(histograms), axis=0)).max(initial=0.0))


def _residue(encoder: Encoder, start: int) -> tuple[int, int] | None:
    """Which lengths are meant, where positions have a period: those like n0."""
    match encoder.positions:
        case Periodic(table):
            return len(table), start % len(table)
        case _:
            return None
