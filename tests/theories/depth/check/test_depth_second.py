"""The judge of files about depth against a second one, which was written from the format's text alone."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from attemper.checker.folders import check_path
from tests.support.mutants.second_depth_files import (
    CHOICES,
    PERIODS,
    TruePairs,
    automaton,
    broken,
    broken_text,
    changed_pair,
    encoded,
    enough,
    file_about,
    formula,
    formula_nodes,
    program,
    words_up_to,
)
from tests.support.oracles.second_depth import (
    MALFORMED,
    Knowledge,
    layers_of,
    truths,
    verdict_on,
    verdicts_on,
)

PARITY = ["dfa", ["a", "b"], [[1, 0], [0, 1]], 0, [0]]
ONE_LETTER = ["dfa", ["a"], [[0]], 0, [0]]
AB_STAR = ["dfa", ["a", "b"], [[1, 2], [2, 0], [2, 2]], 0, [0]]

PATIENCE = 300


def library(path: Path, data: bytes) -> list[str] | str:
    path.write_bytes(data)
    verdicts = [claim.status.value for claim in check_path(path).claims]
    return MALFORMED if MALFORMED in verdicts else verdicts


def campaign(rng: random.Random, rounds: int) -> Iterator[tuple[str, bytes]]:
    """True files and changed ones, seven a round."""
    pairs = TruePairs(rng)
    for _ in range(rounds):
        true = rng.choice((pairs.family, pairs.brackets, pairs.found, pairs.found))()
        yield "true", encoded(true)
        changed = changed_pair(rng, true)
        yield "changed", encoded(changed)
        if all(changed["claims"][0][2]):
            yield "changed twice", encoded(changed_pair(rng, changed))
        yield "broken", encoded(broken(rng, true))
        yield "broken text", broken_text(rng, encoded(true))
        suffices = enough(rng, PATIENCE // 2)
        if suffices is not None:
            yield "enough", encoded(suffices)
            yield "broken enough", encoded(broken(rng, suffices))


def compared(path: Path, seed: int, rounds: int) -> Counter[tuple[str, str]]:
    """How often both judges said what, of which kind of file; they must say the same of every claim."""
    counted: Counter[tuple[str, str]] = Counter()
    for kind, data in campaign(random.Random(seed), rounds):
        ours, second = library(path, data), verdicts_on(data, PATIENCE)
        if isinstance(ours, str) or isinstance(second, str):
            assert ours == second, data
            counted[kind, MALFORMED] += 1
            continue
        for verdict, expected in zip(ours, second, strict=True):
            if expected is None:
                # A promise is broken on a word, or there are too many classes for the second judge.
                assert "enough" in kind or verdict == "UNKNOWN", data
            else:
                assert verdict == expected, data
            counted[kind, verdict] += 1
    return counted


def test_both_judges_agree(tmp_path: Path) -> None:
    counted = compared(tmp_path / "depth.json", seed=1, rounds=40)
    assert {verdict for _, verdict in counted} == {"PROVED", "REFUTED", "UNKNOWN", MALFORMED}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 10))
def test_both_judges_agree_on_thousands(seed: int, tmp_path: Path) -> None:
    counted = compared(tmp_path / "depth.json", seed, rounds=150)
    assert counted.total() > 750
    assert all(counted[kind, "PROVED"] for kind in ("true", "changed", "changed twice", "enough"))


FORMULAS_AND_LAYERS = (
    ([["symbol", "a"]], 0),
    ([["constant", True], ["unary", "Y", 0]], 1),
    ([["first"]], 1),
    ([["first"], ["unary", "Y", 0]], 2),
    ([["first"], ["unary", "WY", 0]], 2),
    ([["symbol", "a"], ["unary", "!", 0], ["unary", "WY", 1]], 1),
    ([["symbol", "a"], ["unary", "WY", 0], ["unary", "Y", 1]], 2),
    ([["symbol", "a"], ["unary", "O", 0], ["unary", "Y", 1]], 1),
    ([["symbol", "a"], ["unary", "Y", 0], ["unary", "H", 1]], 2),
    ([["symbol", "a"], ["symbol", "b"], ["binary", "S", 0, 1], ["binary", "T", 2, 0], ["unary", "Y", 3]], 2),
    ([["symbol", "a"], ["unary", "Y", 0], ["unary", "O", 0], ["binary", "->", 1, 2], ["unary", "Y", 3]], 2),
)


@pytest.mark.parametrize(("nodes", "layers"), FORMULAS_AND_LAYERS)
def test_both_judges_count_layers_alike(nodes: list[Any], layers: int, tmp_path: Path) -> None:
    language = ["temporal language", nodes, "last", False]
    claims = [["enough by formula", k, nodes] for k in range(layers + 2)]
    data = encoded(file_about(language, claims, ["a", "b"]))
    expected = ["REFUTED"] * layers + ["PROVED"] * 2
    assert library(tmp_path / "depth.json", data) == verdicts_on(data) == expected


def languages_compared(path: Path, seed: int, rounds: int) -> Counter[str]:
    """Words with one last letter, which no network without layers tells apart: the language alone decides."""
    rng, counted = random.Random(seed), Counter[str]()
    for _ in range(rounds):
        symbols = rng.choice((["a", "b"], ["a", "b", "c"]))
        makers = (
            lambda symbols=symbols: program(rng, symbols, rng.randint(2, 9)),
            lambda symbols=symbols: formula(rng, symbols, rng.randint(1, 5)),
            lambda symbols=symbols: automaton(rng, symbols, rng.randint(1, 4)),
        )
        claims = []
        for _ in range(6):
            end = rng.choice(symbols)
            words = [[*(rng.choice(symbols) for _ in range(rng.randint(0, 8))), end] for _ in range(2)]
            claims.append(["inseparable", 0, words])
        data = encoded(file_about(rng.choice(makers)(), claims, symbols, choice=rng.choice(CHOICES)))
        second = verdicts_on(data)
        assert not isinstance(second, str), data
        # Of a program that breaks a promise on a word nothing is said.
        assert library(path, data) == ["UNKNOWN" if verdict is None else verdict for verdict in second], data
        counted.update(verdict or "none" for verdict in second)
    return counted


def test_both_judges_read_languages_alike(tmp_path: Path) -> None:
    counted = languages_compared(tmp_path / "depth.json", seed=1, rounds=100)
    assert counted["PROVED"] > 30


@pytest.mark.slow
def test_both_judges_read_thousands_of_languages_alike(tmp_path: Path) -> None:
    counted = languages_compared(tmp_path / "depth.json", seed=2, rounds=3000)
    assert counted["PROVED"] > 1500


def test_the_example_of_the_text() -> None:
    claims = [
        ["inseparable", 1, [["a", "b"], ["a", "a", "b"]]],
        ["inseparable", 2, [["a", "b"], ["a", "a", "b"]]],
        ["enough by classes", 2, 602],
        ["enough by classes", 2, 603],
    ]
    data = encoded(file_about(AB_STAR, claims, ["a", "b"]))
    assert verdicts_on(data) == ["PROVED", "REFUTED", "PROVED", "REFUTED"]
    assert verdict_on(data) == "REFUTED"


# --- what the text proves -------------------------------------------------------------------------


class RandomNetwork:
    """A network of the class whose functions are tables, filled at random as they are asked."""

    def __init__(self, rng: random.Random, period: list[int], choice: str, layers: int) -> None:
        sides = CHOICES[1:] if choice == "both" else (choice,)
        self._rng = rng
        self._place = Knowledge(period, choice).place
        self._layers = [
            [(rng.random() < 0.5, rng.choice(sides)) for _ in range(rng.randint(1, 3))] for _ in range(layers)
        ]
        self._tables: dict[Any, int] = {}

    def values(self, word: list[str]) -> list[int]:
        """The last layer's value at each position."""
        stream = [self._value(6, "embed", letter, self._place(i + 1)) for i, letter in enumerate(word)]
        for layer, heads in enumerate(self._layers):
            stream = [
                self._value(
                    12, layer, stream[i], *(self._read(layer, h, i, stream) for h in range(len(heads)))
                )
                for i in range(len(word))
            ]
        return stream

    def _read(self, layer: int, head: int, i: int, stream: list[int]) -> int:
        strict, side = self._layers[layer][head]
        visible = range(i if strict else i + 1)
        if not visible:
            return self._value(12, "nothing", layer, head, stream[i])
        scores = [self._value(4, "score", layer, head, stream[i], stream[j]) for j in visible]
        best = [j for j in visible if scores[j] == max(scores)]
        return stream[best[-1] if side == "rightmost" else best[0]]

    def _value(self, values: int, *arguments: Any) -> int:
        if arguments not in self._tables:
            self._tables[arguments] = self._rng.randrange(values)
        return self._tables[arguments]


