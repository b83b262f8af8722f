"""Reading and showing formulas: they undo each other, and whatever is not a formula gets a located error."""

from __future__ import annotations

import random
import re
from importlib import resources
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lark import Lark
from lark.lexer import PatternStr

from attemper.errors import ExitCode, SourceError
from attemper.exact.predicates import BUILT_IN, RESERVED_WORDS, Named, Remainder, register_predicate
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import MAX_INTEGER, MAX_LISTED, MAX_NESTING, parse
from attemper.languages.temporal.show import show, show_symbol
from attemper.languages.temporal.syntax import (
    Binary,
    BinaryOperator,
    Comparison,
    ComparisonOperator,
    Constant,
    CountAtom,
    First,
    Formula,
    Last,
    LengthAtom,
    Numerical,
    PositionAtom,
    Side,
    Symbol,
    Term,
    Unary,
    UnaryOperator,
)
from attemper.languages.words import Alphabet
from tests.support.drawn.samples import FormulaSampler
from tests.support.suites import Few

A, B, C = Symbol("a"), Symbol("b"), Symbol("c")
POS = Term(((1, PositionAtom()),), 0)
LEN = Term(((1, LengthAtom()),), 0)
AB = Alphabet(("a", "b"))

STRANGE_SYMBOLS = (
    *("a", "b", "push", "pop", "x_1", "a0", "0", "1", "42", "S", "Y", "WY", "X[!]", "U", "Push"),
    *("'", '"', "it's", '"q"', "(", ")", "[", "#<[a]", "!", "%", "&", "=", "->", "é", "名", "$", "_", "-1"),
    *sorted(RESERVED_WORDS | BUILT_IN),
)


def assert_reads_back(formula: Formula) -> None:
    text = show(formula)
    again = parse(text)
    assert again == formula
    assert show(again) == text


def assert_points_into(error: SourceError, text: str) -> None:
    """Line and column lie in the text, and the caret of the message stands under that place."""
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    source = lines[error.line - 1]
    assert 1 <= error.column <= len(source) + 1
    assert error.text == text
    first, shown, caret, *rest = str(error).split("\n")
    assert first == f"{error.message} (line {error.line}, column {error.column})"
    assert re.fullmatch(" {4,}\\^", caret)
    under = (shown + " ")[caret.index("^")]
    meant = (source + " ")[error.column - 1]
    assert under == (meant if meant.isprintable() else " ")
    assert rest == ([f"expected: {', '.join(error.expected)}"] if error.expected else [])


def assert_read_or_refused(text: str) -> SourceError | None:
    """Any text is a formula that reads back from what is shown, or a located error."""
    try:
        formula = parse(text)
    except SourceError as error:
        assert_points_into(error, text)
        return error
    assert_reads_back(formula)
    return None


# Formulas shown and read back


@st.composite
def formulas(draw: st.DrawFn) -> Formula:
    rng = draw(st.randoms(use_true_random=False))
    symbols = draw(st.lists(st.sampled_from(STRANGE_SYMBOLS), min_size=1, max_size=4, unique=True))
    return FormulaSampler(rng, tuple(symbols)).formula(draw(st.integers(0, 5)))


@given(formulas())
def test_a_formula_shown_reads_back(formula: Formula) -> None:
    assert_reads_back(formula)


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 9))])
def test_many_formulas_shown_read_back(seed: int, few: Few) -> None:
    rng = random.Random(seed)
    sampler = FormulaSampler(rng, STRANGE_SYMBOLS)
    for _ in few(range(150), 50):
        assert_reads_back(sampler.formula(rng.randint(2, 6)))


@given(formulas(), st.randoms(use_true_random=False))
def test_blanks_and_extra_brackets_change_nothing(formula: Formula, rng: random.Random) -> None:
    tokens = re.findall(r"'[^']*'|\"[^\"]*\"|X\[!\]|#[<>]?\[|\w+|[<>=!-]+|.", show(formula))
    spaced = "".join(token + rng.choice([" ", "  ", "\n", "\t"]) for token in tokens if token.strip())
    assert parse(f"(\n({spaced}) )") == formula


