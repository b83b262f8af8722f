"""The exact meaning: against the fast evaluator, against the laws of the theory, and how it is read."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import numpy as np
import pytest

from attemper.errors import AmbiguousReadingError
from attemper.languages.temporal.meaning import TruthValues, truth, truth_of_subformulas
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.temporal.show import show
from attemper.languages.temporal.sides import read_language
from attemper.languages.temporal.syntax import Formula, subformulas
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.running.truth import truth_of_words
from tests.support.drawn.samples import FormulaSampler, adversarial_words
from tests.support.suites import Few

AB = Alphabet(("a", "b"))
BITS = Alphabet(("0", "1"))


def words_up_to(alphabet: Alphabet, longest: int) -> list[Word]:
    return [word for length in range(1, longest + 1) for word in words_of_length(alphabet, length)]


def assert_evaluators_agree(formula: Formula, words: list[Word]) -> None:
    """Both evaluators on words of one length."""
    fast = truth_of_words(formula, words)
    assert fast.dtype == np.bool_
    assert fast.tolist() == [list(truth(formula, word)) for word in words], show(formula)


# The fast evaluator


@pytest.mark.sweep(3)
@pytest.mark.parametrize("alphabet", [AB, BITS], ids=["ab", "01"])
@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(s, marks=pytest.mark.slow) for s in range(3, 8))])
def test_the_fast_evaluator_is_exact_on_all_short_words(alphabet: Alphabet, seed: int, few: Few) -> None:
    rng = random.Random(seed)
    sampler = FormulaSampler(rng, alphabet.symbols, past_only=seed % 3 == 2)
    for _ in few(range(15), 6):
        formula = sampler.formula(rng.choice([2, 3, 4]))
        for length in range(1, 7):
            assert_evaluators_agree(formula, list(words_of_length(alphabet, length)))


@pytest.mark.parametrize("symbols", [("a", "b"), ("0", "1"), ("push", "pop", "'")], ids=" ".join)
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_the_fast_evaluator_is_exact_on_long_words(symbols: tuple[str, ...], seed: int, few: Few) -> None:
    rng = random.Random(seed)
    sampler = FormulaSampler(rng, symbols)
    for _ in few(range(20), 8):
        formula = sampler.formula(3)
        words = list(adversarial_words(rng, symbols, rng.randint(7, 40)))
        assert_evaluators_agree(formula, rng.sample(words, 5))


def test_both_evaluators_know_large_integers_and_negative_terms() -> None:
    for text in [
        "1000000000*pos > 999999999*len + 7",
        "-3*#<[a] % 4 = 1",
        "square(-1*pos + 4)",
        "prime(2*#[a] - 1)",
        "1000000000*#<[a] - 1000000000*#>[a] = 0",
    ]:
        assert_evaluators_agree(parse(text), list(words_of_length(AB, 7)))


def test_the_empty_word_has_no_positions() -> None:
    assert truth(parse("a S b & #<[a] = 1"), ()) == ()


def test_the_truth_of_all_subformulas_is_the_truth_of_each() -> None:
    formula = parse("H (#<[Y a] <= #[b]) -> a U b")
    known = truth_of_subformulas(formula, ("a", "b", "a"))
    assert list(known) == list(subformulas(formula))
    assert all(known[part] == truth(part, ("a", "b", "a")) for part in known)


# Laws. In their texts the words f and g stand for any formulas.


LAWS = [
    # The fixpoints that define Since and Until, and that their duals obey.
    ("f S g", "g | f & Y (f S g)"),
    ("f U g", "g | f & X (f U g)"),
    ("f T g", "g & (f | WY (f T g))"),
    ("f R g", "g & (f | WX (f R g))"),
    ("f W g", "g | f & WX (f W g)"),
    ("f M g", "g & (f | X (f M g))"),
    # Dualities.
    ("f T g", "!(!f S !g)"),
    ("f R g", "!(!f U !g)"),
    ("f M g", "!(!f W !g)"),
    ("WY f", "!Y !f"),
    ("WX f", "!X !f"),
    ("H f", "!O !f"),
    ("G f", "!F !f"),
    # Special cases.
    ("O f", "true S f"),
    ("F f", "true U f"),
    ("H f", "false T f"),
    ("G f", "false R f"),
    ("G f", "f W false"),
    ("F f", "f M true"),
    ("f W g", "(f U g) | G f"),
    ("f W g", "g R (f | g)"),
    ("f M g", "(f R g) & F f"),
    ("f M g", "g U (f & g)"),
    ("Y f", "WY f & !first"),
    ("WY f", "Y f | first"),
    ("X f", "WX f & !last"),
    ("WX f", "X f | last"),
    ("first", "!Y true"),
    ("last", "!X true"),
    # What the past says of the future, and back.
    ("X Y f", "f & !last"),
    ("Y X f", "f & !first"),
    ("F O f", "O f | F f"),
    ("O F f", "F (last & O F f)"),
    # Propositional operators.
    ("f -> g", "!f | g"),
    ("f <-> g", "(f -> g) & (g -> f)"),
    ("f xor g", "!(f <-> g)"),
    # Counts include the position itself.
    ("f & #<[f] = #<[Y f] + 1 | !f & #<[f] = #<[Y f]", "true"),
    ("f & #>[f] = #>[X f] + 1 | !f & #>[f] = #>[X f]", "true"),
    ("#<[f] + #>[f] = #[f] + 1", "f"),
    ("#<[f] + #>[f] = #[f]", "!f"),
    ("#<[f] + #<[!f] = pos", "true"),
    ("pos = #<[true]", "true"),
    ("len = #[true]", "true"),
    ("len - pos + 1 = #>[true]", "true"),
    ("O f", "#<[f] >= 1"),
    ("F f", "#>[f] > 0"),
    ("H f", "#<[f] = pos"),
    ("G f", "#>[!f] <= 0"),
    ("#[f] = #[g]", "O (first & G (last -> #<[f] = #<[g]))"),
    # Comparisons and numerical predicates.
    ("#<[f] < #>[g]", "#<[f] + 1 <= #>[g]"),
    ("#<[f] >= #>[g]", "!(#<[f] < #>[g])"),
    ("#<[f] > #>[g]", "#>[g] < #<[f]"),
    ("#<[f] = #>[g]", "#<[f] <= #>[g] & #<[f] >= #>[g]"),
    ("#<[f] != #>[g]", "!(#<[f] == #>[g])"),
    ("#<[f] = 2*#<[f] - #<[f]", "true"),
    ("odd(#<[f] - pos)", "#<[!f] % 2 = 1"),
    ("even(#<[f])", "#<[f] % 2 != 1"),
    ("#<[f] % 3 = 2", "(#<[f] + 4) % 3 = 0 & !(#<[f] - 1) % 3 = 0"),
]


def applied(law: str, f: Formula, g: Formula) -> Formula:
    """The law's text with the words f and g replaced by formulas."""
    texts = {"f": f"({show(f)})", "g": f"({show(g)})"}
    return parse(re.sub(r"\b[fg]\b", lambda word: texts[word.group()], law))


