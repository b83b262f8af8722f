"""attemper compile"""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from attemper.certificates.files import discard as discard_certificate
from attemper.certificates.files import save as save_certificate
from attemper.certifying.certificate import ARITHMETICS, certificate_of
from attemper.certifying.choosing import Target, choose
from attemper.checker.rounding.arithmetic import Kernel
from attemper.compiling.decomposing.limits import Limits, parse_caps
from attemper.compiling.regimes import Regime
from attemper.exact.formats import FORMATS
from attemper.languages.language import Language
from attemper.languages.temporal.reading import At
from attemper.workbench.cli.certifying import horizons_of
from attemper.workbench.cli.classifying import alternatives_text, automaton_of
from attemper.workbench.cli.console import out, print_json, progress_bar
from attemper.workbench.cli.options import AlphabetOption, DfaOption, DTypeOption, Json, RegexOption
from attemper.workbench.model import Model, read_source
from attemper.workbench.report.passes import PassReport, pass_reports
from attemper.workbench.report.summary import summary_of


class EmptyOption(StrEnum):
    """The verdict on the empty word."""

    ACCEPT = "accept"
    REJECT = "reject"


def compile_command(
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    formula: Annotated[
        str | None, typer.Argument(metavar="FORMULA", help="For example: H ('1' -> Y '0')")
    ] = None,
    regex: RegexOption = None,
    dfa: DfaOption = None,
    alphabet: AlphabetOption = None,
    at: Annotated[
        At | None, typer.Option(help="Where the verdict is read. Must be said for pure future formulas.")
    ] = None,
    regime: Annotated[
        Regime | None,
        typer.Option(
            help="Unbounded position embeddings, temperatures, or decoder-only "
            "(default: unbounded, or with --horizon whichever reaches it)."
        ),
    ] = None,
    empty: Annotated[
        EmptyOption | None, typer.Option(help="A formula's verdict on the empty word (default: reject).")
    ] = None,
    horizon: Annotated[
        int | None, typer.Option(min=1, help="Be proved right for all words up to this length in --dtype.")
    ] = None,
    dtype: Annotated[DTypeOption, typer.Option(help="The float format for --horizon.")] = DTypeOption.FLOAT64,
    kernel: Annotated[
        Kernel, typer.Option(help="The class of attention kernels for --horizon.")
    ] = Kernel.NUMERATOR_FIRST,
    cap: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="Another cap on an automaton's cascade, as a refusal names it; may be repeated.",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what each pass of the compiler makes: its text and its size."),
    ] = False,
    json: Json = False,
) -> None:
    """Compile a formula, regular expression or automaton into a softmax transformer, with its certificate."""
    language: Language
    if (formula, regex, dfa).count(None) != 2:
        raise typer.BadParameter("give one of FORMULA, --regex and --dfa")
    limits = _limits(cap or [], is_formula=formula is not None)
    if formula is None:
        if at is not None or empty is not None:
            raise typer.BadParameter("--at and --empty are for formulas: an automaton says both itself")
        language = automaton_of(regex, dfa, alphabet)
        letters = language.alphabet
    else:
        if alphabet is None:
            raise typer.BadParameter("a formula needs an --alphabet, for example --alphabet 01")
        language, letters = read_source(
            formula, alphabet, at.value if at else None, (empty or EmptyOption.REJECT).value
        )
    target = None if horizon is None else Target(FORMATS[dtype.value], kernel, horizon)
    wanted = tuple(Regime) if regime is None and target is not None else (regime or Regime.UNBOUNDED,)
    chosen = choose(language, letters, wanted, target, limits)
    model = Model.of(chosen.compiled, language, chosen.candidate.regime, regex or "")
    certificate = None
    if chosen.analysis is not None:
        with progress_bar("looking for horizons", len(ARITHMETICS), quiet=json) as progress:
            said = chosen.compiled.realisation
            certificate = certificate_of(chosen.analysis, model.digest, language, said, progress)
    model.save(output)
    discard_certificate(output)
    if certificate is not None:
        save_certificate(certificate, output)
    summary = summary_of(model)
    if json:
        proof = {"horizons": horizons_of(certificate)} if certificate else {"not_certified": chosen.reason}
        tried = {"alternatives": [asdict(one) for one in model.alternatives]} if model.alternatives else {}
        passes = {"passes": [one.as_record() for one in pass_reports(model.stages)]} if explain else {}
        print_json({"directory": str(output), **summary.as_record(), **tried, **passes, **proof})
        return
    if explain:
        for one in pass_reports(model.stages):
            _print_pass(one)
    out.print(f"compiled {model.title} ({summary.regime}) to {output}")
    out.print(f"{summary.layers} layers, {summary.heads} heads, {summary.parameters} parameters")
    if model.alternatives:
        out.print(alternatives_text(model.alternatives))
    if certificate is None:
        out.print(f"not certified: {chosen.reason}")
    else:
        out.print("certified for all lengths in real arithmetic; 'attemper show' prints the float horizons")


def _limits(caps: list[str], *, is_formula: bool) -> Limits:
    """The caps on an automaton's cascade."""
    if caps and is_formula:
        raise typer.BadParameter("--cap is for regular expressions and automata: a formula has no cascade")
    return Limits().with_caps(parse_caps(caps))


def _print_pass(report: PassReport) -> None:
    options = ", ".join(f"{name} {value}" for name, value in report.options.items())
    size = ", ".join(f"{number} {what.replace('_', ' ')}" for what, number in report.size.items())
    end = ", unchanged" if report.unchanged else ""
    out.print(f"pass {report.name}{f' ({options})' if options else ''}: {size}{end}")
    if not report.unchanged:
        for line in report.lines:
            out.print(f"  {line}")