@pytest.mark.parametrize("name", STRANGE_SYMBOLS)
def test_a_strange_symbol_reads_back(name: str) -> None:
    assert_reads_back(Symbol(name))
    assert_reads_back(Unary(UnaryOperator.YESTERDAY, Symbol(name)))
    assert parse(show_symbol(name), Alphabet((name,))) == Symbol(name)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a", "a"),
        ("push_2", "push_2"),
        ("1", "'1'"),
        ("S", "'S'"),
        ("even", "'even'"),
        ("pos", "'pos'"),
        ("true", "'true'"),
        ("_a", "'_a'"),
        ("'", '"\'"'),
        ('"', "'\"'"),
        ("it's", '"it\'s"'),
    ],
)
def test_which_quotation_marks_a_symbol_gets(name: str, shown: str) -> None:
    assert show(Symbol(name)) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("((a) & (b))", "a & b"),
        ("(a & b) & c", "a & b & c"),
        ("a & (b & c)", "a & (b & c)"),
        ("a -> (b -> c)", "a -> b -> c"),
        ("(a -> b) -> c", "(a -> b) -> c"),
        ("a S (b S c)", "a S b S c"),
        ("(a S b) S c", "(a S b) S c"),
        ("!(!(a))", "!!a"),
        ("not a and Y(b)", "!a & Y b"),
        ("O (a & b)", "O (a & b)"),
        ("(Y a) S b", "Y a S b"),
        ("Y (a S b)", "Y (a S b)"),
        ("(a | b) & c", "(a | b) & c"),
        ("a xor b xor c", "a xor b xor c"),
        ("(a)<->(b)", "a <-> b"),
        ("0 + 1*pos - 3 < - 2*len", "pos - 3 < -2*len"),
        ("pos + pos = 2", "2*pos == 2"),
        ("2*(3*#<[a]) - len + 4 >= 0*pos", "6*#<[a] - len + 4 >= 0"),
        ("(pos + 1) % 2 == 0", "(pos + 1) % 2 = 0"),
        ("pos%2!=1", "!pos % 2 = 1"),
        ("even(#[a]-#>[b])", "even(#[a] - #>[b])"),
        ("3 - 3 = 1 - 1", "0 == 0"),
        ("-pos < 1", "-pos < 1"),
        ("#<[#>=[a] = 1] > 0", "#<[#>[a] == 1] > 0"),
    ],
)
def test_the_canonical_text(text: str, shown: str) -> None:
    assert show(parse(text)) == shown
    assert_reads_back(parse(text))


# What the texts mean


@pytest.mark.parametrize("operator", UnaryOperator)
def test_each_unary_operator(operator: UnaryOperator) -> None:
    assert parse(f"{operator} a") == parse(f"{operator}(a)") == Unary(operator, A)


@pytest.mark.parametrize("operator", BinaryOperator)
def test_each_binary_operator(operator: BinaryOperator) -> None:
    assert parse(f"a {operator} b") == parse(f"(a){operator}(b)") == Binary(operator, A, B)


@pytest.mark.parametrize("operator", ComparisonOperator)
def test_each_comparison(operator: ComparisonOperator) -> None:
    assert parse(f"pos {operator} len") == parse(f"pos{operator}len") == Comparison(operator, POS, LEN)


@pytest.mark.parametrize("side", Side)
def test_each_count(side: Side) -> None:
    count = Term(((1, CountAtom(side, A)),), 0)
    assert parse(f"{side}[a] < pos") == Comparison(ComparisonOperator.LESS, count, POS)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("true", Constant(True)),
        ("false", Constant(False)),
        ("first", First()),
        ("last", Last()),
        ("'first'", Symbol("first")),
        ("pos % 3 = 2", Numerical(Remainder(3, 2), POS)),
        ("pos % 3 != 2", Unary(UnaryOperator.NOT, Numerical(Remainder(3, 2), POS))),
        ("prime(len)", Numerical(Named("prime"), LEN)),
        ("2*pos - 5 < 0", Comparison(ComparisonOperator.LESS, Term(((2, PositionAtom()),), -5), Term((), 0))),
        (
            "-(pos - len) < 1",
            Comparison(
                ComparisonOperator.LESS,
                Term(((-1, PositionAtom()), (1, LengthAtom())), 0),
                Term((), 1),
            ),
        ),
        ("truefalse", Symbol("truefalse")),
        ("nota", Symbol("nota")),
        ("position", Symbol("position")),
    ],
)
def test_what_a_text_means(text: str, formula: Formula) -> None:
    assert parse(text) == formula


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("~a", "!a"),
        ("not a", "!a"),
        ("a && b", "a & b"),
        ("a and b", "a & b"),
        ("a || b", "a | b"),
        ("a or b", "a | b"),
        ("a => b", "a -> b"),
        ("a <=> b", "a <-> b"),
        ("a ^ b", "a xor b"),
        ("Z a", "WY a"),
        ("N a", "WX a"),
        ("X[!] a", "X a"),
        ("#<=[a] < 1", "#<[a] < 1"),
        ("#>=[a] < 1", "#>[a] < 1"),
        ("pos = 1", "pos == 1"),
        ("pos % 2 == 1", "pos % 2 = 1"),
        ('"a"', "a"),
        ("'a'", "a"),
    ],
)
def test_each_alias(alias: str, canonical: str) -> None:
    assert parse(alias) == parse(canonical)
    assert show(parse(alias)) == canonical
    assert alias != canonical


