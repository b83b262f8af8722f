"""Somebody's masked model read back: its automaton, measured, and compared with its own runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import final

from attemper.errors import ExitCode, OptionError, UnsupportedError
from attemper.escapes import escaped
from attemper.html_tables import Tabled
from attemper.languages.regular.dfa import AUTOMATON, Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.words import Word, show_word
from attemper.models.hard.masked import MaskedModel, ending_of, verdicts
from attemper.models.hard.masked_arrays import MaskedHardModel
from attemper.models.hard.masked_loading import as_masked, load_masked
from attemper.modules import ModuleError, blaming, place_of
from attemper.reading.machines import CONFIGURATIONS, SECONDS
from attemper.reading.models.tables import ReadTable, automaton_of_masked
from attemper.reading.models.words_to_try import words_to_try
from attemper.workbench.decompiled import automaton_lines, class_of
from attemper.workbench.limits import limits_among
from attemper.writing import write_together

MEASURED = "MEASURED"
"""What is said of the functions of a model in place of a proof."""

Progress = Callable[[str], None]


@final
@dataclass(frozen=True)
class Mismatch:
    """A word of which the definition says something else than the automaton."""

    word: Word
    model: bool
    automaton: bool


@final
@dataclass(frozen=True)
class ModelReading(Tabled):
    """What was read back from a model.

    `dfa` is the least automaton, `configurations` and `values` as in `ReadTable`; `words` is how many words
    were run by the definition, `verdicts` how many verdicts on them and their prefixes were compared, and
    `disagreement` the first that differed: then the automaton is not the model's.
    """

    source: str
    dfa: Dfa
    configurations: int
    values: tuple[int, ...]
    words: int
    verdicts: int
    disagreement: Mismatch | None
    empty: str
    semantics: str

    def __str__(self) -> str:
        return "\n".join(map(escaped, self.lines()))

    @property
    def status(self) -> str:
        """MEASURED, or DISAGREEMENT."""
        return MEASURED if self.disagreement is None else "DISAGREEMENT"

    @property
    def exit_code(self) -> ExitCode:
        """What `attemper decompile` returns to the shell."""
        return ExitCode.OK if self.disagreement is None else ExitCode.DISAGREEMENT

    def save(self, path: str | Path) -> None:
        """Write the automaton into a JSON file. Raises `MalformedFileError`."""
        write_together({Path(path): dfa_to_json(self.dfa).encode("utf-8")})

    def lines(self) -> tuple[str, ...]:
        """The reading as text, a sentence a line."""
        wrong = self.disagreement
        if wrong is not None:
            return (
                f"DISAGREEMENT at {show_word(wrong.word)}: by a run of the definition it is "
                f"{_said(wrong.model)}, by the tables {_said(wrong.automaton)}; the functions of "
                f"'{self.source}' do not give equal rows equal results each time, or attemper is wrong: "
                "nothing is said of its language",
            )
        return (
            f"{MEASURED}: the automaton is the model's at every length, if its functions give equal rows "
            "equal results in every batch, and the embedding has the places that it declares (both probed)",
            f"{_many(len(self.dfa.moves), 'state')} of {_many(self.configurations, 'configuration')}; "
            f"{', '.join(map(str, self.values))} different activations in the layers 0 to "
            f"{len(self.values) - 1}",
            f"{_many(self.words, 'word')} run by the definition, {_many(self.verdicts, 'verdict')} compared, "
            "all equal",
            f"the empty word: {self.empty}",
            f"arithmetic: {self.semantics}",
            *automaton_lines(self.dfa, class_of(self.dfa)),
        )

    @property
    def record(self) -> dict[str, object]:
        """The reading as JSON data."""
        wrong = self.disagreement
        return {
            "source": self.source,
            "status": self.status,
            "automaton": None if wrong is not None else AUTOMATON.encode(self.dfa),
            "states": len(self.dfa.moves),
            "configurations": self.configurations,
            "activations": list(self.values),
            "words": self.words,
            "verdicts": self.verdicts,
            "disagreement": None
            if wrong is None
            else {"word": list(wrong.word), "model": wrong.model, "automaton": wrong.automaton},
            "empty": self.empty,
            "arithmetic": self.semantics,
        }


def read_model(
    spec: object,
    *,
    count: int = 10_000,
    seconds: float = SECONDS,
    limits: Mapping[str, int] | None = None,
    seed: int = 0,
    progress: Progress = lambda _: None,
) -> ModelReading:
    """Read a masked model back, and compare the automaton with runs of the model's definition.

    `spec` is `"MODULE:OBJECT"`, a folder with hard weights, or an object that `load_masked` takes. All short
    words are run first (half of `count` at most), then a shortest word to each state of the automaton with
    each letter behind it, then random ones; runs end when the `seconds` are over, and how many there were is
    said. The result is measured, and no certificate (`automaton_of_masked`). `limits` has `configurations`.

    Raises `OptionError` (an option, or nothing of that name), `ModuleError` (with the file and line of the
    function that is to blame), `UnsupportedError` (what is not masked unique hard attention) and
    `UnprovedError` (beyond limits or `seconds`).

    >>> from attemper.models.hard.masked_examples import Alternating
    >>> found = read_model(Alternating(), count=100)
    >>> len(found.dfa.moves), found.words, found.disagreement
    (4, 100, None)
    """
    if type(count) is not int or count < 0:
        raise OptionError(f"count={count!r} is not a whole number from 0 on")
    most = limits_among(limits, {"configurations": CONFIGURATIONS})
    source = spec if isinstance(spec, str) else type(spec).__qualname__
    end = monotonic() + seconds if isinstance(seconds, int | float) else 0
    model = load_masked(spec) if isinstance(spec, str) else as_masked(spec, source)
    progress("following the tables")
    with blaming(source):
        table = _read(model, source, most["configurations"], seconds)
        progress("running the definition")
        run, compared, wrong = _compare(model, table.dfa, count, seed, end)
    return ModelReading(
        source=source,
        dfa=table.dfa,
        configurations=table.configurations,
        values=table.values,
        words=run,
        verdicts=compared,
        disagreement=wrong,
        empty=table.empty,
        semantics=table.semantics,
    )


def _read(model: MaskedModel, source: str, configurations: int, seconds: float) -> ReadTable:
    """The table; a function that is to blame is named with its file and line."""
    try:
        return automaton_of_masked(model, configurations, seconds)
    except UnsupportedError as error:
        name = error.details.get("function")
        if not isinstance(name, str):
            raise
        theirs = model.model if isinstance(model, MaskedHardModel) else model
        file, line = place_of(getattr(theirs, name))
        raise ModuleError(f"'{name}' of '{source}': {error}", file=file, line=line) from None


def _compare(
    model: MaskedModel, dfa: Dfa, count: int, seed: int, end: float
) -> tuple[int, int, Mismatch | None]:
    """How many words were run, how many verdicts compared, and the first that differs."""
    run = compared = 0
    least = 1 if ending_of(model) is None else 0
    for word in words_to_try(dfa, count, seed, least):
        if run and monotonic() >= end:
            break
        run += 1
        for length, said in verdicts(model, word):
            compared += 1
            if said != dfa.accepts(word[:length]):
                return run, compared, Mismatch(word[:length], said, not said)
    return run, compared, None


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _said(verdict: bool) -> str:
    return "accepted" if verdict else "rejected"
