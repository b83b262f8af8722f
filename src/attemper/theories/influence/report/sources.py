"""What `attemper source` says of a source: tables of numbers in balls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import islice
from pathlib import Path
from typing import assert_never, final

import flint
from rich.table import Table

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.exact.codec import tag_of
from attemper.html_tables import Tabled
from attemper.languages.sources import bracket_levels, brackets, laws, levels, pairs
from attemper.languages.sources.bracket_levels import LengthParity
from attemper.languages.sources.entropies import PRECISION, in_bits
from attemper.languages.sources.values import Brackets, Parity, Source, name_of, require_length
from attemper.theories.influence.certificate import LIMIT
from attemper.workbench.cli.console import text_of
from attemper.workbench.report.files import ShownFile
from attemper.workbench.report.tables import table

CHANGES = tuple(map(Fraction, ("0", "0.1", "0.5", "1", "2", "4")))
"""The eps whose floors are shown."""

LONGEST = brackets.LONGEST
"""No longer prefixes, whatever the source is."""

SHOWN = 8
"""So many lines of a law are shown as text; in JSON all."""


@final
@dataclass(frozen=True)
class ReportTable:
    """A table: a caption, what its rows are about, and for each row a number, or None, in each column.

    Columns and rows have short names, for programs; `columns` and `names` say what people read instead (a row
    that has no other name is shown by its own). `is_loss` says that the numbers are losses, in the report's
    unit, and not probabilities.
    """

    key: str
    caption: str
    about: str
    columns: Mapping[str, str]
    rows: Mapping[str, tuple[flint.arb | None, ...]]
    names: Mapping[str, str] = field(default_factory=dict)
    is_loss: bool = True


@final
@dataclass(frozen=True, repr=False)
class SourceReport(Tabled):
    """All that is said of a source after n symbols: what it is, how long words are, and the tables.

    Losses, of which `optimum` is H_opt, are in nats, or in `unit` "bits". `mean_length` is None where it is
    infinite. It prints as the lines of `attemper source`; `note` is the first of them, on a name that two
    sources have.
    """

    source: Source
    n: int
    unit: str
    survival: flint.arb
    mean_length: Fraction | None
    optimum: flint.arb
    parts: tuple[ReportTable, ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<SourceReport: {name_of(self.source)}, p = {self.source.p}, after {self.n} symbols>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        if self.note:
            yield self.note
        yield _said(self.source)
        yield from _measured(self)
        for part in self.parts:
            yield ""
            is_cut = len(part.rows) > SHOWN and not part.is_loss
            yield f"{part.caption} (the first {SHOWN} of {len(part.rows)})" if is_cut else part.caption
            yield _drawn(part, SHOWN if is_cut else None)

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data: fractions for p and the mean length, a decimal for P(|w| >= n), floats."""
        found: dict[str, object] = {
            "source": name_of(self.source),
            "p": str(self.source.p),
            "n": self.n,
            "unit": self.unit,
            "survival": decimal(self.survival),
            "mean_length": None if self.mean_length is None else str(self.mean_length),
            "optimum": float(self.optimum),
        }
        for part in self.parts:
            found[part.key] = {
                name: dict(zip(part.columns, map(_as_float, values), strict=True))
                for name, values in part.rows.items()
            }
        return found


def report_of(source: Source, n: int, k: int, *, bits: bool) -> SourceReport:
    """The report; PARITY has levels of up to k last symbols. Raises `OptionError`.

    >>> report_of(Parity(Fraction(1, 2), odd=True), 8, 2, bits=True).mean_length
    Fraction(4, 1)
    """
    require_length(n)
    if n > LONGEST:
        raise OptionError(
            f"n={n} is beyond the {LONGEST:,} symbols of a report: choose a smaller one", options=("n",)
        )
    parts: tuple[ReportTable, ...]
    match source:
        case Parity():
            parts = (_parity_levels(source, n, k), _parity_floors(source, n), _savings(source, n))
        case Brackets():
            parts = (_excesses(source, n), _shares(source, n), *_laws(source, n))
        case _:
            assert_never(source)
    is_infinite = isinstance(source, Brackets) and 2 * source.p >= 1
    best = levels.optimum(source)
    return SourceReport(
        source,
        n,
        "bits" if bits else "nats",
        _ball(laws.survival(source, n)),
        None if is_infinite else laws.mean_length(source),
        in_bits(best) if bits else best,
        tuple(map(_part_in_bits, parts)) if bits else parts,
    )