TIGHTEST_FIRST = (
    ("S", "T", "U", "R", "W", "M"),
    ("&",),
    ("|",),
    ("xor",),
    ("->",),
    ("<->",),
)
BINDS_TO_THE_RIGHT = ("S", "T", "U", "R", "W", "M", "->")


def looseness(operator: str) -> int:
    (level,) = (level for level, operators in enumerate(TIGHTEST_FIRST) if operator in operators)
    return level


@pytest.mark.parametrize("one", BinaryOperator)
@pytest.mark.parametrize("two", BinaryOperator)
def test_precedence_of_two_binary_operators(one: BinaryOperator, two: BinaryOperator) -> None:
    equally = looseness(one) == looseness(two)
    right_first = one in BINDS_TO_THE_RIGHT if equally else looseness(two) < looseness(one)
    left_nested = Binary(two, Binary(one, A, B), C)
    right_nested = Binary(one, A, Binary(two, B, C))
    assert parse(f"a {one} b {two} c") == (right_nested if right_first else left_nested)
    assert parse(f"(a {one} b) {two} c") == left_nested
    assert parse(f"a {one} (b {two} c)") == right_nested


@pytest.mark.parametrize("unary", UnaryOperator)
@pytest.mark.parametrize("binary", BinaryOperator)
def test_a_unary_operator_binds_tighter_than_any_binary_one(
    unary: UnaryOperator, binary: BinaryOperator
) -> None:
    assert parse(f"{unary} a {binary} b") == Binary(binary, Unary(unary, A), B)
    assert parse(f"a {binary} {unary} b") == Binary(binary, A, Unary(unary, B))


@pytest.mark.parametrize("unary", UnaryOperator)
def test_a_unary_operator_binds_looser_than_a_comparison(unary: UnaryOperator) -> None:
    assert parse(f"{unary} pos < len") == Unary(unary, parse("pos < len"))
    assert parse(f"{unary} pos % 2 = 1") == Unary(unary, parse("pos % 2 = 1"))


# Random texts


def grammar() -> Lark:
    text = resources.files("attemper.languages.temporal").joinpath("grammar.lark").read_text(encoding="utf-8")
    return Lark(text, parser="lalr")


GRAMMAR = grammar()
TERMINAL_TEXTS = {
    "UNARY": ["Y", "WY", "Z", "O", "H", "X", "X[!]", "WX", "N", "F", "G"],
    "BINARY": ["S", "T", "U", "R", "W", "M"],
    "NEGATION": ["!", "~"],
    "_AND_WORD": ["and"],
    "_OR_WORD": ["or"],
    "_XOR_WORD": ["xor"],
    "COUNT": ["#[", "#<[", "#<=[", "#>[", "#>=["],
    "COMPARISON": ["<=", "<", ">=", ">"],
    "EQUALITY": ["=", "=="],
    "NAME": ["a", "b", "push", "x_1", "even", "prime", "unheard_of"],
    "QUOTED": ["'a'", '"a"', "'1'", '"\'"', "'\"'", "''", "'two words'", "'S'"],
    "INTEGER": [*"0011223579", "12", "31", "007", "1000000001", "99999999999999999999"],
}
for _terminal in GRAMMAR.terminals:
    if isinstance(_terminal.pattern, PatternStr):
        TERMINAL_TEXTS[_terminal.name] = [_terminal.pattern.value]
HARMLESS_TEXTS = {**TERMINAL_TEXTS, "NAME": ["even", "odd"], "QUOTED": ["'a'"], "INTEGER": ["1"]}


def shortest_derivations() -> dict[str, int]:
    """How deep the flattest derivation of each nonterminal is."""
    depth: dict[str, int] = {}
    while True:
        known = dict(depth)
        for rule in GRAMMAR.rules:
            parts = [0 if part.is_term else known.get(part.name, 10**6) for part in rule.expansion]
            depth[rule.origin.name] = min(depth.get(rule.origin.name, 10**6), 1 + max(parts, default=0))
        if depth == known:
            return depth


