"""Networks as theorems: what is written, what is refused by name, and what Coq says where it is installed."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import pytest

import attemper
from attemper.errors import UnsupportedError
from attemper.exports.coq.cases import same, tidy
from attemper.exports.coq.formulas import Logical, logical, truths
from attemper.exports.coq.writing import theorem_of
from attemper.exports.subject import Exported
from tests import ROOT
from tests.support.suites import Few

COQ = ROOT / "coq"

ORDER = re.search(r"^COQ := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)

REASONS = (
    "looks to the right",
    "only comparisons of two left counts",
    "compares other sums than two counts",
    "of which nothing is proved",
    "gate of",
    "is no bit",
    "which bit",
    "chooses by several bits",
    "no exact bit",
    "only heads that look left",
    "certified for a formula",
    "put out one bit",
)
"""All that a refusal says."""


def drawn(rng: random.Random, depth: int, letters: str) -> str:
    """A past formula, with comparisons of counts."""
    if not depth or rng.random() < 0.12:
        return rng.choice(("", "!")) + rng.choice(letters)
    left, right = drawn(rng, depth - 1, letters), drawn(rng, depth - 1, letters)
    one = (f"Y ({left})", f"O ({left})", f"H ({left})")
    two = (f"(({left}) S ({right}))", f"(({left}) & ({right}))", f"(({left}) | ({right}))")
    counts = f"(#<[{left}] {rng.choice(['<=', '>=', '<', '>'])} #<[{right}])"
    return rng.choice((*one, *two, *two, f"(({left}) -> ({right}))", counts))


def subject(text: str, letters: str = "abc", **options: str) -> Exported:
    model = attemper.compile(text, letters, at="last", empty="reject", **options)  # type: ignore[arg-type]
    return Exported(model.network, model.source, model.certify())


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checker, built from its files: nothing of it is left from before."""
    if shutil.which("coqc") is None:
        pytest.skip("Coq is not installed")
    folder = tmp_path_factory.mktemp("coq")
    assert ORDER is not None
    for name in ORDER[1].split():
        shutil.copy(COQ / f"{name}.v", folder)
        built = coqc(folder, folder / f"{name}.v")
        assert built.returncode == 0, built.stderr
    assert len(list(COQ.glob("*.v"))) == len(ORDER[1].split()), "every file is built"
    return folder


def coqc(library: Path, file: Path) -> subprocess.CompletedProcess[str]:
    command = ["coqc", "-Q", ".", "Attemper", str(file)]
    return subprocess.run(command, cwd=library, capture_output=True, text=True, check=False)


@pytest.mark.sweep(0)
def test_the_theorem_rests_on_the_real_numbers_alone(library: Path) -> None:
    said = coqc(library, library / "Axioms.v").stdout
    axioms = set(re.findall(r"^([A-Z]\w+\.\w+)", said, re.MULTILINE))
    assert axioms == {
        "ClassicalDedekindReals.sig_not_dec",
        "ClassicalDedekindReals.sig_forall_dec",
        "FunctionalExtensionality.functional_extensionality_dep",
        "Classical_Prop.classic",
    }
    for file in COQ.glob("*.v"):
        assert not re.search(r"\b(Admitted|Axiom|Parameter|admit)\b", file.read_text(encoding="utf-8"))


FORMULAS = (
    "a S b",
    "(a S b) & !Y (c S a)",
    "O (a & Y b) | H (a -> (b S c))",
    "#<[a] < #<[b | c]",
    "Y (a & O b) & (#<[a] <= #<[b & Y a])",
    "O O a | (c & !c)",
    "H (c & !c)",
)


@pytest.mark.sweep(0)
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
def test_networks_are_proved(regime: str, library: Path, few: Few) -> None:
    for text in few(FORMULAS, 3):
        file = library / "own.v"
        file.write_text(theorem_of(subject(text, regime=regime)), encoding="utf-8")
        found = coqc(library, file)
        assert found.returncode == 0, (text, found.stderr)
        assert "functional_extensionality_dep" in found.stdout


@pytest.mark.slow
def test_most_drawn_formulas_are_proved(library: Path) -> None:
    rng, proved, count, refusals = random.Random(1), 0, 300, list[str]()
    for _ in range(count):
        letters, depth = rng.choice(["ab", "abc"]), rng.choice([2, 3, 4])
        text, regime = drawn(rng, depth, letters), rng.choice(["unbounded", "temperature"])
        try:
            written = theorem_of(subject(text, letters, regime=regime))
        except UnsupportedError as error:
            refusals.append(str(error))
            continue
        (library / "own.v").write_text(written, encoding="utf-8")
        proved += coqc(library, library / "own.v").returncode == 0
    assert proved >= 0.85 * count
    assert all(any(reason in said for reason in REASONS) for said in refusals)


