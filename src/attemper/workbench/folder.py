"""From a folder to a model: its source is read by what that kind alone needs, its certificate on demand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from attemper.errors import AutomatonError, MalformedFileError, SourceError, UnsupportedError
from attemper.files import CERTIFICATE, read_bytes
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.networks.files import load as load_network
from attemper.networks.layers import Network
from attemper.networks.regime import Regime
from attemper.networks.structure import HARD, Provenance
from attemper.workbench.language import Language
from attemper.workbench.model import TEXT, Model

if TYPE_CHECKING:
    from attemper.certificates.claims import SourceMeaning


def load(folder: str | Path) -> Model:
    """Read a model back from the folder that `Model.save` or `attemper compile` wrote.

    The weights are those of the file, bit for bit. Raises `MalformedFileError` if a file is missing, damaged
    or of another shape, and `UnsupportedError` for a softened network, which has no language.

    >>> import attemper
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     attemper.compile("O a", "ab").save(folder)
    ...     load(folder)
    <Model O a: unbounded, 1 layers, 1 heads, 112 parameters>
    """
    network, source = load_network(Path(folder))
    if source.kind == HARD:
        raise UnsupportedError(
            f"'{folder}' holds a network that 'attemper soften' made of a hard one: it has no language that "
            "its answers could be compared with; 'attemper check' judges it, and in Python "
            "attemper.load_softened(folder) runs it"
        )
    try:
        language = _language_of(source, network)
        regime = Regime(source.regime)
    except (SourceError, AutomatonError, UnsupportedError, ValueError) as error:
        reason = str(error).partition("\n")[0]
        raise MalformedFileError(f"the source in '{folder}' cannot be read: {reason}") from None
    if network.reads_first != language.reads_first:
        raise MalformedFileError(f"'{folder}' says both that it is read first and last")
    if network.accepts_empty != language.accepts_empty:
        raise MalformedFileError(f"'{folder}' says both that the empty word is accepted and rejected")
    return Model(
        network,
        Language(language, network.alphabet, written=_written(source, folder)),
        regime,
        _beside(folder, CERTIFICATE),
    )


def _written(source: Provenance, folder: str | Path) -> str:
    """The text of an expression or a program."""
    match source.kind:
        case "regex":
            return source.text
        case "program":
            return _beside(folder, TEXT).decode("utf-8", errors="replace")
        case _:
            return ""


def _beside(folder: str | Path, name: str) -> bytes:
    """A file that stands beside a network; nothing if there is none that can be read."""
    try:
        return read_bytes(Path(folder, name), "")
    except MalformedFileError:
        return b""


def _language_of(source: Provenance, network: Network) -> SourceMeaning:
    """What a saved network was compiled from. Raises what reading that text raises."""
    match source.kind:
        case "formula":
            from attemper.languages.temporal.parse import parse

            formula = parse(source.text, network.alphabet)
            return TemporalLanguage(formula, At(source.at), network.accepts_empty)
        case "program":
            from attemper.attention_program.language import ProgramLanguage
            from attemper.attention_program.parse import parse_program

            return ProgramLanguage(parse_program(source.text), At(source.at), network.accepts_empty)
        case "machine":
            from attemper.languages.machines.parse import parse_machine
            from attemper.languages.machines.reading import MachineLanguage

            return MachineLanguage(parse_machine(source.text))
        case _ if At(source.at) is not At.LAST:
            raise ValueError("an automaton is read at the last position")
        case "regex":
            from attemper.languages.regular.regex import parse_regex

            return parse_regex(source.text, network.alphabet)
        case _:
            from attemper.languages.regular.files import dfa_from_json

            return dfa_from_json(source.text)
