"""Two things as one language: SAME is proved, DIFFERENT has a shortest word, and all else is UNKNOWN."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import attemper
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.softening.normalise import LayerNorm
from attemper.errors import (
    AlphabetError,
    AmbiguousReadingError,
    ExitCode,
    MalformedFileError,
    OptionError,
    SourceError,
    UnsupportedError,
)
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.show import show
from attemper.languages.temporal.syntax import Formula
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import Hidden
from attemper.networks.regime import Regime
from attemper.running.truth import truth_of_words
from attemper.workbench import same as module
from attemper.workbench.compiling import compiled_source
from attemper.workbench.language import Language
from attemper.workbench.same import same
from attemper.workbench.sameness import Answer, Sameness
from tests.support.drawn import automata
from tests.support.drawn.equivalences import Drawn, DrawnExpression, laws_hold, text_of
from tests.support.slowly import mostly_slow

AB = Alphabet(("a", "b"))
LONGEST = 10
NESTED = "(a(a(a(ab)*b)*b)*b)*"
"""Brackets to depth 4."""
COUNTED = "H (#<[a] >= #<[b] & #<[a] <= #<[b] + 4) & #<[a] = #<[b]"

WORDS = list(words_of_length(AB, LONGEST))


def shortest_difference(left: Formula, right: Formula) -> int | None:
    """The length of a shortest word on which past formulas differ at the end; None if it is over LONGEST."""
    one, other = (truth_of_words(formula, WORDS) for formula in (left, right))
    lengths = np.flatnonzero((one != other).any(axis=0))
    return int(lengths[0]) + 1 if len(lengths) else None


def asked(a: str, b: str, alphabet: str = "ab", **options: object) -> Sameness:
    return same(a, b, alphabet=alphabet, seconds=20, **options)  # type: ignore[arg-type]


# Formulas and expressions ---------------------------------------------------------------------------------


def test_the_laws_are_laws() -> None:
    assert all(laws_hold(3))


@pytest.mark.parametrize("seed", mostly_slow(range(300), range(10)))
def test_formulas_rewritten_by_laws_are_the_same(seed: int) -> None:
    drawn = Drawn(seed, AB.symbols)
    formula = drawn.formula(3 + seed % 6)
    other = drawn.rewritten(formula, 1 + seed % 5)
    assert shortest_difference(formula, other) is None
    assert asked(f"formula:{show(formula)}", f"formula:{show(other)}").answer is Answer.SAME


@pytest.mark.parametrize("seed", mostly_slow(range(300), range(10)))
def test_formulas_with_one_operator_changed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every other time without the shortest words, so that the automata must find the difference."""
    monkeypatch.setattr(module, "FEW", module.FEW * (seed % 2))
    drawn = Drawn(seed, AB.symbols)
    formula = drawn.formula(3 + seed % 6)
    other = drawn.changed(formula)
    found, length = (
        asked(f"formula:{show(formula)}", f"formula:{show(other)}"),
        shortest_difference(formula, other),
    )
    if length is None:
        assert found.answer is Answer.SAME or (found.word is not None and len(found.word) > LONGEST)
        return
    assert found.answer is Answer.DIFFERENT
    assert found.is_shortest
    assert found.word is not None
    assert len(found.word) == length
    assert found.verdicts == tuple(truth(one, found.word)[-1] for one in (formula, other))


