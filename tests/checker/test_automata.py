"""Automata: what is proved of networks that run programs, every way that was tried to fool it, and mutations.

Each network that is proved is run on many words, all short ones among them, against the automaton's table.
A network here either computes its automaton, or it must not be proved; there is no third class.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from itertools import groupby, product

import pytest
import torch

import attemper
from attemper.attention_program.builder import Builder
from attemper.attention_program.ops import (
    Attend,
    Choice,
    Compare,
    Connective,
    Count,
    CountTest,
    Direction,
    Gate,
    Letter,
    Linear,
    Mask,
    Not,
    Place,
    Program,
    Ref,
    Shift,
    Step,
    everywhere,
)
from attemper.attention_program.realisation import Realisation, SymbolGroup
from attemper.certificates.claims import Certificate, RealClaim
from attemper.certifying.horizons import horizon_of
from attemper.checker import reachability
from attemper.checker.check import check
from attemper.checker.names import UnprovenError
from attemper.checker.proof import prove
from attemper.checker.rounding.arithmetic import Kernel
from attemper.checker.verdict import Status
from attemper.compiling.assembling.assemble import assemble
from attemper.compiling.decomposing.bounded import bounded_counter
from attemper.compiling.lowering.counter_to_formula import counter_to_formula
from attemper.compiling.pipeline import compile_language
from attemper.compiling.simplifying.guard_edges import guard_edges
from attemper.compiling.softening.drop_unused import drop_unused
from attemper.compiling.softening.hard_to_soft import hard_to_soft
from attemper.errors import UnsupportedError
from attemper.exact.balls import ball, precision
from attemper.exact.closed_forms import (
    FIRST,
    ONE,
    ClosedForm,
    I,
    N,
    Power,
    evaluate,
    number,
    over,
    plus,
    times,
)
from attemper.exact.closed_forms import Test as Asked
from attemper.exact.formats import FORMATS
from attemper.exact.predicates import NonNegative, Remainder, Zero
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import difference
from attemper.languages.temporal.meaning import truth
from attemper.languages.temporal.parse import parse
from attemper.languages.temporal.reading import At, TemporalLanguage
from attemper.languages.words import Alphabet, Word, words_of_length
from attemper.networks import meaning_soft
from attemper.networks.layers import (
    Construction,
    Head,
    Hidden,
    Layer,
    LinearForm,
    Lookup,
    Masking,
    Neighbour,
    Network,
    Select,
    Sign,
    Softmax,
    Uniform,
)
from attemper.networks.regime import Regime
from attemper.networks.wellformed import complaints
from attemper.running.batches import run_words
from attemper.running.dense import DenseTransformer
from tests.support.drawn import automata as samples
from tests.support.drawn.counters import changed, random_rule
from tests.support.mutants.one_change import dfa_mutants, network_mutants
from tests.support.mutants.realisations import group_mutants, random_program_mutant

Case = tuple[str, str, str]

EXPRESSIONS = (
    ("a*b", "ab"),
    ("(ab)*", "ab"),
    ("(a|b)*aa(a|b)*", "ab"),
    ("(aa|b)*", "ab"),
    ("(b*ab*a)*b*", "ab"),
    ("(b*ab*ab*a)*b*", "ab"),
    ("(0|1(01*0)*1)*", "01"),
    ("(()|0|00)(1(()|0|00))*", "01"),
    ("(b|a(ab)*b)*", "ab"),
    ("(a|b)*a(a|b)(a|b)", "ab"),
    ("a(bc)*", "abc"),
    ("((a|b)(a|b))*", "ab"),
    ("(a(a(a(a(a(ab)*b)*b)*b)*b)*b)*", "ab"),
)
"""With latches, counters, delays and places; one layer of symbols, or several; the last compares counts."""

REGIMES = ("unbounded", "temperature", "decoder")
CASES: tuple[Case, ...] = tuple((*expression, regime) for expression in EXPRESSIONS for regime in REGIMES)

ALL_SHORTER = 4
ALL_OF_LENGTH = {1: 30, 2: 8, 3: 5}
"""All words of this length run, by the number of letters; of more letters, all of length 3."""

QUARTER = Fraction(1, 4)


# The judge ------------------------------------------------------------------------------------------


@lru_cache(maxsize=16)
def words_of(alphabet: Alphabet) -> tuple[Word, ...]:
    """All short words, and some of up to 60 symbols: random ones, runs, a single other letter."""
    rng, symbols = random.Random(7), alphabet.symbols
    longest = ALL_OF_LENGTH.get(len(symbols), 3)
    sizes = {*range(1, min(ALL_SHORTER, longest) + 1), longest}
    words = [word for size in sizes for word in words_of_length(alphabet, size)]
    words += [tuple(rng.choice(symbols) for _ in range(size)) for size in (13, 33, 60) for _ in range(4)]
    for s, t in product(symbols, repeat=2):
        words += [((s,) * 11 + (t,) * 9) * 3, (s,) * 11 + (t,) + (s,) * 21]
    return tuple(sorted(words, key=len))


@lru_cache(maxsize=8)
def wrong_word(network: Network, dfa: Dfa) -> Word | None:
    """A word on which the output is off by more than 1/4: in float64, and then in balls."""
    model = DenseTransformer(network, torch.float64)
    for _, words in groupby(words_of(network.alphabet), key=len):
        for run in run_words(model, list(words)):
            expected = dfa.prefixes(run.word)
            if any(not abs(value - bit) <= 0.25 for value, bit in zip(run.values, expected, strict=True)):
                with precision(meaning_soft.PRECISION):
                    found = meaning_soft.output_bits(network, run.word)
                    if any(
                        not abs(v - int(b)) <= ball(QUARTER) for v, b in zip(found, expected, strict=True)
                    ):
                        return run.word
    return None


def proves(network: Network, dfa: Dfa, said: Realisation | None) -> bool:
    """Whether the checker has a proof."""
    try:
        prove(network, dfa, said)
    except UnprovenError:
        return False
    return True


def reason(network: Network, dfa: Dfa, said: Realisation | None) -> str:
    """Why the checker has no proof."""
    with pytest.raises(UnprovenError) as caught:
        prove(network, dfa, said)
    return str(caught.value)


def same_but_for_nothing(left: Dfa, right: Dfa) -> bool:
    """Whether the languages are the same, the empty word apart: the network's output does not speak of it."""
    return all(
        difference(*(replace(dfa, start=dfa.moves[dfa.start][s]) for dfa in (left, right))) is None
        for s in range(len(left.alphabet.symbols))
    )


def by_words(symbols: str, *accepted: str) -> Dfa:
    """Words whose last letters are one of the texts, by the definition."""
    longest = max(map(len, accepted), default=0)
    return samples.explored(
        symbols,
        "",
        lambda s, x: (str(s) + x)[-longest:] if longest else "",
        lambda s: any(str(s).endswith(end) for end in accepted),
    )


