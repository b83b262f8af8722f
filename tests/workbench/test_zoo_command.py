"""attemper zoo: the list, one language, words of it, and its network."""

from __future__ import annotations

from pathlib import Path

import pytest

import attemper as library
from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.languages.named.entry import Entry, Transduction
from attemper.languages.named.zoo import (
    everything,
    language_named,
    named,
)
from attemper.workbench.cli.zoo import cut
from tests.support.cli.command_line import attemper
from tests.support.corpora.zoo import horizon
from tests.workbench.test_terminal import WIDTHS, too_wide

# The list ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", WIDTHS)
def test_the_list_has_a_line_for_each_language(columns: int) -> None:
    done = attemper("zoo", columns=columns)
    assert done.code == ExitCode.OK
    assert too_wide(done.out, columns) == []
    listed, _, rest = done.out.partition("\n\n")
    assert [line.split()[0] for line in listed.splitlines()] == [entry.name for entry in everything()]
    assert "k-hop-K: K = 1 to 4" in rest
    assert "parity is parity-even" in rest


def test_the_list_says_what_words_are_if_there_is_room() -> None:
    listed = attemper("zoo").out.splitlines()
    for entry, line in zip(everything(), listed, strict=False):
        assert line.endswith(f"  {entry.definition}")
        assert f"  {entry.kind}  " in line


def test_texts_are_cut_between_words() -> None:
    assert cut("one two three", 13) == "one two three"
    assert cut("one two three", 12) == "one two ..."
    assert cut("one two three", 11) == "one two ..."
    assert cut("one two three", 10) == "one ..."


def test_the_list_in_json_is_complete() -> None:
    records = attemper("zoo", "--json").records
    assert [record["name"] for record in records] == [entry.name for entry in everything()]
    for record in records:
        assert record["definition"] == named(record["name"]).definition
        assert record["sources"]
    assert "members" not in records[0]


# One language --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize(
    "name",
    [
        "parity",
        "k-hop-3",
        "dyck-3",
        "flip-flop",
        "dyck-1-depth-10",
        "date",
        "sort",
        "histogram",
        "trigram-lm",
    ],
)
def test_a_language_is_shown_on_lines_that_fit(name: str, columns: int) -> None:
    done = attemper("zoo", name, "--count", 4, "--longest", 150, columns=columns)
    assert done.code == ExitCode.OK
    assert too_wide(done.out, columns) == []


def test_all_about_a_language_is_shown() -> None:
    shown = attemper("zoo", "flip-flop", "--count", 1).out
    for text in (
        "flip-flop: writes, reads and ignores: every read gives the last write\n",
        "class            star-free\n",
        "alphabet         w0 w1 r0 r1 i\n",
        "empty word       in the language\n",
        "formula          H ((r0 -> !w1 S w0) & (r1 -> !w0 S w1))\n",
        "automaton        4 states\n",
        "program          alphabet w0 w1 r0 r1 i\n",
        "                 output every[j <= i] !wrong\n",
        "attention        2 layers at most\n",
        "regimes          unbounded, temperature, decoder\n",
        "reference        Liu et al. 2023: Exposing Attention Glitches with Flip-Flop Language Modeling\n",
    ):
        assert text in shown
    (word,) = [line for line in shown.splitlines() if line.startswith("in  ")]
    assert language_named("flip-flop").accepts(tuple(word.split()[1:]))


def test_parity_alone_prints_its_polarity() -> None:
    shown = attemper("zoo", "parity").out
    assert shown.startswith("'parity' is 'parity-even'\nparity-even: words with an even number of 1s\n")
    assert "polarity         even, as in Hahn 2020; 'parity-odd' has the other words\n" in shown


def test_words_are_those_of_the_entry_and_of_the_seed() -> None:
    entry = language_named("mqar")
    record = attemper("zoo", "mqar", "--count", 20, "--longest", 40, "--seed", 5, "--json").record
    assert [tuple(word) for word in record["members"]] == entry.members(seed=5, count=20, longest=40)
    assert [tuple(word) for word in record["strangers"]] == entry.strangers(seed=5, count=20, longest=40)
    pairs = [(tuple(inside), tuple(outside)) for inside, outside in record["near_misses"]]
    assert pairs == entry.near_misses(seed=5, count=20, longest=40)


def test_words_are_shown_with_what_is_put_out() -> None:
    shown = attemper("zoo", "induction-head", "--count", 2, "--seed", 3).out
    for text in (
        "'induction-head' is 'k-hop-1-symbol'\n",
        "puts out         one of a b c none at every position\n",
        "program          alphabet a b c\n",
        "                 output hop1\n",
        "attention        2 layers at most\n",
    ):
        assert text in shown
    entry = named("induction-head")
    for word in entry.words(seed=3, count=2, longest=12):
        assert f"word             {''.join(word)} gives {' '.join(entry.outputs(word))}\n" in shown


