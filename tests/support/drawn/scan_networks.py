"""Networks of one layer, written by hand or drawn, whose heads have scores of every form and no construction.

Their coordinates are letters, position embeddings, and one for each number that the heads read out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from attemper.exact import closed_forms
from attemper.exact.predicates import Remainder
from attemper.languages.words import Alphabet
from attemper.networks.layers import Foreign, Head, Layer, LinearForm, Masking, Network, Softmax

Terms = Mapping[str, float | Fraction]
"""sum of amount * coordinate."""

J, JJ = closed_forms.I, closed_forms.Power(closed_forms.I, 2)
"""The position of a key, and its square."""

POSITIONS: dict[str, closed_forms.ClosedForm] = {
    "one": closed_forms.ONE,
    "j": J,
    "jj": JJ,
    "1/j": closed_forms.over(closed_forms.I),
    "1/jj": closed_forms.over(closed_forms.I, 2),
    "sign": closed_forms.SIGN,
    "sign j": closed_forms.times(closed_forms.SIGN, J),
    "sign 1/j": closed_forms.times(closed_forms.SIGN, closed_forms.over(closed_forms.I)),
    "n": closed_forms.N,
    "j/n": closed_forms.times(J, closed_forms.over(closed_forms.N)),
    "1/n": closed_forms.over(closed_forms.N),
    "n+1-j": closed_forms.plus(closed_forms.N, 1, closed_forms.times(-1, J)),
    "odd": closed_forms.Test(Remainder(2, 1), 1, 0, 0),
    "third": closed_forms.Test(Remainder(3, 1), 1, 0, 0),
    "first": closed_forms.FIRST,
    "jjj": closed_forms.Power(closed_forms.I, 3),
    "1/(j+1)": closed_forms.Power(closed_forms.plus(closed_forms.I, 1), -1),
    "digits": closed_forms.Digits(closed_forms.I),
}


@dataclass(frozen=True)
class HeadOf:
    """A head by the names of coordinates: the score is the sum over rows of query times key, times `cold`."""

    query: Sequence[Terms]
    key: Sequence[Terms]
    values: Sequence[Terms]
    masking: Masking = Masking.FUTURE
    cold: closed_forms.ClosedForm = closed_forms.ONE


def network_of(
    *heads: HeadOf, alphabet: str = "ab", positions: Mapping[str, closed_forms.ClosedForm] = POSITIONS
) -> Network:
    """The heads side by side, in one layer; the first head's first number is put out."""
    outputs = [f"out {h} {v}" for h, head in enumerate(heads) for v in range(len(head.values))]
    names = [*alphabet, *positions, *outputs]

    def form(terms: Terms) -> LinearForm:
        found = {names.index(name): Fraction(amount) for name, amount in terms.items()}
        return tuple(sorted((place, amount) for place, amount in found.items() if amount))

    def head(h: int, own: HeadOf) -> Head:
        targets = tuple(names.index(f"out {h} {v}") for v in range(len(own.values)))
        query, key, values = (tuple(map(form, terms)) for terms in (own.query, own.key, own.values))
        return Head(Foreign(), own.masking, Softmax(own.cold), query, key, values, targets)

    rows = max(max(len(own.query), len(own.values)) for own in heads)
    return Network(
        alphabet=Alphabet(tuple(alphabet)),
        coordinates=tuple(names),
        embedding=tuple(form({symbol: 1}) for symbol in alphabet),
        positions=tuple((names.index(name), closed) for name, closed in positions.items()),
        layers=(Layer(tuple(head(h, own) for h, own in enumerate(heads)), (), ()),),
        head_width=4 if rows <= 4 else 16,
        output=names.index("out 0 0"),
        reads_first=False,
        accepts_empty=False,
    )


# Drawn heads -----------------------------------------------------------------------------------------------

FAMILIES: dict[str, tuple[str, ...]] = {
    "flat": ("one", "sign", "odd", "n", "1/n"),
    "line": ("one", "j", "n+1-j", "j/n"),
    "line by parity": ("one", "j", "sign", "sign j", "odd"),
    "parabola": ("j", "jj", "one", "n+1-j"),
    "parabola by parity": ("j", "jj", "sign", "sign j"),
    "inverse": ("one", "1/j"),
    "inverse by parity": ("1/j", "sign", "sign 1/j"),
    "inverse parabola": ("1/j", "1/jj", "one"),
}
"""What keys have of the position; each fits a way of the scan, if no parabola opens upwards."""

