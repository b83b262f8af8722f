"""Floors on cross-entropies: below the exact cross-entropy of every model tried, and attained by tables."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, product
from random import Random

import flint
import pytest

from attemper.errors import OptionError
from attemper.exact.balls import ball, precision
from attemper.languages.sources.bracket_levels import (
    last_symbol_excess,
    query_excess,
    star_excess,
    type_excess,
)
from attemper.languages.sources.entropies import PRECISION, log_odds
from attemper.languages.sources.levels import last_symbols, optimum
from attemper.languages.sources.pairs import gain, least_loss, mean_least_loss
from attemper.languages.sources.values import Brackets, Parity, Source
from attemper.languages.words import Word
from attemper.theories.influence.check.floors import (
    Readout,
    atypical,
    cross_entropy_floor,
    margin_impossible_from,
    recogniser_floor,
    typical_floor,
)
from tests.support.oracles.sources import PAIRS, after, law, remembered, shows, unmatched

HALF = Parity(Fraction(1, 2), odd=False)
TWO_FIFTHS = Brackets(Fraction(2, 5))

Model = Mapping[Word, flint.arb]
"""END's log-odds against 0 and 1, which a model of PARITY puts out after each prefix."""


def softplus(t: flint.arb) -> flint.arb:
    return (1 + t.exp()).log()


def loss(source: Parity, prefix: Word, log_odds_of_end: flint.arb) -> flint.arb:
    """The expected loss after a prefix, 0 and 1 being as likely as each other where END does not come."""
    ended = ball(after(source, prefix).get("END", Fraction(0)))
    other = softplus(log_odds_of_end) + flint.arb.const_log2()
    return ended * softplus(-log_odds_of_end) + (1 - ended) * other


def cross_entropy(source: Parity, model: Model, n: int) -> flint.arb:
    with precision(PRECISION):
        shares = law(source, n)
        terms = (ball(share) * loss(source, prefix, model[prefix]) for prefix, share in shares.items())
        return sum(terms, flint.arb(0))


def exchanged(prefix: Word, place: int) -> Word:
    return (*prefix[:place], "0" if prefix[place] == "1" else "1", *prefix[place + 1 :])


def change(model: Model, prefix: Word, place: int) -> flint.arb:
    with precision(PRECISION):
        return abs(model[prefix] - model[exchanged(prefix, place)])


def greatest(values: list[flint.arb]) -> flint.arb:
    found = flint.arb(0)
    for value in values:
        found = found.max(value)
    return found


def words(n: int) -> list[Word]:
    return list(product("01", repeat=n))


def drawn_model(n: int, random: Random, spread: int) -> Model:
    return {word: flint.arb(random.randrange(-spread, spread)) / 64 for word in words(n)}


def table_on_the_last(source: Parity, n: int) -> Model:
    a = source.accepting_share
    shares = {"0": a, "1": 1 - a} if not source.odd or n > 1 else {}
    return {word: log_odds(source.p * shares[word[-1]]) for word in words(n)}


def table_on_parity(source: Parity, n: int, far: int) -> Model:
    """Exact where the word may end, and nearly sure where not."""
    accepting = {word: (word.count("1") % 2 == 1) is source.odd for word in words(n)}
    return {word: log_odds(source.p) if accepts else flint.arb(-far) for word, accepts in accepting.items()}


def attains(found: flint.arb, floor: flint.arb) -> bool:
    """Whether a floor is not above the number, and so close that nothing is lost but what models round."""
    with precision(PRECISION):
        return bool(floor <= found.upper() and found - floor < ball(Fraction(1, 10**20)))


def exact_after(symbol: str, source: Parity, n: int, far: int = 60) -> Model:
    """Exact after one symbol, a table on x_n after the other."""
    table, exact = table_on_the_last(source, n), table_on_parity(source, n, far)
    return {word: exact[word] if word[-1] == symbol else table[word] for word in words(n)}


def pair_floor(p: Fraction, alpha: Fraction, eps: flint.arb) -> flint.arb:
    """g(alpha, eps) + (1 - alpha p) ln 2: END or not, and which of 0 and 1 where it is not END."""
    with precision(PRECISION):
        return (least_loss(p, alpha, eps) + (1 - ball(alpha * p)) * flint.arb.const_log2()).lower()


