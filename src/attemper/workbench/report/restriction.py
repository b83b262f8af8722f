"""A restriction as a picture: * for free positions, symbols for the others; and who can attend where."""

from __future__ import annotations

from collections.abc import Sequence

from attemper.certificates.refutations import Refutation
from attemper.certificates.restrictions import Restriction
from attemper.hard_models.protocol import HardModel
from attemper.languages.words import Word
from attemper.refutation.states import TooManyError, attended, following, lowest

LINE = 64
SHOWN = 8
MOST_VALUES = 200_000


def picture(refutation: Refutation) -> list[str]:
    """The restriction and the two words, in lines of 64 positions, with what differs marked."""
    symbols = refutation.symbols
    allowed = refutation.restriction.allowed
    pattern = ["*" if len(some) > 1 else symbols[some[0]] for some in allowed]
    ending = [] if refutation.ending is None else [refutation.ending]
    inside, outside = ([*word, *ending] for word in (refutation.member, refutation.stranger))
    marks = [" " if s == t else "^" for s, t in zip(inside, outside, strict=True)]
    free = len(refutation.restriction.free)
    lines = [f"{free} of {len(allowed)} positions are free ({free / len(allowed):.3f}):"]
    gap = "" if max(map(len, (*pattern, *symbols))) == 1 else " "
    for begin in range(0, len(allowed), LINE):
        part = slice(begin, begin + LINE)
        lines.append(f"{begin + 1:6}  allowed  {gap.join(pattern[part])}")
        if "^" in marks[part]:
            lines.append(f"        in       {_joined(inside[part], gap)}")
            lines.append(f"        not in   {_joined(outside[part], gap)}")
            width = [max(len(s), len(t)) for s, t in zip(inside[part], outside[part], strict=True)]
            under = gap.join(mark.ljust(w) for mark, w in zip(marks[part], width, strict=True))
            lines.append(f"                 {under.rstrip()}")
    return lines


def _joined(word: Word | Sequence[str], gap: str) -> str:
    return gap.join(word)


def attention_lines(model: HardModel, restriction: Restriction) -> list[str]:
    """For each head where it can look: from the last position, and how many positions from the others."""
    lines = []
    state = lowest(model, restriction)
    for layer, heads in enumerate(model.heads):
        for head in range(heads):
            seen = attended(model, layer, head, state)
            last = sorted(position + 1 for position in seen[-1])
            several = sum(len(positions) > 1 for positions in seen)
            shown = ", ".join(map(str, last[:SHOWN])) + (
                f", ... ({len(last)} in all)" if len(last) > SHOWN else ""
            )
            lines.append(
                f"layer {layer}, head {head}: position {model.length} attends to {shown}; "
                f"{model.length - several} of {model.length} positions always attend to the same one"
            )
        if layer + 1 < len(model.heads):
            try:
                state = following(model, layer, state, MOST_VALUES)
            except TooManyError:
                lines.append(
                    f"layer {layer + 1}: more than {MOST_VALUES} combinations of activations, not shown"
                )
                break
    return lines
