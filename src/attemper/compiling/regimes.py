"""What each regime refuses: whether it can run a program."""

from __future__ import annotations

from attemper.attention_program import ops
from attemper.attention_program.show import show_step
from attemper.errors import UnsupportedError
from attemper.exact.closed_forms import depends_on_length
from attemper.languages.temporal import syntax
from attemper.languages.temporal.show import show
from attemper.languages.temporal.sides import sides_of
from attemper.networks.regime import Regime


def require_regime(program: ops.Program, formula: syntax.Formula | None, regime: Regime) -> None:
    """Raise `UnsupportedError` if the regime cannot run the program.

    The text names the part of the formula that stands in the way, or the step where there is no formula.
    """
    if regime is not Regime.DECODER:
        return
    for step in program.steps:
        if isinstance(step, ops.Nearest | ops.Matched):
            raise UnsupportedError(
                f"the decoder regime cannot compute '{show_step(step)}': its embeddings do not know n, and "
                "fade too fast with i to tell integers apart. Use regime='temperature' or "
                "regime='unbounded'",
                options=("regime",),
            )
    ahead = [step for step in program.steps if _looks_ahead(step)]
    if not ahead:
        return
    shown = show_step(ahead[0]) if formula is None else show(_culprit(formula))
    raise UnsupportedError(
        f"the decoder regime sees positions j <= i only, and cannot compute '{shown[:200]}'. "
        "Use regime='temperature' (bounded position embeddings) or regime='unbounded'. "
        "In the decoder regime write past operators (Y O H S T), #<[...] and pos; "
        "read at the last position, #<[f] is the count over the whole word.",
        options=("regime",),
    )


def _looks_ahead(step: ops.Step) -> bool:
    match step:
        case ops.Attend(mask, _, _, _, _) | ops.Count(mask, _):
            return mask not in {ops.Mask.UP_TO, ops.Mask.BEFORE}
        case ops.Shift(direction, _, _, _):
            return direction is ops.Direction.NEXT
        case ops.Place(form):
            return depends_on_length(form)
        case _:
            return False


def _culprit(formula: syntax.Formula) -> syntax.Formula:
    """The first part that looks to the right or at the length; the whole if none is seen to."""
    sides = sides_of(formula)
    found = (
        part
        for part in syntax.subformulas(formula)
        if syntax.Side.RIGHT in sides[part] or _sees_the_end(part)
    )
    return next(found, formula)


def _sees_the_end(formula: syntax.Formula) -> bool:
    """Whether it speaks of n, or counts what comes after i."""
    match formula:
        case syntax.Last():
            return True
        case syntax.Comparison(_, left, right):
            return _term_sees_the_end(left) or _term_sees_the_end(right)
        case syntax.Numerical(_, term):
            return _term_sees_the_end(term)
        case _:
            return False


def _term_sees_the_end(term: syntax.Term) -> bool:
    return any(
        isinstance(atom, syntax.LengthAtom)
        or (isinstance(atom, syntax.CountAtom) and atom.side is not syntax.Side.LEFT)
        for _, atom in term.parts
    )