def networks_know_no_more(seed: int, networks: int) -> int:
    """How many positions had an F_k that another had; the networks must have one value at both."""
    rng, met = random.Random(seed), 0
    for _ in range(networks):
        period, choice, k = rng.choice(PERIODS), rng.choice(CHOICES), rng.randint(1, 2)
        network, knowledge = RandomNetwork(rng, period, choice, k), Knowledge(period, choice)
        values: dict[int, int] = {}
        for _ in range(60):
            word = [rng.choice("ab") for _ in range(rng.randint(1, 13))]
            for known, value in zip(knowledge.everywhere(word, k), network.values(word), strict=True):
                met += known in values
                assert values.setdefault(known, value) == value, (period, choice, k, word)
    return met


def test_networks_know_no_more_than_f_k() -> None:
    assert networks_know_no_more(1, 30) > 1000


@pytest.mark.slow
def test_more_networks_know_no_more_than_f_k() -> None:
    assert networks_know_no_more(2, 1500) > 100_000


def formulas_need_no_more(seed: int, formulas: int, longest: int) -> int:
    """How many ends had an F_d that another had; a formula that needs d layers must be alike at both."""
    rng, met = random.Random(seed), 0
    words = list(words_up_to(["a", "b"], longest))
    known: dict[tuple[int, int], list[int]] = {}
    for _ in range(formulas):
        nodes = formula_nodes(rng, ["a", "b"], rng.randint(1, 5), past=True)
        layers, number = min(layers_of(nodes), 5), rng.randrange(3)
        if (layers, number) not in known:
            knowledge = Knowledge(PERIODS[number], "rightmost")
            known[layers, number] = [knowledge.at_end(word, layers) for word in words]
        truth: dict[int, bool] = {}
        for word, value in zip(words, known[layers, number], strict=True):
            if layers == layers_of(nodes):
                met += value in truth
                assert truth.setdefault(value, truths(nodes, word)[-1][-1]) == truths(nodes, word)[-1][-1], (
                    nodes
                )
    return met


