"""Hahn's figures, read back: lines are attention that happens, or inputs that activations depend on."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from attemper.exports.pictures.rows import Cells
from attemper.theories.refutation.lemma.pictures import every_layer, selection
from attemper.theories.refutation.lemma.reducing import OneLayerLess, all_removed, one_layer_less
from attemper.theories.refutation.lemma.transformers import CTransformer
from tests.support.drawn.listed_models import listed_transformer
from tests.support.oracles import c_transformers
from tests.support.oracles.c_transformers import Listed


def lines(row: Cells) -> set[tuple[int, int]]:
    return {(i, j) for i, weights in enumerate(row.weights) for j, weight in enumerate(weights) if weight}


def attended_on_some_word(listed: Listed, at: CTransformer) -> set[tuple[int, int]]:
    """Whom heads of the layer above attend to on the words of a restriction, as the oracle runs them."""
    found = set()
    for symbols in product(*at.inputs.allowed):
        below = c_transformers.run(listed, symbols)[at.gone]
        for score in listed.score[at.gone]:
            found |= {(i, c_transformers.attended(score, own, below)) for i, own in enumerate(below)}
    return found


@pytest.mark.parametrize("seed", [0, 3])
def test_lines_are_where_heads_look_and_what_activations_depend_on(seed: int) -> None:
    listed, transformer = listed_transformer(seed, 7, 2, 1, 1, 3, 40)
    removed = list(all_removed(transformer, 1))
    panels = every_layer(removed)
    states = [state for one in removed for state in (one.given, one.before)]
    assert len(panels) == len(states) + 1
    for panel, state in zip(panels, states, strict=False):
        heads, activations, inputs = panel.rows
        assert attended_on_some_word(listed, state) <= lines(heads)
        assert lines(activations) == {(j, q) for j, own in enumerate(state.reads) for q in own}
        assert list(activations.texts) == [str(len(own)) for own in state.reads]
        assert [text for text in inputs.texts if text] == [
            str(s[0]) for s in state.inputs.allowed if len(s) == 1
        ]
        # What is silenced is the same on all words.
        tops = {
            tuple(c_transformers.run(listed, word)[state.gone + 1]) for word in product(*state.inputs.allowed)
        }
        for i, is_silent in enumerate(heads.shaded):
            assert not is_silent or len({top[i] for top in tops}) == 1
        faint = {
            (i, j) for i, row in enumerate(heads.weights) for j, weight in enumerate(row) if 0 < weight < 1
        }
        assert faint == {(i, j) for i, j in lines(heads) if not state.reads[j]}
    activations, inputs = panels[-1].rows
    last = removed[-1].transformer
    assert lines(activations) == {(j, q) for j, own in enumerate(last.reads) for q in own}


def test_one_layer_fewer_lines_after_fixing() -> None:
    _, transformer = listed_transformer(1, 9, 1, 1, 1, 3, None)
    before, after, _ = every_layer(list(all_removed(transformer, 1)))
    assert len(lines(before.rows[0])) > len(lines(after.rows[0]))
    assert before.rows[2].shaded.count(True) < after.rows[2].shaded.count(True)


@pytest.mark.parametrize("seed", range(6))
def test_the_selection_is_the_greedy_one_by_rank(seed: int) -> None:
    """Hahn's i_1 < ... < i_k: down the ranking, an activation is taken that has an input none above has."""
    listed, transformer = listed_transformer(seed, 8, 1, 1, 2, 4, None)
    found: OneLayerLess = one_layer_less(transformer, 2)
    (panel,) = selection(found)
    query, activations, inputs = panel.rows
    i = list(query.texts).index("z")
    # The ranking is by the greatest scores for one of the values of y_i, whichever it is.
    rankings = []
    for z in set(listed.table[i]):
        best = {j: max(listed.score[0][0][z][v] for v in listed.table[j]) for j in range(8) if j != i}
        rankings.append(sorted(best, key=lambda j: (-best[j], j)))
    drawn = sorted((j for j in range(8) if j != i), key=lambda j: int(activations.texts[j]))
    assert drawn in rankings
    seen: set[int] = set()
    selected: list[int] = []
    numbers: dict[int, str] = {}
    for rank, j in enumerate(drawn, start=1):
        fresh = set(transformer.reads[j]) - seen
        if fresh and len(selected) < 2:
            selected.append(j)
            numbers |= dict.fromkeys(fresh, str(rank))
        seen |= set(transformer.reads[j])
    assert [j for j, is_shaded in enumerate(activations.shaded) if is_shaded] == sorted(selected)
    assert {q: text for q, text in enumerate(inputs.texts) if text} == numbers
    weights = np.array(query.weights[i])
    assert [int(j) for j in np.argsort(-weights)[:7]] == drawn
