"""attemper compile"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.claims import Certificate, FloatClaim
from attemper.certificates.files import discard as discard_certificate
from attemper.certificates.files import save as save_certificate
from attemper.certifying import choosing
from attemper.certifying.certificate import ARITHMETICS, certificate_of
from attemper.certifying.choosing import choose
from attemper.checker.rounding.arithmetic import Kernel
from attemper.compiling.decomposing.limits import CapError, CascadeCaps
from attemper.compiling.literal.single_heads import Heads
from attemper.exact.formats import FLOAT32, FORMATS
from attemper.languages.definition import Definition
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.vacuous import holds_of_the_empty_word
from attemper.networks.files import STRUCTURE
from attemper.networks.regime import Regime
from attemper.workbench.cli import normalising
from attemper.workbench.cli.compiled import Compilation
from attemper.workbench.cli.console import print_found
from attemper.workbench.cli.options import (
    AlphabetOption,
    AtOption,
    ConstructionOption,
    DTypeOption,
    EmptyOption,
    Force,
    Json,
    LanguageArgument,
    LimitOption,
)
from attemper.workbench.cli.places import require_network_place
from attemper.workbench.cli.progress import activity, counting
from attemper.workbench.cli.time_limit import SecondsOption, TimeUp, limited
from attemper.workbench.cli.written import written_language
from attemper.workbench.compiling import as_read, first_made, model_of
from attemper.workbench.language import Language
from attemper.workbench.limits import parse_limits
from attemper.workbench.model import Model
from attemper.workbench.options import literal_of, regimes_for
from attemper.workbench.programs import names_of
from attemper.workbench.spelling import Kind
from attemper.workbench.trivial import notes_on_words

SECONDS = 600
"""How long compiling, and looking for horizons, may take."""

FAR = 100_000
"""A float32 horizon beyond this is as good as any: below, a network that goes further is pointed at."""

ON_LAST_SYMBOLS = (
    "whether a word is accepted depends on its last symbols only, and the automaton is large: the language "
    "is written, and claimed, as this formula, and not as the expression"
)


@limited
def compile_command(
    language: LanguageArgument,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="DIR", help="The folder to write.")],
    alphabet: AlphabetOption = None,
    at: AtOption = None,
    regime: Annotated[
        Regime | None,
        typer.Option(
            help="Unbounded position embeddings, temperatures, or decoder-only "
            "(default: unbounded, with --layer-norm temperature, or with --horizon whichever reaches it)."
        ),
    ] = None,
    empty: EmptyOption = None,
    horizon: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Be proved right for all words up to this length in --dtype."),
    ] = None,
    dtype: Annotated[DTypeOption, typer.Option(help="The float format for --horizon.")] = DTypeOption.FLOAT64,
    kernel: Annotated[
        Kernel, typer.Option(help="The class of attention kernels for --horizon.")
    ] = Kernel.NUMERATOR_FIRST,
    limit: LimitOption = None,
    layer_norm: normalising.LayerNormOption = False,
    rms_norm: normalising.RmsNormOption = False,
    unit: normalising.LambdaOption = None,
    eps: normalising.EpsOption = None,
    padding: normalising.PaddingOption = None,
    construction: Annotated[
        ConstructionOption,
        typer.Option(help="Our network, or the one that the papers' proofs build (docs/papers.md)."),
    ] = ConstructionOption.OURS,
    heads: Annotated[
        Heads | None,
        typer.Option(help="With --construction paper: how many heads a layer has (default: one)."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Show what each pass of the compiler makes: its text and its size."),
    ] = False,
    seconds: SecondsOption = SECONDS,
    force: Force = False,
    json: Json = False,
) -> int:
    """Compile a language into a softmax transformer, with a certificate.

    Beyond --seconds nothing is written; if only the certificate is late, the network without it.

    Exit codes: 0 written and certified, 12 written, but there is no proof that the network is right.
    """
    del seconds
    require_network_place(output, force=force)
    normalised = normalising.layer_norm_of(layer_norm, rms_norm, unit, eps, padding)
    limits = parse_limits(limit)
    spoken = written_language(language, alphabet, at, empty)
    goal = None if horizon is None else choosing.Goal(FORMATS[dtype.value], kernel, horizon)
    regimes = regimes_for(regime, goal, normalised)
    literal = literal_of(construction.value, heads, normalised)
    with activity("compiling") as report:

        def chosen(source: Language, caps: CascadeCaps) -> tuple[Language, choosing.Chosen]:
            try:
                source, names = as_read(source, caps, literal), names_of(source)
                given = source.definition, source.alphabet, regimes, goal, caps
                found = choose(*given, names, normalised, literal)
            except CapError as refusal:
                from attemper.workbench.refused import remedied

                assert isinstance(source.definition, Dfa), "nothing else has a cascade"
                report("refused; looking for a formula, and for all caps that it meets")
                raise remedied(refusal, source.definition, caps) from None
            return source, found

        source, found = first_made(spoken, limits, chosen, every=goal is not None)
    model = model_of(found.compiled, source, found.candidate.regime)
    notes = [*_notes_on_the_language(spoken, is_empty_said=empty is not None)]
    certificate, missing = _certificate(found, model)
    if certificate is not None and goal is None:
        notes += _notes_on_the_horizon(source.definition, found, certificate)
    replaced = (output / STRUCTURE).exists()
    model.save(output)
    discard_certificate(output)
    if certificate is not None:
        save_certificate(certificate, output)
    made = Compilation(output, found, model, certificate, missing, replaced, tuple(notes), explain)
    print_found(made, json=json)
    return made.exit_code


def _certificate(chosen: choosing.Chosen, model: Model) -> tuple[Certificate | None, str]:
    """The certificate, or why there is none."""
    if chosen.analysis is None:
        return None, chosen.reason
    meant, said = model.language.definition, chosen.compiled.realisation
    try:
        with counting("looking for horizons", len(ARITHMETICS)) as progress:
            return certificate_of(chosen.analysis, model.digest, meant, said, progress), ""
    except TimeUp:
        return None, "the time was up; 'attemper certify' goes on"


def _notes_on_the_language(spoken: Language, *, is_empty_said: bool) -> Iterator[str]:
    """What is to be known of a language beside its network."""
    if spoken.spelling is not None and spoken.spelling.kind is Kind.REGEX and not spoken.written:
        yield ON_LAST_SYMBOLS
        return
    yield from notes_on_words(spoken)
    match spoken.definition:
        case TemporalLanguage(formula, _, False) if not is_empty_said and holds_of_the_empty_word(formula):
            yield "the empty word is rejected, though the formula holds there; --empty accept accepts it"
        case _:
            pass


def _notes_on_the_horizon(
    language: Definition, chosen: choosing.Chosen, certificate: Certificate
) -> Iterator[str]:
    """What is to be known where fewer layers or heads make a shorter horizon than more of them would."""
    in_float32 = (
        one for one in certificate.claims if isinstance(one, FloatClaim) and one.format == FLOAT32.name
    )
    short = next((one for one in in_float32 if one.horizon < FAR), None)
    if short is None:
        return
    proved = f"proved up to {short.horizon:,} in float32 with {short.kernel} kernels"
    kernel = "" if short.kernel == Kernel.NUMERATOR_FIRST else f" --kernel {short.kernel}"
    remedy = f"try --dtype float32{kernel} --horizon {FAR}"
    match language:
        case Dfa():
            layers = choosing.layers_without_counting(chosen)
            if layers is not None:
                other = f"{layers} layers of attention without counting may go further"
                yield f"this network counts, and is {proved}; {other}: {remedy}"
        case ProgramLanguage() if choosing.tells_cases_apart(chosen):
            yield f"a head tells cases apart, {proved}; a head for every case may go further: {remedy}"
        case _:
            pass
