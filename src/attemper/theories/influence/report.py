"""What `attemper limits source` says of a source: tables of numbers in balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import assert_never, final

import flint

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources import bracket_levels, brackets, laws, levels, pairs
from attemper.languages.sources.bracket_levels import LengthParity
from attemper.languages.sources.entropies import PRECISION, in_bits
from attemper.languages.sources.values import Brackets, Parity, Source, name_of, require_length
from attemper.theories.influence.certificate import encode, load
from attemper.workbench.report.files import ShownFile

CHANGES = tuple(map(Fraction, ("0", "0.1", "0.5", "1", "2", "4")))
"""The eps whose floors are shown."""

LONGEST = brackets.LONGEST
"""No longer prefixes, whatever the source is."""


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
@dataclass(frozen=True)
class SourceReport:
    """All that is said of a source after n symbols: what it is, how long words are, and the tables.

    Losses, of which `optimum` is H_opt, are in nats, or in `unit` "bits". `mean_length` is None where it is
    infinite.
    """

    source: Source
    n: int
    unit: str
    survival: flint.arb
    mean_length: Fraction | None
    optimum: flint.arb
    parts: tuple[ReportTable, ...]


def report_of(source: Source, n: int, k: int, *, bits: bool) -> SourceReport:
    """The report; PARITY has levels of up to k last symbols. Raises `OptionError`.

    >>> report_of(Parity(Fraction(1, 2), odd=True), 8, 2, bits=True).mean_length
    Fraction(4, 1)
    """
    require_length(n)
    if n > LONGEST:
        raise OptionError(
            f"n={n:,} is beyond the {LONGEST:,} symbols of a report: choose a smaller one", options=("n",)
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


def record_of(report: SourceReport) -> dict[str, object]:
    """The report as JSON data: fractions for p and the mean length, a decimal for P(|w| >= n), floats."""
    mean = report.mean_length
    found: dict[str, object] = {
        "source": name_of(report.source),
        "p": str(report.source.p),
        "n": report.n,
        "unit": report.unit,
        "survival": decimal(report.survival),
        "mean_length": None if mean is None else str(mean),
        "optimum": float(report.optimum),
    }
    for part in report.parts:
        found[part.key] = {
            name: dict(zip(part.columns, map(_as_float, values), strict=True))
            for name, values in part.rows.items()
        }
    return found


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
    data = encode(load(path))
    lines = (
        f"a bound on what one symbol changes in the encoder {data['source'] or '(in memory)'}",
        *(f"{name}: {_in_words(value)}" for name, value in data.items() if name not in {"format", "source"}),
        f"claimed, to be checked with 'attemper check {path} --model MODULE:OBJECT'",
    )
    return ShownFile(lines, {"kind": "bound", **data})


def _in_words(value: object) -> str:
    """A part of the file on one line."""
    match value:
        case dict():
            return ", ".join(f"{name} {_in_words(each)}" for name, each in value.items())
        case list():
            return " ".join(map(_in_words, value)) or "none"
        case _:
            return str(value)
