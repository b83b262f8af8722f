"""A second judge of files about depth, written from sections 12 and 13 of FORMAT.md alone.

It imports nothing of the library; closed forms are evaluated as the second reader does. Everything is done as
the text defines it, however slow: the values F_k are made anew for each word, formulas and programs are
evaluated at every position, and the classes are found from one whole word for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, cast

from tests.support.oracles.second_reader.forms import NothingShownError, has_sense, holds, leaves, value_of
from tests.support.oracles.second_reader.program_shape import complaint
from tests.support.oracles.shapes import MisshapenError, read_json, require

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


def _file(data: bytes) -> dict[str, Any]:
    """The file, which has the shape of section 12, and keeps what the text says beside it."""
    try:
        file = read_json(data)
        require("attemper-depth/2", file)
    except MisshapenError as error:
        raise MalformedError from error
    alphabet = file["alphabet"]
    _require(alphabet and all(symbol and symbol.isprintable() and " " not in symbol for symbol in alphabet))
    _require(len(set(alphabet)) == len(alphabet))
    _language(file["language"], alphabet)
    _require(file["claims"])
    for claim in file["claims"]:
        match claim:
            case ["inseparable", _, words]:
                _require(all(word and set(word) <= set(alphabet) for word in words))
            case ["enough by formula", _, nodes]:
                _formula(nodes, alphabet)
    return cast("dict[str, Any]", file)


def _language(language: list[Any], alphabet: list[str]) -> None:
    match language:
        case ["temporal language", nodes, _, _]:
            _formula(nodes, alphabet)
        case ["program language", program, _, _]:
            _require(program["alphabet"] == alphabet)
            _program(program)
        case ["dfa", symbols, moves, start, accepting]:
            _require(symbols == alphabet)
            _require(all(len(row) == len(symbols) and max(row) < len(moves) for row in moves))
            _require(start < len(moves) and all(state < len(moves) for state in accepting))
            _require(accepting == sorted(set(accepting)))


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


def _formula(nodes: list[Any], symbols: list[str]) -> None:
    """What the shape of a formula does not say: its letters, its predicates, each atom once in its term."""
    for node in nodes:
        match node:
            case ["symbol", letter]:
                _require(letter in symbols)
            case ["numerical", predicate, term]:
                _predicate(predicate)
                _term(term)
            case ["comparison", _, left, right]:
                _term(left)
                _term(right)


def _term(term: dict[str, Any]) -> None:
    atoms = [atom for _, atom in term["parts"]]
    _require(all(atom not in atoms[:k] for k, atom in enumerate(atoms)))
    _require(all(factor != 0 for factor, _ in term["parts"]))


# --- programs -------------------------------------------------------------------------------------

_MASKS: dict[str, Callable[[int, int], bool]] = {
    "<=": lambda i, j: j <= i,
    "<": lambda i, j: j < i,
    ">=": lambda i, j: j >= i,
    ">": lambda i, j: j > i,
    "all": lambda i, j: True,
}


def _program(program: dict[str, Any]) -> None:
    """References go to earlier steps, of bits or of counts as they must be; the output is one bit."""
    _require(not program["symbols"] and program["numbers"] is None and complaint(program) is None)
    for step in program["steps"]:
        match step:
            case ["place", form]:
                for leaf in leaves(form):
                    if leaf[0] == "test":
                        _predicate(leaf[1])
            case ["count test", predicate, *_]:
                _predicate(predicate)


def _predicate(predicate: list[Any]) -> None:
    _require(has_sense(predicate))
    _require(predicate[0] != "named" or predicate[1] in ("even", "odd", "prime", "square"))


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
        case ["gate", "and", operands]:
            return int(all(values[k][i] for k in operands))
        case ["gate", "or", operands]:
            return int(any(values[k][i] for k in operands))
        case ["gate", "xor", operands]:
            return int(sum(values[k][i] for k in operands) % 2)
        case ["gate", "union", operands] | ["merge", operands]:
            total = sum(values[k][i] for k in operands)
            if total > 1:
                raise NotCoveredError
            return total
        case ["table", operands, rows]:
            return int([bool(values[k][i]) for k in operands] in rows)
        case ["shift", direction, k, distance, default]:
            j = i - distance if direction == "previous" else i + distance
            at_edge = values[k][i] if default is None else default
            return int(values[k][j] if 1 <= j <= n else at_edge)
        case ["attend", mask, choice, cases, v, default]:
            visible = [j for j in range(1, n + 1) if _MASKS[mask](i, j)]
            bits = [k for h, k in cases if h is None or values[h][i]]
            if len(bits) > 1:
                raise NotCoveredError
            if default is not None:
                best = [j for j in visible if bits and values[bits[0]][j]]
                return int(values[v][_chosen(best, choice)] if best else default)
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
        case ["count test", predicate, k, a, b]:
            return int(holds(predicate, a * values[k][i] + b))
    raise NotCoveredError


def _nearest(
    mask: str, choice: str, where: int, query: int, key: int, i: int, n: int, values: list[list[int]]
) -> int:
    cost = {}
    for j in range(1, n + 1):
        if _MASKS[mask](i, j):
            difference = min(max(values[query][i], 1), n) - min(max(values[key][j], 1), n)
            cost[j] = difference**2 + 1 - values[where][j]
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
        case ["comparison", relation, left, right]:
            return _RELATIONS[relation](_number(left, i, n, table), _number(right, i, n, table))
        case ["numerical", ["remainder", m, r], term]:
            return bool(_number(term, i, n, table) % m == r)
    raise NotCoveredError


def _number(term: dict[str, Any], i: int, n: int, table: list[Truth]) -> int:
    total = int(term["constant"])
    for factor, atom in term["parts"]:
        match atom:
            case ["position atom"]:
                total += factor * (i + 1)
            case ["length atom"]:
                total += factor * n
            case ["count atom", "#<", k]:
                total += factor * sum(table[k][: i + 1])
            case ["count atom", "#>", k]:
                total += factor * sum(table[k][i:])
            case ["count atom", "#", k]:
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


def accepts(language: list[Any], word: Word) -> bool:
    """Whether a word of one or more letters is in the language."""
    match language:
        case ["dfa", _, _, _, accepting]:
            return _state(language, word) in accepting
        case ["temporal language", nodes, at, _]:
            values = truths(nodes, word)[-1]
        case ["program language", program, at, _]:
            values = [bool(bit) for bit in program_values(program, word)]
        case _:
            raise AssertionError(language)
    return values[-1] if at == "last" else values[0]


def _state(language: list[Any], word: Word) -> Any:
    """The state of an automaton, or the truths of a past formula's parts, after a word with letters."""
    match language:
        case ["dfa", alphabet, moves, state, _]:
            for letter in word:
                state = moves[state][alphabet.index(letter)]
            return state
        case ["temporal language", nodes, *_]:
            return tuple(truth[-1] for truth in truths(nodes, word))
        case _:
            raise AssertionError(language)


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