def star_floor(n: int, retyped: Fraction | flint.arb, ended: Fraction | flint.arb) -> flint.arb:
    with precision(PRECISION):
        return (optimum(TWO_FIFTHS) + star_excess(TWO_FIFTHS, n, retyped, ended)).lower()


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("spread", [20, 200, 2000])
def test_models_drawn_at_random_are_above_all_floors(odd: bool, spread: int) -> None:
    random = Random(spread)
    for p in (Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)):
        source = Parity(p, odd)
        for n in (2, 3, 5):
            model = drawn_model(n, random, spread)
            found = cross_entropy(source, model, n)
            last = {word: change(model, word, n - 2) for word in words(n)}
            every = greatest(list(last.values()))
            assert found >= cross_entropy_floor(source, n, every, Readout.LAST)
            query = greatest([change(model, word, n - 1) for word in words(n)])
            assert found >= cross_entropy_floor(source, n + 1, query, Readout.QUERY)
            assert found >= optimum(source)


@pytest.mark.parametrize("odd", [False, True])
def test_every_pair_of_models_drawn_at_random_is_above_its_floor(odd: bool) -> None:
    random = Random(5)
    n, source = 5, Parity(Fraction(2, 7), odd)
    a = source.accepting_share
    for spread in (30, 300):
        model = drawn_model(n, random, spread)
        for word in words(n):
            accepts = (word.count("1") % 2 == 1) is odd
            for place, alpha in ((n - 2, a if word[-1] == "0" else 1 - a), (n - 1, Fraction(1, 2))):
                if accepts:
                    with precision(PRECISION):
                        pair = ball(alpha) * loss(source, word, model[word])
                        other = exchanged(word, place)
                        pair += ball(1 - alpha) * loss(source, other, model[other])
                    assert pair >= pair_floor(source.p, alpha, change(model, word, place))


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_two_tables_attain_the_floor_of_every_pair(odd: bool, p: Fraction) -> None:
    """A table on x_n, and one on the parity whose log-odds are -100 where the word may not end."""
    source, n = Parity(p, odd), 4
    a = source.accepting_share
    for model in (table_on_the_last(source, n), table_on_parity(source, n, 100)):
        for word in words(n):
            if (word.count("1") % 2 == 1) is odd:
                alpha, other = a if word[-1] == "0" else 1 - a, exchanged(word, n - 2)
                with precision(PRECISION):
                    pair = ball(alpha) * loss(source, word, model[word])
                    pair += ball(1 - alpha) * loss(source, other, model[other])
                    above = pair - pair_floor(p, alpha, change(model, word, n - 2))
                assert above.upper() >= 0
                assert above < ball(Fraction(1, 10**30))


def test_the_mean_of_the_floor_of_both_symbols_is_no_floor() -> None:
    """Exact after x_n = 0 and a table after 1: .953642, where the mean of G over the changes says .964916."""
    n = 6
    for symbol, text in (("0", ".953642"), ("1", ".976190")):
        model = exact_after(symbol, HALF, n)
        found = cross_entropy(HALF, model, n)
        assert shows(found, text)
        changes = {
            last: greatest([change(model, w, n - 2) for w in words(n) if w[-1] == last]) for last in "01"
        }
        with precision(PRECISION):
            wrong = (mean_least_loss(HALF.p, changes["0"]) + mean_least_loss(HALF.p, changes["1"])) / 2
        assert shows(wrong, ".964916")
        assert (wrong > found) is (symbol == "0")


def test_the_typical_floor_with_all_that_can_be_saved_is_no_floor() -> None:
    """T: x_n = 1, closed under the exchange, delta = 1/2. The gain of a pair bounds what the others save."""
    n, delta = 6, Fraction(1, 2)
    found = cross_entropy(HALF, exact_after("0", HALF, n), n)
    with precision(PRECISION):
        level, best = last_symbols(HALF, 1), optimum(HALF)
        wrong = level - ball(delta) * (level - best)
    assert shows(found, ".953642")
    assert shows(wrong, ".964916")
    assert wrong > found
    right = typical_floor(HALF, Fraction(0), delta, Readout.LAST)
    assert attains(found, right)
    with precision(PRECISION):
        assert (level - ball(delta) * gain(HALF.p, Fraction(1, 3))).overlaps(right)