@pytest.mark.parametrize("seed", mostly_slow(range(300), range(10)))
def test_formulas_and_containment(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FEW", module.FEW * (seed % 2))
    drawn = Drawn(seed, AB.symbols)
    formula = drawn.formula(3 + seed % 5)
    other = drawn.changed(formula)
    found = asked(f"formula:{show(formula)}", f"formula:{show(other)}", contained=True)
    one, two = (truth_of_words(each, WORDS) for each in (formula, other))
    lengths = np.flatnonzero((one & ~two).any(axis=0))
    if found.answer is Answer.CONTAINED:
        assert not len(lengths)
        return
    assert found.answer is Answer.NOT_CONTAINED
    assert found.verdicts == (True, False)
    assert found.word is not None
    assert not len(lengths) or len(found.word) == int(lengths[0]) + 1


@pytest.mark.parametrize("seed", mostly_slow(range(300), range(10)))
def test_expressions_rewritten_by_laws_are_the_same(seed: int) -> None:
    drawn = DrawnExpression(seed)
    expression = drawn.expression(3 + seed % 5)
    one, other = text_of(expression), text_of(drawn.rewritten(expression))
    found = asked(f"regex:{one}", f"regex:{other}")
    assert found.answer is Answer.SAME
    assert found.states == (len(parse_regex(one, AB).moves),) * 2


@pytest.mark.parametrize("seed", mostly_slow(range(300), range(10)))
def test_expressions_with_one_operator_changed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against Python's own expressions, on all words to length 7."""
    monkeypatch.setattr(module, "FEW", module.FEW * (seed % 2))
    drawn = DrawnExpression(seed)
    expression = drawn.expression(3 + seed % 5)
    one, other = text_of(expression), text_of(drawn.changed(expression))
    found = asked(f"regex:{one}", f"regex:{other}")
    words = ("".join(word) for length in range(8) for word in words_of_length(AB, length))
    wrong = next((w for w in words if bool(re.fullmatch(one, w)) != bool(re.fullmatch(other, w))), None)
    if wrong is None:
        assert found.answer is Answer.SAME or (found.word is not None and len(found.word) > 7)
        return
    assert found.answer is Answer.DIFFERENT
    assert found.word is not None
    assert len(found.word) == len(wrong)
    word = "".join(found.word)
    assert found.verdicts == (bool(re.fullmatch(one, word)), bool(re.fullmatch(other, word)))


def test_the_empty_word_is_a_word() -> None:
    found = asked("regex:(ab)*", "regex:(ab)(ab)*")
    assert (found.answer, found.word, found.verdicts) == (Answer.DIFFERENT, (), (True, False))
    assert found.is_shortest
    assert asked("regex:(ab)(ab)*", "regex:(ab)*", contained=True).answer is Answer.CONTAINED
    assert asked("regex:(ab)*", "regex:(ab)(ab)*", contained=True).word == ()
    assert asked("formula:true", "regex:.*").word == ()
    assert asked("formula:true", "regex:.*", empty="accept").answer is Answer.SAME


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("formula@first:a U b", "regex:a*b.*"),
        ("formula@first:G (a -> F b)", "regex:.*b"),
        ("formula@first:X X a", "regex:..a.*"),
        ("formula@first:#>[a] % 2 = 1", "regex:b*ab*(ab*ab*)*"),
        ("formula@last:H a", "formula@first:G a"),
        ("formula:pos % 3 = 0 & a", "regex:(...)*..a"),
        ("formula:#<[a] = 2", "regex:b*ab*ab*"),
    ],
)
def test_formulas_are_read_at_either_end(a: str, b: str) -> None:
    found = asked(a, b)
    assert found.answer is Answer.SAME
    assert found.states is not None


def test_where_formulas_are_read_can_be_said_of_both() -> None:
    assert asked("formula:F a", "regex:.*a.*", at="first").answer is Answer.SAME
    assert asked("formula@first:F a", "formula:a", at="last").word == ("a", "b")
    with pytest.raises(AmbiguousReadingError, match=r"at=.first"):
        asked("formula:F a", "regex:.*a.*")


# Counts -------------------------------------------------------------------------------------------------


def test_counts_that_have_one_normal_form_are_the_same() -> None:
    found = asked("formula:#<[a] <= #<[b]", "formula:!(#<[b] < #<[a])")
    assert found.answer is Answer.SAME
    assert found.reason == "both are proved to be one formula"


def test_counts_that_differ_have_a_word() -> None:
    found = asked("formula:#<[a] <= #<[b]", "formula:#<[a] <= #<[b] + 1")
    assert (found.answer, found.word, found.verdicts) == (Answer.DIFFERENT, ("a",), (False, True))


def test_a_count_is_contained_in_a_larger_one_or_unknown_and_never_not() -> None:
    one, other = "formula:#<[a] <= #<[b]", "formula:#<[a] <= #<[b] + 1"
    found = same(one, other, alphabet="ab", contained=True, seconds=1, limits={"configurations": 1_000})
    assert found.answer in {Answer.CONTAINED, Answer.UNKNOWN}
    back = same(other, one, alphabet="ab", contained=True)
    assert (back.answer, back.word) == (Answer.NOT_CONTAINED, ("a",))


UNPROVED = "formula:#<[Y a] >= #<[b] & b", "formula:#<[a] >= #<[b] & b"
"""At a b as many a stand before as up to it: they are the same, which nothing proves."""