DEPTHS = shortest_derivations()


def derive(
    rng: random.Random, texts: dict[str, list[str]], name: str = "start", budget: int = 30
) -> list[str]:
    """The tokens of a random sentence of the grammar itself, at most `budget` rules deep."""
    rules = [rule for rule in GRAMMAR.rules if rule.origin.name == name]

    def needed(rule: Any) -> int:
        return max((0 if part.is_term else DEPTHS[part.name] for part in rule.expansion), default=0)

    rule = rng.choice([rule for rule in rules if needed(rule) < budget] or [min(rules, key=needed)])
    passing_on = [rule for rule in rules if len(rule.expansion) == 1 and not rule.expansion[0].is_term]
    if passing_on and name != "product" and rng.random() < 0.75:
        # Most levels of the grammar only pass on to the next, or sentences would have no end.
        (rule,) = passing_on
    tokens = []
    for part in rule.expansion:
        if part.is_term:
            tokens.append(rng.choice(texts[part.name]))
        else:
            tokens += derive(rng, texts, part.name, budget - 1)
    return tokens


def test_the_random_texts_use_every_terminal_of_the_grammar() -> None:
    terminals = {terminal.name: terminal for terminal in GRAMMAR.terminals if terminal.name != "__IGNORE_0"}
    assert terminals.keys() == TERMINAL_TEXTS.keys()
    for name, terminal in terminals.items():
        for text in TERMINAL_TEXTS[name]:
            assert re.fullmatch(terminal.pattern.to_regexp(), text)


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(4, 12))]
)
def test_a_random_sentence_of_the_grammar_is_read_or_refused_for_its_meaning(seed: int) -> None:
    """The grammar derives it, so only what names, integers and quotes say can be wrong with it."""
    rng = random.Random(seed)
    complaints = (
        "is a numerical predicate; quote it",
        "no numerical predicate is called",
        "a symbol has at least one character",
        "a modulus is at least 1",
        "a remainder mod",
        f"is larger than {MAX_INTEGER}",
        f"has a factor larger than {MAX_INTEGER}",
    )
    read = 0
    for _ in range(150):
        error = assert_read_or_refused(" ".join(derive(rng, TERMINAL_TEXTS)))
        read += error is None
        assert error is None or any(complaint in error.message for complaint in complaints)
    assert read > 20


def test_a_random_sentence_with_known_names_is_read_or_complains_of_one() -> None:
    rng = random.Random(0)
    for _ in range(200):
        tokens = derive(rng, HARMLESS_TEXTS)
        error = assert_read_or_refused(rng.choice([" ", "\n"]).join(tokens))
        if error is not None:
            misused = "is a numerical predicate; quote it" in error.message
            assert misused or error.message == "a remainder mod 1 lies in 0..0, not 1"


@given(st.randoms(use_true_random=False), st.sampled_from(["", " ", "\n"]))
def test_a_random_sentence_run_together_is_read_or_refused(rng: random.Random, blank: str) -> None:
    tokens = derive(rng, TERMINAL_TEXTS, budget=16)
    assert_read_or_refused("".join(token + rng.choice([" ", blank]) for token in tokens))


TOKENS = [
    *sorted({text for texts in TERMINAL_TEXTS.values() for text in texts}),
    *("1", "#", "'", '"', "Q", "é"),
]


@given(st.lists(st.sampled_from(TOKENS), max_size=12), st.sampled_from(["", " ", "\n"]))
def test_random_tokens_are_read_or_refused(tokens: list[str], blank: str) -> None:
    assert_read_or_refused(blank.join(tokens))


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    assert_read_or_refused(text)


@given(formulas(), st.data())
def test_a_formula_with_a_slip_is_read_or_refused(formula: Formula, data: st.DataObject) -> None:
    text = show(formula)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 3)))
    assert_read_or_refused(text[:start] + data.draw(st.sampled_from(["", *TOKENS])) + text[end:])


@given(formulas(), st.integers(0, 200))
def test_a_formula_cut_off_is_read_or_refused(formula: Formula, length: int) -> None:
    assert_read_or_refused(show(formula)[:length])


# Errors

FORMULA = "a formula"
OPERATOR = "an operator (& | xor -> <-> S T U R W M)"
COMPARISON = "a comparison (<= < >= > = !=)"
TERM = "a term (an integer, pos, len or a count)"
ARITHMETIC = ("-", "%", "+")
TOO_EARLY = "the formula ends too early: is a bracket open, or an operand missing?"
UNCOMPARED = "the formula ends too early: a number must be compared (quote digits that are symbols: '1')"
COUNTS = "a count is written #<[f], #>[f] or #[f]"
UNCLOSED = "a quotation mark is not closed"
NO_DIGITS = "does not (quote digits that are symbols: '1')"


