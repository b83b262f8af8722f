"""attemper refute, restrict and check, as a user types them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

import attemper as library
from attemper.checker.verdict import Status
from attemper.models.hard.examples import RandomTables
from attemper.theories.refutation.certificate.files import REFUTATION
from attemper.theories.refutation.finding import Finding
from tests.support.cli.command_line import attemper
from tests.support.drawn.hard_examples import ones

MODULE = """
from attemper.models.hard.examples import RandomTables


def tables(n):
    return RandomTables(n, (1, 1))


def brackets(n):
    return RandomTables(n, (1, 1), symbols=("(", ")", "$"))


def sticks(n):
    from tests.support.drawn.hard_examples import ones

    return ones(n)


def theirs(n):
    inner = RandomTables(n, (1,))

    class Theirs:
        def __getattr__(self, name):
            return getattr(inner, name)

    return Theirs()


nine = RandomTables(9, (1,))
number = 3


class Wrong:
    length = 3
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    name = f"models_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path / name


def test_the_json_line_has_words_answers_and_the_free_part(here: Path) -> None:
    result = attemper("refute", f"{here.name}:tables", "zoo:parity", "--length", "21", "--json")
    assert result.code == 0
    record = json.loads(result.out)
    pair = record["subject"]["pair"]
    inside, outside = pair["member"], pair["stranger"]
    assert inside.count("1") % 2 == 0
    assert outside.count("1") % 2 == 1
    assert len(inside) == len(outside) == 20
    assert pair["answer"] in {True, False}
    assert 0.5 < pair["free"] / pair["length"] < 1
    assert record["verdict"] == "PROVED"


def test_parity_alone_says_its_polarity(here: Path) -> None:
    note = "note: 'parity' is parity-even: an even number of the model's second symbol, as in Hahn 2020"
    said = {
        name: attemper("refute", f"{here.name}:tables", f"zoo:{name}", "--length", "21")
        for name in ("parity", "parity-even", "parity-odd")
    }
    assert all(result.code == 0 for result in said.values())
    assert said["parity"].out.startswith(note)
    assert said["parity"].out.partition("\n")[2] == said["parity-even"].out
    assert "note: " not in said["parity-odd"].out
    assert "note: " not in said["parity-even"].out


def test_the_other_polarity_has_the_other_words(here: Path) -> None:
    result = attemper("refute", f"{here.name}:tables", "zoo:parity-odd", "--length", "21", "--json")
    pair = result.record["subject"]["pair"]
    inside, outside = pair["member"], pair["stranger"]
    assert (inside.count("1") % 2, outside.count("1") % 2) == (1, 0)


def test_a_file_is_written_and_checked(here: Path) -> None:
    source = f"{here.name}:brackets"
    options = ("zoo:dyck-1", "--length", "31", "--free", "0.2", "-o", "out.json")
    assert attemper("refute", source, *options).code == 0
    found = REFUTATION.load(Path("out.json"))
    assert len(found.restriction.free) >= 0.2 * 31
    checked = attemper("check", "out.json", "--model", source, "--json")
    assert (checked.code, json.loads(checked.out)["verdict"]) == (0, "PROVED")
    subject = checked.record["subject"]
    assert subject["language"] == "the well-nested words of ( )"
    assert (subject["about"], subject["place"], subject["digest"]) == ("model", source, found.digest)
    pair = subject["pair"]
    assert (pair["member"], pair["stranger"]) == (list(found.member), list(found.stranger))
    assert (pair["free"], pair["length"]) == (len(found.restriction.free), 31)
    lines = attemper("check", "out.json", "--model", source).out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["PROVED", "PROVED", "  language", "  model"]
    assert lines[2:] == ["  language: the well-nested words of ( )", f"  model: {source}"]
    complete = attemper("check", "out.json", "--model", source, "--all").out.splitlines()
    assert complete[1:4] == [*lines[2:], f"  digest: {found.digest}"]
    shown = attemper("show", "out.json", "--model", source)
    assert shown.code == 0
    assert shown.out.count("position 31 attends to") == 2
    heads = [line.split(":")[0] for line in shown.out.splitlines() if "attends to" in line]
    assert heads == ["layer 0, head 0", "layer 1, head 0"], "counted from 0, as everywhere"
    other = attemper("check", "out.json", "--model", f"{here.name}:tables")
    assert other.code == 6
    assert "about another model" in other.out


def test_code_is_not_imported_because_a_file_says_so(here: Path) -> None:
    attemper("refute", f"{here.name}:tables", "zoo:parity", "--length", "9", "-o", "out.json")
    result = attemper("check", "out.json")
    assert result.code == 2
    assert "say with --model" in result.err


