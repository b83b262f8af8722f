"""Hahn, section 5: layers are taken away, with its figures; and ties that are broken in any way."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from attemper.models.arrays import Array
from attemper.models.hard.examples import RandomTables
from attemper.models.hard.protocol import answer
from attemper.theories.refutation.ask import reduce
from attemper.theories.refutation.lemma.inputs import bits_of
from attemper.theories.refutation.lemma.pictures import every_layer, selection
from attemper.theories.refutation.lemma.reducing import OneLayerLess, agreement, all_removed
from attemper.theories.refutation.lemma.transformers import (
    CTransformer,
    numbers_in,
    own_layer,
    reading_others,
)
from attemper.theories.refutation.statements import by_hand, layer_by_hand
from attemper.workbench.papers.statements import Observed, Paper, Statement, at_least, at_most, equal

TABLES = RandomTables(12, (1, 1), seed=172)
"""Two layers at n = 12, whose output depends on inputs in the end."""


def removed() -> tuple[OneLayerLess, ...]:
    """Both layers, one after the other."""
    return tuple(all_removed(own_layer(TABLES), 1))


def words_of(restricted: CTransformer) -> Array:
    """All words of bits (word, input) that a restriction allows, fixed ones put in."""
    bits = bits_of(restricted.inputs)
    words = np.tile(bits, (2 ** len(restricted.free), 1))
    words[:, list(restricted.free)] = list(product((0, 1), repeat=len(restricted.free)))
    return words


def symbols_of(restricted: CTransformer, word: Array) -> list[int]:
    """The numbers of the symbols that these bits stand for: an input with one symbol has this."""
    allowed = restricted.inputs.allowed
    return [some[int(bit)] if len(some) > 1 else some[0] for some, bit in zip(allowed, word, strict=True)]


def bottom_by_hand(transformer: CTransformer, word: Array) -> Array:
    """Layer 0 of a c-transformer by the definition: y_j^(0) is a function of the inputs that j reads."""
    return np.array(
        [
            table[int("".join(map(str, word[list(own)])) or "0", 2), 0]
            for own, table in zip(transformer.reads, transformer.tables, strict=True)
        ]
    )


def pairs_by_hand(transformer: CTransformer) -> set[tuple[int, int]]:
    """Which position attends to which in the lowest layer, on any word at all."""
    found = set()
    for word in words_of(transformer):
        rows = bottom_by_hand(transformer, word)
        scores = transformer.model.scores(transformer.gone, 0, rows, rows)
        found |= set(enumerate(scores.argmax(axis=1).tolist()))
    return found


def drawn(weights: object) -> set[tuple[int, int]]:
    """The lines between two rows of a figure."""
    return {(int(i), int(j)) for i, j in zip(*np.nonzero(np.array(weights)), strict=True)}


def c_transformers() -> Iterator[Observed]:
    """Each position reads 1, 2, or 3 inputs: what runs is the definition; an own layer is one with c = 1."""
    model = RandomTables(6, (1, 2), seed=1)
    for c in (1, 2, 3):
        made = reading_others(model, c, seed=1)
        yield equal(f"c = {c}: inputs that an activation depends on, at most", made.most_inputs, c)
        wrong = 0
        for word in words_of(made):
            rows, found = bottom_by_hand(made, word), made.run(word[None])
            for layer in range(3):
                wrong += not (found[layer][0] == rows).all()
                rows = layer_by_hand(model, layer, rows) if layer < 2 else rows
        yield equal(f"c = {c}: layers that differ, of {3 * 2**5}", wrong, 0)
    own = own_layer(model)
    wrong = sum(
        not (own.run(word[None])[2][0] == by_hand(model, symbols_of(own, word), 2)).all()
        for word in words_of(own)
    )
    yield equal("a transformer as a 1-transformer: words on which it differs, of 32", wrong, 0)


def lemma_4() -> Iterator[Observed]:
    """rho' T = rho' T' for each layer less; and what the output depends on in the end, by T alone."""
    for one, free, most in zip(removed(), (6, 5), (3, 27), strict=True):
        after = one.transformer
        name = f"layers left {len(after.heads)}:"
        yield equal(f"{name} free inputs", len(after.free), free)
        yield at_most(f"{name} c'", after.most_inputs, most)
        words = words_of(after)
        upper = [by_hand(TABLES, symbols_of(after, word), after.gone) for word in words]
        wrong = sum(
            not (bottom_by_hand(after, word) == rows).all() for word, rows in zip(words, upper, strict=True)
        )
        yield equal(f"{name} words of {len(words)} where T' is not T", wrong, 0)
        seen = agreement(own_layer(TABLES), after)
        yield equal(f"{name} compared layer by layer, words", seen.words if seen.all_words else 0, 2**free)
    last = removed()[-1].transformer
    labels: dict[tuple[int, ...], set[bool]] = {}
    for word in words_of(last):
        numbers = np.array(symbols_of(last, word))
        labels.setdefault(tuple(word[list(last.reads[-1])]), set()).add(bool(answer(TABLES, numbers)))
    yield equal("the output depends on inputs", " ".join(str(q + 1) for q in last.reads[-1]), "7 8")
    yield equal("answers of T for one assignment to these", max(map(len, labels.values())), 1)
    yield equal("and for all", len(set().union(*labels.values())), 2)


