"""Cascades against the automata that they come from."""

from __future__ import annotations

import random
from collections import Counter as Tally
from dataclasses import replace

import pytest

from attemper.compiling.cascade import Cascade, Counter, Delay, Latch
from attemper.compiling.decomposing.bases import PositionCycle, by_place
from attemper.compiling.decomposing.decompose import decompose, labels_of, rows_of
from attemper.compiling.decomposing.flag import PeriodNeededError, flag_chain
from attemper.compiling.decomposing.limits import CascadeCaps
from attemper.compiling.decomposing.stages import CascadeQuestion, Images
from attemper.errors import UnsupportedError
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet, parse_alphabet
from tests.compiling.decomposing.verifying import check, configurations
from tests.support.drawn import automata
from tests.support.suites import Few

NAMED: dict[str, tuple[Dfa, int]] = {
    "empty": (automata.empty(), 0),
    "universal": (automata.universal(), 0),
    "(ab)*": (automata.ab_star(), 1),
    "a*b": (automata.a_star_b(), 2),
    "has aa": (automata.has_aa(), 2),
    "contains a^8": (automata.contains_power(8), 2),
    "contains abba or bab": (parse_regex("(a|b)*(abba|bab)(a|b)*", parse_alphabet("ab")), 2),
    "Dyck-1 depth 2": (automata.dyck(2), 2),
    "Dyck-1 depth 3": (automata.dyck(3), 2),
    "Dyck-1 depth 5": (automata.dyck(5), 3),
    "Dyck-1 depth 10": (automata.dyck(10), 6),
    "Dyck-2 depth 3": (automata.dyck(3, 2), 4),
    "Tomita 1": (automata.tomita(1), 1),
    "Tomita 2": (automata.tomita(2), 1),
    "Tomita 3": (automata.tomita(3), 4),
    "Tomita 4": (automata.tomita(4), 2),
    "Tomita 5": (automata.tomita(5), 2),
    "Tomita 6": (automata.tomita(6), 2),
    "Tomita 7": (automata.tomita(7), 3),
    "no odd run": (automata.no_odd_run(), 2),
    "block comments": (automata.block_comments(), 5),
    "all of five letters": (automata.contains_all(5), 1),
    "4th from the end": (automata.kth_from_end(4), 1),
    "date": (automata.iso_date(), 1),
    "parity": (automata.parity(), 2),
    "b's modulo 3": (automata.count_modulo(3), 2),
    "b's modulo 6": (automata.count_modulo(6), 2),
    "length modulo 5": (automata.length_modulo(5, "ab"), 0),
    "S3": (automata.word_problem("S3"), 4),
    "D4": (automata.word_problem("D4"), 2),
    "Q8": (automata.word_problem("Q8"), 2),
    "A4": (automata.word_problem("A4"), 4),
    "S4": (automata.word_problem("S4"), 4),
}
"""Automata, and with how many sublayers they are decomposed."""

CASCADE = CascadeCaps(counter=False)
"""Automata that are one counter get a cascade, too."""


@pytest.mark.sweep(8)
@pytest.mark.parametrize("name", NAMED)
def test_named_automata(name: str) -> None:
    dfa, sublayers = NAMED[name]
    cascade = decompose(dfa, CASCADE).chosen
    assert isinstance(cascade, Cascade)
    assert cascade.sublayers == sublayers
    short = 8 if len(dfa.alphabet.symbols) <= 2 else 4
    check(cascade, dfa, count=16, short=short, cap=5_000)


def test_small_automata_are_right_in_all_configurations() -> None:
    for name in ("a*b", "has aa", "Dyck-1 depth 5", "no odd run", "block comments", "S4", "Tomita 3"):
        dfa = NAMED[name][0]
        assert configurations(decompose(dfa).chosen, dfa, 5_000) is not None