def test_a_typical_floor_is_never_below_the_optimum() -> None:
    for readout in Readout:
        assert attains(optimum(HALF), typical_floor(HALF, Fraction(10**6), Fraction(1), readout))
        assert attains(optimum(HALF), typical_floor(HALF, Fraction(0), Fraction(100), readout))
        whole = cross_entropy_floor(HALF, 9, Fraction(1), readout)
        assert attains(whole, typical_floor(HALF, Fraction(1), Fraction(0), readout))


@pytest.mark.sweep(1)
@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("p", [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)])
def test_atypical_prefixes_are_no_likelier_than_is_said(odd: bool, p: Fraction) -> None:
    """T: low n <= the number of 1s <= high n, before and after the exchange; by the count's exact law."""
    source = Parity(p, odd)
    a = source.accepting_share
    theta = 2 * a * (1 - a)
    for n, readout in product((5, 6, 9, 40, 120), Readout):
        symbols = n if readout is Readout.LAST else n - 1
        exchanged_at = symbols - 2 if readout is Readout.LAST else symbols - 1
        others = remembered(
            source, symbols, 0, lambda seen, i, bit, out=exchanged_at: seen + (int(bit) if i != out else 0)
        )
        for below, above in ((".05", ".05"), (".1", ".3"), (".3", ".1"), (".4", ".4")):
            low, high = theta - Fraction(below), theta + Fraction(above)
            outside = sum(
                (share for ones, share in others.items() if not (low * n <= ones and ones + 1 <= high * n)),
                Fraction(0),
            )
            assert ball(outside) <= atypical(source, n, low, high, readout)


@pytest.mark.parametrize("odd", [False, True])
@pytest.mark.parametrize("readout", Readout)
def test_what_is_said_of_atypical_prefixes_is_mcdiarmids_inequality(odd: bool, readout: Readout) -> None:
    """Around the mean of the count of the other symbols, which is summed up here symbol by symbol."""
    for p, n in product((Fraction(1, 2), Fraction(1, 10), Fraction(49, 50)), (5, 50, 300)):
        source = Parity(p, odd)
        symbols = n if readout is Readout.LAST else n - 1
        a = source.accepting_share
        theta = 2 * a * (1 - a)
        left_out = symbols - 1 if readout is Readout.LAST else symbols
        chances = {place: theta for place in range(2, symbols)} | {symbols: Fraction(1, 2)}
        chances[1] = a if odd else 1 - a
        mean = sum(chance for place, chance in chances.items() if place != left_out)
        # All n: where the mean helps, only what it costs for smaller n is taken off.
        slopes = (mean - (n - 3) * theta - 3 * theta, 3 * theta - 1 - (mean - (n - 3) * theta))
        for below, above in ((".01", ".2"), (".2", ".01"), (".3", ".4"), (".0001", ".9"), (".002", ".9")):
            low, high = theta - Fraction(below), theta + Fraction(above)
            distances = (Fraction(below) * n + min(slopes[0], 0), Fraction(above) * n + min(slopes[1], 0))
            with precision(PRECISION):
                tails = [(-ball(2 * max(d, Fraction(0)) ** 2 / (4 * n - 9))).exp() for d in distances]
                wanted = (tails[0] + tails[1]).min(flint.arb(1))
                found = atypical(source, n, low, high, readout)
                assert found >= wanted.lower()
                assert found - wanted < ball(Fraction(1, 2**100))


@pytest.mark.parametrize("n", [2, 5, 16, 17])
def test_floors_of_brackets_are_what_is_left_of_the_type(n: int) -> None:
    eps = Fraction(1, 3)
    for readout, symbols in ((Readout.LAST, n), (Readout.QUERY, n - 1)):
        excess = type_excess if readout is Readout.LAST else query_excess
        with precision(PRECISION):
            wanted = optimum(TWO_FIFTHS) + excess(TWO_FIFTHS, symbols, eps)
        assert attains(wanted, cross_entropy_floor(TWO_FIFTHS, n, eps, readout))