def seen_before(symbols: str, letter: str) -> Dfa:
    """Words in which the letter stands somewhere before the last position."""
    return samples.explored(
        symbols,
        "00",
        lambda s, x: str(s)[1] + ("1" if x == letter else str(s)[1]),
        lambda s: str(s)[0] == "1",
    )


# Networks by hand -----------------------------------------------------------------------------------

Parts = Sequence[tuple[int, int | Fraction]]

ONES, PLACE = 8, 9
"""Coordinates that are 1 and i; the others are for letters, bits and the output."""

WIDTH = 10


def form(*parts: tuple[int, int | Fraction]) -> LinearForm:
    return tuple((coordinate, Fraction(factor)) for coordinate, factor in sorted(parts))


def clamp(parts: Parts, threshold: Fraction, target: int) -> tuple[Hidden, Hidden]:
    """0 for sums up to the threshold, 1 from a half beyond it."""
    summed = form(*parts)
    return (
        Hidden(summed, -threshold, form((target, 2))),
        Hidden(summed, -threshold - Fraction(1, 2), form((target, -2))),
    )


def bit(parts: Parts, target: int) -> tuple[Hidden, Hidden]:
    """[the sum, an integer up to an error of 1/4, is at least 1]."""
    return clamp(parts, Fraction(1, 4), target)


def at_least_two(*parts: tuple[int, int]) -> tuple[Hidden, Hidden]:
    """[the sum is at least 2], on coordinate 4."""
    return clamp(parts, Fraction(5, 4), 4)


def latch(
    blocked: Parts,
    value: Parts,
    target: int,
    masking: Masking = Masking.STRICT_FUTURE,
    *,
    coldness: ClosedForm = ONE,
    construction: Construction | None = None,
    tie: int = 8,
) -> Head:
    """The value at the rightmost visible position that is not blocked."""
    return Head(
        construction or Select(False, ((None, form(*blocked)),)),
        masking,
        Softmax(coldness),
        (form((ONES, 1)), form((PLACE, 16))) if blocked else (form((ONES, 1)),),
        (form((PLACE, tie)), form(*((c, -f) for c, f in blocked))) if blocked else (form((PLACE, tie)),),
        (form(*value),),
        (target,),
    )


def built(
    letters: Sequence[Parts],
    layers: Sequence[Layer],
    output: int,
    places: dict[int, ClosedForm] | None = None,
    symbols: str = "ab",
) -> Network:
    """A network over coordinates 0 to 7, a 1 and the position; the empty word is rejected."""
    network = Network(
        alphabet=Alphabet(tuple(symbols)),
        coordinates=tuple(f"c{k}" for k in range(WIDTH)),
        embedding=tuple(form(*parts) for parts in letters),
        positions=tuple(sorted({ONES: number(1), PLACE: I, **(places or {})}.items())),
        layers=tuple(layers),
        head_width=4,
        output=output,
        reads_first=False,
        accepts_empty=False,
    )
    assert not complaints(network)
    return network


def layer(*parts: Head | tuple[Hidden, ...]) -> Layer:
    heads = tuple(part for part in parts if isinstance(part, Head))
    hidden = tuple(unit for part in parts if isinstance(part, tuple) for unit in part)
    return Layer(heads, hidden, ())


AB: Sequence[Parts] = ([(0, 1)], [(1, 1)])
"""Coordinate 0 is [a], 1 is [b]."""

A, B, ALWAYS = Letter(("a",)), Letter(("b",)), Place(ONE)


def running(
    *steps: Step, output: Ref = -1, groups: Sequence[SymbolGroup] = (), symbols: str = "ab"
) -> Realisation:
    """A program of these steps; its output is the last of them if nothing else is said."""
    place = output if output >= 0 else len(steps) - 1
    return Realisation(Program(Alphabet(tuple(symbols)), steps, place), tuple(groups))


def last_where(where: Ref, value: Ref, mask: Mask = Mask.BEFORE) -> Attend:
    """The value at the last position where something holds."""
    return Attend(mask, Choice.RIGHTMOST, everywhere(where), value, None)


LAST_A, LAST_B = by_words("ab", "a"), by_words("ab", "b")
SIGMA_STAR, NOTHING = samples.universal(), samples.empty()


BEFORE = running(A, B, ALWAYS, last_where(2, 0))
"""The letter before is a."""

SELF = running(A, B, ALWAYS, last_where(2, 0, Mask.UP_TO))
ONCE_B = running(A, B, Not(0), last_where(2, 1))
"""The last letter before that was no a was b."""


def test_the_hand_made_parts_are_what_they_say() -> None:
    """Bits, conjunctions and latches, so that the attacks below attack what they mean to."""
    before = built(
        AB, [layer(latch((), [(0, 1)], 2)), layer(bit([(2, 1)], 3), at_least_two((1, 1), (2, 1)))], 3
    )
    assert proves(before, by_words("ab", "aa", "ab"), BEFORE)
    both = running(A, B, ALWAYS, last_where(2, 0), Gate(Connective.AND, (1, 3)))
    assert proves(replace(before, output=4), by_words("ab", "ab"), both)
    assert not proves(replace(before, output=4), by_words("ab", "ab"), BEFORE)
    assert wrong_word(before, by_words("ab", "aa", "ab")) is None
    last = built(AB, [layer(latch([(0, 1)], [(1, 1)], 2)), layer(bit([(2, 1)], 3))], 3)
    assert wrong_word(last, seen_before("ab", "b")) is None
    assert proves(last, seen_before("ab", "b"), ONCE_B)


# What is proved -------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def compiled(case: Case) -> tuple[Network, Dfa, Realisation]:
    expression, symbols, regime = case
    model = attemper.compile(attemper.regex(expression, symbols), regime=regime)  # type: ignore[arg-type]
    assert isinstance(model.language.definition, Dfa)
    assert model.realisation is not None
    return model.network, model.language.definition, model.realisation


def prepare() -> None:
    """Compile every case: what takes long and does not depend on a mutant."""
    for case in CASES:
        compiled(case)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_compiled_is_proved_and_true(case: Case) -> None:
    network, dfa, said = compiled(case)
    assert proves(network, dfa, said)
    assert not proves(network, dfa, None)
    assert wrong_word(network, dfa) is None


@pytest.mark.sweep(2)
@pytest.mark.parametrize("case", CASES[::3], ids=str)
def test_any_other_automaton_is_rejected(case: Case) -> None:
    """One move, one accepting state or the start changed; unless the language stays the same."""
    network, dfa, said = compiled(case)
    kinds = Counter(
        (proves(network, other, said), same_but_for_nothing(dfa, other)) for other in dfa_mutants(dfa)
    )
    assert kinds[True, False] == 0
    assert kinds[False, True] == 0
    assert kinds[False, False] >= len(dfa.moves)


