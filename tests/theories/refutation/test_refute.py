"""Every model is refuted for parity and for brackets; recognisers of forced languages are not."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.languages.named.zoo import language_named
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import HardModel, answer, numbers_of
from attemper.theories.refutation.certificate.files import Refutation
from attemper.theories.refutation.certificate.targets import Target, contains
from attemper.theories.refutation.check.claims import OURS, check_refutation
from attemper.theories.refutation.search.named import refute, target_of
from tests.support.drawn.hard_examples import PrefixXor, equally_many, ones
from tests.support.drawn.hard_models import MAKERS, network

BRACKETS = ("(", ")")
BITS = ("0", "1")


def named_target(name: str, model: HardModel) -> Target:
    return target_of(f"zoo:{name}", model)


def sized(name: str, n: int, language: str) -> HardModel:
    """A model for words of n - 1 symbols; without an end marker it has n - 1 positions."""
    symbols = BRACKETS if language == "dyck1" else BITS
    model = MAKERS[name](n, symbols)
    return model if model.ending is not None else MAKERS[name](n - 1, symbols)


def refuted(model: HardModel, language: str, free: float, seconds: float = 60) -> Refutation:
    """The refutation, after the checker and the original model have confirmed it."""
    target = named_target(language, model)
    outcome = refute(model, target, free=free, seconds=seconds)
    assert outcome.refutation is not None, outcome.reason
    found = outcome.refutation
    verdict = check_refutation(found, model)
    ours = type(model).__module__.startswith(OURS)
    expected = Status.PROVED if ours else Status.PROVED_UNDER_ASSUMPTIONS
    assert [claim.status for claim in verdict.claims] == [expected, expected]
    assert contains(target, found.member)
    assert not contains(target, found.stranger)
    both = {answer(model, numbers_of(model, word)) for word in (found.member, found.stranger)}
    assert both == {found.answer}
    assert sum(s != t for s, t in zip(found.member, found.stranger, strict=True)) == 1
    return found


def spot_check(model: HardModel, found: Refutation, seed: int, count: int) -> None:
    """Random words of the restriction get the same answer from the original model."""
    draw = np.random.default_rng(seed)
    for _ in range(count):
        word = np.array([draw.choice(allowed) for allowed in found.restriction.allowed])
        assert answer(model, word) is found.answer


@pytest.mark.sweep(5)
@pytest.mark.parametrize("language", ["parity", "dyck1"])
@pytest.mark.parametrize("name", MAKERS)
def test_every_model_is_refuted(name: str, language: str) -> None:
    model = sized(name, 41, language)
    found = refuted(model, language, free=0.05)
    assert len(found.restriction.free) >= 0.05 * model.length
    spot_check(model, found, seed=0, count=20)


@pytest.mark.slow
@pytest.mark.parametrize("n", [41, 101, 301, 1001])
@pytest.mark.parametrize("language", ["parity", "dyck1"])
@pytest.mark.parametrize("name", MAKERS)
def test_every_model_is_refuted_at_many_lengths(name: str, language: str, n: int) -> None:
    model = sized(name, n, language)
    found = refuted(model, language, free=0.3, seconds=240)
    spot_check(model, found, seed=n, count=10)


def test_flipping_a_free_symbol_changes_parity_but_not_the_answer() -> None:
    """So the model is wrong on exactly half of the words of the restriction."""
    model = RandomTables(33, (1, 1), seed=5)
    found = refuted(model, "parity", free=1)
    draw = np.random.default_rng(1)
    for position in found.restriction.free:
        word = np.array([draw.choice(allowed) for allowed in found.restriction.allowed])
        flipped = word.copy()
        flipped[position - 1] = 1 - word[position - 1]
        assert answer(model, word) is answer(model, flipped) is found.answer


@pytest.mark.parametrize("length", [1, 2, 11, 40, 101])
def test_recognisers_of_forced_languages_are_right_and_not_refuted(length: int) -> None:
    for model, name in ((ones(length), "ones"), (equally_many(length), "anbn")):
        target = named_target(name, model)
        inner = [symbol for symbol in model.symbols if symbol != "$"]
        draw = np.random.default_rng(length)
        half, odd = divmod(length - 1, 2)
        member = (inner[0],) * half + (inner[1],) * half if name == "anbn" else (inner[1],) * (length - 1)
        words = [tuple(inner[k] for k in draw.integers(0, 2, length - 1)) for _ in range(30)]
        if not (name == "anbn" and odd):
            words.append(member)
            words += [(*member[:i], s, *member[i + 1 :]) for i in range(length - 1) for s in inner]
        for word in words:
            assert answer(model, numbers_of(model, word)) is contains(target, word)
        if length == 1 or (name == "anbn" and odd):
            with pytest.raises(UnsupportedError, match="another length"):
                refute(model, target, seconds=20)
            continue
        outcome = refute(model, target, seconds=20)
        assert outcome.refutation is None
        assert "forced by 1 of the" in outcome.reason


def test_a_wrong_recogniser_of_a_forced_language_is_refuted() -> None:
    """The search is about the model, not about the language alone."""
    outcome = refute(PrefixXor(12, 1), named_target("ones", PrefixXor(12, 1)), seconds=20)
    assert outcome.refutation is not None
    assert outcome.refutation.member == ("1",) * 11


def test_what_cannot_be_refuted_is_said() -> None:
    model = RandomTables(12, (1,), symbols=("(", ")", "$"))
    with pytest.raises(UnsupportedError, match="no word of 11 symbols is well nested"):
        refute(model, named_target("dyck1", model))
    with pytest.raises(UnsupportedError, match="needs 4 symbols, and the model has 2"):
        named_target("dyck2", model)


def test_brackets_of_two_kinds() -> None:
    """Free positions have brackets of the first kind; the base fixes a fifth at each end."""
    model = RandomTables(41, (1, 1), symbols=("(", ")", "[", "]", "$"))
    found = refuted(model, "dyck2", free=0.3)
    assert all(len(allowed) <= 2 for allowed in found.restriction.allowed)
    assert set(found.member) <= {"(", ")"}


def test_an_interrupted_search_ends_with_the_best_so_far() -> None:
    model = RandomTables(41, (1, 1), seed=3)
    told: list[str] = []

    def report(text: str) -> None:
        told.append(text)
        if "are free" in text:
            raise KeyboardInterrupt

    outcome = refute(model, named_target("parity", model), report=lambda text: report(text))
    assert outcome.refutation is not None
    assert "interrupted" in told[-1]
    verdict = check_refutation(outcome.refutation, model)
    assert verdict.status is Status.PROVED


def test_the_seed_decides_and_the_free_part_is_kept_to() -> None:
    model = RandomTables(41, (2, 2), values=3, seed=3)
    found = [refuted(model, "parity", free=0.3) for _ in range(2)]
    assert found[0] == found[1]
    assert len(found[0].restriction.free) >= 0.3 * 41


@pytest.mark.parametrize("heads", [(), (0,), (0, 1), (1, 0), (0, 0, 2)])
def test_layers_without_heads(heads: tuple[int, ...]) -> None:
    found = refuted(RandomTables(24, heads, seed=2), "parity", free=1)
    assert len(found.restriction.free) >= 12


def test_a_formula_with_work_below_the_first_attention() -> None:
    model = network(23, ("a", "b"), "({0} & even(pos)) S {1}")
    assert model.heads[0] == 0
    refuted(model, "parity", free=0.5)


ZOO_TARGETS = (
    *("parity", "parity-odd", "mod-3", "tomita-5", "ones", "dyck1", "dyck-1-depth-3", "anbn", "ab-star"),
    *("dyck2", "dyck-3", "dyck-2-depth-2", "flip-flop"),
)


@pytest.mark.parametrize("name", ZOO_TARGETS)
def test_languages_of_the_zoo_are_those_of_their_oracles_over_the_models_symbols(name: str) -> None:
    entry = language_named(name)
    mine = tuple("uvwxyz"[: len(entry.alphabet)])
    model = RandomTables(9, (1,), symbols=(*mine, "t", "$"))
    target = named_target(name, model)
    theirs = dict(zip(mine, entry.alphabet, strict=True))
    for length in range(8 if len(mine) == 2 else 5):
        for word in product(mine, repeat=length):
            assert contains(target, word) == entry.accepts(tuple(theirs[symbol] for symbol in word)), word


@pytest.mark.parametrize("name", ["majority", "a-n-b-n-c-n", "palindromes"])
def test_languages_of_the_zoo_without_an_automaton_are_refused(name: str) -> None:
    model = RandomTables(9, (1,), symbols=("x", "y", "z", "$"))
    with pytest.raises(UnsupportedError, match=f"zoo:{name} is not made an automaton"):
        named_target(name, model)


def test_what_is_no_language_is_refused() -> None:
    model = RandomTables(9, (1,), symbols=("x", "y", "z", "$"))
    with pytest.raises(UnsupportedError, match="'sort' is no language: it puts something out"):
        named_target("sort", model)