def assert_refused(
    text: str, place: tuple[int, int], message: str, *expected: str, alphabet: Alphabet | None = None
) -> None:
    """The error of `text` is at (line, column) with this message and, among others, these expectations."""
    with pytest.raises(SourceError) as caught:
        parse(text, alphabet)
    error = caught.value
    assert message in error.message
    assert (error.line, error.column) == place
    assert set(expected) <= set(error.expected)
    assert error.exit_code is ExitCode.SOURCE
    assert_points_into(error, text)


@pytest.mark.parametrize(
    ("text", "column", "message", "expected"),
    [
        # The end comes too early.
        ("", 1, TOO_EARLY, (FORMULA,)),
        ("   ", 4, TOO_EARLY, (FORMULA,)),
        ("a &", 4, TOO_EARLY, (FORMULA,)),
        ("a S", 4, TOO_EARLY, (FORMULA,)),
        ("WY", 3, TOO_EARLY, (FORMULA,)),
        ("!", 2, TOO_EARLY, (FORMULA,)),
        ("#<[a]", 6, UNCOMPARED, (COMPARISON, *ARITHMETIC)),
        ("#<[a] >", 8, TOO_EARLY, (TERM,)),
        ("2*", 3, TOO_EARLY, ()),
        ("pos % 2", 8, TOO_EARLY, ("=", "!=")),
        ("pos % 2 =", 10, TOO_EARLY, ("an integer",)),
        # Brackets.
        ("(a", 3, TOO_EARLY, (")",)),
        ("a & (b | (c)", 13, TOO_EARLY, (")",)),
        ("#<[a", 5, TOO_EARLY, ("]",)),
        ("even(pos", 9, TOO_EARLY, (")",)),
        ("a)", 2, "')' closes nothing", ("the end",)),
        ("(a | b)) & c", 8, "')' closes nothing", ("the end",)),
        ("a]", 2, "']' closes nothing", ("the end",)),
        ("#<[a]] > 0", 6, "a number must be compared, ']' does not", (COMPARISON,)),
        ("(#<[a) > 0]", 6, "')' closes nothing", ("]",)),
        ("()", 2, "the formula breaks off before ')'", (FORMULA,)),
        ("#[]", 3, "the formula breaks off before ']'", (FORMULA,)),
        ("H (a ->)", 8, "the formula breaks off before ')'", (FORMULA,)),
        # Quotation marks.
        ("'abc", 1, UNCLOSED, (FORMULA,)),
        ('a & "b', 5, UNCLOSED, (FORMULA,)),
        ("a '", 3, UNCLOSED, (OPERATOR,)),
        ("a & 'b\"", 5, UNCLOSED, (FORMULA,)),
        ("a & ''", 5, "a symbol has at least one character and no blanks", ()),
        ("a & 'b c'", 5, "a symbol has at least one character and no blanks", ()),
        # Digits that are symbols, and other numbers that are not compared.
        ("1 S b", 3, f"a number must be compared, 'S' {NO_DIGITS}", (COMPARISON, *ARITHMETIC)),
        ("#<[1] = 2", 5, f"a number must be compared, ']' {NO_DIGITS}", (COMPARISON, *ARITHMETIC)),
        ("H (0 -> 1)", 6, f"a number must be compared, '->' {NO_DIGITS}", (COMPARISON, *ARITHMETIC)),
        ("a & 1", 6, UNCOMPARED, (COMPARISON, *ARITHMETIC)),
        ("pos & a", 5, f"a number must be compared, '&' {NO_DIGITS}", (COMPARISON, *ARITHMETIC)),
        ("2 (pos) < 1", 3, "a number must be compared, '(' does not", (COMPARISON, *ARITHMETIC, "*")),
        # Counts.
        ("#<a]", 1, COUNTS, (FORMULA,)),
        ("a & #a > 0", 5, COUNTS, (FORMULA,)),
        ("pos + #(a) = 2", 7, COUNTS, ()),
        # Operators that do not exist, and things in places where they cannot stand.
        ("Q a", 1, "unknown operator 'Q'", (FORMULA,)),
        (
            "YY a",
            1,
            "unknown operator 'YY' (operators are separate words; as a symbol quote it: 'YY')",
            (FORMULA,),
        ),
        ("a Sb", 3, "unknown operator 'Sb'", (OPERATOR,)),
        # What others write.
        ("[](a -> <>b)", 1, "'[]' is written G, or H of what came before", (FORMULA,)),
        ("a -> <>b", 6, "'<>' is written F, or O of what came before", (FORMULA,)),
        ("a <> b", 3, "'<' cannot stand here", (OPERATOR, "the end")),
        ("\u25a1a", 1, "'\u25a1' is written G, or H", (FORMULA,)),
        ("\u25c7a", 1, "'\u25c7' is written F, or O", (FORMULA,)),
        (
            "a & \u25cbb",
            5,
            "'\u25cb' is written X (WX where there may be no next position), or Y",
            (FORMULA,),
        ),
        (
            "\u2200x a",
            1,
            "'\u2200' is written G, or H of what came before: there are no variables",
            (FORMULA,),
        ),
        (
            "\u2203x a",
            1,
            "'\u2203' is written F, or O of what came before: there are no variables",
            (FORMULA,),
        ),
        ("a \u2227 b", 3, "'\u2227' is written &", (OPERATOR,)),
        ("P a", 1, "'P' is written O (as a symbol quote it: 'P')", (FORMULA,)),
        ("Pa", 1, "unknown operator 'Pa'", (FORMULA,)),
        ("a V b", 3, "'V' is written R", (OPERATOR,)),
        ("a & Push", 5, "unknown operator 'Push'", (FORMULA,)),
        ("a b", 3, "'b' cannot stand here", (OPERATOR, "the end")),
        ("a 'b'", 3, "''b'' cannot stand here", (OPERATOR, "the end")),
        ("a = b", 3, "'=' cannot stand here", (OPERATOR, "the end")),
        ("pos = a", 7, "'a' cannot stand here", (TERM,)),
        ("1 < pos < 3", 9, "'<' cannot stand here", (OPERATOR, "the end", "-", "+")),
        ("a & & b", 5, "the formula breaks off before '&'", (FORMULA,)),
        ("a S S b", 5, "the formula breaks off before 'S'", (FORMULA,)),
        ("a & $", 5, "unexpected '$'", (FORMULA,)),
        ("a\t& \x0b", 5, r"unexpected '\x0b'", (FORMULA,)),
        ("é", 1, "unexpected 'é'", (FORMULA,)),
        ("_a", 1, "unexpected '_a'", (FORMULA,)),
        # Integers.
        ("1000000001 < pos", 1, "the integer is larger than 1000000000", ()),
        ("pos < 99999999999999999999999", 7, "the integer is larger than 1000000000", ()),
        ("pos % 1000000001 = 0", 7, "the integer is larger than 1000000000", ()),
        ("pos % 5 = 99999999999", 11, "the integer is larger than 1000000000", ()),
        ("a & 2*(1000000000*pos) > 1", 5, "has a factor larger than 1000000000", ()),
        # Numerical predicates.
        ("pos % 0 = 0", 7, "a modulus is at least 1, not 0", ()),
        ("a | pos % 3 = 3", 15, "a remainder mod 3 lies in 0..2, not 3", ()),
        ("#<[a] % 1 = 1", 13, "a remainder mod 1 lies in 0..0, not 1", ()),
        ("pos % a = 1", 7, "'a' cannot stand here", ("an integer",)),
        ("a & lucas(pos)", 5, "no numerical predicate is called 'lucas'", ()),
        ("even", 1, "'even' is a numerical predicate; quote it to mean the symbol", ("even(term)",)),
        ("H (a -> odd)", 9, "'odd' is a numerical predicate; quote it", ("odd(term)",)),
        ("even(a)", 6, "'a' cannot stand here", (TERM,)),
    ],
)
def test_error(text: str, column: int, message: str, expected: tuple[str, ...]) -> None:
    assert_refused(text, (1, column), message, *expected)


