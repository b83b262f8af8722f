"""What a softening found, in numbers: temperatures, how they grow, and other budgets beside ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import final

from rich.table import Table

from attemper.checker.verdict import Verdict
from attemper.errors import UnprovedError, UnsupportedError
from attemper.exact.closed_forms import evaluate, show_form
from attemper.exports.pictures.plots import Line, plot_svg
from attemper.files import CERTIFICATE
from attemper.languages.words import show_alphabet
from attemper.networks import files
from attemper.networks.layers import Network, Softmax, parameter_count
from attemper.theories.softening.certificate import APPROXIMATION, ClosedFormErrors
from attemper.theories.softening.check.elementwise import ErrorBudget
from attemper.theories.softening.check.enumeration import examine, reach
from attemper.theories.softening.check.given import said
from attemper.theories.softening.check.hard import uniform_heads
from attemper.theories.softening.lemmas.compared import LemmaTable
from attemper.theories.softening.lemmas.norms import coldness_by_norms
from attemper.theories.softening.search.soften import Softening, cold_enough
from attemper.theories.softening.ways import GapsOfWay
from attemper.workbench.report.files import ShownFile
from attemper.workbench.report.tables import table

LENGTHS = (1, 10, 100, 1000)
"""Where temperatures are told."""

COMPARED = 4096
"""How many words may be tried to compare budgets."""

WHOLE = Fraction(1)


@final
@dataclass(frozen=True)
class HeadTemperature:
    """One head that is not uniform: 1/tau as a closed form, tau at some lengths (i = n), and its gap.

    `given` is tau of the network that was softened, where its heads had one.
    """

    layer: int
    head: int
    form: str
    taus: dict[int, float]
    given: dict[int, float] | None
    by: str
    gap: str


@final
@dataclass(frozen=True)
class Budgets:
    """tau at one length by three budgets: for all lengths, word by word, and by norms as on paper.

    `closed` is that of the coldest head, and None where words were tried only; `norms` is None where no
    temperature is enough.
    """

    n: int
    closed: float | None
    tried: float
    norms: float | None

    @property
    def ratio(self) -> float | None:
        """By which factor the closed form is colder than it had to be here."""
        return None if self.closed is None else self.tried / self.closed


@final
@dataclass(frozen=True)
class SofteningReport:
    """Everything that is said of a softened network beside the verdict."""

    heads: tuple[HeadTemperature, ...]
    slopes: tuple[int, int] | None
    budgets: Budgets | None
    seen: tuple[tuple[int, str, str], ...]
    """n, the least gap and the greatest magnitude, of all words of n symbols."""
    unruled: str
    """The first head that fits no rule, if any."""

    def as_record(self) -> dict[str, object]:
        """The report as JSON data."""
        return {
            "heads": [
                {**vars(head), "taus": _keyed(head.taus), "given": head.given and _keyed(head.given)}
                for head in self.heads
            ],
            "slopes": None if self.slopes is None else {"c": self.slopes[0], "k": self.slopes[1]},
            "budgets": None if self.budgets is None else {**vars(self.budgets), "ratio": self.budgets.ratio},
            "examined": [{"n": n, "gap": gap, "magnitude": size} for n, gap, size in self.seen],
        }


def _keyed(numbers: dict[int, float]) -> dict[str, float]:
    return {str(n): value for n, value in numbers.items()}


def softening_report(found: Softening, original: Network) -> SofteningReport:
    """The numbers of a softening; `original` is the network that was softened."""
    heads, seen = tuple(_heads(found, original)), tuple(_seen(found))
    return SofteningReport(heads, found.slopes, _budgets(found), seen, found.unruled)


def _heads(found: Softening, original: Network) -> Iterator[HeadTemperature]:
    layers = zip(found.soft.layers, uniform_heads(found.soft), strict=True)
    lengths = [n for n in LENGTHS if found.last is None or n <= found.last]
    for number, (layer, uniform) in enumerate(layers):
        for index, (head, is_uniform) in enumerate(zip(layer.heads, uniform, strict=True)):
            if is_uniform or not isinstance(head.weighting, Softmax):
                continue
            form = head.weighting.inverse_temperature
            by, gap = _gap_of(found, number, index)
            before = original.layers[number].heads[index].weighting
            given = _taus(before, lengths) if isinstance(before, Softmax) else None
            yield HeadTemperature(
                number, index, show_form(form), _taus(head.weighting, lengths), given, by, gap
            )


def _taus(weighting: Softmax, lengths: Sequence[int]) -> dict[int, float]:
    return {n: float(1 / evaluate(weighting.inverse_temperature, n, n)) for n in lengths}


def _gap_of(found: Softening, layer: int, head: int) -> tuple[str, str]:
    """Why the head is tieless, and its gap."""
    if isinstance(found.evidence, ClosedFormErrors):
        own = found.evidence.layers[layer].gaps[head]
        assert own is not None
        return str(own.by), said(own.gap)
    gaps = [seen.gaps[layer][head] for seen in found.examined]
    known = [gap for gap in gaps if gap is not None]
    return "tried", str(min(known)) if known else "none"


def _seen(found: Softening) -> Iterator[tuple[int, str, str]]:
    for seen in found.examined:
        gaps = [gap for layer in seen.gaps for gap in layer if gap is not None]
        yield seen.length, str(min(gaps)) if gaps else "", str(max(seen.magnitudes, default=0))


def _budgets(found: Softening) -> Budgets | None:
    """The three budgets at the greatest length at which few words are to be tried.

    None where no head is cold, a network is too large for trying, or nothing is found there. The layer that
    rounds is left out: each budget is asked for the same epsilon.
    """
    length = min(reach(len(found.hard.alphabet.symbols), COMPARED), found.last or COMPARED)
    uniform = uniform_heads(found.hard)
    if length < 2 or all(all(layer) for layer in uniform) or not found.epsilon:
        return None
    try:
        seen = examine(found.hard, length)
        gaps = [gap for layer in seen.gaps for gap in layer if gap is not None]
        if seen.tie is not None or not gaps:
            return None
        tried = cold_enough(ErrorBudget(found.hard, length), uniform, WHOLE, found.epsilon)
    except (UnprovedError, UnsupportedError):
        return None
    norms = coldness_by_norms(found.hard, uniform, seen.magnitudes, min(gaps), length, found.epsilon)
    closed = None if found.slopes is None else 1 / float(_coldest(found.soft, length))
    return Budgets(length, closed, 1 / float(tried), None if norms is None else 1 / float(norms))


def _coldest(soft: Network, length: int) -> Fraction:
    forms = (
        h.weighting.inverse_temperature
        for layer in soft.layers
        for h in layer.heads
        if isinstance(h.weighting, Softmax)
    )
    return max(evaluate(form, length, length) for form in forms)


def show_softened(path: Path, model: str | None, columns: int) -> ShownFile:
    """What a softened network's certificate claims, and its size."""
    del model, columns
    (network, _), found = files.load(path), APPROXIMATION.load(path / CERTIFICATE)
    until = f"to {found.last:,} symbols" if found.last is not None else "symbols on"
    layers, heads = len(network.layers), sum(len(layer.heads) for layer in network.layers)
    lines = (
        "a softmax network that 'attemper soften' made of a hard one",
        f"alphabet {show_alphabet(network.alphabet).strip()}",
        f"{layers} layers, {heads} heads, {parameter_count(network)} parameters",
        f"claimed by certificate.json, to be checked with 'attemper check {path}':",
        f"  words of {found.first:,} {until}: the output is within {found.epsilon} of the hard network's",
    )
    record = {
        "kind": "softened network",
        "alphabet": list(network.alphabet.symbols),
        "layers": layers,
        "heads": heads,
        "parameters": parameter_count(network),
        "epsilon": str(found.epsilon),
        "first": found.first,
        "last": found.last,
    }
    return ShownFile(lines, record)