def test_counts_that_nothing_proves_are_unknown_with_the_reason() -> None:
    found = same(*UNPROVED, alphabet="ab", seconds=1, up_to=6, limits={"configurations": 1_000})
    assert found.answer is Answer.UNKNOWN
    assert "side A has no automaton: what it keeps has over 1,000 configurations" in found.reason
    assert (found.longest, found.exit_code) == (6, ExitCode.UNKNOWN)
    assert found.words > 2**7
    assert found.word is None


def test_without_time_no_words_are_said_to_be_tried() -> None:
    found = same(*UNPROVED, alphabet="ab", seconds=1e-9)
    assert (found.answer, found.longest, found.words) == (Answer.UNKNOWN, 0, 0)


def test_a_difference_that_is_bounded_is_followed() -> None:
    """As many a before i as up to i, so that none is at i: the counts never differ by more than 1."""
    assert asked("formula:#<[Y a] = #<[a]", "formula:!a").states == (2, 2)


def test_words_beyond_the_short_ones_are_tried() -> None:
    """They differ where there are ten a: no word of up to 5 symbols tells, and one at that number does."""
    one, other = "formula:#<[a] <= #<[b] | #<[a] = 10", "formula:#<[a] <= #<[b]"
    found = same(one, other, alphabet="ab", up_to=5, seconds=20, limits={"configurations": 1_000})
    assert found.answer is Answer.DIFFERENT
    assert found.word is not None
    assert found.word.count("a") == 10
    assert not found.is_shortest


def test_an_interrupt_leaves_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The words are those that were tried before it, without the few that are tried at first."""
    calls = 0

    def interrupted(question: object, word: Word) -> tuple[bool, bool]:
        nonlocal calls
        calls += 1
        if calls > 1 + module.FEW + 40:
            raise KeyboardInterrupt
        return True, True

    monkeypatch.setattr(module, "_verdicts", interrupted)
    found = same(*UNPROVED, alphabet="ab", limits={"configurations": 1_000})
    assert found.answer is Answer.UNKNOWN
    assert "; interrupted; no word of up to" in found.reason
    assert (found.words, found.longest) == (40, 4)


def test_words_without_a_verdict_are_counted_and_none_is_called_shortest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of the words with an a nothing is known but of the last."""

    def verdicts(question: object, word: Word) -> tuple[bool | None, bool | None]:
        return (None, True) if "a" in word and len(word) < 4 else (True, "a" not in word)

    monkeypatch.setattr(module, "_verdicts", verdicts)
    found = same(*UNPROVED, alphabet="ab", limits={"configurations": 1_000})
    assert found.answer is Answer.DIFFERENT
    assert found.word is not None
    assert len(found.word) == 4
    assert not found.is_shortest
    monkeypatch.setattr(module, "_verdicts", lambda question, word: (None, True) if word else (True, True))
    found = same(*UNPROVED, alphabet="ab", limits={"configurations": 1_000}, up_to=3, seconds=0.5)
    assert found.answer is Answer.UNKNOWN
    assert f"of which {found.words:,} have no verdict" in found.reason


def test_an_interrupt_while_a_side_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "automaton_of_side", interrupted)
    found = same(*UNPROVED, alphabet="ab")
    assert (found.answer, found.reason) == (Answer.UNKNOWN, "interrupted, while side A was followed")


@pytest.mark.parametrize("text", ["F a & O b", "len % 2 = 0", "#[a] % 2 = 0", "O (a & X b)"])
def test_formulas_that_look_both_ways_have_no_automaton(text: str) -> None:
    found = same(f"formula:{text}", f"formula:{text} | (F a & H b & false S a)", alphabet="ab", seconds=0.2)
    assert found.answer in {Answer.SAME, Answer.UNKNOWN}
    other = same(f"formula:{text}", "regex:.*", alphabet="ab", empty="accept", seconds=5)
    assert other.answer is Answer.DIFFERENT


# Networks -----------------------------------------------------------------------------------------------


