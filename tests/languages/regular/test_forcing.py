"""Forcing numbers of automata: against all restrictions, all sets without pruning, and the classes."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path

import pytest

from attemper.errors import UnsupportedError
from attemper.languages.regular import forcing
from attemper.languages.regular.classes import RegularClass, classify
from attemper.languages.regular.dfa import Dfa
from attemper.languages.regular.files import dfa_to_json
from attemper.languages.regular.forcing import ForcingGrowth, forcing_number, growth
from attemper.languages.regular.minimal import minimal
from attemper.languages.regular.regex import parse_regex
from attemper.languages.words import Alphabet, parse_alphabet, words_of_length
from tests.support.cli.command_line import attemper
from tests.support.drawn import automata
from tests.support.slowly import every_nth

Restriction = tuple[str | None, ...]

SYMBOLS = "abc"


def random_dfas(seed: int, count: int, most_states: int, letters: tuple[int, ...] = (1, 2, 3)) -> list[Dfa]:
    """Random tables, unreachable states included; some with letters that are permutations."""
    draw = random.Random(seed)
    found = []
    for _ in range(count):
        states, width = draw.randint(1, most_states), draw.choice(letters)
        columns = [
            draw.sample(range(states), states)
            if draw.random() < 0.5
            else [draw.randrange(states) for _ in range(states)]
            for _ in range(width)
        ]
        density = draw.choice((0.1, 0.5, 0.9))
        accepting = frozenset(q for q in range(states) if draw.random() < density)
        moves = tuple(zip(*columns, strict=True))
        found.append(Dfa(Alphabet(tuple(SYMBOLS[:width])), moves, draw.randrange(states), accepting))
    return found


def outcomes(dfa: Dfa, restriction: Restriction) -> set[bool]:
    """What the words that agree with a restriction are: all of them, one by one."""
    choices = [dfa.alphabet.symbols if symbol is None else (symbol,) for symbol in restriction]
    return {dfa.accepts(word) for word in product(*choices)}


def least_of_all(dfa: Dfa, n: int) -> int:
    """The forcing number, from all restrictions of all words."""

    @cache
    def seen(restriction: Restriction) -> frozenset[bool]:
        if None not in restriction:
            return frozenset({dfa.accepts(tuple(s for s in restriction if s is not None))})
        place = restriction.index(None)
        before, after = restriction[:place], restriction[place + 1 :]
        return frozenset().union(*(seen((*before, symbol, *after)) for symbol in dfa.alphabet.symbols))

    restrictions: list[Restriction] = list(product((*dfa.alphabet.symbols, None), repeat=n))
    return min(n - r.count(None) for r in restrictions if len(seen(r)) == 1)


def by_all_sets(dfa: Dfa, longest: int) -> tuple[list[int], int]:
    """The forcing numbers up to a length, keeping every set of states; and how many sets there were."""
    costs: dict[frozenset[int], int] = {frozenset({dfa.start}): 0}
    found, seen = [], set(costs)
    for _ in range(longest + 1):
        found.append(min(cost for s, cost in costs.items() if s <= dfa.accepting or not s & dfa.accepting))
        after: dict[frozenset[int], int] = {}
        for s, cost in costs.items():
            images = [frozenset(dfa.moves[q][a] for q in s) for a in range(len(dfa.alphabet.symbols))]
            for target, total in [(frozenset().union(*images), cost), *((i, cost + 1) for i in images)]:
                after[target] = min(total, after.get(target, total))
        costs = after
        seen |= set(costs)
    return found, len(seen)


# One length -------------------------------------------------------------------------------------------


@pytest.mark.sweep(18)
@pytest.mark.parametrize("dfa", random_dfas(1, 80, 6))
def test_against_all_restrictions_of_all_words(dfa: Dfa) -> None:
    for n in range(7 if len(dfa.alphabet.symbols) < 3 else 5):
        found = forcing_number(dfa, n)
        assert found.fixed == least_of_all(dfa, n)
        assert len(found.restriction) == n
        assert found.fixed == n - found.restriction.count(None)
        assert outcomes(dfa, found.restriction) == {found.member}


@pytest.mark.parametrize("dfa", random_dfas(2, 30, 8))
def test_nothing_that_is_pruned_is_needed(dfa: Dfa, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = by_all_sets(dfa, 30)[0]
    for pruners in (0, 1, 64):
        monkeypatch.setattr(forcing, "PRUNERS", pruners)
        assert [forcing_number(dfa, n).fixed for n in range(31)] == expected


def test_words_of_no_and_of_one_symbol() -> None:
    for accepts in (True, False):
        dfa = Dfa(Alphabet(("a", "b")), ((0, 1), (1, 1)), 0, frozenset({0} if accepts else {1}))
        assert forcing_number(dfa, 0) == forcing.ForcingNumber(0, (), accepts)
        assert forcing_number(dfa, 1).fixed == 1
    with pytest.raises(ValueError, match="length -1"):
        forcing_number(automata.parity(), -1)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_one_letter_leaves_nothing_to_fix(k: int) -> None:
    dfa = automata.length_modulo(k)
    for n in range(9):
        assert forcing_number(dfa, n) == forcing.ForcingNumber(0, (None,) * n, n % k == 0)
    assert growth(dfa) == ForcingGrowth((Fraction(0),), 0)


@pytest.mark.parametrize(("dfa", "member"), [(automata.empty(), False), (automata.universal(), True)])
def test_empty_and_universal_languages(dfa: Dfa, member: bool) -> None:
    for n in (0, 1, 50):
        assert forcing_number(dfa, n) == forcing.ForcingNumber(0, (None,) * n, member)
    assert growth(dfa) == ForcingGrowth((Fraction(0),), 0)


def test_states_that_no_word_reaches_or_tells_apart_change_nothing() -> None:
    for dfa in random_dfas(3, 20, 6):
        assert growth(dfa) == growth(minimal(dfa))
        assert forcing_number(dfa, 9) == forcing_number(minimal(dfa), 9)


def modulo(k: int, n: int) -> int:
    """The number of b is 1 at least, for one that is fixed, and takes j + 1 values for j free symbols.

    None of them is divisible by k up to j = k - 2; from then on some are, and some are not.
    """
    return max(1, n - (k - 2)) if n else 0


@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_counting_modulo_a_number_needs_nearly_all_symbols(k: int) -> None:
    dfa = automata.count_modulo(k)
    assert [forcing_number(dfa, n).fixed for n in range(30)] == [modulo(k, n) for n in range(30)]
    assert growth(dfa) == ForcingGrowth((Fraction(1),), None)
    assert growth(dfa).sensitive


KNOWN = {
    "1*": ("1*", "01", 1),
    "a*b*": ("a* b*", "ab", 2),
    "a*b": ("a* b", "ab", 1),
    "(ab)*": ("(a b)*", "ab", 1),
    "three in a row": (".* a a a .*", "ab", 3),
    "runs of 1s are even": ("(0|11)*", "01", 2),
    "a first, then evenly many b": ("a (b a* b | a)*", "ab", 1),
}


@pytest.mark.parametrize("name", KNOWN)
def test_languages_that_few_symbols_decide(name: str) -> None:
    regex, alphabet, most = KNOWN[name]
    dfa = parse_regex(regex, parse_alphabet(alphabet))
    assert growth(dfa) == ForcingGrowth((Fraction(0),), most)
    assert not growth(dfa).sensitive
    assert max(forcing_number(dfa, n).fixed for n in range(13)) == most


@pytest.mark.parametrize(("depth", "kinds"), [(1, 1), (3, 1), (20, 1), (198, 1), (1, 2), (3, 2)])
def test_brackets_of_bounded_depth(depth: int, kinds: int) -> None:
    """A closing bracket first decides, and nothing has to be fixed where no words are balanced."""
    dfa = automata.dyck(depth, kinds)
    assert [forcing_number(dfa, n).fixed for n in range(9)] == [0, 0, 1, 0, 1, 0, 1, 0, 1]
    assert growth(dfa) == ForcingGrowth((Fraction(0),), 1)


# All lengths ------------------------------------------------------------------------------------------


def predicted(found: ForcingGrowth, n: int) -> Fraction:
    return found.slopes[n % len(found.slopes)]


GROWING = [
    *random_dfas(4, 90, 6, (2, 3)),
    *(automata.permuting(*generators) for generators in automata.GENERATORS.values()),
    *(automata.random_near_permutations(seed, 5, 2) for seed in range(40)),
    *(automata.random_cascade(seed, (("c", 3), ("r", 2)), 2) for seed in range(20)),
    *(automata.random_cascade(seed, (("c", 2), ("c", 2)), 2) for seed in range(20)),
]


@pytest.mark.sweep(4)
@pytest.mark.parametrize("dfa", every_nth(GROWING, 4))
def test_growth_against_forcing_numbers(dfa: Dfa) -> None:
    """Up to 40 as proved, f(n) >= l (n - sets); far away f grows by l times the length, round by round."""
    found = growth(dfa)
    period = len(found.slopes)
    round_ = 840 * period
    far = 120
    values, sets = by_all_sets(dfa, far + round_ + period - 1)
    for n in range(41):
        assert forcing_number(dfa, n).fixed == values[n]
        assert values[n] >= predicted(found, n) * (n - sets)
    for n in range(far, far + period):
        assert values[n + round_] - values[n] == predicted(found, n) * round_
    assert found.bounded == (None if found.sensitive else max(values))
    assert all(found.slopes != found.slopes[:p] * (period // p) for p in range(1, period) if period % p == 0)


def test_random_automata_are_not_all_alike() -> None:
    """The sweep above meets bounds, slopes strictly between 0 and 1, and classes of lengths that differ."""
    found = [growth(dfa) for dfa in GROWING]
    assert sum(one.bounded is None for one in found) > 10
    assert {one.bounded for one in found} >= {0, 1, 2, 3}
    assert any(0 < slope < 1 for one in found for slope in one.slopes)
    assert any(0 in one.slopes and one.sensitive for one in found)


SLOPES = {
    "S3": (automata.permuting(*automata.GENERATORS["S3"]), ("1/2",)),
    "A4": (automata.permuting(*automata.GENERATORS["A4"]), ("2/3",)),
    "A5": (automata.permuting(*automata.GENERATORS["A5"]), ("1/3",)),
    "word problem of D4": (automata.word_problem("D4"), ("1/2", "0")),
    "word problem of Q8": (automata.word_problem("Q8"), ("1", "0")),
    "a parity at odd lengths": (
        parse_regex("(..)* | (0|1 0* 1)*", parse_alphabet("01")),
        ("0", "1"),
    ),
}


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_groups(name: str) -> None:
    dfa, slopes = SLOPES[name]
    found = growth(dfa)
    assert found == ForcingGrowth(tuple(map(Fraction, slopes)), None)
    assert found.slope == max(map(Fraction, slopes))
    values = by_all_sets(dfa, 80)[0]
    for n in range(60):
        assert abs(values[n] - predicted(found, n) * n) <= 4


def test_the_bound_of_a_long_period() -> None:
    """Lengths modulo 2, 3, 5 and 7 together, each deciding another part; 210 classes, one of them parity."""
    clock = parse_regex("~((..)* & (...)* & (.{5})* & (.{7})*) | (0|1 0* 1)*", parse_alphabet("01"))
    found = growth(clock)
    assert found.slopes == (Fraction(1), *(Fraction(0),) * 209)
    assert [forcing_number(clock, n).fixed for n in (209, 210, 211)] == [0, 210, 0]


# What follows from the classes ---------------------------------------------------------------------------


def classified_dfas() -> list[Dfa]:
    seeds = range(25)
    return [
        *(automata.random_dfa(seed, 5, 2) for seed in seeds),
        *(automata.random_near_permutations(seed, 5, 2) for seed in seeds),
        *(automata.random_order_preserving(seed, 6, 2) for seed in seeds),
        *(automata.random_reset_cascade(seed, (2, 3), 2) for seed in seeds),
        *(automata.random_r_trivial(seed, 7, 2) for seed in seeds),
        *(automata.random_cascade(seed, (("c", 2), ("r", 2)), 2) for seed in seeds),
    ]


def test_quasi_aperiodic_languages_are_not_sensitive() -> None:
    """They are recognised with hard attention, so nothing else may come out; the sensitive ones count."""
    kinds: dict[bool, set[RegularClass]] = {True: set(), False: set()}
    for dfa in classified_dfas():
        kinds[growth(dfa).sensitive].add(classify(minimal(dfa)).kind)
    assert kinds[True] <= {RegularClass.SOLVABLE, RegularClass.NON_SOLVABLE}
    assert kinds[True]
    assert kinds[False] >= {RegularClass.APERIODIC, RegularClass.QUASI_APERIODIC, RegularClass.SOLVABLE}


# Caps ---------------------------------------------------------------------------------------------------


def test_caps_are_named() -> None:
    with pytest.raises(UnsupportedError, match="more than 3 sets of states"):
        growth(automata.count_modulo(5), limit=3)
    with pytest.raises(UnsupportedError, match="more than 3 sets of states"):
        forcing_number(automata.count_modulo(5), 20, limit=3)


def test_a_graph_that_is_too_large_may_still_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brackets 10 deep have many sets, but few of them are needed for a bound."""
    dfa = automata.dyck(10)
    with monkeypatch.context() as without:
        without.setattr(forcing, "_greatest", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            growth(dfa, limit=40)
    assert growth(dfa, limit=40) == growth(dfa) == ForcingGrowth((Fraction(0),), 1)


def test_other_caps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forcing, "PERIOD", 2)
    with pytest.raises(UnsupportedError, match="more than 2 classes of lengths"):
        growth(parse_regex("(...)* & (0|1 0* 1)*", parse_alphabet("01")))
    monkeypatch.setattr(forcing, "VISITS", 10)
    with pytest.raises(UnsupportedError, match="more than 10 sets of states at one length"):
        forcing_number(automata.parity(), 20)


