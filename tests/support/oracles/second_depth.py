"""A second judge of files about depth, written from sections 12 and 13 of FORMAT.md alone.

It imports nothing of the library; closed forms are evaluated as the second reader does. Everything is done as
the text defines it, however slow: the values F_k are made anew for each word, formulas and programs are
evaluated at every position, and the classes are found from one whole word for each of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.support.oracles.second_reader.forms import NothingShownError, holds, value_of

PROVED, REFUTED, UNKNOWN, MALFORMED = "PROVED", "REFUTED", "UNKNOWN", "MALFORMED"

LONGEST_WORD, MOST_LAYERS, MOST_PAIRS = 1000, 64, 200_000

Word = list[str]
Truth = list[bool]


class MalformedError(Exception):
    """The file breaks a rule of its syntax."""


class NotCoveredError(NothingShownError):
    """The text does not say what holds here, or this judge would need too long to find out."""


def verdict_on(data: bytes, patience: int = 2000) -> str | None:
    """What the file as a whole is: REFUTED if a claim is, PROVED if all are; None if that is not covered."""
    each = verdicts_on(data, patience)
    if each == MALFORMED:
        return MALFORMED
    if REFUTED in each:
        return REFUTED
    if None in each:
        return None
    return UNKNOWN if UNKNOWN in each else PROVED


def verdicts_on(data: bytes, patience: int = 2000) -> list[str | None] | str:
    """The verdict on each claim, None where it is not covered, or MALFORMED."""
    try:
        file = _file(data)
    except MalformedError:
        return MALFORMED
    verdicts: list[str | None] = []
    for claim in file["claims"]:
        try:
            verdicts.append(_verdict(file, claim, patience))
        except NothingShownError:
            verdicts.append(None)
    return verdicts


# --- syntax ---------------------------------------------------------------------------------------


def _require(condition: object) -> None:
    if not condition:
        raise MalformedError


def _entries(value: object, *names: str) -> dict[str, Any]:
    """The object, which has exactly these entries."""
    _require(isinstance(value, dict) and set(value) == set(names))
    assert isinstance(value, dict)
    return value


def _list(value: object) -> list[Any]:
    _require(isinstance(value, list))
    assert isinstance(value, list)
    return value


def _integer(value: object, least: int = 0, below: int = 2**63) -> int:
    _require(type(value) is int and least <= value < below)
    assert isinstance(value, int)
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no key stands twice."""
    _require(len({name for name, _ in pairs}) == len(pairs))
    return dict(pairs)


def _no_constant(name: str) -> Any:
    raise MalformedError


