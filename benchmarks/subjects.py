"""The networks that long words are tried on: all of the demo, and formulas that look both ways."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import attemper
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import depends_on_length
from attemper.languages.definition import Definition
from attemper.networks.layers import Masking, Network, Softmax
from attemper.networks.regime import Regime
from attemper.workbench.demo import SHOWN, title
from attemper.workbench.zoo import compile_entry

FORMULAS = (
    ("G (a -> (b U (c & X a))) | F c", "abc"),
    ("(a U b) & #<[a] <= #>[b]", "ab"),
    ("(a S b) & X (a U b) | even(#<[a]) & #<[a] <= #>[b]", "ab"),
    ("even(#>[a]) & (Y a | #[a] = #[b]) | (b U (a & X b))", "ab"),
)
"""Until, counts of both sides, and lookups."""

AS_FORMULAS = {"detect-aab": "O (b & Y a & Y Y a)"}
"""What a program means, for words on which its own meaning takes time quadratic in n."""


@dataclass(frozen=True)
class Subject:
    """One language in one regime."""

    title: str
    regime: str
    compiled: Callable[[], attemper.Model]

    @property
    def name(self) -> str:
        """Both, as a table shows them."""
        return f"{self.title}, {self.regime}"


def subjects() -> tuple[Subject, ...]:
    """All of them; `compiled` raises `UnsupportedError` where the regime cannot compute the language."""
    demo = (
        Subject(
            title(entry, source), regime, lambda e=entry, s=source, r=regime: compile_entry(e, s, regime=r)
        )
        for entry, source in SHOWN
        for regime in map(str, Regime)
    )
    formulas = (
        Subject(
            text, regime, lambda t=text, a=alphabet, r=regime: attemper.compile(t, a, at="last", regime=r)
        )
        for text, alphabet in FORMULAS
        for regime in ("unbounded", "temperature")
    )
    return (*demo, *formulas)


def model_of(subject: Subject) -> attemper.Model | None:
    """The subject's model, if its regime can compute it."""
    try:
        return subject.compiled()
    except UnsupportedError:
        return None


def meaning_of(subject: Subject, model: attemper.Model) -> Definition:
    """The model's language, in a form whose meaning takes time linear in n."""
    text = AS_FORMULAS.get(subject.title)
    meant = model if text is None else attemper.compile(text, model.alphabet)
    return meant.language.definition


def sees(network: Network) -> str:
    """What the output at a position may depend on."""
    heads = [head for layer in network.layers for head in layer.heads]
    forms = [form for _, form in network.positions]
    forms += [head.weighting.inverse_temperature for head in heads if isinstance(head.weighting, Softmax)]
    if not all(head.masking.weak is Masking.FUTURE for head in heads):
        return "both sides"
    return "the past and n" if any(map(depends_on_length, forms)) else "the past"