def test_an_automaton_need_not_be_minimal() -> None:
    network, dfa, said = compiled(("a*b", "ab", "decoder"))
    count = len(dfa.moves)
    there = tuple(tuple(target + count for target in row) for row in dfa.moves)
    ends = dfa.accepting | {state + count for state in dfa.accepting}
    doubled = Dfa(dfa.alphabet, (*there, *dfa.moves), dfa.start, ends)
    assert difference(dfa, doubled) is None
    assert proves(network, doubled, said)
    assert not proves(network, replace(doubled, accepting=dfa.accepting), said)


@pytest.mark.sweep(6)
@pytest.mark.parametrize("case", CASES[1::3], ids=str)
def test_the_program_of_another_network_proves_nothing(case: Case) -> None:
    """Unless both are one program: then it is no other."""
    network, dfa, said = compiled(case)
    for other in CASES[1::3]:
        program = compiled(other)[2].program
        if program != said.program:
            assert not proves(network, dfa, Realisation(program))
            assert not proves(network, dfa, replace(said, program=program))


def test_another_order_of_the_alphabet_is_another_language() -> None:
    network, dfa, said = compiled(("a*b", "ab", "decoder"))
    swapped = Dfa(Alphabet(("b", "a")), dfa.moves, dfa.start, dfa.accepting)
    renamed = Dfa(Alphabet(("b", "a")), tuple(row[::-1] for row in dfa.moves), dfa.start, dfa.accepting)
    more = Dfa(Alphabet(("a", "b", "c")), tuple((*row, 0) for row in dfa.moves), 0, dfa.accepting)
    fewer = Dfa(Alphabet(("a",)), tuple(row[:1] for row in dfa.moves), 0, dfa.accepting)
    for language in (swapped, renamed, more, fewer):
        certificate = Certificate.by_way_of(said, "x", language, (RealClaim(),))
        assert check(network, "x", certificate).status is Status.MALFORMED
        with pytest.raises(UnprovenError, match="other symbols than the language"):
            prove(network, language, said)


def test_the_empty_word_and_the_end_where_it_is_read() -> None:
    network, dfa, said = compiled(("(ab)*", "ab", "decoder"))
    certificate = Certificate.by_way_of(said, "x", dfa, (RealClaim(),))
    assert check(network, "x", certificate).status is Status.PROVED
    assert check(replace(network, accepts_empty=False), "x", certificate).status is Status.REFUTED
    flipped = replace(network, reads_first=True)
    assert check(flipped, "x", certificate).status is Status.REFUTED


# Groups that lie ------------------------------------------------------------------------------------


def group(*bits: tuple[int, Ref], layer: int = 0) -> SymbolGroup:
    return SymbolGroup(layer, bits)


def lying(places: dict[int, ClosedForm] | None = None, parts: Parts = (), more: Parts = ()) -> Network:
    """[b], or coordinates 2 and 3 both 1: if they exclude each other it is [b] alone."""
    letters = ([(0, 1), *parts], [(1, 1), *more])
    return built(letters, [layer(), layer(at_least_two((1, 2), (2, 1), (3, 1)))], 4, places)


def said_apart(two: Step, three: Step) -> Realisation:
    """[b], where coordinates 2 and 3 are these steps and exclude each other."""
    return running(A, B, two, three, output=1, groups=[group((2, 2), (3, 3))])


TOGETHER = "two bits of a symbol"


def test_two_bits_of_a_group_that_are_1_together() -> None:
    network, said = lying(parts=[(2, 1), (3, 1)]), said_apart(A, A)
    assert wrong_word(network, LAST_B) is not None
    assert TOGETHER in reason(network, LAST_B, said)
    assert TOGETHER in reason(network, SIGMA_STAR, said)
    every = running(A, B, Gate(Connective.OR, (0, 1)))
    assert proves(network, SIGMA_STAR, every)
    assert not proves(network, LAST_B, replace(said, groups=()))
    apart = lying(parts=[(2, 1)], more=[(3, 1)])
    assert proves(apart, LAST_B, said_apart(A, B))


def test_a_formula_gets_no_names() -> None:
    """A claim about a formula proves itself: what a certificate says of groups is not looked at."""
    network, said = lying(parts=[(2, 1), (3, 1)]), said_apart(A, A)
    language = TemporalLanguage(parse("b", Alphabet(("a", "b"))), At.LAST, accepts_empty=False)
    for own in (None, said):
        with pytest.raises(UnprovenError):
            prove(network, language, own)
        program, groups = (own.program, own.groups) if own else (None, ())
        certificate = Certificate("x", language, (RealClaim(),), program, groups)
        assert check(network, "x", certificate).status is Status.REFUTED
    prove(lying(parts=[(2, 1)], more=[(3, 1)]), language, said)


@pytest.mark.parametrize("place", [1, 2, 3, 9, 200])
def test_two_bits_of_a_group_that_meet_late(place: int) -> None:
    """They are 1 together from one position on, which no short word reaches."""
    late = Asked(NonNegative(), 1, 0, -place)
    network = lying(places={2: late}, parts=[(3, 1)])
    assert TOGETHER in reason(network, LAST_B, said_apart(Place(late), A))
    at = Asked(Zero(), 1, 0, -place)
    assert TOGETHER in reason(lying(places={2: at}, parts=[(3, 1)]), LAST_B, said_apart(Place(at), A))
    early = Asked(NonNegative(), -1, 0, place - 1)
    never = lying(places={2: late, 3: early})
    assert proves(never, LAST_B, said_apart(Place(late), Place(early)))


def test_two_bits_of_a_group_that_meet_after_a_certain_word() -> None:
    """[a] and [a at the last position before]: only words with aa have both."""
    layers = [layer(latch((), [(0, 1)], 2)), layer(bit([(2, 1)], 3))]
    network = built(AB, [*layers, layer(at_least_two((0, 1), (1, 2), (3, 1)))], 4)
    assert wrong_word(network, LAST_B) == ("a", "a")
    steps = (A, B, ALWAYS, last_where(2, 0))
    assert TOGETHER in reason(
        network, LAST_B, running(*steps, output=1, groups=[group((0, 0), (3, 3), layer=1)])
    )
    both = (Gate(Connective.AND, (0, 3)), Gate(Connective.OR, (1, 4)))
    apart = running(*steps, *both, groups=[group((3, 3), layer=1), group((0, 0), layer=1)])
    assert proves(network, by_words("ab", "b", "aa"), apart)
    assert not proves(network, LAST_B, apart)


def test_bits_of_a_group_that_nobody_reads_must_exclude_each_other_too() -> None:
    network = replace(lying(parts=[(2, 1), (3, 1)]), output=1)
    assert wrong_word(network, LAST_B) is None
    assert TOGETHER in reason(network, LAST_B, said_apart(A, A))


