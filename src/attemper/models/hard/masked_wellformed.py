"""What the attributes of a masked model should be, and are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attemper.attention_program.ops import Mask
from attemper.errors import AlphabetError
from attemper.languages.words import Alphabet
from attemper.models.hard.masked import TieRule, alphabet_of, empty_of, ending_of, reads_first

MAX_PLACES = 5_000
"""Models with more places are not read."""


def complaints(model: object) -> Iterator[str]:
    """What the model's attributes should be, and are not; its functions are not called.

    >>> from attemper.models.hard.examples import RandomTables
    >>> next(complaints(RandomTables(5, (1,))))
    "no 'places'; see attemper.models.hard.masked.MaskedModel"
    """
    wanted = ("symbols", "places", "layers", "semantics", "embed", "scores", "combine", "labels")
    for part in wanted:
        if not hasattr(model, part):
            yield f"no '{part}'; see attemper.models.hard.masked.MaskedModel"
            return
    found: Any = model
    yield from _complaints_of_symbols(found)
    yield from _complaints_of_places(found.places)
    yield from _complaints_of_layers(found.layers)
    if getattr(found, "at", "last") not in ("first", "last"):
        yield "an 'at' that is neither first nor last"
    elif reads_first(found) and ending_of(found) is not None:
        yield "an 'at' that is first beside an end marker, where verdicts are read"
    if not isinstance(found.semantics, str):
        yield "semantics that are no text"


def _complaints_of_symbols(model: Any) -> Iterator[str]:
    symbols, ending = model.symbols, ending_of(model)
    if not isinstance(symbols, tuple):
        yield 'symbols that are no tuple of texts, such as ("a", "b")'
        return
    try:
        Alphabet(symbols)
        alphabet_of(model)
    except AlphabetError as error:
        yield f"symbols that cannot be used: {error}"
    if ending is not None and ending not in symbols:
        yield "an ending that is none of its symbols"
    if empty_of(model) is not None and (ending is not None or not isinstance(empty_of(model), bool)):
        yield "an 'accepts_empty' that is neither True nor False, or one beside an end marker"


def _complaints_of_places(places: Any) -> Iterator[str]:
    if not isinstance(places, tuple) or len(places) != 2 or any(type(part) is not int for part in places):
        yield "places that are no pair of integers (prefix, period), such as (0, 1)"
    elif places[0] < 0 or places[1] < 1:
        yield "places with a prefix below 0 or a period below 1"
    elif sum(places) > MAX_PLACES:
        yield f"{sum(places):,} places, of which at most {MAX_PLACES:,} are followed"


def _complaints_of_layers(layers: Any) -> Iterator[str]:
    if not isinstance(layers, tuple | list) or not all(isinstance(heads, tuple | list) for heads in layers):
        yield "layers that are no tuple with a tuple of heads for each layer"
        return
    for layer, heads in enumerate(layers):
        for number, head in enumerate(heads):
            if getattr(head, "mask", None) not in tuple(Mask):
                yield f"a head {number} of layer {layer} whose 'mask' is none of {', '.join(Mask)}"
            if getattr(head, "choice", None) not in tuple(TieRule):
                yield f"a head {number} of layer {layer} whose 'choice' is neither leftmost nor rightmost"
