"""From whatever names a language to the language: one reader for command line, files and Python."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from attemper.errors import AttemperError, OptionError, SourceError, UnprovedError
from attemper.files import read_utf8
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, listed
from attemper.workbench.language import Language
from attemper.workbench.options import choice, require
from attemper.workbench.spelling import ENDINGS, KINDS, Kind, Spelling, spelling_of

if TYPE_CHECKING:
    from automata.fa.dfa import DFA

    from attemper.attention_program.ops import Program
    from attemper.languages.machines.syntax import CounterMachine
    from attemper.languages.rasp.program import RaspProgram
    from attemper.languages.regular.dfa import Dfa
    from attemper.networks.layers import Network
    from attemper.workbench.model import Model

    AlphabetLike = str | Sequence[str] | Alphabet
    AtName = Literal["first", "last"]
    EmptyName = Literal["accept", "reject"]
    LanguageLike = (
        str | Path | Language | Model | Dfa | Program | RaspProgram | CounterMachine | TemporalLanguage
    )
    """Whatever names a language."""


@final
@dataclass(frozen=True)
class HowRead:
    """What is said beside a text: `like` is the alphabet of what the language is put beside.

    Of what is put beside a network, `where` and `verdict` are the network's unless they are said.
    """

    alphabet: Alphabet | None = None
    at: str | None = None
    empty: str | None = None
    like: Alphabet | None = None
    network: Network | None = None
    of_steps_alone: bool = False
    """Whether `at` and `empty` were said of several languages, and are for those that do not say it."""

    @classmethod
    def given(
        cls,
        alphabet: AlphabetLike | None,
        at: str | None = None,
        empty: str | None = None,
        like: Alphabet | Network | None = None,
    ) -> HowRead:
        """As a user writes it. Raises `OptionError`, `AlphabetError`."""
        from attemper.languages.regular.regex import letters_of

        return cls(
            None if alphabet is None else letters_of(alphabet),
            None if at is None else choice("at", at, ("first", "last")),
            None if empty is None else choice("empty", empty, ("accept", "reject")),
            like if like is None or isinstance(like, Alphabet) else like.alphabet,
            None if like is None or isinstance(like, Alphabet) else like,
        )

    @property
    def where(self) -> At | None:
        """At which end a formula or a program's steps are read."""
        if self.at is not None:
            return At(self.at)
        if self.network is None:
            return None
        return At.FIRST if self.network.reads_first else At.LAST

    @property
    def verdict(self) -> str | None:
        """What a formula or a program's steps say of the empty word."""
        if self.empty is not None or self.network is None:
            return self.empty
        return "accept" if self.network.accepts_empty else "reject"

    def for_side(self, kind: Kind) -> HowRead:
        """The same for one of two languages: only those of the zoo may be given other symbols."""
        alphabet = self.alphabet if kind is Kind.ZOO else None
        return replace(self, alphabet=alphabet, of_steps_alone=True)


def language(
    given: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    like: Alphabet | Network | None = None,
) -> Language:
    """The language that a text, a file or an object names.

    * `given`: `formula:TEXT` (also `formula@first:`, `formula@last:`), `regex:TEXT`, `dfa:FILE`,
      `program:FILE`, `machine:FILE`, `tm:TEXT`, `zoo:NAME`, `net:DIR`; a bare text is a path if it has a
      slash or ends in `.json`, `.rasp` or `.machine`, and else a formula. Or a `Language`, an automaton, a
      program, a machine, or a `Model`, which is what it was compiled from. `net:DIR` is what the folder's
      weights compute, read back and proved.
    * `alphabet`: of a formula and an expression; without it `like`, the alphabet of what the language is put
      beside, and without that the symbols that the text names, if these are two or more and it means no
      others. Symbols of the zoo are replaced by these, in their order.
    * `at`, `empty`: where a formula, or a program's steps, are read (default: last), and what they say of the
      empty word (default: reject); `like` a network, as the network does. Everything else says both itself.

    Raises `OptionError` (another kind, an alphabet that is missing or superfluous), `AlphabetError`,
    `SourceError`, `AmbiguousReadingError` (a formula of the future only), `AutomatonError`, `MachineError`,
    `MalformedFileError`, `UnsupportedError`; of `net:DIR` `UnprovedError`.

    >>> language("regex:(ab)*"), language("O a", "ab"), language("zoo:parity", "ab")
    (<Language regex:(ab)* over a b>, <Language formula:O a over a b>, <Language zoo:parity over a b>)
    """
    how = HowRead.given(alphabet, at, empty, like)
    held = given if isinstance(given, Language) else getattr(given, "language", None)
    if isinstance(held, Language):
        _refuse(how, "what is a language already")
        return held
    if isinstance(given, str):
        return read(spelling_of(given), how)
    if isinstance(given, Path):
        return read(spelling_of_path(given), how)
    return _of_object(given, how)


