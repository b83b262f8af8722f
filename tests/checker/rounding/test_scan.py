"""What a scan reads and writes: float64 inside heads, one rounding of each result. (FORMAT.md, section 6.)"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import flint
import pytest

import attemper
from attemper.certificates.claims import FloatClaim
from attemper.certifying.horizons import Horizons
from attemper.checker import whole_numbers
from attemper.checker.analysis import analyse
from attemper.checker.attention.scores import Output
from attemper.checker.check import judge
from attemper.checker.identities import Formulas
from attemper.checker.proof import prove
from attemper.checker.rounding import score_gaps
from attemper.checker.rounding.arithmetic import (
    UNKNOWN,
    ZERO,
    Arithmetic,
    BeyondError,
    Inexact,
    Kernel,
    Lengths,
    Off,
    OfInteger,
    OfNumber,
    OnGrid,
    PowersOfN,
    Rounded,
    is_exact,
)
from attemper.checker.rounding.competition import competition_of
from attemper.checker.rounding.network import failure_at
from attemper.checker.rounding.scan import DROPPED, Scan, is_taken_apart
from attemper.checker.rounding.score_gaps import Cold, scored_row, sum_rate, unknown_relatively
from attemper.checker.verdict import Status
from attemper.compiling.softening.normalise import LayerNorm
from attemper.exact.balls import ball
from attemper.exact.closed_forms import (
    FIRST,
    ONE,
    SIGN,
    ClosedForm,
    Digits,
    I,
    N,
    Number,
    Power,
    Product,
    Sum,
    number,
    over,
    plus,
    times,
)
from attemper.exact.formats import BFLOAT16, FLOAT32, FLOAT64, FORMATS, FloatFormat
from attemper.networks.layers import Layer, LinearForm, Lookup, Masking, Network
from attemper.running.engines.scan.classes import MOST_CLASSES
from attemper.running.engines.scan.sums import TAIL
from attemper.running.engines.scan.waves import waves_of
from attemper.workbench.compiling import compile as compile_formula
from tests.support.judges.rounding import (
    U,
    finely,
    is_same,
    looking_up,
    off_of,
    rounded_at,
    run_at,
    selecting,
    shifting,
    signed,
)
from tests.support.mutants.attacks import EVEN, form, head, network_of

NAMES = Formulas(("a", "b")).names
BIT = Output(0, NAMES.letter("a"), Fraction(1), Fraction(1))
WHOLE = NAMES.affine(whole_numbers.clamped(NAMES, Masking.FUTURE, NAMES.letter("a"), 1))
SOME = Inexact(flint.arb(1), flint.arb(1), flint.arb(1), ZERO, ZERO)
HELD = OnGrid(flint.arb(1), Fraction(1))
THIN = OnGrid(flint.arb(1), Fraction(1, 2**40))


def scan_of(form_: FloatFormat, network: Network | None = None, length: int = 100) -> Scan:
    wide, narrow = (Lengths(Arithmetic(NAMES, own), length) for own in (FLOAT64, form_))
    return Scan(network or selecting(), narrow if form_ != FLOAT64 else wide, wide)


def written(off: Off, value: Rounded = SOME, output: Output = BIT, form_: FloatFormat = FLOAT32) -> Off:
    [found] = scan_of(form_).written("the head", ((value, output),), [off])
    return found


def number_written(
    off: Off, value: Rounded = SOME, output: Output = BIT, form_: FloatFormat = FLOAT32
) -> OfNumber:
    found = written(off, value, output, form_)
    assert isinstance(found, OfNumber)
    return found


E = Fraction(1, 2**30)
TINY = Fraction(1, 2**100)


@finely
@pytest.mark.parametrize("form_", [FLOAT32, BFLOAT16])
def test_a_result_is_rounded_once(form_: FloatFormat) -> None:
    u, e = U[form_.name], ball(E)
    found = number_written(off_of(e, 2 * e, 4 * e, 8 * e), form_=form_)
    assert is_same(found.at_zero, E + u * E + TINY)
    assert is_same(found.elsewhere, 2 * E + u * (1 + 2 * E) + TINY)
    assert is_same(found.average, 4 * E + u * 4 * E + TINY)
    assert is_same(found.relative, 8 * E + u * (1 + 8 * E))


@finely
def test_in_float64_nothing_is_rounded_again() -> None:
    off = off_of(ball(E), ball(E), ball(E), ball(E))
    assert written(off, form_=FLOAT64) is off


@finely
@pytest.mark.parametrize(("value", "is_held"), [(HELD, True), (THIN, False), (SOME, False)])
def test_what_is_exact_stays_so_if_the_format_holds_it(value: Rounded, is_held: bool) -> None:
    found = number_written(off_of(), value)
    assert found.at_zero == found.average == found.relative == 0
    assert is_same(found.elsewhere, Fraction(0) if is_held else U["float32"] + TINY)


@finely
def test_integers_are_rounded_power_by_power() -> None:
    """At every n a number of at most 3 n, which is off by n / 2^30, and by 2^-31 for each step."""
    growth: PowersOfN = {1: ball(E)}
    steps: PowersOfN = {0: ball(E / 2)}
    output = Output(0, NAMES.scaled(WHOLE, 3), Fraction(0), Fraction(0))
    found = written(OfInteger(growth, steps, off_of(*[ball(100 * E)] * 3)), output=output)
    assert isinstance(found, OfInteger)
    u = U["float32"]
    assert is_same(found.growth[1], E + u * E + 3 * u)
    assert is_same(found.growth[0], TINY)
    assert is_same(found.per_step[0], E / 2 * (1 + u) + TINY)
    assert is_same(found.per_step[1], 3 * u)
    number = found.as_number
    assert number.relative == 0
    most = 100 * (E + u * E + 3 * u) + TINY
    assert all(is_same(own, most) for own in (number.at_zero, number.elsewhere, number.average))


@pytest.mark.parametrize(
    ("factor", "error", "is_fine"),
    [
        (Fraction(1, 2), 0, True),
        (Fraction(3, 4), 0, True),
        (Fraction(3, 4), 2**96, True),
        (Fraction(3, 4), 2**97, False),
        (Fraction(1), 0, False),
        (Fraction(2), 0, False),
    ],
)
def test_results_must_stay_in_the_range_of_the_stream(factor: Fraction, error: int, is_fine: bool) -> None:
    """Twice a result of at most factor 2^99, with its error, is less than 2^100."""
    off = off_of(average=ball(Fraction(error)))
    output = Output(0, NAMES.scaled(NAMES.letter("a"), factor * 2**99), Fraction(1), Fraction(1))
    if is_fine:
        assert number_written(off, output=output).at_zero == 0
    else:
        with pytest.raises(BeyondError, match="its values leave the range of the format"):
            written(off, output=output)


def test_what_is_left_out_is_what_the_engine_leaves_out() -> None:
    """Of 64 contents of two parities two sides each, and each class as a whole: 2^-61 of what is kept."""
    sides_and_class, parities = 3, 2
    left_out = sides_and_class * parities * MOST_CLASSES * (-ball(Fraction(TAIL))).exp()
    assert left_out < ball(DROPPED)
    assert ball(DROPPED) <= 2 * left_out


# What is read ------------------------------------------------------------------------------------------

MANY = Sum(tuple(Product((wave, Power(I, k))) for wave in (ONE, SIGN) for k in range(9)))
"""More terms than are taken apart; what it is multiplied with may be 0."""

OF_POWERS: list[tuple[ClosedForm, bool]] = [
    (ONE, True),
    (times(3, I, over(N)), True),
    (plus(I, times(-1, N), SIGN), True),
    (FIRST, False),
    (EVEN, False),
    (Digits(N), False),
    (times(I, FIRST), False),
    (plus(I, over(Digits(N))), False),
    (Product((Power(SIGN, 10), I)), False),
    (Product((Power(SIGN, 8), I)), True),
    (Power(I, 8), True),
    (Power(I, 9), False),
    (Product((Power(I, 4), Power(I, -4))), True),
    (Product((Power(I, 5), Power(I, -4))), False),
    (Power(plus(I, N), 4), True),
    (Power(plus(I, N), 5), False),
    (over(plus(I, N)), False),
    (over(Number(Fraction(0))), False),
    (Sum((I,) * 20), True),
    (Product((MANY, Number(Fraction(0)))), False),
    (Product((MANY, Sum(()))), False),
    (Product((Number(Fraction(0)), MANY)), True),
    (Power(Product((MANY, Number(Fraction(0)))), 0), False),
]


@pytest.mark.parametrize(("closed", "expected"), OF_POWERS)
def test_what_is_taken_apart_is_told_from_what_is_read(closed: ClosedForm, expected: bool) -> None:
    assert is_taken_apart(closed) is expected


def test_what_is_said_to_be_taken_apart_the_engine_takes_apart() -> None:
    rng = random.Random(5)

    def drawn(depth: int) -> ClosedForm:
        leaves = (I, N, SIGN, Number(Fraction(rng.randint(-2, 3), 2)), MANY, Sum(()))
        if not depth or rng.random() < 0.2:
            return rng.choice(leaves)
        kind = rng.choice((Sum, Product, Power))
        if kind is Power:
            return Power(drawn(depth - 1), rng.randint(-3, 9))
        return kind(tuple(drawn(depth - 1) for _ in range(rng.randint(1, 4))))

    found = Counter[bool]()
    for _ in range(3_000):
        form = drawn(4)
        found[is_taken_apart(form)] += 1
        if is_taken_apart(form):
            assert waves_of(form, 7) is not None, form
    assert min(found.values()) > 300


def test_keys_that_an_engine_reads_are_no_one_class() -> None:
    """A form that is not taken apart makes each position a class: a scan then loses what others lose."""
    model = attemper.compile("#<['a'] % 3 = 1", "ab", regime="decoder")
    positions = tuple(
        (c, Product((Power(SIGN, 10), form)) if is_taken_apart(form) and form != ONE else form)
        for c, form in model.network.positions
    )
    changed = replace(model.network, positions=positions)
    analysis = prove(changed, model.language.definition)
    scan, dense = (Horizons(analysis).of(FLOAT64, kernel) for kernel in (Kernel.SCAN, Kernel.NUMERATOR_FIRST))
    assert scan.length <= dense.length < 2**30
    assert Horizons(prove(model.network, model.language.definition)).of(FLOAT64, Kernel.SCAN).length == 2**40


@finely
def test_keys_read_position_embeddings_in_float64_and_all_else_from_the_stream() -> None:
    third = number(Fraction(1, 3))
    network = network_of(4, [[(0, 1)], []], {1: times(third, I), 2: times(third, FIRST), 3: I}, [], 0)
    scan = scan_of(FLOAT32, network)
    offs = [off_of(elsewhere=ball(Fraction(k))) for k in range(1, 5)]
    found = scan.of_keys(offs)
    assert [found[0], found[2]] == [offs[0], offs[2]]
    assert 0 < found[1].relative < ball(Fraction(1, 2**50))
    assert is_exact(found[3])


@pytest.mark.parametrize(
    ("key", "is_whole", "is_placed"),
    [
        (form((1, 1)), True, True),
        (form((0, 1)), True, False),
        (form((1, 1), (3, -1)), True, True),
        (form((0, 1), (3, -1)), False, False),
        (form((2, 1), (3, -1)), False, False),
    ],
)
def test_keys_whose_parts_may_cancel(
    key: tuple[tuple[int, Fraction], ...], is_whole: bool, is_placed: bool
) -> None:
    network = network_of(4, [[(0, 1)], []], {1: I, 2: FIRST, 3: ONE}, [], 0)
    scan = scan_of(FLOAT32, network)
    assert (scan.is_whole(key), scan.is_placed(key)) == (is_whole, is_placed)


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("place", ["query", "key", "value"])
@pytest.mark.parametrize("weight", [Fraction(1), 1 + Fraction(1, 2**30), Fraction(1, 3)])
def test_weights_of_heads_are_numbers_of_the_format(name: str, place: str, weight: Fraction) -> None:
    own = {part: weight if part == place else Fraction(1) for part in ("query", "key", "value")}
    rows = [(form((1, own["query"])), form((2, own["key"])))]
    read = head(Lookup((), ()), ONE, rows, [(form((0, own["value"])), 3)])
    network = network_of(4, [[(0, 1)], []], {1: ONE, 2: I}, [Layer((read,), (), ())], 3)
    scan = scan_of(FORMATS[name], network)
    if name == "float64" or weight == 1:
        scan.require_held("the head", read)
    else:
        with pytest.raises(BeyondError, match="a weight is not a number of the format"):
            scan.require_held("the head", read)


@pytest.mark.parametrize("key", [form((1, 1), (2, Fraction(1, 3))), form((1, Fraction(1, 3)), (2, 1))])
def test_each_weight_of_a_head_is_a_number_of_the_format(key: LinearForm) -> None:
    read = head(Lookup((), ()), ONE, [(form((1, 1)), key)], [(form((0, 1)), 3)])
    network = network_of(4, [[(0, 1)], []], {1: ONE, 2: I}, [Layer((read,), (), ())], 3)
    with pytest.raises(BeyondError, match="a weight is not a number of the format"):
        scan_of(FLOAT32, network).require_held("the head", read)


# Scores ------------------------------------------------------------------------------------------------


@finely
def test_products_are_rounded_often_and_never_exact() -> None:
    lengths, u = Lengths(Arithmetic(NAMES, FLOAT64), 100), U["float64"]
    one = OnGrid(flint.arb(3), Fraction(1))
    cold = Cold(replace(one, size=flint.arb(1)), is_exact=True, is_scanned=True)
    found = scored_row(lengths, one, one, cold)
    assert found.grid is None
    assert isinstance(found.product, Inexact)
    assert is_same(found.product.relative, (1 + u) ** 65 - 1)
    assert is_same(found.product.absolute, 9 * (1 + u) ** 65 - 9 + Fraction(1, 2**900))
    assert scored_row(lengths, one, one, replace(cold, is_scanned=False)).product.absolute == 0
    unknown = unknown_relatively(found)
    assert unknown.key.relative == unknown.product.relative == UNKNOWN
    assert unknown.query == found.query


@finely
def test_a_row_counts_as_seven() -> None:
    lengths, u = Lengths(Arithmetic(NAMES, FLOAT64), 100), U["float64"]
    cold = Cold(SOME, is_exact=True, is_scanned=True)
    assert is_same(sum_rate(lengths, 1, cold), Fraction(8, 7) * 6 * u)
    assert is_same(sum_rate(lengths, 3, cold), Fraction(8, 7) * 20 * u)
    assert is_same(
        sum_rate(lengths, 1, replace(cold, is_exact=False)), (1 + Fraction(48, 7) * u) * (1 + u) - 1
    )


@finely
def test_weights_are_products_of_many_exponentials() -> None:
    exp = Fraction(8, 2**53)
    one = (1 + exp) / (1 - exp) * (1 + Fraction(4, 2**53))
    for length in (1, 2, 7, 8, 100):
        run, analysis = run_at(selecting(), FLOAT32, length, Kernel.SCAN)
        computed = rounded_at(run, analysis)
        assert is_same(computed.noise, one ** (4 + length.bit_length()))
        assert is_same(computed.argument, Fraction(16, 2**53))
        assert is_same(computed.dropped, 2 * DROPPED)
        assert is_same(computed.quotient, computed.noise * (1 + computed.sums) - 1 + ball(2 * DROPPED))


@finely
@pytest.mark.parametrize("network", [selecting(), shifting()])
def test_a_contest_loses_what_coefficients_do_and_what_peaks_do(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With m what one lead loses and r what rounding alone takes, m + 2 r / (1 - m)."""
    run, analysis = run_at(network, BFLOAT16, 50, Kernel.SCAN)
    [fact] = analysis.layers[-1].heads
    computed = rounded_at(run, analysis)
    assert len(fact.rules) == (2 if network == shifting() else 1)
    for rule in fact.rules:
        competition = competition_of(rule.said)
        assert competition is not None
        found, rows = computed.losses(rule.said), [row.scored for row in computed.rows]
        scores = [
            score_gaps._Scores(computed.lengths, competition, rows, computed.cold, own)
            for own in (False, True)
        ]
        whole, peaks = (score_gaps._greatest(own) for own in scores)
        most, r = max(whole, key=float), max(peaks, key=float)
        assert r > 0
        assert r < most or is_same(r, most)
        for own, plain in zip(found, whole, strict=True):
            assert is_same(own, plain + 2 * r / (1 - most))
    monkeypatch.setattr(score_gaps, "_greatest", lambda _: (flint.arb(1), flint.arb(0)))
    computed.known.clear()
    for rule in fact.rules:
        assert computed.losses(rule.said) == (UNKNOWN, UNKNOWN)


