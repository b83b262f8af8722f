"""From text to formula, with errors that point at the place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources

from lark import Lark, Token, Tree
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken
from lark.tree import Meta

from attemper.errors import SourceError
from attemper.exact.predicates import BUILT_IN, Named, PredicateError, Remainder, registered_names
from attemper.languages.temporal import syntax
from attemper.languages.temporal.dialects import written_here
from attemper.languages.words import Alphabet

MAX_NESTING = 1000
"""Formulas nested deeper are refused with a clear error."""

LONGEST_EXAMPLE = 60
"""A longer formula is not repeated in an error's message."""

MAX_LISTED = 2000
"""`f & g & h & ...` with more parts in a row is refused: such a list is one level, however long."""

MAX_INTEGER = 10**9
"""Larger integers are refused, so that every weight made from them is exact in float64."""


def parse(text: str, alphabet: Alphabet | None = None) -> syntax.Formula:
    """Read a formula; `docs/formulas.md` has the whole grammar.

    With an `alphabet`, each symbol must belong to it. Raises `SourceError`, with line, column,
    caret and what was expected, for anything that is not a formula.

    >>> parse("Y a & true").operator
    <BinaryOperator.AND: '&'>
    >>> parse("H (a ->)")
    Traceback (most recent call last):
    ...
    attemper.errors.SourceError: the formula breaks off before ')' (line 1, column 8)
        H (a ->)
               ^
    expected: a formula
    """
    try:
        tree = _parser().parse(text)
    except UnexpectedInput as error:
        raise _located(error, text, alphabet) from None
    return _build(tree, text, alphabet)


@cache
def _parser() -> Lark:
    grammar = resources.files(__package__).joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", propagate_positions=True)


_UNARY_ALIASES = {"!": "!", "~": "!", "not": "!", "Z": "WY", "N": "WX", "X[!]": "X"}
_COMPARISON_ALIASES = {"=": "=="}
_CONNECTIVES = {
    "iff": syntax.BinaryOperator.IFF,
    "implies": syntax.BinaryOperator.IMPLIES,
    "xor": syntax.BinaryOperator.XOR,
    "or_": syntax.BinaryOperator.OR,
    "and_": syntax.BinaryOperator.AND,
}
_LISTS = frozenset({"and_", "or_", "xor"})
"""Rules of connectives that join lists: what is joined to the left by the same one is part of the list."""

_NOT_NESTING = frozenset(
    {"start", "parenthesised", "integer", "negated", "plus", "minus", "scaled", "position", "length", "count"}
)
"""Rules that build terms or nothing: nesting counts the operators of the formula, not its brackets."""

_SIDES = {
    "#<[": syntax.Side.LEFT,
    "#<=[": syntax.Side.LEFT,
    "#>[": syntax.Side.RIGHT,
    "#>=[": syntax.Side.RIGHT,
    "#[": syntax.Side.TOTAL,
}


@dataclass(frozen=True)
class _Built:
    """What a subtree means, and how deeply it nests."""

    node: syntax.Formula | syntax.Term
    depth: int
    listed: int = 1
    """How many parts its outermost connective joins in a row."""

    @property
    def formula(self) -> syntax.Formula:
        assert not isinstance(self.node, syntax.Term)
        return self.node

    @property
    def term(self) -> syntax.Term:
        assert isinstance(self.node, syntax.Term)
        return self.node


def _build(tree: Tree[Token], text: str, alphabet: Alphabet | None) -> syntax.Formula:
    """The tree's formula, built from the leaves up without recursion; equal parts are one object."""
    built: dict[int, _Built] = {}
    distinct: dict[syntax.Formula | syntax.Term, syntax.Formula | syntax.Term] = {}
    for subtree in tree.iter_subtrees():
        children = [c if isinstance(c, Token) else built[id(c)] for c in subtree.children]
        node = _node(subtree.data, children, text, alphabet)
        own = _measured(subtree.data, node, [c for c in children if isinstance(c, _Built)])
        if own.depth > MAX_NESTING:
            raise _at(subtree.meta, f"the formula nests deeper than {MAX_NESTING} levels", text)
        if own.listed > MAX_LISTED:
            raise _at(subtree.meta, f"more than {MAX_LISTED:,} parts are joined in a row", text)
        if isinstance(node, syntax.Term) and _size(node) > MAX_INTEGER:
            raise _at(subtree.meta, f"the term has a factor larger than {MAX_INTEGER}", text)
        built[id(subtree)] = _Built(distinct.setdefault(node, node), own.depth, own.listed)
    return built[id(tree)].formula


