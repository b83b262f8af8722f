"""What the command line asks of models and languages, asked from Python: verify, formula."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from attemper.errors import OptionError
from attemper.languages.regular.dfa import Dfa
from attemper.missing import torch_needed
from attemper.workbench.model import Model
from attemper.workbench.options import limits_of, require
from attemper.workbench.translate import Translation, translate

if TYPE_CHECKING:
    from attemper.workbench.verify import Verification


def verify(
    model: Model,
    *,
    up_to: int | None = None,
    random: int = 200,
    length: int = 512,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    executor: Executor | None = None,
) -> Verification:
    """Look for a word on which the model is wrong: soft run, hard run and exact meaning are compared.

    All words of up to `up_to` symbols are tried (default 8, less for large alphabets), then `random` more,
    random ones and ones at the formula's own numbers, of up to `length` symbols. The runs are in float64, at
    every position; `seed` draws the words. `progress` is called with how many words were done. The answer
    has the first `disagreement`, or None, which is no proof: `Model.certify` is one.

    `executor`, any of `concurrent.futures`, is where words are tried; the answer does not depend on that.
    `docs/verifying.md` says what is sent there, and how a sweep goes on that was interrupted.

    Raises `OptionError` (a value, or no words to try), `UnsupportedError` (more than two million words), and
    what the executor raises.

    >>> from attemper.workbench.compiling import compile
    >>> found = verify(compile("O a", "ab"), up_to=4, random=20, length=50)
    >>> found.words, found.longest, found.disagreement
    (50, 50, None)
    """
    require("model", model, Model, "give a Model; attemper.load(DIR) reads one")
    with torch_needed():
        from attemper.workbench.verify import Plan, count_words, longest_exhaustive
        from attemper.workbench.verify import verify as verify_words

    exhaustive = longest_exhaustive(model) if up_to is None else up_to
    for name, value, least in (("up_to", exhaustive, 0), ("random", random, 0), ("length", length, 1)):
        if type(value) is not int or value < least:
            raise OptionError(f"{name}={value!r} is not a whole number from {least} on")
    plan = Plan(exhaustive, random, length, seed)
    if count_words(model, plan) == 0:
        raise OptionError("up_to=0 and random=0 leave no word to try")
    return verify_words(model, plan, progress, executor)


def formula_of(language: Dfa | Model, *, caps: Mapping[str, int] | None = None) -> Translation:
    """A regular language as a past formula, read at the last position; `str(...)` is its text.

    `language` is an automaton, or a model compiled from one. The formula holds at position i of a word
    exactly if the first i symbols are in the language: `proved` for all lengths by the checker, or else
    tried on all words up to the length `agreed`; `way` says whether a search found it. On the empty word,
    which has no position, ask the automaton.
    `caps`: how large the automaton's cascade may grow, by the names that a refusal says, as in
    `{"symbols": 8000}`.

    Raises `OptionError` for another language or a cap that there is not, and `UnsupportedError` if the
    automaton has no cascade, or a formula too large to be written down.

    >>> from attemper.languages.regular.regex import parse_regex
    >>> found = formula_of(parse_regex("(b*ab*a)*b*", "ab"))
    >>> print(found)
    #<[a] % 2 = 0
    >>> found.proved, found.way.value
    (True, 'cascade')
    """
    found = language.language if isinstance(language, Model) else language
    if not isinstance(found, Dfa):
        raise OptionError(f"language={type(found).__name__} is no automaton: give parse_regex(...)")
    return translate(found, limits_of(caps))
