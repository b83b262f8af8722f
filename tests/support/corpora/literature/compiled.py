"""An entry compiled and certified: what its network says of words, and its row of the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never, final

import attemper
from attemper.certificates.claims import Certificate, FloatClaim
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.languages.named.entry import Automaton, FormulaText, Rasp, Regex
from attemper.languages.regular.minimal import minimal
from attemper.languages.words import Alphabet
from attemper.workbench.compiling import compiled_source
from attemper.workbench.language import Language
from tests.support.corpora.literature.entry import Entry, Oracle

RegimeName = Literal["unbounded", "temperature", "decoder"]
DType = Literal["float64", "float32"]


def compiled(entry: Entry, regime: RegimeName = "unbounded") -> attemper.Model:
    """The entry's model, with the oracle's verdict on the empty word; raises what compiling raises."""
    letters = list(entry.alphabet)
    match entry.source:
        case FormulaText(text, at):
            empty: Literal["accept", "reject"] = "accept" if entry.oracle.accepts("") else "reject"
            return attemper.compile(text, letters, at=at, regime=regime, empty=empty)
        case Regex(text):
            return attemper.compile(attemper.regex(text, letters), regime=regime)
        case Automaton(moves, accepting, symbols):
            dfa = minimal(attemper.Dfa(Alphabet(tuple(letters)), moves, 0, accepting))
            limits = CascadeCaps() if symbols is None else CascadeCaps(symbols=symbols)
            return compiled_source(Language(dfa, dfa.alphabet), limits, [regime])
        case Rasp(text):
            return attemper.compile(attemper.program(text), regime=regime)
        case _:
            assert_never(entry.source)


def horizon(certificate: Certificate, dtype: DType) -> int:
    """Up to which length the network is right in this format, with numerator-first kernels."""
    return next(
        claim.horizon
        for claim in certificate.claims
        if isinstance(claim, FloatClaim) and (claim.format, claim.kernel) == (dtype, "numerator-first")
    )


# What the network says -----------------------------------------------------------------------------------


@final
@dataclass(frozen=True)
class Tried:
    """How many words were run, how many of them are members, and those that a run gets wrong."""

    words: int
    members: int
    wrong: tuple[str, ...]


def tried(entry: Entry, model: attemper.Model, words: Sequence[str], dtype: DType = "float64") -> Tried:
    """Every word's verdict and, where the oracle has them, its prefixes' verdicts."""
    results = list(_results(entry.oracle, model, words, dtype))
    return Tried(
        len(results),
        sum(is_member for _, is_member, _ in results),
        tuple(word for word, _, is_right in results if not is_right),
    )


def _results(
    oracle: Oracle, model: attemper.Model, words: Sequence[str], dtype: DType
) -> Iterator[tuple[str, bool, bool]]:
    """For each word whether it is a member and whether the network is right on it; undecided is not right."""
    runs = model.run([list(word) for word in words], dtype=dtype)
    for word, run in zip(words, runs, strict=True):
        if oracle.prefixes is None:
            is_member = oracle.accepts(word)
            yield word, is_member, run.accepted is is_member
            continue
        expected = oracle.prefixes(word)
        is_right = (model.network.accepts_empty, *run.bits) == tuple(expected)
        yield word, expected[-1], is_right and run.accepted is expected[-1]
