"""Refutations that were found, changed in one thing: they are not proved, or all words show they are true.

What a refutation says is found out here by the definition alone, on every word that it is about. There is
no third class: nothing false is proved.
"""

from __future__ import annotations

import copy
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import attemper
from attemper.checker.verdict import Status
from attemper.errors import MalformedFileError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Alphabet, Word
from attemper.models.arrays import Array, Integers
from attemper.models.hard.encoders import EncoderModel, read_encoder
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel, answer
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target
from attemper.theories.refutation.check.claims import OURS, check_refutation, mismatches
from attemper.theories.refutation.search.named import refute, target_of
from tests.support.drawn.hard_examples import (
    FirstMismatch,
    NearestOneChain,
    PrefixXor,
    RandomWeights,
    ScatteredPositions,
)
from tests.support.slowly import every_nth

BRACKETS = ("(", ")", "[", "]", "$")


# --- refutations of small models -------------------------------------------------------------------------


def network(formula: str, length: int) -> NetworkModel:
    model = attemper.compile(formula, "ab", at="last")
    return NetworkModel(model.network, length, model.digest)


def encoder(length: int) -> EncoderModel:
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(4, 2, dim_feedforward=6, dropout=0.0, batch_first=True)
    layers = torch.nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
    positions, readout = torch.randn(length, 4), torch.nn.Linear(4, 1).requires_grad_(False)
    return read_encoder(layers, torch.nn.Embedding(3, 4), positions, readout, ("0", "1", "$"), "$")


def other_encoder(length: int) -> EncoderModel:
    model = encoder(length)
    readout = model.weights.readout.copy()
    readout[0, 0] += 0.5
    return replace(model, weights=replace(model.weights, readout=readout))


@dataclass(frozen=True)
class Case:
    """How to make a model and others that differ in one weight, seed or constant, and a language."""

    model: Callable[[], HardModel]
    others: tuple[Callable[[], HardModel], ...]
    language: str


def case_of(model: HardModel, language: str, *changes: dict[str, object]) -> Case:
    others = tuple(lambda change=change: replace(model, **change) for change in changes)  # type: ignore[misc]
    return Case(lambda: model, others, language)


CASES = {
    "tables": case_of(RandomTables(12, (1,)), "parity", {"seed": 1}, {"levels": 2}),
    "two layers": case_of(RandomTables(11, (1, 1), seed=1), "parity", {"seed": 2}, {"values": 2}),
    "ties": case_of(RandomTables(13, (2,), 2, levels=3, values=4), "dyck1", {"seed": 3}, {"levels": 4}),
    "unmarked": case_of(
        RandomTables(9, (1, 1), 5, levels=2, symbols=("a", "b"), ending=None), "parity", {"seed": 6}
    ),
    "two brackets": case_of(RandomTables(13, (1,), 7, symbols=BRACKETS), "dyck2", {"seed": 8}),
    "weights": case_of(RandomWeights(12, (1,), 1), "parity", {"seed": 2}, {"grid": 0.25}),
    "grid": case_of(RandomWeights(10, (2,), 2, grid=0.5), "parity", {"seed": 3}, {"grid": 0.75}),
    "blocks": case_of(RandomWeights(11, (1,), 4), "anbn", {"seed": 5}),
    "prefix": case_of(PrefixXor(14, 2), "parity", {"layers": 3}, {"layers": 1}),
    "chain": case_of(NearestOneChain(11, 2), "parity", {"layers": 1}),
    "scattered": case_of(ScatteredPositions(10, 1), "parity", {"prime": 997}, {"layers": 2}),
    "mismatch": case_of(FirstMismatch(11, (1,) * 10), "parity", {"expected": (1, 0) * 5}, {"expected": ()}),
    "network": Case(
        lambda: network("a S b", 9),
        (lambda: network("O b", 9), lambda: network("a S (b & Y a)", 9)),
        "parity",
    ),
    "encoder": Case(lambda: encoder(10), (lambda: other_encoder(10),), "parity"),
}


@lru_cache
def model_of(name: str) -> HardModel:
    return CASES[name].model()


@lru_cache
def found(name: str) -> Refutation:
    model = model_of(name)
    refutation = refute(model, target_of(f"zoo:{CASES[name].language}", model), seconds=20).refutation
    assert refutation is not None
    return refutation


# --- the truth about them, by the definition -------------------------------------------------------------