def test_a_registered_predicate_is_named_where_there_is_no_such_symbol() -> None:
    register_predicate("lucky_in_parse_tests", lambda value: value == 7)
    with pytest.raises(SourceError, match="'lucky_in_parse_tests' is a numerical predicate; quote it"):
        parse("a & lucky_in_parse_tests", AB)
    symbol = Symbol("lucky_in_parse_tests")
    for alphabet in (None, Alphabet(("a", symbol.name))):
        assert parse("lucky_in_parse_tests", alphabet) == symbol


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("a &\n& b", (2, 1), "the formula breaks off before '&'"),
        ("a &\n  (b |\n", (3, 1), TOO_EARLY),
        ("O (a\n   & Q b)", (2, 6), "unknown operator 'Q'"),
        ("a\n\n | 'b", (3, 4), UNCLOSED),
        ("a & 'b\n'", (1, 5), UNCLOSED),
        ("a\r\n& )", (2, 3), "the formula breaks off before ')'"),
        ("a |\n pos % 2 = 2", (2, 12), "a remainder mod 2 lies in 0..1, not 2"),
        ("a |\n even", (2, 2), "'even' is a numerical predicate"),
        ("pos\n  < 5000000000", (2, 5), "the integer is larger than"),
    ],
)
def test_error_in_a_text_of_several_lines(text: str, place: tuple[int, int], message: str) -> None:
    assert_refused(text, place, message)