def test_a_typical_floor_at_a_query_symbol() -> None:
    eps, delta = Fraction(1, 5), Fraction(1, 50)
    with precision(PRECISION):
        pair = least_loss(HALF.p, Fraction(1, 2), eps) + ball(1 - HALF.p / 2) * flint.arb.const_log2()
        wanted = pair - ball(delta) * gain(HALF.p, Fraction(1, 2))
    assert attains(wanted, typical_floor(HALF, eps, delta, Readout.QUERY))


def test_atypical_prefixes_get_rarer_and_are_as_rare_as_the_page_says() -> None:
    theta, tau = Fraction(4, 9), Fraction(1, 10)
    for readout in Readout:
        found = [atypical(HALF, n, theta - tau, theta + tau, readout) for n in range(5, 400, 7)]
        assert all(later <= earlier for earlier, later in pairwise(found))
        at = atypical(HALF, 4096, theta - tau, theta + tau, readout)
        with precision(PRECISION):
            page = 2 * (-flint.arb(4096) / 200).exp()
        assert at < ball(Fraction(3, 10**9))
        assert ball(Fraction(9, 10)) < at / page < ball(Fraction(12, 10))
    assert atypical(HALF, 5, theta - tau, theta + tau, Readout.LAST) == 1


def test_a_typical_floor_holds_for_a_model_that_is_exact_where_counts_are_not_typical() -> None:
    n, low, high = 8, Fraction(1, 4), Fraction(3, 4)
    table, exact = table_on_the_last(HALF, n), table_on_parity(HALF, n, 60)

    def typical(word: Word) -> bool:
        counts = (word.count("1"), exchanged(word, n - 2).count("1"))
        return all(low * n <= count <= high * n for count in counts)

    model = {word: table[word] if typical(word) else exact[word] for word in words(n)}
    outside = sum((share for word, share in law(HALF, n).items() if not typical(word)), Fraction(0))
    assert 0 < outside < 1
    assert ball(outside) <= atypical(HALF, n, low, high, Readout.LAST)
    eps = greatest([change(model, word, n - 2) for word in words(n) if typical(word)])
    assert eps < ball(Fraction(1, 10**30))
    assert cross_entropy(HALF, model, n) >= typical_floor(HALF, eps, outside, Readout.LAST)


# 2DYCK ----------------------------------------------------------------------------------------------

Logits = Mapping[Word, Mapping[str, flint.arb]]

SYMBOLS = ("(", ")", "[", "]", "END")


def bracket_cross_entropy(source: Source, logits: Logits, n: int) -> flint.arb:
    with precision(PRECISION):
        total = flint.arb(0)
        for prefix, share in law(source, n).items():
            whole = sum((value.exp() for value in logits[prefix].values()), flint.arb(0)).log()
            for symbol, chance in after(source, prefix).items():
                total += ball(share * chance) * (whole - logits[prefix][symbol])
        return total


def retyped(prefix: Word) -> Word | None:
    """The prefix with the other kind of the bracket that is closed next."""
    still_open = unmatched(prefix)
    if not still_open:
        return None
    place = still_open[-1]
    return (*prefix[:place], "[" if prefix[place] == "(" else "(", *prefix[place + 1 :])


def opened(prefix: Word) -> list[Word]:
    """A balanced prefix with the bracket that closes one of its blocks but the last opening one."""
    ends = [t for t in range(1, len(prefix)) if not unmatched(prefix[:t])]
    return [(*prefix[: t - 1], opening, *prefix[t:]) for t in ends for opening in PAIRS]


def kind(values: Mapping[str, flint.arb]) -> flint.arb:
    return values[")"] - values["]"]


def ended(values: Mapping[str, flint.arb]) -> flint.arb:
    return values["END"] - (values[")"].exp() + values["]"].exp()).log()


