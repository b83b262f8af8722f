"""Networks, formulas and hints as Coq reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from attemper.errors import UnsupportedError
from attemper.exact import closed_forms
from attemper.exact.closed_forms import ClosedForm
from attemper.exact.predicates import Zero
from attemper.exports.coq.formulas import Logical, inside
from attemper.networks.layers import Head, Hidden, LinearForm, Masking, Network, Softmax


def listed(items: Iterable[str]) -> str:
    return f"[{'; '.join(items)}]"


def rational(value: Fraction | int) -> str:
    """A rational number.

    >>> rational(Fraction(-1, 4))
    '(-1 # 4)%Q'
    """
    exact = Fraction(value)
    return f"({exact.numerator} # {exact.denominator})%Q"


def linear(form: LinearForm) -> str:
    return listed(f"({coordinate}%nat, {rational(factor)})" for coordinate, factor in form)


def closed(form: ClosedForm) -> str:
    """A closed form. Raises `UnsupportedError` for digits, and for other tests than of 0."""
    match form:
        case closed_forms.Number(value):
            return f"(Number {rational(value)})"
        case closed_forms.Position():
            return "Position"
        case closed_forms.Length():
            return "Length"
        case closed_forms.Alternating():
            return "Alternating"
        case closed_forms.Sum(parts):
            return _chained("Plus", parts)
        case closed_forms.Product(parts):
            return _chained("Times", parts)
        case closed_forms.Power(base, exponent):
            return f"(Power {closed(base)} ({exponent})%Z)"
        case closed_forms.Test(Zero(), per_position, per_length, shift):
            return f"(IsZero ({per_position})%Z ({per_length})%Z ({shift})%Z)"
        case _:
            raise UnsupportedError(
                f"coq: the form {closed_forms.show_form(form)[:80]} is one of which nothing is proved"
            )


def _chained(name: str, parts: Sequence[ClosedForm]) -> str:
    if not parts:
        return "(Number 0)" if name == "Plus" else "(Number 1)"
    *others, made = map(closed, parts)
    for own in reversed(others):
        made = f"({name} {own} {made})"
    return made


def network_text(network: Network) -> str:
    """The network's definition. Raises `UnsupportedError` for heads and forms that Model.v has not."""
    layers = ";\n   ".join(
        f"Layer {listed(_head(own, number, place) for place, own in enumerate(layer.heads))}\n"
        f"     {listed(map(_hidden, layer.hidden))}"
        for number, layer in enumerate(network.layers)
    )
    return (
        "Definition net : network := Network\n"
        f"  {listed(map(linear, network.embedding))}\n"
        f"  {listed(f'({place}%nat, {closed(form)})' for place, form in network.positions)}\n"
        f"  [{layers}]\n"
        f"  {network.output}%nat."
    )


def _head(head: Head, layer: int, number: int) -> str:
    if head.masking not in (Masking.FUTURE, Masking.STRICT_FUTURE):
        raise UnsupportedError(
            f"coq: head {layer}.{number} is {head.masking}, and only heads that look left are"
        )
    if not isinstance(head.weighting, Softmax):
        raise UnsupportedError(f"coq: head {layer}.{number} is hard, and only softmax is proved")
    rows = listed(f"({linear(q)}, {linear(k)})" for q, k in zip(head.query, head.key, strict=True))
    values = listed(f"({linear(v)}, {t}%nat)" for v, t in zip(head.values, head.targets, strict=True))
    is_strict = "true" if head.masking is Masking.STRICT_FUTURE else "false"
    return f"Head {is_strict} {closed(head.weighting.inverse_temperature)} {rows} {values}"


def _hidden(unit: Hidden) -> str:
    return f"Hidden {linear(unit.form)} {rational(unit.bias)} {linear(unit.outputs)}"


class FormulaTexts:
    """Formulas as definitions, each once: `lines` are those that stand before the use of a name."""

    def __init__(self) -> None:
        self.names: dict[Logical, str] = {}
        self.lines: list[str] = []

    def name_of(self, formula: Logical) -> str:
        """The name under which the formula is defined."""
        for own in inside(formula):
            if own not in self.names:
                name = f"f{len(self.names)}"
                operands = [self.names[part] for part in own.parts]
                letter = [f"{own.letter}%nat"] if own.name == "Symbol" else []
                text = " ".join([own.name, *operands, *letter])
                self.lines.append(f"Definition {name} : formula := {text}.")
                self.names[own] = name
        return self.names[formula]