@pytest.mark.sweep(9)
@pytest.mark.parametrize(("left", "right"), LAWS)
def test_law(left: str, right: str) -> None:
    rng = random.Random(0)
    sampler = FormulaSampler(rng, AB.symbols)
    pairs = [(parse("a"), parse("b")), (parse("a | first"), parse("X b"))]
    pairs += [(sampler.formula(2), sampler.formula(2)) for _ in range(4)]
    for f, g in pairs:
        this, that = applied(left, f, g), applied(right, f, g)
        for length in range(1, 6):
            words = list(words_of_length(AB, length))
            assert np.array_equal(truth_of_words(this, words), truth_of_words(that, words))
        for word in words_up_to(AB, 3):
            assert truth(this, word) == truth(that, word), (show(this), show(that), word)


def strict_since(f: TruthValues, g: TruthValues) -> TruthValues:
    """f S g of the papers that quantify over strictly earlier positions: g at j < i, f strictly between."""
    return tuple(any(g[j] and all(f[j + 1 : i]) for j in range(i)) for i in range(len(f)))


def strict_until(f: TruthValues, g: TruthValues) -> TruthValues:
    return strict_since(f[::-1], g[::-1])[::-1]


def test_strict_since_and_until_and_ours_define_each_other(few: Few) -> None:
    rng = random.Random(1)
    sampler = FormulaSampler(rng, AB.symbols)
    for _ in few(range(25), 5):
        f, g = sampler.formula(2), sampler.formula(2)
        for word in words_up_to(AB, 4):
            of_f, of_g = truth(f, word), truth(g, word)
            nowhere = (False,) * len(word)
            assert truth(applied("Y f", f, g), word) == strict_since(nowhere, of_f)
            assert truth(applied("X f", f, g), word) == strict_until(nowhere, of_f)
            strict = strict_since(of_f, of_g)
            assert truth(applied("Y (f S g)", f, g), word) == strict
            ours = tuple(h or (e and s) for e, h, s in zip(of_f, of_g, strict, strict=True))
            assert truth(applied("f S g", f, g), word) == ours