@pytest.mark.parametrize("spread", [5, 50, 500])
@pytest.mark.parametrize("n", [2, 5, 6])
def test_bracket_models_drawn_at_random_are_above_all_floors(n: int, spread: int) -> None:
    random = Random(n * spread)
    prefixes = law(TWO_FIFTHS, n)
    logits = {
        prefix: {symbol: flint.arb(random.randrange(-spread, spread + 1)) / 64 for symbol in SYMBOLS}
        for prefix in prefixes
    }
    with precision(PRECISION):
        pairs = [(prefix, other) for prefix in prefixes if (other := retyped(prefix)) is not None]
        closing = [(prefix, other) for prefix, other in pairs if prefix[-1] in PAIRS.values()]
        stars = [(prefix, other) for prefix in prefixes if not unmatched(prefix) for other in opened(prefix)]
        type_last, type_query = (
            greatest([abs(kind(logits[one]) - kind(logits[other])) for one, other in some])
            for some in (closing, pairs)
        )
        end = greatest([abs(ended(logits[one]) - ended(logits[other])) for one, other in stars])
    found = bracket_cross_entropy(TWO_FIFTHS, logits, n)
    assert found >= cross_entropy_floor(TWO_FIFTHS, n, type_last, Readout.LAST)
    assert found >= star_floor(n, type_last, end)
    assert found >= cross_entropy_floor(TWO_FIFTHS, n + 1, type_query, Readout.QUERY)


