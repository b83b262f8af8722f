"""Files that are checked by themselves: of a refutation, of a bound on one symbol's influence, of layers.

Refutations and bounds are about models that are functions of arrays, so that whatever one kind of file needs
is imported only for that kind.
"""

from __future__ import annotations

from pathlib import Path

from attemper.certificates.files import BOUNDS, DEPTHS, format_of
from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, OptionError
from attemper.files import read_bytes

CHECKED = (
    "give the folder of a network, or the file of a refutation (refute -o), of a bound (limits bound -o) or "
    "of a depth (depth -o)"
)
"""What there is to check."""

REFUTATIONS = "attemper-refutation/"
"""How the formats of refutations begin."""


def check_file(path: Path, model: str | None = None) -> Verdict:
    """The verdict on a refutation's file, on that of a bound on what one symbol can change, or of layers."""
    if not path.exists():
        raise MalformedFileError(f"there is no '{path}': {CHECKED}")
    form = format_of(path)
    if form.startswith(DEPTHS):
        from attemper.checker.depth_claims import check_depth

        return check_depth(path, model)
    if form.startswith(BOUNDS):
        return check_bound(path, model)
    if form.startswith(REFUTATIONS):
        return check_refuting(path, model)
    error = MalformedFileError(f"'{path}' is of no kind that is checked: {CHECKED}")
    try:
        read_bytes(path, "")
    except MalformedFileError as unread:
        error = unread
    return malformed(error, Subject(About.MODEL, model or ""))


def check_bound(path: Path, model: str | None) -> Verdict:
    """The verdict on the file of a bound on what one symbol can change in an encoder.

    Code is never imported because a file says so: the encoder must be named by the user. Raises `OptionError`
    where there is none, and what loading an encoder raises.
    """
    from attemper.certificates.limits import load as load_bound
    from attemper.checker.soft_attention.claims import at_its_length, check_limit
    from attemper.models.soft.loading import load_encoder

    try:
        found = load_bound(path)
    except MalformedFileError as error:
        return malformed(error, Subject(About.ENCODER, model or ""))
    if model is None:
        raise OptionError(f"say with --model MODULE:OBJECT which encoder '{path}' is about")
    return check_limit(found, at_its_length(found, load_encoder(model)), model)


def check_refuting(path: Path, model: str | None) -> Verdict:
    """The verdict on a refutation's file."""
    from attemper.certificates.refutations import load as load_refutation
    from attemper.checker.refutations import beyond_the_cap, check_refutation, subject_of
    from attemper.models.hard.loading import load_model_of

    try:
        refutation = load_refutation(path)
    except MalformedFileError as error:
        return malformed(error, Subject(About.MODEL, model or ""))
    place = model or refutation.source
    for reason in beyond_the_cap(refutation):
        return Verdict((ClaimVerdict(Status.UNKNOWN, reason),), subject_of(refutation, place))
    try:
        found = load_model_of(refutation, model)
    except MalformedFileError as error:
        return malformed(error, subject_of(refutation, place))
    return check_refutation(refutation, found, place=place)