class Truth:
    """What a model says of words, remembered."""

    def __init__(self, model: HardModel) -> None:
        self.model = model
        self.known: dict[tuple[int, ...], bool] = {}

    def answer(self, word: tuple[int, ...]) -> bool:
        if word not in self.known:
            self.known[word] = answer(self.model, np.array(word, dtype=np.int64))
        return self.known[word]

    def holds(self, refutation: Refutation) -> bool:
        """Whether all that the refutation says is true."""
        model, words = self.model, list(product(*refutation.restriction.allowed))
        if (refutation.digest, refutation.symbols, refutation.ending) != (
            model.digest,
            model.symbols,
            model.ending,
        ):
            return False
        if any(not is_input(model, word) for word in words):
            return False
        marker = () if model.ending is None else (model.ending,)
        for named, wanted in ((refutation.member, True), (refutation.stranger, False)):
            if any(symbol not in model.symbols for symbol in named):
                return False
            word = tuple(model.symbols.index(symbol) for symbol in (*named, *marker))
            if word not in words or self.answer(word) != refutation.answer:
                return False
            if is_member(refutation.language, named) != wanted:
                return False
        said: dict[tuple[int, ...], set[bool]] = {}
        for word in words:
            said.setdefault(tuple(word[i - 1] for i in refutation.decided_by), set()).add(self.answer(word))
        if not refutation.decided_by:
            return said == {(): {refutation.answer}}
        return all(len(answers) == 1 for answers in said.values())


def is_input(model: HardModel, word: Sequence[int]) -> bool:
    """Whether it has the model's length, and the end marker at its end only."""
    marked = [model.symbols[s] == model.ending for s in word]
    return len(word) == model.length and not any(marked[:-1]) and marked[-1] is (model.ending is not None)


def is_member(language: Target, word: Word) -> bool:
    """Membership in other words than those of `certificate.targets`."""
    if isinstance(language, Dyck):
        inner = "\n".join(word)
        brackets = ["\n".join(pair) for pair in language.pairs]
        while any(pair in inner for pair in brackets):
            for pair in brackets:
                inner = "\n".join(part for part in inner.replace(pair, "\n").split("\n") if part)
        return not inner
    if isinstance(language, Blocks):
        m = len(word) // 2
        return len(word) == 2 * m and all(
            word[i] == (language.first, language.second)[i >= m] for i in range(2 * m)
        )
    state = language.start
    for symbol in word:
        if symbol not in language.alphabet.symbols:
            return False
        state = language.moves[state][language.alphabet.symbols.index(symbol)]
    return state in language.accepting


def test_membership_is_what_it_is_known_to_be() -> None:
    dyck, blocks = Dyck((("(", ")"), ("[", "]"))), Blocks("a", "b")
    assert [n for n in range(7) for w in product("([])", repeat=n) if is_member(dyck, w)] == (
        [0] + [2] * 2 + [4] * 8 + [6] * 40
    )
    assert [w for n in range(5) for w in product("ab", repeat=n) if is_member(blocks, w)] == [
        (),
        ("a", "b"),
        ("a", "a", "b", "b"),
    ]


@lru_cache
def truth_of(name: str) -> Truth:
    return Truth(model_of(name))


# --- mutants ---------------------------------------------------------------------------------------------

Mutants = Iterator[tuple[str, Refutation]]


def with_position(refutation: Refutation, position: int, allowed: tuple[int, ...]) -> Refutation:
    positions = list(refutation.restriction.allowed)
    positions[position - 1] = allowed
    return replace(refutation, restriction=Restriction(tuple(positions)))


def with_symbol(word: Word, i: int, symbol: str) -> Word:
    return (*word[:i], symbol, *word[i + 1 :])


def restriction_mutants(refutation: Refutation) -> Mutants:
    marker = None if refutation.ending is None else refutation.symbols.index(refutation.ending)
    inner = tuple(s for s in range(len(refutation.symbols)) if s != marker)
    allowed = refutation.restriction.allowed
    for position, some in enumerate(allowed, start=1):
        if some == (marker,):
            yield "marker freed", with_position(refutation, position, tuple(range(len(refutation.symbols))))
            yield "marker replaced", with_position(refutation, position, (inner[0],))
            continue
        if len(some) == 1:
            yield "freed", with_position(refutation, position, inner)
            yield "fixed otherwise", with_position(refutation, position, tuple({*inner} - {*some})[:1])
        else:
            for symbol in inner:
                yield "free position fixed", with_position(refutation, position, (symbol,))
        if marker is not None:
            yield "marker inside", with_position(refutation, position, tuple(sorted({*some, marker})))
    for change in (allowed[1:], allowed[:-1], (*allowed, allowed[-1]), (allowed[0], *allowed), allowed[::-1]):
        if change != allowed:  # it may read the same backwards
            yield "positions moved", replace(refutation, restriction=Restriction(change))


