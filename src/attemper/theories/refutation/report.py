"""A restriction as a picture: * for free positions, symbols for the others; and who can attend where."""

from __future__ import annotations

from pathlib import Path

from attemper.errors import MalformedFileError, UnsupportedError
from attemper.escapes import escaped
from attemper.models.hard.protocol import HardModel
from attemper.modules import blaming
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.check.claims import beyond_the_cap, load_model_of, mismatches
from attemper.theories.refutation.search.states import TooManyError, attended, following, lowest
from attemper.workbench.report.files import ShownFile
from attemper.workbench.report.windows import strip, width_of

MARGIN = len("        not in   ")
"""How many columns stand before the first position of a line."""

SHOWN = 8
MOST_VALUES = 200_000


def picture(refutation: Refutation, room: int) -> list[str]:
    """The restriction and the two words, in lines of at most `room` columns, with what differs marked."""
    symbols = refutation.symbols
    allowed = refutation.restriction.allowed
    pattern = ["*" if len(some) > 1 else symbols[some[0]] for some in allowed]
    ending = [] if refutation.ending is None else [refutation.ending]
    inside, outside = ([*word, *ending] for word in (refutation.member, refutation.stranger))
    marks = [" " if s == t else "^" for s, t in zip(inside, outside, strict=True)]
    free = len(refutation.restriction.free)
    lines = [f"{free} of {len(allowed)} positions are free ({free / len(allowed):.3f}):"]
    width = width_of([*pattern, *symbols])
    step = _rounded((room - MARGIN) // width)
    for begin in range(0, len(allowed), step):
        part = slice(begin, begin + step)
        rows = [(f"{begin + 1:6}  allowed", pattern)]
        if "^" in marks[part]:
            rows += [("        in", inside), ("        not in", outside), ("", marks)]
        lines += [f"{name:{MARGIN}}{strip(map(escaped, row[part]), width)}".rstrip() for name, row in rows]
    return lines


def show_refutation(path: Path, model: str | None, columns: int) -> ShownFile:
    """The restriction of a refutation, and who can attend where under it in the model that it is about."""
    found = REFUTATION.load(path)
    for reason in beyond_the_cap(found):
        raise UnsupportedError(f"'{path}': {reason}")
    own = load_model_of(found, model)
    complaint = next(mismatches(found, own), None)
    if complaint is not None:
        raise MalformedFileError(f"'{path}': {complaint}")
    with blaming(model or found.source):
        attention = attention_lines(own, found.restriction)
    allowed = [[found.symbols[s] for s in some] for some in found.restriction.allowed]
    record = {
        "kind": "refutation",
        "allowed": allowed,
        "attention": attention,
        "member": list(found.member),
        "stranger": list(found.stranger),
    }
    return ShownFile((*picture(found, columns), *attention), record)


def _rounded(positions: int) -> int:
    """So many positions on a line that lines begin with round numbers, if there is room for ten."""
    return max(1, positions - positions % 10 if positions > 10 else positions)


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
