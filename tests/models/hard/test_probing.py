"""A model that is asked twice: of which rows, and what counts as another result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from attemper.models.arrays import Array, Integers
from attemper.models.hard.probing import PROBED, BatchDependenceError, Probed

Rows = list[int]


@dataclass
class Recording:
    """Every function gives its rows' numbers, changed as one says; it is noted which rows are asked for."""

    change: Callable[[Array], Array] = lambda found: found
    asked: list[Rows] = field(default_factory=list)
    keys: list[Rows] = field(default_factory=list)
    length: int = 1
    symbols: tuple[str, ...] = ("a", "b")
    ending: str | None = None
    heads: tuple[int, ...] = (1,)
    digest: str = "recording"
    semantics: str = "for tests"

    def _noted(self, rows: Array) -> Array:
        self.asked.append(rows.tolist())
        return self.change(np.array(rows))

    def embed(self, positions: Integers, symbols: Integers) -> Array:
        assert (symbols == positions + 1).all()
        return self._noted(positions)

    def scores(self, layer: int, head: int, queries: Array, keys: Array) -> Array:
        assert (layer, head) == (2, 3)
        self.asked.append(queries.tolist())
        self.keys.append(keys.tolist())
        return np.array([self.change(np.array(keys)) for _ in queries])

    def combine(self, layer: int, own: Array, attended: Sequence[Array]) -> Array:
        assert layer == 2
        assert all((rows == own + 1).all() for rows in attended)
        return self._noted(own)

    def labels(self, activations: Array) -> NDArray[np.bool_]:
        return self._noted(activations) > 0


def call(name: str, probed: Probed, count: int, keys: int = 7) -> Array:
    """One of the functions, of so many rows."""
    rows = np.arange(count)
    match name:
        case "embed":
            return probed.embed(rows, rows + 1)
        case "scores":
            return probed.scores(2, 3, rows, np.arange(keys))
        case "combine":
            return probed.combine(2, rows, [rows + 1, rows + 1])
        case _:
            return probed.labels(rows)


FUNCTIONS = ("embed", "scores", "combine", "labels")


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("count", [1, 2, PROBED, PROBED + 1, 500])
def test_a_few_rows_are_asked_again_together_and_alone(name: str, count: int) -> None:
    """All of them, if there are only a few; none twice in a batch, and in their order."""
    model = Recording()
    found = call(name, Probed(model), count)
    every, few, part, *alone = model.asked
    assert every == list(range(count))
    assert len(found) == count
    for some in (few, part):
        assert some == sorted(set(some))
        assert set(some) <= set(every)
    assert alone == [[row] for row in few]
    assert len(few) == min(count, PROBED)
    assert few == every or count > PROBED
    assert part == every or count > len(part) > len(few)


@pytest.mark.parametrize("keys", [1, 2, 9])
def test_scores_are_asked_again_for_some_of_the_keys(keys: int) -> None:
    """At least one, each once and in their order; sometimes all, and sometimes not."""
    model = Recording()
    probed = Probed(model)
    for _ in range(10):
        call("scores", probed, 3, keys)
    for some in model.keys:
        assert some
        assert some == sorted(set(some))
        assert set(some) <= set(range(keys))
    again = [len(some) for number, some in enumerate(model.keys) if number % 6]
    assert (min(again), max(again)) == (1, keys)


@pytest.mark.parametrize("name", ["embed", "combine", "labels"])
def test_one_row_that_is_another_in_another_batch_is_noticed(name: str) -> None:
    def change(found: Array) -> Array:
        found[found == 0] = 5 * (len(found) < 4)
        return found

    with pytest.raises(BatchDependenceError):
        call(name, Probed(Recording(change)), 4)


def test_scores_count_by_their_order_only() -> None:
    """They may be others in another batch, as long as the same ones are better, and the same equal."""

    def shifted(keys: Array) -> Array:
        return np.asarray(keys // 2 + 100 * len(keys))

    call("scores", Probed(Recording(shifted)), 4)

    def turned(keys: Array) -> Array:
        return np.asarray(keys if len(keys) == 7 else -keys)

    with pytest.raises(BatchDependenceError, match="the scores of the model depend on what else"):
        call("scores", Probed(Recording(turned)), 4)

    def swapped(keys: Array) -> Array:
        """The same scores, for other keys."""
        return np.asarray(keys if len(keys) == 7 else keys[::-1])

    with pytest.raises(BatchDependenceError):
        call("scores", Probed(Recording(swapped)), 4)

    def tied(keys: Array) -> Array:
        return np.asarray(keys if len(keys) == 7 else keys // 2)

    with pytest.raises(BatchDependenceError):
        call("scores", Probed(Recording(tied)), 4)
