"""The search: short words, then cell by cell a proof, or a word that is answered wrong; then the checker."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import final

import numpy as np

from attemper.checker.verdict import Status
from attemper.errors import UnsupportedError
from attemper.languages.words import Word
from attemper.models.arrays import Floats
from attemper.models.soft.in_torch import outputs_in_torch
from attemper.models.soft.in_transformers import logits_in_transformers
from attemper.models.soft.weights import Encoder, shifted
from attemper.theories.judging.certificate import ExactExtremes, Judgement, WrongWord
from attemper.theories.judging.check.cells import JudgedTask, WordCell
from attemper.theories.judging.check.claims import check_judgement, tokens_of
from attemper.theories.judging.check.heads import JudgedHead, ReadEncoder
from attemper.theories.judging.check.margins import asked_of
from attemper.theories.judging.search.attacking import (
    margins_of_words,
    short_words,
    surely_wrong,
    worst_word,
)
from attemper.theories.judging.search.found import JudgedEncoder, WrongAnswer
from attemper.theories.judging.search.proving import FoundCell, boxed, cut, heads_to_judge
from attemper.workbench.language import Language

AT_ONCE = 128
"""So many cells are looked at together."""

CLOSELY = 16
"""So many of them, those that boxes do not settle, before the time is looked at."""

Loads = Callable[[int], Encoder]
"""The encoder, for words of so many symbols, its own one among them."""


@final
@dataclass
class JudgingSearch:
    """What is known so far of an encoder's answers to words of at most `up_to` symbols."""

    language: Language
    task: JudgedTask
    source: str
    loads: Loads
    up_to: int
    offsets: tuple[int, int]
    report: Callable[[str], None]
    deadline: float
    """When, by the clock of `time.monotonic`, no further cells are looked at: the checker needs time, too."""
    found: list[FoundCell] = field(default_factory=list)
    wrong: list[tuple[Word, int, float]] = field(default_factory=list)
    wrong_short: int = 0
    tried: int = 0
    refuted: set[WordCell] = field(default_factory=set)
    cells: tuple[WordCell, ...] = ()
    heads: tuple[JudgedHead, ...] = ()
    stopped: str = ""

    def run(self) -> JudgedEncoder:
        """All that is found until an interrupt."""
        places = self.up_to + self.task.beside
        read = ReadEncoder(self.loads(places), self.task, places)
        self.cells = tuple(self.task.cells_to(self.up_to, self.offsets))
        if not self.cells:
            most = self.up_to - self.offsets[0]
            raise UnsupportedError(f"the language has no word of at most {most:,} symbols")
        try:
            self.heads = heads_to_judge(read)
            self._try_short_words(read)
            for top in range(0, len(self.cells), AT_ONCE):
                if time.monotonic() > self.deadline:
                    self.stopped = "the time is up"
                    break
                self.report(f"cell {top + 1:,} of {len(self.cells):,}")
                self.found += self._looked_at(read, self.cells[top : top + AT_ONCE])
        except KeyboardInterrupt as end:
            self.stopped = str(end) or "interrupted"
        return self._result()

    def _try_short_words(self, read: ReadEncoder) -> None:
        first = self.offsets[0]
        for level in short_words(read, self.up_to - first):
            self.report(f"words of {len(level[0][0]):,} symbols")
            words, states = zip(*level, strict=True)
            margins = margins_of_words(read, words, states, first)
            seems = [own for own, margin in zip(level, margins, strict=True) if margin < 0]
            are_wrong = surely_wrong(read, self.heads, seems, first)
            self.tried += len(level)
            self.wrong_short += sum(are_wrong)
            below = [float(margin) for margin in margins if margin < 0]
            self.wrong += [
                (word, first, margin)
                for (word, _), margin, sure in zip(seems, below, are_wrong, strict=True)
                if sure
            ]

    def _looked_at(self, read: ReadEncoder, cells: tuple[WordCell, ...]) -> list[FoundCell]:
        """The best that is found of each cell: where boxes are too large first a wrong word is looked for."""
        found = boxed(read, self.heads, cells)
        opened = [number for number, own in enumerate(found) if not own.margin > 0]
        for top in range(0, len(opened), CLOSELY):
            if time.monotonic() > self.deadline:
                break
            left = [
                number
                for number in opened[top : top + CLOSELY]
                if not self._note_if_wrong(read, found[number])
            ]
            for number, better in zip(left, cut(read, self.heads, [found[k] for k in left]), strict=True):
                found[number] = better
        return found

    def _note_if_wrong(self, read: ReadEncoder, own: FoundCell) -> bool:
        """Whether a word of the cell is found that is answered wrong: it is noted, and the cell."""
        word, margin = worst_word(read, self.heads, own.cell)
        seems = [(word, own.cell.state)]
        if margin < 0 and surely_wrong(read, self.heads, seems, own.cell.offset)[0]:
            self.wrong.append((word, own.cell.offset, margin))
            self.refuted.add(own.cell)
            return True
        return False

    def _result(self) -> JudgedEncoder:
        wrong, refutation = self._shown_wrong()
        counts = Counter(
            Status.PROVED
            if own.margin > 0
            else Status.REFUTED
            if own.cell in self.refuted
            else Status.UNKNOWN
            for own in self.found
        )
        counts[Status.UNKNOWN] += len(self.cells) - len(self.found)
        left = (own for own in self.found if not own.margin > 0 and own.cell not in self.refuted)
        opened = next(left, None)
        try:
            proof, proved_to, least = self._proof()
        except KeyboardInterrupt as end:
            self.stopped = str(end) or "interrupted while the proof was checked"
            proof, proved_to, least = None, None, None
        return JudgedEncoder(
            self.language,
            self.task,
            self.up_to,
            self.offsets,
            counts,
            None if opened is None else (opened.cell, opened.margin),
            proved_to,
            least,
            wrong,
            tuple(sorted({own.offset for own in self.refuted})),
            self.wrong_short,
            self.tried,
            proof,
            refutation,
            self.stopped,
        )

    def _judgement(self, encoder: Encoder, evidence: ExactExtremes | WrongWord) -> Judgement:
        task = self.task
        return Judgement(encoder.digest, self.source, task.automaton, task.reading, task.vocabulary, evidence)

    def _shown_wrong(self) -> tuple[WrongAnswer | None, Judgement | None]:
        """The shortest wrong word that the checker, too, sees to be one."""
        for word, offset, margin in sorted(self.wrong, key=lambda own: (len(own[0]), own[1:])):
            encoder = self.loads(offset + len(word) + self.task.beside)
            judgement = self._judgement(encoder, WrongWord(word, offset))
            if check_judgement(judgement, encoder).status is Status.REFUTED:
                confirmed = self._in_runtime(shifted(encoder, offset), word, offset)
                return WrongAnswer(word, offset, margin, confirmed), judgement
        return None, None

    def _in_runtime(self, encoder: Encoder, word: Word, offset: int) -> str:
        """What the model's own runtime says of the word."""
        outputs, runtime = self._by_transformers(word, offset) or self._by_torch(encoder, word)
        if outputs is None:
            return "not confirmed: PyTorch is not installed"
        state = self.task.automaton.state_after(word)
        sums = asked_of(ReadEncoder(encoder, self.task, len(word) + self.task.beside)) @ outputs
        right = np.array(self.task.answers(state))
        is_wrong = bool((np.where(right, sums, -sums) < 0).any())
        return f"confirmed in {runtime}" if is_wrong else f"at the rounding level: not so in {runtime}"

    def _by_transformers(self, word: Word, offset: int) -> tuple[Floats, str] | None:
        """The outputs of a GPT-2 folder where `transformers` is installed."""
        vocabulary, letters = self.task.vocabulary, self.task.automaton.alphabet.symbols
        if vocabulary is None:
            return None
        query = () if vocabulary.asked is None else (vocabulary.asked.query,)
        tokens = vocabulary.numbers_of((vocabulary.start, *word, *query))
        try:
            logits, runtime = logits_in_transformers(self.source, tokens, offset)
        except ImportError:
            return None
        return logits[vocabulary.numbers_of(vocabulary.outputs_for(letters))], runtime

    def _by_torch(self, encoder: Encoder, word: Word) -> tuple[Floats | None, str]:
        """The outputs of PyTorch's own modules with the weights."""
        tokens = np.array([tokens_of(encoder, self.task, word)])
        try:
            return outputs_in_torch(encoder, tokens)[0], "PyTorch, float32"
        except ImportError:
            return None, ""

    def _proof(self) -> tuple[Judgement | None, int | None, float | None]:
        """The proof for the greatest length up to which all cells are proved, as the checker accepts it."""
        proved = {own.cell: own for own in self.found if own.margin > 0}
        for up_to in self._lengths_proved(set(proved)):
            self.report(f"checking what is proved to {up_to:,}")
            offsets = self._offsets_to(up_to)
            own = [proved[cell] for cell in self.task.cells_to(up_to, offsets)]
            encoder = self.loads(up_to + self.task.beside)
            evidence = ExactExtremes(
                up_to,
                offsets,
                tuple(tuple(map(tuple, head.axes.tolist())) for head in self.heads),
                tuple(tuple(map(tuple, head.slopes.tolist())) for head in self.heads),
                tuple(each.extremes for each in own),
            )
            judgement = self._judgement(encoder, evidence)
            if check_judgement(judgement, encoder).status is Status.PROVED:
                return judgement, up_to, min(each.margin for each in own)
        return None, None, None

    def _offsets_to(self, up_to: int) -> tuple[int, int]:
        """The offsets at which there are words, if they have at most so many symbols."""
        return self.offsets[0], min(self.offsets[1], up_to)

    def _lengths_proved(self, proved: set[WordCell]) -> Iterator[int]:
        """The greatest length to which all cells are proved, then half, should the checker not agree."""
        # Cells to a length are cells to a greater one, too.
        known, open_from = self.offsets[0] - 1, self.up_to + 1
        while open_from - known > 1:
            middle = (known + open_from) // 2
            is_proved = proved.issuperset(self.task.cells_to(middle, self._offsets_to(middle)))
            known, open_from = (middle, open_from) if is_proved else (known, middle)
        while known >= self.offsets[0] and any(
            True for _ in self.task.cells_to(known, self._offsets_to(known))
        ):
            yield known
            known = known // 2 if known else -1
