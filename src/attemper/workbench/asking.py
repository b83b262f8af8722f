"""What the command line asks of models and languages, asked from Python: verify, formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.errors import OptionError
from attemper.languages.regular import classes
from attemper.workbench import naming
from attemper.workbench.model import Model
from attemper.workbench.options import limits_of, require
from attemper.workbench.translate import Translation, translate

if TYPE_CHECKING:
    from attemper.languages.regular.classes import Classification
    from attemper.workbench.naming import AlphabetLike, AtName, EmptyName, LanguageLike
    from attemper.workbench.verify import Verification


def verify(
    model: Model,
    against: LanguageLike | None = None,
    *,
    up_to: int | None = None,
    count: int = 200,
    longest: int = 512,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    executor: Executor | None = None,
) -> Verification:
    """Look for a word on which the model is wrong: soft run, hard run and exact meaning are compared.

    The meaning is that of the model's language, or of what names one `against` which it is tried: a formula
    and an expression are over the model's alphabet, and a formula is read where the network is read.

    All words of up to `up_to` symbols are tried (default 8, less for large alphabets), then `count` more,
    random ones and ones at the formula's own numbers, of up to `longest` symbols. The runs are in float64, at
    every position; `seed` draws the words. `progress` is called with how many words were done. The answer
    has the first `disagreement`, or None, which is no proof: `check` and `Model.certify` give one.

    `executor`, any of `concurrent.futures`, is where words are tried; the answer does not depend on that.
    `docs/verifying.md` says what is sent there, and how a sweep goes on that was interrupted.

    Raises `OptionError` (a value, no words to try, a language that is read elsewhere), `UnsupportedError`
    (more than two million words), what reading the language raises, and what the executor raises.

    >>> from attemper.workbench.compiling import compile
    >>> found = verify(compile("O a", "ab"), up_to=4, count=20, longest=50)
    >>> found.words, found.longest, found.disagreement
    (50, 50, None)
    >>> print(verify(compile("O a", "ab"), "a", up_to=4, count=0))
    compared: soft run, hard run and the exact meaning of formula:a, on 4 words up to length 2
    WRONG at position 2: soft says True, the language False, on the word ab
    """
    require("model", model, Model, "give a Model; attemper.load(DIR) reads one")
    from attemper.workbench.verify import Plan, count_words, longest_exhaustive, tested_against
    from attemper.workbench.verify import verify as verify_words

    if against is not None:
        model = tested_against(model, naming.language(against, like=model.network))
    exhaustive = longest_exhaustive(model) if up_to is None else up_to
    for name, value, least in (
        ("up_to", exhaustive, 0),
        ("count", count, 0),
        ("longest", longest, 1),
        ("seed", seed, 0),
    ):
        if type(value) is not int or value < least:
            raise OptionError(f"{name}={value!r} is not a whole number from {least} on")
    plan = Plan(exhaustive, count, longest, seed)
    if count_words(model, plan) == 0:
        raise OptionError("up_to=0 and count=0 leave no word to try")
    return verify_words(model, plan, progress, executor)


def classify(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
) -> Classification:
    """Which class a regular language is in, with a witness: star-free, quasi-aperiodic, solvable or neither.

    The class is that of its minimal automaton (`docs/automata.md` defines the classes). Arguments are those
    of `attemper.language`; of a formula or program its automaton must be found.

    Raises what `attemper.language` raises, and `UnsupportedError` if no automaton is found.

    >>> print(classify("regex:(aa)*", "ab").kind)
    star-free
    """
    found = naming.language(language, alphabet, at=at, empty=empty)
    return classes.classify(found.automaton())


def to_formula(
    language: LanguageLike,
    alphabet: AlphabetLike | None = None,
    *,
    limits: Mapping[str, int] | None = None,
) -> Translation:
    """A regular language as a past formula, read at the last position; `str(...)` is its text.

    The formula holds at position i of a word exactly if the first i symbols are in the language: `proved` for
    all lengths by the checker, or else tried on all words up to the length `agreed`; `way` says whether a
    search found it. On the empty word, which has no position, ask the language.

    * `language`, `alphabet`: as for `attemper.language`; of a formula or program its automaton must be found.
    * `limits`: how large the automaton's cascade may grow, by the names that a refusal says, as in
      `{"symbols": 8000}`.

    Raises what `attemper.language` raises, `OptionError` for a limit that there is not, and
    `UnsupportedError` if no automaton is found, or it has no cascade, or a formula too large to be written.

    >>> found = to_formula("regex:(b*ab*a)*b*")
    >>> print(found)
    #<[a] % 2 = 0
    >>> found.proved, found.way.value
    (True, 'cascade')
    """
    return translate(naming.language(language, alphabet).automaton(), limits_of(limits, CascadeCaps()))
