"""Compile with a target: proved right for all words up to a length, in a float format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove_language
from attemper.checker.rounding import Kernel, holds_up_to, horizon_of
from attemper.compiling.decomposing.bounded import bounded_counter
from attemper.compiling.decomposing.limits import Limits
from attemper.compiling.regimes import Regime
from attemper.errors import UnsupportedError
from attemper.exact.formats import FloatFormat
from attemper.languages.language import Language
from attemper.languages.regular.dfa import Dfa, minimal
from attemper.languages.words import Alphabet
from attemper.workbench.model import Model, compile_source

TARGET_MARGINS = (4, 8, 16)
"""Wider margins than these gain nothing that was ever measured."""


@final
@dataclass(frozen=True)
class Target:
    """A horizon that a network is to reach."""

    form: FloatFormat
    kernel: Kernel
    horizon: int


def compile_for(
    language: Language,
    alphabet: Alphabet,
    target: Target,
    regimes: Sequence[Regime],
    regex: str = "",
) -> Model:
    """The first model, smallest margins first, whose proved horizon reaches the target.

    An automaton that can be a counter is tried as a cascade, too: that has more layers and longer horizons.

    Raises `UnsupportedError` with the largest horizon that is reached and the head that limits it, or
    with what no regime can compute.
    """
    best, limit = -1, ""
    refusal: UnsupportedError | None = None
    for limits, margin, regime in product(_ways(language), TARGET_MARGINS, regimes):
        try:
            model = compile_source(language, alphabet, regime, margin, regex=regex, limits=limits)
            proof, holds = prove_language(model.network, language)
        except UnsupportedError as error:
            refusal = error
            continue
        except UnprovenError as error:
            limit = limit or f"no proof covers it: {error}"
            continue
        if not holds:
            limit = limit or "no proof covers it"
            continue
        analysis = proof.analysis
        if holds_up_to(analysis, target.form, target.kernel, target.horizon):
            return model
        horizon, bottleneck = horizon_of(analysis, target.form, target.kernel)
        if horizon > best:
            best, limit = horizon, f"{bottleneck} in the {regime} regime with margin {margin}"
    if best < 0 and not limit and refusal is not None:
        raise refusal
    raise UnsupportedError(
        f"no network reaches a horizon of {target.horizon:,} in {target.form.name} with {target.kernel} "
        f"kernels; the largest that is proved is {max(best, 0):,}, limited by {limit}. "
        "Use a wider format (--dtype), or a smaller --horizon."
    )


def _ways(language: Language) -> tuple[Limits, ...]:
    """As a cascade or a counter, whichever has fewer layers; then as a cascade."""
    if isinstance(language, Dfa) and bounded_counter(minimal(language)) is not None:
        return Limits(), Limits(counter=False)
    return (Limits(),)