@pytest.mark.sweep(0)
@pytest.mark.parametrize("seed", range(8))
def test_random_tables(seed: int) -> None:
    """Groups, collapses and both: what is not refused is right."""
    seen: Tally[str] = Tally()
    for number in range(seed * 25, seed * 25 + 25):
        draw = random.Random(number)
        family = draw.choice([automata.random_dfa, automata.random_near_permutations])
        dfa = family(number, draw.randint(2, 5), draw.randint(1, 3))
        try:
            cascade = decompose(dfa, CascadeCaps(symbols=1_000, rows_before_merging=20_000)).chosen
        except UnsupportedError:
            seen["refused"] += 1
            continue
        check(cascade, dfa, seed=number, count=4, short=4, cap=500)
        seen.update(_features(cascade))
    assert seen["refused"] <= 12
    assert seen["latches"]
    assert seen["counters"]
    assert seen["places"]


def _features(cascade: Cascade) -> set[str]:
    registers = [r for chain in cascade.chains for level in chain.levels for r in level.registers]
    kinds = {Latch: "latches", Counter: "counters", Delay: "delays"}
    places = {"places"} if cascade.prefix + cascade.period > 1 else set()
    return {kinds[type(register)] for register in registers} | places


def test_counter_free_automata_get_no_counters(few: Few) -> None:
    for seed in few(range(40), 14):
        draw = random.Random(seed)
        family = draw.choice([automata.random_r_trivial, automata.random_order_preserving])
        dfa = family(seed, draw.randint(2, 9), 2)
        cascade = decompose(dfa).chosen
        check(cascade, dfa, seed=seed, count=4, short=5, cap=300)
        assert "counters" not in _features(cascade)
    for seed in few(range(20), 7):
        dfa = automata.random_reset_cascade(seed, (2, 3, 2), 2)
        cascade = decompose(dfa).chosen
        check(cascade, dfa, seed=seed, count=4, short=5, cap=300)
        assert "counters" not in _features(cascade)


def regex(draw: random.Random, letters: str, depth: int) -> str:
    """A random regular expression."""
    if depth == 0 or draw.random() < 0.12:
        return draw.choice(letters)
    kind = draw.random()
    if kind < 0.5:
        return regex(draw, letters, depth - 1) + regex(draw, letters, depth - 1)
    if kind < 0.8:
        return f"({regex(draw, letters, depth - 1)}|{regex(draw, letters, depth - 1)})"
    return f"({regex(draw, letters, depth - 1)})*"


def regex_dfa(seed: int, least: int, most: int) -> Dfa:
    """The minimal automaton of a random regular expression; it has `least` to `most` states."""
    draw = random.Random(seed)
    while True:
        letters = draw.choice(["ab", "abc"])
        dfa = minimal(parse_regex(regex(draw, letters, draw.randint(4, 7)), parse_alphabet(letters)))
        if least <= len(dfa.moves) <= most:
            return dfa


@pytest.mark.sweep(4)
@pytest.mark.parametrize("seed", range(30))
def test_random_expressions(seed: int) -> None:
    dfa = regex_dfa(seed, 5, 30)
    check(decompose(dfa).chosen, dfa, seed=seed, count=8, short=5, cap=500)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("remembering", [0, 100_000])
def test_levels_that_forget_and_levels_that_do_not(remembering: int, few: Few) -> None:
    """Without forgetting, levels need several latches; with it, one."""
    most = 0
    for seed in few(range(12), 5):
        dfa = regex_dfa(seed, 5, 30)
        images = Images(dfa, CascadeCaps())
        codes = [int(state in dfa.accepting) for state in range(len(dfa.moves))]
        places = PositionCycle(0, 1)
        try:
            chain = flag_chain(
                by_place(places, images, carried=False), images, CascadeQuestion(codes), (), remembering
            )
        except PeriodNeededError as need:
            places = PositionCycle(0, need.period)
            chain = flag_chain(
                by_place(places, images, carried=True), images, CascadeQuestion(codes), (), remembering
            )
        check(Cascade(dfa.alphabet, 0, places.period, (chain,), frozenset({(1,)})), dfa, seed=seed, short=5)
        most = max(most, *(len(level.registers) for level in chain.levels))
    assert (most == 1) == (remembering == 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100))