def test_a_forced_language_is_not_refuted_and_why_is_said(here: Path) -> None:
    result = attemper("refute", f"{here.name}:sticks", "zoo:ones", "--length", "30")
    assert result.code == 12
    assert "the language is forced by 1 of the 29 symbols" in result.out
    record = json.loads(attemper("refute", f"{here.name}:sticks", "zoo:ones", "--length", "30", "--json").out)
    assert record["verdict"] == "UNKNOWN"


def test_a_compiled_network_is_refuted_and_checked_from_its_folder(here: Path) -> None:
    attemper("compile", "O (b & Y a)", "--alphabet", "ab", "-o", "net")
    options = ("regex:(b*ab*ab*a)*b*", "--length", "24", "--free", "0.5")
    result = attemper("refute", "net", *options, "-o", "out.json")
    assert result.code == 0, result.err
    assert attemper("check", "out.json").code == 0
    attemper("compile", "O (b & Y b)", "--alphabet", "ab", "-o", "net")
    assert attemper("check", "out.json").code == 6


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("net", "zoo:parity"), 2, "is neither a folder nor MODULE:OBJECT"),
        (("{}:tables", "zoo:parity"), 2, "say which one, as in --length 30"),
        (("{}:nine", "zoo:parity", "--length", "8"), 2, "is a model for n = 9, not for n = 8"),
        (("{}:number", "zoo:parity"), 8, "is no hard-attention model"),
        (("{}:absent", "zoo:parity"), 2, "has no 'absent'"),
        (("no_such_module:x", "zoo:parity"), 2, "there is no module 'no_such_module'"),
        (("{}:nine",), 2, "Missing argument 'LANGUAGE'"),
        (("{}:nine", "parity"), 3, "write zoo:parity"),
        (("{}:nine", "--language", "parity"), 2, "write attemper refute MODEL zoo:NAME"),
        (("{}:nine", "--regex", "(ab)*"), 2, "write attemper refute MODEL 'regex:TEXT'"),
        (("{}:nine", "zoo:parity", "--n", "9"), 2, "write --length N"),
        (
            ("{}:nine", "zoo:even"),
            2,
            "there is no 'even' in the zoo; names with it are 'parity-even', 'even-runs'",
        ),
        (("{}:nine", "zoo:majority"), 4, "zoo:majority is not made an automaton"),
        (("{}:nine", "zoo:k-hop-1"), 4, "'zoo:k-hop-1' needs 3 symbols, and the model has 2"),
        (("{}:nine", "zoo:parity", "--seed", "-1"), 2, "seed"),
        (("{}:nine", "zoo:parity", "--alphabet", "01"), 2, "No such option: --alphabet"),
        (("{}:nine", "zoo:parity", "-o", "."), 2, "is a folder"),
        ((".x:y", "zoo:parity"), 2, "is neither a folder nor MODULE:OBJECT"),
        (("{}:Wrong", "zoo:parity"), 8, "is no hard-attention model"),
        (("{}:nine", "zoo:dyck-2"), 4, "needs 4 symbols"),
        (("{}:brackets", "zoo:dyck-1", "--length", "30"), 4, "no word of 29 symbols is well nested"),
        (("{}:nine", "regex:a*"), 3, "symbol 'a' is not in the alphabet {0 1}"),
        (("{}:nine", "regex:.*"), 4, "all words of this length are in the language"),
    ],
)
def test_mistakes_have_a_code_and_a_remedy(
    here: Path, arguments: tuple[str, ...], code: int, message: str
) -> None:
    result = attemper("refute", *(argument.format(here.name) for argument in arguments))
    assert result.code == code
    assert message in result.err
    assert "Traceback" not in result.err


def test_a_network_that_counts_is_refused(here: Path) -> None:
    attemper("compile", "#<[a] <= #<[b]", "--alphabet", "ab", "-o", "net")
    result = attemper("refute", "net", "zoo:parity", "--length", "9")
    assert result.code == 4
    assert "layer 0 has a head that averages over many positions" in result.err


def test_a_damaged_file_is_named(here: Path) -> None:
    Path("broken.json").write_text("{")
    for command in ("check", "show"):
        result = attemper(command, "broken.json")
        assert result.code == 6
        assert "broken.json" in result.out + result.err


def test_the_batch_is_an_assumption_about_somebody_elses_functions(here: Path) -> None:
    source = f"{here.name}:theirs"
    result = attemper("refute", source, "zoo:parity", "--length", "12", "-o", "out.json")
    assert result.code == 11
    assert "assuming a row's results do not depend on what else is in the batch" in result.out
    checked = attemper("check", "out.json", "--model", source, "--json")
    assert checked.code == 11
    assert checked.record["claims"][1]["assumptions"]