@pytest.mark.parametrize("factor", [2, -1, Fraction(1, 2)])
def test_a_group_must_be_made_of_bits(factor: int | Fraction) -> None:
    assert "not exactly 0 or 1" in reason(lying(parts=[(2, factor)]), LAST_B, said_apart(A, B))


def test_a_group_must_be_exact() -> None:
    """What a head writes is a bit up to a small error; named, the error would be forgotten."""
    network = built(AB, [layer(latch([(0, 1)], [(1, 1)], 2)), layer(bit([(2, 1)], 3))], 3)
    named = replace(ONCE_B, groups=(group((2, 3)),))
    assert "not exactly 0 or 1" in reason(network, seen_before("ab", "b"), named)
    assert proves(network, seen_before("ab", "b"), ONCE_B)


def test_a_group_must_not_be_a_growing_embedding() -> None:
    said = running(A, B, ALWAYS, output=1, groups=[group((PLACE, 2))])
    assert "not bounded" in reason(lying(), LAST_B, said)
    assert proves(lying(), LAST_B, replace(said, groups=(group((ONES, 2)),)))


@pytest.mark.parametrize("wrong", [0, 2, 3])
def test_a_bit_of_a_group_is_the_step_that_is_said(wrong: Ref) -> None:
    """Coordinate 1 is the letter b, which is step 1: any other step is refused, whatever the claim is."""
    said = running(A, B, ALWAYS, Not(2), output=1, groups=[group((1, wrong))])
    assert "coordinate 1 is not shown to be step" in reason(lying(), LAST_B, said)
    assert proves(lying(), LAST_B, replace(said, groups=(group((1, 1)),)))


@pytest.mark.parametrize("step", [1, -1])
def test_a_coordinate_is_written_again_later(step: int) -> None:
    """Coordinate 0 is [a] where it is named; the next layer adds [b] to it, or takes [a] away."""
    added = Hidden(form((1 if step == 1 else 0, 1)), Fraction(0), form((0, step)))
    network = built(AB, [layer(), Layer((), (added,), ())], 0)
    truth, output = (SIGMA_STAR, Gate(Connective.UNION, (0, 1))) if step == 1 else (NOTHING, Letter(()))
    first = group((0, 0), (1, 1))
    assert wrong_word(network, truth) is None
    assert proves(network, truth, running(A, B, output, groups=[first]))
    assert not proves(network, LAST_A, running(A, B, groups=[first], output=0))
    assert not proves(network, LAST_A, running(A, B, groups=[group((0, 0), layer=1)], output=0))
    again = group((0, 2), layer=1)
    assert not proves(network, LAST_A, running(A, B, output, output=0, groups=[first, again]))


def test_heads_of_the_same_layer_read_what_was_there_before() -> None:
    """The layer turns [a] into [b] on one coordinate, which is named; its own head has read [a]."""
    turned = (
        Hidden(form((1, 1)), Fraction(0), form((0, 1))),
        Hidden(form((0, 1)), Fraction(0), form((0, -1))),
    )
    network = built(AB, [layer(latch((), [(0, 1)], 2), turned), layer(bit([(2, 1)], 3))], 3)
    before_a, before_b = by_words("ab", "aa", "ab"), by_words("ab", "ba", "bb")
    named = [group((0, 1))]
    steps = (A, B, ALWAYS)
    assert proves(network, before_a, running(*steps, last_where(2, 0), groups=named))
    assert not proves(network, before_b, running(*steps, last_where(2, 1), groups=named))
    second = [layer(latch((), [(0, 1)], 4)), layer(bit([(4, 1)], 5))]
    shown = replace(network, layers=(network.layers[0], *second), output=5)
    assert proves(shown, before_b, running(*steps, last_where(2, 1), groups=named))
    assert not proves(shown, before_a, running(*steps, last_where(2, 0), groups=named))


def test_a_group_of_the_last_layer() -> None:
    """It names what nobody reads any more but the output."""
    network = built(AB, [layer(bit([(1, 1)], 4))], 4)
    honest = running(A, B, Not(0), output=1, groups=[group((0, 0))])
    assert proves(network, LAST_B, honest)
    assert not proves(network, LAST_A, honest)
    named = replace(honest, groups=(group((0, 0), (4, 1)),))
    assert proves(network, LAST_B, named)
    assert not proves(network, LAST_A, named)
    assert not proves(network, LAST_A, replace(named, program=replace(named.program, output=0)))
    doubled = running(A, B, output=1, groups=[group((1, 1), (4, 1))])
    assert TOGETHER in reason(network, LAST_B, doubled)


@pytest.mark.sweep(4)
@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7])
def test_letters_of_alphabets_of_every_size(size: int) -> None:
    """With unused codes of the binary numbering and without; read at i, at i - 1, and somewhere before."""
    symbols = "abcdefg"[:size]
    programs = [
        tuple(
            running(Letter((symbol,)), ALWAYS, *more, symbols=symbols)
            for more in ((Letter((symbol,)),), (last_where(1, 0),), (last_where(0, 0),))
        )
        for symbol in symbols
    ]
    for own in range(size):
        letters = [[(0, 1)] if s == own else [] for s in range(size)]
        here = built(letters, [layer()], 0, symbols=symbols)
        heads = [layer(latch((), [(0, 1)], 2)), layer(bit([(2, 1)], 3))]
        before = built(letters, heads, 3, symbols=symbols)
        marked = [[*parts, *([] if s == own else [(1, 1)])] for s, parts in enumerate(letters)]
        some = built(marked, [layer(latch([(1, 1)], [(0, 1)], 2)), heads[1]], 3, symbols=symbols)
        for s, other in enumerate(symbols):
            at_i, at_the_one_before, anywhere = programs[s]
            assert proves(here, by_words(symbols, other), at_i) == (s == own)
            pair = by_words(symbols, *(other + x for x in symbols))
            assert proves(before, pair, at_the_one_before) == (s == own)
            assert proves(some, seen_before(symbols, other), anywhere) == (s == own)


# Heads ----------------------------------------------------------------------------------------------


def with_head(head: Head, places: dict[int, ClosedForm] | None = None) -> Network:
    """A head that writes to 2, from [a] on 0 and [b] on 1; the output says whether it gave 1."""
    return built(AB, [layer(head), layer(bit([(2, 1)], 3))], 3, places)


BEFORE_A = by_words("ab", "aa", "ab")
"""The letter before is a: what a strictly future-masked head reads that sees all positions."""


@pytest.mark.parametrize("masking", [m for m in Masking if m is not Masking.STRICT_FUTURE], ids=str)
def test_other_masks_read_something_else(masking: Masking) -> None:
    network = with_head(latch((), [(0, 1)], 2, masking))
    assert wrong_word(network, BEFORE_A) is not None
    assert not proves(network, BEFORE_A, BEFORE)
    assert proves(network, LAST_A, SELF) == (masking is Masking.FUTURE)
    assert not proves(network, LAST_A, BEFORE)


