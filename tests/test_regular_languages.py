"""Regular languages end to end: the network's layers, its proof, and what it says in softmax and float64."""

from __future__ import annotations

import random
import re
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import pytest

from attemper.certificates.claims import RealClaim
from attemper.certifying.certificate import certify
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.rounding.network import failure_at
from attemper.checker.verdict import Status
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.errors import UnsupportedError
from attemper.exact.formats import FORMATS
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Word, parse_alphabet, words_of_length
from attemper.networks.regime import Regime
from attemper.workbench.compiling import compiled_source
from attemper.workbench.language import Language
from attemper.workbench.model import Model
from tests.support.drawn import automata
from tests.support.drawn.regexes import Expression, random_expressions

EXHAUSTIVE = {1: 60, 2: 10, 3: 7, 4: 6, 5: 5}
"""By the number of letters, the length up to which all words are tried."""

EXHAUSTIVE_SLOWLY = {1: 200, 2: 12, 3: 8, 4: 7, 5: 6}

LONGEST = 1_000


@dataclass(frozen=True)
class Entry:
    """An automaton, and with how many layers of attention a study of cascades could do it at best."""

    dfa: Dfa
    best: int
    is_large: bool = False


def of_regex(pattern: str, letters: str) -> Dfa:
    return parse_regex(pattern, parse_alphabet(letters))


C5_R5_C4 = (("c", 5), ("r", 5), ("c", 4))
"""A counter modulo 5, under it five values that are reset, under them a counter modulo 4."""

TABLE: dict[str, Entry] = {
    "empty": Entry(automata.empty(), 0),
    "universal": Entry(automata.universal(), 0),
    "(ab)*": Entry(automata.ab_star(), 1),
    "a*b": Entry(automata.a_star_b(), 2),
    "has aa": Entry(automata.has_aa(), 2),
    "contains abba or bab": Entry(of_regex(".*(abba|bab).*", "ab"), 2),
    "contains a^8": Entry(automata.contains_power(8), 2),
    "Dyck-1 depth 2": Entry(automata.dyck(2), 3),
    "Dyck-1 depth 3": Entry(automata.dyck(3), 2),
    "Dyck-1 depth 5": Entry(automata.dyck(5), 3),
    "Dyck-1 depth 10": Entry(automata.dyck(10), 3),
    "Dyck-1 depth 48": Entry(automata.dyck(48), 3),
    "Dyck-1 depth 98": Entry(automata.dyck(98), 3),
    "Dyck-2 depth 2": Entry(automata.dyck(2, 2), 3),
    "Dyck-2 depth 3": Entry(automata.dyck(3, 2), 4),
    "Dyck-2 depth 4": Entry(automata.dyck(4, 2), 5),
    "Dyck-2 depth 5": Entry(automata.dyck(5, 2), 6),
    "Tomita 1": Entry(automata.tomita(1), 1),
    "Tomita 2": Entry(automata.tomita(2), 2),
    "Tomita 3": Entry(automata.tomita(3), 4),
    "Tomita 4": Entry(automata.tomita(4), 2),
    "Tomita 5": Entry(automata.tomita(5), 2),
    "Tomita 6": Entry(automata.tomita(6), 2),
    "Tomita 7": Entry(automata.tomita(7), 3),
    "no odd run": Entry(automata.no_odd_run(), 2),
    "parity": Entry(automata.parity(), 2),
    "b's modulo 3": Entry(automata.count_modulo(3), 2),
    "S3": Entry(automata.word_problem("S3"), 4),
    "S4": Entry(automata.word_problem("S4"), 6),
    "order preserving, 14 states": Entry(automata.random_order_preserving(1, 18, 2), 9, is_large=True),
    "order preserving, 16 states": Entry(automata.random_order_preserving(36, 18, 2), 9, is_large=True),
    "resets (2, 3, 2, 3), 21 states": Entry(automata.random_reset_cascade(74, (2, 3, 2, 3), 3), 5),
    "resets (3, 3, 3), 19 states": Entry(automata.random_reset_cascade(76, (3, 3, 3), 3), 4),
    "counters and resets, 100 states": Entry(automata.random_cascade(242, C5_R5_C4, 3), 17, is_large=True),
    "counters and resets, 33 states": Entry(automata.random_cascade(0, C5_R5_C4, 2), 17),
    "R-trivial, 16 states": Entry(automata.random_r_trivial(115, 20, 3), 6, is_large=True),
    "all of five letters": Entry(automata.contains_all(5), 1),
    "4th from the end": Entry(automata.kth_from_end(4), 1),
    "date": Entry(automata.iso_date(), 1),
    "four numbers with points": Entry(of_regex("(d{1,3}p){3}d{1,3}", "dp"), 5, is_large=True),
}
"""Random families stand with other members of the same sizes, groups with 2 for each derived subgroup."""