# Whole networks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("network", [selecting(), shifting(), looking_up(), signed()])
@pytest.mark.parametrize("name", list(FORMATS))
def test_scans_go_beyond_what_float32_sums_do(network: Network, name: str) -> None:
    analysis, long = analyse(network), 2**10
    assert failure_at(analysis, FORMATS[name], Kernel.SCAN, 1) is None
    if name != "bfloat16":
        assert failure_at(analysis, FORMATS[name], Kernel.SCAN, long) is None


@pytest.mark.parametrize("regime", ["unbounded", "temperature", "decoder"])
def test_parity_goes_beyond_100_000_symbols_in_float32(regime: str) -> None:
    model = compile_formula("even(#<[a])", "ab", regime=regime)  # type: ignore[arg-type]
    analysis = prove(model.network, model.language.definition, model.realisation)
    assert failure_at(analysis, FLOAT32, Kernel.SCAN, 1_000_000) is None
    for kernel in (Kernel.NUMERATOR_FIRST, Kernel.NORMALISE_FIRST):
        assert failure_at(analysis, FLOAT32, kernel, 1_000) is not None


def test_a_claim_for_one_class_says_nothing_of_another() -> None:
    model = compile_formula("even(#<[a])", "ab")
    claims = [FloatClaim("float32", str(kernel), 10_000, "") for kernel in Kernel]
    found = [judge(model.network, model.language.definition, (claim,)).claims[0].status for claim in claims]
    assert found == [Status.UNKNOWN, Status.UNKNOWN, Status.PROVED]


