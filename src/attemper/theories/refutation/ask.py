"""Two words that hard attention cannot tell apart, and a layer that is taken away, asked from Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, cast

from attemper.errors import OptionError
from attemper.workbench.model import Model
from attemper.workbench.options import polarity_note
from attemper.workbench.spelling import Kind, spelling_of

if TYPE_CHECKING:
    from attemper.models.hard.protocol import HardModel
    from attemper.theories.refutation.certificate.restrictions import Restriction
    from attemper.theories.refutation.certificate.targets import Target
    from attemper.theories.refutation.finding import Finding
    from attemper.theories.refutation.lemma.reducing import OneLayerLess
    from attemper.theories.refutation.lemma.transformers import CTransformer
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


def reduce(
    model: CTransformer | Model | HardModel | Callable[[int], HardModel] | str,
    restriction: Restriction | None = None,
    *,
    length: int | None = None,
    k: int = 1,
    ties: Literal["leftmost", "any"] | None = None,
) -> OneLayerLess:
    """Take the lowest layer away from a hard-attention transformer, for the price of some fixed inputs.

        rho' >= rho   fixes inputs until every tuple ((h, i), z) of the first layer is k-satisfied: whatever
                      head h attends to at i while y_i^(0) = z, at most c k free inputs feed it
        reads'[i]     the free inputs of y_i^(0), and for each h and z those of all that can be attended to
        tables'[i]    y_i^(1), for each assignment to reads'[i]

    * `model`: as for `attemper.refute`, at one `length` n (then c = 1); or a `CTransformer`, such as the one
      that a reduction made.
    * `restriction`: rho, which leaves one or two symbols to each position. None: what a `CTransformer`
      has; for a model both of its first two symbols, everywhere but at an end marker.
    * `k` >= 1: more inputs stay free where it is larger, and c' is larger. Activations are fixed as in Stage
      2 of Hahn's proof, until no tuple is left unsatisfied, so that this holds for every n and k; how many
      inputs stay free is not promised (`attemper lemma` has what is).
    * `ties`: the leftmost of the best positions is attended to (also if it is None); or any of them (Hahn's
      footnote 1), for example one drawn at random. Then all that can tie with the best are read, and tables
      list what an activation can be. A `CTransformer` knows which it is.

    Guaranteed: for every word under rho' and l = 1, ..., L the layer-l activations of T are the layer-(l - 1)
    activations of T', and c' <= c (2^c k H + 1) (Hahn 2020, Lemma 4, for one n; the proof is in
    docs/depth-reduction.md). Where any of the best is attended to: an activation of T is among those that
    `tables` of T' list, and if choices are drawn at random, independently, its distribution depends on
    no inputs but those that `reads` lists.

    Raises `OptionError` for options, a restriction of another length, or no layers; `UnsupportedError` where
    a position has more than two symbols, or where an activation comes to depend on more than 14 inputs.

    >>> from attemper.models.hard.examples import RandomTables
    >>> found = reduce(RandomTables(12, (1, 1), seed=172))
    >>> found.transformer.heads, len(found.restriction.free), found.transformer.most_inputs, found.bound
    ((1,), 6, 3, 3)
    >>> last = reduce(found.transformer).transformer
    >>> last.heads, len(last.free), last.reads[-1]
    ((), 5, (6, 7))
    """
    from attemper.theories.refutation.lemma.inputs import bits_of
    from attemper.theories.refutation.lemma.reducing import one_layer_less
    from attemper.theories.refutation.lemma.transformers import CTransformer, own_layer, restricted

    if ties not in (None, "leftmost", "any"):
        raise OptionError(f"ties={ties!r} is neither 'leftmost' nor 'any'")
    if isinstance(model, CTransformer):
        if ties not in (None, "leftmost" if model.leftmost else "any"):
            raise OptionError(f"the transformer is not one with ties={ties!r}")
        if length not in (None, model.size):
            raise OptionError(
                f"the transformer is one for length={model.size}, not for length={length}",
                options=("length",),
            )
        given = model if restriction is None else restricted(model, bits_of(model.inputs, restriction))
    else:
        given = own_layer(hard_model_of(model, length), restriction, leftmost=ties != "any")
    return one_layer_less(given, k)


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
