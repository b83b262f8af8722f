"""The audit alone sees a checker that says something false: ten changes of one place of it each.

`python -m tests.mutation names values feed_forward rounding --tests tests/checker/audit` hunts all changes.
"""

from __future__ import annotations

import pytest

from tests.checker.audit.test_audit import CASES, audited, subjects
from tests.mutation.killing import _in_fork
from tests.mutation.mutants import Mutant, mutants_of
from tests.mutation.transplant import transplant

CHANGES = {
    "names": (
        "names.Names.place: shift - 1  ->  shift - 2",
        "names.Names.at_first.decision: (0, 0, 1)  ->  (0, 0, 0)",
        "names.Names.mean: max(values)  ->  min(values)",
        "names.Names.positive_part: lead > 0  ->  lead > -1",
    ),
    "values": ("values.multiply: b + d  ->  b - d",),
    "feed_forward": (
        "feed_forward._output: high <= 0  ->  high <= 1",
        "feed_forward._change: value - error  ->  value + error",
    ),
    "rounding.arithmetic": (
        "rounding.arithmetic.Lengths._sum: "
        "error += self.arithmetic.summed(terms, most + common_mode, most) + self.tiny  ->  "
        "error -= self.arithmetic.summed(terms, most + common_mode, most) + self.tiny",
    ),
    "rounding.attention": (
        "rounding.attention.attended: mass * ball(output.spread)  ->  mass / ball(output.spread)",
    ),
    "rounding.embedding": (
        "rounding.embedding.rounded_form: absolute + lengths.u * most  ->  absolute - lengths.u * most",
    ),
}
"""By module, the names that `tests.mutation` has for them."""


def is_seen() -> bool:
    """Whether the audit of some network fails."""
    try:
        return any(audited(subjects(kind, part), part).false for kind, part in CASES)
    except Exception:  # noqa: BLE001 - a change may raise anything, anywhere
        return True


def seen_with(mutant: Mutant) -> list[object]:
    """What the audit says in a process with the change."""

    def work(say: object) -> None:
        assert callable(say)
        transplant(mutant)
        say(is_seen())

    return _in_fork(work)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "name"), [(module, own) for module, some in CHANGES.items() for own in some]
)
def test_the_audit_alone_sees_a_change(module: str, name: str) -> None:
    (mutant,) = (own for own in mutants_of(f"attemper.checker.{module}") if own.name == name)
    assert seen_with(mutant) == [True]
