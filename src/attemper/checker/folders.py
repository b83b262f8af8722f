"""What `attemper check` does: a network's folder, or another file that has a judge, read and checked.

Which judge that is, the registry says: nothing that it needs is imported for a network.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import assert_never

from attemper.attention_program.language import ProgramLanguage
from attemper.certificates.claims import SourceMeaning
from attemper.certificates.files import format_of
from attemper.certificates.files import load as load_certificate
from attemper.checker.check import check
from attemper.checker.verdict import About, Judge, Subject, Verdict, malformed
from attemper.errors import AutomatonError, MalformedFileError, OptionError, SourceError, UnsupportedError
from attemper.files import CERTIFICATE, read_bytes
from attemper.languages.machines.reading import MachineLanguage
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.reading import TemporalLanguage
from attemper.languages.temporal.show import show_within
from attemper.languages.words import Alphabet
from attemper.networks import files
from attemper.networks.layers import Network
from attemper.networks.structure import Provenance
from attemper.registry import FORMATS

CHECKED = (
    "give the folder of a network, or the file of a refutation (refute -o), of a bound (bound -o), "
    "of a depth (depth -o), of causal variables (causal -o), of another "
    "basis (bench), or of a judgement (judge -o)"
)
"""What there is to check."""

ENDS = {False: "last", True: "first"}
"""Where a network's source says that it is read."""


def check_path(
    path: Path,
    *,
    model: str | None = None,
    against: str | None = None,
    ignore_rounding: bool = False,
    edited: bool = False,
    explain: bool = False,
) -> Verdict:
    """The verdict on a network's folder, or on a file: a refutation, bound, depth, causal variables, basis.

    `model` (a folder or MODULE:OBJECT) is what a refutation or a bound is about; without it, the network in
    the folder that the refutation names. `against` is the file of a certificate, by which a network is judged
    in place of the folder's own.
    Raises `MalformedFileError` where nothing is at the path, `OptionError` and `UnsupportedError` where there
    is no such model, but nothing because of what another file says: that is MALFORMED.
    """
    if path.is_dir():
        other = None if against is None else Path(against)
        return check_folder(path, other, ignore_rounding=ignore_rounding, edited=edited, explain=explain)
    if path.exists() and (edited or explain or against is not None):
        raise OptionError(
            "'edited', 'against' and 'explain' are about networks, not about a refutation or another file",
            options=("edited", "against", "explain"),
        )
    return check_file(path, model)


def check_file(path: Path, model: str | None = None) -> Verdict:
    """The verdict on a file that is checked by itself: of a refutation, of a bound, of a depth."""
    if not path.exists():
        raise MalformedFileError(f"there is no '{path}': {CHECKED}")
    judged = judge_of(path)
    if judged is not None:
        return judged(path, model)
    error = MalformedFileError(f"'{path}' is of no kind that is checked: {CHECKED}")
    try:
        read_bytes(path, "")
    except MalformedFileError as unread:
        error = unread
    return malformed(error, Subject(About.MODEL, model or ""))


def judge_of(path: Path) -> Judge | None:
    """Who judges a file, by the format that it says it has; None where nobody does."""
    form = format_of(path)
    for row in FORMATS:
        if form.startswith(row.prefix):
            module, _, name = row.judge.partition(":")
            found: Judge = getattr(import_module(module), name)
            return found
    return None


def check_folder(
    folder: Path,
    against: Path | None = None,
    *,
    ignore_rounding: bool = False,
    edited: bool = False,
    explain: bool = False,
) -> Verdict:
    """The verdict on the certificate in a network's folder, or on another one `against` which it is judged.

    With `edited` the weights may have been changed since the certificate was made: they are judged against
    its language and claims. Another certificate may be about another language than the network's source.
    """
    judged = judge_of(folder / CERTIFICATE)
    if judged is not None:
        if edited or explain or ignore_rounding or against is not None:
            raise OptionError(
                "'edited', 'against', 'explain' and 'ignore_rounding' are about networks that compute a "
                f"language, not about a softened one, as in '{folder}'",
                options=("edited", "against", "explain", "ignore_rounding"),
            )
        return judged(folder, None)
    try:
        if edited:
            from attemper.checker.edited import check_edited  # no other check needs it

            return check_edited(folder, against, ignore_rounding=ignore_rounding, explained=explain)
        network, source = files.load(folder)
        digest = files.digest_of(network, source)
        certificate = load_certificate(folder, against)
        if against is None:
            _require_one_language(source, network, certificate.language)
    except MalformedFileError as error:
        return malformed(error, Subject(About.NETWORK, str(folder)))
    place = str(folder)
    return check(
        network, digest, certificate, ignore_rounding=ignore_rounding, explained=explain, place=place
    )


# The source, which is a remark ---------------------------------------------------------------------


def _require_one_language(source: Provenance, network: Network, language: SourceMeaning) -> None:
    """Raises `MalformedFileError` if the folder says of itself that it is for another language.

    Nothing is proved by this: it only keeps a folder from looking like what it is not.
    """
    try:
        is_one = (
            (language.reads_first, language.accepts_empty) == (network.reads_first, network.accepts_empty)
            and source.at == ENDS[network.reads_first]
            and _says(source, network.alphabet, language)
        )
    except (SourceError, AutomatonError, UnsupportedError) as error:
        raise MalformedFileError(
            f"the network's source cannot be read: {str(error).splitlines()[0]}"
        ) from None
    if not is_one:
        raise MalformedFileError("the certificate is about another language than this network's source")


def _says(source: Provenance, alphabet: Alphabet, language: SourceMeaning) -> bool:
    """Whether a source's text is the language's, as saved networks have it: a formula's canonical text."""
    match language:
        case TemporalLanguage(formula, _, _):
            return source.kind == "formula" and show_within(formula, len(source.text)) == source.text
        case Dfa():
            return source.kind in {"regex", "automaton"} and _automaton(source, alphabet) == language
        case ProgramLanguage(program):
            from attemper.attention_program.show import show_program  # no other language needs it

            return source.kind == "program" and show_program(program) == source.text
        case MachineLanguage(machine):
            from attemper.languages.machines.show import show_machine

            return source.kind == "machine" and show_machine(machine) == source.text
        case _:
            assert_never(language)


def _automaton(source: Provenance, alphabet: Alphabet) -> Dfa:
    if source.kind == "regex":
        from attemper.languages.regular.regex import parse_regex

        return parse_regex(source.text, alphabet)
    from attemper.languages.regular.files import dfa_from_json

    return dfa_from_json(source.text)