def word_mutants(refutation: Refutation) -> Mutants:
    member, stranger = refutation.member, refutation.stranger
    for i in range(len(member)):
        for symbol in refutation.symbols:
            if symbol != member[i]:
                yield "symbol of the member", replace(refutation, member=with_symbol(member, i, symbol))
            if symbol != stranger[i]:
                yield "symbol of the stranger", replace(refutation, stranger=with_symbol(stranger, i, symbol))
    yield "words swapped", replace(refutation, member=stranger, stranger=member)
    yield "one word twice", replace(refutation, stranger=member)
    yield "one word twice", replace(refutation, member=stranger)
    for word in ((), member[1:], (*member, member[0]), ("?",) * len(member)):
        yield "other length or symbols", replace(refutation, member=word)
        yield "other length or symbols", replace(refutation, stranger=word)
    yield "answer flipped", replace(refutation, answer=not refutation.answer)


def other_languages(language: Target, symbols: Sequence[str]) -> list[Target]:
    first, second = symbols[:2]
    alphabet = Alphabet((first, second))
    complement = (
        [replace(language, accepting=frozenset(range(len(language.moves))) - language.accepting)]
        if (isinstance(language, Dfa))
        else []
    )
    languages: list[Target] = [
        *complement,
        Dfa(alphabet, ((0, 1), (1, 0)), 0, frozenset({0})),
        Dfa(alphabet, ((0, 1), (1, 0)), 0, frozenset({1})),
        Dfa(alphabet, ((1, 0), (0, 1)), 0, frozenset({0})),
        Dfa(alphabet, ((0, 1), (1, 1)), 0, frozenset({0})),
        Dfa(alphabet, ((0, 0),), 0, frozenset({0})),
        Dfa(alphabet, ((0, 1), (0, 1)), 0, frozenset({1})),
        Dfa(Alphabet(("x", "y")), ((0, 1), (1, 0)), 0, frozenset({0})),
        Dyck(((first, second),)),
        Dyck(((second, first),)),
        Blocks(first, second),
        Blocks(second, first),
    ]
    return [other for other in languages if other != language]


def other_mutants(refutation: Refutation) -> Mutants:
    free = refutation.restriction.free
    for position in range(1, len(refutation.restriction.allowed) + 1):
        yield "decided by", replace(refutation, decided_by=(position,))
    yield "decided by", replace(refutation, decided_by=free[:4])
    yield "decided by", replace(refutation, decided_by=free[-2:])
    for language in other_languages(refutation.language, refutation.symbols):
        yield "language", replace(refutation, language=language)
    yield "digest", replace(refutation, digest=refutation.digest[::-1])
    yield "digest", replace(refutation, digest="")
    yield "source", replace(refutation, source="elsewhere")
    yield "semantics", replace(refutation, semantics="elsewhere")
    yield "symbols", replace(refutation, symbols=refutation.symbols[::-1])
    yield "symbols", replace(refutation, symbols=(*refutation.symbols, "?"))
    yield "ending", replace(refutation, ending=refutation.symbols[0])
    yield "ending", replace(refutation, ending=None if refutation.ending is not None else "?")


def two_changes(refutation: Refutation) -> Mutants:
    """A freed position together with a change that might make up for it."""
    for name, freed in restriction_mutants(refutation):
        if name == "freed":
            for position in freed.restriction.free[::3]:
                yield "freed, decided by", replace(freed, decided_by=(position,))
            yield "freed, flipped", replace(freed, answer=not freed.answer)


class Fate(StrEnum):
    NOT_PROVED = "not proved"
    TRUE = "proved, and true"
    FALSE = "proved, and false"


def fate(refutation: Refutation, truth: Truth) -> Fate:
    proved = {Status.PROVED, Status.PROVED_UNDER_ASSUMPTIONS}
    if check_refutation(refutation, truth.model).status not in proved:
        return Fate.NOT_PROVED
    return Fate.TRUE if truth.holds(refutation) else Fate.FALSE


NEVER_PROVED = {
    "marker freed",
    "marker replaced",
    "marker inside",
    "other length or symbols",
    "words swapped",
    "one word twice",
    "answer flipped",
    "freed, flipped",
    "digest",
    "semantics",
    "symbols",
    "ending",
    "another model",
}


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", CASES)
def test_what_was_found_is_proved_and_true(name: str) -> None:
    refutation, truth = found(name), truth_of(name)
    assert len(refutation.restriction.free) >= 2
    assert 9 <= truth.model.length <= 14
    verdict = check_refutation(refutation, truth.model)
    ours = type(truth.model).__module__.startswith(OURS)
    expected = Status.PROVED if ours else Status.PROVED_UNDER_ASSUMPTIONS
    assert verdict.status is expected, verdict.claims
    assert all("the leftmost of the best scores" in claim.arithmetic for claim in verdict.claims)
    assert truth.holds(refutation)


