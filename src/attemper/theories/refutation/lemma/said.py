"""What `attemper lemma` says: the constants of the proofs, or what was done to one layer, or to all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from rich.table import Table

from attemper.html_tables import Tabled
from attemper.theories.refutation.lemma import constants
from attemper.workbench.cli.console import text_of
from attemper.workbench.report.tables import table

if TYPE_CHECKING:
    from attemper.theories.refutation.lemma.faithful import Reduction
    from attemper.theories.refutation.lemma.reducing import Agreement, OneLayerLess
    from attemper.theories.refutation.lemma.transformers import CTransformer

_SHORT = 10**6


@final
@dataclass(frozen=True, repr=False)
class LemmaConstants(Tabled):
    """What each proof needs to remove a layer, share by share of the inputs that stay free."""

    found: tuple[constants.Parameters, ...]

    def __repr__(self) -> str:
        return f"<LemmaConstants: {len(self.found)} rows>"

    def __str__(self) -> str:
        shares = dict.fromkeys(one.layer.kept for one in self.found)
        tables = (_table([one for one in self.found if one.layer.kept == kept]) for kept in shares)
        return text_of([*tables, "Guaranteed: for every length from n on. Numbers with an e are rounded up."])

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        return {"parameters": list(map(_record, self.found))}


@final
@dataclass(frozen=True, repr=False)
class LemmaRuns(Tabled):
    """What each construction did to random tables of so many positions, with the k and the rate q."""

    length: int
    heads: int
    k: int
    q: Fraction
    seed: int
    runs: Mapping[str, Reduction]

    def __repr__(self) -> str:
        return f"<LemmaRuns: length {self.length}, k = {self.k}, q = {self.q}>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        yield (f"random tables of length {self.length} with {_heads(self.heads)}; k = {self.k}, q = {self.q}")
        headers = ("construction", "stage", "fixed", "steps", "free", "unsatisfied tuples")
        shown = table(*headers, wraps=("construction", "stage", "unsatisfied tuples"))
        for name, reduction in self.runs.items():
            for stage in reduction.stages:
                numbers = (stage.fixed, stage.steps, stage.free, stage.unsatisfied)
                shown.add_row(name, stage.name, *map(str, numbers))
        yield shown
        for name, reduction in self.runs.items():
            verdict = "all tuples are" if reduction.holds else "not all tuples are"
            inputs = reduction.most_attended
            yield f"{name}: {verdict} {self.k}-satisfied; a choice depends on {inputs} inputs at most"

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data."""
        return {
            "length": self.length,
            "heads": self.heads,
            "k": self.k,
            "q": str(self.q),
            "seed": self.seed,
            "runs": {name: _outcome(reduction) for name, reduction in self.runs.items()},
        }


