"""Compiled attention programs, certified and saved, judged from their files alone.

The network is run in balls and in floats by code that imports nothing of the library, and compared with the
program in the certificate, which that code reads by itself, too; and that with what the library and the zoo's
oracles say. The second reader of the rules reads the same files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import attemper
from attemper.attention_program import meaning
from attemper.attention_program.ops import PROGRAM, Choice, Mask, Not, Program
from attemper.errors import UnsupportedError
from attemper.languages.named import zoo
from attemper.languages.named.entry import Entry, ZooEntry
from attemper.languages.rasp.show import show
from attemper.workbench.model import Model
from tests.checker.test_second_reader import read_alike
from tests.support.drawn.nearest import dyck, one_nearest, palindromes, random_nearest
from tests.support.drawn.programs import SAID, ProgramSampler
from tests.support.judges.rasp import RaspMeaning, RaspSampler
from tests.support.oracles import raw_truth
from tests.support.oracles.raw_files import kind_of, places_of, read_folder
from tests.support.oracles.raw_forward import all_words, batch_of
from tests.support.oracles.raw_judge import EXACTLY, Judgement, Word, judge
from tests.support.oracles.second_reader.select import Reading
from tests.support.oracles.second_reader.streams import Known

ROOT = Path(__file__).parents[2]

SYMBOLS = """alphabet a b
before = previous symbol else none
latest = rightmost[j < i : symbol(i) = symbol(j)] before(j) else none
output latest"""

DISTANCE = """alphabet a b
empty reject
many = count[j <= i] in 'a' > 1
output previous(3) in 'a' | leftmost[j > i : symbol(j) != symbol(i)] many(j) else true"""


def certified(model: Model, folder: Path) -> Any:
    """The model in a folder, with a certificate, and the language that this is about."""
    model.save(folder, certificate=model.certify())
    return json.loads((folder / "certificate.json").read_bytes())["language"]


def language_of(program: Program) -> Any:
    """The language of a program, as a certificate has it."""
    return ["program language", PROGRAM.encode(program), "last", False]


def words_to(model: Model, most: int) -> list[Word]:
    """All words up to the length to which there are not more than so many."""
    symbols, found = len(model.alphabet.symbols), list[Word]()
    longest = 1
    while sum(symbols**n for n in range(1, longest + 2)) <= most:
        longest += 1
    found += all_words(symbols, longest)
    return found


def judged(folder: Path, model: Model, *, exact: int, floats: int, seed: int = 0) -> Judgement:
    """The folder on all short words, and on a few long ones."""
    rng, symbols = Random(seed), len(model.alphabet.symbols)
    longer = [tuple(rng.randrange(symbols) for _ in range(n)) for n in (9, 17, 33)]
    found = judge(
        folder, exactly=words_to(model, exact), in_floats=[*words_to(model, floats), *longer], ways=1
    )
    assert found.wrong == []
    return found


def put_out(source: Any, alphabet: Sequence[str], word: Word) -> list[Any]:
    """What the source says at each position, by the raw reading: a bit, the only symbol, numbers."""
    truths = raw_truth.truths(source, alphabet, batch_of([word]))
    found: list[Any] = []
    if source[0] == "program language" and kind_of(source[1]) is not None:
        return numbers_put_out(source[1]["numbers"], truths, len(word))
    for place in range(len(word)):
        holding = [symbol for symbol, row in truths.items() if row[0, place]]
        found.append(bool(holding) if None in truths else holding[0])
        assert len(holding) == 1 or None in truths
    return found


def numbers_put_out(numbers: Any, truths: Mapping[str | None, Any], size: int) -> list[Any]:
    """The numbers at each position of a word: an integer, a fraction, or a probability for each name."""
    rows = {name: row[0] for name, row in truths.items()}
    if numbers["measure"] == "distribution":
        return [{name: row[place] for name, row in rows.items()} for place in range(size)]
    row = rows[None]
    if numbers["measure"] == "integer":
        row = row * raw_truth.shown(numbers["mask"], places_of(np.array([size])))[0]
    return list(row)


def require_read(folder: Path, model: Model, source: Any) -> Reading:
    """The second reader and the checker agree about each head; what it follows to the end is right."""
    reading = read_alike(folder, model.network)
    allowed = EXACTLY[read_folder(folder).kind]
    for (symbol, held), position in zip(reading.outputs, range(len(reading.outputs)), strict=True):
        if not isinstance(held, Known):
            continue
        assert held.error <= allowed
        assert not any((held.powers, held.digits, held.mixed))
        numbers = iter(held.table)
        for word in reading.sample.words:
            coded = [model.alphabet.symbols.index(own) for own in word]
            truths = raw_truth.truths(source, model.alphabet.symbols, batch_of([coded]))
            assert list(truths)[position] == symbol
            is_bit = model.network.measure is None
            spare = 0 if is_bit else allowed - held.error
            assert all(abs(next(numbers) - wanted) <= spare for wanted in truths[symbol][0].tolist())
    return reading


NEAREST = one_nearest(Mask.ALL, Choice.LEFTMOST, ((1, 0), 1), ((1, -1), 0), ("a",))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(
    ("program", "regime"),
    [
        (SYMBOLS, "temperature"),
        (SYMBOLS, "decoder"),
        (DISTANCE, "unbounded"),
        (NEAREST, "temperature"),
    ],
)
def test_a_program_s_files_hold_what_it_means(program: Any, regime: Any, tmp_path: Path) -> None:
    model = attemper.compile(attemper.program(program), regime=regime)
    source = certified(model, tmp_path)
    found = judged(tmp_path, model, exact=6, floats=30)
    assert found.exact
    assert found.floats
    require_read(tmp_path, model, source)
    for word in words_to(model, 14):
        named = tuple(model.alphabet.symbols[k] for k in word)
        assert tuple(put_out(source, model.alphabet.symbols, word)) == model.output(named)


@pytest.mark.sweep(1, also=["brackets-temperature"])
@pytest.mark.parametrize("regime", ["unbounded", "temperature"])
@pytest.mark.parametrize("program", [dyck(1), palindromes()], ids=["brackets", "palindromes"])
def test_nearest_integers_are_read_alike_to_the_end(program: Program, regime: Any, tmp_path: Path) -> None:
    model = attemper.compile(attemper.program(program), regime=regime)
    model.save(tmp_path)
    reading = require_read(tmp_path, model, language_of(program))
    assert isinstance(reading.output, Known)


@pytest.mark.parametrize("start", range(0, 20, 10))
def test_the_raw_meaning_of_the_nearest_count_is_that_of_the_library(start: int) -> None:
    for seed in range(start, start + 10):
        program = random_nearest(Random(seed))
        for word in all_words(2, 4):
            found = put_out(language_of(program), "ab", word)
            assert tuple(found) == meaning.output(program, tuple("ab"[k] for k in word))


def test_a_broken_promise_is_seen() -> None:
    """Two cases at once, a sum of 2, no symbol: the raw reading calls none of them a meaning."""
    letter, one = ["letter", ["a"]], ["place", ["number", "1"]]

    def part(factor: str, bit: int) -> Any:
        return {"factor": factor, "bit": bit, "count": None}

    def program(steps: Any, output: int, symbols: Any = (), rows: Any = ()) -> Any:
        numbers = {"measure": "distribution", "mask": "all", "rows": list(rows), "names": ["x", "y"]}
        return {
            "alphabet": ["a", "b"],
            "steps": steps,
            "output": output,
            "symbols": list(symbols),
            "numbers": numbers if rows else None,
        }

    for breaking in (
        program([letter, one, ["attend", "<=", "rightmost", [[0, 0], [1, 0]], 0, True]], 2),
        program([letter, one, ["gate", "union", [0, 1]]], 0),
        program([letter, one, ["merge", [0, 1]]], 0),
        program([letter, one], 0, symbols=[["x", 0], ["y", 1]]),
        program([letter], 0, symbols=[["x", 0]]),
        program([letter, one], 0, rows=[[part("1", 0)], [part("1/2", 1)]]),
        program([letter, one], 0, rows=[[part("2", 0)], [part("1", 1), part("-2", 0)]]),
    ):
        PROGRAM.read(breaking)
        assert raw_truth.broken_promises(breaking, "ab", batch_of([(0, 1), (1,)])).any()
    kept = program([letter, ["not", 0]], 0, symbols=[["x", 0], ["y", 1]])
    assert not raw_truth.broken_promises(kept, "ab", batch_of([(0, 1), (1,)])).any()


def test_the_judge_sees_another_symbol_and_another_meaning(tmp_path: Path) -> None:
    model = attemper.compile(attemper.program("alphabet a b\noutput previous(2) symbol else 'b'"))
    certified(model, tmp_path)
    words = words_to(model, 6)
    assert judge(tmp_path, exactly=words, in_floats=()).wrong == []
    entries = json.loads((tmp_path / "certificate.json").read_bytes())
    program = entries["language"][1]
    program["steps"] = [[*step[:3], 1, step[4]] if step[0] == "shift" else step for step in program["steps"]]
    (tmp_path / "certificate.json").write_text(json.dumps(entries))
    assert judge(tmp_path, exactly=words, in_floats=()).wrong
    program["symbols"].reverse()
    program["output"] = program["symbols"][0][1]
    (tmp_path / "certificate.json").write_text(json.dumps(entries))
    assert "puts out" in judge(tmp_path, exactly=(), in_floats=()).wrong[0]


# Sweeps ----------------------------------------------------------------------------------------------------


def _compiled(program: Any, regime: Any) -> Model | None:
    try:
        return attemper.compile(attemper.program(program), regime=regime)
    except UnsupportedError:
        return None


def random_symbols(rng: Random) -> Program:
    """A program with cases, distances and defaults, that puts out a bit or one of two symbols."""
    program = ProgramSampler(rng, defaults=SAID).program(rng.randrange(5, 12))
    if rng.random() < 0.6:
        return program
    other = len(program.steps)
    symbols = (("yes", program.output), ("no", other))
    return Program(program.alphabet, (*program.steps, Not(program.output)), program.output, symbols)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize("seed", range(30))
def test_random_programs_hold_what_they_mean(seed: int, regime: Any, tmp_path: Path) -> None:
    rng = Random(f"{seed} {regime}")
    for number, program in enumerate((random_symbols(rng), random_nearest(rng))):
        if model := _compiled(program, regime):
            folder = tmp_path / str(number)
            source = certified(model, folder)
            judged(folder, model, exact=30, floats=126, seed=seed)
            require_read(folder, model, source)


@pytest.mark.slow
@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
@pytest.mark.parametrize("seed", range(30))
def test_random_texts_hold_what_they_mean(seed: int, regime: Any, tmp_path: Path) -> None:
    text = RaspSampler(Random(f"{seed} {regime}"), "ab").source(3)
    if model := _compiled(show(text), regime):
        source = certified(model, tmp_path)
        judged(tmp_path, model, exact=30, floats=126, seed=seed)
        require_read(tmp_path, model, source)
        for word in words_to(model, 62):
            named = tuple(model.alphabet.symbols[k] for k in word)
            assert tuple(put_out(source, model.alphabet.symbols, word)) == RaspMeaning(text, named).outputs()


ZOO: list[tuple[ZooEntry, str]] = [(entry, regime) for entry in zoo.everything() for regime in entry.regimes]


@pytest.mark.slow
@pytest.mark.parametrize(("entry", "regime"), ZOO, ids=lambda own: getattr(own, "name", own))
def test_the_zoo_s_files_hold_what_its_oracles_say(entry: ZooEntry, regime: Any, tmp_path: Path) -> None:
    model = attemper.compile(f"zoo:{entry.name}", regime=regime)
    source = certified(model, tmp_path)
    judged(tmp_path, model, exact=62, floats=400)
    read_alike(tmp_path, model.network)
    at = 0 if source[0] != "dfa" and source[2] == "first" else -1
    for word in words_to(model, 400):
        named = tuple(model.alphabet.symbols[k] for k in word)
        found = put_out(source, model.alphabet.symbols, word)
        if isinstance(entry, Entry):
            assert found[at] == entry.accepts(named)
        else:
            assert tuple(found) == tuple(entry.outputs(named))


@pytest.mark.slow
def test_the_page_s_texts_hold_what_they_mean(tmp_path: Path) -> None:
    texts = re.findall(r"```rasp\n(.*?)```", (ROOT / "docs" / "programs.md").read_text(), re.DOTALL)
    assert len(texts) > 1
    for number, text in enumerate(texts):
        model = attemper.compile(attemper.program(text))
        source = certified(model, tmp_path / str(number))
        judged(tmp_path / str(number), model, exact=40, floats=400)
        if not any(
            step[0] == "matched" for step in source[1]["steps"]
        ):  # the second reader knows no such heads
            require_read(tmp_path / str(number), model, source)