@pytest.mark.sweep(1, also=["mismatch"])
@pytest.mark.parametrize("name", CASES)
def test_a_refutation_changed_in_one_thing_is_not_proved_or_true(name: str) -> None:
    refutation, truth = found(name), truth_of(name)
    fates: Counter[tuple[str, Fate]] = Counter()
    for mutants in (restriction_mutants, word_mutants, other_mutants, two_changes):
        for kind, mutant in mutants(refutation):
            assert mutant != refutation
            result = fate(mutant, truth)
            assert result is not Fate.FALSE, (kind, mutant)
            fates[kind, result] += 1
    assert not [kind for kind, result in fates if kind in NEVER_PROVED and result is Fate.TRUE]
    assert fates["source", Fate.TRUE] == 1
    assert fates["free position fixed", Fate.TRUE] > 0, "what fixes more is true of the words that it allows"
    assert sum(count for (_, result), count in fates.items() if result is Fate.NOT_PROVED) >= 50, fates


@pytest.mark.sweep(3)
@pytest.mark.parametrize("name", CASES)
def test_a_refutation_of_one_model_says_nothing_of_another(name: str) -> None:
    refutation = found(name)
    for make in CASES[name].others:
        truth = Truth(make())
        assert truth.model.digest != refutation.digest
        verdict = check_refutation(refutation, truth.model)
        assert verdict.status is Status.MALFORMED
        assert "another model" in verdict.claims[0].text
        renamed = replace(refutation, digest=truth.model.digest)
        for mutant in (renamed, replace(renamed, answer=not renamed.answer)):
            assert fate(mutant, truth) is not Fate.FALSE, mutant


def test_some_answers_depend_on_what_is_said_and_on_nothing_else() -> None:
    """The parity of the last four symbols, the end marker among them: three positions decide."""
    model = PrefixXor(12, 2)
    restriction = Restriction((*[(0, 1)] * 11, (2,)))
    language = target_of("zoo:parity", model)
    member, stranger = ("0",) * 11, ("1", *["0"] * 10)
    truth = Truth(model)
    deciding = [i for i in range(1, 12) if truth.answer((*[0] * 11, 2)) != truth.answer(flipped(i))]
    assert deciding == [9, 10, 11]

    def claimed(positions: tuple[int, ...]) -> Refutation:
        return Refutation(
            model.digest,
            "",
            model.semantics,
            model.symbols,
            "$",
            restriction,
            positions,
            language,
            member,
            stranger,
            answer=True,
        )

    for size in range(5):
        for positions in ((9, 10, 11, 1)[:size], (3, 9, 11, 10)[:size]):
            result = fate(claimed(positions), truth)
            assert result is (Fate.TRUE if {9, 10, 11} <= set(positions) else Fate.NOT_PROVED)
    assert check_refutation(claimed((9, 10, 11)), model, most=10).status is Status.UNKNOWN
    # All free positions may decide, too.
    few = replace(claimed((9, 10, 11)), restriction=Restriction((*[(0,)] * 8, *[(0, 1)] * 3, (2,))))
    assert not [*mismatches(few, model)]
    assert [*mismatches(replace(few, decided_by=(8, 9, 10, 11)), model)]


def flipped(position: int) -> tuple[int, ...]:
    return (*(int(i == position) for i in range(1, 12)), 2)


# --- models that deceive ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class FirstSymbol:
    """Accepts the words whose first symbol is a b: position n reads position 1. `trick` spoils that.

    With the objects it is an a, and with the NaN the second symbol counts if neither end is a b. The other
    tricks are seen in batches of some sizes only.
    """

    trick: str = ""
    length: int = 5
    symbols: tuple[str, ...] = ("a", "b")
    ending: str | None = None
    heads: tuple[int, ...] = (1,)

    semantics: str = "for tests"

    @property
    def digest(self) -> str:
        return f"first symbol {self.trick}"

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        if self.trick == "embed" and len(positions) > self.length:
            symbols = np.zeros_like(symbols)
        rows = np.stack([positions, symbols], axis=1).astype(object if self.trick == "objects" else float)
        if self.trick == "zeros":
            rows[:, 1] = np.where(symbols == 1, -0.0, 0.0)
        if self.trick == "objects":
            rows[:, 1] = [1 if symbol == 1 else True for symbol in symbols]
        return rows

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        spoilt = {
            "keys": len(keys) > self.length,
            "queries": 1 < len(queries) < self.length,
            "lone queries": len(queries) == 1,
            "nan": True,
        }
        wanted = 2 if spoilt.get(self.trick, False) else 1
        found = np.broadcast_to(np.where(keys[None, :, 0] == wanted, 1.0, 0.0), (len(queries), len(keys)))
        ends = (queries[:, None, 1] == 1) & (keys[None, :, 1] == 1) & (keys[None, :, 0] == 1)
        return np.where(ends, np.nan, found) if self.trick == "nan" else found

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        after = np.stack([own[:, 0], attended[0][:, 1]], axis=1)
        spoilt = {"combine": len(own) not in (1, self.length), "lone rows": len(own) == 1}
        if spoilt.get(self.trick, False):
            after[:, 1] = 0
        return after

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        if self.trick == "zeros":
            return np.asarray(np.signbit(activations[:, 1]), dtype=np.bool_)
        if self.trick == "objects":
            return np.array([value is True for value in activations[:, 1]], dtype=np.bool_)
        accepted = np.asarray(activations[:, 1] == 1, dtype=np.bool_)
        return accepted & (len(activations) == 1) if self.trick == "labels" else accepted


