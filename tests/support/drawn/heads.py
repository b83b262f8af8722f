"""Attention heads built by hand over coordinates with known values, and what they compute by definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint

from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.values import ResidualValues, Value
from attemper.exact.balls import ball
from attemper.exact.closed_forms import ClosedForm, number
from attemper.exact.predicates import Remainder
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks.layers import Construction, Head, LinearForm, Masking, Softmax
from tests.support.judges.derived import Reading

Form = Mapping[str, int | Fraction]
"""Factors of coordinates, by their names."""

Rows = Sequence[tuple[Form, Form]]
"""Query and key, row by row."""

AB = ("a", "b")
LEFT, RIGHT, ALL = Masking.FUTURE, Masking.PAST, Masking.NONE


class Palette:
    """Coordinates with known values, by name."""

    def __init__(self, symbols: tuple[str, ...] = AB) -> None:
        self.names = names = Formulas(symbols).names
        self.values: dict[str, Value] = {
            name: {powers: names.true}
            for name, powers in {
                "1": (0, 0),
                "i": (1, 0),
                "n": (0, 1),
                "i^2": (2, 0),
                "i^3": (3, 0),
                "in": (1, 1),
                "n^2": (0, 2),
                "1/i": (-1, 0),
                "1/i^2": (-2, 0),
                "1/n": (0, -1),
            }.items()
        }
        for name, powers in {"sign": (0, 0), "i sign": (1, 0), "n sign": (0, 1), "sign/i": (-1, 0)}.items():
            self.values[name] = {powers: names.sign}
        for symbol in symbols:
            self.add(symbol, names.letter(symbol))
        self.add("first", names.first)
        self.add("last", names.last)
        self.add("only", names.only)
        self.add("third", names.place(Remainder(3, 0), 1, 0, 0))
        self.add("i >= 3", names.at_least_place(1, 0, -3))
        self.errors: dict[str, Fraction] = {}

    def add(self, name: str, diagram: Diagram) -> None:
        """A coordinate that holds a diagram."""
        self.values[name] = {(0, 0): diagram}

    def mean(self, name: str, masking: Masking, summand: Diagram) -> None:
        """A coordinate that holds an average."""
        self.add(name, self.names.mean(masking, summand))

    def sum_of(self, form: Form) -> Diagram:
        """A linear form of coordinates without powers, as a diagram."""
        total = self.names.false
        for name, factor in form.items():
            total = self.names.plus(total, self.names.scaled(self.values[name][0, 0], factor))
        return total

    def form(self, form: Form) -> LinearForm:
        """The linear form by the numbers of coordinates."""
        names = list(self.values)
        return tuple(sorted((names.index(name), Fraction(factor)) for name, factor in form.items() if factor))

    def stream(self) -> ResidualValues:
        """All coordinates."""
        errors = [self.errors.get(name, Fraction(0)) for name in self.values]
        return ResidualValues(list(self.values.values()), errors)

    def head(
        self,
        construction: Construction,
        masking: Masking,
        rows: Rows,
        value: Form,
        coldness: ClosedForm | None = None,
    ) -> Head:
        """A head with one value, which goes to coordinate 0."""
        return Head(
            construction,
            masking,
            Softmax(coldness or number(1)),
            tuple(self.form(query) for query, _ in rows),
            tuple(self.form(key) for _, key in rows),
            (self.form(value),),
            (0,),
        )


@dataclass(frozen=True)
class Place:
    """A position of a word, with all scores and values that the head sees there."""

    reading: Reading
    i: int
    scores: dict[int, Fraction]
    values: dict[int, Fraction]


def places(palette: Palette, head: Head, words: Iterable[Word]) -> Iterable[Place]:
    """What the head sees at every position of the words; coldness must be a polynomial in i and n."""
    from attemper.checker.values import of_closed_form

    assert isinstance(head.weighting, Softmax)
    coldness = of_closed_form(palette.names, head.weighting.inverse_temperature)
    coordinates = list(palette.values.values())
    for word in words:
        reading = Reading(palette.names, word)

        def at(form: LinearForm, i: int, reading: Reading = reading) -> Fraction:
            return sum((f * reading.value(coordinates[c], i) for c, f in form), Fraction(0))

        for i in range(1, len(word) + 1):
            seen = head.masking.visible(i, len(word))
            cold = reading.value(coldness, i)
            pairs = list(zip(head.query, head.key, strict=True))
            scores = {j: sum((cold * at(q, i) * at(k, j) for q, k in pairs), Fraction(0)) for j in seen}
            yield Place(reading, i, scores, {j: at(head.values[0], j) for j in seen})


def attended(place: Place) -> flint.arb:
    """The softmax average of the values; 0 where nothing is visible."""
    if not place.scores:
        return flint.arb(0)
    greatest = max(place.scores.values())
    weights = {j: ball(score - greatest).exp() for j, score in place.scores.items()}
    total = sum(weights.values(), flint.arb(0))
    return sum((weights[j] * ball(value) for j, value in place.values.items()), flint.arb(0)) / total


def short_words(symbols: tuple[str, ...], longest: int) -> list[Word]:
    """All words up to a length."""
    return [w for n in range(1, longest + 1) for w in words_of_length(Alphabet(symbols), n)]