def test_show_looks_at_the_digest(here: Path) -> None:
    attemper("refute", f"{here.name}:tables", "zoo:parity", "--length", "9", "-o", "out.json")
    result = attemper("show", "out.json", "--model", f"{here.name}:nine")
    assert result.code == 6
    assert "another model" in result.err


@pytest.mark.parametrize(("name", "formula"), [("nothing", "a"), ("feed-forward", "(a & even(pos)) S b")])
def test_networks_whose_first_layer_has_no_heads(here: Path, name: str, formula: str) -> None:
    attemper("compile", formula, "--alphabet", "ab", "-o", name)
    assert attemper("refute", name, "zoo:parity", "--length", "12", "--seconds", "10").code == 0


def test_the_command_prints_what_python_finds(here: Path) -> None:
    def tables() -> RandomTables:
        return RandomTables(21, (1, 1))

    found = library.refute(tables(), "zoo:parity", free=0.5)
    asked = ("refute", f"{here.name}:tables", "zoo:parity", "--length", 21, "--free", 0.5)
    assert found.status is Status.PROVED
    assert found.exit_code == 0
    assert [len(word) for word in found.words] == [20, 20]
    assert found.restriction is not None
    assert len(found.restriction.allowed) == 21
    said = attemper(*asked, columns=None).out.split()
    assert said == str(found).split(), "but for where lines are wrapped"
    printed = attemper(*asked, "--json").record
    subject = {**printed["subject"], "place": ""}
    assert {**printed, "subject": subject, "seconds": 0} == {**found.record, "seconds": 0}
    with pytest.raises(TypeError, match="look at its status"):
        bool(found)


def test_a_language_of_the_zoo_that_is_held_is_over_the_models_symbols_too() -> None:
    model = library.compile("O (b & Y a)", "ab")
    for held in (library.language("zoo:parity-even"), library.language("zoo:parity-even", "ab")):
        found = library.refute(model, held, length=16, free=0.8)
        assert [word.count("b") % 2 for word in found.words] == [0, 1]


def test_a_search_that_found_nothing_is_unknown(here: Path, tmp_path: Path) -> None:
    found = library.refute(ones(30), "zoo:ones")
    assert (found.status, found.exit_code, found.words, found.restriction) == (Status.UNKNOWN, 12, (), None)
    assert str(found).startswith("not refuted: no restriction was found")
    assert found.record["verdict"] == "UNKNOWN"
    assert repr(found).startswith("<Finding: UNKNOWN, not refuted after ")
    assert attemper("refute", f"{here.name}:sticks", "zoo:ones", "--length", 30, "-o", "none.json").code == 12
    assert not Path("none.json").exists()


def test_the_search_leaves_time_for_the_checker(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[float] = []

    def noted(*_: object, seconds: float, **__: object) -> Finding:
        seen.append(seconds)
        return Finding(None, None, "not looked for", 0.0)

    monkeypatch.setattr("attemper.theories.refutation.finding.search_and_check", noted)
    attemper("refute", f"{here.name}:nine", "zoo:parity", "--seconds", 40)
    assert 20 < seen[0] <= 30
    refused = attemper("refute", f"{here.name}:nine", "zoo:parity", "--seconds", 0)
    assert (refused.code, "--seconds must be more than 0" in refused.err) == (2, True)


def test_a_wrong_model_of_a_forced_language_is_said_to_be_wrong(here: Path) -> None:
    attemper("compile", "O a", "--alphabet", "ab", "-o", "net")
    result = attemper("refute", "net", "zoo:ones", "--length", "10", "--seconds", "10")
    assert result.code in {0, 12}
    assert "but the model is wrong on a word" in result.out or "PROVED" in result.out


@pytest.mark.parametrize(("said", "threads"), [({}, "1"), ({"OMP_NUM_THREADS": "3"}, "3")])
def test_numpy_is_given_one_thread_unless_it_is_said(
    here: Path, monkeypatch: pytest.MonkeyPatch, said: dict[str, str], threads: str
) -> None:
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in said.items():
        monkeypatch.setenv(name, value)
    seen: list[str | None] = []

    def noted(make: Callable[[], object], *_: object, **__: object) -> Finding:
        seen.append(os.environ.get("OPENBLAS_NUM_THREADS"))
        return Finding(None, None, "not looked for", 0.0)

    monkeypatch.setattr("attemper.theories.refutation.finding.search_and_check", noted)
    assert attemper("refute", f"{here.name}:nine", "zoo:parity").code == 12
    assert seen == [threads]