def claim_of(model: HardModel, allowed: Sequence[tuple[int, ...]], first: str = "a") -> Refutation:
    """That all words are rejected, one with evenly many b and one with an odd number of them."""
    parity = Dfa(Alphabet(("a", "b")), ((0, 1), (1, 0)), 0, frozenset({0}))
    words = [(first, "a", third, "a", "a") for third in ("a", "b")]
    member, stranger = words if first == "a" else words[::-1]
    restriction = Restriction(tuple(allowed))
    return Refutation(
        model.digest,
        "",
        model.semantics,
        ("a", "b"),
        None,
        restriction,
        (),
        parity,
        member,
        stranger,
        answer=False,
    )


ALL = ((0, 1), (0,), (0, 1), (0, 1), (0, 1))


def test_somebody_elses_model_is_refuted_under_an_assumption() -> None:
    model = FirstSymbol()
    verdict = check_refutation(claim_of(model, ((0,), *ALL[1:])), model)
    assert verdict.status is Status.PROVED_UNDER_ASSUMPTIONS
    assert all("does not depend" in a or "do not depend" in a for c in verdict.claims for a in c.assumptions)
    assert all(claim.assumptions for claim in verdict.claims)


def test_the_honest_model_is_refuted_only_with_its_first_symbol_fixed() -> None:
    model = FirstSymbol()
    assert fate(claim_of(model, ALL), Truth(model)) is Fate.NOT_PROVED
    assert fate(claim_of(model, ((0,), *ALL[1:])), Truth(model)) is Fate.TRUE


@pytest.mark.parametrize("trick", ["lone queries", "lone rows"])
def test_a_model_whose_functions_depend_on_the_batch_is_malformed(trick: str) -> None:
    verdict = check_refutation(claim_of(FirstSymbol(trick), ALL), FirstSymbol(trick))
    assert verdict.status is Status.MALFORMED
    (claim,) = verdict.claims
    assert "of the model depend on what else is in the batch" in claim.text
    assert "take sums in a fixed order, as 'attemper.models.hard.protocol.dot' does" in claim.text


TRICKS = ("zeros", "objects", "nan", "embed", "keys", "queries", "combine", "labels")


def tricked(trick: str) -> tuple[Refutation, Truth]:
    model = FirstSymbol(trick)
    return claim_of(model, ALL, "b" if trick == "objects" else "a"), Truth(model)


@pytest.mark.parametrize("trick", ["embed", "keys", "queries", "combine", "labels"])
def test_what_is_claimed_of_the_models_with_tricks_is_true_of_two_words_only(trick: str) -> None:
    claim, truth = tricked(trick)
    words = tuple(zip(claim.member, claim.stranger, strict=True))
    only = Restriction(tuple(tuple(sorted({"ab".index(s) for s in pair})) for pair in words))
    assert truth.holds(replace(claim, restriction=only))
    assert not truth.holds(claim)


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_makes_a_false_claim_proved(trick: str) -> None:
    """-0.0 counts as 0.0 by definition; the other models are no models at all."""
    claim, truth = tricked(trick)
    assert fate(claim, truth) is (Fate.TRUE if trick == "zeros" else Fate.NOT_PROVED)


@dataclass(frozen=True)
class Blas:
    """Random weights, multiplied as numpy does it: the order of the sums depends on the sizes."""

    length: int = 33
    width: int = 48
    symbols: tuple[str, ...] = ("0", "1", "$")
    ending: str | None = "$"
    heads: tuple[int, ...] = (1,)
    digest: str = "blas"
    semantics: str = "float64, as it comes"

    def weights(self, number: int, rows: int) -> NDArray[np.float64]:
        return np.random.default_rng(number).standard_normal((rows, self.width))

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        return np.asarray(self.weights(0, self.length)[positions - 1] + self.weights(1, 3)[symbols])

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        return np.asarray(queries @ self.weights(2, self.width) @ keys.T)

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        return np.asarray(own + attended[0] @ self.weights(3, self.width))

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        return np.asarray(activations[:, 0] > 0)