def formula(
    text: str,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName = "reject",
) -> Language:
    """The words that a temporal or counting formula holds of; `docs/formulas.md` has the grammar.

    It is read at the last position, or `at` the first; `empty` is the verdict on the empty word, which has no
    position. The alphabet is that of `language`, whose errors are raised.

    >>> formula("H (a -> Y b)").accepts("ba")
    True
    """
    require("text", text, str, "give a formula, for example 'O a'")
    return read(Spelling(Kind.FORMULA, text), HowRead.given(alphabet, at, empty))


def regex(text: str, alphabet: AlphabetLike | None = None) -> Language:
    """The words of a regular expression; `docs/automata.md` has the syntax. Raises as `language` does.

    Of a large automaton whose verdict depends on a word's last symbols only, the definition is a formula.

    >>> regex("a*b").accepts("aab"), regex("a.*", "abc").alphabet.symbols
    (True, ('a', 'b', 'c'))
    """
    require("text", text, str, "give an expression, for example 'a*b'")
    return read(Spelling(Kind.REGEX, text), HowRead.given(alphabet))


def dfa(given: str | Path | Dfa | DFA) -> Language:
    """The words of a deterministic automaton: a JSON file, a `Dfa`, or one of automata-lib's.

    Raises `MalformedFileError` and `AutomatonError`.

    >>> from attemper import Dfa
    >>> from attemper.languages.words import Alphabet
    >>> dfa(Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))).accepts("0110")
    True
    """
    if isinstance(given, str | Path):
        return read(Spelling(Kind.DFA, str(given)), HowRead())
    return _of_object(given, HowRead())


def program(
    given: str | Path | Program | RaspProgram, *, at: AtName | None = None, empty: EmptyName | None = None
) -> Language:
    r"""The words that an attention program accepts, or what it puts out; `docs/programs.md` has the texts.

    `given` is a text, the path of a file, or a program's steps, of which `at` and `empty` say how they are
    read. A text of one line is the name of a file. Raises as `language` does.

    >>> program("alphabet a b\nempty reject\noutput previous(2) in 'a'").accepts("abb")
    True
    """
    how = HowRead.given(None, at, empty)
    if isinstance(given, Path) or (isinstance(given, str) and "\n" not in given.strip()):
        return read(Spelling(Kind.PROGRAM, str(given)), how)
    if isinstance(given, str):
        return _of_program_text(given, None, how)
    return _of_object(given, how)


def machine(given: str | Path | CounterMachine) -> Language:
    r"""What a counter machine writes next, after every word of its tokens; `docs/machines.md` has the texts.

    `given` is a text, the path of a file, or the machine itself; a text without a line break or `;` is the
    name of a file. Raises `SourceError` and `MachineError`.

    >>> machine("input x n; take: sub n -> take else halt").definition.next_tokens(("x", "start", "take-"))
    ('take-', 'take-', 'take0')
    """
    if isinstance(given, str) and re.search(r"[;\n]", given):
        return _of_machine_text(given)
    if isinstance(given, str | Path):
        return read(Spelling(Kind.MACHINE, str(given)), HowRead())
    return _of_object(given, HowRead())


# What is said beside it -----------------------------------------------------------------------------------


def _refuse(how: HowRead, what: str, *, alphabet: bool = True, reading: bool = True) -> None:
    """Raise `OptionError` for what the language says itself."""
    if alphabet and how.alphabet is not None:
        raise OptionError(f"alphabet: {what} has its own: leave it out", options=("alphabet",))
    said = [name for name, value in (("at", how.at), ("empty", how.empty)) if value is not None]
    if reading and said and not how.of_steps_alone:
        raise OptionError(f"{said[0]}: {what} says this itself: leave it out", options=tuple(said))


# By kind --------------------------------------------------------------------------------------------------


def read(spelling: Spelling, how: HowRead) -> Language:
    """The language that is spelled; raises what `language` raises."""
    if spelling.at is not None and how.at not in {None, spelling.at} and not how.of_steps_alone:
        raise OptionError(f"{spelling.kind}@{spelling.at}: and at='{how.at}' differ", options=("at",))
    how = replace(how, at=spelling.at or how.at)
    try:
        return replace(_READERS[spelling.kind](spelling, how), spelling=replace(spelling, at=how.at))
    except (SourceError, OptionError) as error:
        if not spelling.is_bare or spelling.kind is not Kind.FORMULA:
            raise
        raise _with_a_hint(error, spelling.text) from None