def _measured(rule: str, node: syntax.Formula | syntax.Term, children: list[_Built]) -> _Built:
    """The node with how deeply it nests: `f & g & h` is a list, and no deeper than `f & g`."""
    depth = max((child.depth for child in children), default=0)
    if rule in _NOT_NESTING:
        return _Built(node, depth, children[0].listed if rule == "parenthesised" else 1)
    if rule in _LISTS and isinstance(node, syntax.Binary):
        left, right = children
        if isinstance(left.node, syntax.Binary) and left.node.operator is node.operator:
            return _Built(node, max(left.depth, right.depth + 1), left.listed + 1)
        return _Built(node, depth + 1, 2)
    # `t % m != r` is two nodes: the negation of a remainder.
    return _Built(node, depth + (2 if rule == "remainder" and isinstance(node, syntax.Unary) else 1))


def _size(term: syntax.Term) -> int:
    """The largest integer in the term."""
    return max(abs(term.constant), *(abs(factor) for factor, _ in term.parts), 0)


_WORDS: dict[str, syntax.Formula] = {
    "true": syntax.Constant(True),
    "false": syntax.Constant(False),
    "first": syntax.First(),
    "last": syntax.Last(),
}


def _node(
    rule: str, children: list[Token | _Built], text: str, alphabet: Alphabet | None
) -> syntax.Formula | syntax.Term:
    """What one grammar rule builds from the values of its children."""
    match rule, children:
        case ("start", [_Built() as inner]) | ("parenthesised", [_Built() as inner]):
            return inner.node
        case (("true" | "false" | "first" | "last"), []):
            return _WORDS[rule]
        case "symbol", [Token() as token]:
            return _symbol(token, token.value, text, alphabet)
        case "quoted", [Token() as token]:
            return _symbol(token, token.value[1:-1], text, alphabet)
        case "unary", [Token() as token, _Built() as inner]:
            spelling = _UNARY_ALIASES.get(token.value, token.value)
            return syntax.Unary(syntax.UnaryOperator(spelling), inner.formula)
        case "temporal", [_Built() as left, Token() as token, _Built() as right]:
            return syntax.Binary(syntax.BinaryOperator(token.value), left.formula, right.formula)
        case (("iff" | "implies" | "xor" | "or_" | "and_"), [_Built() as left, _Built() as right]):
            return syntax.Binary(_CONNECTIVES[rule], left.formula, right.formula)
        case "comparison", [_Built() as left, Token() as token, _Built() as right]:
            spelling = _COMPARISON_ALIASES.get(token.value, token.value)
            return syntax.Comparison(syntax.ComparisonOperator(spelling), left.term, right.term)
        case "remainder", [_Built() as inner, Token() as modulus, Token() as equality, Token() as remainder]:
            predicate = _remainder(modulus, remainder, text)
            test = syntax.Numerical(predicate, inner.term)
            return syntax.Unary(syntax.UnaryOperator.NOT, test) if equality.value == "!=" else test
        case "named", [Token() as name, _Built() as inner]:
            return syntax.Numerical(_named(name, text), inner.term)
        case _:
            return _term(rule, children, text)


