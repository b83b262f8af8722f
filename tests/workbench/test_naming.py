"""Whatever names a language is read by one reader, which refuses what a name does not need."""

from __future__ import annotations

import io
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from automata.fa.dfa import DFA

import attemper
from attemper import Language
from attemper.attention_program.parse import parse_program
from attemper.errors import AttemperError, OptionError, SourceError, UnprovedError, UnsupportedError
from attemper.languages.named.entry import Entry
from attemper.languages.named.zoo import everything
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet
from attemper.workbench.automata import Caps
from attemper.workbench.naming import alphabet_of, language
from attemper.workbench.spelling import spelling_of
from attemper.workbench.zoo_sources import language_of

STEPS = 'alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous 1 s0 default 0\noutput s1\n'
TEXT = "alphabet a b\nempty accept\nlate = previous in 'a'\noutput late\n"


def verdicts(found: Language, length: int = 5) -> list[bool]:
    """On all words of up to so many symbols, in the alphabet's order."""
    words = (word for n in range(length + 1) for word in product(found.alphabet.symbols, repeat=n))
    return [found.accepts(word) for word in words]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with one language in each kind of file, which is where commands run."""
    (tmp_path / "even.json").write_text(dfa_to_json(parse_regex("(aa)*", "ab")))
    (tmp_path / "late.rasp").write_text(TEXT)
    (tmp_path / "late.steps").write_text(STEPS)
    attemper.compile("regex:(ab)*").save(tmp_path / "pairs")
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The alphabet ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "symbols"),
    [
        ("H (b -> Y a)", "ab"),
        ("#<['1'] <= #<['0']", "01"),
        ("regex:(ba)*", "ab"),
        ("regex:('push' 'pop')*", ("pop", "push")),
        ("regex:a{2,3}b", "ab"),
        ("H (push -> Y pop)", ("pop", "push")),
    ],
)
def test_without_an_alphabet_it_is_what_the_text_names(text: str, symbols: str | tuple[str, ...]) -> None:
    found = language(text)
    assert found.alphabet == Alphabet(tuple(symbols))
    assert found.is_alphabet_read
    assert found == language(text, tuple(symbols)), "as if it had been given"
    assert not language(text, tuple(symbols)).is_alphabet_read


@pytest.mark.parametrize(
    "text",
    [
        "regex:(ab)*$",
        "regex:\\d*b",
        "regex:a,b",
        "regex:(a!b)*",
        "regex:a.b",
        "regex:[^a]b",
        "regex:[a-c]*",
        "regex:~(ab)",
        "regex:(push pop)*",
        "O a",
        "true",
        "regex:a*",
    ],
)
def test_an_alphabet_that_the_text_does_not_surely_have_is_asked_for(text: str) -> None:
    with pytest.raises(OptionError, match=r"say which there are, for example alphabet='ab'"):
        language(text)
    if not set(text) & set("$\\,!"):
        language(text, "push pop" if "push" in text else "abc")


def test_the_alphabet_of_what_it_is_put_beside_comes_before_the_text() -> None:
    like = Alphabet(("a", "b", "c"))
    assert language("H (a -> Y b)", like=like).alphabet == like
    assert language("H (a -> Y b)", "ba", like=like).alphabet.symbols == ("b", "a")
    assert alphabet_of([spelling_of("O a"), spelling_of("regex:b*c")]).symbols == ("a", "b", "c")


@pytest.mark.parametrize(
    "text", ["dfa:even.json", "even.json", "late.rasp", "program:late.steps", "net:pairs", "pairs/"]
)
def test_what_has_its_alphabet_is_given_none(text: str, here: Path) -> None:
    assert language(text).alphabet.symbols == ("a", "b")
    with pytest.raises(OptionError, match=r"alphabet: .* has its own: leave it out"):
        language(text, "ab")


@pytest.mark.sweep(10)
@pytest.mark.parametrize("entry", [e for e in everything() if isinstance(e, Entry)], ids=lambda e: e.name)
def test_symbols_of_the_zoo_are_replaced_in_their_order(entry: Entry) -> None:
    new = tuple(f"s{number}" for number in range(len(entry.alphabet)))
    found, length = language(f"zoo:{entry.name}", new), 3 if len(new) > 3 else 5
    assert verdicts(found, length) == verdicts(language(f"zoo:{entry.name}"), length)
    for source in entry.sources:
        assert verdicts(language_of(entry, source, Alphabet(new)), length) == verdicts(found, length)


def test_as_many_symbols_are_needed_as_the_entry_has() -> None:
    with pytest.raises(OptionError, match=r"'zoo:dyck-2' has 4 symbols, .*: give as many"):
        language("zoo:dyck-2", "ab")


# Where it is read, and the empty word ---------------------------------------------------------------------


def test_where_it_is_read_is_said_once() -> None:
    first = language("formula@first:a U b")
    assert first == language("a U b", at="first")
    assert (str(first), str(language("a U b", at="first"))) == ("formula@first:a U b",) * 2
    assert language("formula@first:a U b", at="first") == first
    with pytest.raises(OptionError, match="formula@first: and at='last' differ"):
        language("formula@first:a U b", at="last")
    with pytest.raises(AttemperError, match="speaks of the future only"):
        language("a U b")


@pytest.mark.parametrize("said", [{"at": "last"}, {"at": "first"}, {"empty": "accept"}, {"empty": "reject"}])
@pytest.mark.parametrize(
    "text", ["regex:(ab)*", "zoo:parity", "dfa:even.json", "program:late.rasp", "net:pairs"]
)
def test_what_says_how_it_is_read_is_not_told(text: str, said: dict[str, Any], here: Path) -> None:
    with pytest.raises(OptionError, match="says this itself: leave it out"):
        language(text, **said)


def test_formulas_and_steps_are_told_what_they_say_of_the_empty_word(here: Path) -> None:
    for text in ("H (a -> Y b)", "program:late.steps"):
        assert not language(text).accepts("")
        assert language(text, empty="accept").accepts("")
    assert language("program:late.rasp").accepts("")
    assert language("program@first:late.steps").definition.reads_first


# By kind --------------------------------------------------------------------------------------------------


def test_every_kind_is_read(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = parse_regex("(ab)*", "ab")
    for text in ("regex:(ab)*", "net:pairs", "pairs/", "./pairs", str(here / "pairs")):
        assert language(text).automaton() == pairs, text
    assert language("dfa:even.json") == language("even.json") == language(Path("even.json"))
    assert language("program:late.rasp") == language("late.rasp") == attemper.program(TEXT)
    assert language("program:late.steps") == attemper.program(parse_program(STEPS))
    assert attemper.program("late.rasp") == attemper.program(TEXT)
    for text, name in ((TEXT, "late.rasp"), (STEPS, "late.steps")):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        assert language("program:-") == language(f"program:{name}")
    monkeypatch.setattr("sys.stdin", io.StringIO(Path("even.json").read_text()))
    assert language("dfa:-") == language("even.json")


def test_objects_name_languages_too() -> None:
    automaton = parse_regex("(ab)*", "ab")
    model = attemper.compile("regex:(ab)*")
    foreign = DFA(
        states={0, 1, 2},
        input_symbols={"a", "b"},
        transitions={0: {"a": 1, "b": 2}, 1: {"a": 2, "b": 0}, 2: {"a": 2, "b": 2}},
        initial_state=0,
        final_states={0},
    )
    held = attemper.regex("(ab)*")
    for given in (automaton, model, foreign, held):
        assert language(given).definition == automaton  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="leave it out"):
            language(given, "ab")  # type: ignore[arg-type]
    assert attemper.dfa(foreign) == attemper.dfa(automaton) == held
    formula = attemper.formula("O a", "ab").definition
    assert language(formula, "ab") == attemper.formula("O a", "ab")  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="int names no language"):
        language(3)  # type: ignore[arg-type]


def test_a_network_is_what_its_weights_compute_or_nothing(here: Path) -> None:
    """Nothing that the folder says is believed: with another's weights it is the other language."""
    attemper.compile("regex:(ba)*").save(here / "other")
    (here / "pairs" / "weights.safetensors").write_bytes(
        (here / "other" / "weights.safetensors").read_bytes()
    )
    with pytest.raises(AttemperError):
        language("net:pairs")
    attemper.compile("#<[a] <= #[b]", "ab").save(here / "both")
    with pytest.raises(UnprovedError, match=r"net:both is not read back"):
        language("net:both")
    attemper.compile("zoo:sort").save(here / "sort")
    with pytest.raises(UnsupportedError):
        language("net:sort")