def test_leftmost_is_another_program() -> None:
    network = with_head(latch((), [(0, 1)], 2, tie=-8, construction=Select(True, ((None, ()),))))
    assert not proves(network, BEFORE_A, BEFORE)
    said_rightmost = with_head(latch((), [(0, 1)], 2, tie=-8))
    assert not proves(said_rightmost, BEFORE_A, BEFORE)
    said_leftmost = with_head(latch((), [(0, 1)], 2, construction=Select(True, ((None, ()),))))
    assert proves(said_leftmost, BEFORE_A, BEFORE)  # labels decide nothing


@pytest.mark.parametrize(
    "label",
    [Uniform(), Neighbour(False), Neighbour(True), Sign(()), Lookup((), ())],
    ids=lambda x: type(x).__name__,
)
def test_only_selections_have_a_strict_rule(label: Construction) -> None:
    network = with_head(latch((), [(0, 1)], 2, construction=label))
    assert "strict masks" in reason(network, BEFORE_A, BEFORE)


def test_a_strict_mean_has_no_rule() -> None:
    mean = Head(Uniform(), Masking.STRICT_FUTURE, Softmax(ONE), (), (), (form((0, 1)),), (2,))
    assert "strict masks" in reason(with_head(mean), BEFORE_A, BEFORE)
    said_select = replace(mean, construction=Select(False, ((None, ()),)))
    assert "no tie-break" in reason(with_head(said_select), BEFORE_A, BEFORE)


COLDNESS: tuple[tuple[str, ClosedForm, bool], ...] = (
    ("1", ONE, True),
    ("i", I, True),
    ("n", N, True),
    ("i - 1", plus(I, -1), True),
    ("i - 2", plus(I, -2), False),
    ("i - 3", plus(I, -3), False),
    ("4 - i", plus(4, times(-1, I)), False),
    ("n - i", plus(N, times(-1, I)), False),
    ("1/i", over(I), False),
    ("1/n", over(N), False),
    ("-1", number(-1), False),
    ("0", number(0), False),
    ("1/64", number(Fraction(1, 64)), False),
    ("[i != 3]", plus(1, times(-1, Asked(Zero(), 1, 0, -3))), False),
    ("(i - 5)^2", Power(plus(I, -5), 2), False),
)
"""A temperature, and whether it keeps the tie-break sharp wherever two positions are visible."""


@pytest.mark.parametrize(
    ("name", "coldness", "good"), COLDNESS, ids=lambda x: str(x) if isinstance(x, str) else ""
)
@pytest.mark.parametrize("masking", [Masking.STRICT_FUTURE, Masking.FUTURE], ids=str)
def test_a_tie_break_must_be_sharp_at_every_position(
    name: str, coldness: ClosedForm, good: bool, masking: Masking
) -> None:
    network = with_head(latch((), [(0, 1)], 2, masking, coldness=coldness))
    dfa, said = (BEFORE_A, BEFORE) if masking.is_strict else (LAST_A, SELF)
    assert proves(network, dfa, said) == good
    if good:
        assert wrong_word(network, dfa) is None


@pytest.mark.parametrize("score_gap", [1, 2, 4, 8, 16, 64])
def test_blocked_positions_must_lose_wherever_they_are(score_gap: int) -> None:
    """8 per step against lead * i for what is blocked: below 16 a nearer blocked position can win."""
    head = latch([(0, 1)], [(1, 1)], 2)
    head = replace(head, query=(head.query[0], form((PLACE, score_gap))))
    once_b = seen_before("ab", "b")
    network = with_head(head)
    assert proves(network, once_b, ONCE_B) <= (wrong_word(network, once_b) is None)
    assert proves(network, once_b, ONCE_B) == (score_gap >= 16)


def test_a_head_that_sees_nothing_adds_nothing() -> None:
    """At the first position a value that is always 1 is 0 all the same."""
    network = with_head(latch((), [(0, 1), (1, 1)], 2))
    later = samples.explored("ab", 0, lambda s, _: min(int(str(s)) + 1, 2), lambda s: s == 2)
    assert wrong_word(network, later) is None
    said = running(ALWAYS, last_where(0, 0))
    assert proves(network, later, said)
    assert not proves(network, SIGMA_STAR, said)
    assert not proves(network, SIGMA_STAR, running(ALWAYS))


def test_blocked_levels_below_each_other() -> None:
    """a before b before nothing: b is read only where no a was. The value is 1 on the letter b."""
    head = latch([(1, 1)], [(1, 1)], 2)
    network = with_head(head)
    only_b = samples.explored(
        "ab",
        "00",
        lambda s, x: str(s)[1] + max(str(s)[1], "2" if x == "a" else "1"),
        lambda s: str(s)[0] == "1",
    )
    assert wrong_word(network, only_b) is None
    said = running(A, B, last_where(0, 1))
    assert proves(network, only_b, said)
    assert not proves(network, LAST_B, said)


# What attention keeps -------------------------------------------------------------------------------


def softened(program: Program, regime: Regime = Regime.UNBOUNDED) -> tuple[Network, Realisation]:
    """The network of a program, and the program with its guards, which it runs."""
    guarded, _ = guard_edges(program)
    hard = assemble(guarded, {}, reads_first=False, accepts_empty=False).network
    return drop_unused(hard_to_soft(hard, regime))[0], Realisation(guarded)


def counting(
    symbols: str, factors: Sequence[int], constant: int, threshold: int, *, first: int = 0
) -> tuple[Network, Realisation]:
    """[the sum of factor * number of each letter, first of them at position 1, is at least the threshold]."""
    builder = Builder()
    names = [
        (factor, builder.add(Count(Mask.UP_TO, builder.add(Letter((symbol,))))))
        for symbol, factor in zip(symbols, factors, strict=True)
        if factor
    ]
    if first:
        names.append((first, builder.add(Count(Mask.UP_TO, builder.add(Place(FIRST))))))
    total = builder.add(Compare(builder.add(Linear(tuple(names), constant)), threshold))
    return softened(Program(Alphabet(tuple(symbols)), tuple(builder.steps), total))


def counted(symbols: str, factors: Sequence[int], constant: int, threshold: int) -> Dfa:
    """The same from the definition, for factors of one sign: beyond the threshold nothing changes."""
    sign = -1 if min(factors) < 0 else 1

    def move(state: object, symbol: str) -> int:
        after = int(str(state)) + factors[symbols.index(symbol)]
        return min(after, threshold - constant) if sign > 0 else max(after, threshold - constant - 1)

    return samples.explored(symbols, 0, move, lambda state: int(str(state)) + constant >= threshold)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("factors", [(1, 0), (2, 1), (3, 2), (-1, 0), (-2, -1), (-1, -3)], ids=str)
