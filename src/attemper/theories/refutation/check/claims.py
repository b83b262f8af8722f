"""Checks a refutation: one answer on a whole restriction, and two words with the model's own answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, WordPair, malformed
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.words import Word, listed
from attemper.models.hard.loading import is_folder, load_model
from attemper.models.hard.probing import BatchDependenceError, Probed
from attemper.models.hard.protocol import HardModel, answer, numbers_of
from attemper.modules import blaming
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target, contains
from attemper.theories.refutation.check.subcubes import MAX_VALUES, ListsTooLongError, answers_by_cases

ROWS = "the leftmost of the best scores"

OURS = "attemper.models.hard."
"""Where the models are whose functions are known not to depend on the batch."""

BATCH = "a row's results do not depend on what else is in the batch (probed only)"


MAX_LENGTH = 10_000
"""More positions are not checked: every pair of two has a score."""


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on a refutation's file; without a model that is named, about the folder that it names."""
    try:
        refutation = REFUTATION.load(path)
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


def load_model_of(refutation: Refutation, model: str | None) -> HardModel:
    """The model that is named, or the network in the folder that the refutation names.

    Code is never imported because a file says so: a MODULE:OBJECT must be named by the user.
    """
    if model is None and not is_folder(refutation.source):
        source = refutation.source[:80]
        raise OptionError(
            f"there is no folder '{source}' here; say with 'model' which model it is about",
            options=("model",),
        )
    return load_model(model or refutation.source, len(refutation.restriction.allowed))


def check_refutation(
    refutation: Refutation, model: HardModel, most: int = MAX_VALUES, place: str = ""
) -> Verdict:
    """The verdict on both claims; nothing in the refutation is taken for granted.

    `place` says where the model is, for the verdict's subject, and for the error of a model's own module.
    """
    with blaming(place):
        return replace(_check(refutation, model, most), subject=subject_of(refutation, place))


def subject_of(refutation: Refutation, place: str) -> Subject:
    """What a verdict about the refutation is about."""
    length, free = len(refutation.restriction.allowed), len(refutation.restriction.free)
    words = refutation.member, refutation.stranger
    pair = WordPair(*words, refutation.answer, length, free, refutation.decided_by)
    return Subject(About.MODEL, place, refutation.digest, describe_target(refutation.language), pair)


def describe_target(language: Target) -> str:
    """The language that a refutation is about, in one line.

    >>> describe_target(Dyck((("(", ")"),)))
    'the well-nested words of ( )'
    """
    match language:
        case Dfa():
            return language.text()
        case Dyck(pairs):
            return f"the well-nested words of {listed([' '.join(pair) for pair in pairs], 'pairs')}"
        case Blocks(first, second):
            return f"the words {first} ... {first} {second} ... {second} with as many {first} as {second}"
        case _:
            assert_never(language)


def _check(refutation: Refutation, model: HardModel, most: int) -> Verdict:
    too_long = next(beyond_the_cap(refutation), None)
    if too_long is not None:
        return Verdict((ClaimVerdict(Status.UNKNOWN, too_long),))
    complaint = next(mismatches(refutation, model), None)
    if complaint is not None:
        return Verdict((ClaimVerdict(Status.MALFORMED, complaint),))
    probed = Probed(model)
    try:
        return Verdict((_pair(refutation, probed), _constancy(refutation, probed, most)))
    except (BatchDependenceError, UnsupportedError) as error:
        return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),))


def beyond_the_cap(refutation: Refutation) -> Iterator[str]:
    """Why the refutation is not looked at, whatever its model is."""
    length = len(refutation.restriction.allowed)
    if length > MAX_LENGTH:
        yield f"it is about words of {length:,} symbols, and at most {MAX_LENGTH:,} are checked"


def mismatches(refutation: Refutation, model: HardModel) -> Iterator[str]:
    """Why the refutation is not about this model."""
    if refutation.digest != model.digest:
        yield "the refutation is about another model: its digest differs"
    if refutation.symbols != model.symbols or refutation.ending != model.ending:
        yield "the refutation is about a model with other symbols"
    if refutation.semantics != model.semantics:
        yield f"the refutation is about a model in other arithmetic ({refutation.semantics})"
    if len(refutation.restriction.allowed) != model.length:
        yield f"the restriction has {len(refutation.restriction.allowed)} positions, the model {model.length}"
    if model.ending is not None and model.ending not in model.symbols:
        yield f"the model's end marker {model.ending!r} is not one of its symbols"
    elif model.ending is not None:
        marker = model.symbols.index(model.ending)
        *before, last = refutation.restriction.allowed
        if last != (marker,) or any(marker in allowed for allowed in before):
            yield "the end marker must be at the last position, and nowhere else"
    if not set(refutation.decided_by) <= set(refutation.restriction.free):
        yield "the answer can be decided by free positions only"


def _pair(refutation: Refutation, model: Probed) -> ClaimVerdict:
    """The two words: members or not, allowed, and what the model says of them."""
    for word, wanted in ((refutation.member, True), (refutation.stranger, False)):
        if contains(refutation.language, word) is not wanted:
            text = f"a word is {'not ' if wanted else ''}in the language, unlike what is claimed"
            return ClaimVerdict(Status.REFUTED, text, witness=word)
        if not _is_allowed(refutation, word):
            return ClaimVerdict(Status.REFUTED, "the restriction does not allow the word", witness=word)
        if answer(model, numbers_of(model, word)) is not refutation.answer:
            return ClaimVerdict(Status.REFUTED, "the model gives the word the other answer", witness=word)
    said = "accepts" if refutation.answer else "rejects"
    text = f"the model {said} both words of {len(refutation.member)} symbols, and only one is in the language"
    return _proved(text, refutation, model)


def _is_allowed(refutation: Refutation, word: Word) -> bool:
    ending = () if refutation.ending is None else (refutation.ending,)
    number = {symbol: k for k, symbol in enumerate(refutation.symbols)}
    numbers = [number.get(symbol, -1) for symbol in (*word, *ending)]
    allowed = refutation.restriction.allowed
    return len(numbers) == len(allowed) and all(s in some for s, some in zip(numbers, allowed, strict=True))


def _constancy(refutation: Refutation, model: Probed, most: int) -> ClaimVerdict:
    free = len(refutation.restriction.free)
    try:
        cases = answers_by_cases(model, refutation.restriction, refutation.decided_by, most)
    except ListsTooLongError as error:
        return ClaimVerdict(Status.UNKNOWN, f"not shown that the answer is constant: {error}")
    if any(len(answers) != 1 for answers in cases.values()):
        return ClaimVerdict(Status.UNKNOWN, "not shown that the answer is constant: both cannot be ruled out")
    if not refutation.decided_by:
        if cases[()] != {refutation.answer}:
            return ClaimVerdict(Status.REFUTED, "the answer is constant, but not the one that is claimed")
        text = f"the model gives the same answer to all words of the restriction, with {free} symbols free"
    else:
        text = (
            f"of {free} free symbols the answer depends on the {len(refutation.decided_by)} at the positions "
            f"{', '.join(map(str, refutation.decided_by))} only"
        )
    return _proved(text, refutation, model)


def _proved(text: str, refutation: Refutation, model: Probed) -> ClaimVerdict:
    is_ours = type(model.model).__module__.startswith(OURS)
    return ClaimVerdict(
        Status.PROVED if is_ours else Status.PROVED_UNDER_ASSUMPTIONS,
        text,
        assumptions=() if is_ours else (BATCH,),
        arithmetic=f"{refutation.semantics}; {ROWS}",
    )
