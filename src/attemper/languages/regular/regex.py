"""From a regular expression to the minimal automaton of its language.

Loosest first: union `r|s`; intersection `r&s`; concatenation `r s` (blanks mean nothing); complement `~r`,
which takes in the repetitions that follow, so that `~a*` is `~(a*)`; repetition `r*`, `r+`, `r?`, `r{n}`,
`r{n,}`, `r{n,m}`. The least expressions are a symbol, `.` (any one symbol), `[a b]`, `[^a b]`, `[a-c]` (one
symbol of a set, ranges in the alphabet's order; `[]` has no word), `()` (the empty word) and `(r)`.
Where several symbols could be read, it is the longest. A symbol with one of the characters
`| & ~ * + ? . ^ - ( ) [ ] { } ' "` is quoted: `'('`, `"*"`.

Every operation takes nondeterministic automata without empty moves to another such; sets of states are
the bits of an integer. Only `&`, `~` and the end make automata deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import assert_never, final

from attemper.errors import AlphabetError, SourceError, UnsupportedError
from attemper.escapes import escaped
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.visits import numbered
from attemper.languages.words import Alphabet, parse_alphabet

MAX_STATES = 20_000
"""Expressions with a larger automaton on the way to the minimal one are refused."""

MAX_STEPS = 5_000_000
"""Making n states deterministic follows at most so many moves, each counted 1 + n // 1000 times."""

MAX_REPETITION = 1000
"""The largest n and m in `r{n,m}`."""

MAX_NESTING = 200
"""Brackets nested deeper are refused."""


def letters_of(alphabet: str | Sequence[str] | Alphabet) -> Alphabet:
    """An alphabet as users write it: a text, a list of symbols, or itself. Raises `AlphabetError`."""
    if isinstance(alphabet, Alphabet):
        return alphabet
    if isinstance(alphabet, str):
        return parse_alphabet(alphabet)
    if not isinstance(alphabet, Iterable) or isinstance(alphabet, Set):
        # The symbols of a set have no order, and what numbers mean would differ from run to run.
        raise AlphabetError(
            f"{alphabet!r} is no alphabet: give a text or a list of symbols, for example 'ab'"
        )
    return Alphabet(tuple(alphabet))


def parse_regex(text: str, alphabet: str | Sequence[str] | Alphabet) -> Dfa:
    """The minimal automaton of the expression's language; `docs/automata.md` has the whole syntax.

    `alphabet` is a text of single characters (`"ab"`) or of symbols with blanks between them (`"push pop"`),
    a list of symbols, or an `Alphabet`. Raises `AlphabetError`; `SourceError`, with line, column, caret and
    what was expected, for anything that is not an expression; and `UnsupportedError` if an automaton on the
    way has more than `MAX_STATES` states.

    >>> dfa = parse_regex("(a b)* & ~(a b a b)", "ab")
    >>> dfa.accepts(()), dfa.accepts(("a", "b")), dfa.accepts(("a", "b", "a", "b"))
    (True, True, False)
    >>> parse_regex("(a|)b", "ab")
    Traceback (most recent call last):
    ...
    attemper.errors.SourceError: an expression is missing before ')' (line 1, column 4)
        (a|)b
           ^
    expected: a symbol, '.', '[', '(', '~'
    """
    alphabet = letters_of(alphabet)
    return minimal(deterministic(read_regex(text, alphabet), alphabet))


def read_regex(text: str, alphabet: Alphabet) -> Nfa:
    """The nondeterministic automaton of the expression; raises what `parse_regex` raises."""
    if not text.strip():
        raise _error("the expression is empty; the empty word is written ()", text, 0, *_OPERANDS)
    groups = [_Group(alphabet, None)]
    for token in _tokens(text, alphabet):
        _take(token, groups, text)
    if len(groups) > 1:
        opening = groups[-1].opening or 0
        raise _error("this bracket is not closed", text, opening, "')'")
    if groups[-1].operand is None:
        raise _error("the expression ends too early", text, len(text.rstrip()), *_OPERANDS)
    return groups[-1].end_union()


