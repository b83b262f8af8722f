"""Of which theorems of Yang et al. a network satisfies what they ask of a transformer: tested, not claimed.

A theorem names position embeddings, a temperature, and a mask for all heads. The formulas of the embeddings
are lost in our copy of the paper; where its words do not fix them, those of Theorems 20 and 21, they are
ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from attemper.exact.closed_forms import (
    ONE,
    SIGN,
    ClosedForm,
    I,
    N,
    Number,
    Power,
    Test,
    depends_on_length,
    over,
    times,
)
from attemper.networks.layers import HardWeighting, Network, Softmax

_ZERO = Number(Fraction(0))

_SQUARE = Power(I, 2)
_PER_SQUARE = (times(I, over(N, 2)), times(_SQUARE, over(N, 2)))
_TIMES_LENGTH = (times(N, I), times(N, _SQUARE))


@final
@dataclass(frozen=True)
class Hypotheses:
    """What a theorem asks of a transformer, beside the constant embeddings 0 and 1.

    `per` is what the temperature may depend on: nothing, n or i; `masked`: all heads see j <= i only;
    `tests`: embeddings may be numerical predicates, too.
    """

    name: str
    embeddings: frozenset[ClosedForm]
    per: str = ""
    masked: bool = False
    tests: bool = False


THEOREMS = (
    Hypotheses("Theorem 12(a)", frozenset({SIGN, times(I, over(N))}), "n"),
    Hypotheses("Theorem 12(b)", frozenset({SIGN, I, N})),
    Hypotheses("Theorem 13(c)", frozenset({SIGN, over(I)}), "i", masked=True),
    Hypotheses("Theorem 13(d)", frozenset({SIGN, I}), masked=True),
    Hypotheses("Theorem 15(a)", frozenset({times(I, over(N))}), "n"),
    Hypotheses("Theorem 15(b)", frozenset({I, N})),
    Hypotheses("Theorem 16(a)", frozenset({over(I)}), "i", masked=True),
    Hypotheses("Theorem 16(b)", frozenset({I}), masked=True),
    Hypotheses("Corollary 17(a)", frozenset({SIGN, times(I, over(N))}), "n"),
    Hypotheses("Corollary 17(b)", frozenset({SIGN, I, N})),
    Hypotheses("Corollary 18(a)", frozenset({SIGN, over(I)}), "i", masked=True),
    Hypotheses("Corollary 18(b)", frozenset({SIGN, I}), masked=True),
    Hypotheses("Theorem 20(a)", frozenset({SIGN, I, *_PER_SQUARE}), "n", tests=True),
    Hypotheses("Theorem 20(b)", frozenset({SIGN, I, N, *_TIMES_LENGTH}), tests=True),
    Hypotheses("Theorem 21", frozenset({SIGN, I, _SQUARE}), "i", masked=True, tests=True),
    Hypotheses("Corollary 22(a)", frozenset({SIGN, I, times(I, over(N)), *_PER_SQUARE}), "n", tests=True),
    Hypotheses("Corollary 22(b)", frozenset({SIGN, I, N, *_TIMES_LENGTH}), tests=True),
    Hypotheses("Corollary 23", frozenset({SIGN, I, over(I), _SQUARE}), "i", masked=True, tests=True),
)


def satisfied(network: Network) -> tuple[str, ...]:
    """The theorems whose hypotheses on a transformer the network satisfies, whatever language it has.

    >>> import attemper
    >>> satisfied(attemper.compile("a S b", regime="temperature").network)
    ('Theorem 12(a)', 'Theorem 15(a)', 'Corollary 17(a)', 'Corollary 22(a)')
    >>> satisfied(attemper.compile("Y b", "ab", regime="decoder", construction="paper").network)
    ('Theorem 13(c)', 'Corollary 18(a)', 'Corollary 23')
    """
    return tuple(asked.name for asked in THEOREMS if not any(_missing(network, asked)))


def _missing(network: Network, asked: Hypotheses) -> Iterator[bool]:
    """For each thing that is asked, whether the network lacks it."""
    yield network.normalisation is not None
    for _, form in network.positions:
        is_test = asked.tests and isinstance(form, Test)
        yield not (is_test or form in asked.embeddings or form in {_ZERO, ONE})
    for layer in network.layers:
        for head in layer.heads:
            yield not isinstance(head.weighting, Softmax) or _per(head.weighting) not in {"", asked.per}
            yield asked.masked and head.masking.after


def _per(weighting: Softmax) -> str:
    """What a temperature depends on."""
    form = weighting.inverse_temperature
    if isinstance(form, Number):
        return ""
    return "n" if depends_on_length(form) else "i"


def attention_of(network: Network) -> str:
    """The class of Definition 4, and how many heads a layer has.

    >>> import attemper
    >>> attention_of(attemper.compile("a S b").network)
    'softmax (SMAT), at most 1 head in a layer'
    """
    weightings = {head.weighting for layer in network.layers for head in layer.heads}
    kinds = {weighting if isinstance(weighting, HardWeighting) else "softmax" for weighting in weightings}
    names = {
        frozenset({"softmax"}): "softmax (SMAT)",
        frozenset({HardWeighting.AVERAGE}): "average-hard (AHAT)",
        frozenset({HardWeighting.LEFTMOST}): "leftmost-hard (UHAT)",
        frozenset({HardWeighting.RIGHTMOST}): "rightmost-hard (UHAT)",
        frozenset({HardWeighting.LEFTMOST, HardWeighting.RIGHTMOST}): "leftmost- and rightmost-hard (UHAT)",
    }
    most = max((len(layer.heads) for layer in network.layers), default=0)
    heads = f"at most {most} head{'s' if most != 1 else ''} in a layer"
    return f"{names.get(frozenset(kinds), 'mixed' if kinds else 'none')}, {heads}"