def test_a_star_floor_is_attained_by_what_tells_stars_apart_and_nothing_inside_them() -> None:
    """Best logits given the star, or the pair, that a prefix is in: the floor without any change."""
    n = 6
    rho = TWO_FIFTHS.p / TWO_FIFTHS.q
    logits: dict[Word, dict[str, flint.arb]] = {}
    with precision(PRECISION):
        for prefix in law(TWO_FIFTHS, n):
            free = {symbol: ball(TWO_FIFTHS.p / 2).log() for symbol in PAIRS}
            closes = ball(TWO_FIFTHS.q / 2).log()
            never = flint.arb(-200)
            if prefix[-1] in PAIRS:
                still_open = PAIRS[prefix[unmatched(prefix)[-1]]]
                forced = {s: ball(TWO_FIFTHS.q).log() if s == still_open else never for s in (")", "]")}
                logits[prefix] = free | forced | {"END": never}
            else:
                logits[prefix] = free | {")": closes, "]": closes, "END": never}
        for centre in [prefix for prefix in logits if not unmatched(prefix)]:
            others = opened(centre)
            share = 1 / (1 + len(others) // 2 * rho)
            rest = ball(TWO_FIFTHS.q * (1 - share) / 2).log() if share < 1 else flint.arb(-200)
            for prefix in (centre, *others):
                logits[prefix] |= {")": rest, "]": rest, "END": ball(TWO_FIFTHS.q * share).log()}
    floor = star_floor(n, Fraction(0), Fraction(0))
    assert attains(bracket_cross_entropy(TWO_FIFTHS, logits, n), floor)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
@pytest.mark.parametrize("eps", [Fraction(0), Fraction(1, 2), Fraction(2)])
def test_a_floor_of_brackets_is_attained_by_what_tells_the_two_kinds_apart_by_so_much(
    n: int, eps: Fraction
) -> None:
    """Exact but for the kind of a closing bracket, of which it knows half of eps either way."""
    for readout, symbols in ((Readout.LAST, n), (Readout.QUERY, n - 1)):
        logits: dict[Word, dict[str, flint.arb]] = {}
        with precision(PRECISION):
            opens, forced = (ball(share).log() for share in (TWO_FIFTHS.p / 2, TWO_FIFTHS.q))
            for prefix in law(TWO_FIFTHS, symbols):
                still_open, never = unmatched(prefix), flint.arb(-200)
                values = {"(": opens, "[": opens, ")": never, "]": never, "END": never}
                if still_open:
                    hides = readout is Readout.QUERY or prefix[-1] in PAIRS.values()
                    known = ball(eps) / 2 if hides else flint.arb(100)
                    right = PAIRS[prefix[still_open[-1]]]
                    for symbol in (")", "]"):
                        values[symbol] = forced - softplus(-known if symbol == right else known)
                else:
                    values["END"] = forced
                logits[prefix] = values
        floor = cross_entropy_floor(TWO_FIFTHS, n, eps, readout)
        assert attains(bracket_cross_entropy(TWO_FIFTHS, logits, symbols), floor)


def test_without_a_change_a_star_floor_is_below_the_level_of_a_table() -> None:
    with precision(PRECISION):
        level = optimum(TWO_FIFTHS) + last_symbol_excess(TWO_FIFTHS, 64)
    assert star_floor(64, Fraction(0), Fraction(0)) < level


# Recognisers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spread", [5, 50, 500])
def test_recognisers_drawn_at_random_are_above_the_floor(spread: int) -> None:
    random, n = Random(spread), 5
    scores = drawn_model(n, random, spread)
    for place in range(n):
        eps = greatest([change(scores, word, place) for word in words(n)])
        with precision(PRECISION):
            losses = (softplus(-s if w.count("1") % 2 else s) for w, s in scores.items())
            found = sum(losses, flint.arb(0)) / 2**n
        assert found >= recogniser_floor(eps)


def test_a_recogniser_floor_is_attained_and_tends_to_ln_two() -> None:
    with precision(PRECISION):
        assert attains(softplus(flint.arb(-1) / 2), recogniser_floor(Fraction(1)))
        assert shows(recogniser_floor(Fraction(1, 10**6)), ".693147")


@pytest.mark.parametrize(
    ("constant", "margin", "n0", "plain", "enumerated"),
    [
        ("366", "1", 4096, 4096, 184),
        ("366", "1", 100, 184, 184),
        ("8", "1", 1, 5, 5),
        ("8", "1/100", 4096, 4096, 401),
        ("0", "1", 1, 2, 2),
        ("1/3", "7", 3, 3, 2),
    ],
)
def test_margins_are_impossible_from_a_length_on(
    constant: str, margin: str, n0: int, plain: int, enumerated: int
) -> None:
    c, m = Fraction(constant), Fraction(margin)
    assert margin_impossible_from(c, m, n0) == plain
    found = margin_impossible_from(c, m, n0, enumerated=True)
    assert found == enumerated
    assert c / found < 2 * m
    assert found == 2 or c / (found - 1) >= 2 * m


# What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize("eps", [Fraction(-1, 9), flint.arb("nan"), flint.arb("inf"), 0.5])
def test_what_bounds_no_change_is_refused(eps: Fraction) -> None:
    third = Fraction(1, 3)
    for of in (
        lambda: cross_entropy_floor(HALF, 9, eps, Readout.LAST),
        lambda: cross_entropy_floor(TWO_FIFTHS, 9, eps, Readout.QUERY),
        lambda: typical_floor(HALF, eps, third, Readout.LAST),
        lambda: typical_floor(HALF, third, eps, Readout.LAST),
        lambda: recogniser_floor(eps),
    ):
        with pytest.raises(OptionError, match="bounds nothing"):
            of()


def test_lengths_and_boxes_that_say_nothing_are_refused() -> None:
    with pytest.raises(OptionError, match="from 2 on"):
        cross_entropy_floor(HALF, 1, Fraction(0), Readout.LAST)
    with pytest.raises(OptionError, match="from 5 on"):
        atypical(HALF, 4, Fraction(0), Fraction(1), Readout.LAST)
    for low, high in (("1/2", "1"), ("4/9", "1"), ("0", "4/9"), ("1", "0")):
        with pytest.raises(OptionError, match=f"4/9 is not between {low} and {high}"):
            atypical(HALF, 100, Fraction(low), Fraction(high), Readout.LAST)
    for constant, margin in ((-1, 1), (1, 0)):
        with pytest.raises(OptionError, match="C must be at least 0, and the margin above 0"):
            margin_impossible_from(Fraction(constant), Fraction(margin), 1)


def test_a_ball_stands_for_its_greatest_change() -> None:
    wide = flint.arb(0).union(flint.arb(2))
    found, expected = (cross_entropy_floor(HALF, 9, eps, Readout.LAST) for eps in (wide, Fraction(2)))
    assert abs(found - expected) < ball(Fraction(1, 10**8))
