"""Files about depth, true and changed ones, made without the library, to compare two judges on."""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.oracles.second_depth import Knowledge, NotCoveredError, accepts, layers_of

File = dict[str, Any]
Word = list[str]

PERIODS = ([1, 1], [1, 2], [2, 1], [1, 3], [2, 2], [3, 1])
CHOICES = ("both", "leftmost", "rightmost")

PAST_UNARY = ("!", "Y", "WY", "O", "H")
PAST_BINARY = ("&", "|", "xor", "->", "<->", "S", "T")
UNARY = (*PAST_UNARY, "X", "WX", "F", "G")
BINARY = (*PAST_BINARY, "U", "R", "W", "M")


def file_about(
    language: File,
    claims: list[File],
    symbols: Word,
    period: list[int] | None = None,
    choice: str = "both",
) -> File:
    return {
        "format": "attemper-depth/1",
        "language": language,
        "symbols": symbols,
        "period": period or [1, 1],
        "choice": choice,
        "claims": claims,
    }


# --- languages ------------------------------------------------------------------------------------


def automaton(rng: random.Random, symbols: Word, states: int) -> File:
    moves = [[rng.randrange(states) for _ in symbols] for _ in range(states)]
    accepting = sorted(rng.sample(range(states), rng.randint(1, states)))
    return {"alphabet": symbols, "moves": moves, "start": 0, "accepting": accepting}


def formula_nodes(rng: random.Random, symbols: Word, depth: int, past: bool) -> list[Any]:
    """A random formula as the list of its distinct subformulas, operands first."""
    nodes: list[Any] = []

    def added(node: list[Any]) -> int:
        if node not in nodes:
            nodes.append(node)
        return nodes.index(node)

    def term(depth: int) -> list[Any]:
        parts: list[Any] = [
            [rng.choice((1, -1, 2)), rng.choice(("pos", "len"))] for _ in range(rng.randint(0, 1))
        ]
        if not parts or rng.random() < 0.7:
            parts.append([rng.choice((1, -1)), rng.choice(("#<", "#>", "#")), grown(depth - 1)])
        return [rng.randint(-2, 3), *parts]

    def grown(depth: int) -> int:
        chance = rng.random()
        if depth <= 0 or chance < 0.1:
            leaves: list[list[Any]] = (
                [["symbol", rng.choice(symbols)]] * 6 + [["first"]] * 2 + [["constant", True]]
            )
            return added(rng.choice(leaves if past else [*leaves, ["last"]]))
        if not past and chance < 0.2:
            if rng.random() < 0.5:
                return added(["compare", rng.choice(("<=", "<", ">=", ">", "==", "!=")), term(depth), [2]])
            return added(["predicate", ["mod", 2, rng.randrange(2)], term(depth)])
        if chance < 0.55:
            return added(["unary", rng.choice(PAST_UNARY if past else UNARY), grown(depth - 1)])
        left, right = grown(depth - 1), grown(depth - 1)
        return added(["binary", rng.choice(PAST_BINARY if past else BINARY), left, right])

    last = grown(depth)
    return nodes[: last + 1]


def formula(rng: random.Random, symbols: Word, depth: int, past: bool = False) -> File:
    at = "last" if past or rng.random() < 0.7 else "first"
    return {
        "formula": formula_nodes(rng, symbols, depth, past),
        "at": at,
        "accepts_empty": rng.random() < 0.5,
    }


