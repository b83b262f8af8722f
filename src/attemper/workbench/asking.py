"""What `attemper verify` asks, asked from Python."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import TYPE_CHECKING

from attemper.errors import OptionError
from attemper.workbench import naming
from attemper.workbench.model import Model
from attemper.workbench.options import require

if TYPE_CHECKING:
    from attemper.workbench.naming import LanguageLike
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