def _term(rule: str, children: list[Token | _Built], text: str) -> syntax.Term:
    match rule, children:
        case "integer", [Token() as token]:
            return syntax.Term((), _integer(token, text))
        case "negated", [_Built() as inner]:
            return syntax.subtract(syntax.Term((), 0), inner.term)
        case "plus", [_Built() as left, _Built() as right]:
            return syntax.linear_term(
                left.term.parts + right.term.parts, left.term.constant + right.term.constant
            )
        case "minus", [_Built() as left, _Built() as right]:
            return syntax.subtract(left.term, right.term)
        case "scaled", [Token() as token, _Built() as inner]:
            factor = _integer(token, text)
            parts = tuple((factor * own, atom) for own, atom in inner.term.parts)
            return syntax.linear_term(parts, factor * inner.term.constant)
        case "position", []:
            return syntax.Term(((1, syntax.PositionAtom()),), 0)
        case "length", []:
            return syntax.Term(((1, syntax.LengthAtom()),), 0)
        case "count", [Token() as bracket, _Built() as inner]:
            return syntax.Term(((1, syntax.CountAtom(_SIDES[bracket.value], inner.formula)),), 0)
        case _:
            raise AssertionError(f"grammar rule '{rule}' has no meaning")


def _symbol(token: Token, name: str, text: str, alphabet: Alphabet | None) -> syntax.Symbol:
    """A predicate of a user's own may share its name with a symbol: only a predicate has a bracket."""
    unknown = alphabet is not None and name not in alphabet.symbols
    if token.type == "NAME" and (name in BUILT_IN or (unknown and name in registered_names())):
        raise _at(
            token, f"'{name}' is a numerical predicate; quote it to mean the symbol", text, f"{name}(term)"
        )
    if alphabet is not None and unknown:
        known = tuple(f"'{symbol}'" for symbol in alphabet.symbols[:20])
        raise _at(token, f"symbol '{name}' is not in the alphabet", text, *known)
    if alphabet is None and (not name or any(c.isspace() for c in name)):
        raise _at(token, "a symbol has at least one character and no blanks", text)
    return syntax.Symbol(name)


def _integer(token: Token, text: str) -> int:
    digits = token.value.lstrip("0") or "0"
    if len(digits) > len(str(MAX_INTEGER)) or int(digits) > MAX_INTEGER:
        raise _at(token, f"the integer is larger than {MAX_INTEGER}", text)
    return int(digits)


def _remainder(modulus: Token, remainder: Token, text: str) -> Remainder:
    try:
        return Remainder(_integer(modulus, text), _integer(remainder, text))
    except PredicateError as error:
        raise _at(modulus if modulus.value.strip("0") == "" else remainder, str(error), text) from None


def _named(token: Token, text: str) -> Named:
    try:
        return Named(token.value)
    except PredicateError as error:
        raise _at(token, str(error), text) from None


def _at(place: Token | Meta, message: str, text: str, *expected: str) -> SourceError:
    line, column = getattr(place, "line", None) or 1, getattr(place, "column", None) or 1
    return SourceError(message, text=text, line=line, column=column, expected=expected)


_WORDS_FOR_TERMINALS = {
    "$END": "the end",
    "COMPARISON": "a comparison (<= < >= > = !=)",
    "EQUALITY": "=",
    "INEQUALITY": "!=",
    "BINARY": "S T U R W M",
    "RPAR": ")",
    "RSQB": "]",
    "PLUS": "+",
    "MINUS": "-",
    "STAR": "*",
    "PERCENT": "%",
    "INTEGER": "an integer",
}
_STARTS_OF_FORMULAS = frozenset({"UNARY", "NEGATION", "NOT_WORD", "QUOTED", "TRUE", "FIRST"})
_CONNECTIVE_TERMINALS = frozenset({"_AND_WORD", "_OR_WORD", "_XOR_WORD", "VBAR", "AMPERSAND", "CIRCUMFLEX"})