def program(rng: random.Random, symbols: Word, size: int) -> File:
    """A random program that puts out one bit."""
    steps: list[Any] = [["letter", [symbol]] for symbol in symbols]
    bits = list(range(len(symbols)))
    counts: list[int] = []

    def add(step: list[Any], kind: list[int]) -> None:
        kind.append(len(steps))
        steps.append(step)

    for _ in range(size):
        k, m = rng.choice(bits), rng.choice(bits)
        mask, choice = rng.choice(("<=", "<", ">=", ">", "all")), rng.choice(("rightmost", "leftmost"))
        weak = rng.choice(("<=", ">=", "all"))
        match rng.randrange(14 if counts else 10):
            case 0:
                add(["not", k], bits)
            case 1 if k != m:
                add([rng.choice(("and", "or", "xor", "union", "merge")), sorted((k, m))], bits)
            case 2:
                add(["attend", mask if rng.random() < 0.5 else weak, choice, k, m], bits)
            case 3:
                add(["attend", mask, choice, k, m, rng.randrange(2)], bits)
            case 4:
                add([rng.choice(("previous", "next")), k, rng.randint(1, 3), rng.randrange(2)], bits)
            case 5:
                add([rng.choice(("previous", "next")), k], bits)
            case 6:
                add(["count", mask, k], counts)
            case 7 if k != m:
                rows = rng.sample(("00", "01", "10", "11"), rng.randint(1, 3))
                add(["table", [k, m], sorted(rows)], bits)
            case 8:
                test = ["test", rng.choice((["mod", 2, 0], "zero", "nonnegative")), rng.choice((1, -1)), 0, 3]
                add(["place", rng.choice(([*test[:3], 1, -2], test, "1", ["*", test, test]))], bits)
            case 9 if len(symbols) > 1:
                # The letters exclude each other, so at most one of two cases is in force.
                cases = [[letter, rng.choice(bits)] for letter in rng.sample(range(len(symbols)), 2)]
                add(["attend", mask, choice, cases, m, *([1] if rng.random() < 0.7 else [])], bits)
            case 10:
                add([rng.choice(("compare", "equals")), rng.choice(counts), rng.randint(0, 3)], bits)
            case 11:
                add(["nearest", weak, choice, k, rng.choice(counts), rng.choice(counts), m], bits)
                if rng.random() < 0.5:
                    steps[-1] = ["matched", *steps[-1][1:-1]]
            case 12:
                predicate = rng.choice((["mod", 3, rng.randrange(3)], "zero", "nonnegative"))
                add(["test", predicate, rng.choice(counts), rng.choice((1, -2)), rng.randint(-3, 3)], bits)
            case 13:
                parts = [[rng.choice((1, -1, 2)), number] for number in sorted({counts[0], counts[-1]})]
                add(["linear", parts, rng.randint(-2, 2)], counts)
    made = {"alphabet": symbols, "steps": steps, "output": bits[-1]}
    return {"program": made, "at": rng.choice(("last", "last", "first")), "accepts_empty": False}


# --- true pairs -----------------------------------------------------------------------------------


def words_up_to(symbols: Word, longest: int) -> Iterator[Word]:
    """All words of one up to so many letters, the shorter first."""
    for length in range(1, longest + 1):
        for letters in itertools.product(symbols, repeat=length):
            yield list(letters)


def ends_alike(symbols: Word, period: list[int], choice: str, k: int, longest: int) -> list[list[Word]]:
    """The sets of two or more words, up to a length, at whose ends F_k is one value."""
    knowledge = Knowledge(period, choice)
    found: dict[int, list[Word]] = {}
    for word in words_up_to(symbols, longest):
        found.setdefault(knowledge.at_end(word, k), []).append(word)
    return [words for words in found.values() if len(words) > 1]


