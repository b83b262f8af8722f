"""Every error a user can meet, each with its exit code.

All of them derive from `AttemperError`; a message names the culprit and the remedy.
"""

from __future__ import annotations

from enum import IntEnum
from functools import partial

from attemper.escapes import escaped


class ExitCode(IntEnum):
    """What the command line returns to the shell. (docs/exit-codes.md has this table, and `attemper --help` a short one.)

    | code | meaning |
    |---|---|
    | 0 | done |
    | 1 | `verify` found a word on which the model is wrong; `same`: DIFFERENT, with a word; `decompile`, `simulate`: a model's own runs differ from what was read; `paper`: a statement's run saw what should not be |
    | 2 | wrong usage, or an extra package that is not installed |
    | 3 | the formula, expression, automaton or machine cannot be read, or does not say where it is read |
    | 4 | refused: meaningful, but not supported (for example the future in the `decoder` regime) |
    | 5 | a word or alphabet that cannot be used |
    | 6 | a file that is missing, damaged or of another shape; `check`: MALFORMED |
    | 7 | the output is undecided in this number format |
    | 8 | somebody's own module, named as MODULE:OBJECT, raised an error or is not the model that it should be |
    | 10 | `check`: REFUTED, with the word that goes wrong |
    | 11 | `check`, `refute`, `same`: PROVED_UNDER_ASSUMPTIONS, which are named |
    | 12 | `check`: UNKNOWN, also beyond `--seconds` and `--memory`; `compile`, `certify`: there is no proof; `refute`: nothing was found; a bound that says nothing; `decompile`, `simulate`, `same`, `depth`: not known within the caps; `generate`: not halted |
    | 70 | a fault of attemper itself: please report it |
    | 130 | interrupted |

    >>> import attemper
    >>> attemper.ExitCode.REFUTED, attemper.WordError.exit_code
    (<ExitCode.REFUTED: 10>, <ExitCode.WORD: 5>)
    """  # noqa: E501 - a row is a line, as on the page

    OK = 0
    DISAGREEMENT = 1
    USAGE = 2
    SOURCE = 3
    UNSUPPORTED = 4
    WORD = 5
    FILE = 6
    UNDECIDED = 7
    MODULE = 8
    REFUTED = 10
    PROVED_UNDER_ASSUMPTIONS = 11
    UNKNOWN = 12
    INTERNAL = 70
    INTERRUPTED = 130


class AttemperError(Exception):
    """The root of all errors that attemper raises on purpose.

    `details` are what programs are told beside the message: above all where the culprit stands, and under
    `options` which arguments the message speaks of, by Python's names, for the command line to spell.
    `place` shows the place to people, behind the message: the line of the text with a caret below it.

    >>> import attemper
    >>> try:
    ...     attemper.compile("O c", "ab")
    ... except attemper.AttemperError as error:
    ...     print(type(error).__name__, int(error.exit_code))
    SourceError 3
    """

    exit_code: ExitCode = ExitCode.INTERNAL

    def __init__(self, message: str = "", place: str = "", /, **details: object) -> None:
        super().__init__(message + place)
        self.place = place
        self.details = details


class SourceError(AttemperError):
    """A formula (or another source text) that cannot be read, with the place where it breaks.

    `line` and `column` count from 1; `expected` lists what could stand there instead.

    >>> import attemper
    >>> try:
    ...     attemper.compile("O (a", "ab")
    ... except attemper.SourceError as error:
    ...     print(error.message.partition(":")[0], error.column)
    the formula ends too early 5
    """

    exit_code = ExitCode.SOURCE

    def __init__(
        self,
        message: str,
        *,
        text: str,
        line: int = 1,
        column: int = 1,
        expected: tuple[str, ...] = (),
    ) -> None:
        self.message = message
        self.text = text
        self.line = line
        self.column = column
        self.expected = expected
        super().__init__(
            message,
            _point_at(text, line, column, expected),
            line=line,
            column=column,
            expected=list(expected),
        )

    def __reduce__(self) -> tuple[object, ...]:
        # A worker's error comes to whoever waits for it as a pickle.
        made = partial(type(self), text=self.text, line=self.line, column=self.column, expected=self.expected)
        return made, (self.message,)


class OptionError(AttemperError):
    """An option whose value is none of those that exist.

    >>> import attemper
    >>> try:
    ...     attemper.compile("O a", "ab", regime="cold")
    ... except attemper.OptionError as error:
    ...     print(error)
    regime='cold' is none of 'unbounded', 'temperature', 'decoder'
    """

    exit_code = ExitCode.USAGE


class AmbiguousReadingError(AttemperError):
    """A formula whose acceptance position (first or last) must be said aloud.

    >>> import attemper
    >>> try:
    ...     attemper.compile("F a", "ab")
    ... except attemper.AmbiguousReadingError as error:
    ...     print(str(error).splitlines()[0])
    'F a' speaks of the future only, so say where it is read:
    """

    exit_code = ExitCode.SOURCE


