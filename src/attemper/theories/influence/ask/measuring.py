"""What one symbol changes in a model with soft attention, measured, asked from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

from rich.table import Table

from attemper.errors import ExitCode, MalformedFileError, OptionError
from attemper.html_tables import Tabled
from attemper.languages.sources.values import Parity, Source, source_named
from attemper.models.arrays import Integers
from attemper.models.soft.weights import Encoder
from attemper.theories.influence.report.measured import floor_lines, parts_of
from attemper.theories.influence.search.floors import Floors, floors_of, words_from
from attemper.theories.influence.search.measuring import MeasuringPlan, measure
from attemper.theories.influence.search.results import Mode, Report
from attemper.theories.influence.search.subjects import MeasuredModel, subject_of, words_in
from attemper.workbench.cli.console import text_of
from attemper.workbench.cli.lines import lines_in, place_in
from attemper.workbench.model import Model
from attemper.workbench.options import choice

if TYPE_CHECKING:
    from attemper.workbench.words import WordLike

ModeName = Literal["exact", "word", "sampled", "search"]

COUNTS = {Mode.SEARCH: 4096}
"""How many words are run if nobody says so; in other modes it is `COUNT`."""

COUNT = 64

LONGEST = 100_000_000
"""No longer words are asked for."""


@final
@dataclass(frozen=True, repr=False)
class Influence(Tabled):
    """What was measured of a model: the largest changes at each length, and the floors that follow.

    `report` has the `rows`, one for each length n, class of positions and output, with the exchange that
    changed most. `floors` are there where the output is the log-odds of a source's END. All of it is measured
    in float64, on words that are named, and not proved. It prints as the lines of `attemper influence`.
    """

    report: Report
    floors: tuple[Floors, ...]

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended it, so that this is what was seen until then."""
        return self.report.interrupted

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return ExitCode.INTERRUPTED if self.interrupted else ExitCode.OK

    def __repr__(self) -> str:
        rows = self.report.largest_rows
        shown = ", ".join(f"{row.changes.largest:.4g} at n = {row.length}" for row in rows)
        return f"<Influence: {shown or 'nothing was seen'}>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        yield from parts_of(self.report)
        for each in self.floors:
            yield from floor_lines(each)

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        return {**self.report.as_record(), "floors": [each.as_record() for each in self.floors]}

    def save(self, path: str | Path) -> None:
        """Write all numbers as CSV, a line for each row. Raises `MalformedFileError` if writing fails."""
        try:
            Path(path).write_text(self.report.as_csv(), encoding="utf-8")
        except OSError as error:
            raise MalformedFileError(f"cannot write '{path}': {error.strerror}") from None


def influence(
    model: Model | Encoder | str,
    lengths: Sequence[int] | None = None,
    *,
    words: Path | Iterable[WordLike] | None = None,
    mode: ModeName | None = None,
    count: int | None = None,
    seed: int = 0,
    seconds: float = 60,
    start: str | None = None,
    log_odds: str | None = None,
    source: str | None = None,
    p: Fraction | str = "1/2",
    report: Callable[[str], None] = lambda _: None,
) -> Influence:
    """Measure how much one symbol can change what a model with soft attention puts out at position n.

    influence(n) = max |f(x) - f(x')| over words x, x' of n symbols that differ in x_i only, for one i < n,
    where f(x), of shape (K,), are the model's K outputs. (Hahn 2020, Lemma 5: O(1/n) where no parameter
    depends on n; `docs/influence.md`.) In float64, and not proved: each row says which words were looked at.

    * `model`: a compiled model, an `Encoder`, or what the command line takes, `"DIR"` or `"MODULE:OBJECT"`.
    * `lengths`: the n, each from 2 on, which count an end marker and `start`; or `words`, one by one or in a
      file with one a line, which have their own.
    * `mode`: "exact" (all words), "word" (the given ones), "sampled" or "search" (what they find is at most
      the maximum); else exact where words are few, and sampled where they are many. `count` words of each
      length are drawn (64; a search runs 4,096), from the `seed`, uniformly or from `source` with `p`.
    * `seconds`: after so long the report has what was seen. `report` hears what is done.
    * `start` begins every word of an encoder. With `log_odds` the one output is ln(P / (1 - P)) of the output
      of that name; with a `source` of PARITY the floors on its cross-entropy, in nats, follow.

    Raises `OptionError` for options that do not go together, `UnsupportedError` (read at the first position,
    too many scores, an output that is no number), `WordError`, and what loading a model raises.

    >>> import attemper
    >>> found = influence(attemper.compile("#<['1'] % 2 = 0", "01"), (4, 5))
    >>> [(row.length, str(row.place), round(row.changes.largest, 6)) for row in found.report.rows][:2]
    [(4, 'first', 1.0), (4, 'middle', 1.0)]
    """
    chosen = _mode(mode, words, source)
    if (lengths is None) == (words is None):
        raise OptionError("give the lengths, or words, which have their own", options=("lengths", "words"))
    drawn_from = _source(source, p)
    subject = subject_of(model, start, log_odds)
    given = None if words is None else _given(words, subject)
    chosen_lengths = _lengths(lengths or ()) if given is None else tuple(given)
    amount = _count(count, chosen)
    if drawn_from is not None and chosen is Mode.SAMPLED:
        given = {n: words_from(drawn_from, subject, n, amount, seed) for n in chosen_lengths}
    plan = MeasuringPlan(chosen, chosen_lengths, amount, seed, seconds, given)
    found = measure(subject, plan, report)
    floors = floors_of(found, drawn_from, seed) if log_odds and isinstance(drawn_from, Parity) else []
    return Influence(found, tuple(floors))


def _mode(mode: str | None, words: object, source: str | None) -> Mode | None:
    if mode is None:
        return Mode.WORD if words is not None else Mode.SAMPLED if source is not None else None
    chosen = Mode(choice("mode", mode, tuple(Mode)))
    if (chosen is Mode.WORD) != (words is not None):
        raise OptionError("mode word and words go together", options=("mode", "words"))
    return chosen


def _lengths(lengths: Sequence[int]) -> tuple[int, ...]:
    """Each once, the shortest first. Raises `OptionError`."""
    if not lengths or not all(type(n) is int and 2 <= n <= LONGEST for n in lengths):
        raise OptionError(
            f"lengths: {lengths!r:.80} are not lengths from 2 to {LONGEST:,}, for example 64 or 64,128",
            options=("lengths",),
        )
    return tuple(sorted(set(lengths)))


def _count(count: int | None, mode: Mode | None) -> int:
    if count is None:
        return COUNT if mode is None else COUNTS.get(mode, COUNT)
    if type(count) is not int or count < 1:
        raise OptionError(f"count={count!r} is not a number of words from 1 on")
    return count


def _source(name: str | None, p: Fraction | str) -> Source | None:
    if name is None:
        return None
    try:
        probability = Fraction(p)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"p='{p}' is no fraction, such as 1/2", options=("p",)) from None
    return source_named(name, probability)


def _given(words: Path | Iterable[WordLike], subject: MeasuredModel) -> dict[int, Integers]:
    """The words by their lengths; errors say where one stands."""
    if isinstance(words, Path):
        return words_in(lines_in(str(words)), subject, partial(place_in, str(words)))
    return words_in(words, subject, lambda number: f"word {number}")
