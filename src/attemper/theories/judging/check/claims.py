"""A judgement's file, read and judged against the encoder that the user names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import assert_never

import numpy as np

from attemper.checker.verdict import About, ClaimVerdict, Status, Subject, Verdict, malformed
from attemper.errors import MalformedFileError, OptionError, UnsupportedError
from attemper.exact.balls import precision
from attemper.languages.words import Word, show_word
from attemper.models.soft.gpt2 import read_gpt2
from attemper.models.soft.loading import load_encoder
from attemper.models.soft.meaning import outputs_in_balls
from attemper.models.soft.trained import is_folder, read_run
from attemper.models.soft.vocabulary import ModelTokens
from attemper.models.soft.weights import Encoder, shifted
from attemper.models.soft.wellformed import complaints
from attemper.theories.judging import certificate
from attemper.theories.judging.certificate import (
    ExactExtremes,
    Judgement,
    JudgementEvidence,
    Reading,
    WrongWord,
)
from attemper.theories.judging.check.cells import JudgedTask
from attemper.theories.judging.check.heads import ReadEncoder, heads_of
from attemper.theories.judging.check.margins import asked_of, margin_of_words, margins

ARITHMETIC = "the real-number function of the weights as they are read, with softmax"

BITS = 128
"""The precision of a word's outputs."""


def judge(path: Path, model: str | None) -> Verdict:
    """The verdict on the file of a judgement. Raises `OptionError` where no model is named, and what loading
    one raises.
    """
    try:
        found = certificate.JUDGEMENT.load(path)
    except MalformedFileError as error:
        return malformed(error, Subject(About.ENCODER, model or ""))
    if model is None:
        raise OptionError(f"say with model=RUN which encoder '{path}' is about", options=("model",))
    try:
        letters = found.automaton.alphabet.symbols
        encoder = load_judged(model, letters, places_of(found), found.vocabulary)
    except (MalformedFileError, UnsupportedError) as error:
        return Verdict((ClaimVerdict(Status.MALFORMED, str(error)),), Subject(About.ENCODER, model))
    return check_judgement(found, encoder, model)


def load_judged(
    source: str, letters: Sequence[str], places: int, vocabulary: ModelTokens | None = None
) -> Encoder:
    """The encoder of a folder, or of MODULE:OBJECT; with position embeddings for so many places.

    With a vocabulary the folder is a GPT-2's, else a run's.
    """
    if vocabulary is not None:
        return read_gpt2(Path(source), vocabulary, letters, places)
    return read_run(Path(source), letters, places) if is_folder(source) else load_encoder(source)


def places_of(found: Judgement) -> int:
    """The position of the last symbol that the encoder reads."""
    beside = task_of(found).beside
    match found.evidence:
        case ExactExtremes(up_to=up_to):
            return up_to + beside
        case WrongWord(word, offset):
            return offset + len(word) + beside
        case _:
            assert_never(found.evidence)


def check_judgement(found: Judgement, encoder: Encoder, place: str = "") -> Verdict:
    """The verdict on a judgement of this encoder, of which nothing is taken for granted."""
    subject = Subject(About.ENCODER, place, found.digest, found.automaton.text())
    for complaint in mismatches(found, encoder):
        return Verdict((ClaimVerdict(Status.MALFORMED, complaint),), subject)
    task = task_of(found)
    try:
        with np.errstate(all="ignore"):  # what is no number is not shown
            claim = _judged(found.evidence, encoder, task, places_of(found))
    except UnsupportedError as error:
        claim = ClaimVerdict(Status.UNKNOWN, str(error))
    return Verdict((claim,), subject)


def _judged(evidence: JudgementEvidence, encoder: Encoder, task: JudgedTask, places: int) -> ClaimVerdict:
    match evidence:
        case ExactExtremes():
            return _proved(evidence, ReadEncoder(encoder, task, places))
        case WrongWord(word, offset):
            return _refuted(encoder, task, word, offset)
        case _:
            assert_never(evidence)


