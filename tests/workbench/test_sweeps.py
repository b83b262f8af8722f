"""A sweep's answer does not depend on who tries its words, or in which order; nothing is tried twice."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from concurrent.futures import BrokenExecutor, Executor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
import torch

import attemper
from attemper.attention_program.parse import parse_program
from attemper.errors import UnsupportedError
from attemper.exact.predicates import PredicateError
from attemper.languages.words import words_of_length
from attemper.workbench.model import Model
from attemper.workbench.verify import Plan, Sweep, Verification, verify
from attemper.workbench.verifying import comparing, plans, sweeps, working
from attemper.workbench.verifying.batches import Batch, PrefixStretch, Stretch, WordList, shorter, words_in
from attemper.workbench.verifying.comparing import try_batches
from attemper.workbench.verifying.engines import one_thread
from attemper.workbench.verifying.plans import PlanPart
from attemper.workbench.verifying.working import packed, work
from tests.support.cli.executors import AtOnce, Breaking, DyingWorkers, Forgetful, Shuffling
from tests.support.oracles.numbers import FRACTION

PLAN = Plan(up_to=6, count=30, longest=40)


def scaled(model: Model, factor: Fraction) -> Model:
    """The model with the last value weight of its first head multiplied."""
    first, *layers = model.network.layers
    head, *heads = first.heads
    *others, (coordinate, weight) = head.values[0]
    values = ((*others, (coordinate, weight * factor)), *head.values[1:])
    layer = replace(first, heads=(replace(head, values=values), *heads))
    return Model(replace(model.network, layers=(layer, *layers)), model.language, model.regime)


def mistaken(formula: str, computed: str, regime: str = "unbounded") -> Model:
    """A model that claims one formula and computes another."""
    claimed = attemper.compile(formula, "ab", at="last", regime="unbounded")
    network = attemper.compile(computed, "ab", at="last", regime=regime).network
    return Model(network, claimed.language, claimed.regime)


MAJORITY = attemper.compile("#<[a] >= #<[b]", "ab")
AHEAD = attemper.compile("G (a -> F b)", "ab", at="first")
NUMBERS, TWICE = (
    attemper.compile(attemper.program(parse_program(text)), regime="decoder")
    for text in (FRACTION, FRACTION.replace("1/2*", "1*"))
)
MODELS = {
    "right, to the past": MAJORITY,
    "right, ahead": AHEAD,
    "a planted weight": scaled(MAJORITY, Fraction(3, 4)),
    "a planted weight, ahead": scaled(attemper.compile("#>[a] >= #>[b]", "ab", at="first"), Fraction(3, 4)),
    "wrong from 5 symbols on": mistaken("#[a] >= 5", "false"),
    "wrong on drawn words alone": mistaken("#<[a] = 30", "false"),
    "a network of the past, a language of the future": mistaken("F a", "O a"),
    "an automaton": attemper.compile(attemper.regex("(a(ab)*b)*", "ab"), regime="decoder"),
    "numbers": NUMBERS,
    "wrong numbers": Model(TWICE.network, NUMBERS.language, NUMBERS.regime),
}

EXECUTORS = {
    "at once": AtOnce,
    "forgetful": Forgetful,
    "threads": lambda: ThreadPoolExecutor(3),
    "shuffled": lambda: Shuffling(5),
    "last first": lambda: Shuffling(None),
}


@pytest.fixture(autouse=True)
def small_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few words to a task that small plans have many."""
    monkeypatch.setattr(plans, "CHUNK", 8)
    monkeypatch.setattr(plans, "TASK_COST", 3000)


@pytest.mark.sweep(14)  # each model with two executors, each executor with some models
@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("model", MODELS)
def test_the_answer_is_the_same_on_any_executor(model: str, executor: str) -> None:
    expected = verify(MODELS[model], PLAN)
    with EXECUTORS[executor]() as pool:
        assert verify(MODELS[model], PLAN, executor=pool) == expected


def test_those_answers_are_of_every_kind() -> None:
    found = {name: verify(model, PLAN) for name, model in MODELS.items()}
    exhaustive = 2**7 - 2
    right = {name for name, answer in found.items() if answer.disagreement is None}
    assert right == {"right, to the past", "right, ahead", "an automaton", "numbers"}
    assert all(found[name].words == exhaustive + 30 for name in right)
    assert found["wrong on drawn words alone"].words > exhaustive
    five = found["wrong from 5 symbols on"]
    assert five.disagreement is not None
    # The first word of five letters is the first of them; 30 are shorter.
    assert (five.disagreement.word, five.words, five.longest) == (("a",) * 5, 31, 5)
    for planted in ("a planted weight", "a planted weight, ahead", "wrong numbers"):
        assert found[planted].words < exhaustive


