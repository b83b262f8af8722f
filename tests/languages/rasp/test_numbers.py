"""Texts that put out numbers: what they mean, and what is no such text."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from attemper import rasp
from attemper.attention_program.meaning import numbers
from attemper.attention_program.ops import Mask
from attemper.attention_program.wellformed import complaints
from attemper.errors import AttemperError, SourceError, UnsupportedError
from attemper.languages.measures import Measure
from attemper.languages.rasp.parse import parse_source
from attemper.languages.rasp.program import RaspProgram, parse_rasp
from attemper.languages.rasp.show import show
from attemper.languages.rasp.syntax import (
    Conditional,
    Distributed,
    Divisor,
    Expression,
    Index,
    ProgramText,
    Quantified,
    Quantifier,
)
from attemper.languages.rasp.syntax import (
    Mask as SeenMask,
)
from attemper.languages.words import Word
from tests.support.judges.rasp import RaspMeaning, RaspSampler, words_to

SHOWN = {Mask.UP_TO: lambda i, n: i, Mask.FROM: lambda i, n: n - i + 1, Mask.ALL: lambda i, n: n}
"""How many positions each mask shows."""


def assert_puts_out_what_it_says(found: RaspProgram, longest: int) -> None:
    said = found.program.numbers
    assert said is not None
    assert not complaints(found.program)
    for word in words_to(found.program.alphabet, longest):
        rows, n = numbers(found.program, word), len(word)
        for i, value in enumerate(RaspMeaning(found.source, word).outputs(), start=1):
            column, shown = [row[i - 1] for row in rows], SHOWN[said.mask](i, n)
            match said.measure:
                case Measure.INTEGER:
                    assert column == [Fraction(int(value), shown)], word
                case Measure.FRACTION:
                    divisors: dict[Divisor | None, int] = {Divisor.POSITION: i, Divisor.LENGTH: n}
                    divisor = divisors.get(found.source.divisor, shown)
                    assert column == [Fraction(int(value), divisor)], word
                case _:
                    assert isinstance(value, tuple)
                    likely = dict(zip(said.names, column, strict=True))
                    assert likely == {name: dict(value).get(name, 0) for name in said.names}, word


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("output count[j <= i : symbol(j) = symbol(i)]", Mask.UP_TO),
        ("output count[j > i : symbol(j) != symbol(i)]", Mask.FROM),
        ("output count[all : symbol(j) = symbol(i)] - len", Mask.ALL),
        ("output 7", Mask.UP_TO),
        ("output 2 * pos - count[j < i] in 'a'", Mask.UP_TO),
        ("output count[j <= i] in 'a' / pos", Mask.UP_TO),
        ("output (count[all] in 'a' - 2 * len) / len", Mask.ALL),
        ("x = count[j >= i] in 'a'\noutput (first ? x : max(x, 3)) / visible", Mask.FROM),
        ("output 3 / len", Mask.ALL),
        ("output {a: 1/3, 'b c': 0.5, none: 1/6, x: 0}", Mask.ALL),
        (
            "s = {a: 1, b: 0}\noutput first ? s : previous in 'a' & in 'b' ? {b: 1/4, c: 3/4} : {c: 1}",
            Mask.ALL,
        ),
    ],
)
def test_numbers_are_what_the_text_says(text: str, mask: Mask) -> None:
    found = parse_rasp(f"alphabet a b\n{text}")
    assert found.program.numbers is not None
    assert found.program.numbers.mask is mask
    assert parse_source(show(found.source)) == found.source
    assert_puts_out_what_it_says(found, 5)


def test_names_without_a_chance_are_put_out_too() -> None:
    found = parse_rasp("alphabet a b\noutput first ? {b: 1, none: 0} : {a: 1}")
    assert found.program.numbers is not None
    assert found.program.numbers.names == ("b", "none", "a")
    assert str(parse_rasp("alphabet a\nd = {b: 1, a: 0}\noutput d").types["d"]) == "Distribution{b, a}"


SEVERAL = "counts over several masks"
SUM = "probabilities have the sum 1, and these have the sum"


@pytest.mark.parametrize(
    ("text", "column", "said", "kind"),
    [
        ("output count[j <= i] in 'a' + len", 8, SEVERAL, UnsupportedError),
        ("output in 'a' ? pos : len", 8, SEVERAL, UnsupportedError),
        ("output count[j <= i] in 'a' / len", 8, "is divided by len", UnsupportedError),
        ("output count[j >= i] in 'a' / pos", 8, "is divided by pos", UnsupportedError),
        ("output in 'a' / pos", 8, "an Integer is divided", SourceError),
        ("output {a: 1} / pos", 8, "an Integer is divided", SourceError),
        ("output pos - 1 / pos", 16, "'/' cannot stand here", SourceError),
        ("output pos / 3", 14, "pos, len or visible", SourceError),
        ("x = pos / len\noutput x", 9, "'/' cannot stand here", SourceError),
        ("output {a: 1/2, b: 1/3}", 8, f"{SUM} 5/6", SourceError),
        ("output {a: 3/2, b: -1/2}", 20, "a probability is not negative", SourceError),
        ("output {a: 1/0}", 11, "divided by 0", SourceError),
        ("output {a: 1, a: 0}", 15, "'a' has two probabilities", SourceError),
        ("output {a: 1.1234567890123}", 11, "up to 12 digits", SourceError),
        ("output {}", 9, "cannot stand here", SourceError),
        ("output {a: x}", 12, "a probability, such as", SourceError),
        ("output previous {a: 1} else {a: 1}", 17, "fetches no Distribution", UnsupportedError),
        ("output {a: 1} = {a: 1}", 8, "compares two Integers or two Symbols", SourceError),
        ("output first ? {a: 1} : 3", 16, "have one type", SourceError),
        ("output {a: 1} & first", 8, "is a Bit, and this is a Distribution", SourceError),
        ("output at first pos", 17, "there is no verdict", SourceError),
        ("empty accept\noutput {a: 1}", 8, "there is no verdict", SourceError),
    ],
)
def test_what_is_no_number_is_refused_with_its_place(
    text: str, column: int, said: str, kind: type[AttemperError]
) -> None:
    with pytest.raises(AttemperError) as caught:
        parse_rasp(f"alphabet a b\n{text}")
    assert type(caught.value) is kind
    assert said in str(caught.value)
    assert caught.value.details["column"] == column


def test_a_count_has_as_many_cases_as_a_selection() -> None:
    letters = [f"s{k}" for k in range(61)]
    with pytest.raises(UnsupportedError, match="has 61 cases"):
        parse_rasp(f"alphabet {' '.join(letters)}\noutput count[j <= i : symbol(j) = symbol(i)]")


def test_distributions_from_python() -> None:
    after = rasp.when(
        rasp.is_in("a"), rasp.distribution({"b": 1}), rasp.distribution({"a": 0.1, "b": "9/10"})
    )
    assert rasp.text(after, alphabet="ab") == "alphabet a b\noutput in 'a' ? {b: 1} : {a: 1/10, b: 9/10}"
    seen = rasp.count(where=rasp.symbol(rasp.i) == rasp.symbol(rasp.j), mask="all")
    assert rasp.program(seen, alphabet="ab").program.numbers is not None
    share = rasp.text(rasp.count(rasp.is_in("a")) - 1, alphabet="ab", per="pos")
    assert share.endswith("output (count[j <= i] in 'a' - 1) / pos")
    with pytest.raises(ValueError, match="third"):
        rasp.text(seen, alphabet="ab", per="third")


# Random texts --------------------------------------------------------------------------------------------


def likely(rng: random.Random) -> Expression:
    """A distribution over some names, some of which have no chance."""
    names = rng.sample(["a", "b", "end", "two words"], rng.randint(1, 3))
    weights = [rng.randrange(4) for _ in names]
    whole = sum(weights) or 1
    weights[0] += 0 if sum(weights) else 1
    return Distributed(tuple((name, Fraction(own, whole)) for name, own in zip(names, weights, strict=True)))


def sampled(seed: int) -> ProgramText:
    rng = random.Random(seed)
    sampler = RaspSampler(rng)
    definitions = sampler.source(rng.randrange(4)).definitions
    if rng.random() < 0.4:
        output = likely(rng)
        for _ in range(rng.randrange(4)):
            output = Conditional(sampler.bit(2), *rng.sample([output, likely(rng)], 2))
        return ProgramText(sampler.alphabet, None, definitions, output)
    if rng.random() < 0.5:
        condition = sampler.condition(2, (Index.HERE, Index.THERE))
        output = Quantified(Quantifier.COUNT, rng.choice(list(SeenMask)), condition, None)
    else:
        output = sampler.integer(2)
    divisor = rng.choice([None, None, Divisor.VISIBLE, Divisor.POSITION, Divisor.LENGTH])
    return ProgramText(sampler.alphabet, None, definitions, output, divisor=divisor)


EXPECTED = ("several masks", "too many", "cases, and one head")
"""Why a random text may be refused."""


def agreeing(seeds: range) -> int:
    """How many random texts are read back and put out what they say; others are refused."""
    agreed = 0
    for seed in seeds:
        source = sampled(seed)
        text = show(source)
        assert parse_source(text) == source, text
        try:
            found = parse_rasp(text)
        except UnsupportedError as error:
            if not any(one in str(error) for one in EXPECTED):
                raise
            continue
        assert_puts_out_what_it_says(found, 4)
        agreed += 1
    return agreed


@pytest.mark.sweep(0)
def test_random_texts_put_out_what_they_say() -> None:
    assert agreeing(range(60)) > 30


@pytest.mark.slow
def test_many_random_texts_put_out_what_they_say() -> None:
    assert agreeing(range(1_000, 5_000)) > 2_000


def visible_counts(mask: Mask, word: Word) -> list[int]:
    return [len(mask.visible(i, len(word))) for i in range(1, len(word) + 1)]


def test_shares_are_of_the_positions_that_are_seen() -> None:
    for mask, count in SHOWN.items():
        assert visible_counts(mask, ("a",) * 5) == [count(i, 5) for i in range(1, 6)]
