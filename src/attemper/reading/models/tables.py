"""Future-masked networks of unique hard attention become automata: tables of picked values, layer by layer.

Let M be a machine that puts out y_i^(k-1) when it reads symbol number i of a word, and V the finite set of
all that it ever puts out. Layer k has for each head a *table*: for each q in V the value that the head would
read with the query q, among the positions so far. A new value y replaces the value x in the entry of q if
score(q, y) > score(q, x), or if both are equal and the head reads the rightmost; an empty entry is replaced
always. A strict head reads the entry of q = y before y enters the table, any other head after. So M with the
tables of layer k is a machine that puts out y_i^(k). The first machine counts places and puts out embeddings.

That a table is enough: for a fixed q what is read is the fold of an associative operation over the positions
(the maximum, ties to one side), and only the value is kept, as only values are read. That every entry is
there: V is known before layer k begins. That the search ends: by Theorem 1 of the invariant F_k, y^(k) is a
function of F_k, of which there are finitely many where there are finitely many places, so V is finite for
each layer; a machine has finitely many tables over it. Two queries that order V alike share an entry, and
states of M that nothing tells apart are one before the next layer begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.models.arrays import Integers
from attemper.models.hard import masked
from attemper.models.hard.masked_wellformed import complaints
from attemper.reading.models.asked import Asked
from attemper.reading.models.attention import attention_of
from attemper.reading.models.budget import Budget
from attemper.reading.models.following import TableFollower
from attemper.reading.models.mealy import Machine, merged
from attemper.reading.models.values import Values

EMBEDDED = 200
"""So many bytes a letter at a place is taken to need."""

EMPTY_BY_ENDING = "the model's, at its end marker"
EMPTY_BY_ATTRIBUTE = "the model's attribute 'accepts_empty'"
EMPTY_UNSAID = "rejected, as the model says nothing of it"


@final
@dataclass(frozen=True)
class ReadTable:
    """The language of a future-masked network: all of its words, at all lengths.

    `configurations` is how many states and tables were met, in all layers together; `values` how many
    different activations each of the layers 0..L has. `empty` says whose the verdict on the empty word is,
    and `semantics` in which arithmetic the functions were evaluated.
    """

    dfa: Dfa
    configurations: int
    values: tuple[int, ...]
    empty: str
    semantics: str


def automaton_of_masked(
    model: masked.MaskedModel, configurations: int = 200_000, seconds: float = 60.0
) -> ReadTable:
    """The least automaton of the words that a future-masked network accepts, at every length n >= 1.

    The verdict on a word w_1 ... w_n is label(y_n^(L)) (`models.hard.masked`). The automaton is *measured* of
    the functions that the model has, in the arithmetic that they use: it holds if their results do not depend
    on the batch and the embedding has the places that the model declares. Both are probed, not proved. The
    empty word: see `MaskedModel`.

    Raises `UnsupportedError` for attributes that no such model has, for functions that return what is no
    number or depends on the batch (whose details name the `function`), and for an embedding with other
    places; `UnprovedError` where there are more configurations, or where more seconds or memory are needed.

    The lemma is Theorem 1 of `docs/reading-back.md`: activations are functions of the orders in which earlier
    activations first and last occur, so that they are finitely many.

    >>> from attemper.models.hard.masked_examples import Alternating
    >>> read = automaton_of_masked(Alternating())
    >>> len(read.dfa.moves), read.dfa.accepts(tuple("abab")), read.dfa.accepts(tuple("abba")), read.empty
    (4, True, False, 'rejected, as the model says nothing of it')
    """
    for complaint in complaints(model):
        raise UnsupportedError(f"the model has {complaint}")
    budget, asked = Budget(configurations, seconds), Asked(model)
    last = None if (ending := masked.ending_of(model)) is None else model.symbols.index(ending)
    asked.require_places(len(model.symbols))
    budget.hold(EMBEDDED * sum(model.places) * len(model.symbols), "embeddings at all places")
    machine, values = _of_places(model, asked)
    budget.meet(len(machine.moves))
    met = [len(values)]
    for layer, heads in enumerate(model.layers):
        attention = attention_of(asked, layer, heads, values.rows(), budget)
        follower = TableFollower(
            asked, layer, merged(machine, budget.look), values.rows(), attention, budget, last
        )
        machine, values = follower.follow()
        met.append(len(values))
    bits = asked.labels(values.rows())
    judged = Machine(machine.moves, bits[machine.outputs].astype(np.int64))
    dfa = _as_dfa(model, merged(judged, budget.look))
    return ReadTable(minimal(dfa), budget.met, tuple(met), _whose_empty(model), model.semantics)


def _of_places(model: masked.MaskedModel, asked: Asked) -> tuple[Machine, Values]:
    """The machine that counts places, and puts out the numbers of embeddings."""
    places, letters = np.arange(1, sum(model.places) + 1), np.arange(len(model.symbols))
    values = Values()
    embedded = asked.embed(np.repeat(places, len(letters)), np.tile(letters, len(places)))
    outputs = values.numbered(embedded).reshape(len(places), len(letters))
    after = masked.placed(model.places, places + 1) - 1
    return Machine(np.repeat(after[:, None], len(letters), axis=1), outputs), values


def _as_dfa(model: masked.MaskedModel, machine: Machine) -> Dfa:
    """The automaton of a machine whose outputs are verdicts on the word up to the letter at hand."""
    ending = masked.ending_of(model)
    if ending is not None:
        marker = model.symbols.index(ending)
        letters = [letter for letter in range(len(model.symbols)) if letter != marker]
        accepting = frozenset(np.flatnonzero(machine.outputs[:, marker]).tolist())
        return Dfa(masked.alphabet_of(model), _tuples(machine.moves[:, letters]), 0, accepting)
    # The state 2 q + v says that the machine is in q, and that v is the verdict; one more is the start.
    moves = 2 * machine.moves + machine.outputs
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