def test_a_model_that_multiplies_matrices_as_numpy_does_is_malformed() -> None:
    model = Blas()
    left, right = model.weights(4, model.length), model.weights(3, model.width)
    alone = np.concatenate([left[[row]] @ right for row in range(model.length)])
    if (alone == left @ right).all():
        pytest.skip("this machine's matrix products do not depend on the batch")
    language = target_of("zoo:parity", model)
    member = ("0",) * 32
    restriction = Restriction((*[(0,)] * 31, (0, 1), (2,)))
    claim = Refutation(
        "blas",
        "",
        model.semantics,
        model.symbols,
        "$",
        restriction,
        (),
        language,
        member,
        (*member[1:], "1"),
        answer=True,
    )
    verdict = check_refutation(claim, model)
    assert verdict.status is Status.MALFORMED
    assert "of the model depend on what else is in the batch" in verdict.claims[0].text
    assert "attemper.models.hard.protocol.dot" in verdict.claims[0].text


# --- files -----------------------------------------------------------------------------------------------

SYMBOLS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=3)
LETTERS = st.sampled_from("abcxyz()[]01é→")


@st.composite
def languages(draw: st.DrawFn) -> Target:
    kind = draw(st.sampled_from(("dfa", "dyck", "blocks")))
    if kind == "blocks":
        first, second = draw(st.lists(SYMBOLS, min_size=2, max_size=2, unique=True))
        return Blocks(first, second)
    if kind == "dyck":
        flat = draw(st.lists(SYMBOLS, min_size=2, max_size=6, unique=True))
        return Dyck(tuple(zip(flat[::2], flat[1::2], strict=False)))
    letters = tuple(draw(st.lists(LETTERS, min_size=1, max_size=3, unique=True)))
    count = draw(st.integers(1, 4))
    states = st.integers(0, count - 1)
    row = st.tuples(*[states] * len(letters))
    moves = tuple(draw(st.lists(row, min_size=count, max_size=count)))
    return Dfa(Alphabet(letters), moves, draw(states), draw(st.frozensets(states)))


@st.composite
def refutations(draw: st.DrawFn) -> Refutation:
    symbols = tuple(draw(st.lists(SYMBOLS, min_size=1, max_size=4, unique=True)))
    some = st.sets(st.integers(0, len(symbols) - 1), min_size=1).map(lambda found: tuple(sorted(found)))
    allowed = tuple(draw(st.lists(some, min_size=1, max_size=6)))
    positions = st.lists(st.integers(1, len(allowed)), unique=True, max_size=3).map(tuple)
    ending = draw(st.none() | st.sampled_from(symbols))
    size = len(allowed) - (ending is not None)
    word = st.lists(SYMBOLS, min_size=size, max_size=size).map(tuple)
    return Refutation(
        draw(st.text(st.characters(codec="utf-8"))),
        draw(st.text(st.characters(codec="utf-8"))),
        draw(st.text(st.characters(codec="utf-8"))),
        symbols,
        ending,
        Restriction(allowed),
        draw(positions),
        draw(languages()),
        draw(word),
        draw(word),
        draw(st.booleans()),
    )


@given(refutations())
def test_refutations_are_read_back_as_they_were(refutation: Refutation) -> None:
    assert REFUTATION.decode(REFUTATION.encode(refutation)) == refutation
    assert REFUTATION.decode(json.loads(json.dumps(REFUTATION.encode(refutation)))) == refutation


@pytest.mark.sweep(0)
def test_files_are_read_back_as_they_were(tmp_path: Path) -> None:
    for name in CASES:
        path = tmp_path / f"{name}.json"
        REFUTATION.save(found(name), path)
        assert REFUTATION.load(path) == found(name)
        assert fate(REFUTATION.load(path), truth_of(name)) is Fate.TRUE


JUNK: tuple[object, ...] = (
    None,
    True,
    False,
    -1,
    0,
    1,
    7,
    10**30,
    0.0,
    1.0,
    float("nan"),
    "",
    "0",
    "$",
    "\ud800",
    [],
    [0],
    [[]],
    [1, 0],
    [0, 1],
    ["0", "1"],
    {},
    ["dyck", [["0", "1"]]],
    ["blocks", "0", "1"],
)

Path_ = tuple[str | int, ...]


def paths_in(data: object) -> Iterator[Path_]:
    """Where there is anything in JSON data."""
    entries = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, inside in entries:
        yield (key,)
        yield from ((key, *path) for path in paths_in(inside))


def changed(data: object, path: Path_, change: Callable[[object, str | int], None]) -> object:
    """A copy in which something has been done to the entry at the path."""
    result = copy.deepcopy(data)
    inside = result
    for key in path[:-1]:
        inside = inside[key]  # type: ignore[index]
    change(inside, path[-1])
    return result