def _file(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise MalformedError from error
    file = _entries(value, "format", "language", "symbols", "period", "choice", "claims")
    _require(file["format"] == "attemper-depth/1")
    _alphabet(file["symbols"])
    period = _list(file["period"])
    _require(len(period) == 2)
    for number in period:
        _integer(number, least=1)
    _require(file["choice"] in ("both", "leftmost", "rightmost"))
    _language(file["language"], file["symbols"])
    _require(_list(file["claims"]))
    for claim in file["claims"]:
        _claim(claim, file["symbols"])
    return file


def _alphabet(value: object) -> None:
    symbols = _list(value)
    _require(symbols and all(isinstance(symbol, str) and symbol for symbol in symbols))
    _require(all(symbol.isprintable() and " " not in symbol for symbol in symbols))
    _require(len(set(symbols)) == len(symbols))


def _claim(claim: object, symbols: list[str]) -> None:
    _require(isinstance(claim, dict))
    assert isinstance(claim, dict)
    kind = next((name for name in ("words", "classes", "formula") if name in claim), "words")
    _entries(claim, "layers", kind)
    _integer(claim["layers"])
    if kind == "classes":
        _integer(claim["classes"])
    elif kind == "formula":
        _formula(claim["formula"], symbols)
    else:
        _require(len(_list(claim["words"])) == 2)
        for word in claim["words"]:
            _require(_list(word) and all(isinstance(letter, str) and letter in symbols for letter in word))


def _language(value: object, symbols: list[str]) -> None:
    _require(isinstance(value, dict))
    assert isinstance(value, dict)
    if "formula" in value:
        _entries(value, "formula", "at", "accepts_empty")
        _formula(value["formula"], symbols)
    elif "program" in value:
        _entries(value, "program", "at", "accepts_empty")
        _program(value["program"], symbols)
    else:
        _automaton(value, symbols)
        return
    _require(value["at"] in ("last", "first") and isinstance(value["accepts_empty"], bool))


def _automaton(value: object, symbols: list[str]) -> None:
    automaton = _entries(value, "alphabet", "moves", "start", "accepting")
    _require(automaton["alphabet"] == symbols)
    moves = _list(automaton["moves"])
    for row in moves:
        _require(len(_list(row)) == len(symbols))
        for state in row:
            _integer(state, below=len(moves))
    _integer(automaton["start"], below=len(moves))
    for state in _list(automaton["accepting"]):
        _integer(state, below=len(moves))


def _since(f: Truth, g: Truth, i: int) -> bool:
    return any(g[j] and all(f[j + 1 : i + 1]) for j in range(i + 1))


def _until(f: Truth, g: Truth, i: int) -> bool:
    return any(g[j] and all(f[i:j]) for j in range(i, len(f)))


def _not(values: Truth) -> Truth:
    return [not value for value in values]


_UNARY: dict[str, Callable[[Truth, int], bool]] = {
    "!": lambda f, i: not f[i],
    "Y": lambda f, i: i > 0 and f[i - 1],
    "WY": lambda f, i: i == 0 or f[i - 1],
    "O": lambda f, i: any(f[: i + 1]),
    "H": lambda f, i: all(f[: i + 1]),
    "X": lambda f, i: i < len(f) - 1 and f[i + 1],
    "WX": lambda f, i: i == len(f) - 1 or f[i + 1],
    "F": lambda f, i: any(f[i:]),
    "G": lambda f, i: all(f[i:]),
}
_BINARY: dict[str, Callable[[Truth, Truth, int], bool]] = {
    "&": lambda f, g, i: f[i] and g[i],
    "|": lambda f, g, i: f[i] or g[i],
    "xor": lambda f, g, i: f[i] != g[i],
    "->": lambda f, g, i: not f[i] or g[i],
    "<->": lambda f, g, i: f[i] == g[i],
    "S": _since,
    "T": lambda f, g, i: not _since(_not(f), _not(g), i),
    "U": _until,
    "R": lambda f, g, i: not _until(_not(f), _not(g), i),
    "W": lambda f, g, i: all(f[i:]) or _until(f, g, i),
    "M": lambda f, g, i: any(f[i:]) and not _until(_not(f), _not(g), i),
}
_RELATIONS: dict[str, Callable[[int, int], bool]] = {
    "<=": lambda x, y: x <= y,
    "<": lambda x, y: x < y,
    ">=": lambda x, y: x >= y,
    ">": lambda x, y: x > y,
    "==": lambda x, y: x == y,
    "!=": lambda x, y: x != y,
}


def _formula(value: object, symbols: list[str]) -> None:
    """The list of subformulas, operands first; one that stands twice or is no operand changes nothing."""
    nodes = _list(value)
    _require(nodes)
    for number, node in enumerate(nodes):
        _require(_list(node) and isinstance(node[0], str))
        match node:
            case ["symbol", letter]:
                _require(isinstance(letter, str) and letter in symbols)
            case ["constant", truth]:
                _require(isinstance(truth, bool))
            case ["first"] | ["last"]:
                pass
            case ["unary", operator, operand]:
                _require(isinstance(operator, str) and operator in _UNARY)
                _integer(operand, below=number)
            case ["binary", operator, left, right]:
                _require(isinstance(operator, str) and operator in _BINARY)
                _integer(left, below=number)
                _integer(right, below=number)
            case ["compare", relation, left, right]:
                _require(isinstance(relation, str) and relation in _RELATIONS)
                _term(left, number)
                _term(right, number)
            case ["predicate", ["mod", m, r], term]:
                _integer(r, below=_integer(m, least=1))
                _term(term, number)
            case _:
                raise MalformedError


def _term(value: object, number: int) -> None:
    term = _list(value)
    _require(term)
    _integer(term[0], least=-(2**63))
    for part in term[1:]:
        _require(_list(part))
        _integer(part[0], least=-(2**63))
        match part[1:]:
            case ["pos"] | ["len"]:
                pass
            case ["#<" | "#>" | "#", node]:
                _integer(node, below=number)
            case _:
                raise MalformedError


# --- programs -------------------------------------------------------------------------------------

_MASKS: dict[str, Callable[[int, int], bool]] = {
    "<=": lambda i, j: j <= i,
    "<": lambda i, j: j < i,
    ">=": lambda i, j: j >= i,
    ">": lambda i, j: j > i,
    "all": lambda i, j: True,
}
_WEAK = ("<=", ">=", "all")
_CHOICES = ("rightmost", "leftmost")


def _program(value: object, symbols: list[str]) -> None:
    """References go to earlier steps, of bits or of counts as they must be; the output is one bit."""
    program = _entries(value, "alphabet", "steps", "output")
    _require(program["alphabet"] == symbols)
    bits: set[int] = set()
    counts: set[int] = set()
    for number, step in enumerate(_list(program["steps"])):
        _require(_list(step) and isinstance(step[0], str))
        read_bits, read_counts = _reads(step, symbols)
        _require(all(type(k) is int and k in bits for k in read_bits))
        _require(all(type(k) is int and k in counts for k in read_counts))
        (counts if step[0] in ("count", "linear") else bits).add(number)
    _require(type(program["output"]) is int and program["output"] in bits)


def _reads(step: list[Any], symbols: list[str]) -> tuple[list[Any], list[Any]]:
    """The numbers of the bits and of the counts that a step reads."""
    match step:
        case ["letter", letters]:
            _require(all(isinstance(letter, str) and letter in symbols for letter in _list(letters)))
            _require(len(set(letters)) == len(letters))
            return [], []
        case ["place", form]:
            _closed_form(form)
            return [], []
        case ["not", k]:
            return [k], []
        case ["and" | "or" | "xor" | "union" | "merge", operands]:
            return _list(operands), []
        case ["table", operands, rows]:
            _require(len(_list(operands)) <= 12 and all(isinstance(row, str) for row in _list(rows)))
            _require(all(len(row) == len(operands) and set(row) <= {"0", "1"} for row in rows))
            _require(len(set(rows)) == len(rows))
            return operands, []
        case ["previous" | "next", k]:
            return [k], []
        case ["previous" | "next", k, distance, default]:
            _require(1 <= _integer(distance) <= 64)
            _integer(default, below=2)
            return [k], []
        case ["attend", mask, choice, where, v, *rest]:
            _require(isinstance(mask, str) and mask in _MASKS and choice in _CHOICES and len(rest) <= 1)
            for default in rest:
                _integer(default, below=2)
            return [v, *_cases_read(where)], []
        case ["nearest", mask, choice, where, query, key, v]:
            _require(mask in _WEAK and choice in _CHOICES)
            return [v, *_cases_read(where)], [query, key]
        case ["matched", mask, choice, where, query, key]:
            _require(mask in _WEAK and choice in _CHOICES)
            return _cases_read(where), [query, key]
        case ["count", mask, k]:
            _require(isinstance(mask, str) and mask in _MASKS)
            return [k], []
        case ["linear", parts, constant]:
            _integer(constant, least=-(2**63))
            for part in _list(parts):
                _require(len(_list(part)) == 2)
                _integer(part[0], least=-(2**63))
            return [], [part[1] for part in parts]
        case ["compare" | "equals", k, t]:
            _integer(t, least=-(2**63))
            return [], [k]
        case ["test", predicate, k, a, b]:
            _predicate(predicate)
            _integer(a, least=-(2**63))
            _integer(b, least=-(2**63))
            return [], [k]
    raise MalformedError


def _cases_read(where: object) -> list[Any]:
    if type(where) is int:
        return [where]
    cases = _list(where)
    _require(cases and all(len(_list(case)) == 2 for case in cases))
    _require(all(case[0] is not None for case in cases))
    return [k for case in cases for k in case]


def _predicate(predicate: object) -> None:
    match predicate:
        case "zero" | "nonnegative":
            pass
        case ["mod", m, r]:
            _integer(r, below=_integer(m, least=1))
        case _:
            raise MalformedError


_RATIONAL = re.compile(r"-?[0-9]{1,40}(/[0-9]{1,40})?")


def _closed_form(form: object) -> None:
    match form:
        case "i" | "n" | "sign":
            pass
        case str():
            _require(_RATIONAL.fullmatch(form) and not re.search("/0+$", form))
        case ["+" | "*", *parts]:
            for part in parts:
                _closed_form(part)
        case ["^", part, exponent]:
            _integer(exponent, least=-16, below=17)
            _closed_form(part)
        case ["test", predicate, a, b, c]:
            _predicate(predicate)
            for number in (a, b, c):
                _integer(number, least=-(2**63))
        case ["digits", part]:
            _closed_form(part)
        case _:
            raise MalformedError


def program_values(program: dict[str, Any], word: Word) -> list[int]:
    """The output's bit at every position; NotCoveredError where a promise is broken."""
    n = len(word)
    places = range(1, n + 1)
    values: list[list[int]] = []  # values[k][i] is step k at position i; values[k][0] stands for nothing
    for step in program["steps"]:
        values.append([0, *(_step_at(step, i, word, values) for i in places)])
    return values[program["output"]][1:]


def _step_at(step: list[Any], i: int, word: Word, values: list[list[int]]) -> int:
    n = len(word)
    total: int
    match step:
        case ["letter", letters]:
            return int(word[i - 1] in letters)
        case ["place", form]:
            value = value_of(form, i, n)
            if value not in (0, 1):
                raise NotCoveredError
            return int(value)
        case ["not", k]:
            return int(1 - values[k][i])
        case ["and", operands]:
            return int(all(values[k][i] for k in operands))
        case ["or", operands]:
            return int(any(values[k][i] for k in operands))
        case ["xor", operands]:
            return int(sum(values[k][i] for k in operands) % 2)
        case ["union" | "merge", operands]:
            total = sum(values[k][i] for k in operands)
            if total > 1:
                raise NotCoveredError
            return total
        case ["table", operands, rows]:
            return int("".join(str(values[k][i]) for k in operands) in rows)
        case ["previous" | "next" as direction, k]:
            j = i - 1 if direction == "previous" else i + 1
            return int(values[k][j if 1 <= j <= n else i])
        case ["previous" | "next" as direction, k, distance, default]:
            j = i - distance if direction == "previous" else i + distance
            return int(values[k][j] if 1 <= j <= n else default)
        case ["attend", mask, choice, where, v, *rest]:
            visible = [j for j in range(1, n + 1) if _MASKS[mask](i, j)]
            bits = _cases_in_force(where, i, values)
            if rest:
                best = [j for j in visible if bits and values[bits[0]][j]]
                return int(values[v][_chosen(best, choice)] if best else rest[0])
            if not visible:
                return 0
            score = {j: sum(values[k][j] for k in bits) for j in visible}
            return int(values[v][_chosen([j for j in visible if score[j] == max(score.values())], choice)])
        case ["nearest", mask, choice, where, query, key, v]:
            return int(values[v][_nearest(mask, choice, where, query, key, i, n, values)])
        case ["matched", mask, choice, where, query, key]:
            j = _nearest(mask, choice, where, query, key, i, n, values)
            return int(min(max(values[key][j], 1), n) == min(max(values[query][i], 1), n))
        case ["count", mask, k]:
            return sum(values[k][j] for j in range(1, n + 1) if _MASKS[mask](i, j))
        case ["linear", parts, constant]:
            return int(constant + sum(factor * values[k][i] for factor, k in parts))
        case ["compare", k, t]:
            return int(values[k][i] >= t)
        case ["equals", k, t]:
            return int(values[k][i] == t)
        case ["test", predicate, k, a, b]:
            return int(holds(predicate, a * values[k][i] + b))
    raise NotCoveredError


def _cases_in_force(where: Any, i: int, values: list[list[int]]) -> list[int]:
    bits = [where] if isinstance(where, int) else [k for h, k in where if values[h][i]]
    if len(bits) > 1:
        raise NotCoveredError
    return bits


def _nearest(
    mask: str, choice: str, where: Any, query: int, key: int, i: int, n: int, values: list[list[int]]
) -> int:
    bits = _cases_in_force(where, i, values)
    cost = {}
    for j in range(1, n + 1):
        if _MASKS[mask](i, j):
            difference = min(max(values[query][i], 1), n) - min(max(values[key][j], 1), n)
            cost[j] = difference**2 + (0 if all(values[k][j] for k in bits) else 1)
    return _chosen([j for j in cost if cost[j] == min(cost.values())], choice)


def _chosen(positions: list[int], choice: str) -> int:
    return max(positions) if choice == "rightmost" else min(positions)


# --- formulas -------------------------------------------------------------------------------------


def truths(nodes: list[Any], word: Word) -> list[Truth]:
    """The truth of every node at every position of a word, by the meaning of its operator."""
    table: list[Truth] = []
    for node in nodes:
        table.append([_true_at(node, i, word, table) for i in range(len(word))])
    return table


def _true_at(node: list[Any], i: int, word: Word, table: list[Truth]) -> bool:
    n = len(word)
    match node:
        case ["symbol", letter]:
            return bool(word[i] == letter)
        case ["constant", truth]:
            return bool(truth)
        case ["first"]:
            return i == 0
        case ["last"]:
            return i == n - 1
        case ["unary", operator, k]:
            return _UNARY[operator](table[k], i)
        case ["binary", operator, k, m]:
            return _BINARY[operator](table[k], table[m], i)
        case ["compare", relation, left, right]:
            return _RELATIONS[relation](_number(left, i, n, table), _number(right, i, n, table))
        case ["predicate", ["mod", m, r], term]:
            return bool(_number(term, i, n, table) % m == r)
    raise NotCoveredError


def _number(term: list[Any], i: int, n: int, table: list[Truth]) -> int:
    total = int(term[0])
    for factor, *what in term[1:]:
        match what:
            case ["pos"]:
                total += factor * (i + 1)
            case ["len"]:
                total += factor * n
            case ["#<", k]:
                total += factor * sum(table[k][: i + 1])
            case ["#>", k]:
                total += factor * sum(table[k][i:])
            case ["#", k]:
                total += factor * sum(table[k])
    return total


def is_past(nodes: list[Any]) -> bool:
    """Whether a formula is of letters, constants, `first`, Boolean operators and the past operators."""
    kinds = {(node[0], node[1]) if node[0] in ("unary", "binary") else (node[0], "") for node in nodes}
    operators = ("!", "Y", "WY", "O", "H"), ("&", "|", "xor", "->", "<->", "S", "T")
    return kinds <= {
        ("symbol", ""),
        ("constant", ""),
        ("first", ""),
        *(("unary", operator) for operator in operators[0]),
        *(("binary", operator) for operator in operators[1]),
    }


def layers_of(nodes: list[Any]) -> int:
    """d of the last node: the layers that the formula needs at i; e are those for its truth at i - 1."""

    def since(*operands: tuple[int, int]) -> tuple[int, int]:
        d = 1 + max(operand[0] for operand in operands)
        return d, d

    def most(*operands: tuple[int, int]) -> tuple[int, int]:
        return max(operand[0] for operand in operands), max(operand[1] for operand in operands)

    def before(operand: tuple[int, int]) -> tuple[int, int]:
        return operand[1], operand[1] + 1

    true, first = (0, 1), (1, 2)
    layers: list[tuple[int, int]] = []
    for node in nodes:
        match node:
            case ["symbol", _] | ["constant", _]:
                layers.append(true)
            case ["first"]:
                layers.append(first)
            case ["unary", "!", k]:
                layers.append(layers[k])
            case ["unary", "Y", k]:
                layers.append(before(layers[k]))
            case ["unary", "WY", k]:
                layers.append(most(before(layers[k]), first))
            case ["unary", "O" | "H", k]:
                layers.append(since(true, layers[k]))
            case ["binary", "S" | "T", k, m]:
                layers.append(since(layers[k], layers[m]))
            case ["binary", _, k, m]:
                layers.append(most(layers[k], layers[m]))
            case _:
                raise NotCoveredError
    return layers[-1][0]


# --- languages ------------------------------------------------------------------------------------


def accepts(language: dict[str, Any], word: Word) -> bool:
    """Whether a word of one or more letters is in the language."""
    if "moves" in language:
        return _state(language, word) in language["accepting"]
    if "formula" in language:
        values = truths(language["formula"], word)[-1]
    else:
        values = [bool(bit) for bit in program_values(language["program"], word)]
    return values[-1] if language["at"] == "last" else values[0]


def _state(language: dict[str, Any], word: Word) -> Any:
    """The state of an automaton, or the truths of a past formula's parts, after a word with letters."""
    if "moves" in language:
        state = language["start"]
        for letter in word:
            state = language["moves"][state][language["alphabet"].index(letter)]
        return state
    return tuple(truth[-1] for truth in truths(language["formula"], word))


# --- what k layers know ---------------------------------------------------------------------------


class Knowledge:
    """F_k, with one table of numbers for each k, for all words that are asked about."""

    def __init__(self, period: list[int], choice: str) -> None:
        self._period = period
        self._choice = choice
        self._tables: list[dict[Any, int]] = []

    def at_end(self, word: Word, k: int) -> int:
        """The number of F_k at the last position."""
        return self.everywhere(word, k)[-1]

    def everywhere(self, word: Word, k: int) -> list[int]:
        """The number of F_k at each position."""
        values = [self._numbered(0, (letter, self.place(i))) for i, letter in enumerate(word, start=1)]
        for level in range(1, k + 1):
            values = [
                self._numbered(level, (values[i], *self._orders(values[:i]))) for i in range(len(values))
            ]
        return values

    def place(self, i: int) -> int:
        """p_i."""
        prefix, period = self._period
        return i if i < prefix else prefix + (i - prefix) % period

    def _orders(self, earlier: list[int]) -> Iterator[tuple[int, ...]]:
        """L and E, or the one that the choice leaves: values by their last and by their first positions."""
        if self._choice != "leftmost":
            last = {value: j for j, value in enumerate(earlier)}
            yield tuple(sorted(last, key=last.__getitem__))
        if self._choice != "rightmost":
            yield tuple(sorted(set(earlier), key=earlier.index))

    def _numbered(self, level: int, value: Any) -> int:
        while len(self._tables) <= level:
            self._tables.append({})
        table = self._tables[level]
        return table.setdefault(value, len(table))


# --- the rules ------------------------------------------------------------------------------------


def _verdict(file: dict[str, Any], claim: dict[str, Any], patience: int) -> str:
    if "words" in claim:
        return _of_words(file, claim)
    if "classes" in claim:
        return _of_classes(file, claim, patience)
    return _of_formula(file, claim, patience)


def _of_words(file: dict[str, Any], claim: dict[str, Any]) -> str:
    k, (left, right) = claim["layers"], claim["words"]
    if k > MOST_LAYERS or max(len(left), len(right)) > LONGEST_WORD:
        return UNKNOWN
    if accepts(file["language"], left) == accepts(file["language"], right):
        return REFUTED
    knowledge = Knowledge(file["period"], file["choice"])
    return PROVED if knowledge.at_end(left, k) == knowledge.at_end(right, k) else REFUTED


def _has_states(language: dict[str, Any]) -> bool:
    """Whether section 13 says how the language is followed letter by letter."""
    if "moves" in language:
        return True
    return "formula" in language and language["at"] == "last" and is_past(language["formula"])


def _met(symbols: list[str], value: Callable[[Word], Any], patience: int) -> Iterator[tuple[Word, Any]]:
    """All values of words, each with one word, if a word's value and a letter give the longer word's."""
    seen: set[Any] = set()
    words: list[Word] = [[]]
    for word in words:
        for letter in symbols:
            longer = [*word, letter]
            met = value(longer)
            if met not in seen:
                if len(seen) == patience:
                    raise NotCoveredError
                seen.add(met)
                words.append(longer)
                yield longer, met


def _of_classes(file: dict[str, Any], claim: dict[str, Any], patience: int) -> str:
    k, language = claim["layers"], file["language"]
    if k > MOST_LAYERS or claim["classes"] > MOST_PAIRS or not _has_states(language):
        return UNKNOWN
    knowledge = Knowledge(file["period"], file["choice"])
    verdicts: dict[int, bool] = {}
    contradiction = False

    def value(word: Word) -> tuple[int, Any]:
        return knowledge.at_end(word, k), _state(language, word)

    for word, (number, _) in _met(file["symbols"], value, patience):
        contradiction |= verdicts.setdefault(number, accepts(language, word)) != accepts(language, word)
    return PROVED if len(verdicts) == claim["classes"] and not contradiction else REFUTED


def _of_formula(file: dict[str, Any], claim: dict[str, Any], patience: int) -> str:
    language, nodes = file["language"], claim["formula"]
    if not is_past(nodes) or file["choice"] == "leftmost":
        return UNKNOWN
    if layers_of(nodes) > claim["layers"]:
        return REFUTED
    if not _has_states(language):
        return UNKNOWN

    def value(word: Word) -> tuple[Any, Any]:
        return tuple(truth[-1] for truth in truths(nodes, word)), _state(language, word)

    right = all(
        truths(nodes, word)[-1][-1] == accepts(language, word)
        for word, _ in _met(file["symbols"], value, patience)
    )
    return PROVED if right else REFUTED