# As text -----------------------------------------------------------------------------------------------


def verdict_lines(verdict: Verdict) -> Iterator[str]:
    """Each claim with what it assumes."""
    for claim in verdict.claims:
        yield f"{claim.status}: {claim.text}"
        yield from (f"  if {assumption}" for assumption in claim.assumptions)


def number_parts(numbers: SofteningReport) -> Iterator[str | Table]:
    """How cold the heads are, and how cold they had to be."""
    if numbers.heads:
        yield _temperatures(numbers)
    if numbers.unruled:
        yield f"no rule covers {numbers.unruled}"
    if numbers.seen:
        n, gap, size = numbers.seen[-1]
        yield f"tried: all words of up to {n} symbols; at n = {n} the least gap is {gap or 'none'}"
        yield f"and the greatest number that a layer reads is {size}"
    if numbers.budgets is not None:
        yield from _budget_lines(numbers.budgets)


def _temperatures(numbers: SofteningReport) -> Table:
    lengths = [*numbers.heads[0].taus]
    shown = table("head", "gap", "", "1/tau", *(f"tau, n = {n:,}" for n in lengths), wraps=("1/tau",))
    for head in numbers.heads:
        taus = [_short(head.taus[n]) for n in lengths]
        shown.add_row(f"{head.layer}.{head.head}", head.gap, head.by, head.form, *taus)
        if head.given is not None:
            shown.add_row("", "", "", "as it was", *(_short(head.given[n]) for n in lengths))
    return shown


def _budget_lines(budgets: Budgets) -> Iterator[str]:
    yield f"tau at n = {budgets.n}, enough for all its words: {_short(budgets.tried)} word by word,"
    norms = "none" if budgets.norms is None else _short(budgets.norms)
    closed = "" if budgets.closed is None else f"{_short(budgets.closed)} by the closed form, "
    yield f"{closed}{norms} by the recursion of norms"
    if budgets.ratio is not None:
        yield f"so the closed form is {_short(budgets.ratio)} times colder than it had to be there"


def lemma_parts(tables: Sequence[LemmaTable]) -> Iterator[str | Table]:
    """Bounds by the lemmas of Theorem 26 beside ours and what is measured, layer by layer."""
    for found in tables:
        tau = "" if found.tau is None else f", tau = {found.tau}"
        yield f"temperatures {found.temperatures}: all words of {found.n} symbols{tau}"
        shown = table("", "", "Lemma", "published", "by norms", "proved", "measured")
        for row in found.rows:
            shown.add_row(
                row.place,
                row.what,
                row.lemma,
                row.published or "",
                row.own or "",
                row.proved or "",
                row.measured,
            )
        yield shown


def ways_table(found: Sequence[GapsOfWay]) -> Table:
    """The gap of each way at each length, and what it costs."""
    shown = table("gap", "what grows", *(f"n = {n:,}" for n in found[0].gaps))
    for own in found:
        shown.add_row(own.way, own.grows, *map(_short, own.gaps.values()))
    return shown


def ways_svg(found: Sequence[GapsOfWay]) -> str:
    """The gaps against n, on logarithmic axes."""
    lines = [Line(own.way, list(own.gaps.items())) for own in found]
    return plot_svg("PARITY: the gap between even and odd", "n positions", "gap", lines, standalone=True)


def _short(number: float) -> str:
    return f"{number:.3g}"