def _with_a_hint(error: AttemperError, text: str) -> AttemperError:
    """The error, and what else has this name: a bare one is never a file's or folder's, nor the zoo's."""
    found = [hint for hint in (_hint_of_paths(text), _hint_of_zoo(text)) if hint]
    if not found:
        return error
    hint = "; ".join(found)
    if isinstance(error, SourceError):
        return SourceError(
            f"{error.message}; {hint}",
            text=error.text,
            line=error.line,
            column=error.column,
            expected=error.expected,
        )
    return OptionError(f"{error}; {hint}", **error.details)


def _hint_of_paths(text: str) -> str:
    try:
        path = Path(text)
        what = "folder" if path.is_dir() else "file" if path.exists() else ""
    except (OSError, ValueError):  # no name of a file
        what = ""
    written = f"{text}/" if what == "folder" else f"./{text}"
    return f"a {what} '{text}' is here: write {written}" if what else ""


def _hint_of_zoo(text: str) -> str:
    from attemper.languages.named.zoo import named

    try:
        named(text)
    except OptionError:
        return ""
    return f"the zoo has a language of this name: write zoo:{text}"


def _of_formula(spelling: Spelling, how: HowRead) -> Language:
    from attemper.languages.temporal.parse import parse
    from attemper.languages.temporal.sides import read_language

    letters = how.alphabet or how.like or alphabet_of([spelling])
    meant = read_language(parse(spelling.text, letters), how.where, how.verdict == "accept")
    return Language(meant, letters, is_alphabet_read=how.alphabet is None and how.like is None)


def _of_regex(spelling: Spelling, how: HowRead) -> Language:
    from attemper.languages.regular.regex import parse_regex
    from attemper.languages.temporal.definite import definite_to_formula

    _refuse(how, "an expression", alphabet=False)
    letters = how.alphabet or how.like or alphabet_of([spelling])
    is_read = how.alphabet is None and how.like is None
    definite = definite_to_formula(spelling.text, letters)
    if definite is not None:
        meant = TemporalLanguage(definite.formula, At.LAST, definite.accepts_empty)
        return Language(meant, letters, is_alphabet_read=is_read)
    automaton = parse_regex(spelling.text, letters)
    return Language(automaton, letters, written=spelling.text, is_alphabet_read=is_read)


def alphabet_of(spellings: Sequence[Spelling]) -> Alphabet:
    """The symbols that formulas and expressions name. Raises `OptionError` unless they surely mean no others.

    >>> alphabet_of([spelling_of("O a"), spelling_of("regex:(cb)*")]).symbols
    ('a', 'b', 'c')
    """
    found: set[str] = set()
    for spelling in spellings:
        named = _symbols_named(spelling)
        if named is None:
            raise OptionError(
                f"{spelling} may mean symbols that it does not name: say which there are, for example "
                "alphabet='ab'",
                options=("alphabet",),
            )
        found |= named
    if len(found) < 2:
        texts = " and ".join(map(str, spellings))
        names = f"the symbol {min(found)} only" if found else "no symbol"
        raise OptionError(
            f"{texts} names {names}: say which there are, for example alphabet='ab'", options=("alphabet",)
        )
    return Alphabet(tuple(sorted(found)))


def _symbols_named(spelling: Spelling) -> set[str] | None:
    if spelling.kind is Kind.REGEX:
        from attemper.languages.regular.symbols import symbols_in

        named = symbols_in(spelling.text)
        return None if named is None else set(named)
    from attemper.languages.temporal.parse import parse
    from attemper.languages.temporal.syntax import Symbol, subformulas

    return {part.name for part in subformulas(parse(spelling.text)) if isinstance(part, Symbol)}


def _of_dfa(spelling: Spelling, how: HowRead) -> Language:
    from attemper.languages.regular.files import dfa_from_json, read_dfa

    _refuse(how, "an automaton")
    found = dfa_from_json(sys.stdin.read()) if spelling.text == "-" else read_dfa(spelling.text)
    return Language(found, found.alphabet)


def _of_program(spelling: Spelling, how: HowRead) -> Language:
    if spelling.text == "-":
        return _of_program_text(sys.stdin.read(), None, how)
    path = Path(spelling.text)
    return _of_program_text(read_utf8(path, "give the file of an attention program"), path, how)


