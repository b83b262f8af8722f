"""Files about depth that claim a pair, right ones and changed ones, as JSON data; and who judges them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from attemper.languages.regular.dfa import AUTOMATON
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.syntax import FORMULA
from attemper.languages.words import Alphabet
from tests.support.oracles.layered import places, value_at_end

Data = dict[str, Any]
Language = list[Any]

Judge = Callable[[Data], bool]
"""Whether the first claim of a file, a pair, is proved by FORMAT.md, section 12."""

LANGUAGES = (
    "(ab)*",
    "a*b",
    "(a(ab)*b)*",
    "~[] a b b a ~[]",
    "[^a]* a [^a]* a [^a]*",
    "a*b*a*b*",
    "(aa)*",
    "b~[]",
)


def automaton(regex: str) -> Language:
    """The minimal automaton as a file has it."""
    return ["dfa", *AUTOMATON.encode(parse_regex(regex, "ab")).values()]


def formula(text: str, at: str = "last") -> Language:
    return ["temporal language", FORMULA.encode(parse(text, Alphabet(("a", "b")))), at, False]


def pair_file(
    language: Language,
    layers: int,
    first: str,
    second: str,
    *,
    place: tuple[int, int] = (1, 1),
    choice: str = "both",
) -> Data:
    """The file that claims the pair."""
    return {
        "format": "attemper-depth/2",
        "language": language,
        "alphabet": ["a", "b"],
        "networks": {"prefix": place[0], "period": place[1], "choice": choice},
        "claims": [["inseparable", layers, [list(first), list(second)]]],
    }


def right_files() -> list[Data]:
    """Files that are right: families of pairs, some with positions, formulas, and both ends."""
    nested = automaton("(a(ab)*b)*")
    found = [
        pair_file(automaton("(ab)*"), 1, "ab", "aab"),
        pair_file(nested, 2, "aabb", "aaabb"),
        pair_file(automaton("~[] a b b a ~[]"), 3, "ababbbabbb", "ababbbabbabbb"),
        pair_file(automaton("[^a]* a [^a]* a [^a]*"), 2, "aab", "aaab"),
        pair_file(automaton("a*b*a*b*"), 2, "ababb", "abababb"),
        pair_file(automaton("(aa)*"), 4, "aaaaa", "aaaaaa"),
        pair_file(automaton("(ab)*"), 0, "aaab", "abab", place=(1, 2)),
        pair_file(automaton("(ab)*"), 3, "ababab", "ababaab", choice="leftmost"),
        pair_file(automaton("a*b"), 0, "ab", "bab", choice="rightmost"),
        pair_file(formula("b & H (a <-> WY b)"), 1, "ab", "aab"),
        pair_file(formula("G (a -> X b) & a", "first"), 1, "ab", "aab"),
        pair_file(formula("#<[a] <= #<[b]"), 3, "aaabbb", "aaaabbb"),
    ]
    for k in range(1, 6):
        first, second = "a" * k + "b" * k, "a" * (k + 1) + "b" * k
        found.append(pair_file(formula("#<[a] = #<[b]"), k, first, second))
        first, second = "a" * (2 * k) + "b" * (2 * k), "a" * (2 * k + 2) + "b" * (2 * k)
        found.append(pair_file(formula("#<[a] = #<[b]"), k, first, second, place=(1, 2)))
    return found


def changed(count: int, seed: int) -> Iterator[Data]:
    """Right files with one thing changed: a letter, a word, k, the period, the choice or the language."""
    rng = random.Random(seed)
    right = right_files()
    for _ in range(count):
        yield _changed(rng.choice(right), rng)


def _changed(data: Data, rng: random.Random) -> Data:
    ((tag, layers, words),) = data["claims"]
    first, second = (list(word) for word in words)
    own, networks = {**data}, {**data["networks"]}
    match rng.randrange(8):
        case 0 | 1:
            word = rng.choice((first, second))
            place = rng.randrange(len(word))
            word[place] = "b" if word[place] == "a" else "a"
        case 2:
            word = rng.choice((first, second))
            word.insert(rng.randrange(len(word) + 1), rng.choice("ab"))
        case 3:
            word = rng.choice((first, second))
            del word[rng.randrange(len(word))]
        case 4:
            layers += rng.choice((-1, 1))
        case 5:
            networks[rng.choice(("prefix", "period"))] += rng.choice((-1, 1, 2))
        case 6:
            networks["choice"] = rng.choice(("both", "leftmost", "rightmost"))
        case _:
            own["language"] = automaton(rng.choice(LANGUAGES))
    return {**own, "networks": networks, "claims": [[tag, layers, [first, second]]]}


def by_definition(data: Data) -> bool:
    """Whether the pair is one, by nested tuples; verdicts by a run of the automaton, or a formula's truth."""
    ((_, layers, (first, second)),) = data["claims"]
    prefix, period, choice = (data["networks"][name] for name in ("prefix", "period", "choice"))
    if layers < 0 or min(prefix, period) < 1 or not first or not second:
        return False
    place = places(prefix, period)
    values = [
        value_at_end(word, layers, place, first=choice != "rightmost", last=choice != "leftmost")
        for word in (first, second)
    ]
    return values[0] == values[1] and _is_member(data, first) is not _is_member(data, second)


def _is_member(data: Data, word: list[str]) -> bool:
    kind, *entries = data["language"]
    if kind == "dfa":
        alphabet, moves, state, accepting = entries
        for letter in word:
            state = moves[state][alphabet.index(letter)]
        return state in accepting
    from attemper.languages.temporal.meaning import truth

    nodes, at, _ = entries
    return truth(FORMULA.read(nodes), tuple(word))[0 if at == "first" else -1]


JUDGES: list[Judge] = [by_definition]
"""Each of them must say of a file what the checker says. Add a second implementation here."""