@pytest.mark.parametrize("constant", [0, 1, -2])
def test_sums_are_cut_off_where_they_do_not_matter_any_more(factors: tuple[int, int], constant: int) -> None:
    sign = 1 if max(factors) > 0 else -1
    for threshold in (1, 2, 5):
        goal = sign * threshold
        (network, said), dfa = counting("ab", factors, constant, goal), counted("ab", factors, constant, goal)
        assert wrong_word(network, dfa) is None
        assert proves(network, dfa, said)
        for other in (goal - 1, goal + 1):
            off = counted("ab", factors, constant, other)
            assert proves(network, off, said) == same_but_for_nothing(dfa, off)


@pytest.mark.parametrize("first", [-7, -1, 3, 9])
def test_a_sum_may_start_with_any_number(first: int) -> None:
    """What is added at the first position only is no falling for ever."""
    network, said = counting("ab", (1, 0), 0, 2, first=first)
    dfa = counted("ab", (1, 0), first, 2)
    assert wrong_word(network, dfa) is None
    assert proves(network, dfa, said)
    assert proves(network, counted("ab", (1, 0), first + 1, 2), said) == (first >= 2)


def of_formula(text: str) -> tuple[Network, Realisation]:
    model = attemper.compile(text, "ab")
    assert model.realisation is not None
    return model.network, model.realisation


def test_a_sum_that_rises_and_falls_for_ever_is_too_much_where_it_matters() -> None:
    """Two positions back is an a, but there is none: then no difference of counts matters."""
    differing, own = counting("ab", (1, -1), 0, 1)
    assert not proves(differing, LAST_A, own)
    assert not proves(differing, NOTHING, own)
    network, said = of_formula("a | Y Y a & !O a & #<[a] - #<[b] >= 1")
    assert proves(network, LAST_A, said)
    network, said = of_formula("a | Y Y a & O b & #<[a] - #<[b] >= 1")
    assert not proves(network, LAST_A, said)


def test_what_has_happened_for_ever_is_not_forgotten() -> None:
    """After aa the range was left for good; an automaton that comes back into it is another language."""
    network, said = of_formula("H (#<[a] - #<[b] >= 0 & #<[a] - #<[b] <= 1)")
    returning = Dfa(Alphabet(("a", "b")), ((1, 2), (2, 0), (2, 0)), 0, frozenset({0, 1}))
    assert not proves(network, returning, said)
    left = Dfa(Alphabet(("a", "b")), ((1, 2), (2, 0), (2, 2)), 0, frozenset({0, 1}))
    assert proves(network, left, said)


def changed_counters(seed: int, count: int) -> Counter[str]:
    """What the checker says to networks of formulas that are almost those of random counters."""
    found: Counter[str] = Counter()
    for tried in range(count):
        draw = random.Random(f"changed {seed} {tried}")
        dfa = random_rule(draw).dfa()
        counter = bounded_counter(dfa)
        if counter is None:
            continue
        formula = changed(counter_to_formula(counter), draw, draw.choice([0.1, 0.2, 0.4]))
        compiled_ = compile_language(
            TemporalLanguage(formula, At.LAST, dfa.accepts(())), dfa.alphabet, Regime.UNBOUNDED
        )
        words = [w for n in range(1, 10 - len(counter.weights)) for w in words_of_length(dfa.alphabet, n)]
        words += [tuple(draw.choices(dfa.alphabet.symbols, k=50)) for _ in range(5)]
        words += [samples.wandering(dfa, draw, 50) for _ in range(5)]
        right = all(truth(formula, word) == dfa.prefixes(word) for word in words)
        proved = proves(compiled_.soft, dfa, compiled_.realisation)
        assert right or not proved, (tried, formula)
        found[f"{'right' if right else 'wrong'}, {'proved' if proved else 'not proved'}"] += 1
    return found


@pytest.mark.sweep(0)
def test_changed_counters_are_rejected_or_still_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "MAX_CONFIGURATIONS", 2_000)
    found = changed_counters(0, 60)
    assert found["wrong, not proved"] >= 10
    assert found["right, proved"] >= 10


@pytest.mark.slow
def test_many_changed_counters_are_rejected_or_still_true(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reachability, "MAX_CONFIGURATIONS", 5_000)
    found = changed_counters(1, 3_000)
    assert found["wrong, not proved"] >= 500


@pytest.mark.parametrize("modulus", [2, 3, 4, 6])
@pytest.mark.parametrize("scale", [1, 2, 3, -1])
def test_remainders_of_multiples(modulus: int, scale: int) -> None:
    for remainder in range(modulus):
        builder = Builder()
        count = builder.add(Count(Mask.UP_TO, builder.add(Letter(("a",)))))
        test = builder.add(CountTest(Remainder(modulus, remainder), count, scale, 1))
        network, said = softened(Program(Alphabet(("a", "b")), tuple(builder.steps), test))
        right = [k for k in range(modulus) if (scale * k + 1) % modulus == remainder]
        rows = [((q + 1) % modulus, q) for q in range(modulus)]
        assert proves(network, samples.from_rows("ab", rows, right), said)
        others = [(k + 1) % modulus for k in right]
        wrong = samples.from_rows("ab", rows, others)
        same = same_but_for_nothing(wrong, samples.from_rows("ab", rows, right))
        assert proves(network, wrong, said) == same


PLACES: tuple[ClosedForm, ...] = (
    *(
        Asked(Remainder(m, 1), a, 0, c)
        for m, a, c in ((2, 1, 0), (3, 1, 4), (3, 2, 0), (5, -1, 4), (5, 3, 1))
    ),
    *(Asked(NonNegative(), a, 0, c) for a, c in ((1, -2), (1, -7), (-1, 3), (3, -10), (1, 5))),
    Asked(Zero(), 1, 0, -4),
    times(Asked(Remainder(3, 2), 1, 0, 0), Asked(NonNegative(), 1, 0, -6)),
    times(Asked(Remainder(4, 2), 2, 0, 0), Asked(Remainder(3, 0), 1, 0, 1)),
)
"""Thresholds below 8, with moduli 2, 3 and 5: from position 10 on they repeat every 30."""

PREFIX, PERIOD = 10, 30