OTHERS: dict[str, tuple[str, ...]] = {
    "both ways": ("j", "1/j", "one"),
    "cubic": ("jjj", "j", "one"),
    "a third": ("third", "j", "first"),
}
"""Keys of which some are no parabola; tests are content, which does fit."""

WEIGHTS = tuple(
    Fraction(p, q) for p, q in ((1, 1), (-1, 1), (2, 1), (-2, 1), (4, 1), (-4, 1), (1, 2), (3, 8))
)
QUERIES = ("one", "one", "one", "j", "j/n", "1/j", "sign", "n", "a", "b", "j", "jj")
COLD = (
    closed_forms.ONE,
    closed_forms.ONE,
    closed_forms.number(4),
    closed_forms.number(Fraction(1, 8)),
    J,
    closed_forms.N,
    closed_forms.over(closed_forms.N),
    closed_forms.over(closed_forms.I),
    closed_forms.times(J, closed_forms.over(closed_forms.N)),
)
VALUES: tuple[Terms, ...] = (
    {"a": 1},
    {"b": 1, "a": -1},
    {"sign": 1},
    {"j/n": 1},
    {"j": 1},
    {"odd": 2, "a": 1},
)


def drawn_head(random: Random, family: str) -> HeadOf:
    """A head whose keys have those forms of the position, and letters in one row of two."""
    forms = {**FAMILIES, **OTHERS}[family]
    query, key = [], []
    for _ in range(random.choice([1, 1, 2, 3])):
        query.append(_terms(random, QUERIES, random.choice([1, 1, 2])))
        letters = _terms(random, ("a", "b", "b"), 1) if random.random() < 0.5 else {}
        key.append({**letters, **_terms(random, forms, random.choice([1, 1, 2]))})
    if "parabola" in family and random.random() < 0.8:
        # Downwards, with its top somewhere in the word; without this, half of all open upwards.
        inverse = family.startswith("inverse")
        top, square = ("1/j", "1/jj") if inverse else ("j", "jj")
        steep = random.choice([1, 2, 4, Fraction(1, 4)])
        query = [{"one": -steep}, {random.choice(["j", "j/n", "one", "n"]): steep * random.choice([1, 2, 3])}]
        key = [{square: 1, **key[0]} if "by parity" not in family else {square: 1}, {top: 1}]
    values = random.sample(VALUES, random.choice([1, 2, 3]))
    return HeadOf(query, key, values, random.choice(list(Masking)), random.choice(COLD))


def _terms(random: Random, names: Sequence[str], most: int) -> dict[str, Fraction]:
    return {random.choice(names): random.choice(WEIGHTS) for _ in range(most)}


# By hand ---------------------------------------------------------------------------------------------------

A: tuple[Terms, ...] = ({"a": 1},)
WHERE: tuple[Terms, ...] = ({"a": 1}, {"j": 1})


def wrong_neighbour() -> HeadOf:
    """Score 60 j - 1e-20 j^2, where a `b` at 3 has 110: the top is 3e21 away, and both are as near to it."""
    return HeadOf(
        [{"one": 60}, {"one": -1e-20}, {"one": -70}], [{"j": 1}, {"jj": 1}, {"b": 1}], WHERE, Masking.NONE
    )


def inverse_geometric() -> HeadOf:
    """Scores +-x/j by parity, of equal values: 1/j makes no geometric series of them."""
    return HeadOf([{"one": 1, "a": 2}], [{"sign 1/j": 4}], [{"sign": 1}])


def geometric(masking: Masking) -> HeadOf:
    """Scores +-x j by parity, of equal values, steep at some letters and flat (x = 0) at others."""
    return HeadOf([{"a": 1, "j/n": 1, "1/n": -1}], [{"sign j": Fraction(1, 4)}], [{"sign": 1}], masking)


def upwards() -> HeadOf:
    """Score j^2/4 - n j/4: the ends are the best, and which is decided by a tie."""
    return HeadOf(
        [{"one": Fraction(1, 4)}, {"n": Fraction(-1, 4)}], [{"jj": 1}, {"j": 1}], WHERE, Masking.NONE
    )


def many_contents() -> HeadOf:
    """Keys that are different everywhere, and no polynomial of the position."""
    return HeadOf([{"one": 8}], [{"1/(j+1)": 1, "a": 2}], A)


def few_contents() -> HeadOf:
    """Keys that read a number without a polynomial, which has few values: classes, as letters make them."""
    keys = [{"digits": Fraction(1, 4), "third": 2}, {"j": Fraction(-1, 8)}]
    return HeadOf([{"one": 1}, {"a": 1}], keys, WHERE)
