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
Language = list[Any]
Claim = list[Any]
Word = list[str]

PERIODS = ([1, 1], [1, 2], [2, 1], [1, 3], [2, 2], [3, 1])
CHOICES = ("both", "leftmost", "rightmost")

PAST_UNARY = ("!", "Y", "WY", "O", "H")
PAST_BINARY = ("&", "|", "xor", "->", "<->", "S", "T")
UNARY = (*PAST_UNARY, "X", "WX", "F", "G")
BINARY = (*PAST_BINARY, "U", "R", "W", "M")


def file_about(
    language: Language,
    claims: list[Claim],
    symbols: Word,
    period: list[int] | None = None,
    choice: str = "both",
) -> File:
    return {
        "format": "attemper-depth/2",
        "language": language,
        "alphabet": symbols,
        "networks": networks_of(period or [1, 1], choice),
        "claims": claims,
    }


def networks_of(period: list[int], choice: str) -> File:
    """The class of networks whose embeddings tell apart [prefix, period]."""
    return {"prefix": period[0], "period": period[1], "choice": choice}


# --- languages ------------------------------------------------------------------------------------


def automaton(rng: random.Random, symbols: Word, states: int) -> Language:
    moves = [[rng.randrange(states) for _ in symbols] for _ in range(states)]
    accepting = sorted(rng.sample(range(states), rng.randint(1, states)))
    return ["dfa", symbols, moves, 0, accepting]


def formula_nodes(rng: random.Random, symbols: Word, depth: int, past: bool) -> list[Any]:
    """A random formula as the list of its distinct subformulas, operands first."""
    nodes: list[Any] = []

    def added(node: list[Any]) -> int:
        if node not in nodes:
            nodes.append(node)
        return nodes.index(node)

    def term(depth: int) -> File:
        parts: list[Any] = [
            [rng.choice((1, -1, 2)), [rng.choice(("position atom", "length atom"))]]
            for _ in range(rng.randint(0, 1))
        ]
        if not parts or rng.random() < 0.7:
            factor, side = rng.choice((1, -1)), rng.choice(("#<", "#>", "#"))
            parts.append([factor, ["count atom", side, grown(depth - 1)]])
        return {"parts": parts, "constant": rng.randint(-2, 3)}

    def grown(depth: int) -> int:
        chance = rng.random()
        if depth <= 0 or chance < 0.1:
            leaves: list[list[Any]] = (
                [["symbol", rng.choice(symbols)]] * 6 + [["first"]] * 2 + [["constant", True]]
            )
            return added(rng.choice(leaves if past else [*leaves, ["last"]]))
        if not past and chance < 0.2:
            if rng.random() < 0.5:
                operator = rng.choice(("<=", "<", ">=", ">", "==", "!="))
                return added(["comparison", operator, term(depth), {"parts": [], "constant": 2}])
            return added(["numerical", ["remainder", 2, rng.randrange(2)], term(depth)])
        if chance < 0.55:
            return added(["unary", rng.choice(PAST_UNARY if past else UNARY), grown(depth - 1)])
        left, right = grown(depth - 1), grown(depth - 1)
        return added(["binary", rng.choice(PAST_BINARY if past else BINARY), left, right])

    last = grown(depth)
    return nodes[: last + 1]


def formula(rng: random.Random, symbols: Word, depth: int, past: bool = False) -> Language:
    at = "last" if past or rng.random() < 0.7 else "first"
    return ["temporal language", formula_nodes(rng, symbols, depth, past), at, rng.random() < 0.5]