def figure_1() -> Iterator[Observed]:
    """Five panels: whom each layer may attend to, before and after, and the inputs that are fixed in each."""
    panels = every_layer(removed())
    stages = [*(made for one in removed() for made in (one.given, one.before)), removed()[-1].transformer]
    for panel, made, free in zip(panels, stages, (11, 6, 6, 5, 5), strict=True):
        shaded = sum(panel.rows[-1].shaded)
        yield equal(f"{panel.caption}: fixed inputs", shaded, 12 - free)
        lines = drawn(panel.rows[-2].weights)
        needed = {(j, q) for j, own in enumerate(made.reads) for q in own}
        yield equal(f"{panel.caption}: lines to inputs", len(lines), len(needed))
        if made.heads:
            missing = pairs_by_hand(made) - drawn(panel.rows[0].weights)
            yield equal(f"{panel.caption}: pairs on some word that are not drawn", len(missing), 0)


def figure_2() -> Iterator[Observed]:
    """Layer 1 before and after: the lines drawn are the pairs that attend on any word at all."""
    (one, *_) = removed()
    for panel, made, pairs in zip(every_layer([one]), (one.given, one.before), (77, 24), strict=False):
        lines = drawn(panel.rows[0].weights)
        yield equal(f"{panel.caption}: pairs", len(lines), pairs)
        yield equal("they are those that attend on some word", lines == pairs_by_hand(made), True)


def figure_3() -> Iterator[Observed]:
    """c = 2, k = 2: activations by their greatest scores, those with new inputs first."""
    one = reduce(reading_others(RandomTables(8, (1,), seed=58), 2, seed=58), k=2)
    panel, given = selection(one)[0], one.given
    yield equal("caption", panel.caption, "c = 2, k = 2: 2 activations with 3 new inputs")
    asking, activations, inputs = panel.rows
    own = asking.texts.index("z")
    wanted = []
    for z in given.tables[own][:, 0]:
        best = [
            -int(given.model.scores(0, 0, z[None], table[:, 0]).max()) if j != own else 1
            for j, table in enumerate(given.tables)
        ]
        order = sorted(set(range(8)) - {own}, key=best.__getitem__)
        selected: list[int] = []
        new: set[int] = set()
        for j in order:
            if len(selected) < 2 and set(given.reads[j]) - new:
                selected.append(j)
                new |= set(given.reads[j])
        ranks = [str(1 + order.index(j)) if j != own else "z" for j in range(8)]
        wanted.append((ranks, [j in selected for j in range(8)], [q in new for q in range(8)]))
    found = (list(activations.texts), list(activations.shaded), list(inputs.shaded))
    yield equal("ranks, selected and new inputs are those of a value z", found in wanted, True)


def any_ties() -> Iterator[Observed]:
    """Each choice among the best, tried: what position i has next is among the values that are listed."""
    model = RandomTables(12, (1,), levels=4)
    for ties, free in (("leftmost", 7), ("any", 4)):
        found = reduce(model, ties="any" if ties == "any" else "leftmost", k=2).transformer
        yield equal(f"{ties}: free inputs", len(found.free), free)
        missing = chances = 0
        for word in words_of(found):
            rows = by_hand(model, symbols_of(found, word), 0)
            scores = model.scores(0, 0, rows, rows)
            for i, own in enumerate(found.reads):
                listed = found.tables[i][numbers_in(word[None, list(own)])[0]].tolist()
                best = np.flatnonzero(scores[i] == scores[i].max())
                for j in best if ties == "any" else best[:1]:
                    value = model.combine(0, rows[[i]], [rows[[j]]])[0].tolist()
                    missing, chances = missing + (value not in listed), chances + 1
        yield at_least(f"{ties}: choices on all words", chances, 12 * 2**free)
        yield equal(f"{ties}: values that are not listed", missing, 0)


REDUCED = "attemper lemma --reduce --length 12 --seed 172"

STATEMENTS = (
    Statement(
        *(52, Paper.HAHN, ("footnote-1", "ties"), "Footnote 1: ties go to the left, or anywhere at random"),
        "The leftmost of the best scores; `attemper.reduce(ties=...)` takes any of them, too.",
        "Of random choices all outcomes are listed, not their probabilities; `refute` is about the leftmost.",
        'attemper.reduce(RandomTables(12, (1,), levels=4), ties="any", k=2)',
        any_ties,
    ),
    Statement(
        *(63, Paper.HAHN, ("definition-3", "c-transformer"), "Definition 3: c-transformers"),
        "`CTransformer`: lowest activations are tables over at most c inputs, and hard attention above them.",
        "",
        f"{REDUCED} --c 2",
        c_transformers,
    ),
    Statement(
        *(64, Paper.HAHN, ("lemma-4", "depth-reduction"), "Lemma 4: a finer restriction and a layer less"),
        "`attemper.reduce`: rho', and T' with a layer less, run beside T on all words that are left.",
        "Inputs are fixed until every tuple is satisfied, at every n and k; how many stay free is not "
        "promised.",
        REDUCED,
        lemma_4,
    ),
    Statement(
        *(65, Paper.HAHN, ("figure-1",), "Figure 1: layers are removed one after another"),
        "`lemma --reduce --svg` draws it from reductions that were made: five parts for two layers.",
        "",
        f"{REDUCED} --svg layers.svg",
        figure_1,
    ),
    Statement(
        *(66, Paper.HAHN, ("figure-2",), "Figure 2: attention of a layer before and after"),
        "The first two parts of that, drawn alone.",
        "",
        f"{REDUCED} --svg layer.svg --figure 2",
        figure_2,
    ),
    Statement(
        *(67, Paper.HAHN, ("figure-3",), "Figure 3: ranking and selection, c = 2, k = 2"),
        "Drawn of the head and value that have the most inputs to read.",
        "Activations are numbered by rank, and inputs by the activation that they are new with.",
        "attemper lemma --reduce --length 8 --layers 1 --c 2 --k 2 --seed 58 --svg ranks.svg --figure 3",
        figure_3,
    ),
)
