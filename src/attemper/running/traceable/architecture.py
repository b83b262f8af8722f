"""What of a network is no weight, read from its `network.json`: all that a traceable module branches on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never, final

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.predicates import Named, periodic
from attemper.networks.layers import Masking


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


def architecture_of(structure: Mapping[str, object]) -> Architecture:
    """The architecture in what a `network.json` holds, which `networks.files` has written or read.

    Raises `UnsupportedError` for hard attention, which no softmax module computes, and for a registered
    predicate, which is a Python function and no operation on tensors; ValueError for anything else than a
    network's structure.

    >>> import attemper
    >>> from attemper.networks.files import contents_of
    >>> model = attemper.compile("O a", "ab")
    >>> architecture = architecture_of(contents_of(model.network, model.source)[0])
    >>> architecture.symbols, [head.masking.value for head in architecture.layers[0].heads]
    (2, ['future-masked'])
    """
    match structure:
        case {
            "alphabet": list(symbols),
            "coordinates": list(coordinates),
            "positions": list(positions),
            "head_width": int(head_width),
            "output": output,
            "reads_first": bool(reads_first),
            "accepts_empty": bool(accepts_empty),
            "layers": list(layers),
        }:
            outputs, is_plain = _outputs(output)
            return Architecture(
                symbols=len(symbols),
                width=len(coordinates),
                head_width=head_width,
                positions=tuple(_position(entry) for entry in positions),
                layers=tuple(_layer(number, entry) for number, entry in enumerate(layers)),
                outputs=outputs,
                is_plain=is_plain,
                reads_first=reads_first,
                accepts_empty=accepts_empty,
                norm=_norm(structure.get("normalisation")),
            )
        case _:
            raise ValueError("not the structure of a network: it is what 'network.json' holds")


def _position(entry: object) -> tuple[int, closed_forms.ClosedForm]:
    match entry:
        case [int(coordinate), tree]:
            return coordinate, _traceable_form(tree)
        case _:
            raise ValueError(f"not a position embedding: {str(entry)[:80]}")


def _layer(number: int, entry: object) -> LayerPlan:
    match entry:
        case {"heads": list(heads), "hidden": int(hidden), "clamps": list(clamps)}:
            plans = tuple(_head(f"head {number}.{place}", head) for place, head in enumerate(heads))
            return LayerPlan(plans, hidden, tuple(map(_clamp, clamps)))
        case _:
            raise ValueError(f"not a layer: {str(entry)[:80]}")


def _clamp(entry: object) -> tuple[int, int]:
    match entry:
        case [int(low), int(high)]:
            return low, high
        case _:
            raise ValueError(f"not a clamp: {str(entry)[:80]}")


def _head(name: str, entry: object) -> HeadArchitecture:
    match entry:
        case {"masking": str(masking), "weighting": {"inverse_temperature": tree}, "rows": int(rows)}:
            return HeadArchitecture(Masking(masking), _traceable_form(tree), rows == 0)
        case {"weighting": str(weighting)}:
            raise UnsupportedError(
                f"{name} has {weighting} attention, and softmax alone is exported: "
                "'attemper soften' makes a softmax network of it"
            )
        case _:
            raise ValueError(f"not a head: {str(entry)[:80]}")


def _outputs(entry: object) -> tuple[tuple[int, ...], bool]:
    """The coordinates that are put out, and whether that is one number at each position."""
    match entry:
        case {"distribution": list(pairs)} | [*pairs]:
            return tuple(map(_named, pairs)), False
        case {"fraction": int(coordinate)} | {"integer": int(coordinate)} | int(coordinate):
            return (coordinate,), True
        case _:
            raise ValueError(f"not an output: {str(entry)[:80]}")


def _named(entry: object) -> int:
    match entry:
        case [str(), int(coordinate)]:
            return coordinate
        case _:
            raise ValueError(f"not a name and its coordinate: {str(entry)[:80]}")


def _norm(entry: object) -> NormPlan | None:
    match entry:
        case None:
            return None
        case {"kind": str(kind), "eps": str(eps), "unit": str(unit)}:
            return NormPlan(kind == "layer norm", _number(eps), _number(unit))
        case _:
            raise ValueError(f"not a normalisation: {str(entry)[:80]}")


def _number(text: str) -> float:
    return float(closed_forms.parse_rational(text))


def _traceable_form(tree: object) -> closed_forms.ClosedForm:
    form = closed_forms.form_from_tree(tree)
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