def task_of(found: Judgement) -> JudgedTask:
    """What the encoder is asked."""
    return JudgedTask(found.automaton, found.reading, found.vocabulary)


def mismatches(found: Judgement, encoder: Encoder) -> Iterator[str]:
    """Why the judgement is not about this encoder, or nothing is said of the encoder at all."""
    yield from certificate.complaints(found)
    yield from complaints(encoder)
    if found.digest != encoder.digest:
        yield "the judgement is about another encoder: its digest differs"
    yield from unfit(encoder, task_of(found))


def unfit(encoder: Encoder, task: JudgedTask) -> Iterator[str]:
    """Why the encoder cannot be asked that.

    Past the automaton's symbols it has one: the end marker, or without one the start; or both.
    """
    letters = task.automaton.alphabet.symbols
    beside = [symbol for symbol in encoder.symbols if symbol not in letters]
    if len(encoder.symbols) != len(letters) + task.beside or len(beside) != task.beside:
        yield (
            f"the encoder reads {' '.join(encoder.symbols)}, which is not the language's alphabet "
            f"{' '.join(letters)} and {task.beside} more"
        )
    is_verdict = task.reading is Reading.VERDICT
    if (encoder.ending is not None) != is_verdict or encoder.ending not in (*beside[:1], None):
        yield f"the encoder has {'no' if is_verdict else 'an'} end marker: that is another question"
    if is_verdict and len(encoder.outputs) not in {1, 2}:
        yield f"it has {len(encoder.outputs)} outputs, not one or two"
    count = len(letters)
    is_apart = encoder.outputs[:count] != letters or encoder.outputs[count + 1 :] != task.never
    if not is_verdict and (is_apart or len(encoder.outputs) != count + 1 + len(task.never)):
        yield (
            f"its outputs are {' '.join(encoder.outputs)}, not one for each of {' '.join(letters)}, in this "
            "order, one for the end, and those of the tokens that never come"
        )
    if len(encoder.layers) != 1:
        yield f"it has {len(encoder.layers)} layers: encoders of one layer are judged"


def _proved(evidence: ExactExtremes, read: ReadEncoder) -> ClaimVerdict:
    text = said(read.task, evidence.up_to, evidence.offsets)
    count = len(evidence.cells)
    cells = tuple(islice(read.task.cells_to(evidence.up_to, evidence.offsets), count + 1))
    if not cells:
        return ClaimVerdict(Status.MALFORMED, f"no word has at most {evidence.up_to} symbols")
    if len(cells) != count:
        others = f"more than {count:,}" if len(cells) > count else f"{len(cells):,}"
        return ClaimVerdict(Status.MALFORMED, f"it speaks of {count:,} cells, and there are {others}")
    plain = heads_of(read, evidence.axes)
    heads = [
        replace(head, slopes=np.array(rows, dtype=np.float64).reshape(len(rows), len(head.axes) - 1))
        for head, rows in zip(plain, evidence.slopes, strict=True)
    ]
    least = np.full(len(cells), -np.inf)
    for own, are_cut in ((plain, False), (heads, True)):
        chosen = [k for k, cell in enumerate(evidence.cells) if cell.parts and (cell.parts > 1) == are_cut]
        if chosen:
            some = [evidence.cells[k] for k in chosen]
            numbers = [np.array([cell.highest[head] for cell in some]) for head in range(len(own))]
            parts = [cell.parts for cell in some]
            least[chosen] = margins(read, own, [cells[k] for k in chosen], parts, numbers)
    for k, cell in enumerate(evidence.cells):
        if not cell.parts:
            least[k] = margin_of_words(read, plain, cells[k])
    worst = int(least.argmin())
    if not least[worst] > 0:
        open_cell = cells[worst]
        where = f"{open_cell.length:,} symbols, state {open_cell.state}{at_offset(open_cell.offset)}"
        return ClaimVerdict(Status.UNKNOWN, f"not shown of all words, as of those with {where}: {text}")
    return ClaimVerdict(Status.PROVED, f"{text}; least margin {least[worst]:.6g}", arithmetic=ARITHMETIC)