def program(rng: random.Random, symbols: Word, size: int) -> Language:
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
                connective = rng.choice(("and", "or", "xor", "union", "merge"))
                tags = ["merge"] if connective == "merge" else ["gate", connective]
                add([*tags, sorted((k, m))], bits)
            case 2:
                add(["attend", mask if rng.random() < 0.5 else weak, choice, [[None, k]], m, None], bits)
            case 3:
                add(["attend", mask, choice, [[None, k]], m, rng.choice((False, True))], bits)
            case 4:
                direction, distance = rng.choice(("previous", "next")), rng.randint(1, 3)
                add(["shift", direction, k, distance, rng.choice((False, True))], bits)
            case 5:
                add(["shift", rng.choice(("previous", "next")), k, 1, None], bits)
            case 6:
                add(["count", mask, k], counts)
            case 7 if k != m:
                rows = rng.sample([[x, y] for x in (False, True) for y in (False, True)], rng.randint(1, 3))
                add(["table", [k, m], sorted(rows)], bits)
            case 8:
                predicate = rng.choice((["remainder", 2, 0], ["zero"], ["non negative"]))
                test = ["test", predicate, rng.choice((1, -1)), 0, 3]
                forms = ([*test[:3], 1, -2], test, ["number", "1"], ["product", [test, test]])
                add(["place", rng.choice(forms)], bits)
            case 9 if len(symbols) > 1:
                # The letters exclude each other, so at most one of two cases is in force.
                cases = [[letter, rng.choice(bits)] for letter in rng.sample(range(len(symbols)), 2)]
                add(["attend", mask, choice, cases, m, True if rng.random() < 0.7 else None], bits)
            case 10:
                add([rng.choice(("compare", "equals")), rng.choice(counts), rng.randint(0, 3)], bits)
            case 11:
                add(["nearest", weak, choice, k, rng.choice(counts), rng.choice(counts), m], bits)
                if rng.random() < 0.5:
                    steps[-1] = ["matched", *steps[-1][1:-1]]
            case 12:
                predicate = rng.choice((["remainder", 3, rng.randrange(3)], ["zero"], ["non negative"]))
                add(
                    ["count test", predicate, rng.choice(counts), rng.choice((1, -2)), rng.randint(-3, 3)],
                    bits,
                )
            case 13:
                parts = [[rng.choice((1, -1, 2)), number] for number in sorted({counts[0], counts[-1]})]
                add(["linear", parts, rng.randint(-2, 2)], counts)
    made = {"alphabet": symbols, "steps": steps, "output": bits[-1], "symbols": [], "numbers": None}
    return ["program language", made, rng.choice(("last", "last", "first")), False]


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
        language = ["dfa", ["a", "b"], moves, 0, [(k + 1) * m]]
        return file_about(
            language, [["inseparable", k, [left, right]]], ["a", "b"], [1, m], rng.choice(CHOICES)
        )

    def brackets(self) -> File:
        """A balanced word and one that is not, of an automaton that follows the height up to a bound."""
        rng, bound = self._rng, self._rng.randint(2, 4)
        dead = bound + 1
        moves = [[h + 1 if h < bound else dead, h - 1 if h else dead] for h in range(bound + 1)] + [
            [dead, dead]
        ]
        language = ["dfa", ["(", ")"], moves, 0, [0]]
        period, choice, k = rng.choice(PERIODS[:3]), rng.choice(CHOICES), rng.randint(1, 2)
        return self._separated(lambda: language, ["(", ")"], period, choice, k)

    def found(self) -> File:
        """Words that a search found, and a random language that has one of them."""
        rng = self._rng
        symbols = rng.choice((["a", "b"], ["a", "b"], ["a", "b", "c"], ["x", "yy"]))
        makers: list[Callable[[], Language]] = [
            lambda: automaton(rng, symbols, rng.randint(2, 4)),
            lambda: formula(rng, symbols, rng.randint(1, 4)),
            lambda: formula(rng, symbols, rng.randint(1, 4), past=True),
            lambda: program(rng, symbols, rng.randint(2, 7)),
        ]
        return self._separated(
            rng.choice(makers), symbols, rng.choice(PERIODS), rng.choice(CHOICES), rng.randint(0, 3)
        )

    def _separated(
        self, language: Callable[[], Language], symbols: Word, period: list[int], choice: str, k: int
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
        return file_about(made, [["inseparable", k, [left, right]]], symbols, period, choice)


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
    claim, networks = file["claims"][0], file["networks"]
    (_, layers, words), symbols = claim, file["alphabet"]
    word = words[rng.randrange(2)]
    match rng.randrange(18):
        case 0:
            word[rng.randrange(len(word))] = rng.choice(symbols)
        case 1:
            claim[1] += 1
        case 2:
            claim[1] = max(layers - 1, 0)
        case 3:
            networks["prefix"], networks["period"] = rng.choice(PERIODS)
        case 4:
            networks["prefix"] = rng.choice((1, 2, 3, 5, 2**63 - 1))
        case 5:
            networks["choice"] = rng.choice(CHOICES)
        case 6:
            words.reverse()
        case 7:
            words[1] = list(words[0])
        case 8:
            word.clear()
        case 9:
            claim[1] = rng.choice((64, 65, 10**9, 2**63 - 1))
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
            file["claims"] = [claim, ["inseparable", rng.randint(0, 3), [words[1], words[0]]]]
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
            names = ("more", "", "layers", "alphabet", "prefix", "constant", "format")
            inside[rng.choice(names)] = rng.choice(JUNK)
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
            name = rng.choice((b"alphabet", b"networks", b"format"))
            return data.replace(
                b'"claims"', b'"' + name + b'": ' + rng.choice((b'"both"', b"[1, 1]")) + b', "claims"'
            )
        case _:
            digits = rng.choice((b"NaN", b"Infinity", b"-0", b"1e0", b"01", b"1.0", b"+1"))
            return data.replace(b"1", digits, 1)


# --- claims that layers are enough ------------------------------------------------------------------


def enough(rng: random.Random, most: int) -> File | None:
    """A file with a claim by classes or by a formula, right or nearly; none if there are too many classes."""
    symbols = rng.choice((["a", "b"], ["a", "b"], ["a"], ["a", "b", "c"]))
    period, choice, k = rng.choice(PERIODS), rng.choice(CHOICES), rng.choice((0, 1, 1, 2))
    past = formula(rng, symbols, rng.randint(1, 3), past=True)
    chance = rng.random()
    if chance < 0.45:
        language, nodes = copy.deepcopy(past), past[1]
        if rng.random() < 0.3:
            nodes = formula_nodes(rng, symbols, rng.randint(1, 3), past=rng.random() < 0.8)
        with contextlib.suppress(NotCoveredError):
            k = max(layers_of(nodes) + rng.choice((-1, 0, 0, 0, 1)), 0)
        if rng.random() < 0.2:
            language = rng.choice(
                (automaton(rng, symbols, 2), formula(rng, symbols, 2), program(rng, symbols, 3))
            )
        claim: Claim = ["enough by formula", k, nodes]
    else:
        language = past if chance < 0.7 else automaton(rng, symbols, rng.randint(1, 3))
        number = classes(symbols, period, choice, k, most)
        if number is None:
            return None
        claim = ["enough by classes", k, max(number + rng.choice((-1, 0, 0, 0, 0, 1)), 0)]
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