class TruePairs:
    """Files whose one claim is a pair of words that k layers do not tell apart."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._alike: dict[str, list[list[Word]]] = {}

    def family(self) -> File:
        """a^((k + 1)m) b^r against a^((k + 2)m) b^r, and an automaton that counts."""
        rng = self._rng
        k, m, r = rng.randint(1, 4), rng.choice((1, 1, 2, 3)), rng.randint(0, 3)
        left, right = (["a"] * (times * m) + ["b"] * r for times in (k + 1, k + 2))
        moves = [[min(s + 1, (k + 2) * m), s] for s in range((k + 2) * m + 1)]
        language = {"alphabet": ["a", "b"], "moves": moves, "start": 0, "accepting": [(k + 1) * m]}
        return file_about(
            language, [{"layers": k, "words": [left, right]}], ["a", "b"], [1, m], rng.choice(CHOICES)
        )

    def brackets(self) -> File:
        """A balanced word and one that is not, of an automaton that follows the height up to a bound."""
        rng, bound = self._rng, self._rng.randint(2, 4)
        dead = bound + 1
        moves = [[h + 1 if h < bound else dead, h - 1 if h else dead] for h in range(bound + 1)] + [
            [dead, dead]
        ]
        language = {"alphabet": ["(", ")"], "moves": moves, "start": 0, "accepting": [0]}
        period, choice, k = rng.choice(PERIODS[:3]), rng.choice(CHOICES), rng.randint(1, 2)
        return self._separated(lambda: language, ["(", ")"], period, choice, k)

    def found(self) -> File:
        """Words that a search found, and a random language that has one of them."""
        rng = self._rng
        symbols = rng.choice((["a", "b"], ["a", "b"], ["a", "b", "c"], ["x", "yy"]))
        makers: list[Callable[[], File]] = [
            lambda: automaton(rng, symbols, rng.randint(2, 4)),
            lambda: formula(rng, symbols, rng.randint(1, 4)),
            lambda: formula(rng, symbols, rng.randint(1, 4), past=True),
            lambda: program(rng, symbols, rng.randint(2, 7)),
        ]
        return self._separated(
            rng.choice(makers), symbols, rng.choice(PERIODS), rng.choice(CHOICES), rng.randint(0, 3)
        )

    def _separated(
        self, language: Callable[[], File], symbols: Word, period: list[int], choice: str, k: int
    ) -> File:
        rng, key = self._rng, f"{symbols} {period} {choice} {k}"
        if key not in self._alike:
            self._alike[key] = ends_alike(symbols, period, choice, k, 8 if len(symbols) == 2 else 5)
        left, right = rng.sample(rng.choice(self._alike[key] or [[symbols, symbols[::-1]]]), 2)
        made = language()
        for _ in range(20):
            try:
                if accepts(made, left) != accepts(made, right):
                    break
            except NotCoveredError:
                pass
            made = language()
            left, right = rng.sample(rng.choice(self._alike[key] or [[symbols, symbols[::-1]]]), 2)
        return file_about(made, [{"layers": k, "words": [left, right]}], symbols, period, choice)


# --- changes --------------------------------------------------------------------------------------

JUNK: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1, 2, 10**9, 2**63 - 1, 2**63, 10**30, 1.0, 0.5, 1e400, float("nan")),
    *("", "a", "1", "b", "both", "\ud800", [], [[]], {}, [None], [0], {"a": 0}, [1, 1], ["a"]),
    *("\x00", "é", " "),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every path into a JSON value."""
    if path:
        yield path
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, part in entries:
        yield from places(part, (*path, key))


def changed_pair(rng: random.Random, file: File) -> File:
    """The file with one change of its pair, of the class or of the language."""
    file = copy.deepcopy(file)
    claim = file["claims"][0]
    words, symbols = claim["words"], file["symbols"]
    word = words[rng.randrange(2)]
    match rng.randrange(18):
        case 0:
            word[rng.randrange(len(word))] = rng.choice(symbols)
        case 1:
            claim["layers"] += 1
        case 2:
            claim["layers"] = max(claim["layers"] - 1, 0)
        case 3:
            file["period"] = list(rng.choice(PERIODS))
        case 4:
            file["period"][0] = rng.choice((1, 2, 3, 5, 2**63 - 1))
        case 5:
            file["choice"] = rng.choice(CHOICES)
        case 6:
            words.reverse()
        case 7:
            words[1] = list(words[0])
        case 8:
            word.clear()
        case 9:
            claim["layers"] = rng.choice((64, 65, 10**9, 2**63 - 1))
        case 10:
            word.insert(rng.randrange(len(word) + 1), rng.choice((*symbols, "z")))
        case 11:
            del word[rng.randrange(len(word))]
        case 12:
            word += [rng.choice(symbols)] * rng.choice((1, 2, 30))
        case 13:
            for each in words:
                each.insert(0, symbols[0])
        case 14:
            for each in words:
                each.append(symbols[-1])
        case 15:
            file["language"] = automaton(rng, symbols, rng.randint(1, 4))
        case 16:
            file["language"] = formula(rng, symbols, 3)
        case 17:
            file["claims"] = [claim, {"layers": rng.randint(0, 3), "words": [words[1], words[0]]}]
    return file