def decimal(value: flint.arb) -> str:
    """Six digits, also of what no float can hold.

    >>> decimal(flint.arb(10) ** -400 / 3)
    '3.33333e-401'
    """
    return str(value.str(6, radius=False))


def _parity_levels(source: Parity, n: int, k: int) -> ReportTable:
    best = levels.optimum(source)
    found = {str(known): levels.last_symbols(source, known) for known in range(min(k, n - 1) + 1)}
    names = {"all": "the whole prefix (H_opt)"} | {known: f"the last {known} symbols" for known in found}
    names |= {"0": "nothing: a query symbol (H_uni)", "1": "x_n (H_bi)"}
    return ReportTable(
        "levels",
        "least cross-entropy of what follows, by what is known of the prefix",
        "known",
        {"level": "level", "excess": "above H_opt"},
        {known: (level, level - best) for known, level in ({"all": best} | found).items()},
        names,
    )


def _parity_floors(source: Parity, n: int) -> ReportTable:
    return ReportTable(
        "floors",
        "floors on it if one exchange changes END's log-odds by at most eps",
        "eps",
        {"last": "read at x_n", "query": "at a query symbol"},
        {
            f"{float(eps):g}": (
                pairs.mean_least_loss(source.p, eps) if n > 1 else None,
                pairs.query_least_loss(source.p, eps),
            )
            for eps in CHANGES
        },
    )


def _savings(source: Parity, n: int) -> ReportTable:
    a = source.accepting_share
    shares = {"last_0": a, "last_1": 1 - a} if n > 1 else {}
    shares["query"] = Fraction(1, 2)
    rows = {name: (pairs.gain(source.p, alpha),) for name, alpha in shares.items()}
    names = {"last_0": "x_n = 0", "last_1": "x_n = 1", "query": "a query symbol"}
    caption = "what telling the two prefixes of a pair apart saves"
    return ReportTable("savings", caption, "read at", {"saved": "e(alpha)"}, rows, names)


def _excesses(source: Brackets, n: int) -> ReportTable:
    kinds: dict[str, Callable[[Brackets, int | LengthParity], flint.arb]] = {
        "type": bracket_levels.type_excess,
        "star": bracket_levels.star_excess,
        "table_last": bracket_levels.last_symbol_excess,
        "type_query": bracket_levels.query_excess,
        "table_query": bracket_levels.length_excess,
    }
    names = {
        "type": "type, at x_n (Hahn 2020)",
        "star": "type and END, at x_n",
        "table_last": "a table on x_n and n",
        "type_query": "type, at a query symbol",
        "table_query": "a table on n",
    }
    return ReportTable(
        "excess",
        "floors above H_opt if one exchange changes nothing, and levels of tables",
        "floor or level",
        _columns(n),
        {name: tuple(kind(source, place) for place in (n, *LengthParity)) for name, kind in kinds.items()},
        names,
    )


def _shares(source: Brackets, n: int) -> ReportTable:
    closing = (brackets.closing_limit(source, odd=odd) for odd in (False, True))
    balanced = (brackets.balanced_limit(source, odd=odd) for odd in (False, True))
    return ReportTable(
        "shares",
        "probabilities, given that the word is as long as that",
        "of",
        _columns(n),
        {
            "P_0": tuple(map(_ball, (brackets.closing(source, n), *closing))),
            "b": tuple(map(_ball, (brackets.balanced(source, n), *balanced))),
        },
        {"P_0": "x_n closes, height > 0 (P_0)", "b": "height 0 (b)"},
        is_loss=False,
    )


def _columns(n: int) -> dict[str, str]:
    """After n symbols, and the limits over even and odd lengths."""
    return {"n": f"n = {n}"} | {str(limit): f"{limit} n -> oo" for limit in LengthParity}