def _located(error: UnexpectedInput, text: str, alphabet: Alphabet | None) -> SourceError:
    """lark's complaint in our words."""
    if isinstance(error, UnexpectedCharacters):
        line, column = error.line, error.column
        return SourceError(
            _unknown(text, error.pos_in_stream or 0, alphabet),
            text=text,
            line=line,
            column=column,
            # Of brackets lark only knows that some could close here, not whether any is open.
            expected=_expected(set(error.allowed or ()) - {"RPAR", "RSQB"}),
        )
    assert isinstance(error, UnexpectedToken)
    token = error.token
    expected = _expected(error.accepts or error.expected)
    compares = "a comparison (<= < >= > = !=)" in expected
    if token.type == "$END":
        lines = text.split("\n")
        reason = "is a bracket open, or an operand missing?"
        if compares:
            reason = "a number must be compared (quote digits that are symbols: '1')"
        return SourceError(
            f"the formula ends too early: {reason}",
            text=text,
            line=len(lines),
            column=len(lines[-1]) + 1,
            expected=expected,
        )
    foreign = written_here(text[token.start_pos or 0 :])
    if "a formula" in expected and foreign is not None:
        message = foreign
    elif "a formula" in expected:
        message = f"the formula breaks off before '{token.value}'"
    elif compares:
        message = f"a number must be compared, '{token.value}' does not (quote digits that are symbols: '1')"
    elif token.value in {")", "]"}:
        message = f"'{token.value}' closes nothing"
    else:
        message = f"'{token.value[:40]}' cannot stand here"
    _, quoted = _quoted(text, token.start_pos or 0, alphabet)
    return _at(token, f"{message} (as a symbol write {quoted})" if quoted else message, text, *expected)


def _unknown(text: str, place: int, alphabet: Alphabet | None) -> str:
    found = re.match(r"[A-Za-z_][A-Za-z0-9_]*|.", text[place:], re.DOTALL)
    shown = found.group()[:40] if found else ""
    if shown[:1] in {"'", '"'}:
        _, quoted = _quoted(text, place, alphabet)
        return f"a quotation mark is not closed{f' (as a symbol write {quoted})' if quoted else ''}"
    if shown == "#":
        return "a count is written #<[f], #>[f] or #[f]"
    foreign = written_here(text[place:])
    if re.match(r"[A-Z]", shown):
        if foreign is not None:
            return f"{foreign} (as a symbol quote it: '{shown}')"
        return f"unknown operator '{shown}' (operators are separate words; as a symbol quote it: '{shown}')"
    meant, quoted = _quoted(text, place, alphabet)
    if meant:
        written = f"{text[:place]}{quoted}{text[place + len(meant) :]}"
        example = f": {written}" if len(written) <= LONGEST_EXAMPLE and written.isprintable() else ""
        return f"write {quoted} in quotes{example}"
    return foreign or f"unexpected {shown!r}"


def _quoted(text: str, place: int, alphabet: Alphabet | None) -> tuple[str, str]:
    """The longest symbol that stands at the place though it must be quoted, and it in quotes; '' for none."""
    symbols = () if alphabet is None else alphabet.symbols
    must = (s for s in symbols if text.startswith(s, place) and not re.fullmatch(r"[a-z][a-z0-9_]*", s))
    meant = max(must, key=len, default="")
    quote = '"' if "'" in meant else "'"
    return meant, f"{quote}{meant}{quote}" if meant else ""


def _expected(terminals: set[str] | None) -> tuple[str, ...]:
    """A few words for what could stand here."""
    names = set(terminals or ())
    words: list[str] = []
    if names & _STARTS_OF_FORMULAS:
        words.append("a formula")
        names -= {"INTEGER", "MINUS"}
    elif names & {"POS", "COUNT"}:
        words.append("a term (an integer, pos, len or a count)")
        names -= {"INTEGER", "MINUS"}
    if "COMPARISON" in names:
        names -= {"EQUALITY", "INEQUALITY"}
    # lark calls the connectives of several characters, such as <->, __ANON_0 and so on.
    if names & _CONNECTIVE_TERMINALS or any(name.startswith("__ANON_") for name in names):
        words.append("an operator (& | xor -> <-> S T U R W M)")
        names.discard("BINARY")
    words.extend(_WORDS_FOR_TERMINALS[name] for name in sorted(names) if name in _WORDS_FOR_TERMINALS)
    return tuple(dict.fromkeys(words))