def test_normalised_networks_have_no_claim_for_scans() -> None:
    model = compile_formula("a S b", "ab", layer_norm=LayerNorm())
    horizons = {(c.format, c.kernel): c for c in model.certify().claims if isinstance(c, FloatClaim)}
    for name in FORMATS:
        claim = horizons[name, "scan"]
        assert claim.horizon == 0
        assert claim.bottleneck == "normalisations (no rule for scans covers what they change)"


def test_certificates_of_two_classes_are_still_proved() -> None:
    model = compile_formula("#<[a] <= #<[b]", "ab")
    claims = model.certify().claims
    old = tuple(c for c in claims if not (isinstance(c, FloatClaim) and c.kernel == "scan"))
    assert len(old) == 7
    assert judge(model.network, model.language.definition, old).status is Status.PROVED


# A bound that is needed ----------------------------------------------------------------------------------


def test_a_lookup_loses_more_where_its_squares_are_rounded() -> None:
    """Why the shorter bound is for placed keys: a dense head, of many classes, may lose more than 4 N u."""
    n, c, u = 1000, 999, Fraction(1, 2**24)
    score_gap = Fraction(1, n)
    query, unit = 2 * Fraction(c, n), Fraction(1, n)

    def dense(j: int, sign: int) -> Fraction:
        """Both products of a score are off by one rounding."""
        return query * j * (1 + sign * u) - unit * j * j * (1 - sign * u)

    def scanned(j: int) -> Fraction:
        """Both coefficients are off by one rounding, and so are the product and the sum in a difference."""
        slope, bowl = query * (1 + u), -unit * (1 - u)
        return (j - c) * (bowl * (j + c) * (1 - u) + slope) * (1 + u)

    lost = 1 - (dense(c, -1) - dense(c + 1, 1)) / score_gap
    assert lost > 4 * (4 * n + 1) * u
    assert lost <= 6 * n * n * u
    assert all(1 + scanned(j) / (score_gap * (j - c) ** 2) <= 3 * (4 * n + 1) * u for j in (c - 1, c + 1))


# The page ------------------------------------------------------------------------------------------------

PAGE = Path(__file__).parents[3] / "docs" / "arithmetic.md"


def rows_of_the_page() -> list[list[str]]:
    """The table of horizons in float32: name, formula and three horizons."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition("| what limits the scan |\n")
    lines = [line.replace("\\|", "or") for line in text.split("\n\n")[0].splitlines()[1:]]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def number_in(cell: str) -> int:
    """A number as people write it."""
    return 2 ** int(cell[2:]) if cell.startswith("2^") else int(cell.replace(",", ""))


@pytest.mark.sweep(0)
def test_the_horizons_of_the_page() -> None:
    formula, rows = "", rows_of_the_page()
    assert len(rows) == 6
    for name, *cells, _ in rows:
        formula = name.split("`")[1].replace("or", "|") if "`" in name else formula
        letters = "01" if "'1'" in formula else "()" if "'('" in formula else "ab"
        regime = "decoder" if "decoder" in name else "unbounded"
        model = compile_formula(formula, letters, at="last", regime=regime)  # type: ignore[arg-type]
        horizons = Horizons(prove(model.network, model.language.definition, model.realisation))
        assert [horizons.of(FLOAT32, kernel).length for kernel in Kernel] == list(map(number_in, cells))