# The command line ---------------------------------------------------------------------------------------


def classified(tmp_path: Path, dfa: Dfa) -> tuple[str, dict[str, object]]:
    """The last line that `attemper classify` prints, and its JSON entry."""
    path = tmp_path / "automaton.json"
    path.write_text(dfa_to_json(dfa), encoding="utf-8")
    text = attemper("classify", f"dfa:{path}")
    assert text.code == 0
    return text.out.splitlines()[-1], attemper("classify", f"dfa:{path}", "--json").record["forcing"]


def test_classify_says_what_is_out_of_reach(tmp_path: Path) -> None:
    line, record = classified(tmp_path, automata.parity())
    assert line == (
        "sensitive: hard attention cannot recognise it (Hahn 2020, Theorem 1): "
        "the forcing number is 100 at n = 100 and grows like n"
    )
    assert record == {
        "n": 100,
        "fixed": 100,
        "sensitive": True,
        "slope": "1",
        "slopes": ["1"],
        "bounded": None,
        "not_computed": None,
    }


def test_classify_says_for_which_lengths(tmp_path: Path) -> None:
    line, record = classified(tmp_path, automata.word_problem("D4"))
    assert line.endswith("the forcing number is 50 at n = 100 and grows like 1/2 n where n mod 2 is 0")
    assert record["slopes"] == ["1/2", "0"]