SMALL = [name for name, entry in TABLE.items() if not entry.is_large]


REFUSAL = (
    r"beyond the cap of \d+; raise it with limits=\{'\w+': \d+\}, |, the cap; split |it has the factor \w+;"
)
"""What every refusal says: which cap was hit, or which group there is."""


def attention_layers(model: Model) -> int:
    return sum(1 for layer in model.network.layers if layer.heads)


def compiled(dfa: Dfa, regime: Regime = Regime.UNBOUNDED) -> Model:
    return compiled_source(Language(dfa, dfa.alphabet), CascadeCaps(), [regime])


def assert_proved(model: Model) -> None:
    """In real arithmetic, for all lengths, by a certificate that the checker accepts."""
    certificate = certify(
        model.network, model.digest, model.language.definition, model.realisation, arithmetics=()
    )
    assert certificate.claims == (RealClaim(),)
    verdict = model.check(certificate)
    assert [claim.status for claim in verdict.claims] == [Status.PROVED]


def wrong_words(model: Model, dfa: Dfa, words: Sequence[Word]) -> list[Word]:
    """Those on which softmax in float64 leaves any bit open or says another than the automaton."""
    return [run.word for run in model.run(sorted(words, key=len)) if run.bits != dfa.prefixes(run.word)]


def short_words(dfa: Dfa, exhaustive: dict[int, int] = EXHAUSTIVE) -> list[Word]:
    longest = exhaustive[len(dfa.alphabet.symbols)]
    return [w for length in range(1, longest + 1) for w in words_of_length(dfa.alphabet, length)]


# Words ------------------------------------------------------------------------------------------------


def adversarial_words(dfa: Dfa, seed: int, count: int, longest: int) -> Iterator[Word]:
    """Random letters, runs, repetitions, walks to rare states, accepted words and almost accepted ones.

    Half of the words are as long as is allowed or almost so.
    """
    draw = random.Random(seed)
    symbols = dfa.alphabet.symbols
    for number in range(count):
        length = draw.randint(1, longest) if draw.random() < 0.5 else draw.randint(longest - 2, longest)
        match number % 6:
            case 0:
                yield tuple(draw.choices(symbols, k=length))
            case 1:
                weights = [draw.random() ** 3 for _ in symbols]
                runs = [
                    s for s in draw.choices(symbols, weights, k=length) for _ in range(draw.randint(1, 30))
                ]
                yield tuple(runs[:length])
            case 2:
                piece = draw.choices(symbols, k=draw.randint(1, 6))
                yield tuple((piece * length)[:length])
            case 3:
                yield automata.wandering(dfa, draw, length)
            case 4:
                yield _accepted(dfa, draw, length)
            case _:
                yield _changed(_accepted(dfa, draw, length), draw, symbols)


def _accepted(dfa: Dfa, draw: random.Random, length: int) -> Word:
    """An accepted word of the length or the next smaller one that has any; else random letters.

    The walk keeps to states from which an accepting one can be reached in exactly the letters that are left.
    """
    reaching = [dfa.accepting]
    for _ in range(length):
        before = (q for q, row in enumerate(dfa.moves) if not reaching[-1].isdisjoint(row))
        reaching.append(frozenset(before))
    while length and dfa.start not in reaching[length]:
        length -= 1
    if not length:
        return tuple(draw.choices(dfa.alphabet.symbols, k=len(reaching) - 1))
    state, word = dfa.start, []
    for left in range(length - 1, -1, -1):
        letter = draw.choice([n for n, target in enumerate(dfa.moves[state]) if target in reaching[left]])
        state = dfa.moves[state][letter]
        word.append(dfa.alphabet.symbols[letter])
    return tuple(word)


