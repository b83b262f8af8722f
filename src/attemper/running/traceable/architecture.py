"""What of a network is no weight, read from its structure: all that a traceable module branches on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never, final

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, periodic
from attemper.networks.layers import Masking, Softmax
from attemper.networks.structure import HeadStructure, LayerStructure, Structure


@final
@dataclass(frozen=True)
class HeadArchitecture:
    """How one head attends: softmax of its scores times `coldness`, 1/tau as a closed form in i and n.

    A head that `averages` has no rows of queries, so its scores are 0: it is the running mean of all values
    that it sees.
    """

    masking: Masking
    coldness: closed_forms.ClosedForm
    averages: bool


@final
@dataclass(frozen=True)
class LayerPlan:
    """The heads of a layer, how many hidden units it has, and which pairs of these round a bit."""

    heads: tuple[HeadArchitecture, ...]
    hidden: int
    clamps: tuple[tuple[int, int], ...]


@final
@dataclass(frozen=True)
class NormPlan:
    """LayerNorm (centred) or RMSNorm before every sublayer; what is put out is divided by `unit`."""

    is_centred: bool
    eps: float
    unit: float


@final
@dataclass(frozen=True)
class Architecture:
    """A network without its weights.

    `outputs` are the coordinates that are put out; `is_plain` if that is one number at each position.
    """

    symbols: int
    width: int
    head_width: int
    positions: tuple[tuple[int, closed_forms.ClosedForm], ...]
    layers: tuple[LayerPlan, ...]
    outputs: tuple[int, ...]
    is_plain: bool
    reads_first: bool
    accepts_empty: bool
    norm: NormPlan | None

    def shapes(self) -> Iterator[tuple[str, tuple[int, ...]]]:
        """Every tensor's name, as in `weights.safetensors`, and its shape."""
        width, inner = self.width, self.head_width
        yield "embed.W_E", (self.symbols, width)
        for number, layer in enumerate(self.layers):
            block, heads = f"blocks.{number}", len(layer.heads)
            yield from ((f"{block}.attn.{name}", (heads, width, inner)) for name in ("W_Q", "W_K", "W_V"))
            yield f"{block}.attn.W_O", (heads, inner, width)
            yield f"{block}.mlp.W_in", (width, layer.hidden)
            yield f"{block}.mlp.b_in", (layer.hidden,)
            yield f"{block}.mlp.W_out", (layer.hidden, width)
            for place in ("ln1", "ln2") if self.norm is not None else ():
                yield f"{block}.{place}.w", (width,)
                if self.norm is not None and self.norm.is_centred:
                    yield f"{block}.{place}.b", (width,)


def architecture_of(structure: Structure) -> Architecture:
    """The architecture of a network with this structure.

    Raises `UnsupportedError` for hard attention, which no softmax module computes, and for a registered
    predicate, which is a Python function and no operation on tensors.

    >>> import attemper
    >>> from attemper.networks.structure import structure_of
    >>> model = attemper.compile("O a", "ab")
    >>> architecture = architecture_of(structure_of(model.network, model.source))
    >>> architecture.symbols, [head.masking.value for head in architecture.layers[0].heads]
    (2, ['future-masked'])
    """
    norm = structure.normalisation
    return Architecture(
        symbols=len(structure.alphabet.symbols),
        width=len(structure.coordinates),
        head_width=structure.head_width,
        positions=tuple((coordinate, _traceable(form)) for coordinate, form in structure.positions),
        layers=tuple(_layer(number, layer) for number, layer in enumerate(structure.layers)),
        outputs=tuple(coordinate for _, coordinate in structure.symbols) or (structure.output,),
        is_plain=not structure.symbols,
        reads_first=structure.reads_first,
        accepts_empty=structure.accepts_empty,
        norm=None if norm is None else NormPlan(norm.is_centred, float(norm.eps), float(norm.unit)),
    )


def _layer(number: int, layer: LayerStructure) -> LayerPlan:
    heads = tuple(_head(f"head {number}.{place}", head) for place, head in enumerate(layer.heads))
    return LayerPlan(heads, layer.hidden, layer.clamps)


def _head(name: str, head: HeadStructure) -> HeadArchitecture:
    if not isinstance(head.weighting, Softmax):
        raise UnsupportedError(
            f"{name} has {head.weighting} attention, and softmax alone is exported: "
            "'attemper soften' makes a softmax network of it"
        )
    return HeadArchitecture(head.masking, _traceable(head.weighting.inverse_temperature), head.rows == 0)


def _traceable(form: closed_forms.ClosedForm) -> closed_forms.ClosedForm:
    name = _function_in(form)
    if name:
        raise UnsupportedError(
            f"the predicate '{name}' is a Python function: only this package can run a network with it, "
            "so it is not exported. Write it with remainders (pos % 3 = 1), if it is periodic"
        )
    return form


def _function_in(form: closed_forms.ClosedForm) -> str:
    """The first predicate in the form that is a Python function; the empty text if there is none."""
    match form:
        case closed_forms.Test(predicate):
            found = periodic(predicate)
            return found.name if isinstance(found, Named) else ""
        case closed_forms.Sum(parts) | closed_forms.Product(parts):
            return next(filter(None, map(_function_in, parts)), "")
        case closed_forms.Power(base):
            return _function_in(base)
        case closed_forms.Digits(inner):
            return _function_in(inner)
        case (
            closed_forms.Number()
            | closed_forms.Position()
            | closed_forms.Length()
            | closed_forms.Alternating()
        ):
            return ""
        case _:
            assert_never(form)
