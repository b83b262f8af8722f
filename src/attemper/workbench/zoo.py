"""The entries of the zoo, compiled: from a source to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from attemper.certifying.choosing import Goal
from attemper.compiling.decomposing.limits import Limits
from attemper.errors import UnsupportedError
from attemper.languages.language import Language
from attemper.languages.named.entry import Automaton, Entry, Formula, Named, Rasp, Regex, Unbuilt, Written
from attemper.languages.named.zoo import named as entry_named
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At
from attemper.languages.temporal.sides import read_language
from attemper.languages.words import Alphabet
from attemper.workbench.model import Model, compile_for
from attemper.workbench.options import goal_of, require
from attemper.workbench.programs import program_language

if TYPE_CHECKING:
    from attemper.workbench.options import DTypeLike, KernelName, RegimeName


def named(name: str) -> Named:
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
    first = source_of(entry)
    if goal is None or len(entry.sources) == 1:
        return compile_entry(entry, first, regime=regime, goal=goal)
    return _first_that_reaches(entry, goal, regime)


def _first_that_reaches(entry: Named, goal: Goal, regime: str | None) -> Model:
    """The model of the first source that reaches the goal; the first one's refusal if none does."""
    refusals: list[UnsupportedError] = []
    for source in entry.sources:
        try:
            return compile_entry(entry, source, regime=regime, goal=goal)
        except UnsupportedError as refusal:
            refusals.append(refusal)
    raise refusals[0]


def compile_entry(
    entry: Named, source: Written, *, regime: str | None = None, goal: Goal | None = None
) -> Model:
    """Compile an entry from one of its sources; raises what `compile_named` does."""
    language, text = language_of(entry, source), regex_of(source)
    rasp = rasp_of(source)
    return compile_for(language, Alphabet(entry.alphabet), regime, goal, limits_for(source), text, rasp)


def source_of(entry: Named) -> Written:
    """The entry's source; raises `UnsupportedError` with what is missing if there is none yet."""
    if isinstance(entry.source, Unbuilt):
        raise UnsupportedError(
            f"'{entry.name}' cannot be compiled yet: that needs {entry.source.needs}. "
            f"'attemper zoo {entry.name}' says what it is, and has words."
        )
    return entry.source


def language_of(entry: Named, source: Written) -> Language:
    """What a source of the entry says, with the oracle's verdict on the empty word."""
    alphabet = Alphabet(entry.alphabet)
    match source:
        case Formula(text, at):
            accepts_empty = isinstance(entry, Entry) and entry.accepts(())
            return read_language(parse(text, alphabet), At(at), accepts_empty)
        case Regex(text):
            return parse_regex(text, alphabet)
        case Automaton(moves, accepting, _):
            return minimal(Dfa(alphabet, moves, 0, accepting))
        case Rasp(text):
            return program_language(text, None, None)
        case _:
            assert_never(source)


def limits_for(source: Written) -> Limits:
    """How large an automaton's cascade may grow."""
    return Limits(symbols=source.symbols) if isinstance(source, Automaton) and source.symbols else Limits()


def rasp_of(source: Written) -> str:
    """The text of an attention program; empty for other sources."""
    return source.text if isinstance(source, Rasp) else ""


def regex_of(source: Written) -> str:
    """The text of a regular expression; empty for other sources."""
    return source.text if isinstance(source, Regex) else ""