def _refuted(encoder: Encoder, task: JudgedTask, word: Word, offset: int) -> ClaimVerdict:
    """REFUTED where an output has the wrong sign in balls; else nothing is shown."""
    letters = task.automaton.alphabet.symbols
    state = task.automaton.start
    for symbol in word:
        state = task.moves[state][letters.index(symbol)]
        if state < 0:
            return ClaimVerdict(
                Status.MALFORMED, f"'{show_word(word)}' is a prefix of no word of the language"
            )
    if task.reading is Reading.NEXT and task.left[state] is None:
        return ClaimVerdict(Status.MALFORMED, "the language has no words")
    with precision(BITS):
        outputs = outputs_in_balls(shifted(encoder, offset), tokens_of(encoder, task, word), BITS)
        asked = asked_of(ReadEncoder(encoder, task, len(word) + task.beside))
        sums = [sum((int(f) * x for f, x in zip(row, outputs, strict=True)), outputs[0] * 0) for row in asked]
    for number, (value, right) in enumerate(zip(sums, task.answers(state), strict=True)):
        if (value < 0) if right else (value > 0):
            text = f"{what(encoder, task, number)} on '{show_word(word)}'{at_offset(offset)}"
            sign = "positive" if right else "negative"
            meant = f"{text} is {value.str(6, radius=False)}, and should be {sign}"
            return ClaimVerdict(Status.REFUTED, meant, arithmetic=ARITHMETIC, witness=word)
    return ClaimVerdict(Status.UNKNOWN, f"not shown that '{show_word(word)}' is answered wrong")


def tokens_of(encoder: Encoder, task: JudgedTask, word: Word) -> list[int]:
    """The numbers of what the encoder reads: the word and the marker, or the start and the word."""
    own = [encoder.symbols.index(symbol) for symbol in word]
    letters = task.automaton.alphabet.symbols
    always = [number for number, symbol in enumerate(encoder.symbols) if symbol not in letters]
    if task.reading is Reading.VERDICT:
        return [*always[1:], *own, always[0]]
    return [*always, *own]


def what(encoder: Encoder, task: JudgedTask, number: int) -> str:
    """An answer in words."""
    names = encoder.outputs
    if task.reading is Reading.NEXT:
        return f"output '{names[number]}' after the start"
    return f"'{names[1]}' less '{names[0]}'" if len(names) == 2 else f"output '{names[0]}'"


def at_offset(offset: int) -> str:
    """Where an input stands, if not at the first position."""
    return f" at offset {offset:,}" if offset else ""


def said(task: JudgedTask, up_to: int, offsets: tuple[int, int]) -> str:
    """What is claimed, in words."""
    meant, where, most = task.automaton.text(), "", f"{up_to:,}"
    if offsets != (0, 0):
        where, most = f"at each offset o from {offsets[0]:,} to {offsets[1]:,} ", f"{up_to:,} - o"
    if task.reading is Reading.VERDICT:
        return f"{where}every word of 0 to {most} symbols gets the verdict of {meant}{_with_tokens(task)}"
    return (
        f"{where}after every prefix, the empty one too, of each word of at most {most} symbols, an output is "
        f"positive if and only if its symbol may come next, or for the end if the word may end: as in {meant}"
        f"{_with_tokens(task)}"
    )


def _with_tokens(task: JudgedTask) -> str:
    """The tokens of a model that has more than letters."""
    if task.vocabulary is None:
        return ""
    tokens = ", ".join(f"{number} '{token}'" for number, token in enumerate(task.vocabulary.tokens))
    ends = f"it starts with '{task.vocabulary.start}', and the end is '{task.vocabulary.end}'"
    asked = task.vocabulary.asked
    if asked is not None:
        says = f"says '{asked.yes}' or '{asked.no}' at '{asked.query}'"
        ends = f"it starts with '{task.vocabulary.start}', and {says}"
    return f"; its tokens are {tokens}; {ends}"
