"""Regular expressions: against Python's `re`, set algebra and automata-lib; every error with its column."""

from __future__ import annotations

import random
import re
import time
from dataclasses import dataclass

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from attemper.errors import ExitCode, SourceError, UnsupportedError
from attemper.languages.regular import regex
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import MAX_NESTING, MAX_REPETITION, MAX_STATES, parse_regex
from attemper.languages.words import Alphabet, Word, parse_alphabet, words_of_length

AB = Alphabet(("a", "b"))
LONGEST = 6
WORDS = tuple(word for n in range(LONGEST + 1) for word in words_of_length(AB, n))
Language = frozenset[Word]


def language(dfa: Dfa, length: int = LONGEST) -> Language:
    words = (word for n in range(length + 1) for word in words_of_length(dfa.alphabet, n))
    return frozenset(word for word in words if dfa.accepts(word))


# Against Python's re -------------------------------------------------------------------------------


def random_common(rng: random.Random, depth: int) -> str:
    """An expression that Python and we read alike: no operator binds looser than its brackets say."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(("a", "b", "a", "b", ".", "[ab]", "[^a]", "[a-b]", "()"))
    parts = [random_common(rng, depth - 1) for _ in range(rng.randint(2, 3))]
    match rng.randrange(4):
        case 0:
            return "".join(parts)
        case 1:
            return f"({'|'.join(parts)})"
        case 2:
            return "|".join(parts)
        case _:
            least = rng.randint(0, 3)
            repetition = rng.choice(
                ("*", "+", "?", f"{{{least}}}", f"{{{least},}}", f"{{{least},{least + 2}}}")
            )
            return f"({parts[0]}){repetition}"


@pytest.mark.parametrize("seed", range(8))
def test_the_common_syntax_means_what_python_says(seed: int) -> None:
    rng = random.Random(seed)
    sizes = set()
    for _ in range(60):
        text = random_common(rng, rng.randint(1, 4))
        dfa, pattern = parse_regex(text, AB), re.compile(text)
        sizes.add(len(dfa.moves))
        for word in WORDS:
            assert dfa.accepts(word) is bool(pattern.fullmatch("".join(word))), (text, word)
    assert len(sizes) > 5


@pytest.mark.parametrize(
    "text",
    [
        "a", "()", "()*", "(a*)*", "(a*)+", "(a?){3}", "(a|b)*abb", "a{0}", "a{0,0}", "(ab){2,3}", "a{3,}b?",
        "(a*b*)*", "((a|())b)*", "(a|ab)(b|())", "[ab]{5}", "b(a{2}){2,}", "(()|a){2,3}b", "(a*b){2,}",
        "(a+|b+)*", "(a{0,2}b?){3}", "((a?)+b){1,2}", "((ab)?){4}", "(a*){3}", "(a*){2,}", "(a{2}|a{3})*",
    ],
)  # fmt: skip
def test_chosen_expressions_mean_what_python_says(text: str) -> None:
    words = {w for n in range(9) for w in words_of_length(AB, n)}
    assert language(parse_regex(text, AB), 8) == {w for w in words if re.fullmatch(text, "".join(w))}


# Against set algebra on words up to length 6 -------------------------------------------------------


@dataclass(frozen=True)
class Sample:
    """An expression, how loosely its outermost operator binds, and its words up to length 6."""

    text: str
    looseness: int
    words: Language

    def within(self, looseness: int) -> str:
        return self.text if self.looseness <= looseness else f"({self.text})"


def concatenated(left: Language, right: Language) -> Language:
    return frozenset(u + v for u in left for v in right if len(u) + len(v) <= LONGEST)


def powers(words: Language, least: int, most: int | None) -> Language:
    """The union of the powers from least to most. Of more than `least + LONGEST` factors some are empty."""
    found: Language = frozenset()
    power: Language = frozenset({()})
    for exponent in range((least + LONGEST if most is None else most) + 1):
        if exponent >= least:
            found |= power
        power = concatenated(power, words)
    return found


def random_sample(rng: random.Random, depth: int) -> Sample:
    """Looseness: 1 repetition, 2 complement, 3 concatenation, 4 intersection, 5 union."""
    if depth == 0 or rng.random() < 0.1:
        text, words = rng.choice(
            (("a", {("a",)}), ("'b'", {("b",)}), ("()", {()}), ("[]", set()), (".", set(WORDS[1:3])))
        )
        return Sample(text, 0, frozenset(words))
    left, right = random_sample(rng, depth - 1), random_sample(rng, depth - 1)
    space = rng.choice(("", " "))
    match rng.randrange(5):
        case 0:
            least, most = rng.choice(((0, None), (1, None), (0, 1), (2, 2), (2, None), (1, 3), (0, 2)))
            spelling = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get(
                (least, most), f"{{{least},{'' if most is None else most}}}"
            )
            return Sample(left.within(0) + space + spelling, 1, powers(left.words, least, most))
        case 1:
            return Sample(f"~{space}{left.within(2)}", 2, frozenset(WORDS) - left.words)
        case 2:
            return Sample(f"{left.within(3)} {right.within(3)}", 3, concatenated(left.words, right.words))
        case 3:
            return Sample(f"{left.within(4)}{space}&{right.within(4)}", 4, left.words & right.words)
        case _:
            return Sample(f"{left.text}|{space}{right.text}", 5, left.words | right.words)


@pytest.mark.parametrize("seed", range(10))
def test_every_operator_is_its_operation_on_sets_of_words(seed: int) -> None:
    rng = random.Random(seed)
    texts = []
    for _ in range(40):
        sample = random_sample(rng, rng.randint(1, 4))
        texts.append(sample.text)
        dfa = parse_regex(sample.text, AB)
        assert language(dfa) == sample.words, sample.text
        assert minimal(dfa) == dfa
    for operator in "|&~*+?{":
        assert any(operator in text for text in texts)


@pytest.mark.parametrize(
    ("loose", "strict"),
    [
        ("a|b&a", "a|(b&a)"),
        ("a b&a", "(a b)&a"),
        ("~a b", "(~a) b"),
        ("~a*", "~(a*)"),
        ("~a{2}b", "(~(a{2}))b"),
        ("~~a", "a"),
        ("~~~a", "~a"),
        ("a ~b", "a (~b)"),
        ("ab*", "a(b*)"),
        ("a|b*", "a|(b*)"),
        ("a & b | b", "(a & b) | b"),
        ("a&.&.", "a"),
        ("(~a)*", "(a a+ | b .* | a b .* | ())*"),
        ("[]", "a&b"),
        ("~[]", ".*"),
        ("[^]", "."),
        ("[^ab]", "[]"),
        ("[]*", "()"),
        ("a[]", "[]"),
        ("[ b a ]", "a|b"),
        ("[ ^ a ]", "b"),
        ("a { 2 , 3 }", "aa|aaa"),
        ("a{ 02}", "aa"),
        ("\ta\n  b ", "ab"),
        ("~[]a~[]a~[]", ".* a .* a .*"),
        ("~([] [])", ".*"),
    ],
)
def test_two_spellings_of_one_language(loose: str, strict: str) -> None:
    assert parse_regex(loose, AB) == parse_regex(strict, AB)


# Against automata-lib ------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["(a|b)*abb", "(a{2}|b{3})*a?", "(ab|ba){5}", "((a|b){3}a)*b+"])
def test_the_minimal_automaton_is_as_small_as_automata_lib_s(text: str) -> None:
    from automata.fa.dfa import DFA
    from automata.fa.nfa import NFA

    nfa = NFA.from_regex(text, input_symbols={"a", "b"})
    theirs = DFA.from_nfa(nfa, minify=True).to_complete()
    ours = parse_regex(text, AB)
    assert len(ours.moves) == len(theirs.states)
    for word in WORDS:
        assert ours.accepts(word) is theirs.accepts_input("".join(word))


# Symbols -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alphabet", "text", "words"),
    [
        ("push pop", "push pop", {("push", "pop")}),
        ("push pop", "pushpop", {("push", "pop")}),
        ("push pop", "'push'\"pop\"", {("push", "pop")}),
        ("push pop", "[push pop]", {("push",), ("pop",)}),
        ("push pop", "[^push]", {("pop",)}),
        ("push pop", ".", {("push",), ("pop",)}),
        ("push pop", "push{2}", {("push", "push")}),
        ("a ab b", "ab", {("ab",)}),
        ("a ab b", "a b", {("a", "b")}),
        ("a ab b", "a'b'", {("a", "b")}),
        ("a ab b", "aab", {("a", "ab")}),
        ("a ab b", "[a-b]", {("a",), ("ab",), ("b",)}),
        ("a ab b", "[ab]", {("ab",)}),
        ("()", "'('\")\"", {("(", ")")}),
        ("()", "()", {()}),
        ("*+", "'*'{2}", {("*", "*")}),
        ("*a", "a['*']", {("a", "*")}),
        ("a' b", '"a\'"b', {("a'", "b")}),
        ("a-b c", "['a-b'-c]", {("a-b",), ("c",)}),
        ("01", "0{1}1", {("0", "1")}),
        ("cab", "[c-a]", {("c",), ("a",)}),
        ("cab", "[ a - b ]", {("a",), ("b",)}),
        ("é ß ,", "é,ß", {("é", ",", "ß")}),
        ("a1 a", "a1a{2}", {("a1", "a", "a")}),
    ],
)
def test_symbols(alphabet: str, text: str, words: set[Word]) -> None:
    assert language(parse_regex(text, parse_alphabet(alphabet)), 4) == words


@given(
    st.lists(st.text(max_size=3).filter(lambda s: len(s.split()) == 1), min_size=1, max_size=5, unique=True)
)
def test_every_symbol_can_be_quoted(names: list[str]) -> None:
    usable = [s for s in names if s.isprintable() and " " not in s and not {"'", '"'} <= set(s)]
    alphabet = Alphabet(tuple(usable or ["x"]))
    for symbol in alphabet.symbols:
        quote = '"' if "'" in symbol else "'"
        dfa = parse_regex(f"{quote}{symbol}{quote}", alphabet)
        assert language(dfa, 2) == {(symbol,)}


# Large expressions ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "states"),
    [
        ("a{64}", 66),
        ("(a|b)*a(a|b){8}", 512),
        ("(ab){250}", 502),
        ("~(a{200})", 202),
        ("(a?){200}", 202),
        ("a{0,200}", 202),
        (".{30}&.*a.*", 61),
        ("|".join(["ab"] * 2000), 4),
        ("&".join(["~a"] * 300), 3),
        ("(" * MAX_NESTING + "a" + ")" * MAX_NESTING, 3),
        ("(" * MAX_NESTING + "a" + "b*)" * MAX_NESTING, 3),
        ("~" * 10_001 + "a", 3),
        ("|".join(["a"] * (MAX_STATES // 2)), 3),
    ],
)
def test_large_expressions_are_quick(text: str, states: int) -> None:
    begin = time.process_time()
    assert len(parse_regex(text, AB).moves) == states
    assert time.process_time() - begin < 5


@pytest.mark.sweep(3)
@pytest.mark.parametrize(
    "text",
    [
        "(a|b)*a(a|b){14}",
        "((a{1000}){1000}){1000}",
        "(a{1000}|b{1000}){9}",
        "(a{1000}){1000}",
        "a" * (MAX_STATES // 2 + 1),
        "|".join(["a"] * (MAX_STATES // 2 + 1)),
        "((b*a){149}b*)&((a*b){149}a*)",
        "~((a|b)*a(a|b){14})b",
    ],
)
def test_an_automaton_that_grows_too_large_is_refused(text: str) -> None:
    with pytest.raises(
        UnsupportedError, match=f"more than {MAX_STATES} states on the way; repeat fewer"
    ) as caught:
        parse_regex(text, AB)
    assert caught.value.exit_code is ExitCode.UNSUPPORTED


@pytest.mark.sweep(0)
def test_an_automaton_that_takes_too_many_steps_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="takes more than 5000000 steps to compile; repeat fewer"):
        parse_regex("((a?){1000}){6}", AB)


def test_the_dead_state_of_a_complement_is_not_carried_along(monkeypatch: pytest.MonkeyPatch) -> None:
    # 4384 steps without the dead states of its forty complements, 6922 with them.
    monkeypatch.setattr(regex, "MAX_STEPS", 5000)
    assert len(parse_regex("(~(.*aa.*)b){40}", AB).moves) > 40


# Errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "column", "fragment"),
    [
        ("", 1, "the expression is empty; the empty word is written ()"),
        ("  ", 1, "the expression is empty"),
        ("a|", 3, "the expression ends too early"),
        ("a|  ", 3, "the expression ends too early"),
        ("a &", 4, "the expression ends too early"),
        ("~", 2, "the expression ends too early"),
        ("|a", 1, "an expression is missing before '|'"),
        ("a||b", 3, "an expression is missing before '|'"),
        ("a|&b", 3, "an expression is missing before '&'"),
        ("a~|b", 3, "an expression is missing before '|'"),
        ("(a|)", 4, "an expression is missing before ')'"),
        ("(~)", 3, "an expression is missing before ')'"),
        ("a(b", 2, "this bracket is not closed"),
        ("a((b)", 2, "this bracket is not closed"),
        ("((", 2, "this bracket is not closed"),
        ("ab)", 3, "')' closes nothing"),
        (")", 1, "')' closes nothing"),
        ("*a", 1, "there is nothing before '*' to repeat"),
        ("a|+", 3, "there is nothing before '+' to repeat"),
        ("(?a)", 2, "there is nothing before '?' to repeat"),
        ("~*", 2, "there is nothing before '*' to repeat"),
        ("{2}", 1, "there is nothing before '{2}' to repeat"),
        ("a**", 3, "'*' repeats a repetition: put brackets"),
        ("a+?", 3, "'?' repeats a repetition: put brackets"),
        ("a{2}{3}", 5, "'{3}' repeats a repetition"),
        ("a{3,1}", 2, "the repetition {3,1} ends before it begins"),
        ("a{}", 2, "a repetition is written {n}, {n,} or {n,m}"),
        ("a{,3}", 2, "a repetition is written"),
        ("a{2", 2, "a repetition is written"),
        ("a{x}", 2, "a repetition is written"),
        ("a{-1}", 2, "a repetition is written"),
        ("a{1001}", 2, f"at most {MAX_REPETITION} times"),
        ("a{1,1001}", 2, f"at most {MAX_REPETITION} times"),
        (f"a{{{'9' * 10_000}}}", 2, f"at most {MAX_REPETITION} times"),
        (f"a{{1,{'9' * 10_000}}}", 2, f"at most {MAX_REPETITION} times"),
        ("a}", 2, "'}' cannot stand here"),
        ("ab]", 3, "']' cannot stand here"),
        ("a-b", 2, "'-' cannot stand here"),
        ("^a", 1, "'^' cannot stand here"),
        ("ac", 2, "symbol 'c' is not in the alphabet {a b}"),
        ("ab'c'", 3, "symbol 'c' is not in the alphabet {a b}"),
        ("''", 1, "the empty text is not a symbol; the empty word is written ()"),
        ("a'b", 2, "this quotation mark is not closed"),
        ('a"', 2, "this quotation mark is not closed"),
        ("a[ab", 2, "this bracket is not closed"),
        ("a[", 2, "this bracket is not closed"),
        ("[^", 1, "this bracket is not closed"),
        ("[a|b]", 3, "'|' cannot stand here"),
        ("[.]", 2, "'.' cannot stand here"),
        ("[ac]", 3, "symbol 'c' is not in the alphabet {a b}"),
        ("[b-a]", 2, "the range b-a runs against the order of the alphabet {a b}"),
        ("[a-]", 3, "the range has no last symbol"),
        ("[a-", 3, "the range has no last symbol"),
        ("[-a]", 2, "'-' cannot stand here"),
        ("[a^b]", 3, "'^' cannot stand here"),
        ("(" * (MAX_NESTING + 1), MAX_NESTING + 1, f"brackets nest deeper than {MAX_NESTING} levels"),
        ("(" * 100_000, MAX_NESTING + 1, f"brackets nest deeper than {MAX_NESTING} levels"),
        ("a\0", 2, r"symbol '\x00' is not in the alphabet"),
        ("aε", 2, "symbol 'ε' is not in the alphabet"),
    ],
)  # fmt: skip
def test_an_error_points_at_its_column(text: str, column: int, fragment: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_regex(text, AB)
    assert (caught.value.line, caught.value.column) == (1, column)
    assert fragment in caught.value.message
    assert caught.value.exit_code is ExitCode.SOURCE
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "'('"),
        ("a|", "a symbol"),
        ("(a", "')'"),
        ("[a", "']'"),
        ("*", "a symbol"),
        ("(a|)", "'~'"),
        ("[a-]", "a symbol"),
    ],
)
def test_an_error_says_what_could_stand_there(text: str, expected: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_regex(text, AB)
    assert expected in caught.value.expected


def test_an_error_knows_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        parse_regex("a\n| b\n| c", AB)
    assert (caught.value.line, caught.value.column) == (3, 3)
    assert str(caught.value).splitlines()[1:3] == ["    | c", "      ^"]


@pytest.mark.parametrize(
    ("alphabet", "text", "column", "fragment"),
    [
        ("push pop", "push pup", 6, "symbol 'pup' is not in the alphabet {push pop}"),
        ("push pop", "pushx", 5, "symbol 'x' is not in the alphabet {push pop}"),
        ("push-it pop", "pop push-it", 5, "symbol 'push' is not in the alphabet {push-it pop}; "
         "as a symbol it is quoted: 'push-it'"),
        ("a-", "a-", 2, "'-' cannot stand here; as a symbol it is quoted: '-'"),
        ("a'", "a'", 2, "this quotation mark is not closed; as a symbol it is quoted: \"'\""),
        ("01", "2", 1, "symbol '2' is not in the alphabet {0 1}"),
    ],
)  # fmt: skip
def test_an_error_about_a_symbol(alphabet: str, text: str, column: int, fragment: str) -> None:
    with pytest.raises(SourceError) as caught:
        parse_regex(text, parse_alphabet(alphabet))
    assert caught.value.column == column
    assert caught.value.message == fragment


# Any text ------------------------------------------------------------------------------------------

PIECES = st.lists(
    st.sampled_from(["a", "b", "c", *"|&~*+?.^-()[]{},'\" \n", "{2}", "{0,3}", "{1,}", "()", "[ab]", "7"]),
    max_size=14,
)


def outcome(text: str, alphabet: Alphabet) -> Dfa | SourceError | UnsupportedError:
    try:
        return parse_regex(text, alphabet)
    except (SourceError, UnsupportedError) as error:
        return error


def assert_points_into(error: SourceError, text: str) -> None:
    assert error.text == text
    lines = text.split("\n")
    assert 1 <= error.line <= len(lines)
    assert 1 <= error.column <= len(lines[error.line - 1]) + 1


@settings(max_examples=600, deadline=None)
@given(PIECES.map("".join))
@example("~(a{3}&b)")
def test_texts_of_pieces_are_expressions_or_errors(text: str) -> None:
    found = outcome(text, AB)
    if isinstance(found, SourceError):
        assert_points_into(found, text)
    if isinstance(found, Dfa):
        assert minimal(found) == found
        # Brackets around the whole and blanks around it change nothing.
        assert parse_regex(f" ({text})\n", AB) == found


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=30), st.sampled_from(["ab", "push pop", "()*", "a-b ^"]))
def test_any_text_is_an_expression_or_an_error(text: str, alphabet: str) -> None:
    found = outcome(text, parse_alphabet(alphabet))
    if isinstance(found, SourceError):
        assert_points_into(found, text)