def test_a_counter_and_a_cascade_of_one_language_are_the_same(tmp_path: Path) -> None:
    dfa = parse_regex(NESTED, AB)
    counter = attemper.compile(COUNTED, "ab", regime="decoder", empty="accept")
    cascade = compiled_source(Language(dfa, AB), CascadeCaps(counter=False), [Regime.UNBOUNDED])
    assert cascade.network.coordinates != counter.network.coordinates
    counter.save(tmp_path / "counter")
    cascade.save(tmp_path / "cascade")
    for a, b in (("counter", "cascade"), ("cascade", "counter")):
        found = same(str(tmp_path / a), tmp_path / b)
        assert (found.answer, found.states) == (Answer.SAME, (6, 6))
    assert same(tmp_path / "cascade", f"regex:{NESTED}").answer is Answer.SAME
    assert same(tmp_path / "counter", dfa).answer is Answer.SAME
    assert same(counter, cascade.network).answer is Answer.SAME


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_networks_that_count_are_compared_as_formulas(regime: str) -> None:
    model = attemper.compile("#<[a] <= #<[b]", "ab", regime=regime)  # type: ignore[arg-type]
    assert same(model, "formula:!(#<[b] < #<[a])").answer is Answer.SAME
    assert same(model, attemper.compile("!(#<[b] < #<[a])", "ab")).answer is Answer.SAME
    assert same(model, "formula:#<[a] < #<[b]", seconds=5).word == ("a", "b")


def test_a_network_is_what_its_weights_compute_and_not_what_is_claimed_of_it() -> None:
    """The output's threshold is moved, so that the network accepts nothing, and still claims its formula."""
    model = attemper.compile("O a", "ab")
    *layers, last = model.network.layers
    muted = tuple(Hidden(unit.form, unit.bias - 5, unit.outputs) for unit in last.hidden)
    network = replace(model.network, layers=(*layers, replace(last, hidden=muted)))
    broken = replace(model, network=network)
    found = same(broken, "formula:O a")
    assert (found.answer, found.word) == (Answer.DIFFERENT, ("a",))
    assert same(broken, "formula:false").answer is not Answer.DIFFERENT
    assert same(broken, model).answer is Answer.DIFFERENT


def test_a_normalised_network_is_right_up_to_a_length_and_no_language() -> None:
    model = attemper.compile("O a", "ab", layer_norm=LayerNorm())
    found = same(model, "formula:O a", seconds=0.5, up_to=3)
    assert found.answer is Answer.UNKNOWN
    assert "normalisation" in found.reason
    assert same(model, "formula:H a", seconds=5).answer is Answer.DIFFERENT


def test_a_network_that_is_read_first(tmp_path: Path) -> None:
    model = attemper.compile("G (a -> F b)", "ab", at="first")
    model.save(tmp_path / "net")
    assert same(tmp_path / "net", "regex:.*b").answer is Answer.SAME
    assert same(tmp_path / "net", "formula@first:!F (a & G !b)").answer is Answer.SAME
    assert same(tmp_path / "net", "formula@last:b", seconds=5).answer is Answer.SAME
    assert same(tmp_path / "net", "formula@last:G (a -> F b)", seconds=1).answer is not Answer.DIFFERENT


def test_programs(tmp_path: Path) -> None:
    text, steps = tmp_path / "late.rasp", tmp_path / "late.program"
    text.write_text("alphabet a b\nempty reject\noutput previous(2) in 'a'\n", encoding="utf-8")
    steps.write_text('alphabet ["a", "b"]\ns0 = letter ["a"]\ns1 = previous 2 s0 default 0\noutput s1\n')
    for file in (text, steps):
        assert same(f"program:{file}", "regex:.*a..").answer is Answer.SAME
        assert same(f"program:{file}", "formula:Y Y a").answer is Answer.SAME
    assert same(f"program:{text}", f"program:{steps}").answer is Answer.SAME
    assert same(attemper.program(steps.read_text()), "regex:.*a...", seconds=5).answer is Answer.DIFFERENT


# Alphabets and errors -------------------------------------------------------------------------------------


def test_the_order_of_symbols_does_not_matter(tmp_path: Path) -> None:
    attemper.compile("O a", "ba").save(tmp_path / "net")
    assert same(tmp_path / "net", parse_regex(".*a.*", "ab")).answer is Answer.SAME


def test_words_over_fewer_symbols_are_compared_if_that_is_said(tmp_path: Path) -> None:
    attemper.compile("a S b", "abc").save(tmp_path / "net")
    two = parse_regex(".*ba*", "ab")
    with pytest.raises(AlphabetError, match=r"different alphabets, \{a b c\} and \{a b\}.*as alphabet"):
        same(tmp_path / "net", two)
    assert same(tmp_path / "net", two, alphabet="ab").answer is Answer.SAME
    with pytest.raises(AlphabetError, match=r"'d' of the alphabet \{a d\} is no symbol of"):
        same(tmp_path / "net", two, alphabet="ad")


