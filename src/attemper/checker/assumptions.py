"""What a verdict takes for granted: predicates that a user registered."""

from __future__ import annotations

from attemper.exact.closed_forms import ClosedForm, tests_in
from attemper.exact.predicates import BUILT_IN, Named
from attemper.languages.definition import Definition
from attemper.networks.layers import Network, Softmax


def assuming(registered: set[str]) -> tuple[str, ...]:
    """What a verdict takes for granted of predicates that a user registered."""
    return tuple(
        f"the registered predicate '{name}' is the same function wherever the network runs"
        for name in sorted(registered)
    )


def registered_by(language: Definition) -> set[str]:
    """The predicates that a user registered and that the language uses."""
    return {predicate.name for predicate in language.predicates() if isinstance(predicate, Named)} - BUILT_IN


def registered_in(network: Network) -> set[str]:
    """The predicates that a user registered and that the network uses."""
    forms: list[ClosedForm] = [form for _, form in network.positions]
    for layer in network.layers:
        forms += [h.weighting.inverse_temperature for h in layer.heads if isinstance(h.weighting, Softmax)]
    named = {test.predicate for form in forms for test in tests_in(form)}
    return {predicate.name for predicate in named if isinstance(predicate, Named)} - BUILT_IN