def _changed(word: Word, draw: random.Random, symbols: tuple[str, ...]) -> Word:
    """The word with one symbol replaced by any, near an end as often as not."""
    near = min(len(word), 8)
    place = draw.choice(
        [draw.randrange(len(word)), draw.randrange(near), len(word) - 1 - draw.randrange(near)]
    )
    return (*word[:place], draw.choice(symbols), *word[place + 1 :])


def test_the_words_are_of_the_kinds_that_they_should_be() -> None:
    dfa = automata.dyck(3)
    words = list(adversarial_words(dfa, 1, 60, 50))
    assert all(1 <= len(word) <= 50 for word in words)
    assert any(len(word) == 50 for word in words)
    assert all(dfa.accepts(word) for word in words[4::6])
    almost = [dfa.accepts(word) for word in words[5::6]]
    assert any(almost)
    assert not all(almost)
    assert {dfa.state_after(word[:k]) for word in words[3::6] for k in range(len(word))} == set(range(5))
    assert not any(automata.empty().accepts(word) for word in adversarial_words(automata.empty(), 1, 12, 9))


def test_a_network_of_another_language_is_noticed() -> None:
    dfa, other = automata.dyck(4), automata.dyck(5)
    model = compiled(dfa)
    assert wrong_words(model, other, short_words(other)) == [tuple("((((()))))")]
    assert wrong_words(model, other, list(adversarial_words(other, 1, 24, 300)))


# Named languages --------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize("name", SMALL)
def test_named_languages(name: str) -> None:
    entry = TABLE[name]
    model = compiled(entry.dfa)
    assert attention_layers(model) <= entry.best
    assert model.network.accepts_empty == entry.dfa.accepts(())
    assert_proved(model)
    assert not wrong_words(model, entry.dfa, short_words(entry.dfa))
    assert not wrong_words(model, entry.dfa, list(adversarial_words(entry.dfa, 2, 12, LONGEST)))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("regime", [Regime.TEMPERATURE, Regime.DECODER])
@pytest.mark.parametrize(
    "name",
    [
        "(ab)*",
        "has aa",
        "Dyck-1 depth 5",
        "Dyck-1 depth 98",
        "Tomita 3",
        "Tomita 6",
        "no odd run",
        "S3",
        "date",
    ],
)
def test_named_languages_in_other_regimes(name: str, regime: Regime) -> None:
    entry = TABLE[name]
    model = compiled(entry.dfa, regime)
    assert attention_layers(model) <= entry.best
    assert_proved(model)
    assert not wrong_words(model, entry.dfa, short_words(entry.dfa))
    assert not wrong_words(model, entry.dfa, list(adversarial_words(entry.dfa, 3, 12, 300)))


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLE)
def test_named_languages_on_many_words(name: str) -> None:
    entry = TABLE[name]
    model = compiled(entry.dfa)
    assert attention_layers(model) <= entry.best
    assert_proved(model)
    assert not wrong_words(model, entry.dfa, short_words(entry.dfa, EXHAUSTIVE_SLOWLY))
    assert not wrong_words(model, entry.dfa, list(adversarial_words(entry.dfa, 4, 200, LONGEST)))


@pytest.mark.slow
@pytest.mark.parametrize("depth", [24, 48, 98])
def test_deep_brackets_without_counting(depth: int) -> None:
    """A cascade has half as many layers as the automaton has states."""
    dfa = automata.dyck(depth)
    model = compiled_source(Language(dfa, dfa.alphabet), CascadeCaps(counter=False), [Regime.UNBOUNDED])
    assert attention_layers(model) <= depth + 1
    assert_proved(model)
    assert not wrong_words(model, dfa, short_words(dfa))
    assert not wrong_words(model, dfa, list(adversarial_words(dfa, 5, 60, LONGEST)))


