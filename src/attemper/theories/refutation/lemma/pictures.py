"""Hahn's Figures 1 to 3, drawn from reductions that were made: attention before and after, fixed inputs.

The inputs are the lowest row of each part, with their symbols where they are fixed. Above them stand
activations, shaded where they depend on no free input: heads that can attend to such ones alone are silenced,
and lines to them are faint. A line is drawn wherever a head may attend to an activation, and dashed where an
activation depends on an input. Numbers in activations say on how many inputs they depend.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attemper.errors import UnsupportedError
from attemper.exports.pictures.rows import Cells, Panel, panels_svg
from attemper.theories.refutation.lemma.faithful import without_own
from attemper.theories.refutation.lemma.inputs import bits_of
from attemper.theories.refutation.lemma.reducing import OneLayerLess, attends
from attemper.theories.refutation.lemma.satisfied import Keys, bottom_of
from attemper.theories.refutation.lemma.transformers import CTransformer

WIDEST_FIGURE = 40
"""So many positions have room."""

FAINT = 0.25
"""How dark a line to an activation is that depends on no input."""


def every_layer(removed: Sequence[OneLayerLess]) -> list[Panel]:
    """Figure 1: each layer before and after inputs are fixed for it, and what is left in the end.

    Of one reduction alone, the first two parts are Figure 2.
    """
    panels = []
    for one in removed:
        number = one.given.gone + 1
        panels.append(_panel(f"layer {number}: whom heads may attend to", one.given))
        fixed = len(one.given.free) - len(one.before.free)
        said = "1 input was" if fixed == 1 else f"{fixed} inputs were"
        panels.append(_panel(f"layer {number}, after {said} fixed for it", one.before))
    last = removed[-1].transformer
    panels.append(Panel(f"{_layers(last)} left: what activations depend on", _lower_rows(last)))
    return panels


def selection(one: OneLayerLess) -> list[Panel]:
    """Figure 3: how the first k activations with new inputs are selected for a head and a value of its own.

    It is the tuple ((h, i), z) with the most inputs to read. Activations are numbered in the order of their
    greatest possible scores, of equal ones the leftmost first, and the darker the line the higher they rank.
    Selected ones are shaded, and so are the inputs that are new with them, which have their numbers.
    """
    given = one.given
    keys = Keys(bottom_of(given))
    bits = bits_of(given.inputs)
    tuples = keys.tuples(bits)
    chosen = tuples[[int(keys.counts(bits, tuples).argmax())]]
    high = without_own(keys, chosen, keys.ranges(bits, chosen)[1])[0]
    own = int(keys.own[chosen[0]])
    order = [int(j) for j in np.argsort(-high) if j != own]
    rank = {j: number for number, j in enumerate(order, start=1)}
    new: dict[int, int] = {}
    selected: list[int] = []
    for j in order:
        fresh = set(given.reads[j]) - set(new)
        if fresh and len(selected) < one.k:
            selected.append(j)
            new |= dict.fromkeys(fresh, rank[j])
    n = given.size
    query = Cells(
        f"head {chosen[0] // len(keys.bottom.owner) + 1} at {own + 1}",
        ["z" if j == own else "" for j in range(n)],
        [j == own for j in range(n)],
        [[(n - rank[j]) / n if i == own and j != own else 0.0 for j in range(n)] for i in range(n)],
    )
    activations = Cells(
        _name(given),
        [str(rank[j]) if j != own else "z" for j in range(n)],
        [j in selected for j in range(n)],
        _weights(given),
        dashed=True,
    )
    texts = [str(new.get(q, text)) for q, text in enumerate(_fixed_symbols(given))]
    inputs = Cells("inputs", texts, [q in new for q in range(n)])
    said = f"c = {given.most_inputs}, k = {one.k}: {len(selected)} activations with {len(new)} new inputs"
    return [Panel(said, [query, activations, inputs])]


def figure_svg(number: int, removed: Sequence[OneLayerLess]) -> str:
    """One of Hahn's figures, as a picture that stands alone. Raises `UnsupportedError` if it has no room."""
    size = removed[0].given.size
    if size > WIDEST_FIGURE:
        raise UnsupportedError(f"a figure has room for {WIDEST_FIGURE} positions, not for {size}")
    match number:
        case 1:
            title, panels = "One layer after the other is taken away", every_layer(removed)
        case 2:
            title, panels = "Fixing inputs for one layer", every_layer(removed[:1])[:2]
        case _:
            title, panels = "Activations with new inputs, in the order of their scores", selection(removed[0])
    return panels_svg(title, panels, standalone=True)


def _panel(caption: str, transformer: CTransformer) -> Panel:
    """A layer's heads above what they may attend to."""
    can = attends(transformer).any(axis=0)
    constant = np.array([not own for own in transformer.reads])
    weights = np.where(can, np.where(constant, FAINT, 1.0), 0.0)
    # What is there through the skip connection counts, too.
    changes = ((can | np.eye(transformer.size, dtype=np.bool_)) & ~constant).any(axis=1)
    upper = Cells(
        f"layer {transformer.gone + 1}", [""] * transformer.size, (~changes).tolist(), weights.tolist()
    )
    return Panel(caption, [upper, *_lower_rows(transformer)])


def _lower_rows(transformer: CTransformer) -> list[Cells]:
    """The lowest activations above the inputs that they depend on."""
    texts = _fixed_symbols(transformer)
    counts = [str(len(own)) for own in transformer.reads]
    constant = [not own for own in transformer.reads]
    return [
        Cells(_name(transformer), counts, constant, _weights(transformer), dashed=True),
        Cells("inputs", texts, [bool(text) for text in texts]),
    ]


def _fixed_symbols(transformer: CTransformer) -> list[str]:
    """The symbol of each fixed input, and nothing where it is free."""
    symbols = transformer.model.symbols
    return [symbols[some[0]] if len(some) == 1 else "" for some in transformer.inputs.allowed]


def _weights(transformer: CTransformer) -> list[list[float]]:
    return [[float(q in own) for q in range(transformer.size)] for own in transformer.reads]


def _name(transformer: CTransformer) -> str:
    return "embeddings" if transformer.gone == 0 else f"layer {transformer.gone}"


def _layers(transformer: CTransformer) -> str:
    return "no layer is" if not transformer.heads else f"{len(transformer.heads)} layers are"