# Tokens


@final
@dataclass(frozen=True)
class _OneOf:
    """One symbol out of a set, by their numbers in the alphabet."""

    place: int
    symbols: frozenset[int]


@final
@dataclass(frozen=True)
class _Repeat:
    """Between `least` and `most` times; None for any number."""

    place: int
    spelling: str
    least: int
    most: int | None


@final
@dataclass(frozen=True)
class _Mark:
    """One of ( ) | & ~."""

    place: int
    character: str


_Token = _OneOf | _Repeat | _Mark

SYNTAX = frozenset("|&~*+?.^-()[]{}'\"")
_MARKS = frozenset("()|&~")
_REPETITIONS: dict[str, tuple[int, int | None]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_ELSEWHERE = dict.fromkeys("^$", "; an expression is always about the whole word, so leave ^ and $ out") | {
    "\\": "; there are no escapes: write [0-9] for a digit, and quote what is a special character, as in '+'"
}
"""What to write for what other regular expressions have."""
BRACES = re.compile(r"\{\s*0*([0-9]+)\s*(?:(,)\s*(?:0*([0-9]+)\s*)?)?\}")
_OPERANDS = ("a symbol", "'.'", "'['", "'('", "'~'")


def _tokens(text: str, alphabet: Alphabet) -> Iterator[_Token]:
    read_symbol = _symbol_reader(text, alphabet)
    every = frozenset(range(len(alphabet.symbols)))
    place = 0
    while place < len(text):
        character = text[place]
        token: _Token
        if character.isspace():
            place += 1
            continue
        if character in _MARKS:
            token, place = _Mark(place, character), place + 1
        elif character in _REPETITIONS:
            token, place = _Repeat(place, character, *_REPETITIONS[character]), place + 1
        elif character == "{":
            token, place = _braces(text, place)
        elif character == ".":
            token, place = _OneOf(place, every), place + 1
        elif character == "[":
            token, place = _symbol_set(text, place, every, alphabet, read_symbol)
        else:
            number, end = read_symbol(place)
            token, place = _OneOf(place, frozenset({number})), end
        yield token


_SymbolReader = Callable[[int], tuple[int, int]]
"""From a place in the text to the number of the symbol that stands there, and the place behind it."""


def _symbol_reader(text: str, alphabet: Alphabet) -> _SymbolReader:
    numbers = {symbol: number for number, symbol in enumerate(alphabet.symbols)}
    bare = sorted((s for s in numbers if not SYNTAX & set(s)), key=len, reverse=True)
    longest_first = re.compile("|".join(map(re.escape, bare)) if bare else r"(?!)")

    def read(place: int) -> tuple[int, int]:
        quote = text[place]
        if quote in {"'", '"'}:
            end = text.find(quote, place + 1)
            if end < 0:
                raise _error(f"this quotation mark is not closed{_quoting(quote, alphabet)}", text, place)
            symbol = text[place + 1 : end]
            if symbol not in numbers:
                raise _unknown(symbol, text, place, alphabet)
            return numbers[symbol], end + 1
        found = longest_first.match(text, place)
        if found:
            return numbers[found.group()], found.end()
        if quote in SYNTAX:
            raise _error(f"'{quote}' cannot stand here{_quoting(quote, alphabet)}", text, place)
        word = re.compile(r"." if alphabet.is_single_character else r"\w+|.", re.DOTALL).match(text, place)
        raise _unknown(word.group() if word else "", text, place, alphabet)

    return read


def _braces(text: str, place: int) -> tuple[_Repeat, int]:
    """The repetition {n}, {n,} or {n,m} at the place, and the place behind it."""
    found = BRACES.match(text, place)
    if not found:
        raise _error("a repetition is written {n}, {n,} or {n,m}", text, place)
    least, comma, most = found.groups()
    for digits in (least, most or "0"):
        if len(digits) > len(str(MAX_REPETITION)) or int(digits) > MAX_REPETITION:
            raise _error(f"a repetition is at most {MAX_REPETITION} times", text, place)
    upper = int(least) if comma is None else int(most) if most else None
    if upper is not None and upper < int(least):
        raise _error(f"the repetition {{{least},{most}}} ends before it begins", text, place, "{least,most}")
    return _Repeat(place, found.group(), int(least), upper), found.end()


def _symbol_set(
    text: str, opening: int, every: frozenset[int], alphabet: Alphabet, read_symbol: _SymbolReader
) -> tuple[_OneOf, int]:
    """The set [...] or [^...] at the place, and the place behind it."""
    place = _behind_blanks(text, opening + 1)
    negated = text[place : place + 1] == "^"
    place = _behind_blanks(text, place + negated)
    symbols: set[int] = set()
    while text[place : place + 1] not in {"]", ""}:
        first_place = place
        first, place = read_symbol(place)
        place = last_place = _behind_blanks(text, place)
        last = first
        if text[place : place + 1] == "-":
            last_place = _behind_blanks(text, place + 1)
            if text[last_place : last_place + 1] in {"]", ""}:
                raise _error("the range has no last symbol", text, place, "a symbol")
            last, place = read_symbol(last_place)
        if last < first:
            backwards = f"{alphabet.symbols[first]}-{alphabet.symbols[last]}"
            raise _error(
                f"the range {backwards} runs against the order of the alphabet {_listed(alphabet)}",
                text,
                first_place,
            )
        symbols.update(range(first, last + 1))
        place = _behind_blanks(text, place)
    if place >= len(text):
        raise _error("this bracket is not closed", text, opening, "']'")
    return _OneOf(opening, every - symbols if negated else frozenset(symbols)), place + 1


def _behind_blanks(text: str, place: int) -> int:
    while text[place : place + 1].isspace():
        place += 1
    return place


def _listed(alphabet: Alphabet) -> str:
    return f"{{{' '.join(alphabet.symbols[:40])}}}"


def _unknown(symbol: str, text: str, place: int, alphabet: Alphabet) -> SourceError:
    if not symbol:
        return _error("the empty text is not a symbol; the empty word is written ()", text, place)
    message = f"symbol '{escaped(symbol[:40])}' is not in the alphabet {_listed(alphabet)}"
    return _error(message + _quoting(symbol, alphabet), text, place)


def _quoting(found: str, alphabet: Alphabet) -> str:
    """A hint, if the text found begins a symbol that must be quoted."""
    meant = [s for s in alphabet.symbols if s.startswith(found) and SYNTAX & set(s)]
    if not meant:
        return _ELSEWHERE.get(found, "")
    quote = '"' if "'" in meant[0] else "'"
    return f"; as a symbol it is quoted: {quote}{meant[0]}{quote}"


def _error(message: str, text: str, place: int, *expected: str) -> SourceError:
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    return SourceError(message, text=text, line=line, column=column, expected=expected)


# Grammar


@final
@dataclass
class _Group:
    """What has been read since an opening bracket, or since the beginning."""

    alphabet: Alphabet
    opening: int | None
    operand: Nfa | None = None
    is_repeated: bool = False
    is_negated: bool = False
    is_fresh: bool = True
    sequence: list[Nfa] = field(default_factory=list)
    conjuncts: list[Nfa] = field(default_factory=list)
    alternatives: list[Nfa] = field(default_factory=list)

    def begin_factor(self, operand: Nfa) -> None:
        if self.operand is not None:
            self.end_factor()
        self.operand, self.is_repeated, self.is_fresh = operand, False, False

    def negate(self) -> None:
        if self.operand is not None:
            self.end_factor()
        self.is_negated, self.is_fresh = not self.is_negated, False

    def end_factor(self) -> None:
        assert self.operand is not None
        factor = _complement(self.operand, self.alphabet) if self.is_negated else self.operand
        self.sequence.append(factor)
        self.operand, self.is_negated = None, False

    def end_sequence(self) -> None:
        self.end_factor()
        self.conjuncts.append(_chain(self.sequence, len(self.sequence)))
        self.sequence = []

    def end_conjunction(self) -> None:
        self.end_sequence()
        self.alternatives.append(_intersection(self.conjuncts, self.alphabet))
        self.conjuncts = []

    def end_union(self) -> Nfa:
        self.end_conjunction()
        return _union(self.alternatives)


def _take(token: _Token, groups: list[_Group], text: str) -> None:
    """Read one token into the innermost group."""
    group = groups[-1]
    match token:
        case _OneOf(_, symbols):
            group.begin_factor(_one_of(symbols))
        case _Repeat(place, spelling, least, most):
            if group.operand is None:
                raise _error(f"there is nothing before '{spelling}' to repeat", text, place, *_OPERANDS)
            if group.is_repeated:
                message = f"'{spelling}' repeats a repetition: put brackets around what it repeats"
                raise _error(message, text, place)
            group.operand, group.is_repeated = _repeated(group.operand, least, most), True
        case _Mark():
            _take_mark(token, groups, text)
        case _:
            assert_never(token)


def _take_mark(mark: _Mark, groups: list[_Group], text: str) -> None:
    """Read a bracket or an operator into the innermost group."""
    group = groups[-1]
    match mark.character:
        case "~":
            group.negate()
        case "(":
            if len(groups) > MAX_NESTING:
                raise _error(f"brackets nest deeper than {MAX_NESTING} levels", text, mark.place)
            groups.append(_Group(group.alphabet, mark.place))
        case ")":
            if len(groups) == 1:
                raise _error("')' closes nothing", text, mark.place)
            if group.operand is None and not group.is_fresh:
                raise _missing(mark, text)
            groups.pop()
            groups[-1].begin_factor(_EMPTY_WORD if group.is_fresh else group.end_union())
        case operator:
            if group.operand is None:
                raise _missing(mark, text)
            if operator == "&":
                group.end_sequence()
            else:
                group.end_conjunction()


def _missing(mark: _Mark, text: str) -> SourceError:
    return _error(f"an expression is missing before '{mark.character}'", text, mark.place, *_OPERANDS)


# Automata


@final
@dataclass(frozen=True)
class Nfa:
    """A nondeterministic automaton; a set of states is an integer whose bit q says that q is in it.

    `rows[q][s]` is the set of states after q has read the symbol number s, absent if there are none.
    """

    rows: tuple[dict[int, int], ...]
    start: int
    accepting: int

    @property
    def accepts_empty(self) -> bool:
        return self.start & self.accepting != 0


_EMPTY_WORD = Nfa(({},), 1, 1)


def _one_of(symbols: frozenset[int]) -> Nfa:
    return Nfa((dict.fromkeys(symbols, 0b10), {}), 0b01, 0b10)


def _union(parts: Sequence[Nfa]) -> Nfa:
    if len(parts) == 1:
        return parts[0]
    _check_size(sum(len(part.rows) for part in parts))
    rows: list[dict[int, int]] = []
    start = accepting = 0
    for part in parts:
        offset = len(rows)
        rows += [{s: targets << offset for s, targets in row.items()} for row in part.rows]
        start |= part.start << offset
        accepting |= part.accepting << offset
    return Nfa(tuple(rows), start, accepting)


def _chain(parts: Sequence[Nfa], least: int) -> Nfa:
    """The concatenations of the first k parts, for all k from `least` to the number of parts.

    Every move into an accepting state of one part also enters the next. Built from the last part to the
    first: `entry` has the states where the parts behind begin, those of later ones too if they may be empty.
    """
    if len(parts) == least == 1:
        return parts[0]
    offset = sum(len(part.rows) for part in parts)
    _check_size(offset)
    blocks: list[list[dict[int, int]]] = []
    entry = accepting = 0
    for count, part in zip(range(len(parts), 0, -1), reversed(parts), strict=True):
        offset -= len(part.rows)
        if count >= least:
            accepting |= part.accepting << offset
        blocks.append(
            [
                {s: (t << offset) | (entry if t & part.accepting else 0) for s, t in row.items()}
                for row in part.rows
            ]
        )
        entry = (part.start << offset) | (entry if part.accepts_empty else 0)
    chained = Nfa(tuple(row for block in reversed(blocks) for row in block), entry, accepting)
    return _union((_EMPTY_WORD, chained)) if least == 0 else chained


def _repeated(part: Nfa, least: int, most: int | None) -> Nfa:
    if most is None:
        start, accepting = part.start, part.accepting
        rows = tuple({s: t | (start if t & accepting else 0) for s, t in row.items()} for row in part.rows)
        loop = Nfa(rows, start, accepting)
        return _chain([part] * (least - 1) + [loop], least)
    return _chain([part] * most, least) if most else _EMPTY_WORD


def _complement(part: Nfa, alphabet: Alphabet) -> Nfa:
    dfa = deterministic(part, alphabet)
    rejecting = frozenset(range(len(dfa.moves))) - dfa.accepting
    return _from_dfa(minimal(Dfa(alphabet, dfa.moves, dfa.start, rejecting)))


def _intersection(parts: Sequence[Nfa], alphabet: Alphabet) -> Nfa:
    if len(parts) == 1:
        return parts[0]
    first, *others = (minimal(deterministic(part, alphabet)) for part in parts)
    for other in others:
        first = minimal(_product(first, other))
    return _from_dfa(first)


def _product(left: Dfa, right: Dfa) -> Dfa:
    """Both automata side by side, accepting where both accept; reachable pairs only."""
    number, moves = numbered(
        (left.start, right.start),
        lambda pair: zip(left.moves[pair[0]], right.moves[pair[1]], strict=True),
        _check_size,
    )
    accepting = frozenset(k for (p, q), k in number.items() if p in left.accepting and q in right.accepting)
    return Dfa(left.alphabet, moves, 0, accepting)


def _from_dfa(dfa: Dfa) -> Nfa:
    """The automaton without the state (of a minimal one, there is one at most) that accepts nothing."""
    dead = {
        q for q, row in enumerate(dfa.moves) if q not in dfa.accepting and all(target == q for target in row)
    }
    rows = tuple({s: 1 << target for s, target in enumerate(row) if target not in dead} for row in dfa.moves)
    return Nfa(rows, 1 << dfa.start, sum(1 << state for state in dfa.accepting))


def deterministic(nfa: Nfa, alphabet: Alphabet, most: int = MAX_STATES) -> Dfa:
    """The automaton of the reachable sets of states. Raises `UnsupportedError` for more than `most`."""
    steps = 0
    weight = 1 + len(nfa.rows) // 1000

    def after(states: int) -> list[int]:
        nonlocal steps
        row = [0] * len(alphabet.symbols)
        for state in members(states):
            for symbol, targets in nfa.rows[state].items():
                row[symbol] |= targets
            steps += weight * len(nfa.rows[state])
        steps += len(row)
        if steps > MAX_STEPS:
            raise UnsupportedError(f"the expression takes more than {MAX_STEPS} steps to compile; {_REMEDY}")
        return row

    number, moves = numbered(nfa.start, after, lambda count: _check_size(count, most))
    accepting = frozenset(k for states, k in number.items() if states & nfa.accepting)
    return Dfa(alphabet, moves, 0, accepting)


def members(states: int) -> Iterator[int]:
    """The states in a set."""
    while states:
        lowest = states & -states
        yield lowest.bit_length() - 1
        states ^= lowest


_REMEDY = "repeat fewer times ({n,m}), or use fewer complements and intersections"


def _check_size(count: int, most: int = MAX_STATES) -> None:
    if count > most:
        raise UnsupportedError(
            f"the expression needs an automaton of more than {most} states on the way; {_REMEDY}"
        )
