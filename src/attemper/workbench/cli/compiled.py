"""What `attemper compile` made and wrote, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import final

from attemper.certificates.claims import Certificate, RealClaim
from attemper.certifying import choosing
from attemper.checker.verdict import Status
from attemper.compiling.decomposing.alternatives import Alternative
from attemper.errors import ExitCode
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.workbench.cli.certifying import horizons_of
from attemper.workbench.model import Model
from attemper.workbench.report.languages import lines_on, record_of_language
from attemper.workbench.report.passes import PassReport, pass_reports
from attemper.workbench.report.summary import summary_of

LONGEST_SHOWN, MOST_SHOWN = 200, 40
"""A longer text is shown by so many characters of its beginning, and half as many of its end."""


@final
@dataclass(frozen=True)
class Compilation(Tabled):
    """What was compiled and written, and what is to be said of it."""

    output: Path
    chosen: choosing.Chosen
    model: Model
    certificate: Certificate | None
    missing: str
    """Why there is no certificate."""
    replaced: bool
    notes: tuple[str, ...]
    explained: bool
    """Whether each pass is told."""

    @property
    def status(self) -> Status:
        """Whether the network is certified."""
        return Status.UNKNOWN if self.certificate is None else Status.PROVED

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return ExitCode.UNKNOWN if self.certificate is None else ExitCode.OK

    def __str__(self) -> str:
        return "\n".join(map(escaped, self._lines()))

    def _lines(self) -> Iterator[str]:
        compiled, summary = self.chosen.compiled, summary_of(self.model)
        for one in pass_reports(compiled.stages) if self.explained else ():
            yield from _lines_of_pass(one)
        instead = ", in place of the network that was there" if self.replaced else ""
        yield f"compiled {shortened(self.model.title)} ({summary.regime}) to {self.output}{instead}"
        yield from lines_on(self.model.language)
        yield f"{summary.layers} layers, {summary.heads} heads, {summary.parameters} parameters"
        if compiled.alternatives:
            yield alternatives_text(compiled.alternatives)
        if self.certificate is None:
            yield f"NOT certified, it may be wrong: {shortened(self.missing)}"
        else:
            yield f"certified for {_reach(self.certificate)}; 'attemper show' prints the float horizons"
        yield from (f"note: {note}" for note in self.notes)

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        compiled = self.chosen.compiled
        record: dict[str, object] = {
            **record_of_language(self.model.language),
            "directory": str(self.output),
            **summary_of(self.model).as_record(),
        }
        if compiled.alternatives:
            record["alternatives"] = [asdict(one) for one in compiled.alternatives]
        if self.explained:
            record["passes"] = [one.as_record() for one in pass_reports(compiled.stages)]
        if self.certificate is None:
            record["not_certified"] = self.missing
        else:
            record["horizons"] = horizons_of(self.certificate)
        return {**record, "replaced": self.replaced, "notes": list(self.notes)}


def _reach(certificate: Certificate) -> str:
    """The lengths of which the certificate says something in real arithmetic."""
    horizon = next(claim.horizon for claim in certificate.claims if isinstance(claim, RealClaim))
    reach = "all lengths" if horizon is None else f"words of up to {horizon:,} symbols"
    return f"{reach} in real arithmetic"


def alternatives_text(alternatives: Sequence[Alternative]) -> str:
    """The way in which a cascade was built, and the layers of attention of the others that were tried."""
    best = choosing.way_taken(alternatives)
    kinds: dict[str, int] = {}
    for one in alternatives:
        if one.sublayers is not None and one is not best:
            kind = "last letters" if one.name.startswith("last") else one.name
            kinds[kind] = min(one.sublayers, kinds.get(kind, one.sublayers))
    others = ", ".join(f"{kind} {sublayers}" for kind, sublayers in kinds.items())
    text = f"attention in {best.sublayers} layers, the way '{best.name}'"
    return f"{text} (other ways: {others})" if others else text


def shortened(text: str) -> str:
    """The text on one line of the terminal: the middle of a long one is left out.

    >>> shortened("a & " * 100)
    'a & a & a & a & a & a & a & a & a & a & ...a & a & a & a & a &  (400 characters)'
    """
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:MOST_SHOWN]}...{text[-MOST_SHOWN // 2 :]} ({len(text):,} characters)"


def _lines_of_pass(report: PassReport) -> Iterator[str]:
    options = ", ".join(f"{name} {value}" for name, value in report.options.items())
    size = ", ".join(f"{number} {what.replace('_', ' ')}" for what, number in report.size.items())
    end = ", unchanged" if report.unchanged else ""
    yield f"pass {report.name}{f' ({options})' if options else ''}: {size}{end}"
    if not report.unchanged:
        yield from (f"  {line}" for line in report.lines)