def test_the_strict_since_is_another_operator() -> None:
    """Reading our Since as the strict one would be wrong already on one letter."""
    word = ("b",)
    assert truth(parse("a S b"), word) == (True,)
    assert strict_since(truth(parse("a"), word), truth(parse("b"), word)) == (False,)


@pytest.mark.parametrize(
    "text", ["#<['1'] % 2 = 1", "O (odd(pos) & pos == #['1'])", "!O (#<[Y '1'] = #>['1'])"]
)
def test_three_formulas_for_parity(text: str) -> None:
    formula = parse(text, BITS)
    for word in words_up_to(BITS, 10):
        assert truth(formula, word)[-1] == (word.count("1") % 2 == 1), word


def test_counts_by_hand() -> None:
    word = ("a", "b", "a", "a")
    expected = {"#<[a]": (1, 1, 2, 3), "#>[a]": (3, 2, 2, 1), "#[a]": (3,) * 4, "pos": (1, 2, 3, 4)}
    for term, values in expected.items():
        for position, value in enumerate(values):
            assert truth(parse(f"{term} = {value}"), word)[position]
            assert not truth(parse(f"{term} = {value + 1}"), word)[position]


def test_the_past_does_not_see_what_comes_after() -> None:
    rng = random.Random(2)
    sampler = FormulaSampler(rng, AB.symbols, past_only=True)
    for _ in range(40):
        formula = sampler.formula(3)
        word = tuple(rng.choice("ab") for _ in range(7))
        prefixes = [truth(formula, word[:length]) for length in range(1, 8)]
        assert all(longer[: len(shorter)] == shorter for shorter, longer in pairwise(prefixes))


# Where a formula is read


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "true",
        "last",
        "pos % 2 = 1",
        "len = 3",
        "a S b",
        "H (a -> Y b)",
        "#<[a] = #>[b]",
        "even(#[a])",
        "O (first & G (a -> F b))",
        "F a & Y b",
        "#<[F a] > 2",
        "F (#<[a] = 2)",
        "G a | #[b] % 3 = 0",
    ],
)
def test_past_counts_and_mixtures_are_read_at_the_last_position(text: str) -> None:
    formula = parse(text)
    assert read_language(formula, None, accepts_empty=False) == TemporalLanguage(formula, At.LAST, False)


@pytest.mark.parametrize(
    "text",
    ["X a", "WX a", "F a", "G (a -> F b)", "a U b", "a R b", "a W b", "a M b", "F even(pos)", "G len = 2"],
)
def test_the_pure_future_must_say_where_it_is_read(text: str) -> None:
    formula = parse(text)
    with pytest.raises(AmbiguousReadingError) as caught:
        read_language(formula, None, accepts_empty=False)
    message = str(caught.value)
    assert message.startswith(f"'{show(formula)}' speaks of the future only")
    assert "at='first'" in message
    assert "at='last'" in message
    for at in At:
        assert read_language(formula, at, accepts_empty=True) == TemporalLanguage(formula, at, True)
