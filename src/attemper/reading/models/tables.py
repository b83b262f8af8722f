"""Masked networks of unique hard attention become automata: tables of picked values, layer by layer.

Let M be a machine that puts out y_i^(k-1) at position i of a word, from what stands before and behind
(`bimachines`), and V the finite set of all that it ever puts out. Layer k has for each head a *table* of the
positions before i: for each q in V the value that the head would read with the query q. A new value y
replaces the value x in the entry of q if score(q, y) > score(q, x), or if both are equal and the head reads
the rightmost; an empty entry is replaced always. The positions behind i have a table, too, which is filled
from the end of the word; where a head sees both sides, the two picked values are compared. A head that sees i
compares with y_i, too.

M's outputs at the positions before i depend on what follows, but only by M's state on the right of i - 1, of
which there are finitely many; so the new machine has on its left side M's state and a table for each of them,
and on its right side a table for each of M's states on the left. Where no head looks to the right, M has one
state there, and this is the usual automaton. The first machine counts places and puts out embeddings.

That a table is enough: for a fixed q what is read is the fold of an associative operation over the positions
(the maximum, ties to one side), and only the value is kept, as only values are read. That every entry is
there: V is known before layer k begins, and has no value that no word has, as every state on the left meets
every one on the right. That the search ends: tables over a finite V are finitely many, and so are functions
from the states of one side to tables. Two queries that order V alike share an entry, and states of M that
nothing tells apart are one before the next layer begins.

A model that is read at the first position is read from the other end, and so is its automaton in the end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from numpy.typing import NDArray

from attemper.attention_program.ops import Mask
from attemper.errors import UnprovedError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.relating import from_the_end
from attemper.models.arrays import Integers
from attemper.models.hard import masked
from attemper.models.hard.masked_wellformed import complaints
from attemper.reading.models.asked import Asked
from attemper.reading.models.attention import attention_of
from attemper.reading.models.bimachines import Bimachine, merged
from attemper.reading.models.budget import Budget
from attemper.reading.models.following import LayerFollower
from attemper.reading.models.values import Values

EMBEDDED = 200
"""So many bytes a letter at a place is taken to need."""

EMPTY_BY_ENDING = "the model's, at its end marker"
EMPTY_BY_ATTRIBUTE = "the model's attribute 'accepts_empty'"
EMPTY_UNSAID = "rejected, as the model says nothing of it"


@final
@dataclass(frozen=True)
class ReadTable:
    """The language of a masked network: all of its words, at all lengths.

    `configurations` is how many states and tables were met, in all layers together; `values` how many
    different activations each of the layers 0..L has, in the last one where it is read. `empty` says whose
    the verdict on the empty word is, and `semantics` in which arithmetic the functions were evaluated.
    """

    dfa: Dfa
    configurations: int
    values: tuple[int, ...]
    empty: str
    semantics: str


def automaton_of_masked(
    model: masked.MaskedModel, configurations: int = 200_000, seconds: float = 60.0
) -> ReadTable:
    """The least automaton of the words that a masked network accepts, at every length n >= 1.

    The verdict on a word w_1 ... w_n is label(y_n^(L)), or label(y_1^(L)) of a model that is read first
    (`models.hard.masked`). The automaton is *measured* of the functions that the model has, in the arithmetic
    that they use: it holds if their results do not depend on the batch and the embedding has the places that
    the model declares. Both are probed, not proved. The empty word: see `MaskedModel`.

    Raises `UnsupportedError` for attributes that no such model has, for functions that return what is no
    number or depends on the batch (whose details name the `function`), and for an embedding with other
    places; `UnprovedError` where there are more configurations, or where more seconds or memory are needed.

    (Yang, Chiang and Angluin, "Masked Hard-Attention Transformers Recognize Exactly the Star-Free Languages",
    2024, make formulas of such models; here tables are followed.)

    >>> from attemper.models.hard.masked_examples import Alternating
    >>> read = automaton_of_masked(Alternating())
    >>> len(read.dfa.moves), read.dfa.accepts(tuple("abab")), read.dfa.accepts(tuple("abba")), read.empty
    (4, True, False, 'rejected, as the model says nothing of it')
    """
    for complaint in complaints(model):
        raise UnsupportedError(f"the model has {complaint}")
    budget, asked = Budget(configurations, seconds), Asked(model)
    asked.require_places(len(model.symbols))
    budget.hold(EMBEDDED * sum(model.places) * len(model.symbols), "embeddings at all places")
    machine, values = _of_places(model, asked)
    layers = [*model.layers]
    if masked.reads_first(model):
        machine, layers = machine.mirrored(), [[_mirrored(head) for head in heads] for heads in layers]
    budget.meet(sum(model.places))
    met = [len(values)]
    for layer, heads in enumerate(layers):
        attention = attention_of(asked, layer, heads, values.rows(), budget)
        below = merged(machine, budget.look)
        follower = LayerFollower(asked, layer, below, values.rows(), attention, budget)
        machine, values = follower.follow(only_last=layer == len(layers) - 1)
        met.append(len(values))
    dfa = minimal(_as_dfa(model, machine, asked.labels(values.rows()), budget))
    if masked.reads_first(model):
        try:
            dfa = from_the_end(dfa, configurations)
        except UnsupportedError as error:
            raise UnprovedError(f"{error}: give a greater limit 'configurations'") from None
    return ReadTable(dfa, budget.met, tuple(met), _whose_empty(model), model.semantics)


def _mirrored(head: masked.MaskedHead) -> masked.MaskedHead:
    """The head of the model that reads words from the other end."""
    own = masked.mask_of(head)
    sides = own.after, own.here, own.before
    mask = next(mask for mask in Mask if (mask.before, mask.here, mask.after) == sides)
    choice = next(choice for choice in masked.TieRule if choice != head.choice)
    return masked.MaskedHead(mask.value, choice.value)


def _of_places(model: masked.MaskedModel, asked: Asked) -> tuple[Bimachine, Values]:
    """The machine that counts places, and puts out the numbers of embeddings."""
    places, letters = np.arange(1, sum(model.places) + 1), np.arange(len(model.symbols))
    values = Values()
    embedded = asked.embed(np.repeat(places, len(letters)), np.tile(letters, len(places)))
    outputs = values.numbered(embedded).reshape(len(places), len(letters), 1)
    after = masked.placed(model.places, places + 1) - 1
    moves = np.repeat(after[:, None], len(letters), axis=1)
    ending = masked.ending_of(model)
    if ending is None:
        return Bimachine(moves, np.zeros_like(moves[:1]), outputs), values
    marker = model.symbols.index(ending)
    own = letters != marker
    return Bimachine(
        moves[:, own], np.zeros_like(moves[:1, own]), outputs[:, own], outputs[:, marker, 0]
    ), values


def _as_dfa(model: masked.MaskedModel, machine: Bimachine, bits: NDArray[np.bool_], budget: Budget) -> Dfa:
    """The automaton of a machine whose outputs are activations of which the bits are the verdicts."""
    ends = None if machine.ends is None else bits[machine.ends].astype(np.int64)
    outputs = bits[machine.outputs[:, :, :1]].astype(np.int64)
    last = Bimachine(
        machine.left, np.zeros_like(machine.right[:1]), outputs if ends is None else 0 * outputs, ends
    )
    judged = merged(last, budget.look)
    if judged.ends is not None:
        accepting = frozenset(np.flatnonzero(judged.ends).tolist())
        return Dfa(masked.alphabet_of(model), _tuples(judged.left), 0, accepting)
    # The state 2 q + v says that the machine is in q, and that v is the verdict; one more is the start.
    moves = 2 * judged.left + judged.outputs[:, :, 0]
    start = 2 * len(moves)
    rows = _tuples(np.concatenate([np.repeat(moves, 2, axis=0), moves[:1]]))
    accepting = frozenset(range(1, start, 2)) | ({start} if masked.empty_of(model) else set())
    return Dfa(masked.alphabet_of(model), rows, start, accepting)


def _tuples(rows: Integers) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, rows.tolist()))


def _whose_empty(model: masked.MaskedModel) -> str:
    if masked.ending_of(model) is not None:
        return EMPTY_BY_ENDING
    return EMPTY_UNSAID if masked.empty_of(model) is None else EMPTY_BY_ATTRIBUTE