def test_a_symbol_that_only_one_side_has_is_in_none_of_the_words() -> None:
    one, other = attemper.compile("O a", "ab"), attemper.compile("O a | O c", "abc")
    assert same(one, other, alphabet="ab").answer is Answer.SAME
    assert same(other, one, alphabet="ba").answer is Answer.SAME
    counts = (attemper.compile(text, "abc") for text in ("#<[a] <= #<[b]", "#<[a] <= #<[b] | c"))
    found = same(attemper.compile("#<[a] <= #<[b]", "ab"), next(counts), alphabet="ab", seconds=5)
    assert found.answer is Answer.SAME
    found = same(one, next(counts), alphabet="ab", seconds=5)
    assert (found.answer, found.word) == (Answer.DIFFERENT, ("a",))


@pytest.mark.parametrize(
    ("a", "b", "error", "reason"),
    [
        ("", "", OptionError, "'' names no language: write formula:TEXT"),
        ("regex:a", " ", OptionError, "' ' names no language"),
        ("formula:", "regex:a", OptionError, "'formula:' names no language"),
        ("nowhere/", "regex:a", MalformedFileError, "there is no folder 'nowhere'"),
        ("nowhere", "regex:a", SourceError, "symbol 'nowhere' is not in the alphabet"),
        ("regexp:a", "regex:a", OptionError, "'regexp:' is no kind of language"),
        ("dfa:nowhere.json", "regex:a", MalformedFileError, "nowhere.json"),
        ("program:nowhere", "regex:a", MalformedFileError, "nowhere"),
        ("formula:O (", "regex:a", SourceError, "formula"),
        ("regex:(", "regex:a", SourceError, "bracket"),
        ("float32:net", "regex:a", OptionError, "up to a horizon"),
        (3, "regex:a", OptionError, "int names no language"),
    ],
)
def test_what_is_no_side_is_said(a: str, b: str, error: type[Exception], reason: str) -> None:
    with pytest.raises(error, match=re.escape(reason)):
        same(a, b, alphabet="ab")


def test_texts_alone_need_an_alphabet() -> None:
    with pytest.raises(OptionError, match="names the symbol a only: say which"):
        same("formula:O a", "regex:a")


@pytest.mark.parametrize(
    "options",
    [
        {"up_to": -1},
        {"limits": {"configurations": 0}},
        {"limits": {"states": 5}},
        {"seconds": 0},
        {"at": "middle"},
    ],
)
def test_values_of_options(options: dict[str, object]) -> None:
    with pytest.raises(OptionError):
        same("formula:O a", "regex:a", alphabet="ab", **options)  # type: ignore[arg-type]


def test_symbols_and_numbers_are_no_language(tmp_path: Path) -> None:
    text = tmp_path / "out.rasp"
    text.write_text("alphabet a b\noutput symbol\n", encoding="utf-8")
    with pytest.raises(UnsupportedError, match="it has no language"):
        same(f"program:{text}", "regex:a")


def test_an_answer_is_no_truth_value() -> None:
    found = asked("regex:a", "regex:a")
    with pytest.raises(TypeError, match="UNKNOWN"):
        bool(found)
    assert found.exit_code is ExitCode.OK
    assert asked("regex:a", "regex:b").exit_code is ExitCode.DISAGREEMENT


def test_large_automata_are_compared() -> None:
    dfa = minimal(automata.kth_from_end(9))
    found = same(dfa, "formula:" + "Y " * 8 + dfa.alphabet.symbols[0])
    other: Word = (dfa.alphabet.symbols[1],)
    assert found.states == (512, 512) or found.word == other


# Predicates that a user registered ---------------------------------------------------------------------


def test_what_is_assumed_of_registered_predicates_is_said() -> None:
    attemper.register_predicate("is_one", lambda value: value == 1)
    assumed = ("the registered predicate 'is_one' is the same function wherever the network runs",)
    sides = ("formula:a & first & is_one(pos)", "formula:a & first")
    for found in (
        same(*sides, alphabet="ab"),
        same(*sides[::-1], alphabet="ab", contained=True),
        same(attemper.compile("a & first & is_one(pos)", "ab"), sides[1]),
    ):
        assert found.answer in {Answer.SAME, Answer.CONTAINED}
        assert (found.exit_code, found.assumptions) == (ExitCode.PROVED_UNDER_ASSUMPTIONS, assumed)
    found = same(sides[1], sides[1], alphabet="ab")
    assert (found.exit_code, found.assumptions) == (ExitCode.OK, ())