# Groups -----------------------------------------------------------------------------------------------


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("name", "layers"), [("S3", 4), ("S4", 6), ("D4", 4), ("Q8", 4), ("A4", 4)])
def test_solvable_groups(name: str, layers: int) -> None:
    """At most two layers of attention for each derived subgroup; right within the horizon that is proved."""
    length = 2_000
    dfa = automata.word_problem(name)
    model = compiled(dfa)
    assert attention_layers(model) <= layers
    analysis = prove(model.network, dfa, model.realisation)
    assert failure_at(analysis, FORMATS["float64"], Kernel.NUMERATOR_FIRST, length) is None
    assert not wrong_words(model, dfa, short_words(dfa))
    assert not wrong_words(model, dfa, list(adversarial_words(dfa, 6, 12, length)))


@pytest.mark.sweep(2)
@pytest.mark.parametrize("name", ["A5", "S5"])
@pytest.mark.parametrize("is_word_problem", [True, False])
def test_groups_that_are_not_solvable_are_refused(name: str, is_word_problem: bool) -> None:
    dfa = automata.word_problem(name) if is_word_problem else automata.permuting(*automata.GENERATORS[name])
    with pytest.raises(UnsupportedError, match=r"permute the states .* not solvable: it has the factor A5;"):
        compiled(dfa)


# Random expressions -----------------------------------------------------------------------------------

CHUNKS = 10


def refusal(expression: Expression, seed: int, count: int, seconds: list[float]) -> str | None:
    """Why it was refused; None if it was compiled and is right on random words up to length 200."""
    dfa = expression.dfa
    before = time.process_time()
    try:
        model = compiled_source(
            Language(dfa, dfa.alphabet, written=expression.text), CascadeCaps(), [Regime.UNBOUNDED]
        )
    except UnsupportedError as error:
        return str(error)
    finally:
        seconds.append(time.process_time() - before)
    assert not wrong_words(model, dfa, list(adversarial_words(dfa, seed, count, 200))), expression.text
    return None


LONG = {"a longer period needed only when the chain is built"}

BROKEN_ONCE: dict[str, Dfa] = {
    "chains with a symbol in common": of_regex("(ba+)?", "ab"),
    "a longer period needed only when the chain is built": automata.from_rows(
        "abc", [(1, 0, 2), (3, 2, 4), (3, 3, 0), (4, 1, 2), (3, 0, 0)], [1, 4]
    ),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in BROKEN_ONCE]
)
def test_automata_that_broke_something_once(name: str) -> None:
    refused = refusal(Expression(name, BROKEN_ONCE[name]), 7, 60, [])
    assert refused is None or re.search(REFUSAL, refused)


@cache
def drawn(seed: int, count: int) -> tuple[Expression, ...]:
    return tuple(random_expressions(seed, count))


def test_random_expressions_are_of_all_sizes_and_drawn_again_the_same() -> None:
    expressions = drawn(2, 12)
    assert expressions == tuple(random_expressions(2, 12))
    sizes = [len(expression.dfa.moves) for expression in expressions]
    assert all(5 <= size <= 60 for size in sizes)
    assert len({size // 10 for size in sizes}) >= 4
    assert {len(expression.dfa.alphabet.symbols) for expression in expressions} == {2, 3}
    for expression in expressions:
        assert parse_regex(expression.text, expression.dfa.alphabet) == expression.dfa


@pytest.mark.sweep(2)
@pytest.mark.parametrize("number", range(8))
def test_random_expressions(number: int) -> None:
    assert refusal(drawn(2, 12)[number], number, 24, []) is None


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_many_random_expressions(chunk: int) -> None:
    expressions = drawn(1, 200)[chunk::CHUNKS]
    seconds: list[float] = []
    refusals = [refusal(e, seed, 300, seconds) for seed, e in enumerate(expressions)]
    refused = [text for text in refusals if text is not None]
    sys.stdout.write(
        f"{len(expressions)} expressions, {len(refused)} refused; seconds of CPU to compile one: "
        f"median {statistics.median(seconds):.2f}, most {max(seconds):.2f}\n"
    )
    assert all(re.search(REFUSAL, text) for text in refused), refused
    assert len(refused) <= len(expressions) // 4