@pytest.mark.sweep(16)
@pytest.mark.parametrize("place", PLACES, ids=str)
@pytest.mark.parametrize("shifts", [0, 1, 2])
def test_places_beyond_the_prefix_and_around_the_period(place: ClosedForm, shifts: int) -> None:
    """A place and a letter, both read up to two positions before; the machine follows places to their end."""
    builder = Builder()
    letter = builder.add(Letter(("a",)))
    here = builder.add(Gate(Connective.AND, (builder.add(Place(place)), letter)))
    for _ in range(shifts):
        here = builder.add(Shift(Direction.PREVIOUS, here))
    network, said = softened(Program(Alphabet(("a", "b")), tuple(builder.steps), here))
    holds = [False, *(evaluate(place, i, i) == 1 for i in range(1, PREFIX + 2 * PERIOD))]

    def move(state: object, symbol: str) -> tuple[int, str]:
        assert isinstance(state, tuple)
        at, end = state
        following = at + 1 if at + 1 < PREFIX + PERIOD else PREFIX
        return following, (end + symbol)[-3:]

    def accepts(state: object) -> bool:
        assert isinstance(state, tuple)
        at, end = state
        # Places that were reached by going round are those of the second round.
        read = at - shifts + (PERIOD if at >= PREFIX else 0)
        return bool(len(end) > shifts and end[-1 - shifts] == "a" and holds[read])

    dfa = samples.explored("ab", (0, ""), move, accepts)
    assert proves(network, dfa, said)
    assert wrong_word(network, dfa) is None
    late = dfa.state_after(("a",) * 37)
    assert not proves(network, replace(dfa, accepting=dfa.accepting ^ {late}), said)


@pytest.mark.parametrize("default", [False, True])
@pytest.mark.parametrize("mask", [Mask.BEFORE, Mask.UP_TO])
def test_selections_before_anything_was_selected(mask: Mask, default: bool) -> None:
    """[a at the last of the letters a and c, or the default]: before the first of them nothing is kept."""
    builder = Builder()
    a, c = builder.add(Letter(("a", "b"))), builder.add(Letter(("a", "c")))
    found = builder.add(Attend(mask, Choice.RIGHTMOST, everywhere(c), a, default))
    program = Program(Alphabet(("a", "b", "c")), tuple(builder.steps), found)
    strict = mask is Mask.BEFORE

    def move(state: object, symbol: str) -> str:
        old = str(state)[1]
        new = {"a": "1", "b": old, "c": "0"}[symbol]
        return (old if strict else new) + new

    for start in (False, True):
        dfa = samples.explored("abc", str(int(start)) * 2, move, lambda s: str(s)[0] == "1")
        network, said = softened(program)
        assert proves(network, dfa, said) == (start == default)


# Determinism, recursion ------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES[::5], ids=str)
def test_proofs_are_the_same_every_time_and_leave_no_trace(case: Case) -> None:
    network, dfa, said = compiled(case)
    limit = sys.getrecursionlimit()
    other = replace(dfa, accepting=dfa.accepting ^ {dfa.state_after((dfa.alphabet.symbols[0],))})
    assert [proves(network, dfa, said) for _ in range(2)] == [True, True]
    assert not proves(network, other, said)
    assert sys.getrecursionlimit() == limit
    reason(lying(parts=[(2, 1), (3, 1)]), LAST_B, said_apart(A, A))
    assert sys.getrecursionlimit() == limit


# Floats ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bfloat16", "float32"])
@pytest.mark.parametrize("levels", [(1, 2), (3, 4), (999, 1000), (513, 514), (2**25 - 1, 2**25)], ids=str)
def test_levels_that_a_format_cannot_tell_apart(levels: tuple[int, int], name: str) -> None:
    """a is not blocked, b and c are, by levels that may round to one number; c* looks for c alone."""
    head = latch([(0, levels[0]), (1, levels[1])], [(1, 1)], 2, Masking.FUTURE)
    network = built([[], [(0, 1)], [(1, 1)]], [layer(head)], 2, symbols="abc")
    only_c = samples.from_rows("abc", [(1, 1, 0), (1, 1, 1)], [0])
    ever = (last_where(0, 0, Mask.UP_TO), last_where(1, 1, Mask.UP_TO))
    said = running(A, B, *ever, Gate(Connective.OR, (2, 3)), Not(4), symbols="abc")
    if not proves(network, only_c, said):
        assert levels[0] > 4
        return
    analysis = prove(network, only_c, said)
    horizon, _ = horizon_of(analysis, FORMATS[name], Kernel.NUMERATOR_FIRST)
    for run in run_words(DenseTransformer(network, getattr(torch, name)), list(words_of(network.alphabet))):
        bits = only_c.prefixes(run.word)
        assert len(run.word) > horizon or all(
            abs(v - b) <= 0.25 for v, b in zip(run.values, bits, strict=True)
        )


@pytest.mark.sweep(5)
@pytest.mark.parametrize("case", CASES[1::3], ids=str)
def test_no_wrong_bit_up_to_the_horizon(case: Case) -> None:
    network, dfa, said = compiled(case)
    analysis = prove(network, dfa, said)
    rng, symbols = random.Random(11), dfa.alphabet.symbols
    for name in ("bfloat16", "float32"):
        horizon, _ = horizon_of(analysis, FORMATS[name], Kernel.NUMERATOR_FIRST)
        assert horizon > 0 or name == "bfloat16"
        for size in {min(horizon, longest) for longest in (2, 40, 400)} - {0}:
            words: list[Word] = [tuple(rng.choice(symbols) for _ in range(size)) for _ in range(6)]
            words += [((s,) * (size - 1) + (t,)) for s, t in product(symbols, repeat=2)]
            for run in run_words(DenseTransformer(network, getattr(torch, name)), words):
                bits = dfa.prefixes(run.word)
                assert all(abs(v - b) <= 0.25 for v, b in zip(run.values, bits, strict=True)), run.word


# Mutations ------------------------------------------------------------------------------------------


class Fate(StrEnum):
    """What becomes of a mutant; there is no third class."""

    REJECTED = "rejected"
    STILL_TRUE = "still true"


def fate(name: str, network: Network | None, dfa: Dfa, said: Realisation) -> Fate:
    """Rejected, or still true; it fails where a network is accepted that is wrong on some word."""
    if network is None or complaints(network) or not proves(network, dfa, said):
        return Fate.REJECTED
    try:
        wrong = wrong_word(network, dfa)
    except UnsupportedError:
        return Fate.REJECTED  # weights that no file can hold
    assert wrong is None, f"accepted, but wrong: {name}: {wrong}"
    return Fate.STILL_TRUE


def some_lies(
    network: Network, said: Realisation, rng: random.Random, count: int
) -> list[tuple[str, Realisation]]:
    """A few other programs and groups."""
    lies = [*group_mutants(network, said, rng), *(_another(said, rng) for _ in range(count))]
    return rng.sample(lies, min(count, len(lies)))


def _another(said: Realisation, rng: random.Random) -> tuple[str, Realisation]:
    name, program = random_program_mutant(said.program, rng)
    return name, replace(said, program=program)


def fates(case: Case, sample: int) -> Counter[Fate]:
    """Mutants of the weights, masks, temperatures, places and labels, with their program and with others."""
    network, dfa, said = compiled(case)
    rng = random.Random(f"mutants of {case}")
    mutants = list(network_mutants(network, rng))
    found: Counter[Fate] = Counter()
    for name, mutant in rng.sample(mutants, min(sample, len(mutants))):
        found[fate(name, mutant, dfa, said)] += 1
        if mutant is not None and not complaints(mutant):
            for what, lie in some_lies(mutant, said, rng, 2):
                found[fate(f"{name}, {what}", mutant, dfa, lie)] += 1
    found.update(fate(what, network, dfa, lie) for what, lie in some_lies(network, said, rng, sample))
    return found