def test_a_bare_name_of_something_that_is_here_gets_a_hint(here: Path) -> None:
    for text, hint in (
        ("pairs", "a folder 'pairs' is here: write pairs/"),
        ("late.steps", "write ./late.steps"),
    ):
        for alphabet in (None, "ab"):
            with pytest.raises((OptionError, SourceError)) as raised:
                language(text, alphabet)
            assert hint in str(raised.value)
    with pytest.raises(OptionError) as raised:
        language("formula:pairs")
    assert "is here" not in str(raised.value), "a kind was said"


def test_one_of_two_languages_may_be_told_what_the_other_says_itself(here: Path) -> None:
    """In `same` the options are said once, for those of both sides that do not say it themselves."""
    for text in ("program:late.rasp", "program:late.steps"):
        assert attemper.same(text, "formula:Y a", at="last", empty="accept").answer == "SAME"
    assert attemper.same("dfa:even.json", "formula:H a & pos % 2 = 0", empty="accept").answer == "SAME"
    assert attemper.same("dfa:even.json", "formula:H a & pos % 2 = 0").word == ()
    assert attemper.same("regex:(ab)*", "H (a <-> WY b) & b", empty="accept").answer == "SAME"


# The value ------------------------------------------------------------------------------------------------


def test_a_language_is_shown_as_it_was_spelled() -> None:
    assert repr(attemper.regex("(ab)*")) == "<Language regex:(ab)* over a b>"
    assert repr(language("zoo:parity", "ab")) == "<Language zoo:parity over a b>"
    assert repr(language(parse_regex("(ab)*", "ab"))) == "<Language an automaton with 3 states over a b>"


