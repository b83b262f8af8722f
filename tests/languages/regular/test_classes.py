"""Image sets, permutation groups and classes, against brute force over all words' actions."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import permutations
from math import factorial

import pytest

from attemper.errors import AutomatonError, UnsupportedError
from attemper.languages.regular import groups
from attemper.languages.regular.classes import (
    Classification,
    Cycle,
    EqualLengths,
    Permuting,
    RegularClass,
    check_witness,
    classify,
    components,
    show_classification,
)
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.groups import Group, Permutation, compose, identity
from attemper.languages.regular.image_sets import image_sets, members
from attemper.languages.words import Alphabet
from tests.support.drawn import automata
from tests.support.oracles import monoids
from tests.support.suites import Few


def sample(seed: int) -> Dfa:
    """A random automaton of 2 to 5 states and 1 to 3 letters; every other one is close to permutations."""
    draw = random.Random(seed)
    family = automata.random_near_permutations if seed % 2 else automata.random_dfa
    return family(seed, draw.randint(2, 5), draw.randint(1, 3))


def kind_by_brute_force(dfa: Dfa) -> RegularClass:
    semigroup = monoids.transition_semigroup(dfa)
    if monoids.is_aperiodic(semigroup):
        return RegularClass.APERIODIC
    if monoids.is_quasi_aperiodic(dfa):
        return RegularClass.QUASI_APERIODIC
    return RegularClass.SOLVABLE if monoids.is_solvable(semigroup) else RegularClass.NON_SOLVABLE


def check_against_brute_force(dfa: Dfa) -> RegularClass:
    found = classify(dfa)
    assert found.kind is kind_by_brute_force(dfa)
    assert check_witness(dfa, found)
    if found.kind is RegularClass.QUASI_APERIODIC:
        assert found.modulus is not None
        assert monoids.is_aperiodic_modulo(dfa, found.modulus)
    if found.kind is not RegularClass.NON_SOLVABLE:
        semigroup = monoids.transition_semigroup(dfa)
        assert found.derived_length == monoids.greatest_derived_length(semigroup)
    return found.kind


def test_classes_agree_with_brute_force(few: Few) -> None:
    counts = Counter(check_against_brute_force(sample(seed)) for seed in few(range(150), 20))
    assert all(counts[kind] >= 4 * (counts.total() // 150) for kind in RegularClass), counts


@pytest.mark.slow
def test_classes_agree_with_brute_force_on_many() -> None:
    counts = Counter(check_against_brute_force(sample(seed)) for seed in range(2000))
    assert all(counts[kind] >= 50 for kind in RegularClass), counts


STAR_FREE = {
    **{f"Tomita {k}": automata.tomita(k) for k in (1, 2, 4, 7)},
    "(ab)*": automata.ab_star(),
    "a*b": automata.a_star_b(),
    "has aa": automata.has_aa(),
    "has a^8": automata.contains_power(8),
    "Dyck-1 to 3": automata.dyck(3),
    "Dyck-1 to 98": automata.dyck(98),
    "Dyck-2 to 3": automata.dyck(3, kinds=2),
    "all of 5 letters": automata.contains_all(5),
    "4th from the end": automata.kth_from_end(4),
    "ISO date": automata.iso_date(),
    "empty": automata.empty(),
    "universal": automata.universal(),
    "order-preserving": automata.random_order_preserving(1, 18, 2),
    "reset cascade": automata.random_reset_cascade(3, (2, 3, 2, 3), 3),
    "R-trivial": automata.random_r_trivial(1, 16, 3),
}


@pytest.mark.parametrize("dfa", STAR_FREE.values(), ids=STAR_FREE)
def test_star_free(dfa: Dfa) -> None:
    found = classify(dfa)
    assert (found.kind, found.modulus, found.derived_length) == (RegularClass.APERIODIC, 1, 0)
    assert found.groups == ()
    assert found.witness is None


def test_the_random_families_are_not_trivial() -> None:
    assert all(len(STAR_FREE[name].moves) > 5 for name in ("order-preserving", "reset cascade", "R-trivial"))


@pytest.mark.parametrize(
    ("dfa", "modulus", "word"),
    [
        (automata.no_odd_run(), 2, "1"),
        (automata.tomita(3), 2, "1"),
        (automata.length_modulo(2), 2, "a"),
        (automata.length_modulo(12, "ab"), 12, "a"),
        (automata.length_modulo(200), 200, "a"),
    ],
)
def test_quasi_aperiodic_but_not_star_free(dfa: Dfa, modulus: int, word: str) -> None:
    found = classify(dfa)
    assert (found.kind, found.modulus) == (RegularClass.QUASI_APERIODIC, modulus)
    assert isinstance(found.witness, Cycle)
    assert found.witness.word == tuple(word)
    assert check_witness(dfa, found)


@pytest.mark.parametrize(
    ("dfa", "names", "length"),
    [
        (automata.parity(), {"Z2"}, 1),
        (automata.count_modulo(6), {"Z6"}, 1),
        (automata.count_modulo(200), {"Z200"}, 1),
        (automata.tomita(5), {"Z2^2"}, 1),
        (automata.tomita(6), {"Z3"}, 1),
        (automata.block_comments(), {"Z3", "Z2"}, 1),
        (automata.word_problem("S3"), {"S3"}, 2),
        (automata.word_problem("D4"), {"D4"}, 2),
        (automata.word_problem("Q8"), {"Q8"}, 2),
        (automata.word_problem("A4"), {"A4"}, 2),
        (automata.word_problem("S4"), {"S4"}, 3),
    ],
)
def test_solvable(dfa: Dfa, names: set[str], length: int) -> None:
    found = classify(dfa)
    assert (found.kind, found.modulus, found.derived_length) == (RegularClass.SOLVABLE, None, length)
    assert {info.name for info in found.groups} == names
    assert isinstance(found.witness, EqualLengths)
    assert check_witness(dfa, found)


@pytest.mark.parametrize(
    ("dfa", "name", "factor"),
    [
        (automata.word_problem("A5"), "A5", "A5"),
        (automata.word_problem("S5"), "S5", "A5"),
        (automata.permuting((1, 2, 3, 4, 5, 6, 0), (1, 0, 2, 5, 4, 3, 6)), "A7", "A7"),
        (automata.permuting((*range(1, 50), 0), (1, 0, *range(2, 50))), "S50", "A50"),
        (automata.permuting((*range(1, 199), 0, 199), (0, *range(2, 200), 1)), "A200", "A200"),
    ],
)
def test_not_solvable(dfa: Dfa, name: str, factor: str) -> None:
    found = classify(dfa)
    assert (found.kind, found.modulus, found.derived_length) == (RegularClass.NON_SOLVABLE, None, None)
    assert isinstance(found.witness, Permuting)
    assert (found.groups[0].name, found.witness.factor) == (name, factor)
    assert f"factor {factor}" in found.reason
    assert check_witness(dfa, found)


def test_word_problems_have_a_state_for_each_element() -> None:
    orders = {"S3": 6, "S4": 24, "D4": 8, "Q8": 8, "A4": 12, "A5": 60, "S5": 120}
    assert {name: len(automata.word_problem(name).moves) for name in automata.GENERATORS} == orders


def test_wrong_witnesses_are_noticed() -> None:
    def broken(dfa: Dfa, found: Classification, **changes: object) -> bool:
        assert found.witness is not None
        return not check_witness(dfa, replace(found, witness=replace(found.witness, **changes)))  # type: ignore[arg-type]

    runs = automata.no_odd_run()
    found = classify(runs)
    assert broken(runs, found, word=("0",))
    assert broken(runs, found, states=(0,))
    assert broken(runs, found, states=(0, 0))
    assert broken(runs, found, states=(0, 2))
    assert not check_witness(runs, replace(found, witness=None))
    assert not check_witness(runs, replace(found, kind=RegularClass.SOLVABLE))
    parity = automata.parity()
    found = classify(parity)
    assert broken(parity, found, idle=("b",))
    assert broken(parity, found, idle=("a", "a"))
    assert broken(parity, found, moving=("a",))
    assert not check_witness(parity, replace(found, kind=RegularClass.QUASI_APERIODIC))
    five = automata.word_problem("A5")
    found = classify(five)
    assert broken(five, found, factor="A6")
    assert broken(five, found, words=(("a",),))
    assert broken(five, found, states=(0, 1))
    assert not check_witness(five, replace(found, kind=RegularClass.SOLVABLE))


def test_texts() -> None:
    assert show_classification(classify(automata.ab_star())) == (
        "star-free: no word permutes states: order alone is enough"
    )
    text = show_classification(classify(automata.parity()))
    assert text.splitlines()[1:] == [
        "b takes each state to the next in the cycle 0, 1",
        "a, of the same length, keeps these states",
    ]
    text = show_classification(classify(automata.word_problem("A5")))
    assert "with the factor A5" in text
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... (60 in all)" in text


def test_an_automaton_that_is_not_minimal_is_refused() -> None:
    twice = Dfa(Alphabet(("a",)), ((1,), (0,)), 0, frozenset({0, 1}))
    with pytest.raises(AutomatonError, match="minimal"):
        classify(twice)


def test_the_cap_on_image_sets() -> None:
    dfa = automata.kth_from_end(4)
    exact = len(image_sets(dfa).masks)
    assert len(image_sets(dfa, exact).masks) == exact
    with pytest.raises(UnsupportedError, match=f"more than {exact - 1} image sets"):
        image_sets(dfa, exact - 1)
    with pytest.raises(UnsupportedError, match="more than 20 image sets"):
        classify(dfa, 20)


@pytest.mark.sweep(25)
@pytest.mark.parametrize("seed", range(60))
def test_image_sets_by_brute_force(seed: int) -> None:
    dfa = sample(seed)
    sets = image_sets(dfa)
    images = {frozenset(action) for action in monoids.transition_monoid(dfa)}
    wanted = images | {frozenset({state}) for state in range(len(dfa.moves))}
    assert len(sets.masks) == len(wanted)
    assert {frozenset(members(mask)) for mask in sets.masks} == wanted
    assert members(sets.masks[0]) == tuple(range(len(dfa.moves)))
    for here, row in enumerate(sets.moves):
        assert sets.index[sets.masks[here]] == here
        for letter, there in enumerate(row):
            states = {dfa.moves[state][letter] for state in members(sets.masks[here])}
            assert set(members(sets.masks[there])) == states
            assert sets.component[here] <= sets.component[there]
    reached = [_reached_from(sets.moves, here) for here in range(len(sets.masks))]
    for here in range(len(sets.masks)):
        for there in range(len(sets.masks)):
            both = there in reached[here] and here in reached[there]
            assert (sets.component[here] == sets.component[there]) == both
    assert set(sets.component) == set(range(max(sets.component) + 1))


def _reached_from(moves: tuple[tuple[int, ...], ...], start: int) -> set[int]:
    found, waiting = {start}, [start]
    while waiting:
        for target in moves[waiting.pop()]:
            if target not in found:
                found.add(target)
                waiting.append(target)
    return found


@pytest.mark.parametrize("dfa", [sample(seed) for seed in range(60)] + [automata.word_problem("S4")])
def test_components(dfa: Dfa) -> None:
    sets = image_sets(dfa)
    parts = components(dfa, sets)
    assert [part.number for part in parts] == list(range(max(sets.component) + 1))
    assert sorted(s for part in parts for s in part.paths) == list(range(len(sets.masks)))
    for part in parts:
        assert part.points == members(sets.masks[part.representative])
        for here, path in part.paths.items():
            assert sorted(path) == list(members(sets.masks[here]))
            if here != part.representative:
                before, letter = part.last[here]
                assert path == tuple(dfa.moves[state][letter] for state in part.paths[before])
                assert part.depth[here] == part.depth[before] + 1
                assert part.steps[before, letter] == (identity(len(path)), 0)
            for letter, there in enumerate(sets.moves[here]):
                assert (sets.component[there] == part.number) == ((here, letter) in part.steps)
        for (here, letter), (g, length) in part.steps.items():
            there = sets.moves[here][letter]
            moved = tuple(dfa.moves[state][letter] for state in part.paths[here])
            assert moved == tuple(part.paths[there][place] for place in g)
            assert length == 1 + part.depth[here] - part.depth[there]
        if part.cycle is not None:
            h, d = part.cycle
            assert d >= 1
            for g, length in part.steps.values():
                assert length % d == 0
                assert g == groups.power(h, length // d)


def _group(seed: int) -> Group:
    draw = random.Random(seed)
    degree = draw.randint(1, 5)
    drawn = [tuple(draw.sample(range(degree), degree)) for _ in range(draw.randint(0, 3))]
    return Group(degree, tuple(drawn))


@pytest.mark.sweep(18)
@pytest.mark.parametrize("seed", range(80))
def test_groups_by_brute_force(seed: int) -> None:
    group = _group(seed)
    elements = monoids.generated([*group.generators, identity(group.degree)])
    assert group.order == len(elements)
    assert group.elements == tuple(sorted(elements))
    assert {p for p in permutations(range(group.degree)) if p in group} == elements
    assert group.is_abelian == all(compose(p, q) == compose(q, p) for p in elements for q in elements)
    assert Group(group.degree, group.irredundant).order == group.order
    series = monoids.derived_orders(elements)
    assert [smaller.order for smaller in groups.derived_series(group)] == series
    assert (groups.nonabelian_factor(group) is None) == (series[-1] == 1)


@pytest.mark.parametrize("seed", range(40))
def test_permutations_by_brute_force(seed: int) -> None:
    draw = random.Random(seed)
    p, q = (tuple(draw.sample(range(6), 6)) for _ in range(2))
    assert compose(p, q) == tuple(q[p[point]] for point in range(6))
    assert compose(p, groups.inverse(p)) == identity(6)
    repeated, powers = identity(6), [identity(6)]
    while (repeated := compose(repeated, p)) != identity(6):
        powers.append(repeated)
    assert groups.order_of(p) == len(powers)
    assert all(groups.power(p, k) == powers[k % len(powers)] for k in range(-7, 14))
    inversions = sum(p[i] > p[j] for j in range(6) for i in range(j))
    assert groups.is_odd(p) == (inversions % 2 == 1)


def _on_vectors(*maps: tuple[int, ...]) -> Group:
    """Affine maps of the bit vectors of length n: the images of the unit vectors, then the shift."""
    n = len(maps[0]) - 1

    def image(vector: int, given: tuple[int, ...]) -> int:
        value = given[-1]
        for bit in range(n):
            if vector >> bit & 1:
                value ^= given[bit]
        return value

    return Group(1 << n, tuple(tuple(image(v, given) for v in range(1 << n)) for given in maps))


def _side_by_side(left: Group, right: Group) -> Group:
    """The first generators act together, so do the second, and so on."""
    pairs = zip(left.generators, right.generators, strict=True)
    return Group(
        left.degree + right.degree, tuple((*p, *(left.degree + image for image in q)) for p, q in pairs)
    )


def _mobius(prime: int) -> Group:
    """PSL(2, p) on the p + 1 points of the projective line: z -> z + 1 and z -> -1/z."""
    shift = (*((z + 1) % prime for z in range(prime)), prime)
    turn = [-pow(z, -1, prime) % prime if z else prime for z in range(prime)]
    return Group(prime + 1, (shift, (*turn, 0)))


def _on_pairs_of_residues() -> Group:
    """SL(2, 5) on the 24 vectors other than zero."""
    vectors = [(x, y) for x in range(5) for y in range(5) if (x, y) != (0, 0)]
    maps = [lambda x, y: ((x + y) % 5, y), lambda x, y: (-y % 5, x)]
    return Group(24, tuple(tuple(vectors.index(move(*vector)) for vector in vectors) for move in maps))


A5_GENERATORS = automata.GENERATORS["A5"]
A5 = Group(5, A5_GENERATORS)
SL3 = ((2, 1, 4, 0), (2, 4, 1, 0), (3, 2, 4, 0))
M11: tuple[Permutation, ...] = (
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0),
    (0, 1, 6, 9, 5, 3, 10, 2, 8, 4, 7),
)


@pytest.mark.parametrize(
    ("group", "order", "factor"),
    [
        (A5, 60, "A5"),
        (_mobius(5), 60, "A5"),
        (_mobius(7), 168, "PSL(2,7)"),
        (_mobius(11), 660, "PSL(2,11)"),
        (_mobius(13), 1092, "PSL(2,13)"),
        (_on_pairs_of_residues(), 120, "A5"),
        (_on_vectors(*SL3), 168, "PSL(2,7)"),
        (_on_vectors(*SL3, (1, 2, 4, 1)), 1344, "PSL(2,7)"),
        (_side_by_side(A5, Group(5, A5_GENERATORS[::-1])), 3600, "A5"),
        (
            Group(10, ((1, 2, 0, *range(3, 10)), (1, 2, 3, 4, 0, *range(5, 10)), (*range(5, 10), *range(5)))),
            7200,
            "A5",
        ),
        (Group(7, ((1, 2, 3, 4, 5, 6, 0), (1, 2, 0, 3, 4, 5, 6))), 2520, "A7"),
        (Group(11, M11), 7920, "a non-abelian simple factor of a perfect group of order 7920"),
    ],
)
def test_factors(group: Group, order: int, factor: str) -> None:
    assert group.order == order
    assert groups.nonabelian_factor(group) == factor


def test_names() -> None:
    assert groups.name_of(Group(3, ())) == "trivial"
    assert groups.name_of(Group(5, ((1, 0, 3, 4, 2),))) == "Z6"
    assert groups.name_of(Group(6, ((1, 0, 2, 3, 4, 5), (0, 1, 3, 2, 5, 4)))) == "Z2^2"
    assert groups.name_of(Group(6, ((1, 2, 3, 0, 4, 5), (0, 1, 2, 3, 5, 4)))) == "abelian of order 8"
    assert groups.name_of(Group(6, ((1, 2, 3, 4, 5, 0), (0, 5, 4, 3, 2, 1)))) == "of order 12"
    assert groups.name_of(_mobius(7)) == "PSL(2,7)"
    assert groups.name_of(_on_pairs_of_residues()) == "of order 120"
    # Order 120, no centre, and a derived subgroup of order 60; but solvable.
    s4 = Group(4, ((1, 2, 3, 0), (1, 2, 0, 3), (0, 1, 2, 3)))
    d5 = Group(5, ((0, 4, 3, 2, 1), (0, 1, 2, 3, 4), (1, 2, 3, 4, 0)))
    lookalike = _side_by_side(s4, d5)
    assert (lookalike.order, groups.derived_subgroup(lookalike).order) == (120, 60)
    assert groups.name_of(lookalike) == "of order 120"


@pytest.mark.parametrize("n", [3, 4, 5, 7, 8, 9, 12, 20])
def test_symmetric_and_alternating_groups(n: int) -> None:
    turn, swap, three = (*range(1, n), 0), (1, 0, *range(2, n)), (1, 2, 0, *range(3, n))
    everything = Group(n, (turn, swap))
    assert everything.order == factorial(n)
    assert groups.name_of(everything) == f"S{n}"
    assert groups.derived_subgroup(everything).order == factorial(n) // 2
    rest = turn if n % 2 else (0, *range(2, n), 1)
    assert Group(n, (rest, three)).order == factorial(n) // 2


def test_giants_are_recognised_but_nothing_else() -> None:
    assert all(groups.is_giant(Group(n, ((*range(1, n), 0), (1, 0, *range(2, n))))) for n in range(8, 60))
    assert not any(groups.is_giant(_mobius(p)) for p in (7, 11, 13, 17))
    assert not groups.is_giant(Group(11, M11))
    assert not groups.is_giant(Group(20, ((*range(1, 20), 0),)))


def test_large_groups_are_not_listed() -> None:
    turn, swap, still = (*range(1, 50), 0), (1, 0, *range(2, 50)), identity(50)
    both = _side_by_side(Group(50, (turn, swap)), Group(50, (swap, turn)))
    assert groups.nonabelian_factor(both) == "A50"
    pairs = [tuple(2 * p[k // 2] + k % 2 for k in range(100)) for p in (turn, swap, still)]
    assert groups.nonabelian_factor(Group(100, (*pairs, (1, 0, *range(2, 100))))) == "A50"


def test_a_group_too_large_to_measure_is_classified(monkeypatch: pytest.MonkeyPatch) -> None:
    turn, swap = (*range(1, 20), 0), (1, 0, *range(2, 20))
    both = _side_by_side(Group(20, (turn, swap)), Group(20, (swap, turn)))
    # The third letter leads to the other half, for good, so that all states are reached.
    dfa = automata.from_rows("abc", list(zip(*both.generators, (20,) * 40, strict=True)), [0, 20])
    assert len(dfa.moves) == 40
    monkeypatch.setattr(groups, "SIFTED", 10)
    found = classify(dfa)
    assert found.kind is RegularClass.NON_SOLVABLE
    assert [(info.degree, info.order, info.name) for info in found.groups] == [(40, None, "a large group")]
    assert check_witness(dfa, found)


def test_caps_of_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    seven = Group(7, ((1, 2, 3, 4, 5, 6, 0), (1, 0, 2, 3, 4, 5, 6)))
    with pytest.raises(UnsupportedError, match="order 5040 has more than 5000"):
        _ = seven.elements
    monkeypatch.setattr(groups, "SIFTED", 10)
    with pytest.raises(UnsupportedError, match="more than 10 Schreier generators"):
        _ = Group(7, seven.generators).order


def test_sizes_of_monoids_against_libsemigroups() -> None:
    outside = pytest.importorskip("libsemigroups_pybind11")
    for seed in range(150):
        dfa = sample(seed)
        if len(dfa.moves) > 1:
            letters = [outside.Transf(list(action)) for action in monoids.letters(dfa)]
            assert outside.FroidurePin(letters).size() == len(monoids.transition_semigroup(dfa))