@pytest.mark.parametrize(
    ("text", "place", "culprit"),
    [
        ("c", (1, 1), "c"),
        ("a & Y c", (1, 7), "c"),
        ("H (a ->\n  O 'S')", (2, 5), "S"),
        ("#<[ab] > 0", (1, 4), "ab"),
        ("''", (1, 1), ""),
        ("'a b'", (1, 1), "a b"),
        ("'even'", (1, 1), "even"),
    ],
)
def test_error_for_a_symbol_outside_the_alphabet(text: str, place: tuple[int, int], culprit: str) -> None:
    assert_refused(text, place, f"symbol '{culprit}' is not in the alphabet", "'a'", "'b'", alphabet=AB)


def test_an_error_lists_at_most_twenty_symbols() -> None:
    alphabet = Alphabet(tuple(f"s{number}" for number in range(100)))
    with pytest.raises(SourceError) as caught:
        parse("t", alphabet)
    assert caught.value.expected == tuple(f"'s{number}'" for number in range(20))


def test_predicates_stay_predicates_whatever_the_alphabet() -> None:
    alphabet = Alphabet(("even", "odd"))
    assert parse("'even' & even(pos)", alphabet) == parse("'even' & even(pos)")
    assert_refused("even", (1, 1), "quote it to mean the symbol", "even(term)", alphabet=alphabet)


def test_the_text_of_an_error() -> None:
    with pytest.raises(SourceError) as caught:
        parse("H (a\n -> )")
    assert str(caught.value) == (
        "the formula breaks off before ')' (line 2, column 5)\n     -> )\n        ^\nexpected: a formula"
    )


@pytest.mark.parametrize("before", [0, 3, 30, 3000])
def test_the_caret_stands_under_the_culprit_in_a_long_line(before: int) -> None:
    text = " " * before + "$" + " & b" * 1000
    assert_refused(text, (1, before + 1), "unexpected '$'", FORMULA)
    with pytest.raises(SourceError) as caught:
        parse(text)
    _, shown, caret, _ = str(caught.value).split("\n")
    assert shown[caret.index("^")] == "$"
    assert len(shown) <= 104


def test_a_long_unknown_word_is_shown_in_part() -> None:
    assert_refused("Q" * 5000, (1, 1), f"unknown operator '{'Q' * 40}'", FORMULA)
    assert_refused(f"a {'b' * 5000}", (1, 3), f"'{'b' * 40}' cannot stand here", OPERATOR)


# Deep and large formulas


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    "deep",
    [
        "!" * (MAX_NESTING - 2) + "a",
        "Y " * (MAX_NESTING - 2) + "a",
        "a -> " * (MAX_NESTING - 2) + "a",
        "a S " * (MAX_NESTING - 2) + "a",
        "a" + " & a" * (MAX_LISTED - 1),
        "a" + " xor b" * (MAX_LISTED - 1),
        " | ".join(f"#<[a] == {k}" for k in range(MAX_LISTED)),
        "Y (" + " | ".join(["a"] * MAX_LISTED) + ") & b",
        "#<[" * 60 + "a" + "] > 0" * 60,
        "even(#<[" * 60 + "a" + "])" * 60,
    ],
    ids=["!", "Y", "->", "S", "&", "xor", "|", "Y |", "counts", "predicates"],
)
def test_a_deep_formula_is_read_shown_and_evaluated(deep: str) -> None:
    formula = parse(deep)
    assert show(formula) == deep
    assert parse(show(formula)) == formula
    assert len(truth(formula, ("a", "b"))) == 2
    assert len(truth(Binary(BinaryOperator.AND, formula, parse(deep)), ("a", "b"))) == 2


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "too_deep",
    [
        "!" * MAX_NESTING + "a",
        "!" * 100_000 + "a",
        "a -> " * MAX_NESTING + "a",
        "a & (" * MAX_NESTING + "b" + ")" * MAX_NESTING,
        "#<[" * MAX_NESTING + "a" + "] > 0" * MAX_NESTING,
        "#<[" * 5000 + "a" + "] > 0" * 5000,
    ],
    ids=["!", "!!!", "->", "& (", "counts", "count^n"],
)
def test_a_formula_that_nests_too_deeply_is_refused(too_deep: str) -> None:
    error = assert_read_or_refused(too_deep)
    assert error is not None
    assert error.message == f"the formula nests deeper than {MAX_NESTING} levels"


