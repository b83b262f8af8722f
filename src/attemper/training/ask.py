"""Words of a language with their verdicts, asked from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Literal, final

from attemper.errors import OptionError
from attemper.html_tables import Tabled
from attemper.training.datasets import FORMAT, DatasetFormat, files_of, name_of, write_data
from attemper.training.labelled import Labelled, Task, drawn, task_of, unbalanced
from attemper.workbench import naming
from attemper.workbench.options import choice
from attemper.workbench.report.languages import lines_on, record_of_language

if TYPE_CHECKING:
    from attemper.workbench.lengths import LengthRange
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike

LONGEST = 999_999
"""No longer words are drawn."""


@final
@dataclass(frozen=True, repr=False)
class LabelledWords(Tabled):
    """Words with their verdicts: `splits` has those of each range of lengths, drawn from the `seed`.

    It prints as the lines of `attemper data`; `record` is its manifest.
    """

    task: Task
    seed: int
    layout: DatasetFormat
    splits: Mapping[LengthRange, tuple[Labelled, ...]]

    @property
    def words(self) -> tuple[Labelled, ...]:
        """All words, each with its `label`: whether it is in the language."""
        return tuple(one for split in self.splits.values() for one in split)

    def __repr__(self) -> str:
        lengths = ",".join(map(name_of, self.splits))
        return f"<LabelledWords: {len(self.words):,} words of {self.task.language}, lengths {lengths}>"

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield from lines_on(self.task.language)
        if self.task.polarity:
            yield f"{self.task.language}: {self.task.polarity}"
        for split, words in self.splits.items():
            members = sum(one.label for one in words)
            yield f"{name_of(split)}: {len(words):,} words, {members:,} of them in the language"
            if warning := self._warnings[split]:
                yield f"  warning: {warning}"

    @property
    def record(self) -> dict[str, object]:
        """The manifest, as JSON data: which language, with its polarity, and what the files are."""
        return {
            **record_of_language(self.task.language),
            "format": FORMAT,
            "layout": str(self.layout),
            "polarity": self.task.polarity,
            "seed": self.seed,
            "splits": [self._record_of(split) for split in self.splits],
        }

    def _record_of(self, split: LengthRange) -> dict[str, object]:
        words = self.splits[split]
        return {
            "name": name_of(split),
            "words": len(words),
            "members": sum(one.label for one in words),
            "warning": self._warnings[split],
            "sha256": {name: sha256(data).hexdigest() for name, data in self._files[split].items()},
        }

    # Both are in the manifest and beside it: they are made once.
    @cached_property
    def _files(self) -> dict[LengthRange, dict[str, bytes]]:
        return {split: files_of(words, name_of(split), self.layout) for split, words in self.splits.items()}

    @cached_property
    def _warnings(self) -> dict[LengthRange, str]:
        return {split: unbalanced(self.task, split, words) for split, words in self.splits.items()}

    def save(self, folder: str | Path) -> None:
        """Write the splits and their manifest, in place of those that an older manifest there names.

        Raises `MalformedFileError` if the folder cannot be written.
        """
        files = {name: data for written in self._files.values() for name, data in written.items()}
        write_data(Path(folder), files, self.record)


def data(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    lengths: LengthRange | Sequence[LengthRange],
    count: int = 10_000,
    seed: int = 0,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    layout: Literal["jsonl", "flare"] = "jsonl",
) -> LabelledWords:
    """Draw words with their verdicts, by turns in the language and not, as far as there are such.

    * `language`, `alphabet`, `at`, `empty`: as for `attemper.language`.
    * `lengths`: the least and the greatest number of symbols n, as in (0, 40), or several such pairs, each of
      which is a split; n is at most 999,999.
    * `count`: how many words each split has; `seed`: where all chance comes from.
    * `layout`: how `save` writes them, as JSON lines, or as the folders of FLaRe (`docs/training.md`).

    Every verdict is exact. If the automaton of the language is found soon, n is drawn among the lengths that
    have words with the verdict, and then the word: all N(n, verdict) words, which are counted in the
    automaton, have the probability 1 / N(n, verdict). Words of the zoo come from its entries, near misses
    among them; all others are tried at random. Where there are hardly any words of one verdict, that is said.

    Raises `OptionError` for numbers that mean nothing here, `UnsupportedError` for what has no verdicts, and
    what `attemper.language` raises. (Layout and splits are those of the benchmark FLaRe: Butoi et al.,
    "Training Neural Networks as Recognizers of Formal Languages", 2025. No lemma is used.)

    >>> found = data("zoo:parity-odd", lengths=(3, 8), count=4)
    >>> [(len(one.word), one.label) for one in found.words]
    [(5, True), (7, False), (6, True), (7, False)]
    """
    ranges = _ranges(lengths)
    if type(count) is not int or count < 1:
        raise OptionError(f"count={count!r} is not a number of words from 1 on")
    if type(seed) is not int or seed < 0:
        raise OptionError(f"seed={seed!r} is not a whole number from 0 on")
    form = DatasetFormat(choice("layout", layout, tuple(DatasetFormat)))
    task = task_of(naming.language(language, alphabet, at=at, empty=empty))
    return LabelledWords(task, seed, form, {one: tuple(drawn(task, one, count, seed)) for one in ranges})


def _ranges(lengths: object) -> tuple[LengthRange, ...]:
    """The splits. Raises `OptionError`."""
    match lengths:
        case (int(), int()):
            several: Sequence[object] = (lengths,)
        case [*parts]:
            several = parts
        case _:
            several = (lengths,)
    found = tuple(map(_range, several))
    if not found or len(set(found)) < len(found):
        raise OptionError(f"lengths: {lengths!r} has no range, or one twice: give each once, as in (0, 40)")
    return found


def _range(given: object) -> LengthRange:
    match given:
        case (int(least), int(greatest)) if 0 <= least <= greatest <= LONGEST:
            return least, greatest
        case _:
            raise OptionError(
                f"lengths: {given!r} is no range from the least to the greatest of at most {LONGEST:,} "
                "symbols, for example (0, 40)"
            )
