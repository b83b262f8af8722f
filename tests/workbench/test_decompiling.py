"""What decompile says of networks whose weights, labels or files were changed: it reads the weights alone."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import attemper
from attemper.certificates.files import CERTIFICATE
from attemper.checker.names import UnprovenError
from attemper.checker.verdict import Status
from attemper.errors import UnprovedError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.words import Alphabet
from attemper.networks.files import STRUCTURE
from attemper.networks.layers import Foreign, Network
from attemper.networks.regime import Regime
from attemper.networks.typed import LayerOf, UnitOf, hard_network
from attemper.networks.wellformed import complaints
from attemper.workbench.decompiled import ReadNetwork, departure
from attemper.workbench.decompiling import decompile
from tests.support.cli.command_line import attemper as run_attemper
from tests.support.judges.past_automata import drawn
from tests.support.judges.read_back import decompiled, long_words, said_of, wrong_words
from tests.support.mutants.one_change import gentle_mutant, random_network_mutant
from tests.support.mutants.permuted import permuted
from tests.support.oracles.raw_forward import all_words
from tests.support.slowly import mostly_slow

REGIMES = ("unbounded", "temperature", "decoder")

FORMULAS = (
    "H (a -> Y b)",
    "a S (b & Y a)",
    "#<[a] % 3 = 1 & Y b",
    "#<[a] <= 2",
    "#<[a] < #<[b]",
    "pos % 2 = 1 -> a",
    "WY a T b",
    "O (a & #<[b] >= 2)",
    "#<[a] == #<[b]",
    "first | Y Y a",
)

EXPRESSIONS = ("(ab)*", "a*b(a|b)*", "(aa|b)*", "(a|b)*a(a|b)(a|b)", "(a(ab)*b)*", "b*ab*a(a|b)*")


def source(draw: random.Random) -> attemper.Model:
    """A network of a formula or an expression over two letters."""
    regime = draw.choice(REGIMES)
    if draw.random() < 0.35:
        return attemper.compile(attemper.regex(draw.choice(EXPRESSIONS), "ab"), regime=regime)  # type: ignore[arg-type]
    drawn_text = show(drawn(draw, draw.randint(2, 7), "ab"))
    text = draw.choice((*FORMULAS, *[drawn_text] * 4))
    return attemper.compile(text, "ab", regime=regime, at="last")  # type: ignore[arg-type]


# Mutants -----------------------------------------------------------------------------------------------


def mutants(draw: random.Random, count: int) -> list[tuple[str, attemper.Model, Network]]:
    """Networks that a file can hold, each with one thing changed, and what they were."""
    found: list[tuple[str, attemper.Model, Network]] = []
    while len(found) < count:
        model = source(draw)
        for _ in range(min(6, count - len(found))):
            make = gentle_mutant if draw.random() < 0.15 else random_network_mutant
            name, changed = make(model.network, draw)
            if changed is not None and not list(complaints(changed)):
                found.append((f"{model.language.definition}: {name}", model, changed))
    return found


@pytest.mark.sweep(0)
@pytest.mark.parametrize("seed", mostly_slow(range(200), fast=(3,)))
def test_mutants_are_what_decompile_says_of_them(seed: int) -> None:
    draw, kinds = random.Random(seed), Counter[str]()
    for name, model, network in mutants(draw, 10):
        try:
            found = decompiled(network, configurations=2_000, seconds=30)
        except (UnprovenError, UnsupportedError):
            kinds["refused"] += 1
            continue
        words = list(all_words(2, 7))
        assert not wrong_words(network, found.language.definition, words + long_words(2, 20, 200, draw)), name
        same = all(
            said_of(found.language.definition, "ab", w) == model.accepts(["ab"[k] for k in w]) for w in words
        )
        kinds["same" if same else "other"] += 1
    assert kinds["same"] + kinds["other"] > 0, kinds


def test_a_mutant_has_a_word_on_which_it_differs(tmp_path: Path) -> None:
    model = attemper.compile("O a", "ab")
    swapped = replace(model.network, embedding=model.network.embedding[::-1])
    found = decompile(swapped)
    assert found.automaton is not None
    assert found.automaton == decompile(attemper.compile("O b", "ab")).automaton
    claimed = TemporalLanguage(parse("O a", Alphabet(("a", "b"))), At.LAST, False)
    away = departure(replace(found, subject=ReadNetwork(swapped, Regime.UNBOUNDED, claimed)))
    assert away is not None
    assert away.word in {("a",), ("b",)}


def test_a_claim_over_other_symbols_is_not_compared() -> None:
    network = attemper.compile("O a", "ab").network
    claimed = TemporalLanguage(parse("O x", Alphabet(("x", "y"))), At.LAST, False)
    found = decompile(network)
    away = departure(replace(found, subject=ReadNetwork(network, Regime.UNBOUNDED, claimed)))
    assert away is not None
    assert (away.word, away.unknown) == (None, "the claim is about words over other symbols")


# Nothing but the weights -------------------------------------------------------------------------------

TOLD = (("H (a -> Y b)", "unbounded"), ("#<[a] % 3 = 1 & Y b", "temperature"), ("a S (b & Y a)", "decoder"))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("text", "regime"), TOLD)
def test_neither_certificate_nor_source_is_looked_at(text: str, regime: str, tmp_path: Path) -> None:
    folder = tmp_path / "network"
    attemper.compile(text, "ab", regime=regime).save(folder)  # type: ignore[arg-type]
    assert run_attemper("certify", folder).code == 0
    known = decompile(folder).automaton
    (folder / CERTIFICATE).unlink()
    assert decompile(folder).automaton == known
    structure = json.loads((folder / STRUCTURE).read_text(encoding="utf-8"))
    structure["source"] = {"kind": "formula", "text": "O (b & Y b)", "at": "last", "regime": regime}
    (folder / STRUCTURE).write_text(json.dumps(structure), encoding="utf-8")
    assert decompile(folder, edited=True).automaton == known


@pytest.mark.parametrize(("text", "regime"), TOLD)
def test_names_and_places_of_coordinates_do_not_matter(text: str, regime: str) -> None:
    network = attemper.compile(text, "ab", regime=regime).network  # type: ignore[arg-type]
    known = decompile(network).automaton
    plain = tuple(f"x{number}" for number in range(len(network.coordinates)))
    assert decompile(replace(network, coordinates=plain)).automaton == known
    order = list(range(len(plain)))
    random.Random(7).shuffle(order)
    assert decompile(permuted(network, order)).automaton == known


@pytest.mark.parametrize(("text", "regime"), TOLD)
def test_what_heads_are_said_to_be_is_only_what_is_tried(text: str, regime: str) -> None:
    """A head without a label is refused or read as it is, never as something else."""
    network = attemper.compile(text, "ab", regime=regime).network  # type: ignore[arg-type]
    known = decompile(network).automaton
    bare = tuple(
        replace(layer, heads=tuple(replace(head, construction=Foreign()) for head in layer.heads))
        for layer in network.layers
    )
    try:
        found = decompiled(replace(network, layers=bare)).automaton
    except UnprovenError:
        return
    assert found == known


@pytest.mark.sweep(1)
@pytest.mark.parametrize("text", ["H (a -> Y b)", "#<[a] % 3 = 1"])
def test_the_folder_that_is_written_is_proved_from_its_files(text: str, tmp_path: Path) -> None:
    """By a fresh process, which knows nothing of what decompile has found."""
    attemper.compile(text, "ab", empty="accept").save(tmp_path / "in")
    assert run_attemper("decompile", tmp_path / "in", "--network", tmp_path / "out").code == 0
    command = [sys.executable, "-m", "attemper.checker", str(tmp_path / "out")]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "PROVED: all lengths, in real arithmetic" in checked.stdout
    certificate = json.loads((tmp_path / "out" / CERTIFICATE).read_text(encoding="utf-8"))
    kind, _, moves, *_ = certificate["language"]
    assert kind == "dfa"
    assert moves


# Networks typed in by hand -----------------------------------------------------------------------------

A = {"a": {"a": 1}}
ONE = {"one": "1"}


def units(*parts: UnitOf) -> LayerOf:
    return LayerOf([], list(parts))


LAYERLESS = hard_network("ab", embedding=A, positions={}, layers=[], output="a")
CONSTANT = hard_network("ab", embedding=A, positions=ONE, layers=[], output="one")
NEVER = hard_network("ab", embedding={"a": {"never": 0}}, positions=ONE, layers=[], output="never")
SECOND = hard_network(
    "ab", embedding=A, positions={"second": ["test", ["zero"], 1, 0, -2]}, layers=[], output="second"
)
ALTERNATING = hard_network(
    "ab",
    embedding={},
    positions={"sign": ["alternating"]},
    layers=[units(UnitOf({"sign": 1}, {"even": 1}))],
    output="even",
)
LONELY = hard_network("a", embedding={"a": {"a": 1}}, positions={}, layers=[], output="a")
ODD_NUMBERS = hard_network(
    "abcde",
    embedding={"a": {"x": 2}, "b": {"x": "1/2"}, "c": {"x": -1}, "d": {"x": 3}},
    positions={},
    layers=[units(UnitOf({"x": 2}, {"out": 1}), UnitOf({"x": 2}, {"out": -1}, bias=-1))],
    output="out",
)
"""1 for a, b and d, of which x is above 0."""
LETTERS = tuple(f"s{number}" for number in range(30))
THIRTY = hard_network(
    LETTERS,
    embedding={name: {"own": 1} for number, name in enumerate(LETTERS) if number % 7 == 0},
    positions={},
    layers=[],
    output="own",
)


@pytest.mark.parametrize(
    ("network", "states"),
    [
        (LAYERLESS, 2),
        (CONSTANT, 2),
        (NEVER, 1),
        (SECOND, 4),
        (ALTERNATING, 3),
        (LONELY, 2),
        (ODD_NUMBERS, 2),
        (THIRTY, 2),
    ],
)
def test_networks_without_heads(network: Network, states: int) -> None:
    found = decompile(network)
    assert isinstance(found.language.definition, Dfa)
    assert len(found.language.definition.moves) == states
    assert not found.language.definition.accepts(())
    letters = len(network.alphabet.symbols)
    assert not wrong_words(
        network, found.language.definition, list(all_words(letters, 7 if letters < 4 else 3 - letters // 20))
    )
    accepting = decompile(replace(network, accepts_empty=True)).automaton
    assert accepting is not None
    assert accepting.accepts(())


def test_what_knows_the_length_is_refused() -> None:
    last = {"last": ["test", ["zero"], 1, -1, 0]}
    for output in ("last", "a"):
        network = hard_network("ab", embedding=A, positions=last, layers=[], output=output)
        if output == "a":
            assert decompile(network).automaton is not None
            continue
        assert decompile(network).status is Status.UNKNOWN


def test_what_looks_to_the_right_is_refused() -> None:
    found = decompile(attemper.compile("F a", "ab", at="last"))
    assert (found.status, found.automaton, str(found)) == (Status.UNKNOWN, None, f"UNKNOWN: {found.reason}")
    assert found.record == {"subject": "", "status": "UNKNOWN", "reason": found.reason}
    with pytest.raises(UnprovedError, match="looks to the right"):
        _ = found.language
    with pytest.raises(TypeError, match="look at its status"):
        bool(found)
    with pytest.raises(UnsupportedError, match="first position"):
        decompile(attemper.compile("F a", "ab", at="first"))


@pytest.mark.parametrize("level", [2, "1/2", -1])
def test_an_output_that_is_no_bit_is_refused(level: int | str) -> None:
    network = hard_network("ab", embedding={"a": {"a": level}}, positions={}, layers=[], output="a")
    with pytest.raises(UnprovenError, match="not a bit"):
        decompiled(network)


def rarely_both(length: int) -> Network:
    """The union of two bits that are 1 together only where so many a's were read in a row."""
    run = "a"
    for _ in range(length - 1):
        run = f"(a & Y {run})"
    return attemper.compile(f"{run} | (b & !O {run})", "ab").network


@pytest.mark.parametrize("length", [5, 12])
def test_bits_that_meet_in_rare_words_only(length: int) -> None:
    """Random words of 64 letters do not have them, so that the two seem to exclude each other."""
    network = rarely_both(length)
    found = decompile(network).automaton
    assert found is not None
    run_of_a = (0,) * length
    words = [run_of_a[: length - 1], run_of_a, (*run_of_a, 1), (1, *run_of_a, 0, 1), (1, *run_of_a[1:], 1)]
    assert not wrong_words(network, found, words)
    assert found.accepts(("a",) * length)
    assert not found.accepts((*("a",) * length, "b"))
