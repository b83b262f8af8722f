"""A look at somebody's own model before a search: what would make the search useless is found at once."""

from __future__ import annotations

import numpy as np

from attemper.errors import UnsupportedError
from attemper.models.arrays import Array, Integers
from attemper.models.hard.probing import BatchDependenceError, Probed
from attemper.models.hard.protocol import HardModel, activations, attended, normal
from attemper.modules import ModuleError, blaming, place_of

FUNCTIONS = {"embeddings": "embed", "scores": "scores", "activations": "combine", "labels": "labels"}
"""Which function of a model computes what a complaint is about."""


def probe(model: HardModel, again: HardModel, source: str) -> None:
    """Run a model on a word of n symbols, and see that its functions do what `HardModel` says.

    `again` is what the same source gives a second time: it must be the same model. Raises `ModuleError`, with
    the place of the function that is to blame, for arrays of other shapes, results that are not numbers or
    depend on the batch, and models that are made with other weights each time.

    >>> from attemper.models.hard.examples import RandomTables
    >>> probe(RandomTables(9, (1,)), RandomTables(9, (1,)), "examples:RandomTables")
    """
    word = _word(model)
    with blaming(source):
        found = _activations(model, word, source)
        _require_same(model, again, found, word, source)
        try:
            probed = Probed(model)
            probed.labels(activations(probed, word)[-1])
        except BatchDependenceError as error:
            raise _complaint(model, source, FUNCTIONS[error.what], str(error)) from None


def _word(model: HardModel) -> Integers:
    """A random word, with the end marker if there is one."""
    symbols = [k for k, symbol in enumerate(model.symbols) if symbol != model.ending]
    if not symbols:
        raise ModuleError("a model must have a symbol beside its end marker")
    ending = [] if model.ending is None else [model.symbols.index(model.ending)]
    drawn = np.random.default_rng(0).choice(symbols, model.length - len(ending))
    return np.array([*drawn, *ending], dtype=np.int64)


def _activations(model: HardModel, word: Integers, source: str) -> list[Array]:
    """All activations on a word; everything that the functions return on the way is looked at."""
    rows = _rows(model, source, "embed", model.embed(np.arange(1, model.length + 1), word))
    found = [rows]
    for layer, heads in enumerate(model.heads):
        try:
            read = [rows[attended(model, layer, head, rows)] for head in range(heads)]
        except UnsupportedError as error:
            raise _complaint(model, source, "scores", str(error)) from None
        rows = _rows(model, source, "combine", model.combine(layer, rows, read))
        found.append(rows)
    labels: object = model.labels(rows)
    if not isinstance(labels, np.ndarray) or labels.shape != (len(rows),) or labels.dtype.kind not in "biu":
        wanted = f"an array of {len(rows)} truth values, one for each row (for example logits > 0)"
        raise _complaint(model, source, "labels", f"it must return {wanted}, not {_shown(labels)}")
    return found


def _scores(model: HardModel, rows: list[Array]) -> list[Array]:
    """The scores of all heads, from the activations of all layers."""
    return [
        model.scores(layer, head, rows[layer], rows[layer])
        for layer, heads in enumerate(model.heads)
        for head in range(heads)
    ]


def _rows(model: HardModel, source: str, name: str, found: object) -> Array:
    """What a function returned, if that is an array of n rows of numbers."""
    if not isinstance(found, np.ndarray) or found.ndim != 2 or len(found) != model.length:
        wanted = f"an array of numbers with {model.length} rows"
        raise _complaint(model, source, name, f"it must return {wanted}, not {_shown(found)}")
    try:
        return normal(found)
    except UnsupportedError as error:
        raise _complaint(model, source, name, str(error)) from None


def _shown(found: object) -> str:
    """What something is, for people."""
    if isinstance(found, np.ndarray):
        return f"one of shape {found.shape} and type {found.dtype}"
    return f"a {type(found).__qualname__}"


def _require_same(
    model: HardModel, again: HardModel, found: list[Array], word: Integers, source: str
) -> None:
    """Whether the source gives one model; one that draws weights without a seed gives another each time."""
    draws = (
        f"'{source}' is another model each time it is made: random weights need a seed inside the function, "
        "for example numpy.random.default_rng(0) or torch.manual_seed(0)"
    )
    if model.digest != again.digest:
        raise ModuleError(draws)
    # Scores, too: other weights often have the same keys as the best.
    once = [*found, *_scores(model, found)]
    twice = activations(again, word)
    if not all(map(np.array_equal, once, [*twice, *_scores(again, twice)])):
        raise ModuleError(f"{draws}; and its digest must differ where the weights do")


def _complaint(model: HardModel, source: str, name: str, message: str) -> ModuleError:
    file, line = place_of(getattr(model, name))
    return ModuleError(f"'{name}' of '{source}': {message}", file=file, line=line)
