"""A search for two words that hard attention cannot tell apart, asked from Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from attemper.errors import OptionError
from attemper.workbench.model import Model
from attemper.workbench.options import polarity_note
from attemper.workbench.spelling import Kind, spelling_of

if TYPE_CHECKING:
    from attemper.models.hard.protocol import HardModel
    from attemper.theories.refutation.certificate.targets import Target
    from attemper.theories.refutation.finding import Finding
    from attemper.workbench.naming import AtName, EmptyName, LanguageLike


def refute(
    model: Model | HardModel | Callable[[int], HardModel] | str,
    language: LanguageLike | Target,
    *,
    at: AtName | None = None,
    empty: EmptyName | None = None,
    length: int | None = None,
    free: float | None = None,
    seconds: float = 60,
    seed: int = 0,
    report: Callable[[str], None] = lambda _: None,
) -> Finding:
    """Look for two words of n symbols that hard attention cannot tell apart, though a language does.

    (Hahn 2020, Theorem 1 and Corollary 2, made constructive: `docs/refutation.md`.)

    * `model`: a compiled model without counts, read with hard attention at the last position; a
      `HardModel`, or a function from n to one; or what the command line takes, `"DIR"` or `"MODULE:OBJECT"`.
    * `language`, `at`, `empty`: as for `attemper.language`, over the model's symbols; those of `zoo:NAME`, as
      in `zoo:parity-even`, are replaced by the model's in their order. It has an automaton, or is brackets or
      a^n b^n.
    * `length`: n, the number of positions, an end marker included; a `HardModel` knows it.
    * `free`: stop when this part of the positions, from 0 to 1, is free; else the search makes it as large
      as it can in so many `seconds`, give or take a step. `report` hears what is done.

    The answer is one for all words of n symbols that the restriction allows; the two words are among them. It
    is PROVED by the checker, in rational numbers; UNKNOWN says that nothing was found, not that there is
    nothing.

    Raises `OptionError` (an option, or what is no model), `UnsupportedError` (heads that average, or no words
    of this length to tell apart), and `ModuleError`, with the file and line where these are known, for a
    model of one's own whose functions do not do what `HardModel` says: the checker does not accept what is
    found with them.

    >>> from attemper.workbench.compiling import compile
    >>> found = refute(compile("O (b & Y a)", "ab"), "zoo:parity-even", length=16, free=0.8)
    >>> found.status, [word.count("b") % 2 for word in found.words]
    (<Status.PROVED: 'PROVED'>, [0, 1])
    """
    from attemper.theories.refutation.finding import search_and_check
    from attemper.theories.refutation.search.named import target_of

    source = model if isinstance(model, str) else ""
    found = search_and_check(
        lambda: hard_model_of(model, length),
        lambda found: target_of(language, found, at, empty),
        source=source,
        free=free,
        seconds=seconds,
        seed=seed,
        report=report,
    )
    return replace(found, note=_note_on(language))


def _note_on(language: object) -> str:
    """What is said of a name of the zoo that says no polarity."""
    spelling = spelling_of(language) if isinstance(language, str) else None
    if spelling is None or spelling.kind is not Kind.ZOO:
        return ""
    return polarity_note(spelling.text, "the model's second symbol") or ""


def hard_model_of(model: object, n: int | None) -> HardModel:
    """The model as functions of arrays, for n positions. Raises `OptionError`."""
    from attemper.models.hard.loading import PARTS, load_model
    from attemper.models.hard.networks import NetworkModel

    if isinstance(model, str):
        return load_model(model, n)
    if n is None and (isinstance(model, Model) or not hasattr(model, "scores")):
        raise OptionError(
            "a model works at every length: say which one, as in length=30", options=("length",)
        )
    if n is not None and (type(n) is not int or n < 1):
        raise OptionError(f"length={n!r} is not a number of positions from 1 on", options=("length",))
    if isinstance(model, Model):
        return NetworkModel(model.network, cast(int, n), model.digest)
    found = model(n) if callable(model) and not hasattr(model, "scores") else model
    missing = next((part for part in PARTS if not hasattr(found, part)), None)
    if missing is not None or isinstance(found, type):
        what = f"no '{missing}'" if missing else "no instance"
        raise OptionError(f"model={type(found).__name__} is no hard-attention model: it has {what}")
    hard = cast("HardModel", found)
    if n is not None and hard.length != n:
        raise OptionError(
            f"the model is one for length={hard.length}, not for length={n}", options=("length",)
        )
    return hard