def _of_program_text(text: str, path: Path | None, how: HowRead) -> Language:
    """A program with names, or its steps, whose alphabet is written in brackets."""
    from attemper.attention_program.parse import parse_program
    from attemper.workbench.programs import program_language

    steps = text.lstrip().startswith("alphabet [")
    _refuse(how, "a program", reading=not steps)
    where = (how.where, how.verdict) if steps else (None, None)
    meant = program_language(parse_program(text) if steps else text, *where)
    return Language(meant, meant.program.alphabet, written="" if steps else text)


def _of_machine(spelling: Spelling, how: HowRead) -> Language:
    _refuse(how, "a machine")
    if spelling.text == "-":
        return _of_machine_text(sys.stdin.read())
    return _of_machine_text(read_utf8(Path(spelling.text), "give the file of a counter machine"))


def _of_machine_text(text: str) -> Language:
    from attemper.languages.machines.parse import parse_machine

    return _of_one_machine(parse_machine(text))


def _of_one_machine(machine: CounterMachine) -> Language:
    from attemper.languages.machines.reading import MachineLanguage

    return Language(MachineLanguage(machine), machine.alphabet)


def _of_turing(spelling: Spelling, how: HowRead) -> Language:
    """A Turing machine is held as its attention program."""
    from attemper.languages.machines.turing import parse_turing, program_text

    _refuse(how, "a machine")
    return _of_program_text(program_text(parse_turing(spelling.text)), None, how)


def _of_zoo(spelling: Spelling, how: HowRead) -> Language:
    from attemper.languages.named.zoo import named
    from attemper.workbench.zoo_sources import language_of

    _refuse(how, "a language of the zoo", alphabet=False)
    entry = named(spelling.text)
    own = Alphabet(entry.alphabet)
    if how.alphabet is not None and len(how.alphabet.symbols) != len(own.symbols):
        raise OptionError(
            f"alphabet: '{spelling}' has {len(own.symbols)} symbols, {listed(own.symbols, 'symbols')}: "
            "give as many, which stand for these in their order",
            options=("alphabet",),
        )
    return language_of(entry, entry.source, how.alphabet or own)


def _of_network(spelling: Spelling, how: HowRead) -> Language:
    from attemper.workbench.decompiling import decompile

    _refuse(how, "a network")
    found = decompile(Path(spelling.text))
    if found.held is None:
        raise UnprovedError(f"{spelling} is not read back: {found.reason}")
    return found.held


_READERS: dict[Kind, Callable[[Spelling, HowRead], Language]] = {
    Kind.FORMULA: _of_formula,
    Kind.REGEX: _of_regex,
    Kind.DFA: _of_dfa,
    Kind.PROGRAM: _of_program,
    Kind.MACHINE: _of_machine,
    Kind.TURING: _of_turing,
    Kind.ZOO: _of_zoo,
    Kind.NET: _of_network,
}


# Objects --------------------------------------------------------------------------------------------------


def spelling_of_path(path: Path) -> Spelling:
    """A file by its ending, else a network's folder."""
    return Spelling(ENDINGS.get(path.suffix, Kind.NET), str(path))


def _of_object(given: Any, how: HowRead) -> Language:
    from attemper.attention_program.language import ProgramLanguage
    from attemper.attention_program.ops import Program
    from attemper.languages.machines.reading import MachineLanguage
    from attemper.languages.machines.syntax import CounterMachine
    from attemper.languages.rasp.program import RaspProgram
    from attemper.languages.regular.dfa import Dfa
    from attemper.languages.regular.files import dfa_from_automata_lib
    from attemper.languages.regular.minimal import minimal
    from attemper.workbench.programs import program_language, text_of

    match given:
        case Dfa():
            _refuse(how, "an automaton")
            return Language(minimal(given), given.alphabet)
        case Program() | RaspProgram():
            _refuse(how, "a program", reading=isinstance(given, RaspProgram))
            where = (how.where, how.verdict) if isinstance(given, Program) else (None, None)
            meant = program_language(given, *where)
            return Language(meant, meant.program.alphabet, written=text_of(given))
        case ProgramLanguage():
            _refuse(how, "a program")
            return Language(given, given.program.alphabet)
        case CounterMachine() | MachineLanguage():
            _refuse(how, "a machine")
            return _of_one_machine(given if isinstance(given, CounterMachine) else given.machine)
        case TemporalLanguage():
            _refuse(how, "a formula", alphabet=False)
            letters = how.alphabet or how.like
            if letters is None or not given.fits(letters):
                raise OptionError("a formula is over an alphabet: give one that has its symbols")
            return Language(given, letters)
        case _ if type(given).__module__.startswith("automata."):
            _refuse(how, "an automaton")
            return _of_object(dfa_from_automata_lib(given), how)
        case _:
            raise OptionError(
                f"{type(given).__name__} names no language: give {KINDS}, or an object that is one"
            )
