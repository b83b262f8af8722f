"""Masked models to automata, against plain runs that share no code, and against the invariant F_k."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from attemper.errors import OptionError, UnprovedError, UnsupportedError
from attemper.languages.regular.classes import RegularClass, classify
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.models.arrays import Array, Integers
from attemper.models.hard.masked import verdicts as run_by_definition
from attemper.models.hard.masked_examples import Alternating
from attemper.reading.models import budget
from attemper.reading.models.tables import ReadTable, automaton_of_masked
from tests.support.drawn.by_rows import TO_THE_LEFT, ByRows, Ended, Row, by_tables
from tests.support.drawn.hard_examples import LastIs
from tests.support.drawn.masked_models import ArrayModel
from tests.support.oracles.orders import Numbers, invariant
from tests.support.oracles.plain_masked import PlainMasked, drawn, verdict, verdicts
from tests.support.oracles.raw_forward import all_words
from tests.support.suites import Few

PLACES = ((0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (1, 2), (2, 3))


def random_model(seed: int) -> PlainMasked:
    """One of the models of the campaign; half of them have floats, and half no places."""
    draw = Random(f"model {seed}")
    places = draw.choice(PLACES) if seed % 4 >= 2 else (0, 1)
    return drawn(seed, draw.choice((1, 2, 2, 2, 2, 2, 2, 3)), places, floats=seed % 2 == 1)


def require_same(plain: PlainMasked, read: ReadTable, longest: int) -> None:
    """All words up to a length, and long ones: the automaton says what a plain run does."""
    symbols = read.dfa.alphabet.symbols
    numbers: Numbers = {}
    said: dict[int, bool] = {}
    for letters, expected in verdicts(plain, longest):
        assert read.dfa.accepts(tuple(symbols[k] for k in letters)) == expected, letters
        # The invariant after as many layers decides: no lower bound on the layers is above theirs.
        value = invariant(letters, len(plain.layers), (plain.prefix, plain.period), numbers)
        assert said.setdefault(value, expected) == expected
    draw = Random(0)
    for length in (20, 45):
        letters = tuple(draw.choices(range(plain.letters), k=length))
        assert read.dfa.accepts(tuple(symbols[k] for k in letters)) == verdict(plain, letters)


def campaign(seeds: range, most: int, longest: int) -> int:
    """How many of the models have an automaton; each that has one has the right one."""
    found = 0
    for seed in seeds:
        plain = random_model(seed)
        try:
            read = automaton_of_masked(ArrayModel(plain), configurations=most, seconds=600)
        except UnprovedError:
            continue
        found += 1
        assert minimal(read.dfa) == read.dfa
        require_same(plain, read, min(longest, 6) if plain.letters == 3 and longest < 8 else longest)
        if plain.period == 1:
            assert classify(read.dfa).kind is RegularClass.APERIODIC
    return found


@pytest.mark.sweep(0)
def test_a_few_random_models() -> None:
    assert campaign(range(60), 2_000, 6) >= 52


@pytest.mark.slow
@pytest.mark.parametrize("part", range(11))
def test_a_thousand_random_models(part: int) -> None:
    assert campaign(range(100 * part, 100 * part + 100), 50_000, 8) >= 91


# Ties, and what is visible --------------------------------------------------------------------------

EVERY_MASK = ("<=", "<", ">=", ">", "all")
EVERY_HEAD = tuple(product(EVERY_MASK, ("leftmost", "rightmost")))


def letter_and_one(position: int, letter: int) -> Row:
    return (1, letter)


def require_by_rows(model: ByRows, longest: int = 7) -> ReadTable:
    """The automaton says what a plain run does, and so does the definition of `models.hard.masked`."""
    read = automaton_of_masked(model)
    for letters in all_words(len(model.symbols), longest):
        word = tuple(model.symbols[k] for k in letters)
        assert read.dfa.accepts(word) == model.verdict(letters), word
    prefixes = model.at == "last" and all(head[0] in {"<=", "<"} for heads in model.heads for head in heads)
    for letters in product(range(len(model.symbols)), repeat=min(longest, 5)):
        lengths = range(1 if prefixes else len(letters), len(letters) + 1)
        expected = tuple((k, model.verdict(letters[:k])) for k in lengths)
        assert run_by_definition(model, [model.symbols[k] for k in letters]) == expected
    return read


@pytest.mark.parametrize("head", EVERY_HEAD)
def test_all_scores_tie(head: tuple[str, str]) -> None:
    model = ByRows(
        letter_and_one,
        label=lambda row: row == (1, 1, 1, 0),
        heads=((head,),),
        join=lambda layer, own, read: (*own, *read[0]),
    )
    # Leftmost: the first letter; rightmost: the own one, or for a strict head the one before.
    ends, neighbours = "a(a|b)*b", "(a|b)*ab"
    before = {("<=", "leftmost"): ends, ("<", "leftmost"): ends, ("<", "rightmost"): neighbours}
    before["all", "leftmost"] = ends
    # Read at the first position it is the other way round.
    ends, neighbours = "b(a|b)*a", "ba(a|b)*"
    behind = {(">=", "rightmost"): ends, (">", "rightmost"): ends, (">", "leftmost"): neighbours}
    behind["all", "rightmost"] = ends
    for at, languages in (("last", before), ("first", behind)):
        read = require_by_rows(replace(model, at=at))
        if head not in languages:
            assert not read.dfa.accepting
        else:
            assert read.dfa == minimal(parse_regex(languages[head], "ab"))


@pytest.mark.parametrize("head", EVERY_HEAD)
def test_a_strict_head_that_sees_nothing_reads_zeros(head: tuple[str, str]) -> None:
    model = ByRows(
        letter_and_one,
        label=lambda row: row[2] == 0,
        heads=((head,),),
        join=lambda layer, own, read: (*own, *read[0]),
    )
    blind = head[0] in {"<", ">"}
    for at, there in (("last", ">"), ("first", "<")):
        read = require_by_rows(replace(model, at=at))
        found = [read.dfa.accepts(tuple(word)) for word in ("a", "b", "aa", "ba")]
        assert found == [blind, blind, head[0] == there, head[0] == there]


@pytest.mark.sweep(6)
@pytest.mark.parametrize("pair", list(product(EVERY_HEAD, EVERY_HEAD)))
def test_heads_of_all_kinds_in_two_layers(pair: tuple[tuple[str, str], tuple[str, str]]) -> None:
    one, other = pair
    model = ByRows(
        letter_and_one,
        label=lambda row: row[1] % 3 == 1,
        heads=((one, other), (other,)),
        score=lambda layer, head, query, key: (key[1] * (2 * head - 1) + query[1] * key[1] * layer) % 3,
        join=lambda layer, own, read: (1, (own[1] + 2 * read[0][1] + sum(row[1] for row in read[1:])) % 5),
    )
    require_by_rows(model)


def require_tables(seeds: Iterable[int], longest: int, masks: tuple[str, ...] = TO_THE_LEFT) -> None:
    for seed in seeds:
        model = by_tables(seed, masks)
        read = automaton_of_masked(model)
        letters = len(read.dfa.alphabet.symbols)
        behind = (letters,) if isinstance(model, Ended) else ()
        assert not behind or read.dfa.accepts(()) == model.verdict(behind)
        for word in all_words(letters, longest if letters < 3 else longest - 2):
            symbols = tuple(model.symbols[k] for k in word)
            assert read.dfa.accepts(symbols) == model.verdict((*word, *behind)), (seed, symbols)


def test_random_tables_with_ties_everywhere() -> None:
    require_tables(range(40), 6)


def test_random_tables_that_look_both_ways(few: Few) -> None:
    require_tables(few(range(60), 15), 5, EVERY_MASK)


@pytest.mark.slow
def test_many_random_tables_with_ties_everywhere() -> None:
    require_tables(range(40, 640), 8)


@pytest.mark.slow
@pytest.mark.parametrize("masks", [EVERY_MASK, (">=", ">"), ("<", ">"), ("all",)])
def test_many_random_tables_that_look_both_ways(masks: tuple[str, ...]) -> None:
    require_tables(range(1_000, 1_300), 7, masks)


def test_sides_that_multiply() -> None:
    """Two layers that look both ways: whether some b has an a on both of its sides."""
    model = ByRows(
        lambda position, letter: (1, letter, 0),
        label=lambda row: row[2] == 1,
        heads=((("<", "leftmost"), (">", "leftmost")), (("all", "rightmost"),)),
        score=lambda layer, head, query, key: key[2] if layer else 1 - key[1],
        join=lambda layer, own, read: (
            (1, own[1], int(own[1] == 1 and all(row[:2] == (1, 0) for row in read)))
            if layer == 0
            else (1, own[1], read[0][2])
        ),
    )
    for at in ("last", "first"):
        read = require_by_rows(replace(model, at=at))
        assert read.dfa == minimal(parse_regex("(a|b)*a(a|b)*b(a|b)*a(a|b)*", "ab"))
        assert read.values == (2, 3, 4)


# Numbers --------------------------------------------------------------------------------------------

HUGE = {
    "beyond the integers of floats": (2**53, 2**53 + 1),
    "beyond 64 bits": (2**80, 2**80 + 1),
    "an integer and a float": (float(2**53), 2**53 + 1),
    "an integer and a fraction": (2**70, Fraction(2**71 + 1, 2)),
    "below all": (-(2**80), -(2**80) + 1),
    "infinity and an integer": (2**2000, float("inf")),
    "an integer and minus infinity": (float("-inf"), -(2**2000)),
}


@pytest.mark.parametrize("name", HUGE)
def test_scores_as_objects_are_compared_exactly(name: str) -> None:
    less, more = HUGE[name]
    model = ByRows(
        letter_and_one,
        label=lambda row: row[1] == 1,
        heads=((("<=", "rightmost"),),),
        # 'b' has the greater score by less than floats can tell, so that the rightmost b is read.
        score=lambda layer, head, query, key: (less, more)[key[1]],
        scored_as=object,
        join=lambda layer, own, read: read[0],
    )
    assert require_by_rows(model).dfa == minimal(parse_regex("(a|b)*b(a|b)*", "ab"))


def test_numbers_of_numpy_among_objects_are_those_of_python() -> None:
    """To numpy 2^53 as a float and 2^53 + 1 as an integer are equal."""
    model = ByRows(
        letter_and_one,
        label=lambda row: row[1] == 1,
        heads=((("<=", "rightmost"),),),
        score=lambda layer, head, query, key: (np.float64(2**53), np.int64(2**53 + 1))[key[1]],
        scored_as=object,
        join=lambda layer, own, read: read[0],
    )
    assert automaton_of_masked(model).dfa == minimal(parse_regex("(a|b)*b(a|b)*", "ab"))
    assert run_by_definition(model, "aba") == ((1, False), (2, True), (3, True))


def test_infinite_scores_are_in_order_and_tie() -> None:
    table = {0: float("-inf"), 1: 0.0, 2: float("inf"), 3: float("inf")}
    for choice in ("leftmost", "rightmost"):
        model = ByRows(
            letter_and_one,
            label=lambda row: row[1] in {1, 3},
            heads=((("<", choice),),),
            score=lambda layer, head, query, key: table[key[1]],
            scored_as=np.float64,
            join=lambda layer, own, read: read[0],
            symbols=("a", "b", "c", "d"),
        )
        require_by_rows(model, 5)


def test_minus_zero_is_zero() -> None:
    """Embeddings -0.0 and 0.0 are one activation, and scores -0.0 and 0.0 tie."""
    model = ByRows(
        lambda position, letter: (1.0, -0.0 if letter else 0.0, float(letter)),
        label=lambda row: row[2] == 1.0,
        heads=((("<=", "leftmost"),),),
        score=lambda layer, head, query, key: -0.0 if key[2] else 0.0,
        join=lambda layer, own, read: read[0],
        kind=np.float64,
        scored_as=np.float64,
    )
    assert require_by_rows(model).dfa == minimal(parse_regex("b(a|b)*", "ab"))
    signs = replace(
        model, embedded=lambda position, letter: (-0.0 if letter else 0.0,), heads=(), label=lambda row: True
    )
    assert automaton_of_masked(signs).values == (1,)

    class Signs(ByRows):
        def labels(self, activations: Array) -> Any:
            return np.signbit(activations[:, 0])

    read = automaton_of_masked(Signs(signs.embedded, signs.label, kind=np.float64))
    assert not read.dfa.accepting


@pytest.mark.parametrize("kind", [np.bool_, np.int8, np.uint64, np.float32, np.float16, ">f8", np.float64])
def test_activations_of_every_type(kind: Any) -> None:
    model = ByRows(
        letter_and_one,
        label=lambda row: row[1] == 1 and row[0] == 0,
        heads=((("<", "rightmost"),),),
        score=lambda layer, head, query, key: key[1],
        join=lambda layer, own, read: (own[1], read[0][1]),
        kind=kind,
    )
    assert require_by_rows(model).dfa == minimal(parse_regex("(a|b)*b(a|b)*a", "ab"))


def test_rows_without_numbers() -> None:
    model = ByRows(lambda position, letter: (), label=lambda row: True, heads=((("<", "leftmost"),),))
    read = automaton_of_masked(replace(model, join=lambda layer, own, read: ()))
    assert (len(read.dfa.moves), read.values) == (2, (1, 1))
    assert not read.dfa.accepts(())
    assert read.dfa.accepts(("b",))


# Shapes of models -----------------------------------------------------------------------------------


def test_without_layers_the_last_letter_and_its_place_decide() -> None:
    model = ByRows(
        lambda position, letter: (letter, position % 2), label=lambda row: row == (1, 0), places=(0, 2)
    )
    read = require_by_rows(model)
    assert read.dfa == minimal(parse_regex("((a|b)(a|b))*(a|b)b", "ab"))
    assert automaton_of_masked(LastIs("a")).dfa == minimal(parse_regex("(a|b)*a", "ab"))


def test_layers_without_heads() -> None:
    model = ByRows(
        letter_and_one,
        label=lambda row: row[1] == 3,
        heads=((), (), ()),
        join=lambda layer, own, read: (1, own[1] + 1 if own[1] else 0),
    )
    read = require_by_rows(model)
    assert not read.dfa.accepting
    assert automaton_of_masked(replace(model, label=lambda row: row[1] == 4)).dfa.accepts(("a", "b"))


@pytest.mark.parametrize("places", [(0, 1), (0, 2), (0, 3), (4, 1), (3, 2)])
def test_one_letter(places: tuple[int, int]) -> None:
    prefix, period = places
    model = ByRows(
        lambda position, letter: (1, position if position <= prefix else -((position - prefix) % period)),
        label=lambda row: (row[1] + row[2]) % 3 == 0,
        heads=((("<", "rightmost"), ("<=", "leftmost")),),
        score=lambda layer, head, query, key: query[1] * key[1],
        join=lambda layer, own, read: (*own, read[0][1] - read[1][1]),
        symbols=("a",),
        places=places,
    )
    require_by_rows(model, 14)


def test_values_that_appear_late() -> None:
    """A letter at place 9 alone makes a value that all queries after it see."""
    model = ByRows(
        lambda position, letter: (letter, min(position, 9)),
        label=lambda row: row[0] == 7,
        heads=((("<=", "rightmost"),), (("<", "leftmost"),)),
        score=lambda layer, head, query, key: key[1] if layer == 0 else key[0],
        join=lambda layer, own, read: (
            (7 if layer == 0 and read[0] == (1, 9) and own == (0, 9) else read[0][0], own[1])
        ),
        places=(8, 1),
    )
    read = require_by_rows(model, 11)
    assert not read.dfa.accepts(tuple("aaaaaaaaba"))
    assert read.dfa.accepts(tuple("aaaaaaaaabaa")) is (model.verdict((0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0)))


def test_as_many_values_as_a_run_can_have() -> None:
    """After k layers of one letter there are k + 1 values, and no more: a^(k+1) is as a^(k+2)."""
    for layers in range(6):
        model = ByRows(
            lambda position, letter: (1, 0),
            label=lambda row, layers=layers: row[1] == layers,
            heads=((("<", "rightmost"),),) * layers,
            # The one before, if there is one, has counted as far as its layer; zeros have no 1 in front.
            score=lambda layer, head, query, key: key[1],
            join=lambda layer, own, read: (1, max(own[1], read[0][1] + read[0][0])),
            symbols=("a",),
        )
        read = require_by_rows(model, layers + 4)
        assert read.values[-1] == layers + 1
        assert [read.dfa.accepts(("a",) * n) for n in range(1, layers + 4)] == [
            n > layers for n in range(1, layers + 4)
        ]


def test_the_empty_word_is_rejected_unless_the_model_says_otherwise() -> None:
    silent = automaton_of_masked(LastIs("a"))
    assert not silent.dfa.accepts(())
    assert silent.empty.startswith("rejected")
    for verdict_on_empty in (True, False):

        class Says(ByRows):
            accepts_empty = verdict_on_empty

        read = automaton_of_masked(Says(letter_and_one, label=lambda row: row[1] == 1))
        assert read.dfa.accepts(()) is verdict_on_empty
        assert "attribute" in read.empty
        assert read.dfa.accepts(("b",))
        assert not read.dfa.accepts(("b", "a"))


def test_an_end_marker_has_the_verdict_and_no_letter_behind_it() -> None:
    model = Ended(
        letter_and_one,
        label=lambda row: row[1] == 1,
        heads=((("<", "rightmost"),),),
        join=lambda layer, own, read: read[0] if own[1] == 2 else (1, 0),
        symbols=("a", "b", "$"),
    )
    read = automaton_of_masked(model)
    assert read.dfa == minimal(parse_regex("(a|b)*b", "ab"))
    assert "end marker" in read.empty
    assert not read.dfa.accepts(())
    # One place, and three tables: nothing, a or b came last; none is behind a marker.
    assert (read.configurations, read.values) == (4, (3, 3))
    on_nothing = automaton_of_masked(replace(model, label=lambda row: row[0] == 0))
    assert on_nothing.dfa.accepts(())
    assert not on_nothing.dfa.accepts(("a",))
    for letters in all_words(2, 5):
        word = tuple("ab"[k] for k in letters)
        assert run_by_definition(model, word) == ((len(word), model.verdict((*letters, 2))),)
        assert read.dfa.accepts(word) == model.verdict((*letters, 2))
    assert run_by_definition(on_nothing_model := replace(model, label=lambda row: row[0] == 0), ()) == (
        (0, on_nothing_model.verdict((2,))),
    )


@pytest.mark.parametrize("head", [(">", "leftmost"), (">=", "rightmost"), ("all", "rightmost")])
def test_an_end_marker_is_seen_by_heads_that_look_to_the_right(head: tuple[str, str]) -> None:
    """Only the last letter has the marker right behind it; every letter has it behind it, further away."""
    model = Ended(
        lambda position, letter: (1, letter, 0),
        label=lambda row: row == (1, 1, 1),
        heads=((head,), (("<", "leftmost"),)),
        score=lambda layer, head, query, key: key[2],
        join=lambda layer, own, read: read[0] if layer else (1, own[1], int(read[0][1] == 2)),
        symbols=("a", "b", "$"),
    )
    read = automaton_of_masked(model)
    assert read.dfa == minimal(parse_regex("(a|b)*b" if head[0] == ">" else "b(a|b)*", "ab"))
    for letters in all_words(2, 6):
        word = tuple("ab"[k] for k in letters)
        assert read.dfa.accepts(word) == model.verdict((*letters, 2))
        assert run_by_definition(model, word) == ((len(word), model.verdict((*letters, 2))),)


def test_functions_may_write_into_what_they_are_handed() -> None:
    inner = Alternating()

    class Careless:
        symbols, places, layers, semantics = inner.symbols, inner.places, inner.layers, inner.semantics

        def embed(self, positions: Integers, symbols: Integers) -> Array:
            found = inner.embed(positions, symbols)
            positions += 5
            symbols[:] = 0
            return found

        def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
            found = inner.scores(layer, head, queries, keys).copy()
            keys[:] = 9
            return found

        def combine(self, layer: int, own: Array, attended: list[Array]) -> Array:
            own[:] = inner.combine(layer, own.copy(), attended)
            attended[0][:] = -3
            return own

        def labels(self, activations: Array) -> Any:
            found = inner.labels(activations)
            activations[:] = 1
            return 3 * found.astype(np.int64)

    careless: Any = Careless()
    assert automaton_of_masked(careless).dfa == automaton_of_masked(inner).dfa
    assert run_by_definition(careless, "abab") == run_by_definition(inner, "abab")


# What is refused ------------------------------------------------------------------------------------

PLAIN = ByRows(
    letter_and_one,
    label=lambda row: row[1] == 1,
    heads=((("<", "rightmost"),),),
    score=lambda layer, head, query, key: key[1],
    join=lambda layer, own, read: (1, own[1] + read[0][1]),
    kind=np.float64,
    scored_as=np.float64,
)


class Changed(ByRows):
    """The plain model with another function."""


def changed(**functions: Any) -> Any:
    base = Changed(**{name: getattr(PLAIN, name) for name in PLAIN.__dataclass_fields__})
    for name, function in functions.items():
        object.__setattr__(base, name, partial(function, PLAIN))
    return base


def drifting(by: str) -> Any:
    """One whose function `by` depends on what else is in the batch."""
    noise = np.random.default_rng(0)
    return {
        "embed": changed(embed=lambda own, i, s: own.embed(i, s) + len(s)),
        "scores by their place": changed(
            scores=lambda own, k, h, q, x: own.scores(k, h, q, x) * 0 + np.arange(len(x))
        ),
        "combine by the place": changed(
            combine=lambda own, k, y, b: own.combine(k, y, b) + np.arange(len(y))[:, None]
        ),
        "random scores": changed(scores=lambda own, k, h, q, x: noise.random((len(q), len(x)))),
        "combine": changed(combine=lambda own, k, y, b: own.combine(k, y, b) - y.mean(axis=0)),
        "labels": changed(labels=lambda own, y: y[:, 1] > y[:, 1].mean()),
        "types": changed(combine=lambda own, k, y, b: y if len(y) == 1 else y.astype(np.float32)),
    }[by]


DRIFTS = {
    "embed": "the embeddings of the model depend on what else is in the batch",
    "scores by their place": "the scores of the model depend on what else is in the batch",
    "combine by the place": "the activations of the model depend on what else is in the batch",
    "random scores": "the scores of the model depend on what else is in the batch",
    "combine": "the activations of the model depend on what else is in the batch",
    "labels": "the labels of the model depend on what else is in the batch",
    "types": "and in another batch",
}


@pytest.mark.parametrize("by", DRIFTS)
def test_functions_that_depend_on_the_batch_are_refused(by: str) -> None:
    with pytest.raises(UnsupportedError, match=DRIFTS[by]) as caught:
        automaton_of_masked(drifting(by))
    assert caught.value.details["function"] in {"embed", "scores", "combine", "labels"}


def test_scores_may_depend_on_the_batch_as_long_as_their_order_does_not() -> None:
    shifted = changed(scores=lambda own, k, h, q, x: own.scores(k, h, q, x) * len(x) - len(q))
    assert automaton_of_masked(shifted) == automaton_of_masked(PLAIN)


NOT_NUMBERS = {
    "embed": (changed(embed=lambda own, i, s: own.embed(i, s) * np.nan), "an activation is not a number"),
    "combine": (
        changed(combine=lambda own, k, y, b: own.combine(k, y, b) * np.nan),
        "an activation is not a",
    ),
    "scores": (changed(scores=lambda own, k, h, q, x: own.scores(k, h, q, x) * np.nan), "a score of layer 0"),
    "objects": (
        changed(scores=lambda own, k, h, q, x: np.full((len(q), len(x)), float("nan"), dtype=object)),
        "a score of layer 0, head 0 is not a number",
    ),
    "texts": (
        changed(scores=lambda own, k, h, q, x: np.full((len(q), len(x)), "b", dtype=object)),
        "a score is no number that can be compared, but a str",
    ),
    "complex": (changed(scores=lambda own, k, h, q, x: own.scores(k, h, q, x) * 1j), "is not a number"),
    "shape": (changed(scores=lambda own, k, h, q, x: np.zeros(len(x))), "have the shape"),
    "rows": (changed(combine=lambda own, k, y, b: y[:0]), "it must return an array of numbers with"),
    "list": (changed(combine=lambda own, k, y, b: y.tolist()), "not a list"),
    "object rows": (
        changed(embed=lambda own, i, s: own.embed(i, s).astype(object)),
        "must be arrays of numbers",
    ),
    "long rows": (changed(embed=lambda own, i, s: own.embed(i, s).astype(np.longdouble)), "mean nothing"),
    "logits": (changed(labels=lambda own, y: y[:, 1]), "truth values"),
    "column": (changed(labels=lambda own, y: y > 0), "truth values"),
}


@pytest.mark.parametrize("what", NOT_NUMBERS)
def test_results_that_are_no_such_numbers_are_refused(what: str) -> None:
    model, said = NOT_NUMBERS[what]
    with pytest.raises(UnsupportedError, match=said):
        automaton_of_masked(model)


def test_an_embedding_with_other_places_is_refused() -> None:
    harmonic = replace(PLAIN, embedded=lambda position, letter: (1, letter + 1 / position))
    with pytest.raises(UnsupportedError, match=r"position 2 is another than at 1.*such as 1/i"):
        automaton_of_masked(harmonic)
    third = replace(PLAIN, embedded=lambda position, letter: (1, position % 3), places=(0, 2))
    with pytest.raises(
        UnsupportedError, match="position 3 is another than at 1, though with the prefix 0 and"
    ):
        automaton_of_masked(third)
    late = replace(PLAIN, embedded=lambda position, letter: (1, position > 500_000))
    with pytest.raises(UnsupportedError, match="is another than at 1"):
        automaton_of_masked(late)
    assert automaton_of_masked(replace(third, places=(0, 6))).configurations > 6


WRONG_ATTRIBUTES = {
    "no 'scores'": object(),
    "symbols that are no tuple": replace(PLAIN, symbols="ab"),  # type: ignore[arg-type]
    "symbols that cannot be used": replace(PLAIN, symbols=("a", "a")),
    "places that are no pair": replace(PLAIN, places=(0, 1.0)),  # type: ignore[arg-type]
    "a period below 1": replace(PLAIN, places=(0, 0)),
    "9,000 places": replace(PLAIN, places=(0, 9_000)),
    "whose 'mask' is none of <=, <, >=, >, all": replace(PLAIN, heads=((("=", "leftmost"),),)),
    "whose 'choice' is neither": replace(PLAIN, heads=((("<", "average"),),)),
    "an 'at' that is neither first nor last": replace(PLAIN, at="middle"),
    "an 'at' that is first beside an end marker": Ended(
        letter_and_one, label=lambda row: True, symbols=("a", "$"), at="first"
    ),
    "an ending that is none": Ended(letter_and_one, label=lambda row: True),
    "semantics that are no text": replace(PLAIN, semantics=3),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("said", WRONG_ATTRIBUTES)
def test_attributes_that_no_model_has_are_refused(said: str) -> None:
    if said.startswith("no "):
        said = "no 'symbols'"
    with pytest.raises(UnsupportedError, match=said):
        automaton_of_masked(WRONG_ATTRIBUTES.get(said, object()))  # type: ignore[arg-type]


# Caps -----------------------------------------------------------------------------------------------


def large() -> ArrayModel:
    """A model with more than 20,000 configurations."""
    return ArrayModel(drawn(81, 3, (0, 3), floats=True))


def test_a_cap_on_configurations_ends_with_unknown() -> None:
    with pytest.raises(UnprovedError, match="more than 100 configurations") as caught:
        automaton_of_masked(large(), configurations=100)
    assert caught.value.details["configurations"] > 100
    with pytest.raises(UnprovedError, match="more than 1 configurations"):
        automaton_of_masked(replace(PLAIN, places=(0, 2)), configurations=1)
    assert automaton_of_masked(Alternating(), configurations=11).configurations == 11
    with pytest.raises(UnprovedError):
        automaton_of_masked(Alternating(), configurations=10)


def from_the_end(place: int) -> ByRows:
    """Read first: whether the letter at this place from the end is a b. Layer k marks place k."""

    def marked(layer: int, own: Row, read: list[Row]) -> Row:
        (behind,) = read
        if layer == place:
            return behind
        return (1, own[1], own[2] or (1 if behind[0] == 0 else behind[2] and behind[2] + 1))

    return ByRows(
        lambda position, letter: (1, letter, 0),
        label=lambda row: row[1:] == (1, place),
        heads=(((">", "leftmost"),),) * place + (((">=", "leftmost"),),),
        score=lambda layer, head, query, key: int(layer == place and key[2] == place),
        join=marked,
        at="first",
    )


def test_an_automaton_that_is_large_from_the_other_end_ends_with_unknown() -> None:
    assert len(require_by_rows(from_the_end(3)).dfa.moves) == 8
    read = automaton_of_masked(from_the_end(7), configurations=200)
    assert (len(read.dfa.moves), read.configurations) == (128, 79)
    with pytest.raises(
        UnprovedError, match="other end the automaton has over 100 states: give a greater limit"
    ):
        automaton_of_masked(from_the_end(7), configurations=100)


def test_a_cap_on_seconds_ends_with_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        UnprovedError,
        match=r"0 seconds were not enough \(configurations met: 1\): give more, as in seconds=60",
    ):
        automaton_of_masked(Alternating(), seconds=0)
    clock = iter(range(1_000))
    monkeypatch.setattr(budget, "monotonic", lambda: next(clock))
    with pytest.raises(UnprovedError, match=r"60 seconds were not enough \(configurations met: [0-9,]+\)"):
        automaton_of_masked(large())


SIXTY = tuple(f"s{k}" for k in range(60))

BOTH_WAYS = replace(
    PLAIN, symbols=SIXTY[:20], heads=((("<", "rightmost"), (">", "rightmost")), (("<", "rightmost"),))
)

TOO_LARGE = {
    "embeddings at all places": (1_700, replace(PLAIN, places=(7, 2))),
    "tables of the heads": (1_900, large()),
    "orders of the keys of layer 0": (
        13_000,
        replace(PLAIN, symbols=SIXTY, score=lambda layer, head, query, key: (query[1] + key[1]) % 60),
    ),
    "pairs of states of layer 0": (60_000, BOTH_WAYS),
    "activations behind layer 0": (3_500, replace(PLAIN, join=lambda layer, own, read: own * 300)),
}


@pytest.mark.parametrize("what", TOO_LARGE)
def test_caps_on_memory_end_with_unknown(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    size, model = TOO_LARGE[what]
    monkeypatch.setattr(budget, "MOST_BYTES", size)
    with pytest.raises(UnprovedError, match=f"the {what} take more than 0 megabytes"):
        automaton_of_masked(model)
    monkeypatch.setattr(budget, "MOST_BYTES", 100 * size)
    with pytest.raises(UnprovedError, match=r"more than [0-9,]+ configurations"):
        automaton_of_masked(model, configurations=3)


@pytest.mark.parametrize(
    "caps", [{"configurations": 0}, {"configurations": True}, {"seconds": -1}, {"seconds": float("nan")}]
)
def test_numbers_that_are_no_caps(caps: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(caps))):
        automaton_of_masked(Alternating(), **caps)
