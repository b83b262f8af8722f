"""attemper.verify, .refute and .formula_of: what the command line asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import attemper
from attemper.checker.folders import check_path
from attemper.checker.verdict import ClaimVerdict, Status, Verdict
from attemper.errors import AlphabetError, InternalError, OptionError, UnsupportedError
from attemper.models.hard.networks import NetworkModel
from attemper.models.hard.protocol import HardModel
from attemper.modules import ModuleError
from attemper.networks.layers import HardWeighting, Network
from attemper.running import dense
from attemper.theories.refutation.search.search import Search
from attemper.workbench.model import Model
from tests.support.drawn.hard_examples import PrefixXor


def compiled_reader(n: int, _: int) -> HardModel:
    model = attemper.compile("O (b & Y a)", "ab")
    return NetworkModel(model.network, n, model.digest)


def test_verify_counts_its_words_and_finds_a_wrong_one() -> None:
    right = attemper.compile("O a", "ab")
    found = attemper.verify(right, up_to=5, count=30, longest=40)
    assert (found.words, found.disagreement) == (2 + 4 + 8 + 16 + 32 + 30, None)
    wrong = Model(attemper.compile("O (a & Y b)", "ab").network, right.language, right.regime)
    (disagreement,) = [attemper.verify(wrong, up_to=3, count=0).disagreement]
    assert disagreement is not None
    assert disagreement.word == ("a",)
    with_another = attemper.verify(right, "a", up_to=3, count=0)
    assert with_another.record["language"] == "formula:a"
    assert (with_another.status, with_another.exit_code) == ("DISAGREEMENT", 1)
    assert str(with_another).splitlines()[0] == (
        "compared: soft run, hard run and the exact meaning of formula:a, on 4 words up to length 2"
    )
    with pytest.raises(OptionError, match="differ on the empty word: the network rejects it"):
        attemper.verify(right, "regex:(a|b)*")
    with pytest.raises(OptionError, match="read at the last position, and formula@first:F a at the first"):
        attemper.verify(right, "formula@first:F a")
    with pytest.raises(AlphabetError):
        attemper.verify(right, "zoo:parity")
    done: list[int] = []
    attemper.verify(right, up_to=2, count=0, progress=done.append)
    assert sum(done) == 6


@pytest.mark.parametrize(
    "options",
    [{"up_to": -1}, {"count": 1.5}, {"longest": 0}, {"seed": -1}, {"up_to": 0, "count": 0}, {"up_to": "8"}],
)
def test_verify_refuses_wrong_values(options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=next(iter(options))):
        attemper.verify(attemper.compile("O a", "ab"), **options)


def test_verify_builds_two_modules_however_many_words_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[HardWeighting | None] = []
    module = dense.DenseTransformer

    def noted(network: Network, dtype: torch.dtype, weighting: HardWeighting | None, **options: Any) -> Any:
        made.append(weighting)
        return module(network, dtype, weighting, **options)

    monkeypatch.setattr(dense, "DenseTransformer", noted)
    attemper.verify(attemper.compile("O a", "ab"), up_to=6, count=60, longest=80)
    assert made == [None, HardWeighting.AVERAGE]


def test_a_refutation_is_found_proved_and_saved(tmp_path: Path) -> None:
    model = attemper.compile("O (b & Y a)", "ab")
    parity = attemper.regex("(a*ba*b)*a*", "ab")
    for language in ("zoo:parity", parity, attemper.compile(parity)):
        found = attemper.refute(model, language, length=12, free=0.7)
        assert found.verdict is not None
        assert found.refutation is not None
        assert found.verdict.status is Status.PROVED
        words = found.refutation.member, found.refutation.stranger
        assert [parity.accepts(word) for word in words] == [True, False]
        assert {model.accepts(word) for word in words} == {found.refutation.answer}
    assert repr(found).startswith("<Finding: PROVED, ")
    model.save(tmp_path / "reader")
    saved = attemper.refute(str(tmp_path / "reader"), "zoo:parity", length=12, free=0.7)
    saved.save(tmp_path / "parity.json")
    assert check_path(tmp_path / "parity.json").status is Status.PROVED


def test_models_of_ones_own_are_refuted() -> None:
    for model, n in ((PrefixXor(16, 2), None), (PrefixXor(16, 2), 16), (lambda n: PrefixXor(n, 2), 16)):
        found = attemper.refute(model, "zoo:parity", length=n, free=0.5)
        assert found.verdict is not None
        assert found.verdict.status is Status.PROVED_UNDER_ASSUMPTIONS


def test_what_cannot_be_refuted_is_refused() -> None:
    reader, majority = attemper.compile("O b", "ab"), attemper.compile("#<[a] <= #<[b]", "ab")
    for arguments, said in (
        ((reader, "zoo:parity"), "say which one, as in length=30"),
        ((PrefixXor, "zoo:parity"), "is no hard-attention model"),
        ((reader, "zoo:parity", 0), "length=0 is not a number of positions"),
        ((reader, "zoo:oddity", 9), "there is no 'oddity' in the zoo"),
        ((reader, 7, 9), "int names no language"),
        ((reader, object(), 9), "object names no language"),
        ((3, "zoo:parity"), "say which one"),
        ((object(), "zoo:parity", 9), "model=object is no hard-attention model: it has no 'embed'"),
        ((PrefixXor(16, 2), "zoo:parity", 9), "one for length=16, not for length=9"),
    ):
        model, language, *n = arguments
        with pytest.raises(OptionError, match=said):
            attemper.refute(model, language, length=n[0] if n else None)
    for name, value in (
        *(("free", 2), ("free", "1"), ("free", True), ("seconds", "1"), ("seconds", -1)),
        *(("seconds", float("nan")), ("seed", -1), ("seed", 0.5)),
    ):
        wrong: Any = {name: value}
        with pytest.raises(OptionError, match=rf"^{name}={value!r} is not a "):
            attemper.refute(reader, "zoo:parity", length=9, **wrong)
    with pytest.raises(UnsupportedError, match="averages over many positions"):
        attemper.refute(majority, "zoo:parity", length=9)


def test_an_interrupted_search_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch) -> None:
    start_small = Search._start_small

    def interrupted(search: Search) -> None:
        start_small(search)
        raise KeyboardInterrupt

    reader = attemper.compile("O (b & Y a)", "ab")
    assert not attemper.refute(reader, "zoo:parity", length=16, free=0.5).interrupted
    monkeypatch.setattr(Search, "_start_small", interrupted)
    found = attemper.refute(reader, "zoo:parity", length=16)
    assert found.interrupted
    assert found.verdict is not None
    assert found.verdict.status is Status.PROVED


@pytest.mark.parametrize(("make", "error"), [(PrefixXor, ModuleError), (compiled_reader, InternalError)])
def test_what_the_checker_does_not_accept_is_an_error_of_whoever_made_the_model(
    make: Callable[[int, int], HardModel], error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    no = Verdict((ClaimVerdict(Status.UNKNOWN, "too much to look at"),))
    monkeypatch.setattr("attemper.theories.refutation.finding.check_refutation", lambda *_, **__: no)
    with pytest.raises(error, match="does not accept what was found: UNKNOWN: too much to look at"):
        attemper.refute(make(12, 1), "zoo:parity", free=0.5)


def test_an_error_in_the_search_has_the_name_of_the_model() -> None:
    """A model of one's own, from Python: the file and line of its function, as on the command line."""

    class Failing(PrefixXor):
        def scores(self, *arguments: Any) -> Any:
            if len(arguments[2]) > self.length or len(arguments[3]) > self.length:
                raise ZeroDivisionError("only in the search")
            return super().scores(*arguments)

    with pytest.raises(ModuleError, match=r"Failing' raised ZeroDivisionError: only in the search"):
        attemper.refute(Failing(12, 1), "zoo:parity")


def test_nothing_found_has_a_reason() -> None:
    ones = attemper.compile("H b", "ab")
    found = attemper.refute(ones, "zoo:ones", length=8, seconds=1)
    assert (found.refutation, found.verdict) == (None, None)
    assert "no restriction was found" in found.reason
    assert repr(found).startswith("<Finding: UNKNOWN, not refuted")
    with pytest.raises(OptionError, match="there is no refutation to save"):
        found.save("nowhere.json")


def test_a_formula_is_the_automaton_s() -> None:
    dfa = attemper.regex("a*b", "ab")
    found = attemper.to_formula(dfa)
    assert found.formula == attemper.to_formula(attemper.compile(dfa)).formula
    assert found.proved
    model = attemper.compile(found.text, "ab")
    assert attemper.check(model, dfa.definition, program=None).status in {Status.PROVED, Status.UNKNOWN}
    for word in ("b", "aab", "ba", "aa", "bb"):
        assert model.accepts(word) is dfa.accepts(word)
    assert attemper.to_formula(attemper.compile("O a", "ab")).text == "O a"