def test_brackets_do_not_count_as_nesting() -> None:
    assert parse("(" * 5000 + "a" + ")" * 5000) == A


@pytest.mark.parametrize(
    "text", ["pos" + " + pos" * 2000 + " > 0", "-(" * 2000 + "pos" + ")" * 2000 + " > 0"], ids=["+", "-("]
)
def test_a_long_or_deep_term_is_read_or_refused(text: str) -> None:
    error = assert_read_or_refused(text)
    assert error is None or "nests deeper" in error.message


def test_the_largest_integer_is_read_and_shown() -> None:
    text = f"{MAX_INTEGER}*pos - {MAX_INTEGER} < {MAX_INTEGER}"
    assert show(parse(text)) == text
    assert_reads_back(parse(text))


@pytest.mark.sweep(1, also=["text2"])
@pytest.mark.parametrize(
    "text", ["a" + " & a" * MAX_LISTED, "a" + " | a" * 10_000, "Y (a" + " xor b" * 3_000 + ")"]
)
def test_a_list_that_is_too_long_is_refused(text: str) -> None:
    error = assert_read_or_refused(text)
    assert error is not None
    assert error.message == f"more than {MAX_LISTED:,} parts are joined in a row"


def test_a_list_of_lists_is_as_deep_as_its_deepest_part() -> None:
    inner = "!" * (MAX_NESTING - 2) + "a"
    formula = parse(f"b & b & {inner} & b & b")
    assert show(formula) == f"b & b & {inner} & b & b"
    error = assert_read_or_refused(f"b & b & !{inner} & b & b")
    assert error is not None
    assert "nests deeper" in error.message


# Traps of earlier versions


@pytest.mark.parametrize(
    "text",
    [
        "1000000000 + 1 < pos",
        "5*(pos + 1000000000) < 1",
        "1000000000*pos + 1000000000*pos < 1",
        "pos - 1000000000 - 1000000000 < 1",
    ],
)
def test_arithmetic_never_leaves_the_integers_that_can_be_read(text: str) -> None:
    assert_read_or_refused(text)


@pytest.mark.parametrize(
    "text",
    [
        "!" * (MAX_NESTING - 3) + "pos % 2 != 1",
        "even(1 - #<[" * 80 + "a" + "])" * 80,
    ],
    ids=["!=", "1 - #"],
)
def test_a_formula_at_the_limit_of_nesting_reads_back(text: str) -> None:
    parse(text)
    assert_read_or_refused(text)


def test_a_sum_of_deep_counts_is_read_or_refused() -> None:
    deep = "#<[" * 110 + "a" + "] > 0" * 110
    assert_read_or_refused(f"#<[{deep}] + #<[{deep}] > 0")


def test_counts_nested_to_the_limit_do_not_exhaust_the_stack() -> None:
    levels = MAX_NESTING - 2
    deep = "#<[" * levels + "a" + "] > 0" * levels
    formula = parse(f"{deep} & {deep}")
    assert show(formula) == f"{deep} & {deep}"
    assert show(parse(show(formula))) == show(formula)
    assert truth(formula, ("b", "a")) == (False, True)


@pytest.mark.parametrize("text", ["a orb", "a andb", "a xorb", "a orfirst"])
def test_operators_that_are_words_are_whole_words(text: str) -> None:
    with pytest.raises(SourceError):
        parse(text)


@pytest.mark.parametrize("text", ["pos < 1 => a", "#<[a] = 1 => b", "1 < pos => b", "len > 2*pos => a"])
def test_the_arrow_alias_stands_behind_a_comparison_too(text: str) -> None:
    assert parse(text) == parse(text.replace("=>", "->"))


def test_a_sign_of_others_that_is_a_symbol_is_quoted() -> None:
    with pytest.raises(SourceError, match="write '\u25a1' in quotes: O '\u25a1'"):
        parse("O \u25a1", Alphabet(("\u25a1", "b")))