def test_classify_says_how_few_symbols_decide(tmp_path: Path) -> None:
    line, record = classified(tmp_path, automata.has_aa())
    assert line == (
        "forced by 2 symbols at n = 100, and by at most 2 symbols at every length: "
        "this alone does not say whether hard attention can recognise it"
    )
    assert (record["fixed"], record["bounded"], record["sensitive"]) == (2, 2, False)


@pytest.mark.sweep(0)
def test_classify_goes_on_without_forcing_numbers(tmp_path: Path) -> None:
    line, record = classified(tmp_path, automata.word_problem("A5"))
    assert line.startswith(
        "forcing numbers not computed: forcing numbers need more than 20000 sets of states"
    )
    assert record["fixed"] is None
    assert record["sensitive"] is None
    assert "20000 sets" in str(record["not_computed"])


def test_classify_says_what_it_could_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond the caps of one length or of all lengths alone, the other is printed."""
    with monkeypatch.context() as capped:
        capped.setattr(forcing, "VISITS", 90)
        line, record = classified(tmp_path, automata.parity())
        assert line.endswith("(Hahn 2020, Theorem 1): the forcing number grows like n")
        assert (record["fixed"], record["sensitive"]) == (None, True)
        assert "more than 90 sets" in str(record["not_computed"])
        line, record = classified(tmp_path, automata.has_aa())
        assert line.startswith("forced by at most 2 symbols at every length: ")
    monkeypatch.setattr(forcing, "PERIOD", 2)
    line, record = classified(tmp_path, parse_regex("(...)* & (0|1 0* 1)*", parse_alphabet("01")))
    assert line.startswith("forced by 0 symbols at n = 100; at other lengths not computed: forcing numbers")
    assert (record["fixed"], record["bounded"], record["sensitive"]) == (0, None, None)


def test_all_words_of_a_restriction_agree() -> None:
    """The restriction of a long word decides random words that agree with it."""
    draw = random.Random(5)
    for dfa in random_dfas(6, 20, 8, (2, 3)):
        found = forcing_number(dfa, 60)
        for _ in range(20):
            word = tuple(draw.choice(dfa.alphabet.symbols) if s is None else s for s in found.restriction)
            assert dfa.accepts(word) is found.member


def test_the_oracle_of_these_tests() -> None:
    """For the majority of three symbols, two decide."""
    majority = parse_regex("11.|1.1|.11", parse_alphabet("01"))
    assert {dfa_word for dfa_word in words_of_length(majority.alphabet, 3) if majority.accepts(dfa_word)} == {
        ("1", "1", "0"),
        ("1", "0", "1"),
        ("0", "1", "1"),
        ("1", "1", "1"),
    }
    assert least_of_all(majority, 3) == by_all_sets(majority, 3)[0][3] == 2
