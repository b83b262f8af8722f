"""What is compared: two languages, or networks, whose language is found out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, final

from attemper.attention_program.realisation import Realisation
from attemper.checker.proof import registered_by, registered_in
from attemper.errors import AlphabetError, MalformedFileError, OptionError, UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.languages.definition import Definition
from attemper.languages.words import Alphabet, listed
from attemper.networks.layers import Network
from attemper.networks.wellformed import require_wellformed
from attemper.workbench import naming
from attemper.workbench.folder import load
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from attemper.workbench.spelling import Kind, Spelling, spelling_of

if TYPE_CHECKING:
    from attemper.workbench.naming import LanguageLike

    Comparable = LanguageLike | Network
    """What names a language; a network, a model or net:DIR is looked at as weights."""


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


ComparedSide = Language | Weighed


def assumed_of(side: ComparedSide) -> set[str]:
    """The predicates that a user registered, and that a side uses or is said to use."""
    match side:
        case Language(definition):
            return registered_by(definition)
        case Weighed(_, network, claimed):
            return registered_in(network) | (set() if claimed is None else registered_by(claimed))


@final
@dataclass(frozen=True)
class Sides:
    """Both sides, and the alphabet of the words that they are compared on."""

    left: ComparedSide
    right: ComparedSide
    alphabet: Alphabet
    is_alphabet_read: bool
    """Whether nobody said the alphabet, so that it is the symbols that the texts name."""


def sides_of(left: Comparable, right: Comparable, how: naming.HowRead) -> Sides:
    """Both sides, with one alphabet.

    A formula and an expression are over the alphabet that is given, or without it over that of the other
    side, or else over the symbols that both texts name. Without it both sides have the same symbols, in any
    order; with it each has all of these, and perhaps others.

    Raises `OptionError` (a side that is nothing, no alphabet), `AlphabetError` (different alphabets, which it
    names), `UnsupportedError` (no language: symbols or numbers are put out), `MalformedFileError`, and what
    reading a text raises.
    """
    own = [_with_own_alphabet(one, how) for one in (left, right)]
    known = [side for side in own if side is not None]
    texts = [_text(one) for one, side in zip((left, right), own, strict=True) if side is None]
    is_read = how.alphabet is None and not known
    common = how.alphabet or next((side.alphabet for side in known), None) or naming.alphabet_of(texts)
    for side in known:
        _require_symbols(side, common, exactly=how.alphabet is None)
    first, second = (
        naming.read(_text(one), naming.HowRead(common, how.at, how.empty, of_steps_alone=True))
        if side is None
        else side
        for one, side in zip((left, right), own, strict=True)
    )
    return Sides(first, second, common, is_read)


def _require_symbols(side: ComparedSide, common: Alphabet, *, exactly: bool) -> None:
    """Raise `AlphabetError` unless the side has these symbols."""
    has, wanted = set(side.alphabet.symbols), set(common.symbols)
    if has == wanted or (not exactly and wanted < has):
        return
    shown, other = (listed(one.symbols, "symbols") for one in (side.alphabet, common))
    if exactly:
        raise AlphabetError(
            f"the sides have different alphabets, {{{other}}} and {{{shown}}}: name the symbols that both "
            "have as alphabet, and words over these are compared",
            options=("alphabet",),
        )
    missing = next(symbol for symbol in common.symbols if symbol not in has)
    raise AlphabetError(
        f"'{missing}' of the alphabet {{{other}}} is no symbol of {named_side(side)}, which has {{{shown}}}"
    )


def named_side(side: ComparedSide) -> str:
    """How a side was spelled, or what it is."""
    return side.text if isinstance(side, Weighed) else str(side)


def _text(given: Comparable) -> Spelling:
    return spelling_of(str(given))


def _with_own_alphabet(given: Comparable, how: naming.HowRead) -> ComparedSide | None:
    """The side; None for the text of a formula or an expression, which is over an alphabet that is given."""
    match given:
        case Model():
            return _of_network("the model", given.network, given)
        case Network():
            return _of_network("the network", given, None)
        case str() | Path():
            spelling = naming.spelling_of_path(given) if isinstance(given, Path) else _spelled(given)
            if spelling.kind is Kind.NET:
                return _of_folder(Path(spelling.text))
            if spelling.kind in {Kind.FORMULA, Kind.REGEX}:
                return None
            found = naming.read(spelling, how.for_side(spelling.kind))
        case _:
            found = naming.language(given)
    if found.puts_out:
        raise UnsupportedError(f"{found} puts out {found.puts_out} at every position: it has no language")
    return found


def _spelled(text: str) -> Spelling:
    kind, colon, rest = text.partition(":")
    if colon and kind in FORMATS:
        raise OptionError(
            f"'{text}': a network in {kind} is right up to a horizon at most, and says nothing of longer "
            f"words, so that it is no language to be compared: compare '{rest}', the network in real "
            "arithmetic, and see its certificate for the horizons"
        )
    return spelling_of(text)


def _of_folder(folder: Path) -> ComparedSide:
    if not folder.exists():
        raise MalformedFileError(f"there is no folder '{folder}'")
    model = load(folder)
    return _of_network(f"net:{folder}", model.network, model)


def _of_network(text: str, network: Network, model: Model | None) -> ComparedSide:
    if network.symbols or network.measure is not None:
        raise UnsupportedError(f"{text} puts out symbols or numbers at every position: it has no language")
    require_wellformed(network)
    if model is None:
        return Weighed(text, network)
    return Weighed(text, network, model.language.definition, model.realisation)