def _verdict(file: dict[str, Any], claim: list[Any], patience: int) -> str:
    match claim:
        case ["inseparable", k, words]:
            return _of_words(file, k, words)
        case ["enough by classes", k, number]:
            return _of_classes(file, k, number, patience)
        case ["enough by formula", k, nodes]:
            return _of_formula(file, k, nodes, patience)
        case _:
            raise AssertionError(claim)


def _knowledge(file: dict[str, Any]) -> Knowledge:
    networks = file["networks"]
    return Knowledge([networks["prefix"], networks["period"]], networks["choice"])


def _of_words(file: dict[str, Any], k: int, words: list[Word]) -> str:
    left, right = words
    if k > MOST_LAYERS or max(len(left), len(right)) > LONGEST_WORD:
        return UNKNOWN
    if accepts(file["language"], left) == accepts(file["language"], right):
        return REFUTED
    knowledge = _knowledge(file)
    return PROVED if knowledge.at_end(left, k) == knowledge.at_end(right, k) else REFUTED


def _has_states(language: list[Any]) -> bool:
    """Whether section 13 says how the language is followed letter by letter."""
    match language:
        case ["dfa", *_]:
            return True
        case ["temporal language", nodes, "last", _]:
            return is_past(nodes)
        case _:
            return False


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


def _of_classes(file: dict[str, Any], k: int, claimed: int, patience: int) -> str:
    language = file["language"]
    if k > MOST_LAYERS or claimed > MOST_PAIRS or not _has_states(language):
        return UNKNOWN
    knowledge = _knowledge(file)
    verdicts: dict[int, bool] = {}
    contradiction = False

    def value(word: Word) -> tuple[int, Any]:
        return knowledge.at_end(word, k), _state(language, word)

    for word, (number, _) in _met(file["alphabet"], value, patience):
        contradiction |= verdicts.setdefault(number, accepts(language, word)) != accepts(language, word)
    return PROVED if len(verdicts) == claimed and not contradiction else REFUTED


def _of_formula(file: dict[str, Any], k: int, nodes: list[Any], patience: int) -> str:
    language = file["language"]
    if not is_past(nodes) or file["networks"]["choice"] == "leftmost":
        return UNKNOWN
    if layers_of(nodes) > k:
        return REFUTED
    if not _has_states(language):
        return UNKNOWN

    def value(word: Word) -> tuple[Any, Any]:
        return tuple(truth[-1] for truth in truths(nodes, word)), _state(language, word)

    right = all(
        truths(nodes, word)[-1][-1] == accepts(language, word)
        for word, _ in _met(file["alphabet"], value, patience)
    )
    return PROVED if right else REFUTED
