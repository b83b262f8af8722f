"""What names are asked that nobody who checks a head asks today: refused, not answered as something else."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import attemper
from attemper.attention_program.language import ProgramLanguage
from attemper.attention_program.parse import parse_program
from attemper.attention_program.realisation import Realisation
from attemper.checker import whole_numbers
from attemper.checker.attention.averages import single_mean
from attemper.checker.diagrams import Diagram
from attemper.checker.identities import Formulas
from attemper.checker.names import Names, UnprovenError
from attemper.checker.program import Programs
from attemper.checker.proof import prove
from attemper.exact.predicates import Remainder
from attemper.languages.regular.regex import parse_regex
from attemper.languages.temporal.reading import At
from attemper.languages.words import Alphabet
from attemper.networks.layers import Masking

LEFT = Masking.FUTURE
BOTH = [Formulas, Programs]
HALF = Fraction(1, 2)
Kind = type[Formulas] | type[Programs]


def share(names: Names) -> Diagram:
    """The share of a's up to i: no bit, and nothing that is the same at another position."""
    return names.mean(LEFT, names.letter("a"))


def ranged(names: Names) -> Diagram:
    """A number of which nothing is known: at another position it is another one."""
    return names.choose(names.letter("b"), names.true, names.unknown_in(Fraction(0), Fraction(1)))


def shown(names: Names) -> Diagram:
    """A bit where b stands, and else an average."""
    return names.choose(names.letter("b"), names.true, share(names))


@pytest.mark.parametrize("kind", BOTH)
def test_only_an_average_has_a_mask_and_a_summand(kind: Kind) -> None:
    """A query that is a ReLU, a range or a whole number is no multiple of an average, whatever the mask."""
    names = kind(("a", "b")).names
    average = share(names)
    (rectified,) = names.values(names.plus(average, names.number(-HALF)))
    (found, _) = single_mean(names, {(0, 0): average}, LEFT)
    assert found is not None
    assert (found.masking, found.summand) == (LEFT, names.letter("a"))
    count = whole_numbers.clamped(names, LEFT, names.letter("a"), 1)
    others = [
        names.positive_part(rectified),
        count,
        whole_numbers.nearest_key(names, LEFT, False, names.true, 0, 0)[1],
    ]
    others_of_names = [names.digits(), names.unknown_in(Fraction(0), Fraction(1))]
    for other in [names.affine(other) for other in others] + others_of_names:
        ((number, _),) = names.values(other)[0].parts
        with pytest.raises(UnprovenError, match="average over the visible positions"):
            names.average(number)
        for masking in Masking.FUTURE, Masking.PAST, Masking.NONE:
            with pytest.raises(UnprovenError, match="average over the visible positions"):
                single_mean(names, {(0, 0): other}, masking)


@pytest.mark.parametrize("value", [-HALF, HALF, Fraction(7, 2)])
@pytest.mark.parametrize("kind", BOTH)
def test_a_sum_with_a_fraction_at_one_position_is_not_rounded(kind: Kind, value: Fraction) -> None:
    """At the marked position alone, where the part that is no integer would go into the threshold."""
    names = kind(("a", "b")).names
    for masking in (LEFT, Masking.PAST, Masking.NONE):
        summand = names.scaled(names.mark(masking), value)
        with pytest.raises(UnprovenError, match="not an integer"):
            names.positions.sum_at_least(masking, summand, 0)
    letter = names.letter("a")
    with pytest.raises(UnprovenError, match="not an integer"):
        names.positions.mixed_at_least(letter, letter, names.number(value), 0)
    with pytest.raises(UnprovenError, match="not an integer"):
        names.positions.mixed_at_least(letter, names.scaled(letter, 2), names.number(value), 0)


@pytest.mark.parametrize("kind", BOTH)
@pytest.mark.parametrize(
    "ask",
    [
        lambda names, value: names.negation(value),
        lambda names, value: names.both(value, names.letter("a")),
        lambda names, value: names.either(value, names.letter("a")),
        lambda names, value: names.different(value, names.letter("a")),
        lambda names, value: names.different(names.letter("a"), value),
        lambda names, value: names.choose(value, names.true, names.false),
        lambda names, value: names.equals(value, Fraction(1, 2)),
        lambda names, value: names.positions._reaches(value, 1),
        lambda names, value: names.positions._corner(value),
    ],
)
def test_an_average_is_no_bit(kind: Kind, ask: Callable[[Names, Diagram], object]) -> None:
    for make in (share, shown):
        names = kind(("a", "b")).names
        with pytest.raises(UnprovenError, match="depends on an average"):
            ask(names, make(names))


@pytest.mark.parametrize(
    ("kind", "ask"),
    [
        *((kind, lambda names, d: names.positions.shifted(d, -1, names.false)) for kind in BOTH),
        *((kind, lambda names, d: names.positions.chosen(LEFT, True, names.letter("a"), d)) for kind in BOTH),
        *(
            (kind, lambda names, d: whole_numbers.nearest(names, LEFT, True, names.true, 0, 0, d))
            for kind in BOTH
        ),
        *((kind, lambda names, d: names.at_fixed(d, 2)) for kind in BOTH),
        *((kind, lambda names, d: names.positions.looked_up(LEFT, names.letter("a"), d)) for kind in BOTH),
        (Formulas, lambda names, d: names.positions._nearest_with(Remainder(2, 1), LEFT, d)),
    ],
)
def test_an_average_is_not_read_at_another_position_as_if_it_stood_there(
    kind: Kind, ask: Callable[[Names, Diagram], Diagram]
) -> None:
    for make in (share, shown, ranged):
        names = kind(("a", "b")).names
        with pytest.raises(UnprovenError, match=r"depends on an average|not a function of its position"):
            ask(names, make(names))


def test_a_program_over_other_symbols_is_not_what_a_network_computes() -> None:
    """It is true of every position, with and without a step that no machine has, and of all that is read."""
    network = attemper.compile("true", "ab").network
    for last in ("", "s1 = previous s0 default 0\ns2 = not s1\ns3 = or s1 s2\n"):
        output = "s3" if last else "s0"
        for symbols, said in (
            ('["a", "b"]', ""),
            ('["a", "c"]', "other symbols"),
            ('["b", "a"]', "other symbols"),
        ):
            program = parse_program(f'alphabet {symbols}\ns0 = place ["number", "1"]\n{last}output {output}')
            language = ProgramLanguage(program, At.LAST, accepts_empty=False)
            if not said:
                prove(network, language)
                continue
            with pytest.raises(UnprovenError, match=said):
                prove(network, language)


def test_an_automaton_is_followed_beside_a_machine_only() -> None:
    network = attemper.compile("true", "ab").network
    dfa = parse_regex("[^]*", Alphabet(("a", "b")))
    for default, said in ((" default 0", "no machine's"), ("", "")):
        text = f'alphabet ["a", "b"]\ns0 = place ["number", "1"]\ns1 = previous s0{default}\noutput s0'
        realisation = Realisation(parse_program(text))
        if not said:
            prove(network, dfa, realisation)
            continue
        with pytest.raises(UnprovenError, match=said):
            prove(network, dfa, realisation)