SAMPLED = [case for case in CASES[::5] if case[0] != "(0|1(01*0)*1)*"]
"""Its mutants alone take seconds to list."""


@pytest.mark.sweep(1)
@pytest.mark.parametrize("case", SAMPLED, ids=str)
def test_sampled_mutants_are_rejected_or_still_true(case: Case) -> None:
    found = fates(case, 10)
    assert found[Fate.REJECTED] > found.total() / 4
    assert found[Fate.STILL_TRUE] > 0


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_mutants_are_rejected_or_still_true(case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    found = fates(case, 10_000)
    with capsys.disabled():
        shown = ", ".join(f"{count} {name}" for name, count in sorted(found.items()))
        print(f"\n{' '.join(case)}: {found.total()} mutants: {shown}")  # noqa: T201 - the point of the sweep
    assert found[Fate.REJECTED] > found.total() / 4


# Random networks ------------------------------------------------------------------------------------


def random_program(rng: random.Random) -> Program:
    """Letters, places, gates, selections, shifts, remainders and thresholds of counts, all looking left."""
    symbols = rng.choice((("a", "b"), ("a", "b"), ("a", "b", "c"), ("a",)))
    builder = Builder()
    bits: list[Ref] = [builder.add(Letter((symbol,))) for symbol in symbols]

    def some() -> Ref:
        return rng.choice(bits[-4:])

    def count() -> Ref:
        return builder.add(Count(Mask.UP_TO, some()))

    for _ in range(rng.randint(3, 9)):
        match rng.choice(
            ("place", "not", "gate", "gate", "attend", "attend", "attend", "shift", "mod", "sum")
        ):
            case "place":
                modulus = rng.randint(2, 4)
                test = rng.choice((Remainder(modulus, rng.randrange(modulus)), NonNegative(), Zero()))
                bits.append(builder.add(Place(Asked(test, rng.choice((1, 2, -1)), 0, rng.randint(-6, 3)))))
            case "not":
                bits.append(builder.add(Not(some())))
            case "gate":
                kind = rng.choice((Connective.AND, Connective.OR, Connective.XOR))
                bits.append(builder.add(Gate(kind, (some(), rng.choice(bits)))))
            case "attend":
                mask, choice = rng.choice((Mask.BEFORE, Mask.UP_TO)), Choice.RIGHTMOST
                cases, value = everywhere(some()), rng.choice(bits)
                bits.append(builder.add(Attend(mask, choice, cases, value, rng.random() < 0.5)))
            case "shift":
                bits.append(builder.add(Shift(Direction.PREVIOUS, some())))
            case "mod":
                modulus = rng.randint(2, 5)
                remainder = Remainder(modulus, rng.randrange(modulus))
                bits.append(
                    builder.add(CountTest(remainder, count(), rng.choice((1, 2, 3)), rng.randint(-1, 2)))
                )
            case _:
                sign = rng.choice((1, -1))
                parts = tuple((sign * rng.randint(1, 3), count()) for _ in range(rng.randint(1, 2)))
                total = builder.add(Linear(parts, rng.randint(-1, 1)))
                bits.append(builder.add(Compare(total, sign * rng.randint(-1, 5))))
    return Program(Alphabet(symbols), tuple(builder.steps), bits[-1])


def learned(network: Network) -> Dfa | None:
    """An automaton that does what the network does on short words, if a small one does.

    Words are told apart by what a few letters more lead to: where the network remembers more, it is wrong.
    """
    symbols = network.alphabet.symbols
    depth, ahead = {1: (12, 5), 2: (8, 4), 3: (6, 3)}[len(symbols)]
    bits: dict[Word, bool] = {}
    for run in run_words(DenseTransformer(network, torch.float64), list(product(symbols, repeat=depth))):
        for size, value in enumerate(run.values, start=1):
            if not min(abs(value), abs(value - 1)) <= 0.25:
                return None
            bits[run.word[:size]] = value > 0.5
    futures = [word for size in range(ahead + 1) for word in product(symbols, repeat=size)]
    numbers: dict[tuple[bool, ...], int] = {}
    found: list[Word] = []
    queue: list[Word] = [()]
    moves: dict[tuple[int, int], int] = {}

    def number_of(word: Word) -> int:
        seen = tuple(bits.get(word + future, False) for future in futures)
        if seen not in numbers:
            numbers[seen] = len(numbers)
            found.append(word)
            queue.append(word)
        return numbers[seen]

    number_of(queue.pop())
    while queue:
        word = queue.pop(0)
        if len(word) + 1 + ahead > depth:
            return None
        source = number_of(word)
        for s, symbol in enumerate(symbols):
            moves[source, s] = number_of((*word, symbol))
    rows = tuple(tuple(moves[state, s] for s in range(len(symbols))) for state in range(len(found)))
    accepting = frozenset(state for state, word in enumerate(found) if bits.get(word, False))
    return Dfa(network.alphabet, rows, 0, accepting)


def random_fates(seed: int) -> Counter[str]:
    """A random network and some of its mutants, each with other programs, against what they seem to do."""
    rng = random.Random(f"network {seed}")
    try:
        network, said = softened(random_program(rng), rng.choice(tuple(Regime)))
    except UnsupportedError:
        return Counter()
    mutants = list(network_mutants(network, rng))
    found: Counter[str] = Counter()
    for name, mutant in [("itself", network), *rng.sample(mutants, min(4, len(mutants)))]:
        if mutant is None or complaints(mutant):
            continue
        try:
            dfa = learned(mutant)
        except (UnsupportedError, ZeroDivisionError, OverflowError):
            continue
        if dfa is not None:
            for what, one in [("as it is", said), *some_lies(mutant, said, rng, 3)]:
                found[fate(f"network {seed}, {name}, {what}", mutant, dfa, one)] += 1
    return found


@pytest.mark.sweep(1)
@pytest.mark.parametrize("start", [0, 1000])
def test_random_networks_are_rejected_or_what_they_seem(start: int) -> None:
    found = sum((random_fates(seed) for seed in range(start, start + 6)), Counter[str]())
    assert found[Fate.STILL_TRUE] >= 8
    assert found[Fate.REJECTED] > 10


@pytest.mark.slow
def test_many_random_networks_are_rejected_or_what_they_seem(capsys: pytest.CaptureFixture[str]) -> None:
    found = sum((random_fates(seed) for seed in range(2000, 2600)), Counter[str]())
    with capsys.disabled():
        print(f"\nrandom networks: {dict(found)}")  # noqa: T201 - the point of the sweep
    assert found[Fate.STILL_TRUE] > 1000