def test_many_random_expressions(seed: int) -> None:
    dfa = regex_dfa(seed + 1_000, 5, 40)
    check(decompose(dfa).chosen, dfa, seed=seed, count=40, short=7, cap=5_000)


def test_one_letter_needs_no_attention() -> None:
    for seed in range(30):
        dfa = automata.random_dfa(seed, 12, 1)
        cascade = decompose(dfa).chosen
        assert cascade.sublayers == 0
        check(cascade, dfa, short=60, count=0)


def test_letters_that_act_alike_share_their_rows() -> None:
    alike = {"a": 0, "b": 1, "c": 1, "d": 1, "e": 0}
    two = automata.has_aa()
    moves = tuple(tuple(row[k] for k in alike.values()) for row in two.moves)
    dfa = Dfa(Alphabet(tuple(alike)), moves, two.start, two.accepting)
    cascade = decompose(dfa).chosen
    check(cascade, dfa)
    assert rows_of(cascade.chains) <= rows_of(decompose(two).chosen.chains) + 5


@pytest.mark.slow
def test_large_automata() -> None:
    dfa = automata.dyck(198)
    assert len(dfa.moves) == 200
    with pytest.raises(UnsupportedError, match="beyond the cap"):
        decompose(dfa, CASCADE)
    for large in (automata.length_modulo(200, "ab"), automata.kth_from_end(7), automata.contains_all(7)):
        check(decompose(large).chosen, large, short=2, cap=300)


@pytest.mark.sweep(0)
def test_a_group_that_is_not_solvable_is_refused_with_its_name() -> None:
    with pytest.raises(UnsupportedError, match=r"permute the states 0, 1, 2, 3, 4 .* factor A5"):
        decompose(automata.permuting(*automata.GENERATORS["A5"]))
    with pytest.raises(UnsupportedError, match="A5"):
        decompose(automata.word_problem("S5"))


@pytest.mark.sweep(1)
@pytest.mark.parametrize(("seed", "letters"), [(0, 2), (1, 3), (2, 2), (7, 3), (11, 3)])
def test_groups_too_large_at_once_are_counted_one_after_the_other(seed: int, letters: int) -> None:
    """A counter modulo 4 that one modulo 5 drives has a group of order 4^5 * 5, more than can be listed."""
    dfa = automata.random_cascade(seed, (("c", 5), ("r", 5), ("c", 4)), letters)
    found = decompose(dfa)
    assert "one after the other" in found.alternatives[-1].name
    refusals = [one.refusal for one in found.alternatives if one.refusal is not None]
    assert any("order 5120" in refusal for refusal in refusals)
    check(found.chosen, dfa, seed=seed, count=20, short=6, cap=3_000)


@pytest.mark.sweep(5)
@pytest.mark.parametrize(
    ("cap", "value"),
    [
        ("image_sets", 3),
        ("image_states", 9),
        ("symbols", 10),
        ("labels", 1),
        ("registers", 0),
        ("rows", 10),
        ("rows_before_merging", 20),
        ("levels", 1),
    ],
)
def test_each_limit_is_named_when_it_is_hit(cap: str, value: int) -> None:
    dfa = automata.dyck(6)
    decompose(dfa, CASCADE)
    with pytest.raises(
        UnsupportedError, match=rf"beyond the cap of {value}; raise it with limits=\{{'{cap}': "
    ):
        decompose(dfa, replace(CASCADE, **{cap: value}))


def test_the_choice_is_the_best_alternative() -> None:
    for name in ("Dyck-1 depth 5", "all of five letters", "contains a^8", "block comments"):
        found = decompose(NAMED[name][0])
        best = found.chosen.sublayers, rows_of(found.chosen.chains) + labels_of(found.chosen.chains)
        built = [a for a in found.alternatives if a.rows is not None]
        costs = [(a.sublayers, a.rows + a.labels) for a in built]  # type: ignore[operator]
        assert min(costs) <= best
        assert min(cost[0] for cost in costs) == best[0]


def test_the_result_is_the_same_every_time() -> None:
    for seed in range(5):
        dfa = regex_dfa(seed, 5, 20)
        assert decompose(dfa) == decompose(dfa)
