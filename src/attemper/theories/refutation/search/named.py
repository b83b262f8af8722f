"""Refute a hard-attention transformer: from a model and a language to two words and their certificate."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, final

from attemper.errors import UnsupportedError
from attemper.languages.named.zoo import language_named
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.forcing import forcing_number, growth
from attemper.languages.words import Alphabet, Word
from attemper.models.hard.protocol import HardModel, answer, numbers_of
from attemper.theories.refutation.certificate.files import Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck, Target, contains
from attemper.theories.refutation.check.claims import MAX_LENGTH
from attemper.theories.refutation.check.subcubes import ListsTooLongError, possible_answers
from attemper.theories.refutation.search.search import Search
from attemper.theories.refutation.search.witnesses import simplest_pair, start
from attemper.workbench import naming
from attemper.workbench.language import Language
from attemper.workbench.spelling import Kind, spelling_of

if TYPE_CHECKING:
    from attemper.workbench.naming import AtName, EmptyName, LanguageLike

FOLLOWED = 20_000
"""A language that keeps more configurations is not made an automaton."""

SHOWN = 40
"""How many symbols of a word a message shows."""


@final
@dataclass(frozen=True)
class RefutationOutcome:
    """A refutation, or why there is none; how long the search took, and whether Ctrl-C ended it."""

    refutation: Refutation | None
    reason: str
    seconds: float
    interrupted: bool = False


def target_of(
    given: LanguageLike | Target, model: HardModel, at: AtName | None = None, empty: EmptyName | None = None
) -> Target:
    """What a refutation of the model is about, over the model's symbols but the end marker.

    Of `zoo:NAME` the model's first symbols stand for those of the language's alphabet, in their order:
    `zoo:parity-even` is evenly many of the second symbol (so is `zoo:parity`, as in Hahn 2020),
    `zoo:parity-odd` oddly many; in `zoo:dyck-1` the first symbol opens, and the second closes; in
    `zoo:dyck-2` the first and third open, the second and fourth close them.

    Raises what `attemper.language` raises, and `UnsupportedError` if the model has too few symbols, or if the
    language has no automaton and is neither brackets nor a^n b^n.
    """
    if isinstance(given, Dyck | Blocks):
        return given
    symbols = tuple(symbol for symbol in model.symbols if symbol != model.ending)
    spelling = spelling_of(given) if isinstance(given, str) else None
    if isinstance(given, Language) and not set(given.alphabet.symbols) <= set(symbols):
        spelling = given.spelling
    if spelling is not None and spelling.kind is Kind.ZOO:
        needed = len(language_named(spelling.text).alphabet)
        if len(symbols) < needed:
            raise UnsupportedError(f"'{given}' needs {needed} symbols, and the model has {len(symbols)}")
        found = naming.language(str(spelling), Alphabet(symbols[:needed]), at=at, empty=empty)
    else:
        found = naming.language(given, like=Alphabet(symbols), at=at, empty=empty)
    return _brackets(found) or _automaton(found)


def _automaton(found: Language) -> Dfa:
    # Formulas have their automata by way of the compiler and the checker, which automata need not load.
    from attemper.workbench.automata import Caps, automaton_required

    found.require_verdicts()
    return automaton_required(found.definition, found.alphabet, found, Caps(FOLLOWED))


def _brackets(found: Language) -> Dyck | Blocks | None:
    """What is no regular language."""
    if not found.zoo_name:
        return None
    name, symbols = language_named(found.zoo_name).name, found.alphabet.symbols
    if re.fullmatch("dyck-[0-9]+", name):
        return Dyck(tuple(zip(symbols[::2], symbols[1::2], strict=True)))
    return Blocks(*symbols) if name == "a-n-b-n" else None


def refute(
    model: HardModel,
    language: Target,
    *,
    source: str = "",
    free: float | None = None,
    seconds: float = 60,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> RefutationOutcome:
    """Look for a restriction on which the model is constant though the language is not.

    (Hahn 2020, Theorem 1 and Corollary 2, made constructive: `docs/refutation.md`.) With `free`, the search
    ends when this part of all positions is free; else it makes the part as large as it can. Interrupted
    (Ctrl-C), it ends with the best so far. Raises `UnsupportedError` if the language has no words of this
    length to tell apart.

    >>> from attemper.models.hard.examples import RandomTables
    >>> model = RandomTables(16, (1, 1))
    >>> outcome = refute(model, target_of("zoo:parity-even", model))
    >>> outcome.refutation is not None
    True
    """
    began = time.monotonic()
    if model.length > MAX_LENGTH:
        raise UnsupportedError(
            f"no words of more than {MAX_LENGTH:,} symbols are checked; choose a smaller length"
        )
    base = start(model, language)
    if simplest_pair(model, base, language) is None:
        raise UnsupportedError(
            "all words of this length are in the language, or none is: choose another length"
        )

    def verify(restriction: Restriction) -> bool | None:
        try:
            answers = possible_answers(model, restriction)
        except ListsTooLongError:
            return None
        return next(iter(answers)) if len(answers) == 1 else None

    def narrow(restriction: Restriction) -> Restriction | None:
        pair = simplest_pair(model, restriction, language)
        if pair is None:
            return None
        words = zip(*(numbers_of(model, word).tolist() for word in pair), strict=True)
        return Restriction(tuple(tuple(sorted(set(symbols))) for symbols in words))

    search = Search(model, base, verify, began + seconds, narrow, report, seed)
    enough = model.length if free is None else ceil(Fraction(str(free)) * model.length)
    interrupted = False
    try:
        search.run(enough)
    except KeyboardInterrupt:
        if search.best is None:
            raise
        interrupted = True
        report("interrupted; this is the best so far")
    spent = time.monotonic() - began
    if search.best is None:
        return RefutationOutcome(None, _reason(model, language), spent)
    pair = simplest_pair(model, search.best.restriction, language)
    assert pair is not None
    member, stranger = pair
    refutation = Refutation(
        model.digest,
        source,
        model.semantics,
        tuple(model.symbols),
        model.ending,
        search.best.restriction,
        (),
        language,
        member,
        stranger,
        search.best.answer,
    )
    return RefutationOutcome(refutation, "", spent, interrupted)


def _reason(model: HardModel, language: Target) -> str:
    """What is known about why nothing was found."""
    size = model.length - (model.ending is not None)
    wrong = _mistake(model, language)
    nothing = "no restriction was found on which the model is constant and the language is not"
    if wrong is not None:
        shown = " ".join(wrong) if len(wrong) <= SHOWN else f"{' '.join(wrong[:SHOWN])} ..."
        nothing += f" (but the model is wrong on a word: {shown})"
    retry = "more time (seconds) or a longer word (length) may help"
    try:
        if isinstance(language, Dyck):
            return f"{nothing}; {retry}"
        forced = 1 if isinstance(language, Blocks) else forcing_number(language, size).fixed
        slope = growth(language).slopes if isinstance(language, Dfa) else (Fraction(0),)
    except UnsupportedError:
        return f"{nothing}; {retry}"
    if slope[size % len(slope)] > 0:
        return (
            f"{nothing}; no fewer than {forced} of the {size} symbols decide membership, ever more in longer "
            f"words like these, so there is one for long words: {retry}"
        )
    return (
        f"{nothing}; the language is forced by {forced} of the {size} symbols, so the theorem says nothing "
        "against a model that looks for them"
    )


def _mistake(model: HardModel, language: Target) -> Word | None:
    """One of two neighbouring words, one in the language and one not, on which the model is wrong."""
    pair = simplest_pair(model, start(model, language), language)
    for word in pair or ():
        if answer(model, numbers_of(model, word)) is not contains(language, word):
            return word
    return None