@final
@dataclass(frozen=True, repr=False)
class LemmaReductions(Tabled):
    """A c-transformer from which one layer after the other was taken away, and what was compared with it.

    `seconds` is how long each reduction took.
    """

    first: CTransformer
    removed: tuple[OneLayerLess, ...]
    compared: tuple[Agreement, ...]
    seconds: tuple[float, ...]

    def __repr__(self) -> str:
        return f"<LemmaReductions: {len(self.removed)} layers of {self.first.size} positions>"

    def __str__(self) -> str:
        return text_of(self._parts())

    def _parts(self) -> Iterator[str | Table]:
        first, last = self.first, self.removed[-1].transformer
        heads = " + ".join(map(str, first.heads))
        yield (
            f"n = {first.size}, L = {len(first.heads)}, H = {heads}, c = {first.most_inputs}: "
            f"{len(first.free)} inputs are free"
        )
        shown = table(
            "layers left", "k", "free", "c'", "c' of the lemma", "equal to the first transformer on"
        )
        for one, compared in zip(self.removed, self.compared, strict=True):
            after = one.transformer
            numbers = (len(after.heads), one.k, len(after.free), after.most_inputs)
            words = f"{'all' if compared.all_words else 'drawn,'} {compared.words:,} words"
            shown.add_row(*map(str, numbers), f"<= {short(one.bound)}", words)
        yield shown
        allowed = last.inputs.allowed
        symbols = last.model.symbols
        pattern = ["*" if len(some) > 1 else symbols[some[0]] for some in allowed]
        yield f"restriction: {''.join(pattern) if max(map(len, pattern)) == 1 else ' '.join(pattern)}"
        if last.heads:
            return
        reads, answers = last.reads[-1], last.outputs()
        if answers.all() or not answers.any():
            yield f"the answer is the same on all of it: {'accepted' if answers[0] else 'rejected'}"
        else:
            at = ", ".join(str(q + 1) for q in reads)
            yield f"the answer depends on {len(reads)} of {len(last.free)} free inputs: {at}"

    @property
    def record(self) -> dict[str, object]:
        """The same as JSON data; positions from 1."""
        first, last = self.first, self.removed[-1].transformer
        names = last.model.symbols
        return {
            "length": first.size,
            "heads": list(first.heads),
            "c": first.most_inputs,
            "free": len(first.free),
            "removed": [
                {
                    "k": one.k,
                    "free": len(one.transformer.free),
                    "c": one.transformer.most_inputs,
                    "bound": one.bound,
                    "fixed_activations": one.steps,
                    "words": compared.words,
                    "all_words": compared.all_words,
                    "seconds": round(seconds, 2),
                }
                for one, compared, seconds in zip(self.removed, self.compared, self.seconds, strict=True)
            ],
            "restriction": [[names[s] for s in some] for some in last.inputs.allowed],
            "output_reads": None if last.heads else [q + 1 for q in last.reads[-1]],
            "answers": None if last.heads else sorted({bool(one) for one in last.outputs()}),
        }


def _second(found: constants.Parameters) -> int | None:
    """log10 of a k for the layer above; None if even that is too large to be computed."""
    try:
        return constants.exponent(found.variant, constants.layer_above(found))
    except OverflowError:
        return None


def _record(found: constants.Parameters) -> dict[str, object]:
    return {
        "variant": found.variant.value,
        "c": found.layer.inputs,
        "heads": found.layer.heads,
        "free": str(found.layer.kept),
        "eta": str(found.eta),
        "q": str(found.q),
        "delta": str(found.delta),
        "k": found.k,
        "inputs_after": found.inputs_after,
        "shortest": found.shortest,
        "log10_k_of_second_layer": _second(found),
    }


def _table(found: list[constants.Parameters]) -> Table:
    layer = found[0].layer
    caption = f"{_heads(layer.heads)}, {layer.kept} of the free inputs stay free"
    headers = ("c", "proof", "k", "c'", "n", "eta", "q", "delta", "k of the next layer")
    shown = table(*headers, wraps=("k of the next layer",), caption=caption)
    for one in found:
        second = _second(one)
        shown.add_row(
            str(one.layer.inputs),
            one.variant.value,
            *map(short, (one.k, one.inputs_after, one.shortest)),
            *(f"{float(number):.2g}" for number in (one.eta, one.q, one.delta)),
            "beyond all bounds" if second is None else f"10^{short(second)}",
        )
    return shown


def _heads(heads: int) -> str:
    return "1 head" if heads == 1 else f"{heads} heads"


def short(number: int) -> str:
    """An integer with at most six digits as it is; a larger one to three digits, rounded up.

    >>> short(999_999), short(1_000_001)
    ('999999', '1.01e6')
    """
    if number < _SHORT:
        return str(number)
    zeros = len(str(number)) - 3
    digits = -(-number // 10**zeros)
    if digits == 1000:
        digits, zeros = 100, zeros + 1
    return f"{digits // 100}.{digits % 100:02}e{zeros + 2}"


def _outcome(reduction: Reduction) -> dict[str, object]:
    return {
        "stages": [asdict(stage) for stage in reduction.stages],
        "free": reduction.free,
        "most_attended": reduction.most_attended,
        "holds": reduction.holds,
    }
