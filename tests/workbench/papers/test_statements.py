"""Each row of `attemper paper` holds, stands on the page as it ran, and fails where an error is planted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import flint
import numpy as np
import pytest

from attemper.compiling.building.plan import Rows
from attemper.errors import ExitCode
from attemper.exact.closed_forms import times
from attemper.networks.layers import Softmax
from attemper.networks.regime import Regime
from attemper.workbench.papers import listing
from attemper.workbench.papers.listing import meant, shown, statements
from attemper.workbench.papers.statements import Paper, Statement, at_least, at_most, equal
from attemper.workbench.papers.theorems import INSTANCES
from tests.support.cli.command_line import attemper
from tests.support.suites import Few
from tests.support.writers.papers import COMPARED, CONSTRUCTIONS, PAGE, compared_row, network_row, row_of

RUN = [one for one in statements() if one.run]

MOST_NOT_BUILT = 3
"""At most so many rows have no run."""

Plant = tuple[str, Callable[[Any], Any]]
"""What is replaced, as `module:name` or `module:class.name`, and what by, made from the original."""

HERE = "attemper.workbench.papers"
PLANS = "attemper.compiling.constructions"


def warmed(soft: Callable[..., Rows]) -> Callable[..., Rows]:
    """The plan of a head whose softmax is eight times too warm."""

    def warm(*arguments: Any) -> Rows:
        rows = soft(*arguments)
        assert isinstance(rows.weighting, Softmax)
        return replace(rows, weighting=Softmax(times(Fraction(1, 8), rows.weighting.inverse_temperature)))

    return warm


def always(value: Any) -> Callable[[Any], Any]:
    return lambda original: lambda *arguments, **options: value


def after(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same function, and then the change of what it gives."""
    return lambda original: lambda *arguments, **options: change(original(*arguments, **options))


def evenly(original: Any) -> Any:
    """Softmax attention that sees all positions alike."""
    return lambda head, stream: [
        dict.fromkeys(row, flint.arb(1) / len(row)) for row in original(head, stream)
    ]


def _last_of_the_best(original: Any) -> Any:
    def attended(model: Any, layer: int, head: int, rows: Any) -> Any:
        scores = model.scores(layer, head, rows, rows)
        return len(rows) - 1 - np.argmax(scores[:, ::-1], axis=1)

    return attended


def _scaled_bound(factor: Fraction) -> Callable[[Any], Any]:
    def scaled(found: Any) -> Any:
        own = found.bound.bound
        name = "constant" if hasattr(own, "constant") else "change"
        smaller = replace(own, **{name: getattr(own, name) * factor})
        return replace(found, bound=replace(found.bound, bound=smaller))

    return after(scaled)


def _half_lower(add: Any) -> Any:
    """A rounding whose thresholds are off."""
    return lambda self, linear, low, target, sign: add(self, linear, low - Fraction(1, 2), target, sign)


def _growing(soft: Any) -> Any:
    """A plan that is that of another regime."""
    return lambda self, _, margin, stream: soft(self, Regime.UNBOUNDED, margin, stream)


def _multiplied(factor: Fraction) -> Callable[[Any], Any]:
    return after(lambda found: found and replace(found, value=found.value * factor))


SELECT: Plant = (f"{PLANS}.select:SelectPlan.soft", warmed)
NEIGHBOUR: Plant = (f"{PLANS}.neighbour:NeighbourPlan.soft", warmed)
LOOKUP: Plant = (f"{PLANS}.lookup:LookupPlan.soft", warmed)
SIGN: Plant = (f"{PLANS}.sign:SignPlan.soft", warmed)
LOCAL_SIGN: Plant = (f"{PLANS}.local_sign:LocalSignPlan.soft", warmed)
CLAMP: Plant = ("attemper.compiling.building.weights:LayerDraft.add_clamp", _half_lower)
GAPS = "attemper.theories.softening.check.enumeration"
NORMS, WAYS = "attemper.theories.softening.lemmas.norms", "attemper.theories.softening.ways"
LEMMA = "attemper.theories.refutation.lemma"
SINCE: Plant = ("attemper.languages.temporal.meaning:_since", always(False))
REFUTATION, SOFTENING, INFLUENCE, TRAINING = (
    f"attemper.{room}.statements"
    for room in ("theories.refutation", "theories.softening", "theories.influence", "training")
)
SLACK: Plant = (f"{INFLUENCE}:bound", _scaled_bound(Fraction(1, 10_000)))