class UnsupportedError(AttemperError):
    """Something that is meaningful but cannot be compiled as asked; says what can.

    >>> import attemper
    >>> try:
    ...     attemper.compile("F a", "ab", at="first", regime="decoder")
    ... except attemper.UnsupportedError as error:
    ...     print(str(error).partition(". ")[0])
    the decoder regime sees positions j <= i only, and cannot compute 'F a'
    """

    exit_code = ExitCode.UNSUPPORTED


class AlphabetError(AttemperError):
    """An alphabet that cannot be used.

    >>> import attemper
    >>> try:
    ...     attemper.compile("O a", "aa")
    ... except attemper.AlphabetError as error:
    ...     print(error)
    symbol 'a' occurs twice in the alphabet; give it once
    """

    exit_code = ExitCode.WORD


class AutomatonError(AttemperError):
    """An automaton or regular expression file that cannot be used; names the state or symbol.

    >>> import attemper
    >>> try:
    ...     alphabet = attemper.compile("O a", "ab").alphabet
    ...     attemper.Dfa(alphabet, moves=((0,),), start=0, accepting=frozenset({0}))
    ... except attemper.AutomatonError as error:
    ...     print(error)
    state 0 must have one move to a state for each of 2 symbols
    """

    exit_code = ExitCode.SOURCE


class MachineError(AttemperError):
    """A counter machine that is none: a token that two lines write, a line that is not there.

    >>> import attemper
    >>> try:
    ...     attemper.machine("start none; add n")
    ... except attemper.MachineError as error:
    ...     print(error)
    no token is called 'none': that is put out where a machine has halted
    """

    exit_code = ExitCode.SOURCE


class WordError(AttemperError):
    """A word with a symbol outside the alphabet, or one that cannot be split into symbols.

    Its details may have the `position` of that symbol, and which `word` it is of several, both from 1.

    >>> import attemper
    >>> try:
    ...     attemper.compile("O a", "ab").accepts("abc")
    ... except attemper.WordError as error:
    ...     print(error, error.details["position"])
    symbol 'c' at position 3 is not in the alphabet {a b} 3
    """

    exit_code = ExitCode.WORD


class MalformedFileError(AttemperError):
    """A file that is missing, truncated, tampered with, or of the wrong shape.

    Its message quotes files and paths, so that as a text it stands on one line and everything unprintable is
    escaped.

    >>> import attemper
    >>> try:
    ...     attemper.load("nowhere")
    ... except attemper.MalformedFileError as error:
    ...     print(str(error).partition(";")[0])
    there is no 'nowhere/network.json'
    """

    exit_code = ExitCode.FILE

    def __str__(self) -> str:
        return escaped(super().__str__())


class UndecidedError(AttemperError):
    """A run whose output is neither near 0 nor near 1: the word lies beyond the format's horizon.

    >>> import attemper
    >>> try:
    ...     attemper.compile("H (a -> Y b)", "ab").accepts("ab" * 150, dtype="bfloat16")
    ... except attemper.UndecidedError as error:
    ...     print(str(error).partition(" on ")[0])
    undecided:
    """

    exit_code = ExitCode.UNDECIDED


class UnprovedError(AttemperError):
    """Something that no proof rule covers: it may be right, but nobody has shown it.

    >>> import attemper
    >>> from dataclasses import replace
    >>> wrong = replace(attemper.compile("O a", "ab"), language=attemper.compile("H a", "ab").language)
    >>> try:
    ...     wrong.certify()
    ... except attemper.UnprovedError as error:
    ...     print(str(error).partition(":")[0])
    no proof that the network computes its language
    """

    exit_code = ExitCode.UNKNOWN


class InternalError(AttemperError):
    """A fault of attemper itself; please report it with the text shown.

    >>> import attemper
    >>> int(attemper.InternalError("a fault").exit_code)
    70
    """


WINDOW = 72
"""How many characters of an offending line an error shows."""


def _point_at(text: str, line: int, column: int, expected: tuple[str, ...]) -> str:
    """Where it is, the line that a message speaks of, and a caret under the place."""
    lines = text.split("\n")
    source_line = lines[line - 1] if 1 <= line <= len(lines) else ""
    start = max(0, min(column - 1, len(source_line)) - WINDOW // 2)
    shown = "".join(c if c.isprintable() else " " for c in source_line[start : start + WINDOW])
    parts = [
        f" (line {line}, column {column})",
        f"    {shown}",
        f"    {' ' * (column - 1 - start)}^",
    ]
    if expected:
        parts.append(f"expected: {', '.join(expected)}")
    return "\n".join(parts)