def test_words_are_those_that_are_accepted_the_shortest_first() -> None:
    found = language("zoo:dyck-1")
    every = [word for n in range(7) for word in product("()", repeat=n) if found.accepts(word)]
    assert list(found.words(6)) == every
    assert found.accepts("(())")
    assert found.accepts([0, 1])
    assert attemper.formula("O a", "ab").bits("bab") == (False, True, True)


def test_what_puts_out_symbols_has_no_verdicts() -> None:
    found = language("zoo:sort")
    assert found.puts_out == "a symbol"
    for ask in (lambda: found.accepts("a"), lambda: found.bits("a"), lambda: found.words(1), found.automaton):
        with pytest.raises(UnsupportedError, match="zoo:sort puts out a symbol at every position"):
            ask()
    assert attemper.compile(found).output("cab") == ("a", "b", "c")


def test_what_has_no_automaton_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.workbench.automata.Caps", lambda: Caps(2_000))  # the usual ones take long
    pattern = (
        r"formula:#<\[a\] <= #<\[b\] is not made an automaton: .* over 2,000 configurations: a total rises"
    )
    with pytest.raises(UnsupportedError, match=pattern):
        language("#<[a] <= #<[b]").automaton()


def test_languages_are_equal_if_they_mean_the_same_over_the_same_symbols() -> None:
    assert attemper.formula("O a", "ab") == attemper.formula(" O  a", "ab")
    assert attemper.formula("O a", "ab") != attemper.formula("O a", "abc")
    assert len({attemper.regex("(ab)*"), attemper.regex("(ab)*()")}) == 1, "one minimal automaton"
