"""Hard-attention networks that somebody types in: names of coordinates, numbers, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import final

from attemper.errors import OptionError
from attemper.exact.closed_forms import FORM, ClosedForm, Number, read_form
from attemper.exact.codec import CodecError
from attemper.languages.words import Alphabet, listed
from attemper.networks.layers import (
    HEAD_WIDTHS,
    Foreign,
    HardWeighting,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Masking,
    Network,
    Uniform,
)
from attemper.networks.wellformed import complaints

Amount = int | str | float | Fraction
"""A number: exactly as it is written, `"1/3"` too; a float is the binary number that it is."""

Terms = Mapping[str, Amount]
"""sum of amount * coordinate."""

MASKS = {
    "<=": Masking.FUTURE,
    "<": Masking.STRICT_FUTURE,
    ">=": Masking.PAST,
    ">": Masking.STRICT_PAST,
    "all": Masking.NONE,
}
"""Which positions j a head sees from i."""


@final
@dataclass(frozen=True)
class HeadOf:
    """One head: the score of j at i is the sum over rows r of query[r] at i times key[r] at j, undivided.

    The average of values[c] over the maxima is added to coordinate c. Without rows the head is uniform.
    `mask` is `"<="` (j <= i), `"<"`, `">="`, `">"` or `"all"`.

    >>> HeadOf("<=", {"share": {"a": 1}}).query
    ()
    """

    mask: str
    values: Mapping[str, Terms]
    query: Sequence[Terms] = ()
    key: Sequence[Terms] = ()


@final
@dataclass(frozen=True)
class UnitOf:
    """One hidden unit: ReLU(form + bias), times an amount, is added to each coordinate of `outputs`.

    >>> UnitOf({"share": 1}, {"above": 2}, bias="-1/2").bias
    '-1/2'
    """

    form: Terms
    outputs: Terms
    bias: Amount = 0


@final
@dataclass(frozen=True)
class LayerOf:
    """Heads side by side, then hidden units side by side.

    >>> LayerOf(heads=[HeadOf("<=", {"share": {"a": 1}})]).units
    ()
    """

    heads: Sequence[HeadOf] = ()
    units: Sequence[UnitOf] = ()


def hard_network(
    alphabet: str | Sequence[str],
    *,
    embedding: Mapping[str, Terms],
    positions: Mapping[str, object],
    layers: Sequence[LayerOf],
    output: str,
) -> Network:
    """An average-hard network from its weights, with coordinates called as they are here.

    * `embedding`: for each symbol what it adds to which coordinate; a symbol that is left out adds nothing.
    * `positions`: for each coordinate what is added there: a number, or a closed form in i and n as
      `network.json` has it (`certificates/FORMAT.md`, section 0), for example `["position"]`, which is i, or
      `["power", ["length"], -1]`, which is 1/n.
    * `layers`: pre-norm layers without normalisation: all heads read the residual stream x, then x is what it
      was plus what they add; so with the hidden units.
    * `output`: the coordinate that is put out, at every position; a word's verdict is read at the last.

    Positions count from 1. Raises `OptionError`, naming the layer and head, for what is no such network.

    >>> last_a = HeadOf("<=", {"where": {"place": 1}}, query=[{"one": 1}], key=[{"a": 2, "place": 1}])
    >>> network = hard_network(
    ...     "ab",
    ...     embedding={"a": {"a": 1}},
    ...     positions={"one": 1, "place": ["product", [["position"], ["power", ["length"], -1]]]},
    ...     layers=[LayerOf([last_a])],
    ...     output="where",
    ... )
    >>> from attemper.networks.meaning_hard import output_bits
    >>> [str(share) for share in output_bits(network, "bab")]
    ['1/3', '2/3', '2/3']
    """
    letters = Alphabet(tuple(alphabet))
    names = tuple(_names(embedding, positions, layers, output))
    place = {name: number for number, name in enumerate(names)}
    unknown = next((symbol for symbol in embedding if symbol not in letters.symbols), None)
    if unknown is not None:
        raise OptionError(f"embedding: '{unknown}' is not in the alphabet")
    network = Network(
        alphabet=letters,
        coordinates=names,
        embedding=tuple(
            _form(embedding.get(symbol, {}), place, f"the embedding of '{symbol}'")
            for symbol in letters.symbols
        ),
        positions=tuple((place[name], _closed(form, name)) for name, form in positions.items()),
        layers=tuple(_layer(layer, place, f"layer {number}") for number, layer in enumerate(layers)),
        head_width=_width(layers),
        output=place[output],
        reads_first=False,
        accepts_empty=False,
    )
    for complaint in complaints(network):
        raise OptionError(complaint)
    written = dict.fromkeys(_written(embedding, positions, layers))
    for where, name in _read(layers, output):
        if name not in written:
            raise OptionError(f"{where}: {_unwritten(name, tuple(written))}")
    return network


def _names(
    embedding: Mapping[str, Terms], positions: Mapping[str, object], layers: Sequence[LayerOf], output: str
) -> Iterable[str]:
    """Every coordinate that is written or read, in the order in which the network has them."""
    found = dict.fromkeys([*positions, *(name for terms in embedding.values() for name in terms)])
    for layer in layers:
        for head in layer.heads:
            forms = [*head.query, *head.key, *head.values.values()]
            found |= dict.fromkeys([*(name for form in forms for name in form), *head.values])
        for unit in layer.units:
            found |= dict.fromkeys([*unit.form, *unit.outputs])
    return found | {output: None}


def _written(
    embedding: Mapping[str, Terms], positions: Mapping[str, object], layers: Sequence[LayerOf]
) -> Iterator[str]:
    """Every coordinate that something is added to."""
    yield from positions
    for terms in embedding.values():
        yield from terms
    for layer in layers:
        for head in layer.heads:
            yield from head.values
        for unit in layer.units:
            yield from unit.outputs


def _read(layers: Sequence[LayerOf], output: str) -> Iterator[tuple[str, str]]:
    """Every coordinate that is read, after where that is."""
    for number, layer in enumerate(layers):
        for h, head in enumerate(layer.heads):
            for form in (*head.query, *head.key, *head.values.values()):
                yield from ((f"layer {number}, head {h}", name) for name in form)
        for u, unit in enumerate(layer.units):
            yield from ((f"layer {number}, unit {u}", name) for name in unit.form)
    yield "output", output


def _unwritten(name: str, written: Sequence[str]) -> str:
    """What is wrong with a coordinate that would be 0 everywhere."""
    nearest = get_close_matches(name, written, n=1)
    known = f"the nearest name is '{nearest[0]}'" if nearest else f"there are {listed(written, 'names')}"
    return f"nothing writes '{name}'; {known}"


def _width(layers: Sequence[LayerOf]) -> int:
    """The least head width for all heads."""
    sizes = [max(len(head.query), len(head.values)) for layer in layers for head in layer.heads]
    most = max(sizes, default=0)
    found = next((width for width in HEAD_WIDTHS if width >= most), None)
    if found is None:
        raise OptionError(f"a head has {most} rows or values, more than {max(HEAD_WIDTHS)}")
    return found


def _layer(layer: LayerOf, place: Mapping[str, int], where: str) -> Layer:
    heads = tuple(_head(head, place, f"{where}, head {h}") for h, head in enumerate(layer.heads))
    hidden = tuple(
        Hidden(
            _form(unit.form, place, f"{where}, unit {u}"),
            _number(unit.bias, f"{where}, unit {u}"),
            _form(unit.outputs, place, f"{where}, unit {u}"),
        )
        for u, unit in enumerate(layer.units)
    )
    return Layer(heads, hidden, ())


def _head(head: HeadOf, place: Mapping[str, int], where: str) -> Head:
    if head.mask not in MASKS:
        raise OptionError(f"{where}: the mask '{head.mask}' is none of {', '.join(MASKS)}")
    return Head(
        construction=Foreign() if head.query else Uniform(),
        masking=MASKS[head.mask],
        weighting=HardWeighting.AVERAGE,
        query=tuple(_form(row, place, where) for row in head.query),
        key=tuple(_form(row, place, where) for row in head.key),
        values=tuple(_form(form, place, where) for form in head.values.values()),
        targets=tuple(place[name] for name in head.values),
    )


def _form(terms: Terms, place: Mapping[str, int], where: str) -> LinearForm:
    found = sorted((place[name], _number(amount, where)) for name, amount in terms.items())
    return tuple((coordinate, factor) for coordinate, factor in found if factor)


def _number(amount: Amount, where: str) -> Fraction:
    try:
        return Fraction(amount)
    except (ValueError, ZeroDivisionError, OverflowError, TypeError):
        raise OptionError(f"{where}: '{amount}' is no number; write 3, \"1/3\" or 0.25") from None


def _closed(tree: object, name: str) -> ClosedForm:
    where = f"the position embedding of '{name}'"
    data = FORM.encode(Number(_number(tree, where))) if isinstance(tree, Amount) else tree
    try:
        return read_form(data)
    except (CodecError, RecursionError) as error:
        raise OptionError(f"{where} is no closed form: {error}") from None
