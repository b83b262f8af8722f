"""Two words that no k layers tell apart, and k layers that are enough: what the checker says of files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from attemper.checker.folders import check_path
from attemper.checker.limits import ProcessLimits, Request, check_within
from attemper.checker.verdict import About, Status
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.codec import CodecError
from attemper.exact.predicates import register_predicate
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, words_of_length
from attemper.theories.depth.certificate import (
    DEPTH,
    DepthClaims,
    EnoughByClasses,
    EnoughByFormula,
    HardNetworks,
    Inseparable,
    TieBreaking,
)
from attemper.theories.depth.check.claims import describe, judge_claim, judge_depth
from attemper.theories.depth.check.pairs import MOST_LAYERS, MOST_LETTERS
from attemper.theories.depth.check.reading import formula_reading, layers_of
from tests.support.mutants.depth_pairs import JUDGES, automaton, changed, formula, pair_file, right_files
from tests.support.slowly import mostly_slow

AB = Alphabet(("a", "b"))
BLOCKS = parse_regex("(ab)*", AB)
PAIR = Inseparable(1, (("a", "b"), ("a", "a", "b")))


def status_of(data: Any) -> Status:
    """The verdict on a file with this content."""
    try:
        return judge_depth(DEPTH.decode(data)).status
    except CodecError:
        return Status.MALFORMED


def on(claim: Any, networks: HardNetworks | None = None, language: Any = BLOCKS) -> Status:
    networks = networks or HardNetworks()
    return judge_claim(DepthClaims(language, AB, networks, (claim,)), claim).status


@pytest.mark.parametrize("data", right_files())
def test_right_files_are_proved(data: Any) -> None:
    assert status_of(data) is Status.PROVED
    assert all(judge(data) for judge in JUDGES)
    assert DEPTH.encode(DEPTH.decode(data)) == data


@pytest.mark.sweep(0)
@pytest.mark.parametrize("count", mostly_slow([400, 5_000], [400]))
def test_changed_pairs_are_proved_only_where_all_judges_say_so(count: int) -> None:
    proved = 0
    for data in changed(count, seed=count):
        is_proved = status_of(data) is Status.PROVED
        assert all(judge(data) is is_proved for judge in JUDGES), json.dumps(data)
        proved += is_proved
    assert count // 50 < proved < count


@pytest.mark.parametrize("k", range(1, 6))
def test_one_letter_changed_in_the_family_is_rejected(k: int) -> None:
    first, second = "a" * k + "b" * (k + 1), "a" * (k + 1) + "b" * (k + 1)
    balanced = formula("#<[a] = #<[b]")
    assert status_of(pair_file(balanced, k, first, second)) is Status.PROVED
    other = {"a": "b", "b": "a"}
    for place in range(len(first)):
        wrong = first[:place] + other[first[place]] + first[place + 1 :]
        assert status_of(pair_file(balanced, k, wrong, second)) is Status.REFUTED, wrong


def _words(*words: list[Any]) -> dict[str, Any]:
    return {"claims": [["inseparable", 1, list(words)]]}


def _layers(layers: object) -> dict[str, Any]:
    return {"claims": [["inseparable", layers, [["a", "b"], ["a", "a", "b"]]]]}


def _by_formula(*nodes: object) -> dict[str, Any]:
    return {"claims": [["enough by formula", 1, list(nodes)]]}


def _networks(**changes: object) -> dict[str, Any]:
    return {"networks": {"prefix": 1, "period": 1, "choice": "both", **changes}}


def _named(predicate: str) -> dict[str, Any]:
    node = ["numerical", ["named", predicate], {"parts": [[1, ["position atom"]]], "constant": 0}]
    return {"language": ["temporal language", [node], "last", False]}


def _is_one(value: int) -> bool:
    return value == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown letter": (_words(["a", "c"], ["a", "b"]), "at position 2 of a word stands 'c', which is no"),
    "a letter that is no text": (
        _words(["a", 3], ["a", "b"]),
        "claims[0].words[0][1]: expected a text, not 3",
    ),
    "a letter that is a list": (_words(["a", ["b"]], ["a", "b"]), "claims[0].words[0][1]: expected a text"),
    "an empty word": (_words([], ["a", "b"]), "its words must have letters"),
    "three words": (_words(["a"], ["b"], ["a"]), "claims[0].words: expected a list of 2 entries"),
    "k = -1": (_layers(-1), "claims[0].layers: expected an integer from 0, not -1"),
    "k = true": (_layers(True), "claims[0].layers: expected an integer from 0, not True"),
    "k = 1.0": (_layers(1.0), "claims[0].layers: expected an integer from 0, not 1.0"),
    "a claim without its kind": (
        {"claims": [{"layers": 1, "words": [["a", "b"], ["a", "a", "b"]]}]},
        'claims[0]: expected one of ["inseparable", ...]',
    ),
    "no claim": ({"claims": []}, "it claims nothing"),
    "period 0": (_networks(period=0), "networks.period: expected an integer from 1, not 0"),
    "prefix 0": (_networks(prefix=0), "networks.prefix: expected an integer from 1, not 0"),
    "one number": ({"networks": {"prefix": 1, "choice": "both"}}, "networks: the entry 'period' is missing"),
    "another choice": (_networks(choice="middle"), 'networks.choice: expected one of "both", "leftmost"'),
    "another alphabet": ({"alphabet": ["b", "a"]}, "its language is over other symbols, or in another order"),
    "a symbol twice": ({"alphabet": ["a", "a"]}, "alphabet: symbol 'a' occurs twice"),
    "another entry": ({"remark": ""}, "the entry 'remark' is unknown"),
    "another format": ({"format": "attemper-depth/3"}, "it is not of the format attemper-depth/2"),
    "an older format": ({"format": "attemper-depth/1"}, "it was made by an older attemper"),
    "a formula with another symbol": (_by_formula(["symbol", "c"]), "a formula of its claims has a symbol"),
    "a formula's right part before its left": (
        _by_formula(["symbol", "b"], ["symbol", "a"], ["binary", "S", 1, 0]),
        "expected each part after its own",
    ),
    "a formula that is none": (_by_formula(), "claims[0].formula: expected a list of parts"),
    "a predicate of nobody": (
        _named("never_registered"),
        "language.formula[0].predicate: no numerical predicate is called 'never_registered'",
    ),
    "a registered predicate": (
        _named("mine_of_depth"),
        "its language names the registered predicate 'mine_of_depth', which is no data",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_other_content_is_malformed(what: str, tmp_path: Path) -> None:
    register_predicate("mine_of_depth", _is_one)
    change, said = WRONG[what]
    data = {**pair_file(automaton("(ab)*"), 1, "ab", "aab"), **change}
    with pytest.raises(CodecError, match=re.escape(said)):
        DEPTH.decode(data)
    place = tmp_path / "depth.json"
    place.write_text(json.dumps(data))
    if what not in ("another format", "an older format"):
        verdict = check_path(place)
        assert (verdict.status, verdict.exit_code) == (Status.MALFORMED, 6)


def test_two_equal_words_and_verdicts_are_refuted() -> None:
    assert on(Inseparable(1, (("a", "b"), ("a", "b")))) is Status.REFUTED
    assert on(Inseparable(1, (("a", "a"), ("a", "a", "a")))) is Status.REFUTED
    assert on(Inseparable(2, PAIR.words)) is Status.REFUTED


def test_caps_are_looked_at_before_any_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> object:
        raise AssertionError("it was looked at")

    monkeypatch.setattr("attemper.theories.depth.check.pairs.is_member", never)
    monkeypatch.setattr("attemper.theories.depth.check.pairs.values_at_ends", never)
    monkeypatch.setattr("attemper.theories.depth.check.enough.reading_of", never)
    long = ("a",) * (MOST_LETTERS + 1)
    assert on(Inseparable(1, (long, ("b",)))) is Status.UNKNOWN
    assert on(Inseparable(MOST_LAYERS + 1, PAIR.words)) is Status.UNKNOWN
    assert on(EnoughByClasses(1, 200_001)) is Status.UNKNOWN
    assert on(EnoughByClasses(MOST_LAYERS + 1, 10)) is Status.UNKNOWN


def test_words_of_a_thousand_letters_are_judged_at_once() -> None:
    k = 10
    first, second = "a" * k + "b" * (MOST_LETTERS - k), "a" * (k + 1) + "b" * (MOST_LETTERS - k - 1)
    data = pair_file(automaton("a{10}b*"), k, first, second)
    assert status_of(data) is Status.PROVED
    assert status_of({**data, **_networks(prefix=500, period=499)}) is Status.REFUTED


def test_a_letter_more_or_less_than_the_cap() -> None:
    for letters, status in ((MOST_LETTERS, Status.PROVED), (MOST_LETTERS + 1, Status.UNKNOWN)):
        claim = Inseparable(3, (("a",) * letters, ("a",) * (letters - 1)))
        assert on(claim, language=parse_regex("(aa)*", AB)) is status
    assert (
        on(Inseparable(MOST_LAYERS, (("a",) * 65, ("a",) * 66)), language=parse_regex("(aa)*", AB))
        is Status.PROVED
    )


def test_equal_lengths_are_said() -> None:
    claim = Inseparable(1, (tuple("aaabab"), tuple("ababab")))
    found = judge_claim(DepthClaims(BLOCKS, AB, HardNetworks(), ()), claim)
    assert found.status is Status.PROVED
    assert "also for weights that depend on the length" in found.text
    assert "depend on the length" not in judge_claim(DepthClaims(BLOCKS, AB, HardNetworks(), ()), PAIR).text


# k layers are enough ---------------------------------------------------------------------------------


def test_classes_are_counted_and_parted() -> None:
    assert on(EnoughByClasses(2, 602)) is Status.PROVED
    assert on(EnoughByClasses(2, 601)) is on(EnoughByClasses(2, 603)) is Status.REFUTED
    assert on(EnoughByClasses(1, 14)) is Status.REFUTED
    assert on(EnoughByClasses(1, 342), HardNetworks(1, 2)) is Status.PROVED
    # A formula is stepped as the automaton is, and an automaton need not be minimal.
    blocks = TemporalLanguage(parse("b & H (a <-> WY b)"), At.LAST, True)
    assert on(EnoughByClasses(2, 602), language=blocks) is Status.PROVED
    assert on(EnoughByClasses(1, 14), language=blocks) is Status.REFUTED
    ahead = TemporalLanguage(parse("a & G (a -> X b)"), At.FIRST, True)
    assert on(EnoughByClasses(2, 602), language=ahead) is Status.UNKNOWN


def test_one_sided_networks_have_fewer_classes() -> None:
    counts = {}
    for choice in TieBreaking:
        everything = parse_regex("~[]", AB)
        found = [
            n
            for n in range(1, 700)
            if on(EnoughByClasses(1, n), HardNetworks(1, 1, choice), everything) is Status.PROVED
        ]
        (counts[choice],) = found
    assert counts == {TieBreaking.BOTH: 14, TieBreaking.LEFTMOST: 10, TieBreaking.RIGHTMOST: 10}


def test_more_cases_than_the_cap_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.theories.depth.check.enough.MOST", 602)
    assert on(EnoughByClasses(2, 602)) is Status.PROVED
    monkeypatch.setattr("attemper.theories.depth.check.enough.MOST", 601)
    assert on(EnoughByClasses(2, 602)) is Status.UNKNOWN
    # One class too many says that the number is wrong, whatever else would be met.
    assert on(EnoughByClasses(2, 600)) is Status.REFUTED


def test_longer_orders_than_the_cap_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attemper.theories.depth.check.enough.MOST_ENTRIES", 1_000)
    assert on(EnoughByClasses(2, 602)) is Status.UNKNOWN
    assert on(EnoughByClasses(1, 14), language=parse_regex("~[]", AB)) is Status.PROVED


def test_a_long_prefix_is_answered_in_few_steps() -> None:
    """The orders of class i have i entries: a number of classes alone is no cap."""
    networks, everything = HardNetworks(2**63 - 1, 1, TieBreaking.RIGHTMOST), parse_regex("~[]", AB)
    assert on(EnoughByClasses(2, 2), networks, everything) is Status.REFUTED


@pytest.mark.parametrize(
    ("text", "layers", "status"),
    [
        ("b & H (a <-> WY b)", 2, Status.PROVED),
        ("b & H (a <-> WY b)", 5, Status.PROVED),
        ("b & H (a <-> WY b)", 1, Status.REFUTED),
        ("b & H (a -> WY b)", 2, Status.REFUTED),
        ("b & #<[a] = #<[b]", 2, Status.UNKNOWN),
        ("b & pos >= 2", 2, Status.UNKNOWN),
        ("b & F a", 2, Status.UNKNOWN),
        ("b & last", 2, Status.UNKNOWN),
    ],
)
def test_a_formula_is_the_language_and_nests_no_deeper(text: str, layers: int, status: Status) -> None:
    assert on(EnoughByFormula(layers, parse(text))) is status


def test_a_formula_says_nothing_of_networks_that_look_left() -> None:
    claim = EnoughByFormula(2, parse("b & H (a <-> WY b)"))
    assert on(claim, HardNetworks(1, 1, TieBreaking.RIGHTMOST)) is Status.PROVED
    assert on(claim, HardNetworks(3, 2)) is Status.PROVED
    assert on(claim, HardNetworks(1, 1, TieBreaking.LEFTMOST)) is Status.UNKNOWN


@pytest.mark.parametrize(
    ("text", "layers"),
    [
        *[("a", 0), ("true", 0), ("first", 1), ("Y a", 1), ("WY a", 1), ("O a", 1), ("H a", 1), ("a S b", 1)],
        *[("a T b", 1), ("Y O a", 1), ("Y (O a & !H b)", 1), ("Y Y a", 2), ("Y Y O a", 2), ("Y first", 2)],
        *[("O (a & Y b)", 2), ("O (a & Y O b)", 2), ("!(a -> O (b & O a))", 2), ("Y (a & O b) S a", 2)],
    ],
)
def test_layers_are_counted(text: str, layers: int) -> None:
    assert layers_of(parse(text)) == layers


@pytest.mark.parametrize(
    "text",
    ["Y (a & O b)", "a S Y b", "a T (b S a)", "H (a -> WY b)", "first xor O b", "(a <-> Y Y b) | !WY first"],
)
def test_a_formula_is_stepped_by_its_meaning(text: str) -> None:
    meant = parse(text)
    reading = formula_reading(meant)
    for length in range(1, 8):
        for word in words_of_length(AB, length):
            state = reading.start
            for letter in word:
                state = reading.step(state, letter)
            assert reading.accepts(state) is truth(meant, word)[-1], word


def test_other_operators_are_not_stepped() -> None:
    for text in ("X a", "a U b", "last", "#<[a] >= 1", "pos % 2 = 0"):
        with pytest.raises(UnsupportedError, match="positions, counts or the future"):
            formula_reading(parse(text))
        with pytest.raises(UnsupportedError):
            layers_of(parse(text))


# Files ---------------------------------------------------------------------------------------------


def test_a_file_is_found_checked_and_printed(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    claims = DepthClaims(BLOCKS, AB, HardNetworks(), (PAIR, EnoughByClasses(2, 602)))
    DEPTH.save(claims, place)
    assert DEPTH.load(place) == claims
    verdict = check_within(Request(str(place)), ProcessLimits(60.0))
    assert verdict.status is Status.PROVED
    assert verdict.subject is not None
    assert (verdict.subject.about, verdict.subject.place) == (About.NETWORKS, describe(HardNetworks()))
    assert [claim.text.partition(":")[0] for claim in verdict.claims] == [
        "at least 2 layers",
        "2 layers suffice",
    ]
    with pytest.raises(OptionError, match="leave 'model' out"):
        check_path(place, model="network")


def test_a_file_that_is_no_json_is_malformed(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    with pytest.raises(MalformedFileError):
        DEPTH.load(place)
    place.write_text('{"format": "attemper-depth/2"')
    assert check_path(place).status is Status.MALFORMED


def test_the_class_is_described() -> None:
    assert "without position embeddings, any width" in describe(HardNetworks())
    assert "with position embeddings of period 1 from position 3 on" in describe(HardNetworks(3, 1))
    assert "ties broken to the right" in describe(HardNetworks(1, 2, TieBreaking.RIGHTMOST))