def _laws(source: Brackets, n: int) -> tuple[ReportTable, ...]:
    """The laws of heights and of blocks, from the smallest on."""
    masses = brackets.height_masses(source, n)
    with precision(PRECISION):
        total = flint.arb(sum(mass for _, mass in masses))
        heights = {height: flint.arb(mass) / total for height, mass in reversed(masses)}
        found = [_law("heights", "height after these symbols", "height", heights)]
        if n % 2 == 0:
            blocks = {number: ball(share) for number, share in brackets.block_law(n).items()}
            found.append(_law("blocks", "blocks at the top level, given height 0", "blocks", blocks))
    return tuple(found)


def _law(key: str, caption: str, about: str, law: Mapping[int, flint.arb]) -> ReportTable:
    rows = {str(number): (share,) for number, share in law.items()}
    return ReportTable(key, caption, about, {"probability": "probability"}, rows, is_loss=False)


def _part_in_bits(part: ReportTable) -> ReportTable:
    if not part.is_loss:
        return part
    rows = {
        name: tuple(value if value is None else in_bits(value) for value in values)
        for name, values in part.rows.items()
    }
    return replace(part, rows=rows)


def _ball(value: Fraction) -> flint.arb:
    with precision(PRECISION):
        return ball(value)


def _as_float(value: flint.arb | None) -> float | None:
    return None if value is None else float(value)


def show_bound(path: Path, model: str | None, columns: int) -> ShownFile:
    """What the file of a bound claims, which nothing but its encoder can show to be so."""
    del model, columns
    found = LIMIT.load(path)
    lines = (
        f"a bound on what one symbol changes in the encoder {found.source or '(in memory)'}",
        *(f"{name}: {_in_words(value)}" for name, value in vars(found).items() if name != "source"),
        f"claimed, to be checked with 'attemper check {path} --model MODULE:OBJECT'",
    )
    return ShownFile(lines, {"kind": "bound", **LIMIT.encode(found)})


def _in_words(value: object) -> str:
    """A part of the file on one line."""
    match value:
        case tuple():
            return " ".join(map(_in_words, value)) or "none"
        case None | str() | int() | Fraction():
            return str(value)
        case _:
            entries = ", ".join(f"{name} {_in_words(each)}" for name, each in vars(value).items())
            return f"{tag_of(type(value))}: {entries}"


# As text -----------------------------------------------------------------------------------------------


def _said(source: Source) -> str:
    """What the source is."""
    match source:
        case Parity(p, odd):
            which = "an odd" if odd else "an even"
            return (
                f"{name_of(source)}: words over 0 and 1 with {which} number of 1s. Where the word may end, "
                f"END comes with p = {p}; 0 and 1 are as likely as each other."
            )
        case Brackets(p):
            return (
                f"dyck2: well-nested words of ( ) and [ ]. An opening bracket comes with p = {p}, of either "
                "kind alike; else the one that closes the last open one, or END where none is open."
            )
        case _:
            assert_never(source)


def _measured(report: SourceReport) -> Iterator[str]:
    """The numbers that stand in no table."""
    source, n = report.source, report.n
    mean = "infinite" if report.mean_length is None else str(report.mean_length)
    yield f"P(|w| >= {n}) = {decimal(report.survival)}; the mean length is {mean}"
    if isinstance(source, Parity):
        yield (
            f"given |w| >= {n} the word may end after each prefix of 1 to {n - 1} symbols with probability "
            f"a = {source.accepting_share}, independently, and after all {n} with 1/2"
            if n > 1
            else "given |w| >= 1 the word may end after its first symbol with probability 1/2"
        )
    yield f"losses are in {report.unit}; H_opt = {float(report.optimum):.6f}"


def _drawn(part: ReportTable, rows: int | None) -> Table:
    """The first rows, or all, as a table for people."""
    shown = table(part.about, *part.columns.values(), wraps=(part.about,))
    for name, values in islice(part.rows.items(), rows):
        cells = ("" if value is None else f"{float(value):.6f}" for value in values)
        shown.add_row(part.names.get(name, name), *cells)
    return shown