def test_formulas_need_no_more_layers_than_the_text_says() -> None:
    assert formulas_need_no_more(1, 60, 6) > 1000


@pytest.mark.slow
def test_more_formulas_need_no_more_layers_than_the_text_says() -> None:
    assert formulas_need_no_more(2, 400, 8) > 100_000


# --- files that are made to take long ---------------------------------------------------------------


def _pair(k: int, left: int, right: int, period: list[int] | None = None) -> bytes:
    claim = ["inseparable", k, [["a"] * left, ["a"] * right]]
    return encoded(file_about(PARITY, [claim], ["a", "b"], period))


def _classes(k: int, number: int, period: list[int], language: Any = ONE_LETTER) -> bytes:
    claim = ["enough by classes", k, number]
    return encoded(file_about(language, [claim], language[1], period))


_FAR = 2**63 - 1
_SHORT = encoded(file_about(ONE_LETTER, [["enough by classes", 7, 3]], ["a"]))

LONG_FILES: dict[str, tuple[Callable[[], bytes], str]] = {
    "a word of a million letters": (lambda: _pair(1, 10**6, 9), "UNKNOWN"),
    "64 layers of a thousand letters": (lambda: _pair(64, 1000, 999), "PROVED"),
    "64 layers of places that all differ": (lambda: _pair(64, 1000, 999, [2000, 1]), "REFUTED"),
    "10^9 layers": (lambda: _pair(10**9, 9, 8), "UNKNOWN"),
    "a long prefix and few classes": (lambda: _classes(2, 2, [_FAR, 1]), "REFUTED"),
    "a long prefix and many classes": (lambda: _classes(2, 199_999, [_FAR, 1]), "UNKNOWN"),
    "a long prefix and 64 layers": (lambda: _classes(64, 199_999, [_FAR, 1]), "UNKNOWN"),
    "a long period": (lambda: _classes(64, 199_999, [1, _FAR]), "UNKNOWN"),
    "64 layers of two letters": (lambda: _classes(64, 199_999, [1, 1], AB_STAR), "UNKNOWN"),
    "deep lists": (lambda: b"[" * 10**6, MALFORMED),
    "deep objects": (lambda: b'{"format":' * 10**5, MALFORMED),
    "a million digits": (lambda: _SHORT.replace(b"7", b"7" * 10**6), MALFORMED),
    "a million places": (lambda: _SHORT.replace(b"7", b"7." + b"7" * 10**6), MALFORMED),
    "blanks alone": (lambda: b" " * 10**7, MALFORMED),
    "many keys": (
        lambda: _SHORT[:-1] + b"".join(b', "%d": 0' % key for key in range(10**5)) + b"}",
        MALFORMED,
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LONG_FILES)
def test_no_file_takes_long(name: str, tmp_path: Path) -> None:
    made, expected = LONG_FILES[name]
    data = made()
    start = time.monotonic()
    assert library(tmp_path / "depth.json", data) in (expected, [expected])
    # A second or two; more is allowed where others compute.
    assert time.monotonic() - start < 20