def fuzzed(data: object, each: int) -> Iterator[object]:
    """The data with one entry deleted, doubled or replaced (in so many ways), anywhere."""
    draw = random.Random(0)
    for path in paths_in(data):
        yield changed(data, path, lambda inside, key: inside.__delitem__(key))  # type: ignore[attr-defined]
        if isinstance(path[-1], int):
            yield changed(data, path, lambda inside, key: inside.insert(key, inside[key]))  # type: ignore[attr-defined]
        else:
            yield changed(data, path, lambda inside, key: inside.__setitem__("more", inside[key]))  # type: ignore[attr-defined]
        for junk in draw.sample(JUNK, each):
            yield changed(data, path, lambda inside, key, junk=junk: inside.__setitem__(key, junk))  # type: ignore[misc,attr-defined]


def loaded(path: Path) -> Refutation | None:
    """None for a malformed file; any other exception is an error of the test."""
    try:
        return REFUTATION.load(path)
    except MalformedFileError:
        return None


def fates_of_files(name: str, path: Path, each: int) -> Counter[str]:
    truth, read = truth_of(name), Counter[str]()
    for data in fuzzed(REFUTATION.encode(found(name)), each):
        path.write_text(json.dumps(data), encoding="utf-8")
        refutation = loaded(path)
        result = "malformed" if refutation is None else fate(refutation, truth)
        assert result is not Fate.FALSE, data
        read[result] += 1
    return read


FILES = ("unmarked", "two brackets", "blocks")


@pytest.mark.sweep(0)
@pytest.mark.parametrize("name", every_nth(FILES, 2))
def test_a_file_with_a_wrong_entry_is_malformed_or_not_proved_or_true(name: str, tmp_path: Path) -> None:
    read = fates_of_files(name, tmp_path / "fuzzed.json", 8)
    assert read["malformed"] > read[Fate.NOT_PROVED] > 0, read
    assert read[Fate.TRUE] > 0, read


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_file_with_any_wrong_entry_is_malformed_or_not_proved_or_true(name: str, tmp_path: Path) -> None:
    read = fates_of_files(name, tmp_path / "fuzzed.json", len(JUNK))
    assert read["malformed"] > read[Fate.NOT_PROVED] > 0, read