def mutants(text: str) -> Iterator[str]:
    """The theorem with one number of the network changed."""
    start, end = text.index("Definition net"), text.index("Definition f0")
    for found in re.finditer(r"\((-?\d+) # (\d+)\)%Q", text[start:end]):
        above, below = int(found[1]), int(found[2])
        for changed in (
            f"({-above} # {below})%Q",
            f"({above + below} # {below})%Q",
            f"({above} # {2 * below})%Q",
        ):
            yield text[: start + found.start()] + changed + text[start + found.end() :]


@pytest.mark.sweep(0)
def test_changed_networks_are_not_proved_unless_they_are_right(library: Path, few: Few) -> None:
    """What a changed number leaves right is right by the theorem; here most numbers matter."""
    text = theorem_of(subject("a S b"))
    every = list(mutants(text))
    refused = 0
    for number, changed in enumerate(few(every, 6)):
        (library / f"changed{number}.v").write_text(changed, encoding="utf-8")
        refused += coqc(library, library / f"changed{number}.v").returncode != 0
    assert refused >= 0.7 * len(few(every, 6))


@pytest.mark.sweep(0)
def test_another_formula_is_not_proved(library: Path) -> None:
    text = theorem_of(subject("a S b"))
    goal = re.search(r"^Definition goal := (f\d+)\.$", text, re.MULTILINE)
    assert goal is not None
    names = re.findall(r"^Definition (f\d+) : formula", text, re.MULTILINE)
    for other in (*names, "(Not goal0)"):
        if other == goal[1]:
            continue
        changed = text.replace(goal[0], f"Definition goal0 := {goal[1]}.\nDefinition goal := {other}.")
        (library / "other.v").write_text(changed, encoding="utf-8")
        assert coqc(library, library / "other.v").returncode != 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F a", "looks to the right"),
        ("#<[a] >= 2", "only comparisons of two left counts"),
        ("even(#<[a])", "of which nothing is proved"),
        ("Y Y a", "of which nothing is proved"),
    ],
)
def test_what_is_outside_is_refused_by_name(text: str, said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        theorem_of(subject(text))


def test_only_formulas_are_sources() -> None:
    model = attemper.compile("regex:(ab)*", "ab")
    with pytest.raises(UnsupportedError, match="certified for a formula"):
        theorem_of(Exported(model.network, model.source, model.certify()))
    with pytest.raises(UnsupportedError, match="certified for a formula"):
        theorem_of(Exported(model.network, model.source))


def test_formulas_mean_the_same_in_coqs_words(few: Few) -> None:
    rng = random.Random(3)
    for _ in few(range(150), 30):
        text = drawn(rng, 3, "ab")
        meant = attemper.language(text, "ab", at="last", empty="reject")
        formula = logical(meant.definition.formula, meant.alphabet)  # type: ignore[union-attr]
        for word in (own for n in range(1, 6) for own in product((0, 1), repeat=n)):
            for own in (formula, tidy(2, formula)):
                assert truths(own, word, {})[-1] == meant.accepts(tuple("ab"[k] for k in word))


def test_what_is_said_to_be_the_same_is(few: Few) -> None:
    rng, found = random.Random(4), 0
    words = [own for n in range(1, 7) for own in product((0, 1), repeat=n)]

    def formula() -> Logical:
        meant = attemper.language(drawn(rng, 2, "ab"), "ab", at="last", empty="reject")
        return logical(meant.definition.formula, meant.alphabet)  # type: ignore[union-attr]

    for _ in few(range(400), 80):
        one, other = formula(), formula()
        if same(2, one, other):
            found += 1
            assert all(truths(one, word, {}) == truths(other, word, {}) for word in words)
        assert same(2, one, one)
    assert found


def test_the_command_writes_a_file(tmp_path: Path) -> None:
    from tests.support.cli.command_line import attemper as command

    command("compile", "O a", "--alphabet", "ab", "--at", "last", "--empty", "reject", "-o", tmp_path / "net")
    done = command("export", tmp_path / "net", "coq", "-o", tmp_path / "net.v")
    assert (done.code, "as coq to" in done.out) == (0, True)
    assert "Theorem proved : computes net goal." in (tmp_path / "net.v").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "net" / "network.json").read_bytes())["alphabet"] == ["a", "b"]
