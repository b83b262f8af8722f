"""What is compared: a network's folder, a formula, an expression, an automaton or a program, by name."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import final

from attemper.attention_program.ops import Program
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import Realisation
from attemper.checker.check import registered_by, registered_in
from attemper.errors import AlphabetError, MalformedFileError, OptionError, UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.files import read_utf8
from attemper.languages.definition import Definition
from attemper.languages.rasp.program import RaspProgram
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import read_dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import MOST_SHOWN, Alphabet, listed
from attemper.networks.layers import Network
from attemper.networks.wellformed import require_wellformed
from attemper.workbench.compiling import read_source
from attemper.workbench.folder import load
from attemper.workbench.model import Model
from attemper.workbench.programs import program_language, what_is_put_out

KINDS = ("formula", "formula@first", "formula@last", "regex", "dfa", "program")
"""What can stand before the first colon of a side; a name without any is a folder."""

REMEDY = "give a network's folder, formula:TEXT, regex:TEXT, dfa:FILE or program:FILE"


@final
@dataclass(frozen=True)
class Spoken:
    """A side that is a language by definition, over an alphabet."""

    text: str
    alphabet: Alphabet
    language: Definition


@final
@dataclass(frozen=True)
class Weighed:
    """A side that is a network; `claimed` and `said` are the language that it is said to compute, and how.

    Nothing rests on either: what is said of a network is proved from its weights, or not used.
    """

    text: str
    network: Network
    claimed: Definition | None = None
    said: Realisation | None = None

    @property
    def alphabet(self) -> Alphabet:
        """The symbols that the network reads."""
        return self.network.alphabet


ComparedSide = Spoken | Weighed


def assumed_of(side: ComparedSide) -> set[str]:
    """The predicates that a user registered, and that a side uses or is said to use."""
    match side:
        case Spoken(_, _, language):
            return registered_by(language)
        case Weighed(_, network, claimed):
            return registered_in(network) | (set() if claimed is None else registered_by(claimed))


Comparable = str | Path | Model | Network | Dfa | Program | RaspProgram


@final
@dataclass(frozen=True)
class Reading:
    """How formulas, and the steps of a program, are read: where, and what they say of the empty word."""

    at: str | None = None
    empty: str = "reject"


def sides_of(
    left: Comparable, right: Comparable, alphabet: Alphabet | None, reading: Reading
) -> tuple[ComparedSide, ComparedSide, Alphabet]:
    """Both sides, and the alphabet of the words that they are compared on.

    A formula and an expression are over `alphabet`, or without it over that of the other side. Without it
    both sides have the same symbols, in any order; with it each has all of these, and perhaps others.

    Raises `OptionError` (a side that is nothing, no alphabet), `AlphabetError` (different alphabets, which it
    names), `UnsupportedError` (no language: symbols or numbers are put out), `MalformedFileError`, and what
    reading a text raises.
    """
    own = [_with_own_alphabet(one, name, reading) for one, name in ((left, "A"), (right, "B"))]
    known = [side for side in own if side is not None]
    common = alphabet or next((side.alphabet for side in known), None)
    if common is None:
        raise OptionError("no side has an alphabet of its own: give one, for example --alphabet ab")
    for side in known:
        _require_symbols(side, common, exactly=alphabet is None)
    first, second = (
        _written(str(one), common, reading) if side is None else side
        for one, side in zip((left, right), own, strict=True)
    )
    return first, second, common


def _require_symbols(side: ComparedSide, common: Alphabet, *, exactly: bool) -> None:
    """Raise `AlphabetError` unless the side has these symbols."""
    has, wanted = set(side.alphabet.symbols), set(common.symbols)
    if has == wanted or (not exactly and wanted < has):
        return
    shown, other = (listed(one.symbols, "symbols") for one in (side.alphabet, common))
    if exactly:
        raise AlphabetError(
            f"the sides have different alphabets, {{{other}}} and {{{shown}}}: name the symbols that both "
            "have with --alphabet, and words over these are compared"
        )
    missing = next(symbol for symbol in common.symbols if symbol not in has)
    raise AlphabetError(
        f"'{missing}' of --alphabet {{{other}}} is no symbol of {side.text}, which has {{{shown}}}"
    )


def _with_own_alphabet(given: Comparable, name: str, reading: Reading) -> ComparedSide | None:
    """The side; None for a formula or an expression, which are read over an alphabet that is given."""
    match given:
        case str():
            return _of_text(given, name, reading)
        case Path():
            return _of_folder(given)
        case Model():
            return _of_network(name, given.network, given)
        case Network():
            return _of_network(name, given, None)
        case Dfa():
            return Spoken(name, given.alphabet, given)
        case Program() | RaspProgram():
            return _of_program(name, given, reading)
        case _:
            raise OptionError(f"side {name} is of the type {type(given).__name__}: {REMEDY}")


def _of_text(text: str, name: str, reading: Reading) -> ComparedSide | None:
    kind, colon, rest = text.partition(":")
    if not text.strip() or (colon and kind in KINDS and not rest.strip()):
        raise OptionError(f"side {name} is nothing: {REMEDY}")
    if colon and kind in FORMATS:
        raise OptionError(
            f"'{text}': a network in {kind} is right up to a horizon at most, and says nothing of longer "
            f"words, so that it is no language to be compared: compare '{rest}', the network in real "
            "arithmetic, and see its certificate for the horizons"
        )
    if not colon or kind not in KINDS:
        return _of_folder(Path(text))
    match kind:
        case "dfa":
            dfa = read_dfa(rest)
            return Spoken(text, dfa.alphabet, dfa)
        case "program":
            return _of_program(text, _program_in(Path(rest)), reading)
        case _:
            return None


def _of_folder(folder: Path) -> ComparedSide:
    if not folder.exists():
        raise MalformedFileError(f"there is no folder '{folder}': {REMEDY}")
    model = load(folder)
    return _of_network(str(folder), model.network, model)


def _of_network(text: str, network: Network, model: Model | None) -> ComparedSide:
    if network.symbols or network.measure is not None:
        raise UnsupportedError(f"{text} puts out symbols or numbers at every position: it has no language")
    require_wellformed(network)
    return (
        Weighed(text, network) if model is None else Weighed(text, network, model.language, model.realisation)
    )


def _program_in(file: Path) -> Program | str:
    text = read_utf8(file, "give the file of an attention program")
    return text if file.suffix == ".rasp" else parse_program(text)


def _of_program(text: str, program: Program | RaspProgram | str, reading: Reading) -> ComparedSide:
    """Steps are read as the options say; a text says itself how."""
    steps = isinstance(program, Program)
    puts_out = what_is_put_out(program) if isinstance(program, Program) else ""
    if not puts_out:
        language = program_language(program, reading.at if steps else None, reading.empty if steps else None)
        puts_out = what_is_put_out(language.program)
    if puts_out:
        raise UnsupportedError(f"{text} puts out {puts_out} at every position: it has no language")
    return Spoken(text, language.program.alphabet, language)


def _written(text: str, alphabet: Alphabet, reading: Reading) -> ComparedSide:
    """A formula or an expression over an alphabet."""
    kind, _, rest = text.partition(":")
    shown = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
    if kind == "regex":
        return Spoken(shown, alphabet, parse_regex(rest, alphabet))
    _, _, at = kind.partition("@")
    language, _ = read_source(rest, alphabet, at or reading.at, reading.empty)
    return Spoken(shown, alphabet, language)
