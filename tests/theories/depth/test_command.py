"""attemper depth, and depth() from Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import attemper
from attemper.checker.verdict import Status
from attemper.errors import AlphabetError, OptionError, SourceError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.theories.depth.ask import depth
from attemper.theories.depth.certificate import DEPTH, EnoughByClasses, EnoughByFormula, Inseparable
from attemper.theories.depth.check.claims import judge_depth
from attemper.theories.depth.search import searching
from attemper.workbench.cli.time_limit import TimeUp
from tests.support.cli.command_line import attemper as run

AB = ("--alphabet", "ab")
NESTED = "(a(a(ab)*b)*b)*"


def test_the_least_depth_is_printed_with_both_bounds_and_the_class() -> None:
    found = run("depth", "regex:(ab)*", *AB)
    assert found.code == 0
    assert found.out.splitlines() == [
        "0 layers: not enough, ab against aab",
        "1 layer: not enough, ab against aab",
        "2 layers: enough (602 classes)",
        "least depth: 2",
        "proved for every future-masked transformer of unique hard attention without position embeddings, "
        "any width, heads and functions; not: averages over several maxima, softmax, relative positions, "
        "masks to the right",
    ]


@pytest.mark.sweep(0)
def test_a_file_is_written_that_both_checkers_prove(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    found = run("depth", f"regex:{NESTED}", *AB, "-o", place, "--json").record
    assert (found["at_least"], found["at_most"], found["least"]) == (4, 4, 4)
    assert found["by"]["layers"] == 4
    claims = DEPTH.load(place)
    assert [claim.layers for claim in claims.claims] == [0, 1, 2, 3, 4]
    assert isinstance(claims.claims[-1], EnoughByFormula)
    checked = run("check", place, "--json")
    assert (checked.code, checked.record["verdict"]) == (0, "PROVED")
    assert [claim["status"] for claim in checked.record["claims"]] == ["PROVED"] * 5
    assert "networks: every future-masked transformer of unique hard attention" in run("check", place).out
    data = json.loads(place.read_text())
    data["claims"][3][2][0].append("a")
    place.write_text(json.dumps(data))
    assert run("check", place).code == 10
    assert run("check", place, "--model", "x").code == 2


def test_a_formula_is_the_language_of_its_file(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    assert run("depth", "formula:O (b & Y a)", *AB, "-o", place).code == 0
    assert isinstance(DEPTH.load(place).language, TemporalLanguage)
    assert judge_depth(DEPTH.load(place)).status is Status.PROVED
    ahead = run("depth", "formula:F (a & X b)", "--at", "first", *AB, "-o", place, "--json")
    assert ahead.record["least"] == 2
    assert isinstance(DEPTH.load(place).language, Dfa)


def test_counts_modulo_a_number_are_regular_and_others_not() -> None:
    refused = run("depth", "formula:#<[a] <= #<[b]", *AB)
    assert refused.code == 4
    assert "not regular as it stands" in refused.err
    modular = run("depth", "formula:#<[a] % 2 = 0", *AB)
    assert (modular.code, "no number of layers" in modular.err) == (4, True)
    assert run("depth", "formula:pos % 2 = 0 & b", *AB, "--period", 2, "--json").record["least"] == 0


@pytest.mark.parametrize(
    ("regex", "words"),
    [("(aa)*", ["a", "takes each state to the next"]), ("(b*ab*a)*b*", ["of the same length"])],
)
def test_no_number_of_layers_is_said_with_the_witness(regex: str, words: list[str]) -> None:
    found = run("depth", f"regex:{regex}", *AB)
    assert found.code == 4
    assert "no number of layers of unique hard attention is enough" in found.err
    assert all(word in found.err for word in words)
    pairs = run("depth", f"regex:{regex}", *AB, "--layers", 5, "--json").record
    assert [entry["layers"] for entry in pairs["layers"]] == [0, 1, 2, 3, 4, 5]
    assert all("words" in entry for entry in pairs["layers"])
    assert (pairs["at_least"], pairs["at_most"]) == (6, None)


def test_positions_help_where_the_language_is_quasi_aperiodic() -> None:
    refused = run("depth", "regex:(aa)*", *AB)
    assert "--period 2" in refused.err
    assert run("depth", "regex:(aa)*", *AB, "--period", 2, "--json").record["least"] == 1
    assert run("depth", "regex:(aa)*", *AB, "--period", 3).code == 4
    assert run("depth", "regex:(aa)*", "--alphabet", "a", "--period", 4, "--json").record["least"] == 0
    assert run("depth", "regex:(b*ab*a)*b*", *AB, "--period", 2).code == 4


def test_pairs_of_one_length() -> None:
    found = run("depth", f"regex:{NESTED}", *AB, "--same-length", "--layers", 3, "--json").record
    assert found["at_least"] == 4
    for entry in found["layers"]:
        first, second = entry["words"]
        assert len(first) == len(second)
    text = run("depth", f"regex:{NESTED}", *AB, "--same-length", "--layers", 1).out
    assert text.splitlines()[-1].endswith("holds for weights that depend on the length, too")
    alone = run("depth", "regex:aa", "--alphabet", "a", "--same-length")
    assert (alone.code, "no two words of one length" in alone.out) == (12, True)


@pytest.mark.parametrize("choice", ["leftmost", "rightmost"])
def test_one_sided_ties_need_as_many_layers_or_more(choice: str) -> None:
    both = depth(parse_regex("~[] a b ~[]", "ab"))
    one = depth(parse_regex("~[] a b ~[]", "ab"), choice=choice, layers=3)
    assert one.lower >= both.lower
    assert one.claims.networks.choice == choice


# Caps ----------------------------------------------------------------------------------------------


@pytest.mark.sweep(0)
def test_a_cap_on_classes_leaves_the_best_lower_bound() -> None:
    found = run("depth", "regex:~[] a b b a ~[]", *AB, "--limit", "classes=20")
    assert found.code == 12
    *_, before, above, last, _ = found.out.splitlines()
    assert before == "2 layers: 22 classes were listed: more than 20 classes"
    assert above == "4 layers: enough (a past formula)"
    assert last == "at least 2 layers, at most 4 (22 classes were listed: more than 20 classes)"


def test_no_time_leaves_what_is_known(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    found = run("depth", f"regex:{NESTED}", *AB, "--seconds", 1e-9, "-o", place)
    assert (found.code, found.out, place.exists()) == (12, "", False)
    assert "no answer within 1e-09 seconds" in found.err
    assert "the time is over" in depth(f"regex:{NESTED}", seconds=1e-9).stopped


def test_what_is_printed_is_the_result() -> None:
    for arguments, options in (
        ((f"regex:{NESTED}",), {"layers": 2}),
        (("regex:(ab)*", *AB), {"alphabet": "ab"}),
    ):
        found = depth(arguments[0], **options)
        command = ("depth", *arguments, *(("--layers", 2) if "layers" in options else ()))
        assert run(*command).out == f"{found}\n"
        assert run(*command, "--json").record == found.record
        assert (found.status, found.exit_code) == (Status.PROVED, 0)
    first, *_ = str(depth("regex:(ab)*")).splitlines()
    assert first == "alphabet a b (from the text)"
    assert depth("regex:(ab)*").record["alphabet_from_text"] is True


def test_a_file_of_a_depth_is_shown(tmp_path: Path) -> None:
    place = tmp_path / "depth.json"
    assert run("depth", "regex:(ab)*", "-o", place).code == 0
    shown = run("show", place)
    assert shown.code == 0
    for line in ("0 layers: not enough, ab against aab", "2 layers: enough (602 classes)"):
        assert line in shown.out.splitlines()
    assert "networks: every future-masked transformer of unique hard attention" in shown.out
    record = run("show", place, "--json").record
    assert (record["kind"], record["claims"][-1]) == ("depth", {"layers": 2, "classes": 602})


@pytest.mark.parametrize(
    ("end", "said"), [(KeyboardInterrupt(), "interrupted"), (TimeUp("the time was up"), "the time was up")]
)
def test_an_interrupt_leaves_what_is_known(
    end: KeyboardInterrupt, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached, calls = searching.ClassCaps.reached, []

    def interrupted(self: searching.ClassCaps, classes: int) -> str | None:
        calls.append(classes)
        if len(calls) == 40:
            raise end
        return reached(self, classes)

    monkeypatch.setattr(searching.ClassCaps, "reached", interrupted)
    found = run("depth", f"regex:{NESTED}", *AB, "--json")
    assert found.code == 12
    assert found.record["stopped"] == said
    assert found.record["at_least"] >= 2
    assert found.record["layers"][-1]["words"]


# Errors --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("regex:a", *AB, "--layers", "-1"), 2, "--layers -1 is not a number of layers from 0 to 64"),
        (("regex:a", *AB, "--layers", "65"), 2, "from 0 to 64"),
        (("regex:a", *AB, "--period", "0"), 2, "period=0"),
        (("regex:a", *AB, "--prefix", "0"), 2, "prefix=0"),
        (
            ("regex:a", *AB, "--limit", "classes=0"),
            2,
            "the limit 'classes' is a whole number from 1 on, not 0",
        ),
        (("regex:a", *AB, "--seconds", "0"), 2, "--seconds"),
        (("regex:a", *AB, "--seconds", "nan"), 2, "--seconds"),
        (("regex:a", *AB, "--choice", "middle"), 2, "choice"),
        (("regex:a", *AB, "--limit", "class=5"), 2, "there is no limit 'class'; the limits are: classes, "),
        (("regex:a", *AB, "--limit", "classes"), 2, "a limit is given as NAME=N"),
        (("regex:a", *AB, "--classes", "5"), 2, "write --limit classes=N"),
        (("--regex", "a", *AB), 2, "write attemper depth 'regex:TEXT'"),
        (("regex:a",), 2, "names the symbol a only: say which there are"),
        (("formula:a",), 2, "names the symbol a only: say which there are"),
        ((), 2, "LANGUAGE"),
        (("regex:a", *AB, "--at", "last"), 2, "an expression says this itself"),
        (("regex:c", *AB), 3, "c"),
        (("formula:O c", *AB), 3, "c"),
        (("formula:F a", *AB), 3, "--at first"),
        (("dfa:nowhere.json",), 6, "nowhere.json"),
    ],
)
def test_errors_name_the_culprit(options: tuple[str, ...], code: int, words: str) -> None:
    found = run("depth", *options)
    assert (found.code, found.out) == (code, "")
    assert words in found.err


def test_a_folder_is_no_file_to_write(tmp_path: Path) -> None:
    assert run("depth", "regex:a", *AB, "-o", tmp_path).code == 2


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"layers": True}, OptionError),
        ({"layers": 2.0}, OptionError),
        ({"period": "2"}, OptionError),
        ({"choice": "middle"}, OptionError),
        ({"alphabet": "ab"}, OptionError),
        ({"seconds": None}, OptionError),
        ({"limits": ["classes"]}, OptionError),
    ],
)
def test_python_is_told_which_option(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error, match=next(iter(options))):
        depth(parse_regex("a", "ab"), **options)


def test_python_may_give_a_formula() -> None:
    assert attemper.depth("O (b & Y a)", "ab").least == 2
    given = depth(TemporalLanguage(parse("O a"), At.LAST, False), Alphabet(("a", "b")))
    assert (given.least, given.by) == (1, EnoughByClasses(1, 14))
    with pytest.raises(OptionError, match="names the symbol a only"):
        depth("O a")
    with pytest.raises(OptionError, match="int names no language"):
        depth(3)  # type: ignore[arg-type]
    with pytest.raises(SourceError):
        depth("O (", "ab")
    with pytest.raises(AlphabetError):
        depth("O a", "aa")
    with pytest.raises(UnsupportedError, match="layers=2"):
        depth(parse_regex("(aa)*", "a"))


def test_nothing_known_cannot_be_saved(tmp_path: Path) -> None:
    found = depth(parse_regex("~[] a b b a ~[]", "ab"), limits={"classes": 1})
    assert (found.status, found.exit_code) == (Status.UNKNOWN, 12)
    assert found.lower == 0 or found.pair is not None
    everything = depth(parse_regex("~[]", "ab"))
    assert (everything.least, everything.pair, repr(everything)) == (0, None, "<Depth: least depth 0>")
    assert isinstance(everything.by, EnoughByClasses)
    assert not any(isinstance(claim, Inseparable) for claim in everything.claims.claims)


@pytest.mark.sweep(0)
def test_a_pair_too_long_for_the_checker_ends_the_search() -> None:
    found = depth(parse_regex("a{1000}a", "a"), layers=1)
    assert (found.lower, found.pair, found.capped) == (0, None, True)
    assert "1,000 letters" in found.stopped
    with pytest.raises(OptionError, match="nothing to save"):
        found.save("nowhere.json")
