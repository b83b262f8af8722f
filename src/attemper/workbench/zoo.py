"""The entries of the zoo, compiled: from a source to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attemper.certifying.choosing import Goal
from attemper.errors import UnsupportedError
from attemper.languages.named.entry import SourceText, ZooEntry
from attemper.languages.named.zoo import named as entry_named
from attemper.languages.words import Alphabet
from attemper.workbench.compiling import compile_for
from attemper.workbench.model import Model
from attemper.workbench.options import goal_of, require
from attemper.workbench.zoo_sources import language_of, limits_for, rasp_of, regex_of

if TYPE_CHECKING:
    from attemper.compiling.softening.normalise import LayerNorm
    from attemper.workbench.options import DTypeLike, KernelName, RegimeName


def named(name: str) -> ZooEntry:
    """What has this name in the zoo: its definition, its oracle, and words.

    It is an `Entry`, a language, or a `Transduction`, which puts something out at every position.

    Names are those of `attemper zoo`; `docs/zoo.md` has them all. Raises `OptionError` with the nearest name.

    >>> entry = named("majority")
    >>> entry.definition
    'words with at least as many 1s as 0s'
    >>> entry.accepts(tuple("0110")), entry.accepts(tuple("0010"))
    (True, False)
    >>> [entry.accepts(word) for pair in entry.near_misses(count=2) for word in pair]
    [True, False, True, False]
    >>> named("sort").outputs(tuple("cab"))
    ('a', 'b', 'c')
    """
    require("name", name, str, "give a name that 'attemper zoo' lists, for example 'majority'")
    return entry_named(name)


def compile_named(
    name: str,
    *,
    regime: RegimeName | None = None,
    horizon: int | None = None,
    dtype: DTypeLike = "float64",
    kernel: KernelName = "numerator-first",
    layer_norm: LayerNorm | None = None,
) -> Model:
    """Compile an entry of the zoo, by its name, into a softmax transformer.

    It accepts a word of any length if and only if the word is in the language (or puts out what the entry
    says), in real arithmetic, with one set of weights for every length. The options are those of `compile`;
    with a horizon, the entry's sources are tried until one reaches it.

    Raises `OptionError` (there is no such name; an option's value) and `UnsupportedError` (the entry
    cannot be compiled yet, or not in this regime; no network reaches the horizon).

    >>> model = compile_named("k-hop-2")
    >>> model.accepts("cabcb"), model.accepts("ccbcb")
    (True, False)
    >>> compile_named("sort").output("cab")
    ('a', 'b', 'c')
    """
    entry = named(name)
    goal = goal_of(horizon, dtype, kernel)
    first = entry.source
    if goal is None or len(entry.sources) == 1:
        return compile_entry(entry, first, regime=regime, goal=goal, layer_norm=layer_norm)
    return _first_that_reaches(entry, goal, regime, layer_norm)


def _first_that_reaches(
    entry: ZooEntry, goal: Goal, regime: str | None, layer_norm: LayerNorm | None
) -> Model:
    """The model of the first source that reaches the goal; the first one's refusal if none does."""
    refusals: list[UnsupportedError] = []
    for source in entry.sources:
        try:
            return compile_entry(entry, source, regime=regime, goal=goal, layer_norm=layer_norm)
        except UnsupportedError as refusal:
            refusals.append(refusal)
    raise refusals[0]


def compile_entry(
    entry: ZooEntry,
    source: SourceText,
    *,
    regime: str | None = None,
    goal: Goal | None = None,
    layer_norm: LayerNorm | None = None,
) -> Model:
    """Compile an entry from one of its sources; raises what `compile_named` does."""
    language, text = language_of(entry, source), regex_of(source)
    rasp = rasp_of(source)
    letters, limits = Alphabet(entry.alphabet), limits_for(source)
    return compile_for(language, letters, regime, goal, limits, text, rasp, layer_norm)