def broken(rng: random.Random, file: File) -> File:
    """The file with anything in one place of it, without it, or with something more."""
    file = copy.deepcopy(file)
    path = rng.choice(list(places(file)))
    inside: Any = file
    for key in path[:-1]:
        inside = inside[key]
    match rng.randrange(4):
        case 0:
            del inside[path[-1]]
        case 1 if isinstance(inside, dict):
            inside[rng.choice(("more", "", "layers", "words", "classes", "formula", "name"))] = rng.choice(
                JUNK
            )
        case 1:
            inside.insert(path[-1], copy.deepcopy(inside[path[-1]]))
        case _:
            inside[path[-1]] = rng.choice(JUNK)
    return file


def broken_text(rng: random.Random, data: bytes) -> bytes:
    """The bytes with one of them changed, left out or doubled, or with what is no JSON around them."""
    spot = rng.randrange(len(data))
    match rng.randrange(7):
        case 0:
            return data[:spot] + bytes([rng.randrange(256)]) + data[spot + 1 :]
        case 1:
            return data[:spot] + data[spot + 1 :]
        case 2:
            return data[:spot] + data[spot : spot + 1] + data[spot:]
        case 3:
            return data[:spot]
        case 4:
            return rng.choice((b"\xef\xbb\xbf" + data, data + b"x", b"[" + data + b"]", b"\n" + data + b"\n"))
        case 5:
            name = rng.choice((b"choice", b"period", b"format"))
            return data.replace(
                b'"claims"', b'"' + name + b'": ' + rng.choice((b'"both"', b"[1, 1]")) + b', "claims"'
            )
        case _:
            digits = rng.choice((b"NaN", b"Infinity", b"-0", b"1e0", b"01", b"1.0", b"+1"))
            return data.replace(b"1", digits, 1)


# --- claims that layers are enough ------------------------------------------------------------------


def enough(rng: random.Random, most: int) -> File | None:
    """A file with a `classes` or `formula` claim, right or nearly; none if there are too many classes."""
    symbols = rng.choice((["a", "b"], ["a", "b"], ["a"], ["a", "b", "c"]))
    period, choice, k = rng.choice(PERIODS), rng.choice(CHOICES), rng.choice((0, 1, 1, 2))
    past = formula(rng, symbols, rng.randint(1, 3), past=True)
    chance = rng.random()
    if chance < 0.45:
        language, nodes = copy.deepcopy(past), past["formula"]
        if rng.random() < 0.3:
            nodes = formula_nodes(rng, symbols, rng.randint(1, 3), past=rng.random() < 0.8)
        with contextlib.suppress(NotCoveredError):
            k = max(layers_of(nodes) + rng.choice((-1, 0, 0, 0, 1)), 0)
        if rng.random() < 0.2:
            language = rng.choice(
                (automaton(rng, symbols, 2), formula(rng, symbols, 2), program(rng, symbols, 3))
            )
        claim: File = {"layers": k, "formula": nodes}
    else:
        language = past if chance < 0.7 else automaton(rng, symbols, rng.randint(1, 3))
        number = classes(symbols, period, choice, k, most)
        if number is None:
            return None
        claim = {"layers": k, "classes": max(number + rng.choice((-1, 0, 0, 0, 0, 1)), 0)}
    return file_about(language, [claim], symbols, period, choice)


def classes(symbols: Word, period: list[int], choice: str, k: int, most: int) -> int | None:
    """How many values F_k has at the ends of words; none if more than so many."""
    knowledge = Knowledge(period, choice)
    seen: set[int] = set()
    words: list[Word] = [[]]
    for word in words:
        for letter in symbols:
            value = knowledge.at_end([*word, letter], k)
            if value not in seen:
                if len(seen) == most:
                    return None
                seen.add(value)
                words.append([*word, letter])
    return len(seen)


def encoded(file: File) -> bytes:
    return json.dumps(file).encode()