def test_what_is_put_out_is_in_the_json() -> None:
    record = attemper("zoo", "mqar-symbol", "--count", 9, "--longest", 30, "--json").record
    entry = named("mqar-symbol")
    assert record["puts_out"] == ["x", "y", "none"]
    words = [tuple(one["word"]) for one in record["words"]]
    assert words == entry.words(count=9, longest=30)
    assert [tuple(one["outputs"]) for one in record["words"]] == list(map(entry.outputs, words))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("parety",), "there is no 'parety' in the zoo; the nearest name is 'parity'"),
        (("k-hop-9",), "of 'k-hop-K' there are K = 1 to 4"),
        (("--count", "3"), "--count needs a NAME"),
        (("parity", "-o", "x"), "'attemper zoo' has no -o any more: write attemper compile zoo:NAME -o DIR"),
        (("--pages", "x"), "'attemper zoo' has no --pages any more: write make gallery"),
        (("parity", "--words", "3"), "'attemper zoo' has no --words any more: write --count N"),
        (("parity", "--count", "-1"), "--count"),
    ],
)
def test_mistakes_have_a_code_and_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = attemper("zoo", *arguments)
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert message in done.err
    assert list(tmp_path.iterdir()) == []


# Networks ------------------------------------------------------------------------------------------------


def test_a_language_is_compiled_by_its_name(tmp_path: Path) -> None:
    done = attemper("compile", "zoo:tomita-5", "-o", tmp_path / "net", "--regime", "decoder")
    assert done.code == ExitCode.OK
    assert "(decoder) to" in done.out
    assert "certified for all lengths in real arithmetic" in done.out
    record = attemper("run", tmp_path / "net", "0011", "", "--json").records
    assert [one["accepted"] for one in record] == [True, True]
    assert attemper("check", tmp_path / "net").code == ExitCode.OK
    again = attemper("compile", "zoo:tomita-5", "-o", tmp_path / "net", "--json").record
    assert (again["regime"], again["replaced"], again["directory"]) == (
        "unbounded",
        True,
        str(tmp_path / "net"),
    )


def test_what_is_put_out_is_compiled_run_and_verified(tmp_path: Path) -> None:
    folder = tmp_path / "sort"
    assert attemper("compile", "zoo:sort", "-o", folder, "--regime", "temperature").code == ExitCode.OK
    assert attemper("run", folder, "cabca").out.split() == ["cabca", "aabcc"]
    assert attemper("verify", folder, "--up-to", 3, "--count", 9, "--longest", 30).code == ExitCode.OK
    assert attemper("check", folder).code == ExitCode.OK
    refused = attemper("compile", "zoo:sort", "-o", tmp_path / "other", "--regime", "decoder")
    assert refused.code == ExitCode.UNSUPPORTED
    assert "Use --regime temperature" in " ".join(refused.err.split())
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["tomita-4", "dyck-2-depth-2"])
def test_expressions_and_automata_are_saved_as_what_they_are(tmp_path: Path, name: str) -> None:
    assert attemper("compile", f"zoo:{name}", "-o", tmp_path / "net").code == ExitCode.OK
    shown = attemper("show", tmp_path / "net").out
    assert shown.startswith("regex" if name == "tomita-4" else "automaton")


# From Python ---------------------------------------------------------------------------------------------


def test_the_zoo_from_python() -> None:
    entry, model = library.zoo["parity"], library.compile("zoo:parity", regime="temperature")
    assert isinstance(entry, Entry)
    assert entry.name == "parity-even"
    assert model.regime == "temperature"
    for inside, outside in entry.near_misses(count=20, longest=100):
        assert (model.accepts(inside), model.accepts(outside)) == (True, False)
    assert library.compile("zoo:majority", horizon=100_000, dtype="float32").accepts("01")
    with pytest.raises(OptionError, match="the nearest name is 'majority'"):
        library.zoo["mayority"]
    with pytest.raises(OptionError, match="name is of the type int"):
        library.zoo[3]  # type: ignore[index]
    with pytest.raises(OptionError, match="regime="):
        library.compile("zoo:majority", regime="soft")  # type: ignore[arg-type]


def test_what_is_put_out_from_python() -> None:
    entry, model = library.zoo["mqar-symbol"], library.compile("zoo:mqar-symbol")
    assert isinstance(entry, Transduction)
    for word in entry.words(count=20, longest=100):
        assert model.output(word) == entry.outputs(word)


def test_with_a_horizon_every_source_is_tried() -> None:
    """The program is tried first, and the formula goes further."""
    far = library.compile("zoo:detect-aab", horizon=800_000, dtype="float32")
    near = library.compile("zoo:detect-aab")
    assert horizon(far.certify(), "float32") >= 800_000 > horizon(near.certify(), "float32")
    with pytest.raises(UnsupportedError, match="the largest that is proved is"):
        library.compile("zoo:parity", horizon=10**9, dtype="float32")
