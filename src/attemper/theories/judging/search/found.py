"""What is found of an encoder's answers: how far they are proved right, and words that are answered wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from attemper.checker.verdict import EXIT_CODES, Status
from attemper.errors import ExitCode, OptionError
from attemper.html_tables import Tabled
from attemper.languages.words import Word, show_word
from attemper.theories.judging.certificate import JUDGEMENT, Judgement, Reading
from attemper.theories.judging.check.cells import JudgedTask, WordCell
from attemper.theories.judging.check.claims import at_offset, said
from attemper.workbench.language import Language
from attemper.workbench.report.languages import lines_on, record_of_language


@final
@dataclass(frozen=True)
class WrongAnswer:
    """A word, or prefix, that is answered wrong, behind how many positions, and by how much; and what its own
    runtime says of it in float32.
    """

    word: Word
    offset: int
    margin: float
    runtime: str


@final
@dataclass(frozen=True, repr=False)
class JudgedEncoder(Tabled):
    """How an encoder answers words of a language up to a length.

    `cells` counts cells, sets of words that are judged together, by their status, and `open` has the first
    that is neither proved nor refuted. `proved_to` is the greatest length up to which all is proved, by the
    checker, None where not even the shortest words are; `least` is the least margin there. `wrong` is a
    shortest word found that is answered wrong, `wrong_offsets` are those where a cell is refuted, and
    `wrong_words` counts those among the `tried` shortest ones.
    `judgement` is what is written to a file: the wrong word, or else the proof.
    """

    language: Language
    task: JudgedTask
    up_to: int
    offsets: tuple[int, int]
    cells: Counter[Status]
    open: tuple[WordCell, float] | None
    proved_to: int | None
    least: float | None
    wrong: WrongAnswer | None
    wrong_offsets: tuple[int, ...]
    wrong_words: int
    tried: int
    proof: Judgement | None
    refutation: Judgement | None
    stopped: str = ""

    @property
    def status(self) -> Status:
        """REFUTED where a word shows it; PROVED where all is proved up to the length that was asked for."""
        if self.wrong is not None:
            return Status.REFUTED
        return Status.PROVED if self.proved_to == self.up_to else Status.UNKNOWN

    @property
    def exit_code(self) -> ExitCode:
        """What the command line returns."""
        return EXIT_CODES[self.status]

    @property
    def judgement(self) -> Judgement | None:
        """What a file is to say."""
        return self.refutation or self.proof

    def __repr__(self) -> str:
        known = "nothing proved" if self.proved_to is None else f"proved to {self.proved_to:,}"
        return f"<JudgedEncoder: {self.status}, {known} of {self.up_to:,}>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from lines_on(self.language)
        yield f"{self.status}: {self._outcome()}"
        if self.wrong is not None:
            yield f"  margin {self.wrong.margin:.4g} in real arithmetic; {self.wrong.runtime}"
            yield f"  of the {self.tried:,} shortest words {self.wrong_words:,} are answered wrong"
        if self.offsets != (0, 0) and self.wrong_offsets:
            count, several = len(self.wrong_offsets), self.offsets[1] - self.offsets[0] + 1
            yield f"  wrong at {count:,} of {several:,} offsets, first at {self.wrong_offsets[0]:,}"
        counts = ", ".join(f"{self.cells[own]:,} {own}" for own in Status if self.cells[own])
        yield f"cells: {counts}"
        if self.proved_to is not None and self.least is not None:
            yield f"proved to {self.proved_to:,} of {self.up_to:,} symbols, least margin {self.least:.4g}"
        if self.open is not None and self.status is not Status.PROVED:
            cell, margin = self.open
            letters = self.task.automaton.alphabet.symbols
            last = "" if cell.last is None else f", last symbol {letters[cell.last]}"
            where = f"{cell.length:,} symbols, state {cell.state}{last}{at_offset(cell.offset)}"
            yield f"first open: {where}: the margin is not seen to be above {margin:.4g}"
        if self.stopped:
            yield f"stopped: {self.stopped}"

    def _outcome(self) -> str:
        if self.wrong is not None:
            where = "" if self.task.reading is Reading.VERDICT else "the prefix "
            return f"{where}'{show_word(self.wrong.word)}'{at_offset(self.wrong.offset)} is answered wrong"
        if self.status is Status.PROVED:
            return said(self.task, self.up_to, self.offsets)
        return f"not shown that {said(self.task, self.up_to, self.offsets)}"

    @property
    def record(self) -> dict[str, object]:
        """What is found, as JSON data."""
        return {
            "kind": "judgement",
            **record_of_language(self.language),
            "status": str(self.status),
            "reading": str(self.task.reading),
            "up_to": self.up_to,
            "offsets": list(self.offsets),
            "proved_to": self.proved_to,
            "least_margin": self.least,
            "cells": {str(own): self.cells[own] for own in Status if self.cells[own]},
            "open": None
            if self.open is None
            else {"length": self.open[0].length, "state": self.open[0].state, "last": self.open[0].last},
            "wrong": None
            if self.wrong is None
            else {
                "word": list(self.wrong.word),
                "offset": self.wrong.offset,
                "margin": self.wrong.margin,
                "runtime": self.wrong.runtime,
                "among_shortest": [self.wrong_words, self.tried],
            },
            "wrong_offsets": list(self.wrong_offsets),
            "stopped": self.stopped or None,
        }

    def save(self, path: str | Path) -> None:
        """Write the judgement to a file for `attemper check FILE --model MODEL`.

        Raises `OptionError` if there is none, and `MalformedFileError` if writing fails.
        """
        if self.judgement is None:
            raise OptionError("there is nothing to save: nothing is proved, and no word is answered wrong")
        JUDGEMENT.save(self.judgement, Path(path))
