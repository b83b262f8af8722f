"""Files about depth that claim a pair, right ones and changed ones, as JSON data; and who judges them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.trees import formula_to_nodes
from attemper.languages.words import Alphabet
from tests.support.oracles.layered import places, value_at_end

Data = dict[str, Any]

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


def automaton(regex: str) -> Data:
    """The minimal automaton as a file has it."""
    return dict(parse_regex(regex, "ab").tree())


def formula(text: str, at: str = "last") -> Data:
    return {"formula": formula_to_nodes(parse(text, Alphabet(("a", "b")))), "at": at, "accepts_empty": False}


def pair_file(
    language: Data,
    layers: int,
    first: str,
    second: str,
    *,
    place: tuple[int, int] = (1, 1),
    choice: str = "both",
) -> Data:
    """The file that claims the pair."""
    return {
        "format": "attemper-depth/1",
        "language": language,
        "symbols": ["a", "b"],
        "period": list(place),
        "choice": choice,
        "claims": [{"layers": layers, "words": [list(first), list(second)]}],
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
    (claim,) = data["claims"]
    first, second = (list(word) for word in claim["words"])
    layers, period = claim["layers"], list(data["period"])
    own = {**data}
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
            period[rng.randrange(2)] += rng.choice((-1, 1, 2))
        case 6:
            own["choice"] = rng.choice(("both", "leftmost", "rightmost"))
        case _:
            own["language"] = automaton(rng.choice(LANGUAGES))
    return {**own, "period": period, "claims": [{"layers": layers, "words": [first, second]}]}


def by_definition(data: Data) -> bool:
    """Whether the pair is one, by nested tuples; verdicts by a run of the automaton, or a formula's truth."""
    (claim,) = data["claims"]
    first, second = claim["words"]
    prefix, period = data["period"]
    if claim["layers"] < 0 or min(prefix, period) < 1 or not first or not second:
        return False
    place, choice = places(prefix, period), data["choice"]
    values = [
        value_at_end(word, claim["layers"], place, first=choice != "rightmost", last=choice != "leftmost")
        for word in (first, second)
    ]
    return values[0] == values[1] and _is_member(data, first) is not _is_member(data, second)


def _is_member(data: Data, word: list[str]) -> bool:
    language = data["language"]
    if "moves" in language:
        state = language["start"]
        for letter in word:
            state = language["moves"][state][language["alphabet"].index(letter)]
        return state in language["accepting"]
    from attemper.languages.temporal.meaning import truth
    from attemper.languages.temporal.trees import formula_from_nodes

    found = truth(formula_from_nodes(language["formula"]), tuple(word))
    return found[0 if language["at"] == "first" else -1]


JUDGES: list[Judge] = [by_definition]
"""Each of them must say of a file what the checker says. Add a second implementation here."""