@pytest.mark.sweep(4)
@pytest.mark.parametrize("model", MODELS)
def test_the_answer_is_the_same_where_torch_is_not(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Word by word in numpy: the same words, the same first disagreement, the same margin up to rounding."""
    expected = verify(MODELS[model], PLAN)
    monkeypatch.setattr("attemper.workbench.verifying.engines.has_torch", lambda: False)
    found = verify(MODELS[model], PLAN)
    assert replace(found, smallest_margin=0) == replace(expected, smallest_margin=0)
    assert found.smallest_margin == pytest.approx(expected.smallest_margin, abs=1e-9)
    with AtOnce() as pool:
        assert verify(MODELS[model], PLAN, executor=pool) == found


# Nothing is done twice ------------------------------------------------------------------------------


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[Batch, ...]]:
    """How often each task was done, here or by a worker."""
    times: Counter[tuple[Batch, ...]] = Counter()

    def counted(tested: comparing.TestedNetwork, batches: tuple[Batch, ...]) -> Verification:
        times[batches] += 1
        return try_batches(tested, batches)

    monkeypatch.setattr(working, "try_batches", counted)
    monkeypatch.setattr(sweeps, "try_batches", counted)
    return times


def all_tasks(model: Model) -> list[tuple[Batch, ...]]:
    lengths = PlanPart.PREFIXES if sweeps.shares_prefixes(model.network) else PlanPart.LENGTHS
    return [task for part in (lengths, PlanPart.DRAWN) for task in plans.tasks(model, PLAN, part)]


@pytest.mark.sweep(5)
@pytest.mark.parametrize("model", [MAJORITY, AHEAD], ids=["past", "ahead"])
@pytest.mark.parametrize("broken", [Breaking, DyingWorkers])
@pytest.mark.parametrize("after", [0, 1, 9])
def test_a_broken_sweep_goes_on_where_it_was(
    model: Model, broken: type[Breaking] | type[DyingWorkers], after: int, tried: Counter[tuple[Batch, ...]]
) -> None:
    sweep = Sweep(model, PLAN)
    with pytest.raises(BrokenExecutor, match="a worker died"):
        sweep.run(executor=broken(after))
    assert sweep.finished == tried.total() == after
    heard: list[int] = []
    result = sweep.run(heard.append, AtOnce())
    assert tried == Counter(all_tasks(model))
    assert result == verify(model, PLAN)
    assert sum(heard) == result.words


@pytest.mark.parametrize("executor", [lambda: None, AtOnce, lambda: Shuffling(3)])
def test_an_interrupted_sweep_goes_on_where_it_was(
    executor: type[Executor], tried: Counter[tuple[Batch, ...]]
) -> None:
    sweep, heard = Sweep(AHEAD, PLAN), [0]

    def interrupt(words: int) -> None:
        heard.append(words)
        if len(heard) % 3 == 0:
            raise KeyboardInterrupt

    interrupts = 0
    while True:
        pool = executor()
        try:
            result = sweep.run(interrupt, pool)
        except KeyboardInterrupt:
            interrupts += 1
            continue
        finally:
            if pool is not None:
                pool.shutdown()
        break
    assert interrupts >= 2
    assert set(tried) == set(all_tasks(AHEAD))
    # A thread in the middle of a task when the sweep ends does that task for nobody.
    assert tried.total() - len(all_tasks(AHEAD)) <= (interrupts if isinstance(pool, Shuffling) else 0)
    assert result == verify(AHEAD, PLAN)


def test_a_finished_sweep_tries_nothing_more(tried: Counter[tuple[Batch, ...]]) -> None:
    for model in (MODELS["a planted weight"], MODELS["right, ahead"]):
        sweep = Sweep(model, PLAN)
        first, heard = sweep.run(), tried.total()
        told: list[int] = []
        assert sweep.run(told.append) == sweep.run(executor=AtOnce()) == first
        assert tried.total() == heard
        assert sum(told) >= first.words


def test_what_comes_after_a_wrong_word_is_not_tried(tried: Counter[tuple[Batch, ...]]) -> None:
    plan = replace(PLAN, count=3000)
    verify(MODELS["a planted weight, ahead"], plan, executor=AtOnce())
    assert tried.total() <= sweeps.IN_FLIGHT


def test_the_model_goes_to_a_worker_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brought: list[bool] = []

    class Watching(AtOnce):
        def submit(self, task, /, *given, **named):  # type: ignore[no-untyped-def]
            brought.append(given[0].packed is not None)
            return super().submit(task, *given, **named)

    monkeypatch.setattr(sweeps, "IN_FLIGHT", 2)
    expected = verify(AHEAD, PLAN)
    assert verify(AHEAD, PLAN, executor=Watching()) == expected
    # Two parts of the plan, the first tasks of each with the model.
    assert sum(brought) == 4 < len(brought)


@pytest.mark.parametrize("model", [MAJORITY, AHEAD], ids=["past", "ahead"])
def test_progress_hears_each_word_once_and_in_this_thread(model: Model) -> None:
    import threading

    for pool in (None, AtOnce(), ThreadPoolExecutor(2)):
        heard: list[tuple[int, int]] = []
        result = verify(model, PLAN, lambda n, heard=heard: heard.append((n, threading.get_ident())), pool)
        assert sum(words for words, _ in heard) == result.words
        assert {thread for _, thread in heard} == {threading.get_ident()}
        assert all(words > 0 for words, _ in heard)
        if pool is not None:
            pool.shutdown()


# What is sent ---------------------------------------------------------------------------------------


def test_tasks_and_results_are_plain_data() -> None:
    model = MODELS["a planted weight"]
    batches: tuple[Batch, ...] = (Stretch(3, 0, 8), WordList((("a", "b"),)), PrefixStretch(Stretch(4, 0, 16)))
    task = replace(packed(model), batches=batches)
    again = pickle.loads(pickle.dumps(task))
    assert again == task
    found = work(again)
    assert found is not None
    assert (
        pickle.loads(pickle.dumps(found))
        == found
        == try_batches(comparing.TestedNetwork.of(model.network, model.language.definition), batches)
    )


def test_a_worker_says_that_it_does_not_know_a_model() -> None:
    model = attemper.compile("#<[a] >= 17", "ab")
    task = replace(packed(model), batches=(Stretch(2, 0, 4),))
    assert work(replace(task, packed=None)) is None
    assert work(task) == Verification(4, 2, pytest.approx(0.25, abs=0.1), None)
    assert work(replace(task, packed=None)) == work(task)
    others = [packed(attemper.compile(f"#<[a] >= {k}", "ab")) for k in (3, 4)]
    assert all(work(replace(other, batches=(Stretch(1, 0, 2),))) for other in others)
    assert len(working._kept.kept_networks) == working.MOST_KEPT
    assert work(replace(task, packed=None)) is None


def test_workers_of_another_version_are_refused() -> None:
    task = replace(packed(MAJORITY), version="0.0.1")
    with pytest.raises(UnsupportedError, match=r"begun by 0\.0\.1: install the same version everywhere"):
        work(task)


DEEPEST = pytest.param(
    999,
    marks=pytest.mark.skipif(
        sys.version_info[:2] == (3, 12), reason="Python 3.12 has a limit for pickles that nobody can raise"
    ),
)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("depth", [300, DEEPEST])
def test_deep_formulas_can_be_sent(depth: int) -> None:
    model = attemper.compile("Y " * depth + "a", "ab", at="last")
    plan = Plan(1, 2, 5)
    assert verify(model, plan, executor=AtOnce()) == verify(model, plan)


def test_formulas_that_python_cannot_send_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.12 does with formulas some 600 deep; without an executor nothing is sent."""

    def too_deep(*_: object, **__: object) -> bytes:
        raise RecursionError

    monkeypatch.setattr("attemper.workbench.verifying.working.pickle.dumps", too_deep)
    with pytest.raises(UnsupportedError, match="leave 'jobs' and 'scheduler' out"):
        verify(MAJORITY, PLAN, executor=AtOnce())
    assert verify(MAJORITY, PLAN).disagreement is None


def test_errors_of_a_worker_are_those_of_the_sweep() -> None:
    attemper.register_predicate("fails_at_three", lambda value: 1 // (3 - value) == 1 if value == 3 else True)
    model = attemper.compile("fails_at_three(#<[a])", "ab")
    for pool in (None, AtOnce(), ThreadPoolExecutor(1)):
        with pytest.raises(PredicateError, match="failed on 3"):
            verify(model, PLAN, executor=pool)
        if pool is not None:
            pool.shutdown()


def test_torch_has_its_threads_again() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with one_thread():
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
        with pytest.raises(ZeroDivisionError), one_thread():
            raise ZeroDivisionError
        assert torch.get_num_threads() == 3
        expected = verify(AHEAD, PLAN)
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)
    assert verify(AHEAD, PLAN) == expected


# Words and their prefixes ---------------------------------------------------------------------------


@pytest.mark.parametrize("symbols", ["a", "ab", "abc"])
def test_stretches_are_all_words_in_order(symbols: str) -> None:
    alphabet = attemper.compile("O a", symbols).alphabet
    for length in range(1, 6):
        words = [
            word for stretch in plans._stretches(length, len(symbols)) for word in words_in(stretch, symbols)
        ]
        assert words == list(words_of_length(alphabet, length))


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("longest", [1, 2, 5])
def test_each_shorter_word_belongs_to_the_stretch_with_its_continuation(size: int, longest: int) -> None:
    symbols = "abc"[:size]
    for length in range(1, longest + 1):
        found = []
        for stretch in plans._stretches(longest, size):
            own, apart = shorter(stretch, length, size)
            words, long = words_in(own, symbols), words_in(stretch, symbols)
            for number, word in enumerate(words, start=own.start):
                assert long[number * apart - stretch.start] == word + ("a",) * (longest - length)
            found += words
        assert found == [word for s in plans._stretches(length, size) for word in words_in(s, symbols)]


@pytest.mark.parametrize(
    ("formula", "regime", "shares"),
    [
        ("#<[a] >= #<[b]", "unbounded", True),
        ("#<[a] >= #<[b]", "temperature", False),
        ("#<[a] >= #<[b]", "decoder", True),
        ("a S b", "decoder", True),
        ("F a", "unbounded", False),
        ("H (a -> Y b)", "unbounded", True),
        ("pos = 3", "unbounded", True),
        ("len = 3", "unbounded", False),
        ("last & a", "unbounded", False),
    ],
)
def test_which_networks_share_prefixes(formula: str, regime: str, shares: bool) -> None:
    network = attemper.compile(formula, "ab", at="last", regime=regime).network
    assert sweeps.shares_prefixes(network) is shares
    if shares:
        module, longest = attemper.Model(network, MAJORITY.language, MAJORITY.regime).dense(), 7
        tokens = torch.cartesian_prod(*[torch.arange(2)] * longest)
        whole = module(tokens)
        for length in range(1, longest):
            own = torch.cartesian_prod(*[torch.arange(2)] * length).reshape(-1, length)
            outputs = whole[:: 2 ** (longest - length), :length]
            torch.testing.assert_close(module(own), outputs, rtol=0, atol=1e-12)


@pytest.mark.sweep(11)  # every model, and every length with some
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("longest", [2, 3, 6])
def test_prefixes_say_what_words_by_themselves_say(
    model: str, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = replace(PLAN, up_to=longest)
    found = verify(MODELS[model], plan)
    monkeypatch.setattr(sweeps, "shares_prefixes", lambda _: False)
    expected = verify(MODELS[model], plan)
    assert replace(found, smallest_margin=0) == replace(expected, smallest_margin=0)
    assert found.smallest_margin == pytest.approx(expected.smallest_margin, abs=1e-12)


def test_prefixes_are_not_run_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    lengths: Counter[int] = Counter()
    runs = comparing.TestedNetwork.runs

    def counted(tested: comparing.TestedNetwork, words):  # type: ignore[no-untyped-def]
        lengths.update(map(len, words))
        return runs(tested, words)

    monkeypatch.setattr(comparing.TestedNetwork, "runs", counted)
    assert verify(MAJORITY, Plan(7, 0, 1)).words == 2**8 - 2
    assert lengths == {7: 2**7}
    assert verify(AHEAD, Plan(3, 0, 1)).words == 2**4 - 2
    assert lengths == {7: 2**7, 3: 8, 2: 4, 1: 2}


def test_members_of_an_automaton_are_tried_however_rare_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """At random a word of 20 symbols is no member of (ab|ba)*c?: nothing but the reject would be tried."""
    model = attemper.compile(attemper.regex("(ab|ba)*c?", "abc"))

    def members() -> list[int]:
        tasks = plans.tasks(model, Plan(up_to=1, count=200, longest=40), PlanPart.DRAWN)
        words = [
            word for task in tasks for batch in task if isinstance(batch, WordList) for word in batch.words
        ]
        assert len(words) == 200
        return [len(word) for word in words if len(word) >= 20 and model.language.definition.bits(word)[-1]]

    assert len(members()) > 10
    # Where a table of counts would be too large, words are tried as before.
    monkeypatch.setattr("attemper.languages.regular.numbering.MOST_BITS", 0)
    assert len(members()) < 5
