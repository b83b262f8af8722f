"""Values of every kind of file, for tests that change what is written of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import cache
from typing import Any

import attemper
from attemper.attention_program.ops import Letter, Program
from attemper.certificates.files import CERTIFIED
from attemper.documents import Document
from attemper.languages.regular.dfa import Dfa
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet
from attemper.networks.files import DIGEST, contents_of, read_structure
from attemper.running.streaming.saved import STREAM, Saved
from attemper.theories.causal.certificate import (
    CAUSAL,
    CausalClaim,
    CausalVariable,
    EdgeSet,
    FeedForwardEdge,
    HeadEdge,
    HeadPart,
    HeldBit,
    Holder,
    Interchange,
    OutputEdge,
    Taken,
)
from attemper.theories.depth.certificate import (
    DEPTH,
    DepthClaims,
    EnoughByClasses,
    EnoughByFormula,
    HardNetworks,
    Inseparable,
)
from attemper.theories.influence.certificate import (
    LIMIT,
    FrequencyBound,
    NoMargin,
    NoMarginAt,
    OneSymbolBound,
    PairBound,
    RecogniserFloor,
    SourceFloor,
    TableBound,
)
from attemper.theories.refutation.certificate.files import REFUTATION, Refutation
from attemper.theories.refutation.certificate.restrictions import Restriction
from attemper.theories.refutation.certificate.targets import Blocks, Dyck
from attemper.theories.softening.certificate import (
    APPROXIMATION,
    Approximation,
    ClosedFormErrors,
    Enumerated,
    GapBy,
    HeadGap,
    LayerError,
    Monomial,
)

SOURCES = (
    *(
        "O (a & Y b)",
        "#<[a] > #<[b] & pos % 3 = 1",
        "a S (b U a)",
        "prime(#<[a]) | first",
        "#[a] == 2 * #>[b]",
    ),
    *(
        "regex:(ab)*",
        "regex:(a|b)*abb",
        "zoo:dyck-1",
        "zoo:k-hop-1-symbol",
        "zoo:histogram",
        "zoo:trigram-lm",
    ),
)

READ: Mapping[str, Callable[[Any], object]] = {
    "network": lambda data: read_structure(data if isinstance(data, dict) else {}),
    "certificate": CERTIFIED.decode,
    "approximation": APPROXIMATION.decode,
    "refutation": REFUTATION.decode,
    "bound": LIMIT.decode,
    "depth": DEPTH.decode,
    "stream": STREAM.decode,
    "causal": CAUSAL.decode,
}
"""What reads each kind of file; digests are beside the question."""


@cache
def drawn(kind: str) -> tuple[Any, ...]:
    """Some data of a kind."""
    models = [attemper.compile(source, None if ":" in source else "ab") for source in SOURCES]
    if kind == "network":
        found = [contents_of(model.network, model.source)[0] for model in models]
        return tuple({name: entry for name, entry in data.items() if name != DIGEST} for data in found)
    if kind == "certificate":
        return tuple(CERTIFIED.encode(model.certify()) for model in models)
    document, values = _OTHERS[kind]
    return tuple(document.encode(value) for value in values)


HALF = Fraction(1, 2)
PARITY = Dfa(Alphabet(("0", "1")), ((0, 1), (1, 0)), 0, frozenset({0}))
FREE = Restriction(((0, 1), (1,), (0,), (2,)))
REFUTED = Refutation(
    "ab12", "net", "exact", ("0", "1", "$"), "$", FREE, (1,), PARITY, ("0", "1", "0"), ("1", "1", "0"), True
)
BOUND = OneSymbolBound(
    "ab12",
    "models:mine",
    ("0", "1", "$"),
    "$",
    ((1,), (-2,)),
    FrequencyBound(5, HALF, (2, 1), ((Fraction(0), HALF), (HALF, Fraction(1))), "."),
    (
        NoMargin(Fraction(1), 4094, (7, 8)),
        NoMarginAt(HALF, 64),
        RecogniserFloor(4096, Fraction(693, 1000)),
        SourceFloor("parity-even", HALF, 4096, Fraction(1)),
    ),
)
LAYER = LayerError(
    Monomial(Fraction(3, 2), Fraction(1)),
    GapBy.GIVEN,
    (None, HeadGap(GapBy.RULE, Monomial(HALF, Fraction(-1)))),
    Monomial(Fraction(10**30, 7), Fraction(-5, 1024)),
)
PAST = TemporalLanguage(parse("O (a & Y b)"), At.LAST, accepts_empty=False)

LETTER = Program(Alphabet(("a", "b")), (Letter(("a",)),), 0)
HELD = CausalVariable(0, (HeldBit(0, (Holder(2, opposite=False), Holder(3, opposite=True))),))
EDGES = (
    EdgeSet((HeadEdge(0, 1, 0, HeadPart.KEY), OutputEdge(0)), None),
    EdgeSet((FeedForwardEdge(0, 2),), Interchange(("a", "b"), (Taken(0, 2, ("b", "b")),))),
)
_OTHERS: Mapping[str, tuple[Document[Any], tuple[Any, ...]]] = {
    "causal": (
        CAUSAL,
        (
            CausalClaim("ab12", LETTER, (HELD,)),
            CausalClaim("ab12", LETTER, (HELD,), EDGES),
        ),
    ),
    "approximation": (
        APPROXIMATION,
        (
            Approximation("ab", "cd", Fraction(1, 100), 1, None, ClosedFormErrors((LAYER, LAYER), 5)),
            Approximation("ab", "cd", Fraction(0), 2, 9, Enumerated()),
        ),
    ),
    "refutation": (
        REFUTATION,
        (
            REFUTED,
            Refutation(
                *("ab12", "net", "exact", ("(", ")"), None, Restriction(((0, 1), (0,))), ()),
                *(Dyck((("(", ")"),)), ("(", "("), (")", "("), False),
            ),
            Refutation(
                *("ab12", "net", "exact", ("a", "b"), None, Restriction(((0, 1), (0,))), ()),
                *(Blocks("a", "b"), ("a", "a"), ("b", "a"), False),
            ),
        ),
    ),
    "bound": (
        LIMIT,
        (
            BOUND,
            OneSymbolBound("ab", "m", ("0", "1", "$"), "$", ((1,),), TableBound(64, HALF, last_only=True)),
            OneSymbolBound("ab", "m", ("0", "1", "$"), "$", ((1,),), PairBound(("0",), ("1",), HALF)),
        ),
    ),
    "depth": (
        DEPTH,
        (
            DepthClaims(
                PAST,
                Alphabet(("a", "b")),
                HardNetworks(2, 3),
                (Inseparable(1, (("a", "b"), ("a",))), EnoughByFormula(2, PAST.formula)),
            ),
            DepthClaims(PARITY, PARITY.alphabet, HardNetworks(), (EnoughByClasses(1, 4),)),
        ),
    ),
    "stream": (
        STREAM,
        (Saved("ab", 7, 0.25, (1.0, -0.5), (0.0, 5e-324), (((1.0, 2.0), (3.0,)), ((),), ())),),
    ),
}