def test_a_file_that_is_cut_off_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    REFUTATION.save(found("unmarked"), path)
    whole = path.read_bytes().rstrip()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(MalformedFileError):
            REFUTATION.load(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"null", b"[]", b"{}", b"0", b'"x"', b"[" * 100_000, b"9" * 5_000, b'{"a":' * 50_000],
    ids=range(10),
)
def test_other_files_are_malformed(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(content)
    with pytest.raises(MalformedFileError, match="is not a refutation"):
        REFUTATION.load(path)


def test_a_file_that_is_no_file_is_malformed(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.json"):
        with pytest.raises(MalformedFileError):
            REFUTATION.load(path)
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(MalformedFileError):
        REFUTATION.save(found("unmarked"), tmp_path / "file" / "below.json")


def _language(*entries: object) -> dict[str, object]:
    return {"language": list(entries)}


TAGS = 'language: expected one of ["dfa", ...], ["dyck", ...], ["blocks", ...]'

WRONG: dict[str, tuple[dict[str, object], str]] = {
    "another version": ({"format": "attemper-refutation/3"}, "it is not of the format attemper-refutation/2"),
    "an older version": ({"format": "attemper-refutation/1"}, "it was made by an older attemper"),
    "an entry too many": ({"note": ""}, "the entry 'note' is unknown"),
    "a symbol twice": ({"symbols": ["a", "b", "a"]}, "its symbols are not distinct"),
    "no symbols": ({"symbols": []}, "a number that is none of its 0 symbols"),
    "symbols in one text": ({"symbols": "ab"}, "symbols: expected a list, not 'ab'"),
    "an unknown end marker": ({"ending": "$"}, "or lack the end marker"),
    "a number as an answer": ({"answer": 1}, "answer: expected true or false, not 1"),
    "no answer": ({"answer": None}, "answer: expected true or false, not None"),
    "no positions": ({"restriction": []}, "its restriction has 0 positions, and its words do not fit"),
    "a position without symbols": (
        {"restriction": [[]] * 9},
        "restriction: position 1 must have some symbols",
    ),
    "descending symbols": ({"restriction": [[1, 0]] * 9}, "restriction: position 1 must have some symbols"),
    "a symbol twice at a position": ({"restriction": [[0, 0]] * 9}, "each once, in ascending order"),
    "an unknown symbol": ({"restriction": [[2]] * 9}, "a number that is none of its 2 symbols"),
    "a negative symbol": ({"restriction": [[-1, 0]] * 9}, "restriction[0][0]: expected an integer from 0"),
    "a bool as a symbol": ({"restriction": [[False, True]] * 9}, "restriction[0][0]: expected an integer"),
    "a float as a symbol": ({"restriction": [[0.0]] * 9}, "restriction[0][0]: expected an integer"),
    "position 0": ({"decided_by": [0]}, "decided_by[0]: expected an integer from 1, not 0"),
    "position n + 1": ({"decided_by": [10]}, "'decided_by' must list positions from 1, each once"),
    "a negative position": ({"decided_by": [-1]}, "decided_by[0]: expected an integer from 1, not -1"),
    "a position twice": ({"decided_by": [2, 2]}, "'decided_by' must list positions from 1, each once"),
    "a bool as a position": ({"decided_by": [True]}, "decided_by[0]: expected an integer from 1, not True"),
    "a word as a text": ({"member": "abababab"}, "member: expected a list, not 'abababab'"),
    "a word with numbers": ({"stranger": [0, 1, 0, 1]}, "stranger[0]: expected a text, not 0"),
    "a shorter word": ({"stranger": ["a", "b"]}, "and its words do not fit"),
    "no language": ({"language": {}}, TAGS),
    "a named language": ({"language": "parity"}, TAGS),
    "two languages": (_language(["dyck", [["a", "b"]]], ["blocks", "a", "b"]), TAGS),
    "an unknown language": (_language("parity", ["a", "b"]), TAGS),
    "no brackets": (_language("dyck", []), "language: brackets must be pairs of different symbols"),
    "a bracket alone": (_language("dyck", [["a"]]), "language.pairs[0]: expected a list of 2 entries"),
    "a bracket that closes itself": (_language("dyck", [["a", "a"]]), "pairs of different symbols"),
    "a bracket in two pairs": (_language("dyck", [["a", "b"], ["b", "c"]]), "pairs of different symbols"),
    "equal blocks": (_language("blocks", "a", "a"), "language: blocks are of two symbols that differ"),
    "one block": (_language("blocks", "a"), 'language: after "blocks" stands first, second'),
    "an automaton without states": (
        _language("dfa", ["a"], [], 0, []),
        "language: the start or an accepting state is none of the states",
    ),
    "an automaton without symbols": (
        _language("dfa", [], [[]], 0, []),
        "language.alphabet: an alphabet needs at least one symbol",
    ),
    "a move to nowhere": (
        _language("dfa", ["a"], [[1]], 0, []),
        "language: state 0 must have one move to a state",
    ),
    "a negative move": (
        _language("dfa", ["a"], [[-1]], 0, []),
        "language.moves[0][0]: expected an integer from 0",
    ),
    "too few moves": (
        _language("dfa", ["a", "b"], [[0]], 0, []),
        "language: state 0 must have one move to a state for each of 2 symbols",
    ),
    "too many moves": (
        _language("dfa", ["a"], [[0, 0]], 0, []),
        "language: state 0 must have one move to a state for each of 1",
    ),
    "a start nowhere": (
        _language("dfa", ["a"], [[0]], 1, []),
        "language: the start or an accepting state is none of the states",
    ),
    "a bool as a start": (
        _language("dfa", ["a"], [[0]], False, []),
        "language.start: expected an integer from 0, not False",
    ),
    "an accepting state nowhere": (
        _language("dfa", ["a"], [[0]], 0, [1]),
        "language: the start or an accepting state is none of",
    ),
    "accepting states that descend": (
        _language("dfa", ["a"], [[0], [0]], 0, [1, 0]),
        "language.accepting: expected a list that ascends",
    ),
    "a letter twice": (
        _language("dfa", ["a", "a"], [[0, 0]], 0, []),
        "language.alphabet: symbol 'a' occurs twice",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_file_with_this_is_malformed(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.json"
    change, said = WRONG[wrong]
    path.write_text(json.dumps({**REFUTATION.encode(found("unmarked")), **change}), encoding="utf-8")
    with pytest.raises(MalformedFileError, match="is not a refutation: .*" + re.escape(said)):
        REFUTATION.load(path)


def _without(entry: str) -> str:
    """What is said of a file without an entry."""
    return "not of the format attemper-refutation/2" if entry == "format" else f"entry '{entry}' is missing"


def test_a_file_without_one_of_its_entries_is_malformed(tmp_path: Path) -> None:
    path = tmp_path / "short.json"
    data = REFUTATION.encode(found("unmarked"))
    for missing in data:
        path.write_text(json.dumps({key: data[key] for key in data if key != missing}), encoding="utf-8")
        with pytest.raises(MalformedFileError, match=_without(missing)):
            REFUTATION.load(path)