PLANTED: dict[int, Plant] = {
    1: SELECT,
    2: ("attemper.languages.masks:PositionMask.ends", always((0, 3))),
    3: ("attemper.networks.meaning_hard:_weights", lambda _: lambda scores, _: {max(scores): Fraction(1)}),
    4: ("attemper.networks.meaning_soft:attention", evenly),
    5: (f"{HERE}.definitions:attention_of", always("softmax (SMAT), at most 1 head in a layer")),
    6: (f"{GAPS}:_lesser", _multiplied(Fraction(2))),
    7: NEIGHBOUR,
    8: LOOKUP,
    9: SELECT,
    10: CLAMP,
    11: (f"{SOFTENING}:edelman", after(lambda bound: bound / 2)),
    12: CLAMP,
    13: NEIGHBOUR,
    14: ("attemper.languages.temporal.meaning:_unary", always(False)),
    15: NEIGHBOUR,
    16: ("attemper.compiling.literal.from_the_sign:Fraction", lambda original: lambda *of: original(*of) / 2),
    17: NEIGHBOUR,
    18: NEIGHBOUR,
    19: SINCE,
    20: SELECT,
    21: SELECT,
    22: SELECT,
    23: SELECT,
    24: (f"{INFLUENCE}:capped", lambda original: lambda model, _: original(model, {})),
    25: ("attemper.languages.temporal.meaning:_count", always(1)),
    26: LOOKUP,
    27: LOCAL_SIGN,
    28: LOOKUP,
    29: LOCAL_SIGN,
    30: SIGN,
    31: (f"{GAPS}:_lesser", _multiplied(Fraction(1, 2))),
    32: (f"{GAPS}:_greater", _multiplied(Fraction(2))),
    33: (f"{NORMS}:_head_errors", after(lambda own: replace(own, values=own.values and own.values / 100))),
    34: ("attemper.networks.meaning_soft:attention", evenly),
    35: ("attemper.networks.meaning_soft:attention", evenly),
    36: (f"{NORMS}:Published.coldness", after(lambda cold: cold / 2)),
    37: SELECT,
    38: SELECT,
    39: SELECT,
    40: SIGN,
    41: (f"{PLANS}.nearest_integer:NearestIntegerPlan.soft", warmed),
    42: (f"{PLANS}.nearest_integer:NearestIntegerPlan.soft", warmed),
    43: ("attemper.theories.softening.pieces:_Reached.__contains__", always(True)),
    44: (f"{WAYS}:looked_up", after(lambda outputs: outputs[::-1])),
    45: ("attemper.networks.meaning_soft:attention", evenly),
    47: (f"{PLANS}.select:SelectPlan.soft", _growing),
    48: SELECT,
    49: ("attemper.theories.depth.statements:depth", after(lambda found: SimpleNamespace(lower=1, upper=1))),
    50: ("attemper.models.hard.protocol:attended", _last_of_the_best),
    51: ("attemper.models.soft.meaning:_feed_forward", lambda _: lambda layer, row: row),
    52: (f"{LEMMA}.reducing:_next_by_any", after(lambda tables: tables[:, :1])),
    53: (f"{HERE}.tasks:compiled", lambda original: lambda name: original(name.replace("even", "odd"))),
    54: SIGN,
    55: ("attemper.workbench.papers.tasks:classify", lambda original: lambda *_: original("regex:1*", "01")),
    56: (f"{REFUTATION}:fixed", lambda _: lambda restriction, choice: restriction),
    57: (f"{REFUTATION}:answer", lambda _: lambda model, word: int(word.sum()) % 2),
    58: (f"{REFUTATION}:answer", lambda _: lambda model, word: int(word.sum()) % 2),
    59: (f"{REFUTATION}:answer", lambda _: lambda model, word: int(word.sum()) % 2),
    60: (
        f"{REFUTATION}:Expecting.scores",
        lambda _: lambda self, layer, head, queries, keys: np.zeros((len(queries), len(keys))),
    ),
    61: ("attemper.workbench.papers.tasks:classify", lambda original: lambda *_: original("regex:1*", "01")),
    62: ("attemper.languages.regular.sensitivity:permutations", lambda _: lambda *_: ()),
    63: (f"{LEMMA}.transformers:scored", after(lambda scores: -scores)),
    64: (f"{LEMMA}.reducing:_next_by_leftmost", after(lambda table: table[::-1])),
    65: (f"{LEMMA}.reducing:greedily_fixed", lambda _: lambda keys, bits, *rest, **more: (bits, 0)),
    66: (f"{LEMMA}.pictures:attends", after(lambda can: can | True)),
    67: (f"{LEMMA}.pictures:without_own", after(lambda high: -high)),
    68: (f"{REFUTATION}:much_read_fixed", lambda _: lambda bottom, bits, eta: bits),
    69: (f"{REFUTATION}:greedily_fixed", lambda _: lambda keys, bits, k, most: (bits, 0)),
    70: (
        "attemper.theories.refutation.lemma.faithful:resampled_bits",
        lambda _: lambda keys, bits, *rest, **more: (bits, 0),
    ),
    71: (
        f"{REFUTATION}:random_bits",
        lambda original: lambda bits, rate, *rest: original(bits, 2 * rate, *rest),
    ),
    72: (f"{REFUTATION}:parameters", after(lambda found: replace(found, k=found.k // 2))),
    73: SLACK,
    74: SLACK,
    75: ("attemper.theories.influence.search.beside:_norm", after(lambda norm: norm / 2)),
    76: SLACK,
    77: ("attemper.training.models:ParityRnn.forward", after(lambda logits: logits * 0)),
    78: (f"{INFLUENCE}:last_symbols", after(lambda level: level * 2)),
    79: (f"{INFLUENCE}:cross_entropy_floor", after(lambda floor: floor + 1)),
    80: (f"{INFLUENCE}:type_excess", after(lambda excess: excess * 2)),
    81: ("attemper.languages.sources.bracket_levels:softplus", after(lambda loss: loss / 2)),
    82: (f"{INFLUENCE}:closing", after(lambda share: share / 2)),
    84: (f"{INFLUENCE}:capped", lambda original: lambda model, _: original(model, {})),
    86: ("attemper.training.measuring:_Pair.floor", after(lambda floor: floor + 1)),
    87: SELECT,
    88: SIGN,
}
"""For each row an error in what it is about."""


def _replaced(monkeypatch: pytest.MonkeyPatch, plant: Plant) -> None:
    path, change = plant
    module, _, names = path.partition(":")
    *owners, name = names.split(".")
    owner: Any = import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    monkeypatch.setattr(owner, name, change(getattr(owner, name)))


def test_every_row_has_a_number_and_a_name_of_its_own() -> None:
    assert sorted(one.row for one in statements()) == list(range(1, 89))
    assert len({(one.paper, one.keys[0]) for one in statements()}) == 88
    assert all(one.says and one.title and one.command for one in statements())


def test_few_rows_are_not_built_and_each_says_why() -> None:
    without = [one for one in statements() if not one.run]
    assert len(without) <= MOST_NOT_BUILT
    assert all(one.differs for one in without)


def test_every_run_has_a_planted_error() -> None:
    assert sorted(PLANTED) == sorted(one.row for one in RUN)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("one", RUN, ids=lambda one: f"{one.row} {one.keys[0]}")
def test_a_row_holds_and_stands_on_the_page(one: Statement) -> None:
    found = shown(one)
    assert [str(seen) for seen in found.seen if not seen.holds] == []
    assert found.holds
    written = row_of(found)
    assert written in PAGE.read_text(encoding="utf-8"), (
        f"python -m tests.support.writers.papers --write: {written}"
    )


@pytest.mark.sweep(2)
@pytest.mark.parametrize("one", RUN, ids=lambda one: f"{one.row} {one.keys[0]}")
def test_a_row_notices_a_planted_error(one: Statement, monkeypatch: pytest.MonkeyPatch) -> None:
    _replaced(monkeypatch, PLANTED[one.row])
    found = shown(one)
    assert not found.holds
    assert found.exit_code == ExitCode.DISAGREEMENT


def test_the_page_has_the_networks_and_every_row_in_order(few: Few) -> None:
    text = PAGE.read_text(encoding="utf-8")
    titles = [text.index(f"| {one.row} | `{one.keys[0]}` | ") for one in statements()]
    assert titles == sorted(titles)
    for instance in few(INSTANCES, 4):
        assert network_row(instance) in text
    for formula, regime in few(COMPARED, 1):
        assert all(compared_row(formula, regime, name) in text for name in CONSTRUCTIONS)
    for one in statements():
        assert one.run or row_of(shown(one)) in text


# The command ---------------------------------------------------------------------------------------------


def test_the_list_has_a_line_for_each_row_and_says_what_is_not_built() -> None:
    lines = attemper("paper").out.splitlines()
    assert [line.split()[:2] for line in lines] == [[str(one.paper), one.keys[0]] for one in statements()]
    assert [line.endswith("(not built)") for line in lines] == [one.run is None for one in statements()]
    own = attemper("paper", "supplement").out.splitlines()
    assert [line.split() for line in own] == [
        line.split() for line in lines if line.startswith("supplement ")
    ]


def test_the_list_as_json_has_what_a_row_says() -> None:
    records = attemper("paper", "--json").records
    assert [record["row"] for record in records] == [one.row for one in statements()]
    assert all(
        record.keys() >= {"paper", "keys", "title", "says", "differs", "more", "built"} for record in records
    )


@pytest.mark.parametrize(
    "typed", [["15"], ["theorem-15"], ["Theorem", "15"], ["theorem_15"], ["theorem", "15."]], ids="-".join
)
def test_a_statement_is_found_as_a_reader_types_it(typed: list[str]) -> None:
    assert [one.row for one in meant(Paper.YANG, " ".join(typed))] == [20]


def test_a_name_of_several_rows_is_all_of_them() -> None:
    assert {one.row for one in meant(Paper.HAHN, "theorem-6")} == {79, 80, 81, 86}
    assert {one.row for one in meant(Paper.HAHN, "lemma 5")} == {73, 74, 75}


@pytest.mark.parametrize(
    ("paper", "typed", "near"),
    [("yang", "99", "lemma-34"), ("yang", "lemma-5", "lemma-25"), ("hahn", "parry", "parity")],
)
def test_what_is_no_statement_is_refused_with_near_ones(paper: str, typed: str, near: str) -> None:
    done = attemper("paper", paper, typed)
    assert done.code == ExitCode.USAGE
    assert f"'{typed}' is no statement of '{paper}' here: near are " in done.err
    assert near in done.err


def test_what_is_no_paper_is_refused() -> None:
    done = attemper("paper", "barcelo")
    assert (done.code, done.out) == (ExitCode.USAGE, "")
    assert "'yang', 'hahn', 'supplement'" in done.err


def _with(monkeypatch: pytest.MonkeyPatch, **changes: Any) -> None:
    """One row alone, changed."""
    (row,) = meant(Paper.YANG, "theorem-16")
    monkeypatch.setattr(listing, "statements", lambda: (replace(row, **changes),))


def test_a_run_that_shows_something_else_says_so_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(
        monkeypatch, run=lambda: [equal("layers", 2, 1), at_most("error", 0.5, 0.25), at_least("gap", 3, 2)]
    )
    done = attemper("paper", "yang", "16")
    assert done.code == ExitCode.DISAGREEMENT
    assert done.out.splitlines()[4:] == [
        "  layers: 2, not 1  FAILS",
        "  error: 0.5 <= 0.25  FAILS",
        "  gap: 3 >= 2",
        "FAILS: 2 of 3",
    ]
    record = attemper("paper", "yang", "16", "--json").record
    assert (record["holds"], [one["holds"] for one in record["seen"]]) == (False, [False, False, True])


def test_a_run_that_sees_nothing_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, run=lambda: [])
    assert attemper("paper", "yang", "16").code == ExitCode.DISAGREEMENT


def test_what_is_no_number_is_within_no_bound() -> None:
    assert not at_most("error", float("nan"), 1).holds
    assert not at_least("error", float("nan"), 1).holds


def test_what_is_not_built_says_why_and_ends_with_4(monkeypatch: pytest.MonkeyPatch) -> None:
    _with(monkeypatch, run=None, differs="nobody has done it")
    done = attemper("paper", "yang", "16")
    assert done.code == ExitCode.UNSUPPORTED
    assert "not built: nobody has done it" in done.out


def test_a_row_from_the_command_line_holds() -> None:
    record = attemper("paper", "yang", "figure-1", "--json").record
    assert record["holds"]
    assert record["row"] == 47
